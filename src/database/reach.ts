// The connections that a start needs, tried one after the other with a bound: what cannot pass ends the start, and what may is
// tried again.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import postgres from 'postgres'
import { AddressFault } from './address.ts'
import { clientClass, hostOptions, startupOf } from './hosts.ts'
import { searchPathOf } from './schema.ts'
import { LIMITS, MEANING, POOLED, requireSession, SessionFault } from './session.ts'

/** A connection that will not be had as long as its setting, or the server, stays as it is. */
export class ConnectionRefused extends Error {}
/** A connection that may be had later. */
export class DatabaseAway extends Error {}

/** An address and the setting that it comes from. */
export type Wanted = { setting: string; url: string; isPooled?: boolean }

const ANSWER_SECONDS = 5
const PATIENCE_MS = 15_000
const PAUSE_MS = 500

/**
 * Tries every address with both drivers, the one that goes through a pooler with the one of our queries alone.
 * @throws ConnectionRefused with the setting: password, certificate, no such database, or sessions that are not as we need them
 * @throws DatabaseAway when it stays away
 */
export async function requireConnections(wanted: readonly Wanted[], log: Logger): Promise<void> {
  for (const one of wanted) {
    await patiently(one, log, () => askWithQueries(one))
    if (!one.isPooled) await patiently(one, log, () => askWithClient(one))
  }
}

async function patiently({ setting }: Wanted, log: Logger, ask: () => Promise<void>): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  for (let tries = 0; ; tries++) {
    try {
      await ask()
      if (tries > 0) log.info({ setting }, 'the database can be reached')
      return
    } catch (error) {
      const reason = reasonOf(error)
      if (error instanceof SessionFault) throw error
      if (error instanceof AddressFault || isFinal(error)) throw new ConnectionRefused(`${setting} ${reason}`)
      if (performance.now() > until) throw new DatabaseAway(`${setting}: the database cannot be reached (${reason})`)
      if (tries === 0) log.warn({ setting, reason }, 'the database cannot be reached: trying again')
      await sleep(PAUSE_MS)
    }
  }
}

async function askWithQueries({ setting, url, isPooled }: Wanted): Promise<void> {
  const sql = postgres({
    ...hostOptions(url),
    max: 1,
    fetch_types: false,
    prepare: false,
    connect_timeout: ANSWER_SECONDS,
    onnotice: () => {},
    connection: {
      application_name: 'zaakstroom start',
      ...(isPooled ? POOLED : ({ ...MEANING, ...LIMITS, search_path: searchPathOf(url) } as Record<string, string>)),
      ...startupOf(url, isPooled),
    },
  })
  try {
    await within(requireSession((text, names) => sql.unsafe(text, [names]), setting, searchPathOf(url)))
  } finally {
    ;(sql as unknown as { cut(): void }).cut()
    void sql.end({ timeout: 0 }).catch(() => {})
  }
}

async function askWithClient({ setting, url }: Wanted): Promise<void> {
  const Client = clientClass(url)
  const client = new Client({
    application_name: 'zaakstroom start',
    connectionTimeoutMillis: ANSWER_SECONDS * 1000,
    query_timeout: ANSWER_SECONDS * 1000,
  })
  client.on('error', () => {})
  try {
    await within(client.connect())
    await requireSession(async (text, names) => (await client.query(text, [names])).rows, setting, searchPathOf(url))
  } finally {
    void client.end().catch(() => {})
  }
}

async function within<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' })),
    ANSWER_SECONDS * 1000 + 1000,
  )
  work.catch(() => {})
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer))
}

// Password, access, database, certificate: whoever says no will go on saying it.
const REFUSED = /^(28|3D000$)|^(ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH)/
const NO_RIGHT = /^(42501$|0L|0P)/
// A pooler says it in words alone.
const FINAL_WORDS =
  /authentication failed|no such (user|database)|does not support SSL|before secure TLS connection|does not exist|unsupported startup parameter|SASL/i

function isFinal(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  return REFUSED.test(String(code)) || NO_RIGHT.test(String(code)) || FINAL_WORDS.test(String(message))
}

/** Why whoever asked a database will not be let in, in words; undefined: it is another failure. */
export function refusalOf(error: unknown): string | undefined {
  const code = String((error as { code?: unknown } | null)?.code)
  return REFUSED.test(code) ? reasonOf(error) : undefined
}

/** In words without what an address holds: the text of a server may name the user, which is no secret. */
function reasonOf(error: unknown): string {
  const { code, message = String(error) } = (error ?? {}) as { code?: string; message?: string }
  if (error instanceof AddressFault) return message
  if (code?.startsWith('28')) return `is refused by the server: ${message}`
  if (error instanceof postgres.PostgresError || error instanceof pg.DatabaseError)
    return `is refused by the server: ${message} (${code})`
  return code ? `${message.replace(/^write \w+ /, '')} (${code})` : message
}
