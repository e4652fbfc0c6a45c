// Lists that are long enough to be read in more ways than one.
import t from 'tap'
import { BASE, givenClient, givenInformatieobjecttype, type TestApp, testApp, uuidOf } from '../app.ts'
import { EIO, givenDocument, givenLock } from './documenten.ts'

/** So many documents, every third of them too confidential for a client with rights up to `openbaar`; their uuids. */
async function givenMany({ database: { sql } }: TestApp, typeUuid: string, count: number): Promise<string[]> {
  const made = await sql<{ uuid: string }[]>`
    with e as (
      insert into enkelvoudiginformatieobject (bronorganisatie, identificatie, informatieobjecttype_id, vertrouwelijkheidaanduiding)
      select '000000000', 'LIJST-' || n, t.id, (case when n % 3 = 0 then 'geheim' else 'openbaar' end)::vertrouwelijkheidaanduiding
      from generate_series(1, ${count}::integer) n, informatieobjecttype t where t.uuid = ${typeUuid} order by n
      returning *
    ), v as (
      insert into enkelvoudiginformatieobject_versie (enkelvoudiginformatieobject_id, versie, bronorganisatie, identificatie,
        informatieobjecttype_id, vertrouwelijkheidaanduiding, creatiedatum, titel, auteur, taal)
      select id, 1, bronorganisatie, identificatie, informatieobjecttype_id, vertrouwelijkheidaanduiding, '2025-01-01', 'x', 'x', 'nld' from e
    )
    select uuid from e order by id`
  return made.map(({ uuid }) => uuid)
}

t.test('a page holds the same documents, from whichever end of the list it was found', async (t) => {
  const test = await testApp(t)
  const type = await givenInformatieobjecttype(test)
  const uuids = await givenMany(test, uuidOf(type), 34_990)
  const as = await givenClient(test, 'openbaar', [
    { component: 'drc', scopes: ['documenten.lezen'], typeUuid: uuidOf(type), max: 'openbaar' },
  ])
  await test.database
    .sql`delete from enkelvoudiginformatieobject where uuid = any(${uuids.slice(20_000, 20_500)}::uuid[])`
  const left = uuids.toSpliced(20_000, 500)
  const readable = uuids.map((uuid, i) => ((i + 1) % 3 === 0 || !left.includes(uuid) ? '' : uuid)).filter(Boolean)
  for (const [client, all] of [
    ['beheer', left],
    [as, readable],
  ] as const) {
    const size = 500
    const last = Math.ceil(all.length / size)
    for (const page of [1, 2, 21, 22, Math.floor(last / 2), Math.ceil(last / 2) + 1, last - 1, last, 'last'] as const) {
      const { body } = await test.call('GET', `${EIO}?pageSize=${size}&page=${page}`, undefined, { as: client })
      const number = page === 'last' ? last : page
      t.equal(body.count, all.length)
      t.same(
        body.results.map(({ url }: { url: string }) => uuidOf(url)),
        all.slice((number - 1) * size, number * size),
        `${client}: page ${page} of ${last}`,
      )
    }
    t.equal((await test.call('GET', `${EIO}?pageSize=${size}&page=${last + 1}`, undefined, { as: client })).status, 404)
  }
})

t.test('what is equal in an order is found once, on whichever page', async (t) => {
  const test = await testApp(t)
  const made: string[] = []
  for (const titel of ['b', 'a', 'b', 'b', 'a']) made.push((await givenDocument(test, { titel, inhoud: null })).url)
  const [b1, a1, b2, b3, a2] = made
  for (const [ordering, expected] of [
    ['titel', [a1, a2, b1, b2, b3]],
    ['-titel', [b3, b2, b1, a2, a1]],
    ['-titel,auteur', [b1, b2, b3, a1, a2]],
  ] as const) {
    const found: string[] = []
    let next: string | null = `${BASE}${EIO}?pageSize=2&ordering=${ordering}`
    while (next) {
      const { body } = await test.call('GET', next)
      found.push(...body.results.map(({ url }: { url: string }) => url))
      next = body.next
    }
    t.same(found, expected, ordering)
  }
})

t.test('filters look at the latest version, and count it once, whatever the reader may see', async (t) => {
  const test = await testApp(t)
  const type = await givenInformatieobjecttype(test)
  const made = []
  for (const titel of ['Eerst', 'Eerst', 'Eerst', 'Anders'])
    made.push(
      await givenDocument(test, { informatieobjecttype: type, titel, inhoud: null, creatiedatum: '2024-01-01' }),
    )
  for (const [{ url }, ...titels] of [
    [made[0], 'Later', 'Eerst'],
    [made[1], 'Later'],
  ] as const) {
    const lock = await givenLock(test, url)
    for (const titel of titels) await test.call('PATCH', url, { lock, titel, creatiedatum: '2025-01-01' })
  }
  const as = await givenClient(test, 'openbaar', [
    { component: 'drc', scopes: ['documenten.lezen'], typeUuid: uuidOf(type), max: 'zeer_geheim' },
  ])
  for (const client of ['beheer', as])
    for (const [query, expected] of [
      ['titel=eerst', [made[0], made[2]]],
      ['titel=later', [made[1]]],
      ['creatiedatum__gte=2024-01-01', made],
      ['creatiedatum__gte=2025-01-01', [made[0], made[1]]],
      ['creatiedatum__lte=2024-12-31', [made[2], made[3]]],
      ['titel=eerst&creatiedatum__gte=2025-01-01', [made[0]]],
      [`titel=eerst&identificatie=${made[2].identificatie}`, [made[2]]],
      ['titel=eerst&bronorganisatie=999990639', []],
    ] as const) {
      const { body } = await test.call('GET', `${EIO}?${query}`, undefined, { as: client })
      t.equal(body.count, expected.length, `${client}: ${query}`)
      t.same(
        body.results.map(({ url }: { url: string }) => url),
        expected.map(({ url }) => url),
      )
    }
})

