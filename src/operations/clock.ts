// A clock of the database that was set back, or was ahead for a while: what was planned meanwhile lies further ahead than any
// schedule allows. It is pulled back within a minute, and said in the log and on the overview.

import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import { systemActor } from '../core/access.ts'
import type { Mutate } from '../core/mutate.ts'
import type { ReadSql } from '../database/database.ts'
import { one } from '../database/rows.ts'
import { AHEAD_S, type Periodic, planPeriodic } from '../jobs/periodic.ts'
import { SPARING } from '../notificaties/backoff.ts'
import { MAX_RETRY_AFTER_S } from '../notificaties/deliver.ts'
import { resumeAbonnement } from '../nrc/abonnement/state.ts'

const PORTION = 10_000
const KEPT = 100
/** graphile-worker waits e^10 seconds at most before a next attempt. */
const MOST_STEPS = 10

/** What was pulled back, and by how many seconds the clock had been ahead where that is known. */
export type Setback = { aheadSeconds: number; deliveries: number; receivers: number; jobs: number; resumed: number }

/** Plans periodic jobs, and every minute looks for what a clock that was ahead planned. For the checks of a worker. */
export function watchClock(parts: { periodic: Periodic[]; mutate: Mutate; log: Logger }): (sql: Sql) => Promise<void> {
  const { periodic, mutate, log } = parts
  return async (sql) => {
    const { planned, aheadSeconds } = await planPeriodic(sql, periodic)
    if (planned.length === 0 && aheadSeconds === 0) return
    const setback = await pullBack(sql, mutate, aheadSeconds)
    if (setback)
      log.warn(setback, 'the clock of the database was ahead: what was planned too far ahead has been pulled back')
  }
}

/**
 * Pulls back what no schedule can have planned, and resumes abonnementen that were blocked by a clock that was ahead.
 * @param aheadSeconds as is known already
 * @returns undefined when there was nothing
 */
export async function pullBack(sql: Sql, mutate: Mutate, aheadSeconds = 0): Promise<Setback | undefined> {
  const found: Setback = { aheadSeconds, deliveries: 0, receivers: 0, jobs: 0, resumed: 0 }
  for (const [part, work] of [
    ['deliveries', pullDeliveries],
    ['receivers', pullReceivers],
    ['jobs', pullJobs],
  ] as const) {
    for (;;) {
      const { count, ahead } = await work(sql)
      found[part] += count
      found.aheadSeconds = Math.max(found.aheadSeconds, Math.round(ahead))
      if (count < PORTION) break
    }
  }
  // The next look of a sender was planned at what has been pulled back now.
  if (found.deliveries + found.receivers > 0)
    await sql`select add_job('send-notificaties', job_key => 'send-notificaties:later')`
  await pullAttempts(sql)
  const resumed = await resumeBlocked(sql, mutate)
  found.resumed = resumed.count
  found.aheadSeconds = Math.max(found.aheadSeconds, Math.round(resumed.ahead))
  if (found.aheadSeconds === 0 && found.resumed === 0) return undefined
  await sql`
    with old as (delete from clock_setback where id <= (select max(id) - ${KEPT} from clock_setback))
    insert into clock_setback (ahead_seconds, deliveries, receivers, jobs, resumed)
    values (${found.aheadSeconds}, ${found.deliveries}, ${found.receivers}, ${found.jobs}, ${found.resumed})`
  return found
}

type Pulled = { count: number; ahead: number }

// A message that was never tried is due when it is made. One that was tried began in the past, and waits as the settings say, or as
// the receiver asked; what the settings were before is not held against it.
async function pullDeliveries(sql: Sql): Promise<Pulled> {
  const rows = await sql<Pulled[]>`
    with far as (
      select l.notificatie_id, l.abonnement_id, case when l.begun_at > now() then l.begun_at else l.next_attempt_at end - now() as ahead
      from delivery l, notificatie_settings i
      where l.status = 'gepland' and l.next_attempt_at > now() + ${AHEAD_S} * interval '1 second' and (
        l.attempt = 0 or l.begun_at > now() + ${AHEAD_S} * interval '1 second'
        or l.begun_at >= i.changed_at and l.next_attempt_at > now() + interval '1 second' * (${AHEAD_S} + greatest(
          ${MAX_RETRY_AFTER_S}, case when i.backoff in ('false', '0') then 180
            else least(i.backoff_max, case when i.backoff = 'true' then 1 else (i.backoff #>> '{}')::float8 end
              * case when i.backoff = 'true' then 2 else i.base_factor end::float8 ^ least(greatest(l.retries - 1, 0), 40)) end)))
      order by l.notificatie_id, l.abonnement_id limit ${PORTION} for update of l skip locked
    ), pulled as (
      update delivery l set next_attempt_at = greatest(now(), l.next_attempt_at - far.ahead),
        begun_at = case when l.claimed_by is null then least(l.begun_at, now()) else l.begun_at end
      from far where l.notificatie_id = far.notificatie_id and l.abonnement_id = far.abonnement_id
      returning extract(epoch from far.ahead)::float8 as ahead
    )
    select count(*)::int as count, coalesce(max(ahead), 0)::float8 as ahead from pulled`
  return one(rows)
}

