// Sending messages again to one abonnement. A row of `resend` says what is meant; the job `replay-messages` plans deliveries
// for it, portion by portion at its rate, each portion in one transaction with the position that it reached. A message keeps its
// id (`webhook-id`), goes with `X-Replay: true`, and goes before younger messages of its main object.
import { type RawBuilder, sql } from 'kysely'
import type { Mutation } from '../../core/mutate.ts'
import { invalid, notFound } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { one } from '../../database/rows.ts'
import { endRest, type Pressed, sendNow, wakeSender } from '../../notificaties/resend.ts'
import { UNRECORDED } from '../records.ts'
import { lockAbonnement } from './write.ts'

export type ReplayKind = 'failed' | 'since' | 'missed'
export type Replay = {
  kind: ReplayKind
  /** Messages made since this moment (ISO). */
  since?: string
  /** Only messages with a higher key. */
  afterMessage?: number
  perMinute?: number
}

export const PER_MINUTE = 6_000
export const MAX_PER_MINUTE = 600_000
const TICK_S = 5
const LOOKED_AT = 5_000 // messages in one portion

/** The filters of abonnement `a` let message `n` through. */
const fits = (a: RawBuilder<unknown>) => sql<boolean>`exists (
  select from kanaal k join abonnement_kanaal ak on ak.kanaal_id = k.id
  where k.naam = n.kanaal and ak.abonnement_id = ${a}
    and (n.cloudevent is null or (select cloudevents from abonnement where id = ak.abonnement_id)) and comparable_fits(ak.comparable, comparable_kenmerken(n.kenmerken), n.resource, n.actie))`

/**
 * Starts sending again.
 * @throws Problem 400 when something is being sent again to it already
 */
export async function startReplay(m: Mutation, uuid: string, replay: Replay): Promise<void> {
  m.unrecorded(UNRECORDED)
  const { id } = await lockAbonnement(m, uuid)
  const { kind, since = '-infinity', afterMessage = 0, perMinute = PER_MINUTE } = replay
  // One that goes on makes way for what was missed, of which nobody else knows.
  if (kind === 'missed') await stopReplay(m, uuid)
  const running = await m.trx
    .selectFrom('resend')
    .where('abonnementId', '=', id)
    .where('endedAt', 'is', null)
    .select('id')
    .executeTakeFirst()
  if (running)
    throw invalid(
      'nonFieldErrors',
      'in-gebruik',
      'Er loopt al een herzending voor dit abonnement. Wacht, of stop die eerst.',
    )
  const row = one(
    await m.sql<{ id: number }[]>`
    insert into resend (abonnement_id, kind, since, until, after_message, per_minute, started_by)
    values (${id}, ${kind}, ${since}::text::timestamptz - case when ${kind} = 'missed' then interval '1 day' else interval '0' end,
      case when ${kind} = 'missed' then null else clock_timestamp() end, ${afterMessage}, ${perMinute},
      ${m.actor.userId || m.actor.userRepresentation || m.actor.clientId})
    returning id`,
  )
  await endRest(m, [id])
  await m.enqueue('replay-messages', { id: row.id }, { jobKey: jobKey(row.id) })
}

const jobKey = (id: number) => `replay-messages:${id}`

