// deliver: one attempt to deliver a message to its receiver over HTTP: the external notifications service, or an abonnement.
import { createHash, createHmac } from 'node:crypto'
import { createSigner } from 'fast-jwt'
import { LRUCache } from 'lru-cache'
import type { Agent } from 'undici'
import type { SecretBox } from '../autorisaties/secret-box.ts'
import type { Config } from '../config.ts'
import { ownAddress } from '../http/links.ts'
import { type CallAnswer, failureKind, openAgent, type RemoteService, send, sendWithin } from '../services/services.ts'
import type { Attempt, Claimed, Message, Subscriber } from './outbox.ts'

/** A message as a notifications service and its subscribers get it. */
export type Bericht = {
  kanaal: string
  source?: string
  hoofdObject: string
  resource: string
  resourceUrl: string
  actie: string
  aanmaakdatum: string
  kenmerken: Record<string, unknown>
}

/** What one attempt takes. */
export type Deliverable = Pick<Claimed, 'message' | 'poging' | 'replay' | 'dienst' | 'abonnement'>

export type Deliver = {
  /** Makes one attempt. It never rejects: what went wrong is the outcome. */
  post(claimed: Deliverable): Promise<Attempt>
  close(): Promise<void>
}

const MAX_ANSWER = 4096
const MAX_RETRY_AFTER_S = 3600
const TOKEN_LIFE_MS = 3_600_000
const AGENTS = 500 // of subscribers, with connections of their own

/** What the secrets of an abonnement are bound to when they are encrypted. */
export const subscriberOwner = (uuid: string): string => `abonnement ${uuid}`

/** Opens the connections to receivers. A subscriber has connections of its own, so that none waits for those of another. */
export function openDelivery(config: Config, box: SecretBox): Deliver {
  const agent = openAgent({ connections: config.notificationsConcurrency })
  const agents = new LRUCache<string, Agent>({ max: AGENTS, dispose: (old) => void old.close().catch(() => {}) })
  const tokens = new LRUCache<string, { token: string }>({ max: AGENTS })

  return {
    async post(claimed) {
      const began = performance.now()
      const ms = () => Math.round(performance.now() - began)
      try {
        const { dienst, abonnement } = claimed
        const answer = abonnement ? await toSubscriber(claimed, abonnement) : await toService(claimed.message, dienst!)
        const delivered = answer.status >= 200 && answer.status < 300
        const retryAfter = delivered ? undefined : retryAfterOf(answer)
        return {
          outcome: delivered ? 'delivered' : 'http',
          httpStatus: answer.status,
          answer: answer.body.toString('utf8').replaceAll('\0', '\uFFFD'), // PostgreSQL keeps no NUL
          ms: ms(),
          ...(retryAfter !== undefined && { retryAfter }),
        }
      } catch (error) {
        return { outcome: failureKind(error), httpStatus: null, answer: null, ms: ms() }
      }
    },
    close: async () => {
      await Promise.all([agent, ...agents.values()].map((each) => each.destroy()))
    },
  }

  function toService(message: Message, dienst: RemoteService): Promise<CallAnswer> {
    return send(agent, dienst, box, {
      url: new URL('notificaties', dienst.apiRoot),
      method: 'POST',
      body: JSON.stringify(bericht(config, message)),
      headers: { 'x-message-id': message.uuid },
      limit: MAX_ANSWER,
    })
  }

  async function toSubscriber(claimed: Deliverable, to: Subscriber): Promise<CallAnswer> {
    const { message, poging, replay } = claimed
    const body = JSON.stringify(to.cloudevents ? cloudEvent(config, message) : bericht(config, message))
    const timestamp = String(Math.floor(Date.now() / 1000))
    const owner = subscriberOwner(to.uuid)
    const signature = to.ondertekening.map((secret) =>
      sign(box.open(secret, owner), `${message.uuid}.${timestamp}.${body}`),
    )
    return sendWithin(to.termijnMs, agentFor(to), {
      url: new URL(to.callbackUrl),
      method: 'POST',
      body,
      headers: {
        ...(to.cloudevents && { 'content-type': 'application/cloudevents+json' }),
        authorization: await authorization(to),
        'webhook-id': message.uuid,
        'webhook-timestamp': timestamp,
        'x-attempt': String(poging),
        ...(replay && { 'x-replay': 'true' }),
        ...(signature.length > 0 && { 'webhook-signature': signature.join(' ') }),
      },
      limit: MAX_ANSWER,
    })
  }

  function agentFor({ uuid, callbackUrl, certificaat, certificaatSleutel }: Subscriber): Agent {
    const key = `${uuid} ${new URL(callbackUrl).origin} ${digest(certificaat, certificaatSleutel)}`
    let found = agents.get(key)
    if (!found) {
      const tls = certificaatSleutel && {
        cert: certificaat,
        key: box.open(certificaatSleutel, subscriberOwner(uuid)),
      }
      found = openAgent({ connections: 50, ...(tls && { tls }) })
      agents.set(key, found)
    }
    return found
  }

  async function authorization(to: Subscriber): Promise<string> {
    const secret = box.open(to.auth, subscriberOwner(to.uuid))
    if (to.authenticatie === 'header') return secret
    const { uitgaandClientId: id } = to
    if (to.authenticatie === 'jwt') {
      const sign = createSigner({ key: secret, algorithm: 'HS256', expiresIn: TOKEN_LIFE_MS })
      return `Bearer ${sign({ iss: id, client_id: id, user_id: '', user_representation: '' })}`
    }
    const key = `${to.uuid} ${to.tokenUrl} ${id} ${to.tokenScope} ${digest(secret)}`
    const known = tokens.get(key)
    if (known) return `Bearer ${known.token}`
    const { token, seconds } = await requestToken(to, secret)
    // Some time before it ends, so that none expires on its way; a token for a shorter time is asked for each message.
    if (seconds > 30) tokens.set(key, { token }, { ttl: (seconds - 30) * 1000 })
    return `Bearer ${token}`
  }

  async function requestToken(to: Subscriber, secret: string): Promise<{ token: string; seconds: number }> {
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      ...(to.tokenScope && { scope: to.tokenScope }),
    })
    const basic = Buffer.from(`${formEncoded(to.uitgaandClientId)}:${formEncoded(secret)}`).toString('base64')
    const answer = await sendWithin(to.termijnMs, agent, {
      url: new URL(to.tokenUrl),
      method: 'POST',
      body: form.toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: `Basic ${basic}` },
      limit: 64 * 1024,
    })
    const given = answer.status === 200 ? JSON.parse(answer.body.toString('utf8')) : {}
    if (typeof given.access_token !== 'string')
      throw Object.assign(new Error('no token was given'), { code: 'NO_TOKEN' })
    return { token: given.access_token, seconds: Number(given.expires_in) || 0 }
  }
}

