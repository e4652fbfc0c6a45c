// The columns of an import CSV. One table says which there are, in the order of the documentation, which field of a document each
// fills, and how its text is read. `insertRows` binds them.
import type { FieldCode } from '../../core/codes.ts'
import { isUuid } from '../../lib/uuid.ts'
import type { Metagegevens } from '../document/columns.ts'

type Column =
  /** The text is the value, for the schema of a create to judge; an empty cell is an absent field. */
  | { kind: 'text' }
  /** The same, for a day: as the standard writes it, or day first. */
  | { kind: 'date' }
  /** What `read` makes of the text, which is undefined where `reason` refuses it. */
  | { kind: 'value'; read: (text: string) => unknown; reason: string; emptyIsAbsent?: boolean }
  /** A part of a group, which stands before the dot. `empty` is what an empty cell means when another part is filled. */
  | { kind: 'part'; empty: '' | null; date?: true }
  /** What only an import has. */
  | { kind: 'own' }

type Group = 'ondertekening' | 'integriteit'
/** Fields that only clients of the API set. */
type NotImported = 'inhoudIsVervallen' | 'tonenAanInitiator' | 'isGereedVoorPublicatie'
type Parts<G extends Group> = `${G}.${keyof NonNullable<Metagegevens[G]> & string}`
type Field = Exclude<keyof Metagegevens, Group | NotImported> | Parts<'ondertekening'> | Parts<'integriteit'>

const text = { kind: 'text' } as const
const own = { kind: 'own' } as const
/** The schema of the create judges what `toDate` makes of it. */
const date = { kind: 'date' } as const

/** A field of a document without a column does not compile, nor does a column that is no field. A file may have them in any order. */
const COLUMNS = {
  uuid: own,
  identificatie: text,
  bronorganisatie: text,
  creatiedatum: date,
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
  ontvangstdatum: date,
  verzenddatum: date,
  indicatieGebruiksrecht: {
    kind: 'value',
    read: toGebruiksrecht,
    reason: 'Dit is geen true of false (ook goed: waar, onwaar, ja, nee, 1 en 0).',
  },
  verschijningsvorm: text,
  'ondertekening.soort': { kind: 'part', empty: '' },
  'ondertekening.datum': { kind: 'part', empty: null, date: true }, // an empty one the create refuses
  'integriteit.algoritme': { kind: 'part', empty: '' },
  'integriteit.waarde': { kind: 'part', empty: '' },
  'integriteit.datum': { kind: 'part', empty: null, date: true },
  informatieobjecttype: text,
  zaakUuid: own,
  trefwoorden: { kind: 'value', read: toTrefwoorden, reason: '' }, // any text is a list
} satisfies Record<Field | 'uuid' | 'bestandspad' | 'zaakUuid', Column>

export type ColumnName = keyof typeof COLUMNS
export const COLUMN_NAMES = Object.keys(COLUMNS) as ColumnName[]

// Sorted out once: this is read for every row.
const LISTED = COLUMN_NAMES.map((kolom): { kolom: ColumnName; column: Column } => ({ kolom, column: COLUMNS[kolom] }))
const TEXTS = LISTED.flatMap(({ kolom, column }) => (column.kind === 'text' || column.kind === 'date' ? kolom : []))
/** Those that hold a day. */
export const DATES = LISTED.flatMap(({ kolom, column }) =>
  column.kind === 'date' || (column.kind === 'part' && column.date) ? kolom : [],
)
const VALUES = LISTED.flatMap(({ kolom, column }) => (column.kind === 'value' ? { kolom, ...column } : []))
const GROUPS = Map.groupBy(
  LISTED.flatMap(({ kolom, column }) => {
    const [group = '', name = ''] = kolom.split('.')
    return column.kind === 'part' ? { kolom, group, name, empty: column.empty } : []
  }),
  ({ group }) => group,
)

/** The cells of one row by the name of their column, as supplied. */
export type CsvRow = Record<ColumnName, string>

export type ColumnFault = { kolom: ColumnName; code: FieldCode; reden: string }

/** A file without one of these for a row has no document there: a row that ends before one of them was cut off. */
const REQUIRED = new Set<ColumnName>([
  'bronorganisatie',
  'creatiedatum',
  'titel',
  'auteur',
  'taal',
  'bestandspad',
  'informatieobjecttype',
])

const BY_LOWER_CASE = new Map(COLUMN_NAMES.map((column) => [column.toLowerCase(), column]))

/** The column that a name of a header stands for: in any case, with blanks around it. */
export function columnNamed(naam: string): ColumnName | undefined {
  return BY_LOWER_CASE.get(naam.trim().toLowerCase())
}

/** Where the columns of a header are. `twice` are the names that are there more than once. */
type Places = { places: Map<ColumnName, number>; twice: string[] }
const placesByHeader = new WeakMap<string[], Places>()

