// bewaartermijnen: daily. Removes imports and notifications whose term is over, uploads that nobody imported, and stored bytes
// that nothing refers to.
import type { Task } from 'graphile-worker'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { Config } from '../src/config.ts'
import type { Database } from '../src/database.ts'
import { removeOldConcepten } from '../src/documenten/import/concept.ts'
import { removeImport } from '../src/documenten/import/index.ts'
import { GRACE_MS, neededSleutels, usedBackends } from '../src/documenten/opslag/bestanden.ts'
import { OpslagOnbeschikbaar, sweep } from '../src/documenten/opslag/index.ts'
import type { Opslagen } from '../src/documenten/opslag/kiezen.ts'
import { removeOldNotificaties } from '../src/notificaties/plannen.ts'
import { enqueue } from '../src/queue.ts'

declare global {
  namespace GraphileWorker {
    interface Tasks {
      bewaartermijnen: Record<string, never>
    }
  }
}

type Parts = Opslagen & { config: Config; database: Database; log: Logger }

export function bewaartermijnen(parts: Parts): Task {
  return async () => {
    const imports = await removeOldImports(parts)
    await removeOldConcepten(parts.database.db)
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

/** Bytes that a crash left without a row, in every store that we use. One that is away does not hold up the others. */
async function sweepOrphans(parts: Parts) {
  const total = { seen: 0, removed: 0, unfinished: 0 }
  for (const backend of await usedBackends(parts)) {
    try {
      const swept = await sweep(parts.opslagVoor(backend), {
        olderThan: new Date(Date.now() - GRACE_MS),
        known: (sleutels) => neededSleutels(parts.database.sql, backend, sleutels),
      })
      for (const name of ['seen', 'removed', 'unfinished'] as const) total[name] += swept[name]
    } catch (error) {
      if (!(error instanceof OpslagOnbeschikbaar)) throw error
      parts.log.warn({ backend, code: error.code }, 'a document storage was not swept')
    }
  }
  return total
}
