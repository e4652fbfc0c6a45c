// gebruiksrechten: conditions under which a document may be used. A document with one says so in indicatieGebruiksrecht.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { Actor } from '../core/actor.ts'
import type { Actie, Mutation } from '../core/mutate.ts'
import { notFound } from '../core/problem.ts'
import type { ReadDb } from '../database/database.ts'
import { expected } from '../database/rows.ts'
import { requireMatch, sendCacheable } from '../http/etag.ts'
import { ExpandQuery, expand, expandEach } from '../http/expand.ts'
import { Moment, Patch, Put, Reference, Text, Url } from '../http/input.ts'
import { link, localUuid } from '../http/links.ts'
import { sendAllById } from '../http/stream.ts'
import { holdDocument, holdNamedDocument } from './document/hold.ts'
import { type DocumentRow, Params, requireDocument } from './document/read.ts'
import { subresourceTree } from './expand.ts'
import { catalogusElsewhere, documentenKanaal, documentLabel } from './kanaal.ts'
import {
  AANMAKEN,
  BIJWERKEN,
  createAccess,
  deleteAccess,
  LEZEN,
  reached,
  readAccess,
  requireMay,
  type Scopes,
  updateAccess,
  VERWIJDEREN,
} from './rights.ts'
import { hasGebruiksrechten, requireDocumentUrl, requireSameDocument } from './rules.ts'

const GebruiksrechtInput = Type.Object({
  informatieobject: Reference(),
  startdatum: Moment,
  einddatum: Type.Optional(
    Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', default: null }),
  ),
  omschrijvingVoorwaarden: Text(undefined, { minLength: 1 }),
})
type GebruiksrechtInput = Static<typeof GebruiksrechtInput>
const Gebruiksrecht = Type.Object({
  url: Url(),
  ...GebruiksrechtInput.properties,
  _expand: Type.Optional(Type.Object({})),
})
const MomentFilter = Type.Optional(Moment)
const Filter = Type.Object({
  ...ExpandQuery,
  informatieobject: Type.Optional(Url()),
  startdatum__lt: MomentFilter,
  startdatum__lte: MomentFilter,
  startdatum__gt: MomentFilter,
  startdatum__gte: MomentFilter,
  einddatum__lt: MomentFilter,
  einddatum__lte: MomentFilter,
  einddatum__gt: MomentFilter,
  einddatum__gte: MomentFilter,
})
const DetailQuery = Type.Object(ExpandQuery)

