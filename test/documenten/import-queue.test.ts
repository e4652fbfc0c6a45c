// Imports that wait for their turn: in order of creation, each beginning in the transaction that ends the one before.
import t from 'tap'
import { passForsaken } from '../../src/documenten/import/control.ts'
import { repairImports } from '../../src/documenten/import/progress.ts'
import { deleteOldImports } from '../../tasks/retention.ts'
import { givenInformatieobjecttype, testApp, uuidOf } from '../app.ts'
import { hurryQueue } from '../jobs/queue.ts'
import { until } from '../until.ts'
import { API, csvText, givenFile, givenImport, goodRow, outcome } from './importing.ts'

const app = await testApp(t, { IMPORT_DOCUMENTEN_BATCH_SIZE: '10' })
const { call, database } = app
const type = await givenInformatieobjecttype(app)
await givenFile(app, 'brief.txt')

const rowsOf = (count: number) => csvText(Array.from({ length: count }, () => goodRow(type, 'brief.txt')))
const statusOf = async (uuid: string) => (await call('GET', `${API}/${uuid}/status`)).body
const upload = (uuid: string, csv = rowsOf(1)) => call('POST', `${API}/${uuid}/upload`, csv)

async function givenQueued(): Promise<string> {
  const { status, body, text } = await call('POST', `${API}/create?wachten=true`)
  if (status !== 201) throw new Error(text)
  return uuidOf(body.url)
}

/** How the imports stand, by the status that the table has. */
const stored = async (...uuids: string[]) => {
  const rows = await database.sql<{ uuid: string; status: string }[]>`select uuid, status from import`
  return uuids.map((uuid) => rows.find((row) => row.uuid === uuid)?.status)
}

t.afterEach(async () => {
  for (let open = true; open; ) {
    const { body } = await call('GET', API)
    const left = body.results.filter(({ status }: { status: string }) => ['pending', 'active'].includes(status))
    for (const { url } of left) await call('POST', `${url}/cancel`)
    open = left.length > 0
  }
  await app.runJobs()
})

t.test('without wachten a second import is refused, with wachten=false too', async (t) => {
  await givenImport(app)
  for (const query of ['', '?wachten=false'])
    t.match(await call('POST', `${API}/create${query}`), {
      status: 400,
      body: { invalidParams: [{ name: '__all__', code: 'existing-import-started' }] },
    })
  t.match(await call('POST', `${API}/create?wachten=misschien`), { status: 400 })
  t.match(await call('POST', `${API}/create?wacht=true`), { status: 400 }, 'an unknown parameter is refused')
})

t.test('imports go on after the last number of 31 bits', async (t) => {
  await database.sql`alter table import alter column id restart with 2147483650`
  const uuid = await givenQueued()
  t.match(await upload(uuid), { status: 200 })
  await app.runJobs()
  t.match(await statusOf(uuid), { status: 'finished', processedSuccessfully: 1 })
})

t.test('with nothing open, wachten changes nothing', async (t) => {
  const uuid = await givenQueued()
  t.match(await statusOf(uuid), { status: 'pending', queuePosition: null, reason: null })
  t.same(await stored(uuid), ['pending'])
  t.match(await upload(uuid), { status: 200 })
  await app.runJobs()
  t.match(await statusOf(uuid), { status: 'finished', processedSuccessfully: 1 })
})

