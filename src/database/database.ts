import { CamelCasePlugin, CompiledQuery, type DatabaseConnection, Kysely, type QueryExecutorProvider } from 'kysely'
import type { ReadonlyKysely } from 'kysely/readonly'
import { PostgresJSDialect } from 'kysely-postgres-js'
import postgres from 'postgres'
import { momentFrom } from '../lib/moment.ts'
import { type Numbers, WITHOUT_KEYS } from '../lib/numbers.ts'
import { isTracing } from '../telemetry/tracing.ts'
import { teachArrays } from './arrays.ts'
import { hostOptions, startupOf } from './hosts.ts'
import { type Look, lookAt, type Silence } from './look.ts'
import { isRefusal } from './refusal.ts'
import { searchPathOf } from './schema.ts'
import { LIMITS, MEANING, POOLED } from './session.ts'
import { traceStatements } from './traced.ts'
import type { DB } from './types.ts'

/**
 * What handlers read with: a query of the builder that writes does not compile, and raw SQL runs on it as on any. Writing goes
 * through `mutate`.
 */
export type ReadDb = ReadonlyKysely<DB> & QueryExecutorProvider
export type Db = Kysely<DB>

/** Reads at the driver itself: row types are stated, and a test finds statements that write. */
export interface ReadSql {
  <Rows extends readonly object[]>(
    text: TemplateStringsArray,
    ...values: readonly postgres.ParameterOrFragment<never>[]
  ): postgres.PendingQuery<Rows>
  unsafe: postgres.Sql['unsafe']
}
/** Both ways to read, for long lists and for what is streamed. */
export type Reader = {
  db: ReadDb
  sql: ReadSql
  /** For JSON that is read as text: the driver opens what it reads as JSON. */
  readonly numbers: Numbers
}

export type Database = {
  /** Where a connection of its own is opened, for listening and for locks that last: never through a pooler. */
  url: string
  /** Whether the queries go through a pooler, so that a connection has no process of the server for itself. */
  isPooled: boolean
  /** The driver: for COPY and cursors. */
  sql: postgres.Sql
  /** For writing outside a request, such as the set-up of clients. Handlers read with a `Reader`. */
  db: Db
  /** What opens numbers of persons in all JSON that is read, and what seals them; without keys until it is given some. */
  readonly numbers: Numbers
  useNumbers(numbers: Numbers): void
  /** A connection of its own, until it is given back. @throws CONNECTION_ENDED once this is closed */
  reserve(): Promise<postgres.ReservedSql>
  /** Whether the database answers, as everything in this process sees it. */
  answers(): Promise<boolean>
  /** Throws all connections away: whoever waits for an answer gets CONNECTION_SILENT. */
  cut(): void
  close(): Promise<void>
}

/** How many wait for a connection of a pool in this process, by its name. Metrics tell it. */
export const waitingForConnection = new Map<string, number>()

/**
 * Opens a pool. Dates stay `YYYY-MM-DD`, moments become ISO 8601 in UTC with `Z` and six digits (a JS Date would
 * lose the microseconds), 64-bit integers become numbers (ours stay far below 2^53).
 * @param options.pooler address of PgBouncer in transaction mode, through which the queries then go
 */
