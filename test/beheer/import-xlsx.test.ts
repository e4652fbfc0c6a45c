// Workbooks of Excel in the pages: the rows that a CSV would have, a report as CSV.
import { Readable } from 'node:stream'
import { readXlsx, writeXlsx } from 'hucre/xlsx'
import t from 'tap'
import { systemActor } from '../../src/core/access.ts'
import { COLUMN_NAMES } from '../../src/documenten/import/columns.ts'
import { receiveFile } from '../../src/documenten/import/draft.ts'
import { BASE, givenInformatieobjecttype } from '../app.ts'
import { type CsvRow, DOCUMENTEN, givenFile, goodRow, readReport } from '../documenten/importing.ts'
import { type Cell, SHEET, SHEET_END, workbook } from '../documenten/workbook.ts'
import { setUpPages } from './browser.ts'
import { asClient } from './import-pages.ts'

const test = await setUpPages(t, { PUBLIC_URL: BASE }, false)
const type = await givenInformatieobjecttype(test)
await givenFile(test, 'brief.txt', 'inhoud')
const pages = await asClient(test, 'operator')

const MAY_1 = 45413 // 2024-05-01, as Excel counts days
const rowOf = (values: Record<string, Cell> = {}): Cell[] => {
  const good: CsvRow = goodRow(type, 'brief.txt')
  return COLUMN_NAMES.map((kolom) => (kolom in values ? values[kolom]! : good[kolom] || null))
}

async function conceptOf(bytes: Buffer, sheet = ''): Promise<string> {
  const response = await pages.upload(new Uint8Array(bytes), 'rijen.xlsx', { blad: sheet })
  const to = response.headers.get('location')
  if (!to?.includes('/concept/')) throw new Error(`${response.status}: ${refusalIn(await response.text())}`)
  return to
}

const refusalIn = (html: string) => /class="fout"[^>]*>([^<]+)</.exec(html)?.[1] ?? html

t.test(
  'cells become what somebody would type: days, booleans, whole numbers, and rows in between are passed over',
  async (t) => {
    const to = await conceptOf(
      await workbook([
        undefined,
        [...COLUMN_NAMES, 'eigen'],
        [
          ...rowOf({
            creatiedatum: { day: MAY_1 },
            verzenddatum: { day: MAY_1 + 0.75 },
            indicatieGebruiksrecht: false,
            bestandsomvang: 6,
            identificatie: 20240001,
            titel: { inline: 'Brief & één' },
          }),
          1.5,
        ],
        undefined,
        [null, '  '],
        rowOf({ titel: '007', ontvangstdatum: '2-5-2024' }),
        rowOf({ titel: '', creatiedatum: true }),
      ]),
    )
    await test.runJobs()
    const concept = await (await pages.get(to)).text()
    t.match(concept, /2 lege rijen/)
    t.match(concept, /1 van de 3 rijen/)
    const started = (await pages.post(`${to}/starten`)).headers.get('location')!
    await test.runJobs()
    const { body } = await test.call('GET', `${DOCUMENTEN}?ordering=titel`)
    t.match(
      body.results.find(({ titel }: { titel: string }) => titel === 'Brief & één'),
      {
        identificatie: '20240001',
        creatiedatum: '2024-05-01',
        verzenddatum: '2024-05-01',
        indicatieGebruiksrecht: false,
        bestandsomvang: 6,
      },
    )
    t.match(
      body.results.find(({ titel }: { titel: string }) => titel === '007'),
      { ontvangstdatum: '2024-05-02' },
      'a text stays as it is',
    )
    const answer = await pages.get(`${started}/rapport`)
    t.match(answer.headers.get('content-type'), 'text/csv; charset=utf-8')
    const bytes = Buffer.from(await answer.arrayBuffer())
    t.equal(bytes.subarray(0, 3).toString('hex'), 'efbbbf')
    const rows = await readReport(bytes.toString())
    t.match(rows, [
      { eigen: '1.5', bestandsomvang: '6', creatiedatum: '2024-05-01', resultaat: 'Geïmporteerd' },
      { resultaat: 'Geïmporteerd' },
      { creatiedatum: 'true', opmerking: /titel: Dit veld is verplicht/ },
    ])
    const failed = await (await pages.get(`${started}/niet-geimporteerd`)).text()
    t.equal(failed.split('\r\n').length, 3, 'a header and the one row')
  },
)

