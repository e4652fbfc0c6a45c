// Trying an abonnement out with all that is set for it: whether its callback refuses who does not identify himself, and accepts a
// test message (kanaal test) as real ones are sent. Outside any transaction.
import type { Config } from '../../config.ts'
import { momentNow } from '../../lib/moment.ts'
import type { Outcome, Subscriber } from '../../notificaties/claims.ts'
import type { Deliver } from '../../notificaties/deliver.ts'
import type { Agent } from '../../services/transport.ts'
import { askWithoutAuth, TEST_MESSAGE, withinLimit } from './callback.ts'

export type Step = {
  step: 'refuses' | 'accepts'
  ok: boolean
  /** What the callback did; for `refuses` an answer that should have been 401 or 403. */
  outcome: Outcome
  httpStatus: number | null
  answer: string
  ms: number
}

const SHOWN = 200

/** @throws Problem 503 when too many callbacks are being asked already */
export function tryOut(
  parts: { agent: Agent; delivery: Deliver; config: Config },
  abonnement: Subscriber,
): Promise<Step[]> {
  return withinLimit(async () => {
    const steps: Step[] = []
    if (parts.config.notificatiesTestCallbackAuth) {
      const began = performance.now()
      const { status, kind, body } = await askWithoutAuth(parts.agent, abonnement.callbackUrl)
      const ms = Math.round(performance.now() - began)
      const ok = status === 401 || status === 403
      steps.push({ step: 'refuses', ok, outcome: kind ?? 'http', httpStatus: status || null, answer: body, ms })
      if (kind !== undefined) return steps // nobody is there
    }
    const attempt = await parts.delivery.post({
      message: {
        ...TEST_MESSAGE,
        uuid: crypto.randomUUID(),
        bron: '',
        requestId: '',
        aanmaakdatum: momentNow(),
        cloudevent: null,
      },
      notificatieId: 0,
      attempt: 1,
      replay: false,
      service: null,
      abonnement: { ...abonnement, atOnce: 1 },
    })
    steps.push({
      step: 'accepts',
      ok: attempt.outcome === 'delivered',
      outcome: attempt.outcome,
      httpStatus: attempt.httpStatus,
      answer: (attempt.answer ?? '')
        .replace(/[^\P{C}]/gu, ' ')
        .trim()
        .slice(0, SHOWN),
      ms: attempt.ms,
    })
    return steps
  })
}
