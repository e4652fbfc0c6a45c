import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  Logger as GraphileLogger,
  type WorkerPool as GraphilePool,
  type Job,
  type JobHelpers,
  type Runner,
  run,
  type Task,
  type TaskList,
} from 'graphile-worker'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import packageJson from '../../package.json' with { type: 'json' }
import { lookAt } from '../database/look.ts'
import { schemasOf } from '../database/schema.ts'
import { openRepeats } from '../telemetry/repeats.ts'
import { originOfJob, underOrigin } from '../telemetry/request-id.ts'
import { freeStrayJobs, type Lease, lockedJobs, openLease, reapDeadWorkers, releaseWorker } from './leases.ts'
import { isConnectionFault, openWorkerPool, type WorkerPool } from './pool.ts'

const STOP_MS = 30_000
const REAP_MS = 1_000
/** What walks over much that is dead, because somebody holds an old snapshot, is done so many times its own duration later. */
const SPARINGLY = 20
const REPAIR_MS = 5_000
const LOST_AFTER_MS = 10_000
const RERUNS = 5

export type WorkerParts = {
  databaseUrl: string
  log: Logger
  /** For the logs and the table of workers. */
  name?: string
  /** Further repairs, done every few seconds by every worker, so possibly by several at once. */
  checks?: (() => Promise<void>)[]
  /** One that is done sooner: every so many milliseconds. */
  watch?: { ms: number; what: string; look(): Promise<void> }
  /** What watches over workers, where it is one for all of this process. */
  supervisor?: WorkerPool
} & Tasks

/** The connections with which the workers of a process watch over all others, and over themselves. */
export function openSupervisor(databaseUrl: string, log: Logger): WorkerPool {
  return openWorkerPool(databaseUrl, log, {
    max: 1,
    application_name: 'zaakstroom supervisor',
    query_timeout: 15_000,
    statement_timeout: 10_000,
    lock_timeout: 5_000,
  })
}

/** What graphile-worker runs. */
export type Tasks = {
  taskList: TaskList
  concurrency: number
  /** Called when no new jobs are taken any more: for tasks that would go on as long as there is work. */
  onStop?: () => void
  /** Called when the database does not answer on an open connection: those of the tasks may hang as well. */
  onHang?: () => void
}

export type RunningWorker = {
  /** Takes no new jobs, lets the running ones finish for at most 30 s, and returns the rest to the queue. */
  stop(): Promise<void>
  /** It is registered, the other workers see it alive, and it takes jobs. */
  healthy(): boolean
}

/**
 * Runs jobs until it is stopped, whatever the database does meanwhile. When graphile-worker's runner ends by itself, a
 * new one is started. Jobs of workers that died are freed within seconds; `leases.ts` tells how.
 *
 * Resolves when the worker is registered and looks for jobs, which takes as long as the database stays away.
 * Rejects when the first start fails for a reason that waiting does not cure.
 *
 * What a task has to reckon with:
 * - It may run again after it succeeded, when its worker dies between the commit of the task and the completion of the
 *   job.
 * - It may run twice at the same time: a worker that was frozen until the others declared it dead goes on where it was
 *   when it wakes, while another has its job. So a task looks, in the transaction that writes its outcome and under a lock
 *   on a row of its own, whether what it is about to write is still to be done. If not, it writes nothing and returns: the
 *   job is completed only if it still belongs to this worker.
 * - Its own database connections need an `idle_in_transaction_session_timeout`; otherwise a frozen worker keeps its row
 *   locks, and whoever takes over waits for them.
 * - It lets faults of the database connection pass as they are: it is then run again in place, without using an attempt.
 *
 * A rejection may still escape from graphile-worker into `unhandledRejection`. What `isConnectionFault` recognises there
 * is dealt with here and need only be logged; anything else should end the process.
 */
