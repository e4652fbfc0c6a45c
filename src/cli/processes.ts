// The processes that serve: opening their parts, running and stopping.
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { CRONTAB, taskList } from '../../tasks/index.ts'
import { sendNotifications } from '../../tasks/verstuur-notificaties.ts'
import type { Parts } from '../app.ts'
import { ensureBootstrapClient } from '../autorisaties/clients.ts'
import { openCredentialStore } from '../autorisaties/credentials.ts'
import { isShort, type SecretBox } from '../autorisaties/secret-box.ts'
import { requireKey, usableBox } from '../autorisaties/secret-key.ts'
import { ensureBootstrapAdmin } from '../beheer/accounts.ts'
import { openLiveSettings } from '../config/stored.ts'
import type { Config } from '../config.ts'
import { type Database, kyselyOn, openDatabase } from '../database/database.ts'
import { awaitSchema } from '../database/migrate.ts'
import { openReplica, type Replica } from '../database/replica.ts'
import { openAhead } from '../documenten/import/ahead.ts'
import { requireImportBaseDir } from '../documenten/import/base-dir.ts'
import { copyPool, copyToStore, writePlaces } from '../documenten/import/copy.ts'
import { repairImports } from '../documenten/import/progress.ts'
import { openStores, prepareNewStore, type Stores } from '../documenten/storage/choose.ts'
import { type Store, StoreUnavailable } from '../documenten/storage/index.ts'
import { rememberedReadiness } from '../http/health.ts'
import { startWorker } from '../jobs/worker.ts'
import { openSenderDatabase, wakeOverdue } from '../notificaties/outbox.ts'
import { openSender } from '../notificaties/sender.ts'
import { fillSettings } from '../notificaties/settings.ts'
import { preferBuiltIn, prepareNrc } from '../nrc/start.ts'
import { portionRunner } from '../overnemen/portions.ts'
import { openServices } from '../services/services.ts'
import { SIDE_SERVER, startMetrics } from '../telemetry/metrics.ts'
import { findSecretBox, NEVER, type Running } from './server.ts'

/** The document stores. One that cannot be used now does not keep the process from starting: `/readyz` tells of it. */
async function openStore(config: Config, database: Database, log: Logger): Promise<Stores> {
  try {
    await prepareNewStore(config, database, config.documentenBackend)
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    log.error({ backend: config.documentenBackend, code: error.code }, 'the document storage cannot be set up')
  }
  return openStores(config, log)
}

