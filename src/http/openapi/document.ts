// The document of one component, in OpenAPI 3.1, made from what its routes declare: what is written there is what is checked.
// Generators of clients have to make code of it that compiles, so schemas are kept plain (schemas.ts) and operations have
// the names of the standard (operation.ts).
import type { Access } from '../../core/access.ts'
import { DOCUMENTED } from '../documented.ts'
import { ExpandQuery } from '../expand.ts'
import { CursorQuery, PageQuery } from '../page.ts'
import examples from './examples.json' with { type: 'json' }
import {
  answers,
  documentedPath,
  hasEtag,
  isList,
  isParameter,
  isWrite,
  type Json,
  type Operation,
  operationId,
  segments,
  singular,
  tagOf,
} from './operation.ts'
import { FAULTS, HEADERS, NOT_MODIFIED, PARAMETERS, RESPONSES, VERSION_HEADER } from './parts.ts'
import { nameSchemas, type Schemas } from './schemas.ts'

/** The version of the documents. */
export const NEWEST = '3.1.0'

export const TITLES: Record<string, string> = {
  zaken: 'Zaken API',
  documenten: 'Documenten API',
  catalogi: 'Catalogi API',
  besluiten: 'Besluiten API',
  autorisaties: 'Autorisaties API',
  notificaties: 'Notificaties API',
}

