// The steps after the password or the provider.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { countSuccess } from './accounts.ts'
import { writeAudit } from './change.ts'
import { renewToken } from './csrf-token.ts'
import { basePath } from './keyset-list.ts'
import { startSession } from './session.ts'

export type Ingelogde = { id: number; uuid: string; gebruikersnaam: string; totp: boolean }

export const everyone = { access: 'beheer', rol: 'iedereen' } as const

/** After the password or the provider: signed in, or first to the one-time code when the account has them. */
export async function afterFirstStep(
  request: FastifyRequest,
  reply: FastifyReply,
  account: Ingelogde,
  verder: string | undefined,
): Promise<FastifyReply> {
  if (!account.totp) return logIn(request, reply, account, verder)
  await startSession(request, reply, account.id, 'totp')
  const path = ownPath(verder)
  return reply.redirect(
    `${basePath(request)}/beheer/inloggen/code${path && `?verder=${encodeURIComponent(path)}`}`,
    303,
  )
}

/** The last step of every way to sign in. */
export async function logIn(
  request: FastifyRequest,
  reply: FastifyReply,
  account: Omit<Ingelogde, 'totp'>,
  verder: string | undefined,
): Promise<FastifyReply> {
  const { database } = request.server.parts
  await countSuccess(database, account.id)
  await startSession(request, reply, account.id)
  renewToken(request, reply)
  await writeAudit(database.db, request, [
    { handeling: 'inloggen', soort: 'account', id: account.uuid, gebruiker: account.gebruikersnaam },
  ])
  return reply.redirect(`${basePath(request)}${ownPath(verder) || '/beheer/'}`, 303)
}

/** Where to go after signing in, when it is a page of ours. */
export function ownPath(path: string | undefined): string {
  if (typeof path !== 'string' || !/^\/beheer\/[\x21-\x5b\x5d-\x7e]*$/.test(path)) return ''
  // As a browser reads it: what climbs out with `..`, also when that is encoded, is no page of ours.
  const read = new URL(path, 'http://localhost')
  return read.pathname.startsWith('/beheer/') ? read.pathname + read.search + read.hash : ''
}
