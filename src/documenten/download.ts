// download: the bytes of a document version.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import contentDisposition from 'content-disposition'
import parseRange from 'range-parser'
import { header } from '../access.ts'
import { notFound, Problem } from '../problem.ts'
import { lezen } from './rules.ts'
import { findDocument, mayRead, Params, VersionQuery } from './vinden.ts'

export const download: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/enkelvoudiginformatieobjecten/:uuid/download',
    { config: lezen, schema: { params: Params, querystring: VersionQuery } },
    async (request, reply) => {
      const row = await findDocument(app.read, request.params.uuid, request.query)
      if (!row || !mayRead(request.actor, row)) throw notFound() // what one may not read does not exist here
      if (row.bestandId === null) return reply.code(204).send()
      const total = Number(row.omvang)
      reply.headers({
        'accept-ranges': 'bytes',
        'content-type': 'application/octet-stream', // never what the client once said: nothing is shown inline
        'content-disposition': contentDisposition.create(row.bestandsnaam || `${row.uuid}.bin`),
        etag: `"${row.sha256!.toString('hex')}"`,
      })
      if (header(request, 'if-none-match').includes(row.sha256!.toString('hex'))) return reply.code(304).send()
      const range = askedRange(header(request, 'range'), total)
      if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${total}`)
      reply.header('content-length', range ? range.end - range.start + 1 : total)
      if (request.method === 'HEAD') return reply.send()
      const bytes = await app.parts.opslag.read(row.sleutel!, range)
      if (!bytes) throw notFound()
      return reply.send(bytes.stream)
    },
  )
}

/** The single range that was asked for; several ranges, or none, give the whole (RFC 9110 allows that). */
function askedRange(text: string, total: number): { start: number; end: number } | undefined {
  if (!text) return undefined
  const ranges = parseRange(total, text)
  if (ranges === -1) throw new Problem(416, { headers: { 'content-range': `bytes */${total}` } })
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return undefined
  return { start: ranges[0]!.start, end: ranges[0]!.end }
}