/**
 * A name that is exactly that of a column goes before one that differs in case or blanks, which then is a further column. Columns
 * without a name may be there any number of times.
 */
export function placesOf(header: string[]): Places {
  const known = placesByHeader.get(header)
  if (known) return known
  const exact = new Set(header)
  const places = new Map<ColumnName, number>()
  const others = new Set<string>()
  const twice = new Set<string>()
  header.forEach((naam, place) => {
    const column = columnNamed(naam)
    if (column && (column === naam || !exact.has(column))) {
      if (places.has(column)) twice.add(column)
      else places.set(column, place)
    } else if (naam !== '') {
      if (others.has(naam)) twice.add(naam)
      others.add(naam)
    }
  })
  const found = { places, twice: [...twice] }
  placesByHeader.set(header, found)
  return found
}

/** The place of a column in a header; -1 when it is not there. */
export function placeOf(header: string[], column: ColumnName): number {
  return placesOf(header).places.get(column) ?? -1
}

/** Whether a row has nothing in it, as spreadsheets leave them behind: no cell, or only blanks. */
export function isEmptyRow(cells: string[]): boolean {
  return cells.every((cell) => cell === '' || cell.trim() === '')
}

/**
 * The row as the 27 columns; further columns are left out. Programs leave empty cells at the end of a row away, so cells that are
 * missing there are empty, and empty ones too many say nothing. A row with more values than the header, or that ends before a required column, is refused: with one
 * comma too many or too few, values stand under the wrong names. Blanks around a value are dropped, but for the path of a
 * file, whose name may have them.
 *
 * @param number of the row in its file
 */
export function valuesOf(header: string[], cells: string[], number: number): { rij: CsvRow } | { fout: string } {
  const { places } = placesOf(header)
  if (!isEmptyRow(cells.slice(header.length))) return wrongCount('te veel', header, cells, number)
  const row: Partial<CsvRow> = {}
  for (const [column, place] of places) {
    const cell = cells[place]
    if (cell === undefined && REQUIRED.has(column)) return wrongCount('te weinig', header, cells, number)
    row[column] = column === 'bestandspad' ? cell : (cell ?? '').trim()
  }
  return { rij: row as CsvRow }
}

function wrongCount(which: string, header: string[], cells: string[], number: number): { fout: string } {
  return { fout: `Rij ${number}: ${which} waarden (${cells.length}, de kopregel heeft er ${header.length}).` }
}

export type RowAsDocument = {
  /** For the schema of a regular create, whose rules are not repeated here. */
  body: Record<string, unknown>
  uuid: string | null
  bestandspad: string
  zaakUuid: string | null
  /** The columns whose text cannot be turned into a value at all; the body lacks them. */
  cellFaults: ColumnFault[]
}

/**
 * The row as the body of a regular create plus what only an import has. An empty cell is an absent field, so that the
 * create decides whether that is allowed and what the default is.
 */
export function rowToDocument(row: CsvRow): RowAsDocument {
  const cellFaults: ColumnFault[] = []
  const body: Record<string, unknown> = {}
  for (const column of TEXTS) if (row[column] !== '') body[column] = row[column]

  // What names a type has become its URL before (type-names.ts).
  if (row.informatieobjecttype !== '' && !/^https?:/i.test(row.informatieobjecttype)) {
    delete body.informatieobjecttype
    cellFaults.push(invalidCell('informatieobjecttype', NO_NAME))
  }

  for (const column of COLUMN_NAMES) {
    const reason = spoiltCell(column, row[column])
    if (reason === undefined) continue
    cellFaults.push(invalidCell(column, reason))
    delete body[column]
  }

  const days: Partial<CsvRow> = {}
  for (const column of DATES) {
    if (row[column] === '' || isErrorCell(row[column])) continue
    const day = toDate(row[column])
    if ('reason' in day) cellFaults.push(invalidCell(column, day.reason))
    else days[column] = day.value
    if (column in body) {
      if ('reason' in day) delete body[column]
      else body[column] = day.value
    }
  }

  for (const { kolom, read, reason, emptyIsAbsent } of VALUES) {
    if ((emptyIsAbsent && row[kolom] === '') || isErrorCell(row[kolom])) continue
    const value = read(row[kolom])
    if (value === undefined) cellFaults.push(invalidCell(kolom, reason))
    else body[kolom] = value
  }
  for (const [group, parts] of GROUPS) body[group] = toGroup(parts, { ...row, ...days })

  const uuid = toUuid(row.uuid)
  if (uuid === undefined) cellFaults.push(invalidCell('uuid', 'Dit is geen geldige UUID.'))
  if (row.bestandspad === '')
    cellFaults.push({ kolom: 'bestandspad', code: 'required', reden: 'Dit veld is verplicht.' })
  const zaakUuid = toUuid(row.zaakUuid)
  if (zaakUuid === undefined) cellFaults.push(invalidCell('zaakUuid', 'Dit is geen geldige UUID.'))

  return { body, uuid: uuid ?? null, bestandspad: row.bestandspad, zaakUuid: zaakUuid ?? null, cellFaults }
}

