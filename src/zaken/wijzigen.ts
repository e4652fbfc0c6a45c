// Making, changing and deleting cases.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { header } from '../access.ts'
import { NIETS_ELDERS, type TypeElders, type TypenElders } from '../catalogi/elders.ts'
import type { Config } from '../config.ts'
import { ontkoppelAlles } from '../documenten/koppelen.ts'
import type { Vertrouwelijkheidaanduiding } from '../input.ts'
import { link, resolveLink } from '../links.ts'
import type { Actie, Mutation } from '../mutate.ts'
import { type InvalidParam, invalidAll, notFound, Problem, throwFaults } from '../problem.ts'
import { laatLos } from '../spiegels.ts'
import { grenzen, judgeGeometrie } from './geometrie.ts'
import {
  AANMAKEN,
  BIJWERKEN,
  fault,
  holdZaak,
  immutable,
  isFuture,
  met,
  onObject,
  requireMay,
  requireOpenZaak,
  VERWIJDEREN,
  weergave,
  type Zaakkern,
  zakenKanaal,
} from './rules.ts'
import { Params, toColumns, Zaak, ZaakInput, ZaakPatch, ZaakPut } from './velden.ts'
import { openVerwijzingen } from './verwijzingen.ts'
import { findZaak, toZaak, type ZaakRow } from './vinden.ts'

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

export type Uitslag = Static<typeof Zaak>
/** `nummering`: how numbers are made. */
export type Settings = { leeway: number; nummering: Config['zaakIdentificatieGenerator'] }
export const settingsOf = ({ jwtLeeway, zaakIdentificatieGenerator }: Config): Settings => ({
  leeway: jwtLeeway,
  nummering: zaakIdentificatieGenerator,
})

export const wijzigen: FastifyPluginAsyncTypebox = async (app) => {
  const verwijzingen = await openVerwijzingen(app)
  const settings = settingsOf(app.parts.config)

  app.post(
    '/zaken',
    { ...crs, config: met(AANMAKEN), schema: { body: ZaakInput, response: { 201: Zaak } } },
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
    { ...crs, config: met(BIJWERKEN), schema: { params: Params, body: ZaakPut, response: { 200: Zaak } } },
    async (request) => change(request, 'update', request.params.uuid, request.body),
  )

  app.patch(
    '/zaken/:uuid',
    { ...crs, config: met(BIJWERKEN), schema: { params: Params, body: ZaakPatch, response: { 200: Zaak } } },
    async (request) => change(request, 'partial_update', request.params.uuid, request.body),
  )

  app.delete(
    '/zaken/:uuid',
    { onSend: answerCrs, config: met(VERWIJDEREN), schema: { params: Params } },
    async (request, reply) => {
      await app.mutate(request.actor, (m) => deleteZaak(m, request.params.uuid))
      return reply.code(204).send()
    },
  )

  async function change(request: FastifyRequest, actie: Actie, uuid: string, given: ZaakPatch) {
    const known = await findZaak(app.read, uuid)
    const { base } = request
    const faults = known ? await verwijzingen.judge(given, base, toZaak(known, base)) : []
    const typen = known ? await verwijzingen.zaaktypen(given, base, toZaak(known, base)) : NIETS_ELDERS
    const zaak = await app.mutate(request.actor, (m) => changeZaak(m, uuid, actie, given, settings, faults, typen))
    return { ...zaak, _expand: {} }
  }
}

// ---- create ----

/**
 * Makes a case. Kept to few statements: cases are made often, and at once by many.
 * @param faults what is wrong with references elsewhere
 * @param typen the zaaktypen elsewhere that were asked for it
 */
