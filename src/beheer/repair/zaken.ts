// zaken: correcting a field of a case, and deleting a case that was made for testing or by mistake.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { deleteBesluit } from '../../besluiten/delete.ts'
import { LIMITS } from '../../core/limits.ts'
import { notFound } from '../../core/problem.ts'
import { expected } from '../../database/rows.ts'
import { deleteDocument } from '../../documenten/document/delete.ts'
import { catalogusElsewhere } from '../../documenten/kanaal.ts'
import { readInput } from '../../http/input.ts'
import { holdZaak } from '../../zaken/lock.ts'
import { changeZaak } from '../../zaken/zaak/change.ts'
import { toZaak, ZaakPatch, type ZaakRow } from '../../zaken/zaak/columns.ts'
import { deleteZaak } from '../../zaken/zaak/delete.ts'
import { findZaak } from '../../zaken/zaak/read.ts'
import { openReferences } from '../../zaken/zaak/references.ts'
import { settingsOf } from '../../zaken/zaak/rules.ts'
import type { PageMutation } from '../frame/change.ts'
import { type FormFaults, type FormValues, formProblem } from '../frame/form.ts'
import { changesBetween, NOUNS } from '../frame/history.ts'
import { requireVisible, uuidParam } from '../frame/lookup.ts'
import { signedIn } from '../frame/session.ts'
import { t } from '../language/language.ts'
import { type Outcome, repair } from './confirm.ts'
import { bodyOf, correctionForm, correctionOf, labelsBeside, saidBy, valuesFor, ZAAK_CORRECTIONS } from './fields.ts'

const config = { access: 'beheer', rol: 'hersteller' } as const
type Zaak = ZaakRow

export async function registerZaakRepairs(app: FastifyInstance): Promise<void> {
  const references = await openReferences(app)

  app.get('/zaken/:uuid/herstellen', { config }, async (request, reply) => {
    const zaak = await zaakOf(request)
    const resource = toZaak(zaak, request.base)
    return reply.page('repair', {
      title: t`Zaak ${zaak.identificatie} herstellen`,
      breadcrumbs: crumbs(zaak).slice(0, 2),
      fields: ZAAK_CORRECTIONS.map((one) => ({ name: one.name, label: one.label, value: saidBy(one, resource) })),
      path: `/zaken/${zaak.uuid}`,
      isClosed: zaak.einddatum !== null,
      locked: false,
      acts: [{ path: 'verwijderen', name: t('Zaak verwijderen') }],
    })
  })

  app.get<{ Params: { uuid: string; veld: string } }>(
    '/zaken/:uuid/herstellen/:veld',
    { config },
    async (request, reply) => {
      const zaak = await zaakOf(request)
      const correction = correctionOf(ZAAK_CORRECTIONS, request.params.veld)
      return correctionForm(reply, correction, about(zaak), valuesFor(correction, toZaak(zaak, request.base)))
    },
  )

  app.post<{ Params: { uuid: string; veld: string } }>(
    '/zaken/:uuid/herstellen/:veld',
    { config },
    async (request, reply) => {
      const zaak = await zaakOf(request)
      const correction = correctionOf(ZAAK_CORRECTIONS, request.params.veld)
      const { uuid, identificatie } = zaak
      return repair(request, reply, {
        title: t`${correction.label} corrigeren`,
        breadcrumbs: crumbs(zaak),
        back: `/zaken/${uuid}/herstellen`,
        button: t('Corrigeren'),
        labels: labelsBeside(ZAAK_CORRECTIONS, correction),
        form: (values, faults) => correctionForm(reply, correction, about(zaak), values, faults),
        prepare: async () => {
          const given = readInput(ZaakPatch, bodyOf(correction, (request.body ?? {}) as FormValues), {
            defaults: false,
          })
          const known = toZaak(zaak, request.base)
          const faults = await references.judge(given, request.base, known)
          const typen = await references.zaaktypen(given, request.base, known)
          return async (m) => {
            const before = toZaak(expected(await findZaak(m.read, uuid, LIMITS.recorded)), request.base)
            const after = await changeZaak(
              m,
              uuid,
              'partial_update',
              { ...given },
              settingsOf(app.parts.config),
              faults,
              typen,
            )
            return {
              fields: await changesBetween(m.read, request, before, after),
              lines:
                before.einddatum === null
                  ? []
                  : [t('De zaak is afgesloten: dit wijzigt haar met geforceerd bijwerken.')],
            }
          }
        },
        audit: {
          handeling: 'zaak-corrigeren',
          soort: 'zaak',
          id: uuid,
          weergave: identificatie,
          nieuw: { veld: correction.name },
        },
        done: { path: `/zaken/${uuid}`, text: t`${correction.label} is gecorrigeerd.` },
      })
    },
  )

  app.get('/zaken/:uuid/verwijderen', { config }, async (request, reply) =>
    deleteForm(reply, await zaakOf(request), {}),
  )

  app.post('/zaken/:uuid/verwijderen', { config }, async (request, reply) => {
    const zaak = await zaakOf(request)
    const { uuid, identificatie } = zaak
    const form = (request.body ?? {}) as FormValues
    return repair(request, reply, {
      title: t`Zaak ${identificatie} verwijderen`,
      breadcrumbs: crumbs(zaak),
      back: `/zaken/${uuid}/herstellen`,
      button: t('Zaak verwijderen'),
      typed: identificatie,
      form: (values, faults) => deleteForm(reply, zaak, values, faults),
      prepare: async () => {
        const catalogi = await catalogiElsewhere(app, zaak, request.base)
        const asked = { uuid, besluiten: form.besluiten === 'true', documenten: form.documenten === 'true', catalogi }
        return (m) => removal(m, request, asked)
      },
      audit: { handeling: 'zaak-verwijderen', soort: 'zaak', id: uuid, weergave: identificatie },
      done: { path: '/zaken', text: t`De zaak ${identificatie} is verwijderd.` },
    })
  })

  async function zaakOf(request: FastifyRequest): Promise<Zaak> {
    const zaak = await findZaak(app.read, uuidParam(request), LIMITS.recorded)
    if (!zaak) throw notFound(t('Deze zaak bestaat niet.'))
    requireVisible(request, zaak.vertrouwelijkheidaanduiding)
    return zaak
  }
}

