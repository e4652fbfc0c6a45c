// Backoff: when a message that could not be delivered is tried again, and how long a receiver that fails is left alone.

/** The settings of the retries, under their documented names. */
export type Retry = {
  /** Attempts after the first. */
  maxRetries: number
  /** Factor of the delay in seconds; true: binary exponential (factor 1, base 2); false or 0: always 180 s. */
  backoff: number | boolean
  /** Longest delay in seconds, for a backoff that is not false. */
  backoffMax: number
  baseFactor: number
}

/** The two sets of settings that are documented. */
export const SETS = {
  standaard: { maxRetries: 7, backoff: 25, backoffMax: 52_000, baseFactor: 4 },
  kort: { maxRetries: 5, backoff: 3, backoffMax: 48, baseFactor: 2 },
} as const satisfies Record<string, Retry>

const FIXED = 180

/**
 * How an abonnement that fails is spared: from so many failures in a row it gets one message at a time, and is left alone for these seconds
 * after each of them; the last for all that follow.
 */
export const SPARING = { failures: 5, probes: [5, 10, 20, 40, 80, 160, 300] }

/**
 * Seconds until the next attempt, when `retries` were done already. Whether there is one is decided where the attempt is recorded.
 * @param asked seconds that the receiver asked for (Retry-After): it is not sooner
 */
export function delayAfter(retries: number, settings: Omit<Retry, 'maxRetries'>, asked = 0): number {
  const { backoff, backoffMax, baseFactor } = settings
  if (backoff === false || backoff === 0) return Math.max(FIXED, asked)
  const [factor, base] = backoff === true ? [1, 2] : [backoff, baseFactor]
  return Math.max(Math.min(backoffMax, factor * base ** retries), asked)
}

/** All delays, with the time since the first failed attempt at which each ends: what the settings come down to. */
export function schedule(settings: Retry): { retry: number; delay: number; at: number }[] {
  let at = 0
  return Array.from({ length: settings.maxRetries }, (_, retries) => {
    const delay = delayAfter(retries, settings)
    at += delay
    return { retry: retries + 1, delay, at }
  })
}