/** What was planned by it stays planned. @returns whether there was one */
export async function stopReplay(m: Mutation, uuid: string): Promise<boolean> {
  m.unrecorded(UNRECORDED)
  const { id } = await lockAbonnement(m, uuid)
  const { numUpdatedRows } = await m.trx
    .updateTable('resend')
    .set({ endedAt: sql`now()`, stopped: true })
    .where('abonnementId', '=', id)
    .where('endedAt', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/**
 * Sends one message again, whether or not it was accepted before, and whatever the filters are now; one that waits goes now, if it may.
 * @returns what becomes of it
 * @throws Problem 404 when it is not kept any more
 */
export async function replayMessage(m: Mutation, uuid: string, messageUuid: string): Promise<Pressed> {
  m.unrecorded(UNRECORDED)
  const { id } = await lockAbonnement(m, uuid)
  const rows = await plan(m, id, sql`select n.* from notificatie n where n.uuid = ${messageUuid}::uuid`)
  if (rows.seen === 0)
    throw notFound('Dit bericht bestaat niet (meer). Na de bewaartermijn worden berichten opgeruimd.')
  return one(await sendNow(m, [messageUuid], id))
}

/** Sends these messages again, before all others and in their order; those that wait already stay as they are. */
export async function replayMessages(m: Mutation, uuid: string, ids: number[]): Promise<void> {
  m.unrecorded(UNRECORDED)
  const { id } = await lockAbonnement(m, uuid)
  await plan(m, id, sql`select n.* from notificatie n where n.id = any(${ids}::bigint[])`)
  await endRest(m, [id])
  await wakeSender(m)
}

/** Plans the messages of a query `n`: those that wait already stay as they are, those that failed get all their attempts anew. */
async function plan(m: Mutation, abonnementId: number, messages: RawBuilder<unknown>): Promise<{ seen: number }> {
  const { rows } = await sql<{ seen: number }>`
    with meant as materialized (${messages}), geleverd as (
      insert into delivery (notificatie_id, abonnement_id, hoofd_object_uuid, replay, next_attempt_at, attempt)
      select n.id, a.id, delivery_order(n.hoofd_object_uuid, n.cloudevent), true, case when a.callback_url <> '' then now() end,
        coalesce((select max(p.number) from delivery_attempt p where p.notificatie_id = n.id and p.abonnement_id = a.id), 0)
      from meant n cross join (select id, callback_url from abonnement where id = ${abonnementId}) a
      on conflict (notificatie_id, abonnement_id) do update
        set status = 'gepland', retries = 0, refusals = 0, aside = false, next_attempt_at = excluded.next_attempt_at, ended_at = null, replay = true
        where delivery.status = 'mislukt'
    )
    select count(*)::int as seen from meant`.execute(m.trx)
  return one(rows)
}

type Row = {
  id: number
  abonnementId: number
  kind: ReplayKind
  since: string
  until: string | null
  afterMessage: number
  positionAt: string
  position: number
  perMinute: number
}

/**
 * One portion of a replay; the next is a job that this one adds. A leftover job finds that there is nothing to do.
 * @returns whether more follows
 */
export async function replayPortion(m: Mutation, id: number): Promise<boolean> {
  m.unrecorded(UNRECORDED)
  // Moments as text: a position has microseconds.
  const [row] = await m.sql<Row[]>`
    select h.id, h.abonnement_id as "abonnementId", h.kind, h.since::text as since, h.until::text as until, h.after_message as "afterMessage",
      h.position_at::text as "positionAt", h.position,
      h.per_minute as "perMinute"
    from resend h join abonnement a on a.id = h.abonnement_id
    where h.id = ${id} and h.ended_at is null and a.deleted_at is null for update of h skip locked`
  if (!row) return false
  const again = (delaySeconds: number) => m.enqueue('replay-messages', { id }, { jobKey: jobKey(id), delaySeconds })
  if (row.until === null) {
    // Whoever is recording messages now may have seen the abonnement blocked, and they are not there before he has ended.
    // That he is recording shows in his lock, which he took before he looked.
    const writers = m.sql<{ virtualtransaction: string | null }[]>`
      select virtualtransaction from pg_locks where relation = 'notificatie'::regclass and mode = 'RowExclusiveLock'
        and database = (select oid from pg_database where datname = current_database()) and pid <> pg_backend_pid()`
    await m.sql`
      update resend set waits_for = case when waits_for is null then array(${writers}) else waits_for end,
        until = case when not exists (select from (${writers}) w where resend.waits_for is null
          or w.virtualtransaction = any(resend.waits_for)) then clock_timestamp() end
      where id = ${id}`
    await again(1)
    return true
  }
  const most = Math.max(1, Math.round((row.perMinute * TICK_S) / 60))
  const { planned, done } = row.kind === 'failed' ? await planFailed(m, row, most) : await planSince(m, row, most)
  await m.sql`
    update resend set planned = planned + ${planned}, ended_at = case when ${done} then now() end where id = ${id}`
  if (planned > 0) await wakeSender(m)
  if (!done) await again(planned >= most ? TICK_S : 0)
  return !done
}

async function planFailed(m: Mutation, row: Row, most: number): Promise<{ planned: number; done: boolean }> {
  const rows = await m.sql<{ id: number }[]>`
    update delivery l set status = 'gepland', retries = 0, refusals = 0, aside = false, next_attempt_at = now(), ended_at = null, replay = true
    from (select notificatie_id from delivery
      where abonnement_id = ${row.abonnementId} and status = 'mislukt' and notificatie_id > ${row.position}
      order by notificatie_id limit ${most} for update) m
    where l.notificatie_id = m.notificatie_id and l.abonnement_id = ${row.abonnementId} returning l.notificatie_id as id`
  const position = Math.max(row.position, ...rows.map(({ id }) => Number(id)))
  await m.sql`update resend set position = ${position} where id = ${row.id}`
  return { planned: rows.length, done: rows.length < most }
}

async function planSince(m: Mutation, row: Row, most: number): Promise<{ planned: number; done: boolean }> {
  const { abonnementId, since, until, positionAt, position, afterMessage, kind } = row
  const { rows } = await sql<{ id: number; aanmaakdatum: string; past: boolean }>`
    select n.id, n.aanmaakdatum::text as aanmaakdatum, n.id > ${afterMessage} and ${fits(sql`${abonnementId}`)}
      ${
        kind === 'missed'
          ? sql`and not exists (select from delivery_attempt p where p.notificatie_id = n.id
              and p.abonnement_id = ${abonnementId} and p.outcome = 'delivered')`
          : sql``
      } as past
    from notificatie n
    where n.aanmaakdatum >= ${since}::text::timestamptz and n.aanmaakdatum < ${until}::text::timestamptz
      and (n.aanmaakdatum, n.id) > (${positionAt}::text::timestamptz, ${position}::bigint)
    order by n.aanmaakdatum, n.id limit ${LOOKED_AT}`.execute(m.trx)
  // Up to the message with which the rate is reached.
  let fitting = 0
  const end = rows.findIndex(({ past }) => past && ++fitting === most) + 1
  const taken = end > 0 ? rows.slice(0, end) : rows
  const meant = taken.filter(({ past }) => past).map(({ id }) => id)
  if (meant.length > 0)
    await plan(m, abonnementId, sql`select * from notificatie n where n.id = any(${meant}::bigint[])`)
  const last = taken.at(-1)
  if (last)
    await m.sql`
      update resend set position_at = ${last.aanmaakdatum}::text::timestamptz, position = ${last.id} where id = ${row.id}`
  return { planned: meant.length, done: end === 0 && rows.length < LOOKED_AT }
}

const COUNTED = 50_000

/**
 * How many messages a replay would send: counted among the first so many since the moment, so that the answer comes at once.
 * @returns `more`: there are messages that were not counted
 */
export async function countReplay(
  db: ReadDb,
  uuid: string,
  { kind, since = '-infinity', afterMessage = 0 }: Replay,
): Promise<{ count: number; more: boolean; seen: number }> {
  const id = sql`(select id from abonnement where uuid = ${uuid}::uuid)`
  const { rows } =
    kind === 'failed'
      ? await sql<{ count: number; seen: number }>`
          select count(*)::int as count, count(*)::int as seen from (
            select from delivery where abonnement_id = ${id} and status = 'mislukt' limit ${COUNTED + 1}) m`.execute(db)
      : await sql<{ count: number; seen: number }>`
          select count(*) filter (where n.id > ${afterMessage} and ${fits(id)})::int as count, count(*)::int as seen from (
            select * from notificatie where aanmaakdatum >= ${since}::text::timestamptz
            order by aanmaakdatum, id limit ${COUNTED + 1}) n`.execute(db)
  const { count, seen } = one(rows)
  return { count, seen: Math.min(seen, COUNTED), more: seen > COUNTED }
}
