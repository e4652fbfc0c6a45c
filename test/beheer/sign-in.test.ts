import { Secret, TOTP } from 'otpauth'
import t from 'tap'
import { createAccount } from '../../src/beheer/accounts.ts'
import { hashPassword, isPassword } from '../../src/beheer/password.ts'
import { begin, runningAttempt, useCode } from '../../src/beheer/totp.ts'
import { type TestApp, testApp } from '../app.ts'
import { alsBeheerder, needsBrowser, opstelling, teBreed, toegankelijkheid, WACHTWOORD } from './browser.ts'
import { klant } from './browser-client.ts'

t.test('signing in', await needsBrowser(), async (t) => {
  const test = await opstelling(t)

  t.test('a page asks to sign in first, and comes back to where one wanted to be', async (t) => {
    const context = await test.browser.newContext({ baseURL: test.adres })
    const pagina = await context.newPage()
    await pagina.goto('/beheer/?van=elders')
    t.match(pagina.url(), /\/beheer\/inloggen\?verder=/)
    t.same(await toegankelijkheid(pagina), [])
    await pagina.fill('#veld-gebruikersnaam', 'VIEWER')
    await pagina.fill('#veld-wachtwoord', WACHTWOORD)
    await pagina.keyboard.press('Enter')
    await pagina.waitForURL('**/beheer/?van=elders')
    t.match(await pagina.textContent('.kop-account'), 'De viewer')
    await pagina.click('text=Uitloggen')
    await pagina.waitForURL('**/beheer/inloggen')
    await pagina.goto('/beheer/')
    t.match(pagina.url(), /inloggen/, 'the session has ended')
  })

  t.test('the overview has no violations of WCAG 2.1 AA and fits in 320 pixels', async (t) => {
    const { pagina, klachten } = await alsBeheerder(test, 'viewer', { width: 320 })
    t.same(await toegankelijkheid(pagina), [])
    t.equal(await teBreed(pagina), false)
    t.same(klachten, [])
  })

  t.test('five wrong passwords lock an account, and nobody is told why', async (t) => {
    const context = await test.browser.newContext({ baseURL: test.adres, javaScriptEnabled: false })
    const pagina = await context.newPage()
    const probeer = async (naam: string, wachtwoord: string) => {
      await pagina.goto('/beheer/inloggen')
      await pagina.fill('#veld-gebruikersnaam', naam)
      await pagina.fill('#veld-wachtwoord', wachtwoord)
      await pagina.click('main button[type=submit]')
      return pagina.textContent('main')
    }
    const unknown = await probeer('niemand', 'x')
    for (let count = 0; count < 5; count++)
      t.equal((await probeer('operator', 'verkeerd'))?.replace('operator', 'niemand'), unknown)
    t.match(await probeer('operator', WACHTWOORD), 'tijdelijk geblokkeerd')
  })
})

t.test('forms from elsewhere are refused', async (t) => {
  const test = await opstelling(t, {}, false)
  const post = (headers: Record<string, string>, body: Record<string, string>) =>
    test.app.inject({
      method: 'POST',
      url: '/beheer/inloggen',
      headers: { 'content-type': 'application/x-www-form-urlencoded', host: 'localhost', ...headers },
      payload: new URLSearchParams(body).toString(),
    })
  const form = { gebruikersnaam: 'administrator', wachtwoord: WACHTWOORD }

  t.test('without an Origin of ours', async (t) => {
    t.equal((await post({}, form)).statusCode, 403)
    t.equal((await post({ origin: 'http://evil.example' }, form)).statusCode, 403)
    t.equal((await post({ origin: 'null' }, form)).statusCode, 403)
  })
  t.test('without the token of the form', async (t) => {
    const answer = await post({ origin: 'http://localhost' }, form)
    t.equal(answer.statusCode, 403)
    t.match(answer.body, 'Dit formulier is verlopen')
    t.same(
      answer.cookies.filter(({ name }) => name === 'zaakstroom'),
      [],
    )
  })
})

