// What the notifications service that is built in needs before it is used.
import type { Config } from '../config.ts'
import { EXTERNAL } from '../core/outbox.ts'
import type { Database } from '../database/database.ts'
import { ensureOwnKanalen } from './kanalen.ts'

/**
 * Makes our own kanalen, and lets the setting NOTIFICATIES_MODE count. Without it the mode stays what it is; `preferred` is for
 * a database to which no notifications service was ever named.
 */
export async function prepareNrc(database: Database, config: Config): Promise<void> {
  await ensureOwnKanalen(database, config)
  const mode = config.notificatiesMode
  if (mode) await changeMode(database, mode)
}

/** Without any setting a service that stands alone delivers to its own abonnementen: `start` and the demo. */
export async function preferBuiltIn(database: Database, config: Config): Promise<void> {
  if (config.notificatiesMode) return
  const { sql } = database
  const [open] = await sql`select from notificatie_settings where mode = 'extern' and configured_service_id is null`
  if (open) await changeMode(database, 'ingebouwd')
}

/**
 * What was made before, such as by a command of a new installation, waits for a notifications service that was never named, and that
 * nobody asks any more: it would wait for ever, and is dropped.
 */
async function changeMode({ sql }: Database, mode: string): Promise<void> {
  await sql`
    with changed as (
      update notificatie_settings set mode = ${mode} where mode <> ${mode} returning configured_service_id
    )
    delete from delivery l using changed c
    where ${mode} = 'ingebouwd' and c.configured_service_id is null and l.abonnement_id = ${EXTERNAL}`
}
