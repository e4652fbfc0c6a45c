import { createHash, type Hash, hash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LIMITS } from '../core/limits.ts'
import type { Mutation } from '../core/mutate.ts'
import { isNamedWeakly, judgePrecondition, type Precondition } from '../core/precondition.ts'
import { weightOf } from './expand.ts'
import { header } from './header.ts'
import { gatherInTurn, jsonPieces } from './json-pieces.ts'
import { noteText } from './verwerkingen.ts'

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
    for (const text of texts) noteText(request, text)
    if (isKnown(request, reply, etagOf(sum))) return reply.code(304).send()
    return reply.type('application/json').send(Readable.from(texts, { objectMode: false }))
  }
  const body = JSON.stringify(resource)
  if (isKnown(request, reply, `"${hash('md5', body)}"`)) {
    noteText(request, body) // he has it, and looks at it
    return reply.code(304).send()
  }
  return reply.type('application/json').send(body)
}

/** Sets the ETag of an answer; whether the caller says that it has this very one. */
export function isKnown(request: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  reply.header('etag', etag)
  const known = header(request, 'if-none-match')
  return known !== '' && isNamedWeakly(known, etag)
}

/** The ETag of a representation that went into this sum. */
export const etagOf = (sum: Hash): string => `"${sum.digest('hex')}"`

/** What a request asks of the state of what it changes: undefined when it asks nothing, or changes nothing that is there. */
export function preconditionOf(request: FastifyRequest): Precondition | undefined {
  if (!CHANGES.has(request.method)) return undefined
  const ifMatch = header(request, 'if-match').trim()
  const ifNoneMatch = header(request, 'if-none-match').trim()
  return ifMatch === '' && ifNoneMatch === '' ? undefined : { ifMatch, ifNoneMatch, isJudged: false }
}
const CHANGES = new Set(['PUT', 'PATCH', 'DELETE'])

/**
 * Holds what is about to change against If-Match. To be called when the row is held and the rights of the actor reach it, and
 * before what he sent is judged.
 * @param resource as a GET without parameters answers it at this moment; a function where it takes work to make
 * @throws Problem 412
 */
export function requireMatch({ actor }: Pick<Mutation, 'actor'>, resource: object | (() => object)): void {
  if (!actor.precondition) return
  const sum = createHash('md5')
  for (const text of jsonPieces(typeof resource === 'function' ? resource() : resource)) sum.update(text)
  judgePrecondition(actor.precondition, etagOf(sum))
}
