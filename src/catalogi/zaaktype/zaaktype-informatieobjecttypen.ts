// zaaktype-informatieobjecttypen: the documents that belong to cases of a type.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { Mutation } from '../../core/mutate.ts'
import { type InvalidParam, throwFaults } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { answerReader, answersOf, type ColumnsOf, fieldsOf, inputsOf, rowWriter } from '../../database/fields.ts'
import { expected } from '../../database/rows.ts'
import type { ZaaktypeInformatieobjecttype as ZaaktypeInformatieobjecttypeTable } from '../../database/types.ts'
import { when } from '../../database/when.ts'
import { ExpandQuery } from '../../http/expand.ts'
import { Patch, readInput, Url } from '../../http/input.ts'
import { link } from '../../http/links.ts'
import { CursorQuery, Page, PageQuery } from '../../http/page.ts'
import { mayForceDelete, readAccess, updateAccess } from '../access.ts'
import { registerBatch } from '../batch.ts'
import { NullableUrl, OF_ZAAKTYPE, type OwnOfPart, Params, TypeRelation, ZAAKTYPE } from '../fields.ts'
import { registerPartRoutes } from '../part-routes.ts'
import { requireStatustype, requireZaaktypeForChange, type ZaaktypeOfPart } from '../parts.ts'
import { findRelations, type NamedType } from '../related-types.ts'
import { deleteUnlessInUse, filterUuid, linkFaults, NON_CONCEPT_RELATION, otherCatalogusFaults } from '../rules.ts'
import {
  partForChange,
  recordDeleted,
  recordType,
  sendTypes,
  type TypeSource,
  ZAAKTYPE_COLUMNS,
} from '../type-source.ts'
import { StatusFilter, shownVersions } from '../versions.ts'

const { kept, apart, shown } = fieldsOf<ZaaktypeInformatieobjecttypeTable, ZaaktypeInformatieobjecttypeRow>()

/** The fields of the relation, in the order of its answers. */
const FIELDS = {
  url: shown(Url(), (row, base) => link(base, 'zaaktypeinformatieobjecttype', row.uuid)),
  ...ZAAKTYPE,
  informatieobjecttype: apart(TypeRelation(), (row, base) => link(base, 'informatieobjecttype', linkedVersion(row))),
  volgnummer: kept(Type.Integer({ minimum: 1, maximum: 999 }), 'volgnummer'),
  richting: kept(Type.Enum(['inkomend', 'intern', 'uitgaand']), 'richting'),
  statustype: apart(NullableUrl, (row, base) => row.statustypeUuid && link(base, 'statustype', row.statustypeUuid)),
  ...OF_ZAAKTYPE,
}
// A column that none of them holds, and that the code here does not write, does not compile.
const _nothingForgotten = {} satisfies Record<
  Exclude<
    keyof ZaaktypeInformatieobjecttypeTable,
    ColumnsOf<typeof FIELDS> | OwnOfPart | 'informatieobjecttypeId' | 'byUrl' | 'statustypeId'
  >,
  never
>

export const ZaaktypeInformatieobjecttypeInput = Type.Object(inputsOf(FIELDS))
const ZaaktypeInformatieobjecttype = Type.Object(answersOf(FIELDS))
const toRow = rowWriter<ZaaktypeInformatieobjecttypeTable, typeof FIELDS>(FIELDS)
const toZaaktypeInformatieobjecttype = answerReader<ZaaktypeInformatieobjecttypeRow, typeof FIELDS>(FIELDS)
const Filter = Type.Object({
  ...PageQuery,
  ...CursorQuery,
  ...ExpandQuery,
  zaaktype: Type.Optional(Url()),
  informatieobjecttype: Type.Optional(Url()),
  richting: Type.Optional(Type.Enum(['inkomend', 'intern', 'uitgaand'])),
  status: StatusFilter,
})
const ZaaktypeInformatieobjecttypePatch = Patch(ZaaktypeInformatieobjecttypeInput)
type Input = Static<typeof ZaaktypeInformatieobjecttypeInput>

