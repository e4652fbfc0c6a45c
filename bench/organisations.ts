// npm run bench organisations: one worker for many organisations, each a schema of one database: its connections, memory and CPU while
// nothing happens, how long a message of one that was quiet takes, and what others notice while one imports.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { signToken } from '../src/autorisaties/clients.ts'
import { findSecretBox } from '../src/cli/server.ts'
import { readConfig } from '../src/config.ts'
import { systemActor } from '../src/core/access.ts'
import { mutator } from '../src/core/mutate.ts'
import { secretBox } from '../src/core/secret-box.ts'
import { type Database, openDatabase } from '../src/database/database.ts'
import { startEmbedded } from '../src/database/embedded.ts'
import { migrate, migrateControl } from '../src/database/migrate.ts'
import { withSchema } from '../src/database/schema.ts'
import { saveSettings } from '../src/notificaties/settings.ts'
import { makeOrganisation } from '../src/organisations/make.ts'
import { changeOrganisations, controlUrlOf, insertOrganisation, openControl } from '../src/organisations/registry.ts'
import { saveService } from '../src/services/register.ts'
import { figure } from './figures.ts'
import { runImport, writeCsv, writeFiles } from './import.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { CLIENT, freePort, givenType, type Service } from './service.ts'
import { cpuTimes } from './stack.ts'

const KEY = 'key of the installation, long enough'
const DATA_KEYS = `bench:${Buffer.alloc(32, 7).toString('base64')}`
const SECRET = 'a secret of the benchmark, long enough'
const QUIET_S = 10
const MESSAGES = 40

/**
 * `--organisations 1,10,50`: how many, one after the other; 342 take ten minutes to make and 8 GB of the disk. `--rows 20000`: of the import
 * that others are measured beside; 0: none.
 */
