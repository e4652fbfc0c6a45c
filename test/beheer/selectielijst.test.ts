// The selectielijst by year: fetched from its API, shown before anything changes, renewed, and left out.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { givenZaaktype } from '../app.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages, WACHTWOORD } from './browser.ts'
import { pagesClient } from './browser-client.ts'

/** Two years of one procestype and two klassen each; what the server answers may be changed. */
const answers: { list: (path: string, query: URLSearchParams) => unknown } = { list: () => [] }
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(answers.list(pathname.replace(/^.*\//, ''), searchParams)))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => server.close())
const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/`
const procestype = (jaar: number) => ({
  url: `${root}procestypen/${jaar}`,
  nummer: 8,
  jaar,
  naam: `Toestemming ${jaar}`,
  omschrijving: 'Toestemming',
  toelichting: '',
  procesobject: '',
})
const klasse = (jaar: number, nummer: number, bewaartermijn = 'P5Y') => ({
  url: `${root}resultaten/${jaar}${nummer}`,
  procesType: `${root}procestypen/${jaar}`,
  nummer,
  naam: `Klasse ${nummer}`,
  herkomst: 'Risicoanalyse',
  waardering: 'vernietigen',
  bewaartermijn,
})
const public_ = (klassen: object[]) => (path: string, query: URLSearchParams) => {
  if (path === 'procestypen') return [2017, 2020].filter((one) => String(one) === query.get('jaar')).map(procestype)
  if (path === 'resultaattypeomschrijvingen')
    return [{ url: `${root}resultaattypeomschrijvingen/1`, omschrijving: 'Verleend', definitie: 'd' }]
  const found = klassen.filter((one) => (one as { procesType: string }).procesType === query.get('procesType'))
  return { count: found.length, next: null, previous: null, results: found }
}
const FIRST = [klasse(2017, 1), klasse(2017, 2), klasse(2020, 1), klasse(2020, 2)]

const test = await setUpPages(t, { SELECTIELIJST_API_ROOT: root }, (await needsBrowser()).skip === undefined)
const { sql } = test.database
const administrator = pagesClient(test.app)
await administrator.login('administrator', WACHTWOORD)
const PAGE = '/beheer/catalogi/selectielijst'
const ask = (jaar: string, doe: string, more: Record<string, string> = {}) =>
  administrator.post(`${PAGE}/jaar`, { jaar, doe, ...more }, PAGE)
const textOf = (body: string) => body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
async function agree(jaar: string, doe: string) {
  const shown = await ask(jaar, doe)
  const [, gezien = ''] = /name="gezien" value="([^"]+)"/.exec(shown.body) ?? []
  return { shown: textOf(shown.body), answer: await ask(jaar, doe, { gezien }) }
}
const stored = async () =>
  (await sql<{ url: string }[]>`select url from selectielijst_item order by url`).map(({ url }) =>
    url.replace(root, ''),
  )

t.test('a year is fetched after a look at what it brings; others come beside it', async (t) => {
  answers.list = public_(FIRST)
  const shown = await ask('2020', 'ophalen')
  t.equal(shown.statusCode, 200)
  t.match(textOf(shown.body), /Procestypen 1 0 0 Klassen 2 0 0 Algemene omschrijvingen 1 0 0/)
  t.same(await stored(), [], 'nothing is there yet')
  t.equal((await agree('2020', 'ophalen')).answer.statusCode, 303)
  t.equal((await agree('2017', 'ophalen')).answer.statusCode, 303)
  t.same(await stored(), [
    'procestypen/2017',
    'procestypen/2020',
    'resultaattypeomschrijvingen/1',
    'resultaten/20171',
    'resultaten/20172',
    'resultaten/20201',
    'resultaten/20202',
  ])
  const [record] = await sql`select handeling, object_id, gebruiker from beheer_audit order by id desc limit 1`
  t.match(record, { handeling: 'selectielijst-ophalen', object_id: '2017', gebruiker: 'administrator' })
  const page = textOf((await administrator.get(PAGE)).body)
  t.match(page, /2020 1 2 0 Vernieuwen/)
  t.match(page, 'met de jaren 2020, 2017')
})

t.test('renewing shows what changed and what is gone, and who uses it; the other year stays', async (t) => {
  await givenZaaktype(test, { selectielijstProcestype: `${root}procestypen/2020` })
  answers.list = public_([klasse(2017, 1), klasse(2020, 1, 'P7Y'), klasse(2020, 3)])
  const { shown, answer } = await agree('2020', 'ophalen')
  t.match(shown, /Procestypen 0 0 0 Klassen 1 1 1/)
  t.equal(answer.statusCode, 303)
  const [changed] =
    await sql`select content->>'bewaartermijn' as term from selectielijst_item where url = ${`${root}resultaten/20201`}`
  t.equal(changed!.term, 'P7Y')
  t.ok((await stored()).includes('resultaten/20172'), 'of the other year nothing was fetched')
  const out = await agree('2020', 'weglaten')
  t.match(out.shown, 'Wat weggaat, is in gebruik: zaaktypen 1, resultaattypen 0.')
  t.equal(out.answer.statusCode, 303)
  t.notOk((await stored()).some((url) => url.includes('2020')))
})

t.test('what changes between the look and the change is shown again', async (t) => {
  answers.list = public_(FIRST)
  const shown = await ask('2017', 'ophalen')
  const [, gezien = ''] = /name="gezien" value="([^"]+)"/.exec(shown.body)!
  answers.list = public_([klasse(2017, 1, 'P9Y')])
  const late = await ask('2017', 'ophalen', { gezien })
  t.match(late.body, 'Er is intussen iets gewijzigd.')
  t.ok((await stored()).includes('resultaten/20172'))
})

t.test('a year that is none, that is not there or an answer that is wrong changes nothing and says why', async (t) => {
  const before = await stored()
  const says = async (jaar: string, text: string) => {
    const { statusCode, body } = await ask(jaar, 'ophalen')
    t.equal(statusCode, 400)
    t.match(body, text)
  }
  await says('20', 'Vul een jaar in, zoals 2020.')
  await says('1999', 'De selectielijst heeft niets van 1999.')
  answers.list = public_([{ ...klasse(2020, 1), waardering: 'misschien' }])
  await says('2020', 'waardering is one of')
  answers.list = () => ({ fout: true })
  await says('2020', 'De selectielijst antwoordt nu niet: het antwoord is geen lijst.')
  t.same(await stored(), before)
})

t.test('an operator looks and does not change', async (t) => {
  const operator = pagesClient(test.app)
  await operator.login('operator', WACHTWOORD)
  const { body } = await operator.get(PAGE)
  t.match(body, 'Jaren om uit te kiezen')
  t.notMatch(body, 'Een jaar ophalen')
  t.equal((await operator.post(`${PAGE}/jaar`, { jaar: '2020', doe: 'ophalen' }, '/beheer/')).statusCode, 403)
})

t.test('the pages are accessible, and fit', await needsBrowser(), async (t) => {
  answers.list = public_(FIRST)
  const { tab, klachten } = await asBeheerder(test, 'administrator', { javaScriptEnabled: true })
  const look = async (name: string) => {
    for (const width of [1280, 320]) {
      await tab.setViewportSize({ width, height: 800 })
      t.same(await accessibilityFaults(tab), [], `${name} at ${width}`)
      t.equal(await isTooWide(tab), false, `${name} fits in ${width}`)
    }
  }
  await tab.goto(PAGE)
  await look('selectielijst')
  await tab.fill('#veld-jaar', '2020')
  await tab.press('#veld-jaar', 'Enter')
  await tab.waitForSelector('text=Jaar opslaan')
  await look('year')
  t.same(klachten, [])
})
