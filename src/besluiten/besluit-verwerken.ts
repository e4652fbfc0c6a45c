// besluit_verwerken: a besluit with the documents in which it is laid down, in one go. Beside the standard.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { fetchDocumentElsewhere } from '../documenten/remote-documents.ts'
import { localUuid } from '../http/links.ts'
import { invalidAll, toProblem } from '../http/problem.ts'
import { difference, nameFaultsBelow, openRemoteRelations } from '../services/remote-relations.ts'
import { askEach } from '../services/services.ts'
import { archivering, createBesluit } from './besluiten.ts'
import { createBesluitinformatieobject } from './besluitinformatieobjecten.ts'
import { Besluit, BesluitInput, Besluitinformatieobject, BesluitinformatieobjectInput } from './columns.ts'
import { AANMAKEN, access, toBesluit } from './read.ts'
import { fetchBesluittypeElsewhere, fetchDocumenttypen, fetchZaakElsewhere } from './rules.ts'

const Verwerken = Type.Object({
  besluit: BesluitInput,
  besluitinformatieobjecten: Type.Array(Type.Pick(BesluitinformatieobjectInput, ['informatieobject'])),
})
const Verwerkt = Type.Object({ besluit: Besluit, besluitinformatieobjecten: Type.Array(Besluitinformatieobject) })

export const besluitVerwerken: FastifyPluginAsyncTypebox = async (app) => {
  const { config, services } = app.parts
  const spiegels = openRemoteRelations(app.mutate, services)

  app.post(
    '/besluit_verwerken',
    { config: access(AANMAKEN), schema: { body: Verwerken, response: { 201: Verwerkt } } },
    async (request, reply) => {
      const { besluit: input, besluitinformatieobjecten: documenten } = request.body
      const { base } = request
      const elsewhere = await fetchBesluittypeElsewhere(services, input.besluittype, base)
      const zaakElders = await fetchZaakElsewhere(services, input.zaak, base)
      const typen = await fetchDocumenttypen(services, elsewhere && 'id' in elsewhere ? elsewhere.besluittypeUrl : null)
      const found = await askEach(documenten, ({ informatieobject }) =>
        fetchDocumentElsewhere(services, informatieobject, base),
      )
      const made = await spiegels.create(request.actor, async (m, elders) => {
        const context = { elsewhere, config, zaakElders, elders }
        const zaakUuid = input.zaak ? (localUuid(input.zaak, base, 'zaak') ?? null) : null
        const was = await archivering(m, zaakUuid)
        const row = await within('besluit', () => createBesluit(m, input, context))
        nameFaultsBelow(elders, 0, 'besluit')
        const besluitinformatieobjecten: Besluitinformatieobject[] = []
        for (const [index, { informatieobject }] of documenten.entries()) {
          const part = `besluitinformatieobjecten.${index}`
          const from = elders.spiegels.length
          const verwijzing = { document: found[index], typen, elders }
          const create = () => createBesluitinformatieobject(m, row, informatieobject, verwijzing)
          besluitinformatieobjecten.push(await within(part, create))
          nameFaultsBelow(elders, from, part)
        }
        // Refused by one server, all of it did not happen.
        elders.rijen.unshift({ tabel: 'besluit', uuid: row.uuid })
        if (was && zaakUuid)
          elders.rijen.push({ tabel: 'zaak', uuid: zaakUuid, ...difference(was, (await archivering(m, zaakUuid))!) })
        return { besluit: toBesluit(row, base), besluitinformatieobjecten }
      })
      return reply.code(201).send(made)
    },
  )
}

/** Faults of a part are named under its place in the whole. */
async function within<T>(part: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { invalidParams } = toProblem(error)
    if (!invalidParams) throw error
    throw invalidAll(invalidParams.map((param) => ({ ...param, name: `${part}.${param.name}` })))
  }
}
