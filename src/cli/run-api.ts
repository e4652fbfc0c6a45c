// The HTTP side: opening its parts, listening and stopping.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ManyParts, Parts } from '../app/parts.ts'
import { buildApp } from '../app.ts'
import { ensureBootstrapClient } from '../autorisaties/clients.ts'
import { openCredentialStore } from '../autorisaties/credentials.ts'
import { openIssuerStore } from '../autorisaties/issuers/store.ts'
import { openTokenEndpoint } from '../autorisaties/token-endpoint/endpoint.ts'
import { ensureBootstrapAdmin } from '../beheer/accounts/accounts.ts'
import { openLiveSettings } from '../config/stored.ts'
import type { Config } from '../config.ts'
import { useKeys } from '../core/key-register.ts'
import { isShort, type SecretBox } from '../core/secret-box.ts'
import { type Database, openDatabase } from '../database/database.ts'
import { tellOfHosts } from '../database/primary.ts'
import { requireConnections } from '../database/reach.ts'
import { openReplica, type Replica } from '../database/replica.ts'
import { expected } from '../database/rows.ts'
import { searchPathOf } from '../database/schema.ts'
import { requireSession } from '../database/session.ts'
import { requireImportBaseDir } from '../documenten/import/base-dir.ts'
import { openRoom } from '../documenten/storage/room.ts'
import { announceWriter } from '../documenten/storage/writers.ts'
import { fillSettings } from '../notificaties/settings.ts'
import { preferBuiltIn, prepareNrc } from '../nrc/start.ts'
import { watchWorkers } from '../operations/alerts/watch-workers.ts'
import { announceSettings } from '../operations/process-settings.ts'
import { configOf, type Organisation } from '../organisations/organisation.ts'
import { openOverview } from '../organisations/overview.ts'
import { isOwn, requireOwner } from '../organisations/owner.ts'
import { controlUrlOf, openControl, openRegistry } from '../organisations/registry.ts'
import { type Opened, openOrganisations } from '../organisations/serve.ts'
import { openServices } from '../services/services.ts'
import { checkConnections, checkSchema, openStore } from './processes.ts'
import { findSecretBox, NEVER, type Running } from './server.ts'

/**
 * Runs the HTTP side. Resolves when it listens; `address` is where.
 * @param options.alone with a database of its own, for which nobody may have named a notifications service
 */
export async function runApi(
  given: Config,
  url: string,
  box: SecretBox,
  log: Logger,
  { alone = false } = {},
): Promise<Listening> {
  const opened = new AsyncDisposableStack()
  tellOfHosts(log)
  try {
    await checkConnections(given, log, true)
    const { parts, close } = await openParts(given, url, box, log, { alone })
    opened.defer(close)
    return await listenWith(parts, opened)
  } catch (error) {
    await opened.disposeAsync()
    throw error
  }
}

/** The same for all organisations of the registry that CONTROL_DATABASE_URL names. */
export async function runApiOfMany(given: Config, controlUrl: string, box: SecretBox, log: Logger): Promise<Listening> {
  const opened = new AsyncDisposableStack()
  tellOfHosts(log)
  try {
    await requireConnections([{ setting: 'CONTROL_DATABASE_URL', url: controlUrlOf(controlUrl) }], log)
    const { parts, close } = await openMany(given, process.env, controlUrl, box, log)
    opened.defer(close)
    return await listenWith(parts, opened)
  } catch (error) {
    await opened.disposeAsync()
    throw error
  }
}

/**
 * Opens what the application of many is made of: the registry, and nothing of an organisation yet.
 * @param env the environment of the installation
 * @param options.quietMs after how long of quiet one is closed
 */
export async function openMany(
  config: Config,
  env: NodeJS.ProcessEnv,
  controlUrl: string,
  box: SecretBox,
  log: Logger,
  options: { quietMs?: number } = {},
): Promise<Opened<ManyParts>> {
  const opened = new AsyncDisposableStack()
  try {
    const control = openControl(controlUrl)
    opened.defer(control.close)
    const registry = await openRegistry(control, box, log)
    opened.defer(registry.close)
    const configs = new WeakMap<Organisation, Config>()
    const configNow = (organisation: Organisation): Config => {
      const found = configs.get(organisation) ?? configOf(env, organisation)
      configs.set(organisation, found)
      return found
    }
    const open = async (organisation: Organisation, log: Logger) => {
      const own = configNow(organisation)
      const isReadOnly = organisation.state !== 'active'
      const ring = await findSecretBox(own, false)
      const opened = await openParts(own, expected(own.databaseUrl), ring, log, {
        isLean: true,
        isReadOnly,
        rsin: organisation.rsin,
      })
      const { answers, sql } = opened.parts.database
      return { ...opened, answers: async () => (await answers()) && (await isOwn(sql, organisation.rsin, log)) }
    }
    const organisations = openOrganisations<Parts>({ registry, open, log, ...options })
    opened.defer(organisations.close)
    const baseOf = (organisation: Organisation): string => {
      try {
        return configNow(organisation).publicUrl ?? ''
      } catch {
        return config.publicUrl ?? '' // what is wrong with its settings is told when it is opened
      }
    }
    const overview = openOverview(control, registry, organisations, config)
    const parts = { config, organisations, baseOf, control, registry, box, overview, log }
    return { parts, close: () => opened.disposeAsync() }
  } catch (error) {
    await opened.disposeAsync()
    throw error
  }
}

