// Outgoing: the log of requests to other services.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { timeZone } from '../../lib/day.ts'
import { FAILURES } from '../../services/transport.ts'
import { keysetByNumber, queryDay, queryText } from '../frame/lookup.ts'
import { savedFilters } from '../frame/saved-filters.ts'
import { t } from '../language/language.ts'

type Line = {
  id: number
  begunAt: string
  service: string
  method: string
  host: string
  path: string
  status: number | null
  outcome: string
  ms: number
  requestId: string
}

export function registerOutgoing(app: FastifyInstance): void {
  app.get('/uitgaand', { config: { access: 'beheer', rol: 'viewer' } }, async (request, reply) => {
    const [list, diensten] = await Promise.all([
      keysetByNumber<Line>(request, app.read, {
        select: sql`select u.* from outgoing_request u`,
        id: sql`u.id`,
        sorts: {
          dienst: {
            column: sql`u.service`,
            of: (id) => sql`(select service from outgoing_request where id = ${id}::bigint)`,
          },
        },
        conditions: filters(request),
      }),
      app.read.selectFrom('service').select(['label', 'apiRoot']).orderBy('label').limit(500).execute(),
    ])
    return reply.page('outgoing', {
      title: t('Uitgaande verzoeken'),
      savedFilters: await savedFilters(request),
      defaultSort: '-nummer',
      list,
      days: app.parts.config.outgoingLogRetentionDays,
      diensten,
      failures: FAILURES,
      filter: Object.fromEntries(['dienst', 'uitkomst', 'van', 'tot'].map((name) => [name, queryText(request, name)])),
    })
  })
}

function filters(request: FastifyRequest) {
  const [dienst, outcome] = [queryText(request, 'dienst'), queryText(request, 'uitkomst')]
  const [from, until] = [queryDay(request, 'van'), queryDay(request, 'tot')]
  return [
    ...(dienst ? [sql`u.service = ${dienst}`] : []),
    ...(outcome === 'goed' ? [sql`u.status < 400`] : []),
    ...(outcome === 'fout' ? [sql`(u.status >= 400 or u.status is null)`] : []),
    ...(outcome === 'geen' ? [sql`u.status is null`] : []),
    // The days of the one who reads.
    ...(from ? [sql`u.begun_at >= ${from}::timestamp at time zone ${timeZone()}::text`] : []),
    ...(until ? [sql`u.begun_at < (${until}::timestamp + interval '1 day') at time zone ${timeZone()}::text`] : []),
  ]
}
