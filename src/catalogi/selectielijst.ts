// The selectielijst: what the archiving of cases is measured by. Imported into the database, read from a copy of its answers, or
// asked over HTTP.
import { readFile } from 'node:fs/promises'
import type { Config } from '../config.ts'
import type { ReadDb } from '../database/database.ts'
import { when } from '../database/when.ts'
import type { Services } from '../services/services.ts'
import { isUrl } from './related-types.ts'

/** Kinds of resources there, with the members that each must have and their types. */
const KINDS = {
  ProcesType: {
    nummer: 'number',
    jaar: 'number',
    naam: 'string',
    omschrijving: 'string',
    toelichting: 'string',
    procesobject: 'string',
  },
  Resultaat: { nummer: 'number', naam: 'string', herkomst: 'string', waardering: 'string' },
  ResultaattypeOmschrijvingGeneriek: { omschrijving: 'string', definitie: 'string' },
} as const
export type Kind = keyof typeof KINDS

export type Found =
  | { kind: 'ok'; body: Record<string, unknown> }
  /** No selectielijst is configured: the URL is taken as it is. */
  | { kind: 'unverified' }
  | { kind: 'fault'; code: 'bad-url' | 'invalid-resource'; reason: string }

/** A list of it, or why there is none. */
export type Listed =
  | { kind: 'ok'; items: Record<string, unknown>[] }
  /** No selectielijst is configured. */
  | { kind: 'none' }
  | { kind: 'fault'; reason: string }

export type Selectielijst = {
  find(url: string, kind: Kind): Promise<Found>
  /** Everything of a kind, for people to choose from; Resultaten are those of one procestype. */
  list(kind: Kind, procestype?: string): Promise<Listed>
  /** The day of the imported files; undefined when none were. */
  importedOf(): Promise<string | undefined>
}

/** Stands where a klasse has not been chosen yet, because there is no selectielijst to choose it from. */
export const noKlasse = (base: string) => `${base}/beheer/catalogi/selectielijst`

/**
 * Opens the selectielijst: the copy in SELECTIELIJST_BESTAND first, then what was imported, then SELECTIELIJST_API_ROOT.
 * @param isForMany the settings are those of the organisation of each question: the copy is read at the first one
 */
export async function openSelectielijst(
  config: Config,
  services: Services,
  db: ReadDb,
  isForMany = false,
): Promise<Selectielijst> {
  const copies = new Map<string, Promise<ReadonlyMap<string, object>>>()
  const copyNow = (): Promise<ReadonlyMap<string, object>> | ReadonlyMap<string, object> => {
    const path = config.selectielijstBestand
    if (!path) return NOTHING
    const copy = copies.get(path) ?? readCopy(path)
    copy.catch(() => copies.delete(path))
    copies.set(path, copy)
    return copy
  }
  if (!isForMany) await copyNow() // what is wrong with it is said at the start
  const isConfigured = () => config.selectielijstApiRoot !== undefined || config.selectielijstBestand !== undefined
  return {
    async find(url, kind) {
      const kept = (await copyNow()).get(withoutSlash(url))
      if (kept) return judge(kept, kind)
      const imported = await db
        .selectFrom('selectielijstItem')
        .where('url', '=', withoutSlash(url))
        .select('content')
        .executeTakeFirst()
      if (imported) return judge(imported.content, kind)
      const answer = await services.fetchJson(url)
      if (answer.kind === 'ok') return judge(answer.body, kind)
      if (answer.kind === 'unregistered' && !isConfigured() && !(await isImported(db, kind)))
        return { kind: 'unverified' }
      const why = answer.kind === 'failed' ? answer.reason : 'dit adres hoort niet bij de selectielijst'
      return { kind: 'fault', code: 'bad-url', reason: `De URL kon niet worden opgevraagd: ${why}.` }
    },
    async list(kind, procestype) {
      const wanted = (item: unknown) =>
        judge(item, kind).kind === 'ok' &&
        (procestype === undefined || (item as { procesType?: unknown }).procesType === procestype)
      const kept = [...(await copyNow()).values()].filter(wanted) as Record<string, unknown>[]
      if (kept.length > 0) return { kind: 'ok', items: kept }
      if (await isImported(db, kind)) return { kind: 'ok', items: await listImported(db, kind, procestype) }
      if (!isConfigured()) return { kind: 'none' }
      if (config.selectielijstApiRoot === undefined) return { kind: 'ok', items: [] }
      const root = config.selectielijstApiRoot.replace(/\/?$/, '/')
      return allPages(
        services,
        `${root}${PATHS[kind]}${procestype ? `?procesType=${encodeURIComponent(procestype)}` : ''}`,
        wanted,
      )
    },
    async importedOf() {
      const found = await db.selectFrom('selectielijstImport').select('day').executeTakeFirst()
      return found?.day
    },
  }
}

