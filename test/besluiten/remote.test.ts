import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { givenClient, type TestApp, testApp } from '../app.ts'
import { BESLUITEN, BIO, besluitBody, faults, givenTypen, made } from './given.ts'

/** A registered service with types, by path; what is missing is a 404. */
async function givenCatalogi(
  t: { teardown(work: () => unknown): unknown },
  test: TestApp,
  types: Record<string, unknown>,
) {
  const server = createServer((request, response) => {
    const found = types[request.url!]
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' })
    response.end(typeof found === 'string' ? found : JSON.stringify(found ?? {}))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await test.database
    .sql`insert into service (label, slug, kind, api_root) values ('Catalogi', 'catalogi', 'ztc', ${`${root}/`})`
  return root
}
const type = (values: object = {}) => ({
  url: 'wordt niet gelezen',
  catalogus: 'https://elders.example/catalogussen/1',
  concept: false,
  publicatieIndicatie: false,
  informatieobjecttypen: [],
  ...values,
})

t.test('brc-001: a besluittype elsewhere is fetched where that server is registered, and judged', async (t) => {
  const test = await testApp(t)
  const root = await givenCatalogi(t, test, {
    '/goed': type(),
    '/concept': type({ concept: true }),
    '/zaaktype': { url: 'x', catalogus: 'https://elders.example/catalogussen/1', concept: false },
    '/tekst': '<html>',
  })
  const post = (path: string) => test.call('POST', BESLUITEN, besluitBody(`${root}${path}`))
  t.same(faults(await post('/weg')), ['besluittype: bad-url'])
  t.same(faults(await post('/zaaktype')), ['besluittype: invalid-resource'])
  t.same(faults(await post('/tekst')), ['besluittype: invalid-resource'])
  t.same(faults(await post('/concept')), ['besluittype: not-published'])
  const { url, besluittype } = made(await post('/goed'))
  t.equal(besluittype, `${root}/goed`)
  const [sent] = await test.database.sql`select kenmerken from notificatie order by id desc limit 1`
  t.match(sent!.kenmerken, {
    besluittype: `${root}/goed`,
    'besluittype.catalogus': 'https://elders.example/catalogussen/1',
  })
  t.equal((await test.call('PATCH', url, { besluittype, toelichting: 'x' })).status, 200)
  t.same(faults(await test.call('PATCH', url, { besluittype: `${root}/concept` })), [
    'besluittype: wijzigen-niet-toegelaten',
  ])
  t.match((await test.call('GET', `${url}?expand=besluittype`)).body._expand, {
    besluittype: { publicatieIndicatie: false },
  })
})

t.test('brc-007, brc-008: a besluittype elsewhere knows no zaaktype and no documenttype of ours', async (t) => {
  const test = await testApp(t)
  const root = await givenCatalogi(t, test, { '/goed': type() })
  const typen = await givenTypen(test)
  const zaak = (await typen.zaak()).url
  t.same(faults(await test.call('POST', BESLUITEN, besluitBody(`${root}/goed`, { zaak }))), [
    'nonFieldErrors: zaaktype-mismatch',
  ])
  const besluit = made(await test.call('POST', BESLUITEN, besluitBody(`${root}/goed`))).url
  t.same(faults(await test.call('POST', BIO, { besluit, informatieobject: (await typen.document()).url })), [
    'nonFieldErrors: missing-besluittype-informatieobjecttype-relation',
  ])
})

t.test('rights for a besluittype elsewhere reach its besluiten, and no others', async (t) => {
  const test = await testApp(t)
  const root = await givenCatalogi(t, test, { '/een': type(), '/twee': type() })
  const scopes = ['besluiten.lezen', 'besluiten.aanmaken']
  const as = await givenClient(test, 'elders', [{ component: 'brc', scopes, typeUrl: `${root}/een` }])
  const een = made(await test.call('POST', BESLUITEN, besluitBody(`${root}/een`), { as }))
  t.equal((await test.call('POST', BESLUITEN, besluitBody(`${root}/twee`), { as })).status, 403)
  const twee = made(await test.call('POST', BESLUITEN, besluitBody(`${root}/twee`)))
  t.match((await test.call('GET', BESLUITEN, undefined, { as })).body, { count: 1, results: [{ url: een.url }] })
  t.equal((await test.call('GET', een.url, undefined, { as })).status, 200)
  t.equal((await test.call('GET', twee.url, undefined, { as })).status, 403)
  const query = `besluittype=${encodeURIComponent(`${root}/twee`)}`
  t.match((await test.call('GET', `${BESLUITEN}?${query}`)).body, { count: 1, results: [{ url: twee.url }] })
})
