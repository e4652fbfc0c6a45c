// npm run bench notifications: how fast changes are accepted while their notifications go out, and how soon those arrive.
//
// One api, one worker, one receiver and the clients, each a process or thread of its own, on an embedded database that
// writes to disk as it does in production. Beside it, in the same run, the same SQL transaction without the service. With
// --pressure two processes burn CPU meanwhile.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import type { Sql } from 'postgres'
import { Pool } from 'undici'
import { signToken } from '../src/autorisaties/clients.ts'
import { type Database, openDatabase } from '../src/database/database.ts'
import { startEmbedded } from '../src/database/embedded.ts'
import { migrate } from '../src/database/migrate.ts'
import { type Mutation, mutator } from '../src/database/mutate.ts'
import { systemActor } from '../src/http/access.ts'
import { figure } from './figures.ts'

export type Stack = {
  address: string
  databaseUrl: string
  database: Database
  token: string
  /** Process ids: of the api, of the worker, and of the first process of PostgreSQL. */
  pids: { api: number; worker: number; postgres: number }
  /** Ends everything and removes its files. */
  stop(): Promise<void>
}
/** What is created: the request, and the same change in SQL. */
export type Scenario = {
  name: string
  path: string
  headers: Record<string, string>
  body(): unknown
  /** What the transactions need, on an empty database. */
  prepare(m: Mutation): Promise<void>
  sql(m: Mutation): Promise<void>
}

const CLIENT = 'bench'
const SECRET = randomBytes(32).toString('hex')

export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      seconds: { type: 'string', default: '60' },
      clients: { type: 'string', default: '10,20,40' },
      pressure: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(
      'Options: --seconds 60 (per number of clients), --clients 10,20,40, --pressure (two processes burn CPU)',
    )
    return
  }
  const receiver = await receiverThread()
  const stack = await startStack(receiver.root)
  try {
    const scenario = await chooseScenario(stack)
    console.log(
      `creating: ${scenario.name}; ${values.seconds} s each${values.pressure ? '; two processes burn CPU' : ''}`,
    )
    console.log(
      'clients  created/s  refused  limit/s  ratio   median    p99   undelivered  repeated  ms of CPU per change: api  worker  database  idle in transaction  waiting to notify',
    )
    for (const clients of values.clients.split(',').map(Number)) {
      const burning = values.pressure ? burn(2) : []
      const before = await cpuTimes(stack)
      const watch = watchConnections(stack.database.sql)
      const created = await drive(stack, scenario, clients, Number(values.seconds) * 1000)
      const connections = await watch.stop()
      await delivered(stack.database.sql)
      const after = await cpuTimes(stack)
      for (const process of burning) process.kill()
      const cpu = (part: keyof typeof after) => ((after[part] - before[part]) / created.count).toFixed(2)
      const arrivals = await receiver.take()
      const { delays, undelivered } = await compare(stack.database.sql, arrivals)
      const repeated = arrivals.length - new Set(arrivals.map(([id]) => id)).size
      const rate = created.count / created.seconds
      const limit = await driveSql(
        stack.databaseUrl,
        scenario,
        clients,
        Math.min(15_000, Number(values.seconds) * 1000),
      )
      console.log(
        [
          String(clients).padStart(7),
          rate.toFixed(0).padStart(10),
          String(created.refused).padStart(8),
          limit.toFixed(0).padStart(8),
          (rate / limit).toFixed(2).padStart(6),
          `${quantile(delays, 0.5).toFixed(1)} ms`.padStart(9),
          `${quantile(delays, 0.99).toFixed(1)} ms`.padStart(8),
          String(undelivered).padStart(12),
          String(repeated).padStart(9),
          cpu('api').padStart(26),
          cpu('worker').padStart(7),
          cpu('postgres').padStart(9),
          connections.idle.toFixed(2).padStart(20),
          connections.notify.toFixed(2).padStart(18),
        ].join(' '),
      )
      const perChange = ['api', 'worker', 'postgres'].map((part) => Number(cpu(part as keyof typeof after)))
      const total = perChange.reduce((sum, one) => sum + one, 0)
      figure(`cases at ${clients} clients, of the limit`, (rate / limit).toFixed(2), '0.7 or more')
      figure(`CPU of a change at ${clients} clients`, `${total.toFixed(2)} ms`, '2.0 ms')
      figure(`connections idle in transaction at ${clients} clients`, connections.idle.toFixed(2), 'below 0.5')
      figure(
        `notifications at ${clients} clients, median and p99`,
        `${quantile(delays, 0.5).toFixed(0)} and ${quantile(delays, 0.99).toFixed(0)} ms`,
        values.pressure ? 'p99 below 500 ms' : 'below 10 and 50 ms',
      )
      await stack.database.sql`truncate notificatie, levering, notificatie_poging`
    }
  } finally {
    await stack.stop()
    await receiver.stop()
  }
}

