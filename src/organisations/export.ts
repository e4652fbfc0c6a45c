// Everything of one organisation in a directory, for another installation or another supplier: its tables as PostgreSQL's COPY reads
// them, the bytes of its documents, and a manifest with the hash of each file. It is read in one snapshot while all goes on.
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type postgres from 'postgres'
import Type, { type Static } from 'typebox'
import packageJson from '../../package.json' with { type: 'json' }
import type { Config } from '../config.ts'
import { openDatabase } from '../database/database.ts'
import { cellsOf, copyLine, sequencesOf, WITHOUT_LIMITS, wholeTables } from '../database/whole-tables.ts'
import { openStores } from '../documenten/storage/choose.ts'
import { OrganisationRefused } from './refused.ts'

const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' })
const Name = Type.String({ pattern: '^[a-z_][a-z0-9_]{0,62}$' })
const Count = Type.Integer({ minimum: 0 })

/** `manifest.json` of an export. Files are named by their path within it; hashes are SHA-256 in hexadecimal, of the file as it lies there. */
export const Manifest = Type.Object({
  rsin: Type.String(),
  name: Type.String(),
  version: Type.String(),
  exportedAt: Type.String(),
  migrations: Type.Array(Type.Object({ name: Type.String(), checksum: Type.String() })),
  tables: Type.Array(
    Type.Object({
      name: Name,
      columns: Type.Array(Name, { minItems: 1 }),
      rows: Count,
      file: Type.String({ pattern: '^tables/[a-z0-9_]+\\.copy\\.gz$' }),
      sha256: Hash,
      /** Of its rows before they are packed: what is there later can be held against it. */
      contents: Type.Optional(Hash),
    }),
  ),
  sequences: Type.Array(Type.Object({ name: Name, value: Type.String({ pattern: '^-?[0-9]{1,19}$' }) })),
  /** `file` has a line of JSON for each document: `key`, `size` and `sha256` of its bytes. */
  documents: Type.Object({ count: Count, bytes: Count, file: Type.Literal('documents.jsonl'), sha256: Hash }),
  /** Bytes that a document names and that the store does not have (any more). */
  missing: Count,
})
export type Manifest = Static<typeof Manifest>

/** What is of a process, a server or a place, and means nothing elsewhere. */
const OF_PROCESSES = new Set(['migration', 'key_holder', 'change', 'history', 'server_life', 'of_organisation'])
/** What is counted beside the work goes on being counted by whoever looks. */
const COUNTED_BESIDE = new Set(['growth_figure', 'queue_figure', 'import_figure', 'periodic_job'])

/**
 * Writes the export.
 * @param directory an empty one, or one that is made
 * @param tell called after each table and every thousand documents
 * @throws OrganisationRefused when something is in the directory
 */
export async function exportOrganisation(
  { rsin, name }: { rsin: string; name: string },
  config: Config,
  directory: string,
  tell: (line: string) => void,
): Promise<Manifest> {
  await beginDirectory(directory)
  await mkdir(join(directory, 'tables'), { mode: 0o700 })
  const database = openDatabase(config.databaseUrl ?? '', { max: 1, name: 'export', settings: WITHOUT_LIMITS })
  try {
    const written = await database.sql.begin('isolation level repeatable read read only', async (snapshot) => {
      const tables: Manifest['tables'] = []
      for (const table of await wholeTables(snapshot)) {
        if (OF_PROCESSES.has(table.name)) continue
        const made = await writeTable(snapshot, table, directory)
        tables.push(made)
        if (made.rows > 0) tell(`${made.name}: ${made.rows}`)
      }
      const migrations = await snapshot<{ name: string; checksum: string }[]>`
        select name, checksum from migration order by name`
      return {
        tables,
        migrations: [...migrations],
        sequences: await sequencesOf(snapshot),
        exportedAt: new Date().toISOString(),
        ...(await writeDocuments(snapshot, config, directory, tell)),
      }
    })
    const manifest: Manifest = { rsin, name, version: packageJson.version, ...written }
    // Last: without it there is no export.
    await writeWhole(join(directory, UNFINISHED), `${JSON.stringify(manifest, null, 2)}\n`)
    await rename(join(directory, UNFINISHED), join(directory, 'manifest.json'))
    return manifest
  } finally {
    await database.close()
  }
}

