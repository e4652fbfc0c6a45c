// An organisation out of an export: the same schema, all rows in one transaction, and the bytes of its documents.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type postgres from 'postgres'
import { Compile } from 'typebox/schema'
import type { Config } from '../config.ts'
import { openDatabase } from '../database/database.ts'
import { setSequences, WITHOUT_LIMITS, withoutReferences } from '../database/whole-tables.ts'
import { openStores, prepareNewStore } from '../documenten/storage/choose.ts'
import { requireKey, type Store } from '../documenten/storage/index.ts'
import { Manifest } from './export.ts'
import { OrganisationRefused } from './refused.ts'

const check = Compile(Manifest)

/** @throws OrganisationRefused when the directory has no whole export, or one that this version does not know */
export async function readManifest(directory: string): Promise<Manifest> {
  const read = await readFile(join(directory, 'manifest.json'), 'utf8')
    .then(JSON.parse)
    .catch(() => undefined)
  if (read === undefined)
    throw new OrganisationRefused('the directory has no manifest.json: the export was not finished, or it is none')
  if (!check.Check(read)) throw new OrganisationRefused('manifest.json is not what an export of this version writes')
  return read
}

/**
 * Fills an organisation whose tables were just made. Bytes come before the rows that name them; rows come all or not at all.
 * @param options.isAgain it was broken off before: documents may be there
 * @throws OrganisationRefused when a file is not what the manifest says, or the export is of another version
 */
export async function loadOrganisation(
  manifest: Manifest,
  config: Config,
  directory: string,
  { tell, isAgain }: { tell(line: string): void; isAgain: boolean },
): Promise<void> {
  const database = openDatabase(config.databaseUrl ?? '', { max: 2, name: 'organisation', settings: WITHOUT_LIMITS })
  try {
    await requireSameSchema(database.sql, manifest)
    await prepareNewStore(config, database, config.documentenBackend)
    await loadDocuments(manifest, config, directory, tell, isAgain)
    await database.sql.begin((into) =>
      withoutReferences(into, async () => {
        for (const table of manifest.tables) {
          const rows = await loadTable(into, table, directory)
          if (rows > 0) tell(`${table.name}: ${rows}`)
        }
        await into`update file set backend = ${config.documentenBackend}`
        await setSequences(into, manifest.sequences)
        await into`select begin_history()` // positions of another database mean nothing here
      }),
    )
    await database.sql`analyze`
  } finally {
    await database.close()
  }
}

async function requireSameSchema(sql: postgres.Sql, manifest: Manifest): Promise<void> {
  const here = await sql<{ name: string; checksum: string }[]>`select name, checksum from migration order by name`
  const known = new Map(here.map(({ name, checksum }) => [name, checksum]))
  const isSame =
    here.length === manifest.migrations.length &&
    manifest.migrations.every((one) => known.get(one.name) === one.checksum)
  if (!isSame)
    throw new OrganisationRefused(
      `the export is of version ${manifest.version}, whose tables differ: load it with that version, and migrate`,
    )
}

async function loadTable(
  into: postgres.TransactionSql,
  { name, columns, file, sha256, rows }: Manifest['tables'][number],
  directory: string,
): Promise<number> {
  await into.unsafe(`alter table "${name}" disable trigger user`)
  await into.unsafe(`delete from "${name}"`) // rows that the migrations made
  const target = await into
    .unsafe(`copy "${name}" (${columns.map((one) => `"${one}"`).join(', ')}) from stdin`)
    .writable()
  await pipeline(hashed(createReadStream(join(directory, file)), sha256, file), createGunzip(), target)
  await into.unsafe(`alter table "${name}" enable trigger user`)
  const [counted] = await into.unsafe<{ count: number }[]>(`select count(*)::int as count from "${name}"`)
  if (counted?.count !== rows)
    throw new OrganisationRefused(`${file} has ${counted?.count} rows, and the manifest says ${rows}`)
  return rows
}

/** The same bytes. @throws OrganisationRefused instead of their end when they are others than those of the hash */
async function* hashed(source: Readable, sha256: string, file: string): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  for await (const portion of source) {
    hash.update(portion)
    yield portion
  }
  if (hash.digest('hex') !== sha256) throw new OrganisationRefused(`${file} is not what was exported: its hash differs`)
}

async function loadDocuments(
  { documents }: Manifest,
  config: Config,
  directory: string,
  tell: (line: string) => void,
  isAgain: boolean,
): Promise<void> {
  const { storeFor } = openStores(config)
  const store = storeFor(config.documentenBackend)
  const listed = createReadStream(join(directory, documents.file))
  const lines = createInterface({ input: Readable.from(hashed(listed, documents.sha256, documents.file)) })
  let count = 0
  for await (const line of lines) {
    const { key, sha256 } = JSON.parse(line) as { key: string; sha256: string }
    requireKey(key)
    if (!(isAgain && (await isStored(store, key, sha256)))) {
      const bytes = hashed(createReadStream(join(directory, 'documents', key)), sha256, `documents/${key}`)
      const written = await store.write(key, bytes)
      if (written.key !== key) throw new OrganisationRefused('the store has documents already: it has to be empty')
    }
    if (++count % 1000 === 0) tell(`documents: ${count}`)
  }
  if (count !== documents.count)
    throw new OrganisationRefused(`${documents.file} has ${count} documents, and the manifest says ${documents.count}`)
}

async function isStored(store: Store, key: string, sha256: string): Promise<boolean> {
  const found = await store.read(key)
  if (!found) return false
  const hash = createHash('sha256')
  for await (const portion of found.stream) hash.update(portion)
  return hash.digest('hex') === sha256
}
