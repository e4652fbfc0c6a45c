// The relations of a resultaattype with besluittypen and informatieobjecttypen.
import { sql } from 'kysely'
import type { Mutation } from '../../core/mutate.ts'
import { type InvalidParam, throwFaults } from '../../core/problem.ts'
import { replaceRows } from '../../database/replace-rows.ts'
import type { ZaaktypeOfPart } from '../parts.ts'
import { findRelations, type NamedType } from '../related-types.ts'

export type Relations = { besluittypen: NamedType[]; informatieobjecttypen: NamedType[] }

/** @param faults what was found wrong already, reported together with these @throws Problem 400 */
export async function readRelations(
  m: Mutation,
  input: { besluittypen?: string[]; informatieobjecttypen?: string[] },
  zaaktype: ZaaktypeOfPart,
  faults: InvalidParam[],
): Promise<Relations> {
  const find = (type: 'besluittype' | 'informatieobjecttype', values: readonly string[], name: string) =>
    findRelations(m, type, values, zaaktype.catalogusId, name, faults)
  const besluittypen = await find('besluittype', input.besluittypen ?? [], 'besluittypen')
  const informatieobjecttypen = await find(
    'informatieobjecttype',
    input.informatieobjecttypen ?? [],
    'informatieobjecttypen',
  )
  throwFaults(faults)
  return { besluittypen, informatieobjecttypen }
}

/** Whether a type that it is related to was published. */
export async function hasPublishedRelations(m: Mutation, id: number): Promise<boolean> {
  const { rows } = await sql`
    select 1 from resultaattype_besluittype r join besluittype b on b.id = r.besluittype_id
    where r.resultaattype_id = ${id} and not b.concept
    union all
    select 1 from resultaattype_informatieobjecttype r join informatieobjecttype i on i.id = r.informatieobjecttype_id
    where r.resultaattype_id = ${id} and not i.concept limit 1`.execute(m.trx)
  return rows.length > 0
}

/** Replaces each kind of relation that is given, and leaves the others. */
export async function writeRelations(
  m: Mutation,
  resultaattypeId: number,
  relaties: Partial<Relations>,
): Promise<void> {
  const { besluittypen, informatieobjecttypen } = relaties
  if (besluittypen)
    await replaceRows(
      m.trx.deleteFrom('resultaattypeBesluittype').where('resultaattypeId', '=', resultaattypeId),
      besluittypen.map(({ id, byUrl }) => ({ resultaattypeId, besluittypeId: id, byUrl })),
      (rows) => m.trx.insertInto('resultaattypeBesluittype').values(rows),
    )
  if (informatieobjecttypen)
    await replaceRows(
      m.trx.deleteFrom('resultaattypeInformatieobjecttype').where('resultaattypeId', '=', resultaattypeId),
      informatieobjecttypen.map(({ id, byUrl }) => ({ resultaattypeId, informatieobjecttypeId: id, byUrl })),
      (rows) => m.trx.insertInto('resultaattypeInformatieobjecttype').values(rows),
    )
}
