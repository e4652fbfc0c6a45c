// The collections in docs/collections, for Postman (and newman) and for Bruno: every operation of the OpenAPI documents with its example,
// and before them a folder that runs in order, from a token to a case that is closed.

// biome-ignore lint/suspicious/noExplicitAny: a document can hold anything
type Json = { [key: string]: any }

type Request = {
  name: string
  method: string
  url: string
  headers: Record<string, string>
  body?: unknown
  /** The status that the answer has to have, and what later requests need of it: names, with an expression of `body`. */
  expected?: { status: number; keep: Record<string, string> }
}

const CRS = { 'Accept-Crs': 'EPSG:4326', 'Content-Crs': 'EPSG:4326' }
const VARIABLES = { api: 'http://localhost:8000', clientId: '', clientSecret: '' }
const ABOUT =
  'The ZGW APIs of Zaakstroom. Fill in the variables api, clientId and clientSecret: every request makes its own token of them. The folder "First case" runs in order. Made by npm run examples.'

/** A token of the client, as docs/clients.md describes it. `set` is how the program keeps a variable for the request. */
const tokenScript = (get: (name: string) => string, set: (name: string, value: string) => string) => [
  "const cryptojs = require('crypto-js')",
  "const encode = (words) => cryptojs.enc.Base64.stringify(words).replace(/\\+/g, '-').replace(/\\//g, '_').replace(/=+$/, '')",
  'const part = (value) => encode(cryptojs.enc.Utf8.parse(JSON.stringify(value)))',
  `const id = ${get('clientId')}`,
  "const claims = { iss: id, client_id: id, iat: Math.floor(Date.now() / 1000), user_id: 'jan', user_representation: 'Jan' }",
  "const signed = part({ typ: 'JWT', alg: 'HS256' }) + '.' + part(claims)",
  set('token', `signed + '.' + encode(cryptojs.HmacSHA256(signed, ${get('clientSecret')}))`),
  set('now', 'new Date().toISOString()'),
]

const CATALOGI = '{{api}}/catalogi/api/v1'
const ZAKEN = '{{api}}/zaken/api/v1'
const DOCUMENTEN = '{{api}}/documenten/api/v1'

