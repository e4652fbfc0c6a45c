// npm run bench organisations: one api and one worker for many organisations, each a schema of one database. For each number of them a row of
// the table of docs/operations.md: connections, memory and CPU while nothing happens, cases a second and the CPU of a case while clients make
// them in all in turn. After the last: how long a message of one that was quiet takes, what others notice while one imports, and how
// two that import at once divide the worker.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Pool } from 'undici'
import { createClient, signToken } from '../src/autorisaties/clients.ts'
import { findSecretBox } from '../src/cli/server.ts'
import { readConfig } from '../src/config.ts'
import { systemActor } from '../src/core/access.ts'
import { agreeOnKey, requireKeys } from '../src/core/key-register.ts'
import { mutator } from '../src/core/mutate.ts'
import { secretBox } from '../src/core/secret-box.ts'
import { type Database, openDatabase } from '../src/database/database.ts'
import { type Embedded, startEmbedded } from '../src/database/embedded.ts'
import { migrate, migrateControl } from '../src/database/migrate.ts'
import { searchPathOf, withSchema } from '../src/database/schema.ts'
import { saveSettings } from '../src/notificaties/settings.ts'
import { makeOrganisation } from '../src/organisations/make.ts'
import { changeOrganisations, controlUrlOf, insertOrganisation, openControl } from '../src/organisations/registry.ts'
import { saveService } from '../src/services/register.ts'
import { startPooler } from '../test/database/pooler.ts'
import { figure } from './figures.ts'
import { runImport, writeCsv, writeFiles } from './import.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { CLIENT, freePort, givenType, type Service } from './service.ts'
import { cpuTimes, post } from './stack.ts'
import { zaakBody, zaaktypeBody } from './zaaktype.ts'

const KEY = 'key of the installation, long enough'
const DATA_KEYS = `bench:${Buffer.alloc(32, 7).toString('base64')}`
const SECRET = 'a secret of the benchmark, long enough'
const QUIET_S = 10
const MESSAGES = 40
/** Until a worker has looked at all that it works for. */
const LOOKED_MS = 20_000

/**
 * `--organisations 1,2,10,50`: how many, one after the other; 342 take ten minutes to make and 3 GB of the disk. `--servers 2`: so many
 * servers of PostgreSQL that have a part of them each. `--seconds 15`: for how long cases are made, by `--clients 8`; 0: none are.
 * `--rows 20000`: of the imports; 0: none. `--workers 1`: processes that work. `--pooler 3`: the api goes through a PgBouncer, with so many
 * connections for each of them.
 */
