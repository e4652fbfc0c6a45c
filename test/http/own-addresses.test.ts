// What another of our own addresses names is ours; answers have PUBLIC_URL.
import t from 'tap'
import { switchOver, type Takeover } from '../../src/overnemen/takeover.ts'
import { givenCatalogus, givenInformatieobjecttype, givenZaaktype, testApp, zaaktypeBody } from '../app.ts'
import { csvText, givenFile, goodRow, runImport } from '../documenten/importing.ts'
import { until } from '../until.ts'
import { CRS, faultsOf, ZAKEN, zaakBody } from '../zaken/given.ts'

t.test('a type by any of our own addresses is the same type, in bodies and filters', async (t) => {
  const PUBLIC = 'https://zaken.example.nl/zgw'
  const test = await testApp(t, { PUBLIC_URL: PUBLIC, OWN_URLS: 'http://intern:8080/oud/, https://tweede.example.nl' })
  const given = new URL(await givenZaaktype(test, { concept: true })).pathname.replace(/^\/zgw/, '')
  t.equal((await test.call('POST', `${given}/publish`)).status, 200)
  for (const own of [
    PUBLIC,
    'http://zaken.example.nl/zgw',
    'http://INTERN:8080/oud',
    'https://tweede.example.nl:443',
    'http://localhost',
  ]) {
    const { body, ...answer } = await test.call('POST', `${ZAKEN}/zaken`, zaakBody(`${own}${given}`), CRS)
    t.equal(answer.status, 201, `${own} ${answer.text}`)
    t.equal(body.zaaktype, `${PUBLIC}${given}`)
    const found = await test.call(
      'GET',
      `${ZAKEN}/zaken?zaaktype=${encodeURIComponent(`${own}${given}`)}`,
      undefined,
      CRS,
    )
    t.ok(found.body.count > 0, own)
  }
  const other = await test.call('POST', `${ZAKEN}/zaken`, zaakBody(`https://ander.example.nl${given}`), CRS)
  t.same(faultsOf(other), ['zaaktype: bad-url'])
})

t.test('a row of an import names its type by any of our addresses', async (t) => {
  const PUBLIC = 'https://zaken.example.nl/zgw'
  const test = await testApp(t, { PUBLIC_URL: PUBLIC, OWN_URLS: 'http://intern:8080/oud, https://tweede.example.nl' })
  const type = await givenInformatieobjecttype(test)
  await test.database.sql`update informatieobjecttype set concept = false`
  const path = new URL(type).pathname.replace(/^\/zgw/, '')
  await givenFile(test, 'brief.txt')
  const types = [
    type,
    `http://INTERN:8080/oud${path}`,
    `https://tweede.example.nl:443${path}`,
    `https://ander.example.nl${path}`,
  ]
  const { rows } = await runImport(test, csvText(types.map((url) => goodRow(url, 'brief.txt'))))
  t.match(rows, [
    { resultaat: 'Geïmporteerd', informatieobjecttype: types[0] },
    { resultaat: 'Geïmporteerd', informatieobjecttype: types[1] },
    { resultaat: 'Geïmporteerd', informatieobjecttype: types[2] },
    { opmerking: /^informatieobjecttype: / },
  ])
})

t.test('an autorisatie may name a type by any of our addresses, and has to name one that is there', async (t) => {
  const PUBLIC = 'https://zaken.example.nl/zgw'
  const test = await testApp(t, { PUBLIC_URL: PUBLIC, OWN_URLS: 'http://intern:8080' })
  const type = new URL(await givenZaaktype(test, { concept: true })).pathname.replace(/^\/zgw/, '')
  const applicatie = (...zaaktypen: string[]) => ({
    clientIds: [crypto.randomUUID()],
    label: 'Rechten',
    autorisaties: zaaktypen.map((zaaktype) => ({
      component: 'zrc',
      scopes: ['zaken.lezen'],
      zaaktype,
      maxVertrouwelijkheidaanduiding: 'openbaar',
    })),
  })
  const nowhere = `/catalogi/api/v1/zaaktypen/${crypto.randomUUID()}`
  const path = '/autorisaties/api/v1/applicaties'
  const made = await test.call(
    'POST',
    path,
    applicatie(`http://intern:8080${type}`, 'https://elders.example.nl/type/1'),
  )
  t.equal(made.status, 201, made.text)
  t.same(
    made.body.autorisaties.map(({ zaaktype }: { zaaktype: string }) => zaaktype),
    [`${PUBLIC}${type}`, 'https://elders.example.nl/type/1'],
  )
  for (const own of [PUBLIC, 'http://intern:8080', 'http://localhost']) {
    const wrong = applicatie(`${own}${type}`, `${own}${nowhere}`)
    t.same(faultsOf(await test.call('POST', path, wrong)), ['autorisaties.1.zaaktype: bad-url'], own)
  }
  const documenttype = applicatie(`${PUBLIC}${type.replace('zaaktypen', 'besluittypen')}`)
  t.same(faultsOf(await test.call('POST', path, documenttype)), ['autorisaties.0.zaaktype: bad-url'])

  await test.database.sql`delete from zaaktype`
  const { url: _, ...stored } = made.body
  const self = new URL(made.body.url).pathname.replace(/^\/zgw/, '')
  t.equal((await test.call('PUT', self, stored)).status, 200, 'what is stored may stay')
  const more = { autorisaties: [...stored.autorisaties, ...applicatie(`${PUBLIC}${nowhere}`).autorisaties] }
  t.same(faultsOf(await test.call('PATCH', self, more)), ['autorisaties.2.zaaktype: bad-url'])
})

