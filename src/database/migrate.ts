import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Logger } from 'pino'
import postgres from 'postgres'
import packageJson from '../../package.json' with { type: 'json' }
import { hostUrls } from './address.ts'
import { isLockTimeout, isUndefinedColumn } from './error-codes.ts'
import { clientClass, hostOptions } from './hosts.ts'
import { expected, one } from './rows.ts'
import { schemasOf, searchPathOf } from './schema.ts'
import { MEANING } from './session.ts'

const DIRECTORY = fileURLToPath(new URL('../../sql/', import.meta.url))
const CONTROL = join(DIRECTORY, 'control')
const LOCK = 8_305_211 // any constant: it only has to be the same in all our processes

/** Of `worksFrom`, an empty one: every program before it works with the result. */
type Migration = { name: string; checksum: string; text: string; transaction: boolean; worksFrom: string }
type Options = {
  /** Where the files are; `sql/` of this program unless a test says otherwise. */
  directory?: string
  /** How long a file may wait for a lock while everybody else waits behind it. */
  lockTimeoutMs?: number
  /** How often a file is tried before it is given up. */
  attempts?: number
  /** How long the others get their turn before it is tried again. */
  pauseMs?: number
  /** Whether the queue stands beside these tables. */
  queue?: boolean
  /** What this program is, for files of newer ones. */
  version?: string
}

/** The database has another schema than this program was made for. */
export class SchemaError extends Error {}

/** A version of before 1.0.0 made it, when the files still changed in place: no database of it is brought along. */
export class SchemaOutdated extends SchemaError {}

/** Its tables were in use for too long: the same may go well later. */
export class SchemaBusy extends SchemaError {}

/** It misses files that `migrate` brings. */
class SchemaMissing extends SchemaError {}

/**
 * Brings the database to the schema of this program: graphile-worker's schema, then our files in `sql/`, in order, each
 * once and each in a transaction of its own. Any number of processes may call this at once: they wait for each other on
 * an advisory lock.
 *
 * The first line of a file may say how it is to be treated, as `-- no-transaction`, `-- works-from: 1.1.0` or both with a
 * comma between them. `no-transaction` is for `create index concurrently`: each statement is sent by itself, and the file
 * has to be one that can be run again when it was cut off halfway. `works-from` names the first version that still works with
 * the result, and stops those before it; without it all of them go on with the newer schema and warn.
 *
 * A file that needs a lock which others hold makes all that come after it wait as well. So it waits shortly, gives way,
 * and tries again.
 * @returns the names of the files that were applied now
 * @throws SchemaOutdated when an applied file has changed since
 * @throws SchemaError when the database has a file that breaks this program, or when a file found its tables in use at every attempt
 */
export async function migrate(databaseUrl: string, options: Options = {}): Promise<string[]> {
  const { directory = DIRECTORY, lockTimeoutMs = 3000, attempts = 40, pauseMs = 3000, queue = true, version } = options
  const sql = postgres({
    ...hostOptions(databaseUrl),
    max: 1,
    fetch_types: false,
    onnotice: () => {},
    connection: sessionOf(databaseUrl),
  })
  try {
    // Asked again and again: who waited within a statement would hold a snapshot, and `concurrently` waits for those.
    for (;;) {
      const tried = await sql<{ got: boolean }[]>`select pg_try_advisory_lock(${LOCK}) as got`
      if (one(tried).got) break
      await delay(100)
    }
    await makeSchema(sql, schemasOf(databaseUrl).own)
    await sql`create table if not exists migration (
      name text primary key, checksum text not null, works_from text not null, applied_at timestamptz not null default now())`
    const files = await readMigrations(directory)
    const known = await appliedMigrations(sql)
    await sql.unsafe(`
      comment on table migration is 'Schema files that were applied, with their checksums and which programs still work with them.';
      comment on column migration.name is 'Name of the file.';
      comment on column migration.checksum is 'SHA-256 of the file.';
      comment on column migration.works_from is 'The first version that works with it; empty: any.';
      comment on column migration.applied_at is 'When it was applied.'`)
    const newer = await refuseOthers(sql, files, known, version)
    const missing = files.filter(({ name }) => !known.has(name))
    if (newer.length > 0) {
      if (missing.length > 0)
        throw new SchemaError(
          `the database has ${newer.join(', ')} of another version, which misses ${missing[0]?.name}`,
        )
      return [] // that version has brought graphile-worker's schema along too
    }
    if (queue) await migrateQueue(databaseUrl)
    const applied: string[] = []
    for (const file of missing) {
      await apply(sql, file, { lockTimeoutMs, attempts, pauseMs })
      applied.push(file.name)
    }
    return applied
  } finally {
    await sql.end() // gives the advisory lock back as well
  }
}

/** The same for the registry of organisations. @param controlUrl with its schema */
export const migrateControl = (controlUrl: string): Promise<string[]> =>
  migrate(controlUrl, { directory: CONTROL, queue: false })

