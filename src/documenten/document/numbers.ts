// documentnummer_reserveren: numbers that are handed out before their document exists. Beside the standard.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import Type from 'typebox'
import { refuseBeforeSwitch } from '../../core/before-switch.ts'
import type { Mutation } from '../../core/mutate.ts'
import { notFound } from '../../core/problem.ts'
import { one } from '../../database/rows.ts'
import { documentedAs, OBJECT_OR_LIST } from '../../http/documented.ts'
import { Rsin } from '../../http/input.ts'
import { timeZone } from '../../lib/day.ts'
import { createAccess } from '../rights.ts'

const Reserveren = Type.Object({
  bronorganisatie: Rsin,
  aantal: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 1 })),
})
const Nummer = Type.Object({ identificatie: Type.String() })

export const nummers: FastifyPluginAsyncTypebox = async (app) => {
  app.post(
    '/documentnummer_reserveren',
    {
      config: createAccess,
      schema: {
        body: Reserveren,
        response: { 201: documentedAs(Type.Union([Nummer, Type.Array(Nummer)]), OBJECT_OR_LIST) },
      },
    },
    async (request, reply) => {
      const { bronorganisatie, aantal = 1 } = request.body
      const numbers = await app.mutate(request.actor, async (m) => {
        m.unrecorded('a number is no resource')
        await refuseBeforeSwitch(m)
        const { rows } = await sql<{ identificatie: string }>`
          insert into reserved_documentnummer (bronorganisatie, identificatie)
          select ${bronorganisatie}, document_identificatie(today(${timeZone()})) from generate_series(1, ${aantal}::integer)
          returning identificatie`.execute(m.trx)
        return rows
      })
      return reply.code(201).send(aantal === 1 ? one(numbers) : numbers)
    },
  )
}

/**
 * Ends the reservation of a number: no document takes it out any more. It is not handed out again either.
 * @throws Problem 404 when it is not reserved (any more)
 */
export async function endReservedDocumentnummer(
  m: Mutation,
  { bronorganisatie, identificatie }: { bronorganisatie: string; identificatie: string },
): Promise<void> {
  m.unrecorded('a number is no resource')
  await refuseBeforeSwitch(m)
  const ended = await m.sql`
    delete from reserved_documentnummer where bronorganisatie = ${bronorganisatie} and identificatie = ${identificatie} returning 1`
  if (ended.length === 0) throw notFound('Dit nummer is niet (meer) gereserveerd.')
}
