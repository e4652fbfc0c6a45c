// A catalogue, or one zaaktype, as a ZIP: one JSON file per kind of type at its root, as other services for these APIs write
// and read them. Names and members are those of the API in snake_case; URLs begin with the address of who wrote it.
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { setImmediate as breathe } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import type { Static, TObject } from 'typebox'
import { ZipFile } from 'yazl'
import type { ReadDb } from '../database/database.ts'
import type { Mutate, Mutation } from '../database/mutate.ts'
import type { Actor } from '../http/actor.ts'
import { readInput, snakeCase } from '../http/input.ts'
import { LIMITS } from '../http/limits.ts'
import { link, PATHS, type Resource } from '../http/links.ts'
import { type InvalidParam, toProblem } from '../http/problem.ts'
import { BesluittypeInput, createBesluittype } from './besluittypen.ts'
import { CatalogusInput, createCatalogus } from './catalogussen.ts'
import { loadResources } from './expand.ts'
import { changedMembers, type ImportChange } from './import-report.ts'
import { createInformatieobjecttype, InformatieobjecttypeInput } from './informatieobjecttypen.ts'
import type { PackageItem as Item, PackageOrder, PackageReply } from './package-thread.ts'
import { type Hoofdtype, SLEUTEL } from './rules.ts'
import type { Selectielijst } from './selectielijst.ts'
import { createEigenschap, EigenschapInput } from './zaaktype/eigenschappen.ts'
import { ZaaktypeInput } from './zaaktype/read.ts'
import { setZaaktypeRelaties } from './zaaktype/relations.ts'
import { askSelectielijst, type Bronnen, createResultaattype, ResultaattypeInput } from './zaaktype/resultaattypen.ts'
import { createRoltype, RoltypeInput } from './zaaktype/roltypen.ts'
import { createZaaktype, procestypeFaults } from './zaaktype/routes.ts'
import { createStatustype, StatustypeInput } from './zaaktype/statustypen.ts'
import { createZaakobjecttype, ZaakobjecttypeInput } from './zaaktype/zaakobjecttypen.ts'
import {
  createZaaktypeInformatieobjecttype,
  ZaaktypeInformatieobjecttypeInput,
} from './zaaktype/zaaktype-informatieobjecttypen.ts'

/** Files in the order in which they are read back: what is referred to comes first. */
const FILES = {
  Catalogus: 'catalogus',
  InformatieObjectType: 'informatieobjecttype',
  BesluitType: 'besluittype',
  ZaakType: 'zaaktype',
  StatusType: 'statustype',
  ZaakTypeInformatieObjectType: 'zaaktypeinformatieobjecttype',
  ResultaatType: 'resultaattype',
  RolType: 'roltype',
  Eigenschap: 'eigenschap',
  ZaakObjectType: 'zaakobjecttype',
} as const
type Name = keyof typeof FILES
const NAMES = Object.keys(FILES) as Name[]

/** What a ZIP holds: resources by kind, with camelCase or snake_case names. */
export type Package = Map<Name, Item[]>

/** The ZIP cannot be read, or what is in it cannot be taken. `faults` names what and why. */
export class PackageFault extends Error {
  faults: InvalidParam[]
  constructor(message: string, faults: InvalidParam[] = []) {
    super([message, ...faults.map(({ name, reason }) => `  ${name}: ${reason}`)].join('\n'))
    this.faults = faults
  }
}

// ---- export ----

/**
 * A catalogue with all versions of all types in it, as a stream: it is read while it is written.
 * @param turn waits until the next portion of types may be read
 * @returns undefined when there is no such catalogue
 */
