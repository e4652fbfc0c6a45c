// The thread in which a workbook is opened: how much work that is, is in the hands of whoever made it. Its rows go over in batches, each
// when it is asked for.
import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import { streamXlsxRows } from 'hucre/xlsx'
import yauzl from 'yauzl'
import { expected } from '../../database/rows.ts'
import { standBack } from '../../lib/background-thread.ts'
import { hasColumnsOfImport, NO_OUTCOME } from './columns.ts'

/** `sheet`: its name, when somebody chose one. */
export type XlsxOrder = { bytes: Uint8Array; maxRecordBytes: number; sheet: string }
/** Rows of the sheet, from the header on; the last says that they are all. The first come with what sheet they are of. */
export type XlsxReply = { rows: string[][]; done: boolean; about?: AboutSheet } | { fault: string }
export type AboutSheet = {
  sheet: string
  /** The other sheets that people see. */
  others: string[]
  /** Lines of the sheet before its header. */
  above: number
  /** Rows and columns that are hidden, and ranges of cells that were merged: all of it is read as it lies there. */
  hidden: number
  merged: number
}

const MB = 1024 * 1024
const MOST_BYTES = 1024 * MB // of all parts, unpacked: a million rows of an import are this large
const MOST_SMALL_BYTES = 64 * MB // of a part that is read as a whole, such as the texts that cells share
const MOST_PARTS = 2000
const MOST_ROWS = 1_048_576 // of Excel
const MOST_CELLS = 50_000_000
/** Of all rows: cells share texts, so that a small file may say a large one a million times. */
const MOST_CHARACTERS = 256 * MB
/** Of one message: whoever gets it reads it in one go. */
const BATCH_CELLS = 20_000
const BATCH_CHARACTERS = 256 * 1024
const LEFT_MS = 300_000
const ABOUT = new Set(['xl/workbook.xml', 'xl/_rels/workbook.xml.rels'])
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const unescaped = (text: string) =>
  text.replaceAll(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name] ?? '')
const CELL =
  /<c\s[^>]{0,200}?r="([A-Z]{1,3})(\d{1,7})"[^>]{0,200}>\s{0,9}<f(?:\s[^>]{0,200})?(?:\/>|>[^<]{0,9000}<\/f>)\s{0,9}(?:<v\/>|<v><\/v>)?<\/c>/g
const HIDDEN = /<(?:row|col)\s[^>]{0,300}?hidden="(?:1|true)"/g
const MERGED = /<mergeCell\s/g
/** A cell with its formula may be as long. */
const OVERLAP = 10_000
const MOST_FORMULAS = 100_000
const placeOfLetters = (letters: string) =>
  [...letters].reduce((sum, letter) => 26 * sum + letter.charCodeAt(0) - 64, 0) - 1
/** A header is not looked for further down. */
const LINES_ABOVE = 50

class Fault extends Error {}

const CUT_OFF = 'Het Excel-bestand is afgekapt: het eind ontbreekt. Kopieer of download het opnieuw.'
const NO_WORKBOOK = 'Het bestand is geen Excel-werkmap die wij kunnen lezen.'

standBack()

async function send(reply: XlsxReply): Promise<void> {
  const port = expected(parentPort)
  const left = AbortSignal.timeout(LEFT_MS) // nobody asks any more
  await once(port, 'message', { signal: left }).catch(() => process.exit())
  port.postMessage(reply)
}

try {
  await sendRows(workerData as XlsxOrder)
} catch (error) {
  const isCut = /end of central directory/i.test((error as Error).message)
  const what = error instanceof Fault ? error.message : isCut ? CUT_OFF : NO_WORKBOOK
  await send({ fault: what })
}