export async function createZaak(
  m: Mutation,
  input: ZaakInput,
  settings: Settings,
  faults: InvalidParam[] = [],
  typen: TypenElders = NIETS_ELDERS,
): Promise<Uitslag> {
  const { base } = m.actor
  const asked = typen.get('zaaktype', input.zaaktype)
  const zaaktype = asked ? await zaaktypeElders(m, input, asked, settings) : await findZaaktype(m, input, settings)
  const elders = zaaktype.elders ?? null
  const vertrouwelijkheidaanduiding = input.vertrouwelijkheidaanduiding ?? zaaktype.vertrouwelijkheidaanduiding // zrc-009
  const rechten = {
    zaaktypeUuid: zaaktype.uuid,
    zaaktypeUrl: elders?.zaaktype_url ?? null,
    vertrouwelijkheidaanduiding,
  }
  requireMay(m.actor, AANMAKEN, rechten)
  const geometrie = judgeGeometrie('zaakgeometrie', input.zaakgeometrie)
  const hoofdzaak = await judgeHoofdzaak(
    m,
    input.hoofdzaak,
    { zaaktypeId: zaaktype.id, zaaktypeUrl: rechten.zaaktypeUrl },
    typen,
  )
  const relaties = await judgeRelaties(m, input)
  throwFaults([
    ...publicatieFaults(zaaktype),
    ...betaalFaults(input, settings),
    ...productFaults(input.productenOfDiensten ?? [], zaaktype.producten_of_diensten),
    ...geopendFaults(input, settings),
    ...geometrie.faults,
    ...hoofdzaak.faults,
    ...relaties.faults,
    ...faults,
    ...archiveringFaults(input, false),
  ])
  const values = {
    ...toColumns(input),
    zaaktype_id: zaaktype.id,
    ...elders,
    vertrouwelijkheidaanduiding,
    einddatum_gepland: input.einddatumGepland ?? zaaktype.einddatum_gepland,
    uiterlijke_einddatum_afdoening: input.uiterlijkeEinddatumAfdoening ?? zaaktype.uiterlijke_einddatum_afdoening,
    ...(geometrie.geometrie && {
      zaakgeometrie: geometrie.geometrie,
      zaakgeometrie_grenzen: grenzen(geometrie.geometrie),
    }),
    ...(hoofdzaak.id && { hoofdzaak_id: hoofdzaak.id }),
  }
  const made = await insertZaak(m, input, values, zaaktype.identificatie, settings)
  if (relaties.faults.length === 0 && (input.relevanteAndereZaken?.length || input.gerelateerdeZaken?.length))
    await writeRelaties(m, made.id, relaties)
  const zaak = toZaak(
    {
      ...(camelCased({ ...COLUMNS_LEEG, ...values, ...made }) as ZaakRow),
      zaaktypeUuid: zaaktype.uuid,
      catalogusUuid: zaaktype.catalogus_uuid,
      hoofdzaakUuid: hoofdzaak.uuid,
      ...RELATIES_LEEG,
    },
    base,
  )
  zaak.relevanteAndereZaken = (input.relevanteAndereZaken ?? []).map((one) => ({ ...ANDERE_LEEG, ...one }))
  zaak.gerelateerdeZaken = relaties.gerelateerd.map(({ url }) => ({ url }))
  m.record({
    component: 'zrc',
    actie: 'create',
    resource: 'zaak',
    url: zaak.url,
    uuid: zaak.uuid,
    weergave: weergave({ bronorganisatie: zaak.bronorganisatie, identificatie: made.identificatie }),
    kanaal: zakenKanaal(
      {
        bronorganisatie: zaak.bronorganisatie,
        ...rechten,
        catalogusUuid: zaaktype.catalogus_uuid,
        zaaktypeCatalogusUrl: elders?.zaaktype_catalogus_url ?? null,
      },
      base,
    ),
    oud: null,
    nieuw: zaak,
  })
  return zaak
}

type ZaaktypeVanZaak = {
  id: number | null
  uuid: string | null
  concept: boolean
  vertrouwelijkheidaanduiding: Vertrouwelijkheidaanduiding
  producten_of_diensten: string[]
  catalogus_uuid: string | null
  einddatum_gepland: string | null
  uiterlijke_einddatum_afdoening: string | null
  identificatie: string | null
  /** The columns of a type elsewhere. */
  elders?: {
    zaaktype_url: string
    zaaktype_catalogus_url: string
    zaaktype_identificatie: string
    zaaktype_omschrijving: string
  }
}

