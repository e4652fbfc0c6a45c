// When the sender looks, and who wakes it.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { systemActor } from '../../src/core/access.ts'
import { mutator } from '../../src/core/mutate.ts'
import { openSenderDatabase } from '../../src/notificaties/claims.ts'
import { emptyQueue } from '../jobs/queue.ts'
import { until } from '../until.ts'
import { type Given, givenChange, givenNotificaties, givenSender } from './given.ts'

t.test('two jobs at once in one process send nothing twice', async (t) => {
  const test = await givenNotificaties(t)
  for (let n = 0; n < 40; n++) await givenChange(test)
  const { sender, pool } = await givenSender(t, test)
  test.receiver.answer = (response) => void setTimeout(() => response.writeHead(201).end(), 20)
  await Promise.all([sender.run(pool), sender.run(pool)])
  t.equal(test.receiver.received.length, 40)
  t.equal((await test.database.sql`select from delivery`).length, 0)
})

t.test('a sender that is closed gives up the outcome that it can record no more', async (t) => {
  const test = await givenNotificaties(t)
  await givenChange(test)
  const asked = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  test.receiver.answer = (response) => {
    asked.resolve()
    void go.promise.then(() => response.writeHead(201).end())
  }
  const { sender, pool } = await givenSender(t, test)
  const ended = sender.run(pool).then(() => 'ended')
  await asked.promise
  const closing = sender.close()
  go.resolve()
  await closing
  t.equal(await Promise.race([ended, sleep(20_000, 'goes on', { ref: false })]), 'ended')
  t.equal((await test.database.sql`select from delivery`).length, 1, 'it is claimed again by the next')
})

t.test(
  'a message of a transaction that began while the sender looked, and ends after it wanted to sleep, is sent',
  async (t) => {
    const { test, sql, running } = await givenRunning(t)
    await emptyQueue(sql)
    const { committed, commit } = await openMessage(sql)
    t.equal((await sql`select from jobs`).length, 0, 'it counts on the sender')
    await until('no sender', async () => (await sql`select from active_sender`).length === 0)
    t.equal(await Promise.race([running, sleep(1_000, 'waits')]), 'waits', 'the sender looks on for it')
    commit()
    await Promise.all([committed, running])
    t.same(await leftAndReceived(test), [0, 2])
  },
)

t.test('so is one of a transaction that began while the sender was going to sleep', async (t) => {
  const test = await givenNotificaties(t)
  const { sql } = test.database
  await sql`
    create function hold() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock(7); return null; end'`
  await sql`
    create constraint trigger hold after delete on active_sender deferrable initially deferred for each row
    execute function hold()`
  const holder = openSenderDatabase(test.databaseUrl)
  t.teardown(holder.close)
  await holder.sql`select pg_advisory_lock(7)`
  const { sender, pool } = await givenSender(t, test)
  await givenChange(test)
  const running = sender.run(pool)
  const isAtCommit = async () =>
    (
      await sql`
        select from pg_stat_activity
        where datname = current_database() and wait_event = 'advisory' and query ~ 'delete from active_sender'`
    ).length === 1
  await until('a commit', isAtCommit)
  await emptyQueue(sql)
  const { committed, commit } = await openMessage(sql)
  t.equal((await sql`select from jobs`).length, 0, 'it counts on the sender')
  await holder.sql`select pg_advisory_unlock(7)`
  await until('no sender', async () => (await sql`select from active_sender`).length === 0)
  t.equal(await Promise.race([running, sleep(1_000, 'waits')]), 'waits', 'the sender looks on for it')
  commit()
  await Promise.all([committed, running])
  t.same(await leftAndReceived(test), [0, 2])
})

t.test('so is one of a transaction that saw a job, which a sender took that was going to sleep', async (t) => {
  const { test, sql, sender, pool, running } = await givenRunning(t)
  const { promise: end, resolve: endFirst } = Promise.withResolvers<void>()
  const first = sql.begin((trx) => trx`select pg_current_xact_id()`.then(() => end)) // for which it does not sleep yet
  await until('no sender', async () => (await sql`select from active_sender`).length === 0)
  await emptyQueue(sql)
  await sql`select add_job('send-notificaties', job_key => 'send-notificaties')`
  const second = await openMessage(sql)
  t.equal((await sql`select from jobs`).length, 1, 'it counts on the job')
  await emptyQueue(sql)
  await sender.run(pool) // as the job that was taken
  endFirst()
  await first
  t.equal(await Promise.race([running, sleep(1_000, 'waits')]), 'waits', 'the sender looks on for it')
  second.commit()
  await Promise.all([second.committed, running])
  t.same(await leftAndReceived(test), [0, 2])
})

