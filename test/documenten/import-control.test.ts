// What happens to an import besides its rows: cancelling, failing, waiting, being repaired, deleted and forgotten.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { readerOf } from '../../src/database/database.ts'
import { requireImportBaseDir } from '../../src/documenten/import/base-dir.ts'
import { deleteOldDrafts } from '../../src/documenten/import/draft.ts'
import { repairImports } from '../../src/documenten/import/progress.ts'
import { reportRows } from '../../src/documenten/import/report-rows.ts'
import { StoreUnavailable } from '../../src/documenten/storage/index.ts'
import { deleteOldImports } from '../../tasks/retention.ts'
import { givenInformatieobjecttype, type TestApp, testApp } from '../app.ts'
import { hurryQueue, lockJob } from '../jobs/queue.ts'
import { programEnv } from '../program-env.ts'
import { until } from '../until.ts'
import { API, csvText, givenFile, givenImport, goodRow, outcome, runImport } from './importing.ts'

t.setTimeout(580_000)
const app = await testApp(t, { IMPORT_DOCUMENTEN_BATCH_SIZE: '10' })
const { call, database } = app
const type = await givenInformatieobjecttype(app)
await givenFile(app, 'brief.txt')

const rowsOf = (count: number) => csvText(Array.from({ length: count }, () => goodRow(type, 'brief.txt')))
const statusOf = async (uuid: string) => (await call('GET', `${API}/${uuid}`)).body

async function givenUpload(rows: number): Promise<string> {
  const uuid = await givenImport(app)
  const { status } = await call('POST', `${API}/${uuid}/upload`, rowsOf(rows))
  if (status !== 200) throw new Error('refused')
  return uuid
}

const jobOf = async (uuid: string) => {
  const [job] =
    await database.sql`select attempts, max_attempts, run_at > now() as later from jobs where key = ${`import:${uuid}`}`
  return job
}

/** Makes waiting jobs due. */
const hurry = () => hurryQueue(database.sql)

const documents = async () =>
  (await database.sql`select count(*)::int as count from enkelvoudiginformatieobject`)[0]!.count as number

/** A trigger that fails while `test_switch` says so. */
async function failOn(
  { database }: TestApp,
  table: string,
  how: string,
  when: 'before' | 'after' = 'before',
): Promise<{ on(): Promise<void>; off(): Promise<void> }> {
  const name = `fail_${table}`
  const create = `
    create function ${name}() returns trigger language plpgsql as $$ begin ${how} return new; end $$;
    create trigger ${name} ${when} insert on ${table} for each row execute function ${name}()`
  return {
    on: async () => void (await database.sql.unsafe(create)),
    off: async () => void (await database.sql.unsafe(`drop trigger ${name} on ${table}; drop function ${name}`)),
  }
}

t.test('a cancelled import stops after the batch in progress and keeps what it did', async (t) => {
  const before = await documents()
  const uuid = await givenUpload(400)
  const running = app.runJobs()
  await until('20 rows', async () => (await statusOf(uuid)).processed >= 20)
  const answer = await call('POST', `${API}/${uuid}/cancel`)
  t.match(answer, { status: 200, body: { status: 'error', reason: 'Geannuleerd.' } })
  const { processed } = answer.body
  await running
  const { status, rows } = await outcome(app, uuid)
  t.match(status, { status: 'error', reason: 'Geannuleerd.', processed, processedSuccessfully: processed, total: 400 })
  t.ok(processed < 400)
  t.equal(await documents(), before + processed)
  t.strictSame(
    rows.map(({ opmerking }) => opmerking),
    rows.map((_, n) =>
      n < processed
        ? ''
        : n < processed + 10
          ? 'De batch met deze rij is niet verwerkt: Geannuleerd.'
          : 'Deze rij is niet geprobeerd: Geannuleerd.',
    ),
  )
  t.match(rows.at(-1), { resultaat: 'Niet geïmporteerd' })
  t.equal((await call('POST', `${API}/create`)).status, 201, 'and the next may begin')
  await endAll()
})

