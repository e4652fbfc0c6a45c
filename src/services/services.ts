// diensten: the other services that this one may call, and our credentials for them. Nothing else is ever called.
import { randomUUID } from 'node:crypto'
import { type LookupAddress, lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { createSigner } from 'fast-jwt'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import Type, { type Static } from 'typebox'
import { Agent, type Dispatcher, request } from 'undici'
import type { SecretBox } from '../autorisaties/secret-box.ts'
import type { Config } from '../config.ts'
import type { Database } from '../database/database.ts'
import type { Mutation } from '../database/mutate.ts'
import { invalid } from '../http/problem.ts'

export const SOORTEN = ['nrc', 'zrc', 'ztc', 'drc', 'brc', 'ac', 'orc'] as const
export type RemoteService = {
  uuid: string
  apiRoot: string
  authenticatie: string
  clientId: string
  header: string
  geheim: Buffer | null
  gebruikersId: string
  gebruikersWeergave: string
  termijnMs: number
}

export type Fetched =
  /** Answered 200. `body` is undefined when the answer is not JSON. */
  | { kind: 'ok'; body: unknown }
  /** No service is registered at that address: nothing was asked. */
  | { kind: 'unregistered' }
  | { kind: 'failed'; reason: string }

export type Services = {
  /**
   * What is at a URL of a registered service, asked with our credentials for it. The answer of up to a minute ago counts,
   * unless `fresh`.
   */
  fetchJson(url: string, options?: { fresh?: boolean }): Promise<Fetched>
  /** Has a registered service make or remove something. Never tried twice here: it may have arrived without our knowing. */
  call(method: 'POST' | 'DELETE', url: string, body?: unknown): Promise<Called>
  close(): Promise<void>
}

/** Asks for each of these in turn, a few at once: whoever names many does not take all connections. */
export async function askEach<T, R>(given: readonly T[], ask: (one: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = []
  let next = 0
  const take = async () => {
    while (next < given.length) {
      const index = next++
      answers[index] = await ask(given[index]!)
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, given.length) }, take))
  return answers
}
const AT_ONCE = 5

export type Called =
  /** Answered, with whatever status. `body` is undefined when the answer is not JSON. */
  | { kind: 'answered'; status: number; body: unknown }
  | { kind: 'unregistered' }
  /** `unknown`: the service may have done it all the same. */
  | { kind: 'failed'; reason: string; unknown: boolean }

const MAX_ANSWER = 2 * 1024 * 1024
const KEEP = { max: 1000, maxSize: 32 * 1024 * 1024, ttl: 60_000 }

/** Opens the way out to the services in table `dienst`, and to the selectielijst. */
export function openServices(database: Database, box: SecretBox, config: Config, log: Logger): Services {
  const agent = openAgent({ connections: 10 })
  const cache = new LRUCache<string, { body: unknown; size: number }>({ ...KEEP, sizeCalculation: ({ size }) => size })
  // Looked up every time: a service that was removed a moment ago is not called any more, nor is what it said used.
  async function find(text: string) {
    const url = outgoingUrl(text)
    const dienst = url && findService(url, await registered(database, config))
    return dienst && { url, dienst }
  }
  return {
    async fetchJson(text, { fresh = false } = {}) {
      const found = await find(text)
      if (!found) return { kind: 'unregistered' }
      const { url, dienst } = found
      const key = `${dienst.uuid} ${url.href}`
      const kept = fresh ? undefined : cache.get(key)
      if (kept) return { kind: 'ok', body: kept.body }
      try {
        const answer = await send(agent, dienst, box, { url, method: 'GET', limit: MAX_ANSWER })
        if (answer.status !== 200) return { kind: 'failed', reason: `het antwoord was ${answer.status}` }
        if (answer.truncated) return { kind: 'failed', reason: 'het antwoord is te groot' }
        const body = parseJson(answer.body)
        cache.set(key, { body, size: answer.body.length + 1 })
        return { kind: 'ok', body }
      } catch (error) {
        const kind = failureKind(error)
        log.info({ dienst: dienst.uuid, kind, reason: (error as Error).message }, 'a service did not answer')
        return { kind: 'failed', reason: FAILURES[kind] }
      }
    },
    async call(method, text, body) {
      const found = await find(text)
      if (!found) return { kind: 'unregistered' }
      const { url, dienst } = found
      cache.delete(`${dienst.uuid} ${url.href}`)
      try {
        const content = body === undefined ? {} : { body: JSON.stringify(body) }
        const answer = await send(agent, dienst, box, { url, method, limit: MAX_ANSWER, ...content })
        return { kind: 'answered', status: answer.status, body: answer.truncated ? undefined : parseJson(answer.body) }
      } catch (error) {
        const kind = failureKind(error)
        log.info({ dienst: dienst.uuid, kind, reason: (error as Error).message }, 'a service did not answer')
        return { kind: 'failed', reason: FAILURES[kind], unknown: !NOT_SENT.includes(kind) }
      }
    },
    close: () => agent.destroy(),
  }
}

