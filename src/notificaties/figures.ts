// How many attempts to deliver there were, an hour at a time: a job counts what ended, so that pages and pictures read a few rows.
import type { Database, Reader } from '../database/database.ts'

/** Attempts that began so long ago have ended and were recorded: none takes longer, and recording waits for no more than a database. */
const ENDED = '2 minutes'
const KEPT = '15 days'
/** Under this number all receivers together are counted: a page with many of them reads one row an hour. */
export const ALL = -1

/** Counts the attempts since the last time. Two at once wait for each other, and count nothing twice. */
export async function countAttempts({ sql }: Database): Promise<void> {
  await sql.begin(async (trx) => {
    await trx`lock table delivery_figure in share row exclusive mode`
    await trx`
      with span as (
        select coalesce((select max(counted_until) from delivery_figure where abonnement_id = ${ALL}), now() - ${KEPT}::interval) as since, now() - ${ENDED}::interval as until
      ), counted as materialized (
        select date_trunc('hour', p.begun_at) as hour, p.abonnement_id, count(*) filter (where p.outcome = 'delivered') as delivered,
          count(*) filter (where p.outcome <> 'delivered' and not p.is_last) as retried, count(*) filter (where p.is_last) as failed,
          max(s.until) as until
        from span s cross join (select 0 as id union all select id from abonnement) a
        join delivery_attempt p on p.abonnement_id = a.id and p.begun_at >= s.since and p.begun_at < s.until
        group by 1, 2
      )
      insert into delivery_figure as f (hour, abonnement_id, delivered, retried, failed, counted_until)
      select hour, abonnement_id, delivered, retried, failed, until from counted
      union all select hour, ${ALL}, sum(delivered), sum(retried), sum(failed), max(until) from counted group by hour
      on conflict (abonnement_id, hour) do update set delivered = f.delivered + excluded.delivered,
        retried = f.retried + excluded.retried, failed = f.failed + excluded.failed, counted_until = excluded.counted_until`
    await trx`delete from delivery_figure where hour < now() - ${KEPT}::interval`
  })
}

export type Figure = { at: string; day: string; delivered: number; retried: number; failed: number }

/**
 * The attempts of the last 24 hours by hour, or of 14 days by day, those without attempts as well.
 * @param receiver of this one only
 */
export async function attemptFigures(
  { sql }: Pick<Reader, 'sql'>,
  { per, receiver = ALL, zone }: { per: 'hour' | 'day'; receiver?: number; zone: string },
): Promise<Figure[]> {
  const span = per === 'hour' ? '23 hours' : '13 days'
  return sql<Figure[]>`
    with f as materialized (
      select date_trunc(${per}, hour at time zone ${zone}::text) as place, delivered, retried, failed
      from delivery_figure where abonnement_id = ${receiver} and hour > now() - ${span}::interval - interval '2 days'
    )
    select l.place at time zone ${zone}::text as at, l.place::date::text as day, coalesce(sum(f.delivered), 0)::int as delivered,
      coalesce(sum(f.retried), 0)::int as retried, coalesce(sum(f.failed), 0)::int as failed
    from generate_series(date_trunc(${per}, now() at time zone ${zone}::text) - ${span}::interval,
      date_trunc(${per}, now() at time zone ${zone}::text), ${`1 ${per}`}::interval) l (place)
    left join f on f.place = l.place
    group by l.place order by l.place`
}
