// Places at work, by client. While a client is alone it may have as many requests at work as it sends. As soon as others are
// there it has half as many as there are connections of the database, an account of the pages a fifth, and what it sends more
// waits in its own queue: the connections are shared by clients, not by whoever asks most.
//
// A question that kept the database busy is costly, and so are those of this client to the same route for a while. A request with
// a large body is costly too. Of costly ones a client has one at work, and more only while those of all clients together are
// fewer than a fifth of the connections. So a client that asks one after another is not held up by the costly questions of
// others, and ordinary ones find a connection and a processor. None of this holds for a client that is alone: a report at night
// is as fast as it can be.
//
// A request has its place until its answer is made. It takes the place when its body is there, or before the body is parsed when
// that is large. A stream of content has none, and one that
// waits for another register gives its place back meanwhile. Nothing is done for a request whose client has gone while it waited.
import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LIMITS } from '../core/limits.ts'
import { Problem } from '../core/problem.ts'
import { currentOrganisation } from '../telemetry/current-organisation.ts'
import { currentOf } from '../telemetry/current-request.ts'
import { requestsWaiting } from '../telemetry/metrics.ts'
import { whenClosed } from './when-closed.ts'

type Queue = Set<() => void>
type Client = {
  most: number
  working: number
  costly: number
  queue: Queue
  costlyQueue: Queue
  /** The routes that were costly, and until when they count as such. */
  costlyRoutes: Map<string, number>
  seen: number
}

const OTHERS_MS = 10_000 // for so long after its last request a client counts as being there

/** How many connections, of so many, are for what may hold one for long: a fifth. */
export const fifthOf = (poolSize: number): number => Math.max(1, Math.floor(poolSize / 5))

/** The places of a database with so many connections. */
function openPlaces(poolSize: number) {
  const clients = new Map<string, Client>()
  const half = Math.max(2, Math.floor(poolSize / 2))
  const fifth = fifthOf(poolSize)
  let costly = 0
  const costlyClients = new Set<Client>() // with a costly question at work
  const inLine = new Set<Client>() // with a costly question that waits, whoever was served longest ago first

  function clientOf(name: string): Client {
    let client = clients.get(name)
    if (!client) {
      const most = isAccount(name) ? fifth : half
      const queues = { queue: new Set<() => void>(), costlyQueue: new Set<() => void>() }
      client = { most, working: 0, costly: 0, ...queues, costlyRoutes: new Map(), seen: 0 }
      clients.set(name, client)
    }
    return client
  }

  /** Whether there are others; forgets those that are long gone. */
  function hasOthers(client: Client): boolean {
    const gone = performance.now() - OTHERS_MS
    for (const [name, other] of clients) {
      if (other === client) continue
      if (other.working > 0 || waiting(other) > 0 || other.seen > gone) return true
      clients.delete(name)
    }
    return false
  }

  function mayBegin(client: Client, isCostly: boolean): boolean {
    const hasRoom =
      client.working < client.most &&
      (!isCostly || costly < fifth || (client.costly === 0 && costlyClients.size < half))
    return hasRoom || !hasOthers(client)
  }

  function begin(client: Client, isCostly: boolean): void {
    client.working++
    if (!isCostly) return
    client.costly++
    costly++
    costlyClients.add(client)
  }

  function leave(client: Client, isCostly: boolean): void {
    client.working--
    if (isCostly) {
      costly--
      if (--client.costly === 0) costlyClients.delete(client)
    }
    beginNext(client, client.queue, false)
    for (const other of isCostly ? [...inLine] : [client]) {
      if (!beginNext(other, other.costlyQueue, true)) continue
      inLine.delete(other)
      if (other.costlyQueue.size > 0) inLine.add(other)
    }
  }

  /** @returns whether one of these may begin that waited */
  function beginNext(client: Client, queue: Queue, isCostly: boolean): boolean {
    const [next] = queue
    if (!next || !mayBegin(client, isCostly)) return false
    next()
    return true
  }

  /** @returns whether it has a place; it has none when the connection ended first */
  async function enter(client: Client, isCostly: boolean, raw: ServerResponse): Promise<boolean> {
    client.seen = performance.now()
    if (raw.closed) return false
    if (mayBegin(client, isCostly)) {
      begin(client, isCostly)
      return true
    }
    const queue = isCostly ? client.costlyQueue : client.queue
    return new Promise((resolve) => {
      const next = () => {
        begin(client, isCostly)
        settle(true)
      }
      const settle = (hasPlace: boolean) => {
        queue.delete(next)
        if (client.costlyQueue.size === 0) inLine.delete(client)
        requestsWaiting.dec()
        waitNoMore()
        resolve(hasPlace)
      }
      queue.add(next)
      if (isCostly) inLine.add(client)
      requestsWaiting.inc()
      const waitNoMore = whenClosed(raw, () => settle(false)) // it is open
    })
  }

  return { clientOf, begin, leave, enter }
}
type Places = ReturnType<typeof openPlaces>

