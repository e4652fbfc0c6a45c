// The audit trail and the numbers that were handed out: rows without rules of their own.

import { pack } from '../core/audit-contents.ts'
import { uuidOf } from '../http/links.ts'
import type { Numbers } from '../lib/numbers.ts'
import { isUuid } from '../lib/uuid.ts'
import type { Addresses } from './addresses.ts'
import { MAIN } from './changes.ts'
import { ownUuids } from './own-work.ts'
import { type RowColumn, unnested } from './rows.ts'
import type { AuditRow, Finding, Reservering } from './source.ts'
import type { Sql, Written } from './write.ts'

const AUDIT_TEXTS =
  `bron applicatie_id applicatie_weergave gebruikers_id gebruikers_weergave actie resource resource_weergave toelichting
  logrecord_id`.split(/\s+/)
const AUDIT_COLUMNS: RowColumn[] = [
  { name: 'uuid', type: 'uuid' },
  ...AUDIT_TEXTS.map((name) => ({ name, type: 'text' })),
  { name: 'hoofd_object_uuid', type: 'uuid' },
  { name: 'resource_uuid', type: 'uuid' },
  { name: 'resultaat', type: 'integer' },
  { name: 'aanmaakdatum', type: 'timestamptz' },
  { name: 'packed', type: 'bytea' },
]
const PLACE: RowColumn = { name: 'place', type: 'bigint' }
/** In which order they came: a join may give them back in any. */
const LINE: RowColumn = { name: 'line', type: 'bigint' }
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
  for (const { oud, nieuw, hoofd_object, resource_url, ...row } of rows) {
    const uuid = mainUuidOf(hoofd_object, toUuid)
    if (uuid === undefined) {
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
    const resource = uuidOf(resource_url)
    const uuids = { hoofdObjectUuid: uuid, resourceUuid: isUuid(resource) ? resource : null }
    const packed = pack(numbers, uuids, {
      hoofdObject: rewrite(hoofd_object, 'audit', 'hoofd_object'),
      resourceUrl: rewrite(resource_url, 'audit', 'resource_url'),
      oud: JSON.parse(oud ?? 'null'),
      nieuw: JSON.parse(nieuw ?? 'null'),
    })
    kept.push({
      ...row,
      bron: row.bron.toLowerCase(),
      hoofd_object_uuid: uuid,
      resource_uuid: uuids.resourceUuid,
      packed: `\\x${packed.toString('hex')}`,
    })
  }
  // What is ours keeps its own trail.
  const mains = [...new Set(kept.map(({ hoofd_object_uuid }) => String(hoofd_object_uuid)))]
  const ours = new Set<string>()
  for (const kind of MAIN) for (const uuid of await ownUuids(sql, takeoverId, kind, mains)) ours.add(uuid)
  const theirs = kept
    .filter(({ hoofd_object_uuid }) => !ours.has(String(hoofd_object_uuid)))
    .map((row, line): Record<string, unknown> => ({ ...row, line }))
  const { from, value, parameters } = unnested('r', [...AUDIT_COLUMNS, PLACE, LINE], theirs, 2)
  const added = await sql.unsafe(
    `insert into audit (id, ${AUDIT_COLUMNS.map(({ name }) => name).join(', ')}) overriding system value
     select $1::bigint + coalesce(r.place, nextval(pg_get_serial_sequence('audit', 'id'))), ${AUDIT_COLUMNS.map(value).join(', ')}
     from ${from} where not exists (
       select from audit a where a.hoofd_object_uuid = r.hoofd_object_uuid and a.uuid = r.uuid) order by r.line on conflict do nothing`,
    [(takeoverId - MOST_TAKEOVERS) * PER_TAKEOVER, ...parameters],
    { prepare: true },
  )
  return {
    seen: rows.length,
    written: added.count,
    unchanged: theirs.length - added.count,
    refused: rows.length - theirs.length,
  }
}

/** The uuid of the main object of a line; undefined when its URL has none. */
export function mainUuidOf(url: string, toUuid: Addresses['toUuid']): string | undefined {
  return [toUuid(url), uuidOf(url)].find(isUuid)
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
