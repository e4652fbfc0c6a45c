import { Readable } from 'node:stream'
import { type Dialect, dialectOf } from './dialect.ts'

export type ReportLine = { cells: string[]; opmerking: string; resultaat: string }

/** What the column `resultaat` says. */
export const IMPORTED = 'Geïmporteerd'
export const NOT_IMPORTED = 'Niet geïmporteerd'
/** What it says of the last line, which is no row. */
export const FOOT = 'Bewijs'

const CHUNK = 64 * 1024

/**
 * The report as CSV: the original header and cells in their order, then `opmerking` and `resultaat`.
 *
 * These two stand under their headers in every row. A row with too few values is filled up with empty cells before
 * them. The surplus of a row with too many comes after them, unchanged and in order: dropped or joined it would no
 * longer be what was supplied, and before them it would push the result out of its column.
 * A file that is a report itself has its two columns filled anew.
 *
 * Cells come out exactly as they went in, unless `neutraliseer` is set; see `neutralizeCell`.
 */
export function reportCsv(
  header: string[],
  rows: AsyncIterable<ReportLine>,
  { neutraliseer, dialect, foot }: { neutraliseer: boolean; dialect?: Dialect; foot?: string | undefined },
): Readable {
  const columns = reportColumns(header)
  async function* records(): AsyncGenerator<string[]> {
    yield columns ? header : [...header, REMARK, RESULT]
    for await (const { cells, opmerking, resultaat } of rows) {
      const missing = Array<string>(Math.max(0, header.length - cells.length)).fill('')
      if (columns) {
        const filled = [...cells.slice(0, header.length), ...missing]
        filled[columns.remark] = opmerking
        filled[columns.result] = resultaat
        yield [...filled, ...cells.slice(header.length)]
        continue
      }
      yield [...cells.slice(0, header.length), ...missing, opmerking, resultaat, ...cells.slice(header.length)]
    }
    if (foot === undefined) return
    const empty = header.map(() => '')
    if (!columns) return yield [...empty, foot, FOOT]
    empty[columns.remark] = foot
    empty[columns.result] = FOOT
    yield empty
  }
  return csvStream(records(), neutraliseer ? neutralizeCell : (text) => text, dialect)
}

/** What a report says of rows: columns of its own, behind those of the file. */
export const [REMARK, RESULT] = ['opmerking', 'resultaat']

/** Where a report put its two columns; undefined for a file that is none. */
export function reportColumns(header: string[]): { remark: number; result: number } | undefined {
  const [remark, result] = [header.lastIndexOf(REMARK), header.lastIndexOf(RESULT)]
  return remark !== -1 && result !== -1 ? { remark, result } : undefined
}

/** The charset of a report on a file of this kind: spreadsheets know UTF-16 by its mark, and everything else becomes UTF-8. */
export function reportCharset({ charset }: Dialect): 'utf-8' | 'utf-16le' {
  return charset.startsWith('utf-16') ? 'utf-16le' : 'utf-8'
}

/**
 * Records as CSV, as it is made rather than all at once. Cells go through `wijzig` first.
 * @param dialect of the file that it belongs to; without one it is as RFC 4180 has it, in UTF-8
 */
export function csvStream(
  records: AsyncIterable<string[]>,
  change = (text: string) => text,
  dialect = dialectOf({ dialect: {} }),
): Readable {
  const { separator, newline, sepLine, charset, mark } = dialect
  const encoding = reportCharset(dialect) === 'utf-16le' ? 'utf16le' : 'utf8'
  // A spreadsheet takes what has no mark for its own code page, which was right for the file, and is not for UTF-8.
  const marked = mark || charset !== 'utf-8'
  const cell = (text: string) => csvCell(change(text), separator)
  async function* chunks(): AsyncGenerator<Buffer> {
    let text = `${marked ? '\ufeff' : ''}${sepLine ? `sep=${separator}${newline}` : ''}`
    for await (const cells of records) {
      text += cells.map(cell).join(separator) + newline
      if (text.length >= CHUNK) {
        yield Buffer.from(text, encoding)
        text = ''
      }
    }
    if (text !== '') yield Buffer.from(text, encoding)
  }
  return Readable.from(chunks(), { objectMode: false })
}

// Not the formatter of fast-csv: it drops NUL characters, and a row that failed for its NUL has to come back with it.
// White space at the ends and a byte order mark are quoted because readers, fast-csv among them, drop them otherwise.
function csvCell(text: string, separator: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) || text.includes(separator) ? `"${text.replaceAll('"', '""')}"` : text
}

// White space, invisible characters and quotes of any kind do not keep every spreadsheet from seeing what follows.
// Besides the ASCII characters their full-width and small forms, which some read as the same.
const FORMULE = /^[\p{Z}\p{C}\p{Pi}\p{Pf}"'`]*[\t\r\n=+\-@|＝＋－＠｜﹦﹢﹣﹫]/u

/**
 * A cell that a spreadsheet may run as a formula gets an apostrophe in front, numbers such as -1 and +31 included. To
 * undo it, take one apostrophe off every cell that is still such a cell without it; an apostrophe of the cell itself
 * counts as a quote, so what it began with is kept apart.
 *
 * It holds for a spreadsheet that splits the file at its separator. One that is told to split elsewhere makes cells of parts that
 * were not cells.
 */
export function neutralizeCell(text: string): string {
  return FORMULE.test(text) ? `'${text}` : text
}
