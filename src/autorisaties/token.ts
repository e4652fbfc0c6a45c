import { randomBytes } from 'node:crypto'
import type { BlockList } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Config } from '../config.ts'
import type { Actor, Origin } from '../core/actor.ts'
import { forbidden, Problem } from '../core/problem.ts'
import { isShort } from '../core/secret-box.ts'
import { header, headerText } from '../http/header.ts'
import { isListed, networkOf } from '../http/network.ts'
import type { Attempts } from './attempts.ts'
import type { Credential, CredentialStore, Use } from './credentials.ts'
import { ALGORITHMS } from './issuers/issuer.ts'
import type { Issuer, IssuerStore } from './issuers/store.ts'
import {
  type IssuerToken,
  requireFitting,
  requireUnexpired,
  thumbprintOf,
  UnknownKey,
  verifyIssuerToken,
} from './issuers/verify.ts'
import type { TokenEndpoint } from './token-endpoint/endpoint.ts'

// An unknown client costs the same signature check as a known one: the time tells nothing.
const NOBODY = randomBytes(32).toString('hex')

type Decoded = { header: Claims; payload: Claims }
/**
 * Tokens whose signature was good, with what they were judged by: checking it again is most of the work. Whoever is asked
 * for a credential or an issuer gives another object once anything about it may have changed, and then it is checked anew.
 */
export type Verified = LRUCache<string, SelfMade | OfIssuer>
type SelfMade = Decoded & { credential: Credential; use: Use | undefined }
type OfIssuer = Decoded & { credential: Credential; issuer: Issuer; said: IssuerToken }
/** The thousand that were used last, for one process. */
export const rememberTokens = (): Verified => new LRUCache({ max: 1_000 })

/** What tokens are judged with. */
export type Judging = {
  config: Config
  credentials: CredentialStore
  issuers: IssuerStore
  tokenEndpoint: TokenEndpoint | undefined
  attempts: Attempts
  verified: Verified
  /** The addresses of TRUST_PROXY. */
  proxies: BlockList
}

/**
 * Who sends this request, by its token: one that the client made itself (JWT, HS256 only, one secret per client id), or one of
 * an issuer. Every failure is 403 with the code of the standard; the order of the checks is that of the reference
 * implementation, since clients act on the codes.
 * @throws Problem 403, or 429 after too many failures
 */
export async function authenticate(app: FastifyInstance, request: FastifyRequest, judging: Judging): Promise<Actor> {
  const token = bearerToken(request)
  const known = judging.verified.get(token)
  const decoded = known ?? decode(app, token)
  return isOfIssuer(decoded)
    ? authenticateByIssuer(request, token, decoded, known as OfIssuer | undefined, judging)
    : authenticateBySecret(app, request, token, decoded, known as SelfMade | undefined, judging)
}

/**
 * Whose rules a token is judged by: its own claims say so, before anything is checked, and either side checks that it is what it
 * says. A token that a client makes itself has its client id as `iss`, and is signed with HS256: that is never a token of an issuer.
 */
function isOfIssuer({ header, payload }: Decoded): boolean {
  return isAlgorithm(header.alg) && typeof payload.iss === 'string' && /^https?:\/\//.test(payload.iss)
}

const isAlgorithm = (alg: unknown): boolean => (ALGORITHMS as readonly unknown[]).includes(alg)

async function authenticateBySecret(
  app: FastifyInstance,
  request: FastifyRequest,
  token: string,
  { header: tokenHeader, payload }: Decoded,
  known: SelfMade | undefined,
  { config, credentials, attempts, verified }: Judging,
): Promise<Actor> {
  const address = networkOf(request.ip)
  const clientId = payload.client_id
  if (clientId === undefined) throw forbidden('missing-client-identifier', 'Het token noemt geen client_id.')
  const usable = typeof clientId === 'string' && CLIENT_ID.test(clientId)
  const credential = usable ? await credentials.find(clientId) : undefined
  if (!credential || credential.secrets.length === 0) {
    verifySignature(app, token, [NOBODY])
    attempts.failed(address)
    throw attempts.refusal(address) ?? forbidden('invalid-client-identifier', 'De client_id van het token is onbekend.')
  }
  // A secret that can be found by trying is not tried any further. Long ones are: behind a proxy all clients may share an
  // address, and nobody may shut out another by failing in his name.
  const key = `${address} ${clientId}`
  const refusal = attempts.refusal(key)
  if (refusal && credential.secrets.some(isShort)) throw refusal
  let use = known?.use
  if (known?.credential !== credential) {
    const checked = checkAlgorithm(tokenHeader) ?? verifySignature(app, token, credential.secrets)
    if (checked instanceof Problem) {
      verified.delete(token)
      attempts.failed(key)
      throw attempts.refusal(key) ?? checked
    }
    use = credential.uses[checked]
    verified.set(token, { header: tokenHeader, payload, credential, use })
  }
  attempts.succeeded(key)
  const problem = checkClaims(payload, config, request)
  if (problem) throw problem
  if (use) credentials.used(use)
  const user = { userId: claimText(payload.user_id), userRepresentation: claimText(payload.user_representation) }
  return toActor(clientId as string, credential, user, null, request)
}

