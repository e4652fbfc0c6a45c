import { LRUCache } from 'lru-cache'
import { Problem } from '../core/problem.ts'

const LIMIT = 100
const WINDOW_MS = 60_000

export type Attempts = ReturnType<typeof countAttempts>

/**
 * Counts failed authentication per client id and address, for a minute from the first failure; a success starts anew. In
 * the memory of this process, and bounded: what is longest ago makes way.
 */
export function countAttempts({
  limit = LIMIT,
  windowMs = WINDOW_MS,
  detail = 'Te veel tokens die niet kloppen. Probeer het later opnieuw.',
} = {}) {
  const failures = new LRUCache<string, { times: number }>({ max: 10_000, ttl: windowMs })
  return {
    /** The answer to a client that failed too often, undefined while it did not. */
    refusal(key: string): Problem | undefined {
      if ((failures.get(key)?.times ?? 0) < limit) return undefined
      const seconds = Math.max(1, Math.ceil(failures.getRemainingTTL(key) / 1000))
      return new Problem(429, {
        detail,
        headers: { 'retry-after': String(seconds) },
      })
    },
    failed(key: string): void {
      const entry = failures.get(key)
      if (entry) entry.times++
      else failures.set(key, { times: 1 })
    },
    succeeded(key: string): void {
      failures.delete(key)
    },
  }
}
