import t from 'tap'
import { givenInformatieobjecttype, givenZaaktype, uuidOf } from '../app.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages } from './browser.ts'
import { givenDocument, givenZaak } from './given.ts'

const BSN = '111222333'
const RSIN = '517439943'

t.test('the search box', async (t) => {
  const test = await setUpPages(t, {}, false)
  const zaaktype = await givenZaaktype(test, {
    statustypen: ['Ontvangen', 'Klaar'],
    roltypen: [{ omschrijving: 'Indiener', omschrijvingGeneriek: 'initiator' }],
  })
  const zaak = await givenZaak(test, zaaktype, {
    identificatie: 'ZAAK-2026-Kap-0042',
    omschrijving: 'Kapvergunning eik',
  })
  await givenZaak(test, zaaktype, { omschrijving: 'Geheim plan eik', vertrouwelijkheidaanduiding: 'zeer_geheim' })
  const document = await givenDocument(test, await givenInformatieobjecttype(test), { titel: 'Tekening van de boom' })
  const { body: roltypen } = await test.call('GET', '/catalogi/api/v1/roltypen')
  const { body: rol } = await test.call('POST', '/zaken/api/v1/rollen', {
    zaak: zaak.url,
    betrokkeneType: 'natuurlijk_persoon',
    roltype: roltypen.results[0].url,
    roltoelichting: 'x',
    betrokkeneIdentificatie: { inpBsn: BSN },
  })
  const get = await test.signedIn('viewer')
  const search = async (search: string) => {
    const answer = await get(`/beheer/zoeken?zoek=${encodeURIComponent(search)}`)
    return { answer, body: answer.body, location: String(answer.headers.location ?? '') }
  }

  t.test('finds a case by any part of its number and by words of its description, whatever the case', async (t) => {
    for (const sought of ['kap-00', 'KAPVERG', 'eik kapvergunning', '2026-kap'])
      t.match((await search(sought)).body, `zaken/${zaak.uuid}`, sought)
    for (const sought of ['kap_00', 'eik%', 'beuk']) t.match((await search(sought)).body, 'Niets gevonden', sought)
  })

  t.test('goes at once to what has exactly this number, this uuid, or this address of our API', async (t) => {
    const page = `/beheer/zaken/${zaak.uuid}`
    for (const sought of ['zaak-2026-kap-0042', zaak.uuid, zaak.url, rol.url])
      t.equal((await search(sought)).location, page, sought)
    t.equal((await search(document.url)).location, `/beheer/documenten/${document.uuid}`)
    t.equal((await search(zaaktype)).location, `/beheer/catalogi/zaaktypen/${uuidOf(zaaktype)}`)
  })

  t.test('finds a case by a kenmerk, and by the number and the name of an organisation that is involved', async (t) => {
    const given = async (values: object, betrokkeneType?: string, betrokkeneIdentificatie?: object) => {
      const { url, uuid } = await givenZaak(test, zaaktype, { omschrijving: 'Terras', ...values })
      const rol = { zaak: url, roltype: roltypen.results[0].url, roltoelichting: 'x' }
      if (betrokkeneType)
        t.match(await test.call('POST', '/zaken/api/v1/rollen', { ...rol, betrokkeneType, betrokkeneIdentificatie }), {
          status: 201,
        })
      return uuid
    }
    const marked = await given({ kenmerken: [{ kenmerk: 'OLO-7731', bron: 'omgevingsloket' }] })
    const bakery = { innNnpId: RSIN, statutaireNaam: 'Bakkerij De Korenaar BV', kvkNummer: '12345678' }
    const organisation = await given({}, 'niet_natuurlijk_persoon', bakery)
    const shop = { vestigingsNummer: '000012345678', handelsnaam: ['Korenbloem'] }
    const branch = await given({}, 'vestiging', shop)
    const person = await given({}, 'natuurlijk_persoon', { geslachtsnaam: 'Korenwolf' })
    const found = async (text: string) => {
      const { body } = await search(text)
      return [marked, organisation, branch, person].filter((uuid) => body.includes(uuid))
    }
    for (const text of ['OLO-7731', 'olo-7731', 'omgevingsloket:OLO-7731']) t.same(await found(text), [marked], text)
    for (const text of ['korenaar', 'bakkerij kor', '12345678']) t.same(await found(text), [organisation], text)
    for (const text of ['000012345678', 'korenbloem']) t.same(await found(text), [branch], text)
    for (const text of ['OLO-77', 'omgevingsloket:OLO-7', 'korenwolf', RSIN]) t.same(await found(text), [], text)
    t.match((await get('/beheer/zaken?zoek=korenaar')).body, organisation, 'also in the list of cases')
  })

  t.test('finds a document by its title', async (t) => {
    t.match((await search('boom tekening')).body, `documenten/${document.uuid}`)
  })

  t.test('tells nothing of what is above the level of who asks', async (t) => {
    const { body } = await search('eik')
    t.match(body, `zaken/${zaak.uuid}`)
    t.notMatch(body, 'Geheim plan')
  })

  t.test('says that fewer than three characters are too few', async (t) => {
    for (const short of ['ei', '---', '- -']) t.match((await search(short)).body, 'ten minste drie letters of cijfers')
  })

  t.test('lists of cases and documents ask for three characters too, and read nothing for fewer', async (t) => {
    for (const list of ['zaken?zoek=', 'documenten?titel=']) {
      for (const short of ['ei', '---', 'e i']) {
        const { statusCode, body } = await get(`/beheer/${list}${encodeURIComponent(short)}`)
        t.equal(statusCode, 200)
        t.match(body, 'ten minste drie letters of cijfers')
        t.notMatch(body, zaak.uuid)
      }
      t.notMatch((await get(`/beheer/${list}`)).body, 'ten minste drie')
      t.notMatch((await get(`/beheer/${list}boom%20ei`)).body, 'ten minste drie', 'one word suffices')
    }
  })

  t.test('a BSN in an address is not looked up', async (t) => {
    t.match((await search(BSN)).body, 'Niets gevonden')
  })
})

