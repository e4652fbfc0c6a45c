// Slow: it kills workers, and takes the database down twice.
// An import whose workers are killed again and again, frozen once, and whose database goes down twice, ends by itself
// with the report of an undisturbed run. So do those that wait for their turn. Real processes, a real server, and a seed to repeat the moments: KILL_SEED=… node test/….
// It starts and kills workers.
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pino from 'pino'
import postgres, { type Sql } from 'postgres'
import t, { type Test } from 'tap'
import { createClient, signToken } from '../../src/autorisaties/clients.ts'
import { runApi } from '../../src/cli/run-api.ts'
import { readConfig } from '../../src/config.ts'
import { secretBox } from '../../src/core/secret-box.ts'
import { openDatabase } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import { filesystemStore } from '../../src/documenten/storage/filesystem.ts'
import { sweep } from '../../src/documenten/storage/index.ts'
import { type OwnServer, ownServer } from '../database/own-server.ts'
import { programEnv } from '../program-env.ts'
import { until } from '../until.ts'
import { withPath } from '../with-path.ts'
import { API, type CsvRow, csvText, DOCUMENTEN } from './importing.ts'

const ROWS = 3000
const BATCH = 25
const DATABASE_AWAY = 69
const KILLS = 10
const QUEUED = 4
const RESUME_MS = 120_000
const IMPORT_MS = 240_000
const SECRET = 'a secret that only the tests know, 32+'
const KEY = 'key of the tests, long enough'
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const TYPE_UUID = '99999999-0000-4000-8000-000000000001'
// The same in both runs, so that the report is: nobody listens there, it only stands in links.
const PUBLIC_URL = 'http://zaakstroom.example'

