// npm run bench feed: what the feed of changes costs, how soon a change is seen in it, and how fast who begins late catches up.
//
// The cost is that of creates with the triggers and without, in turns of two seconds, so that what else the machine does hits both.
// A change is seen when its event arrives; that is counted from the answer to its create, which comes after the commit. The service,
// the database, the clients and the reader share the processors of this machine.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Pool, request } from 'undici'
import { figure } from './figures.ts'
import { chooseScenario, cpuTimes, drive, quantile, type Scenario, type Stack, startStack } from './stack.ts'

const DELTAS = '/zaken/api/v1/zaken/_deltas'

export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      seconds: { type: 'string', default: '30' },
      rate: { type: 'string', default: '300' },
      readers: { type: 'string', default: '10' },
      replay: { type: 'string', default: '40000' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(
      'Options: --seconds 30 (of each part), --rate 300 (changes a second), --readers 10 (of events), --replay 40000 (deltas)',
    )
    return
  }
  // Nobody is notified: messages that cannot be sent would be tried meanwhile.
  const stack = await startStack('http://127.0.0.1:9/', { NOTIFICATIONS_DISABLED: 'true' })
  try {
    const scenario = await chooseScenario(stack)
    await cost(stack, scenario, Number(values.seconds))
    for (const readers of [1, Number(values.readers)])
      await delay(stack, scenario, Number(values.seconds), Number(values.rate), readers)
    await replay(stack, Number(values.replay))
  } finally {
    await stack.stop()
  }
}

async function cost(stack: Stack, scenario: Scenario, seconds: number): Promise<void> {
  const clients = 20
  const without = { count: 0, seconds: 0, cpu: 0 }
  const told = { count: 0, seconds: 0, cpu: 0 }
  await drive(stack, scenario, clients, 2000)
  for (let round = 0; round < seconds / 4; round++)
    for (const of of round % 2 === 0 ? [without, told] : [told, without]) {
      await stack.database.sql`select switch_feed(${of === told})`
      await drive(stack, scenario, clients, 500) // triggers that were switched have every connection plan anew
      const before = await cpuTimes(stack)
      const made = await drive(stack, scenario, clients, 2000)
      const after = await cpuTimes(stack)
      of.count += made.count
      of.seconds += made.seconds
      of.cpu += after.api + after.postgres - before.api - before.postgres
    }
  await stack.database.sql`select switch_feed(true)`
  const rate = (of: typeof told) => of.count / of.seconds
  const cpu = (of: typeof told) => of.cpu / of.count
  console.log(
    `without the feed ${rate(without).toFixed(0)}/s, ${cpu(without).toFixed(3)} ms of CPU in api and database each`,
  )
  console.log(`with the feed    ${rate(told).toFixed(0)}/s, ${cpu(told).toFixed(3)} ms`)
  figure(
    'rate of creates that the feed takes',
    `${(100 * (1 - rate(told) / rate(without))).toFixed(1)} %`,
    '5 % at most',
  )
  figure('CPU of creates that the feed takes', `${(100 * (cpu(told) / cpu(without) - 1)).toFixed(1)} %`)
}

