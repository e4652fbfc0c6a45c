import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { documentAudittrail } from './audittrail.ts'
import { bestandsdelen } from './bestandsdelen.ts'
import { download } from './download.ts'
import { enkelvoudiginformatieobjecten } from './enkelvoudiginformatieobjecten.ts'
import { gebruiksrechten } from './gebruiksrechten.ts'
import { imports } from './import/index.ts'
import { locks } from './lock.ts'
import { nummers } from './nummers.ts'
import { objectinformatieobjecten } from './objectinformatieobjecten.ts'
import { registreren } from './registreren.ts'
import { verzendingen } from './verzendingen.ts'
import { wijzigen } from './wijzigen.ts'

/** The Documenten API: documents, their bytes, what hangs on them, and the bulk import. */
export const documenten: FastifyPluginAsyncTypebox = async (app) => {
  await app.register(enkelvoudiginformatieobjecten)
  await app.register(wijzigen)
  await app.register(locks)
  await app.register(download)
  await app.register(documentAudittrail)
  await app.register(bestandsdelen)
  await app.register(gebruiksrechten)
  await app.register(objectinformatieobjecten)
  await app.register(verzendingen)
  await app.register(nummers)
  await app.register(registreren)
  await app.register(imports, { prefix: '/import' })
}
