import type { FastifyRequest } from 'fastify'

/** The text of a header, when it came once. */
export function header(request: FastifyRequest, name: string): string {
  const value = request.headers[name]
  return typeof value === 'string' ? value : ''
}
