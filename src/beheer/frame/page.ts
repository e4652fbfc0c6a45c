// Page: a page in its frame, and what every page has: the menu, the message of the last change, the token of its forms.

import view from '@fastify/view'
import { Eta } from 'eta'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import packageJson from '../../../package.json' with { type: 'json' }
import { toProblem } from '../../core/problem.ts'
import { type Pauses, readPauses, WAITING_TO } from '../../notificaties/settings.ts'
import { ENGLISH } from '../language/english/index.ts'
import { inLanguage, language, lowerFirst, reason, t, words } from '../language/language.ts'
import { templateLanguage } from '../language/templates.ts'
import { isOn } from './components.ts'
import type { FormFaults } from './form.ts'
import {
  formatAgo,
  formatBytes,
  formatDate,
  formatDuration,
  formatNear,
  formatNumber,
  formatShortDate,
  moment,
} from './format.ts'
import { basePath, type KeysetPage, withQuery } from './keyset-list.ts'
import { languageLink, languageOf } from './language-switch.ts'
import { manualPageFor } from './manual.ts'
import { addNotice, findSession, forgetNotice, hasRole, isOfTheCentre, type RequiredRole } from './session.ts'
import type { Style } from './stylesheets.ts'

/** A page above the one that is shown; the path counts from `/beheer`. */
export type Crumb = { path: string; name: string }

/** What a page shows. The names that many templates read mean the same in each. */
type PageData = {
  title: string
  breadcrumbs?: Crumb[]
  list?: KeysetPage<unknown>
  /** What stands in the fields of its form. */
  values?: object
  /** What is wrong with that; a page that tells it in its own way may give a list. */
  faults?: FormFaults | readonly unknown[]
  /** What the button of its form says. */
  button?: string
  /** Where one gets without sending the form: an address below `/beheer`, or what the link there says. */
  back?: string
  [name: string]: unknown
}

declare module 'fastify' {
  interface FastifyReply {
    /** Sends a page: a template of `templates/`, and what it shows. */
    page(template: string, data: PageData): Promise<FastifyReply>
  }
}

type Render = (reply: FastifyReply, template: string, shown: object) => Promise<string>
type MenuItem = {
  path: string
  name: string
  rol?: RequiredRole
  /** There for who may see all organisations. */
  isOfCentre?: boolean
}

const MENU: { name: string; items: MenuItem[] }[] = words(
  [
    {
      name: 'Werk',
      items: [
        { path: '/', name: 'Overzicht' },
        { path: '/imports', name: 'Imports' },
        { path: '/notificaties', name: 'Notificaties' },
        { path: '/abonnementen', name: 'Abonnementen' },
        { path: '/taken', name: 'Taken' },
      ],
    },
    {
      name: 'Opzoeken',
      items: [
        { path: '/zaken', name: 'Zaken' },
        { path: '/documenten', name: 'Documenten' },
        { path: '/besluiten', name: 'Besluiten' },
        { path: '/betrokkenen', name: 'Betrokkenen' },
        { path: '/catalogi', name: 'Catalogi' },
        { path: '/gereserveerde-nummers', name: 'Gereserveerde nummers', rol: 'hersteller' },
        { path: '/persoon', name: 'Wie keek?', rol: 'privacy' },
      ],
    },
    {
      name: 'Configuratie',
      items: [
        { path: '/configuratie/notificaties', name: 'Notificatiescomponentconfiguratie' },
        { path: '/kanalen', name: 'Kanalen' },
        { path: '/diensten', name: 'Andere diensten' },
        { path: '/applicaties', name: 'Applicaties' },
        { path: '/token-uitgevers', name: 'Token-uitgevers' },
        { path: '/accounts', name: 'Accounts', rol: 'administrator' },
        { path: '/inlogaanbieders', name: 'Inlogaanbieders', rol: 'administrator' },
        { path: '/configuratie', name: 'Configuratie', rol: 'administrator' },
        { path: '/audit', name: 'Audit' },
        { path: '/audittrail', name: 'Audittrail' },
      ],
    },
    {
      name: 'Onderhoud',
      items: [
        { path: '/overnemen', name: 'Overnemen' },
        { path: '/bewaartermijnen', name: 'Bewaartermijnen' },
        { path: '/groei', name: 'Groei' },
        { path: '/sleutels', name: 'Sleutels' },
        { path: '/meldingen', name: 'Meldingen' },
        { path: '/uitgaand', name: 'Uitgaande verzoeken' },
        { path: '/fouten', name: 'Fouten', rol: 'operator' },
      ],
    },
    { name: 'Centrum', items: [{ path: '/organisaties', name: 'Organisaties', isOfCentre: true }] },
    { name: 'Hulp', items: [{ path: '/handleiding', name: 'Handleiding' }] },
  ],
  'name',
)

