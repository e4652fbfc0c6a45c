// One batch of an import. Three steps: read and judge the rows (prepare), copy their files (also prepare), and write all
// in one transaction (commit). While a batch is being written the next one is prepared, so files and database overlap.
// The order of the file decides all the same: what prepare finds depends on the row alone, and whether its uuid and number
// are still free is decided by commit, when all earlier rows are written. So the report depends neither on the size of
// the batches nor on the moments at which work was interrupted and repeated.

import { sql } from 'kysely'
import type { Logger } from 'pino'
import type postgres from 'postgres'
import type { Config } from '../../config.ts'
import { type Database, type Db, isConflict, kyselyOn } from '../../database/database.ts'
import { newKey, type Store, StoreUnavailable } from '../storage/index.ts'
import { importBaseDirFault } from './base-dir.ts'
import { insertDocuments, type Made } from './insert.ts'
import {
  type Candidate,
  conflict,
  contentFaults,
  existing,
  hasFile,
  judgeTypes,
  readRow,
  type TypedRow,
} from './judge.ts'
import { type Batch, enqueueBatch, finishWhenDone, noteWaiting } from './progress.ts'
import type { Copied, FileToCopy } from './source-file.ts'
import { nameTypes } from './type-names.ts'

export type BatchParts = {
  config: Config
  database: Database
  store: Store
  copyFiles(bestanden: FileToCopy[]): Promise<Copied[]>
  log: Logger
}

/** `fouten` are those of the cells themselves: they do not depend on other rows. */
type Prepared = { rows: number; fouten: Map<number, string>; candidates: Candidate[] }
/** Judged but not copied. */
type Judged = { rows: number; fouten: Map<number, string>; typed: TypedRow[] }
/** A batch in preparation: how many rows it takes is known before their files are copied. */
type Preparation = { judged: Promise<Judged>; ready: Promise<Prepared> }

/** Row number of the first row; the header is row 1. */
export const FIRST_ROW = 2
const WAIT_MS = 10_000
/** A batch ends with the row that fills it to this size: a record may be a thousand times as large as most. */
const BATCH_BYTES = 8 * 1024 * 1024

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
export async function processBatch(parts: BatchParts, readAhead: ReadAhead, batch: Batch, crashes = 0): Promise<void> {
  try {
    await tryBatch(parts, readAhead, batch, crashes)
  } catch (error) {
    const reden = waitsFor(error)
    if (!reden) throw error
    parts.log.warn({ import: batch.import, err: error }, 'import waits')
    await parts.database.db.transaction().execute(async (trx) => {
      await noteWaiting(trx, batch.import, reden)
      await enqueueBatch(trx, batch, new Date(Date.now() + WAIT_MS))
    })
  }
}

/** A broken connection is not among these: then the worker itself runs the job again as soon as there is a new one. */
function waitsFor(error: unknown): string | undefined {
  if (error instanceof StoreUnavailable)
    return error.wat === 'import directory' ? 'Wacht op de importmap.' : 'Wacht op de opslag.'
  const code = String((error as { code?: unknown } | null)?.code)
  return /^(53[0-9A-Z]{3}|25006)$/.test(code) ? 'Wacht op de database.' : undefined // full, or read-only
}

async function tryBatch(parts: BatchParts, readAhead: ReadAhead, batch: Batch, crashes: number): Promise<void> {
  const ahead = readAhead.take(batch)
  const row = await activeImport(parts.database.db, batch)
  if (!row) {
    if (ahead) await discard(parts, (await ahead.ready.catch(() => undefined))?.candidates)
    return
  }
  const alone = batch.perRijTot !== undefined
  if (!alone && crashes >= CRASHES_OF_BATCH) {
    parts.log.warn({ import: batch.import, vanaf: batch.vanaf }, 'workers die during this batch: it goes on row by row')
    await parts.database.db
      .transaction()
      .execute((trx) => enqueueBatch(trx, { ...batch, perRijTot: batch.vanaf + row.batchgrootte }))
    return
  }
  if (alone && crashes >= CRASHES_OF_ROW) {
    parts.log.error({ import: batch.import, row: batch.vanaf + FIRST_ROW }, 'workers die of this row: it is left out')
    await commit(parts, row, batch, {
      rows: 1,
      fouten: new Map([[batch.vanaf + FIRST_ROW, POISONOUS]]),
      candidates: [],
    })
    return
  }
  const work = ahead ?? prepare(parts, row, batch.vanaf, alone ? 1 : row.batchgrootte)
  const next = { import: batch.import, vanaf: batch.vanaf + (await work.judged).rows }
  // Not after a crash: who dies of a row must die during its own batch.
  if (next.vanaf < row.totaal && !alone && crashes === 0)
    readAhead.start(next, () => prepare(parts, row, next.vanaf, row.batchgrootte))
  await discard(parts, await commit(parts, row, batch, await work.ready))
}

