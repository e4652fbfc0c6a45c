// The content of a document as it comes in: base64 text within JSON, of any size. The text is decoded straight into
// storage; of the rest, which is small, JSON.parse makes the body. So memory does not grow with the document.
//
// A scanner walks over the bytes and only knows strings, escapes and nesting. It copies everything into a buffer until it
// has read the key under which the content stands, hands the string that follows to the decoder, and puts `""` in its place.
// Whether all of it is JSON is for JSON.parse to say. (stream-json was tried: it cuts a string into pieces of 256
// characters, which makes it some twenty times slower than looking for the closing quote.)
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LIMITS } from '../../core/limits.ts'
import { type InvalidParam, invalid, invalidAll, Problem } from '../../core/problem.ts'
import { isUnavailable } from '../../database/database.ts'
import { takePieces } from '../../http/content.ts'
import { jsonParser, tooDeep } from '../../http/json.ts'
import { newKey, type Store, type StoredBytes } from '../storage/index.ts'

/** What came with a request: the body as it was sent, and the content that is in storage by now. */
export type Received = { raw: Record<string, unknown>; bytes: StoredBytes | null; fault: InvalidParam | null }

declare module 'fastify' {
  interface FastifyRequest {
    ontvangen: Received
  }
}

const MOST_CONTENTS = 3 // the last counts; each is written

/**
 * Makes the routes of this plugin take `inhoud`: the parser of application/json writes it to storage. In the body `inhoud` is
 * then a text when content came, `null` when it was empty. Handlers do their work within `keepingContent`.
 * @param within keys from the root to the object that holds `inhoud`
 */
export function registerContent(app: FastifyInstance, within: readonly string[] = []): void {
  const { store, config } = app.parts
  app.removeContentTypeParser('application/json')
  app.decorateRequest('ontvangen')
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, stream: true }
  })
  const parse = jsonParser(app)
  takePieces(app, 'application/json', async (request, payload) => {
    const { rest, bytes, fault } = await receive(limited(payload, config.minUploadSize), within, store)
    if (request.method === 'DELETE' && rest.byteLength === 0 && !bytes) return undefined
    try {
      const body = await parse(request, rest)
      request.ontvangen = { raw: body as Record<string, unknown>, bytes, fault }
      const holder = at(body, within)
      if (holder && holder.inhoud === '') holder.inhoud = bytes || fault ? RECEIVED : null
      return body
    } catch (error) {
      await discard(store, bytes)
      throw error
    }
  })
}

// What stands in the body for content that was received. No client can send it: a text of his is always content.
const RECEIVED = 'ontvangen'

/** Faults of `inhoud` itself: of its base64, or a value that is no text. */
export function contentFaults(request: FastifyRequest, given: string | null | undefined): InvalidParam[] {
  if (request.ontvangen?.fault) return [request.ontvangen.fault]
  if (typeof given !== 'string' || given === RECEIVED) return []
  return [{ name: 'inhoud', code: 'invalid', reason: 'De inhoud is tekst (base64) of null.' }]
}

/**
 * Does what a request asks; when that fails, the content that came with it is removed again. After a broken connection
 * nobody knows whether the change was committed: then the bytes stay, and are swept away later when no row names them.
 */
export async function keepingContent<T>(
  app: FastifyInstance,
  request: FastifyRequest,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const done = await work()
    if (request.actor.key?.isReplayed) await discard(app.parts.store, request.ontvangen?.bytes ?? null)
    return done
  } catch (error) {
    if (!isUnavailable(error)) await discard(app.parts.store, request.ontvangen?.bytes ?? null)
    throw error
  }
}

/** Removes bytes that no row will name; the sweep takes what stays behind when this fails. */
export async function discard(store: Store, bytes: StoredBytes | null): Promise<void> {
  if (bytes) await store.remove(bytes.key).catch(() => {})
}

async function* limited(payload: AsyncIterable<Buffer>, max: number): AsyncGenerator<Buffer> {
  let size = 0
  for await (const chunk of payload) {
    size += chunk.byteLength
    if (size > max) throw new Problem(413)
    yield chunk
  }
}

