// npm run bench notifications -- --subscribers 20: from the commit of a change to its arrival at abonnementen, by the
// notifications service that is built in.
//
// One subscriber never answers and one takes two seconds; of the others some have filters. Three loads one after the other:
// zaken at a steady rate; a burst of messages for all; and a burst for one good subscriber beside the dead and the slow one,
// which by then have a backlog. Before that, the limit: a loop of bare HTTP requests with the same body to the good ones.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { Pool } from 'undici'
import type { Arrival, Callback } from './callbacks.ts'
import { figure } from './figures.ts'
import { chooseScenario, cpuTimes, post, quantile, type Stack, startStack } from './stack.ts'

type Options = { subscribers: number; seconds: number; rate: number; burst: number }
type Message = { uuid: string; kanaal: string; actie: string; kenmerken: Record<string, string>; committed: number }
type Subscriber = {
  kind: Callback
  url: string
  kanalen: { naam: string; filters?: Record<string, string> }[]
}
/** What became of the messages of one load, as far as they were meant for good subscribers. `seconds`: commit to last arrival. */
type Outcome = {
  delays: number[]
  seconds: number
  lost: number
  repeated: number
  unmatched: number
  disordered: number
}

const AUTH = 'Bearer bench'
const API = '/notificaties/api/v1'
const CLIENTS = 10
const LIMIT_MS = 5_000
const WARM_UP_S = 5
const CONNECTIONS = 4 // to each receiver, as an abonnement has by default
const ALL = 'bench_allen'
const THREE = 'bench_drie'

