// plannen: brings messages that wait to a job, in portions. What waits is data, so nothing is lost when this is cut short.
import { type RawBuilder, sql } from 'kysely'
import type { Sql } from 'postgres'
import type { Db } from '../database/database.ts'
import type { Mutation } from '../database/mutate.ts'
import { type NotificatieFilter, voldoetAan } from './filter.ts'

const PORTION = 1000
const JOB_LOST_AFTER = '1 minute' // not sooner, to leave the queue itself the time to give a lost job back

/**
 * Plans what waits without a job although nothing holds it up (any more): a service was set, messages were resent, the
 * order was switched off, or the job of a message vanished.
 * @returns how many were planned
 */
export async function planWachtende(sql: Sql): Promise<number> {
  let total = 0
  for (;;) {
    const rows = await sql`
      with klaar as (
        select n.id from notificatie n, notificatie_instelling i
        where n.status = 'gepland' and n.volgende_poging_op is null and i.dienst_id is not null
          and not (i.op_volgorde and exists (
            select from notificatie eerder
            where eerder.hoofd_object_uuid = n.hoofd_object_uuid and eerder.status = 'gepland' and eerder.id < n.id))
        order by n.id limit ${PORTION} for update of n skip locked
      ), gepland as (
        update notificatie set volgende_poging_op = now() from klaar where notificatie.id = klaar.id returning notificatie.id
      )
      select plan_notificatie(id) from gepland`
    total += rows.length
    if (rows.length < PORTION) break
  }
  const lost = await sql`
    select plan_notificatie(id)
    from notificatie n
    where status = 'gepland' and volgende_poging_op < now() - ${JOB_LOST_AFTER}::interval and not exists (
      select from graphile_worker._private_jobs j
      join graphile_worker._private_tasks t on t.id = j.task_id and t.identifier = 'verstuur-notificatie'
      where (j.payload ->> 'id')::bigint = n.id and j.attempts < j.max_attempts)
    limit ${PORTION}`
  return total + lost.length
}

/** Which failed messages: these, all that were made within a window of time, or all that a filter of the log shows. */
export type Selectie = { uuids: string[] } | { van: string; tot: string } | { filter: NotificatieFilter }

/**
 * Gives failed messages all their attempts anew. In portions, so that no statement takes long however many there are; all
 * in the one transaction.
 * @returns how many
 */
export async function herzend(m: Mutation, selectie: Selectie): Promise<number> {
  m.unrecorded('sending again changes no resource of the standard')
  const meant = conditie(selectie)
  let total = 0
  for (let [moment, id] = ['-infinity', 0]; ; ) {
    const { rows } = await sql<{ aantal: number; moment: string; id: number }>`
      with portie as materialized (
        select id, aanmaakdatum from notificatie
        where status = 'mislukt' and ${meant} and (aanmaakdatum, id) > (${moment}::text::timestamptz, ${id}::bigint)
        order by aanmaakdatum, id limit ${20 * PORTION} for update
      ), opnieuw as (
        update notificatie set status = 'gepland', herhalingen = 0, volgende_poging_op = null, beeindigd_op = null
        from portie where notificatie.id = portie.id
      )
      select (select count(*)::int from portie) as aantal, aanmaakdatum as moment, id from portie
      order by aanmaakdatum desc, id desc limit 1`.execute(m.trx)
    const [last] = rows
    if (!last) break
    total += last.aantal
    ;({ moment, id } = last)
  }
  await m.enqueue('plan-notificaties', {}, { jobKey: 'plan-notificaties' })
  return total
}

function conditie(selectie: Selectie): RawBuilder<boolean> {
  if ('filter' in selectie) return voldoetAan(selectie.filter)
  if ('van' in selectie)
    return sql`notificatie.aanmaakdatum >= ${selectie.van} and notificatie.aanmaakdatum < ${selectie.tot}`
  return selectie.uuids.length === 0 ? sql`false` : sql`notificatie.uuid in (${sql.join(selectie.uuids)})`
}

/**
 * Makes the next attempt of waiting messages due now.
 * @returns how many
 */
export async function stuurNu(m: Mutation, uuids: string[]): Promise<number> {
  m.unrecorded('an earlier attempt changes no resource of the standard')
  const rows = await m.sql`
    with nu as (
      update notificatie set volgende_poging_op = now()
      where uuid = any(${uuids}) and status = 'gepland' and volgende_poging_op > now() returning id)
    select plan_notificatie(id) from nu`
  return rows.length
}

/** Messages that were delivered or failed, and are older than so many days. On table `notificatie`. */
export function isOud(days: number): RawBuilder<boolean> {
  return sql`notificatie.status <> 'gepland' and notificatie.aanmaakdatum < now() - make_interval(days => ${days}::int)`
}

/**
 * Removes messages that were delivered or failed and are older than so many days, with their attempts.
 * @returns how many
 */
export async function removeOldNotificaties(db: Db, days: number): Promise<number> {
  for (let total = 0; ; ) {
    const { numDeletedRows } = await db
      .deleteFrom('notificatie')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('notificatie')
          .where(isOud(days))
          .select('id')
          .limit(10 * PORTION),
      )
      .executeTakeFirst()
    total += Number(numDeletedRows)
    if (Number(numDeletedRows) < 10 * PORTION) return total
  }
}
