// zaakobjecttypen: the kinds of objects that cases of a type can be about.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { ReadDb } from '../../database/database.ts'
import type { Mutation } from '../../database/mutate.ts'
import { ExpandQuery } from '../../http/expand.ts'
import { DateOnly, OptionalDate, Patch, Reference, readInput, Text, Url } from '../../http/input.ts'
import { link } from '../../http/links.ts'
import { Page, PageQuery } from '../../http/page.ts'
import { throwFaults } from '../../http/problem.ts'
import { Detail, NullableDate, NullableUrl, Params, Urls } from '../fields.ts'
import {
  catalogusFaults,
  dateFaults,
  deleteAccess,
  filterUuid,
  OnderZaaktypeFilter,
  onderZaaktype,
  readAccess,
  requireStatustype,
  requireZaaktypeForChange,
  updateAccess,
  zaaktypeFaults,
} from '../rules.ts'
import {
  deletePart,
  expandableSource,
  OF_ZAAKTYPE,
  partForChange,
  recordType,
  sendType,
  sendTypes,
  type TypeSource,
} from '../type-source.ts'

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
    async (request, reply) => sendTypes(request, reply, source, request.query),
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
    async (request, reply) => sendType(request, reply, source, request.params.uuid),
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
  return recordType(m, source, 'create', uuid, null)
}

export async function changeZaakobjecttype(
  m: Mutation,
  uuid: string,
  actie: 'update' | 'partial_update',
  body: Static<typeof ZaakobjecttypePatch>,
) {
  const before = await partForChange(m, source, 'zaakobjecttype', uuid)
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
  return recordType(m, source, actie, uuid, oud)
}

export const deleteZaakobjecttype = (m: Mutation, uuid: string): Promise<void> =>
  deletePart(m, source, 'zaakobjecttype', uuid)

function toRow(input: Input) {
  return {
    anderObjecttype: input.anderObjecttype,
    objecttype: input.objecttype,
    relatieOmschrijving: input.relatieOmschrijving,
    beginGeldigheid: input.beginGeldigheid ?? null,
    eindeGeldigheid: input.eindeGeldigheid ?? null,
  }
}

function allZaakobjecttypen(db: ReadDb) {
  return db
    .selectFrom('zaakobjecttype as t')
    .innerJoin('zaaktype as z', 'z.id', 't.zaaktypeId')
    .innerJoin('catalogus as c', 'c.id', 'z.catalogusId')
}
type Zaakobjecttypen = ReturnType<typeof allZaakobjecttypen>

function listZaakobjecttypen(db: ReadDb, filter: Static<typeof Filter>, base: string) {
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
    .select('t.id')
}

function selectZaakobjecttype(query: Zaakobjecttypen) {
  return query
    .selectAll('t')
    .select(OF_ZAAKTYPE)
    .leftJoin('statustype as s', 's.id', 't.statustypeId')
    .select('s.uuid as statustypeUuid')
}
type ZaakobjecttypeRow = Awaited<ReturnType<ReturnType<typeof selectZaakobjecttype>['executeTakeFirstOrThrow']>>

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

const source: TypeSource<ZaakobjecttypeRow, Static<typeof Zaakobjecttype>, Static<typeof Filter>> = {
  resource: 'zaakobjecttype',
  listed: listZaakobjecttypen,
  rows: (db, condition) => selectZaakobjecttype(allZaakobjecttypen(db).where(condition)).orderBy('t.id', 'desc'),
  toResource: toZaakobjecttype,
  named: (row) => ({
    uuid: row.uuid,
    zaaktypeUuid: row.zaaktypeUuid,
    weergave: row.relatieOmschrijving,
  }),
}
expandableSource(source)
