// Places at work, by client. While a client is alone it may have as many requests at work as it sends. As soon as others are
// there it has half as many as there are connections of the database, and what it sends more waits in its own queue: the
// connections are shared by clients, not by whoever asks most.
//
// A request has its place from when its body is there until its answer is made. A stream of content has none, and one that
// waits for another register gives its place back meanwhile. Nothing is done for a request whose client has gone while it waited.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { requestsWaiting } from '../telemetry/metrics.ts'
import { currentOf } from './current-request.ts'
import { LIMITS } from './limits.ts'
import { Problem } from './problem.ts'

type Client = { working: number; queue: Set<() => void>; seen: number }

const OTHERS_MS = 10_000 // for so long after its last request a client counts as being there

export function sharePlaces(app: FastifyInstance, poolSize: number): void {
  const clients = new Map<string, Client>()
  const leaving = new WeakMap<object, () => void>()
  const most = Math.max(2, Math.floor(poolSize / 2))

  /** Whether there are others; forgets those that are long gone. */
  function hasOthers(client: Client): boolean {
    const gone = performance.now() - OTHERS_MS
    for (const [name, other] of clients) {
      if (other === client) continue
      if (other.working > 0 || other.seen > gone) return true
      clients.delete(name)
    }
    return false
  }

  /** @returns whether it has a place; it has none when the connection ended first */
  async function enter(client: Client, { raw }: FastifyReply): Promise<boolean> {
    client.seen = performance.now()
    if (raw.closed) return false
    if (client.working < most || !hasOthers(client)) {
      client.working++
      return true
    }
    return new Promise((resolve) => {
      const begin = () => settle(true) // whoever leaves hands its place on
      const giveUp = () => settle(false)
      const settle = (hasPlace: boolean) => {
        client.queue.delete(begin)
        requestsWaiting.dec()
        raw.off('close', giveUp)
        resolve(hasPlace)
      }
      client.queue.add(begin)
      requestsWaiting.inc()
      raw.once('close', giveUp)
    })
  }

  function leave(client: Client): void {
    const [next] = client.working > most ? [] : client.queue
    if (next) next()
    else client.working--
  }

  app.addHook('preValidation', async (request, reply) => {
    const name = nameOf(request)
    if (name === undefined || request.routeOptions.config.stream) return
    const client = clients.get(name) ?? { working: 0, queue: new Set(), seen: 0 }
    clients.set(name, client)
    if (client.queue.size >= LIMITS.waitingOfClient) throw new Problem(503, { headers: { 'retry-after': '1' } })
    if (!(await enter(client, reply))) return reply.hijack()
    let over = false
    let away = 0
    leaving.set(request.raw, () => {
      if (!over && away === 0) leave(client)
      over = true
    })
    reply.raw.once('close', () => end(request))
    currentOf(request).away = async (work) => {
      if (++away === 1 && !over) leave(client)
      try {
        return await work()
      } finally {
        if (--away === 0 && !over) client.working++ // at once: it may hold what others wait for
      }
    }
  })
  app.addHook('onSend', async (request) => end(request))
  app.addHook('onResponse', async (request) => end(request))

  const end = ({ raw }: FastifyRequest) => leaving.get(raw)?.()
}

/** Who asks: a client, or an account of the pages; undefined for somebody we do not know. */
export function nameOf({ actor, beheerder }: FastifyRequest): string | undefined {
  if (actor) return `client ${actor.clientId}`
  return beheerder && `account ${beheerder.id}`
}
