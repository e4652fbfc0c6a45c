import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type postgres from 'postgres'
import type { Actor, Component } from '../http/actor.ts'
import { enqueue, type JobOptions } from '../jobs/queue.ts'
import { type CloudEvent, eventType } from '../notificaties/cloud-events.ts'
import { planDeliveries } from '../notificaties/outbox.ts'
import { currentRequestId } from '../telemetry/request-id.ts'
import { currentTraceparent } from '../telemetry/tracing.ts'
import { type Database, type Db, isConflict, isUnavailable, kyselyOn, OutcomeUnknown, type ReadDb } from './database.ts'

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

export type Mutation = {
  trx: Db
  /** The same transaction for functions that only read. */
  read: ReadDb
  /** The same transaction at the driver, for COPY and savepoints. */
  sql: postgres.TransactionSql
  actor: Actor
  /** Every change is recorded, or all is rolled back. */
  record(change: Change): void
  /** A cloud event beside the records; nothing when they are off (ENABLE_CLOUD_EVENTS). The same one twice is sent once. */
  announce(event: CloudEvent): void
  /** For changes of which the standard keeps no record; the reason is for the reader of the code. */
  unrecorded(reason: string): void
  enqueue<Name extends keyof GraphileWorker.Tasks & string>(
    name: Name,
    payload: GraphileWorker.Tasks[Name],
    options?: JobOptions,
  ): Promise<void>
}
type Options = {
  announces?(): boolean
  cloudEvents?: boolean
  committed?(components: ReadonlySet<Component> | undefined): void
}
export type Mutate = <T>(actor: Actor, work: (m: Mutation) => Promise<T>) => Promise<T>

/**
 * The only way to a writable transaction. What `work` records is written as audit row and notification in the same
 * transaction; work that records nothing is rolled back. A deadlock or serialization failure runs the work again, at
 * most three times in all, so work does nothing outside the transaction that may not happen twice. When the connection breaks
 * during the commit, the record of the change tells whether it was committed.
 * @throws OutcomeUnknown when that cannot be asked either
 * @param options.announces asked at every change; false: no notifications are written (NOTIFICATIONS_DISABLED)
 * @param options.cloudEvents true: cloud events are written too, unless nothing is announced
 * @param options.committed called when a change is there for everybody, before its caller goes on. `components` are those of
 *   what was recorded; undefined when something else was changed too.
 */
export function mutator(
  database: Database,
  { announces = () => true, cloudEvents = false, committed = () => {} }: Options = {},
): Mutate {
  return async (actor, work) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await once(database, actor, work, { announces, cloudEvents, committed })
      } catch (error) {
        if (attempt === 3 || !isConflict(error)) throw error
      }
    }
  }
}

async function once<T>(
  database: Database,
  actor: Actor,
  work: (m: Mutation) => Promise<T>,
  { announces, cloudEvents, committed }: Required<Options>,
): Promise<T> {
  let components: Set<Component> | undefined
  let records: Promise<void> | undefined
  let result: { value: T } | undefined
  const mark = randomUUID()
  const transaction = database.sql.begin(async (connection) => {
    let builder: Db | undefined // made when it is asked for: much is written without
    const trx = () => {
      builder ??= kyselyOn(connection)
      return builder
    }
    const changes: Change[] = []
    const events = new Map<string, CloudEvent>()
    let accounted = false
    const m: Mutation = {
      get trx() {
        return trx()
      },
      get read() {
        return trx() as unknown as ReadDb
      },
      sql: connection,
      actor,
      record: (change) => changes.push(change),
      announce: (event) => {
        if (cloudEvents) events.set(`${eventType(event)} ${event.uuid}`, event)
      },
      unrecorded: () => {
        accounted = true
      },
      enqueue: (name, payload, options) => enqueue(trx(), name, payload, options),
    }
    result = { value: await work(m) }
    if (changes.length === 0 && !accounted) throw new Error('a change recorded nothing: rolled back')
    // The commit follows it without waiting. When it fails, that commit is a rollback.
    records = writeRecords(
      connection,
      actor,
      mark,
      announces() ? changes : changes.map((change) => ({ ...change, kanaal: null })),
      announces() ? [...events.values()] : [],
    )
    records.catch(() => {})
    components = accounted ? undefined : new Set(changes.map(({ component }) => component))
  })
  try {
    await transaction
    await records
  } catch (error) {
    if (!records || !isUnavailable(error) || !(await wasCommitted(database, mark))) throw error
  }
  committed(components)
  return result!.value
}

const ASK_MS = 3_000
type Found = { committed: boolean | null; ended: boolean | null; next: string | null }

/**
 * Whether the records of a change with this mark are there. Its transaction may still be at its commit: that they are not there
 * counts when all that was under way has ended. A database that restarts is waited for.
 */
