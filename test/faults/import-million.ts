// `npm run faults -- --cells import-million [--rows 20000]`: one large import, during which api, worker and PostgreSQL are killed with
// -9, ten times each. It has to end by itself, each row once, with the report and the bytes that an undisturbed run has.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseStream } from 'fast-csv'
import postgres, { type Sql } from 'postgres'
import { signToken } from '../../src/autorisaties/clients.ts'
import { startEmbedded } from '../../src/database/embedded.ts'
import { migrate } from '../../src/database/migrate.ts'
import { filesystemStore } from '../../src/documenten/storage/filesystem.ts'
import { sweep } from '../../src/documenten/storage/index.ts'
import { uuidOf } from '../app.ts'
import { API, type CsvRow, csvText } from '../documenten/importing.ts'
import { freePort } from '../free-port.ts'
import type { JudgeLike, StageLike } from '../stage.ts'
import { isReady, type Proces, randomFrom, START_MS, supervise, until } from '../zaken/processes.ts'
import { playAlone } from './alone.ts'

export const IMPORT_MILLION = 'import-million'

const SECRET = 'the secret of the first client, long enough'
const KILLS = 10 // of each
const DURING_UPLOAD = 3 // of those of the api
const FILES = 5_000 // rows share them; each row has a copy of its own in the store
const FILE_BYTES = 4_096
const RESUME_MS = 300_000

/** Rows of a batch: as many as by default, and fewer where these would be over before the last kill. */
const batchOf = (rows: number) => Math.max(5, Math.min(500, Math.floor(rows / 400)))

type Asked = { rows: number; seed: number }

/** Plays the cell, and tells how long it took. */
export const playImportMillion = (stage: StageLike, judge: JudgeLike, asked: Asked): Promise<void> =>
  playAlone(stage, (own) => play(own, judge, asked))

