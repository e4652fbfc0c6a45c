import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { createAccount } from '../../src/beheer/accounts/accounts.ts'
import { SCOPES } from '../../src/beheer/applicaties/applicatie-labels.ts'
import { givenCatalogus, givenClient, givenInformatieobjecttype, givenZaaktype, testApp } from '../app.ts'
import { auditRecords } from '../audit-records.ts'
import { goed, makeApplicatie, runCommand, tabTo } from './applicatie-pages.ts'
import { accessibilityFaults, asBeheerder, needsBrowser, type PagesSetup, setUpPages, WACHTWOORD } from './browser.ts'
import { pagesClient } from './browser-client.ts'

t.test('applications', await needsBrowser(), async (t) => {
  const test: PagesSetup = await setUpPages(t)
  const catalogus = await givenCatalogus(test, { naam: 'Algemeen' })
  await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Brief' })
  await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Foto' })
  await givenZaaktype(test, { catalogus, identificatie: 'KLACHT', omschrijving: 'Klacht' })

  t.test('from the menu to a working curl line: four clicks and two fields', async (t) => {
    const { tab, context, klachten } = await asBeheerder(test, 'administrator')
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: test.adres })
    let clicks = 0
    const clickAndWait = async (selector: string) => {
      clicks++
      await tab.click(selector)
    }
    const start = performance.now()
    await clickAndWait('nav >> text=Applicaties')
    await goed(t, tab)
    await clickAndWait('text=Nieuwe applicatie')
    await goed(t, tab)
    await tab.fill('#veld-label', 'Portaal')
    await tab.fill('#veld-clientIds', "portaal's")
    await tab.check('#veld-heeftAlleAutorisaties')
    await clickAndWait('main button[type=submit]')
    await tab.waitForURL('**/geheim')
    await clickAndWait('text=Regel kopiëren')
    await tab.waitForSelector('text=Gekopieerd')
    const line = await tab.evaluate('navigator.clipboard.readText()')
    t.equal(await runCommand(String(line)), 200, 'it works as it was pasted')
    t.equal(clicks, 4)
    t.ok(performance.now() - start < 120_000)
    await goed(t, tab)

    const secret = await tab.textContent('#geheim-0')
    t.equal(secret?.length, 43)
    await tab.reload()
    t.notMatch(await tab.content(), secret!, 'it is shown once')
    t.match(await tab.textContent('main'), 'maar één keer te zien')
    const [{ n }] = await test.database.sql<[{ n: number }]>`
      select count(*) as n from (select oud::text || nieuw::text as tekst from beheer_audit union all
        select notices::text from beheer_session) x
      where tekst like ${`%${secret}%`}`
    t.equal(n, 0, 'no record holds it')
    t.notOk(JSON.stringify(await auditRecords(test.database)).includes(secret!))
    t.same(klachten, [])
  })

  t.test('a token of the page works on the page to try the APIs, and is kept nowhere', async (t) => {
    const { tab } = await asBeheerder(test, 'administrator')
    await makeApplicatie(tab, 'Proef', 'proef', true)
    const token = (await tab.textContent('#token-0'))!
    const { iat, exp, ...claims } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
    t.strictSame([claims.client_id, claims.user_id, exp], ['proef', 'administrator', undefined])
    await tab.click("text=pagina om de API's uit te proberen")
    await tab.selectOption('.download-url-wrapper select', { label: 'Autorisaties API' })
    await tab.waitForSelector('#operations-tag-applicaties')
    await tab.click('button.authorize')
    await tab.fill('.auth-container input', token)
    await tab.click('.auth-btn-wrapper button[type=submit]')
    await tab.click('.auth-btn-wrapper .btn-done')
    const operation = '#operations-applicaties-applicatie_list'
    await tab.click('#operations-tag-applicaties')
    await tab.click(`${operation} .opblock-summary-control`)
    await tab.click(`${operation} .try-out__btn`)
    const [answer] = await Promise.all([
      tab.waitForResponse(/\/autorisaties\/api\/v1\/applicaties/),
      tab.click(`${operation} .execute`),
    ])
    t.equal(answer.status(), 200)
    const kept = await tab.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])')
    t.notMatch(kept, token)
    await tab.reload()
    await tab.waitForSelector('button.authorize.unlocked')
    const [{ n }] = await test.database.sql<[{ n: number }]>`
      select count(*) as n from (select oud::text || nieuw::text as tekst from beheer_audit union all
        select notices::text from beheer_session) x where tekst like ${`%${token}%`}`
    t.equal(n, 0)
  })

  t.test('the same by keyboard alone', async (t) => {
    const { tab, context } = await asBeheerder(test, 'administrator')
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: test.adres })
    await tab.goto('/beheer/applicaties')
    await tabTo(tab, 'a[href$="/applicaties/nieuw"]')
    await tab.keyboard.press('Enter')
    await tab.waitForURL('**/nieuw')
    await tabTo(tab, '#veld-label')
    await tab.keyboard.type('Toetsen')
    await tabTo(tab, '#veld-clientIds')
    await tab.keyboard.type('toetsen')
    await tabTo(tab, '#veld-heeftAlleAutorisaties')
    await tab.keyboard.press('Space')
    await tabTo(tab, 'main button[type=submit]')
    await tab.keyboard.press('Enter')
    await tab.waitForURL('**/geheim')
    await tabTo(tab, '[data-kopieer="#curl-0"]')
    await tab.keyboard.press('Enter')
    await tab.waitForSelector('text=Gekopieerd')
    t.equal(await runCommand(String(await tab.evaluate('navigator.clipboard.readText()'))), 200)
  })

  t.test('without script: rights, what they come to, and rotation, at 320 pixels', async (t) => {
    const { tab, klachten } = await asBeheerder(test, 'administrator', { javaScriptEnabled: false, width: 320 })
    const uuid = await makeApplicatie(tab, 'Zaaksysteem', 'zaaksysteem')
    t.match(await tab.textContent('main'), 'nog geen rechten')
    t.equal(await runCommand((await tab.textContent('#curl-0'))!), 403)
    const first = (await tab.textContent('#geheim-0'))!
    const isAllowed = async (secret: string, pad: string) => {
      const token = signToken('zaaksysteem', secret)
      const answer = await test.app.inject({
        url: pad,
        headers: { authorization: `Bearer ${token}`, host: 'localhost' },
      })
      return answer.statusCode
    }
    const documenten = '/documenten/api/v1/enkelvoudiginformatieobjecten'
    t.equal(await isAllowed(first, documenten), 403)

    await tab.click('text=Naar de applicatie')
    t.match(await tab.textContent('main'), 'mag nog niets')
    await goed(t, tab, false)
    await tab.click('text=Recht toevoegen')
    await goed(t, tab, false)
    await tab.click('main >> text=Documenten API')
    await goed(t, tab, false)
    await tab.check('input[value="documenten.lezen"]')
    await tab.click('main button[type=submit]')
    t.match(await tab.textContent('main'), 'Kies bij deze scopes voor welke typen het recht geldt')
    t.match(await tab.textContent('main'), 'Kies het hoogste niveau')
    t.ok(await tab.isChecked('input[value="documenten.lezen"]'), 'what was entered is kept')
    await goed(t, tab, false)
    await tab.check('label:has-text("Brief") >> input')
    await tab.check('label:has-text("Foto") >> input')
    await tab.selectOption('#veld-max', 'intern')
    await tab.click('main button[type=submit]')
    await tab.waitForURL(`**/applicaties/${uuid}`)
    t.equal(await tab.locator('main >> text=documenten.lezen').count(), 2, 'one right for each type')
    t.equal(await isAllowed(first, documenten), 200)

    await tab.click('a:has-text("Wijzigen van Documenten API, Brief")')
    t.ok(await tab.isChecked('label:has-text("Brief") >> input'))
    await tab.uncheck('label:has-text("Brief") >> input')
    await tab.check('text=Alle informatieobjecttypen')
    await tab.check('input[value="documenten.aanmaken"]')
    await tab.click('main button[type=submit]')
    await tab.waitForURL(`**/applicaties/${uuid}`)
    t.match(await tab.textContent('main'), 'alle informatieobjecttypen in catalogus Algemeen')

    await tab.click('text=Wat mag deze client?')
    const woorden = await tab.textContent('main')
    t.match(woorden, 'documenten lezen, zoeken en downloaden')
    t.match(woorden, /tot en met vertrouwelijkheid\s+intern/)
    t.match(woorden, /mag de applicatie\s+niets: Zaken API, Besluiten API/)
    await goed(t, tab, false)

    await tab.click('text=Naar de applicatie')
    await tab.click('a:has-text("Verwijderen van Documenten API, Foto")')
    await goed(t, tab, false)
    await tab.click('main button[type=submit]')
    t.match(await tab.textContent('main'), 'Het recht is verwijderd')
    t.equal(await tab.locator('main tr:has-text("Foto")').count(), 0)

    await tab.click('text=Nieuw geheim')
    await goed(t, tab, false)
    await tab.click('main button[type=submit]')
    await tab.waitForURL('**/geheim')
    const second = (await tab.textContent('#geheim-0'))!
    t.equal(await isAllowed(first, documenten), 200, 'the old one counts a while longer')
    t.equal(await isAllowed(second, documenten), 200)
    await tab.click('text=Naar de applicatie')
    await tab.click('a:has-text("Intrekken") >> nth=0')
    await goed(t, tab, false)
    await tab.click('main button[type=submit]')
    t.match(await tab.textContent('main'), 'Het geheim is ingetrokken')
    t.equal(await isAllowed(first, documenten), 403)
    t.equal(await isAllowed(second, documenten), 200)
    await tab.click('button:has-text("Uitproberen")')
    t.equal(await tab.locator('#geheim-0').count(), 0, 'trying it shows no secret')
    t.equal(await runCommand((await tab.textContent('#curl-0'))!), 200)

    await tab.goto(`/beheer/applicaties/${uuid}/verwijderen`)
    await goed(t, tab, false)
    await tab.click('main button[type=submit]')
    t.match(await tab.textContent('main'), 'is verwijderd')
    t.equal(await isAllowed(second, documenten), 403)
    t.same(klachten, [])
    const handelingen = await test.database.sql<{ handeling: string }[]>`
      select handeling from beheer_audit where object_id = ${uuid} order by id`
    t.same(
      handelingen.map(({ handeling }) => handeling),
      [
        'applicatie-maken',
        'recht-toevoegen',
        'recht-wijzigen',
        'recht-verwijderen',
        'geheim-vervangen',
        'geheim-intrekken',
        'token-maken',
        'applicatie-verwijderen',
      ],
    )
  })
})

