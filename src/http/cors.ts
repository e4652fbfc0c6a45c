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

const isForApi = ({ url }: FastifyRequest) => !/^\/+beheer(?:[/?#]|$)/.test(url)
/** An OPTIONS that asks nothing is answered like any other method that is not there. */
const isFromScript = ({ method, headers }: FastifyRequest) =>
  method !== 'OPTIONS' || (headers.origin !== undefined && headers['access-control-request-method'] !== undefined)
