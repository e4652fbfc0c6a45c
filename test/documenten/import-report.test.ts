import { text } from 'node:stream/consumers'
import t from 'tap'
import { COLUMN_NAMES, readImportCsv } from '../../src/documenten/import/csv.ts'
import { neutralizeCell, type ReportLine, reportCsv } from '../../src/documenten/import/report.ts'

async function* each<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items
}

const reportOf = (header: string[], rows: ReportLine[], neutraliseer = false) =>
  text(reportCsv(header, each(rows), { neutraliseer }))

const rowOf = (cells: string[], opmerking = '', resultaat = 'Geïmporteerd'): ReportLine => ({
  cells,
  opmerking,
  resultaat,
})

/** Reads a report with the reader of imports. */
async function readBack(csv: string) {
  const { header, regels } = await readImportCsv(each([Buffer.from(csv)]))
  return [header, ...(await Array.fromAsync(regels))]
}

t.test('the report has the cells in their order, then opmerking and resultaat', async (t) => {
  t.equal(
    await reportOf(['b', 'a'], [rowOf(['1', '2']), rowOf(['x', 'y'], 'titel: te lang', 'Niet geïmporteerd')]),
    'b,a,opmerking,resultaat\r\n1,2,,Geïmporteerd\r\nx,y,titel: te lang,Niet geïmporteerd\r\n',
  )
})

t.test('a report without rows has a header', async (t) => {
  t.equal(await reportOf(['a'], []), 'a,opmerking,resultaat\r\n')
})

t.test('opmerking and resultaat stay in their columns when a row has too few or too many cells', async (t) => {
  const header = ['a', 'b', 'c']
  for (let count = 0; count <= 53; count++) {
    const cells = Array.from({ length: count }, (_, i) => `cel ${i}`)
    const [, line] = (await reportOf(header, [rowOf(cells, 'opm', 'res')])).split('\r\n')
    const out = line!.split(',')
    t.same(out.slice(3, 5), ['opm', 'res'])
    t.same([...out.slice(0, 3).filter((cell) => cell !== ''), ...out.slice(5)], cells, 'nothing is lost or moved about')
    t.equal(out.length, Math.max(5, count + 2))
  }
})

t.test('cells come out exactly as they went in', async (t) => {
  const header = ['eerste', ...COLUMN_NAMES]
  const parts = [
    '"',
    '""',
    ',',
    '\n',
    '\r',
    '\r\n',
    ' ',
    '\t',
    '\0',
    '\ufeff',
    '\u00a0',
    '\u2028',
    "'",
    '=',
    '|',
    '#',
    '\\',
    'é',
    '😀',
    'a',
    'b',
  ]
  const cells = [...parts, ...parts.flatMap((one) => [`${one}x`, `x${one}`, ...parts.map((two) => one + two)])]
  const rows: ReportLine[] = []
  for (let at = 0; at < cells.length; at += header.length) {
    const own = cells.slice(at, at + header.length)
    rows.push(rowOf([...own, ...Array<string>(header.length - own.length).fill('')], own[0], own.at(-1)))
  }
  t.same(await readBack(await reportOf(header, rows)), [
    [...header, 'opmerking', 'resultaat'],
    ...rows.map(({ cells, opmerking, resultaat }) => [...cells, opmerking, resultaat]),
  ])
})

t.test('a header that begins with a byte order mark does not lose it', async (t) => {
  const header = ['\ufeffx', ...COLUMN_NAMES]
  t.same((await readBack(await reportOf(header, [])))[0], [...header, 'opmerking', 'resultaat'])
})

t.test('a report is made while it is read', async (t) => {
  let made = 0
  async function* endless() {
    for (;;) {
      made++
      yield rowOf(['x'.repeat(1000)])
    }
  }
  const stream = reportCsv(['a'], endless(), { neutraliseer: false })
  for await (const chunk of stream) {
    t.ok((chunk as Buffer).length < 128 * 1024)
    break
  }
  t.ok(made < 1000, `${made} rows were made for the first chunk`)
})

t.test('rows that cannot be read break the report off', async (t) => {
  async function* rows() {
    yield rowOf(['x'])
    throw new Error('connection lost')
  }
  await t.rejects(text(reportCsv(['a'], rows(), { neutraliseer: false })), { message: 'connection lost' })
})

const FORMULAS = [
  '=1+1',
  '+31612345678',
  '-1',
  '@SUM(A1)',
  '|cmd',
  "=cmd|'/C calc'!A0",
  '=HYPERLINK("https://example.nl")',
  '\tx',
  '\rx',
  '\nx',
]
const WIDE = ['＝1+1', '＋1', '－1', '＠SUM(A1)', '｜x', '﹦1', '﹢1', '﹣1', '﹫x']
const BEFORE = [
  '',
  ' ',
  '   ',
  '"',
  '""',
  "'",
  '\ufeff',
  '\u200b',
  '\u202e',
  '\u00a0',
  '\u3000',
  '\0',
  '“',
  '‘',
  '«',
  '`',
  '\ufeff" ',
]

t.test('every cell that a spreadsheet may run is neutralised, and can be restored', async (t) => {
  const dangerous = BEFORE.flatMap((before) => [...FORMULAS, ...WIDE].map((formula) => before + formula))
  t.ok(dangerous.length > 200)
  t.same(
    dangerous.filter((cell) => neutralizeCell(cell) !== `'${cell}`),
    [],
  )

  const harmless = [
    '',
    'a',
    'a=1',
    '1-2',
    'é',
    "'",
    "'a",
    '"',
    ' ',
    '2024-01-01',
    'a@example.nl',
    'https://example.nl/?a=b',
    '😀=',
    '0+1',
    "''",
    '(=1)',
  ]
  t.same(
    harmless.filter((cell) => neutralizeCell(cell) !== cell),
    [],
  )

  const restored = (cell: string) =>
    cell.startsWith("'") && neutralizeCell(cell.slice(1)) !== cell.slice(1) ? cell.slice(1) : cell
  const all = [...dangerous, ...harmless].flatMap((cell) => [cell, `'${cell}`, `''${cell}`])
  t.same(
    all.filter((cell) => restored(neutralizeCell(cell)) !== cell),
    [],
  )
})

t.test('cells are neutralised everywhere in the report when asked, and only then', async (t) => {
  const header = [...COLUMN_NAMES, '=kop']
  const cells = header.map((_, i) => FORMULAS[i % FORMULAS.length]!)
  const rows = [rowOf([...cells, '+surplus'], '=opmerking', '@resultaat')]
  t.same(await readBack(await reportOf(header, rows, true)), [
    [...COLUMN_NAMES, "'=kop", 'opmerking', 'resultaat'],
    [...cells.map((cell) => `'${cell}`), "'=opmerking", "'@resultaat", "'+surplus"],
  ])
  t.same((await readBack(await reportOf(header, rows)))[1], [...cells, '=opmerking', '@resultaat', '+surplus'])
})
