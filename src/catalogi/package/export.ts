// Writing a package: what stands in the database as a stream of a ZIP.

import { Readable } from 'node:stream'
import { setImmediate as breathe } from 'node:timers/promises'
import { sql } from 'kysely'
import { ZipFile } from 'yazl'
import { LIMITS } from '../../core/limits.ts'
import type { ReadDb } from '../../database/database.ts'
import { snakeCase } from '../../http/input.ts'
import { uuidOf } from '../../http/links.ts'
import { loadResources } from '../loaders.ts'
import { FILES, NAMES, type Name } from './files.ts'
import type { PackageItem as Item } from './read-thread.ts'

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
    const placeOf = ({ url }: { url: string }) => places.get(uuidOf(url)) ?? 0
    found.sort((a, b) => placeOf(a) - placeOf(b))
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

function snakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeKeys)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [snakeCase(key), snakeKeys(member)]))
}
