// Which of several hosts in DATABASE_URL is the primary. After a failover the old primary may come back by itself: it takes writes
// again, on the timeline of before. So every host is asked all the time which timeline it is on. The one with the newest is used,
// and connections to any other are dropped. A process that has seen a newer timeline never goes back to an older one.
import { connect, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import { addressOf, hostName } from './address.ts'
import { clientConfig, connectClient } from './client-config.ts'
import { expected, one } from './rows.ts'
import { withoutSchema } from './schema.ts'

/** The hosts of one address, as this process sees them. */
export type Primary = {
  /** URL of the host to use now; undefined as long as none is known to take writes. */
  url(): string | undefined
  /** Resolves when a primary is known or every host was asked. @throws why no host can be used */
  found(): Promise<string>
  /** Has a connection dropped as soon as its host is not the one to use. The caller ends this when the connection is closed. */
  follow(url: string, drop: () => void): () => void
  /** Hosts that take writes on an older timeline, without user and password. */
  refused(): string[]
}

const LOOK_MS = 1000
const SEARCH_MS = 200 // as long as no host can be used
const ANSWER_MS = 2000 // a host that does not answer within this is not reachable

type Seen = { kind: 'unknown' | 'standby' | 'away' } | { kind: 'primary'; timeline: number }
type Host = { url: string; name: string; seen: Seen; error?: unknown; drops: Set<() => void> }

const known = new Map<string, Primary>()
let log: Logger | undefined

/** Where to say that a host is refused: the log of the process. */
export function tellOfHosts(to: Logger): void {
  log = to
}

/** Hosts of all addresses of this process that take writes on an older timeline. */
export const refusedHosts = (): string[] => [...known.values()].flatMap((primary) => primary.refused())

/**
 * The primary among several hosts. Asking begins with the first use and goes on as long as the process lives.
 * @param urls one for each host, in the order in which they are preferred
 */
export function primaryOf(urls: readonly string[]): Primary {
  // Organisations of one database share what is known of its hosts.
  const plain = urls.map(withoutSchema)
  const key = plain.join(' ')
  const made = known.get(key) ?? watch(plain)
  known.set(key, made)
  const own = (url: string) => expected(urls[plain.indexOf(url)])
  return {
    url: () => {
      const url = made.url()
      return url === undefined ? undefined : own(url)
    },
    found: async () => own(await made.found()),
    follow: (url, drop) => made.follow(plain[urls.indexOf(url)] ?? url, drop),
    refused: made.refused,
  }
}

function watch(urls: readonly string[]): Primary {
  const hosts = urls.map((url): Host => ({ url, name: hostName(url), seen: { kind: 'unknown' }, drops: new Set() }))
  let newest = 0
  let current: Host | undefined
  let looked = Promise.withResolvers<void>()
  // Loaded by who has several hosts: a command without does not need what metrics bring along.
  let refusals: typeof import('../telemetry/metrics.ts').hostRefused | undefined
  void import('../telemetry/metrics.ts').then(({ hostRefused }) => {
    refusals = hostRefused
  })

  function isRefused({ seen }: Host): boolean {
    return seen.kind === 'primary' && seen.timeline < newest
  }

  function see(host: Host, seen: Seen, timeline: number): void {
    const wasRefused = hosts.filter(isRefused)
    host.seen = seen
    newest = Math.max(newest, timeline)
    const usable = hosts.filter((one) => one.seen.kind === 'primary' && one.seen.timeline === newest)
    // One that is away for a moment stays the one to use: its connections may be sound.
    const mayStay = current && !isRefused(current) && current.seen.kind !== 'standby'
    if (current && usable.includes(current)) usable.unshift(current)
    current = usable[0] ?? (mayStay ? current : undefined)
    for (const other of hosts) {
      refusals?.set({ host: other.name }, isRefused(other) ? 1 : 0)
      if (isRefused(other) && !wasRefused.includes(other))
        log?.error(
          { host: other.name, newest },
          'a host takes writes on an older timeline: it was the primary before a failover, and is refused. Fence it',
        )
      if (!isRefused(other) && wasRefused.includes(other))
        log?.info({ host: other.name }, 'a host is no longer refused')
      const mayKeep = other === current || other.seen.kind === 'away' || other.seen.kind === 'unknown'
      if (isRefused(other) || (!mayKeep && current)) for (const drop of other.drops) drop()
    }
    looked.resolve()
    looked = Promise.withResolvers()
  }

  for (const host of hosts) void lookForEver(host, see, () => current !== undefined)

  return {
    url: () => current?.url,
    async found() {
      while (!current && hosts.some(({ seen }) => seen.kind === 'unknown')) await looked.promise
      // With two primaries the first answer may be that of the older one.
      if (hosts.some(({ seen }) => seen.kind === 'unknown'))
        await Promise.race([allSeen(), sleep(ANSWER_MS, undefined, { ref: false })])
      if (current) return current.url
      const fault = hosts.find(({ error }) => error)?.error
      throw hosts.some(({ seen }) => seen.kind === 'standby' || seen.kind === 'primary') || !fault
        ? Object.assign(new Error('no host takes writes'), { code: '25006' })
        : fault
    },
    follow(url, drop) {
      const host = hosts.find((one) => one.url === url)
      host?.drops.add(drop)
      if (host && isRefused(host)) drop()
      return () => void host?.drops.delete(drop)
    },
    refused: () => hosts.filter(isRefused).map(({ name }) => name),
  }

  async function allSeen(): Promise<void> {
    while (hosts.some(({ seen }) => seen.kind === 'unknown')) await looked.promise
  }
}

async function lookForEver(
  host: Host,
  see: (host: Host, seen: Seen, timeline: number) => void,
  isFound: () => boolean,
): Promise<never> {
  let client: pg.Client | undefined
  for (;;) {
    try {
      client ??= await open(host.url)
      const { isStandby, timeline } = await ask(client)
      delete host.error
      see(host, isStandby ? { kind: 'standby' } : { kind: 'primary', timeline }, timeline)
    } catch (error) {
      host.error = error
      close(client)
      client = undefined
      see(host, { kind: 'away' }, 0)
    }
    await sleep(isFound() ? LOOK_MS : SEARCH_MS, undefined, { ref: false })
  }
}

async function open(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    ...clientConfig(url),
    application_name: 'zaakstroom hosts',
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
  })
  client.on('error', () => {}) // the next question fails
  try {
    await connectClient(client, url, () => client.connect())
  } catch (error) {
    close(client)
    throw error
  }
  streamOf(client)?.unref()
  return client
}

