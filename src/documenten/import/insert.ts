// Writing the documents of a batch, within its transaction.
import { sql } from 'kysely'
import type postgres from 'postgres'
import { type Db, isConflict, isUnavailable, kyselyOn } from '../../database/database.ts'
import { one } from '../../database/rows.ts'
import type { CaseLinks } from './case-links.ts'
import { type Candidate, existing, judgeInOrder, numberKey, type WithFile, withZaak } from './judge.ts'

export type Made = Map<number, { uuid: string; identificatie: string }>
type Target = { connection: postgres.TransactionSql; backend: string; caseLinks: CaseLinks }

/** How often rows are offered again that met something which was not there when they were judged. */
const TRIES = 5

/**
 * Inserts what it can. The outcome is that of the file's order, as if the rows came one by one: of two rows with one uuid
 * or number the first that becomes a document wins. Normally that is one statement for all rows. When the database
 * refuses one for a reason that we did not foresee, the rows are halved until it stands alone; the second half is
 * judged only when the first is done.
 */
export async function insertDocuments(target: Target, rows: Candidate[], faults: Map<number, string>): Promise<Made> {
  const made: Made = new Map()
  if (rows.length === 0) return made
  const { connection } = target
  await connection`set constraints all immediate` // a deferred one would refuse the batch as a whole, at its end
  const zaakFaults = await target.caseLinks.judge(connection, withZaak(rows))
  let taken = await existing(kyselyOn(connection), rows)
  const parts = [{ rows, tries: 0 }]
  for (let part = parts.shift(); part; part = parts.shift()) {
    const { accepted, refused } = judgeInOrder(part.rows, taken, zaakFaults)
    const outcome = await insertAll(target, accepted)
    if ('inserted' in outcome) {
      for (const { number, uuid, identificatie } of outcome.inserted) made.set(number, { uuid, identificatie })
      for (const [number, fault] of refused) faults.set(number, fault)
      for (const { uuid, input } of accepted) {
        taken.uuids.add(uuid)
        if (input.identificatie) taken.nummers.add(numberKey(input))
      }
    } else if (!outcome.error && part.tries < TRIES) {
      taken = await existing(kyselyOn(connection), rows)
      parts.unshift({ rows: part.rows, tries: part.tries + 1 })
    } else if (part.rows.length === 1) {
      faults.set(one(part.rows).number, refusal(outcome.error))
    } else {
      const middle = Math.ceil(part.rows.length / 2)
      parts.unshift({ rows: part.rows.slice(0, middle), tries: 0 }, { rows: part.rows.slice(middle), tries: 0 })
    }
  }
  return made
}

/** All rows or none. Without `error` some met an existing uuid or number: given out meanwhile, or one that we made up. */
async function insertAll(
  { connection, backend, caseLinks }: Target,
  rows: WithFile[],
): Promise<{ inserted: Inserted[] } | { error?: unknown }> {
  if (rows.length === 0) return { inserted: [] }
  try {
    const inserted = await connection.savepoint(async (inner) => {
      const result = await insertRows(kyselyOn(inner), backend, rows)
      if (result.length < rows.length) throw NOT_ALL
      await caseLinks.link(inner, withZaak(rows))
      return result
    })
    return { inserted }
  } catch (error) {
    if (error === NOT_ALL) return {}
    if (isUnavailable(error) || isConflict(error)) throw error
    return { error }
  }
}

const NOT_ALL = new Error('some rows were skipped')

/** What the database says of a row. A text of its own is shown only when somebody wrote it for that (`raise`). */
function refusal(error: unknown): string {
  const { code, message, constraint_name, column_name } = (error ?? {}) as Partial<postgres.PostgresError>
  const column = column_name ? `${column_name}: ` : ''
  const rule = constraint_name ? `regel ${constraint_name}` : code === 'P0001' ? message?.slice(0, 200) : code
  return `${column}De database weigert deze rij${rule ? ` (${rule})` : ''}.`
}

