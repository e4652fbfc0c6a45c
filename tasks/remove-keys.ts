// remove-keys: every hour. Removes the keys of requests (Idempotency-Key) whose term is over, and those beyond what an applicatie may
// have, a portion at a time. Running twice, or not at all, changes no answer: a key counts no longer than its term.
import type { Task } from 'graphile-worker'
import type { Config } from '../src/config.ts'
import type { Database } from '../src/database/database.ts'
import { one } from '../src/database/rows.ts'

declare global {
  namespace GraphileWorker {
    interface Tasks {
      'remove-keys': Record<string, never>
    }
  }
}

const PORTION = 5000

export function removeKeys({ database, config }: { database: Database; config: Config }): Task {
  return async () => {
    for (;;) {
      const found = one(
        await database.sql<{ removed: number | null }[]>`
          select remove_keys(make_interval(hours => ${config.idempotencyKeyHours}::int),
            ${config.idempotencyKeysMost}::bigint, ${PORTION}::int) as removed`,
      )
      if ((found.removed ?? 0) < PORTION) return
    }
  }
}