t.test(
  'the first visible sheet with the header is read, below what stands above it, and the page says so',
  async (t) => {
    const day = new Date('2024-05-01T00:00:00Z')
    const good = rowOf().map((cell, place) => (COLUMN_NAMES[place] === 'creatiedatum' ? day : (cell as string | null)))
    const bytes = await writeXlsx({
      dateSystem: '1904',
      sheets: [
        { name: 'Lees & mij', rows: [['Vul het tweede blad in']] },
        { name: 'Oud', hidden: true, rows: [[...COLUMN_NAMES], good] },
        {
          name: 'Documenten',
          rows: [
            ['Overdracht 2024'],
            [],
            [...COLUMN_NAMES],
            good,
            good.map(() => null),
            rowOf({ titel: '' }) as string[],
          ],
          merges: [{ startRow: 0, startCol: 0, endRow: 0, endCol: 3 }],
        },
      ],
    })
    const to = await conceptOf(Buffer.from(bytes))
    await test.runJobs()
    const page = await (await pages.get(to)).text()
    t.match(page, /Gelezen is het blad <strong>Documenten<\/strong>/)
    t.match(page, /De kopregel staat op rij 3/)
    t.match(page, /andere bladen zijn Lees &amp; mij\./, 'and not what is hidden')
    t.match(page, /samengevoegde cellen/)
    t.match(page, /class="getal">6 <span class="staat staat-fout">fout/, 'rows have the number of the sheet')
    t.match(page, /class="getal">Rij<\/th><th scope="col">titel</, 'the column with the fault comes first')
    t.equal(page.match(/class="knop"/g)?.length, 1, 'one main button')
    const started = (await pages.post(`${to}/starten`)).headers.get('location')!
    await test.runJobs()
    const report = await readReport(await (await pages.get(`${started}/rapport`)).text())
    t.match(report, [
      { creatiedatum: '2024-05-01', resultaat: 'Geïmporteerd' },
      { opmerking: /titel: Dit veld is verplicht/ },
    ])
    const marked = await pages.get(`${started}/niet-geimporteerd.xlsx`)
    const { sheets } = await readXlsx(new Uint8Array(await marked.arrayBuffer()), { readStyles: true })
    const cell = sheets[0]?.cells?.get(`1,${COLUMN_NAMES.indexOf('titel')}`)
    t.match(cell?.comment?.text, /verplicht/, 'the reason stands at its cell')
    t.match(cell?.style?.fill, { fgColor: { rgb: /FFC7CE/ } }, 'which is red')
    t.match(
      await (
        await pages.get(
          await conceptOf(Buffer.from(await (await pages.get(`${started}/niet-geimporteerd.xlsx`)).arrayBuffer())),
        )
      ).text(),
      /1 rij/,
    )
    t.match(
      await (await pages.get(await conceptOf(Buffer.from(bytes)))).text(),
      /al eens geïmporteerd: dat maakte 1 document\./,
    )
    t.match(
      await (await pages.get(await conceptOf(Buffer.from(bytes), 'oud'))).text(),
      /het blad <strong>Oud</,
      'who chooses it gets it',
    )
    await t.rejects(conceptOf(Buffer.from(bytes), 'Weg'), { message: /geen blad “Weg”. Er zijn: Lees/ })
  },
)

t.test('a formula without an outcome, and a number that lost its digits, are faults of their cells', async (t) => {
  const cellOf = (column: string, content: string) =>
    `<c r="${letterOf(COLUMN_NAMES.indexOf(column as 'titel'))}2"${content}</c>`
  const header = COLUMN_NAMES.map((name, n) => `<c r="${letterOf(n)}1" t="inlineStr"><is><t>${name}</t></is></c>`).join(
    '',
  )
  const text = (value: string) => ` t="inlineStr"><is><t>${value}</t></is>`
  const cells = [
    cellOf('identificatie', '><v>12345678901234567</v>'),
    cellOf('bronorganisatie', text('000000000')),
    cellOf('titel', '><f>A1&amp;B1</f>'),
    cellOf('bestandspad', text('brief.txt')),
    cellOf('informatieobjecttype', text(type)),
  ].join('')
  const to = await conceptOf(
    await workbook([], { sheet: `${SHEET}<row r="1">${header}</row><row r="2">${cells}</row>${SHEET_END}` }),
  )
  await test.runJobs()
  const page = await (await pages.get(to)).text()
  t.match(page, /formule zonder opgeslagen uitkomst/)
  t.match(page, /nummer ingekort \(1,23456789012346E\+16\)/)
})

const letterOf = (place: number) => `${place < 26 ? '' : 'A'}${String.fromCharCode(65 + (place % 26))}`

t.test('what is no workbook says so', async (t) => {
  for (const [bytes, says] of [
    [Buffer.from('PK\x03\x04 and nothing that follows'), /afgekapt/],
    [Buffer.from('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'latin1'), /van voor 2007/],
    [await workbook([['titel', 'auteur']]), /ontbreken: uuid/],
    [await workbook([]), /leeg/],
    [await workbook([[...COLUMN_NAMES]]), /geen rijen/],
  ] as const)
    await t.rejects(conceptOf(bytes), { message: says })
})

t.test("a workbook that drips is in nobody else's way; of each account one is received at a time", async (t) => {
  const file = await workbook([[...COLUMN_NAMES], rowOf()])
  const half = Math.floor(file.length / 2)
  const gate = Promise.withResolvers<void>()
  async function* dripping() {
    yield file.subarray(0, half)
    await gate.promise
    yield file.subarray(half)
  }
  const receive = (who: string, bytes: AsyncIterable<Buffer> | Buffer[], signal?: AbortSignal) => {
    const { mutate, process } = test.app
    const receiver = { mutate, config: process, actor: { ...systemActor('test', BASE), userId: who }, signal }
    return receiveFile(
      receiver,
      Readable.from(bytes),
      { bestandsnaam: 'a.xlsx' },
      async ({ rows }) => rows.counts.total,
    )
  }
  const slow = ['een', 'twee'].map((who) => receive(who, dripping()))
  t.equal(await receive('drie', [file]), 1)
  await t.rejects(receive('een', [file]), { status: 503 } as never)
  gate.resolve()
  t.same(await Promise.all(slow), [1, 1])
  t.equal(await receive('een', [file]), 1, 'it may come again')
  await t.rejects(receive('een', [file], AbortSignal.abort(new Error('left'))), { message: 'left' })
  t.equal(await receive('een', [file]), 1)
})
