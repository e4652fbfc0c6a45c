// documenten: correcting a field of a document, unlocking one that a client left locked, moving one to another case, deleting one.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { fetchTypes } from '../../catalogi/remote-types.ts'
import { notFound } from '../../core/problem.ts'
import { expected } from '../../database/rows.ts'
import { DocumentPatch, toDocument } from '../../documenten/document/columns.ts'
import { discard } from '../../documenten/document/content.ts'
import { deleteDocument } from '../../documenten/document/delete.ts'
import {
  changeUnlocked,
  findBestandsdelen,
  forceUnlock,
  type Joined,
  joinParts,
} from '../../documenten/document/lock.ts'
import { type DocumentRow, findDocument } from '../../documenten/document/read.ts'
import { catalogusElsewhere } from '../../documenten/kanaal.ts'
import { fetchTypeElsewhere } from '../../documenten/type.ts'
import { readInput } from '../../http/input.ts'
import { link } from '../../http/links.ts'
import { zaaktypeUrlOf } from '../../zaken/zaak/references.ts'
import { moveZio } from '../../zaken/zaakinformatieobjecten.ts'
import { type FormFaults, type FormValues, formProblem } from '../frame/form.ts'
import { changesBetween } from '../frame/history.ts'
import { queryText, requireVisible, uuidIn, uuidParam } from '../frame/lookup.ts'
import { signedIn } from '../frame/session.ts'
import { t } from '../language/language.ts'
import { isConfirmed, repair } from './confirm.ts'
import {
  bodyOf,
  correctionForm,
  correctionOf,
  DOCUMENT_CORRECTIONS,
  labelsBeside,
  saidBy,
  valuesFor,
} from './fields.ts'

const config = { access: 'beheer', rol: 'hersteller' } as const
type Field = { Params: { uuid: string; veld: string } }
type Zaak = { uuid: string; identificatie: string; zio: string }

