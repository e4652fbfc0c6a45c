import { randomUUIDv7 } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type postgres from 'postgres'
import {
  type Database,
  type Db,
  isConflict,
  isStalePlan,
  kyselyOn,
  OutcomeUnknown,
  type ReadDb,
} from '../database/database.ts'
import { type Channel, signal } from '../database/listen.ts'
import { isLost, wasCommitted } from '../database/outcome.ts'
import { one } from '../database/rows.ts'
import { openTransaction } from '../database/transaction.ts'
import { enqueue, type JobOptions } from '../jobs/queue.ts'
import type { Numbers } from '../lib/numbers.ts'
import { currentRequest } from '../telemetry/current-request.ts'
import type { Actor, Component } from './actor.ts'
import { type Packed, unpack } from './audit-contents.ts'
import { type CloudEvent, eventType } from './cloud-event.ts'
import { claimKey, endKey, findKept, isKnownKey, keyOf, mayComeOfRepetition } from './idempotency.ts'
import { isRecorded, type Pending, resultOf } from './outcome.ts'
import { requireJudged } from './precondition.ts'
import { toProblem } from './problem.ts'
import { type Change, insertAndRecord, insertRow, type Made, type NewRow, writeRecords } from './records.ts'
import { settlePortion } from './settle-verwerkingen.ts'
import { type Concerned, involvedIn, isLogged, type LogOptions } from './verwerkingen.ts'

export type { Actie, Change } from './records.ts'

export type Mutation = {
  trx: Db
  /** The same transaction for functions that only read. */
  read: ReadDb
  /** The same transaction at the driver, for COPY and savepoints. */
  sql: postgres.TransactionSql
  actor: Actor
  /** Seals numbers of persons in JSON that is written, and finds rows by them. */
  numbers: Numbers
  /** 1, and one more each time the work runs again. From the second time on nothing is taken from memory. */
  attempt: number
  /** Makes a row and records that, when more follows in this transaction. */
  make<T>(row: NewRow<T>): Promise<T>
  /** Every change is recorded, or all is rolled back. */
  record(change: Change): void
  /** A cloud event beside the records; nothing when they are off (ENABLE_CLOUD_EVENTS). The same one twice is sent once. */
  announce(event: CloudEvent): void
  /**
   * For changes of which the standard keeps no record; the reason is for the reader of the code.
   * @param component of what is changed, where that is known: what is kept in memory of others stays
   */
  unrecorded(reason: string, component?: Component): void
  /** Every process hears, once this is committed, that what it keeps in memory is outdated. A recorded change of rights or types says so by itself. */
  signal(channel: Channel): void
  /** What such a change touches all the same: it gets its line in the log of processing. */
  touches(what: Pick<Change, 'component' | 'actie' | 'resource' | 'url' | 'uuid' | 'hoofdobject'>): void
  /** Notes who is involved in these cases, before they go: the log of processing tells whom the change was about. */
  noteInvolved(zaken: readonly string[]): Promise<void>
  /**
   * Has the log of processing tell of what was done until now, with those who are involved at this moment. To be called before a change
   * of who that is: persons, the cases of a document or besluit, and activities.
   */
  settleActs(): Promise<void>
  /** The request is answered later, after another `mutate`, with what this one would give: who repeats it has to wait for that. */
  claimKey(later: unknown): Promise<void>
  /** What another `mutate` claimed was done, or taken back. */
  endKey(isDone: boolean): Promise<void>
  enqueue<Name extends keyof GraphileWorker.Tasks & string>(
    name: Name,
    payload: GraphileWorker.Tasks[Name],
    options?: JobOptions,
  ): Promise<void>
}
/**
 * What work returns that ends with making a row, and with nothing after it: its insert, the records and the commit then are one
 * statement, if nothing else had to be read or written. `mutate` gives the answer.
 */
export class Last<T> {
  readonly row: NewRow<T>
  constructor(row: NewRow<T>) {
    this.row = row
  }
}

type Options = {
  announces?(): boolean
  cloudEvents?: boolean | ((sql: postgres.TransactionSql, events: CloudEvent[]) => Promise<CloudEvent[]>)
  committed?(components: ReadonlySet<Component> | undefined): void
  log?(): LogOptions | undefined
  sealed?(applicatieUuid: string, pending: Pending): string | undefined
}
export type Mutate = <T>(actor: Actor, work: (m: Mutation) => Promise<T | Last<T>>) => Promise<T>
/** The same for who wraps it, with work that does not end in `Last`. */
export type MutateWhole = <T>(actor: Actor, work: (m: Mutation) => Promise<T>) => Promise<T>

/** More than the statements of a change on all connections: each of them may be stale once. */
const STALE_PLANS = 100

