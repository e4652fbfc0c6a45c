// catalogussen: the catalogues that types are kept in.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { Mutation } from '../core/mutate.ts'
import { notFound, Problem } from '../core/problem.ts'
import type { ReadDb } from '../database/database.ts'
import { answerReader, answersOf, type ColumnsOf, fieldsOf, inputsOf, rowWriter } from '../database/fields.ts'
import { byKey } from '../database/list.ts'
import { expected } from '../database/rows.ts'
import type { Catalogus as CatalogusTable } from '../database/types.ts'
import { when } from '../database/when.ts'
import { requireMatch } from '../http/etag.ts'
import { ExpandQuery } from '../http/expand.ts'
import { OptionalDate, OptionalText, Patch, Rsin, readInput, Text, Url } from '../http/input.ts'
import { link } from '../http/links.ts'
import { CursorQuery, Page, PageQuery } from '../http/page.ts'
import { deleteAccess, readAccess, updateAccess, writeAccess } from './access.ts'
import { sendOne, sendPage } from './expand.ts'
import { Detail, linksOf, Names, Params, Urls } from './fields.ts'
import { recordChange } from './records.ts'
import { newestFirst } from './type-source.ts'

const { kept, shown } = fieldsOf<CatalogusTable, CatalogusRow>()

/** The fields of a catalogus, in the order of its answers. */
const FIELDS = {
  url: shown(Url(), (row, base) => link(base, 'catalogus', row.uuid)),
  domein: kept(Type.String({ minLength: 1, maxLength: 5, pattern: '^[A-Z]*$' }), 'domein'),
  rsin: kept(Rsin, 'rsin'),
  contactpersoonBeheerNaam: kept(Text(40, { minLength: 1 }), 'contactpersoonBeheerNaam'),
  contactpersoonBeheerTelefoonnummer: kept(OptionalText(20), 'contactpersoonBeheerTelefoonnummer', ''),
  contactpersoonBeheerEmailadres: kept(
    Type.Optional(Type.String({ maxLength: 254, format: 'email', default: '' })),
    'contactpersoonBeheerEmailadres',
    '',
  ),
  naam: kept(OptionalText(200), 'naam', ''),
  versie: kept(OptionalText(20), 'versie', ''),
  begindatumVersie: kept(OptionalDate, 'begindatumVersie', null),
  zaaktypen: shown(Urls, (row, base) => linksOf(row.zaaktypen, 'zaaktype', base)),
  besluittypen: shown(Urls, (row, base) => linksOf(row.besluittypen, 'besluittype', base)),
  besluittypeOmschrijving: shown(Names, (row) => row.besluittypeOmschrijving),
  informatieobjecttypeOmschrijving: shown(Names, (row) => row.informatieobjecttypeOmschrijving),
  informatieobjecttypen: shown(Urls, (row, base) => linksOf(row.informatieobjecttypen, 'informatieobjecttype', base)),
}
// A column that none of them holds does not compile.
const _nothingForgotten = {} satisfies Record<
  Exclude<keyof CatalogusTable, ColumnsOf<typeof FIELDS> | 'id' | 'uuid'>,
  never
>

export const CatalogusInput = Type.Object(inputsOf(FIELDS))
const Catalogus = Type.Object(answersOf(FIELDS))
const toRow = rowWriter<CatalogusTable, typeof FIELDS>(FIELDS)
const toCatalogus = answerReader<CatalogusRow, typeof FIELDS>(FIELDS)
const Filter = Type.Object({
  ...PageQuery,
  ...CursorQuery,
  ...ExpandQuery,
  domein: Type.Optional(Type.String()),
  domein__in: Type.Optional(Type.Array(Type.String())),
  rsin: Type.Optional(Rsin),
  rsin__in: Type.Optional(Type.Array(Type.String())),
})
const CatalogusPatch = Patch(CatalogusInput)
type Input = Static<typeof CatalogusInput>

export const catalogussen: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/catalogussen',
    { config: readAccess, schema: { querystring: Filter, response: { 200: Page(Catalogus) } } },
    async (request, reply) => {
      const list = listCatalogussen(app.read, request.query)
      return sendPage(
        request,
        reply,
        'catalogus',
        {
          count: async () => (await list.select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow()).count,
          rows: (limit, offset) =>
            selectCatalogus(list).orderBy('catalogus.id', 'desc').limit(limit).offset(offset).execute(),
          byKey: byKey(app.reader, newestFirst(list.select('catalogus.id')), (ids) =>
            selectCatalogus(list).where('catalogus.id', 'in', ids).orderBy('catalogus.id', 'desc').execute(),
          ),
        },
        (row) => toCatalogus(row, request.base),
      )
    },
  )

  app.post(
    '/catalogussen',
    { config: writeAccess, schema: { body: CatalogusInput, response: { 201: Catalogus } } },
    async (request, reply) => {
      const catalogus = await app.mutate(request.actor, (m) => createCatalogus(m, request.body))
      return reply.code(201).header('location', catalogus.url).send(catalogus)
    },
  )

  app.get(
    '/catalogussen/:uuid',
    { config: readAccess, schema: { params: Params, querystring: Detail, response: { 200: Catalogus } } },
    async (request, reply) => {
      const row = await findCatalogus(app.read, request.params.uuid)
      if (!row) throw notFound()
      return sendOne(request, reply, 'catalogus', toCatalogus(row, request.base))
    },
  )

  app.put(
    '/catalogussen/:uuid',
    { config: updateAccess, schema: { params: Params, body: CatalogusInput, response: { 200: Catalogus } } },
    async (request) =>
      app.mutate(request.actor, (m) => changeCatalogus(m, request.params.uuid, 'update', request.body)),
  )

  app.patch(
    '/catalogussen/:uuid',
    { config: updateAccess, schema: { params: Params, body: CatalogusPatch, response: { 200: Catalogus } } },
    async (request) =>
      app.mutate(request.actor, (m) => changeCatalogus(m, request.params.uuid, 'partial_update', request.body)),
  )

  app.delete('/catalogussen/:uuid', { config: deleteAccess, schema: { params: Params } }, async (request, reply) => {
    await app.mutate(request.actor, (m) => deleteCatalogus(m, request.params.uuid))
    return reply.code(204).send()
  })
}

