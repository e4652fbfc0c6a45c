// Making a case.
import type { Insertable, Selectable } from 'kysely'
import { NO_REMOTE_TYPES, type RemoteType, type RemoteTypes } from '../../catalogi/remote-types.ts'
import { jsonOf, rowOf } from '../../database/driver-values.ts'
import type { Mutation } from '../../database/mutate.ts'
import type { Zaak as ZaakTable } from '../../database/types.ts'
import { isBeyondDates } from '../../http/duration.ts'
import type { Vertrouwelijkheidaanduiding } from '../../http/input.ts'
import { resolveLink } from '../../http/links.ts'
import { fault, type InvalidParam, invalidAll, Problem, throwFaults } from '../../http/problem.ts'
import { zaakLabel, zakenKanaal } from '../records.ts'
import { AANMAKEN, GEFORCEERD, mayDo, requireMay } from '../rights.ts'
import { EMPTY, encoded, type Related, toRow, toZaak, type ZaakInput } from './columns.ts'
import { boundingBox, judgeKept } from './geometry.ts'
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
    zaaktypeUrl: elders?.zaaktypeUrl ?? null,
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
  const row = {
    ...toRow(input),
    einddatumGepland: input.einddatumGepland ?? zaaktype.einddatum_gepland,
    uiterlijkeEinddatumAfdoening: input.uiterlijkeEinddatumAfdoening ?? zaaktype.uiterlijke_einddatum_afdoening,
  }
  const own = {
    zaaktypeId: zaaktype.id,
    ...elders,
    vertrouwelijkheidaanduiding,
    ...(geometrie.geometrie && {
      zaakgeometrie: jsonOf(m.sql, geometrie.geometrie),
      zaakgeometrieGrenzen: boundingBox(geometrie.geometrie),
    }),
    ...(hoofdzaak.id && { hoofdzaakId: hoofdzaak.id }),
  }
  const made = await insertZaak(m, input, { ...withoutEmpty(row), ...own }, zaaktype.identificatie, settings)
  if (relaties.faults.length === 0 && (input.relevanteAndereZaken?.length || input.gerelateerdeZaken?.length))
    await writeRelaties(m, made.id, relaties)
  const zaak = toZaak(
    {
      ...row,
      ...NOT_ELSEWHERE,
      ...elders,
      ...made,
      einddatum: null,
      vertrouwelijkheidaanduiding,
      zaaktypeId: zaaktype.id,
      zaaktypeUuid: zaaktype.uuid,
      catalogusUuid: zaaktype.catalogus_uuid,
      hoofdzaakId: hoofdzaak.id ?? null,
      hoofdzaakUuid: hoofdzaak.uuid,
      zaakgeometrie: geometrie.geometrie,
      ...NOTHING_RELATED,
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
        zaaktypeCatalogusUrl: elders?.zaaktypeCatalogusUrl ?? null,
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
  elders?: Record<keyof typeof NOT_ELSEWHERE, string>
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
      zaaktypeUrl: type.url,
      zaaktypeCatalogusUrl: type.catalogus,
      zaaktypeIdentificatie: type.identificatie,
      zaaktypeOmschrijving: type.omschrijving,
    },
  }
}

const NOT_ELSEWHERE = {
  zaaktypeUrl: null,
  zaaktypeCatalogusUrl: null,
  zaaktypeIdentificatie: null,
  zaaktypeOmschrijving: null,
}

type Made = Pick<Selectable<ZaakTable>, 'id' | 'uuid' | 'identificatie' | 'laatstGemuteerd' | 'registratiedatum'>

/** zrc-002: with the number of the client, which may be a reserved one, or the next free one. */
async function insertZaak(
  m: Mutation,
  input: ZaakInput,
  values: Omit<Insertable<ZaakTable>, 'identificatie'>,
  number: string | null,
  { nummering }: Settings,
): Promise<Made> {
  const row = (identificatie: string) =>
    rowOf(m.sql, 'zaak', { ...encoded(values, (value) => jsonOf(m.sql, value)), identificatie })
  if (number === null) {
    const [[made]] = await Promise.all([
      m.sql<Made[]>`insert into zaak ${row(input.identificatie!)}
        returning id, uuid, identificatie, laatst_gemuteerd as "laatstGemuteerd", registratiedatum`,
      m.sql`delete from zaaknummer_reservering
        where identificatie = ${input.identificatie!} and bronorganisatie = ${input.bronorganisatie}`,
    ])
    return made!
  }
  let next: string | undefined = number
  for (let attempt = 1; attempt <= 10; attempt++) {
    const [made] = await m.sql<Made[]>`insert into zaak ${row(next!)}
      on conflict on constraint zaak_identificatie_uniek do nothing
      returning id, uuid, identificatie, laatst_gemuteerd as "laatstGemuteerd", registratiedatum`
    if (made) return made
    await m.sql`select haal_zaaknummers_in(${input.startdatum}::date, ${nummering})`
    const [fresh] = await m.sql<{ number: string }[]>`
      select zaak_identificatie(${input.startdatum}::date, ${nummering}) as number`
    next = fresh!.number
  }
  throw new Problem(409, { detail: 'Er kon geen vrij nummer worden gevonden.' })
}

type NewRow = ReturnType<typeof toRow>
/** Columns that every new row states; most cases have something there. */
const USUAL = [
  'bronorganisatie',
  'verantwoordelijkeOrganisatie',
  'startdatum',
  'omschrijving',
  'toelichting',
  'einddatumGepland',
  'uiterlijkeEinddatumAfdoening',
] as const satisfies (keyof NewRow)[]
const SELDOM = Object.entries(EMPTY).filter(([name]) => !USUAL.some((usual) => usual === name))

/**
 * Leaves the other columns to the table when all of them are empty, since every column costs. All or nothing, so that there
 * are few statements to plan.
 */
function withoutEmpty(row: NewRow): Pick<NewRow, (typeof USUAL)[number]> {
  const rest: Record<string, unknown> = { ...row }
  for (const [name, empty] of SELDOM) {
    const value = rest[name]
    if (Array.isArray(value) ? value.length > 0 : value !== empty) return row
    delete rest[name]
  }
  return rest as NewRow
}

const NOTHING_RELATED = {
  deelzaken: null,
  eigenschappen: null,
  rollen: null,
  zaakinformatieobjecten: null,
  zaakobjecten: null,
  status: null,
  resultaat: null,
  relevanteAndereZaken: [],
  gerelateerdeZaken: [],
} satisfies Partial<Related>
const ANDERE_LEEG = { overigeRelatie: '', toelichting: '' }
