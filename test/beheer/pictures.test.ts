// Deliveries over time, as the overview and the page of an abonnement draw them.
import t from 'tap'
import { drawBars } from '../../src/beheer/frame/bars.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages } from './browser.ts'

t.test('bars stack from below, the highest takes all, and what is not nothing is seen', async (t) => {
  const parts = [
    { word: 'a', tone: 'goed' },
    { word: 'b', tone: 'fout' },
  ] as const
  const { bars, top, isEmpty } = drawBars(
    [...parts],
    [
      { label: '1', values: [900, 100], path: '/' },
      { label: '2', values: [0, 1], path: '/' },
      { label: '3', values: [0, 0], path: '/' },
    ],
  )
  t.equal(top, 1000)
  t.equal(isEmpty, false)
  const [high, low, none] = bars.map(({ segments }) => segments)
  t.match(high, [{ tone: 'goed' }, { tone: 'fout' }])
  t.ok(high!.every(({ y, height }) => y >= 0 && y + height <= 100))
  t.equal(high![1]!.y + high![1]!.height, high![0]!.y, 'the one on the other')
  t.same(low, [{ y: 98, height: 2, tone: 'fout' }])
  t.same(none, [])
  t.ok(drawBars([...parts], [{ label: '1', values: [0, 0], path: '/' }]).isEmpty)
})

t.test(
  'pictures have a table, words and links, and nothing that axe finds, in the dark as well',
  await needsBrowser(),
  async (t) => {
    const test = await setUpPages(t)
    const { sql } = test.database
    const [made] =
      await sql`insert into abonnement (callback_url, auth) values ('https://ontvanger.example/', '\\x00') returning id, uuid`
    await sql`
    insert into delivery_figure (hour, abonnement_id, delivered, retried, failed, counted_until)
    select date_trunc('hour', now()) - n * interval '1 hour', ${made!.id}, 40 + n, case n when 3 then 9 else 0 end, case n when 3 then 2 else 0 end, now()
    from generate_series(0, 200) n`
    await sql`insert into queue_figure select date_trunc('minute', now()) - n * interval '1 minute', 100 - n, case when n < 20 then 1200 else 60 end, 1, 5
      from generate_series(0, 60) n`
    const { tab, klachten } = await asBeheerder(test, 'viewer', { width: 390 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await tab.emulateMedia({ colorScheme })
      for (const [path, pictures] of [
        ['/', 3],
        ['/notificaties', 3],
        ['/taken', 2],
        [`/abonnementen/${made!.uuid}`, 2],
      ] as const) {
        await tab.goto(`/beheer${path}`)
        t.equal(await tab.locator('.balken').count(), pictures)
        t.same(await accessibilityFaults(tab), [], `${path} ${colorScheme}`)
        t.equal(await isTooWide(tab), false, path)
      }
    }
    t.equal(await tab.locator('.balken >> nth=0 >> a').count(), 24)
    t.equal(await tab.locator('.balken >> nth=1 >> a').count(), 14)
    const bar = tab.locator('.balken >> nth=0 >> a').nth(20)
    t.match(await bar.getAttribute('aria-label'), /^\S+ \d\d:00: 43 bezorgd, 9 nog eens geprobeerd, 2 mislukt$/)
    t.match(
      await bar.getAttribute('href'),
      new RegExp(`/beheer/notificaties\\?poging=\\d{4}-\\d\\d-\\d\\dT\\d\\d%3A\\d\\dZ&hoe=mislukt&bij=${made!.uuid}$`),
    )
    await tab.click('text=Als tabel >> nth=0')
    t.match(await tab.locator('#per-uur-tabel tbody tr').nth(3).textContent(), /43\s*9\s*2/)
    t.same(klachten, [])
  },
)

t.test('a bar leads to the messages that were tried at that moment, those that failed when some did', async (t) => {
  const test = await setUpPages(t, {}, false)
  const { sql } = test.database
  await sql`delete from notificatie`
  const [a] =
    await sql`insert into abonnement (callback_url, auth) values ('https://a.example/', '\\x00') returning id, uuid`
  await sql`
    with made as (insert into notificatie (kanaal, hoofd_object, hoofd_object_uuid, resource, resource_url, actie, kenmerken, aanmaakdatum)
      select 'zaken', 'https://a.example/', gen_random_uuid(), 'zaak', 'https://a.example/', 'create', '{}', now() - interval '3 days'
      from generate_series(1, 4) returning id)
    insert into delivery_attempt (notificatie_id, abonnement_id, number, begun_at, outcome, http_status, is_last)
    select id, case n when 4 then 0 else ${a!.id}::bigint end, 1, date_trunc('hour', now()) - interval '2 hours' + n * interval '25 minutes',
      case when n = 1 then 'delivered' else 'http' end, 500, n = 2 from (select id, row_number() over (order by id) as n from made) m`
  const get = await test.signedIn('viewer')
  const count = async (query: string) =>
    Number((await get(`/beheer/notificaties?${query}`)).body.match(/role="status">\s*(\d+) bericht/)?.[1])
  const hour = `${new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - 7_200_000).toISOString().slice(0, 16)}Z`
  t.equal(await count(`poging=${hour}`), 2, 'two began in that hour')
  t.equal(await count(`poging=${hour}&hoe=mislukt`), 1)
  t.equal(await count(`poging=${hour}&hoe=nogmaals`), 0)
  t.equal(await count(`poging=${new Date(Date.parse(hour) + 3_600_000).toISOString().slice(0, 16)}Z`), 2)
  t.equal(await count(`poging=${new Date(Date.parse(hour) + 3_600_000).toISOString().slice(0, 16)}Z&bij=${a!.uuid}`), 1)
  t.equal(await count('poging=gisteren'), 4, 'what is no moment is no filter')
  t.match(
    (await get(`/beheer/notificaties?poging=${hour}&hoe=mislukt`)).body,
    /Pogingen: <strong>[^<]+, uur vanaf \d\d:\d\d, mislukt<\/strong>/,
  )
})