/** What a page may load: our own style, script and images. */
export const CSP =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** Adds `reply.page`, the headers of pages, and pages for what goes wrong. */
export async function registerPage(app: FastifyInstance, style: Style): Promise<void> {
  const root = new URL('../templates/', import.meta.url).pathname
  const pages = { views: root, cache: true }
  await app.register(view, { engine: { eta: new Eta(pages) }, root, viewExt: 'eta' })
  const english = new Eta({ ...pages, plugins: [templateLanguage((dutch) => ENGLISH.get(dutch))] })
  const render: Render = async (reply, template, shown) =>
    language() === 'en' ? english.render(template, shown) : reply.viewAsync(`${template}.eta`, shown)
  app.addHook('onRequest', async (_request, reply) => {
    // Browsers leave the Origin out of forms under `no-referrer`.
    reply.headers({ 'content-security-policy': CSP, 'referrer-policy': 'same-origin' })
  })
  app.decorateReply('page', async function (this: FastifyReply, template, data) {
    const { request } = this
    const notice = request.session?.notice ?? null
    if (notice) await forgetNotice(request, notice)
    // A page says that the database is away, also to who was signed in.
    const pauses = request.beheerder && (await readPauses(request.server.read).catch(() => undefined))
    const html = await render(this, template, {
      notice,
      pauses,
      waitingTo: WAITING_TO,
      ...data,
      ...frame(request, style),
      faultList: (body: string) => listFaults(body, data.faults),
      csrf: request.method === 'HEAD' ? '' : await this.generateCsrf(),
    })
    return this.type('text/html; charset=utf-8').send(labelCells(html))
  })
  app.setErrorHandler(async (error, request, reply) => {
    const problem = toProblem(error)
    const requestId = request.id
    if (problem.status >= 500) {
      request.failure = { error, exceptionId: '' }
      request.log.error({ err: error, status: problem.status, request_id: requestId }, 'page failed')
    }
    reply.code(problem.status).headers(problem.headers)
    // What was thrown while the body was read knows no language.
    return inLanguage(languageOf(request), () =>
      sendErrorPage(request, reply, style, render, {
        status: problem.status,
        detail: reason(problem.detail),
        requestId,
      }),
    )
  })
  app.setNotFoundHandler(async (request, reply) => {
    // Whoever took a wrong turn while signed in keeps the menu.
    request.session = await findSession(request).catch(() => undefined)
    if (request.session?.step === 'signed-in') request.beheerder = request.session.beheerder
    return sendErrorPage(request, reply.code(404), style, render, {
      status: 404,
      detail: t('Deze pagina bestaat niet.'),
      requestId: request.id,
    })
  })
}

const TITLES: Record<number, string> = words({
  400: 'Dit kon niet worden verwerkt',
  403: 'Geen toegang',
  404: 'Niet gevonden',
  409: 'Iemand anders was u voor',
  413: 'Te groot',
  429: 'Te vaak geprobeerd',
  503: 'Even niet beschikbaar',
})

