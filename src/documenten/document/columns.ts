// The fields of a document, and how they stand in the row of a version. A create and a row of an import have one schema.
import type { Selectable } from 'kysely'
import Type, { type Static } from 'typebox'
import { VERTROUWELIJKHEIDAANDUIDINGEN } from '../../core/vertrouwelijkheidaanduiding.ts'
import { answerReader, answersOf, type ColumnsOf, fieldsOf, inputsOf, rowWriter } from '../../database/fields.ts'
import type { EnkelvoudiginformatieobjectVersie } from '../../database/types.ts'
import {
  DateOnly,
  Moment,
  Nullable,
  OptionalChoice,
  OptionalDate,
  OptionalText,
  Patch,
  Reference,
  Rsin,
  Text,
  Url,
} from '../../http/input.ts'
import { link, linkOr } from '../../http/links.ts'

export const ALGORITMEN = [
  'crc_16',
  'crc_32',
  'crc_64',
  'fletcher_4',
  'fletcher_8',
  'fletcher_16',
  'fletcher_32',
  'hmac',
  'md5',
  'sha_1',
  'sha_256',
  'sha_512',
  'sha_3',
] as const

const Ondertekening = Type.Object({ soort: Type.Enum(['analoog', 'digitaal', 'pki']), datum: DateOnly })
const Integriteit = Type.Object({ algoritme: Type.Enum(ALGORITMEN), waarde: Text(128), datum: DateOnly })
const OptionalBoolean = Type.Optional(Type.Unsafe<boolean | null>({ type: ['boolean', 'null'], default: null }))

/** A part of an upload as a document shows it. */
export const Bestandsdeel = Type.Object({
  url: Url(),
  volgnummer: Type.Integer({ minimum: 1 }),
  omvang: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  voltooid: Type.Boolean(),
  lock: Type.String(),
})
export type Bestandsdeel = Static<typeof Bestandsdeel>

type Versie = EnkelvoudiginformatieobjectVersie
/** A version as queries find it, with what an answer needs of its document, its type and its parts. */
export type VersieRow = Selectable<Versie> & {
  uuid: string
  lock: string | null
  typeUuid: string | null
  bestandsdelen: { uuid: string; volgnummer: number; omvang: number; voltooid: boolean }[] | null
}
const { kept, spread, apart, shown } = fieldsOf<Versie, VersieRow>()
const documentLink = (base: string, { uuid }: VersieRow) => link(base, 'enkelvoudiginformatieobject', uuid)

