import t from 'tap'
import { COUNT_JOBS_TO } from '../../src/beheer/operations/jobs.ts'
import { emptyQueue, failJob, lockJob } from '../jobs/queue.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages } from './browser.ts'

const KWAAD = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'

t.test('the queue of jobs', await needsBrowser(), async (t) => {
  const test = await setUpPages(t)
  const { sql } = test.database
  await emptyQueue(sql)
  const { tab, klachten } = await asBeheerder(test, 'operator')
  const main = () => tab.textContent('main')
  const geef = async (
    values: { taak?: string; run_at?: string; attempts?: number; last_error?: string; locked_by?: string } = {},
  ) => {
    const [job] =
      await sql`select id from add_job(${values.taak ?? 'fold-counts'}, run_at => ${values.run_at ?? null}::timestamptz, max_attempts => 5)`
    if (values.attempts) await failJob(sql, job!.id, values.attempts, values.last_error ?? '')
    if (values.locked_by) await lockJob(sql, job!.id, values.locked_by, 180)
    return job!.id as string
  }
  const straks = new Date(Date.now() + 3_600_000).toISOString()

  t.test('an empty queue says so', async (t) => {
    await tab.goto('/beheer/taken')
    t.match(await main(), 'Er zijn geen taken')
    t.same(await accessibilityFaults(tab), [])
  })

  t.test('every state says why it waits and what to do about it', async (t) => {
    const cases: [string, RegExp][] = [
      [await geef(), /Wacht.*Er draait geen worker die deze taak kan uitvoeren/s],
      [await geef({ run_at: straks }), /Gepland.*gepland voor een later moment.*U hoeft niets te doen/s],
      [await geef({ run_at: straks, attempts: 2, last_error: KWAAD }), /Poging 2 mislukte.*vanzelf opnieuw/s],
      [await geef({ locked_by: 'weg' }), /Bezig.*bestaat niet meer.*Duurt al.*3 min/s],
      [await geef({ attempts: 5, last_error: KWAAD }), /Mislukt.*Alle 5 pogingen zijn gebruikt/s],
    ]
    await sql`insert into worker (name, version, host, pid, pool_id) values ('worker', '1', ${KWAAD}, 1, 'leeft')`
    cases.push([await geef({ locked_by: 'leeft' }), /actief en werkt aan deze taak/])
    await sql`insert into worker (name, version, host, pid, pool_id, seen_at) values ('worker', '1', 'h', 2, 'stil', now() - interval '12 seconds')`
    cases.push([await geef({ locked_by: 'stil' }), /stil sinds \d\d s/])
    cases[0]![1] = /alle plaatsen bij de workers zijn bezet/
    for (const [id, expected] of cases) {
      await sql`update worker set seen_at = now() - case pool_id when 'stil' then interval '12 seconds' else interval '0' end`
      await tab.goto(`/beheer/taken/${id}`)
      t.match(await main(), expected)
      if (id === cases[4]![0]) t.same(await accessibilityFaults(tab), [])
    }
    await tab.goto(`/beheer/taken/${cases[2]![0]}`)
    t.match(await tab.textContent('pre'), KWAAD)
    await sql`delete from worker`
    await tab.goto(`/beheer/taken/${cases[0]![0]}`)
    t.match(await main(), 'Er draait geen worker')
  })

  t.test('failures stand together by their cause, and those of one cause are tried again at once', async (t) => {
    const [row] = await sql`select coalesce(max(id), 0)::int as id from jobs`
    const before = row!.id as number
    for (const file of [11, 12, 13])
      await geef({ taak: 'remove-file', attempts: 5, last_error: `bestand ${file} is op slot\n  at x` })
    await geef({ taak: 'remove-draft', attempts: 5, last_error: 'iets anders' })
    await tab.goto('/beheer/taken')
    const causes = tab.locator('.oorzaken li')
    t.match(await causes.first().textContent(), /Bestand van een document verwijderen: 3 taken.*bestand … is op slot/s)
    t.same(await accessibilityFaults(tab), [])
    await tab.click('text=Deze 3 opnieuw uitvoeren')
    await tab.waitForSelector('.bericht-goed')
    t.match(await tab.textContent('.bericht-goed'), '3 taken worden opnieuw uitgevoerd')
    const jobs = await sql`
      select task_identifier as taak, attempts from jobs where id > ${before} order by id`
    t.same(
      jobs.map(({ taak, attempts }) => [taak, attempts]),
      [
        ['remove-file', 0],
        ['remove-file', 0],
        ['remove-file', 0],
        ['remove-draft', 5],
      ],
    )
    const [record] = await sql`select * from beheer_audit where handeling = 'taken-opnieuw'`
    t.match(record, { gebruiker: 'operator', nieuw: { aantal: 3 } })
    await sql`delete from _private_jobs where id > ${before}`
  })

  t.test('filters count and show, and rubbish is no fault', async (t) => {
    for (const [query, rows] of [
      ['', 7],
      ['staat=mislukt', 1],
      ['staat=bezig', 3],
      ['staat=gepland', 2],
      ['taak=import-batch', 0],
      ['staat=x&na=x', 7],
    ] as const) {
      await tab.goto(`/beheer/taken?${query}`)
      t.equal((await tab.$$('tbody tr')).length, rows, query)
    }
    t.match(await main(), 'Mislukt: 1')
    t.same(await accessibilityFaults(tab), [])
    t.equal((await tab.goto('/beheer/taken/99999999'))!.status(), 404)
    t.equal((await tab.goto('/beheer/taken/x'))!.status(), 404)
  })

  t.test('a failed job is run again, by keyboard', async (t) => {
    const id = await geef({ attempts: 5, last_error: 'kapot' })
    await tab.goto(`/beheer/taken/${id}`)
    await tab.focus('button:text-is("Opnieuw uitvoeren")')
    await tab.keyboard.press('Enter')
    await tab.waitForSelector('text=De taak wordt opnieuw uitgevoerd')
    const [job] = await sql`select attempts, run_at <= now() as nu from jobs where id = ${id}`
    t.same(job, { attempts: 0, nu: true })
    const [row] = await sql`select * from beheer_audit where handeling = 'taak-opnieuw'`
    t.match(row, { object_id: String(id), gebruiker: 'operator', oud: { lastFault: 'kapot' } })
  })

  t.test('a failed job is removed after a question, also without script; one that a worker has is not', async (t) => {
    const { tab } = await asBeheerder(test, 'operator', { javaScriptEnabled: false, width: 320 })
    const id = await geef({ attempts: 5 })
    await tab.goto(`/beheer/taken/${id}`)
    await tab.click('main >> text=Verwijderen')
    t.equal((await sql`select from jobs where id = ${id}`).length, 1)
    await tab.click('text=Ja, verwijderen')
    t.match(await tab.textContent('main'), 'De taak is verwijderd')
    t.equal((await sql`select from jobs where id = ${id}`).length, 0)
    const busy = await geef({ attempts: 5 })
    await tab.goto(`/beheer/taken/${busy}/verwijderen`)
    await lockJob(sql, busy, 'x', 0)
    await tab.click('text=Ja, verwijderen')
    t.match(await tab.textContent('main'), 'De taak is intussen veranderd')
    t.equal((await sql`select from jobs where id = ${busy}`).length, 1)
  })

  t.test('a long queue goes a page at a time; a viewer only looks', async (t) => {
    await sql`select add_job('fold-counts', run_at => ${straks}::timestamptz) from generate_series(1, 120)`
    const { tab, context, klachten } = await asBeheerder(test, 'viewer', { width: 320 })
    await tab.goto('/beheer/taken?staat=gepland')
    const seen = new Set<string>()
    for (;;) {
      for (const href of await tab.$$eval('tbody a', (links) => links.map((link) => link.getAttribute('href')!)))
        seen.add(href)
      const next = await (await tab.$('a[rel=next]'))?.getAttribute('href')
      if (!next) break
      await tab.goto(next)
    }
    const [planned] = await sql`select count(*)::int as n from job_overview where state = 'gepland'`
    t.equal(seen.size, planned!.n)
    t.equal(await isTooWide(tab), false)
    t.same(await accessibilityFaults(tab), [])
    const _csrf = await tab.inputValue('input[name=_csrf]')
    const [job] = await sql`select id from job_overview where state = 'mislukt'`
    for (const path of ['opnieuw', 'verwijderen']) {
      const answer = await context.request.post(`/beheer/taken/${job!.id}/${path}`, {
        form: { _csrf },
        headers: { origin: test.adres },
      })
      t.equal(answer.status(), 403)
    }
    t.same(klachten, [])
  })

  t.test('of a very long queue the oldest jobs are counted, among which are those that failed', async (t) => {
    t.notMatch(await tab.textContent('#taken'), 'De aantallen en oorzaken gaan over')
    await sql`
      select count(*) from add_jobs(array(
        select ('fold-counts', '{}', null, now() + interval '1 hour', 5, null, null, null)::job_spec
        from generate_series(1, ${COUNT_JOBS_TO})))`
    await tab.goto('/beheer/taken')
    const shown = (await tab.textContent('#taken')) ?? ''
    t.match(shown, 'De aantallen en oorzaken gaan over de oudste 100.000 taken.')
    t.match(shown, 'Mislukt: 1')
    t.match(shown, 'Waarom taken mislukten')
    const counts = [...shown.matchAll(/(?:Wacht|Bezig|Gepland|Mislukt): ([\d.]+)/g)].map(([, n]) =>
      Number(n?.replaceAll('.', '')),
    )
    t.equal(
      counts.reduce((sum, n) => sum + n, 0),
      COUNT_JOBS_TO,
    )
    await emptyQueue(sql)
  })

  t.same(klachten, [])
})
