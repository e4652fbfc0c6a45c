// The rows of imports.
import type { ReadDb } from '../../database/database.ts'
import { notFound } from '../../http/problem.ts'

export function imported(db: ReadDb) {
  return db.selectFrom('import').where('verwijderdOp', 'is', null)
}

export async function requireImport(db: ReadDb, uuid: string) {
  const row = await imported(db).where('uuid', '=', uuid).selectAll().executeTakeFirst()
  if (!row) throw notFound()
  return row
}

export type ImportRow = Awaited<ReturnType<typeof requireImport>>
