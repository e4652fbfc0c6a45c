import t from 'tap'
import { givenCatalogus, givenClient, givenInformatieobjecttype, type TestApp, testApp, uuidOf } from '../app.ts'
import { base64, DRC, EIO, faults, givenDocument, givenLock, newDocument } from './documenten.ts'

const SCOPES = ['lezen', 'aanmaken', 'bijwerken', 'verwijderen', 'lock'].map((name) => `documenten.${name}`)

/** Documents of which a client may see one: the others are of another type, or too confidential. */
async function givenMixture(test: TestApp) {
  const catalogus = await givenCatalogus(test)
  const eigen = await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Eigen' })
  const ander = await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Ander' })
  const make = (informatieobjecttype: string, vertrouwelijkheidaanduiding: string) =>
    givenDocument(test, { informatieobjecttype, vertrouwelijkheidaanduiding })
  const zichtbaar = await make(eigen, 'intern')
  const geheim = await make(eigen, 'vertrouwelijk')
  const vreemd = await make(ander, 'openbaar')
  const client = await givenClient(test, 'beperkt', [
    { component: 'drc', scopes: [...SCOPES, 'audittrails.lezen'], typeUuid: uuidOf(eigen), max: 'zaakvertrouwelijk' },
    { component: 'ztc', scopes: ['catalogi.lezen'] },
  ])
  return { eigen, ander, zichtbaar, geheim, vreemd, as: client }
}

t.test('a list shows, counts and pages only what the client may read', async (t) => {
  const test = await testApp(t)
  const { eigen, zichtbaar, geheim, vreemd, as } = await givenMixture(test)
  const uuid__in = [zichtbaar, geheim, vreemd].map(({ url }) => uuidOf(url))
  for (const query of [
    '',
    '?titel=brief',
    '?bronorganisatie=000000000',
    '?locked=false',
    `?informatieobjecttype=${encodeURIComponent(eigen)}`,
    '?ordering=-titel',
    '?expand=informatieobjecttype',
    '?pageSize=1&page=last',
  ]) {
    const { body } = await test.call('GET', `${EIO}${query}`, undefined, { as })
    t.match(body, { count: 1, next: null, previous: null, results: [{ url: zichtbaar.url }] }, query)
    t.equal(body.results.length, 1)
  }
  t.equal((await test.call('GET', `${EIO}?pageSize=1&page=2`, undefined, { as })).status, 404)
  t.equal((await test.call('GET', `${EIO}?vertrouwelijkheidaanduiding=openbaar`, undefined, { as })).body.count, 0)
  t.equal((await test.call('GET', `${EIO}?identificatie=${geheim.identificatie}`, undefined, { as })).body.count, 0)
  const found = await test.call('POST', `${EIO}/_zoek`, { uuid__in }, { as })
  t.match(found.body, { count: 1, results: [{ url: zichtbaar.url }] })
  t.equal((await test.call('GET', EIO)).body.count, 3)
})

