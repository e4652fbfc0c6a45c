// What holds for every page, whoever made it.
import { glob, readFile } from 'node:fs/promises'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import Fastify, { type HTTPMethods } from 'fastify'
import t from 'tap'
import { beheer } from '../../src/beheer/index.ts'
import { type Opstelling, opstelling } from './browser.ts'

const RAW = /<%~(?!\s*include\(|\s*it\.body\s*%>)/

t.test('templates escape everything but the parts that they are made of', async (t) => {
  for await (const file of glob('src/beheer/templates/*.eta')) {
    const text = await readFile(file, 'utf8')
    t.notMatch(text, RAW, file)
    t.notMatch(text, /\sstyle=|\son[a-z]+=|javascript:|<script(?! src=)/i, `${file} has nothing inline`)
    for (const [form] of text.matchAll(/<form[^>]*method="post"[\s\S]*?<\/form>/g))
      t.match(form, /include\('\.\/token'/, `${file}: its form carries a token`)
  }
})

t.test('the script is at most 10 KB, and a page with all its files at most 150 KB compressed', async (t) => {
  const test = await opstelling(t, {}, false)
  const get = await test.ingelogd('administrator')
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
    t.same(packed.rawPayload, brotliCompressSync(plain.rawPayload))
    total += packed.rawPayload.length
  }
  t.ok(total <= 150_000, `${total} bytes in all`)
})

t.test('a theme of the municipality comes after our styles, under its own class', async (t) => {
  const directory = t.testdir({ 'thema.css': '.gemeente-theme { --utrecht-link-color: #036; }' })
  const test = await opstelling(
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
  const test = await opstelling(t, {}, false)
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
  const test = await opstelling(t, {}, false)
  const viewer = await test.ingelogd('viewer')
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
  const test = await opstelling(t, {}, false)
  const get = await test.ingelogd('viewer')
  await test.database.sql`alter table zaak rename to weg`
  const { statusCode, body } = await get('/beheer/zaken')
  t.equal(statusCode, 500)
  t.match(body, 'Er ging iets mis')
  t.notMatch(body, /relation|zaak_|select|node_modules/i)
})

/** Every route of the pages, with the role that it asks. */
async function beheerRoutes({ app, parts }: Opstelling) {
  const routes: { method: HTTPMethods; url: string; rol: string }[] = []
  const probe = Fastify()
  probe.addHook('onRoute', ({ method, url, config }) => {
    for (const one of [method].flat()) routes.push({ method: one as HTTPMethods, url, rol: String(config?.rol) })
  })
  probe.decorate('parts', parts)
  probe.decorate('read', app.read)
  probe.decorate('mutate', app.mutate)
  probe.decorateRequest('base', '')
  await probe.register(beheer, { prefix: '/beheer' })
  await probe.close()
  return routes
}
