// What the database knows about stored bytes.
import type postgres from 'postgres'
import { BACKENDS, type Backend } from '../../config/storage.ts'
import type { Database } from '../../database/database.ts'
import type { Stores } from './choose.ts'
import { StoreUnavailable } from './index.ts'

/** Longer than any upload or batch takes between its bytes and its row. By the clock of the database. */
export const GRACE = '24 hours'

/** The stores that hold documents, and the one where new ones go. */
export async function usedBackends({ database, store }: Stores & { database: Database }): Promise<Backend[]> {
  const rows = await database.sql<{ backend: Backend }[]>`
    select backend from unnest(${[...BACKENDS]}::text[]) backend
    where exists (select from file b where b.backend = backend.backend)`
  return [...new Set([store.backend, ...rows.map(({ backend }) => backend)])]
}

/** The job that removes the bytes which a document left behind is known by this key. */
export const removalKey = (backend: string, key: string): string => `bytes:${backend}:${key}`

/** The lock under which documents are moved to another store; its second key is a hash of the schema. */
export const MOVE_LOCK = 7_319_204 // any number that is no other lock of ours

/**
 * Notes which bytes have no row, and tells which of them may go: an earlier look noted them, a day ago by the clock of the database,
 * and nothing is open that may still name bytes (an import, batches prepared for one, a takeover, a move to another store). The
 * dates of a store and of this process do not count.
 * @param names keys, or unfinished writes as `Store.unfinished` names them
 * @param options `notes: false` only tells
 */
export async function ripeBytes(
  sql: postgres.Sql | postgres.ReservedSql,
  backend: string,
  names: string[],
  options: { unfinished?: boolean; notes?: boolean } = {},
): Promise<Set<string>> {
  const { unfinished = false, notes = true } = options
  if (notes) {
    // A moment of later than now was noted by a clock that has been set back since.
    await sql`
      insert into stray_file as z (backend, name, unfinished)
      select ${backend}, name, ${unfinished} from unnest(${names}::text[]) name
      on conflict (backend, name, unfinished) do update set last_seen_at = excluded.last_seen_at,
        seen_at = least(z.seen_at, excluded.seen_at)`
  }
  const rows = await sql<{ name: string }[]>`
    select name from stray_file
    where backend = ${backend} and unfinished = ${unfinished} and name = any(${names}::text[])
      and seen_at < now() - ${GRACE}::interval
      and not exists (select from import where status = 'active')
      and not exists (select from import_ahead)
      and not exists (select from takeover where status = 'loopt')
      and not exists (select from pg_locks where locktype = 'advisory' and classid = ${MOVE_LOCK}
        and objid = (hashtext(current_schema())::bigint & 4294967295)::oid and objsubid = 2
        and database = (select oid from pg_database where datname = current_database()))`
  return new Set(rows.map(({ name }) => name))
}

/** Forgets what a whole look at a store, begun at a moment of the database, did not meet again: it is gone, or has a row. */
export async function forgetOthers(
  sql: postgres.Sql | postgres.ReservedSql,
  backend: string,
  since: string,
): Promise<void> {
  await sql`delete from stray_file where backend = ${backend} and last_seen_at < ${since}`
}

/**
 * Which of these keys are not to be touched: a document is there, or was until a moment ago and may still be read there. Also one whose
 * row names another store that does not have it: then these may be its only bytes, whatever the row says.
 */
export async function neededKeys(
  sql: postgres.Sql | postgres.ReservedSql,
  storeFor: Stores['storeFor'],
  backend: string,
  keys: string[],
): Promise<Set<string>> {
  const rows = await sql<{ key: string; elsewhere: string | null }[]>`
    select key, nullif(backend, ${backend}) as elsewhere from file where key = any(${keys}::text[])
    union all
    select substr(key, ${removalKey(backend, '').length + 1}::int), null from jobs
    where key = any(${keys.map((key) => removalKey(backend, key))}::text[])`
  const needed = new Set<string>()
  for (const { key, elsewhere } of rows) {
    if (!needed.has(key) && (elsewhere === null || !(await isIn(storeFor, elsewhere, key)))) needed.add(key)
  }
  return needed
}

/** Whether a store says that it has something under the key. One that is away says nothing. */
async function isIn(storeFor: Stores['storeFor'], backend: string, key: string): Promise<boolean> {
  try {
    const found = await storeFor(backend).read(key)
    found?.stream.destroy()
    return found !== undefined
  } catch (error) {
    if (error instanceof StoreUnavailable) return false
    throw error
  }
}
