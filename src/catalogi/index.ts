import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { catalogussen } from './catalogussen.ts'
import { informatieobjecttypen } from './informatieobjecttypen.ts'

/** The Catalogi API: catalogues and the types in them. */
export const catalogi: FastifyPluginAsyncTypebox = async (app) => {
  await app.register(catalogussen)
  await app.register(informatieobjecttypen)
}
