// Copies of a type: a next version of it, or another type like it, in the same catalogue or in another.
import { sql } from 'kysely'
import type { Mutation } from '../core/mutate.ts'
import { notFound } from '../core/problem.ts'
import type { ReadDb } from '../database/database.ts'
import { readInput } from '../http/input.ts'
import { link, type Resource, uuidOf } from '../http/links.ts'
import { BesluittypeInput, createBesluittype } from './besluittypen.ts'
import { createInformatieobjecttype, InformatieobjecttypeInput } from './informatieobjecttypen.ts'
import { loadResources } from './loaders.ts'
import { ZaaktypeInput } from './zaaktype/columns.ts'
import { createZaaktype } from './zaaktype/create.ts'
import { createEigenschap, EigenschapInput } from './zaaktype/eigenschappen.ts'
import type { Sources } from './zaaktype/resultaattype-selectielijst.ts'
import { createResultaattype, ResultaattypeInput } from './zaaktype/resultaattypen.ts'
import { createRoltype, RoltypeInput } from './zaaktype/roltypen.ts'
import { createStatustype, StatustypeInput } from './zaaktype/statustypen.ts'
import { createZaakobjecttype, ZaakobjecttypeInput } from './zaaktype/zaakobjecttypen.ts'
import {
  createZaaktypeInformatieobjecttype,
  ZaaktypeInformatieobjecttypeInput,
} from './zaaktype/zaaktype-informatieobjecttypen.ts'

type Item = Record<string, unknown> & { url: string }
export type CopyOptions = {
  beginGeldigheid: string
  /** Another catalogue than that of the original. */
  catalogusUuid?: string
  /** Makes another type of it; left out: a version of the same type. */
  identificatie?: string
  omschrijving?: string
}
export type Copied = {
  url: string
  omschrijving: string
  /** Types that were copied along, because the other catalogue had none of that name. */
  along: string[]
  /** Relations with zaaktypen that the other catalogue does not have: left out. */
  dropped: string[]
}

/**
 * Copies a version of a zaaktype with all that is below it, as a concept without an end. What its parts say of each other
 * says it of the copies. The selectielijst is not asked again: what it said is in the original.
 * @throws Problem 404 when there is no such version
 */
export async function copyZaaktype(m: Mutation, uuid: string, options: CopyOptions): Promise<Copied> {
  const { base } = m.actor
  const [source] = (await loadResources('zaaktype', m.read, base, [uuid], null)) as Item[]
  if (!source) throw notFound()
  const asked = options.catalogusUuid
  const catalogus = asked === undefined ? String(source.catalogus) : link(base, 'catalogus', asked)
  const moves = catalogus !== source.catalogus
  const relaties = await relationsFor(m, source, catalogus, moves)
  const zaaktype = await createZaaktype(
    m,
    readInput(ZaaktypeInput, {
      ...source,
      catalogus,
      ...(options.identificatie !== undefined && { identificatie: options.identificatie }),
      ...(options.omschrijving !== undefined && { omschrijving: options.omschrijving }),
      ...(moves && (await origin(m, source))),
      beginGeldigheid: options.beginGeldigheid,
      eindeGeldigheid: null,
      versiedatum: options.beginGeldigheid,
      besluittypen: relaties.all('besluittypen', source),
      deelzaaktypen: relaties.deelzaaktypen,
      gerelateerdeZaaktypen: relaties.gerelateerdeZaaktypen,
    }),
  )
  await copyParts(m, uuid, source, zaaktype.url, relaties)
  return { url: zaaktype.url, omschrijving: zaaktype.omschrijving, along: relaties.along, dropped: relaties.dropped }
}

type Relations = {
  /** The name of a type that the original relates to; the copy relates to whatever version of it counts. */
  one(url: unknown): string
  all(member: string, item: Item): string[]
  deelzaaktypen: string[]
  gerelateerdeZaaktypen: Record<string, unknown>[]
  along: string[]
  dropped: string[]
}