/** The fields of a document, in the order of its answers. A column that none of them holds, and that is not in `Own`, does not compile. */
const FIELDS = {
  url: shown(Url(), (row, base) => documentLink(base, row)),
  identificatie: apart(OptionalText(40), (row) => row.identificatie),
  bronorganisatie: kept(Rsin, 'bronorganisatie'),
  creatiedatum: kept(DateOnly, 'creatiedatum'),
  titel: kept(Text(200, { minLength: 1 }), 'titel'),
  vertrouwelijkheidaanduiding: apart(
    OptionalChoice(VERTROUWELIJKHEIDAANDUIDINGEN),
    (row) => row.vertrouwelijkheidaanduiding,
  ),
  auteur: kept(Text(200, { minLength: 1 }), 'auteur'),
  status: kept(OptionalChoice(['in_bewerking', 'ter_vaststelling', 'definitief', 'gearchiveerd']), 'status', ''),
  formaat: kept(OptionalText(255), 'formaat', ''),
  taal: kept(Text(3, { minLength: 3 }), 'taal'),
  versie: shown(Type.Integer({ minimum: 1 }), (row) => row.versie),
  beginRegistratie: shown(Moment, (row) => row.beginRegistratie),
  bestandsnaam: kept(OptionalText(255), 'bestandsnaam', ''),
  inhoud: shown(Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uri' }), (row, base) =>
    row.fileId === null ? null : `${documentLink(base, row)}/download?versie=${row.versie}`,
  ),
  bestandsomvang: apart(
    Type.Optional(
      Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    ),
    (row) => row.bestandsomvang,
  ),
  link: kept(Type.Optional(Type.String({ format: 'uri', maxLength: 200, default: '' })), 'link', ''),
  beschrijving: kept(OptionalText(1000), 'beschrijving', ''),
  ontvangstdatum: kept(OptionalDate, 'ontvangstdatum', null),
  verzenddatum: kept(OptionalDate, 'verzenddatum', null),
  indicatieGebruiksrecht: kept(OptionalBoolean, 'indicatieGebruiksrecht', null),
  verschijningsvorm: kept(OptionalText(), 'verschijningsvorm', ''),
  ondertekening: spread({
    input: Type.Optional(Nullable(Ondertekening)),
    columns: { ondertekeningSoort: null, ondertekeningDatum: null },
    write: (value) => ({ ondertekeningSoort: value?.soort ?? null, ondertekeningDatum: value?.datum ?? null }),
    read: ({ ondertekeningSoort: soort, ondertekeningDatum: datum }) =>
      soort === null ? null : ({ soort, datum } as Static<typeof Ondertekening>),
  }),
  integriteit: spread({
    input: Type.Optional(Nullable(Integriteit)),
    columns: { integriteitAlgoritme: null, integriteitWaarde: null, integriteitDatum: null },
    write: (value) => ({
      integriteitAlgoritme: value?.algoritme ?? null,
      integriteitWaarde: value?.waarde ?? null,
      integriteitDatum: value?.datum ?? null,
    }),
    read: ({ integriteitAlgoritme: algoritme, integriteitWaarde: waarde, integriteitDatum: datum }) =>
      algoritme === null ? null : ({ algoritme, waarde, datum } as Static<typeof Integriteit>),
  }),
  informatieobjecttype: apart(Reference(200), (row, base) =>
    linkOr(base, 'informatieobjecttype', row.typeUuid, row.informatieobjecttypeUrl),
  ),
  locked: shown(Type.Boolean(), (row) => row.lock !== null),
  bestandsdelen: shown(Type.Array(Bestandsdeel), (row, base) =>
    (row.bestandsdelen ?? []).map(({ uuid, volgnummer, omvang, voltooid }) => ({
      url: link(base, 'bestandsdeel', uuid),
      volgnummer,
      omvang,
      voltooid,
      lock: row.lock ?? '',
    })),
  ),
  trefwoorden: kept(
    Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { default: [] })),
    'trefwoorden',
    [],
  ),
  inhoudIsVervallen: kept(OptionalBoolean, 'inhoudIsVervallen', null),
  tonenAanInitiator: kept(Type.Optional(Type.Boolean({ default: false })), 'tonenAanInitiator', false),
  isGereedVoorPublicatie: kept(OptionalBoolean, 'isGereedVoorPublicatie', null),
}
/** Columns that the code of documents writes. */
type Own =
  | 'enkelvoudiginformatieobjectId'
  | 'identificatie'
  | 'versie'
  | 'beginRegistratie'
  | 'informatieobjecttypeId'
  | 'informatieobjecttypeUrl'
  | 'vertrouwelijkheidaanduiding'
  | 'bestandsomvang'
  | 'fileId'
const _nothingForgotten = {} satisfies Record<Exclude<keyof Versie, ColumnsOf<typeof FIELDS> | Own>, never>

/** What a client states about a document, without its content. */
export const Metagegevens = Type.Object(inputsOf(FIELDS))
export type Metagegevens = Static<typeof Metagegevens>

const Inhoud = Type.Optional(
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    contentEncoding: 'base64',
    description: 'De inhoud als base64. Leeg of null: geen inhoud.',
  }),
)

/** A create. */
export const DocumentCreate = Type.Object({ ...Metagegevens.properties, inhoud: Inhoud })
export type DocumentCreate = Static<typeof DocumentCreate>

/** A PUT: what is left out gets its default, except the number and what gebruiksrechten decide. */
export const DocumentUpdate = Type.Object({
  ...DocumentCreate.properties,
  indicatieGebruiksrecht: Type.Optional(Type.Unsafe<boolean | null>({ type: ['boolean', 'null'] })),
  lock: Text(),
})

/** A PATCH: what is left out stays as it is. */
export const DocumentPatch = Patch(Type.Object({ ...DocumentUpdate.properties, lock: OptionalText() }))
export type DocumentPatch = Static<typeof DocumentPatch>

/** A document as lists and details show it. */
export const Document = Type.Object({ ...answersOf(FIELDS), _expand: Type.Optional(Type.Object({})) })
export type Document = Static<typeof Document>

/** What a create answers: the document with its lock, `""` when it has none. */
export const DocumentWithLock = Type.Object({ ...Document.properties, lock: Type.String() })
export type DocumentWithLock = Static<typeof DocumentWithLock>

/** A version as the columns of its table, without what the server decides; what is absent is empty. */
export const toColumns = rowWriter<Versie, typeof FIELDS>(FIELDS)
export const toDocument = answerReader<VersieRow, typeof FIELDS>(FIELDS)
