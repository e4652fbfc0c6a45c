// The database of a subcommand that does one thing and ends.
import type { Logger } from 'pino'
import { readStored } from '../config/stored.ts'
import type { Config } from '../config.ts'
import { agreeOnKey, requireKeys } from '../core/key-register.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { type Database, openDatabase } from '../database/database.ts'
import { migrate } from '../database/migrate.ts'
import { openLog } from '../telemetry/log.ts'
import { readOwnConfig } from './control.ts'
import { findSecretBox, openServer } from './server.ts'

/**
 * Runs `work` on the database of the configuration, also beside a running `start`.
 * @param connections how many it may use at once
 */
export async function withDatabase<T>(
  work: (database: Database, config: Config) => Promise<T>,
  connections = 2,
): Promise<T> {
  const config = await readOwnConfig()
  const log = openLog('silent')
  const server = await openServer(config, log)
  const database = openDatabase(server.url, { max: connections, name: 'command' })
  try {
    if (!config.databaseUrl) await migrate(server.url)
    return await work(database, await withStoredSettings(config, database, log))
  } finally {
    await database.close()
    await server.stop()
  }
}

/** A database without the table is one that has yet to be migrated: what the command does tells so. */
async function withStoredSettings(config: Config, database: Database, log: Logger): Promise<Config> {
  const [table] = await database.sql<{ present: boolean }[]>`select to_regclass('setting') is not null as present`
  return table?.present ? readStored(config, database, log) : config
}

/**
 * The key of a command.
 * @param make make one when there is none
 * @throws WrongKey when the database was written with another
 */
export async function databaseBox(database: Database, config: Config, make = false): Promise<SecretBox> {
  const box = await findSecretBox(config, make)
  database.useNumbers(box.numbers)
  await requireKeys(database.sql, box)
  await agreeOnKey(database.sql, box)
  return box
}
