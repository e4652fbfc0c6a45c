import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { forbidden } from '../core/problem.ts'
import { AUDITTRAIL, audittrail, readsAllTrails } from '../http/audittrail.ts'
import { besluitVerwerken } from './besluit-verwerken.ts'
import { besluiten } from './besluiten.ts'
import { besluitinformatieobjecten } from './besluitinformatieobjecten.ts'
import { findBesluit } from './read.ts'
import { mayDo } from './rights.ts'

/** The Besluiten API: decisions and the documents in which they are laid down. */
export const besluitenApi: FastifyPluginAsyncTypebox = async (app) => {
  await app.register(besluiten)
  await app.register(besluitinformatieobjecten)
  await app.register(besluitVerwerken)
  await app.register(trails)
}

/** Rights on the audit trail reach the besluit, or are given for the whole component, without a type. */
const trails: FastifyPluginAsyncTypebox = async (app) => {
  app.addHook('preHandler', async ({ actor, params }) => {
    const besluit = await findBesluit(app.read, (params as { uuid: string }).uuid)
    if (besluit && !mayDo(actor, AUDITTRAIL, besluit) && !readsAllTrails(actor, 'brc')) throw forbidden()
  })
  await app.register(audittrail('/besluiten', 'brc'))
}
