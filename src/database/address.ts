// Addresses of databases as libpq reads them, for both drivers: hosts, ports and Unix sockets in the authority or as parameters, and
// TLS with the same meaning of `sslmode`. A certificate is the path of a file or the PEM text itself (as settings bring it).
import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { ConnectionOptions } from 'node:tls'

/** What an address asks is not possible. */
export class AddressFault extends Error {}

const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
type Mode = (typeof MODES)[number]

/** One host of an address, and how to sign in there. */
export type Address = {
  host: string
  port: number
  /** Of a Unix socket. */
  path: string | undefined
  user: string | undefined
  password: string | undefined
  database: string | undefined
  mode: Mode
  tls: ConnectionOptions
  /** What the session is asked beside ours. */
  options: string | undefined
}

const FORM = /^(postgres(?:ql)?):\/\/(?:([^:@/?]*)(?::([^@/?]*))?@)?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s

/** The parts of an address. @throws AddressFault when it is none */
function partsOf(url: string) {
  const [whole, scheme = '', user = '', password = '', authority = '', database = '', query = ''] = FORM.exec(url) ?? []
  if (whole === undefined) throw new AddressFault('is no address of a database')
  return { scheme, user, password, authority, database, query: new URLSearchParams(query) }
}

/**
 * The addresses of each host, in the order in which they are tried: `host` and `port` as parameters come into the authority.
 * @throws AddressFault
 */
export function hostUrls(url: string): string[] {
  const { scheme, user, password, authority, database, query } = partsOf(url)
  const named = query.get('host') ? (query.get('host') ?? '').split(',').map(encodeURIComponent) : authority.split(',')
  const ports = (query.get('port') ?? '').split(',')
  if (!authority.includes(',') && !query.has('host') && !query.has('port')) return [url]
  const rest = [...query].filter(([name]) => name !== 'host' && name !== 'port')
  const hasParts = query.has('host') || query.has('port')
  const asked = hasParts ? new URLSearchParams(rest).toString() : url.slice(url.indexOf('?') + 1)
  const after = `/${database}${rest.length > 0 ? `?${asked}` : ''}`
  const who = user || password ? `${user}${password ? `:${password}` : ''}@` : ''
  const hasPort = (host: string) => /:\d+$/.test(host)
  return named.map((host, index) => {
    const port = ports[index] || ports[0]
    return `${scheme}://${who}${host}${port && !hasPort(host) ? `:${port}` : ''}${after}`
  })
}

/** @param url of one host @throws AddressFault */
export function addressOf(url: string): Address {
  const { user, password, authority, database, query } = partsOf(hostUrls(url)[0] ?? url)
  const [, hostText = '', portText] = /^(.*?)(?::(\d+))?$/.exec(authority) ?? []
  const host = decodeURIComponent(hostText).replace(/^\[(.*)\]$/, '$1') || 'localhost'
  const port = Number(portText ?? 5432)
  const isSocket = host.startsWith('/')
  const mode = modeOf(query)
  return {
    host,
    port,
    path: isSocket ? `${host}/.s.PGSQL.${port}` : undefined,
    user: decodeURIComponent(user) || query.get('user') || undefined,
    password: decodeURIComponent(password) || query.get('password') || undefined,
    database: decodeURIComponent(database) || query.get('dbname') || undefined,
    mode: isSocket ? 'disable' : mode,
    tls: isSocket || mode === 'disable' ? {} : tlsOf(query, mode, host),
    options: query.get('options') ?? undefined,
  }
}

/** Where a host is, for whoever reads it: without user and password. */
export function hostName(url: string): string {
  const { host, port, path } = addressOf(url)
  return path ?? `${host}:${port}`
}

/** TLS where the server has it, and nothing about who it is. */
export const isLax = (mode: Mode): boolean => mode === 'prefer' || mode === 'allow'

function modeOf(query: URLSearchParams): Mode {
  const text = query.get('sslmode')
  const system = query.get('sslrootcert') === 'system'
  if (text === null && system) return 'verify-full'
  if (text === null) return 'prefer'
  const mode = MODES.find((one) => one === text)
  if (!mode) throw new AddressFault(`has sslmode ${text}, which is none of ${MODES.join(', ')}`)
  if (system && mode !== 'verify-full')
    throw new AddressFault('has sslrootcert=system, which goes with sslmode=verify-full')
  // As libpq: whoever names who signs the certificate wants it checked.
  return mode === 'require' && query.has('sslrootcert') ? 'verify-ca' : mode
}

const CERTIFICATES = ['sslrootcert', 'sslcert', 'sslkey']

function tlsOf(query: URLSearchParams, mode: Mode, host: string): ConnectionOptions {
  // libpq leaves them unused, without a word.
  const unused = isLax(mode) && CERTIFICATES.find((name) => query.has(name))
  if (unused)
    throw new AddressFault(`has ${unused} without sslmode=verify-full, verify-ca or require: it would not be used`)
  const ca = query.get('sslrootcert') === 'system' ? undefined : pem(query, 'sslrootcert')
  const cert = pem(query, 'sslcert')
  const key = pem(query, 'sslkey')
  if ((cert === undefined) !== (key === undefined))
    throw new AddressFault('has one of sslcert and sslkey: they go together')
  const verifies = mode === 'verify-ca' || mode === 'verify-full'
  return {
    host, // whom the certificate has to name, where it is an IP address
    rejectUnauthorized: verifies,
    ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
    ...(ca && { ca }),
    ...(cert && { cert, key }),
  }
}

function pem(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name)
  if (!text) return undefined
  if (text.startsWith('-----BEGIN')) return text
  if (!existsSync(text)) throw new AddressFault(`has ${name}, which names a file that is not there`)
  try {
    return readFileSync(text, 'utf8')
  } catch {
    throw new AddressFault(`has ${name}, which names a file that cannot be read`)
  }
}

/** The address with these certificates, unless it names some, or says itself that none is looked at. */
export function withCertificates(url: string, given: { ca?: string; cert?: string; key?: string }): string {
  const { query } = partsOf(url)
  if (['disable', 'allow', 'prefer'].includes(query.get('sslmode') ?? '')) return url
  const more = Object.entries({ sslrootcert: given.ca, sslcert: given.cert, sslkey: given.key }).flatMap(
    ([name, text]) => (text && !query.has(name) ? [`${name}=${encodeURIComponent(text)}`] : []),
  )
  if (more.length === 0) return url
  return `${url}${url.includes('?') ? '&' : '?'}${more.join('&')}`
}

const tlsServers = new Map<string, boolean>()

/** Whether the server there speaks TLS: what `prefer` asks first, once for all clients. @throws when it cannot be reached */
export async function speaksTls(address: Address): Promise<boolean> {
  const key = `${address.host}:${address.port}`
  const speaks = tlsServers.get(key) ?? (await askTls(address))
  tlsServers.set(key, speaks)
  return speaks
}

/** Has it asked again: a connection failed, and the server may be another one since. */
export function forgetTls({ host, port }: Address): void {
  tlsServers.delete(`${host}:${port}`)
}

async function askTls({ host, port }: Address): Promise<boolean> {
  const socket = connect(port, host)
  try {
    return await new Promise<boolean>((resolve, reject) => {
      socket.setTimeout(5_000, () => reject(Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' })))
      socket.once('error', reject)
      socket.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
      socket.once('data', (answer) => resolve(answer[0] === 83))
      socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])) // SSLRequest
    })
  } finally {
    socket.removeAllListeners('close')
    socket.on('error', () => {})
    socket.destroy()
  }
}
