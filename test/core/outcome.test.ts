// A change whose outcome was unknown carries a link that tells later what became of it.
import t from 'tap'
import { BASE, givenClient, givenInformatieobjecttype, givenZaaktype, testApp } from '../app.ts'
import { cuttingProxy } from '../database/cutting-proxy.ts'
import { base64, EIO, newDocument } from '../documenten/documenten.ts'
import { testDatabase } from '../setup.ts'
import { CRS, ZAKEN, zaakBody } from '../zaken/given.ts'

const proxy = await cuttingProxy((await testDatabase(t)).url)
t.teardown(proxy.close)
const test = await testApp(t, { DATABASE_URL: proxy.url, DATABASE_POOL_SIZE: '2' })
const type = await givenInformatieobjecttype(test)
const zaaktype = await givenZaaktype(test)
const document = async () =>
  (await test.call('POST', EIO, newDocument(type, { inhoud: base64('abc'), bestandsomvang: 3 }))).body.url as string
const linkOf = (headers: Record<string, unknown>) => /^<(.*)>; rel="status"$/.exec(String(headers.link))?.[1] ?? ''

/** What a request gets whose answer from the database is lost, after which that is away for a while. */
async function losing(ask: () => ReturnType<typeof test.call>) {
  proxy.cutAt('answer', true)
  const answer = await ask()
  proxy.reopen()
  return answer
}

t.test('a lock whose answer was lost can be had again by its owner, and by nobody else', async (t) => {
  const url = await document()
  const lost = await losing(() => test.call('POST', `${url}/lock`))
  t.same([lost.status, lost.body.code], [503, 'outcome_unknown'], lost.text)
  const link = linkOf(lost.headers)
  t.ok(link.startsWith(`${BASE}/outcomes?id=`), link)
  const told = await test.call('GET', link)
  t.equal(told.status, 200, told.text)
  t.equal(told.body.outcome, 'done')
  t.equal((await test.call('GET', url)).body.locked, true)
  t.equal((await test.call('POST', `${url}/unlock`, told.body.result)).status, 204, 'with the id of that lock')
  const other = await givenClient(test, 'een-ander', [])
  t.equal((await test.call('GET', link, undefined, { as: other })).status, 404)
  t.equal((await test.call('GET', `${link}x`)).status, 404)
})

t.test('a case of which nobody knew whether it was made is found by its URL', async (t) => {
  const create = () => test.call('POST', `${ZAKEN}/zaken`, zaakBody(zaaktype), CRS)
  t.equal((await create()).status, 201)
  const lost = await losing(create)
  t.equal(lost.body.code, 'outcome_unknown', lost.text)
  const told = await test.call('GET', linkOf(lost.headers))
  t.equal(told.body.outcome, 'done', told.text)
  t.equal((await test.call('GET', told.body.result.url, undefined, CRS)).status, 200)
})
