// The log of requests to other services. Requests do not wait for it: lines are kept in memory and written together, once a
// second; what a burst has too much of is counted and not written.
import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Database } from '../database/database.ts'
import { withoutNumbers } from '../telemetry/log.ts'
import { currentRequestId } from '../telemetry/request-id.ts'
import { SECRET_NAME } from './masking.ts'

export type Line = {
  /** Of `performance.now()`. */
  began: number
  service: string
  method: string
  host: string
  path: string
  status: number | null
  outcome: string
  ms: number
  requestId: string
}
export type RequestLog = {
  write(line: Omit<Line, 'host' | 'path' | 'requestId'> & { url: URL }): void
  /** Writes what is kept. */
  flush(): Promise<void>
}

const MAX_LINES = 1000 // a second
const PERIOD_MS = 1000

/** When a line began, by the clock of the database: so long before now. */
function moment({ began, ...line }: Line) {
  const ms = performance.now() - began
  return { ...line, begunAt: sql<string>`clock_timestamp() - ${ms}::float8 * interval '1 millisecond'` }
}

/** Opens the log; without a term to keep it for, nothing is written. */
export function openRequestLog(
  { db }: Database,
  config: Pick<Config, 'outgoingLogRetentionDays'>,
  log: Logger,
): RequestLog {
  let lines: Line[] = []
  let dropped = 0
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  async function writeLines(): Promise<void> {
    const [batch, lost] = [lines, dropped]
    lines = []
    dropped = 0
    if (lost > 0) log.warn({ lost }, 'too many outgoing requests to log them all')
    if (batch.length === 0) return
    try {
      await db.insertInto('outgoingRequest').values(batch.map(moment)).execute()
    } catch (error) {
      log.warn({ lost: batch.length, reason: (error as Error).message }, 'the log of outgoing requests was not written')
    }
  }
  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(writeLines)
    return writing
  }
  return {
    write({ url, ...line }) {
      if (config.outgoingLogRetentionDays === 0) return
      if (lines.length >= MAX_LINES) {
        dropped++
        return
      }
      const path = coveredPath(url)
      lines.push({ ...line, host: url.host, path, requestId: currentRequestId() })
      timer ??= setTimeout(() => void flush(), PERIOD_MS).unref()
    },
    flush,
  }
}

/** Path and query without what identifies a person or opens a door: numbers of eight or nine digits, values of secrets. */
export function coveredPath(url: URL): string {
  const query = [...url.searchParams].map(
    ([name, value]) => `${encodeURIComponent(name)}=${SECRET_NAME.test(name) ? '***' : encodeURIComponent(value)}`,
  )
  const text = `${url.pathname}${query.length > 0 ? `?${query.join('&')}` : ''}`
  return withoutNumbers(text, '***').slice(0, 2000)
}

/** Removes lines that are older, a portion at a time. */
export async function deleteOldLines({ sql }: Database, days: number): Promise<void> {
  for (;;) {
    const gone = await sql`delete from outgoing_request where id in (
      select id from outgoing_request where begun_at < now() - make_interval(days => ${days}::int) limit 10000)`
    if (gone.count < 10_000) return
  }
}
