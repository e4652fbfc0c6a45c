// Slow: it installs generators, and compiles what they make.
// The documents as generators of clients meet them: code is made with two generators and compiled, and works on the service. What
// was seen to break those that run elsewhere (openapi-generator for Java, C# and TypeScript) is judged by its pattern. The
// generators stand in a package of their own, since they want another TypeScript than the project has.

import { execFile, spawnSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { givenCatalogus, givenInformatieobjecttype, givenZaaktype, SECRET, testApp } from '../app.ts'
import { ownPackages } from '../own-packages.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document can hold anything
type Json = { [key: string]: any }

const COMPONENTS = ['zaken', 'documenten', 'catalogi', 'besluiten', 'autorisaties']
const ROOT = join(import.meta.dirname, '../..')

const packages = await ownPackages('generators')
type OpenapiTypescript = { default(document: string): Promise<unknown>; astToString(ast: unknown): string }
const { default: openapiTS, astToString }: OpenapiTypescript = packages('openapi-typescript')
const { generateSource }: { generateSource(file: string): Promise<string> } = packages('oazapfts')

/** What clients do, with the types that were made. */
const CASE = `import createClient from 'openapi-fetch'
import type { paths as Catalogi } from './catalogi.ts'
import type { paths as Documenten } from './documenten.ts'
import type { paths as Zaken } from './zaken.ts'

declare const process: { env: { API: string; TOKEN: string } }
const options = (name: string) => ({
  baseUrl: process.env.API + '/' + name + '/api/v1',
  headers: { authorization: 'Bearer ' + process.env.TOKEN },
  querySerializer: { array: { style: 'form' as const, explode: false } },
})
const catalogi = createClient<Catalogi>(options('catalogi'))
const documenten = createClient<Documenten>(options('documenten'))
const zaken = createClient<Zaken>(options('zaken'))
const dataOf = <Data>({ data, error }: { data?: Data; error?: unknown }): Data => {
  if (error) throw new Error(JSON.stringify(error))
  return data as Data
}

const read = { 'Accept-Crs': 'EPSG:4326' } as const
const write = { ...read, 'Content-Crs': 'EPSG:4326' } as const
const zaaktypen = dataOf(await catalogi.GET('/zaaktypen', {}))
const zaaktype = zaaktypen.results.find(({ informatieobjecttypen }) => informatieobjecttypen.length > 0)!
const zaak = dataOf(
  await zaken.POST('/zaken', {
    params: { header: write },
    body: {
      zaaktype: zaaktype.url,
      bronorganisatie: '000000000',
      verantwoordelijkeOrganisatie: '000000000',
      startdatum: '2026-01-05',
      omschrijving: 'Kapvergunning eik',
    },
  }),
)
const document = dataOf(
  await documenten.POST('/enkelvoudiginformatieobjecten', {
    body: {
      informatieobjecttype: zaaktype.informatieobjecttypen[0]!,
      bronorganisatie: '000000000',
      creatiedatum: '2026-01-05',
      titel: 'Brief',
      auteur: 'Jan',
      taal: 'nld',
      bestandsomvang: 5,
      inhoud: btoa('hallo'),
    },
  }),
)
dataOf(await zaken.POST('/zaakinformatieobjecten', { body: { zaak: zaak.url, informatieobject: document.url } }))
const query = { identificatie: zaak.identificatie!, expand: ['zaaktype', 'status'] }
const list = dataOf(await zaken.GET('/zaken', { params: { header: read, query } }))
const path = { uuid: zaak.uuid! }
const before = dataOf(await zaken.GET('/zaken/{uuid}', { params: { path, header: read } }))
const body = { toelichting: 'nieuw' }
const after = dataOf(await zaken.PATCH('/zaken/{uuid}', { params: { path, header: write }, body }))
dataOf(await zaken.DELETE('/zaken/{uuid}', { params: { path } }))
const ofDocument = { params: { path: { uuid: document.url!.slice(-36) } } }
dataOf(await documenten.DELETE('/enkelvoudiginformatieobjecten/{uuid}', ofDocument))
const { response } = await documenten.GET('/enkelvoudiginformatieobjecten/{uuid}', ofDocument)
console.log(JSON.stringify({ listed: list.results.map(({ url }) => url), before, after, gone: response.status }))
`

const test = await testApp(t)
const documentOf = async (component: string, query = ''): Promise<Json> => {
  const url = `/${component}/api/v1/openapi.json${query}`
  return (await test.app.inject({ method: 'GET', url, headers: { host: 'localhost' } })).json()
}
const documents = new Map<string, Json>()
for (const component of COMPONENTS) {
  documents.set(`${component} 3.1`, await documentOf(component))
  documents.set(`${component} 3.0`, await documentOf(component, '?v=3'))
}

t.test('code that openapi-typescript and oazapfts make of the documents compiles', async (t) => {
  const directory = t.testdir({})
  await mkdir(join(directory, 'src'))
  for (const [name, document] of documents) {
    const file = join(directory, 'src', name.replace(/[ .]/g, '-'))
    await writeFile(`${file}.json`, JSON.stringify(document))
    await writeFile(`${file}-types.ts`, astToString(await openapiTS(JSON.stringify(document))))
    await writeFile(`${file}-client.ts`, await generateSource(`${file}.json`))
  }
  // What the types ask of a create and of a change: nothing that may be left out.
  for (const version of ['3-0', '3-1'])
    await writeFile(
      join(directory, `src/zaken-${version}-bodies.ts`),
      `import type { operations } from './zaken-${version}-types.ts'
       type Body<Name extends keyof operations> = NonNullable<operations[Name]['requestBody']>['content']['application/json']
       export const created: Body<'zaak_create'> = { zaaktype: '', bronorganisatie: '', verantwoordelijkeOrganisatie: '', startdatum: '' }
       export const changed: Body<'zaak_partial_update'> = { toelichting: 'nieuw' }`,
    )
  const runtime = packages.resolve('@oazapfts/runtime').replace(/\.c?js$/, '.d.ts')
  await writeFile(
    join(directory, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'esnext',
        module: 'esnext',
        moduleResolution: 'bundler',
        lib: ['esnext', 'dom'],
        types: [],
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        paths: { '@oazapfts/runtime': [runtime], '@oazapfts/runtime/*': [join(runtime, '../*')] },
      },
      include: ['src/*.ts'],
    }),
  )
  const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', directory], { encoding: 'utf8' })
  t.equal(stdout, '')
})

