// DATABASE_URL may name several hosts, as libpq takes them: `postgres://a:5432,b:5432/name`. The driver of our queries knows
// such addresses, `pg` does not. Whichever host takes writes is the one: after a failover it is another.
import pg from 'pg'
import { one } from './rows.ts'

/** @returns one URL per host, in the order in which they are tried */
export function hostUrls(url: string): string[] {
  const [, before, hosts, after] = /^([a-z]+:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/s.exec(url) ?? []
  if (hosts === undefined || !hosts.includes(',')) return [url]
  return hosts.split(',').map((host) => `${before}${host}${after}`)
}

/** What the driver of our queries is told, beside the address: of several hosts it is to keep the one that takes writes. */
export function hostOptions(url: string): { target_session_attrs?: 'primary' } {
  return hostUrls(url).length > 1 ? { target_session_attrs: 'primary' } : {}
}

type ClientClass = new (config?: pg.ClientConfig) => pg.Client
const classes = new Map<string, ClientClass>()

/**
 * The class of clients for an address, to be used by itself or as `Client` of a pool. With several hosts each new client tries
 * the one that last took writes; when that does not answer, or is a standby, connecting fails as an outage does, and the next
 * client tries the host after it. Who connects tries again anyway.
 */
export function clientClass(url: string): ClientClass {
  const known = classes.get(url)
  if (known) return known
  const urls = hostUrls(url)
  const made = urls.length === 1 ? oneHost(url) : firstWritable(urls)
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

function firstWritable(urls: string[]): ClientClass {
  let current = 0
  return class extends pg.Client {
    readonly #host = current

    constructor(config?: pg.ClientConfig) {
      super({ ...config, connectionString: urls[current] })
    }

    // In both styles: a pool gives a callback.
    override connect(): Promise<this>
    override connect(callback: (error: Error) => void): void
    override connect(callback?: (error: Error) => void): unknown {
      const connected = this.#connectToWritable()
      return callback ? void connected.then(() => (callback as () => void)(), callback) : connected
    }

    async #connectToWritable(): Promise<this> {
      try {
        await super.connect()
        const { rows } = await this.query<{ readOnly: boolean }>(
          `select current_setting('transaction_read_only') = 'on' as "readOnly"`,
        )
        if (!one(rows).readOnly) return this
        await this.end()
        throw Object.assign(new Error('this host takes no writes'), { code: '25006' })
      } catch (error) {
        if (current === this.#host) current = (current + 1) % urls.length
        throw error
      }
    }
  }
}