const NOTHING: ReadonlyMap<string, object> = new Map()

async function isImported(db: ReadDb, kind: Kind): Promise<boolean> {
  const found = await db.selectFrom('selectielijstItem').where('kind', '=', kind).select('kind').limit(1).execute()
  return found.length > 0
}

async function listImported(db: ReadDb, kind: Kind, procestype?: string): Promise<Record<string, unknown>[]> {
  const rows = await db
    .selectFrom('selectielijstItem')
    .where('kind', '=', kind)
    .$call(when(procestype, (query, procestype) => query.where('procestype', '=', procestype)))
    .select('content')
    .orderBy('url')
    .execute()
  return rows.map(({ content }) => content as Record<string, unknown>)
}

export const PATHS: Record<Kind, string> = {
  ProcesType: 'procestypen',
  Resultaat: 'resultaten',
  ResultaattypeOmschrijvingGeneriek: 'resultaattypeomschrijvingen',
}
const MAX_PAGES = 20

/** A list that is answered whole, or page by page. @param options.fresh as of `fetchJson` */
export async function allPages(
  services: Services,
  first: string,
  wanted: (item: unknown) => boolean,
  options: { fresh?: boolean } = {},
): Promise<Listed> {
  const items: Record<string, unknown>[] = []
  let next: unknown = first
  for (let page = 0; page < MAX_PAGES && typeof next === 'string'; page++) {
    const answer = await services.fetchJson(next, options)
    if (answer.kind === 'unregistered') return { kind: 'fault', reason: 'dit adres hoort niet bij de selectielijst' }
    if (answer.kind === 'failed') return { kind: 'fault', reason: answer.reason }
    const body = answer.body as { results?: unknown; next?: unknown } | unknown[] | undefined
    const found = Array.isArray(body) ? body : body?.results
    if (!Array.isArray(found)) return { kind: 'fault', reason: 'het antwoord is geen lijst' }
    items.push(...(found.filter(wanted) as Record<string, unknown>[]))
    next = Array.isArray(body) ? undefined : body?.next
  }
  return { kind: 'ok', items }
}

function judge(body: unknown, kind: Kind): Found {
  if (typeof body === 'object' && missingMembers(body, kind).length === 0)
    return { kind: 'ok', body: body as Record<string, unknown> }
  return { kind: 'fault', code: 'invalid-resource', reason: `Wat op deze URL staat is geen ${kind}.` }
}

/** The members that a resource of this kind has to have and that are not there, or are of another type. */
export function missingMembers(body: object | null, kind: Kind): string[] {
  const resource = (body ?? {}) as Record<string, unknown>
  return Object.entries(KINDS[kind]).flatMap(([name, type]) => (looksLike(resource[name], type) ? [] : name))
}

// A sub-number of a Resultaat (1.1) is served as text by some versions of the API.
function looksLike(value: unknown, type: string): boolean {
  return typeof value === type || (type === 'number' && typeof value === 'string' && /^\d+(\.\d+)*$/.test(value))
}

/** Everything with a `url` in the file counts, so saved pages of the API can be put together as they came. */
export function collectResources(value: unknown, found = new Map<string, object>()): Map<string, object> {
  if (value === null || typeof value !== 'object') return found
  const { url } = value as { url?: unknown }
  if (typeof url === 'string' && isUrl(url)) found.set(withoutSlash(url), value)
  for (const member of Object.values(value)) collectResources(member, found)
  return found
}

async function readCopy(path: string): Promise<Map<string, object>> {
  try {
    return collectResources(JSON.parse(await readFile(path, 'utf8')))
  } catch (error) {
    throw new Error(`SELECTIELIJST_BESTAND cannot be read: ${(error as Error).message}`)
  }
}

const withoutSlash = (url: string) => url.replace(/\/$/, '')
