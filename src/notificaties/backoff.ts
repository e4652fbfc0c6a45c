// Backoff: when a message that could not be delivered is tried again.

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

/** Seconds until the next attempt, when `retries` were done already; undefined: there is no next one. */
export function delayAfter(retries: number, settings: Retry): number | undefined {
  const { maxRetries, backoff, backoffMax, baseFactor } = settings
  if (retries >= maxRetries) return undefined
  if (backoff === false || backoff === 0) return FIXED
  const [factor, base] = backoff === true ? [1, 2] : [backoff, baseFactor]
  return Math.min(backoffMax, factor * base ** retries)
}

/** All delays, with the time since the first failed attempt at which each ends: what the settings come down to. */
export function schedule(settings: Retry): { retry: number; delay: number; at: number }[] {
  let at = 0
  return Array.from({ length: settings.maxRetries }, (_, retries) => {
    const delay = delayAfter(retries, settings) ?? 0
    at += delay
    return { retry: retries + 1, delay, at }
  })
}
