// selectielijst-years: the selectielijst in the database, a year at a time: fetched from its API, compared with what is there, and
// replaced or left out. The years that are there are those that people choose from.
import type { Mutation } from '../core/mutate.ts'
import { jsonOf } from '../database/driver-values.ts'
import type { Services } from '../services/services.ts'
import { allPages, type Kind, missingMembers, PATHS } from './selectielijst.ts'
import { type Item, readItems } from './selectielijst-import.ts'

/** So long may fetching a year take: some thirty lists. */
const FETCH_MS = 60_000

/**
 * All that the API of the selectielijst has of a year: its procestypen with their resultaten, and the generic descriptions.
 * @returns a string: why it could not be fetched, in Dutch
 * @throws SelectielijstRefused when an answer holds what is no part of a selectielijst
 */
export async function fetchYear(services: Services, apiRoot: string, year: number): Promise<Item[] | string> {
  const root = apiRoot.replace(/\/?$/, '/')
  const until = performance.now() + FETCH_MS
  const ask = async (kind: Kind, query = '') => {
    if (performance.now() > until) return 'het ophalen duurde te lang'
    const found = await allPages(services, `${root}${PATHS[kind]}${query}`, () => true, { fresh: true })
    return found.kind === 'ok' ? found.items : found.kind === 'fault' ? found.reason : 'er is geen selectielijst'
  }
  const procestypen = await ask('ProcesType', `?jaar=${year}`)
  if (typeof procestypen === 'string') return procestypen
  const ofYear = procestypen.filter((one) => missingMembers(one, 'ProcesType').length > 0 || Number(one.jaar) === year)
  const all: Record<string, unknown>[] = [...ofYear]
  for (const { url } of ofYear) {
    const resultaten = await ask('Resultaat', `?procesType=${encodeURIComponent(String(url))}`)
    if (typeof resultaten === 'string') return resultaten
    all.push(...resultaten)
  }
  if (ofYear.length === 0) return []
  const omschrijvingen = await ask('ResultaattypeOmschrijvingGeneriek')
  if (typeof omschrijvingen === 'string') return omschrijvingen
  return readItems([{ name: root, text: JSON.stringify([...all, ...omschrijvingen]) }])
}

export type YearChange = {
  kind: Kind
  made: number
  changed: number
  gone: number
}

/**
 * Puts what was fetched of a year in the place of what was there; with nothing it leaves the year out. Generic descriptions are of no
 * year: those that were fetched count, and the others stay.
 * @param day of what was fetched
 * @returns what that changes, and how many zaaktypen and resultaattypen name what is gone
 */
export async function replaceYear(
  m: Mutation,
  year: number,
  items: readonly Item[],
  { day, source }: { day: string; source: string },
): Promise<{ changes: YearChange[]; zaaktypen: number; resultaattypen: number }> {
  m.unrecorded('the selectielijst is no resource of ours')
  await m.sql`select pg_advisory_xact_lock(hashtext('selectielijst'))`
  const before = await m.sql<{ url: string; kind: Kind; content: object }[]>`
    with procestypen as (select url from selectielijst_item where kind = 'ProcesType' and (content->>'jaar') = ${String(year)})
    select i.url, i.kind, i.content from selectielijst_item i
    where i.url in (select url from procestypen) or rtrim(i.procestype, '/') in (select url from procestypen)
      or (i.kind = 'ResultaattypeOmschrijvingGeneriek' and ${items.length > 0})`
  const known = new Map(before.map((item) => [item.url, item]))
  const fetched = new Map(items.map((item) => [item.url, item]))
  const gone = before.filter(({ url }) => !fetched.has(url))
  const changes = (['ProcesType', 'Resultaat', 'ResultaattypeOmschrijvingGeneriek'] as const).map((kind) => ({
    kind,
    made: items.filter((item) => item.kind === kind && !known.has(item.url)).length,
    changed: items.filter((item) => item.kind === kind && isOther(known.get(item.url)?.content, item.content)).length,
    gone: gone.filter((item) => item.kind === kind && item.kind !== 'ResultaattypeOmschrijvingGeneriek').length,
  }))
  const lost = gone.filter(({ kind }) => kind !== 'ResultaattypeOmschrijvingGeneriek').map(({ url }) => url)
  const [used] = await m.sql<[{ zaaktypen: number; resultaattypen: number }]>`
    select (select count(*)::int from zaaktype where rtrim(selectielijst_procestype, '/') = any(${lost}::text[])) as zaaktypen,
      (select count(*)::int from resultaattype where rtrim(selectielijstklasse, '/') = any(${lost}::text[])) as resultaattypen`
  await m.sql`delete from selectielijst_item where url = any(${[...lost, ...fetched.keys()]}::text[])`
  for (let from = 0; from < items.length; from += 1000)
    await m.sql`insert into selectielijst_item (url, kind, procestype, content)
      select * from jsonb_to_recordset(${jsonOf(m.sql, items.slice(from, from + 1000))}) as x(url text, kind text, procestype text, content jsonb)`
  const name = `${source} (${year})`
  await m.sql`insert into selectielijst_import (day, files) values (${day}, ${items.length > 0 ? [name] : []})
    on conflict (id) do update set day = excluded.day, imported_at = excluded.imported_at,
      files = array_remove(selectielijst_import.files, ${name}) || excluded.files`
  return { changes, ...used }
}

/** Whether two resources say something else, in whichever order their members are. */
function isOther(before: object | undefined, after: object): boolean {
  if (before === undefined) return false
  const sorted = (one: object) => JSON.stringify(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
  return sorted(before) !== sorted(after)
}
