// zaakobjecttypen: the kinds of objects that cases of a type can be about.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { Mutation } from '../../core/mutate.ts'
import { throwFaults } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { answerReader, answersOf, type ColumnsOf, fieldsOf, inputsOf, rowWriter } from '../../database/fields.ts'
import type { Zaakobjecttype as ZaakobjecttypeTable } from '../../database/types.ts'
import { when } from '../../database/when.ts'
import { ExpandQuery } from '../../http/expand.ts'
import { DateOnly, Patch, readInput, Text, Url } from '../../http/input.ts'
import { link } from '../../http/links.ts'
import { CursorQuery, Page, PageQuery } from '../../http/page.ts'
import { readAccess, updateAccess } from '../access.ts'
import { registerBatch } from '../batch.ts'
import {
  GELDIGHEID,
  NullableUrl,
  OBJECT_PERIOD,
  OF_ZAAKTYPE,
  type OwnOfPart,
  Params,
  Urls,
  ZAAKTYPE,
} from '../fields.ts'
import { registerPartRoutes } from '../part-routes.ts'
import {
  BelowZaaktypeFilter,
  belowZaaktype,
  catalogusFaults,
  requireStatustype,
  requireZaaktypeForChange,
  zaaktypeFaults,
} from '../parts.ts'
import { filterUuid } from '../rules.ts'
import { deletePart, partForChange, recordType, sendTypes, type TypeSource, ZAAKTYPE_COLUMNS } from '../type-source.ts'
import { dateFaults } from '../versions.ts'

const { kept, apart, shown } = fieldsOf<ZaakobjecttypeTable, ZaakobjecttypeRow>()

/** The fields of a zaakobjecttype, in the order of its answers. */
const FIELDS = {
  url: shown(Url(), (row, base) => link(base, 'zaakobjecttype', row.uuid)),
  anderObjecttype: kept(Type.Boolean(), 'anderObjecttype'),
  objecttype: kept(Url(200), 'objecttype'),
  relatieOmschrijving: kept(Text(80, { minLength: 1 }), 'relatieOmschrijving'),
  ...ZAAKTYPE,
  statustype: apart(NullableUrl, (row, base) => row.statustypeUuid && link(base, 'statustype', row.statustypeUuid)),
  ...GELDIGHEID,
  ...OF_ZAAKTYPE,
  resultaattypen: shown(Urls, () => []), // no resultaattype can name one
  resultaattypeOmschrijving: shown(Type.Array(Type.String()), () => []),
  statustypen: shown(Urls, (row, base) => (row.statustypeUuid ? [link(base, 'statustype', row.statustypeUuid)] : [])),
  ...OBJECT_PERIOD,
}
// A column that none of them holds, and that the code here does not write, does not compile.
const _nothingForgotten = {} satisfies Record<
  Exclude<keyof ZaakobjecttypeTable, ColumnsOf<typeof FIELDS> | OwnOfPart | 'statustypeId'>,
  never
>

export const ZaakobjecttypeInput = Type.Object(inputsOf(FIELDS))
/** What clients send; imports leave the catalogus to the zaaktype. */
const ZaakobjecttypeBody = Type.Object({ ...ZaakobjecttypeInput.properties, catalogus: NullableUrl })
const Zaakobjecttype = Type.Object(answersOf(FIELDS))
const toRow = rowWriter<ZaakobjecttypeTable, typeof FIELDS>(FIELDS)
const toZaakobjecttype = answerReader<ZaakobjecttypeRow, typeof FIELDS>(FIELDS)
const Filter = Type.Object({
  ...PageQuery,
  ...CursorQuery,
  ...ExpandQuery,
  ...BelowZaaktypeFilter,
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

  registerBatch(app, '/zaakobjecttypen', { answer: Zaakobjecttype, query: Filter }, 'zaakobjecttype', source)
  registerPartRoutes(app, '/zaakobjecttypen', Zaakobjecttype, source, deleteZaakobjecttype)

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

/** PUT (`update`) or PATCH. Holds it and its zaaktype. @throws Problem 404; 400, also below a published zaaktype (ztc-010) */
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

/** @throws Problem 404, 400 (ztc-010), 409 when it is in use */
export const deleteZaakobjecttype = (m: Mutation, uuid: string): Promise<void> =>
  deletePart(m, source, 'zaakobjecttype', uuid)

function allZaakobjecttypen(db: ReadDb) {
  return db
    .selectFrom('zaakobjecttype as t')
    .innerJoin('zaaktype as z', 'z.id', 't.zaaktypeId')
    .innerJoin('catalogus as c', 'c.id', 'z.catalogusId')
}
type Zaakobjecttypen = ReturnType<typeof allZaakobjecttypen>

function listZaakobjecttypen(db: ReadDb, filter: Static<typeof Filter>, base: string) {
  return allZaakobjecttypen(db)
    .where(belowZaaktype(filter, base))
    .$call(
      when(filter.catalogus, (query, catalogus) =>
        query.where('c.uuid', 'is not distinct from', filterUuid(catalogus, base, 'catalogus')),
      ),
    )
    .$call(
      when(filter.anderObjecttype, (query, anderObjecttype) => query.where('t.anderObjecttype', '=', anderObjecttype)),
    )
    .$call(when(filter.objecttype, (query, objecttype) => query.where('t.objecttype', '=', objecttype)))
    .$call(
      when(filter.relatieOmschrijving, (query, relatieOmschrijving) =>
        query.where('t.relatieOmschrijving', '=', relatieOmschrijving),
      ),
    )
    .$call(
      when(filter.datumBeginGeldigheid, (query, datumBeginGeldigheid) =>
        query.where('t.beginGeldigheid', '=', datumBeginGeldigheid),
      ),
    )
    .$call(
      when(filter.datumEindeGeldigheid, (query, datumEindeGeldigheid) =>
        query.where('t.eindeGeldigheid', '=', datumEindeGeldigheid),
      ),
    )
    .select('t.id')
}

function selectZaakobjecttype(query: Zaakobjecttypen) {
  return query
    .selectAll('t')
    .select(ZAAKTYPE_COLUMNS)
    .leftJoin('statustype as s', 's.id', 't.statustypeId')
    .select('s.uuid as statustypeUuid')
}
type ZaakobjecttypeRow = Awaited<ReturnType<ReturnType<typeof selectZaakobjecttype>['executeTakeFirstOrThrow']>>

export const source: TypeSource<ZaakobjecttypeRow, Static<typeof Zaakobjecttype>, Static<typeof Filter>> = {
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
