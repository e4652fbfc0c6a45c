import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { applicaties } from './applicatie/routes.ts'

/** The Autorisaties API: applications and their rights. */
export const autorisaties: FastifyPluginAsyncTypebox = async (app) => {
  await app.register(applicaties)
}
