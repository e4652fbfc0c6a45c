// The fields of a case, and how they stand in its row.
import Type, { type Static, type TObject, type TSchema } from 'typebox'
import type { Mutation } from '../../database/mutate.ts'
import { documentedAs, orNull } from '../../http/documented.ts'
import { isoDuration } from '../../http/duration.ts'
import {
  DateOnly,
  Moment,
  Nullable,
  OptionalDate,
  OptionalText,
  Patch,
  Reference,
  Rsin,
  Text,
  Url,
  Uuid,
  Vertrouwelijkheid,
} from '../../http/input.ts'
import { GEOJSON } from './geometry.ts'

export const Params = Type.Object({ uuid: Uuid })
export const OptionalMoment = Type.Optional(
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', default: null }),
)
/** A URL that may be left empty; what is no URL is `bad-url`. */
export const OptionalReference = Type.Optional(
  Type.String({ format: 'uri-reference-zgw', maxLength: 1000, default: '' }),
)
export const NullableReference = Type.Optional(
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uri-reference-zgw', maxLength: 1000, default: null }),
)
const NullableUrl = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uri' })
const Urls = Type.Array(Url())
/** JSON of which the shape is judged apart, by the kind that another field names; documents show `documentation`. */
export const anyObject = (documentation: object) =>
  Type.Optional(
    Type.Unsafe<Record<string, unknown> | null>(
      documentedAs({ type: ['object', 'null'], default: null }, orNull({ ...documentation })),
    ),
  )

export const BETALINGSINDICATIES = {
  nvt: 'Er is geen sprake van te betalen, met de zaak gemoeide, kosten.',
  nog_niet: 'De met de zaak gemoeide kosten zijn (nog) niet betaald.',
  gedeeltelijk: 'De met de zaak gemoeide kosten zijn gedeeltelijk betaald.',
  geheel: 'De met de zaak gemoeide kosten zijn geheel betaald.',
  gefactureerd: 'De met de zaak gemoeide kosten zijn gefactureerd.',
  gecrediteerd: 'De met de zaak gemoeide kosten zijn gecrediteerd.',
  betaald: 'De met de zaak gemoeide kosten zijn betaald.',
} as const
const BETALING = Object.keys(BETALINGSINDICATIES) as (keyof typeof BETALINGSINDICATIES)[]
export const ARCHIEFSTATUSSEN = [
  'nog_te_archiveren',
  'gearchiveerd',
  'gearchiveerd_procestermijn_onbekend',
  'overgedragen',
] as const
export const ARCHIEFNOMINATIES = ['blijvend_bewaren', 'vernietigen'] as const

const Verlenging = Type.Object({ reden: Text(200), duur: Type.String({ format: 'duration', minLength: 1 }) })
const Opschorting = Type.Object({ indicatie: Type.Boolean(), reden: Text(200) })
const Processobject = Type.Object({
  datumkenmerk: Text(250),
  identificatie: Text(250),
  objecttype: Text(250),
  registratie: Text(250),
})
const RelevanteZaak = Type.Object({
  url: Reference(),
  aardRelatie: Type.Enum(['vervolg', 'onderwerp', 'bijdrage', 'overig']),
  overigeRelatie: OptionalText(100),
  toelichting: OptionalText(255),
})
const Kenmerk = Type.Object({ kenmerk: Text(40, { minLength: 1 }), bron: Text(40, { minLength: 1 }) })

export const ZaakInput = Type.Object({
  identificatie: OptionalText(40),
  bronorganisatie: Rsin,
  omschrijving: OptionalText(80),
  toelichting: OptionalText(1000),
  zaaktype: Reference(),
  registratiedatum: Type.Optional(DateOnly),
  verantwoordelijkeOrganisatie: Rsin,
  startdatum: DateOnly,
  einddatumGepland: OptionalDate,
  uiterlijkeEinddatumAfdoening: OptionalDate,
  publicatiedatum: OptionalDate,
  laatstGeopend: OptionalMoment,
  communicatiekanaal: OptionalReference,
  communicatiekanaalNaam: OptionalText(250),
  productenOfDiensten: Type.Optional(Type.Array(Url(), { default: [] })),
  vertrouwelijkheidaanduiding: Type.Optional(Vertrouwelijkheid),
  betalingsindicatie: Type.Optional(Type.Enum([...BETALING, ''] as const, { default: '' })),
  laatsteBetaaldatum: OptionalMoment,
  zaakgeometrie: anyObject(GEOJSON),
  verlenging: Type.Optional(Type.Unsafe<Static<typeof Verlenging> | null>({ ...Nullable(Verlenging), default: null })),
  opschorting: Type.Optional(
    Type.Unsafe<Static<typeof Opschorting> | null>({ ...Nullable(Opschorting), default: null }),
  ),
  selectielijstklasse: OptionalReference,
  hoofdzaak: NullableReference,
  relevanteAndereZaken: Type.Optional(Type.Array(RelevanteZaak, { default: [] })),
  gerelateerdeZaken: Type.Optional(Type.Array(Type.Object({ url: Reference() }), { default: [] })),
  kenmerken: Type.Optional(Type.Array(Kenmerk, { default: [] })),
  archiefnominatie: Type.Optional(
    Type.Unsafe<(typeof ARCHIEFNOMINATIES)[number] | '' | null>({
      type: ['string', 'null'],
      enum: [...ARCHIEFNOMINATIES, '', null],
      default: null,
    }),
  ),
  archiefstatus: Type.Optional(Type.Enum(ARCHIEFSTATUSSEN, { default: 'nog_te_archiveren' })),
  archiefactiedatum: OptionalDate,
  opdrachtgevendeOrganisatie: Type.Optional(Type.String({ format: 'rsin', maxLength: 9, default: '' })),
  processobjectaard: OptionalText(200),
  startdatumBewaartermijn: OptionalDate,
  processobject: Type.Optional(
    Type.Unsafe<Static<typeof Processobject> | null>({ ...Nullable(Processobject), default: null }),
  ),
})
export type ZaakInput = Static<typeof ZaakInput>
/** What is absent in a PUT keeps its value, as clients of this API know it; only the required fields have to be there. */
export const ZaakPut = withoutDefaults(ZaakInput)
export const ZaakPatch = Patch(ZaakInput)
export type ZaakPatch = Static<typeof ZaakPatch>

