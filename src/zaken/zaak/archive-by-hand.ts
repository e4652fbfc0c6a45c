// Where a field of archiving comes from: somebody set it, or it was derived. What somebody set stays when it is derived again.
import type { Mutation } from '../../core/mutate.ts'
import type { ReadSql } from '../../database/database.ts'
import type { ZaakPatch } from './columns.ts'

/** Members of the API that archiving derives, with their columns. */
const FIELDS = {
  archiefnominatie: 'archiefnominatie',
  archiefactiedatum: 'archiefactiedatum',
  startdatumBewaartermijn: 'startdatum_bewaartermijn',
} as const
type Column = (typeof FIELDS)[keyof typeof FIELDS]
type Given = Pick<ZaakPatch, keyof typeof FIELDS>

/** Whether a new case brings one of them. */
export const bringsArchiving = (given: Given): boolean =>
  (Object.keys(FIELDS) as (keyof typeof FIELDS)[]).some((name) => given[name])

/** Notes what of archiving somebody set, and forgets what he emptied: that is derived again. What he left is no decision. */
export async function noteByHand(m: Mutation, zaakId: number, given: Given, oud: Given = {}): Promise<void> {
  const changed = (Object.keys(FIELDS) as (keyof typeof FIELDS)[]).filter(
    (name) => given[name] !== undefined && (given[name] || null) !== (oud[name] || null),
  )
  if (changed.length === 0) return
  await forgetByHand(
    m,
    [zaakId],
    changed.map((name) => FIELDS[name]),
  )
  const { userRepresentation, userId, applicatieLabel, clientId } = m.actor
  const by = userRepresentation || userId || applicatieLabel || clientId
  for (const name of changed)
    if (given[name])
      await m.sql`insert into archive_by_hand (zaak_id, field, set_by) values (${zaakId}, ${FIELDS[name]}, ${by})`
}

/** They are derived from here on. */
export async function forgetByHand(
  m: Mutation,
  zaakIds: readonly number[],
  columns: readonly Column[] = Object.values(FIELDS),
): Promise<void> {
  await m.sql`delete from archive_by_hand where zaak_id = any(${zaakIds}::bigint[]) and field = any(${columns}::text[])`
}

/** The columns that somebody set, of this case, with who did. */
export async function byHandOf(sql: ReadSql, zaakId: number): Promise<ReadonlyMap<Column, { by: string; at: string }>> {
  const rows = await sql<{ field: Column; by: string; at: string }[]>`
    select field, set_by as by, set_at as at from archive_by_hand where zaak_id = ${zaakId}`
  return new Map(rows.map(({ field, ...who }) => [field, who]))
}
