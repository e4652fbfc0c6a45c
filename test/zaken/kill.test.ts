// Slow: it kills api and worker again and again.
// Cases are created without pause while api and worker are killed again and again: what was answered stays, with its audit
// record and its message; what was not answered is there in full or not at all. Repeat with KILL_SEED=…; KILL_CREATES=10000
// for a long run.
// It starts and kills the program.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { until } from '../until.ts'
import {
  type Antwoord,
  CREATE,
  createBody,
  endAll,
  givenService,
  openClient,
  randomFrom,
  type Service,
  verifyAccount,
} from './processes.ts'

const CREATES = Number(process.env.KILL_CREATES ?? 900)
const CLIENTS = 8
const KILLS = Math.ceil(CREATES / 75)

const seed = Number(process.env.KILL_SEED ?? Math.floor(Math.random() * 2 ** 31))
// As long as the runner gives a file, or enough for 5 creates a second.
const LIMIT_MS = Math.max(580_000, CREATES * 200)
t.setTimeout(LIMIT_MS)
t.comment(`KILL_SEED=${seed}`)
const random = randomFrom(seed)

t.test('cases and their messages survive the end of any process', { timeout: LIMIT_MS }, async (t) => {
  const service = await givenService(t, { apis: 2, workers: 2 })
  const { apis, workers } = service
  const creates: Antwoord[] = []
  let next = 0
  const client = async (which: number) => {
    for (let n = next++; n < CREATES; n = next++) creates[n] = await create(service, which, n)
  }
  const began = performance.now()
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, which) => client(which)))

  const targets = Array.from({ length: KILLS }, () => random() * CREATES).sort((a, b) => a - b)
  for (const target of targets) {
    await until(`create ${target}`, () => next >= target)
    await sleep(random() * 50)
    const victims = random() < 0.1 ? [...apis, ...workers] : [random() < 0.5 ? pick(apis) : pick(workers)]
    for (const victim of victims) victim.kill('SIGKILL')
  }
  await clients
  const seconds = (performance.now() - began) / 1000
  const restarts = (all: { restarts: number }[]) => all.reduce((sum, { restarts }) => sum + restarts, 0)
  t.comment(`${CREATES} creates in ${seconds.toFixed(0)} s; killed: api ${restarts(apis)}, worker ${restarts(workers)}`)
  t.ok(restarts(apis) > 0 && restarts(workers) > 0)
  t.same([...new Set(creates.map(({ status }) => status))].sort(), [201, undefined], 'the only answer is a 201')

  await verifyAccount(t, service, creates)
  t.comment(`all delivered ${((performance.now() - began) / 1000 - seconds).toFixed(1)} s later`)
  await endAll(t, service)
})

/** Asks one api after the other, until one takes the request: from then on it may have been carried out. */
async function create(service: Service, which: number, n: number): Promise<Antwoord> {
  for (let turn = which + n; ; turn++) {
    const client = clientOf(which, service.apis[turn % service.apis.length]!.address)
    const answer = await client.call('POST', CREATE, createBody(service, n))
    if (!answer.refused) return answer
    await sleep(20)
  }
}

const open = new Map<string, ReturnType<typeof openClient>>()
t.teardown(() => Promise.all([...open.values()].map((client) => client.close())))

function clientOf(which: number, address: string): ReturnType<typeof openClient> {
  const key = `${which} ${address}`
  const client = open.get(key) ?? openClient(address)
  open.set(key, client)
  return client
}

const pick = <T>(items: T[]): T => items[Math.floor(random() * items.length)]!
