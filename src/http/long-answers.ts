// Answers that take as long as their client reads: so many of them at once in a process, and so many of one client or account.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../core/problem.ts'
import { ownName } from '../telemetry/current-organisation.ts'
import { isAccount, nameOf } from './places.ts'

/**
 * Makes what counts answers of one kind. It is called for each before its first byte, and throws Problem 503 when there are as
 * many as may be. The answer counts until its connection is through with it, and then it is told.
 */
export function countLongAnswers(atOnce: number, atOnceOfClient: number, atOnceOfAccount = atOnceOfClient) {
  let all = 0
  const ofClients = new Map<string, number>()
  return (request: FastifyRequest, reply: FastifyReply, ended: () => void = () => {}): void => {
    const client = nameOf(request) ?? ''
    const place = ownName(client)
    const ofClient = ofClients.get(place) ?? 0
    const most = isAccount(client) ? atOnceOfAccount : atOnceOfClient
    if (all >= atOnce || ofClient >= most) throw new Problem(503, { headers: { 'retry-after': '5' } })
    if (reply.raw.closed) {
      ended()
      return
    }
    all++
    ofClients.set(place, ofClient + 1)
    reply.raw.once('close', () => {
      all--
      const others = (ofClients.get(place) ?? 1) - 1
      if (others > 0) ofClients.set(place, others)
      else ofClients.delete(place)
      ended()
    })
  }
}
