// oidc: signing in with an OpenID Connect provider: code flow with PKCE. The provider says who somebody is and, in a claim,
// which role he has; both anew at every sign-in. It is first asked when somebody wants to sign in with it.

import { createHash } from 'node:crypto'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { countAttempts } from '../../autorisaties/attempts.ts'
import type { OidcSettings } from '../../config.ts'
import { notFound } from '../../core/problem.ts'
import { networkOf } from '../../http/network.ts'
import { writeAudit } from '../frame/change.ts'
import { basePath } from '../frame/keyset-list.ts'
import { confirmSession, cookieOptions, ROLLEN, type Rol } from '../frame/session.ts'
import { t } from '../language/language.ts'
import { findInvited } from './accounts.ts'
import type { Begun, Providers } from './oidc-client.ts'
import { type FoundProvider, findProvider, offeredProviders } from './oidc-providers.ts'
import { afterFirstStep, everyone, ownPath } from './sign-in-steps.ts'

const SECONDS = 600
/** Attempts of one browser that are on the way, beside the newest. */
const MOST_ATTEMPTS = 4

declare module 'fastify' {
  interface FastifyInstance {
    /** What is known of a provider of OpenID Connect, asked when somebody needs it. @throws ProviderAway */
    knownProvider(settings: OidcSettings, log: FastifyBaseLogger): ReturnType<Providers['ask']>
  }
}

/** What the browser keeps, encrypted, while it is at the provider. `provider`: its uuid; empty: that of the environment. */
type PendingSignIn = Omit<Begun, 'target'> & {
  provider: string
  verder: string
  uitnodiging?: string
  /** The session whose owner shows again who he is, instead of signing in. */
  bevestigt?: string
  /** The second try, after the provider had other keys. */
  opnieuw?: true
  tot: number
}

