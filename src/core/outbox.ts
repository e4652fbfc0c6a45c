// outbox: writes the deliveries of a change in its own transaction. notificaties/claims.ts claims and records them.
import type postgres from 'postgres'

/** The external notifications service, where an abonnement would be. */
export const EXTERNAL = 0

/**
 * A fragment for the statement that records messages. It reads the messages from the CTE `bericht` (id, kanaal, hoofd_object_uuid,
 * resource, actie, kenmerken, cloudevent) and inserts one delivery per message and receiver. The receivers are the abonnementen of
 * this moment; later changes of an abonnement do not matter. A cloud event goes only to abonnementen that ask for cloud events.
 * What the receiver fetches has no moment at which it is sent. The insert reads no `union` itself, which Citus does not take.
 * The statement must select `wakeSender` as well.
 */
export const planDeliveries = (sql: postgres.Sql | postgres.TransactionSql) => sql`
  , getoetst as materialized (
    select b.*, comparable_kenmerken(b.kenmerken) as comparable from bericht b
    where exists (select from kanaal k join abonnement_kanaal ak on ak.kanaal_id = k.id where k.naam = b.kanaal)
      and exists (select from notificatie_settings where mode <> 'extern')
  )
  , bestemd as materialized (
    select b.id as notificatie_id, ${EXTERNAL}::bigint as abonnement_id,
      delivery_order(b.hoofd_object_uuid, b.cloudevent) as hoofd_object_uuid, now() as next_attempt_at
    from bericht b cross join notificatie_settings i where i.mode <> 'ingebouwd'
    union all
    select distinct b.id, s.abonnement_id, delivery_order(b.hoofd_object_uuid, b.cloudevent), case when s.is_sent then now() end
    from notificatie_settings i cross join getoetst b cross join lateral (
      select a.id as abonnement_id, a.cloudevents, a.callback_url <> '' as is_sent, ak.comparable
      from kanaal k join abonnement_kanaal ak on ak.kanaal_id = k.id
      join abonnement a on a.id = ak.abonnement_id and a.status in ('actief', 'gepauzeerd') and a.deleted_at is null
      where k.naam = b.kanaal
      offset 0 -- only those of this kanaal, and never before that is known
    ) s
    where i.mode <> 'extern' and (b.cloudevent is null or s.cloudevents)
      and comparable_fits(s.comparable, b.comparable, b.resource, b.actie)
  )
  , geleverd as (
    insert into delivery (notificatie_id, abonnement_id, hoofd_object_uuid, next_attempt_at)
    select notificatie_id, abonnement_id, hoofd_object_uuid, next_attempt_at from bestemd returning notificatie_id
  )`

/** An expression that wakes the sender if it sleeps, and says whether it did. Null when `planDeliveries`, in the same statement, inserted nothing. */
export const wakeSender = (sql: postgres.Sql | postgres.TransactionSql) =>
  sql`(select wake_sender() from geleverd limit 1)`
