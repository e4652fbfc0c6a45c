import { Secret, TOTP } from 'otpauth'
import t from 'tap'
import { hashPassword, isPassword } from '../../src/beheer/accounts/password.ts'
import { begin, runningAttempt, useCode } from '../../src/beheer/accounts/totp.ts'
import { type TestApp, testApp } from '../app.ts'
import { openMailbox } from '../operations/mailbox.ts'
import { until } from '../until.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages, WACHTWOORD } from './browser.ts'
import { pagesClient } from './browser-client.ts'
import { givenAccount } from './quick-hash.ts'

t.test('signing in', await needsBrowser(), async (t) => {
  const test = await setUpPages(t)

  t.test('a page asks to sign in first, and comes back to where one wanted to be', async (t) => {
    const context = await test.browser.newContext({ baseURL: test.adres })
    const tab = await context.newPage()
    await tab.goto('/beheer/?van=elders')
    t.match(tab.url(), /\/beheer\/inloggen\?verder=/)
    t.same(await accessibilityFaults(tab), [])
    await tab.fill('#veld-gebruikersnaam', 'VIEWER')
    await tab.fill('#veld-wachtwoord', WACHTWOORD)
    await tab.keyboard.press('Enter')
    await tab.waitForURL('**/beheer/?van=elders')
    t.match(await tab.textContent('.kop-account'), 'De viewer')
    await tab.click('text=Uitloggen')
    await tab.waitForURL('**/beheer/inloggen')
    await tab.goto('/beheer/')
    t.match(tab.url(), /inloggen/, 'the session has ended')
  })

  t.test('the overview has no violations of WCAG 2.1 AA and fits in 320 pixels', async (t) => {
    const { tab, klachten } = await asBeheerder(test, 'viewer', { width: 320 })
    t.same(await accessibilityFaults(tab), [])
    t.equal(await isTooWide(tab), false)
    t.same(klachten, [])
  })

  t.test('five wrong passwords make one wait, and nobody is told whether the account exists', async (t) => {
    const context = await test.browser.newContext({ baseURL: test.adres, viewport: { width: 390, height: 844 } })
    const tab = await context.newPage()
    const tryPassword = async (naam: string, password: string) => {
      await tab.goto('/beheer/inloggen')
      await tab.fill('#veld-gebruikersnaam', naam)
      await tab.fill('#veld-wachtwoord', password)
      await tab.click('main button[type=submit]')
      return (await tab.textContent('main'))?.replace(naam, '')
    }
    const unknown = await tryPassword('niemand', 'x')
    for (let count = 0; count < 5; count++) t.equal(await tryPassword('operator', 'verkeerd'), unknown)
    t.equal(await holdWait(test), 5)
    t.match(await tryPassword('operator', WACHTWOORD), /Probeer het over \d+ (s|min)( \d+ s)? opnieuw/)
    t.equal(await tab.inputValue('#veld-gebruikersnaam'), 'operator')
    t.same(await accessibilityFaults(tab), [])
    t.equal(await isTooWide(tab), false)
    for (let count = 0; count < 4; count++) await tryPassword('niemand', 'x')
    await holdWait(test)
    t.match(await tryPassword('niemand', 'x'), /Probeer het over \d+ (s|min)( \d+ s)? opnieuw/)
  })

  t.test('whoever signs in reads what failed since the last time, once', async (t) => {
    await test.database.sql`
      update beheer_account set failed_attempts = 3, failed_since = '2026-03-01 12:00+01', failed_last = '2026-03-02 13:30+01'
      where gebruikersnaam = 'viewer'`
    const context = await test.browser.newContext({ baseURL: test.adres, viewport: { width: 390, height: 844 } })
    const tab = await context.newPage()
    await tab.goto('/beheer/inloggen?verder=/beheer/zaken')
    await tab.fill('#veld-gebruikersnaam', 'viewer')
    await tab.fill('#veld-wachtwoord', WACHTWOORD)
    await tab.keyboard.press('Enter')
    await tab.waitForURL('**/beheer/zaken')
    const text = await tab.textContent('main [role=status]')
    t.match(text, /is 3 keer geprobeerd/)
    t.match(text, /het eerst op 1 mrt 2026, 12:00:00, het laatst op 2 mrt 2026, 13:30:00/)
    t.same(await accessibilityFaults(tab), [])
    t.equal(await isTooWide(tab), false)
    await tab.reload()
    t.notMatch(await tab.textContent('main'), 'geprobeerd in te loggen')
  })
})