t.test('only an administrator changes something, whatever the page offers', async (t) => {
  const { app, database } = await testApp(t)
  for (const rol of ['viewer', 'operator', 'administrator'] as const)
    await createAccount(database.db, { gebruikersnaam: rol, rol, wachtwoord: WACHTWOORD })
  const [row] = await database.sql`select uuid from applicatie`
  const { uuid } = row as unknown as { uuid: string }
  const posts = [
    '',
    '/wijzigen',
    '/verwijderen',
    '/geheim/nieuw',
    '/geheim/proef',
    '/geheim/intrekken',
    '/rechten/nieuw',
  ]
  const form = {
    label: 'Anders',
    clientIds: 'beheer',
    client: 'beheer',
    id: '1',
    wijze: 'erbij',
    component: 'ztc',
    scopes: 'catalogi.lezen',
  }
  for (const rol of ['viewer', 'operator']) {
    const browser = pagesClient(app)
    await browser.login(rol, WACHTWOORD)
    const { body } = await browser.get(`/beheer/applicaties/${uuid}`)
    t.notMatch(body.slice(body.indexOf('<main')), /<form|wijzigen|Recht toevoegen/)
    for (const pad of posts) {
      const url = pad === '' ? '/beheer/applicaties' : `/beheer/applicaties/${uuid}${pad}`
      t.equal((await browser.post(url, form, '/beheer/')).statusCode, 403, `${rol} ${pad}`)
    }
    for (const pad of ['nieuw', `${uuid}/wijzigen`, `${uuid}/geheim`, `${uuid}/rechten/nieuw`])
      t.equal((await browser.get(`/beheer/applicaties/${pad}`)).statusCode, 403, pad)
    t.equal((await browser.get(`/beheer/applicaties/${uuid}/wat-mag`)).statusCode, 200)
  }
  const browser = pagesClient(app)
  await browser.login('administrator', WACHTWOORD)
  for (const pad of [
    `${uuid}/rechten/type/0`,
    `${uuid}/rechten/x/1`,
    `${uuid}/rechten/type/x`,
    'niets',
    `${uuid}/geheim/nieuw?client=x`,
  ])
    t.equal((await browser.get(`/beheer/applicaties/${pad}`)).statusCode, 404, pad)
})

