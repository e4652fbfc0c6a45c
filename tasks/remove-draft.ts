// remove-draft: removes what is left of an uploaded CSV bit by bit, and then the upload. Rows that an import took stay. Running twice is
// harmless.
import type { Task } from 'graphile-worker'
import Type, { type Static } from 'typebox'
import type { Database } from '../src/database/database.ts'
import { readInput } from '../src/http/input.ts'
import { removeRows } from './remove-import.ts'

const Payload = Type.Object({ id: Type.Integer() })
declare global {
  namespace GraphileWorker {
    interface Tasks {
      'remove-draft': Static<typeof Payload>
    }
  }
}

const ROWS = 10_000
/** What an upload leaves, with what tells its rows apart. */
const PARTS = {
  import_draft_row: 'number',
  import_draft_key: 'key',
  import_draft_fault_kind: 'hash',
  import_draft_fault: 'number',
}

export function removeDraft({ database: { sql } }: { database: Database }): Task {
  return async (payload) => {
    const { id } = readInput(Payload, payload)
    const taken = await sql`select from import where rows_id = ${-id}`
    if (taken.length === 0) await removeRows(sql, 'import_row', -id)
    for (const [table, key] of Object.entries(PARTS)) {
      // Each portion begins where the last one ended: from the beginning it would pass all that was removed before it, which stays in
      // the table while somebody holds an old snapshot.
      const first = sql`draft_id = ${id}`
      for (let rest = first; ; ) {
        const [last] = await sql`
          with portion as materialized (
            select ctid, ${sql(key)} as key from ${sql(table)} where ${rest} order by ${sql(key)} limit ${ROWS}
          ), gone as (
            delete from ${sql(table)} where ctid = any(array(select ctid from portion))
          ) select key::text as key from portion order by portion.key desc limit 1`
        if (!last) break
        rest = sql`${first} and ${sql(key)} > ${last.key}`
      }
    }
    await sql`delete from import_draft where id = ${id} and deleted_at is not null`
  }
}
