// Csrf token: the token of a form, which another site cannot know.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../../core/problem.ts'
import { t } from '../language/language.ts'

/** For handlers that read the body as a stream: checks the token of the form, which comes first in it. */
export async function requireToken(request: FastifyRequest, reply: FastifyReply, token: string): Promise<void> {
  request.formToken = token
  await checkToken(request, reply)
}

/** @throws Problem 403 when the form does not carry the token that its page got */
export async function checkToken(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const refuse = () => reject(new Problem(403, { detail: expired() }))
    // What is refused it sends itself; we want to throw it.
    const answer = Object.create(reply, { send: { value: refuse } }) as FastifyReply
    request.server.csrfProtection(request, answer, (error?: Error) => (error ? refuse() : resolve()))
  })
}

/** Whoever signs in gets a new one: what was in the browser before may be known to another. */
export function renewToken(request: FastifyRequest, reply: FastifyReply): void {
  reply.clearCookie(tokenCookie(request.base), { path: '/' })
}

// The prefix makes browsers keep it to this host and to https.
export const tokenCookie = (base: string) =>
  base.startsWith('https:') ? '__Host-zaakstroom-formulier' : 'zaakstroom-formulier'

const expired = () => t('Dit formulier is verlopen. Ga terug, ververs de pagina en probeer het opnieuw.')
