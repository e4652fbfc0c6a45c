// The fields of a case, and how they stand in its row.
import type { Selectable } from 'kysely'
import Type, { type Static } from 'typebox'
import {
  answerReader,
  answersOf,
  type ColumnsOf,
  columnsOf,
  columnWriter,
  emptyOf,
  fieldsOf,
  inputsOf,
  rowEncoder,
  rowWriter,
} from '../../database/fields.ts'
import type { Zaak as ZaakTable } from '../../database/types.ts'
import { documentedAs, orNull } from '../../http/documented.ts'
import { isoDuration } from '../../http/duration.ts'
import {
  DateOnly,
  Moment,
  Nullable,
  OptionalDate,
  OptionalText,
  Patch,
  Put,
  Reference,
  Rsin,
  Text,
  Url,
  Uuid,
  Vertrouwelijkheid,
} from '../../http/input.ts'
import { link, linkOr } from '../../http/links.ts'
import { zaaktypeLink } from '../types.ts'
import { GEOJSON } from './geometry.ts'
import { type List, urlsOf } from './long-lists.ts'

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
const NullableDate = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date' })
const Urls = Type.Array(Url())
/** JSON of which the shape is judged apart, by the kind that another field names; documents show `documentation`. */
export const anyObject = (documentation: object) =>
  Type.Optional(
    Type.Unsafe<Record<string, unknown> | null>(
      documentedAs({ type: ['object', 'null'], default: null }, orNull({ ...documentation })),
    ),
  )

const BETALINGSINDICATIES = {
  nvt: 'Er is geen sprake van te betalen, met de zaak gemoeide, kosten.',
  nog_niet: 'De met de zaak gemoeide kosten zijn (nog) niet betaald.',
  gedeeltelijk: 'De met de zaak gemoeide kosten zijn gedeeltelijk betaald.',
  geheel: 'De met de zaak gemoeide kosten zijn geheel betaald.',
  gefactureerd: 'De met de zaak gemoeide kosten zijn gefactureerd.',
  gecrediteerd: 'De met de zaak gemoeide kosten zijn gecrediteerd.',
  betaald: 'De met de zaak gemoeide kosten zijn betaald.',
} as const
const betalingsindicatieLabel = (value: string): string =>
  BETALINGSINDICATIES[value as keyof typeof BETALINGSINDICATIES] ?? ''
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

type OtherZaak = { uuid: string | null; url: string | null }
/** What hangs on a case: uuids, of lists with commas between; those of other cases also as URLs elsewhere. */
export type Related = Record<List, string | null> & {
  zaaktypeUuid: string | null
  catalogusUuid: string | null
  hoofdzaakUuid: string | null
  status: string | null
  resultaat: string | null
  relevanteAndereZaken: (OtherZaak & Omit<Static<typeof RelevanteZaak>, 'url'>)[]
  gerelateerdeZaken: OtherZaak[]
}
/** A case as queries find it. */
export type ZaakRow = Omit<Selectable<ZaakTable>, Elsewhere> &
  Related & { zaakgeometrie: Record<string, unknown> | null }

const { kept, stated, json, spread, apart, shown } = fieldsOf<ZaakTable, ZaakRow>()
const otherZaak = (base: string, { uuid, url }: OtherZaak) => linkOr(base, 'zaak', uuid, url)

/**
 * The fields of a case, in the order of its answers. A column that none of them holds, and that is not in `OWN`, does not
 * compile.
 */
