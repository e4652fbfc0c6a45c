// Answers with many rows. What is small is sent whole. What grows is written portion by portion, as fast as the client reads,
// so that neither the rows nor their text are ever in memory together.
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LIMITS } from '../core/limits.ts'
import { Problem } from '../core/problem.ts'
import { inTurn } from '../lib/in-turn.ts'
import { countLongAnswers } from './long-answers.ts'
import { fifthOf } from './places.ts'
import { largeTurn } from './turns.ts'
import { noteText } from './verwerkingen.ts'

/** Where rows come from, and what stands around them in the answer. */
export type Rows<Row> = {
  /** How many are asked for at first; later as many as fit in a portion of `LIMITS.portionBytes`. */
  first: number
  /** The next rows. Several statements, not a cursor: a client that reads slowly holds no connection and no snapshot. */
  next(limit: number): Promise<{ rows: Row[]; more: boolean }>
  /** A generator where single resources are so large that they are better made one by one, or even in pieces of `Written`. */
  toResources(rows: Row[]): Iterable<unknown> | AsyncIterable<unknown> | Promise<Iterable<unknown>>
  head?: string
  tail?: string
}

/** A resource that is written as JSON piece by piece, because it may be larger than all others of a page together. */
export class Written {
  readonly pieces: Iterable<string> | AsyncIterable<string>
  constructor(pieces: Iterable<string> | AsyncIterable<string>) {
    this.pieces = pieces
  }

  /** An object of which some values come as JSON already. */
  static object(value: object, texts: Record<string, Iterable<string> | AsyncIterable<string>>): Written {
    return new Written(members(value, texts))
  }
}

async function* members(value: object, texts: Record<string, Iterable<string> | AsyncIterable<string>>) {
  let before = '{'
  for (const [name, one] of Object.entries(value)) {
    const text = Object.hasOwn(texts, name) ? texts[name] : undefined
    const json = text === undefined ? JSON.stringify(one) : ''
    if (json === undefined) continue
    yield `${before}${JSON.stringify(name)}:${json}`
    before = ','
    if (text !== undefined) yield* text
  }
  yield before === '{' ? '{}' : '}'
}

/**
 * Sends rows as JSON. An answer up to `LIMITS.wholeAnswerBytes` is sent whole, so that whatever goes wrong is still a problem.
 * A longer one is streamed; when it cannot be completed the connection is broken off, so that no client takes it for whole.
 * @throws Problem 503 when as many answers are being streamed as are allowed
 */
export async function sendRows<Row>(
  request: FastifyRequest,
  reply: FastifyReply,
  rows: Rows<Row>,
): Promise<FastifyReply> {
  const pieces = write(request, rows)
  reply.type('application/json; charset=utf-8')
  let begin = ''
  for (;;) {
    const { done, value } = await pieces.next()
    if (done) return reply.send(begin)
    begin += value
    if (begin.length > LIMITS.wholeAnswerBytes) break
  }
  if (request.method === 'HEAD') return reply.send('')
  countStream(request, reply)
  return reply.send(Readable.from(after(request, begin, pieces), { objectMode: false, highWaterMark: PIECE }))
}

/** Counts an answer that is streamed, before its first byte. @throws Problem 503 as `sendRows` */
export const countStream = countLongAnswers(LIMITS.streams, LIMITS.streamsOfClient, LIMITS.streamsOfAccount)
const PIECE = 64 * 1024

async function* after(request: FastifyRequest, begin: string, pieces: AsyncGenerator<string>): AsyncGenerator<string> {
  noteText(request, begin)
  yield begin
  for await (const piece of pieces) {
    noteText(request, piece)
    yield piece
  }
}

