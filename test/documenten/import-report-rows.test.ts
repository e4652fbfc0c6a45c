// The rows of a report as they are read from the database.
import t from 'tap'
import { failedRows, reportRows } from '../../src/documenten/import/report-rows.ts'
import { requireImport } from '../../src/documenten/import/rows.ts'
import { testApp } from '../app.ts'

const MB = 1024 * 1024

t.test('rows are read some at a time, however large they are, and all of them', async (t) => {
  const { app, database } = await testApp(t)
  const { sql } = database
  const sizes = [10, 0.4 * MB, 0.4 * MB, 0.4 * MB, 0.9 * MB, 10, 10, 0.9 * MB, 10]
  const [made] = await sql<{ id: number; uuid: string }[]>`
    insert into import (status, header, total, processed, succeeded) values ('finished', '["a"]', ${sizes.length}, 7, 2)
    returning id, uuid`
  for (const [index, size] of sizes.entries()) {
    const cells = JSON.stringify([String(index), 'x'.repeat(size)])
    await sql`insert into import_row (import_id, number, cells) values (${made!.id}, ${index + 2}, ${cells}::text::json)`
  }
  await sql`insert into import_outcome (import_id, number, succeeded)
    select ${made!.id}::bigint, n, n < 4 from generate_series(2, 8) n`
  const row = await requireImport(app.read, made!.uuid)
  let largest = 0
  const counted = new Proxy(app.reader, {
    get: (reader, name) => {
      if (name !== 'sql') return Reflect.get(reader, name)
      return (parts: TemplateStringsArray, ...values: unknown[]) => {
        const query = reader.sql(parts, ...(values as never[]))
        const { then } = query
        return Object.assign(query, {
          // biome-ignore lint/suspicious/noThenProperty: a query is begun by it
          then: (done: (rows: unknown) => unknown, failed: (error: unknown) => unknown) =>
            then.call(
              query,
              (rows: unknown) => {
                largest = Math.max(largest, JSON.stringify(rows).length)
                return done(rows)
              },
              failed,
            ),
        })
      }
    },
  })
  const all = await Array.fromAsync(reportRows(counted, row, { toegekend: false }))
  t.same(
    all.map(({ cells }) => cells[0]),
    sizes.map((_, index) => String(index)),
  )
  t.same(
    all.map(({ cells }) => cells[1]!.length),
    sizes.map(Math.floor),
  )
  t.equal(all.filter(({ resultaat }) => resultaat === 'Geïmporteerd').length, 2)
  const failed = await Array.fromAsync(failedRows(counted, row))
  t.same(
    failed.map(([index]) => index),
    sizes.slice(2).map((_, index) => String(index + 2)),
  )
  t.ok(largest > MB && largest < 2.2 * MB, `at most a megabyte and one row: ${largest}`)
})
