// abonnementen: who gets our messages: list, one abonnement and how it is doing, changing, testing, pausing, sending again, ending.
import type { FastifyInstance } from 'fastify'
import { openDelivery } from '../../notificaties/deliver.ts'
import { tryOut } from '../../nrc/abonnement/try-out.ts'
import { openAgent } from '../../services/transport.ts'
import type { TryOut } from './abonnement.ts'
import { registerActies } from './acts.ts'
import { registerAbonnement } from './dashboard.ts'
import { registerWijzigen } from './edit.ts'
import { registerFilters } from './filters.ts'
import { registerAbonnementenLijst } from './list.ts'
import { registerOndertekening } from './signing.ts'

export function registerAbonnementen(app: FastifyInstance): void {
  const { config, box } = app.parts
  const agent = openAgent({ connections: 5 })
  const delivery = openDelivery(config, box)
  app.addHook('onClose', async () => {
    await Promise.all([agent.destroy(), delivery.close()])
  })
  const test: TryOut = (abonnement) => tryOut({ agent, delivery, config }, abonnement)
  registerAbonnementenLijst(app)
  registerWijzigen(app, test)
  registerAbonnement(app)
  registerFilters(app)
  registerOndertekening(app)
  registerActies(app, test)
}
