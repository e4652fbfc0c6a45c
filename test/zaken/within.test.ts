import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { LIMITS } from '../../src/core/limits.ts'
import type { Point } from '../../src/zaken/zaak/geometry.ts'
import { givenZaaktype, testApp } from '../app.ts'
import { CRS, faultsOf, givenZaak, ZAKEN, zaakBody } from './given.ts'

const test = await testApp(t)
const { call, database } = test
const zaaktype = await givenZaaktype(test)
const search = (within: object) => call('POST', `${ZAKEN}/zaken/_zoek`, { zaakgeometrie: { within } }, CRS)
/** So many points in a case. */
const points = (many: number, of = (n: number): Point => [n / 1000, 1]) => ({
  type: 'MultiPoint',
  coordinates: Array.from({ length: many }, (_, n) => of(n)),
})

t.test('a geometry of more than 64 kB is refused, and one below it is kept', async (t) => {
  const create = (zaakgeometrie: object) => call('POST', `${ZAKEN}/zaken`, zaakBody(zaaktype, { zaakgeometrie }), CRS)
  t.same(faultsOf(await create(points(10_000))), ['zaakgeometrie: max_length'])
  const large = await create(points(5000))
  t.equal(large.status, 201)
  t.same(faultsOf(await call('PATCH', large.body.url, { zaakgeometrie: points(10_000) }, CRS)), [
    'zaakgeometrie: max_length',
  ])
  const listed = await call('GET', `${ZAKEN}/zaken?pageSize=500`, undefined, CRS)
  t.same(listed.body.results[0].zaakgeometrie, large.body.zaakgeometrie, 'a list shows it too')
  t.same(Object.keys(listed.body.results[0]), Object.keys((await call('GET', large.body.url, undefined, CRS)).body))
  await call('DELETE', large.body.url)
})

t.test('cases within the outline of a province are found, and no others', async (t) => {
  const { uuid } = await givenZaak(test, { zaaktype })
  await database.sql`
    insert into zaak (identificatie, bronorganisatie, verantwoordelijke_organisatie, zaaktype_id, startdatum,
      vertrouwelijkheidaanduiding, zaakgeometrie, zaakgeometrie_grenzen)
    select 'P-' || x || '-' || y, z.bronorganisatie, z.verantwoordelijke_organisatie, z.zaaktype_id, z.startdatum,
      z.vertrouwelijkheidaanduiding,
      jsonb_build_object('type', 'Point', 'coordinates', jsonb_build_array(4 + x / 30.0, 51 + y / 30.0)),
      box(point(4 + x / 30.0, 51 + y / 30.0), point(4 + x / 30.0, 51 + y / 30.0))
    from zaak z, generate_series(0, 60) x, generate_series(0, 60) y where z.uuid = ${uuid}`
  const ring = Array.from({ length: 5000 }, (_, n): Point => {
    const angle = (2 * Math.PI * n) / 5000
    return [5 + 1.01 * Math.cos(angle), 52 + 1.01 * Math.sin(angle)]
  })
  const found = await search({ type: 'Polygon', coordinates: [[...ring, ring[0]!]] })
  let expected = 0
  for (let x = 0; x <= 60; x++) for (let y = 0; y <= 60; y++) if (Math.hypot(x / 30 - 1, y / 30 - 1) < 1.01) expected++
  t.equal(found.status, 200, found.text.slice(0, 200))
  t.equal(found.body.count, expected)
})

t.test('points and other geometries are found together, the newest first', async (t) => {
  const inside: string[] = []
  const given: [geometrie: object, lies: boolean][] = [
    [{ type: 'Point', coordinates: [10.5, 10.5] }, true],
    [points(2, (n) => [10.2 + n / 10, 10.2]), true],
    [{ type: 'Point', coordinates: [10, 10.5] }, false], // on the edge
    [points(2, (n) => [10.5 + n, 10.5]), false],
    [{ type: 'Point', coordinates: [10.7, 10.1] }, true],
  ]
  for (const [zaakgeometrie, lies] of given) {
    const { url } = await givenZaak(test, { zaaktype, zaakgeometrie })
    if (lies) inside.unshift(url)
  }
  const ring = (edges: number) => {
    const side = Array.from({ length: edges }, (_, n) => n / edges)
    const corners = [
      ...side.map((at) => [10 + at, 10]),
      ...side.map((at) => [11, 10 + at]),
      ...side.map((at) => [11 - at, 11]),
      ...side.map((at) => [10, 11 - at]),
    ]
    return { type: 'Polygon', coordinates: [[...corners, corners[0]]] }
  }
  for (const area of [ring(1), ring(200)]) {
    const found: string[] = []
    for (const page of [1, 2]) {
      const body = { zaakgeometrie: { within: area } }
      const answer = await call('POST', `${ZAKEN}/zaken/_zoek?pageSize=2&page=${page}`, body, CRS)
      t.equal(answer.body.count, 3, answer.text.slice(0, 200))
      found.push(...answer.body.results.map(({ url }: { url: string }) => url))
    }
    t.same(found, inside)
    const ordered = { zaakgeometrie: { within: area }, ordering: ['identificatie'] }
    const { body } = await call('POST', `${ZAKEN}/zaken/_zoek`, ordered, CRS)
    t.same(
      body.results.map(({ url }: { url: string }) => url),
      inside.toReversed(),
    )
  }
})

t.test('an area that takes too much work is 400 with the limit, and others are answered meanwhile', async (t) => {
  for (let n = 0; n < 3; n++)
    await givenZaak(test, { zaaktype, zaakgeometrie: points(4000, (n): Point => [-0.5, (100 + n) / 1000]) })
  const teeth = Array.from({ length: 30_000 }, (_, n): Point => [n / 1000, n % 2 ? 10 : 0])
  const others: number[] = []
  const answer = search({ type: 'Polygon', coordinates: [[...teeth, [30, -1], [-1, -1], [-1, 10], teeth[0]!]] })
  let ended = false
  answer.finally(() => {
    ended = true
  })
  while (!ended) {
    others.push((await call('GET', '/livez')).status)
    await sleep(1) // not as often as can be: the search is to be done too
  }
  const refused = await answer
  t.same(faultsOf(refused), ['zaakgeometrie.within: invalid'])
  t.match(refused.body.invalidParams[0].reason, new RegExp(`${LIMITS.segments}`))
  t.same([...new Set(others)], [200])
  t.ok(others.length > 5, `${others.length} other requests were answered`)
})
