// filter: which messages of the log are meant, for showing them as for sending them again.
import { type RawBuilder, sql } from 'kysely'

export type NotificatieFilter = {
  status?: 'gepland' | 'afgeleverd' | 'mislukt'
  kanaal?: string
  /** First and last day (YYYY-MM-DD) in the time of the Netherlands. */
  van?: string
  tot?: string
  /** uuid of the main object, or of the object that changed. */
  object?: string
}

/** The condition on table `notificatie`, under that name. Each part of it has an index that also gives the order of the log. */
export function voldoetAan(filter: NotificatieFilter): RawBuilder<boolean> {
  const { status, kanaal, van, tot, object } = filter
  const parts = [
    // In the text and not as a parameter: the index that holds only this state is then seen to fit.
    status && sql`notificatie.status = ${sql.lit(status)}`,
    kanaal && sql`notificatie.kanaal = ${kanaal}`,
    van && sql`notificatie.aanmaakdatum >= ${van}::text::date::timestamp at time zone 'Europe/Amsterdam'`,
    tot && sql`notificatie.aanmaakdatum < (${tot}::text::date + 1)::timestamp at time zone 'Europe/Amsterdam'`,
    // First the few messages, by either index: as one condition it would be looked for along the order of the log.
    object &&
      sql`notificatie.id = any(array(
        select id from notificatie where hoofd_object_uuid = ${object}::text::uuid
        union all
        select id from notificatie where resource_url <> hoofd_object and right(resource_url, 36) = ${object.toLowerCase()}::text))`,
  ].filter((part) => typeof part === 'object')
  return parts.length === 0 ? sql<boolean>`true` : sql<boolean>`${sql.join(parts, sql` and `)}`
}
