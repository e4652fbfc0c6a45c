import type { Reader } from '../../database/database.ts'
import { lastOf } from '../../database/rows.ts'
import { placeOf } from './columns.ts'
import type { ReportLine } from './report.ts'
import type { ImportRow } from './rows.ts'

// As many rows are read at once, but one when it is larger than that by itself.
const PAGE = 2000
const PAGE_BYTES = 1024 * 1024

/**
 * The rows of a report in the order of the file, read in stretches. Rows without a result are those that an import
 * which stopped did not get to: the batch that was in progress, and the rest that was never tried.
 */
export async function* reportRows(
  { sql }: Reader,
  row: ImportRow,
  options: { toegekend: boolean },
): AsyncGenerator<ReportLine> {
  const header = row.kop as string[]
  const columns = { uuid: placeOf(header, 'uuid'), identificatie: placeOf(header, 'identificatie') }
  const reden = row.reason ?? 'De import is gestopt.'
  const inProgress = row.verwerkt + (row.batchSize ?? 0) + 2 // first row number behind the batch in progress
  let after = 0
  for (;;) {
    const rows = await sql<Outcome[]>`
      select nummer, cells, geslaagd, opmerking, document_uuid, identificatie from (
        select r.*, sum(omvang) over (order by nummer) - omvang as ervoor from (
          select r.nummer, r.cells, r.omvang, u.geslaagd, u.opmerking, u.document_uuid, u.identificatie
          from import_row r left join import_outcome u on u.import_id = r.import_id and u.nummer = r.nummer
          where r.import_id = ${row.id} and r.nummer > ${after} order by r.nummer limit ${PAGE}
        ) r) r where ervoor < ${PAGE_BYTES} order by nummer`
    if (rows.length === 0) break
    for (const { nummer, cells, geslaagd, opmerking, document_uuid, identificatie } of rows) {
      if (options.toegekend && geslaagd) {
        while (cells.length < header.length) cells.push('') // empty cells at the end may be missing
        cells[columns.uuid] ||= document_uuid ?? ''
        cells[columns.identificatie] ||= identificatie ?? ''
      }
      yield {
        cells,
        resultaat: geslaagd ? 'Geïmporteerd' : 'Niet geïmporteerd',
        opmerking:
          opmerking ??
          (nummer < inProgress
            ? `De batch met deze rij is niet verwerkt: ${reden}`
            : `Deze rij is niet geprobeerd: ${reden}`),
      }
      after = nummer
    }
  }
  // Deleted while it was read: a report that breaks off is better than one that looks complete.
  if (after !== row.totaal + 1) throw new Error('the rows of this import are being removed')
}

/**
 * The original cells of the rows that did not become a document, in the order of the file: those that failed, and of an
 * import that stopped also those behind its last batch.
 */
export async function* failedRows({ sql }: Reader, { id, verwerkt }: ImportRow): AsyncGenerator<string[]> {
  const position = verwerkt + 1 // number of the last row that was handled
  const failed = (after: number) => sql<Row[]>`
    select nummer, cells from (
      select r.*, sum(omvang) over (order by nummer) - omvang as ervoor from (
        select r.nummer, r.cells, r.omvang
        from import_row r join import_outcome u on u.import_id = r.import_id and u.nummer = r.nummer
        where u.import_id = ${id} and not u.geslaagd and u.nummer > ${after} order by u.nummer limit ${PAGE}
      ) r) r where ervoor < ${PAGE_BYTES} order by nummer`
  const untried = (after: number) => sql<Row[]>`
    select nummer, cells from (
      select r.*, sum(omvang) over (order by nummer) - omvang as ervoor from (
        select nummer, cells, omvang from import_row
        where import_id = ${id} and nummer > ${Math.max(after, position)} order by nummer limit ${PAGE}
      ) r) r where ervoor < ${PAGE_BYTES} order by nummer`
  for (const read of [failed, untried]) {
    for (let after = 0; ; ) {
      const rows = await read(after)
      if (rows.length === 0) break
      for (const { cells } of rows) yield cells
      after = lastOf(rows).nummer
    }
  }
}

type Row = { nummer: number; cells: string[] }
type Outcome = Row & {
  geslaagd: boolean | null
  opmerking: string | null
  document_uuid: string | null
  identificatie: string | null
}
