// The OpenAPI documents: one per component, made from what its routes declare, so that what is written there is what is
// checked. Besides: the root of every API, and one page to read the documents and try the APIs.
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'
import type { TSchema } from 'typebox'
import { stringify } from 'yaml'
import packageJson from '../../package.json' with { type: 'json' }
import type { Config } from '../config.ts'
import type { Access } from './access.ts'
import { PATHS, type Resource } from './links.ts'
import { PageQuery } from './page.ts'
import { KINDS } from './problem.ts'

const TITELS: Record<string, string> = {
  zaken: 'Zaken API',
  documenten: 'Documenten API',
  catalogi: 'Catalogi API',
  besluiten: 'Besluiten API',
  autorisaties: 'Autorisaties API',
}

/** What a route may add to its schema for its document, in the words of OpenAPI. */
type Described = FastifySchema & {
  summary?: string
  description?: string
  /** Media types of a body that the schema does not describe, and of such an answer. */
  consumes?: string[]
  produces?: string[]
  hide?: boolean
}
type Operation = { method: string; path: string; schema: Described; access: Access }
type Json = Record<string, unknown>

/**
 * Remembers the routes that are made from here on. `serve` comes after the last of them: it adds the routes of the
 * documents themselves.
 * @param versions of the APIs, as `API-version` announces them
 * @param contact whom to ask about them
 */
export function collectOpenapi(
  app: FastifyInstance,
  versions: Record<string, string>,
  contact: Config['apiContact'],
): { serve(): Promise<void> } {
  const components = new Map<string, Operation[]>()
  app.addHook('onRoute', (route) => {
    if (route.url === '/docs' || route.url.startsWith('/docs/')) route.config = { ...route.config, access: 'public' }
    const [, component, path] = /^\/(\w+)\/api\/v1(\/.*)$/.exec(route.url) ?? []
    if (!component || !path || !TITELS[component] || (route.schema as Described | undefined)?.hide) return
    const operations = components.get(component) ?? []
    components.set(component, operations)
    for (const method of [route.method].flat()) operations.push(toOperation(route, method, path))
  })
  return {
    serve: async () => {
      for (const component of Object.keys(TITELS)) {
        const operations = components.get(component)
        if (!operations) continue
        let document: Json | undefined // made at the first question
        const documentAt = (base: string) => {
          document ??= toDocument(component, versions[component] ?? '1.0.0', operations)
          return {
            ...document,
            info: { ...(document.info as Json), contact: { url: `${base}/docs/`, ...contact } },
            servers: [{ url: `${base}/${component}/api/v1` }],
          }
        }
        serveComponent(app, component, operations, documentAt)
      }
      await serveDocs(
        app,
        Object.keys(TITELS).filter((component) => components.has(component)),
      )
    },
  }
}

function toOperation(route: RouteOptions, method: string, path: string): Operation {
  return { method, path, schema: (route.schema ?? {}) as Described, access: route.config?.access ?? 'public' }
}

// ---- routes ----

function serveComponent(
  app: FastifyInstance,
  component: string,
  operations: Operation[],
  documentAt: (base: string) => Json,
): void {
  const root = `/${component}/api/v1`
  const options = { config: { access: 'public' }, schema: { hide: true } } as const
  const lists = [
    ...new Set(
      operations.flatMap(({ method, path }) => (method === 'GET' ? (/^\/([^/:]+)$/.exec(path)?.[1] ?? []) : [])),
    ),
  ].sort()
  for (const url of [root, `${root}/`]) {
    app.get(url, options, async (request) =>
      Object.fromEntries(lists.map((name) => [name, `${request.base}${root}/${name}`])),
    )
  }
  for (const url of [`${root}/schema`, `${root}/schema/`]) {
    app.get(url, options, async (request, reply) => reply.redirect(`${request.base}/docs/`))
  }
  for (const folder of ['', '/schema']) {
    // Anyone may read them, also a page elsewhere: they hold nothing of ours but the contract.
    app.get(`${root}${folder}/openapi.json`, options, async (request, reply) =>
      reply.header('access-control-allow-origin', '*').send(documentAt(request.base)),
    )
    app.get(`${root}${folder}/openapi.yaml`, options, async (request, reply) =>
      reply
        .header('access-control-allow-origin', '*')
        .type('application/yaml')
        .send(stringify(documentAt(request.base), { aliasDuplicateObjects: false })),
    )
  }
}

// The page has a policy of its own, since it runs scripts: those that we serve, and no others. It may ask only us.
const DOCS_CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

