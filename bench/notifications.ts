// npm run bench notifications: how fast changes are accepted while their notifications go out, and how soon those arrive.
//
// One api, one worker, one receiver and the clients, each a process or thread of its own, on an embedded database that
// writes to disk as it does in production. Beside it, in the same run, the same SQL statement without the service. With
// --pressure two processes burn CPU meanwhile. With --subscribers they go to abonnementen here instead: subscribers.ts.
//
// That statement alone has all of the machine: no service that delivers can come near it. So there is a fair limit too, made in the
// same run as CPU for each change, of which the machine has so much a second as it has cores:
//   statement  the same statement, by the driver: client and database (`driveSql`)
//   route      a bare Fastify route: a token by HS256, JSON in and out (`bare.ts`)
//   clients    what makes the requests, and reads the answers
//   delivery   the least: claims and records in portions of 20 by the functions of the database, one request each, and the receiver
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import type { Sql } from 'postgres'
import { Pool } from 'undici'
import { signToken } from '../src/autorisaties/clients.ts'
import { systemActor } from '../src/core/access.ts'
import { mutator } from '../src/core/mutate.ts'
import { type Database, openDatabase } from '../src/database/database.ts'
import { migrate } from '../src/database/migrate.ts'
import { claim, openSenderDatabase, record } from '../src/notificaties/claims.ts'
import { figure } from './figures.ts'
import {
  chooseScenario,
  cpuTimes,
  delivered,
  drive,
  pin,
  post,
  quantile,
  type Scenario,
  type Stack,
  startStack,
} from './stack.ts'
import { benchSubscribers } from './subscribers.ts'