export function openDatabase(
  url: string,
  options: {
    max: number
    name: string
    settings?: Record<string, string>
    pooler?: string | undefined
    /** After how long a connection that does nothing is closed. The one used last is used next, so that the others get there. */
    idleSeconds?: number
    /** The tables there are not ours: the session keeps its own `search_path`. */
    isForeign?: boolean
  },
): Database {
  const { pooler } = options
  let numbers = WITHOUT_KEYS
  const session = {
    ...MEANING,
    ...LIMITS,
    ...(!options.isForeign && { search_path: searchPathOf(url) }),
    ...options.settings,
  }
  const look = lookAt(url) // without the pooler: who waits in it for a connection is not without an answer
  const judge = async (silence: Silence) => {
    const isLost = await isLostIn(silence, {
      look,
      pooled: pooler !== undefined,
      limit: limitOf(session.statement_timeout),
    })
    if (isLost) cut(pooler === undefined) // the idle ones may have gone the same way; all of them, where the pooler went silent
    return isLost
  }
  const driver = postgres({
    ...hostOptions(pooler ?? url),
    max: options.max,
    silence: { seconds: LOOK_AFTER_SECONDS, ask: judge },
    prepare: pooler === undefined, // each transaction may have another server
    // One at a time: PgBouncer 1.18 loses answers of a client that sends more before it was answered.
    ...(pooler !== undefined && { max_pipeline: 0 }),
    idle_timeout: options.idleSeconds ?? 60,
    connect_timeout: 5,
    backoff: () => 0.2, // a database that is back is used at once; the default waits up to 20 s
    onnotice: () => {},
    fetch_types: false, // arrays.ts has them
    connection: {
      application_name: `zaakstroom ${options.name}`,
      ...(pooler === undefined ? (session as Record<string, string>) : POOLED),
      ...startupOf(pooler ?? url, pooler !== undefined),
    },
    types: {
      date: { to: 1082, from: [1082], serialize: String, parse: String },
      timestamptz: { to: 1184, from: [1184], serialize: moment, parse: momentFrom },
      bigint: { to: 20, from: [20], serialize: String, parse: Number },
      json: {
        to: 114,
        from: [114, 3802],
        serialize: JSON.stringify,
        parse: (text: string) => JSON.parse(numbers.open(text)),
      },
    },
  } as postgres.Options<{
    date: postgres.PostgresType
    timestamptz: postgres.PostgresType
    bigint: postgres.PostgresType
    json: postgres.PostgresType
  }>)
  teachArrays(driver.options)
  const sql = isTracing() ? traceStatements(driver) : driver
  const { cut } = driver as unknown as { cut(idle?: boolean): void }
  const cutAll = () => cut()
  const forget = look.onAway(cutAll)
  countWaiting(driver, options.name)
  let isClosed = false
  return {
    url,
    isPooled: pooler !== undefined,
    sql,
    db: kyselyOn(sql),
    get numbers() {
      return numbers
    },
    useNumbers: (given) => {
      numbers = given
    },
    reserve: async () => {
      // The driver would open a connection once more.
      if (isClosed) throw Object.assign(new Error('the database is closed'), { code: 'CONNECTION_ENDED' })
      return sql.reserve()
    },
    answers: look.answers,
    cut: cutAll,
    close: () => {
      isClosed = true
      forget()
      return sql.end({ timeout: 5 })
    },
  }
}

const LOOK_AFTER_SECONDS = 2
/** What the server does not work on and does not answer is lost on its way. */
const LOST_MS = 8_000
/** What is late by so much, its server would have ended. */
const OVERDUE_MS = 5_000

/** How long the server lets a statement of these sessions run. */
function limitOf(statementTimeout: string): number {
  return Number(statementTimeout) || Number.POSITIVE_INFINITY
}

/** Whether nobody will answer on a connection any more: its server is not at work for it, or has been for longer than it may. */
async function isLostIn(silence: Silence, at: { look: Look; pooled: boolean; limit: number }): Promise<boolean> {
  const isOverdue = silence.ms > at.limit + OVERDUE_MS
  const isAtWork = await at.look.isAtWork(silence, at.pooled)
  if (isAtWork) return isOverdue && !silence.patient
  // What waits in a pooler is not at work either.
  return isOverdue || (isAtWork === false && !at.pooled && silence.ms > LOST_MS)
}

// Statements by themselves share the connections; who needs one for itself, for a transaction or the query builder, waits for it.
function countWaiting(sql: postgres.Sql, name: string): void {
  const change = (by: number) => waitingForConnection.set(name, (waitingForConnection.get(name) ?? 0) + by)
  change(0)
  const { reserve, begin } = sql
  const countedBegin = (...args: [string, Work] | [Work]) => {
    let waits = true
    const stopWaiting = () => {
      if (waits) change(-1)
      waits = false
    }
    const work = args.at(-1) as Work
    const counted: Work = (trx) => {
      stopWaiting()
      return work(trx)
    }
    change(1)
    const options = args.length === 2 ? args[0] : ''
    return begin(options, counted).finally(stopWaiting)
  }
  Object.assign(sql, {
    begin: countedBegin,
    async reserve() {
      change(1)
      try {
        return await reserve()
      } finally {
        change(-1)
      }
    },
  })
}