async function serveDocs(app: FastifyInstance, components: string[]): Promise<void> {
  const urls = components.map((component) => ({
    name: TITELS[component]!,
    url: `../${component}/api/v1/openapi.json`,
  }))
  await app.register(async (docs) => {
    // The page wants one document of its own; it never shows it, since the list above stands before it.
    const document = { openapi: '3.1.0', info: { title: 'Zaakstroom', version: packageJson.version }, paths: {} }
    await docs.register(swagger, { mode: 'static', specification: { document: document as never } })
    await docs.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: DOCS_CSP,
      theme: { title: "Zaakstroom: API's" },
      logo: { type: 'image/svg+xml', content: Buffer.from(LOGO) },
      uiConfig: { urls, docExpansion: 'none', defaultModelsExpandDepth: 0 } as never,
    })
  })
}

const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 160 40"><text x="0" y="28" font-family="sans-serif" font-size="24" fill="#fff">Zaakstroom</text></svg>'

// ---- the document ----

function toDocument(component: string, version: string, all: Operation[]): Json {
  const operations = all.filter(({ method, path }) => method !== 'HEAD' || hasEtag(component, path))
  const schemas = nameSchemas(operations)
  const paths: Record<string, Json> = {}
  const ids = new Set<string>()
  for (const operation of operations) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}')
    paths[path] ??= {}
    paths[path][operation.method.toLowerCase()] = describeOperation(component, operation, schemas, ids)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: TITELS[component],
      version,
      description: `${TITELS[component]} van de ZGW-standaard, zoals Zaakstroom haar uitvoert. Namen die de standaard niet kent zijn toevoegingen; clients mogen ze negeren.`,
      license: { name: 'EUPL-1.2', identifier: 'EUPL-1.2' },
    },
    servers: [],
    tags: [...new Set(operations.map(({ path }) => tagOf(path)))].map((name) => ({ name })),
    security: [{ 'JWT-Claims': [] }],
    paths,
    components: {
      schemas: { ...schemas.described(), ...FOUTEN },
      headers: named('headers', HEADERS, { paths, RESPONSES }),
      parameters: named('parameters', PARAMETERS, paths),
      responses: named('responses', RESPONSES, paths),
      securitySchemes: {
        'JWT-Claims': {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'Token (HS256), ondertekend met het geheim van de client. Verplicht: client_id en iat; voor het spoor user_id en user_representation.',
        },
      },
    },
  }
}

/** Those of the shared parts that a document refers to. */
function named(kind: string, parts: Json, paths: Json): Json {
  const text = JSON.stringify(paths)
  return Object.fromEntries(Object.entries(parts).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)))
}

const tagOf = (path: string) => path.split('/')[1]!

/** Where the standard has ETags: on details of everything but applications and imports. */
function hasEtag(component: string, path: string): boolean {
  return component !== 'autorisaties' && /^\/[^/:]+\/:uuid$/.test(path) && !path.startsWith('/import/')
}

const SINGULAR = new Map(
  (Object.entries(PATHS) as [Resource, string][]).map(([resource, path]) => [path.split('/').at(-1)!, resource]),
)
const singular = (plural: string) => SINGULAR.get(plural) ?? plural

/** `zaak_list`, `zaak_read`, `zaak_audittrail_list`, `applicatie_consumer`: as the standard names its operations. */
function operationId({ method, path, schema }: Operation): string {
  const [first = '', ...rest] = path.split('/').filter((part) => part !== '')
  const words = rest.filter((part) => !part.startsWith(':')).map((part) => part.replace(/^_/, '').replaceAll('-', '_'))
  const onOne = path.split('/').at(-1)!.startsWith(':')
  const name = [singular(first).replaceAll('-', '_'), ...words].join('_')
  if (method === 'GET') return `${name}${onOne ? '_read' : isList(schema) ? '_list' : words.length > 0 ? '' : '_read'}`
  if (method === 'HEAD') return `${name}_headers`
  if (method === 'PUT') return `${name}_update`
  if (method === 'PATCH') return `${name}_partial_update`
  if (method === 'DELETE') return name.endsWith('_delete') ? name : `${name}_delete`
  return words.length > 0 ? name : `${name}_create`
}

function isList(schema: Described): boolean {
  const answer = answers(schema)['200'] as Json | undefined
  return answer?.type === 'array' || Object.hasOwn((answer?.properties as Json | undefined) ?? {}, 'results')
}

const answers = (schema: Described) => (schema.response ?? {}) as Record<string, TSchema | Json>

