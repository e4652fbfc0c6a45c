// Requests through PgBouncer in transaction mode: what each session needs, what lasts beside it, and what it cannot bear.
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createClient, signToken } from '../../src/autorisaties/clients.ts'
import { runApi } from '../../src/cli/run-api.ts'
import { readConfig } from '../../src/config.ts'
import { secretBox } from '../../src/core/secret-box.ts'
import { openDatabase } from '../../src/database/database.ts'
import { signal } from '../../src/database/listen.ts'
import { migrate } from '../../src/database/migrate.ts'
import { expected } from '../../src/database/rows.ts'
import { withSchema } from '../../src/database/schema.ts'
import { openTransaction } from '../../src/database/transaction.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { testDatabase } from '../setup.ts'
import { until } from '../until.ts'
import { cuttingProxy } from './cutting-proxy.ts'
import { letters } from './letters.ts'
import { hasPooler, startPooler } from './pooler.ts'

const SECRET = 'the secret of the first client, long enough'
const KEY = 'the key of this database, long enough'

/** An api whose requests go through a pooler. */
async function givenApi(t: Test, url: string, poolerUrl: string, env: Record<string, string> = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-pooler-data-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  await mkdir(join(directory, 'import'))
  const config = readConfig({
    DATABASE_URL: poolerUrl,
    DATABASE_DIRECT_URL: url,
    DATABASE_POOL_SIZE: '10',
    DATA_DIR: join(directory, 'data'),
    IMPORT_DOCUMENTEN_BASE_DIR: join(directory, 'import'),
    SECRET_KEY: KEY,
    PORT: '0',
    BOOTSTRAP_CLIENT_ID: 'eerste',
    BOOTSTRAP_CLIENT_SECRET: SECRET,
    NOTIFICATIONS_DISABLED: 'true',
    LOG_LEVEL: 'silent',
    ...env,
  })
  const log = openLog('warn')
  const warned = t.capture(log, 'warn')
  const api = await runApi(config, expected(config.databaseUrl), secretBox(KEY), log)
  t.teardown(() => api.stop())
  const ask = (path: string, init: RequestInit = {}, id = 'eerste') =>
    fetch(`${api.address}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${signToken(id, SECRET)}`, 'content-type': 'application/json' },
    })
  return { ask, warned }
}

t.test(
  'an installation in a schema of its own is reached through the entry that brings this schema, and through no other',
  { skip: !hasPooler && 'no pgbouncer here' },
  async (t) => {
    const { url } = await testDatabase(t)
    const own = withSchema(url, 'gemeente_b')
    await migrate(own)
    const shipped = await readFile(new URL('../../deploy/pgbouncer/pgbouncer.ini', import.meta.url), 'utf8')
    const entry = shipped.replace('zaakstroom, zaakstroom_queue', 'gemeente_b, gemeente_b_queue')
    const pooler = await startPooler(url, 3, entry)
    t.teardown(pooler.stop)
    const { ask } = await givenApi(t, url, pooler.url, { DATABASE_SCHEMA: 'gemeente_b' })
    const body = JSON.stringify({ domein: 'GEMB', rsin: '000000000', contactpersoonBeheerNaam: 'Jan' })
    t.equal((await ask('/catalogi/api/v1/catalogussen', { method: 'POST', body })).status, 201)
    const database = openDatabase(own, { max: 1, name: 'test' })
    t.teardown(database.close)
    t.equal((await database.sql`select from catalogus where domein = 'GEMB'`).length, 1)

    const other = await startPooler(url, 3)
    t.teardown(other.stop)
    const refused = givenApi(t, url, other.url, { DATABASE_SCHEMA: 'gemeente_b' })
    await t.rejects(refused, { message: /search_path = zaakstroom, zaakstroom_queue/ })
  },
)

