// The pages of services elsewhere: making, changing and removing one, and what the test of one says.
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { secretBox } from '../../src/core/secret-box.ts'
import { serviceOwner } from '../../src/services/services.ts'
import { freePort } from '../free-port.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages } from './browser.ts'

type Answer = { status: number; body: string; headers?: Record<string, string> }

async function givenServer(t: { teardown(work: () => unknown): unknown }) {
  const asked: { url: string; headers: Record<string, unknown> }[] = []
  const answer: { now: Answer | undefined } = { now: { status: 200, body: '{"count":0,"results":[]}' } }
  const server = createServer((request, response) => {
    asked.push({ url: request.url!, headers: request.headers })
    if (answer.now) response.writeHead(answer.now.status, answer.now.headers).end(answer.now.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { root: `http://127.0.0.1:${(server.address() as AddressInfo).port}/zaken/api/v1/`, asked, answer }
}

const SECRET = 'geheim van de andere dienst, 32 tekens'

t.test('services elsewhere', await needsBrowser(), async (t) => {
  const test = await setUpPages(t)
  const { sql } = test.database
  const { tab, klachten } = await asBeheerder(test, 'administrator')
  const { root, asked, answer } = await givenServer(t)
  const content = async () => (await tab.textContent('main'))!
  const check = async (t: { same: Tap['same']; equal: Tap['equal'] }) => {
    t.same(await accessibilityFaults(tab), [])
    for (const width of [1280, 390]) {
      await tab.setViewportSize({ width, height: 900 })
      t.equal(await isTooWide(tab), false, `${width} wide`)
    }
    await tab.setViewportSize({ width: 1280, height: 900 })
  }
  let path = ''

  await t.test('there are none, and one is made', async (t) => {
    await tab.goto('/beheer/diensten')
    t.match(await content(), 'Er zijn geen andere diensten')
    await tab.click('text=Nieuwe dienst')
    await tab.click('main button[type=submit]')
    t.match(await content(), 'Er is niets opgeslagen')
    await check(t)
    await tab.fill('#veld-label', 'Zaken van de buren')
    await tab.fill('#veld-slug', 'buren')
    await tab.fill('#veld-apiRoot', root)
    await tab.fill('#veld-clientId', 'zaakstroom')
    await tab.fill('#veld-secret', SECRET)
    await tab.click('main button[type=submit]')
    await tab.waitForURL(/diensten\/[0-9a-f-]{36}$/)
    path = new URL(tab.url()).pathname
    t.match(await content(), 'Deze dienst is nog niet getest.')
    t.notMatch(await tab.content(), SECRET)
    const [row] = await sql`select uuid, sealed_secret, api_root as root from service where slug = 'buren'`
    t.equal(row!.root, root)
    t.equal(secretBox(test.config.secretKey!).openFor(row!.sealed_secret, serviceOwner(row!.uuid), [root, '']), SECRET)
    await tab.goto('/beheer/diensten')
    t.match(await content(), 'Zaken van de buren')
    await check(t)
  })

  await t.test('what is filled in is tried before it is saved, and its secret is kept until then', async (t) => {
    const before = await sql`select label, api_root, sealed_secret from service`
    await tab.goto(`${path}/wijzigen`)
    await tab.fill('#veld-apiRoot', root.replace('/zaken/', '/anders/'))
    await tab.fill('#veld-secret', 'een ander geheim, van 32 tekens lang')
    await tab.click('text=Eerst proberen')
    t.match(await content(), 'Dit is een Zaken API, en zij kent ons.')
    t.match(await content(), 'Er is nog niets opgeslagen.')
    t.match(asked.at(-1), { url: '/anders/api/v1/zaken?pageSize=1' })
    t.notMatch(await tab.content(), 'een ander geheim')
    t.same(await sql`select label, api_root, sealed_secret from service`, before)
    await check(t)
    await tab.fill('#veld-apiRoot', `http://127.0.0.1:${await freePort()}/`)
    await tab.click('text=Eerst proberen')
    t.match(await content(), 'De verbinding werd geweigerd.')
    await tab.fill('#veld-apiRoot', root)
    await tab.click('main button[type=submit]')
    await tab.waitForURL(new RegExp(`${path}$`))
    const [row] = await sql`select uuid, sealed_secret from service where slug = 'buren'`
    const box = secretBox(test.config.secretKey!)
    t.equal(
      box.openFor(row!.sealed_secret, serviceOwner(row!.uuid), [root, '']),
      'een ander geheim, van 32 tekens lang',
    )
  })

  await t.test('a certificate is shown by whom it is and until when', async (t) => {
    const files = t.testdir({})
    const made =
      'req -x509 -newkey rsa:2048 -nodes -days 9 -keyout key.pem -out cert.pem -subj /CN=zaakstroom.example.nl'
    execFileSync('openssl', made.split(' '), { cwd: files, stdio: 'ignore' })
    await tab.goto(`${path}/wijzigen`)
    await tab.click('summary')
    await tab.fill('#veld-clientCertificate', await readFile(`${files}/cert.pem`, 'utf8'))
    await tab.fill('#veld-clientKey', await readFile(`${files}/key.pem`, 'utf8'))
    await tab.fill('#veld-ca', await readFile(`${files}/cert.pem`, 'utf8'))
    await tab.click('text=Eerst proberen')
    t.match(await content(), 'Dit is een Zaken API, en zij kent ons.')
    t.notMatch(await tab.content(), 'PRIVATE KEY')
    await tab.click('main button[type=submit]')
    await tab.waitForURL(new RegExp(`${path}$`))
    t.match(await content(), /CN=zaakstroom.example.nl\s*geldig tot/)
    await check(t)
    await sql`update service set certificaat = '', certificate_key = null, ca = '' where slug = 'buren'`
  })

  await t.test('the test says in Dutch what is wrong', async (t) => {
    const says = async (now: Answer | undefined, text: string | RegExp) => {
      answer.now = now
      await tab.goto(path)
      await tab.click('text=Testen')
      await tab.waitForLoadState('load')
      t.match(await content(), text)
    }
    const json = (status: number, body: unknown = {}) => ({ status, body: JSON.stringify(body) })
    await says(json(200, { count: 0, results: [] }), 'Dit is een Zaken API, en zij kent ons.')
    t.match(asked.at(-1), { url: '/zaken/api/v1/zaken?pageSize=1', headers: { authorization: /^Bearer / } })
    await check(t)
    await says(json(401), 'herkent ons niet (401)')
    await says(json(403), 'weigert de toegang (403)')
    await says(json(404), 'Op dit adres is geen Zaken API (404)')
    await says({ status: 200, body: '<html>' }, 'Op dit adres is geen Zaken API (het antwoord is geen lijst)')
    await says({ status: 302, body: '', headers: { location: 'https://elders.example/' } }, 'stuurt door')
    await says(json(503), 'heeft zelf een storing (503)')
    await sql`update service set timeout_ms = 200 where slug = 'buren'`
    await says(undefined, 'Het antwoord kwam niet op tijd.')
    const set = (url: string, secret = test.parts.box.sealFor(SECRET, serviceOwner(uuid), [url, ''])) =>
      sql`update service set api_root = ${url}, timeout_ms = 5000, sealed_secret = ${secret} where slug = 'buren'`
    const [{ uuid, was }] = await sql<[{ uuid: string; was: Buffer }]>`
      select uuid, sealed_secret as was from service where slug = 'buren'`
    await set(root.replace('127.0.0.1', 'localhost'), was)
    await says(undefined, 'Het geheim is voor een andere server gegeven.')
    await set(`http://127.0.0.1:${await freePort()}/`)
    await says(undefined, 'De verbinding werd geweigerd.')
    await set('http://bestaat-niet.invalid/')
    await says(undefined, 'De hostnaam is niet te vinden.')
    await set('http://169.254.169.254/')
    await says(undefined, 'Dit adres mag niet worden aangeroepen.')
    await set(root.replace('http:', 'https:'))
    await says(json(200), /TLS|verbinding werd verbroken/)
    await set(root, was)
    const tests = await sql`select nieuw from beheer_audit where handeling = 'dienst-testen'`
    t.equal(tests.length, 13)
    t.notMatch(JSON.stringify(tests), SECRET)
    await test.parts.services.close()
    const logged = await sql`select count(*)::int as n from outgoing_request where service = ${root}`
    t.ok(logged[0]!.n >= 7, 'and the calls stand in the log of requests')
  })

  await t.test('changing keeps the secret, unless it would go elsewhere', async (t) => {
    const sealed = async () =>
      (await sql`select sealed_secret from service where slug = 'buren'`)[0]!.sealed_secret.toString('hex')
    const before = await sealed()
    await tab.goto(`${path}/wijzigen`)
    t.equal(await tab.inputValue('#veld-secret'), '')
    await tab.fill('#veld-label', 'Zaken elders')
    await tab.click('main button[type=submit]')
    await tab.waitForURL(new RegExp(`${path}$`))
    t.match(await tab.textContent('h1'), 'Zaken elders')
    t.equal(await sealed(), before)
    await tab.goto(`${path}/wijzigen`)
    await tab.selectOption('#veld-authenticatie', 'api_key')
    await tab.fill('#veld-header', 'X-Api-Key')
    await tab.click('main button[type=submit]')
    t.match(await content(), 'Vul het geheim opnieuw in')
    await tab.fill('#veld-secret', 'sleutel')
    await tab.click('main button[type=submit]')
    await tab.waitForURL(new RegExp(`${path}$`))
    await tab.goto(`${path}/wijzigen`)
    await tab.fill('#veld-apiRoot', 'https://elders.example/zaken/api/v1/')
    await tab.click('main button[type=submit]')
    t.match(await content(), 'Vul het geheim opnieuw in')
    await check(t)
    const rows = await sql`select oud, nieuw from beheer_audit where handeling = 'dienst-wijzigen' order by id`
    t.match(rows.at(-1), { oud: { authenticatie: 'zgw' }, nieuw: { authenticatie: 'api_key', secret: 'gewijzigd' } })
    t.notMatch(JSON.stringify(rows), 'sleutel"')
  })

  await t.test('faults of certificates stand beside their field', async (t) => {
    await tab.goto(`${path}/wijzigen`)
    await tab.click('summary')
    await tab.fill('#veld-ca', 'geen certificaat')
    await tab.click('main button[type=submit]')
    t.match(await content(), 'Dit zijn geen certificaten (PEM).')
  })

  await t.test('the one that notifications go to stays; another goes', async (t) => {
    await sql`update notificatie_settings set configured_service_id = (select id from service where slug = 'buren')`
    await tab.goto(`${path}/verwijderen`)
    t.match(await content(), 'Kies eerst een andere')
    await sql`update notificatie_settings set configured_service_id = null`
    await tab.goto(`${path}/verwijderen`)
    await check(t)
    await tab.click('main button[type=submit]')
    await tab.waitForURL(/\/diensten$/)
    t.same(await sql`select from service`, [])
  })

  await t.test('who may look may not change, and an operator may test', async (t) => {
    const [row] = await sql`insert into service (label, slug, kind, api_root)
      values ('Objecten', 'objecten', 'orc', ${root}) returning uuid`
    answer.now = { status: 404, body: '' }
    const viewer = (await asBeheerder(test, 'viewer')).tab
    await viewer.goto(`/beheer/diensten/${row!.uuid}`)
    t.equal(await viewer.locator('main button').count(), 0)
    t.equal((await viewer.goto(`/beheer/diensten/${row!.uuid}/wijzigen`))!.status(), 403)
    const operator = (await asBeheerder(test, 'operator')).tab
    await operator.goto(`/beheer/diensten/${row!.uuid}`)
    await operator.click('text=Testen')
    await operator.waitForLoadState('load')
    t.match(await operator.textContent('main'), 'Dat kan zo horen.')
  })

  t.same(klachten, [])
})

type Tap = typeof t
