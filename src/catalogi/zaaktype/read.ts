// zaaktypen as they are found. Every resource is one version of a type; versions share their identificatie.
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { ReadDb } from '../../database/database.ts'
import { ExpandQuery } from '../../http/expand.ts'
import { Url } from '../../http/input.ts'
import { contains, PageQuery } from '../../http/page.ts'
import { expandable } from '../expand.ts'
import { filterUuid } from '../rules.ts'
import { DatumGeldigheid, StatusFilter, validOn } from '../versions.ts'
import { allZaaktypen, selectZaaktype, toZaaktype, type Zaaktypen, type ZaaktypeRow } from './columns.ts'

export const ZaaktypeFilter = Type.Object({
  ...PageQuery,
  ...ExpandQuery,
  catalogus: Type.Optional(Url()),
  identificatie: Type.Optional(Type.String()),
  identificatie__icontains: Type.Optional(Type.String()),
  omschrijving__icontains: Type.Optional(Type.String()),
  trefwoorden: Type.Optional(Type.Array(Type.String())),
  status: StatusFilter,
  datumGeldigheid: DatumGeldigheid,
})

export function listZaaktypen(db: ReadDb, filter: Static<typeof ZaaktypeFilter>, base: string): Zaaktypen {
  const { status = 'definitief', datumGeldigheid } = filter
  return allZaaktypen(db)
    .$if(status !== 'alles', (query) => query.where('t.concept', '=', status === 'concept'))
    .$if(filter.catalogus !== undefined, (query) =>
      query.where('c.uuid', 'is not distinct from', filterUuid(filter.catalogus!, base, 'catalogus')),
    )
    .$if(filter.identificatie !== undefined, (query) => query.where('t.identificatie', '=', filter.identificatie!))
    .$if(filter.identificatie__icontains !== undefined, (query) =>
      query.where(contains(sql.ref('t.identificatie'), filter.identificatie__icontains!)),
    )
    .$if(filter.omschrijving__icontains !== undefined, (query) =>
      query.where(contains(sql.ref('t.omschrijving'), filter.omschrijving__icontains!)),
    )
    .$if(filter.trefwoorden !== undefined, (query) =>
      query.where(sql<boolean>`t.trefwoorden @> ${filter.trefwoorden!}::text[]`),
    )
    .$if(datumGeldigheid !== undefined, (query) => query.where(sql<boolean>`${validOn('t.', datumGeldigheid!)}`))
}

export function findZaaktype(db: ReadDb, uuid: string, datum?: string): Promise<ZaaktypeRow | undefined> {
  return selectZaaktype(allZaaktypen(db), datum ?? null)
    .where('t.uuid', '=', uuid)
    .executeTakeFirst()
}

expandable('zaaktype', async (read, base, uuids, datum) => {
  const rows = await selectZaaktype(allZaaktypen(read), datum).where('t.uuid', 'in', uuids).execute()
  return rows.map((row) => toZaaktype(row, base))
})
