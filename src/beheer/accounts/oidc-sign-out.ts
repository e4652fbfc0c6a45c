// Signing out where a provider is involved: whoever signs out here is sent on to end his session there too, and the provider tells us of
// sessions that ended there (OpenID Connect RP-Initiated Logout 1.0 and Back-Channel Logout 1.0).

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { countAttempts } from '../../autorisaties/attempts.ts'
import { notFound } from '../../core/problem.ts'
import { networkOf } from '../../http/network.ts'
import { readForm } from '../frame/form.ts'
import { CSP } from '../frame/page.ts'
import type { OidcSession } from '../frame/session.ts'
import { t } from '../language/language.ts'
import { ID_TOKEN_OWNER } from './oidc.ts'
import { findByIssuer, findProvider } from './oidc-providers.ts'
import { everyone } from './sign-in-steps.ts'

const LogoutForm = Type.Object({ logout_token: Type.String({ minLength: 1, maxLength: 8192 }) })

/** The page after signing out, which goes on to the provider when that can end its session. */
export async function signOutAtProvider(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  { issuer, idToken }: OidcSession,
): Promise<FastifyReply> {
  const { config, box } = app.parts
  const known = await findByIssuer(app.read, config.oidc, issuer)
  const settings = known && (await findProvider(app.read, config, box, known.uuid))
  const title = t('U bent uitgelogd')
  if (!settings) return reply.page('signed-out', { title })
  const { endSessionUrl } = await import('./oidc-client.ts')
  const configuration = await app.knownProvider(settings, request.log).catch(() => undefined)
  const url =
    configuration &&
    endSessionUrl(
      configuration,
      idToken ? box.open(idToken, ID_TOKEN_OWNER) : undefined,
      `${request.base}/beheer/inloggen`,
    )
  if (url)
    reply.header('content-security-policy', CSP.replace("form-action 'self'", `form-action 'self' ${url.origin}`))
  return reply.page('signed-out', {
    title,
    label: settings.label,
    address: url && url.origin + url.pathname,
    fields: url && [...url.searchParams],
  })
}

export function registerOidcSignOut(app: FastifyInstance): void {
  const { config, box } = app.parts
  const attempts = app.each(() => countAttempts({ limit: 100, detail: 'Too many logout tokens that do not hold.' }))

  // The provider itself sends it: what it says is signed, so that it needs no token of a form and comes from no page.
  const told = { ...everyone, checksToken: true, isFromElsewhere: true } as const
  for (const path of ['/inloggen/oidc/afmelden', '/inloggen/oidc/afmelden/:aanbieder'])
    app.post<{ Params: { aanbieder?: string } }>(path, { config: told }, async (request, reply) => {
      const refusal = attempts().refusal(networkOf(request.ip))
      if (refusal) throw refusal
      const settings = await findProvider(app.read, config, box, request.params.aanbieder ?? '')
      if (!settings) throw notFound()
      const answer = reply.header('cache-control', 'no-store').type('application/json')
      try {
        const { logout_token: token } = readForm(LogoutForm, request.body)
        const { readLogoutToken, redacted } = await import('./oidc-client.ts')
        const ended = await app
          .knownProvider(settings, request.log)
          .then((configuration) => readLogoutToken(configuration, settings, config.proxies, token))
          .catch((error) => {
            request.log.warn({ err: redacted(error) }, 'a logout token of a provider was refused')
            throw error
          })
        const whose = await app.own.endProviderSessions(settings.issuer, ended)
        for (const { uuid, gebruikersnaam } of whose)
          await app.own.audit(request, [
            { handeling: 'uitloggen-door-aanbieder', soort: 'account', id: uuid, gebruiker: gebruikersnaam },
          ])
        return answer.code(200).send('')
      } catch {
        attempts().failed(networkOf(request.ip))
        return answer.code(400).send(JSON.stringify({ error: 'invalid_request' }))
      }
    })
}
