// Finding besluiten. Every query on them begins here: `b` is the besluit, `t` its type, `i` one of its documents.
import { sql } from 'kysely'
import type { Actor } from '../core/actor.ts'
import { notFound } from '../core/problem.ts'
import type { ReadDb, Reader } from '../database/database.ts'
import type { Known } from '../database/list.ts'
import {
  type Conditions,
  type Count,
  countRows,
  type IdList,
  pageOfIds,
  rowsById,
  sumCounts,
} from '../database/list.ts'
import { link, linkOr } from '../http/links.ts'
import { type Besluitinformatieobject, type BesluitRow, besluittypeLink } from './columns.ts'
import { LEZEN, mayDo, reached, requireMay, type Scopes } from './rights.ts'

function besluiten(db: ReadDb) {
  return db
    .selectFrom('besluit as b')
    .leftJoin('besluittype as t', 't.id', 'b.besluittypeId')
    .leftJoin('catalogus as c', 'c.id', 't.catalogusId')
    .leftJoin('zaak as z', 'z.id', 'b.zaakId')
    .selectAll('b')
    .select(['t.uuid as besluittypeUuid', 'c.uuid as catalogusUuid', 'z.uuid as zaakUuid'])
}

/** Without regard to rights; holds no lock. */
export function findBesluit(db: ReadDb, uuid: string): Promise<BesluitRow | undefined> {
  return besluiten(db).where('b.uuid', '=', uuid).executeTakeFirst()
}

/** @throws Problem 404 when there is no such besluit, 403 when the actor may not do this with it */
export async function requireBesluit(db: ReadDb, actor: Actor, scopes: Scopes, uuid: string): Promise<BesluitRow> {
  const row = await findBesluit(db, uuid)
  if (!row) throw notFound()
  requireMay(actor, scopes, row)
  return row
}

/** The besluiten with these uuids as far as the actor may read them: for expand. */
export async function findReadable(db: ReadDb, actor: Actor, uuids: string[]): Promise<BesluitRow[]> {
  if (uuids.length === 0) return []
  return besluiten(db).where(sql<boolean>`b.uuid = any(${uuids}::uuid[])`).where(reached(actor)).execute()
}

/** Adds up the kept counts where these know all conditions (`counted`), and counts rows where there are `others`. */
export function countBesluiten(reader: Reader, { counted, others }: Conditions): Promise<Count | number> {
  if (others.length === 0) return sumCounts(reader, sql`besluit_count b`, counted)
  return countRows(reader, sql`besluit b`, [...counted, ...others])
}

/** A page of those that the actor may read: found first, with nothing but ids; only its rows are joined. */
export async function pageOfBesluiten(
  reader: Reader,
  actor: Actor,
  conditions: Conditions,
  limit: number,
  offset: number,
  known?: Known,
): Promise<BesluitRow[]> {
  return besluitenById(reader, actor, await pageOfIds(reader, idList(conditions), limit, offset, known))
}

/** Conditions as a list of ids. */
export const idList = ({ counted, others }: Conditions): IdList => ({
  from: sql`besluit b`,
  id: sql`b.id`,
  conditions: [...counted, ...others],
  order: NEWEST_FIRST,
})

/** Those with these ids that the actor may read: a besluit may have become another's since they were found. */
export const besluitenById = async (reader: Reader, actor: Actor, ids: number[]): Promise<BesluitRow[]> =>
  (await rowsOf(reader, ids)).filter((row) => mayDo(actor, LEZEN, row))

const NEWEST_FIRST = [{ column: sql`b.id`, descending: true }]
const rowsOf = rowsById<BesluitRow>(
  ({ db }) => besluiten(db).where(sql<boolean>`b.id = any(${[]}::bigint[])`).compile().sql,
)

/** The besluiten with these ids that the actor may read. */
export const readableById = async (reader: Reader, actor: Actor, ids: number[]): Promise<BesluitRow[]> =>
  (await rowsOf(reader, ids)).filter((row) => mayDo(actor, LEZEN, row))

/** Where changes of a besluit and of its documents are announced. */
export function besluitenKanaal(row: BesluitRow, base: string) {
  return {
    naam: 'besluiten',
    kenmerken: {
      verantwoordelijkeOrganisatie: row.verantwoordelijkeOrganisatie,
      besluittype: besluittypeLink(row, base),
      'besluittype.catalogus': row.catalogusUuid
        ? link(base, 'catalogus', row.catalogusUuid)
        : row.besluittypeCatalogusUrl,
    },
  }
}

// ---- besluitinformatieobjecten ----

/** All of them, without regard to rights; what is of `e` is null for a document at another server. */
export function besluitinformatieobjecten(db: ReadDb) {
  return db
    .selectFrom('besluitinformatieobject as i')
    .innerJoin('besluit as b', 'b.id', 'i.besluitId')
    .leftJoin('enkelvoudiginformatieobject as e', 'e.id', 'i.enkelvoudiginformatieobjectId')
    .leftJoin('besluittype as t', 't.id', 'b.besluittypeId')
    .selectAll('i')
    .select(['b.uuid as besluitUuid', 't.uuid as besluittypeUuid', 'b.besluittypeUrl'])
    .select(['e.uuid as documentUuid', 'e.identificatie as documentIdentificatie'])
}
export type BesluitinformatieobjectRow = Awaited<
  ReturnType<ReturnType<typeof besluitinformatieobjecten>['executeTakeFirstOrThrow']>
>

/** @throws Problem 404 when there is no such relation, 403 when the actor may not do this with its besluit */
export async function requireBesluitinformatieobject(
  db: ReadDb,
  actor: Actor,
  scopes: Scopes,
  uuid: string,
): Promise<BesluitinformatieobjectRow> {
  const row = await besluitinformatieobjecten(db).where('i.uuid', '=', uuid).executeTakeFirst()
  if (!row) throw notFound()
  requireMay(actor, scopes, row)
  return row
}

export function toBesluitinformatieobject(
  row: Pick<BesluitinformatieobjectRow, 'uuid' | 'besluitUuid' | 'documentUuid' | 'informatieobjectUrl'>,
  base: string,
): Besluitinformatieobject {
  return {
    url: link(base, 'besluitinformatieobject', row.uuid),
    informatieobject: linkOr(base, 'enkelvoudiginformatieobject', row.documentUuid, row.informatieobjectUrl),
    besluit: link(base, 'besluit', row.besluitUuid),
  }
}

/** Those with these ids whose besluit the actor may read. */
export async function readableBesluitinformatieobjecten(db: ReadDb, actor: Actor, base: string, ids: number[]) {
  const rows = await besluitinformatieobjecten(db).where('i.id', 'in', ids).where(reached(actor)).execute()
  return rows.map((row) => ({ id: row.id, uuid: row.uuid, resource: toBesluitinformatieobject(row, base) }))
}
