// What speaks OpenID Connect with a provider. Its library takes memory that most do not need, so that this is loaded when somebody signs in
// that way, or tries a provider.

import type { FastifyBaseLogger } from 'fastify'
import {
  createRemoteJWKSet,
  type FetchImplementation,
  type JWTVerifyGetKey,
  customFetch as joseFetch,
  jwtVerify,
} from 'jose'
import * as openid from 'openid-client'
import { fetch } from 'undici'
import { ALGORITHMS } from '../../autorisaties/issuers/issuer.ts'
import type { OidcSettings } from '../../config.ts'
import { FOR_SERVICES } from '../../services/addresses.ts'
import { openAgent, type Proxies } from '../../services/transport.ts'
import type { FormFaults } from '../frame/form.ts'
import { t } from '../language/language.ts'

const TIMEOUT_SECONDS = 10
const KNOWN_MS = 3_600_000
const AWAY_MS = 5000
const SIGNED_WITH = [...ALGORITHMS, 'Ed25519']
/** Providers whose addresses are remembered. */
const MOST = 50

/** The provider cannot be asked now. */
export class ProviderAway extends Error {}

export type Begun = { target: string; state: string; nonce: string; verifier: string }

/** What a provider is asked to do with who is signed in there: to let him choose an account, or to ask for his password again. */
export type Prompt = 'select_account' | 'login'

/** Where the browser is sent, and what its answer is held against. */
export async function beginSignIn(
  configuration: openid.Configuration,
  scope: string,
  redirectUri: string,
  prompt?: Prompt,
): Promise<Begun> {
  const [state, nonce, verifier] = [openid.randomState(), openid.randomNonce(), openid.randomPKCECodeVerifier()]
  const { href } = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    scope,
    response_type: 'code',
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
    ...(prompt && { prompt }),
    ...(prompt === 'login' && { max_age: '0' }),
  })
  return { target: href, state, nonce, verifier }
}

/** The claims of who signed in, and the ID token that has them. @param url as the browser came back */
export async function endSignIn(
  configuration: openid.Configuration,
  url: URL,
  { state, nonce, verifier }: Omit<Begun, 'target'>,
): Promise<{ claims: Record<string, unknown>; idToken: string | undefined }> {
  const tokens = await openid.authorizationCodeGrant(configuration, url, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  })
  return { claims: tokens.claims() as Record<string, unknown>, idToken: tokens.id_token }
}

/**
 * Where the browser ends its session at the provider; undefined when that knows no such address.
 * @param back where it comes back to
 */
export function endSessionUrl(
  configuration: openid.Configuration,
  idToken: string | undefined,
  back: string,
): URL | undefined {
  if (!configuration.serverMetadata().end_session_endpoint) return undefined
  return openid.buildEndSessionUrl(configuration, {
    post_logout_redirect_uri: back,
    ...(idToken && { id_token_hint: idToken }),
  })
}

const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout'
/** A token of before is worth nothing, so that one that is sent again ends no newer session. */
const LOGOUT_SECONDS = 300
/** A key that is not known is asked for, so often at most: a provider tells of a logout once, and anybody may send us a token. */
const KEYS_AGAIN_MS = 1000
const keySets = new WeakMap<openid.Configuration, JWTVerifyGetKey>()

/** Whose session ended at the provider (OpenID Connect Back-Channel Logout 1.0, 2.6). @throws when the token does not hold */
export async function readLogoutToken(
  configuration: openid.Configuration,
  settings: OidcSettings,
  proxies: Proxies,
  token: string,
): Promise<{ subject: string | null; sid: string | null; issuedAt: number }> {
  const { jwks_uri: keysAt } = configuration.serverMetadata()
  if (!keysAt) throw new Error('the provider names no keys')
  const keys =
    keySets.get(configuration) ??
    createRemoteJWKSet(new URL(keysAt), {
      timeoutDuration: TIMEOUT_SECONDS * 1000,
      cooldownDuration: KEYS_AGAIN_MS,
      [joseFetch]: fetchThrough(proxies) as unknown as FetchImplementation,
    })
  keySets.set(configuration, keys)
  const { payload } = await jwtVerify(token, keys, {
    issuer: settings.issuer,
    audience: settings.clientId,
    algorithms: SIGNED_WITH,
    requiredClaims: ['iat', 'jti'],
    maxTokenAge: LOGOUT_SECONDS,
    clockTolerance: 60,
  })
  const { sub = null, sid = null, events, nonce, iat } = payload
  const isEvent = typeof events === 'object' && events !== null && Object.hasOwn(events, LOGOUT_EVENT)
  if (!isEvent || nonce !== undefined || (typeof sub !== 'string' && typeof sid !== 'string'))
    throw new Error('this is no logout token')
  return { subject: sub, sid: typeof sid === 'string' ? sid : null, issuedAt: iat ?? 0 }
}

/** Through our way out, which calls what may be called. */
function fetchThrough(proxies: Proxies): openid.CustomFetch {
  const agent = openAgent({ policy: FOR_SERVICES, connections: 5, proxies })
  const ask = fetch as unknown as (url: string, options: object) => Promise<Response> // undici's types of the same classes
  return async (url, options) => ask(url, { ...options, dispatcher: await agent.dispatcher() })
}

