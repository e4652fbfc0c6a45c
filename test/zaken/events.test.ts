// Cloud events that come in at /events: a case was linked elsewhere, or that link went.
import { randomInt, randomUUID } from 'node:crypto'
import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { deleteOldEvents } from '../../src/notificaties/resend.ts'
import { givenClient, SECRET, type TestApp, testApp } from '../app.ts'
import { auditRecords } from '../audit-records.ts'
import { faultsOf, givenZaak, noteStatements, ZAKEN } from './given.ts'

const TYPE = 'nl.overheid.zaken.zaak-'

async function given(t: { teardown(work: () => unknown): unknown }) {
  const test = await testApp(t, { ENABLE_CLOUD_EVENTS: 'true', CLOUD_EVENTS_PROFILE: 'open-zaak' })
  const as = await givenClient(test, 'bezorger', [{ component: 'nrc', scopes: ['cloudevents.bezorgen'] }])
  const zaak = await givenZaak(test)
  const send = (event: unknown, contentType = 'application/cloudevents+json') =>
    test.call('POST', '/events', event, { as, headers: { 'content-type': contentType } })
  const event = (actie: string, data?: unknown, more: object = {}) => ({
    specversion: '1.0',
    id: randomUUID(),
    source: 'https://producten.example/',
    type: `${TYPE}${actie}`,
    ...(data !== undefined && { data }),
    ...more,
  })
  const link = {
    zaak: zaak.url,
    linkTo: 'https://producten.example/1',
    linkObjectType: 'product',
    label: 'Een product',
  }
  return { test, as, zaak, send, event, link }
}

const objects = async ({ call }: TestApp, zaak: string) =>
  (await call('GET', `${ZAKEN}/zaakobjecten?zaak=${encodeURIComponent(zaak)}`)).body.results

t.test('the longest source and id that are taken are remembered, in characters of four bytes too', async (t) => {
  const { send, event, link } = await given(t)
  // Of all the same ones PostgreSQL would make an entry that is small.
  const wide = (length: number) =>
    Array.from({ length }, () => String.fromCodePoint(0x20000 + randomInt(0xa000))).join('')
  const longest = event('gekoppeld', link, { source: wide(400), id: wide(255) })
  const answer = await send(longest)
  t.equal(answer.status, 202, answer.text)
  for (const source of [wide(401), `a${'\u0301'.repeat(3000)}`]) {
    const longer = await send(event('gekoppeld', link, { source }))
    t.equal(longer.status, 400)
    t.same(faultsOf(longer), ['cloudevent: malformed-cloudevent'])
  }
})

t.test('zaak-gekoppeld makes a zaakobject, with an audit record of who sent it, and once', async (t) => {
  const { test, zaak, send, event, link } = await given(t)
  const one = event('gekoppeld', link)
  const answer = await send(one)
  t.equal(answer.status, 202, answer.text)
  t.same(answer.body, { accepted: true, event_id: one.id })
  t.match(await objects(test, zaak.url), [
    {
      object: link.linkTo,
      objectType: 'overige',
      objectTypeOverige: 'product',
      relatieomschrijving: 'Een product',
    },
  ])
  const trail = (await test.call('GET', `${zaak.url}/audittrail`)).body
  t.match(trail.at(-1), { actie: 'create', resource: 'zaakobject', applicatieWeergave: 'bezorger' })
  t.same((await send(one)).body, answer.body)
  t.equal((await objects(test, zaak.url)).length, 1, 'the same event again')
  const both = event('gekoppeld', { ...link, zaak: `urn:uuid:${zaak.uuid}`, linkObjectType: 'wijk' })
  await Promise.all([send(both), send(both)])
  const kinds = (await objects(test, zaak.url)).map((one: { objectType: string }) => one.objectType)
  t.same(kinds.sort(), ['overige', 'wijk'], 'twice at the same moment, and by urn')
})

