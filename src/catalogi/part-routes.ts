// The routes that are the same for every part of a zaaktype. Those with a body or a filter stand in its own file: Fastify does
// not know the type of a body whose schema is an argument.
import type { FastifyInstance } from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { Mutation } from '../core/mutate.ts'
import { deleteAccess, readAccess } from './access.ts'
import { Detail, Params } from './fields.ts'
import { sendType, type TypeSource } from './type-source.ts'

type OfOne = { Params: Static<typeof Params> }

/** Reading one and deleting it. @param path of the list */
export function registerPartRoutes<Row extends { uuid: string }, Shape extends { url: string }, Filter>(
  app: FastifyInstance,
  path: string,
  answer: TSchema,
  source: TypeSource<Row, Shape, Filter>,
  remove: (m: Mutation, uuid: string) => Promise<void>,
): void {
  app.get<OfOne>(
    `${path}/:uuid`,
    { config: readAccess, schema: { params: Params, querystring: Detail, response: { 200: answer } } },
    async (request, reply) => sendType(request, reply, source, request.params.uuid),
  )

  app.delete<OfOne>(`${path}/:uuid`, { config: deleteAccess, schema: { params: Params } }, async (request, reply) => {
    await app.mutate(request.actor, (m) => remove(m, request.params.uuid))
    return reply.code(204).send()
  })
}
