import { notFound } from '../../core/problem.ts'
import type { Vertrouwelijkheidaanduiding } from '../../core/vertrouwelijkheidaanduiding.ts'
import type { Reader } from '../../database/database.ts'
import { lastOf } from '../../database/rows.ts'
import { placeOf } from './columns.ts'
import { FIRST_ROW } from './prepare.ts'
import { IMPORTED, NOT_IMPORTED, type ReportLine } from './report.ts'
import { type ImportRow, rowsOf } from './rows.ts'

/** Rows above it are not for who asks. */
export type Level = Vertrouwelijkheidaanduiding

/** Where a row tells how confidential it is: its own column, and that of its type. */
export const levelPlaces = (header: string[]): readonly [number, number] => [
  placeOf(header, 'vertrouwelijkheidaanduiding'),
  placeOf(header, 'informatieobjecttype'),
]

// As many rows are read at once, but one when it is larger than that by itself.
const PAGE = 2000
const PAGE_BYTES = 1024 * 1024

/**
 * The rows of a report in the order of the file, read in stretches. Rows without a result are those that an import
 * which stopped did not get to: the batch that was in progress, and the rest that was never tried.
 * @param options.which only those that were refused (`mislukt`), or also those that were not tried (`rest`)
 * @param options.shows is told of each document that a row became
 * @param options.level rows above it keep their place, and nothing of what they hold
 */
export async function* reportRows(
  { sql }: Reader,
  row: ImportRow,
  options: {
    toegekend: boolean
    which?: 'mislukt' | 'rest' | undefined
    level?: Level | undefined
    shows?: (document: string) => void
  },
): AsyncGenerator<ReportLine> {
  if (row.total === 0) return
  const header = row.header as string[]
  const columns = { uuid: placeOf(header, 'uuid'), identificatie: placeOf(header, 'identificatie') }
  const [level, type] = levelPlaces(header)
  const reden = row.reason ?? 'De import is gestopt.'
  const inProgress = row.processed + (row.batchSize ?? 0) + 2 // first row number behind the batch in progress
  let after = 0
  for (;;) {
    const rows = await sql<Outcome[]>`
      select number, cells, succeeded, remark, document_uuid, identificatie,
        coalesce(level_of_import_row(cells, document_uuid, ${level}, ${type}) > ${options.level ?? null}::text::vertrouwelijkheidaanduiding, false) as hidden
      from (
        select r.*, sum(bytes) over (order by number) - bytes as before from (
          select r.number, r.cells, r.bytes, u.succeeded, u.remark, u.document_uuid, u.identificatie
          from import_row r left join import_outcome u on u.import_id = ${row.id} and u.number = r.number
          where r.import_id = ${rowsOf(row)} and r.number > ${after} order by r.number limit ${PAGE}
        ) r) r where before < ${PAGE_BYTES} order by number`
    if (rows.length === 0) break
    for (const { number, cells, succeeded, remark, document_uuid, identificatie, hidden } of rows) {
      if (number !== (after || FIRST_ROW - 1) + 1) throw removed(after)
      after = number
      if (options.which === 'mislukt' ? succeeded !== false : options.which === 'rest' && succeeded) continue
      if (hidden) {
        const opmerking = 'Deze rij is vertrouwelijker dan u mag zien.'
        yield { cells: cells.map(() => ''), resultaat: succeeded ? IMPORTED : NOT_IMPORTED, opmerking }
        continue
      }
      if (document_uuid) options.shows?.(document_uuid)
      if (options.toegekend && succeeded) {
        while (cells.length < header.length) cells.push('') // empty cells at the end may be missing
        cells[columns.uuid] ||= document_uuid ?? ''
        cells[columns.identificatie] ||= identificatie ?? ''
      }
      yield {
        cells,
        resultaat: succeeded ? IMPORTED : NOT_IMPORTED,
        opmerking:
          remark ??
          (number < inProgress
            ? `De batch met deze rij is niet verwerkt: ${reden}`
            : `Deze rij is niet geprobeerd: ${reden}`),
      }
    }
  }
  if (after !== row.total + FIRST_ROW - 1) throw removed(after)
}

/** The import was deleted while it was read: a report that breaks off is better than one that looks complete. */
const removed = (after: number) => (after === 0 ? notFound() : new Error('the rows of this import are being removed'))

/**
 * The original cells of the rows that did not become a document, in the order of the file: those that failed, and of an
 * import that stopped also those behind its last batch.
 * @param level those above it are left out
 */
export async function* failedRows({ sql }: Reader, row: ImportRow, level?: Level): AsyncGenerator<string[]> {
  const { id, processed, header } = row
  const rowsId = rowsOf(row)
  const [place, type] = levelPlaces(header as string[])
  const hidden = sql`coalesce(
    level_of_import_row(cells, null, ${place}, ${type}) > ${level ?? null}::text::vertrouwelijkheidaanduiding, false) as hidden`
  const position = processed + 1 // number of the last row that was handled
  const failed = (after: number) => sql<Row[]>`
    select number, cells, ${hidden} from (
      select r.*, sum(bytes) over (order by number) - bytes as before from (
        select r.number, r.cells, r.bytes
        from import_row r join import_outcome u on r.import_id = ${rowsId} and u.number = r.number
        where u.import_id = ${id} and not u.succeeded and u.number > ${after} order by u.number limit ${PAGE}
      ) r) r where before < ${PAGE_BYTES} order by number`
  const untried = (after: number) => sql<Row[]>`
    select number, cells, ${hidden} from (
      select r.*, sum(bytes) over (order by number) - bytes as before from (
        select number, cells, bytes from import_row
        where import_id = ${rowsId} and number > ${Math.max(after, position)} order by number limit ${PAGE}
      ) r) r where before < ${PAGE_BYTES} order by number`
  for (const read of [failed, untried]) {
    for (let after = 0; ; ) {
      const rows = await read(after)
      if (rows.length === 0) break
      for (const { cells, hidden } of rows) if (!hidden) yield cells
      after = lastOf(rows).number
    }
  }
}

type Row = { number: number; cells: string[]; hidden: boolean }
type Outcome = Row & {
  succeeded: boolean | null
  remark: string | null
  document_uuid: string | null
  identificatie: string | null
}