/** What a command asks of the registry before it looks into it. @throws SchemaError */
export const requireControlSchema = (sql: postgres.Sql): Promise<string[]> =>
  requireKnownSchema(sql, { directory: CONTROL })

/** What a role has as limits is for requests: an index of millions of rows takes longer. */
const sessionOf = (databaseUrl: string): Record<string, string> => ({
  application_name: 'zaakstroom migrate',
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  ...MEANING,
  search_path: searchPathOf(databaseUrl),
})

/** The schema of the tables, unless it is there: a role that may make none needs no right for one that is. */
async function makeSchema(sql: postgres.Sql, name: string): Promise<void> {
  const found = await sql<{ own: boolean; old: boolean }[]>`
    select exists (select from pg_namespace where nspname = ${name}) as own,
      exists (select from information_schema.columns where table_name = 'migration' and column_name = 'naam') as old`
  const { own, old } = one(found)
  if (old) throw await outdated(sql, 'table migration')
  if (!own) await sql`create schema ${sql(name)}`
}

/**
 * Switches the triggers that write the feed of changes, which only the owner of the tables may.
 * @returns whether they were otherwise
 */
export async function switchFeed(databaseUrl: string, turnOn: boolean): Promise<boolean> {
  const sql = postgres({
    ...hostOptions(databaseUrl),
    max: 1,
    fetch_types: false,
    onnotice: () => {},
    connection: { ...sessionOf(databaseUrl), lock_timeout: 10_000 },
  })
  try {
    return one(await sql<{ switched: boolean | null }[]>`select switch_feed(${turnOn}) as switched`).switched === true
  } finally {
    await sql.end()
  }
}

/**
 * The schema of graphile-worker, over connections that are closed when this is done. Those that it would open are only told to
 * close: the end of an embedded server then reaches one that is still open, and that ends the process.
 * Of several hosts each is tried once: the driver has found one of them to take writes.
 */
async function migrateQueue(databaseUrl: string): Promise<void> {
  const [{ runMigrations }, { Pool }] = await Promise.all([import('graphile-worker'), import('pg')])
  const pool = new Pool({ Client: clientClass(databaseUrl), max: 1 })
  // A connection that breaks fails the query it is at; without listeners it would end the process as well.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  try {
    for (const _ of hostUrls(databaseUrl).slice(1)) await pool.query('select').catch(() => {})
    await runMigrations({ pgPool: pool, schema: schemasOf(databaseUrl).queue })
  } finally {
    await pool.end()
  }
}

/**
 * What `api` and `worker` ask before they start, and `/readyz` asks all the time.
 * @returns the files of a newer version that this database has and this program can live with
 * @throws SchemaError when a file is missing in the database, changed, or of a newer version that breaks this program
 */
export async function requireKnownSchema(
  sql: postgres.Sql,
  { directory = DIRECTORY, version }: Pick<Options, 'directory' | 'version'> = {},
): Promise<string[]> {
  const { newer, missing } = await compareSchema(sql, directory, version)
  if (missing.length > 0)
    throw new SchemaMissing(`the database misses ${missing.join(', ')}: run \`zaakstroom migrate\``)
  return newer
}

/** The files that `migrate` would apply. @throws SchemaError as it would */
export async function missingMigrations(
  sql: postgres.Sql,
  { directory = DIRECTORY, version }: Pick<Options, 'directory' | 'version'> = {},
): Promise<string[]> {
  const { newer, missing } = await compareSchema(sql, directory, version)
  return newer.length > 0 ? [] : missing
}

/** Those of the registry. @throws SchemaError */
export const missingControlMigrations = (sql: postgres.Sql): Promise<string[]> =>
  missingMigrations(sql, { directory: CONTROL })

async function compareSchema(sql: postgres.Sql, directory: string, version: string | undefined) {
  const files = await readMigrations(directory)
  const [table] = await sql<{ name: string }[]>`select to_regclass('migration') as name`
  const known: Map<string, Applied> = table?.name ? await appliedMigrations(sql) : new Map()
  const newer = await refuseOthers(sql, files, known, version)
  const missing = files.flatMap(({ name }) => (known.has(name) ? [] : name))
  return { newer, missing }
}

/** The name of the last file that this program has. */
export async function newestMigration(): Promise<string> {
  return expected((await readMigrations(DIRECTORY)).at(-1)).name
}

/**
 * `requireKnownSchema` for a process that starts: one that starts beside `migrate` gives it some time.
 * @throws SchemaError
 */
export async function awaitSchema(sql: postgres.Sql, log: Logger, waitMs = 20_000): Promise<string[]> {
  const until = performance.now() + waitMs
  for (let first = true; ; first = false) {
    try {
      return await requireKnownSchema(sql)
    } catch (error) {
      if (!(error instanceof SchemaMissing) || performance.now() > until) throw error
      if (first) log.warn(`${error.message}; waiting a moment for it`)
      await delay(200)
    }
  }
}