/** zrc-001, with all that a new case takes from its type, and its number when it needs one. */
async function findZaaktype(m: Mutation, input: ZaakInput, { nummering }: Settings): Promise<ZaaktypeVanZaak> {
  const target = resolveLink(input.zaaktype, m.actor.base)
  if (target.kind === 'ours' && target.resource !== 'zaaktype')
    throwFaults([fault('zaaktype', 'invalid-resource', 'Deze URL is van een andere resource.')])
  const [zaaktype] =
    target.kind === 'ours'
      ? await m.sql<ZaaktypeVanZaak[]>`
        select t.id, t.uuid, t.concept, t.vertrouwelijkheidaanduiding, t.producten_of_diensten, c.uuid as catalogus_uuid,
          (${input.startdatum}::date + t.servicenorm::interval)::date as einddatum_gepland,
          (${input.startdatum}::date + t.doorlooptijd::interval)::date as uiterlijke_einddatum_afdoening,
          case when ${!input.identificatie}::boolean then zaak_identificatie(${input.startdatum}::date, ${nummering}) end as identificatie
        from zaaktype t join catalogus c on c.id = t.catalogus_id where t.uuid = ${target.uuid}`
      : []
  if (!zaaktype) throwFaults([fault('zaaktype', 'bad-url', 'Dit zaaktype bestaat niet.')])
  return zaaktype!
}

/** The same of a type elsewhere, which was asked before. */
async function zaaktypeElders(
  m: Mutation,
  input: ZaakInput,
  type: TypeElders<'zaaktype'> | InvalidParam,
  { nummering }: Settings,
): Promise<ZaaktypeVanZaak> {
  if ('code' in type) throw invalidAll([type])
  const [computed] = await m.sql<
    Pick<ZaaktypeVanZaak, 'einddatum_gepland' | 'uiterlijke_einddatum_afdoening' | 'identificatie'>[]
  >`select (${input.startdatum}::date + ${type.servicenorm ?? null}::text::interval)::date as einddatum_gepland,
      (${input.startdatum}::date + ${type.doorlooptijd ?? null}::text::interval)::date as uiterlijke_einddatum_afdoening,
      case when ${!input.identificatie}::boolean then zaak_identificatie(${input.startdatum}::date, ${nummering}) end as identificatie`
  return {
    id: null,
    uuid: null,
    concept: type.concept,
    vertrouwelijkheidaanduiding: type.vertrouwelijkheidaanduiding,
    producten_of_diensten: type.productenOfDiensten ?? [],
    catalogus_uuid: null,
    ...computed!,
    elders: {
      zaaktype_url: type.url,
      zaaktype_catalogus_url: type.catalogus,
      zaaktype_identificatie: type.identificatie,
      zaaktype_omschrijving: type.omschrijving,
    },
  }
}

type Made = { id: number; uuid: string; identificatie: string; laatst_gemuteerd: string; registratiedatum: string }

/** zrc-002: with the number of the client, which may be a reserved one, or the next free one. */
async function insertZaak(
  m: Mutation,
  input: ZaakInput,
  values: Record<string, unknown>,
  number: string | null,
  { nummering }: Settings,
): Promise<Made> {
  const given = withoutEmpty(values)
  const row = (identificatie: string) => {
    const columns: Record<string, unknown> = { ...given, identificatie }
    for (const name of JSON_COLUMNS) if (columns[name] !== undefined) columns[name] = encoded(m, name, columns[name])
    return m.sql(columns as never)
  }
  if (number === null) {
    const [[made]] = await Promise.all([
      m.sql<Made[]>`insert into zaak ${row(input.identificatie!)}
        returning id, uuid, identificatie, laatst_gemuteerd, registratiedatum`,
      m.sql`delete from zaaknummer_reservering
        where identificatie = ${input.identificatie!} and bronorganisatie = ${input.bronorganisatie}`,
    ])
    return made!
  }
  let next: string | undefined = number
  for (let attempt = 1; attempt <= 10; attempt++) {
    const [made] = await m.sql<Made[]>`insert into zaak ${row(next!)} on conflict on constraint zaak_identificatie_uniek
      do nothing returning id, uuid, identificatie, laatst_gemuteerd, registratiedatum`
    if (made) return made
    await m.sql`select haal_zaaknummers_in(${input.startdatum}::date, ${nummering})`
    const [fresh] = await m.sql<{ number: string }[]>`
      select zaak_identificatie(${input.startdatum}::date, ${nummering}) as number`
    next = fresh!.number
  }
  throw new Problem(409, { detail: 'Er kon geen vrij nummer worden gevonden.' })
}

