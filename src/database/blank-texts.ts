// Texts with blanks around them. Requests have theirs dropped before anything is judged, so that only rows that came another way have
// them: a takeover keeps what its source has.
import type postgres from 'postgres'

/** Columns whose texts tell one object from another. */
const COLUMNS = [
  ['zaak', 'identificatie'],
  ['enkelvoudiginformatieobject', 'identificatie'],
  ['besluit', 'identificatie'],
  ['klantcontact', 'identificatie'],
  ['zaaktype', 'identificatie'],
  ['informatieobjecttype', 'omschrijving'],
  ['besluittype', 'omschrijving'],
  ['statustype', 'omschrijving'],
  ['resultaattype', 'omschrijving'],
  ['roltype', 'omschrijving'],
  ['eigenschap', 'naam'],
  ['kanaal', 'naam'],
] as const
/** What `trim` of JavaScript drops. */
const BLANKS =
  '\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'
const EXAMPLES = 5
const MINUTES = 5

export type BlankTexts = { table: string; column: string; count: number; examples: string[] }

/**
 * The columns in which texts with blanks around them are, with their number and the uuids of the first five. It reads every row
 * of these tables and changes none.
 */
export async function findBlankTexts(sql: postgres.Sql): Promise<BlankTexts[]> {
  return sql.begin(async (trx) => {
    await trx`select set_config('statement_timeout', ${`${MINUTES}min`}, true)`
    const found: BlankTexts[] = []
    for (const [table, column] of COLUMNS) {
      const rows = await trx<{ count: number; examples: string[] }[]>`
        select count(*) as count, coalesce((array_agg(uuid::text order by id))[1:${EXAMPLES}::int], '{}') as examples
        from ${trx(table)} where ${trx(column)} <> btrim(${trx(column)}, ${BLANKS}::text)`
      const [row] = rows
      if (row && row.count > 0) found.push({ table, column, ...row })
    }
    return found
  })
}
