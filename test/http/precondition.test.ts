// If-Match and If-None-Match (RFC 9110, 13.1): a change that was made for another state does not happen. The conformance test
// holds each resource to it; here is what goes beyond one request at a time.
import t from 'tap'
import { judgePrecondition } from '../../src/core/precondition.ts'
import { givenBesluittype, givenInformatieobjecttype, givenZaaktype, testApp } from '../app.ts'
import { givenBesluit } from '../besluiten/given.ts'
import { givenLock } from '../documenten/documenten.ts'
import { CRS, givenDocument, givenZaak, ZAKEN, zaakBody } from '../zaken/given.ts'

const test = await testApp(t)
const { sql } = test.database
const etagOf = async (url: string) => String((await test.call('GET', url, undefined, CRS)).headers.etag)
const changed = (url: string, method: string, body: unknown, headers: Record<string, string>) =>
  test.call(method, url, body, { headers: { ...CRS.headers, ...headers } })

/** The statuses of ten changes at once that were made for the state of this moment. */
async function tenAtOnce(url: string, method: string, bodyOf: (n: number) => unknown) {
  const etag = await etagOf(url)
  const sent = Array.from({ length: 10 }, (_, n) => changed(url, method, bodyOf(n), { 'if-match': etag }))
  return (await Promise.all(sent)).map(({ status }) => status).sort()
}
const ONE = (status: number) => [status, ...Array<number>(9).fill(412)]

t.test('of ten changes for the same state exactly one is made', async (t) => {
  const zaaktype = await givenZaaktype(test, {
    roltypen: [{ omschrijving: 'Behandelaar', omschrijvingGeneriek: 'behandelaar' }],
  })
  const zaak = await givenZaak(test, { zaaktype })
  t.same(await tenAtOnce(zaak.url, 'PATCH', (n) => ({ toelichting: `van ${n}` })), ONE(200), 'a case')
  t.equal(
    (await sql`select count(*)::int as n from audit where resource = 'zaak' and actie = 'partial_update'`)[0]!.n,
    1,
  )

  const { roltypen, catalogus } = (await test.call('GET', zaaktype)).body
  const rol = {
    zaak: zaak.url,
    roltype: roltypen[0],
    betrokkeneType: 'natuurlijk_persoon',
    roltoelichting: 'eerst',
    betrokkeneIdentificatie: { geslachtsnaam: 'Jansen' },
  }
  const made = (await test.call('POST', `${ZAKEN}/rollen`, rol)).body
  const bodyOf = (n: number) => ({ ...rol, roltoelichting: `van ${n}` })
  t.same(await tenAtOnce(made.url, 'PUT', bodyOf), ONE(200), 'a role, which its case holds')

  const besluit = await givenBesluit(test, { besluittype: await givenBesluittype(test, { catalogus }) })
  t.same(await tenAtOnce(besluit.url, 'PATCH', (n) => ({ toelichting: `van ${n}` })), ONE(200), 'a besluit')

  const document = await givenDocument(test, await givenInformatieobjecttype(test))
  const lock = await givenLock(test, document)
  const titel = (n: number) => ({ titel: `van ${n}`, lock })
  t.same(await tenAtOnce(document, 'PATCH', titel), ONE(200), 'a document')
})

t.test('the ETag of a case is another one when something below it changes its answer', async (t) => {
  const zaaktype = await givenZaaktype(test, { statustypen: ['Begin', 'Eind'] })
  const zaak = await givenZaak(test, { zaaktype })
  const before = await etagOf(zaak.url)
  const { statustypen } = (await test.call('GET', zaaktype)).body
  const status = { zaak: zaak.url, statustype: statustypen[0], datumStatusGezet: '2026-03-02T10:00:00Z' }
  t.equal((await test.call('POST', `${ZAKEN}/statussen`, status)).status, 201)
  t.not(await etagOf(zaak.url), before)
  t.equal((await changed(zaak.url, 'PATCH', { toelichting: 'x' }, { 'if-match': before })).status, 412)
  t.equal((await changed(zaak.url, 'PATCH', { toelichting: 'x' }, { 'if-match': await etagOf(zaak.url) })).status, 200)
})

t.test('a case with more parts than an answer holds has an ETag that a change can ask for', async (t) => {
  const zaak = await givenZaak(test)
  await sql`
    insert into zaakobject (zaak_id, object_type, object)
    select id, 'adres', 'https://objecten.example/' || n from zaak, generate_series(1, 1200) n where uuid = ${zaak.uuid}`
  const before = await etagOf(zaak.url)
  await sql`delete from zaakobject where id = (select min(id) from zaakobject)`
  t.equal((await changed(zaak.url, 'PATCH', { toelichting: 'x' }, { 'if-match': before })).status, 412)
  t.equal((await changed(zaak.url, 'PATCH', { toelichting: 'x' }, { 'if-match': await etagOf(zaak.url) })).status, 200)
})

t.test(
  'a lock is no change: the ETag of before it counts, and that of an answer counts for the next change',
  async (t) => {
    const document = await givenDocument(test, await givenInformatieobjecttype(test))
    const before = await etagOf(document)
    const lock = await givenLock(test, document)
    t.equal(await etagOf(document), before)
    const first = await changed(document, 'PATCH', { titel: 'a', lock }, { 'if-match': before })
    t.equal(first.status, 200, first.text)
    const second = await changed(document, 'PATCH', { titel: 'b', lock }, { 'if-match': String(first.headers.etag) })
    t.equal(second.status, 200, second.text)
    t.equal((await test.call('POST', `${document}/unlock`, { lock })).status, 204)
    t.equal(await etagOf(document), second.headers.etag)
  },
)

t.test('the order of members in JSON is no other state', async (t) => {
  const body = zaakBody(await givenZaaktype(test), { kenmerken: [{ kenmerk: 'k', bron: 'b' }] })
  const made = await test.call('POST', `${ZAKEN}/zaken`, body, CRS)
  t.equal(made.headers.etag, await etagOf(made.body.url))
})

t.test('rights come before the condition, and the condition before what was sent', async (t) => {
  const zaak = await givenZaak(test)
  const stale = { 'if-match': '"oud"' }
  t.equal((await changed(zaak.url, 'PATCH', { identificatie: 'ANDERS' }, stale)).status, 412)
  t.equal((await changed(`${ZAKEN}/zaken/${crypto.randomUUID()}`, 'PATCH', {}, stale)).status, 404)
  t.equal((await changed(zaak.url, 'PATCH', { toelichting: 'x' }, { 'if-match': '*' })).status, 200, '* is any state')
})

t.test('a tag that a proxy made weak is refused with a word about it', async (t) => {
  const precondition = (ifMatch: string) => ({ ifMatch, ifNoneMatch: '', isJudged: false })
  const refused = (ifMatch: string) => {
    try {
      return judgePrecondition(precondition(ifMatch), '"a"')
    } catch (error) {
      return error
    }
  }
  t.match(refused('W/"a"'), { status: 412, detail: /zwak/ })
  t.match(refused('W/"b"'), { status: 412, detail: /intussen gewijzigd/ })
})
