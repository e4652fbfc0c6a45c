// The database of a subcommand that does one thing and ends.
import { readStored } from '../config/stored.ts'
import type { Config } from '../config.ts'
import { agreeOnKey, requireKeys } from '../core/key-register.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { type Database, openDatabase } from '../database/database.ts'
import { requireKnownSchema } from '../database/migrate.ts'
import { openLog } from '../telemetry/log.ts'
import { readOwn, readOwnConfig } from './control.ts'
import { describePlace, type Place, placeOf } from './place.ts'
import { findSecretBox, openServer } from './server.ts'

/**
 * Runs `work`, which only looks, on the database of the configuration, also beside a running `start`. Nothing is made: neither
 * a database nor its tables.
 * @param connections how many it may use at once
 * @throws ConfigError without a database, and SchemaError when this version cannot work with its schema
 */
export function withDatabase<T>(work: (database: Database, config: Config) => Promise<T>, connections = 2): Promise<T> {
  return onDatabase(work, connections, async () => {})
}

/** It may be a standby, or a service that its operators keep still. */
export class ReadOnly extends Error {
  override message = 'the database is read-only: nothing can be changed in it'
}

/** The same for work that changes something: it is told where that is. @throws ReadOnly before anything is done */
export function changeDatabase<T>(
  work: (database: Database, config: Config) => Promise<T>,
  connections = 2,
): Promise<T> {
  return onDatabase(work, connections, async (place, { sql }) => {
    const [state] = await sql<{ still: boolean }[]>`select current_setting('transaction_read_only') = 'on' as still`
    if (state?.still) throw new ReadOnly()
    console.error(`zaakstroom: changes ${describePlace(place)}`)
  })
}

/** What `--dry-run` makes of it: work that changes nothing and says so. */
export const planned = ({ dryRun }: { dryRun?: boolean | undefined }) => (dryRun ? withDatabase : changeDatabase)

async function onDatabase<T>(
  work: (database: Database, config: Config) => Promise<T>,
  connections: number,
  tell: (place: Place, database: Database) => Promise<void>,
): Promise<T> {
  const config = await readOwnConfig()
  const log = openLog('silent')
  const server = await openServer(config, log)
  const database = openDatabase(server.url, { max: connections, name: 'command' })
  try {
    await requireKnownSchema(database.sql)
    await tell(placeOf(config, server.url), database)
    return await work(database, await readStored(config, database, log))
  } finally {
    await database.close()
    await server.stop()
  }
}

export type Located = {
  /** With the stored settings, when they could be read. */
  config: Config
  /** What the organisation has of its own, by the names of settings. */
  ownSettings: ReadonlySet<string>
  place?: Place
  /** Why commands would be refused. */
  fault?: unknown
}

/** Where commands work, also when they cannot. */
export async function locate(): Promise<Located> {
  const { config, ownSettings } = await readOwn()
  const found: Located = { config, ownSettings }
  try {
    const log = openLog('silent')
    const server = await openServer(config, log)
    found.place = placeOf(config, server.url)
    const database = openDatabase(server.url, { max: 1, name: 'command' })
    try {
      await requireKnownSchema(database.sql)
      found.config = await readStored(config, database, log)
    } finally {
      await database.close()
      await server.stop()
    }
  } catch (fault) {
    found.fault = fault
  }
  return found
}

/**
 * The key of a command.
 * @throws ConfigError without a key, and WrongKey when the database was written with another
 */
export async function databaseBox(database: Database, config: Config): Promise<SecretBox> {
  const box = await findSecretBox(config, false)
  database.useNumbers(box.numbers)
  await requireKeys(database.sql, box)
  await agreeOnKey(database.sql, box)
  return box
}
