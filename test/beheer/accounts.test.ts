import t from 'tap'
import { changeAccount, createAccount, listAccounts } from '../../src/beheer/accounts/accounts.ts'
import { kyselyOn } from '../../src/database/database.ts'
import { testApp } from '../app.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages, WACHTWOORD } from './browser.ts'
import { pagesClient } from './browser-client.ts'

const SCRIPT = `<script>alert(1)</script>"><img src=x onerror=alert(1)>`

t.test('accounts', await needsBrowser(), async (t) => {
  const test = await setUpPages(t)
  const uuidOnPage = async (naam: string) => {
    const [row] = await test.database.sql`select uuid from beheer_account where gebruikersnaam = ${naam}`
    return row!.uuid as string
  }

  t.test('an administrator makes one by keyboard alone, with a password that is shown once', async (t) => {
    const { tab, klachten } = await asBeheerder(test, 'administrator')
    await tab.goto('/beheer/accounts')
    t.same(await accessibilityFaults(tab), [])
    await tab.focus('text=Nieuw account')
    await tab.keyboard.press('Enter')
    await tab.waitForURL('**/nieuw')
    t.same(await accessibilityFaults(tab), [])
    await tab.focus('#veld-gebruikersnaam')
    await tab.keyboard.type('j.jansen')
    await tab.keyboard.press('Tab')
    await tab.keyboard.type('Jan Jansen')
    await tab.keyboard.press('Tab')
    await tab.keyboard.type('geen adres')
    await tab.keyboard.press('Tab')
    await tab.keyboard.type('op')
    await tab.focus('main button[type=submit]')
    await tab.keyboard.press('Enter')
    await tab.waitForSelector('[data-fouten]')
    t.equal(await tab.evaluate(`document.activeElement.hasAttribute('data-fouten')`), true, 'the list has the focus')
    t.match(await tab.title(), /^Fout: /)
    t.same(await accessibilityFaults(tab), [])
    await tab.keyboard.press('Tab')
    t.match(await tab.evaluate(`document.activeElement.textContent`), /^E-mailadres: /)
    await tab.keyboard.press('Enter')
    t.equal(await tab.evaluate(`document.activeElement.id`), 'veld-email', 'and leads to the field')
    await tab.fill('#veld-email', 'jan@gemeente.example')
    await tab.keyboard.press('Enter')
    await tab.waitForURL('**/wachtwoord')
    t.same(await accessibilityFaults(tab), [])
    const password = (await tab.textContent('#wachtwoord'))!
    const jansen = pagesClient(test.app)
    t.equal((await jansen.login('j.jansen', password)).statusCode, 303)
    t.equal((await jansen.get('/beheer/zaken')).headers.location, '/beheer/mijn-account/wachtwoord')
    await tab.reload()
    t.notMatch(await tab.content(), password, 'it is shown once')
    const [{ n }] = await test.database.sql<[{ n: number }]>`
      select count(*) as n from (select oud::text || nieuw::text as tekst from beheer_audit union all
        select notices::text from beheer_session) x where tekst like ${`%${password}%`}`
    t.equal(n, 0)
    t.match((await listAccounts(test.app.read, { zoek: 'JANSEN' }))[0], {
      rol: 'operator',
      email: 'jan@gemeente.example',
    })
    t.same(klachten, [])
  })

  t.test('without script, at 320 pixels: faults keep what was entered, and everything can be changed', async (t) => {
    const { tab, klachten } = await asBeheerder(test, 'administrator', { javaScriptEnabled: false, width: 320 })
    await tab.goto('/beheer/accounts/nieuw')
    await tab.fill('#veld-gebruikersnaam', 'met spatie')
    await tab.fill('#veld-naam', 'Nog een')
    await tab.fill('#veld-email', 'geen adres')
    await tab.selectOption('#veld-wijze', 'typen')
    await tab.fill('#veld-wachtwoord', 'te kort')
    await tab.click('main button[type=submit]')
    const faults = await tab.locator('[data-fouten] a').allTextContents()
    t.same(
      faults.map((text) => text.split(':')[0]).sort(),
      ['E-mailadres', 'Gebruikersnaam', 'Wachtwoord'],
      'all that is wrong, at once',
    )
    await tab.fill('#veld-gebruikersnaam', 'Viewer')
    await tab.fill('#veld-email', '')
    t.match(await tab.textContent('#veld-wachtwoord-fout'), 'ten minste 12 tekens')
    t.equal(await tab.inputValue('#veld-naam'), 'Nog een')
    await tab.fill('#veld-wachtwoord', WACHTWOORD)
    await tab.click('main button[type=submit]')
    t.match(await tab.textContent('#veld-gebruikersnaam-fout'), 'al in gebruik')
    await tab.fill('#veld-gebruikersnaam', 'nog een')
    await tab.fill('#veld-wachtwoord', WACHTWOORD)
    await tab.click('main button[type=submit]')
    t.match(await tab.textContent('#veld-gebruikersnaam-fout'), 'zonder spaties')
    t.equal(await isTooWide(tab), false)
    await tab.fill('#veld-gebruikersnaam', 'nog.een')
    await tab.fill('#veld-wachtwoord', WACHTWOORD)
    await tab.click('main button[type=submit]')
    t.match(await tab.textContent('main'), 'Het account nog.een is gemaakt')
    t.equal(await isTooWide(tab), false)

    // Choosing one's own password has a test of its own.
    await test.database.sql`update beheer_account set password_given = false where gebruikersnaam = 'nog.een'`
    const other = pagesClient(test.app)
    t.equal((await other.login('nog.een', WACHTWOORD)).statusCode, 303)
    await tab.selectOption('#veld-rol', 'operator')
    await tab.selectOption('#veld-maxVertrouwelijkheidaanduiding', 'zeer_geheim')
    await tab.click('main button:has-text("Opslaan")')
    t.match(await tab.textContent('main'), 'De wijziging is opgeslagen')
    t.match((await other.get('/beheer/mijn-account')).body, 'zeer geheim', 'it counts from the next request on')
    await tab.click('text=Sessies beëindigen')
    t.equal(await isTooWide(tab), false)
    await tab.click('main button')
    t.equal((await other.get('/beheer/')).statusCode, 303)

    const elders = pagesClient(test.app, { remoteAddress: '10.0.0.1' })
    for (let count = 0; count < 5; count++) await elders.login('nog.een', 'verkeerd')
    t.equal((await elders.login('nog.een', WACHTWOORD)).statusCode, 429)
    await tab.goto(`/beheer/accounts/${await uuidOnPage('nog.een')}`)
    t.match(await tab.textContent('main'), 'Waar dat was moet worden gewacht')
    t.equal(await isTooWide(tab), false)
    await tab.click('text=Wachttijd opheffen')
    await tab.click('main button')
    t.match(await tab.textContent('main'), 'hoeft niet meer te worden gewacht')
    t.match(await tab.textContent('main'), '5 keer', 'what failed is still there to be told')
    t.equal((await elders.login('nog.een', WACHTWOORD)).statusCode, 303)
    t.equal((await other.login('nog.een', WACHTWOORD)).statusCode, 303)

    await tab.click('text=Nieuw wachtwoord')
    await tab.click('main button')
    const nieuw = (await tab.textContent('#wachtwoord'))!
    t.equal((await other.get('/beheer/')).statusCode, 303, 'a new password ends the sessions')
    t.equal((await other.login('nog.een', nieuw)).statusCode, 303)
    await tab.click('text=Naar het account')
    await tab.uncheck('#veld-actief')
    await tab.click('main button:has-text("Opslaan")')
    t.match(await tab.textContent('main'), 'niet actief')
    t.equal((await other.get('/beheer/')).statusCode, 303)
    await tab.click('text=Verwijderen')
    await tab.click('main button')
    t.match(await tab.textContent('main'), 'is verwijderd')
    t.same(klachten, [])
  })

  t.test('script in a name is text', async (t) => {
    const { tab, klachten } = await asBeheerder(test, 'administrator')
    await test.database.sql`
      insert into beheer_account (gebruikersnaam, naam, email, rol, totp_since)
      values (${SCRIPT.replaceAll(' ', '_')}, ${SCRIPT}, ${SCRIPT}, 'viewer', now())`
    const uuid = await uuidOnPage(SCRIPT.replaceAll(' ', '_'))
    for (const pad of [
      '',
      `/${uuid}`,
      `/${uuid}/wachtwoord`,
      `/${uuid}/verwijderen`,
      `/${uuid}/wachttijd`,
      `/${uuid}/codes`,
      `?zoek=${encodeURIComponent(SCRIPT)}`,
    ]) {
      await tab.goto(`/beheer/accounts${pad}`)
      t.match(await tab.content(), '&lt;script&gt;alert(1)', pad)
      t.equal(await tab.locator('main img, main script').count(), 0, pad)
    }
    await tab.goto(`/beheer/accounts/${uuid}`)
    t.same(await accessibilityFaults(tab), [])
    await tab.click('text=Eenmalige codes verwijderen')
    t.same(await accessibilityFaults(tab), [])
    await tab.click('main button')
    t.match(await tab.textContent('main'), 'zijn verwijderd')
    t.same(klachten, [])
  })

  t.test('one cannot lock oneself out', async (t) => {
    const { tab } = await asBeheerder(test, 'administrator')
    const uuid = await uuidOnPage('administrator')
    await tab.goto(`/beheer/accounts/${uuid}`)
    t.equal(await tab.locator('main a:has-text("Verwijderen")').count(), 0)
    await tab.selectOption('#veld-rol', 'operator')
    await tab.click('main button:has-text("Opslaan")')
    t.match(await tab.textContent('#veld-rol-fout'), 'laatste actieve administrator')
    t.same(await accessibilityFaults(tab), [])
    await tab.selectOption('#veld-rol', 'administrator')
    await tab.uncheck('#veld-actief')
    await tab.click('main button:has-text("Opslaan")')
    t.match(await tab.textContent('#veld-actief-fout'), 'uw eigen account')
  })
})

