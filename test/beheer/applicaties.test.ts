import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { SCOPES } from '../../src/beheer/applicatie-woorden.ts'
import { givenCatalogus, givenInformatieobjecttype, givenZaaktype, testApp } from '../app.ts'
import { alsBeheerder, needsBrowser, type Opstelling, opstelling, teBreed, toegankelijkheid } from './browser.ts'

const SCRIPT = `<script>alert(1)</script>"><img src=x onerror=alert(1)>`

/** Runs the line as a shell would, and answers the status. */
async function voerUit(regel: string): Promise<number> {
  const { stdout } = await promisify(execFile)('bash', ['-c', `${regel} -s -o /dev/null -w '%{http_code}'`])
  return Number(stdout)
}

/** axe needs a page that runs script; whether it fits is judged without as well. */
async function goed(t: Tap, pagina: Page, script = true): Promise<void> {
  if (script) t.same(await toegankelijkheid(pagina), [], pagina.url())
  t.equal(await teBreed(pagina), false, pagina.url())
}
type Tap = { same(a: unknown, b: unknown, m: string): void; equal(a: unknown, b: unknown, m: string): void }

/** Sends a form of a page with its cookies and token, as somebody who made the form himself. */
async function post(pagina: Page, pad: string, form: Record<string, string>): Promise<number> {
  const _csrf = await pagina.locator('input[name=_csrf]').first().inputValue()
  const origin = new URL(pagina.url()).origin
  const answer = await pagina.request.post(pad, { form: { _csrf, ...form }, headers: { origin }, maxRedirects: 0 })
  return answer.status()
}

const uuidVan = (pagina: Page) => /applicaties\/([0-9a-f-]{36})/.exec(pagina.url())![1]!

async function maakApplicatie(pagina: Page, label: string, clientId: string, alles = false): Promise<string> {
  await pagina.goto('/beheer/applicaties/nieuw')
  await pagina.fill('#veld-label', label)
  await pagina.fill('#veld-clientIds', clientId)
  if (alles) await pagina.check('#veld-heeftAlleAutorisaties')
  await pagina.click('main button[type=submit]')
  await pagina.waitForURL('**/geheim')
  return uuidVan(pagina)
}

