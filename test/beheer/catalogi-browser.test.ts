// The catalogue in a browser: an example taken, its order changed with the keyboard, published; and every page accessible.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { givenCatalogus, givenZaaktype, uuidOf } from '../app.ts'
import { alsBeheerder, needsBrowser, opstelling, teBreed, toegankelijkheid } from './browser.ts'

t.test(
  'from an empty installation to a published zaaktype in a browser, with the keyboard',
  await needsBrowser(),
  async (t) => {
    const test = await opstelling(t)
    const { pagina, klachten } = await alsBeheerder(test, 'administrator')
    const good = async () => {
      t.same(await toegankelijkheid(pagina), [], pagina.url())
      t.equal(await teBreed(pagina), false, pagina.url())
    }
    await pagina.goto('/beheer/catalogi/nieuw')
    await pagina.click('main .knop')
    await pagina.waitForSelector('[data-fouten]:focus')
    await good()
    await pagina.fill('#veld-domein', 'ALG')
    await pagina.fill('#veld-rsin', '517439943')
    await pagina.fill('#veld-contactpersoonBeheerNaam', 'Beheer')
    await pagina.click('main .knop')
    await pagina.waitForSelector('.bericht-goed')
    const catalogus = new URL(pagina.url()).pathname
    await pagina.goto(`${catalogus}/voorbeelden`)
    await good()
    await pagina.click('button[value=uittreksel]')
    await pagina.waitForSelector('.bericht-goed')
    const zaaktype = new URL(pagina.url()).pathname
    await good()
    await pagina.goto(`${zaaktype}/resultaattypen/nieuw`)
    await good()
    await pagina.goto(`${zaaktype}/statustypen`)
    await good()
    await pagina.locator('[name=omlaag]').first().focus()
    await pagina.keyboard.press('Enter')
    t.match(await pagina.textContent('[data-gemeld]'), 'Ontvangen, plaats 2 van 3')
    await pagina.click('text=Volgorde opslaan')
    await pagina.waitForSelector('.bericht-goed')
    t.match(await pagina.locator('.volgorde li').first().textContent(), 'In behandeling')
    // The same with the mouse: the second above the first again.
    const rows = pagina.locator('.volgorde li')
    await rows.nth(1).dragTo(rows.nth(0), { targetPosition: { x: 60, y: 3 } })
    t.match(await pagina.textContent('[data-gemeld]'), 'Ontvangen, plaats 1 van 3')
    await pagina.click('text=Volgorde opslaan')
    await pagina.waitForSelector('.bericht-goed')
    t.match(await rows.first().textContent(), 'Ontvangen')
    await pagina.goto(`${zaaktype}/gegevens/relaties`)
    await pagina.click('text=Nog een regel')
    t.equal(await pagina.locator('[data-regel]').count(), 2)
    await good()
    await pagina.goto(`${zaaktype}/publiceren`)
    await good()
    await pagina.focus('main .knop')
    await pagina.keyboard.press('Enter')
    await pagina.waitForSelector('.staat-goed')
    await pagina.goto(`${zaaktype}/gegevens/basis`)
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
      const test = await opstelling(t, settings)
      const catalogus = await givenCatalogus(test)
      const zaaktype = await givenZaaktype(test, { catalogus, concept: true })
      const path = `/beheer/catalogi/zaaktypen/${uuidOf(zaaktype)}`
      const { pagina } = await alsBeheerder(test, 'administrator')
      await pagina.goto(`${path}/gegevens/archief`)
      await pagina.selectOption('#veld-selectielijstProcestype', procestype)
      await pagina.click('main .knop')
      await pagina.waitForSelector('.bericht-goed')
      await pagina.goto(`${path}/resultaattypen/nieuw`)
      await pagina.selectOption('#veld-selectielijstklasse', klasse)
      t.equal(
        await pagina.textContent('[data-klasse-uitleg]'),
        'Volgens klasse 8.1 wordt het dossier vernietigd na 5 jaar. De termijn telt vanaf de einddatum van de zaak. Herkomst: Risicoanalyse.',
      )
      const value = (name: string) => pagina.locator(`[name="${name}"]`).inputValue()
      t.equal(await value('archiefnominatie'), 'vernietigen')
      t.equal(await value('archiefactietermijn.aantal'), '5')
      t.equal(await value('archiefactietermijn.eenheid'), 'Y')
      t.equal(await value('brondatumArchiefprocedure.afleidingswijze'), 'afgehandeld')
      t.same(await toegankelijkheid(pagina), [])
      await pagina.fill('[name=omschrijving]', 'Verleend')
      await pagina.selectOption('[name=resultaattypeomschrijving]', omschrijving)
      await pagina.click('main .knop')
      await pagina.waitForSelector('.bericht-goed')
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
