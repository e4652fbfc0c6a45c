// outbox: writes the deliveries of a change in its own transaction. notificaties/claims.ts claims and records them.
import type postgres from 'postgres'

/** The external notifications service, where an abonnement would be. */
export const EXTERNAL = 0

/**
 * A fragment for the statement that records messages. It reads the messages from the CTE `bericht` (id, kanaal, hoofd_object_uuid,
 * resource, actie, kenmerken, cloudevent) and inserts one delivery per message and receiver. The receivers are the abonnementen of
 * this moment; later changes of an abonnement do not matter. A cloud event goes only to abonnementen that ask for cloud events.
 * What the receiver fetches has no moment at which it is sent. The insert reads no `union` itself, which Citus does not take.
 * Who subscribes is asked in a function: every change begins and ends all parts of this statement, also those that it has no use for.
 * The statement must select `wakeSender` as well.
 */
export const planDeliveries = (sql: postgres.Sql | postgres.TransactionSql) => sql`
  , bestemd as materialized (
    select b.id as notificatie_id, ${EXTERNAL}::bigint as abonnement_id,
      delivery_order(b.hoofd_object_uuid, b.cloudevent) as hoofd_object_uuid, now() as next_attempt_at
    from bericht b cross join notificatie_settings i where i.mode <> 'ingebouwd'
    union all
    select b.id, o.abonnement_id, delivery_order(b.hoofd_object_uuid, b.cloudevent), o.next_attempt_at
    from (
      select b.* from bericht b cross join notificatie_settings i where i.mode <> 'extern'
      offset 0 -- never asked where nobody subscribes
    ) b cross join lateral subscribers_of(b.kanaal, b.kenmerken, b.resource, b.actie, b.cloudevent) o
  )
  , geleverd as (
    insert into delivery (notificatie_id, abonnement_id, hoofd_object_uuid, next_attempt_at)
    select notificatie_id, abonnement_id, hoofd_object_uuid, next_attempt_at from bestemd returning notificatie_id
  )`

/** An expression that wakes the sender if it sleeps, and says whether it did. Null when `planDeliveries`, in the same statement, inserted nothing. */
export const wakeSender = (sql: postgres.Sql | postgres.TransactionSql) =>
  sql`(select wake_sender() from geleverd limit 1)`
