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
/** How long ago a look begins, in seconds; null: it begins at the oldest. `receivers` have `ages` of their own. */
export type LookFrom = { age: number | null; receivers: number[]; ages: (number | null)[] }

/** Looks at everything. */
export const FROM_THE_OLDEST: LookFrom = { age: null, receivers: [], ages: [] }

/** What a look came to, by receiver. */
export type Looked = {
  /** When it began, by `performance.now()`. */
  began: number
  /** Every row that it took or parked, what is due longest first: how long it was due, in seconds. */
  rows: { abonnementId: number; dueAge: number }[]
  /** Receivers of which there may be more: a row was parked, or all were taken that it gets at once. */
  more: Set<number>
  /** Whether it stopped because of what it takes in all, so that receivers were not looked at. */
  stopped: boolean
}

const SLACK_MS = 2_000
/** What the way to the database may differ between two looks. */
const SKEW_MS = 500

/** What one sender remembers. Moments are those of `performance.now()`: of this process, and never set back. */
export function openLowerBounds() {
  let general: number | undefined
  const own = new Map<number, number | undefined>()
  let slack = SLACK_MS
  const ageOf = (moment: number | undefined, now: number) => (moment === undefined ? null : (now - moment) / 1000)
  return {
    /** Begins at the oldest again. */
    forget(): void {
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
    /** Where a look begins that begins now. */
    from(now: number): LookFrom {
      return {
        age: ageOf(general, now),
        receivers: [...own.keys()],
        ages: [...own.values()].map((at) => ageOf(at, now)),
      }
    },
    /** After a look. @param full receivers that got nothing because they have enough in hand */
    settle({ began, rows, more, stopped }: Looked, full: Iterable<number>): void {
      const seen = began - slack
      const last = new Map(rows.map(({ abonnementId, dueAge }) => [abonnementId, began - dueAge * 1000 - SKEW_MS]))
      const unseen = new Set(full)
      for (const receiver of unseen) if (!own.has(receiver)) own.set(receiver, general)
      for (const [receiver, moment] of last)
        if (stopped || more.has(receiver)) own.set(receiver, Math.min(moment, seen))
      if (stopped) return
      for (const receiver of own.keys()) if (!unseen.has(receiver) && !more.has(receiver)) own.delete(receiver)
      general = seen
    },
  }
}
