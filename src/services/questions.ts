// questions: how often, and for how long, one request may ask other services.
import { LIMITS } from '../core/limits.ts'
import { invalidAll, onObject, Problem } from '../core/problem.ts'
import { currentRequest } from '../telemetry/current-request.ts'

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
