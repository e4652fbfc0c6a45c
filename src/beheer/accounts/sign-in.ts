// Sign in: signing in and out. Nobody is told what was wrong: the name, the password, or that the account is not active.
// How often one may try is in core/sign-in-attempts.ts.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { countAttempts } from '../../autorisaties/attempts.ts'
import { codeCounters, passwordCounters } from '../../core/sign-in-attempts.ts'
import { networkOf } from '../../http/network.ts'
import { PasswordField, readForm } from '../frame/form.ts'
import { formatDuration } from '../frame/format.ts'
import { basePath } from '../frame/keyset-list.ts'
import { endSession } from '../frame/session.ts'
import { t } from '../language/language.ts'
import { registerBrowserLink } from './browser-link.ts'
import { browserOf, enterAs, fromRegistry, keptAt, signOutEverywhere } from './centre-account.ts'
import { knownBrowser } from './known-browsers.ts'
import { registerOidc } from './oidc.ts'
import { offeredProviders } from './oidc-providers.ts'
import { registerOidcSignOut, signOutAtProvider } from './oidc-sign-out.ts'
import { afterFirstStep, everyone, logIn, ownPath } from './sign-in-steps.ts'

const Inloggegevens = Type.Object({
  gebruikersnaam: Type.String({ maxLength: 150 }),
  wachtwoord: PasswordField,
  verder: Type.Optional(Type.String({ maxLength: 2000 })),
})
const Code = Type.Object({
  code: Type.Optional(Type.String({ maxLength: 20 })),
  verder: Type.Optional(Type.String({ maxLength: 2000 })),
})
type Query = { Querystring: { verder?: string } }

