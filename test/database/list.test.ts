import { sql } from 'kysely'
import t from 'tap'
import { openDatabase, readerOf } from '../../src/database/database.ts'
import { pageOfIds } from '../../src/database/list.ts'
import { testDatabase } from '../setup.ts'

t.test('a page is the same whether its rows are walked or sorted, from either end', async (t) => {
  const { url } = await testDatabase(t)
  const database = openDatabase(url, { max: 1, name: 'test' })
  t.teardown(database.close)
  const reader = readerOf(database)
  const list = {
    from: sql`generate_series(1, 12000) as x(id)`,
    id: sql`x.id`,
    conditions: [sql`x.id % 2 = 0`], // 6000 fit
    order: [
      { column: sql`x.id % 7`, descending: true },
      { column: sql`x.id`, descending: false },
    ],
  }
  const expected = Array.from({ length: 6000 }, (_, index) => (index + 1) * 2).sort(
    (a, b) => (b % 7) - (a % 7) || a - b,
  )
  for (const offset of [0, 100, 2950, 5990]) {
    const page = expected.slice(offset, offset + 100)
    const found = (known?: { count: number; isFar: boolean }) => pageOfIds(reader, list, 100, offset, known)
    t.strictSame(await found(), page, `walked, from ${offset}`)
    t.strictSame(await found({ count: 6000, isFar: false }), page, `sorted, from ${offset}`)
    t.strictSame(await found({ count: 6000, isFar: true }), page, `sorted from the nearer end, from ${offset}`)
  }
  const long = {
    ...list,
    from: sql`generate_series(1, 40000) as x(id)`,
    order: [{ column: sql`x.id`, descending: true }],
  }
  const last = await pageOfIds(reader, long, 100, 19_950, { count: 20_000, isFar: true })
  t.strictSame(
    last,
    Array.from({ length: 50 }, (_, index) => 100 - index * 2),
    'walked from the end',
  )
})
