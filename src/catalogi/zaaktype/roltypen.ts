// roltypen: the parts that someone can have in cases of a type.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { Mutation } from '../../core/mutate.ts'
import { throwFaults } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { answerReader, answersOf, type ColumnsOf, fieldsOf, inputsOf, rowWriter } from '../../database/fields.ts'
import type { Roltype as RoltypeTable } from '../../database/types.ts'
import { when } from '../../database/when.ts'
import { ExpandQuery } from '../../http/expand.ts'
import { Patch, readInput, Text, Url } from '../../http/input.ts'
import { link } from '../../http/links.ts'
import { CursorQuery, contains, Page, PageQuery } from '../../http/page.ts'
import { readAccess, updateAccess } from '../access.ts'
import { registerBatch } from '../batch.ts'
import { GELDIGHEID, NullableUrl, OBJECT_PERIOD, OF_ZAAKTYPE, type OwnOfPart, Params, ZAAKTYPE } from '../fields.ts'
import { registerPartRoutes } from '../part-routes.ts'
import {
  BelowZaaktypeFilter,
  belowZaaktype,
  catalogusFaults,
  requireZaaktypeForChange,
  zaaktypeFaults,
} from '../parts.ts'
import { deletePart, partForChange, recordType, sendTypes, type TypeSource, ZAAKTYPE_COLUMNS } from '../type-source.ts'
import { dateFaults } from '../versions.ts'

export const ROLLEN = [
  'adviseur',
  'behandelaar',
  'belanghebbende',
  'beslisser',
  'initiator',
  'klantcontacter',
  'zaakcoordinator',
  'mede_initiator',
] as const

const { kept, shown } = fieldsOf<RoltypeTable, RoltypeRow>()

/** The fields of a roltype, in the order of its answers. */
const FIELDS = {
  url: shown(Url(), (row, base) => link(base, 'roltype', row.uuid)),
  ...ZAAKTYPE,
  omschrijving: kept(Text(100, { minLength: 1 }), 'omschrijving'),
  omschrijvingGeneriek: kept(Type.Enum(ROLLEN), 'omschrijvingGeneriek'),
  ...GELDIGHEID,
  ...OF_ZAAKTYPE,
  ...OBJECT_PERIOD,
}
// A column that none of them holds, and that the code here does not write, does not compile.
const _nothingForgotten = {} satisfies Record<Exclude<keyof RoltypeTable, ColumnsOf<typeof FIELDS> | OwnOfPart>, never>

export const RoltypeInput = Type.Object(inputsOf(FIELDS))
/** What clients send; imports leave the catalogus to the zaaktype. */
const RoltypeBody = Type.Object({ ...RoltypeInput.properties, catalogus: NullableUrl })
const Roltype = Type.Object(answersOf(FIELDS))
const toRow = rowWriter<RoltypeTable, typeof FIELDS>(FIELDS)
const toRoltype = answerReader<RoltypeRow, typeof FIELDS>(FIELDS)
const Filter = Type.Object({
  ...PageQuery,
  ...CursorQuery,
  ...ExpandQuery,
  ...BelowZaaktypeFilter,
  omschrijving: Type.Optional(Type.String()),
  omschrijvingGeneriek: Type.Optional(Type.Enum(ROLLEN)),
})
const RoltypePatch = Patch(RoltypeBody)
type Input = Static<typeof RoltypeInput> & { catalogus?: string | null }

export const roltypen: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/roltypen',
    { config: readAccess, schema: { querystring: Filter, response: { 200: Page(Roltype) } } },
    async (request, reply) => sendTypes(request, reply, source, request.query),
  )

  app.post(
    '/roltypen',
    { config: updateAccess, schema: { body: RoltypeBody, response: { 201: Roltype } } },
    async (request, reply) => {
      const roltype = await app.mutate(request.actor, (m) => createRoltype(m, request.body))
      return reply.code(201).header('location', roltype.url).send(roltype)
    },
  )

  registerBatch(app, '/roltypen', { answer: Roltype, query: Filter }, 'roltype', source)
  registerPartRoutes(app, '/roltypen', Roltype, source, deleteRoltype)

  app.put(
    '/roltypen/:uuid',
    { config: updateAccess, schema: { params: Params, body: RoltypeBody, response: { 200: Roltype } } },
    async (request) => app.mutate(request.actor, (m) => changeRoltype(m, request.params.uuid, 'update', request.body)),
  )

  app.patch(
    '/roltypen/:uuid',
    { config: updateAccess, schema: { params: Params, body: RoltypePatch, response: { 200: Roltype } } },
    async (request) =>
      app.mutate(request.actor, (m) => changeRoltype(m, request.params.uuid, 'partial_update', request.body)),
  )
}

