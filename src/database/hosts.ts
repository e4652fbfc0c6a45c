// DATABASE_URL may name several hosts, as libpq takes them: `postgres://a:5432,b:5432/name`. The driver of our queries knows
// such addresses, `pg` does not. `primary.ts` finds the one to use.
import type { ConnectionOptions } from 'node:tls'
import pg from 'pg'
import type postgres from 'postgres'
import { addressOf, hostUrls, isLax } from './address.ts'
import { clientConfig, connectClient, connectClientWith } from './client-config.ts'
import { passwordOf } from './password-file.ts'
import { primaryOf, primarySocket, streamOf } from './primary.ts'
import { expected } from './rows.ts'
import { withoutSchema } from './schema.ts'

/**
 * What the driver of our queries is told of an address: it reads addresses otherwise than libpq. Of several hosts it connects to
 * the primary.
 * @throws AddressFault
 */
export function hostOptions(url: string): postgres.Options<Record<string, never>> {
  const urls = hostUrls(url)
  const first = urls[0] ?? url
  const { host, port, path, user, password, database, mode, tls } = addressOf(first)
  return {
    host: [host],
    port: [port],
    ...(path && { path }),
    ...(user && { user }),
    ...(password && { pass: () => passwordOf(first) }),
    ...(database && { database }),
    // Of several hosts each has to name itself by its own name.
    ssl: mode === 'disable' ? false : isLax(mode) ? 'prefer' : urls.length > 1 ? withoutHost(tls) : tls,
    ...(urls.length > 1 && { socket: () => primarySocket(primaryOf(urls)) }),
  } as unknown as postgres.Options<Record<string, never>>
}

/** What an address asks of the session beside ours. A pooler takes no schema from its clients: its entry brings that. */
export function startupOf(url: string, isPooled = false): { options?: string } {
  const { options } = addressOf(isPooled ? withoutSchema(url) : url)
  return options ? { options } : {}
}

const withoutHost = ({ host: _, ...tls }: ConnectionOptions): ConnectionOptions => tls

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

function oneHost(url: string): ClientClass {
  return class extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super({ ...config, ...clientConfig(url) })
    }

    override connect(): Promise<this>
    override connect(callback: (error: Error) => void): void
    override connect(callback?: (error: Error) => void): unknown {
      if (!callback) return connectClient(this, url, () => super.connect())
      connectClientWith(this, Promise.resolve(url), (done) => super.connect(done), callback as (error?: Error) => void)
    }
  }
}

function ofPrimary(urls: string[]): ClientClass {
  const primary = primaryOf(urls)
  return class extends pg.Client {
    readonly #url: string | undefined

    constructor(config?: pg.ClientConfig) {
      const url = primary.url()
      super({ ...config, ...clientConfig(url ?? expected(urls[0])) })
      this.#url = url
    }

    // In both styles: a pool gives a callback.
    override connect(): Promise<this>
    override connect(callback: (error: Error) => void): void
    override connect(callback?: (error: Error) => void): unknown {
      if (!callback) return this.#connectToPrimary()
      connectClientWith(
        this,
        this.#found(),
        (done) => super.connect(done),
        (error) => {
          if (!error) this.#follow()
          ;(callback as (error?: Error) => void)(error)
        },
      )
    }

    async #connectToPrimary(): Promise<this> {
      await connectClient(this, await this.#found(), () => super.connect())
      this.#follow()
      return this
    }

    #follow(): void {
      this.once(
        'end',
        primary.follow(this.#url ?? expected(urls[0]), () => streamOf(this)?.destroy()),
      )
    }

    /** @throws when another host is the primary by now */
    async #found(): Promise<string> {
      const url = await primary.found()
      if (url === (this.#url ?? urls[0])) return url
      throw Object.assign(new Error('this host takes no writes'), { code: '25006' })
    }
  }
}
