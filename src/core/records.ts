// What a change leaves behind beside its rows: its record in the audit trail, its messages, and what has to be delivered of
// them. All of it is written by one statement, with the row itself when that is all there is to write.
import type postgres from 'postgres'
import type { Transaction } from '../database/transaction.ts'
import type { Numbers } from '../lib/numbers.ts'
import { currentRequestId } from '../telemetry/request-id.ts'
import { currentTraceparent } from '../telemetry/tracing.ts'
import type { Actor, Component } from './actor.ts'
import { pack } from './audit-contents.ts'
import { type CloudEvent, eventType } from './cloud-event.ts'
import { keepKey, keyOfRow } from './idempotency.ts'
import { planDeliveries, wakeSender } from './outbox.ts'
import type { RequestKey } from './request-key.ts'
import { type Concerned, type LogOptions, loggedChanges } from './verwerkingen.ts'

export type Actie = 'create' | 'update' | 'partial_update' | 'destroy'

/** One change, as its audit record and its notification tell it. */
export type Change = {
  component: Component
  actie: Actie
  /** Kind of the changed object, as in notifications. */
  resource: string
  url: string
  /** The changed object for people, at most 200 characters. */
  weergave: string
  /** The main object; left out when it is the changed object itself. */
  hoofdobject?: { url: string; uuid: string }
  uuid: string
  /** Where the change is announced; null where the standard announces nothing. */
  kanaal: { naam: string; kenmerken: Record<string, string> } | null
  oud: unknown
  nieuw: unknown
  /** In the audit trail a change gets a record; `geen` where the standard keeps none, `wis` when the trail goes with its main object. */
  spoor?: 'geen' | 'wis'
}

/** A row to be made, whose answer is whole only when the database has made it. */
export type NewRow<T> = {
  /**
   * Parts of a WITH that insert. The last one, `gemaakt`, has one row with `id`, `weergave` (the object for people) and `nieuw`: the
   * members of the answer that the database makes, as jsonb. No row: what the row was judged by is outdated, and the work
   * runs again.
   */
  insert(sql: Sql): postgres.PendingQuery<postgres.Row[]>
  /** `nieuw` is the answer, without the members that the database makes. */
  change: Omit<Change, 'weergave' | 'nieuw' | 'spoor'> & { nieuw: T }
  /** The constraint that is violated when a number of ours was taken by somebody else: the work runs again. */
  taken?: string
  /** What has to be written after it, for which it takes a round trip more. */
  after?(id: number): Promise<void>
}

type Sql = postgres.Sql | postgres.TransactionSql
export type Made = { id: number; weergave: string; nieuw: object }

const RESULTAAT: Record<Actie, number> = { create: 201, update: 200, partial_update: 200, destroy: 204 }

/** Inserts a row, and nothing else. */
export const insertRow = <T>(sql: Sql, row: NewRow<T>) => sql<Made[]>`
  with ${row.insert(sql)} select id, weergave, nieuw from gemaakt`

/**
 * Inserts a row and writes all that is recorded of it. `mark` becomes the uuid of the record and of the message.
 * @param key kept with the answer
 * @param log how its line in the log of processing is written; undefined: not at all
 */
export function insertAndRecord<T>(
  sql: Sql,
  actor: Actor,
  mark: string,
  { insert, change }: NewRow<T>,
  numbers: Numbers,
  key?: RequestKey,
  log?: LogOptions,
): postgres.PendingQuery<Made[]> {
  const { component, actie, resource, url, uuid, hoofdobject, kanaal, nieuw } = change
  return sql<Made[]>`
    with ${insert(sql)}, wijziging as materialized (
      select ${component}::text as bron, ${actie}::text as actie, ${RESULTAAT[actie]}::integer as resultaat,
        ${hoofdobject?.url ?? url}::text as hoofd_object, ${hoofdobject?.uuid ?? uuid}::uuid as hoofd_object_uuid,
        ${resource}::text as resource, ${url}::text as resource_url, ${uuid}::uuid as resource_uuid,
        left(weergave, 200) as resource_weergave, ${packedOf(numbers, change)}::bytea as packed, gemaakt.nieuw as made,
        ${kanaal?.naam ?? null}::text as kanaal, ${textOf(kanaal?.kenmerken)}::text::jsonb as kenmerken,
        true as vastleggen, null::text as cloudevent, 1 as volgnummer, ${momentOf(sql, sql`${hoofdobject?.uuid ?? uuid}::uuid`)} as moment,
        taken_over(${hoofdobject?.uuid ?? uuid}::uuid, ${component}) as stil
      from gemaakt
    ), ${key ? sql`${keyOfRow(sql, actor, key, numbers, nieuw)},` : sql``}
    ${recorded(sql, actor, sql`${mark}::uuid`, sql`packed`)}
    ${log ? loggedChanges(sql, actor, numbers, [change]) : sql``}
    select id, weergave, nieuw, ${wakeSender(sql)} as gewekt from gemaakt`
}

/**
 * Writes all that is recorded of changes. `mark` becomes the uuid of the first record and of the first message.
 * @param kept the key of the request, with what its repetition gets
 * @param log as in `insertAndRecord`, and who is concerned beside those whom the changes tell
 */