const POISONOUS = 'Deze rij is overgeslagen: bij het verwerken ervan viel het programma telkens uit.'

async function activeImport(db: Db, batch: Batch) {
  const row = await db
    .selectFrom('import')
    .where('uuid', '=', batch.import)
    .where('status', '=', 'active')
    .where('gepauzeerdOp', 'is', null)
    .where('verwerkt', '=', batch.vanaf)
    .select(['id', 'uuid', 'kop', 'basisUrl', 'batchgrootte', 'totaal'])
    .executeTakeFirst()
  return (
    row && { ...row, kop: row.kop as string[], basisUrl: row.basisUrl ?? '', batchgrootte: row.batchgrootte ?? 500 }
  )
}
type ActiveImport = NonNullable<Awaited<ReturnType<typeof activeImport>>>

// ---- prepare ----

/**
 * Judges the rows of a batch and copies the files of those that pass. Nothing is written to the database. `aantal` is how
 * many rows at most; large ones make it fewer, and what becomes of a row does not depend on that.
 * Both promises reject with StoreUnavailable when storage or the import directory is away: that is no row's fault.
 */
function prepare(parts: BatchParts, row: ActiveImport, vanaf: number, aantal: number): Preparation {
  const judged = judge(parts, row, vanaf, aantal)
  const ready = judged.then(async ({ rows, fouten, typed }) => {
    return { rows, fouten, candidates: await copyContents(parts, typed) }
  })
  ready.catch(() => {}) // whoever takes it sees the failure
  return { judged, ready }
}

async function judge(parts: BatchParts, row: ActiveImport, vanaf: number, aantal: number): Promise<Judged> {
  const fault = importBaseDirFault(parts.config)
  if (fault) throw new StoreUnavailable(fault.code, 'import directory')
  const { db } = parts.database
  const { rows: staged } = await sql<{ nummer: number; cellen: string[] }>`
    select nummer, cellen from (
      select nummer, cellen, sum(omvang) over (order by nummer) - omvang as ervoor from import_regel
      where import_id = ${row.id} and nummer >= ${vanaf + FIRST_ROW} and nummer < ${vanaf + FIRST_ROW + aantal}
    ) r where ervoor < ${BATCH_BYTES} order by nummer`.execute(db)
  if (staged.length === 0) throw new Error('the rows of this import are gone')
  const fouten = new Map<number, string>()
  await nameTypes(db, row.basisUrl, row.kop, staged)
  const readRows = staged.flatMap(({ nummer, cellen }) => {
    const result = readRow(row.kop, cellen, nummer)
    if ('fout' in result) fouten.set(nummer, result.fout)
    return 'fout' in result ? [] : [result]
  })
  return { rows: staged.length, fouten, typed: await judgeTypes(db, parts.config, row.basisUrl, readRows, fouten) }
}

/** Copies the files of the rows, and holds them against the size and checksum that the row states. */
async function copyContents(parts: BatchParts, rows: TypedRow[]): Promise<Candidate[]> {
  if (rows.length === 0) return []
  // Only saves copying: an earlier batch may not be written yet, so that the decision falls when this one is.
  const taken = await existing(parts.database.db, rows)
  const map = newKey() // one directory for the whole batch: it is synced once
  const wanted = rows
    .filter((row) => !conflict(row, taken))
    .map(({ nummer, bestandspad, input }) => ({
      nummer,
      bestandspad,
      sleutel: `${map}/${nummer}`,
      ...(input.integriteit && { algoritme: input.integriteit.algoritme }),
    }))
  const copied = new Map((await parts.copyFiles(wanted)).map((result) => [result.nummer, result]))
  const candidates: Candidate[] = []
  const mismatched: Candidate[] = []
  for (const row of rows) {
    const result = copied.get(row.nummer)
    if (!result) candidates.push({ ...row, bestand: { fout: conflict(row, taken)! } })
    else if ('fout' in result) candidates.push({ ...row, bestand: { fout: `bestandspad: ${result.fout.tekst}` } })
    else {
      const { sleutel, omvang, sha256 } = result
      const faults = contentFaults(row.input, result)
      if (faults.length > 0) mismatched.push({ ...row, bestand: { sleutel, omvang, sha256 } })
      candidates.push({
        ...row,
        bestand: faults.length > 0 ? { fout: faults.join(' ') } : { sleutel, omvang, sha256 },
      })
    }
  }
  await discard(parts, mismatched)
  return candidates
}

