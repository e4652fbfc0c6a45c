// Two organisations with the same rows (twins.ts). Every route that reads is asked at the host of each, in turn and at once, and nothing of
// the other comes: no byte, no count, no session. The routes are those that are registered.
import t from 'tap'
import { until } from '../until.ts'
import { A, B, givenTwins, headersOf, MARKS, type Which } from './twins.ts'

const { sql, made, routes, filled, within, call, change, parts } = await givenTwins(t)
const gets = [...routes].flatMap(([route, { access, isOfProcess }]) => {
  const [method, path = ''] = route.split(' ')
  return method === 'GET' && !isOfProcess && !path.includes('*') ? [{ path, isPage: access === 'beheer' }] : []
})
const ask = (host: string, { path, isPage }: (typeof gets)[number], n: Which) =>
  call(host, 'GET', filled(path), { as: isPage ? '' : 'beheer', headers: headersOf(isPage, n) })

t.ok(made.length >= 30 && gets.length > 150, `${made.length} resources, ${gets.length} routes`)

t.test('every route that reads gives what is of its host', async (t) => {
  const wrong: string[] = []
  let marked = 0
  let found = 0
  const judge = (what: string, n: Which, { status, text, headers }: Awaited<ReturnType<typeof call>>) => {
    const all = text + JSON.stringify(headers)
    const [own, other] = [MARKS[n], MARKS[1 - n]!]
    // The bytes of the documents are in the store of neither.
    if (status >= 500 && !what.endsWith('/download')) wrong.push(`${what} at ${n}: ${status} ${text.slice(0, 200)}`)
    if (all.includes(other))
      wrong.push(`${what} at ${n} shows the other: ${all.slice(all.indexOf(other) - 60, all.indexOf(other) + 20)}`)
    if (all.includes([A, B][1 - n]!)) wrong.push(`${what} at ${n} names the host of the other`)
    if (status === 200) found++
    if (text.includes(own)) marked++
  }
  for (const route of gets) {
    // The first fills whatever is kept in memory; then both at once.
    judge(route.path, 0, await ask(A, route, 0))
    const [b, a] = await Promise.all([ask(B, route, 1), ask(A, route, 0)])
    judge(route.path, 1, b)
    judge(route.path, 0, a)
    if (a.status !== b.status && !route.path.includes('klantcontacten'))
      wrong.push(`${route.path}: ${a.status} and ${b.status}`)
  }
  t.same(wrong, [])
  t.ok(found > 250 && marked > 120, `${found} answers of 200, ${marked} with a mark`)
})

t.test('counts are its own', async (t) => {
  const count = async (host: string) => (await call(host, 'GET', '/zaken/api/v1/klantcontacten')).body.count
  t.ok((await count(A)) > 0)
  t.equal(await count(B), 0)
})

t.test('what is kept of a type is that of its own organisation', async (t) => {
  // The same uuid, id and version: a case gets the confidentiality of its own type.
  const [type] = await sql<
    { uuid: string; id: number }[]
  >`select uuid, id from zaakstroom.zaaktype where not concept order by id limit 1`
  for (const [n, level] of ['zaakvertrouwelijk', 'geheim'].entries())
    await within(n as Which, `update zaaktype set vertrouwelijkheidaanduiding = '${level}' where id = ${type!.id}`)
  for (const times of [1, 2])
    for (const [host, level] of [
      [A, 'zaakvertrouwelijk'],
      [B, 'geheim'],
    ] as const) {
      const { body, text } = await call(host, 'POST', '/zaken/api/v1/zaken', {
        headers: { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' },
        body: {
          bronorganisatie: '517439943',
          verantwoordelijkeOrganisatie: '517439943',
          zaaktype: `https://${host}/catalogi/api/v1/zaaktypen/${type!.uuid}`,
          startdatum: '2026-03-02',
        },
      })
      t.equal(body.vertrouwelijkheidaanduiding, level, `${times}: ${text}`)
    }
})

t.test('a session, a key of a request and failures count at their own host', async (t) => {
  const at = (host: string, n: Which) => call(host, 'GET', '/beheer/', { as: '', headers: headersOf(true, n) })
  t.equal((await at(A, 0)).status, 200)
  t.equal((await at(B, 1)).status, 200)
  t.match(await at(B, 0), { status: 303, headers: { location: /^\/beheer\/inloggen/ } }, 'signed out')
  t.match(await at(A, 1), { status: 303 })
  const body = { domein: 'XYZ', rsin: '000000000', contactpersoonBeheerNaam: 'iemand' }
  const both = await Promise.all(
    [A, B].map((host) =>
      call(host, 'POST', '/catalogi/api/v1/catalogussen', { body, headers: { 'idempotency-key': 'dezelfde' } }),
    ),
  )
  t.same(
    both.map(({ status, headers }) => [status, headers['idempotency-replayed']]),
    [
      [201, undefined],
      [201, undefined],
    ],
  )
  const bad = { authorization: 'Bearer eyJhbGciOiJIUzI1NiJ9.eyJjbGllbnRfaWQiOiJiZWhlZXIifQ.x' }
  await until('A refuses to go on', async () => {
    const { status } = await call(A, 'GET', '/zaken/api/v1/zaken', { headers: bad })
    return status === 429 || status === 403
  })
  t.equal((await call(B, 'GET', '/zaken/api/v1/zaken', { headers: { 'accept-crs': 'EPSG:4326' } })).status, 200)
})

t.test('at a host of nobody every route is 404, and at a suspended one 503', async (t) => {
  await change(B, { state: 'suspended' })
  await until('suspended', () => parts.organisations.find(B)?.state === 'suspended')
  const wrong: string[] = []
  const bodies = new Set<string>()
  for (const route of routes.keys()) {
    const [method = '', path = ''] = route.split(' ')
    if (routes.get(route)!.isOfProcess || method === 'HEAD') continue
    const options = { headers: headersOf(false, 0), ...(method !== 'GET' && { body: {} }) }
    const nobody = await call('elders.nl', method, filled(path), options)
    bodies.add(nobody.text.replace(/urn:uuid:[\da-f-]{36}/, ''))
    if (nobody.status !== 404) wrong.push(`${route}: ${nobody.status}`)
    const suspended = await call(B, method, filled(path), options)
    if (suspended.status !== 503 || !suspended.text.includes('organisation-suspended'))
      wrong.push(`${route} suspended: ${suspended.status}`)
  }
  t.same(wrong, [])
  t.equal(bodies.size, 1, 'and nothing tells one route from another')
})
