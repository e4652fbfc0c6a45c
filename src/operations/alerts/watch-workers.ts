// That no worker is there is found by the api, which a worker cannot: every api looks, under the lock of a look, and sends what it tells
// itself. It is told after a while, so that a restart is not, and the workers that come back tell that they are.
import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import type { Database } from '../../database/database.ts'
import { findGone } from './conditions.ts'
import { tellChanges } from './look.ts'
import { sendDue } from './send.ts'

const EVERY_MS = 20_000
const GONE_MS = 120_000

type Parts = { database: Database; config: Config; box: SecretBox; log: Logger }

/** Looks again and again. `look` does it once. */
export function watchWorkers(parts: Parts, { everyMs = EVERY_MS, goneMs = GONE_MS } = {}) {
  const missing = new Map<string, number>()
  let running: Promise<void> | undefined
  const look = async () => {
    const gone = await findGone(parts.database.sql)
    for (const key of [...missing.keys()]) if (!gone.some((one) => one.key === key)) missing.delete(key)
    for (const { key } of gone) missing.set(key, missing.get(key) ?? performance.now())
    const lasting = gone.filter(({ key }) => performance.now() - missing.get(key)! >= goneMs)
    if (lasting.length === 0) return
    await tellChanges(parts, { conditions: lasting, isWhole: () => true }, () => false)
    // Without a worker no job sends it.
    if (lasting.some(({ key }) => key === 'worker:worker')) await sendDue(parts)
  }
  const again = () => {
    running ??= look()
      .catch((error) => parts.log.warn({ reason: (error as Error).message }, 'the workers were not looked for'))
      .finally(() => {
        running = undefined
      })
  }
  const timer = setInterval(again, everyMs).unref()
  return {
    look,
    close: async () => {
      clearInterval(timer)
      await running
    },
  }
}
