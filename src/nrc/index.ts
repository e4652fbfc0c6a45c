// The Notificaties API (1.0.1): channels, who subscribes to them, and messages of other publishers. Our own messages become
// deliveries in the transaction of the change, without a way around over HTTP: notificaties/claims.ts.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { abonnementen } from './abonnement/routes.ts'
import { kanalen } from './kanalen.ts'
import { notificaties } from './notificaties.ts'

export const nrcApi: FastifyPluginAsyncTypebox = async (app) => {
  await app.register(kanalen)
  await app.register(abonnementen)
  await app.register(notificaties)
}