/** Those with these uuids, as the API shows them. */
export async function loadCatalogussen(read: ReadDb, base: string, uuids: string[]) {
  const rows = await selectCatalogus(read.selectFrom('catalogus')).where('catalogus.uuid', 'in', uuids).execute()
  return rows.map((row) => toCatalogus(row, base))
}

/** @param own a uuid to use instead of a new one */
export async function createCatalogus(m: Mutation, input: Input, own: { uuid?: string } = {}) {
  const { uuid } = await m.trx
    .insertInto('catalogus')
    .values({ ...own, ...toRow(input) })
    .returning('uuid')
    .executeTakeFirstOrThrow()
  const row = expected(await findCatalogus(m.read, uuid))
  const catalogus = toCatalogus(row, m.actor.base)
  recordChange(m, 'create', 'catalogus', named(row), null, catalogus)
  return catalogus
}

/** PUT (`update`) or PATCH. @throws Problem 404, 400 */
export async function changeCatalogus(
  m: Mutation,
  uuid: string,
  actie: 'update' | 'partial_update',
  body: Static<typeof CatalogusPatch>,
) {
  const before = await catalogusForChange(m, uuid)
  const oud = toCatalogus(before, m.actor.base)
  const input = actie === 'update' ? (body as Input) : readInput(CatalogusInput, { ...oud, ...body })
  await m.trx.updateTable('catalogus').set(toRow(input)).where('id', '=', before.id).execute()
  const row = expected(await findCatalogus(m.read, uuid))
  const catalogus = toCatalogus(row, m.actor.base)
  recordChange(m, actie, 'catalogus', named(row), oud, catalogus)
  return catalogus
}

/** @throws Problem 404; 409 when there are types in it (ztc-017) */
export async function deleteCatalogus(m: Mutation, uuid: string): Promise<void> {
  const before = await catalogusForChange(m, uuid)
  if (before.zaaktypen.length + before.besluittypen.length + before.informatieobjecttypen.length > 0) {
    throw new Problem(409, { code: 'CATALOG_NOT_EMPTY', detail: 'Er zijn nog typen in deze catalogus.' }) // ztc-017
  }
  await m.trx.deleteFrom('catalogus').where('id', '=', before.id).execute()
  recordChange(m, 'destroy', 'catalogus', named(before), toCatalogus(before, m.actor.base), null)
}

// Held against new types as well: they refer to it.
async function catalogusForChange(m: Mutation, uuid: string): Promise<CatalogusRow> {
  await m.trx.selectFrom('catalogus').where('uuid', '=', uuid).forUpdate().select('id').execute()
  const row = await findCatalogus(m.read, uuid)
  if (!row) throw notFound()
  requireMatch(m, () => toCatalogus(row, m.actor.base))
  return row
}

const named = (row: CatalogusRow) => ({ uuid: row.uuid, weergave: `${row.domein} - ${row.rsin}` })

function listCatalogussen(db: ReadDb, filter: Static<typeof Filter>) {
  return db
    .selectFrom('catalogus')
    .$call(when(filter.domein, (query, domein) => query.where('domein', '=', domein)))
    .$call(when(filter.domein__in, (query, choices) => query.where('domein', 'in', choices)))
    .$call(when(filter.rsin, (query, rsin) => query.where('rsin', '=', rsin)))
    .$call(when(filter.rsin__in, (query, choices) => query.where('rsin', 'in', choices)))
}

const typen = (table: string) =>
  sql<string[]>`array(select t.uuid from ${sql.table(table)} t where t.catalogus_id = catalogus.id order by t.id)`
const omschrijvingen = (table: string) =>
  sql<string[]>`array(select t.omschrijving from ${sql.table(table)} t where t.catalogus_id = catalogus.id
    group by t.omschrijving order by min(t.id))`

// The types in a catalogue, all versions, as one array each: a page of catalogues stays one query.
function selectCatalogus(query: ReturnType<typeof listCatalogussen>) {
  return query
    .selectAll('catalogus')
    .select([
      typen('zaaktype').as('zaaktypen'),
      typen('besluittype').as('besluittypen'),
      omschrijvingen('besluittype').as('besluittypeOmschrijving'),
      typen('informatieobjecttype').as('informatieobjecttypen'),
      omschrijvingen('informatieobjecttype').as('informatieobjecttypeOmschrijving'),
    ])
}
type CatalogusRow = Awaited<ReturnType<ReturnType<typeof selectCatalogus>['executeTakeFirstOrThrow']>>

function findCatalogus(db: ReadDb, uuid: string): Promise<CatalogusRow | undefined> {
  return selectCatalogus(db.selectFrom('catalogus')).where('catalogus.uuid', '=', uuid).executeTakeFirst()
}
