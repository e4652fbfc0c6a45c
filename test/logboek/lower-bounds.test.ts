// Where settling, sending and counting begin, and that nothing before that is left behind.
import type { Sql, TransactionSql } from 'postgres'
import t from 'tap'
import { lookForActs, openSettled, settleAll, settlePortion } from '../../src/core/settle-verwerkingen.ts'
import { type LogOptions, logOptionsOf, openSpool, writeActs } from '../../src/core/verwerkingen.ts'
import { openDatabase } from '../../src/database/database.ts'
import { exportPortion } from '../../src/operations/export-verwerkingen.ts'
import { testApp } from '../app.ts'

const ON = {
  LOGBOEK_DATAVERWERKINGEN: 'true',
  LOGBOEK_ACTIVITEIT: 'https://register.gemeente.nl/verwerkingen/zaken',
  LOGBOEK_OTLP_ENDPOINT: 'http://127.0.0.1:9',
}

t.test('a settler begins after what it saw settled some time ago, and looks at all each minute', async (t) => {
  const settled = openSettled()
  const done = { more: false, last: 7 }
  t.equal(settled.after(100_000), 0, 'it has seen nothing yet')
  settled.looked(100_000, { more: true, last: 3 })
  t.equal(settled.after(100_500), 3, 'a look at all goes on where it was')
  settled.looked(100_500, done)
  t.equal(settled.after(105_000), 0, 'what is under way may still come before it')
  settled.looked(105_000, { more: false, last: 9 })
  t.equal(settled.after(111_000), 7)
  t.equal(settled.after(115_000), 9)
  t.equal(settled.after(160_600), 0, 'all')
  settled.looked(160_600, done)
  t.equal(settled.after(161_000), 9)
})

/** So many lines, the first of them with this number. */
const givenLines = (sql: Sql, first: number, count: number) => sql`
  insert into verwerking (id, activiteit, handeling, client_id, applicatie_weergave, gebruikers_id, gebruikers_weergave, zaken, objecten,
    trace_id, request_id) overriding system value
  select n, '', '', '', '', '', '', '{}', '{}', '', '' from generate_series(${first}::int, ${first + count - 1}::int) n`

/** What a question reads, in blocks. */
async function blocksOf(sql: Sql, ask: (sql: Sql) => Promise<unknown>): Promise<number> {
  let blocks = 0
  const explain = async (strings: TemplateStringsArray, values: never[]) => {
    const [first = '', ...others] = strings
    const text = [`explain (analyze, buffers, format json) ${first}`, ...others]
    const rows = await sql<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }[]>(
      Object.assign(text, { raw: text }) as never,
      ...values,
    )
    const plan = rows[0]?.['QUERY PLAN'][0]?.Plan ?? {}
    blocks += Number(plan['Shared Hit Blocks']) + Number(plan['Shared Read Blocks'])
    return sql(strings, ...values)
  }
  const explained = ((strings: TemplateStringsArray, ...values: never[]) =>
    strings.join().includes('verwerking_') ? explain(strings, values) : sql(strings, ...values)) as unknown as Sql
  await ask(explained)
  return blocks
}

t.test('the cost of a look does not grow with what was settled and sent while an old snapshot is held', async (t) => {
  const test = await testApp(t, ON)
  const { sql } = test.database
  const held = openDatabase(test.databaseUrl, { max: 1, name: 'test' })
  t.teardown(held.close)
  await held.sql`begin isolation level repeatable read`.simple()
  await held.sql`select from verwerking_unsettled`
  await sql`insert into verwerking_unsettled (lines, content) select 1, '[]' from generate_series(1, 20000)`
  await sql`delete from verwerking_unsettled`
  await sql`insert into verwerking_spool select n, n from generate_series(1, 20000) n`
  await sql`delete from verwerking_spool`
  await givenLines(sql, 20_000, 1)
  await sql`analyze verwerking_unsettled, verwerking_spool`
  const options = { activiteit: 'x', spools: false }
  const settle = (after: number) => (asked: Sql) => settlePortion(asked as unknown as TransactionSql, options, after)
  const look = (after: number) => (asked: Sql) => lookForActs(asked, after)
  for (const ask of [settle, look]) {
    t.ok((await blocksOf(sql, ask(0))) > 100, 'from the oldest: all that is dead')
    t.ok((await blocksOf(sql, ask(20_000))) < 50, 'after what is settled')
  }
  const spoolOf = openSpool()
  t.ok((await blocksOf(sql, spoolOf)) > 200)
  t.ok((await blocksOf(sql, spoolOf)) < 50, 'counting remembers where it was')
})

