// Our own token endpoint (RFC 6749, 4.4): a client id shows its secret, or an assertion that it signed (RFC 7523), and gets a token
// that the APIs take as one of an issuer. The rights stay those of its applicatie.
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLocalJWKSet, decodeJwt, errors, importJWK, jwtVerify, SignJWT } from 'jose'
import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import { systemActor } from '../../core/access.ts'
import { LIMITS } from '../../core/limits.ts'
import { mutator } from '../../core/mutate.ts'
import { isShort, type SecretBox } from '../../core/secret-box.ts'
import { attemptSucceeded, claimAttempt, clientCounters } from '../../core/sign-in-attempts.ts'
import type { Database } from '../../database/database.ts'
import { ownAddress } from '../../http/links.ts'
import { KeyMissing, WrongKey } from '../../lib/wrong-key.ts'
import { FOR_SERVICES } from '../../services/addresses.ts'
import { openAgent } from '../../services/transport.ts'
import { countAttempts } from '../attempts.ts'
import type { CredentialStore } from '../credentials.ts'
import { ALGORITHMS } from '../issuers/issuer.ts'
import type { KeySet } from '../issuers/key-sets.ts'
import type { Issuer, IssuerStore } from '../issuers/store.ts'
import { ClientKeysAway, openClientKeys } from './client-keys.ts'
import { makeFirstKey, type SigningAlgorithm, signingKeyOwner, signingKeys, TOKEN_SECONDS } from './signing-keys.ts'

/** A request for a token is refused (RFC 6749, 5.2). The message is Dutch and ASCII, for whoever runs the client. */
export class TokenRefusal extends Error {
  readonly status: number
  readonly error: string
  readonly headers: Record<string, string>
  constructor(error: string, message: string, { status = 400, headers = {} as Record<string, string> } = {}) {
    super(message)
    this.error = error
    this.status = status
    this.headers = headers
  }
}

/** What a client sent: the header Authorization, the fields of its form, and its network. */
export type TokenRequest = { authorization: string; form: Record<string, unknown>; network: string }
export type Granted = { access_token: string; token_type: 'Bearer'; expires_in: number }

/** An issuer store of one issuer, ourselves, that also gives out tokens. */
export type TokenEndpoint = IssuerStore & {
  /** The claim iss of our tokens: our address. */
  issuer: string
  /** What others check our tokens with. */
  keySet(): Promise<KeySet>
  /**
   * Gives a token to a client that shows who it is.
   * @throws TokenRefusal
   */
  grant(request: TokenRequest): Promise<Granted>
}

/** Algorithms with which a client may sign its assertion. */
export const ASSERTION_ALGORITHMS: string[] = [...ALGORITHMS]
export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

const LOOK_MS = 10_000
const LOOK_ANEW_MS = 1_000
const LEEWAY_S = 30
const LONGEST_ASSERTION_S = 3_600

type Parts = { database: Database; config: Config; credentials: CredentialStore; box: SecretBox; log: Logger }
type Signer = { kid: string; algorithm: SigningAlgorithm; key: Awaited<ReturnType<typeof importJWK>> }
type Loaded = { text: string; issuer: Issuer; keySet: KeySet; signer: Signer }

