import t from 'tap'
import { openLiveSettings } from '../../src/config/stored.ts'
import { readConfig } from '../../src/config.ts'
import { givenZaaktype } from '../app.ts'
import { until } from '../until.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages, WACHTWOORD } from './browser.ts'
import { pagesClient } from './browser-client.ts'
import { asClient } from './import-pages.ts'

t.test('the whole configuration is listed with where it comes from, and without secrets', async (t) => {
  const { listed } = readConfig({
    DATABASE_URL: 'postgres://zaak:wachtwoord@db/zaak',
    SECRET_KEY: 'een heel geheime sleutel',
    PUBLIC_URL: 'https://zaken.example.nl',
    OIDC_ISSUER: 'https://naam:wachtwoord@inloggen.example.nl',
    OIDC_CLIENT_ID: 'beheer',
  })
  const one = (name: string) => listed.find(({ env }) => env === name)
  t.match(one('PUBLIC_URL'), { value: 'https://zaken.example.nl', from: 'environment' })
  t.match(one('PORT'), { value: '8000', from: 'default' })
  t.match(one('SECRET_KEY'), { value: undefined, from: 'environment', secret: true })
  t.notMatch(JSON.stringify(listed), /wachtwoord|geheime sleutel/)
})

t.test('the page of the configuration', await needsBrowser(), async (t) => {
  const test = await setUpPages(t, { API_CONTACT_NAME: 'Team Zaken' })
  const { tab, klachten } = await asBeheerder(test, 'administrator')
  await tab.goto('/beheer/configuratie')
  const text = (await tab.textContent('main'))!
  t.match(text, /API_CONTACT_NAME\s*Team Zaken\s*omgeving/)
  t.match(text, /SECRET_KEY\s*ingesteld, wordt niet getoond/)
  t.notMatch(text, 'key of the tests')
  t.same(await accessibilityFaults(tab), [])
  await tab.setViewportSize({ width: 320, height: 800 })
  t.equal(await isTooWide(tab), false)
  t.same(klachten, [])
})

