// What the people of the centre ask of each organisation: how large it is, and whether its jobs are in time.
import type { Sql } from 'postgres'
import { openDatabase } from '../database/database.ts'
import { one } from '../database/rows.ts'
import { schemasOf, withSchema } from '../database/schema.ts'
import { usedBytes } from '../documenten/storage/room.ts'
import { directUrlOf, type Organisation } from './organisation.ts'
import { lookAtWork } from './work.ts'

export type Figures = {
  /** Of its tables and indexes, the queue included. */
  bytes: number
  zaken: number
  documenten: number
  /** Of the contents of documents, as `--limit bytes` bounds them. */
  contentBytes: number
  /** Jobs that are due, and for how many seconds the oldest is. */
  jobs: number
  late: number
  /** Workers that work for it now. */
  workers: number
}

/** By RSIN; undefined of one whose database does not answer, or has not its tables. One connection at a time. */
export async function readFigures(
  organisations: readonly Organisation[],
): Promise<ReadonlyMap<string, Figures | undefined>> {
  const found = new Map<string, Figures | undefined>()
  for (const organisation of organisations) {
    const { rsin, schema } = organisation
    const url = withSchema(directUrlOf(organisation), schema)
    const database = openDatabase(url, { max: 1, name: 'figures', settings: { statement_timeout: '10s' } })
    found.set(rsin, await figuresOf(database.sql, url).catch(() => undefined))
    await database.close()
  }
  return found
}

async function figuresOf(sql: Sql, url: string): Promise<Figures> {
  const { own, queue } = schemasOf(url)
  const { jobs, late, workers } = await lookAtWork(sql, { own, queue }, [])
  const size = one(
    await sql<{ bytes: number; zaken: number; documenten: number; contentBytes: number }[]>`
      select (select coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where n.nspname in (${own}, ${queue}) and c.relkind = 'r') as bytes,
        (select coalesce(sum(count), 0)::float8 from zaak_count) as zaken,
        (select coalesce(sum(count), 0)::float8 from enkelvoudiginformatieobject_count) as documenten,
        ${usedBytes(sql)} as "contentBytes"`,
  )
  return { ...size, jobs, late: Math.round(late), workers }
}
