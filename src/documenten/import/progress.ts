// The course of an import after its upload. One job does one batch; its transaction holds the documents, the results of
// the rows, the counters and the job of the next batch, so that a crash repeats a batch that left nothing behind, and
// nothing else. The counter `processed` is the position: a job whose `start` differs from it is a leftover and does nothing.
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { isUniqueViolation } from '../../database/error-codes.ts'
import { enqueue } from '../../jobs/queue.ts'
import { askReceipt } from './receipt.ts'

/** `rowByRowUntil`: up to this position the rows are handled one at a time, since a batch of them killed its workers. */
export type Batch = { import: string; start: number; rowByRowUntil?: number }

/** Attempts of one batch before the import ends as `error`. Waiting for storage or database does not count. */
const BATCH_ATTEMPTS = 6

/** Queues the job of a batch in place of the one that this import has waiting: no two of them wait at once. */
export function enqueueBatch(trx: Db, batch: Batch, delaySeconds = 0): Promise<void> {
  return enqueue(trx, 'import-batch', batch, {
    jobKey: `import:${batch.import}`,
    maxAttempts: BATCH_ATTEMPTS,
    delaySeconds,
  })
}

/** Moves the position behind a batch, which ends the import when it was the last. @returns whether it did */
export async function advance(trx: Db, id: number, batch: { handled: number; made: number }): Promise<boolean> {
  const isDone = sql<boolean>`processed + ${batch.handled} >= total`
  const { status } = await trx
    .updateTable('import')
    .set((eb) => ({
      processed: eb('processed', '+', batch.handled),
      succeeded: eb('succeeded', '+', batch.made),
      status: sql`case when ${isDone} then 'finished' else status end`,
      endedAt: sql`case when ${isDone} then now() end`,
      updatedAt: sql`now()`,
      reason: null,
    }))
    .where('id', '=', id)
    .returning('status')
    .executeTakeFirstOrThrow()
  await sql`
    insert into import_figure as f (import_id, at, handled, failed)
    values (${id}, date_bin('10 seconds', now(), '2000-01-01Z'), ${batch.handled}, ${batch.handled - batch.made})
    on conflict (import_id, at) do update set handled = f.handled + excluded.handled, failed = f.failed + excluded.failed`.execute(
    trx,
  )
  if (status === 'finished') {
    await askReceipt(trx, id)
    await openNext(trx)
  }
  return status === 'finished'
}

/** Ends an open import, or one that waits, before its end; what was committed stays. The report tells the reason on the rows left. */
export async function stopImport(trx: Db, id: number, reden: string): Promise<void> {
  const stop = (was: string[]) =>
    trx
      .updateTable('import')
      .set({ status: 'error', reason: reden, pausedAt: null, endedAt: sql`now()` })
      .where('id', '=', id)
      .where('status', 'in', was)
      .returning('id')
      .executeTakeFirst()
  if (await stop(['pending', 'active'])) {
    await askReceipt(trx, id)
    await openNext(trx)
  } else await stop(['queued'])
}

/**
 * Opens the import that waits longest, when none is open. To be called in the transaction that ends the one before, and in that
 * which lets one wait. One that a create opens at the same moment goes first.
 */
export async function openNext(trx: Db): Promise<void> {
  // Held until the commit: else who ends one and who lets one wait might not see each other, and nobody would open it. It is taken after
  // the lock of an import that is open, and before that of one that waits.
  await sql`select pg_advisory_xact_lock(hashtext(current_schema() || ' import queue'))`.execute(trx)
  await sql`savepoint open_next`.execute(trx)
  try {
    await openFirst(trx)
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    await sql`rollback to savepoint open_next`.execute(trx)
  }
}

async function openFirst(trx: Db): Promise<void> {
  const { rows } = await sql<{ uuid: string; status: string }>`
    update import set status = case when header is null then 'pending' else 'active' end, updated_at = now(),
      started_at = case when header is not null then now() end
    where id = (select id from import where status = 'queued' order by id limit 1 for no key update)
      and not exists (select from import where status in ('pending', 'active'))
    returning uuid, status`.execute(trx)
  for (const { uuid, status } of rows) if (status === 'active') await enqueueBatch(trx, { import: uuid, start: 0 })
}

/** An import that goes on later, because something that it needs is away, says so. */
export async function noteWaiting(trx: Db, uuid: string, reden: string): Promise<void> {
  await trx
    .updateTable('import')
    .set({ reason: reden })
    .where('uuid', '=', uuid)
    .where('status', '=', 'active')
    .execute()
}

/**
 * Active imports whose job is gone or has used all its attempts, which a crash at the wrong moment or a hand in the
 * queue can cause: the first get a new job, the others end as `error`. Any worker may run this at any time. A batch that runs
 * may be of this import, since only one is open at a time: then there is nothing to repair yet. One that waits while none is open
 * was left by a hand in the table.
 */
export async function repairImports(db: Db): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const stuck = await sql<{ id: number; uuid: string; processed: number; exhausted: boolean }>`
      select i.id, i.uuid, i.processed, j.id is not null as exhausted
      from import i left join jobs j on j.key = 'import:' || i.uuid
      where i.status = 'active' and i.paused_at is null and (j.id is null or (j.attempts >= j.max_attempts and j.locked_at is null))
        and not exists (select from jobs r
          where r.task_identifier = 'import-batch' and r.locked_at is not null)
      for no key update of i skip locked`.execute(trx)
    for (const { id, uuid, processed, exhausted } of stuck.rows) {
      if (exhausted) await stopImport(trx, id, 'Een batch kon ook na herhaalde pogingen niet worden verwerkt.')
      else await enqueueBatch(trx, { import: uuid, start: processed })
    }
    const left = await sql`
      select from import where status = 'queued' and not exists (select from import where status in ('pending', 'active')) limit 1`.execute(
      trx,
    )
    if (left.rows.length > 0) await openNext(trx)
  })
}
