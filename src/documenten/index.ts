import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { download } from './download.ts'
import { enkelvoudiginformatieobjecten } from './enkelvoudiginformatieobjecten.ts'
import { imports } from './import/index.ts'
import { wijzigen } from './wijzigen.ts'

/** The Documenten API: documents, their bytes, and the bulk import. */
export const documenten: FastifyPluginAsyncTypebox = async (app) => {
  await app.register(enkelvoudiginformatieobjecten)
  await app.register(wijzigen)
  await app.register(download)
  await app.register(imports, { prefix: '/import' })
}
