// What the tests share. Every test file, or test, has a database of its own: a copy of a template in which the migrations
// were applied once.
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { startEmbedded } from '../src/database/embedded.ts'
import { noted } from './profile.ts'

const MEMORY = '/dev/shm'
const ROOM = 6 * 2 ** 30 // bytes; twice what all tests need

type TestLike = { teardown(work: () => unknown): unknown }
export type TestServer = { url: string; template: string; stop(): Promise<void> }

/** A migrated database that nobody else uses, dropped when `t` ends. Close your connections in a later teardown. */
export async function testDatabase(t: TestLike): Promise<{ url: string }> {
  return databaseFrom(t, (await testServer()).template)
}

/** A database with nothing in it. */
export async function emptyDatabase(t: TestLike): Promise<{ url: string }> {
  return databaseFrom(t, 'template0')
}

/** A copy of a database that nobody is connected to. */
export async function copiedDatabase(t: TestLike, url: string): Promise<{ url: string }> {
  return databaseFrom(t, new URL(url).pathname.slice(1))
}

const databaseFrom = (t: TestLike, template: string) => noted('database', () => makeDatabase(t, template))

async function makeDatabase(t: TestLike, template: string): Promise<{ url: string }> {
  const { url } = await testServer()
  const name = `test_${randomBytes(6).toString('hex')}`
  // Copying files costs a third of what writing every page to the log does, the default.
  await onServer(url, async (sql) => {
    await sql`create database ${sql(name)} template ${sql(template)} strategy file_copy`
    const [isOurs] = await sql`
      select from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase where d.datname = ${template}`
    if (isOurs) await chooseSchema(sql, name)
  })
  t.teardown(() => onServer(url, (sql) => sql`drop database ${sql(name)} with (force)`))
  return { url: withDatabase(url, name) }
}

/**
 * The server that TEST_DATABASE_URL names, or else an embedded one in a temporary directory, with a template database.
 * `stop` removes what this made.
 * @param root where that directory is made
 */
export async function prepareServer(root = tmpdir()): Promise<TestServer> {
  const given = process.env.TEST_DATABASE_URL
  const server = given ? { url: given, stop: async () => {} } : await temporaryServer(root)
  const template = `template_${randomBytes(6).toString('hex')}`
  const drop = () => onServer(server.url, (sql) => sql`drop database if exists ${sql(template)} with (force)`)
  try {
    await onServer(server.url, (sql) => sql`create database ${sql(template)} template template0 encoding 'UTF8'`)
    const { migrate } = await import('../src/database/migrate.ts') // here, because most test files find it done
    await migrate(withDatabase(server.url, template))
    await onServer(server.url, (sql) => chooseSchema(sql, template))
    // The first connection after a change of the schema writes a file that all later ones read: its copies then have it.
    await onServer(withDatabase(server.url, template), (sql) => sql`select 1`)
  } catch (error) {
    await drop().catch(() => {})
    await server.stop()
    throw error
  }
  return {
    url: server.url,
    template,
    stop: async () => {
      if (given) await drop()
      await server.stop()
    },
  }
}

/** For connections of the tests themselves: those of the program choose the schema by their address. */
const chooseSchema = (sql: postgres.Sql, database: string) =>
  sql`alter database ${sql(database)} set search_path = zaakstroom, zaakstroom_queue`

let server: Promise<TestServer> | undefined

function testServer(): Promise<TestServer> {
  server ??= givenServer() ?? ownServer()
  return server
}

/** Prepared by test/run.ts. */
function givenServer(): Promise<TestServer> | undefined {
  const { TEST_DATABASE_URL: url, TEST_TEMPLATE: template } = process.env
  return url && template ? Promise.resolve({ url, template, stop: async () => {} }) : undefined
}

/** For a test file that is run by itself. */
async function ownServer(): Promise<TestServer> {
  const own = await prepareServer(await temporaryRoot())
  const { default: root } = await import('tap')
  root.teardown(own.stop)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => own.stop().finally(() => process.exit(1)))
  return own
}

async function temporaryServer(root: string): Promise<{ url: string; stop(): Promise<void> }> {
  const directory = await mkdtemp(join(root, 'zaakstroom-test-'))
  const remove = () => rm(directory, { recursive: true, force: true, maxRetries: 5 })
  try {
    await chmod(directory, 0o711)
    // Nothing in here has to survive a power cut. Several files at once open programs with pools of their own.
    const settings = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=300']
    const { url, stop } = await startEmbedded(join(directory, 'data'), { settings })
    await hashPasswordOnce(url)
    return { url, stop: () => stop().finally(remove) }
  } catch (error) {
    await remove()
    throw error
  }
}

/**
 * Where tests keep their files: in memory where there is plenty. A database is five hundred files, and a file system on a disk
 * needs up to ten times as long to make them while as many are removed.
 */
export async function temporaryRoot(): Promise<string> {
  if (process.env.TMPDIR) return process.env.TMPDIR
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }))
  return bavail * bsize >= ROOM && process.availableMemory() >= 2 * ROOM ? MEMORY : tmpdir()
}

/** Signing in hashes the password as often as it was hashed when it was set: 4096 times, at both ends of each connection. */
async function hashPasswordOnce(url: string): Promise<void> {
  const { username, password } = new URL(url)
  await onServer(url, async (sql) => {
    await sql`set scram_iterations = 1`
    await sql.unsafe(`alter role ${username} password '${password}'`)
  })
}

async function onServer(url: string, work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    await work(sql)
  } finally {
    await sql.end()
  }
}

function withDatabase(url: string, name: string): string {
  return Object.assign(new URL(url), { pathname: `/${name}` }).href
}