/** The document of a component; servers and contact are added where its address is known. */
export function toDocument(component: string, version: string, all: Operation[]): Json {
  const operations = all.filter((operation) => operation.method !== 'HEAD' || hasEtag(operation))
  const schemas = nameSchemas(operations)
  const paths: Record<string, Record<string, Json>> = {}
  for (const operation of operations) {
    const { path } = documentedPath(operation.path)
    paths[path] ??= {}
    paths[path][operation.method.toLowerCase()] = describeOperation(operation, operations, schemas)
  }
  const described = schemas.described()
  addExpand(operations, paths, described)
  return {
    openapi: NEWEST,
    info: {
      title: TITLES[component],
      version,
      description: `${TITLES[component]} van de ZGW-standaard, zoals Zaakstroom haar uitvoert. Namen die de standaard niet kent zijn toevoegingen; clients mogen ze negeren.`,
      license: { name: 'EUPL-1.2', identifier: 'EUPL-1.2' },
    },
    servers: [],
    tags: [...new Set(operations.map(({ path }) => tagOf(path)))].map((name) => ({ name })),
    security: [{ 'JWT-Claims': [] }],
    paths,
    components: {
      schemas: { ...described, ...FAULTS },
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
function named(kind: string, parts: Record<string, Json>, paths: Json): Json {
  const text = JSON.stringify(paths)
  return Object.fromEntries(Object.entries(parts).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)))
}

/** Operations that may succeed with a warning. */
const mayWarn = ({ method, path }: Operation): boolean =>
  path.endsWith('/publish') || (['POST', 'PUT', 'PATCH'].includes(method) && WARNING.test(path))
const WARNING =
  /^\/(zaken\/:zaakUuid\/zaakeigenschappen|enkelvoudiginformatieobjecten|verzendingen)(\/:uuid)?$|^\/(statussen|resultaten|document_registreren)$|^\/zaak_/

/** Answers of operations with `expand` hold what was asked for, in `_expand`. */
function addExpand(
  operations: Operation[],
  paths: Record<string, Record<string, Json>>,
  schemas: Record<string, Json>,
): void {
  for (const operation of operations.filter(offersExpand)) {
    const responses = paths[documentedPath(operation.path).path]?.[operation.method.toLowerCase()]?.responses as Json
    const names = JSON.stringify(responses['200'] ?? {}).matchAll(/schemas\/(\w+)"/g)
    for (const [, name = ''] of names) {
      const page = schemas[name]?.properties as Record<string, Json> | undefined
      const item = (page?.results?.items as Json | undefined)?.$ref as string | undefined
      const properties = item ? schemas[item.split('/').at(-1) ?? item]?.properties : page
      if (!properties) continue
      ;(properties as Json)._expand = {
        type: 'object',
        additionalProperties: true,
        readOnly: true,
        description: 'De relaties waar met `expand` om gevraagd is; zonder die vraag leeg of afwezig.',
      }
    }
  }
}

function offersExpand({ schema }: Operation): boolean {
  return [schema.querystring, schema.body].some((one) =>
    Object.hasOwn((one as { properties?: Json } | undefined)?.properties ?? {}, 'expand'),
  )
}

const VERB: Record<string, string> = {
  GET: 'Opvragen',
  HEAD: 'Headers opvragen',
  POST: 'Maken',
  PUT: 'Vervangen',
  PATCH: 'Deels wijzigen',
  DELETE: 'Verwijderen',
}

function describeOperation(operation: Operation, all: Operation[], schemas: Schemas): Json {
  const { method, path, schema, access } = operation
  const [first = '', ...rest] = segments(path).filter((part) => !isParameter(part))
  const subject = [path.includes('/:') ? singular(first) : first, ...rest].join(' ').replace(/ ?_/g, ' ')
  const verb = method === 'POST' && rest.length > 0 ? 'Uitvoeren' : VERB[method]
  const body = bodyOf(operation, schemas)
  return {
    operationId: operationId(operation),
    summary: schema.summary ?? `${verb}: ${subject.trim()}`,
    description: [schema.description, needs(access)].filter(Boolean).join(' '),
    tags: [tagOf(path)],
    ...(access === 'public' && { security: [] }),
    parameters: parametersOf(operation, schemas),
    ...(body && { requestBody: body }),
    responses: responsesOf(operation, all, schemas),
  }
}

function needs(access: Access): string {
  if (access === 'public' || access === 'beheer') return 'Hiervoor is geen token nodig.'
  if (access === 'client') return 'Hiervoor volstaat elk token van een applicatie.'
  if (access === 'alle-autorisaties') return 'Alleen voor applicaties met heeftAlleAutorisaties.'
  const { component, scopes, and, or } = access
  const text = `${scopes.join(' of ')} (${component})`
  const more = [...(and ? [`en ${needs(and)}`] : []), ...(or ? [`of ${needs(or)}`] : [])].join(' ')
  return `Nodig: ${text}${more ? `, ${more.replaceAll('Nodig: ', '').replace(/\.$/, '')}` : ''}.`
}

// ---- parameters ----

type Properties = { properties?: Record<string, Json>; required?: string[] }

/** Speaks of geometry, and so of its reference system. */
const speaksOfGeometry = ({ component, path }: Operation): boolean =>
  component === 'zaken' && /^\/(zaken(\/:uuid|\/_zoek|\/_batch)?|zaak_registreren|zaak_bijwerken\/:uuid)$/.test(path)

const SEARCHED = { ...PageQuery, ...CursorQuery } as unknown as Record<string, Json>
/** The Zaken API also takes `expand` of a search in the query string. */
const SEARCH: Record<string, Record<string, Json>> = {
  zaken: { ...SEARCHED, ...(ExpandQuery as unknown as Record<string, Json>) },
}

function parametersOf(operation: Operation, schemas: Schemas): Json[] {
  const { component, method, path, schema } = operation
  const declared = (schema.querystring ?? {}) as Properties
  // A search is always paged by its query string, also where the route leaves that to `paginate`.
  const query = path.endsWith('/_zoek')
    ? { ...declared, properties: { ...(SEARCH[component] ?? SEARCHED), ...declared.properties } }
    : declared
  const geo = speaksOfGeometry(operation)
  const headers = [
    ...(hasEtag(operation) && (!isWrite(operation) || method === 'PUT') ? ['If-None-Match'] : []),
    ...(hasEtag(operation) && isWrite(operation) ? ['If-Match'] : []),
    ...(geo && method !== 'DELETE' ? ['Accept-Crs'] : []),
    ...(geo && ['POST', 'PUT', 'PATCH'].includes(method) && !path.endsWith('/_batch') ? ['Content-Crs'] : []),
    ...(takesKey(operation) ? ['Idempotency-Key'] : []),
    ...(bringsBytes(operation) ? ['Content-Digest'] : []),
    ...(isWrite(operation) && !isQuestion(operation) ? ['X-Audit-Toelichting', 'X-NLX-Logrecord-ID'] : []),
  ]
  return [
    ...documentedPath(path).parameters.map((name) => ({
      name,
      in: 'path',
      required: true,
      ...(name === 'positie'
        ? { description: 'De id van de momentopname.', schema: { type: 'string' } }
        : { description: 'UUID: het laatste deel van de URL.', schema: { type: 'string', format: 'uuid' } }),
    })),
    ...Object.entries(query.properties ?? {}).flatMap(([name, property]) => {
      if (property[DOCUMENTED] === false) return []
      const { description, ...rest } = schemas.of(property)
      return [
        {
          name,
          in: 'query',
          required: query.required?.includes(name) ?? false,
          description: description ?? `Alleen waarvan ${name.replaceAll('__', ' ')} overeenkomt.`,
          schema: rest,
          ...(rest.type === 'array' && { style: 'form', explode: false }),
        },
      ]
    }),
    ...headers.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ]
}

// ---- bodies and answers ----

// Bodies and answers that are no JSON, for routes that do not say so themselves.
const BINARY: Json = { type: 'string', format: 'binary' }
const OTHER_BODIES: Record<string, Json> = {
  'PUT /bestandsdelen/:uuid': {
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['inhoud', 'lock'],
        properties: { inhoud: BINARY, lock: { type: 'string', description: 'Het lock van het document.' } },
      },
    },
  },
  'POST /import/:uuid/upload': { 'text/csv': { schema: BINARY } },
}
const OTHER_ANSWERS: Record<string, string[]> = {
  'GET /enkelvoudiginformatieobjecten/:uuid/download': ['application/octet-stream'],
  'GET /import/:uuid/report': ['text/csv'],
}

