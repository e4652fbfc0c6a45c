// Passkeys, with the authenticator of Chromium.
import t from 'tap'
import { accessibilityFaults, isTooWide, needsBrowser, setUpPages, WACHTWOORD } from './browser.ts'
import { pagesClient } from './browser-client.ts'

t.test(
  'a passkey is made, signs in without password and code, confirms, and is taken away',
  await needsBrowser(),
  async (t) => {
    const test = await setUpPages(t)
    const { sql } = test.database
    // A passkey belongs to a name, and an address with numbers is none.
    const baseURL = test.adres.replace('127.0.0.1', 'localhost')
    const context = await test.browser.newContext({ baseURL, viewport: { width: 390, height: 800 } })
    const tab = await context.newPage()
    const devices = await context.newCDPSession(tab)
    await devices.send('WebAuthn.enable')
    const { authenticatorId } = await devices.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    const cookieOf = async () => (await context.cookies()).find(({ name }) => name === 'zaakstroom')?.value

    await tab.goto('/beheer/inloggen')
    await tab.fill('#veld-gebruikersnaam', 'administrator')
    await tab.fill('#veld-wachtwoord', WACHTWOORD)
    await tab.click('main button:text-is("Inloggen")')
    await tab.waitForURL('**/beheer/')
    await tab.goto('/beheer/mijn-account')
    await tab.click('text=Passkey toevoegen')
    await tab.waitForURL('**/bevestigen?verder=*')
    t.same(await accessibilityFaults(tab), [])
    t.equal(await isTooWide(tab), false)
    await tab.fill('#veld-wachtwoord', WACHTWOORD)
    await tab.click('main button:text-is("Bevestigen")')
    await tab.waitForURL('**/passkeys/nieuw')
    t.same(await accessibilityFaults(tab), [])
    t.equal(await isTooWide(tab), false)
    t.equal(await tab.locator('[data-passkey-kan-niet]').count(), 0)
    await tab.fill('#veld-naam', 'Laptop van het werk')
    await tab.click('text=Passkey maken')
    await tab.waitForURL('**/mijn-account')
    t.match(await tab.textContent('main'), /De passkey Laptop van het werk is toegevoegd/)
    t.same(await accessibilityFaults(tab), [])
    t.equal(await isTooWide(tab), false)
    await tab.click('text=Uitloggen')

    // With codes too: a passkey that was unlocked is both.
    await sql`update beheer_account set totp_since = now(), totp_secret = '\\x00' where gebruikersnaam = 'administrator'`
    await tab.goto('/beheer/inloggen?verder=%2Fbeheer%2Faudit')
    t.same(await accessibilityFaults(tab), [])
    t.equal(await isTooWide(tab), false)
    const posted = tab.waitForRequest((one) => one.method() === 'POST' && one.url().endsWith('/inloggen/passkey'))
    await tab.click('text=Inloggen met een passkey')
    const request = await posted
    const [sent, { cookie = '' }] = [request.postData() ?? '', await request.allHeaders()]
    await tab.waitForURL('**/beheer/audit')
    t.match(await tab.textContent('.kop-account'), 'De administrator')
    const cookies = new Map(cookie.split('; ').map((one) => one.split('=', 2) as [string, string]))
    const replay = pagesClient(test.app, {
      origin: baseURL,
      cookies: new Map([...cookies].filter(([name]) => name === 'zaakstroom-passkey')),
    })
    t.equal(replay.cookies.size, 1)
    const antwoord = new URLSearchParams(sent).get('antwoord')!
    t.equal(
      (await replay.post('/beheer/inloggen/passkey', { antwoord }, '/beheer/inloggen')).statusCode,
      401,
      'an answer counts once',
    )

    await tab.goto('/beheer/accounts/nieuw')
    const unconfirmed = await cookieOf()
    await tab.click('text=Bevestigen met een passkey')
    await tab.waitForURL('**/accounts/nieuw')
    t.not(await cookieOf(), unconfirmed)

    await sql`update beheer_account set actief = false where gebruikersnaam = 'administrator'`
    await tab.goto('/beheer/inloggen')
    await tab.click('text=Inloggen met een passkey')
    await tab.waitForURL('**/inloggen/passkey')
    t.match(await tab.textContent('[role=alert]'), 'Deze passkey is hier niet bekend')
    t.same(await accessibilityFaults(tab), [])
    await sql`update beheer_account set actief = true, totp_since = null, totp_secret = null`
    await context.clearCookies({ name: 'zaakstroom' })

    const { credentials } = await devices.send('WebAuthn.getCredentials', { authenticatorId })
    t.equal(credentials.length, 1)
    await devices.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await tab.goto('/beheer/inloggen')
    await tab.click('text=Inloggen met een passkey')
    await tab.locator('[data-passkey-mislukt]').waitFor({ state: 'visible' })
    await devices.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
    await tab.click('text=Inloggen met een passkey')
    await tab.waitForURL('**/beheer/')
    await tab.goto('/beheer/bevestigen?verder=%2Fbeheer%2Fmijn-account')
    await tab.click('text=Bevestigen met een passkey')
    await tab.waitForURL('**/mijn-account')
    await tab.click('table:has(caption:text("Passkeys")) button')
    await tab.waitForLoadState('load')
    t.match(await tab.textContent('main'), /De passkey Laptop van het werk is verwijderd/)
    t.same(await sql`select from beheer_passkey`, [])
    await tab.click('text=Uitloggen')
    await tab.goto('/beheer/inloggen')
    await tab.click('text=Inloggen met een passkey')
    await tab.waitForURL('**/inloggen/passkey')
    t.match(await sql`select handeling from beheer_audit where handeling like 'passkey%' order by id`, [
      { handeling: 'passkey-toevoegen' },
      { handeling: 'passkey-verwijderen' },
    ])
  },
)
