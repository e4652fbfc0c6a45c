// What an organisation has to do, asked from outside of it: on one connection for all in a database, which names their schemas.
import type { Sql } from 'postgres'
import { one } from '../database/rows.ts'
import type { Periodic } from '../jobs/periodic.ts'

export type Work = {
  /** Jobs that are due, and for how many seconds the oldest of them is. */
  jobs: number
  late: number
  /** Some worker has a job. */
  running: boolean
  /** A job comes within a minute. */
  soon: boolean
  /** Workers that are registered for it and give signs of life. */
  workers: number
  /** For how many seconds the worker that is silent the longest has been, beyond its term; 0: none is. */
  silent: number
  /** A job is locked by no worker that is registered. */
  stray: boolean
  /** Acts of the log of processing wait to be settled, and for the collector. */
  unsettled: boolean
  spooled: boolean
  /** A moment of a periodic job has passed. */
  moment: boolean
  /** Rises with each change. */
  changes: number
}

/** A worker that gives no sign of life for so long may be dead (jobs/leases.ts). */
const SILENT_S = 4
const STRAY_S = 20

/** The schemas are those of one organisation. @throws when they are not there, or are being migrated */
export async function lookAtWork(
  sql: Sql,
  { own, queue }: { own: string; queue: string },
  periodic: readonly Periodic[],
): Promise<Work> {
  const table = (name: string) => sql(`${own}.${name}`)
  const isDue = sql`locked_at is null and attempts < max_attempts and run_at <= now()`
  return one(
    await sql<Work[]>`
      select j.jobs, j.late, j.running, j.soon, j.stray,
        (select coalesce(max(abs(extract(epoch from now() - seen_at)) - ${SILENT_S}::int), 0)::float8 from ${table('worker')}
          where now() not between seen_at and seen_at + ${SILENT_S} * interval '1 second') as silent,
        (select count(*)::int from ${table('worker')}
          where now() between seen_at and seen_at + ${SILENT_S} * interval '1 second') as workers,
        exists (select from ${table('verwerking_unsettled')}) as unsettled,
        exists (select from ${table('verwerking_spool')}) as spooled,
        exists (select from unnest(${periodic.map(({ task }) => task)}::text[], ${periodic.map(({ every }) => every)}::text[],
            ${periodic.map(({ from }) => from)}::text[]) s(task, every, since) left join ${table('periodic_job')} p on p.task = s.task
          where p.last_at is null or p.last_at < date_bin(s.every::interval, now(), s.since::timestamptz)) as moment,
        (select last_value from ${table('audit_id_seq')}) as changes
      from (
        select count(*) filter (where ${isDue})::int as jobs,
          coalesce(extract(epoch from now() - min(run_at) filter (where ${isDue})), 0)::float8 as late,
          coalesce(bool_or(locked_at is not null), false) as running,
          coalesce(bool_or(locked_at is null and attempts < max_attempts and run_at <= now() + interval '1 minute'), false) as soon,
          coalesce(bool_or(now() not between locked_at and locked_at + ${STRAY_S} * interval '1 second'
            and not exists (select from ${table('worker')} w where w.pool_id = locked_by)), false) as stray
        from ${sql(`${queue}.jobs`)}
      ) j`,
  )
}
