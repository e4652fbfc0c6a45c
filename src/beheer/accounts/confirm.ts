// Confirm: before anything changes of how somebody signs in, the one at the desk shows again who he is. A cookie that was copied shows
// that somebody signed in, and no more.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { Problem } from '../../core/problem.ts'
import { ownCounters } from '../../core/sign-in-attempts.ts'
import { type FormFaults, formFaultsOf, PasswordField, readForm, throwFormFaults } from '../frame/form.ts'
import { formatDuration } from '../frame/format.ts'
import { basePath } from '../frame/keyset-list.ts'
import { addNotice, confirmSession, sessionOf, signedIn } from '../frame/session.ts'
import { t } from '../language/language.ts'
import { fromRegistry, keptAt } from './centre-account.ts'
import { providerOf } from './oidc-providers.ts'
import { listPasskeys, mayHavePasskeys } from './passkeys.ts'
import { ownPath } from './sign-in-steps.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Changes how somebody signs in, so that it asks for a confirmation of a few minutes ago. */
    isSignIn?: boolean
  }
}

const config = { access: 'beheer', rol: 'viewer', withoutTotp: true } as const
const PATH = '/bevestigen'
const Given = Type.Object({
  wachtwoord: Type.Optional(PasswordField),
  code: Type.Optional(Type.String({ maxLength: 20 })),
  verder: Type.Optional(Type.String({ maxLength: 2000 })),
})

/** For each request: sends who has to confirm first to the page that asks it, and from there back. */
export async function requireConfirmed(
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  if (!request.routeOptions.config.isSignIn) return undefined
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const { isFresh, isConfirmed } = sessionOf(request)
  if (isRead ? isFresh : isConfirmed) return undefined
  return askFirst(request, reply, isRead)
}

/** To the page that asks it, and from there back. @param isRead nothing was to be changed */
async function askFirst(request: FastifyRequest, reply: FastifyReply, isRead: boolean): Promise<FastifyReply> {
  const verder = isRead ? ownPath(request.originalUrl) : ownPath(pathOf(request.headers.referer))
  if (!isRead)
    await addNotice(request, PATH, {
      soort: 'info',
      tekst: t(
        'Er is nog niets gewijzigd. Na het bevestigen komt u terug op de pagina; vul daar opnieuw in wat u wilde wijzigen.',
      ),
    })
  return reply.redirect(`${basePath(request)}/beheer${PATH}?verder=${encodeURIComponent(verder)}`, 303)
}

/**
 * For a form of which only some fields are about signing in. @returns whether he confirmed a few minutes ago; else the answer is given
 */
export async function isConfirmedOrAsked(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
  const { isConfirmed } = sessionOf(request)
  if (!isConfirmed) await askFirst(request, reply, false) // a reply that is awaited has been sent
  return isConfirmed
}

export function registerConfirm(app: FastifyInstance): void {
  app.get<{ Querystring: { verder?: string } }>(PATH, { config }, async (request, reply) =>
    show(app, request, reply, ownPath(request.query.verder)),
  )

  app.post(PATH, { config }, async (request, reply) => {
    const administrator = signedIn(request)
    const form = readForm(Given, request.body)
    const verder = ownPath(form.verder)
    try {
      await requireOwner(app, request, form)
    } catch (error) {
      const faults = formFaultsOf(error)
      await app.own.audit(request, [
        { handeling: 'bevestigen', soort: 'account', id: administrator.uuid, resultaat: 'geweigerd' },
      ])
      return show(app, request, reply.code(400), verder, faults)
    }
    await confirmSession(request, reply)
    return reply.redirect(`${basePath(request)}${verder || '/beheer/mijn-account'}`, 303)
  })
}

/** @throws Problem 400 with what does not fit, 429 after too many attempts */
async function requireOwner(
  app: FastifyInstance,
  request: FastifyRequest,
  { wachtwoord = '', code = '' }: { wachtwoord?: string | undefined; code?: string | undefined },
): Promise<void> {
  const administrator = signedIn(request)
  const { gebruikersnaam, totp } = administrator
  if (!administrator.wachtwoord) throwFormFaults({ '': t('Dit account heeft geen wachtwoord.') })
  const { tables, who, box } = keptAt(app, administrator)
  const right = await countingFailures(app, request, async () =>
    tables.accounts.checkPassword(await tables.accounts.find(gebruikersnaam), wachtwoord, { known: true }),
  )
  if (!right) throwFormFaults({ wachtwoord: t('Dit is niet uw huidige wachtwoord.') })
  if (totp && !(await countingFailures(app, request, () => tables.codes.use(box, who, code))))
    throwFormFaults({ code: t('Deze code klopt niet, of is al gebruikt. Wacht op de volgende code.') })
}

async function show(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  verder: string,
  faults: FormFaults = {},
): Promise<FastifyReply> {
  const { wachtwoord, totp, id } = signedIn(request)
  return reply.page('confirm', {
    title: t('Bevestig wie u bent'),
    verder,
    hasPassword: wachtwoord,
    hasPasskey: mayHavePasskeys(request) && (await listPasskeys(app.read, id)).length > 0,
    totp: wachtwoord && totp,
    provider: wachtwoord ? undefined : await providerOf(app.read, app.parts.config, id),
    faults,
  })
}

/** Runs a check of a password or a code of who is signed in, so many times. @throws Problem 429 */
export async function countingFailures(
  app: FastifyInstance,
  request: FastifyRequest,
  check: () => Promise<boolean>,
): Promise<boolean> {
  const { tables, who } = keptAt(app, signedIn(request))
  const counters = ownCounters(who.id)
  const seconds = await fromRegistry(signedIn(request).centre !== undefined, () => tables.attempts.claim(counters))
  if (seconds > 0)
    throw new Problem(429, {
      detail: t`U hebt te vaak een verkeerd wachtwoord of een verkeerde code ingevuld. Probeer het over ${formatDuration(seconds)} opnieuw.`,
      headers: { 'retry-after': String(seconds) },
    })
  const right = await check()
  if (right) await tables.attempts.succeeded(counters)
  else await tables.accounts.recordFailure(who.id)
  return right
}

const pathOf = (url: string | undefined) => {
  const { pathname = '', search = '' } = URL.parse(url ?? '') ?? {}
  return pathname + search
}
