// The rows of an import that failed as a workbook: what is wrong is red, with the reason as a comment.
import type { CellStyle, WriteSheet } from 'hucre/xlsx'
import { NOT_IMPORTED, REMARK, RESULT, type ReportLine } from '../../documenten/import/report.ts'

/** It is made in memory. */
export const MOST_MARKED = 10_000
const RED = {
  fill: { type: 'pattern', pattern: 'solid', fgColor: { rgb: 'FFFFC7CE' } },
  font: { color: { rgb: 'FF9C0006' } },
} as const satisfies CellStyle

/** @param rows those that were not imported, as a report has them; what nobody may see is left out */
export async function markedWorkbook(
  header: string[],
  rows: AsyncIterable<ReportLine>,
  sheet: string,
): Promise<Uint8Array> {
  const { writeXlsx } = await import('hucre/xlsx')
  const lines: string[][] = [[...header, REMARK, RESULT]]
  const cells: NonNullable<WriteSheet['cells']> = new Map()
  for await (const { cells: values, opmerking, resultaat } of rows) {
    if (resultaat !== NOT_IMPORTED || values.every((value) => value === '')) continue
    if (lines.length > MOST_MARKED) break
    for (const [place, fault] of faultsByColumn(header, opmerking))
      cells.set(`${lines.length},${place}`, { value: values[place] ?? '', style: RED, comment: { text: fault } })
    lines.push([...header.map((_, place) => values[place] ?? ''), opmerking, resultaat])
  }
  const columns = lines[0]?.map(() => ({ numFmt: '@', width: 20 })) ?? []
  return writeXlsx({ sheets: [{ name: sheet, columns, rows: lines, cells, freezePane: { rows: 1 } }] })
}

/** What is wrong in a row, by the place of the column that the remark names: `titel: Dit veld is verplicht. auteur: …`. */
export function faultsByColumn(names: string[], remark: string): Map<number, string> {
  const found = names
    .map((name, place) => ({ place, name, at: name === '' ? -1 : ` ${remark}`.indexOf(` ${name}: `) }))
    .filter(({ at }) => at >= 0)
    .sort((one, other) => one.at - other.at)
  return new Map(
    found.map(({ place, name, at }, index) => [place, remark.slice(at + name.length + 2, found[index + 1]?.at).trim()]),
  )
}
