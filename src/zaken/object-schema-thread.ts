// The thread in which the jq and the JSON schema of a client do their work. Neither can be trusted with time or memory: the
// side that started it ends it when it takes too long, and the memory of jq does not grow past a limit. From within jq there
// are no files, no environment and no network.
import { parentPort, workerData } from 'node:worker_threads'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { loadJq } from 'jq-wasm'
import type { Assignment, SchemaVerdict, Step } from './object-schema.ts'

const PAGE = 65_536
const MAX_MEMORY = 128 * 1024 * 1024
// Limits of a thread are those of JavaScript; the memory of WebAssembly lies outside them.
type Memory = { buffer: ArrayBuffer; grow(pages: number): number }
const memory = (globalThis as unknown as { WebAssembly: { Memory: { prototype: Memory } } }).WebAssembly.Memory
  .prototype
const { grow } = memory
memory.grow = function (pages) {
  if (this.buffer.byteLength + pages * PAGE > MAX_MEMORY) throw new RangeError('more memory than is allowed')
  return grow.call(this, pages)
}

const jq = await loadJq()
const { objecttype, schema, object, objectData } = workerData as Assignment
const begin = (stap: Step) => parentPort?.postMessage({ stap } satisfies SchemaVerdict)
const end = (fout: Step | null) => parentPort?.postMessage({ fout } satisfies SchemaVerdict)

/** The first answer of a filter; undefined when it has none, or is no jq at all. */
function first(json: string, filter: string): unknown {
  try {
    return jq.first(json, filter)
  } catch {
    return undefined
  }
}

/** Whether the data keep to the schema; undefined when that is none. */
function judge(given: Record<string, unknown>, data: unknown): boolean | undefined {
  const { $schema = '', ...rest } = given
  const options = { strict: false, validateFormats: false, logger: false } as const
  const ajv = /2020-12/.test(String($schema)) ? new Ajv2020(options) : new Ajv(options)
  try {
    return ajv.compile(rest)(data) === true
  } catch {
    return undefined
  }
}

function run(): Step | null {
  begin('schema')
  const found = first(objecttype, schema)
  if (found === null || typeof found !== 'object' || Array.isArray(found)) return 'schema'
  begin('objectData')
  const data = first(object, objectData)
  if (data === undefined || data === null) return 'objectData'
  begin('object')
  const past = judge(found as Record<string, unknown>, data)
  return past === undefined ? 'schema' : past ? null : 'object'
}

end(run())