async function copyParts(
  m: Mutation,
  uuid: string,
  source: Item,
  zaaktype: string,
  relaties: Relations,
): Promise<void> {
  const { base } = m.actor
  const statussen = new Map<unknown, string>()
  const load = async (resource: Resource, urls: unknown) => {
    const order = (urls as string[]).map(uuidOf)
    const found = (await loadResources(resource, m.read, base, order, null)) as Item[]
    return found.toSorted((a, b) => order.indexOf(uuidOf(a.url)) - order.indexOf(uuidOf(b.url)))
  }
  const below = { zaaktype, catalogus: undefined, beginGeldigheid: null, eindeGeldigheid: null }
  const status = (item: Item) => (item.statustype ? (statussen.get(item.statustype) ?? null) : null)
  for (const item of await load('statustype', source.statustypen)) {
    const made = await createStatustype(m, readInput(StatustypeInput, { ...item, ...below }))
    statussen.set(item.url, made.url)
  }
  for (const item of await load('eigenschap', source.eigenschappen))
    await createEigenschap(m, readInput(EigenschapInput, { ...item, ...below, statustype: status(item) }))
  for (const item of await load('zaakobjecttype', source.zaakobjecttypen))
    await createZaakobjecttype(m, readInput(ZaakobjecttypeInput, { ...item, ...below, statustype: status(item) }))
  for (const item of await load('roltype', source.roltypen))
    await createRoltype(m, readInput(RoltypeInput, { ...item, ...below }))
  for (const item of await load('zaaktypeinformatieobjecttype', await ziotUrls(m.read, base, uuid)))
    await createZaaktypeInformatieobjecttype(
      m,
      readInput(ZaaktypeInformatieobjecttypeInput, {
        ...item,
        zaaktype,
        informatieobjecttype: relaties.one(item.informatieobjecttype),
        statustype: status(item),
      }),
    )
  for (const item of await load('resultaattype', source.resultaattypen)) {
    const input = readInput(ResultaattypeInput, {
      ...item,
      ...below,
      besluittypen: relaties.all('besluittypen', item),
      informatieobjecttypen: relaties.all('informatieobjecttypen', item),
    })
    await createResultaattype(m, input, asStored(item))
  }
}

/** The original was checked against the selectielijst; its generic name goes along. */
const asStored = (item: Item): Sources => ({
  omschrijving: { kind: 'ok', body: { omschrijving: item.omschrijvingGeneriek } },
  klasse: { kind: 'unverified' },
})

async function ziotUrls(db: ReadDb, base: string, uuid: string): Promise<string[]> {
  const rows = await db
    .selectFrom('zaaktypeInformatieobjecttype as t')
    .innerJoin('zaaktype as z', 'z.id', 't.zaaktypeId')
    .where('z.uuid', '=', uuid)
    .select('t.uuid')
    .orderBy('t.volgnummer')
    .execute()
  return rows.map((row) => link(base, 'zaaktypeinformatieobjecttype', row.uuid))
}