t.test('applications', await needsBrowser(), async (t) => {
  const test: Opstelling = await opstelling(t)
  const catalogus = await givenCatalogus(test, { naam: 'Algemeen' })
  await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Brief' })
  await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Foto' })
  await givenZaaktype(test, { catalogus, identificatie: 'KLACHT', omschrijving: 'Klacht' })

  t.test('from the menu to a working curl line: four clicks and two fields', async (t) => {
    const { pagina, context, klachten } = await alsBeheerder(test, 'administrator')
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: test.adres })
    let clicks = 0
    const klik = async (selector: string) => {
      clicks++
      await pagina.click(selector)
    }
    const start = performance.now()
    await klik('nav >> text=Applicaties')
    await goed(t, pagina)
    await klik('text=Nieuwe applicatie')
    await goed(t, pagina)
    await pagina.fill('#veld-label', 'Portaal')
    await pagina.fill('#veld-clientIds', "portaal's")
    await pagina.check('#veld-heeftAlleAutorisaties')
    await klik('main button[type=submit]')
    await pagina.waitForURL('**/geheim')
    await klik('text=Regel kopiëren')
    await pagina.waitForSelector('text=Gekopieerd')
    const regel = await pagina.evaluate('navigator.clipboard.readText()')
    t.equal(await voerUit(String(regel)), 200, 'it works as it was pasted')
    t.equal(clicks, 4)
    t.ok(performance.now() - start < 120_000)
    await goed(t, pagina)

    const geheim = await pagina.textContent('#geheim-0')
    t.equal(geheim?.length, 43)
    await pagina.reload()
    t.notMatch(await pagina.content(), geheim!, 'it is shown once')
    t.match(await pagina.textContent('main'), 'maar één keer te zien')
    const [{ n }] = await test.database.sql<[{ n: number }]>`
      select count(*) as n from (select oud::text || nieuw::text as tekst from beheer_audit union all
        select oud::text || nieuw::text from audit union all select melding::text from beheer_sessie) x
      where tekst like ${`%${geheim}%`}`
    t.equal(n, 0, 'no record holds it')
    t.same(klachten, [])
  })

  t.test('without script: rights, what they come to, and rotation, at 320 pixels', async (t) => {
    const { pagina, klachten } = await alsBeheerder(test, 'administrator', { javaScriptEnabled: false, width: 320 })
    const uuid = await maakApplicatie(pagina, 'Zaaksysteem', 'zaaksysteem')
    t.match(await pagina.textContent('main'), 'nog geen rechten')
    t.equal(await voerUit((await pagina.textContent('#curl-0'))!), 403)
    const eerste = (await pagina.textContent('#geheim-0'))!
    const mag = async (geheim: string, pad: string) => {
      const token = signToken('zaaksysteem', geheim)
      const answer = await test.app.inject({
        url: pad,
        headers: { authorization: `Bearer ${token}`, host: 'localhost' },
      })
      return answer.statusCode
    }
    const documenten = '/documenten/api/v1/enkelvoudiginformatieobjecten'
    t.equal(await mag(eerste, documenten), 403)

    await pagina.click('text=Naar de applicatie')
    t.match(await pagina.textContent('main'), 'mag nog niets')
    await goed(t, pagina, false)
    await pagina.click('text=Recht toevoegen')
    await goed(t, pagina, false)
    await pagina.click('main >> text=Documenten API')
    await goed(t, pagina, false)
    await pagina.check('input[value="documenten.lezen"]')
    await pagina.click('main button[type=submit]')
    t.match(await pagina.textContent('main'), 'Kies bij deze scopes voor welke typen het recht geldt')
    t.match(await pagina.textContent('main'), 'Kies het hoogste niveau')
    t.ok(await pagina.isChecked('input[value="documenten.lezen"]'), 'what was entered is kept')
    await goed(t, pagina, false)
    await pagina.check('label:has-text("Brief") >> input')
    await pagina.check('label:has-text("Foto") >> input')
    await pagina.selectOption('#veld-max', 'intern')
    await pagina.click('main button[type=submit]')
    await pagina.waitForURL(`**/applicaties/${uuid}`)
    t.equal(await pagina.locator('main >> text=documenten.lezen').count(), 2, 'one right for each type')
    t.equal(await mag(eerste, documenten), 200)

    await pagina.click('a:has-text("Wijzigen van Documenten API, Brief")')
    t.ok(await pagina.isChecked('label:has-text("Brief") >> input'))
    await pagina.uncheck('label:has-text("Brief") >> input')
    await pagina.check('text=Alle informatieobjecttypen')
    await pagina.check('input[value="documenten.aanmaken"]')
    await pagina.click('main button[type=submit]')
    await pagina.waitForURL(`**/applicaties/${uuid}`)
    t.match(await pagina.textContent('main'), 'alle informatieobjecttypen in catalogus Algemeen')

    await pagina.click('text=Wat mag deze client?')
    const woorden = await pagina.textContent('main')
    t.match(woorden, 'documenten lezen, zoeken en downloaden')
    t.match(woorden, /tot en met vertrouwelijkheid\s+intern/)
    t.match(woorden, /mag de applicatie\s+niets: Zaken API, Besluiten API/)
    await goed(t, pagina, false)

    await pagina.click('text=Naar de applicatie')
    await pagina.click('a:has-text("Verwijderen van Documenten API, Foto")')
    await goed(t, pagina, false)
    await pagina.click('main button[type=submit]')
    t.match(await pagina.textContent('main'), 'Het recht is verwijderd')
    t.equal(await pagina.locator('main tr:has-text("Foto")').count(), 0)

    await pagina.click('text=Nieuw geheim')
    await goed(t, pagina, false)
    await pagina.click('main button[type=submit]')
    await pagina.waitForURL('**/geheim')
    const tweede = (await pagina.textContent('#geheim-0'))!
    t.equal(await mag(eerste, documenten), 200, 'the old one counts a while longer')
    t.equal(await mag(tweede, documenten), 200)
    await pagina.click('text=Naar de applicatie')
    await pagina.click('a:has-text("Intrekken") >> nth=0')
    await goed(t, pagina, false)
    await pagina.click('main button[type=submit]')
    t.match(await pagina.textContent('main'), 'Het geheim is ingetrokken')
    t.equal(await mag(eerste, documenten), 403)
    t.equal(await mag(tweede, documenten), 200)
    await pagina.click('text=Uitproberen met curl')
    t.equal(await pagina.locator('#geheim-0').count(), 0, 'trying it shows no secret')
    t.equal(await voerUit((await pagina.textContent('#curl-0'))!), 200)

    await pagina.goto(`/beheer/applicaties/${uuid}/verwijderen`)
    await goed(t, pagina, false)
    await pagina.click('main button[type=submit]')
    t.match(await pagina.textContent('main'), 'is verwijderd')
    t.equal(await mag(tweede, documenten), 403)
    t.same(klachten, [])
    const handelingen = await test.database.sql<{ handeling: string }[]>`
      select handeling from beheer_audit where object_id = ${uuid} order by id`
    t.same(
      handelingen.map(({ handeling }) => handeling),
      [
        'applicatie-maken',
        'recht-toevoegen',
        'recht-wijzigen',
        'recht-verwijderen',
        'geheim-vervangen',
        'geheim-intrekken',
        'token-maken',
        'applicatie-verwijderen',
      ],
    )
  })

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
    t.same(klachten, [])
  })

  t.test('a short secret of its own is taken, with a warning', async (t) => {
    const { pagina } = await alsBeheerder(test, 'administrator')
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

  t.test('only an administrator changes something, whatever the page offers', async (t) => {
    const { pagina: beheerder } = await alsBeheerder(test, 'administrator')
    const uuid = await maakApplicatie(beheerder, 'Vast', 'vast')
    for (const rol of ['viewer', 'operator'] as const) {
      const { pagina } = await alsBeheerder(test, rol)
      await pagina.goto(`/beheer/applicaties/${uuid}`)
      t.equal(
        await pagina.locator('main a:has-text("Wijzigen"), main button, main a:has-text("Recht toevoegen")').count(),
        0,
      )
      await goed(t, pagina)
      const form = {
        label: 'Anders',
        clientIds: 'vast',
        client: 'vast',
        id: '1',
        wijze: 'erbij',
        component: 'ztc',
        scopes: 'catalogi.lezen',
      }
      for (const pad of [
        '',
        `/${uuid}/wijzigen`,
        `/${uuid}/verwijderen`,
        `/${uuid}/geheim/nieuw`,
        `/${uuid}/geheim/proef`,
        `/${uuid}/geheim/intrekken`,
        `/${uuid}/rechten/nieuw`,
      ])
        t.equal(await post(pagina, `/beheer/applicaties${pad}`, form), 403, `${rol} ${pad}`)
      for (const pad of ['/nieuw', `/${uuid}/wijzigen`, `/${uuid}/geheim`])
        t.equal((await pagina.request.get(`/beheer/applicaties${pad}`)).status(), 403, pad)
    }
    t.equal(
      await post(beheerder, `/beheer/applicaties/${uuid}/rechten/nieuw`, {
        component: 'ztc',
        scopes: 'catalogi.lezen',
      }),
      303,
    )
    for (const pad of [`/${uuid}/rechten/type/0`, `/${uuid}/rechten/x/1`, '/niets', `/${uuid}/geheim/nieuw?client=x`])
      t.equal((await beheerder.request.get(`/beheer/applicaties${pad}`)).status(), 404, pad)
  })
})

t.test('every scope that a route asks for has words', async (t) => {
  const { app } = await testApp(t)
  const known = new Set(Object.values(SCOPES).flatMap((scopes) => scopes.map(([scope]) => scope)))
  const used = new Set<string>()
  for (const component of ['zaken', 'documenten', 'besluiten', 'catalogi', 'autorisaties']) {
    const { body } = await app.inject(`/${component}/api/v1/openapi.json`)
    for (const [needs] of body.matchAll(/Nodig: [^"]*/g))
      for (const [scope] of needs.matchAll(/[a-z]+\.[a-z][a-z.-]*[a-z]/g)) used.add(scope)
  }
  t.ok(used.size > 10)
  t.same(
    [...used].filter((scope) => !known.has(scope)),
    [],
  )
})
