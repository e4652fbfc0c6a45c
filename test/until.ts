// Waiting for a condition. The tests wait in no other way: a pause is either too short or too long.
import { setTimeout as sleep } from 'node:timers/promises'

const FIRST_PAUSE_MS = 1
const LONGEST_PAUSE_MS = 50
const GROWTH = 1.5

/**
 * Asks until the answer is true, or a value, and returns it. It asks at once, and then ever less often.
 * @param what is awaited, for the error when it does not come
 */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  limitMs = 120_000,
): Promise<Exclude<T, false | undefined>> {
  const late = performance.now() + limitMs
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(LONGEST_PAUSE_MS, pause * GROWTH)) {
    const answer = await condition()
    if (answer) return answer as Exclude<T, false | undefined>
    if (performance.now() > late) throw new Error(`did not come in ${limitMs / 1000} s: ${what}`)
    await sleep(pause)
  }
}
