// Starting an import in the browser: the file, the dry run, the start, and everything that may be wrong with them.
import { createHash, randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { COLUMN_NAMES } from '../../src/documenten/import/columns.ts'
import { deleteOldDrafts } from '../../src/documenten/import/draft.ts'
import { BASE, givenInformatieobjecttype, givenZaaktype, testApp } from '../app.ts'
import { API, type CsvRow, csvText, DOCUMENTEN, givenFile, goodRow } from '../documenten/importing.ts'
import { until } from '../until.ts'
import { accessibilityFaults, asBeheerder, needsBrowser, setUpPages } from './browser.ts'
import { allShapes, asClient, endAll, type Inhoud, SCRIPT } from './import-pages.ts'

/** A file name that would run as script; browsers send no quotes and slashes in one. */
const FILE = '<img src=x onerror=alert(1)>.csv'

t.test('starting an import in the browser', await needsBrowser(), async (t) => {
  const test = await setUpPages(t, { MIN_UPLOAD_SIZE: String(60 * 1024 * 1024), PUBLIC_URL: BASE })
  const { call, database } = test
  const type = await givenInformatieobjecttype(test)
  await givenFile(test, 'brief.txt')
  const good = (values: CsvRow = {}) => goodRow(type, 'brief.txt', values)
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-csv-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))

  const counts = async () => {
    const [row] = await database.sql`
      select (select count(*)::int from import) as imports,
        (select count(*)::int from import_row r join import i on r.import_id = coalesce(i.rows_id, i.id)) as regels,
        (select count(*)::int from import_draft) as concepten,
        (select count(*)::int from import_row r where not exists (select from import i where r.import_id = coalesce(i.rows_id, i.id))) as klaargezet,
        (select count(*)::int from enkelvoudiginformatieobject) as documenten, (select count(*)::int from file) as bestanden`
    return { ...row }
  }
  const conceptOf = (response: Response) => {
    const location = response.headers.get('location') ?? ''
    if (!/\/beheer\/imports\/concept\/[0-9a-f-]{36}$/.test(location))
      throw new Error(`not taken in: ${response.status}`)
    return location
  }

  await t.test('from the file to the first error with the keyboard alone, and without script', async (t) => {
    const file = join(directory, 'eerste.csv')
    await writeFile(file, csvText([good({ titel: SCRIPT }), good({ titel: '' }), good({ bestandspad: 'weg.txt' })]))
    for (const javaScriptEnabled of [true, false]) {
      const { tab, context, klachten } = await asBeheerder(test, 'operator', { javaScriptEnabled })
      const press = async (selector: string) => {
        await tab.focus(selector)
        await tab.keyboard.press('Enter')
      }
      await tab.goto('/beheer/imports')
      await press('a:has-text("Import starten")')
      await tab.waitForURL('**/imports/nieuw')
      await tab.setInputFiles('#veld-bestand', file)
      await press('text=Uploaden en controleren')
      await tab.waitForURL('**/imports/concept/*')
      t.match(await tab.textContent('main'), /De kopregel klopt\. Het bestand heeft 3 rijen/)
      t.same(await tab.locator('tbody tr th').allTextContents(), ['2', '3', '4'])
      t.match(await tab.textContent('tbody'), SCRIPT.slice(0, 40))
      await tab.waitForSelector('progress')
      await test.runJobs()
      // With script it is told at once, without it the page asks anew.
      await tab.waitForSelector('text=Proefdraaien is klaar: 2 van de 3 rijen hebben een fout', { timeout: 60_000 })
      t.match(await tab.textContent('main'), /titel: Dit veld is verplicht\.\s+1\s+rij 3/)
      t.same(
        await tab.locator('.knop').allTextContents(),
        ['Verbeterd bestand kiezen'],
        'with wrong rows starting is not it',
      )
      const preview = tab.locator('table').last()
      t.match(await preview.locator('tbody tr th').allTextContents(), [/^3 fout/, /^4 fout/, /^2$/], 'wrong rows first')
      t.match(await preview.locator('.cel-fout').first().textContent(), /^\(leeg\)\s*Dit veld is verplicht\.$/)
      t.match(await tab.textContent('main'), /Leeg in deze rijen, en daarom weggelaten: .*beschrijving/)
      const concept = tab.url()
      await press('a:has-text("titel: Dit veld is verplicht.")')
      await tab.waitForURL('**/fouten?reden=*')
      t.same(await tab.locator('tbody tr th').allTextContents(), ['3'])
      if (javaScriptEnabled) t.same(await accessibilityFaults(tab), [])
      await press('text=Alle rijen met een fout')
      await tab.waitForURL(/fouten$/)
      t.same(await tab.locator('tbody tr th').allTextContents(), ['3', '4'])
      await tab.goto(concept)
      await press('button:has-text("Import starten")')
      await tab.waitForURL(/imports\/[0-9a-f-]{36}$/)
      await test.runJobs()
      await tab.waitForSelector('text=Klaar, met fouten', { timeout: 60_000 })
      t.match(await tab.textContent('main'), /bestandspad: Het bestand bestaat niet/)
      t.same(klachten, [])
      await context.close()
    }
    t.match(await counts(), { concepten: 0, klaargezet: 0 }, 'the file has become the import')
    const [audit] =
      await database.sql`select array_agg(handeling order by id) as done from beheer_audit where handeling like 'import-%'`
    t.same(audit!.done.slice(0, 2), ['import-bestand-klaarzetten', 'import-starten'])
  })

  await t.test('what is no import file is refused in words, and nothing of it is kept', async (t) => {
    const before = await counts()
    const pagesClient = await asClient(test, 'operator')
    const header = COLUMN_NAMES.join(',')
    const rubbish: [string, Inhoud, RegExp][] = [
      ['nothing', '', /Het bestand is leeg/],
      ['a header alone', `${header}\n`, /een kopregel, maar geen rijen/],
      ['another encoding', Buffer.from(`${header}\n${'é,'.repeat(26)}é\n`, 'latin1'), /geen geldige UTF-8.*CSV UTF-8/s],
      ['two bytes a character', Buffer.from(`\ufeff${header}\n`, 'utf16le'), /een kopregel, maar geen rijen/],
      ['a missing header', csvText([good()], COLUMN_NAMES.slice(1)), /ontbreken: uuid\..*Voeg deze kolommen toe/s],
      ['tabs', header.replaceAll(',', '\t'), /een kopregel, maar geen rijen/],
      ['a header twice', csvText([good()], [...COLUMN_NAMES, 'titel']), /meer dan eens: titel/],
      ['an unclosed quote', `${header}\n"${'a,'.repeat(26)}\n`, /aanhalingsteken dat niet wordt gesloten/],
      ['text after a quote', `${header}\n"a"b\n`, /tekst na een sluitend aanhalingsteken/],
      ['a picture', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), /geen geldige UTF-8/],
      ['a cell of 50 MB', `${header}\n"${'x'.repeat(50 * 1024 * 1024)}`, /is groter dan 1048576 bytes/],
      [
        'a good start and then another encoding',
        Buffer.concat([Buffer.from(csvText(Array.from({ length: 5000 }, () => good()))), Buffer.from([0xff])]),
        /geen geldige UTF-8/,
      ],
      ['more than is allowed', `${header}\n${`${'x'.repeat(999_999)}\n`.repeat(64)}`, /is groter dan 62,9 MB/],
    ]
    for (const [what, body, message] of rubbish) {
      const answer = await pagesClient.upload(body)
      t.equal(answer.status, 400, what)
      t.match((await answer.text()).replaceAll('&#39;', "'"), message, what)
    }
    t.match(await (await pagesClient.upload('x', '')).text(), /geen bestand gekozen/)
    await test.runJobs()
    t.same(await counts(), before)
  })

  await t.test('a header with further columns, and rows that do not fit, are shown as they are', async (t) => {
    const pagesClient = await asClient(test, 'operator')
    const header = [...COLUMN_NAMES, SCRIPT, '']
    const made = conceptOf(await pagesClient.upload(csvText([good(), ['een'], Array(60).fill('x'), []], header), FILE))
    const inAlleVormen = await allShapes(test, 'operator')
    await inAlleVormen(t, made, (text) =>
      t.match(text, /Deze kolommen worden niet gebruikt: <script>.*\(zonder naam\)/s),
    )
    await inAlleVormen(t, '/beheer/imports', (text) => t.match(text, FILE))
    await inAlleVormen(t, '/beheer/imports/nieuw', (text) => t.match(text, 'Excel-werkmap'))
    await inAlleVormen(t, made, (text) => t.match(text, 'Het proefdraaien is bezig'))
    await test.runJobs()
    await inAlleVormen(t, made, (text) => t.match(text, /2 van de 3 rijen hebben een fout/))
    t.equal((await pagesClient.post(`${made}/annuleren`)).headers.get('location'), '/beheer/imports')
    t.equal((await pagesClient.get(made)).status, 404)
    t.equal((await pagesClient.post(`${made}/starten`)).status, 404)
    await test.runJobs()
    t.match(await counts(), { concepten: 0, klaargezet: 0 })
  })

  await t.test('the dry run finds what the import finds, and writes nothing', async (t) => {
    const catalogus = (await call('GET', type)).body.catalogus
    const concept = await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Concept', concept: true })
    const zaaktype = await givenZaaktype(test, { catalogus })
    const { body: zaak } = await call(
      'POST',
      '/zaken/api/v1/zaken',
      { zaaktype, bronorganisatie: '000000000', verantwoordelijkeOrganisatie: '000000000', startdatum: '2024-01-01' },
      { headers: { 'content-crs': 'EPSG:4326', 'accept-crs': 'EPSG:4326' } },
    )
    const { body: bestaand } = await call('POST', DOCUMENTEN, {
      bronorganisatie: '000000000',
      identificatie: 'BESTAAT',
      creatiedatum: '2024-01-01',
      titel: 'x',
      auteur: 'x',
      taal: 'nld',
      informatieobjecttype: type,
    })
    const [uuid, tweemaal] = [randomUUID(), randomUUID()]
    const sha256 = createHash('sha256').update('brief.txt').digest('hex')
    const integriteit = (waarde: string): CsvRow => ({
      'integriteit.algoritme': 'sha_256',
      'integriteit.waarde': waarde,
      'integriteit.datum': '2024-01-01',
    })
    const kinds: (CsvRow | string[])[] = [
      good(),
      good({ uuid }),
      good({ uuid: uuid.toUpperCase() }),
      good({ uuid: tweemaal, titel: '' }),
      good({ uuid: tweemaal }),
      good({ identificatie: 'DUBBEL' }),
      good({ identificatie: 'DUBBEL' }),
      good({ identificatie: 'BESTAAT' }),
      good({ uuid: bestaand.url?.split('/').at(-1) ?? '' }),
      good({ uuid: 'geen' }),
      ...COLUMN_NAMES.map((column) => good({ [column]: '' })),
      good({ creatiedatum: '2024-02-30' }),
      good({ taal: 'nl' }),
      good({ status: 'weg' }),
      good({ status: 'in_bewerking', ontvangstdatum: '2024-01-01' }),
      good({ indicatieGebruiksrecht: 'true' }),
      good({ indicatieGebruiksrecht: 'ja' }),
      good({ trefwoorden: 'a,,b' }),
      good({ 'ondertekening.soort': 'digitaal' }),
      good({ titel: 'x'.repeat(201) }),
      good({ bestandsomvang: '9' }),
      good({ bestandsomvang: '10' }),
      good({ bestandsomvang: 'tien' }),
      good(integriteit(sha256)),
      good(integriteit('0'.repeat(64))),
      ...['weg.txt', '../brief.txt', '/etc/passwd', 'a//b', '.', 'map\\brief.txt'].map((bestandspad) =>
        good({ bestandspad }),
      ),
      good({ informatieobjecttype: concept }),
      good({ informatieobjecttype: `${type}0` }),
      good({ informatieobjecttype: 'https://elders.example/1' }),
      good({ zaakUuid: randomUUID() }),
      good({ zaakUuid: zaak.uuid }),
      good({ titel: 'nul\0' }),
      ['te', 'kort'],
      [],
      Array(30).fill('x'),
    ]
    // Twins far apart: further than what is judged together.
    const filler = Array.from({ length: 700 }, (_, n) => good({ titel: `Vulling ${n}` }))
    const csv = csvText([...kinds, ...filler, good({ uuid }), good({ identificatie: 'DUBBEL' }), ...kinds])
    const pagesClient = await asClient(test, 'operator')
    const made = conceptOf(await pagesClient.upload(csv))
    const before = await counts()
    await test.runJobs()
    t.same(await counts(), before, 'nothing was imported')
    const [trial] =
      await database.sql`select id, trial_status, trial_handled, trial_faults from import_draft where deleted_at is null`
    t.match(
      trial,
      { trial_status: 'klaar', trial_handled: 2 * (kinds.length - 1) + 702 },
      'the empty row is passed over',
    )
    const found =
      await database.sql`select reason, count from import_draft_fault_kind where draft_id = ${trial!.id} order by reason`
    const examples =
      await database.sql`select examples->0->'number' as number from import_draft_fault_kind where draft_id = ${trial!.id} order by reason`

    const rows = await database.sql`
      select number, remark from import_draft_fault where draft_id = ${trial!.id} order by number`
    const started = (await pagesClient.post(`${made}/starten`)).headers.get('location')!
    await test.runJobs()
    const [done] = await database.sql`select id, total, failed from import where uuid = ${started.split('/').at(-1)!}`
    const real =
      await database.sql`select reason, count from import_fault_kind where import_id = ${done!.id} order by reason`
    t.ok(real.length > 25, `${real.length} reasons`)
    t.same(Array.from(found), Array.from(real), 'the same reasons, as often')
    t.equal(trial!.trial_faults, done!.failed)
    const first = await database.sql`
      select min(import_line(import_id, number)) as number from import_outcome where import_id = ${done!.id} and not succeeded
      group by import_reason(remark) order by import_reason(remark)`
    t.same(Array.from(examples), Array.from(first), 'and the same rows')
    const realRows = await database.sql`
      select number, remark from import_outcome where import_id = ${done!.id} and not succeeded order by number`
    t.same(Array.from(rows), Array.from(realRows), 'every wrong row is listed, in the same words')
  })

  await t.test('a second import waits for the first, and the page says which one that is', async (t) => {
    const pagesClient = await asClient(test, 'operator')
    const first = conceptOf(await pagesClient.upload(csvText([good()]), 'eerste.csv'))
    const second = conceptOf(await pagesClient.upload(csvText([good()]), 'tweede.csv'))
    const answers = await Promise.all([pagesClient.post(`${first}/starten`), pagesClient.post(`${second}/starten`)])
    const started = answers.map((answer) => answer.headers.get('location')!).filter((to) => !to.includes('concept'))
    t.equal(started.length, 1, 'one of them started')
    const refused = answers.map((answer) => answer.headers.get('location')!).find((to) => to.includes('concept'))!
    await pagesClient.post(`${refused}/starten`) // what the page says last: the two answers came in any order
    const page = await (await pagesClient.get(refused)).text()
    t.match(page, /Er is al een import bezig, daarom is deze niet gestart/)
    t.match(page, `href="${started[0]}"`)
    await test.runJobs()
    t.notMatch((await pagesClient.post(`${refused}/starten`)).headers.get('location'), /concept/)
    await endAll(test)
  })

  await t.test('while an import is open, a file goes into the queue, and its page begins with its turn', async (t) => {
    await endAll(test)
    const pagesClient = await asClient(test, 'operator')
    const made = await Promise.all(
      ['een.csv', 'twee.csv', 'drie.csv'].map(async (name) =>
        conceptOf(await pagesClient.upload(csvText([good(), good({ titel: SCRIPT })]), name)),
      ),
    )
    await test.runJobs()
    const first = (await pagesClient.post(`${made[0]}/starten`)).headers.get('location')!
    await allShapes(test, 'operator').then((inAll) =>
      inAll(t, `${made[1]}`, (text) => t.match(text, /Er staat al een import open.*In de wachtrij zetten/s)),
    )
    const { tab, context, klachten } = await asBeheerder(test, 'operator')
    await tab.goto(made[1]!)
    await tab.click('button:text-is("In de wachtrij zetten")')
    await tab.waitForSelector('text=De import begint vanzelf zodra hij aan de beurt is')
    t.match(await tab.textContent('main'), /als eerste aan de beurt/)
    const last = (await pagesClient.post(`${made[2]}/starten`, { wachten: 'ja' })).headers.get('location')!
    const inAll = await allShapes(test, 'operator')
    await inAll(t, last, (text) => t.match(text, /In de wachtrij \(2\).*op plaats 2 in de wachtrij.*Import annuleren/s))
    await inAll(t, '/beheer/imports', (text) => t.match(text, /In de wachtrij \(2\).*In de wachtrij \(1\)/s))
    t.equal((await pagesClient.post(`${last}/verwijderen`)).headers.get('location'), '/beheer/imports')
    await test.runJobs()
    await tab.waitForSelector('text=Alle rijen zijn geïmporteerd')
    t.same(klachten, [])
    await context.close()
    t.match(await (await pagesClient.get(first)).text(), /Alle rijen zijn geïmporteerd/)
  })

  await t.test('without an import directory the page says so, and nothing starts', async (t) => {
    const pagesClient = await asClient(test, 'operator')
    const made = conceptOf(await pagesClient.upload(csvText([good()])))
    const { importDir } = test
    await rm(importDir, { recursive: true })
    t.match(await (await pagesClient.get(made)).text(), /De importmap bestaat niet/)
    t.equal((await pagesClient.post(`${made}/starten`)).headers.get('location'), made)
    await pagesClient.post(`${made}/proef`)
    await test.runJobs()
    t.match(await (await pagesClient.get(made)).text(), /Het proefdraaien is gestopt\. De importmap bestaat niet/)
    await givenFile(test, 'brief.txt')
    t.notMatch((await pagesClient.post(`${made}/starten`)).headers.get('location'), /concept/)
    await endAll(test)
  })

  await t.test('a viewer looks, and changes nothing', async (t) => {
    const operator = await asClient(test, 'operator')
    const made = conceptOf(await operator.upload(csvText([good()])))
    const viewer = await asClient(test, 'viewer')
    t.equal((await viewer.get(made)).status, 200)
    t.equal((await viewer.get('/beheer/imports/nieuw')).status, 403)
    const before = await counts()
    t.equal((await viewer.upload(csvText([good()]))).status, 403)
    for (const step of ['proef', 'starten', 'annuleren'])
      t.equal((await viewer.post(`${made}/${step}`)).status, 403, step)
    t.equal(
      (await operator.upload(csvText([good()]), 'x.csv', { _csrf: 'geen token' })).status,
      403,
      'nor does a form from elsewhere',
    )
    t.same(await counts(), before)
    await operator.post(`${made}/annuleren`)
  })

  await t.test('an upload that breaks off leaves nothing behind, and holds nothing', async (t) => {
    await test.runJobs()
    const before = await counts()
    const pagesClient = await asClient(test, 'operator')
    const line = 'grens-van-de-test'
    const sending = request(`${test.adres}/beheer/imports/nieuw`, {
      method: 'POST',
      headers: {
        cookie: pagesClient.cookie,
        origin: test.adres,
        'content-type': `multipart/form-data; boundary=${line}`,
      },
    })
    sending.on('error', () => {})
    sending.write(`--${line}\r\ncontent-disposition: form-data; name="_csrf"\r\n\r\n${pagesClient.token}\r\n`)
    sending.write(`--${line}\r\ncontent-disposition: form-data; name="bestand"; filename="x.csv"\r\n\r\n`)
    sending.write(csvText(Array.from({ length: 12_000 }, () => good())))
    const written = async () =>
      (
        await database.sql`select from import_row r join import_draft d on r.import_id = -d.id
      where d.total = 0 limit 1`
      ).length > 0
    await until('rows of the upload', written)
    // The sender has stopped: what is in the midst of a transaction now ends it by itself.
    const held = () =>
      database.sql`select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`
    await until('no connection waits for the sender', async () => (await held()).length === 0)
    sending.destroy()
    await until('the end of what was written', async () => {
      await test.runJobs()
      return !(await written())
    })
    t.same(await counts(), before)
    t.equal((await pagesClient.get('/beheer/imports')).status, 200)
  })

  await t.test('a file waits through a restart, and for no longer than a day', async (t) => {
    const pagesClient = await asClient(test, 'operator')
    const made = conceptOf(await pagesClient.upload(csvText([good()]), 'wacht.csv'))
    const other = await testApp(t, {
      DATABASE_URL: test.databaseUrl,
      SECRET_KEY: test.config.secretKey!,
      IMPORT_DOCUMENTEN_BASE_DIR: test.importDir,
    })
    const adres = await other.app.listen({ port: 0, host: '127.0.0.1' })
    const elsewhere = await asClient({ ...test, ...other, adres }, 'operator')
    t.match(await (await elsewhere.get(made)).text(), /wacht\.csv/)
    t.equal(await deleteOldDrafts(database.db), 0)
    await database.sql`update import_draft set created_at = now() - interval '25 hours' where deleted_at is null`
    t.equal(await deleteOldDrafts(database.db), 1)
    t.equal((await pagesClient.get(made)).status, 404)
    await test.runJobs()
    t.match(await counts(), { concepten: 0, klaargezet: 0 })
    t.equal((await call('GET', API)).status, 200)
  })

  await t.test('the empty file to fill in is one that is taken', async (t) => {
    const pagesClient = await asClient(test, 'operator')
    const bytes = await (await pagesClient.get('/beheer/imports/voorbeeld.csv')).arrayBuffer()
    const example = Buffer.from(bytes).toString()
    t.match(example, /^\ufeff"uuid";"identificatie";/)
    const [header, values] = example
      .slice(1)
      .trim()
      .split('\r\n')
      .map((line) => line.split(';'))
    t.equal(header!.length, COLUMN_NAMES.length)
    t.equal(values!.length, COLUMN_NAMES.length)
    const empty = await (await pagesClient.get('/beheer/imports/leeg.csv')).text()
    t.equal(empty, csvText([]))
  })
})
