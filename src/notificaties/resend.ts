// resend: sending again what failed, sending now what waits, and removing what is old.

import { type RawBuilder, sql } from 'kysely'
import type { Mutation } from '../core/mutate.ts'
import { EXTERNAL } from '../core/outbox.ts'
import type { Db } from '../database/database.ts'
import { isMeant, matchesFilter, type NotificatieFilter } from './filter.ts'

const PORTION = 1000

/** Wakes a sender when this is committed, for what is due by other means than a new message. */
export async function wakeSender(m: Mutation): Promise<void> {
  await m.enqueue('send-notificaties', {}, { jobKey: 'send-notificaties' })
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
    const { rows } = await sql<Resent & { moment: string; id: number }>`
      with portie as materialized (
        select id, aanmaakdatum from notificatie
        where exists (select from delivery l where l.notificatie_id = notificatie.id and l.status = 'mislukt')
          and ${meant} and (aanmaakdatum, id) > (${moment}::text::timestamptz, ${id}::bigint)
        order by aanmaakdatum, id limit ${20 * PORTION}
      ), opnieuw as (
        update delivery l set status = 'gepland', retries = 0, refusals = 0, aside = false, next_attempt_at = now(), ended_at = null
        from portie where l.notificatie_id = portie.id and ${isMeant(filter)}
        returning l.notificatie_id
      )
      select (select count(distinct notificatie_id)::int from opnieuw) as messages,
        (select count(*)::int from opnieuw) as deliveries, aanmaakdatum as moment, id from portie
      order by aanmaakdatum desc, id desc limit 1`.execute(m.trx)
    const [last] = rows
    if (!last) break
    total.messages += last.messages
    total.deliveries += last.deliveries
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
 * Makes the next attempt of waiting messages due now.
 * @returns how many messages, and to how many receivers together
 */
export async function sendNow(m: Mutation, uuids: string[]): Promise<Resent> {
  m.unrecorded('an earlier attempt changes no resource of the standard')
  const rows = await m.sql<{ notificatie_id: number }[]>`
    update delivery l set next_attempt_at = now() from notificatie n
    where n.uuid = any(${uuids}::uuid[]) and l.notificatie_id = n.id and l.status = 'gepland' and l.next_attempt_at > now()
    returning l.notificatie_id`
  if (rows.length > 0) await wakeSender(m)
  return { messages: new Set(rows.map((row) => row.notificatie_id)).size, deliveries: rows.length }
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
