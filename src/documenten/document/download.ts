// download: the bytes of a version. What does not answer to its checksum never arrives as a whole.
import { type Cipheriv, createHash, hash } from 'node:crypto'
import { pipeline, Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import contentDisposition from 'content-disposition'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import parseRange from 'range-parser'
import { LIMITS } from '../../core/limits.ts'
import { notFound, Problem } from '../../core/problem.ts'
import { one } from '../../database/rows.ts'
import { digestHeader } from '../../http/content.ts'
import { header } from '../../http/header.ts'
import { countLongAnswers } from '../../http/long-answers.ts'
import { largeTurn } from '../../http/turns.ts'
import { whenClosed } from '../../http/when-closed.ts'
import { inTurnOfAll } from '../../telemetry/current-organisation.ts'
import { mayRead, readAccess } from '../rights.ts'
import { StoreUnavailable } from '../storage/index.ts'
import { reportLost } from '../storage/lost.ts'
import { type DocumentRow, findDocument, ignoreUnknown, Params, VersionQuery } from './read.ts'

type Range = { start: number; end: number }

export const download: FastifyPluginAsyncTypebox = async (app) => {
  const send = contentSender(app)
  app.get(
    '/enkelvoudiginformatieobjecten/:uuid/download',
    {
      config: readAccess,
      schema: { params: Params, querystring: VersionQuery },
      preValidation: ignoreUnknown(VersionQuery),
    },
    async (request, reply) => {
      const row = await findDocument(app.read, request.params.uuid, request.query)
      if (!row || !mayRead(request.actor, row)) throw notFound() // what one may not read does not exist here
      return send(request, reply, row)
    },
  )
}

/** How the bytes of a version go to whoever may have them, with ranges and checks. A version without bytes is a 204. */
export function contentSender(app: FastifyInstance) {
  const given = new WeakMap<object, () => void>()
  app.addHook('onSend', async ({ raw }) => given.get(raw)?.())
  return send

  /**
   * @param row its checksum is of what is sent
   * @param shown the type under which a browser may show it; without one it is only downloaded
   */
  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    row: Pick<DocumentRow, 'fileId' | 'backend' | 'key' | 'sha256' | 'size' | 'bestandsnaam' | 'uuid'> & Opened,
    shown?: string,
  ): Promise<FastifyReply> {
    if (row.fileId === null) return reply.code(204).send()
    const { backend, key, sha256 } = row as { backend: string; key: string; sha256: Buffer | null }
    const total = Number(row.size)
    // Without a checksum, as for bytes that were taken over as they lie, the key says which bytes they are.
    const etag = `"${sha256?.toString('hex') ?? createHash('sha256').update(`${backend}:${key}:${total}`).digest('hex')}"`
    const described = {
      'accept-ranges': 'bytes',
      'content-type': shown ?? 'application/octet-stream', // never what the client once said
      'content-disposition': contentDisposition.create(fileName(row.bestandsnaam) || `${row.uuid}.bin`, {
        type: shown ? 'inline' : 'attachment',
      }),
      etag,
      ...(sha256 && { 'repr-digest': digestHeader(sha256) }),
    }
    if (matches(header(request, 'if-none-match'), etag)) return reply.code(304).headers(described).send()
    const unchanged = ['', etag].includes(header(request, 'if-range'))
    const range = unchanged ? askedRange(header(request, 'range'), total) : undefined
    // Of an empty answer to HEAD Fastify would make the length 0; that of an empty stream it leaves alone.
    const payload =
      request.method === 'HEAD'
        ? Readable.from([])
        : await read(request, reply, { backend, key, size: total, sha256, opened: row.opened }, range)
    // The whole was held against its sum already.
    const isWhole = !range && request.method !== 'HEAD'
    const content = isWhole && sha256 ? sha256 : Buffer.isBuffer(payload) ? sha256Of(payload) : null
    if (content) reply.header('content-digest', digestHeader(content))
    if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${total}`)
    reply.headers({ ...described, 'content-length': range ? range.end - range.start + 1 : total })
    return reply.send(payload)
  }

  async function read(
    request: FastifyRequest,
    reply: FastifyReply,
    stored: Stored,
    range: Range | undefined,
  ): Promise<Buffer | Readable> {
    if (stored.size <= LIMITS.wholeDownloadBytes) {
      const bytes = await readInTurn(request, reply, stored)
      return range ? bytes.subarray(range.start, range.end + 1) : bytes
    }
    // A client may have gone before anybody reads the file. One that nobody closes ends the process.
    const file: { stream?: Readable; gone: boolean } = { gone: false }
    countDownload(request, reply, () => {
      file.gone = true
      file.stream?.destroy()
    })
    await largeTurn(request)
    if (file.gone) return Readable.from([])
    const stream = await open(stored, range)
    file.stream = stream
    if (file.gone) stream.destroy()
    const checked = range ? stream : verified(stream, stored)
    return Readable.from(paced(request, checked), { objectMode: false, highWaterMark: 1 }) // nothing is read ahead
  }

  /** All bytes. As long as they are not given to the connection they count: from then on it has a bound of its own. */
  function readInTurn({ raw }: FastifyRequest, reply: FastifyReply, stored: Stored): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      wholeDownloads(async () => {
        resolve(await readWhole(stored))
        await new Promise<void>((done) => {
          given.set(raw, done)
          whenClosed(reply.raw, done)
        })
      }).catch(reject)
    })
  }

  async function open({ backend, key, size, opened }: Stored, range?: Range): Promise<Readable> {
    const found = await app.parts.storeFor(backend).read(key, range)
    if (!found) throw await reportLost(app.parts, app.mutate, { backend, key, size })
    const { stream } = found
    // An error, and who has gone, come along from either to the other.
    if (found.size === size) return opened ? pipeline(stream, opened(range?.start ?? 0), () => {}) : stream
    stream.destroy()
    throw damaged(key)
  }

  async function readWhole(stored: Stored): Promise<Buffer> {
    const { backend, key, size, sha256, opened } = stored
    const store = app.parts.storeFor(backend)
    const found = store.readWhole
      ? await store.readWhole(key, size)
      : Buffer.concat(await (await open({ backend, key, size, sha256 })).toArray())
    if (!found) throw await reportLost(app.parts, app.mutate, { backend, key, size })
    const bytes = opened ? opened(0).update(found) : found
    if (bytes.byteLength !== size || (sha256 && !sha256Of(bytes).equals(sha256))) throw damaged(key)
    return bytes
  }

  /** The bytes, of which the last are held back until all have been checked. */
  async function* verified(stream: Readable, { key, sha256 }: Stored): AsyncGenerator<Buffer> {
    const hash = createHash('sha256')
    let last: Buffer | undefined
    for await (const chunk of stream) {
      hash.update(chunk)
      if (last) yield last
      last = chunk
    }
    if (sha256 && !hash.digest().equals(sha256)) throw damaged(key)
    if (last) yield last
  }

  /** A download is large work beside small requests, however fast its client reads. */
  async function* paced(request: FastifyRequest, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let sent = 0
    for await (const piece of pieces) {
      yield piece
      sent += piece.byteLength
      if (sent < LIMITS.portionBytes) continue
      sent = 0
      await largeTurn(request)
    }
  }

  function damaged(key: string): StoreUnavailable {
    app.log.error({ key }, 'stored bytes do not answer to their size or checksum')
    return new StoreUnavailable('damaged')
  }
}

const countDownload = countLongAnswers(LIMITS.downloads, LIMITS.downloadsOfClient)
const wholeDownloads = inTurnOfAll(LIMITS.wholeDownloads, Number.POSITIVE_INFINITY, () => new Problem(503))

/** What opens bytes that are sealed in the store, from a position on; they are as long there. */
type Opened = { opened?: ((position: number) => Cipheriv) | undefined }
type Stored = Opened & { backend: string; key: string; size: number; sha256: Buffer | null }

// biome-ignore lint/suspicious/noControlCharactersInRegex: these would break the header
const fileName = (name: string) => name.replace(/[\x00-\x1f\x7f]/g, '_')

const sha256Of = (bytes: Buffer) => hash('sha256', bytes, 'buffer')

function matches(tags: string, etag: string): boolean {
  const known = tags.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return known.includes(etag) || known.includes('*')
}

/** The single range that was asked for; several ranges, or none, give the whole (RFC 9110 allows that). */
function askedRange(text: string, total: number): Range | undefined {
  if (!text) return undefined
  const ranges = parseRange(total, text)
  if (ranges === -1) throw new Problem(416, { headers: { 'content-range': `bytes */${total}` } })
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return undefined
  const { start, end } = one(ranges)
  return { start, end }
}
