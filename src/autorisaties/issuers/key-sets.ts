// Sets of public keys (RFC 7517): read from what somebody else wrote, and fetched from an issuer by its discovery document
// (OpenID Connect Discovery, RFC 8414) or its address of keys.

import { parseForeignJson } from '../../lib/foreign-json.ts'
import type { Agent } from '../../services/transport.ts'
import { sendWithin } from '../../services/transport.ts'

export type KeySet = { keys: Record<string, unknown>[] }

const FETCH_MS = 5_000
const MAX_BYTES = 256 * 1024
const MAX_KEYS = 100
// Cache-Control is followed within these bounds: a key that leaked must go some day, and a provider is not asked all the time.
const SHORTEST_S = 300
const LONGEST_S = 86_400
const USUAL_S = 3_600

/** The members of a public key (RFC 7518, 6 and RFC 8037): all else, private members included, is left out. */
const MEMBERS: Record<string, readonly string[]> = {
  RSA: ['n', 'e'],
  EC: ['crv', 'x', 'y'],
  OKP: ['crv', 'x'],
}

/** The keys of a set that check signatures. Symmetric ones are none: who knows them could sign. */
export function readKeySet(given: unknown): KeySet {
  const keys: unknown = (given as { keys?: unknown } | null)?.keys
  if (!Array.isArray(keys) || keys.length > MAX_KEYS) return { keys: [] }
  return { keys: keys.map(publicKey).filter((key) => key !== undefined) }
}

function publicKey(given: unknown): Record<string, unknown> | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const key = given as Record<string, unknown>
  const members = typeof key.kty === 'string' && Object.hasOwn(MEMBERS, key.kty) ? MEMBERS[key.kty]! : undefined
  if (!members?.every((name) => typeof key[name] === 'string')) return undefined
  if (key.use !== undefined && key.use !== 'sig') return undefined
  const names = ['kty', ...members, ...['kid', 'alg'].filter((name) => typeof key[name] === 'string')]
  return Object.fromEntries(names.map((name) => [name, key[name]]))
}

/** Whether what is fetched there cannot be changed on its way: https, or this machine itself. */
export function isSafeAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return username === '' && password === '' && (protocol === 'https:' || (protocol === 'http:' && isLocal(text)))
}

const isLocal = (url: string): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname)

/** Fetching went wrong; the message is Dutch, for administrators. */
export class KeysNotFound extends Error {}

type Source = { issuer: string; discoveryUrl: string; jwksUrl: string }

/**
 * Fetches the keys of an issuer.
 * @returns the keys, and in how many seconds to fetch them anew
 * @throws KeysNotFound, or what `failureKind` understands
 */
export async function fetchKeySet(agent: Agent, source: Source): Promise<{ keySet: KeySet; seconds: number }> {
  const address = source.jwksUrl === '' ? await discover(agent, source) : source.jwksUrl
  if (!isSafeAddress(address)) throw new KeysNotFound('het adres van de sleutels begint niet met https://')
  // What a document of another server names: an issuer elsewhere has us ask nobody on this machine.
  if (source.jwksUrl === '' && isLocal(address) && !isLocal(source.discoveryUrl || source.issuer))
    throw new KeysNotFound('het adres van de sleutels is op deze machine, en de issuer niet')
  const { body, cacheControl } = await fetchJson(agent, address, 'de sleutels')
  const keySet = readKeySet(body)
  if (keySet.keys.length === 0) throw new KeysNotFound('het antwoord heeft geen openbare sleutels (JWKS)')
  return { keySet, seconds: secondsToKeep(cacheControl) }
}

/** Where the keys are, by a discovery document that is about this issuer. */
async function discover(agent: Agent, { issuer, discoveryUrl }: Source): Promise<string> {
  const address = discoveryUrl === '' ? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration` : discoveryUrl
  const { body } = await fetchJson(agent, address, 'het discovery-document')
  const document = (body ?? {}) as Record<string, unknown>
  // ADFS writes another issuer in access tokens than in ID tokens.
  if (document.issuer !== issuer && document.access_token_issuer !== issuer)
    throw new KeysNotFound('het discovery-document is van een andere issuer')
  if (typeof document.jwks_uri !== 'string') throw new KeysNotFound('het discovery-document heeft geen jwks_uri')
  return document.jwks_uri
}

async function fetchJson(
  agent: Agent,
  address: string,
  what: string,
): Promise<{ body: unknown; cacheControl: string }> {
  const answer = await sendWithin(FETCH_MS, agent, { url: new URL(address), method: 'GET', limit: MAX_BYTES })
  if (answer.status !== 200) throw new KeysNotFound(`het antwoord op de vraag om ${what} was ${answer.status}`)
  if (answer.truncated) throw new KeysNotFound(`het antwoord op de vraag om ${what} is te groot`)
  try {
    return {
      body: parseForeignJson(answer.body),
      cacheControl: String(answer.headers['cache-control'] ?? ''),
    }
  } catch {
    throw new KeysNotFound(`het antwoord op de vraag om ${what} is geen JSON`)
  }
}

function secondsToKeep(cacheControl: string): number {
  if (/\bno-(store|cache)\b/i.test(cacheControl)) return SHORTEST_S
  const [, given] = /\bmax-age=(\d{1,9})\b/i.exec(cacheControl) ?? []
  return Math.min(Math.max(given === undefined ? USUAL_S : Number(given), SHORTEST_S), LONGEST_S)
}