async function sendRows({ bytes, maxRecordBytes, sheet }: XlsxOrder): Promise<void> {
  const parts = await requireModest(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  let rows: string[][] = []
  let [cells, characters, all] = [0, 0, 0]
  let about: AboutSheet | undefined
  const told = (so: AboutSheet) => {
    about = so
  }
  const takeAbout = () => {
    const so = about && { about }
    about = undefined
    return so
  }
  for await (const row of rowsOf(bytes, parts, sheet, maxRecordBytes, told)) {
    const size = row.reduce((sum, cell) => sum + cell.length, 0)
    all += size
    if (all > MOST_CHARACTERS) throw tooLarge()
    rows.push(row)
    cells += row.length + 1
    characters += size
    if (cells < BATCH_CELLS && characters < BATCH_CHARACTERS) continue
    await send({ rows, done: false, ...takeAbout() })
    rows = []
    cells = 0
    characters = 0
  }
  await send({ rows, done: true, ...takeAbout() })
}

/**
 * Unpacks what is read as a whole, without keeping it: what a part says that its size is may be wrong, and then reading fails.
 * @returns the parts that tell which sheets there are
 * @throws Fault
 */
async function requireModest(bytes: Buffer): Promise<Parts> {
  const zip = await yauzl.fromBufferPromise(bytes, { lazyEntries: true })
  if (zip.entryCount > MOST_PARTS) throw tooLarge()
  const about = new Map<string, string>()
  let all = 0
  for await (const entry of zip.eachEntry()) {
    all += entry.uncompressedSize
    const isSheet = /^xl\/worksheets\/[^/]+\.xml$/i.test(entry.fileName)
    if (all > MOST_BYTES || (!isSheet && entry.uncompressedSize > MOST_SMALL_BYTES)) throw tooLarge()
    if (isSheet || entry.fileName.endsWith('/')) continue
    const isAbout = ABOUT.has(entry.fileName.toLowerCase())
    const read: Buffer[] = []
    for await (const part of await zip.openReadStreamPromise(entry)) if (isAbout) read.push(part as Buffer)
    if (isAbout) about.set(entry.fileName.toLowerCase(), Buffer.concat(read).toString())
  }
  return { zip: bytes, about }
}

type Parts = { zip: Buffer; about: Map<string, string> }

type Sheet = { name: string; place: number; isHidden: boolean; part: string }

/** The sheets in their order. */
function sheetsOf({ about }: Parts): Sheet[] {
  const targets = new Map(
    elements(about.get('xl/_rels/workbook.xml.rels') ?? '', 'Relationship').map(({ Id, Target = '' }) => [
      Id,
      Target.startsWith('/') ? Target.slice(1) : `xl/${Target}`,
    ]),
  )
  return elements(about.get('xl/workbook.xml') ?? '', 'sheet').map(({ name = '', state, ...rest }, place) => {
    const id = Object.entries(rest).find(([key]) => key.endsWith(':id'))?.[1]
    return { name, place, isHidden: state === 'hidden' || state === 'veryHidden', part: targets.get(id) ?? '' }
  })
}

/** The attributes of all elements of a name. */
function elements(xml: string, name: string): Record<string, string>[] {
  return [...xml.matchAll(new RegExp(`<(?:\\w{1,20}:)?${name}\\s([^>]{0,2000})>`, 'g'))].map(([, text = '']) =>
    Object.fromEntries(
      [...text.matchAll(/([\w:]{1,60})\s?=\s?"([^"]{0,1000})"/g)].map(([, key, value = '']) => [key, unescaped(value)]),
    ),
  )
}

/** What the reader of rows does not tell. `noOutcome`: cells with a formula of which no outcome is stored, as `row column`, from 0. */
async function lookThrough({ zip }: Parts, part: string) {
  const so = { noOutcome: new Set<string>(), hidden: 0, merged: 0 }
  const opened = await yauzl.fromBufferPromise(zip, { lazyEntries: true })
  for await (const entry of opened.eachEntry()) {
    if (entry.fileName !== part) continue
    let kept = ''
    const find = (text: string, end: number) => {
      for (const [, column = '', row] of matchesBefore(text, CELL, end))
        if (so.noOutcome.size < MOST_FORMULAS) so.noOutcome.add(`${Number(row) - 1} ${placeOfLetters(column)}`)
      so.hidden += matchesBefore(text, HIDDEN, end).length
      so.merged += matchesBefore(text, MERGED, end).length
    }
    for await (const chunk of await opened.openReadStreamPromise(entry)) {
      kept += (chunk as Buffer).toString('latin1')
      if (kept.length < 8 * OVERLAP) continue
      find(kept, kept.length - OVERLAP)
      kept = kept.slice(-OVERLAP)
    }
    find(kept, kept.length)
  }
  return so
}

/** Those that begin before `end`: what begins behind it is looked at with what follows. */
function matchesBefore(text: string, pattern: RegExp, end: number): RegExpMatchArray[] {
  return [...text.matchAll(pattern)].filter(({ index }) => index < end)
}

/** The rows of the first sheet that people see and that has a header, from that on; or of the one that was chosen. */
async function* rowsOf(
  bytes: Uint8Array,
  parts: Parts,
  chosen: string,
  maxRecordBytes: number,
  told: (about: AboutSheet) => void,
): AsyncGenerator<string[]> {
  const sheets = sheetsOf(parts)
  const seen = sheets.filter(({ isHidden }) => !isHidden)
  const named = sheets.filter(({ name }) => name.trim().toLowerCase() === chosen.trim().toLowerCase())
  if (chosen.trim() !== '' && named.length === 0)
    throw new Fault(`De werkmap heeft geen blad “${chosen}”. Er zijn: ${seen.map(({ name }) => name).join(', ')}.`)
  const candidates = named.length > 0 ? named : seen.length > 0 ? seen : sheets.slice(0, 1)
  for (const sheet of candidates) {
    const header = await headerOf(bytes, sheet)
    if (header === undefined && sheet !== candidates.at(-1)) continue
    // None has a header of an import: the first one is refused with what it lacks.
    const read = header === undefined ? (candidates[0] ?? sheet) : sheet
    const { noOutcome, hidden, merged } = await lookThrough(parts, read.part)
    const others = seen.filter(({ name }) => name !== read.name).map(({ name }) => name)
    const tell = (above: number) => told({ sheet: read.name, others, above, hidden, merged })
    return yield* rowsFrom(bytes, read, header, { maxRecordBytes, noOutcome, tell })
  }
}

/** The place of the first row that names columns of an import. */
async function headerOf(bytes: Uint8Array, { place }: Sheet): Promise<number | undefined> {
  for await (const { index, values } of streamXlsxRows(bytes, { sheet: place })) {
    if (index >= LINES_ABOVE) return undefined
    if (hasColumnsOfImport(values.map(textOf))) return index
  }
  return undefined
}

async function* rowsFrom(
  bytes: Uint8Array,
  { place }: Sheet,
  header: number | undefined,
  { maxRecordBytes, noOutcome, tell }: { maxRecordBytes: number; noOutcome: Set<string>; tell(above: number): void },
): AsyncGenerator<string[]> {
  let next: number | undefined
  let all = 0
  for await (const { index, values } of streamXlsxRows(bytes, { sheet: place })) {
    if (index >= MOST_ROWS) throw tooLarge()
    all += values.length + 1
    if (all > MOST_CELLS) throw tooLarge()
    if (header !== undefined && index < header) continue
    const isWithout = (column: number) => noOutcome.size > 0 && noOutcome.has(`${index} ${column}`)
    let end = values.length
    while (end > 0 && isBlank(values[end - 1]) && !isWithout(end - 1)) end--
    if (end === 0 && next === undefined) continue
    if (next === undefined) tell(index)
    for (next ??= index; next < index; next++) yield [] // Excel leaves out rows without anything
    next = index + 1
    const cells = Array.from({ length: end }, (_, column) => (isWithout(column) ? NO_OUTCOME : textOf(values[column])))
    if (cells.reduce((sum, cell) => sum + cell.length, 0) > maxRecordBytes)
      throw new Fault(`Rij ${next} is groter dan ${maxRecordBytes} tekens.`)
    yield cells
  }
}

function isBlank(value: unknown): boolean {
  return value === null || value === undefined || value === ''
}

/** A cell as somebody would type it. Excel keeps numbers to fifteen digits, and days as numbers with the time behind the point. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  // A longer one has lost digits, which its form shows: a column that needs them refuses it.
  if (typeof value === 'number' && Math.abs(value) >= 1e15)
    return value.toExponential(14).replace('e', 'E').replace('.', ',')
  if (typeof value === 'number') return String(Number.isInteger(value) ? value : Number(value.toPrecision(15)))
  if (value instanceof Date && !Number.isNaN(value.getTime())) {
    const [day = '', time = ''] = value.toISOString().split('T')
    return time.startsWith('00:00:00') ? day : `${day}T${time.slice(0, 8)}`
  }
  return isBlank(value) ? '' : String(value)
}

function tooLarge(): Fault {
  return new Fault('Het Excel-bestand is uitgepakt te groot.')
}
