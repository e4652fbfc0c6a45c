// The catalogue in the pages: catalogues and the types in them, made and changed with the functions of the API.
import type { FastifyInstance } from 'fastify'
import { openSelectielijst } from '../../catalogi/selectielijst.ts'
import { registerActiviteit } from './activiteit.ts'
import { registerCatalogus } from './catalogus.ts'
import { registerCompare } from './compare.ts'
import { registerExamples } from './examples.ts'
import { registerHistory } from './history.ts'
import { registerLifecycle } from './lifecycle.ts'
import { registerParts } from './part-pages.ts'
import { registerPublish } from './publish.ts'
import { registerSelectielijst } from './selectielijst.ts'
import { registerStatusOrder } from './status-order.ts'
import { registerTransfer } from './transfer.ts'
import { registerTypes } from './types.ts'
import { registerZaaktype } from './zaaktype.ts'

export async function registerCatalogi(app: FastifyInstance): Promise<void> {
  const selectielijst = await openSelectielijst(app.parts.config, app.parts.services, app.read, app.hasMany)
  registerCatalogus(app)
  registerActiviteit(app)
  registerTypes(app)
  registerZaaktype(app, selectielijst)
  registerParts(app, selectielijst)
  registerStatusOrder(app)
  registerPublish(app)
  registerLifecycle(app)
  registerCompare(app, selectielijst)
  registerHistory(app)
  registerExamples(app, selectielijst)
  registerSelectielijst(app, selectielijst)
  await registerTransfer(app, selectielijst)
}
