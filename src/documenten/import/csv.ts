import { pipeline, Readable } from 'node:stream'
import { parse } from 'fast-csv'
import { KOLOMMEN } from './columns.ts'
import { CsvError } from './csv-error.ts'
import { findSeparator, type Separator, wholeRecords } from './records.ts'
import { strictUtf8 } from './utf8.ts'

export { CsvError, KOLOMMEN }

/** The header is row 1, as in the report and in its comments. */
const FIRST_ROW_NUMBER = 2

/**
 * Reads an import CSV as a stream, with commas or, as Excel writes it in Dutch, with semicolons. Resolves with the header once that is known to be good; then `regels` gives every
 * record as its original cells, a blank line as an empty array. A file that is not UTF-8 or not CSV, and a source that
 * breaks off, reject the iteration.
 *
 * A stream is left open when reading stops early, for the caller to drain or to destroy: a client that is still sending
 * may miss the answer to a request that nobody reads on.
 */
export async function readImportCsv(
  bytes: Readable | AsyncIterable<Uint8Array>,
  { maxRecordBytes = 1024 * 1024 }: { maxRecordBytes?: number } = {},
): Promise<{ kop: string[]; regels: AsyncIterable<string[]> }> {
  const source = bytes instanceof Readable ? bytes.iterator({ destroyOnReturn: false }) : bytes
  const { separator, bytes: utf8 } = await findSeparator(strictUtf8(source))
  const records = wholeRecords(utf8, maxRecordBytes, separator)
  try {
    const header = await records.next()
    if (header.done) throw new CsvError('empty-file', 'Het bestand is leeg.')
    const [kop = []] = await Array.fromAsync(parseRecords([header.value], separator))
    requireHeader(kop)
    return { kop, regels: parseRecords(records, separator) }
  } catch (error) {
    await records.return(undefined)
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

/** Names are compared exactly. Columns without a name hide nothing, spreadsheets leave them behind: any number may be there. */
function requireHeader(kop: string[]): void {
  const seen = new Set<string>()
  const twice = new Set<string>()
  for (const naam of kop) {
    if (naam !== '' && seen.has(naam)) twice.add(naam)
    seen.add(naam)
  }
  const missing = KOLOMMEN.filter((kolom) => !seen.has(kolom))
  if (missing.length > 0) {
    const hint =
      kop.length === 1 && kop[0]?.includes('\t')
        ? ' De kolommen moeten met een komma of puntkomma gescheiden zijn.'
        : ''
    throw new CsvError('missing-import-headers', `In de kopregel ontbreken: ${missing.join(', ')}.${hint}`)
  }
  if (twice.size > 0) {
    throw new CsvError('duplicate-import-headers', `In de kopregel staan meer dan eens: ${listed([...twice])}.`)
  }
}

/** A header may be as large as any record, its error message may not. */
function listed(names: string[]): string {
  const shown = names.slice(0, 20).map((name) => (name.length > 100 ? `${name.slice(0, 100)}…` : name))
  return shown.join(', ') + (names.length > 20 ? ` en nog ${names.length - 20}` : '')
}

/**
 * One line of COPY text format for import_row (import_id, nummer, cellen). JSON leaves no control character bare, so
 * the backslash is all that COPY needs escaped; a NUL stays the six characters of its JSON escape.
 */
export function copyLine(importId: number, nummer: number, cellen: string[]): string {
  return `${importId}\t${nummer}\t${JSON.stringify(cellen).replaceAll('\\', '\\\\')}\n`
}

const COPY_CHUNK = 64 * 1024

/**
 * The records as input for `COPY import_row (import_id, nummer, cellen) FROM STDIN`, in chunks of about 64 KiB. Each
 * gets its row number; `aantal` tells how many there were so far.
 */
export function copyLines(
  importId: number,
  regels: AsyncIterable<string[]>,
): AsyncIterable<Buffer> & { readonly aantal: number } {
  let aantal = 0
  async function* lines(): AsyncGenerator<Buffer> {
    let text = ''
    for await (const cellen of regels) {
      text += copyLine(importId, FIRST_ROW_NUMBER + aantal, cellen)
      aantal++
      if (text.length >= COPY_CHUNK) {
        yield Buffer.from(text)
        text = ''
      }
    }
    if (text !== '') yield Buffer.from(text)
  }
  return {
    [Symbol.asyncIterator]: lines,
    get aantal() {
      return aantal
    },
  }
}