export function registerOidc(app: FastifyInstance): void {
  const { box, config } = app.parts
  const opened = app.each(() => ({
    attempts: countAttempts({
      limit: 20,
      detail: t('Vanaf dit adres is te vaak geprobeerd in te loggen. Probeer het over een minuut opnieuw.'),
    }),
  }))
  const known = app.each((): { providers?: Providers } => ({}))
  app.decorate('knownProvider', async (settings: OidcSettings, log: FastifyBaseLogger) => {
    const { openProviders } = await import('./oidc-client.ts')
    const here = known()
    here.providers ??= openProviders(config.proxies)
    return here.providers.ask(settings, log)
  })
  /** What is known of a provider; undefined when it cannot be asked. */
  const configurationOf = async (settings: OidcSettings, request: FastifyRequest) => {
    const { ProviderAway } = await import('./oidc-client.ts')
    return app.knownProvider(settings, request.log).catch((error) => {
      if (error instanceof ProviderAway) return undefined
      throw error
    })
  }

  app.get<{
    Querystring: {
      verder?: string
      aanbieder?: string
      uitnodiging?: string
      kiezen?: string
      bevestigen?: string
      opnieuw?: string
    }
  }>('/inloggen/oidc', { config: everyone }, async (request, reply) => {
    const { verder, aanbieder, uitnodiging, kiezen, bevestigen, opnieuw } = request.query
    const provider = String(aanbieder ?? '')
    const settings = await findProvider(app.read, config, box, provider)
    if (!settings) throw notFound(t('Met deze aanbieder kunt u hier niet inloggen.'))
    const configuration = await configurationOf(settings, request)
    if (!configuration) return away(reply, settings, provider)
    const { beginSignIn } = await import('./oidc-client.ts')
    const isOwner = bevestigen !== undefined && request.session?.step === 'signed-in'
    const prompt = isOwner ? 'login' : kiezen === undefined ? undefined : 'select_account'
    const address = returnAddress(request, settings)
    const { target, ...begun } = await beginSignIn(configuration, settings.scopes, address, prompt)
    const pending: PendingSignIn = {
      ...begun,
      provider,
      verder: ownPath(verder),
      ...(opnieuw !== undefined && { opnieuw: true as const }),
      ...(isOwner && { bevestigt: request.session?.uuid ?? '' }),
      ...(typeof uitnodiging === 'string' && { uitnodiging: uitnodiging.slice(0, 100) }),
      tot: Date.now() + SECONDS * 1000,
    }
    const sealed = box.seal(JSON.stringify(pending), 'oidc').toString('base64url')
    // One for each attempt, so that two tabs do not take each other's; few, since all of them are sent along.
    const others = Object.keys(request.cookies).filter((name) => name.startsWith(cookiePrefix(request)))
    for (const name of others.slice(0, -MOST_ATTEMPTS)) reply.clearCookie(name, cookieOptions(request))
    reply.setCookie(cookieName(request, begun.state), sealed, { ...cookieOptions(request), maxAge: SECONDS })
    return reply.redirect(target, 303)
  })

  app.get<{ Querystring: { code?: string } }>('/inloggen/uitnodiging', { config: everyone }, async (request, reply) => {
    const code = typeof request.query.code === 'string' ? request.query.code : ''
    const gebruikersnaam = await findInvited(app.read, code)
    const providers = gebruikersnaam === undefined ? [] : await offeredProviders(app.read, config)
    return reply
      .code(gebruikersnaam === undefined ? 404 : 200)
      .page('sign-in-invited', { title: t('Account in gebruik nemen'), gebruikersnaam, code, providers })
  })

  for (const path of ['/inloggen/oidc/terug', '/inloggen/oidc/terug/:aanbieder'])
    app.get<{ Params: { aanbieder?: string }; Querystring: { state?: string } }>(
      path,
      { config: everyone },
      async (request, reply) => {
        const cookie = cookieName(request, String(request.query.state ?? ''))
        const pending = readPending(app, request, cookie)
        reply.clearCookie(cookie, cookieOptions(request))
        const settings = pending && (await findProvider(app.read, config, box, pending.provider))
        if (!settings) return refuse(reply, '', t('Het inloggen duurde te lang, of begon in een andere browser.'), 400)
        return comeBack(request, reply, pending, settings)
      },
    )

  /** What the provider answered. */
  async function comeBack(
    request: FastifyRequest,
    reply: FastifyReply,
    pending: PendingSignIn,
    settings: FoundProvider,
  ): Promise<FastifyReply> {
    const { label, issuer } = settings
    const refuseHim = (reden: string, status: number) => refuse(reply, label, reden, status, pending.provider)
    const { aanbieder } = request.params as { aanbieder?: string }
    if (settings.returnPath !== (aanbieder === undefined ? '' : `/${aanbieder}`))
      return refuseHim(notThisAttempt(), 400)
    const { attempts } = opened()
    const refusal = attempts.refusal(networkOf(request.ip))
    if (refusal) throw refusal
    attempts.failed(networkOf(request.ip))
    const [, search = ''] = request.originalUrl.split('?', 2)
    const configuration = await configurationOf(settings, request)
    if (!configuration) return away(reply, settings, pending.provider)
    const { endSignIn, isAway, isUnknownKey, redacted } = await import('./oidc-client.ts')
    let signedIn: Awaited<ReturnType<typeof endSignIn>>
    try {
      signedIn = await endSignIn(configuration, new URL(`${returnAddress(request, settings)}?${search}`), pending)
    } catch (error) {
      request.log.warn({ err: redacted(error) }, 'signing in with OpenID Connect failed')
      if (isAway(error) || AWAY_WORDS.has(String((error as { error?: unknown }).error)))
        return away(reply, settings, pending.provider)
      if (isUnknownKey(error) && !pending.opnieuw) {
        known().providers?.forget(settings)
        return reply.redirect(againAt(request, pending), 303)
      }
      return refuseHim(reasonOf(error), 401)
    }
    const { claims, idToken } = signedIn
    const subject = subjectOf(claims)
    if (subject === undefined)
      return refuseHim(
        t`${label} zegt niet bruikbaar wie u bent: het kenmerk (sub) is leeg, langer dan 255 tekens, of heeft tekens die niet te bewaren zijn. Meld dit aan de beheerder van ${label}.`,
        403,
      )
    if (pending.bevestigt !== undefined) return confirm(request, reply, pending, { issuer, subject, claims })
    const rol = roleOf(claims, settings)
    const naam = text(claims.preferred_username) || text(claims.email) || subject.slice(0, 150)
    const refused = (nieuw?: object) =>
      app.own.audit(request, [
        { handeling: 'inloggen', soort: 'account', resultaat: 'geweigerd', gebruiker: naam, nieuw },
      ])
    if (!rol) {
      const sessies = await app.own.endSessionsOf({ issuer, subject })
      await refused(sessies > 0 ? { sessiesBeeindigd: sessies } : undefined)
      const reden = t`${label} heeft u geen rol voor deze dienst gegeven. Vraag de beheerder van ${label} om een rol.`
      return refuseHim(reden, 403)
    }
    const persoon = {
      ...{ issuer, subject, gebruikersnaam: naam, rol },
      naam: text(claims.name, 200),
      // One that the provider knows nothing of may be somebody else's: alerts would go there.
      email: [false, 'false'].includes(claims.email_verified as never) ? '' : text(claims.email, 254),
    }
    const account = await app.own.linkOidc(
      persoon,
      (db, record) => writeAudit(db, request, [{ ...record, gebruiker: record.weergave ?? naam }]),
      pending.uitnodiging,
    )
    if ('refused' in account) {
      await refused()
      return refuseHim(account.refused, 403)
    }
    attempts.succeeded(networkOf(request.ip))
    const oidc = {
      issuer,
      sid: text(claims.sid, 255) || null,
      idToken: idToken === undefined ? null : box.seal(idToken, ID_TOKEN_OWNER),
    }
    return afterFirstStep(request, reply, account, pending.verder, { oidc })
  }

  /** Who signed in anew at the provider is the owner of the session, or nothing changes. */
  async function confirm(
    request: FastifyRequest,
    reply: FastifyReply,
    { bevestigt, verder, provider }: PendingSignIn,
    { issuer, subject, claims }: { issuer: string; subject: string; claims: Record<string, unknown> },
  ): Promise<FastifyReply> {
    const { session } = request
    const isHis = session?.step === 'signed-in' && session.uuid === bevestigt
    const isOwner = isHis && (await app.own.isAccountOf(session.beheerder.id, { issuer, subject }))
    // A provider that tells when it asked for the password has to have done so just now.
    const { auth_time: at } = claims
    const isNow = typeof at !== 'number' || at > Date.now() / 1000 - SECONDS
    if (!isOwner || !isNow)
      return refuse(
        reply,
        '',
        t('Dit bevestigt niet dat u het bent: er is bij de aanbieder als iemand anders ingelogd, of niet opnieuw.'),
        403,
        provider,
      )
    await confirmSession(request, reply)
    return reply.redirect(`${basePath(request)}${verder || '/beheer/mijn-account'}`, 303)
  }
}