// What most cases leave empty, and what stands in the table then.
const SELDOM: Record<string, unknown> = {
  publicatiedatum: null,
  laatst_geopend: null,
  communicatiekanaal: '',
  communicatiekanaal_naam: '',
  producten_of_diensten: [],
  betalingsindicatie: '',
  laatste_betaaldatum: null,
  selectielijstklasse: '',
  archiefnominatie: null,
  archiefstatus: 'nog_te_archiveren',
  archiefactiedatum: null,
  opdrachtgevende_organisatie: '',
  processobjectaard: '',
  startdatum_bewaartermijn: null,
  kenmerken: [],
  verlenging_reden: '',
  verlenging_duur: null,
  opschorting_indicatie: false,
  opschorting_reden: '',
  processobject_datumkenmerk: '',
  processobject_identificatie: '',
  processobject_objecttype: '',
  processobject_registratie: '',
}

/** Leaves these to the table when all are empty, since every column costs. All or nothing: so there are few statements to plan. */
function withoutEmpty(values: Record<string, unknown>): Record<string, unknown> {
  const rest: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(values)) {
    if (!(name in SELDOM)) rest[name] = value
    else if (Array.isArray(value) ? value.length > 0 : value !== SELDOM[name]) return values
  }
  return rest
}

const JSON_COLUMNS = ['kenmerken', 'zaakgeometrie']
const encoded = (m: Mutation, name: string, value: unknown) =>
  JSON_COLUMNS.includes(name) && value !== null ? m.sql.json(value as never) : value

const COLUMNS_LEEG = {
  einddatum: null,
  laatst_geopend: null,
  verlenging_reden: '',
  verlenging_duur: null,
  zaakgeometrie: null,
  opschorting_eerdere: false,
}
const RELATIES_LEEG = {
  deelzaken: [],
  eigenschappen: [],
  rollen: [],
  zaakinformatieobjecten: [],
  zaakobjecten: [],
  status: null,
  resultaat: null,
  relevanteAndereZaken: [],
  gerelateerdeZaken: [],
}
const ANDERE_LEEG = { overigeRelatie: '', toelichting: '' }

function camelCased(row: Record<string, unknown>): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(row)) result[camelCase(name)] = value
  return result
}

const names = new Map<string, string>()
function camelCase(name: string): string {
  const known = names.get(name) ?? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  names.set(name, known)
  return known
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
  typen: TypenElders = NIETS_ELDERS,
): Promise<Uitslag> {
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
      zaakgeometrie_grenzen: geometrie.geometrie && grenzen(geometrie.geometrie),
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
    weergave: weergave(after),
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
  await ontkoppelAlles(
    m,
    family.map((one) => one.uuid),
  )
  await laatEldersLos(m, ids)
  await m.sql`delete from zaak where id = any(${ids}::bigint[])`
  for (const one of family) {
    m.record({
      component: 'zrc',
      actie: 'destroy',
      resource: 'zaak',
      url: link(base, 'zaak', one.uuid),
      uuid: one.uuid,
      weergave: weergave(one),
      kanaal: one.id === kern.id ? zakenKanaal(kern, base) : null,
      oud: one.id === kern.id ? oud : null,
      nieuw: null,
      spoor: 'wis',
    })
  }
}

