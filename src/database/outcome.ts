// What became of a change whose answer was lost. First its process of the server is ended, since what it was sent may still be in its
// socket and be done later. Then the number of the transaction tells (`pg_xact_status`): committed, aborted or in progress. A number
// proves that something was committed only as long as the server has not crashed or failed over since (table `server_life`): after that,
// numbers that reached no log are given out again. A statement that commits by itself has no number that we know; what it leaves tells.
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { type Database, isUnavailable, OutcomeUnknown } from './database.ts'
import { isOfPooler } from './refusal.ts'
import { one } from './rows.ts'

/** What is known of a change before it is sent its commit. */
export type Trace = {
  /** Number of the transaction, with the life of the server that gave it; undefined when it is one statement by itself. */
  xact: { id: string; life: string | null } | undefined
  /** Process of the server, with the milliseconds of `performance.now` at which it was there; undefined behind a pooler. */
  backend: { pid: number; at: number } | undefined
}
type Seen = { status: string | null; life: string | null }

const ASK_MS = 3_000
const PAUSE_MS = 20
/** The clock of the server and ours may run apart by so much while a transaction lasts. */
const SLACK_MS = 1_000
/** What began so long after it is another one, whatever became of the clocks. */
const OTHER_MS = 60_000

/** Whether the connection broke. A server that says ERROR did not do it, and the connection is as it was. */
export const isLost = (error: unknown): boolean =>
  error instanceof postgres.PostgresError ? error.severity !== 'ERROR' || isOfPooler(error) : isUnavailable(error)

/**
 * Whether a change was committed. A database that restarts is waited for.
 * @param isThere whether what the change leaves is there; undefined: it need not leave anything
 * @throws OutcomeUnknown when it cannot be known in time
 */
export async function wasCommitted(
  { sql }: Pick<Database, 'sql'>,
  trace: Trace,
  isThere: (() => Promise<boolean>) | undefined,
): Promise<boolean> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new OutcomeUnknown()), ASK_MS)
  let isOver = false
  const ask = async (): Promise<boolean> => {
    while (!isOver) {
      try {
        const outcome = await outcomeLater({ sql }, trace, isThere)
        if (outcome !== undefined) return outcome
      } catch (error) {
        if (!isUnavailable(error)) throw error
      }
      await sleep(PAUSE_MS)
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

/**
 * The same at this moment.
 * @returns undefined when it is not decided yet
 * @throws OutcomeUnknown when it will never be known
 */
export async function outcomeLater(
  { sql }: Pick<Database, 'sql'>,
  trace: Trace,
  isThere: (() => Promise<boolean>) | undefined,
): Promise<boolean | undefined> {
  const isGone = trace.backend && (await endBackend(sql, trace.backend)) // before it is judged
  return judge(sql, trace, isThere, isGone ?? false)
}

async function judge(
  sql: postgres.Sql,
  { xact }: Trace,
  isThere: (() => Promise<boolean>) | undefined,
  isGone: boolean,
): Promise<boolean | undefined> {
  if (!xact) {
    if (await isThere?.()) return true
    return isGone ? false : undefined
  }
  const { status, life } = one(
    await sql<Seen[]>`
    select pg_xact_status(${xact.id}::text::xid8) as status, (select id from server_life) as life`.catch(ofFuture),
  )
  if (status === 'aborted') return false
  const hasCrashed = xact.life !== null && life !== xact.life
  if (status === 'in progress') return hasCrashed ? false : undefined // after a crash it is the number of another one
  if (status === 'committed' && life !== null && life === xact.life) return true
  if (isThere) return isThere()
  throw new OutcomeUnknown()
}

/** A number that was not given out yet: it was given out before a crash, and nothing of it reached the log. */
function ofFuture(error: unknown): Seen[] {
  if ((error as { code?: unknown }).code === '22023') return [{ status: 'aborted', life: null }]
  throw error
}

/**
 * Ends a process of the server, unless it waits for a standby to have what it committed.
 * @returns whether it is gone. One that began much later has only the number of the one that is meant
 */
async function endBackend(sql: postgres.Sql, { pid, at }: { pid: number; at: number }): Promise<boolean> {
  const age = performance.now() - at
  const rows = await sql<{ ended: boolean | null }[]>`
    select case when usename = current_user and wait_event is distinct from 'SyncRep'
        and backend_start < clock_timestamp() - ${age - SLACK_MS} * interval '1 millisecond'
      then pg_terminate_backend(pid) end as ended
    from pg_stat_activity
    where pid = ${pid} and (backend_start < clock_timestamp() - ${age - OTHER_MS} * interval '1 millisecond') is not false`
  return rows.length === 0
}

/** Makes a new life of a server that lost the one before. */
export const beginLife = (sql: postgres.Sql): Promise<unknown> =>
  sql`insert into server_life default values on conflict do nothing`.execute()
