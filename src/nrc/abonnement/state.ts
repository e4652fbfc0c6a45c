// The states of an abonnement. `actief`: messages are planned and sent. `gepauzeerd`: they are planned and wait. `geblokkeerd` (too
// much waits for it) and `opgezegd` (the receiver answered 410): none is planned any more; what waits stays, and what it misses
// from then on is in the log of messages. Resuming brings it back to `actief` from any of them, and has planned what it missed.
import { sql } from 'kysely'
import type { Mutation } from '../../core/mutate.ts'
import type { Database } from '../../database/database.ts'
import { wakeSender } from '../../notificaties/resend.ts'
import { UNRECORDED } from '../records.ts'
import { startReplay } from './replay.ts'
import { lockAbonnement } from './write.ts'

/** Whether new messages are not planned for it. */
export const isStopped = (status: string): boolean => status === 'geblokkeerd' || status === 'opgezegd'

/** What waits keeps waiting, and so do new messages. Of what is being sent at this moment the outcome still counts. */
export async function pauseAbonnement(m: Mutation, uuid: string, reason: string): Promise<void> {
  m.unrecorded(UNRECORDED)
  const { id, status } = await lockAbonnement(m, uuid)
  if (status === 'actief') await setState(m, id, 'gepauzeerd', reason)
}

/**
 * It is sent to again, at once: the count of failures begins anew.
 * @returns whether messages that it missed are going to be planned
 */
export async function resumeAbonnement(m: Mutation, uuid: string): Promise<boolean> {
  m.unrecorded(UNRECORDED)
  const { id, status, statusSince, missedAfter } = await lockAbonnement(m, uuid)
  if (status === 'actief') return false
  await setState(m, id, 'actief', '')
  await m.trx
    .updateTable('abonnement')
    .set({
      notBefore: null,
      failures: 0,
      failingSince: null,
      lastOutcome: null,
      lastHttpStatus: null,
      missedAfter: null,
    })
    .where('id', '=', id)
    .execute()
  await wakeSender(m)
  if (missedAfter === null) return false
  await startReplay(m, uuid, { kind: 'missed', since: statusSince, afterMessage: missedAfter })
  return true
}

async function setState(m: Mutation, id: number, status: 'actief' | 'gepauzeerd', reason: string): Promise<void> {
  await m.trx
    .updateTable('abonnement')
    .set({ status, reason: reason, statusSince: sql`now()` })
    .where('id', '=', id)
    .execute()
}

/** So many of the waiting messages are looked at for their age: those that are due longest. */
const LOOKED_AT = 10_000

/**
 * Blocks abonnementen for which too much waits, or something for too long, by the settings.
 * @returns those that were blocked by this call
 */
export async function blockOverflowing({ sql }: Database): Promise<{ uuid: string; reason: string }[]> {
  return sql<{ uuid: string; reason: string }[]>`
    update abonnement a set status = 'geblokkeerd', status_since = now(), reason = o.reason
    from (
      select a.id,
        case when veel.te then 'Er wachten ' || i.block_from_count || ' berichten of meer.'
          when n.aanmaakdatum < now() - make_interval(hours => i.block_after_hours)
          then 'Een bericht wacht al ' || i.block_after_hours || ' uur of langer.' end as reason
      from notificatie_settings i, abonnement a
      cross join lateral (
        select exists (select from delivery l where l.abonnement_id = a.id and l.status = 'gepland'
          offset (select block_from_count - 1 from notificatie_settings) limit 1) as te) veel
      cross join lateral (
        select min(l.notificatie_id) as id from (
          select notificatie_id from delivery where abonnement_id = a.id and status = 'gepland'
          order by next_attempt_at, notificatie_id limit ${LOOKED_AT}) l) oudste
      left join notificatie n on n.id = oudste.id
      -- A pause of all is nobody's fault.
      where a.status in ('actief', 'gepauzeerd') and a.deleted_at is null and i.paused_at is null
    ) o
    where a.id = o.id and o.reason is not null and a.status in ('actief', 'gepauzeerd')
    returning a.uuid, a.reason`
}