async function metAccount(t: Parameters<typeof testApp>[0], env: Record<string, string> = {}) {
  const test = await testApp(t, env)
  await createAccount(test.database.db, { gebruikersnaam: 'jan', rol: 'viewer', wachtwoord: WACHTWOORD })
  const [{ id, uuid }] = await test.database.sql<[{ id: number; uuid: string }]>`select id, uuid from beheer_account`
  return { ...test, account: { id, uuid, gebruikersnaam: 'jan' } }
}

/** Sets up one-time codes; answers what makes a code, `steps` ahead of the clock of the database. */
async function metCodes({
  database,
  parts,
  account,
}: TestApp & { account: { id: number; uuid: string; gebruikersnaam: string } }) {
  await begin(database, parts.box, account)
  const geheim = (await runningAttempt(database, parts.box, account, 'Test'))!.geheim.replaceAll(' ', '')
  const code = async (steps = 0) => {
    const [{ nu }] = await database.sql<[{ nu: number }]>`select extract(epoch from now())::float8 as nu`
    const totp = new TOTP({ secret: Secret.fromBase32(geheim) })
    return totp.generate({ timestamp: (nu + steps * 30) * 1000 })
  }
  if (!(await useCode(database, parts.box, account, await code(-1), true))) throw new Error('the code was refused')
  return { geheim, code }
}

const sqlIdle = `update beheer_sessie set gezien_op = now() - interval '31 minutes'`
const sqlOld = `update beheer_sessie set vervalt_op = now() - interval '1 second', gemaakt_op = now() - interval '12 hours'`

t.test('a session', async (t) => {
  const test = await metAccount(t)

  t.test('has a new value at every sign-in, and the old one is worth nothing', async (t) => {
    const browser = klant(test.app)
    t.equal((await browser.login('jan', WACHTWOORD)).statusCode, 303)
    const first = new Map(browser.cookies)
    t.notOk(first.has('zaakstroom-formulier'), 'so has the token of forms')
    t.equal((await browser.get('/beheer/')).statusCode, 200)
    await browser.post('/beheer/uitloggen', {}, '/beheer/')
    t.equal((await browser.get('/beheer/')).statusCode, 303)
    t.equal(
      (await klant(test.app, { cookies: first }).get('/beheer/')).statusCode,
      303,
      'signing out ends it on the server',
    )
    await browser.login('jan', WACHTWOORD)
    const second = new Map(browser.cookies)
    t.not(first.get('zaakstroom'), second.get('zaakstroom'))
    t.equal((await browser.post('/beheer/uitloggen', {}, '/beheer/')).statusCode, 303)
    const planted = klant(test.app, { cookies: new Map([['zaakstroom', 'planted by somebody else']]) })
    await planted.login('jan', WACHTWOORD)
    t.not(planted.cookies.get('zaakstroom'), 'planted by somebody else')
  })

  for (const [what, column] of [
    ['after half an hour without a request', sqlIdle],
    ['twelve hours after signing in, whatever happened since', sqlOld],
  ] as const)
    t.test(`ends ${what}, by the clock of the database`, async (t) => {
      const browser = klant(test.app)
      await browser.login('jan', WACHTWOORD)
      t.equal((await browser.get('/beheer/')).statusCode, 200)
      await test.database.sql.unsafe(column)
      const answer = await browser.get('/beheer/')
      t.equal(answer.statusCode, 303)
      t.match(answer.headers.location, '/beheer/inloggen?verder=')
    })

  t.test('lives on while it is used, but never longer than it may', async (t) => {
    const browser = klant(test.app)
    await browser.login('jan', WACHTWOORD)
    await test.database.sql`update beheer_sessie set gezien_op = now() - interval '29 minutes'`
    await browser.get('/beheer/')
    const [row] = await test.database.sql`
      select gezien_op > now() - interval '1 minute' as gezien, vervalt_op <= gemaakt_op + interval '12 hours' as eindig
      from beheer_sessie`
    t.match(row, { gezien: true, eindig: true })
  })

  t.test('ends at once with the account', async (t) => {
    const browser = klant(test.app)
    await browser.login('jan', WACHTWOORD)
    await test.database.sql`update beheer_account set actief = false`
    t.equal((await browser.get('/beheer/')).statusCode, 303)
    t.equal((await browser.login('jan', WACHTWOORD)).statusCode, 401)
    await test.database.sql`update beheer_account set actief = true, mislukte_pogingen = 0`
  })

  t.test('has a cookie that scripts and other sites do not get', async (t) => {
    const browser = klant(test.app)
    const answer = await browser.login('jan', WACHTWOORD)
    t.match(
      answer.cookies.find(({ name }) => name === 'zaakstroom'),
      { httpOnly: true, sameSite: 'Lax', path: '/' },
    )
    t.match(answer.headers, { 'cache-control': 'no-store', 'x-frame-options': 'DENY' })
  })
})
t.test('under https all cookies are Secure and kept to this host', async (t) => {
  const { app } = await metAccount(t, { PUBLIC_URL: 'https://zaken.example' })
  const browser = klant(app, { origin: 'https://zaken.example' })
  const page = await browser.get('/beheer/inloggen')
  const answer = await browser.login('jan', WACHTWOORD)
  t.equal(answer.statusCode, 303)
  const cookies = [...page.cookies, ...answer.cookies.filter(({ value }) => value !== '')]
  t.same(cookies.map(({ name }) => name).sort(), ['__Host-zaakstroom', '__Host-zaakstroom-formulier'])
  for (const cookie of cookies) t.match(cookie, { secure: true, httpOnly: true, path: '/', domain: undefined })
  t.match(answer.headers['strict-transport-security'], 'max-age')
})