export const zaaktypeInformatieobjecttypen: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/zaaktype-informatieobjecttypen',
    { config: readAccess, schema: { querystring: Filter, response: { 200: Page(ZaaktypeInformatieobjecttype) } } },
    async (request, reply) => sendTypes(request, reply, source, request.query),
  )

  app.post(
    '/zaaktype-informatieobjecttypen',
    {
      config: updateAccess,
      schema: { body: ZaaktypeInformatieobjecttypeInput, response: { 201: ZaaktypeInformatieobjecttype } },
    },
    async (request, reply) => {
      const relatie = await app.mutate(request.actor, (m) => createZaaktypeInformatieobjecttype(m, request.body))
      return reply.code(201).header('location', relatie.url).send(relatie)
    },
  )

  registerBatch(
    app,
    '/zaaktype-informatieobjecttypen',
    { answer: ZaaktypeInformatieobjecttype, query: Filter },
    'zaaktype_informatieobjecttype',
    source,
  )
  registerPartRoutes(
    app,
    '/zaaktype-informatieobjecttypen',
    ZaaktypeInformatieobjecttype,
    source,
    deleteZaaktypeInformatieobjecttype,
  )

  app.put(
    '/zaaktype-informatieobjecttypen/:uuid',
    {
      config: updateAccess,
      schema: {
        params: Params,
        body: ZaaktypeInformatieobjecttypeInput,
        response: { 200: ZaaktypeInformatieobjecttype },
      },
    },
    async (request) =>
      app.mutate(request.actor, (m) =>
        changeZaaktypeInformatieobjecttype(m, request.params.uuid, 'update', request.body),
      ),
  )

  app.patch(
    '/zaaktype-informatieobjecttypen/:uuid',
    {
      config: updateAccess,
      schema: {
        params: Params,
        body: ZaaktypeInformatieobjecttypePatch,
        response: { 200: ZaaktypeInformatieobjecttype },
      },
    },
    async (request) =>
      app.mutate(request.actor, (m) =>
        changeZaaktypeInformatieobjecttype(m, request.params.uuid, 'partial_update', request.body),
      ),
  )
}

/** @param own a uuid to use instead of a new one */
export async function createZaaktypeInformatieobjecttype(m: Mutation, input: Input, own: { uuid?: string } = {}) {
  const zaaktype = await requireZaaktypeForChange(m, input.zaaktype)
  const informatieobjecttype = await requireInformatieobjecttype(m, input.informatieobjecttype, zaaktype)
  const statustypeId = await requireStatustype(m, input.statustype ?? null, zaaktype.id)
  throwFaults([
    ...otherCatalogusFaults([informatieobjecttype], zaaktype.catalogusId),
    ...bothPublishedFaults(m, [[zaaktype, informatieobjecttype]]),
  ])
  const { uuid } = await m.trx
    .insertInto('zaaktypeInformatieobjecttype')
    .values({
      ...own,
      zaaktypeId: zaaktype.id,
      informatieobjecttypeId: informatieobjecttype.id,
      byUrl: informatieobjecttype.byUrl,
      ...toRow(input),
      statustypeId,
    })
    .returning('uuid')
    .executeTakeFirstOrThrow()
  return recordType(m, source, 'create', uuid, null)
}

/**
 * PUT (`update`) or PATCH. Holds it and its zaaktype.
 * @throws Problem 404; 400, also between types that were both published, without the forced scope
 */
export async function changeZaaktypeInformatieobjecttype(
  m: Mutation,
  uuid: string,
  actie: 'update' | 'partial_update',
  body: Static<typeof ZaaktypeInformatieobjecttypePatch>,
) {
  const before = await partForChange(m, source, 'zaaktype_informatieobjecttype', uuid)
  const oud = toZaaktypeInformatieobjecttype(before, m.actor.base)
  const input = actie === 'update' ? (body as Input) : readInput(ZaaktypeInformatieobjecttypeInput, { ...oud, ...body })
  const zaaktype = await requireZaaktypeForChange(m, input.zaaktype)
  const current = { id: before.informatieobjecttypeId, concept: before.informatieobjecttypeConcept }
  const moved = body.informatieobjecttype && body.informatieobjecttype !== oud.informatieobjecttype
  const informatieobjecttype = moved
    ? await requireInformatieobjecttype(m, input.informatieobjecttype, zaaktype)
    : { ...current, catalogusId: before.informatieobjecttypeCatalogusId, byUrl: before.byUrl }
  const statustypeId = await requireStatustype(m, input.statustype ?? null, zaaktype.id)
  throwFaults([
    ...otherCatalogusFaults([informatieobjecttype], zaaktype.catalogusId),
    ...bothPublishedFaults(m, [
      [before, current],
      [zaaktype, informatieobjecttype],
    ]),
  ])
  await m.trx
    .updateTable('zaaktypeInformatieobjecttype')
    .set({
      zaaktypeId: zaaktype.id,
      informatieobjecttypeId: informatieobjecttype.id,
      byUrl: informatieobjecttype.byUrl,
      ...toRow(input),
      statustypeId,
    })
    .where('id', '=', before.id)
    .execute()
  return recordType(m, source, actie, uuid, oud)
}

