// Making a case.
import { NO_REMOTE_TYPES, type RemoteType, type RemoteTypes } from '../../catalogi/remote-types.ts'
import type { Mutation } from '../../database/mutate.ts'
import { isBeyondDates } from '../../http/duration.ts'
import type { Vertrouwelijkheidaanduiding } from '../../http/input.ts'
import { resolveLink } from '../../http/links.ts'
import { fault, type InvalidParam, invalidAll, Problem, throwFaults } from '../../http/problem.ts'
import { zaakLabel, zakenKanaal } from '../records.ts'
import { AANMAKEN, GEFORCEERD, mayDo, requireMay } from '../rights.ts'
import { encoded, JSON_COLUMNS, toColumns, type ZaakInput } from './columns.ts'
import { boundingBox, judgeKept } from './geometry.ts'
import { toZaak, type ZaakRow } from './read.ts'
import { judgeHoofdzaak, judgeRelaties, writeRelaties } from './relations.ts'
import {
  archiveringFaults,
  betaalFaults,
  geopendFaults,
  productFaults,
  publicatieFaults,
  type Settings,
  type ZaakBody,
} from './rules.ts'

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
  typen: RemoteTypes = NO_REMOTE_TYPES,
): Promise<ZaakBody> {
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
  const geometrie = judgeKept('zaakgeometrie', input.zaakgeometrie)
  const hoofdzaak = await judgeHoofdzaak(
    m,
    input.hoofdzaak,
    { zaaktypeId: zaaktype.id, zaaktypeUrl: rechten.zaaktypeUrl },
    typen,
  )
  const relaties = await judgeRelaties(m, input)
  throwFaults([
    ...publicatieFaults(zaaktype, settings),
    ...betaalFaults(input, settings),
    ...productFaults(input.productenOfDiensten ?? [], zaaktype.producten_of_diensten),
    ...geopendFaults(input, settings),
    ...geometrie.faults,
    ...hoofdzaak.faults,
    ...relaties.faults,
    ...faults,
    ...(mayDo(m.actor, GEFORCEERD, rechten) ? [] : archiveringFaults(input, false)), // archived cases are taken over as they are
    ...termFaults(input, zaaktype),
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
      zaakgeometrie_grenzen: boundingBox(geometrie.geometrie),
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
    weergave: zaakLabel({ bronorganisatie: zaak.bronorganisatie, identificatie: made.identificatie }),
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

function termFaults(input: ZaakInput, { einddatum_gepland, uiterlijke_einddatum_afdoening }: ZaaktypeVanZaak) {
  const beyond =
    (input.einddatumGepland == null && isBeyondDates(einddatum_gepland)) ||
    (input.uiterlijkeEinddatumAfdoening == null && isBeyondDates(uiterlijke_einddatum_afdoening))
  return beyond
    ? [fault('startdatum', 'invalid', 'Met de termijnen van het zaaktype eindigt de zaak na het jaar 9999.')]
    : []
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
  type: RemoteType<'zaaktype'> | InvalidParam,
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