/** Most of the besluiten and documents that go along, and of what is named one by one. */
const MOST = 100
type Named = { uuid: string; name: string }

/** Deletes a case, and what is asked along with it. @param catalogi of documents of which the type stands elsewhere */
async function removal(
  m: PageMutation,
  request: FastifyRequest,
  {
    uuid,
    besluiten,
    documenten,
    catalogi,
  }: { uuid: string; besluiten: boolean; documenten: boolean; catalogi: Catalogi },
): Promise<Outcome> {
  const zaak = await holdZaak(m, uuid)
  if (!zaak) throw notFound(t('Deze zaak bestaat niet.'))
  const found = await hangingOn(m, request, zaak.id)
  if (besluiten && found.besluiten.length > MOST)
    throw formProblem({ besluiten: t`Het zijn er meer dan ${MOST}: verwijder ze eerst met de API.` })
  if (documenten && found.documenten.length > MOST)
    throw formProblem({ documenten: t`Het zijn er meer dan ${MOST}: verwijder ze daarna met de API.` })
  if (besluiten) for (const besluit of found.besluiten) await deleteBesluit(m, besluit.uuid)
  await deleteZaak(m, uuid)
  const orphans = await withoutRelations(m, request, found.documenten)
  const locked = documenten && orphans.find(({ isLocked }) => isLocked)
  if (locked) {
    const why = t`Document ${locked.name} is vergrendeld: ontgrendel het eerst (code destroy-locked).`
    throw formProblem({ documenten: why })
  }
  if (documenten)
    for (const document of orphans) await deleteDocument(m, document.uuid, catalogi.get(document.uuid) ?? '')
  const others = found.documenten.length - orphans.length
  return {
    fields: [],
    lines: [
      ...found.deelzaken.slice(0, MOST).map(({ name }) => t`Deelzaak ${name} gaat mee.`),
      ...found.counts.map(({ kind, count }) => t`${NOUNS[kind] ?? kind}: ${count} gaat mee.`),
      ...(besluiten ? found.besluiten.map(({ name }) => t`Besluit ${name} wordt verwijderd.`) : []),
      ...orphans
        .slice(0, MOST)
        .map(({ name }) =>
          documenten
            ? t`Document ${name} hoort bij niets anders en wordt verwijderd, met al zijn versies.`
            : t`Document ${name} blijft, en hoort daarna nergens meer bij.`,
        ),
      ...(found.documenten.length > MOST ? [t`Er zijn meer dan ${MOST} documenten; zij blijven.`] : []),
      ...(others > 0 && found.documenten.length <= MOST
        ? [
            t`Aantal andere documenten dat blijft: ${others}. Zij horen ook bij iets anders, of zijn vertrouwelijker dan u mag zien.`,
          ]
        : []),
      t(
        'Het audit trail van de zaak verdwijnt met haar (zrc-023). In de audit van deze pagina’s blijft staan wie haar verwijderde, en waarom.',
      ),
    ],
    state: uuid,
  }
}

