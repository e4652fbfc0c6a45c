// besluittypen: the types of decisions. Every resource is one version of a type; versions share their omschrijving.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import { announceType, revokeType } from '../autorisaties/types.ts'
import type { Mutation } from '../core/mutate.ts'
import { type InvalidParam, notFound, throwFaults } from '../core/problem.ts'
import type { ReadDb } from '../database/database.ts'
import { answerReader, answersOf, type ColumnsOf, fieldsOf, inputsOf, rowWriter } from '../database/fields.ts'
import { replaceRows } from '../database/replace-rows.ts'
import { expected } from '../database/rows.ts'
import type { Besluittype as BesluittypeTable } from '../database/types.ts'
import { when } from '../database/when.ts'
import { isoDuration } from '../http/duration.ts'
import { requireMatch } from '../http/etag.ts'
import { ExpandQuery } from '../http/expand.ts'
import { DateOnly, OptionalDate, OptionalText, Patch, readInput, Url } from '../http/input.ts'
import { link } from '../http/links.ts'
import { CursorQuery, Page, PageQuery } from '../http/page.ts'
import { deleteAccess, readAccess, updateAccess, writeAccess } from './access.ts'
import { registerBatch } from './batch.ts'
import {
  CATALOGUS,
  CONCEPT,
  DetailOnDate,
  linksOf,
  Names,
  OptionalDuur,
  type OwnOfType,
  Params,
  TypeRelation,
  Urls,
  VERSIONS_PERIOD,
} from './fields.ts'
import { findRelations, handOverRelations, type NamedType } from './related-types.ts'
import {
  anyPublished,
  deleteUnlessInUse,
  filterUuid,
  linkFaults,
  otherCatalogusFaults,
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
  shownVersions,
  validOn,
} from './versions.ts'

const { kept, formed, apart, shown } = fieldsOf<BesluittypeTable, BesluittypeRow>()

/** The fields of a besluittype, in the order of its answers. */
const FIELDS = {
  url: shown(Url(), (row, base) => link(base, 'besluittype', row.uuid)),
  ...CATALOGUS,
  zaaktypen: shown(Urls, (row, base) => linksOf(row.zaaktypen, 'zaaktype', base)),
  zaaktypeIdentificaties: shown(Names, (row) => row.zaaktypeIdentificaties),
  omschrijving: kept(OptionalText(80), 'omschrijving', ''),
  omschrijvingGeneriek: kept(OptionalText(80), 'omschrijvingGeneriek', ''),
  besluitcategorie: kept(OptionalText(40), 'besluitcategorie', ''),
  reactietermijn: formed(OptionalDuur, 'reactietermijn', null, isoDuration),
  publicatieIndicatie: kept(Type.Boolean(), 'publicatieIndicatie'),
  publicatietekst: kept(OptionalText(), 'publicatietekst', ''),
  publicatietermijn: formed(OptionalDuur, 'publicatietermijn', null, isoDuration),
  toelichting: kept(OptionalText(), 'toelichting', ''),
  informatieobjecttypen: apart(Type.Array(TypeRelation()), (row, base) =>
    linksOf(row.informatieobjecttypen, 'informatieobjecttype', base),
  ),
  informatieobjecttypeOmschrijving: shown(Names, (row) => row.vastgelegdIn),
  informatieobjecttypeOmschrijvingen: shown(Names, (row) => row.vastgelegdIn), // the spelling of 1.3.3
  beginGeldigheid: kept(DateOnly, 'beginGeldigheid'),
  eindeGeldigheid: kept(OptionalDate, 'eindeGeldigheid', null),
  ...VERSIONS_PERIOD,
  ...CONCEPT,
  resultaattypen: shown(Urls, (row, base) => linksOf(row.resultaattypen, 'resultaattype', base)),
  resultaattypenOmschrijving: shown(Names, (row) => row.resultaattypenOmschrijving),
  vastgelegdIn: shown(Names, (row) => row.vastgelegdIn),
}
// A column that none of them holds, and that the code here does not write, does not compile.
const _nothingForgotten = {} satisfies Record<
  Exclude<keyof BesluittypeTable, ColumnsOf<typeof FIELDS> | OwnOfType>,
  never
>