/** The text, in pieces of about 64 kB. */
async function* write<Row>(
  request: FastifyRequest,
  { first, next, toResources, head = '[', tail = ']' }: Rows<Row>,
): AsyncGenerator<string> {
  const deadline = performance.now() + LIMITS.streamMs
  let total = 0
  let text = head
  let separator = ''
  for (let limit = first; ; ) {
    const { rows, more } = await next(limit)
    let bytes = 0
    const found = await toResources(rows)
    const isThere = Array.isArray(found)
    let written = 0
    // Takes as many at once as fit in a piece, judged by the size of those before. The first goes alone.
    const room = () => (written === 0 ? 1 : Math.floor((PIECE * written) / Math.max(1, bytes)))
    const resources = stepsOf(isThere ? grouped(found, room) : found)
    for (let one = resources.next(); ; one = resources.next()) {
      const { done, value: resource } = one instanceof Promise ? await one : one
      if (done) break
      written += Array.isArray(resource) ? resource.length : 1
      text += separator
      separator = ','
      const pieces = stepsOf(resource instanceof Written ? resource.pieces : [jsonOf(resource, isThere)])
      for (let piece = pieces.next(); ; piece = pieces.next()) {
        const { done, value: json } = piece instanceof Promise ? await piece : piece
        if (done) break
        bytes += json.length
        text += json
        if (text.length < PIECE) continue
        total += text.length
        yield text
        text = ''
        await (total > LIMITS.portionBytes ? largeTurn(request) : setImmediate()) // others must not be kept waiting
      }
    }
    if (!more) break
    if (performance.now() > deadline) throw new Error(`an answer took longer than ${LIMITS.streamMs} ms to read`)
    const size = bytes / Math.max(1, rows.length)
    limit = Math.max(1, Math.min(LIMITS.portionRows, Math.floor(LIMITS.portionBytes / Math.max(1, size))))
  }
  yield text + tail
}

/** Resources that are there already, so many at a time: their text then is one string, and takes a third less. */
const AT_ONCE = 16

/** Groups of resources, with those apart that are written piece by piece. */
function* grouped(resources: readonly unknown[], room: () => number): Generator<unknown[] | Written> {
  let group: unknown[] = []
  for (const resource of resources) {
    const isWritten = resource instanceof Written
    if (!isWritten) group.push(resource)
    if (group.length > 0 && (isWritten || group.length >= Math.min(AT_ONCE, room()))) {
      yield group
      group = []
    }
    if (isWritten) yield resource
  }
  if (group.length > 0) yield group
}

/** The text of a resource, or with `isGroup` of several with commas in between. */
const jsonOf = (resource: unknown, isGroup: boolean) => {
  const json = JSON.stringify(resource)
  return isGroup ? json.slice(1, -1) : json
}

/** Steps that are awaited only where they have to be: waiting for each row of a page is a fifth of the time it takes. */
function stepsOf<T>(found: Iterable<T> | AsyncIterable<T>) {
  return Symbol.asyncIterator in found ? found[Symbol.asyncIterator]() : found[Symbol.iterator]()
}

/** Sends one resource that is written piece by piece. @throws Problem 503 as `sendRows` */
export function sendWritten(request: FastifyRequest, reply: FastifyReply, written: Written): Promise<FastifyReply> {
  return sendRows(request, reply, {
    first: 1,
    next: async () => ({ rows: [written], more: false }),
    toResources: (rows) => rows,
    head: '',
    tail: '',
  })
}

/**
 * Sends all rows of a list that the standard does not paginate, in the order of their ids: each portion begins after the last
 * row of the one before. Portions after the first share a few connections, whoever asks for them.
 */
export function sendAllById<Row extends { id: number }>(
  request: FastifyRequest,
  reply: FastifyReply,
  list: {
    first?: number
    select(after: number | undefined, limit: number): Promise<Row[]>
    toResources: Rows<Row>['toResources']
  },
): Promise<FastifyReply> {
  let last: number | undefined
  return sendRows(request, reply, {
    first: list.first ?? LIMITS.firstPortion,
    next: async (limit) => {
      const select = () => list.select(last, limit)
      const rows = await (last === undefined ? select() : inShare(request, select))
      last = rows.at(-1)?.id
      return { rows, more: rows.length === limit }
    },
    toResources: list.toResources,
  })
}

const shares = new WeakMap<object, <T>(work: () => Promise<T>) => Promise<T>>()

/** A fifth of the connections is for lists that go on. Who waits is bounded by how many answers may be streamed. */
function inShare<T>({ server }: FastifyRequest, work: () => Promise<T>): Promise<T> {
  const { config } = server.parts
  let share = shares.get(config)
  if (!share) {
    share = inTurn(fifthOf(config.databasePoolSize), Number.POSITIVE_INFINITY, () => new Problem(503))
    shares.set(config, share)
  }
  return share(work)
}