/** Makes room for the next test. */
async function endAll(): Promise<void> {
  const { body } = await call('GET', API)
  for (const { url, status } of body.results) {
    if (status === 'pending' || status === 'active') await call('POST', `${url}/cancel`)
  }
  await app.runJobs()
}

t.test('a batch that fails at every attempt ends the import, and the report says so on every row', async (t) => {
  const before = await documents()
  const uuid = await givenUpload(25)
  const fail = await failOn(app, 'import_outcome', `if new.number = 14 then raise exception 'nee'; end if;`)
  await fail.on()
  for (let attempt = 1; attempt <= 6; attempt++) {
    t.match(await statusOf(uuid), { status: 'active' }, `before attempt ${attempt}`)
    await app.runJobs()
    await hurry()
  }
  await fail.off()
  const { status, rows } = await outcome(app, uuid)
  const reason = 'Een batch kon ook na herhaalde pogingen niet worden verwerkt.'
  t.match(status, { status: 'error', total: 25, processed: 10, processedSuccessfully: 10, reason, finishedOn: /Z$/ })
  t.strictSame(
    rows.map(({ opmerking }) => opmerking),
    [
      ...Array(10).fill(''),
      ...Array(10).fill(`De batch met deze rij is niet verwerkt: ${reason}`),
      ...Array(5).fill(`Deze rij is niet geprobeerd: ${reason}`),
    ],
  )
  t.equal(await documents(), before + 10, 'nothing of the batch is left')
})

t.test('a passing fault costs an attempt and nothing else', async (t) => {
  const uuid = await givenUpload(25)
  const fail = await failOn(app, 'import_outcome', `if new.number = 14 then raise exception 'nee'; end if;`)
  await fail.on()
  await app.runJobs()
  t.match(await statusOf(uuid), { status: 'active', processed: 10 })
  await fail.off()
  await hurry()
  await app.runJobs()
  t.match(await statusOf(uuid), { status: 'finished', processed: 25, processedSuccessfully: 25 })
})

t.test('a worker that is frozen while it writes a batch loses its locks in time', async (t) => {
  const { sql } = database
  await sql`create table proef (idle text, whole text)`
  const noted = await failOn(
    app,
    'import_outcome',
    `insert into proef values (current_setting('idle_in_transaction_session_timeout'), current_setting('transaction_timeout', true));`,
  )
  await noted.on()
  const uuid = await givenUpload(1)
  await app.runJobs()
  await noted.off()
  t.match(await statusOf(uuid), { status: 'finished' })
  const [{ version }] = await sql<[{ version: number }]>`select current_setting('server_version_num')::int as version`
  t.same(await sql`select * from proef`, [{ idle: '10s', whole: version >= 170_000 ? '1min' : null }])
})

t.test('an upload whose rows the database cannot take is 503, and the import is as it was', async (t) => {
  const full = await failOn(app, 'import_row', 'raise disk_full;', 'after')
  await full.on()
  const uuid = await givenImport(app)
  const csv = csvText([goodRow(type, await givenFile(app, 'vol.txt'))])
  t.match(await call('POST', `${API}/${uuid}/upload`, csv), { status: 503, headers: { 'retry-after': '5' } })
  t.match(await statusOf(uuid), { status: 'pending' })
  await full.off()
  t.match(await call('POST', `${API}/${uuid}/upload`, csv), { status: 200 })
  await app.runJobs()
  t.match(await statusOf(uuid), { status: 'finished', processedSuccessfully: 1 })
})

