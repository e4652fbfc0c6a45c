// Who can be involved in a case, or be what it is about: a shape for each kind.
import Type, { type Static, type TObject } from 'typebox'
import { LIMITS } from '../core/limits.ts'
import { fault, type InvalidParam, Problem } from '../core/problem.ts'
import { Nullable, OptionalText, readInput, Text } from '../http/input.ts'

const Verblijfsadres = Type.Object({
  aoaIdentificatie: Text(100),
  wplWoonplaatsNaam: Text(80),
  gorOpenbareRuimteNaam: Text(80),
  aoaPostcode: OptionalText(7),
  aoaHuisnummer: Type.Integer({ minimum: 0, maximum: 99_999 }),
  aoaHuisletter: OptionalText(1),
  aoaHuisnummertoevoeging: OptionalText(4),
  inpLocatiebeschrijving: OptionalText(1000),
})
const VerblijfBuitenland = Type.Object({
  lndLandcode: Text(4),
  lndLandnaam: Text(40),
  subAdresBuitenland_1: OptionalText(35),
  subAdresBuitenland_2: OptionalText(35),
  subAdresBuitenland_3: OptionalText(35),
})
/** An object within an object; null when it is absent. */
export const Part = <T extends TObject>(schema: T) =>
  Type.Optional(Type.Unsafe<Static<T> | null>({ ...Nullable(schema), default: null }))
const adressen = { verblijfsadres: Part(Verblijfsadres), subVerblijfBuitenland: Part(VerblijfBuitenland) }
const nummer = Type.Optional(Type.String({ format: 'rsin', maxLength: 9, default: '' }))

const RECHTSVORMEN = [
  'besloten_vennootschap',
  'cooperatie_europees_economische_samenwerking',
  'europese_cooperatieve_venootschap',
  'europese_cooperatieve_vennootschap',
  'europese_naamloze_vennootschap',
  'kerkelijke_organisatie',
  'naamloze_vennootschap',
  'onderlinge_waarborg_maatschappij',
  'overig_privaatrechtelijke_rechtspersoon',
  'stichting',
  'vereniging',
  'vereniging_van_eigenaars',
  'publiekrechtelijke_rechtspersoon',
  'vennootschap_onder_firma',
  'maatschap',
  'rederij',
  'commanditaire_vennootschap',
  'kapitaalvennootschap_binnen_eer',
  'overige_buitenlandse_rechtspersoon_vennootschap',
  'kapitaalvennootschap_buiten_eer',
] as const

export const NatuurlijkPersoon = Type.Object({
  inpBsn: nummer,
  anpIdentificatie: OptionalText(17),
  inpA_nummer: OptionalText(10),
  geslachtsnaam: OptionalText(200),
  voorvoegselGeslachtsnaam: OptionalText(80),
  voorletters: OptionalText(20),
  voornamen: OptionalText(200),
  geslachtsaanduiding: Type.Optional(Type.Enum(['m', 'v', 'o', ''], { default: '' })),
  geboortedatum: OptionalText(18),
  ...adressen,
})
export const NietNatuurlijkPersoon = Type.Object({
  innNnpId: nummer,
  annIdentificatie: OptionalText(17),
  kvkNummer: OptionalText(8),
  vestigingsNummer: OptionalText(24),
  statutaireNaam: OptionalText(500),
  innRechtsvorm: Type.Optional(Type.Enum([...RECHTSVORMEN, ''] as const, { default: '' })),
  bezoekadres: OptionalText(1000),
  ...adressen,
})

/** The same with the number of the trade register in innNnpId, as forms send it that ask for no RSIN. */
export const NietNatuurlijkPersoonOfKvk = Type.Object({
  ...NietNatuurlijkPersoon.properties,
  innNnpId: Type.Optional(Type.String({ format: 'rsin-or-kvk', maxLength: 9, default: '' })),
})

/** betrokkeneIdentificatie by betrokkeneType; zaakobjecten of these kinds have the same shapes. */
export const BETROKKENEN = {
  natuurlijk_persoon: NatuurlijkPersoon,
  niet_natuurlijk_persoon: NietNatuurlijkPersoon,
  vestiging: Type.Object({
    vestigingsNummer: OptionalText(24),
    handelsnaam: Type.Optional(Type.Array(Type.String({ maxLength: 625 }), { default: [] })),
    ...adressen,
    kvkNummer: OptionalText(8),
  }),
  organisatorische_eenheid: Type.Object({
    identificatie: OptionalText(255),
    naam: OptionalText(255),
    isGehuisvestIn: OptionalText(255),
  }),
  medewerker: Type.Object({
    identificatie: OptionalText(254),
    achternaam: OptionalText(200),
    voorletters: OptionalText(20),
    voorvoegselAchternaam: OptionalText(10),
  }),
}

