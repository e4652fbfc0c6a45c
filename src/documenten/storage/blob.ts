// What the two blob stores, S3 and Azure, have in common: a stream that is measured on its way, names that keep an
// existing blob, deadlines, and what their errors mean to us.
import { createHash, randomInt } from 'node:crypto'
import { PassThrough, type Readable } from 'node:stream'
import type { Logger } from 'pino'
import type { Backend } from '../../config/storage.ts'
import { StoreUnavailable } from './index.ts'

/** Size of a part or block. With at most 10,000 parts in S3 that is room for a document of 80 GB. */
export const PART = 8 * 1024 * 1024
/** Parts under way at once: what a write holds in memory is this many, and one that is being filled. */
export const PARTS_AT_ONCE = 2
/** A request is made at most this often. */
export const TRIES = 4
/** For everything but the bytes of a part: shorter than the 30 seconds that a transaction may be idle. */
const DEADLINE_MS = 20_000
/** For one part, all its tries together. */
export const PART_DEADLINE_MS = 60_000

/** For what goes in one request, all its tries together: whoever sends a small document hears within seconds that it cannot be kept. */
export const wholeDeadline = (bytes: number): number => 10_000 + Math.ceil(bytes / (256 * 1024)) * 1000

export type Measured = {
  stream: AsyncGenerator<Uint8Array>
  size(): number
  sha256(): string
  /** Whether the source failed (or the signal ended it), so that the store is not to blame. */
  fault(): { error: unknown } | undefined
}

/** Counts and hashes bytes that pass. */
export function measure(bytes: AsyncIterable<Uint8Array>, signal?: AbortSignal): Measured {
  const hash = createHash('sha256')
  let size = 0
  let fault: { error: unknown } | undefined
  async function* measure() {
    try {
      for await (const chunk of abortable(bytes, signal)) {
        hash.update(chunk)
        size += chunk.byteLength
        yield chunk
      }
    } catch (error) {
      fault = { error }
      throw error
    }
  }
  return { stream: measure(), size: () => size, sha256: () => hash.digest('hex'), fault: () => fault }
}

/** Ends at once when the signal does, also while the source is silent. */
export async function* abortable(bytes: AsyncIterable<Uint8Array>, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  if (!signal) return yield* bytes
  const source = bytes[Symbol.asyncIterator]()
  let done = false
  try {
    while (true) {
      // A listener per chunk: racing against one long promise would keep every chunk alive until that settles.
      const next = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        const abort = () => reject(signal.reason)
        if (signal.aborted) return abort()
        signal.addEventListener('abort', abort)
        source
          .next()
          .then(resolve, reject)
          .finally(() => signal.removeEventListener('abort', abort))
      })
      done = next.done === true
      if (done) return
      yield next.value
    }
  } finally {
    // Not awaited: a source that is silent would answer only after its next chunk.
    if (!done) void Promise.resolve(source.return?.()).catch(() => {})
  }
}

/** Whole parts of a stream, all of the same size but for the last. An empty stream is one empty part. */
export async function* inParts(bytes: AsyncIterable<Uint8Array>, size = PART): AsyncGenerator<Buffer> {
  let part: Buffer = Buffer.allocUnsafe(0)
  let used = 0
  let yielded = false
  for await (const chunk of bytes) {
    for (let from = 0; from < chunk.byteLength; ) {
      if (used === part.byteLength) part = grown(part, { used, wanted: used + chunk.byteLength - from, size })
      const taken = Math.min(chunk.byteLength - from, part.byteLength - used)
      part.set(chunk.subarray(from, from + taken), used)
      from += taken
      used += taken
      if (used < size) continue
      yield part
      yielded = true
      part = Buffer.allocUnsafe(0)
      used = 0
    }
  }
  if (used > 0 || !yielded) yield part.subarray(0, used)
}