async function wasCommitted({ sql }: Database, mark: string): Promise<boolean> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new OutcomeUnknown()), ASK_MS)
  let isOver = false
  const ask = async (): Promise<boolean> => {
    /** The number of our own first question: a transaction that was at its commit then has a lower one. */
    let next: string | null = null
    while (!isOver) {
      try {
        const [row]: Found[] = await sql<Found[]>`
          select exists (select from audit where uuid = ${mark})
              or exists (select from notificatie where uuid = ${mark}) as committed,
            pg_snapshot_xmin(snapshot) >= coalesce(${next}::text::xid8, pg_current_xact_id()) as ended,
            coalesce(${next}::text, pg_current_xact_id()::text) as next
          from pg_current_snapshot() snapshot`
        if (row!.committed || row!.ended) return row!.committed === true
        next = row!.next
      } catch (error) {
        if (!isUnavailable(error)) throw error
      }
      await sleep(20)
    }
    throw new OutcomeUnknown()
  }
  const asking = ask()
  asking.catch(() => {}) // when it is too late, nobody listens
  try {
    return await Promise.race([asking, late.promise])
  } finally {
    isOver = true
    clearTimeout(timer)
  }
}

const RESULTAAT: Record<Actie, number> = { create: 201, update: 200, partial_update: 200, destroy: 204 }

// One statement for all of it, through the driver so that it is planned once: every write of the API ends with this.
// `mark` becomes the uuid of the first audit row and of the first message.
async function writeRecords(
  sql: postgres.TransactionSql,
  actor: Actor,
  mark: string,
  changes: Change[],
  events: CloudEvent[],
): Promise<void> {
  if (changes.length === 0) return
  const rows = changes.map((change) => ({
    bron: change.component,
    actie: change.actie,
    resultaat: RESULTAAT[change.actie],
    hoofd_object: change.hoofdobject?.url ?? change.url,
    hoofd_object_uuid: change.hoofdobject?.uuid ?? change.uuid,
    resource: change.resource,
    resource_url: change.url,
    resource_weergave: change.weergave.slice(0, 200).toWellFormed(), // half a character is no JSON for PostgreSQL
    oud: change.oud,
    nieuw: change.nieuw,
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
  const requestId = currentRequestId()
  const wiped = changes.filter(({ spoor }) => spoor === 'wis').map(({ uuid }) => uuid)
  await sql`
    with wijziging as materialized (
      select r.*, overgenomen(r.hoofd_object_uuid) as stil from rows from (jsonb_to_recordset(${JSON.stringify([...rows, ...announced])}::text::jsonb) as (
        bron text, actie text, resultaat integer, hoofd_object text, hoofd_object_uuid uuid, resource text,
        resource_url text, resource_weergave text, oud jsonb, nieuw jsonb, kanaal text, kenmerken jsonb, vastleggen boolean,
        cloudevent text
      )) with ordinality as r(bron, actie, resultaat, hoofd_object, hoofd_object_uuid, resource, resource_url,
        resource_weergave, oud, nieuw, kanaal, kenmerken, vastleggen, cloudevent, volgnummer)
    ), ${wiped.length > 0 ? sql`gewist as (delete from audit where hoofd_object_uuid = any(${wiped}::uuid[])),` : sql``}
    spoor as (
      insert into audit (bron, applicatie_id, applicatie_weergave, gebruikers_id, gebruikers_weergave, actie, resultaat,
        hoofd_object, hoofd_object_uuid, resource, resource_url, resource_weergave, toelichting, logrecord_id, oud, nieuw,
        verzoek_id, uuid)
      select bron, ${actor.applicatieUuid}, ${actor.applicatieLabel}, ${actor.userId}, ${actor.userRepresentation}, actie,
        resultaat, hoofd_object, hoofd_object_uuid, resource, resource_url, resource_weergave, ${actor.toelichting},
        ${actor.logrecordId}, oud, nieuw, ${requestId},
        case row_number() over (order by volgnummer) when 1 then ${mark}::uuid else gen_random_uuid() end
      from wijziging where vastleggen order by volgnummer
    ), bericht as (
      insert into notificatie (kanaal, hoofd_object, hoofd_object_uuid, resource, resource_url, actie, kenmerken,
        cloudevent, verzoek_id, traceparent, uuid)
      select kanaal, hoofd_object, hoofd_object_uuid, resource, resource_url, actie, kenmerken, cloudevent, ${requestId},
        ${currentTraceparent() ?? null},
        case row_number() over (order by volgnummer) when 1 then ${mark}::uuid else gen_random_uuid() end
      from wijziging where kanaal is not null and not stil order by volgnummer
      returning id, kanaal, hoofd_object_uuid, resource, actie, kenmerken, cloudevent
    )
    ${planDeliveries(sql)}`.execute()
}

/** A JSON value as a parameter: text with a cast, since the driver would encode an object and a string differently. */
export function json(value: unknown) {
  return sql<never>`${value === null || value === undefined ? null : JSON.stringify(value)}::text::jsonb`
}
