// The pages on which imports are followed and acted upon.
import t from 'tap'
import { repairImports } from '../../src/documenten/import/progress.ts'
import { givenInformatieobjecttype } from '../app.ts'
import { API, type CsvRow, csvText, givenFile, givenImport, goodRow, runImport } from '../documenten/importing.ts'
import { until } from '../until.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages } from './browser.ts'
import { allShapes, asClient, endAll, SCRIPT } from './import-pages.ts'

t.test('the pages of imports', await needsBrowser(), async (t) => {
  const test = await setUpPages(t, { IMPORT_DOCUMENTEN_BATCH_SIZE: '10' })
  const { call, database } = test
  const type = await givenInformatieobjecttype(test)
  await givenFile(test, 'brief.txt')
  const good = (values: CsvRow = {}) => goodRow(type, 'brief.txt', values)

  const inAlleVormen = await allShapes(test, 'operator')

  async function givenActive(rows: number): Promise<string> {
    const uuid = await givenImport(test)
    const { status } = await call('POST', `${API}/${uuid}/upload`, csvText(Array.from({ length: rows }, () => good())))
    if (status !== 200) throw new Error('refused')
    return uuid
  }

  await t.test('without any import the list says so, and how to begin', async (t) => {
    await inAlleVormen(t, '/beheer/imports', (text) => t.match(text, 'Er zijn nog geen imports'))
    const { tab, context } = await asBeheerder(test, 'viewer')
    await tab.goto('/beheer/imports')
    t.equal(await tab.locator('main a:not(.hulp)').count(), 0, 'a viewer starts none')
    await context.close()
  })

  await t.test('a finished import shows its failures by reason, with their rows and files to download', async (t) => {
    const faults = [
      good({ titel: '' }),
      good({ titel: '', auteur: '' }),
      good({ titel: SCRIPT, bestandspad: `${SCRIPT}.txt` }),
      good({ titel: '' }),
      ['te', 'kort'],
      good({ titel: '=1+1', bestandsomvang: '12345' }),
    ]
    const csv = csvText([good({ titel: SCRIPT }), ...faults.slice(0, 3), good(), ...faults.slice(3)])
    const { uuid } = await runImport(test, csv)
    const page = `/beheer/imports/${uuid}`
    await inAlleVormen(t, '/beheer/imports', (text) => t.match(text, /Klaar, met fouten/))
    await inAlleVormen(t, page, (text) => {
      t.match(text, /titel: Dit veld is verplicht\.\s+2\s+rij 3, 7/)
      t.match(text, /Het bestand is groter of kleiner dan hier staat/)
      t.match(text, /te weinig waarden \(2, de kopregel heeft er 27\)/)
    })
    await inAlleVormen(t, `${page}/rijen`, (text) => t.match(text, SCRIPT))

    const { tab, context } = await asBeheerder(test, 'viewer')
    await tab.goto(page)
    await tab.click('tr:has(td.getal:text-is("2")) >> a')
    t.same(await tab.locator('tbody th').allTextContents(), ['3', '7'])
    await tab.click('text=Alle rijen met een fout')
    t.equal(await tab.locator('tbody tr').count(), 6)
    await tab.selectOption('#veld-resultaat', '')
    await tab.click('text=Tonen')
    t.equal(await tab.locator('tbody tr').count(), 8)
    await context.close()

    const pagesClient = await asClient(test, 'viewer')
    const failed = await pagesClient.get(`${page}/niet-geimporteerd`)
    t.match(failed.headers.get('content-disposition'), /attachment/)
    // A row without a level and a type may be as confidential as any: only who may see all is given it.
    const known = faults.filter((_, at) => at !== 4)
    t.equal(await failed.text(), csvText(known), 'exactly the rows that failed, ready to correct')
    t.match(await (await pagesClient.get(`${page}/rapport`)).text(), /,=1\+1,/)
    t.match(await (await pagesClient.get(`${page}/rapport?formules=neutraliseren`)).text(), /,'=1\+1,/)
    t.equal(
      (await pagesClient.get(`${page}/rijen?reden=99999999999999999999&na=x&voor=%00`)).status,
      200,
      'rubbish is no error',
    )
  })

  await t.test('the failed rows of an import that stopped include those that were never tried', async (t) => {
    const rows = Array.from({ length: 1000 }, (_, n) => good({ titel: n === 3 ? '' : `Rij ${n}` }))
    const uuid = await givenImport(test)
    await call('POST', `${API}/${uuid}/upload`, csvText(rows))
    const running = test.runJobs()
    await until('10 rows', async () => (await call('GET', `${API}/${uuid}`)).body.processed >= 10)
    await call('POST', `${API}/${uuid}/cancel`)
    await running
    const { processed } = (await call('GET', `${API}/${uuid}`)).body
    const pagesClient = await asClient(test, 'viewer')
    const text = await (await pagesClient.get(`/beheer/imports/${uuid}/niet-geimporteerd`)).text()
    t.equal(text, csvText([rows[3]!, ...rows.slice(processed)]))
    await inAlleVormen(t, `/beheer/imports/${uuid}`, (text) =>
      t.match(text, /Geannuleerd.*Wat al was geïmporteerd, blijft staan/s),
    )
  })

  await t.test('a running import keeps its page up to date, and the page is complete when it ends', async (t) => {
    const uuid = await givenActive(40)
    const page = `/beheer/imports/${uuid}`
    const { tab, context, klachten } = await asBeheerder(test, 'viewer')
    await tab.goto(page)
    t.match(await tab.textContent('main'), /Er draait geen worker|Loopt/)
    t.same(await accessibilityFaults(tab), [])
    for (const [processed, percent] of [
      [10, 25],
      [20, 50],
    ] as const) {
      await database.sql`update import set processed = ${processed}, succeeded = ${processed - 1} where uuid = ${uuid}`
      await tab.waitForSelector(`[data-waarde=procent]:text-is("${percent}%")`, { timeout: 60_000 })
      t.equal(await tab.evaluate("document.querySelector('progress').value"), percent)
      t.equal(await tab.textContent('[data-waarde=verwerkt]'), String(processed))
      t.equal(await tab.textContent('[data-waarde=mislukt]'), '1')
    }
    t.equal(await tab.textContent('[role=status][data-waarde]'), '', 'nothing is spoken in the first seconds')
    await database.sql`update import set reason = 'Wacht op de importmap.' where uuid = ${uuid}`
    await tab.waitForSelector('text=Controleer of de map van de instelling IMPORT_DOCUMENTEN_BASE_DIR bestaat')
    t.same(await accessibilityFaults(tab), [])

    const smal = await asBeheerder(test, 'viewer', { javaScriptEnabled: false, width: 320 })
    await smal.tab.goto(page)
    t.equal(await isTooWide(smal.tab), false)
    t.equal((await smal.tab.locator('noscript').count()) > 0 || (await smal.tab.content()).includes('refresh'), true)
    await database.sql`update import set processed = 30 where uuid = ${uuid}`
    await smal.tab.waitForSelector('text=30 van 40 rijen', { timeout: 60_000 }) // it asks anew by itself

    await database.sql`update import set processed = 0, succeeded = 0, reason = null where uuid = ${uuid}`
    await test.runJobs()
    await tab.waitForSelector('.staat:text-is("Klaar")')
    t.equal(await tab.locator('progress').count(), 0)
    t.same(klachten, [])
    await context.close()
    await smal.context.close()
  })

  await t.test('the stream of an import', async (t) => {
    const uuid = await givenActive(40)
    const pagesClient = await asClient(test, 'viewer')
    const path = `/beheer/imports/${uuid}/stroom`

    t.test('is no page to keep, tells when to come again, and where it stands', async (t) => {
      const { read, headers, close } = await openStroom(await pagesClient.get(path))
      t.match(headers, { 'content-type': /text\/event-stream/, 'x-accel-buffering': 'no', 'cache-control': 'no-store' })
      const first = await read(/event: stand\n.*\n\n/)
      t.match(first, /^retry: 3000\n/)
      t.match(JSON.parse(/data: (.*)/.exec(first)![1]!), { percent: 0, verwerkt: '0', totaal: '40', gelukt: '0' })
      const id = /id: (.*)/.exec(first)![1]!
      const again = await openStroom(await pagesClient.get(path, { 'last-event-id': id }))
      await database.sql`update import set processed = 10 where uuid = ${uuid}`
      t.match(
        JSON.parse(/data: (.*)/.exec(await again.read(/event: stand\n.*\n\n/))![1]!),
        { verwerkt: '10' },
        'only what is new',
      )
      await close()
      await again.close()
    })

    t.test('ends when the session does', async (t) => {
      const other = await asClient(test, 'administrator')
      const { end } = await openStroom(await other.get(path))
      await database.sql`delete from beheer_session using beheer_account a where a.id = account_id and a.gebruikersnaam = 'administrator'`
      t.match(await end, /event: klaar\n/, 'the page is asked anew, which leads to signing in')
    })

    t.test('ends with the import', async (t) => {
      const { end } = await openStroom(await pagesClient.get(path))
      await endAll(test)
      t.match(await end, /event: klaar\n/)
      t.match(
        await (await openStroom(await pagesClient.get(path))).end,
        /event: klaar\n/,
        'also when it had ended before',
      )
      t.equal((await pagesClient.get('/beheer/imports/6f9619ff-8b86-4d01-b42d-00cf4fc964ff/stroom')).status, 404)
    })
  })

  await t.test('only an operator cancels and deletes, and only what the state allows', async (t) => {
    const uuid = await givenActive(30)
    const viewer = await asClient(test, 'viewer')
    for (const path of ['annuleren', 'verwijderen']) {
      t.equal((await viewer.post(`/beheer/imports/${uuid}/${path}`)).status, 403, path)
      t.equal((await viewer.get(`/beheer/imports/${uuid}/${path}`)).status, 403, path)
    }
    const { tab, context, klachten } = await asBeheerder(test, 'operator', { javaScriptEnabled: false })
    const operator = await asClient(test, 'operator')
    await operator.post(`/beheer/imports/${uuid}/verwijderen`)
    await tab.goto(`/beheer/imports/${uuid}`)
    t.match(await tab.textContent('main'), 'Loopt')
    t.equal(await tab.locator('text=Import verwijderen').count(), 0, 'a running import is not deleted')

    // By keyboard alone.
    await tab.focus('text=Import annuleren')
    await tab.keyboard.press('Enter')
    await tab.waitForURL('**/annuleren')
    await tab.focus('button:has-text("Import annuleren")')
    await tab.keyboard.press('Enter')
    await tab.waitForURL(`**/imports/${uuid}`)
    t.match(await tab.textContent('main'), 'De import is geannuleerd.')
    t.match((await call('GET', `${API}/${uuid}`)).body, { status: 'error', reason: 'Geannuleerd.' })
    await operator.post(`/beheer/imports/${uuid}/annuleren`)
    await tab.reload()
    await tab.click('text=Import verwijderen')
    await tab.click('button:has-text("Import verwijderen")')
    await tab.waitForURL('**/beheer/imports')
    t.match(await tab.textContent('main'), 'De import is verwijderd')
    t.equal((await call('GET', `${API}/${uuid}`)).status, 404)
    t.same(klachten, [])
    await context.close()
    const audit = await database.sql<{ handeling: string; gebruiker: string; oud: object }[]>`
      select handeling, gebruiker, oud from beheer_audit where object_id = ${uuid} order by id`
    t.match(Array.from(audit), [
      { handeling: 'import-annuleren', gebruiker: 'operator', oud: { status: 'active' } },
      { handeling: 'import-verwijderen', gebruiker: 'operator', oud: { status: 'error' } },
    ])
    t.equal(audit.length, 2)
  })

  await t.test(
    'an import is paused, and goes on behind its last batch; one that stopped by itself goes on too',
    async (t) => {
      const uuid = await givenActive(100) // ten batches: it is stopped after the first, and the others are not done by then
      const status = async () => (await call('GET', `${API}/${uuid}`)).body
      const { tab, context, klachten } = await asBeheerder(test, 'operator', { javaScriptEnabled: false })
      await tab.goto(`/beheer/imports/${uuid}`)
      await tab.click('button:has-text("Pauzeren")')
      t.match(await tab.textContent('main'), /Gepauzeerd.*gepauzeerd na 0 van de 100 rijen/s)
      await test.runJobs()
      await repairImports(database.db)
      await test.runJobs()
      t.match(await status(), { status: 'active', processed: 0, reason: 'Gepauzeerd.' }, 'nothing goes on by itself')
      await tab.click('button:has-text("Verder gaan")')
      const running = test.runJobs()
      await until('10 rows', async () => (await status()).processed >= 10)
      await database.sql`update import set status = 'error', reason = 'Omgevallen.', ended_at = now() where uuid = ${uuid}`
      await running
      const { processed } = await status()
      await tab.reload()
      t.match(await tab.textContent('main'), /Omgevallen.*Laat de import verder gaan/s)
      await tab.click('button:has-text("Verder gaan")')
      await test.runJobs()
      t.match(
        await status(),
        { status: 'finished', processed: 100, processedSuccessfully: 100, reason: null },
        `${processed}`,
      )
      t.same(klachten, [])
      await context.close()
      const viewer = await asClient(test, 'viewer')
      for (const step of ['pauzeren', 'verder', 'opnieuw'])
        t.equal((await viewer.post(`/beheer/imports/${uuid}/${step}`)).status, 403, step)
    },
  )

  await t.test('the rows that failed are tried again as a file of their own', async (t) => {
    const uuid = await givenImport(test)
    const rows = Array.from({ length: 12 }, (_, n) => good({ bestandspad: n % 4 === 0 ? 'later.txt' : 'brief.txt' }))
    await call('POST', `${API}/${uuid}/upload`, csvText(rows))
    await test.runJobs()
    await givenFile(test, 'later.txt')
    const { tab, context, klachten } = await asBeheerder(test, 'operator')
    await tab.goto(`/beheer/imports/${uuid}`)
    await tab.click('button:has-text("De 3 rijen die niet zijn geïmporteerd opnieuw proberen")')
    await tab.waitForURL('**/imports/concept/*')
    await test.runJobs()
    await tab.waitForSelector('text=in 3 rijen zijn geen fouten gevonden')
    t.same(await tab.locator('tbody tr th').allTextContents(), ['2', '6', '10'], 'as numbered in the first file')
    t.equal(await tab.locator('.knop').textContent(), 'Import starten', 'what is clean is started by the main button')
    t.same(await accessibilityFaults(tab), [])
    await tab.click('button:has-text("Import starten")')
    await tab.waitForURL(/imports\/[0-9a-f-]{36}$/)
    await test.runJobs()
    await tab.waitForSelector('text=Alle rijen zijn geïmporteerd.')
    t.same(klachten, [])
    await context.close()
  })

  await t.test('an import that waits for its file says that it holds up others', async (t) => {
    const uuid = await givenImport(test)
    await inAlleVormen(t, `/beheer/imports/${uuid}`, (text) =>
      t.match(text, /Wacht op een bestand.*kan er geen andere import starten/s),
    )
    await endAll(test)
  })

  await t.test('a long list goes on from where the page ended', async (t) => {
    await database.sql`insert into import (status, total) select 'finished', 0 from generate_series(1, 120)`
    const { tab, context } = await asBeheerder(test, 'viewer')
    await tab.goto('/beheer/imports')
    const links = () => tab.locator('tbody th a').evaluateAll((all) => all.map((link) => link.getAttribute('href')))
    const first = await links()
    await tab.click('text=Volgende')
    const second = await links()
    t.equal(new Set([...first, ...second]).size, 100)
    await tab.click('text=Vorige')
    t.same(await links(), first)
    await context.close()
  })
})

t.test('the application closes while pages are being kept up to date', await needsBrowser(), async (t) => {
  const test = await setUpPages(t)
  const uuid = await givenImport(test)
  await test.database
    .sql`update import set status = 'active', total = 10, header = '[]', started_at = now() where uuid = ${uuid}`
  const pagesClient = await asClient(test, 'viewer')
  const { read, end } = await openStroom(await pagesClient.get(`/beheer/imports/${uuid}/stroom`))
  await read(/event: stand/)
  await t.resolves(Promise.all([test.app.close(), end]), 'closing does not wait for the client to go')
})

/** Reads a stream of events. */
async function openStroom(response: Response) {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let seen = ''
  const next = async () => {
    const { value, done } = await reader.read()
    seen += value ?? ''
    return !done
  }
  return {
    headers: Object.fromEntries(response.headers),
    /** All that came, once it matches. */
    async read(pattern: RegExp): Promise<string> {
      while (!pattern.test(seen)) if (!(await next())) throw new Error(`ended before ${pattern}: ${seen}`)
      return seen
    },
    /** All of it, at its end. */
    get end(): Promise<string> {
      return (async () => {
        while (await next());
        return seen
      })()
    },
    close: () => reader.cancel(),
  }
}
