// filter: which messages of the log are meant, for showing them as for sending them again.

import { type RawBuilder, sql } from 'kysely'
import { EXTERNAL } from '../core/outbox.ts'
import { timeZone } from '../lib/day.ts'

export type NotificatieFilter = {
  /** `geen`: there was nobody to get it. */
  status?: 'gepland' | 'afgeleverd' | 'mislukt' | 'geen'
  kanaal?: string
  /** First and last day (YYYY-MM-DD) in the time of the Netherlands. */
  van?: string
  tot?: string
  /** uuid of the main object, or of the object that changed. */
  object?: string
  /** How the last attempt of a failed delivery ended: an `outcome`, or `http-` with the status. */
  oorzaak?: string
  /** At whom: the external service, or the abonnementen here. Counts together with `oorzaak`, or for what failed. */
  ontvanger?: 'extern' | 'abonnementen'
  /** That an attempt began in this hour (by its first moment, ISO 8601) or on this day. */
  poging?: string
  /** Only such an attempt that ended so: the delivery failed with it, or another one was planned. */
  hoe?: 'mislukt' | 'nogmaals'
  /** Only such an attempt at this abonnement. */
  bij?: string
}

/** Attempts of one moment that are looked at: more are more than a list is read for. */
export const MOST_ATTEMPTS = 10_000

const waits = sql<boolean>`exists (select from delivery l where l.notificatie_id = notificatie.id and l.status = 'gepland')`
const failed = sql<boolean>`exists (select from delivery l where l.notificatie_id = notificatie.id and l.status = 'mislukt')`
const tried = sql<boolean>`exists (select from delivery_attempt p where p.notificatie_id = notificatie.id)`
const HAS_STATUS = {
  gepland: waits,
  mislukt: failed,
  afgeleverd: sql<boolean>`not ${waits} and not ${failed} and ${tried}`,
  geen: sql<boolean>`not ${waits} and not ${failed} and not ${tried}`,
}

/** The condition on failed deliveries `l`: which of those of a message are meant. */
export function isMeant({ oorzaak, ontvanger }: NotificatieFilter): RawBuilder<boolean> {
  const parts = [
    sql`l.status = 'mislukt'`,
    ontvanger && sql`l.abonnement_id ${ontvanger === 'extern' ? sql`=` : sql`<>`} ${EXTERNAL}`,
    oorzaak && sql`l.cause = ${oorzaak}`,
  ].filter((part) => typeof part === 'object')
  return sql<boolean>`${sql.join(parts, sql` and `)}`
}

/** Messages of which an attempt began at a moment: by the index of attempts, receiver by receiver. */
function attemptedAt({ poging = '', hoe, bij }: NotificatieFilter): RawBuilder<boolean> {
  const isDay = poging.length === 10
  const from = isDay
    ? sql`${poging}::text::date::timestamp at time zone ${timeZone()}::text`
    : sql`${poging}::text::timestamptz`
  const until = isDay
    ? sql`(${poging}::text::date + 1)::timestamp at time zone ${timeZone()}::text`
    : sql`${poging}::text::timestamptz + interval '1 hour'`
  const receivers = bij
    ? sql`select id from abonnement where uuid = ${bij}::text::uuid`
    : sql`select ${EXTERNAL}::bigint as id union all select id from abonnement`
  const ended = { mislukt: sql`and p.is_last`, nogmaals: sql`and p.outcome <> 'delivered' and not p.is_last` }
  return sql<boolean>`notificatie.id = any(array(
    select p.notificatie_id from (${receivers}) a join delivery_attempt p on p.abonnement_id = a.id
      and p.begun_at >= ${from} and p.begun_at < ${until} ${hoe ? ended[hoe] : sql``} limit ${MOST_ATTEMPTS}))`
}

/** The condition on table `notificatie`, under that name. Each part of it has an index that also gives the order of the log. */
export function matchesFilter(filter: NotificatieFilter): RawBuilder<boolean> {
  const { status, kanaal, van, tot, object, oorzaak, ontvanger, poging } = filter
  const parts = [
    status && !(status === 'mislukt' && (oorzaak || ontvanger)) && HAS_STATUS[status],
    kanaal && sql`notificatie.kanaal = ${kanaal}`,
    van && sql`notificatie.aanmaakdatum >= ${van}::text::date::timestamp at time zone ${timeZone()}::text`,
    tot && sql`notificatie.aanmaakdatum < (${tot}::text::date + 1)::timestamp at time zone ${timeZone()}::text`,
    (oorzaak || ontvanger) &&
      sql`exists (select from delivery l where l.notificatie_id = notificatie.id and ${isMeant(filter)})`,
    poging && attemptedAt(filter),
    // First the few messages, by either index: as one condition it would be looked for along the order of the log.
    object &&
      sql`notificatie.id = any(array(
        select id from notificatie where hoofd_object_uuid = ${object}::text::uuid
        union all
        select id from notificatie where resource_url <> hoofd_object and right(resource_url, 36) = ${object.toLowerCase()}::text))`,
  ].filter((part) => typeof part === 'object')
  return parts.length === 0 ? sql<boolean>`true` : sql<boolean>`${sql.join(parts, sql` and `)}`
}
