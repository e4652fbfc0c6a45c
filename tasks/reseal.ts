// reseal: seals what was sealed with older keys with the newest one (`zaakstroom keys reseal`), a portion at a time. Running twice is
// harmless: what is sealed with that key is left alone.
import type { Task } from 'graphile-worker'
import type { SecretBox } from '../src/core/secret-box.ts'
import { type Database, kyselyOn } from '../src/database/database.ts'
import { enqueue } from '../src/jobs/queue.ts'
import { resealPortion } from '../src/operations/reseal.ts'

declare global {
  namespace GraphileWorker {
    interface Tasks {
      reseal: Record<string, never>
    }
  }
}

/** How long a job goes on before it makes place for another. */
const STRETCH_MS = 10_000

export function reseal({ database, box }: { database: Database; box: SecretBox }): Task {
  return async (_payload, { abortSignal }) => {
    const until = performance.now() + STRETCH_MS
    while (await resealPortion(database, box))
      if (performance.now() > until || abortSignal?.aborted)
        return enqueue(kyselyOn(database.sql), 'reseal', {}, { jobKey: 'reseal' })
  }
}
