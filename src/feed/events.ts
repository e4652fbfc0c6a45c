// A feed as server-sent events. Who reads it is woken when something new has settled: that is asked of the database some twenty times
// a second for all readers of a process together, and not at all while there is none. A reader is an answer that goes on: it counts
// among those that are streamed, it is written as fast as it is read, and one that does not read is parted from
// (http/connections.ts).
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { LIMITS } from '../core/limits.ts'
import { Problem } from '../core/problem.ts'
import { isSettled } from '../database/position.ts'
import { countStream } from '../http/stream.ts'
import { largeTurn } from '../http/turns.ts'
import { logSoFar, noteText } from '../http/verwerkingen.ts'
import { ownName } from '../telemetry/current-organisation.ts'
import { openRepeats } from '../telemetry/repeats.ts'
import { readPage, readStart, rightsPrint } from './deltas.ts'
import type { Feed, Viewer } from './kinds.ts'
import { beginOf, type ToldDelta, tellDeltas } from './tell.ts'

const LOOK_MS = 40
const LOOK_MOST_MS = 5000 // while the database is away
const HEARTBEAT_MS = 15_000
const RETRY_MS = 2000
/** A token is judged again before each page and heartbeat; but a connection ends after this, so that load can move to others. */
const MOST_MS = 15 * 60_000
const DELTAS = 100
/** Characters of deltas that are held for who reads them: more are read when these were. */
const MOST_SIZE = LIMITS.portionBytes
/** The same of those that are kept for others at the same place, of all organisations together. */
const MOST_SHARED = 4 * 1024 * 1024

/** Opens the events of a feed. They end with the token, with its rights, with the client and when the application closes. */
export function openEvents(app: FastifyInstance, feed: Feed) {
  const closing = new AbortController()
  /** By what the readers of now are stopped. AbortSignal.any and .timeout would keep something of each that has gone for 15 minutes. */
  const readers = new Set<AbortController>()
  app.addHook('preClose', async () => {
    closing.abort()
    for (const reader of readers) reader.abort()
  })
  const openedBell = app.each(() => openBell(app, feed, closing.signal))
  /** Readers of an organisation with the same rights that stand at the same place get the same: it is read once. */
  const shared = new LRUCache<string, Promise<Next>>({ maxSize: MOST_SHARED })

  return async function send(request: FastifyRequest, reply: FastifyReply, after: string | undefined) {
    const viewer: Viewer = { reader: app.reader, actor: request.actor, base: request.base }
    const start = await readStart(viewer, feed, after) // what is wrong with the position is said before anything is sent
    let isGone = false
    const reader = new AbortController()
    const timer = setTimeout(() => reader.abort(), MOST_MS).unref()
    const end = () => {
      isGone = true
      clearTimeout(timer)
      readers.delete(reader)
      reader.abort()
    }
    if (closing.signal.aborted) reader.abort()
    readers.add(reader)
    try {
      countStream(request, reply, end)
    } catch (error) {
      end()
      throw error
    }
    reply.headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' }).type('text/event-stream; charset=utf-8')
    if (request.method === 'HEAD') return reply.send(Readable.from([]))
    const pause = async () => {
      await largeTurn(request)
      if (isGone) throw new Problem(408) // nobody reads it; in a transaction of millions there may be nothing for it for long
    }
    const reading = events(request, { ...viewer, pause }, ownName(request.base), start, reader.signal)
    const stream = Readable.from(reading, { objectMode: false, highWaterMark: 1 })
    stream.once('close', end)
    return reply.send(stream)
  }

  async function next(viewer: Viewer, at: At): Promise<Next> {
    const key = JSON.stringify(at)
    const known = shared.get(key)
    if (known) {
      const found = await known.catch(() => undefined) // who asked first may have gone meanwhile
      return found && !isLarge(found) ? found : readNext(viewer, at.position)
    }
    const page = readNext(viewer, at.position)
    shared.set(key, page, { size: MOST_SIZE })
    try {
      const found = await page
      if (isLarge(found)) shared.delete(key)
      else shared.set(key, page, { size: Math.max(1, sizeOf(found.told)) })
      return found
    } catch (error) {
      shared.delete(key)
      throw error
    }
  }

  async function readNext(viewer: Viewer, position: string): Promise<Next> {
    const { deltas, position: end, isEnd } = await readPage(viewer, feed, position, DELTAS)
    const told: ToldDelta[] = []
    let size = 0
    for await (const some of tellDeltas(viewer, feed, deltas)) {
      told.push(...some)
      size += sizeOf(some)
      const last = told.at(-1)
      if (size >= MOST_SIZE && last) return { told, position: last.id, isEnd: false } // the rest when this was read
    }
    return { told, position: end, isEnd }
  }

  async function* events(request: FastifyRequest, first: Viewer, owner: string, start: string, stop: AbortSignal) {
    const rights = rightsPrint(first.actor, feed)
    let position = start
    let given = start // what the reader saw last
    yield `retry: ${RETRY_MS}\nid: ${position}\n\n`
    const bell = openedBell()
    let spokeAt = performance.now()
    while (!stop.aborted) {
      const heard = bell.state()
      const actor = await request.actorNow().catch(() => undefined)
      if (!actor || rightsPrint(actor, feed) !== rights) return // who comes again is told: 403, or 410
      const page = await next({ ...first, actor }, { owner, heard, position, rights })
      for (const delta of page.told) {
        if (stop.aborted) return
        const { id, json } = delta
        const begin = `id: ${id}\ndata: ${beginOf(delta, given)}`
        if (typeof json === 'string') {
          noteText(request, json)
          yield `${begin}${json}\n\n`
        } else {
          yield begin
          for await (const piece of json) {
            noteText(request, piece)
            yield piece
          }
          yield '\n\n'
        }
        given = id
        spokeAt = performance.now()
      }
      logSoFar(request)
      position = page.position
      if (!page.isEnd) continue
      const left = HEARTBEAT_MS - (performance.now() - spokeAt)
      if (left > 0) await bell.rings(heard, left, stop)
      if (performance.now() - spokeAt < HEARTBEAT_MS) continue
      given = position
      yield `: nog verbonden\nid: ${position}\n\n` // who saw nothing for long is not sent back to where it began
      spokeAt = performance.now()
    }
  }
}

