// The pages of token issuers: making, changing and removing one, the clients of an applicatie, and who still makes tokens.
import { exportJWK, generateKeyPair } from 'jose'
import t from 'tap'
import { givenClient } from '../app.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages } from './browser.ts'

t.test('token issuers', await needsBrowser(), async (t) => {
  const test = await setUpPages(t)
  const { sql } = test.database
  const { tab, klachten } = await asBeheerder(test, 'administrator')
  const { publicKey } = await generateKeyPair('RS256')
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'sleutel-1' }] })
  const content = async () => (await tab.textContent('main'))!
  const check = async (t: { same: Tap['same']; equal: Tap['equal'] }) => {
    t.same(await accessibilityFaults(tab), [])
    for (const width of [1280, 390]) {
      await tab.setViewportSize({ width, height: 900 })
      t.equal(await isTooWide(tab), false, `${width} wide`)
    }
    await tab.setViewportSize({ width: 1280, height: 900 })
  }
  await givenClient(test, 'portaal-eigen', [{ component: 'ztc', scopes: ['catalogi.lezen'] }])
  let path = ''

  await t.test('one is made, with what is usual filled in', async (t) => {
    await tab.goto('/beheer/token-uitgevers')
    t.match(await content(), 'Er zijn nog geen token-uitgevers.')
    await tab.click('text=Nieuwe token-uitgever')
    t.equal(await tab.inputValue('#veld-clientClaims'), 'azp\nclient_id\nappid')
    await tab.fill('#veld-issuer', 'login.example.nl')
    await tab.click('main button[type=submit]')
    t.match(await content(), 'Vul een adres in dat met https:// of http:// begint.')
    await check(t)
    await tab.fill('#veld-label', 'Keycloak van de gemeente')
    await tab.fill('#veld-issuer', 'https://login.example.nl/realms/gemeente')
    await tab.fill('#veld-audiences', 'zaakstroom\nhttps://zaken.example.nl')
    await tab.fill('#veld-jwks', jwks)
    await tab.fill('#veld-requiredScopes', 'zgw.access')
    await tab.click('main button[type=submit]')
    await tab.waitForURL(/token-uitgevers\/[0-9a-f-]{36}$/)
    path = new URL(tab.url()).pathname
    t.match(await content(), /sleutel-1/)
    t.match(await content(), 'zaakstroom, https://zaken.example.nl')
    await check(t)
    const [row] = await sql`select audiences, required_scopes, algorithms from token_issuer`
    t.strictSame(
      { ...row },
      {
        audiences: ['zaakstroom', 'https://zaken.example.nl'],
        required_scopes: ['zgw.access'],
        algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
      },
    )
  })

  await t.test('the same issuer is not made twice', async (t) => {
    await tab.goto('/beheer/token-uitgevers/nieuw')
    await tab.fill('#veld-label', 'Nog een')
    await tab.fill('#veld-issuer', 'https://login.example.nl/realms/gemeente')
    await tab.fill('#veld-audiences', 'x')
    await tab.click('main button[type=submit]')
    t.match(await content(), 'Er is al een token-uitgever met deze issuer.')
  })

  await t.test('one is changed, and the audit log tells what', async (t) => {
    await tab.goto(`${path}/wijzigen`)
    await tab.fill('#veld-leewaySeconds', '10')
    await tab.uncheck('input[value=EdDSA]')
    await tab.click('main button[type=submit]')
    await tab.waitForURL(/token-uitgevers\/[0-9a-f-]{36}$/)
    const [row] = await sql`select algorithms, leeway_seconds from token_issuer`
    t.strictSame({ ...row }, { algorithms: ['RS256', 'PS256', 'ES256'], leeway_seconds: 10 })
    const [record] = await sql`select oud, nieuw from beheer_audit where handeling = 'token-uitgever-wijzigen'`
    t.match(record, { oud: { leewaySeconds: 30 }, nieuw: { leewaySeconds: 10, sleutels: 'ingevoerd' } })
  })

  await t.test('a client of it is added to an applicatie, and taken away', async (t) => {
    const [row] = await sql`select uuid from applicatie where label = 'portaal-eigen'`
    const applicatie = `/beheer/applicaties/${row!.uuid}`
    await tab.goto(`${applicatie}/uitgever-client`)
    await check(t)
    await tab.fill('#veld-clientId', 'portaal')
    await tab.click('main button[type=submit]')
    await tab.waitForURL(new RegExp(`${applicatie}$`))
    t.match(await content(), 'Tokens van client portaal worden nu aangenomen.')
    await sql`update applicatie_issuer_client set last_used_at = now() - interval '2 hours'`
    await sql`update applicatie_secret set last_signed_at = now() - interval '3 days' where client_id = 'portaal-eigen'`
    await tab.goto(applicatie)
    t.match(await content(), /2 uur geleden/)
    await check(t)
    await tab.goto('/beheer/token-uitgevers')
    t.match(await content(), /portaal-eigen\s+portaal-eigen\s+3 dagen geleden\s+2 uur geleden/)
    await check(t)
    await tab.goto(applicatie)
    await tab.click('form[action$="uitgever-client/verwijderen"] button')
    t.match(await content(), 'Tokens van client portaal worden niet meer aangenomen.')
    t.equal((await sql`select from applicatie_issuer_client`).length, 0)
    const [record] = await sql`select count(*)::int as n from audit where resource = 'applicatieclient'`
    t.equal(record!.n, 2)
  })

  await t.test('one is deleted', async (t) => {
    await tab.goto(`${path}/verwijderen`)
    await check(t)
    await tab.click('main button[type=submit]')
    await tab.waitForURL(/\/token-uitgevers$/)
    t.match(await content(), 'Er zijn nog geen token-uitgevers.')
  })

  await t.test('a viewer sees them, and changes nothing', async (t) => {
    const { tab: viewer } = await asBeheerder(test, 'viewer')
    t.equal((await viewer.goto('/beheer/token-uitgevers'))!.status(), 200)
    t.equal((await viewer.goto('/beheer/token-uitgevers/nieuw'))!.status(), 403)
  })
  t.same(klachten, [])
})

type Tap = typeof t
