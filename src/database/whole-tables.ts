// Tables copied as they are, from one database into another: rows as text, in the form that COPY takes.
import type postgres from 'postgres'

export type WholeTable = { name: string; columns: string[] }

/** A value as PostgreSQL writes it as text. */
export type Cell = string | null

const ROWS_AT_ONCE = 200

/** Sessions of a copy: a table takes as long as it has rows, and the other side waits for it. */
export const WITHOUT_LIMITS = {
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
}

/** The tables of our schema by name, and the columns of each that can be written. Not those of extensions. */
export async function wholeTables(sql: postgres.Sql | postgres.TransactionSql): Promise<WholeTable[]> {
  return await sql<WholeTable[]>`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
      and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    group by c.relname order by c.relname`
}

/** The rows of a table in portions, each cell as text. A cursor, and not COPY: after that the driver may leave the connection paused. */
export function cellsOf(from: postgres.TransactionSql, query: string): AsyncIterable<Cell[][]> {
  return from.unsafe(query).values().cursor(ROWS_AT_ONCE) as AsyncIterable<Cell[][]>
}

const SIGNS: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** A row as COPY takes it. */
export const copyLine = (cells: readonly Cell[]): string =>
  `${cells.map((cell) => (cell === null ? '\\N' : cell.replace(/[\\\n\r\t]/g, (sign) => SIGNS[sign] ?? sign))).join('\t')}\n`

/** Writes all tables while nothing is checked row by row: references hold again at the end, or the transaction fails. */
export async function withoutReferences<T>(into: postgres.TransactionSql, work: () => Promise<T>): Promise<T> {
  const keys = await into<{ key: string; table: string; rule: string }[]>`
    select format('%I', conname) as key, conrelid::regclass::text as table, pg_get_constraintdef(oid) as rule
    from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace order by oid`
  for (const { key, table } of keys) await into.unsafe(`alter table ${table} drop constraint ${key}`)
  const result = await work()
  for (const { key, table, rule } of keys) await into.unsafe(`alter table ${table} add constraint ${key} ${rule}`)
  return result
}

/** Where the sequences of the schema are, by name; one that was never used is left out. */
export async function sequencesOf(
  sql: postgres.Sql | postgres.TransactionSql,
): Promise<{ name: string; value: string }[]> {
  return await sql<{ name: string; value: string }[]>`
    select format('%I', sequencename) as name, last_value::text as value from pg_sequences
    where schemaname = current_schema() and last_value is not null`
}

/** @param sequences as `sequencesOf` has them */
export async function setSequences(
  into: postgres.Sql | postgres.TransactionSql,
  sequences: readonly { name: string; value: string }[],
): Promise<void> {
  for (const { name, value } of sequences) await into`select setval(${name}::text::regclass, ${value}::text::bigint)`
}
