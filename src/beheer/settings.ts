// instellingen: the whole configuration on one page, without the secrets, with where each value comes from.
import type { FastifyInstance } from 'fastify'

/** What is set in the pages instead, and where. */
const ELSEWHERE = [
  { naam: 'Notificaties: dienst, herhalingen en bewaren', pad: '/configuratie/notificaties' },
  { naam: 'Applicaties, geheimen en rechten', pad: '/applicaties' },
  { naam: 'Bewaartermijnen', pad: '/bewaartermijnen' },
  { naam: 'Accounts', pad: '/accounts' },
]

export function registerSettings(app: FastifyInstance): void {
  app.get('/configuratie', { config: { access: 'beheer', rol: 'administrator' } }, async (_request, reply) => {
    const { listed } = app.parts.config
    return reply.pagina('configuratie', {
      titel: 'Configuratie',
      instellingen: [...listed].sort((one, other) => Number(other.given) - Number(one.given)),
      aantal: listed.filter(({ given }) => given).length,
      elders: ELSEWHERE,
    })
  })
}
