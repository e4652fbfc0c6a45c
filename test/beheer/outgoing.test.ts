import t from 'tap'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages } from './browser.ts'

t.test('the page of requests to other services', await needsBrowser(), async (t) => {
  const test = await setUpPages(t)
  const { sql } = test.database
  const { tab, klachten } = await asBeheerder(test, 'viewer')

  t.test('says that there are none', async (t) => {
    await tab.goto('/beheer/uitgaand')
    t.match(await tab.textContent('main'), 'Geen verzoeken gevonden.')
    t.same(await accessibilityFaults(tab), [])
  })

  t.test('shows the newest first, page by page, and filters by service and outcome', async (t) => {
    await sql`insert into service (label, slug, kind, api_root) values ('Objecten', 'objecten', 'orc', 'https://objecten.example/')`
    await sql`insert into outgoing_request (begun_at, service, method, host, path, status, outcome, ms, request_id)
      select now() - n * interval '1 minute', case when n % 2 = 0 then 'https://objecten.example/' else 'https://weg.example/' end,
        'GET', 'objecten.example', '/api/v2/objects/' || n || '?pad=' || repeat('lang', 40),
        case when n % 2 = 0 then 200 end, case when n % 2 = 0 then 'answered' else 'timeout' end, n, 'req-' || n
      from generate_series(60, 1, -1) n`
    await tab.goto('/beheer/uitgaand')
    const rows = () => tab.locator('tbody tr')
    t.equal(await rows().count(), 50)
    const answerIsSeen = () =>
      tab
        .locator('tbody .staat')
        .first()
        .evaluate((badge) => badge.getBoundingClientRect().right <= badge.ownerDocument.documentElement.clientWidth)
    t.match(await rows().first().textContent(), '/api/v2/objects/1?')
    t.match(await rows().first().textContent(), 'het antwoord kwam niet op tijd')
    t.same(await accessibilityFaults(tab), [])
    for (const width of [1280, 390]) {
      await tab.setViewportSize({ width, height: 900 })
      t.equal(await isTooWide(tab), false, `${width} wide`)
      t.ok(await answerIsSeen(), `the answer is within reach at ${width} wide`)
    }
    await tab.goto('/beheer/uitgaand?dienst=https%3A%2F%2Fobjecten.example%2F&uitkomst=goed')
    t.equal(await rows().count(), 30)
    await tab.goto('/beheer/uitgaand?uitkomst=geen')
    t.equal(await rows().count(), 30)
    await tab.goto('/beheer/uitgaand?uitkomst=onzin&van=2030-01-01')
    t.equal(await rows().count(), 0)
  })

  t.same(klachten, [])
})
