// zaakobjecttypen: the kinds of objects that cases of a type can be about.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { ReadDb } from '../../database/database.ts'
import type { Mutation } from '../../database/mutate.ts'
import { ExpandQuery } from '../../http/expand.ts'
import { DateOnly, OptionalDate, Patch, Reference, readInput, Text, Url } from '../../http/input.ts'
import { link } from '../../http/links.ts'
import { Page, PageQuery } from '../../http/page.ts'
import { notFound, throwFaults } from '../../http/problem.ts'
import { expandable, sendOne, sendPage } from '../expand.ts'
import { Detail, NullableDate, NullableUrl, Params, Urls } from '../fields.ts'
import {
  catalogusFaults,
  dateFaults,
  deleteAccess,
  deleteOnderdeel,
  filterUuid,
  holdOnderdeel,
  OnderZaaktypeFilter,
  onderZaaktype,
  readAccess,
  recordChange,
  requireStatustype,
  requireZaaktypeForChange,
  updateAccess,
  zaaktypeFaults,
} from '../rules.ts'

export const ZaakobjecttypeInput = Type.Object({
  anderObjecttype: Type.Boolean(),
  objecttype: Url(200),
  relatieOmschrijving: Text(80, { minLength: 1 }),
  zaaktype: Reference(),
  statustype: NullableUrl,
  beginGeldigheid: OptionalDate,
  eindeGeldigheid: OptionalDate,
})
/** What clients send; imports leave the catalogus to the zaaktype. */
const ZaakobjecttypeBody = Type.Object({ ...ZaakobjecttypeInput.properties, catalogus: NullableUrl })
const Zaakobjecttype = Type.Object({
  url: Url(),
  ...ZaakobjecttypeInput.properties,
  zaaktypeIdentificatie: Type.String(),
  catalogus: Url(),
  resultaattypen: Urls,
  resultaattypeOmschrijving: Type.Array(Type.String()),
  statustypen: Urls,
  beginObject: NullableDate,
  eindeObject: NullableDate,
})
const Filter = Type.Object({
  ...PageQuery,
  ...ExpandQuery,
  ...OnderZaaktypeFilter,
  catalogus: Type.Optional(Url()),
  anderObjecttype: Type.Optional(Type.Boolean()),
  objecttype: Type.Optional(Url()),
  relatieOmschrijving: Type.Optional(Type.String()),
  datumBeginGeldigheid: Type.Optional(DateOnly),
  datumEindeGeldigheid: Type.Optional(DateOnly),
})
const ZaakobjecttypePatch = Patch(ZaakobjecttypeBody)
type Input = Static<typeof ZaakobjecttypeInput> & { catalogus?: string | null }

export const zaakobjecttypen: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/zaakobjecttypen',
    { config: readAccess, schema: { querystring: Filter, response: { 200: Page(Zaakobjecttype) } } },
    async (request, reply) => {
      const list = listZaakobjecttypen(app.read, request.query, request.base)
      return sendPage(
        request,
        reply,
        'zaakobjecttype',
        {
          count: async () => (await list.select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow()).count,
          rows: (limit, offset) => {
            const page = list.select('t.id').orderBy('t.id', 'desc').limit(limit).offset(offset)
            return selectZaakobjecttype(allZaakobjecttypen(app.read).where('t.id', 'in', page))
              .orderBy('t.id', 'desc')
              .execute()
          },
        },
        (row) => toZaakobjecttype(row, request.base),
      )
    },
  )

  app.post(
    '/zaakobjecttypen',
    { config: updateAccess, schema: { body: ZaakobjecttypeBody, response: { 201: Zaakobjecttype } } },
    async (request, reply) => {
      const zaakobjecttype = await app.mutate(request.actor, (m) => createZaakobjecttype(m, request.body))
      return reply.code(201).header('location', zaakobjecttype.url).send(zaakobjecttype)
    },
  )

  app.get(
    '/zaakobjecttypen/:uuid',
    { config: readAccess, schema: { params: Params, querystring: Detail, response: { 200: Zaakobjecttype } } },
    async (request, reply) => {
      const row = await findZaakobjecttype(app.read, request.params.uuid)
      if (!row) throw notFound()
      return sendOne(request, reply, 'zaakobjecttype', toZaakobjecttype(row, request.base))
    },
  )

  app.put(
    '/zaakobjecttypen/:uuid',
    { config: updateAccess, schema: { params: Params, body: ZaakobjecttypeBody, response: { 200: Zaakobjecttype } } },
    async (request) =>
      app.mutate(request.actor, (m) => changeZaakobjecttype(m, request.params.uuid, 'update', request.body)),
  )

  app.patch(
    '/zaakobjecttypen/:uuid',
    { config: updateAccess, schema: { params: Params, body: ZaakobjecttypePatch, response: { 200: Zaakobjecttype } } },
    async (request) =>
      app.mutate(request.actor, (m) => changeZaakobjecttype(m, request.params.uuid, 'partial_update', request.body)),
  )

  app.delete('/zaakobjecttypen/:uuid', { config: deleteAccess, schema: { params: Params } }, async (request, reply) => {
    await app.mutate(request.actor, (m) => deleteZaakobjecttype(m, request.params.uuid))
    return reply.code(204).send()
  })
}

