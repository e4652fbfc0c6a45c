// From which moment on a sender looks, and that nothing it does not look at is left behind.
import { runTaskListOnce, type Task } from 'graphile-worker'
import pg from 'pg'
import type { Sql } from 'postgres'
import t from 'tap'
import { systemActor } from '../../src/core/access.ts'
import { mutator } from '../../src/core/mutate.ts'
import { claim, openSenderDatabase, wakeOverdue } from '../../src/notificaties/claims.ts'
import { FROM_THE_OLDEST, openLowerBounds } from '../../src/notificaties/lower-bounds.ts'
import { setPaused } from '../../src/notificaties/settings.ts'
import { sendNotifications } from '../../tasks/send-notificaties.ts'
import { emptyQueue } from '../jobs/queue.ts'
import { until } from '../until.ts'
import { givenChange, givenNotificaties, givenSender } from './given.ts'

const nothing = { rows: [], claimed: [] }
const roomy = { external: 20, total: 200, open: [] }
const of = (abonnementId: number, atOnce = 2) => ({ abonnementId, abonnement: { atOnce } })
const row = (abonnementId: number, dueAge: number, parked = false) => ({ abonnementId, dueAge, parked })

t.test('a sender begins where it has seen everything, less what transactions under way may still write', async (t) => {
  const bounds = openLowerBounds()
  t.same(bounds.from(100_000), FROM_THE_OLDEST, 'it has seen nothing yet')
  bounds.begin(100_000, roomy).end(nothing)
  t.same(bounds.from(103_000), { age: 5, receivers: [], ages: [] })
  bounds.underWay(60, 103_000)
  t.same(bounds.from(103_000), { age: 62, receivers: [], ages: [] }, 'also of one that it did not know of at its look')
  bounds.begin(103_000, roomy).end(nothing)
  t.same(bounds.from(103_000), { age: 62, receivers: [], ages: [] })
  bounds.underWay(null, 103_000)
  const { from, end } = bounds.begin(104_000, roomy)
  t.equal(from.age, 63)
  bounds.forget()
  end(nothing)
  t.same(bounds.from(104_000), FROM_THE_OLDEST, 'what was forgotten during a look stays so')
})

t.test('a receiver that has more than it may get keeps a moment of its own', async (t) => {
  const bounds = openLowerBounds()
  bounds.begin(10_000, roomy).end(nothing)
  bounds.begin(20_000, roomy).end({ rows: [row(7, 100), row(7, 90), row(8, 1)], claimed: [of(7), of(7), of(8)] })
  t.same(bounds.from(20_000), { age: 2, receivers: [7], ages: [90.5] }, 'that of the last one that it got')
  bounds.begin(30_000, { ...roomy, open: [of(7), of(7), of(8), of(9, 1)] }).end(nothing)
  t.same(bounds.from(30_000), { age: 2, receivers: [7, 9], ages: [100.5, 12] }, 'as long as it has enough in hand')
  bounds.begin(31_000, roomy).end(nothing)
  t.same(bounds.from(31_000), { age: 2, receivers: [], ages: [] })
  bounds.begin(32_000, { ...roomy, external: 0 }).end({ rows: [row(8, 30, true)], claimed: [] })
  t.same(bounds.from(32_000), { age: 2, receivers: [0, 8], ages: [3, 30.5] }, 'or a message of it was parked')
})

t.test('a look that took all that it could begins there again for whoever was not looked at', async (t) => {
  const bounds = openLowerBounds()
  bounds.begin(10_000, roomy).end(nothing)
  bounds.begin(20_000, { ...roomy, total: 1 }).end({ rows: [row(7, 1)], claimed: [of(7)] })
  t.same(bounds.from(20_000), { age: 12, receivers: [7], ages: [2] })
})

