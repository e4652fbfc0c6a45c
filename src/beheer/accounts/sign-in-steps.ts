// The steps after the password or the provider.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Member } from '../../organisations/accounts.ts'
import { renewToken } from '../frame/csrf-token.ts'
import { moment } from '../frame/format.ts'
import { basePath } from '../frame/keyset-list.ts'
import { type Notice, type OidcSession, startSession } from '../frame/session.ts'
import { t } from '../language/language.ts'
import type { Failures, SignedIn } from './accounts.ts'
import { rememberBrowser } from './known-browsers.ts'

export const everyone = { access: 'beheer', rol: 'iedereen' } as const

/** After the password or the provider: signed in, or first to the one-time code when the account has them. */
export async function afterFirstStep(
  request: FastifyRequest,
  reply: FastifyReply,
  account: SignedIn,
  verder: string | undefined,
  { member, oidc }: { member?: Member | undefined; oidc?: OidcSession } = {},
): Promise<FastifyReply> {
  if (!account.totp) return logIn(request, reply, account, verder, { member, oidc })
  await startSession(request, reply, account.id, { step: 'totp', oidc })
  const path = ownPath(verder)
  return reply.redirect(
    `${basePath(request)}/beheer/inloggen/code${path && `?verder=${encodeURIComponent(path)}`}`,
    303,
  )
}

/**
 * The last step of every way to sign in.
 * @param how.member the account, when it is one of the centre
 * @param how.oidc of who signed in by a provider
 * @param how.from where it was signed in already: the name of another organisation, and when that session ends
 */
export async function logIn(
  request: FastifyRequest,
  reply: FastifyReply,
  account: Omit<SignedIn, 'totp'>,
  verder: string | undefined,
  {
    member,
    from,
    oidc,
  }: {
    member?: Member | undefined
    from?: { name: string; until: string }
    oidc?: OidcSession | null | undefined
  } = {},
): Promise<FastifyReply> {
  const { own, centre } = request.server
  const here = await own.accounts.recordSignIn(account.id)
  const failures = member && centre ? await centre.tables.accounts.recordSignIn(member.id) : here
  const notice = failures && failureNotice(failures)
  await startSession(request, reply, account.id, { notice, until: from?.until, oidc })
  // A form from another site comes without the cookie of the browser, which would be lost.
  if (from === undefined) await rememberBrowser(request, reply, account.id)
  renewToken(request, reply)
  await own.audit(request, [
    {
      handeling: 'inloggen',
      soort: 'account',
      id: account.uuid,
      gebruiker: account.gebruikersnaam,
      ...((failures || from) && {
        nieuw: { ...(failures && { mislukt: failures }), ...(from && { vanaf: from.name }) },
      }),
    },
  ])
  return reply.redirect(`${basePath(request)}${ownPath(verder) || '/beheer/'}`, 303)
}

function failureNotice({ pogingen, sinds, laatst }: Failures): Notice {
  const when =
    pogingen === 1
      ? t`Sinds de vorige keer dat u inlogde is één keer geprobeerd in te loggen met een verkeerd wachtwoord of een verkeerde code: op ${moment(sinds)}.`
      : t`Sinds de vorige keer dat u inlogde is ${pogingen} keer geprobeerd in te loggen met een verkeerd wachtwoord of een verkeerde code: het eerst op ${moment(sinds)}, het laatst op ${moment(laatst)}.`
  return { soort: 'info', tekst: t`${when} Was u dat niet zelf? Meld het aan een administrator.` }
}

/** Where to go after signing in, when it is a page of ours. */
export function ownPath(path: string | undefined): string {
  if (typeof path !== 'string' || !/^\/beheer\/[\x21-\x5b\x5d-\x7e]*$/.test(path)) return ''
  // As a browser reads it: what climbs out with `..`, also when that is encoded, is no page of ours.
  const read = new URL(path, 'http://localhost')
  return read.pathname.startsWith('/beheer/') ? read.pathname + read.search + read.hash : ''
}
