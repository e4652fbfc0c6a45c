// Taking over what a package holds.

import { sql } from 'kysely'
import Type, { type Static, type TObject } from 'typebox'
import type { Actor } from '../../core/actor.ts'
import type { MutateWhole, Mutation } from '../../core/mutate.ts'
import { type InvalidParam, toProblem } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { isUniqueViolation } from '../../database/error-codes.ts'
import { expected } from '../../database/rows.ts'
import { readInput } from '../../http/input.ts'
import { link, type Resource, uuidOf } from '../../http/links.ts'
import { BesluittypeInput, createBesluittype } from '../besluittypen.ts'
import { CatalogusInput, createCatalogus } from '../catalogussen.ts'
import { createInformatieobjecttype, InformatieobjecttypeInput } from '../informatieobjecttypen.ts'
import type { Selectielijst } from '../selectielijst.ts'
import { type Hoofdtype, TYPE_KEY } from '../versions.ts'
import { ZaaktypeInput } from '../zaaktype/columns.ts'
import { createZaaktype } from '../zaaktype/create.ts'
import { createEigenschap, EigenschapInput } from '../zaaktype/eigenschappen.ts'
import { setZaaktypeRelations } from '../zaaktype/relations.ts'
import { askSelectielijst, type Sources } from '../zaaktype/resultaattype-selectielijst.ts'
import { createResultaattype, ResultaattypeInput } from '../zaaktype/resultaattypen.ts'
import { createRoltype, RoltypeInput } from '../zaaktype/roltypen.ts'
import { procestypeFaults } from '../zaaktype/rules.ts'
import { createStatustype, StatustypeInput } from '../zaaktype/statustypen.ts'
import { createZaakobjecttype, ZaakobjecttypeInput } from '../zaaktype/zaakobjecttypen.ts'
import {
  createZaaktypeInformatieobjecttype,
  ZaaktypeInformatieobjecttypeInput,
} from '../zaaktype/zaaktype-informatieobjecttypen.ts'
import { moveTo, ownRoot, rootsOf } from './addresses.ts'
import { FILES, type Name, type Package, PackageFault } from './files.ts'
import type { PackageItem as Item } from './read-thread.ts'
import { changedMembers, type ImportChange } from './report.ts'