t.test('a document that belongs to several objects is counted once', async (t) => {
  const test = await testApp(t)
  const type = await givenInformatieobjecttype(test)
  const [two, one] = [
    await givenDocument(test, { informatieobjecttype: type, inhoud: null }),
    await givenDocument(test, { informatieobjecttype: type, inhoud: null }),
  ]
  await givenDocument(test, { informatieobjecttype: type, inhoud: null })
  for (const [{ url }, object] of [
    [two, 'a'],
    [two, 'b'],
    [one, 'b'],
  ] as const)
    await test.database.sql`insert into objectinformatieobject (enkelvoudiginformatieobject_id, object_type, object_url)
      select id, 'zaak', ${`https://elders.example/${object}`} from enkelvoudiginformatieobject where uuid = ${uuidOf(url)}`
  const as = await givenClient(test, 'openbaar', [
    { component: 'drc', scopes: ['documenten.lezen'], typeUuid: uuidOf(type), max: 'zeer_geheim' },
  ])
  for (const client of ['beheer', as])
    for (const [query, expected] of [
      ['objectinformatieobjecten_objectType=zaak', [two, one]],
      ['objectinformatieobjecten_objectType=zaak&objectinformatieobjecten_object=https://elders.example/a', [two]],
      ['objectinformatieobjecten_object=https://elders.example/b', [two, one]],
      [`objectinformatieobjecten_objectType=zaak&identificatie=${one.identificatie}`, [one]],
      ['objectinformatieobjecten_objectType=zaak&creatiedatum__gte=9999-01-01', []],
      ['objectinformatieobjecten_objectType=besluit', []],
    ] as const) {
      const { body } = await test.call('GET', `${EIO}?${query}`, undefined, { as: client })
      t.equal(body.count, expected.length, `${client}: ${query}`)
      t.same(
        body.results.map(({ url }: { url: string }) => url),
        expected.map(({ url }) => url),
      )
    }
})

t.test('a document is counted by what it is, not by what an older version was', async (t) => {
  const test = await testApp(t)
  const [type, other] = [await givenInformatieobjecttype(test), await givenInformatieobjecttype(test)]
  const given = { informatieobjecttype: type, titel: 'Brief', inhoud: null, vertrouwelijkheidaanduiding: 'openbaar' }
  const [same, secret, moved] = [
    await givenDocument(test, given),
    await givenDocument(test, given),
    await givenDocument(test, given),
  ]
  for (const [{ url }, change] of [
    [same, {}],
    [secret, { vertrouwelijkheidaanduiding: 'geheim' }],
    [moved, { informatieobjecttype: other }],
  ] as const)
    t.equal((await test.call('PATCH', url, { lock: await givenLock(test, url), ...change })).status, 200)
  const as = await givenClient(test, 'openbaar', [
    { component: 'drc', scopes: ['documenten.lezen'], typeUuid: uuidOf(type), max: 'openbaar' },
  ])
  for (const [client, query, expected] of [
    [as, 'titel=brief', [same]],
    ['beheer', `titel=brief&informatieobjecttype=${encodeURIComponent(type)}`, [same, secret]],
    ['beheer', 'titel=brief&vertrouwelijkheidaanduiding=openbaar', [same, moved]],
  ] as const) {
    const { body } = await test.call('GET', `${EIO}?${query}`, undefined, { as: client })
    t.equal(body.count, expected.length, query)
    t.same(
      body.results.map(({ url }: { url: string }) => url),
      expected.map(({ url }) => url),
    )
  }
})

t.test('a part of a title is taken literally', async (t) => {
  const test = await testApp(t)
  for (const titel of ['100% zeker', '100 procent', 'a_b', 'axb', 'C:\\map', 'Één'])
    await givenDocument(test, { titel, inhoud: null })
  for (const [titel, expected] of [
    ['00%', ['100% zeker']],
    ['A_B', ['a_b']],
    ['\\MA', ['C:\\map']],
    ['één', ['Één']],
  ] as const) {
    const { body } = await test.call('GET', `${EIO}?titel=${encodeURIComponent(titel)}`)
    t.same(
      body.results.map((one: { titel: string }) => one.titel),
      expected,
      titel,
    )
  }
})
