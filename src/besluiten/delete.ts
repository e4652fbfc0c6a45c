// Deleting a besluit with all that hangs on it.
import type { Mutation } from '../core/mutate.ts'
import { unlinkAllOf } from '../documenten/object-links.ts'
import { requireMatch } from '../http/etag.ts'
import { releaseRemote } from '../services/remote-relations.ts'
import { requireWritable } from '../zaken/lock.ts'
import { toBesluit } from './columns.ts'
import { lockBesluit, zaakOf } from './lock.ts'
import { recordBesluit } from './record.ts'
import { requireMay, VERWIJDEREN } from './rights.ts'
import { syncZaakbesluit } from './zaakbesluiten.ts'

/** brc-009: a besluit goes with its relations to documents, its place in the case, and its audit trail. */
export async function deleteBesluit(m: Mutation, uuid: string): Promise<void> {
  const row = await lockBesluit(m, uuid)
  requireMay(m.actor, VERWIJDEREN, row)
  requireMatch(m, () => toBesluit(row, m.actor.base))
  const zaak = await zaakOf(m, row)
  if (zaak) requireWritable(m, zaak)
  await unlinkAllOf(m, [uuid])
  const others = await m.sql<{ uuid: string }[]>`
    select uuid from besluitinformatieobject where besluit_id = ${row.id} and informatieobject_url is not null`
  await releaseRemote(m, 'besluit', [uuid])
  await releaseRemote(
    m,
    'besluitinformatieobject',
    others.map((one) => one.uuid),
  )
  await m.trx.deleteFrom('besluit').where('id', '=', row.id).execute()
  recordBesluit(m, 'destroy', row, toBesluit(row, m.actor.base), null)
  await syncZaakbesluit(m, { row, zaak }, null) // brc-006
}
