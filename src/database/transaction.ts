// A transaction of our own on a connection of the driver. The driver's `begin` waits for the answer to BEGIN before anything
// else is sent; here BEGIN leaves together with the first statement, so that no connection sits idle in a transaction
// for it.
//
// When a connection breaks, the driver fails the statement that is under way, and everything that is asked of it later. What was
// asked in the same moment, and waits behind that statement, may never hear. So nobody here waits for a statement whose
// predecessor was lost.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type postgres from 'postgres'
import type { Database } from './database.ts'
import { beginLife, type Trace } from './outcome.ts'
import { expected } from './rows.ts'

export type Transaction = {
  /** The transaction. Whoever asks for it first begins it. */
  readonly sql: postgres.TransactionSql
  /** The connection without a transaction, for a change that is one statement. */
  readonly connection: postgres.Sql
  isBegun(): boolean
  /** Notes that a statement which commits by itself was given to the connection: from here on it may be done. */
  committing(statement: { execute(): unknown }): Promise<void>
  /** What proves later whether this was committed; undefined when nothing that commits was sent. */
  trace(): Trace | undefined
  /** Commits when `last` is done, and is sent right after it. @throws when the server rolled back instead: a statement failed */
  commit(last: Promise<unknown>): Promise<void>
  /** Gives the connection back after everything went well. */
  release(): void
  /** Rolls back what was begun, and gives the connection back. */
  undo(): Promise<void>
}

const UNDO_MS = 2_000
// Its number costs no round trip here, and is known before a commit is sent.
const BEGIN = `begin; select pg_current_xact_id()::text as id, pg_backend_pid() as pid, (select id from server_life) as life`
type Begun = { id: string; pid: number; life: string | null }

/** Waits for a connection. @throws CONNECTION_ENDED when the database was closed */
export async function openTransaction(database: Database): Promise<Transaction> {
  const connection = await database.reserve()
  const at = performance.now()
  let begun: Promise<void> | undefined
  let xact: Begun | undefined
  let trace: Trace | undefined
  let savepoints = 0
  /**
   * What takes back, whatever failed: an error of somebody else, such as a client that breaks its upload off, may have the code
   * of a lost connection. One that is lost says so when it is asked a moment later.
   */
  const takeBack = async (statement: string, then = () => {}) => {
    await nextTurn()
    const done = connection.unsafe(statement).then(then, then)
    await Promise.race([done, sleep(UNDO_MS, undefined, { ref: false })])
  }
  const savepoint = async <T>(name: string | Work<T>, work?: Work<T>): Promise<T> => {
    const point = `s${savepoints++}`
    await connection.unsafe(`savepoint ${point}`)
    try {
      return await (typeof name === 'function' ? name : work!)(sql)
    } catch (error) {
      await takeBack(`rollback to ${point}`)
      throw error
    }
  }
  const begin = async () => {
    const asked = connection.unsafe(BEGIN).execute() // at once: an `await` gives it to the driver behind the next statement
    const [, rows] = (await asked) as unknown as [unknown, Begun[]]
    xact = expected(rows[0])
    if (xact.life === null) beginLife(database.sql).catch(() => {}) // the next one asks again
  }
  const sql = Object.assign(connection, { savepoint }) as unknown as postgres.TransactionSql
  return {
    get sql() {
      if (!begun) {
        begun = begin()
        begun.catch(() => {}) // the statements after it fail too, and the commit tells
      }
      return sql
    },
    connection: connection as unknown as postgres.Sql,
    isBegun: () => begun !== undefined,
    committing: async (statement) => {
      statement.execute()
      await null // the driver gives it to the connection
      const { state } = statement as unknown as { state: { pid: number } | null }
      trace = { xact: undefined, backend: database.isPooled || !state ? undefined : { pid: state.pid, at } }
    },
    trace: () => trace,
    commit: async (last) => {
      last.catch(() => {})
      if (begun && !xact) await begun // else nobody could tell what became of it
      if (xact) trace = { xact, backend: database.isPooled ? undefined : { pid: xact.pid, at } }
      const commit = begun && connection.unsafe('commit').execute()
      commit?.catch(() => {})
      await last
      await begun
      if (commit && (await commit).command !== 'COMMIT')
        throw new Error('a statement of this transaction failed: rolled back')
    },
    release: () => connection.release(),
    undo: async () => {
      if (begun) await takeBack('rollback', () => connection.release())
      else connection.release()
    },
  }
}

type Work<T> = (sql: postgres.TransactionSql) => Promise<T>
