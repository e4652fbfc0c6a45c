// What becomes of the rows of an import: good ones, and every kind of bad one.
import { createHash, randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { givenCatalogus, givenInformatieobjecttype, type TestApp, testApp, uuidOf } from '../app.ts'
import {
  API,
  type CsvRow,
  csvText,
  DOCUMENTEN,
  givenFile,
  givenImport,
  goodRow,
  outcome,
  runImport,
} from './importing.ts'

t.setTimeout(580_000)
const app = await testApp(t)
const type = await givenInformatieobjecttype(app, { vertrouwelijkheidaanduiding: 'zaakvertrouwelijk' })
const concept = await givenInformatieobjecttype(app, { concept: true })
await givenFile(app, 'map/brief.txt', 'de inhoud')
const SHA256 = createHash('sha256').update('de inhoud').digest('hex')

const UUID = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff'

t.test('what a row leaves empty is measured, derived or unknown', async (t) => {
  const { status, rows } = await runImport(app, csvText([goodRow(type, 'map/brief.txt', { uuid: UUID })]))
  t.match(status, { status: 'finished', total: 1, processed: 1, processedSuccessfully: 1, processedInvalid: 0 })
  t.match(rows[0], { opmerking: '', resultaat: 'Geïmporteerd', uuid: UUID, identificatie: '' })
  const { body } = await app.call('GET', `${DOCUMENTEN}/${UUID}`)
  t.match(body, {
    identificatie: /^DOCUMENT-2024-\d{10}$/,
    vertrouwelijkheidaanduiding: 'zaakvertrouwelijk',
    bestandsnaam: 'brief.txt',
    bestandsomvang: 9,
    indicatieGebruiksrecht: null,
    ondertekening: null,
    integriteit: null,
    ontvangstdatum: null,
    verzenddatum: null,
    status: '',
    trefwoorden: [],
    versie: 1,
    locked: false,
  })
  const [stored] = await app.database.sql`select encode(sha256, 'hex') as sha256, size from file`
  t.strictSame({ ...stored }, { sha256: SHA256, size: 9 })
  const bytes = await app.call('GET', `${DOCUMENTEN}/${UUID}/download`)
  t.equal(bytes.text, 'de inhoud')
})

t.test('what a row states is stored as stated', async (t) => {
  const uuid = 'AAAAAAAA-0000-1000-8000-000000000001' // version 1, upper case
  const stated = {
    uuid,
    identificatie: 'BRIEF-1',
    vertrouwelijkheidaanduiding: 'geheim',
    status: 'definitief',
    formaat: 'text/plain',
    bestandsnaam: 'ander.txt',
    bestandsomvang: '9',
    link: 'https://example.com/brief',
    beschrijving: 'met "aanhalingstekens", komma en\nregel',
    ontvangstdatum: '2024-03-01',
    verzenddatum: '2024-03-02',
    indicatieGebruiksrecht: 'false',
    verschijningsvorm: 'vorm',
    'ondertekening.soort': 'digitaal',
    'ondertekening.datum': '2024-03-03',
    'integriteit.algoritme': 'sha_256',
    'integriteit.waarde': SHA256.toUpperCase(),
    'integriteit.datum': '2024-03-04',
    trefwoorden: 'een,twee drie',
  }
  const { rows } = await runImport(app, csvText([goodRow(type, 'map/brief.txt', stated)]))
  t.match(rows[0], { ...stated, opmerking: '', resultaat: 'Geïmporteerd' })
  const { body } = await app.call('GET', `${DOCUMENTEN}/${uuid.toLowerCase()}`)
  t.match(body, {
    identificatie: 'BRIEF-1',
    bronorganisatie: '000000000',
    creatiedatum: '2024-02-29',
    vertrouwelijkheidaanduiding: 'geheim',
    status: 'definitief',
    formaat: 'text/plain',
    taal: 'nld',
    bestandsnaam: 'ander.txt',
    bestandsomvang: 9,
    link: 'https://example.com/brief',
    beschrijving: stated.beschrijving,
    ontvangstdatum: '2024-03-01',
    verzenddatum: '2024-03-02',
    indicatieGebruiksrecht: false,
    verschijningsvorm: 'vorm',
    ondertekening: { soort: 'digitaal', datum: '2024-03-03' },
    integriteit: { algoritme: 'sha_256', waarde: SHA256.toUpperCase(), datum: '2024-03-04' },
    informatieobjecttype: type,
    trefwoorden: ['een', 'twee drie'],
  })
})

t.test('an import announces nothing', async (t) => {
  await app.database.sql`delete from notificatie`
  await runImport(app, csvText([goodRow(type, 'map/brief.txt'), goodRow(type, 'map/brief.txt')]))
  t.strictSame(Array.from(await app.database.sql`select * from notificatie`), [])
})

/** Every way in which a row can be wrong, and what its comment has to tell. */
const BAD: [what: string, change: CsvRow | ((row: CsvRow) => string[]), comment: RegExp][] = [
  ['too few values', (row) => Object.values(row), /^Rij 3: te weinig waarden/],
  ['too many values', (row) => [...Array(27).fill(row.titel), 'x'], /^Rij 3: te veel waarden/],
  ['uuid that is none', { uuid: 'geen-uuid' }, /^uuid: /],
  ['uuid of a document that exists', { uuid: UUID }, /^uuid: Er bestaat al een document/],
  ['uuid of a document that exists, in capitals', { uuid: UUID.toUpperCase() }, /^uuid: Er bestaat al een document/],
  ['identificatie that exists', { identificatie: 'BRIEF-1' }, /^identificatie: /],
  ['identificatie too long', { identificatie: 'x'.repeat(41) }, /^identificatie: .*40/],
  ['bronorganisatie empty', { bronorganisatie: '' }, /^bronorganisatie: /],
  ['bronorganisatie that fails the check', { bronorganisatie: '123456789' }, /^bronorganisatie: .*elfproef/],
  ['bronorganisatie with letters', { bronorganisatie: 'abcdefghi' }, /^bronorganisatie: /],
  ['creatiedatum empty', { creatiedatum: '' }, /^creatiedatum: /],
  ['creatiedatum that does not exist', { creatiedatum: '2023-02-29' }, /^creatiedatum: .*datum/],
  ['creatiedatum with a year of two digits', { creatiedatum: '29-02-24' }, /^creatiedatum: .*vier cijfers/],
  ['creatiedatum in year 0', { creatiedatum: '0000-00-00' }, /^creatiedatum: .*datum/],
  ['creatiedatum with a time', { creatiedatum: '2024-02-29T00:00:00Z' }, /^creatiedatum: .*datum/],
  ['titel empty', { titel: '' }, /^titel: .*verplicht/],
  ['titel too long', { titel: 'x'.repeat(201) }, /^titel: .*200/],
  ['titel with NUL', { titel: 'a\0b' }, /^titel: .*teken/],
  [
    'vertrouwelijkheidaanduiding unknown',
    { vertrouwelijkheidaanduiding: 'OPENBAAR' },
    /^vertrouwelijkheidaanduiding: /,
  ],
  ['auteur empty', { auteur: '' }, /^auteur: .*verplicht/],
  ['auteur too long', { auteur: 'x'.repeat(201) }, /^auteur: .*200/],
  ['status unknown', { status: 'klaar' }, /^status: /],
  ['status of a received document', { status: 'in_bewerking', ontvangstdatum: '2024-03-01' }, /^status: /],
  ['formaat too long', { formaat: 'x'.repeat(256) }, /^formaat: .*255/],
  ['taal empty', { taal: '' }, /^taal: .*verplicht/],
  ['taal too short', { taal: 'nl' }, /^taal: /],
  ['taal too long', { taal: 'nlds' }, /^taal: /],
  ['bestandsnaam too long', { bestandsnaam: 'x'.repeat(256) }, /^bestandsnaam: .*255/],
  ['bestandsomvang no number', { bestandsomvang: 'groot' }, /^bestandsomvang: .*geheel getal/],
  ['bestandsomvang with exponent', { bestandsomvang: '1e309' }, /^bestandsomvang: .*geheel getal/],
  ['bestandsomvang negative', { bestandsomvang: '-1' }, /^bestandsomvang: /],
  ['bestandsomvang other than the file', { bestandsomvang: '10' }, /^bestandsomvang: Het bestand is 9 bytes groot/],
  ['bestandspad empty', { bestandspad: '' }, /^bestandspad: .*verplicht/],
  ['bestandspad absent', { bestandspad: 'map/geen.txt' }, /^bestandspad: .*bestaat niet/],
  ['bestandspad a directory', { bestandspad: 'map' }, /^bestandspad: .*gewoon bestand/],
  ['bestandspad absolute', { bestandspad: '/etc/passwd' }, /^bestandspad: .*relatief/],
  ['bestandspad upwards', { bestandspad: 'map/../map/brief.txt' }, /^bestandspad: .*\.\./],
  ['bestandspad with NUL', { bestandspad: 'map/brief.txt\0' }, /^bestandspad: .*teken/],
  ['link no URL', { link: 'geen url' }, /^link: .*URL/],
  ['link too long', { link: `https://example.com/${'x'.repeat(200)}` }, /^link: .*200/],
  ['beschrijving too long', { beschrijving: 'x'.repeat(1001) }, /^beschrijving: .*1000/],
  ['ontvangstdatum no date', { ontvangstdatum: 'gisteren' }, /^ontvangstdatum: .*datum/],
  ['verzenddatum no date', { verzenddatum: '2024-13-01' }, /^verzenddatum: .*datum/],
  ['indicatieGebruiksrecht true', { indicatieGebruiksrecht: 'true' }, /^indicatieGebruiksrecht: .*gebruiksrecht/],
  ['indicatieGebruiksrecht unclear', { indicatieGebruiksrecht: 'misschien' }, /^indicatieGebruiksrecht: /],
  ['ondertekening without date', { 'ondertekening.soort': 'pki' }, /^ondertekening\.datum: /],
  ['ondertekening without soort', { 'ondertekening.datum': '2024-01-01' }, /^ondertekening\.soort: /],
  [
    'ondertekening of unknown soort',
    { 'ondertekening.soort': 'x', 'ondertekening.datum': '2024-01-01' },
    /^ondertekening\.soort: /,
  ],
  [
    'integriteit without algoritme',
    { 'integriteit.waarde': 'x', 'integriteit.datum': '2024-01-01' },
    /^integriteit\.algoritme: /,
  ],
  ['integriteit without date', { 'integriteit.algoritme': 'md5', 'integriteit.waarde': 'x' }, /^integriteit\.datum: /],
  [
    'integriteit.waarde too long',
    { 'integriteit.algoritme': 'hmac', 'integriteit.waarde': 'x'.repeat(129), 'integriteit.datum': '2024-01-01' },
    /^integriteit\.waarde: .*128/,
  ],
  [
    'integriteit of another file',
    { 'integriteit.algoritme': 'md5', 'integriteit.waarde': '0'.repeat(32), 'integriteit.datum': '2024-01-01' },
    /^integriteit\.waarde: .*hoort niet bij het bestand/,
  ],
  ['informatieobjecttype empty', { informatieobjecttype: '' }, /^informatieobjecttype: .*verplicht/],
  ['informatieobjecttype no URL', { informatieobjecttype: 'geen type' }, /^informatieobjecttype: .*URL/],
  [
    'informatieobjecttype unknown',
    { informatieobjecttype: type.replace(/.{12}$/, '000000000000') },
    /^informatieobjecttype: .*bestaat niet/,
  ],
  [
    'informatieobjecttype of another kind',
    { informatieobjecttype: 'http://localhost/catalogi/api/v1/x' },
    /^informatieobjecttype: /,
  ],
  ['informatieobjecttype elsewhere', { informatieobjecttype: 'http://elders.example/x' }, /^informatieobjecttype: /],
  ['informatieobjecttype a concept', { informatieobjecttype: concept }, /^informatieobjecttype: .*concept/],
  ['zaakUuid unknown', { zaakUuid: '6f9619ff-8b86-4d01-b42d-00cf4fc964aa' }, /^zaakUuid: .*bestaat niet/],
  ['zaakUuid that is none', { zaakUuid: 'zaak' }, /^zaakUuid: /],
  ['trefwoorden with an empty word', { trefwoorden: 'een,,twee' }, /^trefwoorden: /],
  ['trefwoorden with a long word', { trefwoorden: 'x'.repeat(101) }, /^trefwoorden: .*100/],
  [
    'three faults at once',
    { titel: '', taal: 'x', bestandsomvang: 'y' },
    /^(?=.*titel: )(?=.*taal: )(?=.*bestandsomvang: )/,
  ],
]

t.test('a bad row is told why, and its neighbours in the batch become documents', async (t) => {
  const rijen = BAD.flatMap(([, change]) => {
    const row = goodRow(type, 'map/brief.txt')
    return [row, typeof change === 'function' ? change(row) : { ...row, ...change }]
  })
  const { rows, status } = await runImport(app, csvText(rijen))
  t.match(status, { status: 'finished', total: 2 * BAD.length, processedSuccessfully: BAD.length })
  for (const [index, [what, , comment]] of BAD.entries()) {
    t.equal(rows[2 * index]!.resultaat, 'Geïmporteerd', `before ${what}`)
    const numbered = new RegExp(comment.source.replace('Rij 3', `Rij ${2 * index + 3}`))
    t.match(rows[2 * index + 1], { resultaat: 'Niet geïmporteerd', opmerking: numbered }, what)
  }
  await noStrayFiles(t, app)
})

t.test('a checksum is verified for the algorithms that Node has, and kept unverified for the others', async (t) => {
  const hash = (name: string) => createHash(name).update('de inhoud').digest('hex')
  const right: [string, string][] = [
    ['md5', hash('md5')],
    ['sha_1', hash('sha1')],
    ['sha_256', hash('sha256')],
    ['sha_512', hash('sha512')],
    ['sha_3', hash('sha3-256')],
    ['crc_32', '60d1b5ef'],
    ['crc_16', 'anything'],
    ['fletcher_4', ''],
    ['hmac', 'depends on a key'],
  ]
  const { crc32 } = await import('node:zlib')
  right[5]![1] = crc32('de inhoud').toString(16).padStart(8, '0')
  const rows = (waarde: (right: string) => string) =>
    right.map(([algoritme, value]) =>
      goodRow(type, 'map/brief.txt', {
        'integriteit.algoritme': algoritme,
        'integriteit.waarde': waarde(value),
        'integriteit.datum': '2024-01-01',
      }),
    )
  const good = await runImport(app, csvText(rows((value) => value)))
  t.strictSame(
    good.rows.map(({ opmerking }) => opmerking),
    right.map(() => ''),
  )
  const bad = await runImport(
    app,
    csvText(rows((value) => value.replace(/^./, (first) => (first === '0' ? '1' : '0')))),
  )
  for (const [index, [algoritme]] of right.entries()) {
    const verified = index < 6
    t.equal(bad.rows[index]!.resultaat, verified ? 'Niet geïmporteerd' : 'Geïmporteerd', algoritme)
  }
})

t.test('two files of one name are two documents with their own bytes', async (t) => {
  await givenFile(app, 'a/scan.pdf', 'van a')
  await givenFile(app, 'b/scan.pdf', 'van b')
  const uuids = ['11111111-0000-4000-8000-000000000001', '11111111-0000-4000-8000-000000000002']
  await runImport(
    app,
    csvText([goodRow(type, 'a/scan.pdf', { uuid: uuids[0]! }), goodRow(type, 'b/scan.pdf', { uuid: uuids[1]! })]),
  )
  for (const [index, text] of ['van a', 'van b'].entries()) {
    const { body } = await app.call('GET', `${DOCUMENTEN}/${uuids[index]}`)
    t.equal(body.bestandsnaam, 'scan.pdf')
    t.equal((await app.call('GET', body.inhoud)).text, text)
  }
})

t.test('the report has the original cells, and what was given out when asked', async (t) => {
  const header = ['extra', 'trefwoorden', ...(await columnsBut('trefwoorden')), 'nog een']
  const row = goodRow(type, 'map/brief.txt', { extra: '=1+1', 'nog een': ' spatie ', trefwoorden: '"x",y' })
  const { uuid, text } = await runImport(app, csvText([row], header))
  t.equal(
    text,
    csvText([[...header.map((naam) => row[naam] ?? ''), '', 'Geïmporteerd']], [...header, 'opmerking', 'resultaat']),
  )
  const { text: given } = await app.call('GET', `/documenten/api/v1/import/${uuid}/report?toegekend=true`)
  t.match(given, /,DOCUMENT-2024-\d{10},/)
  const [document] = await app.database
    .sql`select uuid, identificatie from enkelvoudiginformatieobject order by id desc limit 1`
  t.match(given, document!.uuid)
  t.match(given, document!.identificatie)
  const { text: safe } = await app.call('GET', `/documenten/api/v1/import/${uuid}/report?formules=neutraliseren`)
  t.match(safe, "\r\n'=1+1,")
})

async function columnsBut(naam: string): Promise<string[]> {
  const { COLUMN_NAMES } = await import('../../src/documenten/import/columns.ts')
  return COLUMN_NAMES.filter((column) => column !== naam).toReversed()
}

/** Every stored file belongs to a document: what was copied for a failed row is gone. */
async function noStrayFiles(t: Test, { config, database }: TestApp): Promise<void> {
  const entries = await readdir(config.documentenDir, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && entry.name !== '.zaakstroom')
  const [{ count }] = (await database.sql`select count(*)::int as count from file`) as unknown as [{ count: number }]
  t.equal(files.length, count, 'as many files as documents have')
}

t.test('a row names its type by omschrijving, and its catalogue where several have it', async (t) => {
  const catalogus = await givenCatalogus(app)
  const { body: made } = await app.call('GET', catalogus)
  const advice = await givenInformatieobjecttype(app, { catalogus, omschrijving: 'Advies van buiten' })
  const brief = await givenInformatieobjecttype(app, { catalogus, omschrijving: 'Brief' })
  await givenInformatieobjecttype(app, { catalogus, omschrijving: 'Verlopen', eindeGeldigheid: '2024-12-31' })
  const named = ['advies van Buiten', `Brief (${made.domein})`, 'Brief', 'Nergens', 'Verlopen']
  const { rows } = await runImport(
    app,
    csvText(named.map((name) => goodRow(name, 'map/brief.txt', { uuid: randomUUID() }))),
  )
  t.same(
    rows.map(({ resultaat }) => resultaat === 'Geïmporteerd'),
    [true, true, false, false, false],
    'what several catalogues have, none has, or is over, is refused',
  )
  t.match(rows[3], { informatieobjecttype: 'Nergens', opmerking: /^informatieobjecttype: / })
  t.equal(rows[0]!.informatieobjecttype, 'advies van Buiten', 'the report gives back what was supplied')
  for (const [place, url] of [advice, brief].entries()) {
    const { body } = await app.call('GET', `${DOCUMENTEN}/${rows[place]!.uuid}`)
    t.equal(body.informatieobjecttype, url)
  }
})

t.test('a file from Excel in Dutch is imported: semicolons and a byte order mark', async (t) => {
  const csv = `\ufeff${csvText([goodRow(type, 'map/brief.txt', { titel: 'Uit Excel' })]).replaceAll(',', ';')}`
  const { rows, text } = await runImport(app, csv)
  t.match(rows[0], { titel: 'Uit Excel', resultaat: 'Geïmporteerd' })
  t.match(text, /^\ufeff[^,\n]*;/, 'and its report opens in the same Excel')
})

t.test('a report that is fed back makes nothing twice, and its report is as wide', async (t) => {
  const names = await Promise.all(['een', 'twee', 'drie'].map((name) => givenFile(app, `terug/${name}.txt`)))
  const csv = csvText([...names, 'terug/weg.txt'].map((name) => goodRow(type, name)))
  const first = await runImport(app, csv)
  t.match(first.status, { processedSuccessfully: 3, processedInvalid: 1, alreadyImported: 0 })
  await givenFile(app, 'terug/weg.txt')
  const second = await runImport(app, first.text)
  t.match(second.status, { total: 1, processedSuccessfully: 1, processedInvalid: 0, alreadyImported: 3 })
  t.equal(second.text.split('\r\n')[0], first.text.split('\r\n')[0], 'the two columns are there once')
  const all = await givenImport(app)
  t.equal((await app.call('POST', `${API}/${all}/upload`, second.text)).status, 200)
  const { body: status } = await app.call('GET', `${API}/${all}`)
  t.match(status, { status: 'finished', total: 0, alreadyImported: 1 })

  const ndjson = (rows: object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  const line = { ...goodRow(type, names[0]!), resultaat: 'Geïmporteerd' }
  const uuid = await givenImport(app)
  const headers = { 'content-type': 'application/x-ndjson' }
  const body = ndjson([line, { ...line, resultaat: 'Niet geïmporteerd' }])
  t.equal((await app.call('POST', `${API}/${uuid}/upload`, body, { headers })).status, 200)
  await app.runJobs()
  t.match((await app.call('GET', `${API}/${uuid}`)).body, { total: 1, processedSuccessfully: 1, alreadyImported: 1 })
})

t.test(
  'what failed comes as a file of its own, and is the rest of the same import: nothing is made twice',
  async (t) => {
    const good = await Promise.all(['a', 'b', 'c'].map((name) => givenFile(app, `rest/${name}.txt`)))
    const rows = [
      goodRow(type, good[0]!),
      goodRow(type, good[1]!, { auteur: '' }),
      goodRow(type, good[2]!),
      goodRow(type, 'rest/weg.txt'),
    ]
    const first = await runImport(app, csvText(rows))
    t.match(first.status, { processedSuccessfully: 2, processedInvalid: 2 })
    for (const which of ['mislukt', 'rest']) {
      const { rows: failed } = await outcome(app, first.uuid, `?rijen=${which}`)
      t.strictSame(
        failed.map(({ bestandspad, resultaat }) => [bestandspad, resultaat]),
        [good[1], 'rest/weg.txt'].map((path) => [path, 'Niet geïmporteerd']),
      )
    }
    t.equal((await app.call('GET', `${API}/${first.uuid}/report?rijen=alle`)).status, 400)

    // All rows again, of which one was mended, and a spreadsheet wrote days otherwise.
    const mended = rows.map((row) => ({ ...row, auteur: 'Auteur', creatiedatum: '29-2-2024' }))
    const rest = async (of: string, csv: string) => {
      const made = await app.call('POST', `${API}/create?rest_van=${of}`)
      t.equal(made.status, 201, made.text)
      const uuid = uuidOf(made.body.url)
      t.equal((await app.call('POST', `${API}/${uuid}/upload`, csv)).status, 200)
      await app.runJobs()
      return outcome(app, uuid)
    }
    const second = await rest(first.uuid, csvText(mended))
    t.match(second.status, { total: 2, processedSuccessfully: 1, processedInvalid: 1, alreadyImported: 2 })
    await givenFile(app, 'rest/weg.txt')
    const third = await rest(second.uuid, csvText(mended))
    t.match(third.status, { total: 1, processedSuccessfully: 1, alreadyImported: 3 }, 'also what the first one made')
    t.equal((await app.call('POST', `${API}/create?rest_van=${randomUUID()}`)).status, 404)
    const open = await givenImport(app)
    const { body } = await app.call('POST', `${API}/create?rest_van=${open}`)
    t.match(body.invalidParams, [{ code: 'invalid-status' }])
    t.equal((await app.call('DELETE', `${API}/${open}/delete`)).status, 204)
  },
)

t.test('rows have the number that they have in the file, also behind empty ones', async (t) => {
  const tooMany = csvText([goodRow(type, 'map/brief.txt')]).split('\r\n')[1]
  const header = csvText([]).trim()
  const csv = [header, tooMany, '', ',,,', `${tooMany},te,veel`, '', `${tooMany},ook`].join('\r\n')
  const { rows, status } = await runImport(app, `${csv}\r\n`)
  t.match(status, { total: 3, emptyRows: 3 })
  t.match(
    rows.map(({ opmerking }) => opmerking),
    ['', /^Rij 5: te veel waarden/, /^Rij 7: te veel waarden/],
  )
  const uuid = await givenImport(app)
  const headers = { 'content-type': 'application/x-ndjson' }
  const lines = await app.call('POST', `${API}/${uuid}/upload`, `\n{\n\n[]\n`, { headers })
  t.equal(lines.status, 200)
  await app.runJobs()
  const remarks = await app.database.sql<{ remark: string }[]>`
    select u.remark from import_outcome u join import i on i.id = u.import_id where i.uuid = ${uuid} order by u.number`
  t.match(
    remarks.map(({ remark }) => remark),
    [/^Rij 2: Dit is geen JSON-object/, /^Rij 4: Dit is geen JSON-object/],
  )
})
