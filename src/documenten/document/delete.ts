// Deleting a document with all its versions.

import { sql } from 'kysely'
import type { Mutation } from '../../core/mutate.ts'
import { requireMatch } from '../../http/etag.ts'
import { link } from '../../http/links.ts'
import { documentenKanaal, documentLabel } from '../kanaal.ts'
import { requireMay, VERWIJDEREN } from '../rights.ts'
import { requireNoRelations, requireUnlockedForDelete } from '../rules.ts'
import { deleteFiles } from './bytes.ts'
import { toDocument } from './columns.ts'
import { holdDocument } from './hold.ts'

/** Removes a document with all its versions and what hangs on it; its bytes go by a job after the commit. */
export async function deleteDocument(m: Mutation, uuid: string, catalogus: string): Promise<void> {
  const row = await holdDocument(m, uuid)
  requireMay(m.actor, VERWIJDEREN, row)
  requireMatch(m, () => toDocument(row, m.actor.base))
  await requireNoRelations(m.read, row.id)
  requireUnlockedForDelete(row.lock)
  const { rows } = await sql<{ fileId: number }>`
    select file_id from enkelvoudiginformatieobject_versie where enkelvoudiginformatieobject_id = ${row.id} and file_id is not null
    union select file_id from bestandsdeel where enkelvoudiginformatieobject_id = ${row.id} and file_id is not null`.execute(
    m.trx,
  )
  await m.trx.deleteFrom('enkelvoudiginformatieobject').where('id', '=', row.id).execute()
  await deleteFiles(
    m,
    rows.map(({ fileId }) => fileId),
  )
  m.record({
    component: 'drc',
    actie: 'destroy',
    resource: 'enkelvoudiginformatieobject',
    url: link(m.actor.base, 'enkelvoudiginformatieobject', uuid),
    uuid,
    weergave: documentLabel(row),
    kanaal: documentenKanaal(row, m.actor.base, catalogus),
    oud: toDocument(row, m.actor.base),
    nieuw: null,
    spoor: 'wis',
  })
}