export const gebruiksrechten: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/gebruiksrechten',
    { config: readAccess, schema: { querystring: Filter, response: { 200: Type.Array(Gebruiksrecht) } } },
    async (request, reply) => {
      const list = listGebruiksrechten(app.read, request.query, request.base)
        .where(reached(request.actor, LEZEN))
        .orderBy('g.id')
      return sendAllById(request, reply, {
        select: (after, limit) =>
          list
            .where('g.id', '>', after ?? 0)
            .limit(limit)
            .execute(),
        toResources: (rows) => {
          const rechten = rows.map((row) => toGebruiksrecht(row, request.base))
          return expandEach(request, rechten, request.query.expand ?? [], subresourceTree)
        },
      })
    },
  )

  app.post(
    '/gebruiksrechten',
    { config: createAccess, schema: { body: GebruiksrechtInput, response: { 201: Gebruiksrecht } } },
    async (request, reply) => {
      const document = localUuid(request.body.informatieobject, request.base, 'enkelvoudiginformatieobject')
      const catalogus = await catalogusElsewhere(app.read, app.parts.services, document, request.base)
      const made = await app.mutate(request.actor, (m) => createGebruiksrecht(m, request.body, catalogus))
      return reply.code(201).header('location', made.url).send(made)
    },
  )

  app.get(
    '/gebruiksrechten/:uuid',
    { config: readAccess, schema: { params: Params, querystring: DetailQuery, response: { 200: Gebruiksrecht } } },
    async (request, reply) => {
      const row = await findGebruiksrecht(app.read, request.params.uuid)
      if (!row) throw notFound()
      await requireDocument(app.read, request.actor, LEZEN, row.documentUuid)
      const [found] = await expand(
        request,
        [toGebruiksrecht(row, request.base)],
        request.query.expand ?? [],
        subresourceTree,
      )
      return sendCacheable(request, reply, found)
    },
  )

  app.put(
    '/gebruiksrechten/:uuid',
    {
      config: updateAccess,
      schema: { params: Params, body: Put(GebruiksrechtInput), response: { 200: Gebruiksrecht } },
    },
    async ({ actor, params, body, base }) => {
      const catalogus = await catalogusOf(params.uuid, base)
      return app.mutate(actor, (m) => changeGebruiksrecht(m, 'update', params.uuid, body, catalogus))
    },
  )

  app.patch(
    '/gebruiksrechten/:uuid',
    {
      config: updateAccess,
      schema: { params: Params, body: Patch(GebruiksrechtInput), response: { 200: Gebruiksrecht } },
    },
    async ({ actor, params, body, base }) => {
      const catalogus = await catalogusOf(params.uuid, base)
      return app.mutate(actor, (m) => changeGebruiksrecht(m, 'partial_update', params.uuid, body, catalogus))
    },
  )

  app.delete('/gebruiksrechten/:uuid', { config: deleteAccess, schema: { params: Params } }, async (request, reply) => {
    const catalogus = await catalogusOf(request.params.uuid, request.base)
    await app.mutate(request.actor, (m) => deleteGebruiksrecht(m, request.params.uuid, catalogus))
    return reply.code(204).send()
  })

  async function catalogusOf(uuid: string, base: string): Promise<string> {
    return catalogusElsewhere(
      app.read,
      app.parts.services,
      (await findGebruiksrecht(app.read, uuid))?.documentUuid,
      base,
    )
  }
}

// `catalogus` is that of the type of the document, when that stands elsewhere.

async function createGebruiksrecht(
  m: Mutation,
  { informatieobject, ...values }: GebruiksrechtInput,
  catalogus: string,
) {
  const document = await holdNamedDocument(m, requireDocumentUrl(informatieobject, m.actor.base))
  requireMay(m.actor, AANMAKEN, document)
  const { uuid } = await m.trx
    .insertInto('gebruiksrecht')
    .values({ ...values, enkelvoudiginformatieobjectId: document.id })
    .returning('uuid')
    .executeTakeFirstOrThrow()
  if (document.indicatieGebruiksrecht !== true) await setIndicatie(m, document, true)
  return record(m, 'create', catalogus, document, null, expected(await findGebruiksrecht(m.read, uuid)))
}

async function changeGebruiksrecht(
  m: Mutation,
  actie: Actie,
  uuid: string,
  given: Partial<GebruiksrechtInput>,
  catalogus: string,
) {
  const { before, document } = await forChange(m, uuid, BIJWERKEN)
  const { informatieobject, ...values } = given
  const same =
    informatieobject === undefined || localUuid(informatieobject, m.actor.base, 'enkelvoudiginformatieobject')
  requireSameDocument(same === true || same === document.uuid)
  if (Object.keys(values).length > 0)
    await m.trx.updateTable('gebruiksrecht').set(values).where('id', '=', before.id).execute()
  return record(m, actie, catalogus, document, before, expected(await findGebruiksrecht(m.read, uuid)))
}

async function deleteGebruiksrecht(m: Mutation, uuid: string, catalogus: string): Promise<void> {
  const { before, document } = await forChange(m, uuid, VERWIJDEREN)
  await m.trx.deleteFrom('gebruiksrecht').where('id', '=', before.id).execute()
  if (!(await hasGebruiksrechten(m.read, document.id))) await setIndicatie(m, document, null)
  record(m, 'destroy', catalogus, document, before, null)
}

