// The columns of an import CSV. One table says which there are, in the order of the documentation, which field of a document each
// fills, and how its text is read. `insertRows` binds them.
import { isUuid } from '../../lib/uuid.ts'
import type { Metagegevens } from '../document/columns.ts'

type Column =
  /** The text is the value, for the schema of a create to judge; an empty cell is an absent field. */
  | { kind: 'text' }
  /** What `read` makes of the text, which is undefined where `reason` refuses it. */
  | { kind: 'value'; read: (text: string) => unknown; reason: string; emptyIsAbsent?: boolean }
  /** A part of a group, which stands before the dot. `empty` is what an empty cell means when another part is filled. */
  | { kind: 'part'; empty: '' | null }
  /** What only an import has. */
  | { kind: 'own' }

type Group = 'ondertekening' | 'integriteit'
/** Fields that only clients of the API set. */
type NotImported = 'inhoudIsVervallen' | 'tonenAanInitiator' | 'isGereedVoorPublicatie'
type Parts<G extends Group> = `${G}.${keyof NonNullable<Metagegevens[G]> & string}`
type Field = Exclude<keyof Metagegevens, Group | NotImported> | Parts<'ondertekening'> | Parts<'integriteit'>

const text = { kind: 'text' } as const
const own = { kind: 'own' } as const

/** A field of a document without a column does not compile, nor does a column that is no field. A file may have them in any order. */
const COLUMNS = {
  uuid: own,
  identificatie: text,
  bronorganisatie: text,
  creatiedatum: text,
  titel: text,
  vertrouwelijkheidaanduiding: text,
  auteur: text,
  status: text,
  formaat: text,
  taal: text,
  bestandsnaam: text,
  bestandsomvang: { kind: 'value', read: toInteger, reason: 'Dit is geen geheel getal.', emptyIsAbsent: true },
  bestandspad: own,
  link: text,
  beschrijving: text,
  ontvangstdatum: text,
  verzenddatum: text,
  indicatieGebruiksrecht: { kind: 'value', read: toGebruiksrecht, reason: 'Dit is geen true of false.' },
  verschijningsvorm: text,
  'ondertekening.soort': { kind: 'part', empty: '' },
  'ondertekening.datum': { kind: 'part', empty: null }, // which the create refuses
  'integriteit.algoritme': { kind: 'part', empty: '' },
  'integriteit.waarde': { kind: 'part', empty: '' },
  'integriteit.datum': { kind: 'part', empty: null },
  informatieobjecttype: text,
  zaakUuid: own,
  trefwoorden: { kind: 'value', read: toTrefwoorden, reason: '' }, // any text is a list
} satisfies Record<Field | 'uuid' | 'bestandspad' | 'zaakUuid', Column>

export type Kolom = keyof typeof COLUMNS
export const KOLOMMEN = Object.keys(COLUMNS) as Kolom[]

// Sorted out once: this is read for every row.
const LISTED = KOLOMMEN.map((kolom): { kolom: Kolom; column: Column } => ({ kolom, column: COLUMNS[kolom] }))
const TEXTS = LISTED.flatMap(({ kolom, column }) => (column.kind === 'text' ? kolom : []))
const VALUES = LISTED.flatMap(({ kolom, column }) => (column.kind === 'value' ? { kolom, ...column } : []))
const GROUPS = Map.groupBy(
  LISTED.flatMap(({ kolom, column }) => {
    const [group = '', name = ''] = kolom.split('.')
    return column.kind === 'part' ? { kolom, group, name, empty: column.empty } : []
  }),
  ({ group }) => group,
)

/** The cells of one row by the name of their column, as supplied. */
export type Rij = Record<Kolom, string>

export type ColumnFault = { kolom: Kolom; code: string; reden: string }

const isColumn = new Set<string>(KOLOMMEN)

/**
 * The row as the 27 columns; further columns are left out. A row that does not have exactly as many values as the header
 * is refused: with one comma too many or too few, values stand under the wrong names. Blanks around a value are dropped, but
 * for the path of a file, whose name may have them.
 *
 * @param nummer counts records and includes the header: the first row is 2
 */
