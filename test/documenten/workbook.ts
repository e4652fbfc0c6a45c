// Workbooks for tests, written as Excel does: shared texts, styles for days, numbers without a type.

import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { ZipFile } from 'yazl'

export type Cell = string | number | boolean | { day: number } | { inline: string } | null
type Part = string | (() => Iterable<string>)

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'
const KIND = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** @param rows `{ day }` is a serial number that is shown as a day; undefined: a row that is left out */
export function workbook(
  rows: (Cell[] | undefined)[],
  changed: { strings?: Part; sheet?: Part } = {},
): Promise<Buffer> {
  const strings: string[] = []
  const cell = (value: Cell, row: number, column: number): string => {
    if (value === null) return ''
    const at = `r="${column < 26 ? '' : 'A'}${String.fromCharCode(65 + (column % 26))}${row + 1}"`
    if (typeof value === 'string') return `<c ${at} t="s"><v>${strings.push(value) - 1}</v></c>`
    if (typeof value === 'number') return `<c ${at}><v>${value}</v></c>`
    if (typeof value === 'boolean') return `<c ${at} t="b"><v>${Number(value)}</v></c>`
    if ('day' in value) return `<c ${at} s="1"><v>${value.day}</v></c>`
    return `<c ${at} t="inlineStr"><is><t>${escaped(value.inline)}</t></is></c>`
  }
  const lines = rows.map((cells, row) =>
    cells ? `<row r="${row + 1}">${cells.map((value, column) => cell(value, row, column)).join('')}</row>` : '',
  )
  const zip = new ZipFile()
  const add = (name: string, part: Part) =>
    typeof part === 'string'
      ? zip.addBuffer(Buffer.from(part), name)
      : zip.addReadStream(Readable.from(part(), { objectMode: false }), name)
  const overrides = [
    ['workbook', 'sheet.main'],
    ['worksheets/sheet1', 'worksheet'],
    ['sharedStrings', 'sharedStrings'],
    ['styles', 'styles'],
  ].map(([name, kind]) => `<Override PartName="/xl/${name}.xml" ContentType="${KIND}.${kind}+xml"/>`)
  const related = [
    ['worksheet', 'worksheets/sheet1.xml'],
    ['sharedStrings', 'sharedStrings.xml'],
    ['styles', 'styles.xml'],
  ].map(([kind, target], n) => `<Relationship Id="rId${n + 1}" Type="${OFFICE}/${kind}" Target="${target}"/>`)
  add(
    '[Content_Types].xml',
    `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${overrides.join('')}</Types>`,
  )
  add(
    '_rels/.rels',
    `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  )
  add(
    'xl/workbook.xml',
    `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="Blad1" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  )
  add(
    'xl/_rels/workbook.xml.rels',
    `<Relationships xmlns="${PACKAGE}/relationships">${related.join('')}</Relationships>`,
  )
  add(
    'xl/styles.xml',
    `<styleSheet xmlns="${MAIN}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>`,
  )
  add('xl/worksheets/sheet1.xml', changed.sheet ?? `${SHEET}${lines.join('')}${SHEET_END}`)
  add(
    'xl/sharedStrings.xml',
    changed.strings ??
      `${STRINGS}${strings.map((text) => `<si><t xml:space="preserve">${escaped(text)}</t></si>`).join('')}</sst>`,
  )
  zip.end()
  return buffer(zip.outputStream)
}

export const SHEET = `<worksheet xmlns="${MAIN}"><sheetData>`
export const SHEET_END = '</sheetData></worksheet>'
export const STRINGS = `<sst xmlns="${MAIN}">`

/** A piece many times, in chunks. */
export function repeated(begin: string, piece: string, megabytes: number, end: string): () => Iterable<string> {
  return function* () {
    yield begin
    const chunk = piece.repeat(Math.ceil((1024 * 1024) / piece.length))
    for (let n = 0; n < megabytes; n++) yield chunk
    yield end
  }
}
