// Who looked at a case and at a person, for the role privacy alone; and the activity that the lines name.
import t from 'tap'
import { givenZaaktype, uuidOf } from '../app.ts'
import { until } from '../until.ts'
import { CRS, made, ZAKEN } from '../zaken/given.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages } from './browser.ts'
import { givenZaak } from './given.ts'

const BSN = '999990019'
const ON = { LOGBOEK_DATAVERWERKINGEN: 'true', LOGBOEK_ACTIVITEIT: 'https://register.gemeente.nl/verwerkingen/zaken' }

t.test('who looked', await needsBrowser(), async (t) => {
  const test = await setUpPages(t, ON)
  const { sql } = test.database
  const zaaktype = await givenZaaktype(test, {
    roltypen: [{ omschrijving: 'Aanvrager', omschrijvingGeneriek: 'initiator' }],
  })
  const [roltype] = (await test.call('GET', zaaktype)).body.roltypen
  const zaak = await givenZaak(test, zaaktype, { identificatie: 'ZAAK-2026-0042', omschrijving: 'Kapvergunning eik' })
  const betrokkeneIdentificatie = { inpBsn: BSN, voornamen: 'Anna', geslachtsnaam: 'Jansen' }
  const rol = {
    zaak: zaak.url,
    roltype,
    roltoelichting: 'x',
    betrokkeneType: 'natuurlijk_persoon',
    betrokkeneIdentificatie,
  }
  made(await test.call('POST', `${ZAKEN}/rollen`, rol))
  await test.call('GET', zaak.url, undefined, CRS)
  await test.call('GET', `${ZAKEN}/zaken`, undefined, CRS)
  const lines = (handeling: string) =>
    until(`the line of ${handeling}`, async () => {
      await test.app.acts?.settle()
      return (await sql`select 1 from verwerking where handeling = ${handeling}`).length > 0
    })
  await lines('GET /zaken/api/v1/zaken')
  const { tab, klachten } = await asBeheerder(test, 'privacy')
  const main = async () => (await tab.textContent('main')) ?? ''
  const look = async (name: string) => {
    t.same(await accessibilityFaults(tab), [], name)
    for (const width of [1280, 390]) {
      await tab.setViewportSize({ width, height: 900 })
      t.equal(await isTooWide(tab), false, `${name} at ${width}`)
      if (process.env.PICTURES)
        await tab.screenshot({ path: `${process.env.PICTURES}/${name}-${width}.png`, fullPage: true })
    }
    await tab.setViewportSize({ width: 1280, height: 900 })
  }

  t.test('at a case: by the APIs, in lists, and in these pages', async (t) => {
    await tab.goto(`/beheer/zaken/${zaak.uuid}`)
    await lines('GET /beheer/zaken/:uuid')
    await tab.click('text=Wie keek naar deze zaak?')
    await tab.waitForURL('**/wie-keek')
    const text = await main()
    for (const word of [
      'Gebruiker Een',
      'Betrokkene toegevoegd',
      'Zaak toegevoegd',
      'In een lijst gezien',
      'Bekeken',
      'De privacy',
      'Beheer',
    ])
      t.match(text, word)
    t.notOk(text.includes(BSN))
    await look('wie-keek')
    await tab.fill('input[name=tot]', '2020-01-01')
    await tab.click('form.filters button')
    t.match(await main(), 'Niemand keek')
    await lines('GET /beheer/zaken/:uuid/wie-keek')
  })

  t.test('at a person, by his number, also at cases of his', async (t) => {
    await tab.click('nav >> text=Wie keek?')
    await tab.fill('input[name=bsn]', '123')
    await tab.click('main button')
    t.match(await main(), 'volgens de elfproef')
    await tab.fill('input[name=bsn]', BSN)
    await tab.click('main button')
    const text = await main()
    for (const word of [
      'BSN ••••••019',
      'deze persoon',
      'een zaak van deze persoon',
      'ZAAK-2026-0042',
      'Gebruiker Een',
    ])
      t.match(text, word)
    t.notOk((await tab.content()).includes(BSN), 'the number itself is not repeated')
    await look('wie-keek-persoon')
    const line = await until('the line of the search', async () => {
      await test.app.acts?.settle()
      const found = await sql`select 1 from verwerking where handeling = 'POST /beheer/persoon' and lookups is not null`
      return found.length > 0
    })
    t.ok(line)
    t.equal((await sql`select 1 from beheer_audit where handeling = 'wie-keek-zoeken'`).length, 1)
  })

  t.test('is for nobody else, administrators included', async (t) => {
    for (const rol of ['viewer', 'operator', 'administrator'] as const) {
      const get = await test.signedIn(rol)
      for (const page of ['/beheer/persoon', `/beheer/zaken/${zaak.uuid}/wie-keek`])
        t.equal((await get(page)).statusCode, 403, `${rol} ${page}`)
      t.notMatch((await get(`/beheer/zaken/${zaak.uuid}`)).body, 'wie-keek')
    }
    const get = await test.signedIn('privacy')
    t.equal((await get('/beheer/accounts')).statusCode, 403, 'and privacy does not administer')
    t.equal((await get('/beheer/imports/nieuw')).statusCode, 403)
  })

  t.test('an administrator says which activity cases belong to', async (t) => {
    const { tab: page } = await asBeheerder(test, 'administrator')
    await page.goto(`/beheer/catalogi/zaaktypen/${uuidOf(zaaktype)}`)
    t.match(await page.textContent('main'), 'Die van deze installatie.')
    await page.goto(`/beheer/catalogi/zaaktypen/${uuidOf(zaaktype)}/verwerkingsactiviteit`)
    t.same(await accessibilityFaults(page), [])
    await page.fill('input[name=activiteit]', 'https://register.gemeente.nl/kappen')
    await page.click('main button[type=submit]')
    t.match(await page.textContent('main'), 'https://register.gemeente.nl/kappen')
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/activiteit.png`, fullPage: true })
    const [row] = await sql`select url, zaaktype_identificatie from verwerkingsactiviteit`
    t.match(row, { url: 'https://register.gemeente.nl/kappen', zaaktype_identificatie: 'MELDING' })
    await page.goto(`/beheer/catalogi/zaaktypen/${uuidOf(zaaktype)}/verwerkingsactiviteit`)
    await page.fill('input[name=activiteit]', '')
    await page.click('main button[type=submit]')
    t.equal((await sql`select 1 from verwerkingsactiviteit`).length, 0, 'and takes it back')
  })
  t.same(klachten, [])
})
