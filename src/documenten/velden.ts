// The fields of a document as the API takes and shows them: one schema for a create and for a row of an import.
import Type, { type Static } from 'typebox'
import {
  DateOnly,
  Moment,
  Nullable,
  OptionalChoice,
  OptionalDate,
  OptionalText,
  Reference,
  Rsin,
  Text,
  Url,
  VERTROUWELIJKHEIDAANDUIDINGEN,
} from '../input.ts'

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

/** A document as lists and details show it. */
export const Document = Type.Object({
  url: Url(),
  ...Metagegevens.properties,
  versie: Type.Integer({ minimum: 1 }),
  beginRegistratie: Moment,
  inhoud: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uri' }),
  locked: Type.Boolean(),
  bestandsdelen: Type.Array(Type.Object({})),
  _expand: Type.Optional(Type.Object({})),
})
export type Document = Static<typeof Document>