type Inserted = { number: number; uuid: string; identificatie: string }

/** One statement for document, version and bytes of all rows. Rows that meet an existing one are left out. */
async function insertRows(trx: Db, backend: string, rows: WithFile[]): Promise<Inserted[]> {
  const values = rows.map(({ number, uuid, typeId, vertrouwelijkheidaanduiding, bestandspad, bestand, input }) => ({
    ...input,
    number,
    uuid,
    key: bestand.key,
    type_id: typeId,
    vertrouwelijkheidaanduiding,
    bestandsnaam: input.bestandsnaam || bestandspad.slice(bestandspad.lastIndexOf('/') + 1),
    size: bestand.size,
    sha256: bestand.sha256,
    ondertekening_soort: input.ondertekening?.soort ?? null,
    ondertekening_datum: input.ondertekening?.datum ?? null,
    integriteit_algoritme: input.integriteit?.algoritme ?? null,
    integriteit_waarde: input.integriteit?.waarde ?? null,
    integriteit_datum: input.integriteit?.datum ?? null,
  }))
  const result = await sql<Inserted>`
    with invoer as materialized (
      select x.*, coalesce(nullif(x.identificatie, ''), document_identificatie(x.creatiedatum)) as kenmerk
      from jsonb_to_recordset(${JSON.stringify(values)}::text::jsonb) as x(
        number integer, uuid uuid, key text, type_id bigint, identificatie text, bronorganisatie text, creatiedatum date, titel text,
        vertrouwelijkheidaanduiding vertrouwelijkheidaanduiding, auteur text, status text, formaat text, taal text,
        bestandsnaam text, size bigint, sha256 text, link text, beschrijving text, ontvangstdatum date, verzenddatum date,
        "indicatieGebruiksrecht" boolean, verschijningsvorm text, ondertekening_soort text, ondertekening_datum date,
        integriteit_algoritme text, integriteit_waarde text, integriteit_datum date, trefwoorden jsonb)
      order by number
    ), document as (
      insert into enkelvoudiginformatieobject (uuid, bronorganisatie, identificatie, informatieobjecttype_id, vertrouwelijkheidaanduiding)
      select uuid, bronorganisatie, kenmerk, type_id, vertrouwelijkheidaanduiding from invoer order by number
      on conflict do nothing
      returning id, uuid
    ), bytes as (
      insert into file (backend, key, size, sha256)
      select ${backend}, i.key, i.size, decode(i.sha256, 'hex') from invoer i join document d on d.uuid = i.uuid
      returning id, key
    ), versie as (
      insert into enkelvoudiginformatieobject_versie (
        enkelvoudiginformatieobject_id, versie, bronorganisatie, identificatie, informatieobjecttype_id, vertrouwelijkheidaanduiding,
        creatiedatum, titel, auteur, status, formaat, taal, bestandsnaam, bestandsomvang, file_id, link, beschrijving,
        ontvangstdatum, verzenddatum, indicatie_gebruiksrecht, verschijningsvorm, ondertekening_soort, ondertekening_datum,
        integriteit_algoritme, integriteit_waarde, integriteit_datum, trefwoorden)
      select d.id, 1, i.bronorganisatie, i.kenmerk, i.type_id, i.vertrouwelijkheidaanduiding,
        i.creatiedatum, i.titel, i.auteur, i.status, i.formaat, i.taal, i.bestandsnaam, i.size, b.id, i.link, i.beschrijving,
        i.ontvangstdatum, i.verzenddatum, i."indicatieGebruiksrecht", i.verschijningsvorm, i.ondertekening_soort, i.ondertekening_datum,
        i.integriteit_algoritme, i.integriteit_waarde, i.integriteit_datum,
        array(select jsonb_array_elements_text(i.trefwoorden))
      from invoer i join document d on d.uuid = i.uuid join bytes b on b.key = i.key
    )
    select i.number, i.uuid, i.kenmerk as identificatie from invoer i join document d on d.uuid = i.uuid`.execute(trx)
  return result.rows
}
