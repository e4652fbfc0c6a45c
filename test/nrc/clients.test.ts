// What programs in use send to a notifications service, in their order: the public test collection of the standard, and those
// that register kanalen and abonnementen by themselves.
import t from 'tap'
import { filters, KANALEN } from '../../src/notificaties/kanalen.ts'
import { givenClient } from '../app.ts'
import { faultsOf } from '../zaken/given.ts'
import { API, builtIn, real } from './given.ts'
import { subscriber } from './subscriber.ts'

const test = await builtIn(t)
const scopes = ['notificaties.consumeren', 'notificaties.publiceren']
const as = await givenClient(test, 'openzaak', [{ component: 'nrc', scopes }])
const call = (method: string, url: string, body?: object) => test.call(method, url, body, { as })

t.test('the collection: a kanaal when it is not there, and a message on it', async (t) => {
  t.strictSame((await call('GET', `${API}/kanaal?naam=testkanaal`)).body, [])
  const kanaal = { naam: 'testkanaal', documentatieLink: 'https://example.com', filters: [] }
  const made = await call('POST', `${API}/kanaal`, kanaal)
  t.strictSame([made.status, made.body], [201, { url: made.body.url, ...kanaal }])
  t.strictSame((await call('GET', `${API}/kanaal?naam=testkanaal`)).body, [made.body])
  t.equal((await call('GET', made.body.url)).status, 200)
  const message = {
    kanaal: 'testkanaal',
    hoofdObject: 'https://example.com',
    resource: 'test',
    resourceUrl: 'https://example.com',
    actie: 'CREATE',
    aanmaakdatum: '2019-01-01T12:00:00Z',
    kenmerken: {},
  }
  const published = await call('POST', `${API}/notificaties`, message)
  t.strictSame([published.status, published.body], [201, message])
})

t.test('the collection: an abonnement is made, read, replaced, changed and ended', async (t) => {
  t.strictSame((await call('GET', `${API}/abonnement`)).body, [])
  const { url: callbackUrl } = await subscriber(t, { auth: 'Bearer token' })
  const body = { callbackUrl, auth: 'Bearer token', kanalen: [{ filters: {}, naam: 'zaken' }] }
  const made = await call('POST', `${API}/abonnement`, body)
  t.equal(made.status, 201, made.text)
  const { url } = made.body
  t.equal((await call('GET', url)).status, 200)
  for (const [method, naam, rest] of [
    ['PUT', 'documenten', body],
    ['PATCH', 'zaken', {}],
  ] as const) {
    const changed = await call(method, url, { ...rest, kanalen: [{ naam, filters: {} }] })
    t.strictSame([changed.status, changed.body.kanalen], [200, [{ naam, filters: {} }]], method)
  }
  t.equal((await call('DELETE', url)).status, 204)
  t.equal((await call('GET', url)).status, 404)
})

t.test('another case service registers the kanalen that are ours, as often as it likes', async (t) => {
  for (const kanaal of [...KANALEN, ...KANALEN]) {
    const [found] = (await call('GET', `${API}/kanaal?naam=${kanaal.naam}`)).body
    const data = {
      naam: kanaal.naam,
      documentatieLink: `http://openzaak:8000/ref/kanalen/#${kanaal.naam}`,
      filters: filters(kanaal),
    }
    const changed = await call('PUT', found.url, data)
    t.strictSame([changed.status, changed.body], [200, { url: found.url, ...data }], kanaal.naam)
  }
})

t.test('an older version of it cannot take away a kenmerk that we publish', async (t) => {
  const [found] = (await call('GET', `${API}/kanaal?naam=zaken`)).body
  const older = found.filters.filter((naam: string) => !naam.includes('.'))
  t.strictSame(faultsOf(await call('PUT', found.url, { naam: 'zaken', filters: older })), ['filters: invalid'])
  t.strictSame((await call('GET', found.url)).body, found)
})

t.test('a registered callback gets messages as they were published, and those of applicaties', async (t) => {
  const auth = 'Bearer eyJhbGciOiJIUzI1NiJ9.eyJjbGllbnRfaWQiOiJ6YWMifQ.c2lnbmF0dXJl'
  const { url: callbackUrl, received } = await subscriber(t, { auth })
  const kanalen = ['zaken', 'autorisaties'].map((naam) => ({ naam, filters: {} }))
  const { url } = (await call('POST', `${API}/abonnement`, { callbackUrl, auth, kanalen })).body
  const message = {
    kanaal: 'zaken',
    source: 'zaken.example',
    hoofdObject: 'http://zaken:8000/zaken/api/v1/zaken/1',
    resource: 'status',
    resourceUrl: 'http://zaken:8000/zaken/api/v1/statussen/2',
    actie: 'create',
    aanmaakdatum: '2025-01-01T12:00:00.123456+01:00',
    kenmerken: {
      bronorganisatie: '517439943',
      zaaktype: 'https://x.example/1',
      vertrouwelijkheidaanduiding: 'openbaar',
    },
  }
  t.equal((await call('POST', `${API}/notificaties`, message)).status, 201)
  const applicatie = { clientIds: ['nieuw'], label: 'Nieuw', heeftAlleAutorisaties: true }
  t.equal((await test.call('POST', '/autorisaties/api/v1/applicaties', applicatie)).status, 201)
  await test.runJobs()
  const came = real(received).sort((a, b) => a.body.kanaal.localeCompare(b.body.kanaal))
  t.match(came, [
    { body: { kanaal: 'autorisaties', resource: 'applicatie', actie: 'create' } },
    { body: { kanaal: 'zaken' } },
  ])
  t.same(came[1]?.body, message)
  t.match(came[1]?.headers, { 'content-type': 'application/json', authorization: auth })
  await call('DELETE', url)
})

t.test('a process engine makes a kanaal of a name alone, and finds itself by its own header', async (t) => {
  const made = await call('POST', `${API}/kanaal`, { naam: 'objecten' })
  t.strictSame([made.status, made.body.filters], [201, []])
  const auth = Buffer.alloc(32, 7).toString('base64')
  const { url: callbackUrl } = await subscriber(t, { auth, status: 200 })
  const subscribed = await call('POST', `${API}/abonnement`, { callbackUrl, auth, kanalen: [{ naam: 'objecten' }] })
  t.equal(subscribed.status, 201, subscribed.text)
  t.notOk('auth' in subscribed.body, 'what is shown would be taken for the key')
})

t.test('what may not be answers before what is wrong', async (t) => {
  const publiceren = await givenClient(test, 'uitgever', [{ component: 'nrc', scopes: ['notificaties.publiceren'] }])
  const consumeren = await givenClient(test, 'consument', [{ component: 'nrc', scopes: ['notificaties.consumeren'] }])
  for (const [path, may, mayNot] of [
    ['abonnement', consumeren, publiceren],
    ['kanaal', publiceren, consumeren],
    ['notificaties', publiceren, consumeren],
  ] as const) {
    t.equal((await test.call('POST', `${API}/${path}`, undefined, { as: mayNot })).status, 403, path)
    t.equal((await test.call('POST', `${API}/${path}`, undefined, { as: may })).status, 400, path)
  }
})
