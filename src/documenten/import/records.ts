import { CsvError } from './csv-error.ts'
import type { Separator } from './dialect.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const CR = 0x0d
const LF = 0x0a

// fast-csv makes a substring per token, which is almost twice as slow on 64 KiB of text as on 16 KiB.
const SLICE = 16 * 1024

// A spreadsheet leaves 16,384 cells behind at most. fast-csv takes a record at once: a megabyte of commas would keep all waiting.
const MOST_CELLS = 20_000
const HEADER_BYTES = 64 * 1024

// Where in a record the scan is. After a CR it waits for the LF that may belong to it.
const CELL_START = 0
const PLAIN = 1
const WRAPPED = 2
const QUOTED = 3
const AFTER_QUOTE = 4
const AFTER_CR = 5
const AFTER_LF = 6

/**
 * Cuts UTF-8 bytes of a CSV into pieces that end at the end of a record, the header in a piece of its own, and refuses
 * what fast-csv would read silently wrong or only after taking it all into memory: a record that is too large (such as
 * the rest of a file behind an unclosed quote) or has too many cells, an unclosed quote, text after a closing quote.
 *
 * The scan takes a quote as RFC 4180 does: it opens a cell only as its first character, and elsewhere in an unquoted
 * cell it is an ordinary character. fast-csv skips white space before a quote, at the begin of a record and at the end
 * of the file, and a byte order mark at the begin of a chunk. Cells that begin with anything but visible ASCII are
 * therefore passed on between quotes, which gives the same value and leaves it nothing to skip.
 */
export async function* wholeRecords(
  utf8: AsyncIterable<Buffer>,
  maxRecordBytes: number,
  { separator = ',', firstLine = 1 }: { separator?: Separator; firstLine?: number } = {},
): AsyncGenerator<Buffer> {
  const scan: Scan = {
    maxRecordBytes,
    separator: separator.charCodeAt(0),
    place: CELL_START,
    previous: 0,
    line: firstLine,
    record: 1,
    recordLine: firstLine,
    recordBytes: 0,
    cells: 1,
    out: Buffer.allocUnsafe(4 * SLICE),
    used: 0,
    whole: 0,
  }
  for await (const chunk of utf8) {
    for (let from = 0; from < chunk.length; from += SLICE) {
      let slice = chunk.subarray(from, from + SLICE)
      if (scan.record === 1) {
        // The header is taken before anything behind it is looked at, so a bad header is always the first thing found.
        slice = slice.subarray(scanSlice(scan, slice, true))
        if (scan.whole > 0) yield take(scan)
      }
      scanSlice(scan, slice, false)
      if (scan.whole > 0) yield take(scan)
    }
  }
  if (scan.place === QUOTED) throw refuse(scan, 'heeft een aanhalingsteken dat niet wordt gesloten')
  if (scan.place === WRAPPED) scan.out[scan.used++] = QUOTE
  scan.whole = scan.used
  if (scan.whole > 0) yield take(scan)
}

type Scan = {
  maxRecordBytes: number
  separator: number
  place: number
  previous: number
  line: number
  record: number
  recordLine: number
  recordBytes: number
  cells: number
  out: Buffer
  used: number
  /** How much of what is used ends at the end of a record. */
  whole: number
}

/** Returns how far it came: to the end, or with `oneRecord` to the first byte of the next record. */
function scanSlice(scan: Scan, slice: Buffer, oneRecord: boolean): number {
  const { separator } = scan
  const maxRecordBytes = oneRecord ? Math.min(HEADER_BYTES, scan.maxRecordBytes) : scan.maxRecordBytes
  const out = withRoom(scan, 2 * slice.length + 1) // a byte becomes two at most; one more for a quote at the end
  let { place, previous, line, recordBytes, cells, used } = scan // variables, because this runs for every byte
  let i = 0
  for (; i < slice.length; i++) {
    const byte = slice[i]!
    if (place === AFTER_LF || (place === AFTER_CR && byte !== LF)) {
      place = CELL_START
      recordBytes = 0
      cells = 1
      scan.record++
      scan.recordLine = line
      scan.whole = used
      if (oneRecord) break
    }
    if (++recordBytes > maxRecordBytes) {
      throw refuse(scan, `is groter dan ${maxRecordBytes} bytes; misschien ontbreekt een aanhalingsteken`)
    }
    if (byte === CR || (byte === LF && previous !== CR)) line++
    previous = byte

    if (place === QUOTED) {
      if (byte === QUOTE) place = AFTER_QUOTE
    } else if (place === PLAIN && byte > COMMA && byte !== separator) {
      // by far the most bytes
    } else if (byte === QUOTE && place === AFTER_QUOTE) {
      place = QUOTED
    } else if (byte === separator || byte === CR || byte === LF) {
      if (place === WRAPPED) out[used++] = QUOTE
      place = byte === separator ? CELL_START : byte === CR ? AFTER_CR : AFTER_LF
      if (byte === separator && ++cells > MOST_CELLS) throw refuse(scan, `heeft meer dan ${MOST_CELLS} waarden`)
    } else if (place === AFTER_QUOTE) {
      throw refuse(scan, 'bevat tekst na een sluitend aanhalingsteken')
    } else if (place === CELL_START) {
      place = byte === QUOTE ? QUOTED : byte > 0x20 && byte < 0x7f ? PLAIN : WRAPPED
      if (place === WRAPPED) out[used++] = QUOTE
    } else if (place === WRAPPED && byte === QUOTE) {
      out[used++] = QUOTE
    }
    out[used++] = byte
  }
  if (place === AFTER_LF) scan.whole = used // nothing more can belong to it: it need not wait for the next chunk
  Object.assign(scan, { place, previous, line, recordBytes, cells, used })
  return i
}

function withRoom(scan: Scan, extra: number): Buffer {
  if (scan.used + extra > scan.out.length) {
    const larger = Buffer.allocUnsafe(Math.max(2 * scan.out.length, scan.used + extra))
    scan.out.copy(larger, 0, 0, scan.used)
    scan.out = larger
  }
  return scan.out
}

function take(scan: Scan): Buffer {
  const piece = Buffer.from(scan.out.subarray(0, scan.whole))
  scan.out.copyWithin(0, scan.whole, scan.used)
  scan.used -= scan.whole
  scan.whole = 0
  return piece
}

function refuse({ record, recordLine }: Scan, why: string): CsvError {
  return new CsvError('parse_error', `Rij ${record}, die begint op regel ${recordLine} van het bestand, ${why}.`)
}
