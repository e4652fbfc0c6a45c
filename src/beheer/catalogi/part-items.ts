// The parts of a zaaktype as its pages read them, each with the name that people know it by.
import { sql } from 'kysely'
import { loadResources } from '../../catalogi/loaders.ts'
import { isUrl } from '../../catalogi/related-types.ts'
import { notFound } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { one } from '../../database/rows.ts'
import { uuidOf } from '../../http/links.ts'
import type { PageMutation } from '../frame/change.ts'
import { t } from '../language/language.ts'
import { type Version, withNames } from './context.ts'
import type { Item, PartKind } from './part.ts'

/** All of a kind below a zaaktype, in their order. */
export async function itemsOf(db: ReadDb, kind: PartKind, base: string, zaaktype: { id: number }): Promise<Item[]> {
  const order = kind.ordered || kind.path === 'documenttypen' ? sql`t.volgnummer, t.id` : sql`t.id`
  const { rows } = await sql<{ uuid: string }>`
    select t.uuid from ${sql.table(kind.table)} t where t.zaaktype_id = ${zaaktype.id} order by ${order} limit 1000`.execute(
    db,
  )
  const uuids = rows.map(({ uuid }) => uuid)
  const found = ((await loadResources(kind.resource, db, base, uuids, null)) as Item[]).map(withNames)
  if (kind.path === 'documenttypen') await nameDocumenttypen(db, found)
  return found.toSorted((a, b) => uuids.indexOf(uuidOf(a.url)) - uuids.indexOf(uuidOf(b.url)))
}

/** Document types by their names. */
async function nameDocumenttypen(db: ReadDb, items: Item[]): Promise<void> {
  const uuids = items.map(({ informatieobjecttype }) => uuidOf(informatieobjecttype ?? ''))
  if (uuids.length === 0) return
  const rows = await db
    .selectFrom('informatieobjecttype')
    .where('uuid', 'in', uuids)
    .select(['uuid', 'omschrijving'])
    .execute()
  for (const [place, item] of items.entries())
    item.informatieobjecttype = rows.find(({ uuid }) => uuid === uuids[place])?.omschrijving ?? ''
}

/** One of a kind below a zaaktype. @throws Problem 404 when it was removed meanwhile */
export async function requireItem(
  db: ReadDb,
  kind: PartKind,
  base: string,
  zaaktype: Version,
  uuid: string,
): Promise<Item> {
  const item = (await itemsOf(db, kind, base, zaaktype)).find(({ url }) => uuidOf(url) === uuid)
  if (!item) throw notFound(t`${kind.one} is intussen verwijderd.`)
  return item
}

/** What people call it; a zaaktype-informatieobjecttype is called by its document type. */
export async function nameOf(db: ReadDb, kind: PartKind, item: Item): Promise<string> {
  const { informatieobjecttype = '' } = item
  if (kind.path !== 'documenttypen' || !isUrl(informatieobjecttype)) return kind.nameOf(item)
  const type = await db
    .selectFrom('informatieobjecttype')
    .where('uuid', '=', uuidOf(informatieobjecttype))
    .select('omschrijving')
    .executeTakeFirst()
  return type?.omschrijving ?? ''
}

/** The number behind the last one, for kinds that have an order; nothing for the others. */
export async function nextNumber(
  m: PageMutation,
  kind: PartKind,
  zaaktypeId: number,
): Promise<{ volgnummer?: number }> {
  if (!kind.ordered && kind.path !== 'documenttypen') return {}
  const { rows } = await sql<{ next: number }>`
    select coalesce(max(volgnummer), 0) + 1 as next from ${sql.table(kind.table)} where zaaktype_id = ${zaaktypeId}`.execute(
    m.trx,
  )
  return { volgnummer: one(rows).next }
}
