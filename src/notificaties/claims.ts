// claims: claims rows of table `delivery` for a sender and records the outcome of each attempt. core/outbox.ts writes the rows,
// sender.ts decides when to claim, and deliver.ts makes the request.
//
// The states of a delivery. There is one row per message and receiver (an abonnement, or 0: the external notifications
// service), written in the transaction of the change.
// - Due: status `gepland` and `next_attempt_at` is over. It may be claimed, when its receiver may get anything now.
// - Claimed: `claimed_by` is a worker, `attempt` the number of the attempt that it makes. Only that worker records that
//   attempt. When the worker is gone from table `worker`, or holds the claim without knowing it (the answer to the claim was
//   lost), the row is due again: the attempt becomes `lost` in the log, and the next one gets a number of its own. Whoever
//   then still records the lost one is told that it is not his any more.
// - Planned: `gepland` with a moment in the future, after an attempt that failed.
// - Parked: `gepland` without a moment. An earlier message of the same main object to the same receiver is not done. The
//   claim that finds this parks the row, under a share lock on the earlier one: so the earlier one is still there when the
//   parking commits. When the earlier one ends, whoever records that gives the first row of that main object its moment back, in
//   the same transaction: the recording had to wait for that lock, so it sees the parked row. What is parked although nothing
//   holds it up, because somebody removed the earlier one by hand, `releaseStuck` looks for.
// - To be fetched: `gepland` without a moment, for an abonnement without a callback. nrc/abonnement/fetch.ts hands it out.
// - Failed: status `mislukt`, all attempts used. Sending it again makes it due.
// - Delivered: the row is gone; the attempt is in `delivery_attempt`.
//
// The statements are in the functions `claim_deliveries` and `record_attempts` (sql/0010-notificaties.sql). Their plans are
// kept, but for a second only (`renewPlans`): the table may go from empty to a million rows within minutes, and the plan for an
// empty table is not the one for a full one.

import type postgres from 'postgres'
import { EXTERNAL } from '../core/outbox.ts'
import { type Database, openDatabase, type ReadSql } from '../database/database.ts'
import { one } from '../database/rows.ts'
import { LOCK_CLASS } from '../jobs/leases.ts'
import type { RemoteService } from '../services/services.ts'
import type { FailureKind } from '../services/transport.ts'
import { type Retry, SPARING } from './backoff.ts'
import { FROM_THE_OLDEST, type LookFrom } from './lower-bounds.ts'

export type Outcome = 'delivered' | 'http' | FailureKind

/** A claimed delivery, with all that sending takes. */
export type Claimed = Retry & {
  notificatieId: number
  abonnementId: number
  hoofdObjectUuid: string
  /** Number of this attempt, over all that were ever made for this message and receiver. */
  attempt: number
  retries: number
  replay: boolean
  message: Message
  /** Where to, when the receiver is the external service. */
  service: RemoteService | null
  /** Where to, when it is an abonnement, and how many that gets at once. */
  abonnement: (Subscriber & { atOnce: number }) | null
}

/** A message as it was recorded. */
export type Message = {
  uuid: string
  kanaal: string
  bron: string
  hoofdObject: string
  resource: string
  resourceUrl: string
  actie: string
  aanmaakdatum: string
  kenmerken: Record<string, unknown>
  /** Its type, when it is a cloud event and no notification of the standard. */
  cloudevent: string | null
  /** Of the request that it came from; empty: of none, or one of before ids were kept. */
  requestId: string
  /** Trace context of that request. */
  traceparent?: string | null
}

/** What sending to an abonnement takes. Secrets are still encrypted. */
export type Subscriber = {
  uuid: string
  callbackUrl: string
  authenticatie: 'header' | 'jwt' | 'oauth2'
  auth: Buffer
  outgoingClientId: string
  tokenUrl: string
  tokenScope: string
  certificaat: string
  certificateKey: Buffer | null
  ondertekening: Buffer[]
  cloudevents: boolean
  timeoutMs: number
}

/** What an attempt came to. */
export type Attempt = {
  outcome: Outcome
  httpStatus: number | null
  /** Start of the body of the answer. */
  answer: string | null
  ms: number
  /** Seconds that the receiver asked to be left alone. */
  retryAfter?: number
  /** Node's code where no answer came, for the log. */
  code?: string
}

