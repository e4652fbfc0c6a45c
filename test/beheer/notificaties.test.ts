import t from 'tap'
import { givenZaaktype, uuidOf } from '../app.ts'
import { configure, forgetMessages, type Given, givenReceiver, givenWijziging, stateOf } from '../notificaties/given.ts'
import { alsBeheerder, needsBrowser, opstelling, teBreed, toegankelijkheid } from './browser.ts'
import { givenZaak } from './given.ts'

const KWAAD = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'

t.test('the log of notifications', await needsBrowser(), async (t) => {
  const opgesteld = await opstelling(t)
  const { sql } = opgesteld.database
  await forgetMessages(opgesteld)
  const test = Object.assign(opgesteld, { receiver: await givenReceiver(t) }) as typeof opgesteld & Given
  const { receiver } = test
  const { pagina, klachten } = await alsBeheerder(test, 'operator')
  const main = () => pagina.textContent('main')
  const aantal = async () => (await pagina.$$('tbody tr')).length
  const weigeren = () => {
    receiver.answer = (response) => response.writeHead(403).end(KWAAD)
  }
  const aannemen = () => {
    receiver.answer = (response) => response.writeHead(201).end()
  }

  t.test('nothing yet, and no service', async (t) => {
    await pagina.goto('/beheer/notificaties')
    t.match(await main(), 'Er zijn nog geen berichten')
    t.match(await main(), 'Er is geen notificatiedienst ingesteld')
    t.same(await toegankelijkheid(pagina), [])
  })

  t.test('why a notification failed is found in at most three clicks from the overview', async (t) => {
    weigeren()
    await configure(test, receiver.root, { maxRetries: 1, backoff: 0.1, backoffMax: 1 })
    const uuid = await givenWijziging(test)
    await sql`update notificatie set resource = ${KWAAD}, hoofd_object = ${`http://localhost/${KWAAD}`}, kenmerken = ${sql.json({ x: KWAAD })}`
    for (let round = 0; (await stateOf(test, uuid)).status === 'gepland'; round++) {
      await sql`update levering set volgende_poging_op = now() where volgende_poging_op is not null`
      await test.runJobs()
      if (round > 5) throw new Error('it does not fail')
    }
    await pagina.goto('/beheer/')
    let clicks = 0
    const klik = async (selector: string) => {
      clicks++
      await pagina.click(selector)
    }
    await klik('text=Naar wat vandaag is mislukt')
    await klik('main tbody th a')
    t.match(await main(), /Waarom is dit mislukt.*De dienst antwoordde met status 403/s)
    t.match(await main(), 'Controleer client-ID en secret')
    t.ok(clicks <= 3)
    t.match(await main(), KWAAD, 'the answer and the message stand there as text')
    t.equal((await pagina.$$('.tijdlijn > li')).length, 2)
    t.same(await toegankelijkheid(pagina), [])
  })

  t.test('failures stand together by their cause, each with its remedy and a way to send them again', async (t) => {
    await pagina.goto('/beheer/notificaties')
    t.match(await pagina.textContent('.oorzaken li'), /status 403.*1 bericht.*Controleer client-ID en secret/s)
    t.same(await toegankelijkheid(pagina), [])
    await pagina.goto('/beheer/notificaties?status=mislukt&oorzaak=dns')
    t.equal(await aantal(), 0)
    await pagina.click('.oorzaken li a')
    t.equal(await aantal(), 1)
    await pagina.click('.oorzaken li .knop-tweede')
    t.match(await main(), /1 mislukt bericht.*oorzaak: De dienst antwoordde met status 403/s)
  })

  t.test("all of today's failed ones are sent again in at most four clicks, with their number first", async (t) => {
    for (let n = 0; n < 3; n++) await givenWijziging(test)
    await sql`update levering set status = 'mislukt', volgende_poging_op = null`
    const oud = await givenWijziging(test)
    await sql`update notificatie set aanmaakdatum = now() - interval '3 days' where uuid = ${oud}`
    await sql`update levering set status = 'mislukt' where status = 'gepland'`
    aannemen()
    await pagina.goto('/beheer/')
    let clicks = 0
    const klik = async (selector: string) => {
      clicks++
      await pagina.click(selector)
    }
    await klik('text=Naar wat vandaag is mislukt')
    t.equal(await aantal(), 4)
    await klik('text=Alle mislukte uit dit filter opnieuw versturen')
    t.match(await main(), '4 mislukte berichten')
    t.same(await toegankelijkheid(pagina), [])
    await klik('text=Ja, 4 berichten opnieuw versturen')
    await pagina.waitForSelector('text=4 berichten worden opnieuw verstuurd')
    t.ok(clicks <= 4)
    await test.runJobs()
    const [row] = await sql`select count(*) filter (where status = 'afgeleverd') as bezorgd from notificatie_overzicht`
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
      const answer = await pagina.goto(`/beheer/notificaties?${query}`)
      t.equal(answer!.status(), 200, query)
      t.equal(await aantal(), query.includes('%00') ? await aantal() : expected, query)
    }
    await pagina.goto('/beheer/notificaties?object=rubbish')
    t.match(await main(), 'Vul de URL of de UUID van een object in')
    t.equal((await pagina.goto('/beheer/notificaties/herzenden?object=rubbish'))!.status(), 400, 'no larger selection')
    t.equal((await pagina.goto('/beheer/notificaties/rubbish'))!.status(), 404)
  })

  t.test('pausing holds all back until it is resumed, with a banner wherever it matters', async (t) => {
    await pagina.goto('/beheer/notificaties')
    await pagina.click('text=Versturen pauzeren')
    await pagina.waitForSelector('[data-pauze]')
    const before = receiver.received.length
    const uuid = await givenWijziging(test)
    await test.runJobs()
    t.equal(receiver.received.length, before)
    t.match(await stateOf(test, uuid), { status: 'gepland', pogingen: 0 })
    for (const path of [
      '',
      'notificaties',
      `notificaties/${uuid}`,
      'configuratie/notificaties',
      'notificaties/herzenden',
    ]) {
      await pagina.goto(`/beheer/${path}`)
      t.ok(await pagina.$('[data-pauze]'), path)
    }
    await pagina.goto(`/beheer/notificaties/${uuid}`)
    t.match(await main(), 'Dit bericht wacht. Het versturen is gepauzeerd.')
    t.same(await toegankelijkheid(pagina), [])
    await pagina.click('text=Versturen hervatten')
    await pagina.waitForSelector('text=Het versturen is hervat')
    await test.runJobs()
    t.match(await stateOf(test, uuid), { status: 'afgeleverd' })
    const acts =
      await sql`select handeling from beheer_audit where handeling like 'notificaties-%at%' or handeling like 'notificaties-pa%' order by id`
    t.match(JSON.stringify(acts), /notificaties-pauzeren.*notificaties-hervatten/)
  })

  t.test('a waiting one is tried now, by keyboard alone', async (t) => {
    receiver.answer = (response) => response.writeHead(500).end()
    await configure(test, receiver.root, { maxRetries: 3, backoff: 5000, backoffMax: 50_000 })
    const uuid = await givenWijziging(test)
    await test.runJobs()
    aannemen()
    await pagina.goto(`/beheer/notificaties/${uuid}`)
    t.match(await main(), 'Volgende poging')
    t.same(await toegankelijkheid(pagina), [])
    await pagina.focus('text=Nu proberen')
    await pagina.keyboard.press('Enter')
    await pagina.waitForSelector('text=Het bericht wordt nu geprobeerd')
    await test.runJobs()
    t.match(await stateOf(test, uuid), { status: 'afgeleverd', pogingen: 2 })
  })

  t.test('without script the chosen ones on a page are sent again', async (t) => {
    for (let n = 0; n < 60; n++) await givenWijziging(test)
    await sql`update levering set status = 'mislukt', volgende_poging_op = null where status = 'gepland'`
    const [before] = await sql`select count(*)::int as n from levering where status = 'mislukt'`
    const { pagina } = await alsBeheerder(test, 'operator', { javaScriptEnabled: false, width: 320 })
    await pagina.goto('/beheer/notificaties?status=mislukt')
    await pagina.click('a[rel=next]')
    t.equal((await pagina.$$('tbody tr')).length, before!.n - 50)
    await pagina.click('a[rel=prev]')
    t.equal((await pagina.$$('tbody tr')).length, 50)
    await pagina.click('main noscript a') // a text selector skips what is in it
    await pagina.click('text=Gekozen opnieuw versturen')
    t.match(await pagina.textContent('main'), '50 berichten worden opnieuw verstuurd')
    t.match(pagina.url(), 'status=mislukt', 'one comes back to the same list')
    const [after] = await sql`select count(*)::int as n from levering where status = 'mislukt'`
    t.equal(after!.n, before!.n - 50)
  })

  t.test('a viewer looks, and is refused by the server when acting; all fits in 320 pixels', async (t) => {
    const { pagina, context, klachten } = await alsBeheerder(test, 'viewer', { width: 320 })
    const [row] = await sql`select uuid from notificatie_overzicht where status = 'mislukt' limit 1`
    for (const path of ['notificaties', `notificaties/${row!.uuid}`]) {
      await pagina.goto(`/beheer/${path}`)
      t.equal(await teBreed(pagina), false, path)
      t.same(await toegankelijkheid(pagina), [], path)
      t.equal(await pagina.$('main button:not(.filters button)'), null)
    }
    const _csrf = await pagina.inputValue('input[name=_csrf]')
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

t.test('a message says which case it is about, to who may see that case', async (t) => {
  const test = await opstelling(t, {}, false)
  const zaaktype = await givenZaaktype(test)
  const zaak = await givenZaak(test, zaaktype)
  const geheim = await givenZaak(test, zaaktype, { vertrouwelijkheidaanduiding: 'zeer_geheim' })
  const get = await test.ingelogd('viewer')
  const { body } = await get('/beheer/notificaties')
  t.match(body, `/beheer/zaken/${zaak.uuid}">${zaak.identificatie}<`)
  t.notMatch(body, geheim.identificatie)
  t.match(body, `/beheer/catalogi/zaaktypen/${uuidOf(zaaktype)}">`)
})
