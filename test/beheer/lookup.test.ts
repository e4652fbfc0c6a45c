import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { createAccount } from '../../src/beheer/accounts/accounts.ts'
import { exportZaaktype } from '../../src/catalogi/package/export.ts'
import { BASE, givenCatalogus, givenInformatieobjecttype, givenZaaktype, type TestApp, uuidOf } from '../app.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, type PagesSetup, setUpPages } from './browser.ts'
import { givenDocument, givenZaak } from './given.ts'

const SCRIPT = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'

/** Everything that the pages can show, with script in every text. */
async function givenEverything(test: TestApp) {
  const catalogus = await givenCatalogus(test, { naam: SCRIPT })
  const informatieobjecttype = await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Brief' })
  const concept = await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Nog een concept', concept: true })
  const zaaktype = await givenZaaktype(test, {
    catalogus,
    omschrijving: SCRIPT.slice(0, 80),
    statustypen: ['Ontvangen', 'Afgehandeld'],
    roltypen: [{ omschrijving: 'Indiener', omschrijvingGeneriek: 'initiator' }],
    informatieobjecttypen: [informatieobjecttype],
  })
  const zaak = await givenZaak(test, zaaktype, { omschrijving: SCRIPT.slice(0, 80), toelichting: SCRIPT })
  const { body: roltypen } = await test.call('GET', '/catalogi/api/v1/roltypen')
  const rol = await test.call('POST', '/zaken/api/v1/rollen', {
    zaak: zaak.url,
    betrokkeneType: 'natuurlijk_persoon',
    roltype: roltypen.results[0].url,
    roltoelichting: SCRIPT,
    betrokkeneIdentificatie: { inpBsn: '111222333' },
  })
  if (rol.status !== 201) throw new Error(rol.text)
  const document = await givenDocument(test, informatieobjecttype, {
    titel: SCRIPT,
    beschrijving: SCRIPT,
    auteur: SCRIPT,
  })
  await test.call('POST', '/zaken/api/v1/zaakinformatieobjecten', { zaak: zaak.url, informatieobject: document.url })
  return { catalogus, zaaktype, informatieobjecttype, concept, zaak, document }
}

