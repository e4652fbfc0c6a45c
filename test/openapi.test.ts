// The OpenAPI documents against the contract: the tables in test/contract, kept by hand from the standard, so that nothing
// silently goes missing. Whether they are valid, and keep to the NL API Design Rules, is in adr.test.ts.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { parse } from 'yaml'
import { testApp } from './app.ts'
import { accessibilityFaults, isTooWide, needsBrowser, openBrowser } from './beheer/browser.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document can hold anything
type Json = { [key: string]: any }

const COMPONENTS = ['zaken', 'documenten', 'catalogi', 'besluiten', 'autorisaties']

const readJson = async (name: string): Promise<Json> =>
  JSON.parse(await readFile(new URL(`contract/${name}.json`, import.meta.url), 'utf8'))

// Every route as it is registered, with the access that it asks.
const routes: { method: string; url: string; access: unknown }[] = []
const collect = (message: unknown) =>
  (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', ({ method, url, config }) => {
    for (const name of [method].flat()) routes.push({ method: name, url, access: config?.access })
  })
subscribe('fastify.initialization', collect)
const test = await testApp(t)
unsubscribe('fastify.initialization', collect)
const get = (url: string) => test.app.inject({ method: 'GET', url, headers: { host: 'localhost' } })

for (const component of COMPONENTS) {
  const root = `/${component}/api/v1`
  t.test(`the document of ${component}`, async (t) => {
    const answer = await get(`${root}/schema/openapi.json`)
    t.equal(answer.statusCode, 200)
    t.match(answer.headers['content-type'], 'application/json')
    const document: Json = answer.json()

    t.test('stands at every address of the standard, without a token', async (t) => {
      t.strictSame((await get(`${root}/openapi.json`)).json(), document)
      for (const url of [`${root}/openapi.yaml`, `${root}/schema/openapi.yaml`]) {
        const yaml = await get(url)
        t.match(yaml.headers['content-type'], 'application/yaml')
        t.strictSame(parse(yaml.body, { maxAliasCount: 0 }), document)
      }
      t.strictSame(document.servers, [{ url: `http://localhost${root}` }])
      t.equal(document.info.version, answer.headers['api-version'])
    })

    t.test('describes every operation and parameter', async (t) => {
      const silent: string[] = []
      for (const [path, method, operation] of operationsOf(document)) {
        if (!operation.summary || !operation.description) silent.push(`${method} ${path}`)
        for (const parameter of operation.parameters)
          if (!resolve(document, parameter).description) silent.push(`${method} ${path} ${parameter.name}`)
      }
      t.strictSame(silent, [])
    })

    t.test('holds every operation, parameter and field of the contract', async (t) => {
      const contract = await readJson(component)
      t.strictSame(missing(document, contract), [])
    })

    t.test('the root lists the resources', async (t) => {
      for (const url of [root, `${root}/`]) {
        const lists = (await get(url)).json()
        t.ok(Object.keys(lists).length > 0)
        for (const [name, link] of Object.entries(lists)) {
          t.equal(link, `http://localhost${root}/${name}`)
          t.ok(document.paths[`/${name}`]?.get, `${name} is in the document`)
        }
      }
    })
  })
}

t.test(
  'every route of the APIs is in a document with what it asks, or is one of those that tell about the API',
  async (t) => {
    t.ok(routes.length > 300)
    const bare = (path: string) => path.replace(/\/$/, '').replace(/\{[^}]+\}|:[^/]+/g, '{}')
    const open = new Set<string>()
    for (const component of COMPONENTS) {
      const root = `/${component}/api/v1`
      const document: Json = (await get(`${root}/openapi.json`)).json()
      const described = new Map<string, Json>()
      for (const [path, method, operation] of operationsOf(document))
        described.set(`${method.toUpperCase()} ${bare(root + path)}`, operation)
      const registered = new Map(
        routes
          .filter(({ url }) => url.startsWith(`${root}/`) || url === root)
          .map((route) => [`${route.method} ${bare(route.url)}`, route.access]),
      )
      for (const [name, access] of registered) {
        // Every GET answers HEAD as well; the standard names it where it means something of its own.
        const operation = described.get(name) ?? described.get(name.replace(/^HEAD /, 'GET '))
        if (!operation && access === 'public') open.add(name.replace(root, ''))
        else
          t.equal(
            operation && operation.security?.length !== 0,
            access !== 'public',
            `${name} is described with what it asks`,
          )
      }
      for (const name of described.keys()) t.ok(registered.has(name), `${name} is described and there`)
    }
    const documents = ['', '/openapi.json', '/openapi.yaml', '/schema', '/schema/openapi.json', '/schema/openapi.yaml']
    t.strictSame([...open].sort(), documents.flatMap((path) => [`GET ${path}`, `HEAD ${path}`]).sort())
  },
)

t.test('the document tells of warnings, and of expand in the query string of a search', async (t) => {
  const { paths }: Json = (await get('/zaken/api/v1/openapi.json')).json()
  const [, eigenschappen] = Object.entries<Json>(paths).find(([path]) => path.endsWith('/zaakeigenschappen'))!
  t.ok(eigenschappen.post.responses[201].headers['X-Warning'])
  const search = paths['/zaken/_zoek'].post.parameters
  t.ok(search.some((one: Json) => one.in === 'query' && one.name === 'expand'))
})

