// One batch of an import. Three steps: read and judge the rows (prepare.ts), copy their files (also there), and write all
// in one transaction (commit). While a batch is being written the next ones are prepared (ahead.ts), so files and database overlap.
// The order of the file decides all the same: what prepare finds depends on the row alone, and whether its uuid and number
// are still free is decided by commit, when all earlier rows are written. So the report depends neither on the size of
// the batches nor on the moments at which work was interrupted and repeated.

import { sql } from 'kysely'
import type postgres from 'postgres'
import { systemActor } from '../../core/access.ts'
import { logOptionsOf, writeActs } from '../../core/verwerkingen.ts'
import { type Db, isConflict, kyselyOn } from '../../database/database.ts'
import { currentRequestId, currentTrace } from '../../telemetry/request-id.ts'
import { StoreUnavailable } from '../storage/index.ts'
import { type Ahead, endClaim } from './ahead.ts'
import type { CaseLinks } from './case-links.ts'
import { insertDocuments, type Made } from './insert.ts'
import { withZaak } from './judge.ts'
import {
  type ActiveImport,
  activeImport,
  type BatchParts,
  discard,
  FIRST_ROW,
  NoSpace,
  newPlace,
  type Prepared,
  prepare,
} from './prepare.ts'
import { advance, type Batch, enqueueBatch, noteWaiting } from './progress.ts'

type Parts = BatchParts & { caseLinks: CaseLinks }

const WAIT_SECONDS = 10
const MOST_ROUNDS = 5
// A batch during which workers die again and again goes on row by row, to find the row that kills them. That one is left
// out when it is alone. More than one crash, because a worker may die for reasons of its own.
const CRASHES_OF_BATCH = 5
const CRASHES_OF_ROW = 3

/**
 * Handles one batch. Returns normally when there is nothing (more) to do for this job, and when the batch has to wait
 * for something that it needs: then a job for later is there, and no attempt was used. Throws when the batch failed and
 * is to be tried again.
 * @param crashes how often a worker died during this job
 */
export async function processBatch(parts: Parts, ahead: Ahead, batch: Batch, crashes = 0): Promise<void> {
  try {
    await tryBatch(parts, ahead, batch, crashes)
  } catch (error) {
    const reason = waitsFor(error)
    if (!reason) throw error
    parts.log.warn({ import: batch.import, err: error }, 'import waits')
    await parts.database.db.transaction().execute(async (trx) => {
      await noteWaiting(trx, batch.import, reason)
      await enqueueBatch(trx, batch, WAIT_SECONDS)
    })
  }
}

const WAITS: Record<string, string> = {
  'import directory': 'Wacht op de importmap.',
  'malware scanner': 'Wacht op de virusscanner.',
}

const NO_MORE_FILES = new Set(['EMFILE', 'ENFILE'])

/** A broken connection is not among these: then the worker itself runs the job again as soon as there is a new one. */
function waitsFor(error: unknown): string | undefined {
  if (error instanceof NoSpace) return error.text
  if (error instanceof StoreUnavailable && NO_MORE_FILES.has(error.code)) return 'Wacht op open bestanden.'
  if (error instanceof StoreUnavailable)
    return WAITS[error.wat] ?? (error.code === 'almost-full' ? 'Wacht op ruimte in de opslag.' : 'Wacht op de opslag.')
  const code = String((error as { code?: unknown } | null)?.code)
  return /^(53[0-9A-Z]{3}|25006)$/.test(code) ? 'Wacht op de database.' : undefined // full, or read-only
}

async function tryBatch(parts: Parts, ahead: Ahead, batch: Batch, crashes: number): Promise<void> {
  // After a crash nothing else is prepared here: a row that kills must do so during its own batch.
  if (batch.rowByRowUntil !== undefined || crashes > 0)
    return ahead.alone(() => tryCarefully(parts, ahead, batch, crashes))
  for (let round = 1; ; round++) {
    const row = await importAt(parts, batch)
    if (!row) return
    // Others took it over so often, or it can never be ended: the job fails, and waits longer each time.
    if (round > MOST_ROUNDS) throw new Error('the claim of the batch was gone each time that it was to be written')
    const claimed = await ahead.take(row, batch.start)
    const made = await commit(parts, row, batch, claimed.prepared, claimed.claim)
    if (made) {
      ahead.forget(claimed.claim)
      return discardUnused(parts, claimed.prepared, made)
    }
    await ahead.drop(claimed) // and look again: the batch is done, or the claim had gone to somebody else
  }
}

async function tryCarefully(parts: Parts, ahead: Ahead, batch: Batch, crashes: number): Promise<void> {
  const row = await importAt(parts, batch)
  if (!row) return
  const { start, rowByRowUntil } = batch
  let prepared: Prepared
  if (rowByRowUntil === undefined) {
    const rows = await ahead.reserve(row, start)
    if (crashes >= CRASHES_OF_BATCH) {
      parts.log.warn({ import: batch.import, start }, 'workers die during this batch: it goes on row by row')
      const rowByRow = { ...batch, rowByRowUntil: start + rows }
      return parts.database.db.transaction().execute((trx) => enqueueBatch(trx, rowByRow))
    }
    prepared = await prepare(parts, row, { start, rows })
  } else if (crashes >= CRASHES_OF_ROW) {
    const number = start + FIRST_ROW
    parts.log.error({ import: batch.import, row: number }, 'workers die of this row: it is left out')
    prepared = { rows: 1, faults: new Map([[number, POISONOUS]]), candidates: [], place: newPlace(parts) }
  } else prepared = await prepare(parts, row, { start, rows: 1 })
  await discardUnused(parts, prepared, await commit(parts, row, batch, prepared))
}

