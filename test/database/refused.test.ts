// A server that answers and lets nobody in is away; and a password that stands in a file is changed without a start.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import t from 'tap'
import { readConfig } from '../../src/config.ts'
import { isUnavailable, openDatabase } from '../../src/database/database.ts'
import { clientClass } from '../../src/database/hosts.ts'
import { refusalInWords } from '../../src/database/refusal.ts'
import { isConnectionFault } from '../../src/jobs/pool.ts'
import { readiness } from '../../src/operations/health.ts'
import { testDatabase } from '../setup.ts'
import { until } from '../until.ts'
import { ownServer } from './own-server.ts'

/** What it fails with, if it does. */
const fault = (work: PromiseLike<unknown>) =>
  Promise.resolve(work).then(
    () => undefined,
    (error: unknown) => error,
  )

t.test(
  'whatever a server says to who connects is an outage, with both drivers, and the same of a statement is not',
  async (t) => {
    const { url } = await testDatabase(t)
    const nowhere = Object.assign(new URL(url), { pathname: '/nowhere' }).href
    const wrong = Object.assign(new URL(url), { password: 'another' }).href
    for (const [address, code, words] of [
      [nowhere, '3D000', 'refused: there is no database of that name'],
      [wrong, '28P01', 'refused: the password is not the one of the role'],
    ] as const) {
      const { sql, close } = openDatabase(address, { max: 1, name: 'test' })
      const client = new (clientClass(address))()
      client.on('error', () => {})
      for (const error of [await fault(sql`select`), await fault(client.connect())]) {
        t.match(error, { code })
        t.ok(isUnavailable(error))
        t.ok(isConnectionFault(error))
        t.equal(refusalInWords(error), words)
      }
      await close()
    }
    const { sql, close } = openDatabase(url, { max: 1, name: 'test' })
    t.teardown(close)
    const client = new (clientClass(url))()
    t.teardown(() => client.end())
    await client.connect()
    const noRight = `do $$ begin raise exception 'no' using errcode = '42501'; end $$`
    for (const error of [await fault(sql.unsafe(noRight)), await fault(client.query(noRight))]) {
      t.match(error, { code: '42501' })
      t.notOk(isUnavailable(error), 'of a statement')
    }
  },
)

t.test('readiness says in words what the server said', async (t) => {
  const { url } = await testDatabase(t)
  const database = openDatabase(Object.assign(new URL(url), { pathname: '/nowhere' }).href, { max: 1, name: 'test' })
  t.teardown(database.close)
  const store = { check: async () => {} } as never
  const checks = await readiness({ database, store, box: {} as never })
  t.same(checks.database, { status: 'failed', detail: 'refused: there is no database of that name' })
})

t.test('a password in a file is read anew for each connection, also while the file is being written', async (t) => {
  const { url } = await ownServer(t) // a role of its own
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-password-'))
  t.teardown(() => rm(directory, { recursive: true }))
  const file = join(directory, 'url')
  await writeFile(file, `${url}\n`)
  const { databaseUrl } = readConfig({ DATABASE_URL_FILE: file, SECRET_KEY: 'a key that is long enough for a test' })
  const { sql, close } = openDatabase(databaseUrl!, { max: 1, name: 'test' })
  t.teardown(close)
  await sql`select`
  const admin = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => admin.end())
  await admin`alter role zaakstroom password 'second'`
  await admin`select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where usename = current_user and pid <> pg_backend_pid()`
  await until('it is refused', async () => refusalInWords(await fault(sql`select`)) !== undefined)
  await writeFile(file, '')
  t.ok(isUnavailable(await fault(sql`select`)), 'a file without an address leaves the password of before')
  await writeFile(file, Object.assign(new URL(url), { password: 'second' }).href)
  t.equal(await fault(sql`select`), undefined)
  const client = new (clientClass(databaseUrl!))()
  t.teardown(() => client.end())
  t.equal(await fault(client.connect()), undefined, 'what the queue and listening connect with')
})
