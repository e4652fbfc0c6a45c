// filter: which messages of the log are meant, for showing them as for sending them again.

import { type RawBuilder, sql } from 'kysely'
import { timeZone } from '../lib/day.ts'

export type NotificatieFilter = {
  status?: 'gepland' | 'afgeleverd' | 'mislukt'
  kanaal?: string
  /** First and last day (YYYY-MM-DD) in the time of the Netherlands. */
  van?: string
  tot?: string
  /** uuid of the main object, or of the object that changed. */
  object?: string
  /** How the last attempt of a failed delivery ended: an `uitkomst`, or `http-` with the status. */
  oorzaak?: string
}

const waits = sql<boolean>`exists (select from delivery l where l.notificatie_id = notificatie.id and l.status = 'gepland')`
const failed = sql<boolean>`exists (select from delivery l where l.notificatie_id = notificatie.id and l.status = 'mislukt')`
const HAS_STATUS = { gepland: waits, mislukt: failed, afgeleverd: sql<boolean>`not ${waits} and not ${failed}` }

/** A cause of failure, of an attempt `p`. */
export const CAUSE = sql<string>`case when p.uitkomst = 'http' then 'http-' || p.http_status else p.uitkomst end`

/** The condition on table `notificatie`, under that name. Each part of it has an index that also gives the order of the log. */
export function matchesFilter(filter: NotificatieFilter): RawBuilder<boolean> {
  const { status, kanaal, van, tot, object, oorzaak } = filter
  const parts = [
    status && HAS_STATUS[status],
    kanaal && sql`notificatie.kanaal = ${kanaal}`,
    van && sql`notificatie.aanmaakdatum >= ${van}::text::date::timestamp at time zone ${timeZone()}::text`,
    tot && sql`notificatie.aanmaakdatum < (${tot}::text::date + 1)::timestamp at time zone ${timeZone()}::text`,
    oorzaak &&
      sql`exists (select from delivery l
        join delivery_attempt p on p.notificatie_id = l.notificatie_id and p.abonnement_id = l.abonnement_id and p.nummer = l.poging
        where l.notificatie_id = notificatie.id and l.status = 'mislukt' and ${CAUSE} = ${oorzaak})`,
    // First the few messages, by either index: as one condition it would be looked for along the order of the log.
    object &&
      sql`notificatie.id = any(array(
        select id from notificatie where hoofd_object_uuid = ${object}::text::uuid
        union all
        select id from notificatie where resource_url <> hoofd_object and right(resource_url, 36) = ${object.toLowerCase()}::text))`,
  ].filter((part) => typeof part === 'object')
  return parts.length === 0 ? sql<boolean>`true` : sql<boolean>`${sql.join(parts, sql` and `)}`
}
