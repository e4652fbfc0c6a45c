// npm run bench logboek: what the log of processing takes of reads and changes. Two installations stand side by side, one with the log and
// a collector that takes all, one without it. They are asked in turns, so that what else the machine does hits both.
import { createServer } from 'node:http'
import { parseArgs } from 'node:util'
import { Pool } from 'undici'
import { figure } from './figures.ts'
import { chooseScenario, cpuTimes, drive, type Scenario, type Stack, startStack } from './stack.ts'

type Side = { stack: Stack; scenario: Scenario; pool: Pool; zaken: string[] }
type Sum = { count: number; seconds: number; api: number; postgres: number; worker: number }

const CLIENTS = 10

export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      rounds: { type: 'string', default: '6' },
      ms: { type: 'string', default: '2000' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return console.log('Options: --rounds 6 (of each kind), --ms 2000 (a turn)')
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
    const kinds: [string, (side: Side) => Promise<number>][] = [
      [
        'a case that is made',
        async ({ stack, scenario }) => (await drive(stack, scenario, CLIENTS, Number(values.ms))).count,
      ],
      ['a case that is read', (side) => read(side, Number(values.ms), (zaak) => `/zaken/api/v1/zaken/${zaak}`)],
      ['a list of 20', (side) => read(side, Number(values.ms), () => '/zaken/api/v1/zaken?pageSize=20')],
      ['a list of 100', (side) => read(side, Number(values.ms), () => '/zaken/api/v1/zaken?pageSize=100')],
    ]
    for (const [name, work] of kinds) await compare(sides, name, work, Number(values.rounds))
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
  work: (side: Side) => Promise<number>,
  rounds: number,
): Promise<void> {
  const sums: Sum[] = sides.map(() => ({ count: 0, seconds: 0, api: 0, postgres: 0, worker: 0 }))
  for (const side of sides) await work(side)
  for (let round = 0; round < rounds; round++)
    for (const place of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const side = sides[place] as Side
      const sum = sums[place] as Sum
      const before = await cpuTimes(side.stack)
      const began = performance.now()
      sum.count += await work(side)
      sum.seconds += (performance.now() - began) / 1000
      const after = await cpuTimes(side.stack)
      sum.api += after.api - before.api
      sum.postgres += after.postgres - before.postgres
      sum.worker += after.worker - before.worker
    }
  const [off, on] = sums as [Sum, Sum]
  const rate = (sum: Sum) => sum.count / sum.seconds
  const cpu = (sum: Sum) => (sum.api + sum.postgres) / sum.count
  for (const [what, sum] of [
    ['without', off],
    ['with', on],
  ] as const)
    console.log(
      `${name}, ${what}: ${rate(sum).toFixed(0)}/s, ${(sum.api / sum.count).toFixed(3)} ms of CPU in the api, ${(sum.postgres / sum.count).toFixed(3)} in the database, ${(sum.worker / sum.count).toFixed(3)} in the worker`,
    )
  figure(`CPU that the log takes of ${name}`, `${(100 * (cpu(on) / cpu(off) - 1)).toFixed(1)} %`, '5 % at most')
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
