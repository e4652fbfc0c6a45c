// Moving documents from one store to another while the service runs. Per document: copy the bytes, read the copy back and
// compare its checksum, switch the row, and leave a job that removes the old bytes. Whoever found the old place just
// before the switch can read on, because that job comes an hour later.
//
// It can be stopped at any moment and started again: the rows tell what is left to do. A copy that was made without its
// row being switched is found at the next run, or else by the sweep of the worker.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Backend } from '../../config/storage.ts'
import { type Database, kyselyOn } from '../../database/database.ts'
import { lastOf, one } from '../../database/rows.ts'
import { enqueue } from '../../jobs/queue.ts'
import type { Stores } from './choose.ts'
import { MOVE_LOCK, removalKey } from './files.ts'
import { type Store, StoreUnavailable } from './index.ts'
import { otherWriters, type Writer } from './writers.ts'

export type Moved = {
  moved: number
  bytes: number
  /** Documents whose bytes are absent or differ from their checksum; they stay as they were. */
  failed: number
}
export type Defect = 'missing' | 'damaged'

type FileRow = { id: number; backend: string; key: string; size: number; sha256: Buffer | null }

const PAGE = 100
const AT_ONCE = 4
const KEEP_OLD_SECONDS = 3600
const LOOK_MS = 2_000

/**
 * Moves everything that is not in `to` yet, and what still comes into another store: it ends when nobody writes there any more.
 * @param report is told after every document what was done so far, and of every document that cannot be moved
 * @param options.waits is told each time who still writes elsewhere, when all that was there has moved; without it nobody is waited for
 * @throws StoreUnavailable when one of the stores is away; running it again goes on where it was
 * @throws AlreadyRunning
 */
export async function moveBytes(
  parts: Stores & { database: Database },
  to: Backend,
  report: (so: Moved, fault?: { key: string; backend: string; kind: Defect }) => void = () => {},
  { signal, waits }: { signal?: AbortSignal; waits?: (writers: Writer[]) => void } = {},
): Promise<Moved> {
  const { database, storeFor } = parts
  const target = storeFor(to)
  const total: Moved = { moved: 0, bytes: 0, failed: 0 }
  // Two runs would take each other's copies for what an interrupted run has left.
  return withLock(database, async (lockHeld) => {
    const failed = new Set<number>()

    /** Goes through all that is left. @returns how many were not tried before */
    async function pass(): Promise<number> {
      let tried = 0
      for (let after = 0; ; ) {
        const page = await database.sql<FileRow[]>`
          select id, backend, key, size, sha256 from file
          where id > ${after} and backend <> ${to} order by id limit ${PAGE}`
        if (page.length === 0) return tried
        after = lastOf(page).id
        await lockHeld()
        const untried = page.filter(({ id }) => !failed.has(id))
        tried += untried.length
        await inParallel(untried, AT_ONCE, async (file) => {
          signal?.throwIfAborted()
          const outcome = await move(parts, file, target, signal)
          if (outcome === 'moved') {
            total.moved++
            total.bytes += file.size
          } else if (outcome !== 'gone') failed.add(file.id)
          total.failed = failed.size
          const { backend, key } = file
          const fault = outcome === 'missing' || outcome === 'damaged'
          report(total, fault ? { backend, key, kind: outcome } : undefined)
        })
      }
    }

    for (;;) {
      // Asked before what is left: what they write afterwards would not be seen. A row may also become visible after one with a higher id.
      const writers = waits ? await otherWriters(database.sql, to) : []
      if ((await pass()) > 0) continue
      if (writers.length === 0) return total
      waits?.(writers)
      await sleep(LOOK_MS, undefined, signal && { signal })
    }
  })
}

async function move(
  { database, storeFor }: Stores & { database: Database },
  file: FileRow,
  target: Store,
  signal?: AbortSignal,
): Promise<'moved' | 'gone' | Defect> {
  const { id, backend, key, sha256 } = file
  const found = await storeFor(backend).read(key)
  if (!found) return (await isThere(database, file)) ? 'missing' : 'gone'
  const copy = await target.write(key, found.stream, signal && { signal }).finally(() => found.stream.destroy())
  const expected = sha256 ?? Buffer.from(copy.sha256, 'hex') // bytes that were taken over as they lie may have none yet
  const same = copy.sha256 === expected.toString('hex')
  if (!same || !(await hasChecksum(target, copy.key, expected))) {
    await target.remove(copy.key)
    if (same) throw new StoreUnavailable('copy-damaged')
    return 'damaged'
  }
  if (copy.key !== key) await deleteLeftOver(database, target, key)
  const switched = await database.sql.begin(async (connection) => {
    const [row] = await connection<{ id: number }[]>`
      update file set backend = ${target.backend}, key = ${copy.key}, sha256 = ${expected}
      where id = ${id} and backend = ${backend} and key = ${key} returning id`
    const delaySeconds = KEEP_OLD_SECONDS
    const jobKey = removalKey(backend, key)
    if (row) await enqueue(kyselyOn(connection), 'remove-bytes', { backend, key }, { delaySeconds, jobKey })
    return row !== undefined
  })
  if (!switched) await target.remove(copy.key) // the document was deleted meanwhile
  return switched ? 'moved' : 'gone'
}

/** The name was taken. When no document has it, it is what an interrupted run has left. */
async function deleteLeftOver({ sql }: Database, target: Store, key: string): Promise<void> {
  const [row] = await sql`select from file where backend = ${target.backend} and key = ${key}`
  if (!row) await target.remove(key)
}

async function isThere({ sql }: Database, { id, backend, key }: FileRow): Promise<boolean> {
  const rows = await sql`select from file where id = ${id} and backend = ${backend} and key = ${key}`
  return rows.length > 0
}

/** Reads all of it. False also when there is nothing. */
export async function hasChecksum(store: Store, key: string, sha256: Buffer): Promise<boolean> {
  return (await checksumOf(store, key))?.equals(sha256) === true
}

/** The SHA-256 of content as it lies in a store; undefined when it is not there. */
export async function checksumOf(store: Store, key: string): Promise<Buffer | undefined> {
  const found = await store.read(key)
  if (!found) return undefined
  const hash = createHash('sha256')
  for await (const chunk of found.stream) hash.update(chunk)
  return hash.digest()
}

/** Some at once, until one fails; then what runs is waited for. */
export async function inParallel<T>(all: T[], atOnce: number, work: (one: T) => Promise<void>): Promise<void> {
  const queue = all.values()
  let fault: { error: unknown } | undefined
  const worker = async () => {
    for (const one of queue) {
      if (fault) return
      await work(one).catch((error) => {
        fault ??= { error }
      })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  if (fault) throw fault.error
}

/** Another process is at it. */
export class AlreadyRunning extends Error {
  override name = 'AlreadyRunning'
}

async function withLock<T>({ sql }: Database, work: (held: () => Promise<void>) => Promise<T>): Promise<T> {
  const connection = await sql.reserve()
  try {
    const row = one(
      await connection<
        { got: boolean }[]
      >`select pg_try_advisory_lock(${MOVE_LOCK}, hashtext(current_schema())) as got`,
    )
    if (!row.got) throw new AlreadyRunning('documents are being moved already')
    try {
      // The lock lives as long as the connection: when that is gone, so is the right to go on.
      return await work(async () => void (await connection`select 1`))
    } finally {
      await connection`select pg_advisory_unlock(${MOVE_LOCK}, hashtext(current_schema()))`.catch(() => {})
    }
  } finally {
    connection.release()
  }
}