t.test('every scope that a route asks for has words', async (t) => {
  const { app } = await testApp(t)
  const known = new Set(Object.values(SCOPES).flatMap((scopes) => scopes.map(([scope]) => scope)))
  const used = new Set<string>()
  for (const component of ['zaken', 'documenten', 'besluiten', 'catalogi', 'autorisaties']) {
    const { body } = await app.inject(`/${component}/api/v1/openapi.json`)
    for (const [needs] of body.matchAll(/Nodig: [^"]*/g))
      for (const [scope] of needs.matchAll(/[a-z]+\.[a-z][a-z.-]*[a-z]/g)) used.add(scope)
  }
  t.ok(used.size > 10)
  t.same(
    [...used].filter((scope) => !known.has(scope)),
    [],
  )
})

t.test(
  'a preset gives the rights of a usual kind of application over several APIs at once',
  await needsBrowser(),
  async (t) => {
    const test = await setUpPages(t)
    const catalogus = await givenCatalogus(test)
    await givenClient(test, 'zaaksysteem', [])
    const [row] = await test.database.sql`
    select a.uuid from applicatie a join applicatie_client c on c.applicatie_id = a.id where c.client_id = 'zaaksysteem'`
    const { tab, klachten } = await asBeheerder(test, 'administrator')
    await tab.goto(`/beheer/applicaties/${row!.uuid}`)
    await tab.click('text=Rechten van een toepassing')
    t.same(await accessibilityFaults(tab), [])
    await tab.click('main button[type=submit]')
    t.match(await tab.textContent('main'), 'Kies een toepassing.')
    t.match(await tab.textContent('main'), 'Kies het hoogste niveau.', 'all faults at once')
    await tab.check('input[value=zaaksysteem]')
    for (const box of await tab.$$('input[name=catalogi]')) await box.check()
    await tab.selectOption('#veld-max', 'vertrouwelijk')
    await tab.click('main button[type=submit]')
    await tab.waitForSelector('.bericht-goed')
    const { body } = await test.call('GET', `/autorisaties/api/v1/applicaties/${row!.uuid}`)
    const given = [...body.autorisaties, ...(body.catalogusAutorisaties ?? [])] as {
      component: string
      catalogus?: string
    }[]
    t.same([...new Set(given.map(({ component }) => component))].sort(), ['brc', 'drc', 'nrc', 'zrc', 'ztc'])
    t.ok(given.filter(({ component }) => component === 'zrc').every((one) => one.catalogus === catalogus))
    t.equal(
      (
        await test.call('GET', '/zaken/api/v1/zaken', undefined, {
          as: 'zaaksysteem',
          headers: { 'accept-crs': 'EPSG:4326' },
        })
      ).status,
      200,
    )
    t.same(klachten, [])
  },
)

t.test('a client that was made over the API gets its secret in the pages', async (t) => {
  const test = await testApp(t)
  const { app, database } = test
  await createAccount(database.db, { gebruikersnaam: 'baas', rol: 'administrator', wachtwoord: WACHTWOORD })
  const made = await test.call('POST', '/autorisaties/api/v1/applicaties', {
    clientIds: ['portaal'],
    label: 'Portaal',
    heeftAlleAutorisaties: true,
  })
  t.equal(made.status, 201)
  const pad = `/beheer/applicaties/${made.body.url.split('/').at(-1)}`
  const browser = pagesClient(app)
  await browser.login('baas', WACHTWOORD)
  t.match((await browser.get('/beheer/applicaties?zoek=portaal')).body, /geen geldig geheim/)
  t.match((await browser.get(pad)).body, />Geheim maken</)
  const form = `${pad}/geheim/nieuw?client=portaal`
  const page = (await browser.get(form)).body
  t.match(page, /nog geen geldig geheim/)
  t.notMatch(page, /Uren dat het oude geheim/, 'nothing is asked of a secret that is not there')
  const answer = await browser.post(`${pad}/geheim/nieuw`, { client: 'portaal', wijze: 'erbij' }, form)
  const shown = (await browser.get(String(answer.headers.location))).body
  const secret = /<pre id="geheim-0">([^<]+)</.exec(shown)![1]!
  const lists = await app.inject({
    url: '/catalogi/api/v1/catalogussen',
    headers: { authorization: `Bearer ${signToken('portaal', secret)}` },
  })
  t.equal(lists.statusCode, 200)
})
