import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { besluittypen } from './besluittypen.ts'
import { catalogussen } from './catalogussen.ts'
import { eigenschappen } from './eigenschappen.ts'
import { informatieobjecttypen } from './informatieobjecttypen.ts'
import { resultaattypen } from './resultaattypen.ts'
import { roltypen } from './roltypen.ts'
import { openSelectielijst } from './selectielijst.ts'
import { statustypen } from './statustypen.ts'
import { zaakobjecttypen } from './zaakobjecttypen.ts'
import { zaaktypeInformatieobjecttypen } from './zaaktype-informatieobjecttypen.ts'
import { zaaktypen } from './zaaktypen.ts'

/** The Catalogi API: catalogues and the types in them. */
export const catalogi: FastifyPluginAsyncTypebox = async (app) => {
  const selectielijst = await openSelectielijst(app.parts.config, app.parts.diensten)
  await app.register(catalogussen)
  await app.register(zaaktypen(selectielijst))
  await app.register(informatieobjecttypen)
  await app.register(besluittypen)
  await app.register(statustypen)
  await app.register(resultaattypen(selectielijst))
  await app.register(roltypen)
  await app.register(eigenschappen)
  await app.register(zaaktypeInformatieobjecttypen)
  await app.register(zaakobjecttypen)
}
