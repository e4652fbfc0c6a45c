// Several organisations in one database: each in a schema that the address chooses, with its queue in one beside it.
import { glob, readFile } from 'node:fs/promises'
import t from 'tap'
import { migrate } from '../../src/database/migrate.ts'
import { schemasOf, searchPathOf, withSchema } from '../../src/database/schema.ts'
import { enqueue } from '../../src/jobs/queue.ts'
import { startWorker } from '../../src/jobs/worker.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { testApp } from '../app.ts'
import { emptyDatabase } from '../setup.ts'
import { until } from '../until.ts'

t.test('the address of the database chooses the schema, and the setting where that names none', async (t) => {
  const url = 'postgres://a:b@host/name'
  t.same(schemasOf(url), { own: 'zaakstroom', queue: 'zaakstroom_queue' })
  t.equal(searchPathOf(withSchema(url, 'gemeente_b')), 'gemeente_b, gemeente_b_queue')
  t.equal(withSchema(url, undefined), url)
  const chosen = `${url}?sslmode=require&options=-c%20jit%3Doff%20-csearch_path%3D%22zaken%22,public`
  t.same(schemasOf(chosen), { own: 'zaken', queue: 'zaken_queue' })
  t.equal(withSchema(chosen, 'gemeente_b'), chosen, 'what the address says counts')
  t.equal(searchPathOf(withSchema(`${url}?options=-c%20jit%3Doff`, 'b')), 'b, b_queue')
  for (const name of ['"$user",public', 'Zaken', 'a-b', `${'a'.repeat(58)}`])
    t.throws(() => schemasOf(`${url}?options=${encodeURIComponent(`-c search_path=${name}`)}`), /has a search_path/)
})

t.test('no statement names a schema, so that an organisation finds its own tables only', async (t) => {
  const root = new URL('../../', import.meta.url)
  const files = await Array.fromAsync(glob(['src/**/*.ts', 'tasks/*.ts', 'sql/0*.sql'], { cwd: root }))
  const named =
    /\bgraphile_worker\b|\b(from|join|into|update|table|function|perform|select|on|like) (zaakstroom(_queue)?|public)\.|sql\('public'\)|search_path =? ?'?public\b|'public'::/i
  const found: string[] = []
  for (const file of files)
    for (const line of (await readFile(new URL(file, root), 'utf8')).split('\n'))
      if (named.test(line) && !/^\s*(\/\/|--|\*)/.test(line)) found.push(`${file}: ${line.trim()}`)
  t.same(found, [])
  t.ok(files.length > 500, 'it reads them')
})

t.test('two organisations with the same uuids and numbers share a database, and nothing else', async (t) => {
  const { url } = await emptyDatabase(t)
  const urls = [url, withSchema(url, 'gemeente_b')] as const
  await Promise.all(urls.map((one) => migrate(one))) // both at once, as two that start
  const apps = [await testApp(t, { DATABASE_URL: urls[0] }), await testApp(t, { DATABASE_URL: urls[1] })] as const
  const [a, b] = apps
  const uuid = '0f0f0f0f-0000-4000-8000-000000000001'
  for (const [n, { database }] of apps.entries())
    await database.sql`insert into catalogus (uuid, domein, rsin, contactpersoon_beheer_naam) values (${uuid}, 'ABC', '000000000', ${`van ${n}`})`
  for (const [n, app] of apps.entries())
    t.match(await app.call('GET', `/catalogi/api/v1/catalogussen/${uuid}`), {
      status: 200,
      body: { domein: 'ABC', contactpersoonBeheerNaam: `van ${n}` },
    })
  const made = await a.call('POST', '/catalogi/api/v1/catalogussen', {
    ...{ domein: 'DEF', rsin: '000000000', contactpersoonBeheerNaam: 'van 0' },
  })
  t.equal(made.status, 201, made.text)
  t.equal((await b.call('GET', new URL(made.body.url).pathname)).status, 404)
  t.equal((await b.call('GET', '/catalogi/api/v1/catalogussen')).body.count, 1)

  await t.test('a job of one is never taken by a worker of the other', async (t) => {
    const ran: string[] = []
    const log = openLog('silent')
    for (const [n, { database }] of apps.entries())
      for (let job = 0; job < 20; job++) await enqueue(database.db, 'retention', {}, { jobKey: `${n}:${job}` })
    const of = (n: number) => ({
      retention: async (_: unknown, { job }: { job: { key: string | null } }) => void ran.push(`${n} ran ${job.key}`),
    })
    const workers = [
      await startWorker({ databaseUrl: urls[0], log, taskList: of(0) as never, concurrency: 2 }),
      await startWorker({ databaseUrl: urls[1], log, taskList: of(1) as never, concurrency: 2 }),
    ]
    t.teardown(() => Promise.all(workers.map((worker) => worker.stop())))
    await until('all jobs', () => ran.length >= 40)
    t.same(
      ran.filter((line) => !/^(\d) ran \1:/.test(line)),
      [],
    )
    t.equal(new Set(ran).size, 40, 'each ran once')
    // Both registered with the same number: neither holds the lock of the other, nor takes it for dead.
    await until('both are seen alive', () => workers.every((worker) => worker.healthy()))
    for (const { database } of apps) t.same(await database.sql`select id from worker`, [{ id: 1 }])
  })
})
