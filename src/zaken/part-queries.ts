// Reading what hangs on cases. A kind says what it selects of its rows `x`, joined to their case `z` and its zaaktype `zt`;
// rights are those on the case.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import type { TObject } from 'typebox'
import { reach } from '../core/access.ts'
import type { Actor } from '../core/actor.ts'
import { LIMITS } from '../core/limits.ts'
import type { Mutation } from '../core/mutate.ts'
import { notFound } from '../core/problem.ts'
import type { Vertrouwelijkheidaanduiding } from '../core/vertrouwelijkheidaanduiding.ts'
import type { ReadDb, Reader } from '../database/database.ts'
import {
  all,
  byKey,
  type Condition,
  countRows,
  type Listing,
  type Order,
  pageOfIds,
  rowsById,
  sumCounts,
} from '../database/list.ts'
import { lastOf } from '../database/rows.ts'
import type { BatchSource } from '../http/batch.ts'
import { requireMatch, sendCacheable } from '../http/etag.ts'
import { expand, expandEach, TooMuchExpanded, weigh } from '../http/expand.ts'
import { localUuid, resolveLink } from '../http/links.ts'
import { sendPageOf } from '../http/page.ts'
import { sendAllById } from '../http/stream.ts'
import { expandable, type Kind, tree } from './expand.ts'
import { holdZaakOf, type ZaakCore } from './lock.ts'
import { LEZEN, mayDo, reached, requireMay, type Scopes } from './rights.ts'

export type PartRow = {
  id: number
  uuid: string
  zaakUuid: string
  zaaktypeUuid: string | null
  zaaktypeUrl: string | null
  vertrouwelijkheidaanduiding: Vertrouwelijkheidaanduiding
}
/** `columns` are those beside `x.*`, under names of their own; `joins` come after those to the case. */
export type PartSource<Row extends PartRow, R extends { url: string } = { url: string }> = {
  kind: Kind
  table: string
  columns?: RawBuilder<unknown>
  joins?: RawBuilder<unknown>
  /** How many rows of a page are read at first, where single rows may be large. */
  first?: number
  toResource(row: Row, base: string): R
}
const from = ({ table, joins = sql`` }: Pick<PartSource<never>, 'table' | 'joins'>) =>
  sql`${sql.table(table)} x join zaak z on z.id = x.zaak_id left join zaaktype zt on zt.id = z.zaaktype_id ${joins}`

function select<Row extends PartRow>(bron: PartSource<Row>, conditions: Condition[], rest = sql``) {
  return sql<Row>`select x.*, z.uuid as zaak_uuid, zt.uuid as zaaktype_uuid, z.zaaktype_url, z.vertrouwelijkheidaanduiding
    ${bron.columns ? sql`, ${bron.columns}` : sql``}
    from ${from(bron)} where ${all(conditions)} ${rest}`
}

/** The list of a kind of which `zaak_part_count` keeps the count. */
export type PartList<Row extends PartRow, R extends { url: string }> = PartSource<Row, R> & {
  order: Order
  rows(reader: Reader, ids: number[]): Promise<Row[]>
}

/** @param order newest first unless it says otherwise */
export function paged<Row extends PartRow, R extends { url: string }>(
  source: PartSource<Row, R>,
  order: Order = [{ column: sql`x.id`, descending: true }],
): PartList<Row, R> {
  return {
    ...source,
    order,
    rows: rowsById<Row>(({ db }) => select(source, [sql`x.id = any(${[]}::bigint[])`]).compile(db).sql),
  }
}

function listOf<Row extends PartRow, R extends { url: string }>(
  { server, actor }: FastifyRequest,
  { table, order, rows }: PartList<Row, R>,
  conditions: Condition[],
  counted: Condition[],
  isIndexed: boolean,
): Listing<Row> {
  const rights = reached(actor)
  const isJoined = reach(actor, 'zrc', LEZEN) !== 'alles'
  const list = {
    from: isJoined ? sql`${sql.table(table)} x join zaak z on z.id = x.zaak_id` : sql`${sql.table(table)} x`,
    id: sql`x.id`,
    conditions: isJoined ? [rights, ...conditions] : conditions,
    order,
    isIndexed,
  }
  // A case may have become another's between the two steps.
  const readable = (found: Row[]) => found.filter((row) => mayDo(actor, LEZEN, row))
  return server.listing((reader) => ({
    count: () => {
      if (counted.length < conditions.length) return countRows(reader, list.from, list.conditions)
      return sumCounts(reader, sql`zaak_part_count z`, [rights, sql`z.kind = ${table}`, ...counted])
    },
    isFiltered: list.conditions.length > 0,
    rows: async (limit, offset, known) => {
      return readable(await rows(reader, await pageOfIds(reader, list, limit, offset, known)))
    },
    byKey: byKey(reader, list, async (ids) => readable(await rows(reader, ids))),
  }))
}

/** How many rows are read next: as many as fit in a portion of an answer, by the size of those before. */
const portionAfter = (rows: number, bytes: number) =>
  Math.max(1, Math.min(LIMITS.portionRows, Math.floor((LIMITS.portionBytes * rows) / Math.max(1, bytes))))

