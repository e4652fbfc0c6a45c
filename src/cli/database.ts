// The database of a subcommand that does one thing and ends.
import type { SecretBox } from '../autorisaties/secret-box.ts'
import { requireKey } from '../autorisaties/secret-key.ts'
import { type Config, readConfig } from '../config.ts'
import { type Database, openDatabase } from '../database/database.ts'
import { migrate } from '../database/migrate.ts'
import { openLog } from '../telemetry/log.ts'
import { findSecretBox, openServer } from './processes.ts'

/**
 * Runs `work` on the database of the configuration, also beside a running `start`.
 * @param connections how many it may use at once
 */
export async function withDatabase<T>(
  work: (database: Database, config: Config) => Promise<T>,
  connections = 2,
): Promise<T> {
  const config = readConfig(process.env)
  const server = await openServer(config, openLog('silent'))
  const database = openDatabase(server.url, { max: connections, name: 'command' })
  try {
    if (!config.databaseUrl) await migrate(server.url)
    return await work(database, config)
  } finally {
    await database.close()
    await server.stop()
  }
}

/**
 * The key of a command.
 * @param make make one when there is none
 * @throws WrongKey when the database was written with another
 */
export async function databaseBox(database: Database, config: Config, make = false): Promise<SecretBox> {
  const box = await findSecretBox(config, make)
  await requireKey(database.sql, box)
  return box
}
