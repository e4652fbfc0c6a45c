// The log of requests to other services.
import t from 'tap'
import { coveredPath, openRequestLog } from '../../src/services/request-log.ts'
import { retention } from '../../tasks/retention.ts'
import { testApp } from '../app.ts'
import { givenOtherServer } from '../other-server.ts'
import { givenZaak, made, ZAKEN } from '../zaken/given.ts'

t.test(
  'every request to a service is a line, also one without an answer, and none has a body or a secret',
  async (t) => {
    const test = await testApp(t)
    const elders = await givenOtherServer(t, test, { '/objecten/1': { naam: 'Geheim' } })
    const zaak = await givenZaak(test)
    made(
      await test.call('POST', `${ZAKEN}/zaakobjecten`, {
        zaak: zaak.url,
        object: `${elders.root}/objecten/1?bsn=123456782&sleutel=abc`,
        objectType: 'overige',
        objectTypeOverige: 'ding',
      }),
    )
    await test.parts.services.call('DELETE', `${elders.root}/objecten/2`)
    await test.database.sql`update service set api_root = 'http://127.0.0.1:1/'`
    await test.parts.services.fetchJson('http://127.0.0.1:1/weg')
    await test.parts.services.close()
    const rows = await test.database
      .sql`select method, host, path, status, outcome, request_id from outgoing_request order by id`
    const { host } = new URL(elders.root)
    t.match(rows, [
      {
        method: 'GET',
        host,
        path: '/objecten/1?bsn=***&sleutel=***',
        status: 200,
        outcome: 'answered',
        request_id: /^.+$/,
      },
      { method: 'DELETE', host, path: '/objecten/2', status: 404, outcome: 'answered', request_id: '' },
      { method: 'GET', host: '127.0.0.1:1', path: '/weg', status: null, outcome: 'refused', request_id: '' },
    ])
    t.equal(rows.length, 3)
  },
)

t.test('numbers of persons and values of secrets are covered, uuids stay', async (t) => {
  const path = (text: string) => coveredPath(new URL(text, 'http://x.example'))
  t.equal(path('/personen/123456782/adres'), '/personen/***/adres')
  t.equal(path('/x?zoek=123456782&pagina=2'), '/x?zoek=***&pagina=2')
  t.equal(path('/x?access_token=abc&code=d'), '/x?access_token=***&code=***')
  const uuid = '12345678-1234-4234-8234-123456789012'
  t.equal(path(`/x/${uuid}`), `/x/${uuid}`)
  t.equal(path(`/${'a'.repeat(5000)}`).length, 2000)
})

t.test('of a burst a thousand lines are written, and the rest is counted', async (t) => {
  const test = await testApp(t)
  const told: unknown[] = []
  const log = { warn: (values: unknown) => told.push(values) }
  const lines = openRequestLog(test.database, { outgoingLogRetentionDays: 30 }, log as never)
  const url = new URL('http://x.example/')
  for (let n = 0; n < 1500; n++)
    lines.write({
      began: performance.now(),
      service: 'x',
      method: 'GET',
      url,
      status: 200,
      outcome: 'answered',
      ms: 1,
    })
  await lines.flush()
  const [{ n }] = await test.database.sql<[{ n: number }]>`select count(*)::int as n from outgoing_request`
  t.equal(n, 1000)
  t.same(told, [{ lost: 500 }])
})

t.test('nothing is written with 0 days, and old lines go', async (t) => {
  const test = await testApp(t, { OUTGOING_LOG_RETENTION_DAYS: '0' })
  const elders = await givenOtherServer(t, test, { '/1': {} })
  await test.parts.services.fetchJson(`${elders.root}/1`)
  await test.parts.services.close()
  t.same(await test.database.sql`select 1 from outgoing_request`, [])
  await test.database.sql`insert into outgoing_request (begun_at, service, method, host, path, outcome, ms)
    select now() - make_interval(days => d), 'x', 'GET', 'x', '/', 'answered', 1 from unnest(array[29, 31]) d`
  const parts = { ...test.parts, config: { ...test.config, outgoingLogRetentionDays: 30 } }
  await retention(parts as never)({}, {} as never)
  t.equal((await test.database.sql`select 1 from outgoing_request`).length, 1)
})
