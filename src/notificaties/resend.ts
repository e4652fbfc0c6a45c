// resend: sending again what failed, sending now what waits, and removing what is old.

import { type RawBuilder, sql } from 'kysely'
import type { Mutation } from '../core/mutate.ts'
import { EXTERNAL } from '../core/outbox.ts'
import type { Db } from '../database/database.ts'
import { isMeant, matchesFilter, type NotificatieFilter } from './filter.ts'

const PORTION = 1000

/** Wakes a sender when this is committed, for what is due by other means than a new message: it may have passed that already. */
export async function wakeSender(m: Mutation): Promise<void> {
  await m.enqueue('send-notificaties', { all: true }, { jobKey: 'send-notificaties' })
}

/**
 * A receiver accepts messages, or is another one now: it is left alone no longer, and what waits for it goes, with what failed while it
 * accepted nothing.
 * @param receiver of an abonnement its id, or `EXTERNAL`
 */
export async function receiverAnswers(m: Mutation, receiver: number): Promise<void> {
  m.unrecorded('how a receiver is doing is no resource of the standard')
  await m.sql`select receiver_answers(${receiver}, 0)`
  await wakeSender(m)
}

/** Somebody wants something sent to these receivers now: they are left alone no longer. */
export async function endRest(m: Mutation, receivers: number[]): Promise<void> {
  await m.sql`update abonnement set not_before = null where id = any(${receivers}::bigint[]) and not_before is not null`
  if (receivers.includes(EXTERNAL))
    await m.sql`update external_receiver set not_before = null where not_before is not null`
}

/** Which failed messages: these, all that were made within a window of time, or all that a filter of the log shows. */
export type Selection = { uuids: string[] } | { van: string; tot: string } | { filter: NotificatieFilter }

export type Resent = { messages: number; deliveries: number }

/**
 * Gives failed messages all their attempts anew, at the receivers where they failed. In portions, so that no statement takes
 * long however many there are; all in the one transaction.
 * @returns how many messages, and to how many receivers together
 */
export async function resendFailed(m: Mutation, selection: Selection): Promise<Resent> {
  m.unrecorded('sending again changes no resource of the standard')
  const meant = condition(selection)
  const filter = 'filter' in selection ? selection.filter : {}
  const total: Resent = { messages: 0, deliveries: 0 }
  for (let [moment, id] = ['-infinity', 0]; ; ) {
    const { rows } = await sql<Resent & { receivers: number[]; moment: string; id: number }>`
      with portie as materialized (
        select id, aanmaakdatum from notificatie
        where exists (select from delivery l where l.notificatie_id = notificatie.id and l.status = 'mislukt')
          and ${meant} and (aanmaakdatum, id) > (${moment}::text::timestamptz, ${id}::bigint)
        order by aanmaakdatum, id limit ${20 * PORTION}
      ), opnieuw as (
        update delivery l set status = 'gepland', retries = 0, refusals = 0, aside = false, next_attempt_at = now(), ended_at = null
        from portie where l.notificatie_id = portie.id and ${isMeant(filter)}
        returning l.notificatie_id, l.abonnement_id
      )
      select (select count(distinct notificatie_id)::int from opnieuw) as messages,
        (select count(*)::int from opnieuw) as deliveries,
        array(select distinct abonnement_id from opnieuw) as receivers, aanmaakdatum as moment, id from portie
      order by aanmaakdatum desc, id desc limit 1`.execute(m.trx)
    const [last] = rows
    if (!last) break
    total.messages += last.messages
    total.deliveries += last.deliveries
    await endRest(m, last.receivers)
    ;({ moment, id } = last)
  }
  if (total.messages > 0) await wakeSender(m)
  return total
}

function condition(selection: Selection): RawBuilder<boolean> {
  if ('filter' in selection) return matchesFilter(selection.filter)
  if ('van' in selection)
    return sql`notificatie.aanmaakdatum >= ${selection.van} and notificatie.aanmaakdatum < ${selection.tot}`
  return selection.uuids.length === 0 ? sql`false` : sql`notificatie.uuid in (${sql.join(selection.uuids)})`
}

/**
 * What became of a waiting delivery that somebody wants sent now: it goes now; it is being sent (`busy`); it waits for an earlier message
 * of its main object (`held`), for its receiver to fetch it, for its abonnement to be resumed (`stopped`), or for sending to be (`paused`).
 */
export type Pressed = {
  uuid: string
  outcome: 'now' | 'busy' | 'held' | 'fetched' | 'stopped' | 'paused'
  /** The message that holds it up. */
  behind: string | null
}