/** Failures before anything was asked. */
const NOT_SENT: readonly FailureKind[] = ['refused', 'dns', 'blocked']

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

/**
 * The URL when it is one that may be called at all: http or https, without credentials in it, and with a path that every
 * server reads as we do. One that decodes first and resolves `..` later would be led outside the root that we compared with.
 */
export function outgoingUrl(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined
  const [path = ''] = text.replace(/^[^:]*:[\\/]*[^\\/?#]*/, '').split(/[?#]/, 1)
  if (/%(25)*(2f|5c)/i.test(path) || path.split(/[\\/]/).some(isDotSegment)) return undefined
  const url = new URL(text)
  const plain = (url.protocol === 'https:' || url.protocol === 'http:') && url.username === '' && url.password === ''
  url.hash = ''
  return plain ? url : undefined
}

/** `.` and `..`, also encoded, once more, or with parameters behind them. */
function isDotSegment(segment: string): boolean {
  return /^\.{1,2}(;.*)?$/s.test(
    segment
      .replace(/[\t\r\n]/g, '')
      .replace(/%(25)*2e/gi, '.')
      .replace(/%(25)*3b/gi, ';'),
  )
}

async function registered(database: Database, config: Config): Promise<RemoteService[]> {
  const rows = await database.db.selectFrom('dienst').select(SERVICE_COLUMNS).execute()
  return config.selectielijstApiRoot ? [...rows, selectielijst(config.selectielijstApiRoot)] : rows
}

export const SERVICE_COLUMNS = [
  'uuid',
  'apiRoot',
  'authenticatie',
  'clientId',
  'header',
  'geheim',
  'gebruikersId',
  'gebruikersWeergave',
  'termijnMs',
] as const

function selectielijst(apiRoot: string): RemoteService {
  const nothing = { clientId: '', header: '', geheim: null, gebruikersId: '', gebruikersWeergave: '' }
  return { uuid: 'selectielijst', apiRoot, authenticatie: 'geen', termijnMs: 10_000, ...nothing }
}

/** Whether a URL lies below a root, both as they are called. */
export function isBelow(url: URL, apiRoot: string): boolean {
  const root = outgoingUrl(apiRoot)
  return root !== undefined && root.origin === url.origin && url.pathname.startsWith(root.pathname)
}

/** The service that a URL belongs to: the one with the longest root that it lies below. */
function findService(url: URL, services: RemoteService[]): RemoteService | undefined {
  return services.filter(({ apiRoot }) => isBelow(url, apiRoot)).sort((a, b) => b.apiRoot.length - a.apiRoot.length)[0]
}

// ---- registering ----

/** A service as an administrator writes it down. Without `secret` the one that is known stays. */
export const RemoteServiceInput = Type.Object({
  label: Type.String({ minLength: 1, maxLength: 100 }),
  slug: Type.String({ pattern: '^[-a-zA-Z0-9_]{1,100}$' }),
  soort: Type.Enum(SOORTEN),
  /** A slash is added to the end when it misses. */
  apiRoot: Type.String({ pattern: '^https?://[^/?#@]+(/[^?#]*)?$', maxLength: 1000 }),
  authenticatie: Type.Enum(['geen', 'zgw', 'api_key']),
  clientId: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  header: Type.Optional(Type.String({ pattern: "^[-!#$%&'*+.^_`|~0-9A-Za-z]{1,100}$" })),
  secret: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
  gebruikersId: Type.Optional(Type.String({ maxLength: 255 })),
  gebruikersWeergave: Type.Optional(Type.String({ maxLength: 255 })),
  termijnMs: Type.Optional(Type.Integer({ minimum: 100, maximum: 300_000 })),
})
export type RemoteServiceInput = Static<typeof RemoteServiceInput>

/**
 * Registers a service, or changes the one with this slug. What is absent becomes what it is by default.
 * @returns whether anything changed
 */
export async function saveService(m: Mutation, box: SecretBox, input: RemoteServiceInput): Promise<boolean> {
  m.unrecorded('services are no resource of the standard')
  const known = await m.trx
    .selectFrom('dienst')
    .where('slug', '=', input.slug)
    .selectAll()
    .forUpdate()
    .executeTakeFirst()
  const uuid = known?.uuid ?? randomUUID()
  const owner = serviceOwner(uuid)
  const { authenticatie } = input
  if (!outgoingUrl(input.apiRoot))
    throw invalid('apiRoot', 'invalid', 'De API-root mag geen .. en geen gecodeerde scheidingstekens bevatten.')
  const values = {
    label: input.label,
    slug: input.slug,
    soort: input.soort,
    apiRoot: input.apiRoot.endsWith('/') ? input.apiRoot : `${input.apiRoot}/`,
    authenticatie,
    clientId: authenticatie === 'zgw' ? (input.clientId ?? '') : '',
    header: authenticatie === 'api_key' ? (input.header ?? '') : '',
    gebruikersId: input.gebruikersId ?? '',
    gebruikersWeergave: input.gebruikersWeergave ?? '',
    termijnMs: input.termijnMs ?? 10_000,
  }
  const knownSecret = known?.geheim ? box.open(known.geheim, owner) : undefined
  const secret = authenticatie === 'geen' ? undefined : (input.secret ?? knownSecret)
  if (authenticatie === 'zgw' && !input.clientId) throw invalid('clientId', 'required', 'Dit veld is verplicht.')
  if (authenticatie === 'api_key' && !input.header) throw invalid('header', 'required', 'Dit veld is verplicht.')
  if (authenticatie !== 'geen' && !secret) throw invalid('secret', 'required', 'Dit veld is verplicht.')
  const isSame = known && Object.entries(values).every(([name, value]) => known[name as keyof typeof known] === value)
  if (isSame && secret === knownSecret) return false
  const geheim = secret === undefined ? null : secret === knownSecret ? known!.geheim : box.seal(secret, owner)
  await m.trx
    .insertInto('dienst')
    .values({ uuid, ...values, geheim })
    .onConflict((conflict) => conflict.column('slug').doUpdateSet({ ...values, geheim }))
    .execute()
  return true
}

// ---- calling ----

export type Call = {
  url: URL
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  body?: string
  headers?: Record<string, string>
  limit: number
}
export type CallAnswer = { status: number; body: Buffer; truncated: boolean; headers: Record<string, unknown> }

/**
 * Calls a service with our credentials for it. Its term covers everything, from connecting to the last byte; of the
 * answer no more than `limit` bytes are read, as they come (nothing is decompressed); redirects are not followed.
 * @throws what `failureKind` understands, when no answer comes
 */
export async function send(agent: Dispatcher, dienst: RemoteService, box: SecretBox, call: Call): Promise<CallAnswer> {
  return sendWithin(dienst.termijnMs, agent, {
    ...call,
    headers: { ...credentialHeaders(dienst, box), ...call.headers },
  })
}

/**
 * The same to an address that is no service of ours, with what credentials the headers have.
 * @param ms milliseconds for everything, from connecting to the last byte
 */
export async function sendWithin(ms: number, agent: Dispatcher, call: Call): Promise<CallAnswer> {
  const host = call.url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) && isForbidden(host)) throw blocked()
  // Not AbortSignal.timeout: that one lives on, with its timer, long after the answer came.
  const term = new AbortController()
  const expired = () => term.abort(new DOMException('no answer within the term', 'TimeoutError'))
  const timer = setTimeout(expired, ms)
  try {
    return await sendUntil(term.signal, agent, call)
  } finally {
    clearTimeout(timer)
  }
}

