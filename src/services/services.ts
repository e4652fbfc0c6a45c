// Services: the other services that this one may call, and our credentials for them. Nothing else is ever called.
import { createSigner } from 'fast-jwt'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { Problem } from '../core/problem.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Database } from '../database/database.ts'
import { expected } from '../database/rows.ts'
import { parseForeignJson } from '../lib/foreign-json.ts'
import { currentRequest } from '../telemetry/current-request.ts'
import { FOR_SERVICES } from './addresses.ts'
import { openAgents, openTokens, type TokenRequest } from './credentials.ts'
import { askOther } from './questions.ts'
import { openRequestLog, type RequestLog } from './request-log.ts'
import {
  type Call,
  type CallAnswer,
  clientReason,
  type FailureKind,
  failureCode,
  failureKind,
  type Proxies,
  sendWithin,
  type Tls,
} from './transport.ts'

export type RemoteService = {
  uuid: string
  apiRoot: string
  authenticatie: string
  clientId: string
  header: string
  sealedSecret: Buffer | null
  gebruikersId: string
  gebruikersWeergave: string
  timeoutMs: number
  tokenUrl: string
  tokenScope: string
  certificaat: string
  certificateKey: Buffer | null
  ca: string
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
  /** One call to this service, which need not be registered (yet). @throws what `failureKind` understands */
  send: Caller['send']
  close(): Promise<void>
}

