// What /readyz asks before it says that requests may come.
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import postgres from 'postgres'
import t from 'tap'
import { BASE, givenInformatieobjecttype, testApp } from '../app.ts'
import { base64, EIO, newDocument } from '../documenten/documenten.ts'
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

t.test('a store that can only be read does not take the service out', async (t) => {
  const test = await testApp(t)
  const type = await givenInformatieobjecttype(test)
  const body = () => newDocument(type, { inhoud: base64('inhoud') })
  const made = await test.call('POST', EIO, body())
  const readyz = async () => {
    const { status, body } = await test.call('GET', `${BASE}/readyz`)
    return { http: status, status: body.status, storage: body.checks.storage.status }
  }
  t.strictSame(await readyz(), { http: 200, status: 'ok', storage: 'ok' })

  // What a full disk does as well: nothing can be made, and all that is there can be read.
  const temp = join(test.config.documentenDir, '.tmp')
  await rename(temp, `${temp}-away`)
  await writeFile(temp, '')
  await until('the next look', async () => (await readyz()).storage === 'degraded')
  t.strictSame(await readyz(), { http: 200, status: 'degraded', storage: 'degraded' })
  t.equal((await test.call('POST', EIO, body())).status, 503, 'writing is refused')
  t.equal((await test.call('GET', `${made.body.url}/download`)).status, 200, 'reading goes on')

  await rename(test.config.documentenDir, `${test.config.documentenDir}-away`)
  await until('the next look', async () => (await readyz()).storage === 'failed')
  t.strictSame(await readyz(), { http: 503, status: 'failed', storage: 'failed' }, 'a store that is gone does')
})
