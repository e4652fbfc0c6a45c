// How fast is an import, beside what the machine can do at all: the same files copied, hashed and synced one after the
// other, and the same rows brought into the same indexed tables with COPY, without any check.
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { migrate } from '../src/database/migrate.ts'
import { COLUMN_NAMES } from '../src/documenten/import/columns.ts'
import { withPath } from '../test/with-path.ts'
import { figure } from './figures.ts'
import { givenType, peakMemory, type Service, startService } from './service.ts'
import { cpuTimes } from './stack.ts'

const FILE_BYTES = 4096
const UPLOAD = '<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>'
const TABLES = [
  'catalogus',
  'informatieobjecttype',
  'file',
  'enkelvoudiginformatieobject',
  'enkelvoudiginformatieobject_versie',
]

/**
 * `--rows 10000,200000,1000000`: sizes, one after the other; a million takes 12 GB of the disk. `--as start,worker`: one process, or an api and a worker. `--blob 4000`: so many
 * rows into a blob store that takes 20 ms for each call, with one worker and with two; 0: not. `--latency 20`: another time.
 * `--no-limit`: without what the machine can do, which takes as long again.
 */
export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      rows: { type: 'string', default: '10000' },
      as: { type: 'string', default: 'start' },
      blob: { type: 'string', default: '4000' },
      latency: { type: 'string', default: '20' },
      limit: { type: 'boolean', default: true },
    },
    allowNegative: true,
  })
  // As in the image: what is compiled at each start stays in memory, 80 MB of it. The first import fills the cache.
  const compiled = await mkdtemp(join(tmpdir(), 'zaakstroom-bench-compiled-'))
  const env = { NODE_COMPILE_CACHE: compiled, MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '262144' }
  try {
    for (const way of values.as.split(',')) {
      await benchRows(100, way, env)
      for (const rows of values.rows.split(',').map(Number).filter(Boolean))
        await benchRows(rows, way, env, values.limit ? 'beside the limit' : 'alone')
    }
    if (Number(values.blob) > 0) await benchBlob(Number(values.blob), Number(values.latency), env)
  } finally {
    await rm(compiled, { recursive: true, force: true })
  }
}

async function benchRows(
  rows: number,
  way: string,
  env: Record<string, string>,
  measured?: 'beside the limit' | 'alone',
): Promise<void> {
  const apart = way === 'worker'
  const service = await startService(env, [], apart ? 1 : 0)
  try {
    const type = await givenType(service)
    writeFiles(service.importDir, rows)
    const csv = join(service.directory, 'import.csv')
    await writeCsv(csv, rows, type)

    const nodes: Record<string, number> = apart
      ? { api: service.pid, worker: service.workers[0]! }
      : { start: service.pid }
    const pids: Record<string, number> = { ...nodes, postgres: await service.postgres() }
    const before = await cpuTimes({ pids })
    const flushed = flushesAt(service.directory)
    const { seconds, upload, succeeded } = await runImport(service, csv)
    const flushes = flushesAt(service.directory) - flushed
    const after = await cpuTimes({ pids })
    const perRow = (part: string) => `${((after[part]! - before[part]!) / rows).toFixed(2)} ms`
    const peaks = await Promise.all(
      Object.entries(nodes).map(async ([part, pid]) => ({ part, memory: await peakMemory(pid) })),
    )
    const told = peaks.map(({ part, memory }) => `${part} ${memory} MB`).join(', ')
    if (!measured) return
    const rate = rows / seconds
    const what = `import of ${rows} rows (${apart ? 'api and worker' : 'start'})`
    console.log(
      `${what} with files of ${FILE_BYTES} bytes: ${Math.round(rate)} rows/s (${seconds.toFixed(1)} s, upload ${upload.toFixed(1)} s), ${succeeded} documents; peak memory ${told}`,
    )
    let ratio = ''
    if (measured === 'beside the limit') {
      const files = copyFiles(service.importDir, join(service.directory, 'copies'), rows)
      const copy = await copyRows(service)
      const limit = rows / (files + copy)
      console.log(
        `limit: ${Math.round(limit)} rows/s (copy, hash and sync ${files.toFixed(1)} s; COPY ${copy.toFixed(1)} s)`,
      )
      ratio = `, ${(rate / limit).toFixed(2)} of the limit`
    }
    figure(what, `${Math.round(rate)} rows/s${ratio}`, '4,000 rows/s')
    const names = Object.keys(nodes).map((part) => `${part} ${perRow(part)}`)
    figure(`CPU a row, ${what}`, `${names.join(', ')}, PostgreSQL ${perRow('postgres')}`)
    figure(`memory, ${what}`, told, apart ? 'worker 200 MB' : '256 MB')
    if (flushes > 0) figure(`flushes of the disk a row, all programs, ${what}`, (flushes / rows).toFixed(2), '0.5')
  } finally {
    await service.stop()
  }
}

