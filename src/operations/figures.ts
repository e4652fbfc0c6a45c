// What waits and what there is, noted by a job in small tables, so that pictures on the pages read a few rows.
import type { Database, Reader } from '../database/database.ts'
import { one } from '../database/rows.ts'
import { readSize } from '../database/size.ts'
import type { Store } from '../documenten/storage/index.ts'
import { timeZone } from '../lib/day.ts'

/** What waits is counted up to here. */
const MOST = 1_000_000
/** A queue whose oldest waits longer than this is late. */
export const LATE_SECONDS = 900
const QUEUE_KEPT = '4 hours'
const GROWTH_KEPT = '3 years'

/**
 * Notes what waits at this minute; twice in a minute notes it once. One look at the table gives the count and the oldest: the index would
 * pass all that was delivered since somebody holds an old snapshot.
 */
export async function noteQueue({ sql }: Database): Promise<void> {
  await sql`
    insert into queue_figure (minute, deliveries, delivery_seconds, jobs, job_seconds)
    select date_trunc('minute', now()), d.count,
      coalesce((select greatest(extract(epoch from now() - n.aanmaakdatum), 0)::int from notificatie n
        where n.id = d.oldest), 0),
      j.count, coalesce(greatest(extract(epoch from now() - j.oldest), 0)::int, 0)
    from (select count(*)::int as count, min(notificatie_id) as oldest
        from (select notificatie_id from delivery where status = 'gepland' limit ${MOST}) d) d,
      (select count(*)::int as count, min(run_at) as oldest from (select * from jobs limit ${MOST}) j
        where job_state(locked_at, attempts, max_attempts, run_at) = 'wacht') j
    on conflict (minute) do nothing`
  await sql`delete from queue_figure where minute < now() - ${QUEUE_KEPT}::interval`
}

/** Notes what there is today, from counts that are kept: the last note of a day stays. @param space of the disk of the documents */
export async function noteGrowth({ sql }: Database, store: Pick<Store, 'space'>): Promise<void> {
  const space = await store.space?.().catch(() => undefined)
  const { bytes } = await readSize(sql)
  await sql`
    insert into growth_figure as g (day, cases, documents, database_bytes, disk_bytes, disk_total)
    select (now() at time zone ${timeZone()}::text)::date, coalesce((select sum(count) from zaak_count), 0),
      coalesce((select sum(count) from enkelvoudiginformatieobject_count), 0), ${bytes}::bigint,
      ${space ? space.total - space.free : null}::bigint, ${space?.total ?? null}::bigint
    on conflict (day) do update set cases = excluded.cases, documents = excluded.documents,
      database_bytes = excluded.database_bytes, disk_bytes = coalesce(excluded.disk_bytes, g.disk_bytes),
      disk_total = coalesce(excluded.disk_total, g.disk_total)`
  await sql`delete from growth_figure where day < now() - ${GROWTH_KEPT}::interval`
}

/** Bytes of the tables and indexes, as they were noted last: within the last minute while a worker works. Null: nobody did yet. */
export async function notedBytes({ sql }: Pick<Reader, 'sql'>): Promise<number | null> {
  const [row] = await sql<{ bytes: number }[]>`
    select database_bytes::float8 as bytes from growth_figure order by day desc limit 1`
  return row?.bytes ?? null
}

/** The most that waited within five minutes, and for how long the oldest did; 0 where nothing was noted. */
export type QueueFigure = { at: string; count: number; seconds: number }

/** What waited in the last three hours, by five minutes. */
export async function queueFigures({ sql }: Pick<Reader, 'sql'>, of: 'deliveries' | 'jobs'): Promise<QueueFigure[]> {
  const rows = await sql<
    { at: string; deliveries: number; delivery_seconds: number; jobs: number; job_seconds: number }[]
  >`
    select p.at, coalesce(max(f.deliveries), 0) as deliveries, coalesce(max(f.delivery_seconds), 0) as delivery_seconds,
      coalesce(max(f.jobs), 0) as jobs, coalesce(max(f.job_seconds), 0) as job_seconds
    from generate_series(date_bin('5 minutes', now(), '2000-01-01Z') - interval '175 minutes',
      date_bin('5 minutes', now(), '2000-01-01Z'), interval '5 minutes') p (at)
    left join queue_figure f on f.minute >= p.at and f.minute < p.at + interval '5 minutes'
    group by p.at order by p.at`
  return rows.map(({ at, ...row }) =>
    of === 'jobs'
      ? { at, count: row.jobs, seconds: row.job_seconds }
      : { at, count: row.deliveries, seconds: row.delivery_seconds },
  )
}

/** What there was at the end of a month, and what came in it; `null` where nothing was noted. */
export type Month = {
  /** Its first day. */
  month: string
  cases: number | null
  documents: number | null
  newCases: number | null
  newDocuments: number | null
  databaseBytes: number | null
  diskBytes: number | null
  diskTotal: number | null
}

/** The last twelve months. */
export async function growthByMonth({ sql }: Pick<Reader, 'sql'>): Promise<Month[]> {
  return sql<Month[]>`
    select m.month::date::text as month, g.cases::float8, g.documents::float8,
      (g.cases - coalesce(b.cases, f.cases))::float8 as "newCases",
      (g.documents - coalesce(b.documents, f.documents))::float8 as "newDocuments",
      g.database_bytes::float8 as "databaseBytes", g.disk_bytes::float8 as "diskBytes", g.disk_total::float8 as "diskTotal"
    from generate_series(date_trunc('month', now() at time zone ${timeZone()}::text) - interval '11 months',
      date_trunc('month', now() at time zone ${timeZone()}::text), interval '1 month') m (month)
    left join lateral (select * from growth_figure where day >= m.month and day < m.month + interval '1 month'
      order by day desc limit 1) g on true
    left join lateral (select * from growth_figure where day < m.month order by day desc limit 1) b on true
    left join lateral (select * from growth_figure where day >= m.month and day < m.month + interval '1 month'
      order by day limit 1) f on true
    order by m.month`
}

/** What the disk of the documents takes a day over the last 90 days, as a line through them; null before it was noted for a week. */
export type DiskGrowth = { bytesPerDay: number; free: number } | null

export async function diskGrowth({ sql }: Pick<Reader, 'sql'>): Promise<DiskGrowth> {
  const { days, slope, free } = one(
    await sql<{ days: number; slope: number | null; free: number | null }[]>`
      select count(disk_bytes)::int as days, regr_slope(disk_bytes, day - current_date)::float8 as slope,
        (select (disk_total - disk_bytes)::float8 from growth_figure where disk_bytes is not null order by day desc limit 1) as free
      from growth_figure where day > now() - interval '90 days'`,
  )
  return days < 7 || slope === null || free === null ? null : { bytesPerDay: slope, free }
}