/** Whether a line is the header of an import, rather than a title above it or rows of something else. */
export function hasColumnsOfImport(cells: string[]): boolean {
  const { places } = placesOf(cells)
  return places.has('bestandspad') && places.size > 1
}

/** What a cell of a workbook reads as that has a formula without its outcome. */
export const NO_OUTCOME = '#FORMULE'

/** What spreadsheets put into a cell that they cannot calculate, in English and in Dutch. */
const ERROR_CELLS = new Set(
  (
    '#N/A #N/B #NAME? #NAAM? #REF! #VERW! #VALUE! #WAARDE! #DIV/0! #DEEL/0! #NUM! #GETAL! #NULL! #LEEG! ' +
    '#SPILL! #OVERLOOP! #CALC! #BEREKENEN! #FIELD! #VELD! #BLOCKED! #GEBLOKKEERD! #CONNECT! #VERBINDEN!'
  ).split(' '),
)
const isErrorCell = (text: string): boolean =>
  text.startsWith('#') && (text === NO_OUTCOME || ERROR_CELLS.has(text.toUpperCase()))

/** What a spreadsheet did to a cell, so that it is not what was meant; undefined when nothing shows. */
function spoiltCell(column: ColumnName, text: string | undefined): string | undefined {
  if (!text) return undefined
  if (text === NO_OUTCOME)
    return 'Hier staat een formule zonder opgeslagen uitkomst. Open de werkmap in Excel en sla haar op, of typ de waarde.'
  if (isErrorCell(text)) return `Hier staat een foutwaarde van een spreadsheet (${text}). Herstel de cel.`
  if (column === 'identificatie' && /^-?\d([.,]\d+)?E\+\d+$/i.test(text))
    return `Een spreadsheet heeft dit nummer ingekort (${text}): de cijfers zijn weg. Maak de kolom op als tekst.`
  if (column === 'bronorganisatie' && /^\d{8}$/.test(text))
    return 'Een RSIN heeft negen cijfers, hier staan er acht. Is een nul vooraan weggevallen? Maak de kolom op als tekst.'
  return undefined
}

const invalidCell = (kolom: ColumnName, reden: string): ColumnFault => ({ kolom, code: 'invalid', reden })

const NO_NAME =
  'Zo heet geen geldig informatieobjecttype, of meer dan een. Zet het domein van de catalogus erachter, zoals Brief (DEMO), of geef de URL.'

/** As JSON, as spreadsheets write it in English and in Dutch, and as people do. */
const BOOLEANS = new Map([
  ...['true', 'waar', 'ja', '1'].map((word) => [word, true] as const),
  ...['false', 'onwaar', 'nee', '0'].map((word) => [word, false] as const),
])

function toGebruiksrecht(text: string): boolean | null | undefined {
  return text === '' ? null : BOOLEANS.get(text.toLowerCase())
}

/**
 * A day that is written day first, as spreadsheets save it in Dutch, becomes `JJJJ-MM-DD`; other text stays as it is, for the create to
 * judge. A time behind it, which spreadsheets add by themselves, is dropped; one in another time zone may be of another day, and stays.
 */
function toDate(written: string): { value: string } | { reason: string } {
  const text = written.replace(/^(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4})[T ]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?$/, '$1')
  const [, day = '', month = '', year = ''] = /^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}|\d{2})$/.exec(text) ?? []
  if (day === '') return { value: text }
  if (year.length === 2)
    return {
      reason: 'Schrijf het jaar met vier cijfers: 2024-05-01 of 1-5-2024. Van twee cijfers is de eeuw niet zeker.',
    }
  const value = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  const time = Date.parse(`${value}T00:00:00Z`)
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== value)
    return { reason: 'Deze datum bestaat niet. De dag staat voorop: 1-5-2024 is 1 mei 2024.' }
  return { value }
}

function toInteger(text: string): number | undefined {
  const number = Number(text)
  return /^-?\d+$/.test(text) && Number.isSafeInteger(number) ? number : undefined
}

/** One filled column makes a group that has to be complete; what is empty in it is left for the create to refuse. */
function toGroup(parts: { kolom: ColumnName; name: string; empty: '' | null }[], row: CsvRow): object | null {
  if (parts.every(({ kolom }) => row[kolom] === '')) return null
  return Object.fromEntries(parts.map(({ kolom, name, empty }) => [name, row[kolom] || empty]))
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
export function columnOf(fieldName: string): string {
  return fieldName.startsWith('trefwoorden.') ? 'trefwoorden' : fieldName
}
