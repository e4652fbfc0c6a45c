// Jobs that come at set moments, by the clock of the database. Every worker looks every few seconds; a row of `periodic_job` says
// up to where each kind was planned, so that one of them adds the job. graphile-worker's own crontab goes by the clock of a worker,
// and keeps what it planned in a table that is its own: a clock that was ahead once would stop it until then.
import { createHash } from 'node:crypto'
import type { Sql, TransactionSql } from 'postgres'

export type Periodic = {
  task: keyof GraphileWorker.Tasks & string
  every: '1 minute' | '15 minutes' | '1 hour' | '1 day'
  /** A moment at which it comes, such as 2000-01-01T02:17Z. */
  from: string
}

/** The most by which clocks may differ. A job that is planned further ahead was planned by a clock that was wrong. */
export const AHEAD_S = 60

/** The last moment until now at which each kind was due. */
const momentsOf = (sql: Sql | TransactionSql, jobs: Periodic[]) => sql<{ task: string; latest: string }[]>`
  select task, date_bin(every::interval, now(), since::timestamptz) as latest
  from unnest(${jobs.map(({ task }) => task)}::text[], ${jobs.map(({ every }) => every)}::text[],
    ${jobs.map(({ from }) => from)}::text[]) s(task, every, since)`

/**
 * Adds the jobs whose moment came; moments that nobody was there for are made up once.
 * @returns what was added, and by how many seconds the clock that planned was ahead; 0: it was not
 */
export async function planPeriodic(sql: Sql, jobs: Periodic[]): Promise<{ planned: string[]; aheadSeconds: number }> {
  return sql.begin(async (trx) => {
    const schedule = momentsOf(trx, jobs)
    await trx`
      insert into periodic_job (task, last_at) select task, latest from (${schedule}) s
      where not exists (select from periodic_job p where p.task = s.task) on conflict do nothing`
    const rows = await trx<{ task: string; isDue: boolean; ahead: number }[]>`
      select p.task, p.last_at < s.latest as "isDue", extract(epoch from p.last_at - now())::float8 as ahead
      from periodic_job p join (${schedule}) s on s.task = p.task
      where p.last_at < s.latest or p.last_at > now() + ${AHEAD_S} * interval '1 second'
      for update of p skip locked`
    if (rows.length === 0) return { planned: [], aheadSeconds: 0 }
    await trx`
      update periodic_job p set last_at = s.latest from (${schedule}) s
      where s.task = p.task and p.task = any(${rows.map(({ task }) => task)})`
    const planned = rows.filter(({ isDue }) => isDue).map(({ task }) => task)
    await trx`select add_job(task, job_key => task) from unnest(${planned}::text[]) d(task)`
    return { planned, aheadSeconds: Math.max(0, ...rows.map(({ ahead }) => Math.round(ahead))) }
  })
}

/** The most by which the moments of two organisations differ. */
const SPREAD_MS = { '1 minute': 60_000, '15 minutes': 900_000, '1 hour': 3_600_000, '1 day': 3_600_000 } as const

/** The same jobs somewhat later, by a part of their term that follows from a name: who has many of them does not do all at once. */
export function spread(jobs: readonly Periodic[], name: string): Periodic[] {
  const part = createHash('sha256').update(name).digest().readUInt32BE() / 2 ** 32
  return jobs.map((job) => {
    const from = new Date(Date.parse(job.from) + Math.floor(part * SPREAD_MS[job.every]))
    return { ...job, from: from.toISOString() }
  })
}