export async function exportCatalogus(
  db: ReadDb,
  base: string,
  uuid: string,
  turn?: () => Promise<void>,
): Promise<Readable | undefined> {
  const catalogus = await db.selectFrom('catalogus').where('uuid', '=', uuid).select('id').executeTakeFirst()
  if (!catalogus) return undefined
  const within = (table: string) =>
    sql`select t.id, t.uuid from ${sql.table(table)} t where t.catalogus_id = ${catalogus.id}`
  const below = (table: string) =>
    sql`select t.id, t.uuid from ${sql.table(table)} t join zaaktype z on z.id = t.zaaktype_id
      where z.catalogus_id = ${catalogus.id}`
  return pack(
    db,
    base,
    {
      Catalogus: [uuid],
      InformatieObjectType: await uuids(db, within('informatieobjecttype')),
      BesluitType: await uuids(db, within('besluittype')),
      ZaakType: await uuids(db, within('zaaktype')),
      StatusType: await uuids(db, below('statustype')),
      ZaakTypeInformatieObjectType: await uuids(db, below('zaaktype_informatieobjecttype')),
      ResultaatType: await uuids(db, below('resultaattype')),
      RolType: await uuids(db, below('roltype')),
      Eigenschap: await uuids(db, below('eigenschap')),
      ZaakObjectType: await uuids(db, below('zaakobjecttype')),
    },
    turn,
  )
}

/** One version of a zaaktype with what is below it and the types it relates to; the rest as `exportCatalogus`. */
export async function exportZaaktype(
  db: ReadDb,
  base: string,
  uuid: string,
  turn?: () => Promise<void>,
): Promise<Readable | undefined> {
  const [zaaktype] = (await loadResources('zaaktype', db, base, [uuid], null)) as (Item & Record<string, string[]>)[]
  if (!zaaktype) return undefined
  const resultaattypen = (await loadResources(
    'resultaattype',
    db,
    base,
    uuidsIn(zaaktype.resultaattypen),
    null,
  )) as Item[]
  const besluituuids = uuidsIn([zaaktype, ...resultaattypen].flatMap((item) => item.besluittypen as string[]))
  const besluittypen = (await loadResources('besluittype', db, base, besluituuids, null)) as Item[]
  const owners = [zaaktype, ...resultaattypen, ...besluittypen]
  return pack(
    db,
    base,
    {
      InformatieObjectType: uuidsIn(owners.flatMap((item) => item.informatieobjecttypen as string[])),
      BesluitType: besluituuids,
      ZaakType: [uuid],
      StatusType: uuidsIn(zaaktype.statustypen),
      ZaakTypeInformatieObjectType: await uuids(
        db,
        sql`select t.id, t.uuid from zaaktype_informatieobjecttype t join zaaktype z on z.id = t.zaaktype_id
        where z.uuid = ${uuid}`,
      ),
      ResultaatType: uuidsIn(zaaktype.resultaattypen),
      RolType: uuidsIn(zaaktype.roltypen),
      Eigenschap: uuidsIn(zaaktype.eigenschappen),
      ZaakObjectType: uuidsIn(zaaktype.zaakobjecttypen),
    },
    turn,
  )
}

const uuidOf = (url: string) => url.split('/').at(-1)!
const uuidsIn = (urls: readonly string[] | undefined) => [...new Set((urls ?? []).map(uuidOf))]

async function uuids(db: ReadDb, query: ReturnType<typeof sql>): Promise<string[]> {
  const { rows } = await sql<{ uuid: string }>`select q.uuid from (${query}) q order by q.id`.execute(db)
  return rows.map(({ uuid }) => uuid)
}

function pack(
  db: ReadDb,
  base: string,
  wanted: Partial<Record<Name, string[]>>,
  turn: () => Promise<void> = breathe,
): Readable {
  const zip = new ZipFile()
  for (const name of NAMES) {
    const order = wanted[name] ?? []
    if (order.length === 0) continue
    zip.addReadStreamLazy(`${name}.json`, (done) => done(null, Readable.from(jsonOf(db, base, name, order, turn))))
  }
  zip.end()
  // Whoever reads it hears what went wrong while it was made.
  const output = zip.outputStream as Readable
  zip.on('error', (error) => output.destroy(error))
  return output
}

