// From a change to the subscribers of the notifications service that is built in.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { claim } from '../../src/notificaties/claims.ts'
import { deleteEndedAbonnementen } from '../../src/nrc/abonnement/write.ts'
import { ensureOwnKanalen } from '../../src/nrc/kanalen.ts'
import { givenZaaktype } from '../app.ts'
import { givenZaak } from '../zaken/given.ts'
import { API, builtIn, real, subscribe } from './given.ts'
import { subscriber } from './subscriber.ts'

t.test('a change reaches the abonnementen that want it, each once', async (t) => {
  const test = await builtIn(t)
  const type = await givenZaaktype(test)
  const all = await subscriber(t, { auth: 'x' })
  const twice = await subscriber(t, { auth: 'x' })
  const other = await subscriber(t, { auth: 'x' })
  await subscribe(test, all.url, [{ naam: 'zaken' }])
  await subscribe(test, twice.url, [
    { naam: 'zaken', filters: { zaaktype: type } },
    { naam: 'zaken', filters: { '#actie': 'create' } },
  ])
  await subscribe(test, other.url, [
    { naam: 'zaken', filters: { zaaktype: `${type.slice(0, -36)}${randomUUID()}` } },
    { naam: 'documenten' },
  ])

  const zaak = await givenZaak(test, { zaaktype: type })
  await test.runJobs()
  const [first] = real(all.received)
  t.match(first!.body, {
    kanaal: 'zaken',
    resource: 'zaak',
    actie: 'create',
    hoofdObject: zaak.url,
    kenmerken: { zaaktype: type },
  })
  t.match(first!.headers, { 'webhook-id': /^[0-9a-f-]{36}$/, 'webhook-timestamp': /^\d{10}$/, 'x-attempt': '1' })
  t.equal(real(twice.received).length, 1, 'two groups that fit are one delivery')
  t.strictSame(real(other.received), [])
  t.equal((await test.database.sql`select from delivery`).length, 0, 'nothing is left to do')
})

t.test('a message of another publisher is passed on as it was given', async (t) => {
  const test = await builtIn(t)
  const to = await subscriber(t, { auth: 'x' })
  await test.call('POST', `${API}/kanaal`, { naam: 'objecten', filters: ['object_type'] })
  await subscribe(test, to.url, [{ naam: 'objecten', filters: { objectType: 'a' } }])
  const message = {
    kanaal: 'objecten',
    source: 'objecten-api',
    hoofdObject: 'https://objecten.example/1',
    resource: 'object',
    resourceUrl: 'https://objecten.example/1',
    actie: 'create',
    aanmaakdatum: '2024-05-01T10:00:00.123456+02:00',
    kenmerken: { object_type: 'a', kleur: 'rood' },
  }
  t.equal((await test.call('POST', `${API}/notificaties`, message)).status, 201)
  t.equal((await test.call('POST', `${API}/notificaties`, { ...message, kenmerken: { object_type: 'b' } })).status, 201)
  await test.runJobs()
  t.strictSame(
    real(to.received).map(({ body }) => body),
    [message],
  )
})

t.test('a subscriber that fails keeps its messages, with the same id at the next attempt', async (t) => {
  const test = await builtIn(t)
  const good = await subscriber(t, { auth: 'x' })
  const bad = await subscriber(t, { auth: 'x' })
  await subscribe(test, good.url, [{ naam: 'zaken' }])
  await subscribe(test, bad.url, [{ naam: 'zaken' }])
  bad.answer.status = 500
  await givenZaak(test)
  await test.runJobs()
  t.equal(real(good.received).length, 1)
  const [left] = await test.database.sql`select status, retries from delivery`
  t.match(left, { status: 'gepland', retries: 1 })
  bad.answer.status = 204
  await test.database.sql`update delivery set next_attempt_at = now()`
  await test.database.sql`update abonnement set not_before = null`
  await test.runJobs()
  const ids = real(bad.received).map(({ headers }) => headers['webhook-id'])
  t.equal(ids.length, 2)
  t.equal(ids[0], ids[1])
  t.equal((await test.database.sql`select from delivery`).length, 0)
})

