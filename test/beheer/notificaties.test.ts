import t from 'tap'
import { systemActor } from '../../src/core/access.ts'
import { resendFailed } from '../../src/notificaties/resend.ts'
import { prepareNrc } from '../../src/nrc/start.ts'
import { givenZaaktype, uuidOf } from '../app.ts'
import { configure, forgetMessages, type Given, givenChange, givenReceiver, stateOf } from '../notificaties/given.ts'
import { subscribe } from '../nrc/given.ts'
import { subscriber } from '../nrc/subscriber.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages } from './browser.ts'
import { givenZaak } from './given.ts'

const KWAAD = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'

t.test('the log of notifications', await needsBrowser(), async (t) => {
  const opgesteld = await setUpPages(t)
  const { sql } = opgesteld.database
  await forgetMessages(opgesteld)
  const test = Object.assign(opgesteld, { receiver: await givenReceiver(t) }) as typeof opgesteld & Given
  const { receiver } = test
  const { tab, klachten } = await asBeheerder(test, 'operator')
  const main = () => tab.textContent('main')
  const count = async () => (await tab.$$('tbody tr')).length
  const refuseAll = () => {
    receiver.answer = (response) => response.writeHead(403).end(KWAAD)
  }
  const acceptAll = () => {
    receiver.answer = (response) => response.writeHead(201).end()
  }

  t.test('nothing yet, and no service', async (t) => {
    await tab.goto('/beheer/notificaties')
    t.match(await main(), 'Er zijn nog geen berichten')
    t.match(await main(), 'Er is geen notificatiedienst ingesteld')
    t.same(await accessibilityFaults(tab), [])
  })

  t.test('why a notification failed is found in at most three clicks from the overview', async (t) => {
    refuseAll()
    await configure(test, receiver.root, { maxRetries: 1, backoff: 0.1, backoffMax: 1 })
    const uuid = await givenChange(test)
    await sql`update notificatie set resource = ${KWAAD}, hoofd_object = ${`http://localhost/${KWAAD}`}, kenmerken = ${sql.json({ x: KWAAD, vertrouwelijkheidaanduiding: 'openbaar' })}`
    for (let round = 0; (await stateOf(test, uuid)).status === 'gepland'; round++) {
      await sql`update delivery set next_attempt_at = now() where next_attempt_at is not null`
      await test.runJobs()
      if (round > 5) throw new Error('it does not fail')
    }
    await tab.goto('/beheer/')
    let clicks = 0
    const clickAndWait = async (selector: string) => {
      clicks++
      await tab.click(selector)
    }
    await clickAndWait('text=Naar wat vandaag is mislukt')
    await clickAndWait('main tbody th a')
    t.match(await main(), /Waarom is dit mislukt.*De dienst antwoordde met status 403/s)
    t.match(await main(), 'Controleer client-ID en secret')
    t.ok(clicks <= 3)
    t.match(await main(), KWAAD, 'the answer and the message stand there as text')
    t.equal((await tab.$$('.pogingen tbody tr')).length, 2, 'a row for each attempt')
    t.same(await accessibilityFaults(tab), [])
  })

  t.test('failures stand together by their cause, each with its remedy and a way to send them again', async (t) => {
    await tab.goto('/beheer/notificaties')
    t.match(await tab.textContent('.oorzaken li'), /status 403.*1 bericht.*Controleer client-ID en secret/s)
    t.same(await accessibilityFaults(tab), [])
    await tab.goto('/beheer/notificaties?status=mislukt&oorzaak=dns')
    t.equal(await count(), 0)
    await tab.click('.oorzaken li a')
    t.equal(await count(), 1)
    await tab.click('.oorzaken li .knop-tweede')
    t.match(await main(), /1 mislukt bericht.*oorzaak: De dienst antwoordde met status 403, bij de notificatiedienst/s)
  })

  t.test("all of today's failed ones are sent again in at most four clicks, with their number first", async (t) => {
    for (let n = 0; n < 3; n++) await givenChange(test)
    await sql`update delivery set status = 'mislukt', next_attempt_at = null`
    const oud = await givenChange(test)
    await sql`update notificatie set aanmaakdatum = now() - interval '3 days' where uuid = ${oud}`
    await sql`update delivery set status = 'mislukt' where status = 'gepland'`
    acceptAll()
    await tab.goto('/beheer/')
    let clicks = 0
    const clickAndWait = async (selector: string) => {
      clicks++
      await tab.click(selector)
    }
    await clickAndWait('text=Naar wat vandaag is mislukt')
    t.equal(await count(), 4)
    await clickAndWait('text=Alle mislukte uit dit filter opnieuw versturen')
    t.match(await main(), '4 mislukte berichten')
    t.same(await accessibilityFaults(tab), [])
    await clickAndWait('text=Ja, 4 berichten opnieuw versturen')
    await tab.waitForSelector('text=4 berichten worden opnieuw verstuurd')
    t.ok(clicks <= 4)
    await test.runJobs()
    const [row] = await sql`select count(*) filter (where status = 'afgeleverd') as bezorgd from notificatie_overview`
    t.equal(row!.bezorgd, 4)
    t.match(await stateOf(test, oud), { status: 'mislukt' })
    const [audit] =
      await sql`select nieuw from beheer_audit where handeling = 'notificaties-herzenden' order by id desc`
    t.match(audit!.nieuw, { aantal: 4 })
  })

  t.test('filters are in the address, and rubbish in them is no fault', async (t) => {
    const [row] = await sql`select uuid, hoofd_object_uuid as object from notificatie order by id limit 1`
    const counts: [string, number][] = [
      ['status=mislukt', 1],
      ['status=bezorgd&van=vandaag', 4],
      ['kanaal=documenten', 5],
      ['kanaal=zaken', 0],
      [`object=${row!.object}`, 1],
      [`object=http://localhost/documenten/api/v1/enkelvoudiginformatieobjecten/${row!.object}`, 1],
      ['tot=2020-01-01', 0],
      ['status=rubbish&van=2026-13-45&na=rubbish', 5],
      ['object=rubbish', 0],
      ['kanaal=%00&na=9999-99-99T99:99:99Z_1&voor=', 0],
    ]
    for (const [query, expected] of counts) {
      const answer = await tab.goto(`/beheer/notificaties?${query}`)
      t.equal(answer!.status(), 200, query)
      t.equal(await count(), query.includes('%00') ? await count() : expected, query)
    }
    await tab.goto('/beheer/notificaties?object=rubbish')
    t.match(await main(), 'Vul de URL of de UUID van een object in')
    t.equal((await tab.goto('/beheer/notificaties/herzenden?object=rubbish'))!.status(), 400, 'no larger selection')
    t.equal((await tab.goto('/beheer/notificaties/rubbish'))!.status(), 404)
  })

  t.test('pausing holds all back until it is resumed, with a banner wherever it matters', async (t) => {
    await tab.goto('/beheer/notificaties')
    await tab.click('.meer-menu > summary')
    await tab.click('text=Versturen pauzeren')
    await tab.waitForSelector('[data-pauze]')
    const before = receiver.received.length
    const uuid = await givenChange(test)
    await test.runJobs()
    t.equal(receiver.received.length, before)
    t.match(await stateOf(test, uuid), { status: 'gepland', pogingen: 0 })
    for (const path of ['', 'zaken', 'taken', `notificaties/${uuid}`, 'configuratie/notificaties', 'imports']) {
      await tab.goto(`/beheer/${path}`)
      t.match(await tab.textContent('[data-pauze]'), 'Nu wachten', path)
    }
    await tab.goto(`/beheer/notificaties/${uuid}`)
    t.match(await main(), 'Dit bericht wacht. Het versturen is gepauzeerd.')
    t.same(await accessibilityFaults(tab), [])
    await tab.click('text=Versturen hervatten')
    await tab.waitForSelector('text=Het versturen is hervat')
    await test.runJobs()
    t.match(await stateOf(test, uuid), { status: 'afgeleverd' })
    const acts =
      await sql`select handeling from beheer_audit where handeling like 'notificaties-%at%' or handeling like 'notificaties-pa%' order by id`
    t.match(JSON.stringify(acts), /notificaties-pauzeren.*notificaties-hervatten/)
  })

  t.test('the notifications service is paused alone, and resumed from any page', async (t) => {
    await tab.goto('/beheer/configuratie/notificaties')
    await tab.click('text=Versturen naar deze dienst pauzeren')
    await tab.waitForSelector('[data-pauze]')
    const uuid = await givenChange(test)
    await test.runJobs()
    t.match(await stateOf(test, uuid), { status: 'gepland', pogingen: 0 })
    await tab.goto(`/beheer/notificaties/${uuid}`)
    t.match(await main(), 'Dit bericht wacht. Het versturen naar de notificatiedienst is gepauzeerd.')
    await tab.goto('/beheer/documenten')
    t.match(await tab.textContent('[data-pauze]'), 'Nu wachten 1 bezorgingen')
    await tab.click('text=Versturen hervatten')
    await tab.waitForSelector('text=Het versturen is hervat')
    await test.runJobs()
    t.match(await stateOf(test, uuid), { status: 'afgeleverd' })
  })

  t.test('a waiting one is tried now, by keyboard alone', async (t) => {
    receiver.answer = (response) => response.writeHead(500).end()
    await configure(test, receiver.root, { maxRetries: 3, backoff: 5000, backoffMax: 50_000 })
    const uuid = await givenChange(test)
    await test.runJobs()
    acceptAll()
    await tab.goto(`/beheer/notificaties/${uuid}`)
    t.match(await main(), 'Volgende poging')
    t.same(await accessibilityFaults(tab), [])
    await tab.focus('text=Nu proberen')
    await tab.keyboard.press('Enter')
    await tab.waitForSelector('text=Het bericht wordt nu geprobeerd')
    await test.runJobs()
    t.match(await stateOf(test, uuid), { status: 'afgeleverd', pogingen: 2 })
  })

  t.test('without script the chosen ones on a page are sent again', async (t) => {
    for (let n = 0; n < 60; n++) await givenChange(test)
    await sql`update delivery set status = 'mislukt', next_attempt_at = null where status = 'gepland'`
    const [before] = await sql`select count(*)::int as n from delivery where status = 'mislukt'`
    const { tab } = await asBeheerder(test, 'operator', { javaScriptEnabled: false, width: 320 })
    await tab.goto('/beheer/notificaties?status=mislukt')
    await tab.click('a[rel=next]')
    t.equal((await tab.$$('tbody tr')).length, before!.n - 50)
    await tab.click('a[rel=prev]')
    t.equal((await tab.$$('tbody tr')).length, 50)
    await tab.click('main noscript a') // a text selector skips what is in it
    await tab.click('text=Gekozen opnieuw versturen')
    t.match(await tab.textContent('main'), '50 berichten worden opnieuw verstuurd')
    t.match(tab.url(), 'status=mislukt', 'one comes back to the same list')
    const [after] = await sql`select count(*)::int as n from delivery where status = 'mislukt'`
    t.equal(after!.n, before!.n - 50)
  })

  t.test('a viewer looks, and is refused by the server when acting; all fits in 320 pixels', async (t) => {
    const { tab, context, klachten } = await asBeheerder(test, 'viewer', { width: 320 })
    const [row] = await sql`select uuid from notificatie_overview where status = 'mislukt' limit 1`
    for (const path of ['notificaties', `notificaties/${row!.uuid}`]) {
      await tab.goto(`/beheer/${path}`)
      t.equal(await isTooWide(tab), false, path)
      t.same(await accessibilityFaults(tab), [], path)
      t.equal(await tab.$('main button:not(.filters button)'), null)
    }
    const _csrf = await tab.inputValue('input[name=_csrf]')
    for (const path of ['pauzeren', 'hervatten', 'herzenden-alle', 'gekozen/nu', `${row!.uuid}/herzenden`]) {
      const answer = await context.request.post(`/beheer/notificaties/${path}`, {
        form: { _csrf, uuid: row!.uuid },
        headers: { origin: test.adres },
      })
      t.equal(answer.status(), 403, path)
    }
    t.same(klachten, [])
  })

  t.same(klachten, [])
})

