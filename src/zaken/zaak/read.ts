// Finding cases. Every query on them begins here: `z` is the case, `t` its zaaktype, `c` the catalogue of that.
import { type RawBuilder, sql } from 'kysely'
import type { Actor } from '../../core/actor.ts'
import { LIMITS } from '../../core/limits.ts'
import { invalid } from '../../core/problem.ts'
import { compiled } from '../../database/compiled.ts'
import type { ReadDb, Reader } from '../../database/database.ts'
import type { Known } from '../../database/list.ts'
import {
  type Conditions,
  type Count,
  countByRest,
  countRows,
  type IdList,
  type Order,
  pageOfIds,
  rowByUuid,
  rowsById,
  sumCounts,
} from '../../database/list.ts'
import { expected } from '../../database/rows.ts'
import { detail } from '../../http/expand.ts'
import { Written } from '../../http/stream.ts'
import { LEZEN, mayDo, reached } from '../rights.ts'
import { COLUMNS, type Related, toZaak, type ZaakRow } from './columns.ts'
import type { ZaakConditions } from './filters.ts'
import { isCut, isLonger, LISTS, listOfUuids, longLists, membersOf, written } from './long-lists.ts'

/** What of a case is read at once: all, or for a page only what is small. */
type Extent = {
  /** Of each list that grows with what hangs on the case; and of those with other cases, all when it says nothing. */
  most: number | undefined
  others?: number
  geometrie: RawBuilder<ZaakRow['zaakgeometrie']>
  kenmerken: RawBuilder<ZaakRow['kenmerken']>
  producten: RawBuilder<ZaakRow['productenOfDiensten']>
}
const WHOLE: Extent = {
  most: undefined,
  geometrie: sql.ref('z.zaakgeometrie'),
  kenmerken: sql.ref('z.kenmerken'),
  producten: sql.ref('z.productenOfDiensten'),
}
const SMALL_COLUMNS = COLUMNS.filter((name) => name !== 'z.kenmerken' && name !== 'z.productenOfDiensten')

function zaken(db: ReadDb, { most, others, geometrie, kenmerken, producten }: Extent = WHOLE) {
  const up = others === undefined ? sql`` : sql`limit ${sql.lit(others + 1)}`
  return db
    .selectFrom('zaak as z')
    .leftJoin('zaaktype as t', 't.id', 'z.zaaktypeId')
    .leftJoin('catalogus as c', 'c.id', 't.catalogusId')
    .select(SMALL_COLUMNS)
    .select([geometrie.as('zaakgeometrie'), kenmerken.as('kenmerken'), producten.as('productenOfDiensten')])
    .select(['t.uuid as zaaktypeUuid', 'c.uuid as catalogusUuid'])
    .select([
      sql<string | null>`(select h.uuid from zaak h where h.id = z.hoofdzaak_id)`.as('hoofdzaakUuid'),
      listOfUuids('deelzaken', most).as('deelzaken'),
      listOfUuids('eigenschappen', most).as('eigenschappen'),
      listOfUuids('rollen', most).as('rollen'),
      listOfUuids('zaakinformatieobjecten', most).as('zaakinformatieobjecten'),
      listOfUuids('zaakobjecten', most).as('zaakobjecten'),
      sql<
        string | null
      >`(select s.uuid from status s where s.zaak_id = z.id order by s.datum_status_gezet desc limit 1)`.as('status'),
      sql<string | null>`(select r.uuid from resultaat r where r.zaak_id = z.id)`.as('resultaat'),
      sql<
        Related['relevanteAndereZaken']
      >`coalesce((select jsonb_agg(jsonb_build_object('uuid', o.uuid, 'url', a.andere_zaak_url,
        'aardRelatie', a.aard_relatie, 'overigeRelatie', a.overige_relatie, 'toelichting', a.toelichting) order by a.place)
        from (select * from zaak_andere_zaak where zaak_id = z.id order by place ${up}) a
        left join zaak o on o.id = a.andere_zaak_id), '[]')`.as('relevanteAndereZaken'),
      sql<
        Related['gerelateerdeZaken']
      >`coalesce((select jsonb_agg(jsonb_build_object('uuid', o.uuid, 'url', g.andere_zaak_url) order by g.id)
        from (select * from zaak_gerelateerde_zaak where zaak_id = z.id ${up}) g
        left join zaak o on o.id = g.andere_zaak_id), '[]')`.as('gerelateerdeZaken'),
    ])
}

/** @param most of each list one more than so many at most; as many as an answer holds when left out */
export async function findZaak(db: ReadDb, uuid: string, most?: number): Promise<ZaakRow | undefined> {
  const find = finders.get(most) ?? compiled((db) => zaken(db, { ...WHOLE, most }).where('z.uuid', '=', ''))
  finders.set(most, find)
  return (await find(db, [uuid]))[0]
}
/** By `most`, which has a few values only. */
const finders = new Map<number | undefined, ReturnType<typeof compiled<ZaakRow>>>()

