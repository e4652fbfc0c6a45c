// zaaktypen as they are found. Every resource is one version of a type; versions share their identificatie.
import { type RawBuilder, sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { Mutation } from '../../core/mutate.ts'
import { notFound } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'
import { when } from '../../database/when.ts'
import { requireMatch } from '../../http/etag.ts'
import { ExpandQuery } from '../../http/expand.ts'
import { Url } from '../../http/input.ts'
import { CursorQuery, contains, PageQuery } from '../../http/page.ts'
import { filterUuid } from '../rules.ts'
import { DatumGeldigheid, StatusFilter, validOn } from '../versions.ts'
import { allZaaktypen, selectZaaktype, toZaaktype, type Zaaktypen, type ZaaktypeRow } from './columns.ts'

export const ZaaktypeFilter = Type.Object({
  ...PageQuery,
  ...CursorQuery,
  ...ExpandQuery,
  catalogus: Type.Optional(Url()),
  identificatie: Type.Optional(Type.String()),
  identificatie__icontains: Type.Optional(Type.String()),
  omschrijving__icontains: Type.Optional(Type.String()),
  trefwoorden: Type.Optional(Type.Array(Type.String())),
  status: StatusFilter,
  datumGeldigheid: DatumGeldigheid,
})

/** Not in any order; published ones only, unless `status` asks for others. */
export function listZaaktypen(db: ReadDb, filter: Static<typeof ZaaktypeFilter>, base: string): Zaaktypen {
  const { status = 'definitief', datumGeldigheid } = filter
  return allZaaktypen(db)
    .$if(status !== 'alles', (query) => query.where('t.concept', '=', status === 'concept'))
    .$call(
      when(filter.catalogus, (query, catalogus) =>
        query.where('c.uuid', 'is not distinct from', filterUuid(catalogus, base, 'catalogus')),
      ),
    )
    .$call(when(filter.identificatie, (query, identificatie) => query.where('t.identificatie', '=', identificatie)))
    .$call(
      when(filter.identificatie__icontains, (query, text) => query.where(contains(sql.ref('t.identificatie'), text))),
    )
    .$call(
      when(filter.omschrijving__icontains, (query, text) => query.where(contains(sql.ref('t.omschrijving'), text))),
    )
    .$call(
      when(filter.trefwoorden, (query, trefwoorden) =>
        query.where(sql<boolean>`t.trefwoorden @> ${trefwoorden}::text[]`),
      ),
    )
    .$call(when(datumGeldigheid, (query, day) => query.where(sql<boolean>`${validOn('t.', day)}`)))
}

/** @param datum relations are shown with the versions that are valid on this day */
export function findZaaktype(db: ReadDb, uuid: string, datum?: string): Promise<ZaaktypeRow | undefined> {
  return selectZaaktype(allZaaktypen(db), datum ?? null)
    .where('t.uuid', '=', uuid)
    .executeTakeFirst()
}

export async function zaaktypeForChange(m: Mutation, uuid: string): Promise<ZaaktypeRow> {
  await m.trx.selectFrom('zaaktype').where('uuid', '=', uuid).forUpdate().select('id').execute()
  const row = await findZaaktype(m.read, uuid)
  if (!row) throw notFound()
  requireMatch(m, () => toZaaktype(row, m.actor.base))
  return row
}

/** How a `_batch` reads them. */
export const zaaktypeSource = {
  resource: 'zaaktype' as const,
  listed: (db: ReadDb, filter: Static<typeof ZaaktypeFilter>, base: string) =>
    listZaaktypen(db, filter, base).select('t.id'),
  rows: (db: ReadDb, condition: RawBuilder<boolean>, datum: string | null) =>
    selectZaaktype(allZaaktypen(db).where(condition), datum),
  toResource: toZaaktype,
}

/** Those with these uuids, as the API shows them. */
export async function loadZaaktypen(read: ReadDb, base: string, uuids: string[], datum: string | null) {
  const rows = await selectZaaktype(allZaaktypen(read), datum).where('t.uuid', 'in', uuids).execute()
  return rows.map((row) => toZaaktype(row, base))
}