const FIELDS = {
  url: shown(Url(), (row, base) => link(base, 'zaak', row.uuid)),
  uuid: shown(Uuid, (row) => row.uuid),
  identificatie: apart(OptionalText(40), (row) => row.identificatie),
  bronorganisatie: kept(Rsin, 'bronorganisatie'),
  omschrijving: kept(OptionalText(80), 'omschrijving', ''),
  toelichting: kept(OptionalText(1000), 'toelichting', ''),
  zaaktype: apart(Reference(), (row, base) => zaaktypeLink(base, row)),
  registratiedatum: stated(Type.Optional(DateOnly), 'registratiedatum'),
  verantwoordelijkeOrganisatie: kept(Rsin, 'verantwoordelijkeOrganisatie'),
  startdatum: kept(DateOnly, 'startdatum'),
  einddatum: shown(NullableDate, (row) => row.einddatum),
  einddatumGepland: kept(OptionalDate, 'einddatumGepland', null),
  uiterlijkeEinddatumAfdoening: kept(OptionalDate, 'uiterlijkeEinddatumAfdoening', null),
  publicatiedatum: kept(OptionalDate, 'publicatiedatum', null),
  laatstGemuteerd: shown(Moment, (row) => row.laatstGemuteerd),
  laatstGeopend: kept(OptionalMoment, 'laatstGeopend', null),
  communicatiekanaal: kept(OptionalReference, 'communicatiekanaal', ''),
  communicatiekanaalNaam: kept(OptionalText(250), 'communicatiekanaalNaam', ''),
  productenOfDiensten: kept(Type.Optional(Type.Array(Url(), { default: [] })), 'productenOfDiensten', []),
  vertrouwelijkheidaanduiding: stated(Type.Optional(Vertrouwelijkheid), 'vertrouwelijkheidaanduiding'),
  betalingsindicatie: kept(
    Type.Optional(Type.Enum([...BETALING, ''] as const, { default: '' })),
    'betalingsindicatie',
    '',
  ),
  betalingsindicatieWeergave: shown(Type.String(), (row) => betalingsindicatieLabel(row.betalingsindicatie)),
  laatsteBetaaldatum: kept(OptionalMoment, 'laatsteBetaaldatum', null),
  zaakgeometrie: apart(anyObject(GEOJSON), (row) => row.zaakgeometrie),
  verlenging: spread({
    input: Type.Optional(Type.Unsafe<Static<typeof Verlenging> | null>({ ...Nullable(Verlenging), default: null })),
    columns: { verlengingReden: '', verlengingDuur: null },
    write: (value) => ({
      verlengingReden: value?.reden ?? '',
      verlengingDuur: value ? isoDuration(value.duur) : null,
    }),
    read: (row) => (row.verlengingDuur === null ? null : { reden: row.verlengingReden, duur: row.verlengingDuur }),
  }),
  opschorting: spread({
    input: Type.Optional(Type.Unsafe<Static<typeof Opschorting> | null>({ ...Nullable(Opschorting), default: null })),
    answer: Type.Object({ ...Opschorting.properties, eerdereOpschorting: Type.Boolean() }),
    columns: { opschortingIndicatie: false, opschortingReden: '', opschortingEerdere: false },
    write: (value) => ({
      opschortingIndicatie: value?.indicatie ?? false,
      opschortingReden: value?.reden ?? '',
      ...(value?.indicatie && { opschortingEerdere: true }),
    }),
    read: (row) => ({
      indicatie: row.opschortingIndicatie,
      eerdereOpschorting: row.opschortingEerdere,
      reden: row.opschortingReden,
    }),
  }),
  selectielijstklasse: kept(OptionalReference, 'selectielijstklasse', ''),
  hoofdzaak: apart(NullableReference, (row, base) => row.hoofdzaakUuid && link(base, 'zaak', row.hoofdzaakUuid)),
  deelzaken: shown(Urls, (row, base) => urlsOf('deelzaken', row, base)),
  relevanteAndereZaken: apart(Type.Optional(Type.Array(RelevanteZaak, { default: [] })), (row, base) =>
    row.relevanteAndereZaken.map(({ aardRelatie, overigeRelatie, toelichting, ...one }) => ({
      url: otherZaak(base, one),
      aardRelatie,
      overigeRelatie,
      toelichting,
    })),
  ),
  gerelateerdeZaken: apart(Type.Optional(Type.Array(Type.Object({ url: Reference() }), { default: [] })), (row, base) =>
    row.gerelateerdeZaken.map((one) => ({ url: otherZaak(base, one) })),
  ),
  eigenschappen: shown(Urls, (row, base) => urlsOf('eigenschappen', row, base)),
  rollen: shown(Urls, (row, base) => urlsOf('rollen', row, base)),
  status: shown(NullableUrl, (row, base) => row.status && link(base, 'status', row.status)),
  zaakinformatieobjecten: shown(Urls, (row, base) => urlsOf('zaakinformatieobjecten', row, base)),
  zaakobjecten: shown(Urls, (row, base) => urlsOf('zaakobjecten', row, base)),
  kenmerken: json(Type.Optional(Type.Array(Kenmerk, { default: [] })), 'kenmerken', []),
  archiefnominatie: spread({
    input: Type.Optional(
      Type.Unsafe<(typeof ARCHIEFNOMINATIES)[number] | '' | null>({
        type: ['string', 'null'],
        enum: [...ARCHIEFNOMINATIES, '', null],
        default: null,
      }),
    ),
    columns: { archiefnominatie: null },
    write: (value) => ({ archiefnominatie: value || null }),
    read: (row) => row.archiefnominatie as (typeof ARCHIEFNOMINATIES)[number] | null,
  }),
  archiefstatus: kept(
    Type.Optional(Type.Enum(ARCHIEFSTATUSSEN, { default: 'nog_te_archiveren' })),
    'archiefstatus',
    'nog_te_archiveren',
  ),
  archiefactiedatum: kept(OptionalDate, 'archiefactiedatum', null),
  resultaat: shown(NullableUrl, (row, base) => row.resultaat && link(base, 'resultaat', row.resultaat)),
  opdrachtgevendeOrganisatie: kept(
    Type.Optional(Type.String({ format: 'rsin', maxLength: 9, default: '' })),
    'opdrachtgevendeOrganisatie',
    '',
  ),
  processobjectaard: kept(OptionalText(200), 'processobjectaard', ''),
  startdatumBewaartermijn: kept(OptionalDate, 'startdatumBewaartermijn', null),
  processobject: spread({
    input: Type.Optional(
      Type.Unsafe<Static<typeof Processobject> | null>({ ...Nullable(Processobject), default: null }),
    ),
    answer: Processobject,
    columns: {
      processobjectDatumkenmerk: '',
      processobjectIdentificatie: '',
      processobjectObjecttype: '',
      processobjectRegistratie: '',
    },
    write: (value) => ({
      processobjectDatumkenmerk: value?.datumkenmerk ?? '',
      processobjectIdentificatie: value?.identificatie ?? '',
      processobjectObjecttype: value?.objecttype ?? '',
      processobjectRegistratie: value?.registratie ?? '',
    }),
    read: (row) => ({
      datumkenmerk: row.processobjectDatumkenmerk,
      identificatie: row.processobjectIdentificatie,
      objecttype: row.processobjectObjecttype,
      registratie: row.processobjectRegistratie,
    }),
  }),
}

