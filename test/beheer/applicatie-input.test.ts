import t from 'tap'
import { goed, makeApplicatie, post, uuidOnPage } from './applicatie-pages.ts'
import { asBeheerder, needsBrowser, type PagesSetup, setUpPages } from './browser.ts'

const SCRIPT = `<script>alert(1)</script>"><img src=x onerror=alert(1)>`

t.test('the pages of applications', await needsBrowser(), async (t) => {
  const test: PagesSetup = await setUpPages(t)

  t.test('the list is searched and filtered in its address, and paged', async (t) => {
    const { tab } = await asBeheerder(test, 'viewer')
    await test.database
      .sql`insert into applicatie (label) select 'Reeks ' || lpad(n::text, 3, '0') from generate_series(1, 120) n`
    await test.database.sql`insert into applicatie_client (client_id, applicatie_id)
      select 'reeks-' || id, id from applicatie where label like 'Reeks %'`
    await tab.goto('/beheer/applicaties?zoek=REEKS&rechten=geen')
    t.equal(await tab.locator('main tbody tr').count(), 50)
    await tab.click('text=Volgende')
    t.match(await tab.textContent('main tbody th'), 'Reeks 051')
    await tab.click('text=Volgende')
    t.equal(await tab.locator('main tbody tr').count(), 20)
    await tab.click('text=Vorige')
    t.match(await tab.textContent('main tbody th'), 'Reeks 051')
    await goed(t, tab)
    await tab.goto('/beheer/applicaties?rechten=alle&zoek=beheer')
    t.equal(await tab.locator('main tbody tr').count(), 1)
    await tab.goto('/beheer/applicaties?zoek=bestaat%25niet')
    t.match(await tab.textContent('main'), 'Geen applicatie voldoet hieraan')
    for (const onzin of ['na=x', 'voor=%00', 'zoek=%00', 'na=1:%F0%9F', 'rechten=toString&zoek=a&zoek=b']) {
      const answer = await tab.request.get(`/beheer/applicaties?${onzin}`)
      t.ok(answer.status() < 500, onzin)
    }
  })

  t.test('faults stand beside their fields, and what would be lost is asked first', async (t) => {
    const { tab, klachten } = await asBeheerder(test, 'administrator')
    await tab.goto('/beheer/applicaties/nieuw')
    await tab.fill('#veld-label', 'Dubbel')
    await tab.fill('#veld-clientIds', 'beheer')
    await tab.click('main button[type=submit]')
    t.match(await tab.textContent('#veld-clientIds-fout'), 'horen al bij een andere applicatie')
    t.equal(await tab.inputValue('#veld-label'), 'Dubbel')
    await goed(t, tab)
    await tab.fill('#veld-clientIds', 'x'.repeat(51))
    await tab.click('main button[type=submit]')
    t.match(await tab.textContent('#veld-clientIds-fout'), '50 tekens')
    await tab.fill('#veld-clientIds', 'een\ntwee')
    await tab.fill('#veld-geheim', 'kort')
    await tab.click('main button[type=submit]')
    t.match(await tab.textContent('#veld-geheim-fout'), 'Laat dit veld leeg')
    await tab.click('main button[type=submit]')
    await tab.waitForURL('**/geheim')
    t.equal(await tab.locator('pre[id^=geheim]').count(), 2)

    await tab.goto(`/beheer/applicaties/${uuidOnPage(tab)}/wijzigen`)
    await goed(t, tab)
    await tab.fill('#veld-clientIds', 'een')
    await tab.click('main button[type=submit]')
    t.match(await tab.textContent('#veld-bevestigd-fout'), 'Zonder client-id twee vervallen ook de geheimen')
    await goed(t, tab)
    await tab.check('#veld-bevestigd')
    await tab.click('main button[type=submit]')
    t.match(await tab.textContent('main'), 'De wijziging is opgeslagen')
    t.equal(await tab.locator('h3:has-text("twee")').count(), 0)
    const uuid = uuidOnPage(tab)
    await post(tab, `/beheer/applicaties/${uuid}/rechten/nieuw`, { component: 'ztc', scopes: 'catalogi.lezen' })
    await tab.goto(`/beheer/applicaties/${uuid}/wijzigen`)
    await tab.check('#veld-heeftAlleAutorisaties')
    await tab.click('main button[type=submit]')
    t.match(await tab.textContent('#veld-bevestigd-fout'), 'de autorisaties die er nu zijn (1) vervallen')
    await tab.check('#veld-bevestigd')
    await tab.click('main button[type=submit]')
    t.match(await tab.textContent('main'), 'Deze applicatie heeft alle autorisaties')
    await tab.goto(`/beheer/applicaties/${uuid}/wat-mag`)
    t.match(await tab.textContent('main'), /mag\s+alles/)
    await goed(t, tab)

    // A short secret of its own is taken, with a warning.
    await tab.goto('/beheer/applicaties/nieuw')
    await tab.fill('#veld-label', 'Oud systeem')
    await tab.fill('#veld-clientIds', 'oud-systeem')
    await tab.fill('#veld-geheim', 'geheim')
    await tab.click('main button[type=submit]')
    await tab.waitForURL('**/geheim')
    t.match(await tab.textContent('main'), 'minder dan 32 tekens')
    await tab.click('text=Naar de applicatie')
    t.match(await tab.textContent('main'), /kort\s+Minder dan 32 tekens/)
    await goed(t, tab)
    t.same(klachten, [])
  })

  t.test('script in a name is text, wherever it is shown', async (t) => {
    const { tab, klachten } = await asBeheerder(test, 'administrator')
    tab.on('dialog', () => t.fail('script ran'))
    const uuid = await makeApplicatie(tab, SCRIPT, SCRIPT.slice(0, 50))
    await test.database.sql`insert into autorisatie (applicatie_id, component, scopes, type_url)
      select id, 'zrc', array[${SCRIPT}], ${`http://elders.nl/${SCRIPT}`} from applicatie where uuid = ${uuid}`
    const [{ id }] = await test.database.sql<[{ id: number }]>`select max(id) as id from autorisatie`
    const client = encodeURIComponent(SCRIPT.slice(0, 50))
    await tab.setViewportSize({ width: 320, height: 800 })
    for (const question of ['', '?component=ztc', '?component=drc&zoek=brief']) {
      await tab.goto(`/beheer/applicaties/${uuid}/rechten/nieuw${question}`)
      await goed(t, tab)
    }
    for (const pad of [
      '',
      '/wijzigen',
      '/verwijderen',
      '/wat-mag',
      `/rechten/type/${id}`,
      `/rechten/type/${id}/verwijderen`,
      `/geheim/nieuw?client=${client}`,
    ]) {
      await tab.goto(`/beheer/applicaties/${uuid}${pad}`)
      t.match(await tab.content(), '&lt;script&gt;alert(1)', pad)
      t.equal(await tab.locator('main img, main script').count(), 0, pad)
      await goed(t, tab, /rechten.type.\d+$|wat-mag|nieuw/.test(pad))
    }
    await tab.goto(`/beheer/applicaties?zoek=${encodeURIComponent(SCRIPT.slice(0, 20))}`)
    t.equal(await tab.locator('main tbody tr').count(), 1)
    t.same(klachten, [])
  })
})
