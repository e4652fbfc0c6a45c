// Filters of lists that somebody keeps for himself.
import t from 'tap'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages } from './browser.ts'

t.test('filters of a list are saved under a name, for who saved them', await needsBrowser(), async (t) => {
  const test = await setUpPages(t)
  const { sql } = test.database
  const { tab, context, klachten } = await asBeheerder(test, 'viewer', { width: 390 })
  const links = () => tab.locator('.bewaarde-filters nav a')
  await tab.goto('/beheer/zaken')
  t.equal(await tab.locator('.bewaarde-filters').count(), 0, 'there is nothing to save')
  await tab.goto('/beheer/zaken?zoek=eik&staat=open&na=7&van=')
  const save = async (name: string) => {
    await tab.click('text=Dit filter bewaren')
    await tab.fill('#veld-naam', name)
    await tab.click('button:text("Filter bewaren")')
    t.match(await tab.textContent('main'), `Het filter “${name}” is bewaard.`)
  }
  await save('Lopend <b>& eik')
  t.equal(await links().textContent(), 'Lopend <b>& eik')
  t.equal(await links().getAttribute('href'), '/beheer/zaken?staat=open&zoek=eik', 'without the place in the list')
  t.equal(await links().getAttribute('aria-current'), 'true')
  t.same(await accessibilityFaults(tab), [])
  t.equal(await isTooWide(tab), false)

  await tab.goto('/beheer/zaken?staat=gesloten')
  await save('Lopend <b>& eik')
  t.equal(await links().count(), 1, 'the same name makes way')
  await tab.goto('/beheer/zaken')
  await links().click()
  t.equal(await tab.inputValue('#veld-staat'), 'gesloten')
  await tab.goto('/beheer/documenten?titel=boom')
  t.equal(await links().count(), 0, 'another list has its own')

  const other = await asBeheerder(test, 'operator')
  await other.tab.goto('/beheer/zaken?staat=open')
  t.equal(await other.tab.locator('.bewaarde-filters nav').count(), 0, 'nobody sees those of another')
  const [kept] = await sql`select uuid from beheer_saved_filter`
  const send = async (as: typeof other, form: Record<string, string>) => {
    const _csrf = await as.tab.inputValue('input[name=_csrf] >> nth=0')
    return as.context.request.post('/beheer/filters', { form: { _csrf, ...form }, headers: { origin: test.adres } })
  }
  await send(other, { pad: '/zaken', vraag: '', weg: kept!.uuid })
  t.equal((await sql`select from beheer_saved_filter`).length, 1, 'nor removes them')
  for (const pad of ['/elders', '//elders.example', '']) {
    const answer = await send({ ...other, tab, context }, { pad, vraag: 'a=b', naam: 'x' })
    t.equal(answer.status(), 400, pad)
  }
  await tab.goto('/beheer/zaken')
  await tab.click('text=Bewaarde filters beheren')
  await tab.click('text=Lopend <b>& eik verwijderen')
  t.match(await tab.textContent('main'), 'Het filter is verwijderd.')
  t.equal((await sql`select from beheer_saved_filter`).length, 0)
  t.same(klachten, [])
})