/** The parts of a case as a list in JSON, the newest first, read a portion at a time: together they may be very large. */
export async function* partsOf<Row extends PartRow, R extends { url: string }>(
  db: ReadDb,
  source: PartSource<Row, R>,
  zaakUuid: string,
  base: string,
): AsyncGenerator<string> {
  let text = '['
  for (let [after, limit] = [sql`true`, source.first ?? LIMITS.firstPortion]; ; ) {
    const conditions = [sql`x.zaak_id = (select id from zaak where uuid = ${zaakUuid}::uuid)`, after]
    const { rows } = await select(source, conditions, sql`order by x.id desc limit ${limit}`).execute(db)
    let bytes = 0
    for (const row of rows) {
      const json = JSON.stringify(source.toResource(row, base))
      bytes += json.length
      yield text + json
      text = ','
    }
    if (rows.length < limit) break
    after = sql`x.id < ${lastOf(rows).id}`
    limit = portionAfter(rows.length, bytes)
  }
  yield text === '[' ? '[]' : ']'
}

/** Without regard to rights. @param zaakUuid finds it only below this case */
export async function findOne<Row extends PartRow>(
  db: ReadDb,
  bron: PartSource<Row>,
  uuid: string,
  zaakUuid?: string,
): Promise<Row | undefined> {
  const conditions = [sql`x.uuid = ${uuid}::uuid`]
  if (zaakUuid) conditions.push(sql`z.uuid = ${zaakUuid}::uuid`)
  return (await select(bron, conditions).execute(db)).rows[0]
}

/** Those with these uuids, the oldest first. */
export async function findAll<Row extends PartRow>(
  db: ReadDb,
  bron: PartSource<Row>,
  uuids: readonly string[],
): Promise<Row[]> {
  return (await select(bron, [sql`x.uuid = any(${uuids}::uuid[])`], sql`order by x.id`).execute(db)).rows
}

/** @throws Problem 404 when there is none, 403 when rights with these scopes do not reach its case */
export async function requireOne<Row extends PartRow>(
  db: ReadDb,
  actor: Actor,
  bron: PartSource<Row>,
  uuid: string,
  scopes: Scopes = LEZEN,
  zaakUuid?: string,
): Promise<Row> {
  const row = await findOne(db, bron, uuid, zaakUuid)
  if (!row) throw notFound()
  requireMay(actor, scopes, row)
  return row
}

/**
 * Something below a case, for a change. The case is locked before the row is read: whoever waited here for a change of the same
 * row sees what came of it, and one that was deleted meanwhile is not there any more.
 * @throws Problem 404 when there is none, 403 when rights with these scopes do not reach its case, 412 by If-Match
 */
export async function holdOne<Row extends PartRow>(
  m: Mutation,
  bron: PartSource<Row>,
  uuid: string,
  scopes: Scopes,
  zaakUuid?: string,
): Promise<{ zaak: ZaakCore; before: Row }> {
  const zaak = await holdZaakOf(m, bron.table, uuid)
  if (!zaak) throw notFound()
  const before = await requireOne(m.read, m.actor, bron, uuid, scopes, zaakUuid)
  requireMatch(m, () => bron.toResource(before, m.actor.base))
  return { zaak, before }
}

/**
 * A page of those that the caller may read.
 * @param conditions on `x` alone
 * @param counted the same conditions on the counts `z` (`zaak_part_count`), as far as these know them: when they know all, they
 *   are added up, and else the rows are counted
 * @param isIndexed whether an index has what the conditions keep together, in the order of the list
 */
export async function sendPage<Row extends PartRow, R extends { url: string }>(
  request: FastifyRequest,
  reply: FastifyReply,
  source: PartList<Row, R>,
  conditions: Condition[],
  counted: Condition[] = [],
  isIndexed = false,
): Promise<FastifyReply> {
  const list = listOf(request, source, conditions, counted, isIndexed)
  return sendPageOf(request, reply, list, resources(request, source), source.first)
}

/** All of those that the caller may read: for the lists that the standard does not paginate. */
export async function sendAll<Row extends PartRow, R extends { url: string }>(
  request: FastifyRequest,
  reply: FastifyReply,
  bron: PartSource<Row, R>,
  conditions: Condition[],
): Promise<FastifyReply> {
  const kept = [reached(request.actor), ...conditions]
  const after = (id: number | undefined) => (id === undefined ? [] : [sql`x.id < ${id}`])
  return sendAllById(request, reply, {
    select: async (id, limit) => {
      const page = sql`order by x.id desc limit ${limit}`
      return (await select(bron, [...kept, ...after(id)], page).execute(request.server.read)).rows
    },
    toResources: resources(request, bron),
  })
}

const resources =
  <Row extends PartRow, R extends { url: string }>(request: FastifyRequest, bron: PartSource<Row, R>) =>
  (rows: Row[]) => {
    const { expand: paths } = request.query as { expand?: string[] }
    const found = rows.map((row) => bron.toResource(row, request.base))
    return paths ? expandEach(request, found, paths, tree(bron.kind)) : found
  }