export const Zaak = Type.Object({
  url: Url(),
  uuid: Uuid,
  ...ZaakInput.properties,
  einddatum: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date' }),
  laatstGemuteerd: Moment,
  betalingsindicatieWeergave: Type.String(),
  opschorting: Type.Object({ ...Opschorting.properties, eerdereOpschorting: Type.Boolean() }),
  processobject: Processobject,
  deelzaken: Urls,
  eigenschappen: Urls,
  rollen: Urls,
  status: NullableUrl,
  zaakinformatieobjecten: Urls,
  zaakobjecten: Urls,
  resultaat: NullableUrl,
  _expand: Type.Optional(Type.Object({})),
})

/** The same schema, in which what is absent stays absent. */
export function withoutDefaults<T extends TObject>(schema: T): T {
  const properties = Object.entries(schema.properties).map(([name, property]) => {
    const { default: _, ...rest } = property as TSchema & { default?: unknown }
    return [name, (schema.required as string[] | undefined)?.includes(name) ? rest : Type.Optional(rest as TSchema)]
  })
  return Type.Object(Object.fromEntries(properties)) as unknown as T
}

/** The columns for the fields that are given; relations and geometry are written apart. */
export function toColumns(given: ZaakPatch) {
  const columns: Record<string, unknown> = {}
  for (const [field, column] of PLAIN) if (given[field] !== undefined) columns[column] = given[field]
  if (given.archiefnominatie !== undefined) columns.archiefnominatie = given.archiefnominatie || null
  if (given.kenmerken !== undefined) columns.kenmerken = given.kenmerken
  if (given.verlenging !== undefined) {
    columns.verlenging_reden = given.verlenging?.reden ?? ''
    columns.verlenging_duur = given.verlenging ? isoDuration(given.verlenging.duur) : null
  }
  if (given.opschorting !== undefined) {
    columns.opschorting_indicatie = given.opschorting?.indicatie ?? false
    columns.opschorting_reden = given.opschorting?.reden ?? ''
    if (given.opschorting?.indicatie) columns.opschorting_eerdere = true
  }
  if (given.processobject !== undefined) {
    for (const name of ['datumkenmerk', 'identificatie', 'objecttype', 'registratie'] as const)
      columns[`processobject_${name}`] = given.processobject?.[name] ?? ''
  }
  return columns
}

const PLAIN = [
  ['bronorganisatie', 'bronorganisatie'],
  ['omschrijving', 'omschrijving'],
  ['toelichting', 'toelichting'],
  ['registratiedatum', 'registratiedatum'],
  ['verantwoordelijkeOrganisatie', 'verantwoordelijke_organisatie'],
  ['startdatum', 'startdatum'],
  ['einddatumGepland', 'einddatum_gepland'],
  ['uiterlijkeEinddatumAfdoening', 'uiterlijke_einddatum_afdoening'],
  ['publicatiedatum', 'publicatiedatum'],
  ['laatstGeopend', 'laatst_geopend'],
  ['communicatiekanaal', 'communicatiekanaal'],
  ['communicatiekanaalNaam', 'communicatiekanaal_naam'],
  ['productenOfDiensten', 'producten_of_diensten'],
  ['vertrouwelijkheidaanduiding', 'vertrouwelijkheidaanduiding'],
  ['betalingsindicatie', 'betalingsindicatie'],
  ['laatsteBetaaldatum', 'laatste_betaaldatum'],
  ['selectielijstklasse', 'selectielijstklasse'],
  ['archiefstatus', 'archiefstatus'],
  ['archiefactiedatum', 'archiefactiedatum'],
  ['opdrachtgevendeOrganisatie', 'opdrachtgevende_organisatie'],
  ['processobjectaard', 'processobjectaard'],
  ['startdatumBewaartermijn', 'startdatum_bewaartermijn'],
] as const

export const JSON_COLUMNS = ['kenmerken', 'zaakgeometrie']

/** The value of a column as the driver wants it. */
export const encoded = (m: Mutation, name: string, value: unknown) =>
  JSON_COLUMNS.includes(name) && value !== null ? m.sql.json(value as never) : value
