// Importing a ZIP in the pages: what it would do is seen first, and is what happens then.
import t from 'tap'
import { givenCatalogus, givenInformatieobjecttype, givenZaaktype, uuidOf } from '../app.ts'
import { accessibilityFaults, asBeheerder, needsBrowser, setUpPages } from './browser.ts'

t.test(
  'an import is looked at first, writes nothing until then, and makes what it said',
  await needsBrowser(),
  async (t) => {
    const test = await setUpPages(t)
    const catalogus = await givenCatalogus(test, { domein: 'VAN' })
    const documenttype = await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Brief' })
    const zaaktype = await givenZaaktype(test, {
      catalogus,
      omschrijving: 'Melding',
      statustypen: ['Ontvangen', 'Klaar'],
      informatieobjecttypen: [documenttype],
    })
    const other = await givenCatalogus(test, { domein: 'NAAR' })
    const { tab } = await asBeheerder(test, 'administrator')
    const zip = await tab.request.get(`/beheer/catalogi/zaaktypen/${uuidOf(zaaktype)}/export.zip`)
    await tab.goto(`/beheer/catalogi/importeren?catalogus=${uuidOf(other)}`)
    await tab.setInputFiles('#veld-bestand', {
      name: 'zaaktype.zip',
      mimeType: 'application/zip',
      buffer: await zip.body(),
    })
    await tab.click('main button[type=submit]')
    await tab.waitForSelector('text=Er is nog niets overgenomen')
    const said = (await tab.textContent('main'))!.replace(/\s+/g, ' ')
    t.match(said, /Zaaktypen \(1\) ?.*Melding/)
    t.match(said, /Statustypen \(2\) ?Ontvangen, Klaar/)
    t.same(await accessibilityFaults(tab), [])
    const count = async () => (await test.call('GET', other)).body.zaaktypen.length
    t.equal(await count(), 0, 'looking writes nothing')
    await tab.click('main button[type=submit]')
    await tab.waitForSelector('text=overgenomen, als concept')
    t.equal(await count(), 1)
    // Once more: what is there is named, and stays or gets a next version as is chosen for each.
    await tab.goto(`/beheer/catalogi/importeren?catalogus=${uuidOf(other)}`)
    await tab.setInputFiles('#veld-bestand', {
      name: 'z.zip',
      mimeType: 'application/zip',
      buffer: await zip.body(),
    })
    await tab.click('main button[type=submit]')
    await tab.waitForSelector('text=Is er al in deze catalogus')
    const choice = (name: RegExp) => tab.getByLabel(name)
    t.match(await choice(/Documenttype “Brief”/).inputValue(), /^hier:/)
    t.match(await choice(/Zaaktype “Melding”/).inputValue(), /^bestand:/)
    await choice(/Documenttype “Brief”/).selectOption({ index: 1 })
    await choice(/Zaaktype “Melding”/).selectOption({ index: 0 })
    await tab.click('text=Opnieuw bekijken')
    await tab.waitForSelector('text=Documenttypen (1)')
    t.notMatch(await tab.textContent('main'), 'Statustypen (2)')
    t.same(await accessibilityFaults(tab), [])
    await tab.click('main button[value=importeren]')
    await tab.waitForSelector('main :text("overgenomen, als concept")')
    t.equal(await count(), 1, 'the zaaktype stayed as it was')
    t.equal((await test.call('GET', other)).body.informatieobjecttypen.length, 2)
  },
)
