// The way out: calls over HTTP with a bound on time and bytes, to addresses that addresses.ts allows.
import type { buildConnector, Dispatcher } from 'undici'
import { tracedBelow } from '../telemetry/tracing.ts'
import { type AddressPolicy, blocked } from './addresses.ts'
import { secretsOf, withoutSecrets } from './masking.ts'
import { withoutContinue } from './unasked-continue.ts'

/** What connections show and trust. PEM; left out: no certificate, the usual authorities. */
export type Tls = { cert?: string; key?: string; ca?: string }

/** Where calls to others go through: a proxy for http and one for https, and hosts that are called without, with commas. */
export type Proxies = { http?: string; https?: string; except: string }

export const usesProxy = ({ http, https }: Proxies): boolean => Boolean(http || https)

export type Call = {
  url: URL
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  body?: string
  headers?: Record<string, string>
  /** The headers that say who we are. */
  credentials?: Record<string, string>
  limit: number
  /** A status of success is the whole answer: what comes after it, or does not, changes nothing. */
  statusSuffices?: boolean
}
export type CallAnswer = {
  status: number
  body: Buffer
  /** The body to be kept or shown to people: without the credentials that were sent, which a server may give back. */
  shown(): Buffer
  truncated: boolean
  headers: Record<string, unknown>
}

const REST_MS = 1_000 // for the body of an answer whose status is enough

/**
 * Calls any address that may be called.
 * @param ms milliseconds for everything, from connecting to the last byte
 */
export function sendWithin(ms: number, agent: Agent, call: Call): Promise<CallAnswer> {
  const { url, method } = call
  const attributes = { 'http.request.method': method, 'server.address': url.host }
  return tracedBelow(
    `call ${method}`,
    'CLIENT',
    attributes,
    () => send(ms, agent, call),
    ({ status }) => ({
      'http.response.status_code': status,
    }),
  )
}

async function send(ms: number, agent: Agent, call: Call): Promise<CallAnswer> {
  const { url, method, body, limit } = call
  if (agent.policy.refuses(url)) throw blocked()
  const dispatcher = await agent.dispatcher() // loading it, once, is no part of the term
  const answer = Promise.withResolvers<CallAnswer>()
  let request: Dispatcher.DispatchController | undefined
  let isOver = false
  let isEnough = false
  let rest: NodeJS.Timeout | undefined
  const timer = setTimeout(() => fail(new DOMException('no answer within the term', 'TimeoutError')), ms)
  const headers = {
    accept: 'application/json',
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...call.headers,
    ...call.credentials,
  }
  let status = 0
  let received: Record<string, unknown> = {}
  const chunks: Buffer[] = []
  let size = 0
  try {
    // With a handler of our own: the stream that undici makes of an answer costs as much as the rest of the call.
    dispatcher.dispatch(
      {
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method,
        headers,
        ...(body !== undefined && { body }),
      },
      {
        onRequestStart(controller) {
          request = controller
          if (isOver) controller.abort(new Error('no answer is waited for any more'))
        },
        onResponseStart(_controller, statusCode, itsHeaders) {
          status = statusCode
          received = itsHeaders
          isEnough = call.statusSuffices === true && statusCode >= 200 && statusCode < 300
          if (isEnough) rest = setTimeout(() => end(true), REST_MS)
        },
        onResponseData(_controller, chunk) {
          if (isOver) return
          chunks.push(chunk.subarray(0, limit - size))
          size += chunk.length
          if (size > limit) end(true)
        },
        onResponseEnd: () => end(false),
        onResponseError: (_controller, error) => fail(error),
      },
    )
    return await answer.promise
  } finally {
    clearTimeout(timer)
    clearTimeout(rest)
  }

  function end(truncated: boolean): void {
    if (isOver) return
    isOver = true
    const body = Buffer.concat(chunks)
    const shown = () => withoutSecrets(body, [...agent.secrets, ...sentSecrets(call)], truncated)
    answer.resolve({ status, headers: received, body, shown, truncated })
    if (truncated) request?.abort(new Error('the answer is too long')) // which closes the connection
  }

  function fail(error: Error): void {
    if (isOver) return
    if (isEnough) {
      end(true)
      return
    }
    isOver = true
    answer.reject(error)
    request?.abort(error)
  }
}

const sentSecrets = ({ credentials = {} }: Call) => Object.values(credentials).flatMap(secretsOf)

/** Connections. The library for them is loaded, and they are opened, when something is called: many a process never does. */
export type Agent = {
  policy: AddressPolicy
  /** What a proxy is shown of ours. */
  secrets: string[]
  dispatcher(): Promise<Dispatcher>
  close(): Promise<void>
  destroy(): Promise<void>
}

export type Outgoing = { policy: AddressPolicy; connections: number; tls?: Tls; proxies: Proxies }

/**
 * Connections that are kept a short while for the next call, to addresses that may be called. A proxy resolves names itself, and
 * is trusted to reach what it should.
 */
export function openAgent(outgoing: Outgoing): Agent {
  let opened: Promise<Dispatcher> | undefined
  return {
    policy: outgoing.policy,
    secrets: [outgoing.proxies.http, outgoing.proxies.https].flatMap(proxySecrets),
    dispatcher: () => {
      opened ??= openDispatcher(outgoing)
      return opened
    },
    close: async () => (await opened)?.close(),
    destroy: async () => (await opened)?.destroy(),
  }
}

