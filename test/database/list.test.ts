import { sql } from 'kysely'
import t from 'tap'
import { openDatabase, readerOf } from '../../src/database/database.ts'
import { countByRest, countRows, pageOfIds, rowByUuid, rowsById } from '../../src/database/list.ts'
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
  const asked: string[] = []
  const { unsafe } = reader.sql
  const spied = Object.assign(Object.create(reader.sql), {
    unsafe: (text: string, ...rest: []) => {
      asked.push(text)
      return unsafe(text, ...rest)
    },
  })
  for (const offset of [0, 2950, 5990])
    t.strictSame(
      await pageOfIds({ ...reader, sql: spied }, { ...list, isIndexed: true }, 100, offset, {
        count: 6000,
        isFar: true,
      }),
      expected.slice(offset, offset + 100),
      `walked by an index, from ${offset}`,
    )
  t.notMatch(asked.join(), /offset 0\s*\) fits/, 'not all that fit are found first')
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
  asked.length = 0
  for (const [what, condition, count, first, statements] of [
    ['near', sql`x.id % 2 = 0`, 20_000, 2, 1],
    ['that stand together far away', sql`x.id > 25000`, 15_000, 25_001, 2],
  ] as const) {
    const ids = await pageOfIds(
      { ...reader, sql: spied },
      { ...long, conditions: [condition], order: [{ column: sql`x.id`, descending: false }] },
      100,
      0,
      { count, isFar: false },
    )
    t.equal(ids[0], first, what)
    t.equal(
      asked.splice(0).length,
      statements,
      `${what}: looked for in the order of the list, and no further than needed`,
    )
  }
})

t.test('what stands together is counted with its ends, and its pages are found from these', async (t) => {
  const { url } = await testDatabase(t)
  const database = openDatabase(url, { max: 1, name: 'test' })
  t.teardown(database.close)
  const reader = readerOf(database)
  await database.sql`create temporary table numbers as select id from generate_series(1, 60000) as x(id)`
  const numbers = sql`numbers x`
  const conditions = [sql`x.id between 30001 and 45000`]
  const counted = await countRows(reader, numbers, conditions, { id: sql`x.id` })
  t.strictSame(counted, { count: 15_000, ids: [30_001, 45_000] })
  t.strictSame(
    await countRows(reader, numbers, conditions),
    { count: 15_000 },
    'the ends are not asked without a column',
  )
  t.strictSame(await countRows(reader, numbers, [sql`false`], { id: sql`x.id` }), { count: 0 })
  const asked: string[] = []
  const { unsafe } = reader.sql
  const spied = Object.assign(Object.create(reader.sql), {
    unsafe: (text: string, ...rest: []) => {
      asked.push(text)
      return unsafe(text, ...rest)
    },
  })
  for (const descending of [true, false])
    for (const [offset, isFar] of [
      [0, false],
      [100, false],
      [14_950, true],
    ] as const) {
      const order = [{ column: sql`x.id`, descending }]
      const page = { from: numbers, id: sql`x.id`, conditions, order }
      const found = await pageOfIds({ ...reader, sql: spied }, page, 100, offset, { ...counted, isFar })
      const first = descending ? 45_000 - offset : 30_001 + offset
      t.equal(found[0], first, `from ${offset}, ${descending ? 'down' : 'up'}`)
      t.equal(found.length, Math.min(100, 15_000 - offset))
      t.equal(asked.splice(0).length, 1, 'in one statement')
    }

  const counts = sql`(values (60000::bigint)) c(count)`
  const byRest = (kept: string, less?: string) =>
    countByRest(reader, {
      counts,
      from: numbers,
      ...(less && { less: sql.raw(less) }),
      rest: { counted: [], conditions: [sql.raw(kept)] },
    })
  t.equal(await byRest('x.id <= 20000'), 40_000)
  t.equal(
    await byRest('x.id <= 20000', 'generate_series(1, 10) as x(id)'),
    40_010,
    'less those that are no part of the list',
  )
  t.equal(await byRest('x.id <= 20001'), undefined, 'no more are counted at the side')
})

t.test('a row of a page, or one by its uuid, has the values that the driver gives', async (t) => {
  const { url } = await testDatabase(t)
  const database = openDatabase(url, { max: 1, name: 'test' })
  t.teardown(database.close)
  const text = `
    select id, null::text as niets, ''::text as leeg, e'a"b\\c\n\u00e9\u2028' as tekst, id % 2 = 0 as "isEven", id * 1000000000000 as groot,
      gen.uuid, date '2026-02-28' + id::integer as dag, timestamptz '2026-01-01 12:00:00+01' as moment,
      timestamptz '2026-01-01 12:00:00.123456Z' + id * interval '1 second' as laatst_gemuteerd, null::timestamptz as geen_moment,
      array['a', 'b,"c"'] as lijst, '{}'::text[] as lege_lijst, '[{"b": 1.50, "a": null}]'::jsonb as json,
      'openbaar'::vertrouwelijkheidaanduiding as niveau
    from unnest($1::bigint[]) as x(id), (select '6f1c3ae0-0000-4000-8000-000000000000'::uuid as uuid) gen`
  const rowsOf = rowsById<{ id: number }>(() => text)
  const found = await rowsOf(readerOf(database), [3, 1, 2])
  const rows = await database.sql.unsafe(text, [[3, 1, 2]] as never)
  const named = rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name.replace(/_([a-z])/g, (_, one) => one.toUpperCase()), value]),
    ),
  )
  t.strictSame(found, named)
  t.match(found[0], { laatstGemuteerd: '2026-01-01T12:00:03.123456Z', moment: '2026-01-01T11:00:00Z' })
  t.strictSame(await rowsOf(readerOf(database), []), [])
  const rowOf = rowByUuid<object>(
    () => `${text.replace('unnest($1::bigint[])', 'unnest(array[3::bigint])')} where gen.uuid = $1`,
  )
  t.strictSame(await rowOf(readerOf(database), '6f1c3ae0-0000-4000-8000-000000000000'), named[0])
  t.equal(await rowOf(readerOf(database), '6f1c3ae0-0000-4000-8000-000000000001'), undefined)
})