export function registerDocumentRepairs(app: FastifyInstance): void {
  const { parts } = app

  app.get('/documenten/:uuid/herstellen', { config }, async (request, reply) => {
    const document = await documentOf(request)
    const resource = toDocument(document, request.base)
    return reply.page('repair', {
      title: t`Document ${document.identificatie} herstellen`,
      breadcrumbs: crumbs(document).slice(0, 2),
      fields: DOCUMENT_CORRECTIONS.map((one) => ({ name: one.name, label: one.label, value: saidBy(one, resource) })),
      path: `/documenten/${document.uuid}`,
      isClosed: false,
      locked: document.lock !== null,
      acts: [
        ...(document.lock === null ? [] : [{ path: 'ontgrendelen', name: t('Ontgrendelen') }]),
        { path: 'verplaatsen', name: t('Naar een andere zaak') },
        { path: 'verwijderen', name: t('Document verwijderen') },
      ],
    })
  })

  app.get<Field>('/documenten/:uuid/herstellen/:veld', { config }, async (request, reply) => {
    const document = await documentOf(request)
    const correction = correctionOf(DOCUMENT_CORRECTIONS, request.params.veld)
    return correctionForm(reply, correction, about(document), valuesFor(correction, toDocument(document, request.base)))
  })

  app.post<Field>('/documenten/:uuid/herstellen/:veld', { config }, async (request, reply) => {
    const document = await documentOf(request)
    const correction = correctionOf(DOCUMENT_CORRECTIONS, request.params.veld)
    const { uuid, identificatie } = document
    const { base } = request
    return repair(request, reply, {
      title: t`${correction.label} corrigeren`,
      breadcrumbs: crumbs(document),
      back: `/documenten/${uuid}/herstellen`,
      button: t('Corrigeren'),
      labels: labelsBeside(DOCUMENT_CORRECTIONS, correction),
      form: (values, faults) => correctionForm(reply, correction, about(document), values, faults),
      prepare: async () => {
        const given = readInput(DocumentPatch, bodyOf(correction, valuesIn(request)), { defaults: false })
        const elsewhere = await fetchTypeElsewhere(parts.services, given.informatieobjecttype, base)
        const catalogus = given.informatieobjecttype
          ? ''
          : await catalogusElsewhere(app.read, parts.services, uuid, base)
        return async (m) => {
          const before = await findDocument(m.read, uuid)
          await changeUnlocked(m, parts, { uuid, given, elsewhere, catalogus })
          const after = await findDocument(m.read, uuid)
          const [oud, nieuw] = [before, after].map((row) => toDocument(expected(row), base))
          return { fields: await changesBetween(m.read, request, expected(oud), expected(nieuw)), lines: [] }
        }
      },
      audit: { ...auditOf(document, 'document-corrigeren'), nieuw: { veld: correction.name } },
      done: { path: `/documenten/${uuid}`, text: t`${correction.label} van ${identificatie} is gecorrigeerd.` },
    })
  })

  app.get('/documenten/:uuid/ontgrendelen', { config }, async (request, reply) =>
    unlockForm(reply, await documentOf(request)),
  )

  app.post('/documenten/:uuid/ontgrendelen', { config }, async (request, reply) => {
    const document = await documentOf(request)
    const { uuid } = document
    const bestandsdelen = await findBestandsdelen(app, uuid)
    const there = bestandsdelen.filter(({ fileId }) => fileId !== null).length
    const isGivenUp = there > 0 && there < bestandsdelen.length
    let ahead: Joined | undefined
    let isUsed = false
    const answer = await repair(request, reply, {
      title: t('Document ontgrendelen'),
      breadcrumbs: crumbs(document),
      back: `/documenten/${uuid}/herstellen`,
      button: t('Ontgrendelen'),
      ...(isGivenUp && { typed: document.identificatie }),
      form: (values, faults) => unlockForm(reply, document, values, faults),
      prepare: async () => {
        const catalogus = await catalogusElsewhere(app.read, parts.services, uuid, request.base)
        if (isConfirmed(request)) ahead = await joinParts(app, uuid)
        return async (m) => {
          const lock = (await findDocument(m.read, uuid))?.lock ?? null
          const { done, used } = await forceUnlock(m, parts.store, { uuid, joined: ahead, catalogus })
          if (!done && isConfirmed(request))
            throw formProblem({ '': t('De bestandsdelen veranderen nog. Probeer het opnieuw.') })
          isUsed = used
          return {
            fields: [{ field: t('Vergrendeld'), before: t('ja'), after: t('nee') }],
            lines: [
              t(
                'Wie het vergrendelde, kan zijn wijziging niet meer opslaan met die lock: de applicatie moet opnieuw vergrendelen.',
              ),
              ...(isGivenUp
                ? [
                    t`Ontvangen zijn ${there} van de ${bestandsdelen.length} bestandsdelen. De upload wordt opgegeven: wat er was, gaat weg.`,
                  ]
                : there > 0
                  ? [t('Alle bestandsdelen zijn er: zij worden de inhoud van het document.')]
                  : []),
            ],
            state: lock ?? '',
          }
        }
      },
      audit: auditOf(document, 'document-ontgrendelen'),
      done: { path: `/documenten/${uuid}`, text: t('Het document is ontgrendeld.') },
    })
    if (!isUsed || reply.statusCode !== 303) await discard(parts.store, ahead?.bytes ?? null)
    return answer
  })

  app.get('/documenten/:uuid/verplaatsen', { config }, async (request, reply) => {
    const document = await documentOf(request)
    return moveForm(reply, document, await zakenOf(request, document.id), { van: queryText(request, 'zaak') })
  })

  app.post('/documenten/:uuid/verplaatsen', { config }, async (request, reply) => {
    const document = await documentOf(request)
    const { uuid, identificatie } = document
    const zaken = await zakenOf(request, document.id)
    const form = valuesIn(request)
    return repair(request, reply, {
      title: t`Document ${identificatie} verplaatsen`,
      breadcrumbs: crumbs(document),
      back: `/documenten/${uuid}/herstellen`,
      button: t('Verplaatsen'),
      form: (values, faults) => moveForm(reply, document, zaken, values, faults),
      prepare: async () => {
        const from = zaken.find((zaak) => zaak.uuid === form.van)
        if (!from) throw formProblem({ van: t('Kies de zaak waar het document nu bij hoort.') })
        const to = await zaakNamed(request, String(form.naar ?? ''))
        const url = link(request.base, 'zaak', to.uuid)
        const zaaktype = await zaaktypeUrlOf(app, url, request.base)
        const typen = await fetchTypes(parts.services, request.base, [['zaaktype', zaaktype]])
        return async (m) => {
          await moveZio(m, from.zio, to.uuid, typen)
          return {
            fields: [{ field: t('Zaak'), before: from.identificatie, after: to.identificatie }],
            lines: [
              t(
                'Titel, beschrijving en vernietigingsdatum van de koppeling gaan mee; de status van de oude zaak niet.',
              ),
            ],
            state: to.uuid,
          }
        }
      },
      audit: auditOf(document, 'document-verplaatsen'),
      done: { path: `/documenten/${uuid}`, text: t`Het document ${identificatie} is verplaatst.` },
    })
  })

  app.get('/documenten/:uuid/verwijderen', { config }, async (request, reply) =>
    deleteForm(reply, await documentOf(request)),
  )

  app.post('/documenten/:uuid/verwijderen', { config }, async (request, reply) => {
    const document = await documentOf(request)
    const { uuid, identificatie } = document
    return repair(request, reply, {
      title: t`Document ${identificatie} verwijderen`,
      breadcrumbs: crumbs(document),
      back: `/documenten/${uuid}/herstellen`,
      button: t('Document verwijderen'),
      typed: identificatie,
      form: (values, faults) => deleteForm(reply, document, values, faults),
      prepare: async () => {
        const catalogus = await catalogusElsewhere(app.read, parts.services, uuid, request.base)
        return async (m) => {
          const { versie } = expected(await findDocument(m.read, uuid))
          await deleteDocument(m, uuid, catalogus)
          return {
            fields: [],
            lines: [
              versie === 1 ? t('De ene versie gaat weg.') : t`Alle ${versie} versies gaan weg.`,
              t(
                'Het audit trail van het document verdwijnt ermee. In de audit van deze pagina’s blijft staan wie het verwijderde, en waarom.',
              ),
            ],
            state: uuid,
          }
        }
      },
      audit: auditOf(document, 'document-verwijderen'),
      done: { path: '/documenten', text: t`Het document ${identificatie} is verwijderd.` },
    })
  })

  async function documentOf(request: FastifyRequest): Promise<DocumentRow> {
    const document = await findDocument(app.read, uuidParam(request))
    if (!document) throw notFound(t('Dit document bestaat niet.'))
    requireVisible(request, document.laatsteVertrouwelijkheidaanduiding)
    return document
  }

  /** The cases that a document belongs to, as far as he may see them. */
  async function zakenOf(request: FastifyRequest, documentId: number): Promise<Zaak[]> {
    return app.reader.sql<Zaak[]>`
      select z.uuid, z.identificatie, r.uuid as zio from zaakinformatieobject r join zaak z on z.id = r.zaak_id
      where r.enkelvoudiginformatieobject_id = ${documentId}
        and z.vertrouwelijkheidaanduiding <= ${signedIn(request).maxVertrouwelijkheidaanduiding}::vertrouwelijkheidaanduiding
      order by r.id desc limit 50`
  }

  /** The case with this number, uuid or address. @throws Problem 400 when there is none, or more than one */
  async function zaakNamed(request: FastifyRequest, text: string): Promise<Omit<Zaak, 'zio'>> {
    const uuid = uuidIn(text) ?? null
    const found = await app.reader.sql<Omit<Zaak, 'zio'>[]>`
      select uuid, identificatie from zaak where (uuid = ${uuid}::uuid or (${uuid}::uuid is null and identificatie = ${text.trim()}))
        and vertrouwelijkheidaanduiding <= ${signedIn(request).maxVertrouwelijkheidaanduiding}::vertrouwelijkheidaanduiding
      limit 2`
    const [zaak, other] = found
    if (!zaak) throw formProblem({ naar: t('Deze zaak is er niet, of u mag haar niet zien.') })
    if (other) throw formProblem({ naar: t('Er zijn meer zaken met dit nummer. Vul de uuid van de zaak in.') })
    return zaak
  }
}

