import t from 'tap'
import { LIMITS } from '../../src/core/limits.ts'
import { type Answer, givenClient, givenInformatieobjecttype, givenZaaktype, testApp, uuidOf } from '../app.ts'
import { CRS, faultsOf, givenDocument, givenEigenschap, givenZaak, made, ZAKEN } from '../zaken/given.ts'

const UNKNOWN = '00000000-0000-4000-8000-000000000000'
const DOCUMENTEN = '/documenten/api/v1/enkelvoudiginformatieobjecten'

t.test('_batch', async (t) => {
  const test = await testApp(t)
  const { call, database } = test
  const informatieobjecttype = await givenInformatieobjecttype(test)
  const { catalogus } = (await call('GET', informatieobjecttype)).body
  const zaaktype = await givenZaaktype(test, {
    catalogus,
    concept: true,
    informatieobjecttypen: [informatieobjecttype],
    statustypen: ['Begin', 'Eind'],
    roltypen: [{ omschrijving: 'Behandelaar', omschrijvingGeneriek: 'behandelaar' }],
  })
  await givenEigenschap(test, zaaktype, 'kleur')
  await call('POST', `${zaaktype}/publish`)
  const type = (await call('GET', zaaktype)).body
  const batch = (collection: string, requests: object[], context?: object, as?: string): Promise<Answer> =>
    call('POST', `${collection}/_batch`, { requests, ...(context && { context }) }, { ...CRS, ...(as && { as }) })
  const get = async (url: string) => (await call('GET', url, undefined, CRS)).body
  const keys = (...urls: string[]) => urls.map((url) => ({ key: uuidOf(url) }))

  const [een, twee] = [await givenZaak(test, { zaaktype }), await givenZaak(test, { zaaktype })]
  const documents: string[] = []
  for (const zaak of [een, twee]) {
    await call('POST', `${ZAKEN}/statussen`, {
      zaak: zaak.url,
      statustype: type.statustypen[0],
      datumStatusGezet: '2026-03-03T10:00:00Z',
    })
    for (const naam of ['a', 'b'])
      made(
        await call('POST', `${ZAKEN}/rollen`, {
          zaak: zaak.url,
          betrokkene: `https://personen.example/${naam}`,
          betrokkeneType: 'medewerker',
          roltype: type.roltypen[0],
          roltoelichting: naam,
        }),
      )
    const document = await givenDocument(test, informatieobjecttype)
    made(await call('POST', `${ZAKEN}/zaakinformatieobjecten`, { zaak: zaak.url, informatieobject: document }))
    documents.push(document)
  }

  await t.test('answers what a GET of each answers, in order, with null for what is not there', async (t) => {
    const { status, body } = await batch(`${ZAKEN}/zaken`, [
      ...keys(twee.url, `x/${UNKNOWN}`, een.url),
      { key: uuidOf(twee.url).toUpperCase() },
    ])
    t.equal(status, 200)
    const [a, b] = [await get(een.url), await get(twee.url)]
    t.strictSame(body, { results: [b, null, a, b] })
    t.strictSame((await batch(`${ZAKEN}/zaken`, keys(`x/${UNKNOWN}`, `x/${UNKNOWN}`))).body, { results: [null, null] })
  })

  await t.test('answers filters with their items, in the order of the list', async (t) => {
    const rollen = async (zaak: string) =>
      (await get(`${ZAKEN}/rollen?zaak=${encodeURIComponent(zaak)}`)).results as object[]
    const { body } = await batch(`${ZAKEN}/rollen`, [
      { filter: { zaak: een.url } },
      { key: UNKNOWN },
      { filter: { zaak: `http://localhost${ZAKEN}/zaken/${UNKNOWN}` } },
      { filter: { zaak: twee.url, omschrijvingGeneriek: 'behandelaar' } },
      { filter: { zaak: twee.url, omschrijvingGeneriek: 'initiator' } },
    ])
    t.strictSame(body, {
      results: [
        { items: await rollen(een.url) },
        null,
        { items: [] },
        { items: await rollen(twee.url) },
        { items: [] },
      ],
    })
    const statussen = await batch(`${ZAKEN}/statussen`, [
      { filter: { zaak: een.url, indicatieLaatstGezetteStatus: true } },
      { filter: { zaak: een.url, indicatieLaatstGezetteStatus: false } },
    ])
    t.strictSame(
      statussen.body.results.map(({ items }: { items: object[] }) => items.length),
      [1, 0],
    )
    const ordered = await batch(`${ZAKEN}/zaken`, [{ filter: { zaaktype, ordering: '-identificatie' } }])
    t.strictSame(
      ordered.body.results[0].items,
      (await get(`${ZAKEN}/zaken?zaaktype=${encodeURIComponent(zaaktype)}&ordering=-identificatie`)).results,
    )
  })

  await t.test('takes expand and fields for all of them', async (t) => {
    const expand = ['status', 'rollen', 'zaakinformatieobjecten.informatieobject']
    const { body } = await batch(`${ZAKEN}/zaken`, keys(een.url, twee.url), { expand })
    t.strictSame(
      body.results,
      await Promise.all([een, twee].map(({ url }) => get(`${url}?expand=${expand.join()}`))),
      'as GET has it',
    )
    t.strictSame(
      body.results.map((zaak: { _expand: { zaakinformatieobjecten: { informatieobject: string }[] } }) =>
        zaak._expand.zaakinformatieobjecten.map(({ informatieobject }) => informatieobject),
      ),
      documents.map((url) => [url]),
    )
    const some = await batch(`${ZAKEN}/zaken`, keys(een.url), {
      fields: ['identificatie', { rollen: ['roltoelichting'] }],
    })
    t.strictSame(some.body.results, [
      { identificatie: een.identificatie, _expand: { rollen: [{ roltoelichting: 'b' }, { roltoelichting: 'a' }] } },
    ])
    const zios = await batch(`${ZAKEN}/zaakinformatieobjecten`, [{ filter: { zaak: een.url } }], {
      expand: ['informatieobject'],
    })
    t.equal(zios.body.results[0].items[0]._expand.informatieobject.url, documents[0])
    for (const requests of [keys(een.url), keys(`x/${UNKNOWN}`)]) {
      t.strictSame(faultsOf(await batch(`${ZAKEN}/zaken`, requests, { expand: ['kleur'] })), ['expand: invalid_choice'])
      t.strictSame(faultsOf(await batch(`${ZAKEN}/zaken`, requests, { fields: 7 })), ['fields: invalid'])
      const both = await batch(`${ZAKEN}/zaken`, requests, { fields: ['url'], expand: ['status'] })
      t.strictSame(faultsOf(both), ['context.fields: invalid'])
    }
  })

  await t.test('shows types as on the day of the context', async (t) => {
    const old = await givenInformatieobjecttype(test, {
      catalogus,
      omschrijving: 'Met versies',
      beginGeldigheid: '2020-01-01',
      eindeGeldigheid: '2021-12-31',
    })
    const current = await givenInformatieobjecttype(test, {
      catalogus,
      omschrijving: 'Met versies',
      beginGeldigheid: '2022-01-01',
    })
    const typen = '/catalogi/api/v1/informatieobjecttypen'
    const filter = { filter: { omschrijving: 'Met versies' } }
    const found = async (datumGeldigheid: string) =>
      (await batch(typen, [filter, ...keys(old)], { datumGeldigheid })).body.results
    t.strictSame(await found('2021-06-01'), [
      { items: [await get(`${old}?datumGeldigheid=2021-06-01`)] },
      await get(`${old}?datumGeldigheid=2021-06-01`),
    ])
    t.strictSame((await found('2023-01-01'))[0], { items: [await get(`${current}?datumGeldigheid=2023-01-01`)] })
  })

  await t.test('names every fault, by the request that has it', async (t) => {
    const refused = await batch(`${ZAKEN}/rollen`, [
      {},
      { key: UNKNOWN, filter: { zaak: een.url } },
      { filter: {} },
      { filter: { kleur: 'rood' } },
      { filter: { zaak: een.url, betrokkeneType: 'buurman' } },
      { filter: { page: 2 } },
      ...keys(een.url),
    ])
    t.equal(refused.status, 400)
    t.strictSame(faultsOf(refused), [
      'requests.0: invalid',
      'requests.1: invalid',
      'requests.2.filter: required',
      'requests.3.filter: unknown-parameters',
      'requests.4.filter.betrokkeneType: invalid_choice',
      'requests.5.filter: unknown-parameters',
    ])
    t.strictSame(faultsOf(await batch(`${ZAKEN}/zaken`, [{ key: 'geen-uuid' }])), ['requests.0.key: invalid'])
    t.strictSame(faultsOf(await batch(`${ZAKEN}/zaken`, [{ filter: { kenmerk: 'x' } }])), [
      'requests.0.filter.kenmerk: invalid',
    ])
    t.strictSame(faultsOf(await batch(`${ZAKEN}/zaken`, [])), ['requests: empty'])
    t.strictSame(faultsOf(await call('POST', `${ZAKEN}/zaken/_batch`, {}, CRS)), ['requests: required'])
  })

  await t.test('is bounded in requests and in resources', async (t) => {
    const many = await batch(
      `${ZAKEN}/zaken`,
      Array.from({ length: LIMITS.batch + 1 }, () => ({ key: UNKNOWN })),
    )
    t.equal(many.status, 400)
    t.match(many.body, { code: 'request-limit-exceeded', detail: /100.*101/ })
    await database.sql`
      insert into status (zaak_id, statustype_id, datum_status_gezet, statustoelichting, laatst)
      select z.id, (select id from statustype where uuid = ${uuidOf(type.statustypen[0])}), now() - n * interval '1 day', '', false
      from zaak z, generate_series(1000, 1149) n where z.uuid = ${uuidOf(een.url)}`
    const list = await batch(`${ZAKEN}/statussen`, [{ filter: { zaak: een.url } }])
    t.equal(list.body.results[0].items.length, LIMITS.batchItems)
    const ten = Array.from({ length: 10 }, () => ({ filter: { zaak: een.url } }))
    t.equal((await batch(`${ZAKEN}/statussen`, ten)).status, 200)
    const more = await batch(`${ZAKEN}/statussen`, [...ten, { filter: { zaak: twee.url } }])
    t.equal(more.status, 400)
    t.match(more.body, { code: 'response-limit-exceeded', detail: /meer dan 1000/ })
  })

  await t.test('answers cases with long lists and large geometries as a GET does', async (t) => {
    const line = { type: 'LineString', coordinates: Array.from({ length: 900 }, (_, n) => [n / 1000, 1]) }
    const large = await givenZaak(test, { zaaktype, zaakgeometrie: line })
    const long = await givenZaak(test, { zaaktype })
    await database.sql`insert into zaakobject (zaak_id, object, object_type)
      select z.id, 'https://elders.example/objecten/' || n, 'adres' from zaak z, generate_series(1, ${LIMITS.recorded + 5}::int) n
      where z.uuid = ${uuidOf(long.url)}`
    const urls = [een.url, long.url, large.url, long.url, twee.url]
    const { body } = await batch(`${ZAKEN}/zaken`, keys(...urls))
    t.strictSame(body.results, await Promise.all(urls.map(get)))
    const some = await batch(`${ZAKEN}/zaken`, keys(...urls), { fields: ['identificatie'] })
    t.strictSame(
      some.body.results.map(({ identificatie }: { identificatie: string }) => identificatie),
      (await Promise.all(urls.map(get))).map(({ identificatie }) => identificatie),
    )
  })

  await t.test('asks the same of the database for what is not there and for what may not be read', async (t) => {
    const secret = await givenZaak(test, { zaaktype, vertrouwelijkheidaanduiding: 'geheim' })
    const rol = made(
      await call('POST', `${ZAKEN}/rollen`, {
        zaak: secret.url,
        betrokkene: 'https://personen.example/c',
        betrokkeneType: 'medewerker',
        roltype: type.roltypen[0],
        roltoelichting: 'c',
      }),
    )
    const secretDocument = await givenDocument(test, informatieobjecttype, { vertrouwelijkheidaanduiding: 'geheim' })
    const client = await givenClient(test, 'openbaar', [
      { component: 'zrc', scopes: ['zaken.lezen'], typeUuid: uuidOf(zaaktype), max: 'openbaar' },
      { component: 'drc', scopes: ['documenten.lezen'], typeUuid: uuidOf(informatieobjecttype), max: 'openbaar' },
      { component: 'ztc', scopes: ['catalogi.lezen'] },
    ])
    const { sql } = test.app.reader
    const original = sql.unsafe
    t.teardown(() => {
      sql.unsafe = original
    })
    const asked: string[] = []
    sql.unsafe = ((text: string, ...more: [never]) => {
      asked.push(text)
      return original(text, ...more)
    }) as typeof sql.unsafe
    const statements = async (collection: string, url: string, expand?: string[]) => {
      asked.length = 0
      const { status, body } = await batch(collection, keys(url), expand && { expand }, client)
      t.equal(status, 200)
      t.strictSame(body, { results: [null] })
      return [...asked]
    }
    for (const [collection, url, expand] of [
      [`${ZAKEN}/zaken`, secret.url, ['rollen', 'status']],
      [`${ZAKEN}/rollen`, rol.url, ['zaak']],
      [DOCUMENTEN, secretDocument, ['informatieobjecttype']],
    ] as const)
      for (const paths of [undefined, [...expand]]) {
        const hidden = await statements(collection, url, paths)
        t.equal(hidden.length, 1, 'one statement')
        t.strictSame(hidden, await statements(collection, `x/${UNKNOWN}`, paths))
      }
  })
})

t.test('a _batch and a _zoek are asked with POST, and a context has what is documented', async (t) => {
  const test = await testApp(t)
  for (const path of ['/zaken/api/v1/zaken/_batch', '/zaken/api/v1/zaken/_zoek', '/catalogi/api/v1/zaaktypen/_batch'])
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await test.call(method, path, method === 'PUT' ? {} : undefined, CRS)
      t.match(answer, { status: 405, headers: { allow: 'POST' } }, `${method} ${path}`)
    }
  const context = { veldn: ['url'] }
  t.match(await test.call('POST', '/zaken/api/v1/zaken/_batch', { context, requests: [{ key: UNKNOWN }] }, CRS), {
    status: 400,
    body: { invalidParams: [{ name: 'context.veldn', code: 'unknown-parameters' }] },
  })
})