export const BesluittypeInput = Type.Object(inputsOf(FIELDS))
const Besluittype = Type.Object(answersOf(FIELDS))
const toRow = rowWriter<BesluittypeTable, typeof FIELDS>(FIELDS)
const toBesluittype = answerReader<BesluittypeRow, typeof FIELDS>(FIELDS)
const Filter = Type.Object({
  ...PageQuery,
  ...CursorQuery,
  ...ExpandQuery,
  catalogus: Type.Optional(Url()),
  zaaktypen: Type.Optional(Url()),
  informatieobjecttypen: Type.Optional(Url()),
  omschrijving: Type.Optional(Type.String()),
  status: StatusFilter,
  datumGeldigheid: DatumGeldigheid,
})
const BesluittypePatch = Patch(BesluittypeInput)
type Input = Static<typeof BesluittypeInput>

export const besluittypen: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/besluittypen',
    { config: readAccess, schema: { querystring: Filter, response: { 200: Page(Besluittype) } } },
    async (request, reply) => sendTypes(request, reply, source, request.query),
  )

  app.post(
    '/besluittypen',
    { config: writeAccess, schema: { body: BesluittypeInput, response: { 201: Besluittype } } },
    async (request, reply) => {
      const besluittype = await app.mutate(request.actor, (m) => createBesluittype(m, request.body))
      return reply.code(201).header('location', besluittype.url).send(besluittype)
    },
  )

  registerBatch(app, '/besluittypen', { answer: Besluittype, query: Filter }, 'besluittype', source)

  app.get(
    '/besluittypen/:uuid',
    { config: readAccess, schema: { params: Params, querystring: DetailOnDate, response: { 200: Besluittype } } },
    async (request, reply) => sendType(request, reply, source, request.params.uuid, request.query.datumGeldigheid),
  )

  app.put(
    '/besluittypen/:uuid',
    { config: updateAccess, schema: { params: Params, body: BesluittypeInput, response: { 200: Besluittype } } },
    async (request) =>
      app.mutate(request.actor, (m) => changeBesluittype(m, request.params.uuid, 'update', request.body)),
  )

  app.patch(
    '/besluittypen/:uuid',
    { config: updateAccess, schema: { params: Params, body: BesluittypePatch, response: { 200: Besluittype } } },
    async (request) =>
      app.mutate(request.actor, (m) => changeBesluittype(m, request.params.uuid, 'partial_update', request.body)),
  )

  app.delete('/besluittypen/:uuid', { config: deleteAccess, schema: { params: Params } }, async (request, reply) => {
    await app.mutate(request.actor, (m) => deleteBesluittype(m, request.params.uuid))
    return reply.code(204).send()
  })

  app.post(
    '/besluittypen/:uuid/publish',
    { config: writeAccess, schema: { params: Params, response: { 200: Besluittype } } },
    async (request) => app.mutate(request.actor, (m) => publishBesluittype(m, request.params.uuid)),
  )
}

/** @param own a uuid to use instead of a new one */
export async function createBesluittype(m: Mutation, input: Input, own: { uuid?: string } = {}) {
  const catalogus = await requireCatalogus(m.read, input.catalogus, m.actor.base)
  const related = await readRelations(m, input, catalogus.id)
  throwFaults([
    ...dateFaults(input),
    ...otherCatalogusFaults(related, catalogus.id),
    ...linkFaults(m, anyPublished(related)),
  ])
  const { id, uuid } = await m.trx
    .insertInto('besluittype')
    .values({ ...own, ...toRow(input), catalogusId: catalogus.id })
    .returning(['id', 'uuid'])
    .executeTakeFirstOrThrow()
  await writeRelations(m, id, related)
  const row = expected(await findType(m.read, source, uuid))
  const besluittype = recordRow(m, source, 'create', row, null)
  await announceType(m, 'brc', null, placeOf(row))
  return besluittype
}

/**
 * PUT (`update`) or PATCH; the version is held until the change is made.
 * @throws Problem 404; 400 when it was published and more than its end changes, without the forced scope (ztc-009), or when
 * its period would overlap another's (ztc-016)
 */
