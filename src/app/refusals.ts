// Headers of every answer, and answers on a connection itself, where there is no request (any more).
import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { Problem, problemBody } from '../core/problem.ts'
import { headersFor } from '../http/cors.ts'
import { REQUEST_ID, requestIdOf } from '../telemetry/request-id.ts'

const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
}

/** What every answer carries, also one that is given before there is a route. @param base our address in links */
export function commonHeaders(id: string, base: string): Record<string, string> {
  return {
    ...SECURITY_HEADERS,
    [REQUEST_ID]: id,
    ...(base.startsWith('https:') && { 'strict-transport-security': 'max-age=31536000' }),
  }
}

/** Our address where nobody is known to ask, and where to say so. */
type Refused = { base: string; log: Logger; origins: Config['corsOrigins'] }
export type BrokenRequest = { error: Error & { code?: string; rawPacket?: unknown }; socket: Socket }

/** What the HTTP parser itself refuses never becomes a request; it gets the same kind of answer. */
export function answerBrokenRequest(error: BrokenRequest['error'], socket: Socket, refused: Refused): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
  answerConnection(socket, new Problem(status, status === 400 ? { code: 'parse_error' } : {}), {
    ...refused,
    origin: originIn(error.rawPacket),
  })
}

/** What a request says of itself that could not be read: the header is looked for in what came last. */
const originIn = (packet: unknown): string | undefined =>
  /\r\norigin:[ \t]*([^\s]+)[ \t]*\r\n/i.exec(Buffer.isBuffer(packet) ? packet.toString('latin1') : '')?.[1]

/** Answers on a connection itself, where there is no request, or one that cannot be answered any more, and ends it. */
export function answerConnection(
  socket: Socket,
  problem: Problem,
  refused: Refused & { origin?: string | undefined },
  request?: FastifyRequest,
): void {
  const base = request?.base ?? refused.base
  const id = request?.id ?? requestIdOf(undefined)
  const exceptionId = randomUUID()
  const { status, code } = problem
  refused.log.info({ reqId: id, status, code, exception_id: exceptionId }, 'request refused')
  const body = JSON.stringify(problemBody(problem, base, `urn:uuid:${exceptionId}`))
  const headers = Object.entries({
    ...commonHeaders(id, base),
    ...headersFor(refused.origins, request?.headers.origin ?? refused.origin),
    ...problem.headers,
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  )
  // What still comes is thrown away for a moment: closing on unread bytes could cost the client the answer.
  socket.resume()
  setTimeout(() => socket.destroy(), 1000).unref()
}