/** `wait`: seconds until the next attempt, if there is one; null: it was delivered. */
export type Ended = Attempt & {
  notificatieId: number
  abonnementId: number
  attempt: number
  wait: number | null
}

export type ClaimOptions = {
  /** Id of the worker in table `worker`; 0: none, for whoever sends without being registered. */
  worker: number
  /** How many of the external service, and how many in all. */
  external: number
  total: number
  /** Everything that this process has in hand: per delivery its message and receiver. */
  busy: { notificatieId: number; abonnementId: number }[]
  /** What of that counts against what its receiver gets at once: the rest was accepted, and only waits to be recorded. */
  open: { abonnementId: number }[]
  /** From which moment on; left out: from the oldest. */
  from?: LookFrom
}

/**
 * Opens a connection of a sender. What a crash of the database undoes of its writes is done again: nobody waits for the disk.
 * Plans are made once for all calls: PostgreSQL takes a list of one message for cheaper than one of unknown length, and would
 * plan every call anew, which costs more than the work itself.
 */
export function openSenderDatabase(url: string): Database {
  return openDatabase(url, {
    max: 1,
    name: 'notificaties',
    idleSeconds: 10,
    settings: { synchronous_commit: 'off', plan_cache_mode: 'force_generic_plan' },
  })
}

/** Has the statements of this connection planned anew when they are next used. */
export async function renewPlans({ sql }: Database): Promise<void> {
  await sql`discard plans`.simple()
}

/**
 * Claims deliveries that are due, fairly between the receivers: of each the one that is due longest, then of each the next.
 * @returns what to send, and the rows that were looked at: more may follow when there were any. `dueAge`: for how many seconds each
 *   was due
 */
export async function claim(
  { sql }: Database,
  options: ClaimOptions,
): Promise<{ rows: { abonnementId: number; dueAge: number; parked: boolean }[]; claimed: Claimed[] }> {
  const { worker, external, total, busy, open, from = FROM_THE_OLDEST } = options
  type Row = Retry & {
    notificatieId: number
    abonnementId: number
    hoofdObjectUuid: string
    dueAge: number
    attempt: number | null
    retries: number
    replay: boolean
    message: Message
    service: (Omit<RemoteService, 'sealedSecret' | 'certificateKey'> & Sealed) | null
    abonnement: SealedAsText | null
  }
  const rows = await sql<Row[]>`
    select notificatie_id as "notificatieId", abonnement_id as "abonnementId", hoofd_object_uuid as "hoofdObjectUuid",
      due_age as "dueAge", attempt, retries, replay, message, max_retries as "maxRetries", backoff, backoff_max as "backoffMax",
      base_factor as "baseFactor", abonnement, service
    from claim_deliveries(${worker}, ${external}, ${total}, ${busy.map((one) => one.notificatieId)}::bigint[],
      ${busy.map((one) => one.abonnementId)}::bigint[], ${open.map((one) => one.abonnementId)}::bigint[],
      ${SPARING.failures}::int, ${from.age}::float8, ${from.receivers}::bigint[], ${from.ages}::float8[])`
  const looked = rows.map(({ abonnementId, dueAge, attempt }) => ({ abonnementId, dueAge, parked: attempt === null }))
  rows.sort((a, b) => a.notificatieId - b.notificatieId)
  return {
    rows: looked.sort((a, b) => b.dueAge - a.dueAge),
    claimed: rows.flatMap(({ attempt, service, abonnement, dueAge: _, ...row }) =>
      attempt === null
        ? []
        : [
            {
              ...row,
              attempt,
              service: service && {
                ...service,
                sealedSecret: bytesOrNull(service.sealedSecret),
                certificateKey: bytesOrNull(service.certificateKey),
              },
              abonnement: abonnement && opened(abonnement),
            },
          ],
    ),
  }
}

type SealedAsText = Omit<Subscriber, 'auth' | 'certificateKey' | 'ondertekening'> & {
  atOnce: number
  auth: string
  certificateKey: string | null
  ondertekening: string[]
}

type Sealed = { sealedSecret: string | null; certificateKey: string | null }
const bytes = (text: string) => Buffer.from(text, 'base64')
const bytesOrNull = (text: string | null) => (text === null ? null : bytes(text))