const FIRST_CASE: Request[] = [
  {
    name: 'Choose a published zaaktype',
    method: 'GET',
    url: `${CATALOGI}/zaaktypen?status=definitief`,
    headers: {},
    expected: {
      status: 200,
      keep: {
        zaaktype:
          'body.results.find((one) => one.statustypen.length > 1 && one.resultaattypen.length > 0 && one.informatieobjecttypen.length > 0).url',
      },
    },
  },
  {
    name: 'Read the zaaktype',
    method: 'GET',
    url: '{{zaaktype}}',
    headers: {},
    expected: {
      status: 200,
      keep: { resultaattype: 'body.resultaattypen[0]', informatieobjecttype: 'body.informatieobjecttypen[0]' },
    },
  },
  {
    name: 'Read its statustypen',
    method: 'GET',
    url: `${CATALOGI}/statustypen?zaaktype={{zaaktype}}`,
    headers: {},
    expected: {
      status: 200,
      keep: {
        eerste: 'body.results.sort((a, b) => a.volgnummer - b.volgnummer)[0].url',
        eindstatus: 'body.results.find((one) => one.isEindstatus).url',
      },
    },
  },
  {
    name: 'Make a case',
    method: 'POST',
    url: `${ZAKEN}/zaken`,
    headers: CRS,
    body: {
      zaaktype: '{{zaaktype}}',
      bronorganisatie: '000000000',
      verantwoordelijkeOrganisatie: '000000000',
      startdatum: '2026-01-05',
      omschrijving: 'Kapvergunning eik',
    },
    expected: { status: 201, keep: { zaak: 'body.url' } },
  },
  {
    name: 'Set its first status',
    method: 'POST',
    url: `${ZAKEN}/statussen`,
    headers: {},
    body: { zaak: '{{zaak}}', statustype: '{{eerste}}', datumStatusGezet: '2026-01-05T10:00:00Z' },
    expected: { status: 201, keep: {} },
  },
  {
    name: 'Make a document',
    method: 'POST',
    url: `${DOCUMENTEN}/enkelvoudiginformatieobjecten`,
    headers: {},
    body: {
      informatieobjecttype: '{{informatieobjecttype}}',
      bronorganisatie: '000000000',
      creatiedatum: '2026-01-05',
      titel: 'Ontvangstbevestiging',
      auteur: 'Jan',
      taal: 'nld',
      formaat: 'text/plain',
      bestandsnaam: 'ontvangst.txt',
      bestandsomvang: 5,
      inhoud: 'SGFsbG8=',
      indicatieGebruiksrecht: false,
    },
    expected: { status: 201, keep: { document: 'body.url' } },
  },
  {
    name: 'Put the document in the case',
    method: 'POST',
    url: `${ZAKEN}/zaakinformatieobjecten`,
    headers: {},
    body: { zaak: '{{zaak}}', informatieobject: '{{document}}' },
    expected: { status: 201, keep: {} },
  },
  {
    name: 'Lock the document',
    method: 'POST',
    url: '{{document}}/lock',
    headers: {},
    body: {},
    expected: { status: 200, keep: { lock: 'body.lock' } },
  },
  {
    name: 'Change the document',
    method: 'PATCH',
    url: '{{document}}',
    headers: {},
    body: { titel: 'Ontvangstbevestiging kapvergunning', lock: '{{lock}}' },
    expected: { status: 200, keep: {} },
  },
  {
    name: 'Unlock the document',
    method: 'POST',
    url: '{{document}}/unlock',
    headers: {},
    body: { lock: '{{lock}}' },
    expected: { status: 204, keep: {} },
  },
  {
    name: 'Give the case a result',
    method: 'POST',
    url: `${ZAKEN}/resultaten`,
    headers: {},
    body: { zaak: '{{zaak}}', resultaattype: '{{resultaattype}}' },
    expected: { status: 201, keep: {} },
  },
  {
    name: 'Close the case',
    method: 'POST',
    url: `${ZAKEN}/statussen`,
    headers: {},
    body: { zaak: '{{zaak}}', statustype: '{{eindstatus}}', datumStatusGezet: '{{now}}' },
    expected: { status: 201, keep: {} },
  },
  {
    name: 'Read the closed case',
    method: 'GET',
    url: '{{zaak}}',
    headers: { 'Accept-Crs': 'EPSG:4326' },
    expected: { status: 200, keep: { einddatum: 'body.einddatum' } },
  },
]

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** Every operation of a document, by its tag. */
function requestsOf(component: string, document: Json, bodies: Record<string, unknown>): Map<string, Request[]> {
  const tags = new Map<string, Request[]>()
  for (const [path, item] of Object.entries<Json>(document.paths))
    for (const method of METHODS) {
      const operation: Json | undefined = item[method]
      if (!operation) continue
      const names = (operation.parameters as Json[]).map((one) => String(one.$ref ?? ''))
      const full = `/${component}/api/v1${path}`
      const body = bodies[`${method.toUpperCase()} ${full.replace(/\{\w+\}/g, '{}')}`]
      const request: Request = {
        name: operation.operationId,
        method: method.toUpperCase(),
        url: `{{api}}${full.replace(/\{(\w+)\}/g, ':$1')}`,
        headers: Object.fromEntries(
          Object.entries(CRS).filter(([name]) => names.some((ref) => ref.endsWith(`/${name}`))),
        ),
        ...(body !== undefined && { body }),
      }
      const tag = operation.tags[0]
      tags.set(tag, [...(tags.get(tag) ?? []), request])
    }
  return tags
}

