// Bounds on connections and on the time that a request takes to arrive and its answer to leave.
//
// Node bounds the head of a request (`headersTimeout`) and the time between two (`keepAliveTimeout`). It cannot tell an upload,
// which may take hours, from a form, and it refuses whoever comes when all places are taken. So this adds, for every
// connection, a look each half second:
// - a body has a total time; that of a route with `config.stream` a least rate instead;
// - an answer that is not read has the same least rate, and all of them together a bound on the bytes that wait;
// - a request that was answered before its body was there says `Connection: close`. What is still on its way is read for as
//   long as it comes quickly, because closing at once could cost the client the answer, and a body that drips is cut off.
//
// Places are counted by address and in all. When they are taken, a newcomer gets the place of whoever waited longest without
// a request of somebody we know. When all are at work there are a few spare places, where only /livez is answered: a full
// house is no reason to be restarted.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { Problem } from '../core/problem.ts'
import { connectionsToTake, sparesToTake } from '../lib/open-files.ts'
import { openRepeats } from '../telemetry/repeats.ts'
import { LIVEZ } from './liveness.ts'
import { blockList, isListed, networkOf } from './network.ts'
import { inSlices, largeTurn } from './turns.ts'
import { whenClosed } from './when-closed.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is taken in as it comes, whatever its size: it has a least rate where others have a total time. */
    stream?: boolean
  }
}

const LOOK_MS = 500
const LINGER_MS = 30_000
const LINGER_RATE = 64 * 1024 // bytes a second: less is dripping
const SPARE_PLACES = sparesToTake(64)
const SPARE_MS = 2000
const LARGE = 128 * 1024 // answers above this are looked at when they are given, and sent in turn
const MAX_AT_WORK = 4 // requests on one connection; clients of today send one, and those behind them wait
const MAX_PIPELINED = 100 // requests on one connection that have no answer yet
const REQUEST_WEIGHT = 20 // ten in a slice: their hooks follow at once, and take some ten times as long as the beginning
const MAX_UNSENT = 64 * 1024 * 1024 // bytes of answers that nobody reads, all together

type Connection = {
  socket: Socket
  /** Whose place it takes; undefined for a proxy of ours, behind which are many. */
  address: Address | undefined
  spare: boolean
  /** It is about to be destroyed: nothing on it is answered any more. */
  ended: boolean
  /** It sent more than it may: what follows is not read any more. */
  full: boolean
  /** Requests that were not answered to the end. */
  requests: number
  /** Requests under way of somebody we know. */
  held: number
  request: IncomingMessage | undefined
  asked: FastifyRequest | undefined
  response: ServerResponse | undefined
  /** Answers that were not written to the end. */
  open: Set<ServerResponse>
  /** Requests that were not begun. */
  queue: Exchange[]
  isStream: boolean
  began: number
  window: { since: number; received: number; sent: number }
  received: number
  lingersSince: number | undefined
}
type Exchange = [request: IncomingMessage, response: ServerResponse]
type Address = { count: number; waiting: Set<Connection> }

/**
 * Puts the bounds on the server of `app`. The hooks come before all that work, so this is called first.
 * @param refuse writes an answer to a connection whose request, if there is one, cannot be answered, and ends it
 * @returns `afterAnswers`, which does something on a connection when what came whole before it has its answers
 */
