import { rename, rm } from 'node:fs/promises'
import t from 'tap'
import packageJson from '../../package.json' with { type: 'json' }
import { noteGrowth } from '../../src/operations/figures.ts'
import { givenInformatieobjecttype } from '../app.ts'
import { emptyQueue, failJob } from '../jobs/queue.ts'
import { configure, forgetMessages, givenChange, givenReceiver } from '../notificaties/given.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages } from './browser.ts'
import { givenDocument } from './given.ts'

const KWAAD = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'

t.test('the overview', await needsBrowser(), async (t) => {
  const test = await setUpPages(t)
  const { sql } = test.database
  await forgetMessages(test)
  await emptyQueue(sql)
  const { tab, klachten } = await asBeheerder(test, 'viewer')
  const main = () => tab.textContent('main')
  const size = () => tab.locator('dt:text-is("Database") + dd').last().textContent()
  const receiver = await givenReceiver(t)
  const keepWorking = () => sql`
    insert into worker (name, version, host, pid, pool_id)
    values ('worker', ${packageJson.version}, ${KWAAD}, 1, 'a'), ('notificaties', ${packageJson.version}, 'h', 1, 'b')
    on conflict (pool_id) do update set seen_at = now()`

  t.test('with nothing running it says what is missing and where to do something', async (t) => {
    await tab.goto('/beheer/')
    t.match(await main(), 'Er draait geen worker voor imports')
    t.match(await main(), 'Er is geen notificatiedienst ingesteld')
    t.equal(await size(), 'onbekend')
    await tab.click('text=Naar de configuratie van notificaties')
    await tab.waitForURL('**/configuratie/notificaties')
  })

  t.test('when all works it says so', async (t) => {
    await configure(test, receiver.root)
    await givenChange(test)
    await test.runJobs()
    await keepWorking()
    await noteGrowth(test.database, {})
    await tab.goto('/beheer/')
    t.match(await main(), 'Alles werkt.')
    t.match(await size(), /^\d+(,\d)? MB$/)
    t.equal(await tab.isVisible('.tegels'), false, 'one line says it')
    t.match(await main(), /Laatste bericht bezorgd/)
    t.match(await main(), /PostgreSQL.*Schema.*\.sql/s)
    t.match(await main(), KWAAD, 'as text')
    t.same(await accessibilityFaults(tab), [])
  })

  t.test('an installation without cases shows the first steps, and what is done of them', async (t) => {
    await tab.goto('/beheer/')
    t.match(await main(), /Eerste stappen.*Maak een catalogus/s)
    t.equal(await tab.locator('.eerste-stappen a[href$="/catalogi/nieuw"]').count(), 0, 'a viewer makes none')
    const admin = await asBeheerder(test, 'administrator', { width: 390 })
    await admin.tab.goto('/beheer/')
    t.equal(await admin.tab.locator('.eerste-stappen a[href$="/catalogi/nieuw"]').count(), 1)
    t.match(await admin.tab.textContent('.eerste-stappen li:has(.staat-goed)'), 'Geef een applicatie rechten')
    t.same(await accessibilityFaults(admin.tab), [])
    t.equal(await isTooWide(admin.tab), false)
    const type = await givenInformatieobjecttype(test)
    await tab.goto('/beheer/')
    t.match(await tab.textContent('.eerste-stappen li:has(.staat-goed) >> nth=0'), 'Maak een catalogus')
    await givenDocument(test, type)
    await tab.goto('/beheer/')
    t.notMatch(await main(), 'Eerste stappen')
    await sql`delete from delivery` // what these changes told nobody
  })

  t.test('a paused abonnement says that it is paused, and a storm of them is one block', async (t) => {
    await sql`insert into abonnement (callback_url, auth, status, reason) values ('https://stil.example/', '\\x00', 'gepauzeerd', 'Onderhoud.')`
    await sql`
      insert into delivery (notificatie_id, abonnement_id, hoofd_object_uuid, next_attempt_at)
      select (select max(id) from notificatie), id, gen_random_uuid(), now() - interval '1 hour' from abonnement`
    await tab.goto('/beheer/')
    t.match(await main(), /stil\.example\/? is gepauzeerd, en er wachten berichten, .*Onderhoud\. Zij gaan niet weg/s)
    t.notMatch(await main(), 'De ontvanger is traag')
    await sql`
      insert into abonnement (callback_url, auth, failures, failing_since, last_outcome, last_http_status)
      select 'https://storing' || n || '.example/', '\\x00', 9, now(), 'http', 503 from generate_series(1, 4) n`
    await tab.goto('/beheer/')
    t.match(await main(), 'Bij 5 abonnementen komen berichten niet aan.')
    t.equal(await tab.locator('[data-storing] li').count(), 3, 'the worst three are named')
    t.same(await accessibilityFaults(tab), [])
    await sql`delete from delivery`
    await sql`delete from abonnement`
  })

  t.test('a fault shows by itself within 15 s and is gone within 30 s, each with what to do', async (t) => {
    await keepWorking()
    await tab.goto('/beheer/')
    await sql`update worker set seen_at = now() - interval '1 minute' where pool_id = 'a'`
    await sql`select add_job('fold-counts', run_at => now() - interval '2 minutes')`
    await tab.waitForSelector('text=stil sinds 1 min', { timeout: 60_000 })
    t.match(await main(), 'Taken blijven liggen')
    await emptyQueue(sql)
    await keepWorking()
    await tab.waitForSelector('text=stil sinds 1 min', { state: 'detached', timeout: 60_000 })
  })

  t.test('the state of the receiver', async (t) => {
    receiver.answer = (response) => response.writeHead(401).end()
    await givenChange(test)
    await test.runJobs()
    await tab.goto('/beheer/')
    t.match(await main(), /Laatste poging mislukt.*status 401/s)
    t.match(await main(), 'Controleer client-ID en secret')
    await sql`update service set api_root = 'http://127.0.0.1:9/'`
    await tab.goto('/beheer/')
    t.match(await main(), 'De notificatiedienst is niet bereikbaar: de verbinding werd geweigerd')
    await sql`update service set api_root = ${receiver.root}`
    await tab.goto('/beheer/')
    t.notMatch(await main(), 'niet bereikbaar')
  })

  t.test('storage that went away, an import, failed notifications and jobs', async (t) => {
    await rename(test.config.documentenDir, `${test.config.documentenDir}-weg`)
    await sql`insert into import (status, total, processed, succeeded, started_at) values ('active', 100, 40, 39, now() - interval '10 seconds')`
    await sql`update delivery set status = 'mislukt' where status = 'gepland'`
    const [job] = await sql`select id from add_job('import-batch', max_attempts => 1)`
    await failJob(sql, job!.id, 1, 'stuk')
    await tab.goto('/beheer/')
    t.match(await main(), 'De documentopslag (map op schijf) is niet beschikbaar')
    t.match(await main(), '40 van 100 rijen, 1 mislukt')
    t.match(await main(), 'Vandaag is één bezorging mislukt')
    t.match(await main(), 'Er is een taak mislukt')
    t.same(await accessibilityFaults(tab), [])
    await rm(test.config.documentenDir, { recursive: true, force: true })
    await rename(`${test.config.documentenDir}-weg`, test.config.documentenDir)
    await tab.goto('/beheer/')
    t.notMatch(await main(), 'niet beschikbaar')
  })

  t.test('without script at 320 pixels', async (t) => {
    const { tab } = await asBeheerder(test, 'viewer', { javaScriptEnabled: false, width: 320 })
    t.match(await tab.textContent('main'), 'Gezondheid')
    t.match(await tab.innerHTML('head'), 'http-equiv="refresh" content="10"')
    const smal = await asBeheerder(test, 'viewer', { width: 320 })
    t.equal(await isTooWide(smal.tab), false)
    t.same(await accessibilityFaults(smal.tab), [])
  })

  t.same(klachten, [])
})
