// metrics: what Prometheus reads, on a port of its own. What only this process knows is counted as it happens; what the
// database knows is asked when somebody looks, and is the same in every process.

import { createServer, type RequestListener, type Server } from 'node:http'
import { sql as order } from 'kysely'
import type { Logger } from 'pino'
import { Counter, collectDefaultMetrics, Gauge } from 'prom-client'
import packageJson from '../../package.json' with { type: 'json' }
import { openSpool } from '../core/verwerkingen.ts'
import { type Database, openDatabase, type ReadDb, waitingForConnection } from '../database/database.ts'
import { one } from '../database/rows.ts'
import { type Store, storageFaults } from '../documenten/storage/index.ts'
import { scanned } from '../documenten/storage/scan.ts'
import { feedAge } from '../feed/age.ts'
import { countUnrecorded } from '../notificaties/claims.ts'
import { readFigures } from '../nrc/abonnement/figures.ts'
import { droppedLines } from '../telemetry/log.ts'
import { register } from '../telemetry/metrics.ts'
import { oldestSnapshot } from './snapshot.ts'

/** Connections that a small server holds at most: some that watch, and some that hang. */
const SIDE_CONNECTIONS = 64

/**
 * A small server beside the API, for metrics or health: who asks there sends a line and nothing more. What comes beyond its
 * connections is closed at once, so that nobody takes the files of the process.
 */
export function sideServer(answer: RequestListener): Server {
  const bounds = { headersTimeout: 5000, requestTimeout: 10_000, connectionsCheckingInterval: 1000 }
  const server = createServer({ ...bounds, keepAliveTimeout: 5000 }, answer)
  server.maxConnections = SIDE_CONNECTIONS
  return server
}

const NOTHING = { close: async () => {} }

