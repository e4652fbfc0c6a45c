// The numbers that the source has given out: ours go on above them, from the first row that is taken over on.
import type postgres from 'postgres'
import { signal } from '../database/listen.ts'
import { one } from '../database/rows.ts'
import type { Numbers } from './source.ts'

type Sql = postgres.TransactionSql

/** What the rows here say, reserved numbers included. */
export async function numbersHere(sql: Sql): Promise<Numbers> {
  const zaken = await sql<{ year: string; highest: number }[]>`
    select substring(identificatie, 6, 4) as year, max(substring(identificatie, 11)::bigint) as highest
    from (select identificatie from zaak union all select identificatie from reserved_zaaknummer) n
    where identificatie ~ '^ZAAK-\\d{4}-\\d{10,15}$' group by 1`
  const documenten = await sql<{ highest: number }[]>`
    select coalesce(max(substring(identificatie from '^DOCUMENT-\\d{4}-(\\d{10,15})$')::bigint), 0) as highest
    from (select identificatie from enkelvoudiginformatieobject union all select identificatie from reserved_documentnummer) n
    where identificatie like 'DOCUMENT-%'`
  const besluiten = await sql<{ highest: number }[]>`
    select coalesce(max(substring(identificatie from '^BESLUIT-\\d{4}-(\\d{10,15})$')::bigint), 0) as highest
    from besluit where identificatie like 'BESLUIT-%'`
  return {
    zaak: Object.fromEntries(zaken.map(({ year, highest }) => [year, highest])),
    document: one(documenten).highest,
    besluit: one(besluiten).highest,
  }
}

/**
 * Moves the sequences past these numbers, those of each year too. They only move on, which no other transaction waits for.
 */
export async function moveNumbers(sql: Sql, { zaak, document, besluit }: Numbers): Promise<void> {
  for (const [sequence, highest] of [
    ['zaak_nummer', Math.max(0, ...Object.values(zaak))],
    ['document_nummer', document],
    ['besluit_nummer', besluit],
  ] as const)
    await sql`
      select setval(${sequence}::regclass, ${highest}) as moved
      where ${highest} > (select coalesce(pg_sequence_last_value(${sequence}::regclass), 0))`
  const years = Object.entries(zaak).map(([year, highest]) => ({ year: Number(year), highest }))
  await sql`
    insert into zaak_number_year (year, starts_after)
    select year, coalesce(pg_sequence_last_value('zaak_nummer'), 0) - highest
    from jsonb_to_recordset(${JSON.stringify(years)}::text::jsonb) as r(year integer, highest bigint)
    on conflict (year) do update set starts_after = least(zaak_number_year.starts_after, excluded.starts_after)`
}

/** Whether the numbers of cases begin anew each year: a later year has lower ones. */
export function countsPerYear({ zaak }: Numbers): boolean {
  const highest = Object.entries(zaak)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, number]) => number)
  return highest.some((number, place) => place > 0 && number <= Math.max(...highest.slice(0, place)))
}

/** Makes numbers of cases as the source does, unless another way was chosen here. @returns whether they are now */
export async function numberPerYear(sql: Sql, current: string): Promise<boolean> {
  if (current === 'use-number-per-year') return true
  if (current !== 'use-start-datum-year') return false
  const made = await sql`
    insert into setting (name, value) values ('ZAAK_IDENTIFICATIE_GENERATOR', 'use-number-per-year')
    on conflict do nothing returning 1`
  if (made.length > 0) await signal(sql, 'zaakstroom_settings')
  return made.length > 0
}
