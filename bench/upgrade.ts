// npm run bench upgrade: the upgrade of docs/operations.md while clients work, on a database with many cases and documents. Two api
// and a worker of this version serve; the next version, a copy of this one with the further migrations below, migrates beside them,
// and then the processes are replaced one by one. Prints how long a client waited at most in each part, and what was refused.
//
// The clients stand behind a balancer as operators have it: it asks every api for /readyz each quarter of a second and sends
// requests to those that say 200.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import postgres from 'postgres'
import { Pool } from 'undici'
import packageJson from '../package.json' with { type: 'json' }
import { signToken } from '../src/autorisaties/clients.ts'
import { startEmbedded } from '../src/database/embedded.ts'
import { withPath } from '../test/with-path.ts'
import { figure } from './figures.ts'
import { givenMillion } from './million.ts'
import { freePort } from './service.ts'

const ROOT = join(import.meta.dirname, '..')
const BASE = 'http://localhost'
const CLIENT = 'bench'
const SECRET = randomBytes(32).toString('hex')
const PROBE_MS = 250

/**
 * What an upgrade does to large tables: a column, a check that is made valid apart, an index beside the writers, and the end of
 * something that this version does without.
 */
const NEXT: Record<string, string> = {
  '9001-column.sql': `alter table zaak add column proef text not null default '';
comment on column zaak.proef is 'Of the rehearsal.';
alter table enkelvoudiginformatieobject_versie add column proef integer;
comment on column enkelvoudiginformatieobject_versie.proef is 'Of the rehearsal.';
alter table zaak add constraint zaak_proef_check check (length(proef) < 100) not valid;`,
  '9002-validate.sql': 'alter table zaak validate constraint zaak_proef_check;',
  '9004-contract.sql': `-- works-from: ${packageJson.version}
alter table zaak drop constraint zaak_proef_check;`,
  '9003-index.sql': '-- no-transaction\ncreate index concurrently zaak_proef on zaak (proef, id);',
}

type Answer = { began: number; ms: number; kind: string; status: number | undefined }

export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      zaken: { type: 'string', default: '1000000' },
      documenten: { type: 'string', default: '500000' },
      database: { type: 'string' },
      clients: { type: 'string', default: '8' },
      pace: { type: 'string', default: '20' },
      seconds: { type: 'string', default: '10' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(
      'Options: --zaken 1000000, --documenten 500000, --database <URL of one to fill, in place of its own>, --clients 8, --pace 20 (ms between requests of a client), --seconds 10 (before and after)',
    )
    return
  }
  const stack = new AsyncDisposableStack()
  try {
    await rehearse(stack, {
      zaken: Number(values.zaken),
      documenten: Number(values.documenten),
      database: values.database,
      clients: Number(values.clients),
      pace: Number(values.pace),
      ms: Number(values.seconds) * 1000,
    })
  } finally {
    await stack.disposeAsync()
  }
}

type Options = {
  zaken: number
  documenten: number
  database: string | undefined
  clients: number
  pace: number
  ms: number
}