/** What the copy relates to, by name; what another catalogue does not have of that name is made there. */
async function relationsFor(m: Mutation, source: Item, catalogus: string, moves: boolean): Promise<Relations> {
  const { base } = m.actor
  const load = async (type: 'resultaattype' | 'besluittype' | 'informatieobjecttype' | 'zaaktype', urls: string[]) =>
    (await loadResources(type, m.read, base, [...new Set(urls)].map(uuidOf), null)) as Item[]
  const resultaattypen = await load('resultaattype', source.resultaattypen as string[])
  const wanted = (member: string, items: Item[]) => items.flatMap((item) => (item[member] ?? []) as string[])
  const besluittypen = await load('besluittype', wanted('besluittypen', [source, ...resultaattypen]))
  const documenttypen = await load(
    'informatieobjecttype',
    wanted('informatieobjecttypen', [source, ...resultaattypen, ...besluittypen]),
  )
  const names = new Map<unknown, string>()
  for (const { url, omschrijving } of [...besluittypen, ...documenttypen]) names.set(url, String(omschrijving || url))
  const one = (url: unknown) => names.get(url) ?? String(url)
  const all = (member: string, item: Item) => [...new Set(((item[member] ?? []) as string[]).map(one))]
  const deelzaaktypen = source.deelzaaktypeIdentificaties as string[]
  const gerelateerd = source.gerelateerdeZaaktypen as { zaaktype: string; zaaktypeIdentificatie: string }[]
  const byName = gerelateerd.map((item) => ({ ...item, zaaktype: item.zaaktypeIdentificatie || item.zaaktype }))
  if (!moves) return { one, all, deelzaaktypen, gerelateerdeZaaktypen: byName, along: [], dropped: [] }

  const along: string[] = []
  const made = new Set<string>()
  const lacks = async (type: 'besluittype' | 'informatieobjecttype', name: string) => {
    if (made.has(`${type} ${name}`) || (await isThere(m.read, type, name, catalogus))) return false
    made.add(`${type} ${name}`)
    along.push(name)
    return true
  }
  for (const item of documenttypen)
    if (await lacks('informatieobjecttype', String(item.omschrijving)))
      await createInformatieobjecttype(
        m,
        readInput(InformatieobjecttypeInput, { ...item, catalogus, eindeGeldigheid: null }),
      )
  for (const item of besluittypen)
    if (await lacks('besluittype', String(item.omschrijving)))
      await createBesluittype(
        m,
        readInput(BesluittypeInput, {
          ...item,
          catalogus,
          eindeGeldigheid: null,
          informatieobjecttypen: all('informatieobjecttypen', item),
        }),
      )
  const dropped: string[] = []
  const kept = async (name: string) => {
    const there = await isThere(m.read, 'zaaktype', name, catalogus)
    if (!there) dropped.push(name)
    return there
  }
  const own = { deelzaaktypen: [] as string[], gerelateerdeZaaktypen: [] as Record<string, unknown>[] }
  for (const name of deelzaaktypen) if (await kept(name)) own.deelzaaktypen.push(name)
  for (const item of byName)
    if (item.zaaktypeIdentificatie === '' || (await kept(item.zaaktype))) own.gerelateerdeZaaktypen.push(item)
  return { one, all, ...own, along, dropped }
}

async function isThere(
  db: ReadDb,
  type: 'informatieobjecttype' | 'besluittype' | 'zaaktype',
  name: string,
  catalogus: string,
): Promise<boolean> {
  const key = sql.raw(type === 'zaaktype' ? 'identificatie' : 'omschrijving')
  const { rows } = await sql`
    select 1 from ${sql.table(type)} t join catalogus c on c.id = t.catalogus_id
    where c.uuid = ${uuidOf(catalogus)} and t.${key} = ${name} limit 1`.execute(db)
  return rows.length > 0
}

/** Where a copy in another catalogue came from. */
async function origin(m: Mutation, source: Item) {
  const [catalogus] = (await loadResources(
    'catalogus',
    m.read,
    m.actor.base,
    [uuidOf(String(source.catalogus))],
    null,
  )) as Item[]
  return {
    broncatalogus: { url: catalogus?.url, domein: catalogus?.domein, rsin: catalogus?.rsin },
    bronzaaktype: { url: source.url, identificatie: source.identificatie, omschrijving: source.omschrijving },
  }
}

/** A next version of a document type or a type of decision, as a concept without an end. @throws Problem 404 */
export async function copyType(
  m: Mutation,
  type: 'informatieobjecttype' | 'besluittype',
  uuid: string,
  beginGeldigheid: string,
): Promise<{ url: string; omschrijving: string }> {
  const [source] = (await loadResources(type, m.read, m.actor.base, [uuid], null)) as Item[]
  if (!source) throw notFound()
  const names = source.informatieobjecttypeOmschrijvingen as string[] | undefined
  const next = { ...source, beginGeldigheid, eindeGeldigheid: null, ...(names && { informatieobjecttypen: names }) }
  const made =
    type === 'besluittype'
      ? await createBesluittype(m, readInput(BesluittypeInput, next))
      : await createInformatieobjecttype(m, readInput(InformatieobjecttypeInput, next))
  return { url: made.url, omschrijving: made.omschrijving ?? '' }
}
