// The service as a role that owns nothing: what docs/operations.md grants it is enough, and does not let it change the schema.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import postgres from 'postgres'
import t from 'tap'
import { migrate } from '../../src/database/migrate.ts'
import { startWorker } from '../../src/jobs/worker.ts'
import { startMetrics } from '../../src/operations/metrics-server.ts'
import { testApp } from '../app.ts'
import { givenDocument } from '../documenten/documenten.ts'
import { noPrograms, serverDirectory, startPrimary } from './servers.ts'

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
  const admin = postgres(`postgres://postgres@127.0.0.1:${port}/zaakstroom`, { max: 1, onnotice: () => {} })
  await admin.unsafe(grants!)
  await admin.end()

  const url = `postgres://zaakstroom_app@127.0.0.1:${port}/zaakstroom`
  const test = await testApp(t, { DATABASE_URL: url })
  const { sql } = test.database
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

  const owned = postgres(owner, { max: 1, onnotice: () => {} })
  await owned`create table later (id integer generated always as identity)` // by a migration of a later version
  await owned.end()
  await sql`insert into later default values`
})
