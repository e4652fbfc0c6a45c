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
    const { tab, klachten } = await asBeheerder(test, 'viewer', { width: 390 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await tab.emulateMedia({ colorScheme })
      for (const [path, pictures] of [
        ['/', 1],
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
      /\/beheer\/notificaties\?van=\d{4}-\d\d-\d\d&tot=\d{4}-\d\d-\d\d&status=mislukt$/,
    )
    await tab.click('text=Als tabel >> nth=0')
    t.match(await tab.locator('#per-uur-tabel tbody tr').nth(3).textContent(), /43\s*9\s*2/)
    t.same(klachten, [])
  },
)
