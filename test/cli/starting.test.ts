// Slow: processes are started beside each other, again and again.
// How the processes start: beside each other on an empty database, and with another key than the one it was written with.
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { runApi } from '../../src/cli/run-api.ts'
import { runWorker } from '../../src/cli/run-worker.ts'
import { findSecretBox } from '../../src/cli/server.ts'
import { readConfig } from '../../src/config.ts'
import { requireKeys } from '../../src/core/key-register.ts'
import { secretBox } from '../../src/core/secret-box.ts'
import { openDatabase } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { emptyDatabase, testDatabase } from '../setup.ts'
import { until } from '../until.ts'

const SECRET = 'the secret of the first client, long enough'
const KEY = 'the key of this database, long enough'
const CATALOGUSSEN = '/catalogi/api/v1/catalogussen'

type TestLike = { teardown(work: () => unknown): unknown }

async function givenConfig(t: TestLike, url: string, env: Record<string, string> = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-start-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  return readConfig({
    DATABASE_URL: url,
    DATA_DIR: directory,
    IMPORT_DOCUMENTEN_BASE_DIR: join(directory, 'import'),
    SECRET_KEY: KEY,
    PORT: '0',
    DATABASE_POOL_SIZE: '3',
    BOOTSTRAP_CLIENT_ID: 'eerste',
    BOOTSTRAP_CLIENT_SECRET: SECRET,
    BOOTSTRAP_ADMIN_USERNAME: 'admin',
    BOOTSTRAP_ADMIN_PASSWORD: 'een lang wachtwoord',
    NOTIFICATIONS_API_ROOT: 'http://127.0.0.1:1/api/',
    NOTIFICATIONS_CLIENT_ID: 'ons',
    NOTIFICATIONS_SECRET: 'geheim, lang genoeg voor HS256 dus 32',
    LOG_LEVEL: 'silent',
    ...env,
  })
}

const get = (address: string, path: string) =>
  fetch(`${address}${path}`, { headers: { authorization: `Bearer ${signToken('eerste', SECRET)}` } })

t.test('any of our processes may start at the same moment on an empty database', async (t) => {
  for (let turn = 0; turn < 3; turn++) {
    const { url } = await emptyDatabase(t)
    const config = await givenConfig(t, url)
    const log = openLog('silent')
    const api = () => runApi(config, url, secretBox(KEY), log)
    const running = await Promise.all([api(), api(), api(), runWorker(config, url, log), migrate(url), migrate(url)])
    for (const one of running.slice(0, 3) as Awaited<ReturnType<typeof runApi>>[]) {
      t.equal((await get(one.address, CATALOGUSSEN)).status, 200)
      t.equal((await get(one.address, '/readyz')).status, 200)
    }
    await Promise.all(running.map((one) => (Array.isArray(one) ? undefined : one.stop())))
  }
})

t.test('two processes that start without a key make one', async (t) => {
  const { url } = await testDatabase(t)
  const config = await givenConfig(t, '', { SECRET_KEY: '' })
  const [first, ...others] = await Promise.all(Array.from({ length: 5 }, () => findSecretBox(config, true)))
  for (const other of others) t.equal(other.open(first!.seal('tekst', 'x'), 'x'), 'tekst')

  // Of the embedded database alone: nobody chose it for another.
  const elsewhere = readConfig({ DATABASE_URL: url, DATA_DIR: config.dataDir })
  await t.rejects(findSecretBox(elsewhere, true), /SECRET_KEY is required/)
  const empty = await givenConfig(t, url, { SECRET_KEY: '' })
  await t.rejects(findSecretBox(empty, true), /SECRET_KEY is required/)
  t.strictSame(await readdir(empty.dataDir), [], 'and none is made')
  const { sql, close } = openDatabase(url, { max: 1, name: 'test' })
  t.teardown(close)
  await requireKeys(sql, first!)
  const known = await findSecretBox(elsewhere, false)
  t.equal(known.open(first!.seal('tekst', 'x'), 'x'), 'tekst', 'one that the database knows goes on')
})

t.test('another SECRET_KEY is said at the start, fails /readyz, and changes nothing', async (t) => {
  const { url } = await testDatabase(t)
  const config = await givenConfig(t, url)
  const first = await runApi(config, url, secretBox(KEY), openLog('silent'))
  t.equal((await get(first.address, CATALOGUSSEN)).status, 200)

  const wrong = secretBox('another key than that one, long enough')
  const log = openLog('error')
  const said = t.capture(log, 'error')
  const second = await runApi(config, url, wrong, log)
  t.match(said()[0]!.args, [/SECRET_KEY is not the key with which this database was written/])
  t.equal((await get(second.address, '/livez')).status, 200)
  const ready = await get(second.address, '/readyz')
  t.match(
    { status: ready.status, body: await ready.json() },
    { status: 503, body: { checks: { key: { status: 'failed' }, database: { status: 'ok' } } } },
  )
  t.equal((await get(second.address, CATALOGUSSEN)).status, 503, 'a client is not told that it is unknown')
  await second.stop()
  const other = await givenConfig(t, url, { SECRET_KEY: 'another key than that one, long enough' })
  await t.rejects(runWorker(other, url, openLog('silent')), /is not the key/, 'a worker does not start')
  const { sql, close } = openDatabase(url, { max: 1, name: 'test' })
  t.teardown(close)
  const others = () => sql`
    select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and application_name !~ '^zaakstroom (api|listen)$'`
  const listening = () => sql`
    select from pg_stat_activity where datname = current_database() and application_name = 'zaakstroom listen'`
  await until('no connection but those of the first process', async () => {
    return (await others()).length === 0 && (await listening()).length === 1
  })

  t.equal((await get(first.address, CATALOGUSSEN)).status, 200)
  t.equal((await get(first.address, '/readyz')).status, 200)
  await first.stop()
})

t.test('a process that has nothing to do keeps few connections: an api four, a worker seven', async (t) => {
  const { url } = await testDatabase(t)
  const { sql, close } = openDatabase(url, { max: 1, name: 'test' })
  t.teardown(close)
  const log = openLog('silent')
  const config = await givenConfig(t, url, { DATABASE_POOL_SIZE: '10' })
  const count = async () => {
    const rows = await sql<{ name: string; pid: number }[]>`
      select application_name as name, pid from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name like 'zaakstroom %'`
    return rows.length
  }
  const api = await runApi(config, url, secretBox(KEY), log)
  t.equal((await get(api.address, CATALOGUSSEN)).status, 200)
  t.ok((await count()) <= 4, 'of the api')
  await api.stop()
  const worker = await runWorker(config, url, log)
  await until('those that are not needed are closed', async () => (await count()) <= 7, 90_000)
  await worker.stop()
  await until('none is left', async () => (await count()) === 0)
})
