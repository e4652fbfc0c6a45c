// statustypen: the stages of cases of a type. The one with the highest volgnummer closes the case.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { FieldCode } from '../../core/codes.ts'
import { json as encodeJson, type Mutation } from '../../core/mutate.ts'
import { type InvalidParam, invalid, throwFaults } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import {
  answerReader,
  answersOf,
  type ColumnsOf,
  fieldsOf,
  inputsOf,
  rowEncoder,
  rowWriter,
} from '../../database/fields.ts'
import { expected } from '../../database/rows.ts'
import type { Statustype as StatustypeTable } from '../../database/types.ts'
import { inDays, isoDuration } from '../../http/duration.ts'
import { ExpandQuery } from '../../http/expand.ts'
import { OptionalText, Patch, readInput, Text, Url } from '../../http/input.ts'
import { link, localUuid } from '../../http/links.ts'
import { CursorQuery, Page, PageQuery } from '../../http/page.ts'
import { readAccess, updateAccess } from '../access.ts'
import { registerBatch } from '../batch.ts'
import {
  GELDIGHEID,
  OBJECT_PERIOD,
  OF_ZAAKTYPE,
  OptionalDuur,
  type OwnOfPart,
  Params,
  Urls,
  ZAAKTYPE,
} from '../fields.ts'
import { registerPartRoutes } from '../part-routes.ts'
import { BelowZaaktypeFilter, belowZaaktype, requireZaaktypeForChange, zaaktypeFaults } from '../parts.ts'
import { isLastStatustype } from '../type-relations.ts'
import {
  deletePart,
  partForChange,
  recordRow,
  recordType,
  sendTypes,
  type TypeSource,
  ZAAKTYPE_COLUMNS,
} from '../type-source.ts'
import { dateFaults } from '../versions.ts'

const Checklistitem = Type.Object({
  itemnaam: Text(30, { minLength: 1 }),
  vraagstelling: Text(255, { minLength: 1 }),
  verplicht: Type.Optional(Type.Boolean({ default: false })),
  toelichting: OptionalText(1000),
})

const { kept, formed, json, shown } = fieldsOf<StatustypeTable, StatustypeRow>()

/** The fields of a statustype, in the order of its answers. */
const FIELDS = {
  url: shown(Url(), (row, base) => link(base, 'statustype', row.uuid)),
  omschrijving: kept(Text(80, { minLength: 1 }), 'omschrijving'),
  omschrijvingGeneriek: kept(OptionalText(80), 'omschrijvingGeneriek', ''),
  statustekst: kept(OptionalText(1000), 'statustekst', ''),
  ...ZAAKTYPE,
  volgnummer: kept(Type.Integer({ minimum: 1, maximum: 9999 }), 'volgnummer'),
  informeren: kept(Type.Optional(Type.Boolean({ default: false })), 'informeren', false),
  doorlooptijd: formed(OptionalDuur, 'doorlooptijd', null, isoDuration),
  toelichting: kept(
    Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 1000, default: null })),
    'toelichting',
    null,
  ),
  checklistitemStatustype: json(
    Type.Optional(Type.Array(Checklistitem, { default: [] })),
    'checklistitemStatustype',
    [],
  ),
  ...GELDIGHEID,
  ...OF_ZAAKTYPE,
  isEindstatus: shown(Type.Boolean(), (row) => row.isEindstatus),
  eigenschappen: shown(Urls, (row, base) => row.eigenschappen.map((uuid) => link(base, 'eigenschap', uuid))),
  zaakobjecttypen: shown(Urls, (row, base) => row.zaakobjecttypen.map((uuid) => link(base, 'zaakobjecttype', uuid))),
  ...OBJECT_PERIOD,
}
// A column that none of them holds, and that the code here does not write, does not compile.
const _nothingForgotten = {} satisfies Record<
  Exclude<keyof StatustypeTable, ColumnsOf<typeof FIELDS> | OwnOfPart>,
  never
>

export const StatustypeInput = Type.Object(inputsOf(FIELDS))
/** What clients send; imports leave the eigenschappen to themselves, which come later. */
const StatustypeBody = Type.Object({
  ...StatustypeInput.properties,
  eigenschappen: Type.Optional(
    Type.Array(Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uri' }), {
      description: 'Eigenschappen van het zaaktype die een waarde hebben voor deze status. Weglaten: zoals ze zijn.',
    }),
  ),
})
const Statustype = Type.Object(answersOf(FIELDS))
const toRow = rowWriter<StatustypeTable, typeof FIELDS>(FIELDS)
const toStatustype = answerReader<StatustypeRow, typeof FIELDS>(FIELDS)
const encoded = rowEncoder(FIELDS)
const Filter = Type.Object({ ...PageQuery, ...CursorQuery, ...ExpandQuery, ...BelowZaaktypeFilter })
const StatustypePatch = Patch(StatustypeBody)
type Input = Static<typeof StatustypeInput> & { eigenschappen?: (string | null)[] }