const buildInfo = new Gauge({
  name: 'zaakstroom_build_info',
  help: 'Always 1: which version runs here, on which Node, and as what (api, worker, start).',
  labelNames: ['version', 'node', 'role'],
  registers: [register],
})
const notifications = new Gauge({
  name: 'zaakstroom_notifications',
  help: 'Notifications by state, those of the last days that are kept.',
  labelNames: ['status'],
  registers: [register],
})
const unrecorded = new Gauge({
  name: 'zaakstroom_notifications_unrecorded',
  help: 'Deliveries that a worker has in hand for so long that what became of them cannot be recorded, counted up to 1,001.',
  registers: [register],
})
const oldestWaiting = new Gauge({
  name: 'zaakstroom_notification_oldest_waiting_seconds',
  help: 'Age of the oldest notification that was not delivered and has not failed.',
  registers: [register],
})
const subscriptions = new Gauge({
  name: 'zaakstroom_subscriptions',
  help: 'Abonnementen of the notifications service that is built in, by state.',
  labelNames: ['state'],
  registers: [register],
})
const subscriptionWaiting = new Gauge({
  name: 'zaakstroom_subscription_waiting',
  help: 'Deliveries that wait for an abonnement, counted up to 10,001. Of at most a hundred abonnementen, those in trouble first.',
  labelNames: ['subscription'],
  registers: [register],
})
const subscriptionFailed = new Gauge({
  name: 'zaakstroom_subscription_failed',
  help: 'Deliveries to an abonnement that used all their attempts, counted up to 10,001.',
  labelNames: ['subscription'],
  registers: [register],
})
const subscriptionOldest = new Gauge({
  name: 'zaakstroom_subscription_oldest_waiting_seconds',
  help: 'Age of the oldest message that waits for an abonnement, or for the external notifications service (external).',
  labelNames: ['subscription'],
  registers: [register],
})
const subscriptionFailing = new Gauge({
  name: 'zaakstroom_subscription_failing_seconds',
  help: 'Time since attempts to deliver to an abonnement fail without a success; 0: they do not.',
  labelNames: ['subscription'],
  registers: [register],
})
const subscriptionUnauthorized = new Gauge({
  name: 'zaakstroom_subscription_unauthorized',
  help: 'Whether the receiver of an abonnement answered 401 or 403 to the last attempt.',
  labelNames: ['subscription'],
  registers: [register],
})
const jobs = new Gauge({
  name: 'zaakstroom_jobs',
  help: 'Jobs by task and state: waiting (due), planned (later), running, failed (all attempts used).',
  labelNames: ['task', 'state'],
  registers: [register],
})
const importRows = new Gauge({
  name: 'zaakstroom_import_rows',
  help: 'Rows of the imports that are kept, by result.',
  labelNames: ['result'],
  registers: [register],
})
const leaseAge = new Gauge({
  name: 'zaakstroom_worker_lease_age_seconds',
  help: 'Time since the last sign of life of the worker that is silent the longest.',
  registers: [register],
})
const connections = new Gauge({
  name: 'zaakstroom_database_connections',
  help: 'Connections of this service to the database, of all its processes, by what they do.',
  labelNames: ['name', 'state'],
  registers: [register],
})
const feedBehind = new Gauge({
  name: 'zaakstroom_feed_age_seconds',
  help: 'Since when the oldest change waits that no reader of the feed may see yet; a transaction that takes long holds it.',
  registers: [register],
})
const snapshotAge = new Gauge({
  name: 'zaakstroom_database_oldest_snapshot_seconds',
  help: 'Age of the oldest snapshot that a session in the database server holds: so long PostgreSQL keeps what was deleted. Only of sessions that the role of the service may see (pg_monitor: all).',
  registers: [register],
})
const contentMissing = new Gauge({
  name: 'zaakstroom_content_missing',
  help: 'Documents of which the bytes were not found in the store, and are not back.',
  registers: [register],
})
const workers = new Gauge({
  name: 'zaakstroom_workers',
  help: 'Workers that are registered; each process has two.',
  registers: [register],
})
const poolWaiting = new Gauge({
  name: 'zaakstroom_database_pool_waiting',
  help: 'Who waits in this process for a connection to the database, by pool.',
  labelNames: ['pool'],
  registers: [register],
})
const storageErrors = new Counter({
  name: 'zaakstroom_storage_errors_total',
  help: 'Faults of the document storage and of the directory of imports in this process, by code.',
  labelNames: ['what', 'code'],
  registers: [register],
})
const scans = new Counter({
  name: 'zaakstroom_scans_total',
  help: 'Contents that were put before the malware scanner in this process, by what came of it.',
  labelNames: ['result'],
  registers: [register],
})
const storageSpace = new Gauge({
  name: 'zaakstroom_storage_space_bytes',
  help: 'Bytes of the disk that documents are on, in all and free; left out for S3 and Azure.',
  labelNames: ['state'],
  registers: [register],
})
const logDropped = new Counter({
  name: 'zaakstroom_log_lines_dropped_total',
  help: 'Lines of the log that nobody read in time.',
  registers: [register],
})
const tableBytes = new Gauge({
  name: 'zaakstroom_table_bytes',
  help: 'Size of the tables that grow, with their indexes.',
  labelNames: ['table'],
  registers: [register],
})
const resealed = new Gauge({
  name: 'zaakstroom_reseal_rows',
  help: 'Rows of the last sealing with the newest key, by table: left (still to be looked at, about), seen and resealed.',
  labelNames: ['table', 'state'],
  registers: [register],
})
const sealing = new Gauge({
  name: 'zaakstroom_key_processes',
  help: 'Processes by the key: seals (they seal with it) and lacks (they do not have it). Keys that are not retired.',
  labelNames: ['key', 'state'],
  registers: [register],
})
const spooled = new Gauge({
  name: 'zaakstroom_processing_log_waiting',
  help: 'Lines of the log of processing that wait to be settled or for the collector. Beyond LOGBOEK_SPOOL_MOST requests are refused.',
  registers: [register],
})
const spoolAge = new Gauge({
  name: 'zaakstroom_processing_log_oldest_waiting_seconds',
  help: 'Age of the oldest of them; 0: none waits.',
  registers: [register],
})
const databaseUp = new Gauge({
  name: 'zaakstroom_database_up',
  help: 'Whether the database answered; without it the values that come from it are left out.',
  registers: [register],
})

const GROWING = [
  'audit',
  'verwerking',
  'change',
  'notificatie',
  'delivery_attempt',
  'delivery',
  'zaak',
  'rol',
  'enkelvoudiginformatieobject_versie',
  'import_row',
  'outgoing_request',
]
const SUBSCRIPTIONS = 100 // abonnementen with series of their own
const DELIVERED_LIVES_MS = 60_000 // counting what was delivered is the one question that grows with the table

/** What the database says, without labels: they are 0 until it is asked. */
const OF_DATABASE = [
  databaseUp,
  workers,
  leaseAge,
  oldestWaiting,
  unrecorded,
  contentMissing,
  snapshotAge,
  feedBehind,
  spooled,
  spoolAge,
]

