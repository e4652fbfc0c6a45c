import t from 'tap'
import { alsBeheerder, needsBrowser, opstelling, teBreed, toegankelijkheid } from './browser.ts'

t.test('the page of requests to other services', await needsBrowser(), async (t) => {
  const test = await opstelling(t)
  const { sql } = test.database
  const { pagina, klachten } = await alsBeheerder(test, 'viewer')

  t.test('says that there are none', async (t) => {
    await pagina.goto('/beheer/uitgaand')
    t.match(await pagina.textContent('main'), 'Geen verzoeken gevonden.')
    t.same(await toegankelijkheid(pagina), [])
  })

  t.test('shows the newest first, page by page, and filters by service and outcome', async (t) => {
    await sql`insert into dienst (label, slug, soort, api_root) values ('Objecten', 'objecten', 'orc', 'https://objecten.example/')`
    await sql`insert into uitgaand_verzoek (tijdstip, dienst, methode, host, pad, status, uitkomst, ms, verzoek)
      select now() - n * interval '1 minute', case when n % 2 = 0 then 'https://objecten.example/' else 'https://weg.example/' end,
        'GET', 'objecten.example', '/api/v2/objects/' || n || '?pad=' || repeat('lang', 40),
        case when n % 2 = 0 then 200 end, case when n % 2 = 0 then 'answered' else 'timeout' end, n, 'req-' || n
      from generate_series(60, 1, -1) n`
    await pagina.goto('/beheer/uitgaand')
    const rows = () => pagina.locator('tbody tr')
    t.equal(await rows().count(), 50)
    const answerIsSeen = () =>
      pagina
        .locator('tbody .staat')
        .first()
        .evaluate((badge) => badge.getBoundingClientRect().right <= badge.ownerDocument.documentElement.clientWidth)
    t.match(await rows().first().textContent(), '/api/v2/objects/1?')
    t.match(await rows().first().textContent(), 'het antwoord kwam niet op tijd')
    t.same(await toegankelijkheid(pagina), [])
    for (const width of [1280, 390]) {
      await pagina.setViewportSize({ width, height: 900 })
      t.equal(await teBreed(pagina), false, `${width} wide`)
      t.ok(await answerIsSeen(), `the answer is within reach at ${width} wide`)
    }
    await pagina.goto('/beheer/uitgaand?dienst=https%3A%2F%2Fobjecten.example%2F&uitkomst=goed')
    t.equal(await rows().count(), 30)
    await pagina.goto('/beheer/uitgaand?uitkomst=geen')
    t.equal(await rows().count(), 30)
    await pagina.goto('/beheer/uitgaand?uitkomst=onzin&van=2030-01-01')
    t.equal(await rows().count(), 0)
  })

  t.same(klachten, [])
})