t.test('who is to be asked is what was configured', async (t) => {
  const contact = async (env: Record<string, string>) => {
    const other = await testApp(t, env)
    return (await other.app.inject({ method: 'GET', url: '/zaken/api/v1/openapi.json' })).json().info.contact
  }
  t.strictSame(await contact({}), { name: 'Beheer van deze Zaakstroom', url: 'http://localhost:80/docs/' })
  t.strictSame(
    await contact({ API_CONTACT_NAME: 'Zaken', API_CONTACT_EMAIL: 'a@example.nl', API_CONTACT_URL: 'https://a.nl' }),
    { name: 'Zaken', email: 'a@example.nl', url: 'https://a.nl' },
  )
})

t.test('the page to try the APIs runs only scripts of ours', async (t) => {
  for (const url of ['/docs/proberen', '/docs/proberen/']) {
    const page = await get(url)
    t.equal(page.statusCode, 200)
    const policy = String(page.headers['content-security-policy'])
    t.notMatch(policy, /unsafe|https?:|\*/)
    t.match(policy, "default-src 'none'")
    t.match(policy, "script-src 'self'")
    t.match(policy, "connect-src 'self'")
    t.notMatch(page.body, /<script(?![^>]*\bsrc=)[^>]*>/, 'no script within the page')
    t.notMatch(page.body, /(src|href)="(https?:)?\/\//, 'nothing from elsewhere')
    t.notMatch(page.body, /\son\w+=/, 'no handlers within the page')
  }
  const initializer = await get('/docs/proberen/static/swagger-initializer.js')
  for (const component of COMPONENTS) t.match(initializer.body, `../../${component}/api/v1/openapi.json`)
  t.match(initializer.body, 'validatorUrl: null')
  for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js', 'swagger-ui-standalone-preset.js'])
    t.equal((await get(`/docs/proberen/static/${file}`)).statusCode, 200)
})

t.test('the pages to read are Dutch, small, whole and without a script', async (t) => {
  t.equal((await get('/docs')).headers.location, 'http://localhost/docs/')
  const index = await get('/docs/')
  t.match(index.body, '<html lang="nl">')
  t.ok(index.body.length < 10_000)
  for (const component of COMPONENTS) {
    t.match(index.body, `href="${component}/"`)
    const page = await get(`/docs/${component}/`)
    t.equal(page.statusCode, 200)
    t.match(page.headers['content-security-policy'], "default-src 'none'; style-src 'self'")
    t.notMatch(page.body, /<script|undefined|\[object/, component)
    const document: Json = (await get(`/${component}/api/v1/openapi.json`)).json()
    t.equal(page.body.match(/<details>/g)?.length, [...operationsOf(document)].length, 'every operation')
    t.ok(gzipSync(page.body).length < 60_000, `${component} is small`)
    const [, style] = /stylesheet" href="\.\.\/([^"]+)/.exec(page.body)!
    t.equal((await get(`/docs/${style}`)).statusCode, 200)
  }
})

t.test('the pages to read are accessible, and fit a telephone', await needsBrowser(), async (t) => {
  const address = await test.app.listen({ port: 0, host: '127.0.0.1' })
  const browser = await openBrowser(t)
  const page = await (await browser.newContext({ viewport: { width: 390, height: 800 } })).newPage()
  for (const path of ['/docs/', '/docs/besluiten/']) {
    await page.goto(`${address}${path}`)
    await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true')
    t.same(await accessibilityFaults(page), [], path)
    t.equal(await isTooWide(page), false, path)
  }
})

function* operationsOf(document: Json): Generator<[string, string, Json]> {
  for (const [path, item] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(item as Json)) yield [path, method, operation]
}

function resolve(document: Json, value: Json): Json {
  if (!value.$ref) return value
  let at: Json | undefined = document
  for (const part of value.$ref.slice(2).split('/')) at = at?.[part]
  if (!at) throw new Error(`${value.$ref} leads nowhere`)
  return resolve(document, at)
}

/** What the contract asks for and the document does not have. Names of path parameters are ours to choose. */
function missing(document: Json, contract: Json): string[] {
  const faults: string[] = []
  const bare = (path: string) => path.replace(/\{[^}]+\}/g, '{}')
  const items = new Map(Object.entries(document.paths as Json).map(([path, item]) => [bare(path), item as Json]))
  // A path that is still to be made counts from the moment that it is there.
  const toCome = (path: string) => contract.later?.includes(path) && !items.has(bare(path))
  for (const [path, methods] of Object.entries(contract.operations as Json)) {
    if (toCome(path)) continue
    for (const [method, query] of Object.entries(methods as Record<string, string[]>)) {
      const operation = items.get(bare(path))?.[method]
      if (!operation) {
        faults.push(`${method} ${path}`)
        continue
      }
      const known = operation.parameters.map((one: Json) => resolve(document, one).name)
      for (const name of query) if (!known.includes(name)) faults.push(`${method} ${path}?${name}`)
    }
  }
  for (const [path, { fields, readOnly, required }] of Object.entries(contract.resources as Json)) {
    if (toCome(path)) continue
    const schemaOf = (content: Json) => resolve(document, content['application/json'].schema)
    const answer = schemaOf(items.get(`${path}/{}`)!.get.responses['200'].content)
    for (const name of fields) if (!answer.properties[name]) faults.push(`${path} answers ${name}`)
    const body = schemaOf(items.get(path)!.post.requestBody.content)
    for (const name of fields.filter((one: string) => !readOnly.includes(one)))
      if (!body.properties[name]) faults.push(`${path} takes ${name}`)
    for (const name of required) if (!body.required?.includes(name)) faults.push(`${path} requires ${name}`)
    for (const name of body.required ?? [])
      if (!required.includes(name)) faults.push(`${path} requires ${name}, the contract does not`)
  }
  return faults
}