async function play(stage: StageLike, judge: JudgeLike, { rows, seed }: Asked): Promise<void> {
  const random = randomFrom(seed)
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-million-'))
  await chmod(directory, 0o711)
  stage.teardown(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  const installed = await install(stage, directory, { IMPORT_DOCUMENTEN_BATCH_SIZE: String(batchOf(rows)) })
  const { api, worker, server, sql, call } = installed
  const csv = join(directory, 'import.csv')
  await writeSources(join(directory, 'import-data'), Math.min(rows, FILES))
  await writeCsv(csv, rows, await givenType(call))

  const began = performance.now()
  const { url } = (await (await call('POST', `${API}/create`)).json()) as { url: string }
  const uuid = uuidOf(url)
  for (let kill = 0; kill < DURING_UPLOAD; kill++) {
    const uploading = upload(installed, uuid, csv)
    await sleep((0.1 + random()) * Math.min(rows / 20, 5_000))
    api.kill('SIGKILL')
    judge.equal(await uploading, undefined, 'an upload whose api is killed is not acknowledged')
    await until('the api after its kill', () => isReady(installed.address), START_MS)
  }
  judge.equal(await upload(installed, uuid, csv), 200, 'the upload')
  stage.comment(`uploaded after ${since(began)}`)

  const strikes: Record<string, () => unknown> = {
    api: () => api.kill('SIGKILL'),
    worker: () => worker.kill('SIGKILL'),
    'PostgreSQL as a whole': () => server.crash(),
    'one process of PostgreSQL': () => server.crashOne(sql),
  }
  const order = [
    ...Array(KILLS - DURING_UPLOAD).fill('api'),
    ...Array(KILLS).fill('worker'),
    ...Array(KILLS / 2).fill('PostgreSQL as a whole'),
    ...Array(KILLS / 2).fill('one process of PostgreSQL'),
  ]
    .map((what: string) => ({ what, place: random() }))
    .sort((a, b) => a.place - b.place)
  const targets = order.map(() => Math.floor(random() * rows * 0.95)).sort((a, b) => a - b)
  let slowest = 0
  for (const [index, { what }] of order.entries()) {
    await until(
      `row ${targets[index]}`,
      async () => (await progress(sql, uuid)).processed >= targets[index]!,
      rows * 100,
    )
    await sleep(random() * 300) // somewhere within a batch
    const { status, processed } = await progress(sql, uuid)
    judge.equal(status, 'active', `the import runs at strike ${index}`)
    const struck = performance.now()
    await strikes[what]!()
    await until(
      `progress after ${what}`,
      async () => {
        const now = await progress(sql, uuid)
        return now.processed > processed || now.status !== 'active'
      },
      RESUME_MS,
    )
    slowest = Math.max(slowest, performance.now() - struck)
    stage.comment(`${what} killed at row ${processed}, went on after ${since(struck)}`)
  }
  await until('the end', async () => (await progress(sql, uuid)).status !== 'active', Math.max(600_000, rows * 100))
  stage.comment(`${rows} rows with ${order.length + DURING_UPLOAD} kills in ${since(began)}`)
  stage.comment(`went on within ${(slowest / 1000).toFixed(1)} s after each`)
  await until('an empty queue', async () => (await openJobs(sql)) === 0, RESUME_MS)
  await until('the api', () => isReady(installed.address), START_MS)
  for (const one of [api, worker]) judge.same(one.faults, [], 'no process ended by itself')
  await verify(stage, judge, installed, uuid, rows)
}

// ---- the account ----

async function verify(
  stage: StageLike,
  judge: JudgeLike,
  { call, sql, documents }: Installed,
  uuid: string,
  rows: number,
): Promise<void> {
  const began = performance.now()
  const good = Array.from({ length: rows }, (_, n) => n).filter(isGood).length
  const status = (await (await call('GET', `${API}/${uuid}/status`)).json()) as Record<string, unknown>
  judge.same(
    [status.status, status.total, status.processed, status.processedSuccessfully, status.processedInvalid],
    ['finished', rows, rows, good, rows - good],
    'the counters',
  )

  let reported = 0
  let wrong = 0
  const report = await call('GET', `${API}/${uuid}/report`)
  const lines = parseStream<Record<string, string>, Record<string, string>>(Readable.fromWeb(report.body as never), {
    headers: true,
  })
  for await (const line of lines as AsyncIterable<Record<string, string>>) {
    const { titel, opmerking } = line
    if (titel !== titleOf(reported) || (opmerking === '') !== isGood(reported)) wrong++
    reported++
  }
  judge.same([reported, wrong], [rows, 0], 'the report has each row once, in order, with its own outcome')

  const known = new Set<string>()
  let n = -1
  let bytesWrong = 0
  let rowsWrong = 0
  const found = sql<{ uuid: string; identificatie: string; titel: string; key: string; sha256: string }[]>`
    select d.uuid, d.identificatie, v.titel, b.key, encode(b.sha256, 'hex') as sha256
    from enkelvoudiginformatieobject d
    join enkelvoudiginformatieobject_versie v on v.enkelvoudiginformatieobject_id = d.id
    join file b on b.id = v.file_id order by v.titel`.cursor(1_000)
  for await (const page of found) {
    for (const row of page) {
      do n++
      while (!isGood(n))
      if (row.uuid !== documentUuid(n) || row.identificatie !== `K-${n}` || row.titel !== titleOf(n)) rowsWrong++
      const bytes = await readFile(join(documents, row.key)).catch(() => Buffer.alloc(0))
      if (!bytes.equals(contentOf(n)) || row.sha256 !== sha256(bytes)) bytesWrong++
      known.add(row.key)
    }
  }
  judge.same([known.size, rowsWrong, bytesWrong], [good, 0, 0], 'each good row is one document with its bytes')
  const [orphans] = await sql`select count(*)::int as count from file b
    where not exists (select from enkelvoudiginformatieobject_versie v where v.file_id = b.id)`
  judge.equal(orphans?.count, 0, 'no bytes are noted without a document')
  const store = filesystemStore(documents)
  const left = await sweep(store, {
    known: async (names) => new Set(names.filter((name) => known.has(name))),
    ripe: async (names) => new Set(names),
  })
  judge.equal(left.seen - left.removed, good, 'the sweep leaves the files of documents')
  stage.comment(`${left.removed} files and ${left.unfinished} unfinished ones of interrupted batches were swept away`)
  stage.comment(`verified in ${since(began)}`)
}

// ---- the rows ----

const documentUuid = (n: number) => `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000`
const titleOf = (n: number) => String(n).padStart(8, '0')
const isGood = (n: number) => ![10, 20, 30, 40, 41].includes(n % 50)
const fileOf = (n: number) => `map ${(n % FILES) % 7}/${n % FILES}.bin`

function contentOf(n: number): Buffer {
  return createHash('shake256', { outputLength: FILE_BYTES })
    .update(String(n % FILES))
    .digest()
}

/** Mostly good, and every 50 rows one of each kind of bad. */
function rowOf(n: number, type: string): CsvRow {
  const row: CsvRow = {
    uuid: documentUuid(n),
    identificatie: `K-${n}`,
    bronorganisatie: '000000000',
    creatiedatum: '2024-01-31',
    titel: titleOf(n),
    auteur: 'Auteur',
    taal: 'nld',
    bestandspad: fileOf(n),
    bestandsomvang: String(FILE_BYTES),
    informatieobjecttype: type,
  }
  if (n % 50 === 10) row.taal = ''
  if (n % 50 === 20) row.bestandspad = `map 0/geen-${n}.bin`
  if (n % 50 === 30) row.bestandsomvang = '7' // no file has that many
  if (n % 50 === 40) row.uuid = documentUuid(n - 1)
  if (n % 50 === 41) row.identificatie = `K-${n - 30}`
  return row
}

async function writeSources(importDir: string, files: number): Promise<void> {
  for (let map = 0; map < 7; map++) await mkdir(join(importDir, `map ${map}`), { recursive: true })
  for (let n = 0; n < files; n++) await writeFile(join(importDir, fileOf(n)), contentOf(n))
}

const CHUNK = 1_000

async function writeCsv(path: string, rows: number, type: string): Promise<void> {
  function* chunks() {
    for (let from = 0; from < rows; from += CHUNK) {
      const text = csvText(Array.from({ length: Math.min(CHUNK, rows - from) }, (_, n) => rowOf(from + n, type)))
      yield from === 0 ? text : text.slice(text.indexOf('\n') + 1) // one header is enough
    }
  }
  await pipeline(Readable.from(chunks()), createWriteStream(path))
}

// ---- the installation ----

type Call = (method: string, path: string, body?: unknown) => Promise<Response>
type Installed = {
  address: string
  documents: string
  api: Proces
  worker: Proces
  server: Awaited<ReturnType<typeof givenServer>>
  sql: Sql
  call: Call
}

async function install(stage: StageLike, directory: string, settings: Record<string, string>): Promise<Installed> {
  const server = await givenServer(stage, join(directory, 'data'))
  await migrate(server.url)
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  const importDir = join(directory, 'import-data')
  await mkdir(importDir)
  const env = {
    DATABASE_URL: server.url,
    DATA_DIR: join(directory, 'data'),
    PUBLIC_URL: address,
    PORT: String(port),
    SECRET_KEY: 'the key of this database, long enough',
    BOOTSTRAP_CLIENT_ID: 'eerste',
    BOOTSTRAP_CLIENT_SECRET: SECRET,
    IMPORT_DOCUMENTEN_BASE_DIR: importDir,
    NOTIFICATIONS_DISABLED: 'true',
    LOG_LEVEL: 'warn',
    ...settings,
  }
  const api = supervise(stage, 'api', env)
  await until('the api', () => isReady(address), START_MS)
  const worker = supervise(stage, 'worker', env)
  // A database that goes down takes this connection along; it is opened again by itself.
  const sql = postgres(server.url, { max: 1, connect_timeout: 2, backoff: () => 0.1, onnotice: () => {} })
  stage.teardown(() => sql.end({ timeout: 1 }))
  const call: Call = (method, path, body) =>
    fetch(address + path, {
      method,
      headers: {
        authorization: `Bearer ${signToken('eerste', SECRET)}`,
        connection: 'close',
        ...(body !== undefined && { 'content-type': body instanceof ReadableStream ? 'text/csv' : 'application/json' }),
      },
      ...(body !== undefined && {
        body: body instanceof ReadableStream ? body : JSON.stringify(body),
        duplex: 'half',
      }),
    })
  return { address, documents: join(directory, 'data', 'documenten'), api, worker, server, sql, call }
}

/** The status of the answer; undefined when there was none. */
async function upload({ call }: Installed, uuid: string, csv: string): Promise<number | undefined> {
  try {
    return (await call('POST', `${API}/${uuid}/upload`, Readable.toWeb(createReadStream(csv)))).status
  } catch {
    return undefined
  }
}

async function givenType(call: Call): Promise<string> {
  const made = async (path: string, body: object) =>
    ((await (await call('POST', path, body)).json()) as { url: string }).url
  const catalogus = await made('/catalogi/api/v1/catalogussen', {
    domein: 'MILJN',
    rsin: '000000000',
    contactpersoonBeheerNaam: 'Beheer',
  })
  const type = await made('/catalogi/api/v1/informatieobjecttypen', {
    catalogus,
    omschrijving: 'Brief',
    vertrouwelijkheidaanduiding: 'openbaar',
    beginGeldigheid: '2024-01-01',
    informatieobjectcategorie: 'correspondentie',
  })
  const published = await call('POST', `${new URL(type).pathname}/publish`)
  if (published.status !== 200) throw new Error(await published.text())
  return type
}

async function givenServer(stage: StageLike, data: string) {
  await mkdir(data, { mode: 0o711 })
  let server = await startEmbedded(data)
  const { url } = server
  stage.teardown(() => server.stop())
  return {
    url,
    /** Kills its first process; the others end when they miss it, and until then no server can start there. */
    async crash() {
      const [pid] = (await readFile(join(data, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')
      process.kill(Number(pid), 'SIGKILL')
      await server.exited
      await server.stop() // gives the directory free
      for (let tries = 0; ; tries++) {
        try {
          server = await startEmbedded(data, { port: Number(new URL(url).port) })
          return
        } catch (error) {
          if (tries === 50) throw error
          await sleep(200)
        }
      }
    },
    /** Kills a process that works for the import: the server then starts anew by itself. */
    async crashOne(sql: Sql) {
      await until('a process of the worker', async () => {
        const [found] = await sql<{ pid: number }[]>`
          select pid from pg_stat_activity where application_name = 'zaakstroom worker' and backend_type = 'client backend'
          order by state = 'active' desc, state_change desc limit 1`.catch(() => [])
        if (found) process.kill(found.pid, 'SIGKILL')
        return found !== undefined
      })
    },
  }
}

/** Asked of the database itself, which may be down for a moment. */
async function progress(sql: Sql, uuid: string): Promise<{ status: string; processed: number }> {
  for (let tries = 0; ; tries++) {
    try {
      const [row] = await sql<
        { status: string; processed: number }[]
      >`select status, processed from import where uuid = ${uuid}`
      return row!
    } catch (error) {
      if (tries > 600) throw error
      await sleep(100)
    }
  }
}

/** Those of the clock, which have their own name as key, come at every minute. */
async function openJobs(sql: Sql): Promise<number> {
  const [jobs] = await sql`
    select count(*)::int as count from jobs where key is distinct from task_identifier`
  return jobs?.count
}

// ---- small things ----

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

function since(moment: number): string {
  const seconds = (performance.now() - moment) / 1000
  return seconds < 100 ? `${seconds.toFixed(1)} s` : `${(seconds / 60).toFixed(1)} minutes`
}