export async function changeBesluittype(
  m: Mutation,
  uuid: string,
  actie: 'update' | 'partial_update',
  body: Static<typeof BesluittypePatch>,
) {
  const before = await besluittypeForChange(m, uuid)
  const oud = toBesluittype(before, m.actor.base)
  const input = actie === 'update' ? (body as Input) : readInput(BesluittypeInput, { ...oud, ...body })
  const catalogus = await requireCatalogus(m.read, input.catalogus, m.actor.base)
  const related = await readRelations(m, input, catalogus.id)
  const onlyEinde = changesOnlyEnd(actie, body)
  const faults = [...changedDateFaults(input, oud), ...otherCatalogusFaults(related, catalogus.id)]
  if (!onlyEinde) {
    const given = body.informatieobjecttypen ? related : []
    const linked = anyPublished(given) || (await hasPublishedInformatieobjecttype(m, before.id))
    faults.push(...publishedFaults(m, before), ...linkFaults(m, linked))
  }
  throwFaults(faults)
  await requireMovable(m, 'besluittype', before, catalogus.id)
  await m.trx
    .updateTable('besluittype')
    .set({ ...toRow(input), catalogusId: catalogus.id })
    .where('id', '=', before.id)
    .execute()
  if (body.informatieobjecttypen) await writeRelations(m, before.id, related)
  const row = expected(await findType(m.read, source, uuid))
  if (!row.concept)
    await requireNoOverlap(
      m,
      'besluittype',
      { ...row, key: row.omschrijving },
      onlyEinde ? 'eindeGeldigheid' : undefined,
      { ...before, key: before.omschrijving },
    )
  const besluittype = recordRow(m, source, actie, row, oud)
  await announceType(m, 'brc', placeOf(before), placeOf(row))
  return besluittype
}

/** Makes a version usable. Publishing it again runs the same checks and changes nothing. */
export async function publishBesluittype(m: Mutation, uuid: string) {
  const before = await besluittypeForChange(m, uuid)
  await requireNoOverlap(m, 'besluittype', { ...before, key: before.omschrijving })
  await m.trx.updateTable('besluittype').set({ concept: false }).where('id', '=', before.id).execute()
  const row = expected(await findType(m.read, source, uuid))
  const besluittype = recordRow(m, source, 'update', row, toBesluittype(before, m.actor.base))
  return besluittype
}

/**
 * Relations with the type go over to another version.
 * @throws Problem 404; 400 when it was published, without the forced scope (ztc-009); 409 when it is in use
 */
export async function deleteBesluittype(m: Mutation, uuid: string): Promise<void> {
  const before = await besluittypeForChange(m, uuid)
  await requireDeletable(m, before, async () => {
    const { rows } = await sql`
      select 1 from zaaktype_besluittype r join zaaktype z on z.id = r.zaaktype_id
      where r.besluittype_id = ${before.id} and not z.concept limit 1`.execute(m.trx)
    return rows.length > 0 || hasPublishedInformatieobjecttype(m, before.id)
  })
  await handOverRelations(m, 'besluittype', before.id, [
    { table: 'zaaktype_besluittype', owner: 'zaaktype_id', column: 'besluittype_id' },
    { table: 'resultaattype_besluittype', owner: 'resultaattype_id', column: 'besluittype_id' },
  ])
  await deleteUnlessInUse(() => m.trx.deleteFrom('besluittype').where('id', '=', before.id).execute())
  await revokeType(m, 'brc', uuid, placeOf(before))
  recordDeleted(m, source, before)
}

async function besluittypeForChange(m: Mutation, uuid: string): Promise<BesluittypeRow> {
  await m.trx.selectFrom('besluittype').where('uuid', '=', uuid).forUpdate().select('id').execute()
  const row = await findType(m.read, source, uuid)
  if (!row) throw notFound()
  requireMatch(m, () => toBesluittype(row, m.actor.base))
  return row
}

async function readRelations(m: Mutation, input: Input, catalogusId: number): Promise<NamedType[]> {
  const faults: InvalidParam[] = []
  const name = 'informatieobjecttypen'
  const found = await findRelations(m, 'informatieobjecttype', input[name], catalogusId, name, faults)
  throwFaults(faults)
  return found
}

async function hasPublishedInformatieobjecttype(m: Mutation, besluittypeId: number): Promise<boolean> {
  const { rows } = await sql`
    select 1 from besluittype_informatieobjecttype r join informatieobjecttype i on i.id = r.informatieobjecttype_id
    where r.besluittype_id = ${besluittypeId} and not i.concept limit 1`.execute(m.trx)
  return rows.length > 0
}

async function writeRelations(m: Mutation, besluittypeId: number, related: NamedType[]): Promise<void> {
  await replaceRows(
    m.trx.deleteFrom('besluittypeInformatieobjecttype').where('besluittypeId', '=', besluittypeId),
    related.map(({ id, byUrl }) => ({ besluittypeId, informatieobjecttypeId: id, byUrl })),
    (rows) => m.trx.insertInto('besluittypeInformatieobjecttype').values(rows),
  )
}

