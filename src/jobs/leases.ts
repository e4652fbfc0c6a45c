import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { clientClass } from '../database/hosts.ts'
import { one } from '../database/rows.ts'
import { openRepeats } from '../telemetry/repeats.ts'
import { isConnectionFault } from './pool.ts'

/*
 * How workers know of each other whether they live.
 *
 * A worker has a row in `worker`, and on a connection of its own it does two things: it holds the session advisory lock
 * (LOCK_CLASS with a hash of the schema, id of the row), and once a second it writes the database's time into the row. A process that is killed
 * loses the lock at once, but so does one whose connection broke; a process that is frozen, or whose machine vanished,
 * keeps it. So a worker is dead when it was silent for SILENT_MS and its lock is free, or when it was silent for FROZEN_MS.
 *
 * After an outage of the database, or when a machine was asleep, every row looks dead. Therefore only a worker that itself
 * gave its signs of life without a gap for SILENT_MS may judge, which leaves the living ones time to come back.
 *
 * A worker that was declared dead finds its row gone. It is then no longer the owner of the jobs it still runs, and
 * registers anew before it takes others. All comparisons use the clock of the database; when that is set back, a time in
 * the future counts as silence too.
 */
export const LOCK_CLASS = 31330 // any number that no other advisory lock with two keys in this database uses
const REAPER = 0 // in the place of an id, which start at 1: who may reap
const BEAT_MS = 1_000
const GAP_MS = 2_500
const SILENT_MS = 4_000
const FROZEN_MS = 20_000
const REFUSED_MOST_MS = 10_000

/** After so many deaths during the same job, the next one counts as a failed attempt. */
const CRASHES_FORGIVEN = 5

export type Registration = { name: string; version: string; poolId: string }

export type Lease = {
  id: number
  /** Resolves when the other workers declared this one dead: its jobs are no longer its own. */
  lost: Promise<void>
  /** Resolves at once while the lease is fresh, otherwise with the next sign of life: for who is about to take a job. */
  confirmed(): Promise<null>
  /** The last sign of life is recent enough for the others. */
  fresh(): boolean
  /** The database answered a moment ago. */
  connected(): boolean
  /** How often the connection was lost. */
  faults(): number
  /** `confirmed` no longer holds anyone up: called when the runner itself takes no jobs any more. */
  stopTaking(): void
  /** Stops the signs of life. The row stays, for `releaseWorker`. */
  close(): void
}

/**
 * Registers a worker and keeps it alive in the eyes of the others, through every outage, until it is closed.
 * @param onHang called when the database does not answer on an open connection: others may hang as well
 */
export async function openLease(
  databaseUrl: string,
  worker: Registration,
  log: Logger,
  onHang: () => void,
): Promise<Lease> {
  const Client = clientClass(databaseUrl)
  const repeats = openRepeats(log)
  let closed = false
  let faults = 0
  let seen = performance.now()
  let beaten = Promise.withResolvers<void>()
  const lost = Promise.withResolvers<void>()
  let isLost = false
  let taking = true

  let { client, id, locked } = await enter()
  seen = performance.now()
  void live()

  const fresh = () => !isLost && performance.now() - seen < FROZEN_MS
  return {
    id,
    lost: lost.promise,
    fresh,
    connected: () => performance.now() - seen < GAP_MS,
    async confirmed() {
      while (taking && !fresh()) await beaten.promise
      return null
    },
    faults: () => faults,
    stopTaking() {
      taking = false
      beaten.resolve()
    },
    close() {
      closed = true
      void end(client)
    },
  }

  async function enter() {
    for (;;) {
      const client = await connect()
      try {
        return { client, ...(await register(client, worker)) }
      } catch (error) {
        void end(client)
        if (!isConnectionFault(error)) throw error
      }
    }
  }

  async function connect(): Promise<pg.Client> {
    for (let delay = 50; ; delay = Math.min(delay * 2, 500)) {
      if (closed) throw new Error('the lease is closed')
      const fresh = new Client({
        application_name: `zaakstroom ${worker.name} lease`,
        connectionTimeoutMillis: 5_000,
        query_timeout: 8_000,
        keepAlive: true,
      })
      fresh.on('error', () => {}) // the next query tells
      fresh.on('end', () => faults++)
      try {
        await fresh.connect()
        await fresh.query('set synchronous_commit to off') // a sign of life need not survive the server
        return fresh
      } catch (error) {
        void end(fresh)
        if (!isConnectionFault(error)) throw error
        await sleep(delay)
      }
    }
  }

  async function live(): Promise<void> {
    let resumed = false
    let refused = 0 // in a row, not for an outage
    while (!closed) {
      try {
        // Not waiting for the lock: the server may still hold it for our own broken connection.
        if (!locked) locked = await tryLock(client, id)
        if (!(await beat(client, id, resumed))) break
        resumed = false
        refused = 0
        seen = performance.now()
        beaten.resolve()
        beaten = Promise.withResolvers()
        await sleep(BEAT_MS)
      } catch (error) {
        if (closed) return
        if (isHang(error)) onHang()
        if (!isConnectionFault(error))
          repeats.say('error', { err: error }, 'the worker could not give its sign of life')
        void end(client)
        await sleep(isConnectionFault(error) ? 100 : Math.min(100 * 2 ** refused++, REFUSED_MOST_MS))
        client = await connect().catch(() => client) // refused for another reason than an outage: the next beat tells
        locked = false
        resumed = true
      }
    }
    if (closed) return
    isLost = true
    lost.resolve()
    void end(client)
  }
}

