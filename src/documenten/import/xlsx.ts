// Workbooks of Excel, from the pages: they become the rows that a CSV has, and its report is a CSV that Excel opens.
import { Worker } from 'node:worker_threads'
import { Problem } from '../../core/problem.ts'
import { DATES, placeOf } from './columns.ts'
import { type ReadFile, readImportRows } from './csv.ts'
import { CsvError } from './csv-error.ts'
import type { Dialect } from './dialect.ts'
import { peek } from './peek.ts'
import type { AboutSheet, XlsxOrder, XlsxReply } from './xlsx-thread.ts'

const MB = 1024 * 1024
/** Of the file as it is sent: the whole of it is in memory while it is read. Some 300,000 rows. */
const MOST_BYTES = 32 * MB
/** Of all files that are being received, or wait to be opened. */
const MOST_BYTES_OF_ALL = 2 * MOST_BYTES
const HEAP_MB = 384
/** From the first byte that the thread reads to its last row: a file that takes longer was made to take long. */
const OPEN_MS = 60_000
const MOST_RECORD = MB

/** As Dutch Excel saves a CSV in UTF-8. */
const AS_EXCEL: Dialect = { separator: ';', newline: '\r\n', sepLine: false, charset: 'utf-8', mark: true }

const ZIP = 'PK\x03\x04'
const ODS = 'mimetypeapplication/vnd.oasis.opendocument.spreadsheet' // the first part, which is not packed
const LOOK_BYTES = 100
const OLD_OFFICE = '\xd0\xcf\x11\xe0' // also a workbook with a password

/** What a file is by its first bytes, and all of its bytes again. */
export async function looksLikeExcel(
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ is: 'xlsx' | 'ods' | 'old' | 'other'; bytes: AsyncIterable<Buffer> }> {
  const found = await peek(bytes, (read) => read.length >= LOOK_BYTES)
  const begin = found.ahead.toString('latin1', 0, LOOK_BYTES)
  const is = begin.startsWith(ZIP)
    ? begin.includes(ODS)
      ? 'ods'
      : 'xlsx'
    : begin.startsWith(OLD_OFFICE)
      ? 'old'
      : 'other'
  return { is, bytes: found.bytes }
}

const PACKAGE = Buffer.from('EncryptedPackage', 'utf16le')

/** Whether what has the form of an old workbook holds one of today that has a password. */
export async function isEncrypted(bytes: AsyncIterable<Uint8Array>): Promise<boolean> {
  let before = Buffer.alloc(0)
  for await (const part of bytes) {
    const read = Buffer.concat([before, part])
    if (read.includes(PACKAGE)) return true
    before = read.subarray(-PACKAGE.length)
  }
  return false
}

/**
 * Reads a sheet of a workbook: the first that people see and that has the header. `regels` has to be read to its end or left, for the thread to end.
 * @throws CsvError for what is no workbook, and for one that is made to be large
 */
export async function readImportXlsx(
  workbook: Uint8Array,
  { signal, sheet = '' }: { signal?: AbortSignal | undefined; sheet?: string } = {},
): Promise<ReadFile & { dialect: Dialect }> {
  let about: AboutSheet | undefined
  const rows = rowsOfSheet(workbook, sheet, signal, (so) => {
    about = so
  })
  const { header, regels } = await readImportRows(rows)
  const days = DATES.map((kolom) => placeOf(header, kolom))
  async function* withDays() {
    for await (const cells of regels) {
      // A day that was made with NOW() has a time as well, which Excel does not show.
      for (const place of days)
        if (DAY_AND_TIME.test(cells[place] ?? '')) cells[place] = cells[place]?.slice(0, 10) ?? ''
      yield cells
    }
  }
  return {
    header,
    regels: withDays(),
    firstRow: (about?.above ?? 0) + 2,
    dialect: { ...AS_EXCEL, ...(about && { workbook: about }) },
  }
}

const DAY_AND_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/

let heldOfAll = 0
const receiving = new Set<string>()

/**
 * Receives the whole of a workbook, since what is in it is told at its end, and lets `work` have it.
 * @param owner whose it is: of each one is received at a time
 * @throws CsvError for one that is too large; Problem 503 when what others send fills the memory for them
 */
export async function withWorkbook<T>(
  bytes: AsyncIterable<Uint8Array>,
  owner: string,
  work: (workbook: Uint8Array) => Promise<T>,
): Promise<T> {
  if (receiving.has(owner)) throw comeAgain()
  receiving.add(owner)
  let parts: Uint8Array[] = []
  let size = 0
  try {
    for await (const part of bytes) {
      if (size + part.length > MOST_BYTES)
        throw new CsvError('parse_error', `Een Excel-bestand mag ${MOST_BYTES / MB} MB groot zijn.`)
      if (heldOfAll + part.length > MOST_BYTES_OF_ALL) throw comeAgain()
      heldOfAll += part.length
      size += part.length
      parts.push(part)
    }
    const workbook = Buffer.concat(parts)
    parts = []
    return await work(workbook)
  } finally {
    heldOfAll -= size
    receiving.delete(owner)
  }
}

const comeAgain = () => new Problem(503, { headers: { 'retry-after': '30' } })

async function* rowsOfSheet(
  bytes: Uint8Array,
  sheet: string,
  signal: AbortSignal | undefined,
  told: (about: AboutSheet) => void,
): AsyncGenerator<string[]> {
  signal?.throwIfAborted()
  const thread = new Worker(new URL('./xlsx-thread.ts', import.meta.url), {
    workerData: { bytes, maxRecordBytes: MOST_RECORD, sheet } satisfies XlsxOrder,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: 16 },
  })
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {}) // whoever waits hears of it
  thread.on('error', (error: { code?: string }) =>
    failed.reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge() : error),
  )
  const leave = () => failed.reject(signal?.reason)
  signal?.addEventListener('abort', leave)
  const late = setTimeout(() => failed.reject(tooLarge()), OPEN_MS)
  try {
    for (let done = false; !done; ) {
      const said = Promise.withResolvers<XlsxReply>()
      thread.once('message', said.resolve)
      thread.postMessage('next')
      const reply = await Promise.race([said.promise, failed.promise])
      if ('fault' in reply) throw new CsvError('parse_error', reply.fault)
      if (reply.about) told(reply.about)
      yield* reply.rows
      done = reply.done
    }
  } finally {
    clearTimeout(late)
    signal?.removeEventListener('abort', leave)
    await thread.terminate()
  }
}

const tooLarge = () => new CsvError('parse_error', 'Het Excel-bestand is uitgepakt te groot.')