const discardUnused = (parts: Parts, { place, candidates }: Prepared, made?: Made) =>
  discard(parts, { place, candidates: candidates.filter(({ number }) => !made?.has(number)) })

/** The import when it runs and this batch is the next. */
async function importAt({ database }: BatchParts, batch: Batch): Promise<ActiveImport | undefined> {
  const row = await activeImport(database.db, batch.import)
  return row?.processed === batch.start ? row : undefined
}

const POISONOUS = 'Deze rij is overgeslagen: bij het verwerken ervan viel het programma telkens uit.'

// ---- commit ----

/**
 * Writes the batch.
 * @param claim that of what was prepared, when it has one
 * @returns the documents, or undefined when this batch is not (or no longer) to be done, or its claim is gone
 */
async function commit(
  parts: Parts,
  row: ActiveImport,
  batch: Batch,
  prepared: Prepared,
  claim?: string,
): Promise<Made | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await parts.database.sql.begin((connection) => writeBatch(parts, connection, row, batch, prepared, claim))
    } catch (error) {
      if (attempt === 3 || !isConflict(error)) throw error
    }
  }
}

async function writeBatch(
  parts: Parts,
  connection: postgres.TransactionSql,
  { id, total }: ActiveImport,
  batch: Batch,
  prepared: Prepared,
  claim?: string,
): Promise<Made | undefined> {
  const trx = kyselyOn(connection)
  const start = batch.start + prepared.rows
  // What a crash of the database may lose of this is done again: position, documents and report go together. The last
  // batch waits for the disk, and so for all before it. And a process that is frozen in here must lose its locks before the
  // others take over its job: they need those rows. One that is frozen halfway a statement is not idle: PostgreSQL 17 and newer
  // end its transaction in a minute. Claims refer to this row: they need not wait for the batch.
  const [current] = await connection<
    { status: string; processed: number; idle: string; whole: string | null; sync: string }[]
  >`
    select status, processed, set_config('idle_in_transaction_session_timeout', '10s', true) as idle,
      (select set_config(name, '60s', true) from pg_settings where name = 'transaction_timeout') as whole,
      set_config('synchronous_commit', case when ${start < total} then 'off' else current_setting('synchronous_commit') end, true) as sync
    from import where id = ${id} for no key update`
  // Cancelled meanwhile, or done by another worker after this one was taken for dead.
  if (current?.status !== 'active' || current.processed !== batch.start) return undefined
  if (claim !== undefined && !(await endClaim(connection, id, claim))) return undefined
  const faults = new Map(prepared.faults)
  const target = { connection, backend: prepared.place.backend, caseLinks: parts.caseLinks }
  const made = await insertDocuments(target, prepared.candidates, faults)
  await writeLine(parts, connection, prepared, made)
  await insertResults(trx, id, made, faults)
  if (!(await advance(trx, id, { handled: prepared.rows, made: made.size }))) {
    const { rowByRowUntil = 0 } = batch
    await enqueueBatch(trx, { import: batch.import, start, ...(start < rowByRowUntil && { rowByRowUntil }) })
  }
  return made
}

/** The line of a batch in the log of processing. */
async function writeLine(
  { config, database: { numbers } }: Parts,
  sql: postgres.TransactionSql,
  { candidates }: Prepared,
  made: Made,
): Promise<void> {
  if (!logOptionsOf(config) || made.size === 0) return
  const linked = withZaak(candidates).filter(({ number }) => made.has(number))
  const now = performance.now()
  const line = {
    began: now,
    ended: now,
    handeling: 'import documenten',
    actor: systemActor('import'),
    zaken: [...new Set(linked.map(({ zaakUuid }) => zaakUuid))],
    objecten: [...made.values()].map(({ uuid }) => uuid),
    rollen: [],
    persons: [],
    trace: currentTrace(),
    requestId: currentRequestId(),
  }
  await writeActs({ sql, numbers }, [line])
}

async function insertResults(trx: Db, importId: number, made: Made, faults: Map<number, string>): Promise<void> {
  const results = [
    ...[...made].map(([number, document]) => ({ number, succeeded: true, remark: '', ...document })),
    ...[...faults].map(([number, remark]) => ({ number, succeeded: false, remark })),
  ]
  await sql`
    insert into import_outcome (import_id, number, succeeded, remark, document_uuid, identificatie)
    select ${importId}::bigint, number, succeeded, remark, uuid, identificatie
    from jsonb_to_recordset(${JSON.stringify(results)}::text::jsonb)
      as x(number integer, succeeded boolean, remark text, uuid uuid, identificatie text)`.execute(trx)
}