export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      organisations: { type: 'string', default: '1,10,50' },
      rows: { type: 'string', default: '20000' },
      workers: { type: 'string', default: '1' },
    },
  })
  const counts = values.organisations.split(',').map(Number)
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-bench-'))
  await chmod(directory, 0o711)
  await mkdir(join(directory, 'import'))
  const embedded = await startEmbedded(join(directory, 'data'), { settings: ['max_connections=500'] })
  const receiver = await startReceiver()
  const control = openControl(embedded.url)
  const all: Member[] = []
  try {
    await migrateControl(controlUrlOf(embedded.url))
    const postmaster = await readFile(join(directory, 'data', 'postgres', 'postmaster.pid'), 'utf8')
    const world = { directory, url: embedded.url, control, postgres: Number(postmaster.split('\n')[0]) }
    for (const count of counts) {
      const began = performance.now()
      const before = all.length
      for (let nth = before; nth < count; nth++) all.push(await addMember(world, nth, receiver))
      const made = (performance.now() - began) / Math.max(1, count - before)
      if (count >= 10) figure(`making an organisation, of ${count}`, `${(made / 1000).toFixed(1)} s`, 'seconds')
      await benchQuiet(world, count, Number(values.workers))
    }
    const again = performance.now()
    for (const { url } of all) await migrate(url)
    figure(`migrating ${all.length} that are up to date`, `${((performance.now() - again) / 1000).toFixed(1)} s`)
    await benchMessages(world, all, receiver)
    if (Number(values.rows) > 0) await benchBeside(world, all, receiver, Number(values.rows))
  } finally {
    await Promise.all(all.map(({ database }) => database.close()))
    await control.close()
    await receiver.stop()
    await embedded.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

type World = { directory: string; url: string; control: Database; postgres: number }
type Member = { rsin: string; schema: string; url: string; database: Database }

async function addMember({ url, control }: World, nth: number, receiver: Receiver): Promise<Member> {
  const rsin = String(100_000_000 + nth)
  const schema = `org_${rsin}`
  const own = withSchema(url, schema)
  await makeOrganisation(own, { hasFeed: true })
  const database = openDatabase(own, { max: 1, name: 'bench', idleSeconds: 1 })
  const box = await findSecretBox(readConfig({ DATA_KEYS }), false)
  await mutator(database)(systemActor('bench'), async (m) => {
    const auth = { authenticatie: 'zgw', clientId: 'bench', secret: SECRET, timeoutMs: 10_000 } as const
    await saveService(m, box, { label: 'NRC', slug: 'nrc', soort: 'nrc', apiRoot: receiver.root, ...auth })
    await saveSettings(m, { dienst: 'nrc' })
  })
  await changeOrganisations(control, { rsin, actor: 'bench', action: 'add' }, (trx) =>
    insertOrganisation(trx, secretBox(KEY), {
      ...{ rsin, name: rsin, hosts: [`o${rsin}.example`], schema, limits: {}, databaseUrl: url },
      ...{ dataKeys: DATA_KEYS, settings: {} },
    }),
  )
  return { rsin, schema, url: own, database }
}

const env = (world: World) => ({
  ...process.env,
  CONTROL_DATABASE_URL: world.url,
  DATABASE_URL: '',
  SECRET_KEY: KEY,
  DATA_DIR: join(world.directory, 'organisations'),
  IMPORT_DOCUMENTEN_BASE_DIR: join(world.directory, 'import'),
  ALLOWED_PRIVATE_HOSTS: 'localhost,127.0.0.0/8,::1',
  MALLOC_ARENA_MAX: '2', // as in the image
  MALLOC_MMAP_THRESHOLD_: '262144',
  LOG_LEVEL: 'error',
})

const run = (command: string, given: NodeJS.ProcessEnv): ChildProcess =>
  spawn(process.execPath, [join(import.meta.dirname, '../src/main.ts'), command], {
    env: given,
    stdio: ['ignore', 'inherit', 'inherit'],
  })

async function withWorkers<T>(world: World, count: number, work: (workers: Working[]) => Promise<T>): Promise<T> {
  const workers: Working[] = []
  for (let nth = 0; nth < count; nth++) {
    const port = await freePort()
    workers.push({ child: run('worker', { ...env(world), WORKER_HEALTH_PORT: `${port}` }), port })
  }
  try {
    for (const { port } of workers)
      while (!(await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.ok) await sleep(100)
    return await work(workers)
  } finally {
    for (const { child } of workers) {
      child.kill('SIGTERM')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    }
  }
}
type Working = { child: ChildProcess; port: number }

/** Waits until nothing waits, and runners are open for what comes by the clock alone. */
async function untilQuiet(workers: Working[], organisations: number, limitMs = 600_000): Promise<void> {
  const late = performance.now() + limitMs
  const most = Math.floor(organisations / 50)
  for (const { port } of workers) {
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`)
      const { checks } = (await answer.json()) as { checks: { organisations: { detail: string } } }
      const [open, waiting] = checks.organisations.detail.match(/\d+/g)!.map(Number) as [number, number]
      if (open <= most && waiting === 0) break
      if (performance.now() > late) throw new Error(`not quiet: ${checks.organisations.detail}`)
      await sleep(200)
    }
  }
}

async function connectionsOf({ control: { sql } }: World): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
    where application_name like 'zaakstroom %' and application_name <> 'zaakstroom bench' and pid <> pg_backend_pid()`
  return row!.count
}

async function memoryOf(pid: number): Promise<{ now: number; most: number }> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8')
  const megabytes = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(text)?.[1]) / 1024)
  return { now: megabytes('VmRSS'), most: megabytes('VmHWM') }
}

