// Importing a ZIP in the pages: what it would do is seen first, and is what happens then.
import t from 'tap'
import { givenCatalogus, givenInformatieobjecttype, givenZaaktype, uuidOf } from '../app.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages } from './browser.ts'

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
    t.match(said, /Zaaktypen \(1\) ?Melding \([^)]+\), versie vanaf \d+ \w+ \d{4}/)
    t.match(said, /Documenttypen \(1\) ?Brief, versie vanaf \d+ \w+ \d{4}/)
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

t.test(
  'a catalogue that is there goes into that one or under another name, and its file is chosen once',
  await needsBrowser(),
  async (t) => {
    const test = await setUpPages(t)
    const catalogus = await givenCatalogus(test, { domein: 'VAN' })
    await givenZaaktype(test, {
      catalogus,
      identificatie: 'M1',
      omschrijving: 'Melding',
      statustypen: ['Ontvangen', 'Klaar'],
    })
    await givenZaaktype(test, {
      catalogus,
      identificatie: 'K1',
      omschrijving: 'Klacht',
      statustypen: ['Gehoord', 'Af'],
    })
    const { rsin } = (await test.call('GET', catalogus)).body
    const { tab } = await asBeheerder(test, 'administrator')
    const zip = await tab.request.get(`/beheer/catalogi/${uuidOf(catalogus)}/export.zip`)
    const text = async () => (await tab.textContent('main'))!.replace(/\s+/g, ' ')
    const choose = async () => {
      await tab.goto('/beheer/catalogi/importeren')
      await tab.setInputFiles('#veld-bestand', {
        name: 'catalogus.zip',
        mimeType: 'application/zip',
        buffer: await zip.body(),
      })
      await tab.click('main button[type=submit]')
      await tab.waitForSelector('h1:text("Deze catalogus is er al")')
    }
    const shown = async (name: string) => {
      t.same(await accessibilityFaults(tab), [])
      for (const width of [1280, 390]) {
        await tab.setViewportSize({ width, height: 900 })
        t.equal(await isTooWide(tab), false, `${name} at ${width}`)
        if (process.env.SHOTS)
          await tab.screenshot({ path: `${process.env.SHOTS}/${name}-${width}.png`, fullPage: true })
      }
      await tab.setViewportSize({ width: 1280, height: 900 })
    }

    await choose()
    t.match(await text(), `domein VAN en RSIN ${rsin}`)
    t.notMatch(await text(), /nonFieldErrors|bestaat al/)
    t.equal(await tab.locator('input[type=file]').count(), 0)
    await shown('choice')

    // Into the one that is there, by the keyboard.
    await tab.focus('#veld-catalogus-hier')
    await tab.keyboard.press('Enter')
    await tab.waitForSelector('text=Is er al in deze catalogus')
    t.match(
      await text(),
      /Zaaktype “Klacht” \([^)]+\) In het bestand: versie vanaf \d.*In deze catalogus: versie vanaf \d/,
    )
    await shown('into')
    await tab.click('main button[value=importeren]')
    await tab.waitForSelector('main :text("overgenomen, als concept")')
    t.equal((await test.call('GET', catalogus)).body.zaaktypen.length, 4)

    // Under another name: what is wrong with it is said beside the field, and what was filled in stays.
    await choose()
    await tab.focus('#veld-catalogus-hier')
    await tab.keyboard.press('ArrowDown')
    await tab.click('main button[type=submit]')
    await tab.waitForSelector('#veld-domein-fout:text("Ook met dit domein en dit RSIN is er al een catalogus.")')
    await tab.fill('#veld-domein', 'N')
    await tab.fill('#veld-rsin', '123')
    await tab.click('main button[type=submit]')
    await tab.waitForSelector('#veld-rsin-fout')
    t.equal(await tab.inputValue('#veld-domein'), 'N')
    t.equal(await tab.isChecked('#veld-catalogus-nieuw'), true)
    await shown('faults')
    await tab.fill('#veld-domein', 'NIEUW')
    await tab.fill('#veld-rsin', rsin)
    await tab.click('main button[type=submit]')
    await tab.waitForSelector('text=Er is nog niets overgenomen')
    const said = await text()
    t.match(said, /Catalogus \(1\) ?NIEUW/)
    const [, ofMelding = '', ofKlacht = ''] =
      /Zaaktypen \(2\) ?Melding (.*) Klacht (.*)/.exec(said) ??
      /Zaaktypen \(2\) ?Klacht (.*) Melding (.*)/.exec(said) ??
      []
    t.match(
      [ofMelding, ofKlacht].map((part) => /Statustypen \(2\) ?(Gehoord, Af|Ontvangen, Klaar)/.exec(part)?.[1]).sort(),
      ['Gehoord, Af', 'Ontvangen, Klaar'],
    )
    await shown('preview')
    await tab.click('main button[value=importeren]')
    await tab.waitForSelector('main :text("overgenomen, als concept")')
    const { body } = await test.call('GET', '/catalogi/api/v1/catalogussen?domein=NIEUW')
    t.equal(body.results[0]?.rsin, rsin)
    t.equal(body.results[0]?.zaaktypen.length, 2)

    // A uuid that is taken is told with the file still there.
    await tab.goto('/beheer/catalogi/importeren')
    await tab.check('#veld-uuidsBehouden')
    await tab.setInputFiles('#veld-bestand', {
      name: 'catalogus.zip',
      mimeType: 'application/zip',
      buffer: await zip.body(),
    })
    await tab.click('main button[type=submit]')
    await tab.waitForSelector('#veld-bestand-fout:text("bestaat hier al met deze uuid")')
    await shown('uuids')
    await tab.uncheck('#veld-uuidsBehouden')
    await tab.click('main button[type=submit]')
    await tab.waitForSelector('h1:text("Deze catalogus is er al")')
  },
)
