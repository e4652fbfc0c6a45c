// npm run bench outage: the receiver is down for a while under load; what is lost, and what the schedule says must fail.
//
// Time is compressed: the settings of the retries and the outages are divided by --factor, so that the default run takes
// minutes. --factor 1 is the real thing.
//
// Compressed time asks for as many more attempts in a second, beside the clients that create: without pause ten of these make
// the sender late by what two cores can do, not by what it does. So they keep to --rate creates a second, which with the
// default factor is what 9 creates a second would be to a receiver that is really away; each is attempted up to eight
// times. --rate 0 is without pause.
//
// --snapshot 60: no outage, but an old snapshot that is held for so many minutes, as a dump does.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Sql } from 'postgres'
import { Pool } from 'undici'
import { SETS, schedule } from '../src/notificaties/backoff.ts'
import { figure } from './figures.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { chooseScenario, delivered, drive, quantile, type Scenario, type Stack, startStack } from './stack.ts'

const VERLENGD = { ...SETS.kort, maxRetries: 7, backoffMax: 192 } // the documented example
const BY_NAME = { ...SETS, verlengd: VERLENGD }
const LATE = 2 // seconds that a retry may be late

export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      factor: { type: 'string', default: '16' },
      outages: { type: 'string', default: '10,60,300,600' },
      sets: { type: 'string', default: 'standaard,kort,verlengd' },
      clients: { type: 'string', default: '10' },
      rate: { type: 'string', default: '150' },
      snapshot: { type: 'string', default: '0' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(
      'Options: --factor 16, --outages 10,60,300,600 (s), --sets standaard,kort,verlengd, --clients 10, --rate 150 (creates/s), --snapshot 0 (minutes)',
    )
    return
  }
  if (Number(values.snapshot) > 0)
    return benchSnapshot(Number(values.snapshot), Number(values.clients), Number(values.rate))
  const factor = Number(values.factor)
  const clients = Number(values.clients)
  const rate = Number(values.rate)
  const receiver = await startReceiver()
  const stack = await startStack(receiver.root)
  let ok = true
  try {
    const scenario = await chooseScenario(stack)
    const pace = rate > 0 ? `${rate} a second` : 'without pause'
    console.log(`creating: ${scenario.name}, ${pace}, from ${clients} clients; time divided by ${factor}`)
    console.log('set        outage  created  refused  delivered  failed  expected  attempts/s        latest   lost')
    for (const name of values.sets.split(',') as (keyof typeof BY_NAME)[]) {
      for (const outage of values.outages.split(',').map(Number)) {
        const result = await measure(stack, receiver, name, outage / factor, factor, (ms) =>
          rate > 0 ? pacedDrive(stack, scenario, clients, rate, ms) : drive(stack, scenario, clients, ms),
        )
        ok &&= result.lost === 0 && result.refused === 0 && result.isExpected
        console.log(
          [
            name.padEnd(9),
            `${outage} s`.padStart(7),
            String(result.created).padStart(8),
            String(result.refused).padStart(8),
            String(result.delivered).padStart(10),
            String(result.failed).padStart(7),
            `${result.expected.join(' to ')}${result.isExpected ? '' : ' (!)'}`.padStart(9),
            result.busiest.toFixed(0).padStart(11),
            `${result.latest.toFixed(1)} s late`.padStart(13),
            String(result.lost).padStart(6),
          ].join(' '),
        )
      }
    }
  } finally {
    await stack.stop()
    await receiver.stop()
  }
  if (!ok) process.exitCode = 1
}

/** The parts of one measurement, and how many. */
const PARTS = 20

