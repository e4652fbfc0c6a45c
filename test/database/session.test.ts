// Settings of the server, the database or the role do not change what our statements mean.
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { clientClass } from '../../src/database/hosts.ts'
import { migrate } from '../../src/database/migrate.ts'
import { requireConnections } from '../../src/database/reach.ts'
import { MEANING } from '../../src/database/session.ts'
import { checkStorage } from '../../src/documenten/storage/check.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { testApp } from '../app.ts'
import { givenDocument } from '../documenten/documenten.ts'
import { emptyDatabase, testDatabase } from '../setup.ts'
import { ODD, setForDatabase } from './odd.ts'

async function oddDatabase(t: Parameters<typeof testDatabase>[0], settings: Record<string, string>): Promise<string> {
  const { url } = await testDatabase(t)
  await setForDatabase(url, settings)
  return url
}

t.test('both drivers have the session that the program relies on, whatever the database says', async (t) => {
  const url = await oddDatabase(t, { ...ODD, jit: 'on', statement_timeout: '1h' })
  const { sql, close } = openDatabase(url, { max: 1, name: 'test' })
  t.teardown(close)
  const client = new (clientClass(url))()
  await client.connect()
  t.teardown(() => client.end())
  const text = 'select name, current_setting(name) as value from unnest($1::text[]) name'
  const names = Object.keys(MEANING)
  const found = (rows: readonly { name: string; value: string }[]) =>
    Object.fromEntries(rows.map(({ name, value }) => [name, value]))
  t.same(found(await sql.unsafe<{ name: string; value: string }[]>(text, [names])), MEANING)
  t.same(found((await client.query(text, [names])).rows), MEANING)
  const bytes = Buffer.from([0, 255, 92])
  const [row] = await sql<{ bytes: Buffer; gone: boolean }[]>`
    select ${bytes}::bytea as bytes, (${'{NULL}'}::text::text[])[1] is null as gone`
  t.same(row, { bytes, gone: true })
  await requireConnections([{ setting: 'DATABASE_URL', url }], openLog('silent'))
})

t.test('limits that a role has for requests end no migration', async (t) => {
  const { url } = await emptyDatabase(t)
  await setForDatabase(url, { statement_timeout: '50ms', idle_in_transaction_session_timeout: '50ms' })
  const directory = t.testdir({ '0001-slow.sql': 'select pg_sleep(0.2);' })
  t.same(await migrate(url, { directory, queue: false }), ['0001-slow.sql'])
})

t.test('a session that a pooler has changed ends the start with what mends it', async (t) => {
  const url = await oddDatabase(t, { bytea_output: 'escape', array_nulls: 'off' })
  const wanted = [{ setting: 'DATABASE_URL', url, isPooled: true }]
  const role = new URL(url).username
  await t.rejects(requireConnections(wanted, openLog('silent')), {
    message: new RegExp(
      `DATABASE_URL have bytea_output = escape, array_nulls = off: .*alter role ${role} set bytea_output = 'hex';.*set array_nulls = 'on';`,
    ),
  })
})

t.test(
  'a check of the storage through sessions that read otherwise finds no document wrong: it does not begin',
  async (t) => {
    const test = await testApp(t)
    await givenDocument(test)
    const database = openDatabase(test.database.url, {
      max: 2,
      name: 'test',
      settings: { bytea_output: 'escape' },
    })
    t.teardown(database.close)
    const found: unknown[] = []
    const check = checkStorage({ ...test.parts, database }, { verify: true, report: (finding) => found.push(finding) })
    await t.rejects(check, { message: /bytea_output = escape/ })
    t.same(found, [])
    t.match(await checkStorage(test.parts, { verify: true }), { documents: 1, found: 0 })
  },
)
