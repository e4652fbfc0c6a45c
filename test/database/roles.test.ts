// The service as a role that owns nothing: what docs/operations.md grants it is enough, and does not let it change the schema.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import postgres from 'postgres'
import t from 'tap'
import { explain } from '../../src/cli/explain.ts'
import { migrate } from '../../src/database/migrate.ts'
import { requireRights } from '../../src/database/rights.ts'
import { startWorker } from '../../src/jobs/worker.ts'
import { startMetrics } from '../../src/operations/metrics-server.ts'
import { testApp } from '../app.ts'
import { givenDocument } from '../documenten/documenten.ts'
import { noPrograms, serverDirectory, startPrimary } from './servers.ts'

const PATH = '?search_path=zaakstroom,zaakstroom_queue' // of connections of the test itself

t.test('a role that may not change the schema serves, works and is watched', { skip: noPrograms }, async (t) => {
  const manual = await readFile(join(import.meta.dirname, '../../docs/operations.md'), 'utf8')
  const [, grants] = /### A role that may not change the schema[\s\S]*?```sql\n([\s\S]*?)```/.exec(manual) ?? []
  t.ok(grants, 'the manual has the grants')
  const directory = await serverDirectory(t)
  const { port } = await startPrimary(t, join(directory, 'data'))
  const server = postgres(`postgres://postgres@127.0.0.1:${port}/postgres`, { max: 1, onnotice: () => {} })
  await server`create role zaakstroom_owner login`
  await server`create database zaakstroom owner zaakstroom_owner`
  await server.end()
  const owner = `postgres://zaakstroom_owner@127.0.0.1:${port}/zaakstroom`
  await migrate(owner)
  const admin = postgres(`postgres://postgres@127.0.0.1:${port}/zaakstroom${PATH}`, { max: 1, onnotice: () => {} })
  await admin.unsafe(grants!)

  const url = `postgres://zaakstroom_app@127.0.0.1:${port}/zaakstroom`
  const test = await testApp(t, { DATABASE_URL: url })
  const { sql } = test.database
  await t.resolves(requireRights(sql))
  const without = async (take: string, give: string, said: RegExp) => {
    await admin.unsafe(take)
    const fault: Error = await requireRights(sql).catch((error) => error)
    t.match(fault.message, said)
    t.equal(explain(fault).code, 78)
    await admin.unsafe(give)
  }
  const role = 'zaakstroom_app'
  await without(`alter role ${role} nobypassrls`, `alter role ${role} bypassrls`, /alter role zaakstroom_app bypassrls/)
  await without(
    `revoke delete on delivery from ${role}`,
    `grant delete on delivery to ${role}`,
    /lacks delete on zaakstroom.delivery/,
  )
  await admin.end()
  for (const statement of [
    'create table nieuw (id integer)',
    'alter table zaak add column x integer',
    'drop table audit',
  ])
    await t.rejects(sql.unsafe(statement), { code: '42501' }, statement)
  const document = await givenDocument(test)
  t.equal((await test.call('GET', document.url)).status, 200)
  t.equal((await test.call('DELETE', document.url)).status, 204)
  await test.runJobs()
  const worker = await startWorker({ databaseUrl: url, log: test.parts.log, taskList: {}, concurrency: 1 })
  t.teardown(() => worker.stop())
  t.ok(worker.healthy())
  const metrics = await startMetrics({ port: 0, host: '127.0.0.1', role: 'api', databaseUrl: url, log: test.parts.log })
  t.teardown(metrics.close)
  t.match(await (await fetch(metrics.address)).text(), 'zaakstroom_database_up 1\n')

  const owned = postgres(`${owner}${PATH}`, { max: 1, onnotice: () => {} })
  await owned`create table later (id integer generated always as identity)` // by a migration of a later version
  await owned.end()
  await sql`insert into later default values`
})

t.test(
  'who may read a view needs no other right, and who may not gets nothing by its function',
  { skip: noPrograms },
  async (t) => {
    const directory = await serverDirectory(t)
    const { port } = await startPrimary(t, join(directory, 'data'))
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    await migrate(url)
    const sql = postgres(`${url}${PATH}`, { max: 1, onnotice: () => {} })
    t.teardown(() => sql.end())
    const views = await sql<{ name: string }[]>`
    select relname as name from pg_class where relkind = 'v' and relnamespace = current_schema()::regnamespace order by 1`
    t.ok(views.length > 5)
    await sql.unsafe(
      'create role reader login; create role nobody login; grant usage on schema zaakstroom to reader, nobody',
    )
    for (const { name } of views) await sql.unsafe(`grant select on ${name} to reader`)
    for (const role of ['reader', 'nobody']) {
      const as = postgres(`${Object.assign(new URL(url), { username: role }).href}${PATH}`, {
        max: 1,
        onnotice: () => {},
      })
      t.teardown(() => as.end())
      const ask = [...views.map(({ name }) => name), 'job_rows()'].map(
        (name) => [name, as.unsafe(`select * from ${name}`)] as const,
      )
      for (const [name, asked] of ask)
        await (role === 'reader' ? t.resolves(asked, name) : t.rejects(asked, { code: '42501' }, name))
    }
  },
)
