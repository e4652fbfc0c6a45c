// The intermediate form beside the tables: a takeover brings every column, or says here why not.
import postgres from 'postgres'
import t from 'tap'
import { KINDS } from '../../src/overnemen/kinds.ts'
import { columnsOf } from '../../src/overnemen/row-columns.ts'
import { testDatabase } from '../setup.ts'

const BYTES = 'Bytes come after their document, with a row of their own.'
const DATES = 'Copied from the besluit when that is there.'
const VERSION = 'A source names one version of the type, as the default says.'

/** Columns that a takeover does not write, by table, with the reason. Every table may have a key of ours besides. */
const LEFT: Record<string, Record<string, string>> = {
  enkelvoudiginformatieobject_versie: { file_id: BYTES },
  bestandsdeel: { file_id: BYTES },
  status: { laatst: 'Kept by triggers.' },
  besluit: { besluittype_catalogus_url: 'No source says it, and it may be empty.' },
  zaakbesluit: { ingangsdatum: DATES, vervaldatum: DATES },
  besluittype_informatieobjecttype: { by_url: VERSION },
  zaaktype_besluittype: { by_url: VERSION },
  zaaktype_deelzaaktype: { by_url: VERSION },
  resultaattype_besluittype: { by_url: VERSION },
  resultaattype_informatieobjecttype: { by_url: VERSION },
  zaaktype_informatieobjecttype: { by_url: VERSION },
}

t.test('every column of what is taken over is in its kind, or is left out for a reason', async (t) => {
  const { url } = await testDatabase(t)
  const sql = postgres(url, { max: 1 })
  t.teardown(() => sql.end())
  const brought = new Map<string, Set<string>>()
  const bring = (table: string, names: string[]) =>
    brought.set(table, (brought.get(table) ?? new Set(['id'])).union(new Set(names)))
  for (const kind of KINDS) {
    bring(kind.table, ['uuid', ...columnsOf(kind).map(({ name }) => name)])
    for (const list of kind.lists)
      bring(list.table, [list.parent, ...(list.order ? [list.order] : []), ...columnsOf(list).map(({ name }) => name)])
  }
  const rows = await sql<{ table: string; columns: string[] }[]>`
    select attrelid::regclass::text as table, array_agg(attname::text) as columns from pg_attribute
    where attrelid = any(${[...brought.keys()]}::regclass[]) and attnum > 0 and not attisdropped group by 1`
  t.equal(rows.length, brought.size)
  for (const { table, columns } of rows) {
    const left = new Set(columns).difference(brought.get(table) ?? new Set())
    t.strictSame([...left].sort(), Object.keys(LEFT[table] ?? {}).sort(), table)
  }
})
