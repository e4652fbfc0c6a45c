import { sql } from 'kysely'
import type postgres from 'postgres'
import type { Actor, Component } from './access.ts'
import { type Database, type Db, kyselyOn, type ReadDb } from './database.ts'
import { enqueue, type JobOptions } from './queue.ts'

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
  /** For changes of which the standard keeps no record; the reason is for the reader of the code. */
  unrecorded(reason: string): void
  enqueue<Name extends keyof GraphileWorker.Tasks & string>(
    name: Name,
    payload: GraphileWorker.Tasks[Name],
    options?: JobOptions,
  ): Promise<void>
}
export type Mutate = <T>(actor: Actor, work: (m: Mutation) => Promise<T>) => Promise<T>

/**
 * The only way to a writable transaction. What `work` records is written as audit row and notification in the same
 * transaction; work that records nothing is rolled back. A deadlock or serialization failure runs the work again, at
 * most three times in all, so work does nothing outside the transaction that may not happen twice.
 */
export function mutator(database: Database): Mutate {
  return async (actor, work) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await once(database, actor, work)
      } catch (error) {
        const code = (error as { code?: string }).code
        if (attempt === 3 || (code !== '40001' && code !== '40P01')) throw error
      }
    }
  }
}

async function once<T>(database: Database, actor: Actor, work: (m: Mutation) => Promise<T>): Promise<T> {
  const result = await database.sql.begin(async (connection) => {
    const trx = kyselyOn(connection)
    const changes: Change[] = []
    let accounted = false
    const m: Mutation = {
      trx,
      read: trx as unknown as ReadDb,
      sql: connection,
      actor,
      record: (change) => changes.push(change),
      unrecorded: () => {
        accounted = true
      },
      enqueue: (name, payload, options) => enqueue(trx, name, payload, options),
    }
    const value = await work(m)
    if (changes.length === 0 && !accounted) throw new Error('a change recorded nothing: rolled back')
    await writeRecords(trx, actor, changes)
    return { value }
  })
  return result.value as T
}

const RESULTAAT: Record<Actie, number> = { create: 201, update: 200, partial_update: 200, destroy: 204 }

async function writeRecords(trx: Db, actor: Actor, changes: Change[]): Promise<void> {
  if (changes.length === 0) return
  const removed = changes.filter(({ spoor }) => spoor === 'wis').map(({ uuid }) => uuid)
  if (removed.length > 0) await trx.deleteFrom('audit').where('hoofdObjectUuid', 'in', removed).execute()
  await writeAudit(
    trx,
    actor,
    changes.filter(({ spoor }) => !spoor),
  )
  await writeNotifications(
    trx,
    changes.filter((change) => change.kanaal !== null),
  )
}

async function writeAudit(trx: Db, actor: Actor, changes: Change[]): Promise<void> {
  if (changes.length === 0) return
  await trx
    .insertInto('audit')
    .values(
      changes.map((change) => ({
        bron: change.component,
        applicatieId: actor.applicatieUuid,
        applicatieWeergave: actor.applicatieLabel,
        gebruikersId: actor.userId,
        gebruikersWeergave: actor.userRepresentation,
        actie: change.actie,
        resultaat: RESULTAAT[change.actie],
        hoofdObject: change.hoofdobject?.url ?? change.url,
        hoofdObjectUuid: change.hoofdobject?.uuid ?? change.uuid,
        resource: change.resource,
        resourceUrl: change.url,
        resourceWeergave: change.weergave.slice(0, 200),
        toelichting: actor.toelichting,
        logrecordId: actor.logrecordId,
        oud: json(change.oud),
        nieuw: json(change.nieuw),
      })),
    )
    .execute()
}

async function writeNotifications(trx: Db, changes: Change[]): Promise<void> {
  if (changes.length === 0) return
  await trx
    .insertInto('notificatie')
    .values(
      changes.map((change) => ({
        kanaal: change.kanaal!.naam,
        hoofdObject: change.hoofdobject?.url ?? change.url,
        hoofdObjectUuid: change.hoofdobject?.uuid ?? change.uuid,
        resource: change.resource,
        resourceUrl: change.url,
        actie: change.actie,
        kenmerken: json(change.kanaal!.kenmerken),
      })),
    )
    .execute()
}

/** A JSON value as a parameter: text with a cast, since the driver would encode an object and a string differently. */
export function json(value: unknown) {
  return sql<never>`${value === null || value === undefined ? null : JSON.stringify(value)}::text::jsonb`
}