t.test('what hangs on a document shows to whoever may read the document', async (t) => {
  const test = await testApp(t)
  const { zichtbaar, geheim, vreemd, as } = await givenMixture(test)
  const hidden: string[] = []
  for (const { url: informatieobject } of [zichtbaar, geheim, vreemd]) {
    const recht = { informatieobject, startdatum: '2025-01-01', omschrijvingVoorwaarden: 'x' }
    const persoon = 'https://elders.example/personen/1'
    const brief = {
      informatieobject,
      betrokkene: persoon,
      contactPersoon: persoon,
      aardRelatie: 'afzender',
      mijnOverheid: true,
    }
    const made = [
      await test.call('POST', `${DRC}/gebruiksrechten`, recht),
      await test.call('POST', `${DRC}/verzendingen`, brief),
    ]
    await test.database.sql`
      insert into objectinformatieobject (enkelvoudiginformatieobject_id, object_type, object_url)
      select id, 'verzoek', 'https://elders.example/verzoeken/1' from enkelvoudiginformatieobject where uuid = ${uuidOf(informatieobject)}`
    const [relatie] = (
      await test.call('GET', `${DRC}/objectinformatieobjecten?informatieobject=${encodeURIComponent(informatieobject)}`)
    ).body
    if (informatieobject !== zichtbaar.url) hidden.push(...made.map(({ body }) => body.url), relatie.url)
  }
  for (const expand of [
    '',
    '?expand=informatieobject',
    '?expand=informatieobject,informatieobject.informatieobjecttype',
  ]) {
    for (const path of ['gebruiksrechten', 'objectinformatieobjecten', 'verzendingen']) {
      const { body } = await test.call('GET', `${DRC}/${path}${expand}`, undefined, { as })
      const rows = body.results ?? body
      t.same(
        rows.map(({ informatieobject }: { informatieobject: string }) => informatieobject),
        [zichtbaar.url],
        path,
      )
      t.equal(body.count ?? 1, 1)
      if (expand) t.equal(rows[0]._expand.informatieobject.url, zichtbaar.url)
      const all = (await test.call('GET', `${DRC}/${path}${expand}`)).body
      t.equal((all.results ?? all).length, 3)
    }
  }
  for (const url of hidden) {
    t.equal((await test.call('GET', url, undefined, { as })).status, 403)
    t.equal((await test.call('DELETE', url, undefined, { as })).status, 403)
  }
  for (const { url } of [geheim, vreemd]) {
    t.equal((await test.call('GET', `${url}/audittrail`, undefined, { as })).status, 403)
    const recht = { informatieobject: url, startdatum: '2025-01-01', omschrijvingVoorwaarden: 'x' }
    t.equal((await test.call('POST', `${DRC}/gebruiksrechten`, recht, { as })).status, 403)
  }
  t.equal((await test.call('GET', `${zichtbaar.url}/audittrail`, undefined, { as })).status, 200)
  const filter = `informatieobject=${encodeURIComponent(geheim.url)}`
  t.same((await test.call('GET', `${DRC}/gebruiksrechten?${filter}`, undefined, { as })).body, [])
  const verzoek = `?objectinformatieobjecten_object=${encodeURIComponent('https://elders.example/verzoeken/1')}`
  t.match((await test.call('GET', `${EIO}${verzoek}`, undefined, { as })).body, {
    count: 1,
    results: [{ url: zichtbaar.url }],
  })
  t.match((await test.call('GET', `${EIO}${verzoek.replace('_o', '__o')}`)).body, { count: 3 })
  t.match((await test.call('GET', `${EIO}?objectinformatieobjecten__objectType=zaak`)).body, { count: 0 })
})

t.test('one document: 403 for what may not be read, 404 where it does not exist for the client', async (t) => {
  const test = await testApp(t)
  const { eigen, geheim, vreemd, as } = await givenMixture(test)
  for (const { url } of [geheim, vreemd]) {
    const as_ = (method: string, path = '', body?: object) => test.call(method, url + path, body, { as })
    t.equal((await as_('GET')).status, 403)
    t.equal((await as_('HEAD')).status, 403)
    t.equal((await as_('PATCH', '', { titel: 'x' })).status, 403)
    t.equal((await as_('PUT', '', { ...newDocument(eigen), lock: 'x' })).status, 403)
    t.equal((await as_('DELETE')).status, 403)
    t.equal((await as_('GET', '/download')).status, 404)
    t.equal((await as_('GET', '/download?versie=1')).status, 404)
    t.equal((await as_('POST', '/lock')).status, 404)
    t.equal((await as_('POST', '/unlock', {})).status, 404)
    const { headers } = await test.call('GET', url)
    const conditional = { as, headers: { 'if-none-match': String(headers.etag) } }
    t.equal((await test.call('GET', url, undefined, conditional)).status, 403, 'no 304 before the rights')
  }
})

t.test('rights look at the latest version, whichever is asked for', async (t) => {
  const test = await testApp(t)
  const { zichtbaar, as } = await givenMixture(test)
  const lock = await givenLock(test, zichtbaar.url)
  await test.call('PATCH', zichtbaar.url, { lock, vertrouwelijkheidaanduiding: 'geheim' })
  t.equal((await test.call('GET', `${zichtbaar.url}?versie=1`, undefined, { as })).status, 403)
  t.equal((await test.call('GET', `${zichtbaar.url}/download?versie=1`, undefined, { as })).status, 404)
  t.equal((await test.call('GET', EIO, undefined, { as })).body.count, 0)
})

t.test('a change is judged by what the document was and by what it becomes', async (t) => {
  const test = await testApp(t)
  const { eigen, ander, zichtbaar, as } = await givenMixture(test)
  const lock = await givenLock(test, zichtbaar.url)
  const patch = (body: object) => test.call('PATCH', zichtbaar.url, { lock, ...body }, { as })
  t.equal((await patch({ vertrouwelijkheidaanduiding: 'geheim' })).status, 403)
  t.equal((await patch({ informatieobjecttype: ander })).status, 403)
  t.equal((await patch({ vertrouwelijkheidaanduiding: 'openbaar' })).status, 200)
  const strenger = await givenInformatieobjecttype(test, {
    omschrijving: 'Strenger',
    vertrouwelijkheidaanduiding: 'geheim',
  })
  await givenClient(test, 'maker', [
    { component: 'drc', scopes: SCOPES, typeUuid: uuidOf(strenger), max: 'intern' },
    { component: 'drc', scopes: ['documenten.lezen'], typeUuid: uuidOf(eigen), max: 'zeer_geheim' },
  ])
  const create = (body: object) => test.call('POST', EIO, body, { as: 'maker' })
  t.equal((await create(newDocument(strenger))).status, 403, 'the type makes it too confidential')
  t.equal((await create(newDocument(strenger, { vertrouwelijkheidaanduiding: 'intern' }))).status, 201)
  t.equal((await create(newDocument(eigen))).status, 403, 'a type of which it may only read')
  t.same(faults(await create(newDocument(`${eigen}0`))), ['informatieobjecttype: bad-url'], 'an unknown type is no 403')
})

