// NDJSON: an import with one document a line, as the API itself writes one, plus `bestandspad`. A line is staged as the 27 columns, by
// which rows are shown and found, and behind them the line itself, from which the document is made.
import { Readable } from 'node:stream'
import { LIMITS } from '../../core/limits.ts'
import { keepSourcesAtOnce, sourcesIn } from '../../http/numbers.ts'
import { parseForeignJson } from '../../lib/foreign-json.ts'
import { Metagegevens } from '../document/columns.ts'
import { decode } from './charset.ts'
import { COLUMN_NAMES, type CsvRow, type RowAsDocument, rowToDocument } from './columns.ts'
import type { ReadFile } from './csv.ts'
import { CsvError } from './csv-error.ts'
import type { Dialect } from './dialect.ts'
import { FOOT, type ReportLine } from './report.ts'

const LINE = 'application/x-ndjson'
const HEADER = [...COLUMN_NAMES, LINE]
const FIELDS = new Set(Object.keys(Metagegevens.properties))
const CHUNK = 64 * 1024
const LF = 0x0a

type Fields = Record<string, unknown>

/** Whether the rows below this header are lines of NDJSON. */
export function isNdjson(header: string[]): boolean {
  return header.length === HEADER.length && header.at(-1) === LINE
}

/**
 * The counterpart of `readImportCsv`. A line that is no JSON object is a row like any other, which is refused when it is judged.
 * @throws CsvError for what is not in its charset, and for a line that is too large
 */
export async function readImportNdjson(
  bytes: Readable | AsyncIterable<Uint8Array>,
  { maxRecordBytes = 1024 * 1024, charset }: { maxRecordBytes?: number; charset?: string } = {},
): Promise<ReadFile & { dialect: Partial<Dialect> }> {
  const source = bytes instanceof Readable ? bytes.iterator({ destroyOnReturn: false }) : bytes
  const decoded = await decode(source, charset)
  return { header: HEADER, dialect: { kind: 'ndjson' }, regels: rows(decoded.bytes, maxRecordBytes), firstRow: 1 }
}

async function* rows(utf8: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<string[]> {
  let count = 0
  for await (const line of lines(utf8, maxBytes)) {
    count++
    yield line === '' ? [] : cellsOf(line)
  }
  if (count === 0) throw new CsvError('empty-file', 'Het bestand is leeg.')
}

async function* lines(utf8: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<string> {
  let parts: Buffer[] = []
  let size = 0
  let number = 1
  const add = (part: Buffer) => {
    size += part.length
    if (size > maxBytes)
      throw new CsvError('parse_error', `Regel ${number} van het bestand is groter dan ${maxBytes} bytes.`)
    parts.push(part)
  }
  const taken = () => {
    const line = ofArray(Buffer.concat(parts).toString().trim())
    parts = []
    size = 0
    number++
    return line
  }
  for await (const chunk of utf8) {
    let from = 0
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, from)) {
      add(chunk.subarray(from, end))
      from = end + 1
      yield taken()
    }
    if (from < chunk.length) add(chunk.subarray(from))
  }
  if (size > 0) yield taken()
}

/** Lines of an array that has one object a line: without its brackets and commas they are lines of NDJSON. */
function ofArray(line: string): string {
  if (line === '[' || line === ']' || line === ',') return ''
  return /^\[?\s*\{.*\}\s*[,\]]?$/s.test(line)
    ? line
        .replace(/^\[\s*/, '')
        .replace(/[,\]]$/, '')
        .trimEnd()
    : line
}

/** A line as any body of a request is read: within the same bounds, and with the digits that were sent. */
function parsed(line: string): Fields | undefined {
  try {
    const value = keepSourcesAtOnce(line, parseForeignJson(Buffer.from(line), LIMITS))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? grouped(value as Fields) : undefined
  } catch {
    return undefined
  }
}

const DOTTED = COLUMN_NAMES.filter((column) => column.includes('.'))

/** Fields that are named as the columns of a CSV (`integriteit.waarde`) become parts of their group. */
function grouped(fields: Fields): Fields {
  for (const name of DOTTED) {
    if (!Object.hasOwn(fields, name)) continue
    const [group = '', part = ''] = name.split('.')
    fields[group] = { ...(fields[group] as Fields | null | undefined), [part]: fields[name] }
    delete fields[name]
  }
  return fields
}

