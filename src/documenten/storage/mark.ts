// A number beside the documents that a restore of the database does not carry back. It goes up while readers are told things, in the
// database first. So the database that has a lower one than its store was put back: positions that readers hold may name what has not
// happened, or happened otherwise, and another history begins. To be looked at when a process starts, and every minute.
import type postgres from 'postgres'
import { one } from '../../database/rows.ts'
import type { Store } from './index.ts'
import { requireOwnStore } from './owner.ts'

const PREFIX = 'history/'

/**
 * Compares, and goes up where more was told since.
 * @param look compares also when nothing was told
 * @returns whether another history began
 * @throws StoreUnavailable
 */
export async function keepMark(sql: postgres.Sql, store: Store, look = false): Promise<boolean> {
  const now = one(
    await sql<{ mark: number; isQuiet: boolean }[]>`
      select mark, cluster = current_cluster() and told = told_so_far() as "isQuiet" from history`,
  )
  if (now.isQuiet && !look) return false
  await requireOwnStore(sql, store)
  const keys = await Array.fromAsync(store.list(PREFIX), ({ key }) => key)
  const known = Math.max(0, ...keys.map(markOf))
  if (now.isQuiet && known <= now.mark) return false
  const { mark, isOther } = one(
    await sql<{ mark: number; isOther: boolean }[]>`select mark, is_other as "isOther" from next_mark(${known})`,
  )
  await store.write(
    `${PREFIX}${mark}`,
    (async function* () {
      yield Buffer.from('Says how far the database had come. Do not remove.\n')
    })(),
  )
  for (const key of keys) if (markOf(key) < mark) await store.remove(key)
  return isOther
}

/** Blob stores may have added a suffix. */
const markOf = (key: string): number => Number(/^\d+/.exec(key.slice(PREFIX.length))?.[0] ?? 0)
