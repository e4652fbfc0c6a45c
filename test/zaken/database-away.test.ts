// Slow: PostgreSQL is stopped and started again and again.
// PostgreSQL is stopped and started again while cases are created and read: the api says so at once and answers again by
// itself, the worker goes on, and nothing that was promised is lost. Repeat with KILL_SEED=….
// It starts the program and stops its database.
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { migrate } from '../../src/database/migrate.ts'
import { BASE } from '../app.ts'
import { ownServer } from '../database/own-server.ts'
import { until } from '../until.ts'
import {
  type Antwoord,
  CREATE,
  createBody,
  endAll,
  givenService,
  isReady,
  openClient,
  randomFrom,
  type Service,
  verifyAccount,
} from './processes.ts'

const CREATORS = 6
const READERS = 3
const BACK_MS = 5_000
const ANSWERED_MS = 5_000

const seed = Number(process.env.KILL_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.setTimeout(580_000)
t.comment(`KILL_SEED=${seed}`)
const random = randomFrom(seed)

t.test('the service answers without its database, and goes on when it is back', { timeout: 580_000 }, async (t) => {
  const server = await ownServer(t)
  await migrate(server.url)
  const service = await givenService(t, { apis: 1, workers: 1 }, { DATABASE_URL: server.url })
  const [api] = service.apis
  const load = startLoad(t, service)
  await until('the first answers', () => load.kinds.every((kind) => load.latest(kind)?.status === GOOD[kind]))

  for (const how of ['fast', 'immediate', 'immediate', 'fast', 'immediate', 'fast'] as const) {
    await sleep(random() * 1_500) // in the middle of something
    const asked = performance.now()
    await (how === 'fast' ? server.stop() : server.crash())
    const away = performance.now()
    // Every kind of request is refused, and then for a while longer.
    await until('refusals', () => load.kinds.every((kind) => load.since(away, kind, BAD[kind])))
    const refused = performance.now()
    await sleep(random() * 4_000)
    t.same(
      load.during(refused, performance.now(), 'readyz').filter((status) => status !== 503),
      [],
      `${how}: not ready`,
    )
    await server.start()
    const back = performance.now()
    const took: Record<string, number> = {}
    for (const kind of load.kinds) {
      await until(`${kind} again`, () => load.since(back, kind, GOOD[kind]), BACK_MS)
      took[kind] = Math.round(performance.now() - back)
    }
    const epoch = performance.timeOrigin + back
    await until('a message again', () => (service.receiver.received.at(-1)?.at ?? 0) > epoch, BACK_MS)
    took.message = Math.round(performance.now() - back)
    const durations = [asked, away, refused, back].map((moment, n, all) => Math.round(moment - (all[n - 1] ?? moment)))
    t.comment(`${how}: stopped in ${durations[1]} ms, refused in ${durations[2]} ms, started after ${durations[3]} ms`)
    t.comment(
      `again after ${Object.entries(took)
        .map(([kind, ms]) => `${kind} ${ms}`)
        .join(', ')} ms`,
    )
  }

  const answers = await load.end()
  for (const kind of load.kinds) {
    const statuses = answers.filter((answer) => answer.kind === kind).map(({ status, fault }) => status ?? fault)
    const count = (status: unknown) => statuses.filter((each) => each === status).length
    t.comment(`${kind}: ${count(GOOD[kind])} good, ${count(503)} refused`)
    t.same([...new Set(statuses)].sort(), kind === 'livez' ? [200] : [GOOD[kind], 503], kind)
  }
  const refusals = answers.filter(({ kind, status }) => status === 503 && kind !== 'readyz')
  const wrong = refusals.filter(({ headers, body }) => {
    const isProblem = /^application\/problem\+json/.test(String(headers['content-type'])) && body.status === 503
    return !isProblem || !/^\d+$/.test(String(headers['retry-after']))
  })
  t.same(wrong, [], 'a refusal says so in a problem with Retry-After')
  const slowest = Math.max(...answers.map(({ ms }) => ms))
  t.comment(`slowest answer ${Math.round(slowest)} ms`)
  t.ok(slowest < ANSWERED_MS, 'no request hangs')
  await verifyAccount(t, service, load.creates)

  await t.test('processes that start without a database say so, and run when it is back', async (t) => {
    await server.stop()
    const processes = [...service.apis, ...service.workers]
    for (const process of processes) process.kill('SIGKILL')
    const before = processes.map(({ restarts }) => restarts)
    // The worker waits or ends with 69; the api ends with 69 every time.
    await until('several starts', () => api!.restarts >= before[0]! + 3)
    await server.start()
    await until('ready', () => isReady(api!.address))
    const client = openClient(api!.address)
    t.teardown(client.close)
    const n = load.creates.length
    load.creates[n] = await client.call('POST', CREATE, createBody(service, n))
    t.equal(load.creates[n].status, 201)
    await verifyAccount(t, service, load.creates)
  })
  await endAll(t, service)
})

// ---- the load ----

type Kind = 'create' | 'read' | 'list' | 'livez' | 'readyz'
const GOOD: Record<Kind, number> = { create: 201, read: 200, list: 200, livez: 200, readyz: 200 }
const BAD: Record<Kind, number> = { create: 503, read: 503, list: 503, livez: 200, readyz: 503 }

/** Clients that ask without pause, until `end`. */
function startLoad(t: Test, service: Service) {
  const kinds = Object.keys(GOOD) as Kind[]
  const answers: (Antwoord & { kind: Kind; began: number; ended: number })[] = []
  const creates: Antwoord[] = []
  const clients: ReturnType<typeof openClient>[] = []
  let next = 0
  let reads = 0
  let isOver = false
  const run = async (ask: (client: ReturnType<typeof openClient>) => Promise<[Kind, Antwoord]>, pause: number) => {
    const client = openClient(service.apis[0]!.address)
    clients.push(client)
    while (!isOver) {
      const began = performance.now()
      const [kind, answer] = await ask(client)
      answers.push({ ...answer, kind, began, ended: performance.now() })
      await sleep(answer.status === 503 ? 50 : pause)
    }
  }
  const create = async (client: ReturnType<typeof openClient>): Promise<[Kind, Antwoord]> => {
    const n = next++
    creates[n] = await client.call('POST', CREATE, createBody(service, n))
    return ['create', creates[n]]
  }
  const read = async (client: ReturnType<typeof openClient>): Promise<[Kind, Antwoord]> => {
    const { body } = creates.findLast((answer) => answer?.status === 201) ?? {}
    if (!body || reads++ % 4 === 0) return ['list', await client.call('GET', CREATE)]
    return ['read', await client.call('GET', body.url.replace(BASE, ''))]
  }
  const probe = (kind: 'livez' | 'readyz') => async (client: ReturnType<typeof openClient>) =>
    [kind, await client.call('GET', `/${kind}`)] as [Kind, Antwoord]
  const running = [
    ...Array.from({ length: CREATORS }, () => run(create, 0)),
    ...Array.from({ length: READERS }, () => run(read, 0)),
    run(probe('livez'), 50),
    run(probe('readyz'), 50),
  ]
  t.teardown(async () => {
    isOver = true
    await Promise.all(clients.map((client) => client.close()))
    await Promise.all(running)
  })
  return {
    kinds,
    creates,
    latest: (kind: Kind) => answers.findLast((answer) => answer.kind === kind),
    /** Such an answer came to a request that began since then. */
    since: (moment: number, kind: Kind, status: number) =>
      answers.some((answer) => answer.kind === kind && answer.began > moment && answer.status === status),
    /** The answers to what began and ended within that time. */
    during: (from: number, to: number, kind: Kind) =>
      answers.filter((a) => a.kind === kind && a.began > from && a.ended < to).map(({ status }) => status),
    async end() {
      isOver = true
      await Promise.all(running)
      return answers
    },
  }
}

// ---- the server ----