t.test('the host of a request counts unless a proxy that is not trusted stands before us', async (t) => {
  const given = { PUBLIC_URL: 'https://zaken.example.nl' }
  const through = async (env: Record<string, string>, more: Record<string, string> = {}) => {
    const test = await testApp(t, env)
    const type = new URL(await givenZaaktype(test, { concept: true })).pathname
    const body = { zaaktype: `http://intern:8080${type}`, omschrijving: 'Begin', volgnummer: 1 }
    const made = await test.call('POST', '/catalogi/api/v1/statustypen', body, {
      headers: { host: 'intern:8080', ...more },
    })
    if (made.status === 201) t.equal(made.body.zaaktype, `https://zaken.example.nl${type}`, 'answers have PUBLIC_URL')
    return made.status
  }
  t.equal(await through(given), 201, 'nobody before us')
  t.equal(await through(given, { 'x-forwarded-for': '10.0.0.9' }), 400, 'a proxy that is not trusted')
  t.equal(await through({ ...given, TRUST_PROXY: '127.0.0.1' }, { 'x-forwarded-for': '10.0.0.9' }), 201, 'trusted')
  t.equal(await through({ ...given, TRUST_PROXY: '10.1.1.1' }, { 'x-forwarded-for': '10.0.0.9' }), 400, 'another')
})

t.test('what else a host of ours has is not ours, and addresses elsewhere have one spelling', async (t) => {
  const test = await testApp(t, { PUBLIC_URL: 'https://zaken.example.nl/zgw', OWN_URLS: 'https://oud.example.nl' })
  const products = ['https://OUD.example.nl/producten/1', 'HTTPS://Elders.Example.nl:443/P?q=A']
  const made = await test.call('POST', '/catalogi/api/v1/zaaktypen', {
    ...zaaktypeBody(await givenCatalogus(test)),
    productenOfDiensten: products,
  })
  t.equal(made.status, 201, made.text)
  t.same(made.body.productenOfDiensten, ['https://oud.example.nl/producten/1', 'https://elders.example.nl/P?q=A'])
})

t.test('filters of abonnementen and kenmerken of messages have the address of answers', async (t) => {
  const PUBLIC = 'https://zaken.example.nl/zgw'
  const test = await testApp(t, { PUBLIC_URL: PUBLIC, OWN_URLS: 'http://intern:8080' })
  const path = `/catalogi/api/v1/zaaktypen/${crypto.randomUUID()}`
  await test.call('POST', '/notificaties/api/v1/kanaal', { naam: 'anders', filters: ['zaaktype', 'bronorganisatie'] })
  const subscribed = await test.call('POST', '/notificaties/api/v1/abonnement', {
    callbackUrl: 'https://ontvanger.example.nl/meldingen',
    auth: 'Bearer geheim',
    kanalen: [{ naam: 'anders', filters: { zaaktype: `http://intern:8080${path}`, bronorganisatie: '000000000' } }],
  })
  t.equal(subscribed.status, 201, subscribed.text)
  t.strictSame(subscribed.body.kanalen[0].filters, { zaaktype: `${PUBLIC}${path}`, bronorganisatie: '000000000' })
  const published = await test.call('POST', '/notificaties/api/v1/notificaties', {
    kanaal: 'anders',
    hoofdObject: `http://intern:8080${path.replace('catalogi', 'zaken')}`,
    resource: 'zaak',
    resourceUrl: `http://localhost${path}`,
    actie: 'create',
    aanmaakdatum: '2024-05-01T10:00:00Z',
    kenmerken: { zaaktype: `http://intern:8080${path}` },
  })
  t.equal(published.status, 201, published.text)
  const { hoofdObject, resourceUrl, kenmerken } = published.body
  t.strictSame([resourceUrl, kenmerken], [`${PUBLIC}${path}`, { zaaktype: `${PUBLIC}${path}` }])
  t.ok(hoofdObject.startsWith(`${PUBLIC}/zaken/`), hoofdObject)
})

t.test('addresses of an installation that was taken over are ours from the switch on', async (t) => {
  const test = await testApp(t, { PUBLIC_URL: 'https://zaken.example.nl' })
  const { sql } = test.database
  const type = new URL(await givenZaaktype(test, { concept: true })).pathname
  const [takeover] = await sql<Takeover[]>`
    insert into takeover (kind, source, settings, secret, status, read_only)
    values ('api', 'https://oz.example.nl', '{"oudeUrls": ["https://tweede.example.nl/"]}', '', 'klaar', false) returning *`
  const asked = async (host: string) => {
    const url = encodeURIComponent(`${host}${type}`)
    const { body } = await test.call('GET', `/catalogi/api/v1/statustypen?status=alles&zaaktype=${url}`)
    return body.count
  }
  const body = { zaaktype: `https://zaken.example.nl${type}`, omschrijving: 'Begin', volgnummer: 1 }
  await test.call('POST', '/catalogi/api/v1/statustypen', body)
  t.equal(await asked('https://oz.example.nl'), 0, 'not before')
  await sql.begin((trx) => switchOver(trx, takeover!))
  await until('the new list', async () => (await asked('https://oz.example.nl')) === 1)
  t.equal(await asked('http://TWEEDE.example.nl'), 1)
  t.equal(await asked('https://derde.example.nl'), 0)
})