export async function startWorker(parts: WorkerParts): Promise<RunningWorker> {
  const { name = 'worker' } = parts
  const log = parts.log.child({ worker: name })
  const repeats = openRepeats(log)
  const start = () => startShift({ ...parts, name, log })
  let current: Shift | undefined = await firstStart()
  const supervisor = parts.supervisor ?? openSupervisor(parts.databaseUrl, log)
  const stopping = new AbortController()
  const stopRequested = new Promise<'stop'>((resolve) => {
    stopping.signal.addEventListener('abort', () => resolve('stop'))
  })
  const leaving = new Set<Promise<void>>()
  const loops = [
    supervise(),
    every(REAP_MS, 'freeing the jobs of dead workers', async () => {
      for (const dead of current ? await reapDeadWorkers(supervisor.pool, current.lease.id) : []) {
        log.warn({ dead }, 'a worker died; its jobs are free again')
      }
    }),
    every(REPAIR_MS, 'freeing stray jobs', async () => {
      const jobs = await freeStrayJobs(supervisor.pool)
      if (jobs.length > 0) log.warn({ jobs }, 'freed jobs that were locked by no registered worker')
    }),
    every(REPAIR_MS, 'looking for lost jobs', async () => {
      if (current && (await hasLostJobs(current, supervisor.pool, log))) current.renew()
    }),
    // One after the other: side by side each would keep a connection.
    every(REPAIR_MS, 'a periodic repair', async () => {
      for (const check of parts.checks ?? []) await goOn('a periodic repair', check)
    }),
    ...(parts.watch ? [every(parts.watch.ms, parts.watch.what, parts.watch.look)] : []),
  ]
  return {
    healthy: () => current !== undefined && !current.ended && current.lease.fresh(),
    async stop() {
      stopping.abort()
      const done = Promise.all(loops).then(() => Promise.all(leaving))
      await Promise.race([done, sleep(STOP_MS + 5_000, undefined, { ref: false })])
      if (!parts.supervisor) await supervisor.close()
    },
  }

  async function firstStart(): Promise<Shift> {
    for (;;) {
      try {
        return await start()
      } catch (error) {
        if (!isConnectionFault(error)) throw error
        await sleep(500)
      }
    }
  }

  async function supervise(): Promise<void> {
    for (let failures = 0; current || !stopping.signal.aborted; failures++) {
      if (current) {
        const shift = current
        const began = performance.now()
        const end = await Promise.race([
          stopRequested,
          shift.settled,
          shift.lease.lost.then(() => 'lost' as const),
          shift.renewed,
        ])
        current = undefined
        if (performance.now() - began > 60_000) failures = 0
        const ended = endShift(shift, supervisor.pool, log)
        if (end === 'lost' || end === 'renewed') {
          // A successor need not wait for the jobs that still run: they belong to others by now, or end by themselves.
          if (end === 'lost') log.warn('this worker was silent for too long and was declared dead; it registers anew')
          leaving.add(ended)
          ended.finally(() => leaving.delete(ended))
        } else {
          if (end === 'settled') repeats.say('error', {}, 'the job runner ended by itself; another is started')
          await ended
        }
      } else {
        current = await start().catch((error) => {
          repeats.say('error', { err: error }, 'the worker could not start again; it keeps trying')
          return undefined
        })
      }
      if (!current && !stopping.signal.aborted) await pause(Math.min(100 * 2 ** failures, 10_000))
    }
  }

  async function every(ms: number, what: string, work: () => Promise<void>): Promise<void> {
    while (!stopping.signal.aborted) {
      const began = performance.now()
      await goOn(what, work)
      await pause(Math.max(ms, SPARINGLY * (performance.now() - began)))
    }
  }

  async function goOn(what: string, work: () => Promise<void>): Promise<void> {
    await work().catch((error) => {
      if (isConnectionFault(error)) log.debug({ reason: error.message }, `${what} waits for the database`)
      else repeats.say('error', { err: error }, `${what} failed`)
    })
  }

  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: stopping.signal }).catch(() => {})
  }
}

/** From the start of a runner until its end: one graphile-worker pool, registered under its id. */
type Shift = {
  runner: Runner
  poolId: string
  lease: Lease
  connections: WorkerPool
  /** The jobs that reached this process, until their lock is gone. */
  jobs: Map<string, 'running' | 'finished'>
  /** Resolves when no worker of the pool runs any more, for whatever reason. */
  settled: Promise<'settled'>
  ended: boolean
  /** Has another take its place, while it ends in peace. */
  renew(): void
  renewed: Promise<'renewed'>
}