export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      organisations: { type: 'string', default: '1,2,10,50' },
      servers: { type: 'string', default: '1' },
      seconds: { type: 'string', default: '15' },
      clients: { type: 'string', default: '8' },
      rows: { type: 'string', default: '20000' },
      workers: { type: 'string', default: '1' },
      pooler: { type: 'string', default: '0' },
    },
  })
  const counts = values.organisations.split(',').map(Number)
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-bench-'))
  await chmod(directory, 0o711)
  await mkdir(join(directory, 'import'))
  // The catalogue of hundreds is half a GB, and every session reads in it.
  const settings = Math.max(...counts) > 50 ? ['max_connections=1300', 'shared_buffers=2GB'] : ['max_connections=500']
  const servers: Embedded[] = []
  const receiver = await startReceiver()
  const all: Member[] = []
  const rows: string[] = []
  let control: Database | undefined
  let pooler: Awaited<ReturnType<typeof startPooler>> | undefined
  const load = () => loadavg()[0]!.toFixed(1)
  const before = load()
  try {
    const pids: World['pids'] = {}
    for (let nth = 0; nth < Number(values.servers); nth++) {
      servers.push(await startEmbedded(join(directory, `data-${nth}`), { settings }))
      const postmaster = await readFile(join(directory, `data-${nth}`, 'postgres', 'postmaster.pid'), 'utf8')
      pids[`postgres${nth || ''}`] = Number(postmaster.split('\n')[0])
    }
    const urls = servers.map(({ url }) => url)
    await migrateControl(controlUrlOf(urls[0]!))
    control = openControl(urls[0]!)
    const size = Number(values.pooler)
    if (size > 0) pooler = await startPooler(at(urls[0]!, schemaOf(0)), size, poolerOf(urls, Math.max(...counts)))
    const world: World = { directory, urls, pooler: pooler?.url, control, pids, receiver }
    const asked = { workers: Number(values.workers), seconds: Number(values.seconds), clients: Number(values.clients) }
    for (const count of counts) {
      const began = performance.now()
      const had = all.length
      for (let nth = had; nth < count; nth++) all.push(await addMember(world, nth))
      const made = (performance.now() - began) / 1000 / Math.max(1, count - had)
      const again = performance.now()
      for (const { url } of all) await migrate(url)
      const migrated = (performance.now() - again) / 1000
      if (all.length === 1)
        rows.push(await benchCount(world, all, asked, 'one, by itself', `${made.toFixed(1)} s`, true))
      const time = `${made.toFixed(1)} s, ${migrated.toFixed(1)} s`
      rows.push(await benchCount(world, all, asked, String(count), time))
    }
    await benchMessages(world, all)
    if (Number(values.rows) > 0) await benchImports(world, all, Number(values.rows))
    console.log(`
Load of the machine ${before} before and ${load()} after; ${values.servers} of PostgreSQL.

| Organisations | Make one, migrate all | Connections quiet, at most | api | worker | CPU a second, quiet: api, worker, PostgreSQL | Cases a second | CPU a case: api, worker, PostgreSQL |
| --- | --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}`)
  } finally {
    await Promise.all(all.map(({ database }) => database.close()))
    await control?.close()
    await receiver.stop()
    await pooler?.stop()
    for (const server of servers) await server.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

type World = {
  directory: string
  /** Of the servers; the registry is in the first. */
  urls: string[]
  /** The address of an organisation in PgBouncer. */
  pooler: string | undefined
  control: Database
  /** The first process of each server. */
  pids: Record<string, number>
  receiver: Receiver
}
type Member = { rsin: string; schema: string; server: string; url: string; database: Database; zaaktype?: string }

const rsinOf = (nth: number) => String(100_000_000 + nth)
const schemaOf = (nth: number) => `org_${rsinOf(nth)}`
const at = (url: string, pathname: string) => Object.assign(new URL(url), { pathname }).href

/** The configuration of a PgBouncer that has an entry for each organisation, named as its schema. */
function poolerOf(urls: string[], count: number): string {
  const entries = Array.from({ length: count }, (_, nth) => {
    const { hostname, port, pathname } = new URL(urls[nth % urls.length]!)
    const schema = schemaOf(nth)
    const limits =
      'set jit = off; set statement_timeout = 30000; set lock_timeout = 10000; set idle_in_transaction_session_timeout = 30000'
    const query = `set search_path = ${searchPathOf(withSchema(urls[0]!, schema))}; ${limits}`
    return `${schema} = host=${hostname} port=${port} dbname=${pathname.slice(1)} connect_query='${query}'`
  })
  return `[databases]
${entries.join('\n')}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = 6432
pool_mode = transaction
default_pool_size = 3
max_client_conn = 5000
server_idle_timeout = 30
auth_type = scram-sha-256
auth_file = userlist.txt
`
}

async function addMember({ urls, pooler, control, receiver }: World, nth: number): Promise<Member> {
  const rsin = rsinOf(nth)
  const schema = schemaOf(nth)
  const server = urls[nth % urls.length]!
  const own = withSchema(server, schema)
  await makeOrganisation(own, { hasFeed: true })
  const database = openDatabase(own, { max: 1, name: 'bench', idleSeconds: 1 })
  const box = await findSecretBox(readConfig({ DATA_KEYS }), false)
  database.useNumbers(box.numbers)
  await requireKeys(database.sql, box)
  await agreeOnKey(database.sql, box)
  await createClient(database, box, { id: CLIENT, label: 'Bench', alleAutorisaties: true, secret: SECRET })
  await mutator(database)(systemActor('bench'), async (m) => {
    const auth = { authenticatie: 'zgw', clientId: 'bench', secret: SECRET, timeoutMs: 10_000 } as const
    await saveService(m, box, { label: 'NRC', slug: 'nrc', soort: 'nrc', apiRoot: receiver.root, ...auth })
    await saveSettings(m, { dienst: 'nrc' })
  })
  await changeOrganisations(control, { rsin, actor: 'bench', action: 'add' }, (trx) =>
    insertOrganisation(trx, secretBox(KEY), {
      ...{ rsin, name: rsin, hosts: [hostOf(rsin)], schema, limits: {}, dataKeys: DATA_KEYS },
      databaseUrl: pooler ? at(pooler, schema) : server,
      settings: pooler ? { DATABASE_DIRECT_URL: server } : {},
    }),
  )
  return { rsin, schema, server, url: own, database }
}

const hostOf = (rsin: string) => `o${rsin}.example`

const env = (world: World) => ({
  ...process.env,
  CONTROL_DATABASE_URL: world.urls[0],
  DATABASE_URL: '',
  SECRET_KEY: KEY,
  DATA_DIR: join(world.directory, 'organisations'),
  IMPORT_DOCUMENTEN_BASE_DIR: join(world.directory, 'import'),
  TRUST_PROXY: '127.0.0.1',
  ALLOWED_PRIVATE_HOSTS: 'localhost,127.0.0.0/8,::1',
  MALLOC_ARENA_MAX: '2', // as in the image
  MALLOC_MMAP_THRESHOLD_: '262144',
  LOG_LEVEL: 'error',
})

/** An installation of one organisation. */
const envAlone = (world: World, { rsin, schema, server }: Member) => ({
  ...env(world),
  CONTROL_DATABASE_URL: '',
  DATABASE_URL: server,
  DATABASE_SCHEMA: schema,
  SECRET_KEY: '',
  DATA_KEYS,
  DATA_DIR: join(world.directory, 'organisations', rsin),
  PUBLIC_URL: `https://${hostOf(rsin)}`,
})

const run = (command: string, given: NodeJS.ProcessEnv): ChildProcess =>
  spawn(process.execPath, ['--max-semi-space-size=8', join(import.meta.dirname, '../src/main.ts'), command], {
    env: given,
    stdio: ['ignore', 'inherit', 'inherit'],
  })

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

async function ready(port: number): Promise<void> {
  while (!(await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.ok) await sleep(100)
}

async function withWorkers<T>(
  given: NodeJS.ProcessEnv,
  count: number,
  work: (workers: Working[]) => Promise<T>,
): Promise<T> {
  const workers: Working[] = []
  for (let nth = 0; nth < count; nth++) {
    const port = await freePort()
    workers.push({ child: run('worker', { ...given, WORKER_HEALTH_PORT: `${port}` }), port })
  }
  try {
    for (const { port } of workers) await ready(port)
    return await work(workers)
  } finally {
    for (const { child } of workers) await end(child)
  }
}
type Working = { child: ChildProcess; port: number }

async function withApi<T>(given: NodeJS.ProcessEnv, work: (api: Working) => Promise<T>): Promise<T> {
  const port = await freePort()
  const child = run('api', { ...given, PORT: `${port}` })
  try {
    await ready(port)
    return await work({ child, port })
  } finally {
    await end(child)
  }
}

/** A client of an organisation, which names its host as a proxy does. */
const callerAt =
  (port: number, { rsin }: Member): Service['call'] =>
  async (method, url, body, headers = {}) => {
    const isJson = body !== undefined && !(body instanceof ReadableStream)
    const { pathname, search } = new URL(url, 'http://any')
    const ask = () =>
      fetch(`http://127.0.0.1:${port}${pathname}${search}`, {
        method,
        headers: { ...headersAt(rsin), ...(isJson && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: (isJson ? JSON.stringify(body) : body) as string, duplex: 'half' }),
      })
    let response = await ask()
    // As clients do: what is only being opened is asked again.
    while (response.headers.has('retry-after') && !(body instanceof ReadableStream)) {
      await response.body?.cancel()
      await sleep(Number(response.headers.get('retry-after')) * 1000)
      response = await ask()
    }
    if (!response.ok) throw new Error(`${method} ${url} gave ${response.status}: ${await response.text()}`)
    return response
  }

const headersAt = (rsin: string) => ({
  authorization: `Bearer ${signToken(CLIENT, SECRET)}`,
  'x-forwarded-host': hostOf(rsin),
})

/** Waits until nothing waits, and runners are open for what comes by the clock alone; of hundreds some always are, and it waits so long. */
async function untilQuiet(workers: Working[], organisations: number): Promise<void> {
  const isMany = organisations > 50
  const limitMs = isMany ? 120_000 : 600_000
  const late = performance.now() + limitMs
  const most = Math.floor(organisations / 50)
  for (const { port } of workers) {
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`)
      const { checks } = (await answer.json()) as { checks: { organisations: { detail: string } } }
      const [open, waiting] = checks.organisations.detail.match(/\d+/g)!.map(Number) as [number, number]
      if (open <= most && waiting === 0) break
      if (performance.now() > late && isMany) return console.log(`# not quiet: ${checks.organisations.detail}`)
      if (performance.now() > late) throw new Error(`not quiet: ${checks.organisations.detail}`)
      await sleep(200)
    }
  }
}

/** How many there are, of all servers, and by the name of what opened them. */
async function connectionsOf({ urls }: World, open: Database[]): Promise<{ count: number; names: string }> {
  const counts: Record<string, number> = {}
  for (const [nth] of urls.entries()) {
    const rows = await open[nth]!.sql<{ name: string; count: number }[]>`
      select application_name as name, count(*)::int as count from pg_stat_activity
      where backend_type = 'client backend' and application_name <> 'zaakstroom bench' and pid <> pg_backend_pid() group by 1`
    for (const { name, count } of rows) counts[name] = (counts[name] ?? 0) + count
  }
  const all = Object.entries(counts).sort(([, a], [, b]) => b - a)
  const names = all.map(([name, count]) => `${count} ${name.replace('zaakstroom ', '')}`).join(', ')
  return { count: all.reduce((sum, [, count]) => sum + count, 0), names }
}

async function memoryOf(pid: number): Promise<{ now: number; most: number }> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8')
  const megabytes = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(text)?.[1]) / 1024)
  return { now: megabytes('VmRSS'), most: megabytes('VmHWM') }
}

