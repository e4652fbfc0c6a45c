// What a row of an import needs to become a document: the checks of a row by itself, of its type and file, and against the rows
// and documents before it.
import { randomUUIDv7 } from 'node:crypto'
import { sql } from 'kysely'
import type { Config } from '../../config.ts'
import { LIMITS } from '../../core/limits.ts'
import { type InvalidParam, Problem } from '../../core/problem.ts'
import type { Db } from '../../database/database.ts'
import { readInput } from '../../http/input.ts'
import { localUuidAt } from '../../http/links.ts'
import { Metagegevens } from '../document/columns.ts'
import { gebruiksrechtFault, statusFault } from '../rules.ts'
import { publishedFault } from '../type.ts'
import { columnOf, rowToDocument, valuesOf } from './columns.ts'
import { isNdjson, lineToDocument } from './ndjson.ts'

export type ReadRow = {
  number: number
  uuid: string | null
  bestandspad: string
  zaakUuid: string | null
  input: Metagegevens
}
export type TypedRow = ReadRow & { uuid: string; typeId: number; vertrouwelijkheidaanduiding: string }
type StoredFile = { key: string; size: number; sha256: string }
/** A row of which nothing but its file can be at fault, and what became of that. */
export type Candidate = TypedRow & { bestand: StoredFile | { fout: string } }
export type WithFile = TypedRow & { bestand: StoredFile }
/** Whether its file was copied; otherwise the row carries what is wrong with it. */
export function hasFile(row: Candidate): row is WithFile {
  return 'key' in row.bestand
}

/**
 * The checks that need nothing but the row: the same fields and rules as a regular create.
 * @param row.line its number in the file, for people
 */
export function readRow(
  header: string[],
  cells: string[],
  { number, line = number }: { number: number; line?: number },
): ReadRow | { fout: string } {
  const values = valuesOf(header, cells, line)
  if ('fout' in values) return values
  const document = isNdjson(header) ? lineToDocument(values.rij, cells.at(-1) ?? '') : rowToDocument(values.rij)
  if (!document) return { fout: `Rij ${line}: Dit is geen JSON-object van ten hoogste ${LIMITS.depth} niveaus.` }
  const { body, uuid, bestandspad, zaakUuid, cellFaults } = document
  const faults = cellFaults.map(({ kolom, reden }) => `${kolom}: ${reden}`)
  const skip = new Set<string>(cellFaults.map(({ kolom }) => kolom))
  const input = readFields(body, (fault) => {
    if (!skip.has(columnOf(fault.name))) faults.push(`${columnOf(fault.name)}: ${fault.reason}`)
  })
  if (bestandspad.includes('\0')) faults.push('bestandspad: Dit pad bevat een teken dat niet is toegestaan.')
  if (faults.length > 0 || !input) return { fout: faults.join(' ') }
  return { number, uuid, bestandspad, zaakUuid, input }
}

function readFields(body: Record<string, unknown>, report: (fault: InvalidParam) => void): Metagegevens | undefined {
  try {
    const input = readInput(Metagegevens, body)
    const faults = [...statusFault(input), ...gebruiksrechtFault(input)]
    faults.forEach(report)
    return input
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    error.invalidParams?.forEach(report)
    return undefined
  }
}

/** The checks of the type: one query, however many rows. */
export async function judgeTypes(
  db: Db,
  config: Config,
  base: string,
  rows: ReadRow[],
  faults: Map<number, string>,
): Promise<TypedRow[]> {
  const uuids = new Map<string, string | undefined>() // many rows have one type
  const typeUuid = (url: string) => {
    if (!uuids.has(url)) uuids.set(url, localUuidAt(url, base, config, 'informatieobjecttype'))
    return uuids.get(url)
  }
  const wanted = [...new Set(rows.flatMap(({ input }) => typeUuid(input.informatieobjecttype) ?? []))]
  if (wanted.length === 0) {
    for (const { number } of rows) faults.set(number, NO_TYPE)
    return []
  }
  const types = await db
    .selectFrom('informatieobjecttype')
    .where('uuid', 'in', wanted)
    .select(['id', 'uuid', 'concept', 'vertrouwelijkheidaanduiding'])
    .execute()
  const typeByUuid = new Map(types.map((type) => [type.uuid, type]))
  return rows.flatMap((row) => {
    const { number, uuid, input } = row
    const type = typeByUuid.get(typeUuid(input.informatieobjecttype) ?? '')
    const fault = type ? publishedFault(type, config).map(({ name, reason }) => `${name}: ${reason}`)[0] : NO_TYPE
    if (!type || fault) {
      faults.set(number, fault ?? NO_TYPE)
      return []
    }
    return {
      ...row,
      uuid: uuid ?? randomUUIDv7(),
      typeId: type.id,
      vertrouwelijkheidaanduiding: input.vertrouwelijkheidaanduiding || type.vertrouwelijkheidaanduiding,
    }
  })
}

