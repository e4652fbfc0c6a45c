// overzicht: the state of the service on one page.
import type { FastifyInstance } from 'fastify'
import { readiness } from '../health.ts'

export function registerOverzicht(app: FastifyInstance): void {
  app.get('/', { config: { access: 'beheer', rol: 'viewer' } }, async (_request, reply) => {
    const controles = await readiness(app.parts)
    return reply.pagina('overzicht', { titel: 'Overzicht', controles })
  })
}
