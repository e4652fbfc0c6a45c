import type { Reader } from '../../database/database.ts'
import { KOLOMMEN } from './columns.ts'
import type { Rapportrij } from './report.ts'
import type { ImportRow } from './rows.ts'

const PAGE = 2000

/**
 * The rows of a report in the order of the file, read in stretches. Rows without a result are those that an import
 * which stopped did not get to: the batch that was in progress, and the rest that was never tried.
 */
export async function* reportRows(
  { db }: Reader,
  row: ImportRow,
  options: { toegekend: boolean },
): AsyncGenerator<Rapportrij> {
  const kop = row.kop as string[]
  const columns = { uuid: kop.indexOf(KOLOMMEN[0]), identificatie: kop.indexOf('identificatie') }
  const reden = row.reden ?? 'De import is gestopt.'
  const inProgress = row.verwerkt + (row.batchgrootte ?? 0) + 2 // first row number behind the batch in progress
  let after = 0
  for (;;) {
    const rows = await db
      .selectFrom('importRegel as r')
      .leftJoin('importResultaat as u', (join) =>
        join.onRef('u.importId', '=', 'r.importId').onRef('u.nummer', '=', 'r.nummer'),
      )
      .where('r.importId', '=', row.id)
      .where('r.nummer', '>', after)
      .orderBy('r.nummer')
      .limit(PAGE)
      .select(['r.nummer', 'r.cellen', 'u.geslaagd', 'u.opmerking', 'u.documentUuid', 'u.identificatie'])
      .execute()
    for (const { nummer, cellen, geslaagd, opmerking, documentUuid, identificatie } of rows) {
      const cells = cellen as string[]
      if (options.toegekend && geslaagd) {
        cells[columns.uuid] ||= documentUuid ?? ''
        cells[columns.identificatie] ||= identificatie ?? ''
      }
      yield {
        cellen: cells,
        resultaat: geslaagd ? 'Geïmporteerd' : 'Niet geïmporteerd',
        opmerking:
          opmerking ??
          (nummer < inProgress
            ? `De batch met deze rij is niet verwerkt: ${reden}`
            : `Deze rij is niet geprobeerd: ${reden}`),
      }
      after = nummer
    }
    if (rows.length < PAGE) break
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
  const failed = (after: number) => sql<{ nummer: number; cellen: string[] }[]>`
    select r.nummer, r.cellen from import_regel r join import_resultaat u on u.import_id = r.import_id and u.nummer = r.nummer
    where u.import_id = ${id} and not u.geslaagd and u.nummer > ${after} order by u.nummer limit ${PAGE}`
  const untried = (after: number) => sql<{ nummer: number; cellen: string[] }[]>`
    select nummer, cellen from import_regel
    where import_id = ${id} and nummer > ${Math.max(after, position)} order by nummer limit ${PAGE}`
  for (const read of [failed, untried]) {
    for (let after = 0; ; ) {
      const rows = await read(after)
      for (const { cellen } of rows) yield cellen
      if (rows.length < PAGE) break
      after = rows.at(-1)!.nummer
    }
  }
}
