// besluit_verwerken: a besluit with the documents in which it is laid down, in one go. Beside the standard.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { CloudEvent } from '../core/cloud-event.ts'
import type { Mutation } from '../core/mutate.ts'
import { invalidAll, toProblem } from '../core/problem.ts'
import { expected } from '../database/rows.ts'
import { findDocument } from '../documenten/document/read.ts'
import { documentenKanaal } from '../documenten/kanaal.ts'
import { fetchDocumentElsewhere } from '../documenten/remote-documents.ts'
import { link, localUuid } from '../http/links.ts'
import { difference, nameFaultsBelow, openRemoteRelations } from '../services/remote-relations.ts'
import { askEach } from '../services/services.ts'
import { holdZaak } from '../zaken/lock.ts'
import { zaaktypeLink } from '../zaken/types.ts'
import { createBesluitinformatieobject } from './besluitinformatieobjecten.ts'
import { archivering } from './change.ts'
import {
  Besluit,
  BesluitInput,
  Besluitinformatieobject,
  BesluitinformatieobjectInput,
  type BesluitRow,
  toBesluit,
} from './columns.ts'
import { createBesluit } from './create.ts'
import { besluitenKanaal } from './read.ts'
import { AANMAKEN, access } from './rights.ts'
import { fetchBesluittypeElsewhere, fetchDocumenttypen, fetchZaakElsewhere } from './rules.ts'

const Body = Type.Object({
  besluit: BesluitInput,
  besluitinformatieobjecten: Type.Array(Type.Pick(BesluitinformatieobjectInput, ['informatieobject'])),
})
const Processed = Type.Object({ besluit: Besluit, besluitinformatieobjecten: Type.Array(Besluitinformatieobject) })

export const besluitVerwerken: FastifyPluginAsyncTypebox = async (app) => {
  const { config, services } = app.parts
  const remoteRelations = openRemoteRelations(app.mutate, services)

  app.post(
    '/besluit_verwerken',
    { config: access(AANMAKEN), schema: { body: Body, response: { 201: Processed } } },
    async (request, reply) => {
      const { besluit: input, besluitinformatieobjecten: documenten } = request.body
      const { base } = request
      const elsewhere = await fetchBesluittypeElsewhere(services, input.besluittype, base)
      const zaakElsewhere = await fetchZaakElsewhere(services, input.zaak, base)
      const typen = await fetchDocumenttypen(services, elsewhere && 'id' in elsewhere ? elsewhere.besluittypeUrl : null)
      const found = await askEach(documenten, ({ informatieobject }) =>
        fetchDocumentElsewhere(services, informatieobject, base),
      )
      const made = await remoteRelations.create(request.actor, async (m, remote) => {
        const context = { elsewhere, config, zaakElsewhere, remote }
        const zaakUuid = input.zaak ? (localUuid(input.zaak, base, 'zaak') ?? null) : null
        const was = await archivering(m, zaakUuid)
        const row = await within('besluit', () => createBesluit(m, input, context))
        nameFaultsBelow(remote, 0, 'besluit')
        const besluitinformatieobjecten: Besluitinformatieobject[] = []
        for (const [index, { informatieobject }] of documenten.entries()) {
          const part = `besluitinformatieobjecten.${index}`
          const from = remote.relations.length
          const reference = { document: found[index], typen, remote }
          const create = () => createBesluitinformatieobject(m, row, informatieobject, reference)
          besluitinformatieobjecten.push(await within(part, create))
          nameFaultsBelow(remote, from, part)
        }
        // Refused by one server, all of it did not happen.
        remote.changedRows.unshift({ table: 'besluit', uuid: row.uuid })
        if (was && zaakUuid)
          remote.changedRows.push({
            table: 'zaak',
            uuid: zaakUuid,
            ...difference(was, expected(await archivering(m, zaakUuid))),
          })
        const besluit = toBesluit(row, base)
        if (config.enableCloudEvents) m.announce(await processed(m, row, zaakUuid, documenten))
        return { besluit, besluitinformatieobjecten }
      })
      return reply.code(201).send(made)
    },
  )
}

/** The cloud event of it: of what type the besluit, its case and its documents are. */
async function processed(
  m: Mutation,
  row: BesluitRow,
  zaakUuid: string | null,
  documenten: { informatieobject: string }[],
): Promise<CloudEvent> {
  const { base } = m.actor
  const zaak = zaakUuid === null ? undefined : await holdZaak(m, zaakUuid)
  const typen: string[] = []
  for (const { informatieobject } of documenten) {
    const uuid = localUuid(informatieobject, base, 'enkelvoudiginformatieobject')
    const document = uuid === undefined ? undefined : await findDocument(m.read, uuid)
    if (document) typen.push(documentenKanaal(document, base).kenmerken.informatieobjecttype)
  }
  return {
    kanaal: 'besluiten',
    resource: 'besluit',
    actie: 'verwerkt',
    url: link(base, 'besluit', row.uuid),
    uuid: row.uuid,
    data: {
      ...besluitenKanaal(row, base).kenmerken,
      'zaak.zaaktype': zaak ? zaaktypeLink(base, zaak) : null,
      'informatieobjecten.iotype': typen,
    },
  }
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
