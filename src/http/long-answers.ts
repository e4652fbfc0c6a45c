// Answers that take as long as their client reads: so many of them at once in a process, and so many of one client or account. Where a process
// serves many organisations, one of them has half of these at most.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../core/problem.ts'
import { currentOrganisation, type OpenOrganisation, ownName } from '../telemetry/current-organisation.ts'
import { isAccount, nameOf } from './places.ts'
import { whenClosed } from './when-closed.ts'

/**
 * Makes what counts answers of one kind. It is called for each before its first byte, and throws Problem 503 when there are as
 * many as may be. The answer counts until its connection is through with it, and then it is told.
 */
export function countLongAnswers(atOnce: number, atOnceOfClient: number, atOnceOfAccount = atOnceOfClient) {
  let all = 0
  const ofClients = new Map<string, number>()
  const ofOrganisations = new WeakMap<OpenOrganisation, number>()
  return (request: FastifyRequest, reply: FastifyReply, ended: () => void = () => {}): void => {
    const client = nameOf(request) ?? ''
    const place = ownName(client)
    const ofClient = ofClients.get(place) ?? 0
    const most = isAccount(client) ? atOnceOfAccount : atOnceOfClient
    const organisation = currentOrganisation()
    const ofOrganisation = organisation ? (ofOrganisations.get(organisation) ?? 0) : 0
    if (all >= atOnce || ofClient >= most || ofOrganisation >= atOnce / 2)
      throw new Problem(503, { headers: { 'retry-after': '5' } })
    all++
    if (organisation) ofOrganisations.set(organisation, ofOrganisation + 1)
    ofClients.set(place, ofClient + 1)
    whenClosed(reply.raw, () => {
      all--
      if (organisation) ofOrganisations.set(organisation, (ofOrganisations.get(organisation) ?? 1) - 1)
      const others = (ofClients.get(place) ?? 1) - 1
      if (others > 0) ofClients.set(place, others)
      else ofClients.delete(place)
      ended()
    })
  }
}
