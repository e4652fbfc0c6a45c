// The header Idempotency-Key: who may send it, and how a repeated request is answered (core/idempotency.ts keeps it).
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { parseItem } from 'structured-headers'
import type { Config } from '../config.ts'
import { findKept, fingerprintOf, keepRefusal, keyOf, mayComeOfRepetition, RefusedBefore } from '../core/idempotency.ts'
import { invalid, loggedProblem, Problem, sendBody, sendProblem } from '../core/problem.ts'
import type { RequestKey } from '../core/request-key.ts'
import type { Database } from '../database/database.ts'
import { header } from './header.ts'

const LONGEST = 255
const NOTHING = Buffer.alloc(32)

/**
 * Gives a request its key. To be called after access, and before bodies are read. Of two requests with one key at the same time the
 * second waits for the row of the first, at whatever process: nothing here has to remember which are at work.
 */
export function registerKeys(app: FastifyInstance, config: Config): void {
  app.addHook('onRequest', (request, _reply, done) => {
    try {
      const key = request.actor && mayRepeat(request) ? keyIn(request, config) : undefined
      if (key) request.actor.key = key
      done()
    } catch (error) {
      done(error as Error)
    }
  })
  app.addHook('onSend', (request, reply, _payload, done) => {
    if (request.actor?.key?.isReplayed) reply.header('idempotency-replayed', 'true')
    done()
  })
}

/** What changes something, but for a PUT or DELETE, of which twice is as once: only bytes that are uploaded count among these. */
export const mayRepeat = ({ method, routeOptions }: Pick<FastifyRequest, 'method' | 'routeOptions'>): boolean => {
  const { url = '', config } = routeOptions
  if (/\/_(zoek|batch)$/.test(url)) return false
  const isStream = (config as { stream?: boolean } | undefined)?.stream === true
  return method === 'POST' || method === 'PATCH' || (method === 'PUT' && isStream && url.includes('/bestandsdelen/'))
}

/** @throws Problem 400 when it is no key */
function keyIn(request: FastifyRequest, config: Config): RequestKey | undefined {
  const text = header(request, 'idempotency-key').trim()
  if (text === '' && request.headers['idempotency-key'] === undefined) return undefined
  const key = textOf(text)
  if (key === undefined || key.length > LONGEST)
    throw invalid(
      'Idempotency-Key',
      'invalid',
      `Een sleutel is 1 tot ${LONGEST} tekens ASCII, met of zonder aanhalingstekens.`,
    )
  let fingerprint: Buffer | null = null
  return {
    text: key,
    fingerprint: () => {
      const { content, method, url } = request
      const isWhole = content?.isWhole || !hasBody(request)
      if (isWhole) fingerprint ??= fingerprintOf(method, url, content?.sum() ?? NOTHING)
      return fingerprint
    },
    isReplayed: false,
    isKept: false,
    hours: config.idempotencyKeyHours,
  }
}

/** A string as structured fields have it (RFC 8941), or bare as many clients send it. */
function textOf(text: string): string | undefined {
  if (!text.startsWith('"')) return /^[!-~]+$/.test(text) ? text : undefined
  try {
    const [value] = parseItem(text)
    return typeof value === 'string' && value !== '' ? value : undefined
  } catch {
    return undefined
  }
}

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/**
 * Answers a request that failed. With a key: as the first time, when it was done then; else the refusal is kept.
 */
export async function sendFailure(
  database: Database,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
): Promise<FastifyReply> {
  const key = request.actor && keyOf(request.actor)
  if (!key) return sendProblem(request, reply, error)
  if (error instanceof RefusedBefore) return sendBody(reply, error.status, error.body)
  const { problem, headers, body } = loggedProblem(request, error)
  if (problem.status < 500 && !key.isReplayed) {
    try {
      const isOurs = problem.status !== 422 && mayComeOfRepetition(problem)
      const kept = isOurs ? await findKept(database, request.actor, key) : undefined
      if (kept) return sendFirst(request, reply, kept.answer)
      await keepRefusal(database.sql, request.actor, problem.status, body)
    } catch (instead) {
      if (instead instanceof RefusedBefore) return sendBody(reply, instead.status, instead.body)
      if (instead instanceof Problem) return sendProblem(request, reply, instead)
      request.log.warn({ err: instead }, 'a refusal was not kept')
    }
  }
  return sendBody(reply.headers(headers), problem.status, body)
}

/**
 * The answer of a request that was done before, and is refused now before anything is changed, as what it makes is there already.
 * Such routes answer with what was made.
 */
function sendFirst(request: FastifyRequest, reply: FastifyReply, answer: unknown): FastifyReply {
  const { url } = (answer ?? {}) as { url?: unknown }
  const declared = Object.keys((request.routeOptions.schema?.response as object | undefined) ?? {})
  const isMade = declared.includes('201')
  if (isMade && typeof url === 'string') reply.header('location', url)
  return reply
    .code(isMade ? 201 : 200)
    .type('application/json')
    .send(JSON.stringify(answer))
}