t.test('an import waits for what is away, without using attempts, says so, and goes on', async (t) => {
  const { documentenDir } = app.config
  const { store } = app.parts
  const { space } = store
  const full = await failOn(app, 'enkelvoudiginformatieobject', 'raise disk_full;')
  const faults: [reason: string, begin: () => Promise<unknown>, end: () => Promise<unknown>][] = [
    [
      'Wacht op de importmap.',
      () => rename(app.importDir, `${app.importDir}-weg`),
      () => rename(`${app.importDir}-weg`, app.importDir),
    ],
    [
      'Wacht op de opslag.',
      // as an empty mount point
      () => rename(documentenDir, `${documentenDir}-weg`).then(() => mkdir(documentenDir)),
      () => rm(documentenDir, { recursive: true }).then(() => rename(`${documentenDir}-weg`, documentenDir)),
    ],
    [
      'Wacht op open bestanden.',
      async () => {
        store.space = async () => {
          throw new StoreUnavailable('EMFILE')
        }
      },
      async () => (store.space = space!),
    ],
    [
      'Wacht op ruimte in de opslag.',
      async () => (store.space = async () => ({ free: 19, total: 1000 })),
      async () => (store.space = space!),
    ],
    ['Wacht op de database.', full.on, full.off],
  ]
  for (const [reason, begin, end] of faults) {
    const uuid = await givenUpload(25)
    await begin()
    for (let time = 0; time < 8; time++) {
      await app.runJobs()
      t.match(await statusOf(uuid), { status: 'active', processed: 0, reason }, `${reason} (${time})`)
      t.match(await jobOf(uuid), { attempts: 0, later: true }, 'another time')
      await hurry()
    }
    await end()
    await app.runJobs()
    t.match(await statusOf(uuid), { status: 'finished', processedSuccessfully: 25, reason: null }, reason)
  }
})

t.test(
  'an active import without a job gets one, with an exhausted one it ends, a running one is left alone',
  async (t) => {
    const lost = await givenUpload(25)
    await database.sql`select remove_job(${`import:${lost}`})`
    await Promise.all([repairImports(database.db), repairImports(database.db), repairImports(database.db)])
    await app.runJobs()
    t.match(await statusOf(lost), { status: 'finished', processed: 25, processedSuccessfully: 25 })

    const exhausted = await givenUpload(25)
    await database.sql`select permanently_fail_jobs(array(
      select id from jobs where key = ${`import:${exhausted}`}))`
    await repairImports(database.db)
    t.match(await statusOf(exhausted), { status: 'error', reason: /herhaalde pogingen/ })
    t.equal((await outcome(app, exhausted)).rows.length, 25)

    const running = await givenUpload(25)
    const [job] = await database.sql`
      select id from permanently_fail_jobs(array(
        select id from jobs where key = ${`import:${running}`}))`
    await lockJob(database.sql, job!.id, 'x', 0)
    await repairImports(database.db)
    t.match(await statusOf(running), { status: 'active' })
    await database.sql`select force_unlock_workers(array['x'])`
    await endAll()
  },
)

const leftOf = async (id: number) => {
  const [left] = await database.sql`
    select (select count(*)::int from import_row where import_id = ${id}) as regels,
      (select count(*)::int from import_outcome where import_id = ${id}) as resultaten,
      (select count(*)::int from import where id = ${id}) as imports`
  return { ...left }
}
const idOf = async (uuid: string) => (await database.sql`select id from import where uuid = ${uuid}`)[0]!.id as number

t.test('a deleted import is gone at once, its rows bit by bit, its documents stay', async (t) => {
  const { uuid } = await runImport(app, rowsOf(25))
  const id = await idOf(uuid)
  await database.sql`insert into import_row select ${id}, n, '[]' from generate_series(100, 35000, 2) n`
  const before = await documents()
  t.equal((await call('DELETE', `${API}/${uuid}/delete`)).status, 204)
  for (const path of ['', '/status', '/report']) t.equal((await call('GET', `${API}/${uuid}${path}`)).status, 404, path)
  t.equal((await call('DELETE', `${API}/${uuid}/delete`)).status, 404)
  t.notOk((await call('GET', API)).body.results.some(({ url }: { url: string }) => url.endsWith(uuid)))
  await app.runJobs()
  t.strictSame(await leftOf(id), { regels: 0, resultaten: 0, imports: 0 })
  t.equal(await documents(), before)
})