/** Creates at a rate, each client at its moments, while so many read events. */
async function delay(stack: Stack, scenario: Scenario, seconds: number, rate: number, readers: number): Promise<void> {
  const seen = Array.from({ length: readers }, () => new Map<string, number>())
  const stop = new AbortController()
  const reading = await Promise.all(seen.map((times) => listen(stack, times, stop.signal)))
  const pool = new Pool(stack.address, { connections: 20, pipelining: 1 })
  const headers = { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json', ...scenario.headers }
  const answered = new Map<string, number>()
  const sent: Promise<void>[] = []
  const began = performance.now()
  for (let n = 0; n < seconds * rate; n++) {
    const wait = began + (n * 1000) / rate - performance.now()
    if (wait > 1) await sleep(wait)
    sent.push(
      (async () => {
        const { statusCode, body } = await pool.request({
          method: 'POST',
          path: scenario.path,
          headers,
          body: JSON.stringify(scenario.body()),
        })
        const text = await body.text()
        if (statusCode === 201) answered.set(JSON.parse(text).uuid, performance.now())
      })(),
    )
  }
  await Promise.all(sent)
  const took = (performance.now() - began) / 1000
  const limit = performance.now() + 30_000
  while (seen.some((times) => times.size < answered.size) && performance.now() < limit) await sleep(50)
  stop.abort()
  await Promise.all(reading.map(({ ended }) => ended))
  await pool.close()
  const delays = seen
    .flatMap((times) =>
      [...answered].flatMap(([uuid, at]) => (times.has(uuid) ? Math.max(0, times.get(uuid)! - at) : [])),
    )
    .sort((a, b) => a - b)
  const missing = seen.reduce((sum, times) => sum + answered.size - times.size, 0)
  const reached = (answered.size / took).toFixed(0)
  console.log(
    `${readers} readers at ${reached} changes/s: median ${quantile(delays, 0.5).toFixed(1)} ms, p99 ${quantile(delays, 0.99).toFixed(1)} ms, ${missing} missing`,
  )
  figure(
    `change seen by ${readers === 1 ? 'a reader' : `${readers} readers`} at ${reached} a second, median and p99`,
    `${quantile(delays, 0.5).toFixed(0)} and ${quantile(delays, 0.99).toFixed(0)} ms`,
    'median below 100 ms',
  )
}

async function listen(stack: Stack, times: Map<string, number>, signal: AbortSignal) {
  let position = ''
  for (;;) {
    const page = (await (await get(stack, `${DELTAS}?limit=1000${position && `&after=${position}`}`)).json()) as Page
    position = page.position
    if (page.items.length === 0) break
  }
  const { body } = await request(`${stack.address}${DELTAS}`, {
    headers: { authorization: `Bearer ${stack.token}`, accept: 'text/event-stream', 'last-event-id': position },
    signal,
    bodyTimeout: 0,
  })
  const ended = (async () => {
    let rest = ''
    for await (const chunk of body.setEncoding('utf8')) {
      const now = performance.now()
      rest += chunk
      // A whole event ends with an empty line; the uuid of a new case is all that is looked for.
      const end = rest.lastIndexOf('\n\n')
      if (end < 0) continue
      for (const [, uuid = ''] of rest
        .slice(0, end)
        .matchAll(/"type":"create","resource_type":"zaak","resource_id":"([^"]+)"/g))
        times.set(uuid, now)
      rest = rest.slice(end)
    }
  })().catch(() => {})
  return { ended }
}

type Page = { position: string; items: { operations: unknown[] }[] }
const get = (stack: Stack, path: string) =>
  fetch(`${stack.address}${path}`, { headers: { authorization: `Bearer ${stack.token}` } })

/** Reads so many deltas from the oldest on, each of a case that was changed, as who begins late does. */
async function replay(stack: Stack, count: number): Promise<void> {
  const { sql } = stack.database
  const first = ((await (await get(stack, `${DELTAS}?limit=1`)).json()) as Page).position
  console.log(`making ${count} changes, a transaction each`)
  const ids = (await sql<{ id: number }[]>`select id from zaak order by id limit 20000`).map(({ id }) => id)
  await sql.unsafe(`set statement_timeout = 0`)
  await sql.unsafe(`do $$ declare n integer := 0; one bigint; begin
    while n < ${count} loop
      foreach one in array array[${ids.join()}]::bigint[] loop
        update zaak set toelichting = 'gewijzigd ${randomUUID()}' where id = one; commit; n := n + 1;
        exit when n >= ${count};
      end loop;
    end loop; end $$`)
  let position = ''
  for (let page = (await (await get(stack, `${DELTAS}?limit=1`)).json()) as Page; position !== page.position; )
    position = page.position
  let [deltas, bytes] = [0, 0]
  const before = await cpuTimes(stack)
  const began = performance.now()
  const pool = new Pool(stack.address, { connections: 1, pipelining: 1 })
  for (position = first; ; ) {
    const { body } = await pool.request({
      method: 'GET',
      path: `${DELTAS}?limit=1000&after=${position}`,
      headers: { authorization: `Bearer ${stack.token}` },
    })
    const text = await body.text()
    bytes += text.length
    // Not parsed: what the reader does with it is not the service's.
    const found = text.split('"prev_id":').length - 1
    position = /^\{"position":"([^"]+)"/.exec(text)?.[1] ?? ''
    deltas += found
    if (found === 0) break
  }
  const seconds = (performance.now() - began) / 1000
  const after = await cpuTimes(stack)
  await pool.close()
  const cpu = (part: keyof typeof after) => (((after[part] - before[part]) / deltas) * 1000).toFixed(0)
  console.log(
    `replay of ${deltas} deltas, ${(bytes / deltas / 1024).toFixed(1)} kB each, in ${seconds.toFixed(1)} s: µs of CPU each, api ${cpu('api')}, database ${cpu('postgres')}`,
  )
  figure('replay from one process', `${(deltas / seconds).toFixed(0)} deltas/s`, '20,000 deltas/s')
}
