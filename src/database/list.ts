// Long lists. A page is found in two steps: ids by a statement that is planned for its own values, then their rows by one that
// is planned once. Pages far into a list are read from the nearer end.
import { type RawBuilder, sql } from 'kysely'
import type postgres from 'postgres'

import type { ReadDb, Reader } from './database.ts'
import { momentOf } from './driver-values.ts'
import { lastOf, one } from './rows.ts'

/** What a list can be asked: how many there are in all, and a stretch of them in the order of the list. */
export type Listing<Row> = {
  count(): Promise<Count | number>
  /**
   * Whether something is left out, by rights or filters. Then the count is asked first, since it says how the rows are found best;
   * of a whole list both are asked at once.
   */
  isFiltered?: boolean
  rows(limit: number, offset: number, known?: Known): Promise<Row[]>
  /** The same list by the keys of its order, where every stretch costs as much as the first; undefined where it is not `isByKey`. */
  byKey: ByKey<Row> | undefined
}
export type ByKey<Row> = {
  /** Up to so many of the keys before or after a place; from the beginning of the list when it says none. */
  keys(limit: number, place?: Place): Promise<Key[]>
  /** Rows with these ids, in that order. */
  rows(ids: number[]): Promise<Row[]>
}

/** A row in the order of a list: its id, and the values that it is ordered by, as text. */
export type Key = { id: number; at: string[] }
/** Right after the row with these values, or before it. The keys before it come backwards, the nearest first. */
export type Place = { at: string[]; isBefore: boolean }

/** How many rows a list has, and the lowest and the highest of their ids where counting met these. */
export type Count = { count: number; ids?: [lowest: number, highest: number] }
/** What is known of a list when its rows are asked: how many there are, and whether these are far into it. */
export type Known = Count & { isFar: boolean }

export type Condition = RawBuilder<unknown>
/** Conditions of a list, by what they look at: `counted` only at columns that are counted beforehand. */
export type Conditions = { counted: Condition[]; others: Condition[] }
/** By the last of them no two rows are equal. `isOptional`: it may be null. */
export type Order = { column: RawBuilder<unknown>; descending: boolean; isOptional?: boolean }[]

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
 * @param id column of the id, where a page in the order of that is wanted: what filters keep stands together
 */
export async function countRows(
  reader: Reader,
  from: RawBuilder<unknown>,
  conditions: Condition[],
  {
    what = sql`*`,
    less,
    id,
  }: { what?: RawBuilder<unknown>; less?: RawBuilder<unknown>; id?: RawBuilder<unknown> } = {},
): Promise<Count> {
  const left = less ? sql`- (select count(*) from ${less} where ${all(conditions)})` : sql``
  const ends = id ? sql`, min(${id}) as lowest, max(${id}) as highest` : sql``
  const found = await planned(
    reader,
    sql<{ n: number; lowest?: number | null; highest?: number | null }>`
      select count(${what}) ${left} as n ${ends} from ${from} where ${all(conditions)}`,
  )
  const { n, lowest, highest } = one(found)
  return { count: n, ...(typeof lowest === 'number' && typeof highest === 'number' && { ids: [lowest, highest] }) }
}

/**
 * What one condition leaves out of a list: conditions on the kept counts of all that it could keep, and on the rows that are out.
 * `empty`: on those that are out because they lack the value, an index of which finds the two apart.
 */
export type Rest = { counted: Condition[]; conditions: Condition[]; empty?: Condition[] }

/**
 * The same by what a condition leaves out: kept counts, less the rows that are left out, of one moment. Undefined where these are
 * too many to be counted at the side.
 * @param less as in `countRows`
 */
export async function countByRest(
  reader: Reader,
  {
    counts,
    from,
    less,
    rest,
  }: { counts: RawBuilder<unknown>; from: RawBuilder<unknown>; less?: RawBuilder<unknown>; rest: Rest },
): Promise<number | undefined> {
  const where = sql`where ${all(rest.conditions)}`
  const some = (rows: RawBuilder<unknown>) =>
    sql`(select count(*) from (select from ${from} ${rows} limit ${sql.lit(REST + 1)}) x)`
  const found = await planned(
    reader,
    sql<{ kept: number; out: number }>`
      select (select coalesce(sum(count), 0)::bigint from ${counts} where ${all(rest.counted)})
          ${less ? sql`+ (select count(*) from ${less} ${where})` : sql``} as kept,
        ${some(where)} ${rest.empty ? sql`+ ${some(sql`where ${all(rest.empty)}`)}` : sql``} as out`,
  )
  const { kept, out } = one(found)
  return out > REST ? undefined : kept - out
}
const REST = 20_000