/** @returns undefined while TOKEN_ENDPOINT is off */
export function openTokenEndpoint(parts: Parts): TokenEndpoint | undefined {
  const { database, config, credentials, box, log } = parts
  const algorithm = config.tokenEndpoint
  if (algorithm === 'off') return undefined
  const address = ownAddress(config)
  const agent = openAgent({ policy: FOR_SERVICES, connections: 2, proxies: config.proxies })
  const madeUp = countAttempts({ limit: 20, windowMs: 900_000 }) // secrets, by client id and network
  const failing = countAttempts() // assertions, by network
  const clientKeys = openClientKeys(database, agent, config.tokenKeysKeptHours, log)
  let loaded: { kept: Promise<Loaded>; at: number } | undefined
  let before: Loaded | undefined

  async function load(): Promise<Loaded> {
    let rows = await signingKeys(database)
    if (!rows.some(({ maySign }) => maySign)) {
      await mutator(database)(systemActor('token endpoint'), (m) => makeFirstKey(m, box, algorithm as SigningAlgorithm))
      rows = await signingKeys(database)
    }
    const keySet = { keys: rows.map(({ publicKey }) => publicKey) }
    const { kid, algorithm: signsWith, privateKey } = rows.find(({ maySign }) => maySign)!
    const text = JSON.stringify([keySet, kid])
    // The same object while nothing changed: tokens that were found good by it stay so.
    if (before?.text === text) return before
    const key = await importJWK(opened(box, privateKey, kid), signsWith)
    before = {
      text,
      issuer: judgedAs(address, keySet),
      keySet,
      signer: { kid, algorithm: signsWith, key },
    }
    return before
  }

  function known(longest = LOOK_MS): Promise<Loaded> {
    if (loaded && performance.now() - loaded.at < longest) return loaded.kept
    const entry = { kept: load(), at: performance.now() }
    entry.kept.catch(() => {
      if (loaded === entry) loaded = undefined
    })
    loaded = entry
    return entry.kept
  }

  /**
   * Only what can be found by trying is counted before it is looked at, and keeps others out. A long secret is looked at first: who
   * fails in the name of a client, from the same address too, does not shut it out.
   * @param given the secret, in each way that it may be meant
   */
  async function bySecret(clientId: string, given: string[], network: string, refuse: () => TokenRefusal) {
    const credential = isClientId(clientId) ? await credentials.find(clientId) : undefined
    const secrets = credential?.secrets ?? []
    const isRight = secrets.some((one) => given.some((secret) => isSame(one, secret)))
    const isGuessable = secrets.some(isShort)
    if (isRight && !isGuessable) return
    if (secrets.length === 0) {
      // What is made up leaves nothing in the database.
      const key = `${network} ${clientId.slice(0, 255)}`
      madeUp.failed(key)
      const later = madeUp.refusal(key)
      throw later ? tooMany(later.headers['retry-after']) : refuse()
    }
    const counters = clientCounters({ clientId, network, isGuessable })
    await claim(counters)
    if (!isRight) throw refuse()
    await attemptSucceeded(database, counters)
  }

  /** A signature cannot be guessed, so it is judged first, and nobody has to wait but whoever fails very often. */
  async function byAssertion(assertion: string, named: string | undefined, network: string): Promise<string> {
    try {
      return await judgedByAssertion(assertion, named)
    } catch (error) {
      failing.failed(network)
      if (failing.refusal(network)) await sleep(LIMITS.refusalMs)
      throw error
    }
  }

  async function judgedByAssertion(assertion: string, named: string | undefined): Promise<string> {
    const refuse = (why: string) => new TokenRefusal('invalid_client', why)
    const clientId = subjectOf(assertion)
    if (clientId === undefined || !isClientId(clientId) || (named !== undefined && named !== clientId))
      throw refuse('De client_assertion is niet te lezen, of sub is een andere client.')
    if (!(await credentials.find(clientId))) throw refuse(NOT_KNOWN)
    const payload = await verified(assertion, clientId, refuse)
    const { exp, jti } = payload
    if (typeof jti !== 'string' || jti === '' || jti.length > 255)
      throw refuse('jti van de client_assertion is geen tekst.')
    if (exp! > Date.now() / 1000 + LONGEST_ASSERTION_S + LEEWAY_S)
      throw refuse('De client_assertion is langer geldig dan een uur.')
    const used = await database.sql`
      insert into oauth_assertion (digest, expires_at)
      values (${digestOf(`${clientId}\n${jti}`)}, to_timestamp(${exp! + LEEWAY_S}::float8)) on conflict do nothing`
    if (used.count === 0) throw refuse('Deze client_assertion (jti) is al eens gebruikt.')
    return clientId
  }

  async function verified(assertion: string, clientId: string, refuse: (why: string) => TokenRefusal) {
    const options = {
      issuer: clientId,
      subject: clientId,
      audience: [address, `${address}/oauth/token`],
      algorithms: ASSERTION_ALGORITHMS,
      clockTolerance: LEEWAY_S,
      requiredClaims: ['exp', 'jti'],
    }
    for (const anew of [false, true]) {
      try {
        const keys = await clientKeys.find(clientId, { anew })
        if (!keys) throw refuse(NOT_KNOWN)
        return (await jwtVerify(assertion, createLocalJWKSet(keys as never), options)).payload
      } catch (error) {
        if (error instanceof ClientKeysAway)
          throw new TokenRefusal('temporarily_unavailable', 'De sleutels van de client zijn nu niet op te halen.', {
            status: 503,
            headers: { 'retry-after': '30' },
          })
        if (error instanceof errors.JWKSNoMatchingKey && !anew) continue
        throw assertionRefusal(error, refuse)
      }
    }
    throw refuse(NOT_KNOWN)
  }

  async function claim(counters: Parameters<typeof claimAttempt>[1]): Promise<void> {
    const seconds = await claimAttempt(database, counters)
    if (seconds > 0) throw tooMany(String(seconds))
  }

  async function authenticated({ authorization, form, network }: TokenRequest): Promise<string> {
    const [clientId, secret, type, assertion] = (
      ['client_id', 'client_secret', 'client_assertion_type', 'client_assertion'] as const
    ).map((name) => textOf(form, name))
    const ways = [authorization !== '', secret !== undefined, assertion !== undefined || type !== undefined]
    if (ways.filter(Boolean).length > 1)
      throw new TokenRefusal('invalid_request', 'Toon op een manier tegelijk wie de client is.')
    if (assertion !== undefined || type !== undefined) {
      if (type !== ASSERTION_TYPE || assertion === undefined)
        throw new TokenRefusal('invalid_request', `client_assertion_type is niet ${ASSERTION_TYPE}.`)
      return byAssertion(assertion, clientId, network)
    }
    if (authorization !== '') {
      const challenge = { status: 401, headers: { 'www-authenticate': 'Basic realm="zaakstroom"' } }
      const refuse = () => new TokenRefusal('invalid_client', NOT_KNOWN, challenge)
      const given = basicOf(authorization)
      const [first] = given
      if (!first) throw refuse()
      // Whose id is known as it stands there did not encode it.
      const isKnown = async (id: string) => isClientId(id) && (await credentials.find(id)) !== undefined
      const { clientId: shown } = (await isKnown(first.clientId)) ? first : (given.at(-1) ?? first)
      if (clientId !== undefined && clientId !== shown) throw refuse()
      await bySecret(
        shown,
        given.map(({ secret }) => secret),
        network,
        refuse,
      )
      return shown
    }
    if (clientId === undefined || secret === undefined)
      throw new TokenRefusal('invalid_client', 'Het verzoek zegt niet wie de client is.')
    await bySecret(clientId, [secret], network, () => new TokenRefusal('invalid_client', NOT_KNOWN))
    return clientId
  }

  return {
    issuer: address,
    find: async (iss) => (iss === address ? (await known()).issuer : undefined),
    withNewKeys: async () => (await known(LOOK_ANEW_MS)).issuer,
    keySet: async () => (await known()).keySet,
    async grant(request) {
      const grantType = textOf(request.form, 'grant_type')
      if (grantType === undefined) throw new TokenRefusal('invalid_request', 'grant_type ontbreekt.')
      if (grantType !== 'client_credentials')
        throw new TokenRefusal('unsupported_grant_type', 'Alleen client_credentials wordt aangenomen.')
      const clientId = await authenticated(request)
      const { signer } = await known()
      const now = Math.floor(Date.now() / 1000)
      const token = await new SignJWT({ client_id: clientId })
        .setProtectedHeader({ alg: signer.algorithm, kid: signer.kid, typ: 'at+jwt' }) // RFC 9068
        .setIssuer(address)
        .setAudience(address)
        .setSubject(clientId)
        .setIssuedAt(now)
        .setExpirationTime(now + TOKEN_SECONDS)
        .setJti(randomUUID())
        .sign(signer.key)
      return { access_token: token, token_type: 'Bearer', expires_in: TOKEN_SECONDS }
    },
    close: () => agent.destroy(),
  }
}

