// retention: daily. Removes imports and notifications whose term is over, uploads that nobody imported, and stored bytes
// that nothing refers to. When the clock of the database has jumped it removes nothing until a person starts it.
import type { Task } from 'graphile-worker'
import { sql, type UpdateObject } from 'kysely'
import type { Logger } from 'pino'
import Type, { type Static } from 'typebox'
import type { Config } from '../src/config.ts'
import type { Database } from '../src/database/database.ts'
import { one } from '../src/database/rows.ts'
import type { DB } from '../src/database/types.ts'
import { deleteImportRow, holdImport } from '../src/documenten/import/control.ts'
import { deleteOldDrafts } from '../src/documenten/import/draft.ts'
import type { Stores } from '../src/documenten/storage/choose.ts'
import { forgetOthers, neededKeys, ripeBytes, usedBackends } from '../src/documenten/storage/files.ts'
import { StoreUnavailable, sweep } from '../src/documenten/storage/index.ts'
import { requireOwnStore } from '../src/documenten/storage/owner.ts'
import { removeSnapshots } from '../src/feed/snapshots.ts'
import { readInput } from '../src/http/input.ts'
import { enqueue } from '../src/jobs/queue.ts'
import { deleteOldEvents, deleteOldMessages } from '../src/notificaties/resend.ts'
import { deleteEndedAbonnementen } from '../src/nrc/abonnement/write.ts'
import { clockGap, isOldImport } from '../src/operations/retention.ts'
import { deleteOldErrors } from '../src/operations/server-errors.ts'
import { deleteOldLines } from '../src/services/request-log.ts'

const Payload = Type.Object({ door: Type.Optional(Type.String()) })
declare global {
  namespace GraphileWorker {
    interface Tasks {
      retention: Static<typeof Payload>
    }
  }
}

type Parts = Stores & { config: Config; database: Database; log: Logger }

const RUNS = 100

export function retention(parts: Parts): Task {
  const { database, config, log } = parts
  return async (payload) => {
    const { door = '' } = readInput(Payload, payload)
    const { id } = await database.db
      .insertInto('retentionRun')
      .values({ startedBy: door })
      .returning('id')
      .executeTakeFirstOrThrow()
    // What was done before a fault stays done, so it is written down part by part.
    const note = (done: UpdateObject<DB, 'retentionRun'>) =>
      database.db.updateTable('retentionRun').set(done).where('id', '=', id).execute()
    const stopped = door === '' ? await clockGap(database.sql) : undefined
    if (stopped) {
      log.error(
        stopped,
        'retention stopped: by the clock of the database too long ago was the last; start it from the pages',
      )
      const fault = `Gestopt, er is niets verwijderd: de vorige opruiming was volgens de klok van de database ${stopped.days} dagen geleden. Klopt de datum van de server, voer het opruimen dan zelf uit.`
      await note({ fault, endedAt: sql`clock_timestamp()` })
      return
    }
    try {
      const imports = await deleteOldImports(parts)
      await note({ imports })
      await deleteOldDrafts(database.db)
      await deleteEndedAbonnementen(database)
      await deleteOldErrors(database)
      await deleteOldLines(database, config.outgoingLogRetentionDays)
      // Whether there is a feed stands in the database, where `migrate` and `start` switch it: a worker with 0 beside it removes nothing.
      if (config.feedDays > 0) await removeOldChanges(database, config.feedDays)
      await removeSnapshots(database, config.feedSnapshotDays)
      await removeOldLines(database, config)
      await deleteOldEvents(database.db, config.notificationDaysRetained)
      const notificaties = await deleteOldMessages(database.db, config.notificationDaysRetained)
      await note({ notificaties })
      const { skipped, ...swept } = await sweepOrphans(parts)
      await note({
        files: swept.removed,
        unfinished: swept.unfinished,
        skipped,
        endedAt: sql`clock_timestamp()`,
      })
      log.info({ imports, notificaties, ...swept }, 'retention done')
    } catch (error) {
      const fault = 'De worker kon het opruimen niet afmaken. De oorzaak staat in zijn logboek.'
      await note({ fault, endedAt: sql`clock_timestamp()` }).catch(() => {}) // the database may be what failed
      throw error
    }
    await database.db
      .deleteFrom('retentionRun')
      .where('id', '<=', id - RUNS)
      .execute()
  }
}

const PORTION = 20_000

/** Removes changes whose term is over from the feed. */
async function removeOldChanges({ sql }: Database, days: number): Promise<void> {
  for (;;) {
    const found = one(
      await sql<{ removed: number | null }[]>`
      select remove_changes(make_interval(days => ${days}::int), ${PORTION}::int) as removed`,
    )
    if ((found.removed ?? 0) < PORTION) return
  }
}

/** Removes lines of the log of processing whose term is over, the oldest first; not those that the collector still has to get or refused. */
export async function removeOldLines(
  { sql }: Pick<Database, 'sql'>,
  config: Pick<Config, 'logboekRetentionDays' | 'logboekEndpoint'>,
): Promise<void> {
  const keepsSpooled = config.logboekEndpoint !== undefined
  for (;;) {
    const { count } = await sql`
      with oldest as materialized (
        select id, at from verwerking v where not exists (select from verwerking_aside a where a.id = v.id) order by id limit ${PORTION}
      ),
      over as (
        select id from oldest where at < now() - make_interval(days => ${config.logboekRetentionDays}::int)
          and (not ${keepsSpooled}::boolean or id < coalesce((select first_id from verwerking_spool order by last_id limit 1), id + 1))
      )
      delete from verwerking where id in (select id from over)`
    if (count < PORTION) break
  }
  await sql`delete from verwerking_block where last_id < (select min(id) from verwerking)`
  await sql`delete from verwerking_spool where last_id < (select min(id) from verwerking)`
}

/** Removes imports whose term is over. */
export async function deleteOldImports({ config, database }: Pick<Parts, 'config' | 'database'>): Promise<number> {
  return database.db.transaction().execute(async (trx) => {
    const old = await trx
      .selectFrom('import')
      .where(isOldImport(config))
      .select(['id', 'status'])
      .forUpdate()
      .skipLocked()
      .execute()
    let deleted = 0
    for (const row of old) {
      if (!(await holdImport(trx, row.id))) continue // it is being uploaded right now
      await deleteImportRow({ trx, enqueue: (...job) => enqueue(trx, ...job) }, row)
      deleted++
    }
    return deleted
  })
}

/** Bytes that a crash left without a row, in every store that we use. One that is away does not hold up the others. */
async function sweepOrphans(parts: Parts) {
  const total = { seen: 0, removed: 0, unfinished: 0, skipped: [] as string[] }
  for (const backend of await usedBackends(parts)) {
    // A full store beside a database without documents is one that belongs to another database.
    const [known] = await parts.database.sql`select from file where backend = ${backend} limit 1`
    if (!known) continue
    try {
      const { sql } = parts.database
      const begin = one(await sql<{ op: string }[]>`select now() as op`)
      await requireOwnStore(sql, parts.storeFor(backend))
      const swept = await sweep(parts.storeFor(backend), {
        known: (keys) => neededKeys(sql, parts.storeFor, backend, keys),
        ripe: (names, unfinished) => ripeBytes(sql, backend, names, { unfinished }),
      })
      await forgetOthers(sql, backend, begin.op)
      for (const name of ['seen', 'removed', 'unfinished'] as const) total[name] += swept[name]
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      total.skipped.push(backend)
      parts.log.warn({ backend, code: error.code }, 'a document storage was not swept')
    }
  }
  return total
}
