// abonnementen: who gets our messages: list, one abonnement and how it is doing, changing, testing, pausing, sending again, ending.
import type { FastifyInstance } from 'fastify'
import { openDelivery } from '../../../notificaties/deliver.ts'
import { tryOut } from '../../../nrc/abonnement/try-out.ts'
import { forClients } from '../../../services/addresses.ts'
import { openAgent } from '../../../services/transport.ts'
import type { TryOut } from './abonnement.ts'
import { registerActs } from './acts.ts'
import { registerAbonnement } from './dashboard.ts'
import { registerEdit } from './edit.ts'
import { registerFilters } from './filters.ts'
import { registerAbonnementenList } from './list.ts'
import { registerMissed } from './missed.ts'
import { registerSigning } from './signing.ts'

export function registerAbonnementen(app: FastifyInstance): void {
  const opened = app.each(
    () => {
      const { config, box } = app.parts
      const agent = openAgent({ policy: forClients(config), connections: 5, proxies: config.proxies })
      return { agent, delivery: openDelivery(config, box), config }
    },
    ({ agent, delivery }) => Promise.all([agent.destroy(), delivery.close()]),
  )
  const test: TryOut = (abonnement) => tryOut(opened(), abonnement)
  registerAbonnementenList(app)
  registerEdit(app, test)
  registerAbonnement(app)
  registerFilters(app)
  registerSigning(app)
  registerActs(app, test)
  registerMissed(app)
}
