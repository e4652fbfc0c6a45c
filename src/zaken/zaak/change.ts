// The routes that make, change and delete cases; changing and deleting.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { NO_REMOTE_TYPES, type RemoteTypes } from '../../catalogi/remote-types.ts'
import type { Actie, Mutation } from '../../database/mutate.ts'
import { unlinkAllOf } from '../../documenten/object-links.ts'
import { header } from '../../http/access.ts'
import { link } from '../../http/links.ts'
import { type InvalidParam, immutable, notFound, onObject, Problem, throwFaults } from '../../http/problem.ts'
import { releaseRemote } from '../../services/remote-relations.ts'
import { holdZaak, requireOpenZaak } from '../lock.ts'
import { zaakLabel, zakenKanaal } from '../records.ts'
import { AANMAKEN, access, BIJWERKEN, requireMay, VERWIJDEREN } from '../rights.ts'
import { encoded, Params, toColumns, Zaak, ZaakInput, ZaakPatch, ZaakPut } from './columns.ts'
import { createZaak } from './create.ts'
import { boundingBox, judgeGeometrie } from './geometry.ts'
import { findZaak, toZaak } from './read.ts'
import { openReferences } from './references.ts'
import { judgeHoofdzaak, judgeRelaties, writeRelaties } from './relations.ts'
import {
  archiveringFaults,
  betaalFaults,
  geopendFaults,
  hasOpenDocuments,
  productenFaults,
  type Settings,
  settingsOf,
  type ZaakBody,
  zaaktypeFaults,
} from './rules.ts'

/** Geometry is spoken in one reference system only, and both sides say so. @throws Problem 412 or 406 */
export async function requireCrs(request: FastifyRequest): Promise<void> {
  const names = request.method === 'GET' || request.method === 'HEAD' ? ['Accept-Crs'] : ['Content-Crs', 'Accept-Crs']
  for (const name of names) {
    const value = header(request, name.toLowerCase())
    if (value === '') throw new Problem(412, { detail: `De header ${name} ontbreekt.` })
    if (value !== 'EPSG:4326') throw new Problem(406, { detail: `Voor ${name} is alleen EPSG:4326 mogelijk.` })
  }
}
export async function answerCrs(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.header('content-crs', 'EPSG:4326')
}
/** Hooks of the routes that speak of geometry. */
export const crs = { onRequest: requireCrs, onSend: answerCrs }

export const zaakChanges: FastifyPluginAsyncTypebox = async (app) => {
  const verwijzingen = await openReferences(app)
  const settings = settingsOf(app.parts.config)

  app.post(
    '/zaken',
    { ...crs, config: access(AANMAKEN), schema: { body: ZaakInput, response: { 201: Zaak } } },
    async (request, reply) => {
      const faults = await verwijzingen.judge(request.body, request.base)
      const typen = await verwijzingen.zaaktypen(request.body, request.base)
      const zaak = await app.mutate(request.actor, (m) => createZaak(m, request.body, settings, faults, typen))
      return reply
        .code(201)
        .header('location', zaak.url)
        .send({ ...zaak, _expand: {} })
    },
  )

  app.put(
    '/zaken/:uuid',
    { ...crs, config: access(BIJWERKEN), schema: { params: Params, body: ZaakPut, response: { 200: Zaak } } },
    async (request) => change(request, 'update', request.params.uuid, request.body),
  )

  app.patch(
    '/zaken/:uuid',
    { ...crs, config: access(BIJWERKEN), schema: { params: Params, body: ZaakPatch, response: { 200: Zaak } } },
    async (request) => change(request, 'partial_update', request.params.uuid, request.body),
  )

  app.delete(
    '/zaken/:uuid',
    { onSend: answerCrs, config: access(VERWIJDEREN), schema: { params: Params } },
    async (request, reply) => {
      await app.mutate(request.actor, (m) => deleteZaak(m, request.params.uuid))
      return reply.code(204).send()
    },
  )

  async function change(request: FastifyRequest, actie: Actie, uuid: string, given: ZaakPatch) {
    const known = await findZaak(app.read, uuid)
    const { base } = request
    const faults = known ? await verwijzingen.judge(given, base, toZaak(known, base)) : []
    const typen = known ? await verwijzingen.zaaktypen(given, base, toZaak(known, base)) : NO_REMOTE_TYPES
    const zaak = await app.mutate(request.actor, (m) => changeZaak(m, uuid, actie, given, settings, faults, typen))
    return { ...zaak, _expand: {} }
  }
}

// ---- change ----

