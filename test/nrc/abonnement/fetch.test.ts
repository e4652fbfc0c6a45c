// Messages that receivers fetch, in place of being called.
import { sql } from 'kysely'
import t from 'tap'
import { openDatabase } from '../../../src/database/database.ts'
import { keepMark } from '../../../src/documenten/storage/mark.ts'
import { releaseStuck } from '../../../src/notificaties/claims.ts'
import { readFigures } from '../../../src/nrc/abonnement/figures.ts'
import { blockOverflowing } from '../../../src/nrc/abonnement/state.ts'
import { type Answer, givenClient, type TestApp } from '../../app.ts'
import { faultsOf } from '../../zaken/given.ts'
import { API, builtIn, real, subscribe, uuidOf } from '../given.ts'
import { subscriber } from '../subscriber.ts'

const kanalen = [{ naam: 'objecten' }]

/** Messages about one object each, or about the same. */
async function publish(test: TestApp, names: string[], object?: string): Promise<void> {
  for (const naam of names) {
    const { status, text } = await test.call('POST', `${API}/notificaties`, message(naam, object))
    if (status !== 201) throw new Error(text)
  }
}
const message = (naam: string, object = naam) => ({
  kanaal: 'objecten',
  source: 'objecten-api',
  hoofdObject: `https://objecten.example/${object}`,
  resource: 'object',
  resourceUrl: `https://objecten.example/${object}`,
  actie: 'create',
  aanmaakdatum: '2024-05-01T10:00:00Z',
  kenmerken: { naam },
})

async function given(t: Parameters<typeof builtIn>[0]) {
  const test = await builtIn(t)
  await test.call('POST', `${API}/kanaal`, { naam: 'objecten', filters: ['naam'] })
  return test
}

/** An abonnement without a callback; its address. */
async function fetched(test: TestApp, body: object = { kanalen }, as?: string): Promise<string> {
  const made = await test.call('POST', `${API}/abonnement`, { callbackUrl: '', ...body }, as ? { as } : {})
  if (made.status !== 201) throw new Error(made.text)
  return made.body.url
}

const names = ({ body }: Answer): string[] =>
  body.items.map(({ bericht }: { bericht: { kenmerken: { naam: string } } }) => bericht.kenmerken.naam)
const get = (test: TestApp, url: string, as?: string) => test.call('GET', url, undefined, as ? { as } : {})
const figuresOf = async (test: TestApp) => (await readFigures(test.app.read, sql`true`))[0]!

t.test(
  'without a callback messages wait until they are fetched, in order, and asking for the next confirms',
  async (t) => {
    const test = await given(t)
    const url = await fetched(test)
    t.strictSame((await get(test, url)).body, {
      url,
      callbackUrl: '',
      kanalen: [{ naam: 'objecten', filters: {} }],
      sendCloudevents: false,
    })
    await publish(test, ['a', 'b', 'c', 'd', 'e'])
    await test.runJobs()
    t.equal(await releaseStuck(test.database), 0)
    t.equal(
      (await test.database.sql`select from delivery where next_attempt_at is null`).length,
      5,
      'nothing becomes due',
    )
    t.equal((await figuresOf(test)).wachtend, 5)

    const first = await get(test, `${url}/berichten?limit=2`)
    t.equal(first.status, 200, first.text)
    t.strictSame(names(first), ['a', 'b'])
    t.strictSame(first.body.items[0].bericht, message('a'), 'as it would be sent')
    t.match(first.body.items[0], { id: /^[\w-]{22}$/, uuid: /^[0-9a-f-]{36}$/ })
    const [, b] = first.body.items
    t.equal(first.body.next, `${url}/berichten?after=${b.id}&limit=2`)
    t.strictSame((await get(test, `${url}/berichten?limit=2`)).body, first.body, 'again, when the answer was lost')
    t.equal((await figuresOf(test)).wachtend, 5, 'nothing is confirmed yet')

    const second = await get(test, first.body.next)
    t.strictSame(names(second), ['c', 'd'])
    t.equal((await figuresOf(test)).wachtend, 3)
    t.strictSame((await get(test, first.body.next)).body, second.body)
    t.strictSame(names(await get(test, `${url}/berichten?after=${b.id}`)), ['c', 'd', 'e'], 'another size')
    const { id } = (await get(test, `${url}/berichten?after=${b.id}`)).body.items[2]
    const last = await get(test, `${url}/berichten?after=${id}`)
    t.strictSame(last.body, { next: `${url}/berichten?after=${id}&limit=100`, items: [] }, 'no items: it has all')
    t.equal((await test.database.sql`select from delivery`).length, 0)
    const attempts = await test.database.sql`select outcome, count(*)::int as n from delivery_attempt group by 1`
    t.strictSame([...attempts], [{ outcome: 'delivered', n: 5 }], 'what was confirmed counts as delivered')
    await publish(test, ['f'])
    t.strictSame(names(await get(test, last.body.next)), ['f'])
  },
)

