// Which processes write documents, and to which store: a move of all documents to another store is done when nobody writes to the old one.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type postgres from 'postgres'
import type { Database } from '../../database/database.ts'
import type { Store } from './index.ts'

const BEAT_MS = 60_000
/** A process that was silent for so long has ended, or cannot reach the database. */
const SILENT = '150 seconds'

/** Says that this process writes to a store, until it is closed. A database that takes nothing now hears of it later. */
export async function announceWriter(
  { sql }: Pick<Database, 'sql'>,
  { backend, identity }: Pick<Store, 'backend' | 'identity'>,
  log: Pick<Logger, 'debug'>,
): Promise<{ close(): Promise<void> }> {
  const id = randomUUID()
  const beat = () =>
    sql`
      insert into store_writer (id, backend, store, host, pid)
      values (${id}, ${backend}, ${identity}, ${hostname()}, ${process.pid})
      on conflict (id) do update set seen_at = excluded.seen_at`.catch((error) =>
      log.debug({ err: error }, 'nobody was told to which store this process writes'),
    )
  await beat()
  await sql`delete from store_writer where seen_at < now() - interval '1 day'`.catch(() => {})
  const timer = setInterval(() => void beat(), BEAT_MS).unref()
  return {
    close: async () => {
      clearInterval(timer)
      await sql`delete from store_writer where id = ${id}`.catch(() => {})
    },
  }
}

export type Writer = { /** Its machine and process id. */ name: string; backend: string }

/** The processes that write to another store than this. */
export async function otherWriters(sql: postgres.Sql, backend: string): Promise<Writer[]> {
  return sql<Writer[]>`
    select host || '/' || pid as name, backend from store_writer
    where backend <> ${backend} and seen_at > now() - ${SILENT}::interval order by 1`
}

/** The processes that write to another store of this backend. */
export async function otherStores(sql: postgres.Sql, backend: string, store: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select host || '/' || pid as name from store_writer
    where backend = ${backend} and store <> ${store} and seen_at > now() - ${SILENT}::interval order by 1`
  return rows.map(({ name }) => name)
}