async function authenticateByIssuer(
  request: FastifyRequest,
  token: string,
  { header: tokenHeader, payload }: Decoded,
  known: OfIssuer | undefined,
  { credentials, issuers, tokenEndpoint, verified, proxies }: Judging,
): Promise<Actor> {
  const isOwn = payload.iss === tokenEndpoint?.issuer
  const store = isOwn && tokenEndpoint ? tokenEndpoint : issuers
  const issuer = await store.find(payload.iss as string)
  if (!issuer) throw forbidden('unknown-issuer', 'De token-uitgever (iss) is hier niet bekend.')
  const isKnown = known?.issuer === issuer
  const said = isKnown ? known.said : await judgedBy(token, issuer, store, isOwn)
  requireUnexpired(said)
  if (said.boundTo !== undefined) requireCertificate(said.boundTo, request, proxies)
  // We gave this token to the client id itself, so it may do what that may.
  const credential = isOwn
    ? await credentials.find(said.clientId)
    : await credentials.findOfIssuer(issuer.id, said.clientId)
  if (!credential)
    throw forbidden('invalid-client-identifier', 'De client van het token hoort hier bij geen enkele applicatie.')
  if (!isKnown || known.credential !== credential)
    verified.set(token, { header: tokenHeader, payload, credential, issuer, said })
  if (!isOwn) for (const use of credential.uses) credentials.used(use)
  const origin = { issuer: issuer.issuer, ...(said.organisation !== '' && { organisation: said.organisation }) }
  return toActor(said.clientId, credential, said, origin, request)
}

/** @throws Problem 403; 503 when all of it is good but for its key, which may be new */
async function judgedBy(token: string, issuer: Issuer, issuers: IssuerStore, isOwn: boolean): Promise<IssuerToken> {
  try {
    return await verifyIssuerToken(token, issuer)
  } catch (error) {
    if (!(error instanceof UnknownKey)) throw error
  }
  const withNewKeys = await issuers.withNewKeys(issuer)
  try {
    if (withNewKeys) return await verifyIssuerToken(token, withNewKeys)
  } catch (error) {
    if (!(error instanceof UnknownKey)) throw error
  }
  if (isOwn) throw forbidden('invalid-jwt-signature', 'De ondertekening van het token klopt niet.') // these are all our keys
  requireFitting(token, issuer)
  // A provider may have made this key a moment ago, at its first use: its keys are asked for once in 30 seconds.
  throw new Problem(503, {
    code: 'unknown-key',
    detail: 'De sleutel (kid) van het token is nog niet bekend bij de token-uitgever.',
    headers: { 'retry-after': '30' },
  })
}

/** RFC 8705: a token that is bound to a certificate is taken from whoever has that, as a proxy of ours tells (RFC 9440). */
function requireCertificate(thumbprint: string, request: FastifyRequest, proxies: BlockList): void {
  const isTrusted = isListed(proxies, request.raw.socket.remoteAddress)
  const shown = isTrusted ? thumbprintOf(header(request, 'client-cert')) : undefined
  if (shown === thumbprint) return
  throw forbidden(
    'invalid-certificate',
    'Het token is aan een ander client-certificaat gebonden, of dat werd niet getoond.',
  )
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
const CLIENT_ID = /^[^\u0000-\u001f\u007f]{1,50}$/

function bearerToken(request: FastifyRequest): string {
  const given = header(request, 'authorization')
  const [, token] = /^Bearer (\S+)$/i.exec(given) ?? []
  if (!token)
    throw forbidden(
      undefined,
      given === ''
        ? 'De header Authorization ontbreekt: stuur "Authorization: Bearer <token>".'
        : 'De header Authorization is niet van de vorm "Bearer <token>".',
    )
  return token
}

type Claims = Record<string, unknown>

function decode(app: FastifyInstance, token: string): Decoded {
  const problem = () => forbidden('jwt-decode-error', 'Het token is niet te lezen. Is het helemaal overgenomen?')
  let decoded: { header?: unknown; payload?: unknown; signature?: string } | null
  try {
    decoded = app.jwt.decode(token, { complete: true })
  } catch {
    throw problem()
  }
  const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isObject(decoded?.header) || !isObject(decoded?.payload)) throw problem()
  return decoded as Decoded
}

