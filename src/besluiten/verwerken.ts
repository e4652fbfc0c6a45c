// besluit_verwerken: a besluit with the documents in which it is laid down, in one go. Beside the standard.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { invalidAll, toProblem } from '../problem.ts'
import { createBesluit } from './besluiten.ts'
import { createBesluitinformatieobject } from './besluitinformatieobjecten.ts'
import { fetchBesluittypeElsewhere } from './rules.ts'
import { Besluit, BesluitInput, Besluitinformatieobject, BesluitinformatieobjectInput } from './velden.ts'
import { AANMAKEN, met, toBesluit } from './vinden.ts'

const Verwerken = Type.Object({
  besluit: BesluitInput,
  besluitinformatieobjecten: Type.Array(Type.Pick(BesluitinformatieobjectInput, ['informatieobject'])),
})
const Verwerkt = Type.Object({ besluit: Besluit, besluitinformatieobjecten: Type.Array(Besluitinformatieobject) })

export const verwerken: FastifyPluginAsyncTypebox = async (app) => {
  const { config, diensten } = app.parts

  app.post(
    '/besluit_verwerken',
    { config: met(AANMAKEN), schema: { body: Verwerken, response: { 201: Verwerkt } } },
    async (request, reply) => {
      const { besluit: input, besluitinformatieobjecten: documenten } = request.body
      const elsewhere = await fetchBesluittypeElsewhere(diensten, input.besluittype, request.base)
      const context = { elsewhere, leeway: config.jwtLeeway }
      const made = await app.mutate(request.actor, async (m) => {
        const row = await within('besluit', () => createBesluit(m, input, context))
        const besluitinformatieobjecten: Besluitinformatieobject[] = []
        for (const [index, { informatieobject }] of documenten.entries()) {
          const create = () => createBesluitinformatieobject(m, row, informatieobject)
          besluitinformatieobjecten.push(await within(`besluitinformatieobjecten.${index}`, create))
        }
        return { besluit: toBesluit(row, request.base), besluitinformatieobjecten }
      })
      return reply.code(201).send(made)
    },
  )
}

/** Faults of a part are named under its place in the whole. */
async function within<T>(part: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { invalidParams } = toProblem(error)
    if (!invalidParams) throw error
    throw invalidAll(invalidParams.map((param) => ({ ...param, name: `${part}.${param.name}` })))
  }
}
