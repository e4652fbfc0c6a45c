// Which types show another answer when a type changes. A relation names one version and stands for all of them, so that a new version
// of a type is seen in all that are related to any version of it.
import { sql } from 'kysely'
import type { Reader } from '../database/database.ts'

const TYPES = ['zaaktype', 'besluittype', 'informatieobjecttype']
const PARTS = ['statustype', 'resultaattype', 'roltype', 'eigenschap', 'zaaktypeinformatieobjecttype', 'zaakobjecttype']

/** Types and parts of types whose answers a change of these rows changes as well. */
export async function relatedTypes(
  { db }: Reader,
  changed: { resource: string; rowId: number; operation: string }[],
): Promise<{ resource: string; id: number }[]> {
  const parts = changed.filter(({ resource }) => PARTS.includes(resource))
  const types = changed.filter(({ resource }) => TYPES.includes(resource))
  if (parts.length + types.length === 0) return []
  const ids = (resource: string) => changed.filter((one) => one.resource === resource).map(({ rowId }) => rowId)
  const { rows } = await sql<{ resource: string; id: number }>`
    with part as (
      select 'statustype' as resource, id, zaaktype_id from statustype union all select 'resultaattype', id, zaaktype_id from resultaattype
      union all select 'roltype', id, zaaktype_id from roltype union all select 'eigenschap', id, zaaktype_id from eigenschap
      union all select 'zaaktypeinformatieobjecttype', id, zaaktype_id from zaaktype_informatieobjecttype
      union all select 'zaakobjecttype', id, zaaktype_id from zaakobjecttype
    ), edge as (
      select 'zaaktype' as a, zaaktype_id as ai, 'zaaktype' as b, deelzaaktype_id as bi from zaaktype_deelzaaktype
      union all select 'zaaktype', zaaktype_id, 'zaaktype', gerelateerd_zaaktype_id from zaaktype_gerelateerd_zaaktype
      union all select 'zaaktype', zaaktype_id, 'besluittype', besluittype_id from zaaktype_besluittype
      union all select 'zaaktype', zaaktype_id, 'informatieobjecttype', informatieobjecttype_id from zaaktype_informatieobjecttype
      union all select 'besluittype', besluittype_id, 'informatieobjecttype', informatieobjecttype_id from besluittype_informatieobjecttype
      union all select 'resultaattype', resultaattype_id, 'besluittype', besluittype_id from resultaattype_besluittype
      union all select 'resultaattype', resultaattype_id, 'informatieobjecttype', informatieobjecttype_id from resultaattype_informatieobjecttype
      union all select 'zaaktypeinformatieobjecttype', id, 'informatieobjecttype', informatieobjecttype_id from zaaktype_informatieobjecttype
    ), link as (select a, ai, b, bi from edge union all select b, bi, a, ai from edge
    ), type as (
      select 'zaaktype' as resource, id, catalogus_id, identificatie as key from zaaktype
      union all select 'besluittype', id, catalogus_id, omschrijving from besluittype
      union all select 'informatieobjecttype', id, catalogus_id, omschrijving from informatieobjecttype
    ), of_part as (
      select distinct zaaktype_id from part join unnest(${parts.map(({ resource }) => resource)}::text[],
        ${parts.map(({ rowId }) => rowId)}::bigint[]) as c(resource, id) using (resource, id)
    ), named as (
      select distinct v.resource, v.id
      from type c join type v using (resource, catalogus_id, key)
      join unnest(${types.map(({ resource }) => resource)}::text[], ${types.map(({ rowId }) => rowId)}::bigint[]) as g(resource, id)
        on g.resource = c.resource and g.id = c.id
    )
    select resource, id from named
    union select l.b, l.bi from named n join link l on l.a = n.resource and l.ai = n.id where l.bi is not null
    union select 'zaaktype', zaaktype_id from of_part
    union select resource, id from part
      where zaaktype_id in (select zaaktype_id from of_part union select unnest(${ids('zaaktype')}::bigint[]))`.execute(
    db,
  )
  return rows
}
