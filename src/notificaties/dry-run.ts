// What an outage of a receiver would come to: a dry run by the settings, for receivers that get messages at an even rate, each about
// another object. It follows `claim_deliveries` and `record_attempts` (sql/0019-delivery.sql), which decide when it is real.
import { delayAfter, type Retry, SPARING, schedule } from './backoff.ts'

export type OutageSettings = Retry & {
  outageCounts: 'geen' | 'extern' | 'alle'
  blockAfterHours: number
  blockFromCount: number
  daysRetained: number
}

export type DryReceiver = {
  isExternal: boolean
  /** Messages for it, in a second. */
  rate: number
  /** How many it accepts in a second; null: not known yet. */
  speed: number | null
}

export type DryRun = {
  /** Messages made meanwhile. */
  made: number
  /** Of those, at most so many fail. An abonnement gets them by itself when it is back, the external service does not. */
  failed: number
  /** Seconds until it is blocked, which somebody has to end; null: it is not. An external service never is. */
  blockedAfter: number | null
  /** Messages that are no longer kept when it is back. */
  lost: number
  /** Seconds from its return (or *Hervatten*) until all that waits is accepted; null: not known; Infinity: never. */
  caughtUp: number | null
}

/** @param seconds that the receiver accepts nothing */
export function dryRun(settings: OutageSettings, { isExternal, rate, speed }: DryReceiver, seconds: number): DryRun {
  const made = Math.round(rate * seconds)
  const { outageCounts, blockAfterHours, blockFromCount, daysRetained } = settings
  const counts = outageCounts === 'alle' || (outageCounts === 'extern' && isExternal)
  const blocks = Math.min(blockAfterHours * 3600, rate > 0 ? blockFromCount / rate : Infinity)
  const blockedAfter = !isExternal && made > 0 && blocks < seconds ? blocks : null
  const failing = counts ? (isExternal ? ofEach : inTurn)(settings, rate, blockedAfter ?? seconds) : 0
  const failed = Math.min(made, Math.floor(failing))
  const lost =
    blockedAfter === null ? 0 : Math.floor(rate * Math.max(0, seconds - daysRetained * 86_400 - blockedAfter))
  const left = made - lost - (isExternal ? failed : 0)
  return { made, failed, blockedAfter, lost, caughtUp: caughtUp() }

  function caughtUp(): number | null {
    if (left === 0) return 0
    if (speed === null) return null
    if (speed <= rate) return Infinity
    const begins = isExternal ? (counts ? longestWait(settings, seconds) : 1 / rate) : lastProbe(seconds)
    return (blockedAfter === null ? begins : 0) + left / (speed - rate)
  }
}

/** The external service is not spared: each message goes by the schedule. */
function ofEach(retry: Retry, rate: number, seconds: number): number {
  return rate * Math.max(0, seconds - (schedule(retry).at(-1)?.at ?? 0))
}

/** The longest that a message may still wait by the schedule when its receiver is back after so many seconds. */
function longestWait(retry: Retry, seconds: number): number {
  const reached = schedule(retry).filter(({ at, delay }) => at - delay < seconds)
  return Math.max(0, ...reached.map(({ delay }) => delay))
}

const probeAfter = (failures: number) =>
  SPARING.probes[Math.min(failures - SPARING.failures, SPARING.probes.length - 1)] ?? 0

function lastProbe(seconds: number): number {
  let [at, failures] = [0, SPARING.failures]
  while (at + probeAfter(failures) < seconds && failures - SPARING.failures < SPARING.probes.length)
    at += probeAfter(failures++)
  return probeAfter(failures)
}

/** An abonnement is probed with what would be due first: how many of its messages use up their attempts that way. */
function inTurn(retry: Retry, rate: number, seconds: number): number {
  if (rate === 0) return 0
  const waiting: { at: number; retries: number }[] = [] // those that were tried, by when they are due
  let [now, fresh, failures, failed] = [0, 0, 0, 0]
  for (;;) {
    if (failures >= SPARING.failures) now += probeAfter(failures)
    const isFresh = fresh / rate <= (waiting[0]?.at ?? Infinity) && (fresh / rate <= now || !waiting[0])
    const first = isFresh ? { at: fresh / rate, retries: 0 } : waiting[0]!
    if (failures < SPARING.failures || isFresh) now = Math.max(now, first.at)
    if (now >= seconds) return failed
    failures++
    if (first.at > now) continue // a probe before its moment does not count
    if (isFresh) fresh++
    else waiting.shift()
    if (first.retries >= retry.maxRetries) {
      failed++
      continue
    }
    const at = now + delayAfter(first.retries, retry)
    const place = waiting.findIndex((other) => other.at > at)
    waiting.splice(place < 0 ? waiting.length : place, 0, { at, retries: first.retries + 1 })
  }
}
