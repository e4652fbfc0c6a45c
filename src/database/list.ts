// Long lists. A page is found in two steps: ids by a statement that is planned for its own values, then their rows by one that
// is planned once. Pages far into a list are read from the nearer end.
import { type RawBuilder, sql } from 'kysely'
import type postgres from 'postgres'

import type { ReadDb, Reader } from './database.ts'
import { momentOf } from './driver-values.ts'
import { lastOf, one } from './rows.ts'

/** What a list can be asked: how many there are in all, and a stretch of them in the order of the list. */
export type Listing<Row> = {
  count(): Promise<number>
  /**
   * Whether something is left out, by rights or filters. Then the count is asked first, since it says how the rows are found best;
   * of a whole list both are asked at once.
   */
  isFiltered?: boolean
  rows(limit: number, offset: number, known?: Known): Promise<Row[]>
}

/** What is known of a list when its rows are asked: how many there are, and whether these are far into it. */
export type Known = { count: number; isFar: boolean }

export type Condition = RawBuilder<unknown>
/** Conditions of a list, by what they look at: `counted` only at columns that are counted beforehand. */
export type Conditions = { counted: Condition[]; others: Condition[] }
/** By the last of them no two rows are equal. */
export type Order = { column: RawBuilder<unknown>; descending: boolean }[]

/** The conditions, joined by `and`; without any, everything passes. */
export const all = (conditions: Condition[]): RawBuilder<boolean> =>
  conditions.length === 0
    ? sql<boolean>`true`
    : sql<boolean>`${sql.join(
        conditions.map((one) => sql`(${one})`),
        sql` and `,
      )}`

/**
 * The column holds one of these values, none of which needs quotes. They go as one text, since the driver takes long over the
 * members of an array, and without a cast from text, which PostgreSQL may make once for each row.
 */
export const isAmong = (column: RawBuilder<unknown>, type: 'uuid' | 'bigint', values: readonly (string | number)[]) =>
  sql<boolean>`${column} = any(${`{${values.join()}}`}::${sql.raw(type)}[])`

/**
 * Those of a table with one of these uuids, as a condition on its `id`: they are looked up once, since counting and reading each
 * send their condition anew.
 * @param alias of the table in the query that the condition is for
 */
export async function among(
  db: ReadDb,
  table: 'zaak' | 'enkelvoudiginformatieobject',
  alias: string,
  uuids: readonly string[],
): Promise<RawBuilder<boolean>> {
  const { rows } = await sql<{ id: number }>`
    select id from ${sql.table(table)} where ${isAmong(sql`uuid`, 'uuid', uuids)}`.execute(db)
  const ids = rows.map(({ id }) => id)
  return ids.length === 0 ? sql<boolean>`false` : isAmong(sql.ref(`${alias}.id`), 'bigint', ids)
}

/**
 * Runs a query as one that the database plans for these very values. The driver prepares all others, and after a few far
 * pages a prepared one would be planned for "some page", which takes the first as long as the last.
 */
export async function planned<Row extends object>(reader: Reader, query: RawBuilder<Row>): Promise<Row[]> {
  const { sql: text, parameters } = query.compile(reader.db)
  return reader.sql.unsafe<Row[]>(text, parameters as postgres.SerializableParameter[])
}

/**
 * How many rows `from` has, or how many different values of a column.
 * @param less where those are that `from` has too and that are left out; conditions are asked of them as well. They are counted in
 *   the same statement, so that both are of one moment
 */
export async function countRows(
  reader: Reader,
  from: RawBuilder<unknown>,
  conditions: Condition[],
  { what = sql`*`, less }: { what?: RawBuilder<unknown>; less?: RawBuilder<unknown> } = {},
): Promise<number> {
  const left = less ? sql`- (select count(*) from ${less} where ${all(conditions)})` : sql``
  const found = await planned(
    reader,
    sql<{ n: number }>`select count(${what}) ${left} as n from ${from} where ${all(conditions)}`,
  )
  return one(found).n
}

/**
 * How many there are by counts that are kept: `from` is a table with a column `aantal`. Such a table is small, and its filters
 * are few: the statement is prepared, which is half the work of asking it.
 */
export async function sumCounts(reader: Reader, from: RawBuilder<unknown>, conditions: Condition[]): Promise<number> {
  const counts = sql`select coalesce(sum(aantal), 0)::bigint as n from ${from} where ${all(conditions)}`
  const { sql: text, parameters } = counts.compile(reader.db)
  const values = parameters as postgres.SerializableParameter[]
  const sum = await reader.sql.unsafe<{ n: number }[]>(text, values, { prepare: true })
  return one(sum).n
}

/**
 * Up to so many rows that fit are all found and sorted, by whatever finds them best. The database would often read the list in
 * its order until it has a page, as if those that fit stood anywhere in it; but what filters keep stands together, as cases of one
 * year do, and then it reads nearly all.
 */
const FEW = 10_000

/**
 * The ids of a page.
 * @param list.id the column of the id, and its name
 * @param list.isIndexed whether an index has the rows that conditions keep together, in the order of the list: then it is walked
 *   to the page, however few there are. What rights leave out stands anywhere among them
 * @param known how many rows there are, when that is known: then a page past the middle, far into the list, is found from the end
 */