async function discard(parts: BatchParts, rows: Candidate[] = []): Promise<void> {
  // What stays behind when this fails is swept away later.
  await Promise.all(rows.filter(hasFile).map(({ bestand }) => parts.store.remove(bestand.sleutel).catch(() => {})))
}

// ---- commit ----

/** Writes the batch. @returns the rows whose copied file is not needed after all */
async function commit(parts: BatchParts, row: ActiveImport, batch: Batch, prepared: Prepared): Promise<Candidate[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      const made = await parts.database.sql.begin((connection) => writeBatch(parts, connection, row, batch, prepared))
      return made ? prepared.candidates.filter(({ nummer }) => !made.has(nummer)) : prepared.candidates
    } catch (error) {
      if (attempt === 3 || !isConflict(error)) throw error
    }
  }
}

/** @returns the documents, or undefined when this batch is not (or no longer) to be done */
async function writeBatch(
  { store }: BatchParts,
  connection: postgres.TransactionSql,
  { id, totaal }: ActiveImport,
  batch: Batch,
  prepared: Prepared,
): Promise<Made | undefined> {
  const trx = kyselyOn(connection)
  const vanaf = batch.vanaf + prepared.rows
  // What a crash of the database may lose of this is done again: position, documents and report go together. The last
  // batch waits for the disk, and so for all before it.
  if (vanaf < totaal) await connection`set local synchronous_commit = off`
  // A process that is frozen in here must lose its locks before the others take over its job: they need those rows.
  await connection`set local idle_in_transaction_session_timeout = '10s'`
  const current = await trx
    .selectFrom('import')
    .where('id', '=', id)
    .select(['status', 'verwerkt'])
    .forUpdate()
    .executeTakeFirst()
  // Cancelled meanwhile, or done by another worker after this one was taken for dead.
  if (current?.status !== 'active' || current.verwerkt !== batch.vanaf) return undefined
  const fouten = new Map(prepared.fouten)
  const made = await insertDocuments({ connection, backend: store.backend }, prepared.candidates, fouten)
  await insertResults(trx, id, made, fouten)
  await trx
    .updateTable('import')
    .set((eb) => ({
      verwerkt: eb('verwerkt', '+', prepared.rows),
      geslaagd: eb('geslaagd', '+', made.size),
      bijgewerktOp: sql`now()`,
      reden: null,
    }))
    .where('id', '=', id)
    .execute()
  if (!(await finishWhenDone(trx, id))) {
    const { perRijTot = 0 } = batch
    await enqueueBatch(trx, { import: batch.import, vanaf, ...(vanaf < perRijTot && { perRijTot }) })
  }
  return made
}

async function insertResults(trx: Db, importId: number, made: Made, fouten: Map<number, string>): Promise<void> {
  const results = [
    ...[...made].map(([nummer, document]) => ({ nummer, geslaagd: true, opmerking: '', ...document })),
    ...[...fouten].map(([nummer, opmerking]) => ({ nummer, geslaagd: false, opmerking })),
  ]
  await sql`
    insert into import_resultaat (import_id, nummer, geslaagd, opmerking, document_uuid, identificatie)
    select ${importId}::bigint, nummer, geslaagd, opmerking, uuid, identificatie
    from jsonb_to_recordset(${JSON.stringify(results)}::text::jsonb)
      as x(nummer integer, geslaagd boolean, opmerking text, uuid uuid, identificatie text)`.execute(trx)
}

// ---- ahead ----

/** Batches that are being prepared before their job came. */
export type ReadAhead = {
  take(batch: Batch): Preparation | undefined
  start(batch: Batch, work: () => Preparation): void
}

/** Keeps one batch ahead, for this process. What no job asks for in half a minute was done elsewhere: it is discarded. */
export function openReadAhead(parts: BatchParts): ReadAhead {
  let kept: { batch: Batch; work: Preparation; timer: NodeJS.Timeout } | undefined
  const drop = () => {
    const dropped = kept
    kept = undefined
    if (!dropped) return
    clearTimeout(dropped.timer)
    void dropped.work.ready.then((prepared) => discard(parts, prepared.candidates)).catch(() => {})
  }
  return {
    take(batch) {
      if (kept?.batch.import !== batch.import || kept.batch.vanaf !== batch.vanaf) return undefined
      if (batch.perRijTot !== undefined) return void drop()
      const { work, timer } = kept
      clearTimeout(timer)
      kept = undefined
      return work
    },
    start(batch, work) {
      drop()
      kept = { batch, work: work(), timer: setTimeout(drop, 30_000).unref() }
    },
  }
}