/** Resources as a JSON list, in portions of about `LIMITS.portionBytes`. */
async function* jsonOf(db: ReadDb, base: string, name: Name, order: string[], turn: () => Promise<void>) {
  let separator = '[\n'
  for (let [from, limit] = [0, FIRST_PORTION]; from < order.length; ) {
    const portion = order.slice(from, from + limit)
    const found = await loadResources(FILES[name], db, base, portion, null)
    await turn()
    const places = new Map(portion.map((uuid, place) => [uuid, place]))
    found.sort((a, b) => places.get(uuidOf(a.url))! - places.get(uuidOf(b.url))!)
    // The relation is written on the zaaktype.
    const items = name === 'BesluitType' ? found.map((item) => ({ ...item, zaaktypen: [] })) : found
    from += portion.length
    if (items.length === 0) continue // removed meanwhile
    const json = JSON.stringify(snakeKeys(items), null, 1).slice(2, -2)
    yield separator + json
    separator = ',\n'
    limit = Math.max(1, Math.min(LIMITS.portionRows, Math.floor((LIMITS.portionBytes * items.length) / json.length)))
  }
  yield separator === ',\n' ? '\n]' : '[]'
}
const FIRST_PORTION = 10

function camelKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelKeys)
  if (value === null || typeof value !== 'object') return value
  const camel = (key: string) => key.replace(/(?<=[a-z])_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [camel(key), camelKeys(member)]))
}

function snakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeKeys)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [snakeCase(key), snakeKeys(member)]))
}

// ---- import ----

/** JSON of all types together in a ZIP that a page takes. */
export const PAGE_PACKAGE_BYTES = 16 * 1024 * 1024

/**
 * Reads a ZIP, in a thread of its own.
 * @param mostBytes of its JSON, all together
 * @throws PackageFault
 */
export async function readPackage(bytes: Buffer, mostBytes = PAGE_PACKAGE_BYTES): Promise<Package> {
  const pakket: Package = new Map()
  const thread = new Worker(new URL('./package-thread.ts', import.meta.url), {
    workerData: { bytes, names: NAMES, mostBytes } satisfies PackageOrder,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 64 + (8 * mostBytes) / 1024 / 1024, maxYoungGenerationSizeMb: 8 },
  })
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {}) // whoever waits hears of it
  thread.on('error', (error: { code?: string }) =>
    failed.reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new PackageFault('het bestand is te groot') : error),
  )
  try {
    for (;;) {
      const said = Promise.withResolvers<PackageReply>()
      thread.once('message', said.resolve)
      thread.postMessage('next')
      const reply = await Promise.race([said.promise, failed.promise])
      await breathe()
      if ('fault' in reply) throw new PackageFault(reply.fault)
      if ('seen' in reply) {
        if (pakket.size > 0) return pakket
        const expected = NAMES.map((name) => `${name}.json`).join(', ')
        throw new PackageFault(`verwacht: ${expected}; gevonden: ${reply.seen.join(', ') || 'niets'}`)
      }
      const there = pakket.get(reply.name as Name) ?? []
      pakket.set(reply.name as Name, there)
      there.push(...reply.items)
    }
  } finally {
    await thread.terminate()
  }
}

export type ImportOptions = {
  /** Keep the uuids of the file; otherwise everything gets a new one. */
  keepUuids?: boolean
  /** The catalogue that takes what is in the file; unset, that of the file is made. */
  catalogusUuid?: string
  /** Put before the identificatie of every zaaktype, with an underscore. */
  identificatiePrefix?: string
  /**
   * Make the informatieobjecttypen and besluittypen of the file, also where the catalogue has one of that name: all of them, or
   * those with these keys (`typeKey`).
   */
  newTypes?: boolean | ReadonlySet<string>
  /** Zaaktypen (`typeKey`) that stay as the catalogue has them; the file gives them no next version. */
  keepZaaktypen?: ReadonlySet<string>
}
/** By what a type of the file is told from the others: its resource, and its identificatie or omschrijving. */
export const typeKey = (resource: Resource, key: string) => `${resource}:${key}`
/** A type of the file that the catalogue has already, under which key, and whether it is used as it is. */
export type Known = { resource: Resource; key: string; omschrijving: string; used: boolean }
export type Imported = {
  made: Partial<Record<Resource, number>>
  /** URLs of the catalogue, or of the zaaktypen when they went into an existing one. */
  urls: string[]
  /** What was changed or left out, object by object. That all arrive as concepts is not told. */
  changes: ImportChange[]
  /** Types of the file that the catalogue had. */
  known: Known[]
}

