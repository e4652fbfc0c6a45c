// Calls from scripts in a browser that came from another origin (CORS), where CORS_ALLOWED_ORIGINS lets them.
import cors, { type FastifyCorsOptions } from '@fastify/cors'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'

/** What a script may read of an answer, beside what it may always read. */
const EXPOSED = [
  'API-version',
  'Content-Crs',
  'Content-Digest',
  'Content-Disposition',
  'Content-Range',
  'ETag',
  'Idempotency-Replayed',
  'Link',
  'Location',
  'Repr-Digest',
  'Retry-After',
  'Warning',
  'X-Request-ID',
  'X-Warning',
]

/**
 * Answers preflights, which carry no token, and lets the scripts of these origins read the answers of the APIs. To be called
 * before access is asked. Never with credentials: a token is a header that a script sets, and the cookie of `/beheer` is none of
 * its business.
 */
export async function allowOrigins(app: FastifyInstance, config: Config): Promise<void> {
  const allowed = (): FastifyCorsOptions => ({
    origin: config.corsOrigins,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: EXPOSED,
    credentials: false,
    maxAge: 600,
  })
  await app.register(cors, {
    delegator: (request, done) => {
      const applies = config.corsOrigins.length > 0 && isForApi(request) && isFromScript(request)
      done(null, applies ? allowed() : { origin: false })
    },
  })
}

/** What an answer on a connection itself carries for a script of this origin, so that it can read why it was refused. */
export function headersFor(origins: Config['corsOrigins'], origin: string | undefined): Record<string, string> {
  if (origin === undefined || (origins !== '*' && !origins.includes(origin))) return {}
  return {
    'access-control-allow-origin': origins === '*' ? '*' : origin,
    'access-control-expose-headers': EXPOSED.join(', '),
    ...(origins !== '*' && { vary: 'Origin' }),
  }
}

const isForApi = ({ url }: FastifyRequest) => !/^\/+beheer(?:[/?#]|$)/.test(url)
/** An OPTIONS that asks nothing is answered like any other method that is not there. */
const isFromScript = ({ method, headers }: FastifyRequest) =>
  method !== 'OPTIONS' || (headers.origin !== undefined && headers['access-control-request-method'] !== undefined)
