// The choice of the language, kept in a cookie. A link with `taal` to any page makes it and comes back to that page, so that it
// works before signing in, without script, and from outside: the address it goes to is the one that was asked.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { inLanguage, type Language } from '../language/language.ts'
import { basePath, withQuery } from './keyset-list.ts'
import { cookieOptions } from './session.ts'

const PARAMETER = 'taal'
const COOKIE = 'zaakstroom-taal'
const YEAR = 365 * 86_400

export function registerLanguage(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    const chosen = (request.query as Record<string, unknown> | undefined)?.[PARAMETER]
    if ((chosen !== 'nl' && chosen !== 'en') || !['GET', 'HEAD'].includes(request.method)) return
    reply.setCookie(COOKIE, chosen, { ...cookieOptions(request), maxAge: YEAR })
    return reply.redirect(withQuery(request, { [PARAMETER]: undefined }, { paging: true }), 303)
  })
  // Twice, because reading a body begins anew from the connection, which knows no request.
  app.addHook('onRequest', (request, _reply, done) => inLanguage(languageOf(request), done))
  app.addHook('preValidation', (request, _reply, done) => inLanguage(languageOf(request), done))
}

/** The language that the browser chose before; Dutch for who never chose. */
export const languageOf = (request: FastifyRequest): Language => (request.cookies?.[COOKIE] === 'en' ? 'en' : 'nl')

/** Where to choose a language: at this page, or at the overview when a form answered that has no page of its own. */
export function languageLink(request: FastifyRequest, language: Language): string {
  const { url } = request.routeOptions
  const isPage = request.method === 'GET' || (url !== undefined && request.server.hasRoute({ method: 'GET', url }))
  if (isPage && !request.is404) return withQuery(request, { [PARAMETER]: language }, { paging: true })
  return `${basePath(request)}/beheer/?${PARAMETER}=${language}`
}