/** The same once more, which the provider answers by itself: who signed in there a moment ago is known to it. */
function againAt(request: FastifyRequest, { provider, verder, uitnodiging, bevestigt }: PendingSignIn): string {
  const query = new URLSearchParams({
    ...(provider && { aanbieder: provider }),
    ...(verder && { verder }),
    ...(uitnodiging && { uitnodiging }),
    ...(bevestigt && { bevestigen: 'ja' }),
    opnieuw: 'ja',
  })
  return `${basePath(request)}/beheer/inloggen/oidc?${query}`
}

/** What the ID token of a session is sealed for. */
export const ID_TOKEN_OWNER = 'oidc id token'
/** What a provider answers that has a fault of its own (OpenID Connect Core 3.1.2.6). */
const AWAY_WORDS: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable'])

/** Who somebody is at the provider (OpenID Connect Core 5.7: at most 255 ASCII characters): whole, or not at all. */
function subjectOf({ sub }: Record<string, unknown>): string | undefined {
  return typeof sub === 'string' && sub.trim() !== '' && text(sub, 255) === sub ? sub : undefined
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

/** A page and no error that tries again by itself: an answer of a provider counts once. */
const away = (reply: FastifyReply, { label }: OidcSettings, provider: string) =>
  refuse(
    reply.header('retry-after', '30'),
    label,
    t`${label} antwoordt nu niet, of heeft een storing. Probeer het over een halve minuut opnieuw, of log in met een wachtwoord als u dat hebt.`,
    503,
    provider,
  )

export const returnAddress = (request: FastifyRequest, { returnPath }: { returnPath: string }): string =>
  `${request.base}/beheer/inloggen/oidc/terug${returnPath}`

// `__Host-` as for the session.
const cookiePrefix = (request: FastifyRequest) =>
  request.base.startsWith('https:') ? '__Host-zaakstroom-oidc-' : 'zaakstroom-oidc-'
const cookieName = (request: FastifyRequest, state: string) =>
  cookiePrefix(request) + createHash('sha256').update(state).digest('hex').slice(0, 16)

function readPending(app: FastifyInstance, request: FastifyRequest, cookie: string): PendingSignIn | undefined {
  try {
    const sealed = Buffer.from(request.cookies[cookie] ?? '', 'base64url')
    const pending = JSON.parse(app.parts.box.open(sealed, 'oidc')) as PendingSignIn
    return pending.tot > Date.now() ? pending : undefined
  } catch {
    return undefined // none, or not one of ours
  }
}

/** A page that says what went wrong and what to do. */
function refuse(
  reply: FastifyReply,
  label: string,
  reden: string,
  status: number,
  provider?: string,
): Promise<FastifyReply> {
  const title = label === '' ? t('Inloggen is niet gelukt') : t`Inloggen met ${label} is niet gelukt`
  // Who was known and may not come in would be sent back at once as the same person.
  return reply.code(status).page('sign-in-oidc', { title, reden, label, provider, isKnown: status === 403 })
}

const notThisAttempt = () => t('Het antwoord hoort niet bij deze poging. Begin opnieuw.')

function reasonOf(error: unknown): string {
  const { code, error: given } = error as { code?: string; error?: string }
  if (given === 'access_denied') return t('Het inloggen is bij de aanbieder afgebroken of geweigerd.')
  if (code === 'OAUTH_INVALID_RESPONSE' || code === 'OAUTH_JWT_CLAIM_COMPARISON_FAILED') return notThisAttempt()
  return t(
    'De aanbieder gaf een antwoord dat niet klopt. Begin opnieuw; blijft het misgaan, meld het dan aan de beheerder.',
  )
}

/** A claim as text that can be stored. */
function text(value: unknown, length = 150): string {
  return typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed().slice(0, length) : ''
}