/** The socket of a client: pg-pool itself reaches for it like this, and the types leave it out. */
export function streamOf(client: pg.Client | pg.PoolClient): Socket | undefined {
  return (client as unknown as { connection?: { stream?: Socket } }).connection?.stream
}

/** Ends a connection at once: one that hangs would not be ended by a farewell. */
function close(client: pg.Client | undefined): void {
  if (client) streamOf(client)?.destroy()
}

/** A primary is on the timeline of what it writes now: its control file tells a new one only after a checkpoint. */
async function ask(client: pg.Client): Promise<{ isStandby: boolean; timeline: number }> {
  const { rows } = await client.query<{ isStandby: boolean; timeline: number }>(`
    select pg_is_in_recovery() as "isStandby", case when pg_is_in_recovery()
      then greatest((select timeline_id from pg_control_checkpoint()), (select min_recovery_end_timeline from pg_control_recovery()))
      else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int end as timeline`)
  return one(rows)
}

/**
 * What the driver of our queries connects with: a socket to the host to use now, dropped when that changes. A socket that
 * cannot be had is one that breaks, since the driver takes back its connection then and not otherwise.
 */
export async function primarySocket(primary: Primary): Promise<Socket> {
  try {
    const url = await primary.found()
    const { host, port, path } = addressOf(url)
    const socket = path ? connect(path) : connect(port, host)
    const leave = primary.follow(url, () => socket.destroy())
    socket.once('close', leave)
    return Object.assign(socket, { host, port, _host: host }) // the name that a certificate has to have
  } catch (error) {
    const none = new Socket()
    setImmediate(() => none.destroy(error as Error))
    return none
  }
}
