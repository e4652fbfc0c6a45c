// deliver: one attempt to deliver a message to its receiver over HTTP: the external notifications service, or an abonnement.
import { createHmac } from 'node:crypto'
import { createSigner } from 'fast-jwt'
import type { Config } from '../config.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { expected } from '../database/rows.ts'
import { FOR_SERVICES, forClients } from '../services/addresses.ts'
import { openAgents, openTokens, type TokenRequest } from '../services/credentials.ts'
import { openCaller, type RemoteService, TOKEN_LIFE_MS } from '../services/services.ts'
import { type Agent, type CallAnswer, failureCode, failureKind, sendWithin } from '../services/transport.ts'
import { REQUEST_ID } from '../telemetry/request-id.ts'
import { currentTraceparent, TRACEPARENT } from '../telemetry/tracing.ts'
import type { Attempt, Claimed, Message, Subscriber } from './claims.ts'
import { CLOUD_EVENT, eventBody } from './cloud-events.ts'

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
export type Deliverable = Pick<Claimed, 'message' | 'notificatieId' | 'attempt' | 'replay' | 'service' | 'abonnement'>

export type Deliver = {
  /** Makes one attempt. It never rejects: what went wrong is the outcome. */
  post(claimed: Deliverable): Promise<Attempt>
  close(): Promise<void>
}

const MAX_ANSWER = 4096
export const MAX_RETRY_AFTER_S = 3600

/** What the secrets of an abonnement are bound to when they are encrypted. */
export const subscriberOwner = (uuid: string): string => `abonnement ${uuid}`
/** Who gets its credentials, or a token that is had with them. */
export const subscriberServers = ({
  callbackUrl,
  tokenUrl,
}: Pick<Subscriber, 'callbackUrl' | 'tokenUrl'>): string[] => [callbackUrl, tokenUrl]

/** Opens the connections to receivers. A subscriber has connections of its own, so that none waits for those of another. */
export function openDelivery(config: Config, box: SecretBox): Deliver {
  const caller = openCaller(box, config.notificationsConcurrency, config.proxies)
  const agents = openAgents(forClients(config), 50, config.proxies)
  const tokenAgents = openAgents(FOR_SERVICES, 50, config.proxies) // where tokens are asked, an administrator wrote down
  const tokens = openTokens()

  return {
    async post(claimed) {
      const began = performance.now()
      const ms = () => Math.round(performance.now() - began)
      try {
        const { service, abonnement } = claimed
        const answer = abonnement
          ? await toSubscriber(claimed, abonnement)
          : await toService(claimed, expected(service))
        const delivered = answer.status >= 200 && answer.status < 300
        const retryAfter = delivered ? undefined : retryAfterOf(answer)
        return {
          outcome: delivered ? 'delivered' : 'http',
          httpStatus: answer.status,
          answer: answer.shown().toString('utf8').replaceAll('\0', '\uFFFD'), // PostgreSQL keeps no NUL
          ms: ms(),
          ...(retryAfter !== undefined && { retryAfter }),
        }
      } catch (error) {
        const kind = failureKind(error)
        const code = failureCode(error)
        return {
          outcome: kind === 'token' || kind === 'elsewhere' ? 'unknown' : kind,
          httpStatus: null,
          answer: null,
          ms: ms(),
          ...(code && { code }),
        }
      }
    },
    close: async () => {
      await Promise.all([caller.close(), agents.close(), tokenAgents.close()])
    },
  }

  function toService({ message, notificatieId }: Deliverable, service: RemoteService): Promise<CallAnswer> {
    const isEvent = message.cloudevent !== null
    return caller.send(service, {
      url: new URL(isEvent ? 'cloudevents' : 'notificaties', service.apiRoot),
      method: 'POST',
      body: JSON.stringify(isEvent ? eventBody(config, message, notificatieId) : bericht(config, message)),
      headers: {
        'x-message-id': message.uuid,
        ...requestHeader(message),
        ...(isEvent && { 'content-type': CLOUD_EVENT, accept: `${CLOUD_EVENT}, application/json` }),
      },
      limit: MAX_ANSWER,
      statusSuffices: true,
    })
  }

  async function toSubscriber(claimed: Deliverable, to: Subscriber): Promise<CallAnswer> {
    const { message, notificatieId, attempt, replay } = claimed
    const body = JSON.stringify(to.cloudevents ? eventBody(config, message, notificatieId) : bericht(config, message))
    const timestamp = String(Math.floor(Date.now() / 1000))
    const owner = subscriberOwner(to.uuid)
    const signature = to.ondertekening.map((secret) =>
      sign(box.open(secret, owner), `${message.uuid}.${timestamp}.${body}`),
    )
    const answer = await sendWithin(to.timeoutMs, agentFor(to), {
      url: new URL(to.callbackUrl),
      method: 'POST',
      body,
      credentials: { authorization: await authorization(to) },
      headers: {
        ...(to.cloudevents && { 'content-type': CLOUD_EVENT }),
        'webhook-id': message.uuid,
        'webhook-timestamp': timestamp,
        'x-attempt': String(attempt),
        ...requestHeader(message),
        ...(replay && { 'x-replay': 'true' }),
        ...(signature.length > 0 && { 'webhook-signature': signature.join(' ') }),
      },
      limit: MAX_ANSWER,
      statusSuffices: true,
    })
    if (answer.status === 401 && to.authenticatie === 'oauth2') tokens.forget(tokenRequest(to))
    return answer
  }

  function agentFor({ uuid, callbackUrl, certificaat, certificateKey }: Subscriber): Agent {
    const key = certificateKey && box.open(certificateKey, subscriberOwner(uuid))
    return agents.agentFor(uuid, new URL(callbackUrl).origin, key ? { cert: certificaat, key } : {})
  }

  async function authorization(to: Subscriber): Promise<string> {
    const secret = box.openFor(to.auth, subscriberOwner(to.uuid), subscriberServers(to))
    if (to.authenticatie === 'header') return secret
    const { outgoingClientId: id } = to
    if (to.authenticatie === 'jwt') {
      const sign = createSigner({ key: secret, algorithm: 'HS256', expiresIn: TOKEN_LIFE_MS })
      return `Bearer ${sign({ iss: id, client_id: id, user_id: '', user_representation: '' })}`
    }
    return `Bearer ${await tokens.get(tokenAgents.agentFor(to.uuid, new URL(to.tokenUrl).origin, {}), tokenRequest(to))}`
  }

  function tokenRequest(to: Subscriber): TokenRequest {
    const { uuid: owner, tokenUrl, outgoingClientId, auth, tokenScope, timeoutMs } = to
    const secret = box.openFor(auth, subscriberOwner(owner), subscriberServers(to))
    return { owner, tokenUrl, clientId: outgoingClientId, secret, scope: tokenScope, timeoutMs }
  }
}

/** What a receiver can find the request by: its id, and the trace that this attempt is in. */
function requestHeader({ requestId }: Message): Record<string, string> {
  const traceparent = currentTraceparent()
  return { ...(requestId && { [REQUEST_ID]: requestId }), ...(traceparent && { [TRACEPARENT]: traceparent }) }
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

const SECRET_PREFIX = 'whsec_'

/** Standard Webhooks: HMAC-SHA256 with the bytes that the secret is the base64 of. */
export function sign(secret: string, content: string): string {
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
