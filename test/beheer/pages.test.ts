// What holds for every page, whoever made it.
import { glob, readFile } from 'node:fs/promises'
import { brotliDecompressSync, gzipSync } from 'node:zlib'
import Fastify, { type HTTPMethods } from 'fastify'
import t from 'tap'
import { beheer } from '../../src/beheer/index.ts'
import { eachOfOne } from '../../src/telemetry/current-organisation.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, type PagesSetup, setUpPages } from './browser.ts'

const RAW = /<%~(?!\s*include\(|\s*it\.body\s*%>)/

/** For what only reads. */
const test = await setUpPages(t, {}, false)

t.test('templates escape everything but the parts that they are made of', async (t) => {
  for await (const file of glob('src/beheer/templates/*.eta')) {
    const text = await readFile(file, 'utf8')
    // What it shows is text of ours, rendered from the files of the manual.
    if (!file.endsWith('/manual.eta')) t.notMatch(text, RAW, file)
    t.notMatch(text, /\sstyle=|\son[a-z]+=|javascript:|<script(?! src=)/i, `${file} has nothing inline`)
    if (file.endsWith('/switch.eta')) continue // its form goes to the host of another organisation, with a code that counts once
    for (const [form] of text.matchAll(/<form[^>]*method="post"[\s\S]*?<\/form>/g))
      t.match(form, /include\('\.\/token'/, `${file}: its form carries a token`)
  }
})

t.test('the script is at most 10 KB, and a page with all its files at most 150 KB compressed', async (t) => {
  const get = await test.signedIn('administrator')
  const page = await get('/beheer/')
  const files = [...page.body.matchAll(/(?:href|src)="(\/beheer\/bestanden\/[^"]+)"/g)].map((match) => match[1]!)
  t.ok(files.length >= 2)
  let total = gzipSync(page.body).length
  for (const url of files) {
    const plain = await test.app.inject({ url, headers: { host: 'localhost' } })
    t.match(plain.headers['cache-control'], 'immutable')
    if (url.endsWith('.js')) t.ok(plain.rawPayload.length <= 10_000, `${plain.rawPayload.length} bytes of script`)
    const packed = await test.app.inject({ url, headers: { host: 'localhost', 'accept-encoding': 'gzip, br' } })
    t.equal(packed.headers['content-encoding'], 'br')
    t.same(brotliDecompressSync(packed.rawPayload), plain.rawPayload)
    total += packed.rawPayload.length
  }
  t.ok(total <= 150_000, `${total} bytes in all`)
})

t.test('a theme of the municipality comes after our styles, under its own class', async (t) => {
  const directory = t.testdir({ 'thema.css': '.gemeente-theme { --utrecht-link-color: #036; }' })
  const test = await setUpPages(
    t,
    { BEHEER_THEME_CSS: `${directory}/thema.css`, BEHEER_THEME_CLASS: 'gemeente-theme' },
    false,
  )
  const { body } = await test.app.inject({ url: '/beheer/inloggen', headers: { host: 'localhost' } })
  t.match(body, 'class="utrecht-html voorbeeld-theme gemeente-theme"')
  const sheets = [...body.matchAll(/href="(\/beheer\/bestanden\/[^"]+\.css)"/g)].map((match) => match[1]!)
  t.match(sheets.at(-1), '/thema-')
  const theme = await test.app.inject({ url: sheets.at(-1)!, headers: { host: 'localhost' } })
  t.match(theme.body, '--utrecht-link-color: #036')
})

t.test('every page has the headers that keep other sites and inline code out', async (t) => {
  for (const url of ['/beheer/inloggen', '/beheer/', '/beheer/nergens']) {
    const { headers } = await test.app.inject({ url, headers: { host: 'localhost' } })
    const csp = String(headers['content-security-policy'])
    t.match(csp, "default-src 'none'")
    t.match(csp, "frame-ancestors 'none'")
    t.notMatch(csp, 'unsafe')
    t.match(headers, { 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY', 'cache-control': 'no-store' })
  }
})

t.test('who is not signed in, or may not do it, is refused by the server on every route', async (t) => {
  const viewer = await test.signedIn('viewer')
  const routes = await beheerRoutes(test)
  t.ok(routes.length > 20)
  for (const { method, url, rol } of routes) {
    if (rol === 'iedereen') continue
    const path = url.replace(/:\w+/g, '00000000-0000-4000-8000-000000000000')
    const stranger = await test.app.inject({
      method,
      url: path,
      headers: { host: 'localhost', origin: 'http://localhost' },
    })
    t.match(stranger.statusCode, method === 'GET' || method === 'HEAD' ? 303 : 403, `${method} ${url} by a stranger`)
    if (rol === 'viewer' || method !== 'GET') continue
    t.equal((await viewer(path)).statusCode, 403, `${method} ${url} by a viewer`)
  }
})

t.test('a fault of ours is a page that tells nothing of the inside', async (t) => {
  const test = await setUpPages(t, {}, false)
  const get = await test.signedIn('viewer')
  await test.database.sql`alter table zaak rename to weg`
  const { statusCode, body } = await get('/beheer/zaken')
  t.equal(statusCode, 500)
  t.match(body, 'Er ging iets mis')
  t.notMatch(body, /relation|zaak_|select|node_modules/i)
})

t.test('the bare address leads to the pages', async (t) => {
  const { statusCode, headers } = await test.app.inject({ url: '/', headers: { host: 'localhost' } })
  t.match({ statusCode, headers }, { statusCode: 303, headers: { location: 'http://localhost/beheer/' } })
})

t.test('a page that is not there keeps the menu of who is signed in, with a way out that works', async (t) => {
  const get = await test.signedIn('viewer')
  const { statusCode, body } = await get('/beheer/nergens')
  t.equal(statusCode, 404)
  t.match(body, 'aria-label="Hoofdmenu"')
  t.match(body, /action="\/beheer\/uitloggen"><input type="hidden" name="_csrf" value="[^"]+"/)
  const stranger = await test.app.inject({ url: '/beheer/nergens', headers: { host: 'localhost' } })
  t.notMatch(stranger.body, 'Hoofdmenu')
})

t.test('the look of the pages', await needsBrowser(), async (t) => {
  const test = await setUpPages(t)
  const PAGES = ['', 'notificaties', 'taken', 'zaken', 'applicaties', 'accounts', 'audit', 'configuratie/notificaties']

  await t.test('one typeface on every page, a menu of 14 rem, and a strip of tiles', async (t) => {
    const { tab } = await asBeheerder(test, 'administrator')
    for (const path of PAGES) {
      await tab.goto(`/beheer/${path}`)
      const faces: string[] =
        await tab.evaluate(`[...new Set([...document.querySelectorAll('body :not(code, pre, kbd)')]
        .filter((one) => one.checkVisibility()).map((one) => getComputedStyle(one).fontFamily))]`)
      t.equal(faces.length, 1, `${path}: ${faces.join(' | ')}`)
      t.match(await tab.evaluate(`document.querySelector('.menu').getBoundingClientRect().width`), 224)
    }
    await tab.goto('/beheer/')
    t.equal(await tab.locator('.tegel').count(), 7)
  })

  await t.test('axe sees what is wrong with a page, also at a second look and in a frame', async (t) => {
    const { tab } = await asBeheerder(test, 'viewer')
    const put = (html: string) => tab.evaluate(`document.querySelector('main').innerHTML += ${JSON.stringify(html)}`)
    t.same(await accessibilityFaults(tab), [])
    await put('<img src="data:,">')
    t.match(await accessibilityFaults(tab), ['image-alt: <img src="data:,">'])
    await tab.goto('/beheer/')
    await tab.evaluate(`document.querySelector('main').append(document.createElement('iframe'))`)
    await tab.frames()[1]!.evaluate(`document.body.innerHTML = '<button></button>'`)
    t.match(
      (await accessibilityFaults(tab)).join(),
      /button-name: <button>.*frame-title|frame-title.*button-name: <button>/,
    )
  })

  await t.test('dark where the browser asks for it, with contrast enough', async (t) => {
    const { tab } = await asBeheerder(test, 'administrator')
    await tab.emulateMedia({ colorScheme: 'dark' })
    for (const path of PAGES) {
      await tab.goto(`/beheer/${path}`)
      t.same(await accessibilityFaults(tab), [], `/beheer/${path}`)
    }
    t.equal(await tab.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgb(17, 22, 29)')
  })

  await t.test('below 40 rem a row of a table is a card, each value behind its heading', async (t) => {
    const { tab } = await asBeheerder(test, 'administrator', { width: 390 })
    await tab.goto('/beheer/accounts')
    t.equal(await tab.evaluate(`getComputedStyle(document.querySelector('tbody tr')).display`), 'block')
    const cell = `document.querySelector('tbody td')`
    t.equal(await tab.evaluate(`${cell}.dataset.kop`), 'Naam')
    t.equal(await tab.evaluate(`getComputedStyle(${cell}, '::before').content`), '"Naam"')
    const table = `document.querySelector('.tabel')`
    t.equal(await tab.evaluate(`${table}.scrollWidth > ${table}.clientWidth`), false)
  })

  await t.test('on paper there is the page alone', async (t) => {
    const { tab } = await asBeheerder(test, 'administrator')
    await tab.goto('/beheer/zaken')
    await tab.emulateMedia({ media: 'print' })
    for (const part of ['.kop', '.menu', '.voet', '.filters']) t.equal(await tab.isVisible(part), false, part)
    t.ok(await tab.isVisible('h1'))
  })

  await t.test('in forced colours the page of now stands out in the menu, and the others do not', async (t) => {
    const { tab } = await asBeheerder(test, 'administrator')
    await tab.emulateMedia({ forcedColors: 'active' })
    await tab.goto('/beheer/zaken')
    const border = (link: string) =>
      tab.evaluate(`getComputedStyle(document.querySelector('${link}')).borderInlineStartColor`)
    t.equal(
      await border('.menu a:not([aria-current])'),
      await tab.evaluate('getComputedStyle(document.body).backgroundColor'),
    )
    t.not(await border('.menu a[aria-current]'), await border('.menu a:not([aria-current])'))
  })

  await t.test('at 200 % of a small laptop nothing needs scrolling sideways', async (t) => {
    const { tab } = await asBeheerder(test, 'administrator', { width: 640 })
    for (const path of PAGES) {
      await tab.goto(`/beheer/${path}`)
      t.equal(await isTooWide(tab), false, path)
    }
  })

  await t.test('the keyboard goes from the skip link by the header and the menu to the page', async (t) => {
    const { tab } = await asBeheerder(test, 'administrator')
    await tab.goto('/beheer/zaken')
    const order: string[] = []
    for (let place = 0; place < 50; place++) {
      await tab.keyboard.press('Tab')
      order.push(await tab.evaluate(`document.activeElement.closest('header, nav.menu, main')?.tagName ?? 'BODY'`))
      if (order.at(-1) === 'MAIN') break
    }
    t.same([...new Set(order)], ['BODY', 'HEADER', 'NAV', 'MAIN'])
  })
})

/** Every route of the pages, with the role that it asks. */
async function beheerRoutes({ app, parts }: PagesSetup) {
  const routes: { method: HTTPMethods; url: string; rol: string }[] = []
  const probe = Fastify()
  probe.addHook('onRoute', ({ method, url, config }) => {
    for (const one of [method].flat()) routes.push({ method: one as HTTPMethods, url, rol: String(config?.rol) })
  })
  probe.decorate('parts', parts)
  probe.decorate('reader', app.reader)
  probe.decorate('read', app.read)
  probe.decorate('mutate', app.mutate)
  probe.decorateRequest('base', '')
  probe.decorate('hasMany', false)
  probe.decorate('each', eachOfOne(probe))
  probe.decorate('process', parts.config)
  await probe.register(beheer, { prefix: '/beheer', parts: () => parts })
  await probe.close()
  return routes
}