/** The header is only compared, it selects nothing: the check below knows just the one algorithm. */
function checkAlgorithm({ alg }: Claims): Problem | undefined {
  if (alg === 'HS256') return undefined
  return forbidden('jwt-invalidalgorithmerror', 'Het token is niet met HS256 ondertekend.')
}

/**
 * Checks algorithm and signature, and no claim; any of the secrets will do, so that a secret can be replaced.
 * @returns which one it was
 */
function verifySignature(app: FastifyInstance, token: string, secrets: string[]): Problem | number {
  let failure = signatureProblem('FAST_JWT_INVALID_SIGNATURE')
  for (const [index, key] of secrets.entries()) {
    try {
      app.jwt.verify(token, { key, algorithms: ['HS256'], ignoreExpiration: true, ignoreNotBefore: true })
      return index
    } catch (error) {
      failure = signatureProblem((error as { code?: string }).code)
    }
  }
  return failure
}

function signatureProblem(code: string | undefined): Problem {
  switch (code) {
    case 'FAST_JWT_INVALID_SIGNATURE':
    case 'FAST_JWT_MISSING_SIGNATURE':
      return forbidden('invalid-jwt-signature', 'De ondertekening van het token klopt niet.')
    default:
      return forbidden('jwt-decode-error', 'Het token is niet te lezen.')
  }
}

/** The claims, only now that the signature says who wrote them. */
function checkClaims(claims: Claims, config: Config, request: FastifyRequest): Problem | undefined {
  const now = Date.now() / 1000
  const { iat, nbf, exp, aud, sub, jti } = claims
  const given = (value: unknown) => value !== undefined && value !== null
  if (!given(iat)) return forbidden('jwt-missing-iat-claim', 'In het token ontbreekt iat.')
  if (given(nbf)) {
    if (!isSeconds(nbf)) return forbidden('jwt-decodeerror', 'nbf van het token is geen getal.')
    if (nbf > now + config.jwtLeeway) return forbidden('jwt-immaturesignatureerror', 'Het token is nog niet geldig.')
  }
  if (given(exp)) {
    if (!isSeconds(exp)) return forbidden('jwt-decodeerror', 'exp van het token is geen getal.')
    if (exp <= now - config.jwtLeeway) return forbidden('jwt-expiredsignatureerror', 'Het token is verlopen.')
  }
  if (given(aud) && aud !== '' && !(Array.isArray(aud) && aud.length === 0)) {
    return forbidden('jwt-invalidaudienceerror', 'Het token is voor een andere ontvanger.')
  }
  if (given(sub) && typeof sub !== 'string')
    return forbidden('jwt-invalidsubjecterror', 'sub van het token is geen tekst.')
  if (given(claims.user_id) && typeof claims.user_id !== 'string' && typeof claims.user_id !== 'number')
    return forbidden('jwt-decodeerror', 'user_id van het token is geen tekst.')
  if (given(jti) && typeof jti !== 'string') return forbidden('jwt-invalidjtierror', 'jti van het token is geen tekst.')
  const issued = typeof iat === 'string' && /^\d{1,15}$/.test(iat) ? Number(iat) : iat
  if (!isSeconds(issued)) return forbidden(undefined, 'iat van het token is geen geheel getal.')
  if (now - issued >= config.jwtExpiry + config.jwtLeeway) return forbidden('jwt-expired', 'Het token is te oud.')
  if (issued > now + config.jwtIatSkew + config.jwtLeeway)
    return forbidden('jwt-immaturesignatureerror', 'iat van het token ligt te ver in de toekomst.')
  if (issued > now + config.jwtLeeway)
    request.log.warn({ seconds: Math.round(issued - now) }, 'token from the future: clocks differ')
  return undefined
}

function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER
}

type User = { userId: string; userRepresentation: string }

function toActor(
  clientId: string,
  credential: Credential,
  { userId, userRepresentation }: User,
  origin: Origin | null,
  request: FastifyRequest,
): Actor {
  return {
    clientId,
    userId,
    userRepresentation,
    applicatieUuid: credential.applicatieUuid,
    applicatieLabel: credential.applicatieLabel,
    alleAutorisaties: credential.alleAutorisaties,
    alleenGereedVoorPublicatie: credential.alleenGereedVoorPublicatie,
    autorisaties: credential.autorisaties,
    base: request.base,
    toelichting: headerText(request, 'x-audit-toelichting'),
    logrecordId: headerText(request, 'x-nlx-logrecord-id'),
    origin,
  }
}

function claimText(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') return ''
  return String(value).replaceAll('\0', '').toWellFormed().slice(0, 255)
}
