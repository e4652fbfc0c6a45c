// The look at a database that everything in this process judges by: whether it answers, asked on a connection of its own. It is
// asked when somebody waits for an answer, and by readiness. A database that answers nothing has all its pools thrown away; one
// that answers is asked whether it is still at work for a connection that went silent.
import postgres from 'postgres'
import { hostOptions } from './hosts.ts'
import { withoutSchema } from './schema.ts'

/** What the driver tells of a connection from which nothing came for a while. */
export type Silence = {
  pid: number
  text: string
  ms: number
  /** A statement there may take longer than others: it said so itself. */
  patient: boolean
}
export type Look = {
  /** Whether the database answers within `ANSWER_MS`. All that ask meanwhile share one question. */
  answers(): Promise<boolean>
  /** Whether it executes what a connection waits for. Undefined: it cannot say. */
  isAtWork(silence: Silence, pooled: boolean): Promise<boolean | undefined>
  /** Called when the database answered nothing for some seconds: whatever connections there are do not either. */
  onAway(cut: () => void): () => void
}

const ANSWER_MS = 2_000
/** So long no answer has to come, however often it is asked, before connections are thrown away. */
const AWAY_MS = 6_000

const looks = new Map<string, Look>()

/** The look at the database of this address: one for all pools of this process, whatever their schema. */
export function lookAt(address: string): Look {
  const url = withoutSchema(address)
  const known = looks.get(url) ?? newLook(url)
  looks.set(url, known)
  return known
}

function newLook(url: string): Look {
  const listeners = new Set<() => void>()
  let sql: postgres.Sql | undefined
  let awaySince: number | undefined
  let asking: Promise<boolean> | undefined

  /** Asks on a connection that was not used for a moment only, or on a new one. @throws when no answer came in time */
  async function ask<T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
    sql ??= postgres({
      ...hostOptions(url),
      max: 1,
      fetch_types: false,
      prepare: false,
      idle_timeout: 5,
      connect_timeout: ANSWER_MS / 1000,
      backoff: () => 0,
      onnotice: () => {},
      connection: { application_name: 'zaakstroom look' },
    })
    const used = sql
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(new Error('no answer in time')), ANSWER_MS)
    const asked = work(used)
    asked.catch(() => {})
    try {
      return await Promise.race([asked, late.promise])
    } catch (error) {
      if (!isAnswer(error)) {
        if (sql === used)
          sql = undefined // the next question gets a new connection
        ;(used as unknown as { cut(): void }).cut() // in order would be to wait for the other side
        void used.end({ timeout: 0 }).catch(() => {})
      }
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  async function once(): Promise<boolean> {
    const since = performance.now()
    try {
      await ask((sql) => sql`select`)
    } catch (error) {
      if (!isAnswer(error)) {
        awaySince ??= since
        if (performance.now() - awaySince > AWAY_MS) for (const cut of listeners) cut()
        return false
      }
    }
    awaySince = undefined
    return true
  }

  const answers = () => {
    asking ??= once().finally(() => {
      asking = undefined
    })
    return asking
  }
  return {
    answers,
    async isAtWork({ pid, text, ms }, pooled) {
      if (!(await answers())) return undefined
      try {
        // A pooler tells of no process of the server: there it is one that began as long ago with the same statement.
        const found = await ask((sql) => {
          const same = pooled
            ? sql`usename = current_user and left(query, 500) = left(${text}, 500)
                and query_start < clock_timestamp() - ${Math.max(0, ms - 2_000)} * interval '1 millisecond'`
            : sql`pid = ${pid}`
          // What waits for us to read, or to send, hears nothing of us.
          return sql`select from pg_stat_activity where datname = current_database() and state = 'active'
            and (wait_event_type is distinct from 'Client' or wait_event not in ('ClientRead', 'ClientWrite')) and ${same}`
        })
        return found.length > 0
      } catch {
        return undefined
      }
    },
    onAway(cut) {
      listeners.add(cut)
      return () => listeners.delete(cut)
    },
  }
}

/** The server said no: it answers. */
const isAnswer = (error: unknown) => error instanceof postgres.PostgresError
