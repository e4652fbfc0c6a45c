// Slow: workers are started, killed and kept waiting.
// It starts workers, and its tests wait side by side.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import pino from 'pino'
import type { Sql } from 'postgres'
import t, { type Test } from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import { reapDeadWorkers } from '../../src/jobs/leases.ts'
import { isConnectionFault } from '../../src/jobs/pool.ts'
import { startWorker } from '../../src/jobs/worker.ts'
import { ownServer } from '../database/own-server.ts'
import { testDatabase } from '../setup.ts'
import { until } from '../until.ts'
import { lockJob } from './queue.ts'

const FIXTURE = new URL('./worker-process.ts', import.meta.url)

t.jobs = 6 // they wait most of the time
t.setTimeout(580_000)

t.test('a job of a worker that is killed is done by another, and keeps its attempt', async (t) => {
  const { url, sql } = await database(t)
  const first = await startProcess(t, url)
  await addJob(sql, 'gated', 'a')
  await until('the job at the first worker', () => runs(sql, 'a', first))
  const second = await startProcess(t, url)
  first.kill('SIGKILL')
  await until('the job at the second worker', () => runs(sql, 'a', second), 15_000)
  await openGate(sql, 'a')
  await until('the end of all jobs', () => isIdle(sql))
  t.match(await sql`select key, pid from effect`, [{ key: 'a', pid: second.pid }])
  t.match(await sql`select attempt from run where pid = ${second.pid!}`, [{ attempt: 1 }])
  t.equal((await sql`select from worker`).length, 1, 'the dead worker is off the list')
})

t.test('the same worker, started again after it was killed, takes its job up', async (t) => {
  const { url, sql } = await database(t)
  const first = await startProcess(t, url)
  await addJob(sql, 'gated', 'a')
  await until('the job at the first worker', () => runs(sql, 'a', first))
  first.kill('SIGKILL')
  const second = await startProcess(t, url)
  await until('the job at the second worker', () => runs(sql, 'a', second), 15_000)
  await openGate(sql, 'a')
  await until('the end of all jobs', () => isIdle(sql))
})

t.test('a frozen worker loses its job to another and does not complete it when it wakes', async (t) => {
  const { url, sql } = await database(t)
  const frozen = await startProcess(t, url)
  await addJob(sql, 'gated', 'a')
  await until('the job at the first worker', () => runs(sql, 'a', frozen))
  const [before] = await sql`select id from worker`
  frozen.kill('SIGSTOP')
  const second = await startProcess(t, url)
  await until('the job at the second worker', () => runs(sql, 'a', second), 40_000)

  await openGate(sql, 'a', frozen)
  const finished = message(frozen, 'finished a')
  frozen.kill('SIGCONT')
  await finished
  await until(
    'another registration',
    async () => (await sql`select from worker where pid = ${frozen.pid!} and id <> ${before?.id}`).length === 1,
  )
  // It has drained its old pool, and with that decided about the old job, when it works on a new one without holding that.
  await addJob(sql, 'gated', 'b')
  await until('the new job at the first worker', () => runs(sql, 'b', frozen))
  t.match(
    await sql`select attempts from jobs where task_identifier = 'gated' order by id`,
    [{ attempts: 1 }, { attempts: 1 }],
    'the job that the second worker still runs is not completed by the first',
  )
  await openGate(sql, 'a', second)
  await openGate(sql, 'b')
  await until('the end of all jobs', () => isIdle(sql))
  t.equal((await sql`select from run where key = 'a'`).length, 2)
})

t.test('two workers go on through two immediate restarts of the database, without using attempts', async (t) => {
  const server = await givenServer(t)
  const { url, sql } = server
  const workers = [await startProcess(t, url, { CONCURRENCY: '4' }), await startProcess(t, url, { CONCURRENCY: '4' })]
  const registered = await sql`select pid from worker order by pid`
  const keys = Array.from({ length: 150 }, (_, i) => `job ${i}`)
  await sql`select add_job('quick', json_build_object('key', key)) from unnest(${keys}::text[]) as key`
  for (const done of [20, 70]) {
    await until(`${done} jobs`, async () => (await sql`select from effect`).length >= done)
    await server.crash()
    await sleep(2_000) // there is nothing to wait for while it is away; the workers have to miss it
    await server.start()
  }
  await until('the end of all jobs', () => isIdle(sql), 40_000)
  t.equal((await sql`select from effect`).length, keys.length)
  t.match(await sql`select max(attempt) from run`, [{ max: 1 }])
  for (const worker of workers) t.ok(isAlive(worker), 'the process is still the same')
  // One that was given a job of which it never heard registers anew, since only that frees the job; its process stays.
  t.same(await sql`select pid from worker order by pid`, registered, 'the same two processes are registered, once each')
})