async function pullReceivers(sql: Sql): Promise<Pulled> {
  const longest = Math.max(MAX_RETRY_AFTER_S, ...SPARING.probes)
  const rows = await sql<Pulled[]>`
    with far as (
      select id, greatest(not_before, last_fault_at) - now() as ahead from abonnement
      where last_fault_at > now() + ${AHEAD_S} * interval '1 second'
        or not_before > now() + ${AHEAD_S + longest} * interval '1 second'
      order by id limit ${PORTION} for update skip locked
    ), pulled as (
      update abonnement a set not_before = least(a.not_before, now()), last_fault_at = least(a.last_fault_at, now()),
        failing_since = least(a.failing_since, now())
      from far where far.id = a.id returning extract(epoch from far.ahead)::float8 as ahead
    )
    select count(*)::int as count, coalesce(max(ahead), 0)::float8 as ahead from pulled`
  return one(rows)
}

// When a job was added or planned anew is in updated_at; one that failed waits by its attempts.
async function pullJobs(sql: Sql): Promise<Pulled> {
  const rows = await sql<Pulled[]>`
    with far as (
      select id, run_at, case when updated_at > now() then updated_at else run_at end - now() as ahead
      from jobs
      where locked_at is null and attempts < max_attempts and run_at > now() and (
        updated_at > now() + ${AHEAD_S} * interval '1 second'
        or attempts > 0 and run_at > now() + interval '1 second' * (${AHEAD_S} + exp(least(attempts, ${MOST_STEPS}))))
      order by id limit ${PORTION}
    )
    select count(pulled.id)::int as count, coalesce(max(extract(epoch from far.ahead)), 0)::float8 as ahead
    from far, lateral reschedule_jobs(array[far.id::bigint], run_at => greatest(now(), far.run_at - far.ahead)) pulled`
  return one(rows)
}

/** A wait after wrong passwords takes an hour at most, and is forgotten after a day. */
async function pullAttempts(sql: Sql): Promise<void> {
  await sql`
    update beheer_sign_in_attempt set open_at = least(open_at, now()), forget_at = least(forget_at, now() + interval '1 day')
    where open_at > now() + interval '61 minutes' or forget_at > now() + interval '1441 minutes'`
}

async function resumeBlocked(sql: Sql, mutate: Mutate): Promise<Pulled> {
  const blocked = await sql<{ uuid: string; ahead: number }[]>`
    select uuid, extract(epoch from status_since - now())::float8 as ahead from abonnement
    where status = 'geblokkeerd' and deleted_at is null and status_since > now() + ${AHEAD_S} * interval '1 second'`
  for (const { uuid } of blocked) {
    await mutate(systemActor('clock'), async (m) => {
      const { count } = await m.sql`
        update abonnement set status_since = now()
        where uuid = ${uuid} and status = 'geblokkeerd' and status_since > now() + ${AHEAD_S} * interval '1 second'`
      if (count > 0) await resumeAbonnement(m, uuid)
    })
  }
  return { count: blocked.length, ahead: Math.max(0, ...blocked.map(({ ahead }) => ahead)) }
}

/** The latest time that the clock was found to have been ahead, within a week. */
export async function lastSetback(sql: ReadSql): Promise<(Setback & { noticedAt: string }) | undefined> {
  const [row] = await sql<(Setback & { noticedAt: string })[]>`
    select ahead_seconds as "aheadSeconds", deliveries, receivers, jobs, resumed, noticed_at as "noticedAt"
    from clock_setback where noticed_at > now() - interval '7 days' order by id desc limit 1`
  return row
}
