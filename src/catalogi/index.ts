import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { besluittypen } from './besluittypen.ts'
import { catalogussen } from './catalogussen.ts'
import { informatieobjecttypen } from './informatieobjecttypen.ts'
import { openSelectielijst } from './selectielijst.ts'
import { eigenschappen } from './zaaktype/eigenschappen.ts'
import { resultaattypen } from './zaaktype/resultaattypen.ts'
import { roltypen } from './zaaktype/roltypen.ts'
import { zaaktypen } from './zaaktype/routes.ts'
import { statustypen } from './zaaktype/statustypen.ts'
import { zaakobjecttypen } from './zaaktype/zaakobjecttypen.ts'
import { zaaktypeInformatieobjecttypen } from './zaaktype/zaaktype-informatieobjecttypen.ts'

/** The Catalogi API: catalogues and the types in them. */
export const catalogi: FastifyPluginAsyncTypebox = async (app) => {
  const selectielijst = await openSelectielijst(app.parts.config, app.parts.services, app.read, app.hasMany)
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
