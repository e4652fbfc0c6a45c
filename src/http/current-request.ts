// What is known of the request that is being answered wherever its work leads, and how often it may ask others.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { expected } from '../database/rows.ts'
import { LIMITS } from './limits.ts'
import { invalidAll, onObject, Problem } from './problem.ts'

export type CurrentRequest = {
  id: string
  /** Its trace context, when it is traced. */
  traceparent?: string
  /** Questions to other services so far, and when the last may be asked. */
  questions: number
  until: number | undefined
  /** Does what waits for others: meanwhile the request does not take the place of another request of its client. */
  away<T>(work: () => Promise<T>): Promise<T>
}

/** The request that is being answered; jobs and commands are none. */
export const currentRequest = new AsyncLocalStorage<CurrentRequest>()

const requests = new WeakMap<object, CurrentRequest>()

/** What is kept of a request while it is answered. @throws Error before `followRequests` has seen it */
export const currentOf = ({ raw }: FastifyRequest): CurrentRequest => expected(requests.get(raw))

/** Makes `currentRequest` hold in all hooks and handlers. */
export function followRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const current: CurrentRequest = { id: request.id, questions: 0, until: undefined, away: (work) => work() }
    requests.set(request.raw, current)
    currentRequest.run(current, done)
  })
  // The parts of a body come by events of the connection, which know nothing of it.
  app.addHook('preValidation', (request, _reply, done) => currentRequest.run(currentOf(request), done))
}

/**
 * Asks another service something for a request.
 * @throws Problem 400 when it asks more than `LIMITS.questions`, 503 when all of it takes longer than `LIMITS.questionsMs`
 */
export function askOther<T>(ask: () => Promise<T>): Promise<T> {
  const request = currentRequest.getStore()
  if (!request) return ask()
  const now = performance.now()
  request.until ??= now + LIMITS.questionsMs
  if (++request.questions > LIMITS.questions) {
    const reason = `Deze aanvraag vergt meer dan ${LIMITS.questions} vragen aan andere registers. Verdeel haar.`
    throw invalidAll([onObject('max_items', reason)])
  }
  if (now > request.until) {
    const detail = `Andere registers antwoorden te traag: na ${LIMITS.questionsMs / 1000} seconden is deze aanvraag gestaakt.`
    throw new Problem(503, { detail, headers: { 'retry-after': '60' } })
  }
  return request.away(ask)
}
