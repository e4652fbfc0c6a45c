// The rows of imports.
import { sql } from 'kysely'
import { notFound } from '../../core/problem.ts'
import type { ReadDb } from '../../database/database.ts'

/** The imports that were not deleted. */
export function imported(db: ReadDb) {
  return db.selectFrom('import').where('deletedAt', 'is', null)
}

/** Of an import that waits for its turn, how manieth it is; null when it does not wait. */
export const PLACE = sql<number | null>`case when import.status = 'queued' then
  (select count(*)::int from import q where q.status = 'queued' and q.id <= import.id) end`.as('place')

/** Whether an import stands still because no worker runs. */
export const LACKS_WORKER = sql<boolean>`import.status = 'active' and import.updated_at < now() - interval '15 seconds'
  and not exists (select from worker where seen_at > now() - interval '15 seconds')`.as('lacksWorker')

/** The imports that were not deleted, with their place in the queue. */
export function importsWithPlace(db: ReadDb) {
  return imported(db).selectAll().select([PLACE, LACKS_WORKER])
}

/** @throws Problem 404 when there is no such import, or it was deleted */
export async function requireImport(db: ReadDb, uuid: string) {
  const row = await importsWithPlace(db).where('uuid', '=', uuid).executeTakeFirst()
  if (!row) throw notFound()
  return row
}

export type ImportRow = Awaited<ReturnType<typeof requireImport>>

/** Where the rows of an import are in `import_row`: those of a file of more than one portion stay where they were received. */
export const rowsOf = ({ id, rowsId }: { id: number; rowsId: number | null }): number => rowsId ?? id

/** The cell of row `r` at a place of the header, to be shown: '' when there is none, or when it is too long for what it should be. */
export const cellAt = (place: number) => sql<string>`coalesce((
  select c.cel from json_array_elements(r.cells) with ordinality c(cel, n)
  where c.n = ${place + 1} and octet_length(c.cel::text) <= 4000), '""')`