expandable('zaakobjecttype', async (read, base, uuids) => {
  const rows = await selectZaakobjecttype(allZaakobjecttypen(read)).where('t.uuid', 'in', uuids).execute()
  return rows.map((row) => toZaakobjecttype(row, base))
})

/** @param own a uuid to use instead of a new one */
export async function createZaakobjecttype(m: Mutation, input: Input, own: { uuid?: string } = {}) {
  const zaaktype = await requireZaaktypeForChange(m, input.zaaktype)
  const statustypeId = await requireStatustype(m, input.statustype ?? null, zaaktype.id)
  throwFaults(catalogusFaults(m, input.catalogus, zaaktype))
  throwFaults([...zaaktypeFaults(m, [zaaktype]), ...dateFaults(input)])
  const { uuid } = await m.trx
    .insertInto('zaakobjecttype')
    .values({ ...own, ...toRow(input), zaaktypeId: zaaktype.id, statustypeId })
    .returning('uuid')
    .executeTakeFirstOrThrow()
  const row = (await findZaakobjecttype(m.read, uuid))!
  const zaakobjecttype = toZaakobjecttype(row, m.actor.base)
  recordChange(m, 'create', 'zaakobjecttype', named(row), null, zaakobjecttype)
  return zaakobjecttype
}

export async function changeZaakobjecttype(
  m: Mutation,
  uuid: string,
  actie: 'update' | 'partial_update',
  body: Static<typeof ZaakobjecttypePatch>,
) {
  const before = await zaakobjecttypeForChange(m, uuid)
  const oud = toZaakobjecttype(before, m.actor.base)
  const input = actie === 'update' ? (body as Input) : readInput(ZaakobjecttypeInput, { ...oud, ...body })
  const zaaktype = await requireZaaktypeForChange(m, input.zaaktype)
  const statustypeId = await requireStatustype(m, input.statustype ?? null, zaaktype.id)
  throwFaults(catalogusFaults(m, body.catalogus, zaaktype))
  throwFaults([...zaaktypeFaults(m, [before, zaaktype]), ...dateFaults(input)])
  await m.trx
    .updateTable('zaakobjecttype')
    .set({ ...toRow(input), zaaktypeId: zaaktype.id, statustypeId })
    .where('id', '=', before.id)
    .execute()
  const row = (await findZaakobjecttype(m.read, uuid))!
  const zaakobjecttype = toZaakobjecttype(row, m.actor.base)
  recordChange(m, actie, 'zaakobjecttype', named(row), oud, zaakobjecttype)
  return zaakobjecttype
}

export async function deleteZaakobjecttype(m: Mutation, uuid: string): Promise<void> {
  const before = await zaakobjecttypeForChange(m, uuid)
  await deleteOnderdeel(m, 'zaakobjecttype', before)
  recordChange(m, 'destroy', 'zaakobjecttype', named(before), toZaakobjecttype(before, m.actor.base), null)
}

