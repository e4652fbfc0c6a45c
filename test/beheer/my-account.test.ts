import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import t from 'tap'
import { checkPassword, createAccount, findByName, setPassword } from '../../src/beheer/accounts/accounts.ts'
import { testApp } from '../app.ts'
import { until } from '../until.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages, WACHTWOORD } from './browser.ts'
import { pagesClient } from './browser-client.ts'

const code = (secret: string, steps = 0) =>
  new TOTP({ secret: Secret.fromBase32(secret.replaceAll(' ', '')) }).generate({
    timestamp: Date.now() + steps * 30_000,
  })

async function login(tab: Page, naam: string, password: string) {
  await tab.goto('/beheer/inloggen')
  await tab.fill('#veld-gebruikersnaam', naam)
  await tab.fill('#veld-wachtwoord', password)
  await tab.click('main button[type=submit]')
}

t.test("one's own account", await needsBrowser(), async (t) => {
  const test = await setUpPages(t)

  t.test('one-time codes are set up, asked, and taken away, without script at 320 pixels', async (t) => {
    const { tab, klachten } = await asBeheerder(test, 'viewer', { javaScriptEnabled: false, width: 320 })
    const elders = pagesClient(test.app)
    await elders.login('viewer', WACHTWOORD)
    await tab.goto('/beheer/mijn-account')
    t.equal(await isTooWide(tab), false)
    await tab.click('text=Codes instellen')
    t.equal(await isTooWide(tab), false)
    await tab.click('text=Beginnen')
    t.equal(await isTooWide(tab), false)
    t.ok((await tab.getAttribute('svg.qr path', 'd'))!.length > 1000)
    t.equal(await tab.locator('[style]').count(), 0)
    const secret = (await tab.textContent('#sleutel'))!
    await tab.fill('#veld-code', '000000')
    await tab.click('text=Bevestigen')
    t.match(await tab.textContent('#veld-code-fout'), 'Deze code klopt niet')
    t.equal(await tab.textContent('#sleutel'), secret, 'the secret stays until it counts')
    const voor = await tab.context().cookies()
    // The one before counts for as long as the one of now does.
    await until('that has some time left', () => Date.now() % 30_000 < 15_000)
    await tab.fill('#veld-code', code(secret, -1))
    await tab.click('text=Bevestigen')
    t.match(await tab.textContent('main'), 'voortaan ook een code gevraagd')
    const sessie = (cookies: { name: string; value: string }[]) =>
      cookies.find(({ name }) => name === 'zaakstroom')?.value
    t.not(sessie(voor), sessie(await tab.context().cookies()), 'the session has a new value')
    t.equal((await elders.get('/beheer/')).statusCode, 303, 'sessions that began without a code have ended')

    await tab.click('text=Uitloggen')
    await login(tab, 'viewer', WACHTWOORD)
    await tab.waitForURL('**/inloggen/code')
    t.equal(await isTooWide(tab), false)
    await tab.fill('#veld-code', '111 111')
    await tab.click('text=Verder')
    t.match(await tab.textContent('[role=alert]'), 'Deze code klopt niet')
    await tab.fill('#veld-code', code(secret))
    await tab.click('text=Verder')
    await tab.waitForURL('**/beheer/')

    await tab.goto('/beheer/mijn-account/codes/verwijderen')
    t.equal(await isTooWide(tab), false)
    await tab.fill('#veld-code', '222222')
    await tab.click('main button')
    t.match(await tab.textContent('#veld-code-fout'), 'Deze code klopt niet')
    await tab.fill('#veld-code', code(secret, 1))
    await tab.click('main button')
    t.match(await tab.textContent('main'), 'geen code meer gevraagd')
    t.same(klachten, [])
    const [{ n }] = await test.database.sql<[{ n: number }]>`
      select count(*) as n from beheer_audit where nieuw::text like ${`%${secret.replaceAll(' ', '')}%`}`
    t.equal(n, 0)
  })

  t.test('its pages have no violations of WCAG 2.1 AA', async (t) => {
    const { tab, klachten } = await asBeheerder(test, 'operator')
    for (const pad of ['/mijn-account', '/mijn-account/codes']) {
      await tab.goto(`/beheer${pad}`)
      t.same(await accessibilityFaults(tab), [], pad)
    }
    await tab.click('text=Beginnen')
    t.same(await accessibilityFaults(tab), [])
    const secret = (await tab.textContent('#sleutel'))!
    await tab.fill('#veld-code', code(secret))
    await tab.click('text=Bevestigen')
    await tab.goto('/beheer/mijn-account/codes/verwijderen')
    t.same(await accessibilityFaults(tab), [])
    await tab.click('text=Uitloggen')
    await login(tab, 'operator', WACHTWOORD)
    t.same(await accessibilityFaults(tab), [])
    t.same(klachten, [])
  })

  t.test('script in what a browser calls itself is text', async (t) => {
    const { tab, klachten } = await asBeheerder(test, 'administrator')
    const script = `<script>alert(1)</script>"><img src=x onerror=alert(1)>`
    await test.database.sql`update beheer_session set browser = ${script}, address = ${script}`
    await tab.goto('/beheer/mijn-account')
    t.match(await tab.content(), '&lt;script&gt;alert(1)')
    t.equal(await tab.locator('main img, main script').count(), 0)
    t.same(klachten, [])
    await test.database.sql`delete from beheer_session`
  })

  t.test('the password is changed, which ends the other sessions', async (t) => {
    const { tab } = await asBeheerder(test, 'administrator')
    const elders = pagesClient(test.app)
    await elders.login('administrator', WACHTWOORD)
    const changePassword = async (oud: string, nieuw: string, herhaald = nieuw) => {
      await tab.goto('/beheer/mijn-account')
      await tab.fill('#veld-oud', oud)
      await tab.fill('#veld-nieuw', nieuw)
      await tab.fill('#veld-herhaald', herhaald)
      await tab.click('text=Wachtwoord wijzigen')
      return tab.textContent('main')
    }
    t.match(await changePassword('verkeerd', 'een nieuw lang wachtwoord'), 'niet uw huidige wachtwoord')
    t.match(await changePassword(WACHTWOORD, 'te kort'), 'ten minste 12 tekens')
    t.match(
      await changePassword(WACHTWOORD, 'een nieuw lang wachtwoord', 'een ander lang wachtwoord'),
      'niet hetzelfde',
    )
    t.equal((await elders.get('/beheer/')).statusCode, 200)
    t.match(await changePassword(WACHTWOORD, ' een nieuw lang wachtwoord '), 'Uw wachtwoord is gewijzigd')
    t.equal((await elders.get('/beheer/')).statusCode, 303)
    t.equal((await elders.login('administrator', WACHTWOORD)).statusCode, 401)
    t.equal((await elders.login('administrator', ' een nieuw lang wachtwoord ')).statusCode, 303, 'spaces count')

    await tab.goto('/beheer/mijn-account')
    t.equal(await tab.locator('main tbody tr').count(), 2)
    await tab.click('text=Beëindigen van')
    t.match(await tab.textContent('main'), 'Eén sessie is beëindigd')
    t.equal((await elders.get('/beheer/')).statusCode, 303)
    for (let count = 0; count < 2; count++)
      await pagesClient(test.app).login('administrator', ' een nieuw lang wachtwoord ')
    await tab.reload()
    await tab.click('text=Alle andere beëindigen')
    t.match(await tab.textContent('main'), 'Er zijn 2 sessies beëindigd')
    t.equal(await tab.locator('main tbody tr').count(), 1)
  })
})

