import { pipeline, Readable } from 'node:stream'
import { parse } from 'fast-csv'
import { decode } from './charset.ts'
import { COLUMN_NAMES, isEmptyRow, placesOf } from './columns.ts'
import { CsvError } from './csv-error.ts'
import { type Dialect, findDialect, type Separator } from './dialect.ts'
import { wholeRecords } from './records.ts'

export { COLUMN_NAMES, CsvError }

/** The header is row 1, as in the report and in its comments. */
const FIRST_ROW_NUMBER = 2

/** `firstRow` is the number in the file of the first of `regels`, when it is not 2. */
export type ReadFile = { header: string[]; regels: AsyncIterable<string[]>; firstRow?: number }

/**
 * Reads an import CSV as a stream, whatever stands between its cells and in whatever charset it is. Resolves with the header once that is known to be good; then `regels` gives every
 * record as its original cells, a blank line as an empty array. A file that is not in its charset or not CSV, and a source that
 * breaks off, reject the iteration.
 *
 * A stream is left open when reading stops early, for the caller to drain or to destroy: a client that is still sending
 * may miss the answer to a request that nobody reads on.
 * @param charset that the sender declared
 */
export async function readImportCsv(
  bytes: Readable | AsyncIterable<Uint8Array>,
  { maxRecordBytes = 1024 * 1024, charset }: { maxRecordBytes?: number; charset?: string } = {},
): Promise<ReadFile & { dialect: Dialect }> {
  const source = bytes instanceof Readable ? bytes.iterator({ destroyOnReturn: false }) : bytes
  const decoded = await decode(source, charset)
  const { bytes: utf8, ...found } = await findDialect(decoded.bytes)
  const { separator, sepLine } = found
  const records = wholeRecords(utf8, maxRecordBytes, { separator, firstLine: sepLine ? 2 : 1 })
  try {
    const first = await records.next()
    if (first.done) throw new CsvError('empty-file', 'Het bestand is leeg.')
    const [header = []] = await Array.fromAsync(parseRecords([first.value], separator))
    requireHeader(header)
    const dialect = { ...found, charset: decoded.charset, mark: decoded.mark }
    return { header, dialect, regels: parseRecords(records, separator) }
  } catch (error) {
    await records.return(undefined)
    throw error
  }
}

/** The same of rows that are no text: the first is the header. */
export async function readImportRows(rows: AsyncGenerator<string[]>): Promise<ReadFile> {
  try {
    const first = await rows.next()
    if (first.done) throw new CsvError('empty-file', 'Het bestand is leeg.')
    requireHeader(first.value, 'sheet')
    return { header: first.value, regels: rows }
  } catch (error) {
    await rows.return(undefined)
    throw error
  }
}

function parseRecords(
  records: Iterable<Buffer> | AsyncIterable<Buffer>,
  delimiter: Separator,
): AsyncIterable<string[]> {
  const csv = parse<string[], string[]>({ headers: false, delimiter })
  pipeline(Readable.from(records), csv, () => {}) // what goes wrong comes out of the iteration
  return csv
}

/** Names may differ in case and have blanks around them. Columns without a name hide nothing, spreadsheets leave them behind: any number may be there. */
function requireHeader(header: string[], of: 'text' | 'sheet' = 'text'): void {
  const { places, twice } = placesOf(header)
  const missing = COLUMN_NAMES.filter((column) => !places.has(column))
  if (missing.length > 0) {
    const seen = places.size < FEW ? whatItSaw(header, of) : ''
    throw new CsvError('missing-import-headers', `In de kopregel ontbreken: ${missing.join(', ')}.${seen}`)
  }
  if (twice.length > 0) {
    throw new CsvError('duplicate-import-headers', `In de kopregel staan meer dan eens: ${listed(twice)}.`)
  }
}

/** A line of values may have the name of a column among them. */
const FEW = 2