export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      seconds: { type: 'string', default: '60' },
      clients: { type: 'string', default: '10,20,40' },
      pressure: { type: 'boolean', default: false },
      keys: { type: 'boolean', default: false },
      pin: { type: 'boolean', default: false },
      subscribers: { type: 'string' },
      rate: { type: 'string', default: '20' },
      burst: { type: 'string', default: '10000' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(
      'Options: --seconds 60 (per number of clients), --clients 10,20,40, --pressure (two processes burn CPU),\n' +
        '--pin (the api on one core, PostgreSQL on another)\n' +
        'What an Idempotency-Key costs: --keys (in turns with creates without)\n' +
        'To abonnementen: --subscribers 20 (3 or more), --seconds 60 at --rate 20 (zaken/s), --burst 10000 (messages)',
    )
    return
  }
  if (values.subscribers !== undefined) {
    const { subscribers, seconds, rate, burst } = values
    return benchSubscribers({
      subscribers: Math.max(3, Number(subscribers)),
      seconds: Number(seconds),
      rate: Number(rate),
      burst: Number(burst),
    })
  }
  const receiver = await receiverThread()
  const stack = await startStack(receiver.root)
  try {
    if (values.pin) await pin(stack.pids)
    const scenario = await chooseScenario(stack)
    if (values.keys) return await pairKeys(stack, scenario, Number(values.seconds))
    console.log(
      `creating: ${scenario.name}; ${values.seconds} s each${values.pressure ? '; two processes burn CPU' : ''}`,
    )
    console.log(
      'clients  created/s  refused  limit/s  ratio   median    p99   undelivered  repeated  ms of CPU per change: api  worker  database  idle in transaction  waiting to notify',
    )
    for (const clients of values.clients.split(',').map(Number)) {
      const burning = values.pressure ? burn(2) : []
      const before = await cpuTimes(stack)
      const own = process.cpuUsage()
      const watch = watchConnections(stack.database.sql)
      const created = await drive(stack, scenario, clients, Number(values.seconds) * 1000)
      const connections = await watch.stop()
      await delivered(stack.database.sql)
      const after = await cpuTimes(stack)
      const around = process.cpuUsage(own) // clients and receiver
      for (const process of burning) process.kill()
      const cpu = (part: keyof typeof after) => ((after[part] - before[part]) / created.count).toFixed(2)
      const arrivals = await receiver.take()
      const { delays, undelivered } = await compare(stack.database.sql, arrivals)
      const repeated = arrivals.length - new Set(arrivals.map(([id]) => id)).size
      const rate = created.count / created.seconds
      const alone = Math.min(15_000, Number(values.seconds) * 1000)
      const { limit, statement, delivery } = await driveSql(stack, scenario, clients, alone, receiver.root)
      await receiver.take()
      const { route, generator } = await driveBare(stack, scenario, clients, alone)
      const parts = { statement, route, clients: generator, delivery }
      const least = Object.values(parts).reduce((sum, one) => sum + one, 0)
      const fair = (1000 * availableParallelism()) / least
      console.log(
        [
          String(clients).padStart(7),
          rate.toFixed(0).padStart(10),
          String(created.refused).padStart(8),
          limit.toFixed(0).padStart(8),
          (rate / limit).toFixed(2).padStart(6),
          `${quantile(delays, 0.5).toFixed(1)} ms`.padStart(9),
          `${quantile(delays, 0.99).toFixed(1)} ms`.padStart(8),
          String(undelivered).padStart(12),
          String(repeated).padStart(9),
          cpu('api').padStart(26),
          cpu('worker').padStart(7),
          cpu('postgres').padStart(9),
          connections.idle.toFixed(2).padStart(20),
          connections.notify.toFixed(2).padStart(18),
        ].join(' '),
      )
      console.log(
        `         fair limit ${fair.toFixed(0)}/s, of which ${(rate / fair).toFixed(2)}; ms of CPU: ${Object.entries(
          parts,
        )
          .map(([name, ms]) => `${name} ${ms.toFixed(2)}`)
          .join(', ')}`,
      )
      const perChange = ['api', 'worker', 'postgres'].map((part) => Number(cpu(part as keyof typeof after)))
      const total = perChange.reduce((sum, one) => sum + one, 0)
      const spentAround = (around.user + around.system) / 1000 / created.count
      figure(
        `cases made at ${clients} clients, and median of the answer`,
        `${rate.toFixed(0)}/s, ${created.median.toFixed(1)} ms`,
      )
      figure(`cases at ${clients} clients, of the fair limit`, (rate / fair).toFixed(2), '0.85 or more')
      // On a busy machine this alone says something.
      figure(`the same by CPU at ${clients} clients`, (least / (total + spentAround)).toFixed(2))
      figure(`cases at ${clients} clients, of the statement alone`, (rate / limit).toFixed(2))
      figure(`CPU of a change at ${clients} clients`, `${total.toFixed(2)} ms`, '1.8 ms')
      figure(`connections idle in transaction at ${clients} clients`, connections.idle.toFixed(2), 'below 0.5')
      figure(
        `notifications at ${clients} clients, median and p99`,
        `${quantile(delays, 0.5).toFixed(0)} and ${quantile(delays, 0.99).toFixed(0)} ms`,
        values.pressure ? 'p99 below 500 ms' : 'below 10 and 50 ms',
      )
      await stack.database.sql`truncate notificatie, delivery, delivery_attempt`
    }
  } finally {
    await stack.stop()
    await receiver.stop()
  }
}

/** Creates with a key and without, in turns of two seconds: what else the machine does hits both. */
async function pairKeys(stack: Stack, scenario: Scenario, seconds: number): Promise<void> {
  const clients = 20
  const without = { count: 0, seconds: 0, cpu: 0 }
  const keyed = { count: 0, seconds: 0, cpu: 0 }
  await drive(stack, scenario, clients, 2000)
  for (let round = 0; round < seconds / 4; round++)
    for (const of of round % 2 === 0 ? [without, keyed] : [keyed, without]) {
      const before = await cpuTimes(stack)
      const made = await drive(stack, scenario, clients, 2000, of === keyed)
      const after = await cpuTimes(stack)
      of.count += made.count
      of.seconds += made.seconds
      of.cpu += after.api + after.postgres - before.api - before.postgres
    }
  const rate = (of: typeof keyed) => of.count / of.seconds
  const cpu = (of: typeof keyed) => of.cpu / of.count
  console.log(
    `without a key ${rate(without).toFixed(0)}/s, ${cpu(without).toFixed(3)} ms of CPU in api and database each`,
  )
  console.log(`with a key    ${rate(keyed).toFixed(0)}/s, ${cpu(keyed).toFixed(3)} ms`)
  figure('rate of creates with a key, of those without', (rate(keyed) / rate(without)).toFixed(3), '0.95 or more')
}