type Work = (trx: postgres.TransactionSql) => unknown

/** What reads of a database and cannot write: the query builder is narrowed, the driver is the same. */
export const readerOf = (database: Database): Reader => ({
  db: database.db as unknown as ReadDb,
  sql: database.sql,
  get numbers() {
    return database.numbers
  },
})

/** A query builder on a pool or, so that COPY and queries share one transaction, on a transaction of the driver. */
export function kyselyOn(sql: postgres.Sql | postgres.TransactionSql): Db {
  const dialect = new PostgresJSDialect({ postgres: 'reserve' in sql ? sql : asPool(sql) })
  const createDriver = dialect.createDriver.bind(dialect)
  dialect.createDriver = () => Object.assign(createDriver(), { rollbackTransaction })
  return new Kysely<DB>({
    dialect,
    plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true })],
  })
}

// What it replaces marks a connection that broke by a method that the connections of this driver do not have: a TypeError hid
// that the connection broke. This driver drops such a connection by itself.
async function rollbackTransaction(connection: DatabaseConnection): Promise<void> {
  await connection.executeQuery(CompiledQuery.raw('rollback'))
}

const MAX_PREPARED = 100 // statements with more parameters differ from call to call
/** A PATCH of a case sets whatever its client names: of the updates of a table so many are prepared, each of which every backend keeps. */
const MAX_UPDATES = 50
const updates = new Map<string, Set<string>>()

function isOneOfFew(text: string): boolean {
  if (!text.startsWith('update ')) return true
  const table = text.slice(0, text.indexOf(' set '))
  const known = updates.get(table) ?? new Set()
  updates.set(table, known)
  if (known.has(text)) return true
  return known.size < MAX_UPDATES && known.add(text).size > 0
}

// The dialect takes its connections from a pool; within a transaction there is just the one.
function asPool(trx: postgres.TransactionSql): postgres.Sql {
  const connection = Object.assign((...args: Parameters<typeof trx>) => trx(...args), {
    // Prepared: a change makes the same few statements over and over, and planning them costs more than running them.
    unsafe: (text: string, parameters: postgres.ParameterOrJSON<never>[] = []) =>
      trx.unsafe(text, parameters, { prepare: parameters.length <= MAX_PREPARED && isOneOfFew(text) }),
    release: () => {},
  })
  return Object.assign(() => {}, { reserve: async () => connection }) as unknown as postgres.Sql
}

function moment(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value)
}

/** Faults of the connection or the server, not of the query: the same call may go through later (503 for a client). */
export function isUnavailable(error: unknown): boolean {
  if (isRefusal(error)) return true
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown }
  if (code === 'ENOENT') return syscall === 'connect' // the socket of a server on this machine, which is down
  return (
    typeof code === 'string' &&
    (DISCONNECTED.has(code) || UNAVAILABLE.has(code) || code.startsWith('53') || code.startsWith('57P'))
  )
}

/** The connection broke during a commit, and nobody could be asked what became of it. */
export class OutcomeUnknown extends Error {
  readonly code = '08007' // SQLSTATE: transaction resolution unknown
  /** By which its client may ask later. */
  link?: string
  constructor() {
    super('the connection broke during a commit, and what became of it is not known')
  }
}

/**
 * Concurrent transactions were in each other's way: a serialization failure, a deadlock, or a migration. The same work may go
 * through now.
 */
export function isConflict(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return code === '40001' || code === '40P01' || isStalePlan(error)
}

/** A statement was prepared before a migration changed its table. The driver prepares it anew after this, on this connection. */
export function isStalePlan(error: unknown): boolean {
  const { code, routine } = (error ?? {}) as { code?: unknown; routine?: unknown }
  return code === '0A000' && routine === 'RevalidateCachedQuery'
}

const DISCONNECTED = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECTION_SILENT',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ECONNABORTED',
])

const UNAVAILABLE = new Set([
  '08000',
  '08001',
  '08003',
  '08006',
  '08007',
  '25006', // read-only after a failover
  '25P03', // idle in transaction too long
  '55P03', // lock not available in time
  '57014', // statement took too long
])
