// The first half of a batch: its rows are read and judged, and their files copied. What comes of it depends on the rows alone, so
// any worker may do it at any time, and nothing is written to the tables of documents.
import { closeSync } from 'node:fs'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { Backend } from '../../config/storage.ts'
import type { Config } from '../../config.ts'
import type { Database, Db } from '../../database/database.ts'
import { expected } from '../../database/rows.ts'
import type { Stores } from '../storage/choose.ts'
import { type DiskSpace, newKey, type Store, StoreUnavailable } from '../storage/index.ts'
import { noRoom, type Room } from '../storage/room.ts'
import { importBaseDirFault } from './base-dir.ts'
import { beneath } from './bestandspad.ts'
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
import { rowsOf } from './rows.ts'
import type { Copied, FileToCopy } from './source-file.ts'
import { nameTypes } from './type-names.ts'

export type BatchParts = {
  config: Config
  database: Database
  /** Where new documents go. */
  store: Store
  storeFor: Stores['storeFor']
  /** Where there is a bound on the bytes of all documents. */
  room?: Room | undefined
  copyFiles(files: FileToCopy[]): Promise<Copied[]>
  /** Whether this process does something for others at this moment, who go before what takes long. */
  isShared?(): boolean
  log: Logger
}

/** Where the files of a batch are: in which store, and what their keys begin with. Nothing else is below that. */
export type Place = { backend: Backend; store: string; directory: string }

/** `faults` are those of the cells themselves: they do not depend on other rows. */
export type Prepared = { rows: number; faults: Map<number, string>; candidates: Candidate[]; place: Place }

/** A place of its own in the store where new documents go. One directory for a whole batch: it is synced once. */
export function newPlace({ store }: Pick<BatchParts, 'store'>, id?: string): Place {
  return { backend: store.backend, store: store.identity, directory: newKey(undefined, id) }
}

/** Row number of the first row; the header is row 1. */
export const FIRST_ROW = 2

/** An import that runs: undefined when it is not active, or paused. */
export async function activeImport(db: Db, uuid: string) {
  const row = await db
    .selectFrom('import')
    .where('uuid', '=', uuid)
    .where('status', '=', 'active')
    .where('pausedAt', 'is', null)
    .select(['id', 'uuid', 'header', 'baseUrl', 'batchSize', 'total', 'processed', 'rowsId'])
    .executeTakeFirst()
  return row && { ...row, header: row.header as string[], baseUrl: row.baseUrl ?? '', batchSize: row.batchSize ?? 500 }
}
export type ActiveImport = NonNullable<Awaited<ReturnType<typeof activeImport>>>

/**
 * Judges `rows` rows behind the first `start` and copies the files of those that pass.
 * @throws StoreUnavailable when storage or the import directory is away: that is no row's fault; NoSpace when not all fits
 */
export async function prepare(
  parts: BatchParts,
  row: ActiveImport,
  { start, rows, place = newPlace(parts), holds }: { start: number; rows: number; place?: Place; holds?: Holds },
): Promise<Prepared> {
  await requireSpace(parts.store)
  const { faults, typed } = await judge(parts, row, start, rows)
  const fits = (files: FileToCopy[]) => tooLargeFor(parts, row, start, files, holds)
  return { rows, faults, candidates: await copyContents(parts, typed, place, fits), place }
}

/** Says how many bytes a batch is going to copy. @returns what all others are going to copy to the same store */
export type Holds = (bytes: number) => Promise<number>

/** Rows that are read at once, where others wait. */
const PIECE = 20
const MIN_FREE = 1024 ** 3
const MIN_FREE_SHARE = 0.02

/** An import stops before the disk is full: what is left is for documents that clients send one by one. */
async function requireSpace(store: Store): Promise<void> {
  const space = await store.space?.()
  if (space && space.free < reserved(space)) throw new StoreUnavailable('almost-full')
}

const reserved = ({ total }: DiskSpace) => Math.min(MIN_FREE, MIN_FREE_SHARE * total)

/** The files of a batch do not fit on the disk. `fitting` rows before the one that does not would. The message is Dutch, for people. */
export class NoSpace extends StoreUnavailable {
  readonly fitting: number
  readonly text: string

  constructor(fitting: number, text: string) {
    super('almost-full')
    this.fitting = fitting
    this.text = text
  }
}

/** Files that are looked at before others get their turn. */
const FILES = 50

/**
 * Adds up what is going to be copied before the first byte is, where the store is a disk of ours.
 * @returns what is wrong with the rows of files that can never fit, by row
 * @throws NoSpace when the others do not fit now
 */
async function tooLargeFor(
  { store, config, database }: BatchParts,
  row: ActiveImport,
  start: number,
  files: FileToCopy[],
  holds: Holds = async () => 0,
): Promise<Map<number, string>> {
  const never = new Map<number, string>()
  if (!store.space || files.length === 0) return never
  const space = await store.space()
  const most = space.total - reserved(space)
  const sized: { number: number; bestandspad: string; size: number }[] = []
  const source = beneath(config.importBaseDir)
  try {
    for (const [index, { number, bestandspad }] of files.entries()) {
      if (index % FILES === FILES - 1) await yieldToOthers()
      const opened = source.open(bestandspad)
      if ('fout' in opened) continue
      closeSync(opened.fd)
      if (opened.size <= most || config.importTooLarge === 'wait')
        sized.push({ number, bestandspad, size: opened.size })
      else never.set(number, `bestandspad: Dit bestand is ${inBytes(opened.size)}, en de opslag is ${inBytes(most)}.`)
    }
  } finally {
    source.close()
  }
  const others = await holds(sized.reduce((sum, { size }) => sum + size, 0))
  const free = space.free - reserved(space) - others
  let sum = 0
  for (const { number, bestandspad, size } of sized) {
    sum += size
    if (sum <= free) continue
    const { rows } = await sql<{ line: number }>`select import_line(${row.id}, ${number}) as line`.execute(database.db)
    const wanted = inBytes(size)
    const left = inBytes(Math.max(0, free - (sum - size)))
    const text = `Wacht op ruimte in de opslag: rij ${rows[0]?.line} (${bestandspad}) vraagt ${wanted}, vrij is ${left}.`
    throw new NoSpace(number - FIRST_ROW - start, text)
  }
  return never
}