/** What a process is started as. */
export type Role = 'api' | 'worker' | 'start'

/** Serves `/metrics`; nothing happens when no port is configured. */
export async function startMetrics(options: {
  port: number | undefined
  host: string
  role: Role
  /** Of the one database that this process is for, with its store; a process for many organisations has neither. */
  databaseUrl?: string
  store?: Store
  log: Logger
}): Promise<{ address: string; close(): Promise<void> }> {
  const { port, host, role, databaseUrl, store, log } = options
  if (port === undefined) return { address: '', ...NOTHING }
  collectDefaults()
  buildInfo.set({ version: packageJson.version, node: process.versions.node, role }, 1)
  const settings = { statement_timeout: '5000' }
  const database =
    databaseUrl === undefined
      ? undefined
      : openDatabase(databaseUrl, { max: 1, name: 'metrics', idleSeconds: 5, settings })
  const spoolOf = openSpool()
  if (!database) register.removeSingleMetric('zaakstroom_database_up')
  let delivered = { count: 0, until: 0 }
  // Nothing is not 0: alerts would take that for a database that is down, and has no worker.
  if (!database) for (const gauge of OF_DATABASE) gauge.remove()

  async function collect(): Promise<void> {
    for (const [pool, count] of waitingForConnection) poolWaiting.set({ pool }, count)
    storageErrors.reset()
    for (const { what, code, count } of storageFaults.values()) storageErrors.inc({ what, code }, count)
    scans.reset()
    for (const [result, count] of Object.entries(scanned)) scans.inc({ result }, count)
    logDropped.reset()
    logDropped.inc(droppedLines.count)
    storageSpace.reset()
    const space = await store?.space?.().catch(() => undefined)
    if (space) for (const state of ['free', 'total'] as const) storageSpace.set({ state }, space[state])
    if (database) await collectFrom(database)
  }

  async function collectFrom(database: Database): Promise<void> {
    const { sql } = database
    for (const gauge of [
      notifications,
      unrecorded,
      oldestWaiting,
      subscriptions,
      subscriptionWaiting,
      subscriptionFailed,
      subscriptionOldest,
      subscriptionFailing,
      subscriptionUnauthorized,
      jobs,
      importRows,
      leaseAge,
      workers,
      connections,
      contentMissing,
      snapshotAge,
      feedBehind,
      tableBytes,
      resealed,
      sealing,
      spooled,
      spoolAge,
    ])
      gauge.reset()
    try {
      if (performance.now() > delivered.until) {
        const row = one(
          await sql<{ count: number }[]>`
          select (select count(*) from notificatie) - (select count(distinct notificatie_id) from delivery) as count`,
        )
        delivered = { count: Math.max(0, Number(row.count)), until: performance.now() + DELIVERED_LIVES_MS }
      }
      const waiting = one(
        await sql<{ gepland: number; mislukt: number; oldest: number; external: number }[]>`
        select count(distinct notificatie_id) filter (where status = 'gepland') as gepland,
          count(distinct notificatie_id) filter (where status = 'mislukt') as mislukt,
          coalesce(extract(epoch from now() - (select aanmaakdatum from notificatie
            where id = min(notificatie_id) filter (where status = 'gepland'))), 0)::float8 as oldest,
          coalesce(extract(epoch from now() - (select aanmaakdatum from notificatie
            where id = min(notificatie_id) filter (where status = 'gepland' and abonnement_id = 0))), 0)::float8 as external
        from delivery`,
      )
      notifications.set({ status: 'gepland' }, Number(waiting.gepland))
      notifications.set({ status: 'mislukt' }, Number(waiting.mislukt))
      notifications.set({ status: 'afgeleverd' }, delivered.count)
      oldestWaiting.set(waiting.oldest)
      unrecorded.set(await countUnrecorded(sql))
      await collectSubscriptions(database)
      subscriptionOldest.set({ subscription: 'external' }, waiting.external)
      await collectKeys(database)
      const spool = await spoolOf(sql)
      spooled.set(spool.waiting)
      spoolAge.set(spool.seconds)
      const states = await sql<{ task: string; count: number; state: string }[]>`
        select task_identifier as task, count(*)::int as count,
          case when locked_at is not null then 'running' when attempts >= max_attempts then 'failed'
            when run_at > now() then 'planned' else 'waiting' end as state
        from jobs group by 1, 3`
      for (const { task, state, count } of states) jobs.set({ task, state }, count)
      const rows = one(
        await sql<{ succeeded: number; failed: number }[]>`
        select coalesce(sum(succeeded), 0)::int as succeeded, coalesce(sum(failed), 0)::int as failed from import`,
      )
      importRows.set({ result: 'geslaagd' }, rows.succeeded)
      importRows.set({ result: 'mislukt' }, rows.failed)
      const lease = one(
        await sql<{ seconds: number; count: number }[]>`
        select coalesce(extract(epoch from clock_timestamp() - min(seen_at)), 0)::float8 as seconds, count(*) as count
        from worker`,
      )
      leaseAge.set(lease.seconds)
      workers.set(lease.count)
      const backends = await sql<{ name: string; state: string; count: number }[]>`
        select application_name as name, coalesce(state, 'unknown') as state, count(*)::int as count from pg_stat_activity
        where datname = current_database() and application_name like 'zaakstroom %' group by 1, 2`
      for (const { name, state, count } of backends)
        connections.set({ name: name.slice('zaakstroom '.length), state }, count)
      snapshotAge.set(await oldestSnapshot(sql))
      const content = one(
        await sql<{ count: number }[]>`
        select count(*) as count from file where missing_since is not null`,
      )
      contentMissing.set(content.count)
      feedBehind.set((await feedAge(sql)).seconds)
      const tables = await sql<{ name: string; bytes: number }[]>`
        select name, coalesce(pg_total_relation_size(to_regclass(name)), 0) as bytes from unnest(${GROWING}::text[]) name`
      for (const { name, bytes } of tables) tableBytes.set({ table: name }, bytes)
      databaseUp.set(1)
    } catch (error) {
      log.debug({ err: error }, 'metrics without the database')
      databaseUp.set(0)
    }
  }

  const server = sideServer(async (request, response) => {
    if (request.url?.split('?', 1)[0] !== '/metrics') return void response.writeHead(404).end()
    await collect()
    response.writeHead(200, { 'content-type': register.contentType, 'cache-control': 'no-store' })
    response.end(await register.metrics())
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  const bound = server.address() as { port: number }
  return {
    address: `http://${host}:${bound.port}/metrics`,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await database?.close()
    },
  }
}

/** Who seals with which key, and how far the sealing with the newest one is. */
async function collectKeys({ sql }: Database): Promise<void> {
  const keys = await sql<{ key: string; seals: number; lacks: number }[]>`
    select k.id as key, count(h.id) filter (where h.seals = k.id)::int as seals,
      count(h.id) filter (where not k.id = any(h.keys))::int as lacks
    from data_key k left join key_holder h on h.seen_at > now() - interval '30 seconds'
    where k.retired_at is null group by 1`
  for (const { key, seals, lacks } of keys) {
    sealing.set({ key, state: 'seals' }, seals)
    sealing.set({ key, state: 'lacks' }, lacks)
  }
  const places = await sql<{ place: string; left: number; seen: number; resealed: number }[]>`
    select place, case when done_at is null then greatest(coalesce(until - position, 1), 1) else 0 end as left, seen, resealed from reseal`
  for (const { place, ...counts } of places)
    for (const state of ['left', 'seen', 'resealed'] as const) resealed.set({ table: place, state }, counts[state])
}

async function collectSubscriptions({ sql, db }: Database): Promise<void> {
  const byState = await sql<{ status: string; count: number }[]>`
    select status, count(*)::int as count from abonnement where deleted_at is null group by status`
  for (const { status, count } of byState) subscriptions.set({ state: status }, count)
  const worstFirst = order`true order by a.status = 'actief', a.failing_since nulls last, a.id limit ${SUBSCRIPTIONS}`
  const age = (moment: string | null) => (moment === null ? 0 : Math.max(0, (Date.now() - Date.parse(moment)) / 1000))
  for (const one of await readFigures(db as unknown as ReadDb, worstFirst)) {
    const subscription = { subscription: one.uuid }
    subscriptionWaiting.set(subscription, one.wachtend)
    subscriptionFailed.set(subscription, one.mislukt)
    subscriptionOldest.set(subscription, age(one.oudsteWachtendeOp))
    subscriptionFailing.set(subscription, age(one.failingSince))
    subscriptionUnauthorized.set(subscription, one.lastHttpStatus === 401 || one.lastHttpStatus === 403 ? 1 : 0)
  }
}

let hasDefaults = false

function collectDefaults(): void {
  if (!hasDefaults) collectDefaultMetrics({ register, prefix: 'zaakstroom_' })
  hasDefaults = true
}
