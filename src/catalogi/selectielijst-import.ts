// A selectielijst out of files, into the database: all of it or nothing, instead of what was there.

import type { Mutation } from '../core/mutate.ts'
import { jsonOf } from '../database/driver-values.ts'
import { inDays, isDuration, MAX_YEARS } from '../http/duration.ts'
import { collectResources, type Kind, missingMembers, PATHS } from './selectielijst.ts'

export type Item = { url: string; kind: Kind; procestype: string | null; content: object }

/** Why a file is refused: one line for each fault. */
export class SelectielijstRefused extends Error {}

const ORDER: readonly Kind[] = ['ProcesType', 'Resultaat', 'ResultaattypeOmschrijvingGeneriek']
const WAARDERINGEN = ['blijvend_bewaren', 'vernietigen']
const SHOWN = 20

/**
 * The resources in files with answers of the public API: single ones, lists, and pages of them.
 * @param files their names and texts; of a URL that stands there twice the last counts
 * @throws SelectielijstRefused when a text is no JSON, holds nothing, or holds what is no resource of the selectielijst
 */
export function readItems(files: readonly { name: string; text: string }[]): Item[] {
  const items = new Map<string, Item>()
  const faults: string[] = []
  const announced: { name: string; count: number; kind: Kind }[] = []
  for (const { name, text } of files) {
    const body = readJson(name, text, faults)
    if (body === undefined) continue
    const found = collect(name, body, faults)
    if (found?.size === 0)
      faults.push(`${name}: nothing in it has a url; save the answers of the API, such as /resultaten`)
    for (const [url, content] of found ?? []) {
      const item = readItem(url, content)
      if (typeof item === 'string') faults.push(`${name}: ${url}: ${item}`)
      else items.set(url, item)
    }
    const { count, results } = body as { count?: unknown; results?: unknown }
    const [first] = Array.isArray(results) ? results : []
    const kind = ORDER.find((one) => missingMembers(first ?? null, one).length === 0)
    if (typeof count === 'number' && kind) announced.push({ name, count, kind })
  }
  for (const { name, count, kind } of announced) {
    const there = [...items.values()].filter((item) => item.kind === kind).length
    if (faults.length === 0 && there < count)
      faults.push(`${name}: one page, with ${there} of ${count}: give the files with its other pages too`)
  }
  if (faults.length > SHOWN) faults.splice(SHOWN, faults.length, `and ${faults.length - SHOWN} more`)
  if (faults.length > 0) throw new SelectielijstRefused(faults.join('\n'))
  return [...items.values()]
}

function readJson(name: string, text: string, faults: string[]): object | undefined {
  try {
    const body: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    return body !== null && typeof body === 'object' ? body : {}
  } catch (error) {
    faults.push(`${name}: is no JSON (${(error as Error).message.slice(0, 200)})`)
    return undefined
  }
}

function collect(name: string, body: object, faults: string[]): Map<string, object> | undefined {
  try {
    return collectResources(body)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error // too deep for the stack
    faults.push(`${name}: is nested too deep`)
    return undefined
  }
}

/** What a resource is, or why it is none. */
function readItem(url: string, content: object): Item | string {
  const kind =
    ORDER.find((one) => missingMembers(content, one).length === 0) ??
    ORDER.find((one) => url.includes(`/${PATHS[one]}/`))
  if (!kind) return 'is no procestype, resultaat or resultaattypeomschrijving'
  const missing = missingMembers(content, kind)
  if (missing.length > 0) return `a ${kind} has ${missing.join(', ')}, which is not there or of another type`
  if (kind !== 'Resultaat') return { url, kind, procestype: null, content }
  const { procesType, waardering, bewaartermijn } = content as Record<string, unknown>
  if (typeof procesType !== 'string') return 'a Resultaat has procesType, the URL of its procestype'
  if (!WAARDERINGEN.includes(waardering as string)) return `waardering is one of ${WAARDERINGEN.join(', ')}`
  const hasTerm = bewaartermijn !== null && bewaartermijn !== undefined && bewaartermijn !== ''
  if (hasTerm && !(typeof bewaartermijn === 'string' && isDuration(bewaartermijn)))
    return `bewaartermijn ${JSON.stringify(bewaartermijn).slice(0, 50)} is no ISO 8601 duration of at most ${MAX_YEARS.archiving} years`
  return { url, kind, procestype: procesType, content }
}

/** Stores a selectielijst instead of the one that is there. */
export async function saveSelectielijst(
  m: Mutation,
  items: readonly Item[],
  { day, files }: { day: string; files: readonly string[] },
): Promise<void> {
  m.unrecorded('the selectielijst is no resource of ours')
  await m.sql`delete from selectielijst_item`
  for (let from = 0; from < items.length; from += 1000) {
    const rows = items.slice(from, from + 1000)
    await m.sql`insert into selectielijst_item (url, kind, procestype, content)
      select * from jsonb_to_recordset(${jsonOf(m.sql, rows)}) as x(url text, kind text, procestype text, content jsonb)`
  }
  await m.sql`insert into selectielijst_import (day, files) values (${day}, ${files as string[]})
    on conflict (id) do update set day = excluded.day, files = excluded.files, imported_at = excluded.imported_at`
}

/** Removes what was imported. */
export async function deleteSelectielijst(m: Mutation): Promise<number> {
  m.unrecorded('the selectielijst is no resource of ours')
  const gone = await m.sql`delete from selectielijst_item returning 1`
  await m.sql`delete from selectielijst_import`
  return gone.length
}

export type Summary = ReturnType<typeof summarise>

/** What a selectielijst holds, in numbers. */
export function summarise(items: readonly Pick<Item, 'url' | 'kind' | 'procestype' | 'content'>[]) {
  const of = (kind: Kind) => items.filter((item) => item.kind === kind)
  const members = (kind: Kind) => of(kind).map(({ content }) => content as Record<string, unknown>)
  const procestypen = new Set(of('ProcesType').map(({ url }) => url))
  const resultaten = members('Resultaat')
  const terms = resultaten.flatMap(({ bewaartermijn }) => (bewaartermijn ? String(bewaartermijn) : []))
  terms.sort((a, b) => inDays(a) - inDays(b))
  return {
    procestypen: procestypen.size,
    jaren: [...new Set(members('ProcesType').map(({ jaar }) => Number(jaar)))].sort(),
    resultaten: resultaten.length,
    vernietigen: resultaten.filter(({ waardering }) => waardering === 'vernietigen').length,
    blijvendBewaren: resultaten.filter(({ waardering }) => waardering === 'blijvend_bewaren').length,
    zonderTermijn: resultaten.filter((one) => one.waardering === 'vernietigen' && !one.bewaartermijn).length,
    kortsteTermijn: terms[0] ?? null,
    langsteTermijn: terms.at(-1) ?? null,
    onbekendProcestype: of('Resultaat').filter(
      ({ procestype }) => !procestypen.has(String(procestype).replace(/\/$/, '')),
    ).length,
    resultaattypeomschrijvingen: of('ResultaattypeOmschrijvingGeneriek').length,
  }
}
