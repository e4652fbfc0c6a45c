// Versions of types: which of them is meant or shown, from when to when they count, and that they do not overlap.

import { type RawBuilder, sql } from 'kysely'
import Type from 'typebox'
import type { Mutation } from '../core/mutate.ts'
import { type InvalidParam, invalid, onObject, throwFaults } from '../core/problem.ts'
import { timeZone } from '../lib/day.ts'

/** Filter `status` on lists of types: without it only published ones show. */
export const StatusFilter = Type.Optional(Type.Enum(['alles', 'concept', 'definitief']))

/** Versions that are valid on a day: both bounds count. */
export const DatumGeldigheid = Type.Optional(Type.String({ format: 'date' }))

/** Whether a PATCH only closes or reopens a version: that is allowed on what was published (ztc-009). */
export function changesOnlyEnd(actie: 'update' | 'partial_update', body: object): boolean {
  const names = Object.keys(body)
  return actie === 'partial_update' && names.length === 1 && names[0] === 'eindeGeldigheid'
}

/** The types with versions, and what the versions of one type share within their catalogue. */
export const TYPE_KEY = {
  zaaktype: 'identificatie',
  besluittype: 'omschrijving',
  informatieobjecttype: 'omschrijving',
} as const
export type Hoofdtype = keyof typeof TYPE_KEY
/** Whether a version (alias with its dot, or '') is valid on a day; null is today. */
export const validOn = (alias: string, datum: string | null) =>
  sql`(${sql.raw(alias)}begin_geldigheid <= coalesce(${datum}::date, today(${timeZone()}))
    and coalesce(${sql.raw(alias)}einde_geldigheid >= coalesce(${datum}::date, today(${timeZone()})), true))`

/**
 * For relations that an object has to types. Of each type (its versions share a key) the best version comes first: the
 * published one that is valid on the day, else the newest published one. Without a day the versions that were named follow
 * it; a concept only where its URL was named. A type that was never published shows the version that was named.
 * @param links a query of `id` and `by_url` of the versions that were named
 * @param wat the key instead of the uuid: once for each type
 */
export function shownVersions(type: Hoofdtype, links: RawBuilder<unknown>, datum: string | null, wat = 'uuid') {
  const key = sql.raw(TYPE_KEY[type])
  const named = datum === null && wat === 'uuid' ? sql`or (s.id = k.id and (l.by_url or not s.concept))` : sql``
  return sql<string[]>`array(
    select x.${sql.raw(wat)} from (
      select distinct on (s.id) s.id, s.uuid, s.${key}, s.best, k.id as place
      from (${links}) l join ${sql.table(type)} k on k.id = l.id
      cross join lateral (
        select v.id, v.uuid, v.${key}, v.concept, row_number() over (
          order by v.concept, ${validOn('v.', datum)} desc, v.begin_geldigheid desc, v.id desc) = 1 as best
        from ${sql.table(type)} v
        where v.catalogus_id = k.catalogus_id and v.${key} = k.${key}
          and (v.id = k.id or (not v.concept and v.${key} <> ''))) s
      where s.best ${named}
      order by s.id, s.best desc, k.id) x
    order by x.place, x.best desc, x.id)`
}

/**
 * The other way around: types that refer to an object. The relation belongs to their version, so of each type it is the
 * best of the versions that have it; without a day also those that refer to this very version.
 * @param links a query of ids of the versions that refer to any version of the object
 * @param direct a query of ids of the versions that refer to this version of it
 */
export function referringVersions(
  type: Hoofdtype,
  { links, direct }: { links: RawBuilder<unknown>; direct: RawBuilder<unknown> },
  datum: string | null,
  wat = 'uuid',
) {
  const key = sql.raw(TYPE_KEY[type])
  const also = datum === null && wat === 'uuid' ? sql`or s.id in (${direct})` : sql``
  return sql<string[]>`array(
    select s.${sql.raw(wat)} from ${sql.table(type)} s where s.id in (
      select distinct on (v.catalogus_id, v.${key}, case when v.${key} = '' then v.id end) v.id
      from ${sql.table(type)} v where v.id in (${links})
      order by v.catalogus_id, v.${key}, case when v.${key} = '' then v.id end,
        v.concept, ${validOn('v.', datum)} desc, v.begin_geldigheid desc, v.id desc) ${also}
    order by s.id)`
}

/** Ids of all versions of the type that the row `alias` is a version of. */
export function allVersions(type: Hoofdtype, alias = 't'): RawBuilder<unknown> {
  const [row, key] = [sql.raw(alias), sql.raw(TYPE_KEY[type])]
  return sql`select w.id from ${sql.table(type)} w where w.catalogus_id = ${row}.catalogus_id
    and w.${key} = ${row}.${key} and (w.id = ${row}.id or w.${key} <> '')`
}

/** beginObject and eindeObject span all versions: the oldest begin, and the end of the newest. */
export function objectPeriod(type: Hoofdtype) {
  return [
    sql<string>`(select min(v.begin_geldigheid) from ${sql.table(type)} v where v.id in (${allVersions(type)}))`.as(
      'beginObject',
    ),
    sql<string | null>`(select v.einde_geldigheid from ${sql.table(type)} v where v.id in (${allVersions(type)})
      order by v.begin_geldigheid desc, v.id desc limit 1)`.as('eindeObject'),
  ] as const
}

type Period = { beginGeldigheid: string; eindeGeldigheid: string | null }

/**
 * SQL of whether two periods share a day: their first and last days count (ztc-016). `one` and `other` name rows of the statement.
 * @param sharedDay the last day of the one may be the first of the other
 */
