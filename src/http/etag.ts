import { createHash, type Hash, hash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
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
  if (isKnown(request, reply, tagOf(resource))) {
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

/**
 * Gives the answers of POST, PUT and PATCH the ETag that a GET of the same resource would have, so that a client can go on changing
 * without asking again.
 */
export function tagChanges(app: FastifyInstance): void {
  const read = new Set<string>()
  app.addHook('onRoute', ({ url, method }) => {
    if (method === 'GET') read.add(url)
  })
  app.addHook('preSerialization', (request, reply, payload, done) => {
    const { method, routeOptions } = request
    const made = method === 'POST' && reply.statusCode === 201 && `${routeOptions.url}/:uuid`
    const changed = (method === 'PUT' || method === 'PATCH') && reply.statusCode === 200 && routeOptions.url
    const path = made || changed
    if (path && read.has(path) && payload !== null && typeof payload === 'object') reply.header('etag', tagOf(payload))
    done(null, payload)
  })
}

/**
 * The ETag of one resource, whether it was just made or read. A lock of a document does not count: who sets one changes the state that
 * he saw before. Nor does `_expand` with nothing in it, which some answers have, nor the order that the database gives JSON.
 */
function tagOf(resource: object | undefined): string {
  const counted: Record<string, unknown> = { ...resource }
  if ('locked' in counted) for (const name of ['locked', 'lock']) delete counted[name]
  for (const [name, value] of Object.entries(counted))
    if (value !== null && typeof value === 'object') counted[name] = inOrder(value)
  if (counted._expand && Object.keys(counted._expand).length === 0) delete counted._expand
  return `"${hash('md5', JSON.stringify(counted))}"`
}

function inOrder(value: object): object {
  if (Array.isArray(value)) return value.map((one) => (one !== null && typeof one === 'object' ? inOrder(one) : one))
  const sorted: Record<string, unknown> = {}
  for (const name of Object.keys(value).sort()) {
    const one = (value as Record<string, unknown>)[name]
    sorted[name] = one !== null && typeof one === 'object' ? inOrder(one) : one
  }
  return sorted
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
  judgePrecondition(actor.precondition, tagOf(typeof resource === 'function' ? resource() : resource))
}