export function valuesOf(kop: string[], cellen: string[], nummer: number): { rij: Rij } | { fout: string } {
  if (cellen.length !== kop.length) {
    const which = cellen.length < kop.length ? 'te weinig waarden' : 'te veel waarden'
    return { fout: `Rij ${nummer}: ${which} (${cellen.length}, de kopregel heeft er ${kop.length}).` }
  }
  const rij: Partial<Record<string, string>> = {}
  kop.forEach((naam, i) => {
    if (isColumn.has(naam)) rij[naam] = naam === 'bestandspad' ? cellen[i] : cellen[i]?.trim()
  })
  return { rij: rij as Rij }
}

export type RowAsDocument = {
  /** For the schema of a regular create, whose rules are not repeated here. */
  body: Record<string, unknown>
  uuid: string | null
  bestandspad: string
  zaakUuid: string | null
  /** The columns whose text cannot be turned into a value at all; the body lacks them. */
  fouten: ColumnFault[]
}

/**
 * The row as the body of a regular create plus what only an import has. An empty cell is an absent field, so that the
 * create decides whether that is allowed and what the default is.
 */
export function rowToDocument(rij: Rij): RowAsDocument {
  const fouten: ColumnFault[] = []
  const body: Record<string, unknown> = {}
  for (const kolom of TEXTS) if (rij[kolom] !== '') body[kolom] = rij[kolom]

  // What names a type has become its URL before (type-names.ts).
  if (rij.informatieobjecttype !== '' && !/^https?:/i.test(rij.informatieobjecttype)) {
    delete body.informatieobjecttype
    fouten.push(invalidCell('informatieobjecttype', GEEN_NAAM))
  }

  for (const { kolom, read, reason, emptyIsAbsent } of VALUES) {
    if (emptyIsAbsent && rij[kolom] === '') continue
    const value = read(rij[kolom])
    if (value === undefined) fouten.push(invalidCell(kolom, reason))
    else body[kolom] = value
  }
  for (const [group, parts] of GROUPS) body[group] = toGroup(parts, rij)

  const uuid = toUuid(rij.uuid)
  if (uuid === undefined) fouten.push(invalidCell('uuid', 'Dit is geen geldige UUID.'))
  if (rij.bestandspad === '') fouten.push({ kolom: 'bestandspad', code: 'required', reden: 'Dit veld is verplicht.' })
  const zaakUuid = toUuid(rij.zaakUuid)
  if (zaakUuid === undefined) fouten.push(invalidCell('zaakUuid', 'Dit is geen geldige UUID.'))

  return { body, uuid: uuid ?? null, bestandspad: rij.bestandspad, zaakUuid: zaakUuid ?? null, fouten }
}

const invalidCell = (kolom: Kolom, reden: string): ColumnFault => ({ kolom, code: 'invalid', reden })

const GEEN_NAAM =
  'Zo heet geen geldig informatieobjecttype, of meer dan een. Zet het domein van de catalogus erachter, zoals Brief (DEMO), of geef de URL.'

function toGebruiksrecht(text: string): boolean | null | undefined {
  if (text === '') return null
  if (text === 'true' || text === 'True') return true
  return text === 'false' || text === 'False' ? false : undefined
}

function toInteger(text: string): number | undefined {
  const number = Number(text)
  return /^-?\d+$/.test(text) && Number.isSafeInteger(number) ? number : undefined
}

/** One filled column makes a group that has to be complete; what is empty in it is left for the create to refuse. */
function toGroup(parts: { kolom: Kolom; name: string; empty: '' | null }[], rij: Rij): object | null {
  if (parts.every(({ kolom }) => rij[kolom] === '')) return null
  return Object.fromEntries(parts.map(({ kolom, name, empty }) => [name, rij[kolom] || empty]))
}

/** Quotes in the cell itself are left out. Nothing is trimmed; an empty word is kept, for the create to refuse. */
function toTrefwoorden(text: string): string[] {
  const words = text.replaceAll('"', '')
  return words === '' ? [] : words.split(',')
}

/** Any version and either case, as RFC 9562 asks of readers. */
function toUuid(text: string): string | null | undefined {
  if (text === '') return null
  return isUuid(text) ? text.toLowerCase() : undefined
}

/** The column that a name in invalidParams stands for: the same, but for the single words of trefwoorden. */
export function columnOf(veldnaam: string): string {
  return veldnaam.startsWith('trefwoorden.') ? 'trefwoorden' : veldnaam
}
