// Errors of ours are found by the id of their request, and hold nothing of what was asked.
import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { deleteOldErrors, describe, openErrorLog } from '../../src/operations/server-errors.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { SECRET } from '../app.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages } from '../beheer/browser.ts'
import { until } from '../until.ts'

const BSN = '999990019'

t.test('errors of ours', await needsBrowser(), async (t) => {
  const test = await setUpPages(t)
  const { sql } = test.database
  const kept = (count: number) =>
    until('the errors are written', async () => {
      const rows = await sql<Record<string, unknown>[]>`select * from server_error order by id`
      return rows.length >= count && rows
    })
  await sql`alter table kanaal rename to kanaal_elders`
  const ask = (id: string) =>
    test.app.inject({
      url: `/notificaties/api/v1/kanaal?naam=${BSN}`,
      headers: { authorization: `Bearer ${signToken('beheer', SECRET, { id: BSN, name: 'Jan' })}`, 'x-request-id': id },
    })

  t.test('one of an API is kept with its id, its route and its place, and no more', async (t) => {
    const answer = await ask('verzoek-1')
    t.equal(answer.statusCode, 500)
    const [row] = await kept(1)
    t.match(row, {
      request_id: 'verzoek-1',
      exception_id: answer.json().instance.replace('urn:uuid:', ''),
      method: 'GET',
      route: '/notificaties/api/v1/kanaal',
      status: 500,
      kind: /42P01/,
      client_id: 'beheer',
    })
    t.notMatch(JSON.stringify(row), new RegExp(`${BSN}|Jan|relation`))
    await test.app.inject({ url: '/notificaties/api/v1/kanaal/x' })
    t.equal((await kept(1)).length, 1, 'what is refused is no error of ours')
  })

  t.test('one of a page is found from that page, which leads back to the list it came from', async (t) => {
    const { tab } = await asBeheerder(test, 'operator')
    await sql`alter table retention_run rename to retention_elders`
    await tab.goto('/beheer/audit?handeling=x')
    await tab.click('nav >> text=Bewaartermijnen')
    t.match(await tab.textContent('h1'), 'Er ging iets mis')
    t.equal(await tab.getAttribute('a:text("Terug naar Audit")', 'href'), '/beheer/audit?handeling=x')
    t.same(await accessibilityFaults(tab), [])
    await kept(2)
    await tab.click('text=Zoek op bij Fouten')
    t.equal(await tab.locator('tbody tr').count(), 1)
    t.match(await tab.textContent('tbody'), /\/beheer\/bewaartermijnen.*500.*PostgresError 42P01/s)
    await tab.click('nav >> text=Fouten')
    t.equal(await tab.locator('tbody tr').count(), 2)
    for (const width of [1280, 390]) {
      await tab.setViewportSize({ width, height: 800 })
      t.equal(await isTooWide(tab), false)
      if (process.env.SHOTS) await tab.screenshot({ path: `${process.env.SHOTS}-fouten-${width}.png`, fullPage: true })
    }
    t.same(await accessibilityFaults(tab), [])
    await sql`alter table retention_elders rename to retention_run`
  })

  t.test('every error page has the id, and a way back that is ours', async (t) => {
    const session = await test.sessie('viewer')
    const page = (url: string, headers = {}) =>
      test.app.inject({
        url,
        headers: { host: 'localhost', cookie: `zaakstroom=${session}`, 'x-request-id': 'k-1', ...headers },
      })
    const missing = await page('/beheer/zaken/00000000-0000-4000-8000-000000000000')
    t.equal(missing.statusCode, 404)
    t.match(missing.body, '<code>k-1</code>')
    t.match(missing.body, 'href="/beheer/zaken">Terug naar Zaken')
    t.notMatch(missing.body, 'Zoek op bij Fouten')
    const elsewhere = await page('/beheer/weg', { referer: 'https://evil.example/beheer/zaken?x' })
    t.notMatch(elsewhere.body, 'evil.example')
    t.notMatch(elsewhere.body, 'Terug naar')
    const list = await page('/beheer/documenten/x', { referer: 'http://localhost/beheer/zaken?zoek="><b>' })
    t.match(list.body, 'href="/beheer/zaken?zoek=%22%3E%3Cb%3E">Terug naar Zaken')
    t.equal((await page('/beheer/fouten')).statusCode, 403)
  })

  t.test('a storm, an outage and age are bounded', async (t) => {
    const { db } = test.database
    const failed = {
      requestId: 'storm',
      exceptionId: '',
      method: 'GET',
      route: '/',
      status: 500,
      clientId: BSN,
      error: new Error(BSN),
    }
    const errors = openErrorLog({ db }, openLog('silent'))
    await sql`alter table server_error rename to server_error_elders`
    for (let count = 0; count < 1000; count++) errors.write(failed)
    await errors.flush()
    await sql`alter table server_error_elders rename to server_error`
    await errors.flush()
    const [{ count, clients }] = await sql<[{ count: number; clients: string }]>`
      select count(*)::int as count, min(client_id) as clients from server_error where request_id = 'storm'`
    t.equal(count, 200, 'what waited during an outage is written after it')
    t.equal(clients, '[number]')
    await sql`insert into server_error (happened_at, request_id, exception_id, method, route, status, kind, place, client_id)
      select now() - n * interval '1 minute', 'oud', '', 'GET', '/', 500, '', '', '' from generate_series(1, 6000) n`
    await sql`update server_error set happened_at = now() - interval '15 days' where request_id = 'storm'`
    await deleteOldErrors({ db })
    t.same(await sql`select count(*)::int as count from server_error`, [{ count: 5000 }])
    t.match(describe(new TypeError(BSN)), { kind: 'TypeError' })
    t.same(
      describe({ name: 'RangeError', stack: `RangeError: ${BSN}\n at f (file:///app/src/zaken/zaak/create.ts:12:3)` }),
      {
        kind: 'RangeError',
        place: 'src/zaken/zaak/create.ts:12',
      },
    )
    t.same(describe(undefined), { kind: 'Error', place: '' })
    t.same(describe(Object.assign(new Error(BSN), { name: `x ${BSN}`, code: `y ${BSN}`, stack: BSN })), {
      kind: 'Error',
      place: '',
    })
  })
})