t.test('a PATCH of one field by a client of oazapfts holds that field alone', async (t) => {
  const directory = t.testdir({ 'package.json': '{"type":"module"}' })
  for (const version of ['3.0', '3.1']) {
    const source = join(directory, `${version}.json`)
    await writeFile(source, JSON.stringify(documents.get(`zaken ${version}`)))
    const runtime = (name: string) => pathToFileURL(packages.resolve(name)).href
    const client = (await generateSource(source)).replace(
      /from "(@oazapfts\/runtime[^"]*)"/g,
      (_, name) => `from "${runtime(name)}"`,
    )
    await writeFile(join(directory, `${version}.ts`), client)
    const { zaakPartialUpdate, defaults } = await import(pathToFileURL(join(directory, `${version}.ts`)).href)
    const sent: unknown[] = []
    defaults.fetch = async (_url: string, { body }: { body: string }) => {
      sent.push(JSON.parse(body))
      return new Response('{}', { headers: { 'content-type': 'application/json' } })
    }
    await zaakPartialUpdate('x', 'EPSG:4326', 'EPSG:4326', { toelichting: 'nieuw' })
    t.strictSame(sent, [{ toelichting: 'nieuw' }], version)
  }
})

t.test('a client of openapi-fetch makes a case with a document, lists, changes one field and deletes', async (t) => {
  const catalogus = await givenCatalogus(test)
  const informatieobjecttype = await givenInformatieobjecttype(test, { catalogus })
  await givenZaaktype(test, { catalogus, informatieobjecttypen: [informatieobjecttype] })
  await test.app.listen({ port: 0, host: '127.0.0.1' })
  const API = `http://127.0.0.1:${(test.app.server.address() as AddressInfo).port}`
  for (const version of ['3.0', '3.1'])
    await t.test(version, async (t) => {
      const directory = t.testdir({
        'package.json': '{"type":"module"}',
        'case.ts': CASE,
        node_modules: t.fixture('symlink', join(import.meta.dirname, 'node_modules')),
      })
      for (const component of ['zaken', 'documenten', 'catalogi'])
        await writeFile(
          join(directory, `${component}.ts`),
          astToString(await openapiTS(JSON.stringify(documents.get(`${component} ${version}`)))),
        )
      const compilerOptions = {
        target: 'esnext',
        module: 'esnext',
        moduleResolution: 'bundler',
        lib: ['esnext', 'dom', 'dom.iterable'],
        types: [],
        strict: true,
        noUncheckedIndexedAccess: true,
        noEmit: true,
        allowImportingTsExtensions: true,
        skipLibCheck: true,
      }
      await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['case.ts'] }))
      t.equal(spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', directory], { encoding: 'utf8' }).stdout, '')
      const { stdout } = await promisify(execFile)(process.execPath, [join(directory, 'case.ts')], {
        env: { ...process.env, API, TOKEN: signToken('beheer', SECRET) },
      })
      const { listed, before, after, gone } = JSON.parse(stdout)
      t.strictSame(listed, [before.url])
      t.strictSame(after, { ...before, toelichting: 'nieuw', laatstGemuteerd: after.laatstGemuteerd })
      t.equal(gone, 404)
    })
})

