// The tables of fields beside the database: what a row leaves out is what the table of the database puts there.
import postgres from 'postgres'
import t from 'tap'
import { toColumns } from '../../src/documenten/document/columns.ts'
import { EMPTY as EMPTY_ZAAK } from '../../src/zaken/zaak/columns.ts'
import { testDatabase } from '../setup.ts'

t.test('an empty field holds what the database puts there by default', async (t) => {
  const { url } = await testDatabase(t)
  const sql = postgres(url, { max: 1 })
  t.teardown(() => sql.end())
  const tables = { zaak: EMPTY_ZAAK, enkelvoudiginformatieobject_versie: toColumns({}) }
  for (const [table, empty] of Object.entries(tables)) {
    const columns = await sql<{ name: string; expression: string | null }[]>`
      select a.attname as name, pg_get_expr(d.adbin, d.adrelid) as expression
      from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = ${table}::regclass and a.attnum > 0 and not a.attisdropped`
    for (const [field, value] of Object.entries(empty)) {
      const name = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      const found = columns.find((column) => column.name === name)
      t.ok(found, `${table}.${name} exists`)
      const [row] = await sql.unsafe(`select ${found?.expression ?? 'null'} as value`)
      t.strictSame(row?.value, value, `${table}.${name}`)
    }
  }
})
