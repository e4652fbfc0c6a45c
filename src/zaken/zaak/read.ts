// Finding cases. Every query on them begins here: `z` is the case, `t` its zaaktype, `c` the catalogue of that.
import { type RawBuilder, sql } from 'kysely'
import type { Database, ReadDb } from '../../database/database.ts'
import { type Conditions, countRows, type Order, pageOfIds, rowsById, sumCounts } from '../../database/list.ts'
import type { Actor } from '../../http/actor.ts'
import { LIMITS } from '../../http/limits.ts'
import { reached } from '../rights.ts'
import { COLUMNS, type Related, type ZaakRow } from './columns.ts'
import type { ZaakConditions } from './filters.ts'

const below = (table: string) =>
  sql<string[]>`array(select b.uuid from ${sql.table(table)} b where b.zaak_id = z.id order by b.id desc)`

function zaken(db: ReadDb, geometrie: RawBuilder<ZaakRow['zaakgeometrie']> = sql.ref('z.zaakgeometrie')) {
  return db
    .selectFrom('zaak as z')
    .leftJoin('zaaktype as t', 't.id', 'z.zaaktypeId')
    .leftJoin('catalogus as c', 'c.id', 't.catalogusId')
    .select(COLUMNS)
    .select(geometrie.as('zaakgeometrie'))
    .select(['t.uuid as zaaktypeUuid', 'c.uuid as catalogusUuid'])
    .select([
      sql<string | null>`(select h.uuid from zaak h where h.id = z.hoofdzaak_id)`.as('hoofdzaakUuid'),
      sql<string[]>`array(select d.uuid from zaak d where d.hoofdzaak_id = z.id order by d.id)`.as('deelzaken'),
      below('zaakeigenschap').as('eigenschappen'),
      below('rol').as('rollen'),
      below('zaakinformatieobject').as('zaakinformatieobjecten'),
      below('zaakobject').as('zaakobjecten'),
      sql<
        string | null
      >`(select s.uuid from status s where s.zaak_id = z.id order by s.datum_status_gezet desc limit 1)`.as('status'),
      sql<string | null>`(select r.uuid from resultaat r where r.zaak_id = z.id)`.as('resultaat'),
      sql<
        Related['relevanteAndereZaken']
      >`coalesce((select jsonb_agg(jsonb_build_object('uuid', o.uuid, 'url', a.andere_zaak_url,
        'aardRelatie', a.aard_relatie, 'overigeRelatie', a.overige_relatie, 'toelichting', a.toelichting) order by a.volgorde)
        from zaak_andere_zaak a left join zaak o on o.id = a.andere_zaak_id where a.zaak_id = z.id), '[]')`.as(
        'relevanteAndereZaken',
      ),
      sql<
        Related['gerelateerdeZaken']
      >`coalesce((select jsonb_agg(jsonb_build_object('uuid', o.uuid, 'url', g.andere_zaak_url) order by g.id)
        from zaak_gerelateerde_zaak g left join zaak o on o.id = g.andere_zaak_id where g.zaak_id = z.id), '[]')`.as(
        'gerelateerdeZaken',
      ),
    ])
}
export function findZaak(db: ReadDb, uuid: string): Promise<ZaakRow | undefined> {
  return zaken(db).where('z.uuid', '=', uuid).executeTakeFirst()
}

/** The cases with these uuids as far as the actor may read them: for expand. */
export async function findReadable(db: ReadDb, actor: Actor, uuids: string[]): Promise<ZaakRow[]> {
  if (uuids.length === 0) return []
  return zaken(db).where(sql<boolean>`z.uuid = any(${uuids}::uuid[])`).where(reached(actor)).execute()
}

/** How many cases there are in parts that do not overlap. */
export async function countZaken(database: Database, delen: ZaakConditions[]): Promise<number> {
  const counts = delen.map(({ counted, others, onlyPart }) => {
    if (others.length === 0) return sumCounts(database, sql`zaak_aantal z`, counted)
    if (!onlyPart) return countRows(database, sql`zaak z`, [...counted, ...others])
    const { part, conditions, isOne } = onlyPart
    return countRows(database, part, conditions, isOne ? sql`*` : sql`distinct x.zaak_id`)
  })
  return (await Promise.all(counts)).reduce((sum, n) => sum + n, 0)
}

/**
 * A page is found first, with nothing but ids; only its rows are joined to all that hangs on them. Rights are part of the first
 * statement only: who shows the rows asks `mayDo` of each, since a case may have become another's between the two.
 */
export async function pageOfZaken(
  database: Database,
  { counted, others }: Conditions,
  order: Order,
  limit: number,
  offset: number,
  count?: number,
): Promise<PageRow[]> {
  const list = { from: sql`zaak z`, id: sql`z.id`, conditions: [...counted, ...others], order }
  return pageRows(database, await pageOfIds(database, list, limit, offset, count))
}

const pageRows = rowsById<PageRow>(
  ({ db }) =>
    zaken(db as unknown as ReadDb, sql`case when not ${IS_LARGE} then z.zaakgeometrie end`)
      .select(sql<boolean>`coalesce(${IS_LARGE}, false)`.as('isLarge'))
      .where(sql<boolean>`z.id = any(${[]}::bigint[])`)
      .compile().sql,
)

const IS_LARGE = sql<boolean>`pg_column_size(z.zaakgeometrie) > 2000`
/** A case of a page: a large geometry is not there yet. */
type PageRow = ZaakRow & { isLarge: boolean }

/** The answers for the cases of a page, with the large geometries read a few at a time: together they may be very large. */
export async function* withGeometrie<R extends object>(
  db: ReadDb,
  rows: PageRow[],
  answers: AsyncIterable<R>,
): AsyncGenerator<R> {
  let geometrieById = new Map<number, unknown>()
  let index = 0
  for await (const answer of answers) {
    if (index % LIMITS.geometriesAtOnce === 0) {
      const few = rows.slice(index, index + LIMITS.geometriesAtOnce)
      const ids = few.filter(({ isLarge }) => isLarge).map(({ id }) => id)
      const found = ids.length === 0 ? [] : await geometrieen(db, ids)
      geometrieById = new Map(found.map(({ id, zaakgeometrie }) => [id, zaakgeometrie]))
    }
    const { id, isLarge } = rows[index++]!
    yield isLarge && 'zaakgeometrie' in answer ? { ...answer, zaakgeometrie: geometrieById.get(id) ?? null } : answer
  }
}

const geometrieen = (db: ReadDb, ids: number[]) =>
  db.selectFrom('zaak').select(['id', 'zaakgeometrie']).where('id', 'in', ids).execute()
