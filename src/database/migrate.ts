import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { runMigrations } from 'graphile-worker'
import postgres from 'postgres'

const DIRECTORY = new URL('../../sql/', import.meta.url)
const LOCK = 8_305_211 // any constant: it only has to be the same in all our processes

type Migration = { name: string; checksum: string; text: string; transaction: boolean }

/** The database has another schema than this program was made for. */
export class SchemaError extends Error {}

/**
 * Brings the database to the schema of this program: graphile-worker's schema, then our files in `sql/`, in order, each
 * once and each in a transaction of its own (a file that cannot run in one says `-- no transaction` on its first line).
 * Any number of processes may call this at once: they wait for each other on an advisory lock.
 * @returns the names of the files that were applied now
 * @throws SchemaError when an applied file has changed since, or the database knows a file that we do not
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const sql = postgres(databaseUrl, {
    max: 1,
    onnotice: () => {},
    connection: { application_name: 'zaakstroom migrate' },
  })
  try {
    await sql`select pg_advisory_lock(${LOCK})`
    await sql`create table if not exists migratie (
      naam text primary key, checksum text not null, uitgevoerd_op timestamptz not null default now())`
    await sql`comment on table migratie is 'Schema files that were applied, with their checksums.'`
    const files = await readMigrations()
    const known = await appliedMigrations(sql)
    refuseUnknown(files, known)
    await runMigrations({ connectionString: databaseUrl })
    const applied: string[] = []
    for (const file of files.filter(({ name }) => !known.has(name))) {
      const run = async (connection: postgres.Sql | postgres.TransactionSql) => {
        await connection.unsafe(file.text)
        await connection`insert into migratie (naam, checksum) values (${file.name}, ${file.checksum})`
      }
      await (file.transaction ? sql.begin(run) : run(sql))
      applied.push(file.name)
    }
    return applied
  } finally {
    await sql.end() // gives the advisory lock back as well
  }
}

/**
 * What `api` and `worker` ask before they start, and `/readyz` asks all the time.
 * @throws SchemaError when a file is missing in the database, unknown to us, or changed
 */
export async function requireKnownSchema(sql: postgres.Sql): Promise<void> {
  const files = await readMigrations()
  const [table] = await sql`select to_regclass('migratie') as name`
  const known: Map<string, string> = table?.name ? await appliedMigrations(sql) : new Map()
  refuseUnknown(files, known)
  const missing = files.filter(({ name }) => !known.has(name))
  if (missing.length > 0) {
    throw new SchemaError(
      `the database misses ${missing.map(({ name }) => name).join(', ')}: run \`zaakstroom migrate\``,
    )
  }
}

async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(DIRECTORY)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      const text = (await readFile(new URL(name, DIRECTORY), 'utf8')).replaceAll('\r\n', '\n')
      const checksum = createHash('sha256').update(text).digest('hex')
      return { name, checksum, text, transaction: !text.startsWith('-- no transaction') }
    }),
  )
}

async function appliedMigrations(sql: postgres.Sql): Promise<Map<string, string>> {
  const rows = await sql<{ naam: string; checksum: string }[]>`select naam, checksum from migratie`
  return new Map(rows.map(({ naam, checksum }) => [naam, checksum]))
}

function refuseUnknown(files: Migration[], known: Map<string, string>): void {
  const ours = new Map(files.map(({ name, checksum }) => [name, checksum]))
  for (const [name, checksum] of known) {
    if (!ours.has(name))
      throw new SchemaError(`the database has ${name}, which this version does not know: it is newer`)
    if (ours.get(name) !== checksum) throw new SchemaError(`${name} differs from what was applied to this database`)
  }
}