const VERB: Record<string, string> = {
  GET: 'Opvragen',
  HEAD: 'Headers opvragen',
  POST: 'Maken',
  PUT: 'Vervangen',
  PATCH: 'Deels wijzigen',
  DELETE: 'Verwijderen',
}

function describeOperation(component: string, operation: Operation, schemas: Schemas, ids: Set<string>): Json {
  const { method, path, schema, access } = operation
  let id = operationId(operation)
  for (let number = 2; ids.has(id); number++) id = `${operationId(operation)}_${number}`
  ids.add(id)
  const [first = '', ...rest] = path.split('/').filter((part) => part !== '' && !part.startsWith(':'))
  const subject = [path.includes('/:') ? singular(first) : first, ...rest].join(' ').replace(/ ?_/g, ' ')
  const verb = method === 'POST' && rest.length > 0 ? 'Uitvoeren' : VERB[method]
  const body = bodyOf(operation, schemas)
  return {
    operationId: id,
    summary: schema.summary ?? `${verb}: ${subject.trim()}`,
    description: [schema.description, needs(access)].filter(Boolean).join(' '),
    tags: [tagOf(path)],
    ...(access === 'public' && { security: [] }),
    parameters: parametersOf(component, operation, schemas),
    ...(body && { requestBody: body }),
    responses: responsesOf(component, operation, schemas),
  }
}

function needs(access: Access): string {
  if (access === 'public' || access === 'beheer') return 'Hiervoor is geen token nodig.'
  if (access === 'alle-autorisaties') return 'Alleen voor applicaties met heeftAlleAutorisaties.'
  const { component, scopes, and, or } = access
  const text = `${scopes.join(' of ')} (${component})`
  const more = [...(and ? [`en ${needs(and)}`] : []), ...(or ? [`of ${needs(or)}`] : [])].join(' ')
  return `Nodig: ${text}${more ? `, ${more.replaceAll('Nodig: ', '').replace(/\.$/, '')}` : ''}.`
}

type Properties = { properties?: Record<string, Json>; required?: string[] }

function parametersOf(component: string, { method, path, schema }: Operation, schemas: Schemas): Json[] {
  const declared = (schema.querystring ?? {}) as Properties
  // A search is always paged by its query string, also where the route leaves that to `paginate`.
  const query = path.endsWith('/_zoek')
    ? { ...declared, properties: { ...(PageQuery as unknown as Record<string, Json>), ...declared.properties } }
    : declared
  const geo = component === 'zaken' && /^\/(zaken(\/:uuid|\/_zoek)?|zaak_registreren|zaak_bijwerken\/:uuid)$/.test(path)
  const writes = !['GET', 'HEAD'].includes(method)
  const named = [
    ...(hasEtag(component, path) && !writes ? ['If-None-Match'] : []),
    ...(geo && method !== 'DELETE' ? ['Accept-Crs'] : []),
    ...(geo && ['POST', 'PUT', 'PATCH'].includes(method) ? ['Content-Crs'] : []),
    ...(writes && !path.endsWith('/_zoek') ? ['X-Audit-Toelichting', 'X-NLX-Logrecord-ID'] : []),
  ]
  return [
    ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      description: 'UUID: het laatste deel van de URL.',
      schema: { type: 'string', format: 'uuid' },
    })),
    ...Object.entries(query.properties ?? {}).map(([name, property]) => {
      const { description, ...rest } = schemas.plain(property) as Json
      return {
        name,
        in: 'query',
        required: query.required?.includes(name) ?? false,
        description: description ?? `Alleen waarvan ${name.replaceAll('__', ' ')} overeenkomt.`,
        schema: rest,
        ...(rest.type === 'array' && { style: 'form', explode: false }),
      }
    }),
    ...named.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ]
}

function bodyOf({ method, path, schema }: Operation, schemas: Schemas): Json | undefined {
  const other = schema.consumes ?? OTHER_BODIES[`${method} ${path}`]
  if (other) {
    const content = schema.body ? schemas.of(schema.body as TSchema) : { type: 'string', format: 'binary' }
    return { required: true, content: Object.fromEntries(other.map((type) => [type, { schema: content }])) }
  }
  if (!schema.body) return undefined
  return { required: true, content: { 'application/json': { schema: schemas.of(schema.body as TSchema) } } }
}

// Bodies and answers that are no JSON, for routes that do not say so themselves.
const OTHER_BODIES: Record<string, string[]> = {
  'PUT /bestandsdelen/:uuid': ['multipart/form-data'],
  'POST /import/:uuid/upload': ['text/csv'],
}
const OTHER_ANSWERS: Record<string, string[]> = {
  'GET /enkelvoudiginformatieobjecten/:uuid/download': ['application/octet-stream'],
  'GET /import/:uuid/report': ['text/csv'],
}