const NOT_KNOWN = 'De client is niet bekend, of wat hij toont klopt niet.'

/** No row has this id: the keys come first. */
const OWN_ID = 0

const judgedAs = (address: string, keySet: KeySet): Issuer => ({
  id: OWN_ID,
  issuer: address,
  discoveryUrl: '',
  jwksUrl: '',
  audiences: [address],
  algorithms: ['EdDSA', 'ES256'],
  clientClaims: ['client_id'],
  userClaims: [],
  userNameClaims: [],
  organisationClaim: '',
  maxLifetimeSeconds: TOKEN_SECONDS,
  leewaySeconds: LEEWAY_S,
  requiredScopes: [],
  requiresCertificate: false,
  keys: createLocalJWKSet(keySet as never),
})

function opened(box: SecretBox, sealed: Buffer, kid: string) {
  try {
    return JSON.parse(box.open(sealed, signingKeyOwner(kid)))
  } catch (error) {
    throw error instanceof KeyMissing ? error : new WrongKey()
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
const isClientId = (text: string) => /^[^\u0000-\u001f\u007f]{1,50}$/.test(text)

/** A field of a form. @throws TokenRefusal when it is there twice (RFC 6749, 3.2) */
function textOf(form: Record<string, unknown>, name: string): string | undefined {
  const value = Object.hasOwn(form, name) ? form[name] : undefined
  if (Array.isArray(value)) throw new TokenRefusal('invalid_request', `${name} staat er meer dan eens.`)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/**
 * Id and secret of HTTP Basic: encoded as in a form (RFC 6749, 2.3.1), and as they stand there, since half of all clients do not encode
 * them. None when it is no Basic.
 */
function basicOf(authorization: string): { clientId: string; secret: string }[] {
  const [, base64] = /^Basic +([A-Za-z0-9+/=]{1,4096})$/i.exec(authorization) ?? []
  const text = base64 === undefined ? '' : Buffer.from(base64, 'base64').toString('utf8')
  const at = text.indexOf(':')
  if (at < 1) return []
  const asGiven = { clientId: text.slice(0, at), secret: text.slice(at + 1) }
  if (!/[+%]/.test(text)) return [asGiven]
  try {
    const decoded = (part: string) => decodeURIComponent(part.replaceAll('+', ' '))
    return [{ clientId: decoded(asGiven.clientId), secret: decoded(asGiven.secret) }, asGiven]
  } catch {
    return [asGiven]
  }
}

const tooMany = (retryAfter = '1') =>
  new TokenRefusal('temporarily_unavailable', 'Te veel pogingen. Probeer het later opnieuw.', {
    status: 429,
    headers: { 'retry-after': retryAfter },
  })

const digestOf = (text: string) => createHash('sha256').update(text).digest()
const isSame = (one: string, other: string) => timingSafeEqual(digestOf(one), digestOf(other))

function subjectOf(assertion: string): string | undefined {
  try {
    return decodeJwt(assertion).sub
  } catch {
    return undefined
  }
}

/** What an error of jose means to a client. None of its texts is passed on: they may hold what the assertion says. */
function assertionRefusal(error: unknown, refuse: (why: string) => TokenRefusal): unknown {
  if (error instanceof errors.JWTExpired) return refuse('De client_assertion is verlopen.')
  if (error instanceof errors.JWTClaimValidationFailed && CLAIMS.has(error.claim))
    return refuse(`${error.claim} van de client_assertion klopt niet.`)
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return refuse('De client heeft meer sleutels: noem er een in kid van de client_assertion.')
  if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof SyntaxError)
    return refuse(NOT_KNOWN)
  return error
}
const CLAIMS = new Set(['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti'])