export type ImportOptions = {
  /** Keep the uuids of the file; otherwise everything gets a new one. */
  keepUuids?: boolean
  /** The catalogue that takes what is in the file; unset, that of the file is made. */
  catalogusUuid?: string
  /** How the catalogue of the file is called here, where another has its domein and rsin already. */
  catalogusAs?: CatalogusName
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
/**
 * A type of the file that the catalogue has already, under which key, and whether it is used as it is. `begin` is that of the
 * version in the file, as it stands there, and `beginHere` that of the version in the catalogue.
 */
export type Known = {
  resource: Resource
  key: string
  omschrijving: string
  used: boolean
  begin: string
  beginHere: string
}
export type Imported = {
  made: Partial<Record<Resource, number>>
  /** URLs of the catalogue, or of the zaaktypen when they went into an existing one. */
  urls: string[]
  /** What was changed or left out, object by object. That all arrive as concepts is not told. */
  changes: ImportChange[]
  /** Types of the file that the catalogue had. */
  known: Known[]
}

/** By what a catalogue is told from the others. */
export const CatalogusName = Type.Pick(CatalogusInput, ['domein', 'rsin'])
export type CatalogusName = Static<typeof CatalogusName>
export type ExistingCatalogus = CatalogusName & { uuid: string; naam: string }

/** The catalogue of the file is here already: its types go into that one, or it gets another name. */
export class CatalogusExists extends PackageFault {
  existing: ExistingCatalogus
  constructor(existing: ExistingCatalogus) {
    const { domein, rsin, uuid } = existing
    super(
      `Catalogus ${domein} van RSIN ${rsin} is er al, met uuid ${uuid}: neem de typen in die catalogus op, of geef die van het bestand een ander domein of RSIN.`,
    )
    this.existing = existing
    this.faults = [{ name: 'domein', code: 'unique', reason: 'De combinatie van domein en rsin bestaat al.' }]
  }
}

/**
 * The catalogue that has the domein and rsin of one in the file.
 * @throws PackageFault when that of the file cannot be read
 */
export async function findExistingCatalogus(db: ReadDb, pack: Package): Promise<ExistingCatalogus | undefined> {
  for (const item of pack.get('Catalogus') ?? []) {
    const { domein, rsin } = readBody('Catalogus', CatalogusInput, item)
    const found = await db
      .selectFrom('catalogus')
      .select(['uuid', 'domein', 'rsin', 'naam'])
      .where('domein', '=', domein)
      .where('rsin', '=', rsin)
      .executeTakeFirst()
    if (found) return found
  }
  return undefined
}

/**
 * Takes what a ZIP holds over, as concepts, in one transaction: the first thing that cannot be taken undoes all.
 * @throws PackageFault, and as one of them CatalogusExists
 */
export async function importPackage(
  mutate: MutateWhole,
  actor: Actor,
  selectielijst: Selectielijst,
  pack: Package,
  options: ImportOptions = {},
): Promise<Imported> {
  if (!pack.has('Catalogus') && !options.catalogusUuid)
    throw new PackageFault('in dit bestand staat geen catalogus: noem er een om het in op te nemen')
  const roots = rootsOf(pack)
  const moved = await moveTo(actor.base, pack, roots, options)
  // Into a catalogue that is there: that of the file stays behind.
  if (options.catalogusUuid) moved.delete('Catalogus')
  const catalogussen = moved.get('Catalogus') ?? []
  if (options.catalogusAs && catalogussen.length > 1)
    throw new PackageFault('in dit bestand staan meer catalogussen: noem er een om de typen in op te nemen')
  if (options.catalogusAs)
    moved.set(
      'Catalogus',
      catalogussen.map((item) => ({ ...item, ...options.catalogusAs })),
    )
  const sources = new Map<string, Sources>()
  for (const item of moved.get('ResultaatType') ?? [])
    sources.set(item.url, await askSelectielijst(selectielijst, readBody('ResultaatType', ResultaattypeInput, item)))
  const procestypen = new Map<string, InvalidParam[]>()
  for (const item of moved.get('ZaakType') ?? []) {
    const { selectielijstProcestype } = readBody('ZaakType', ZaaktypeInput, item)
    procestypen.set(item.url, await procestypeFaults(selectielijst, selectielijstProcestype))
  }
  const imported = await mutate(actor, async (m) => {
    const there = await findExistingCatalogus(m.read, moved)
    if (there && !catalogussen.some(({ url }) => uuidOf(url) === there.uuid)) throw new CatalogusExists(there)
    const written = await writePackage(m, moved, { sources, procestypen }, options)
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
    const [root, ...others] = roots
    if (root === undefined || others.length > 0) return given
    return JSON.parse(JSON.stringify(given).replaceAll(ownRoot(actor.base), root))
  }
}

class NothingMade extends Error {
  imported: Imported
  constructor(imported: Imported) {
    super('everything stays as it is')
    this.imported = imported
  }
}

function readBody<T extends Parameters<typeof readInput>[0]>(name: Name, schema: T, item: Item) {
  return explained(name, item, () => readInput<T>(schema, item))
}

function explained<R>(name: Name, item: Item, work: () => R): R {
  const explain = (error: unknown): never => {
    const label = labelOf(item)
    const { invalidParams } = toProblem(error)
    if (invalidParams) throw new PackageFault(`${name} ${label} kan niet worden opgenomen:`, invalidParams)
    if (isUniqueViolation(error))
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

type Asked = { sources: Map<string, Sources>; procestypen: Map<string, InvalidParam[]> }

async function writePackage(m: Mutation, pack: Package, asked: Asked, options: ImportOptions): Promise<Imported> {
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
    for (const item of pack.get(name) ?? []) {
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
      for (const item of pack.get(name) ?? []) {
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
        imported.known.push({
          resource,
          key,
          omschrijving: String(item.omschrijving ?? ''),
          used,
          begin: beginOf(item),
          beginHere: found.begin,
        })
        if (!used) continue
        existing.set(item.url, link(base, resource, found.uuid))
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
  for (const item of pack.get('ZaakType') ?? []) {
    if (existing.has(item.url)) continue
    const input = readInput(ZaaktypeInput, withExisting(catalogus('ZaakType', item), existing))
    const missing = await explained('ZaakType', item, () => setZaaktypeRelations(m, uuidOf(item.url), input))
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
    createResultaattype(m, input, expected(asked.sources.get(item.url)), {
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
  const key = String(item[TYPE_KEY[resource]] ?? '')
  return resource === 'zaaktype' && key !== '' ? prefixed(key, options) : key
}

/** The version in a catalogue of what a type of the file is called: the one that begins with it, or else last. */
async function findVersion(
  m: Mutation,
  type: Hoofdtype,
  key: string,
  item: Item,
  catalogusUuid: string,
): Promise<{ uuid: string; begin: string } | undefined> {
  const { rows } = await sql<{ uuid: string; begin: string }>`
    select t.uuid, t.begin_geldigheid::text as begin from ${sql.table(type)} t join catalogus c on c.id = t.catalogus_id
    where c.uuid = ${catalogusUuid} and t.${sql.ref(TYPE_KEY[type])} = ${key} and ${key} <> ''
    order by t.begin_geldigheid::text = ${beginOf(item)} desc, t.begin_geldigheid desc, t.id desc limit 1`.execute(
    m.trx,
  )
  return rows[0]
}

const beginOf = (item: Item) => String(item.begin_geldigheid ?? item.beginGeldigheid ?? '')

function camelKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelKeys)
  if (value === null || typeof value !== 'object') return value
  const camel = (key: string) => key.replace(/(?<=[a-z])_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [camel(key), camelKeys(member)]))
}
