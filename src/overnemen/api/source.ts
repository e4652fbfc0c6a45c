// Reads any service of the standard through its APIs. Lists are read page by page, and what has no list of its own (parts of
// a case, relations of a document, audit trails) below each object that was new or changed in this round.
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type postgres from 'postgres'
import { expected, lastOf } from '../../database/rows.ts'
import { inParallel } from '../../documenten/storage/migrate.ts'
import { PATHS } from '../../http/links.ts'
import type { Taken } from '../kinds.ts'
import {
  type AuditRow,
  type Finding,
  type Portion,
  type Source,
  SourceUnavailable,
  type Step,
  type StepPlan,
  UnreadableContents,
} from '../source.ts'
import { apiClient, type Json } from './client.ts'
import { BELOW, LISTS, type ListOf, listOf } from './lists.ts'
import { unknownMembers } from './members.ts'
import { rowsPast } from './pages.ts'
import type { Roots } from './roots.ts'
import { applicatieFromApi, auditFromApi, documentFromApi, fromApi, uuidIn } from './shape.ts'

const PAGE_SIZE = 500
/** A page that takes longer is followed by smaller ones: its users wait for that source too. */
const SLOW_MS = 10_000
const SMALLER = 5
const SMALLEST = 20
/** Objects of which the parts are asked for, to foretell how long all of them take. */
const SAMPLE = 13
const BELOW_AT_ONCE = 4
const PARENTS = 50
/** The most pages and versions that we believe a source to have. */
const MAX_PAGES = 1_000_000
const MAX_VERSIONS = 10_000
/** Before a page that failed is asked in smaller ones. */
const RETRY_MS = 1000
/** The position after the last page. */
const TALLY = 'telling:'
/** How often a list is read in one round, when what it showed is less than what it counts. */
const MOST_PASSES = 3

/** The client may not read everything: lists would silently lack rows. */
export class TooFewRights extends Error {
  override name = 'TooFewRights'
}

type Options = {
  url: string
  via?: string | undefined
  roots?: Roots | undefined
  tokenUrl?: string | undefined
  clientId: string
  secret: string
  naast: number
  tempo?: number | undefined
  /** What hangs below objects is read of all, and not only of those that changed. */
  alles?: boolean | undefined
  /** After how long a page is slow. */
  slowMs?: number
  /** Our database: what changed in this round is read from it. */
  sql: postgres.Sql
  takeover: { id: number; proefSchema?: string | undefined }
}

