// A fault that comes back again and again is a line a minute, and not one each time.
import type { Logger } from 'pino'

const QUIET_MS = 60_000

export type Repeats = {
  /** Logs this, or counts it when the same message was logged less than a minute ago; `times` are those of the next line. */
  say(level: 'warn' | 'error', facts: object, message: string): void
  /** It is over: when it comes back, that is new. */
  forget(message: string): void
}

export function openRepeats(log: Pick<Logger, 'warn' | 'error'>, quietMs = QUIET_MS): Repeats {
  const said = new Map<string, { at: number; times: number }>()
  return {
    say(level, facts, message) {
      const now = performance.now()
      const last = said.get(message)
      const times = (last?.times ?? 0) + 1
      if (last && now - last.at < quietMs) return void said.set(message, { ...last, times })
      said.set(message, { at: now, times: 0 })
      log[level]({ ...facts, times }, message)
    },
    forget: (message) => void said.delete(message),
  }
}
