// Deliveries over time, as the overview and the page of an abonnement draw them.
import postgres from 'postgres'
import t from 'tap'
import { drawBars } from '../../src/beheer/frame/bars.ts'
import { pausesOf, recentSpeed, type SpeedFigure, speedPicture } from '../../src/beheer/imports/speed-picture.ts'
import { fullWeek, isFullSoon, weekOf } from '../../src/beheer/operations/growth.ts'
import { prepareNrc } from '../../src/nrc/start.ts'
import { until } from '../until.ts'
import { withPath } from '../with-path.ts'
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
    select date_trunc('hour', now()) - n * interval '1 hour', receiver, 40 + n, case n when 3 then 9 else 0 end, case n when 3 then 2 else 0 end, now()
    from generate_series(0, 200) n, unnest(array[-1, ${made!.id}::bigint]) receiver`
    await sql`insert into queue_figure select date_trunc('minute', now()) - n * interval '1 minute', 100 - n, case when n < 20 then 1200 else 60 end, 1, 5
      from generate_series(0, 60) n`
    await sql`insert into growth_figure select current_date - n, 1000 - n, 500 - n, 1e9::bigint, 6e11::bigint - n * 10e9::bigint, 1e12::bigint from generate_series(0, 40) n
      on conflict do nothing`
    const [imported] =
      await sql`insert into import (status, header, total, processed, succeeded, started_at) values ('active', '["a"]', 100, 50, 40, now() - interval '2 minutes') returning id, uuid`
    await sql`insert into import_figure select ${imported!.id}, date_bin('10 seconds', now(), '2000-01-01Z') - n * interval '10 seconds', 5, 1 from generate_series(0, 9) n`
    const { tab, klachten } = await asBeheerder(test, 'viewer', { width: 390 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await tab.emulateMedia({ colorScheme })
      for (const [path, pictures] of [
        ['/', 4],
        ['/notificaties', 3],
        ['/taken', 2],
        ['/groei', 4],
        [`/imports/${imported!.uuid}`, 1],
        [`/abonnementen/${made!.uuid}`, 2],
      ] as const) {
        await tab.goto(`/beheer${path}`)
        t.equal(await tab.locator('.balken').count(), pictures)
        t.same(await accessibilityFaults(tab), [], `${path} ${colorScheme}`)
        t.equal(await isTooWide(tab), false, path)
      }
    }
    await tab.goto('/beheer/groei')
    t.match(
      await tab.textContent('main'),
      /Er komt 70 GB per week bij\. Gaat dat zo door, dan is de schijf vol in week \d+/,
    )
    await tab.goto(`/beheer/imports/${imported!.uuid}`)
    t.match(await tab.textContent('[data-waarde=klaarOm]'), /^ongeveer (vandaag|morgen) \d\d:\d\d$/)
    await tab.goto(`/beheer/abonnementen/${made!.uuid}`)
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

t.test('the speed of an import shows where it stood still, and says when it will be done', async (t) => {
  const begin = Date.parse('2026-11-26T10:00:00Z')
  const each = (from: number, until: number, step: number, handled: number): SpeedFigure[] =>
    Array.from({ length: (until - from) / step }, (_, n) => ({
      at: begin + (from + n * step) * 1000,
      handled,
      failed: handled / 10,
    }))
  const figures = [...each(0, 300, 10, 1000), ...each(660, 1200, 10, 2000)]
  t.same(pausesOf(figures), [{ from: begin + 300_000, until: begin + 660_000 }])
  t.same(pausesOf(each(0, 1200, 60, 50)), [], 'large files make batches that take a minute')
  const picture = speedPicture(figures)!
  t.ok(picture.bars.length <= 48)
  t.match(picture.note, /^Stond stil van 11:05 tot 11:11 \(6 min\)\.$/)
  t.match(picture.bars[0], { words: '90 rijen per seconde geïmporteerd, 10 niet', values: [90, 10, 0] })
  t.equal(picture.bars.filter(({ words }) => words === 'stond stil').length, 12)
  t.equal(picture.top, 200)
  t.equal(Math.round(recentSpeed(figures, begin + 1_200_000)!), 200, 'as of late, not over the whole time')
  t.equal(recentSpeed(figures, begin + 1_500_000), undefined, 'it stands still')
  t.equal(speedPicture(figures.slice(0, 2)), null)
})

t.test('the week in which a disk is full follows from its growth', async (t) => {
  t.match(weekOf('2027-01-01'), { week: 53, monday: '2026-12-28', sunday: '2027-01-03' })
  t.match(weekOf('2026-11-26'), { week: 48, monday: '2026-11-23' })
  t.match(fullWeek({ bytesPerDay: 1, free: 100 }), /^week \d+ \(.* tot en met .*\)$/)
  t.equal(fullWeek({ bytesPerDay: 1, free: 100_000 }), null, 'years away')
  t.equal(fullWeek({ bytesPerDay: -1, free: 100 }), null)
  t.equal(fullWeek(null), null)
  t.same(
    [10, 100].map((free) => isFullSoon({ bytesPerDay: 1, free })),
    [true, false],
  )
})

t.test(
  'on a phone a list begins within 400 pixels, and on a wide screen nothing of it is cut and a row is one line',
  await needsBrowser(),
  async (t) => {
    const test = await setUpPages(t, { NOTIFICATIES_MODE: 'ingebouwd' })
    const { sql } = test.database
    await prepareNrc(test.database, test.config)
    await sql`delete from notificatie`
    const [made] =
      await sql`insert into abonnement (callback_url, auth, failures, failing_since, last_outcome, last_http_status)
      values ('https://zaakafhandeling.gemeente.example/api/v1/een-lang-pad/notificaties', '\\x00', 4, now(), 'http', 503) returning id`
    await sql`
      with made as (insert into notificatie (kanaal, hoofd_object, hoofd_object_uuid, resource, resource_url, actie, kenmerken)
        select 'zaken', 'https://a.example/', gen_random_uuid(), 'zaak', 'https://a.example/', 'create', '{}' from generate_series(1, 3) returning id, hoofd_object_uuid),
      tried as (insert into delivery_attempt (notificatie_id, abonnement_id, number, outcome, http_status, is_last)
        select id, ${made!.id}, 1, 'http', 503, true from made)
      insert into delivery (notificatie_id, abonnement_id, hoofd_object_uuid, status, attempt, next_attempt_at, cause)
      select id, ${made!.id}, hoofd_object_uuid, 'mislukt', 1, null, 'http-503' from made`
    await sql`insert into delivery_figure select date_trunc('hour', now()), -1, 5, 1, 1, now()`
    const { tab, klachten } = await asBeheerder(test, 'administrator', { width: 390 })
    const rows = tab.locator('main tbody tr:visible')
    await sql`update delivery set status = 'gepland', next_attempt_at = now() where notificatie_id = (select min(notificatie_id) from delivery)`
    for (const path of ['/notificaties', '/abonnementen', '/accounts', '/applicaties', '/audit', '/taken']) {
      await tab.setViewportSize({ width: 390, height: 800 })
      await tab.goto(`/beheer${path}`)
      const box = (await rows.count()) === 0 ? { y: 0 } : await rows.first().boundingBox()
      t.ok(box!.y < 400, `${path}: ${box!.y}`)
      t.equal(await isTooWide(tab), false, path)
      t.same(await accessibilityFaults(tab), [], path)
      await tab.setViewportSize({ width: 1280, height: 800 })
      const cut = 'document.querySelector(".tabel:not(figure *)")'
      t.equal(await tab.evaluate(`${cut} !== null && ${cut}.scrollWidth > ${cut}.clientWidth`), false, `${path} is cut`)
    }
    for (const width of [1280, 390]) {
      await tab.setViewportSize({ width, height: 800 })
      await tab.goto('/beheer/configuratie/notificaties')
      const broken =
        await tab.evaluate(`[...document.querySelectorAll('h1, .menu a')].filter((place) => place.checkVisibility()
        && new Set([...place.getClientRects()].map(({ top }) => top)).size > 1 && !/\\s|\\u00ad/.test(place.textContent)).length`)
      t.equal(broken, 0, 'a long word breaks where it has a hyphen')
      t.match(await tab.textContent('h1'), /\u00ad/)
    }
    await tab.setViewportSize({ width: 1280, height: 800 })
    await tab.goto('/beheer/notificaties')
    t.equal(await tab.locator('#beelden .balken').first().isVisible(), true, 'pictures stand open where there is room')
    const { height } = (await rows.first().boundingBox())!
    t.ok(height <= 38, `a row is ${height} high`)
    t.equal(await tab.isVisible('.keuze-balk'), false, 'nothing is chosen')
    await tab.check('tbody input >> nth=0')
    t.equal(await tab.isVisible('text=Gekozen nu proberen'), true, 'the bar appears with the first tick')
    t.same(klachten, [])
  },
)

t.test('pages with figures read a bounded number of rows, however many messages there are and failed', async (t) => {
  const test = await setUpPages(t, { NOTIFICATIES_MODE: 'ingebouwd' }, false)
  const { sql } = test.database
  await prepareNrc(test.database, test.config)
  const [made] =
    await sql`insert into abonnement (callback_url, auth) values ('https://a.example/', '\\x00') returning id, uuid`
  await sql`
    with made as (insert into notificatie (kanaal, hoofd_object, hoofd_object_uuid, resource, resource_url, actie, kenmerken)
      select 'zaken', 'https://a.example/', gen_random_uuid(), 'zaak', 'https://a.example/', 'create', '{}'
      from generate_series(1, 60000) returning id, hoofd_object_uuid),
    tried as (insert into delivery_attempt (notificatie_id, abonnement_id, number, outcome, http_status, is_last)
      select id, ${made!.id}::bigint, 1, case when id % 4 = 0 then 'http' else 'delivered' end, 503, id % 4 = 0 from made)
    insert into delivery (notificatie_id, abonnement_id, hoofd_object_uuid, status, attempt, next_attempt_at, ended_at, cause)
    select id, ${made!.id}, hoofd_object_uuid, 'mislukt', 1, null, now(), case when id % 8000 = 0 then 'dns' else 'http-503' end
    from made where id % 4 = 0`
  for (const table of ['notificatie', 'delivery', 'delivery_attempt']) await sql`vacuum analyze ${sql(table)}`
  const get = await test.signedIn('operator')
  const beside = postgres(withPath(test.databaseUrl), { max: 1, onnotice: () => {} })
  t.teardown(() => beside.end())
  /** A connection tells what it read when it ends. */
  const readUntilNow = async () => {
    const open =
      await beside`select pid from pg_stat_activity where datname = current_database() and application_name = 'zaakstroom test'`
    test.database.cut()
    await until('the connections end', async () => {
      const left = await beside`select from pg_stat_activity where pid = any(${open.map(({ pid }) => pid)}::int[])`
      return left.length === 0
    })
    const [row] = await beside`
      select ((select sum(seq_tup_read) from pg_stat_user_tables where relname like any(array['notificatie%', 'delivery%']))
        + (select sum(idx_tup_read) from pg_stat_user_indexes where relname like any(array['notificatie%', 'delivery%'])))::int as n`
    return row!.n as number
  }
  for (const [path, most] of [
    ['/', 25_000],
    ['/notificaties', 15_000],
    ['/notificaties?status=mislukt', 15_000],
    ['/notificaties?oorzaak=dns', 15_000],
    [`/abonnementen/${made!.uuid}`, 15_000],
    ['/abonnementen', 15_000],
  ] as const) {
    const before = await readUntilNow()
    const answer = await get(`/beheer${path}`)
    t.equal(answer.statusCode, 200, path)
    const rows = (await readUntilNow()) - before
    t.ok(rows <= most, `${path} read ${rows} rows`)
    if (path.startsWith('/notificaties')) {
      t.match(
        answer.body,
        /hostnaam[^<]*<\/strong> bij abonnementen: <a [^>]*>[78] berichten</,
        'a cause that is rare is not missed',
      )
      t.match(
        answer.body,
        /503<\/strong> bij abonnementen: <a [^>]*>meer dan 1\.000 berichten</,
        'a frequent one is counted up to a bound',
      )
    }
  }
})
