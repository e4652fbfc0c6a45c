import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'

/** The text of a header, when it came once. */
export function header(request: FastifyRequest, name: string): string {
  const value = request.headers[name]
  return typeof value === 'string' ? value : ''
}

/**
 * The same of a header that is kept and shown: the bytes that came, read as UTF-8. Node gives each byte as a character, which is
 * right only for what is no UTF-8.
 */
export function headerText(request: FastifyRequest, name: string): string {
  const text = header(request, name)
  const bytes = Buffer.from(text, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : text
}
