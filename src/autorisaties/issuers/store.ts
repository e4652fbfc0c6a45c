// What a request asks of issuers: which one a token is of, and its keys. Both are kept in memory by every process, dropped on a
// signal of the database, and read again from there.
//
// Keys are fetched outside of requests: as soon as an issuer is there, and again when their time is over. A request waits for
// them only when its token names a key that is not known, or no key is known at all. Whoever fetches claims that first in the
// database, so that all processes together ask an issuer at most once in 30 seconds; the others wait for the outcome. When the
// provider is down the keys that are known go on to count, for as long as TOKEN_KEYS_KEPT_HOURS says.
import { createLocalJWKSet, type JWTVerifyGetKey } from 'jose'
import type { Logger } from 'pino'
import type postgres from 'postgres'
import type { Config } from '../../config.ts'
import { Unavailable } from '../../core/problem.ts'
import type { Database } from '../../database/database.ts'
import { listen, signal } from '../../database/listen.ts'
import { FOR_SERVICES } from '../../services/addresses.ts'
import { clientReason, failureKind, openAgent } from '../../services/transport.ts'
import { fetchKeySet, type KeySet, KeysNotFound } from './key-sets.ts'

/** How its tokens are judged. Another object as soon as anything of it, or of its keys, changed. */
export type Issuer = {
  id: number
  issuer: string
  discoveryUrl: string
  jwksUrl: string
  audiences: string[]
  algorithms: string[]
  clientClaims: string[]
  userClaims: string[]
  userNameClaims: string[]
  organisationClaim: string
  maxLifetimeSeconds: number
  leewaySeconds: number
  requiredScopes: string[]
  requiresCertificate: boolean
  /** Finds the key of a token. Undefined: none are known. */
  keys: JWTVerifyGetKey | undefined
}

export type IssuerStore = {
  /** The issuer with this claim `iss`; undefined: no such one. */
  find(iss: string): Promise<Issuer | undefined>
  /**
   * The same issuer with the keys of now, after a token named one that is not known. At most once in 30 seconds it is asked.
   * @throws Unavailable when no key is known, and it does not answer
   */
  withNewKeys(issuer: Issuer): Promise<Issuer | undefined>
  close(): Promise<void>
}

type Source = Pick<Issuer, 'id' | 'issuer' | 'discoveryUrl' | 'jwksUrl'>
/** An issuer that got another address is asked at once. */
const keyOf = ({ id, issuer, discoveryUrl, jwksUrl }: Source) => [id, issuer, discoveryUrl, jwksUrl].join(' ')

const BETWEEN_S = 30
const RETRY_S = 60
const LOOK_MS = 15_000
const WAIT_MS = 12_000 // for the discovery document and the keys, and a little more
const FORGET_MS = 30_000

type Row = Omit<Issuer, 'keys'> & { keySet: KeySet | null; left: number | null; isDue: boolean }
type Known = { text: string; issuer: Issuer; until: number }

