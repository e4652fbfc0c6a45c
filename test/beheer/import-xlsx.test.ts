// Workbooks of Excel in the pages: the rows that a CSV would have, a report as CSV.
import { Readable } from 'node:stream'
import t from 'tap'
import { systemActor } from '../../src/core/access.ts'
import { COLUMN_NAMES } from '../../src/documenten/import/columns.ts'
import { receiveFile } from '../../src/documenten/import/draft.ts'
import { BASE, givenInformatieobjecttype } from '../app.ts'
import { type CsvRow, DOCUMENTEN, givenFile, goodRow, readReport } from '../documenten/importing.ts'
import { type Cell, workbook } from '../documenten/workbook.ts'
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

async function conceptOf(bytes: Buffer, name = 'rijen.xlsx'): Promise<string> {
  const response = await pages.upload(new Uint8Array(bytes), name)
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