t.test('imports that wait take their files, tell their place, and run in order of creation', async (t) => {
  const first = await givenImport(app)
  const [second, third, fourth] = [await givenQueued(), await givenQueued(), await givenQueued()]
  t.match(await statusOf(second), { status: 'pending', queuePosition: 1, total: 0, reason: /beurt/, startedOn: null })
  t.match(await statusOf(fourth), { status: 'pending', queuePosition: 3 })
  for (const uuid of [fourth, third, second, first]) t.match(await upload(uuid, rowsOf(12)), { status: 200 }, uuid)
  t.match(await statusOf(second), {
    status: 'active',
    queuePosition: 1,
    total: 12,
    processed: 0,
    startedOn: null,
    reason: /beurt/,
  })
  t.match(await upload(second), { status: 400, body: { invalidParams: [{ code: 'invalid-status' }] } })
  t.match(await call('GET', `${API}/${second}/report`), { status: 404 })
  const { body } = await call('GET', API)
  t.same(
    body.results.slice(0, 4).map(({ queuePosition }: { queuePosition: number | null }) => queuePosition),
    [3, 2, 1, null],
    'the list shows the order',
  )
  await app.runJobs()
  const rows = await database.sql<{ started: string; ended: string }[]>`
    select started_at::text as started, ended_at::text as ended from import
    where uuid = any(${[first, second, third, fourth]}::uuid[]) and status = 'finished' and succeeded = 12 order by id`
  t.equal(rows.length, 4)
  for (const [index, { ended }] of rows.entries())
    if (index < 3)
      t.equal(rows[index + 1]!.started, ended, 'its turn comes in the transaction that ends the one before')
})

t.test('each way in which an import ends opens the next', async (t) => {
  let open = await givenImport(app)
  const next = async (what: string, uuid: string, end: () => Promise<unknown>) => {
    await end()
    t.same(await stored(uuid), ['pending'], what)
    open = uuid
  }
  await next('cancelled', await givenQueued(), () => call('POST', `${API}/${open}/cancel`))
  await next('deleted', await givenQueued(), () => call('DELETE', `${API}/${open}/delete`))
  await next('without rows', await givenQueued(), () => upload(open, rowsOf(0)))
  await next('too old', await givenQueued(), async () => {
    await database.sql`update import set created_at = now() - interval '30 days' where uuid = ${open} or status = 'queued'`
    t.equal(await deleteOldImports(app.parts), 1, 'one that waits is not too old')
    await database.sql`update import set created_at = now() where status = 'pending'`
  })
  await next('failed', await givenQueued(), async () => {
    await upload(open)
    await database.sql.unsafe(`
      create function nee() returns trigger language plpgsql as $$ begin raise exception 'nee'; end $$;
      create trigger nee before insert on import_outcome for each row execute function nee()`)
    for (let attempt = 0; attempt < 6; attempt++) {
      await app.runJobs()
      await hurryQueue(database.sql)
    }
    await database.sql.unsafe('drop trigger nee on import_outcome; drop function nee')
  })
  await next('given up by a repair', await givenQueued(), async () => {
    await upload(open)
    await database.sql`select permanently_fail_jobs(array(
      select id from jobs where key = ${`import:${open}`}))`
    await repairImports(database.db)
  })
  await next('changed by hand', await givenQueued(), async () => {
    await database.sql`update import set status = 'error', ended_at = now() where uuid = ${open}`
    await repairImports(database.db)
  })
})

t.test('one that waits can be deleted and cancelled, with its file, and the others move up', async (t) => {
  await givenImport(app)
  const [a, b, c, d] = [await givenQueued(), await givenQueued(), await givenQueued(), await givenQueued()]
  await upload(a)
  await upload(b)
  t.match(await call('DELETE', `${API}/${a}/delete`), { status: 204 })
  t.match(await call('DELETE', `${API}/${c}/delete`), { status: 204 })
  t.match(await call('POST', `${API}/${b}/cancel`), { status: 200, body: { status: 'error', reason: 'Geannuleerd.' } })
  t.match(await statusOf(d), { queuePosition: 1 })
  t.match((await outcome(app, b)).rows, [{ opmerking: /Geannuleerd/ }])
  await app.runJobs()
  t.same(
    Array.from(await database.sql`select from import_row r join import i on i.id = r.import_id where i.uuid = ${a}`),
    [],
  )
})

t.test('one without rows has ended with its upload, and opens nothing while another is open', async (t) => {
  const open = await givenImport(app)
  const [empty, last] = [await givenQueued(), await givenQueued()]
  t.match(await upload(empty, rowsOf(0)), { status: 200 })
  t.match(await statusOf(empty), { status: 'finished', total: 0, queuePosition: null })
  t.same(await stored(open, last), ['pending', 'queued'])
})