/** Registers elsewhere are told afterwards that the case has gone. */
async function laatEldersLos(m: Mutation, ids: number[]): Promise<void> {
  for (const bron of ['zaakinformatieobject', 'zaakcontactmoment', 'zaakverzoek'] as const) {
    const rows = await m.sql<{ uuid: string }[]>`
      select x.uuid from ${m.sql(bron)} x join spiegel s on s.bron_uuid = x.uuid where x.zaak_id = any(${ids}::bigint[])`
    await laatLos(
      m,
      bron,
      rows.map(({ uuid }) => uuid),
    )
  }
}

// ---- rules ----

const publicatieFaults = ({ concept }: { concept: boolean }) =>
  concept ? [fault('zaaktype', 'not-published', 'Dit zaaktype is nog een concept.')] : []

/** The type of a case stays. */
async function zaaktypeFaults(
  m: Mutation,
  url: string | undefined,
  kern: Zaakkern,
  typen: TypenElders,
): Promise<InvalidParam[]> {
  if (url === undefined || url === kern.zaaktypeUrl) return []
  const elders = typen.get('zaaktype', url)
  if (elders) return 'code' in elders ? [elders] : [...publicatieFaults(elders), immutable('zaaktype')]
  const target = resolveLink(url, m.actor.base)
  if (target.kind === 'ours' && target.resource === 'zaaktype' && target.uuid === kern.zaaktypeUuid) return []
  if (target.kind === 'ours' && target.resource !== 'zaaktype')
    return [fault('zaaktype', 'invalid-resource', 'Deze URL is van een andere resource.')]
  const [zaaktype] =
    target.kind === 'ours'
      ? await m.sql<{ concept: boolean }[]>`select concept from zaaktype where uuid = ${target.uuid}`
      : []
  if (!zaaktype) return [fault('zaaktype', 'bad-url', 'Dit zaaktype bestaat niet.')]
  return [...publicatieFaults(zaaktype), immutable('zaaktype')]
}

/** zrc-014. */
function betaalFaults(input: ZaakPatch, { leeway }: Settings): InvalidParam[] {
  if (!input.laatsteBetaaldatum) return []
  const name = 'laatsteBetaaldatum'
  if (input.betalingsindicatie === 'nvt')
    return [fault(name, 'betaling-nvt', 'Zonder kosten (nvt) is er geen laatste betaaldatum.')]
  return isFuture(input.laatsteBetaaldatum, leeway)
    ? [fault(name, 'future_not_allowed', 'Dit moment ligt in de toekomst.')]
    : []
}

/** zrc-015. */
function productFaults(given: readonly string[], known: readonly string[]): InvalidParam[] {
  if (given.every((url) => known.includes(url))) return []
  const reason = 'Niet al deze producten of diensten horen bij het zaaktype.'
  return [fault('productenOfDiensten', 'invalid-products-services', reason)]
}

/** zrc-015 for a change. A type elsewhere was asked only for products that the case does not have yet. */
async function productenFaults(
  m: Mutation,
  given: readonly string[],
  oud: Uitslag,
  kern: Zaakkern,
  typen: TypenElders,
): Promise<InvalidParam[]> {
  if (kern.zaaktypeUrl === null) {
    const [row] = await m.sql<
      { producten_of_diensten: string[] }[]
    >`select producten_of_diensten from zaaktype where id = ${kern.zaaktypeId}`
    return productFaults(given, row!.producten_of_diensten)
  }
  const type = typen.get('zaaktype', kern.zaaktypeUrl)
  if (type && 'code' in type) return [type]
  return productFaults(given, [...(oud.productenOfDiensten ?? []), ...(type?.productenOfDiensten ?? [])])
}

function geopendFaults({ laatstGeopend }: ZaakPatch, { leeway }: Settings): InvalidParam[] {
  return laatstGeopend && isFuture(laatstGeopend, leeway)
    ? [fault('laatstGeopend', 'date-in-future', 'Dit moment ligt in de toekomst.')]
    : []
}

