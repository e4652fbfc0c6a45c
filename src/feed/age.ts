// How far the feed is behind: a transaction that writes for long holds back what was committed after its beginning.
import type { ReadSql } from '../database/database.ts'
import { one } from '../database/rows.ts'

export type FeedAge = {
  /** False: there is no feed (FEED_DAYS). */
  on: boolean
  /** Since when the oldest change waits that no reader may see yet; 0: none does. */
  seconds: number
}

export async function feedAge(sql: ReadSql): Promise<FeedAge> {
  const found = await sql<FeedAge[]>`
    select exists (select from feed) as "on", coalesce(extract(epoch from clock_timestamp() - min(w.made_at)), 0)::float8 as seconds
    from unnest(array['zrc', 'drc', 'brc', 'ztc']) component left join lateral (
      select made_at from change c where c.component = component and c.xact >= pg_snapshot_xmin(pg_current_snapshot()) order by xact, id limit 1
    ) w on true`
  return one(found)
}
