import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Spreads what is asked of a source evenly over time.
 * @param perSecond rows or requests; undefined: as fast as it goes
 */
export function paced(perSecond?: number): (amount: number) => Promise<void> {
  if (!perSecond) return async () => {}
  let free = performance.now()
  return async (amount) => {
    const begin = Math.max(free, performance.now())
    free = begin + (amount / perSecond) * 1000
    await sleep(Math.max(0, begin - performance.now()))
  }
}
