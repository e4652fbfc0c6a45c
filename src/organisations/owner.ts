// Whose tables a schema has: a row in them says so, wherever a pooler, an address or a restore leads. A name alone says nothing.
import type { Logger } from 'pino'
import type { ReadSql } from '../database/database.ts'
import { one } from '../database/rows.ts'
import { queueOf } from '../database/schema.ts'
import { OrganisationRefused } from './refused.ts'

/** Tables that this session sees are those of another organisation. */
export class ForeignTables extends OrganisationRefused {
  override name = 'ForeignTables'
}

/** RSIN in the tables of a schema (a name as `SCHEMA_NAME` has it); undefined: there are none of ours, or nobody said whose they are. */
export async function ownerOf(sql: ReadSql, schema: string): Promise<string | undefined> {
  const { known } = one(
    await sql<
      { known: boolean }[]
    >`select to_regclass(format('%I.of_organisation', ${schema}::text)) is not null as known`,
  )
  if (!known) return undefined
  const [row] = await sql.unsafe<{ rsin: string }[]>(`select rsin from "${schema}".of_organisation`)
  return row?.rsin
}

/** Writes down whose they are. @throws ForeignTables when they are another's */
export async function markOwner(sql: ReadSql, schema: string, rsin: string): Promise<void> {
  await sql.unsafe(`insert into "${schema}".of_organisation (rsin) values ($1) on conflict do nothing`, [rsin])
  const owner = await ownerOf(sql, schema)
  if (owner !== rsin) throw new ForeignTables(`schema ${schema} has the tables of organisation ${owner}`)
}

/** @throws ForeignTables when the tables that a session sees by its path are not those of this organisation */
export async function requireOwner(sql: ReadSql, rsin: string): Promise<void> {
  const [row] = await sql<{ rsin: string }[]>`select rsin from of_organisation`
  if (row && row.rsin !== rsin) throw new ForeignTables(`a session of ${rsin} sees the tables of ${row.rsin}`)
}

/** Whether they are, as `requireOwner` says; another answer, or none, is told in the log. */
export async function isOwn(sql: ReadSql, rsin: string, log: Logger): Promise<boolean> {
  try {
    await requireOwner(sql, rsin)
    return true
  } catch (error) {
    log.error({ organisation: rsin, err: error }, 'nothing is served: its tables are not seen')
    return false
  }
}

/**
 * Before a schema and the queue beside it are dropped.
 * @throws ForeignTables when one of them has tables of somebody else: the queue of `stad` may be the schema `stad_queue` of another
 */
export async function requireDroppable(sql: ReadSql, schema: string, rsin: string): Promise<void> {
  const owner = await ownerOf(sql, schema)
  if (owner !== undefined && owner !== rsin)
    throw new ForeignTables(`schema ${schema} has the tables of organisation ${owner}: nothing was removed`)
  const queue = queueOf(schema)
  if (await hasTables(sql, queue))
    throw new ForeignTables(`schema ${queue} has tables of another organisation, and not a queue: nothing was removed`)
}

/** Whether our tables stand in a schema, and not a queue, or what is of no concern to us. */
export async function hasTables(sql: ReadSql, schema: string): Promise<boolean> {
  return one(
    await sql<{ has: boolean }[]>`select to_regclass(format('%I.migration', ${schema}::text)) is not null as has`,
  ).has
}