t.test('the cost of a look does not grow with what was delivered while an old snapshot is held', async (t) => {
  const test = await givenNotificaties(t)
  const { sql } = test.database
  await givenChange(test)
  await test.runJobs()
  await settled(sql)
  const held = openSenderDatabase(test.databaseUrl)
  t.teardown(held.close)
  await held.sql`begin isolation level repeatable read`.simple()
  await held.sql`select from delivery`
  await sql`
    insert into delivery (notificatie_id, hoofd_object_uuid, next_attempt_at)
    select n, gen_random_uuid(), now() - interval '1 hour' from generate_series(1, 20000) n`
  await sql`delete from delivery where next_attempt_at < now() - interval '30 minutes'`
  const blocks = async (age: number | null) => {
    const rows = await sql.unsafe<
      { 'QUERY PLAN': { Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }[] }[]
    >(
      `explain (analyze, buffers, format json)
        select * from claim_deliveries(0, 20, 20, '{}', '{}', '{}', 5, ${age}, '{}', '{}')`,
    )
    const { Plan } = rows[0]!['QUERY PLAN'][0]!
    return Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks']
  }
  // The least of some: what a statement that is planned anew reads of the catalogue counts too.
  const least = async (age: number | null) => {
    const found: number[] = []
    for (let n = 0; n < 4; n++) found.push(await blocks(age))
    return Math.min(...found)
  }
  t.ok((await least(null)) > 200, 'from the oldest: all that is dead')
  t.ok((await least(5)) < 50, 'from five seconds ago')
})

t.test('what a sender believes to have seen is overdue soon, and sent', async (t) => {
  const test = await givenNotificaties(t)
  const { sql } = test.database
  await settled(sql)
  const { sender, pool } = await givenSender(t, test)
  await givenChange(test)
  const running = sender.run(pool)
  await until('the first', () => test.receiver.received.length === 1)
  await until('its record', async () => (await sql`select from delivery`).length === 0)
  await emptyQueue(sql)
  await wakeOverdue(sql)
  t.equal((await sql`select from jobs`).length, 0, 'nothing is overdue')
  await sql`
    insert into delivery (notificatie_id, hoofd_object_uuid, next_attempt_at)
    select id, hoofd_object_uuid, now() - interval '1 hour' from notificatie`
  await running
  t.equal(test.receiver.received.length, 1, 'it does not look there')
  await wakeOverdue(sql)
  const client = new pg.Client({ connectionString: test.databaseUrl })
  await client.connect()
  t.teardown(() => client.end())
  const task = sendNotifications({ ...sender, run: (_worker, options) => sender.run(pool, options) })
  await runTaskListOnce(
    { noPreparedStatements: true, schema: 'zaakstroom_queue' },
    { 'send-notificaties': task as Task },
    client as never,
  )
  t.equal(test.receiver.received.length, 2)
})

for (const whom of ['all', 'external'] as const)
  t.test(`what waited while sending to ${whom} was paused is sent by a sender that looked on meanwhile`, async (t) => {
    const test = await givenNotificaties(t)
    const { sql } = test.database
    const { sender, pool } = await givenSender(t, test)
    const pause = (isPaused: boolean) =>
      mutator(test.database)(systemActor('test'), (m) => setPaused(m, isPaused, whom))
    await givenChange(test)
    const running = sender.run(pool)
    await until('the first', () => test.receiver.received.length === 1)
    await until('its record', async () => (await sql`select from delivery`).length === 0)
    await pause(true)
    await givenChange(test)
    await sql`update delivery set next_attempt_at = now() - interval '1 minute'`
    await sql`update notificatie_settings set changed_at = now() - interval '30 seconds'`
    await running
    const again = sender.run(pool)
    await pause(false)
    await until('the second', () => test.receiver.received.length === 2)
    sender.stop()
    await again
    t.equal((await sql`select from delivery`).length, 0)
  })

t.test('a claim from a moment on finds all of a receiver that failed', async (t) => {
  const test = await givenNotificaties(t)
  const { sql } = test.database
  await sql`insert into abonnement (callback_url, auth, failures, status_since) values ('https://a.example', 'x', 1, '-infinity')`
  await givenChange(test)
  await sql`
    update delivery set abonnement_id = (select id from abonnement), next_attempt_at = now() - interval '1 hour'`
  const look = async () =>
    (
      await claim(test.database, {
        worker: 0,
        external: 1,
        total: 1,
        busy: [],
        open: [],
        from: { age: 5, receivers: [], ages: [] },
      })
    ).rows.length
  await sql`update abonnement set failures = 0`
  t.equal(await look(), 0, 'of one that is well nothing older')
  await sql`update abonnement set failures = 1`
  t.equal(await look(), 1)
})

/** Settings that were not changed lately: whoever looks on begins where it has seen everything. */
const settled = (sql: Sql) => sql`update notificatie_settings set changed_at = now() - interval '1 hour'`
