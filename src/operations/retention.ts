// retention: what is kept for how long, and what a clean-up removes. The task does it, the pages show it.

import { type RawBuilder, sql } from 'kysely'
import type { Sql } from 'postgres'
import type { Config } from '../config.ts'
import type { ReadDb } from '../database/database.ts'
import { one } from '../database/rows.ts'
import { isOld } from '../notificaties/resend.ts'

/** When the clean-up runs by the clock (UTC). */
export const DAILY_AT = '02:17'

type Terms = Pick<Config, 'importRetentionDays' | 'notificationDaysRetained'>

/** Imports that ended, or that were made and never got a file, more than IMPORT_RETENTION_DAYS ago. On table `import`. */
export function isOldImport({ importRetentionDays }: Terms): RawBuilder<boolean> {
  return sql`import.status not in ('queued', 'active') and import.deleted_at is null
    and coalesce(import.ended_at, import.created_at) < now() - make_interval(days => ${importRetentionDays}::int)`
}

/** So far may two runs lie apart before a jump of the clock is the likelier reason. */
const GAP_DAYS = 7

/**
 * Whether the clock of the database stands suspiciously far behind the last run that was completed, or behind the last change
 * of the schema before the first run: a host that woke with a wrong date, a back-up that was restored, or a service that was off.
 */
export async function clockGap(sql: Sql): Promise<{ last: string; days: number } | undefined> {
  const [gap] = await sql<{ last: string; days: number }[]>`
    select last, extract(day from now() - last)::int as days from (
      select greatest(
        (select max(begun_at) from retention_run where begun_at <= now() and ended_at is not null and fault is null),
        (select max(applied_at) from migration where applied_at <= now())) as last) known
    where last < now() - make_interval(days => ${GAP_DAYS})`
  return gap
}

/** What a run would remove now. */
export async function toRemove(db: ReadDb, config: Terms): Promise<{ imports: number; notificaties: number }> {
  const { rows } = await sql<{ imports: number; notificaties: number }>`select
    (select count(*)::int from import where ${isOldImport(config)}) as imports,
    (select count(*)::int from notificatie where ${isOld(config.notificationDaysRetained)}) as notificaties`.execute(db)
  return one(rows)
}

/** The next moment at which the clock starts a run. */
export function nextRun(now = new Date()): Date {
  const moment = new Date(`${now.toISOString().slice(0, 10)}T${DAILY_AT}Z`)
  if (moment <= now) moment.setUTCDate(moment.getUTCDate() + 1)
  return moment
}