t.test('only an administrator sees accounts, and forms of others are refused', async (t) => {
  const { app, database } = await testApp(t)
  await createAccount(database.db, { gebruikersnaam: 'admin', rol: 'administrator', wachtwoord: WACHTWOORD })
  const { uuid } = await createAccount(database.db, { gebruikersnaam: 'kijker', rol: 'viewer', wachtwoord: WACHTWOORD })
  await createAccount(database.db, { gebruikersnaam: 'doener', rol: 'operator', wachtwoord: WACHTWOORD })
  const forms: [string, Record<string, string>][] = [
    ['', { gebruikersnaam: 'nieuw', rol: 'administrator', maxVertrouwelijkheidaanduiding: 'openbaar', wijze: 'maken' }],
    [`/${uuid}`, { rol: 'administrator', maxVertrouwelijkheidaanduiding: 'openbaar', actief: 'true' }],
    [`/${uuid}/wachtwoord`, { wijze: 'typen', wachtwoord: 'een ander wachtwoord' }],
    ...['verwijderen', 'sessies', 'codes', 'wachttijd'].map((name): [string, object] => [`/${uuid}/${name}`, {}]),
  ] as [string, Record<string, string>][]
  for (const naam of ['kijker', 'doener']) {
    const browser = pagesClient(app)
    await browser.login(naam, WACHTWOORD)
    for (const [pad, form] of forms) {
      t.equal((await browser.get(`/beheer/accounts${pad}`)).statusCode, 403, `${naam} GET ${pad}`)
      t.equal((await browser.post(`/beheer/accounts${pad}`, form, '/beheer/')).statusCode, 403, `${naam} POST ${pad}`)
    }
  }
  const browser = pagesClient(app)
  await browser.login('admin', WACHTWOORD)
  await browser.confirm(WACHTWOORD)
  for (const onzin of ['/%00', '/niets', `/${uuid}/niets`, '?zoek=%00&zoek=x', '?na=%00', '?voor=%F0'])
    t.ok((await browser.get(`/beheer/accounts${onzin}`)).statusCode < 500, onzin)
  t.equal((await browser.get('/beheer/accounts/niets')).statusCode, 404)
  t.equal((await browser.post(`/beheer/accounts/${uuid}`, { rol: 'keizer' })).statusCode, 400)
})