const valuesIn = (request: FastifyRequest) => (request.body ?? {}) as FormValues
const auditOf = ({ uuid, identificatie }: DocumentRow, handeling: string) => ({
  handeling,
  soort: 'document',
  id: uuid,
  weergave: identificatie,
})
const crumbs = ({ uuid, titel }: DocumentRow) => [
  { path: '/documenten', name: t('Documenten') },
  { path: `/documenten/${uuid}`, name: titel },
  { path: `/documenten/${uuid}/herstellen`, name: t('Herstellen') },
]
const back = ({ uuid }: DocumentRow) => `/documenten/${uuid}/herstellen`

const about = (document: DocumentRow) => ({
  breadcrumbs: crumbs(document),
  back: back(document),
  isDocument: true,
  isClosed: false,
})

const unlockForm = (reply: FastifyReply, document: DocumentRow, values: FormValues = {}, faults: FormFaults = {}) =>
  reply.page('repair-act', {
    title: t('Document ontgrendelen'),
    breadcrumbs: crumbs(document),
    help: t(
      'Doe dit als een applicatie het document vergrendelde en niet meer ontgrendelt. Kijk eerst of er niet nog iemand aan werkt.',
    ),
    values,
    faults,
    back: back(document),
  })

const deleteForm = (reply: FastifyReply, document: DocumentRow, values: FormValues = {}, faults: FormFaults = {}) =>
  reply.page('repair-act', {
    title: t`Document ${document.identificatie} verwijderen`,
    breadcrumbs: crumbs(document),
    help: t(
      'Voor een document dat voor een test of per ongeluk is gemaakt. Zolang het bij een zaak of besluit hoort, wordt het niet verwijderd (drc-008).',
    ),
    values,
    faults,
    back: back(document),
  })

const moveForm = (
  reply: FastifyReply,
  document: DocumentRow,
  zaken: Zaak[],
  values: FormValues,
  faults: FormFaults = {},
) =>
  reply.page('repair-move', {
    title: t`Document ${document.identificatie} verplaatsen`,
    breadcrumbs: crumbs(document),
    zaken,
    values,
    faults,
    back: back(document),
  })
