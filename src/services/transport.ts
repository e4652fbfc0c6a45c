// The way out: calls over HTTP with a bound on time and bytes, never to an address at which a machine talks to itself.
import { type LookupAddress, lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import type { Dispatcher } from 'undici'

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
  limit: number
  /** The answer is kept or shown to people: without the credentials that were sent, which a server may give back. */
  kept?: boolean
}
export type CallAnswer = { status: number; body: Buffer; truncated: boolean; headers: Record<string, unknown> }

/**
 * Calls any address that may be called, with what credentials the headers have.
 * @param ms milliseconds for everything, from connecting to the last byte
 */
export async function sendWithin(ms: number, agent: Agent, call: Call): Promise<CallAnswer> {
  const { url, method, body, limit } = call
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) && isForbidden(host)) throw blocked()
  const dispatcher = await agent.dispatcher() // loading it, once, is no part of the term
  const answer = Promise.withResolvers<CallAnswer>()
  let request: Dispatcher.DispatchController | undefined
  let isOver = false
  const timer = setTimeout(() => fail(new DOMException('no answer within the term', 'TimeoutError')), ms)
  const headers = {
    accept: 'application/json',
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...call.headers,
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
  }

  function end(truncated: boolean): void {
    if (isOver) return
    isOver = true
    const whole = Buffer.concat(chunks)
    const shown = call.kept ? withoutCredentials(whole, call) : whole
    answer.resolve({ status, headers: received, body: shown, truncated })
    if (truncated) request?.abort(new Error('the answer is too long')) // which closes the connection
  }

  function fail(error: Error): void {
    if (isOver) return
    isOver = true
    answer.reject(error)
    request?.abort(error)
  }
}

function withoutCredentials(body: Buffer, { headers = {} }: Call): Buffer {
  const sent = headers.authorization?.split(' ').at(-1)
  if (!sent || !body.includes(sent)) return body
  return Buffer.from(body.toString('latin1').replaceAll(sent, '***'), 'latin1')
}

/** Connections. The library for them is loaded, and they are opened, when something is called: many a process never does. */
export type Agent = { dispatcher(): Promise<Dispatcher>; close(): Promise<void>; destroy(): Promise<void> }

export type Outgoing = { connections: number; tls?: Tls; proxies: Proxies }

/**
 * Connections that are kept a short while for the next call, to addresses that may be called. A proxy resolves names itself, and
 * is trusted to reach what it should.
 */
export function openAgent(outgoing: Outgoing): Agent {
  let opened: Promise<Dispatcher> | undefined
  return {
    dispatcher: () => {
      opened ??= openDispatcher(outgoing)
      return opened
    },
    close: async () => (await opened)?.close(),
    destroy: async () => (await opened)?.destroy(),
  }
}

async function openDispatcher({ connections, tls = {}, proxies }: Outgoing): Promise<Dispatcher> {
  const { Agent, EnvHttpProxyAgent } = await import('undici')
  const options = {
    connections,
    pipelining: 1,
    // Short, so that we do not write on a connection that the other side is just closing.
    keepAliveTimeout: 1_000,
    keepAliveMaxTimeout: 1_000,
    headersTimeout: 0, // the term of the service covers it
    bodyTimeout: 0,
    connect: { lookup: lookupAllowed, timeout: 300_000, ...tls },
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
  token: 'er werd geen toegangstoken gegeven',
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
  NO_TOKEN: 'token',
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