t.test(
  'behind PgBouncer in transaction mode the API does what it does without',
  { skip: !hasPooler && 'no pgbouncer here' },
  async (t) => {
    const { url } = await testDatabase(t)
    const pooler = await startPooler(url, 3)
    t.teardown(pooler.stop)
    const { ask, warned } = await givenApi(t, url, pooler.url)
    // A copy of a template is a database that was restored.
    const told = warned().map(({ args }) => args)
    t.same(
      told.filter(([text]) => !/^the database was restored/.test(String(text))),
      [],
      'the configuration that we ship brings every limit along',
    )
    t.equal((await ask('/readyz')).status, 200)

    // More at once than there are connections to the server: no statement is prepared on one and used on another.
    const made = await Promise.all(
      Array.from({ length: 300 }, (_, n) =>
        ask('/catalogi/api/v1/catalogussen', {
          method: 'POST',
          body: JSON.stringify({
            domein: `P${letters(n)}`,
            rsin: '000000000',
            contactpersoonBeheerNaam: 'Jan',
          }),
        }).then(({ status }) => status),
      ),
    )
    t.same(new Set(made), new Set([201]))
    const lists = await Promise.all(Array.from({ length: 100 }, () => ask('/catalogi/api/v1/catalogussen')))
    for (const list of lists) t.equal(((await list.json()) as { count: number }).count, 300)

    // Clients beside each other for a while.
    const statuses = new Map<number, number>()
    const load = Array.from({ length: 20 }, async (_, client) => {
      for (let n = 0; n < 30; n++) {
        const body = { domein: `L${letters(client * 30 + n)}`, rsin: '000000000', contactpersoonBeheerNaam: 'Jan' }
        const { status } = await (n % 3 === 2
          ? ask('/catalogi/api/v1/catalogussen')
          : ask('/catalogi/api/v1/catalogussen', { method: 'POST', body: JSON.stringify(body) }))
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    })
    await Promise.all(load)
    t.same(
      statuses,
      new Map([
        [201, 400],
        [200, 200],
      ]),
    )

    // Rights are announced over a session of their own.
    const direct = openDatabase(url, { max: 1, name: 'test' })
    t.teardown(() => direct.close())
    await createClient(direct, secretBox(KEY), {
      id: 'tweede',
      label: 'Tweede',
      alleAutorisaties: true,
      secret: SECRET,
    })
    t.equal((await ask('/catalogi/api/v1/catalogussen', {}, 'tweede')).status, 200)
    await direct.sql`delete from applicatie where label = 'Tweede'`
    await signal(direct.sql, 'zaakstroom_autorisaties')
    const since = performance.now()
    const status = async () => (await ask('/catalogi/api/v1/catalogussen', {}, 'tweede')).status
    await until('a refusal', async () => (await status()) === 403)
    t.ok(performance.now() - since < 10_000, 'rights that were withdrawn do not live as long as they are kept')
  },
)

t.test(
  'behind a pooler a connection asks one thing at a time: PgBouncer 1.18 loses answers to more',
  { skip: !hasPooler && 'no pgbouncer here' },
  async (t) => {
    const { url } = await testDatabase(t)
    const pooler = await startPooler(url, 3)
    t.teardown(pooler.stop)
    const database = openDatabase(url, { max: 10, name: 'test', pooler: pooler.url })
    t.teardown(database.close)
    const { sql } = database
    await sql`create table proef (client integer)`
    const client = async (_: unknown, client: number) => {
      for (let n = 0; n < 10; n++) {
        await Promise.all([
          sql`select ${n}::int`,
          sql`select count(*) from proef where client = ${client}`,
          sql`select`,
        ])
        const transaction = await openTransaction(database)
        await transaction.commit(transaction.sql`insert into proef values (${client})`)
        transaction.release()
        await sql.begin((trx) => Promise.all([trx`insert into proef values (${client})`, trx`select ${n}::int`]))
      }
    }
    await Promise.all(Array.from({ length: 20 }, client))
    t.same(await sql`select count(*)::int as count from proef`, [{ count: 400 }])
  },
)

t.test(
  'limits of statements come with each session, through the pooler as without it',
  { skip: !hasPooler && 'no pgbouncer here' },
  async (t) => {
    const { url } = await testDatabase(t)
    const pooler = await startPooler(url, 3)
    t.teardown(pooler.stop)
    for (const options of [{}, { pooler: pooler.url }]) {
      const database = openDatabase(url, { max: 1, name: 'test', ...options })
      const [row] = await database.sql<{ limits: string }[]>`
        select concat_ws(' ', current_setting('statement_timeout'), current_setting('lock_timeout'),
          current_setting('idle_in_transaction_session_timeout'), current_setting('jit')) as limits`
      await database.close()
      t.equal(row!.limits, '30s 10s 30s off')
    }
  },
)

t.test(
  'behind a pooler a change whose answer is lost gets a true answer, on either side of it',
  { skip: !hasPooler && 'no pgbouncer here' },
  async (t) => {
    const { url } = await testDatabase(t)
    const server = await cuttingProxy(url)
    t.teardown(server.close)
    const pooler = await startPooler(server.url, 3)
    t.teardown(pooler.stop)
    const client = await cuttingProxy(pooler.url)
    t.teardown(client.close)
    const { ask } = await givenApi(t, url, client.url)
    const direct = openDatabase(url, { max: 1, name: 'test' })
    t.teardown(direct.close)
    let n = 0
    for (const [where, proxy] of Object.entries({ server, client }))
      for (const at of ['answer', 'request'] as const) {
        const domein = `V${letters(n++)}`
        const body = JSON.stringify({ domein, rsin: '000000000', contactpersoonBeheerNaam: 'Jan' })
        proxy.cutAt(at)
        const answer = await ask('/catalogi/api/v1/catalogussen', { method: 'POST', body })
        const { code } = (await answer.json()) as { code?: string }
        t.notOk(proxy.isArmed())
        const isThere = (await direct.sql`select from catalogus where domein = ${domein}`).length === 1
        t.equal(isThere, at === 'answer')
        t.equal(answer.status, isThere ? 201 : 503, `${where} ${at}: ${code}`)
        t.ok(!code || ['service_unavailable', 'outcome_unknown'].includes(code), String(code))
      }
    t.equal((await ask('/catalogi/api/v1/catalogussen')).status, 200)
  },
)