const NO_TYPE = 'informatieobjecttype: Dit informatieobjecttype bestaat niet.'

const EXISTS = {
  uuid: 'uuid: Er bestaat al een document met deze uuid; dat blijft ongewijzigd.',
  identificatie: 'identificatie: Deze identificatie bestaat al binnen de bronorganisatie.',
}

/** A key for the number of a document, which is unique within its bronorganisatie. */
export const numberKey = ({ bronorganisatie, identificatie }: { bronorganisatie: string; identificatie?: string }) =>
  `${bronorganisatie} ${identificatie}`

type Taken = { uuids: Set<string>; nummers: Set<string> }

/** Which of the uuids and numbers of these rows the register holds already. */
export async function existing(db: Db, rows: { uuid: string; input: Metagegevens }[]): Promise<Taken> {
  const uuids = rows.map(({ uuid }) => uuid)
  const numbered = rows.filter(({ input }) => input.identificatie)
  const found = await sql<{ uuid: string; bronorganisatie: string; identificatie: string }>`
    select uuid, bronorganisatie, identificatie from enkelvoudiginformatieobject where uuid = any(${uuids}::uuid[])
    union
    select uuid, bronorganisatie, identificatie from enkelvoudiginformatieobject
    where (identificatie, bronorganisatie) in (
      select * from unnest(${numbered.map(({ input }) => input.identificatie)}::text[], ${numbered.map(({ input }) => input.bronorganisatie)}::text[]))`.execute(
    db,
  )
  return { uuids: new Set(found.rows.map(({ uuid }) => uuid)), nummers: new Set(found.rows.map(numberKey)) }
}

/** What a row has in common with documents that exist; undefined when it is new. */
export function conflict({ uuid, input }: TypedRow, { uuids, nummers }: Taken): string | undefined {
  const faults: string[] = []
  if (uuids.has(uuid)) faults.push(EXISTS.uuid)
  if (input.identificatie && nummers.has(numberKey(input))) faults.push(EXISTS.identificatie)
  return faults.length > 0 ? faults.join(' ') : undefined
}

const sizeFault = (size: number | '#') => `bestandsomvang: Het bestand is ${size} bytes groot.`

/** Why rows failed, for people. Where rows differ in the size of their files only, the database keeps `#` (`import_reason`). */
export const sharedReason = (reason: string): string =>
  reason.replaceAll(sizeFault('#'), 'bestandsomvang: Het bestand is groter of kleiner dan hier staat.')

/** Holds a copied file against the size and checksum that its row states. Without `controle` there is no checksum to compare. */
export function contentFaults(input: Metagegevens, { size, controle }: { size: number; controle?: string }): string[] {
  const faults: string[] = []
  if (typeof input.bestandsomvang === 'number' && input.bestandsomvang !== size) {
    faults.push(sizeFault(size))
  }
  const stated = input.integriteit?.waarde?.trim().toLowerCase()
  if (stated && controle !== undefined && stated !== controle) {
    faults.push('integriteit.waarde: Deze waarde hoort niet bij het bestand.')
  }
  return faults
}

/** The rows that name a case. */
export const withZaak = <R extends { zaakUuid: string | null }>(rows: R[]) =>
  rows.filter((row): row is R & { zaakUuid: string } => row.zaakUuid !== null)

/** Which of the rows may become documents when each is held against the register and the rows before it. */
export function judgeInOrder(rows: Candidate[], { uuids, nummers }: Taken, zaakFaults: Map<number, string>) {
  const taken = { uuids: new Set(uuids), nummers: new Set(nummers) }
  const accepted: WithFile[] = []
  const refused: [number, string][] = []
  for (const row of rows) {
    const { number, uuid, input, bestand } = row
    const fault = conflict(row, taken) ?? zaakFaults.get(number) ?? ('fout' in bestand ? bestand.fout : undefined)
    if (fault) refused.push([number, fault])
    else if (hasFile(row)) {
      accepted.push(row)
      taken.uuids.add(uuid)
      if (input.identificatie) taken.nummers.add(numberKey(input))
    }
  }
  return { accepted, refused }
}
