// Scripts of another origin: who may read an answer, and what a preflight says.
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { testApp } from '../app.ts'

const ZAKEN = '/zaken/api/v1/zaken'
const HEADERS = { host: 'localhost', 'accept-crs': 'EPSG:4326' }
const ORIGIN = 'https://portaal.example.nl'
const preflightOf = (origin: string) => ({
  ...HEADERS,
  origin,
  'access-control-request-method': 'PATCH',
  'access-control-request-headers': 'authorization,content-crs',
})
const corsOf = (headers: Record<string, unknown>) => Object.keys(headers).filter((name) => /^access-control/.test(name))

t.test('without the setting no other origin may read an answer, and a preflight is 405', async (t) => {
  const { app, call } = await testApp(t)
  const answer = await call('GET', ZAKEN, undefined, { headers: { ...HEADERS, origin: ORIGIN } })
  t.equal(answer.status, 200)
  t.same(corsOf(answer.headers), [])
  const preflight = await app.inject({ method: 'OPTIONS', url: ZAKEN, headers: preflightOf(ORIGIN) })
  t.equal(preflight.statusCode, 405)
  t.same(corsOf(preflight.headers), [])
})

t.test('origins that are named', async (t) => {
  const { app, call } = await testApp(t, { CORS_ALLOWED_ORIGINS: `${ORIGIN}:443, http://localhost:3000` })

  await t.test('a preflight is answered without a token', async (t) => {
    const preflight = await app.inject({ method: 'OPTIONS', url: ZAKEN, headers: preflightOf(ORIGIN) })
    t.equal(preflight.statusCode, 204)
    t.match(preflight.headers, {
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-methods': /PATCH/,
      'access-control-allow-headers': 'authorization,content-crs',
      vary: /Origin/,
    })
    t.notOk('access-control-allow-credentials' in preflight.headers)
  })

  await t.test('a script reads the answer, with the headers that clients need', async (t) => {
    const answer = await call('GET', ZAKEN, undefined, { headers: { ...HEADERS, origin: 'http://localhost:3000' } })
    t.equal(answer.status, 200)
    t.equal(answer.headers['access-control-allow-origin'], 'http://localhost:3000')
    for (const name of ['ETag', 'Location', 'API-version', 'Content-Crs'])
      t.match(answer.headers['access-control-expose-headers'], name)
    t.notOk('access-control-allow-credentials' in answer.headers)
  })

  await t.test('a script reads why it was refused', async (t) => {
    const answer = await app.inject({ url: ZAKEN, headers: { ...HEADERS, origin: ORIGIN } })
    t.equal(answer.statusCode, 403)
    t.equal(answer.headers['access-control-allow-origin'], ORIGIN)
  })

  await t.test('an origin that only looks like one of them is not let in', async (t) => {
    for (const origin of [`${ORIGIN}.evil.nl`, `${ORIGIN}:8443`, 'http://portaal.example.nl', 'null']) {
      const preflight = await app.inject({ method: 'OPTIONS', url: ZAKEN, headers: preflightOf(origin) })
      t.notOk('access-control-allow-origin' in preflight.headers, origin)
      const answer = await call('GET', ZAKEN, undefined, { headers: { ...HEADERS, origin } })
      t.notOk('access-control-allow-origin' in answer.headers, origin)
    }
  })

  await t.test('OPTIONS that is no preflight is 405, and the pages are for nobody else', async (t) => {
    const options = await app.inject({ method: 'OPTIONS', url: ZAKEN, headers: HEADERS })
    t.equal(options.statusCode, 405)
    const page = await app.inject({ url: '/beheer/inloggen', headers: { ...HEADERS, origin: ORIGIN } })
    t.same(corsOf(page.headers), [])
    const preflight = await app.inject({ method: 'OPTIONS', url: '/beheer/inloggen', headers: preflightOf(ORIGIN) })
    t.same(corsOf(preflight.headers), [])
    const broken = await app.inject({
      method: 'OPTIONS',
      url: ZAKEN,
      headers: { ...HEADERS, 'content-type': 'application/json' },
      payload: '{"a":1,}',
    })
    t.equal(broken.statusCode, 400)
    t.match(broken.headers['content-type'], /problem\+json/, 'also with a body that is none')
  })
})

t.test('a script reads why a connection was refused', async (t) => {
  const { app } = await testApp(t, { CORS_ALLOWED_ORIGINS: ORIGIN })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as { port: number }
  const answerTo = async (...headers: string[]) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(['GET / HTTP/1.1', 'host: localhost', ...headers, '', ''].join('\r\n'))
    return text(socket)
  }
  t.match(await answerTo(`Origin: ${ORIGIN}`, 'no header'), `\r\naccess-control-allow-origin: ${ORIGIN}\r\n`)
  t.notMatch(await answerTo('Origin: https://elders.example', 'no header'), 'access-control')
  t.match(
    await answerTo(`Origin: ${ORIGIN}`, `x: ${'x'.repeat(20_000)}`),
    /^HTTP\/1.1 431[\s\S]*access-control-allow-origin/,
  )
})

t.test('* lets every origin in, without credentials', async (t) => {
  const { app } = await testApp(t, { CORS_ALLOWED_ORIGINS: '*' })
  const preflight = await app.inject({ method: 'OPTIONS', url: ZAKEN, headers: preflightOf(ORIGIN) })
  t.equal(preflight.headers['access-control-allow-origin'], '*')
  t.notOk('access-control-allow-credentials' in preflight.headers)
})
