// outbox: writes deliveries with the change that they tell of. Claiming and recording them is in notificaties/claims.ts.
import type postgres from 'postgres'

/** The external notifications service, where an abonnement would be. */
export const EXTERNAL = 0

/**
 * A part of a statement that records messages: what has to be delivered of the rows of its part `bericht` (id, kanaal,
 * hoofd_object_uuid, resource, actie, kenmerken, cloudevent). Who subscribes at this moment gets the message, whatever changes
 * later. Cloud events go to those who asked for cloud events. The statement ends with `wakeSender` among what it selects.
 */
export const planDeliveries = (sql: postgres.Sql | postgres.TransactionSql) => sql`
  , getoetst as materialized (
    select b.*, comparable_kenmerken(b.kenmerken) as toets from bericht b
    where exists (select from kanaal k join abonnement_kanaal ak on ak.kanaal_id = k.id where k.naam = b.kanaal)
      and exists (select from notificatie_settings where modus <> 'extern')
  )
  , geleverd as (
    insert into delivery (notificatie_id, abonnement_id, hoofd_object_uuid)
    select b.id, ${EXTERNAL}::bigint, delivery_order(b.hoofd_object_uuid, b.cloudevent)
    from bericht b cross join notificatie_settings i where i.modus <> 'ingebouwd'
    union all
    select distinct b.id, s.abonnement_id, delivery_order(b.hoofd_object_uuid, b.cloudevent)
    from notificatie_settings i cross join getoetst b cross join lateral (
      select a.id as abonnement_id, a.cloudevents, ak.toets
      from kanaal k join abonnement_kanaal ak on ak.kanaal_id = k.id
      join abonnement a on a.id = ak.abonnement_id and a.status in ('actief', 'gepauzeerd') and a.deleted_at is null
      where k.naam = b.kanaal
      offset 0 -- only those of this kanaal, and never before that is known
    ) s
    where i.modus <> 'extern' and (b.cloudevent is null or s.cloudevents)
      and comparable_fits(s.toets, b.toets, b.resource, b.actie)
    returning notificatie_id
  )`

/** A word to the sender when that sleeps: an expression beside `planDeliveries`, empty when nothing has to be delivered. */
export const wakeSender = (sql: postgres.Sql | postgres.TransactionSql) =>
  sql`(select wake_sender() from geleverd limit 1)`