t.test('what waits is counted, settled and sent by whoever looked before', async (t) => {
  const test = await testApp(t, ON)
  const { database } = test
  const { sql } = database
  const options = logOptionsOf(test.config) as LogOptions
  const spoolOf = openSpool()
  const delivered = { until: 0 }
  const sent: string[] = []
  const send = async (lines: readonly { request_id: string }[]) => {
    sent.push(...lines.map(({ request_id }) => request_id))
    return []
  }
  const write = (db: Pick<typeof database, 'numbers'> & { sql: Sql | TransactionSql }, requestId: string) =>
    writeActs(db, [
      {
        began: performance.now(),
        ended: performance.now(),
        handeling: 'GET /',
        actor: { clientId: '', applicatieLabel: '', userId: '', userRepresentation: '' },
        zaken: [crypto.randomUUID()],
        objecten: [],
        rollen: [],
        persons: [],
        trace: undefined,
        requestId,
      },
    ])
  t.equal((await spoolOf(sql)).waiting, 0)
  t.strictSame(await lookForActs(sql, 0), { more: false, last: 0 })
  t.equal(await exportPortion(database, send, delivered), 0)
  for (const round of [1, 2, 3]) {
    const before = await lookForActs(sql, 0)
    await write(database, `verzoek-${round}`)
    t.strictSame(await lookForActs(sql, before.last ?? 0), { more: true, last: null })
    t.equal((await spoolOf(sql)).waiting, 1, 'to be settled')
    await settleAll(database, options)
    t.equal((await spoolOf(sql)).waiting, 1, 'to be sent')
    t.equal(await exportPortion(database, send, delivered), 1)
    t.equal((await spoolOf(sql)).waiting, 0)
    t.equal(await exportPortion(database, send, delivered), 0)
    t.equal(delivered.until, round)
  }
  t.strictSame(sent, ['verzoek-1', 'verzoek-2', 'verzoek-3'])

  let settledUpTo = 0
  await sql.begin(async (slow) => {
    await write({ sql: slow, numbers: database.numbers }, 'langzaam')
    await write(database, 'vlug')
    settledUpTo = (await sql.begin((trx) => settlePortion(trx, options))).last ?? 0
  })
  const late = (after: number) => sql.begin((trx) => settlePortion(trx, options, after))
  t.equal((await late(settledUpTo)).last, null, 'what a slow transaction wrote is not seen')
  t.equal((await late(0)).last, settledUpTo - 1, 'until all is looked at')
})

t.test('what a collector got in part goes on where it was', async (t) => {
  const test = await testApp(t, ON)
  const { sql } = test.database
  await givenLines(sql, 1, 1200)
  await sql`insert into verwerking_spool values (1, 700), (701, 1200)`
  const delivered = { until: 0 }
  const ids: number[] = []
  const send = async (lines: readonly { id: number }[]) => {
    ids.push(...lines.map(({ id }) => id))
    return []
  }
  const counts = []
  for (let portion = 0; portion < 4; portion++) counts.push(await exportPortion(test.database, send, delivered))
  t.strictSame(counts, [500, 500, 200, 0])
  t.strictSame(
    ids,
    Array.from({ length: 1200 }, (_, at) => at + 1),
  )
})
