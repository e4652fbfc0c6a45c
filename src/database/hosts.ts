// DATABASE_URL may name several hosts, as libpq takes them: `postgres://a:5432,b:5432/name`. The driver of our queries knows
// such addresses, `pg` does not. `primary.ts` finds the one to use.
import type { Socket } from 'node:net'
import pg from 'pg'
import { primaryOf, primarySocket, streamOf } from './primary.ts'

/** @returns one URL per host, in the order in which they are tried */
export function hostUrls(url: string): string[] {
  const [, before, hosts, after] = /^([a-z]+:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/s.exec(url) ?? []
  if (hosts === undefined || !hosts.includes(',')) return [url]
  return hosts.split(',').map((host) => `${before}${host}${after}`)
}

/** What the driver of our queries is told, beside the address: of several hosts it connects to the primary. */
export function hostOptions(url: string): { socket?: () => Promise<Socket> } {
  const urls = hostUrls(url)
  return urls.length > 1 ? { socket: () => primarySocket(primaryOf(urls)) } : {}
}

type ClientClass = new (config?: pg.ClientConfig) => pg.Client
const classes = new Map<string, ClientClass>()

/**
 * The class of clients for an address, to be used by itself or as `Client` of a pool. With several hosts a client connects to the
 * primary that was known when it was made; when it is another by then, connecting fails as an outage does. Who connects tries
 * again anyway.
 */
export function clientClass(url: string): ClientClass {
  const known = classes.get(url)
  if (known) return known
  const urls = hostUrls(url)
  const made = urls.length === 1 ? oneHost(url) : ofPrimary(urls)
  classes.set(url, made)
  return made
}

function oneHost(connectionString: string): ClientClass {
  return class extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super({ ...config, connectionString })
    }
  }
}

function ofPrimary(urls: string[]): ClientClass {
  const primary = primaryOf(urls)
  return class extends pg.Client {
    readonly #url: string | undefined

    constructor(config?: pg.ClientConfig) {
      const url = primary.url()
      super({ ...config, connectionString: url ?? urls[0] })
      this.#url = url
    }

    // In both styles: a pool gives a callback.
    override connect(): Promise<this>
    override connect(callback: (error: Error) => void): void
    override connect(callback?: (error: Error) => void): unknown {
      const connected = this.#connectToPrimary()
      return callback ? void connected.then(() => (callback as () => void)(), callback) : connected
    }

    async #connectToPrimary(): Promise<this> {
      const url = await primary.found()
      if (url !== (this.#url ?? urls[0])) throw Object.assign(new Error('this host takes no writes'), { code: '25006' })
      await super.connect()
      const leave = primary.follow(url, () => streamOf(this)?.destroy())
      this.once('end', leave)
      return this
    }
  }
}