/** How an import brings files into the store: threads for a directory, streams for all others and past a scanner. */
export function openCopy(config: Config, store: Store): ReturnType<typeof copyPool> {
  if (store.backend === 'filesystem' && !store.scanner)
    return copyPool({ baseDir: config.importBaseDir, opslagRoot: config.documentenDir })
  const stopped = new AbortController()
  const running = new Set<Promise<unknown>>()
  const places = writePlaces()
  return {
    copyFiles: (bestanden) => {
      const options = { places, signal: stopped.signal }
      const copying = copyToStore(store, config.importBaseDir, bestanden, options)
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

/**
 * Runs the HTTP side. Resolves when it listens; `address` is where.
 * @param options.alone with a database of its own, for which nobody may have named a notifications service
 */
export async function runApi(
  given: Config,
  url: string,
  givenBox: SecretBox,
  log: Logger,
  { alone = false } = {},
): Promise<Running & { address: string }> {
  const opened = new AsyncDisposableStack()
  try {
    const database = openDatabase(url, { max: given.databasePoolSize, name: 'api', pooler: given.databasePoolerUrl })
    opened.defer(database.close)
    requireImportBaseDir(given, log)
    await checkSchema(database, log)
    const settings = await openLiveSettings(given, database, log)
    opened.defer(settings.close)
    const { config } = settings
    await checkSession(database, log)
    const box = await usableBox(database.sql, givenBox, log)
    const isUsable = box === givenBox
    if (config.bootstrapClient && isUsable) {
      if (isShort(config.bootstrapClient.secret)) log.warn('BOOTSTRAP_CLIENT_SECRET has fewer than 32 characters')
      await ensureBootstrapClient(database, box, config.bootstrapClient, config)
    }
    if (config.bootstrapAdmin) await ensureBootstrapAdmin(database, config.bootstrapAdmin)
    if (isUsable) await fillSettings(database, box, config)
    await prepareNrc(database, config)
    if (alone) await preferBuiltIn(database, config)
    const credentials = await openCredentialStore(database, box, log)
    opened.defer(credentials.close)
    const services = openServices(database, box, config, log)
    opened.defer(services.close)
    const stores = await openStore(config, database, log)
    const replica = openReplicaOf(config, database, log)
    if (replica) opened.defer(replica.close)
    const parts: Parts = { config, settings, database, replica, ...stores, credentials, box, services, log }
    const { buildApp } = await import('../app.ts') // here: a worker starts a fifth sooner without
    const app = await buildApp(parts)
    opened.defer(() => app.close())
    const address = await app.listen({ host: config.host, port: config.port })
    return {
      address,
      failed: NEVER,
      stop: async () => {
        app.announceStop()
        await sleep(config.stopDelaySeconds * 1000)
        await opened.disposeAsync()
      },
    }
  } catch (error) {
    await opened.disposeAsync()
    throw error
  }
}

/** What lists are read from, when there is a setting for it. */
export function openReplicaOf(
  { databaseReadUrl, databasePoolSize }: Config,
  database: Database,
  log: Logger,
): Replica | undefined {
  return databaseReadUrl ? openReplica(databaseReadUrl, database, databasePoolSize, log) : undefined
}

/** @throws SchemaError when the program cannot work with the schema of the database */
async function checkSchema(database: Database, log: Logger): Promise<void> {
  const newer = await awaitSchema(database.sql, log)
  if (newer.length > 0) log.warn({ newer }, 'the schema of the database is newer than this version: upgrade soon')
}

/** What a session has to bring with it comes from the configuration of the pooler, if there is one: without it nothing ends. */
async function checkSession({ sql }: Database, log: Logger): Promise<void> {
  const missing = await sql<{ name: string }[]>`
    select name from unnest(${['statement_timeout', 'idle_in_transaction_session_timeout']}::text[]) name
    where current_setting(name) = '0'`
  if (missing.length > 0)
    log.warn({ missing: missing.map(({ name }) => name) }, 'the pooler sets no limit for these: see its connect_query')
}

/** Runs the job side. Resolves when it looks for jobs. */
export async function runWorker(
  given: Config,
  url: string,
  log: Logger,
): Promise<Running & { database: Database; store: Store; box: SecretBox; healthy(): boolean }> {
  const opened = new AsyncDisposableStack()
  try {
    const database = openDatabase(url, { max: given.databasePoolSize, name: 'worker' })
    opened.defer(database.close)
    requireImportBaseDir(given, log)
    await checkSchema(database, log)
    const settings = await openLiveSettings(given, database, log)
    opened.defer(settings.close)
    const { config } = settings
    const box = await findSecretBox(config, false)
    await requireKey(database.sql, box) // messages would use up their attempts
    const stores = await openStore(config, database, log)
    const { store } = stores
    const pool = openCopy(config, store)
    const ahead = openAhead({ config, database, store, copyFiles: pool.copyFiles, log })
    opened.defer(async () => void (await Promise.all([ahead.stop(), pool.stop()])))
    const services = openServices(database, box, config, log)
    opened.defer(services.close)
    const runner = portionRunner({ config, database, box, store, log })
    opened.defer(runner.close)
    const tasks = taskList({ config, database, ...stores, copyFiles: pool.copyFiles, ahead, services, runner, log })
    const worker = await startWorker({
      databaseUrl: url,
      taskList: tasks,
      cron: CRONTAB,
      concurrency: config.workerConcurrency,
      log,
      checks: [(sql) => repairImports(kyselyOn(sql)), ahead.look],
    })
    const stopping: (() => Promise<void>)[] = [worker.stop]
    opened.defer(async () => void (await Promise.all(stopping.map((stop) => stop()))))
    const notifications = await startNotifications({ config, url, box, log })
    stopping.push(notifications.stop) // side by side: each waits for what it has under way
    return {
      database,
      store,
      box,
      healthy: () => worker.healthy() && notifications.healthy(),
      failed: NEVER,
      stop: () => opened.disposeAsync(),
    }
  } catch (error) {
    await opened.disposeAsync()
    throw error
  }
}

/**
 * Sends notifications, apart from all other jobs: however slow a receiver is, only the places here are taken by it. Two jobs
 * at once, so that one can tell the other to look.
 */
async function startNotifications(parts: { config: Config; url: string; box: SecretBox; log: Logger }) {
  const { config, url, box, log } = parts
  const sender = openSender({ config, box, log, open: () => openSenderDatabase(url) })
  try {
    const worker = await startWorker({
      databaseUrl: url,
      name: 'notificaties',
      taskList: { 'verstuur-notificaties': sendNotifications(sender) },
      concurrency: 2,
      log,
      checks: [wakeOverdue],
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

/** Metrics of this process, when a port is configured for them. */
export async function runMetrics(config: Config, url: string, log: Logger): Promise<Running> {
  const { metricsPort: port, host } = config
  const metrics = await startMetrics({ port, host, databaseUrl: url, store: openStores(config, log).store, log })
  return { stop: metrics.close, failed: NEVER }
}

/** `/livez` and `/readyz` of a process that only works, for whoever watches over it. */
export async function runWorkerHealth(
  port: number,
  host: string,
  worker: Awaited<ReturnType<typeof runWorker>>,
): Promise<Running> {
  const readiness = rememberedReadiness(worker)
  const server = createServer(SIDE_SERVER, async (request, response) => {
    const ready = request.url === '/readyz'
    const checks: Record<string, unknown> = ready ? await readiness() : {}
    const failed =
      ready &&
      (!worker.healthy() || Object.values(checks).some((check) => (check as { status: string }).status === 'failed'))
    const status = request.url === '/livez' || ready ? (failed ? 503 : 200) : 404
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    response.end(JSON.stringify({ status: status === 200 ? 'ok' : 'failed', ...(ready && { checks }) }))
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