t.test('zaak-ontkoppeld removes the zaakobjecten of that link', async (t) => {
  const { test, zaak, send, event, link } = await given(t)
  for (const linkObjectType of ['a', 'b']) await send(event('gekoppeld', { ...link, linkObjectType }))
  await send(event('gekoppeld', { ...link, linkTo: 'https://producten.example/2' }))
  const statements = await noteStatements(test, 'zaakobject')
  t.equal((await send(event('ontkoppeld', link))).status, 202)
  t.same(await statements(), ['DELETE'], 'together')
  const { database } = test
  const trail = await auditRecords(database, database.sql`hoofd_object_uuid = ${zaak.uuid} and actie = 'destroy'`)
  t.same(
    trail.map(({ oud }) => oud.objectTypeOverige),
    ['a', 'b'],
  )
  t.same(
    (await objects(test, zaak.url)).map(({ object }: { object: string }) => object),
    ['https://producten.example/2'],
  )
})

t.test('an event without use for us is accepted, and changes nothing', async (t) => {
  const { test, zaak, send, event, link } = await given(t)
  const useless = [
    event('gekoppeld'),
    event('gekoppeld', { ...link, zaak: `urn:uuid:${randomUUID()}` }),
    event('gekoppeld', { ...link, zaak: 'nergens' }),
    event('gekoppeld', { ...link, linkTo: undefined }),
    event('gekoppeld', { ...link, linkTo: 'geen url' }),
    event('gekoppeld', { ...link, label: 'x'.repeat(81) }),
    event('gekoppeld', { ...link, linkObjectType: undefined }),
    event('ontkoppeld', { zaak: zaak.url }),
    event('verzonnen', link),
  ]
  for (const one of useless) t.match(await send(one), { status: 202, body: { event_id: one.id } }, JSON.stringify(one))
  t.same(await objects(test, zaak.url), [])
  const rows = await test.database.sql`select distinct outcome from received_event order by 1`
  t.ok(rows.length >= 5, 'and why is kept')
})

t.test('events are remembered for as long as notifications are kept', async (t) => {
  const { test, zaak, send, event, link } = await given(t)
  const one = event('gekoppeld', link)
  await send(one)
  await deleteOldEvents(test.database.db, 60)
  await send(one)
  t.equal((await objects(test, zaak.url)).length, 1)
  await test.database.sql`update received_event set received_at = now() - interval '61 days'`
  await deleteOldEvents(test.database.db, 60)
  t.same(await test.database.sql`select from received_event`, [])
})

t.test('zrc-007: a closed case is not linked', async (t) => {
  const { test, zaak, send, event, link } = await given(t)
  await test.database.sql`update zaak set einddatum = '2026-03-04' where uuid = ${zaak.uuid}`
  t.equal((await send(event('gekoppeld', link))).status, 202)
  t.same(await objects(test, zaak.url), [])
})

t.test('who may not, what is no cloud event, and what is too large is refused', async (t) => {
  const { test, send, event, link } = await given(t)
  await givenClient(test, 'ander', [{ component: 'nrc', scopes: ['notificaties.publiceren'] }])
  const headers = { 'content-type': 'application/cloudevents+json' }
  const good = event('gekoppeld', link)
  t.equal((await test.call('POST', '/events', good, { as: 'ander', headers })).status, 403)
  t.equal((await test.call('POST', '/events', good, { headers: { ...headers, authorization: '' } })).status, 403)
  t.equal((await send(good, 'application/json')).status, 415)
  t.equal((await send(good, 'application/cloudevents+json; charset=utf-8')).status, 202)
  for (const bad of [{}, { ...good, id: '' }, { ...good, specversion: 'x' }, { ...good, id: 'x'.repeat(256) }, []]) {
    const answer = await send(bad)
    t.equal(answer.status, 400, answer.text)
    t.same(faultsOf(answer), ['cloudevent: malformed-cloudevent'])
  }
  const broken = await test.app.inject({
    method: 'POST',
    url: '/events',
    headers: {
      ...headers,
      authorization: `Bearer ${signToken('bezorger', SECRET, { id: '', name: '' })}`,
      host: 'localhost',
    },
    payload: '{',
  })
  t.equal(broken.statusCode, 400)
  t.equal((await send({ ...good, data: { x: 'x'.repeat(70_000) } })).status, 413)
})

t.test('the document of the Notificaties API describes it, at the root', async (t) => {
  const { test } = await given(t)
  const { body } = await test.call('GET', '/notificaties/api/v1/openapi.json')
  t.match(body.paths['/events'], {
    servers: [{ url: 'http://localhost' }],
    post: { requestBody: { content: { 'application/cloudevents+json': {} } }, responses: { '202': {} } },
  })
})