t.test(
  'a message for several receivers: who was called, with a row for each attempt, and what to do there',
  async (t) => {
    const test = await setUpPages(t, { NOTIFICATIES_MODE: 'beide' }, false)
    const { sql } = test.database
    await prepareNrc(test.database, test.config)
    await configure(test, 'http://127.0.0.1:9/', {}) // nobody listens there
    const [good, bad] = [await subscriber(t, { auth: 'x' }), await subscriber(t, { auth: 'x' })]
    await subscribe(test, good.url)
    const failing = uuidOf(await subscribe(test, bad.url))
    await forgetMessages(test)
    bad.answer.status = 404
    const uuid = await givenChange(test)
    await test.runJobs()
    await sql`update delivery l set status = 'mislukt', next_attempt_at = null, ended_at = now(),
      cause = (select case outcome when 'http' then 'http-' || http_status else outcome end from delivery_attempt p
        where p.notificatie_id = l.notificatie_id and p.abonnement_id = l.abonnement_id and p.number = l.attempt)`
    const get = await test.signedIn('operator')
    const { body } = await get(`/beheer/notificaties/${uuid}`)
    const blocks = body.split('<section class="ontvanger"').slice(1)
    t.equal(blocks.length, 3)
    const at = (text: string) => blocks.find((block) => block.includes(text))!
    t.match(at('Notificaties'), /Op dit adres luistert niets. Controleer of de notificatiedienst draait/)
    const own = at(`/beheer/abonnementen/${failing}"`)
    t.match(own, 'Op dit adres is geen callback. Controleer het pad van de callback.')
    t.notMatch(own, /notificatiedienst/, 'a remedy for an abonnement speaks of its receiver')
    t.equal(own.split('<tr').length - 1, 2, 'a head and one attempt')
    t.match(blocks[2], /Bezorgd/)
    t.match(body, 'Bezorgd bij 1 van 3 ontvangers')
    // What is counted is called by its name.
    const list = (await get('/beheer/notificaties')).body
    t.match(list, 'bij 2 van 3 ontvangers')
    t.match(list, /Antwoord 404<\/strong> bij abonnementen: .*1 bericht</)
    t.match((await get('/beheer/notificaties/herzenden')).body, /1 mislukt bericht<\/strong> \(2 bezorgingen\)/)
    t.match((await get('/beheer/')).body, 'Vandaag zijn 2 bezorgingen mislukt')
    t.match((await get('/beheer/notificaties?oorzaak=http-404&ontvanger=abonnementen')).body, '1 bericht die')
    t.match((await get('/beheer/notificaties?oorzaak=http-404&ontvanger=extern')).body, '0 berichten')
    t.notMatch((await get('/beheer/notificaties?kanaal=zaken')).body, 'Waarom bezorgingen', 'causes follow the filter')
    // Sent again by its cause: there, and not elsewhere.
    const { messages, deliveries } = await test.app.mutate(systemActor('test'), (m) =>
      resendFailed(m, { filter: { oorzaak: 'http-404', ontvanger: 'abonnementen' } }),
    )
    t.same([messages, deliveries], [1, 1])
    const rows = await sql`select status from delivery order by abonnement_id`
    t.same(
      rows.map(({ status }) => status),
      ['mislukt', 'gepland'],
    )
  },
)

t.test('a message says which case it is about, to who may see that case', async (t) => {
  const test = await setUpPages(t, {}, false)
  const zaaktype = await givenZaaktype(test)
  const zaak = await givenZaak(test, zaaktype)
  const secret = await givenZaak(test, zaaktype, { vertrouwelijkheidaanduiding: 'zeer_geheim' })
  const get = await test.signedIn('viewer')
  const { body } = await get('/beheer/notificaties')
  t.match(body, `/beheer/zaken/${zaak.uuid}">${zaak.identificatie}<`)
  t.notMatch(body, secret.identificatie)
  t.match(body, `/beheer/catalogi/zaaktypen/${uuidOf(zaaktype)}">`)
})
