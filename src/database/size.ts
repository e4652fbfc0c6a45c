import type { ReadSql } from './database.ts'
import { one } from './rows.ts'

export type Size = {
  /** Of the tables and indexes of an organisation, its queue included. */
  bytes: number
  /** When that was read, which costs more than most else. */
  sizedAt: string
}

/**
 * Takes some 10 ms, as it asks the size of a thousand files. The size of the whole database is no organisation's business, and takes
 * seconds where hundreds share it.
 * @throws when one of the tables stays locked for longer than the connection waits
 */
export async function readSize(sql: ReadSql): Promise<Size> {
  return one(
    await sql<Size[]>`
      select coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 as bytes, now() as "sizedAt"
      from pg_namespace n
      join pg_depend d on d.refclassid = 'pg_namespace'::regclass and d.refobjid = n.oid and d.classid = 'pg_class'::regclass
      join pg_class c on c.oid = d.objid and c.relkind = 'r'
      where n.nspname = any(current_schemas(false))`,
  )
}