export async function pageOfIds(
  reader: Reader,
  list: {
    from: RawBuilder<unknown>
    id: RawBuilder<unknown>
    conditions: Condition[]
    order: Order
    isIndexed?: boolean
  },
  limit: number,
  offset: number,
  { count, isFar }: Known = { count: Number.POSITIVE_INFINITY, isFar: false },
): Promise<number[]> {
  const fromEnd = isFar && offset > count / 2
  const most = fromEnd ? Math.max(0, Math.min(limit, count - offset)) : limit
  const order = list.order.map(({ column, descending }, index) => ({
    column,
    name: sql.ref(`o${index}`),
    direction: descending === fromEnd ? sql`asc` : sql`desc`,
  }))
  const fitting = sql`from ${list.from} where ${all(list.conditions)}`
  const page = sql`limit ${sql.lit(most)} offset ${sql.lit(fromEnd ? Math.max(0, count - offset - most) : offset)}`
  // Numbers of ours stand in the text: a statement without parameters goes to the database in one message instead of two.
  // `offset 0` keeps the database from seeing that a page is all that is wanted.
  const ids =
    list.isIndexed || count > FEW
      ? sql`select ${list.id} as id ${fitting}
          order by ${sql.join(order.map(({ column, direction }) => sql`${column} ${direction}`))} ${page}`
      : sql`select id from (
          select ${list.id} as id, ${sql.join(order.map(({ column, name }) => sql`${column} as ${name}`))} ${fitting} offset 0
        ) fits order by ${sql.join(order.map(({ name, direction }) => sql`${name} ${direction}`))} ${page}`
  // As one text, in their order: the driver takes longer over a hundred rows of one number.
  const found = one(await planned(reader, sql<{ ids: string }>`select array_to_json(array(${ids}))::text as ids`))
  const numbers = JSON.parse(found.ids) as number[]
  return fromEnd ? numbers.reverse() : numbers
}

/**
 * Makes the second step: the rows with these ids, in that order; an id whose row has gone is left out. The database sends them
 * as one JSON text: the driver takes twice as long over the thousands of values of a page one by one.
 * @param textOf the statement, which takes an array of ids and gives rows with a column `id`. Its values have the same form in
 *   JSON as the driver gives them, but for moments, which get it here
 */
export function rowsById<Row extends { id: number }>(
  textOf: (reader: Reader) => string,
): (reader: Reader, ids: number[]) => Promise<Row[]> {
  let statement: { text: string; toRow: (values: unknown[]) => Row } | undefined
  return async (reader, ids) => {
    if (ids.length === 0) return []
    statement ??= await asJson<Row>(reader, textOf(reader), [], 'json_agg')
    const { text, toRow } = statement
    const [found] = await reader.sql.unsafe<{ page: string | null }[]>(text, [`{${ids.join()}}`], { prepare: true })
    const rowById = new Map<number, Row>()
    for (const values of JSON.parse(found?.page ?? '[]') as unknown[][]) {
      const row = toRow(values)
      rowById.set(row.id, row)
    }
    return ids.flatMap((id) => rowById.get(id) ?? [])
  }
}

/**
 * The same for the one row of a resource: a tenth of what a GET costs is the values of a case one by one, and a connection of
 * its own, which the query builder takes for each statement.
 * @param textOf the statement, whose one parameter is the uuid, and which gives one row at most
 */
export function rowByUuid<Row>(
  textOf: (reader: Reader) => string,
): (reader: Reader, uuid: string) => Promise<Row | undefined> {
  let statement: { text: string; toRow: (values: unknown[]) => Row } | undefined
  return async (reader, uuid) => {
    statement ??= await asJson<Row>(reader, textOf(reader), uuid, '')
    const { text, toRow } = statement
    const [found] = await reader.sql.unsafe<{ page: string }[]>(text, [uuid], { prepare: true })
    return found && toRow(JSON.parse(found.page) as unknown[])
  }
}

/**
 * The statement that gives rows of another as text: the list of the values of each, or with `json_agg` of all a list of these.
 * @param parameter one that the statement takes, to ask which columns it has
 */
async function asJson<Row>(reader: Reader, text: string, parameter: string | number[], aggregate: 'json_agg' | '') {
  const { columns } = await reader.sql.unsafe(`select * from (${text}) x limit 0`, [parameter])
  const values = columns.map(({ name, type }) => {
    const column = `x.${JSON.stringify(name)}`
    return type === TIMESTAMPTZ ? momentOf(column) : column
  })
  return {
    text: `select ${aggregate}(json_build_array(${values.join()}))::text as page from (${text}) x`,
    toRow: rowMaker<Row>(columns.map(({ name }) => name)),
  }
}
const TIMESTAMPTZ = 1184

/**
 * All rows of a list, read `size` at a time. Several statements, not a cursor: a client that reads slowly, or stops reading,
 * holds no connection.
 * @param read the next rows after a number, in the order of their numbers
 */
export async function* portions<Row extends { nummer: number }>(
  size: number,
  read: (after: number) => PromiseLike<Row[]>,
): AsyncGenerator<Row> {
  for (let after = 0; ; ) {
    const rows = await read(after)
    yield* rows
    if (rows.length < size) return
    after = lastOf(rows).nummer
  }
}

/**
 * Makes a function that names the values of a row. It is compiled for these columns: a literal is filled and read several times
 * as fast as an object that gets its members by name.
 */
function rowMaker<Row>(columns: string[]): (values: unknown[]) => Row {
  const members = columns.map((column, index) => {
    const name = column.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase())
    return `${JSON.stringify(name)}:v[${index}]`
  })
  return new Function('v', `return {${members.join()}}`) as (values: unknown[]) => Row
}
