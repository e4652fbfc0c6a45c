// It starts and stops a database.
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { migrate } from '../../src/database/migrate.ts'
import { testApp } from '../app.ts'
import { ownServer } from '../database/own-server.ts'
import { until } from '../until.ts'

const CATALOGUSSEN = '/catalogi/api/v1/catalogussen'
const UUID = '00000000-0000-4000-8000-000000000000'

t.test('every refusal is problem+json in the shape of the standard', async (t) => {
  const test = await testApp(t)
  const refused: [string, () => ReturnType<typeof test.call>, number, string][] = [
    ['an unknown path', () => test.call('GET', '/nergens'), 404, 'not_found'],
    ['a trailing slash', () => test.call('GET', `${CATALOGUSSEN}/`), 404, 'not_found'],
    ['an unknown uuid', () => test.call('GET', `${CATALOGUSSEN}/${UUID}`), 404, 'not_found'],
    ['a malformed uuid', () => test.call('GET', `${CATALOGUSSEN}/1`), 404, 'not_found'],
    ['NUL in the path', () => test.call('GET', `${CATALOGUSSEN}/%00`), 404, 'not_found'],
    ['broken percent-encoding', () => test.call('GET', `${CATALOGUSSEN}/%zz`), 400, 'parse_error'],
    ['a segment that is too long', () => test.call('GET', `${CATALOGUSSEN}/${'a'.repeat(8000)}`), 414, 'uri_too_long'],
    ['a wrong method', () => test.call('DELETE', CATALOGUSSEN), 405, 'method_not_allowed'],
    [
      'JSON that breaks off',
      () => test.call('POST', CATALOGUSSEN, '{"domein":', { headers: { 'content-type': 'application/json' } }),
      400,
      'parse_error',
    ],
    [
      'an empty body',
      () => test.call('POST', CATALOGUSSEN, '', { headers: { 'content-type': 'application/json' } }),
      400,
      'parse_error',
    ],
    [
      '__proto__ in the body',
      () =>
        test.call('POST', CATALOGUSSEN, '{"__proto__":{"x":1}}', { headers: { 'content-type': 'application/json' } }),
      400,
      'parse_error',
    ],
    ['a list as body', () => test.call('POST', CATALOGUSSEN, []), 400, 'invalid'],
    [
      'another content type',
      () => test.call('POST', CATALOGUSSEN, '<a/>', { headers: { 'content-type': 'text/xml' } }),
      415,
      'unsupported_media_type',
    ],
    [
      'a body that is too large',
      () => test.call('POST', CATALOGUSSEN, { naam: 'x'.repeat(9 * 1024 * 1024) }),
      413,
      'request_entity_too_large',
    ],
    ['an unknown parameter', () => test.call('GET', `${CATALOGUSSEN}?onbekend=1`), 400, 'invalid'],
    ['a page past the end', () => test.call('GET', `${CATALOGUSSEN}?page=2`), 404, 'not_found'],
    ['page 0', () => test.call('GET', `${CATALOGUSSEN}?page=0`), 404, 'not_found'],
    ['a page that is no number', () => test.call('GET', `${CATALOGUSSEN}?page=abc`), 404, 'not_found'],
  ]
  for (const [what, send, status, code] of refused) {
    t.test(`${what}: ${status} ${code}`, async (t) => {
      const answer = await send()
      t.match(answer, {
        status,
        body: {
          status,
          code,
          title: String,
          detail: String,
          type: /^http:\/\/localhost\/ref\/fouten\/\w+\/$/,
          instance: /^urn:uuid:[0-9a-f-]{36}$/,
        },
      })
      t.match(answer.headers, {
        'content-type': /^application\/problem\+json/,
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        'x-frame-options': 'DENY',
      })
      t.notMatch(answer.text, /\/src\/|node_modules|select |insert /i, 'nothing from inside')
      t.equal((await test.call('GET', new URL(answer.body.type).pathname)).status, 200, 'type points to a page')
    })
  }

  t.test('a wrong method is told which ones there are', async (t) => {
    t.equal((await test.call('DELETE', CATALOGUSSEN)).headers.allow, 'GET, HEAD, POST')
  })

  t.test('all faults of a body come at once, in the order of the contract', async (t) => {
    const { body } = await test.call('POST', CATALOGUSSEN, {
      domein: 'te lang',
      rsin: '12345678a',
      contactpersoonBeheerEmailadres: 'x',
      naam: 'n'.repeat(201),
    })
    t.same(
      body.invalidParams.map(({ name, code }: { name: string; code: string }) => `${name} ${code}`),
      [
        'domein max_length',
        'domein invalid',
        'rsin only-digits',
        'contactpersoonBeheerNaam required',
        'contactpersoonBeheerEmailadres invalid',
        'naam max_length',
      ],
    )
    t.equal((await test.database.sql`select from catalogus`).length, 0, 'and nothing is stored')
  })

  t.test('unknown and read-only names are left out, snake_case and numbers as text are taken', async (t) => {
    const { status, body } = await test.call('POST', CATALOGUSSEN, {
      domein: 'SNAKE',
      rsin: '000000000',
      contactpersoon_beheer_naam: 12,
      url: 'http://x',
      vreemd: true,
      versie: null,
    })
    t.match({ status, body }, { status: 201, body: { contactpersoonBeheerNaam: '12', versie: '' } })
    t.not(body.url, 'http://x')
    t.notOk('vreemd' in body)
  })

  t.test('a rule that the database keeps is answered as its rule', async (t) => {
    const body = { domein: 'DUBB', rsin: '000000000', contactpersoonBeheerNaam: 'x' }
    const answers = await Promise.all(Array.from({ length: 10 }, () => test.call('POST', CATALOGUSSEN, body)))
    t.equal(answers.filter(({ status }) => status === 201).length, 1)
    for (const { status, body } of answers.filter(({ status }) => status !== 201)) {
      t.match({ status, body }, { status: 400, body: { invalidParams: [{ name: 'nonFieldErrors', code: 'unique' }] } })
    }
  })

  t.test('NUL and half surrogates in text are refused, any other text comes back as it was', async (t) => {
    const send = (naam: string) =>
      test.call(
        'POST',
        CATALOGUSSEN,
        JSON.stringify({ domein: 'A', rsin: '000000000', contactpersoonBeheerNaam: naam }),
        { headers: { 'content-type': 'application/json' } },
      )
    for (const text of ['a\0b', '\ud800'])
      t.match(await send(text), {
        status: 400,
        body: { invalidParams: [{ name: 'contactpersoonBeheerNaam', code: 'invalid' }] },
      })
    const strange = "‮\u2028 <script>' OR 1=1 -- 😀 Ṱ̺o͞"
    t.equal((await send(strange)).body.contactpersoonBeheerNaam, strange)
  })

  t.test('links follow a local Host only', async (t) => {
    const url = async (host: string) =>
      (await test.call('GET', CATALOGUSSEN, undefined, { headers: { host } })).body.results[0].url
    t.match(await url('127.0.0.1:9999'), /^http:\/\/127\.0\.0\.1:9999\//)
    t.notMatch(await url('kwaad.example'), /kwaad/)
  })
})

t.test('what is no HTTP at all gets problem+json too, and the next request is served', async (t) => {
  const { app } = await testApp(t)
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = new URL(address)
  for (const [text, status] of [
    ['geen http\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
    ['POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
    ['GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n', 400],
  ] as const) {
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(text)
    let answer = ''
    socket.on('data', (chunk) => (answer += chunk))
    await once(socket, 'close')
    t.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `))
    t.match(answer, /application\/problem\+json/)
    t.equal((await fetch(`${address}/livez`)).status, 200)
  }
})

t.test('a route that declares no access stops the start', async (t) => {
  const { app } = await testApp(t)
  t.throws(() => app.get('/open', async () => 'x'), /declares no access/)
})

t.test(
  'a database that stops gives 503 with Retry-After within seconds, and is used again when it is back',
  async (t) => {
    const server = await ownServer(t)
    await migrate(server.url)
    const test = await testApp(t, { DATABASE_URL: server.url })
    t.equal((await test.call('GET', CATALOGUSSEN)).status, 200)
    await server.stop()
    const answer = await test.call('GET', CATALOGUSSEN)
    t.match(answer, { status: 503, headers: { 'retry-after': String }, body: { code: 'service_unavailable' } })
    t.equal(
      (await test.call('POST', CATALOGUSSEN, { domein: 'A', rsin: '000000000', contactpersoonBeheerNaam: 'x' })).status,
      503,
    )
    t.equal((await test.call('GET', '/livez')).status, 200)
    t.match(await test.call('GET', '/readyz'), { status: 503, body: { checks: { database: { status: 'failed' } } } })
    await server.start()
    await until('the database', async () => (await test.call('GET', CATALOGUSSEN)).status !== 503)
    t.match(await test.call('GET', CATALOGUSSEN), { status: 200, body: { count: 0 } })
    await until('ready again', async () => (await test.call('GET', '/readyz')).status === 200)
  },
)

t.test('/readyz asks what it tells of once a second, however many want to know', async (t) => {
  const test = await testApp(t)
  let asked = 0
  const { store } = test.parts
  const { check } = store
  store.check = () => {
    asked++
    return check.call(store)
  }
  const answers = await Promise.all(Array.from({ length: 20 }, () => test.call('GET', '/readyz')))
  t.same([...new Set(answers.map(({ status }) => status))], [200])
  t.equal(asked, 1)
  await until('the next time', async () => {
    t.equal((await test.call('GET', '/readyz')).status, 200)
    return asked > 1
  })
  t.equal(asked, 2, 'and again later')
})
