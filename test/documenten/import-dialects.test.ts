// Files as spreadsheets and archives make them: each is imported and tried, and its report is written as the file was.
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { systemActor } from '../../src/core/access.ts'
import { COLUMN_NAMES } from '../../src/documenten/import/columns.ts'
import { createDraft, receiveFile, requestDryRun } from '../../src/documenten/import/draft.ts'
import { BASE, givenInformatieobjecttype, SECRET, testApp } from '../app.ts'
import { API, type CsvRow, DOCUMENTEN, givenFile, givenImport, goodRow } from './importing.ts'

t.setTimeout(580_000)
const app = await testApp(t)
const { call, database } = app
const type = await givenInformatieobjecttype(app)
await givenFile(app, 'brief.txt')

/** Rows between a separator, without quotes. */
const textOf = (rows: CsvRow[], separator: string, newline = '\r\n', header: readonly string[] = COLUMN_NAMES) =>
  [header, ...rows.map((row) => COLUMN_NAMES.map((column) => row[column] ?? ''))]
    .map((cells) => cells.join(separator) + newline)
    .join('')
const good = (values: CsvRow = {}) => goodRow(type, 'brief.txt', values)

/** What an import and a dry run make of the same file, and the report of the import. */
async function bothOf(file: Buffer, contentType = 'text/csv', bestandsnaam = 'rijen.csv') {
  const charset = contentType.split('charset=')[1]
  const { mutate, process } = app.app
  const receiver = { mutate, config: process, actor: systemActor('test', BASE) }
  const draft = await receiveFile(
    receiver,
    Readable.from([file]),
    { bestandsnaam, ...(charset && { charset }) },
    (received) =>
      mutate(receiver.actor, async (m) => {
        m.unrecorded('a test')
        const made = await createDraft(m, received, { bestandsnaam, baseUrl: BASE, createdBy: 'test' })
        await requestDryRun(m, made.uuid)
        return made
      }),
  )
  await app.runJobs()
  const [tried] = await database.sql<{ total: number; leeg: number; fouten: number; status: string }[]>`
    select total, empty_rows as leeg, trial_faults as fouten, trial_status as status from import_draft where uuid = ${draft.uuid}`
  const uuid = await givenImport(app)
  const uploaded = await call('POST', `${API}/${uuid}/upload`, file, { headers: { 'content-type': contentType } })
  t.equal(uploaded.status, 200, uploaded.text)
  await app.runJobs()
  const { body: status } = await call('GET', `${API}/${uuid}/status`)
  const report = await app.app.inject({
    url: `${API}/${uuid}/report?toegekend=true`,
    headers: { authorization: `Bearer ${signToken('beheer', SECRET, { id: '', name: '' })}` },
  })
  t.strictSame(
    { ...tried },
    { total: status.total, leeg: status.emptyRows, fouten: status.processedInvalid, status: 'klaar' },
    'the dry run finds what the import finds',
  )
  return { status, report, bytes: report.rawPayload }
}

