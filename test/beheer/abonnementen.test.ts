// The pages of abonnementen and kanalen, as administrators and operators use them.
import t from 'tap'
import { prepareNrc } from '../../src/nrc/start.ts'
import { forgetMessages, givenChange } from '../notificaties/given.ts'
import { idsOf, real } from '../nrc/given.ts'
import { subscriber } from '../nrc/subscriber.ts'
import { accessibilityFaults, asBeheerder, clickInMenu, isTooWide, needsBrowser, setUpPages } from './browser.ts'

const KWAAD = '<script>alert(1)</script>'

t.test('abonnementen and kanalen', await needsBrowser(), async (t) => {
  const test = await setUpPages(t, { NOTIFICATIES_MODE: 'ingebouwd' })
  const { sql } = test.database
  await prepareNrc(test.database, test.config)
  await forgetMessages(test)
  const to = await subscriber(t, { auth: 'Bearer goed' })
  const { tab, klachten } = await asBeheerder(test, 'administrator')
  const main = () => tab.textContent('main')
  const goto = (path: string) => tab.goto(`/beheer${path}`)
  const submit = (text: string) => clickInMenu(tab, `main button:has-text("${text}")`)
  const audits = async () =>
    (await sql`select handeling from beheer_audit order by id`).map(({ handeling }) => handeling)
  let pad = ''

  t.test('one is made when its callback works, with the reason in Dutch when it does not', async (t) => {
    await goto('/abonnementen')
    t.match(await main(), 'Er zijn nog geen abonnementen')
    await tab.click('main a:has-text("Nieuw abonnement")')
    t.same(await accessibilityFaults(tab), [])
    t.notOk(await tab.isVisible('#veld-auth'), 'nobody is called before that is chosen')
    await submit('Opslaan')
    t.match(await main(), 'Kies of berichten worden gestuurd of opgehaald')
    await tab.selectOption('#veld-aflevering', 'sturen')
    await tab.fill('#veld-callbackUrl', 'http://intern.example/x')
    await tab.fill('#veld-auth', 'Bearer fout')
    await submit('Opslaan')
    t.match(await main(), 'moet met https:// beginnen')
    await tab.fill('#veld-callbackUrl', `${to.url}?token=geheim`)
    await tab.fill('#veld-auth', 'Bearer fout')
    await submit('Opslaan')
    t.match(await main(), 'De test is mislukt: een testbericht (kanaal test) wordt aangenomen. Antwoord 401')
    t.match(await main(), 'De ontvanger herkent ons niet')
    t.equal(await tab.inputValue('#veld-auth'), '', 'what was filled in is not shown')
    t.same(await accessibilityFaults(tab), [])
    await tab.fill('#veld-auth', 'Bearer goed')
    await submit('Opslaan')
    await tab.waitForURL('**/filters')
    pad = new URL(tab.url()).pathname.replace('/beheer', '').replace('/filters', '')
    t.match(await main(), 'Kies nu waarover het berichten krijgt')
  })

  t.test('one without a callback tells what waits and when it was fetched', async (t) => {
    const kanalen = [{ naam: 'documenten' }]
    const { url } = (await test.call('POST', '/notificaties/api/v1/abonnement', { callbackUrl: '', kanalen })).body
    const path = `/abonnementen/${url.split('/').at(-1)}`
    await givenChange(test)
    await goto(path)
    t.match(await main(), /Wachtend\s*1[\s\S]*Laatst opgehaald\s*nog niet[\s\S]*geen: de ontvanger haalt berichten op/)
    t.notMatch(await main(), 'Volgende pogingen')
    t.same(await accessibilityFaults(tab), [])
    const { next } = (await test.call('GET', `${url}/berichten`)).body
    await test.call('GET', next)
    await goto(path)
    t.match(await main(), /Wachtend\s*0[\s\S]*Laatst opgehaald\s*(?!nog niet|\s)/)
    t.match(await main(), 'Bezorgd')
    await goto('/abonnementen')
    t.match(await main(), 'Wordt opgehaald')
    await test.call('DELETE', url)
    await forgetMessages(test)
  })

  t.test('while one types the filters it says what they would let through', async (t) => {
    for (let n = 0; n < 4; n++) await givenChange(test)
    await givenChange(test, undefined, 'destroy')
    await goto(`${pad}/filters`)
    t.match(await main(), 'het abonnement krijgt niets')
    await tab.selectOption('[name="kanaal.0"]', 'documenten')
    await tab.waitForSelector('text=5 van de laatste 5 berichten')
    await tab.fill('[name="filters.0"]', '#actie = create, update\nbronorganisatie = 517439943')
    await tab.waitForSelector('text=4 van de laatste 5 berichten')
    t.match(
      await main(),
      'Op kanaal documenten alleen als de actie create of update is en bronorganisatie gelijk is aan 517439943: 4',
    )
    await tab.fill('[name="filters.0"]', 'informatieobjecttype = https://elders.example/x')
    await tab.waitForSelector('text=alleen omdat een kenmerk waarop wordt gefilterd in het bericht ontbreekt')
    await tab.fill('[name="filters.0"]', 'kleur = rood')
    await tab.waitForSelector('text=Kanaal documenten kent niet: kleur')
    t.same(await accessibilityFaults(tab), [])
    await submit('Opslaan')
    t.match(await main(), 'Er is niets opgeslagen')
    await tab.fill('[name="filters.0"]', '#actie = create')
    await submit('Nog een groep')
    await tab.selectOption('[name="kanaal.1"]', 'zaken')
    await submit('Opslaan')
    await tab.waitForURL(`**${pad}`)
    t.match(await main(), /Op kanaal documenten alleen als de actie create is.*Alles op kanaal zaken/s)
  })

  t.test('its page shows how it is doing, without what is secret in its address', async (t) => {
    await givenChange(test)
    await test.runJobs()
    to.answer.status = 500
    await givenChange(test)
    await test.runJobs()
    await goto(pad)
    const text = (await main())!
    t.match(text, /Storing: antwoord 500/)
    t.match(text, 'Er is een storing bij de ontvanger')
    t.match(text, /Gelukt, laatste uur\s*1 van 2/)
    t.match(text, /Volgende pogingen.*Document aangemaakt/s)
    t.notMatch(text, 'geheim')
    t.notMatch(await tab.content(), 'Bearer goed')
    t.same(await accessibilityFaults(tab), [])
    await goto('/abonnementen')
    t.match(await main(), /127\.0\.0\.1:\d+\/callback\?….*Storing/s)
    t.same(await accessibilityFaults(tab), [])
  })

  t.test('a test says what goes wrong, and that it works', async (t) => {
    await goto(pad)
    await submit('Testen')
    t.match(await main(), /De test is mislukt.*Antwoord 500/)
    to.answer.status = 204
    await submit('Testen')
    await tab.waitForSelector('text=De callback werkt')
    t.match(await main(), /Zonder Authorization wordt geweigerd.*Gelukt.*Antwoord 401/s)
    t.same(await accessibilityFaults(tab), [])
  })

  t.test('it is paused and resumed by keyboard, and nothing is lost', async (t) => {
    await goto(pad)
    await tab.focus('.meer-menu > summary')
    await tab.keyboard.press('Enter')
    t.same(await accessibilityFaults(tab), [])
    await tab.keyboard.press('Escape')
    t.equal(await tab.isVisible('text=Pauzeren'), false, 'Escape closes the menu')
    await tab.keyboard.press('Enter')
    await tab.focus('text=Pauzeren')
    await tab.keyboard.press('Enter')
    await tab.waitForSelector('text=Berichten blijven bewaard en wachten')
    t.match(await main(), 'Gepauzeerd door De administrator')
    to.received.length = 0
    const id = await givenChange(test)
    await test.runJobs()
    t.strictSame(idsOf(to.received), [])
    await goto(pad)
    await submit('Hervatten')
    await tab.waitForSelector('text=Wat wachtte gaat nu weg')
    await sql`update delivery set next_attempt_at = now()`
    await test.runJobs()
    t.ok(idsOf(to.received).includes(id))
  })

  t.test('messages are sent again after they were counted', async (t) => {
    to.received.length = 0
    await goto(`${pad}/herzenden`)
    await tab.selectOption('#veld-soort', 'vanaf')
    await tab.fill('#veld-vanaf', '2020-01-01T00:00')
    await submit('Tellen')
    t.match(await main(), /Opnieuw gaan 7 berichten: alle berichten vanaf 1 januari 2020/)
    t.same(await accessibilityFaults(tab), [])
    await submit('Ja, opnieuw versturen')
    await tab.waitForSelector('text=Het herzenden is begonnen')
    await test.runJobs()
    t.equal(real(to.received).length, 7)
    t.ok(real(to.received).every(({ headers }) => headers['x-replay'] === 'true'))
    await goto(pad)
    t.match(await main(), /Klaargezet\s+7 klaargezet van alle berichten vanaf een moment/)
    await submit('Opnieuw')
    await tab.waitForSelector('text=alleen naar dit abonnement')
    await test.runJobs()
    t.equal(real(to.received).length, 8)
  })

  t.test('a secret for the signature is shown once, and two count during a change', async (t) => {
    await goto(`${pad}/ondertekening`)
    await submit('Ondertekenen: geheim maken')
    const secret = await tab.textContent('#geheim')
    t.match(secret, /^whsec_/)
    t.same(await accessibilityFaults(tab), [])
    await goto(`${pad}/ondertekening`)
    t.equal(await tab.$('#geheim'), null)
    await submit('Nieuw geheim maken')
    t.not(await tab.textContent('#geheim'), secret)
    to.received.length = 0
    await givenChange(test)
    await test.runJobs()
    t.match(real(to.received)[0]!.headers['webhook-signature'], /^v1,\S+ v1,\S+$/)
    await submit('Oude geheim laten vervallen')
    t.match(await main(), 'ondertekend met één geheim')
    const [row] =
      await sql`select string_agg(coalesce(oud::text, '') || coalesce(nieuw::text, ''), ' ') as text from beheer_audit`
    for (const hidden of [secret!, 'Bearer', 'token=geheim']) t.notMatch(row!.text, hidden)
  })

  t.test('blocked by a limit: an alarm in the overview, and the way back', async (t) => {
    await goto('/abonnementen/grenzen')
    await tab.fill('#veld-blockFromCount', '2')
    t.same(await accessibilityFaults(tab), [])
    await submit('Opslaan')
    await tab.waitForSelector('text=De grenzen zijn opgeslagen')
    to.answer.status = 401
    for (let n = 0; n < 3; n++) await givenChange(test)
    await test.runJobs()
    await goto('/')
    t.match(await main(), 'neemt geen berichten aan: antwoord 401')
    await sql`select add_job('block-abonnementen')`
    await test.runJobs()
    await givenChange(test)
    await goto('/')
    t.match(await main(), /Het abonnement .* is geblokkeerd\. Er wachten 2 berichten of meer/)
    t.same(await accessibilityFaults(tab), [])
    await tab.click('text=Naar dit abonnement')
    t.match(await main(), 'Nieuwe berichten worden niet klaargezet')
    to.answer.status = 204
    await sql`update notificatie_settings set block_from_count = default`
    await submit('Hervatten')
    await tab.waitForSelector('text=gemiste berichten worden nu klaargezet')
    t.match(await main(), 'de berichten die zijn gemist')
  })

  t.test('kanalen: who writes, who subscribes, what one may filter on', async (t) => {
    await goto('/kanalen')
    t.match(await main(), /documenten.*bronorganisatie.*deze dienst/s)
    t.same(await accessibilityFaults(tab), [])
    await tab.click('main a:has-text("Nieuw kanaal")')
    await tab.fill('#veld-naam', KWAAD)
    await tab.fill('#veld-filters', 'object_type\nkleur')
    await submit('Opslaan')
    await tab.waitForSelector('text=is gemaakt')
    t.match(await main(), KWAAD)
    await tab.click('main a:has-text("Wijzigen")')
    await tab.fill('#veld-filters', 'object_type')
    await submit('Opslaan')
    t.notMatch(await main(), 'kleur')
    await goto('/kanalen')
    await tab.click('main a:has-text("documenten")')
    t.match(await main(), /Abonnementen.*127\.0\.0\.1.*alleen als de actie create is/s)
    t.same(await accessibilityFaults(tab), [])
    await tab.click('main a:has-text("Wijzigen")')
    await tab.fill('#veld-filters', 'x')
    await submit('Opslaan')
    t.match(await main(), 'Deze kenmerken geeft dit kanaal zelf')
  })

  t.test('a viewer looks, an operator acts, only an administrator changes; all fits in 320 pixels', async (t) => {
    const viewer = await asBeheerder(test, 'viewer', { width: 320 })
    for (const path of ['/abonnementen', pad, '/abonnementen/grenzen', '/kanalen']) {
      await viewer.tab.goto(`/beheer${path}`)
      t.equal(await isTooWide(viewer.tab), false, path)
      t.same(await accessibilityFaults(viewer.tab), [], path)
      t.equal(await viewer.tab.$('main button'), null, path)
    }
    const refused = async (as: typeof viewer, path: string) => {
      await as.tab.goto('/beheer/')
      const _csrf = await as.tab.inputValue('input[name=_csrf]')
      return (
        await as.context.request.post(`/beheer${path}`, { form: { _csrf }, headers: { origin: test.adres } })
      ).status()
    }
    const operator = await asBeheerder(test, 'operator', { width: 320 })
    await operator.tab.goto(`/beheer${pad}`)
    t.equal(await isTooWide(operator.tab), false)
    for (const path of ['pauzeren', 'hervatten', 'test', 'herzenden', 'herzenden/stoppen'])
      t.equal(await refused(viewer, `${pad}/${path}`), 403, path)
    for (const path of ['opzeggen', 'wijzigen', 'filters', 'ondertekening/nieuw'])
      t.equal(await refused(operator, `${pad}/${path}`), 403, path)
    t.same([...viewer.klachten, ...operator.klachten], [])
  })

  t.test('it is changed and ended, and all of it is in the audit log', async (t) => {
    await goto(`${pad}/wijzigen`)
    await tab.selectOption('#veld-authenticatie', 'oauth2')
    await submit('Opslaan')
    t.match(await main(), /Vul in waarmee wij ons bekendmaken.*client-ID.*adres in waar een token/s)
    await goto(`${pad}/wijzigen`)
    await tab.fill('#veld-gelijktijdig', '8')
    await tab.uncheck('#veld-inOrder')
    await submit('Opslaan')
    await tab.waitForSelector('text=De wijziging is opgeslagen')
    t.match(await main(), /zo snel mogelijk.*ten hoogste 8/s)
    await clickInMenu(tab, 'main a:has-text("Opzeggen")')
    t.same(await accessibilityFaults(tab), [])
    await submit('Abonnement opzeggen')
    await tab.waitForURL('**/abonnementen')
    t.equal((await goto(pad))!.status(), 404)
    t.strictSame([...new Set(await audits())].filter((name) => /abonnement|kanaal/.test(name)).sort(), [
      'abonnement-filters',
      'abonnement-hervatten',
      'abonnement-herzenden',
      'abonnement-maken',
      'abonnement-ondertekening-nieuw',
      'abonnement-ondertekening-oud-weg',
      'abonnement-opzeggen',
      'abonnement-pauzeren',
      'abonnement-testen',
      'abonnement-wijzigen',
      'abonnementen-grenzen',
      'kanaal-maken',
      'kanaal-wijzigen',
    ])
  })

  t.same(klachten, [])
})
