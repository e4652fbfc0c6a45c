// Slow: connections go silent, and terms have to pass.
// It starts processes behind a proxy that stops forwarding: nobody waits for ever for a connection that went silent.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { systemActor } from '../../src/core/access.ts'
import { OutcomeUnknown, openDatabase } from '../../src/database/database.ts'
import { testApp } from '../app.ts'
import { testDatabase } from '../setup.ts'
import { until } from '../until.ts'
import { frozenProxy } from './frozen-proxy.ts'

const seconds = async (work: () => Promise<unknown>) => {
  const since = performance.now()
  await work()
  return (performance.now() - since) / 1000
}

t.test('when nothing comes through any more, all that ask and all that wait get an error within seconds', async (t) => {
  const proxy = await frozenProxy(t, (await testDatabase(t)).url)
  const { sql, answers, close } = openDatabase(proxy.url, { max: 3, name: 'test' })
  t.teardown(close)
  await Promise.all([1, 2, 3].map(() => sql`select pg_sleep(0.1)`))
  t.equal(await answers(), true)
  proxy.freeze()
  const asked = [
    ...Array.from({ length: 10 }, () => sql`select 1`),
    ...Array.from({ length: 10 }, () => sql.begin((trx) => trx`select 1`)),
    ...Array.from({ length: 10 }, async () => (await sql.reserve()).release()),
  ]
  const took = await seconds(async () => {
    for (const one of await Promise.allSettled(asked))
      if (one.status === 'rejected') t.match(one.reason, { code: /^CONNECTION_SILENT$|^CONNECT_TIMEOUT$/ })
  })
  t.ok(took < 20, `${took} s`)
  t.equal(await answers(), false)
  proxy.thaw()
  await until('an answer', async () => await answers())
  t.equal((await sql`select 1 as one`)[0]!.one, 1)
})

t.test('of connections of which some are silent those alone are dropped', async (t) => {
  const proxy = await frozenProxy(t, (await testDatabase(t)).url)
  const { sql, answers, close } = openDatabase(proxy.url, { max: 6, name: 'test' })
  t.teardown(close)
  await Promise.all(Array.from({ length: 6 }, () => sql`select pg_sleep(0.2)`))
  proxy.freeze('some')
  const took = await seconds(async () => {
    const ended = await Promise.allSettled(
      Array.from({ length: 6 }, () => sql.begin((trx) => trx`select pg_sleep(0.2)`)),
    )
    const codes = ended.map((one) => (one.status === 'rejected' ? one.reason.code : 'done')).sort()
    t.same(codes, [...Array(3).fill('CONNECTION_SILENT'), ...Array(3).fill('done')])
  })
  t.ok(took < 15, `${took} s`)
  t.equal(await answers(), true)
  t.equal((await Promise.all(Array.from({ length: 12 }, () => sql`select pg_sleep(0.05)`))).length, 12)
})

t.test('what the server still works on is waited for, and a COPY that nobody feeds for a while', async (t) => {
  const { url } = await testDatabase(t)
  const { sql, close } = openDatabase(url, { max: 2, name: 'test' })
  t.teardown(close)
  await sql`create table proef (nummer integer)`
  const slow = sql.begin(async (trx) => {
    await trx`set local statement_timeout = 0`
    return trx`select 1 as one from pg_sleep(12)`
  })
  const copy = await sql`copy proef from stdin`.writable()
  copy.write('1\n')
  await sleep(10_500)
  await new Promise<void>((resolve, reject) => copy.once('error', reject).end('2\n', resolve))
  t.same(await sql`select count(*)::int as count from proef`, [{ count: 2 }])
  t.same(await slow, [{ one: 1 }])
})

t.test('a request ends with 503 and says when to come back', async (t) => {
  const { url } = await testDatabase(t)
  const proxy = await frozenProxy(t, url)
  const test = await testApp(t, { DATABASE_URL: proxy.url })
  const body = { domein: 'PROEF', rsin: '000000000', contactpersoonBeheerNaam: 'Jan' }
  t.equal((await test.call('POST', '/catalogi/api/v1/catalogussen', body)).status, 201)
  t.equal((await test.call('GET', '/readyz')).status, 200)
  proxy.freeze()
  const took = await seconds(async () => {
    const [read, write] = await Promise.all([
      test.call('GET', '/catalogi/api/v1/catalogussen'),
      test.call('POST', '/catalogi/api/v1/catalogussen', { ...body, domein: 'TWEE' }),
    ])
    t.match(read, { status: 503, headers: { 'retry-after': /\d/ } })
    t.match(write, { status: 503, headers: { 'retry-after': /\d/ } })
    const ready = await test.call('GET', '/readyz')
    t.match(ready, { status: 503, body: { checks: { database: { status: 'failed' } } } })
  })
  t.ok(took < 40, `${took} s`)
  proxy.thaw()
  await until('readiness', async () => (await test.call('GET', '/readyz')).status === 200)
  t.equal((await test.call('GET', '/catalogi/api/v1/catalogussen')).status, 200)

  const committing = test.app.mutate(systemActor('test'), async (m) => {
    await m.sql`select 1`
    m.unrecorded('a test')
    proxy.freeze()
  })
  await t.rejects(committing, new OutcomeUnknown(), 'what was being committed may be there')
})
