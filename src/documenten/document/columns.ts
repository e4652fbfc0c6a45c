// The fields of a document as the API takes and shows them: one schema for a create and for a row of an import.
import Type, { type Static } from 'typebox'
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
  VERTROUWELIJKHEIDAANDUIDINGEN,
} from '../../http/input.ts'

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

/** What a client states about a document, without its content. */
export const Metagegevens = Type.Object({
  identificatie: OptionalText(40),
  bronorganisatie: Rsin,
  creatiedatum: DateOnly,
  titel: Text(200, { minLength: 1 }),
  vertrouwelijkheidaanduiding: OptionalChoice(VERTROUWELIJKHEIDAANDUIDINGEN),
  auteur: Text(200, { minLength: 1 }),
  status: OptionalChoice(['in_bewerking', 'ter_vaststelling', 'definitief', 'gearchiveerd']),
  formaat: OptionalText(255),
  taal: Text(3, { minLength: 3 }),
  bestandsnaam: OptionalText(255),
  bestandsomvang: Type.Optional(
    Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  ),
  link: Type.Optional(Type.String({ format: 'uri', maxLength: 200, default: '' })),
  beschrijving: OptionalText(1000),
  ontvangstdatum: OptionalDate,
  verzenddatum: OptionalDate,
  indicatieGebruiksrecht: OptionalBoolean,
  verschijningsvorm: OptionalText(),
  ondertekening: Type.Optional(Nullable(Ondertekening)),
  integriteit: Type.Optional(Nullable(Integriteit)),
  informatieobjecttype: Reference(200),
  trefwoorden: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { default: [] })),
  inhoudIsVervallen: OptionalBoolean,
  tonenAanInitiator: Type.Optional(Type.Boolean({ default: false })),
  isGereedVoorPublicatie: OptionalBoolean,
})
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

/** A part of an upload as a document shows it. */
export const Bestandsdeel = Type.Object({
  url: Url(),
  volgnummer: Type.Integer({ minimum: 1 }),
  omvang: Type.Integer({ minimum: 1 }),
  voltooid: Type.Boolean(),
  lock: Type.String(),
})
export type Bestandsdeel = Static<typeof Bestandsdeel>

/** A document as lists and details show it. */
export const Document = Type.Object({
  url: Url(),
  ...Metagegevens.properties,
  versie: Type.Integer({ minimum: 1 }),
  beginRegistratie: Moment,
  inhoud: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uri' }),
  locked: Type.Boolean(),
  bestandsdelen: Type.Array(Bestandsdeel),
  _expand: Type.Optional(Type.Object({})),
})
export type Document = Static<typeof Document>

/** What a create answers: the document with its lock, `""` when it has none. */
export const DocumentMetLock = Type.Object({ ...Document.properties, lock: Type.String() })
export type DocumentMetLock = Static<typeof DocumentMetLock>

/** A version as the columns of its table, without what the server decides. */
export function toColumns(input: Metagegevens) {
  return {
    creatiedatum: input.creatiedatum,
    titel: input.titel,
    auteur: input.auteur,
    status: input.status ?? '',
    formaat: input.formaat ?? '',
    taal: input.taal,
    bestandsnaam: input.bestandsnaam ?? '',
    link: input.link ?? '',
    beschrijving: input.beschrijving ?? '',
    ontvangstdatum: input.ontvangstdatum ?? null,
    verzenddatum: input.verzenddatum ?? null,
    verschijningsvorm: input.verschijningsvorm ?? '',
    ondertekeningSoort: input.ondertekening?.soort ?? null,
    ondertekeningDatum: input.ondertekening?.datum ?? null,
    integriteitAlgoritme: input.integriteit?.algoritme ?? null,
    integriteitWaarde: input.integriteit?.waarde ?? null,
    integriteitDatum: input.integriteit?.datum ?? null,
    trefwoorden: input.trefwoorden ?? [],
    inhoudIsVervallen: input.inhoudIsVervallen ?? null,
    tonenAanInitiator: input.tonenAanInitiator ?? false,
    isGereedVoorPublicatie: input.isGereedVoorPublicatie ?? null,
  }
}
