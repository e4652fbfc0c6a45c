// Finding documents. Every query on them begins here: `e` is the document, `v` one of its versions, `t` the type of that
// version. What rights look at stands on `e`, for the latest version, so that a list can leave out what its reader may not
// see without looking at versions.
import type { FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { Actor } from '../../core/actor.ts'
import { notFound } from '../../core/problem.ts'
import { compiled } from '../../database/compiled.ts'
import type { ReadDb, Reader } from '../../database/database.ts'
import type { Known } from '../../database/list.ts'
import {
  type Condition,
  type Count,
  countByRest,
  countRows,
  type IdList,
  type Order,
  pageOfIds,
  rowsById,
  sumCounts,
} from '../../database/list.ts'
import { when } from '../../database/when.ts'
import { Moment, Uuid } from '../../http/input.ts'
import { LEZEN, mayRead, reached, requireMay, type Scopes } from '../rights.ts'

/** Which version: the highest, this one, or the one that was the highest at a moment. */
export const VersionQuery = Type.Object({
  versie: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
  registratieOp: Type.Optional(Moment),
})
export const Params = Type.Object({ uuid: Uuid })

/** Leaves out query parameters that the schema does not know, where the standard does not refuse them. */
export function ignoreUnknown(schema: { properties: object }) {
  return async (request: FastifyRequest) => {
    const known = Object.entries(request.query as object).filter(([name]) => Object.hasOwn(schema.properties, name))
    request.query = Object.fromEntries(known)
  }
}

function documentVersions(db: ReadDb) {
  return db
    .selectFrom('enkelvoudiginformatieobject as e')
    .innerJoin('enkelvoudiginformatieobjectVersie as v', 'v.enkelvoudiginformatieobjectId', 'e.id')
    .leftJoin('informatieobjecttype as t', 't.id', 'v.informatieobjecttypeId')
    .leftJoin('informatieobjecttype as laatste', 'laatste.id', 'e.informatieobjecttypeId')
    .leftJoin('file as b', 'b.id', 'v.fileId')
    .selectAll('v')
    .select(['e.id', 'e.uuid', 'e.lock', 't.uuid as typeUuid', 'b.backend', 'b.key', 'b.size', 'b.sha256'])
    .select([
      'e.versie as laatsteVersie',
      'e.vertrouwelijkheidaanduiding as laatsteVertrouwelijkheidaanduiding',
      'e.isGereedVoorPublicatie as laatsteGereed',
      'laatste.uuid as laatsteTypeUuid',
      'e.informatieobjecttypeUrl as laatsteTypeUrl',
    ])
    .select(
      sql<string | null>`(select c.uuid from catalogus c where c.id = laatste.catalogus_id)`.as('laatsteCatalogusUuid'),
    )
    .select(
      sql<{ uuid: string; volgnummer: number; omvang: number; voltooid: boolean }[] | null>`(
        select jsonb_agg(jsonb_build_object(
          'uuid', d.uuid, 'volgnummer', d.volgnummer, 'omvang', d.omvang, 'voltooid', d.file_id is not null) order by d.volgnummer)
        from bestandsdeel d where d.enkelvoudiginformatieobject_id = e.id)`.as('bestandsdelen'),
    )
}
export type DocumentRow = Awaited<ReturnType<ReturnType<typeof documentVersions>['executeTakeFirstOrThrow']>>

/** One version of a document; undefined when there is no such document or version. */
export async function findDocument(
  db: ReadDb,
  uuid: string,
  version: Static<typeof VersionQuery> = {},
): Promise<DocumentRow | undefined> {
  const isLatest = version.versie === undefined && version.registratieOp === undefined
  if (isLatest) return (await findLatest(db, [uuid]))[0]
  return documentVersions(db)
    .where('e.uuid', '=', uuid)
    .$call(when(version.versie, (query, versie) => query.where('v.versie', '=', versie)))
    .$call(
      when(version.registratieOp, (query, registratieOp) => query.where('v.beginRegistratie', '<=', registratieOp)),
    )
    .orderBy('v.versie', 'desc')
    .limit(1)
    .executeTakeFirst()
}

const findLatest = compiled<DocumentRow>((db) =>
  documentVersions(db).where('e.uuid', '=', '').orderBy('v.versie', 'desc').limit(sql.lit(1)),
)

/** @throws Problem 404 when there is no such document or version, 403 when the actor may not do this with it */
export async function requireDocument(
  db: ReadDb,
  actor: Actor,
  scopes: Scopes,
  uuid: string,
  version: Static<typeof VersionQuery> = {},
): Promise<DocumentRow> {
  const row = await findDocument(db, uuid, version)
  if (!row) throw notFound()
  requireMay(actor, scopes, row)
  return row
}

/** The latest versions of these documents as far as the actor may read them, by uuid: for expand. */
export async function findReadable(db: ReadDb, actor: Actor, uuids: string[]): Promise<DocumentRow[]> {
  if (uuids.length === 0) return []
  return documentVersions(db)
    .whereRef('v.versie', '=', 'e.versie')
    .where(sql<boolean>`e.uuid = any(${uuids}::uuid[])`)
    .where(reached(actor, LEZEN))
    .execute()
}

/** What a list holds: conditions on the document `e` and its latest version `v`, apart from those that are counted beforehand. */
export type Selection = {
  geteld: Condition[]
  document: Condition[]
  versie: Condition[]
  /** Whether rights leave nothing out: then no condition says so. */
  leestAlles: boolean
  /** What a filter by date leaves out. */
  rest: Condition[]
  /** The condition on relations `o` of documents, where nothing else is asked of documents. */
  onlyRelation?: Condition | undefined
  /** Empty: the oldest first. */
  volgorde: Order
}

/** How many documents a selection has. Without conditions on a document or its version, kept counts are added up. */
export async function countDocuments(reader: Reader, selection: Selection): Promise<Count | number> {
  const { geteld, document, versie, rest } = selection
  if (document.length + versie.length === 0) return sumCounts(reader, sql`enkelvoudiginformatieobject_count e`, geteld)
  const id = sql`e.id`
  if (selection.onlyRelation && geteld.length + versie.length === 0) {
    const ofRelation = sql`o.enkelvoudiginformatieobject_id`
    const what = sql`distinct ${ofRelation}`
    return countRows(reader, sql`objectinformatieobject o`, [selection.onlyRelation], { what, id: ofRelation })
  }
  if (document.length > 0)
    return countRows(reader, from(versie.length > 0), [...geteld, ...document, ...versie], { id })
  // Where nothing is asked of documents but what their versions say too: all versions, less those that were replaced. Most documents
  // are not looked at then.
  const versions = sql`enkelvoudiginformatieobject_versie v ${AS_DOCUMENT}`
  const less = sql`enkelvoudiginformatieobject d join enkelvoudiginformatieobject_versie v
    on d.versie > 1 and v.enkelvoudiginformatieobject_id = d.id and v.versie < d.versie ${AS_DOCUMENT}`
  if (versie.length === 1 && rest.length === 1) {
    const counts = sql`enkelvoudiginformatieobject_count e`
    const out = { counted: geteld, conditions: [...geteld, ...rest] }
    const found = await countByRest(reader, { counts, from: versions, less, rest: out })
    if (found !== undefined) return found
  }
  return countRows(reader, versions, [...geteld, ...versie], { less, id })
}

/** Of a version `v` what a document has of its latest one, as `e`: for conditions on columns that are counted. */
const AS_DOCUMENT = sql`cross join lateral (select v.enkelvoudiginformatieobject_id as id, v.bronorganisatie, v.informatieobjecttype_id,
  v.informatieobjecttype_url, v.vertrouwelijkheidaanduiding, v.is_gereed_voor_publicatie) e`

/**
 * A page is found first, with nothing but ids, and only then its rows. Rights are part of the first statement only: who
 * shows the rows asks `mayRead` of each, since a document may have become another's between the two.
 */
export async function pageOfDocuments(
  reader: Reader,
  selection: Selection,
  limit: number,
  offset: number,
  known?: Known,
): Promise<DocumentRow[]> {
  return latestVersions(reader, await pageOfIds(reader, idList(selection), limit, offset, known))
}

/** A selection as a list of ids. */
export const idList = ({ geteld, document, versie, volgorde }: Selection): IdList => {
  const ofVersions = versie.length > 0 && document.length + volgorde.length === 0
  return {
    from: ofVersions
      ? sql`enkelvoudiginformatieobject_versie v ${AS_DOCUMENT}`
      : from(versie.length > 0 || volgorde.length > 0),
    id: sql`e.id`,
    conditions: [...geteld, ...document, ...versie, ...(ofVersions ? [IS_LATEST] : [])],
    order: volgorde.length > 0 ? volgorde : [{ column: sql`e.id`, descending: false }],
  }
}

/**
 * A walk in the order of documents asks everything of the version, and of its document only whether that is the latest. No join: one
 * may read all documents from the first, whatever the walk is bounded by.
 */
const IS_LATEST = sql`v.versie = (select d.versie from enkelvoudiginformatieobject d where d.id = v.enkelvoudiginformatieobject_id)`

/** The documents with these ids in their latest versions, without regard to rights. */
export const latestVersions = rowsById<DocumentRow>(
  ({ db }) =>
    documentVersions(db)
      .whereRef('v.versie', '=', 'e.versie')
      .where(sql<boolean>`e.id = any(${[]}::bigint[])`)
      .compile().sql,
)

/** The latest versions of the documents with these ids that the actor may read. */
export const readableById = async (reader: Reader, actor: Actor, ids: number[]): Promise<DocumentRow[]> =>
  (await latestVersions(reader, ids)).filter((row) => mayRead(actor, row))

function from(withVersion: boolean): RawBuilder<unknown> {
  return withVersion
    ? sql`enkelvoudiginformatieobject e join enkelvoudiginformatieobject_versie v
        on v.enkelvoudiginformatieobject_id = e.id and v.versie = e.versie`
    : sql`enkelvoudiginformatieobject e`
}
