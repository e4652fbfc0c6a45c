// Values of statements that go to the driver itself, without the query builder: for what is written so often that building
// the statement counts.
import type { Insertable, Updateable } from 'kysely'
import type postgres from 'postgres'
import type { Numbers } from '../lib/numbers.ts'
import type { DB } from './types.ts'

type Sql = postgres.Sql | postgres.TransactionSql

/** A JSON value as a parameter; null is no value. */
export const jsonOf = (sql: Sql, value: unknown) =>
  value === null || value === undefined ? null : sql.json(value as postgres.JSONValue)

/** The same with the numbers of persons in it sealed. */
export const sealedJsonOf = (sql: Sql, numbers: Numbers, value: unknown) =>
  jsonOf(sql, value && JSON.parse(numbers.seal(JSON.stringify(value))))

/** The columns and values after `insert into <table>`. Those of JSON are encoded with `jsonOf`. */
export const rowOf = <T extends keyof DB>(sql: Sql, _table: T, values: Insertable<DB[T]>) => named(sql, values)

/** The same after `update <table> set`. There is at least one. */
export const changesOf = <T extends keyof DB>(sql: Sql, _table: T, values: Updateable<DB[T]>) => named(sql, values)

/**
 * The names of the columns that a row holds: of `of`, or as they stand after `insert into <table>`. With `recordsOf` many rows
 * with the same columns are one parameter.
 */
export const columnsOf = <T extends keyof DB>(sql: Sql, _table: T, row: Updateable<DB[T]>, of?: string) =>
  sql(Object.keys(columns(row)).map((name) => (of === undefined ? name : `${of}.${name}`)))

/** Rows as JSON for `jsonb_populate_recordset(null::<table>, …)`. Values of JSON stand in them as they are. */
export const recordsOf = <T extends keyof DB>(_table: T, rows: readonly Updateable<DB[T]>[]) =>
  JSON.stringify(rows.map(columns))

/** What the driver makes of a moment (`momentFrom`), as an expression: for JSON that the database makes. The session is in UTC. */
export const momentOf = (column: string) =>
  `replace(to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '.000000Z', 'Z')`

/**
 * `(columns) select values` after `insert into <table>`, to be followed by a FROM that says whether the row is made. A value may
 * be an expression.
 */
export function selectedRowOf<T extends keyof DB>(sql: Sql, _table: T, values: OrExpression<Insertable<DB[T]>>) {
  const row = columns(values)
  return sql`(${sql(Object.keys(row))}) select ${sql(row)}`
}
type OrExpression<Row> = { [N in keyof Row]: Row[N] | postgres.PendingQuery<postgres.Row[]> }

const named = (sql: Sql, values: object) => sql(columns(values))

function columns(values: object) {
  const row: Record<string, postgres.SerializableParameter> = {}
  for (const [name, value] of Object.entries(values))
    if (value !== undefined) row[snakeCase(name)] = value as postgres.SerializableParameter
  return row
}

const names = new Map<string, string>()
function snakeCase(name: string): string {
  const known = names.get(name) ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  names.set(name, known)
  return known
}