t.test('what an upload left goes bit by bit, and nothing of another', async (t) => {
  const { sql } = database
  const drafts = await sql<{ id: number }[]>`
    insert into import_draft (base_url, deleted_at) select 'http://localhost', now() from generate_series(1, 3) returning id`
  const [gone, kept, taken] = drafts.map(({ id }) => id)
  for (const id of [gone!, kept!]) {
    await sql`insert into import_row (import_id, number, cells) select ${-id}, n, '[]' from generate_series(2, 25001) n`
    await sql`insert into import_draft_key select ${id}, n::text from generate_series(1, 25000) n`
    await sql`insert into import_draft_fault select ${id}, n, 'titel 2: x' from generate_series(2, 9) n`
    await sql`insert into import_draft_fault_kind select ${id}, n, 'x', 1, '[]' from generate_series(-4, 4) n`
  }
  await sql`insert into import (status, rows_id) values ('error', ${-taken!})`
  const lost = taken! + 1
  await sql`
    insert into import_row (import_id, number, cells) select -id, 2, '[]' from unnest(${[taken!, lost]}::bigint[]) id`
  for (const id of [gone!, taken!]) await sql`select add_job('remove-draft', json_build_object('id', ${id}::bigint))`
  await app.runJobs()
  const still = await sql<{ id: number }[]>`
    select import_id::int as id from import_row where import_id = any(${[-taken!, -lost]}::bigint[]) order by 1`
  t.same([...still], [{ id: -lost }, { id: -taken! }], 'those that an import took stay')
  await deleteOldDrafts(database.db)
  await app.runJobs()
  t.same(
    [...(await sql`select from import_row where import_id = ${-lost}`)],
    [],
    'those of a draft that is not there do not',
  )
  await sql`delete from import_row where import_id = ${-taken!}`
  const left = await sql`
    select -r.import_id::int as id, (select count(*)::int from import_draft_key k where k.draft_id = -r.import_id) as keys, count(*)::int as rows
    from import_row r where r.import_id < 0 group by 1, r.import_id`
  t.same([...left], [{ id: kept, keys: 25_000, rows: 25_000 }])
  t.same(
    [...(await sql`select id from import_draft`)].map(({ id }) => id),
    [kept],
  )
  t.same(
    [
      ...(await sql`select distinct draft_id from import_draft_fault union all select distinct draft_id from import_draft_fault_kind`),
    ].length,
    2,
  )
  await sql`delete from import_draft`
})

t.test('a deleted pending import makes room at once', async (t) => {
  const uuid = await givenImport(app)
  t.equal((await call('DELETE', `${API}/${uuid}/delete`)).status, 204)
  const next = await givenImport(app)
  await call('DELETE', `${API}/${next}/delete`)
  await app.runJobs()
})

t.test('a report that is being read breaks off when its rows are removed', async (t) => {
  const { uuid } = await runImport(app, rowsOf(25))
  const row = (await database.db
    .selectFrom('import')
    .where('uuid', '=', uuid)
    .selectAll()
    .executeTakeFirstOrThrow()) as never
  t.equal((await Array.fromAsync(reportRows(readerOf(database), row, { toegekend: false }))).length, 25)
  await call('DELETE', `${API}/${uuid}/delete`)
  await app.runJobs()
  await t.rejects(
    Array.fromAsync(reportRows(readerOf(database), row, { toegekend: false })),
    /being removed|Niet gevonden/,
  )
})

