// oidc: signing in with an OpenID Connect provider: code flow with PKCE. The provider says who somebody is and, in a claim,
// which role he has; both anew at every sign-in. It is first asked when somebody wants to sign in with it.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import * as openid from 'openid-client'
import { fetch } from 'undici'
import { countAttempts } from '../../autorisaties/attempts.ts'
import type { OidcSettings } from '../../config.ts'
import { Problem } from '../../core/problem.ts'
import { networkOf } from '../../http/network.ts'
import { FOR_SERVICES } from '../../services/addresses.ts'
import { openAgent, type Proxies, usesProxy } from '../../services/transport.ts'
import { writeAudit } from '../frame/change.ts'
import { cookieOptions, ROLLEN, type Rol } from '../frame/session.ts'
import { t } from '../language/language.ts'
import { afterFirstStep, everyone, ownPath } from './sign-in-steps.ts'

const SECONDS = 600
const TIMEOUT_SECONDS = 10

/** What the browser keeps, encrypted, while it is at the provider. */
type PendingSignIn = { state: string; nonce: string; verifier: string; verder: string; tot: number }

export function registerOidc(app: FastifyInstance): void {
  const settings = app.parts.config.oidc
  if (!settings) return
  const provider = openProvider(settings, app.parts.config.proxies)
  const attempts = countAttempts({
    limit: 20,
    detail: t('Vanaf dit adres is te vaak geprobeerd in te loggen. Probeer het over een minuut opnieuw.'),
  })

  app.get<{ Querystring: { verder?: string } }>('/inloggen/oidc', { config: everyone }, async (request, reply) => {
    const configuration = await provider(request)
    const pending: PendingSignIn = {
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      verifier: openid.randomPKCECodeVerifier(),
      verder: ownPath(request.query.verder),
      tot: Date.now() + SECONDS * 1000,
    }
    const target = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: returnAddress(request),
      scope: settings.scopes,
      response_type: 'code',
      code_challenge: await openid.calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: 'S256',
      state: pending.state,
      nonce: pending.nonce,
    })
    const sealed = app.parts.box.seal(JSON.stringify(pending), 'oidc').toString('base64url')
    reply.setCookie(cookieName(request), sealed, { ...cookieOptions(request), maxAge: SECONDS })
    return reply.redirect(target.href, 303)
  })

  app.get('/inloggen/oidc/terug', { config: everyone }, async (request, reply) => {
    const pending = readPending(app, request)
    reply.clearCookie(cookieName(request), cookieOptions(request))
    if (!pending) return refuse(reply, settings, t('Het inloggen duurde te lang, of begon in een andere browser.'), 400)
    const refusal = attempts.refusal(networkOf(request.ip))
    if (refusal) throw refusal
    attempts.failed(networkOf(request.ip))
    const [, search = ''] = request.originalUrl.split('?', 2)
    const configuration = await provider(request)
    let claims: Record<string, unknown>
    try {
      const tokens = await openid.authorizationCodeGrant(
        configuration,
        new URL(`${returnAddress(request)}?${search}`),
        {
          pkceCodeVerifier: pending.verifier,
          expectedState: pending.state,
          expectedNonce: pending.nonce,
          idTokenExpected: true,
        },
      )
      claims = tokens.claims() as Record<string, unknown>
    } catch (error) {
      request.log.warn({ err: redacted(error) }, 'signing in with OpenID Connect failed')
      if (isAway(error)) throw away(settings)
      return refuse(reply, settings, reasonOf(error), 401)
    }
    const rol = roleOf(claims, settings)
    const naam = text(claims.preferred_username) || text(claims.email) || text(claims.sub)
    if (!rol) {
      await app.own.audit(request, [
        { handeling: 'inloggen', soort: 'account', resultaat: 'geweigerd', gebruiker: naam },
      ])
      const reden = t`${settings.label} heeft u geen rol voor deze dienst gegeven. Vraag de beheerder van ${settings.label} om een rol.`
      return refuse(reply, settings, reden, 403)
    }
    const persoon = {
      issuer: settings.issuer,
      subject: text(claims.sub, 255),
      gebruikersnaam: naam,
      naam: text(claims.name, 200),
      email: text(claims.email, 254),
      rol,
    }
    const account = await app.own.accounts.linkOidc(persoon, (db, record) =>
      writeAudit(db, request, [{ ...record, gebruiker: record.weergave ?? naam }]),
    )
    if ('refused' in account) {
      await app.own.audit(request, [
        { handeling: 'inloggen', soort: 'account', resultaat: 'geweigerd', gebruiker: naam },
      ])
      return refuse(reply, settings, account.refused, 403)
    }
    attempts.succeeded(networkOf(request.ip))
    return afterFirstStep(request, reply, account, pending.verder)
  })
}