function opened({ auth, certificateKey, ondertekening, ...others }: SealedAsText): Claimed['abonnement'] {
  return {
    ...others,
    auth: bytes(auth),
    certificateKey: bytesOrNull(certificateKey),
    ondertekening: ondertekening.map(bytes),
  }
}

/** Whether an attempt was the caller's, and whether the delivery failed with it. */
export type Recorded = { isOurs: boolean; isLast: boolean }

/** Why an abonnement ended whose receiver says that it is gone. */
const UNSUBSCRIBED = 'De ontvanger heeft opgezegd (antwoord 410).'

/**
 * Records attempts that ended: the delivery goes, is planned again or has failed, the abonnement is known to be well or not, and
 * the next message of the same main object may go.
 * @returns for each whether it was still the caller's, otherwise another worker found it lost and has made its own; and whether the
 *   delivery failed with it. Whether something became due, and whether that is what waited for a receiver, which is due since it was made.
 */
export async function record(
  { sql }: Database,
  ended: Ended[],
): Promise<{ recorded: Recorded[]; released: boolean; recovered: boolean }> {
  const column = <K extends keyof Ended>(name: K) => ended.map((one) => one[name] ?? null)
  const rows = await sql<{ places: number[]; failed: number[] | null; released: boolean; recovered: boolean }[]>`
    select places, failed, released, recovered from record_attempts(${column('notificatieId')}::bigint[], ${column('abonnementId')}::bigint[],
      ${column('attempt')}::integer[], ${column('outcome')}::text[], ${column('httpStatus')}::integer[],
      ${column('answer')}::text[], ${column('ms')}::integer[], ${column('wait')}::float8[],
      ${column('retryAfter')}::float8[], ${SPARING.failures}::int, ${SPARING.probes}::float8[], ${UNSUBSCRIBED})`
  const { places, failed, released, recovered } = one(rows)
  const [ours, last] = [new Set(places), new Set(failed)]
  const recorded = ended.map((_, index) => ({ isOurs: ours.has(index + 1), isLast: last.has(index + 1) }))
  return { recorded, released, recovered }
}

const PORTION = 1000

/**
 * Makes due what is parked although nothing holds it up: the first message of a main object, left by a process that died, and
 * everything for a receiver that no longer wants messages in order.
 * @returns how many; call it again when it was not 0
 */
export async function releaseStuck({ sql }: Database): Promise<number> {
  const rows = await sql<{ notificatie_id: number }[]>`
    update delivery l set next_attempt_at = now()
    from (
      select notificatie_id, abonnement_id from (
        select distinct on (abonnement_id, hoofd_object_uuid) notificatie_id, abonnement_id, next_attempt_at
        from delivery where status = 'gepland' and not aside and ${isSent(sql, 'delivery')}
        order by abonnement_id, hoofd_object_uuid, notificatie_id
      ) eerste where next_attempt_at is null
      union
      (select l.notificatie_id, l.abonnement_id from delivery l
        where l.status = 'gepland' and l.next_attempt_at is null and ${isSent(sql, 'l')} and not case l.abonnement_id
          when ${EXTERNAL} then (select in_order from notificatie_settings)
          else coalesce((select in_order from abonnement a where a.id = l.abonnement_id), true) end
        limit ${PORTION})
      limit ${PORTION}
    ) los
    where l.notificatie_id = los.notificatie_id and l.abonnement_id = los.abonnement_id
      and l.status = 'gepland' and l.next_attempt_at is null
    returning l.notificatie_id`
  return rows.length
}

/** The condition on a delivery that it is sent, and not fetched. */
const isSent = (sql: postgres.Sql, l: 'l' | 'delivery') => sql`
  not exists (select from abonnement a where a.id = ${sql(l)}.abonnement_id and a.callback_url = '')`

/**
 * Receivers that may get something, each with the moment from which on, which is in the future after a failure, and whether it is
 * probed then: with whatever would be due first.
 */
const receivers = (sql: postgres.Sql) => sql<
  { id: number; moment: string; probed: boolean; well: boolean; changed: string }[]