export async function openIssuerStore(database: Database, config: Config, log: Logger): Promise<IssuerStore> {
  const agent = openAgent({ policy: FOR_SERVICES, connections: 2, proxies: config.proxies })
  let loaded: { all: Promise<Map<string, Known>>; until: number } | undefined
  let before = new Map<string, Known>()
  let news = Promise.withResolvers<void>()
  const asking = new Map<string, Promise<void>>()
  const quietUntil = new Map<string, number>()
  const closed = new AbortController()

  const forget = () => {
    loaded = undefined
    news.resolve()
    news = Promise.withResolvers()
  }

  async function load(): Promise<Map<string, Known>> {
    const rows: Row[] = await database.sql<Row[]>`
      select i.id, i.issuer, i.discovery_url as "discoveryUrl", i.jwks_url as "jwksUrl", i.audiences, i.algorithms,
        i.client_claims as "clientClaims", i.user_claims as "userClaims", i.user_name_claims as "userNameClaims",
        i.organisation_claim as "organisationClaim", i.max_lifetime_seconds as "maxLifetimeSeconds",
        i.leeway_seconds as "leewaySeconds", i.required_scopes as "requiredScopes",
        i.requires_certificate as "requiresCertificate", coalesce(i.fixed_keys, k.keys) as "keySet",
        case when i.fixed_keys is null then (extract(epoch from k.fetched_at - now()) + ${config.tokenKeysKeptHours * 3600})::float8 end as left,
        i.fixed_keys is null and coalesce(k.refresh_at <= now(), true) as "isDue"
      from token_issuer i left join token_issuer_keys k on k.issuer_id = i.id`
    const known = new Map(rows.map((row) => [row.issuer, remembered(row)]))
    before = known
    return known
  }

  /** The same object while nothing of it changed: tokens that were found good by it stay so. */
  function remembered({ left, isDue, ...row }: Row): Known {
    if (isDue) void refresh(row)
    const text = JSON.stringify(row)
    const until = left === null ? Number.POSITIVE_INFINITY : performance.now() + left * 1000
    const same = before.get(row.issuer)
    if (same?.text === text) return { ...same, until }
    const { keySet, ...judged } = row
    return { text, issuer: { ...judged, keys: keySet ? createLocalJWKSet(keySet as never) : undefined }, until }
  }

  async function find(iss: string): Promise<Issuer | undefined> {
    if (!loaded || loaded.until <= performance.now()) {
      const all = load()
      const entry = { all, until: performance.now() + FORGET_MS }
      all.catch(() => loaded === entry && forget())
      loaded = entry
    }
    const known = (await loaded.all).get(iss)
    if (!known) return undefined
    return known.until > performance.now() ? known.issuer : { ...known.issuer, keys: undefined }
  }

  /** Fetches keys, or waits for whoever does. Who comes meanwhile, and shortly after, changes nothing. */
  function refresh(source: Source): Promise<void> {
    const key = keyOf(source)
    const running = asking.get(key)
    if (running) return running
    if ((quietUntil.get(key) ?? 0) > performance.now()) return Promise.resolve()
    const work = ask(source)
      .catch((error) => log.warn({ code: (error as { code?: string }).code }, 'keys of an issuer could not be kept'))
      .finally(() => asking.delete(key))
    asking.set(key, work)
    return work
  }

  async function ask(source: Source): Promise<void> {
    const { id } = source
    const told = news.promise
    const claimed = await database.sql`
      insert into token_issuer_keys as k (issuer_id, asked_at)
      select id, clock_timestamp() from token_issuer where id = ${id} and fixed_keys is null
      on conflict (issuer_id) do update set asked_at = excluded.asked_at
      where k.asked_at is null or k.asked_at <= excluded.asked_at - make_interval(secs => ${BETWEEN_S})`
    if (claimed.count === 0) return waitForOther(source, told)
    quietUntil.set(keyOf(source), performance.now() + BETWEEN_S * 1000)
    try {
      const { keySet, seconds } = await fetchKeySet(agent, source)
      await answered(
        (sql) => sql`
        update token_issuer_keys set keys = ${JSON.stringify(keySet)}::text::jsonb, fetched_at = clock_timestamp(),
          refresh_at = clock_timestamp() + make_interval(secs => ${seconds}), answered_at = clock_timestamp(), failure = ''
        where issuer_id = ${id}`,
      )
    } catch (error) {
      const reason = error instanceof KeysNotFound ? error.message : clientReason(failureKind(error))
      log.warn({ issuer: source.issuer, reason }, 'the keys of an issuer could not be fetched')
      await answered(
        (sql) => sql`
        update token_issuer_keys set refresh_at = clock_timestamp() + make_interval(secs => ${RETRY_S}),
          answered_at = clock_timestamp(), failure = ${reason} where issuer_id = ${id}`,
      )
    }
    forget() // the announcement comes too, but after whoever waits for these keys
  }

  /** Writes what an issuer answered, for which others wait. */
  const answered = (write: (sql: postgres.Sql) => Promise<unknown>) =>
    database.sql.begin(async (sql) => {
      await write(sql as unknown as postgres.Sql)
      await signal(sql, 'zaakstroom_token_issuers')
    })

  async function waitForOther(source: Source, told: Promise<void>): Promise<void> {
    const { id } = source
    const [row] = await database.sql<{ left: number; isAsking: boolean }[]>`
      select (extract(epoch from asked_at - clock_timestamp()) + ${BETWEEN_S})::float8 as left,
        coalesce(answered_at < asked_at, true) and asked_at > clock_timestamp() - make_interval(secs => ${WAIT_MS / 1000})
          as "isAsking"
      from token_issuer_keys where issuer_id = ${id}`
    if (!row) return
    quietUntil.set(keyOf(source), performance.now() + row.left * 1000)
    if (!row.isAsking) return
    const over = Promise.withResolvers<void>()
    const timer = setTimeout(over.resolve, WAIT_MS)
    await Promise.race([told, over.promise])
    clearTimeout(timer)
  }

  // What is due is seen when issuers are read, which nobody may do for a while.
  const looking = setInterval(() => void find('').catch(() => {}), LOOK_MS)
  looking.unref()
  const listener = await listen(
    database.url,
    'zaakstroom_token_issuers',
    () => {
      forget()
      if (!closed.signal.aborted) void find('').catch(() => {})
    },
    log,
  )
  return {
    find,
    async withNewKeys(issuer) {
      await refresh(issuer)
      const now = await find(issuer.issuer)
      if (now && !now.keys) throw new Unavailable(`no key of ${issuer.issuer} is known`)
      return now
    },
    close: async () => {
      closed.abort()
      clearInterval(looking)
      await listener.close()
      await Promise.all(asking.values())
      await agent.destroy()
    },
  }
}
