import t from 'tap'
import { nextRun } from '../../src/operations/retention.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages } from './browser.ts'

t.test('the next run is at 02:17 UTC, today or tomorrow', async (t) => {
  t.equal(nextRun(new Date('2026-02-28T02:16:59Z')).toISOString(), '2026-02-28T02:17:00.000Z')
  t.equal(nextRun(new Date('2026-02-28T02:17:00Z')).toISOString(), '2026-03-01T02:17:00.000Z')
})

t.test('the retention page', await needsBrowser(), async (t) => {
  const test = await setUpPages(t)
  const { sql } = test.database
  await sql`truncate notificatie, delivery, delivery_attempt`
  const { tab, klachten } = await asBeheerder(test, 'administrator')
  const nu = async (wat: string) => Number(await tab.textContent(`[data-nu=${wat}]`))

  t.test('before any run', async (t) => {
    await tab.goto('/beheer/bewaartermijnen')
    t.match(await tab.textContent('main'), 'Er is nog niet opgeruimd')
    t.match(await tab.textContent('main'), '60 dagen')
    t.same(await accessibilityFaults(tab), [])
  })

  t.test('what it says that a run would remove is what the run removes', async (t) => {
    await sql`
      insert into import (status, created_at, ended_at, deleted_at) values
        ('finished', now() - interval '9 days', now() - interval '8 days', null),
        ('error', now() - interval '9 days', now() - interval '8 days', null),
        ('finished', now() - interval '9 days', now() - interval '6 days', null),
        ('finished', now() - interval '9 days', now() - interval '8 days', now()),
        ('active', now() - interval '90 days', null, null)`
    await sql`
      with n as (
        insert into notificatie (kanaal, hoofd_object, hoofd_object_uuid, resource, resource_url, actie, kenmerken, aanmaakdatum)
        select 'zaken', 'http://x/', gen_random_uuid(), status, 'http://x/', 'create', '{}', now() - dag * interval '1 day'
        from unnest(array[59, 61, 400]) dag, unnest(array['gepland', 'afgeleverd', 'mislukt']) status returning *
      )
      insert into delivery (notificatie_id, hoofd_object_uuid, status)
      select id, hoofd_object_uuid, resource from n where resource <> 'afgeleverd'`
    await tab.goto('/beheer/bewaartermijnen')
    t.equal(await nu('imports'), 2)
    t.equal(await nu('notificaties'), 6, 'also what waits: no service is named that it could go to')
    await tab.click('text=Nu uitvoeren')
    t.match(await tab.textContent('main'), /Dit wordt voorgoed verwijderd.*2 imports.*6 notificaties/s)
    t.same(await accessibilityFaults(tab), [])
    t.equal((await sql`select from retention_run`).length, 0, 'asking is not doing')
    await tab.focus('text=Ja, nu opruimen')
    await tab.keyboard.press('Enter')
    await tab.waitForSelector('text=Het opruimen is gestart')
    t.match(await tab.textContent('main'), 'staat klaar')
    t.same(await accessibilityFaults(tab), [])
    await test.runJobs()
    const [run] =
      await sql`select imports, notificaties, started_by as door, ended_at is not null as klaar, fault from retention_run`
    t.same(run, { imports: 2, notificaties: 6, door: 'administrator', klaar: true, fault: null })
    t.match((await sql`select * from beheer_audit where handeling = 'bewaartermijnen-uitvoeren'`)[0], {
      gebruiker: 'administrator',
      nieuw: { imports: 2, notificaties: 6 },
    })
    await tab.goto('/beheer/bewaartermijnen')
    t.equal(await nu('imports'), 0)
    t.equal(await nu('notificaties'), 0)
    t.match(await tab.textContent('main'), /Klaar.*administrator/s)
  })

  t.test('a run that failed says so; viewers look, and the server refuses them and operators', async (t) => {
    await sql`insert into retention_run (fault, ended_at) values ('<script>alert(1)</script>', now())`
    for (const rol of ['viewer', 'operator'] as const) {
      const { tab, context, klachten } = await asBeheerder(test, rol, { width: 320 })
      await tab.goto('/beheer/bewaartermijnen')
      t.match(await tab.textContent('main'), 'Mislukt <script>alert(1)</script>')
      t.equal(await tab.$('text=Nu uitvoeren'), null)
      t.equal(await isTooWide(tab), false)
      const _csrf = await tab.inputValue('input[name=_csrf]')
      const answer = await context.request.post('/beheer/bewaartermijnen/uitvoeren', {
        form: { _csrf },
        headers: { origin: test.adres },
      })
      t.equal(answer.status(), 403)
      t.same(klachten, [])
    }
  })

  t.same(klachten, [])
})