/** All that hangs on a case and its deelzaken, up to one more than `MOST` of what is named. @throws Problem 404 when a deelzaak is above his level */
async function hangingOn({ sql }: Pick<PageMutation, 'sql'>, request: FastifyRequest, zaakId: number) {
  const family = await sql<(Named & { id: number; isVisible: boolean })[]>`
    with recursive familie as (
      select id from zaak where id = ${zaakId} union select z.id from zaak z join familie f on z.hoofdzaak_id = f.id
    ) select z.id, z.uuid, z.identificatie as name,
        z.vertrouwelijkheidaanduiding <= ${signedIn(request).maxVertrouwelijkheidaanduiding}::vertrouwelijkheidaanduiding as "isVisible"
      from zaak z join familie f using (id) order by z.id`
  if (family.some(({ isVisible }) => !isVisible)) throw notFound(t('Deze zaak heeft een deelzaak die u niet mag zien.'))
  const ids = family.map(({ id }) => id)
  const counts = await sql<{ kind: string; count: number }[]>`
    select kind, count(*)::int as count from (
      select 'status' as kind from status where zaak_id = any(${ids}::bigint[])
      union all select 'resultaat' from resultaat where zaak_id = any(${ids}::bigint[])
      union all select 'rol' from rol where zaak_id = any(${ids}::bigint[])
      union all select 'zaakeigenschap' from zaakeigenschap where zaak_id = any(${ids}::bigint[])
      union all select 'zaakobject' from zaakobject where zaak_id = any(${ids}::bigint[])
      union all select 'klantcontact' from klantcontact where zaak_id = any(${ids}::bigint[])
      union all select 'zaakcontactmoment' from zaakcontactmoment where zaak_id = any(${ids}::bigint[])
      union all select 'zaakverzoek' from zaakverzoek where zaak_id = any(${ids}::bigint[])
      union all select 'zaaknotitie' from zaaknotitie where zaak_id = any(${ids}::bigint[])
    ) parts group by kind order by kind`
  const besluiten = await sql<Named[]>`
    select uuid, identificatie as name from besluit where zaak_id = any(${ids}::bigint[]) order by id limit ${MOST + 1}`
  const documenten = await sql<Named[]>`
    select e.uuid, e.identificatie as name from enkelvoudiginformatieobject e where e.id in (
      select enkelvoudiginformatieobject_id from zaakinformatieobject where zaak_id = any(${ids}::bigint[])
    ) order by e.id limit ${MOST + 1}`
  return { deelzaken: family.filter(({ id }) => id !== zaakId), counts, besluiten, documenten }
}

/** Those that belong to nothing, and that he may see. */
async function withoutRelations(
  { sql }: Pick<PageMutation, 'sql'>,
  request: FastifyRequest,
  documenten: readonly Named[],
) {
  const uuids = documenten.map(({ uuid }) => uuid)
  return sql<(Named & { isLocked: boolean })[]>`
    select e.uuid, e.identificatie as name, e.lock is not null as "isLocked" from enkelvoudiginformatieobject e
    where e.uuid = any(${uuids}::uuid[])
      and e.vertrouwelijkheidaanduiding <= ${signedIn(request).maxVertrouwelijkheidaanduiding}::vertrouwelijkheidaanduiding
      and not exists (select from objectinformatieobject o where o.enkelvoudiginformatieobject_id = e.id)
    order by e.id`
}

type Catalogi = ReadonlyMap<string, string>

/** Of the documents of a case and its deelzaken whose type stands elsewhere: its catalogue, as that service says. */
async function catalogiElsewhere(app: FastifyInstance, { id }: Zaak, base: string): Promise<Catalogi> {
  const rows = await app.reader.sql<{ uuid: string }[]>`
    with recursive familie as (
      select id from zaak where id = ${id} union select z.id from zaak z join familie f on z.hoofdzaak_id = f.id
    ) select distinct e.uuid from zaakinformatieobject r join familie f on f.id = r.zaak_id
      join enkelvoudiginformatieobject e on e.id = r.enkelvoudiginformatieobject_id
      where e.informatieobjecttype_url is not null limit ${MOST}`
  const found = rows.map(
    async ({ uuid }): Promise<[string, string]> => [
      uuid,
      await catalogusElsewhere(app.read, app.parts.services, uuid, base),
    ],
  )
  return new Map(await Promise.all(found))
}

const crumbs = ({ uuid, identificatie }: Zaak) => [
  { path: '/zaken', name: t('Zaken') },
  { path: `/zaken/${uuid}`, name: identificatie },
  { path: `/zaken/${uuid}/herstellen`, name: t('Herstellen') },
]

const about = (zaak: Zaak) => ({
  breadcrumbs: crumbs(zaak),
  back: `/zaken/${zaak.uuid}/herstellen`,
  isDocument: false,
  isClosed: zaak.einddatum !== null,
})

const deleteForm = (reply: FastifyReply, zaak: Zaak, values: FormValues, faults: FormFaults = {}) =>
  reply.page('repair-zaak-delete', {
    title: t`Zaak ${zaak.identificatie} verwijderen`,
    breadcrumbs: crumbs(zaak),
    values,
    faults,
    back: `/zaken/${zaak.uuid}/herstellen`,
  })