/** How often the disk of a directory was told to write what it holds, by anybody; 0 where the system does not say. */
function flushesAt(directory: string): number {
  const { dev } = fs.statSync(directory)
  const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)]
  const disks = fs.existsSync('/proc/diskstats') ? fs.readFileSync('/proc/diskstats', 'utf8').split('\n') : []
  const fields = disks.map((line) => line.trim().split(/\s+/)).find(([a, b]) => a === `${major}` && b === `${minor}`)
  return Number(fields?.[18] ?? 0)
}

/** Rows before those that are measured: at the first the SDK is loaded, and its code compiled, which takes more than a second of CPU. */
const WARM_UP = 1000

/**
 * Into a store where each call takes a while. It is a server in this process that keeps nothing, so that it costs little CPU. Each
 * upload in parts has one id: `/readyz` begins one, and ends it, to see whether we may write.
 */
async function benchBlob(rows: number, latency: number, compiled: Record<string, string>): Promise<void> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      const begins = request.method === 'POST' && request.url?.endsWith('?uploads=')
      setTimeout(() => response.writeHead(200, { etag: '"bench"' }).end(begins ? UPLOAD : ''), latency)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const env = {
    ...compiled,
    DOCUMENTEN_API_BACKEND: 's3_storage',
    S3_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    S3_ACCESS_KEY_ID: 'bench',
    S3_SECRET_ACCESS_KEY: 'bench',
    S3_STORAGE_BUCKET_NAME: 'bench',
  }
  for (const workers of [1, 2]) {
    const service = await startService(env, [], workers)
    try {
      const type = await givenType(service)
      writeFiles(service.importDir, Math.max(rows, WARM_UP))
      const csv = join(service.directory, 'import.csv')
      await writeCsv(csv, WARM_UP, type)
      await runImport(service, csv)
      await writeCsv(csv, rows, type)
      const pids: Record<number | 'postgres', number> = {
        ...Object.fromEntries(service.workers.entries()),
        postgres: await service.postgres(),
      }
      const before = await cpuTimes({ pids })
      const { seconds, upload } = await runImport(service, csv)
      const after = await cpuTimes({ pids })
      const perRow = (parts: (keyof typeof pids)[]) =>
        (parts.reduce<number>((sum, part) => sum + after[part]! - before[part]!, 0) / rows).toFixed(2)
      const peaks = await Promise.all(service.workers.map(peakMemory))
      figure(
        `import of ${rows} rows into S3 at ${latency} ms a call, ${workers} ${workers > 1 ? 'workers' : 'worker'}`,
        `${Math.round(rows / (seconds - upload))} rows/s, ${perRow(service.workers.map((_, nth) => nth))} ms of CPU a row, PostgreSQL ${perRow(['postgres'])} ms, ${Math.max(...peaks)} MB`,
        workers > 1 ? 'more than one worker' : '1,000 rows/s',
      )
    } finally {
      await service.stop()
    }
  }
  server.closeAllConnections()
  server.close()
}

const folderOf = (place: number) => String(Math.floor(place / 500))

export function writeFiles(importDir: string, rows: number): void {
  const bytes = randomBytes(FILE_BYTES)
  for (let place = 0; place < rows; place++) {
    if (place % 500 === 0) fs.mkdirSync(join(importDir, folderOf(place)), { recursive: true })
    bytes.writeUInt32LE(place)
    fs.writeFileSync(join(importDir, folderOf(place), `${place}.bin`), bytes)
  }
}

