// The HTTP side: opening its parts, listening and stopping.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { buildApp, type Parts } from '../app.ts'
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
import { openReplica, type Replica } from '../database/replica.ts'
import { requireImportBaseDir } from '../documenten/import/base-dir.ts'
import { fillSettings } from '../notificaties/settings.ts'
import { preferBuiltIn, prepareNrc } from '../nrc/start.ts'
import { watchWorkers } from '../operations/alerts/watch-workers.ts'
import { openServices } from '../services/services.ts'
import { checkConnections, checkSchema, openStore } from './processes.ts'
import { NEVER, type Running } from './server.ts'

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
): Promise<Running & { address: string }> {
  const opened = new AsyncDisposableStack()
  tellOfHosts(log)
  try {
    await checkConnections(given, log, true)
    const database = openDatabase(url, { max: given.databasePoolSize, name: 'api', pooler: given.databasePoolerUrl })
    opened.defer(database.close)
    requireImportBaseDir(given, log)
    await checkSchema(database, log)
    const settings = await openLiveSettings(given, database, log)
    opened.defer(settings.close)
    const { config } = settings
    await checkSession(database, log)
    const keys = await useKeys(database, box, log)
    opened.defer(keys.close)
    const { isUsable } = keys
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
    const issuers = await openIssuerStore(database, config, log)
    opened.defer(issuers.close)
    const tokenEndpoint = openTokenEndpoint({ database, config, credentials, box, log })
    if (tokenEndpoint) opened.defer(tokenEndpoint.close)
    const services = openServices(database, box, config, log)
    opened.defer(services.close)
    const stores = await openStore(config, database, log)
    const replica = openReplicaOf(config, database, log)
    if (replica) opened.defer(replica.close)
    const parts: Parts = {
      config,
      settings,
      database,
      replica,
      ...stores,
      credentials,
      issuers,
      tokenEndpoint,
      box,
      services,
      log,
    }
    opened.defer(watchWorkers({ database, config, box, log }).close)
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

/** What a session has to bring with it comes from the configuration of the pooler, if there is one: without it nothing ends. */
async function checkSession({ sql }: Database, log: Logger): Promise<void> {
  const missing = await sql<{ name: string }[]>`
    select name from unnest(${['statement_timeout', 'idle_in_transaction_session_timeout']}::text[]) name
    where current_setting(name) = '0'`
  if (missing.length > 0)
    log.warn({ missing: missing.map(({ name }) => name) }, 'the pooler sets no limit for these: see its connect_query')
}