/**
 * Takes what a ZIP holds over, as concepts, in one transaction: the first thing that cannot be taken undoes all.
 * @throws PackageFault
 */
export async function importPackage(
  mutate: Mutate,
  actor: Actor,
  selectielijst: Selectielijst,
  pakket: Package,
  options: ImportOptions = {},
): Promise<Imported> {
  if (!pakket.has('Catalogus') && !options.catalogusUuid)
    throw new PackageFault('in dit bestand staat geen catalogus: noem er een om het in op te nemen')
  const roots = rootsOf(pakket)
  const moved = await moveTo(actor.base, pakket, roots, options)
  // Into a catalogue that is there: that of the file stays behind.
  if (options.catalogusUuid) moved.delete('Catalogus')
  const bronnen = new Map<string, Bronnen>()
  for (const item of moved.get('ResultaatType') ?? [])
    bronnen.set(item.url, await askSelectielijst(selectielijst, readBody('ResultaatType', ResultaattypeInput, item)))
  const procestypen = new Map<string, InvalidParam[]>()
  for (const item of moved.get('ZaakType') ?? []) {
    const { selectielijstProcestype } = readBody('ZaakType', ZaaktypeInput, item)
    procestypen.set(item.url, await procestypeFaults(selectielijst, selectielijstProcestype))
  }
  const imported = await mutate(actor, async (m) => {
    const written = await writePackage(m, moved, { bronnen, procestypen }, options)
    // A transaction that changes nothing is not kept, so that nothing is recorded of it either.
    if (Object.keys(written.made).length === 0) throw new NothingMade(written)
    return written
  }).catch((error: unknown) => {
    if (error instanceof NothingMade) return error.imported
    throw error
  })
  return { ...imported, changes: imported.changes.map((change) => ({ ...change, given: movedBack(change.given) })) }

  /** As the file says it: addresses are those of who wrote it. */
  function movedBack(given: unknown): unknown {
    if (roots.size !== 1) return given
    return JSON.parse(JSON.stringify(given).replaceAll(ownRoot(actor.base), [...roots][0]!))
  }
}

class NothingMade extends Error {
  imported: Imported
  constructor(imported: Imported) {
    super('everything stays as it is')
    this.imported = imported
  }
}

const ownRoot = (base: string) => `${base}${PATHS.catalogus.slice(0, PATHS.catalogus.lastIndexOf('/') + 1)}`

/** The addresses below which the URLs of the file begin. */
function rootsOf(pakket: Package): Set<string> {
  const roots = new Set<string>()
  for (const [name, items] of pakket) {
    const path = PATHS[FILES[name]]
    const collection = path.slice(path.lastIndexOf('/') + 1)
    for (const { url } of items) {
      const { root, rest } = partsOf(url)
      if (root !== '' && rest.startsWith(`${collection}/`)) roots.add(root)
    }
  }
  return roots
}

/** Where the last two parts of an address begin: a collection and a uuid. */
function partsOf(url: string): { root: string; rest: string } {
  const end = url.lastIndexOf('/', url.lastIndexOf('/') - 1) + 1
  return { root: url.slice(0, end), rest: url.slice(end) }
}

/** The same resources with our address in their URLs, and new uuids unless they are kept. */
async function moveTo(
  base: string,
  pakket: Package,
  roots: ReadonlySet<string>,
  options: ImportOptions,
): Promise<Package> {
  const uuids = new Map<string, string>()
  const own = ownRoot(base)
  const moved = (value: unknown): unknown => {
    if (typeof value === 'string') return movedUrl(value)
    if (Array.isArray(value)) return value.map(moved)
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, moved(member)]))
  }
  const movedUrl = (text: string): string => {
    const { root, rest } = partsOf(text)
    if (!roots.has(root)) return text
    const uuid = uuids.get(text)
    return own + (uuid === undefined ? rest : rest.slice(0, rest.lastIndexOf('/') + 1) + uuid)
  }
  if (!options.keepUuids) for (const items of pakket.values()) for (const { url } of items) uuids.set(url, randomUUID())
  const result: Package = new Map()
  for (const [name, items] of pakket) {
    const there: Item[] = []
    for (const item of items) {
      there.push(moved(item) as Item)
      if (there.length % AT_ONCE === 0) await breathe()
    }
    result.set(name, there)
  }
  return result
}
const AT_ONCE = 50

