// Whether a token of an issuer is good, and what it says. jose checks the signature and the claims of RFC 7519; the rules here
// are those of the OAuth profile of the Dutch government (NL GOV Assurance profile for OAuth 2.0), RFC 8705 and RFC 9068.
import { createHash } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, type JWTVerifyResult, jwtVerify } from 'jose'
import { forbidden, type Problem } from '../../core/problem.ts'
import type { Issuer } from './store.ts'

/** What a good token says. */
export type IssuerToken = {
  clientId: string
  userId: string
  userRepresentation: string
  organisation: string
  /** Seconds, with the leeway: from then on it is refused. */
  expiresAt: number
  /** Thumbprint of the client certificate that it is bound to. */
  boundTo: string | undefined
}

type Claims = Record<string, unknown>

const otherAlgorithm = () =>
  forbidden('jwt-invalidalgorithmerror', 'Het algoritme van het token wordt voor deze token-uitgever niet aangenomen.')
const otherAudience = () => forbidden('invalid-audience', 'Het token is voor een andere ontvanger (aud).')
const notYet = () => forbidden('jwt-immaturesignatureerror', 'Het token is nog niet geldig.')
const otherSignature = () => forbidden('invalid-jwt-signature', 'De ondertekening van het token klopt niet.')
const expired = () => forbidden('expired-token', 'Het token is verlopen.')

/** Tells that the key of a token is not among those that are known. */
export class UnknownKey extends Error {}

/**
 * Judges a token of this issuer.
 * @throws UnknownKey when newer keys may help
 * @throws Problem 403
 */
export async function verifyIssuerToken(token: string, issuer: Issuer): Promise<IssuerToken> {
  const { payload, protectedHeader } = await checkedBy(token, issuer)
  const fault = faultOf(payload, protectedHeader.typ, issuer)
  if (fault) throw fault
  const clientId = firstText(payload, issuer.clientClaims, 255)
  if (clientId === '')
    throw forbidden('missing-client-identifier', `Het token noemt geen client (${issuer.clientClaims.join(', ')}).`)
  return {
    clientId,
    userId: firstText(payload, issuer.userClaims, 255),
    userRepresentation: firstText(payload, issuer.userNameClaims, 255),
    organisation: issuer.organisationClaim === '' ? '' : firstText(payload, [issuer.organisationClaim], 255),
    expiresAt: payload.exp! + issuer.leewaySeconds,
    boundTo: boundTo(payload),
  }
}

/**
 * Judges what a token says, though not by whom: of one with an unknown key that tells whether a newer key could help.
 * @throws Problem 403
 */
export function requireFitting(token: string, issuer: Issuer): void {
  const [{ alg, typ }, payload] = [decodeProtectedHeader(token), decodeJwt(token)]
  const { aud, exp, nbf } = payload
  const now = Date.now() / 1000
  if (!issuer.algorithms.includes(alg as never)) throw otherAlgorithm()
  if (![aud].flat().some((one) => issuer.audiences.includes(String(one)))) throw otherAudience()
  if (typeof exp !== 'number' || exp <= now - issuer.leewaySeconds) throw expired()
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf <= now + issuer.leewaySeconds)) throw notYet()
  const fault = faultOf(payload, typ, issuer)
  if (fault) throw fault
}

/** The same token again: only time has passed. @throws Problem 403 */
export function requireUnexpired({ expiresAt }: IssuerToken): void {
  if (expiresAt <= Date.now() / 1000) throw expired()
}

async function checkedBy(token: string, issuer: Issuer): Promise<JWTVerifyResult> {
  if (!issuer.keys) throw new UnknownKey()
  const options = {
    issuer: issuer.issuer,
    audience: issuer.audiences,
    algorithms: issuer.algorithms,
    clockTolerance: issuer.leewaySeconds,
    requiredClaims: ['exp'],
  }
  try {
    return await jwtVerify(token, issuer.keys, options)
  } catch (error) {
    // A token without `kid` may be of any key of its kind.
    if (error instanceof errors.JWKSMultipleMatchingKeys) return checkedByOne(token, error, options)
    throw refusalOf(error)
  }
}

async function checkedByOne(
  token: string,
  candidates: errors.JWKSMultipleMatchingKeys,
  options: object,
): Promise<JWTVerifyResult> {
  let refusal: unknown = otherSignature()
  for await (const key of candidates) {
    try {
      return await jwtVerify(token, key, options)
    } catch (error) {
      refusal = refusalOf(error)
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) break
    }
  }
  throw refusal
}

