// The pages at /ref/fouten/: where `type` of a problem leads, and one for each code. Dutch, with English beside it.
import type { FastifyInstance } from 'fastify'
import { FIELD_CODES, type FieldCode, type Meaning, PROBLEM_CODES, type ProblemCode } from '../core/codes.ts'
import { KINDS, notFound } from '../core/problem.ts'
import { CSP, frame, type Page, prose, send, text, toPage } from './openapi/frame.ts'

const PROBLEMS = Object.entries(PROBLEM_CODES) as [ProblemCode, Meaning & { status: number }][]
const FIELDS = Object.entries(FIELD_CODES) as [FieldCode, Meaning][]

export function serveFaultPages(app: FastifyInstance): void {
  const options = { config: { access: 'public' }, schema: { hide: true } } as const
  const makers = pageMakers()
  const pages = new Map<string, Page>()
  app.get('/ref/fouten', options, async (request, reply) => reply.redirect(`${request.base}/ref/fouten/`))
  for (const url of ['/ref/fouten/', '/ref/fouten/:name/', '/ref/fouten/:name'])
    app.get<{ Params: { name?: string } }>(url, options, async (request, reply) => {
      const { name = '' } = request.params
      const make = makers.get(name)
      if (!make) throw notFound()
      if (name !== '' && url.endsWith('name')) return reply.redirect(`${request.base}/ref/fouten/${name}/`)
      const page = pages.get(name) ?? toPage(make())
      pages.set(name, page)
      reply.headers({ 'content-security-policy': CSP, 'referrer-policy': 'same-origin' })
      return send(request, reply.type('text/html; charset=utf-8'), page)
    })
}

/** What makes each page, by the last part of its address; the index has none. */
function pageMakers(): Map<string, () => string> {
  const makers = new Map<string, () => string>([['', indexPage]])
  for (const [status, { name, title, uitleg }] of Object.entries(KINDS))
    makers.set(name, () => kindPage(name, Number(status), title, uitleg))
  makers.set('ParseError', () =>
    kindPage('ParseError', 400, 'Ongeldig samengestelde aanvraag.', 'De inhoud is geen geldige JSON of CSV.', [
      'parse_error',
    ]),
  )
  for (const code of new Set([...PROBLEMS, ...FIELDS].map(([code]) => code))) makers.set(code, () => codePage(code))
  return makers
}

const HOME: [string, string] = ['./', 'fouten']
const UP: [string, string] = ['../', 'fouten']

function indexPage(): string {
  const kinds = Object.entries(KINDS).map(
    ([status, { name, title }]) =>
      `<tr><th scope="row"><a href="${name}/">${name}</a></th><td>${status}</td><td>${text(title)}</td></tr>`,
  )
  return frame(
    'Fouten',
    '../../docs/',
    `<p>Een fout komt als <code>application/problem+json</code>. <code>code</code> zegt wat er mis is met de aanvraag,
<code>invalidParams[].code</code> wat er mis is met een veld. Codes wijzigen niet; er kunnen codes bij komen.</p>
<p lang="en">A fault comes as <code>application/problem+json</code>. <code>code</code> says what is wrong with the request,
<code>invalidParams[].code</code> what is wrong with a field. Codes do not change; there may be more of them later.</p>
<nav aria-label="Soorten"><ul><li><a href="#soorten">Soorten fouten</a></li><li><a href="#aanvraag">Codes van een aanvraag</a></li>
<li><a href="#veld">Codes van een veld</a></li></ul></nav>
<h2 id="soorten">Soorten fouten</h2>
<div class="tabel" role="region" aria-label="Soorten fouten" tabindex="0"><table>
<thead><tr><th scope="col">Soort</th><th scope="col">Status</th><th scope="col">Betekenis</th></tr></thead>
<tbody>${kinds.join('\n')}</tbody></table></div>
<h2 id="aanvraag">Codes van een aanvraag</h2>
${listOf(PROBLEMS, 'Codes van een aanvraag')}
<h2 id="veld">Codes van een veld</h2>
${listOf(FIELDS, 'Codes van een veld')}`,
    HOME,
  )
}

function listOf(codes: [string, Meaning][], caption: string): string {
  const rows = codes.map(
    ([code, { cause }]) =>
      `<tr><th scope="row"><a href="${code}/"><code>${code}</code></a></th><td>${text(cause[0])}<br><span class="zacht" lang="en">${text(cause[1])}</span></td></tr>`,
  )
  return `<div class="tabel" role="region" aria-label="${caption}" tabindex="0"><table>
<thead><tr><th scope="col">Code</th><th scope="col">Oorzaak <span lang="en">(Cause)</span></th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>`
}

/** A class of faults, with the codes that it may have. */
function kindPage(
  name: string,
  status: number,
  title: string,
  uitleg: string,
  codes = PROBLEMS.filter(([, meaning]) => meaning.status === status).map(([code]) => code),
): string {
  return frame(
    title,
    '../../../docs/',
    `<p>${text(uitleg)}</p>
<dl><dt>soort</dt><dd>${name}</dd><dt>status</dt><dd>${status}</dd></dl>
${listOf(
  codes.map((code) => [`../${code}`, PROBLEM_CODES[code]]),
  'Codes',
).replaceAll('<code>../', '<code>')}
${name === 'ValidationError' ? '<p>Per veld: <a href="../#veld">codes van een veld</a>.</p>' : ''}`,
    UP,
  )
}

function codePage(code: ProblemCode | FieldCode): string {
  const problem = PROBLEMS.find(([one]) => one === code)?.[1]
  const field = FIELDS.find(([one]) => one === code)?.[1]
  const parts = [
    ...(problem ? [meaningOf(`code, met status ${problem.status}`, problem)] : []),
    ...(field ? [meaningOf('invalidParams[].code, met status 400', field)] : []),
  ]
  return frame(code, '../../../docs/', parts.join('\n'), UP)
}

/** @param where the code stands in an answer */
function meaningOf(where: string, { cause, remedy, example, rule }: Meaning): string {
  return `<section><h2>${text(where)}</h2>
<p><strong>Oorzaak.</strong> ${prose(cause[0])}</p>
<p><strong>Herstel.</strong> ${prose(remedy[0])}</p>
<div lang="en"><p><strong>Cause.</strong> ${prose(cause[1])}</p>
<p><strong>Remedy.</strong> ${prose(remedy[1])}</p></div>
<p>Voorbeeld <span lang="en">(Example)</span>: <code>${text(example)}</code></p>
${rule ? `<p>Regels van de standaard <span lang="en">(rules of the standard)</span>: ${text(rule)}</p>` : ''}</section>`
}