t.test('a job that finishes while the database is away is completed once it is back, and not run again', async (t) => {
  const server = await givenServer(t)
  const worker = await startProcess(t, server.url)
  const started: unknown[] = []
  worker.on('message', (message) => String(message).startsWith('started') && started.push(message))
  await addJob(server.sql, 'offline', 'a')
  await until('the job', () => started.length > 0)
  await server.crash()
  const unreachable = logged(worker, 'the worker cannot reach the database')
  const finished = message(worker, 'finished a')
  worker.send('finish a')
  await finished
  await unreachable
  await server.start()
  await until('the end of all jobs', () => isIdle(server.sql))
  t.same(started, ['started a'])
  t.ok(isAlive(worker))
})

t.test('a worker that is started while the database is away waits for it', async (t) => {
  const server = await givenServer(t)
  await server.crash()
  const worker = spawnProcess(t, server.url)
  const ready = message(worker, 'ready')
  await logged(worker, 'the worker cannot reach the database')
  await server.start()
  await ready
  await addJob(server.sql, 'quick', 'a')
  await until('the end of all jobs', () => isIdle(server.sql))
})

t.test('a worker goes on when all its connections are cut again and again', async (t) => {
  const { url, sql } = await database(t)
  const worker = await startProcess(t, url, { CONCURRENCY: '4' })
  const keys: string[] = []
  for (let round = 0; round < 40; round++) {
    keys.push(`job ${round}`)
    await addJob(sql, 'quick', `job ${round}`)
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`
    await sleep(75)
  }
  await until('the end of all jobs', () => isIdle(sql), 60_000)
  t.equal((await sql`select from effect`).length, keys.length)
  t.ok(isAlive(worker))
})

t.test('a worker whose connections no longer lead anywhere makes new ones', async (t) => {
  const { url, sql } = await database(t)
  const proxy = await startProxy(t, url)
  const worker = await startProcess(t, proxy.url, { CONCURRENCY: '2', TASK_DATABASE_URL: url })
  await addJob(sql, 'quick', 'before')
  await until('the end of all jobs', () => isIdle(sql))
  proxy.blackHole()
  await addJob(sql, 'quick', 'after')
  await until('the job', async () => (await sql`select from effect where key = 'after'`).length === 1, 60_000)
  await until('the end of all jobs', () => isIdle(sql), 60_000)
  t.ok(isAlive(worker))
})

t.test('a job runner that ends by itself is followed by another in the same process', async (t) => {
  const { url, sql } = await database(t)
  const worker = await startProcess(t, url)
  const [before] = await sql`select id from worker`
  const listeners = () =>
    sql`
      select from pg_stat_activity where datname = current_database() and state = 'idle'
        and application_name = 'zaakstroom listen' and query ~ 'worker:migrate|^select$'`
  await until('a runner that listens', async () => (await listeners()).length === 1)
  // graphile-worker shuts its runner down when it hears of a newer schema; this one has not really changed
  await sql`select pg_notify('worker:migrate', '{"breaking": true, "migrationNumber": 1000}')`
  await until('the next runner', async () => (await sql`select from worker where id > ${before?.id}`).length === 1)
  await addJob(sql, 'quick', 'a')
  await until('a running job', () => runs(sql, 'a', worker))
  await until('the end of all jobs', () => isIdle(sql))
  t.match(await sql`select pid from worker`, [{ pid: worker.pid }])
})

t.test('a job that kills its worker every time ends as failed, with the reason', async (t) => {
  const { url, sql } = await database(t)
  await addJob(sql, 'deadly', 'a', 1)
  let deaths = 0
  const failed = async () =>
    (await sql`select from jobs where attempts = max_attempts and locked_by is null`).length === 1
  const dies = async () => {
    const worker = await startProcess(t, url)
    await Promise.race([once(worker, 'exit').then(() => deaths++), until('a failed job', failed, 60_000)])
    return failed()
  }
  await until('the last death', dies, 90_000)
  t.equal(deaths, 6, 'five are forgiven, the sixth used up the only attempt')
  t.match(await sql`select last_error from jobs`, [{ last_error: /worker process died.* 6 times/ }])
})

t.test('a stopped worker finishes its job first, takes no other, and signs off', async (t) => {
  const { url, sql } = await database(t)
  const worker = await startProcess(t, url)
  await addJob(sql, 'gated', 'a')
  await until('a running job', () => runs(sql, 'a', worker))
  await addJob(sql, 'quick', 'b')
  const exit = once(worker, 'exit')
  worker.kill('SIGTERM')
  await openGate(sql, 'a')
  t.same(await exit, [0, null])
  t.match(await sql`select key from effect`, [{ key: 'a' }])
  t.match(await sql`select task_identifier, attempts, locked_by from jobs`, [
    { task_identifier: 'quick', attempts: 0, locked_by: null },
  ])
  t.equal((await sql`select from worker`).length, 0)
})

t.test('a job that does not end within the limit of a stop goes back to the queue with its attempt', async (t) => {
  const { url, sql } = await database(t)
  const worker = await startProcess(t, url)
  await addJob(sql, 'gated', 'a')
  await until('a running job', () => runs(sql, 'a', worker))
  const exit = once(worker, 'exit')
  worker.kill('SIGTERM')
  t.same(await exit, [0, null])
  t.match(await sql`select attempts, locked_by from jobs`, [{ attempts: 0, locked_by: null }])
})

t.test('a job that was assigned to a living worker but never reached it is given back', async (t) => {
  const { url, sql } = await database(t)
  const done: unknown[] = []
  const worker = await startWorker({
    databaseUrl: url,
    concurrency: 1,
    log: pino({ level: 'silent' }),
    taskList: { note: (_payload, { job }) => void done.push([job.id, job.attempts]) },
  })
  t.teardown(() => worker.stop())
  t.equal(worker.healthy(), true)
  // Not due yet, so that the worker leaves them until they are taken in its name.
  const lost = await addJob(sql, 'note', 'lost', 25, '1 hour')
  const stray = await addJob(sql, 'note', 'stray', 25, '1 hour')
  const [registered] = await sql`select pool_id from worker`
  await lockJob(sql, lost, registered!.pool_id, 60)
  await lockJob(sql, stray, 'pool-of-nobody', 60)
  await until('both jobs', () => done.length === 2)
  t.same(done.sort(), [
    [lost, 1],
    [stray, 1],
  ])
})

t.test('a worker judges the others only after it was itself undisturbed for a while', async (t) => {
  const { url, sql } = await database(t)
  const pool = new pg.Pool({ connectionString: url })
  t.teardown(() => pool.end())
  const register = async (name: string, seen: string, since: string) => {
    const [row] = await sql`insert into worker (name, version, host, pid, pool_id, seen_at, uninterrupted_since)
      values (${name}, '1', 'host', 1, ${name}, now() - ${seen}::interval, now() - ${since}::interval) returning id`
    return row?.id as number
  }
  await register('killed', '5 s', '1 hour')
  await register('ahead', '-1 hour', '1 hour')
  await register('frozen', '21 s', '1 hour')
  const holdsLock = await register('late', '10 s', '1 hour')
  await register('well', '1 s', '1 hour')
  const holder = await sql.reserve()
  t.teardown(() => holder.release())
  await holder`select pg_advisory_lock(31330 # hashtext(current_schema()), id) from worker where name in ('frozen', 'late')`

  t.same(await reapDeadWorkers(pool, await register('just back', '0 s', '1 s')), [])
  t.same(await reapDeadWorkers(pool, await register('silent itself', '5 s', '1 hour')), [])
  await sql`delete from worker where name in ('just back', 'silent itself')`
  const dead = await reapDeadWorkers(pool, await register('judge', '0 s', '1 minute'))
  t.same(dead.map(({ name }) => name).sort(), ['ahead', 'frozen', 'killed'])
  t.same(
    (await sql`select name from worker order by name`).map(({ name }) => name),
    ['judge', 'late', 'well'],
    `worker ${holdsLock} is late but holds its lock`,
  )
})

t.test('faults of the connection are told from other errors', async (t) => {
  for (const code of [
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ETIMEDOUT',
    '57P01',
    '57P02',
    '57P03',
    '53300',
    '08006',
  ]) {
    t.equal(isConnectionFault(Object.assign(new Error('x'), { code })), true, code)
  }
  const crashed = { code: '08P01', severity: 'ERROR' }
  t.equal(isConnectionFault(Object.assign(new Error('server conn crashed?'), crashed)), true, 'said by PgBouncer')
  const ofServer = { ...crashed, routine: 'pq_getmsgend' }
  t.equal(isConnectionFault(Object.assign(new Error('invalid message format'), ofServer)), false, 'said by PostgreSQL')
  t.equal(isConnectionFault(new Error('Connection terminated unexpectedly')), true)
  t.equal(isConnectionFault(new AggregateError([Object.assign(new Error('x'), { code: 'ECONNREFUSED' })])), true)
  for (const error of [new Error('x'), new TypeError('x is not a function'), undefined, null, 'ECONNREFUSED']) {
    t.equal(isConnectionFault(error), false, String(error))
  }
  for (const code of ['23505', '57014', '55P03', '42P01', 'ENOENT']) {
    t.equal(isConnectionFault(Object.assign(new Error('x'), { code })), false, code)
  }
})

// What the tests need.

async function database(t: Test): Promise<{ url: string; sql: Sql }> {
  const { url } = await testDatabase(t)
  return { url, sql: await prepare(t, url) }
}

async function prepare(t: Test, url: string): Promise<Sql> {
  const { sql } = openDatabase(url, { max: 3, name: 'test' })
  t.teardown(() => sql.end({ timeout: 1 }))
  await sql`create table run (key text, pid int, attempt int)`
  await sql`create table gate (key text, pid int)`
  await sql`create table effect (key text primary key, pid int)`
  return sql
}

/** A server for one test, which it may take down. */
async function givenServer(t: Test) {
  const server = await ownServer(t)
  await migrate(server.url)
  return { ...server, sql: await prepare(t, server.url) }
}

type Proxy = { url: string; blackHole(): void }

/** Something between a worker and the database, that can swallow all traffic of the connections made so far. */
async function startProxy(t: Test, url: string): Promise<Proxy> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  const proxy = createServer((near) => {
    const far = connectSocket(Number(target.port || 5432), target.hostname)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    near.pipe(far).pipe(near)
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    proxy.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = proxy.address() as AddressInfo
  return {
    url: Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href,
    blackHole() {
      for (const socket of sockets) socket.unpipe().pause()
    },
  }
}

type Worker = ChildProcess & { lines: string[] }

async function startProcess(t: Test, url: string, env: Record<string, string> = {}): Promise<Worker> {
  const worker = spawnProcess(t, url, env)
  await message(worker, 'ready')
  return worker
}

function spawnProcess(t: Test, url: string, env: Record<string, string> = {}): Worker {
  const child = fork(FIXTURE, { env: { ...process.env, DATABASE_URL: url, ...env }, silent: true })
  const lines: string[] = []
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (data) => lines.push(String(data)))
  t.teardown(async () => {
    if (!t.passing()) for (const line of lines.join('').split('\n').slice(-80)) t.comment(line)
    if (!isAlive(child)) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  return Object.assign(child, { lines })
}

function isAlive(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}

async function message(child: ChildProcess, text: string): Promise<void> {
  for (;;) {
    const [received] = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => [undefined])])
    if (received === text) return
    if (received === undefined) return // its death is what the test will see
  }
}

async function logged(worker: Worker, text: string): Promise<void> {
  await until(text, () => worker.lines.some((line) => line.includes(text)))
}

async function addJob(sql: Sql, task: string, key: string, maxAttempts = 25, delay = '0'): Promise<string> {
  const [job] = await sql`select id::text from add_job(${task}, json_build_object('key', ${key}::text),
    max_attempts => ${maxAttempts}, run_at => now() + ${delay}::interval)`
  return job?.id
}

async function runs(sql: Sql, key: string, { pid }: ChildProcess): Promise<boolean> {
  return (await sql`select from run where key = ${key} and pid = ${pid!}`).length > 0
}

async function openGate(sql: Sql, key: string, process?: ChildProcess): Promise<void> {
  await sql`insert into gate (key, pid) values (${key}, ${process?.pid ?? 0})`
}

async function isIdle(sql: Sql): Promise<boolean> {
  return (await sql`select from jobs`).length === 0
}