export const statustypen: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/statustypen',
    { config: readAccess, schema: { querystring: Filter, response: { 200: Page(Statustype) } } },
    async (request, reply) => sendTypes(request, reply, source, request.query),
  )

  app.post(
    '/statustypen',
    { config: updateAccess, schema: { body: StatustypeBody, response: { 201: Statustype } } },
    async (request, reply) => {
      const statustype = await app.mutate(request.actor, (m) => createStatustype(m, request.body))
      return reply.code(201).header('location', statustype.url).send(statustype)
    },
  )

  registerBatch(app, '/statustypen', { answer: Statustype, query: Filter }, 'statustype', source)
  registerPartRoutes(app, '/statustypen', Statustype, source, deleteStatustype)

  app.put(
    '/statustypen/:uuid',
    { config: updateAccess, schema: { params: Params, body: StatustypeBody, response: { 200: Statustype } } },
    async (request) =>
      app.mutate(request.actor, (m) => changeStatustype(m, request.params.uuid, 'update', request.body)),
  )

  app.patch(
    '/statustypen/:uuid',
    { config: updateAccess, schema: { params: Params, body: StatustypePatch, response: { 200: Statustype } } },
    async (request) =>
      app.mutate(request.actor, (m) => changeStatustype(m, request.params.uuid, 'partial_update', request.body)),
  )
}

/** @param own a uuid to use instead of a new one */
export async function createStatustype(m: Mutation, input: Input, own: { uuid?: string } = {}) {
  const zaaktype = await requireZaaktypeForChange(m, input.zaaktype)
  throwFaults(doorlooptijdFaults(input.doorlooptijd))
  throwFaults([...zaaktypeFaults(m, [zaaktype]), ...dateFaults(input)])
  const { id, uuid } = await m.trx
    .insertInto('statustype')
    .values({ ...own, ...encoded(toRow(input), encodeJson), zaaktypeId: zaaktype.id })
    .returning(['id', 'uuid'])
    .executeTakeFirstOrThrow()
  await linkEigenschappen(m, id, zaaktype.id, input.eigenschappen)
  return recordType(m, source, 'create', uuid, null)
}

/** PUT (`update`) or PATCH. Holds it and its zaaktype. @throws Problem 404; 400, also below a published zaaktype (ztc-010) */
export async function changeStatustype(
  m: Mutation,
  uuid: string,
  actie: 'update' | 'partial_update',
  body: Static<typeof StatustypePatch>,
) {
  const before = await partForChange(m, source, 'statustype', uuid)
  const oud = toStatustype(before, m.actor.base)
  const input = actie === 'update' ? (body as Input) : readInput(StatustypeInput, { ...oud, ...body })
  const zaaktype = await requireZaaktypeForChange(m, input.zaaktype)
  throwFaults(doorlooptijdFaults(body.doorlooptijd))
  throwFaults([...zaaktypeFaults(m, [before, zaaktype]), ...dateFaults(input)])
  await m.trx
    .updateTable('statustype')
    .set({ ...encoded(toRow(input), encodeJson), zaaktypeId: zaaktype.id })
    .where('id', '=', before.id)
    .execute()
  await linkEigenschappen(m, before.id, zaaktype.id, body.eigenschappen)
  return recordType(m, source, actie, uuid, oud)
}

/** @throws Problem 404, 400 (ztc-010), 409 when it is in use */
export const deleteStatustype = (m: Mutation, uuid: string): Promise<void> => deletePart(m, source, 'statustype', uuid)

/**
 * Puts the statustypen of a zaaktype in another order. The numbers that there are stay in use, so that a number that other
 * systems know changes only where the order does.
 * @param uuids all of them, in the new order
 * @throws Problem 400 when these are not its statustypen, or when it was published (ztc-010)
 */
export async function reorderStatustypen(m: Mutation, zaaktypeUuid: string, uuids: readonly string[]): Promise<void> {
  const zaaktype = await requireZaaktypeForChange(m, link(m.actor.base, 'zaaktype', zaaktypeUuid))
  throwFaults(zaaktypeFaults(m, [zaaktype]))
  const all = () =>
    selectStatustype(allStatustypen(m.read)).where('z.uuid', '=', zaaktypeUuid).orderBy('t.volgnummer').execute()
  const before = await all()
  if (
    before
      .map(({ uuid }) => uuid)
      .toSorted()
      .join() !== uuids.toSorted().join()
  )
    throw invalid('statustypen', 'invalid', 'Dit zijn niet alle statustypen van het zaaktype.')
  const moves = uuids.flatMap((uuid, place) => {
    const { volgnummer } = expected(before[place])
    const row = expected(before.find((one) => one.uuid === uuid))
    return row.volgnummer === volgnummer ? [] : [{ row, volgnummer }]
  })
  // First out of the way: two may not have the same number, not even for a moment.
  const used = new Set(before.map(({ volgnummer }) => volgnummer))
  let free = 9999
  for (const { row } of moves) {
    while (used.has(free)) free--
    await m.trx.updateTable('statustype').set({ volgnummer: free-- }).where('id', '=', row.id).execute()
  }
  for (const { row, volgnummer } of moves)
    await m.trx.updateTable('statustype').set({ volgnummer }).where('id', '=', row.id).execute()
  const after = await all()
  for (const { row } of moves) {
    const now = expected(after.find(({ id }) => id === row.id))
    recordRow(m, source, 'partial_update', now, toStatustype(row, m.actor.base))
  }
}

