import t from 'tap'
import { secretBox } from '../../src/core/secret-box.ts'
import { KANALEN, registerKanalen, testNotificatie } from '../../src/notificaties/kanalen.ts'
import { testApp } from '../app.ts'
import { configure, type Given, givenNotificaties } from './given.ts'

const partsOf = ({ database, config }: Pick<Given, 'database' | 'config'>) => ({
  database,
  config,
  box: secretBox(config.secretKey!),
})

t.test('channels that are not there are made, the others updated', async (t) => {
  const test = await givenNotificaties(t, {}, { PUBLIC_URL: 'https://zgw.example.nl' })
  const known = ['zaken']
  test.receiver.answer = (response, { path }, request) => {
    const naam = new URL(path, 'http://x').searchParams.get('naam')!
    const list = known.includes(naam) ? [{ url: `${test.receiver.root}kanaal/1`, naam }] : []
    response.writeHead(request.method === 'POST' ? 201 : 200).end(JSON.stringify(request.method === 'GET' ? list : {}))
  }
  const results = await registerKanalen(partsOf(test))
  t.same(
    results.map(({ naam, gelukt }) => [naam, gelukt]),
    KANALEN.map(({ naam }) => [naam, true]),
  )
  const written = test.receiver.received.filter(({ body }) => body.naam)
  t.equal(written.length, KANALEN.length)
  t.equal(test.receiver.received.filter(({ path }) => path === '/api/v1/kanaal/1').length, 1)
  t.match(
    written.find(({ body }) => body.naam === 'besluiten'),
    {
      path: '/api/v1/kanaal',
      body: {
        documentatieLink: 'https://zgw.example.nl/ref/kanalen/#besluiten',
        filters: ['verantwoordelijke_organisatie', 'besluittype', 'besluittype.catalogus'],
      },
    },
    'the receiver compares filters as they are registered: in snake_case',
  )
})

t.test('a channel that fails is said, and the others are still registered', async (t) => {
  const test = await givenNotificaties(t)
  test.receiver.answer = (response, { body }, request) =>
    response.writeHead(body.naam === 'zaken' ? 400 : 200).end(request.method === 'GET' ? '[]' : '{"fout":1}')
  const results = await registerKanalen(partsOf(test), ['zaken', 'documenten'])
  t.match(results, [
    { naam: 'zaken', gelukt: false, reden: 'het antwoord was 400: {"fout":1}' },
    { naam: 'documenten', gelukt: true },
  ])
})

t.test('our credentials are not sent to an address that the receiver makes up', async (t) => {
  const test = await givenNotificaties(t)
  test.receiver.answer = (response) =>
    response.end(JSON.stringify([{ naam: 'zaken', url: 'http://127.0.0.1:9/kanaal/1' }]))
  t.match(await registerKanalen(partsOf(test), ['zaken']), [{ gelukt: false, reden: /buiten haar API-root/ }])
})

t.test('the test says at which stage it fails', async (t) => {
  const test = await givenNotificaties(t)
  const outcomes = async (root: string, status = 201) => {
    test.receiver.answer = (response) => response.writeHead(status).end()
    await configure(test, root, {}, 1000)
    return (await testNotificatie(partsOf(test))).map(({ outcome }) => outcome).join(' ')
  }
  const { root } = test.receiver
  t.equal(await outcomes(root), 'ok ok skipped ok ok')
  t.equal(await outcomes(root, 400), 'ok ok skipped ok ok', 'there is no channel test, but we were recognised')
  t.equal(await outcomes(root, 403), 'ok ok skipped ok failed')
  t.equal(await outcomes(root, 500), 'ok ok skipped failed skipped')
  t.equal(await outcomes(root, 302), 'ok ok skipped failed skipped')
  t.equal(await outcomes(root.replace('http:', 'https:')), 'ok ok failed skipped skipped')
  t.equal(await outcomes('http://bestaat-niet.invalid/'), 'failed skipped skipped skipped skipped')
  for (const metadata of ['http://169.254.169.254/', 'http://[::ffff:169.254.169.254]/', 'http://[fe80::1]/'])
    t.equal(await outcomes(metadata), 'failed skipped skipped skipped skipped', `${metadata} is not even connected to`)
  await test.receiver.stop()
  t.equal(await outcomes(root), 'ok failed skipped skipped skipped')
})

t.test('without a service both say so', async (t) => {
  const test = await testApp(t)
  await t.rejects(registerKanalen(partsOf(test)), { message: 'no notifications service is configured' })
  await t.rejects(testNotificatie(partsOf(test)), { message: 'no notifications service is configured' })
})

t.test('the page that the registration refers to has an anchor for every channel, and needs no token', async (t) => {
  const { app } = await testApp(t)
  const { statusCode, body, headers } = await app.inject({ url: '/ref/kanalen/' })
  t.equal(statusCode, 200)
  t.match(headers['content-type'], 'text/html')
  for (const { naam } of KANALEN) t.match(body, `id="${naam}"`)
})