/** Milliseconds of CPU so far: of the api, of all workers, of all servers. */
async function cpuOf(world: World, api: Working, workers: Working[]): Promise<number[]> {
  const sums = [0, 0, 0]
  for (const [nth, postgres] of Object.values(world.pids).entries()) {
    const own =
      nth === 0 ? { api: api.child.pid!, ...Object.fromEntries(workers.map(({ child }, at) => [at, child.pid!])) } : {}
    const times: Record<string, number> = await cpuTimes({ pids: { ...own, postgres } })
    for (const [part, ms] of Object.entries(times)) sums[part === 'api' ? 0 : part === 'postgres' ? 2 : 1]! += ms
  }
  return sums
}

type Asked = { workers: number; seconds: number; clients: number }

/** A row of the table. @param isAlone an installation of one organisation, without a registry */
async function benchCount(
  world: World,
  members: Member[],
  asked: Asked,
  name: string,
  time: string,
  isAlone = false,
): Promise<string> {
  const given = isAlone ? envAlone(world, members[0]!) : env(world)
  const watchers = world.urls.map((url) => openDatabase(url, { max: 1, name: 'bench' }))
  try {
    return await withApi(given, (api) =>
      withWorkers(given, asked.workers, async (workers) => {
        let most = { count: 0, names: '' }
        const watching = setInterval(async () => {
          const now = await connectionsOf(world, watchers).catch(() => most)
          if (now.count > most.count) most = now
        }, 250)
        const told = (parts: number[], digits: number) => parts.map((ms) => ms.toFixed(digits)).join(', ')
        await sleep(LOOKED_MS)
        if (!isAlone) await untilQuiet(workers, members.length)
        const before = await cpuOf(world, api, workers)
        await sleep(QUIET_S * 1000)
        const after = await cpuOf(world, api, workers)
        const quiet = told(
          after.map((ms, at) => (ms - before[at]!) / QUIET_S),
          0,
        )
        const connections = await connectionsOf(world, watchers)
        const load = asked.seconds > 0 ? await makeCases(world, members, asked, api, workers) : undefined
        clearInterval(watching)
        const apiMemory = await memoryOf(api.child.pid!)
        const memories = await Promise.all(workers.map(({ child }) => memoryOf(child.pid!)))
        const memory = { most: Math.max(...memories.map(({ most }) => most)) }
        const named = `${isAlone ? name : `${name} organisations`}, ${asked.workers} ${asked.workers > 1 ? 'workers' : 'worker'}`
        const isMany = members.length > 50
        figure(
          `connections, ${named}`,
          `${connections.count} quiet, at most ${most.count}: ${most.names}`,
          isMany ? '1,000' : '250 of two workers',
        )
        figure(
          `memory, ${named}`,
          `api at most ${apiMemory.most} MB, worker at most ${memory.most} MB`,
          isMany ? '900 MB' : '450 MB',
        )
        figure(`CPU a second of quiet, ${named}`, `api, worker, PostgreSQL ${quiet} ms`)
        if (load)
          figure(
            `cases, ${named}`,
            `${load.rate} a second; CPU a case: api, worker, PostgreSQL ${told(load.cpu, 2)} ms`,
          )
        const cells = [
          name,
          time,
          `${connections.count}, ${most.count}`,
          `${apiMemory.most} MB`,
          `${memory.most} MB`,
          `${quiet} ms`,
        ]
        return `| ${[...cells, load?.rate ?? '', load ? `${told(load.cpu, 2)} ms` : ''].join(' | ')} |`
      }),
    )
  } finally {
    await Promise.all(watchers.map((watcher) => watcher.close()))
  }
}