export function boundConnections(
  app: FastifyInstance,
  config: Config,
  refuse: (socket: Socket, problem: Problem, request: FastifyRequest | undefined) => void,
): { afterAnswers(socket: Socket, work: () => void): void } {
  const { httpRequestTimeout, httpMinRate, httpMaxConnectionsPerAddress } = config
  const httpMaxConnections = connectionsToTake(config.httpMaxConnections)
  const connections = new Map<Socket, Connection>()
  const ofSocket = new WeakMap<Socket, Connection>()
  const addresses = new Map<string, Address>()
  const waiting = new Set<Connection>()
  const spares = new Set<Connection>()
  const expects = new WeakSet<IncomingMessage>()
  const unknownExpectation = new WeakSet<IncomingMessage>()
  const tooMany = new WeakSet<IncomingMessage>()
  const proxies = blockList(config.trustProxy)
  const repeats = openRepeats(app.log)
  /** Whoever shows nothing is known by the address that our own proxy, or the connection, tells. */
  const anonymous = (headers: IncomingHttpHeaders, { remoteAddress }: Socket): string => {
    const behind = isListed(proxies, remoteAddress)
      ? String(headers['x-forwarded-for'] ?? '')
          .split(',')
          .at(-1)
      : undefined
    return networkOf(behind?.trim() || remoteAddress)
  }

  app.server.on('connection', (socket: Socket) => {
    const name = networkOf(socket.remoteAddress)
    const address = isListed(proxies, socket.remoteAddress) ? undefined : (addresses.get(name) ?? newAddress())
    if (address) addresses.set(name, address)
    const now = performance.now()
    const connection: Connection = {
      socket,
      address,
      spare: false,
      ended: false,
      full: false,
      requests: 0,
      held: 0,
      request: undefined,
      asked: undefined,
      response: undefined,
      open: new Set(),
      queue: [],
      isStream: false,
      began: now,
      window: { since: now, received: 0, sent: 0 },
      received: 0,
      lingersSince: undefined,
    }
    if (address && address.count >= httpMaxConnectionsPerAddress) makeRoom(connection, address.waiting)
    else if (connections.size - spares.size >= httpMaxConnections) makeRoom(connection, waiting)
    connections.set(socket, connection)
    ofSocket.set(socket, connection)
    stopParsing(connection)
    if (connection.spare) spares.add(connection)
    else {
      if (address) address.count++
      wait(connection)
    }
    socket.once('close', () => {
      forget(connection)
      if (address?.count === 0) addresses.delete(name)
    })
  })

  function makeRoom(connection: Connection, candidates: Set<Connection>): void {
    const [oldest] = candidates
    if (oldest) {
      end(oldest)
      return
    }
    connection.spare = true
    const [oldestSpare] = spares
    if (spares.size >= SPARE_PLACES && oldestSpare) end(oldestSpare)
  }

  // Node ends every request of a connection with an error of its own.
  const destroy = inSlices<Connection>(({ socket }) => socket.destroy(), { weightOf: ({ requests }) => requests })
  function end(connection: Connection): void {
    forget(connection)
    connection.ended = true
    destroy(connection)
  }

  function forget(connection: Connection): void {
    const { socket, address, spare } = connection
    if (!connections.delete(socket)) return
    spares.delete(connection)
    waiting.delete(connection)
    address?.waiting.delete(connection)
    if (address && !spare) address.count--
  }

  function wait(connection: Connection): void {
    waiting.add(connection)
    connection.address?.waiting.add(connection)
  }

  function hold(request: IncomingMessage, response: ServerResponse): void {
    const connection = connections.get(request.socket)
    if (!connection || connection.spare) return
    waiting.delete(connection)
    connection.address?.waiting.delete(connection)
    connection.held++
    whenClosed(response, () => {
      if (--connection.held === 0 && connections.has(request.socket)) wait(connection)
    })
  }
  // Before all else: what comes in one piece may be thousands of requests, and the parser hands over all of them.
  const [handle] = app.server.listeners('request') as [(request: IncomingMessage, response: ServerResponse) => void]
  app.server.removeListener('request', handle)
  // What came at the same moment on hundreds of connections is one turn of the event loop.
  const begin = inSlices<Exchange>(
    ([request, response]) => {
      if (!ofSocket.get(request.socket)?.ended) handle(request, response)
    },
    {
      rest: setImmediate,
      ownerOf: ([{ headers, socket }]) => headers.authorization ?? headers.cookie ?? anonymous(headers, socket),
      weightOf: () => REQUEST_WEIGHT,
    },
  )
  app.server.on('request', (request, response) => {
    response.setMaxListeners(20) // so many parts of the program wait for its end
    const connection = ofSocket.get(request.socket)
    if (!connection) return begin([request, response])
    connection.requests++
    if (connection.ended) return
    connection.open.add(response)
    whenClosed(response, () => {
      connection.open.delete(response)
      connection.requests--
      beginNext(connection)
    })
    if (connection.open.size > MAX_PIPELINED) {
      repeats.say('warn', {}, 'a client sends requests without waiting for answers')
      tooMany.add(request)
      connection.full = true
    }
    if (connection.open.size <= MAX_AT_WORK) return begin([request, response])
    connection.queue.push([request, response])
    connection.socket.pause()
  })

  function beginNext({ socket, queue }: Connection): void {
    const next = queue.shift()
    if (!next || socket.destroyed) return
    if (queue.length === 0) socket.resume()
    begin(next)
  }

  app.addHook('onRequest', async (request, reply) => {
    const connection = connections.get(request.raw.socket)
    if (connection) {
      connection.request = request.raw
      connection.asked = request
      connection.response = reply.raw
      connection.isStream = request.routeOptions.config.stream === true
      connection.began = performance.now()
      startWindow(connection, connection.began)
    }
    if (connection?.spare) {
      reply.header('connection', 'close')
      if (!LIVEZ.includes(request.routeOptions.url ?? '')) throw new Problem(503, { headers: { 'retry-after': '5' } })
    }
    if (tooMany.has(request.raw)) {
      reply.header('connection', 'close')
      throw new Problem(429, { detail: 'Wacht op de antwoorden.', headers: { 'retry-after': '1' } })
    }
    if (unknownExpectation.has(request.raw)) throw new Problem(417)
    if (connection) requireOneHost(request.raw, app.hasMany)
  })

  // The client that asks first whether it may send hears so only now, when nothing was refused.
  app.server.on('checkContinue', (request, response) => {
    expects.add(request)
    app.server.emit('request', request, response)
  })
  app.server.on('checkExpectation', (request, response) => {
    unknownExpectation.add(request)
    app.server.emit('request', request, response)
  })
  app.addHook('preParsing', async (request, reply) => {
    if (request.actor || request.beheerder) hold(request.raw, reply.raw)
    if (expects.has(request.raw)) reply.raw.writeContinue()
  })

  app.addHook('onSend', async (request, reply, payload) => {
    const connection = connections.get(request.raw.socket)
    if (connection && (typeof payload === 'string' || Buffer.isBuffer(payload)) && payload.length > LARGE) {
      shed()
      await largeTurn(request) // copying it to the connection is work too
    }
    if (!connection || !isArriving(request.raw)) return
    await new Promise(setImmediate) // what came in one piece with the head is there then
    if (!isArriving(request.raw)) return
    reply.header('connection', 'close')
    connection.socket.destroySoon = () => {
      connection.lingersSince = performance.now()
      connection.received = connection.socket.bytesRead
      // Not ended yet: many clients stop sending at the end of what they read, before they look at the answer.
    }
  })

  function afterAnswers(socket: Socket, work: () => void): void {
    const before = [...(ofSocket.get(socket)?.open ?? [])].filter(({ req }) => req.complete)
    const last = before.at(-1)
    if (last) whenClosed(last, work)
    else work()
  }

  // What waited for so long in silence is answered, where Node would only end the connection.
  app.server.on('timeout', (socket: Socket) => {
    const connection = connections.get(socket)
    if (!connection) return socket.destroy()
    if (connection.requests > 0 && connection.response?.headersSent === false) {
      refuse(socket, new Problem(503, { headers: { 'retry-after': '30' } }), connection.asked)
      forget(connection)
    } else end(connection)
  })

  const timer = setInterval(look, LOOK_MS).unref()
  app.addHook('onClose', async () => clearInterval(timer))

  function look(): void {
    const now = performance.now()
    for (const connection of connections.values()) {
      const fault = faultOf(connection, now)
      if (fault === 'slow to send' && connection.response?.headersSent === false) {
        app.log.info({ seconds: Math.round((now - connection.began) / 1000) }, 'a request did not arrive in time')
        refuse(connection.socket, new Problem(408), connection.asked)
        forget(connection)
      } else if (fault) end(connection)
    }
    shed()
  }

  /** Keeps the bytes that wait to be read within their bound. Whoever has most goes first: a client that reads has little. */
  function shed(): void {
    let unsent = 0
    const waits: { connection: Connection; bytes: number }[] = []
    for (const connection of connections.values()) {
      const bytes = unsentBy(connection)
      if (bytes > 0) waits.push({ connection, bytes })
      unsent += bytes
    }
    if (unsent <= MAX_UNSENT) return
    for (const { connection, bytes } of waits.sort((a, b) => b.bytes - a.bytes)) {
      if (unsent <= MAX_UNSENT) return
      unsent -= bytes
      end(connection)
    }
  }

  function faultOf(connection: Connection, now: number): 'slow to send' | 'slow to read' | 'over' | undefined {
    const { socket, request, window } = connection
    if (connection.spare && now - connection.began > SPARE_MS) return 'over'
    if (connection.lingersSince !== undefined) {
      const rate = ((socket.bytesRead - connection.received) * 1000) / LOOK_MS
      connection.received = socket.bytesRead
      const isNew = now - connection.lingersSince < LOOK_MS
      const isOver = now - connection.lingersSince > LINGER_MS || !request || !isArriving(request)
      return isOver || (!isNew && rate < LINGER_RATE) ? 'over' : undefined
    }
    const isReceiving = request !== undefined && isArriving(request)
    if (isReceiving && !connection.isStream && now - connection.began > httpRequestTimeout * 1000) return 'slow to send'
    // Bytes that are here and that we did not take yet are no fault of the client.
    const waitsForClient = isReceiving && connection.isStream && request.readableLength === 0
    const isSending = socket.writableLength > 0
    if (!waitsForClient && !isSending) startWindow(connection, now)
    if (now - window.since < httpRequestTimeout * 1000) return undefined
    const least = (httpMinRate * (now - window.since)) / 1000
    if (waitsForClient && socket.bytesRead - window.received < least) return 'slow to send'
    if (isSending && sentBy(socket) - window.sent < least) return 'slow to read'
    startWindow(connection, now)
    return undefined
  }

  return { afterAnswers }
}