/** What a claim and a record cost, and how late messages are, while an old snapshot is held. */
async function benchSnapshot(minutes: number, clients: number, rate: number): Promise<void> {
  const receiver = await startReceiver()
  const stack = await startStack(receiver.root, {}, ['track_functions=all'])
  const { sql } = stack.database
  const held = await sql.reserve()
  try {
    const scenario = await chooseScenario(stack)
    const run = () => pacedDrive(stack, scenario, clients, rate, (minutes * 60_000) / PARTS)
    await run() // what it costs at first, with what is compiled at the first use
    await held`begin isolation level repeatable read`
    await held`select from delivery limit 1`
    console.log('minutes  created  refused  claims  ms each  records  ms each  median    p99')
    const seen: { claim: number; record: number; p99: number }[] = []
    const times = [await functionTimes(sql)]
    for (let part = 1; part <= PARTS; part++) {
      receiver.received.length = 0
      const before = await functionTimes(sql)
      const { count, refused } = await run()
      await delivered(sql)
      const after = await functionTimes(sql)
      const each = (name: string) => {
        const calls = after[name]!.calls - before[name]!.calls
        return { calls, ms: (after[name]!.ms - before[name]!.ms) / Math.max(1, calls) }
      }
      const [claim, record] = [each('claim_deliveries'), each('record_attempts')]
      const delays = receiver.received.map(({ at, body }) => at - Date.parse(String(body.aanmaakdatum)))
      const [median, p99] = [0.5, 0.99].map((part) =>
        quantile(
          delays.sort((a, b) => a - b),
          part,
        ),
      ) as [number, number]
      seen.push({ claim: claim.ms, record: record.ms, p99 })
      times.push(after)
      const columns = [
        ((part * minutes) / PARTS).toFixed(1),
        count,
        refused,
        claim.calls,
        claim.ms.toFixed(2),
        record.calls,
      ]
      const others = [record.ms.toFixed(2), `${median.toFixed(0)} ms`, `${p99.toFixed(0)} ms`]
      console.log([...columns, ...others].map((value) => String(value).padStart(7)).join('  '))
    }
    reportGrown(times)
    const [first, last] = [seen[0]!, seen.at(-1)!]
    const what = `after ${minutes} minutes of an old snapshot at ${rate} changes a second`
    figure(`a claim ${what}`, `${(last.claim / first.claim).toFixed(2)} of its cost at first`, 'at most 2')
    figure(`a record ${what}`, `${(last.record / first.record).toFixed(2)} of its cost at first`, 'at most 2')
    figure(`p99 of a notification ${what}`, `${last.p99.toFixed(0)} ms`, '500 ms')
  } finally {
    await held`rollback`.catch(() => {})
    held.release()
    await stack.stop()
    await receiver.stop()
  }
}

type Times = Record<string, { calls: number; ms: number }>

/** Calls of each function so far, and the milliseconds that they took together. */
async function functionTimes(sql: Sql): Promise<Times> {
  await sql`select pg_stat_force_next_flush()`
  await sleep(1_500) // others tell theirs once a second
  const rows = await sql<{ name: string; calls: number; ms: number }[]>`
    select funcname as name, calls::int as calls, total_time as ms from pg_stat_user_functions`
  return Object.fromEntries(rows.map(({ name, ...times }) => [name, times]))
}

/** Prints the functions that take more than twice as long in the last quarter as in the first, and a millisecond or more. */
function reportGrown(times: Times[]): void {
  const quarter = Math.floor((times.length - 1) / 4)
  const each = (name: string, from: Times, to: Times) => {
    const { calls, ms } = from[name] ?? { calls: 0, ms: 0 }
    return (to[name]!.ms - ms) / Math.max(1, to[name]!.calls - calls)
  }
  const grown = Object.keys(times.at(-1)!).flatMap((name) => {
    const [early, late] = [
      name in times[quarter]! ? each(name, times[0]!, times[quarter]!) : 0,
      each(name, times.at(-1 - quarter)!, times.at(-1)!),
    ]
    return late >= 1 && late > 2 * early ? [`${name} from ${early.toFixed(2)} to ${late.toFixed(2)} ms`] : []
  })
  console.log(grown.length > 0 ? `grown: ${grown.join(', ')}` : 'no function takes more than twice its time')
}

