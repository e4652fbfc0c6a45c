// remove-import: removes the rows of a deleted import bit by bit, and then the import. Running twice is harmless.
import type { Task } from 'graphile-worker'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { Database } from '../src/database/database.ts'
import { one } from '../src/database/rows.ts'
import { readInput } from '../src/http/input.ts'

const Payload = Type.Object({ id: Type.Integer() })
declare global {
  namespace GraphileWorker {
    interface Tasks {
      'remove-import': Static<typeof Payload>
    }
  }
}

const ROWS = 10_000

export function removeImport({ database }: { database: Database }): Task {
  return async (payload) => {
    const { id } = readInput(Payload, payload)
    for (const table of ['import_row', 'import_outcome']) {
      for (let after = 0; ; after += ROWS) {
        const left = await database.sql`
          with gone as (delete from ${database.sql(table)} where import_id = ${id} and number >= ${after} and number < ${after + ROWS})
          select exists (select from ${database.sql(table)} where import_id = ${id} and number >= ${after + ROWS}) as more`
        if (!one(left).more) break
      }
    }
    await database.db.deleteFrom('import').where('id', '=', id).where(sql<boolean>`deleted_at is not null`).execute()
  }
}
