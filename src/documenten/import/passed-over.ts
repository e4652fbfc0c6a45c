// Rows that became a document before. A report that is fed back, or a file of which some rows were mended, makes nothing twice.
import { hash } from 'node:crypto'
import type { TransactionSql } from 'postgres'
import { placeOf } from './columns.ts'
import type { PassesOver } from './csv.ts'
import { isNdjson } from './ndjson.ts'
import { FOOT, IMPORTED, reportColumns } from './report.ts'

/** Tells by its cells whether a row of an import is not to be tried: it became a document before. */
export async function passedOverBy(
  { sql }: { sql: TransactionSql },
  header: string[],
  { restOf }: { restOf: number | null },
): Promise<PassesOver> {
  const isReported = importedBefore(header)
  if (restOf === null) return isReported
  const isMade = (await madeBy(sql, restOf))(header)
  return (cells) => isReported(cells) || (isMade(cells) && 'imported')
}

/** Tells by its cells whether a report says of a row that it was imported, or is the foot of one. */
export function importedBefore(header: string[]): PassesOver {
  if (isNdjson(header)) return (cells) => passedBy(resultOf(cells.at(-1) ?? ''))
  const columns = reportColumns(header)
  if (!columns) return () => false
  return (cells) => passedBy(cells[columns.result]?.trim().normalize())
}

const passedBy = (result: unknown) => (result === IMPORTED ? 'imported' : result === FOOT ? 'foot' : false)

function resultOf(line: string): unknown {
  if (!line.includes('"resultaat"')) return undefined
  try {
    return (JSON.parse(line) as { resultaat?: unknown } | null)?.resultaat
  } catch {
    return undefined
  }
}

const PORTION = 5_000

/**
 * Tells by its cells whether a row became a document in an import, or in the one of which that was the rest: one with the same file,
 * titel, identificatie and case. The other cells may have been mended, or written otherwise by a spreadsheet.
 */
async function madeBy(sql: TransactionSql, id: number): Promise<(header: string[]) => (cells: string[]) => boolean> {
  const imports = await sql<{ id: number; rowsId: number; header: string[]; succeeded: number }[]>`
    with recursive chain as (
      select id, rows_id, header, succeeded, rest_of from import where id = ${id}
      union all select i.id, i.rows_id, i.header, i.succeeded, i.rest_of from import i join chain c on i.id = c.rest_of
    ) select id, coalesce(rows_id, id) as "rowsId", header, succeeded from chain where header is not null`
  // Eight bytes a row: of a million rows all together are held.
  const made = new BigUint64Array(imports.reduce((sum, { succeeded }) => sum + succeeded, 0))
  let count = 0
  for (const { id, rowsId, header } of imports) {
    const keyOf = keysOf(header)
    const rows = sql<{ cells: string[] }[]>`
      select r.cells from import_row r join import_outcome u on u.import_id = ${id} and u.number = r.number
      where r.import_id = ${rowsId} and u.succeeded`.cursor(PORTION)
    for await (const portion of rows) for (const { cells } of portion) made[count++] = keyOf(cells)
  }
  const sorted = made.subarray(0, count).sort()
  return (header) => {
    const keyOf = keysOf(header)
    return (cells) => isAmong(sorted, keyOf(cells))
  }
}

function isAmong(sorted: BigUint64Array, key: bigint): boolean {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] as bigint) < key) low = middle + 1
    else high = middle
  }
  return sorted[low] === key
}

function keysOf(header: string[]): (cells: string[]) => bigint {
  const columns = ['bestandspad', 'titel', 'identificatie', 'zaakUuid'] as const
  const places = columns.map((column) => placeOf(header, column))
  return (cells) => {
    const text = JSON.stringify(places.map((place) => (cells[place] ?? '').trim()))
    return hash('sha256', text, 'buffer').readBigUInt64LE()
  }
}