/** The role that follows from the claim: the highest, when several do. */
export function roleOf(claims: Record<string, unknown>, { roleClaim, roles }: OidcSettings): Rol | undefined {
  let value: unknown = Object.hasOwn(claims, roleClaim) ? claims[roleClaim] : claims
  if (value === claims)
    for (const part of roleClaim.split('.'))
      value =
        typeof value === 'object' && value !== null && Object.hasOwn(value, part)
          ? (value as Record<string, unknown>)[part]
          : undefined
  const given = new Set([value].flat().filter((one) => typeof one === 'string'))
  return ROLLEN.toReversed().find((rol) => roles[rol].some((one) => given.has(one)))
}

const KNOWN_MS = 3_600_000
const AWAY_MS = 5000

function fetchThrough(proxies: Proxies): openid.CustomFetch {
  const agent = openAgent({ policy: FOR_SERVICES, connections: 5, proxies })
  const ask = fetch as unknown as (url: string, options: object) => Promise<Response> // undici's types of the same classes
  return async (url, options) => ask(url, { ...options, dispatcher: await agent.dispatcher() })
}

/** The provider's addresses and keys: asked at the first sign-in, anew after an hour, and soon again when it was away. */
function openProvider(
  settings: OidcSettings,
  proxies: Proxies,
): (request: FastifyRequest) => Promise<openid.Configuration> {
  let known: { configuration: Promise<openid.Configuration>; until: number } | undefined
  const discover = async (request: FastifyRequest) => {
    try {
      return await openid.discovery(
        new URL(settings.issuer),
        settings.clientId,
        settings.clientSecret,
        settings.clientSecret ? undefined : openid.None(),
        {
          timeout: TIMEOUT_SECONDS,
          ...(usesProxy(proxies) && { [openid.customFetch]: fetchThrough(proxies) }),
          execute: [
            openid.enableNonRepudiationChecks, // the signature of the ID token, which the library leaves to TLS
            // Only for a provider that the operator himself wrote with http.
            ...(settings.issuer.startsWith('http:') ? [openid.allowInsecureRequests] : []),
          ],
        },
      )
    } catch (error) {
      request.log.error({ err: redacted(error) }, 'the OpenID Connect provider cannot be used')
      known = known && { ...known, until: performance.now() + AWAY_MS }
      throw away(settings)
    }
  }
  return (request) => {
    if (!known || known.until < performance.now()) {
      known = { configuration: discover(request), until: performance.now() + KNOWN_MS }
    }
    return known.configuration
  }
}

const away = ({ label }: OidcSettings) =>
  new Problem(503, {
    detail: t`${label} is nu niet bereikbaar. Probeer het later opnieuw, of log in met een wachtwoord.`,
    headers: { 'retry-after': '30' },
  })

const returnAddress = (request: FastifyRequest) => `${request.base}/beheer/inloggen/oidc/terug`

// `__Host-` as for the session.
const cookieName = (request: FastifyRequest) =>
  request.base.startsWith('https:') ? '__Host-zaakstroom-oidc' : 'zaakstroom-oidc'

function readPending(app: FastifyInstance, request: FastifyRequest): PendingSignIn | undefined {
  try {
    const sealed = Buffer.from(request.cookies[cookieName(request)] ?? '', 'base64url')
    const pending = JSON.parse(app.parts.box.open(sealed, 'oidc')) as PendingSignIn
    return pending.tot > Date.now() ? pending : undefined
  } catch {
    return undefined // none, or not one of ours
  }
}

/** A page that says what went wrong and what to do. */
function refuse(reply: FastifyReply, { label }: OidcSettings, reden: string, status: number): Promise<FastifyReply> {
  return reply.code(status).page('sign-in-oidc', { title: t`Inloggen met ${label} is niet gelukt`, reden, label })
}

function reasonOf(error: unknown): string {
  const { code, error: given } = error as { code?: string; error?: string }
  if (given === 'access_denied') return t('Het inloggen is bij de aanbieder afgebroken of geweigerd.')
  if (code === 'OAUTH_INVALID_RESPONSE' || code === 'OAUTH_JWT_CLAIM_COMPARISON_FAILED')
    return t('Het antwoord hoort niet bij deze poging. Begin opnieuw.')
  return t(
    'De aanbieder gaf een antwoord dat niet klopt. Begin opnieuw; blijft het misgaan, meld het dan aan de beheerder.',
  )
}

function isAway(error: unknown): boolean {
  const { code, cause } = error as { code?: string; cause?: { name?: string } }
  return code === 'OAUTH_TIMEOUT' || (error instanceof TypeError && cause !== undefined) || code === 'ECONNREFUSED'
}

/** An error without the answer of the provider, which may hold tokens. */
function redacted(error: unknown): { code: unknown; message: unknown; reason: unknown } {
  const { code, message, error: reason, cause } = error as Record<string, unknown>
  return { code, message, reason: reason ?? (cause as { code?: unknown } | undefined)?.code }
}

/** A claim as text that can be stored. */
function text(value: unknown, length = 150): string {
  return typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed().slice(0, length) : ''
}