t.test('what a spreadsheet did to a cell is a fault with its reason, and a time behind a day is dropped', async (t) => {
  const wrong: [CsvRow, RegExp][] = [
    [{ titel: '#N/B' }, /titel: Hier staat een foutwaarde van een spreadsheet \(#N\/B\)/],
    [{ creatiedatum: '#VALUE!' }, /creatiedatum: Hier staat een foutwaarde/],
    [{ indicatieGebruiksrecht: '#NAAM?' }, /indicatieGebruiksrecht: Hier staat een foutwaarde/],
    [{ 'integriteit.waarde': '#verw!' }, /integriteit\.waarde: Hier staat een foutwaarde/],
    [{ identificatie: '1.23457E+11' }, /identificatie: Een spreadsheet heeft dit nummer ingekort/],
    [{ bronorganisatie: '12345676' }, /bronorganisatie: Een RSIN heeft negen cijfers, hier staan er acht/],
    [{ creatiedatum: '2024-05-01T00:00:00Z' }, /creatiedatum: /],
  ]
  const fine: CsvRow[] = [
    { creatiedatum: '2024-05-01 00:00:00', titel: 'tijd 1' },
    { creatiedatum: '1-5-2024 0:00:00', titel: 'tijd 2', ontvangstdatum: '2024-05-01T13:14' },
    { titel: '#1' },
  ]
  const rows = [...wrong.map(([values]) => good(values)), ...fine.map((values) => good(values))]
  const file = textOf(rows, ';').replace(/(tijd 1.*?)\r\n/, '$1;;; ;\r\n')
  const { status, report } = await bothOf(Buffer.from(file))
  t.match(status, { processedInvalid: wrong.length, processedSuccessfully: fine.length })
  const lines = report.payload.split('\r\n').slice(1)
  for (const [index, [, fault]] of wrong.entries()) t.match(lines[index], fault)
  const { body } = await call('GET', `${DOCUMENTEN}?creatiedatum__gte=2024-05-01&ordering=titel`)
  const dated = body.results.filter(({ titel }: { titel: string }) => titel.startsWith('tijd'))
  t.match(dated, [{ creatiedatum: '2024-05-01' }, { creatiedatum: '2024-05-01', ontvangstdatum: '2024-05-01' }])
})

t.test('lines of JSON may be those of an array, and name their fields as the columns do', async (t) => {
  const sum = createHash('sha256').update('brief.txt').digest('hex')
  const named = { 'integriteit.algoritme': 'sha_256', 'integriteit.waarde': sum, 'integriteit.datum': '2024-05-01' }
  const lines = ['[', `${JSON.stringify(good(named))},`, `  ${JSON.stringify(good())}`, ']'].join('\n')
  for (const contentType of ['application/jsonl', 'application/json-lines', 'application/x-jsonlines']) {
    const { status } = await bothOf(Buffer.from(lines), contentType, 'rijen.json')
    t.match(status, { total: 2, processedSuccessfully: 2, processedInvalid: 0 })
  }
  const { status } = await bothOf(
    Buffer.from(JSON.stringify([good({ ...named, 'integriteit.waarde': 'x' })])),
    'application/jsonl',
    'rijen.jsonl',
  )
  t.match(status, { total: 1, processedInvalid: 1 }, 'the checksum was read')
})

t.test('files of other programs are each told what they are', async (t) => {
  const ods = Buffer.concat([
    Buffer.from('PK\x03\x04'),
    Buffer.alloc(26),
    Buffer.from('mimetypeapplication/vnd.oasis.opendocument.spreadsheetPK'),
  ])
  const old = Buffer.from('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'latin1')
  const locked = Buffer.concat([old, Buffer.alloc(500), Buffer.from('EncryptedPackage', 'utf16le')])
  for (const [bytes, says] of [
    [ods, /\.ods/],
    [old, /\.xls\)/],
    [locked, /wachtwoord/],
    [Buffer.from('PK\x03\x04 and nothing that follows'), /afgekapt/],
  ] as const)
    await t.rejects(bothOf(bytes), says)
})

t.test('cells and rows as spreadsheets save them become documents', async (t) => {
  const file = textOf(
    [
      good({ titel: 'ONWAAR', indicatieGebruiksrecht: 'ONWAAR', creatiedatum: '1-5-2024' }),
      good({ titel: '0', indicatieGebruiksrecht: '0', creatiedatum: '01/05/2024', ontvangstdatum: '2-5-2024' }),
      good({ titel: 'jaar', creatiedatum: '1-5-24' }),
    ],
    ';',
    '\r\n',
    COLUMN_NAMES.map((naam, place) => (place % 2 ? naam.toUpperCase() : ` ${naam}`)),
  )
  const short = COLUMN_NAMES.map((column) => good({ titel: 'kort' })[column] ?? '')
    .join(';')
    .replace(/;+$/, '')
  const { status, report } = await bothOf(Buffer.from(`${file}${';'.repeat(26)}\r\n\r\n${short}\r\n;;;\r\n`))
  t.match(status, { total: 4, emptyRows: 3, processedSuccessfully: 3, processedInvalid: 1, status: 'finished' })
  const { body } = await call('GET', `${DOCUMENTEN}?creatiedatum__gte=2024-05-01&ordering=titel`)
  const made = new Map(body.results.map((row: { titel: string }) => [row.titel, row]))
  const day = { creatiedatum: '2024-05-01', indicatieGebruiksrecht: false }
  t.match(made.get('ONWAAR'), day)
  t.match(made.get('0'), { ...day, ontvangstdatum: '2024-05-02' })
  t.match(report.payload, /creatiedatum: Schrijf het jaar met vier cijfers/)
})

t.test('a report is written as the file was', async (t) => {
  const rows = [good({ titel: 'Café € 5' }), good({ titel: '', beschrijving: 'a,b' })]
  const cp1252 = Buffer.from([...textOf(rows, ';')].map((char) => (char === '€' ? 0x80 : char.charCodeAt(0))))
  for (const [name, file, contentType, begin, separator, newline, encoding] of [
    ['RFC 4180', Buffer.from(textOf([rows[0]!], ',')), 'text/csv', '', ',', '\r\n', 'utf8'],
    ['Dutch Excel', Buffer.from(`\ufeff${textOf(rows, ';')}`), 'text/csv', '\ufeff', ';', '\r\n', 'utf8'],
    ['sep=', Buffer.from(`sep=;\n${textOf([rows[0]!], ';', '\n')}`), 'text/csv', 'sep=;\n', ';', '\n', 'utf8'],
    ['tabs', Buffer.from(textOf(rows, '\t', '\n')), 'text/csv', '', '\t', '\n', 'utf8'],
    [
      'Unicode text',
      Buffer.from(`\ufeff${textOf(rows, '\t')}`, 'utf16le'),
      'text/csv',
      '\ufeff',
      '\t',
      '\r\n',
      'utf16le',
    ],
    ['windows-1252', cp1252, 'text/csv; charset=windows-1252', '\ufeff', ';', '\r\n', 'utf8'],
  ] as const) {
    const { report, bytes, status } = await bothOf(file, contentType)
    t.ok(status.processedSuccessfully >= 1, name)
    const text = bytes.toString(encoding)
    t.ok(text.startsWith(`${begin}uuid${separator}identificatie${separator}`), `${name}: ${text.slice(0, 20)}`)
    t.match(text, new RegExp(`${separator === '\t' ? '\\t' : separator}opmerking.resultaat${newline}`), name)
    t.match(text, 'Café € 5', name)
    t.ok(text.endsWith(newline), name)
    t.equal(text.split(newline).length, status.total + 2 + (begin.startsWith('sep') ? 1 : 0), name)
    t.match(report.headers['content-type'], encoding === 'utf8' ? 'charset=utf-8' : 'charset=utf-16le')
  }
})

t.test('a name is found composed or decomposed, and by its bytes', async (t) => {
  await givenFile(app, `map é/${'Begroting café.txt'.normalize('NFC')}`)
  await givenFile(app, 'Notulen één.txt'.normalize('NFD'))
  await givenFile(app, '100%E9.txt', 'as it stands')
  await writeFile(
    Buffer.concat([Buffer.from(`${app.importDir}/oud caf`), Buffer.from([0xe9]), Buffer.from('.txt')]),
    'x',
  )
  const paths = [
    `map é/Begroting café.txt`.normalize('NFD'),
    'Notulen één.txt'.normalize('NFC'),
    '100%E9.txt',
    'oud caf%E9.txt',
    'oud caf%e9%2e.txt',
    '%2e%2e/x',
    '..%E9%2F..%2Fetc%2Fpasswd',
  ]
  const { status, bytes } = await bothOf(
    Buffer.from(
      textOf(
        paths.map((bestandspad) => good({ bestandspad })),
        ';',
      ),
    ),
  )
  t.match(status, { total: 7, processedSuccessfully: 4, processedInvalid: 3 })
  t.equal(bytes.toString().match(/bestandspad: Het bestand bestaat niet/g)?.length, 3)
})

t.test('NDJSON has the documents as the API writes them, and so has its report', async (t) => {
  const uuid = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff'
  const base = {
    bronorganisatie: '000000000',
    creatiedatum: '2024-02-29',
    titel: 'Regel',
    auteur: 'Auteur',
    taal: 'nld',
    informatieobjecttype: type,
    bestandspad: 'brief.txt',
  }
  const stated = {
    ...base,
    url: `http://elders.example/enkelvoudiginformatieobjecten/${uuid}`,
    identificatie: 'REGEL-1',
    ondertekening: { soort: 'digitaal', datum: '2024-03-01' },
    trefwoorden: ['een, twee', 'drie'],
    indicatieGebruiksrecht: false,
    versie: 7,
    eigen: { veld: true },
  }
  const lines = [
    JSON.stringify(stated),
    '',
    JSON.stringify({ ...base, creatiedatum: '1-5-2024' }),
    JSON.stringify({ ...base, titel: {} }),
    JSON.stringify({ ...base, bestandspad: undefined }),
    '{"titel":',
    '[1]',
    JSON.stringify(base),
    `{"titel":${'['.repeat(6000)}${']'.repeat(6000)}}`,
    JSON.stringify({ ...base, titel: 'getal' }).replace('"getal"', '12345678901234567890'),
  ]
  const file = Buffer.from(`\ufeff${lines.join('\r\n')}`)
  const { status, report, bytes } = await bothOf(file, 'application/x-ndjson', 'regels.ndjson')
  t.match(status, { total: 9, emptyRows: 1, processedSuccessfully: 3, processedInvalid: 6 })
  const { body } = await call('GET', `${DOCUMENTEN}/${uuid}`)
  t.match(body, {
    identificatie: 'REGEL-1',
    versie: 1,
    ondertekening: stated.ondertekening,
    trefwoorden: ['een, twee', 'drie'],
    indicatieGebruiksrecht: false,
  })
  t.match(report.headers, { 'content-type': 'application/x-ndjson', 'content-disposition': /\.ndjson"$/ })
  const told = bytes
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.strictSame(told[0], { uuid, ...stated, opmerking: '', resultaat: 'Geïmporteerd' })
  t.match(bytes.toString(), /"titel":12345678901234567890,/, 'with the digits that were sent')
  t.match(told[1], { creatiedatum: '1-5-2024', opmerking: /^creatiedatum: /, resultaat: 'Niet geïmporteerd' })
  t.match(told[2].opmerking, /^titel: /)
  t.match(told[3].opmerking, 'bestandspad: Dit veld is verplicht.')
  t.match(told[4], { regel: '{"titel":', opmerking: 'Rij 6: Dit is geen JSON-object van ten hoogste 32 niveaus.' })
  t.match(told[5].opmerking, 'geen JSON-object')
  t.match(told[6], { ...base, uuid: /^[0-9a-f-]{36}$/, identificatie: /^DOCUMENT-2024-/, resultaat: 'Geïmporteerd' })
  t.match(told[7].opmerking, 'ten hoogste 32 niveaus', 'the row fails alone')
  t.match((await call('GET', `${DOCUMENTEN}/${told[8].uuid}`)).body, { titel: '12345678901234567890' })
  const open = await givenImport(app)
  for (const [body, what] of [
    [Buffer.from(`{"titel":"${'x'.repeat(1024 * 1024)}"}`), 'groter dan'],
    [Buffer.from([0x7b, 0xe9, 0x7d]), '0xE9'],
  ] as const) {
    const answer = await call('POST', `${API}/${open}/upload`, body, {
      headers: { 'content-type': 'application/x-ndjson' },
    })
    t.match(answer, { status: 400, body: { code: 'parse_error', detail: what } })
  }
})
