// Messages that the receiver fetches: for receivers that cannot be called. What waits for an abonnement is the same as for one with a
// callback: rows of table `delivery`.
//
// A message gets its place when it is first handed out, under the lock of the abonnement. So places have no gaps: a message whose
// transaction ends late is handed out late, and nobody who asks what comes after a place misses it. What the receiver gets of a place is
// sealed, for this abonnement and this history of the database: after a restore the same number would be that of another message, which
// it would confirm without having read it. Whoever asks what comes after a place
// has all up to it; those are done then. Who asks again without having got the answer gets the same messages again.
import { sql } from 'kysely'
import { Rewound } from '../../core/history.ts'
import type { Mutation } from '../../core/mutate.ts'
import { openPlace, type PlaceKey, sealPlace } from '../../core/place.ts'
import { Problem } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { one } from '../../database/rows.ts'
import type { Message } from '../../notificaties/claims.ts'
import { readPauses } from '../../notificaties/settings.ts'
import { UNRECORDED } from '../records.ts'
import { resumeAbonnement } from './state.ts'
import { lockAbonnement } from './write.ts'

export type HandedOut = {
  abonnementId: number
  cloudevents: boolean
  from: number
  to: number
  /** What the receiver gets of a place. */
  textOf(place: number): string
}

/** A position that does not count (any more): nothing that waits is passed by without it. */
export const expired = () =>
  new Problem(410, {
    detail:
      'Deze positie geldt niet (meer): tot een latere zijn de berichten al bevestigd, of de database is hersteld. Vraag zonder after wat er nu klaarstaat.',
  })

/**
 * Hands out up to so many messages.
 * @param after the position up to which the receiver has them; undefined: the one that it told last
 * @returns the places of those messages: after `from`, up to `to`
 * @throws Problem 404, 403 for that of another applicatie; 410 for a position that was passed already, or that is of another history,
 *   409 while it is paused; Rewound
 */
export async function handOut(m: Mutation, uuid: string, after: string | undefined, limit: number): Promise<HandedOut> {
  m.unrecorded(UNRECORDED)
  const { id, status, callbackUrl, cloudevents, place, confirmed } = await lockAbonnement(m, uuid)
  const headers = { 'retry-after': '60' }
  if (status === 'gepauzeerd') throw new Problem(409, { detail: 'Dit abonnement is gepauzeerd.', headers })
  if ((await readPauses(m.read)).all !== null)
    throw new Problem(409, { detail: 'Het versturen van berichten is gepauzeerd.', headers })
  const key = await keyNow(m)
  const asked = after === undefined ? undefined : openPlace(key, uuid, after)
  if (after !== undefined && asked === undefined) throw expired()
  const from = asked === undefined ? confirmed : Number(asked)
  if (from > place) throw new Rewound(key.epoch)
  if (from < confirmed) throw expired()
  // Nobody who sends one of them is waited for.
  const order = callbackUrl === '' ? m.sql`next_attempt_at, notificatie_id` : m.sql`notificatie_id`
  const waiting = m.sql`abonnement_id = ${id} and status = 'gepland' and place is null order by ${order} limit ${limit}`
  const failed = m.sql`abonnement_id = ${id} and status = 'mislukt' and place is null order by notificatie_id limit ${limit}`
  const { last, placed } = one(
    await m.sql<{ last: number | null; placed: number }[]>`
      with done as (
        delete from delivery where ctid = any(array(
          select ctid from delivery where abonnement_id = ${id} and place <= ${from} for update skip locked))
        returning notificatie_id, attempt
      ), noted as (
        insert into delivery_attempt (notificatie_id, abonnement_id, number, outcome)
        select notificatie_id, ${id}, attempt + 1, 'delivered' from done on conflict do nothing
      ), known as (
        select place from delivery where abonnement_id = ${id} and place > ${from} order by place limit ${limit}
      ), fresh as (
        select notificatie_id from delivery
        where ctid = any(array(select ctid from delivery where ${waiting}) || array(select ctid from delivery where ${failed}))
          and abonnement_id = ${id} and place is null
        order by notificatie_id limit ${limit} - (select count(*) from known) for update skip locked
      ), placed as (
        update delivery d set place = ${place}::bigint + f.n
        from (select notificatie_id, row_number() over (order by notificatie_id) as n from fresh) f
        where d.notificatie_id = f.notificatie_id and d.abonnement_id = ${id} returning 1
      )
      select (select max(place) from known) as last, (select count(*)::int from placed) as placed`,
  )
  const to = placed > 0 ? place + placed : (last ?? from)
  await m.sql`
    update abonnement set place = ${place + placed}, confirmed = ${from}, fetched_at = now()
    where id = ${id} and ((place, confirmed) <> (${place + placed}, ${from})
      or coalesce(fetched_at < now() - interval '1 minute', true))`
  // It was blocked since nobody fetched, and now somebody has it all.
  if (status === 'geblokkeerd' && callbackUrl === '' && to === from) await resumeAbonnement(m, uuid)
  return { abonnementId: id, cloudevents, from, to, textOf: (place) => sealPlace(key, uuid, String(place)) }
}

/** @returns of another history when the database was restored since */
async function keyNow(m: Mutation): Promise<PlaceKey> {
  const read = async () =>
    one(
      await m.sql<
        (PlaceKey & { same: boolean })[]
      >`select epoch, secret, cluster = current_cluster() as same from history`,
    )
  const known = await read()
  if (known.same) return known
  await m.sql`select begin_history()`
  return read()
}

export type Fetched = { place: number; notificatieId: number; message: Message }

/** Messages that were handed out. */
export async function readHandedOut(
  db: ReadDb,
  { abonnementId, from, to }: HandedOut,
  limit: number,
): Promise<Fetched[]> {
  const { rows } = await sql<Fetched>`
    select coalesce(d.place, 0) as place, d.notificatie_id, message_of(n) as message
    from delivery d join notificatie n on n.id = d.notificatie_id
    where d.abonnement_id = ${abonnementId} and d.place > ${from} and d.place <= ${to}
    order by d.place limit ${limit}`.execute(db)
  return rows
}
