// How much the contents of all documents may take together (STORAGE_MAX_BYTES, `--limit bytes` of an organisation). What there is is a sum that
// the database keeps. Each process asks for it every few seconds, and before it refuses anything, and adds what it wrote since itself. So
// of several processes together somewhat more may come in: what the others wrote within these seconds.
import type { Sql } from 'postgres'
import { Problem } from '../../core/problem.ts'
import { one } from '../../database/rows.ts'
import type { Store } from './index.ts'

const LOOK_MS = 2_000
/** Bytes that no row names after so long are no document any more: the clean-up takes them. */
const FORGET_MS = 10 * 60_000

/** SQL: the bytes that the contents of documents take. */
const usedBytes = (sql: Sql) => sql`(select coalesce(sum(count), 0)::float8 from file_count)`

export type Room = {
  /** Counts so many more bytes under a key, from now on. @returns false, and does not, when they would be beyond the bound */
  hold(key: string, bytes: number): Promise<boolean>
  /** What was counted under the key is gone. */
  release(key: string): void
  /** Whether not a byte more may come. */
  isFull(): Promise<boolean>
  /** The store, into which nothing is written beyond the bound. Its `write` throws Problem 413 `storage-limit`. */
  within(store: Store): Store
}

const bound = (most: number) => `De inhoud van alle documenten samen mag hier ten hoogste ${most} bytes zijn.`

/** What a row of an import is told. */
export const noRoom = (most: number): string => `bestandspad: ${bound(most)} Voor dit bestand is geen ruimte meer.`

/** @throws Problem 413 `storage-limit` for content that could never come in */
export function requireFits(most: number | undefined, bytes: number): void {
  if (most !== undefined && bytes > most) throw refused(most)
}

const refused = (most: number) =>
  new Problem(413, { code: 'storage-limit', detail: `${bound(most)} Voor deze inhoud is geen ruimte meer.` })

/** @returns undefined where there is no bound */
export function openRoom(sql: Sql, most: number | undefined): Room | undefined {
  if (most === undefined) return undefined
  /** What was written here, by its key, until it is seen as a row. */
  const held = new Map<string, { bytes: number; at: number }>()
  let sum = 0
  let used = 0
  let lookedAt = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | undefined

  async function read(): Promise<void> {
    const began = performance.now()
    const rows = await sql<{ used: number; keys: string[] }[]>`
      select ${usedBytes(sql)} as used, array(select key from file where key = any(${[...held.keys()]}::text[])) as keys`
    const found = one(rows)
    used = found.used
    lookedAt = began
    for (const key of found.keys) release(key)
    for (const [key, { at }] of held) if (began - at > FORGET_MS) release(key)
  }

  function look(): Promise<void> {
    looking ??= read().finally(() => {
      looking = undefined
    })
    return looking
  }

  /** One that had begun before may not know what was removed. */
  async function lookAnew(): Promise<void> {
    const asked = performance.now()
    while (lookedAt < asked) await look()
  }

  const fits = (bytes: number) => used + sum + bytes <= most

  /** Looks as often as `fits` has to be known. */
  async function findRoom(bytes: number): Promise<void> {
    if (performance.now() - lookedAt > LOOK_MS) await look()
    if (!fits(bytes)) await lookAnew()
  }

  function add(key: string, bytes: number): void {
    held.set(key, { bytes: (held.get(key)?.bytes ?? 0) + bytes, at: performance.now() })
    sum += bytes
  }

  function release(key: string): void {
    sum -= held.get(key)?.bytes ?? 0
    held.delete(key)
  }

  const room: Room = {
    async hold(key, bytes) {
      await findRoom(bytes)
      const isIn = fits(bytes) // judged and counted at once: of two that come together one is first
      if (isIn) add(key, bytes)
      return isIn
    },
    release,
    async isFull() {
      await findRoom(1)
      return !fits(1)
    },
    within: (store) => ({
      ...store,
      async write(key, bytes, options) {
        if (options?.isKnown) return store.write(key, bytes, options)
        try {
          const written = await store.write(key, holding(key, bytes), options)
          if (written.key !== key) {
            add(written.key, written.size)
            release(key)
          }
          return written
        } catch (error) {
          release(key)
          throw error
        }
      },
      async remove(key) {
        await store.remove(key)
        release(key)
      },
    }),
  }
  return room

  async function* holding(key: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const portion of bytes) {
      if (!(await room.hold(key, portion.byteLength))) throw refused(most as number)
      yield portion
    }
  }
}
