// informatieobjecttypen: the types of documents. A type begins as concept; publishing it makes it usable.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Selectable, sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { ReadDb } from '../database.ts'
import type { Informatieobjecttype as TypeTable } from '../database-types.ts'
import { sendCacheable } from '../etag.ts'
import { DateOnly, OptionalDate, Reference, Text, Url, Uuid, Vertrouwelijkheid } from '../input.ts'
import { link, localUuid } from '../links.ts'
import { json, type Mutation } from '../mutate.ts'
import { Page, PageQuery, paginate } from '../page.ts'
import { invalid, notFound } from '../problem.ts'
import { DatumGeldigheid, lezen, requireCatalogus, StatusFilter, schrijven, typeKanaal } from './rules.ts'

const OmschrijvingGeneriek = Type.Object({
  informatieobjecttypeOmschrijvingGeneriek: Text(80),
  definitieInformatieobjecttypeOmschrijvingGeneriek: Text(255),
  herkomstInformatieobjecttypeOmschrijvingGeneriek: Text(12),
  hierarchieInformatieobjecttypeOmschrijvingGeneriek: Text(80),
  opmerkingInformatieobjecttypeOmschrijvingGeneriek: Type.Optional(Type.String({ maxLength: 255, default: '' })),
})
const InformatieobjecttypeInput = Type.Object({
  catalogus: Reference(),
  omschrijving: Text(80, { minLength: 1 }),
  vertrouwelijkheidaanduiding: Vertrouwelijkheid,
  beginGeldigheid: DateOnly,
  eindeGeldigheid: OptionalDate,
  informatieobjectcategorie: Text(80, { minLength: 1 }),
  trefwoord: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 30 }), { default: [] })),
  omschrijvingGeneriek: Type.Optional(OmschrijvingGeneriek),
})
const Informatieobjecttype = Type.Object({
  url: Url(),
  ...InformatieobjecttypeInput.properties,
  concept: Type.Boolean(),
  besluittypen: Type.Array(Url()),
  zaaktypen: Type.Array(Url()),
  beginObject: OptionalDate,
  eindeObject: OptionalDate,
})
const Filter = Type.Object({
  ...PageQuery,
  catalogus: Type.Optional(Url()),
  omschrijving: Type.Optional(Type.String()),
  omschrijving__icontains: Type.Optional(Type.String()),
  status: StatusFilter,
  datumGeldigheid: DatumGeldigheid,
})
const Params = Type.Object({ uuid: Uuid })

export const informatieobjecttypen: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/informatieobjecttypen',
    { config: lezen, schema: { querystring: Filter, response: { 200: Page(Informatieobjecttype) } } },
    async (request) => {
      const list = listInformatieobjecttypen(app.read, request.query, request.base)
      return paginate(
        request,
        {
          count: async () => (await list.select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow()).count,
          rows: (limit, offset) => selectType(list).orderBy('t.id', 'desc').limit(limit).offset(offset).execute(),
        },
        (row) => toInformatieobjecttype(row, request.base),
      )
    },
  )

  app.post(
    '/informatieobjecttypen',
    { config: schrijven, schema: { body: InformatieobjecttypeInput, response: { 201: Informatieobjecttype } } },
    async (request, reply) => {
      const type = await app.mutate(request.actor, (m) => createInformatieobjecttype(m, request.body))
      return reply.code(201).header('location', type.url).send(type)
    },
  )

  app.get(
    '/informatieobjecttypen/:uuid',
    { config: lezen, schema: { params: Params, response: { 200: Informatieobjecttype } } },
    async (request, reply) => {
      const row = await findType(app.read, request.params.uuid)
      if (!row) throw notFound()
      return sendCacheable(request, reply, toInformatieobjecttype(row, request.base))
    },
  )

  app.post(
    '/informatieobjecttypen/:uuid/publish',
    { config: schrijven, schema: { params: Params, response: { 200: Informatieobjecttype } } },
    async (request) => app.mutate(request.actor, (m) => publishInformatieobjecttype(m, request.params.uuid)),
  )
}

export async function createInformatieobjecttype(m: Mutation, input: Static<typeof InformatieobjecttypeInput>) {
  const { catalogus: catalogusUrl, omschrijvingGeneriek, ...values } = input
  const catalogus = await requireCatalogus(m.read, catalogusUrl, m.actor.base)
  const { uuid } = await m.trx
    .insertInto('informatieobjecttype')
    .values({ ...values, catalogusId: catalogus.id, omschrijvingGeneriek: json(omschrijvingGeneriek ?? {}) })
    .returning('uuid')
    .executeTakeFirstOrThrow()
  return recordType(m, 'create', null, (await findType(m.read, uuid))!)
}

/** Makes a type usable. Publishing it again runs the same checks and changes nothing. */
export async function publishInformatieobjecttype(m: Mutation, uuid: string) {
  const found = await m.trx
    .selectFrom('informatieobjecttype')
    .where('uuid', '=', uuid)
    .forUpdate()
    .select('id')
    .executeTakeFirst()
  if (!found) throw notFound()
  const before = (await findType(m.read, uuid))!
  await requireNoOverlap(m, before)
  await m.trx.updateTable('informatieobjecttype').set({ concept: false }).where('id', '=', before.id).execute()
  return recordType(m, 'update', toInformatieobjecttype(before, m.actor.base), (await findType(m.read, uuid))!)
}

