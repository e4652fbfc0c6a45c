// Which requests ended with an error of ours, for who looks for one by its id. Nothing of what was asked is kept, nor any text of an error,
// which may hold values: a route by its pattern, the kind of error, and where in the source it was. Requests do not wait for it: rows are
// kept in memory and written together, and kept on while the database is away. The whole is bounded by number and by days.
import { sql } from 'kysely'
import type { Logger } from 'pino'
import { Problem } from '../core/problem.ts'
import type { Database } from '../database/database.ts'
import { withoutNumbers } from '../telemetry/log.ts'

export const KEPT_DAYS = 14
const KEPT = 5000
/** Rows that wait to be written; of a storm the first count. */
const MOST_WAITING = 200
const PERIOD_MS = 1000

export type Failed = {
  requestId: string
  exceptionId: string
  method: string
  /** The pattern of the route; empty: there is none. */
  route: string
  status: number
  clientId: string
  error: unknown
}
type Row = Omit<Failed, 'error'> & { kind: string; place: string; at: number }

export type ErrorLog = {
  write(failed: Failed): void
  /** Writes what waits. */
  flush(): Promise<void>
}

export function openErrorLog({ db }: Pick<Database, 'db'>, log: Logger): ErrorLog {
  let waiting: Row[] = []
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()
  async function writeRows(): Promise<void> {
    const rows = waiting
    waiting = []
    if (rows.length === 0) return
    try {
      await db.insertInto('serverError').values(rows.map(valuesOf)).execute()
      await deleteOldErrors({ db })
    } catch (error) {
      waiting = [...rows, ...waiting].slice(0, MOST_WAITING)
      log.warn({ waiting: waiting.length, code: (error as { code?: unknown }).code }, 'the errors were not written yet')
    }
  }
  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(writeRows)
    return writing
  }
  return {
    write({ error, ...failed }) {
      if (waiting.length >= MOST_WAITING) return
      waiting.push({ ...failed, ...describe(error), at: performance.now() })
      timer ??= setTimeout(() => void flush(), PERIOD_MS).unref()
    },
    flush,
  }
}

const valuesOf = ({ at, clientId, ...row }: Row) => ({
  ...row,
  clientId: withoutNumbers(clientId).slice(0, 255),
  happenedAt: sql<string>`clock_timestamp() - ${performance.now() - at}::float8 * interval '1 millisecond'`,
})

/** The kind of an error and the first line of ours in its stack, without its text. */
export function describe(error: unknown): { kind: string; place: string } {
  const { name, code, stack } = (error ?? {}) as { name?: unknown; code?: unknown; stack?: unknown }
  const word = (value: unknown) => (typeof value === 'string' && /^[\w.-]{1,60}$/.test(value) ? value : '')
  const kind = [word(name) || 'Error', word(code)].filter(Boolean).join(' ')
  const [place = ''] = (typeof stack === 'string' && /(?:src|tasks)\/[\w/.-]+\.ts:\d+/.exec(stack)) || []
  return { kind: error instanceof Problem ? error.code : kind, place }
}

/** Removes those whose term is over, and the oldest when there are too many. */
export async function deleteOldErrors({ db }: Pick<Database, 'db'>): Promise<void> {
  await sql`delete from server_error where happened_at < now() - make_interval(days => ${KEPT_DAYS}::int)
    or id <= (select max(id) - ${KEPT}::int from server_error)`.execute(db)
}
