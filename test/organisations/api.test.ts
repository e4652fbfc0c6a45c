// One api for many organisations: the host says which, and what a request uses is that of it alone.
import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { withSchema } from '../../src/database/schema.ts'
import { currentRequest } from '../../src/telemetry/current-request.ts'
import { register } from '../../src/telemetry/metrics.ts'
import { SECRET } from '../app.ts'
import { frozenProxy } from '../database/frozen-proxy.ts'
import { testDatabase } from '../setup.ts'
import { until } from '../until.ts'
import { keysOf, many, prepareOrganisation, ringOf } from './api-many.ts'

const [A, B] = ['zaken.a.nl', 'zaken.b.nl']
const CATALOGUSSEN = '/catalogi/api/v1/catalogussen'
const catalogus = { domein: 'ABC', rsin: '000000000', contactpersoonBeheerNaam: 'van A' }

// Both schemas are made once: each test has an application of its own.
const { url } = await testDatabase(t)
const two = [
  { host: A, schema: 'zaakstroom' },
  { host: B, schema: 'gemeente_b' },
]
for (const [n, { schema }] of two.entries()) await prepareOrganisation(withSchema(url, schema), ringOf(keysOf(n)))
const given = (t: Parameters<typeof many>[0], env: Record<string, string> = {}, quietMs?: number) =>
  many(t, two, { url, env, isPrepared: true, ...(quietMs !== undefined && { quietMs }) })

t.test('the host says which organisation', async (t) => {
  const { call, lines, parts } = await given(t)
  t.same(parts.organisations.figures(), { open: 0, away: 0 }, 'nothing is opened before somebody asks')
  t.equal((await call(A, 'GET', CATALOGUSSEN)).status, 200)
  t.same(parts.organisations.figures(), { open: 1, away: 0 })
  const made = await call(A, 'POST', CATALOGUSSEN, { body: catalogus })
  t.equal(made.status, 201, made.text)
  t.match(made.body.url, /^https:\/\/zaken\.a\.nl\/catalogi/, 'links have its own address')
  t.equal((await call(B, 'GET', made.body.url)).status, 404)
  t.equal((await call(B, 'GET', CATALOGUSSEN)).body.count, 0)
  t.equal((await call('ZAKEN.A.NL.:8443', 'GET', made.body.url)).status, 200, 'in any case, with a port and a dot')
  const said = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'request')
  t.same(
    new Set(said.map(({ organisation }) => organisation)),
    new Set(['000000001', '000000002']),
    'the log tells which',
  )
  const metrics = await register.getSingleMetricAsString('zaakstroom_organisation_request_duration_seconds')
  t.match(metrics, /organisation="000000002",outcome="4xx"\} 1/)
})

t.test('a host of nobody has nothing, and says nothing', async (t) => {
  const { call } = await given(t)
  const plain = ({ status, headers, text }: Awaited<ReturnType<typeof call>>) => ({
    status,
    headers: { ...headers, 'x-request-id': '', date: '', 'content-length': '' },
    text: text.replace(/https:\/\/zaken\.a\.nl/g, '').replace(/urn:uuid:[\da-f-]{36}/, ''),
  })
  const known = plain(await call(A, 'GET', '/is-er-niet'))
  t.equal(known.status, 404)
  for (const [method, path, as] of [
    ['GET', '/is-er-niet', 'beheer'],
    ['GET', CATALOGUSSEN, 'beheer'],
    ['GET', CATALOGUSSEN, ''],
    ['POST', CATALOGUSSEN, 'beheer'],
    ['GET', '/beheer/', ''],
    ['GET', '/', ''],
    ['GET', '/catalogi/api/v1/openapi.json', ''],
  ] as const)
    t.same(
      { ...plain(await call('elders.nl', method, path, { as })), headers: undefined },
      { ...known, headers: undefined },
      `${method} ${path}`,
    )
  const unknown = plain(await call('elders.nl', 'GET', '/is-er-niet'))
  delete (known.headers as Record<string, unknown>)['strict-transport-security'] // of its own address
  t.same(unknown.headers, known.headers)
  for (const path of ['/livez', '/readyz', '/_healthz/'])
    t.match(await call('elders.nl', 'GET', path), { status: 200, body: { status: 'ok' } }, path)
  t.same((await call('elders.nl', 'GET', '/readyz')).body, {
    status: 'ok',
    checks: { organisations: { status: 'ok' } },
  })
})

t.test('X-Forwarded-Host counts from a trusted proxy alone', async (t) => {
  const { call } = await given(t, { TRUST_PROXY: '10.0.0.0/8' })
  const headers = { 'x-forwarded-host': B }
  t.equal((await call('intern', 'GET', CATALOGUSSEN, { headers, remoteAddress: '10.1.2.3' })).status, 200)
  t.equal((await call('intern', 'GET', CATALOGUSSEN, { headers, remoteAddress: '192.0.2.1' })).status, 404)
  const own = await call(A, 'GET', '/beheer/inloggen', { headers, remoteAddress: '192.0.2.1' })
  t.equal(own.status, 200, 'of anybody else it is not looked at')
})