async function sendUntil(signal: AbortSignal, agent: Dispatcher, call: Call): Promise<CallAnswer> {
  const { statusCode, headers, body } = await request(call.url, {
    dispatcher: agent,
    method: call.method,
    signal,
    headers: {
      accept: 'application/json',
      ...(call.body !== undefined && { 'content-type': 'application/json' }),
      ...call.headers,
    },
    ...(call.body !== undefined && { body: call.body }),
  })
  const chunks: Buffer[] = []
  let size = 0
  body.on('error', () => {}) // also one that comes after we stopped listening
  for await (const chunk of body) {
    chunks.push(chunk.subarray(0, call.limit - size))
    size += chunk.length
    if (size > call.limit) break // which closes the connection
  }
  return { status: statusCode, headers, body: Buffer.concat(chunks), truncated: size > call.limit }
}

const TOKEN_LIFE_MS = 3_600_000

function credentialHeaders(dienst: RemoteService, box: SecretBox): Record<string, string> {
  if (dienst.authenticatie === 'geen' || !dienst.geheim) return {}
  if (dienst.authenticatie === 'api_key') return { [dienst.header]: box.open(dienst.geheim, serviceOwner(dienst.uuid)) }
  const { clientId, gebruikersId, gebruikersWeergave } = dienst
  const claims = { iss: clientId, client_id: clientId, user_id: gebruikersId, user_representation: gebruikersWeergave }
  return { authorization: `Bearer ${signerFor(dienst.uuid, dienst.geheim, box)(claims)}` }
}

const signers = new LRUCache<string, (claims: object) => string>({ max: 100 })