async function measure(
  stack: Stack,
  receiver: Receiver,
  name: keyof typeof BY_NAME,
  seconds: number,
  factor: number,
  create: (ms: number) => Promise<{ count: number; refused: number }>,
) {
  const { sql } = stack.database
  const set = BY_NAME[name]
  const settings = {
    ...set,
    backoff: set.backoff / factor,
    backoffMax: Math.max(1, Math.round(set.backoffMax / factor)),
  }
  await delivered(sql)
  await sql`truncate notificatie, delivery, delivery_attempt`
  await sql`
    update notificatie_settings set max_retries = ${settings.maxRetries}, backoff = ${String(settings.backoff)}::text::jsonb,
      backoff_max = ${settings.backoffMax}, base_factor = ${settings.baseFactor}`
  receiver.received.length = 0
  await receiver.stop()
  const driven = create(seconds * 1000)
  await sleep(seconds * 1000)
  await receiver.start()
  const ended = await now(sql)
  const { count, refused } = await driven
  const last = schedule(settings).at(-1)!.at
  await delivered(sql, (last + settings.maxRetries * LATE + 60) * 1000)

  const rows = await sql<Row[]>`
    select n.uuid, coalesce(max(l.status), 'afgeleverd') as status, extract(epoch from min(p.begun_at))::float8 as first,
      array_agg(extract(epoch from p.begun_at)::float8 order by p.number) as attempts
    from notificatie n left join delivery_attempt p on p.notificatie_id = n.id
    left join delivery l on l.notificatie_id = n.id group by n.id`
  const arrived = new Set(receiver.received.map(({ id }) => id))
  const failed = rows.filter(({ status }) => status === 'mislukt')
  // All attempts of these lie within the outage, also when every retry is as late as it may be; or when none is.
  const must = rows.filter(({ first }) => first + last + settings.maxRetries * LATE < ended)
  const may = new Set(rows.filter(({ first }) => first + last < ended).map(({ uuid }) => uuid))
  const delays = schedule(settings).map(({ delay }) => delay)
  const late = rows.flatMap(({ attempts }) => attempts.slice(1).map((at, i) => at - attempts[i]! - delays[i]!))
  const perSecond = new Map<number, number>()
  for (const { attempts } of rows)
    for (const at of attempts) perSecond.set(Math.floor(at), (perSecond.get(Math.floor(at)) ?? 0) + 1)
  return {
    created: count,
    busiest: Math.max(0, ...perSecond.values()),
    refused,
    delivered: rows.filter(({ uuid, status }) => status === 'afgeleverd' && arrived.has(uuid)).length,
    failed: failed.length,
    expected: must.length === may.size ? [may.size] : [must.length, may.size],
    isExpected: failed.every(({ uuid }) => may.has(uuid)) && must.every(({ status }) => status === 'mislukt'),
    latest: late.reduce((a, b) => Math.max(a, b), 0),
    lost: count - rows.length + rows.filter(({ uuid, status }) => status !== 'mislukt' && !arrived.has(uuid)).length,
  }
}

type Row = { uuid: string; status: string; first: number; attempts: number[] }

/** Creates from so many clients, evenly spread over the time. */
async function pacedDrive(stack: Stack, scenario: Scenario, clients: number, rate: number, ms: number) {
  const pool = new Pool(stack.address, { connections: clients })
  const headers = { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json', ...scenario.headers }
  const began = performance.now()
  let next = 0
  let count = 0
  let refused = 0
  const client = async () => {
    for (;;) {
      const due = (next++ * 1000) / rate
      if (due >= ms) return
      await sleep(Math.max(0, began + due - performance.now()))
      const body = JSON.stringify(scenario.body())
      const answer = await pool.request({ method: 'POST', path: scenario.path, headers, body })
      await answer.body.dump()
      if (answer.statusCode === 201) count++
      else refused++
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  await pool.close()
  return { count, refused }
}

async function now(sql: Sql): Promise<number> {
  const [row] = await sql<{ now: number }[]>`select extract(epoch from clock_timestamp())::float8 as now`
  return row!.now
}
