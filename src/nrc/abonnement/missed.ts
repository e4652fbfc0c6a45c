// What an abonnement missed: messages that failed, that came before an earlier one of their main object, or that came late. For the page
// after an outage.
import { sql } from 'kysely'
import type { ReadDb } from '../../database/database.ts'

export type Missed = {
  id: number
  uuid: string
  kanaal: string
  resource: string
  actie: string
  aanmaakdatum: string
  /** When it was accepted last; null: it failed. */
  deliveredAt: string | null
  how: 'failed' | 'order' | 'late'
}

/** A message that was accepted so long after it was made came late. */
export const LATE_MINUTES = 5
/** So many attempts are looked at, the newest first. */
const LOOKED_AT = 20_000

/**
 * Of the last days: what failed, what came before an earlier message of its main object (which failed, or was accepted later), and what
 * was late, in this order. Sending the first two again brings a receiver up to date.
 * @param limit rows; read one more than is shown
 */
export async function readMissed(db: ReadDb, abonnementId: number, days: number, limit: number): Promise<Missed[]> {
  const since = sql`now() - make_interval(days => ${days}::int)`
  const { rows } = await sql<Missed>`
    with accepted as (
      select p.notificatie_id, min(p.begun_at) as first, max(p.begun_at) as last from (
        select notificatie_id, begun_at from delivery_attempt
        where abonnement_id = ${abonnementId} and outcome = 'delivered' and begun_at > ${since}
        order by begun_at desc limit ${LOOKED_AT}) p
      group by 1
    ), told as (
      select n.id, n.uuid, n.kanaal, n.resource, n.actie, n.aanmaakdatum, a.first, a.last,
        max(coalesce(a.last, 'infinity')) over (partition by delivery_order(n.hoofd_object_uuid, n.cloudevent)
          order by n.id rows between unbounded preceding and 1 preceding) as earlier
      from (
        select * from accepted
        union all select notificatie_id, null, null from delivery
          where abonnement_id = ${abonnementId} and status = 'mislukt' and ended_at > ${since}) a
      join notificatie n on n.id = a.notificatie_id
    ), judged as (
      select id, uuid, kanaal, resource, actie, aanmaakdatum, last as delivered_at, case when last is null then 'failed'
        when earlier > last then 'order'
        when first > aanmaakdatum + make_interval(mins => ${LATE_MINUTES}::int) then 'late' end as how
      from told
    )
    select * from judged where how is not null
    order by array_position(array['failed', 'order', 'late'], how), id limit ${limit}`.execute(db)
  return rows
}
