// What the database knows about stored bytes.
import type postgres from 'postgres'
import { BACKENDS, type Backend } from '../../config/storage.ts'
import type { Database } from '../../database/database.ts'
import type { Stores } from './choose.ts'

/** Longer than any upload or batch takes between its bytes and its row. */
export const GRACE_MS = 24 * 3600 * 1000

/** The stores that hold documents, and the one where new ones go. */
export async function usedBackends({ database, store }: Stores & { database: Database }): Promise<Backend[]> {
  const rows = await database.sql<{ backend: Backend }[]>`
    select backend from unnest(${[...BACKENDS]}::text[]) backend
    where exists (select from bestand b where b.backend = backend.backend)`
  return [...new Set([store.backend, ...rows.map(({ backend }) => backend)])]
}

/** The job that removes the bytes which a document left behind is known by this key. */
export const removalKey = (backend: string, sleutel: string): string => `bytes:${backend}:${sleutel}`

/** Which of these keys are not to be touched: a document is there, or was until a moment ago and may still be read there. */
export async function neededKeys(
  sql: postgres.Sql | postgres.ReservedSql,
  backend: string,
  sleutels: string[],
): Promise<Set<string>> {
  const rows = await sql<{ sleutel: string }[]>`
    select sleutel from bestand where backend = ${backend} and sleutel = any(${sleutels}::text[])
    union all
    select substr(key, ${removalKey(backend, '').length + 1}::int) from graphile_worker.jobs
    where key = any(${sleutels.map((sleutel) => removalKey(backend, sleutel))}::text[])`
  return new Set(rows.map(({ sleutel }) => sleutel))
}