/**
 * The eigenschappen that need a value before this status: the relation stands with the eigenschap, and is replaced whole.
 * @throws Problem 400 on `eigenschappen` for what is no eigenschap of the zaaktype
 */
async function linkEigenschappen(
  m: Mutation,
  statustypeId: number,
  zaaktypeId: number,
  urls: readonly (string | null)[] | undefined,
): Promise<void> {
  if (urls === undefined) return
  const named = urls.filter((url) => url !== null)
  const uuids = named.map((url) => localUuid(url, m.actor.base, 'eigenschap'))
  const known = uuids.filter((uuid) => uuid !== undefined)
  const { rows } = await sql<{ id: number; uuid: string; zaaktypeId: number }>`
    select id, uuid, zaaktype_id as "zaaktypeId" from eigenschap where uuid = any(${known}::uuid[])`.execute(m.trx)
  const faults = uuids.flatMap((uuid, index): InvalidParam[] => {
    const name = `eigenschappen.${index}`
    const row = rows.find((one) => one.uuid === uuid)
    if (!row) return [{ name, code: 'does_not_exist', reason: 'Deze eigenschap bestaat niet.' }]
    if (row.zaaktypeId === zaaktypeId) return []
    return [{ name, code: 'relations-incorrect-zaaktype', reason: 'Deze eigenschap hoort bij een ander zaaktype.' }]
  })
  throwFaults(faults)
  const ids = rows.map(({ id }) => id)
  await sql`
    update eigenschap set statustype_id = case when id = any(${ids}::bigint[]) then ${statustypeId}::bigint end
    where (statustype_id = ${statustypeId} or id = any(${ids}::bigint[]))
      and (statustype_id = ${statustypeId}) is distinct from (id = any(${ids}::bigint[]))`.execute(m.trx)
}

/** A stage lasts one to 999 days; months count as 30 days here, and years as 365. */
function doorlooptijdFaults(doorlooptijd: string | null | undefined): InvalidParam[] {
  if (!doorlooptijd) return []
  const days = inDays(doorlooptijd)
  const fault = (code: FieldCode, reason: string) => [{ name: 'doorlooptijd', code, reason }]
  if (days < 1) return fault('min_value', 'De doorlooptijd is ten minste een dag (P1D).')
  return days > 999 ? fault('max_value', 'De doorlooptijd is ten hoogste 999 dagen (P999D).') : []
}

function allStatustypen(db: ReadDb) {
  return db
    .selectFrom('statustype as t')
    .innerJoin('zaaktype as z', 'z.id', 't.zaaktypeId')
    .innerJoin('catalogus as c', 'c.id', 'z.catalogusId')
}
type Statustypen = ReturnType<typeof allStatustypen>

function listStatustypen(db: ReadDb, filter: Static<typeof Filter>, base: string) {
  return allStatustypen(db).where(belowZaaktype(filter, base)).select('t.id')
}

function selectStatustype(query: Statustypen) {
  return query
    .selectAll('t')
    .select(ZAAKTYPE_COLUMNS)
    .select([
      // recomputed at every read: a statustype that is added or removed moves the end
      sql.raw<boolean>(isLastStatustype('t')).as('isEindstatus'),
      sql<string[]>`array(select e.uuid from eigenschap e where e.statustype_id = t.id order by e.id)`.as(
        'eigenschappen',
      ),
      sql<string[]>`array(select o.uuid from zaakobjecttype o where o.statustype_id = t.id order by o.id)`.as(
        'zaakobjecttypen',
      ),
    ])
}
type StatustypeRow = Awaited<ReturnType<ReturnType<typeof selectStatustype>['executeTakeFirstOrThrow']>>

export const source: TypeSource<StatustypeRow, Static<typeof Statustype>, Static<typeof Filter>> = {
  resource: 'statustype',
  listed: listStatustypen,
  rows: (db, condition) => selectStatustype(allStatustypen(db).where(condition)).orderBy('t.id', 'desc'),
  toResource: toStatustype,
  named: (row) => ({ uuid: row.uuid, zaaktypeUuid: row.zaaktypeUuid, weergave: row.omschrijving }),
}