// Every call has a token of its own; to open the secret for each as well would take longer than signing.
function signerFor(uuid: string, geheim: Buffer, box: SecretBox): (claims: object) => string {
  const key = `${uuid} ${geheim.toString('base64')}`
  let sign = signers.get(key)
  if (!sign) {
    const secret = box.open(geheim, serviceOwner(uuid))
    sign = createSigner({ key: secret, algorithm: 'HS256', expiresIn: TOKEN_LIFE_MS })
    signers.set(key, sign)
  }
  return sign
}

/** What the secret of a service is bound to when it is encrypted. */
export const serviceOwner = (uuid: string): string => `dienst ${uuid}`

/** Connections that are kept a short while for the next call, to addresses that may be called. */
export function openAgent(options: { connections: number }): Agent {
  return new Agent({
    connections: options.connections,
    pipelining: 1,
    // Short, so that we do not write on a connection that the other side is just closing.
    keepAliveTimeout: 1_000,
    keepAliveMaxTimeout: 1_000,
    headersTimeout: 0, // the term of the service covers it
    bodyTimeout: 0,
    connect: { lookup: lookupAllowed, timeout: 300_000 },
  })
}

// The address that was judged is the one that is connected to: there is no second resolving in between.
export const lookupAllowed: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error) return callback(error, '', 0)
    const allowed = addresses.filter(({ address }) => !isForbidden(address))
    const [first] = allowed
    if (!first) callback(blocked(), '', 0)
    else if (options.all) callback(null, allowed)
    else callback(null, first.address, first.family)
  })
}

/** The first address at which a host is called. @throws what `failureKind` understands, also when it may not be called */
export async function allowedAddress(host: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  lookupAllowed(host, {}, (error, address) => (error ? reject(error) : resolve(address as string)))
  return promise
}

/*
 * Every host that is called was registered by an administrator, and in a private network it has a private address. What no
 * service has is an address at which a machine talks to its own host or hypervisor (link-local, cloud metadata), or one
 * that is no address of a single machine.
 */
const forbidden = new BlockList()
forbidden.addSubnet('0.0.0.0', 8)
forbidden.addSubnet('169.254.0.0', 16)
forbidden.addAddress('100.100.100.200')
forbidden.addSubnet('192.0.0.0', 24)
forbidden.addSubnet('224.0.0.0', 3)
forbidden.addAddress('::', 'ipv6')
forbidden.addSubnet('fe80::', 10, 'ipv6')
forbidden.addSubnet('ff00::', 8, 'ipv6')
forbidden.addAddress('fd00:ec2::254', 'ipv6')
forbidden.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6') // the same through NAT64 and 6to4
forbidden.addSubnet('64:ff9b:1::', 48, 'ipv6')
forbidden.addSubnet('2002:a9fe::', 32, 'ipv6')

function isForbidden(address: string): boolean {
  return forbidden.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

function blocked(): Error {
  return Object.assign(new Error('this address may not be called'), { code: 'BLOCKED_ADDRESS' })
}

// ---- failing ----

/** Why no answer came, in the words of the administrator. */
export const FAILURES = {
  refused: 'de verbinding werd geweigerd',
  dns: 'de hostnaam is niet te vinden',
  tls: 'de beveiligde verbinding (TLS) kwam niet tot stand',
  timeout: 'het antwoord kwam niet op tijd',
  connection: 'de verbinding werd verbroken',
  protocol: 'het antwoord was geen geldige HTTP',
  blocked: 'dit adres mag niet worden aangeroepen',
  unknown: 'de aanroep mislukte',
} as const
export type FailureKind = keyof typeof FAILURES

const CODES: Record<string, FailureKind> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  EAI_NODATA: 'dns',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_SOCKET: 'connection',
  ECONNRESET: 'connection',
  EPIPE: 'connection',
  EHOSTUNREACH: 'connection',
  ENETUNREACH: 'connection',
  ENETDOWN: 'connection',
  EPROTO: 'tls',
  HOSTNAME_MISMATCH: 'tls',
  UND_ERR_HEADERS_OVERFLOW: 'protocol',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'protocol',
  BLOCKED_ADDRESS: 'blocked',
}

/** What kind of failure of a call an error is. */
export function failureKind(error: unknown): FailureKind {
  const { name, code, cause, errors } = (error ?? {}) as {
    name?: string
    code?: unknown
    cause?: unknown
    errors?: unknown[]
  }
  if (name === 'TimeoutError') return 'timeout'
  if (name === 'HTTPParserError') return 'protocol' // not always with a code
  if (typeof code === 'string') {
    if (CODES[code]) return CODES[code]
    if (/^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|CRL_|INVALID_CA)/.test(code)) return 'tls'
  }
  const inner = cause ?? errors?.[0]
  return inner ? failureKind(inner) : 'unknown'
}
