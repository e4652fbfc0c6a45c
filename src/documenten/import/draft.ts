// Draft: a CSV that was uploaded to be looked at first. Its rows are staged as those of an import are, so that a preview and
// a dry run need no second reading of the file, and starting is saying of which import they are.
import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { sql } from 'kysely'
import type { Config } from '../../config.ts'
import type { Mutation } from '../../core/mutate.ts'
import { notFound, Problem } from '../../core/problem.ts'
import type { Db, ReadDb } from '../../database/database.ts'
import { one } from '../../database/rows.ts'
import { enqueue } from '../../jobs/queue.ts'
import { inTurnOfAll, ownName } from '../../telemetry/current-organisation.ts'
import { importBaseDirFault } from './base-dir.ts'
import { activateImport, createImport, importFault, queueImport, requireMayImport } from './control.ts'
import { CsvError, type ReadFile, readImportCsv, tooManyRows } from './csv.ts'
import { readImportNdjson } from './ndjson.ts'
import { importedBefore } from './passed-over.ts'
import { openNext } from './progress.ts'
import { draftRows, putIntoDraft, type ReceivedRows, type Receiver, receiveRows } from './receive.ts'
import { type ImportRow, imported, rowsOf } from './rows.ts'
import { isEncrypted, looksLikeExcel, readImportXlsx, withWorkbook } from './xlsx.ts'

/** Attempts of a dry run before it ends as `mislukt`. */
const TRIAL_ATTEMPTS = 4

/** A file that came whole. */
export type ReceivedFile = {
  header: string[]
  dialect: unknown
  rows: ReceivedRows
  /** Size of the file as it was sent, and its SHA-256. */
  bytes: number
  sha256: Buffer
}

/**
 * Reads a file of rows to its end, whatever it is by its first bytes, and lets `take` have it.
 * @throws CsvError for a file that an import would refuse
 */
export async function receiveFile<T>(
  receiver: Receiver,
  bytes: Readable,
  { bestandsnaam, charset, sheet, most }: { bestandsnaam: string; charset?: string; sheet?: string; most?: number },
  take: (file: ReceivedFile) => Promise<T>,
): Promise<T> {
  let size = 0
  const sha256 = createHash('sha256')
  async function* counted() {
    for await (const chunk of bytes.iterator({ destroyOnReturn: false })) {
      size += chunk.length
      sha256.update(chunk)
      yield chunk as Buffer
    }
  }
  const { is, bytes: all } = await looksLikeExcel(counted())
  const rowsOf = async (upload: Promise<ReadFile & { dialect: unknown }>) => {
    const { header, dialect, regels, firstRow } = await upload
    const options = { most, firstRow, passesOver: importedBefore(header) }
    return receiveRows(receiver, regels, options, (rows) =>
      take({ header, dialect, rows, bytes: size, sha256: sha256.digest() }),
    )
  }
  if (is !== 'xlsx') return rowsOf(readUpload(is, all, bestandsnaam, charset))
  return withWorkbook(all, ownName(receiver.actor.userId), (workbook) =>
    workbooks(() => rowsOf(readImportXlsx(workbook, { signal: receiver.signal, ...(sheet && { sheet }) }))),
  )
}

/**
 * Keeps a file, to be looked at first.
 * @throws CsvError for one without rows
 */
export async function createDraft(
  m: Mutation,
  { rows, ...file }: ReceivedFile,
  values: { bestandsnaam: string; baseUrl: string; createdBy: string },
): Promise<{ uuid: string; total: number; bytes: number }> {
  const { uuid } = await putIntoDraft(m, rows, { ...values, ...file })
  return { uuid, total: rows.counts.total, bytes: file.bytes }
}

const WITH_PASSWORD = 'Dit Excel-bestand heeft een wachtwoord. Sla het op zonder wachtwoord.'
const BEFORE_2007 = 'Dit is een Excel-bestand van voor 2007 (.xls). Sla het op als Excel-werkmap (.xlsx).'

/** A workbook is opened by a thread of hundreds of megabytes: one at once, whoever sends it, and one that waits. */
const workbooks = inTurnOfAll(1, 1, () => new Problem(503, { headers: { 'retry-after': '30' } }))

