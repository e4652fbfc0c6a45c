// plan-notificaties: plans messages that wait although nothing holds them up. Every minute, and whenever something changed
// for many at once. Running twice is harmless: what is planned does not wait.
import type { Task } from 'graphile-worker'
import type { Logger } from 'pino'
import type { Database } from '../src/database/database.ts'
import { planWachtende } from '../src/notificaties/plan.ts'

declare global {
  namespace GraphileWorker {
    interface Tasks {
      'plan-notificaties': Record<string, never>
    }
  }
}

export function planNotifications({ database, log }: { database: Database; log: Logger }): Task {
  return async () => {
    const planned = await planWachtende(database.sql)
    if (planned > 0) log.info({ planned }, 'planned notifications that were waiting')
  }
}