/** @throws Problem 404; 400 when both types were published, without the forced scope; 409 when it is in use */
export async function deleteZaaktypeInformatieobjecttype(m: Mutation, uuid: string): Promise<void> {
  const before = await partForChange(m, source, 'zaaktype_informatieobjecttype', uuid)
  if (!before.concept && !before.informatieobjecttypeConcept && !mayForceDelete(m.actor))
    throwFaults([NON_CONCEPT_RELATION])
  await deleteUnlessInUse(() => m.trx.deleteFrom('zaaktypeInformatieobjecttype').where('id', '=', before.id).execute())
  recordDeleted(m, source, before)
}

async function requireInformatieobjecttype(m: Mutation, value: string, zaaktype: ZaaktypeOfPart): Promise<NamedType> {
  const faults: InvalidParam[] = []
  const name = 'informatieobjecttype'
  const [found] = await findRelations(m, name, [value], zaaktype.catalogusId, name, faults)
  throwFaults(faults)
  return expected(found)
}

/** ztc-010: a relation of which both sides are published stays as it is, without the forced scope. */
const bothPublishedFaults = (m: Mutation, relaties: { concept: boolean }[][]): InvalidParam[] =>
  linkFaults(
    m,
    relaties.some((sides) => sides.every(({ concept }) => !concept)),
  )

/** definitief: both sides are published; concept: at least one is not. */
function statusFilter(status: 'alles' | 'concept' | 'definitief') {
  const published = sql`(not z.concept and not i.concept)`
  if (status === 'alles') return sql<boolean>`true`
  return status === 'definitief' ? sql<boolean>`${published}` : sql<boolean>`not ${published}`
}

function allRelations(db: ReadDb) {
  return db
    .selectFrom('zaaktypeInformatieobjecttype as t')
    .innerJoin('zaaktype as z', 'z.id', 't.zaaktypeId')
    .innerJoin('catalogus as c', 'c.id', 'z.catalogusId')
    .innerJoin('informatieobjecttype as i', 'i.id', 't.informatieobjecttypeId')
}
type Relations = ReturnType<typeof allRelations>

function listRelations(db: ReadDb, filter: Static<typeof Filter>, base: string) {
  return allRelations(db)
    .where(statusFilter(filter.status ?? 'definitief'))
    .$call(
      when(filter.zaaktype, (query, zaaktype) =>
        query.where('z.uuid', 'is not distinct from', filterUuid(zaaktype, base, 'zaaktype')),
      ),
    )
    .$call(
      when(filter.informatieobjecttype, (query, informatieobjecttype) =>
        query.where(
          sql<boolean>`t.informatieobjecttype_id in (select v.id from informatieobjecttype k
          join informatieobjecttype v on v.catalogus_id = k.catalogus_id and v.omschrijving = k.omschrijving
          where k.uuid = ${filterUuid(informatieobjecttype, base, 'informatieobjecttype')})`,
        ),
      ),
    )
    .$call(when(filter.richting, (query, richting) => query.where('t.richting', '=', richting)))
    .select('t.id')
}

function selectZaaktypeInformatieobjecttype(query: Relations) {
  return query
    .selectAll('t')
    .select(ZAAKTYPE_COLUMNS)
    .leftJoin('statustype as s', 's.id', 't.statustypeId')
    .select([
      's.uuid as statustypeUuid',
      'i.uuid as informatieobjecttypeUuid',
      'i.concept as informatieobjecttypeConcept',
      'i.catalogusId as informatieobjecttypeCatalogusId',
    ])
    .select(
      shownVersions('informatieobjecttype', sql`select t.informatieobjecttype_id as id, t.by_url`, null).as(
        'informatieobjecttypen',
      ),
    )
}
type ZaaktypeInformatieobjecttypeRow = Awaited<
  ReturnType<ReturnType<typeof selectZaaktypeInformatieobjecttype>['executeTakeFirstOrThrow']>
>

/** The version that was linked; where a concept was found by its omschrijving, the best one of the type. */
function linkedVersion(row: ZaaktypeInformatieobjecttypeRow): string {
  return row.byUrl || !row.informatieobjecttypeConcept
    ? row.informatieobjecttypeUuid
    : expected(row.informatieobjecttypen[0])
}

export const source: TypeSource<
  ZaaktypeInformatieobjecttypeRow,
  Static<typeof ZaaktypeInformatieobjecttype>,
  Static<typeof Filter>
> = {
  resource: 'zaaktypeinformatieobjecttype',
  listed: listRelations,
  rows: (db, condition) =>
    selectZaaktypeInformatieobjecttype(allRelations(db).where(condition)).orderBy('t.id', 'desc'),
  toResource: toZaaktypeInformatieobjecttype,
  named: (row) => ({
    uuid: row.uuid,
    zaaktypeUuid: row.zaaktypeUuid,
    weergave: `${row.volgnummer}`,
  }),
}
