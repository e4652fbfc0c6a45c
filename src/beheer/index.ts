// The administration pages: a plugin of its own beside the APIs, rendered here, with forms that also work without script.

import cookie from '@fastify/cookie'
import csrf from '@fastify/csrf-protection'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LIMITS } from '../core/limits.ts'
import { forbidden } from '../core/problem.ts'
import { readForms } from '../http/forms.ts'
import { membersOf } from '../organisations/accounts.ts'
import type { Overview } from '../organisations/overview.ts'
import { registerAccounts } from './accounts/account-pages.ts'
import { type OfMany, openCentre } from './accounts/centre-account.ts'
import { registerConfirm, requireConfirmed } from './accounts/confirm.ts'
import { registerMyAccount } from './accounts/my-account.ts'
import { registerMyAlerts } from './accounts/my-alerts.ts'
import { registerOidcPages } from './accounts/oidc-pages.ts'
import { openOwnTables, type WholeParts } from './accounts/own-tables.ts'
import { registerPasskeys } from './accounts/passkeys.ts'
import { registerSignIn } from './accounts/sign-in.ts'
import { registerSwitch } from './accounts/switch.ts'
import { registerApplicaties } from './applicaties/applicaties.ts'
import { registerIssuers } from './applicaties/issuers.ts'
import { registerCatalogi } from './catalogi/index.ts'
import { requireComponent } from './frame/components.ts'
import { checkToken, tokenCookie } from './frame/csrf-token.ts'
import type { FormValues } from './frame/form.ts'
import { basePath } from './frame/keyset-list.ts'
import { registerLanguage } from './frame/language-switch.ts'
import { registerManual } from './frame/manual.ts'
import { registerPage } from './frame/page.ts'
import { registerSavedFilters } from './frame/saved-filters.ts'
import { findSession, hasRole, isOfTheCentre } from './frame/session.ts'
import { registerStylesheet } from './frame/stylesheets.ts'
import { registerImports } from './imports/imports.ts'
import { t } from './language/language.ts'
import { registerAudittrail } from './lookup/audittrail.ts'
import { registerBesluiten } from './lookup/besluiten.ts'
import { registerBetrokkenen } from './lookup/betrokkenen.ts'
import { registerDocumenten } from './lookup/documenten.ts'
import { registerSearch } from './lookup/search.ts'
import { registerWhatSomebodySees } from './lookup/what-somebody-sees.ts'
import { registerWieKeek } from './lookup/wie-keek.ts'
import { registerZaken } from './lookup/zaken.ts'
import { registerAbonnementen } from './notificaties/abonnementen/index.ts'
import { registerKanalen } from './notificaties/kanalen.ts'
import { registerNotificatieSettings } from './notificaties/notificatie-settings.ts'
import { registerNotificaties } from './notificaties/notificaties.ts'
import { registerAlerts } from './operations/alerts.ts'
import { registerAudit } from './operations/audit.ts'
import { registerCentre } from './operations/centre.ts'
import { registerErrors } from './operations/errors.ts'
import { registerGrowth } from './operations/growth.ts'
import { registerJobs } from './operations/jobs.ts'
import { registerKeyPage } from './operations/keys.ts'
import { registerOutgoing } from './operations/outgoing.ts'
import { registerOverview } from './operations/overview.ts'
import { registerRetention } from './operations/retention.ts'
import { registerServicePages } from './operations/services.ts'
import { registerSettings } from './operations/settings.ts'
import { registerRepairs } from './repair/index.ts'
import { registerTakeovers } from './takeover/takeovers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler itself checks the token of the form (`requireToken`), because it reads the body as a stream. */
    checksToken?: boolean
    /** Is there for accounts of the centre that may see all organisations; for everybody else there is no such page. */
    isOfCentre?: boolean
  }
  interface FastifyRequest {
    formToken: string | undefined
  }
}

