// The pages at /docs: which APIs there are, and each of them to read, in Dutch. Written from the OpenAPI documents, without a script.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { TITLES } from './document.ts'
import { CSP, frame, type Page, prose, STYLE_NAME, STYLE_PAGE, send, text, toPage } from './frame.ts'
import type { Json } from './operation.ts'

/** Where Swagger UI stands, to try the APIs in a browser. */
export const TRY_PATH = '/docs/proberen'

/** @param documents of the APIs that are served, by component; each is made when it is asked for the first time */
export function serveReference(app: FastifyInstance, documents: Map<string, () => Json>): void {
  const options = { config: { access: 'public' }, schema: { hide: true } } as const
  const components = [...documents.keys()]
  const pages = new Map<string, Page>()
  const show = (reply: FastifyReply, request: FastifyRequest, key: string, make: () => string) => {
    const page = pages.get(key) ?? toPage(make())
    pages.set(key, page)
    reply.headers({ 'content-security-policy': CSP, 'referrer-policy': 'same-origin' })
    return send(request, reply.type('text/html; charset=utf-8'), page)
  }

  // Links on a page count from its folder, so both addresses need the last slash.
  app.get('/docs', options, async (request, reply) => reply.redirect(`${request.base}/docs/`))
  app.get('/docs/', options, async (request, reply) =>
    show(reply, request, '', () => frame("API's", '', indexOf(components))),
  )
  app.get(`/docs/${STYLE_NAME}`, options, async (request, reply) =>
    send(request, reply.type('text/css').header('cache-control', 'public, max-age=31536000, immutable'), STYLE_PAGE),
  )
  for (const [component, document] of documents)
    app.get(`/docs/${component}/`, options, async (request, reply) =>
      show(reply, request, component, () =>
        frame(TITLES[component] ?? component, '../', referenceOf(component, document())),
      ),
    )
}

function indexOf(components: string[]): string {
  const rows = components.map(
    (component) =>
      `<tr><th scope="row"><a href="${component}/">${text(TITLES[component])}</a></th><td><code>/${component}/api/v1</code></td>
<td><a href="../${component}/api/v1/openapi.json">JSON</a>, <a href="../${component}/api/v1/openapi.yaml">YAML</a></td></tr>`,
  )
  return `<p>Zaakstroom biedt de API's van de standaard voor zaakgericht werken (ZGW). Kies een API om te lezen wat zij kan.</p>
<div class="tabel" role="region" aria-label="API's" tabindex="0"><table>
<thead><tr><th scope="col">API</th><th scope="col">Adres</th><th scope="col">OpenAPI-document</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>
<h2>Zo begint u</h2>
<ol>
<li>Vraag de beheerder om een client-id, een geheim en rechten.</li>
<li>Maak een JWT (HS256) met <code>iss</code>, <code>iat</code> en <code>client_id</code>, ondertekend met het geheim.</li>
<li>Stuur hem mee als <code>Authorization: Bearer …</code>. Stuur bij de Zaken API ook <code>Accept-Crs: EPSG:4326</code>, en bij
een verzoek met inhoud <code>Content-Crs: EPSG:4326</code>.</li>
</ol>
<p>Fouten komen als <code>application/problem+json</code>; <code>invalidParams</code> noemt elk veld dat niet klopt. <a href="../ref/fouten/">Alle codes</a> hebben een
pagina met oorzaak en herstel. Voorbeelden in vijf
talen staan in <code>docs/clients.md</code> van het project.</p>
<h2>Uitproberen</h2>
<p>U kunt verzoeken <a href="proberen/">in de browser uitproberen</a> met Swagger UI. Dat programma is in het Engels. Een beheerder
maakt er een token voor op de <a href="../beheer/applicaties">pagina van uw applicatie</a> (Uitproberen). Kies eerst de API en plak het
dan bij <span lang="en">Authorize</span>; bij een andere API opnieuw.
Daarna handelt u als die applicatie: wat u wijzigt, is gewijzigd.</p>`
}

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete']

function referenceOf(component: string, document: Json): string {
  const groups = new Map<string, string[]>()
  for (const [path, item] of Object.entries(document.paths as Record<string, Json>))
    for (const method of METHODS) {
      const operation = item[method] as Json | undefined
      if (!operation) continue
      const tag = String((operation.tags as string[] | undefined)?.[0] ?? 'overig')
      groups.set(tag, [...(groups.get(tag) ?? []), operationOf(component, document, method, path, operation)])
    }
  const names = [...groups.keys()]
  const api = `../../${component}/api/v1`
  return `<p>${prose((document.info as Json).description)} Versie ${text((document.info as Json).version)}.</p>
<p>Adres: <code>/${component}/api/v1</code>. OpenAPI-document: <a href="${api}/openapi.json">JSON</a>, <a href="${api}/openapi.yaml">YAML</a>.
<a href="../proberen/?urls.primaryName=${encodeURIComponent(TITLES[component] ?? component)}">Uitproberen in de browser</a>.</p>
<nav aria-label="Resources"><ul class="inhoud">${names.map((name) => `<li><a href="#${text(name)}">${text(name)}</a></li>`).join('')}</ul></nav>
${[...groups].map(([name, operations]) => `<section aria-labelledby="${text(name)}"><h2 id="${text(name)}">${text(name)}</h2>\n${operations.join('\n')}</section>`).join('\n')}`
}

