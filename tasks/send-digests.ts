// send-digests: every morning. Prepares the digests and has them sent; whoever got one today gets no other.
import type { Task } from 'graphile-worker'
import type { Config } from '../src/config.ts'
import type { SecretBox } from '../src/core/secret-box.ts'
import type { Database } from '../src/database/database.ts'
import { prepareDigests } from '../src/operations/alerts/look.ts'

declare global {
  namespace GraphileWorker {
    interface Tasks {
      'send-digests': Record<string, never>
    }
  }
}

export function sendDigests(parts: { database: Database; config: Config; box: SecretBox }): Task {
  return async () => void (await prepareDigests(parts))
}