/** Most documents are small, and many come in one chunk: a part begins at that size, and doubles. */
function grown(part: Buffer, { used, wanted, size }: { used: number; wanted: number; size: number }): Buffer {
  const larger = Buffer.allocUnsafe(Math.min(size, Math.max(wanted, 2 * part.byteLength)))
  part.copy(larger, 0, 0, used)
  return larger
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'

/**
 * The key to write under: the one that was asked for, or with a suffix when something stands there already, so that this
 * stays. What comes there between this question and the write is found by the condition of the write itself.
 */
export async function unusedKey(key: string, exists: (key: string) => Promise<boolean>): Promise<string> {
  let free = key
  for (let attempt = 0; await exists(free); attempt++) {
    if (attempt === 5) throw new StoreUnavailable('key-taken')
    const suffix = Array.from({ length: 7 }, () => LETTERS[randomInt(LETTERS.length)]).join('')
    const dot = key.lastIndexOf('.')
    const at = dot > key.lastIndexOf('/') + 1 ? dot : key.length
    free = `${key.slice(0, at)}_${suffix}${key.slice(at)}`
  }
  return free
}

/** A prefix of keys: empty, or ending in a slash. */
export function asPrefix(location: string): string {
  const trimmed = location.replace(/^\/+|\/+$/g, '')
  return trimmed === '' ? '' : `${trimmed}/`
}

/** Gives up on a call that takes too long; a stream that it gave is not cut off afterwards. */
export async function withDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { ms = DEADLINE_MS, signal }: { ms?: number; signal?: AbortSignal } = {},
): Promise<T> {
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(), ms)
  const abort = () => deadline.abort()
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  try {
    return await work(deadline.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

/** The size of the whole, from `Content-Range: bytes 0-9/1234`. */
export function wholeSize(contentRange: string | undefined, length: number | undefined): number {
  return Number(contentRange?.split('/')[1] ?? length)
}

type StoreError = {
  name?: string
  code?: unknown
  statusCode?: number
  $metadata?: { httpStatusCode?: number }
}

/** The HTTP status that an object store answered with; undefined when it did not answer. */
export function statusOf(error: unknown): number | undefined {
  const { $metadata, statusCode } = (error ?? {}) as StoreError
  return $metadata?.httpStatusCode ?? statusCode
}

/** The word by which a store tells what is wrong: `NoSuchBucket`, `ECONNREFUSED`. Nothing else of an error goes on. */
export function codeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as StoreError
  if (name === 'AbortError' || name === 'TimeoutError') return 'timeout'
  const status = statusOf(error)
  for (const word of [code, name]) {
    if (typeof word === 'string' && word !== 'Error' && word !== 'RestError' && /^\w{1,60}$/.test(word)) return word
  }
  return status ? `http-${status}` : 'unknown'
}

const LOG_EVERY_MS = 60_000

/**
 * Makes of an error of the SDK what we throw. Its own text, headers and cause stay behind, because they hold the request
 * that was signed. A store that refuses us (wrong credentials, no bucket) stays that way until somebody acts, so the log
 * says it, once a minute.
 */
export function storeFaults(backend: Backend, log?: Pick<Logger, 'error'>): (error: unknown) => unknown {
  let logged = -LOG_EVERY_MS
  return (error) => {
    if (error instanceof StoreUnavailable) return error
    const status = statusOf(error)
    const code = codeOf(error)
    // A mistake of ours looks different from an answer of the store or of the network.
    if ((error instanceof TypeError || error instanceof ReferenceError) && !status && code === error.name) return error
    const refused =
      status === 401 || status === 403 || status === 404 || /Credential|Authentication|NotConfigured/.test(code)
    if (refused && performance.now() - logged >= LOG_EVERY_MS) {
      logged = performance.now()
      log?.error({ backend, code, status }, 'the document storage refuses us: check its settings and rights')
    }
    return new StoreUnavailable(code)
  }
}

const BRAKE_MS = 1_000
const LONGEST_BRAKE_MS = 30_000

/** A store says that it takes nothing: it has too much to do, or does not let us. */
function isRefusal(error: unknown): boolean {
  const status = statusOf(error)
  return status === 401 || status === 403 || status === 429 || status === 503
}

/**
 * Keeps the writes of this process from a store that refused one: it would refuse the others too, and one that is busy gets busier.
 * After a while, which doubles, one write tries; the others wait for what comes of it.
 */
export function openBrake(): <T>(write: () => Promise<T>) => Promise<T> {
  let held: { code: string; ms: number; until: number } | undefined
  return async (write) => {
    const now = performance.now()
    if (held && now < held.until) throw new StoreUnavailable(held.code)
    const tries = held
    if (tries) tries.until = now + LONGEST_BRAKE_MS // for the others, until it is known
    try {
      const written = await write()
      if (tries && held === tries) held = undefined
      return written
    } catch (error) {
      if (isRefusal(error) && (!held || held === tries)) {
        const ms = Math.min(tries ? 2 * tries.ms : BRAKE_MS, LONGEST_BRAKE_MS)
        held = { code: codeOf(error), ms, until: performance.now() + ms }
      } else if (tries && held === tries) tries.until = 0 // its own source failed, or nobody answered: the next one tries
      throw error
    }
  }
}

/** The same bytes, with errors of the store as ours. Destroying it ends the request. */
export function guarded(body: Readable, asFault: (error: unknown) => unknown): Readable {
  const out = new PassThrough()
  body.once('error', (error) => out.destroy(asFault(error) as Error))
  body.once('close', () => {
    if (!body.readableEnded && !out.destroyed) out.destroy(new StoreUnavailable('connection-lost'))
  })
  out.once('close', () => body.destroy())
  return body.pipe(out)
}
