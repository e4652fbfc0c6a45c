// Deleting a version of a zaaktype, with what is below it.
import { sql } from 'kysely'
import { revokeType } from '../../autorisaties/types.ts'
import type { Mutation } from '../../core/mutate.ts'
import { recordChange } from '../records.ts'
import { handOverRelations } from '../related-types.ts'
import { deleteUnlessInUse, requireDeletable } from '../rules.ts'
import { toZaaktype } from './columns.ts'
import { zaaktypeForChange } from './read.ts'
import { named, placeOf } from './record.ts'
import { hasPublishedBesluittype } from './rules.ts'

/**
 * Relations with the type go over to another version; what is below it goes.
 * @throws Problem 404; 400 when it was published, without the forced scope (ztc-009); 409 when it is in use
 */
export async function deleteZaaktype(m: Mutation, uuid: string): Promise<void> {
  const before = await zaaktypeForChange(m, uuid)
  await requireDeletable(m, before, async () => {
    const { rows } = await sql`
      select 1 from zaaktype_informatieobjecttype r join informatieobjecttype i on i.id = r.informatieobjecttype_id
      where r.zaaktype_id = ${before.id} and not i.concept limit 1`.execute(m.trx)
    return rows.length > 0 || hasPublishedBesluittype(m, before.id)
  })
  await handOverRelations(m, 'zaaktype', before.id, [
    { table: 'zaaktype_deelzaaktype', owner: 'zaaktype_id', column: 'deelzaaktype_id' },
    { table: 'zaaktype_gerelateerd_zaaktype', owner: 'zaaktype_id', column: 'gerelateerd_zaaktype_id' },
  ])
  await deleteUnlessInUse(() => m.trx.deleteFrom('zaaktype').where('id', '=', before.id).execute())
  await revokeType(m, 'zrc', uuid, placeOf(before))
  recordChange(m, 'destroy', 'zaaktype', named(before), toZaaktype(before, m.actor.base), null)
}