/** Asks for each of these in turn, a few at once: whoever names many does not take all connections. */
export async function askEach<T, R>(given: readonly T[], ask: (one: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = []
  const rest = given.entries() // all take from the same
  const take = async () => {
    for (const [index, one] of rest) answers[index] = await ask(one)
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
/** Answers are kept as their bytes: as values they may take fifty times as much. What is over goes by itself. */
const KEEP = { max: 1000, maxSize: 32 * 1024 * 1024, ttl: 60_000, ttlAutopurge: true }

/** Opens the way out to the services in table `dienst`, and to the selectielijst. */
export function openServices(database: Database, box: SecretBox, config: Config, log: Logger): Services {
  const lines = openRequestLog(database, config, log)
  const caller = logged(openCaller(box, 10, config.proxies), lines)
  const cache = new LRUCache<string, Buffer>({ ...KEEP, sizeCalculation: ({ length }) => length + 1 })
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
      if (kept) return { kind: 'ok', body: parseJson(kept) }
      try {
        const answer = await askOther(() => caller.send(dienst, { url, method: 'GET', limit: MAX_ANSWER }))
        if (answer.status !== 200) return { kind: 'failed', reason: `het antwoord was ${answer.status}` }
        if (answer.truncated) return { kind: 'failed', reason: 'het antwoord is te groot' }
        const body = parseJson(answer.body)
        cache.set(key, answer.body)
        return { kind: 'ok', body }
      } catch (error) {
        if (error instanceof Problem) throw error
        const kind = failureKind(error)
        log.info(
          { dienst: dienst.uuid, kind, code: failureCode(error), reason: (error as Error).message },
          'a service did not answer',
        )
        return { kind: 'failed', reason: clientReason(kind) }
      }
    },
    async call(method, text, body) {
      const found = await find(text)
      if (!found) return { kind: 'unregistered' }
      const { url, dienst } = found
      cache.delete(`${dienst.uuid} ${url.href}`)
      try {
        const content = body === undefined ? {} : { body: JSON.stringify(body) }
        const send = () => caller.send(dienst, { url, method, limit: MAX_ANSWER, ...content })
        const answer = await (currentRequest.getStore()?.away(send) ?? send())
        return { kind: 'answered', status: answer.status, body: answer.truncated ? undefined : parseJson(answer.body) }
      } catch (error) {
        const kind = failureKind(error)
        log.info(
          { dienst: dienst.uuid, kind, code: failureCode(error), reason: (error as Error).message },
          'a service did not answer',
        )
        return { kind: 'failed', reason: clientReason(kind), unknown: !NOT_SENT.includes(kind) }
      }
    },
    send: caller.send,
    close: async () => {
      await caller.close()
      await lines.flush()
    },
  }
}

/** The same, with a line in the log for each call. */
function logged(caller: Caller, lines: RequestLog): Caller {
  return {
    async send(dienst, call) {
      const began = performance.now()
      const write = (status: number | null, outcome: string) => {
        const ms = Math.round(performance.now() - began)
        lines.write({ began, service: dienst.apiRoot, method: call.method, url: call.url, status, outcome, ms })
      }
      try {
        const answer = await caller.send(dienst, call)
        write(answer.status, 'answered')
        return answer
      } catch (error) {
        write(null, failureKind(error))
        throw error
      }
    },
    close: () => caller.close(),
  }
}

/** Failures before anything was asked. */
const NOT_SENT: readonly FailureKind[] = ['refused', 'dns', 'blocked', 'token', 'elsewhere']

function parseJson(body: Buffer): unknown {
  try {
    return parseForeignJson(body)
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
  const rows = await database.db.selectFrom('service').select(SERVICE_COLUMNS).execute()
  return config.selectielijstApiRoot ? [...rows, selectielijst(config.selectielijstApiRoot)] : rows
}

export const SERVICE_COLUMNS = [
  'uuid',
  'apiRoot',
  'authenticatie',
  'clientId',
  'header',
  'sealedSecret',
  'gebruikersId',
  'gebruikersWeergave',
  'timeoutMs',
  'tokenUrl',
  'tokenScope',
  'certificaat',
  'certificateKey',
  'ca',
] as const

function selectielijst(apiRoot: string): RemoteService {
  const nothing = {
    clientId: '',
    header: '',
    sealedSecret: null,
    gebruikersId: '',
    gebruikersWeergave: '',
    tokenUrl: '',
    tokenScope: '',
    certificaat: '',
    certificateKey: null,
    ca: '',
  }
  return { uuid: 'selectielijst', apiRoot, authenticatie: 'geen', timeoutMs: 10_000, ...nothing }
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

// ---- calling ----

export type Caller = {
  /**
   * Calls a service with our credentials for it. Its term covers everything, from asking a token and connecting to the last
   * byte; of the answer no more than `limit` bytes are read, as they come (nothing is decompressed); redirects are not
   * followed.
   * @throws what `failureKind` understands, when no answer comes
   */
  send(dienst: RemoteService, call: Call): Promise<CallAnswer>
  close(): Promise<void>
}

/** Opens the connections to services. @param connections at most, to one origin */
export function openCaller(box: SecretBox, connections: number, proxies: Proxies): Caller {
  const agents = openAgents(FOR_SERVICES, connections, proxies)
  const tokens = openTokens()
  const signers: Signers = new LRUCache({ max: 100 })
  return {
    async send(dienst, call) {
      const until = performance.now() + dienst.timeoutMs
      const agent = agents.agentFor(dienst.uuid, call.url.origin, tlsOf(dienst, box))
      const request = dienst.authenticatie === 'oauth2' ? tokenRequest(dienst, box) : undefined
      const credentials = async () => {
        if (!request) return credentialHeaders(dienst, box, signers)
        const at = agents.agentFor(dienst.uuid, new URL(request.tokenUrl).origin, tlsOf(dienst, box))
        return { authorization: `Bearer ${await tokens.get(at, request)}` }
      }
      const attempt = async () => {
        const known = { ...call, credentials: await credentials() }
        return sendWithin(Math.max(1, until - performance.now()), agent, known)
      }
      const answer = await attempt()
      if (!request || answer.status !== 401) return answer
      // The token was withdrawn before its time. What only reads is asked once more with a new one.
      tokens.forget(request)
      return call.method === 'GET' ? attempt() : answer
    },
    close: () => agents.close(),
  }
}

const tlsOf = ({ uuid, certificaat, certificateKey, ca }: RemoteService, box: SecretBox): Tls => ({
  ...(certificateKey && { cert: certificaat, key: box.open(certificateKey, serviceOwner(uuid)) }),
  ...(ca && { ca }),
})

function tokenRequest(dienst: RemoteService, box: SecretBox): TokenRequest {
  const { uuid, tokenUrl, clientId, tokenScope: scope, timeoutMs, sealedSecret } = dienst
  return {
    owner: uuid,
    tokenUrl,
    clientId,
    scope,
    timeoutMs,
    secret: box.openFor(expected(sealedSecret), serviceOwner(uuid), serviceServers(dienst)),
  }
}

/** How long a token that we make for another service counts. */
export const TOKEN_LIFE_MS = 3_600_000

function credentialHeaders(dienst: RemoteService, box: SecretBox, signers: Signers): Record<string, string> {
  if (dienst.authenticatie === 'geen' || !dienst.sealedSecret) return {}
  if (dienst.authenticatie === 'api_key')
    return { [dienst.header]: box.openFor(dienst.sealedSecret, serviceOwner(dienst.uuid), serviceServers(dienst)) }
  const { clientId, gebruikersId, gebruikersWeergave } = dienst
  const claims = { iss: clientId, client_id: clientId, user_id: gebruikersId, user_representation: gebruikersWeergave }
  return { authorization: `Bearer ${signerFor(signers, dienst, dienst.sealedSecret, box)(claims)}` }
}

type Signers = LRUCache<string, (claims: object) => string>

// Every call has a token of its own; to open the secret for each as well would take longer than signing.
function signerFor(
  signers: Signers,
  dienst: RemoteService,
  sealedSecret: Buffer,
  box: SecretBox,
): (claims: object) => string {
  const servers = serviceServers(dienst)
  const key = `${dienst.uuid} ${servers.join(' ')} ${sealedSecret.toString('base64')}`
  let sign = signers.get(key)
  if (!sign) {
    const secret = box.openFor(sealedSecret, serviceOwner(dienst.uuid), servers)
    sign = createSigner({ key: secret, algorithm: 'HS256', expiresIn: TOKEN_LIFE_MS })
    signers.set(key, sign)
  }
  return sign
}

/** What the secret of a service is bound to when it is encrypted. */
export const serviceOwner = (uuid: string): string => `dienst ${uuid}`
/** The servers that get its secret, or a token that is had with it. */
export const serviceServers = ({ apiRoot, tokenUrl }: { apiRoot: string; tokenUrl: string }): string[] => [
  apiRoot,
  tokenUrl,
]
