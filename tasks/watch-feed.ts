// watch-feed: every minute. Begins the feed anew where numbers of transactions are others than before: the database was restored into
// another cluster or database, or a standby took over. Positions of before are refused from then on. And withdraws snapshots that hold
// what has left since. Running twice changes nothing.
import type { Task } from 'graphile-worker'
import type { Database } from '../src/database/database.ts'
import { withdrawSnapshots } from '../src/feed/snapshots.ts'

declare global {
  namespace GraphileWorker {
    interface Tasks {
      'watch-feed': Record<string, never>
    }
  }
}

export function watchFeed({ database }: { database: Database }): Task {
  return async () => {
    await database.sql`select begin_feed() from feed where cluster <> current_cluster()`
    await withdrawSnapshots(database)
  }
}
