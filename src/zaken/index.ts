import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { forbidden } from '../core/problem.ts'
import { AUDITTRAIL, audittrail, readsAllTrails } from '../http/audittrail.ts'
import { composite } from './composite.ts'
import { zaakcontactmomenten, zaakverzoeken } from './customer-relations.ts'
import { klantcontacten } from './klantcontacten.ts'
import { resultaten } from './resultaten.ts'
import { mayDo } from './rights.ts'
import { rollen } from './rollen.ts'
import { statussen } from './statussen.ts'
import { substatussen } from './substatussen.ts'
import { findZaak } from './zaak/read.ts'
import { zaken } from './zaak/routes.ts'
import { zaakbesluiten } from './zaakbesluiten.ts'
import { zaakeigenschappen } from './zaakeigenschappen.ts'
import { zaakinformatieobjecten } from './zaakinformatieobjecten.ts'
import { zaaknotities } from './zaaknotities.ts'
import { zaakobjecten } from './zaakobjecten.ts'

/** The Zaken API: cases and all that hangs on them. It is reached under two addresses; links name the first. */
export const zakenApi: FastifyPluginAsyncTypebox = async (app) => {
  await app.register(zaken)
  await app.register(statussen)
  await app.register(resultaten)
  await app.register(rollen)
  await app.register(zaakinformatieobjecten)
  await app.register(zaakeigenschappen)
  await app.register(zaakobjecten)
  await app.register(zaakbesluiten)
  await app.register(substatussen)
  await app.register(klantcontacten)
  await app.register(zaakcontactmomenten)
  await app.register(zaakverzoeken)
  await app.register(zaaknotities)
  await app.register(composite)
  await app.register(trails)
}

/** Rights on the audit trail reach the case, or are given for the whole component, without a type. */
const trails: FastifyPluginAsyncTypebox = async (app) => {
  app.addHook('preHandler', async ({ actor, params }) => {
    const zaak = await findZaak(app.read, (params as { uuid: string }).uuid, 0)
    if (zaak && !mayDo(actor, AUDITTRAIL, zaak) && !readsAllTrails(actor, 'zrc')) throw forbidden()
  })
  await app.register(audittrail('/zaken', 'zrc'))
}
