// Event stream: keeps an open page up to date over server-sent events. Whatever is watched is asked of the database once a second,
// however many pages watch it, and not at all when none does.

import { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LIMITS } from '../../core/limits.ts'
import { Problem } from '../../core/problem.ts'
import { openRepeats } from '../../telemetry/repeats.ts'
import { language } from '../language/language.ts'
import { liveSessions, sessionOf } from './session.ts'

/** What a page shows of something that goes on, by the names of its places (`data-waarde`). */
export type StreamState = {
  values: Record<string, string | number>
  /** A sentence for who cannot see it change; it is passed on at most once in ten seconds. */
  spoken: string
  /** It has ended: the page is asked anew. */
  done: boolean
}

export type EventStreams = ReturnType<typeof openEventStreams>

type Viewer = { session: number; stream: Readable; spokenAt: number; seen: string; finish(last?: string): void }
type Topic = {
  readState(): Promise<StreamState | undefined>
  viewers: Set<Viewer>
  state?: StreamState
  timer?: NodeJS.Timeout
  failures: number
}

const POLL_MS = 1000
const POLL_MOST_MS = 30_000 // while it cannot be read
const HEARTBEAT_MS = 15_000
const SPEAK_MS = 10_000
const RETRY_MS = 3000
/** A client that does not read gets no more until it does. */
const MAX_WAITING = 64 * 1024

/**
 * Opens the streams of a page. They end when what they show has ended, when the session has, when the client goes and when
 * the application closes.
 */
export function openEventStreams(app: FastifyInstance) {
  const topicsOf = app.each(
    () => new Map<string, Topic>(),
    (topics) => finish(topics),
  )
  const repeats = openRepeats(app.log)
  let closing = false

  app.addHook('preClose', async () => {
    closing = true
    if (!app.hasMany) finish(topicsOf())
  })

  async function poll(subject: string, source: Topic): Promise<void> {
    try {
      const [state, sessions] = await Promise.all([
        source.readState(),
        liveSessions(
          app.reader,
          [...source.viewers].map(({ session }) => session),
          app.members,
        ),
      ])
      source.state = state ?? { values: {}, spoken: '', done: true }
      for (const viewer of source.viewers) send(viewer, source.state, !sessions.has(viewer.session))
      source.failures = 0
    } catch (error) {
      source.failures++
      repeats.say('warn', { err: error, stream: subject }, 'a page could not be kept up to date for a moment')
    }
    const wait = Math.min(POLL_MS * 2 ** source.failures, POLL_MOST_MS)
    if (source.viewers.size > 0) source.timer = setTimeout(poll, wait, subject, source).unref()
  }

  /**
   * @param subject what is watched; the same for all pages that show it
   * @param readState how it stands; undefined when it is gone
   */
  return function watch(
    request: FastifyRequest,
    reply: FastifyReply,
    subject: string,
    readState: () => Promise<StreamState | undefined>,
  ): FastifyReply {
    const topics = topicsOf()
    const count = [...topics.values()].reduce((sum, { viewers }) => sum + viewers.size, 0)
    if (closing || count >= LIMITS.livePages) throw new Problem(503, { headers: { 'retry-after': '5' } })
    const stream = new Readable({ read() {} })
    const key = `${language()} ${subject}`
    const source: Topic = topics.get(key) ?? { readState, viewers: new Set(), failures: 0 }
    const isNew = !topics.has(key)
    topics.set(key, source)
    const heartbeat = setInterval(() => stream.push(': nog verbonden\n\n'), HEARTBEAT_MS).unref()
    const viewer: Viewer = {
      session: sessionOf(request).id,
      stream,
      spokenAt: performance.now(),
      seen: String(request.headers['last-event-id'] ?? ''),
      finish(last) {
        if (!source.viewers.delete(viewer)) return
        clearInterval(heartbeat)
        if (last) stream.push(last)
        stream.push(null)
        if (source.viewers.size > 0) return
        clearTimeout(source.timer)
        if (topics.get(key) === source) topics.delete(key)
      },
    }
    source.viewers.add(viewer)
    stream.once('close', () => viewer.finish())
    stream.push(`retry: ${RETRY_MS}\n\n`)
    if (isNew) void poll(key, source)
    else if (source.state) send(viewer, source.state, false)
    return reply
      .headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
      .type('text/event-stream; charset=utf-8')
      .send(stream)
  }
}

function finish(topics: Map<string, Topic>): void {
  for (const { viewers } of topics.values()) for (const viewer of viewers) viewer.finish()
}

function send(viewer: Viewer, state: StreamState, ended: boolean): void {
  const { stream } = viewer
  if (ended || state.done) {
    viewer.finish('event: klaar\ndata: {}\n\n')
    return
  }
  if (stream.readableLength > MAX_WAITING) return
  const id = String(crc32(JSON.stringify(state.values)))
  if (id === viewer.seen) return
  const speak = performance.now() - viewer.spokenAt >= SPEAK_MS
  const values = speak ? { ...state.values, gesproken: state.spoken } : state.values
  if (speak) viewer.spokenAt = performance.now()
  viewer.seen = id
  stream.push(`id: ${id}\nevent: stand\ndata: ${JSON.stringify(values)}\n\n`)
}
