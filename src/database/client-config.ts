// What `pg` is told of an address, for the clients of the queue and of what listens.
import type pg from 'pg'
import { addressOf, forgetTls, isLax, speaksTls } from './address.ts'
import { passwordOf } from './password-file.ts'
import { ofConnecting } from './refusal.ts'
import { searchPathOf } from './schema.ts'
import { LIMITS, MEANING, startupOptions } from './session.ts'

/** For clients of the queue and for listening: limits of time are each one's own. */
const SESSION = startupOptions({ ...MEANING, jit: LIMITS.jit })

/** @param url of one host @throws AddressFault */
export function clientConfig(url: string): pg.ClientConfig {
  const { host, port, user, password, database, mode, tls, options } = addressOf(url)
  return {
    host,
    port,
    ...(user && { user }),
    ...(password && { password: () => passwordOf(url) ?? '' }),
    ...(database && { database }),
    ssl: mode === 'disable' ? false : tls,
    options: [SESSION, options, startupOptions({ search_path: searchPathOf(url) })].filter(Boolean).join(' '),
  }
}

/**
 * Connects a client. `prefer` goes on without TLS at a server that has none; the client itself knows no such thing. What is thrown
 * is marked as of connecting.
 */
export async function connectClient<T>(client: pg.Client, url: string, connect: () => Promise<T>): Promise<T> {
  try {
    await chooseTls(client, url)
    return await connect()
  } catch (error) {
    forgetTls(addressOf(url))
    throw ofConnecting(error)
  }
}

/**
 * The same for who gives a callback, as a pool does. It is called in the turn in which the server is ready: a pool listens for
 * errors from then on, and an error that comes in a turn between would end the process.
 */
export function connectClientWith(
  client: pg.Client,
  url: Promise<string>,
  connect: (callback: (error?: Error) => void) => void,
  callback: (error?: Error) => void,
): void {
  url
    .then(async (url) => {
      await chooseTls(client, url)
      return url
    })
    .then(
      (url) =>
        connect((error) => {
          if (error) forgetTls(addressOf(url))
          callback(ofConnecting(error))
        }),
      (error) => callback(ofConnecting(error)),
    )
}

async function chooseTls(client: pg.Client, url: string): Promise<void> {
  const address = addressOf(url)
  if (!isLax(address.mode) || (await speaksTls(address))) return
  const inside = client as unknown as { ssl: unknown; connection: { ssl: unknown } }
  inside.ssl = false
  inside.connection.ssl = false
}
