// remove-draft: removes the rows of an uploaded CSV bit by bit, and then the upload. Running twice is harmless.
import type { Task } from 'graphile-worker'
import Type, { type Static } from 'typebox'
import type { Database } from '../src/database/database.ts'
import { readInput } from '../src/http/input.ts'

const Payload = Type.Object({ id: Type.Integer() })
declare global {
  namespace GraphileWorker {
    interface Tasks {
      'remove-draft': Static<typeof Payload>
    }
  }
}

const ROWS = 10_000

export function removeDraft({ database }: { database: Database }): Task {
  return async (payload) => {
    const { id } = readInput(Payload, payload)
    for (const table of ['import_draft_row', 'import_draft_key', 'import_draft_fault_kind', 'import_draft_fault']) {
      for (let removed = ROWS; removed === ROWS; ) {
        const result = await database.sql`
          delete from ${database.sql(table)} where ctid = any(array(
            select ctid from ${database.sql(table)} where draft_id = ${id} limit ${ROWS}))`
        removed = result.count
      }
    }
    await database.sql`delete from import_draft where id = ${id} and deleted_at is not null`
  }
}