async function benchQuiet(world: World, count: number, atOnce: number): Promise<void> {
  await withWorkers(world, atOnce, async (workers) => {
    let most = 0
    const watching = setInterval(async () => {
      most = Math.max(most, await connectionsOf(world).catch(() => 0))
    }, 250)
    await sleep(20_000) // until it has looked at all
    await untilQuiet(workers, count)
    clearInterval(watching)
    const pids = { worker: workers[0]!.child.pid!, postgres: world.postgres }
    const before = await cpuTimes({ pids })
    await sleep(QUIET_S * 1000)
    const after = await cpuTimes({ pids })
    const open = await connectionsOf(world)
    const memory = await memoryOf(pids.worker)
    const perSecond = (part: 'worker' | 'postgres') => ((after[part] - before[part]) / QUIET_S).toFixed(1)
    const named = `${count} quiet organisations, ${atOnce} ${atOnce > 1 ? 'workers' : 'worker'}`
    figure(`connections, ${named}`, `${open}, at most ${most}`, count > 50 ? '1,000' : '250 of two workers')
    figure(`memory, ${named}`, `${memory.now} MB, at most ${memory.most} MB`, count > 50 ? '900 MB' : '450 MB')
    figure(`CPU a second, ${named}`, `worker ${perSecond('worker')} ms, PostgreSQL ${perSecond('postgres')} ms`)
  })
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

async function benchMessages(world: World, all: Member[], receiver: Receiver): Promise<void> {
  await withWorkers(world, 1, async (workers) => {
    await sleep(20_000) // until it has looked at all
    await untilQuiet(workers, all.length)
    const delays: number[] = []
    for (const member of all.slice(0, 8)) delays.push(await arrived(receiver, await addMessage(member)))
    figure(
      `first message of a quiet organisation of ${all.length}, median and most`,
      `${part(delays, 0.5)} and ${part(delays, 1)} ms`,
    )
  })
}

/** Messages of one organisation, alone and while another imports. */
async function benchBeside(world: World, all: Member[], receiver: Receiver, rows: number): Promise<void> {
  const [busy, other] = all as [Member, Member | undefined]
  if (!other) return
  const importDir = join(world.directory, 'import', busy.rsin)
  await mkdir(importDir)
  const address = `http://127.0.0.1:${await freePort()}`
  const api = run('api', {
    ...env(world),
    CONTROL_DATABASE_URL: '',
    DATABASE_URL: world.url,
    DATABASE_SCHEMA: busy.schema,
    SECRET_KEY: '',
    DATA_KEYS,
    DATA_DIR: join(world.directory, 'organisations', busy.rsin),
    DOCUMENTEN_DIR: join(world.directory, 'organisations', 'documenten', busy.rsin),
    IMPORT_DOCUMENTEN_BASE_DIR: importDir,
    PORT: new URL(address).port,
    BOOTSTRAP_CLIENT_ID: CLIENT,
    BOOTSTRAP_CLIENT_SECRET: SECRET,
  })
  try {
    while (!(await fetch(`${address}/readyz`).catch(() => undefined))?.ok) await sleep(100)
    const call: Service['call'] = async (method, url, body, headers = {}) => {
      const isJson = body !== undefined && !(body instanceof ReadableStream)
      const authorization = `Bearer ${signToken(CLIENT, SECRET)}`
      const response = await fetch(new URL(url, address), {
        method,
        headers: { authorization, ...(isJson && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: (isJson ? JSON.stringify(body) : body) as string, duplex: 'half' }),
      })
      if (!response.ok) throw new Error(`${method} ${url} gave ${response.status}: ${await response.text()}`)
      return response
    }
    const type = await givenType({ call })
    writeFiles(importDir, rows)
    const csv = join(world.directory, 'import.csv')
    await writeCsv(csv, rows, type)
    await withWorkers(world, 1, async (workers) => {
      const messages = async () => {
        const delays: number[] = []
        for (let nth = 0; nth < MESSAGES; nth++) {
          delays.push(await arrived(receiver, await addMessage(other)))
          await sleep(100)
        }
        return delays
      }
      await messages() // compiles what is used
      const alone = await messages()
      const importing = runImport({ call }, csv)
      await sleep(2000)
      const beside = await messages()
      const { seconds, upload } = await importing
      const rate = Math.round(rows / (seconds - upload))
      const told = (delays: number[]) => `${part(delays, 0.5)} and ${part(delays, 0.9)} ms`
      figure('messages of one organisation alone, median and 90 %', told(alone))
      figure(`while another imports ${rows} rows (${rate} rows/s)`, told(beside), '20 % more')
      const memory = await memoryOf(workers[0]!.child.pid!)
      figure('memory of the worker after that import', `${memory.now} MB, at most ${memory.most} MB`, '450 MB')
    })
  } finally {
    api.kill('SIGTERM')
    await once(api, 'exit')
  }
}