/** The service as api and worker, each a process of its own. */
export async function startStack(receiverRoot: string, env: Record<string, string> = {}): Promise<Stack> {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-bench-'))
  await chmod(directory, 0o711)
  const embedded = await startEmbedded(join(directory, 'data'), {
    settings: ['track_commit_timestamp=on', 'max_connections=300'],
  })
  await migrate(embedded.url)
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  const shared = {
    ...process.env,
    DATABASE_URL: embedded.url,
    DATA_DIR: join(directory, 'data'),
    PORT: String(port),
    SECRET_KEY: randomBytes(32).toString('hex'),
    BOOTSTRAP_CLIENT_ID: CLIENT,
    BOOTSTRAP_CLIENT_SECRET: SECRET,
    NOTIFICATIONS_API_ROOT: receiverRoot,
    NOTIFICATIONS_CLIENT_ID: 'zaakstroom',
    NOTIFICATIONS_SECRET: randomBytes(32).toString('hex'),
    LOG_LEVEL: 'error',
    ...env,
  }
  const run = (command: string) =>
    spawn(process.execPath, [join(import.meta.dirname, '../src/main.ts'), command], {
      env: shared,
      stdio: ['ignore', 'inherit', 'inherit'],
    })
  const processes = [run('api'), run('worker')]
  const database = openDatabase(embedded.url, { max: 3, name: 'bench' })
  try {
    await ready(processes[0]!, address)
    while ((await database.sql`select from worker`).length < 2) await sleep(100)
  } catch (error) {
    await stop()
    throw error
  }
  const [postmaster] = (await readFile(join(directory, 'data', 'postgres', 'postmaster.pid'), 'utf8')).split('\n')
  const pids = { api: processes[0]!.pid!, worker: processes[1]!.pid!, postgres: Number(postmaster) }
  return { address, databaseUrl: embedded.url, database, token: signToken(CLIENT, SECRET), pids, stop }

  async function stop(): Promise<void> {
    await Promise.all(processes.map(end))
    await database.close()
    await embedded.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

/** Processes that do nothing but use the machine. */
function burn(count: number): ChildProcess[] {
  return Array.from({ length: count }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }))
}

/** Milliseconds of CPU used so far, by part. Zero where there is no /proc. */
async function cpuTimes({ pids }: Stack): Promise<Record<keyof Stack['pids'], number>> {
  const all = await readdir('/proc').catch(() => [])
  const times = new Map<number, { parent: number; ms: number }>()
  for (const pid of all.map(Number).filter(Boolean)) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index] ?? 0), 0) // with children that ended
    times.set(pid, { parent: Number(fields[1]), ms: ticks * 10 })
  }
  const own = (pid: number) => times.get(pid)?.ms ?? 0
  const family = [...times.values()].filter(({ parent }) => parent === pids.postgres)
  return {
    api: own(pids.api),
    worker: own(pids.worker),
    postgres: own(pids.postgres) + family.reduce((sum, { ms }) => sum + ms, 0),
  }
}