/**
 * How many there are by counts that are kept: `from` is a table with a column `count`. Such a table is small, and its filters
 * are few: the statement is prepared, which is half the work of asking it.
 */
export async function sumCounts(reader: Reader, from: RawBuilder<unknown>, conditions: Condition[]): Promise<number> {
  const counts = sql`select coalesce(sum(count), 0)::bigint as n from ${from} where ${all(conditions)}`
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
 * More rows than that are looked for in the order of the list, at first no further than this: a page that is not met by then stands
 * together elsewhere. Then all are found and sorted as well: up to `MANY`, and more where counting looked at each of them anyway.
 */
const NEAR = 20_000
const MANY = 30_000

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
  { count, ids: ends, isFar }: Known = { count: Number.POSITIVE_INFINITY, isFar: false },
): Promise<number[]> {
  const fromEnd = isFar && offset > count / 2
  const most = fromEnd ? Math.max(0, Math.min(limit, count - offset)) : limit
  const order = list.order.map(({ column, descending }, index) => ({
    column,
    name: sql.ref(`o${index}`),
    direction: descending === fromEnd ? sql`asc` : sql`desc`,
  }))
  // In the order of the ids a walk begins at the first that counting met.
  const within = ends && order.length === 1 ? [sql`${list.id} between ${sql.lit(ends[0])} and ${sql.lit(ends[1])}`] : []
  const fitting = sql`from ${list.from} where ${all([...within, ...list.conditions])}`
  const passed = fromEnd ? Math.max(0, count - offset - most) : offset
  const page = sql`limit ${sql.lit(most)} offset ${sql.lit(passed)}`
  // Numbers of ours stand in the text: a statement without parameters goes to the database in one message instead of two.
  const sorts = within.length > 0 ? passed + most <= FEW : count <= MANY
  const walksFar = list.isIndexed || !sorts
  const ask = async (ids: RawBuilder<unknown>): Promise<number[]> => {
    // As one text, in their order: the driver takes longer over a hundred rows of one number.
    const found = one(await planned(reader, sql<{ ids: string }>`select array_to_json(array(${ids}))::text as ids`))
    return JSON.parse(found.ids) as number[]
  }
  const inOrder = (numbers: number[]) => (fromEnd ? numbers.reverse() : numbers)
  if (count > FEW && !walksFar) {
    const near = await ask(sql`select id from (
      select ${list.id} as id, ${all(list.conditions)} as fits from ${list.from} where ${all(within)}
      order by ${sql.join(order.map(({ column, direction }) => sql`${column} ${direction}`))} limit ${sql.lit(NEAR)}) x where fits ${page}`)
    if (near.length === most) return inOrder(near)
  }
  // `offset 0` keeps the database from seeing that a page is all that is wanted.
  const ids = walksFar
    ? sql`select ${list.id} as id ${fitting}
          order by ${sql.join(order.map(({ column, direction }) => sql`${column} ${direction}`))} ${page}`
    : sql`select id from (
          select ${list.id} as id, ${sql.join(order.map(({ column, name }) => sql`${column} as ${name}`))} ${fitting} offset 0
        ) fits order by ${sql.join(order.map(({ name, direction }) => sql`${name} ${direction}`))} ${page}`
  return inOrder(await ask(ids))
}

/** Whether a row has a place in this order by its values alone: all of them are there, and all in one direction. */
export const isByKey = (order: Order): boolean =>
  order.every(({ descending, isOptional }) => !isOptional && descending === order[0]?.descending)

/** A list by the keys of its order; undefined where that is not `isByKey`. */
export function byKey<Row>(
  reader: Reader,
  list: IdList,
  rows: (ids: number[]) => Promise<Row[]>,
): Listing<Row>['byKey'] {
  return isByKey(list.order) ? { keys: (limit, place) => readKeys(reader, list, limit, place), rows } : undefined
}

