import { sql } from 'kysely'
import t from 'tap'
import { openDatabase, readerOf } from '../../src/database/database.ts'
import { pageOfIds, rowByUuid, rowsById } from '../../src/database/list.ts'
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