type Applied = { name: string; checksum: string; worksFrom: string }
type Patience = Required<Pick<Options, 'lockTimeoutMs' | 'attempts' | 'pauseMs'>>

async function apply(
  sql: postgres.Sql,
  file: Migration,
  { lockTimeoutMs, attempts, pauseMs }: Patience,
): Promise<void> {
  const note = (connection: postgres.Sql | postgres.TransactionSql) =>
    connection`insert into migration (name, checksum, works_from) values (${file.name}, ${file.checksum}, ${file.worksFrom})`
  if (!file.transaction) {
    for (const statement of statementsOf(file)) await sql.unsafe(statement)
    await note(sql)
    return
  }
  for (let attempt = 1; ; attempt++) {
    try {
      await sql.begin(async (transaction) => {
        await transaction`select set_config('lock_timeout', ${`${lockTimeoutMs}ms`}, true)`
        await transaction.unsafe(file.text)
        await note(transaction)
      })
      return
    } catch (error) {
      if (!(error instanceof postgres.PostgresError) || !isLockTimeout(error)) throw error
      if (attempt === attempts)
        throw new SchemaBusy(
          `${file.name} found its tables in use ${attempts} times: nothing of it was applied; try again when long queries have ended`,
        )
      await delay(pauseMs)
    }
  }
}

/** Statements end with a semicolon at the end of a line; a file without transaction has no functions. */
function statementsOf({ name, text }: Migration): string[] {
  if (text.includes('$$')) throw new SchemaError(`${name}: a file without transaction can have no $$`)
  return text
    .replace(/^--.*$/gm, '')
    .split(/;[ \t]*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}

async function readMigrations(directory: string): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => /^\d{4}-.*\.sql$/.test(name)).sort()
  return Promise.all(
    names.map(async (name) => {
      const text = (await readFile(new URL(name, pathToFileURL(`${directory}/`)), 'utf8')).replaceAll('\r\n', '\n')
      const checksum = createHash('sha256').update(text).digest('hex')
      return { name, checksum, text, ...treatment(name, text) }
    }),
  )
}

/** How a file says that it is to be treated. @throws SchemaError when its first line says what means nothing */
export function treatment(name: string, text: string): Pick<Migration, 'transaction' | 'worksFrom'> {
  const said = /^-- ((?:no.transaction|works.from|breaks.older)\b.*)/i.exec(text)?.[1]?.split(', ') ?? []
  const unknown = said.find((word) => word !== 'no-transaction' && !WORKS_FROM.test(word))
  if (unknown !== undefined)
    throw new SchemaError(`${name} says ${unknown} on its first line, which means nothing here`)
  const worksFrom = said.map((word) => WORKS_FROM.exec(word)?.[1]).find((version) => version !== undefined)
  return { transaction: !said.includes('no-transaction'), worksFrom: worksFrom ?? '' }
}

const WORKS_FROM = /^works-from: (\d+\.\d+\.\d+)$/

/** Whether a version comes before another, by their three numbers. */
export function isBefore(version: string, other: string): boolean {
  const numbers = (text: string) => text.split(/[.+-]/, 3).map(Number)
  const [ours, theirs] = [numbers(version), numbers(other)]
  const at = ours.findIndex((one, index) => one !== theirs[index])
  return at >= 0 && (ours[at] ?? 0) < (theirs[at] ?? 0)
}

async function appliedMigrations(sql: postgres.Sql): Promise<Map<string, Applied>> {
  const rows = await sql<Applied[]>`
    select name, checksum, works_from as "worksFrom" from migration order by name`.catch(async (error) => {
    if (!isUndefinedColumn(error)) throw error
    throw await outdated(sql, 'table migration')
  })
  return new Map(rows.map((row) => [row.name, row]))
}

/** @returns the names that only the database knows */
async function refuseOthers(
  sql: postgres.Sql,
  files: Migration[],
  known: Map<string, Applied>,
  version: string = packageJson.version,
): Promise<string[]> {
  const changed = files.filter(({ name, checksum }) => known.has(name) && known.get(name)?.checksum !== checksum)
  if (changed.length > 0) throw await outdated(sql, String(changed[0]?.name))
  const ours = new Set(files.map(({ name }) => name))
  const newer: string[] = []
  for (const { name, worksFrom } of known.values()) {
    if (ours.has(name)) continue
    if (worksFrom !== '' && isBefore(version, worksFrom))
      throw new SchemaError(`the database has ${name}, with which this version cannot work: it is newer`)
    newer.push(name)
  }
  return newer
}

async function outdated(sql: postgres.Sql, what: string): Promise<SchemaOutdated> {
  const { database } = one(await sql<{ database: string }[]>`select current_database() as database`)
  return new SchemaOutdated(
    `${what} differs from what was applied to database ${database}: a version of before 1.0.0 made it, when the files of the schema still changed in place; start anew with an empty database (with \`start\`: an empty DATA_DIR)`,
  )
}
