// FSC (Logius, FSC Core): an Inway leaves the token of its connection in the request, in the header `Fsc-Authorization`. It says which
// organisation asks, on whose behalf and by which grant. That is recorded, and gives no rights: the Inway has judged it.
import { X509Certificate } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { errors, type JWTPayload, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import type { FscSettings } from '../config.ts'
import type { FscOrigin } from '../core/actor.ts'
import { header } from '../http/header.ts'

/** FSC Core, Access token. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512']
const LEEWAY_S = 30

export type Fsc = {
  /** What a request says of its connection; undefined: nothing that holds. Only for requests that come from a trusted Inway. */
  originOf(request: FastifyRequest): Promise<FscOrigin | undefined>
}

/** Checks tokens with the certificates that our Manager signs with: each names its own by the thumbprint in its header. */
export function openFsc({ peerId, groupId, certificates, audience, services }: FscSettings): Fsc {
  const keys = new Map(
    certificates.map((pem) => {
      const certificate = new X509Certificate(pem)
      return [
        Buffer.from(certificate.fingerprint256.replaceAll(':', ''), 'hex').toString('base64url'),
        certificate.publicKey,
      ]
    }),
  )
  const verified = new LRUCache<string, { said: FscOrigin; expiresAt: number }>({ max: 1_000 })
  async function judge(token: string) {
    const known = verified.get(token)
    if (known && known.expiresAt > Date.now() / 1000) return known.said
    const { payload } = await jwtVerify(
      token,
      (given) => {
        const key = keys.get(String(given['x5t#S256']))
        if (!key) throw new errors.JWKSNoMatchingKey()
        return key
      },
      {
        algorithms: ALGORITHMS,
        issuer: peerId,
        requiredClaims: ['exp', 'sub', 'gth', 'svc', 'aud'],
        audience,
        clockTolerance: LEEWAY_S,
      },
    )
    if (payload.gid !== groupId) throw new errors.JWTClaimValidationFailed('another group', payload, 'gid')
    const service = text(payload.svc)
    if (service === '' || (services && !services.includes(service)))
      throw new errors.JWTClaimValidationFailed('another service', payload, 'svc')
    const said = originIn(payload)
    if (said.peer === '' || said.grantHash === '')
      throw new errors.JWTClaimValidationFailed('nobody, or no grant', payload, 'sub')
    verified.set(token, { said, expiresAt: payload.exp! + LEEWAY_S })
    return said
  }
  return {
    async originOf(request) {
      const [, token] = /^(?:Bearer +)?(\S+)$/i.exec(header(request, 'fsc-authorization')) ?? []
      if (!token) return undefined
      try {
        const transaction = text(header(request, 'fsc-transaction-id'))
        return { ...(await judge(token)), ...(transaction && { transaction }) }
      } catch (error) {
        request.log.warn({ code: (error as { code?: string }).code }, 'the FSC token of an Inway does not hold')
        return undefined
      }
    },
  }
}

/** `act.sub` connects on behalf of `sub`, and `pdi` had the service published. */
function originIn({ sub, gth, act, pdi }: JWTPayload): FscOrigin {
  const actor = text((act as { sub?: unknown } | undefined)?.sub)
  const publisher = text(pdi)
  return { peer: text(sub), grantHash: text(gth), ...(actor && { actor }), ...(publisher && { publisher }) }
}

const text = (value: unknown): string =>
  typeof value === 'string' && value.length <= 255 && !/\p{Cc}/u.test(value) ? value.toWellFormed() : ''
