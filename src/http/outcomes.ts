// What became of a change that was answered with `outcome_unknown`: its answer has a link here.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { openPending, outcomeOf } from '../core/outcome.ts'
import { notFound } from '../core/problem.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Database } from '../database/database.ts'

const Query = Type.Object({ id: Type.String({ minLength: 1, maxLength: 4000 }) })

/** @param parts those of this moment */
export function serveOutcomes(app: FastifyInstance, parts: () => { box: SecretBox; database: Database }): void {
  app.get<{ Querystring: { id: string } }>(
    '/outcomes',
    { config: { access: 'client' }, schema: { querystring: Query } },
    async (request, reply) => {
      const { box, database } = parts()
      const pending = openPending(box, request.actor.applicatieUuid, request.query.id)
      if (!pending) throw notFound()
      const outcome = await outcomeOf(database, pending)
      if (outcome === 'unknown') reply.header('retry-after', '5')
      return { outcome, ...(outcome === 'done' && pending.result && { result: pending.result }) }
    },
  )
}