/** A collection of Postman (format 2.1), as JSON. */
export function postmanCollection(documents: Map<string, Json>, bodies: Record<string, unknown>): string {
  const get = (name: string) => `pm.variables.get('${name}')`
  const item = ({ name, method, url, headers, body, expected }: Request) => ({
    name,
    ...(expected && {
      event: [
        {
          listen: 'test',
          script: {
            type: 'text/javascript',
            exec: [
              `pm.test('${expected.status}', () => pm.response.to.have.status(${expected.status}))`,
              ...(Object.keys(expected.keep).length > 0 ? ['const body = pm.response.json()'] : []),
              ...Object.entries(expected.keep).map(([key, value]) => `pm.collectionVariables.set('${key}', ${value})`),
            ],
          },
        },
      ],
    }),
    request: {
      method,
      url,
      header: [
        ...Object.entries(headers).map(([key, value]) => ({ key, value })),
        ...(body === undefined ? [] : [{ key: 'Content-Type', value: 'application/json' }]),
      ],
      ...(body !== undefined && {
        body: { mode: 'raw', raw: JSON.stringify(body, null, 2), options: { raw: { language: 'json' } } },
      }),
    },
  })
  const collection = {
    info: {
      name: 'Zaakstroom',
      description: ABOUT,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{token}}', type: 'string' }] },
    event: [
      {
        listen: 'prerequest',
        script: {
          type: 'text/javascript',
          exec: tokenScript(get, (name, value) => `pm.collectionVariables.set('${name}', ${value})`),
        },
      },
    ],
    variable: Object.entries(VARIABLES).map(([key, value]) => ({ key, value })),
    item: [
      { name: 'First case', item: FIRST_CASE.map(item) },
      ...[...documents].map(([component, document]) => ({
        name: document.info.title,
        item: [...requestsOf(component, document, bodies)].map(([name, requests]) => ({
          name,
          item: requests.map(item),
        })),
      })),
    ],
  }
  return `${JSON.stringify(collection, null, 2)}\n`
}

/** The files of a collection of Bruno, by their names. */
export function brunoFiles(documents: Map<string, Json>, bodies: Record<string, unknown>): Record<string, string> {
  const get = (name: string) => `bru.getEnvVar('${name}')`
  const block = (name: string, lines: string[]) =>
    lines.length === 0 ? '' : `${name} {\n${lines.map((line) => (line === '' ? '' : `  ${line}`)).join('\n')}\n}\n`
  const file = ({ name, method, url, headers, body, expected }: Request, seq: number) =>
    [
      block('meta', [`name: ${name}`, 'type: http', `seq: ${seq}`]),
      block(method.toLowerCase(), [`url: ${url}`, `body: ${body === undefined ? 'none' : 'json'}`, 'auth: inherit']),
      block(
        'params:path',
        [...url.matchAll(/\/:(\w+)/g)].map(([, key]) => `${key}: `),
      ),
      block(
        'headers',
        Object.entries(headers).map(([key, value]) => `${key}: ${value}`),
      ),
      body === undefined ? '' : block('body:json', JSON.stringify(body, null, 2).split('\n')),
      ...(expected
        ? [
            block('script:post-response', [
              ...(Object.keys(expected.keep).length > 0 ? ['const body = res.body'] : []),
              ...Object.entries(expected.keep).map(([key, value]) => `bru.setVar('${key}', ${value})`),
            ]),
            block('tests', [
              `test('${expected.status}', function () {`,
              `  expect(res.getStatus()).to.equal(${expected.status})`,
              '})',
            ]),
          ]
        : []),
    ]
      .filter(Boolean)
      .join('\n')
  const files: Record<string, string> = {
    'bruno.json': `${JSON.stringify({ version: '1', name: 'Zaakstroom', type: 'collection' }, null, 2)}\n`,
    'collection.bru': [
      block('auth', ['mode: bearer']),
      block('auth:bearer', ['token: {{token}}']),
      block(
        'script:pre-request',
        tokenScript(get, (name, value) => `bru.setVar('${name}', ${value})`),
      ),
      block('docs', [ABOUT]),
    ].join('\n'),
    'environments/lokaal.bru': block(
      'vars',
      Object.entries(VARIABLES).map(([key, value]) => `${key}: ${value}`),
    ),
  }
  for (const [index, request] of FIRST_CASE.entries())
    files[`First case/${String(index + 1).padStart(2, '0')} ${request.name}.bru`] = file(request, index + 1)
  for (const [component, document] of documents)
    for (const [tag, requests] of requestsOf(component, document, bodies))
      for (const [index, request] of requests.entries())
        files[`${document.info.title}/${tag}/${request.name}.bru`] = file(request, index + 1)
  return files
}
