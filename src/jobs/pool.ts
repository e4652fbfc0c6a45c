import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import { isUnavailable } from '../database/database.ts'
import { clientClass } from '../database/hosts.ts'
import { startListening } from '../database/listen.ts'
import { lookAt } from '../database/look.ts'
import { streamOf } from '../database/primary.ts'

/**
 * Connections for graphile-worker that hide an outage of the database from it: graphile-worker gives up on most of them,
 * and then either ends the process or forgets that a job is done.
 */
export type WorkerPool = {
  pool: pg.Pool
  /**
   * The same pool for graphile-worker, but what that would keep a connection to listen on is the one on which this process
   * listens anyway. It connects again by itself: to graphile-worker it never breaks.
   */
  forRunner: pg.Pool
  /** Drops every connection now. For when they may hang: queries on them fail, and are retried on new connections. */
  cut(): void
  /** Ends the pool; who still waits for a connection is refused. */
  close(): Promise<void>
}

/**
 * Opens the pool. `connect()` waits, for as long as it takes, until the database can be reached. A query that is cut off
 * fails with the one code that graphile-worker takes for a passing fault of the connection, so that it repeats the query. It
 * repeats two: failing a job, which may be done twice, and fetching the next job. A job that was locked by a fetch whose answer
 * was lost is found by `hasLostJobs` in worker.ts. Completing a job is repeated here, because graphile-worker ends its pool when
 * that fails within a batch.
 */
export function openWorkerPool(databaseUrl: string, log: Logger, settings: pg.PoolConfig): WorkerPool {
  const options: pg.PoolConfig = {
    Client: clientClass(databaseUrl),
    connectionTimeoutMillis: 10_000,
    query_timeout: 35_000, // of graphile-worker's own statements, which are short
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    idle_in_transaction_session_timeout: 30_000,
    ...settings,
  }
  const pool = new pg.Pool(options)
  // Apart from the others: they may all be held by who waits for this one.
  const spare = new pg.Pool({ ...options, max: 1, idleTimeoutMillis: 1_000 })
  const clients = new Set<pg.PoolClient>()
  let closed = false
  let told: string | undefined // why it cannot be reached

  const completeLater = async (query: pg.QueryConfig): Promise<unknown> => {
    for (;;) {
      try {
        return await spare.query(query)
      } catch (error) {
        if (closed || !isConnectionFault(error)) throw error
      }
    }
  }
  for (const each of [pool, spare]) {
    // Without these listeners a connection that breaks would end the process. There is nothing to do: pg drops it.
    // Only the message is logged: pg hangs the client onto the error, with all that it knows.
    each.on('error', ({ message }) => log.debug({ reason: message }, 'an idle database connection of the worker broke'))
    each.on('connect', (client) => {
      clients.add(client)
      client.on('error', ({ message }) => log.debug({ reason: message }, 'a database connection of the worker broke'))
      makeFaultsRetryable(client, each === pool ? completeLater : undefined)
    })
    each.on('remove', (client) => clients.delete(client))
  }

  waitInConnect(pool)
  waitInConnect(spare)

  function waitInConnect(each: pg.Pool): void {
    const connectOnce = each.connect.bind(each) as () => Promise<pg.PoolClient>
    const connect = async (): Promise<pg.PoolClient> => {
      for (let delay = 50; ; delay = Math.min(delay * 2, 1_000)) {
        if (closed)
          throw Object.assign(new Error('the worker has let go of the database'), { code: 'CONNECTION_ENDED' })
        try {
          const client = await connectOnce()
          if (told !== undefined) log.info('the worker reaches the database again')
          told = undefined
          return client
        } catch (error) {
          if (!isConnectionFault(error)) throw error
          const { message: reason } = error as Error
          if (reason !== told) log.warn({ reason }, 'the worker cannot reach the database; it keeps trying')
          told = reason
          await sleep(delay)
        }
      }
    }
    // Everything goes through connect(), query() too, and graphile-worker calls it in both styles.
    type Callback = (
      error: Error | undefined,
      client: pg.PoolClient | undefined,
      release: (error?: Error | boolean) => void,
    ) => void
    const connectInBothStyles = (callback?: Callback) => {
      if (!callback) return connect()
      connect().then(
        (client) => callback(undefined, client, client.release),
        (error) => callback(error, undefined, () => {}),
      )
    }
    each.connect = connectInBothStyles as typeof each.connect
  }

  const cut = () => {
    for (const client of clients) streamOf(client)?.destroy()
  }
  const forget = lookAt(databaseUrl).onAway(cut)
  const listening = new Set<() => void>()
  return {
    pool,
    forRunner: Object.create(pool, { connect: { value: connectOrListen } }),
    cut,
    async close() {
      closed = true
      forget()
      for (const stop of listening) stop()
      // A connection that is still in use, or hangs, is not waited for.
      await Promise.race([Promise.all([pool.end(), spare.end()]), sleep(2_000, undefined, { ref: false }).then(cut)])
    },
  }

  // graphile-worker asks with a callback for what it listens on, and with a promise for all else.
  function connectOrListen(callback?: (error: undefined, client: unknown, release: () => void) => void) {
    if (!callback) return pool.connect()
    const client = Object.assign(new EventEmitter(), { query: async () => {} })
    const channels = CHANNELS.map((channel) => {
      const tell = (payload?: string) =>
        void (payload !== undefined && client.emit('notification', { channel, payload }))
      return startListening(databaseUrl, channel, tell, log)
    })
    const stop = () => {
      listening.delete(stop)
      for (const one of channels) void one.close()
    }
    listening.add(stop)
    process.nextTick(callback, undefined, client, stop)
  }
}

/** What graphile-worker listens to. */
const CHANNELS = ['jobs:insert', 'worker:migrate']

/**
 * Whether an error means that the database could not be reached or cut the connection, so that the same may go well
 * later. Statements that took too long are no such fault.
 */
export function isConnectionFault(error: unknown): boolean {
  if (error instanceof AggregateError && error.errors.some(isConnectionFault)) return true
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  if (typeof code === 'string' && STATEMENT_LIMITS.has(code)) return false
  return isUnavailable(error) || PG_FAULT.test(String(message))
}

const STATEMENT_LIMITS = new Set(['25P03', '55P03', '57014'])
// pg reports these without a code
const PG_FAULT =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout|timeout exceeded when trying to connect|timeout expired)/

const COMPLETION = /^complete_jobs?(_q)?\// // names of graphile-worker's statements

function makeFaultsRetryable(client: pg.PoolClient, completeLater?: (query: pg.QueryConfig) => Promise<unknown>): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  client.query = ((...args: unknown[]) => {
    const result = query(...args)
    if (!(result instanceof Promise)) return result
    return result.catch((error: Error) => {
      if (!isConnectionFault(error)) throw error
      streamOf(client)?.destroy() // pg may not have noticed yet, and would hand it out once more
      const config = args[0] as pg.QueryConfig
      if (completeLater && COMPLETION.test(String(config.name))) return completeLater(config)
      throw Object.assign(new Error(error.message, { cause: error }), { code: '57P03' })
    })
  }) as typeof client.query
}