function responsesOf(component: string, operation: Operation, schemas: Schemas): Json {
  const { method, path, schema, access } = operation
  const given = Object.entries(answers(schema)).filter(([status]) => status.startsWith('2'))
  const ok: [string, TSchema | Json | undefined][] =
    given.length > 0 ? given : [[method === 'DELETE' ? '204' : '200', undefined]]
  const writes = !['GET', 'HEAD'].includes(method)
  const etag = hasEtag(component, path) && !writes
  const other = schema.produces ?? OTHER_ANSWERS[`${method} ${path}`]
  const success = ok.map(([status, answer]): [string, Json] => [
    status,
    {
      description: status === '201' ? 'Gemaakt.' : status === '204' ? 'Gedaan; zonder inhoud.' : 'Gelukt.',
      headers: {
        'API-version': { $ref: '#/components/headers/API-version' },
        ...(etag && { ETag: { $ref: '#/components/headers/ETag' } }),
        ...(status === '201' && { Location: { $ref: '#/components/headers/Location' } }),
      },
      ...(method !== 'HEAD' &&
        status !== '204' &&
        (other || answer) && {
          content: other
            ? Object.fromEntries(other.map((type) => [type, { schema: { type: 'string', format: 'binary' } }]))
            : { 'application/json': { schema: schemas.of(answer as TSchema) } },
        }),
    },
  ])
  const problems = [
    400,
    ...(access === 'public' ? [] : [403]),
    ...(path.includes('/:') || isList(schema) ? [404] : []),
    406,
    ...(writes ? [409, 413, 415] : []),
    ...(component === 'zaken' ? [412] : []),
    429,
    500,
    503,
  ]
  return Object.fromEntries([
    ...success,
    ...(etag ? [['304', NIET_GEWIJZIGD]] : []),
    ...problems.map((status) => [String(status), { $ref: `#/components/responses/${status}` }]),
  ])
}

// ---- schemas ----

type Schemas = { of(schema: TSchema | Json): unknown; plain(schema: unknown): unknown; described(): Json }

/** Gives what routes take and answer a name, so that it stands in the document once; what is equal has one name. */
function nameSchemas(operations: Operation[]): Schemas {
  const names = new Map<string, string>()
  const texts = new Map<string, unknown>()
  const add = (schema: unknown, wish: string) => {
    const { type, properties } = (schema ?? {}) as Json
    if (type !== 'object' || !properties) return
    const text = JSON.stringify(schema)
    if (names.has(text)) return
    let name = wish
    for (let number = 2; texts.has(name); number++) name = `${wish}${number}`
    names.set(text, name)
    texts.set(name, JSON.parse(text))
  }
  const taken = (name: string) => texts.has(name)
  const pascal = (path: string) => {
    const [first = '', ...rest] = path.split('/').filter((part) => part !== '' && !part.startsWith(':'))
    return [singular(first), ...rest].map((word) => word.split(/[-_]/).map(capital).join('')).join('')
  }
  const answersFirst = operations.toSorted((a, b) => rank(a) - rank(b))
  for (const { path, schema } of answersFirst) {
    for (const answer of Object.values(answers(schema)) as Json[]) {
      const item = answer.type === 'array' ? answer.items : (answer.properties as Json | undefined)?.results
      const one = answer.type === 'array' ? item : item ? (item as Json).items : answer
      add(one, names.has(JSON.stringify(one)) || !taken(pascal(path)) ? pascal(path) : `${pascal(path)}Gemaakt`)
      if (item && answer.type !== 'array') add(answer, `${pascal(path)}Pagina`)
    }
  }
  for (const method of ['POST', 'PUT', 'PATCH'] as const) {
    for (const { path, schema } of answersFirst.filter((one) => one.method === method))
      add(schema.body, `${pascal(path)}${BODY[method]}`)
  }

  const plain = (schema: unknown, root = false): unknown => {
    if (Array.isArray(schema)) return schema.map((one) => plain(one))
    if (schema === null || typeof schema !== 'object') return schema
    const name = root ? undefined : names.get(JSON.stringify(schema))
    if (name) return { $ref: `#/components/schemas/${name}` }
    const result: Json = {}
    const { type, format, minLength, default: standard } = schema as Json
    const mayBeEmpty = standard === '' || (type === 'string' && format === 'uri' && minLength === undefined)
    for (const [key, value] of Object.entries(schema)) {
      if (key === 'x-required') continue
      if (key === 'format') {
        const documented = OWN_FORMATS[String(value)] ?? { format: value }
        if (mayBeEmpty && documented.format !== undefined) result.anyOf = [documented, { maxLength: 0 }]
        else Object.assign(result, documented)
      } else if (key === 'default' || key === 'enum' || key === 'const' || key === 'example') result[key] = value
      else if (key === 'properties') {
        result[key] = Object.fromEntries(Object.entries(value as Json).map(([field, one]) => [field, plain(one)]))
      } else result[key] = plain(value)
    }
    return result
  }
  return {
    of: (schema) => plain(JSON.parse(JSON.stringify(schema))),
    plain: (schema) => plain(JSON.parse(JSON.stringify(schema))),
    described: () => Object.fromEntries([...texts].map(([name, schema]) => [name, plain(schema, true)])),
  }
}