export async function writeCsv(path: string, rows: number, type: string): Promise<void> {
  function* lines() {
    yield `${COLUMN_NAMES.join(',')}\n`
    for (let place = 0; place < rows; place++) {
      const row: Record<string, string> = {
        uuid: randomUUID(),
        bronorganisatie: '517439943',
        creatiedatum: '2024-05-01',
        titel: `Document ${place}`,
        auteur: 'Archief',
        taal: 'nld',
        formaat: 'application/octet-stream',
        bestandspad: `${folderOf(place)}/${place}.bin`,
        informatieobjecttype: type,
        trefwoorden: '"archief,bench"',
      }
      yield `${COLUMN_NAMES.map((name) => row[name] ?? '').join(',')}\n`
    }
  }
  await pipeline(Readable.from(lines()), fs.createWriteStream(path))
}

export async function runImport(
  { call }: Pick<Service, 'call'>,
  csv: string,
): Promise<{ seconds: number; upload: number; succeeded: number }> {
  const urls = (await (await call('POST', '/documenten/api/v1/import/create')).json()) as {
    uploadUrl: string
    statusUrl: string
  }
  const began = performance.now()
  await call('POST', urls.uploadUrl, Readable.toWeb(fs.createReadStream(csv)), { 'content-type': 'text/csv' })
  const upload = (performance.now() - began) / 1000
  for (;;) {
    const status = (await (await call('GET', urls.statusUrl)).json()) as {
      status: string
      processedSuccessfully: number
      startedOn: string
      finishedOn: string
    }
    if (status.status === 'error') throw new Error('the import ended as error')
    if (status.status === 'finished') {
      const seconds = upload + (Date.parse(status.finishedOn) - Date.parse(status.startedOn)) / 1000
      return { seconds, upload, succeeded: status.processedSuccessfully }
    }
    await sleep(200)
  }
}

/** Copies, hashes and syncs every file, one after the other, and syncs each directory once. Seconds. */
function copyFiles(from: string, to: string, rows: number): number {
  const began = performance.now()
  for (let place = 0; place < rows; place++) {
    const target = join(to, folderOf(place))
    if (place % 500 === 0) fs.mkdirSync(target, { recursive: true })
    const bytes = fs.readFileSync(join(from, folderOf(place), `${place}.bin`))
    createHash('sha256').update(bytes).digest()
    const file = fs.openSync(join(target, `${place}.tmp`), 'wx', 0o640)
    fs.writeSync(file, bytes)
    fs.fsyncSync(file)
    fs.closeSync(file)
    fs.renameSync(join(target, `${place}.tmp`), join(target, `${place}.bin`))
    if (place % 500 === 499 || place === rows - 1) {
      const directory = fs.openSync(target, 'r')
      fs.fsyncSync(directory)
      fs.closeSync(directory)
    }
  }
  return (performance.now() - began) / 1000
}

/** Brings the rows that the import made into an empty database of the same schema, on the same server. Seconds. */
async function copyRows({ databaseUrl, directory }: Service): Promise<number> {
  const source = postgres(withPath(databaseUrl), { max: 1, onnotice: () => {} })
  await source`create database bench_copy`
  const targetUrl = Object.assign(new URL(databaseUrl), { pathname: '/bench_copy' }).href
  await migrate(targetUrl)
  const target = postgres(withPath(targetUrl), { max: 1, onnotice: () => {} })
  const file = (table: string) => join(directory, `${table}.copy`)
  for (const table of TABLES) await writeRows(source, table, file(table))
  const began = performance.now()
  for (const table of TABLES) {
    await pipeline(fs.createReadStream(file(table)), await target`copy ${target(table)} from stdin`.writable())
  }
  const seconds = (performance.now() - began) / 1000
  await Promise.all([source.end(), target.end()])
  return seconds
}

const STRETCH = 5000

// In stretches, because the driver's stream of a larger COPY stands still when the file is slower than the database.
async function writeRows(source: postgres.Sql, table: string, file: string): Promise<void> {
  const key = source(table === 'enkelvoudiginformatieobject_versie' ? 'enkelvoudiginformatieobject_id' : 'id')
  const [{ last } = { last: 0 }] = await source<
    { last: number }[]
  >`select coalesce(max(${key}), 0)::int as last from ${source(table)}`
  fs.writeFileSync(file, '')
  for (let from = 0; from <= last; from += STRETCH) {
    const rows =
      await source`copy (select * from ${source(table)} where ${key} >= ${source.unsafe(String(from))} and ${key} < ${source.unsafe(String(from + STRETCH))}) to stdout`.readable()
    const chunks = []
    for await (const chunk of rows) chunks.push(chunk)
    fs.appendFileSync(file, Buffer.concat(chunks))
  }
}