/**
 * Adds the hooks by which requests wait. A client with too many requests in its queue gets 503 with Retry-After.
 * @param poolSize connections of the database
 */
export function sharePlaces(app: FastifyInstance, poolSize: () => number): void {
  const placesOf = app.each(() => openPlaces(poolSize()))
  const leaving = new WeakMap<object, () => void>()
  const waits = new WeakMap<object, ReturnType<typeof countWaits>>()

  /** @returns whether it has a place, or needs none; it has none when the connection ended first */
  async function take(
    { clientOf, begin, leave, enter }: Places,
    request: FastifyRequest,
    response: ServerResponse,
    isLarge: boolean,
  ): Promise<boolean> {
    const name = nameOf(request)
    if (name === undefined || request.routeOptions.config.stream || leaving.has(request.raw)) return true
    const client = clientOf(name)
    if (waiting(client) >= LIMITS.waitingOfClient) throw new Problem(503, { headers: { 'retry-after': '1' } })
    const route = `${request.method} ${request.routeOptions.url}`
    const isCostly = isLarge || (client.costlyRoutes.get(route) ?? 0) > performance.now()
    if (!(await enter(client, isCostly, response))) return false
    let over = false
    let away = 0
    leaving.set(request.raw, () => {
      if (!over && away === 0) {
        if ((waits.get(request.raw)?.ms() ?? 0) > LIMITS.costlyMs)
          client.costlyRoutes.set(route, performance.now() + LIMITS.costlyForMs)
        leave(client, isCostly)
      }
      over = true
    })
    whenClosed(response, () => end(request))
    currentOf(request).away = async (work) => {
      if (++away === 1 && !over) {
        waits.get(request.raw)?.pause()
        leave(client, isCostly)
      }
      try {
        return await work()
      } finally {
        if (--away === 0 && !over) {
          begin(client, isCostly) // at once: it may hold what others wait for
          waits.get(request.raw)?.goOn()
        }
      }
    }
    return true
  }

  app.addHook('preParsing', async (request, reply) => {
    const places = placesOf()
    takesLarge.set(request.raw, () => take(places, request, reply.raw, true))
  })
  app.addHook('preValidation', async (request, reply) => {
    if (!(await take(placesOf(), request, reply.raw, false))) return reply.hijack()
    if (currentOrganisation()?.isAway) throw new Problem(503, { headers: { 'retry-after': '1' } })
  })
  // Not before: a large body waits for its turn first.
  app.addHook('preHandler', async (request) => {
    if (isQuestion(request)) waits.set(request.raw, countWaits())
  })
  app.addHook('onSend', async (request) => end(request))
  app.addHook('onResponse', async (request) => end(request))

  const end = ({ raw }: FastifyRequest) => leaving.get(raw)?.()
}

const takesLarge = new WeakMap<object, () => Promise<boolean>>()

/**
 * Waits for the place of a request with a large body, before that is parsed: what waits is then its bytes, not its values.
 * @throws Problem 408, which nobody reads, when the connection ended first; 503 when too many of its client wait
 */
export async function placeForLarge({ raw }: FastifyRequest): Promise<void> {
  const take = takesLarge.get(raw)
  if (take && !(await take())) throw new Problem(408)
}

const waiting = ({ queue, costlyQueue }: Client) => queue.size + costlyQueue.size

/** What only reads. A change may wait for a lock, or for the disk of a standby, and cost nobody anything. */
const isQuestion = ({ method, routeOptions }: FastifyRequest) =>
  method === 'GET' || method === 'HEAD' || /\/_(zoek|batch)$/.test(routeOptions.url ?? '')

/**
 * For how long this process had nothing to do meanwhile: then it was the database that was waited for. The time itself would make
 * every question costly as soon as the process is busy.
 */
function countWaits() {
  const idle = () => performance.eventLoopUtilization().idle
  let since = idle()
  let before = 0
  return {
    ms: () => before + idle() - since,
    pause: () => {
      before += idle() - since
    },
    goOn: () => {
      since = idle()
    },
  }
}

/** Who asks: a client, or an account of the pages; undefined for somebody we do not know. */
export function nameOf({ actor, beheerder }: FastifyRequest): string | undefined {
  if (actor) return `client ${actor.origin?.issuer ?? ''} ${actor.clientId}`
  return beheerder && `${ACCOUNT}${beheerder.id}`
}

const ACCOUNT = 'account '

/** Whether that name is the name of an account of the pages. */
export const isAccount = (name: string): boolean => name.startsWith(ACCOUNT)
