import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import type postgres from 'postgres'
import { addressOf, hostName, hostUrls } from './address.ts'
import { clientClass } from './hosts.ts'

const ASK_MS = 5_000

/** On each, every process hears that what it keeps of it in memory is outdated: rights, settings, or issuers and their keys. */
export type Channel = 'zaakstroom_autorisaties' | 'zaakstroom_settings' | 'zaakstroom_token_issuers'

/**
 * A statement that tells every process, once its transaction is committed. Whoever writes what they keep sends it too: a trigger
 * would tell it on the server that has the row, which need not be the one where they listen.
 */
export const signal = (sql: postgres.Sql | postgres.TransactionSql, channel: Channel) =>
  sql`select from pg_notify(${channel}, '')`

/** @param payload of a NOTIFY; undefined after connecting, when any may have been missed */
type OnSignal = (payload?: string) => void
type Listener = { url: string; channel: string; onSignal: OnSignal; listens: PromiseWithResolvers<void> }

/** What listens in this process, by database: one connection for all channels, of all organisations there. */
const ears = new Map<string, Ear>()

/**
 * Calls `onSignal` at every NOTIFY on a channel, and each time after it connected: what was announced before that, or while
 * the connection was gone, may have been missed. It connects again for as long as it takes. The driver of our queries can
 * listen too, but gives up silently when connecting fails at the wrong moment.
 * @returns resolves when it listens for the first time
 */
export async function listen(url: string, channel: string, onSignal: OnSignal, log: Logger): Promise<Listening> {
  const { listens, close } = startListening(url, channel, onSignal, log)
  await listens
  return { close }
}

type Listening = { close(): Promise<void> }

/** The same, for who can close before it listens. `listens` resolves when it does for the first time. */
export function startListening(
  url: string,
  channel: string,
  onSignal: OnSignal,
  log: Logger,
): Listening & { listens: Promise<void> } {
  const name = databaseOf(url)
  const listener = { url, channel, onSignal, listens: Promise.withResolvers<void>() }
  const known = ears.get(name)
  const ear = known ?? openEar(listener, log)
  ears.set(name, ear)
  if (known) ear.add(listener)
  return {
    listens: listener.listens.promise,
    close: async () => {
      if (!ear.remove(listener)) return
      if (ears.get(name) === ear) ears.delete(name)
      await ear.close()
    },
  }
}

type Ear = {
  add(listener: Listener): void
  /** @returns whether it was the last one */
  remove(listener: Listener): boolean
  close(): Promise<void>
}

/** Signals reach all who listen in a database, whatever their schema and their role. */
function databaseOf(url: string): string {
  const { database, user } = addressOf(url)
  return `${hostUrls(url).map(hostName).join(',')}/${database ?? user ?? ''}`
}

function openEar(first: Listener, log: Logger): Ear {
  const stop = new AbortController()
  const listeners = new Set([first])
  let tries = 0
  let client: pg.Client | undefined
  let connected: Asked | undefined
  const running = (async () => {
    while (!stop.signal.aborted) {
      const ended = Promise.withResolvers<void>()
      // The address of each in turn: that of one may not be let in any more.
      const all = [...listeners]
      const { url } = all[tries++ % all.length] ?? first
      const Client = clientClass(url)
      const mine = new Client({
        application_name: 'zaakstroom listen',
        keepAlive: true,
        connectionTimeoutMillis: 5000,
        query_timeout: 5000,
      })
      client = mine
      mine.on('error', () => ended.resolve())
      mine.on('end', () => ended.resolve())
      mine.on('notification', ({ channel, payload }) => {
        for (const one of listeners) if (one.channel === channel) one.onSignal(payload)
      })
      try {
        // A client that is ended while it connects never tells how connecting went.
        await Promise.race([mine.connect(), ended.promise])
        const asked = inTurn(mine)
        const here = [...listeners]
        connected = asked // who comes from here on begins by himself
        for (const one of here) await begin(asked, one)
        // A connection that hears nothing may be one that nobody hears.
        while (await Promise.race([ended.promise, sleep(ASK_MS, true, { ref: false })])) await asked.query('select')
      } catch (error) {
        log.debug({ code: (error as { code?: string }).code }, 'cannot listen: trying again')
      }
      connected = undefined
      void mine.end().catch(() => {})
      mine.connection.stream.destroy() // its end would wait for the other side
      await sleep(500, undefined, { signal: stop.signal }).catch(() => {})
    }
  })()
  return {
    add(listener) {
      listeners.add(listener)
      const on = connected
      if (on) begin(on, listener).catch(on.drop)
    },
    remove: (listener) => listeners.delete(listener) && listeners.size === 0,
    close: async () => {
      stop.abort()
      await client?.end().catch(() => {})
      await running
    },
  }
}

type Asked = { query(text: string): Promise<unknown>; drop(): void }

/** A connection that is asked one thing at a time. */
function inTurn(client: pg.Client): Asked {
  let last: Promise<unknown> = Promise.resolve()
  return {
    query(text) {
      last = last.catch(() => {}).then(() => client.query(text))
      return last
    },
    drop: () => void client.connection.stream.destroy(),
  }
}

async function begin(asked: Asked, { channel, onSignal, listens }: Listener): Promise<void> {
  await asked.query(`listen "${channel}"`)
  onSignal()
  listens.resolve()
}
