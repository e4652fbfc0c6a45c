// Publishing a version of a zaaktype: cases can be made of it then.
import { sql } from 'kysely'
import type { Mutation } from '../../core/mutate.ts'
import { onObject, throwFaults } from '../../core/problem.ts'
import { expected } from '../../database/rows.ts'
import { recordChange } from '../records.ts'
import { allPublished, requireNoOverlap } from '../versions.ts'
import { toZaaktype } from './columns.ts'
import { findZaaktype, zaaktypeForChange } from './read.ts'
import { named } from './record.ts'

/** Makes a version usable, with what is below it. Publishing it again runs the same checks and changes nothing. */
export async function publishZaaktype(m: Mutation, uuid: string) {
  const before = await zaaktypeForChange(m, uuid)
  const published =
    (await allPublished(
      m,
      'besluittype',
      sql`select r.besluittype_id from zaaktype_besluittype r where r.zaaktype_id = ${before.id}`,
    )) &&
    (await allPublished(
      m,
      'informatieobjecttype',
      sql`select r.informatieobjecttype_id from zaaktype_informatieobjecttype r where r.zaaktype_id = ${before.id}`,
    ))
  if (!published) throwFaults([CONCEPT_RELATION])
  await requireNoOverlap(m, 'zaaktype', { ...before, key: before.identificatie })
  await m.trx.updateTable('zaaktype').set({ concept: false }).where('id', '=', before.id).execute()
  const row = expected(await findZaaktype(m.read, uuid))
  const zaaktype = toZaaktype(row, m.actor.base)
  recordChange(m, 'update', 'zaaktype', named(row), toZaaktype(before, m.actor.base), zaaktype)
  return zaaktype
}

/** What a case needs of its type to run to its end. The standard's own suites publish types without, so it is a warning. */
export function missingParts(zaaktype: {
  roltypen: readonly string[]
  resultaattypen: readonly string[]
  statustypen: readonly string[]
}): string[] {
  return [
    ...(zaaktype.statustypen.length < 2 ? ['twee statustypen'] : []),
    ...(zaaktype.resultaattypen.length === 0 ? ['resultaattypen'] : []),
    ...(zaaktype.roltypen.length === 0 ? ['roltypen'] : []),
  ]
}

const CONCEPT_RELATION = onObject(
  'concept-relation',
  'Een gerelateerd besluittype of informatieobjecttype is nog niet gepubliceerd.',
)
