// The routes of our token endpoint: tokens (RFC 6749), its keys (RFC 7517) and what it can do (RFC 8414). They are there while
// TOKEN_ENDPOINT is on.
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../config.ts'
import { Problem, sendProblem, toProblem } from '../../core/problem.ts'
import { readForms } from '../../http/forms.ts'
import { header } from '../../http/header.ts'
import { networkOf } from '../../http/network.ts'
import { ASSERTION_ALGORITHMS, type TokenEndpoint, TokenRefusal } from './endpoint.ts'
import { KEYS_KEPT_SECONDS } from './signing-keys.ts'

const BODY_BYTES = 16 * 1024
const open = { config: { access: 'public', isOn: ({ tokenEndpoint }: Config) => tokenEndpoint !== 'off' } } as const

/** @param options.endpoint that of this moment */
export async function tokenRoutes(
  app: FastifyInstance,
  { endpoint }: { endpoint: () => TokenEndpoint },
): Promise<void> {
  app.removeContentTypeParser('application/json')
  readForms(app, BODY_BYTES)
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof Problem && error.status === 404) return sendProblem(request, reply, error)
    const { error: code, status, message, headers } = error instanceof TokenRefusal ? error : refusalOf(error)
    if (status >= 500 && !(error instanceof TokenRefusal)) return sendProblem(request, reply, error)
    request.log.info({ status, code }, 'request refused')
    return reply.code(status).headers(headers).send({ error: code, error_description: message })
  })

  app.post('/oauth/token', open, async (request) =>
    endpoint().grant({
      authorization: header(request, 'authorization'),
      form: (request.body ?? {}) as Record<string, unknown>,
      network: networkOf(request.ip),
    }),
  )

  app.get('/oauth/jwks', open, async (_request, reply) => {
    reply.header('cache-control', `public, max-age=${KEYS_KEPT_SECONDS}`)
    return endpoint().keySet()
  })

  const metadata = ({ issuer }: TokenEndpoint) => ({
    issuer,
    token_endpoint: `${issuer}/oauth/token`,
    jwks_uri: `${issuer}/oauth/jwks`,
    response_types_supported: [],
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
  })
  for (const url of ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'])
    app.get(url, open, async (_request, reply) => {
      reply.header('cache-control', `public, max-age=${KEYS_KEPT_SECONDS}`)
      return metadata(endpoint())
    })
}

/** What is wrong with the request itself, as RFC 6749 says it. */
function refusalOf(error: unknown): TokenRefusal {
  const { status, headers } = toProblem(error)
  return new TokenRefusal(
    'invalid_request',
    'Stuur een formulier (application/x-www-form-urlencoded) van ten hoogste 16 kB.',
    {
      status,
      headers,
    },
  )
}
