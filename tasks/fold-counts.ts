// fold-counts: every minute. Folds what was added to the counts of documents, cases and besluiten, so that a list adds up few
// rows, and counts attempts to deliver. Running twice, or not at all, changes no count.
import type { Task } from 'graphile-worker'
import type { Database } from '../src/database/database.ts'
import { countAttempts } from '../src/notificaties/figures.ts'

declare global {
  namespace GraphileWorker {
    interface Tasks {
      'fold-counts': Record<string, never>
    }
  }
}

export function foldCounts({ database }: { database: Database }): Task {
  return async () => {
    await database.sql`select fold_counts()`
    await countAttempts(database)
  }
}
