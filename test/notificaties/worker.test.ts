// Slow: workers are killed, cut off and kept waiting.
// The worker as the program runs it: a process that is killed, cut off and kept waiting.
// It starts workers.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { accept } from '../../bench/receiver.ts'
import { until } from '../until.ts'
import { attemptsOf, type Given, givenChange, givenNotificaties, type TestLike } from './given.ts'

t.setTimeout(580_000)

t.test('a worker that is killed between sending and writing down loses nothing', async (t) => {
  const test = await givenNotificaties(t)
  const uuids: string[] = []
  for (let i = 0; i < 60; i++) uuids.push(await givenChange(test))
  const held: ServerResponse[] = []
  test.receiver.answer = (response) => held.push(response)
  const first = await startWorker(t, test)
  await until('10 messages under way', () => held.length >= 10)
  const inFlight = held.length
  first.kill('SIGKILL')
  test.receiver.answer = accept
  await startWorker(t, test)
  await until('all delivered', async () => (await waiting(test)) === 0)
  const received = test.receiver.received.map(({ id }) => id)
  t.same([...new Set(received)].sort(), uuids.sort(), 'every message arrived, and nothing else')
  t.ok(
    received.length <= uuids.length + Math.max(inFlight, test.config.notificationsConcurrency),
    'repeated is at most what was under way',
  )
  const [lost] = await test.database.sql`select count(*)::int as count from delivery_attempt where outcome = 'lost'`
  t.ok(lost!.count > 0)
  const [used] = await test.database
    .sql`select count(*)::int as count from delivery_attempt where outcome <> 'delivered' and outcome <> 'lost'`
  t.equal(used!.count, 0, 'and it used no retries')
})

t.test(
  'another worker sends what is new at once, and what a killed one had claimed when that is declared dead',
  async (t) => {
    const test = await givenNotificaties(t)
    const workers = () => test.database.sql<{ pid: number }[]>`select pid from worker where name = 'notificaties'`
    const first = await startWorker(t, test)
    test.receiver.answer = () => {}
    const claimed = await givenChange(test)
    const hasCome = (one: string) => test.receiver.received.filter(({ id }) => id === one).length
    await until('it is under way', () => hasCome(claimed) === 1)
    await startWorker(t, test)
    await until('both are there', async () => (await workers()).length === 2)
    first.kill('SIGKILL')
    test.receiver.answer = accept
    const fresh = await givenChange(test)
    await until('what is new came', () => hasCome(fresh) === 1)
    t.equal(hasCome(claimed), 1, 'what was claimed waits')
    t.equal((await workers()).length, 2, 'as long as the killed one counts')
    await until('it comes then', () => hasCome(claimed) === 2)
  },
)

t.test('an outage of our own database uses no attempt: the answer is written down when it is back', async (t) => {
  const test = await givenNotificaties(t)
  const held: ServerResponse[] = []
  test.receiver.answer = (response) => held.push(response)
  const uuid = await givenChange(test)
  await startWorker(t, test)
  await until('a message under way', () => held.length === 1)
  const { sql } = test.database
  const cut = () => sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name like 'zaakstroom notificaties%'`
  t.ok((await cut()).length > 0)
  held[0]!.writeHead(201).end()
  await cut()
  await until('all delivered', async () => (await waiting(test)) === 0)
  t.match(await attemptsOf(test, uuid), [{ number: 1, outcome: 'delivered' }])
  t.equal((await attemptsOf(test, uuid)).length, 1)
  t.equal(test.receiver.received.length, 1)
})

t.test('a receiver that never answers holds up no other job', async (t) => {
  const test = await givenNotificaties(t)
  test.receiver.answer = () => {}
  for (let i = 0; i < 60; i++) await givenChange(test)
  await startWorker(t, test)
  await until('20 messages', () => test.receiver.received.length >= 20)
  await test.database.sql`select add_job('fold-counts')`
  const jobs = () => test.database.sql`select from jobs where task_identifier = 'fold-counts'`
  await until('the other job', async () => (await jobs()).length === 0, 8_000)
  t.equal(await waiting(test), 60)
})

t.test('retries are made by themselves at the moments of the schedule', async (t) => {
  const test = await givenNotificaties(t, { maxRetries: 3, backoff: 1, baseFactor: 2, backoffMax: 100 })
  const moments: number[] = []
  test.receiver.answer = (response) => {
    moments.push(performance.now())
    response.writeHead(500).end()
  }
  await startWorker(t, test)
  await givenChange(test)
  await until('all delivered', async () => (await waiting(test)) === 0)
  const since = moments.slice(1).map((moment) => (moment - moments[0]!) / 1000)
  t.equal(since.length, 3)
  for (const [i, at] of [1, 3, 7].entries()) t.ok(since[i]! >= at, `not before ${at} s: ${since[i]}`)
  t.ok(since[2]! < 8, `what one is late does not shift the next: ${since[2]}`)
})

async function startWorker(t: TestLike, { config, databaseUrl }: Given): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../src/main.ts'), 'worker'], {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      DATA_DIR: config.dataDir,
      SECRET_KEY: config.secretKey,
      LOG_LEVEL: 'fatal',
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  })
  return child
}

async function waiting({ database: { sql } }: Given): Promise<number> {
  const [row] = await sql`select count(*)::int as count from delivery where status = 'gepland'`
  return row!.count
}