t.test('an import whose turn comes during its upload begins when the upload is there', async (t) => {
  const open = await givenImport(app)
  const uuid = await givenQueued()
  const { status, total } = await database.sql.begin(async (trx) => {
    await trx`select pg_advisory_xact_lock(hashtext(current_schema() || ' import'), (select (id % 2147483648)::int from import where uuid = ${uuid}))` // as an upload holds it
    t.match(await call('DELETE', `${API}/${uuid}/delete`), { status: 400 }, 'not while it is being uploaded')
    t.match(await call('POST', `${API}/${open}/cancel`), { status: 200 }, 'the end of the other does not wait for it')
    const [row] = await trx<{ status: string; total: number }[]>`select status, total from import where uuid = ${uuid}`
    return row!
  })
  t.match({ status, total }, { status: 'pending', total: 0 })
  t.match(await upload(uuid, rowsOf(3)), { status: 200 })
  await app.runJobs()
  t.match(await statusOf(uuid), { status: 'finished', processedSuccessfully: 3 })
})

t.test('however many are made and ended at once, one is open and none is forgotten', async (t) => {
  for (let round = 0; round < 5; round++) {
    const open = await givenImport(app)
    const answers = await Promise.all([
      call('POST', `${API}/create?wachten=true`),
      call('POST', `${API}/${open}/cancel`),
      call('POST', `${API}/create?wachten=true`),
      call('POST', `${API}/create`),
      call('POST', `${API}/create?wachten=true`),
    ])
    t.ok(
      answers.every(({ status }) => [200, 201, 400, 409].includes(status)),
      answers.map(({ status }) => status).join(),
    )
    const made = answers.filter(({ status }) => status === 201).length
    t.ok(made >= 3)
    for (let left = made; left > 0; left--) {
      const rows = await database.sql<{ uuid: string; status: string }[]>`
        select uuid, status from import where status in ('queued', 'pending', 'active') order by status <> 'queued' desc`
      t.same(
        rows.map(({ status }) => status),
        ['pending', ...Array(left - 1).fill('queued')],
      )
      await call('POST', `${API}/${rows[0]!.uuid}/cancel`)
    }
  }
})

t.test('more than a hundred do not wait', async (t) => {
  await givenImport(app)
  await database.sql`insert into import (status) select 'queued' from generate_series(1, 100)`
  t.match(await call('POST', `${API}/create?wachten=true`), {
    status: 400,
    body: { invalidParams: [{ code: 'existing-import-started', reason: /100/ }] },
  })
  await database.sql`update import set deleted_at = now(), status = 'error' where status = 'queued'`
})

t.test('two workers do imports that wait, one after the other', async (t) => {
  const uuids = [await givenImport(app)]
  for (let n = 0; n < 5; n++) uuids.push(await givenQueued())
  await Promise.all(uuids.map((uuid) => upload(uuid, rowsOf(25))))
  await Promise.all([app.runJobs(), app.runJobs()])
  await until('the last', async () => {
    await app.runJobs()
    return (await statusOf(uuids.at(-1)!)).status === 'finished'
  })
  for (const uuid of uuids) t.match(await statusOf(uuid), { status: 'finished', processedSuccessfully: 25 })
})

t.test('an import whose file never came gives way after a while, to a new one and to those that wait', async (t) => {
  const old = "update import set updated_at = now() - interval '16 minutes' where status = 'pending'"
  const gone = await givenImport(app)
  t.equal((await call('POST', `${API}/create`)).status, 400, 'not at once')
  await database.sql.unsafe(old)
  const next = await givenImport(app)
  t.match(await statusOf(gone), { status: 'error', reason: /Er kwam geen bestand/ })
  const waits = await givenQueued()
  await upload(waits)
  await passForsaken(database.db)
  t.strictSame(await stored(next, waits), ['pending', 'queued'])
  await database.sql.unsafe(old)
  await passForsaken(database.db)
  t.strictSame(await stored(next, waits), ['error', 'active'])
  await app.runJobs()
})