/**
 * The only way to a writable transaction. What `work` records is written as audit row and notification in the same
 * transaction; work that records nothing is rolled back. BEGIN leaves with the first statement, the records with the commit. A
 * deadlock, a serialization failure, a row that was judged by what is outdated or a migration meanwhile runs the work again, so
 * work does nothing outside the transaction that may not happen twice. When the connection breaks during the commit, the number of
 * the transaction tells whether it was committed, and the record of a change that is one statement.
 * @throws OutcomeUnknown when that cannot be told either
 * @param options.announces asked at every change; false: no notifications are written (NOTIFICATIONS_DISABLED)
 * @param options.cloudEvents true: cloud events are written too, unless nothing is announced; a function: those that it chooses,
 *   asked in the transaction
 * @param options.sealed the link by which the applicatie may ask later what became of it
 * @param options.log asked at every change: how it is written in the log of processing; undefined: not at all
 * @param options.committed called when a change is there for everybody, before its caller goes on. `components` are those of
 *   what was recorded; undefined when something else was changed too.
 */
export function mutator(
  database: Database,
  {
    announces = () => true,
    cloudEvents = false,
    committed = () => {},
    log = () => undefined,
    sealed = () => undefined,
  }: Options = {},
): Mutate {
  return async <T>(actor: Actor, work: (m: Mutation) => Promise<T | Last<T>>): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await once(database, actor, work, attempt, { announces, cloudEvents, committed, log, sealed })
      } catch (error) {
        const kept = await keptAnswer<T>(database, actor, error)
        if (kept) return kept.answer
        if (isKnownKey(error) && attempt < 3) continue // it was kept, and its term was over
        if (!isConflict(error) || attempt >= (isStalePlan(error) ? STALE_PLANS : 3)) throw error
        if (!isStalePlan(error)) await sleep(10 * attempt * (1 + Math.random())) // lets the other change finish first
      }
    }
  }
}

/**
 * What the request got the first time, when this failure may come of that it was done before.
 * @throws what `findKept` throws
 */
async function keptAnswer<T>(database: Database, actor: Actor, error: unknown): Promise<{ answer: T } | undefined> {
  const key = keyOf(actor)
  if (!key || isConflict(error) || !(isKnownKey(error) || mayComeOfRepetition(toProblem(error)))) return undefined
  return (await findKept(database, actor, key)) as { answer: T } | undefined
}