/** ztc-016: published versions of one type do not overlap; an end on the day of the next begin is allowed. */
async function requireNoOverlap(m: Mutation, type: TypeRow): Promise<void> {
  const other = await m.trx
    .selectFrom('informatieobjecttype')
    .where('catalogusId', '=', type.catalogusId)
    .where('omschrijving', '=', type.omschrijving)
    .where('concept', '=', false)
    .where('id', '!=', type.id)
    .where((eb) => eb.or([eb('eindeGeldigheid', 'is', null), eb('eindeGeldigheid', '>', type.beginGeldigheid)]))
    .$if(type.eindeGeldigheid !== null, (query) => query.where('beginGeldigheid', '<', type.eindeGeldigheid!))
    .select('id')
    .executeTakeFirst()
  if (other)
    throw invalid(
      'beginGeldigheid',
      'overlap',
      'Een andere gepubliceerde versie van dit type is in deze periode geldig.',
    )
}

function recordType(m: Mutation, actie: 'create' | 'update', oud: unknown, row: TypeRow) {
  const type = toInformatieobjecttype(row, m.actor.base)
  m.record({
    component: 'ztc',
    actie,
    resource: 'informatieobjecttype',
    url: type.url,
    uuid: row.uuid,
    weergave: type.omschrijving,
    kanaal: typeKanaal('informatieobjecttypen', m.actor.base, row.catalogusUuid),
    oud,
    nieuw: type,
  })
  return type
}

function listInformatieobjecttypen(db: ReadDb, filter: Static<typeof Filter>, base: string) {
  const status = filter.status ?? 'definitief'
  return db
    .selectFrom('informatieobjecttype as t')
    .innerJoin('catalogus as c', 'c.id', 't.catalogusId')
    .$if(status !== 'alles', (query) => query.where('t.concept', '=', status === 'concept'))
    .$if(filter.catalogus !== undefined, (query) =>
      query.where('c.uuid', 'is not distinct from', localUuid(filter.catalogus!, base, 'catalogus') ?? null),
    )
    .$if(filter.omschrijving !== undefined, (query) => query.where('t.omschrijving', '=', filter.omschrijving!))
    .$if(filter.omschrijving__icontains !== undefined, (query) =>
      query.where(sql<boolean>`position(lower(${filter.omschrijving__icontains}) in lower(t.omschrijving)) > 0`),
    )
    .$if(filter.datumGeldigheid !== undefined, (query) =>
      query
        .where('t.beginGeldigheid', '<=', filter.datumGeldigheid!)
        .where((eb) =>
          eb.or([eb('t.eindeGeldigheid', 'is', null), eb('t.eindeGeldigheid', '>=', filter.datumGeldigheid!)]),
        ),
    )
}

// beginObject and eindeObject span all versions of the type: the oldest begin, and the end of the newest.
function selectType(query: ReturnType<typeof listInformatieobjecttypen>) {
  return query
    .selectAll('t')
    .select('c.uuid as catalogusUuid')
    .select([
      sql<string>`(select min(v.begin_geldigheid) from informatieobjecttype v
        where v.catalogus_id = t.catalogus_id and v.omschrijving = t.omschrijving)`.as('beginObject'),
      sql<string | null>`(select v.einde_geldigheid from informatieobjecttype v
        where v.catalogus_id = t.catalogus_id and v.omschrijving = t.omschrijving
        order by v.begin_geldigheid desc, v.id desc limit 1)`.as('eindeObject'),
    ])
}

function findType(db: ReadDb, uuid: string): Promise<TypeRow | undefined> {
  const all = db.selectFrom('informatieobjecttype as t').innerJoin('catalogus as c', 'c.id', 't.catalogusId')
  return selectType(all).where('t.uuid', '=', uuid).executeTakeFirst()
}

type TypeRow = Selectable<TypeTable> & { catalogusUuid: string; beginObject: string; eindeObject: string | null }

const GENERIEK_LEEG = Object.fromEntries(Object.keys(OmschrijvingGeneriek.properties).map((name) => [name, '']))

function toInformatieobjecttype(row: TypeRow, base: string): Static<typeof Informatieobjecttype> {
  return {
    url: link(base, 'informatieobjecttype', row.uuid),
    catalogus: link(base, 'catalogus', row.catalogusUuid),
    omschrijving: row.omschrijving,
    vertrouwelijkheidaanduiding: row.vertrouwelijkheidaanduiding,
    beginGeldigheid: row.beginGeldigheid,
    eindeGeldigheid: row.eindeGeldigheid,
    concept: row.concept,
    besluittypen: [],
    informatieobjectcategorie: row.informatieobjectcategorie,
    trefwoord: row.trefwoord,
    omschrijvingGeneriek: { ...GENERIEK_LEEG, ...(row.omschrijvingGeneriek as object) } as Static<
      typeof OmschrijvingGeneriek
    >,
    zaaktypen: [],
    beginObject: row.beginObject,
    eindeObject: row.eindeObject,
  }
}