t.test('too many attempts from one address wait a minute, those from another do not', async (t) => {
  const { app } = await metAccount(t)
  const attacker = klant(app, { remoteAddress: '10.0.0.1' })
  for (let count = 0; count < 20; count++) t.equal((await attacker.login(`iemand-${count}`, 'x')).statusCode, 401)
  const refused = await attacker.login('jan', WACHTWOORD)
  t.equal(refused.statusCode, 429)
  t.match(refused.headers['retry-after'], /^[1-9]\d?$/)
  t.match(refused.body, 'te vaak geprobeerd')
  t.equal((await klant(app, { remoteAddress: '10.0.0.2' }).login('jan', WACHTWOORD)).statusCode, 303)
})

t.test('behind a proxy of ours its word counts as the address, and the word of anybody else does not', async (t) => {
  const proxy = '10.0.0.9'
  const { app } = await metAccount(t, { TRUST_PROXY: `${proxy},10.9.0.0/16` })
  const attacker = klant(app, { remoteAddress: proxy, forwardedFor: '192.0.2.1' })
  for (let count = 0; count < 20; count++) await attacker.login(`iemand-${count}`, 'x')
  t.equal((await attacker.login('jan', WACHTWOORD)).statusCode, 429)
  const neighbour = klant(app, { remoteAddress: proxy, forwardedFor: '192.0.2.2' })
  t.equal((await neighbour.login('jan', WACHTWOORD)).statusCode, 303, 'who comes along the same proxy')
  const liar = (count: number) => klant(app, { remoteAddress: '10.0.0.7', forwardedFor: `192.0.2.${count}` })
  for (let count = 0; count < 20; count++) await liar(count).login(`iemand-${count}`, 'x')
  t.equal((await liar(99).login('jan', WACHTWOORD)).statusCode, 429, 'who invents an address each time')
})

t.test('only so many passwords are hashed at once: the rest waits, and what is too much is refused', async (t) => {
  const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => hashPassword('een wachtwoord')))
  const refused = outcomes.filter(({ status }) => status === 'rejected')
  t.equal(refused.length, 8, 'two at work and twenty that wait')
  t.match(
    refused,
    refused.map(() => ({ reason: { status: 429, headers: { 'retry-after': '3' } } })),
  )
  t.ok(await isPassword('een wachtwoord', await hashPassword('een wachtwoord')), 'and afterwards all is as before')
})

