// How long a session of the database server has held a snapshot: so long PostgreSQL keeps what was deleted or changed.
import type { ReadSql } from '../database/database.ts'
import { one } from '../database/rows.ts'

/** From so long on somebody should look who it is; the alert ZaakstroomOldSnapshot says the same. */
export const OLD_SNAPSHOT_SECONDS = 4 * 3600

/** @returns seconds since the oldest was taken; 0: nobody holds one. Only of sessions that our role may see (pg_monitor: all) */
export async function oldestSnapshot(sql: ReadSql): Promise<number> {
  const rows = await sql<{ seconds: number }[]>`
    select coalesce(extract(epoch from now() - min(xact_start)), 0)::float8 as seconds from pg_stat_activity
    where backend_xmin is not null`
  return Math.max(0, one(rows).seconds)
}
