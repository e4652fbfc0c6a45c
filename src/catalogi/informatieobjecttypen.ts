// informatieobjecttypen: the types of documents. A type begins as concept; publishing it makes it usable.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { announceType, revokeType } from '../autorisaties/types.ts'
import { json, type Mutation } from '../core/mutate.ts'
import { notFound, throwFaults } from '../core/problem.ts'
import type { ReadDb } from '../database/database.ts'
import { answerReader, answersOf, type ColumnsOf, fieldsOf, inputsOf, rowWriter } from '../database/fields.ts'
import { expected } from '../database/rows.ts'
import type { Informatieobjecttype as InformatieobjecttypeTable } from '../database/types.ts'
import { when } from '../database/when.ts'
import { requireMatch } from '../http/etag.ts'
import { ExpandQuery } from '../http/expand.ts'
import { DateOnly, OptionalDate, OptionalText, Patch, readInput, Text, Url, Vertrouwelijkheid } from '../http/input.ts'
import { link } from '../http/links.ts'
import { CursorQuery, contains, Page, PageQuery } from '../http/page.ts'
import { deleteAccess, readAccess, updateAccess, writeAccess } from './access.ts'
import { registerBatch } from './batch.ts'
import {
  CATALOGUS,
  CONCEPT,
  DetailOnDate,
  linksOf,
  Names,
  type OwnOfType,
  Params,
  Texts,
  Urls,
  VERSIONS_PERIOD,
} from './fields.ts'
import { handOverRelations } from './related-types.ts'
import {
  deleteUnlessInUse,
  filterUuid,
  linkFaults,
  publishedFaults,
  requireCatalogus,
  requireDeletable,
} from './rules.ts'
import { findType, recordDeleted, recordRow, sendType, sendTypes, type TypeSource } from './type-source.ts'
import {
  allVersions,
  changedDateFaults,
  changesOnlyEnd,
  DatumGeldigheid,
  dateFaults,
  objectPeriod,
  referringVersions,
  requireMovable,
  requireNoOverlap,
  StatusFilter,
  validOn,
} from './versions.ts'

const OmschrijvingGeneriek = Type.Object({
  informatieobjecttypeOmschrijvingGeneriek: Text(80),
  definitieInformatieobjecttypeOmschrijvingGeneriek: Text(255),
  herkomstInformatieobjecttypeOmschrijvingGeneriek: Text(12),
  hierarchieInformatieobjecttypeOmschrijvingGeneriek: Text(80),
  opmerkingInformatieobjecttypeOmschrijvingGeneriek: OptionalText(255),
})
const EMPTY_GENERIC = Object.fromEntries(
  Object.keys(OmschrijvingGeneriek.properties).map((name) => [name, '']),
) as Static<typeof OmschrijvingGeneriek>

const { kept, spread, shown } = fieldsOf<InformatieobjecttypeTable, TypeRow>()

/** The fields of an informatieobjecttype, in the order of its answers. */
const FIELDS = {
  url: shown(Url(), (row, base) => link(base, 'informatieobjecttype', row.uuid)),
  ...CATALOGUS,
  omschrijving: kept(Text(80, { minLength: 1 }), 'omschrijving'),
  vertrouwelijkheidaanduiding: kept(Vertrouwelijkheid, 'vertrouwelijkheidaanduiding'),
  beginGeldigheid: kept(DateOnly, 'beginGeldigheid'),
  eindeGeldigheid: kept(OptionalDate, 'eindeGeldigheid', null),
  ...CONCEPT,
  besluittypen: shown(Urls, (row, base) => linksOf(row.besluittypen, 'besluittype', base)),
  besluittypeOmschrijving: shown(Names, (row) => row.besluittypeOmschrijving),
  informatieobjectcategorie: kept(Text(80, { minLength: 1 }), 'informatieobjectcategorie'),
  trefwoord: kept(Texts(30), 'trefwoord', []),
  omschrijvingGeneriek: spread({
    input: Type.Optional(OmschrijvingGeneriek),
    columns: { omschrijvingGeneriek: json({}) },
    write: (given) => ({ omschrijvingGeneriek: json(given) }),
    read: (row) => ({ ...EMPTY_GENERIC, ...(row.omschrijvingGeneriek as object) }),
  }),
  zaaktypen: shown(Urls, (row, base) => linksOf(row.zaaktypen, 'zaaktype', base)),
  zaaktypeIdentificaties: shown(Names, (row) => row.zaaktypeIdentificaties),
  ...VERSIONS_PERIOD,
}
// A column that none of them holds, and that the code here does not write, does not compile.
const _nothingForgotten = {} satisfies Record<
  Exclude<keyof InformatieobjecttypeTable, ColumnsOf<typeof FIELDS> | OwnOfType>,
  never