t.test('a copied cookie changes nothing of signing in: that asks again who somebody is', async (t) => {
  const marked: { method: string; url: string }[] = []
  const watch = (message: unknown) =>
    (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', ({ method, url, config }) => {
      if ((config as { isSignIn?: boolean })?.isSignIn && method !== 'HEAD')
        marked.push({ method: String(method), url })
    })
  subscribe('fastify.initialization', watch)
  const { app, database } = await testApp(t)
  unsubscribe('fastify.initialization', watch)
  await createAccount(database.db, { gebruikersnaam: 'jan', rol: 'administrator', wachtwoord: WACHTWOORD })
  const owner = pagesClient(app)
  await owner.login('jan', WACHTWOORD)
  const thief = pagesClient(app, { cookies: new Map(owner.cookies) })
  const [{ uuid }] = await database.sql<[{ uuid: string }]>`select uuid from beheer_account`
  t.ok(marked.length > 20, String(marked.length)) // the pages of accounts, codes and providers
  const before = JSON.stringify(await database.sql`select * from beheer_account`)
  for (const { method, url } of marked) {
    const address = url.replace(':uuid', uuid)
    const answer = method === 'GET' ? await thief.get(address) : await thief.post(address, {}, '/beheer/mijn-account')
    t.equal(answer.statusCode, 303, `${method} ${url}`)
    t.match(answer.headers.location, /^\/beheer\/bevestigen\?verder=/)
  }
  t.equal(JSON.stringify(await database.sql`select * from beheer_account`), before)
  t.match(await thief.confirm('a guess'), { statusCode: 400, body: /Dit is niet uw huidige wachtwoord/ })
  t.match((await owner.confirm(WACHTWOORD)).statusCode, 303)
  t.equal((await owner.get('/beheer/mijn-account/codes')).statusCode, 200)
  t.equal((await thief.get('/beheer/mijn-account')).statusCode, 303, 'the copy is worth nothing after it')
  await database.sql`update beheer_session set confirmed_at = now() - interval '11 minutes'`
  t.equal((await owner.get('/beheer/mijn-account/codes')).statusCode, 303, 'it counts for ten minutes')
  const started = await owner.post('/beheer/mijn-account/codes/nieuw', {}, '/beheer/mijn-account')
  t.equal(
    started.headers.location,
    '/beheer/mijn-account/codes',
    'a form that was opened in time is taken for half an hour',
  )
  await database.sql`update beheer_session set confirmed_at = now() - interval '31 minutes'`
  const late = await owner.post('/beheer/mijn-account/codes/nieuw', {}, '/beheer/mijn-account')
  t.match(late.headers.location, /^\/beheer\/bevestigen/)
})

