// Slow: it reads a gigabyte of workbooks.
//
// Workbooks that are small and open to far more, as whoever wants to stop others sends them.
// In a process of its own, because it measures memory.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import t from 'tap'
import { COLUMN_NAMES } from '../../src/documenten/import/columns.ts'
import { BASE } from '../app.ts'
import { repeated, SHEET, SHEET_END, STRINGS, workbook } from '../documenten/workbook.ts'
import { memoryInUse } from '../memory.ts'
import { setUpPages } from './browser.ts'
import { asClient } from './import-pages.ts'

t.setTimeout(580_000)
const test = await setUpPages(t, { PUBLIC_URL: BASE }, false)
const pages = await asClient(test, 'operator')

async function conceptOf(bytes: Buffer): Promise<string> {
  const response = await pages.upload(new Uint8Array(bytes), 'rijen.xlsx')
  const to = response.headers.get('location')
  if (!to?.includes('/concept/')) throw new Error(`${response.status}: ${refusalIn(await response.text())}`)
  return to
}

const refusalIn = (html: string) => /class="fout"[^>]*>([^<]+)</.exec(html)?.[1] ?? html

/** A sheet with a header, and rows of which every cell is the first of the shared texts. */
function repeatedText(rows: number): () => Iterable<string> {
  const header = COLUMN_NAMES.map((_, at) => `<c t="s"><v>${at + 1}</v></c>`).join('')
  const cells = '<c t="s"><v>0</v></c>'.repeat(COLUMN_NAMES.length)
  return function* () {
    yield `${SHEET}<row>${header}</row>`
    for (let row = 0; row < rows; row++) yield `<row>${cells}</row>`
    yield SHEET_END
  }
}

t.test('workbooks that are made to be large are refused, in bounded memory and time', async (t) => {
  const row = '<row><c t="s"><v>0</v></c></row>'
  const bombs: [what: string, bytes: Buffer][] = [
    [
      'shared texts',
      await workbook([], {
        strings: repeated(STRINGS, '<si><t>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa</t></si>', 300, '</sst>'),
      }),
    ],
    ['one sheet', await workbook([], { sheet: repeated(SHEET, row, 1100, SHEET_END) })],
    ['rows', await workbook([[...COLUMN_NAMES]], { sheet: repeated(SHEET, '<row/>', 20, SHEET_END) })],
    [
      'one text',
      await workbook([], {
        sheet: repeated(
          `${SHEET}<row r="1"><c r="A1" t="inlineStr"><is><t>`,
          'aaaaaaaaaaaaaaaa',
          100,
          `</t></is></c></row>${SHEET_END}`,
        ),
      }),
    ],
    [
      'one text in very many cells',
      await workbook([['x'.repeat(30_000), ...COLUMN_NAMES]], { sheet: repeatedText(60_000) }),
    ],
    ['columns', await workbook([], { sheet: repeated(SHEET, '<row><c r="XFD1"><v>1</v></c></row>', 2, SHEET_END) })],
  ]
  for (const [what, bytes] of bombs) {
    t.ok(bytes.length < 5 * 1024 * 1024, `${what}: ${bytes.length} bytes`)
    const before = memoryInUse()
    let peak = before
    const watch = setInterval(() => {
      peak = Math.max(peak, memoryInUse())
    }, 50)
    const stood = monitorEventLoopDelay({ resolution: 10 })
    stood.enable()
    const began = performance.now()
    await t.rejects(conceptOf(bytes), { message: /te groot|is groter dan|ontbreken|meer dan|leeg/ }, what)
    clearInterval(watch)
    stood.disable()
    const [grown, ms] = [Math.round(peak - before), Math.round(performance.now() - began)]
    const stoodMs = Math.round(stood.max / 1e6)
    t.comment(`${what}: ${grown} MB, ${ms} ms, the event loop stood still for ${stoodMs} ms`)
    t.ok(stoodMs < 5000, `the event loop stood still for ${stoodMs} ms`) // with others on this machine; it was 7.6 s alone
    t.ok(grown < 600, `${what}: ${grown} MB`)
    t.ok(ms < 150_000, `${what}: ${ms} ms`)
  }
  await test.runJobs()
  const [left] = await test.database
    .sql`select count(*)::int as count from import_row r join import_draft d on r.import_id = -d.id where d.total = 0`
  t.equal(left!.count, 0)
})