>`
  select ${EXTERNAL}::bigint as id, coalesce(not_before, '-infinity') as moment, false as probed, not_before is null as well, changed_at as changed
  from notificatie_settings i cross join external_receiver x where i.service_id is not null and x.paused_at is null
  union all
  select id, coalesce(not_before, '-infinity'), failures >= ${SPARING.failures}, failures = 0 and not_before is null, status_since
  from abonnement where status = 'actief' and callback_url <> '' and deleted_at is null
    and exists (select from notificatie_settings where paused_at is null)`

/**
 * Plans the next look, at the moment that the next delivery is due: a job that wakes a sender.
 * @returns in how many seconds that is; undefined: there is none
 */
export async function planNextLook({ sql }: Database, from: LookFrom): Promise<number | undefined> {
  const [row] = await sql<{ seconds: number }[]>`
    select extract(epoch from straks - clock_timestamp())::float8 as seconds
    from (
      select min(greatest(case when o.probed then now() else l.next_attempt_at end, o.moment)) as straks
      from (${receivers(sql)}) o
      cross join lateral (
        select l.next_attempt_at from delivery l
        where l.abonnement_id = o.id and l.status = 'gepland' and l.claimed_by is null and l.next_attempt_at
          >= looked_from(o.well, o.changed, ${from.age}::float8, o.id, ${from.receivers}::bigint[], ${from.ages}::float8[])
        order by l.next_attempt_at, l.notificatie_id limit 1) l
    ) x cross join lateral add_job('send-notificaties', job_key => 'send-notificaties:later', run_at => straks)
    where straks is not null`
  return row?.seconds
}

const OVERDUE_S = 3

/**
 * Wakes a sender when something is due for a while and nobody has it: the sender that should look is frozen, its job vanished, or
 * it believes to have seen it. Every worker does this every few seconds.
 */
export async function wakeOverdue(sql: postgres.Sql): Promise<void> {
  await sql`
    select add_job('send-notificaties', ${LOOK_AT_ALL}::text::json, job_key => 'send-notificaties')
    where exists (
      select from (${receivers(sql)}) o
      cross join lateral (
        select from delivery l
        where l.abonnement_id = o.id and l.status = 'gepland'
          and l.next_attempt_at < case when o.probed then 'infinity' else now() - ${OVERDUE_S} * interval '1 second' end
          and (l.claimed_by is null or not exists (select from worker w where w.id = l.claimed_by))
        order by l.next_attempt_at limit 1) l
      where o.moment < now() - ${OVERDUE_S} * interval '1 second')`
}

/**
 * Takes a sender off the list whose worker holds its lock no more (jobs/leases.ts), and wakes another. That is a process that was killed,
 * long before it is declared dead: what is new is sent at once, only what it had claimed waits for that. A worker that lives,
 * and merely lost that connection, puts itself on the list again.
 */
export async function replaceGoneSenders(sql: postgres.Sql): Promise<void> {
  await sql`
    with gone as (
      delete from active_sender
      where pg_try_advisory_xact_lock(${LOCK_CLASS}::integer # hashtext(current_schema()), worker_id) returning worker_id)
    select add_job('send-notificaties', ${LOOK_AT_ALL}::text::json, job_key => 'send-notificaties')
    where exists (select from gone)`
}

/** What the job says to a sender that may have missed something. */
export const LOOK_AT_ALL = JSON.stringify({ all: true })

/** Longer than any attempt takes, with the writing down of what it came to. */
const UNRECORDED_S = 330
/** Deliveries in hand that cannot be recorded are counted up to here. */
export const UNRECORDED_TO = 1_000

/** How many deliveries are in the hands of a worker for so long that what became of them cannot be recorded. */
export async function countUnrecorded(sql: ReadSql): Promise<number> {
  const rows = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select from (select id from abonnement where status = 'actief' and callback_url <> '' union all select ${EXTERNAL}) o(id)
      cross join lateral (
        -- What is claimed is among what is due longest.
        select l.claimed_by, l.begun_at from delivery l
        where l.abonnement_id = o.id and l.status = 'gepland' and l.next_attempt_at <= now()
        order by l.next_attempt_at, l.notificatie_id limit ${UNRECORDED_TO}) l
      where l.claimed_by is not null and l.begun_at < now() - ${UNRECORDED_S} * interval '1 second'
      limit ${UNRECORDED_TO + 1}) x`
  return one(rows).count
}
