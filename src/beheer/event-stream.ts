// Event stream: keeps an open page up to date over server-sent events. Whatever is watched is asked of the database once a second,
// however many pages watch it, and not at all when none does.

import { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LIMITS } from '../http/limits.ts'
import { Problem } from '../http/problem.ts'
import { language } from './language/language.ts'
import { liveSessions, sessionOf } from './session.ts'

/** What a page shows of something that goes on, by the names of its places (`data-waarde`). */
export type StreamState = {
  values: Record<string, string | number>
  /** A sentence for who cannot see it change; it is passed on at most once in ten seconds. */
  gesproken: string
  /** It has ended: the page is asked anew. */
  klaar: boolean
}

export type EventStreams = ReturnType<typeof openEventStreams>

type Viewer = { session: number; stream: Readable; gesprokenOp: number; gezien: string; eindig(last?: string): void }
type Topic = {
  lees(): Promise<StreamState | undefined>
  viewers: Set<Viewer>
  stand?: StreamState
  timer?: NodeJS.Timeout
}

const POLL_MS = 1000
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
  const bronnen = new Map<string, Topic>()
  let closing = false

  app.addHook('preClose', async () => {
    closing = true
    for (const { viewers } of bronnen.values()) for (const viewer of viewers) viewer.eindig()
  })

  async function poll(sleutel: string, source: Topic): Promise<void> {
    try {
      const [stand, sessions] = await Promise.all([
        source.lees(),
        liveSessions(
          app.reader,
          [...source.viewers].map(({ session }) => session),
        ),
      ])
      source.stand = stand ?? { values: {}, gesproken: '', klaar: true }
      for (const viewer of source.viewers) send(viewer, source.stand, !sessions.has(viewer.session))
    } catch (error) {
      app.log.warn({ err: error, stroom: sleutel }, 'a page could not be kept up to date for a moment')
    }
    if (source.viewers.size > 0) source.timer = setTimeout(poll, POLL_MS, sleutel, source).unref()
  }

  /**
   * @param sleutel what is watched; the same for all pages that show it
   * @param lees how it stands; undefined when it is gone
   */
  return function stroom(
    request: FastifyRequest,
    reply: FastifyReply,
    sleutel: string,
    lees: () => Promise<StreamState | undefined>,
  ): FastifyReply {
    const aantal = [...bronnen.values()].reduce((sum, { viewers }) => sum + viewers.size, 0)
    if (closing || aantal >= LIMITS.livePages) throw new Problem(503, { headers: { 'retry-after': '5' } })
    const stream = new Readable({ read() {} })
    const key = `${language()} ${sleutel}`
    const source: Topic = bronnen.get(key) ?? { lees, viewers: new Set() }
    const isNew = !bronnen.has(key)
    bronnen.set(key, source)
    const heartbeat = setInterval(() => stream.push(': nog verbonden\n\n'), HEARTBEAT_MS).unref()
    const viewer: Viewer = {
      session: sessionOf(request).id,
      stream,
      gesprokenOp: Date.now(),
      gezien: String(request.headers['last-event-id'] ?? ''),
      eindig(last) {
        if (!source.viewers.delete(viewer)) return
        clearInterval(heartbeat)
        if (last) stream.push(last)
        stream.push(null)
        if (source.viewers.size > 0) return
        clearTimeout(source.timer)
        if (bronnen.get(key) === source) bronnen.delete(key)
      },
    }
    source.viewers.add(viewer)
    stream.once('close', () => viewer.eindig())
    stream.push(`retry: ${RETRY_MS}\n\n`)
    if (isNew) void poll(key, source)
    else if (source.stand) send(viewer, source.stand, false)
    return reply
      .headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
      .type('text/event-stream; charset=utf-8')
      .send(stream)
  }
}

function send(viewer: Viewer, stand: StreamState, ended: boolean): void {
  const { stream } = viewer
  if (ended || stand.klaar) {
    viewer.eindig('event: klaar\ndata: {}\n\n')
    return
  }
  if (stream.readableLength > MAX_WAITING) return
  const id = String(crc32(JSON.stringify(stand.values)))
  if (id === viewer.gezien) return
  const speak = Date.now() - viewer.gesprokenOp >= SPEAK_MS
  const values = speak ? { ...stand.values, gesproken: stand.gesproken } : stand.values
  if (speak) viewer.gesprokenOp = Date.now()
  viewer.gezien = id
  stream.push(`id: ${id}\nevent: stand\ndata: ${JSON.stringify(values)}\n\n`)
}
