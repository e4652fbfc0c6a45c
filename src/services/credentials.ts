// How we show who we are to a receiver: tokens of OAuth2 (client credentials), and connections with a client certificate or
// with a CA of the receiver's own. For services and abonnementen alike.
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { parseForeignJson } from '../lib/foreign-json.ts'
import type { AddressPolicy } from './addresses.ts'
import { type Agent, openAgent, type Proxies, sendWithin, type Tls } from './transport.ts'

const MAX = 500 // receivers, with connections and tokens of their own
const MAX_TOKEN_ANSWER = 64 * 1024
const SPARE_S = 30

export type Agents = {
  /** The connections to an origin for this owner, with what they show there. */
  agentFor(owner: string, origin: string, tls: Tls): Agent
  close(): Promise<void>
}

/** Connections per receiver, so that none waits for those of another. */
export function openAgents(policy: AddressPolicy, connections: number, proxies: Proxies): Agents {
  const agents = new LRUCache<string, Agent>({ max: MAX, dispose: (old) => void old.close().catch(() => {}) })
  return {
    agentFor(owner, origin, tls) {
      const key = `${owner} ${origin} ${digest(tls.cert, tls.key, tls.ca)}`
      let found = agents.get(key)
      if (!found) {
        found = openAgent({ policy, connections, tls, proxies })
        agents.set(key, found)
      }
      return found
    },
    close: async () => {
      await Promise.all([...agents.values()].map((each) => each.destroy()))
    },
  }
}

/** What a token is asked with. `owner` keeps the tokens of one receiver apart from those of another. */
export type TokenRequest = {
  owner: string
  tokenUrl: string
  clientId: string
  secret: string
  scope: string
  timeoutMs: number
}

export type Tokens = {
  /** A token that is valid for a while yet: the one that is known, or a new one. @throws what `failureKind` understands */
  get(agent: Agent, request: TokenRequest): Promise<string>
  /** The receiver refused the one that is known: the next is a new one. */
  forget(request: TokenRequest): void
}

/** Tokens of RFC 6749, 4.4. Those who ask at the same time get the same. */
export function openTokens(): Tokens {
  const tokens = new LRUCache<string, string>({ max: MAX })
  const asked = new Map<string, Promise<string>>()
  const keyOf = ({ owner, tokenUrl, clientId, scope, secret }: TokenRequest) =>
    `${owner} ${tokenUrl} ${clientId} ${scope} ${digest(secret)}`
  return {
    get(agent, request) {
      const key = keyOf(request)
      const known = tokens.get(key)
      if (known) return Promise.resolve(known)
      const pending = asked.get(key)
      if (pending) return pending
      const asking = askToken(agent, request)
        .then(({ token, seconds }) => {
          // Some time before it ends, so that none expires on its way; one for a shorter time is asked for each call.
          if (seconds > SPARE_S) tokens.set(key, token, { ttl: (seconds - SPARE_S) * 1000 })
          return token
        })
        .finally(() => asked.delete(key))
      asked.set(key, asking)
      return asking
    },
    forget: (request) => void tokens.delete(keyOf(request)),
  }
}

async function askToken(agent: Agent, { tokenUrl, clientId, secret, scope, timeoutMs }: TokenRequest) {
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scope && { scope }) })
  const basic = Buffer.from(`${formEncoded(clientId)}:${formEncoded(secret)}`).toString('base64')
  const answer = await sendWithin(timeoutMs, agent, {
    url: new URL(tokenUrl),
    method: 'POST',
    body: form.toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    credentials: { authorization: `Basic ${basic}` },
    limit: MAX_TOKEN_ANSWER,
  })
  const { token, seconds } = answer.status === 200 ? readToken(answer.body) : {}
  if (!token) throw Object.assign(new Error(`no token was given (${answer.status})`), { code: 'NO_TOKEN' })
  return { token, seconds: seconds || 0 }
}

function readToken(body: Buffer): { token?: string; seconds?: number } {
  try {
    const { access_token: token, expires_in: seconds } = parseForeignJson(body) as Record<string, unknown>
    return typeof token === 'string' && /^[\x21-\x7e]+$/.test(token) ? { token, seconds: Number(seconds) } : {}
  } catch {
    return {}
  }
}

/** What is wrong with a client certificate and its key; undefined: nothing. Both are PEM. */
export function certificateFault(certificate: string, key: string): 'certificate' | 'key' | 'mismatch' | undefined {
  try {
    const parsed = new X509Certificate(certificate)
    try {
      return parsed.checkPrivateKey(createPrivateKey(key)) ? undefined : 'mismatch'
    } catch {
      return 'key'
    }
  } catch {
    return 'certificate'
  }
}

type CertificateFacts = { subject: string; issuer: string; until: string }

/** Whose certificates these are, who vouches for them and until when (ISO 8601), in their order; empty when a text holds none. */
export function certificateFacts(text: string): CertificateFacts[] {
  const parts = text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []
  const named = (names: string) => names.replaceAll('\n', ', ')
  return parts.map((part) => {
    const { subject, issuer, validTo } = new X509Certificate(part)
    return { subject: named(subject), issuer: named(issuer), until: new Date(validTo).toISOString() }
  })
}

/** Whether a text is one or more certificates in PEM. */
export function areCertificates(text: string): boolean {
  const parts = text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []
  try {
    return parts.length > 0 && parts.every((part) => new X509Certificate(part))
  } catch {
    return false
  }
}

// RFC 6749, 2.3.1: id and secret are encoded as in a form before they are joined.
const formEncoded = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)

function digest(...parts: (string | undefined)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part ?? '').update('\0')
  return hash.digest('base64')
}
