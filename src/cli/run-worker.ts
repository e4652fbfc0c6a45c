// The job side: opening its parts, running and stopping.
import type { Task, TaskList } from 'graphile-worker'
import type { Logger } from 'pino'
import { PERIODIC, taskList } from '../../tasks/index.ts'
import { sendNotifications } from '../../tasks/send-notificaties.ts'
import { openLiveSettings } from '../config/stored.ts'
import type { Config } from '../config.ts'
import { holdKeys, requireKeys } from '../core/key-register.ts'
import { mutator } from '../core/mutate.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { startSettling } from '../core/settle-verwerkingen.ts'
import { logOptionsOf } from '../core/verwerkingen.ts'
import { type Database, openDatabase } from '../database/database.ts'
import { requireKnownSchema } from '../database/migrate.ts'
import { tellOfHosts } from '../database/primary.ts'
import { openAhead } from '../documenten/import/ahead.ts'
import { requireImportBaseDir } from '../documenten/import/base-dir.ts'
import { passForsaken } from '../documenten/import/control.ts'
import { copyPool, copyToStore, writePlaces } from '../documenten/import/copy.ts'
import { repairImports } from '../documenten/import/progress.ts'
import type { Store } from '../documenten/storage/index.ts'
import { openRoom } from '../documenten/storage/room.ts'
import { announceWriter } from '../documenten/storage/writers.ts'
import type { Periodic } from '../jobs/periodic.ts'
import type { WorkerPool } from '../jobs/pool.ts'
import { openSupervisor, startWorker } from '../jobs/worker.ts'
import { openSenderDatabase, replaceGoneSenders, wakeOverdue } from '../notificaties/claims.ts'
import { openSender } from '../notificaties/sender.ts'
import { watchClock } from '../operations/clock.ts'
import { startExport } from '../operations/export-verwerkingen.ts'
import { overall, rememberedReadiness } from '../operations/health.ts'
import { sideServer } from '../operations/metrics-server.ts'
import { announceSettings, type ProcessSettings } from '../operations/process-settings.ts'
import { requireOwner } from '../organisations/owner.ts'
import { portionRunner } from '../overnemen/portions.ts'
import { openServices } from '../services/services.ts'
import { checkConnections, checkSchema, openStore } from './processes.ts'
import { findSecretBox, NEVER, type Running } from './server.ts'

const WATCH_MS = 250
const SHARED_WATCH_MS = 1_000 // for each of many organisations

/** How an import brings files into the store: threads for a directory, streams for all others and past a scanner. */
export function openCopy(config: Config, store: Store): ReturnType<typeof copyPool> {
  if (store.backend === 'filesystem' && !store.scanner)
    return copyPool({ baseDir: config.importBaseDir, opslagRoot: config.documentenDir })
  const stopped = new AbortController()
  const running = new Set<Promise<unknown>>()
  const places = writePlaces()
  return {
    copyFiles: (files) => {
      const options = { places, signal: stopped.signal }
      const copying = copyToStore(store, config.importBaseDir, files, options)
      const done = copying.then(
        () => {},
        () => {},
      )
      running.add(done)
      void done.then(() => running.delete(done))
      return copying
    },
    stop: async () => {
      stopped.abort(new Error('copying was stopped'))
      await Promise.all(running)
    },
  }
}

/** What a worker is one of, where a process has many: each for an organisation. */
export type Share = {
  /** What it plans by the clock. */
  periodic: Periodic[]
  /** Jobs at once. */
  concurrency: number
  /** Whose worker it is. */
  rsin: string
  /** When each of its jobs has its turn; sending has none. */
  take<T>(work: () => Promise<T>): Promise<T>
  /** Whether others have work in this process: an import then leaves them room. */
  isShared(): boolean
}

/** Runs the job side. Resolves when it looks for jobs. */
export async function runWorker(
  given: Config,
  url: string,
  log: Logger,
  share?: Share,
): Promise<
  Running & {
    database: Database
    store: Store
    box: SecretBox
    shared: ProcessSettings | undefined
    healthy(): boolean
  }