function proxySecrets(proxy = ''): string[] {
  const { username = '', password = '' } = URL.parse(proxy) ?? {}
  if (!password) return []
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return secretsOf(`Basic ${Buffer.from(pair).toString('base64')}`)
}

/**
 * What undici does not do with a socket. With TLS 1.3 a server refuses us after the handshake, by an alert and the end of the connection. undici tells of the end alone:
 * here the connection ends with the alert. And an answer may begin with `100 Continue`.
 */
function mended(connector: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connector(options, (...[error, socket]) => {
      if (error) return callback(error, null)
      let alert: Error | undefined
      socket.prependListener('error', (fault: NodeJS.ErrnoException) => {
        if (fault.code?.startsWith('ERR_SSL_')) alert ??= fault
      })
      socket.prependListener('end', () => alert && socket.destroy(alert))
      withoutContinue(socket)
      callback(null, socket)
    })
}

async function openDispatcher({ policy, connections, tls = {}, proxies }: Outgoing): Promise<Dispatcher> {
  const { Agent, buildConnector, EnvHttpProxyAgent } = await import('undici')
  const options = {
    connections,
    pipelining: 1,
    // Short, so that we do not write on a connection that the other side is just closing.
    keepAliveTimeout: 1_000,
    keepAliveMaxTimeout: 1_000,
    headersTimeout: 0, // the term of the service covers it
    bodyTimeout: 0,
    connect: mended(buildConnector({ lookup: policy.lookup, timeout: 300_000, ...tls })),
  }
  if (!usesProxy(proxies)) return new Agent(options)
  const { http = '', https = '', except } = proxies // an empty text: not that of the environment either
  return new EnvHttpProxyAgent({
    ...options,
    requestTls: { timeout: 300_000, ...tls },
    httpProxy: http,
    httpsProxy: https,
    noProxy: except,
  })
}

// ---- failing ----

/** Why no answer came, in the words of the administrator. */
export const FAILURES = {
  refused: 'de verbinding werd geweigerd',
  dns: 'de hostnaam is niet te vinden',
  tls: 'de beveiligde verbinding (TLS) kwam niet tot stand',
  'tls-expired': 'het certificaat van de dienst is verlopen of nog niet geldig',
  'tls-name': 'het certificaat van de dienst hoort bij een andere naam',
  'tls-ca': 'het certificaat van de dienst is van een CA die hier niet wordt vertrouwd',
  'tls-client': 'de dienst vraagt een client-certificaat, of neemt het onze niet aan',
  'tls-version': 'de dienst gebruikt een TLS-versie die te oud is',
  timeout: 'het antwoord kwam niet op tijd',
  connection: 'de verbinding werd verbroken',
  protocol: 'het antwoord was geen geldige HTTP',
  blocked: 'dit adres mag niet worden aangeroepen',
  token: 'er werd geen toegangstoken gegeven',
  elsewhere: 'het geheim is voor een andere server gegeven',
  unknown: 'de aanroep mislukte',
} as const
export type FailureKind = keyof typeof FAILURES

/** The same for a client, who learns nothing of what is wrong with the certificates of others. */
export const clientReason = (kind: FailureKind): string => FAILURES[kind.startsWith('tls-') ? 'tls' : kind]

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
  CERT_HAS_EXPIRED: 'tls-expired',
  CERT_NOT_YET_VALID: 'tls-expired',
  HOSTNAME_MISMATCH: 'tls-name',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls-name',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls-ca',
  UNABLE_TO_GET_ISSUER_CERT: 'tls-ca',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls-ca',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls-ca',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls-ca',
  CERT_UNTRUSTED: 'tls-ca',
  INVALID_CA: 'tls-ca',
  UND_ERR_HEADERS_OVERFLOW: 'protocol',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'protocol',
  BLOCKED_ADDRESS: 'blocked',
  NO_TOKEN: 'token',
  SECRET_ELSEWHERE: 'elsewhere',
}

// What OpenSSL calls the alerts by which the other side refuses our certificate, or the lack of one, and the versions that have none in
// common. A server of TLS 1.2 that wants a certificate says handshake_failure, as one without a common cipher does: that stays `tls`.
const ALERTS: [RegExp, FailureKind][] = [
  [/^ERR_SSL_.*(ALERT_.*CERTIFICATE|ALERT_UNKNOWN_CA|CERTIFICATE_REQUIRED)/, 'tls-client'],
  [
    /^ERR_SSL_(.*ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW|UNKNOWN_SSL_VERSION|.*INAPPROPRIATE_FALLBACK)/,
    'tls-version',
  ],
]

/** Node's code of an error, of what caused it where that has one. */
export function failureCode(error: unknown): string | undefined {
  const { code, cause, errors } = (error ?? {}) as { code?: unknown; cause?: unknown; errors?: unknown[] }
  const inner = cause ?? errors?.[0]
  return (inner ? failureCode(inner) : undefined) ?? (typeof code === 'string' ? code : undefined)
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
    const alert = ALERTS.find(([pattern]) => pattern.test(code))
    if (alert) return alert[1]
    if (/^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|CRL_|INVALID_CA)/.test(code)) return 'tls'
  }
  const inner = cause ?? errors?.[0]
  return inner ? failureKind(inner) : 'unknown'
}