const BODY = { POST: 'Invoer', PUT: 'Vervanging', PATCH: 'Wijziging' }

// Details name a resource; lists and actions come after them.
const rank = ({ method, path }: Operation) => (path.includes('/:uuid') ? 0 : 2) + (method === 'GET' ? 0 : 1)
const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

/** Formats that only our own check knows. */
const OWN_FORMATS: Record<string, Json> = { 'uri-reference-zgw': { format: 'uri' }, rsin: {} }

const FOUTEN = {
  Fout: {
    type: 'object',
    description: 'Wat er mis ging (RFC 9457).',
    properties: {
      type: { type: 'string', format: 'uri', description: 'Uitleg van deze soort fout.' },
      code: { type: 'string', description: 'Code van de standaard.' },
      title: { type: 'string', description: 'Soort fout.' },
      status: { type: 'integer', description: 'HTTP-status.' },
      detail: { type: 'string', description: 'Wat er nu mis ging.' },
      instance: { type: 'string', format: 'uri', description: 'Kenmerk van deze keer; staat ook in het log.' },
    },
    required: ['code', 'title', 'status', 'detail', 'instance'],
  },
  ValidatieFout: {
    description: 'Fout in de invoer, met alle velden die niet voldoen.',
    allOf: [{ $ref: '#/components/schemas/Fout' }],
    type: 'object',
    properties: {
      invalidParams: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            name: { type: 'string', description: 'Veld; punten scheiden wat in elkaar staat.' },
            code: { type: 'string', description: 'Code van de standaard.' },
            reason: { type: 'string', description: 'Uitleg.' },
          },
          required: ['name', 'code', 'reason'],
        },
      },
    },
  },
}

const RESPONSES = Object.fromEntries(
  Object.entries(KINDS).map(([status, { title, uitleg }]) => [
    status,
    {
      description: `${title} ${uitleg}`,
      headers: { 'API-version': { $ref: '#/components/headers/API-version' } },
      content: {
        'application/problem+json': {
          schema: { $ref: `#/components/schemas/${status === '400' ? 'ValidatieFout' : 'Fout'}` },
        },
      },
    },
  ]),
)

const NIET_GEWIJZIGD = {
  description: 'Niet gewijzigd sinds If-None-Match.',
  headers: {
    'API-version': { $ref: '#/components/headers/API-version' },
    ETag: { $ref: '#/components/headers/ETag' },
  },
}

const HEADERS = {
  'API-version': { description: 'Versie van de API.', schema: { type: 'string' } },
  ETag: { description: 'Kenmerk van deze inhoud, voor If-None-Match.', schema: { type: 'string' } },
  Location: { description: 'URL van wat gemaakt is.', schema: { type: 'string', format: 'uri' } },
}

const headerParameter = (name: string, description: string, required = false, choice?: string) => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string', ...(choice && { enum: [choice] }) },
})
const PARAMETERS = Object.fromEntries(
  [
    headerParameter('If-None-Match', 'ETag die de client al heeft: is hij nog dezelfde, dan volgt 304.'),
    headerParameter('Accept-Crs', 'Coördinatenstelsel van geometrie in het antwoord.', true, 'EPSG:4326'),
    headerParameter('Content-Crs', 'Coördinatenstelsel van geometrie in de aanvraag.', true, 'EPSG:4326'),
    headerParameter('X-Audit-Toelichting', 'Toelichting voor het auditspoor.'),
    headerParameter('X-NLX-Logrecord-ID', 'Kenmerk van de aanvraag in het log van de keten.'),
  ].map((parameter) => [parameter.name, parameter]),
)