export async function benchSubscribers(options: Options): Promise<void> {
  const kinds: Callback[] = Array.from({ length: options.subscribers }, (_, index) =>
    index === 1 ? 'slow' : index === 2 ? 'dead' : 'good',
  )
  const callbacks = await startCallbacks(kinds)
  const stack = await startStack('', {
    NOTIFICATIONS_CLIENT_ID: '',
    NOTIFICATIONS_SECRET: '',
    NOTIFICATIES_MODE: 'ingebouwd',
  })
  try {
    const scenario = await chooseScenario(stack)
    const pool = new Pool(stack.address, { connections: CLIENTS, pipelining: 1 })
    const create = async (path: string, body: unknown) => {
      const headers = { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' }
      const { status, text } = await post(pool, path, { ...headers, ...scenario.headers }, JSON.stringify(body))
      if (status !== 201) throw new Error(`${path} gave ${status}: ${text.slice(0, 500)}`)
    }
    const publish = (kanaal: string, number: number, objects: number) =>
      create(`${API}/notificaties`, message(kanaal, number, objects))
    for (const naam of [ALL, THREE]) await create(`${API}/kanaal`, { naam, filters: ['soort'] })
    const subscribers = callbacks.urls.map((url, index) => subscriber(kinds[index]!, url, index))
    for (const { url, kanalen } of subscribers)
      await create(`${API}/abonnement`, { callbackUrl: url, auth: AUTH, kanalen })
    await callbacks.die()
    await stack.database.sql`vacuum analyze`
    const good = subscribers.filter(({ kind }) => kind === 'good')
    console.log(`${subscribers.length} abonnementen, of which one is dead and one is slow; ${options.burst} in a burst`)

    const limit = await driveBare(good.map(({ url }) => url))
    console.log(`bare HTTP loop to ${good.length} receivers: ${limit.toFixed(0)}/s`)
    console.log(
      'load        published/s  deliveries/s   median      p95      p99  lost  repeated  unmatched  out of order  ms of CPU per delivery: worker  database',
    )
    const run = async (
      name: string,
      kanaal: string,
      work: () => Promise<number>,
    ): Promise<Outcome & { rate: number }> => {
      const before = await cpuTimes(stack)
      const [last] = await stack.database.sql<{ id: number }[]>`select coalesce(max(id), 0) as id from notificatie`
      const published = await work()
      await settled(stack, good)
      const after = await cpuTimes(stack)
      const outcome = judge(subscribers, await messagesOf(stack, kanaal, last!.id), await callbacks.take())
      const rate = outcome.delays.length / outcome.seconds
      const cpu = (part: 'worker' | 'postgres') => ((after[part] - before[part]) / outcome.delays.length).toFixed(2)
      const ms = (part: number) => `${quantile(outcome.delays, part).toFixed(1)} ms`.padStart(9)
      console.log(
        [
          name.padEnd(11),
          published.toFixed(0).padStart(11),
          rate.toFixed(0).padStart(13),
          ms(0.5),
          ms(0.95),
          ms(0.99),
          String(outcome.lost).padStart(5),
          String(outcome.repeated).padStart(9),
          String(outcome.unmatched).padStart(10),
          String(outcome.disordered).padStart(13),
          cpu('worker').padStart(31),
          cpu('postgres').padStart(9),
        ].join(' '),
      )
      return { ...outcome, rate }
    }

    const steadily = (seconds: number) =>
      paced(options.rate, seconds, (number) => {
        const vertrouwelijkheidaanduiding = number % 2 ? 'zaakvertrouwelijk' : 'openbaar'
        return create(scenario.path, { ...(scenario.body() as object), vertrouwelijkheidaanduiding })
      })
    await run('(warm-up)', 'zaken', () => steadily(WARM_UP_S))
    const steady = await run('steady', 'zaken', () => steadily(options.seconds))
    const toAll = Math.ceil(options.burst / 10)
    const all = await run('burst, all', ALL, () => together(toAll, (number) => publish(ALL, number, toAll / 5)))
    const three = await run('burst, one', THREE, () =>
      together(options.burst, (number) => publish(THREE, number, options.burst / 5)),
    )
    await pool.close()

    const { delays } = steady
    figure(
      `commit to arrival at ${good.length} abonnementen, median and p99`,
      `${quantile(delays, 0.5).toFixed(1)} and ${quantile(delays, 0.99).toFixed(1)} ms`,
      'below 10 and 100 ms',
    )
    figure('deliveries a second in a burst, of the limit', `${all.rate.toFixed(0)} of ${limit.toFixed(0)}`)
    figure(
      `p95 of a good abonnement beside a dead and a slow one, ${options.burst} messages`,
      `${quantile(three.delays, 0.95).toFixed(0)} ms`,
      'below 2000 ms',
    )
    const count = (key: 'lost' | 'repeated' | 'unmatched' | 'disordered') => steady[key] + all[key] + three[key]
    figure(
      'lost, repeated, unmatched and out of order',
      `${count('lost')}, ${count('repeated')}, ${count('unmatched')} and ${count('disordered')}`,
      'all 0',
    )
  } finally {
    await stack.stop()
    await callbacks.stop()
  }
}

/** The first three get everything, also what is for three; of the others some have a filter, which may let nothing through. */
function subscriber(kind: Callback, url: string, index: number): Subscriber {
  if (index < 3) return { kind, url, kanalen: [{ naam: 'zaken' }, { naam: ALL }, { naam: THREE }] }
  const [zaken, all] = [
    [{}, {}],
    [{ vertrouwelijkheidaanduiding: 'openbaar' }, { soort: 'even' }],
    [{}, {}],
    [{ '#actie': 'create' }, { soort: '*', '#actie': 'update' }],
    [{}, {}],
    [{ '#actie': 'destroy' }, { soort: 'geen' }],
  ][index % 6]!
  return {
    kind,
    url,
    kanalen: [
      { naam: 'zaken', filters: zaken },
      { naam: ALL, filters: all },
    ],
  }
}

/** Whether the subscriber has to get it: what the filters above say, told by itself. */
function fits({ kanalen }: Subscriber, { kanaal, actie, kenmerken }: Message): boolean {
  return kanalen.some(
    ({ naam, filters = {} }) =>
      naam === kanaal &&
      Object.entries(filters).every(
        ([key, value]) => value === '*' || (key === '#actie' ? actie : kenmerken[key]) === value,
      ),
  )
}

function message(kanaal: string, number: number, objects: number) {
  const hoofdObject = `https://objecten.example/api/v2/objects/${number % Math.max(1, Math.floor(objects))}`
  return {
    kanaal,
    hoofdObject,
    resource: 'object',
    resourceUrl: `${hoofdObject}/${randomUUID()}`,
    actie: 'update',
    aanmaakdatum: '2024-05-01T10:00:00Z',
    kenmerken: { soort: number % 2 ? 'oneven' : 'even' },
  }
}

/** @returns how many a second */
async function paced(rate: number, seconds: number, work: (number: number) => Promise<void>): Promise<number> {
  const began = performance.now()
  const going: Promise<void>[] = []
  for (let number = 0; number < rate * seconds; number++) {
    await sleep(Math.max(0, began + (number * 1000) / rate - performance.now()))
    going.push(work(number))
  }
  await Promise.all(going)
  return (going.length * 1000) / (performance.now() - began)
}

/** @returns how many a second */
async function together(count: number, work: (number: number) => Promise<void>): Promise<number> {
  const began = performance.now()
  let next = 0
  const client = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return (count * 1000) / (performance.now() - began)
}

/** Waits until nothing is left to be delivered to these. */
async function settled({ database: { sql } }: Stack, good: Subscriber[]): Promise<void> {
  const urls = good.map(({ url }) => url)
  const limit = performance.now() + 300_000
  while (performance.now() < limit) {
    const [row] = await sql`
      select exists (select from delivery l join abonnement a on a.id = l.abonnement_id
        where l.status = 'gepland' and a.callback_url = any(${urls})) as waiting`
    if (!row!.waiting) return
    await sleep(100)
  }
}

// The moment of the commit is that of the message: its row is written in the transaction of the change and never again.
function messagesOf(
  { database: { sql } }: Stack,
  kanaal: string,
  after: number,
): Promise<(Message & { hoofdObject: string })[]> {
  return sql<(Message & { hoofdObject: string })[]>`
    select uuid, kanaal, actie, kenmerken, hoofd_object as "hoofdObject",
      extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as committed
    from notificatie where kanaal = ${kanaal} and id > ${after} order by id`
}

function judge(
  subscribers: Subscriber[],
  messages: (Message & { hoofdObject: string })[],
  arrivals: Arrival[],
): Outcome {
  const numbers = new Map(messages.map(({ uuid }, number) => [uuid, number]))
  const outcome: Outcome = { delays: [], seconds: 0, lost: 0, repeated: 0, unmatched: 0, disordered: 0 }
  let last = 0
  for (const [index, one] of subscribers.entries()) {
    const seen = new Set<number>()
    const lastOf = new Map<string, number>()
    for (const [place, uuid, at] of arrivals) {
      const number = numbers.get(uuid)
      // The dead and the slow one still get what was for them in an earlier load.
      if (place !== index || (number === undefined && one.kind !== 'good')) continue
      if (number === undefined || !fits(one, messages[number]!)) outcome.unmatched++
      else if (seen.has(number)) outcome.repeated += one.kind === 'good' ? 1 : 0
      else {
        const { committed, hoofdObject } = messages[number]!
        seen.add(number)
        if ((lastOf.get(hoofdObject) ?? -1) > number) outcome.disordered++
        lastOf.set(hoofdObject, number)
        if (one.kind !== 'good') continue
        outcome.delays.push(at - committed)
        last = Math.max(last, at)
      }
    }
    if (one.kind === 'good') outcome.lost += messages.filter((message) => fits(one, message)).length - seen.size
  }
  outcome.delays.sort((a, b) => a - b)
  outcome.seconds = (last - Math.min(...messages.map(({ committed }) => committed))) / 1000
  return outcome
}

/** @returns requests a second, to all receivers together over connections that stay open */
async function driveBare(urls: string[]): Promise<number> {
  const body = JSON.stringify(message(ALL, 0, 1))
  const headers = { authorization: AUTH, 'content-type': 'application/json' }
  const began = performance.now()
  let count = 0
  await Promise.all(
    urls.map(async (url) => {
      const { origin, pathname } = new URL(url)
      const pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 })
      const loop = async () => {
        while (performance.now() - began < LIMIT_MS) {
          const { status } = await post(pool, pathname, headers, body)
          if (status === 204) count++
        }
      }
      await Promise.all(Array.from({ length: CONNECTIONS }, loop))
      await pool.close()
    }),
  )
  return (count * 1000) / (performance.now() - began)
}

async function startCallbacks(kinds: Callback[]) {
  const thread = new Worker(new URL('./callbacks.ts', import.meta.url), { workerData: kinds })
  const [urls] = (await once(thread, 'message')) as [string[]]
  const ask = async (word: 'take' | 'die') => {
    thread.postMessage(word)
    const [answer] = await once(thread, 'message')
    return answer
  }
  return {
    urls,
    take: (): Promise<Arrival[]> => ask('take'),
    die: () => ask('die'),
    stop: async () => {
      await thread.terminate()
    },
  }
}