t.test(
  'files are added up before the first byte: a batch is cut where it fits, and what does not is named',
  async (t) => {
    const { store } = app.parts
    const { space } = store
    t.teardown(() => {
      store.space = space!
    })
    const before = new Set((await Array.fromAsync(store.list())).map(({ key }) => key))
    let size = 220 // of which 20 are left to others
    store.space = async () => {
      const stored = await Array.fromAsync(store.list())
      const used = stored.reduce((sum, { key, size }) => sum + (before.has(key) ? 0 : size), 0)
      return { free: size - used, total: 1000 }
    }
    const names = await Promise.all(
      [60, 60, 2000, 60, 60, 60].map((length, n) => givenFile(app, `groot/${n}.bin`, 'x'.repeat(length))),
    )
    const uuid = await givenImport(app)
    await call('POST', `${API}/${uuid}/upload`, csvText(names.map((name) => goodRow(type, name))))
    await app.runJobs()
    t.match(await statusOf(uuid), {
      status: 'active',
      processed: 4,
      processedSuccessfully: 3,
      reason: 'Wacht op ruimte in de opslag: rij 6 (groot/4.bin) vraagt 0,1 kB, vrij is 0,0 kB.',
    })
    size = 1000
    await hurry()
    await app.runJobs()
    const { status, rows } = await outcome(app, uuid)
    t.match(status, { status: 'finished', processedSuccessfully: 5, processedInvalid: 1, reason: null })
    t.match(rows[2], { opmerking: 'bestandspad: Dit bestand is 2,0 kB, en de opslag is 1,0 kB.' })
    const stored = (await Array.fromAsync(store.list())).filter(({ key }) => !before.has(key))
    t.equal(stored.length, 5, 'nothing of another try is left')
  },
)

t.test('by IMPORT_TOO_LARGE=wait a file that can never fit is waited for, until the store is larger', async (t) => {
  const waiting = await testApp(t, { IMPORT_TOO_LARGE: 'wait' })
  const { store } = waiting.parts
  let total = 1000
  store.space = async () => ({ free: total, total })
  const brief = await givenInformatieobjecttype(waiting)
  const names = [await givenFile(waiting, 'klein.bin', 'x'), await givenFile(waiting, 'groot.bin', 'x'.repeat(2000))]
  const uuid = await givenImport(waiting)
  await waiting.call('POST', `${API}/${uuid}/upload`, csvText(names.map((name) => goodRow(brief, name))))
  await waiting.runJobs()
  t.match((await waiting.call('GET', `${API}/${uuid}`)).body, {
    status: 'active',
    processed: 1,
    processedInvalid: 0,
    reason: 'Wacht op ruimte in de opslag: rij 3 (groot.bin) vraagt 2,0 kB, vrij is 1,0 kB.',
  })
  total = 5000
  await hurryQueue(waiting.database.sql)
  await waiting.runJobs()
  t.match((await outcome(waiting, uuid)).status, { status: 'finished', processedSuccessfully: 2, reason: null })
})

t.test('a report beside the delete of its import is 404, and never one that lacks rows', async (t) => {
  const { uuid } = await runImport(app, csvText(Array.from({ length: 3 }, () => goodRow(type, 'brief.txt'))))
  const { id } = (await database.sql<{ id: number }[]>`select id from import where uuid = ${uuid}`)[0]!
  await database.sql`delete from import_row where import_id = ${id} and number = 2`
  t.equal((await call('GET', `${API}/${uuid}/report`)).status, 404, 'the first rows go first')
  await database.sql`delete from import_row where import_id = ${id}`
  t.equal((await call('GET', `${API}/${uuid}/report`)).status, 404)
})

