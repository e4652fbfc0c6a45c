// bewaartermijnen: daily. Removes imports and notifications whose term is over, and stored bytes that nothing refers to.
import type { Task } from 'graphile-worker'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { Config } from '../src/config.ts'
import type { Database } from '../src/database.ts'
import { removeImport } from '../src/documenten/import/index.ts'
import { type Opslag, sweep } from '../src/documenten/opslag/index.ts'
import { removeOldNotificaties } from '../src/notificaties/plannen.ts'
import { enqueue } from '../src/queue.ts'

declare global {
  namespace GraphileWorker {
    interface Tasks {
      bewaartermijnen: Record<string, never>
    }
  }
}

type Parts = { config: Config; database: Database; opslag: Opslag; log: Logger }

export function bewaartermijnen(parts: Parts): Task {
  return async () => {
    const imports = await removeOldImports(parts)
    const notificaties = await removeOldNotificaties(parts.database.db, parts.config.notificationDaysRetained)
    const swept = await sweepOrphans(parts)
    parts.log.info({ imports, notificaties, ...swept }, 'retention done')
  }
}

/** Imports that ended, or that were made and never got a file, more than IMPORT_RETENTION_DAYS ago. */
export async function removeOldImports({ config, database }: Pick<Parts, 'config' | 'database'>): Promise<number> {
  return database.db.transaction().execute(async (trx) => {
    const old = await trx
      .selectFrom('import')
      .where('status', '!=', 'active')
      .where('verwijderdOp', 'is', null)
      .where(
        sql<boolean>`coalesce(beeindigd_op, gemaakt_op) < now() - make_interval(days => ${config.importRetentionDays})`,
      )
      .select('id')
      .forUpdate()
      .skipLocked() // one that is being uploaded right now
      .execute()
    for (const { id } of old) await removeImport({ trx, enqueue: (...job) => enqueue(trx, ...job) }, id)
    return old.length
  })
}

const GRACE_MS = 24 * 3600 * 1000 // longer than any upload or batch takes between its bytes and its row

/** Bytes that a crash left without a row. */
async function sweepOrphans({ database, opslag }: Parts) {
  return sweep(opslag, {
    olderThan: new Date(Date.now() - GRACE_MS),
    known: async (keys) => {
      const rows = await database.db
        .selectFrom('bestand')
        .where('backend', '=', opslag.backend)
        .where('sleutel', 'in', keys)
        .select('sleutel')
        .execute()
      return new Set(rows.map(({ sleutel }) => sleutel))
    },
  })
}
