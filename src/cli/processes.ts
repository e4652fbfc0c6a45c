// What the processes that serve have in common. Each loads its own side only: run-api.ts or run-worker.ts.
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Database } from '../database/database.ts'
import { awaitSchema } from '../database/migrate.ts'
import { requireConnections } from '../database/reach.ts'
import { requireRights } from '../database/rights.ts'
import { openStores, prepareNewStore, requirePackages, type Stores } from '../documenten/storage/choose.ts'
import { StoreUnavailable } from '../documenten/storage/index.ts'
import { keepMark } from '../documenten/storage/mark.ts'
import { claimStore, ForeignStore } from '../documenten/storage/owner.ts'
import { type Role, startMetrics } from '../operations/metrics-server.ts'
import { NEVER, type Running } from './server.ts'

/**
 * The document stores. One that cannot be used now does not keep the process from starting: `/readyz` tells of it.
 * @param mayClaim the store becomes that of this database, when it is nobody's
 * @throws PackageMissing
 */
export async function openStore(config: Config, database: Database, log: Logger, mayClaim = true): Promise<Stores> {
  await requirePackages(config.documentenBackend)
  try {
    await prepareNewStore(config, database, config.documentenBackend)
    if (mayClaim) {
      const store = openStores(config, log).storeFor(config.documentenBackend)
      await claimStore(database.sql, store)
      if (await keepMark(database.sql, store, true))
        log.warn('the database was restored: positions of before are refused')
    }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    const { code } = error
    const text = error instanceof ForeignStore ? error.message : 'the document storage cannot be set up'
    log.error({ backend: config.documentenBackend, code }, text)
  }
  return openStores(config, log)
}

/**
 * The connections that a process needs, tried before anything else. The embedded database has just been started.
 * @throws ConnectionRefused, SessionFault or DatabaseAway
 */
export async function checkConnections(
  { databaseUrl, databasePoolerUrl }: Config,
  log: Logger,
  isApi: boolean,
): Promise<void> {
  if (!databaseUrl) return
  const direct = { setting: databasePoolerUrl ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL', url: databaseUrl }
  const pooler =
    databasePoolerUrl && isApi ? [{ setting: 'DATABASE_URL', url: databasePoolerUrl, isPooled: true as const }] : []
  await requireConnections([...pooler, direct], log)
}

/** @throws SchemaError when the program cannot work with the schema of the database; RightsMissing when its role may not */
export async function checkSchema(database: Database, log: Logger): Promise<void> {
  const newer = await awaitSchema(database.sql, log)
  if (newer.length > 0) log.warn({ newer }, 'the schema of the database is newer than this version: upgrade soon')
  await requireRights(database.sql)
}

/** Metrics of this process, when a port is configured for them. @param url of the database that it is for, if it is one */
export async function runMetrics(config: Config, role: Role, url: string | undefined, log: Logger): Promise<Running> {
  const { metricsPort: port, host } = config
  const one = url === undefined ? {} : { databaseUrl: url, store: openStores(config, log).store }
  const metrics = await startMetrics({ port, host, role, ...one, log })
  return { stop: metrics.close, failed: NEVER }
}
