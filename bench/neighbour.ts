// npm run bench neighbour: a good client while a bad one sends the worst that we know, one attack after another.
//
// The good client asks for a case, makes one and asks /livez, 20 requests a second together, each at its moment whatever
// became of the one before. The bad one is in a thread of its own here, has the least rights that suffice, and speaks
// real HTTP. The service is a process with a heap of 256 MB. Attacks are in bench/attacks.
//
// With `--organisations` the process serves two: the bad client is one of the first, and the good one asks the second.
//
// The clients and the database are on the same machine and share its processors. So the good client is measured alone for a
// moment before each attack: what stands under "alone" is what the machine gives, the rest is what the attack does. Under "waits"
// stands for how many ms of a second the threads of the service and of the good client were ready and had no processor.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { Agent, request } from 'undici'
import { createClient, signToken } from '../src/autorisaties/clients.ts'
import { type SecretBox, secretBox } from '../src/core/secret-box.ts'
import { type Database, openDatabase } from '../src/database/database.ts'
import { type Attack, newTally, type Right, runAttack, type Tally, type World } from './attacks/attack.ts'
import { ATTACKS } from './attacks/index.ts'
import { freePort, givenType, startService } from './service.ts'
import { type Served, startTwo, type Two } from './two-organisations.ts'
import { zaakBody, zaaktypeBody } from './zaaktype.ts'

const LIMITS = { p99: 100, block: 100, growth: 100 } // ms, ms, MB
const RATE = 20
const MAX_BYTES = 17 * 1024 * 1024
const SECRET = randomBytes(32).toString('hex')
const SECRET_KEY = randomBytes(32).toString('hex')

export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      seconds: { type: 'string', default: '15' },
      scale: { type: 'string', default: '1' },
      attack: { type: 'string', multiple: true, default: [''] },
      organisations: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(
      `Options: --seconds 15 (of each attack), --scale 1 (its size), --attack <text> (only those with it in their name; may be repeated), --organisations (the bad client is another organisation's).
Attacks: ${ATTACKS.map(({ name }) => name).join('; ')}`,
    )
    return
  }
  const chosen = ATTACKS.filter(({ name }) => values.attack.some((text) => name.includes(text)))
  const metricsPort = await freePort()
  const start = () =>
    (values.organisations ? startTwo : startOne)(
      { SECRET_KEY, METRICS_PORT: String(metricsPort), LOG_LEVEL: 'fatal' },
      ['--max-old-space-size=256'],
    )
  let service = await start()
  let ok = true
  console.log(`each attack ${values.seconds} s; aims: p99 and block below 100 ms, growth below 100 MB, alive`)
  console.log(
    `${'attack'.padEnd(44)}     p99 (alone)       max  failed     block (alone)    growth    waits  alive  bytes     answers to the bad client`,
  )
  try {
    for (const attack of chosen) {
      const result = await measure(service, attack, metricsPort, Number(values.seconds), Number(values.scale))
      ok &&= result.ok
      console.log(result.line)
      if (result.alive) continue
      await service.stop()
      service = await start()
    }
  } finally {
    await service.stop()
  }
  if (!ok) process.exitCode = 1
}

/** One organisation, in which the good client and the bad one are neighbours. */
async function startOne(...given: Parameters<typeof startTwo>): Promise<Two> {
  const service = await startService(...given)
  const both = { ...service, box: secretBox(SECRET_KEY) }
  return { ...service, attacked: both, measured: both }
}

