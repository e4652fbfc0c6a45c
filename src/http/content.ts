// The content of a request as it comes: held against the digests that it brought (RFC 9530), and summed where somebody has to
// know later whether the same came again.
import { createHash, type Hash, hash } from 'node:crypto'
import { type Readable, Transform } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parseDictionary, serializeDictionary } from 'structured-headers'
import { invalid, Problem } from '../core/problem.ts'
import { header } from './header.ts'
import { whenClosed } from './when-closed.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Where it brought a digest, or a key by which it may be repeated. */
    content: Content | undefined
  }
}

type Stated = { name: string; sha256: Buffer }

export class Content {
  #hash: Hash | undefined // made for content that comes in pieces
  readonly #stated: Stated[]
  readonly #boundary: Buffer | undefined
  #rest: Buffer = Buffer.alloc(0)
  /** Whether all of it is here. */
  isWhole = false
  #sum: Buffer | undefined

  /** @param boundary of a form: each time another one, so that the sum is without it. Its digests then are not */
  constructor(stated: Stated[], boundary?: string) {
    this.#stated = stated
    this.#boundary = boundary && stated.length === 0 ? Buffer.from(boundary) : undefined
  }

  update(chunk: Buffer): void {
    const boundary = this.#boundary
    this.#hash ??= createHash('sha256')
    if (!boundary) return void this.#hash.update(chunk)
    const bytes = this.#rest.byteLength > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    let from = 0
    for (let at = bytes.indexOf(boundary); at !== -1; at = bytes.indexOf(boundary, from)) {
      this.#hash.update(bytes.subarray(from, at))
      from = at + boundary.byteLength
    }
    const end = Math.max(from, bytes.byteLength - boundary.byteLength + 1) // a boundary may begin after it
    this.#hash.update(bytes.subarray(from, end))
    this.#rest = Buffer.from(bytes.subarray(end))
  }

  /** The SHA-256 of what came, which then is all. */
  sum(): Buffer {
    this.#sum ??= (this.#hash ?? createHash('sha256')).update(this.#rest).digest()
    return this.#sum
  }

  /** All of it at once. @throws as `check` */
  take(bytes: Buffer): void {
    this.#sum = hash('sha256', bytes, 'buffer')
    this.check()
  }

  /** @throws Problem 400 when what came is not what a header says that it is */
  check(): void {
    this.isWhole = true
    const wrong = this.#stated.find(({ sha256 }) => !sha256.equals(this.sum()))
    if (wrong) throw invalid(wrong.name, 'digest-mismatch', 'De inhoud is niet die van deze digest: er ging iets mis.')
  }
}

const DIGESTS = ['Content-Digest', 'Repr-Digest'] // the same for a body: nothing is compressed

/**
 * Lets bodies pass that are what their digests say. The bytes of forms go by `formParts` and those of JSON by its parser, which
 * ask `content` themselves.
 * @param isSummed whether the sum of a body is wanted in any case
 */
export function checkContent(app: FastifyInstance, isSummed: (request: FastifyRequest) => boolean): void {
  app.decorateRequest('content', undefined)
  app.addHook('preParsing', (request, reply, payload, done) => {
    try {
      const stated = DIGESTS.flatMap((name) => statedIn(name, header(request, name.toLowerCase())))
      if (stated.length === 0 && !isSummed(request)) return done(null, payload)
      const boundary = /^multipart\/.*boundary="?([^";]+)/i.exec(header(request, 'content-type'))?.[1]
      const content = new Content(stated, boundary)
      request.content = content
      if (boundary !== undefined || !isStreamed(request)) return done(null, payload)
      const passed = new Transform(passing(content)).on('error', () => {}) // whoever reads it hears of it
      follow(payload as Readable, passed)
      whenClosed(reply.raw, () => (payload as Readable).unpipe(passed))
      done(null, passed)
    } catch (error) {
      done(error as Error)
    }
  })
}

/**
 * Makes the routes of `app` take bodies of these media types whole. Every parser of ours is made by this or by `takePieces`, so that none
 * passes over the digest of a body, or the sum by which its key knows it.
 * @param read gives the body of the request
 */
export function takeWhole(
  app: FastifyInstance,
  types: string | string[],
  read: (request: FastifyRequest, body: Buffer) => Promise<unknown>,
  bodyLimit?: number,
): void {
  const options = { parseAs: 'buffer' as const, ...(bodyLimit !== undefined && { bodyLimit }) }
  app.addContentTypeParser(types, options, async (request: FastifyRequest, body: Buffer) => {
    request.content?.take(body)
    return read(request, body)
  })
}

/**
 * Makes the routes of `app` with `config.stream` take bodies of these media types as they come, of any size. The others have no body: what
 * is sent to them is taken in and left.
 * @param read gives the body of the request
 */
export function takePieces(
  app: FastifyInstance,
  types: string | string[],
  read: (request: FastifyRequest, body: Readable) => Promise<unknown>,
): void {
  const bodyLimit = app.initialConfig.bodyLimit ?? 0
  const options = { bodyLimit: Number.MAX_SAFE_INTEGER }
  app.addContentTypeParser(types, options, async (request: FastifyRequest, body: Readable) => {
    if (request.routeOptions.config.stream) return read(request, body)
    const pieces: Buffer[] = []
    let bytes = 0
    for await (const piece of body as AsyncIterable<Buffer>) {
      bytes += piece.byteLength
      if (bytes > bodyLimit) throw new Problem(413)
      pieces.push(piece)
    }
    request.content?.take(Buffer.concat(pieces))
    return undefined
  })
}

/** Whether nobody has all of the body at once. The parser of JSON gives `content` what it has, which takes less than a stream. */
const isStreamed = ({ routeOptions, headers }: FastifyRequest): boolean =>
  (routeOptions.config as { stream?: boolean }).stream === true ||
  !/^application\/json\b/i.test(headers['content-type'] ?? '')

/** For `Transform`: hands on what comes, and at its end says whether it was that. */
const passing = (content: Content): ConstructorParameters<typeof Transform>[0] => ({
  transform(chunk: Buffer, _encoding, done) {
    content.update(chunk)
    done(null, chunk)
  },
  flush(done) {
    try {
      content.check()
      done()
    } catch (error) {
      done(error as Error)
    }
  },
})

/** As `pipe`, and what breaks off breaks off there too. The source stays: the answer goes by its connection. */
function follow(source: Readable, target: Transform): void {
  source.once('error', (error) => target.destroy(error))
  whenClosed(source, () => {
    if (!source.readableEnded) target.destroy(source.errored ?? new Error('the body broke off'))
  })
  source.pipe(target)
}

/** What a header states by SHA-256; other algorithms are passed over. @throws Problem 400 */
function statedIn(name: string, text: string): Stated[] {
  if (text === '') return []
  try {
    const [value] = (parseDictionary(text).get('sha-256') ?? []) as [unknown?]
    if (value === undefined) return []
    if (value instanceof ArrayBuffer && value.byteLength === 32) return [{ name, sha256: Buffer.from(value) }]
  } catch {} // no dictionary
  throw invalid(name, 'invalid', 'Schrijf de digest als sha-256=:<base64>: (RFC 9530).')
}

/** The value of `Repr-Digest` and `Content-Digest`. */
export const digestHeader = (sha256: Buffer): string => serializeDictionary({ 'sha-256': sha256 })
