// The thread in which a workbook is opened: how much work that is, is in the hands of whoever made it. Its rows go over in batches, each
// when it is asked for.
import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import { streamXlsxRows } from 'hucre/xlsx'
import yauzl from 'yauzl'
import { expected } from '../../database/rows.ts'
import { standBack } from '../../lib/background-thread.ts'

export type XlsxOrder = { bytes: Uint8Array; maxRecordBytes: number }
/** Rows of the first sheet, from the first on; the last says that they are all. */
export type XlsxReply = { rows: string[][]; done: boolean } | { fault: string }

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
  const { bytes, maxRecordBytes } = workerData as XlsxOrder
  await requireModest(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  let rows: string[][] = []
  let [cells, characters, all] = [0, 0, 0]
  for await (const row of rowsOf(bytes, maxRecordBytes)) {
    const size = row.reduce((sum, cell) => sum + cell.length, 0)
    all += size
    if (all > MOST_CHARACTERS) throw tooLarge()
    rows.push(row)
    cells += row.length + 1
    characters += size
    if (cells < BATCH_CELLS && characters < BATCH_CHARACTERS) continue
    await send({ rows, done: false })
    rows = []
    cells = 0
    characters = 0
  }
  await send({ rows, done: true })
} catch (error) {
  const isCut = /end of central directory/i.test((error as Error).message)
  const what = error instanceof Fault ? error.message : isCut ? CUT_OFF : NO_WORKBOOK
  await send({ fault: what })
}

/**
 * Unpacks what is read as a whole, without keeping it: what a part says that its size is may be wrong, and then reading fails.
 * @throws Fault
 */
async function requireModest(bytes: Buffer): Promise<void> {
  const zip = await yauzl.fromBufferPromise(bytes, { lazyEntries: true })
  if (zip.entryCount > MOST_PARTS) throw tooLarge()
  let all = 0
  for await (const entry of zip.eachEntry()) {
    all += entry.uncompressedSize
    const isSheet = /^xl\/worksheets\/[^/]+\.xml$/i.test(entry.fileName)
    if (all > MOST_BYTES || (!isSheet && entry.uncompressedSize > MOST_SMALL_BYTES)) throw tooLarge()
    if (isSheet || entry.fileName.endsWith('/')) continue
    for await (const _ of await zip.openReadStreamPromise(entry));
  }
}

async function* rowsOf(bytes: Uint8Array, maxRecordBytes: number): AsyncGenerator<string[]> {
  let next: number | undefined // the header is the first row with anything in it
  let all = 0
  for await (const { index, values } of streamXlsxRows(bytes)) {
    if (index >= MOST_ROWS) throw tooLarge()
    all += values.length + 1
    if (all > MOST_CELLS) throw tooLarge()
    let end = values.length
    while (end > 0 && isBlank(values[end - 1])) end--
    if (end === 0 && next === undefined) continue
    for (next ??= index; next < index; next++) yield [] // Excel leaves out rows without anything
    next = index + 1
    const cells = Array.from({ length: end }, (_, column) => textOf(values[column]))
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
