// What the benchmarks of notifications share: the service as api and worker, and clients that create.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes, randomUUID, randomUUIDv7 } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { Pool } from 'undici'
import { signToken } from '../src/autorisaties/clients.ts'
import { Last, type Mutation } from '../src/core/mutate.ts'
import { type Database, openDatabase } from '../src/database/database.ts'
import { startEmbedded } from '../src/database/embedded.ts'
import { migrate } from '../src/database/migrate.ts'
import { freePort } from './service.ts'
import { zaakBody, zaaktypeBody } from './zaaktype.ts'

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
  sql(m: Mutation): Promise<unknown>
}

const CLIENT = 'bench'
const SECRET = randomBytes(32).toString('hex')

/** The service as api and worker, each a process of its own. */
export async function startStack(
  receiverRoot: string,
  env: Record<string, string> = {},
  settings: string[] = [],
): Promise<Stack> {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-bench-'))
  await chmod(directory, 0o711)
  const embedded = await startEmbedded(join(directory, 'data'), {
    settings: ['track_commit_timestamp=on', 'max_connections=300', ...settings],
  })
  await migrate(embedded.url)
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  const shared = {
    ...process.env,
    DATABASE_URL: embedded.url,
    ALLOWED_PRIVATE_HOSTS: 'localhost,127.0.0.0/8,::1', // its receivers
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

/** Milliseconds of CPU used so far, by part. Zero where there is no /proc. */
export async function cpuTimes<Part extends string | number>({
  pids,
}: {
  pids: Record<Part | 'postgres', number>
}): Promise<Record<Part | 'postgres', number>> {
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
  const parts = Object.entries<number>(pids).map(([part, pid]) => [part, own(pid)])
  return {
    ...Object.fromEntries(parts),
    postgres: own(pids.postgres) + family.reduce((sum, { ms }) => sum + ms, 0),
  }
}

/** Keeps the program to the first core and PostgreSQL to the second; what else there is goes where there is room. Linux only. */
export async function pin({ api, postgres }: { api: number; postgres: number }): Promise<void> {
  const backends = (await readFile(`/proc/${postgres}/task/${postgres}/children`, 'utf8')).trim().split(' ')
  for (const [core, pid] of [[0, api], ...[postgres, ...backends].map((pid) => [1, pid])] as [number, number][]) {
    const { status, stderr } = spawnSync('taskset', ['-acp', String(core), String(pid)], { encoding: 'utf8' })
    if (status !== 0 && !stderr.includes('No such process')) throw new Error(`taskset: ${stderr}`)
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

/**
 * Creates without pause from so many clients at once; an answer other than 201 counts as refused.
 * @param isKeyed each request has an Idempotency-Key of its own
 * @returns `median`: of the time until an answer, in ms
 */
export async function drive(stack: Stack, scenario: Scenario, clients: number, ms: number, isKeyed = false) {
  const pool = new Pool(stack.address, { connections: clients, pipelining: 1 })
  const headers = { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json', ...scenario.headers }
  const began = performance.now()
  let count = 0
  let refused = 0
  const times: number[] = []
  const client = async () => {
    for (let now = performance.now(); now - began < ms; ) {
      const sent = isKeyed ? { ...headers, 'idempotency-key': randomUUID() } : headers
      const { status, text } = await post(pool, scenario.path, sent, JSON.stringify(scenario.body()))
      if (status === 201) count++
      else if (refused++ === 0) console.error(`refused: ${status} ${text.slice(0, 500)}`)
      const asked = now
      now = performance.now()
      times.push(now - asked)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  const seconds = (performance.now() - began) / 1000
  await pool.close()
  return {
    count,
    refused,
    seconds,
    median: quantile(
      times.sort((a, b) => a - b),
      0.5,
    ),
  }
}

// Without the streams of `request`: what the clients use of the machine, the service cannot.
export function post(pool: Pool, path: string, headers: Record<string, string>, body: string) {
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

export async function delivered(sql: Sql, limitMs = 120_000): Promise<void> {
  const limit = performance.now() + limitMs
  while (performance.now() < limit) {
    const [row] = await sql`select count(*) as waiting from delivery where status = 'gepland'`
    if (Number(row!.waiting) === 0) return
    await sleep(100)
  }
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
  const zaaktype = await call('/catalogi/api/v1/zaaktypen', zaaktypeBody(catalogus, 'BENCH'))
  await call(`${zaaktype}/publish`, {})
  return {
    name: 'zaken',
    path: '/zaken/api/v1/zaken',
    headers: { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' },
    body: () => zaakBody(zaaktype),
    prepare: async (m) => {
      await m.sql`
        insert into zaaktype (catalogus_id, identificatie, omschrijving, vertrouwelijkheidaanduiding, doel, aanleiding,
          indicatie_intern_of_extern, handeling_initiator, onderwerp, handeling_behandelaar, doorlooptijd,
          opschorting_en_aanhouding_mogelijk, verlenging_mogelijk, publicatie_indicatie, referentieproces_naam,
          verantwoordelijke, begin_geldigheid, versiedatum, concept)
        select id, 'BENCH', 'Melding', 'openbaar', 'meten', 'een meting', 'extern', 'melden', 'melding', 'behandelen', 'P30D',
          false, false, false, 'melding', 'beheer', '2024-01-01', '2024-01-01', false from catalogus`
    },
    // What the API does, which keeps the type in memory: one statement that inserts the zaak and writes the records.
    sql: async (m) => {
      const uuid = randomUUIDv7()
      const url = `${m.actor.base}/zaken/api/v1/zaken/${uuid}`
      return new Last({
        insert: (sql) => sql`gemaakt as (
          insert into zaak (uuid, identificatie, bronorganisatie, verantwoordelijke_organisatie, zaaktype_id, startdatum,
            omschrijving, toelichting, vertrouwelijkheidaanduiding, uiterlijke_einddatum_afdoening)
          select ${uuid}, zaak_identificatie('2026-03-02'::date), '517439943', '517439943', t.id, '2026-03-02',
            'Losliggende stoeptegel', 'Voor het gemeentehuis ligt een stoeptegel los.', 'openbaar', '2026-04-01'
          from zaaktype t where t.identificatie = 'BENCH'
          returning id, identificatie as weergave, to_jsonb(zaak) as nieuw)`,
        change: {
          component: 'zrc',
          actie: 'create',
          resource: 'zaak',
          url,
          uuid,
          kanaal: {
            naam: 'zaken',
            kenmerken: {
              bronorganisatie: '517439943',
              zaaktype: `${m.actor.base}/catalogi/api/v1/zaaktypen/${uuid}`,
              'zaaktype.catalogus': `${m.actor.base}/catalogi/api/v1/catalogussen/${uuid}`,
              vertrouwelijkheidaanduiding: 'openbaar',
            },
          },
          oud: null,
          nieuw: {},
        },
      })
    },
  }
}

/** @param sorted from low to high */
export function quantile(sorted: number[], part: number): number {
  return sorted[Math.floor(part * (sorted.length - 1))] ?? Number.NaN
}