type ShiftParts = Tasks & { databaseUrl: string; log: Logger; name: string }

async function startShift(parts: ShiftParts): Promise<Shift> {
  const { databaseUrl, taskList, concurrency, log, name, onStop, onHang } = parts
  // What graphile-worker asks is short, and its workers ask at the same moments: a connection for each would stand idle else.
  // No limit on waiting for locks: that fault is none that graphile-worker repeats, and the job would stay locked.
  const settings = { max: 1, application_name: `zaakstroom ${name}` }
  const connections = openWorkerPool(databaseUrl, log, settings)
  const jobs: Shift['jobs'] = new Map()
  let pool: GraphilePool | undefined // as a variable: the pool is a thenable, a promise of it would wait until it ends
  const events = new EventEmitter()
  events.on('pool:create', (event: { workerPool: GraphilePool }) => {
    pool = event.workerPool
  })
  if (onStop) events.on('pool:gracefulShutdown', onStop)
  events.on('job:start', ({ job }: { job: Job }) => jobs.set(job.id, 'running'))
  events.on('job:complete', ({ job }: { job: Job }) => jobs.set(job.id, 'finished'))
  const leased = Promise.withResolvers<Lease | undefined>()
  let faults = () => 0
  let runner: Runner | undefined
  try {
    runner = await run({
      pgPool: connections.forRunner,
      schema: schemasOf(databaseUrl).queue,
      taskList: Object.fromEntries(
        Object.entries(taskList).map(([task, work]) => [task, guard(work as Task, () => faults())]),
      ),
      parsedCronItems: [], // of its own it would look for a file; periodic.ts plans
      concurrency,
      events,
      logger: toGraphileLogger(log),
      noHandleSignals: true,
      gracefulShutdownAbortTimeout: STOP_MS - 5_000,
      // Asked before every fetch: no job may be locked under an id that the other workers would not find when we die.
      forbiddenFlags: async () => (await leased.promise)?.confirmed() ?? null,
    })
    runner.promise.catch((error) => log.error({ err: error }, 'the job runner failed'))
    const { id: poolId, promise: poolEnded } = pool as unknown as GraphilePool
    const { promise: renewed, resolve: renew } = Promise.withResolvers<'renewed'>()
    const shift = { runner, poolId, connections, jobs, ended: false, renewed, renew: () => renew('renewed') }
    const settled = poolEnded
      .catch(() => {}) // it fails the runner as well
      .then(() => {
        Object.assign(shift, { ended: true })
        return 'settled' as const
      })
    const lease = await openLease(databaseUrl, { name, version: packageJson.version, poolId }, log, () => {
      connections.cut()
      void lookAt(databaseUrl).answers()
      onHang?.()
    })
    faults = lease.faults
    leased.resolve(lease)
    return Object.assign(shift, { lease, settled })
  } catch (error) {
    runner?.stop().catch(() => {})
    leased.resolve(undefined) // after stop(): whoever passes now is refused a job
    await connections.close()
    throw error
  }
}

/** Lets running jobs finish as long as there is time, gives back the others, and closes everything. */
async function endShift(shift: Shift, pool: Pool, log: Logger): Promise<void> {
  const { runner, lease, poolId, jobs, connections } = shift
  const late = AbortSignal.timeout(STOP_MS)
  const has = (state: 'running' | 'finished') => [...jobs.values()].includes(state)

  runner.stop().catch(() => {}) // it may have stopped by itself
  lease.stopTaking()
  // Without a database the runner waits for its answer; there is no use in that when no job is running.
  while (!shift.ended && !late.aborted && (has('running') || lease.connected())) await sleep(50)
  // graphile-worker does not wait until the jobs that finished last are marked as such.
  while (has('finished') && !late.aborted) {
    const locked = await within(2_000, lockedJobs(pool, poolId)).catch(() => undefined)
    if (locked?.every((id) => jobs.get(id) !== 'finished')) break
    await sleep(50)
  }
  try {
    const returned = await within(5_000, releaseWorker(pool, lease.id, poolId))
    if (returned.length > 0) log.warn({ jobs: returned }, 'returned jobs that did not finish in time')
  } catch (error) {
    log.warn({ reason: String(error) }, 'the worker could not sign off; the others will notice that it is gone')
  }
  lease.close()
  await connections.close()
}

