// npm run bench logboek: what the log of processing takes of reads and changes. Two installations stand side by side, one with the log and
// a collector that takes all, one without it. They are asked in short turns, so that what else the machine does hits both. CPU is that of
// all turns together and of what lies between, in which lines of a turn are settled and sent.
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Pool } from 'undici'
import { figure } from './figures.ts'
import { chooseScenario, cpuTimes, drive, type Scenario, type Stack, startStack } from './stack.ts'

type Side = { stack: Stack; scenario: Scenario; pool: Pool; zaken: string[] }
type Work = (side: Side, ms: number) => Promise<number>
type Sum = { count: number; seconds: number; api: number; postgres: number; worker: number }

const CLIENTS = 10
const WARM_MS = 2000
/** Longer than what was done waits to be settled. */
const REST_MS = 2500

export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      rounds: { type: 'string', default: '40' },
      ms: { type: 'string', default: '300' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return console.log('Options: --rounds 40 (of each kind), --ms 300 (a turn)')
  const collector = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const { port } = collector.address() as { port: number }
  const shared = { NOTIFICATIONS_DISABLED: 'true' }
  const sides: Side[] = []
  const opened: Pick<Side, 'stack' | 'pool'>[] = []
  try {
    for (const env of [
      shared,
      {
        ...shared,
        LOGBOEK_DATAVERWERKINGEN: 'true',
        LOGBOEK_ACTIVITEIT: 'https://register.gemeente.nl/verwerkingen/zaken',
        LOGBOEK_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      },
    ]) {
      const stack = await startStack('http://127.0.0.1:9/', env)
      const pool = new Pool(stack.address, { connections: CLIENTS, pipelining: 1 })
      opened.push({ stack, pool })
      const scenario = await chooseScenario(stack)
      await drive(stack, scenario, CLIENTS, 3000)
      const rows = await stack.database.sql<{ uuid: string }[]>`select uuid from zaak order by id limit 1000`
      sides.push({ stack, scenario, pool, zaken: rows.map(({ uuid }) => uuid) })
    }
    const kinds: [string, Work][] = [
      ['a case that is made', async ({ stack, scenario }, ms) => (await drive(stack, scenario, CLIENTS, ms)).count],
      ['a case that is read', (side, ms) => read(side, ms, (zaak) => `/zaken/api/v1/zaken/${zaak}`)],
      ['a list of 20', (side, ms) => read(side, ms, () => '/zaken/api/v1/zaken?pageSize=20')],
      ['a list of 100', (side, ms) => read(side, ms, () => '/zaken/api/v1/zaken?pageSize=100')],
    ]
    const turns = { rounds: Number(values.rounds), ms: Number(values.ms) }
    for (const [name, work] of kinds) await compare(sides, name, work, turns)
  } finally {
    for (const { pool, stack } of opened) {
      await pool.close()
      await stack.stop()
    }
    collector.close()
    collector.closeAllConnections()
  }
}

async function compare(
  sides: Side[],
  name: string,
  work: Work,
  { rounds, ms }: { rounds: number; ms: number },
): Promise<void> {
  const sums: Sum[] = sides.map(() => ({ count: 0, seconds: 0, api: 0, postgres: 0, worker: 0 }))
  const count = async (sign: 1 | -1) => {
    await sleep(REST_MS)
    for (const [place, { stack }] of sides.entries()) {
      const times = await cpuTimes(stack)
      const sum = sums[place] as Sum
      for (const part of ['api', 'postgres', 'worker'] as const) sum[part] += sign * times[part]
    }
  }
  for (const side of sides) await work(side, WARM_MS)
  await count(-1)
  for (let round = 0; round < rounds; round++)
    for (const place of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const sum = sums[place] as Sum
      const began = performance.now()
      sum.count += await work(sides[place] as Side, ms)
      sum.seconds += (performance.now() - began) / 1000
    }
  await count(1)
  const [off, on] = sums as [Sum, Sum]
  const rate = (sum: Sum) => sum.count / sum.seconds
  const cpu = (sum: Sum) => (sum.api + sum.postgres) / sum.count
  const whole = (sum: Sum) => cpu(sum) + sum.worker / sum.count
  for (const [what, sum] of [
    ['without', off],
    ['with', on],
  ] as const)
    console.log(
      `${name}, ${what}: ${rate(sum).toFixed(0)}/s, ${(sum.api / sum.count).toFixed(3)} ms of CPU in the api, ${(sum.postgres / sum.count).toFixed(3)} in the database, ${(sum.worker / sum.count).toFixed(3)} in the worker`,
    )
  figure(`CPU that the log takes of ${name}`, `${(100 * (cpu(on) / cpu(off) - 1)).toFixed(1)} %`, '5 % at most')
  figure('with the worker, which also sends the lines', `${(100 * (whole(on) / whole(off) - 1)).toFixed(1)} %`)
  figure(`rate that it takes`, `${(100 * (1 - rate(on) / rate(off))).toFixed(1)} %`, '5 % at most')
}

async function read({ stack, pool, zaken }: Side, ms: number, pathOf: (zaak: string) => string): Promise<number> {
  const headers = { authorization: `Bearer ${stack.token}`, 'accept-crs': 'EPSG:4326' }
  const began = performance.now()
  let count = 0
  const client = async () => {
    while (performance.now() - began < ms) {
      const path = pathOf(zaken[Math.floor(Math.random() * zaken.length)] ?? '')
      const { statusCode, body } = await pool.request({ method: 'GET', path, headers })
      await body.dump()
      if (statusCode !== 200) throw new Error(`${path} gave ${statusCode}`)
      count++
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return count
}
