// How a CSV was written: what stands between its cells, its lines, and whether it tells so. A report is written the same way, so
// that it opens in the spreadsheet that the file came from.
import { columnNamed } from './columns.ts'
import { peek } from './peek.ts'
import type { AboutSheet } from './xlsx-thread.ts'

const SEPARATORS = [',', ';', '\t', '|'] as const
export type Separator = (typeof SEPARATORS)[number]
const NAMES = new Set<string>(SEPARATORS)

export type Dialect = {
  kind?: 'csv' | 'ndjson'
  separator: Separator
  newline: '\r\n' | '\n' | '\r'
  /** Whether the first line is `sep=;`, with which Excel is told the separator. */
  sepLine: boolean
  charset: string
  /** Whether it begins with a byte order mark. */
  mark: boolean
  /** Of a workbook: which sheet was read. */
  workbook?: AboutSheet
}

/** As RFC 4180 has it. */
const PLAIN: Dialect = { separator: ',', newline: '\r\n', sepLine: false, charset: 'utf-8', mark: false }

/** How the file of an import was written. */
export function dialectOf(row: { dialect: unknown }): Dialect {
  return { ...PLAIN, ...(row.dialect as Partial<Dialect>) }
}

const LOOK_AHEAD = 64 * 1024
const SEP_LINE = /^"?sep=([,;\t|])"?(\r\n|\n|\r)/i
const SEP_LINE_BEGIN = /^"?s?e?p?=?[,;\t|]?"?\r?$/i

/**
 * Finds out what stands between the cells and the lines, in the header. The separator is the one that makes the most columns of an
 * import; a line `sep=;` before the header says it outright.
 * @returns the same bytes again without such a line, of which a part was read ahead
 */
export async function findDialect(
  utf8: AsyncIterable<Buffer>,
): Promise<Pick<Dialect, 'separator' | 'newline' | 'sepLine'> & { bytes: AsyncIterable<Buffer> }> {
  let looked: Look = look(Buffer.alloc(0))
  const { ahead, bytes } = await peek(utf8, (read) => {
    looked = look(read)
    return looked.header !== undefined || read.length >= LOOK_AHEAD
  })
  const header = looked.header ?? ahead.toString('utf8', looked.skip, looked.skip + LOOK_AHEAD)
  return {
    separator: looked.separator ?? likeliest(header),
    newline: looked.newline ?? '\r\n',
    sepLine: looked.skip > 0,
    bytes: looked.skip > 0 ? without(bytes, looked.skip) : bytes,
  }
}

/** `skip` bytes are the line with the separator. The header is there as soon as all of it is, with what ends its line. */
type Look = { skip: number; separator?: Separator; header?: string; newline?: Dialect['newline'] }

function look(read: Buffer): Look {
  const begin = read.toString('latin1', 0, 16)
  const [line = '', separator = ''] = SEP_LINE.exec(begin) ?? []
  // The LF of a CRLF may be in the next chunk.
  if (line === begin && (line === '' || line.endsWith('\r'))) return { skip: 0 }
  if (line === '' && SEP_LINE_BEGIN.test(begin)) return { skip: 0 }
  const skip = line.length
  let quoted = false
  for (let i = skip; i < read.length; i++) {
    const byte = read[i]
    if (byte === 0x22) quoted = !quoted
    else if (!quoted && (byte === 0x0a || byte === 0x0d)) {
      if (byte === 0x0d && i + 1 === read.length) break
      const newline = byte === 0x0a ? '\n' : read[i + 1] === 0x0a ? '\r\n' : '\r'
      return { skip, ...named(separator), header: read.toString('utf8', skip, i), newline }
    }
  }
  return { skip, ...named(separator) }
}

const named = (separator: string) => (NAMES.has(separator) ? { separator: separator as Separator } : {})

/** Of two that make as many columns the first in the list. */
function likeliest(header: string): Separator {
  let best: { separator: Separator; columns: number } = { separator: ',', columns: 0 }
  for (const separator of SEPARATORS) {
    const columns = header.split(separator).filter((naam) => columnNamed(naam.replaceAll('"', ''))).length
    if (columns > best.columns) best = { separator, columns }
  }
  // None that is known: what makes cells at all.
  if (best.columns === 0) return SEPARATORS.find((separator) => header.includes(separator)) ?? ','
  return best.separator
}

async function* without(bytes: AsyncIterable<Buffer>, count: number): AsyncGenerator<Buffer> {
  let left = count
  for await (const chunk of bytes) {
    const rest = chunk.subarray(left)
    left -= Math.min(left, chunk.length)
    if (rest.length > 0) yield rest
  }
}