>

export const InformatieobjecttypeInput = Type.Object(inputsOf(FIELDS))
const Informatieobjecttype = Type.Object(answersOf(FIELDS))
const toRow = rowWriter<InformatieobjecttypeTable, typeof FIELDS>(FIELDS)
const toInformatieobjecttype = answerReader<TypeRow, typeof FIELDS>(FIELDS)
const Filter = Type.Object({
  ...PageQuery,
  ...CursorQuery,
  ...ExpandQuery,
  catalogus: Type.Optional(Url()),
  zaaktype: Type.Optional(Url()),
  omschrijving: Type.Optional(Type.String()),
  omschrijving__icontains: Type.Optional(Type.String()),
  status: StatusFilter,
  datumGeldigheid: DatumGeldigheid,
})
const InformatieobjecttypePatch = Patch(InformatieobjecttypeInput)
type Input = Static<typeof InformatieobjecttypeInput>

export const informatieobjecttypen: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/informatieobjecttypen',
    { config: readAccess, schema: { querystring: Filter, response: { 200: Page(Informatieobjecttype) } } },
    async (request, reply) => sendTypes(request, reply, source, request.query),
  )

  app.post(
    '/informatieobjecttypen',
    { config: writeAccess, schema: { body: InformatieobjecttypeInput, response: { 201: Informatieobjecttype } } },
    async (request, reply) => {
      const type = await app.mutate(request.actor, (m) => createInformatieobjecttype(m, request.body))
      return reply.code(201).header('location', type.url).send(type)
    },
  )

  registerBatch(
    app,
    '/informatieobjecttypen',
    { answer: Informatieobjecttype, query: Filter },
    'informatieobjecttype',
    source,
  )

  app.get(
    '/informatieobjecttypen/:uuid',
    {
      config: readAccess,
      schema: { params: Params, querystring: DetailOnDate, response: { 200: Informatieobjecttype } },
    },
    async (request, reply) => sendType(request, reply, source, request.params.uuid, request.query.datumGeldigheid),
  )

  app.put(
    '/informatieobjecttypen/:uuid',
    {
      config: updateAccess,
      schema: { params: Params, body: InformatieobjecttypeInput, response: { 200: Informatieobjecttype } },
    },
    async (request) =>
      app.mutate(request.actor, (m) => changeInformatieobjecttype(m, request.params.uuid, 'update', request.body)),
  )

  app.patch(
    '/informatieobjecttypen/:uuid',
    {
      config: updateAccess,
      schema: { params: Params, body: InformatieobjecttypePatch, response: { 200: Informatieobjecttype } },
    },
    async (request) =>
      app.mutate(request.actor, (m) =>
        changeInformatieobjecttype(m, request.params.uuid, 'partial_update', request.body),
      ),
  )

  app.delete(
    '/informatieobjecttypen/:uuid',
    { config: deleteAccess, schema: { params: Params } },
    async (request, reply) => {
      await app.mutate(request.actor, (m) => deleteInformatieobjecttype(m, request.params.uuid))
      return reply.code(204).send()
    },
  )

  app.post(
    '/informatieobjecttypen/:uuid/publish',
    { config: writeAccess, schema: { params: Params, response: { 200: Informatieobjecttype } } },
    async (request) => app.mutate(request.actor, (m) => publishInformatieobjecttype(m, request.params.uuid)),
  )
}