/** Changes what is given; the same for PUT and PATCH, since what is absent keeps its value. */
export async function changeZaak(
  m: Mutation,
  uuid: string,
  actie: Actie,
  given: ZaakPatch,
  settings: Settings,
  faults: InvalidParam[] = [],
  typen: RemoteTypes = NO_REMOTE_TYPES,
): Promise<ZaakBody> {
  const { base } = m.actor
  const kern = await holdZaak(m, uuid)
  if (!kern) throw notFound()
  requireMay(m.actor, BIJWERKEN, kern)
  const { vertrouwelijkheidaanduiding } = given // nobody raises a case above what he may touch
  if (vertrouwelijkheidaanduiding) requireMay(m.actor, BIJWERKEN, { ...kern, vertrouwelijkheidaanduiding })
  const before = (await findZaak(m.read, uuid))!
  const oud = toZaak(before, base)
  const geometrie = judgeGeometrie('zaakgeometrie', given.zaakgeometrie)
  const hoofdzaak = await judgeHoofdzaak(m, given.hoofdzaak, kern, typen, kern)
  const relaties = await judgeRelaties(m, given)
  // zrc-014: who sets `nvt` and says nothing of the date, takes the date away
  if (given.betalingsindicatie === 'nvt' && given.laatsteBetaaldatum === undefined) given.laatsteBetaaldatum = null
  const merged = { ...oud, ...given } as ZaakInput
  throwFaults([
    ...(given.identificatie && given.identificatie !== oud.identificatie ? [immutable('identificatie')] : []),
    ...(await zaaktypeFaults(m, given.zaaktype, kern, typen)),
    ...betaalFaults(merged, settings),
    ...(given.productenOfDiensten ? await productenFaults(m, given.productenOfDiensten, oud, kern, typen) : []),
    ...geopendFaults(given, settings),
    ...geometrie.faults,
    ...hoofdzaak.faults,
    ...relaties.faults,
    ...faults,
    ...(given.archiefstatus ? archiveringFaults(merged, await hasOpenDocuments(m, kern)) : []),
  ])
  requireOpenZaak(kern, m.actor)
  const columns: Record<string, unknown> = {
    ...toColumns(given),
    ...(given.zaakgeometrie !== undefined && {
      zaakgeometrie: geometrie.geometrie,
      zaakgeometrie_grenzen: geometrie.geometrie && boundingBox(geometrie.geometrie),
    }),
    ...(given.hoofdzaak !== undefined && { hoofdzaak_id: hoofdzaak.id }),
  }
  const changed = Object.entries(given).some(
    ([name, value]) =>
      name !== 'laatstGeopend' && JSON.stringify(value) !== JSON.stringify(oud[name as keyof typeof oud]),
  )
  if (changed) columns.laatst_gemuteerd = new Date().toISOString()
  const names = Object.keys(columns)
  if (names.length > 0) {
    const row = Object.fromEntries(names.map((name) => [name, encoded(m, name, columns[name])]))
    await m.sql`update zaak set ${m.sql(row as never)} where id = ${kern.id}`
  }
  if (given.relevanteAndereZaken || given.gerelateerdeZaken) await writeRelaties(m, kern.id, relaties, given)
  const after = (await findZaak(m.read, uuid))!
  const zaak = toZaak(after, base)
  m.record({
    component: 'zrc',
    actie,
    resource: 'zaak',
    url: zaak.url,
    uuid,
    weergave: zaakLabel(after),
    kanaal: zakenKanaal(after, base),
    oud,
    nieuw: zaak,
  })
  return zaak
}

// ---- delete ----

/** zrc-023: a case goes with all that hangs on it, its parts and its audit trail; documents stay. */
export async function deleteZaak(m: Mutation, uuid: string): Promise<void> {
  const { base } = m.actor
  const kern = await holdZaak(m, uuid)
  if (!kern) throw notFound()
  requireMay(m.actor, VERWIJDEREN, kern)
  const family = await m.sql<{ id: number; uuid: string; identificatie: string; bronorganisatie: string }[]>`
    with recursive familie as (
      select id, uuid, identificatie, bronorganisatie from zaak where id = ${kern.id}
      union select z.id, z.uuid, z.identificatie, z.bronorganisatie from zaak z join familie f on z.hoofdzaak_id = f.id
    ) select * from familie`
  const ids = family.map(({ id }) => id)
  await m.sql`select 1 from zaak where id = any(${ids}::bigint[]) order by id for update` // nothing more is hung on them
  const [besluit] = await m.sql`select 1 from zaakbesluit where zaak_id = any(${ids}::bigint[]) limit 1`
  if (besluit) throwFaults([onObject('related-besluiten', 'Aan de zaak zijn nog besluiten gekoppeld.')])
  const oud = toZaak((await findZaak(m.read, uuid))!, base)
  await unlinkAllOf(
    m,
    family.map((one) => one.uuid),
  )
  await releaseRemoteBelow(m, ids)
  await m.sql`delete from zaak where id = any(${ids}::bigint[])`
  for (const one of family) {
    m.record({
      component: 'zrc',
      actie: 'destroy',
      resource: 'zaak',
      url: link(base, 'zaak', one.uuid),
      uuid: one.uuid,
      weergave: zaakLabel(one),
      kanaal: one.id === kern.id ? zakenKanaal(kern, base) : null,
      oud: one.id === kern.id ? oud : null,
      nieuw: null,
      spoor: 'wis',
    })
  }
}

/** Registers elsewhere are told afterwards that the case has gone. */
async function releaseRemoteBelow(m: Mutation, ids: number[]): Promise<void> {
  for (const bron of ['zaakinformatieobject', 'zaakcontactmoment', 'zaakverzoek'] as const) {
    const rows = await m.sql<{ uuid: string }[]>`
      select x.uuid from ${m.sql(bron)} x join spiegel s on s.bron_uuid = x.uuid where x.zaak_id = any(${ids}::bigint[])`
    await releaseRemote(
      m,
      bron,
      rows.map(({ uuid }) => uuid),
    )
  }
}
