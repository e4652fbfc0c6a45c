// The first half of a batch: its rows are read and judged, and their files copied. What comes of it depends on the rows alone, so
// any worker may do it at any time, and nothing is written to the tables of documents.
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import type { Database, Db } from '../../database/database.ts'
import { expected } from '../../database/rows.ts'
import { newKey, type Store, StoreUnavailable } from '../storage/index.ts'
import { noRoom, type Room } from '../storage/room.ts'
import { importBaseDirFault } from './base-dir.ts'
import {
  type Candidate,
  conflict,
  contentFaults,
  existing,
  hasFile,
  judgeTypes,
  type ReadRow,
  readRow,
  type TypedRow,
} from './judge.ts'
import type { Copied, FileToCopy } from './source-file.ts'
import { nameTypes } from './type-names.ts'

export type BatchParts = {
  config: Config
  database: Database
  store: Store
  /** Where there is a bound on the bytes of all documents. */
  room?: Room | undefined
  copyFiles(files: FileToCopy[]): Promise<Copied[]>
  /** Whether this process does something for others at this moment, who go before what takes long. */
  isShared?(): boolean
  log: Logger
}

/** `faults` are those of the cells themselves: they do not depend on other rows. */
export type Prepared = { rows: number; faults: Map<number, string>; candidates: Candidate[] }

/** Row number of the first row; the header is row 1. */
export const FIRST_ROW = 2

/** An import that runs: undefined when it is not active, or paused. */
export async function activeImport(db: Db, uuid: string) {
  const row = await db
    .selectFrom('import')
    .where('uuid', '=', uuid)
    .where('status', '=', 'active')
    .where('pausedAt', 'is', null)
    .select(['id', 'uuid', 'header', 'baseUrl', 'batchSize', 'total', 'processed'])
    .executeTakeFirst()
  return row && { ...row, header: row.header as string[], baseUrl: row.baseUrl ?? '', batchSize: row.batchSize ?? 500 }
}
export type ActiveImport = NonNullable<Awaited<ReturnType<typeof activeImport>>>

/**
 * Judges `rows` rows behind the first `start` and copies the files of those that pass.
 * @throws StoreUnavailable when storage or the import directory is away: that is no row's fault
 */
export async function prepare(
  parts: BatchParts,
  row: ActiveImport,
  { start, rows }: { start: number; rows: number },
): Promise<Prepared> {
  await requireSpace(parts.store)
  const { faults, typed } = await judge(parts, row, start, rows)
  return { rows, faults: faults, candidates: await copyContents(parts, typed) }
}

/** Rows that are read at once, where others wait. */
const PIECE = 20
const MIN_FREE = 1024 ** 3
const MIN_FREE_SHARE = 0.02

/** An import stops before the disk is full: what is left is for documents that clients send one by one. */
async function requireSpace(store: Store): Promise<void> {
  const space = await store.space?.()
  if (space && space.free < Math.min(MIN_FREE, MIN_FREE_SHARE * space.total)) throw new StoreUnavailable('almost-full')
}

async function judge(parts: BatchParts, row: ActiveImport, start: number, rows: number) {
  const fault = importBaseDirFault(parts.config)
  if (fault) throw new StoreUnavailable(fault.code, 'import directory')
  const { db } = parts.database
  const { rows: staged } = await sql<{ number: number; cells: string[] }>`
    select number, cells from import_row
    where import_id = ${row.id} and number >= ${start + FIRST_ROW} and number < ${start + FIRST_ROW + rows}
    order by number`.execute(db)
  if (staged.length !== rows) throw new Error('the rows of this import are gone')
  const faults = new Map<number, string>()
  await nameTypes(db, row.baseUrl, row.header, staged)
  const readRows: ReadRow[] = []
  for (const [index, { number, cells }] of staged.entries()) {
    if (index % PIECE === PIECE - 1 && parts.isShared?.()) await yieldToOthers()
    const result = readRow(row.header, cells, number)
    if ('fout' in result) faults.set(number, result.fout)
    else readRows.push(result)
  }
  return { faults, typed: await judgeTypes(db, parts.config, row.baseUrl, readRows, faults) }
}

/** Copies the files of the rows, and holds them against the size and checksum that the row states. */
async function copyContents(parts: BatchParts, rows: TypedRow[]): Promise<Candidate[]> {
  if (rows.length === 0) return []
  // Only saves copying: an earlier batch may not be written yet, so that the decision falls when this one is.
  const taken = await existing(parts.database.db, rows)
  const map = newKey() // one directory for the whole batch: it is synced once
  const { room } = parts
  const full = (await room?.isFull()) ? noRoom(expected(parts.config.storageMaxBytes)) : undefined
  const wanted = (full ? [] : rows)
    .filter((row) => !conflict(row, taken))
    .map(({ number, bestandspad, input }) => ({
      number,
      bestandspad,
      key: `${map}/${number}`,
      ...(input.integriteit && { algoritme: input.integriteit.algoritme }),
    }))
  const copied = new Map((await parts.copyFiles(wanted)).map((result) => [result.number, result]))
  const candidates: Candidate[] = []
  const mismatched: Candidate[] = []
  const fits = async (key: string, size: number) => {
    try {
      return !room || (await room.hold(key, size))
    } catch (error) {
      await removeCopies(
        parts,
        [...copied.values()].flatMap((result) => ('fout' in result ? [] : [result.key])),
      )
      throw error
    }
  }
  for (const row of rows) {
    const result = copied.get(row.number)
    if (!result) candidates.push({ ...row, bestand: { fout: expected(conflict(row, taken) ?? full) } })
    else if ('fout' in result) candidates.push({ ...row, bestand: { fout: `bestandspad: ${result.fout.text}` } })
    else {
      const { key, size, sha256 } = result
      const faults = contentFaults(row.input, result)
      if (faults.length === 0 && !(await fits(key, size))) faults.push(noRoom(expected(parts.config.storageMaxBytes)))
      if (faults.length > 0) mismatched.push({ ...row, bestand: { key, size, sha256 } })
      candidates.push({
        ...row,
        bestand: faults.length > 0 ? { fout: faults.join(' ') } : { key, size, sha256 },
      })
    }
  }
  await discard(parts, mismatched)
  return candidates
}

/** Removes the files of rows that do not become documents. What stays behind when this fails is swept away later. */
export const discard = (parts: Pick<BatchParts, 'store' | 'room'>, rows: Candidate[] = []): Promise<void> =>
  removeCopies(
    parts,
    rows.filter(hasFile).map(({ bestand }) => bestand.key),
  )

async function removeCopies({ store, room }: Pick<BatchParts, 'store' | 'room'>, keys: string[]): Promise<void> {
  for (const key of keys) room?.release(key)
  await Promise.all(keys.map((key) => store.remove(key).catch(() => {})))
}