t.test('one that is suspended, read-only or on its way says so', async (t) => {
  const { call, change, parts } = await given(t)
  const is = async (state: 'active' | 'suspended' | 'read-only' | 'moving') => {
    await change(B, { state })
    await until(state, async () => parts.organisations.find(B)?.state === state)
  }
  await is('suspended')
  for (const path of [CATALOGUSSEN, '/is-er-niet', '/beheer/', '/'])
    t.match(await call(B, 'GET', path), { status: 503, body: { code: 'organisation-suspended' } }, path)
  t.equal((await call(A, 'GET', CATALOGUSSEN)).status, 200, 'another goes on')
  t.equal((await call(B, 'GET', '/livez')).status, 200)
  await is('moving')
  t.match(await call(B, 'GET', CATALOGUSSEN), { status: 503, headers: { 'retry-after': '1' } })
  await is('read-only')
  t.equal((await call(B, 'GET', CATALOGUSSEN)).status, 200)
  t.match(await call(B, 'POST', CATALOGUSSEN, { body: catalogus }), {
    status: 503,
    headers: { 'retry-after': '60' },
    body: { code: 'organisation-read-only' },
  })
  t.equal((await call(B, 'GET', CATALOGUSSEN)).body.count, 0)
  await is('active')
  await until('it takes changes', async () => (await call(B, 'POST', CATALOGUSSEN, { body: {} })).status === 400)
})

t.test('what is open of an organisation is closed when it is quiet, moved or removed', async (t) => {
  const { call, change, parts } = await given(t, {}, 3_000)
  await call(A, 'GET', CATALOGUSSEN)
  await Promise.all(Array.from({ length: 5 }, () => call(B, 'GET', CATALOGUSSEN)))
  t.equal(parts.organisations.figures().open, 2)
  await until('both are closed', () => parts.organisations.figures().open === 0)
  t.equal((await call(A, 'GET', CATALOGUSSEN)).status, 200, 'it is opened again')
  await change(B, { hosts: ['nieuw.b.nl'] })
  await until('the new host', async () => (await call('nieuw.b.nl', 'GET', CATALOGUSSEN)).status === 200)
  t.equal((await call(B, 'GET', CATALOGUSSEN)).status, 404)
})

t.test('a database that is away takes only its own organisation along', async (t) => {
  const proxy = await frozenProxy(t, url)
  const { call, parts } = await many(t, [two[0]!, { ...two[1]!, databaseUrl: proxy.url }], { url, isPrepared: true })
  proxy.freeze()
  const began = performance.now()
  const waiting = call(B, 'GET', CATALOGUSSEN)
  for (let times = 0; times < 20; times++) t.equal((await call(A, 'GET', CATALOGUSSEN)).status, 200)
  t.match(await waiting, { status: 503, headers: { 'retry-after': '1' } })
  t.ok(performance.now() - began < 8_000, 'it waits a few seconds')
  const again = performance.now()
  t.equal((await call(B, 'GET', CATALOGUSSEN)).status, 503)
  t.ok(performance.now() - again < 500, 'and who comes later does not wait')
  t.equal((await call(A, 'GET', '/readyz')).status, 200)
  proxy.thaw()
  await until('it is back', async () => (await call(B, 'GET', CATALOGUSSEN)).status === 200)
  t.match(parts.organisations.figures(), { open: 2, away: 0 })
})

t.test('an organisation has so many requests at once', async (t) => {
  const { call, change } = await given(t)
  await change(B, { limits: { requests: 2 } })
  await until('it counts', async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => call(B, 'GET', CATALOGUSSEN)))
    return answers.filter(({ status, headers }) => status === 503 && headers['retry-after'] === '1').length === 2
  })
  const others = await Promise.all(Array.from({ length: 4 }, () => call(A, 'GET', CATALOGUSSEN)))
  t.ok(others.every(({ status }) => status === 200))
})

t.test('what asks for the parts of an organisation outside of a request finds none', async (t) => {
  const { app } = await given(t)
  t.equal(currentRequest.getStore(), undefined)
  for (const ask of [
    () => app.parts.config.publicUrl,
    () => app.reader.sql,
    () => app.read.selectFrom('zaak'),
    () => app.mutate({} as never, async () => {}),
    () => app.parts.storeFor('filesystem'),
    () => app.parts.box.numbers,
  ])
    t.throws(ask, /nothing says to which/)
})

t.test('a token endpoint is that of the host, and its tokens are good there alone', async (t) => {
  const settings = { TOKEN_ENDPOINT: 'ES256' }
  await prepareOrganisation(withSchema(url, 'c'), ringOf(keysOf(2)))
  const { call } = await many(
    t,
    [
      { ...two[0]!, settings },
      { ...two[1]!, settings },
      { host: 'c.nl', schema: 'c' },
    ],
    {
      url,
      isPrepared: true,
    },
  )
  const discovery = '/.well-known/openid-configuration'
  t.match((await call(B, 'GET', discovery)).body, { issuer: `https://${B}` })
  t.equal((await call('c.nl', 'GET', discovery, { as: '' })).status, 404, 'where it is off there is nothing')
  const form = { grant_type: 'client_credentials', client_id: 'beheer', client_secret: SECRET }
  const grant = await call(B, 'POST', '/oauth/token', {
    as: '',
    form,
  })
  t.equal(grant.status, 200, grant.text)
  const headers = { authorization: `Bearer ${grant.body.access_token}` }
  t.equal((await call(B, 'GET', CATALOGUSSEN, { headers })).status, 200)
  t.match(await call(A, 'GET', CATALOGUSSEN, { headers }), { status: 403, body: { code: 'unknown-issuer' } })
  const unknown = signToken('wie', SECRET)
  t.equal((await call(A, 'GET', CATALOGUSSEN, { headers: { authorization: `Bearer ${unknown}` } })).status, 403)
})
