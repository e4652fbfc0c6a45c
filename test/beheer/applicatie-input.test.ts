import t from 'tap'
import { goed, maakApplicatie, post, uuidVan } from './applicatie-pages.ts'
import { alsBeheerder, needsBrowser, type Opstelling, opstelling } from './browser.ts'

const SCRIPT = `<script>alert(1)</script>"><img src=x onerror=alert(1)>`

t.test('the pages of applications', await needsBrowser(), async (t) => {
  const test: Opstelling = await opstelling(t)

  t.test('the list is searched and filtered in its address, and paged', async (t) => {
    const { pagina } = await alsBeheerder(test, 'viewer')
    await test.database
      .sql`insert into applicatie (label) select 'Reeks ' || lpad(n::text, 3, '0') from generate_series(1, 120) n`
    await test.database.sql`insert into applicatie_client (client_id, applicatie_id)
      select 'reeks-' || id, id from applicatie where label like 'Reeks %'`
    await pagina.goto('/beheer/applicaties?zoek=REEKS&rechten=geen')
    t.equal(await pagina.locator('main tbody tr').count(), 50)
    await pagina.click('text=Volgende')
    t.match(await pagina.textContent('main tbody th'), 'Reeks 051')
    await pagina.click('text=Volgende')
    t.equal(await pagina.locator('main tbody tr').count(), 20)
    await pagina.click('text=Vorige')
    t.match(await pagina.textContent('main tbody th'), 'Reeks 051')
    await goed(t, pagina)
    await pagina.goto('/beheer/applicaties?rechten=alle&zoek=beheer')
    t.equal(await pagina.locator('main tbody tr').count(), 1)
    await pagina.goto('/beheer/applicaties?zoek=bestaat%25niet')
    t.match(await pagina.textContent('main'), 'Geen applicatie voldoet hieraan')
    for (const onzin of ['na=x', 'voor=%00', 'zoek=%00', 'na=1:%F0%9F', 'rechten=toString&zoek=a&zoek=b']) {
      const answer = await pagina.request.get(`/beheer/applicaties?${onzin}`)
      t.ok(answer.status() < 500, onzin)
    }
  })

  t.test('faults stand beside their fields, and what would be lost is asked first', async (t) => {
    const { pagina, klachten } = await alsBeheerder(test, 'administrator')
    await pagina.goto('/beheer/applicaties/nieuw')
    await pagina.fill('#veld-label', 'Dubbel')
    await pagina.fill('#veld-clientIds', 'beheer')
    await pagina.click('main button[type=submit]')
    t.match(await pagina.textContent('#veld-clientIds-fout'), 'horen al bij een andere applicatie')
    t.equal(await pagina.inputValue('#veld-label'), 'Dubbel')
    await goed(t, pagina)
    await pagina.fill('#veld-clientIds', 'x'.repeat(51))
    await pagina.click('main button[type=submit]')
    t.match(await pagina.textContent('#veld-clientIds-fout'), '50 tekens')
    await pagina.fill('#veld-clientIds', 'een\ntwee')
    await pagina.fill('#veld-geheim', 'kort')
    await pagina.click('main button[type=submit]')
    t.match(await pagina.textContent('#veld-geheim-fout'), 'Laat dit veld leeg')
    await pagina.click('main button[type=submit]')
    await pagina.waitForURL('**/geheim')
    t.equal(await pagina.locator('pre[id^=geheim]').count(), 2)

    await pagina.goto(`/beheer/applicaties/${uuidVan(pagina)}/wijzigen`)
    await goed(t, pagina)
    await pagina.fill('#veld-clientIds', 'een')
    await pagina.click('main button[type=submit]')
    t.match(await pagina.textContent('#veld-bevestigd-fout'), 'Zonder client-id twee vervallen ook de geheimen')
    await goed(t, pagina)
    await pagina.check('#veld-bevestigd')
    await pagina.click('main button[type=submit]')
    t.match(await pagina.textContent('main'), 'De wijziging is opgeslagen')
    t.equal(await pagina.locator('h3:has-text("twee")').count(), 0)
    const uuid = uuidVan(pagina)
    await post(pagina, `/beheer/applicaties/${uuid}/rechten/nieuw`, { component: 'ztc', scopes: 'catalogi.lezen' })
    await pagina.goto(`/beheer/applicaties/${uuid}/wijzigen`)
    await pagina.check('#veld-heeftAlleAutorisaties')
    await pagina.click('main button[type=submit]')
    t.match(await pagina.textContent('#veld-bevestigd-fout'), 'de autorisaties die er nu zijn (1) vervallen')
    await pagina.check('#veld-bevestigd')
    await pagina.click('main button[type=submit]')
    t.match(await pagina.textContent('main'), 'Deze applicatie heeft alle autorisaties')
    await pagina.goto(`/beheer/applicaties/${uuid}/wat-mag`)
    t.match(await pagina.textContent('main'), /mag\s+alles/)
    await goed(t, pagina)

    // A short secret of its own is taken, with a warning.
    await pagina.goto('/beheer/applicaties/nieuw')
    await pagina.fill('#veld-label', 'Oud systeem')
    await pagina.fill('#veld-clientIds', 'oud-systeem')
    await pagina.fill('#veld-geheim', 'geheim')
    await pagina.click('main button[type=submit]')
    await pagina.waitForURL('**/geheim')
    t.match(await pagina.textContent('main'), 'minder dan 32 tekens')
    await pagina.click('text=Naar de applicatie')
    t.match(await pagina.textContent('main'), /kort\s+Minder dan 32 tekens/)
    await goed(t, pagina)
    t.same(klachten, [])
  })

  t.test('script in a name is text, wherever it is shown', async (t) => {
    const { pagina, klachten } = await alsBeheerder(test, 'administrator')
    pagina.on('dialog', () => t.fail('script ran'))
    const uuid = await maakApplicatie(pagina, SCRIPT, SCRIPT.slice(0, 50))
    await test.database.sql`insert into autorisatie (applicatie_id, component, scopes, type_url)
      select id, 'zrc', array[${SCRIPT}], ${`http://elders.nl/${SCRIPT}`} from applicatie where uuid = ${uuid}`
    const [{ id }] = await test.database.sql<[{ id: number }]>`select max(id) as id from autorisatie`
    const client = encodeURIComponent(SCRIPT.slice(0, 50))
    await pagina.setViewportSize({ width: 320, height: 800 })
    for (const vraag of ['', '?component=ztc', '?component=drc&zoek=brief']) {
      await pagina.goto(`/beheer/applicaties/${uuid}/rechten/nieuw${vraag}`)
      await goed(t, pagina)
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
      await pagina.goto(`/beheer/applicaties/${uuid}${pad}`)
      t.match(await pagina.content(), '&lt;script&gt;alert(1)', pad)
      t.equal(await pagina.locator('main img, main script').count(), 0, pad)
      await goed(t, pagina, /rechten.type.\d+$|wat-mag|nieuw/.test(pad))
    }
    await pagina.goto(`/beheer/applicaties?zoek=${encodeURIComponent(SCRIPT.slice(0, 20))}`)
    t.equal(await pagina.locator('main tbody tr').count(), 1)
    t.same(klachten, [])
  })
})
