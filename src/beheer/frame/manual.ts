// The manual for administrators: docs/handleiding, rendered from its markdown and served with its pictures, so that it is there
// without a network and is always of the version that runs.

import { readdir, readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { Marked } from 'marked'
import { notFound } from '../../core/problem.ts'
import { t } from '../language/language.ts'
import { basePath } from './keyset-list.ts'

const ROOT = new URL('../../../docs/handleiding/', import.meta.url)
const PICTURES = 'beelden'
const INDEX = 'README'
/** The plan of a takeover is a document of its own, that the manual refers to. */
const BESIDE: Record<string, string> = { 'stappenplan-overnemen': '../overnemen.md' }
/** The page that everybody may read, also who cannot sign in. */
const ACCESSIBILITY = 'toegankelijkheid'

/** Which page of the manual explains the pages below a path; the longest path counts. */
const EXPLAINED: [path: string, page: string][] = [
  ['/', 'eerste-uur'],
  ['/imports', 'importeren'],
  ['/notificaties', 'mislukte-berichten'],
  ['/taken', 'mislukte-berichten'],
  ['/uitgaand', 'mislukte-berichten'],
  ['/fouten', 'mislukte-berichten'],
  ['/abonnementen', 'notificaties'],
  ['/kanalen', 'notificaties'],
  ['/configuratie/notificaties', 'notificaties'],
  ['/configuratie', 'instellingen'],
  ['/diensten', 'instellingen'],
  ['/audit', 'instellingen'],
  ['/audittrail', 'zoeken'],
  ['/zaken', 'zoeken'],
  ['/documenten', 'zoeken'],
  ['/besluiten', 'zoeken'],
  ['/betrokkenen', 'zoeken'],
  ['/zoeken', 'zoeken'],
  ['/gereserveerde-nummers', 'herstellen'],
  ['/persoon', 'gegevensbescherming'],
  ['/catalogi', 'catalogus'],
  ['/catalogi/zaaktypen', 'zaaktype'],
  ['/applicaties', 'applicaties'],
  ['/token-uitgevers', 'applicaties'],
  ['/accounts', 'accounts'],
  ['/mijn-account', 'accounts'],
  ['/inlogaanbieders', 'accounts'],
  ['/mijn-account/meldingen', 'meldingen'],
  ['/meldingen', 'meldingen'],
  ['/overnemen', 'overnemen'],
  ['/bewaartermijnen', 'bewaartermijnen'],
  ['/groei', 'bewaartermijnen'],
  ['/sleutels', 'sleutels'],
]

/** The page of the manual about a page of ours, by its path below /beheer. */
export function manualPageFor(path: string): string | undefined {
  if (/^\/(zaken|documenten)\/[^/]+\/(herstellen|verwijderen|ontgrendelen|verplaatsen)/.test(path)) return 'herstellen'
  if (/^\/catalogi\/[a-z]+\/[^/]+\/(nieuwe-versie|verschillen|beeindigen)$/.test(path)) return 'nieuwe-versie'
  if (/^\/catalogi\/[^/]+\/zaaktypen\/nieuw$/.test(path)) return 'zaaktype'
  if (/^\/zaken\/[^/]+\/wie-keek$/.test(path)) return 'gegevensbescherming'
  const under = ([prefix]: [string, string]) => path === prefix || (prefix !== '/' && path.startsWith(`${prefix}/`))
  return EXPLAINED.filter(under).toSorted((a, b) => b[0].length - a[0].length)[0]?.[1]
}

export async function registerManual(app: FastifyInstance): Promise<void> {
  const viewing = { access: 'beheer', rol: 'viewer' } as const
  const files = (await readdir(ROOT)).filter((name) => name.endsWith('.md')).map((name) => name.slice(0, -3))
  const pictures = new Set(await readdir(new URL(`${PICTURES}/`, ROOT)))
  const pages = new Map<string, Promise<Rendered>>()
  const known = new Map([...files.map((name): [string, string] => [name, `${name}.md`]), ...Object.entries(BESIDE)])
  const open = (name: string) => {
    const file = known.get(name)
    if (!file) throw notFound(t('Deze bladzijde van de handleiding bestaat niet.'))
    const page = pages.get(name) ?? readFile(new URL(file, ROOT), 'utf8').then((text) => render(text, linkTo))
    pages.set(name, page)
    return page
  }
  const linkTo = (href: string): string | undefined => {
    if (/^https?:/.test(href)) return href
    const [file = '', hash = ''] = href.split('#')
    if (file === '') return `#${hash}`
    const name = [...known].find(([, one]) => one === file)?.[0]
    if (name === undefined) return undefined
    return `${BASE}${name === INDEX ? '' : `/${name}`}${hash && `#${hash}`}`
  }

  app.get('/handleiding', { config: viewing }, async (request, reply) => {
    const { title, html } = await open(INDEX)
    return reply.page('manual', { title, html: html.replaceAll(BASE, baseOf(basePath(request))) })
  })
  app.get(`/${ACCESSIBILITY}`, { config: { access: 'beheer', rol: 'iedereen' } }, async (request, reply) => {
    const { title, html } = await open(ACCESSIBILITY)
    return reply.page('manual', { title, html: html.replaceAll(BASE, baseOf(basePath(request))) })
  })
  app.get<{ Params: { naam: string } }>('/handleiding/:naam', { config: viewing }, async (request, reply) => {
    const { title, html } = await open(request.params.naam)
    return reply.page('manual', {
      title,
      breadcrumbs: [{ path: '/handleiding', name: t('Handleiding') }],
      html: html.replaceAll(BASE, baseOf(basePath(request))),
    })
  })
  app.get<{ Params: { naam: string } }>(
    `/handleiding/${PICTURES}/:naam`,
    { config: viewing, logLevel: 'warn' },
    async (request, reply) => {
      const { naam } = request.params
      if (!pictures.has(naam)) throw notFound()
      return reply
        .header('cache-control', 'private, max-age=3600')
        .type('image/png')
        .send(await readFile(new URL(`${PICTURES}/${naam}`, ROOT)))
    },
  )
}

/** Stands in rendered pages for the address of the manual, which a proxy may put below another path. */
const BASE = '{handleiding}'
const baseOf = (path: string) => `${path}/beheer/handleiding`

type Rendered = { title: string; html: string }

/**
 * The markdown of a page of the manual as HTML. It is our own text: nothing in it comes from users.
 * @param linkTo the address for a link, or undefined for what is not served: its text then stands there without a link
 */
function render(markdown: string, linkTo: (href: string) => string | undefined): Rendered {
  const [, title = t('Handleiding'), body = markdown] = /^# (.+)\n([\s\S]*)$/.exec(markdown) ?? []
  const marked = new Marked({
    renderer: {
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens)
        const to = linkTo(href)
        return to === undefined ? text : `<a href="${escapeHtml(to)}">${text}</a>`
      },
      image({ href, text }) {
        return `<img src="${BASE}/${escapeHtml(href)}" alt="${escapeHtml(text)}" loading="lazy">`
      },
      // A line that is too long scrolls, with the keyboard as well.
      code({ text }) {
        return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>`
      },
      heading({ tokens, depth, text }) {
        const id = text
          .toLowerCase()
          .replace(/[^\p{L}\p{N} -]/gu, '')
          .replaceAll(' ', '-')
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
    },
  })
  return { title, html: marked.parse(body, { async: false }) }
}

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