/** The message as the standard has it. `source` is ours, unless the message came from another publisher. */
export function bericht(config: Config, message: Message): Bericht {
  const { kanaal, hoofdObject, resource, resourceUrl, actie, aanmaakdatum, kenmerken, bron } = message
  const source = bron || config.notificationsSource
  return {
    kanaal,
    ...(source && { source }),
    hoofdObject,
    resource,
    resourceUrl,
    actie,
    aanmaakdatum,
    kenmerken,
  }
}

/** The same as a cloud event (CloudEvents 1.0, structured). Its id is that of the message, at every attempt and replay. */
export function cloudEvent(config: Config, message: Message): Record<string, unknown> {
  const { uuid, kanaal, hoofdObject, resource, resourceUrl, actie, aanmaakdatum, kenmerken, bron } = message
  return {
    specversion: '1.0',
    id: uuid,
    source: bron || config.notificationsSource || ownAddress(config),
    type: `nl.overheid.${kanaal}.${resource}.${actie}`,
    subject: resourceUrl.split('/').at(-1),
    time: aanmaakdatum,
    datacontenttype: 'application/json',
    data: { ...kenmerken, hoofdObject },
  }
}

const SECRET_PREFIX = 'whsec_'

/** Standard Webhooks: HMAC-SHA256 with the bytes that the secret is the base64 of. */
function sign(secret: string, content: string): string {
  const key = Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, 'base64')
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}

/** Header Retry-After of an answer that asks to come back later (RFC 9110, 10.2.3), in seconds. */
function retryAfterOf({ status, headers }: CallAnswer): number | undefined {
  const value = String(headers['retry-after'] ?? '')
  if ((status !== 429 && status !== 503) || value === '') return undefined
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.min(Math.max(0, seconds), MAX_RETRY_AFTER_S) : undefined
}

// RFC 6749, 2.3.1: id and secret are encoded as in a form before they are joined.
const formEncoded = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)

function digest(...parts: (string | Buffer | null)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part ?? '').update('\0')
  return hash.digest('base64')
}