function at(body: unknown, path: readonly string[]): Record<string, unknown> | undefined {
  let value = body
  for (const key of path) value = (value as Record<string, unknown> | null | undefined)?.[key]
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

// ---- the scanner ----

const QUOTE = 0x22
const BACKSLASH = 0x5c

async function receive(
  payload: AsyncIterable<Buffer>,
  within: readonly string[],
  store: Store,
): Promise<{ rest: Buffer; bytes: StoredBytes | null; fault: InvalidParam | null }> {
  const source = payload[Symbol.asyncIterator]()
  const kept: Buffer[] = []
  let size = 0
  let bytes: StoredBytes | null = null
  let fault: InvalidParam | null = null
  let contents = 0
  const keep = (part: Buffer) => {
    size += part.byteLength
    if (size > LIMITS.bodyBytes) throw new Problem(413)
    kept.push(part)
  }
  const scanner = contentScanner([...within, 'inhoud'])
  try {
    for (let chunk = await next(source); chunk; chunk = await next(source)) {
      let rest: Buffer = chunk
      while (rest.byteLength > 0) {
        const start = scanner.scan(rest)
        keep(rest.subarray(0, start ?? rest.byteLength))
        if (start === undefined) break
        const text = jsonText(source, rest.subarray(start))
        if (++contents > MOST_CONTENTS) throw invalid('inhoud', 'invalid', 'Geef de inhoud één keer.')
        await discard(store, bytes) // a repeated key: the last counts
        const received = await storeText(store, text)
        bytes = received.bytes
        fault = received.fault
        keep(Buffer.from('"'))
        rest = text.rest()
      }
    }
    return { rest: Buffer.concat(kept), bytes, fault }
  } catch (error) {
    await discard(store, bytes)
    throw error
  }
}

async function next(source: AsyncIterator<Buffer>): Promise<Buffer | undefined> {
  const { done, value } = await source.next()
  return done ? undefined : value
}

/**
 * Follows JSON byte by byte. `scan` gives the place just after the quote with which the content begins, when it begins in
 * this chunk; the next call is to begin after the quote with which it ends. Only keys that may lead to the content are read.
 */
function contentScanner(path: readonly string[]) {
  let depth = 0
  let matched = 0 // how many keys of `path` lead to where this is
  let firstArray = 0 // the depth at which an array was entered; 0 for none
  const string = Buffer.alloc(LONGEST_KEY) // the last one: a key, when a colon follows
  let length = 0
  let hasEscapes = false
  let inString = false
  let escaped = false
  let afterColon = false

  function isKey(expected: string): boolean {
    if (length > LONGEST_KEY) return false
    if (hasEscapes) return readKey(string.toString('utf8', 0, length)) === expected
    return length === expected.length && string.toString('latin1', 0, length) === expected
  }

  return {
    scan(chunk: Buffer): number | undefined {
      for (let place = 0; place < chunk.byteLength; place++) {
        const byte = chunk[place]!
        if (inString) {
          if (escaped) escaped = false
          else if (byte === BACKSLASH) escaped = hasEscapes = true
          else if (byte === QUOTE) {
            inString = false
            continue
          }
          if (length < LONGEST_KEY) string[length] = byte
          length++
        } else if (byte === QUOTE) {
          if (afterColon && depth === path.length && matched === depth && firstArray === 0) {
            afterColon = false
            return place + 1
          }
          inString = true
          hasEscapes = false
          length = 0
          afterColon = false
        } else if (byte === 0x3a) {
          const expected = path[depth - 1]
          if (expected !== undefined && firstArray === 0 && matched >= depth - 1)
            matched = isKey(expected) ? depth : depth - 1
          afterColon = true
        } else if (byte === 0x7b || byte === 0x5b) {
          if (++depth > LIMITS.depth) throw tooDeep()
          if (byte === 0x5b && firstArray === 0) firstArray = depth
          afterColon = false
        } else if (byte === 0x7d || byte === 0x5d) {
          if (firstArray === depth) firstArray = 0
          depth = Math.max(0, depth - 1)
          matched = Math.min(matched, depth)
        } else if (byte > 0x20) afterColon = false
      }
      return undefined
    },
  }
}

const LONGEST_KEY = 200 // in bytes, with its escapes

function readKey(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return '' // no JSON: the parser will say so
  }
}

type JsonText = { pieces: AsyncGenerator<string>; rest(): Buffer }

/** The text of one JSON string, in pieces, unescaped; `rest` is what follows its closing quote. */
function jsonText(source: AsyncIterator<Buffer>, first: Buffer): JsonText {
  let pending: Buffer | undefined = first
  let rest: Buffer = Buffer.alloc(0)
  async function* pieces(): AsyncGenerator<string> {
    let carry = Buffer.alloc(0) // the begin of an escape that the chunk cut off
    for (; pending; pending = await next(source)) {
      const chunk: Buffer = carry.byteLength > 0 ? Buffer.concat([carry, pending]) : pending
      const end = closingQuote(chunk)
      const body = chunk.subarray(0, end ?? chunk.byteLength - cutEscape(chunk))
      if (body.byteLength > 0) yield unescaped(body.toString('latin1')) // base64 is ASCII: nothing else decodes anyway
      if (end !== undefined) {
        rest = chunk.subarray(end + 1)
        return
      }
      carry = Buffer.from(chunk.subarray(body.byteLength))
    }
    throw new SyntaxError('the text ends within a string')
  }
  return { pieces: pieces(), rest: () => rest }
}

