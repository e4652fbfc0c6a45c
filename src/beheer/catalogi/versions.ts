// The versions of one type, in order, with the days between them on which none is valid.
import { sql } from 'kysely'
import { TYPE_KEY } from '../../catalogi/versions.ts'
import type { ReadDb } from '../../database/database.ts'
import { addDays, type State, stateOf, type Version } from './context.ts'

export type Sibling = {
  uuid: string
  begin: string
  einde: string | null
  concept: boolean
  state: State
  here: boolean /** Days before it begins on which no published version is valid. */
  gap: { from: string; to: string } | undefined
}

/** All versions of the type that this one is a version of, the newest first. */
export async function versionsOf(db: ReadDb, version: Version): Promise<Sibling[]> {
  const same =
    version.key === ''
      ? sql`t.id = ${version.id}`
      : sql`t.catalogus_id = ${version.catalogusId} and t.${sql.raw(TYPE_KEY[version.type])} = ${version.key}`
  const { rows } = await sql<{ uuid: string; begin: string; einde: string | null; concept: boolean }>`
    select t.uuid, t.begin_geldigheid as begin, t.einde_geldigheid as einde, t.concept from ${sql.table(version.type)} t
    where ${same} order by t.begin_geldigheid, t.id limit 200`.execute(db)
  let covered: string | null | undefined // the last day so far on which one is valid; null: for ever
  const siblings = rows.map((row): Sibling => {
    const after = covered ? addDays(covered, 1) : undefined
    const gap = !row.concept && after && after < row.begin ? { from: after, to: addDays(row.begin, -1) } : undefined
    if (!row.concept && covered !== null)
      covered = row.einde === null ? null : !covered || row.einde > covered ? row.einde : covered
    return { ...row, state: stateOf(row), here: row.uuid === version.uuid, gap }
  })
  return siblings.reverse()
}
