// applicaties: who may use the APIs, and for what.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import Type from 'typebox'
import { LIMITS } from '../../core/limits.ts'
import { notFound, throwFaults } from '../../core/problem.ts'
import { byKey, isAmong } from '../../database/list.ts'
import { one } from '../../database/rows.ts'
import { alias } from '../../http/documented.ts'
import { sendCacheable } from '../../http/etag.ts'
import { snakeCase, Uuid } from '../../http/input.ts'
import { CursorQuery, Page, PageQuery, sendPageOf } from '../../http/page.ts'
import { changeApplicatie, createApplicatie, deleteApplicatie } from './change.ts'
import {
  Applicatie,
  ApplicatieInput,
  ApplicatiePatch,
  requireApplicatie,
  selectApplicaties,
  toApplicatie,
} from './read.ts'

const Filter = Type.Object({
  ...PageQuery,
  ...CursorQuery,
  clientIds: Type.Optional(Type.Array(Type.String(), { description: 'Applicaties met al deze client-ids.' })),
  // The spelling that some clients send.
  client_ids: Type.Optional(alias(Type.Array(Type.String()))),
})
const ConsumerQuery = Type.Object({ clientId: Type.String({ description: 'Een van de client-ids.' }) })
const Params = Type.Object({ uuid: Uuid })
const DetailQuery = Type.Object(PageQuery)
const readAccess = { access: { component: 'ac', scopes: ['autorisaties.lezen'] } } as const
const updateAccess = { access: { component: 'ac', scopes: ['autorisaties.bijwerken'] } } as const

export const applicaties: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/applicaties',
    { config: readAccess, schema: { querystring: Filter, response: { 200: Page(Applicatie) } } },
    async (request, reply) => {
      const kept = withAllClients(request.query.clientIds ?? request.query.client_ids)
      return sendPageOf(
        request,
        reply,
        {
          count: async () =>
            one((await sql<{ n: number }>`select count(*) as n from applicatie a where ${kept}`.execute(app.read)).rows)
              .n,
          rows: (limit, offset) => selectApplicaties(app.read, kept, limit, offset),
          byKey: byKey(
            app.reader,
            {
              from: sql`applicatie a`,
              id: sql`a.id`,
              conditions: [kept],
              order: [{ column: sql`a.id`, descending: true }],
            },
            (ids) => selectApplicaties(app.read, isAmong(sql`a.id`, 'bigint', ids), ids.length),
          ),
        },
        (rows) => rows.map((row) => toApplicatie(row, request.base)),
        10, // an application may have thousands of rights
      )
    },
  )

  app.post(
    '/applicaties',
    {
      config: updateAccess,
      bodyLimit: LIMITS.applicatieBytes,
      schema: { body: ApplicatieInput, response: { 201: Applicatie } },
      preValidation: refuseNull,
    },
    async (request, reply) => {
      const applicatie = await app.mutate(request.actor, (m) => createApplicatie(m, request.body))
      return reply.code(201).header('location', applicatie.url).send(applicatie)
    },
  )

  app.get(
    '/applicaties/consumer',
    { config: readAccess, schema: { querystring: ConsumerQuery, response: { 200: Applicatie } } },
    async (request) => {
      const [row] = await selectApplicaties(app.read, withAllClients([request.query.clientId]), 1)
      if (!row) throw notFound()
      return toApplicatie(row, request.base)
    },
  )

  app.get(
    '/applicaties/:uuid',
    { config: readAccess, schema: { params: Params, querystring: DetailQuery, response: { 200: Applicatie } } },
    async (request, reply) =>
      sendCacheable(request, reply, toApplicatie(await requireApplicatie(app.read, request.params.uuid), request.base)),
  )

  app.put(
    '/applicaties/:uuid',
    {
      config: updateAccess,
      bodyLimit: LIMITS.applicatieBytes,
      schema: { params: Params, body: ApplicatieInput, response: { 200: Applicatie } },
      preValidation: refuseNull,
    },
    async (request) =>
      app.mutate(request.actor, (m) => changeApplicatie(m, 'update', request.params.uuid, request.body)),
  )

  app.patch(
    '/applicaties/:uuid',
    {
      config: updateAccess,
      bodyLimit: LIMITS.applicatieBytes,
      schema: { params: Params, body: ApplicatiePatch, response: { 200: Applicatie } },
      preValidation: refuseNull,
    },
    async (request) =>
      app.mutate(request.actor, (m) => changeApplicatie(m, 'partial_update', request.params.uuid, request.body)),
  )

  app.delete('/applicaties/:uuid', { config: updateAccess, schema: { params: Params } }, async (request, reply) => {
    await app.mutate(request.actor, (m) => deleteApplicatie(m, request.params.uuid))
    return reply.code(204).send()
  })
}

const NIET_NULL = ['heeftAlleAutorisaties', 'alleenIsGereedVoorPublicatie', 'autorisaties', 'catalogusAutorisaties']

/** Null counts as absent elsewhere; here a client that sends it could mean "nothing" as well as "as it was". */
async function refuseNull({ body }: FastifyRequest): Promise<void> {
  if (body === null || typeof body !== 'object') return
  const values = body as Record<string, unknown>
  const nulls = NIET_NULL.filter((name) => values[name] === null || values[snakeCase(name)] === null)
  throwFaults(nulls.map((name) => ({ name, code: 'null', reason: 'Dit veld mag niet null zijn.' })))
}

function withAllClients(clientIds: string[] | undefined): RawBuilder<boolean> {
  if (clientIds === undefined) return sql<boolean>`true`
  const wanted = [...new Set(clientIds)]
  return sql<boolean>`(select count(*) from applicatie_client_all c where c.applicatie_id = a.id and c.client_id = any(${wanted}::text[])) = ${wanted.length}`
}