/** A case outside of a transaction, for its GET. Its long lists are not complete: see `longLists`. */
export const readZaak = rowByUuid<ZaakRow>(
  ({ db }) =>
    zaken(db, { ...WHOLE, most: LIMITS.recorded })
      .where('z.uuid', '=', '')
      .compile().sql,
)

/**
 * The cases with these uuids as far as the actor may read them: for expand. Those with long lists are read one by one.
 * @throws Problem 400 on `expand` when their lists have more than `LIMITS.expandedMembers` members together, or one of them
 *   more than a case may have
 */
export async function findReadable(db: ReadDb, actor: Actor, uuids: string[]): Promise<ZaakRow[]> {
  if (uuids.length === 0) return []
  const rows = await small(db).where(sql<boolean>`z.uuid = any(${uuids}::uuid[])`).where(reached(actor)).execute()
  let members = 0
  const found: ZaakRow[] = []
  for (const row of rows) {
    const isSmall = !isLong(row) && !row.isLarge
    const whole = isSmall ? row : await findZaak(db, row.uuid)
    if (!whole) continue // deleted since
    if (!isSmall) members += membersOf(whole) + sizeOf(whole)
    if (members > LIMITS.expandedMembers || isCut(whole))
      throw invalid('expand', 'max_items', 'Deze zaken zijn samen te groot om op te nemen. Vraag ze apart op.')
    found.push(whole)
  }
  return found
}

/** The cases with these ids that the actor may read, as JSON: as a list shows them, without expansion. */
export async function* readableById(
  reader: Reader,
  actor: Actor,
  base: string,
  ids: number[],
): AsyncGenerator<{ id: number; uuid: string; json: string }> {
  const isReadable = (row: ZaakRow) => mayDo(actor, LEZEN, row)
  for (const row of await pageRows(reader, ids)) {
    if (!isReadable(row)) continue
    const { id, uuid } = row
    if (!row.isLarge && !isLong(row)) {
      yield { id, uuid, json: JSON.stringify(detail(toZaak(row, base))) }
      continue
    }
    for await (const one of answersOf(reader.db, [row], base, isReadable, LIMITS.recorded, (found) =>
      found.map(detail),
    ))
      yield {
        id,
        uuid,
        json: one instanceof Written ? (await Array.fromAsync(one.pieces)).join('') : JSON.stringify(one),
      }
  }
}

/** What else may be large in a case, in members of a list. */
const sizeOf = ({ zaakgeometrie, kenmerken, productenOfDiensten, relevanteAndereZaken, gerelateerdeZaken }: ZaakRow) =>
  JSON.stringify([zaakgeometrie, kenmerken, productenOfDiensten, relevanteAndereZaken, gerelateerdeZaken]).length / 100

/** Whether a case that was read as `SMALL` has more than that. */
const isLong = (row: PageRow): boolean =>
  row.isLong ||
  LISTS.some((list) => isLonger(list, row, LIMITS.relatedOnPage)) ||
  row.relevanteAndereZaken.length > LIMITS.relatedOnPage ||
  row.gerelateerdeZaken.length > LIMITS.relatedOnPage

/** How many cases there are in parts that do not overlap. */
export async function countZaken(reader: Reader, parts: ZaakConditions[]): Promise<Count | number> {
  const [one, ...others] = await Promise.all(parts.map((part) => countPart(reader, part)))
  if (one !== undefined && others.length === 0) return one
  return [one, ...others].reduce<number>((sum, part = 0) => sum + (typeof part === 'number' ? part : part.count), 0)
}

async function countPart(
  reader: Reader,
  { counted, others, kept, onlyPart, rest }: ZaakConditions,
): Promise<Count | number> {
  if (others.length === 0) return sumCounts(reader, sql`zaak_count z`, counted)
  if (kept) return sumCounts(reader, sql`zaak_part_count z`, kept)
  if (onlyPart) {
    const id = sql`x.zaak_id`
    return countRows(reader, onlyPart.part, onlyPart.conditions, { what: sql`distinct ${id}`, id })
  }
  const byRest = rest && (await countByRest(reader, { counts: sql`zaak_count z`, from: sql`zaak z`, rest }))
  return byRest ?? countRows(reader, sql`zaak z`, [...counted, ...others], { id: sql`z.id` })
}

/**
 * A page is found first, with nothing but ids; only its rows are joined to all that hangs on them. Rights are part of the first
 * statement only: who shows the rows asks `mayDo` of each, since a case may have become another's between the two.
 */
export async function pageOfZaken(
  reader: Reader,
  conditions: Conditions,
  order: Order,
  limit: number,
  offset: number,
  known?: Known,
): Promise<PageRow[]> {
  return pageRows(reader, await pageOfIds(reader, idList(conditions, order), limit, offset, known))
}

