// The headers that name the reference system of geometry.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../../core/problem.ts'
import { header } from '../../http/header.ts'

/** Geometry is spoken in one reference system only, and both sides say so. @throws Problem 412 or 406 */
async function requireCrs(request: FastifyRequest): Promise<void> {
  const { method, routeOptions } = request
  const sends = method !== 'GET' && method !== 'HEAD' && !routeOptions.url?.endsWith('/_batch')
  const names = sends ? ['Content-Crs', 'Accept-Crs'] : ['Accept-Crs']
  for (const name of names) {
    const value = header(request, name.toLowerCase())
    if (value === '') throw new Problem(412, { detail: `De header ${name} ontbreekt.` })
    if (value !== 'EPSG:4326') throw new Problem(406, { detail: `Voor ${name} is alleen EPSG:4326 mogelijk.` })
  }
}
/** Says in which coordinates geometry is answered: there is but one. */
export async function answerCrs(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.header('content-crs', 'EPSG:4326')
}
/** Hooks of the routes that speak of geometry. */
export const crs = { onRequest: requireCrs, onSend: answerCrs }