t.test('with one-time codes', async (t) => {
  const test = await metAccount(t)
  const { code } = await metCodes(test)
  const inlogcode = (browser: ReturnType<typeof klant>, value: string) =>
    browser.post('/beheer/inloggen/code', { code: value, verder: '/beheer/?x=1' })

  t.test('the password leads to the code, and to no page before that', async (t) => {
    const browser = klant(test.app)
    const answer = await browser.login('jan', WACHTWOORD)
    t.equal(answer.headers.location, '/beheer/inloggen/code')
    const half = new Map(browser.cookies)
    t.match((await browser.get('/beheer/')).headers.location, '/beheer/inloggen/code?verder=')
    t.equal((await browser.get('/beheer/mijn-account/codes')).statusCode, 303)
    const page = await browser.get('/beheer/inloggen/code')
    t.notMatch(page.body, 'Hoofdmenu')
    const right = await code()
    const done = await inlogcode(browser, right)
    t.equal(done.statusCode, 303)
    t.equal(done.headers.location, '/beheer/?x=1')
    t.equal((await browser.get('/beheer/')).statusCode, 200)
    t.not(browser.cookies.get('zaakstroom'), half.get('zaakstroom'), 'the value changes at this step too')
    t.equal((await klant(test.app, { cookies: half }).get('/beheer/')).statusCode, 303)

    t.test('a code counts once, and one before it no more', async (t) => {
      const other = klant(test.app)
      await other.login('jan', WACHTWOORD)
      t.equal((await inlogcode(other, right)).statusCode, 401)
      t.equal((await inlogcode(other, await code(-1))).statusCode, 401)
      t.equal((await inlogcode(other, await code(3))).statusCode, 401, 'nor one of the time to come')
      t.equal((await inlogcode(other, '')).statusCode, 401)
      t.equal((await other.get('/beheer/')).statusCode, 303)
      await test.database.sql`update beheer_account set mislukte_pogingen = 0`
      t.equal((await inlogcode(other, await code(1))).statusCode, 303, 'one step of difference is forgiven')
    })
  })

  t.test('the same code from two browsers at once lets one of them in', async (t) => {
    await test.database.sql`update beheer_account set totp_stap = null, mislukte_pogingen = 0`
    const browsers = [klant(test.app), klant(test.app), klant(test.app)]
    for (const browser of browsers) await browser.login('jan', WACHTWOORD)
    const right = await code()
    const answers = await Promise.all(browsers.map((browser) => inlogcode(browser, right)))
    t.same(answers.map(({ statusCode }) => statusCode).sort(), [303, 401, 401])
  })

  t.test('wrong codes lock the account as wrong passwords do', async (t) => {
    await test.database.sql`update beheer_account set totp_stap = null, mislukte_pogingen = 0, geblokkeerd_tot = null`
    const browser = klant(test.app, { remoteAddress: '10.0.0.9' })
    await browser.login('jan', WACHTWOORD)
    for (let count = 0; count < 5; count++) t.equal((await inlogcode(browser, '000000')).statusCode, 401)
    t.equal((await inlogcode(browser, await code())).statusCode, 401, 'also the right one, now')
    t.equal((await klant(test.app).login('jan', WACHTWOORD)).statusCode, 401)
    const [row] = await test.database.sql`select geblokkeerd_tot > now() as geblokkeerd from beheer_account`
    t.ok(row?.geblokkeerd)
  })

  t.test('many codes at once get no more chances than one after another', async (t) => {
    await test.database.sql`update beheer_account set totp_stap = null, mislukte_pogingen = 0, geblokkeerd_tot = null`
    const browser = klant(test.app, { remoteAddress: '10.0.0.10' })
    await browser.login('jan', WACHTWOORD)
    await Promise.all(Array.from({ length: 12 }, () => inlogcode(browser, '000000')))
    const [row] = await test.database.sql`select mislukte_pogingen as n from beheer_account`
    t.equal(row!.n, 5)
  })

  t.test('the secret is stored encrypted, for this account alone', async (t) => {
    const [row] = await test.database.sql`select totp_geheim from beheer_account where id = ${test.account.id}`
    t.throws(() => test.parts.box.open(row!.totp_geheim, 'totp:another'))
    t.ok(test.parts.box.open(row!.totp_geheim, `totp:${test.account.uuid}`))
  })
})