/** Conditions as a list of ids. */
export const idList = ({ counted, others }: Conditions, order: Order): IdList => ({
  from: sql`zaak z`,
  id: sql`z.id`,
  conditions: [...counted, ...others],
  order,
})

/** The cases with these ids, without regard to rights. */
export const pageRows = rowsById<PageRow>(
  ({ db }) => small(db).where(sql<boolean>`z.id = any(${[]}::bigint[])`).compile().sql,
)

const IS_LARGE = sql<boolean>`pg_column_size(z.zaakgeometrie) > 2000`
const IS_LONG = sql<boolean>`(pg_column_size(z.kenmerken) > 2000 or jsonb_array_length(z.kenmerken) > ${sql.lit(LIMITS.relatedOnPage)}
  or cardinality(z.producten_of_diensten) > ${sql.lit(LIMITS.relatedOnPage)})`
const SMALL: Extent = {
  most: LIMITS.relatedOnPage,
  others: LIMITS.relatedOnPage,
  geometrie: sql`case when not ${IS_LARGE} then z.zaakgeometrie end`,
  kenmerken: sql`case when ${IS_LONG} then '[]' else z.kenmerken end`,
  producten: sql`case when ${IS_LONG} then '{}' else z.producten_of_diensten end`,
}
const small = (db: ReadDb) =>
  zaken(db, SMALL).select([sql<boolean>`coalesce(${IS_LARGE}, false)`.as('isLarge'), IS_LONG.as('isLong')])
/** A case of a page: a large geometry is not there yet, and of lists only the beginning. */
export type PageRow = ZaakRow & { isLarge: boolean; isLong: boolean }

/**
 * Makes the answers of the cases of a page, those with long lists one by one: together they may be very large.
 * @param most of each list as many are given to `answer`; all that a case may have when it says nothing
 * @param isReadable whether the actor may read a case that was read again
 */
export function answersOf<R extends object>(
  db: ReadDb,
  rows: PageRow[],
  base: string,
  isReadable: (row: ZaakRow) => boolean,
  most: number | undefined,
  answer: Answer<R>,
): Iterable<R> | AsyncIterable<R | Written> {
  if (rows.some((row) => row.isLarge || isLong(row))) return answersApart(db, rows, base, isReadable, most, answer)
  return answer(rows.filter(isReadable).map((row) => toZaak(row, base)))
}

type Answer<R> = (resources: ReturnType<typeof toZaak>[]) => Iterable<R> | AsyncIterable<R>

async function* answersApart<R extends object>(
  db: ReadDb,
  rows: PageRow[],
  base: string,
  isReadable: (row: ZaakRow) => boolean,
  most: number | undefined,
  answer: Answer<R>,
): AsyncGenerator<R | Written> {
  const made = (few: PageRow[]) => withGeometrie(db, few, answer(few.map((row) => toZaak(row, base))))
  let few: PageRow[] = []
  for (const row of rows) {
    if (!isReadable(row)) continue
    if (!isLong(row)) {
      few.push(row)
      continue
    }
    yield* made(few)
    few = []
    const whole = await findZaak(db, row.uuid, most)
    if (!whole || !isReadable(whole)) continue // changed since
    for await (const one of answer([toZaak(whole, base)]))
      yield longLists(one).length > 0 ? written(db, whole, one, base) : one
  }
  yield* made(few)
}

/**
 * The answers for the cases of a page, with the large geometries read a few at a time: together they may be very large. They
 * stay text, since reading and writing it as JSON would be most of the work.
 */
async function* withGeometrie<R extends object>(
  db: ReadDb,
  rows: PageRow[],
  answers: Iterable<R> | AsyncIterable<R>,
): AsyncGenerator<R | Written> {
  let textById = new Map<number, string | null>()
  let index = 0
  for await (const answer of answers) {
    if (index % LIMITS.geometriesAtOnce === 0) {
      const few = rows.slice(index, index + LIMITS.geometriesAtOnce)
      const ids = few.filter(({ isLarge }) => isLarge).map(({ id }) => id)
      const found = ids.length === 0 ? [] : await geometrieen(db, ids)
      textById = new Map(found.map(({ id, zaakgeometrie }) => [id, zaakgeometrie]))
    }
    const { id, isLarge } = expected(rows[index++])
    if (!isLarge || !('zaakgeometrie' in answer)) yield answer
    else yield Written.object(answer, { zaakgeometrie: [textById.get(id) ?? 'null'] })
  }
}

const geometrieen = (db: ReadDb, ids: number[]) =>
  db
    .selectFrom('zaak')
    .select(['id', sql<string | null>`zaakgeometrie::text`.as('zaakgeometrie')])
    .where('id', 'in', ids)
    .execute()