/** Whether it only reads, although its method is POST. */
const isQuestion = ({ path }: Pick<Operation, 'path'>): boolean => /\/_(zoek|batch)$/.test(path)

/** Whether it may be repeated under a key, as `mayRepeat` has it. */
const takesKey = ({ method, path, access }: Operation): boolean =>
  access !== 'public' &&
  !isQuestion({ path }) &&
  (method === 'POST' || method === 'PATCH' || (method === 'PUT' && path === '/bestandsdelen/:uuid'))

/** Whether the bytes of a file come with it, of which a client may state the digest. */
const bringsBytes = ({ method, path }: Operation): boolean =>
  (path === '/enkelvoudiginformatieobjecten' && method === 'POST') ||
  (path === '/enkelvoudiginformatieobjecten/:uuid' && (method === 'PUT' || method === 'PATCH')) ||
  Object.hasOwn(OTHER_BODIES, `${method} ${path}`)

function bodyOf({ component, method, path, schema }: Operation, schemas: Schemas): Json | undefined {
  const other = OTHER_BODIES[`${method} ${path}`]
  if (other) return { required: true, content: other }
  if (schema.consumes) {
    const content = schema.body ? schemas.of(schema.body) : BINARY
    return { required: true, content: Object.fromEntries(schema.consumes.map((type) => [type, { schema: content }])) }
  }
  if (!schema.body) return undefined
  const example = (examples as Record<string, Json>)[`${method} /${component}/api/v1${path.replace(/:\w+/g, '{}')}`]
  const json = { schema: schemas.of(schema.body), ...(example && { example }) }
  return { required: true, content: { 'application/json': json } }
}