async function measure(service: Two, attack: Attack, metricsPort: number, seconds: number, scale: number) {
  const { attacked, measured } = service
  const database = openDatabase(attacked.databaseUrl, {
    max: 2,
    name: 'bench',
    settings: { statement_timeout: '600000' },
  })
  try {
    const world = await givenWorld(attacked)
    const own = await givenWorld(measured)
    const client = `bad-${randomBytes(4).toString('hex')}`
    if (attack.rights.length > 0) await givenBadClient(database, attacked.box, client, attack.rights, world)
    await attack.prepare?.(world, {
      sql: database.sql,
      scale,
      client,
      call: async (...args) => {
        const text = await (await attacked.call(...args)).text()
        return text === '' ? {} : JSON.parse(text)
      },
    })
    if (attack.prepare) await settle(database)
    await goodClient(measured, own, 1000) // what is slow the first time only
    await loopBlock(metricsPort)
    const alone = quantile((await goodClient(measured, own, 3000)).delays, 0.99)
    const blockAlone = await loopBlock(metricsPort)
    const memory = watchMemory(service.pid)
    const waits = await Promise.all([service.pid, process.pid].map(watchWaits))
    const good = goodClient(measured, own, seconds * 1000)
    const tally = await attackInThread(attack, world, attack.rights.length > 0 ? client : '', seconds, scale)
    const { delays, failed } = await good
    const growth = memory.stop()
    const waited = await Promise.all(waits.map((stop) => stop()))
    const alive = service.alive()
    const block = alive ? await loopBlock(metricsPort) : Number.NaN
    const p99 = quantile(delays, 0.99)
    const strange = [...tally.statuses.keys()].filter((status) => !attack.answers.includes(status))
    const tooMuch = tally.bytes > (attack.maxBytes ?? MAX_BYTES)
    const isOk =
      alive &&
      failed === 0 &&
      p99 < LIMITS.p99 &&
      block < LIMITS.block &&
      growth < LIMITS.growth &&
      strange.length === 0 &&
      !tooMuch
    const answers = [...tally.statuses].map(([status, times]) => `${status || 'closed'}: ${times}`).join(', ')
    const line = [
      attack.name.padEnd(44),
      `${p99.toFixed(0)} ms`.padStart(7),
      `(${alone.toFixed(0)})`.padStart(7),
      `${Math.max(...delays).toFixed(0)} ms`.padStart(9),
      String(failed).padStart(7),
      `${block.toFixed(0)} ms`.padStart(9),
      `(${blockAlone.toFixed(0)})`.padStart(7),
      `${growth.toFixed(0)} MB`.padStart(9),
      waited
        .map((ms) => ms.toFixed(0))
        .join('/')
        .padStart(8),
      (alive ? 'yes' : 'NO').padStart(6),
      size(tally.bytes).padStart(9),
      isOk ? '   ' : ' ! ',
      answers + (strange.length > 0 ? ` (not expected: ${strange.join(', ')})` : ''),
    ].join(' ')
    return { ok: isOk, alive, line }
  } finally {
    await database.close()
  }
}

/** Does what the database would do later, of itself, about the rows that were added. */
async function settle({ sql }: Database): Promise<void> {
  await sql`vacuum (analyze) zaak, rol, zaakobject, zaakeigenschap, zaakinformatieobject`
  for (;;) {
    const [busy] = await sql<{ pid: number }[]>`
      select pid from pg_stat_activity where backend_type = 'autovacuum worker' limit 1`
    if (!busy) return
    await sleep(200)
  }
}

const size = (bytes: number) => (bytes < 10_000 ? `${bytes} B` : `${(bytes / 1024 / 1024).toFixed(1)} MB`)

const known = new Map<string, World>()

async function givenWorld(service: Served): Promise<World> {
  const found = known.get(service.address)
  if (found) return found
  const made = async (path: string, body: object) =>
    ((await (await service.call('POST', path, body)).json()) as { url: string; catalogus: string }).url
  const informatieobjecttype = await givenType(service)
  const { catalogus } = (await (await service.call('GET', informatieobjecttype)).json()) as { catalogus: string }
  const zaaktype = await made('/catalogi/api/v1/zaaktypen', zaaktypeBody(catalogus, 'BUREN'))
  await service.call('POST', `${zaaktype}/publish`)
  const zaak = (
    (await (await service.call('POST', '/zaken/api/v1/zaken', zaakBody(zaaktype), CRS)).json()) as World & {
      url: string
    }
  ).url
  const world = { address: service.address, catalogus, zaaktype, informatieobjecttype, zaak }
  known.set(service.address, world)
  return world
}