/** Reads another service of the standard through its APIs. Its connections stay open until `close`. */
export function apiSource(options: Options): Source {
  const client = apiClient({ ...options, connections: options.naast * BELOW_AT_ONCE })

  async function page(
    one: ListOf,
    query: string,
    number: number,
  ): Promise<{ status: number; results: Json[]; next: boolean }> {
    const parameters = [query, `page=${number}`].filter(Boolean).join('&')
    const { status, body } = await client.get(`${one.path}?${parameters}`)
    const { results = [], next = null } = (body ?? {}) as { results?: Json[]; next?: string | null }
    if (Array.isArray(body)) return { status, results: body as Json[], next: false } // not paged there
    return { status, results, next: next !== null }
  }

  /** One object that cannot be shown, or a source that shows nothing at the moment? */
  async function requireAnswers(fault: string): Promise<void> {
    const { status } = await client.get(`${PATHS.catalogus}?page=1`)
    if (status !== 200) throw new SourceUnavailable(fault)
  }

  /** How the list is asked for, and its last page. Not every service takes every parameter. */
  async function measure(
    one: ListOf,
  ): Promise<{ query: string; last: number; size: number; count: number; ms: number } | undefined> {
    const sized = [one.query, `pageSize=${PAGE_SIZE}`].filter(Boolean).join('&')
    for (const query of [sized, one.query ?? '', '']) {
      const parameters = [query, 'page=1'].filter(Boolean).join('&')
      const begun = performance.now()
      const { status, body } = await client.get(`${one.path}?${parameters}`)
      const ms = performance.now() - begun
      if (status === 400) continue
      if (status === 404) return undefined
      if (status === 403) throw new TooFewRights(`the client may not read ${one.path}`)
      const isSized = query.includes('pageSize=')
      if (Array.isArray(body))
        return { query, last: 1, size: isSized ? PAGE_SIZE : Math.max(1, body.length), count: body.length, ms }
      const { results = [], next = null, ...rest } = (body ?? {}) as { results?: Json[]; next?: string; count?: number }
      // One row of the first page cannot be shown: how many there are, a smaller page tells.
      const count = status === 500 ? await countOf(one) : (rest.count ?? results.length)
      if (status === 500) return { query, last: Math.ceil(count / PAGE_SIZE) || 1, size: PAGE_SIZE, count, ms }
      if (next === null) return { query, last: 1, size: isSized ? PAGE_SIZE : Math.max(1, results.length), count, ms }
      let last = Math.max(2, Math.ceil(count / results.length))
      // A count may be a lower bound; a source that always names a next page has no last one.
      while ((await page(one, query, last)).next)
        if (++last > MAX_PAGES) throw new SourceUnavailable(`pages of ${one.path}`)
      return { query, last, size: results.length, count, ms }
    }
    return undefined
  }

  /**
   * How many rows the source says that there are, by the smallest pages: a row that cannot be shown fails its own only.
   * @throws SourceUnavailable when none of them says so
   */
  async function countOf(one: ListOf): Promise<number> {
    let last = 0
    for (const size of ['pageSize=25', 'pageSize=5', 'pageSize=1', ''])
      for (const number of [1, 2, 3]) {
        const parameters = [one.query, size, `page=${number}`].filter(Boolean).join('&')
        const { status, body } = await client.get(`${one.path}?${parameters}`)
        if (Array.isArray(body)) return body.length
        const { count } = (body ?? {}) as { count?: unknown }
        if (status === 200 && typeof count === 'number') return count
        last = status
        if (status === 400) break
      }
    throw new SourceUnavailable(`${last} for the count of ${one.path}`)
  }

  /** The rows of a page. A row that the source cannot show fails its page: then smaller pages find it. */
  async function pageOrRows(
    one: ListOf,
    query: string,
    number: number,
    size: number,
    faults: Finding[],
  ): Promise<Json[]> {
    let whole = await page(one, query, number)
    if (whole.status >= 500) {
      await sleep(RETRY_MS)
      whole = await page(one, query, number)
    }
    if (whole.status === 200) return whole.results
    if (whole.status === 404) return [] // rows went away, and the page with them
    if (whole.status !== 500) throw new SourceUnavailable(`${whole.status} for ${one.path}`)
    await requireAnswers(`${whole.status} for ${one.path}`)
    const lose = (key: string, text: string) =>
      faults.push({ kind: one.name, key, outcome: 'geweigerd', code: 'bron-fout', text })
    if (!query.includes('pageSize=')) {
      lose(`bladzijde ${number}`, `De bron kan bladzijde ${number} van de lijst niet tonen, en geeft geen kleinere.`)
      return []
    }
    const past = await rowsPast(
      (at, of) => page(one, query.replace(/pageSize=\d+/, `pageSize=${of}`), at),
      number,
      size,
    )
    if (past?.other !== undefined) throw new SourceUnavailable(`${past.other} for ${one.path}`)
    for (const { place, status, before, after } of past?.lost ?? []) {
      const beside = [before, after].flatMap((url) => (url ? [uuidIn(url)] : [])).join(' en ')
      lose(
        `rij ${place}`,
        `De bron kan deze rij van de lijst niet tonen (${status})${beside && `; zij staat naast ${beside}`}.`,
      )
    }
    return past?.rows ?? []
  }

  /** How many of a list this round saw, or knows why not. */
  async function seenOf(one: ListOf, round: number): Promise<number> {
    const { id, proefSchema } = options.takeover
    const { sql } = options
    const [objects, postponed] = ['takeover_object', 'takeover_postponed'].map((table) =>
      proefSchema ? sql`${sql(proefSchema)}.${sql(table)}` : sql`${sql(table)}`,
    ) as [postgres.PendingQuery<postgres.Row[]>, postgres.PendingQuery<postgres.Row[]>]
    const kind = one.kinds[0] ?? one.name
    const rows = await sql<{ seen: number }[]>`
      select (select count(*) from ${objects} where takeover_id = ${id} and kind = ${kind} and round = ${round})
        + (select count(*) from ${postponed} where takeover_id = ${id} and kind = ${kind})
        + (select count(distinct key) from takeover_remark r
          where takeover_id = ${id} and kind = ${kind} and outcome = 'geweigerd' and round = ${round}
            and (code = 'uuid-dubbel' or not exists (
              select from ${objects} o
              where o.takeover_id = ${id} and o.kind = ${kind} and o.uuid::text = r.key and o.round = ${round}))) as seen`
    return Number(rows[0]?.seen)
  }

  /** Holds what was read against what the source counts by then. Rows that moved meanwhile are in another page: it is read again. */
  async function tally(one: ListOf, step: Step, pass: number, first: string): Promise<Portion> {
    const [count, seen] = [await countOf(one), await seenOf(one, step.round)]
    if (seen >= count) return { objects: [], next: null }
    if (pass < MOST_PASSES) return { objects: [], next: `${first}:${pass + 1}` }
    const text = `De bron telt er ${count}, en toonde er ${seen}. Laat de bron nakijken, of draai een ronde als er minder wordt gewerkt.`
    return {
      objects: [],
      faults: [{ kind: one.name, key: one.path, outcome: 'geweigerd', code: 'lijst-onvolledig', text }],
      next: null,
    }
  }

  async function readList(one: ListOf, step: Step): Promise<Portion> {
    if (step.above === null)
      return {
        objects: [],
        faults: [
          {
            kind: one.name,
            key: one.path,
            outcome: 'gemarkeerd',
            code: 'lijst-ontbreekt',
            text: 'De bron heeft deze lijst niet: er is niets van overgenomen.',
          },
        ],
        next: null,
      }
    const [firstQuery, firstSize, firstLast] = JSON.parse(step.above) as [string, number, number]
    const begin = `${one.oldestFirst ? 1 : firstLast}:${firstSize}`
    if (step.position?.startsWith(TALLY)) return tally(one, step, Number(step.position.slice(TALLY.length)), begin)
    const [number, size, pass = 1] = (step.position ?? begin).split(':').map(Number) as [number, number, number?]
    const [query, last] = [firstQuery.replace(/pageSize=\d+/, `pageSize=${size}`), firstLast * (firstSize / size)]
    const isDivisible = /pageSize=/.test(query) && size % SMALLER === 0 && size / SMALLER >= SMALLEST
    const faults: Finding[] = []
    const begun = performance.now()
    const rows = await pageOrRows(one, query, number, size, faults).catch((error) => {
      if (isDivisible && error instanceof SourceUnavailable && /TIMEOUT/i.test(error.code)) return undefined
      throw error
    })
    // It does not come to an end with this page: its rows are asked in smaller ones.
    if (!rows) {
      const within = one.oldestFirst ? (number - 1) * SMALLER + 1 : number * SMALLER
      return readList(one, { ...step, position: `${within}:${size / SMALLER}:${pass}` })
    }
    faults.push(...unknownMembers(one, rows))
    // Newest first there: read from the end, so that our keys rise as theirs.
    const ordered = one.oldestFirst ? rows : rows.toReversed()
    const following = one.oldestFirst ? number + 1 : number - 1
    const isSlow = isDivisible && performance.now() - begun > (options.slowMs ?? SLOW_MS)
    const smaller = one.oldestFirst ? (following - 1) * SMALLER + 1 : following * SMALLER
    const position = isSlow ? `${smaller}:${size / SMALLER}:${pass}` : `${following}:${size}:${pass}`
    const end = step.round === 0 ? null : `${TALLY}${pass}` // a comparison counts by itself
    const isLast = following < 1 || following > last
    const ahead = { next: isLast ? end : position, writtenFirst: isLast }
    if (one.name === 'applicatie') return { objects: [], applicaties: ordered.map(applicatieFromApi), faults, ...ahead }
    if (one.name === 'document') return { objects: await documents(ordered, faults), faults, ...ahead }
    const objects = ordered.flatMap((json) => one.kinds.map((kind) => ({ kind, object: fromApi(kind, json) })))
    return { objects, faults, ...ahead }
  }

  /** Documents with all their versions: a list shows the latest only. */
  async function documents(rows: Json[], faults: Finding[]): Promise<{ kind: string; object: Taken }[]> {
    const made = new Map<Json, Taken>()
    await inParallel(rows, BELOW_AT_ONCE, async (latest) => {
      const uuid = uuidIn(latest.url)
      const versions: Json[] = []
      for (let versie = 1; versie < Math.min(Number(latest.versie), MAX_VERSIONS); versie++) {
        const { status, body } = await client.get(`${PATHS.enkelvoudiginformatieobject}/${uuid}?versie=${versie}`)
        if (status === 200) versions.push(body as Json)
        else if (status === 500) {
          await requireAnswers(`${status} for a version of a document`)
          faults.push({
            ...{ kind: 'document', key: uuid, identificatie: String(latest.identificatie ?? '') },
            ...{ outcome: 'geweigerd', code: 'bron-fout', field: `versie ${versie}` },
            text: `De bron kan deze versie niet tonen (${status}); het document is zonder haar overgenomen.`,
          })
        } else if (status !== 404) throw new SourceUnavailable(`${status} for a version of a document`)
      }
      if (latest.locked === true && !(latest.bestandsdelen as Json[] | undefined)?.length)
        faults.push({
          kind: 'document',
          key: uuid,
          identificatie: String(latest.identificatie ?? ''),
          outcome: 'gemarkeerd',
          code: 'slot-onbekend',
          field: 'lock',
          text: 'Het document is op slot; de bron toont het slot niet. Het is zonder slot overgenomen.',
        })
      made.set(latest, documentFromApi([...versions, latest]))
    })
    return rows.map((row) => ({ kind: 'document', object: expected(made.get(row)) }))
  }

  async function readBelow(name: string, step: Step): Promise<Portion> {
    const { of, audit: trail, lists } = expected(BELOW[name])
    const { id, proefSchema } = options.takeover
    const table = proefSchema ? options.sql`${options.sql(proefSchema)}.takeover_object` : options.sql`takeover_object`
    const after = step.position ?? '00000000-0000-0000-0000-000000000000'
    // A relation of a document shows in no field of the document.
    const related =
      of === 'document' && !proefSchema
        ? options.sql`union
            select e.uuid from takeover_object o
            join zaakinformatieobject x on x.uuid = o.uuid
            join enkelvoudiginformatieobject e on e.id = x.enkelvoudiginformatieobject_id
            where o.takeover_id = ${id} and o.kind = 'zaakinformatieobject' and o.changed_in = ${step.round} and e.uuid > ${after}
            union
            select e.uuid from takeover_object o
            join besluitinformatieobject x on x.uuid = o.uuid
            join enkelvoudiginformatieobject e on e.id = x.enkelvoudiginformatieobject_id
            where o.takeover_id = ${id} and o.kind = 'besluitinformatieobject' and o.changed_in = ${step.round} and e.uuid > ${after}`
        : options.sql``
    const parents = await options.sql<{ uuid: string }[]>`
      select uuid from ${table}
      where takeover_id = ${id} and kind = ${of} and uuid > ${after}
        and (${options.alles ?? false} or ${step.round} in (0, changed_in) or uuid::text in (
          select key from takeover_remark
          where takeover_id = ${id} and kind = ${of} and code = 'bron-fout' and round < ${step.round}))
      ${related}
      order by uuid limit ${PARENTS}`
    const [audit, complete, faults]: [AuditRow[], NonNullable<Portion['complete']>, Finding[]] = [[], [], []]
    const next = parents.length < PARENTS ? null : lastOf(parents).uuid
    const portion: Portion = { objects: [], audit, complete, faults, next }
    await inParallel([...parents], BELOW_AT_ONCE, async ({ uuid }) => {
      const url = encodeURIComponent(client.urlOf(`${trail}/${uuid}`))
      for (const { kind, path, column } of lists) {
        const { status, body } = await client.get(path(uuid, url))
        const rows = Array.isArray(body) ? body : ((body as { results?: Json[] } | undefined)?.results ?? [])
        if (status === 200) {
          for (const json of rows as Json[])
            portion.objects.push({ kind, object: fromApi(kind, { [of]: uuid, ...json }) })
          complete.push({ kind, parent: uuid, column })
        } else if (status !== 404 && status !== 400)
          faults.push({
            ...{ kind: of, key: uuid, owner: uuid },
            outcome: 'geweigerd',
            code: 'bron-fout',
            field: kind,
            text: `De bron kan de lijst onder dit object niet tonen (${status}).`,
          })
      }
      const { status, body } = await client.get(`${trail}/${uuid}/audittrail`)
      if (status === 200 && Array.isArray(body)) for (const json of body as Json[]) audit.push(auditFromApi(json))
      else if (status !== 404)
        faults.push({
          ...{ kind: of, key: uuid, owner: uuid },
          outcome: 'geweigerd',
          code: 'bron-fout',
          field: 'audittrail',
          text: `De bron kan de audittrail van dit object niet tonen (${status}).`,
        })
    })
    return portion
  }

  /** How long the lists below one object take of so many side by side, and of a document a download of its bytes. */
  async function secondsBelow(name: string): Promise<number> {
    const { of, audit: trail, lists } = expected(BELOW[name])
    const list = expected(LISTS.flat().find((one) => one.kinds.includes(of)))
    let rows: Json[] = []
    // One row that cannot be shown fails its page.
    for (let number = 1; number <= 3 && rows.length === 0; number++)
      rows = (await page(list, `pageSize=${SAMPLE}`, number)).results
    const [first, ...sample] = rows.slice(0, SAMPLE)
    const all = async ({ url }: Json) => {
      const uuid = uuidIn(url)
      for (const { path } of lists) await client.get(path(uuid, encodeURIComponent(String(url))))
      await client.get(`${trail}/${uuid}/audittrail`)
      if (of !== 'document') return
      const bytes = await client.download(`${trail}/${uuid}/download`).catch(() => undefined)
      ;(bytes?.stream as Readable | undefined)?.on('error', () => {}).destroy() // what is not read is an error of its own
    }
    // The first of a sort is slow at many a service. The others are asked as a round asks them.
    if (first) await all(first)
    const begun = performance.now()
    await inParallel(sample, BELOW_AT_ONCE, all)
    return sample.length === 0 ? 0 : (performance.now() - begun) / 1000 / sample.length
  }

  /** Whether the source still has this list. If it does not, a 404 for one of its objects does not say that the object is gone. */
  const offered = new Map<string, boolean>()
  async function offers(one: ListOf): Promise<boolean> {
    const known = offered.get(one.path) ?? (await client.get(`${one.path}?page=1`)).status !== 404
    offered.set(one.path, known)
    return known
  }

  return {
    suggestedUrls: [],
    swept: [...listOf.values()].flatMap(({ kinds }) => kinds),
    async contents(path) {
      try {
        return await client.download(`${PATHS.enkelvoudiginformatieobject}/${path}`)
      } catch (error) {
        if (error instanceof UnreadableContents) await requireAnswers(error.code)
        throw error
      }
    },

    async plan(round) {
      const counts = new Map<string, number>()
      const consumer = await client.get(`${PATHS.applicatie}/consumer?clientId=${encodeURIComponent(options.clientId)}`)
      if (
        consumer.status === 403 ||
        (consumer.status === 200 && (consumer.body as Json).heeftAlleAutorisaties !== true)
      )
        throw new TooFewRights('the client needs heeftAlleAutorisaties: with less, lists lack rows without saying so')
      const steps: StepPlan[] = []
      for (const [phase, lists] of LISTS.entries())
        for (const one of lists) {
          const measured = await measure(one)
          if (!measured) {
            steps.push({ phase, name: one.name, expected: 0 })
            continue
          }
          const { query, size, last, count, ms } = measured
          const seconds = (last * ms) / 1000
          steps.push({ phase, name: one.name, above: JSON.stringify([query, size, last]), expected: count, seconds })
          counts.set(one.name, count)
        }
      for (const [name, phase] of [
        ['zaakdelen', LISTS.length],
        ['besluitdelen', LISTS.length],
        ['documentdelen', LISTS.length + 1],
      ] as const) {
        // Later rounds ask below what changed, which nobody knows beforehand.
        const all = round > 1 && !options.alles ? 0 : (counts.get(BELOW[name]?.of ?? '') ?? 0)
        const seconds = all > 0 ? all * (await secondsBelow(name)) : 0
        steps.push({ phase, name, expected: all * (BELOW[name]?.lists.length ?? 0), seconds })
      }
      return steps
    },

    /** By the highest number of the latest year: not every service sorts, and none shows what it has reserved. */
    async numbers() {
      const latest = async (path: string, prefix: string) => {
        const { body } = await client.get(`${path}?ordering=-identificatie&pageSize=1`)
        const { results = [] } = (body ?? {}) as { results?: Json[] }
        const found = /^([A-Z]+)-(\d{4})-(\d{10,15})$/.exec(String(results[0]?.identificatie ?? ''))
        return found?.[1] === prefix ? { year: String(found[2]), number: Number(found[3]) } : undefined
      }
      const zaak = await latest(PATHS.zaak, 'ZAAK')
      const document = await latest(PATHS.enkelvoudiginformatieobject, 'DOCUMENT')
      return { zaak: zaak ? { [zaak.year]: zaak.number } : {}, document: document?.number ?? 0, besluit: 0 }
    },

    async read(step) {
      const one = listOf.get(step.name)
      return one ? readList(one, step) : readBelow(step.name, step)
    },

    async counts() {
      const counts = new Map<string, number>()
      for (const one of LISTS.flat()) if (await offers(one)) counts.set(one.kinds[0] ?? one.name, await countOf(one))
      return counts
    },

    /** A row that moved while a list was read is in no page: only what the source denies is gone. */
    async isGone(kind, uuid) {
      const one = LISTS.flat().find(({ kinds, name }) => name === kind || kinds.includes(kind))
      if (!one) return true
      const { status } = await client.get(`${one.path}/${uuid}`)
      return (status === 404 || status === 410) && (await offers(one))
    },

    close: () => client.close(),
  }
}