async function readKeys(reader: Reader, { from, id, conditions, order }: IdList, limit: number, place?: Place) {
  const isUp = (order[0]?.descending === true) === (place?.isBefore === true)
  const columns = order.map(({ column }) => column)
  const after = place && sql`(${sql.join(columns)}) ${isUp ? sql`>` : sql`<`} (${sql.join(place.at)})`
  const sorted = columns.map((column) => sql`${column} ${isUp ? sql`asc` : sql`desc`}`)
  const texts = columns.map((column) => sql`(${column})::text`)
  const found = await planned(
    reader,
    sql<{ keys: string | null }>`select json_agg(k.key)::text as keys from (
      select json_build_object('id', ${id}, 'at', json_build_array(${sql.join(texts)})) as key
      from ${from} where ${all(after ? [...conditions, after] : conditions)}
      order by ${sql.join(sorted)} limit ${sql.lit(limit)}) k`,
  )
  return JSON.parse(one(found).keys ?? '[]') as Key[]
}

/** A list that is read by its ids. */
export type IdList = { from: RawBuilder<unknown>; id: RawBuilder<unknown>; conditions: Condition[]; order: Order }

/**
 * The ids of the rows with these uuids, by uuid.
 * @param conditions what else has to hold of a row: others are left out, as those that are not there
 */
export async function idsByUuid(
  reader: Reader,
  { from, id, uuid, conditions }: Pick<IdList, 'from' | 'id' | 'conditions'> & { uuid: RawBuilder<unknown> },
  uuids: readonly string[],
): Promise<Map<string, number>> {
  if (uuids.length === 0) return new Map()
  const known = all([isAmong(uuid, 'uuid', uuids), ...conditions])
  const found = await planned(
    reader,
    sql<{
      ids: string | null
    }>`select json_agg(json_build_array(${uuid}, ${id}))::text as ids from ${from} where ${known}`,
  )
  return new Map(JSON.parse(one(found).ids ?? '[]') as [string, number][])
}

/**
 * The first keys of several lists, in one statement. How a list is found best depends on how many fit, as in `pageOfIds`: the
 * statement counts them up to there.
 */
export async function firstOfEach(reader: Reader, lists: IdList[], limit: number): Promise<Key[][]> {
  const each = lists.map((list, place) => sql`select ${sql.lit(place)} as place, ${firstKeys(list, limit)} as found`)
  const statement = sql<{ place: number; found: string | null }>`${sql.join(each, sql` union all `)}`
  const texts = new Map((await planned(reader, statement)).map(({ place, found }) => [place, found]))
  return lists.map((_, place) => JSON.parse(texts.get(place) ?? '[]') as Key[])
}

function firstKeys({ from, id, conditions, order }: IdList, limit: number) {
  const directed = (columns: RawBuilder<unknown>[]) =>
    sql.join(columns.map((column, index) => sql`${column} ${order[index]?.descending ? sql`desc` : sql`asc`}`))
  const names = order.map((_, index) => sql.ref(`o${index}`))
  const columns = order.map(({ column }) => column)
  const named = columns.map((column, index) => sql`${column} as ${names[index]}`)
  const keysOf = (id: RawBuilder<unknown>, values: RawBuilder<unknown>[], rest: RawBuilder<unknown>) => {
    const at = sql`json_build_array(${sql.join(values.map((value) => sql`(${value})::text`))})`
    return sql`array(select json_build_object('id', ${id}, 'at', ${at}) ${rest} order by ${directed(values)} limit ${sql.lit(limit)})`
  }
  const fitting = sql`from ${from} where ${all(conditions)}`
  return sql`(with fits as materialized (select ${id} as id, ${sql.join(named)} ${fitting} limit ${sql.lit(FEW + 1)})
    select array_to_json(case when (select count(*) from fits) <= ${sql.lit(FEW)}
      then ${keysOf(sql`id`, names, sql`from fits`)} else ${keysOf(id, columns, fitting)} end)::text)`
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
    for (const values of JSON.parse(reader.numbers.open(found?.page ?? '[]')) as unknown[][]) {
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
    return found && toRow(JSON.parse(reader.numbers.open(found.page)) as unknown[])
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