type Next = { told: ToldDelta[]; position: string; isEnd: boolean }
/** Where a reader is. @property owner its organisation, and the address in its links */
type At = { owner: string; heard: string; position: string; rights: string }

const sizeOf = (told: ToldDelta[]): number =>
  told.reduce((size, { json }) => size + (typeof json === 'string' ? json.length : MOST_SIZE), 0)

/** What comes in pieces is read by one. */
const isLarge = ({ told }: Next): boolean => told.some(({ json }) => typeof json !== 'string')

/** Tells who waits that something new has settled in a feed. */
function openBell(app: FastifyInstance, feed: Feed, closing: AbortSignal) {
  const repeats = openRepeats(app.log)
  let last = ''
  let waiters = new Set<() => void>()
  let looking = false

  async function look(): Promise<void> {
    looking = true
    let failures = 0
    while (waiters.size > 0 && !closing.aborted) {
      await sleep(Math.min(LOOK_MS * 2 ** failures, LOOK_MOST_MS), undefined, { ref: false })
      try {
        const { rows } = await sql<{ last: string }>`select coalesce((select c.xact || ' ' || c.id from change c
          where c.component = ${feed.component} and ${sql.raw(isSettled('c.xact'))} order by c.xact desc, c.id desc limit 1), '') as last`.execute(
          app.read,
        )
        failures = 0
        const newest = rows[0]?.last ?? ''
        if (newest === last) continue
        last = newest
        const woken = waiters
        waiters = new Set()
        for (const wake of woken) wake()
      } catch (error) {
        failures++
        repeats.say('warn', { err: error, feed: feed.path }, 'a feed could not be looked at for a moment')
      }
    }
    looking = false
  }

  return {
    /** What was heard last: a reader that asks this first misses nothing that comes while it reads. */
    state: () => last,
    /** Waits until something came after `heard`, or so long. */
    rings: (heard: string, ms: number, stop: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        if (heard !== last || stop.aborted) return resolve()
        const done = () => {
          clearTimeout(timer)
          waiters.delete(done)
          stop.removeEventListener('abort', done)
          resolve()
        }
        const timer = setTimeout(done, ms).unref()
        waiters.add(done)
        stop.addEventListener('abort', done)
        if (!looking) void look()
      }),
  }
}
