// document_registreren: a document and its place in a case at once, or neither. Beside the standard.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { knownInformatieobjecttypen } from '../catalogi/known-types.ts'
import { fetchTypes } from '../catalogi/remote-types.ts'
import { type InvalidParam, invalidAll, Problem } from '../core/problem.ts'
import { expected } from '../database/rows.ts'
import { receivedBytes } from '../documenten/document/bytes.ts'
import { DocumentCreate, DocumentWithLock } from '../documenten/document/columns.ts'
import { contentFaults, keepingContent, registerContent, requireValidBody } from '../documenten/document/content.ts'
import { judgeNewDocument } from '../documenten/document/create.ts'
import { findDocument } from '../documenten/document/read.ts'
import { documentenKanaal } from '../documenten/kanaal.ts'
import { AANMAKEN } from '../documenten/rights.ts'
import { fetchTypeElsewhere } from '../documenten/type.ts'
import { Url, Uuid } from '../http/input.ts'
import { zaakForChange } from './lock.ts'
import { KOPPELEN } from './rights.ts'
import { zaaktypeLink } from './types.ts'
import { zaaktypeUrlOf } from './zaak/references.ts'
import { createZio, ZioPart } from './zaakinformatieobjecten.ts'

const DOCUMENT = 'enkelvoudiginformatieobject'
const RELATION = 'zaakinformatieobject'

const { informatieobject: _, ...deel } = ZioPart.properties
const Registratie = Type.Object({
  [DOCUMENT]: DocumentCreate,
  [RELATION]: Type.Object({ zaak: Url(), ...deel }),
})
const Geregistreerd = Type.Object({
  [DOCUMENT]: DocumentWithLock,
  [RELATION]: Type.Object({
    url: Url(),
    uuid: Uuid,
    zaak: Url(),
    ...ZioPart.properties,
    aardRelatieWeergave: Type.String(),
    registratiedatum: Type.String({ format: 'date-time' }),
  }),
})

const config = {
  access: { component: 'drc', scopes: AANMAKEN, and: { component: 'zrc', scopes: KOPPELEN } },
} as const

export const documentRegistreren: FastifyPluginAsyncTypebox = async (app) => {
  const known = app.each(knownInformatieobjecttypen)
  registerContent(app, [DOCUMENT])

  app.post(
    '/document_registreren',
    { config, schema: { body: Registratie, response: { 201: Geregistreerd } }, attachValidation: true },
    async (request, reply) => {
      const made = await keepingContent(app, request, async () => {
        const inhoud = contentFaults(request, request.body?.[DOCUMENT]?.inhoud)
        await naming(zaakFirst, async () =>
          requireValidBody(request, [DOCUMENT, RELATION], inhoud.map(within(DOCUMENT))),
        )
        const { [DOCUMENT]: input, [RELATION]: relatie } = request.body
        const bytes = await receivedBytes(app, request, input)
        const { services } = app.parts
        const elsewhere = await fetchTypeElsewhere(services, input.informatieobjecttype, request.base)
        const zaaktype = await zaaktypeUrlOf(app, relatie.zaak, request.base)
        const typen = await fetchTypes(services, request.base, [['zaaktype', zaaktype]])
        return app.mutate(request.actor, async (m) => {
          const zaak = await zaakForChange(m, relatie.zaak, KOPPELEN)
          const document = await naming(within(DOCUMENT), async () =>
            m.make(await judgeNewDocument(m, app.parts, known(), { input, bytes, elsewhere })),
          )
          const zio = await naming(within(RELATION), () =>
            createZio(m, zaak, { ...relatie, informatieobject: document.url }, { typen }),
          )
          if (app.parts.config.enableCloudEvents) {
            const catalogus = elsewhere && 'catalogus' in elsewhere ? elsewhere.catalogus : ''
            const { url } = document
            const uuid = url.slice(-36)
            const { kenmerken } = documentenKanaal(expected(await findDocument(m.read, uuid)), request.base, catalogus)
            const data = { ...kenmerken, 'zaak.zaaktype': zaaktypeLink(request.base, zaak) }
            m.announce({ kanaal: 'documenten', resource: 'document', actie: 'geregistreerd', url, uuid, data })
          }
          return { [DOCUMENT]: document, [RELATION]: zio }
        })
      })
      return reply.code(201).send(made as never)
    },
  )
}

/** Does the work; faults of fields get their name in the whole body. */
async function naming<T>(name: (fault: InvalidParam) => InvalidParam, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof Problem && error.invalidParams ? invalidAll(error.invalidParams.map(name)) : error
  }
}

const within = (part: string) => (fault: InvalidParam) => ({ ...fault, name: `${part}.${fault.name}` })

/** The zaak is looked at before all else, so a missing one is named without its place. */
function zaakFirst(fault: InvalidParam): InvalidParam {
  const missing = fault.code === 'required' && (fault.name === RELATION || fault.name === `${RELATION}.zaak`)
  return missing ? { ...fault, name: 'zaak' } : fault
}
