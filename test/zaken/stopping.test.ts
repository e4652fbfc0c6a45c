// Slow: it stops programs in the midst of their work.
// An api that is stopped under load says so first, serves what still comes, and cuts nobody off.
// It starts and stops the program.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { until } from '../until.ts'
import {
  type Antwoord,
  CREATE,
  createBody,
  endAll,
  givenService,
  isReady,
  openClient,
  verifyAccount,
} from './processes.ts'

const CLIENTS = 6
const STOP_MS = 60_000
// How long an api that ends still takes requests: a busy machine may need seconds before the balancer has heard of it.
const DELAY_SECONDS = 10
const PACE_MS = 100

t.setTimeout(580_000)
t.test(
  'with two apis behind a balancer, no request notices that they are replaced',
  { timeout: 580_000 },
  async (t) => {
    const service = await givenService(t, { apis: 2, workers: 1 }, { STOP_DELAY_SECONDS: String(DELAY_SECONDS) })
    const { apis } = service
    const creates: Antwoord[] = []
    const ready = apis.map(() => true)
    let isOver = false
    let next = 0
    t.teardown(() => {
      isOver = true
    })
    // What a balancer does: it asks who is ready, and sends nothing new to who is not.
    const watch = async (which: number) => {
      while (!isOver) {
        ready[which] = await isReady(apis[which]!.address)
        await sleep(100)
      }
    }
    const create = async () => {
      const clients = apis.map(({ address }) => openClient(address))
      t.teardown(() => Promise.all(clients.map((client) => client.close())))
      while (!isOver) {
        const n = next++
        // When both look bad, as to a busy machine they may, it waits: one of them does not listen.
        await until('one that is ready', () => ready.includes(true))
        const which = ready[n % 2] ? n % 2 : (n + 1) % 2
        creates[n] = await clients[which]!.call('POST', CREATE, createBody(service, n))
        await sleep(PACE_MS)
      }
    }
    const running = [...apis.map((_, which) => watch(which)), ...Array.from({ length: CLIENTS }, create)]

    for (const which of [0, 1]) {
      const enough = next + 50
      await until('some creates', () => next >= enough)
      const exited = apis[which]!.restart()
      const during: (number | undefined)[] = []
      const client = openClient(apis[which]!.address)
      await until('not ready', async () => {
        during.push((await client.call('GET', '/readyz')).status)
        return during.at(-1) === 503
      })
      t.equal((await client.call('GET', CREATE)).status, 200, 'it is not ready, but still serves')
      await client.close()
      t.equal(await Promise.race([exited, sleep(STOP_MS, 'too late', { ref: false })]), 0, 'it ends in order')
      await until('ready again', () => ready[which]!)
    }
    isOver = true
    await Promise.all(running)
    t.same(
      creates.filter(({ status }) => status !== 201).map(({ status, fault }) => status ?? fault),
      [],
      'every request was answered with a 201',
    )
    await verifyAccount(t, service, creates)
    await endAll(t, service)
  },
)
