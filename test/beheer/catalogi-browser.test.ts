// The catalogue in a browser: an example taken, its order changed with the keyboard, published; and every page accessible.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { givenCatalogus, givenZaaktype, uuidOf } from '../app.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages } from './browser.ts'

t.test(
  'from an empty installation to a published zaaktype in a browser, with the keyboard',
  await needsBrowser(),
  async (t) => {
    const test = await setUpPages(t)
    const { tab, klachten } = await asBeheerder(test, 'administrator')
    const good = async () => {
      t.same(await accessibilityFaults(tab), [], tab.url())
      t.equal(await isTooWide(tab), false, tab.url())
    }
    await tab.goto('/beheer/catalogi/nieuw')
    await tab.click('main .knop')
    await tab.waitForSelector('[data-fouten]:focus')
    await good()
    await tab.fill('#veld-domein', 'ALG')
    await tab.fill('#veld-rsin', '517439943')
    await tab.fill('#veld-contactpersoonBeheerNaam', 'Beheer')
    await tab.click('main .knop')
    await tab.waitForSelector('.bericht-goed')
    const catalogus = new URL(tab.url()).pathname
    await tab.goto(`${catalogus}/voorbeelden`)
    await good()
    await tab.click('button[value=uittreksel]')
    await tab.waitForSelector('.bericht-goed')
    const zaaktype = new URL(tab.url()).pathname
    await good()
    await tab.goto(`${zaaktype}/resultaattypen/nieuw`)
    await good()
    await tab.goto(`${zaaktype}/statustypen`)
    await good()
    await tab.locator('[name=omlaag]').first().focus()
    await tab.keyboard.press('Enter')
    t.match(await tab.textContent('[data-gemeld]'), 'Ontvangen, plaats 2 van 3')
    await tab.click('text=Volgorde opslaan')
    await tab.waitForSelector('.bericht-goed')
    t.match(await tab.locator('.volgorde li').first().textContent(), 'In behandeling')
    // The same with the mouse: the second above the first again.
    const rows = tab.locator('.volgorde li')
    await rows.nth(1).dragTo(rows.nth(0), { targetPosition: { x: 60, y: 3 } })
    t.match(await tab.textContent('[data-gemeld]'), 'Ontvangen, plaats 1 van 3')
    await tab.click('text=Volgorde opslaan')
    await tab.waitForSelector('.bericht-goed')
    t.match(await rows.first().textContent(), 'Ontvangen')
    await tab.goto(`${zaaktype}/gegevens/relaties`)
    await tab.click('text=Nog een regel')
    t.equal(await tab.locator('[data-regel]').count(), 2)
    await good()
    await tab.goto(`${zaaktype}/publiceren`)
    await good()
    await tab.focus('main .knop')
    await tab.keyboard.press('Enter')
    await tab.waitForSelector('.staat-goed')
    await tab.goto(`${zaaktype}/gegevens/basis`)
    await good()
    t.same(klachten, [])
  },
)

for (const source of ['a file', 'its API'])
  t.test(
    `the selectielijst, from ${source}, fills in how long a dossier is kept, and says why`,
    await needsBrowser(),
    async (t) => {
      const { settings, procestype, klasse, omschrijving } = await givenSelectielijst(t, source)
      const test = await setUpPages(t, settings)
      const catalogus = await givenCatalogus(test)
      const zaaktype = await givenZaaktype(test, { catalogus, concept: true })
      const path = `/beheer/catalogi/zaaktypen/${uuidOf(zaaktype)}`
      const { tab } = await asBeheerder(test, 'administrator')
      await tab.goto(`${path}/gegevens/archief`)
      await tab.selectOption('#veld-selectielijstProcestype', procestype)
      await tab.click('main .knop')
      await tab.waitForSelector('.bericht-goed')
      await tab.goto(`${path}/resultaattypen/nieuw`)
      await tab.selectOption('#veld-selectielijstklasse', klasse)
      t.equal(
        await tab.textContent('[data-klasse-uitleg]'),
        'Volgens klasse 8.1 wordt het dossier vernietigd na 5 jaar. De termijn telt vanaf de einddatum van de zaak. Herkomst: Risicoanalyse.',
      )
      const value = (name: string) => tab.locator(`[name="${name}"]`).inputValue()
      t.equal(await value('archiefnominatie'), 'vernietigen')
      t.equal(await value('archiefactietermijn.aantal'), '5')
      t.equal(await value('archiefactietermijn.eenheid'), 'Y')
      t.equal(await value('brondatumArchiefprocedure.afleidingswijze'), 'afgehandeld')
      t.same(await accessibilityFaults(tab), [])
      await tab.fill('[name=omschrijving]', 'Verleend')
      await tab.selectOption('[name=resultaattypeomschrijving]', omschrijving)
      await tab.click('main .knop')
      await tab.waitForSelector('.bericht-goed')
      t.match(
        (await test.database.sql`select archiefactietermijn::text as termijn, archiefnominatie from resultaattype`)[0],
        { termijn: 'P5Y', archiefnominatie: 'vernietigen' },
      )
    },
  )

/** A selectielijst of one procestype and one klasse, in a file or behind an API that answers in pages. */
async function givenSelectielijst(t: Test, source: string) {
  const server = createServer((request, response) => {
    const { origin, pathname, searchParams } = new URL(request.url ?? '', root)
    const one = all.find(({ url }) => url === `${origin}${pathname}`)
    const listed = all.filter(
      ({ url, procesType }) =>
        url.startsWith(`${origin}${pathname}/`) && [null, procesType].includes(searchParams.get('procesType')),
    )
    const page = { count: listed.length, next: null, previous: null, results: listed }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(one ?? (pathname.endsWith('/resultaten') ? page : listed)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`
  const procestype = `${root}/procestypen/8`
  const klasse = `${root}/resultaten/81`
  const omschrijving = `${root}/resultaattypeomschrijvingen/1`
  const all: { url: string; procesType?: string; [member: string]: unknown }[] = [
    {
      url: procestype,
      nummer: 8,
      jaar: 2020,
      naam: 'Toestemming verlenen',
      omschrijving: 'Toestemming',
      toelichting: '',
      procesobject: '',
    },
    {
      url: klasse,
      procesType: procestype,
      nummer: 1,
      volledigNummer: '8.1',
      naam: 'Verleend',
      herkomst: 'Risicoanalyse',
      waardering: 'vernietigen',
      procestermijn: 'nihil',
      bewaartermijn: 'P5Y',
    },
    { url: omschrijving, omschrijving: 'Verleend', definitie: 'Wat gevraagd is mag.' },
  ]
  const folder = t.testdir({ 'selectielijst.json': JSON.stringify(all) })
  const settings: Record<string, string> =
    source === 'a file'
      ? { SELECTIELIJST_BESTAND: `${folder}/selectielijst.json` }
      : { SELECTIELIJST_API_ROOT: `${root}/` }
  return { settings, procestype, klasse, omschrijving }
}
