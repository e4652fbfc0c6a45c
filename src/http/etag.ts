import { createHash, hash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LIMITS } from '../core/limits.ts'
import { weightOf } from './expand.ts'
import { header } from './header.ts'
import { gatherInTurn, jsonPieces } from './json-pieces.ts'

/**
 * Answers a detail GET or HEAD with its ETag: strong, over this very representation (with its version and expansion).
 * Call it after the access check: 304 says that the caller may know the object. RFC 9110, If-None-Match.
 */
export async function sendCacheable(
  request: FastifyRequest,
  reply: FastifyReply,
  resource: object | undefined,
): Promise<FastifyReply> {
  if (resource && weightOf(resource) > LIMITS.portionBytes) {
    const texts = await gatherInTurn(request, jsonPieces(resource))
    const sum = createHash('md5')
    for (const text of texts) sum.update(text)
    if (isKnown(request, reply, `"${sum.digest('hex')}"`)) return reply.code(304).send()
    return reply.type('application/json').send(Readable.from(texts, { objectMode: false }))
  }
  const body = JSON.stringify(resource)
  if (isKnown(request, reply, `"${hash('md5', body)}"`)) return reply.code(304).send()
  return reply.type('application/json').send(body)
}

/** Sets the ETag of an answer; whether the caller says that it has this very one. */
export function isKnown(request: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  reply.header('etag', etag)
  const known = header(request, 'if-none-match')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
  return known.includes(etag) || known.includes('*')
}