const seed = Number(process.env.KILL_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.setTimeout(580_000)
t.comment(`KILL_SEED=${seed}`)
const random = randomFrom(seed)

t.test('an import survives its workers and its database', { timeout: 580_000 }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-kill-'))
  await chmod(directory, 0o711)
  t.teardown(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  const importDir = join(directory, 'import-data')
  await writeSources(importDir)
  const csv = csvText(Array.from({ length: ROWS }, (_, n) => rowOf(n)))

  const server = await ownServer(t)
  const [calm, wild] = [
    await installation(t, server, directory, 'calm', importDir),
    await installation(t, server, directory, 'wild', importDir),
  ]
  const expected = await undisturbed(t, calm, csv)
  t.match(expected.status, { status: 'finished', total: ROWS, processed: ROWS })
  const { processedSuccessfully: good } = expected.status

  const uuid = await startImport(wild, csv)
  const disturbances = shuffled([...Array(KILLS).fill('kill'), 'kill both', 'outage', 'outage', 'freeze'])
  const targets = disturbances.map(() => Math.floor(random() * ROWS * 0.95)).sort((a, b) => a - b)
  const workers = [await startWorker(t, wild), await startWorker(t, wild)]
  let killed = 0
  let slowest = 0
  for (const [index, disturbance] of disturbances.entries()) {
    await until(
      `row ${targets[index]}`,
      async () => (await progress(wild, uuid)).processed >= targets[index]!,
      IMPORT_MS,
    )
    await sleep(random() * 80) // somewhere within a batch
    const busy = await busyWorker(wild, workers)
    if (disturbance === 'outage') {
      await server.crash()
      await sleep(random() * 2_000)
      await server.start()
    } else if (disturbance === 'freeze') {
      workers[busy]!.kill('SIGSTOP')
    } else {
      for (const which of disturbance === 'kill' ? [busy] : [0, 1]) {
        workers[which]!.kill('SIGKILL')
        await once(workers[which]!, 'exit')
        killed++
        workers[which] = await startWorker(t, wild) // what a supervisor does
      }
    }
    const { status, processed } = await progress(wild, uuid)
    if (status !== 'active') throw new Error(`over too soon, at disturbance ${index}: ${status}`)
    const since = performance.now()
    const goesOn = async () => {
      for (const [which, { exitCode }] of workers.entries()) {
        if (exitCode === null) continue
        // One that was just starting when the database went away says so, and its supervisor starts it again.
        if (exitCode !== DATABASE_AWAY) throw new Error(`a worker ended by itself with ${exitCode}`)
        workers[which] = await startWorker(t, wild)
      }
      return (await progress(wild, uuid)).processed > processed
    }
    await until(`progress after ${disturbance}`, goesOn, disturbance === 'freeze' ? 2 * RESUME_MS : RESUME_MS)
    slowest = Math.max(slowest, performance.now() - since)
    t.comment(`${disturbance} at ${processed}, went on after ${Math.round(performance.now() - since)} ms`)
    if (disturbance === 'freeze') workers[busy]!.kill('SIGCONT') // it goes on with what is no longer its own
  }
  await until('the end', async () => (await progress(wild, uuid)).status !== 'active', IMPORT_MS)
  // The job of a worker that was killed between its last commit and its word to the queue is found when that worker is missed.
  await until('an empty queue', async () => {
    const [jobs] = await wild.sql`select count(*)::int as count from jobs`
    return jobs!.count === 0
  })
  t.equal(killed, KILLS + 2)
  t.comment(`slowest resume ${(slowest / 1000).toFixed(1)} s`)

  const actual = await outcomeOf(wild, uuid)
  t.equal(sha256(actual.report), sha256(expected.report), 'the report is that of the undisturbed run, byte for byte')
  const {
    url: _,
    uploadUrl: __,
    statusUrl: ___,
    reportUrl: ____,
    createdOn,
    startedOn,
    finishedOn,
    ...counts
  } = actual.status
  t.match(expected.status, counts, 'and so are the counters')
  await Promise.all(workers.map(endWorker))

  await t.test('every good row is one document with its bytes, and nothing is left over', async (t) => {
    const rows = await wild.sql`
      select e.uuid, e.identificatie, v.titel, b.key, encode(b.sha256, 'hex') as sha256, b.size::int as size
      from enkelvoudiginformatieobject e
      join enkelvoudiginformatieobject_versie v on v.enkelvoudiginformatieobject_id = e.id
      join file b on b.id = v.file_id order by v.titel`
    const wanted = Array.from({ length: ROWS }, (_, n) => n).filter((n) => expectedComment(n) === '')
    t.equal(good, wanted.length)
    t.strictSame(
      rows.map(({ uuid }) => uuid),
      wanted.map((n) => rowOf(n).uuid),
    )
    for (const row of rows) {
      const bytes = await readFile(join(wild.config.documentenDir, row.key))
      const n = Number(row.titel)
      if (!bytes.equals(contentOf(n)) || row.sha256 !== sha256(contentOf(n)) || row.size !== bytes.length)
        t.fail(`bytes of ${n}`)
    }
    const sample = wanted.filter((n) => n % 300 === 1)
    for (const n of sample) {
      const response = await wild.fetch(`${DOCUMENTEN}/${rowOf(n).uuid}/download`)
      t.ok(Buffer.from(await response.arrayBuffer()).equals(contentOf(n)), `download of ${n}`)
    }
    const [orphans] = await wild.sql`select count(*)::int as count from file b
      where not exists (select from enkelvoudiginformatieobject_versie v where v.file_id = b.id)`
    t.equal(orphans!.count, 0, 'no bytes without a document')
    const known = new Set(rows.map(({ key }) => key as string))
    const store = filesystemStore(wild.config.documentenDir)
    // Beside the mark of the history of the database.
    const listed = async () => (await Array.fromAsync(store.list())).filter(({ key }) => !key.startsWith('history/'))
    const stored = await listed()
    t.comment(`${stored.length - known.size} files of interrupted batches`)
    const swept = await sweep(store, { known: async () => known, ripe: async (names) => new Set(names) })
    t.equal(swept.removed, stored.length - known.size, 'the sweep removes what interrupted batches left')
    t.equal((await listed()).length, wanted.length)
    // Those of the clock, which have their own name as key, come at every minute.
    const jobs = await wild.sql`select task_identifier from jobs where key is distinct from task_identifier`
    t.strictSame(Array.from(jobs), [], 'no job is left')
    t.strictSame(
      Array.from(await wild.sql`select * from notificatie where resource = 'enkelvoudiginformatieobject'`),
      [],
    )
  })
})

t.test(
  'imports that wait are done once each and in order, however workers and database end at their turns',
  async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-kill-'))
    await chmod(directory, 0o711)
    t.teardown(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
    const importDir = join(directory, 'import-data')
    await writeSources(importDir)
    const server = await ownServer(t)
    const installed = await installation(t, server, directory, 'queue', importDir)
    const { sql } = installed
    const parts = Array.from({ length: QUEUED }, (_, part) =>
      Array.from({ length: 60 }, (_, n) => rowOf(part * 60 + n)),
    )
    const uuids: string[] = []
    for (const rows of parts) uuids.push(await startImport(installed, csvText(rows), '?wachten=true'))
    const workers = [await startWorker(t, installed), await startWorker(t, installed)]
    for (const [index, uuid] of uuids.entries()) {
      // Its last batch, or the first of the next.
      await until(
        `the end of ${index}`,
        async () => (await progress(installed, uuid)).processed >= (index % 2 ? 50 : 60),
        IMPORT_MS,
      )
      await sleep(random() * 60)
      if (index % 3 === 2) {
        await server.crash()
        await server.start()
      }
      for (const which of [0, 1]) {
        workers[which]!.kill('SIGKILL')
        if (workers[which]!.exitCode === null) await once(workers[which]!, 'exit')
        workers[which] = await startWorker(t, installed)
      }
    }
    await until('the end', async () => (await progress(installed, uuids.at(-1)!)).status === 'finished', IMPORT_MS)
    const rows = await sql<{ uuid: string; status: string; processed: number; succeeded: number; follows: boolean }[]>`
    select uuid, status, processed, succeeded, started_at >= coalesce(lag(ended_at) over (order by id), started_at) as follows
    from import order by id`
    t.same(
      rows.map((row) => ({ ...row })),
      parts.map((part, index) => ({
        uuid: uuids[index],
        status: 'finished',
        processed: part.length,
        succeeded: part.filter((_, n) => expectedComment(index * 60 + n) === '').length,
        follows: true,
      })),
    )
    const [made] = await sql`select count(*)::int as count from enkelvoudiginformatieobject`
    t.equal(
      made!.count,
      rows.reduce((sum, { succeeded }) => sum + succeeded, 0),
    )
    await Promise.all(workers.map(endWorker))
  },
)

// ---- the rows ----

function contentOf(n: number): Buffer {
  return Buffer.from(
    `${createHash('sha512')
      .update(String(n))
      .digest('hex')
      .repeat(n % 40)}\n`,
  )
}

const uuidOf = (n: number) => `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000`

/** Mostly good, and every 50 rows one of each kind of bad. */
function rowOf(n: number): CsvRow {
  const row: CsvRow = {
    uuid: uuidOf(n),
    identificatie: `K-${n}`,
    bronorganisatie: '000000000',
    creatiedatum: '2024-01-31',
    titel: String(n).padStart(5, '0'),
    auteur: 'Auteur',
    taal: 'nld',
    bestandspad: `map ${n % 7}/${n}.txt`,
    bestandsomvang: String(contentOf(n).length),
    informatieobjecttype: `${PUBLIC_URL}/catalogi/api/v1/informatieobjecttypen/${TYPE_UUID}`,
  }
  if (n % 50 === 10) row.taal = ''
  if (n % 50 === 20) row.bestandspad = `map 0/geen-${n}.txt`
  if (n % 50 === 30) row.bestandsomvang = '7' // no file has that many
  if (n % 50 === 40) row.uuid = uuidOf(n - 1)
  if (n % 50 === 41) row.identificatie = `K-${n - 30}` // of an earlier batch
  return row
}

function expectedComment(n: number): string {
  return [10, 20, 30, 40, 41].includes(n % 50) ? 'wrong' : ''
}

async function writeSources(importDir: string): Promise<void> {
  for (let map = 0; map < 7; map++) await mkdir(join(importDir, `map ${map}`), { recursive: true })
  for (let n = 0; n < ROWS; n++) await writeFile(join(importDir, `map ${n % 7}/${n}.txt`), contentOf(n))
}

// ---- the installation ----

type Installation = Awaited<ReturnType<typeof installation>>

/** A database, a storage and an API of their own; the files to import are shared. */
async function installation(t: Test, server: OwnServer, directory: string, name: string, importDir: string) {
  const admin = postgres(server.url, { max: 1, onnotice: () => {} })
  await admin`create database ${admin(name)}`
  await admin.end()
  const url = Object.assign(new URL(server.url), { pathname: `/${name}` }).href
  await migrate(url)
  const env = {
    DATABASE_URL: url,
    DATA_DIR: join(directory, name),
    PUBLIC_URL,
    PORT: '0',
    SECRET_KEY: KEY,
    IMPORT_DOCUMENTEN_BASE_DIR: importDir,
    IMPORT_DOCUMENTEN_BATCH_SIZE: String(BATCH),
    LOG_LEVEL: 'info',
  }
  const config = readConfig(env)
  const box = secretBox(KEY)
  const database = openDatabase(url, { max: 1, name: 'set-up' })
  await createClient(database, box, { id: 'beheer', label: 'Beheer', alleAutorisaties: true, secret: SECRET })
  await database.close()
  const api = await runApi(config, url, box, pino({ level: 'silent' }))
  t.teardown(() => api.stop())
  // A database that goes down takes this connection along; it is opened again by itself.
  const sql = postgres(withPath(url), { max: 1, connect_timeout: 2, backoff: () => 0.1, onnotice: () => {} })
  t.teardown(() => sql.end({ timeout: 1 }))
  const call = async (path: string, init: RequestInit = {}) => {
    const authorization = `Bearer ${signToken('beheer', SECRET, { id: 'g', name: 'G' })}`
    return fetch(api.address + path, { ...init, headers: { authorization, ...init.headers } })
  }
  const json = { 'content-type': 'application/json' }
  const post = (path: string, body: object) => call(path, { method: 'POST', headers: json, body: JSON.stringify(body) })
  const catalogus = (await (
    await post('/catalogi/api/v1/catalogussen', { domein: 'KILLS', rsin: '000000000', contactpersoonBeheerNaam: 'B' })
  ).json()) as { url: string }
  await post('/catalogi/api/v1/informatieobjecttypen', {
    catalogus: catalogus.url,
    omschrijving: 'Brief',
    vertrouwelijkheidaanduiding: 'openbaar',
    beginGeldigheid: '2024-01-01',
    informatieobjectcategorie: 'correspondentie',
  })
  await sql`update informatieobjecttype set uuid = ${TYPE_UUID}, concept = false` // the same in both installations
  return { env, config, sql, fetch: call }
}

async function startImport({ fetch }: Installation, csv: string, query = ''): Promise<string> {
  const { url } = (await (await fetch(`${API}/create${query}`, { method: 'POST' })).json()) as { url: string }
  const uuid = url.slice(-36)
  const answer = await fetch(`${API}/${uuid}/upload`, {
    method: 'POST',
    headers: { 'content-type': 'text/csv' },
    body: csv,
  })
  if (answer.status !== 200) throw new Error(await answer.text())
  return uuid
}

async function undisturbed(t: Test, installed: Installation, csv: string) {
  const uuid = await startImport(installed, csv)
  const worker = await startWorker(t, installed)
  await until('the undisturbed end', async () => (await progress(installed, uuid)).status !== 'active', IMPORT_MS)
  await endWorker(worker)
  return outcomeOf(installed, uuid)
}

async function outcomeOf({ fetch }: Installation, uuid: string) {
  const status = (await (await fetch(`${API}/${uuid}/status`)).json()) as Record<string, unknown>
  return { status, report: Buffer.from(await (await fetch(`${API}/${uuid}/report`)).arrayBuffer()) }
}

/** Asked of the database itself, which may be down for a moment. */
async function progress({ sql }: { sql: Sql }, uuid: string): Promise<{ status: string; processed: number }> {
  for (let tries = 0; ; tries++) {
    try {
      const [row] = await sql<
        { status: string; processed: number }[]
      >`select status, processed from import where uuid = ${uuid}`
      return row!
    } catch (error) {
      if (tries > 200) throw error
      await sleep(50)
    }
  }
}

/** Which of the workers has the batch; any when none has one just now. */
async function busyWorker({ sql }: Installation, workers: ChildProcess[]): Promise<number> {
  const rows = await sql`select pid from worker join jobs on locked_by = pool_id
    where task_identifier = 'import-batch'`
  const found = workers.findIndex(({ pid }) => rows.some((row) => row.pid === pid))
  return found >= 0 ? found : Math.floor(random() * workers.length)
}

async function startWorker(t: Test, { env }: Installation): Promise<ChildProcess> {
  const child = spawn(process.execPath, [MAIN, 'worker'], { env: programEnv(env), stdio: 'pipe' })
  const lines: string[] = []
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (data) => lines.push(String(data)))
  t.teardown(async () => {
    if (!t.passing()) for (const line of lines.join('').split('\n').slice(-40)) t.comment(line)
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  return child
}

async function endWorker(worker: ChildProcess): Promise<void> {
  worker.kill('SIGTERM')
  await once(worker, 'exit')
}

// ---- small things ----

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function shuffled<T>(items: T[]): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}

function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