/** zrc-013: a part of a case has no parts itself, and is of a type that fits. */
async function judgeHoofdzaak(
  m: Mutation,
  url: string | null | undefined,
  eigen: Pick<Zaakkern, 'zaaktypeId' | 'zaaktypeUrl'>,
  typen: TypenElders,
  self?: Zaakkern,
): Promise<{ id: number | null; uuid: string | null; faults: InvalidParam[] }> {
  const none = { id: null, uuid: null }
  if (!url) return { ...none, faults: [] }
  const wrong = (code: string, reason: string) => ({ ...none, faults: [fault('hoofdzaak', code, reason)] })
  const target = resolveLink(url, m.actor.base)
  if (target.kind !== 'ours') return wrong('no_match', 'Deze URL is geen zaak van deze dienst.')
  if (target.resource !== 'zaak') return wrong('incorrect_match', 'Deze URL is van een andere resource.')
  if (target.uuid === self?.uuid) return wrong('self-forbidden', 'Een zaak is geen hoofdzaak van zichzelf.')
  const [hoofdzaak] = await m.sql<
    { id: number; hoofdzaak_id: number | null; zaaktype_url: string | null; past: boolean }[]
  >`select h.id, h.hoofdzaak_id, h.zaaktype_url, exists (
      select from zaaktype_deelzaaktype d
      join zaaktype genoemd on genoemd.id = d.deelzaaktype_id
      join zaaktype eigen on eigen.id = ${eigen.zaaktypeId}
      where d.zaaktype_id = h.zaaktype_id and genoemd.catalogus_id = eigen.catalogus_id
        and genoemd.identificatie = eigen.identificatie) as past
    from zaak h where h.uuid = ${target.uuid} for share of h`
  if (!hoofdzaak) return wrong('does_not_exist', 'Deze zaak bestaat niet.')
  if (hoofdzaak.hoofdzaak_id !== null)
    return wrong('deelzaak-als-hoofdzaak', 'Deze zaak is zelf een deelzaak en kan geen hoofdzaak zijn.')
  const elders = hoofdzaak.zaaktype_url === null ? undefined : typen.get('zaaktype', hoofdzaak.zaaktype_url)
  if (elders && 'code' in elders) return wrong('bad-url', 'Het zaaktype van de hoofdzaak is niet op te vragen.')
  const past = hoofdzaak.past || (elders?.deelzaaktypen ?? []).some((type) => type === eigen.zaaktypeUrl)
  if (!past && hoofdzaak.id !== self?.hoofdzaakId)
    return wrong('invalid-deelzaaktype', 'Het zaaktype is geen deelzaaktype van het zaaktype van de hoofdzaak.')
  return { id: hoofdzaak.id, uuid: target.uuid, faults: [] }
}

/** zrc-022: a case is archived when all that archiving needs is there. */
function archiveringFaults(zaak: ZaakPatch, openDocuments: boolean): InvalidParam[] {
  if (!zaak.archiefstatus || zaak.archiefstatus === 'nog_te_archiveren') return []
  const faults: InvalidParam[] = []
  if (!zaak.archiefnominatie)
    faults.push(fault('archiefnominatie', 'archiefnominatie-not-set', 'Vul eerst de archiefnominatie in.'))
  if (openDocuments)
    faults.push(fault('archiefstatus', 'documents-not-archived', 'Niet alle documenten hebben de status gearchiveerd.'))
  if (!zaak.archiefactiedatum)
    faults.push(fault('archiefactiedatum', 'archiefactiedatum-not-set', 'Vul eerst de archiefactiedatum in.'))
  return faults
}

async function hasOpenDocuments(m: Mutation, kern: Zaakkern): Promise<boolean> {
  const [open] = await m.sql`
    select 1 from zaakinformatieobject i
    join enkelvoudiginformatieobject e on e.id = i.enkelvoudiginformatieobject_id
    join enkelvoudiginformatieobject_versie v on v.enkelvoudiginformatieobject_id = e.id and v.versie = e.versie
    where i.zaak_id = ${kern.id} and v.status <> 'gearchiveerd' limit 1`
  return open !== undefined
}

// ---- relations to other cases ----

type Andere = { id: number | null; url: string }
type Relaties = {
  relevant: (Andere & { aardRelatie: string; overigeRelatie: string; toelichting: string })[]
  gerelateerd: Andere[]
  faults: InvalidParam[]
}

