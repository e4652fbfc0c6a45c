// What filters would let through, by the messages that were there last.
import { sql } from 'kysely'
import type { ReadDb } from '../../database/database.ts'
import { expected } from '../../database/rows.ts'
import type { KnownGroup } from './judge.ts'

const LOOKED_AT = 1_000

export type Preview = {
  /** Messages that were looked at: the last thousand of all kanalen. */
  seen: number
  fitting: number
  /** Those that fit only because they do not have a kenmerk that is filtered on. */
  byAbsence: number
  /** How many fit by each group, in their order. */
  perGroep: number[]
}

/** @param events whether it gets cloud events */
export async function previewFilters(db: ReadDb, groups: KnownGroup[], events: boolean): Promise<Preview> {
  const given = JSON.stringify(groups.map(({ kanaalId, filters }) => ({ kanaal_id: kanaalId, filters })))
  const { rows } = await sql<{ groep: number | null; seen: number; fitting: number; byAbsence: number }>`
    with laatste as materialized (select * from notificatie order by aanmaakdatum desc, id desc limit ${LOOKED_AT}),
    groep as (
      select g.nummer, g.filters, k.naam as kanaal
      from rows from (jsonb_to_recordset(${given}::text::jsonb) as (kanaal_id bigint, filters jsonb))
        with ordinality as g(kanaal_id, filters, nummer)
      join kanaal k on k.id = g.kanaal_id
    ), past as (
      select g.nummer, n.id, exists (
          select from jsonb_object_keys(g.filters) f(naam) where f.naam not in ('#resource', '#actie') and not exists (
            select from jsonb_object_keys(n.kenmerken) k(naam) where kenmerk_name(k.naam) = kenmerk_name(f.naam))) as afwezig
      from laatste n join groep g on g.kanaal = n.kanaal and (n.cloudevent is null or ${events})
        and filters_fit(g.filters, n.kenmerken, n.resource, n.actie)
    )
    select null::bigint as groep, (select count(*) from laatste) as seen, count(distinct id) as fitting,
      count(distinct id) - count(distinct id) filter (where not afwezig) as by_absence from past
    union all select nummer, 0, count(*), 0 from past group by nummer`.execute(db)
  const total = expected(rows.find(({ groep }) => groep === null))
  return {
    seen: total.seen,
    fitting: total.fitting,
    byAbsence: total.byAbsence,
    perGroep: groups.map((_, index) => rows.find(({ groep }) => groep === index + 1)?.fitting ?? 0),
  }
}
