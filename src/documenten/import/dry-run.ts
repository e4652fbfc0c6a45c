// Dry run: the dry run of an import. It judges every row as the import would, with the same functions and in the order of the
// file, and writes nothing but counts. What only the database itself can refuse, and what happens between the dry run and
// the import, is all that it cannot see.
//
// It goes through the rows in portions: memory does not grow with the file, and others get their turn. Each portion is
// counted in one transaction, which also moves the position. A run that was taken for dead finds the position or the
// moment of its start changed, and ends.
import { closeSync } from 'node:fs'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type postgres from 'postgres'
import type { Config } from '../../config.ts'
import type { Database } from '../../database/database.ts'
import { importBaseDirFault } from './base-dir.ts'
import { beneath, type OpenedSource, type Refused } from './bestandspad.ts'
import type { CaseLinks } from './case-links.ts'
import { bytesOf } from './copy.ts'
import {
  type Candidate,
  conflict,
  contentFaults,
  existing,
  judgeInOrder,
  judgeTypes,
  numberKey,
  readRow,
  type TypedRow,
  type WithFile,
  withZaak,
} from './judge.ts'
import { FIRST_ROW } from './prepare.ts'
import { checksumOf, SourceFault } from './source-file.ts'
import { nameTypes } from './type-names.ts'

type Parts = { config: Config; database: Database; caseLinks: CaseLinks }
type Run = {
  id: number
  header: string[]
  baseUrl: string
  total: number
  /** Tells this run from others. */
  startedAt: string
}

const PORTION = 500
const PORTION_BYTES = 4 * 1024 * 1024
/** Rows and files that are looked at before others get their turn. */
const ROWS = 100
const FILES = 50
const EXAMPLES = 5

/**
 * Runs from the first row to the last. Returns as well when the upload is gone or another run took over.
 * @throws when it was aborted, or the database failed: it may be run again, from the beginning
 */
export async function dryRunImport(parts: Parts, uuid: string, signal?: AbortSignal): Promise<void> {
  const { config, database } = parts
  const run = await begin(database, uuid)
  if (!run) return
  for (let start = 0; start < run.total; ) {
    signal?.throwIfAborted()
    const fault = importBaseDirFault(config)
    if (fault) return endDryRun(database, uuid, { status: 'mislukt', reden: fault.reden, startedAt: run.startedAt })
    const { faults, rows, files } = await judge(parts, run, start)
    if (rows === 0) throw new Error('the rows of this upload are gone')
    if (!(await count(database, run, { start, end: start + rows }, faults, files))) return
    start += rows
  }
  await database.sql`delete from import_draft_key where draft_id = ${run.id}`
  await endDryRun(database, uuid, { status: 'klaar', startedAt: run.startedAt })
}

async function begin(database: Database, uuid: string): Promise<Run | undefined> {
  return database.sql.begin(async (sql) => {
    const [row] = await sql<
      { id: number; header: string[] | null; base_url: string; total: number; trial_started_at: string }[]
    >`
      update import_draft set trial_status = 'bezig', trial_handled = 0, trial_faults = 0, trial_reason = null,
        trial_bytes = 0, trial_largest = 0, trial_largest_line = null,
        trial_started_at = clock_timestamp(), trial_updated_at = now()
      where uuid = ${uuid} and deleted_at is null and trial_status in ('wacht', 'bezig')
      returning id, header, base_url, total, trial_started_at`
    if (!row) return undefined
    await sql`delete from import_draft_fault_kind where draft_id = ${row.id}`
    await sql`delete from import_draft_fault where draft_id = ${row.id}`
    await sql`delete from import_draft_key where draft_id = ${row.id}`
    return {
      id: row.id,
      header: row.header ?? [],
      baseUrl: row.base_url,
      total: row.total,
      startedAt: row.trial_started_at,
    }
  })
}

/** Ends a dry run, unless another one has begun since `startedAt`. */
export async function endDryRun(
  { sql }: Database,
  uuid: string,
  { status, reden = null, startedAt }: { status: 'klaar' | 'mislukt'; reden?: string | null; startedAt?: string },
): Promise<void> {
  await sql`
    update import_draft set trial_status = ${status}, trial_reason = ${reden}, trial_ended_at = now()
    where uuid = ${uuid} and trial_status in ('wacht', 'bezig')
      and trial_started_at = coalesce(${startedAt ?? null}::timestamptz, trial_started_at)`
}

