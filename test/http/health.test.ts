// What /readyz asks before it says that requests may come.
import postgres from 'postgres'
import t from 'tap'
import { testApp } from '../app.ts'
import { testDatabase } from '../setup.ts'
import { until } from '../until.ts'

t.test('a database that may not be written to is not ready', async (t) => {
  const { url } = await testDatabase(t)
  const { app } = await testApp(t, { DATABASE_URL: url })
  const readyz = async () => {
    const answer = await app.inject({ method: 'GET', url: '/readyz' })
    return { status: answer.statusCode, database: answer.json().checks.database }
  }
  t.strictSame(await readyz(), { status: 200, database: { status: 'ok' } })

  const name = new URL(url).pathname.slice(1)
  const sql = postgres(url, { max: 1 })
  await sql`alter database ${sql(name)} set default_transaction_read_only = on`
  // As after a switch to a standby: the connections from before are gone.
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name} and pid <> pg_backend_pid()`
  await sql.end()
  await until('the next look', async () => (await readyz()).database.detail === 'read-only')
  t.strictSame(await readyz(), { status: 503, database: { status: 'failed', detail: 'read-only' } })
})