async function zaaktypeAt(call: Service['call']): Promise<string> {
  const made = async (url: string, body: object) =>
    ((await (await call('POST', url, body)).json()) as { url: string }).url
  const catalogus = await made('/catalogi/api/v1/catalogussen', {
    domein: 'ZAKEN',
    rsin: '000000000',
    contactpersoonBeheerNaam: 'x',
  })
  const zaaktype = await made('/catalogi/api/v1/zaaktypen', zaaktypeBody(catalogus, 'BENCH'))
  await call('POST', `${zaaktype}/publish`, {})
  return zaaktype
}

/** Clients make cases in all organisations in turn. @returns cases a second, and ms of CPU of a case until its message was delivered */
async function makeCases(
  world: World,
  members: Member[],
  { seconds, clients }: Asked,
  api: Working,
  workers: Working[],
): Promise<{ rate: number; cpu: number[] }> {
  const bodies: { path: string; headers: Record<string, string>; body: string }[] = []
  const opened: number[] = []
  for (const member of members) {
    const { rsin } = member
    const began = performance.now()
    const call = callerAt(api.port, member)
    await call('GET', '/catalogi/api/v1/catalogussen')
    opened.push(performance.now() - began)
    member.zaaktype ??= await zaaktypeAt(call)
    const body = JSON.stringify(zaakBody(member.zaaktype))
    const crs = { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326', 'content-type': 'application/json' }
    bodies.push({ path: '/zaken/api/v1/zaken', headers: { ...headersAt(rsin), ...crs }, body })
  }
  const sorted = opened.sort((a, b) => a - b).map(Math.round)
  console.log(`# the first request of each took ${sorted[sorted.length >> 1]} ms, at most ${sorted.at(-1)}`)
  const pool = new Pool(`http://127.0.0.1:${api.port}`, { connections: clients, pipelining: 1 })
  let next = 0
  let refused = 0
  const forSome = async (ms: number) => {
    const until = performance.now() + ms
    const statuses: number[] = []
    const client = async () => {
      while (performance.now() < until) {
        const { path, headers, body } = bodies[next++ % bodies.length]!
        const { status, text } = await post(pool, path, headers, body)
        if (status === 503) {
          refused++
          await sleep(100)
          continue
        }
        if (status !== 201) throw new Error(`${status}: ${text}`)
        statuses.push(status)
      }
    }
    const began = performance.now()
    await Promise.all(Array.from({ length: clients }, client))
    return { count: statuses.length, rate: statuses.length / ((performance.now() - began) / 1000) }
  }
  const delivered = async () => {
    for (const { database } of members)
      while ((await database.sql`select from delivery where status = 'gepland' limit 1`).length > 0) await sleep(100)
  }
  await forSome((seconds * 1000) / 3) // opens what is used, and compiles it
  await delivered()
  world.receiver.received.length = 0
  const before = await cpuOf(world, api, workers)
  const { count, rate } = await forSome(seconds * 1000)
  if (refused > 0) console.log(`# ${refused} requests were refused with 503`)
  await delivered()
  const after = await cpuOf(world, api, workers)
  world.receiver.received.length = 0
  await pool.close()
  return { rate: Math.round(rate), cpu: after.map((ms, at) => (ms - before[at]!) / count) }
}

/** A message of a made-up document. @returns its uuid, and when it was committed */
async function addMessage({ database }: Member): Promise<{ id: string; at: number }> {
  const uuid = randomUUID()
  const url = `http://localhost/documenten/api/v1/enkelvoudiginformatieobjecten/${uuid}`
  await mutator(database)(systemActor('bench', 'http://localhost'), async (m) => {
    const document = { component: 'drc', actie: 'create', resource: 'enkelvoudiginformatieobject' } as const
    const kenmerken = { bronorganisatie: '517439943' }
    m.record({
      ...{ ...document, url, uuid, weergave: 'document', oud: null, nieuw: { url } },
      kanaal: { naam: 'documenten', kenmerken },
    })
  })
  const at = performance.timeOrigin + performance.now()
  const [row] = await database.sql<{ uuid: string }[]>`select uuid from notificatie where hoofd_object_uuid = ${uuid}`
  return { id: row!.uuid, at }
}

async function arrived(receiver: Receiver, { id, at }: { id: string; at: number }): Promise<number> {
  for (;;) {
    const found = receiver.received.find((one) => one.id === id)
    if (found) return found.at - at
    await sleep(2)
  }
}

const part = (all: number[], share: number) =>
  Math.round(all.toSorted((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * share))]!)