export const shareDay = (one: string, other: string, sharedDay = false): string => {
  const comes = sharedDay ? '>' : '>='
  return `(${one}.einde_geldigheid is null or ${one}.einde_geldigheid ${comes} ${other}.begin_geldigheid)
    and (${other}.einde_geldigheid is null or ${other}.einde_geldigheid ${comes} ${one}.begin_geldigheid)`
}

/** Whether a version of table `t` shares a day with this period. */
export const overlaps = ({ beginGeldigheid, eindeGeldigheid }: Period, sharedDay = false): RawBuilder<unknown> =>
  sql`exists (select from (select ${beginGeldigheid}::date as begin_geldigheid, ${eindeGeldigheid}::date as einde_geldigheid) as p
    where ${sql.raw(shareDay('t', 'p', sharedDay))})`

type Dates = { beginGeldigheid?: string | null | undefined; eindeGeldigheid?: string | null | undefined }

/** Neither a type nor a part of one ends before it begins. */
export function dateFaults({ beginGeldigheid: begin, eindeGeldigheid: einde }: Dates): InvalidParam[] {
  if (!begin || !einde || begin <= einde) return []
  return [onObject('date-mismatch', 'De einddatum ligt voor de begindatum.')]
}

/** The same for a change: of a takeover such a type may be there, and keep its dates. */
export const changedDateFaults = (input: Dates, oud: Dates): InvalidParam[] =>
  (input.beginGeldigheid ?? null) === (oud.beginGeldigheid ?? null) &&
  (input.eindeGeldigheid ?? null) === (oud.eindeGeldigheid ?? null)
    ? []
    : dateFaults(input)

/** Types that a type is related to, as ids of catalogues, in a query with its `id`. */
const RELATED: Record<Hoofdtype, string[]> = {
  zaaktype: [
    'select i.catalogus_id from zaaktype_informatieobjecttype r join informatieobjecttype i on i.id = r.informatieobjecttype_id where r.zaaktype_id = t.id',
    'select b.catalogus_id from zaaktype_besluittype r join besluittype b on b.id = r.besluittype_id where r.zaaktype_id = t.id',
  ],
  besluittype: [
    'select z.catalogus_id from zaaktype_besluittype r join zaaktype z on z.id = r.zaaktype_id where r.besluittype_id = t.id',
    'select i.catalogus_id from besluittype_informatieobjecttype r join informatieobjecttype i on i.id = r.informatieobjecttype_id where r.besluittype_id = t.id',
  ],
  informatieobjecttype: [
    'select z.catalogus_id from zaaktype_informatieobjecttype r join zaaktype z on z.id = r.zaaktype_id where r.informatieobjecttype_id = t.id',
    'select b.catalogus_id from besluittype_informatieobjecttype r join besluittype b on b.id = r.besluittype_id where r.informatieobjecttype_id = t.id',
  ],
}

/** ztc-013: a type stays in the catalogue of the types that it is related to. @throws Problem 400 `relations-incorrect-catalogus` */
export async function requireMovable(
  m: Mutation,
  type: Hoofdtype,
  before: { id: number; catalogusId: number },
  catalogusId: number,
): Promise<void> {
  if (before.catalogusId === catalogusId) return
  const { rows } = await sql`
    select from ${sql.table(type)} t where t.id = ${before.id}
      and exists (select from (${sql.raw(RELATED[type].join(' union all '))}) o where o.catalogus_id <> ${catalogusId})`.execute(
    m.trx,
  )
  if (rows.length > 0)
    throwFaults([
      {
        name: 'catalogus',
        code: 'relations-incorrect-catalogus',
        reason: 'Gerelateerde typen horen in dezelfde catalogus.',
      },
    ])
}

/**
 * ztc-016: published versions of one type do not overlap. The catalogue is held, so that of two versions published at the same
 * moment one is refused. With `VERSIONS_SHARE_DAY` clients of the API may have them share a day.
 * @param before what is changed: while its period and its type stay what they were, those that overlap already (of a takeover) may
 * @throws Problem 400 `overlap` on `name`; `date-mismatch` when it is published and ends before it begins
 */
export async function requireNoOverlap(
  m: Mutation,
  type: Hoofdtype,
  version: {
    id: number
    catalogusId: number
    key: string
    beginGeldigheid: string
    eindeGeldigheid: string | null
  },
  name = 'beginGeldigheid',
  before?: Period & { key: string; catalogusId: number },
): Promise<void> {
  if (before === undefined) throwFaults(dateFaults(version))
  if (version.key === '') return // besluittypen may go without
  const isSame = (['key', 'catalogusId', 'beginGeldigheid', 'eindeGeldigheid'] as const).every(
    (field) => version[field] === before?.[field],
  )
  if (isSame) return
  await m.trx
    .selectFrom('catalogus')
    .where('id', '=', version.catalogusId)
    .select('id')
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  const { rows } = await sql`
    select 1 from ${sql.table(type)} t
    where catalogus_id = ${version.catalogusId} and ${sql.ref(TYPE_KEY[type])} = ${version.key} and not concept
      and id <> ${version.id}
      and ${overlaps(version, m.actor.lenient?.sharedDay)}
    limit 1`.execute(m.trx)
  if (rows.length > 0)
    throw invalid(name, 'overlap', 'Een andere gepubliceerde versie van dit type is in deze periode geldig.')
}

/** Whether of each of these types some version is published. */
export async function allPublished(m: Mutation, type: Hoofdtype, links: RawBuilder<unknown>): Promise<boolean> {
  const key = sql.raw(TYPE_KEY[type])
  const { rows } = await sql`
    select 1 from ${sql.table(type)} k where k.id in (${links}) and k.concept and not exists (
      select 1 from ${sql.table(type)} v where v.catalogus_id = k.catalogus_id and v.${key} = k.${key}
        and v.${key} <> '' and not v.concept)
    limit 1`.execute(m.trx)
  return rows.length === 0
}