t.test('retention removes what is old by its kind, and never an active import', async (t) => {
  await endAll()
  await database.sql`update import set deleted_at = now() where deleted_at is null` // of earlier tests
  const made = async (status: string, created: number, ended: number | null) => {
    const [row] = await database.sql`
      insert into import (status, created_at, ended_at)
      values (${status}, now() - ${created} * interval '1 day', now() - ${ended} * interval '1 day') returning uuid`
    return row!.uuid as string
  }
  const kept = [await made('finished', 30, 6.9), await made('error', 30, 1), await made('active', 30, null)]
  const removed = [await made('finished', 30, 7.1), await made('error', 8, 8)]
  t.equal(await deleteOldImports(app.parts), 2)
  for (const uuid of kept) t.equal((await call('GET', `${API}/${uuid}`)).status, 200)
  for (const uuid of removed) t.equal((await call('GET', `${API}/${uuid}`)).status, 404)
  await database.sql`update import set status = 'error', ended_at = now() where status = 'active'`

  const young = await made('pending', 6.9, null)
  t.equal(await deleteOldImports(app.parts), 0)
  await database.sql`update import set created_at = now() - interval '8 days' where uuid = ${young}`
  await database.sql.begin(async (trx) => {
    await trx`select from import where uuid = ${young} for update` // as an upload holds it
    t.equal(await deleteOldImports(app.parts), 0, 'not while it is being uploaded')
  })
  t.equal(await deleteOldImports(app.parts), 1, 'pending: by its creation')
  await app.runJobs()
  t.strictSame(
    Array.from(await database.sql`select from import where uuid in ${database.sql([young, ...removed])}`),
    [],
  )
})

t.test('the daily task also removes files that no document knows, when they are a day old', async (t) => {
  await runImport(app, rowsOf(3))
  const { documentenDir } = app.config
  const stray = (name: string) => join(documentenDir, '2026', '01', '01', name)
  await mkdir(join(documentenDir, '2026', '01', '01'), { recursive: true })
  const names = ['6f9619ff-8b86-4d01-b42d-00cf4fc964f1', '6f9619ff-8b86-4d01-b42d-00cf4fc964f2']
  for (const name of names) await writeFile(stray(name), 'stray')
  // What was prepared ahead and is not needed is removed some time later.
  await until('nothing is prepared', async () => (await database.sql`select from import_ahead`).length === 0)
  await database.sql`select add_job('retention')`
  await app.runJobs()
  await database.sql`update stray_file set seen_at = now() - interval '25 hours' where name not like ${`%${names[1]}`}`
  await database.sql`select add_job('retention')`
  await app.runJobs()
  const files = await filesIn(documentenDir)
  t.notOk(
    files.some((file) => file.endsWith(names[0]!)),
    'old and unknown',
  )
  t.ok(
    files.some((file) => file.endsWith(names[1]!)),
    'it may belong to a batch that is being written',
  )
  for (const { key } of await database.sql`select key from file`) {
    if (!files.includes(join(documentenDir, key))) t.fail('a file of a document was removed')
  }
})

async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => join(entry.parentPath, entry.name))
}

t.test('an import directory that would give away our own files stops the program', async (t) => {
  const { config, databaseUrl } = app
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
  const start = async (command: string, base: string) => {
    const env = {
      DATABASE_URL: databaseUrl,
      SECRET_KEY: config.secretKey!,
      DATA_DIR: config.dataDir,
      PORT: '0',
      IMPORT_DOCUMENTEN_BASE_DIR: base,
    }
    const child = spawn(process.execPath, [main, command], { env: programEnv(env) })
    child.stdout.resume()
    const [told, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
    return { told, code }
  }
  const [api, worker] = await Promise.all([start('api', config.dataDir), start('worker', config.documentenDir)])
  t.match(api, { code: 78, told: /IMPORT_DOCUMENTEN_BASE_DIR/ })
  t.match(worker, { code: 78, told: /IMPORT_DOCUMENTEN_BASE_DIR/ })
  const require = (importBaseDir: string) => requireImportBaseDir({ ...config, importBaseDir }, app.parts.log)
  const own = [
    '/',
    join(config.dataDir, '..'),
    join(config.documentenDir, '.tmp'),
    fileURLToPath(new URL('../..', import.meta.url)),
  ]
  for (const base of own) t.throws(() => require(base), /IMPORT_DOCUMENTEN_BASE_DIR/, base)
  for (const base of [app.importDir, join(app.importDir, 'geen')]) t.doesNotThrow(() => require(base), base)
})
