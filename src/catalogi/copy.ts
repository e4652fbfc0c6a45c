// Copies of a type: a next version of it, or another type like it, in the same catalogue or in another.
import { sql } from 'kysely'
import type { ReadDb } from '../database/database.ts'
import type { Mutation } from '../database/mutate.ts'
import { readInput } from '../http/input.ts'
import { link, type Resource } from '../http/links.ts'
import { notFound } from '../http/problem.ts'
import { BesluittypeInput, createBesluittype } from './besluittypen.ts'
import { loadResources } from './expand.ts'
import { createInformatieobjecttype, InformatieobjecttypeInput } from './informatieobjecttypen.ts'
import { createEigenschap, EigenschapInput } from './zaaktype/eigenschappen.ts'
import { ZaaktypeInput } from './zaaktype/read.ts'
import { type Bronnen, createResultaattype, ResultaattypeInput } from './zaaktype/resultaattypen.ts'
import { createRoltype, RoltypeInput } from './zaaktype/roltypen.ts'
import { createZaaktype } from './zaaktype/routes.ts'
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
  const moves =
    options.catalogusUuid !== undefined && link(base, 'catalogus', options.catalogusUuid) !== source.catalogus
  const catalogus = moves ? link(base, 'catalogus', options.catalogusUuid!) : String(source.catalogus)
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
  /** The type that takes the place of one that is named. */
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
const asStored = (item: Item): Bronnen => ({
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

/** What the copy relates to: the same types, or those of that name in the other catalogue, made there where there is none. */
async function relationsFor(m: Mutation, source: Item, catalogus: string, moves: boolean): Promise<Relations> {
  const gerelateerd = source.gerelateerdeZaaktypen as (Record<string, unknown> & { zaaktype: string })[]
  const deel = source.deelzaaktypen as string[]
  const replaced = new Map<unknown, string>()
  const one = (url: unknown) => replaced.get(url) ?? String(url)
  const all = (member: string, item: Item) => ((item[member] ?? []) as string[]).map(one)
  if (!moves) return { one, all, deelzaaktypen: deel, gerelateerdeZaaktypen: gerelateerd, along: [], dropped: [] }
  const along: string[] = []
  const dropped: string[] = []
  const { base } = m.actor
  const resultaattypen = (await loadResources(
    'resultaattype',
    m.read,
    base,
    (source.resultaattypen as string[]).map(uuidOf),
    null,
  )) as Item[]
  const wanted = (member: string) => [
    ...new Set([source, ...resultaattypen].flatMap((item) => (item[member] ?? []) as string[])),
  ]
  const besluittypen = (await loadResources(
    'besluittype',
    m.read,
    base,
    wanted('besluittypen').map(uuidOf),
    null,
  )) as Item[]
  const documenten = [
    ...new Set([
      ...wanted('informatieobjecttypen'),
      ...besluittypen.flatMap((item) => item.informatieobjecttypen as string[]),
    ]),
  ]
  for (const item of (await loadResources(
    'informatieobjecttype',
    m.read,
    base,
    documenten.map(uuidOf),
    null,
  )) as Item[]) {
    const found = await sameName(m.read, base, 'informatieobjecttype', String(item.omschrijving), catalogus)
    if (!found) along.push(String(item.omschrijving))
    const input = () => readInput(InformatieobjecttypeInput, { ...item, catalogus, eindeGeldigheid: null })
    replaced.set(item.url, found ?? (await createInformatieobjecttype(m, input())).url)
  }
  for (const item of besluittypen) {
    const found = await sameName(m.read, base, 'besluittype', String(item.omschrijving), catalogus)
    if (!found) along.push(String(item.omschrijving))
    const input = () =>
      readInput(BesluittypeInput, {
        ...item,
        catalogus,
        eindeGeldigheid: null,
        informatieobjecttypen: all('informatieobjecttypen', item),
      })
    replaced.set(item.url, found ?? (await createBesluittype(m, input())).url)
  }
  const keep = async (url: string) => {
    const [type] = (await loadResources('zaaktype', m.read, base, [uuidOf(url)], null)) as Item[]
    const found = type && (await sameName(m.read, base, 'zaaktype', String(type.identificatie), catalogus))
    if (!found) dropped.push(String(type?.identificatie ?? url))
    return found
  }
  const deelzaaktypen: string[] = []
  for (const url of deel) {
    const found = await keep(url)
    if (found) deelzaaktypen.push(found)
  }
  const gerelateerdeZaaktypen: Record<string, unknown>[] = []
  for (const item of gerelateerd) {
    const found = item.zaaktype.startsWith(`${base}/`) ? await keep(item.zaaktype) : item.zaaktype
    if (found) gerelateerdeZaaktypen.push({ ...item, zaaktype: found })
  }
  return { one, all, deelzaaktypen, gerelateerdeZaaktypen, along, dropped }
}

/** The newest version of that name in a catalogue, a published one first. */
async function sameName(
  db: ReadDb,
  base: string,
  type: 'informatieobjecttype' | 'besluittype' | 'zaaktype',
  name: string,
  catalogus: string,
): Promise<string | undefined> {
  const key = sql.raw(type === 'zaaktype' ? 'identificatie' : 'omschrijving')
  const { rows } = await sql<{ uuid: string }>`
    select t.uuid from ${sql.table(type)} t join catalogus c on c.id = t.catalogus_id
    where c.uuid = ${uuidOf(catalogus)} and t.${key} = ${name} and t.${key} <> ''
    order by t.concept, t.begin_geldigheid desc, t.id desc limit 1`.execute(db as never)
  return rows[0] && link(base, type, rows[0].uuid)
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
    broncatalogus: { url: catalogus!.url, domein: catalogus!.domein, rsin: catalogus!.rsin },
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
  const next = { ...source, beginGeldigheid, eindeGeldigheid: null }
  const made =
    type === 'besluittype'
      ? await createBesluittype(m, readInput(BesluittypeInput, next))
      : await createInformatieobjecttype(m, readInput(InformatieobjecttypeInput, next))
  return { url: made.url, omschrijving: made.omschrijving ?? '' }
}

const uuidOf = (url: string) => url.split('/').at(-1)!