/** Processes that do nothing but use the machine. */
function burn(count: number): ChildProcess[] {
  return Array.from({ length: count }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }))
}

/** How many connections of the api wait for it in a transaction, and how many of all wait for their turn to notify. */
function watchConnections(sql: Sql): { stop(): Promise<{ idle: number; notify: number }> } {
  let samples = 0
  const sum = { idle: 0, notify: 0 }
  let going = true
  const done = (async () => {
    while (going) {
      const [row] = await sql`
        select count(*) filter (where state = 'idle in transaction' and application_name = 'zaakstroom api')::int as idle,
          count(*) filter (where wait_event_type = 'Lock' and wait_event = 'object')::int as notify
        from pg_stat_activity where datname = current_database()`
      samples++
      sum.idle += row!.idle
      sum.notify += row!.notify
      await sleep(20)
    }
  })()
  return {
    stop: async () => {
      going = false
      await done
      return { idle: sum.idle / samples, notify: sum.notify / samples }
    },
  }
}

/**
 * The same statement, from as many connections, on a database of their own: how many a second, and what each takes. Then what they
 * left is delivered at the least cost: what a message takes.
 */
async function driveSql(stack: Stack, scenario: Scenario, clients: number, ms: number, receiver: string) {
  const name = `limit_${randomBytes(4).toString('hex')}`
  const admin = openDatabase(stack.databaseUrl, { max: 1, name: 'bench' })
  await admin.sql.unsafe(`create database ${name}`)
  const url = Object.assign(new URL(stack.databaseUrl), { pathname: `/${name}` }).href
  await migrate(url)
  const database = openDatabase(url, { max: clients, name: 'bench' })
  try {
    const mutate = mutator(database)
    const actor = systemActor('bench', 'http://127.0.0.1:8000')
    await mutate(actor, async (m) => {
      m.unrecorded('set-up')
      await m.sql`insert into catalogus (domein, rsin, contactpersoon_beheer_naam) values ('BENCH', '000000000', 'x')`
      await scenario.prepare(m)
      // As beside a sender that looks by itself while messages come: the transactions of the service wake nobody either.
      await m.sql`
        with worker as (insert into worker (name, version, host, pid, pool_id) values ('bench', '', '', 0, 'bench') returning id)
        insert into active_sender (worker_id) select id from worker`
      await m.sql`
        with nrc as (insert into service (label, slug, kind, api_root) values ('bench', 'bench', 'nrc', ${receiver}) returning id)
        update notificatie_settings set configured_service_id = nrc.id from nrc`
    })
    const made = await spent(stack, async () => {
      const began = performance.now()
      let count = 0
      const client = async () => {
        while (performance.now() - began < ms) {
          await mutate(actor, scenario.sql)
          count++
        }
      }
      await Promise.all(Array.from({ length: clients }, client))
      return { count, seconds: (performance.now() - began) / 1000 }
    })
    const sent = await spent(stack, () => deliverLeast(url, receiver, ms))
    return { limit: made.count / made.seconds, statement: made.cpu / made.count, delivery: sent.cpu / sent.count }
  } finally {
    await database.close()
    await admin.sql.unsafe(`drop database ${name} with (force)`)
    await admin.close()
  }
}

/** Milliseconds of CPU that this process, with the receiver, and the database take for some work. */
async function spent<T>(stack: Stack, work: () => Promise<T>): Promise<T & { cpu: number }> {
  const own = process.cpuUsage()
  const before = await cpuTimes(stack)
  const done = await work()
  const after = await cpuTimes(stack)
  const { user, system } = process.cpuUsage(own)
  return { ...done, cpu: (user + system) / 1000 + after.postgres - before.postgres }
}

const PORTION = 20

