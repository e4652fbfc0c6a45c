// watch-alerts: every minute. Looks for what people should know of, and tells what changed. Running twice tells it once.
import type { Task } from 'graphile-worker'
import type { Config } from '../src/config.ts'
import type { SecretBox } from '../src/core/secret-box.ts'
import type { Database } from '../src/database/database.ts'
import type { Store } from '../src/documenten/storage/index.ts'
import { lookAtAll } from '../src/operations/alerts/look.ts'

declare global {
  namespace GraphileWorker {
    interface Tasks {
      'watch-alerts': Record<string, never>
    }
  }
}

type Parts = { database: Database; config: Config; box: SecretBox; store: Store }

export function watchAlerts(parts: Parts): Task {
  return async () => void (await lookAtAll(parts))
}
