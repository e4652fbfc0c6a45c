// fold-counts: every minute. Folds what was added to the counts of documents, cases and besluiten, so that a list adds up few
// rows, counts attempts to deliver, and notes what waits and what there is. Running twice, or not at all, changes no count.
import type { Task } from 'graphile-worker'
import type { Database } from '../src/database/database.ts'
import type { Store } from '../src/documenten/storage/index.ts'
import { countAttempts } from '../src/notificaties/figures.ts'
import { noteGrowth, noteQueue } from '../src/operations/figures.ts'

declare global {
  namespace GraphileWorker {
    interface Tasks {
      'fold-counts': Record<string, never>
    }
  }
}

export function foldCounts({ database, store }: { database: Database; store: Pick<Store, 'space'> }): Task {
  return async () => {
    await database.sql`select fold_counts()`
    await noteQueue(database)
    await countAttempts(database)
    await noteGrowth(database, store)
  }
}
