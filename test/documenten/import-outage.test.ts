// Slow: a worker dies of a row again and again.
// Rows that are too much for a worker: one that kills it every time, and many that are large.
// In a process of its own: it takes away what the import needs.
import { Logger, runTaskListOnce } from 'graphile-worker'
import pg from 'pg'
import t from 'tap'
import { openCopy } from '../../src/cli/run-worker.ts'
import type { FileToCopy } from '../../src/documenten/import/source-file.ts'
import { importBatch } from '../../tasks/import-batch.ts'
import { givenInformatieobjecttype, type TestApp, testApp } from '../app.ts'
import { API, csvText, givenFile, givenImport, goodRow, outcome, runImport } from './importing.ts'

/**
 * Runs the jobs of an import as a worker would that dies as soon as it copies one of these files. What the others do when
 * they find a worker dead is done here: its job is counted and freed.
 * @returns how often it died
 */
async function runMortally(app: TestApp, deadly: string[]): Promise<number> {
  const { database } = app
  const pool = openCopy(app.config, app.parts.store)
  const died = new Error('the worker died')
  const copyFiles = async (files: FileToCopy[]) => {
    if (files.some(({ bestandspad }) => deadly.includes(bestandspad))) throw died
    return pool.copyFiles(files)
  }
  const client = new pg.Client({ connectionString: app.databaseUrl })
  await client.connect()
  let deaths = 0
  try {
    for (;;) {
      // A process that died left nothing that was prepared ahead either.
      const task = importBatch({ ...app.parts, copyFiles })
      await runTaskListOnce(
        { logger: new Logger(() => () => {}), schema: 'zaakstroom_queue' },
        { 'import-batch': task },
        client as never,
      )
      const failed = await database.sql<{ id: string }[]>`
        select id::text from reschedule_jobs(array(
          select id from jobs where last_error like ${`${died.message}%`} and attempts > 0),
          run_at => now(), attempts => 0)`
      if (failed.length === 0) return deaths
      deaths++
      await database.sql`
        insert into worker_crash as crash (job_id) select unnest(${failed.map(({ id }) => id)}::bigint[])
        on conflict (job_id) do update set count = crash.count + 1`
    }
  } finally {
    await client.end()
    await pool.stop()
  }
}

t.test('a row that kills every worker is left out with a reason, and the import goes on', async (t) => {
  const app = await testApp(t, { IMPORT_DOCUMENTEN_BATCH_SIZE: '10' })
  const type = await givenInformatieobjecttype(app)
  const paths = Array.from({ length: 35 }, (_, n) => `${n}.txt`)
  for (const path of paths) await givenFile(app, path)
  const deadly = ['14.txt', '17.txt']
  const uuid = await givenImport(app)
  await app.call('POST', `${API}/${uuid}/upload`, csvText(paths.map((path) => goodRow(type, path))))
  const deaths = await runMortally(app, deadly)
  const { status, rows } = await outcome(app, uuid)
  t.match(status, { status: 'finished', processed: 35, processedSuccessfully: 33, processedInvalid: 2 })
  for (const { bestandspad = '', opmerking, resultaat } of rows) {
    const isDeadly = deadly.includes(bestandspad)
    t.equal(resultaat, isDeadly ? 'Niet geïmporteerd' : 'Geïmporteerd', bestandspad)
    t.match(opmerking, isDeadly ? /overgeslagen/ : /^$/)
  }
  t.equal(deaths, 5 + 3 + 3, 'five times as a batch, three times each alone')
  const [left] = await app.database.sql`
    select count(*)::int as n from jobs where task_identifier = 'import-batch'`
  t.equal(left!.n, 0)
})

t.test('a worker that dies now and then costs no row', async (t) => {
  const app = await testApp(t, { IMPORT_DOCUMENTEN_BATCH_SIZE: '10' })
  const type = await givenInformatieobjecttype(app)
  const paths = Array.from({ length: 20 }, (_, n) => `${n}.txt`)
  for (const path of paths) await givenFile(app, path)
  const uuid = await givenImport(app)
  await app.call('POST', `${API}/${uuid}/upload`, csvText(paths.map((path) => goodRow(type, path))))
  await app.database.sql`insert into worker_crash (job_id, count) select id, 6 from jobs`
  t.equal(await runMortally(app, []), 0)
  t.match((await outcome(app, uuid)).status, { status: 'finished', processedSuccessfully: 20 })
})

t.test('rows of a megabyte make small batches, with the outcome of one', async (t) => {
  const large = 'x'.repeat(900_000)
  const reports: string[] = []
  for (const size of ['500', '3']) {
    const app = await testApp(t, { IMPORT_DOCUMENTEN_BATCH_SIZE: size })
    const type = await givenInformatieobjecttype(app)
    await givenFile(app, 'a.txt')
    const batches: number[] = []
    await app.database.sql.unsafe(`
      create table stappen (processed integer);
      create function stap() returns trigger language plpgsql as $$
        begin insert into stappen values (new.processed - old.processed); return null; end $$;
      create trigger stap after update of processed on import for each row execute function stap()`)
    const rows = Array.from({ length: 40 }, (_, n) => goodRow(type, 'a.txt', n % 2 ? { verschijningsvorm: large } : {}))
    const { status, text } = await runImport(app, csvText(rows))
    // A text of that length is refused, and its row is as large as any until it is judged.
    t.match(status, { status: 'finished', processed: 40, processedSuccessfully: 20 })
    for (const { processed } of await app.database.sql`select processed from stappen where processed > 0`)
      batches.push(processed)
    if (size === '500') t.ok(Math.max(...batches) <= 20, `no batch of more than 8 MiB: ${batches.join(', ')}`)
    reports.push(text.replaceAll(type, 'type'))
  }
  t.equal(reports[0], reports[1])
})