export async function registerSignIn(app: FastifyInstance): Promise<void> {
  const { config } = app.parts
  // All names together, in this process: for whoever tries many names. A browser that signed in before is no such one.
  const attemptsNow = app.each(() =>
    countAttempts({
      limit: 20,
      detail: t('Vanaf dit adres is te vaak geprobeerd in te loggen. Probeer het over een minuut opnieuw.'),
    }),
  )
  const countAddress = (request: FastifyRequest) => {
    const attempts = attemptsNow()
    const refusal = attempts.refusal(networkOf(request.ip))
    if (refusal) throw refusal
    attempts.failed(networkOf(request.ip))
  }
  const shared = async () => {
    const { name, email, url } = config.apiContact
    // Signing in with a password goes on without them.
    const providers = await offeredProviders(app.read, config).catch(() => [])
    return { providers, contact: { name, email, url } }
  }

  app.get<Query>('/inloggen', { config: everyone }, async (request, reply) => {
    if (request.session?.step === 'signed-in') return reply.redirect(`${basePath(request)}/beheer/`, 303)
    return reply.page('sign-in', { title: t('Inloggen'), verder: ownPath(request.query.verder), ...(await shared()) })
  })

  app.post('/inloggen', { config: everyone }, async (request, reply) => {
    const form = readForm(Inloggegevens, request.body)
    const member = app.members?.named(form.gebruikersnaam)
    const { accounts, attempts } = (member && app.centre?.tables) ?? app.own
    const account = await fromRegistry(member !== undefined, () => accounts.find(form.gebruikersnaam))
    const browser = await knownBrowser(request, account)
    if (browser === undefined) countAddress(request)
    const counters = passwordCounters({
      account: account?.id ?? form.gebruikersnaam,
      network: networkOf(request.ip),
      browser: browserOf(browser, member),
    })
    const page = {
      title: t('Inloggen'),
      verder: ownPath(form.verder),
      gebruikersnaam: form.gebruikersnaam,
      ...(await shared()),
    }
    const seconds = await attempts.claim(counters)
    if (seconds > 0)
      return tooSoon(reply, seconds).page('sign-in', { ...page, isTooSoon: true, weigering: waitText(seconds) })
    const known = browser !== undefined
    const right = await accounts
      .checkPassword(account, form.wachtwoord, { known, network: networkOf(request.ip) })
      .catch(async (error) => {
        await attempts.giveBack(counters) // too many at once: it was not looked at
        throw error
      })
    // Codes as the registry has them now: this process may not have heard of them yet.
    const here = right && member && account ? await enterAs(request, { ...member, totp: account.totp }) : account
    if (!here || !account || !right) {
      await accounts.recordFailure(account?.id)
      await app.own.audit(request, [
        { handeling: 'inloggen', soort: 'account', resultaat: 'geweigerd', gebruiker: form.gebruikersnaam },
      ])
      return reply.code(401).page('sign-in', {
        ...page,
        weigering: t('Deze gegevens kloppen niet, of het account is niet actief.'),
      })
    }
    await attempts.succeeded(counters)
    if (browser === undefined) attemptsNow().succeeded(networkOf(request.ip))
    return afterFirstStep(request, reply, here, form.verder, { member })
  })

  app.get<Query>('/inloggen/code', { config: everyone }, async (request, reply) => {
    if (request.session?.step !== 'totp') return reply.redirect(`${basePath(request)}/beheer/inloggen`, 303)
    return reply.page('sign-in-code', { title: t('Code invullen'), verder: ownPath(request.query.verder) })
  })

  app.post('/inloggen/code', { config: everyone }, async (request, reply) => {
    const account = request.session?.step === 'totp' ? request.session.beheerder : undefined
    if (!account) return reply.redirect(`${basePath(request)}/beheer/inloggen`, 303)
    const form = readForm(Code, request.body)
    const { tables, who, box } = keptAt(app, account)
    const browser = await knownBrowser(request, account)
    if (browser === undefined) countAddress(request)
    const counters = codeCounters({ account: who.id, browser: browserOf(browser, account.centre) })
    const page = { title: t('Code invullen'), verder: ownPath(form.verder) }
    const seconds = await tables.attempts.claim(counters)
    if (seconds > 0)
      return tooSoon(reply, seconds).page('sign-in-code', { ...page, isTooSoon: true, weigering: waitText(seconds) })
    if (!(await tables.codes.use(box, who, form.code ?? ''))) {
      await tables.accounts.recordFailure(who.id)
      await app.own.audit(request, [
        { handeling: 'inloggen', soort: 'account', resultaat: 'geweigerd', gebruiker: account.gebruikersnaam },
      ])
      return reply.code(401).page('sign-in-code', { ...page, weigering: t('Deze code klopt niet, of is al gebruikt.') })
    }
    await tables.attempts.succeeded(counters)
    if (browser === undefined) attemptsNow().succeeded(networkOf(request.ip))
    return logIn(request, reply, account, form.verder, { member: account.centre, oidc: request.session?.oidc })
  })

  app.post('/uitloggen', { config: everyone }, async (request, reply) => {
    const { beheerder } = request
    const oidc = request.session?.oidc
    if (beheerder) await app.own.audit(request, [{ handeling: 'uitloggen', soort: 'account', id: beheerder.uuid }])
    await endSession(request, reply)
    const isElsewhere = beheerder?.centre && !(await signOutEverywhere(app, beheerder.centre))
    request.beheerder = undefined
    if (isElsewhere) return reply.page('signed-out', { title: t('U bent uitgelogd'), isElsewhere })
    if (oidc) return signOutAtProvider(app, request, reply, oidc)
    return reply.redirect(`${basePath(request)}/beheer/inloggen`, 303)
  })

  registerBrowserLink(app)
  registerOidc(app)
  registerOidcSignOut(app)
}

const tooSoon = (reply: FastifyReply, seconds: number) => reply.code(429).header('retry-after', String(seconds))

const waitText = (seconds: number) =>
  t`Er is te vaak een verkeerd wachtwoord of een verkeerde code ingevuld. Probeer het over ${formatDuration(seconds)} opnieuw. In een browser waarmee u eerder hebt ingelogd, telt alleen wat daar is ingevuld.`