/** Is there as long as the export is not whole. */
const UNFINISHED = 'manifest.json.unfinished'

/** What an export that was broken off has left is taken away. @throws OrganisationRefused when something else is there */
async function beginDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const there = await readdir(directory)
  if (there.length > 0 && !there.includes(UNFINISHED))
    throw new OrganisationRefused('the directory is not empty: name another one')
  await writeWhole(join(directory, UNFINISHED), '')
  for (const name of ['tables', 'documents', 'documents.jsonl'])
    await rm(join(directory, name), { recursive: true, force: true })
}

async function writeWhole(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function writeTable(
  from: postgres.TransactionSql,
  { name, columns }: { name: string; columns: string[] },
  directory: string,
): Promise<Manifest['tables'][number]> {
  const file = `tables/${name}.copy.gz`
  let rows = 0
  const contents = createHash('sha256')
  async function* lines() {
    for await (const { text, count } of linesOf(from, name, columns)) {
      rows += count
      contents.update(text)
      yield text
    }
  }
  const sha256 = await writeHashed(join(directory, file), Readable.from(lines()), true)
  return { name, columns, rows, file, sha256, contents: contents.digest('hex') }
}

async function* linesOf(
  from: postgres.TransactionSql,
  name: string,
  columns: string[],
): AsyncGenerator<{ text: string; count: number }> {
  const read = columns.map((column) => `"${column}"::text`).join(', ')
  for await (const portion of cellsOf(from, `select ${read} from "${name}"`))
    yield { text: portion.map(copyLine).join(''), count: portion.length }
}

/**
 * Tables that are not as an export has them: something was written since.
 * @throws OrganisationRefused when the export is of a program that could not tell
 */
export async function changedSince(sql: postgres.Sql, { tables }: Manifest): Promise<string[]> {
  const changed: string[] = []
  await sql.begin('isolation level repeatable read read only', async (snapshot) => {
    for (const { name, columns, contents } of tables) {
      if (COUNTED_BESIDE.has(name)) continue
      if (contents === undefined)
        throw new OrganisationRefused('the export is of a version that kept no hashes of rows: make it again')
      const hash = createHash('sha256')
      for await (const { text } of linesOf(snapshot, name, columns)) hash.update(text)
      if (hash.digest('hex') !== contents) changed.push(name)
    }
  })
  return changed
}

/** @returns the hash of what was written */
async function writeHashed(path: string, bytes: Readable, zip = false): Promise<string> {
  const hash = createHash('sha256')
  async function* hashed(source: AsyncIterable<Buffer>) {
    for await (const portion of source) {
      hash.update(portion)
      yield portion
    }
  }
  const target = createWriteStream(path, { flush: true, mode: 0o600 })
  if (zip) await pipeline(bytes, createGzip(), hashed, target)
  else await pipeline(bytes, hashed, target)
  return hash.digest('hex')
}

async function writeDocuments(
  from: postgres.TransactionSql,
  config: Config,
  directory: string,
  tell: (line: string) => void,
): Promise<Pick<Manifest, 'documents' | 'missing'>> {
  const { storeFor } = openStores(config)
  let count = 0
  let bytes = 0
  let missing = 0
  async function* written() {
    for await (const portion of cellsOf(from, `select backend, key from file order by id`)) {
      for (const [backend, key] of portion as [string, string][]) {
        const found = await storeFor(backend).read(key)
        if (!found) {
          missing++
          continue
        }
        const path = join(directory, 'documents', key)
        await mkdir(dirname(path), { recursive: true, mode: 0o700 })
        const sha256 = await writeHashed(path, found.stream)
        count++
        bytes += found.size
        if (count % 1000 === 0) tell(`documents: ${count}`)
        yield `${JSON.stringify({ key, size: found.size, sha256 })}\n`
      }
    }
  }
  const file = 'documents.jsonl' as const
  const sha256 = await writeHashed(join(directory, file), Readable.from(written()))
  return { documents: { count, bytes, file, sha256 }, missing }
}