const discover = ({ issuer, clientId, clientSecret }: OidcSettings, customFetch: openid.CustomFetch) =>
  openid.discovery(new URL(issuer), clientId, clientSecret, clientSecret ? undefined : openid.None(), {
    timeout: TIMEOUT_SECONDS,
    [openid.customFetch]: customFetch,
    execute: [
      openid.enableNonRepudiationChecks, // the signature of the ID token, which the library leaves to TLS
      // Only for a provider that was written with http.
      ...(issuer.startsWith('http:') ? [openid.allowInsecureRequests] : []),
    ],
  })

type Known = { configuration: Promise<openid.Configuration>; until: number }
export type Providers = {
  ask(settings: OidcSettings, log: FastifyBaseLogger): Promise<openid.Configuration>
  /** Asks anew the next time, since it has other keys. */
  forget(settings: OidcSettings): void
}

/** The addresses and keys of providers: asked at the first sign-in, anew after an hour, and soon again when one was away. */
export function openProviders(proxies: Proxies): Providers {
  const customFetch = fetchThrough(proxies)
  const known = new Map<string, Known>()
  const keyOf = ({ issuer, clientId, clientSecret }: OidcSettings) => JSON.stringify([issuer, clientId, clientSecret])
  const ask = (settings: OidcSettings, log: FastifyBaseLogger) => {
    const key = keyOf(settings)
    const found = known.get(key)
    if (found && found.until >= performance.now()) return found.configuration
    const mine: Known = { configuration: discover(settings, customFetch), until: performance.now() + KNOWN_MS }
    mine.configuration = mine.configuration.catch((error) => {
      log.error({ err: redacted(error) }, 'the OpenID Connect provider cannot be used')
      mine.until = performance.now() + AWAY_MS
      throw new ProviderAway()
    })
    known.delete(key)
    known.set(key, mine)
    for (const old of [...known.keys()].slice(0, -MOST)) known.delete(old)
    return mine.configuration
  }
  return { ask, forget: (settings) => void known.delete(keyOf(settings)) }
}

/** Whether an ID token was signed with a key that we do not know: the library asks for keys once a minute. */
export const isUnknownKey = (error: unknown): boolean =>
  [error, (error as { cause?: unknown }).cause].some(
    (one) => (one as { code?: unknown } | undefined)?.code === 'OAUTH_KEY_SELECTION_FAILED',
  )

/**
 * Tries a provider: whether it is one, has keys and what we need, and knows our client. A code that it never gave shows the last: a provider
 * that refuses the code has taken the client.
 * @returns what is wrong, by the field of the form; nothing when all is well
 */
export async function tryProvider(settings: OidcSettings, redirectUri: string, proxies: Proxies): Promise<FormFaults> {
  const customFetch = fetchThrough(proxies)
  let configuration: openid.Configuration
  try {
    configuration = await discover(settings, customFetch)
  } catch (error) {
    return {
      issuer: isAway(error)
        ? t('Deze aanbieder is niet te bereiken. Klopt het adres, en mag deze dienst het aanroepen?')
        : t('Onder dit adres staat geen geldig discovery-document van deze issuer.'),
    }
  }
  const metadata = configuration.serverMetadata()
  if (!metadata.authorization_endpoint || !metadata.token_endpoint || !metadata.jwks_uri)
    return { issuer: t('Deze aanbieder noemt geen adressen om in te loggen, voor tokens en voor sleutels.') }
  if (metadata.code_challenge_methods_supported && !metadata.supportsPKCE('S256'))
    return { issuer: t('Deze aanbieder kent geen PKCE met S256.') }
  if (!(await hasKeys(metadata.jwks_uri, customFetch)))
    return { issuer: t('De sleutels van deze aanbieder zijn niet op te halen.') }
  const lacking = settings.scopes.split(' ').filter((one) => metadata.scopes_supported?.includes(one) === false)
  if (lacking.length > 0) return { scopes: t`Deze aanbieder kent niet: ${lacking.join(', ')}.` }
  try {
    await openid.genericGrantRequest(configuration, 'authorization_code', {
      code: 'a code that nobody gave',
      redirect_uri: redirectUri,
      code_verifier: openid.randomPKCECodeVerifier(),
    })
  } catch (error) {
    if (isAway(error)) return { issuer: t('Het adres voor tokens van deze aanbieder is niet te bereiken.') }
    const { error: said } = error as { error?: unknown }
    if (said === 'invalid_client' || said === 'unauthorized_client')
      return { clientId: t('De aanbieder neemt dit client-ID met dit geheim niet aan.') }
  }
  return {}
}

async function hasKeys(url: string, customFetch: openid.CustomFetch): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_SECONDS * 1000)
    const answer = await customFetch(url, { body: null, headers: {}, method: 'GET', redirect: 'manual', signal })
    const { keys } = (await answer.json()) as { keys?: unknown[] }
    return answer.status === 200 && Array.isArray(keys) && keys.length > 0
  } catch {
    return false
  }
}

/** Whether no answer came, or that of a provider with a fault of its own, as against a wrong one. */
export function isAway(error: unknown): boolean {
  const { code, cause, status } = error as {
    code?: string
    cause?: { name?: string; status?: unknown }
    status?: unknown
  }
  if (Number(status ?? cause?.status) >= 500) return true
  return code === 'OAUTH_TIMEOUT' || (error instanceof TypeError && cause !== undefined) || code === 'ECONNREFUSED'
}

/** An error without the answer of the provider, which may hold tokens. */
export function redacted(error: unknown): { code: unknown; message: unknown; reason: unknown } {
  const { code, message, error: reason, cause } = error as Record<string, unknown>
  return { code, message, reason: reason ?? (cause as { code?: unknown } | undefined)?.code }
}