export const ZaakInput = Type.Object(inputsOf(FIELDS))
export type ZaakInput = Static<typeof ZaakInput>
/** What is absent in a PUT keeps its value, as clients of this API know it; only the required fields have to be there. */
export const ZaakPut = Put(ZaakInput)
export const ZaakPatch = Patch(ZaakInput)
export type ZaakPatch = Static<typeof ZaakPatch>

export const Zaak = Type.Object({ ...answersOf(FIELDS), _expand: Type.Optional(Type.Object({})) })

// ---- the row ----

/** Columns beside those of the fields, which every query on a case reads. */
const OWN = [
  'id',
  'uuid',
  'identificatie',
  'einddatum',
  'laatstGemuteerd',
  'hoofdzaakId',
  'zaaktypeId',
  'zaaktypeUrl',
  'zaaktypeCatalogusUrl',
  'zaaktypeIdentificatie',
  'zaaktypeOmschrijving',
] as const
/** Not among them: the geometry, which may be larger than everything else together, and what only statements look at. */
type Elsewhere = 'zaakgeometrie' | 'zaakgeometrieGrenzen' | 'duplicate'
type Column = ColumnsOf<typeof FIELDS> | (typeof OWN)[number]
const _nothingForgotten = {} satisfies Record<Exclude<keyof ZaakTable, Column | Elsewhere>, never>

/** What a query reads of `zaak as z`. */
export const COLUMNS: `z.${Column}`[] = [...columnsOf(FIELDS), ...OWN].map((name) => `z.${name}` as const)

/** What the columns of the fields hold when a case is made of nothing. */
export const EMPTY = emptyOf(FIELDS)

/** The columns for the fields that are given; relations and geometry are written apart. */
export const toColumns = columnWriter<ZaakTable, typeof FIELDS>(FIELDS)
/** The same for a new case: what is not given is empty. */
export const toRow = rowWriter<ZaakTable, typeof FIELDS>(FIELDS)
export const toZaak = answerReader<ZaakRow, typeof FIELDS>(FIELDS)

/** Encodes its columns of JSON, as a statement takes them. */
export const encoded = rowEncoder(FIELDS)