async function once<T>(
  database: Database,
  actor: Actor,
  work: (m: Mutation) => Promise<T | Last<T>>,
  attempt: number,
  { announces, cloudEvents, committed, log, sealed }: Required<Options>,
): Promise<T> {
  const mark = randomUUIDv7()
  const changes: Change[] = []
  const events = new Map<string, CloudEvent>()
  const signals = new Set<Channel>()
  let accounted = false
  let silent: Set<Component> | undefined = new Set() // changed without a record; undefined: anything
  const { numbers } = database
  const logging = log()
  const concerned: Concerned[] = []
  let key = keyOf(actor) // as long as nothing is kept for it
  const transaction = await openTransaction(database)
  let builder: Db | undefined // made when it is asked for: much is written without
  const trx = () => {
    builder ??= kyselyOn(transaction.sql)
    return builder
  }
  const m: Mutation = {
    get trx() {
      return trx()
    },
    get read() {
      return trx() as unknown as ReadDb
    },
    get sql() {
      return transaction.sql
    },
    actor,
    numbers,
    attempt,
    async make(row) {
      const { id, weergave, nieuw } = await madeOf(row, insertRow(transaction.sql, row))
      await row.after?.(id)
      const answer = { ...row.change.nieuw, ...nieuw }
      this.record({ ...row.change, weergave, nieuw: answer }) // of `this`: some work is given a record of its own
      return answer
    },
    record: (change) => changes.push(change),
    announce: (event) => {
      if (cloudEvents) events.set(`${eventType(event)} ${event.uuid}`, event)
    },
    unrecorded: (_reason, component) => {
      accounted = true
      if (component) silent?.add(component)
      else silent = undefined
    },
    signal: (channel) => signals.add(channel),
    touches: (what) => {
      if (logging) changes.push({ ...what, weergave: '', kanaal: null, oud: null, nieuw: null, spoor: 'geen' })
    },
    settleActs: async () => {
      if (logging) await settlePortion(transaction.sql, logging)
    },
    noteInvolved: async (zaken) => {
      if (!logging) return
      await settlePortion(transaction.sql, logging) // what was just done with them is theirs as well
      concerned.push(...(await involvedIn(transaction.sql, zaken)))
    },
    claimKey: async (later) => {
      if (key) await claimKey(transaction.sql, actor, key, numbers, later)
      key = undefined
    },
    endKey: async (isDone) => {
      if (actor.key) await endKey(transaction.sql, actor.applicatieUuid, actor.key.text, isDone)
      key = undefined
    },
    enqueue: (name, payload, options) => enqueue(trx(), name, payload, options),
  }
  /** When the change is one statement: the row that it makes. */
  let alone: NewRow<T> | undefined
  let answer: T | Last<T> | undefined
  try {
    answer = await work(m)
    if (actor.precondition) requireJudged(actor.precondition)
    if (answer instanceof Last) {
      const { row } = answer
      const isMore = row.after || accounted || transaction.isBegun() || changes.length + events.size > 0
      if (isMore) answer = await m.make(row)
      else alone = announces() ? row : { ...row, change: { ...row.change, kanaal: null } }
    }
    if (alone) {
      const statement = insertAndRecord(transaction.connection, actor, mark, alone, numbers, key, logging)
      await transaction.committing(statement)
      const { nieuw } = await madeOf(alone, statement)
      answer = { ...alone.change.nieuw, ...nieuw }
    } else {
      if (changes.length === 0 && !accounted) throw new Error('a change recorded nothing: rolled back')
      // The commit follows the records without waiting. When they fail, that commit is a rollback.
      const announced = announces() ? changes : changes.map((change) => ({ ...change, kanaal: null }))
      const told = announces() ? [...events.values()] : []
      const chosen =
        typeof cloudEvents === 'function' && told.length > 0 ? await cloudEvents(transaction.sql, told) : told
      const kept = key && { key, answer }
      const logged = logging && { ...logging, concerned }
      // Types too: a right for a catalogue reaches those that it has.
      if (changes.some(({ component }) => component === 'ac' || component === 'ztc'))
        signals.add('zaakstroom_autorisaties')
      // Before the records, whose failure would fail them as well.
      const signalled = [...signals].map((channel) => signal(transaction.sql, channel).execute())
      const records = writeRecords(transaction, actor, mark, announced, chosen, numbers, kept, logged)
      await transaction.commit(Promise.all([...signalled, records]))
    }
    transaction.release()
  } catch (error) {
    await transaction.undo()
    const trace = transaction.trace()
    if (!trace || !isLost(error)) throw error
    const recorded = alone ? [alone.change] : changes.filter(({ spoor }) => !spoor)
    const mainObjects = recorded.map(({ hoofdobject, uuid }) => hoofdobject?.uuid ?? uuid)
    const isThere = recorded.length > 0 ? () => isRecorded(database, mark, mainObjects) : undefined
    const isDone = await wasCommitted(database, trace, isThere).catch((unknown: unknown) => {
      const result = alone ? { url: alone.change.url } : resultOf(answer)
      if (unknown instanceof OutcomeUnknown && actor.applicatieUuid)
        unknown.link = sealed(actor.applicatieUuid, { trace, mark, mainObject: mainObjects[0], result })
      throw unknown
    })
    if (!isDone) throw error
    if (alone) answer = await recordedAnswer(database, mark, mainObjects)
  }
  if (actor.key) actor.key.isKept = true
  const made = alone ? [alone.change] : changes
  const { shown } = currentRequest.getStore() ?? {}
  if (shown && logging && made.some(isLogged)) shown.isChange = true
  committed(silent && new Set([...made.map(({ component }) => component), ...silent]))
  return answer as T
}

/** What a row was judged by is not true any more: a conflict as one of concurrent transactions. */
class Outdated extends Error {
  readonly code = '40001'
}

async function madeOf(row: NewRow<unknown>, statement: Promise<Made[]>): Promise<Made> {
  try {
    const [made] = await statement
    if (made) return made
  } catch (error) {
    const violated = (error as { constraint_name?: unknown }).constraint_name
    if (row.taken === undefined || violated !== row.taken) throw error
  }
  throw new Outdated('a new row was judged by what is outdated')
}

/** The answer to a change that was committed while its own answer was lost. */
async function recordedAnswer<T>({ sql, numbers }: Database, mark: string, mainObjects: string[]): Promise<T> {
  const rows = await sql<Packed[]>`
    select hoofd_object_uuid as "hoofdObjectUuid", resource_uuid as "resourceUuid", packed, made
    from audit where hoofd_object_uuid = any(${mainObjects}::uuid[]) and uuid = ${mark}`
  return unpack(numbers, one(rows)).nieuw as T
}

/** A JSON value as a parameter: text with a cast, since the driver would encode an object and a string differently. */
export function json(value: unknown) {
  return sql<never>`${value === null || value === undefined ? null : JSON.stringify(value)}::text::jsonb`
}