const isPage = (answer: unknown): boolean =>
  Object.hasOwn(((answer as Json | undefined)?.properties as Json | undefined) ?? {}, 'count')

function responsesOf(operation: Operation, all: Operation[], schemas: Schemas): Json {
  const { component, method, path, schema, access } = operation
  const declared = Object.entries(answers(schema)).filter(([status]) => status.startsWith('2'))
  const ok = declared.length > 0 ? declared : [[method === 'DELETE' ? '204' : '200', undefined] as const]
  const etag = hasEtag(operation) && !isWrite(operation)
  const other = schema.produces ?? OTHER_ANSWERS[`${method} ${path}`]
  const success = ok.map(([status, answer]): [string, Json] => {
    const content = other
      ? Object.fromEntries(other.map((type) => [type, { schema: BINARY }]))
      : answer && {
          'application/json': { schema: schemas.of(answer) },
          ...(path.endsWith('/_deltas') && { 'text/event-stream': { schema: { type: 'string' } } }),
        }
    const links = status === '201' ? linksOf(operation, all, answer as Json | undefined) : {}
    return [
      status,
      {
        description: status === '201' ? 'Gemaakt.' : status === '204' ? 'Gedaan; zonder inhoud.' : 'Gelukt.',
        headers: {
          ...VERSION_HEADER,
          ...(etag && { ETag: { $ref: '#/components/headers/ETag' } }),
          ...(isPage(answer) && { Link: { $ref: '#/components/headers/Link' } }),
          ...(path.endsWith('/download') && {
            'Repr-Digest': { $ref: '#/components/headers/Repr-Digest' },
            'Content-Digest': { $ref: '#/components/headers/Content-Digest' },
          }),
          ...(takesKey(operation) && { 'Idempotency-Replayed': { $ref: '#/components/headers/Idempotency-Replayed' } }),
          ...(status === '201' && { Location: { $ref: '#/components/headers/Location' } }),
          ...(speaksOfGeometry(operation) && { 'Content-Crs': { $ref: '#/components/headers/Content-Crs' } }),
          ...(mayWarn(operation) && { 'X-Warning': { $ref: '#/components/headers/X-Warning' } }),
        },
        ...(method !== 'HEAD' && status !== '204' && content && { content }),
        ...(Object.keys(links).length > 0 && { links }),
      },
    ]
  })
  const problems = [
    400,
    ...(access === 'public' ? [] : [403]),
    ...(path.includes('/:') || path.endsWith('/consumer') || isList(schema) ? [404] : []),
    406,
    ...(/\/_(deltas|snapshots\/:positie)$/.test(path) ? [410] : []),
    ...(isWrite(operation) ? [409, 413, 415] : []),
    ...(component === 'zaken' || (hasEtag(operation) && isWrite(operation)) ? [412] : []),
    ...(takesKey(operation) ? [422] : []),
    429,
    500,
    503,
  ]
  return Object.fromEntries([
    ...success,
    ...(etag ? [['304', NOT_MODIFIED]] : []),
    ...problems.map((status) => [String(status), { $ref: `#/components/responses/${status}` }]),
  ])
}

/** From what was made to the operations on it, where its answer holds the uuid that they ask for. */
function linksOf({ path, method }: Operation, all: Operation[], answer: Json | undefined): Json {
  if (method !== 'POST' || !Object.hasOwn((answer?.properties as Json | undefined) ?? {}, 'uuid')) return {}
  const onOne = all.filter((one) => one.path === `${path}/:uuid` && one.method !== 'HEAD')
  return Object.fromEntries(
    onOne.map((one) => [operationId(one), { operationId: operationId(one), parameters: parametersToOne(path) }]),
  )
}

function parametersToOne(path: string): Json {
  const above = documentedPath(`${path}/:uuid`).parameters.slice(0, -1)
  return {
    ...Object.fromEntries(above.map((name) => [name, `$request.path.${name}`])),
    uuid: '$response.body#/uuid',
  }
}
