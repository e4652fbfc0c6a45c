import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { documentAudittrail } from './audittrail.ts'
import { bestandsdelen } from './document/bestandsdelen.ts'
import { download } from './document/download.ts'
import { locks } from './document/lock.ts'
import { nummers } from './document/numbers.ts'
import { enkelvoudiginformatieobjecten } from './document/routes.ts'
import { gebruiksrechten } from './gebruiksrechten.ts'
import { imports } from './import/index.ts'
import { objectinformatieobjecten } from './objectinformatieobjecten.ts'
import { verzendingen } from './verzendingen.ts'

/** The Documenten API: documents, their bytes, what hangs on them, and the bulk import. */
export const documenten: FastifyPluginAsyncTypebox = async (app) => {
  await app.register(enkelvoudiginformatieobjecten)
  await app.register(locks)
  await app.register(download)
  await app.register(documentAudittrail)
  await app.register(bestandsdelen)
  await app.register(gebruiksrechten)
  await app.register(objectinformatieobjecten)
  await app.register(verzendingen)
  await app.register(nummers)
  await app.register(imports, { prefix: '/import' })
}
