// How fast is an import, beside what the machine can do at all: the same files copied, hashed and synced one after the
// other, and the same rows brought into the same indexed tables with COPY, without any check.
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { migrate } from '../src/database/migrate.ts'
import { KOLOMMEN } from '../src/documenten/import/columns.ts'
import { figure } from './figures.ts'
import { givenType, type Service, startService } from './service.ts'

const FILE_BYTES = 4096
const TABLES = [
  'catalogus',
  'informatieobjecttype',
  'bestand',
  'enkelvoudiginformatieobject',
  'enkelvoudiginformatieobject_versie',
]

/** `--rows 10000,100000`: sizes, one after the other. */
export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({ args: argv, options: { rows: { type: 'string', default: '10000' } } })
  for (const rows of values.rows.split(',').map(Number)) await benchRows(rows)
}

async function benchRows(rows: number): Promise<void> {
  const service = await startService()
  try {
    const type = await givenType(service)
    writeFiles(service.importDir, rows)
    const csv = join(service.directory, 'import.csv')
    await writeCsv(csv, rows, type)

    const { seconds, upload, succeeded } = await runImport(service, csv)
    const memory = await service.peakMemory()
    const files = copyFiles(service.importDir, join(service.directory, 'copies'), rows)
    const copy = await copyRows(service)
    const limit = rows / (files + copy)
    const rate = rows / seconds
    console.log(
      [
        `import of ${rows} rows with files of ${FILE_BYTES} bytes: ${Math.round(rate)} rows/s (${seconds.toFixed(1)} s, upload ${upload.toFixed(1)} s), ${succeeded} documents`,
        `limit: ${Math.round(limit)} rows/s (copy, hash and sync ${files.toFixed(1)} s; COPY ${copy.toFixed(1)} s)`,
        `ratio ${(rate / limit).toFixed(2)} of the limit; peak memory ${memory} MB`,
      ].join('\n'),
    )
    figure(
      `import of ${rows} rows`,
      `${Math.round(rate)} rows/s, ${(rate / limit).toFixed(2)} of the limit`,
      '4,000 rows/s',
    )
    figure(`memory of an import of ${rows} rows`, `${memory} MB`, '256 MB')
  } finally {
    await service.stop()
  }
}

const folderOf = (place: number) => String(Math.floor(place / 500))

function writeFiles(importDir: string, rows: number): void {
  const bytes = randomBytes(FILE_BYTES)
  for (let place = 0; place < rows; place++) {
    if (place % 500 === 0) fs.mkdirSync(join(importDir, folderOf(place)), { recursive: true })
    bytes.writeUInt32LE(place)
    fs.writeFileSync(join(importDir, folderOf(place), `${place}.bin`), bytes)
  }
}

async function writeCsv(path: string, rows: number, type: string): Promise<void> {
  function* lines() {
    yield `${KOLOMMEN.join(',')}\n`
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
      yield `${KOLOMMEN.map((name) => row[name] ?? '').join(',')}\n`
    }
  }
  await pipeline(Readable.from(lines()), fs.createWriteStream(path))
}

async function runImport(
  { call }: Service,
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
  const source = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  await source`create database bench_copy`
  const targetUrl = Object.assign(new URL(databaseUrl), { pathname: '/bench_copy' }).href
  await migrate(targetUrl)
  const target = postgres(targetUrl, { max: 1, onnotice: () => {} })
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