type Listening = Running & { address: string }

async function listenWith(parts: Parts | ManyParts, opened: AsyncDisposableStack): Promise<Listening> {
  const { host, port, stopDelaySeconds } = parts.config
  const app = await buildApp(parts)
  opened.defer(() => app.close())
  const address = await app.listen({ host, port })
  return {
    address,
    failed: NEVER,
    stop: async () => {
      app.announceStop()
      await sleep(stopDelaySeconds * 1000)
      await opened.disposeAsync()
    },
  }
}

/**
 * Opens what the application of one organisation is made of.
 * @param options.isLean one of many, with a bound on its connections
 * @param options.isReadOnly nothing is written to begin with
 */
async function openParts(
  given: Config,
  url: string,
  box: SecretBox,
  log: Logger,
  {
    alone = false,
    isLean = false,
    isReadOnly = false,
    rsin,
  }: { alone?: boolean; isLean?: boolean; isReadOnly?: boolean; rsin?: string } = {},
): Promise<Opened<Parts>> {
  const opened = new AsyncDisposableStack()
  try {
    const database = openDatabase(url, {
      max: given.databasePoolSize,
      name: 'api',
      pooler: given.databasePoolerUrl,
      ...(isLean && { idleSeconds: 30 }),
    })
    opened.defer(database.close)
    // A pooler may have dropped which schema was asked for: then nothing is served.
    const ask = (text: string, names: string) =>
      database.sql.unsafe<{ name: string; value: string | null; role: string }[]>(text, [names])
    if (isLean) await requireSession(ask, 'the organisation', searchPathOf(url))
    requireImportBaseDir(given, log, isLean ? 'debug' : 'warn')
    await checkSchema(database, log)
    if (rsin !== undefined) await requireOwner(database.sql, rsin)
    const settings = await openLiveSettings(given, database, log)
    opened.defer(settings.close)
    const { config } = settings
    await checkSession(database, log)
    const keys = await useKeys(database, box, log)
    opened.defer(keys.close)
    const isUsable = keys.isUsable && !isReadOnly
    if (config.bootstrapClient && isUsable) {
      if (isShort(config.bootstrapClient.secret)) log.warn('BOOTSTRAP_CLIENT_SECRET has fewer than 32 characters')
      await ensureBootstrapClient(database, box, config.bootstrapClient, config)
    }
    if (config.bootstrapAdmin) await ensureBootstrapAdmin(database, config.bootstrapAdmin)
    if (isUsable) await fillSettings(database, box, config)
    if (!isReadOnly) await prepareNrc(database, config)
    if (alone) await preferBuiltIn(database, config)
    const credentials = await openCredentialStore(database, box, log)
    opened.defer(credentials.close)
    const issuers = await openIssuerStore(database, config, log)
    opened.defer(issuers.close)
    const tokenEndpoint = openTokenEndpoint({ database, config, credentials, box, log })
    if (tokenEndpoint) opened.defer(tokenEndpoint.close)
    const services = openServices(database, box, config, log)
    opened.defer(services.close)
    const stores = await openStore(config, database, log, !isReadOnly)
    if (!isReadOnly) opened.defer((await announceWriter(database, stores.store, log)).close)
    const shared = isLean ? undefined : await announceSettings(database, config, 'api', log)
    if (shared) opened.defer(shared.close)
    const room = openRoom(database.sql, config.storageMaxBytes)
    const replica = openReplicaOf(config, database, log)
    if (replica) opened.defer(replica.close)
    // A worker for many is registered only where there is work.
    if (!isLean) opened.defer(watchWorkers({ database, config, box, log }).close)
    const parts = {
      config,
      settings,
      database,
      replica,
      ...stores,
      ...(room && { store: room.within(stores.store) }),
      credentials,
      issuers,
      tokenEndpoint,
      box,
      shared,
      services,
      log,
    }
    return { parts, close: () => opened.disposeAsync() }
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

/** What a session has to bring with it comes from the configuration of the pooler, if there is one: without it nothing ends. */
async function checkSession({ sql }: Database, log: Logger): Promise<void> {
  const missing = await sql<{ name: string }[]>`
    select name from unnest(${['statement_timeout', 'idle_in_transaction_session_timeout']}::text[]) name
    where current_setting(name) = '0'`
  if (missing.length > 0)
    log.warn({ missing: missing.map(({ name }) => name) }, 'the pooler sets no limit for these: see its connect_query')
}