t.test('the box in the header of every page', await needsBrowser(), async (t) => {
  const test = await setUpPages(t)
  const zaaktype = await givenZaaktype(test, {
    statustypen: ['Ontvangen', 'Klaar'],
    roltypen: [{ omschrijving: 'Indiener', omschrijvingGeneriek: 'initiator' }],
  })
  const zaak = await givenZaak(test, zaaktype, { omschrijving: 'Kapvergunning eik' })
  const { body: roltypen } = await test.call('GET', '/catalogi/api/v1/roltypen')
  await test.call('POST', '/zaken/api/v1/rollen', {
    zaak: zaak.url,
    betrokkeneType: 'natuurlijk_persoon',
    roltype: roltypen.results[0].url,
    roltoelichting: 'x',
    betrokkeneIdentificatie: { inpBsn: BSN },
  })
  const find = async (rol: 'viewer' | 'operator', search: string) => {
    const { tab, klachten } = await asBeheerder(test, rol)
    await tab.goto('/beheer/imports')
    await tab.fill('.kop-zoek input[type=search]', search)
    await tab.keyboard.press('Enter')
    await tab.waitForURL('**/zoeken*')
    return { tab, klachten }
  }

  await t.test('finds a case, accessibly and without scrolling sideways', async (t) => {
    const { tab, klachten } = await find('viewer', 'kapver')
    t.match(await tab.textContent('main tbody'), zaak.identificatie)
    t.equal(await tab.inputValue('.kop-zoek input[type=search]'), 'kapver')
    t.same(await accessibilityFaults(tab), [])
    await tab.setViewportSize({ width: 320, height: 800 })
    t.equal(await isTooWide(tab), false)
    t.same(klachten, [])
  })

  await t.test('finds the cases of a BSN for an operator; it is recorded, and stands in no address', async (t) => {
    const { tab } = await find('operator', '111 222 333')
    t.match(await tab.textContent('main'), zaak.identificatie)
    t.match(await tab.textContent('main'), 'BSN ••••••333')
    t.notMatch(tab.url(), BSN)
    t.notMatch(await tab.content(), BSN)
    const [row] = await test.database
      .sql`select * from beheer_audit where handeling = 'bsn-zoeken' order by id desc limit 1`
    t.match(row, {
      gebruiker: 'operator',
      resultaat: 'geslaagd',
      object_weergave: 'BSN ••••••333',
      nieuw: { gevonden: 1 },
    })
  })

  await t.test('finds the cases of an RSIN for a viewer as well, since it is no number of a person', async (t) => {
    const other = await givenZaak(test, zaaktype, { omschrijving: 'Terras' })
    await test.call('POST', '/zaken/api/v1/rollen', {
      zaak: other.url,
      betrokkeneType: 'niet_natuurlijk_persoon',
      roltype: roltypen.results[0].url,
      roltoelichting: 'x',
      betrokkeneIdentificatie: { innNnpId: RSIN },
    })
    const { tab } = await find('viewer', RSIN)
    t.match(await tab.textContent('main'), other.identificatie)
  })

  await t.test('refuses a BSN to a viewer, which is recorded too', async (t) => {
    const { tab } = await find('viewer', BSN)
    t.notMatch(await tab.textContent('main'), zaak.identificatie)
    t.match(await tab.textContent('main'), 'mag alleen')
    const [row] = await test.database
      .sql`select * from beheer_audit where handeling = 'bsn-zoeken' order by id desc limit 1`
    t.match(row, { gebruiker: 'viewer', resultaat: 'geweigerd' })
  })
})