/** @param own a uuid to use instead of a new one */
export async function createInformatieobjecttype(m: Mutation, input: Input, own: { uuid?: string } = {}) {
  const catalogus = await requireCatalogus(m.read, input.catalogus, m.actor.base)
  throwFaults(dateFaults(input))
  const { uuid } = await m.trx
    .insertInto('informatieobjecttype')
    .values({ ...own, ...toRow(input), catalogusId: catalogus.id })
    .returning('uuid')
    .executeTakeFirstOrThrow()
  const row = expected(await findType(m.read, source, uuid))
  const type = recordRow(m, source, 'create', row, null)
  await announceType(m, 'drc', null, placeOf(row))
  return type
}

/**
 * PUT (`update`) or PATCH; the version is held until the change is made.
 * @throws Problem 404; 400 when it was published and more than its end changes, without the forced scope (ztc-009), or when
 * its period would overlap another's (ztc-016)
 */
export async function changeInformatieobjecttype(
  m: Mutation,
  uuid: string,
  actie: 'update' | 'partial_update',
  body: Static<typeof InformatieobjecttypePatch>,
) {
  const before = await typeForChange(m, uuid)
  const oud = toInformatieobjecttype(before, m.actor.base)
  const input = actie === 'update' ? (body as Input) : readInput(InformatieobjecttypeInput, { ...oud, ...body })
  const catalogus = await requireCatalogus(m.read, input.catalogus, m.actor.base)
  const onlyEinde = changesOnlyEnd(actie, body)
  throwFaults(changedDateFaults(input, oud))
  if (!onlyEinde)
    throwFaults([...publishedFaults(m, before), ...linkFaults(m, await hasPublishedRelations(m, before.id))])
  await requireMovable(m, 'informatieobjecttype', before, catalogus.id)
  await m.trx
    .updateTable('informatieobjecttype')
    .set({ ...toRow(input), catalogusId: catalogus.id })
    .where('id', '=', before.id)
    .execute()
  const row = expected(await findType(m.read, source, uuid))
  if (!row.concept)
    await requireNoOverlap(
      m,
      'informatieobjecttype',
      { ...row, key: row.omschrijving },
      onlyEinde ? 'eindeGeldigheid' : undefined,
      { ...before, key: before.omschrijving },
    )
  const type = recordRow(m, source, actie, row, oud)
  await announceType(m, 'drc', placeOf(before), placeOf(row))
  return type
}

/** Makes a type usable. Publishing it again runs the same checks and changes nothing. */
export async function publishInformatieobjecttype(m: Mutation, uuid: string) {
  const before = await typeForChange(m, uuid)
  await requireNoOverlap(m, 'informatieobjecttype', { ...before, key: before.omschrijving })
  await m.trx.updateTable('informatieobjecttype').set({ concept: false }).where('id', '=', before.id).execute()
  const row = expected(await findType(m.read, source, uuid))
  const type = recordRow(m, source, 'update', row, toInformatieobjecttype(before, m.actor.base))
  return type
}

/**
 * Relations with the type go over to another version.
 * @throws Problem 404; 400 when it was published, without the forced scope (ztc-009); 409 when it is in use
 */
export async function deleteInformatieobjecttype(m: Mutation, uuid: string): Promise<void> {
  const before = await typeForChange(m, uuid)
  await requireDeletable(m, before, () => hasPublishedRelations(m, before.id))
  const column = 'informatieobjecttype_id'
  await handOverRelations(m, 'informatieobjecttype', before.id, [
    { table: 'zaaktype_informatieobjecttype', owner: 'zaaktype_id', column },
    { table: 'besluittype_informatieobjecttype', owner: 'besluittype_id', column },
    { table: 'resultaattype_informatieobjecttype', owner: 'resultaattype_id', column },
  ])
  await deleteUnlessInUse(() => m.trx.deleteFrom('informatieobjecttype').where('id', '=', before.id).execute())
  await revokeType(m, 'drc', uuid, placeOf(before))
  recordDeleted(m, source, before)
}

async function typeForChange(m: Mutation, uuid: string): Promise<TypeRow> {
  await m.trx.selectFrom('informatieobjecttype').where('uuid', '=', uuid).forUpdate().select('id').execute()
  const row = await findType(m.read, source, uuid)
  if (!row) throw notFound()
  requireMatch(m, () => toInformatieobjecttype(row, m.actor.base))
  return row
}