t.test(
  'a setting that is changed in the pages counts at once, in every process, and is told in the audit log',
  await needsBrowser(),
  async (t) => {
    const test = await setUpPages(t)
    const other = await openLiveSettings(readConfig({}), test.database, test.parts.log) // as another process has it
    t.teardown(other.close)
    const zaaktype = await givenZaaktype(test, { concept: true })
    const zaak = {
      bronorganisatie: '000000000',
      verantwoordelijkeOrganisatie: '000000000',
      startdatum: '2024-05-01',
      zaaktype,
    }
    const crs = { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' }
    t.equal((await test.call('POST', '/zaken/api/v1/zaken', zaak, { headers: crs })).status, 400)

    const { tab, klachten } = await asBeheerder(test, 'administrator')
    await tab.goto('/beheer/configuratie')
    await tab.selectOption('[name=ALLOW_UNPUBLISHED_TYPES]', 'true')
    await tab.selectOption('[name=ZAAK_IDENTIFICATIE_GENERATOR]', 'use-creation-year')
    await tab.fill('[name=JWT_EXPIRY]', '7200')
    await tab.fill('[name=CORS_ALLOWED_ORIGINS]', 'https://formulieren.example.nl')
    await tab.click('main form .knop')
    t.match(await tab.textContent('main'), /4 instellingen zijn gewijzigd/)
    t.equal(await tab.inputValue('[name=JWT_EXPIRY]'), '7200')
    t.same(await accessibilityFaults(tab), [])

    const made = await test.call('POST', '/zaken/api/v1/zaken', zaak, {
      headers: { ...crs, origin: 'https://formulieren.example.nl' },
    })
    t.equal(made.status, 201)
    t.match(made.body.identificatie, new RegExp(`^ZAAK-${new Date().getFullYear()}-`))
    t.equal(made.headers['access-control-allow-origin'], 'https://formulieren.example.nl')
    await until('the other process', () => other.config.jwtExpiry === 7200)
    t.match(other.config, { allowUnpublishedTypes: true, corsOrigins: ['https://formulieren.example.nl'] })

    await tab.goto('/beheer/audit?handeling=instelling-wijzigen')
    t.match(await tab.textContent('main'), /Geldigheid van een token, in seconden: van “3600” naar “7200”/)
    await tab.goto('/beheer/configuratie')
    await tab.fill('[name=JWT_EXPIRY]', '')
    await tab.click('main form .knop')
    t.equal(test.config.jwtExpiry, 3600, 'an empty field is the default')
    t.same(klachten, [])
  },
)

t.test('the environment wins: the page shows its value as fixed, and a form cannot change it', async (t) => {
  const test = await setUpPages(t, { JWT_EXPIRY: '1800' }, false)
  await test.database
    .sql`insert into setting (name, value) values ('JWT_EXPIRY', '60'), ('IMPORT_RETENTION_DAYS', 'zeven'), ('PORT', '1')`
  await test.parts.settings.refresh()
  t.match(
    test.config,
    { jwtExpiry: 1800, importRetentionDays: 7, port: 8000 },
    'what is stored wrong, or may not be stored, does not count',
  )
  const { body } = await (await test.signedIn('administrator'))('/beheer/configuratie')
  t.notMatch(body, 'name="JWT_EXPIRY"')
  t.match(body, /1800<\/p>\s*<p class="zacht">Ligt vast: <code>JWT_EXPIRY/)
  t.match(body, /id="veld-IMPORT_RETENTION_DAYS-fout">Wat hier is opgeslagen telt niet/, 'and is told')
})

t.test('whether codes are asked changes after a confirmation: a copied cookie does not do', async (t) => {
  const test = await setUpPages(t, {}, false)
  const { sql } = test.database
  const browser = pagesClient(test.app)
  await browser.login('administrator', WACHTWOORD)
  await sql`update beheer_session set confirmed_at = null`
  const change = () =>
    browser.post('/beheer/configuratie', { BEHEER_TOTP_REQUIRED: 'true', 'was.BEHEER_TOTP_REQUIRED': '' })
  t.match((await change()).headers.location, /\/beheer\/bevestigen\?verder=/)
  t.equal(test.config.beheerTotpRequired, false, 'nothing was changed')
  t.equal((await browser.get('/beheer/')).statusCode, 200)
  await browser.confirm(WACHTWOORD)
  t.match((await change()).headers.location, /\/beheer\/configuratie$/)
  await until('it counts', () => test.config.beheerTotpRequired)
})

t.test('a value that is too long is refused, and no part of it is kept', async (t) => {
  const test = await setUpPages(t, {}, false)
  const client = await asClient(test, 'administrator')
  const origins = (count: number) => Array.from({ length: count }, (_, index) => `https://formulier-${index}.nl`).join()
  for (const [count, status] of [
    [1000, 400],
    [200, 303],
  ] as const) {
    const answer = await client.post('/beheer/configuratie', {
      CORS_ALLOWED_ORIGINS: origins(count),
      'was.CORS_ALLOWED_ORIGINS': '',
    })
    t.equal(answer.status, status)
    if (status === 400) t.match(await answer.text(), /Dit zijn 2\d\.\d{3} tekens; er passen er ten hoogste 10\.000/)
  }
  t.equal(test.config.corsOrigins.length, 200)
})

t.test(
  'a wrong value is refused by the rule of the environment, in Dutch, and nothing is changed',
  await needsBrowser(),
  async (t) => {
    const test = await setUpPages(t)
    const { tab } = await asBeheerder(test, 'administrator')
    await tab.goto('/beheer/configuratie')
    await tab.fill('[name=JWT_EXPIRY]', 'lang')
    await tab.fill('[name=SELECTIELIJST_API_ROOT]', 'https://selectielijst.example.nl/api/v1')
    await tab.fill('[name=CORS_ALLOWED_ORIGINS]', 'formulieren.example.nl')
    await tab.fill('[name=IMPORT_RETENTION_DAYS]', '9')
    await tab.click('main form .knop')
    t.equal(await tab.inputValue('[name=JWT_EXPIRY]'), 'lang')
    t.match(await tab.textContent('#veld-JWT_EXPIRY-fout'), /geheel getal in van 1 tot en met 31.622.400/)
    t.match(await tab.textContent('#veld-SELECTIELIJST_API_ROOT-fout'), /eindigt op een schuine streep/)
    t.match(await tab.textContent('#veld-CORS_ALLOWED_ORIGINS-fout'), /https:\/\/example.nl/)
    t.equal(test.config.importRetentionDays, 7)
    t.same(await test.database.sql`select * from setting`, [])
  },
)

t.test('who saves on top of a change of somebody else is told of it', await needsBrowser(), async (t) => {
  const test = await setUpPages(t)
  const { tab } = await asBeheerder(test, 'administrator')
  await tab.goto('/beheer/configuratie')
  await test.database.sql`insert into setting (name, value) values ('JWT_LEEWAY', '5'), ('JWT_EXPIRY', '100')`
  await tab.fill('[name=JWT_LEEWAY]', '9')
  await tab.click('main form .knop')
  t.match(await tab.textContent('#veld-JWT_LEEWAY-fout'), /intussen gewijzigd: het is nu “5”/)
  await tab.goto('/beheer/configuratie')
  await tab.fill('[name=JWT_LEEWAY]', '9')
  await tab.click('main form .knop')
  const rows = await test.database.sql`select name, value from setting order by name`
  t.same(
    [...rows],
    [
      { name: 'JWT_EXPIRY', value: '100' },
      { name: 'JWT_LEEWAY', value: '9' },
    ],
  )
})