t.test('nobody ends the session of another', async (t) => {
  const { app, database } = await testApp(t)
  await createAccount(database.db, { gebruikersnaam: 'jan', rol: 'viewer', wachtwoord: WACHTWOORD })
  await createAccount(database.db, { gebruikersnaam: 'piet', rol: 'viewer', wachtwoord: WACHTWOORD })
  const [jan, piet] = [pagesClient(app), pagesClient(app)]
  await jan.login('jan', WACHTWOORD)
  await piet.login('piet', WACHTWOORD)
  const [row] = await database.sql`
    select s.uuid from beheer_session s join beheer_account a on a.id = s.account_id where gebruikersnaam = 'piet'`
  t.equal(
    (await jan.post('/beheer/mijn-account/sessies', { sessie: row!.uuid }, '/beheer/mijn-account')).statusCode,
    303,
  )
  t.equal((await piet.get('/beheer/')).statusCode, 200)
})

t.test('a session that began with the old password while it was changed has ended after it', async (t) => {
  const { app, database } = await testApp(t)
  await createAccount(database.db, { gebruikersnaam: 'jan', rol: 'viewer', wachtwoord: WACHTWOORD })
  const jan = pagesClient(app)
  await jan.login('jan', WACHTWOORD)
  let changing: ReturnType<typeof jan.post> | undefined
  await database.sql.begin(async (trx) => {
    await trx`select from beheer_account for no key update`
    const form = { oud: WACHTWOORD, nieuw: 'een nieuw lang wachtwoord', herhaald: 'een nieuw lang wachtwoord' }
    changing = jan.post('/beheer/mijn-account/wachtwoord', form, '/beheer/mijn-account')
    await until('the new password waits to be written', async () => {
      const waiting = await database.sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ilike 'update%'`
      return waiting.count === 1
    })
    await database.sql`
      insert into beheer_session (key, account_id, expires_at) select 'thief', id, now() + interval '1 hour' from beheer_account`
  })
  t.match(await changing, { statusCode: 303, headers: { location: '/beheer/mijn-account' } })
  t.equal((await jan.get('/beheer/')).statusCode, 200)
  t.same(await database.sql`select from beheer_session where key = 'thief'`, [])
})

t.test('a password that was replaced while it was looked at is no password', async (t) => {
  const { database } = await testApp(t)
  await createAccount(database.db, { gebruikersnaam: 'jan', rol: 'viewer', wachtwoord: WACHTWOORD })
  const found = await findByName(database, 'jan')
  t.ok(await checkPassword(database, found, WACHTWOORD))
  await setPassword(database.db, found!.id, 'een nieuw lang wachtwoord', { given: false })
  t.notOk(await checkPassword(database, found, WACHTWOORD))
})

t.test('guessing the old password or a code is stopped', async (t) => {
  const { app, database } = await testApp(t)
  await createAccount(database.db, { gebruikersnaam: 'jan', rol: 'viewer', wachtwoord: WACHTWOORD })
  const jan = pagesClient(app)
  await jan.login('jan', WACHTWOORD)
  await jan.confirm(WACHTWOORD)
  await jan.post('/beheer/mijn-account/codes/nieuw', {}, '/beheer/mijn-account/codes')
  const statuses = []
  for (let count = 0; count < 11; count++)
    statuses.push(
      (await jan.post('/beheer/mijn-account/codes/bevestigen', { code: '000000' }, '/beheer/mijn-account/codes'))
        .statusCode,
    )
  t.same(statuses, [...Array(10).fill(400), 429])
})

t.test('BEHEER_TOTP_REQUIRED sends whoever has no codes to set them up, before anything else', async (t) => {
  const { app, database } = await testApp(t, { BEHEER_TOTP_REQUIRED: 'true' })
  await createAccount(database.db, { gebruikersnaam: 'jan', rol: 'administrator', wachtwoord: WACHTWOORD })
  const jan = pagesClient(app)
  await jan.login('jan', WACHTWOORD)
  for (const pad of ['/beheer/', '/beheer/accounts', '/beheer/mijn-account'])
    t.equal((await jan.get(pad)).headers.location, '/beheer/mijn-account/codes', pad)
  const form = { gebruikersnaam: 'x', rol: 'viewer', maxVertrouwelijkheidaanduiding: 'openbaar', wijze: 'maken' }
  t.equal((await jan.post('/beheer/accounts', form, '/beheer/mijn-account/codes')).statusCode, 403)
  t.equal(
    (await jan.get('/beheer/mijn-account/codes')).headers.location,
    '/beheer/bevestigen?verder=%2Fbeheer%2Fmijn-account%2Fcodes',
  )
  await jan.confirm(WACHTWOORD)
  t.match((await jan.get('/beheer/mijn-account/codes')).body, 'vraagt eenmalige codes van iedereen')
  await jan.post('/beheer/mijn-account/codes/nieuw', {}, '/beheer/mijn-account/codes')
  const { body } = await jan.get('/beheer/mijn-account/codes')
  const [, secret = ''] = /id="sleutel">([A-Z2-7 ]+)</.exec(body) ?? []
  await jan.post('/beheer/mijn-account/codes/bevestigen', { code: code(secret) }, '/beheer/mijn-account/codes')
  t.equal((await jan.get('/beheer/accounts')).statusCode, 200)
})

t.test(
  'a password that somebody else gave is replaced before anything else is shown or done',
  await needsBrowser(),
  async (t) => {
    const test = await setUpPages(t)
    const { database } = test
    await database.sql`update beheer_account set password_given = true where gebruikersnaam = 'operator'`
    const { tab, klachten } = await alsGegeven(test)
    t.match(tab.url(), /mijn-account\/wachtwoord$/)
    t.same(await accessibilityFaults(tab), [])
    await tab.goto('/beheer/imports/nieuw')
    t.match(tab.url(), /mijn-account\/wachtwoord$/, 'no page is shown')
    const token = await tab.inputValue('main [name=_csrf]')
    const refused = await tab.request.post('/beheer/notificaties/pauzeren', {
      form: { _csrf: token },
      headers: { origin: test.adres },
    })
    t.equal(refused.status(), 403, 'and nothing is done')
    await tab.fill('#veld-oud', WACHTWOORD)
    await tab.fill('#veld-nieuw', WACHTWOORD)
    await tab.fill('#veld-herhaald', 'iets anders')
    await tab.click('main form .knop')
    t.match(await tab.textContent('#veld-nieuw-fout'), /ander wachtwoord dan het huidige/)
    t.match(await tab.textContent('#veld-herhaald-fout'), /niet hetzelfde/)
    await tab.fill('#veld-oud', WACHTWOORD)
    await tab.fill('#veld-nieuw', 'een heel nieuw wachtwoord')
    await tab.fill('#veld-herhaald', 'een heel nieuw wachtwoord')
    await tab.click('main form .knop')
    await tab.waitForURL('**/beheer/')
    t.match(await tab.textContent('main'), /Uw wachtwoord is gewijzigd/)
    t.same(klachten, [])

    async function alsGegeven({ browser, adres }: typeof test) {
      const context = await browser.newContext({ baseURL: adres })
      const tab = await context.newPage()
      const klachten: string[] = []
      tab.on('pageerror', (error) => klachten.push(error.message))
      await tab.goto('/beheer/inloggen')
      await tab.fill('#veld-gebruikersnaam', 'operator')
      await tab.fill('#veld-wachtwoord', WACHTWOORD)
      await tab.click('main button[type=submit]')
      await tab.waitForURL('**/mijn-account/wachtwoord')
      return { tab, klachten }
    }
  },
)

t.test('two tabs of one session each show their own message, once', async (t) => {
  const { app, database } = await testApp(t)
  await createAccount(database.db, { gebruikersnaam: 'baas', rol: 'administrator', wachtwoord: WACHTWOORD })
  const one = pagesClient(app)
  await one.login('baas', WACHTWOORD)
  await one.confirm(WACHTWOORD)
  const post = async (naam: string) => {
    const form = { gebruikersnaam: naam, rol: 'viewer', maxVertrouwelijkheidaanduiding: 'openbaar', wijze: 'oidc' }
    return String((await one.post('/beheer/accounts', form, '/beheer/accounts/nieuw')).headers.location)
  }
  const [first, second] = [await post('eerste'), await post('tweede')]
  const page = async (url: string) => (await one.get(url)).body
  t.notMatch(await page('/beheer/zaken'), /is gemaakt/, 'another page shows neither')
  t.match(await page(second), /Het account tweede is gemaakt/)
  t.match(await page(first), /Het account eerste is gemaakt/)
  t.notMatch(await page(first), /is gemaakt/)
})
