// It starts newman. The examples of the OpenAPI documents and the collections in docs/collections: they are what the service takes.
import { execFile } from 'node:child_process'
import { glob, readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { givenCatalogus, givenInformatieobjecttype, givenZaaktype, SECRET, testApp } from '../app.ts'
import { COLLECTIONS, documentsOf, EXAMPLES } from '../generate-examples.ts'
import { builtIn } from '../nrc/given.ts'
import { ownPackages } from '../own-packages.ts'
import { givenResultaattype } from '../zaken/given.ts'
import { makeBodies } from './bodies.ts'
import { brunoFiles, postmanCollection } from './collections.ts'

const test = await builtIn(t)
const bodies = await makeBodies(t, test)

t.test('every example is one that the service takes', async (t) => {
  t.strictSame(JSON.parse(await readFile(EXAMPLES, 'utf8')), bodies, 'run npm run examples')
})

type Operation = { requestBody?: { content: Record<string, { example?: unknown }> } }

t.test('every operation with a body of JSON has an example, and every example an operation', async (t) => {
  const names = new Set<string>()
  const silent: string[] = []
  for (const [component, document] of await documentsOf(test))
    for (const [path, item] of Object.entries<Record<string, Operation>>(document.paths))
      for (const [method, operation] of Object.entries(item)) {
        const name = `${method.toUpperCase()} /${component}/api/v1${path.replace(/\{\w+\}/g, '{}')}`
        names.add(name)
        const json = operation.requestBody?.content['application/json']
        if (json && !json.example) silent.push(name)
      }
  t.strictSame(silent, [])
  t.strictSame(
    Object.keys(bodies).filter((name) => !names.has(name)),
    [],
  )
})

t.test('the collections are those of the documents', async (t) => {
  const documents = await documentsOf(test)
  t.equal(await readFile(join(COLLECTIONS, 'postman.json'), 'utf8'), postmanCollection(documents, bodies))
  const files = brunoFiles(documents, bodies)
  const there = await Array.fromAsync(glob('**/*.{bru,json}', { cwd: join(COLLECTIONS, 'bruno') }))
  t.strictSame(there.sort(), Object.keys(files).sort(), 'run npm run examples')
  for (const [name, text] of Object.entries(files))
    t.equal(await readFile(join(COLLECTIONS, 'bruno', name), 'utf8'), text, name)
})

t.test('the folder "First case" of the collection runs in order, to a closed case', async (t) => {
  const own = await testApp(t)
  const catalogus = await givenCatalogus(own)
  const informatieobjecttype = await givenInformatieobjecttype(own, { catalogus })
  const zaaktype = await givenZaaktype(own, {
    catalogus,
    concept: true,
    statustypen: ['Ontvangen', 'Klaar'],
    informatieobjecttypen: [informatieobjecttype],
  })
  await givenResultaattype(own, zaaktype, { afleidingswijze: 'afgehandeld' })
  await own.call('POST', `${zaaktype}/publish`)
  await own.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = own.app.server.address() as AddressInfo
  const newman = (await ownPackages('newman')).resolve('newman/bin/newman.js')
  const values = { api: `http://127.0.0.1:${port}`, clientId: 'beheer', clientSecret: SECRET }
  const given = Object.entries(values).flatMap(([name, value]) => ['--env-var', `${name}=${value}`])
  const { stdout } = await promisify(execFile)(process.execPath, [
    newman,
    'run',
    join(COLLECTIONS, 'postman.json'),
    '--folder',
    'First case',
    '--bail',
    '--color',
    'off',
    ...given,
  ]).catch((error) => error)
  t.match(stdout, /assertions +│ +13 +│ +0 /, stdout)
  const { body } = await own.call('GET', '/zaken/api/v1/zaken', undefined, { headers: { 'accept-crs': 'EPSG:4326' } })
  t.match(body.results, [{ omschrijving: 'Kapvergunning eik', einddatum: /^\d{4}-/ }])
})