async function zaakobjecttypeForChange(m: Mutation, uuid: string): Promise<ZaakobjecttypeRow> {
  await holdOnderdeel(m, 'zaakobjecttype', uuid)
  return (await findZaakobjecttype(m.read, uuid))!
}

function toRow(input: Input) {
  return {
    anderObjecttype: input.anderObjecttype,
    objecttype: input.objecttype,
    relatieOmschrijving: input.relatieOmschrijving,
    beginGeldigheid: input.beginGeldigheid ?? null,
    eindeGeldigheid: input.eindeGeldigheid ?? null,
  }
}

const named = (row: ZaakobjecttypeRow) => ({
  uuid: row.uuid,
  zaaktypeUuid: row.zaaktypeUuid,
  weergave: row.relatieOmschrijving,
})

function allZaakobjecttypen(db: ReadDb) {
  return db
    .selectFrom('zaakobjecttype as t')
    .innerJoin('zaaktype as z', 'z.id', 't.zaaktypeId')
    .innerJoin('catalogus as c', 'c.id', 'z.catalogusId')
}
type Zaakobjecttypen = ReturnType<typeof allZaakobjecttypen>

function listZaakobjecttypen(db: ReadDb, filter: Static<typeof Filter>, base: string): Zaakobjecttypen {
  return allZaakobjecttypen(db)
    .where(onderZaaktype(filter, base))
    .$if(filter.catalogus !== undefined, (query) =>
      query.where('c.uuid', 'is not distinct from', filterUuid(filter.catalogus!, base, 'catalogus')),
    )
    .$if(filter.anderObjecttype !== undefined, (query) =>
      query.where('t.anderObjecttype', '=', filter.anderObjecttype!),
    )
    .$if(filter.objecttype !== undefined, (query) => query.where('t.objecttype', '=', filter.objecttype!))
    .$if(filter.relatieOmschrijving !== undefined, (query) =>
      query.where('t.relatieOmschrijving', '=', filter.relatieOmschrijving!),
    )
    .$if(filter.datumBeginGeldigheid !== undefined, (query) =>
      query.where('t.beginGeldigheid', '=', filter.datumBeginGeldigheid!),
    )
    .$if(filter.datumEindeGeldigheid !== undefined, (query) =>
      query.where('t.eindeGeldigheid', '=', filter.datumEindeGeldigheid!),
    )
}

function selectZaakobjecttype(query: Zaakobjecttypen) {
  return query
    .selectAll('t')
    .select([
      'z.uuid as zaaktypeUuid',
      'z.identificatie as zaaktypeIdentificatie',
      'z.concept',
      'c.uuid as catalogusUuid',
    ])
    .leftJoin('statustype as s', 's.id', 't.statustypeId')
    .select('s.uuid as statustypeUuid')
}
type ZaakobjecttypeRow = Awaited<ReturnType<ReturnType<typeof selectZaakobjecttype>['executeTakeFirstOrThrow']>>

function findZaakobjecttype(db: ReadDb, uuid: string): Promise<ZaakobjecttypeRow | undefined> {
  return selectZaakobjecttype(allZaakobjecttypen(db)).where('t.uuid', '=', uuid).executeTakeFirst()
}

function toZaakobjecttype(row: ZaakobjecttypeRow, base: string): Static<typeof Zaakobjecttype> {
  return {
    url: link(base, 'zaakobjecttype', row.uuid),
    anderObjecttype: row.anderObjecttype,
    objecttype: row.objecttype,
    relatieOmschrijving: row.relatieOmschrijving,
    zaaktype: link(base, 'zaaktype', row.zaaktypeUuid),
    zaaktypeIdentificatie: row.zaaktypeIdentificatie,
    catalogus: link(base, 'catalogus', row.catalogusUuid),
    resultaattypen: [], // no resultaattype can name one
    resultaattypeOmschrijving: [],
    statustype: row.statustypeUuid ? link(base, 'statustype', row.statustypeUuid) : null,
    statustypen: row.statustypeUuid ? [link(base, 'statustype', row.statustypeUuid)] : [],
    beginGeldigheid: row.beginGeldigheid,
    eindeGeldigheid: row.eindeGeldigheid,
    beginObject: row.beginGeldigheid,
    eindeObject: row.eindeGeldigheid,
  }
}