t.test('an application for publication reads only what is ready for it', async (t) => {
  const test = await testApp(t)
  const own = await givenInformatieobjecttype(test)
  const document = await givenDocument(test, { informatieobjecttype: own })
  await givenClient(test, 'publicatie', [
    { component: 'drc', scopes: ['documenten.lezen'], typeUuid: uuidOf(own), max: 'zeer_geheim' },
  ])
  await test.database.sql`update applicatie set alleen_is_gereed_voor_publicatie = true where label = 'publicatie'`
  await new Promise((resolve) => setImmediate(resolve))
  const as = 'publicatie'
  t.equal((await test.call('GET', document.url, undefined, { as })).status, 403)
  t.equal((await test.call('GET', EIO, undefined, { as })).body.count, 0)
  const lock = await givenLock(test, document.url)
  await test.call('PATCH', document.url, { lock, isGereedVoorPublicatie: true })
  t.equal((await test.call('GET', `${document.url}?versie=1`, undefined, { as })).status, 200)
  t.equal((await test.call('GET', EIO, undefined, { as })).body.count, 1)
})

t.test('expand needs the scope of what is expanded', async (t) => {
  const test = await testApp(t)
  const { eigen, zichtbaar } = await givenMixture(test)
  await givenClient(test, 'zonder', [
    { component: 'drc', scopes: ['documenten.lezen'], typeUuid: uuidOf(eigen), max: 'zeer_geheim' },
  ])
  for (const url of [EIO, zichtbaar.url]) {
    t.equal((await test.call('GET', `${url}?expand=informatieobjecttype`, undefined, { as: 'zonder' })).status, 403)
  }
  const { body } = await test.call('GET', `${zichtbaar.url}?expand=informatieobjecttype`, undefined, { as: 'beperkt' })
  t.equal(body._expand.informatieobjecttype.url, eigen)
})

t.test('without a right of this kind nothing is answered at all', async (t) => {
  const test = await testApp(t)
  const { zichtbaar } = await givenMixture(test)
  await givenClient(test, 'niets', [{ component: 'zrc', scopes: ['zaken.lezen', ...SCOPES] }])
  for (const url of [
    EIO,
    `${DRC}/gebruiksrechten`,
    `${DRC}/verzendingen`,
    `${DRC}/objectinformatieobjecten`,
    zichtbaar.url,
  ]) {
    t.equal((await test.call('GET', url, undefined, { as: 'niets' })).status, 403, url)
  }
})

t.test('counts stay exact through creates, changes and deletes at once, and through folding', async (t) => {
  const test = await testApp(t)
  const { eigen, ander, as } = await givenMixture(test)
  const counts = async () => {
    const [mine, all] = await Promise.all([test.call('GET', EIO, undefined, { as }), test.call('GET', EIO)])
    return [mine.body.count, all.body.count]
  }
  const made = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      givenDocument(test, { informatieobjecttype: n % 2 ? eigen : ander, inhoud: base64(String(n)) }),
    ),
  )
  await test.database.sql`select fold_counts('enkelvoudiginformatieobject_count')`
  t.same(await counts(), [11, 23])
  const fold = Promise.all(
    Array.from({ length: 5 }, () => test.database.sql`select fold_counts('enkelvoudiginformatieobject_count')`),
  )
  await Promise.all(
    made.map(async ({ url }, n) => {
      if (n < 6) return test.call('DELETE', url)
      const lock = await givenLock(test, url)
      return n < 12 ? test.call('PATCH', url, { lock, informatieobjecttype: eigen }) : undefined
    }),
  )
  await fold
  t.same(await counts(), [1 + 6 + 4, 17])
  await test.database.sql`select fold_counts('enkelvoudiginformatieobject_count')`
  t.same(await counts(), [1 + 6 + 4, 17])
  const [check] = await test.database
    .sql`select count(*) as rows, sum(count) as total from enkelvoudiginformatieobject_count`
  t.match(check, { total: '17' })
  t.ok(Number(check!.rows) <= 4)
})