async function benchMessages(world: World, all: Member[]): Promise<void> {
  await withWorkers(env(world), 1, async (workers) => {
    await sleep(LOOKED_MS)
    await untilQuiet(workers, all.length)
    const delays: number[] = []
    for (const member of all.slice(0, 8)) delays.push(await arrived(world.receiver, await addMessage(member)))
    figure(
      `first message of a quiet organisation of ${all.length}, median and most`,
      `${part(delays, 0.5)} and ${part(delays, 1)} ms`,
    )
  })
}

/** Messages of one organisation, alone and while another imports; then two that import at once. */
async function benchImports(world: World, all: Member[], rows: number): Promise<void> {
  const [busy, other] = all as [Member, Member | undefined]
  if (!other) return
  await withApi(env(world), async ({ port }) => {
    const givenRows = async (member: Member) => {
      const call = callerAt(port, member)
      const importDir = join(world.directory, 'import', member.rsin)
      await mkdir(importDir)
      writeFiles(importDir, rows)
      const csv = join(world.directory, `${member.rsin}.csv`)
      return { call, csv, type: await givenType({ call }) }
    }
    const [mine, theirs] = [await givenRows(busy), await givenRows(other)]
    await withWorkers(env(world), 1, async (workers) => {
      const messages = async () => {
        const delays: number[] = []
        for (let nth = 0; nth < MESSAGES; nth++) {
          delays.push(await arrived(world.receiver, await addMessage(other)))
          await sleep(100)
        }
        return delays
      }
      await messages() // compiles what is used
      const alone = await messages()
      await writeCsv(mine.csv, rows, mine.type)
      const importing = runImport(mine, mine.csv)
      await sleep(2000)
      const beside = await messages()
      const { seconds, upload } = await importing
      const rate = Math.round(rows / (seconds - upload))
      const told = (delays: number[]) => `${part(delays, 0.5)} and ${part(delays, 0.9)} ms`
      figure('messages of one organisation alone, median and 90 %', told(alone))
      figure(`while another imports ${rows} rows (${rate} rows/s)`, told(beside), '20 % more')
      for (const { csv, type } of [mine, theirs]) await writeCsv(csv, rows, type)
      const shares = await importBoth([busy, other], rows, () =>
        Promise.all([mine, theirs].map((one) => runImport(one, one.csv))),
      )
      figure(`two that import ${rows} rows at once, of what both did until the first was done`, shares, '40 to 60 %')
      const memory = await memoryOf(workers[0]!.child.pid!)
      figure('memory of the worker after these imports', `${memory.now} MB, at most ${memory.most} MB`, '450 MB')
    })
  })
}

/** What each did from when both began until one was done. */
async function importBoth(both: [Member, Member], rows: number, run: () => Promise<unknown>): Promise<string> {
  const doneBy = async ({ database: { sql } }: Member) => {
    const [row] = await sql<{ count: number }[]>`select count(*)::int as count from enkelvoudiginformatieobject_versie`
    return row!.count
  }
  const before = await Promise.all(both.map(doneBy))
  const began = performance.now()
  const running = run()
  let starts: number[] | undefined
  for (;;) {
    const done = (await Promise.all(both.map(doneBy))).map((count, at) => count - before[at]!) as [number, number]
    if (!starts && done.every((count) => count > 0)) starts = done
    if (done.some((count) => count >= rows)) {
      const own = done.map((count, at) => count - (starts?.[at] ?? 0)) as [number, number]
      const sum = own[0] + own[1]
      await running
      return `${own.map((count) => `${Math.round((100 * count) / sum)} %`).join(' and ')}, ${Math.round(sum / ((performance.now() - began) / 1000))} rows/s together`
    }
    await sleep(200)
  }
}
