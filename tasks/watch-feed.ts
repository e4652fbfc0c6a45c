// watch-feed: every minute. Begins another history where numbers of transactions are others than before: the database was restored into
// another cluster or database, or a standby took over. Positions of before are refused from then on. Keeps the mark beside the documents
// that tells of a restore in place. And withdraws snapshots that hold
// what has left since. Running twice changes nothing.
import type { Task } from 'graphile-worker'
import type { Database } from '../src/database/database.ts'
import type { Store } from '../src/documenten/storage/index.ts'
import { keepMark } from '../src/documenten/storage/mark.ts'
import { withdrawSnapshots } from '../src/feed/snapshots.ts'

declare global {
  namespace GraphileWorker {
    interface Tasks {
      'watch-feed': Record<string, never>
    }
  }
}

export function watchFeed({ database, store }: { database: Database; store: Store }): Task {
  return async () => {
    await database.sql`select begin_history() where exists (select from history where cluster <> current_cluster())
      or exists (select from feed where cluster <> current_cluster())`
    await withdrawSnapshots(database)
    await keepMark(database.sql, store)
  }
}