/** zrc-011: the other cases exist. Those elsewhere were asked before. */
async function judgeRelaties(m: Mutation, given: ZaakPatch): Promise<Relaties> {
  const { relevanteAndereZaken = [], gerelateerdeZaken = [] } = given
  const result: Relaties = { relevant: [], gerelateerd: [], faults: [] }
  const urls = [...relevanteAndereZaken, ...gerelateerdeZaken].map(({ url }) => url)
  if (urls.length === 0) return result
  const uuids = urls.flatMap((url) => {
    const target = resolveLink(url, m.actor.base)
    return target.kind === 'ours' && target.resource === 'zaak' ? target.uuid : []
  })
  const rows = await m.sql<
    { id: number; uuid: string }[]
  >`select id, uuid from zaak where uuid = any(${uuids}::uuid[]) for key share`
  const find = (name: string, url: string): number | null | undefined => {
    const target = resolveLink(url, m.actor.base)
    if (target.kind === 'elsewhere') return null
    const id = target.kind === 'ours' ? rows.find(({ uuid }) => uuid === target.uuid)?.id : undefined
    if (id !== undefined) return id
    const other = target.kind === 'ours' && target.resource !== 'zaak'
    result.faults.push(
      fault(
        name,
        other ? 'invalid-resource' : 'bad-url',
        other ? 'Deze URL is van een andere resource.' : 'Deze zaak bestaat niet.',
      ),
    )
    return undefined
  }
  for (const [index, one] of relevanteAndereZaken.entries()) {
    const name = `relevanteAndereZaken.${index}`
    const id = find(`${name}.url`, one.url)
    const overigeRelatie = one.overigeRelatie ?? ''
    if (one.aardRelatie === 'overig' && overigeRelatie === '')
      result.faults.push(
        fault(`${name}.overigeRelatie`, 'overigerelatie-required', 'Omschrijf de relatie als de aard overig is.'),
      )
    if (id !== undefined)
      result.relevant.push({
        id,
        url: one.url,
        aardRelatie: one.aardRelatie,
        overigeRelatie,
        toelichting: one.toelichting ?? '',
      })
  }
  for (const [index, { url }] of gerelateerdeZaken.entries()) {
    const id = find(`gerelateerdeZaken.${index}.url`, url)
    if (id === undefined || result.gerelateerd.some((known) => (id === null ? known.url === url : known.id === id)))
      continue
    result.gerelateerd.push({ id, url })
  }
  return result
}

/** Replaces the lists that are given as a whole. Related cases of our own know of each other. */
async function writeRelaties(
  m: Mutation,
  zaakId: number,
  { relevant, gerelateerd }: Relaties,
  given: ZaakPatch = { relevanteAndereZaken: [], gerelateerdeZaken: [] },
): Promise<void> {
  if (given.relevanteAndereZaken) {
    await m.sql`delete from zaak_andere_zaak where zaak_id = ${zaakId}`
    if (relevant.length > 0)
      await m.sql`insert into zaak_andere_zaak ${m.sql(
        relevant.map(({ id, url, aardRelatie, overigeRelatie, toelichting }, volgorde) => ({
          zaak_id: zaakId,
          volgorde,
          andere_zaak_id: id,
          andere_zaak_url: id === null ? url : null,
          aard_relatie: aardRelatie,
          overige_relatie: overigeRelatie,
          toelichting,
        })),
      )}`
  }
  if (given.gerelateerdeZaken) {
    await m.sql`delete from zaak_gerelateerde_zaak where zaak_id = ${zaakId} or andere_zaak_id = ${zaakId}`
    const rows = gerelateerd.flatMap(({ id, url }) => [
      { zaak_id: zaakId, andere_zaak_id: id, andere_zaak_url: id === null ? url : null },
      ...(id === null || id === zaakId ? [] : [{ zaak_id: id, andere_zaak_id: zaakId, andere_zaak_url: null }]),
    ])
    if (rows.length > 0) await m.sql`insert into zaak_gerelateerde_zaak ${m.sql(rows)} on conflict do nothing`
  }
}