> {
  const opened = new AsyncDisposableStack()
  tellOfHosts(log)
  try {
    if (!share) await checkConnections(given, log, false)
    const database = openDatabase(url, { max: given.databasePoolSize, name: 'worker', idleSeconds: 10 })
    opened.defer(database.close)
    requireImportBaseDir(given, log, share ? 'debug' : 'warn')
    await (share ? requireKnownSchema(database.sql) : checkSchema(database, log))
    if (share) await requireOwner(database.sql, share.rsin)
    const settings = await openLiveSettings(given, database, log)
    opened.defer(settings.close)
    const { config } = settings
    const box = await findSecretBox(config, false)
    await requireKeys(database.sql, box) // messages would use up their attempts
    opened.defer((await holdKeys(database, box, log)).close)
    const stores = await openStore(config, database, log)
    const { store } = stores
    opened.defer((await announceWriter(database, store, log)).close)
    const shared = share ? undefined : await announceSettings(database, config, 'worker', log)
    if (shared) opened.defer(shared.close)
    const pool = openCopy(config, store)
    const room = openRoom(database.sql, config.storageMaxBytes)
    const batches = { room, copyFiles: pool.copyFiles, ...(share && { isShared: share.isShared }) }
    const ahead = openAhead({ config, database, ...stores, ...batches, log })
    opened.defer(async () => void (await Promise.all([ahead.stop(), pool.stop()])))
    const services = openServices(database, box, config, log)
    opened.defer(services.close)
    const runner = portionRunner({ config, database, box, store, log })
    opened.defer(runner.close)
    const tasks = taskList({
      config,
      database,
      box,
      ...stores,
      ...batches,
      ahead,
      services,
      runner,
      log,
    })
    const mutate = mutator(database, { announces: () => !config.notificationsDisabled })
    const supervisor = openSupervisor(url, log)
    opened.defer(supervisor.close)
    const lookAtClock = watchClock({ periodic: share?.periodic ?? PERIODIC, mutate, log })
    const worker = await startWorker({
      databaseUrl: url,
      taskList: share ? inTurns(tasks, share.take) : tasks,
      concurrency: share?.concurrency ?? config.workerConcurrency,
      log,
      supervisor,
      checks: [
        () => repairImports(database.db),
        () => passForsaken(database.db),
        ahead.look,
        () => lookAtClock(database.sql),
      ],
    })
    const stopping: (() => Promise<void>)[] = [worker.stop]
    opened.defer(async () => void (await Promise.all(stopping.map((stop) => stop()))))
    stopping.push(startSettling(database, logOptionsOf(config), log).stop)
    stopping.push(startExport({ config, database, log }).stop)
    const notifications = await startNotifications({
      config,
      url,
      database,
      supervisor,
      box,
      log,
      isShared: share !== undefined,
    })
    stopping.push(notifications.stop) // side by side: each waits for what it has under way
    return {
      database,
      store,
      box,
      shared,
      healthy: () => worker.healthy() && notifications.healthy(),
      failed: NEVER,
      stop: () => opened.disposeAsync(),
    }
  } catch (error) {
    await opened.disposeAsync()
    throw error
  }
}

const inTurns = (tasks: TaskList, take: Share['take']): TaskList =>
  Object.fromEntries(
    Object.entries(tasks).map(([name, work]) => [
      name,
      async (...given: Parameters<Task>) => take(async () => (work as Task)(...given)),
    ]),
  )

/**
 * Sends notifications, apart from all other jobs: however slow a receiver is, only the places here are taken by it. Two jobs
 * at once, so that one can tell the other to look.
 */
async function startNotifications(parts: {
  config: Config
  url: string
  database: Database
  supervisor: WorkerPool
  box: SecretBox
  log: Logger
  /** This process works for many organisations. */
  isShared: boolean
}) {
  const { config, url, database, supervisor, box, log, isShared } = parts
  const sender = openSender({ config, box, log, open: () => openSenderDatabase(url) })
  try {
    const worker = await startWorker({
      databaseUrl: url,
      name: 'notificaties',
      taskList: { 'send-notificaties': sendNotifications(sender) },
      concurrency: 2,
      log,
      supervisor,
      checks: [() => wakeOverdue(database.sql)],
      watch: {
        ms: isShared ? SHARED_WATCH_MS : WATCH_MS,
        what: 'looking for senders that are gone',
        look: () => replaceGoneSenders(database.sql),
      },
      onStop: sender.stop,
      onHang: sender.cut,
    })
    return {
      healthy: worker.healthy,
      stop: async () => {
        await worker.stop()
        await sender.close()
      },
    }
  } catch (error) {
    await sender.close()
    throw error
  }
}

type Told = { status: string; checks: object }

/** What `/readyz` says of a worker. */
export function workerReadiness(worker: Awaited<ReturnType<typeof runWorker>>): () => Promise<Told> {
  const readiness = rememberedReadiness(worker)
  return async () => {
    const checks = await readiness()
    return { status: worker.healthy() ? overall(checks) : 'failed', checks }
  }
}

/** `/livez` and `/readyz` of a process that only works, for whoever watches over it. */
export async function runWorkerHealth(port: number, host: string, readiness: () => Promise<Told>): Promise<Running> {
  const server = sideServer(async (request, response) => {
    const isKnown = request.url === '/livez' || request.url === '/readyz'
    const told = request.url === '/readyz' ? await readiness() : { status: isKnown ? 'ok' : 'failed' }
    const status = !isKnown ? 404 : told.status === 'failed' ? 503 : 200
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    response.end(JSON.stringify(told))
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  return {
    failed: NEVER,
    stop: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