/** A workbook is known by its first bytes, NDJSON by its name. */
async function readUpload(
  is: 'ods' | 'old' | 'other',
  bytes: AsyncIterable<Buffer>,
  bestandsnaam: string,
  charset?: string,
) {
  if (is === 'ods')
    throw new CsvError(
      'parse_error',
      'Dit is een werkmap van LibreOffice (.ods). Sla haar op als Excel-werkmap (.xlsx).',
    )
  if (is === 'old') throw new CsvError('parse_error', (await isEncrypted(bytes)) ? WITH_PASSWORD : BEFORE_2007)
  const read = /\.(ndjson|jsonl|json)$/i.test(bestandsnaam) ? readImportNdjson : readImportCsv
  return read(bytes, charset ? { charset } : {})
}

/** The rows of an import that did not become a document, ready to be tried again as a file of their own. */
export async function createDraftOfRest(
  m: Mutation,
  row: ImportRow,
  createdBy: string,
): Promise<{ uuid: string; total: number }> {
  const { id, header, dialect, baseUrl, bestandsnaam } = row
  await m.sql`set local statement_timeout = 0` // as many rows as there are
  const inserted = await m.sql<{ id: number; uuid: string }[]>`
    insert into import_draft (bestandsnaam, header, dialect, base_url, created_by)
    values (${bestandsnaam}, ${JSON.stringify(header)}::text::json, ${JSON.stringify(dialect)}::text::jsonb, ${baseUrl ?? m.actor.base}, ${createdBy}) returning id, uuid`
  const made = one(inserted)
  const counts = await m.sql<{ total: number; bytes: number }[]>`
    with rest as (
      insert into import_row (import_id, number, cells)
      select ${draftRows(made.id)}::bigint, 1 + row_number() over (order by r.number), r.cells
      from import_row r left join import_outcome u on u.import_id = ${id} and u.number = r.number
      where r.import_id = ${rowsOf(row)} and u.succeeded is not true
      returning bytes)
    select count(*)::int as total, coalesce(sum(bytes), 0)::bigint as bytes from rest`
  await m.sql`
    insert into import_draft_shift (draft_id, number, shift)
    select ${made.id}::bigint, number, shift from (
      select number, shift, lag(shift, 1, 0) over (order by number) as before from (
        select number, import_line(${id}, old) - number as shift from (
          select r.number as old, (1 + row_number() over (order by r.number))::int as number
          from import_row r left join import_outcome u on u.import_id = ${id} and u.number = r.number
          where r.import_id = ${rowsOf(row)} and u.succeeded is not true) n) s) s
    where shift <> before`
  const counted = one(counts)
  if (counted.total === 0) throw new Problem(409, { detail: 'Alle rijen van deze import zijn geïmporteerd.' })
  await m.trx.updateTable('importDraft').set(counted).where('id', '=', made.id).execute()
  return { uuid: made.uuid, total: counted.total }
}

function concepten(db: ReadDb) {
  return db.selectFrom('importDraft').where('deletedAt', 'is', null)
}

/** The newest uploads that are not started yet. */
export function listConcepten(db: ReadDb, limit: number): Promise<Concept[]> {
  return concepten(db).selectAll().orderBy('id', 'desc').limit(limit).execute()
}

/** @throws Problem 404 when there is none, or no more */
export async function requireConcept(db: ReadDb, uuid: string) {
  const row = await concepten(db).where('uuid', '=', uuid).selectAll().executeTakeFirst()
  if (!row) throw notFound(WEG)
  return row
}
export type Concept = Awaited<ReturnType<typeof requireConcept>>

const WEG = 'Dit bestand is er niet meer: het is geïmporteerd, weggegooid of na een dag opgeruimd.'

async function lockConcept(m: Mutation, uuid: string): Promise<Concept> {
  const row = await m.trx
    .selectFrom('importDraft')
    .where('uuid', '=', uuid)
    .where('deletedAt', 'is', null)
    .selectAll()
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw notFound(WEG)
  return row
}

/**
 * Starts an import of the rows, as an upload of a client does.
 * @param options `waits`: while others go first it waits for its turn
 * @throws Problem 400 while another import is open, and without an import directory
 */