t.test('a position that was passed, that is none, or that another abonnement had is 410', async (t) => {
  const test = await given(t)
  const [url, other] = [await fetched(test), await fetched(test)]
  await publish(test, ['a', 'b'])
  const answers = async (query: string) => {
    const answer = await get(test, `${url}/berichten?${query}`)
    return [answer.status, ...faultsOf(answer)]
  }
  t.strictSame(await answers('limit=501'), [400, 'limit: max_value'])
  const [first, second] = (await get(test, `${url}/berichten`)).body.items
  const [others] = (await get(test, `${other}/berichten`)).body.items
  for (const text of ['1', '-1', 'x', others.id]) t.strictSame(await answers(`after=${text}`), [410], text)
  t.strictSame(await answers(`after=${second.id}`), [200])
  t.strictSame(await answers(`after=${first.id}`), [410])
  t.strictSame(await answers(''), [200])
})

t.test('after a restore no position confirms what was not read', async (t) => {
  const test = await given(t)
  const { sql } = test.database
  const url = await fetched(test)
  await publish(test, ['a', 'b', 'c'])
  const [, , c] = (await get(test, `${url}/berichten`)).body.items
  const backToNothing = async () => {
    await sql`delete from delivery`
    await sql`update abonnement set place = 0, confirmed = 0`
  }

  // Put back as it was: nobody told it, and a position is ahead.
  await backToNothing()
  t.equal((await get(test, `${url}/berichten?after=${c.id}`)).status, 410)
  await publish(test, ['d', 'e', 'f'])
  const again = await get(test, `${url}/berichten`)
  t.strictSame(names(again), ['d', 'e', 'f'])
  t.equal((await get(test, `${url}/berichten?after=${c.id}`)).status, 410, 'though as many were handed out since')
  t.strictSame(names(await get(test, `${url}/berichten`)), ['d', 'e', 'f'])

  // It went on before anybody asked: the mark beside the documents tells.
  const { store } = test.parts
  t.equal(await keepMark(sql, store), false)
  const [{ mark }] = (await sql`select mark from history`) as unknown as [{ mark: number }]
  await get(test, again.body.next)
  t.equal(await keepMark(sql, store), false)
  t.equal((await Array.fromAsync(store.list('history/'))).length, 1)
  const [, , f] = again.body.items
  await backToNothing()
  await sql`update history set mark = ${mark}`
  await publish(test, ['g', 'h', 'i'])
  t.strictSame(names(await get(test, `${url}/berichten`)), ['g', 'h', 'i'])
  t.equal(await keepMark(sql, store, true), true)
  t.equal((await get(test, `${url}/berichten?after=${f.id}`)).status, 410)
  t.strictSame(names(await get(test, `${url}/berichten`)), ['g', 'h', 'i'])
  t.equal(await keepMark(sql, store, true), false)

  // Another cluster, or a standby that took over.
  const { next } = (await get(test, `${url}/berichten`)).body
  await sql`update history set cluster = 'elsewhere'`
  t.equal((await get(test, next)).status, 410)
  t.strictSame(names(await get(test, `${url}/berichten`)), ['g', 'h', 'i'])
})

t.test('what commits late comes late, and is never missed', async (t) => {
  const test = await given(t)
  const url = await fetched(test)
  await publish(test, ['a', 'b', 'c'])
  // The message in the middle is that of a transaction that goes on.
  const other = openDatabase(test.databaseUrl, { max: 1, name: 'late' })
  t.teardown(() => other.close())
  const late = await other.sql.reserve()
  await late`begin`
  await late`
    with weg as (delete from delivery where notificatie_id = (select id from notificatie where kenmerken ->> 'naam' = 'b') returning *)
    select from weg`
  await late.unsafe('commit')
  const [row] = await test.database.sql`select id, hoofd_object_uuid from notificatie where kenmerken ->> 'naam' = 'b'`
  await late`begin`
  await late`insert into delivery (notificatie_id, abonnement_id, hoofd_object_uuid, next_attempt_at)
    select ${row!.id}, id, ${row!.hoofd_object_uuid}, null from abonnement`
  const first = await get(test, `${url}/berichten`)
  t.strictSame(names(first), ['a', 'c'])
  t.strictSame(names(await get(test, first.body.next)), [])
  await late`commit`
  late.release()
  t.strictSame(names(await get(test, first.body.next)), ['b'])
})

t.test('who asks at the same time gets the same, and every message has one place', async (t) => {
  const test = await given(t)
  const url = await fetched(test)
  await publish(
    test,
    Array.from({ length: 20 }, (_, n) => `n${n}`),
  )
  const answers = await Promise.all(Array.from({ length: 8 }, () => get(test, `${url}/berichten?limit=15`)))
  for (const answer of answers) t.strictSame(answer.body, answers[0]!.body)
  const [{ places }] = (await test.database.sql`
    select array_agg(place order by notificatie_id) as places from delivery where place is not null`) as unknown as [
    { places: number[] },
  ]
  t.strictSame(
    places.map(Number),
    Array.from({ length: 15 }, (_, n) => n + 1),
  )
})

