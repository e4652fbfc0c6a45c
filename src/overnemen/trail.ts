// The audit trail and the numbers that were handed out: rows without rules of their own.
import type { Addresses } from './addresses.ts'
import { isUuid } from './normalise.ts'
import type { AuditRow, Reservering } from './source.ts'
import type { Melding, Sql, Written } from './write.ts'

/**
 * Adds lines of the audit trail that are not there yet. Where they point is rewritten, what stood in the object before and
 * after is not: that is evidence of what was said at the time.
 */
export async function writeAudit(
  sql: Sql,
  rows: AuditRow[],
  { rewrite, toUuid }: Addresses,
  meldingen: Melding[],
): Promise<Written> {
  const kept: object[] = []
  for (const { oud, nieuw, ...row } of rows) {
    const main = toUuid(row.hoofd_object)
    const uuid = isUuid(main) ? main : row.hoofd_object.split('/').at(-1)!
    if (!isUuid(uuid)) {
      meldingen.push({
        soort: 'audit',
        sleutel: row.uuid,
        uitkomst: 'geweigerd',
        code: 'hoofdobject',
        tekst: 'De regel noemt geen hoofdobject dat een uuid heeft.',
      })
      continue
    }
    kept.push({
      ...row,
      bron: row.bron.toLowerCase(),
      hoofd_object: rewrite(row.hoofd_object),
      resource_url: rewrite(row.resource_url),
      hoofd_object_uuid: uuid,
      oud,
      nieuw,
    })
  }
  const added = await sql`
    insert into audit (uuid, bron, applicatie_id, applicatie_weergave, gebruikers_id, gebruikers_weergave, actie, resultaat,
      hoofd_object, hoofd_object_uuid, resource, resource_url, resource_weergave, toelichting, logrecord_id, aanmaakdatum, oud, nieuw)
    select r.uuid, r.bron, coalesce(r.applicatie_id, ''), coalesce(r.applicatie_weergave, ''), coalesce(r.gebruikers_id, ''),
      coalesce(r.gebruikers_weergave, ''), r.actie, r.resultaat, r.hoofd_object, r.hoofd_object_uuid, r.resource,
      r.resource_url, coalesce(r.resource_weergave, ''), coalesce(r.toelichting, ''), coalesce(r.logrecord_id, ''), r.aanmaakdatum,
      r.oud::jsonb, r.nieuw::jsonb
    from json_to_recordset(${JSON.stringify(kept)}::text::json) as r(uuid uuid, bron text, applicatie_id text,
      applicatie_weergave text, gebruikers_id text, gebruikers_weergave text, actie text, resultaat integer, hoofd_object text,
      hoofd_object_uuid uuid, resource text, resource_url text, resource_weergave text, toelichting text, logrecord_id text,
      aanmaakdatum timestamptz, oud text, nieuw text)
    on conflict (uuid) do nothing`
  return {
    gelezen: rows.length,
    geschreven: added.count,
    ongewijzigd: kept.length - added.count,
    geweigerd: rows.length - kept.length,
  }
}

/** Numbers that were handed out and not used: whoever holds one may still use it. */
export async function writeReserveringen(sql: Sql, rows: Reservering[]): Promise<Written> {
  let geschreven = 0
  for (const [soort, table] of [
    ['zaak', 'zaaknummer_reservering'],
    ['document', 'documentnummer_reservering'],
  ] as const) {
    const added = await sql`
      insert into ${sql(table)} (identificatie, bronorganisatie, gereserveerd_op)
      select identificatie, bronorganisatie, coalesce(moment, now())
      from jsonb_to_recordset(${JSON.stringify(rows.filter((row) => row.soort === soort))}::text::jsonb)
        as r(identificatie text, bronorganisatie text, moment timestamptz)
      on conflict do nothing`
    geschreven += added.count
  }
  return { gelezen: rows.length, geschreven, ongewijzigd: rows.length - geschreven, geweigerd: 0 }
}