/** Delivers for so long, or until nothing is left: the next portion is sent while the one before is recorded. */
async function deliverLeast(url: string, receiver: string, ms: number): Promise<{ count: number }> {
  const looking = openSenderDatabase(url)
  const recording = openSenderDatabase(url)
  const pool = new Pool(new URL(receiver).origin, { connections: PORTION })
  const began = performance.now()
  let count = 0
  let recorded: Promise<unknown> = Promise.resolve()
  try {
    while (performance.now() - began < ms) {
      const { claimed } = await claimPortion(looking)
      if (claimed.length === 0) break
      const ended = await Promise.all(
        claimed.map(async ({ notificatieId, abonnementId, attempt, message }) => {
          const headers = { 'content-type': 'application/json', 'x-message-id': message.uuid }
          const { status } = await post(
            pool,
            new URL('notificaties', receiver).pathname,
            headers,
            JSON.stringify(message),
          )
          const answered = { outcome: 'delivered' as const, httpStatus: status, answer: null, ms: 1 }
          return { ...answered, notificatieId, abonnementId, attempt, wait: null }
        }),
      )
      count += ended.length
      await recorded
      recorded = record(recording, ended)
    }
    await recorded
    return { count }
  } finally {
    await pool.close()
    await Promise.all([looking.close(), recording.close()])
  }
}

const claimPortion = (database: Database) =>
  claim(database, { worker: 0, external: PORTION, total: PORTION, busy: [], open: [] })

/** Drives a bare route with the same bodies: what it takes, and what the clients take. */
async function driveBare(stack: Stack, scenario: Scenario, clients: number, ms: number) {
  const secret = randomBytes(32).toString('hex')
  const child = fork(new URL('bare.ts', import.meta.url), { env: { ...process.env, BARE_SECRET: secret } })
  try {
    const [address] = (await once(child, 'message')) as [string]
    const pids = { bare: child.pid!, postgres: stack.pids.postgres }
    const bare = { ...stack, address, token: signToken('bench', secret) }
    await drive(bare, { ...scenario, path: '/' }, clients, 1000)
    const own = process.cpuUsage()
    const before = await cpuTimes({ pids })
    const { count } = await drive(bare, { ...scenario, path: '/' }, clients, ms)
    const after = await cpuTimes({ pids })
    const { user, system } = process.cpuUsage(own)
    return { route: (after.bare - before.bare) / count, generator: (user + system) / 1000 / count }
  } finally {
    child.disconnect()
  }
}

// The moment of the commit is that of the audit row: it is written in the same transaction and never again.
async function compare(sql: Sql, arrivals: [string, number][]) {
  const rows = await sql`
    select n.uuid, extract(epoch from pg_xact_commit_timestamp(a.xmin))::float8 * 1000 as committed
    from notificatie n join audit a on a.hoofd_object_uuid = n.hoofd_object_uuid and a.resource_uuid::text = right(n.resource_url, 36) and a.actie = n.actie`
  const first = new Map<string, number>()
  for (const [id, at] of arrivals) if (!first.has(id)) first.set(id, at)
  const delays = rows.flatMap(({ uuid, committed }) => (first.has(uuid) ? [first.get(uuid)! - committed] : []))
  return { delays: delays.sort((a, b) => a - b), undelivered: rows.length - delays.length }
}

async function receiverThread() {
  const thread = new Worker(new URL(import.meta.url))
  const [root] = (await once(thread, 'message')) as [string]
  return {
    root,
    take: async () => {
      thread.postMessage('take')
      const [arrivals] = (await once(thread, 'message')) as [[string, number][]]
      return arrivals
    },
    stop: async () => {
      await thread.terminate()
    },
  }
}

// No more than a receiver must: it only writes down what came when.
if (!isMainThread) {
  const arrivals: [string, number][] = []
  const server = createServer((request, response) => {
    request.on('end', () => {
      arrivals.push([String(request.headers['x-message-id']), performance.timeOrigin + performance.now()])
      response.writeHead(201, { 'content-length': 2 }).end('{}')
    })
    request.resume()
  })
  server.listen(0, '127.0.0.1', () => {
    parentPort!.on('message', () => parentPort!.postMessage(arrivals.splice(0)))
    parentPort!.postMessage(`http://127.0.0.1:${(server.address() as { port: number }).port}/api/v1/`)
  })
}