/** Bytes for people, in Dutch. */
function inBytes(bytes: number): string {
  const [size, unit] = bytes >= 1e9 ? [bytes / 1e9, 'GB'] : bytes >= 1e6 ? [bytes / 1e6, 'MB'] : [bytes / 1e3, 'kB']
  return `${size.toFixed(1).replace('.', ',')} ${unit}`
}

async function judge(parts: BatchParts, row: ActiveImport, start: number, rows: number) {
  const fault = importBaseDirFault(parts.config)
  if (fault) throw new StoreUnavailable(fault.code, 'import directory')
  const { db } = parts.database
  const { rows: staged } = await sql<{ number: number; line: number; cells: string[] }>`
    select number, import_line(${row.id}, number) as line, cells from import_row
    where import_id = ${rowsOf(row)} and number >= ${start + FIRST_ROW} and number < ${start + FIRST_ROW + rows}
    order by number`.execute(db)
  if (staged.length !== rows) throw new Error('the rows of this import are gone')
  const faults = new Map<number, string>()
  await nameTypes(db, row.baseUrl, row.header, staged)
  const readRows: ReadRow[] = []
  for (const [index, { number, line, cells }] of staged.entries()) {
    if (index % PIECE === PIECE - 1 && parts.isShared?.()) await yieldToOthers()
    const result = readRow(row.header, cells, { number, line })
    if ('fout' in result) faults.set(number, result.fout)
    else readRows.push(result)
  }
  return { faults, typed: await judgeTypes(db, parts.config, row.baseUrl, readRows, faults) }
}

/** Copies the files of the rows, and holds them against the size and checksum that the row states. */
async function copyContents(
  parts: BatchParts,
  rows: TypedRow[],
  place: Place,
  fitsOnDisk: (files: FileToCopy[]) => Promise<Map<number, string>>,
): Promise<Candidate[]> {
  if (rows.length === 0) return []
  // Only saves copying: an earlier batch may not be written yet, so that the decision falls when this one is.
  const taken = await existing(parts.database.db, rows)
  const { room } = parts
  const full = (await room?.isFull()) ? noRoom(expected(parts.config.storageMaxBytes)) : undefined
  const wanted = (full ? [] : rows)
    .filter((row) => !conflict(row, taken))
    .map(({ number, bestandspad, input }) => ({
      number,
      bestandspad,
      key: `${place.directory}/${number}`,
      ...(input.integriteit && { algoritme: input.integriteit.algoritme }),
    }))
  const tooLarge = await fitsOnDisk(wanted)
  const toCopy = wanted.filter(({ number }) => !tooLarge.has(number))
  const copied = new Map((await parts.copyFiles(toCopy)).map((result) => [result.number, result]))
  const candidates: Candidate[] = []
  const mismatched: Candidate[] = []
  const fits = async (key: string, size: number) => {
    try {
      return !room || (await room.hold(key, size))
    } catch (error) {
      const keys = [...copied.values()].flatMap((result) => ('fout' in result ? [] : [result.key]))
      await removeCopies(parts, place, keys)
      throw error
    }
  }
  for (const row of rows) {
    const result = copied.get(row.number)
    if (!result)
      candidates.push({ ...row, bestand: { fout: expected(tooLarge.get(row.number) ?? conflict(row, taken) ?? full) } })
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
  await discard(parts, { place, candidates: mismatched })
  return candidates
}

type Copies = Pick<BatchParts, 'storeFor' | 'room' | 'log'>

/** Removes the files of rows that do not become documents. What stays behind when this fails is swept away later. */
export const discard = (parts: Copies, { place, candidates }: Pick<Prepared, 'place' | 'candidates'>): Promise<void> =>
  removeCopies(
    parts,
    place,
    candidates.filter(hasFile).map(({ bestand }) => bestand.key),
  )

async function removeCopies({ storeFor, room }: Copies, place: Place, keys: string[]): Promise<void> {
  for (const key of keys) room?.release(key)
  const store = storeOf(storeFor, place)
  if (store) await Promise.all(keys.map((key) => store.remove(key).catch(() => {})))
}

/** Removes all that a batch left behind of which no row of the file is known: whoever copied it was killed, or failed. */
export async function discardAll({ storeFor, log }: Copies, place: Place): Promise<void> {
  const store = storeOf(storeFor, place)
  if (!store) return
  try {
    for await (const { key } of store.list(`${place.directory}/`)) await store.remove(key)
  } catch (error) {
    log.debug({ err: error }, 'copies that nobody needs stay until they are swept away')
  }
}

/** The store of a place, where this process has it: the settings of another process may mean another by the same backend. */
export function storeOf(storeFor: Stores['storeFor'], { backend, store }: Place): Store | undefined {
  try {
    const found = storeFor(backend)
    return found.identity === store ? found : undefined
  } catch (error) {
    if (error instanceof StoreUnavailable) return undefined
    throw error
  }
}
