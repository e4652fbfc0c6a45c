// Which processes write documents, and to which store: a move of all documents to another store is done when nobody writes to the old one.
import { createHash, randomUUID } from 'node:crypto'
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
  await releaseClaim(sql, identity).catch(() => {})
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

/** The id under which this process claims a store, until it says that it writes there. */
function claimId(store: string): string {
  const hex = createHash('sha256').update(`${hostname()}/${process.pid} ${store}`).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}

/**
 * Says that this process is about to write to a store, unless others write to another store of this backend: of processes that begin
 * together one is first.
 * @returns those others
 */
export async function announceClaim(sql: postgres.Sql, backend: string, store: string): Promise<string[]> {
  return sql.begin(async (trx) => {
    await trx`select pg_advisory_xact_lock(hashtext(current_schema() || ' store'))`
    const others = await trx<{ name: string }[]>`
      select host || '/' || pid as name from store_writer
      where backend = ${backend} and store <> ${store} and seen_at > now() - ${SILENT}::interval order by 1`
    if (others.length === 0)
      await trx`
        insert into store_writer (id, backend, store, host, pid)
        values (${claimId(store)}, ${backend}, ${store}, ${hostname()}, ${process.pid})
        on conflict (id) do update set seen_at = excluded.seen_at`
    return others.map(({ name }) => name)
  })
}

/** The end of what `announceClaim` said, of a process that writes no more or says so itself. */
export async function releaseClaim(sql: postgres.Sql, store: string): Promise<void> {
  await sql`delete from store_writer where id = ${claimId(store)}`
}
