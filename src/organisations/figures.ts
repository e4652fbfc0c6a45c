// What the people of the centre ask of each organisation: how large it is, and whether its work is in time.
import type { Sql } from 'postgres'
import { openDatabase } from '../database/database.ts'
import { one } from '../database/rows.ts'
import { schemasOf, withSchema } from '../database/schema.ts'
import { readSize, type Size } from '../database/size.ts'
import { directUrlOf, type Organisation } from './organisation.ts'
import { lookAtWork } from './work.ts'

export type Figures = Size & {
  zaken: number
  documenten: number
  /** Of the contents of documents, as `--limit bytes` bounds them. */
  contentBytes: number
  /** Jobs that are due, and for how many seconds the oldest is. */
  jobs: number
  late: number
  /** Workers that work for it now, and for how many seconds the most silent one has been, beyond its term. */
  workers: number
  silent: number
  /** Messages that wait for a receiver, up to `MOST`, and for how many seconds the oldest of them. */
  messages: number
  messagesLate: number
  /** Deliveries that failed for good within a day, among the last `MOST`. */
  failed: number
  abonnementen: number
  /** The last file of `sql/` that was applied. */
  schema: string
}
type Schemas = { own: string; queue: string }

/** Messages are counted up to here. */
export const MOST = 1000

/** By RSIN; undefined of one whose database does not answer, or has not its tables. One connection at a time. */
export async function readFigures(
  organisations: readonly Organisation[],
): Promise<ReadonlyMap<string, Figures | undefined>> {
  const found = new Map<string, Figures | undefined>()
  for (const organisation of organisations) {
    const read = withConnection(organisation, async (sql, schemas) => ({
      ...(await readSize(sql)),
      ...(await figuresOf(sql, schemas)),
    }))
    found.set(organisation.rsin, await read.catch(() => undefined))
  }
  return found
}

/** Asks something of an organisation on a connection of its own. @throws as the database does */
export async function withConnection<T>(
  organisation: Organisation,
  work: (sql: Sql, schemas: Schemas) => Promise<T>,
): Promise<T> {
  const url = withSchema(directUrlOf(organisation), organisation.schema)
  const database = openDatabase(url, {
    max: 1,
    name: 'figures',
    settings: { statement_timeout: '10s', lock_timeout: '500' },
  })
  try {
    return await work(database.sql, schemasOf(url))
  } finally {
    await database.close()
  }
}

/** All but its size, in some 2 ms. The connection may be that of another organisation in the same database. */
export async function figuresOf(sql: Sql, schemas: Schemas): Promise<Omit<Figures, keyof Size>> {
  const table = (name: string) => sql(`${schemas.own}.${name}`)
  const { jobs, late, workers, silent } = await lookAtWork(sql, schemas, [])
  const counts = one(
    await sql<Omit<Figures, keyof Size | 'jobs' | 'late' | 'workers' | 'silent'>[]>`
      select (select coalesce(sum(count), 0)::float8 from ${table('zaak_count')}) as zaken,
        (select coalesce(sum(count), 0)::float8 from ${table('enkelvoudiginformatieobject_count')}) as documenten,
        (select coalesce(sum(count), 0)::float8 from ${table('file_count')}) as "contentBytes",
        w.count as messages,
        (select coalesce(greatest(extract(epoch from now() - n.aanmaakdatum), 0), 0)::float8
          from (values (w.oldest)) o(id) left join ${table('notificatie')} n on n.id = o.id) as "messagesLate",
        (select count(*) filter (where ended_at > now() - interval '1 day')::int
          from (select ended_at from ${table('delivery')} where status = 'mislukt'
            order by notificatie_id desc limit ${MOST}) f) as failed,
        (select count(*)::int from ${table('abonnement')} where deleted_at is null) as abonnementen,
        (select coalesce(max(name), '') from ${table('migration')}) as schema
      from (select count(*)::int as count, min(notificatie_id) as oldest
        from (select notificatie_id from ${table('delivery')} where status = 'gepland' limit ${MOST}) d) w`,
  )
  return { ...counts, jobs, late: Math.round(late), workers, silent: Math.round(silent) }
}