// It asks nothing of the database, which may be what is away.
async function sendErrorPage(
  request: FastifyRequest,
  reply: FastifyReply,
  style: Style,
  render: Render,
  fault: { status: number; detail: string; requestId: string },
): Promise<FastifyReply> {
  const title =
    TITLES[fault.status] ?? (fault.status >= 500 ? t('Er ging iets mis') : t('Dit kon niet worden verwerkt'))
  const html = await render(reply, 'error', {
    title,
    notice: null,
    csrf: request.session ? await reply.generateCsrf() : '',
    ...fault,
    ...frame(request, style),
    faultList: () => [],
    isRead: request.method === 'GET',
    wayBack: wayBack(request),
  })
  return reply
    .headers({ 'content-security-policy': CSP, 'referrer-policy': 'same-origin' }) // also for who was stopped before the page
    .type('text/html; charset=utf-8')
    .send(html)
}

/** Whether the one who looks may know that there is such a page. */
const isKnown = (request: FastifyRequest, { isOfCentre }: MenuItem) => !isOfCentre || isOfTheCentre(request)

/** The list that somebody came from, as it was filtered; else the one that this page belongs to. */
function wayBack(request: FastifyRequest): { address: string; name: string } | undefined {
  if (request.session?.step !== 'signed-in') return undefined
  const base = `${basePath(request)}/beheer`
  const items = MENU.flatMap((group) => group.items).filter((item) => item.path !== '/' && isKnown(request, item))
  const from = URL.parse(request.headers.referer ?? '')
  const isOurs = from !== null && [request.headers.host, new URL(request.base).host].includes(from.host)
  const here = request.originalUrl.replace(/[?#].*/s, '').replace(/^\/beheer/, '')
  const list = isOurs && items.find(({ path }) => from.pathname === `${base}${path}` && path !== here)
  if (list) return { address: `${base}${list.path}${from.search}`, name: list.name }
  const above = items
    .filter(({ path }) => here.startsWith(`${path}/`))
    .toSorted((one, other) => other.path.length - one.path.length)[0]
  return above && { address: `${base}${above.path}`, name: above.name }
}

/**
 * Gives each cell of a table the heading of its column, as `data-kop`: on a narrow screen a row is shown as a card, where each
 * value stands behind its heading. It reads our own templates, in which every value was escaped.
 */
function labelCells(html: string): string {
  return html.replace(/<table[\s\S]*?<\/table>/g, (table) => {
    const [head = '', ...body] = table.split('</thead>')
    if (body.length === 0) return table
    const headings = [...head.matchAll(/<th\b[^>]*>([\s\S]*?)<\/th>/g)].map(([, text = '']) =>
      text
        .replace(/<[^>]*>/g, '')
        .replaceAll('"', '&quot;')
        .trim(),
    )
    let column = 0
    const labelled = body.join('</thead>').replace(/<(tr|td|th)\b([^>]*)>/g, (tag, name: string, rest: string) => {
      if (name === 'tr') column = 0
      else if (!/\scolspan=/.test(rest)) {
        const heading = headings[column++]
        if (heading) return `<${name} data-kop="${heading}"${rest}>`
      }
      return tag
    })
    return `${head}</thead>${labelled}`
  })
}

/**
 * What is wrong with the form of a page, for the list above it: each with the label of its field, and where that is. A page that
 * tells it in its own way says so with `data-fouten`.
 * @param body the page, in which every value was escaped
 */
function listFaults(body: string, given: unknown): { anchor?: string; label?: string; reason: string }[] {
  if (typeof given !== 'object' || given === null || Array.isArray(given) || body.includes('data-fouten')) return []
  const place = ({ anchor }: { anchor?: string }) => (anchor ? body.indexOf(`id="${anchor}"`) : -1)
  const faults = Object.entries(given as FormFaults).map(([name, reason]) => {
    const anchor = [`veld-${name}`, `fout-${name}`].find((id) => body.includes(`id="${id}"`)) ?? idOfField(body, name)
    const label =
      anchor && new RegExp(`<label for="${RegExp.escape(anchor)}"[^>]*>([\\s\\S]*?)</label>`).exec(body)?.[1]
    const text = label && plainText(label.replace(/<span[\s\S]*?<\/span>|<[^>]*>/g, '').trim())
    return { ...(anchor && { anchor }), ...(text && { label: text }), reason }
  })
  return faults.sort((one, other) => place(one) - place(other))
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
/** What a template escaped, before it did. */
const plainText = (html: string) => html.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '')

/** The id of the first field with this name, as of a group of choices. */
function idOfField(body: string, name: string): string | undefined {
  if (name === '') return undefined
  const [tag = ''] =
    new RegExp(`<(?:input|select|textarea)[^>]*\\sname="${RegExp.escape(name)}"[^>]*>`).exec(body) ?? []
  return /\sid="([^"]+)"/.exec(tag)?.[1]
}