t.test('the pages to look things up', await needsBrowser(), async (t) => {
  const test = await setUpPages(t)
  const empty = [
    '/beheer/zaken',
    '/beheer/documenten',
    '/beheer/besluiten',
    '/beheer/betrokkenen?zoek=niemand',
    '/beheer/audittrail?gebruiker=niemand',
    '/beheer/catalogi',
    '/beheer/audit?gebruiker=niemand',
  ]
  await t.test('are accessible while there is nothing', (t) => requireAccessible(t, test, empty))

  const all = await givenEverything(test)
  const { zaak, document } = all
  const pages = [
    '/beheer/zaken',
    `/beheer/zaken/${zaak.uuid}`,
    `/beheer/zaken/${zaak.uuid}/documenten`,
    `/beheer/zaken/${zaak.uuid}/rollen`,
    `/beheer/zaken/${zaak.uuid}/geschiedenis`,
    '/beheer/documenten',
    `/beheer/documenten/${document.uuid}`,
    `/beheer/documenten/${document.uuid}/geschiedenis`,
    '/beheer/catalogi',
    `/beheer/catalogi/${uuidOf(all.catalogus)}`,
    `/beheer/catalogi/${uuidOf(all.catalogus)}?soort=informatieobjecttypen`,
    `/beheer/catalogi/zaaktypen/${uuidOf(all.zaaktype)}`,
    `/beheer/catalogi/informatieobjecttypen/${uuidOf(all.concept)}`,
    '/beheer/audit',
    '/beheer/audittrail',
  ]
  await t.test('are accessible when full, at 1280 and 320 pixels, and run no stored script', (t) =>
    requireAccessible(t, test, pages),
  )

  await t.test('find a zaak by its identificatie, uuid or URL, with and without script', async (t) => {
    for (const javaScriptEnabled of [true, false]) {
      const { tab, context } = await asBeheerder(test, 'viewer', { javaScriptEnabled })
      for (const search of [zaak.identificatie, zaak.uuid, zaak.url]) {
        await tab.goto('/beheer/zaken')
        await tab.fill('#veld-zoek', search)
        await tab.keyboard.press('Enter')
        await tab.waitForURL('**/zaken?zoek=*')
        await tab.click(`text=${zaak.identificatie}`)
        t.match(await tab.textContent('h1'), zaak.identificatie)
      }
      await context.close()
    }
  })

  await t.test(
    'find documents by words of their title in any order, whatever the case, without wildcards',
    async (t) => {
      const titel = 'Beroepschrift over 100% van de Parkeerplaatsen_Noord'
      const { uuid } = await givenDocument(test, all.informatieobjecttype, { titel })
      const { tab, context } = await asBeheerder(test, 'viewer', { javaScriptEnabled: false })
      const found = async (words: string) => {
        await tab.goto('/beheer/documenten')
        await tab.fill('#veld-titel', words)
        await tab.keyboard.press('Enter')
        await tab.waitForURL('**/documenten?zoek=&titel=*')
        return tab.locator(`a[href$="${uuid}"]`).count()
      }
      for (const words of ['noord beroep', 'PARKEERPLAATSEN', '100%', titel]) t.equal(await found(words), 1, words)
      for (const words of ['noord verweer', '10_%', '%%%']) t.equal(await found(words), 0, words)
      await context.close()
    },
  )

  await t.test('show no whole BSN, also not in the history', async (t) => {
    const { tab } = await asBeheerder(test, 'viewer')
    for (const deel of ['rollen', 'geschiedenis']) {
      await tab.goto(`/beheer/zaken/${zaak.uuid}/${deel}`)
      const text = await tab.content()
      t.notMatch(text, '111222333')
      t.match(text, '••••••333')
    }
  })

  await t.test('each page that shows people is recorded, with who looked', async (t) => {
    const verzending = await test.call('POST', '/documenten/api/v1/verzendingen', {
      betrokkene: 'https://example.com/persoon',
      informatieobject: document.url,
      aardRelatie: 'geadresseerde',
      contactPersoon: 'https://example.com/contact',
      contactpersoonnaam: 'Jan de Vries',
      verzenddatum: '2026-11-20',
      emailadres: 'jan@example.com',
    })
    t.equal(verzending.status, 201, verzending.text)
    const get = await test.signedIn('viewer')
    const looks = async () => {
      const rows = await test.database.sql`
        select object_id, gebruiker from beheer_audit where handeling = 'persoonsgegevens-bekijken' order by id`
      return rows.map((row) => `${row.gebruiker} ${row.object_id}`)
    }
    const pages: [url: string, uuid: string][] = [
      [`/zaken/${zaak.uuid}`, zaak.uuid],
      [`/zaken/${zaak.uuid}/rollen`, zaak.uuid],
      [`/zaken/${zaak.uuid}/geschiedenis`, zaak.uuid],
      [`/documenten/${document.uuid}`, document.uuid],
    ]
    for (const [url, uuid] of pages) {
      const before = await looks()
      t.equal((await get(`/beheer${url}`)).statusCode, 200)
      t.same((await looks()).slice(before.length), [`viewer ${uuid}`], url)
    }
    const before = await looks()
    const others = [
      '/zaken',
      '/documenten',
      `/zaken/${zaak.uuid}/documenten`,
      '/zoeken?zoek=brief',
      `/documenten/${document.uuid}/geschiedenis`,
      '/besluiten',
      '/audittrail',
    ]
    for (const url of others) {
      const { body } = await get(`/beheer${url}`)
      t.notMatch(body, /••••••333|Jan de Vries|jan@example/, `${url} shows nobody`)
    }
    t.same(await looks(), before, 'so it is not recorded')
  })

  await t.test('show on one page what belongs to a case, with values', async (t) => {
    const { body: statustypen } = await test.call('GET', '/catalogi/api/v1/statustypen')
    const ontvangen = statustypen.results.find((one: { omschrijving: string }) => one.omschrijving === 'Ontvangen')
    await test.call('POST', '/zaken/api/v1/statussen', {
      zaak: zaak.url,
      statustype: ontvangen.url,
      datumStatusGezet: '2026-11-02T10:00:00Z',
    })
    const other = await givenZaak(test, all.zaaktype, {
      relevanteAndereZaken: [{ url: zaak.url, aardRelatie: 'vervolg' }],
    })
    const { tab } = await asBeheerder(test, 'viewer')
    await tab.goto(`/beheer/zaken/${zaak.uuid}`)
    const part = (header: string) => tab.textContent(`section[aria-labelledby=kop-${header}]`)
    t.match(await part('statussen'), /Ontvangen.*2 nov 2026/s)
    t.match(
      await part('rollen'),
      /Indiener\s*BSN ••••••333\s*natuurlijk persoon|Indiener\s*natuurlijk persoon\s*BSN ••••••333/,
    )
    t.match(await part('documenten'), SCRIPT)
    t.match(await part('gerelateerd'), other.identificatie)
    t.match(await part('geschiedenis'), 'Status gezet op Ontvangen')
    t.match(await part('geschiedenis'), 'Gebruiker Een')
    t.same(await accessibilityFaults(tab), [])
    const [row] = await test.database.sql`
      select * from beheer_audit where handeling = 'persoonsgegevens-bekijken' and gebruiker = 'viewer' order by id desc limit 1`
    t.match(row, { object_id: zaak.uuid })
  })

  await t.test('tell the history in sentences, with the difference behind them', async (t) => {
    await test.call(
      'PATCH',
      zaak.url,
      { toelichting: 'Anders', uiterlijkeEinddatumAfdoening: '2027-01-31' },
      {
        headers: { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' },
      },
    )
    const { tab } = await asBeheerder(test, 'viewer')
    await tab.goto(`/beheer/zaken/${zaak.uuid}/geschiedenis`)
    const text = (await tab.textContent('main'))!
    for (const zin of [
      'Toelichting en uiterlijke einddatum afdoening gewijzigd',
      'Zaak aangemaakt',
      'toegevoegd als indiener',
    ])
      t.match(text, zin)
    t.match(text, '31 januari 2027')
    t.notMatch(text, /[{}]|partial_update|betrokkeneIdentificatie/)
  })

  await t.test('sort their lists upwards and downwards, page by page', async (t) => {
    const get = await test.signedIn('viewer')
    const rows = (body: string) =>
      [...body.matchAll(/class="cel"><a href="[^"]*zaken\/([^"]+)"/g)].map((match) => match[1])
    const up = rows((await get('/beheer/zaken?sorteer=identificatie')).body)
    const down = rows((await get('/beheer/zaken?sorteer=-identificatie')).body)
    t.ok(up.length > 1)
    t.same(up, down.toReversed())
    const [{ id }] = (await test.database.sql`select id from zaak where uuid = ${up[0]!}`) as unknown as [
      { id: number },
    ]
    t.same(rows((await get(`/beheer/zaken?sorteer=identificatie&na=${id}`)).body), up.slice(1))
    t.match((await get('/beheer/zaken?sorteer=-startdatum')).body, 'aria-sort="descending"')
    for (const sorteer of ['titel', '-creatiedatum', 'identificatie'])
      t.equal((await get(`/beheer/documenten?sorteer=${sorteer}&na=1`)).statusCode, 200, sorteer)
  })

  await t.test('every list sorts by its headings, keeps its filters, and says how it is sorted', async (t) => {
    const get = await test.signedIn('administrator')
    for (const name of ['tweede', 'derde'])
      await createAccount(test.database.db, { gebruikersnaam: name, naam: `Naam ${name}`, rol: 'viewer' })
    const lists = [
      '/zaken?staat=open',
      '/documenten',
      '/besluiten?type=',
      '/audit?resultaat=geslaagd',
      '/accounts?zoek=e',
      '/applicaties',
      '/imports',
      '/taken',
      '/notificaties?kanaal=zaken',
      '/kanalen',
      '/abonnementen',
      '/catalogi',
      `/catalogi/${uuidOf(all.catalogus)}?soort=informatieobjecttypen`,
      '/uitgaand',
      '/overnemen',
      `/zaken/${zaak.uuid}/rollen`,
    ]
    for (const list of lists) {
      const { body, statusCode } = await get(`/beheer${list}`)
      t.equal(statusCode, 200, list)
      const links = [...body.matchAll(/class="sorteer" href="([^"]+)"/g)].map(([, url]) =>
        url!.replaceAll('&amp;', '&'),
      )
      if (!/class="leeg"/.test(body)) t.ok(links.length > 0, list)
      for (const url of links) {
        t.ok(url.includes(list.split('?')[1] ?? ''), `${url} keeps the filters`)
        for (const sorteer of [url, url.replace(/sorteer=-?/, 'sorteer=-')]) {
          const sorted = await get(sorteer)
          t.equal(sorted.statusCode, 200, sorteer)
          t.match(sorted.body, `aria-sort="${/sorteer=-/.test(sorteer) ? 'descending' : 'ascending'}"`, sorteer)
          t.equal((await get(`${sorteer}&na=1`)).statusCode, 200, `${sorteer}, further on`)
          t.equal((await get(`${sorteer}&voor=1`)).statusCode, 200, `${sorteer}, back`)
        }
      }
    }
    const names = (body: string) => [...body.matchAll(/accounts\/[0-9a-f-]{36}">([^<]+)</g)].map(([, name]) => name)
    const up = names((await get('/beheer/accounts?sorteer=naam')).body)
    t.same(up.slice(-2), ['derde', 'tweede'], 'by De … and Naam …: behind those that are called as they sign in')
    t.same(names((await get('/beheer/accounts?sorteer=-naam')).body), up.toReversed())
    t.same(names((await get('/beheer/accounts')).body), up.toSorted(), 'and by user name when nobody asks')
  })

  await t.test('tell types with one name apart by their catalogue, and versions by their first day', async (t) => {
    const elders = await givenCatalogus(test)
    await givenInformatieobjecttype(test, { catalogus: elders, omschrijving: 'Brief' })
    const get = await test.signedIn('viewer')
    const options = [...(await get('/beheer/documenten')).body.matchAll(/<option value="[^"]*">(Brief[^<]*)</g)]
    t.equal(new Set(options.map((match) => match[1])).size, 2)
    t.ok(options.every((match) => /^Brief \([A-Z]+\)$/.test(match[1]!)))
  })

  await t.test('show what a browser can show safely, apart from the page and recorded', async (t) => {
    const kwaad = Buffer.from('<script>parent.location = "about:blank"</script>').toString('base64')
    const text = await givenDocument(test, all.informatieobjecttype, {
      formaat: 'text/plain',
      inhoud: kwaad,
      bestandsomvang: 48,
    })
    const html = await givenDocument(test, all.informatieobjecttype, {
      formaat: 'text/html',
      bestandsnaam: 'x.html',
      inhoud: kwaad,
      bestandsomvang: 48,
    })
    const { tab, klachten } = await asBeheerder(test, 'viewer')
    await tab.goto(`/beheer/documenten/${text.uuid}`)
    await tab.click('text=Bekijken')
    const frame = tab.frameLocator('iframe.voorbeeld')
    t.match(await frame.locator('body').textContent(), '<script>', 'as text')
    t.match(tab.url(), text.uuid)
    t.same(await accessibilityFaults(tab), [])
    t.same(klachten, [])
    const get = await test.signedIn('viewer')
    const { headers } = await get(`/beheer/documenten/${text.uuid}/voorbeeld`)
    t.match(headers, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' })
    t.match(headers['content-security-policy'], /default-src 'none'; sandbox/)
    t.match(headers['content-disposition'], /^inline/)
    t.equal((await get(`/beheer/documenten/${html.uuid}/voorbeeld`)).statusCode, 404)
    t.notMatch((await get(`/beheer/documenten/${html.uuid}?bekijken=1`)).body, '<iframe')
    const [row] = await test.database.sql`
      select object_id from beheer_audit where handeling = 'document-bekijken' order by id desc limit 1`
    t.equal(row!.object_id, text.uuid)
  })

  await t.test('download a document, which is recorded', async (t) => {
    const { tab } = await asBeheerder(test, 'viewer')
    await tab.goto(`/beheer/documenten/${document.uuid}`)
    const waiting = tab.waitForEvent('download')
    await tab.click('text=Downloaden')
    const download = await waiting
    t.equal(download.suggestedFilename(), 'brief.txt')
    t.equal(await readFile(await download.path(), 'utf8'), 'hallo')
    await tab.goto('/beheer/audit?handeling=document-downloaden')
    t.match(await tab.textContent('tbody'), 'viewer')
  })

  await t.test('publish a type, by keyboard alone, with confirmation and a record', async (t) => {
    const { tab } = await asBeheerder(test, 'administrator')
    await tab.goto(`/beheer/catalogi/informatieobjecttypen/${uuidOf(all.concept)}`)
    await tab.focus('text=Publiceren')
    await tab.keyboard.press('Enter')
    await tab.waitForURL('**/publiceren')
    t.same(await accessibilityFaults(tab), [])
    await tab.focus('main button[type=submit]')
    await tab.keyboard.press('Enter')
    await tab.waitForSelector('.bericht-goed')
    t.match(await tab.textContent('main'), 'gepubliceerd')
    const { body } = await test.call('GET', all.concept)
    t.equal(body.concept, false)
    await tab.goto('/beheer/audit?handeling=informatieobjecttype-publiceren')
    await tab.click('tbody th a')
    t.match(await tab.textContent('table'), /Staat\s*concept\s*gepubliceerd/)
    t.same(await accessibilityFaults(tab), [])
  })

  await t.test('take over a catalogue that was exported, or say what is wrong with a file', async (t) => {
    const { tab } = await asBeheerder(test, 'administrator', { javaScriptEnabled: false })
    await tab.goto('/beheer/catalogi/importeren')
    t.equal(await isTooWide(tab), false)
    await tab.setInputFiles('#veld-bestand', {
      name: 'x.zip',
      mimeType: 'application/zip',
      buffer: Buffer.from('no zip'),
    })
    await tab.click('main button[type=submit]')
    t.match(await tab.textContent('.fout'), 'geen ZIP-bestand')
    const waiting = tab.waitForEvent('download')
    await tab.goto(`/beheer/catalogi/${uuidOf(all.catalogus)}`)
    await tab.click('text=Exporteren')
    const zip = await (await waiting).path()
    await tab.goto('/beheer/catalogi/importeren')
    await tab.setInputFiles('#veld-bestand', zip)
    await tab.click('main button[type=submit]')
    t.match(await tab.textContent('h1'), 'Deze catalogus is er al', 'the same domein and rsin are there already')
    const { tab: scripted } = await asBeheerder(test, 'administrator')
    const typeZip = (await exportZaaktype(test.app.read, BASE, uuidOf(all.zaaktype)))!
    await scripted.goto('/beheer/catalogi/importeren')
    await scripted.selectOption('#veld-catalogus', uuidOf(all.catalogus))
    await scripted.setInputFiles('#veld-bestand', {
      name: 'type.zip',
      mimeType: 'application/zip',
      buffer: await buffer(typeZip),
    })
    await scripted.click('main button[type=submit]')
    t.match(await scripted.textContent('main table'), /informatieobjecttype.*bestaand type gebruikt/s)
    t.equal(await isTooWide(scripted), false)
    t.same(await accessibilityFaults(scripted), [])
  })
})

t.test('what is above the level of an account does not exist for it', async (t) => {
  const test = await setUpPages(t, {}, false)
  await test.database
    .sql`update beheer_account set max_vertrouwelijkheidaanduiding = 'intern' where gebruikersnaam = 'viewer'`
  const { zaaktype, informatieobjecttype } = await givenEverything(test)
  const zaak = await givenZaak(test, zaaktype, { vertrouwelijkheidaanduiding: 'geheim' })
  const document = await givenDocument(test, informatieobjecttype, { vertrouwelijkheidaanduiding: 'geheim' })
  const get = await test.signedIn('viewer')
  t.notMatch((await get('/beheer/zaken')).body, zaak.identificatie)
  t.notMatch((await get(`/beheer/zaken?zoek=${zaak.uuid}`)).body, `zaken/${zaak.uuid}`)
  for (const path of [
    `/beheer/zaken/${zaak.uuid}`,
    `/beheer/zaken/${zaak.uuid}/geschiedenis`,
    `/beheer/zaken/${zaak.uuid}/documenten`,
    `/beheer/documenten/${document.uuid}`,
    `/beheer/documenten/${document.uuid}/download`,
    `/beheer/documenten/${document.uuid}/geschiedenis`,
  ])
    t.equal((await get(path)).statusCode, 404, path)
  t.notMatch((await get('/beheer/documenten')).body, document.uuid)
})

t.test('rubbish in an address is never a fault of ours', async (t) => {
  const test = await setUpPages(t, {}, false)
  const get = await test.signedIn('viewer')
  const rubbish = ['%00', "'", '%F0%9F%92%A9', '9'.repeat(40), '-1', '[]', '2026-02-30', '0000-00-00', '\\', '%25']
  for (const value of rubbish) {
    for (const page of ['zaken', 'documenten', 'besluiten', 'betrokkenen', 'audittrail', 'audit', 'catalogi']) {
      const names = [
        'zoek',
        'titel',
        'na',
        'voor',
        'van',
        'tot',
        'type',
        'zaaktype',
        'object',
        'staat',
        'vertrouwelijkheidaanduiding',
      ]
      for (const name of names) {
        const { statusCode } = await get(`/beheer/${page}?${name}=${value}`)
        if (statusCode >= 500) t.fail(`${page}?${name}=${value}: ${statusCode}`)
      }
      const { statusCode } = await get(`/beheer/${page}/${value === '\\' ? '%5C' : value}`)
      if (statusCode >= 500) t.fail(`${page}/${value}: ${statusCode}`)
    }
  }
  t.equal((await get('/beheer/zaken/nergens')).statusCode, 404)
  t.match((await get('/beheer/nergens')).body, 'Deze pagina bestaat niet')
})

async function requireAccessible(t: Test, test: PagesSetup, paths: string[]): Promise<void> {
  const { tab, context, klachten } = await asBeheerder(test, 'administrator')
  tab.on('dialog', (dialog) => {
    t.fail('stored script ran')
    void dialog.dismiss()
  })
  for (const path of paths) {
    const answer = await tab.goto(path)
    t.equal(answer?.status(), 200, path)
    for (const width of [1280, 320]) {
      await tab.setViewportSize({ width, height: 800 })
      t.same(await accessibilityFaults(tab), [], `${path} at ${width}`)
      t.equal(await isTooWide(tab), false, `${path} fits in ${width}`)
    }
  }
  t.same(klachten, [])
  await context.close()
}