/** Everything under `/beheer`. Each page names the role that it asks; one that names none stops the start. */
export async function beheer(
  app: FastifyInstance,
  { parts, many }: { parts: () => WholeParts; many?: (OfMany & { overview: Overview }) | undefined },
): Promise<void> {
  app.decorate('members', many && membersOf(many.registry))
  app.decorate('centre', many && openCentre(many))
  const own = app.each(() => openOwnTables(parts()))
  app.decorate('own', app.hasMany ? { getter: own } : own())
  const { publicUrl, beheerTheme } = app.process
  // Browsers come to many by their own names, with TLS unless the installation says otherwise.
  const base = publicUrl ?? (app.hasMany ? 'https:' : '')
  await app.register(cookie)
  readForms(app, LIMITS.bodyBytes)
  await app.register(csrf, {
    cookieKey: tokenCookie(base),
    cookieOpts: {
      path: '/',
      httpOnly: true,
      sameSite: 'strict',
      secure: base.startsWith('https:'),
    },
    getToken: (request) => request.formToken ?? String((request.body as FormValues | null)?._csrf ?? ''),
  })
  app.decorateRequest('beheerder')
  app.decorateRequest('session')
  app.decorateRequest('formToken')
  app.addHook('onRoute', (route) => {
    if (route.config?.rol === undefined) throw new Error(`page ${String(route.method)} ${route.url} names no role`)
    if (route.config.rol === 'iedereen') route.bodyLimit ??= 16 * 1024 // a name, a password
  })
  registerLanguage(app)
  app.addHook('onRequest', requireOwnOrigin)
  app.addHook('onRequest', requireRole)
  app.addHook('onRequest', requireComponent)
  app.addHook('preHandler', async (request, reply) => {
    if (!isSafe(request) && !request.routeOptions.config.checksToken) await checkToken(request, reply)
  })
  const style = await registerStylesheet(app, beheerTheme)
  await registerPage(app, style)

  await registerSignIn(app)
  registerSwitch(app)
  registerConfirm(app)
  registerOverview(app)
  registerNotificaties(app)
  registerNotificatieSettings(app)
  registerAbonnementen(app)
  registerKanalen(app)
  registerJobs(app)
  registerRetention(app)
  registerGrowth(app)
  registerKeyPage(app)
  registerAlerts(app)
  registerOutgoing(app)
  registerErrors(app)
  registerServicePages(app)
  registerIssuers(app)
  registerApplicaties(app)
  registerAccounts(app)
  registerOidcPages(app)
  registerMyAccount(app)
  registerPasskeys(app)
  registerMyAlerts(app)
  registerSearch(app)
  registerSavedFilters(app)
  registerZaken(app)
  registerWhatSomebodySees(app)
  registerWieKeek(app)
  registerDocumenten(app)
  registerBesluiten(app)
  registerBetrokkenen(app)
  await registerRepairs(app)
  await registerCatalogi(app)
  registerAudit(app)
  registerAudittrail(app)
  registerSettings(app)
  await registerImports(app)
  registerTakeovers(app)
  if (many) await registerCentre(app, many.overview)
  await registerManual(app)
}

const isSafe = ({ method }: FastifyRequest) => ['GET', 'HEAD', 'OPTIONS'].includes(method)

/** Forms come from our own pages, also that of signing in. */
async function requireOwnOrigin(request: FastifyRequest): Promise<void> {
  if (isSafe(request) || request.routeOptions.config.isFromElsewhere) return
  const { origin, host, 'sec-fetch-site': site } = request.headers
  const ours =
    origin !== undefined && URL.canParse(origin) && [host, new URL(request.base).host].includes(new URL(origin).host)
  if (site === 'cross-site' || site === 'same-site' || !ours) {
    const expected = request.server.parts.config.publicUrl ? new URL(request.base).host : (host ?? '')
    // A proxy that changes Host looks like another site until our own address is known.
    request.log.warn(
      { origin, host, expected },
      'a form was refused: Origin is neither Host nor our own address; behind a proxy, set PUBLIC_URL',
    )
    throw forbidden(
      undefined,
      t`Dit formulier kwam niet van een pagina van deze dienst. Staat er een proxy voor, laat een beheerder dan PUBLIC_URL instellen op het adres in uw browser; nu wordt ${expected} verwacht.`,
    )
  }
}

async function requireRole(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  const rol = request.routeOptions.config.rol
  if (rol === undefined) return // no page at all, a 404
  // Style and script, which the page needs that tells of a database that is away.
  if (request.routeOptions.url?.endsWith('/bestanden/:naam')) return
  request.session = request.is404 ? undefined : await findSession(request)
  if (request.session?.step === 'signed-in') request.beheerder = request.session.beheerder
  if (request.routeOptions.config.isOfCentre && !isOfTheCentre(request)) {
    reply.callNotFound()
    return reply
  }
  if (rol === 'iedereen') return
  if (!request.beheerder) {
    if (!isSafe(request)) throw forbidden(undefined, t('U bent niet (meer) ingelogd.'))
    const verder = encodeURIComponent(request.originalUrl)
    return reply.redirect(`${basePath(request)}/beheer/inloggen${request.session ? '/code' : ''}?verder=${verder}`, 303)
  }
  const { totp, wachtwoord, passwordGiven } = request.beheerder
  if (passwordGiven) {
    if (request.routeOptions.config.withGivenPassword) return
    if (!isSafe(request)) throw forbidden(undefined, t('Kies eerst een eigen wachtwoord.'))
    return reply.redirect(`${basePath(request)}/beheer/mijn-account/wachtwoord`, 303)
  }
  const { beheerTotpRequired } = request.server.parts.config
  if (beheerTotpRequired && wachtwoord && !totp && !request.routeOptions.config.withoutTotp) {
    if (!isSafe(request)) throw forbidden(undefined, t('Stel eerst eenmalige codes in, bij Mijn account.'))
    return reply.redirect(`${basePath(request)}/beheer/mijn-account/codes`, 303)
  }
  if (!hasRole(request.beheerder, rol)) throw forbidden(undefined, t`Hiervoor is de rol ${rol} nodig.`)
  return requireConfirmed(request, reply)
}