/**
 * How a kind is read for a `_batch`.
 * @param filters what `filtersOf` makes of the parameters of its list
 * @param conditions of its list with such a filter, on `x`
 */
export function batchSource<Row extends PartRow, R extends { url: string }, Filter>(
  { actor, base }: FastifyRequest,
  source: PartList<Row, R>,
  filters: TObject,
  conditions: (filter: Filter, base: string) => Condition[],
): BatchSource<Row> {
  const from = sql`${sql.table(source.table)} x join zaak z on z.id = x.zaak_id`
  const rights = reached(actor)
  return {
    filters,
    keys: { from, id: sql`x.id`, uuid: sql`x.uuid`, conditions: [rights] },
    list: (filter) => {
      const kept = [rights, ...conditions(filter as Filter, base)]
      return { from, id: sql`x.id`, conditions: kept, order: source.order }
    },
    rows: async (reader, ids) => (await source.rows(reader, ids)).filter((row) => mayDo(actor, LEZEN, row)),
    answers: (rows, show) => show(rows.map((row) => source.toResource(row, base))),
    tree: tree(source.kind),
    first: source.first,
  }
}

/** One of them, with its ETag. */
export async function sendOne<Row extends PartRow>(
  request: FastifyRequest,
  reply: FastifyReply,
  bron: PartSource<Row>,
  zaakUuid?: string,
): Promise<FastifyReply> {
  const { uuid } = request.params as { uuid: string }
  const row = await requireOne(request.server.read, request.actor, bron, uuid, LEZEN, zaakUuid)
  const [answer] = await withExpand(request, bron.kind, [bron.toResource(row, request.base)])
  return sendCacheable(request, reply, answer)
}

async function withExpand<R extends object>(request: FastifyRequest, kind: Kind, resources: R[]): Promise<R[]> {
  const { expand: paths } = request.query as { expand?: string[] }
  return paths ? expand(request, resources, paths, tree(kind)) : resources
}

/** Lets other resources expand to this kind. */
export function readable<Row extends PartRow>(bron: PartSource<Row>): void {
  expandable(bron.kind, async (request, uuids) => {
    const found: { url: string }[] = []
    let bytes = 0
    for (let [from, limit] = [0, bron.first ?? uuids.length]; from < uuids.length; ) {
      const conditions = [reached(request.actor), sql`x.uuid = any(${uuids.slice(from, from + limit)}::uuid[])`]
      const { rows } = await select(bron, conditions).execute(request.server.read)
      for (const row of rows) found.push(bron.toResource(row, request.base))
      from += limit
      if (from >= uuids.length) break
      bytes += found.slice(-rows.length).reduce((sum, one) => sum + weigh(one), 0)
      if (bytes > LIMITS.expandedBytes) throw new TooMuchExpanded()
      limit = portionAfter(Math.max(1, found.length), bytes)
    }
    return found
  })
}

const readers = new WeakMap<object, ReturnType<typeof rowsById<PartRow>>>()

/** Those with these ids whose case the actor may read, in that order. */
export async function readableParts<Row extends PartRow>(
  reader: Reader,
  actor: Actor,
  source: PartSource<Row>,
  ids: number[],
): Promise<Row[]> {
  const rows = (readers.get(source) ?? paged(source).rows) as (reader: Reader, ids: number[]) => Promise<Row[]>
  readers.set(source, rows)
  return (await rows(reader, ids)).filter((row) => mayDo(actor, LEZEN, row))
}

/** A filter on the case, or on another relation: `column` is its id. A URL of something else finds nothing. */
export function byUrl(
  column: string,
  url: string | undefined,
  base: string,
  resource: 'zaak' | 'status' | 'statustype' | 'roltype' | 'resultaattype' | 'enkelvoudiginformatieobject',
): Condition[] {
  if (url === undefined) return []
  const uuid = localUuid(url, base, resource) ?? null
  return [sql`${sql.ref(column)} = (select q.id from ${sql.table(resource)} q where q.uuid = ${uuid}::uuid)`]
}
/** A filter on a type: `id` is the column of one of ours, `elders` that of the URL of one elsewhere. */
export function byType(
  id: string,
  elders: string,
  url: string | undefined,
  base: string,
  resource: 'statustype' | 'roltype' | 'resultaattype',
): Condition[] {
  if (url === undefined || resolveLink(url, base).kind !== 'elsewhere') return byUrl(id, url, base, resource)
  return [sql`${sql.ref(elders)} = ${url}`]
}
/** Whether the conditions are nothing but a type of ours: an index has what is of such a type in the order of the list. */
export const isOnlyType = (conditions: Condition[], url: string | undefined, base: string): boolean =>
  conditions.length === 1 && url !== undefined && resolveLink(url, base).kind !== 'elsewhere'
/** A filter on a plain value. */
export function by(column: string, value: unknown): Condition[] {
  return value === undefined ? [] : [sql`${sql.ref(column)} = ${value}`]
}