const placeOf = ({ catalogusId, omschrijving: key }: BesluittypeRow) => ({ catalogusId, key })

function allBesluittypen(db: ReadDb) {
  return db.selectFrom('besluittype as t').innerJoin('catalogus as c', 'c.id', 't.catalogusId')
}
type Besluittypen = ReturnType<typeof allBesluittypen>

function listBesluittypen(db: ReadDb, filter: Static<typeof Filter>, base: string) {
  const { status = 'definitief', datumGeldigheid } = filter
  return allBesluittypen(db)
    .$if(status !== 'alles', (query) => query.where('t.concept', '=', status === 'concept'))
    .$call(
      when(filter.catalogus, (query, catalogus) =>
        query.where('c.uuid', 'is not distinct from', filterUuid(catalogus, base, 'catalogus')),
      ),
    )
    .$call(when(filter.omschrijving, (query, omschrijving) => query.where('t.omschrijving', '=', omschrijving)))
    .$call(
      when(filter.zaaktypen, (query, zaaktypen) =>
        query.where(
          sql<boolean>`exists (select 1 from zaaktype_besluittype r join zaaktype z on z.id = r.zaaktype_id
          where z.uuid = ${filterUuid(zaaktypen, base, 'zaaktype')} and r.besluittype_id in (${allVersions('besluittype')}))`,
        ),
      ),
    )
    .$call(
      when(filter.informatieobjecttypen, (query, informatieobjecttypen) =>
        query.where(
          sql<boolean>`exists (select 1 from besluittype_informatieobjecttype r
          join informatieobjecttype k on k.id = r.informatieobjecttype_id
          join informatieobjecttype v on v.catalogus_id = k.catalogus_id and v.omschrijving = k.omschrijving
          where r.besluittype_id = t.id
            and v.uuid = ${filterUuid(informatieobjecttypen, base, 'informatieobjecttype')})`,
        ),
      ),
    )
    .$call(when(datumGeldigheid, (query, day) => query.where(sql<boolean>`${validOn('t.', day)}`)))
    .select('t.id')
}

// `datum` decides which related versions are shown.
function selectBesluittype(query: Besluittypen, datum: string | null) {
  const informatieobjecttypen = sql`
    select r.informatieobjecttype_id as id, r.by_url from besluittype_informatieobjecttype r where r.besluittype_id = t.id`
  const zaaktypen = {
    links: sql`select r.zaaktype_id from zaaktype_besluittype r where r.besluittype_id in (${allVersions('besluittype')})`,
    direct: sql`select r.zaaktype_id from zaaktype_besluittype r where r.besluittype_id = t.id`,
  }
  const resultaattypen = (wat: string) => sql<string[]>`array(
    select o.${sql.raw(wat)} from resultaattype_besluittype r join resultaattype o on o.id = r.resultaattype_id
    where r.besluittype_id in (${allVersions('besluittype')}) order by o.id)`
  return query
    .selectAll('t')
    .select('c.uuid as catalogusUuid')
    .select(objectPeriod('besluittype'))
    .select([
      shownVersions('informatieobjecttype', informatieobjecttypen, datum).as('informatieobjecttypen'),
      shownVersions('informatieobjecttype', informatieobjecttypen, datum, 'omschrijving').as('vastgelegdIn'),
      referringVersions('zaaktype', zaaktypen, datum).as('zaaktypen'),
      referringVersions('zaaktype', zaaktypen, datum, 'identificatie').as('zaaktypeIdentificaties'),
      resultaattypen('uuid').as('resultaattypen'),
      resultaattypen('omschrijving').as('resultaattypenOmschrijving'),
    ])
}
type BesluittypeRow = Awaited<ReturnType<ReturnType<typeof selectBesluittype>['executeTakeFirstOrThrow']>>

export const source: TypeSource<BesluittypeRow, Static<typeof Besluittype>, Static<typeof Filter>> = {
  resource: 'besluittype',
  listed: listBesluittypen,
  rows: (db, condition, datum) =>
    selectBesluittype(allBesluittypen(db).where(condition), datum).orderBy('t.id', 'desc'),
  toResource: toBesluittype,
  named: (row) => ({
    uuid: row.uuid,
    catalogusUuid: row.catalogusUuid,
    weergave: row.omschrijving || row.uuid,
  }),
}