/** Levels of assurance, low to high, by scheme. */
const DIGID = 'urn:oasis:names:tc:SAML:2.0:ac:classes:'
const EHERKENNING = 'urn:etoegang:core:assurance-class:'
export const LEVELS = [
  ['PasswordProtectedTransport', 'MobileTwoFactorContract', 'Smartcard', 'SmartcardPKI'].map((name) => DIGID + name),
  ['loa1', 'loa2', 'loa2plus', 'loa3', 'loa4'].map((name) => EHERKENNING + name),
] as const

const Bsn = Type.Object({
  identifierType: Type.Enum(['bsn']),
  identifier: Type.String({ format: 'rsin', minLength: 9, maxLength: 9 }),
})
const Kvk = Type.Object({ identifierType: Type.Enum(['kvkNummer']), identifier: Text(8, { minLength: 1 }) })
const REPRESENTEES: Record<string, TObject> = { bsn: Bsn, kvkNummer: Kvk }
/** As `Part`, but nothing is added where it is absent: a context is kept as it came. */
const Given = <T extends TObject>(schema: T) => Type.Optional(Type.Unsafe<Static<T> | null>(Nullable(schema)))
const Identifier = Type.Object({
  identifierType: Type.Enum(['bsn', 'kvkNummer']),
  identifier: Text(9, { minLength: 1 }),
})
const Eherkenning = Type.Object({
  source: Type.Enum(['eherkenning']),
  levelOfAssurance: Type.Enum(LEVELS[1]),
  actingSubject: Text(100, { minLength: 1 }),
  representee: Given(Identifier),
  mandate: Given(
    Type.Object({
      role: Type.Optional(Type.Enum(['bewindvoerder', 'curator', 'mentor', ''])),
      services: Type.Array(
        Type.Object({ id: Text(undefined, { minLength: 1 }), uuid: Type.String({ format: 'uuid' }) }),
        {
          minItems: 1,
        },
      ),
    }),
  ),
})
/** authenticatieContext by betrokkeneType; others have none. */
export const CONTEXTEN: Record<string, TObject> = {
  natuurlijk_persoon: Type.Object({
    source: Type.Enum(['digid']),
    levelOfAssurance: Type.Enum(LEVELS[0]),
    representee: Given(Bsn),
    mandate: Given(
      Type.Object({ services: Type.Array(Type.Object({ id: Text(undefined, { minLength: 1 }) }), { minItems: 1 }) }),
    ),
  }),
  niet_natuurlijk_persoon: Eherkenning,
  vestiging: Eherkenning,
}

/**
 * Reads an object within a body by the schema that another field chose.
 * @returns the value, or its faults under `name`
 */
export function readPart(
  schema: TObject,
  value: unknown,
  name: string,
): { value: object | null; faults: InvalidParam[] } {
  if (value === null || value === undefined) return { value: null, faults: [] }
  try {
    const read = readInput(schema, value) as Record<string, unknown>
    if (Buffer.byteLength(JSON.stringify(read)) <= LIMITS.identificatieBytes) return { value: read, faults: [] }
    const reason = `Dit gegeven is als JSON ten hoogste ${LIMITS.identificatieBytes} bytes.`
    return { value: null, faults: [fault(name, 'max_length', reason)] }
  } catch (error) {
    if (!(error instanceof Problem) || !error.invalidParams) throw error
    return {
      value: null,
      faults: error.invalidParams.map((one) => ({
        ...one,
        name: one.name === 'nonFieldErrors' ? name : `${name}.${one.name}`,
      })),
    }
  }
}

/** The number of who is represented, by its kind: a BSN has nine digits that fit. */
export function representeeFaults(context: object | null, name: string): InvalidParam[] {
  const { representee } = (context ?? {}) as { representee?: { identifierType: string } | null }
  const shape = representee && REPRESENTEES[representee.identifierType]
  return shape ? readPart(shape, representee, `${name}.representee`).faults : []
}

/** The shape that a number of the population register has. */
export function aNummerFault(identificatie: object | null, name: string): InvalidParam[] {
  const { inpA_nummer: given } = (identificatie ?? {}) as { inpA_nummer?: string }
  if (!given || /^[1-9][0-9]{9}$/.test(given)) return []
  return [
    {
      name: `${name}.inpA_nummer`,
      code: 'a-nummer-incorrect-format',
      reason: 'Een A-nummer heeft tien cijfers en begint niet met een nul.',
    },
  ]
}