export async function startDraft(
  m: Mutation,
  uuid: string,
  { config, startedBy, waits }: { config: Config; startedBy: string; waits: boolean },
): Promise<{ import: { id: number; uuid: string }; concept: Concept }> {
  const concept = await lockConcept(m, uuid)
  const fault = importBaseDirFault(config)
  if (fault) throw importFault(fault.code, fault.reden)
  requireMayImport(config)
  const most = config.importMaxRows
  if (concept.total > most) throw importFault('too-many-rows', tooManyRows(most).message)
  const made = await (waits ? queueImport : createImport)(m, { startedBy, bestandsnaam: concept.bestandsnaam })
  const rowsId = draftRows(concept.id)
  await m.sql`
    insert into import_row (import_id, number, cells)
    select ${rowsId}::bigint, number, cells from import_draft_row where draft_id = ${concept.id} order by number` // of 1.0.0
  await m.trx.updateTable('import').set({ rowsId, sha256: concept.sha256 }).where('id', '=', made.id).execute()
  await m.sql`
    insert into import_shift (import_id, number, shift)
    select ${made.id}::bigint, number, shift from import_draft_shift where draft_id = ${concept.id}`
  await activateImport(m, made, {
    header: concept.header as string[],
    dialect: concept.dialect,
    baseUrl: concept.baseUrl,
    batchSize: config.importBatchSize,
    total: concept.total,
    emptyRows: concept.emptyRows,
    passedOver: concept.passedOver,
  })
  if (waits) await openNext(m.trx)
  await deleteDraftRow(m.trx, concept.id)
  return { import: made, concept }
}

/** Another import of the same file that made documents; the newest. */
export function sameFileBefore(db: ReadDb, { sha256 }: Pick<Concept, 'sha256'>) {
  return imported(db)
    .where('sha256', '=', sha256)
    .where('succeeded', '>', 0)
    .select(['uuid', 'createdAt', 'succeeded'])
    .orderBy('id', 'desc')
    .executeTakeFirst()
}

/** Throws an upload away. @returns what it was */
export async function deleteDraft(m: Mutation, uuid: string): Promise<Concept> {
  const concept = await lockConcept(m, uuid)
  await deleteDraftRow(m.trx, concept.id)
  return concept
}

/** Asks for a dry run; one that runs already begins anew. */
export async function requestDryRun(m: Mutation, uuid: string): Promise<Concept> {
  const concept = await lockConcept(m, uuid)
  await m.trx
    .updateTable('importDraft')
    .set({
      trialStatus: 'wacht',
      trialReason: null,
      trialHandled: 0,
      trialFaults: 0,
      trialStartedAt: sql`clock_timestamp()`,
      trialUpdatedAt: sql`now()`,
      trialEndedAt: null,
    })
    .where('id', '=', concept.id)
    .execute()
  await m.enqueue(
    'import-dry-run',
    { concept: uuid },
    { jobKey: `import-dry-run:${uuid}`, maxAttempts: TRIAL_ATTEMPTS },
  )
  return concept
}

/** Out of sight at once; a job removes its rows bit by bit. */
async function deleteDraftRow(trx: Db, id: number): Promise<void> {
  await trx.updateTable('importDraft').set({ deletedAt: sql`now()` }).where('id', '=', id).execute()
  await enqueue(trx, 'remove-draft', { id }, { jobKey: `remove-draft:${id}` })
}

/** Uploads that nobody started within a day, and what is left of those that did not come to their end. */
export async function deleteOldDrafts(db: Db): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const old = await trx
      .selectFrom('importDraft')
      .where(sql<boolean>`created_at < now() - interval '1 day'`)
      .select('id')
      .forUpdate()
      .skipLocked() // one that is being started right now
      .execute()
    for (const { id } of old) await deleteDraftRow(trx, id)
    for (const id of await lostDrafts(trx)) await deleteDraftRow(trx, id)
    return old.length
  })
}

/** Drafts of which only rows are left, as when a program of 1.0.0 removed one. Goes from one set of rows to the next by the index. */
async function lostDrafts(trx: Db): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    with recursive sets as (
      select min(import_id) as id from import_row where import_id < 0
      union all
      select (select min(r.import_id) from import_row r where r.import_id > s.id and r.import_id < 0) from sets s where s.id is not null
    )
    select -s.id as id from sets s where s.id is not null
      and not exists (select from import_draft d where d.id = -s.id) and not exists (select from import i where i.rows_id = s.id)`.execute(
    trx,
  )
  return rows.map(({ id }) => id)
}