t.test('no schema of a document has a default, which generated clients would send in every PATCH', async (t) => {
  for (const [name, document] of documents)
    t.strictSame(
      [...schemasOf(document)].filter(({ schema }) => 'default' in schema).map(({ at }) => at),
      [],
      name,
    )
})

t.test('choices that no generator can name have names', async (t) => {
  for (const [name, document] of documents)
    for (const { at, schema } of schemasOf(document)) {
      const choices = schema.enum?.filter((one: unknown) => one !== null)
      if (!choices) continue
      const names: string[] = schema['x-enum-varnames'] ?? choices
      t.equal(names.length, choices.length, `${name} ${at}`)
      const bare = (one: string) =>
        String(one)
          .replaceAll(/[^a-z0-9_]/gi, '')
          .toLowerCase()
      t.ok(
        names.every((one) => bare(one) !== ''),
        `${name} ${at}: each has one`,
      )
      if (schema['x-enum-varnames']) t.equal(new Set(names.map(bare)).size, names.length, `${name} ${at}: its own`)
    }
})

t.test('an integer that may not fit into 32 bits says so', async (t) => {
  for (const [name, document] of documents)
    t.strictSame(
      [...schemasOf(document)]
        .filter(({ schema }) => (schema.maximum ?? 0) > 2 ** 31 - 1 && schema.format !== 'int64')
        .map(({ at }) => at),
      [],
      name,
    )
  const { EnkelvoudigInformatieObject: document } = documents.get('documenten 3.0')!.components.schemas
  t.equal(
    (document ?? documents.get('documenten 3.0')!.components.schemas.Enkelvoudiginformatieobject).properties
      .bestandsomvang.format,
    'int64',
  )
})

for (const [name, document] of documents) {
  t.test(`${name} has only what generators make code of`, async (t) => {
    const faults: string[] = []
    for (const { at, schema } of schemasOf(document)) {
      const { type, $ref, allOf, anyOf, oneOf } = schema
      const typed = (one: Json) => one.type !== undefined || one.$ref !== undefined
      if ((schema.enum || schema.format || schema.maxLength !== undefined) && !type) faults.push(`${at}: no type`)
      if (anyOf && !(anyOf.every(typed) && anyOf.some((one: Json) => one.type === 'null'))) faults.push(`${at}: anyOf`)
      if (oneOf) faults.push(`${at}: oneOf`)
      if ($ref && Object.keys(schema).length > 1) faults.push(`${at}: words beside a reference`)
      if (allOf && type) faults.push(`${at}: allOf beside a type`)
      if (schema.properties && type !== 'object' && !type?.includes?.('object'))
        faults.push(`${at}: fields of no object`)
    }
    const ids = [...operationsOf(document)].map(([, , { operationId }]) => operationId)
    t.strictSame(faults, [])
    t.equal(new Set(ids).size, ids.length, 'each operation has a name of its own')
    t.strictSame(
      ids.filter((id) => !/^[a-z][a-z0-9_]*$/.test(id)),
      [],
    )
    for (const [path, method, { parameters = [] }] of operationsOf(document)) {
      const names = parameters.flatMap((one: Json) => (one.name ? one.name.toLowerCase().replace(/_/g, '') : []))
      t.equal(new Set(names).size, names.length, `${method} ${path}: parameters differ in more than their spelling`)
    }
  })
}