t.test('of two administrators who take each other out at once, one stays', async (t) => {
  const { database } = await testApp(t)
  const ids: number[] = []
  for (const gebruikersnaam of ['a', 'b']) {
    const { uuid } = await createAccount(database.db, { gebruikersnaam, rol: 'administrator' })
    const [row] = await database.sql`select id from beheer_account where uuid = ${uuid}`
    ids.push(row!.id)
  }
  const demote = (id: number) =>
    database.sql.begin(async (connection) => {
      await changeAccount(kyselyOn(connection), id, { rol: 'viewer' })
    })
  const outcomes = await Promise.allSettled(ids.map(demote))
  t.same(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  const [row] = await database.sql`select count(*) as n from beheer_account where rol = 'administrator'`
  t.equal(row!.n, 1)
})

t.test('an administrator of the centre counts while the centre has it, and its row alone does not', async (t) => {
  const { database } = await testApp(t)
  const made = await createAccount(database.db, { gebruikersnaam: 'een', rol: 'administrator' })
  const [row] = await database.sql<{ id: number }[]>`select id from beheer_account where uuid = ${made.uuid}`
  await database.sql`
    insert into beheer_account (gebruikersnaam, rol, centre_stamp) values ('cent', 'administrator', gen_random_uuid())`
  const demote = (members?: unknown) =>
    database.sql.begin(async (trx) => {
      await changeAccount(kyselyOn(trx), row!.id, { rol: 'viewer' }, members as never)
    })
  const last = { invalidParams: [{ code: 'last-administrator' }] } as unknown as Error
  await t.rejects(demote(), last)
  await t.rejects(demote({ withUuid: () => undefined }), last, 'the centre shut it out')
  await t.rejects(demote({ withUuid: () => ({ membership: { rol: 'viewer' } }) }), last, 'it has another role')
  await demote({ withUuid: () => ({ membership: { rol: 'administrator' } }) })
})