export async function writeRecords(
  transaction: Transaction,
  actor: Actor,
  mark: string,
  changes: Change[],
  events: CloudEvent[],
  numbers: Numbers,
  kept?: { key: RequestKey; answer: unknown },
  log?: LogOptions & { concerned: readonly Concerned[] },
): Promise<void> {
  const { sql } = transaction
  const key = kept && keepKey(sql, actor, kept.key, numbers, kept.answer)
  if (changes.length === 0) return void (await key?.execute())
  const rows = changes.map((change) => ({
    bron: change.component,
    actie: change.actie,
    resultaat: RESULTAAT[change.actie],
    hoofd_object: change.hoofdobject?.url ?? change.url,
    hoofd_object_uuid: change.hoofdobject?.uuid ?? change.uuid,
    resource: change.resource,
    resource_url: change.url,
    resource_uuid: change.uuid,
    resource_weergave: change.weergave.slice(0, 200).toWellFormed(), // half a character is no JSON for PostgreSQL
    packed: change.spoor ? undefined : packedOf(numbers, change).toString('base64'),
    kanaal: change.kanaal?.naam,
    kenmerken: change.kanaal?.kenmerken,
    vastleggen: change.spoor === undefined,
    cloudevent: null as string | null,
  }))
  const announced = events.map((event) => ({
    actie: event.actie,
    hoofd_object: event.url,
    hoofd_object_uuid: event.uuid,
    resource: event.resource,
    resource_url: event.url,
    kanaal: event.kanaal,
    kenmerken: event.data,
    vastleggen: false,
    cloudevent: eventType(event),
  }))
  const wiped = changes.filter(({ spoor }) => spoor === 'wis').map(({ uuid }) => uuid)
  const uuid = sql`case row_number() over (order by volgnummer) when 1 then ${mark}::uuid else uuid_v7() end`
  await sql`
    with wijziging as materialized (
      select r.*, null::jsonb as made, ${momentOf(sql, sql`r.hoofd_object_uuid`)} as moment, taken_over(r.hoofd_object_uuid, r.bron) as stil from rows from (jsonb_to_recordset(${numbers.seal(JSON.stringify([...rows, ...announced]))}::text::jsonb) as (
        bron text, actie text, resultaat integer, hoofd_object text, hoofd_object_uuid uuid, resource text,
        resource_url text, resource_uuid uuid, resource_weergave text, packed text, kanaal text, kenmerken jsonb,
        vastleggen boolean, cloudevent text
      )) with ordinality as r(bron, actie, resultaat, hoofd_object, hoofd_object_uuid, resource, resource_url,
        resource_uuid, resource_weergave, packed, kanaal, kenmerken, vastleggen, cloudevent, volgnummer)
    ), ${wiped.length > 0 ? sql`gewist as (delete from audit where hoofd_object_uuid = any(${wiped}::uuid[])),` : sql``}
    ${key ? sql`sleutel as (${key}),` : sql``}
    ${recorded(sql, actor, uuid, sql`decode(packed, 'base64')`)}
    ${log ? loggedChanges(sql, actor, numbers, changes, log.concerned) : sql``}
    select ${wakeSender(sql)} as gewekt`.execute()
}

/**
 * When a change is told to be made: whoever records it holds its main object, or makes it. So the lines of a trail, and its messages, do
 * not go back in time, also when the clock does.
 */
const momentOf = (sql: Sql, mainObject: postgres.PendingQuery<postgres.Row[]>) => sql`moment_from(
  (select aanmaakdatum from audit where hoofd_object_uuid = ${mainObject} order by id desc limit 1))`

/** Parts of a WITH that write the rows of its part `wijziging` to where they belong, under these uuids. */
function recorded(
  sql: Sql,
  actor: Actor,
  uuid: postgres.PendingQuery<postgres.Row[]>,
  packed: postgres.PendingQuery<postgres.Row[]>,
) {
  const requestId = currentRequestId()
  return sql`
    spoor as (
      insert into audit (bron, applicatie_id, applicatie_weergave, gebruikers_id, gebruikers_weergave, actie, resultaat,
        hoofd_object_uuid, resource, resource_uuid, resource_weergave, toelichting, logrecord_id, packed, made, request_id,
        origin, uuid, aanmaakdatum)
      select bron, ${actor.applicatieUuid}, ${actor.applicatieLabel}, ${actor.userId}, ${actor.userRepresentation}, actie,
        resultaat, hoofd_object_uuid, resource, resource_uuid, resource_weergave, ${actor.toelichting},
        ${actor.logrecordId}, ${packed}, made, ${requestId}, ${textOf(actor.origin)}::text::jsonb, ${uuid}, moment
      from wijziging where vastleggen order by volgnummer
    ), bericht as (
      insert into notificatie (kanaal, hoofd_object, hoofd_object_uuid, resource, resource_url, actie, kenmerken,
        cloudevent, request_id, traceparent, uuid, aanmaakdatum)
      select kanaal, hoofd_object, hoofd_object_uuid, resource, resource_url, actie, kenmerken, cloudevent, ${requestId},
        ${currentTraceparent() ?? null}, ${uuid}, moment
      from wijziging where kanaal is not null and not stil order by volgnummer
      returning id, kanaal, hoofd_object_uuid, resource, actie, kenmerken, cloudevent
    )${planDeliveries(sql)}`
}

function packedOf(
  numbers: Numbers,
  { hoofdobject, url, uuid, oud, nieuw }: Pick<Change, 'hoofdobject' | 'url' | 'uuid' | 'oud' | 'nieuw'>,
): Buffer {
  const main = hoofdobject ?? { url, uuid }
  return pack(
    numbers,
    { hoofdObjectUuid: main.uuid, resourceUuid: uuid },
    { hoofdObject: main.url, resourceUrl: url, oud, nieuw },
  )
}

const textOf = (value: unknown) => (value === null || value === undefined ? null : JSON.stringify(value))