async function hasPublishedRelations(m: Mutation, id: number): Promise<boolean> {
  const { rows } = await sql`
    select 1 from zaaktype_informatieobjecttype r join zaaktype z on z.id = r.zaaktype_id
    where r.informatieobjecttype_id = ${id} and not z.concept
    union all
    select 1 from besluittype_informatieobjecttype r join besluittype b on b.id = r.besluittype_id
    where r.informatieobjecttype_id = ${id} and not b.concept limit 1`.execute(m.trx)
  return rows.length > 0
}

const placeOf = ({ catalogusId, omschrijving: key }: TypeRow) => ({ catalogusId, key })

function allTypes(db: ReadDb) {
  return db.selectFrom('informatieobjecttype as t').innerJoin('catalogus as c', 'c.id', 't.catalogusId')
}
type Types = ReturnType<typeof allTypes>

function listInformatieobjecttypen(db: ReadDb, filter: Static<typeof Filter>, base: string) {
  const { status = 'definitief', datumGeldigheid } = filter
  return allTypes(db)
    .$if(status !== 'alles', (query) => query.where('t.concept', '=', status === 'concept'))
    .$call(
      when(filter.catalogus, (query, catalogus) =>
        query.where('c.uuid', 'is not distinct from', filterUuid(catalogus, base, 'catalogus')),
      ),
    )
    .$call(
      when(filter.zaaktype, (query, zaaktype) =>
        query.where(
          sql<boolean>`exists (select 1 from zaaktype_informatieobjecttype r join zaaktype z on z.id = r.zaaktype_id
          where z.uuid = ${filterUuid(zaaktype, base, 'zaaktype')}
            and r.informatieobjecttype_id in (${allVersions('informatieobjecttype')}))`,
        ),
      ),
    )
    .$call(when(filter.omschrijving, (query, omschrijving) => query.where('t.omschrijving', '=', omschrijving)))
    .$call(
      when(filter.omschrijving__icontains, (query, text) => query.where(contains(sql.ref('t.omschrijving'), text))),
    )
    .$call(when(datumGeldigheid, (query, day) => query.where(sql<boolean>`${validOn('t.', day)}`)))
    .select('t.id')
}

// `datum` decides which related versions are shown.
function selectType(query: Types, datum: string | null) {
  const versions = allVersions('informatieobjecttype')
  const besluittype = sql`select r.besluittype_id from besluittype_informatieobjecttype r`
  const zaaktype = sql`select r.zaaktype_id from zaaktype_informatieobjecttype r`
  const refer = (query: typeof zaaktype) => ({
    links: sql`${query} where r.informatieobjecttype_id in (${versions})`,
    direct: sql`${query} where r.informatieobjecttype_id = t.id`,
  })
  const [besluittypen, zaaktypen] = [refer(besluittype), refer(zaaktype)]
  return query
    .selectAll('t')
    .select('c.uuid as catalogusUuid')
    .select(objectPeriod('informatieobjecttype'))
    .select([
      referringVersions('besluittype', besluittypen, datum).as('besluittypen'),
      referringVersions('besluittype', besluittypen, datum, 'omschrijving').as('besluittypeOmschrijving'),
      referringVersions('zaaktype', zaaktypen, datum).as('zaaktypen'),
      referringVersions('zaaktype', zaaktypen, datum, 'identificatie').as('zaaktypeIdentificaties'),
    ])
}
type TypeRow = Awaited<ReturnType<ReturnType<typeof selectType>['executeTakeFirstOrThrow']>>

export const source: TypeSource<TypeRow, Static<typeof Informatieobjecttype>, Static<typeof Filter>> = {
  resource: 'informatieobjecttype',
  listed: listInformatieobjecttypen,
  rows: (db, condition, datum) => selectType(allTypes(db).where(condition), datum).orderBy('t.id', 'desc'),
  toResource: toInformatieobjecttype,
  named: (row) => ({ uuid: row.uuid, catalogusUuid: row.catalogusUuid, weergave: row.omschrijving }),
}