async function register(client: pg.Client, { name, version, poolId }: Registration) {
  // One statement, so that nobody sees the row without its lock. The row may be there already: from a first try of which
  // the answer was lost.
  const { rows } = await client.query<{ id: number; locked: boolean }>(
    `with registered as (
       insert into worker (name, version, host, pid, pool_id) values ($1, $2, $3, $4, $5)
       on conflict (pool_id) do update set seen_at = excluded.seen_at returning id)
     select id, pg_try_advisory_lock($6::integer # hashtext(current_schema()), id) as locked from registered`,
    [name, version, hostname(), process.pid, poolId, LOCK_CLASS],
  )
  return one(rows)
}

async function tryLock(client: pg.Client, id: number): Promise<boolean> {
  const { rows } = await client.query(
    'select pg_try_advisory_lock($1::integer # hashtext(current_schema()), $2) as locked',
    [LOCK_CLASS, id],
  )
  return rows[0].locked
}

async function beat(client: pg.Client, id: number, resumed: boolean): Promise<boolean> {
  const { rowCount } = await client.query(
    `update worker set seen_at = now(),
       uninterrupted_since = case
         when $2 or now() not between seen_at and seen_at + $3 * interval '1 millisecond' then now()
         else uninterrupted_since end
     where id = $1`,
    [id, resumed, GAP_MS],
  )
  return rowCount === 1
}

function isHang(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout'
}

async function end(client: pg.Client): Promise<void> {
  await client.end().catch(() => {})
}

export type DeadWorker = { id: number; name: string; poolId: string; stilteMs: number; jobs: string[] }

/**
 * Removes the workers that are dead and frees their jobs for the living. The attempt that the crash used is given back,
 * up to CRASHES_FORGIVEN times per job; from then on the job loses attempts and waits, as if it had failed, so that one
 * that kills its worker every time ends as permanently failed. One worker does this at a time.
 * @param judge the id of the worker that asks; it must have been well itself for a while
 */
export async function reapDeadWorkers(pool: pg.Pool, judge: number): Promise<DeadWorker[]> {
  return inTransaction(pool, async (client) => {
    if (!(await tryTransactionLock(client, REAPER))) return []
    const { rows: silent } = await client.query<Omit<DeadWorker, 'jobs'>>(
      `select id, name, pool_id as "poolId", abs(extract(epoch from now() - seen_at)::float8) * 1000 as "stilteMs"
       from worker
       where id <> $1
         and now() not between seen_at and seen_at + $2 * interval '1 millisecond'
         and exists (select from worker as judge where judge.id = $1
           and now() between judge.seen_at and judge.seen_at + $3 * interval '1 millisecond'
           and now() > judge.uninterrupted_since + $2 * interval '1 millisecond')
       for update skip locked`,
      [judge, SILENT_MS, GAP_MS],
    )
    const dead: DeadWorker[] = []
    for (const worker of silent) {
      // Taking the lock, until the end of this transaction, keeps its owner from coming back meanwhile.
      const isFree = await tryTransactionLock(client, worker.id)
      if (!isFree && worker.stilteMs < FROZEN_MS) continue
      dead.push({ ...worker, jobs: await freeJobs(client, worker.poolId, true) })
    }
    if (dead.length > 0) {
      await client.query('delete from worker where id = any($1)', [dead.map(({ id }) => id)])
      await client.query('delete from worker_crash where not exists (select from jobs where id = job_id)')
    }
    return dead
  })
}