/** The gebruiksrecht and its document, of which both stay as they are until the transaction ends. */
async function forChange(m: Mutation, uuid: string, scopes: Scopes) {
  const found = await findGebruiksrecht(m.read, uuid)
  if (!found) throw notFound()
  const document = await holdDocument(m, found.documentUuid)
  requireMay(m.actor, scopes, document)
  const before = await findGebruiksrecht(m.read, uuid)
  if (!before) throw notFound()
  requireMatch(m, () => toGebruiksrecht(before, m.actor.base))
  return { before, document }
}

/** drc-006: the latest version itself tells whether there are gebruiksrechten; it needs no lock and gets no successor. */
async function setIndicatie(m: Mutation, document: DocumentRow, indicatieGebruiksrecht: boolean | null): Promise<void> {
  await m.trx
    .updateTable('enkelvoudiginformatieobjectVersie')
    .set({ indicatieGebruiksrecht, beginRegistratie: sql`moment_from(begin_registratie)` })
    .where('enkelvoudiginformatieobjectId', '=', document.id)
    .where('versie', '=', document.versie)
    .execute()
}

function record(
  m: Mutation,
  actie: Actie,
  catalogus: string,
  document: DocumentRow,
  before: Row | null,
  after: Row | null,
) {
  const { base } = m.actor
  const row = expected(after ?? before)
  const shown = toGebruiksrecht(row, base)
  m.record({
    component: 'drc',
    actie,
    resource: 'gebruiksrechten',
    url: shown.url,
    uuid: row.uuid,
    weergave: `(${documentLabel(document)}) - ${row.omschrijvingVoorwaarden.slice(0, 50)}`,
    hoofdobject: { url: shown.informatieobject, uuid: document.uuid },
    kanaal: documentenKanaal(document, base, catalogus),
    oud: before && toGebruiksrecht(before, base),
    nieuw: after && shown,
  })
  return shown
}

function withDocument(db: ReadDb) {
  return db
    .selectFrom('gebruiksrecht as g')
    .innerJoin('enkelvoudiginformatieobject as e', 'e.id', 'g.enkelvoudiginformatieobjectId')
    .selectAll('g')
    .select('e.uuid as documentUuid')
}
type Row = Awaited<ReturnType<ReturnType<typeof withDocument>['executeTakeFirstOrThrow']>>

const OPERATORS = { lt: '<', lte: '<=', gt: '>', gte: '>=' } as const

function listGebruiksrechten(db: ReadDb, filter: Static<typeof Filter>, base: string) {
  let query = withDocument(db)
  if (filter.informatieobject !== undefined) {
    const uuid = localUuid(filter.informatieobject, base, 'enkelvoudiginformatieobject') ?? null
    query = query.where('e.uuid', 'is not distinct from', uuid)
  }
  for (const field of ['startdatum', 'einddatum'] as const) {
    for (const [suffix, operator] of Object.entries(OPERATORS)) {
      const moment = filter[`${field}__${suffix}` as keyof typeof filter] as string | undefined
      if (moment !== undefined) query = query.where(`g.${field}`, operator, moment)
    }
  }
  return query
}

function findGebruiksrecht(db: ReadDb, uuid: string): Promise<Row | undefined> {
  return withDocument(db).where('g.uuid', '=', uuid).executeTakeFirst()
}

function toGebruiksrecht(row: Row, base: string) {
  return {
    url: link(base, 'gebruiksrechten', row.uuid),
    informatieobject: link(base, 'enkelvoudiginformatieobject', row.documentUuid),
    startdatum: row.startdatum,
    einddatum: row.einddatum,
    omschrijvingVoorwaarden: row.omschrijvingVoorwaarden,
  }
}

/** Those with these ids whose document the actor may read. */
export async function readableGebruiksrechten(db: ReadDb, actor: Actor, base: string, ids: number[]) {
  const rows = await withDocument(db).where('g.id', 'in', ids).where(reached(actor, LEZEN)).execute()
  return rows.map((row) => ({ id: row.id, uuid: row.uuid, resource: toGebruiksrecht(row, base) }))
}
