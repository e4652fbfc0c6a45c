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
    const [found] = await database.sql<
      { rows: number }[]
    >`select coalesce(rows_id, id) as rows from import where id = ${id}`
    await removeRows(database.sql, 'import_row', found?.rows ?? id)
    await removeRows(database.sql, 'import_outcome', id)
    await database.db.deleteFrom('import').where('id', '=', id).where(sql<boolean>`deleted_at is not null`).execute()
  }
}

/** Removes the rows of an import from one table, a portion at a time. */
export async function removeRows(
  sql: Database['sql'],
  table: 'import_row' | 'import_outcome',
  id: number,
): Promise<void> {
  for (let after = 0; ; after += ROWS) {
    const left = await sql<{ more: boolean }[]>`
      with gone as (delete from ${sql(table)} where import_id = ${id} and number >= ${after} and number < ${after + ROWS})
      select exists (select from ${sql(table)} where import_id = ${id} and number >= ${after + ROWS}) as more`
    if (!one(left).more) break
  }
}