function operationOf(component: string, document: Json, method: string, path: string, operation: Json): string {
  const parameters = ((operation.parameters ?? []) as Json[]).map((one) => resolve(document, one))
  const content = (resolve(document, (operation.requestBody ?? {}) as Json).content ?? {}) as Record<string, Json>
  const [mediaType, body] = Object.entries(content)[0] ?? []
  const name = `${method.toUpperCase()} ${path}`
  const responses = Object.entries((operation.responses ?? {}) as Record<string, Json>)
  return `<details><summary><span class="methode methode-${method}">${method.toUpperCase()}</span> <code>${text(path)}</code> <span class="zacht">${prose(operation.summary)}</span></summary>
<p>${prose(operation.description)}</p>
${table(
  'Parameters',
  name,
  parameters.map((one) => [
    `<code>${text(one.name)}</code>`,
    PLACES[String(one.in)] ?? text(one.in),
    typeOf(document, one.schema as Json),
    one.required ? 'ja' : 'nee',
    prose(one.description),
  ]),
  ['Naam', 'Waar', 'Soort', 'Verplicht', 'Uitleg'],
)}
${body ? table(`Inhoud van het verzoek (${mediaType})`, name, membersOf(document, body.schema as Json), ['Naam', 'Soort', 'Verplicht', 'Uitleg']) : ''}
<p>Voorbeeld:</p>
<pre tabindex="0" role="region" aria-label="${text(`Voorbeeld van ${name}`)}"><code>${text(exampleOf(component, method, path, parameters, body))}</code></pre>
${table(
  'Antwoorden',
  name,
  responses.map(([code, one]) => [`<code>${text(code)}</code>`, prose(resolve(document, one).description)]),
  ['Code', 'Betekenis'],
)}</details>`
}

/** The operation by curl, with what a request has to have. `$API` is the address of the service, `$TOKEN` a token. */
function exampleOf(
  component: string,
  method: string,
  path: string,
  parameters: Json[],
  body: Json | undefined,
): string {
  const uuid = '7c3f8a2e-5b1d-4e6f-9a0b-1c2d3e4f5a6b'
  const crs = parameters.flatMap(({ name }) => (/-Crs$/.test(String(name)) ? [`-H '${name}: EPSG:4326'`] : []))
  const how = method === 'head' ? '--head' : method === 'get' ? '' : `-X ${method.toUpperCase()}`
  const address = `"$API/${component}/api/v1${path.replace(/\{\w+\}/g, uuid)}"`
  const lines = [['curl', how, address].filter(Boolean).join(' '), `-H "Authorization: Bearer $TOKEN"`, ...crs]
  if (body?.example)
    lines.push(
      `-H 'Content-Type: application/json'`,
      `-d '${JSON.stringify(body.example, null, 2).replaceAll("'", "'\\''")}'`,
    )
  return lines.join(' \\\n  ')
}

const PLACES: Record<string, string> = { query: 'query', path: 'pad', header: 'header' }

/** @param of what tells its region from the others on the page
 * @param rows cells as HTML */
function table(caption: string, of: string, rows: string[][], headings: string[]): string {
  if (rows.length === 0) return ''
  const cells = rows.map(
    ([first, ...rest]) => `<tr><th scope="row">${first}</th>${rest.map((one) => `<td>${one}</td>`).join('')}</tr>`,
  )
  return `<div class="tabel" role="region" aria-label="${text(`${caption} van ${of}`)}" tabindex="0"><table><caption>${text(caption)}</caption>
<thead><tr>${headings.map((one) => `<th scope="col">${one}</th>`).join('')}</tr></thead><tbody>${cells.join('\n')}</tbody></table></div>`
}

/** The members of a body, and those of the groups in it with a dot. */
function membersOf(document: Json, schema: Json, before = ''): string[][] {
  const resolved = resolve(document, schema)
  const required = new Set((resolved.required ?? []) as string[])
  return Object.entries((resolved.properties ?? {}) as Record<string, Json>).flatMap(([name, member]) => {
    const own = resolve(document, member)
    const row = [
      `<code>${text(before + name)}</code>`,
      typeOf(document, member),
      required.has(name) ? 'ja' : 'nee',
      prose(own.description),
    ]
    return [row, ...(own.properties && before === '' ? membersOf(document, own, `${name}.`) : [])]
  })
}

const TYPES: Record<string, string> = {
  string: 'tekst',
  integer: 'geheel getal',
  number: 'getal',
  boolean: 'true of false',
  array: 'lijst',
  object: 'groep',
  null: 'null',
}
const FORMATS: Record<string, string> = {
  uri: 'URL',
  uuid: 'uuid',
  date: 'datum',
  'date-time': 'datum en tijd',
  duration: 'duur (ISO 8601)',
  binary: 'bytes',
}

function typeOf(document: Json, schema: Json | undefined): string {
  const own = resolve(document, schema ?? {})
  if (Array.isArray(own.enum))
    return own.enum.map((one) => `<code>${text(one === '' ? '(leeg)' : one)}</code>`).join(', ')
  const types = [own.type ?? []].flat() as string[]
  const name = FORMATS[String(own.format)] ?? types.map((type) => TYPES[type] ?? type).join(' of ')
  const words = types.includes('null') && FORMATS[String(own.format)] ? `${name} of null` : name
  if (types.includes('array')) return `lijst van ${typeOf(document, own.items as Json)}`
  return text(own.maxLength && !own.format ? `${words}, ten hoogste ${own.maxLength} tekens` : words)
}

function resolve(document: Json, value: Json): Json {
  const ref = value.$ref
  if (typeof ref !== 'string') return value
  let at: unknown = document
  for (const part of ref.slice(2).split('/')) at = (at as Json | undefined)?.[part]
  return (at ?? {}) as Json
}