const CRS = { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' }

async function givenBadClient(
  database: Database,
  box: SecretBox,
  id: string,
  rights: Right[],
  world: World,
): Promise<void> {
  await createClient(database, box, { id, label: id, alleAutorisaties: false, secret: SECRET })
  const types: Record<string, string> = { zrc: world.zaaktype, drc: world.informatieobjecttype }
  for (const { component, scopes } of rights) {
    await database.sql`
      insert into autorisatie (applicatie_id, component, scopes, type_url, type_uuid, max_vertrouwelijkheidaanduiding)
      select applicatie_id, ${component}, ${scopes}, '', ${types[component]?.split('/').at(-1) ?? null},
        ${component in types ? 'zeer_geheim' : null}
      from applicatie_client where client_id = ${id}`
  }
}

/** Sends on schedule, and notes how long after its moment each request was answered. */
async function goodClient(service: Served, { zaak, zaaktype }: World, ms: number) {
  const agent = new Agent({ connections: 20 })
  const ask = [
    { method: 'GET', path: zaak },
    { method: 'POST', path: '/zaken/api/v1/zaken', body: JSON.stringify(zaakBody(zaaktype)) },
    { method: 'GET', path: '/livez' },
  ] as const
  const delays: number[] = []
  let failed = 0
  const began = performance.now()
  const sent: Promise<void>[] = []
  for (let n = 0; (n * 1000) / RATE < ms; n++) {
    const due = began + (n * 1000) / RATE
    await sleep(Math.max(0, due - performance.now()))
    const { method, path, ...rest } = ask[n % ask.length]!
    const headers = { authorization: `Bearer ${service.token()}`, 'content-type': 'application/json', ...CRS }
    const { 'content-type': _, ...withoutBody } = headers
    sent.push(
      request(new URL(path, service.address), {
        method,
        dispatcher: agent,
        headers: 'body' in rest ? headers : withoutBody,
        ...rest,
        signal: AbortSignal.timeout(30_000),
      })
        .then(async ({ statusCode, body }) => {
          await body.dump()
          if (statusCode >= 300) failed++
        })
        .catch(() => void failed++)
        .finally(() => delays.push(performance.now() - due)),
    )
  }
  await Promise.all(sent)
  await agent.destroy()
  return { delays, failed }
}

/** The longest time, in ms, that the event loop stood still since this was asked last: prom-client starts anew at each look. */
async function loopBlock(metricsPort: number): Promise<number> {
  const { body } = await request(`http://127.0.0.1:${metricsPort}/metrics`)
  const [, seconds] = /^zaakstroom_nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await body.text()) ?? []
  return Number(seconds) * 1000
}

/** How much more memory than at the start the process had at its highest, in MB. */
function watchMemory(pid: number) {
  let first: number | undefined
  let highest = 0
  const look = async () => {
    const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')) ?? []
    const now = Number(kilobytes ?? 0) / 1024
    first ??= now
    highest = Math.max(highest, now)
  }
  const timer = setInterval(look, 50)
  void look()
  return {
    stop: () => {
      clearInterval(timer)
      return highest - (first ?? 0)
    },
  }
}

/** For how many ms of each second the main thread of a process waited for a processor. */
async function watchWaits(pid: number): Promise<() => Promise<number>> {
  const look = async () => {
    const text = await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').catch(() => '') // none: no Linux, or it has ended
    return Number(text.split(' ')[1] ?? Number.NaN) / 1_000_000
  }
  const [began, before] = [performance.now(), await look()]
  return async () => ((await look()) - before) / ((performance.now() - began) / 1000)
}

function quantile(values: number[], q: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN
}

async function attackInThread(
  { name }: Attack,
  world: World,
  client: string,
  seconds: number,
  scale: number,
): Promise<Tally> {
  const token = client && signToken(client, SECRET)
  const thread = new Worker(new URL(import.meta.url), { workerData: { name, world, token, seconds, scale } })
  return new Promise<Tally>((resolve, reject) => {
    thread.on('message', resolve)
    thread.on('error', reject)
    thread.on('exit', (code) => reject(new Error(`the attack ended with ${code}`)))
  })
}

if (!isMainThread) {
  const { name, world, token, seconds, scale } = workerData
  const tally = newTally()
  const attack = ATTACKS.find((one) => one.name === name)!
  const stop = new AbortController()
  // What is under way when the time is over is given up, also by an attack that does not look at its signal.
  const over = sleep(seconds * 1000).then(() => stop.abort())
  await Promise.race([runAttack(attack, { world, token, scale, signal: stop.signal, tally }).then(() => over), over])
  parentPort!.postMessage(tally)
  process.exit()
}
