// Errors: requests that ended with an error of ours, by their id, of the last days.

import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { KEPT_DAYS } from '../../operations/server-errors.ts'
import { keysetByNumber, queryText } from '../frame/lookup.ts'
import { t } from '../language/language.ts'

type Row = {
  id: number
  happenedAt: string
  requestId: string
  exceptionId: string
  method: string
  route: string
  status: number
  kind: string
  place: string
  clientId: string
}

export function registerErrors(app: FastifyInstance): void {
  app.get('/fouten', { config: { access: 'beheer', rol: 'operator' } }, async (request, reply) => {
    const id = queryText(request, 'kenmerk').replace(/^urn:uuid:/, '')
    return reply.page('errors', {
      title: t('Fouten'),
      days: KEPT_DAYS,
      kenmerk: id,
      list: await keysetByNumber<Row>(request, app.read, {
        select: sql`select e.* from server_error e`,
        id: sql`e.id`,
        sorts: {},
        conditions: [
          sql`e.happened_at > now() - make_interval(days => ${KEPT_DAYS}::int)`,
          ...(id ? [sql`(e.request_id = ${id} or e.exception_id = ${id})`] : []),
        ],
      }),
    })
  })
}