t.test('a document of 3.0.3 knows nothing of 3.1', async (t) => {
  for (const component of COMPONENTS) {
    const document = documents.get(`${component} 3.0`)!
    t.equal(document.openapi, '3.0.3')
    for (const { at, schema } of schemasOf(document)) {
      const newer =
        Array.isArray(schema.type) || schema.type === 'null' || 'const' in schema || 'contentEncoding' in schema
      if (newer) t.fail(`${at} ${JSON.stringify(schema).slice(0, 80)}`)
    }
    t.strictSame(Object.keys(document.paths), Object.keys(documents.get(`${component} 3.1`)!.paths))
  }
})

t.test('operations have the names that the documents of the standard give them', async (t) => {
  const text = await readFile(join(ROOT, 'test/contract/operation-ids.json'), 'utf8')
  const bare = (path: string) => path.replace(/\{[^}]+\}/g, '{}')
  for (const [component, ids] of Object.entries(JSON.parse(text) as Record<string, Record<string, string>>)) {
    const ours = new Map(
      [...operationsOf(documents.get(`${component} 3.1`)!)].map(([path, method, { operationId }]) => [
        `${method} ${bare(path)}`,
        operationId,
      ]),
    )
    for (const [operation, id] of Object.entries(ids)) t.equal(ours.get(bare(operation)), id, operation)
  }
})

t.test('what was made links to the operations on it', async (t) => {
  const { post } = documents.get('zaken 3.1')!.paths['/zaken']
  t.strictSame(post.responses['201'].links.zaak_partial_update, {
    operationId: 'zaak_partial_update',
    parameters: { uuid: '$response.body#/uuid' },
  })
  const nested = documents.get('zaken 3.1')!.paths['/zaken/{zaak_uuid}/zaakeigenschappen'].post
  t.strictSame(nested.responses['201'].links.zaakeigenschap_retrieve.parameters, {
    zaak_uuid: '$request.path.zaak_uuid',
    uuid: '$response.body#/uuid',
  })
})

t.test('what another field chooses the shape of is described in full', async (t) => {
  const { schemas } = documents.get('zaken 3.1')!.components
  t.ok(schemas.BetrokkeneIdentificatie.properties.inpBsn)
  t.ok(schemas.BetrokkeneIdentificatie.properties.vestigingsNummer)
  t.ok(schemas.ObjectIdentificatie.properties.kadastraleIdentificatie)
  t.ok(schemas.AuthenticatieContext.properties.levelOfAssurance)
  t.ok(schemas.GeoJSONGeometry.properties.coordinates)
  t.ok(schemas.ZaakRegistrerenInvoer.properties.zaak.$ref, 'a combined body refers to the schema of its part')
  t.ok(schemas.ZaakAfsluiten.properties.resultaat.$ref)
})

t.test('schema leads to the page with that document', async (t) => {
  for (const url of ['/zaken/api/v1/schema', '/zaken/api/v1/schema/']) {
    const answer = await test.app.inject({ method: 'GET', url, headers: { host: 'localhost' } })
    t.equal(answer.statusCode, 302)
    t.equal(answer.headers.location, 'http://localhost/docs/zaken/')
  }
})

function* operationsOf(document: Json): Generator<[string, string, Json]> {
  for (const [path, item] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(item as Json)) yield [path, method, operation]
}

/** Every schema of a document, with its place. */
function* schemasOf(document: Json): Generator<{ at: string; schema: Json }> {
  yield* within(document.components.schemas, 'schemas', true)
  for (const [path, method, operation] of operationsOf(document)) yield* within(operation, `${method} ${path}`)
}

function* within(value: unknown, at: string, named = false): Generator<{ at: string; schema: Json }> {
  if (value === null || typeof value !== 'object') return
  for (const [key, one] of Object.entries(value)) {
    if (['enum', 'default', 'example', 'required', 'mapping'].includes(key)) continue
    const place = `${at}/${key}`
    if (named || key === 'schema' || key === 'items') yield { at: place, schema: one }
    yield* within(one, place, key === 'properties' || ['anyOf', 'oneOf', 'allOf'].includes(key))
  }
}
