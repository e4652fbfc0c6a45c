import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { header } from './actor.ts'

/**
 * Answers a detail GET or HEAD with its ETag: strong, over this very representation (with its version and expansion).
 * Call it after the access check: 304 says that the caller may know the object. RFC 9110, If-None-Match.
 */
export function sendCacheable(request: FastifyRequest, reply: FastifyReply, resource: unknown): FastifyReply {
  const body = JSON.stringify(resource)
  const etag = `"${createHash('md5').update(body).digest('hex')}"`
  reply.header('etag', etag)
  const known = header(request, 'if-none-match')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
  if (known.includes(etag) || known.includes('*')) return reply.code(304).send()
  return reply.type('application/json').send(body)
}
