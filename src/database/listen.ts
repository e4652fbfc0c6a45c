import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { clientClass } from './hosts.ts'

const ASK_MS = 5_000

/**
 * Calls `onSignal` at every NOTIFY on a channel, and each time after it connected: what was announced before that, or while
 * the connection was gone, may have been missed. It connects again for as long as it takes. The driver of our queries can
 * listen too, but gives up silently when connecting fails at the wrong moment.
 * @returns resolves when it listens for the first time
 */
export async function listen(
  url: string,
  channel: string,
  onSignal: () => void,
  log: Logger,
): Promise<{ close(): Promise<void> }> {
  const stop = new AbortController()
  const first = Promise.withResolvers<void>()
  let client: pg.Client | undefined
  const Client = clientClass(url)
  const running = (async () => {
    while (!stop.signal.aborted) {
      const ended = Promise.withResolvers<void>()
      client = new Client({
        application_name: 'zaakstroom listen',
        keepAlive: true,
        connectionTimeoutMillis: 5000,
        query_timeout: 5000,
      })
      client.on('error', () => ended.resolve())
      client.on('end', () => ended.resolve())
      client.on('notification', onSignal)
      try {
        // A client that is ended while it connects never tells how connecting went.
        await Promise.race([client.connect(), ended.promise])
        await client.query(`listen "${channel}"`)
        onSignal()
        first.resolve()
        // A connection that hears nothing may be one that nobody hears.
        while (await Promise.race([ended.promise, sleep(ASK_MS, true, { ref: false })])) await client.query('select')
      } catch (error) {
        log.debug({ code: (error as { code?: string }).code }, 'cannot listen: trying again')
      }
      void client.end().catch(() => {})
      client.connection.stream.destroy() // its end would wait for the other side
      await sleep(500, undefined, { signal: stop.signal }).catch(() => {})
    }
  })()
  await first.promise
  return {
    close: async () => {
      stop.abort()
      await client?.end().catch(() => {})
      await running
    },
  }
}
