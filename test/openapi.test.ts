// The OpenAPI documents against the rules of OpenAPI 3.1, those of the NL API Design Rules that a document shows, and the
// contract: the tables in test/contract, kept by hand from the standard, so that nothing silently goes missing.
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { parse } from 'yaml'
import { testApp } from './app.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document can hold anything
type Json = { [key: string]: any }

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete']
const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']
const COMPONENTS = ['zaken', 'documenten', 'catalogi', 'besluiten', 'autorisaties']

const readJson = async (name: string): Promise<Json | undefined> => {
  const text = await readFile(new URL(`contract/${name}.json`, import.meta.url), 'utf8').catch(() => undefined)
  return text && JSON.parse(text)
}
const deviations = (await readJson('deviations'))!

const test = await testApp(t)
const get = (url: string) => test.app.inject({ method: 'GET', url, headers: { host: 'localhost' } })

for (const component of COMPONENTS) {
  const root = `/${component}/api/v1`
  if ((await get(root)).statusCode === 404) continue

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

    t.test('keeps to OpenAPI 3.1', async (t) => {
      t.strictSame(structuralFaults(document), [])
    })

    t.test('keeps to the NL API Design Rules, but for what the standard forces', async (t) => {
      t.strictSame(designFaults(document), [])
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
      if (!contract) return void t.pass('there is no table yet')
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

t.test('every route of the APIs is in a document, or public', async (t) => {
  for (const component of COMPONENTS) {
    const answer = await get(`/${component}/api/v1/openapi.json`)
    if (answer.statusCode === 404) continue
    for (const [path, method, operation] of operationsOf(answer.json()))
      t.ok(operation.security === undefined || operation.security.length > 0, `${method} ${path} asks for a token`)
  }
})

t.test('the page to read and try runs only scripts of ours', async (t) => {
  for (const url of ['/docs', '/docs/']) {
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
  const initializer = await get('/docs/static/swagger-initializer.js')
  for (const component of COMPONENTS)
    if ((await get(`/${component}/api/v1`)).statusCode === 200)
      t.match(initializer.body, `../${component}/api/v1/openapi.json`)
  t.match(initializer.body, 'validatorUrl: null')
  for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js', 'swagger-ui-standalone-preset.js'])
    t.equal((await get(`/docs/static/${file}`)).statusCode, 200)
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

function structuralFaults(document: Json): string[] {
  const faults: string[] = []
  const check = (ok: unknown, fault: string) => {
    if (!ok) faults.push(fault)
  }
  check(/^3\.1\.\d+$/.test(document.openapi), 'openapi: 3.1')
  check(document.info?.title && document.info?.version, 'info has title and version')
  check(
    Object.keys(document).every((key) => DOCUMENT.includes(key)),
    'only members of OpenAPI',
  )
  const ids = new Set<string>()
  const shapes = new Set<string>()
  for (const [path, method, operation] of operationsOf(document)) {
    const at = `${method} ${path}`
    check(path.startsWith('/'), `${at}: a path begins with a slash`)
    const shape = `${method} ${path.replace(/\{[^}]+\}/g, '{}')}`
    check(!shapes.has(shape), `${at}: the path is there once`)
    shapes.add(shape)
    check(METHODS.includes(method), `${at}: a known method`)
    check(/^[a-z][a-zA-Z0-9_]*$/.test(operation.operationId ?? ''), `${at}: operationId`)
    check(!ids.has(operation.operationId), `${at}: operationId is there once`)
    ids.add(operation.operationId)
    check(
      operation.tags.every((tag: string) => document.tags.some((known: Json) => known.name === tag)),
      `${at}: tags`,
    )
    const named = new Set<string>()
    for (const reference of operation.parameters ?? []) {
      const parameter = resolve(document, reference)
      const name = `${parameter.in} ${parameter.name}`
      check(!named.has(name), `${at}: ${name} is there once`)
      named.add(name)
      check(['path', 'query', 'header', 'cookie'].includes(parameter.in), `${at}: in of ${name}`)
      check(parameter.schema, `${at}: schema of ${name}`)
      check(parameter.in !== 'path' || parameter.required === true, `${at}: ${name} is required`)
      schemaFaults(document, parameter.schema, `${at} ${name}`, faults)
    }
    const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => `path ${name}`)
    const declared = [...named].filter((name) => name.startsWith('path '))
    check(JSON.stringify(inPath.sort()) === JSON.stringify(declared.sort()), `${at}: parameters of the path`)
    check(!operation.requestBody || !['get', 'head', 'delete'].includes(method), `${at}: no body`)
    for (const [type, content] of Object.entries((operation.requestBody?.content ?? {}) as Json)) {
      check(/^[\w.+-]+\/[\w.+-]+$/.test(type), `${at}: media type ${type}`)
      schemaFaults(document, (content as Json).schema, `${at} body`, faults)
    }
    check(
      Object.keys(operation.responses).some((status) => /^2/.test(status)),
      `${at}: an answer when it goes well`,
    )
    for (const [status, reference] of Object.entries(operation.responses as Json)) {
      check(/^[1-5]\d\d$/.test(status), `${at}: status ${status}`)
      const response = resolve(document, reference as Json)
      check(response.description, `${at}: ${status} is described`)
      for (const header of Object.values((response.headers ?? {}) as Json))
        check(resolve(document, header).schema, `${at}: header`)
      for (const content of Object.values((response.content ?? {}) as Json))
        schemaFaults(document, (content as Json).schema, `${at} ${status}`, faults)
    }
    for (const requirement of operation.security ?? document.security)
      for (const scheme of Object.keys(requirement))
        check(document.components.securitySchemes[scheme], `${at}: ${scheme}`)
  }
  for (const [name, schema] of Object.entries(document.components.schemas as Json)) {
    check(/^[A-Za-z0-9._-]+$/.test(name), `name of schema ${name}`)
    schemaFaults(document, schema, name, faults)
  }
  return faults
}
const DOCUMENT = ['openapi', 'info', 'servers', 'tags', 'security', 'paths', 'components']

/** What JSON Schema 2020-12 says of the keywords that we use; any other keyword is a fault too. */
function schemaFaults(document: Json, schema: Json, at: string, faults: string[]): void {
  const check = (ok: unknown, fault: string) => {
    if (!ok) faults.push(`${at}: ${fault}`)
  }
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) return void faults.push(`${at}: a schema`)
  if (schema.$ref) return void resolve(document, schema)
  for (const key of Object.keys(schema)) check(KEYWORDS[key], `keyword ${key}`)
  for (const [key, value] of Object.entries(schema)) check(KEYWORDS[key]?.(value) ?? true, `value of ${key}`)
  for (const name of schema.required ?? [])
    check(schema.properties && Object.hasOwn(schema.properties, name), `required ${name} is a property`)
  if (schema.enum && schema.default !== undefined) check(schema.enum.includes(schema.default), 'default is a choice')
  for (const [name, property] of Object.entries((schema.properties ?? {}) as Json))
    schemaFaults(document, property, `${at}.${name}`, faults)
  if (schema.items) schemaFaults(document, schema.items, `${at}[]`, faults)
  for (const key of ['allOf', 'anyOf', 'oneOf'])
    for (const part of schema[key] ?? []) schemaFaults(document, part, at, faults)
  if (typeof schema.additionalProperties === 'object') schemaFaults(document, schema.additionalProperties, at, faults)
}
const isText = (value: unknown) => typeof value === 'string'
const isSize = (value: unknown) => Number.isInteger(value) && (value as number) >= 0
const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
const isList = (value: unknown) => Array.isArray(value) && value.length > 0
const KEYWORDS: Record<string, (value: unknown) => boolean> = {
  type: (value) =>
    [value].flat().every((one) => TYPES.includes(String(one))) &&
    new Set([value].flat()).size === [value].flat().length,
  properties: isObject,
  patternProperties: isObject,
  additionalProperties: (value) => typeof value === 'boolean' || isObject(value),
  required: (value) => Array.isArray(value) && value.every(isText) && new Set(value).size === value.length,
  items: isObject,
  enum: (value) => isList(value) && new Set(value as unknown[]).size === (value as unknown[]).length,
  const: () => true,
  default: () => true,
  description: isText,
  title: isText,
  format: isText,
  pattern: (value) => isText(value) && Boolean(new RegExp(String(value), 'u')),
  contentEncoding: isText,
  contentMediaType: isText,
  minLength: isSize,
  maxLength: isSize,
  minItems: isSize,
  maxItems: isSize,
  minimum: Number.isFinite,
  maximum: Number.isFinite,
  exclusiveMinimum: Number.isFinite,
  exclusiveMaximum: Number.isFinite,
  allOf: isList,
  anyOf: isList,
  oneOf: isList,
  readOnly: (value) => typeof value === 'boolean',
  writeOnly: (value) => typeof value === 'boolean',
  deprecated: (value) => typeof value === 'boolean',
}

const CAMEL = /^[a-z][a-zA-Z0-9]*$/

function designFaults(document: Json): string[] {
  const faults: string[] = []
  const check = (ok: unknown, fault: string) => {
    if (!ok) faults.push(fault)
  }
  const excepted = (rule: string, name: string) =>
    deviations[rule].except.some((part: string) => name === part || (part.startsWith('_') && name.includes(part)))
  check(/^\d+\.\d+\.\d+$/.test(document.info.version), 'semver')
  check(document.info.contact?.name && document.info.contact?.url, 'info-contact-fields-exist')
  check(
    document.servers.every(({ url }: Json) => /\/v\d+$/.test(url)),
    'include-major-version-in-uri',
  )
  for (const [path, method, operation] of operationsOf(document)) {
    const at = `${method} ${path}`
    check(path === '/' || !path.endsWith('/'), `${at}: paths-no-trailing-slash`)
    for (const part of path.split('/').filter((one) => one !== '' && !one.startsWith('{')))
      check(/^[a-z0-9-]+$/.test(part) || excepted('paths-kebab-case', part), `${at}: paths-kebab-case`)
    for (const reference of operation.parameters) {
      const { name, in: where } = resolve(document, reference)
      if (where === 'query')
        check(CAMEL.test(name) || excepted('query-keys-camel-case', name), `${at}: query-keys-camel-case ${name}`)
    }
    for (const [status, reference] of Object.entries(operation.responses as Json)) {
      const response = resolve(document, reference as Json)
      if (status !== '304') check(response.headers?.['API-version'], `${at}: missing-version-header ${status}`)
      if (!/^[45]/.test(status)) continue
      const schema = response.content?.['application/problem+json']?.schema
      if (!schema) {
        faults.push(`${at}: use-problem-schema ${status}`)
        continue
      }
      const named = JSON.stringify(
        [resolve(document, schema)].flatMap((one) => [
          one,
          ...(one.allOf ?? []).map((part: Json) => resolve(document, part)),
        ]),
      )
      for (const field of ['status', 'title', 'detail'])
        check(named.includes(`"${field}"`), `${at}: ${field} of ${status}`)
    }
    check(operation.responses['400'], `${at}: answers 400 for what is wrong`)
  }
  const walk = (schema: Json, at: string) => {
    for (const [name, property] of Object.entries((schema.properties ?? {}) as Json)) {
      check(CAMEL.test(name) || excepted('properties-camel-case', name), `${at}: properties-camel-case ${name}`)
      walk(property, at)
    }
    if (schema.items) walk(schema.items, at)
  }
  for (const [name, schema] of Object.entries(document.components.schemas as Json)) walk(schema, name)
  return faults
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