async function rehearse(stack: AsyncDisposableStack, options: Options): Promise<void> {
  const { zaken, documenten, database, clients, pace, ms } = options
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-bench-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  await chmod(directory, 0o711)
  const server = database
    ? undefined
    : await startEmbedded(join(directory, 'data'), { settings: ['max_connections=200'] })
  stack.defer(async () => server?.stop())
  const url = database ?? server!.url
  await givenMillion(url, { zaken, documenten })
  const sql = postgres(withPath(url), { max: 1, onnotice: () => {} })
  stack.defer(() => sql.end())
  const next = await nextVersion(directory)
  const env = {
    ...process.env,
    DATABASE_URL: url,
    DATA_DIR: join(directory, 'data'),
    DOCUMENTEN_DIR: join(directory, 'documenten'),
    PUBLIC_URL: BASE,
    SECRET_KEY: randomBytes(32).toString('hex'),
    BOOTSTRAP_CLIENT_ID: CLIENT,
    BOOTSTRAP_CLIENT_SECRET: SECRET,
    NOTIFICATIONS_DISABLED: 'true',
    LOG_LEVEL: 'error',
    STOP_DELAY_SECONDS: '2',
  }
  const children = new Set<ChildProcess>()
  stack.defer(async () => {
    await Promise.all([...children].map(end))
  })
  const run = (root: string, command: string, more: Record<string, string> = {}) => {
    const child = spawn(process.execPath, [join(root, 'src/main.ts'), command], {
      env: { ...env, ...more },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    children.add(child)
    return child
  }
  const balancer = openBalancer()
  stack.defer(balancer.close)
  const startApi = async (root: string) => {
    const port = await freePort()
    const child = run(root, 'api', { PORT: String(port) })
    await balancer.add(`http://127.0.0.1:${port}`, child)
    return child
  }
  const startWorker = async (root: string) => {
    const child = run(root, 'worker')
    while ((await sql`select from worker where pid = ${child.pid!}`).length < 2) await wait(child)
    return child
  }

  const old = [await startApi(ROOT), await startApi(ROOT), await startWorker(ROOT)]
  const load = await openLoad(sql, balancer, clients, pace)
  stack.defer(load.stop)
  const parts: { name: string; from: number; to: number }[] = []
  const part = async (name: string, work: () => Promise<unknown>) => {
    const from = performance.now()
    await work()
    parts.push({ name, from, to: performance.now() })
  }
  await sleep(1000) // statements are prepared, plans made
  await part('before', () => sleep(ms))
  await part('migrate', () => promisify(execFile)(process.execPath, [join(next, 'src/main.ts'), 'migrate'], { env }))
  await part('the version before, on the new schema', () => sleep(ms))
  await part('the worker is replaced', async () => {
    await end(old[2]!)
    await startWorker(next)
  })
  for (const which of [0, 1])
    await part(`api ${which + 1} is replaced`, async () => {
      await startApi(next)
      await end(old[which]!)
    })
  await part('after', () => sleep(ms))
  await load.stop()

  console.log(`${zaken} cases, ${documenten} documents; ${clients} clients with ${pace} ms between their requests\n`)
  console.log('part                                     seconds  requests   p99 ms  longest  refused  cut')
  for (const { name, from, to } of parts) {
    const answers = load.answers.filter(({ began }) => began >= from && began < to)
    console.log(
      [
        name.padEnd(40),
        ((to - from) / 1000).toFixed(1).padStart(7),
        String(answers.length).padStart(9),
        quantile(answers, 0.99).toFixed(0).padStart(8),
        quantile(answers, 1).toFixed(0).padStart(8),
        String(answers.filter(({ status }) => status !== undefined && status >= 400).length).padStart(8),
        String(answers.filter(({ status }) => status === undefined).length).padStart(4),
      ].join(' '),
    )
  }
  const failed = load.answers.filter(({ status }) => status === undefined || status >= 400)
  for (const [what, all] of Object.entries(Object.groupBy(failed, ({ kind, status }) => `${kind}: ${status ?? 'cut'}`)))
    console.log(`${what}, ${all!.length} times`)
  const [{ made }] = (await sql`select count(*)::int as made from zaak where omschrijving = 'rehearsal'`) as [
    { made: number },
  ]
  const told = load.answers.filter(({ kind, status }) => kind === 'create' && status === 201).length
  const during = load.answers.filter(({ began }) => began >= parts[1]!.from && began < parts.at(-1)!.from)
  figure('longest time that a client waited during the upgrade', `${quantile(during, 1).toFixed(0)} ms`, '1000 ms')
  figure('requests refused or cut', String(failed.length), '0')
  figure('cases made, and told so', `${made}, ${told}`)
  if (failed.length > 0 || made !== told) process.exitCode = 1
}

/** The program of the next version: this one, with more migrations. */
async function nextVersion(directory: string): Promise<string> {
  const root = join(directory, 'next')
  for (const one of ['src', 'tasks', 'sql', 'docs', 'package.json', 'tsconfig.json'])
    await cp(join(ROOT, one), join(root, one), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  for (const [name, text] of Object.entries(NEXT)) await writeFile(join(root, 'sql', name), `${text}\n`)
  return root
}

// ---- the clients and their balancer ----

type Balancer = ReturnType<typeof openBalancer>

function openBalancer() {
  const pools = new Map<string, { pool: Pool; ready: boolean }>()
  let turn = 0
  let over = false
  const isReady = async (address: string) => {
    const response = await fetch(`${address}/readyz`).catch(() => undefined)
    return response?.status === 200
  }
  const probing = (async () => {
    for (; !over; await sleep(PROBE_MS)) for (const [address, one] of pools) one.ready = await isReady(address)
  })()
  return {
    async add(address: string, child: ChildProcess) {
      while (!(await isReady(address))) await wait(child)
      pools.set(address, { pool: new Pool(address, { connections: 100 }), ready: true })
    },
    next(): Pool {
      const ready = [...pools.values()].filter((one) => one.ready)
      if (ready.length === 0) throw new Error('no api is ready')
      return ready[turn++ % ready.length]!.pool
    },
    async close() {
      over = true
      await probing
      await Promise.all([...pools.values()].map(({ pool }) => pool.destroy()))
    },
  }
}

/** Clients that create cases and documents, read them and list, one after the other. */
async function openLoad(sql: postgres.Sql, balancer: Balancer, clients: number, pace: number) {
  const [types] = await sql<{ zaaktype: string; soort: string }[]>`
    select (select uuid from zaaktype limit 1) as zaaktype, (select uuid from informatieobjecttype limit 1) as soort`
  const uuids = await sql<{ uuid: string }[]>`select uuid from zaak tablesample system (1) limit 1000`
  const today = new Date().toISOString().slice(0, 10)
  const zaak = JSON.stringify({
    zaaktype: `${BASE}/catalogi/api/v1/zaaktypen/${types!.zaaktype}`,
    bronorganisatie: '000000000',
    verantwoordelijkeOrganisatie: '000000000',
    omschrijving: 'rehearsal',
    startdatum: today,
  })
  const document = JSON.stringify({
    informatieobjecttype: `${BASE}/catalogi/api/v1/informatieobjecttypen/${types!.soort}`,
    bronorganisatie: '000000000',
    creatiedatum: today,
    titel: 'rehearsal',
    auteur: 'bench',
    taal: 'nld',
    bestandsnaam: 'rehearsal.txt',
    formaat: 'text/plain',
    bestandsomvang: 9,
    inhoud: Buffer.from('rehearsal').toString('base64'),
  })
  const asks: [kind: string, ask: (n: number) => { method: 'GET' | 'POST'; path: string; body?: string }][] = [
    ['create', () => ({ method: 'POST', path: '/zaken/api/v1/zaken', body: zaak })],
    ['read', (n) => ({ method: 'GET', path: `/zaken/api/v1/zaken/${uuids[n % uuids.length]!.uuid}` })],
    ['document', () => ({ method: 'POST', path: '/documenten/api/v1/enkelvoudiginformatieobjecten', body: document })],
    ['list', () => ({ method: 'GET', path: '/zaken/api/v1/zaken?pageSize=20&ordering=-startdatum' })],
  ]
  const headers = {
    authorization: `Bearer ${signToken(CLIENT, SECRET)}`,
    'accept-crs': 'EPSG:4326',
    'content-crs': 'EPSG:4326',
  }
  const answers: Answer[] = []
  let over = false
  const client = async (which: number) => {
    for (let n = which; !over; n += 7) {
      const [kind, ask] = asks[n % asks.length]!
      const { body, ...request } = ask(n)
      const began = performance.now()
      const status = await balancer
        .next()
        .request({ ...request, headers: { ...headers, ...(body && { 'content-type': 'application/json' }) }, body })
        .then(async (answer) => {
          const text = await answer.body.text()
          if (answer.statusCode >= 400) console.error(`${kind}: ${answer.statusCode} ${text.slice(0, 300)}`)
          return answer.statusCode
        })
        .catch((error: Error) => {
          console.error(`${kind}: ${error.message}`)
          return undefined
        })
      answers.push({ began, ms: performance.now() - began, kind, status })
      await sleep(pace)
    }
  }
  const running = Array.from({ length: clients }, (_, which) => client(which))
  return {
    answers,
    async stop() {
      over = true
      await Promise.all(running)
    },
  }
}

function quantile(answers: Answer[], part: number): number {
  const times = answers.map(({ ms }) => ms).sort((a, b) => a - b)
  return times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0
}

async function wait(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) throw new Error(`a process ended with ${child.exitCode}`)
  await sleep(100)
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}
