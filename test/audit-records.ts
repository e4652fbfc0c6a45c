// Records of the audit trail as they were written, with what they hold.
import type postgres from 'postgres'
import { type Contents, inflated, type Packed, unpack } from '../src/core/audit-contents.ts'
import type { Database } from '../src/database/database.ts'

export type AuditRecord = Omit<Contents, 'oud' | 'nieuw'> & {
  // biome-ignore lint/suspicious/noExplicitAny: any resource
  oud: any
  // biome-ignore lint/suspicious/noExplicitAny: any resource
  nieuw: any
  uuid: string
  actie: string
  resource: string
  [column: string]: unknown
}

/** Oldest first. @param where a condition on the table; without it all */
export async function auditRecords(
  { sql, numbers }: Pick<Database, 'sql' | 'numbers'>,
  where: postgres.PendingQuery<postgres.Row[]> = sql`true`,
): Promise<AuditRecord[]> {
  const rows = await sql`
    select a.*, hoofd_object_uuid as "hoofdObjectUuid", resource_uuid as "resourceUuid" from audit a where ${where} order by id`
  return rows.map((row) => ({ ...row, ...unpack(numbers, row as unknown as Packed) }) as unknown as AuditRecord)
}

/** What stands in each record of the trail, as it is stored. */
export async function storedAuditTexts({ sql }: Pick<Database, 'sql'>): Promise<string> {
  const rows = await sql<Packed[]>`
    select hoofd_object_uuid as "hoofdObjectUuid", resource_uuid as "resourceUuid", packed, made from audit`
  return rows.map((row) => inflated(row.packed, row)).join('\n')
}