/** What an error of jose means to a client. None of its texts is passed on: they may hold what the token says. */
function refusalOf(error: unknown): unknown {
  if (error instanceof errors.JWKSNoMatchingKey) return new UnknownKey()
  if (error instanceof errors.JWTExpired) return expired()
  if (error instanceof errors.JOSEAlgNotAllowed) return otherAlgorithm()
  if (error instanceof errors.JWSSignatureVerificationFailed) return otherSignature()
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') return otherAudience()
    if (error.claim === 'iss') return forbidden('unknown-issuer', 'De token-uitgever (iss) is niet bekend.')
    if (error.claim === 'nbf') return notYet()
    if (error.claim === 'exp') return forbidden('expired-token', 'Het token heeft geen exp, of die is geen getal.')
  }
  if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof SyntaxError)
    return forbidden('jwt-decode-error', 'Het token is niet te lezen.')
  return error
}

function faultOf(payload: JWTPayload, typ: unknown, issuer: Issuer): Problem | undefined {
  const now = Date.now() / 1000
  const { exp = 0, iat } = payload
  if (exp > now + issuer.maxLifetimeSeconds + issuer.leewaySeconds)
    return forbidden(
      'token-lifetime',
      `Het token is langer geldig dan hier mag: ${issuer.maxLifetimeSeconds} seconden.`,
    )
  if (iat !== undefined && !(typeof iat === 'number' && iat <= now + issuer.leewaySeconds))
    return forbidden('jwt-immaturesignatureerror', 'iat van het token ligt in de toekomst.')
  if (!isAccessToken(typ) || isOtherToken(payload))
    return forbidden(
      'invalid-token-type',
      'Dit is geen access token: een ID-token of refresh token wordt niet aangenomen.',
    )
  if (isDpop(payload)) return forbidden('invalid-certificate', 'Een token met DPoP wordt hier niet aangenomen.')
  if (issuer.requiresCertificate && boundTo(payload) === undefined)
    return forbidden('invalid-certificate', 'Het token is niet aan een client-certificaat gebonden (cnf).')
  if (issuer.requiredScopes.length > 0 && !scopesOf(payload).some((scope) => issuer.requiredScopes.includes(scope)))
    return forbidden('insufficient-scope', `Het token mist een scope of rol: ${issuer.requiredScopes.join(' of ')}.`)
  return undefined
}

/** By its header (RFC 9068, 2.1): most providers say JWT, or nothing. */
const isAccessToken = (typ: unknown): boolean =>
  typ === undefined || (typeof typ === 'string' && /^(application\/)?(at\+)?jwt$/i.test(typ))

/** Keycloak says in a claim what a token is; ID tokens of others have the hash of an access token or a code. */
function isOtherToken({ typ, at_hash, c_hash }: JWTPayload): boolean {
  return (
    (typeof typ === 'string' && /^(id|refresh|offline|logout)$/i.test(typ)) ||
    at_hash !== undefined ||
    c_hash !== undefined
  )
}

const confirmation = ({ cnf }: JWTPayload): Claims => (typeof cnf === 'object' && cnf !== null ? (cnf as Claims) : {})
const isDpop = (payload: JWTPayload): boolean => confirmation(payload).jkt !== undefined

function boundTo(payload: JWTPayload): string | undefined {
  const thumbprint = confirmation(payload)['x5t#S256']
  return thumbprint === undefined ? undefined : String(thumbprint)
}

/** Scopes (RFC 9068; `scp` in Entra ID and ADFS) and roles (Entra ID gives no scope to client credentials). */
function scopesOf({ scope, scp, roles }: JWTPayload): string[] {
  return [scope, scp, roles].flatMap((given) =>
    typeof given === 'string'
      ? given.split(' ')
      : Array.isArray(given)
        ? given.filter((one) => typeof one === 'string')
        : [],
  )
}

/** The first of these claims that has a text, without what cannot be stored. */
function firstText(payload: Claims, names: string[], max: number): string {
  for (const name of names) {
    const value = Object.hasOwn(payload, name) ? payload[name] : undefined
    // A longer id may be another one up to there.
    if (typeof value === 'string' && value !== '' && value.length <= max && !/\p{Cc}/u.test(value))
      return value.toWellFormed()
  }
  return ''
}

/** The thumbprint (RFC 8705, 3.1) of a certificate in the header of RFC 9440: base64 of its DER between colons. */
export function thumbprintOf(clientCert: string): string | undefined {
  const [, base64] = /^:([A-Za-z0-9+/=]{1,16384}):$/.exec(clientCert.trim()) ?? []
  return base64 === undefined
    ? undefined
    : createHash('sha256').update(Buffer.from(base64, 'base64')).digest('base64url')
}