/** What is wrong with the rows of one portion, by row, and how many these are. */
async function judge(
  { config, database, caseLinks }: Parts,
  run: Run,
  start: number,
): Promise<{ faults: Map<number, string>; rows: number; files: Files }> {
  const { db, sql } = database
  const staged = await sql<{ number: number; line: number; cells: string[] }[]>`
    select number, import_draft_line(${run.id}, number) as line, cells from (
      select number, cells, sum(bytes) over (order by number) - bytes as before
      from import_draft_rows(${run.id}) r
      where number >= ${start + FIRST_ROW} and number < ${start + FIRST_ROW + PORTION}
    ) r where before < ${PORTION_BYTES} order by number`
  await nameTypes(db, run.baseUrl, run.header, staged)
  const faults = new Map<number, string>()
  const readRows: Exclude<ReturnType<typeof readRow>, { fout: string }>[] = []
  for (const [index, { number, line, cells }] of staged.entries()) {
    if (index % ROWS === ROWS - 1) await yieldToOthers()
    const result = readRow(run.header, cells, { number, line })
    if ('fout' in result) faults.set(number, result.fout)
    else readRows.push(result)
  }
  const rows = await judgeTypes(db, config, run.baseUrl, readRows, faults)
  if (rows.length === 0) return { faults, rows: staged.length, files: { bytes: 0 } }
  const taken = await existing(db, rows)
  await addSeen(sql, run.id, rows, taken)
  const zaakFaults = await caseLinks.judge(sql, withZaak(rows), { lock: false })
  const candidates = await lookAtFiles(config.importBaseDir, rows, (row) => conflict(row, taken) !== undefined)
  const { accepted, refused } = judgeInOrder(candidates, taken, zaakFaults)
  for (const [number, fault] of refused) faults.set(number, fault)
  await sql`
    insert into import_draft_key (draft_id, key)
    select ${run.id}::bigint, unnest(${accepted.flatMap(keysOf)}::text[]) on conflict do nothing`
  const bytes = accepted.reduce((sum, { bestand }) => sum + bestand.size, 0)
  const largest = accepted.reduce<WithFile | undefined>(
    (most, row) => (most && most.bestand.size >= row.bestand.size ? most : row),
    undefined,
  )
  return { faults, rows: staged.length, files: { bytes, largest } }
}

/** What the import would copy. */
type Files = { bytes: number; largest?: WithFile | undefined }

const keysOf = ({ uuid, input }: TypedRow) => [uuid, ...(input.identificatie ? [numberKey(input)] : [])]

/** Adds what earlier rows of the file hold. */
async function addSeen(
  sql: postgres.Sql,
  id: number,
  rows: TypedRow[],
  taken: { uuids: Set<string>; nummers: Set<string> },
): Promise<void> {
  const seen = await sql<{ key: string }[]>`
    select key from import_draft_key where draft_id = ${id} and key = any(${rows.flatMap(keysOf)})`
  for (const { key } of seen) (key.includes(' ') ? taken.nummers : taken.uuids).add(key)
}

/** Opens the files as the import would, and reads only those of which a row states a checksum. */
async function lookAtFiles(baseDir: string, rows: TypedRow[], skip: (row: TypedRow) => boolean): Promise<Candidate[]> {
  const base = beneath(baseDir)
  const candidates: Candidate[] = []
  try {
    for (const [index, row] of rows.entries()) {
      if (index % FILES === FILES - 1) await yieldToOthers()
      candidates.push({ ...row, bestand: skip(row) ? NOT_READ : await lookAt(base.open(row.bestandspad), row) })
    }
    return candidates
  } finally {
    base.close()
  }
}

const NOT_READ = { key: '', size: 0, sha256: '' }

async function lookAt(source: OpenedSource | Refused, { input }: TypedRow): Promise<Candidate['bestand']> {
  if ('fout' in source) return { fout: `bestandspad: ${source.fout.text}` }
  try {
    const checksum = input.integriteit?.waarde ? checksumOf(input.integriteit.algoritme) : undefined
    if (checksum) for await (const chunk of bytesOf(source)) checksum.update(chunk)
    const faults = contentFaults(input, { size: source.size, ...(checksum && { controle: checksum.digest() }) })
    return faults.length > 0 ? { fout: faults.join(' ') } : { ...NOT_READ, size: source.size }
  } catch (error) {
    if (error instanceof SourceFault) return { fout: `bestandspad: ${error.fout.text}` }
    throw error
  } finally {
    closeSync(source.fd)
  }
}

/** Counts a portion. @returns whether this run may go on */
async function count(
  database: Database,
  run: Run,
  { start, end }: { start: number; end: number },
  faults: Map<number, string>,
  { bytes, largest }: Files,
): Promise<boolean> {
  return database.sql.begin(async (sql) => {
    const size = largest?.bestand.size ?? 0
    const [mine] = await sql<{ id: number }[]>`
      update import_draft
      set trial_handled = ${end}, trial_faults = trial_faults + ${faults.size}, trial_updated_at = now(),
        trial_bytes = trial_bytes + ${bytes}, trial_largest = greatest(trial_largest, ${size}::bigint),
        trial_largest_line = case when ${size}::bigint > trial_largest then import_draft_line(id, ${largest?.number ?? 0}::int)
          else trial_largest_line end
      where id = ${run.id} and deleted_at is null and trial_status = 'bezig' and trial_handled = ${start}
        and trial_started_at = ${run.startedAt}
      returning id`
    if (!mine) return false
    if (faults.size === 0) return true
    const rows = [...faults].map(([number, remark]) => ({ number, remark }))
    await sql`
      insert into import_draft_fault (draft_id, number, remark)
      select ${run.id}::bigint, number, remark
      from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as x(number integer, remark text)`
    await sql`
      insert into import_draft_fault_kind as f (draft_id, hash, reason, count, examples)
      select ${run.id}::bigint, hashtextextended(reason, 0) as hash, min(reason), count(*),
        to_jsonb((array_agg(jsonb_build_object('number', import_draft_line(${run.id}, number), 'remark', remark) order by number))[1:${EXAMPLES}::int])
      from (select number, remark, import_reason(remark) as reason
        from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as x(number integer, remark text)) r
      group by 2 order by 2
      on conflict (draft_id, hash) do update set count = f.count + excluded.count,
        examples = jsonb_path_query_array(f.examples || excluded.examples, ${`$[0 to ${EXAMPLES - 1}]`}::jsonpath)`
    return true
  })
}
