// What an attack of `npm run bench neighbour` is, and what all of them share. The same objects are run, smaller, by
// test/neighbour.test.ts.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { Agent, request } from 'undici'

/** The rights of the bad client; where a component has types it is for the type of the world below. */
export type Right = { component: 'zrc' | 'drc' | 'ztc' | 'brc' | 'ac' | 'nrc'; scopes: string[] }

/** What every attack finds: a published zaaktype and informatieobjecttype, and one zaak. Plain data: it goes to a thread. */
export type World = {
  address: string
  catalogus: string
  zaaktype: string
  informatieobjecttype: string
  zaak: string
}

/** A call with all rights, to bring about what an attack needs; throws unless it is answered 2xx. */
export type Call = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>

export type Attack = {
  name: string
  /** The least rights that suffice; empty: the attacker only reaches the port, and has no token. */
  rights: Right[]
  /** Every status that it may be answered with. Anything else, and every 500, is a fault. 0: we closed the connection. */
  answers: number[]
  /** The status that tells that it got to where it hurts, for one that could be stopped early without anybody noticing. */
  reaches?: number
  /** Most bytes of one answer, where other than 17 MB. */
  maxBytes?: number
  /**
   * What has to be there beforehand.
   * `scale` is 1 in the benchmark, far below that in the test; `client` is the id of the bad client.
   */
  prepare?(world: World, means: { sql: Sql; call: Call; scale: number; client: string }): Promise<void>
  /** Sends it once, with as many at the same time as hurts most; it is repeated until the time is over. */
  send(bad: Bad): Promise<void>
}

/** The hands of the bad client. */
export type Bad = {
  world: World
  token: string
  scale: number
  /** Ends when the time of the attack is over. */
  signal: AbortSignal
  /** What was answered: how often each status, and the most bytes of one answer. */
  tally: Tally
  /** A request; its answer is read to the end, and thrown away. Its status, 0 when the connection ended first. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<number>
  /**
   * What a browser gets with the page of a form and sends along with it; undefined when the page could not be had.
   * @param cookie of a session
   */
  form(path: string, cookie?: string): Promise<{ token: string; cookie: string } | undefined>
  /**
   * A connection on which bytes are written as they are; the status of the first answer is noted when it comes.
   * @param from an address of this machine, such as 127.0.0.2
   * @returns undefined when it was refused
   */
  open(text?: string, from?: string): Promise<Socket | undefined>
}

export type Tally = { statuses: Map<number, number>; bytes: number }

export const newTally = (): Tally => ({ statuses: new Map(), bytes: 0 })

export function note(tally: Tally, status: number, bytes = 0): void {
  tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1)
  tally.bytes = Math.max(tally.bytes, bytes)
}

/** Runs an attack until the signal; what came of it is in the tally. */
export async function runAttack(
  attack: Attack,
  options: { world: World; token: string; scale: number; signal: AbortSignal; tally: Tally; once?: boolean },
): Promise<void> {
  const { world, token, signal, tally } = options
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connections: null })
  const sockets = new Set<Socket>()
  const { hostname, port } = new URL(world.address)
  const bad: Bad = {
    ...options,
    send: async (method, path, body, headers = {}) => {
      let bytes = 0
      try {
        const isText = typeof body === 'string' || body instanceof Uint8Array
        const answer = await request(new URL(path, world.address), {
          method: method as 'GET',
          dispatcher: agent,
          signal,
          headers: {
            ...(token && { authorization: `Bearer ${token}` }),
            'accept-crs': 'EPSG:4326',
            'content-crs': 'EPSG:4326',
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
        })
        for await (const chunk of answer.body) bytes += (chunk as Buffer).length
        note(tally, answer.statusCode, bytes)
        return answer.statusCode
      } catch {
        if (!signal.aborted) note(tally, 0, bytes)
        return 0
      }
    },
    form: async (path, session = '') => {
      try {
        const answer = await request(new URL(path, world.address), {
          dispatcher: agent,
          signal,
          headers: { cookie: session },
        })
        const page = await answer.body.text()
        note(tally, answer.statusCode, page.length)
        const [, token = ''] = /name="_csrf" value="([^"]+)"/.exec(page) ?? []
        const cookies = [answer.headers['set-cookie'] ?? []].flat().map((text) => text.split(';', 1)[0])
        return { token, cookie: [...(session ? [session] : []), ...cookies].join('; ') }
      } catch {
        if (!signal.aborted) note(tally, 0)
        return undefined
      }
    },
    open: async (text, from) => {
      const socket = connect({ port: Number(port), host: hostname, ...(from && { localAddress: from }) })
      sockets.add(socket)
      let noted = false
      const noteOnce = (status: number) => {
        if (!noted && !signal.aborted) note(tally, status)
        noted = true
      }
      socket.on('error', () => {})
      socket.on('close', () => {
        noteOnce(0)
        sockets.delete(socket)
      })
      socket.on('data', (data) => {
        const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(data.toString('latin1')) ?? []
        if (status) noteOnce(Number(status))
      })
      const connected = await once(socket, 'connect').then(
        () => true,
        () => false,
      )
      if (!connected) return undefined
      if (text !== undefined) socket.write(text)
      return socket
    },
  }
  try {
    do {
      const before = performance.now()
      await attack.send(bad)
      if (performance.now() - before < 1) await sleep(1) // one that refuses to do anything must not spin
    } while (!options.once && !signal.aborted)
  } finally {
    for (const socket of sockets) socket.destroy()
    await agent.destroy()
  }
}

/** The head of a request, to write on a connection. */
export function head(method: string, path: string, headers: Record<string, string | number>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

/** Writes a few bytes at a time until the other side has enough, or the time is over. */
export async function drip(socket: Socket, everyMs: number, signal: AbortSignal, bytes = ' '): Promise<void> {
  while (!signal.aborted && !socket.destroyed && socket.writable) {
    socket.write(bytes)
    await sleep(everyMs, undefined, { signal }).catch(() => {})
  }
}