/** The connections wait as long as it takes for the database; who is leaving does not. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('the database does not answer')), ms)
  return Promise.race([work, promise]).finally(() => clearTimeout(timer))
}

// A job that was assigned to us while the connection broke is locked, but nobody runs it. graphile-worker frees jobs of whole
// pools only: so this pool ends when its other jobs have, and all that it still holds then goes back.
async function hasLostJobs({ poolId, lease, jobs }: Shift, pool: Pool, log: Logger): Promise<boolean> {
  const finished = [...jobs].filter(([, state]) => state === 'finished').map(([id]) => id)
  const locked = new Set(await lockedJobs(pool, poolId))
  for (const id of finished) if (!locked.has(id) && jobs.get(id) === 'finished') jobs.delete(id)
  const lost = (await lockedJobs(pool, poolId, LOST_AFTER_MS)).filter((id) => !jobs.has(id))
  if (lost.length === 0 || !lease.fresh()) return false
  log.warn(
    { jobs: lost },
    'jobs were assigned to this worker but never reached it; it registers anew to give them back',
  )
  return true
}

/**
 * Around every task: a fault of the database connection is waited for and the task is run again, and a job that meanwhile
 * belongs to another worker is not completed (graphile-worker would delete it while the other is working on it).
 */
function guard(task: Task, faults: () => number): Task {
  return async (payload, helpers) => {
    for (let rerun = 0; ; rerun++) {
      const faultsBefore = faults()
      try {
        const result = await task(payload, helpers)
        await requireOwnership(helpers)
        return result
      } catch (error) {
        if (!isConnectionFault(error) || rerun === RERUNS || helpers.abortSignal.aborted) throw error
        await sleep(200 * 2 ** rerun)
        await requireOwnership(helpers) // waits for the database
        // An error such as ECONNREFUSED may also come from something else that the task talks to.
        const { code } = error as { code?: unknown }
        if (!FROM_DATABASE.test(String(code)) && faults() === faultsBefore) throw error
        helpers.logger.warn(`the database connection broke; job ${helpers.job.id} is run again`)
      }
    }
  }
}

const FROM_DATABASE = /^(CONNECTION_|CONNECT_TIMEOUT$|[0-9][0-9A-Z]{4}$)/

async function requireOwnership({ job, query }: JobHelpers): Promise<void> {
  for (;;) {
    try {
      const { rowCount } = await query('select from jobs where id = $1 and locked_by = $2', [job.id, job.locked_by])
      if (rowCount === 1) return
    } catch (error) {
      if (!isConnectionFault(error)) throw error
      await sleep(100)
      continue
    }
    throw new Error('this worker was declared dead and another has taken the job over; this run does not count')
  }
}

function toGraphileLogger(log: Logger): GraphileLogger {
  return new GraphileLogger(() => (level, message, meta) => {
    const { job, duration, error, success, failure } = meta as LogMeta
    if (job && (success || failure)) {
      const facts = {
        ...underOrigin(job.payload, originOfJob),
        job: job.id,
        task: job.task_identifier,
        attempt: job.attempts,
        maxAttempts: job.max_attempts,
        durationMs: Math.round(duration ?? 0),
      }
      if (success) log.info(facts, 'job completed')
      else log.error({ ...facts, err: error }, 'job failed')
    } else if (isConnectionFault(error)) {
      log.debug(message) // the pool already tells; and pg hangs the client onto some errors, with all that it knows
    } else {
      // One connection for its short statements is meant so.
      const isMeant = level === 'info' || message.includes('maxPoolSize')
      log[isMeant ? 'debug' : level === 'warning' ? 'warn' : level](error ? { err: error } : {}, message)
    }
  })
}

type LogMeta = { job?: Job; duration?: number; error?: unknown; success?: boolean; failure?: boolean }
