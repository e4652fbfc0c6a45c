// The thread in which a ZIP of types is opened and its JSON parsed: how much work that is, is in the hands of whoever sends it.
// What is in it goes over in small batches, each when it is asked for, so that taking it in keeps nobody waiting.
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { parentPort, workerData } from 'node:worker_threads'
import yauzl from 'yauzl'
import { LIMITS } from '../../core/limits.ts'
import { expected } from '../../database/rows.ts'
import { standBack } from '../../lib/background-thread.ts'
import { countJson } from '../../lib/foreign-json.ts'

/** `mostBytes`: of all JSON together. */
export type PackageOrder = { bytes: Uint8Array; names: readonly string[]; mostBytes: number }
export type PackageItem = Record<string, unknown> & { url: string }
/** Each is given when it is asked for with any message; what is not `items` is the last. */
export type PackageReply = { name: string; items: PackageItem[] } | { fault: string } | { seen: string[] }

const SHOWN = 20 // names of files in a fault
const BATCH_BYTES = 128 * 1024
// The least of what a resource is, and of what a value is, on average.
const BYTES_OF_ITEM = 200
const BYTES_OF_VALUE = 16

class Fault extends Error {}

standBack()

async function send(reply: PackageReply): Promise<void> {
  const port = expected(parentPort)
  await once(port, 'message')
  port.postMessage(reply)
}
try {
  await send({ seen: await read(workerData) })
} catch (error) {
  await send({ fault: error instanceof Fault ? error.message : `dit is geen ZIP-bestand: ${(error as Error).message}` })
}

/** @returns names of files in the ZIP */
async function read({ bytes, names, mostBytes }: PackageOrder): Promise<string[]> {
  const seen: string[] = []
  const done = new Set<string>()
  let [bytesSoFar, itemsSoFar, valuesSoFar] = [0, 0, 0]
  const requireModest = () => {
    if (bytesSoFar > mostBytes) throw new Fault(`het bestand heeft meer dan ${mostBytes / 1024 / 1024} MB aan JSON`)
    for (const [count, most, what] of [
      [itemsSoFar, Math.floor(mostBytes / BYTES_OF_ITEM), 'onderdelen'],
      [valuesSoFar, Math.floor(mostBytes / BYTES_OF_VALUE), 'waarden'],
    ] as const)
      if (count > most) throw new Fault(`het bestand heeft meer dan ${most} ${what}`)
  }
  const zip = await yauzl.fromBufferPromise(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), {
    strictFileNames: false, // a backslash, as some programs for Windows write it, counts as a slash
    lazyEntries: true,
  })
  const folders = new Map<string, { name: string; fileName: string; entry: yauzl.Entry }[]>()
  for await (const entry of zip.eachEntry()) {
    const end = entry.fileName.lastIndexOf('/') + 1
    const [folder, fileName] = [entry.fileName.slice(0, end), entry.fileName.slice(end)]
    if (fileName === '' || folder.startsWith('__MACOSX/')) continue // what macOS adds when it packs
    if (seen.length < SHOWN) seen.push(entry.fileName.slice(0, 100))
    const name = names.find((known) => `${known}.json` === fileName)
    if (!name) continue
    const files = folders.get(folder) ?? []
    folders.set(folder, files)
    files.push({ name, fileName, entry })
  }
  for (const { name, fileName, entry } of filesOfPackage(folders)) {
    if (done.has(name)) throw new Fault(`${fileName} staat er meer dan eens in`)
    done.add(name)
    bytesSoFar += entry.uncompressedSize // reading stops when it is not true
    requireModest()
    const json = await buffer(await zip.openReadStreamPromise(entry))
    const { depth, values } = countJson(json)
    valuesSoFar += values
    requireModest()
    if (depth > LIMITS.depth) throw new Fault(`${fileName} heeft meer dan ${LIMITS.depth} niveaus`)
    const items = itemsIn(fileName, json)
    itemsSoFar += items.length
    requireModest()
    await sendItems(name, items)
  }
  return seen
}

/** Those at the top, or else those of the only folder: who unpacks a ZIP and packs it again has one around them. */
function filesOfPackage<T>(folders: Map<string, T[]>): T[] {
  const [first = [], ...others] = folders.values()
  const top = folders.get('')
  if (!top && others.length > 0) throw new Fault('de bestanden staan in meer dan een map')
  return top ?? first
}

function itemsIn(file: string, bytes: Buffer): PackageItem[] {
  let items: unknown
  try {
    items = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new Fault(`${file} is geen JSON`)
  }
  const good = (item: unknown) => typeof (item as PackageItem | null)?.url === 'string'
  if (!Array.isArray(items) || !items.every(good)) throw new Fault(`${file} is geen lijst van resources`)
  return items
}

async function sendItems(name: string, items: PackageItem[]): Promise<void> {
  let batch: PackageItem[] = []
  let size = 0
  await send({ name, items: [] }) // a file may be empty
  for (const item of items) {
    const bytes = JSON.stringify(item).length
    if (bytes > LIMITS.bodyBytes) throw new Fault(`${name}.json heeft een onderdeel van meer dan 1 MB`)
    batch.push(item)
    size += bytes
    if (size < BATCH_BYTES) continue
    await send({ name, items: batch })
    batch = []
    size = 0
  }
  if (batch.length > 0) await send({ name, items: batch })
}
