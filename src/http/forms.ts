// Forms of clients. What one costs is in the hands of whoever sends it: parts and fields are counted before they are made.
import { parse } from 'node:querystring'
import { Transform, type TransformCallback } from 'node:stream'
import { MIMEType } from 'node:util'
import type { Multipart } from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LIMITS } from '../core/limits.ts'
import { Problem } from '../core/problem.ts'
import { type Content, takeWhole } from './content.ts'
import { largeTurn } from './turns.ts'
import { whenClosed } from './when-closed.ts'

type FormLimits = { fields: number; fieldBytes: number; fileBytes?: number }

const HEADER_BYTES = 8 * 1024 // of one part
const HEADER_LINES = 20

/** Reads forms without files, as of a page: the value of a name, or the list of its values. */
export function readForms(app: FastifyInstance, bodyLimit: number): void {
  const read = async (request: FastifyRequest, body: Buffer) => {
    if (body.byteLength > LIMITS.smallBytes) await largeTurn(request)
    if (occurrences(body, '&', LIMITS.formFields) === LIMITS.formFields) throw new Problem(413)
    return parse(body.toString(), '&', '=', { maxKeys: 0 })
  }
  takeWhole(app, 'application/x-www-form-urlencoded', read, bodyLimit)
}

/**
 * The parts of a form with one file at most, in the order in which they come. It may be left at any part: the rest of the body
 * is then read and thrown away, so that the client gets its answer.
 * @param limits `fileBytes`: a longer file is cut there, and says that it is `truncated`
 * @throws Problem 400 `parse_error` when it has more than that, or ends too early
 */
export async function* formParts(
  request: FastifyRequest,
  { fields, fieldBytes, fileBytes = Number.MAX_SAFE_INTEGER }: FormLimits,
): AsyncGenerator<Multipart> {
  const { raw } = request
  const boundary = boundaryOf(request.headers['content-type'] ?? '')
  const most = fields + 2 // one file, and the end
  const body = Object.assign(new Transform({ transform: countParts(boundary, most, request.content) }), {
    headers: { ...raw.headers, 'content-type': `multipart/form-data; boundary="${boundary}"` },
  })
  const breakOff = () => {
    if (!raw.readableEnded) body.destroy(new Error('the form broke off'))
  }
  const form = Object.create(request, { raw: { value: body } }) as FastifyRequest
  const limits = {
    fields,
    fieldSize: fieldBytes,
    files: 1,
    fileSize: fileBytes,
    parts: fields + 1,
    headerPairs: HEADER_LINES,
    headerSize: HEADER_BYTES,
  }
  body.on('error', () => {})
  const waitNoMore = whenClosed(raw, breakOff)
  raw.pipe(body)
  try {
    yield* form.parts({ limits, throwFileSizeLimit: false } as never)
    request.content?.check()
  } catch (error) {
    throw error instanceof Problem || raw.destroyed ? error : parseError()
  } finally {
    waitNoMore()
    raw.unpipe(body)
    body.destroy()
    raw.resume()
  }
}

/** For `Transform`: what has more parts than that is not handed on. One piece of 64 kB may hold thousands. */
function countParts(boundary: string, most: number, content: Content | undefined) {
  let parts = 0
  return (chunk: Buffer, _encoding: string, done: TransformCallback) => {
    content?.update(chunk)
    parts += occurrences(chunk, `\r\n--${boundary}`, most + 1)
    if (parts > most) done(parseError())
    else done(null, chunk)
  }
}

/** How often a text is there; `most` when it is there at least so often. */
function occurrences(bytes: Buffer, text: string, most: number): number {
  let count = 0
  for (let at = bytes.indexOf(text); at !== -1 && count < most; at = bytes.indexOf(text, at + text.length)) count++
  return count
}

/** @throws Problem 400 when there is none, or one that RFC 2046 does not have */
function boundaryOf(contentType: string): string {
  let boundary: string | null = null
  try {
    boundary = new MIMEType(contentType).params.get('boundary')
  } catch {} // no type at all
  if (boundary === null || !/^[\w'()+,./:=? -]{1,70}$/.test(boundary)) throw parseError()
  return boundary
}

const parseError = () => new Problem(400, { code: 'parse_error' })