/**
 * Has waiting messages sent now, before all others: whoever asks for it ends the rest of their receivers.
 * @param receiver the id of an abonnement, to send to that one only
 * @returns one for each delivery
 */
export async function sendNow(m: Mutation, uuids: string[], receiver?: number): Promise<Pressed[]> {
  m.unrecorded('an earlier attempt changes no resource of the standard')
  const rows = await m.sql<(Pressed & { receiver: number })[]>`
    with meant as materialized (
      select n.uuid, l.notificatie_id, l.abonnement_id, e.uuid as behind, case
        when case l.abonnement_id when ${EXTERNAL} then i.service_id is null or x.paused_at is not null else i.paused_at is not null end then 'paused'
        when l.abonnement_id <> ${EXTERNAL} and a.status is distinct from 'actief' then 'stopped'
        when a.callback_url = '' then 'fetched'
        when l.claimed_by is not null then 'busy'
        when e.id is not null then 'held'
        else 'now' end as outcome
      from notificatie n join delivery l on l.notificatie_id = n.id and l.status = 'gepland'
      cross join notificatie_settings i cross join external_receiver x
      left join abonnement a on a.id = l.abonnement_id and a.deleted_at is null
      left join lateral (
        select en.id, en.uuid from delivery e join notificatie en on en.id = e.notificatie_id
        where e.abonnement_id = l.abonnement_id and e.hoofd_object_uuid = l.hoofd_object_uuid and e.status = 'gepland'
          and e.notificatie_id < l.notificatie_id and not e.aside and not l.aside and coalesce(a.in_order, i.in_order)
        order by e.notificatie_id limit 1) e on true
      where n.uuid = any(${uuids}::uuid[]) and ${receiver ?? null}::bigint is not distinct from
        case when ${receiver ?? null}::bigint is null then null else l.abonnement_id end
    ), moved as (
      -- Of a receiver that is probed only the first goes.
      update delivery l set next_attempt_at = least(now(), (select min(o.next_attempt_at) from delivery o
          where o.abonnement_id = l.abonnement_id and o.status = 'gepland') - interval '1 millisecond')
      from meant where meant.outcome = 'now' and l.notificatie_id = meant.notificatie_id and l.abonnement_id = meant.abonnement_id
        and l.claimed_by is null
    )
    select uuid, outcome, behind, abonnement_id as receiver from meant order by notificatie_id, abonnement_id`
  const going = rows.filter(({ outcome }) => outcome === 'now').map(({ receiver }) => receiver)
  await endRest(m, going)
  if (going.length > 0) await wakeSender(m)
  return rows
}

/**
 * Messages that wait for no receiver any more, and are older than so many days. On table `notificatie`. For an external service that
 * nobody has named a message waits no longer than that.
 */
export function isOld(days: number): RawBuilder<boolean> {
  return sql`notificatie.aanmaakdatum < now() - make_interval(days => ${days}::int)
    and not exists (select from delivery l where l.notificatie_id = notificatie.id and l.status = 'gepland'
      and (l.abonnement_id <> ${EXTERNAL} or exists (select from notificatie_settings where configured_service_id is not null)))`
}

/** Forgets events that came in (/events) more than so many days ago: one that comes again after that is acted on again. */
export async function deleteOldEvents(db: Db, days: number): Promise<void> {
  await db
    .deleteFrom('receivedEvent')
    .where('receivedAt', '<', sql<string>`now() - make_interval(days => ${days}::int)`)
    .execute()
}

/**
 * Removes messages that are older than so many days and wait for nobody, with their attempts.
 * @returns how many
 */
export async function deleteOldMessages(db: Db, days: number): Promise<number> {
  // Each portion begins where the last one ended: while somebody holds an old snapshot, what was removed stays in the index.
  for (let [total, moment, id] = [0, '-infinity', 0]; ; ) {
    const { rows } = await sql<{ count: number; moment: string; id: number }>`
      with oud as materialized (
          select id, aanmaakdatum from notificatie
          where ${isOld(days)} and (aanmaakdatum, id) > (${moment}::text::timestamptz, ${id}::bigint)
          order by aanmaakdatum, id limit ${10 * PORTION}
        ),
        pogingen as (delete from delivery_attempt where notificatie_id in (select id from oud)),
        leveringen as (delete from delivery where notificatie_id in (select id from oud)),
        weg as (delete from notificatie where id in (select id from oud) returning id)
      select (select count(*)::int from weg) as count, aanmaakdatum::text as moment, id from oud
      order by oud.aanmaakdatum desc, id desc limit 1`.execute(db)
    const [last] = rows
    if (!last) return total
    total += last.count
    ;({ moment, id } = last)
  }
}
