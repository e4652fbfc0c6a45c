// The audit trail and the numbers that were handed out: rows without rules of their own.

import { uuidOf } from '../http/links.ts'
import type { Numbers } from '../lib/numbers.ts'
import { isUuid } from '../lib/uuid.ts'
import type { Addresses } from './addresses.ts'
import { type RowColumn, unnested } from './rows.ts'
import type { AuditRow, Finding, Reservering } from './source.ts'
import type { Sql, Written } from './write.ts'

const AUDIT_TEXTS =
  `bron applicatie_id applicatie_weergave gebruikers_id gebruikers_weergave actie hoofd_object resource
  resource_url resource_weergave toelichting logrecord_id`.split(/\s+/)
const AUDIT_COLUMNS: RowColumn[] = [
  { name: 'uuid', type: 'uuid' },
  ...AUDIT_TEXTS.map((name) => ({ name, type: 'text' })),
  { name: 'hoofd_object_uuid', type: 'uuid' },
  { name: 'resultaat', type: 'integer' },
  { name: 'aanmaakdatum', type: 'timestamptz' },
  { name: 'oud', type: 'jsonb', encoded: true },
  { name: 'nieuw', type: 'jsonb', encoded: true },
]
const PLACE: RowColumn = { name: 'place', type: 'bigint' }
/** Takeovers have keys below 0, which is before all lines of our own. Integers of JavaScript end at 2^53: 8,191 takeovers. */
const PER_TAKEOVER = 2 ** 40
const MOST_TAKEOVERS = 2 ** 13

/**
 * Adds lines of the audit trail that are not there yet, with keys in the order of the source, whoever writes which portion
 * when. Where they point is rewritten, what stood in the object before and after is not: that is evidence of what was said at the
 * time.
 */
export async function writeAudit(
  sql: Sql,
  takeoverId: number,
  rows: AuditRow[],
  { rewrite, toUuid }: Addresses,
  numbers: Numbers,
  findings: Finding[],
): Promise<Written> {
  const kept: Record<string, unknown>[] = []
  for (const { oud, nieuw, ...row } of rows) {
    const main = toUuid(row.hoofd_object)
    const uuid = isUuid(main) ? main : uuidOf(row.hoofd_object)
    if (!isUuid(uuid)) {
      findings.push({
        kind: 'audit',
        key: row.uuid,
        outcome: 'geweigerd',
        code: 'hoofdobject',
        text: 'De regel noemt geen hoofdobject dat een uuid heeft.',
      })
      continue
    }
    for (const name of AUDIT_TEXTS) (row as Record<string, unknown>)[name] ??= ''
    kept.push({
      ...row,
      bron: row.bron.toLowerCase(),
      hoofd_object: rewrite(row.hoofd_object, 'audit', 'hoofd_object'),
      resource_url: rewrite(row.resource_url, 'audit', 'resource_url'),
      hoofd_object_uuid: uuid,
      oud,
      nieuw,
    })
  }
  const { from, value, parameters } = unnested('r', [...AUDIT_COLUMNS, PLACE], kept, 2, numbers.seal)
  const added = await sql.unsafe(
    `insert into audit (id, ${AUDIT_COLUMNS.map(({ name }) => name).join(', ')}) overriding system value
     select $1::bigint + coalesce(r.place, nextval(pg_get_serial_sequence('audit', 'id'))), ${AUDIT_COLUMNS.map(value).join(', ')}
     from ${from} on conflict do nothing`,
    [(takeoverId - MOST_TAKEOVERS) * PER_TAKEOVER, ...parameters],
    { prepare: true },
  )
  return {
    seen: rows.length,
    written: added.count,
    unchanged: kept.length - added.count,
    refused: rows.length - kept.length,
  }
}

/** Numbers that were handed out and not used: whoever holds one may still use it. */
export async function writeReservations(sql: Sql, rows: Reservering[]): Promise<Written> {
  let written = 0
  for (const [kind, table] of [
    ['zaak', 'reserved_zaaknummer'],
    ['document', 'reserved_documentnummer'],
  ] as const) {
    const added = await sql`
      insert into ${sql(table)} (identificatie, bronorganisatie, reserved_at)
      select identificatie, bronorganisatie, coalesce(moment, now())
      from jsonb_to_recordset(${JSON.stringify(rows.filter((row) => row.kind === kind))}::text::jsonb)
        as r(identificatie text, bronorganisatie text, moment timestamptz)
      on conflict do nothing`
    written += added.count
  }
  return { seen: rows.length, written, unchanged: rows.length - written, refused: 0 }
}
