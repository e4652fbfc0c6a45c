import { randomUUID } from 'node:crypto'
import t from 'tap'
import { SETS, schedule } from '../../src/notificaties/backoff.ts'
import { readSettings } from '../../src/notificaties/settings.ts'
import { elapse, givenChange, givenReceiver, stateOf } from '../notificaties/given.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages } from './browser.ts'

const PAD = '/beheer/configuratie/notificaties'
const KWAAD = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'

t.test('the settings of notifications', await needsBrowser(), async (t) => {
  const test = await setUpPages(t)
  const { sql } = test.database
  await sql`truncate notificatie, delivery, delivery_attempt`
  const receiver = await givenReceiver(t)
  const administrator = await asBeheerder(test, 'administrator')
  const { tab } = administrator
  const saveForm = () => tab.click('button[value=opslaan]')
  const audit = () => sql`select * from beheer_audit where handeling = 'notificaties-instellen' order by id desc`

  t.test(
    'the menu and the heading call the page as the specification does, with its four settings by name',
    async (t) => {
      const NAME = 'Notificatiescomponentconfiguratie'
      for (const taal of ['en', 'nl'] as const) {
        await tab.goto(`${PAD}?taal=${taal}`)
        // Soft hyphens say where it may be broken.
        const textOf = async (place: string) => (await tab.textContent(place))?.replaceAll('\u00ad', '').trim()
        t.equal(await textOf('h1'), NAME, taal)
        t.match(await tab.title(), NAME, taal)
        t.match(await textOf('nav.menu'), NAME, taal)
        for (const setting of ['max retries', 'retry backoff', 'retry backoff max', 'base factor'])
          t.match(await tab.textContent('form[data-voorbeeld]'), `Notification delivery ${setting}`, taal)
      }
    },
  )

  t.test('an administrator sets the service by keyboard alone, and the secret is never shown again', async (t) => {
    await tab.goto(PAD)
    t.match(await tab.textContent('main'), 'Er is geen notificatiedienst ingesteld')
    t.same(await accessibilityFaults(tab), [])
    await tab.focus('#veld-apiRoot')
    for (const text of [receiver.root, 'zaakstroom', 'een geheim dat niemand ziet']) {
      await tab.keyboard.type(text)
      await tab.keyboard.press('Tab')
    }
    await tab.keyboard.press('Enter')
    await tab.waitForSelector('.bericht-goed')
    t.match(await tab.textContent('main'), 'Er is een secret bewaard')
    t.equal(await tab.inputValue('#veld-apiRoot'), receiver.root)
    t.notMatch(await tab.content(), 'niemand ziet')
    t.same(await accessibilityFaults(tab), [])
    const [row] = await audit()
    t.match(row, {
      gebruiker: 'administrator',
      oud: { apiRoot: null },
      nieuw: { apiRoot: receiver.root, secret: 'gewijzigd' },
    })
    t.notMatch(JSON.stringify(row), 'niemand ziet')
  })

  t.test('an empty secret keeps the one that is known, and saving nothing new leaves no record', async (t) => {
    const before = (await audit()).length
    const [known] = await sql`select sealed_secret from service`
    await tab.goto(PAD)
    await saveForm()
    await tab.waitForSelector('text=Er was niets gewijzigd')
    t.equal((await audit()).length, before)
    await tab.fill('#veld-termijn', '2,5')
    await saveForm()
    await tab.waitForSelector('.bericht-goed')
    const [row] = await sql`select sealed_secret, timeout_ms as termijn from service`
    t.same(row, { sealed_secret: known!.sealed_secret, termijn: 2500 })
    t.match((await audit())[0], { oud: { timeoutMs: 10_000 }, nieuw: { timeoutMs: 2500, secret: undefined } })
  })

  const delays = () => tab.$$eval('#pogingen td:nth-of-type(1)', (cells) => cells.map((cell) => cell.textContent))

  t.test('the schedule follows while one types, and what is wrong is said', async (t) => {
    await tab.goto(PAD)
    t.equal((await delays()).length, SETS.standaard.maxRetries + 1)
    await tab.fill('#veld-maxRetries', '3')
    await tab.fill('#veld-backoff', '10')
    await tab.fill('#veld-baseFactor', '3')
    await tab.waitForSelector('#schema >> text=1 min 30 s')
    t.same(await delays(), ['direct', '10 s', '30 s', '1 min 30 s'])
    await tab.check('#veld-backoffSoort-uit')
    await tab.waitForSelector('#schema >> text=9 min')
    t.same(await delays(), ['direct', '3 min', '3 min', '3 min'])
    await tab.fill('#veld-maxRetries', '-1')
    await tab.waitForSelector('#schema .bericht-fout')
    t.match(await tab.textContent('#schema'), 'max retries: vul een geheel getal in van 0 tot en met 100')
    t.equal((await readSettings(test.app.read)).maxRetries, 7, 'nothing was saved')
  })

  t.test('a dry run says what an outage would come to, while one types and without saving', async (t) => {
    await sql`update notificatie_settings set mode = 'beide'`
    const uuid = randomUUID()
    await sql`insert into abonnement (uuid, callback_url, auth) values (${uuid}, 'https://ontvanger.example/berichten', '')`
    await sql`insert into delivery_figure (hour, abonnement_id, delivered, retried, failed, counted_until)
      select now() - interval '10 hours', id, 1000, 0, 0, now() from abonnement`
    await tab.goto(PAD)
    const lines = () => tab.$$eval('#proef ~ .tabel tbody tr', (rows) => rows.map((row) => row.textContent?.trim()))
    t.match(await tab.textContent('#schema'), 'Wat als een ontvanger 63 uur weg is?')
    t.match(await lines(), [/^Notificatiedienst/, /100.*6\.300.*geen.*nee.*nog niet bekend/s])
    t.ok(await tab.$(`#schema a[href$="/abonnementen/${uuid}"]`))
    t.same(await accessibilityFaults(tab), [])
    await tab.fill('#veld-hours', '400')
    await tab.fill('#veld-perHour', '1000')
    await tab.waitForSelector('#schema >> text=400 uur')
    t.match((await lines())[1], /400\.000.*na 14 d; dan Hervatten/s)
    await tab.fill('#veld-perHour', '1')
    await tab.selectOption('#veld-outageCounts', 'alle')
    await tab.waitForSelector('#schema >> text=gaan vanzelf opnieuw')
    await tab.fill('#veld-hours', 'lang')
    await tab.waitForSelector('#schema >> text=Uren weg: vul een geheel getal in')
    t.equal((await readSettings(test.app.read)).outageCounts, 'extern', 'nothing was saved')
    const viewer = await asBeheerder(test, 'viewer', { javaScriptEnabled: false, width: 390 })
    await viewer.tab.goto(PAD)
    await viewer.tab.fill('#veld-hours', '10')
    await viewer.tab.click('text=Proef bekijken')
    t.match(await viewer.tab.textContent('#proef'), '10 uur')
    t.notOk(await isTooWide(viewer.tab))
    await sql`delete from delivery_figure`
    await sql`delete from abonnement`
    await sql`update notificatie_settings set mode = 'extern'`
  })

  t.test('without script a button shows it, and each documented set is one click away', async (t) => {
    const { tab } = await asBeheerder(test, 'administrator', { javaScriptEnabled: false, width: 320 })
    for (const [name, set] of Object.entries(SETS)) {
      await tab.goto(PAD)
      await tab.click(`button[value=${name}]`)
      t.equal(await tab.inputValue('#veld-backoffMax'), String(set.backoffMax))
      t.equal((await tab.$$('#pogingen tbody tr')).length, schedule(set).length + 1)
    }
    t.equal(await tab.inputValue('#veld-apiRoot'), receiver.root, 'what else stood there stays')
    await tab.fill('#veld-maxRetries', '2')
    await tab.click('button[value=voorbeeld]')
    t.equal((await tab.$$('#pogingen tbody tr')).length, 3)
    t.equal((await readSettings(test.app.read)).maxRetries, 7)
  })

  t.test('numbers and addresses that cannot be are refused beside the field, with the input kept', async (t) => {
    const bad: Record<string, string[]> = {
      maxRetries: ['-1', '101', '1e3', '7.5', KWAAD],
      backoff: ['0', '-25', '1000001', '99999999999999999999', 'NaN', ''],
      backoffMax: ['0', '-1', '99999999999', '2147483648'],
      baseFactor: ['0', '-4', '1001'],
      termijn: ['0', '-1', '301', '0,01'],
      apiRoot: [
        'javascript:alert(1)',
        'file:///etc/passwd',
        'https://naam:woord@nrc.example.nl/',
        'nrc.example.nl',
        'https://nrc.example.nl/?a=1',
        KWAAD,
      ],
    }
    const before = JSON.stringify([await readSettings(test.app.read), await sql`select * from service`])
    for (let round = 0; round < 6; round++) {
      const values = Object.entries(bad).map(([field, list]) => [field, list[round % list.length]!] as const)
      await tab.goto(PAD)
      for (const [field, value] of values) await tab.fill(`#veld-${field}`, value)
      await saveForm()
      await tab.waitForSelector('main [role=alert]')
      for (const [field, value] of values) {
        t.ok(await tab.$(`#veld-${field}-fout`), `${field}: ${value}`)
        t.equal(await tab.inputValue(`#veld-${field}`), value)
      }
    }
    t.same(await accessibilityFaults(tab), [], 'also with faults beside the fields')
    t.equal(JSON.stringify([await readSettings(test.app.read), await sql`select * from service`]), before)
  })

  t.test('a test message says which stage fails', async (t) => {
    const stages = async () => {
      await tab.goto(PAD)
      await tab.click('text=Testbericht versturen')
      await tab.waitForSelector('.bericht[role]')
    }
    await stages()
    t.match(await tab.textContent('main'), 'Het testbericht is aangekomen')
    receiver.answer = (response) => response.writeHead(403).end(KWAAD)
    await stages()
    t.match(await tab.textContent('.bericht-fout'), 'Mislukte stap: Rechten')
    t.match(await tab.textContent('main'), 'scope notificaties.publiceren')
    t.match(await tab.textContent('main'), KWAAD, 'what the receiver says stands there as text')
    t.same(await accessibilityFaults(tab), [])
    receiver.answer = (response) => response.writeHead(503).end()
    await stages()
    t.match(await tab.textContent('.bericht-fout'), 'Antwoord krijgen (HTTP)')
    receiver.answer = (response) => response.writeHead(201).end()
    await sql`update service set api_root = 'http://127.0.0.1:9/'`
    await stages()
    t.match(await tab.textContent('.bericht-fout'), 'Verbinding maken (TCP)')
    await sql`update service set api_root = 'http://bestaat-niet.invalid/'`
    await stages()
    t.match(await tab.textContent('.bericht-fout'), 'Hostnaam opzoeken (DNS)')
    await sql`update service set api_root = ${receiver.root}`
  })

  t.test('channels are registered, with the outcome of each', async (t) => {
    receiver.answer = (response, { body }, request) =>
      response.writeHead(body.naam === 'zaken' ? 400 : 200).end(request.method === 'GET' ? '[]' : '{"fout":1}')
    await tab.goto(PAD)
    await tab.click('text=Kanalen registreren')
    await tab.waitForSelector('text=1 van de 7 kanalen zijn niet geregistreerd')
    t.match(await tab.textContent('main'), 'het antwoord was 400')
    receiver.answer = (response, _call, request) => response.writeHead(200).end(request.method === 'GET' ? '[]' : '{}')
    await tab.click('text=Kanalen registreren')
    await tab.waitForSelector('text=Alle kanalen zijn geregistreerd')
    t.same(await accessibilityFaults(tab), [])
  })

  t.test('what waits follows new settings from its next attempt on (F32)', async (t) => {
    receiver.answer = (response) => response.writeHead(500).end()
    const uuid = await givenChange(test)
    await test.runJobs()
    t.match(await stateOf(test, uuid), { pogingen: 1 })
    await tab.goto(PAD)
    await tab.click('button[value=kort]')
    await saveForm()
    await tab.waitForSelector('text=De instellingen zijn opgeslagen')
    t.match((await audit())[0], { oud: { backoff: 25, maxRetries: 7 }, nieuw: { backoff: 3, maxRetries: 5 } })
    await elapse(test, 25)
    await test.runJobs()
    const { pogingen: attemptsOf, overSeconden } = await stateOf(test, uuid)
    t.equal(attemptsOf, 2)
    t.ok((overSeconden as number) <= 6, 'the second delay of the short set')
  })

  t.test('who may not change them sees them, and is refused by the server', async (t) => {
    const { tab, context, klachten } = await asBeheerder(test, 'viewer', { width: 320 })
    await tab.goto(PAD)
    t.equal((await tab.$$('main form[method=post]')).length, 0)
    t.match(await tab.textContent('main'), receiver.root)
    t.same(await accessibilityFaults(tab), [])
    t.equal(await isTooWide(tab), false)
    const _csrf = await tab.inputValue('input[name=_csrf]')
    for (const path of ['', '/testbericht', '/kanalen']) {
      const answer = await context.request.post(`${PAD}${path}`, { form: { _csrf }, headers: { origin: test.adres } })
      t.equal(answer.status(), 403)
    }
    t.same(klachten, [])
  })

  t.same(administrator.klachten, [])
})