t.test(
  'an abonnement gets so many at once as it wants; what is answered but not recorded yet does not count',
  async (t) => {
    const test = await builtIn(t)
    const { sql } = test.database
    const to = await subscriber(t, { auth: 'x' })
    await subscribe(test, to.url, [{ naam: 'zaken' }])
    await sql`update abonnement set concurrency = 2`
    for (let count = 0; count < 5; count++) await givenZaak(test)
    const [worker] = await sql<{ id: number }[]>`
    insert into worker (name, version, host, pid, pool_id) values ('x', '1', 'h', 1, 'x') returning id`
    const mine = { worker: worker!.id, external: 9, total: 9 }
    const { claimed: first } = await claim(test.database, { ...mine, busy: [], open: [] })
    t.equal(first.length, 2)
    t.equal((await claim(test.database, { ...mine, busy: first, open: first })).rows.length, 0)
    const { claimed: next } = await claim(test.database, { ...mine, busy: first, open: first.slice(1) })
    t.equal(next.length, 1)
    t.notOk(first.some(({ notificatieId }) => notificatieId === next[0]!.notificatieId))
  },
)

t.test('a deleted abonnement gets nothing more, also of what waited', async (t) => {
  const test = await builtIn(t)
  const to = await subscriber(t, { auth: 'x' })
  const url = await subscribe(test, to.url, [{ naam: 'zaken' }])
  await givenZaak(test)
  t.equal((await test.call('DELETE', url)).status, 204)
  await givenZaak(test)
  await test.runJobs()
  t.strictSame(real(to.received), [])

  t.equal((await test.database.sql`select from delivery`).length, 0, 'nothing keeps its messages from being removed')
  t.equal((await test.database.sql`select from abonnement`).length, 0)
  t.strictSame(await deleteEndedAbonnementen(test.database), { gone: 0, left: 0 })
})

t.test('our own kanalen are made at the start, and what others added to their filters stays', async (t) => {
  const test = await builtIn(t)
  await Promise.all([1, 2, 3].map(() => ensureOwnKanalen(test.database, test.config)))
  const [zaken] = (await test.call('GET', `${API}/kanaal?naam=zaken`)).body
  t.match(zaken.filters, ['bronorganisatie', 'zaaktype', 'zaaktype.catalogus', 'vertrouwelijkheidaanduiding'])
  const extra = [...zaken.filters, 'eigen_kenmerk']
  t.equal((await test.call('PATCH', zaken.url, { filters: extra })).status, 200)
  await ensureOwnKanalen(test.database, test.config)
  t.strictSame((await test.call('GET', zaken.url)).body.filters, extra)
  const shrunk = await test.call('PATCH', zaken.url, { filters: ['zaaktype'] })
  t.match(shrunk.body.invalidParams, [{ name: 'filters', code: 'invalid' }])
})

t.test('filters of our kanalen that can never fit are refused, and uuids in capitals are folded', async (t) => {
  const test = await builtIn(t)
  const type = `http://localhost/catalogi/api/v1/zaaktypen/${randomUUID()}`
  const ask = (filters: object) =>
    test.call('POST', `${API}/abonnement`, { callbackUrl: '', kanalen: [{ naam: 'zaken', filters }] })
  for (const filters of [
    { '#resource': 'Status' },
    { '#resource': 'zaak,statusen' },
    { '#actie': 'aangemaakt' },
    { zaaktype: `${type}/` },
    { zaaktype: `${type}?x=1` },
  ])
    t.equal((await ask(filters)).status, 400, JSON.stringify(filters))
  const folded = await ask({ zaaktype: `${type.slice(0, -36)}${type.slice(-36).toUpperCase()}` })
  t.equal(folded.status, 201, folded.text)
  t.equal(folded.body.kanalen[0].filters.zaaktype, type)
  t.equal(
    (await ask({ '#resource': 'zaak,status', '#actie': 'create,*', zaaktype: 'https://elders.example/t/1/' })).status,
    201,
  )
})