/** @param own a uuid to use instead of a new one */
export async function createRoltype(m: Mutation, input: Input, own: { uuid?: string } = {}) {
  const zaaktype = await requireZaaktypeForChange(m, input.zaaktype)
  throwFaults([
    ...catalogusFaults(m, input.catalogus, zaaktype),
    ...zaaktypeFaults(m, [zaaktype]),
    ...dateFaults(input),
  ])
  const { uuid } = await m.trx
    .insertInto('roltype')
    .values({ ...own, ...toRow(input), zaaktypeId: zaaktype.id })
    .returning('uuid')
    .executeTakeFirstOrThrow()
  return recordType(m, source, 'create', uuid, null)
}

/** PUT (`update`) or PATCH. Holds it and its zaaktype. @throws Problem 404; 400, also below a published zaaktype (ztc-010) */
export async function changeRoltype(
  m: Mutation,
  uuid: string,
  actie: 'update' | 'partial_update',
  body: Static<typeof RoltypePatch>,
) {
  const before = await partForChange(m, source, 'roltype', uuid)
  const oud = toRoltype(before, m.actor.base)
  const input = actie === 'update' ? (body as Input) : readInput(RoltypeInput, { ...oud, ...body })
  const zaaktype = await requireZaaktypeForChange(m, input.zaaktype)
  throwFaults([
    ...catalogusFaults(m, body.catalogus, zaaktype),
    ...zaaktypeFaults(m, [before, zaaktype]),
    ...dateFaults(input),
  ])
  await m.trx
    .updateTable('roltype')
    .set({ ...toRow(input), zaaktypeId: zaaktype.id })
    .where('id', '=', before.id)
    .execute()
  return recordType(m, source, actie, uuid, oud)
}

/** @throws Problem 404, 400 (ztc-010), 409 when it is in use */
export const deleteRoltype = (m: Mutation, uuid: string): Promise<void> => deletePart(m, source, 'roltype', uuid)

function allRoltypen(db: ReadDb) {
  return db
    .selectFrom('roltype as t')
    .innerJoin('zaaktype as z', 'z.id', 't.zaaktypeId')
    .innerJoin('catalogus as c', 'c.id', 'z.catalogusId')
}
type Roltypen = ReturnType<typeof allRoltypen>

function listRoltypen(db: ReadDb, filter: Static<typeof Filter>, base: string) {
  return allRoltypen(db)
    .where(belowZaaktype(filter, base))
    .$call(
      when(filter.omschrijving, (query, omschrijving) =>
        query.where(contains(sql.ref('t.omschrijving'), omschrijving)),
      ),
    )
    .$call(
      when(filter.omschrijvingGeneriek, (query, omschrijvingGeneriek) =>
        query.where('t.omschrijvingGeneriek', '=', omschrijvingGeneriek),
      ),
    )
    .select('t.id')
}

function selectRoltype(query: Roltypen) {
  return query.selectAll('t').select(ZAAKTYPE_COLUMNS)
}
type RoltypeRow = Awaited<ReturnType<ReturnType<typeof selectRoltype>['executeTakeFirstOrThrow']>>

export const source: TypeSource<RoltypeRow, Static<typeof Roltype>, Static<typeof Filter>> = {
  resource: 'roltype',
  listed: listRoltypen,
  rows: (db, condition) => selectRoltype(allRoltypen(db).where(condition)).orderBy('t.id', 'desc'),
  toResource: toRoltype,
  named: (row) => ({ uuid: row.uuid, zaaktypeUuid: row.zaaktypeUuid, weergave: row.omschrijving }),
}
