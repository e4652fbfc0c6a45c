// The catalogue in a browser: an example taken, its order changed with the keyboard, published; and every page accessible.
import t from 'tap'
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