/** How many connections of the api wait for it in a transaction, and how many of all wait for their turn to notify. */
function watchConnections(sql: Sql): { stop(): Promise<{ idle: number; notify: number }> } {
  let samples = 0
  const sum = { idle: 0, notify: 0 }
  let going = true
  const done = (async () => {
    while (going) {
      const [row] = await sql`
        select count(*) filter (where state = 'idle in transaction' and application_name = 'zaakstroom api')::int as idle,
          count(*) filter (where wait_event_type = 'Lock' and wait_event = 'object')::int as notify
        from pg_stat_activity where datname = current_database()`
      samples++
      sum.idle += row!.idle
      sum.notify += row!.notify
      await sleep(20)
    }
  })()
  return {
    stop: async () => {
      going = false
      await done
      return { idle: sum.idle / samples, notify: sum.notify / samples }
    },
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

async function ready(child: ChildProcess, address: string): Promise<void> {
  while (child.exitCode === null) {
    const response = await fetch(`${address}/readyz`).catch(() => undefined)
    if (response?.ok) return
    await sleep(100)
  }
  throw new Error(`the api ended with ${child.exitCode}`)
}

/** Creates without pause from so many clients at once; an answer other than 201 counts as refused. */
export async function drive(stack: Stack, scenario: Scenario, clients: number, ms: number) {
  const pool = new Pool(stack.address, { connections: clients, pipelining: 1 })
  const headers = { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json', ...scenario.headers }
  const began = performance.now()
  let count = 0
  let refused = 0
  const client = async () => {
    while (performance.now() - began < ms) {
      const { status, text } = await post(pool, scenario.path, headers, JSON.stringify(scenario.body()))
      if (status === 201) count++
      else if (refused++ === 0) console.error(`refused: ${status} ${text.slice(0, 500)}`)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  const seconds = (performance.now() - began) / 1000
  await pool.close()
  return { count, refused, seconds }
}

// Without the streams of `request`: what the clients use of the machine, the service cannot.
function post(pool: Pool, path: string, headers: Record<string, string>, body: string) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const chunks: Buffer[] = []
    let status = 0
    pool.dispatch(
      { method: 'POST', path, headers, body },
      {
        onRequestStart: () => {},
        onResponseStart: (_controller, statusCode) => {
          status = statusCode
        },
        onResponseData: (_controller, chunk) => chunks.push(chunk),
        onResponseEnd: () => resolve({ status, text: status === 201 ? '' : Buffer.concat(chunks).toString() }),
        onResponseError: (_controller, error) => reject(error),
      },
    )
  })
}

/** The same transactions, from as many connections, on a database of their own; how many a second. */
async function driveSql(databaseUrl: string, scenario: Scenario, clients: number, ms: number): Promise<number> {
  const name = `limit_${randomBytes(4).toString('hex')}`
  const admin = openDatabase(databaseUrl, { max: 1, name: 'bench' })
  await admin.sql.unsafe(`create database ${name}`)
  const url = Object.assign(new URL(databaseUrl), { pathname: `/${name}` }).href
  await migrate(url)
  const database = openDatabase(url, { max: clients, name: 'bench' })
  try {
    const mutate = mutator(database)
    const actor = systemActor('bench', 'http://127.0.0.1:8000')
    await mutate(actor, async (m) => {
      m.unrecorded('set-up')
      await m.sql`insert into catalogus (domein, rsin, contactpersoon_beheer_naam) values ('BENCH', '000000000', 'x')`
      await scenario.prepare(m)
      // As beside a sender that looks by itself while messages come: the transactions of the service wake nobody either.
      await m.sql`
        with worker as (insert into worker (naam, versie, host, pid, pool_id) values ('bench', '', '', 0, 'bench') returning id)
        insert into notificatie_zender (worker_id) select id from worker`
    })
    const began = performance.now()
    let count = 0
    const client = async () => {
      while (performance.now() - began < ms) {
        await mutate(actor, scenario.sql)
        count++
      }
    }
    await Promise.all(Array.from({ length: clients }, client))
    return (count * 1000) / (performance.now() - began)
  } finally {
    await database.close()
    await admin.sql.unsafe(`drop database ${name} with (force)`)
    await admin.close()
  }
}

export async function delivered(sql: Sql, limitMs = 120_000): Promise<void> {
  const limit = performance.now() + limitMs
  while (performance.now() < limit) {
    const [row] = await sql`select count(*) as waiting from levering where status = 'gepland'`
    if (Number(row!.waiting) === 0) return
    await sleep(100)
  }
}

// The moment of the commit is that of the audit row: it is written in the same transaction and never again.
async function compare(sql: Sql, arrivals: [string, number][]) {
  const rows = await sql`
    select n.uuid, extract(epoch from pg_xact_commit_timestamp(a.xmin))::float8 * 1000 as committed
    from notificatie n join audit a on a.hoofd_object_uuid = n.hoofd_object_uuid and a.resource_url = n.resource_url and a.actie = n.actie`
  const first = new Map<string, number>()
  for (const [id, at] of arrivals) if (!first.has(id)) first.set(id, at)
  const delays = rows.flatMap(({ uuid, committed }) => (first.has(uuid) ? [first.get(uuid)! - committed] : []))
  return { delays: delays.sort((a, b) => a - b), undelivered: rows.length - delays.length }
}

function quantile(sorted: number[], part: number): number {
  return sorted[Math.floor(part * (sorted.length - 1))] ?? Number.NaN
}

/** Zaken when there are any, or else the types of documents. */
export async function chooseScenario(stack: Stack): Promise<Scenario> {
  const call = async (path: string, body: unknown) => {
    const response = await fetch(new URL(path, stack.address), {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${path} gave ${response.status}: ${await response.text()}`)
    return ((await response.json()) as { url: string }).url
  }
  const catalogus = await call('/catalogi/api/v1/catalogussen', {
    domein: 'BENCH',
    rsin: '000000000',
    contactpersoonBeheerNaam: 'x',
  })
  const zaken = await fetch(new URL('/zaken/api/v1/zaken', stack.address))
  if (zaken.status !== 404) return zakenScenario(catalogus, call)
  return {
    name: 'informatieobjecttypen',
    prepare: async () => {},
    path: '/catalogi/api/v1/informatieobjecttypen',
    headers: {},
    body: () => ({
      catalogus,
      omschrijving: randomUUID(),
      vertrouwelijkheidaanduiding: 'openbaar',
      beginGeldigheid: '2024-01-01',
      informatieobjectcategorie: 'correspondentie',
    }),
    sql: async (m) => {
      const [row] = await m.sql`
        insert into informatieobjecttype
          (catalogus_id, omschrijving, vertrouwelijkheidaanduiding, begin_geldigheid, informatieobjectcategorie)
        select id, ${randomUUID()}, 'openbaar', '2024-01-01', 'correspondentie' from catalogus returning *`
      const url = `${m.actor.base}/catalogi/api/v1/informatieobjecttypen/${row!.uuid}`
      m.record({
        component: 'ztc',
        actie: 'create',
        resource: 'informatieobjecttype',
        url,
        uuid: row!.uuid,
        weergave: row!.omschrijving,
        kanaal: { naam: 'informatieobjecttypen', kenmerken: { catalogus: url } },
        oud: null,
        nieuw: row,
      })
    },
  }
}

async function zakenScenario(
  catalogus: string,
  call: (path: string, body: unknown) => Promise<string>,
): Promise<Scenario> {
  const zaaktype = await call('/catalogi/api/v1/zaaktypen', {
    catalogus,
    identificatie: 'BENCH',
    omschrijving: 'Melding',
    vertrouwelijkheidaanduiding: 'openbaar',
    doel: 'meten',
    aanleiding: 'een meting',
    indicatieInternOfExtern: 'extern',
    handelingInitiator: 'melden',
    onderwerp: 'melding',
    handelingBehandelaar: 'behandelen',
    doorlooptijd: 'P30D',
    opschortingEnAanhoudingMogelijk: false,
    verlengingMogelijk: false,
    publicatieIndicatie: false,
    productenOfDiensten: [],
    referentieproces: { naam: 'melding' },
    verantwoordelijke: 'beheer',
    besluittypen: [],
    gerelateerdeZaaktypen: [],
    beginGeldigheid: '2024-01-01',
    versiedatum: '2024-01-01',
  })
  await call(`${zaaktype}/publish`, {})
  return {
    name: 'zaken',
    path: '/zaken/api/v1/zaken',
    headers: { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' },
    body: () => ({
      bronorganisatie: '517439943',
      verantwoordelijkeOrganisatie: '517439943',
      zaaktype,
      startdatum: '2026-03-02',
      omschrijving: 'Losliggende stoeptegel',
      toelichting: 'Voor het gemeentehuis ligt een stoeptegel los.',
    }),
    prepare: async (m) => {
      await m.sql`
        insert into zaaktype (catalogus_id, identificatie, omschrijving, vertrouwelijkheidaanduiding, doel, aanleiding,
          indicatie_intern_of_extern, handeling_initiator, onderwerp, handeling_behandelaar, doorlooptijd,
          opschorting_en_aanhouding_mogelijk, verlenging_mogelijk, publicatie_indicatie, referentieproces_naam,
          verantwoordelijke, begin_geldigheid, versiedatum, concept)
        select id, 'BENCH', 'Melding', 'openbaar', 'meten', 'een meting', 'extern', 'melden', 'melding', 'behandelen', 'P30D',
          false, false, false, 'melding', 'beheer', '2024-01-01', '2024-01-01', false from catalogus`
    },
    // What the API does: read the type with the next number, insert the zaak, write the records.
    sql: async (m) => {
      const [type] = await m.sql`
        select t.id, t.uuid, t.vertrouwelijkheidaanduiding, c.uuid as catalogus,
          ('2026-03-02'::date + t.doorlooptijd::interval)::date as uiterlijk, zaak_identificatie('2026-03-02'::date) as nummer
        from zaaktype t join catalogus c on c.id = t.catalogus_id where t.identificatie = 'BENCH'`
      const [zaak] = await m.sql`
        insert into zaak (identificatie, bronorganisatie, verantwoordelijke_organisatie, zaaktype_id, startdatum, omschrijving,
          toelichting, vertrouwelijkheidaanduiding, uiterlijke_einddatum_afdoening)
        values (${type!.nummer}, '517439943', '517439943', ${type!.id}, '2026-03-02', 'Losliggende stoeptegel',
          'Voor het gemeentehuis ligt een stoeptegel los.', ${type!.vertrouwelijkheidaanduiding}, ${type!.uiterlijk})
        returning *`
      const url = `${m.actor.base}/zaken/api/v1/zaken/${zaak!.uuid}`
      m.record({
        component: 'zrc',
        actie: 'create',
        resource: 'zaak',
        url,
        uuid: zaak!.uuid,
        weergave: zaak!.identificatie,
        kanaal: {
          naam: 'zaken',
          kenmerken: {
            bronorganisatie: '517439943',
            zaaktype: `${m.actor.base}/catalogi/api/v1/zaaktypen/${type!.uuid}`,
            'zaaktype.catalogus': `${m.actor.base}/catalogi/api/v1/catalogussen/${type!.catalogus}`,
            vertrouwelijkheidaanduiding: type!.vertrouwelijkheidaanduiding,
          },
        },
        oud: null,
        nieuw: zaak,
      })
    },
  }
}

async function receiverThread() {
  const thread = new Worker(new URL(import.meta.url))
  const [root] = (await once(thread, 'message')) as [string]
  return {
    root,
    take: async () => {
      thread.postMessage('take')
      const [arrivals] = (await once(thread, 'message')) as [[string, number][]]
      return arrivals
    },
    stop: async () => {
      await thread.terminate()
    },
  }
}

// No more than a receiver must: it only writes down what came when.
if (!isMainThread) {
  const arrivals: [string, number][] = []
  const server = createHttpServer((request, response) => {
    request.on('end', () => {
      arrivals.push([String(request.headers['x-message-id']), performance.timeOrigin + performance.now()])
      response.writeHead(201, { 'content-length': 2 }).end('{}')
    })
    request.resume()
  })
  server.listen(0, '127.0.0.1', () => {
    parentPort!.on('message', () => parentPort!.postMessage(arrivals.splice(0)))
    parentPort!.postMessage(`http://127.0.0.1:${(server.address() as { port: number }).port}/api/v1/`)
  })
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}