function readBody<T extends Parameters<typeof readInput>[0]>(name: Name, schema: T, item: Item) {
  return explained(name, item, () => readInput<T>(schema, item))
}

function explained<R>(name: Name, item: Item, work: () => R): R {
  const explain = (error: unknown): never => {
    const label = labelOf(item)
    const { invalidParams } = toProblem(error)
    if (invalidParams) throw new PackageFault(`${name} ${label} kan niet worden opgenomen:`, invalidParams)
    if ((error as { code?: string }).code === '23505')
      throw new PackageFault(`${name} ${label} bestaat hier al met deze uuid: geef alles een nieuwe.`)
    throw error
  }
  try {
    const result = work()
    return result instanceof Promise ? (result.catch(explain) as R) : result
  } catch (error) {
    return explain(error)
  }
}

const labelOf = (item: Item) =>
  String(item.identificatie || item.omschrijving || item.naam || item.domein || uuidOf(item.url)).slice(0, 100)

type Asked = { bronnen: Map<string, Bronnen>; procestypen: Map<string, InvalidParam[]> }

async function writePackage(m: Mutation, pakket: Package, asked: Asked, options: ImportOptions): Promise<Imported> {
  const imported: Imported = { made: {}, urls: [], changes: [], known: [] }
  const { base } = m.actor
  /** Types of the file for which one that exists is used. */
  const existing = new Map<string, string>()
  const own = (item: Item) => ({ uuid: uuidOf(item.url) })
  const catalogus = (name: Name, item: Item) =>
    options.catalogusUuid && WITH_CATALOGUS.has(name)
      ? { ...item, catalogus: link(base, 'catalogus', options.catalogusUuid) }
      : item
  const tell = (name: Name, item: Item, changes: Omit<ImportChange, 'resource' | 'label' | 'url'>[]) => {
    for (const change of changes)
      imported.changes.push({
        resource: FILES[name],
        label: labelOf(item),
        url: existing.get(item.url) ?? item.url,
        ...change,
      })
  }
  const each = async <S extends TObject>(
    name: Name,
    schema: S,
    work: (input: Static<S>, item: Item) => Promise<object>,
  ) => {
    const own = new Set(Object.keys(schema.properties).filter((member) => !LATER.has(member)))
    for (const item of pakket.get(name) ?? []) {
      if (existing.has(item.url) || existing.has(String(item.zaaktype))) continue
      const given = withExisting(catalogus(name, item), existing)
      const made = await explained(name, item, () => work(readInput(schema, given), item))
      tell(name, item, changedMembers(camelKeys(given) as Item, made as Item, own))
      imported.made[FILES[name]] = (imported.made[FILES[name]] ?? 0) + 1
      if (name === (options.catalogusUuid ? 'ZaakType' : 'Catalogus')) imported.urls.push(item.url)
    }
  }
  if (options.catalogusUuid)
    for (const name of ['InformatieObjectType', 'BesluitType', 'ZaakType'] as const)
      for (const item of pakket.get(name) ?? []) {
        const resource = FILES[name]
        const key = keyOf(resource, item, options)
        const found = await findVersion(m, resource, key, item, options.catalogusUuid)
        if (!found) continue
        const { newTypes, keepZaaktypen } = options
        const chosen = typeKey(resource, key)
        const used =
          resource === 'zaaktype'
            ? (keepZaaktypen?.has(chosen) ?? false)
            : !(typeof newTypes === 'object' ? newTypes.has(chosen) : newTypes)
        imported.known.push({ resource, key, omschrijving: String(item.omschrijving ?? ''), used })
        if (!used) continue
        existing.set(item.url, link(base, resource, found))
        tell(name, item, [{ field: 'url', given: item.url, taken: existing.get(item.url) }])
      }
  await each('Catalogus', CatalogusInput, (input, item) => createCatalogus(m, input, own(item)))
  await each('InformatieObjectType', InformatieobjecttypeInput, (input, item) =>
    createInformatieobjecttype(m, input, own(item)),
  )
  await each('BesluitType', BesluittypeInput, (input, item) => createBesluittype(m, input, own(item)))
  await each('ZaakType', ZaaktypeInput, (input, item) => {
    const identificatie = prefixed(input.identificatie ?? '', options)
    const relaties = { identificatie, deelzaaktypen: [], gerelateerdeZaaktypen: [] }
    return createZaaktype(m, { ...input, ...relaties }, asked.procestypen.get(item.url), own(item))
  })
  // Now that all zaaktypen are there, the relations between them.
  for (const item of pakket.get('ZaakType') ?? []) {
    if (existing.has(item.url)) continue
    const input = readInput(ZaaktypeInput, withExisting(catalogus('ZaakType', item), existing))
    const missing = await explained('ZaakType', item, () => setZaaktypeRelaties(m, uuidOf(item.url), input))
    tell(
      'ZaakType',
      item,
      missing.map((relation) => ({ ...relation, taken: null })),
    )
  }
  await each('StatusType', StatustypeInput, (input, item) => createStatustype(m, input, own(item)))
  await each('ZaakTypeInformatieObjectType', ZaaktypeInformatieobjecttypeInput, (input, item) =>
    createZaaktypeInformatieobjecttype(m, input, own(item)),
  )
  await each('ResultaatType', ResultaattypeInput, (input, item) =>
    createResultaattype(m, input, asked.bronnen.get(item.url)!, {
      ...own(item),
      omschrijvingGeneriek: String(item.omschrijving_generiek ?? item.omschrijvingGeneriek ?? '').slice(0, 20),
    }),
  )
  await each('RolType', RoltypeInput, (input, item) => createRoltype(m, input, own(item)))
  await each('Eigenschap', EigenschapInput, (input, item) => createEigenschap(m, input, own(item)))
  await each('ZaakObjectType', ZaakobjecttypeInput, (input, item) => createZaakobjecttype(m, input, own(item)))
  return imported
}

