import { isUuid } from '../../http/uuid.ts'
/** The columns that every import CSV has, in the order of the documentation; a file may have them in any order. */
export const KOLOMMEN = [
  'uuid',
  'identificatie',
  'bronorganisatie',
  'creatiedatum',
  'titel',
  'vertrouwelijkheidaanduiding',
  'auteur',
  'status',
  'formaat',
  'taal',
  'bestandsnaam',
  'bestandsomvang',
  'bestandspad',
  'link',
  'beschrijving',
  'ontvangstdatum',
  'verzenddatum',
  'indicatieGebruiksrecht',
  'verschijningsvorm',
  'ondertekening.soort',
  'ondertekening.datum',
  'integriteit.algoritme',
  'integriteit.waarde',
  'integriteit.datum',
  'informatieobjecttype',
  'zaakUuid',
  'trefwoorden',
] as const

export type Kolom = (typeof KOLOMMEN)[number]

/** The cells of one row by the name of their column, as supplied. */
export type Rij = Record<Kolom, string>

export type ColumnFault = { kolom: Kolom; code: string; reden: string }

const isColumn = new Set<string>(KOLOMMEN)

/**
 * The row as the 27 columns; further columns are left out. A row that does not have exactly as many values as the header
 * is refused: with one comma too many or too few, values stand under the wrong names.
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
    if (isColumn.has(naam)) rij[naam] = cellen[i]
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

const TEKSTEN = [
  'identificatie',
  'bronorganisatie',
  'creatiedatum',
  'titel',
  'vertrouwelijkheidaanduiding',
  'auteur',
  'status',
  'formaat',
  'taal',
  'bestandsnaam',
  'link',
  'beschrijving',
  'ontvangstdatum',
  'verzenddatum',
  'verschijningsvorm',
  'informatieobjecttype',
] as const

/**
 * The row as the body of a regular create plus what only an import has. An empty cell is an absent field, so that the
 * create decides whether that is allowed and what the default is.
 */
export function rowToDocument(rij: Rij): RowAsDocument {
  const fouten: ColumnFault[] = []
  const body: Record<string, unknown> = {}
  for (const naam of TEKSTEN) if (rij[naam] !== '') body[naam] = rij[naam]

  // What names a type has become its URL before (type-names.ts).
  if (rij.informatieobjecttype !== '' && !/^https?:/i.test(rij.informatieobjecttype)) {
    delete body.informatieobjecttype
    fouten.push(invalidCell('informatieobjecttype', GEEN_NAAM))
  }

  if (rij.bestandsomvang !== '') {
    const omvang = toInteger(rij.bestandsomvang)
    if (omvang === undefined) fouten.push(invalidCell('bestandsomvang', 'Dit is geen geheel getal.'))
    else body.bestandsomvang = omvang
  }

  const gebruiksrecht = GEBRUIKSRECHT.get(rij.indicatieGebruiksrecht)
  if (gebruiksrecht === undefined) fouten.push(invalidCell('indicatieGebruiksrecht', 'Dit is geen true of false.'))
  else body.indicatieGebruiksrecht = gebruiksrecht

  body.ondertekening = groupOf({ soort: rij['ondertekening.soort'], datum: rij['ondertekening.datum'] })
  body.integriteit = groupOf({
    algoritme: rij['integriteit.algoritme'],
    waarde: rij['integriteit.waarde'],
    datum: rij['integriteit.datum'],
  })
  body.trefwoorden = toTrefwoorden(rij.trefwoorden)

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

const GEBRUIKSRECHT = new Map<string, boolean | null>([
  ['', null],
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
])

function toInteger(text: string): number | undefined {
  const number = Number(text)
  return /^-?\d+$/.test(text) && Number.isSafeInteger(number) ? number : undefined
}

/** One filled column makes a group that has to be complete; an empty date in it is null, which the create refuses. */
function groupOf<T extends { datum: string }>(velden: T): (Omit<T, 'datum'> & { datum: string | null }) | null {
  if (Object.values(velden).every((waarde) => waarde === '')) return null
  return { ...velden, datum: velden.datum === '' ? null : velden.datum }
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
