// lower-bounds: from which moment on a sender looks for deliveries that are due.
//
// A delivery that was made leaves a dead entry in the index of what is due. While somebody holds an old snapshot (a dump, a round of a
// takeover, a forgotten session), PostgreSQL cannot take these away, and whoever begins at the oldest walks over all of them: after eight
// minutes at 40 messages a second that took 95 to 250 ms a look. So a sender remembers up to which moment it has seen everything
// that is due, and begins there.
//
// What becomes due later has a later moment, unless it was written by a transaction that was under way at the look: `SLACK_MS`, or
// as long as the oldest writing transaction lasts already, is left for those. What is due and was not taken is remembered by receiver:
// one that gets no more at once, or more than one look takes. A receiver that fails, or was paused or blocked meanwhile, is looked at
// whole (`looked_from` in sql/0010-notificaties.sql). Whatever else is missed is overdue soon, and found by `wakeOverdue`.
import { EXTERNAL } from '../core/outbox.ts'

/** How long ago a look begins, in seconds; null: it begins at the oldest. `receivers` have `ages` of their own. */
export type LookFrom = { age: number | null; receivers: number[]; ages: (number | null)[] }

/** Looks at everything. */
export const FROM_THE_OLDEST: LookFrom = { age: null, receivers: [], ages: [] }

/** A delivery in hand: of an abonnement, how many that gets at once. */
type InHand = { abonnementId: number; abonnement: { atOnce: number } | null }

/** What a look may take, and what was in hand when it began. */
export type Look = {
  /** Of the external service. */
  external: number
  /** Of all abonnementen together. */
  total: number
  open: readonly InHand[]
}

/** What a look came to: every row that it took or parked, what is due longest first, with how long that was due, in seconds. */
export type Looked = {
  rows: readonly { abonnementId: number; dueAge: number; parked: boolean }[]
  claimed: readonly InHand[]
}

const SLACK_MS = 2_000
/** What the way to the database may differ between two looks. */
const SKEW_MS = 500

/** What one sender remembers. Moments are those of `performance.now()`: of this process, and never set back. */
export function openLowerBounds() {
  let general: number | undefined
  const own = new Map<number, number | undefined>()
  let slack = SLACK_MS
  let forgotten = 0
  const ageOf = (moment: number | undefined, now: number) => (moment === undefined ? null : (now - moment) / 1000)
  const from = (now: number): LookFrom => ({
    age: ageOf(general, now),
    receivers: [...own.keys()],
    ages: [...own.values()].map((at) => ageOf(at, now)),
  })
  return {
    /** Where a look begins that begins now. */
    from,
    /** Begins at the oldest again; what a look that is under way comes to counts no more. */
    forget(): void {
      forgotten++
      general = undefined
      own.clear()
    },
    /** @param seconds that the oldest transaction that writes is under way; null: there is none */
    underWay(seconds: number | null, now: number): void {
      slack = SLACK_MS + (seconds ?? 0) * 1000
      const least = now - slack
      if (general !== undefined) general = Math.min(general, least)
      for (const [receiver, moment] of own) if (moment !== undefined) own.set(receiver, Math.min(moment, least))
    },
    /** Begins a look. @returns from where on, and what has to be told of its end */
    begin(now: number, look: Look): { from: LookFrom; end(looked: Looked): void } {
      const before = forgotten
      return {
        from: from(now),
        end: (looked) => {
          if (forgotten === before) settle(now, look, looked)
        },
      }
    },
  }

  function settle(began: number, look: Look, { rows, claimed }: Looked): void {
    const seen = began - slack
    const last = new Map(rows.map(({ abonnementId, dueAge }) => [abonnementId, began - dueAge * 1000 - SKEW_MS]))
    const full = fullReceivers(look)
    const more = withMore(look, { rows, claimed })
    const isStopped = rows.filter(({ abonnementId }) => abonnementId !== EXTERNAL).length >= look.total
    for (const receiver of full) if (!own.has(receiver)) own.set(receiver, general)
    for (const [receiver, moment] of last)
      if (isStopped || more.has(receiver)) own.set(receiver, Math.min(moment, seen))
    if (isStopped) return // others were not looked at
    for (const receiver of own.keys()) if (!full.has(receiver) && !more.has(receiver)) own.delete(receiver)
    general = seen
  }
}

const byReceiver = (all: readonly InHand[]) => Map.groupBy(all, ({ abonnementId }) => abonnementId)

/** Receivers that get nothing, because they have enough in hand. */
function fullReceivers({ external, open }: Look): Set<number> {
  const full = new Set(external === 0 ? [EXTERNAL] : [])
  for (const [receiver, ones] of byReceiver(open)) {
    const atOnce = ones[0]?.abonnement?.atOnce
    if (atOnce !== undefined && ones.length >= atOnce) full.add(receiver)
  }
  return full
}

/** Receivers of which there may be more: a row was parked, or they got all that they may. */
function withMore({ external, open }: Look, { rows, claimed }: Looked): Set<number> {
  const more = new Set(rows.filter(({ parked }) => parked).map(({ abonnementId }) => abonnementId))
  const sending = byReceiver(open)
  for (const [receiver, ones] of byReceiver(claimed)) {
    const atOnce = ones[0]?.abonnement?.atOnce
    const room = atOnce === undefined ? external : atOnce - (sending.get(receiver)?.length ?? 0)
    if (ones.length >= room) more.add(receiver)
  }
  return more
}
