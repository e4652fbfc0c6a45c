// The manual as the pages serve it: whole, with its pictures, and linked from the pages that it explains.
import { readdir } from 'node:fs/promises'
import t from 'tap'
import { manualPageFor } from '../../src/beheer/frame/manual.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages } from './browser.ts'

t.test('every page of the manual is served, and whatever it links to', async (t) => {
  const test = await setUpPages(t, {}, false)
  const get = await test.signedIn('viewer')
  const folder = new URL('../../docs/handleiding/', import.meta.url)
  const names = (await readdir(folder)).filter((name) => name.endsWith('.md')).map((name) => name.slice(0, -3))
  t.ok(names.length > 10)
  const seen = new Set<string>()
  const index = await get('/beheer/handleiding')
  for (const name of names.filter((one) => one !== 'README'))
    t.match(index.body, `href="/beheer/handleiding/${name}"`, `the index names ${name}`)
  for (const path of ['/beheer/handleiding', ...names.map((name) => `/beheer/handleiding/${name}`)]) {
    const page = await get(path)
    t.equal(page.statusCode, 200, path)
    t.notMatch(page.body, '{handleiding}', path)
    const [main] = /<main[\s\S]*<\/main>/.exec(page.body)!
    t.notMatch(main, /href="[^"]*\.md/, path)
    for (const [, link] of main.matchAll(/(?:href|src)="(\/[^"#]+)/g)) seen.add(link!)
  }
  for (const link of seen) t.equal((await get(link)).statusCode, 200, link)
  t.ok([...seen].filter((link) => link.endsWith('.png')).length > 10)
  t.equal((await get('/beheer/handleiding/bestaat-niet')).statusCode, 404)
  t.equal((await get('/beheer/handleiding/beelden/..%2Feerste-uur.md')).statusCode, 404)
  const outside = await test.app.inject({ url: '/beheer/handleiding', headers: { host: 'localhost' } })
  t.equal(outside.statusCode, 303, 'the manual is for who is signed in')
  const statement = await test.app.inject({ url: '/beheer/toegankelijkheid', headers: { host: 'localhost' } })
  t.equal(statement.statusCode, 200, 'the statement on accessibility is for everybody')
  t.match(statement.body, 'WCAG 2.2')
  const signIn = await test.app.inject({ url: '/beheer/inloggen', headers: { host: 'localhost' } })
  t.match(signIn.body, 'href="/beheer/toegankelijkheid"')
})

t.test('a page links to what the manual says of it', async (t) => {
  t.equal(manualPageFor('/'), 'eerste-uur')
  t.equal(manualPageFor('/zaken/1/besluiten'), 'zoeken')
  t.equal(manualPageFor('/configuratie/notificaties'), 'notificaties')
  t.equal(manualPageFor('/configuratie'), 'instellingen')
  t.equal(manualPageFor('/catalogi/1'), 'catalogus')
  t.equal(manualPageFor('/catalogi/zaaktypen/1/statustypen'), 'zaaktype')
  t.equal(manualPageFor('/catalogi/zaaktypen/1/nieuwe-versie'), 'nieuwe-versie')
  t.equal(manualPageFor('/handleiding/zoeken'), undefined)
  const test = await setUpPages(t, {}, false)
  const get = await test.signedIn('viewer')
  t.match((await get('/beheer/zaken')).body, /href="\/beheer\/handleiding\/zoeken">Uitleg bij deze pagina/)
})

t.test('the manual is accessible, and fits a telephone', await needsBrowser(), async (t) => {
  const test = await setUpPages(t)
  const { tab, klachten } = await asBeheerder(test, 'viewer', { width: 390 })
  for (const name of ['', '/zaaktype', '/importeren']) {
    await tab.goto(`/beheer/handleiding${name}`)
    t.same(await accessibilityFaults(tab), [], name)
    t.equal(await isTooWide(tab), false, name)
  }
  t.same(klachten, [])
})
