// Lists and reports from a replica (DATABASE_READ_URL), without showing less than the primary would. Before a read the primary is
// asked how far its log had come, and the replica is read when it has replayed that far: whatever anybody was told is written
// before the read began, on whichever process, is in it. All reads that begin meanwhile share one question. A replica that is
// gone, behind, of another timeline (left over from a failover) or of another database is not read: the primary answers then.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { listReads, replicaLag, replicaUsable } from '../telemetry/metrics.ts'
import { hostName } from './address.ts'
import { type Database, isConflict, isUnavailable, openDatabase, type Reader, readerOf } from './database.ts'
import type { Listing } from './list.ts'
import { expected, one } from './rows.ts'

/** How a replica is: `undefined` when nobody asked yet. */
export type ReplicaState =
  | { usable: true; reason?: undefined }
  | { usable: false; reason: 'not reachable' | 'behind' | 'not a replica of this database' }

export type Replica = {
  /** The replica when it has all that is committed now, or else the primary. For what is read in one go. */
  reader(): Promise<Reader>
  /** The same for a list. A part of it that fails at the replica is read at the primary. */
  listing<Row>(make: (reader: Reader) => Listing<Row>): Listing<Row>
  state(): ReplicaState | undefined
  close(): Promise<void>
}

const WAIT_MS = 100 // for a replica that is a little behind
const PAUSE_MS = 1000 // after one was too far behind, or gone: so long nobody waits for it
const LOOK_MS = 1000 // how often it is asked without a read, so that a hanging one is noticed

type Position = { lsn: string; timeline: string; system: string }

/** @param max connections at most */
export function openReplica(url: string, primary: Database, max: number, log: Logger): Replica {
  const replica = openDatabase(url, { max, name: 'read' })
  replica.useNumbers(primary.numbers)
  const host = hostName(url)
  const readers = { replica: readerOf(replica), primary: readerOf(primary) }
  let state: ReplicaState | undefined
  let pausedUntil = 0
  let asking: Promise<boolean> | undefined
  let next: Promise<boolean> | undefined
  let lost = Promise.withResolvers<never>()
  lost.promise.catch(() => {})

  function become(found: ReplicaState): boolean {
    if (found.reason !== state?.reason) {
      if (found.usable) log.info('lists are read from the replica again')
      else log.warn({ reason: found.reason }, 'the replica cannot be read: lists are read from the primary')
    }
    state = found
    replicaUsable.set({ host }, found.usable ? 1 : 0)
    if (found.usable) return true
    pausedUntil = performance.now() + PAUSE_MS
    if (found.reason === 'not reachable') {
      lost.reject(Object.assign(new Error('the replica is gone'), { code: 'CONNECTION_CLOSED' }))
      lost = Promise.withResolvers()
      lost.promise.catch(() => {})
    }
    return false
  }

  async function look(): Promise<boolean> {
    const ask = (sql: typeof primary.sql) => sql<(Position & { isFlushed: boolean })[]>`
      select pg_current_wal_flush_lsn()::text as lsn, current_setting('synchronous_commit') <> 'off' as "isFlushed",
        ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int::text as timeline,
        (select system_identifier from pg_control_system())::text as system`
    let wanted = await ask(primary.sql)
    if (!one(wanted).isFlushed) {
      // What was told need not be flushed, and a replica gets what is: a commit that waits for its flush takes all of before along.
      await primary.sql.begin(async (trx) => {
        await trx`set local synchronous_commit = local`
        await trx`select pg_logical_emit_message(true, 'zaakstroom', '')`
      })
      wanted = await ask(primary.sql)
    }
    try {
      return become(await withinTime(waitFor(one(wanted))))
    } catch (error) {
      log.debug({ err: error }, 'the replica cannot be asked')
      return become({ usable: false, reason: 'not reachable' })
    }
  }

  async function waitFor({ lsn, timeline, system }: Position): Promise<ReplicaState> {
    const until = performance.now() + WAIT_MS
    for (let wait = 1; ; wait *= 2) {
      const rows = await replica.sql<{ there: boolean; same: boolean; bytes: number }[]>`
        select coalesce(pg_last_wal_replay_lsn() >= ${lsn}::pg_lsn, false) as there,
          pg_is_in_recovery() and (select system_identifier from pg_control_system())::text = ${system}
            and (select timeline_id from pg_control_checkpoint())::text = ${timeline} as same,
          greatest(coalesce(pg_wal_lsn_diff(${lsn}::pg_lsn, pg_last_wal_replay_lsn()), 0), 0)::float8 as bytes`
      const { there, same, bytes } = one(rows)
      if (!same) return { usable: false, reason: 'not a replica of this database' }
      replicaLag.set({ host }, bytes)
      if (there) return { usable: true }
      if (performance.now() + wait > until) return { usable: false, reason: 'behind' }
      await sleep(wait)
    }
  }

  /** Whether the replica has all that was committed when this was called. */
  function caughtUp(): Promise<boolean> {
    if (performance.now() < pausedUntil) return Promise.resolve(false)
    // The question that is under way may have been answered before this read began.
    next ??= (asking ?? Promise.resolve()).then(() => {
      next = undefined
      asking = look().catch(() => false) // the primary is gone: who reads there is told so
      return asking
    })
    return next
  }

  async function readFrom<T>(ready: Promise<boolean>, read: (reader: Reader) => Promise<T>): Promise<T> {
    if (await ready) {
      try {
        const found = await Promise.race([read(readers.replica), lost.promise])
        listReads.inc({ server: 'replica' })
        return found
      } catch (error) {
        // 40001 there: replaying had to remove rows that the query was still reading.
        if (!isUnavailable(error) && !isConflict(error)) throw error
        log.debug({ err: error }, 'a read at the replica failed, and is done at the primary')
      }
    }
    listReads.inc({ server: 'primary' })
    return read(readers.primary)
  }

  const timer = setInterval(() => void caughtUp(), LOOK_MS)
  timer.unref()

  return {
    async reader() {
      const ready = await caughtUp()
      listReads.inc({ server: ready ? 'replica' : 'primary' })
      return ready ? readers.replica : readers.primary
    },
    listing(make) {
      const ready = caughtUp()
      const { isFiltered, byKey } = make(readers.primary)
      const keysOf = (reader: Reader) => expected(make(reader).byKey)
      return {
        ...(isFiltered !== undefined && { isFiltered }),
        count: () => readFrom(ready, (reader) => make(reader).count()),
        rows: (...stretch) => readFrom(ready, (reader) => make(reader).rows(...stretch)),
        byKey: byKey && {
          keys: (...stretch) => readFrom(ready, (reader) => keysOf(reader).keys(...stretch)),
          rows: (ids) => readFrom(ready, (reader) => keysOf(reader).rows(ids)),
        },
      }
    },
    state: () => state,
    close: async () => {
      clearInterval(timer)
      await next
      await replica.close()
    },
  }
}

async function withinTime<T>(work: Promise<T>): Promise<T> {
  const late = new AbortController()
  work.catch(() => {}) // it may fail after its time
  try {
    return await Promise.race([
      work,
      sleep(WAIT_MS * 5, undefined, { signal: late.signal }).then(() => {
        throw new Error('no answer in time')
      }),
    ])
  } finally {
    late.abort()
  }
}