t.test('filters hold, and so do the rights of the applicatie', async (t) => {
  const test = await given(t)
  const rights = [{ component: 'nrc', scopes: ['notificaties.consumeren'] }]
  const [een, twee] = [await givenClient(test, 'een', rights), await givenClient(test, 'twee', rights)]
  const uitgever = await givenClient(test, 'uitgever', [{ component: 'nrc', scopes: ['notificaties.publiceren'] }])
  const url = await fetched(test, { kanalen: [{ naam: 'objecten', filters: { naam: 'b' } }] }, een)
  await publish(test, ['a', 'b', 'c'])
  t.strictSame(names(await get(test, `${url}/berichten`, een)), ['b'])
  t.equal((await get(test, `${url}/berichten`, twee)).status, 403)
  t.equal((await get(test, `${url}/berichten`, uitgever)).status, 403)
  t.equal((await get(test, `${API}/abonnement/00000000-0000-4000-8000-000000000000/berichten`, een)).status, 404)
  t.equal((await test.call('HEAD', `${url}/berichten`, undefined, { as: een })).status, 405, 'a HEAD would confirm')
  t.equal((await test.call('DELETE', url, undefined, { as: een })).status, 204)
  t.equal((await get(test, `${url}/berichten`, een)).status, 404)
})

t.test('while it is paused nothing is handed out; one that was blocked goes on when all was fetched', async (t) => {
  const test = await given(t)
  const { sql } = test.database
  const url = await fetched(test)
  await publish(test, ['a', 'b'])
  await sql`update abonnement set status = 'gepauzeerd'`
  const paused = await get(test, `${url}/berichten`)
  t.strictSame([paused.status, paused.headers['retry-after']], [409, '60'])
  await sql`update abonnement set status = 'actief'`
  await sql`update notificatie_settings set paused_at = now()`
  t.equal((await get(test, `${url}/berichten`)).status, 409, 'nor while all are')
  await sql`update notificatie_settings set paused_at = null, block_from_count = 2`
  await test.database.sql`update notificatie_settings set paused_at = now()`
  t.equal((await blockOverflowing(test.database)).length, 0, 'a pause of all is nobody’s fault')
  await test.database.sql`update notificatie_settings set paused_at = null`
  t.equal((await blockOverflowing(test.database)).length, 1)
  await publish(test, ['c'])
  const first = await get(test, `${url}/berichten`)
  t.strictSame(names(first), ['a', 'b'], 'what waits is there, what comes is not planned')
  t.strictSame(names(await get(test, first.body.next)), [])
  t.match((await sql`select status from abonnement`)[0], { status: 'actief' })
  for (let n = 0; n < 5; n++) {
    await sql`update _private_jobs set run_at = now()`
    await test.runJobs()
  }
  t.strictSame(names(await get(test, first.body.next)), ['c'], 'and what it missed comes')
})

t.test('beside a callback it is what the callback did not take', async (t) => {
  const test = await given(t)
  const { sql } = test.database
  const to = await subscriber(t, { auth: 'x' })
  const url = await subscribe(test, to.url, kanalen)
  await publish(test, ['a'])
  await test.runJobs()
  t.equal(real(to.received).length, 1)
  t.strictSame(names(await get(test, `${url}/berichten`)), [], 'what was taken is done')
  to.answer.status = 500
  await publish(test, ['b', 'c'])
  await test.runJobs()
  await sql`update delivery set status = 'mislukt', next_attempt_at = null
    where notificatie_id = (select id from notificatie where kenmerken ->> 'naam' = 'b')`
  const waits = await get(test, `${url}/berichten`)
  t.strictSame(names(waits), ['b', 'c'], 'what failed and what waits')
  t.strictSame(names(await get(test, waits.body.next)), [])
  to.answer.status = 204
  const before = real(to.received).length
  await sql`update abonnement set not_before = null`
  await test.runJobs()
  t.equal(real(to.received).length, before, 'and is not sent any more')
})

t.test('a callback may be added and taken away', async (t) => {
  const test = await given(t)
  const to = await subscriber(t, { auth: 'x' })
  const url = await fetched(test)
  await publish(test, ['a'])
  const without = await test.call('PATCH', url, { callbackUrl: to.url })
  t.strictSame([without.status, ...faultsOf(without)], [400, 'auth: required'])
  t.equal((await test.call('PATCH', url, { callbackUrl: to.url, auth: 'x' })).status, 200)
  t.equal(await releaseStuck(test.database), 0, 'what waited is due by itself')
  await test.runJobs()
  t.equal(real(to.received).length, 1)
  t.equal((await test.call('PATCH', url, { callbackUrl: '' })).status, 200)
  await publish(test, ['b'])
  await test.runJobs()
  t.equal(real(to.received).length, 1)
  t.strictSame(names(await get(test, `${url}/berichten`)), ['b'])
  t.equal(uuidOf(url).length, 36)
})

t.test('who asked for cloud events gets them', async (t) => {
  const test = await given(t)
  const url = await fetched(test, { kanalen, sendCloudevents: true })
  await publish(test, ['a'])
  const { body } = await get(test, `${url}/berichten`)
  t.match(body.items[0].bericht, {
    specversion: '1.0',
    id: body.items[0].uuid,
    type: 'nl.overheid.objecten.object.create',
  })
})