/**
 * Two of them could mean one host to a proxy and another to us (RFC 9112, 3.2). Node keeps the first without a word, and heeds none that
 * the target of a request names: where the host says which organisation is meant, both have to be the same.
 */
function requireOneHost(
  { rawHeaders, httpVersion, headers, originalUrl }: IncomingMessage & { originalUrl?: string },
  hasMany: boolean,
): void {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length
  if (hosts > 1) throw new Problem(400, { code: 'parse_error', detail: 'De header Host staat er meer dan eens.' })
  if (hosts === 0 && httpVersion === '1.1')
    throw new Problem(400, { code: 'parse_error', detail: 'De header Host ontbreekt.' })
  const [, named] = /^https?:\/\/([^/?#]*)/i.exec(originalUrl ?? '') ?? []
  if (hasMany && named !== undefined && hosts > 0 && nameOf(named) !== nameOf(headers.host ?? ''))
    throw new Problem(400, { code: 'parse_error', detail: 'De header Host is een andere dan die van het adres.' })
}

const nameOf = (host: string) => host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')

type Parser = { onIncoming(request: IncomingMessage, keepAlive: boolean): number }
const TAKE_NO_MORE = 2 // what Node says itself of an upgrade: nothing that follows is a request

/**
 * Has the parser stop at a connection that is ended or full: what came with it in one piece may be two thousand requests, each of which
 * Node makes before anybody is asked. There is no public way; where Node has another one some day they are made and left.
 */
function stopParsing(connection: Connection): void {
  const { parser } = connection.socket as Socket & { parser?: Partial<Parser> }
  const make = parser?.onIncoming
  if (!make) return
  parser.onIncoming = (request, keepAlive) =>
    connection.ended || connection.full ? TAKE_NO_MORE : make(request, keepAlive)
}

const newAddress = (): Address => ({ count: 0, waiting: new Set() })

/** Of the first answer the socket has the bytes, of those behind it the answer itself. */
function unsentBy({ socket, open }: Connection): number {
  let bytes = socket.writableLength
  for (const response of open) if (!response.socket) bytes += response.writableLength
  return bytes
}

const sentBy = (socket: Socket) => socket.bytesWritten - socket.writableLength

function startWindow(connection: Connection, now: number): void {
  const { socket, window } = connection
  Object.assign(window, { since: now, received: socket.bytesRead, sent: sentBy(socket) })
}

/** Whether a request has a body that is not here as a whole. */
export function isArriving(request: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  return !request.complete && (encoding !== undefined || (length !== undefined && length !== '0'))
}