t.test('while no worker takes the job that wakes a sender, no change waits for another', async (t) => {
  const test = await givenNotificaties(t)
  const { sql } = test.database
  await emptyQueue(sql)
  await givenChange(test)
  const open = await Promise.all([openMessage(sql), openMessage(sql)])
  for (const { commit } of open) commit()
  await Promise.all(open.map(({ committed }) => committed))
  t.equal((await sql`select from jobs where key = 'send-notificaties'`).length, 1)
})

t.test('a job that will not run again wakes nobody: the next change adds it anew', async (t) => {
  const test = await givenNotificaties(t)
  const { sql } = test.database
  await emptyQueue(sql)
  await givenChange(test)
  const [job] = await sql<{ id: string }[]>`select id from jobs where key = 'send-notificaties'`
  await sql`select permanently_fail_jobs(array[${job!.id}::bigint])`
  await givenChange(test)
  const waiting = await sql`
    select from jobs where key = 'send-notificaties' and attempts < max_attempts and run_at <= now() and locked_at is null`
  t.equal(waiting.length, 1)
})

t.test('before it sleeps the sender plans a job for the moment of the next retry', async (t) => {
  const test = await givenNotificaties(t, { backoff: 100 })
  const { sql } = test.database
  const { sender, pool } = await givenSender(t, test)
  test.receiver.answer = (response) => response.writeHead(500).end()
  await givenChange(test)
  await sender.run(pool)
  const [job] = await sql`
    select extract(epoch from run_at - now())::float8 as seconds from jobs where key = 'send-notificaties:later'`
  t.ok(job!.seconds > 90 && job!.seconds <= 100)
})

t.test('a rolled back change wakes nobody and leaves nothing to deliver', async (t) => {
  const test = await givenNotificaties(t)
  const { sql } = test.database
  await emptyQueue(sql)
  const uuid = randomUUID()
  const url = `http://localhost/documenten/api/v1/enkelvoudiginformatieobjecten/${uuid}`
  const change = {
    component: 'drc',
    actie: 'create',
    resource: 'x',
    url,
    uuid,
    weergave: 'x',
    oud: null,
    nieuw: {},
  } as const
  await t.rejects(
    mutator(test.database)(systemActor('test'), async (m) => {
      m.record({ ...change, kanaal: { naam: 'documenten', kenmerken: {} } })
      m.record({ ...change, uuid: 'no uuid', kanaal: null })
    }),
  )
  t.equal((await sql`select from delivery`).length, 0)
  t.equal((await sql`select from jobs`).length, 0)
})

/** How many deliveries are left, and how many messages the receiver got. */
const leftAndReceived = async ({ database, receiver }: Given) => [
  (await database.sql`select from delivery`).length,
  receiver.received.length,
]

/** A sender that has sent a message, and looks by itself. */
async function givenRunning(t: Test) {
  const test = await givenNotificaties(t)
  const { sql } = test.database
  const { sender, pool } = await givenSender(t, test)
  await givenChange(test)
  const running = sender.run(pool)
  await until('a sender', async () => (await sql`select from active_sender`).length === 1)
  return { test, sql, sender, pool, running }
}

/** A transaction that has written a message, as another was, and waits for `commit`. */
async function openMessage(sql: Given['database']['sql']): Promise<{ committed: Promise<unknown>; commit(): void }> {
  const { promise: go, resolve: commit } = Promise.withResolvers<void>()
  const recorded = Promise.withResolvers<void>()
  const committed = sql.begin(async (trx) => {
    await trx`
      with n as (
        insert into notificatie (kanaal, hoofd_object, hoofd_object_uuid, resource, resource_url, actie, kenmerken)
        select kanaal, hoofd_object, gen_random_uuid(), resource, resource_url, actie, kenmerken from notificatie
        returning id, hoofd_object_uuid
      )
      insert into delivery (notificatie_id, hoofd_object_uuid) select id, hoofd_object_uuid from n`
    await trx`select wake_sender()`
    recorded.resolve()
    await go
  })
  await recorded.promise
  return { committed, commit }
}
