// What the notifications service that is built in needs before it is used.
import type { Config } from '../config.ts'
import type { Database } from '../database/database.ts'
import { ensureOwnKanalen } from './kanalen.ts'

/**
 * Makes our own kanalen, and lets the setting NOTIFICATIES_MODE count. Without it the mode stays what it is; `preferred` is for
 * a database to which no notifications service was ever named.
 */
export async function prepareNrc(database: Database, config: Config): Promise<void> {
  await ensureOwnKanalen(database, config)
  const mode = config.notificatiesMode
  if (mode) await database.sql`update notificatie_settings set modus = ${mode} where modus <> ${mode}`
}

/** Without any setting a service that stands alone delivers to its own abonnementen: `start` and the demo. */
export async function preferBuiltIn(database: Database, config: Config): Promise<void> {
  if (config.notificatiesMode) return
  await database.sql`
    update notificatie_settings set modus = 'ingebouwd' where modus = 'extern' and configured_service_id is null`
}
