import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { createAccount } from '../../src/beheer/accounts.ts'
import { SCOPES } from '../../src/beheer/applicatie-labels.ts'
import { givenCatalogus, givenClient, givenInformatieobjecttype, givenZaaktype, testApp } from '../app.ts'
import { goed, maakApplicatie, tabNaar, voerUit } from './applicatie-pages.ts'
import { alsBeheerder, needsBrowser, type Opstelling, opstelling, toegankelijkheid, WACHTWOORD } from './browser.ts'
import { klant } from './browser-client.ts'

t.test('applications', await needsBrowser(), async (t) => {
  const test: Opstelling = await opstelling(t)
  const catalogus = await givenCatalogus(test, { naam: 'Algemeen' })
  await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Brief' })
  await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Foto' })
  await givenZaaktype(test, { catalogus, identificatie: 'KLACHT', omschrijving: 'Klacht' })

  t.test('from the menu to a working curl line: four clicks and two fields', async (t) => {
    const { pagina, context, klachten } = await alsBeheerder(test, 'administrator')
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: test.adres })
    let clicks = 0
    const klik = async (selector: string) => {
      clicks++
      await pagina.click(selector)
    }
    const start = performance.now()
    await klik('nav >> text=Applicaties')
    await goed(t, pagina)
    await klik('text=Nieuwe applicatie')
    await goed(t, pagina)
    await pagina.fill('#veld-label', 'Portaal')
    await pagina.fill('#veld-clientIds', "portaal's")
    await pagina.check('#veld-heeftAlleAutorisaties')
    await klik('main button[type=submit]')
    await pagina.waitForURL('**/geheim')
    await klik('text=Regel kopiëren')
    await pagina.waitForSelector('text=Gekopieerd')
    const regel = await pagina.evaluate('navigator.clipboard.readText()')
    t.equal(await voerUit(String(regel)), 200, 'it works as it was pasted')
    t.equal(clicks, 4)
    t.ok(performance.now() - start < 120_000)
    await goed(t, pagina)

    const geheim = await pagina.textContent('#geheim-0')
    t.equal(geheim?.length, 43)
    await pagina.reload()
    t.notMatch(await pagina.content(), geheim!, 'it is shown once')
    t.match(await pagina.textContent('main'), 'maar één keer te zien')
    const [{ n }] = await test.database.sql<[{ n: number }]>`
      select count(*) as n from (select oud::text || nieuw::text as tekst from beheer_audit union all
        select oud::text || nieuw::text from audit union all select melding::text from beheer_sessie) x
      where tekst like ${`%${geheim}%`}`
    t.equal(n, 0, 'no record holds it')
    t.same(klachten, [])
  })

  t.test('the same by keyboard alone', async (t) => {
    const { pagina, context } = await alsBeheerder(test, 'administrator')
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: test.adres })
    await pagina.goto('/beheer/applicaties')
    await tabNaar(pagina, 'a[href$="/applicaties/nieuw"]')
    await pagina.keyboard.press('Enter')
    await pagina.waitForURL('**/nieuw')
    await tabNaar(pagina, '#veld-label')
    await pagina.keyboard.type('Toetsen')
    await tabNaar(pagina, '#veld-clientIds')
    await pagina.keyboard.type('toetsen')
    await tabNaar(pagina, '#veld-heeftAlleAutorisaties')
    await pagina.keyboard.press('Space')
    await tabNaar(pagina, 'main button[type=submit]')
    await pagina.keyboard.press('Enter')
    await pagina.waitForURL('**/geheim')
    await tabNaar(pagina, '[data-kopieer="#curl-0"]')
    await pagina.keyboard.press('Enter')
    await pagina.waitForSelector('text=Gekopieerd')
    t.equal(await voerUit(String(await pagina.evaluate('navigator.clipboard.readText()'))), 200)
  })

  t.test('without script: rights, what they come to, and rotation, at 320 pixels', async (t) => {
    const { pagina, klachten } = await alsBeheerder(test, 'administrator', { javaScriptEnabled: false, width: 320 })
    const uuid = await maakApplicatie(pagina, 'Zaaksysteem', 'zaaksysteem')
    t.match(await pagina.textContent('main'), 'nog geen rechten')
    t.equal(await voerUit((await pagina.textContent('#curl-0'))!), 403)
    const eerste = (await pagina.textContent('#geheim-0'))!
    const mag = async (geheim: string, pad: string) => {
      const token = signToken('zaaksysteem', geheim)
      const answer = await test.app.inject({
        url: pad,
        headers: { authorization: `Bearer ${token}`, host: 'localhost' },
      })
      return answer.statusCode
    }
    const documenten = '/documenten/api/v1/enkelvoudiginformatieobjecten'
    t.equal(await mag(eerste, documenten), 403)

    await pagina.click('text=Naar de applicatie')
    t.match(await pagina.textContent('main'), 'mag nog niets')
    await goed(t, pagina, false)
    await pagina.click('text=Recht toevoegen')
    await goed(t, pagina, false)
    await pagina.click('main >> text=Documenten API')
    await goed(t, pagina, false)
    await pagina.check('input[value="documenten.lezen"]')
    await pagina.click('main button[type=submit]')
    t.match(await pagina.textContent('main'), 'Kies bij deze scopes voor welke typen het recht geldt')
    t.match(await pagina.textContent('main'), 'Kies het hoogste niveau')
    t.ok(await pagina.isChecked('input[value="documenten.lezen"]'), 'what was entered is kept')
    await goed(t, pagina, false)
    await pagina.check('label:has-text("Brief") >> input')
    await pagina.check('label:has-text("Foto") >> input')
    await pagina.selectOption('#veld-max', 'intern')
    await pagina.click('main button[type=submit]')
    await pagina.waitForURL(`**/applicaties/${uuid}`)
    t.equal(await pagina.locator('main >> text=documenten.lezen').count(), 2, 'one right for each type')
    t.equal(await mag(eerste, documenten), 200)

    await pagina.click('a:has-text("Wijzigen van Documenten API, Brief")')
    t.ok(await pagina.isChecked('label:has-text("Brief") >> input'))
    await pagina.uncheck('label:has-text("Brief") >> input')
    await pagina.check('text=Alle informatieobjecttypen')
    await pagina.check('input[value="documenten.aanmaken"]')
    await pagina.click('main button[type=submit]')
    await pagina.waitForURL(`**/applicaties/${uuid}`)
    t.match(await pagina.textContent('main'), 'alle informatieobjecttypen in catalogus Algemeen')

    await pagina.click('text=Wat mag deze client?')
    const woorden = await pagina.textContent('main')
    t.match(woorden, 'documenten lezen, zoeken en downloaden')
    t.match(woorden, /tot en met vertrouwelijkheid\s+intern/)
    t.match(woorden, /mag de applicatie\s+niets: Zaken API, Besluiten API/)
    await goed(t, pagina, false)

    await pagina.click('text=Naar de applicatie')
    await pagina.click('a:has-text("Verwijderen van Documenten API, Foto")')
    await goed(t, pagina, false)
    await pagina.click('main button[type=submit]')
    t.match(await pagina.textContent('main'), 'Het recht is verwijderd')
    t.equal(await pagina.locator('main tr:has-text("Foto")').count(), 0)

    await pagina.click('text=Nieuw geheim')
    await goed(t, pagina, false)
    await pagina.click('main button[type=submit]')
    await pagina.waitForURL('**/geheim')
    const tweede = (await pagina.textContent('#geheim-0'))!
    t.equal(await mag(eerste, documenten), 200, 'the old one counts a while longer')
    t.equal(await mag(tweede, documenten), 200)
    await pagina.click('text=Naar de applicatie')
    await pagina.click('a:has-text("Intrekken") >> nth=0')
    await goed(t, pagina, false)
    await pagina.click('main button[type=submit]')
    t.match(await pagina.textContent('main'), 'Het geheim is ingetrokken')
    t.equal(await mag(eerste, documenten), 403)
    t.equal(await mag(tweede, documenten), 200)
    await pagina.click('text=Uitproberen met curl')
    t.equal(await pagina.locator('#geheim-0').count(), 0, 'trying it shows no secret')
    t.equal(await voerUit((await pagina.textContent('#curl-0'))!), 200)

    await pagina.goto(`/beheer/applicaties/${uuid}/verwijderen`)
    await goed(t, pagina, false)
    await pagina.click('main button[type=submit]')
    t.match(await pagina.textContent('main'), 'is verwijderd')
    t.equal(await mag(tweede, documenten), 403)
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
    const browser = klant(app)
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
  const browser = klant(app)
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
    const test = await opstelling(t)
    const catalogus = await givenCatalogus(test)
    await givenClient(test, 'zaaksysteem', [])
    const [row] = await test.database.sql`
    select a.uuid from applicatie a join applicatie_client c on c.applicatie_id = a.id where c.client_id = 'zaaksysteem'`
    const { pagina, klachten } = await alsBeheerder(test, 'administrator')
    await pagina.goto(`/beheer/applicaties/${row!.uuid}`)
    await pagina.click('text=Rechten van een toepassing')
    t.same(await toegankelijkheid(pagina), [])
    await pagina.click('main button[type=submit]')
    t.match(await pagina.textContent('main'), 'Kies een toepassing.')
    t.match(await pagina.textContent('main'), 'Kies het hoogste niveau.', 'all faults at once')
    await pagina.check('input[value=zaaksysteem]')
    for (const box of await pagina.$$('input[name=catalogi]')) await box.check()
    await pagina.selectOption('#veld-max', 'vertrouwelijk')
    await pagina.click('main button[type=submit]')
    await pagina.waitForSelector('.bericht-goed')
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
  const browser = klant(app)
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