function cellsOf(line: string): string[] {
  const fields = parsed(line)
  if (!fields) return [...COLUMN_NAMES.map(() => ''), line]
  // What a change feed delivers has its uuid in its address alone.
  const uuid = fields.uuid ?? /[0-9a-f-]{36}$/i.exec(textOf(fields.url))?.[0]
  const cells = COLUMN_NAMES.map((column) => {
    if (column === 'uuid') return textOf(uuid)
    const [name = '', part] = column.split('.')
    const holder = part === undefined ? fields : fields[name]
    return isHolder(holder) ? textOf(holder[part ?? name], sourcesIn(holder)?.get(part ?? name)) : ''
  })
  return [...cells, line]
}

const isHolder = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** @param source what was sent, of a number that JavaScript writes otherwise */
function textOf(value: unknown, source?: string): string {
  if (typeof value === 'string') return value
  if (source !== undefined) return source
  if (value === null || value === undefined) return ''
  return Array.isArray(value) ? value.map((one) => textOf(one)).join(',') : JSON.stringify(value)
}

/** The counterpart of `rowToDocument`: the fields as they stand in the line. Undefined when it is no JSON object. */
export function lineToDocument(row: CsvRow, line: string): RowAsDocument | undefined {
  const fields = parsed(line)
  if (!fields) return undefined
  const fromCells = rowToDocument(row)
  const own = new Set<string>(['uuid', 'bestandspad', 'zaakUuid', 'informatieobjecttype'])
  const body = fields // the object that was parsed, by which the digits of its numbers are known
  for (const name of Object.keys(body)) if (!FIELDS.has(name)) delete body[name]
  // A type may be named, which was written into its cell as its URL.
  if (typeof fields.informatieobjecttype === 'string') body.informatieobjecttype = fromCells.body.informatieobjecttype
  return { ...fromCells, body, cellFaults: fromCells.cellFaults.filter(({ kolom }) => own.has(kolom)) }
}

/** The report: each line with `opmerking` and `resultaat` behind its fields, and what the document was given. */
export function reportNdjson(header: string[], rows: AsyncIterable<ReportLine>, foot?: string): Readable {
  const [uuid, identificatie] = [header.indexOf('uuid'), header.indexOf('identificatie')]
  async function* chunks(): AsyncGenerator<Buffer> {
    let text = ''
    for await (const { cells, opmerking, resultaat } of rows) {
      const line = cells.at(-1) ?? ''
      const fields = parsed(line) ?? { regel: line }
      const given = {
        ...(cells[uuid] && { uuid: cells[uuid] }),
        ...(cells[identificatie] && { identificatie: cells[identificatie] }),
      }
      text += `${JSON.stringify({ ...given, ...withoutEmpty(withDigits(fields)), opmerking, resultaat })}\n`
      if (text.length >= CHUNK) {
        yield Buffer.from(text)
        text = ''
      }
    }
    if (foot !== undefined) text += `${JSON.stringify({ opmerking: foot, resultaat: FOOT })}\n`
    if (text !== '') yield Buffer.from(text)
  }
  return Readable.from(chunks(), { objectMode: false })
}

/** The same, of which the numbers are written with the digits that were sent. */
function withDigits<T extends object>(value: T): T {
  const sources = sourcesIn(value)
  const copy = (Array.isArray(value) ? [] : {}) as Record<string, unknown>
  for (const [name, one] of Object.entries(value)) {
    const source = sources?.get(name)
    copy[name] = source !== undefined ? rawJson(source) : isHolder(one) ? withDigits(one) : one
  }
  return copy as T
}

/** A number in JSON, as it is written. The types do not know it yet. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): object }

/** Without a uuid or identificatie that says nothing, in the place of which comes what was given. */
function withoutEmpty({ uuid, identificatie, ...rest }: Fields): Fields {
  return { ...(uuid ? { uuid } : {}), ...(identificatie ? { identificatie } : {}), ...rest }
}

/** The lines of rows, as they came. */
export function ndjsonStream(rows: AsyncIterable<string[]>): Readable {
  async function* lines(): AsyncGenerator<string> {
    for await (const cells of rows) yield `${cells.at(-1)}\n`
  }
  return Readable.from(lines(), { objectMode: false })
}