const WITH_CATALOGUS = new Set<Name>(['InformatieObjectType', 'BesluitType', 'ZaakType'])
/** Relations that are set after all zaaktypen were made. */
const LATER = new Set(['deelzaaktypen', 'gerelateerdeZaaktypen'])

const prefixed = (identificatie: string, { identificatiePrefix: prefix }: ImportOptions) =>
  prefix ? `${prefix}_${identificatie}` : identificatie

/** An object of the file with its relations to the types that are used instead of those in the file. */
function withExisting<T extends object>(item: T, existing: Map<string, string>): T {
  const replaced = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(replaced)
      : typeof value === 'string'
        ? (existing.get(value) ?? value)
        : value !== null && typeof value === 'object'
          ? withExisting(value, existing)
          : value
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, replaced(value)])) as T
}

function keyOf(resource: Hoofdtype, item: Item, options: ImportOptions): string {
  const key = String(item[SLEUTEL[resource]] ?? '')
  return resource === 'zaaktype' && key !== '' ? prefixed(key, options) : key
}

/** The version in a catalogue of what a type of the file is called: the one that begins with it, or else last. */
async function findVersion(
  m: Mutation,
  type: Hoofdtype,
  key: string,
  item: Item,
  catalogusUuid: string,
): Promise<string | undefined> {
  const begin = String(item.begin_geldigheid ?? item.beginGeldigheid ?? '')
  const { rows } = await sql<{ uuid: string }>`
    select t.uuid from ${sql.table(type)} t join catalogus c on c.id = t.catalogus_id
    where c.uuid = ${catalogusUuid} and t.${sql.ref(SLEUTEL[type])} = ${key} and ${key} <> ''
    order by t.begin_geldigheid::text = ${begin} desc, t.begin_geldigheid desc, t.id desc limit 1`.execute(m.trx)
  return rows[0]?.uuid
}