t.test('forms from elsewhere are refused', async (t) => {
  const test = await setUpPages(t, {}, false)
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
    const proxied = await post({ origin: 'https://zaken.example', host: 'api:8000' }, form)
    t.equal(proxied.statusCode, 403)
    t.match(proxied.body, /PUBLIC_URL.*api:8000/, 'what was expected, and the setting that mends it')
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

async function withAccount(t: Parameters<typeof testApp>[0], env: Record<string, string> = {}) {
  const test = await testApp(t, env)
  const made = await givenAccount(test, { gebruikersnaam: 'jan', rol: 'viewer', wachtwoord: WACHTWOORD })
  return { ...test, account: { ...made, gebruikersnaam: 'jan' } }
}

/** Sets up one-time codes; answers what makes a code, `steps` ahead of the clock of the database. */
async function withCodes({
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

const noWait = ({ database }: Pick<TestApp, 'database'>) => database.sql`delete from beheer_sign_in_attempt`
/** How long the last count made one wait, in seconds. Moves the wait into the future, so that a slow machine does not sit it out. */
async function holdWait({ database }: Pick<TestApp, 'database'>): Promise<number> {
  // Only counts with a wait are kept for a day.
  const rows = await database.sql`
    update beheer_sign_in_attempt p set open_at = clock_timestamp() + interval '10 minutes'
    from (select key, extract(epoch from open_at - (forget_at - interval '1 day'))::float8 as seconds, forget_at
      from beheer_sign_in_attempt where forget_at > now() + interval '2 hours') x
    where p.key = x.key and x.seconds > 0.5 returning x.seconds, x.forget_at`
  const newest = rows.toSorted((a, b) => Date.parse(b.forget_at) - Date.parse(a.forget_at))[0]
  return Math.round(newest?.seconds ?? 0)
}

/** As after the wait: counts stay what they are. */
const turnHasCome = ({ database }: Pick<TestApp, 'database'>) =>
  database.sql`update beheer_sign_in_attempt set open_at = least(open_at, now())`

const sqlIdle = `update beheer_session set seen_at = now() - interval '31 minutes'`
const sqlOld = `update beheer_session set expires_at = now() - interval '1 second', created_at = now() - interval '12 hours'`

t.test('a session', async (t) => {
  const test = await withAccount(t)

  t.test('has a new value at every sign-in, and the old one is worth nothing', async (t) => {
    const browser = pagesClient(test.app)
    t.equal((await browser.login('jan', WACHTWOORD)).statusCode, 303)
    const first = new Map(browser.cookies)
    t.notOk(first.has('zaakstroom-formulier'), 'so has the token of forms')
    t.equal((await browser.get('/beheer/')).statusCode, 200)
    await browser.post('/beheer/uitloggen', {}, '/beheer/')
    t.equal((await browser.get('/beheer/')).statusCode, 303)
    t.equal(
      (await pagesClient(test.app, { cookies: first }).get('/beheer/')).statusCode,
      303,
      'signing out ends it on the server',
    )
    await browser.login('jan', WACHTWOORD)
    const second = new Map(browser.cookies)
    t.not(first.get('zaakstroom'), second.get('zaakstroom'))
    t.equal((await browser.post('/beheer/uitloggen', {}, '/beheer/')).statusCode, 303)
    const planted = pagesClient(test.app, { cookies: new Map([['zaakstroom', 'planted by somebody else']]) })
    await planted.login('jan', WACHTWOORD)
    t.not(planted.cookies.get('zaakstroom'), 'planted by somebody else')
  })

  for (const [what, column] of [
    ['after half an hour without a request', sqlIdle],
    ['twelve hours after signing in, whatever happened since', sqlOld],
  ] as const)
    t.test(`ends ${what}, by the clock of the database`, async (t) => {
      const browser = pagesClient(test.app)
      await browser.login('jan', WACHTWOORD)
      t.equal((await browser.get('/beheer/')).statusCode, 200)
      await test.database.sql.unsafe(column)
      const answer = await browser.get('/beheer/')
      t.equal(answer.statusCode, 303)
      t.match(answer.headers.location, '/beheer/inloggen?verder=')
    })

  t.test('lives on while it is used, but never longer than it may', async (t) => {
    const browser = pagesClient(test.app)
    await browser.login('jan', WACHTWOORD)
    await test.database.sql`update beheer_session set seen_at = now() - interval '29 minutes'`
    for (const headers of [{ 'x-ververs': 'ja' }, { accept: 'text/event-stream' }])
      await test.app.inject({
        url: '/beheer/',
        headers: { ...headers, host: 'localhost', cookie: `zaakstroom=${browser.cookies.get('zaakstroom')}` },
      })
    t.same(
      await test.database.sql`select from beheer_session where seen_at > now() - interval '28 minutes'`,
      [],
      'a page that refreshes itself is nobody at the desk',
    )
    await browser.get('/beheer/')
    const [row] = await test.database.sql`
      select seen_at > now() - interval '1 minute' as gezien, expires_at <= created_at + interval '12 hours' as eindig
      from beheer_session`
    t.match(row, { gezien: true, eindig: true })
  })

  t.test('ends at once with the account', async (t) => {
    const browser = pagesClient(test.app)
    await browser.login('jan', WACHTWOORD)
    await test.database.sql`update beheer_account set actief = false`
    t.equal((await browser.get('/beheer/')).statusCode, 303)
    t.equal((await browser.login('jan', WACHTWOORD)).statusCode, 401)
    await test.database.sql`update beheer_account set actief = true`
  })

  t.test('has a cookie that scripts and other sites do not get', async (t) => {
    const browser = pagesClient(test.app)
    const answer = await browser.login('jan', WACHTWOORD)
    t.match(
      answer.cookies.find(({ name }) => name === 'zaakstroom'),
      { httpOnly: true, sameSite: 'Lax', path: '/' },
    )
    t.match(answer.headers, { 'cache-control': 'no-store', 'x-frame-options': 'DENY' })
  })
})
t.test('under https all cookies are Secure and kept to this host', async (t) => {
  const { app } = await withAccount(t, { PUBLIC_URL: 'https://zaken.example' })
  const browser = pagesClient(app, { origin: 'https://zaken.example' })
  const page = await browser.get('/beheer/inloggen')
  const answer = await browser.login('jan', WACHTWOORD)
  t.equal(answer.statusCode, 303)
  const cookies = [...page.cookies, ...answer.cookies.filter(({ value }) => value !== '')]
  t.same(cookies.map(({ name }) => name).sort(), [
    '__Host-zaakstroom',
    '__Host-zaakstroom-browser',
    '__Host-zaakstroom-formulier',
  ])
  for (const cookie of cookies) t.match(cookie, { secure: true, httpOnly: true, path: '/', domain: undefined })
  t.match(answer.headers['strict-transport-security'], 'max-age')
})

t.test('too many attempts from one address wait a minute, those from another do not', async (t) => {
  const { app } = await withAccount(t)
  const attacker = pagesClient(app, { remoteAddress: '10.0.0.1' })
  for (let count = 0; count < 20; count++) t.equal((await attacker.login(`iemand-${count}`, 'x')).statusCode, 401)
  const refused = await attacker.login('jan', WACHTWOORD)
  t.equal(refused.statusCode, 429)
  t.match(refused.headers['retry-after'], /^[1-9]\d?$/)
  t.match(refused.body, 'te vaak geprobeerd')
  t.equal((await pagesClient(app, { remoteAddress: '10.0.0.2' }).login('jan', WACHTWOORD)).statusCode, 303)
})

t.test('wrong passwords slow down whoever enters them, and lock nobody out', async (t) => {
  const test = await withAccount(t)
  const { sql } = test.database
  await givenAccount(test, { gebruikersnaam: 'piet', rol: 'viewer', wachtwoord: WACHTWOORD })
  const wrong = (browser: ReturnType<typeof pagesClient>) => browser.login('JAN', 'verkeerd')
  /** Hashes that were computed show as failures of the account. */
  const failures = async () =>
    (await sql`select failed_attempts as n from beheer_account where gebruikersnaam = 'jan'`)[0]!.n

  t.test('after five the wait doubles up to a quarter of an hour, and nothing is looked at until then', async (t) => {
    const attacker = pagesClient(test.app, { remoteAddress: '10.1.0.1' })
    for (let count = 0; count < 5; count++) t.equal((await wrong(attacker)).statusCode, 401)
    for (const seconds of [5, 10, 20, 40, 80, 160, 320, 640, 900, 900]) {
      const before = await failures()
      t.equal(await holdWait(test), seconds)
      const refused = await attacker.login('jan', WACHTWOORD)
      t.equal(refused.statusCode, 429, 'even the right one')
      const wait = Number(refused.headers['retry-after'])
      t.ok(wait > 300 && wait <= 600, 'and it says how long')
      await attacker.login('piet', WACHTWOORD) // so that the count of the address for all names starts anew
      attacker.cookies.clear()
      t.equal(await failures(), before, 'the password was not looked at')
      await turnHasCome(test)
      t.equal((await wrong(pagesClient(test.app, { remoteAddress: '10.1.0.1' }))).statusCode, 401)
    }
  })

  t.test('who comes from elsewhere signs in meanwhile; the same /64 is not elsewhere', async (t) => {
    for (let count = 1; count <= 5; count++)
      await wrong(pagesClient(test.app, { remoteAddress: `2001:db8:1:2::${count}` }))
    await holdWait(test)
    const at = async (remoteAddress: string) =>
      (await pagesClient(test.app, { remoteAddress }).login('jan', WACHTWOORD)).statusCode
    t.equal(await at('2001:db8:1:2:ffff::9'), 429)
    t.equal(await at('2001:db8:1:3::1'), 303)
    t.equal(await at('10.1.0.2'), 303)
  })

  t.test('many at once get no more chances than one after another', async (t) => {
    await noWait(test)
    const statuses = await Promise.all(
      Array.from(
        { length: 12 },
        async () => (await wrong(pagesClient(test.app, { remoteAddress: '10.1.0.3' }))).statusCode,
      ),
    )
    t.same(statuses.sort(), [...Array(5).fill(401), ...Array(7).fill(429)])
  })

  t.test(
    'many addresses against one name wait too, half a minute at most; not a browser that signed in before',
    async (t) => {
      await noWait(test)
      const known = pagesClient(test.app, { remoteAddress: '10.1.0.4' })
      t.equal((await known.login('jan', WACHTWOORD)).statusCode, 303)
      known.cookies.delete('zaakstroom')
      for (let count = 0; count < 50; count++)
        t.equal((await wrong(pagesClient(test.app, { remoteAddress: `10.2.0.${count}` }))).statusCode, 401)
      const fresh = (count: number) => pagesClient(test.app, { remoteAddress: `10.3.0.${count}` })
      t.equal(await holdWait(test), 1)
      t.equal((await fresh(0).login('jan', WACHTWOORD)).statusCode, 429)
      for (let count = 1; count <= 8; count++) {
        await turnHasCome(test)
        await wrong(fresh(count))
      }
      t.equal(await holdWait(test), 30)
      t.equal((await fresh(9).login('jan', WACHTWOORD)).statusCode, 429)
      await turnHasCome(test)
      t.equal(
        (await fresh(9).login('jan', WACHTWOORD)).statusCode,
        303,
        'being refused by the name cost this address nothing',
      )
      await wrong(fresh(10))
      await holdWait(test)
      t.equal((await fresh(11).login('jan', WACHTWOORD)).statusCode, 429)
      t.equal((await known.login('jan', WACHTWOORD)).statusCode, 303, 'the known browser does not wait')
    },
  )

  t.test(
    'a known browser is not slowed down by others at its address, has a bound of its own, and is known to one account',
    async (t) => {
      await noWait(test)
      const known = pagesClient(test.app, { remoteAddress: '10.4.0.1' })
      await known.login('jan', WACHTWOORD)
      known.cookies.delete('zaakstroom')
      const copy = new Map(known.cookies)
      const attacker = pagesClient(test.app, { remoteAddress: '10.4.0.1' })
      for (let count = 0; count < 25; count++) await attacker.login(count < 6 ? 'piet' : 'jan', 'verkeerd')
      t.equal((await attacker.login('jan', WACHTWOORD)).statusCode, 429)
      t.equal((await known.login('piet', WACHTWOORD)).statusCode, 429, 'it never signed in to that account')
      for (let count = 0; count < 5; count++) t.equal((await wrong(known)).statusCode, 401)
      await holdWait(test)
      t.equal((await known.login('jan', WACHTWOORD)).statusCode, 429, 'its own five')
      await turnHasCome(test)
      t.equal((await known.login('jan', WACHTWOORD)).statusCode, 303)
      await known.post('/beheer/uitloggen', {}, '/beheer/')
      t.ok(known.cookies.get('zaakstroom-browser'), 'it stays known after signing out')
      for (let count = 0; count < 5; count++) await wrong(pagesClient(test.app, { remoteAddress: '10.4.0.2' }))
      await holdWait(test)
      const thief = pagesClient(test.app, { remoteAddress: '10.4.0.2', cookies: copy })
      t.equal((await thief.login('jan', WACHTWOORD)).statusCode, 429, 'the value before counts no more')
    },
  )

  t.test('signing in to one account does not renew the chances that a shared browser has at another', async (t) => {
    await noWait(test)
    const shared = pagesClient(test.app, { remoteAddress: '10.5.0.1' })
    for (const naam of ['jan', 'piet']) {
      t.equal((await shared.login(naam, WACHTWOORD)).statusCode, 303)
      shared.cookies.delete('zaakstroom')
    }
    for (let count = 0; count < 5; count++) {
      t.equal((await wrong(shared)).statusCode, 401)
      t.equal((await shared.login('piet', WACHTWOORD)).statusCode, 303)
      shared.cookies.delete('zaakstroom')
    }
    await holdWait(test)
    t.equal((await wrong(shared)).statusCode, 429)
  })

  t.test('of a known browser only the hash is stored, and the 20 newest of an account', async (t) => {
    const browser = pagesClient(test.app, { remoteAddress: '10.6.0.1' })
    for (let count = 0; count < 22; count++) {
      browser.cookies.clear()
      t.equal((await browser.login('piet', WACHTWOORD)).statusCode, 303)
    }
    const value = browser.cookies.get('zaakstroom-browser')!
    const rows = await sql`
      select b.key = sha256(convert_to(${value}, 'utf8')) as deze from beheer_browser b
      join beheer_account a on a.id = b.account_id where gebruikersnaam = 'piet' order by b.id desc`
    t.equal(rows.length, 20)
    t.ok(rows[0]!.deze)
  })

  t.test('counts are forgotten: after an hour, or a day once there was a wait', async (t) => {
    await noWait(test)
    const browser = pagesClient(test.app, { remoteAddress: '10.6.0.2' })
    const keeps = () => sql`
      select max(forget_at) > now() + interval '1 hour' as lang from beheer_sign_in_attempt where key in
        (select key from beheer_sign_in_attempt order by count desc limit 1)`
    for (let count = 0; count < 4; count++) await wrong(browser)
    t.same([...(await keeps())], [{ lang: false }])
    for (let count = 0; count < 2; count++) await wrong(browser)
    t.same([...(await keeps())], [{ lang: true }])
    await sql`update beheer_sign_in_attempt set forget_at = now() - interval '1 second', open_at = now() - interval '1 second'`
    t.equal((await wrong(browser)).statusCode, 401)
    t.same(
      [...(await sql`select count from beheer_sign_in_attempt`)],
      [{ count: 1 }, { count: 1 }],
      'and they are cleaned up',
    )
  })

  t.test('the audit log says with a sign-in what failed before it, and the next one says nothing', async (t) => {
    await noWait(test)
    await pagesClient(test.app).login('jan', WACHTWOORD)
    for (let count = 0; count < 2; count++) await wrong(pagesClient(test.app, { remoteAddress: '10.6.0.3' }))
    const browser = pagesClient(test.app)
    await browser.login('jan', WACHTWOORD)
    t.match((await browser.get('/beheer/')).body, 'is 2 keer geprobeerd in te loggen')
    const again = pagesClient(test.app)
    await again.login('jan', WACHTWOORD)
    t.notMatch((await again.get('/beheer/')).body, 'geprobeerd in te loggen')
    const rows = await sql`
      select nieuw from beheer_audit where handeling = 'inloggen' and resultaat = 'geslaagd' order by id desc limit 2`
    t.equal(rows[0]!.nieuw, null)
    const { mislukt } = rows[1]!.nieuw
    t.equal(mislukt.pogingen, 2)
    t.ok(Date.parse(mislukt.sinds) < Date.parse(mislukt.laatst))
  })
})

t.test(
  'who is kept out of a new browser by others gets in by a link that is mailed, once, with his password',
  async (t) => {
    const mailbox = await openMailbox(t)
    const test = await withAccount(t, {
      SMTP_HOST: '127.0.0.1',
      SMTP_PORT: String(mailbox.port),
      SMTP_SECURITY: 'none',
      SMTP_FROM: 'zaakstroom@example.nl',
    })
    await test.database.sql`update beheer_account set email = 'jan@example.nl'`
    for (let count = 0; count < 60; count++)
      await pagesClient(test.app, { remoteAddress: `10.4.0.${count}` }).login('jan', 'verkeerd')
    const owner = pagesClient(test.app, { remoteAddress: '10.5.0.1' })
    t.match(await owner.login('jan', WACHTWOORD), { statusCode: 429, body: /href="\/beheer\/inloggen\/link"/ })
    const plain = ({ body }: { body: string }) => body.replace(/name="_csrf" value="[^"]+"/g, '')
    const ask = (gebruikersnaam: string) =>
      pagesClient(test.app, { remoteAddress: '10.5.0.2' }).post('/beheer/inloggen/link', { gebruikersnaam })
    const [asked, nobody] = [await ask('jan'), await ask('niemand')]
    t.equal(plain(asked), plain(nobody), 'nobody learns which accounts there are')
    await until('the mail has come', () => mailbox.mails.length === 1)
    await ask('jan')
    t.match(mailbox.mails, [{ to: ['jan@example.nl'], subject: 'Link om in te loggen' }], 'not another one at once')
    const [, path = ''] = /http:\/\/localhost(\S+)/.exec(mailbox.mails[0]!.body) ?? []
    const code = new URL(path, 'http://localhost').searchParams.get('code')!
    await pagesClient(test.app).get(path)
    t.match((await owner.get(path)).body, 'Deze browser gebruiken', 'looking at it does not use it up')
    const use = (browser: typeof owner) => browser.post('/beheer/inloggen/link/gebruiken', { code }, path)
    t.match(await use(owner), { statusCode: 200, body: /Deze browser is nu bekend/ })
    t.equal((await use(pagesClient(test.app))).statusCode, 400, 'once')
    t.equal((await owner.get('/beheer/')).statusCode, 303, 'it opens nothing by itself')
    t.equal((await owner.login('jan', 'verkeerd')).statusCode, 401)
    t.equal((await owner.login('jan', WACHTWOORD)).statusCode, 303)
    await test.database.sql`delete from beheer_browser_link`
    await test.database.sql`insert into beheer_browser_link (key, account_id, made_at)
    select sha256('oud'), id, now() - interval '16 minutes' from beheer_account`
    t.equal(
      (await owner.post('/beheer/inloggen/link/gebruiken', { code: 'oud' }, '/beheer/inloggen/link')).statusCode,
      400,
    )
  },
)

t.test('behind a proxy of ours its word counts as the address, and the word of anybody else does not', async (t) => {
  const proxy = '10.0.0.9'
  const { app } = await withAccount(t, { TRUST_PROXY: `${proxy},10.9.0.0/16` })
  const attacker = pagesClient(app, { remoteAddress: proxy, forwardedFor: '192.0.2.1' })
  for (let count = 0; count < 20; count++) await attacker.login(`iemand-${count}`, 'x')
  t.equal((await attacker.login('jan', WACHTWOORD)).statusCode, 429)
  const neighbour = pagesClient(app, { remoteAddress: proxy, forwardedFor: '192.0.2.2' })
  t.equal((await neighbour.login('jan', WACHTWOORD)).statusCode, 303, 'who comes along the same proxy')
  const liar = (count: number) => pagesClient(app, { remoteAddress: '10.0.0.7', forwardedFor: `192.0.2.${count}` })
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
  const stored = await hashPassword('een wachtwoord')
  const others = Array.from({ length: 22 }, () => hashPassword('een ander').then(() => 'other'))
  const known = isPassword('een wachtwoord', stored, { known: true }).then(() => 'known')
  t.equal(await Promise.race([known, others[21]!]), 'known', 'a known browser does not wait for them')
  await Promise.all(others)
  t.ok(await isPassword('een wachtwoord', await hashPassword('een wachtwoord')), 'and afterwards all is as before')
})

t.test('with one-time codes', async (t) => {
  const test = await withAccount(t)
  const { code } = await withCodes(test)
  const enterCode = (browser: ReturnType<typeof pagesClient>, value: string) =>
    browser.post('/beheer/inloggen/code', { code: value, verder: '/beheer/?x=1' })

  t.test('the password leads to the code, and to no page before that', async (t) => {
    const browser = pagesClient(test.app)
    const answer = await browser.login('jan', WACHTWOORD)
    t.equal(answer.headers.location, '/beheer/inloggen/code')
    const half = new Map(browser.cookies)
    t.match((await browser.get('/beheer/')).headers.location, '/beheer/inloggen/code?verder=')
    t.equal((await browser.get('/beheer/mijn-account/codes')).statusCode, 303)
    const page = await browser.get('/beheer/inloggen/code')
    t.notMatch(page.body, 'Hoofdmenu')
    const right = await code()
    const done = await enterCode(browser, right)
    t.equal(done.statusCode, 303)
    t.equal(done.headers.location, '/beheer/?x=1')
    t.equal((await browser.get('/beheer/')).statusCode, 200)
    t.not(browser.cookies.get('zaakstroom'), half.get('zaakstroom'), 'the value changes at this step too')
    t.equal((await pagesClient(test.app, { cookies: half }).get('/beheer/')).statusCode, 303)

    t.test('a code counts once, and one before it no more', async (t) => {
      const other = pagesClient(test.app)
      await other.login('jan', WACHTWOORD)
      t.equal((await enterCode(other, right)).statusCode, 401)
      t.equal((await enterCode(other, await code(-1))).statusCode, 401)
      t.equal((await enterCode(other, await code(3))).statusCode, 401, 'nor one of the time to come')
      t.equal((await enterCode(other, '')).statusCode, 401)
      t.equal((await other.get('/beheer/')).statusCode, 303)
      await noWait(test)
      t.equal((await enterCode(other, await code(1))).statusCode, 303, 'one step of difference is forgiven')
    })
  })

  t.test('the same code from two browsers at once lets one of them in', async (t) => {
    await test.database.sql`update beheer_account set totp_step = null`
    await noWait(test)
    const browsers = [pagesClient(test.app), pagesClient(test.app), pagesClient(test.app)]
    for (const browser of browsers) await browser.login('jan', WACHTWOORD)
    const right = await code()
    const answers = await Promise.all(browsers.map((browser) => enterCode(browser, right)))
    t.same(answers.map(({ statusCode }) => statusCode).sort(), [303, 401, 401])
  })

  t.test(
    'wrong codes make the next ones wait, from whatever address they come, also after the password again',
    async (t) => {
      await test.database.sql`update beheer_account set totp_step = null`
      await noWait(test)
      const browser = pagesClient(test.app, { remoteAddress: '10.0.0.9' })
      await browser.login('jan', WACHTWOORD)
      for (let count = 0; count < 5; count++) t.equal((await enterCode(browser, '000000')).statusCode, 401)
      t.equal(await holdWait(test), 5)
      const refused = await enterCode(browser, await code())
      t.equal(refused.statusCode, 429, 'also the right one, now')
      t.match(refused.headers['retry-after'], /^[1-9]\d*$/)
      const elsewhere = pagesClient(test.app, { remoteAddress: '10.7.0.1' })
      t.equal((await elsewhere.login('jan', WACHTWOORD)).statusCode, 303)
      t.equal((await enterCode(elsewhere, await code())).statusCode, 429)
      for (const seconds of [10, 20, 40]) {
        await turnHasCome(test)
        t.equal((await enterCode(elsewhere, '000000')).statusCode, 401)
        t.equal(await holdWait(test), seconds)
        t.equal((await enterCode(elsewhere, '000000')).statusCode, 429)
      }
      await turnHasCome(test)
      t.equal((await enterCode(elsewhere, await code())).statusCode, 303, 'and then the right one is right')
    },
  )

  t.test('a browser that signed in before has codes of its own to try, also bounded', async (t) => {
    await test.database.sql`update beheer_account set totp_step = null`
    await noWait(test)
    const known = pagesClient(test.app)
    await known.login('jan', WACHTWOORD)
    t.equal((await enterCode(known, await code())).statusCode, 303)
    const attacker = pagesClient(test.app, { remoteAddress: '10.0.0.11' })
    await attacker.login('jan', WACHTWOORD)
    for (let count = 0; count < 6; count++) await enterCode(attacker, '000000')
    known.cookies.delete('zaakstroom')
    await known.login('jan', WACHTWOORD)
    for (let count = 0; count < 5; count++) {
      t.equal((await enterCode(known, '000000')).statusCode, 401)
      t.equal((await known.login('jan', WACHTWOORD)).statusCode, 303)
    }
    await holdWait(test)
    t.equal((await enterCode(known, '000000')).statusCode, 429, 'the password again gives no new codes')
  })

  t.test('many codes at once get no more chances than one after another', async (t) => {
    await test.database.sql`update beheer_account set totp_step = null, failed_attempts = 0`
    await noWait(test)
    const browser = pagesClient(test.app, { remoteAddress: '10.0.0.10' })
    await browser.login('jan', WACHTWOORD)
    const answers = await Promise.all(Array.from({ length: 12 }, () => enterCode(browser, '000000')))
    t.same(answers.map(({ statusCode }) => statusCode).sort(), [...Array(5).fill(401), ...Array(7).fill(429)])
    const [row] = await test.database.sql`select failed_attempts as n from beheer_account`
    t.equal(row!.n, 5)
  })

  t.test('the secret is stored encrypted, for this account alone', async (t) => {
    const [row] = await test.database.sql`select totp_secret from beheer_account where id = ${test.account.id}`
    t.throws(() => test.parts.box.open(row!.totp_secret, 'totp:another'))
    t.ok(test.parts.box.open(row!.totp_secret, `totp:${test.account.uuid}`))
  })
})
