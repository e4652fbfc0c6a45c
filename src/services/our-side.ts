// Our side of a relation that another server has the other side of: its rows, and how they become again what they were.
import type postgres from 'postgres'
import type { Mutation } from '../core/mutate.ts'
import { jsonOf } from '../database/driver-values.ts'

/** Our tables that hold such relations, with the field that names the other side. */
export const SOURCES = {
  besluit: 'zaak',
  besluitinformatieobject: 'informatieobject',
  zaakinformatieobject: 'informatieobject',
  zaakcontactmoment: 'contactmoment',
  zaakverzoek: 'verzoek',
} as const
export type SourceName = keyof typeof SOURCES
/** What becomes of our side when another server refuses; `released` when it does not. */
export type ChangedRow =
  /** Taken away again. */
  | { table: SourceName | 'zaak'; uuid: string }
  /** Made again what it was, where it still is what it became. */
  | { table: 'besluit' | 'zaak'; uuid: string; was: object; nu: object }
  /** Put back. */
  | { table: string; row: unknown }
  /** Other sides, by id, that are let go. */
  | { released: number[] }

/** Our side is again what it was; what waits for others is left. */
export async function takeBack(m: Mutation, row: ChangedRow): Promise<void> {
  if ('released' in row) return
  if ('row' in row) await restore(m, [row])
  else if ('was' in row) await setBack(m, row)
  else await wipe(m, row)
}

async function setBack(m: Mutation, { table, uuid, was, nu }: Extract<ChangedRow, { was: object }>): Promise<void> {
  if (Object.keys(was).length === 0) return
  const set = (values: object) =>
    m.sql.savepoint(
      (sql) => sql`
    update ${sql(table)} x set ${sql(values as Record<string, postgres.SerializableParameter>)} where x.uuid = ${uuid} and to_jsonb(x) @> ${jsonOf(sql, nu)}`,
    )
  try {
    await set(was)
  } catch (error) {
    if ((error as { code?: string }).code !== '23503') throw error
    await set({ ...was, zaak_id: null }) // the case of a besluit, which has gone meanwhile
  }
}

// What the deletion of each would do, without its rules: nobody was told that it was there.
async function wipe(m: Mutation, { table, uuid }: { table: SourceName | 'zaak'; uuid: string }): Promise<void> {
  if (table === 'zaak' || table === 'besluit')
    await m.sql`delete from objectinformatieobject where object_uuid = ${uuid}`
  if (table === 'besluit') await m.sql`delete from zaakbesluit where besluit_uuid = ${uuid}`
  await m.sql`delete from ${m.sql(table)} where uuid = ${uuid}`
}

/** False when what a row belongs to has gone meanwhile. */
export async function restore(m: Mutation, rows: { table: string; row: unknown }[]): Promise<boolean> {
  try {
    await m.sql.savepoint(async (sql) => {
      for (const { table, row } of rows)
        await sql`insert into ${sql(table)} overriding system value
          select * from jsonb_populate_record(null::${sql(table)}, ${jsonOf(sql, row)})`
    })
    return true
  } catch (error) {
    if ((error as { code?: string }).code !== '23503') throw error
    return false
  }
}
