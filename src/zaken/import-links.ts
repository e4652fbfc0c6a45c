// Documents of a bulk import that belong to a case: the rules of a zaakinformatieobject, for a whole batch at once.
import type postgres from 'postgres'
import { documenttypeOfZaaktype } from '../catalogi/type-relations.ts'
import type { CaseLinks } from '../documenten/import/case-links.ts'

/** What a task hands to the import. */
export const caseLinks: CaseLinks = { judge: judgeZaken, link: linkToZaken }

type LinkRow = { number: number; zaakUuid: string; typeId: number }

/**
 * Judges and locks the cases that rows name, as a POST of a zaakinformatieobject would. Who imports has all rights, so a
 * closed case is no fault.
 * @param options.lock false: only judges, for when nothing is written
 * @returns what is wrong, by row
 */
export async function judgeZaken(
  sql: postgres.Sql | postgres.TransactionSql,
  rows: readonly LinkRow[],
  { lock = true } = {},
): Promise<Map<number, string>> {
  if (rows.length === 0) return new Map()
  if (lock)
    await sql`select 1 from zaak where uuid = any(${rows.map(({ zaakUuid }) => zaakUuid)}::uuid[]) order by id for no key update`
  const judged = await sql<
    { number: number; bestaat: boolean; archiefstatus: string | null; elders: boolean; past: boolean }[]
  >`
    select r.number, z.id is not null as bestaat, z.archiefstatus, z.zaaktype_url is not null as elders,
      ${sql.unsafe(documenttypeOfZaaktype('z.zaaktype_id', 'r.type_id'))} as past
    from unnest(${rows.map(({ number }) => number)}::integer[], ${rows.map(({ zaakUuid }) => zaakUuid)}::uuid[],
      ${rows.map(({ typeId }) => typeId)}::bigint[]) as r(number, zaak_uuid, type_id)
    left join zaak z on z.uuid = r.zaak_uuid`
  const faults = new Map<number, string>()
  for (const { number, bestaat, archiefstatus, elders, past } of judged) {
    if (!bestaat) faults.set(number, 'zaakUuid: Deze zaak bestaat niet.')
    else if (archiefstatus !== 'nog_te_archiveren')
      faults.set(number, 'zaakUuid: De zaak is gearchiveerd of overgedragen en kan niet meer wijzigen.')
    else if (elders)
      faults.set(
        number,
        'zaakUuid: Het zaaktype van de zaak staat bij een andere dienst: koppel via zaakinformatieobjecten.',
      )
    else if (!past) faults.set(number, 'zaakUuid: Dit type document hoort niet bij het zaaktype van de zaak.')
  }
  return faults
}

/** Links documents to their cases on both sides, without audit records and notifications, as an import does. */
async function linkToZaken(
  sql: postgres.TransactionSql,
  rows: readonly { zaakUuid: string; uuid: string }[],
): Promise<void> {
  if (rows.length === 0) return
  await sql`
    with paar as (
      select z.id as zaak_id, z.uuid as zaak_uuid, e.id as document_id
      from unnest(${rows.map(({ zaakUuid }) => zaakUuid)}::uuid[], ${rows.map(({ uuid }) => uuid)}::uuid[])
        with ordinality as r(zaak_uuid, document_uuid, plaats)
      join zaak z on z.uuid = r.zaak_uuid join enkelvoudiginformatieobject e on e.uuid = r.document_uuid
      order by r.plaats
    ), relatie as (
      insert into zaakinformatieobject (zaak_id, enkelvoudiginformatieobject_id) select zaak_id, document_id from paar
    ), spiegel as (
      insert into objectinformatieobject (enkelvoudiginformatieobject_id, object_type, object_uuid)
      select document_id, 'zaak', zaak_uuid from paar
    )
    update zaak set laatst_gemuteerd = moment_from(laatst_gemuteerd) where id in (select zaak_id from paar)`
}