/**
 * What every template is given beside its own.
 * @internal Only a test names it, which reads the templates with it.
 */
export type Frame = ReturnType<typeof frame> & {
  notice: { soort: string; tekst: string } | null
  /** What of sending is paused; undefined before signing in, and when nobody can tell. */
  pauses: Pauses | undefined
  /** So many deliveries that wait are counted at most. */
  waitingTo: number
  csrf: string
  faultList(body: string): { anchor?: string; label?: string; reason: string }[]
}

/** What the frame around every page shows. */
function frame(request: FastifyRequest, style: Style) {
  const { beheerder } = request
  const base = `${basePath(request)}/beheer`
  const path = request.originalUrl.replace(/\?.*/s, '').replace(/^\/beheer/, '') || '/'
  const isHere = (item: MenuItem) =>
    item.path === '/'
      ? path === '/'
      : path === item.path || (item.path !== '/configuratie' && path.startsWith(`${item.path}/`))
  return {
    base,
    style,
    beheerder,
    /** Where the one who is signed in may go on, in the order of their names. */
    organisations: organisationsOf(request),
    programVersion: packageJson.version,
    language: language(),
    /** The language to change to, by its own name. */
    otherLanguage: {
      ...(language() === 'en' ? { code: 'nl', name: 'Nederlands' } : { code: 'en', name: 'English' }),
      address: languageLink(request, language() === 'en' ? 'nl' : 'en'),
    },
    manualPage: request.session?.step === 'signed-in' ? manualPageFor(path) : undefined,
    menu:
      request.session?.step === 'signed-in'
        ? MENU.map(({ name, items }) => ({
            name,
            items: items
              .filter((item) => isKnown(request, item))
              .filter(({ path, rol = 'viewer' }) => hasRole(beheerder, rol) && isOn(request, path))
              .map((item) => ({
                ...item,
                path: item.path === '/' ? `${base}/` : `${base}${item.path}`,
                isHere: isHere(item),
              })),
          })).filter(({ items }) => items.length > 0)
        : [],
    /** Whether the one who looks may do this. */
    may: (rol: RequiredRole) => hasRole(beheerder, rol),
    /** By which column a list is sorted, `-name` from high to low. */
    sortedBy: String((request.query as { sorteer?: unknown } | undefined)?.sorteer ?? ''),
    /** The address of this page with other parameters. */
    withQuery: (change: Record<string, string | undefined>) => withQuery(request, change),
    // how templates write values
    t,
    reason,
    lowerFirst,
    moment,
    formatDate,
    formatShortDate,
    formatNear,
    formatAgo,
    formatNumber,
    formatDuration,
    formatBytes,
    breakable,
  }
}

/** Those of an account of the centre; of another account none. */
function organisationsOf({ server, beheerder }: FastifyRequest): { rsin: string; name: string; isHere: boolean }[] {
  if (!beheerder?.centre || !server.members) return []
  const here = beheerder.centre.membership.rsin
  return server.members.organisationsOf(beheerder.centre).map((one) => ({ ...one, isHere: one.rsin === here }))
}

/** Browsers know no Dutch hyphens, and break a word that is too long for the menu or a phone anywhere. */
const breakable = (text: string): string =>
  text.replace('Notificatiescomponentconfiguratie', 'Notificaties\u00ADcomponent\u00ADconfiguratie')

/** After a change: back to a page, which says what was done. `path` counts from `/beheer`. */
export async function redirectWith(
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  text?: string,
  tone: 'goed' | 'fout' | 'info' = 'goed',
): Promise<FastifyReply> {
  if (text) await addNotice(request, path, { soort: tone, tekst: reason(text) })
  return reply.redirect(`${basePath(request)}/beheer${path}`, 303)
}