/** For what is no header of an import: it may be another line, or the separator may be another one. */
function whatItSaw(header: string[], of: 'text' | 'sheet'): string {
  const hint =
    of === 'sheet'
      ? 'Staat de kopregel op een ander blad, kies dat dan.'
      : header.length === 1
        ? 'Is het scheidingsteken geen komma, puntkomma of tab?'
        : 'Staat de kopregel wel op de eerste regel van het bestand?'
  const count = header.length === 1 ? 'één kolom' : `${header.length} kolommen`
  return ` Er staat daar ${count}: ${listed(header)}. ${hint}`
}

/** A header may be as large as any record, its error message may not. */
function listed(names: string[]): string {
  const shown = names.slice(0, 20).map((name) => (name.length > 100 ? `${name.slice(0, 100)}…` : name))
  return shown.join(', ') + (names.length > 20 ? ` en nog ${names.length - 20}` : '')
}

/**
 * A row as COPY in text format has it, without the id of its import that stands before it. JSON leaves no control character bare, so
 * the backslash is all that COPY needs escaped; a NUL stays the six characters of its JSON escape.
 */
export function rowLine(number: number, cells: string[]): string {
  return `${number}\t${JSON.stringify(cells).replaceAll('\\', '\\\\')}\n`
}

/** What a file is told that has more rows than an import may have. */
export const tooManyRows = (most: number): CsvError =>
  new CsvError('too-many-rows', `Een import heeft hier ten hoogste ${most} rijen.`)

const PORTION = 512 * 1024 // characters

/** From the row with this number on, so much is added to numbers to get those of the file. */
export type Shift = { number: number; shift: number }

/** Tells by its cells why a row is passed over: it became a document before, or it is the foot of a report. */
export type PassesOver = (cells: string[]) => 'imported' | 'foot' | false

/** Rows on their way into the database. The numbers tell what came so far. */
export type Portions = AsyncIterable<string[]> & {
  /** Rows that were given. */
  readonly count: number
  readonly emptyRows: number
  readonly passedOver: number
  readonly shifts: Shift[]
}

/**
 * The records as lines of `rowLine`, in portions of about 512 thousand characters. Each gets its number. Rows without anything in them
 * are passed over, and those that `passesOver` names.
 * @param options.most a row beyond it ends the iteration with a CsvError
 * @param options.firstRow the number in the file of the first record
 */
export function portionsOf(
  rows: AsyncIterable<string[]>,
  {
    most = Number.POSITIVE_INFINITY,
    firstRow = FIRST_ROW_NUMBER,
    passesOver = () => false,
  }: { most?: number | undefined; firstRow?: number | undefined; passesOver?: PassesOver } = {},
): Portions {
  const so = { count: 0, emptyRows: 0, passedOver: 0, shifts: [] as Shift[] }
  async function* portions(): AsyncGenerator<string[]> {
    let lines: string[] = []
    let size = 0
    let shift = 0
    let line = firstRow - 1
    for await (const cells of rows) {
      line++
      if (isEmptyRow(cells)) {
        so.emptyRows++
        continue
      }
      const passed = passesOver(cells)
      if (passed) {
        if (passed === 'imported') so.passedOver++
        continue
      }
      if (so.count >= most) throw tooManyRows(most)
      const number = FIRST_ROW_NUMBER + so.count
      if (line - number !== shift) {
        shift = line - number
        so.shifts.push({ number, shift })
      }
      const text = rowLine(number, cells)
      so.count++
      lines.push(text)
      size += text.length
      if (size < PORTION) continue
      yield lines
      lines = []
      size = 0
    }
    if (size > 0) yield lines
  }
  return {
    [Symbol.asyncIterator]: portions,
    get count() {
      return so.count
    },
    get emptyRows() {
      return so.emptyRows
    },
    get passedOver() {
      return so.passedOver
    },
    get shifts() {
      return so.shifts
    },
  }
}
