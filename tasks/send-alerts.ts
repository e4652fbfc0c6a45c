// send-alerts: sends the messages of alerts that are due. One that is not accepted is due again later, and the next look runs this.
import type { Task } from 'graphile-worker'
import type { Logger } from 'pino'
import type { Config } from '../src/config.ts'
import type { SecretBox } from '../src/core/secret-box.ts'
import type { Database } from '../src/database/database.ts'
import { sendDue } from '../src/operations/alerts/send.ts'

declare global {
  namespace GraphileWorker {
    interface Tasks {
      'send-alerts': Record<string, never>
    }
  }
}

export function sendAlerts(parts: { database: Database; config: Config; box: SecretBox; log: Logger }): Task {
  return async () => void (await sendDue(parts))
}
