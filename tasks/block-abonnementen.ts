// block-abonnementen: every minute. Blocks abonnementen for which too much waits; running it twice is harmless.
import type { Task } from 'graphile-worker'
import type { Logger } from 'pino'
import type { Database } from '../src/database/database.ts'
import { blockOverflowing } from '../src/nrc/abonnement/state.ts'

declare global {
  namespace GraphileWorker {
    interface Tasks {
      'block-abonnementen': Record<string, never>
    }
  }
}

export function blockAbonnementen({ database, log }: { database: Database; log: Logger }): Task {
  return async () => {
    for (const { uuid } of await blockOverflowing(database)) log.warn({ abonnement: uuid }, 'abonnement blocked')
  }
}