/** Takes a worker that ended in order from the list, and returns the jobs it had to leave. */
export async function releaseWorker(pool: pg.Pool, id: number, poolId: string): Promise<string[]> {
  return inTransaction(pool, async (client) => {
    const jobs = await freeJobs(client, poolId, false)
    await client.query('delete from worker where id = $1', [id])
    return jobs
  })
}

/**
 * Frees jobs whose lock belongs to no registered worker. It happens when a frozen worker, at the moment it wakes and before
 * it knows that it was declared dead, takes a job and then dies.
 */
export async function freeStrayJobs(pool: pg.Pool): Promise<string[]> {
  return inTransaction(pool, async (client) => {
    const { rows: strays } = await client.query<{ poolId: string }>(
      `select distinct locked_by as "poolId" from jobs
       where now() not between locked_at - $1 * interval '1 millisecond' and locked_at + $1 * interval '1 millisecond'
         and not exists (select from worker where pool_id = locked_by)`,
      [FROZEN_MS],
    )
    const jobs: string[] = []
    for (const { poolId } of strays) jobs.push(...(await freeJobs(client, poolId, true)))
    return jobs
  })
}

/** The jobs that a pool holds. */
export async function lockedJobs(pool: pg.Pool, poolId: string, olderThanMs = 0): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    'select id from jobs where locked_by = $1 and abs(extract(epoch from now() - locked_at)) * 1000 >= $2',
    [poolId, olderThanMs],
  )
  return rows.map(({ id }) => id)
}

async function freeJobs(client: pg.ClientBase, poolId: string, crashed: boolean): Promise<string[]> {
  const { rows: jobs } = await client.query<{ id: string; attempts: number; maxAttempts: number }>(
    'select id, attempts, max_attempts as "maxAttempts" from jobs where locked_by = $1',
    [poolId],
  )
  await client.query('select force_unlock_workers(array[$1])', [poolId]) // also frees queues
  for (const { id, attempts, maxAttempts } of jobs) {
    const crashes = crashed ? await countCrash(client, id) : 0
    if (crashes <= CRASHES_FORGIVEN) {
      await client.query('select reschedule_jobs(array[$1::bigint], attempts => greatest($2 - 1, 0))', [id, attempts])
    } else if (attempts < maxAttempts) {
      // the wait that graphile-worker gives a job that failed
      await client.query(
        `select reschedule_jobs(array[$1::bigint],
           run_at => now() + exp(least($2::int, 10)) * interval '1 second')`,
        [id, attempts],
      )
    } else {
      await client.query('select permanently_fail_jobs(array[$1::bigint], $2)', [
        id,
        `The worker process died during this job, ${crashes} times.`,
      ])
    }
  }
  return jobs.map(({ id }) => id)
}

async function countCrash(client: pg.ClientBase, jobId: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `insert into worker_crash as crash (job_id) values ($1)
     on conflict (job_id) do update set count = crash.count + 1, last_at = excluded.last_at
     returning count`,
    [jobId],
  )
  return one(rows).count
}

async function tryTransactionLock(client: pg.ClientBase, id: number): Promise<boolean> {
  const { rows } = await client.query(
    'select pg_try_advisory_xact_lock($1::integer # hashtext(current_schema()), $2) as locked',
    [LOCK_CLASS, id],
  )
  return rows[0].locked
}

async function inTransaction<T>(pool: pg.Pool, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    client.release()
    return result
  } catch (error) {
    client.release(true) // closing the connection rolls back, also when it no longer answers
    throw error
  }
}