function unescaped(text: string): string {
  if (!text.includes('\\') && !hasControl(text)) return text
  return JSON.parse(`"${text}"`) as string
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what JSON forbids within a string
const hasControl = (text: string) => /[\x00-\x1f]/.test(text)

/** Where the first quote is that no backslash escapes. The chunk begins outside of any escape. */
function closingQuote(chunk: Buffer): number | undefined {
  for (let place = chunk.indexOf(QUOTE); place !== -1; place = chunk.indexOf(QUOTE, place + 1)) {
    if (backslashesBefore(chunk, place) % 2 === 0) return place
  }
  return undefined
}

function backslashesBefore(chunk: Buffer, place: number): number {
  let count = 0
  while (place - count > 0 && chunk[place - count - 1] === BACKSLASH) count++
  return count
}

/** How many bytes at the end are the begin of an escape: `\`, or `\u` with fewer than four digits. */
function cutEscape(chunk: Buffer): number {
  const from = chunk.lastIndexOf(BACKSLASH)
  if (from === -1 || backslashesBefore(chunk, from) % 2 === 1) return 0
  const length = chunk.byteLength - from
  return length === 1 || (chunk[from + 1] === 0x75 && length < 6) ? length : 0
}

// ---- base64 ----

type Base64Code = keyof typeof REASONS

class Base64Fault extends Error {
  readonly code: Base64Code
  constructor(code: Base64Code) {
    super(code)
    this.code = code
  }
}

const REASONS = {
  'incorrect-base64-padding': 'De base64 van de inhoud is niet goed aangevuld: de lengte is geen veelvoud van vier.',
  'invalid-base64': 'De inhoud is geen geldige base64.',
}

async function storeText(
  store: Store,
  text: JsonText,
): Promise<{ bytes: StoredBytes | null; fault: InvalidParam | null }> {
  const decoded = decodeBase64(reading(text.pieces))
  try {
    const first = await decoded.next()
    if (first.done) return { bytes: null, fault: null }
    return { bytes: await store.write(newKey(), startingWith(first.value, decoded), { fresh: true }), fault: null }
  } catch (error) {
    if (!(error instanceof Base64Fault)) throw error
    for await (const _ of text.pieces); // on to the end of the string, for the faults of the other fields
    return { bytes: null, fault: { name: 'inhoud', code: error.code, reason: REASONS[error.code] } }
  }
}

/** The same pieces, without ending their generator when whoever reads them stops halfway. */
async function* reading(pieces: AsyncGenerator<string>): AsyncGenerator<string> {
  for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) yield piece.value
}

async function* startingWith(first: Buffer, others: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first
  yield* others
}

/** Strict: only the alphabet and line breaks, and padding nowhere but at the end. A prefix `data:…;base64,` is left out. */
async function* decodeBase64(pieces: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let carry = ''
  let ended = false
  for await (const piece of withoutDataPrefix(pieces)) {
    const text = carry + (/[\r\n]/.test(piece) ? piece.replace(/[\r\n]+/g, '') : piece)
    if (ended && text !== '') throw new Base64Fault('invalid-base64')
    const whole = text.slice(0, text.length - (text.length % 4))
    carry = text.slice(whole.length)
    const bytes = decodeWhole(whole)
    if (!bytes || !/^[A-Za-z0-9+/]*={0,2}$/.test(carry)) throw new Base64Fault('invalid-base64')
    ended = whole.endsWith('=')
    if (whole !== '') yield bytes
  }
  if (carry !== '') throw new Base64Fault('incorrect-base64-padding')
}

/** The decoder leaves out what is no base64, and takes the alphabet for addresses and letters of more than a byte for others. */
function decodeWhole(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const isWhole = bytes.byteLength === (text.length / 4) * 3 - padding
  return isWhole && !text.includes('-') && !text.includes('_') && Buffer.byteLength(text) === text.length
    ? bytes
    : undefined
}

async function* withoutDataPrefix(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let head: string | undefined = ''
  for await (const piece of pieces) {
    if (head === undefined) {
      yield piece
      continue
    }
    head += piece
    if ('data:'.startsWith(head.slice(0, 5).toLowerCase())) {
      const comma = head.indexOf(',')
      if (comma === -1 && head.length < 4096) continue // the prefix has not come whole yet
      if (/;base64$/i.test(head.slice(0, Math.max(comma, 0)))) head = head.slice(comma + 1)
    }
    yield head
    head = undefined
  }
  if (head) yield head
}

/** 400 on the faults of a body, all together: those of its shape and those of its content. */
export function requireValidBody(request: FastifyRequest, names: readonly string[], faults: InvalidParam[]): void {
  const shape = request.validationError as unknown
  if (shape && !(shape instanceof Problem && shape.status === 400)) throw shape
  const all = [...((shape as Problem | null)?.invalidParams ?? []), ...faults]
  if (shape && all.length === 0) throw shape
  if (all.length === 0) return
  const place = ({ name }: InvalidParam) => names.indexOf(name.split('.')[0] ?? name)
  throw invalidAll(all.sort((a, b) => place(a) - place(b)))
}
