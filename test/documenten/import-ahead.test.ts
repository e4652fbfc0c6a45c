// Batches that workers prepare before it is their turn: who prepares them, who writes them, and what becomes of their files.
import t, { type Test } from 'tap'
import { endClaim, openAhead } from '../../src/documenten/import/ahead.ts'
import { copyPool } from '../../src/documenten/import/copy.ts'
import type { FileToCopy } from '../../src/documenten/import/source-file.ts'
import { givenInformatieobjecttype, type TestApp, testApp } from '../app.ts'
import { until } from '../until.ts'
import { API, csvText, givenFile, givenImport, goodRow, outcome } from './importing.ts'

const ROWS = 200
const BATCH = 10

/** An import of `ROWS` rows, of which some fail, that has been uploaded. */
async function givenUpload(t: Test) {
  const app = await testApp(t, { IMPORT_DOCUMENTEN_BATCH_SIZE: String(BATCH) })
  const type = await givenInformatieobjecttype(app)
  const rows = await Promise.all(
    Array.from({ length: ROWS }, async (_, n) =>
      goodRow(type, n % 7 === 3 ? 'geen.txt' : await givenFile(app, `${n}.txt`), {
        uuid: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
        identificatie: `A${n - (n % 11 === 10 ? 10 : 0)}`,
      }),
    ),
  )
  const csv = csvText(rows)
  const uuid = await givenImport(app)
  await app.call('POST', `${API}/${uuid}/upload`, csv)
  return { app, uuid, csv }
}

/** Another process of the same installation, that helps. */
function givenHelper(t: Test, app: TestApp, onCopy: (files: FileToCopy[]) => Promise<void> = async () => {}) {
  const pool = copyPool({ baseDir: app.config.importBaseDir, opslagRoot: app.config.documentenDir })
  const copied: number[] = []
  const helper = openAhead({
    ...app.parts,
    copyFiles: async (files) => {
      await onCopy(files)
      copied.push(...files.map(({ number }) => number))
      return pool.copyFiles(files)
    },
  })
  const stop = () => Promise.all([helper.stop(), pool.stop()])
  t.teardown(stop)
  return { helper, copied, stop }
}

const claims = async ({ database }: TestApp) =>
  Array.from(
    await database.sql<{ start: number; rows: number; gereed: boolean }[]>`
    select start, rows, content is not null as gereed from import_ahead order by start`,
  )

const stored = async ({ parts }: TestApp) => (await Array.fromAsync(parts.store.list())).map(({ key }) => key)

const ready = (app: TestApp, count: number) =>
  until(`${count} batches are ready`, async () => (await claims(app)).filter(({ gereed }) => gereed).length === count)

async function requireWhole(t: Test, app: TestApp): Promise<void> {
  const keys = await app.database.sql<{ key: string }[]>`select key from file order by key`
  t.strictSame(
    (await stored(app)).sort(),
    keys.map(({ key }) => key),
    'the files are those of documents',
  )
  t.strictSame(await claims(app), [])
}

t.setTimeout(580_000)

t.test(
  'what another worker prepared is written as it is: no file is copied twice, and the report is that of one',
  async (t) => {
    const one = await givenUpload(t)
    await one.app.runJobs()
    const expected = await outcome(one.app, one.uuid)
    t.match(expected.status, { status: 'finished', processed: ROWS })

    const two = await givenUpload(t)
    const { helper, copied } = givenHelper(t, two.app)
    await helper.look()
    await ready(two.app, 3)
    t.strictSame(
      await claims(two.app),
      [0, 10, 20].map((start) => ({ start, rows: BATCH, gereed: true })),
    )
    await two.app.runJobs()
    const { status, text } = await outcome(two.app, two.uuid)
    t.match(status, { status: 'finished', processed: ROWS })
    t.equal(
      text.replaceAll(/informatieobjecttypen\/[-0-9a-f]+/g, ''),
      expected.text.replaceAll(/informatieobjecttypen\/[-0-9a-f]+/g, ''),
    )
    t.ok(copied.length >= 3 * BATCH * 0.7, `${copied.length} rows were prepared by the helper`)
    await helper.look()
    await requireWhole(t, two.app)
  },
)

t.test('a batch whose helper has gone silent is prepared by its job', async (t) => {
  const { app, uuid } = await givenUpload(t)
  const { id } = (await app.database.sql<{ id: number }[]>`select id from import where uuid = ${uuid}`)[0]!
  await app.database.sql`
    insert into import_ahead (import_id, start, rows, claim, seen_at)
    values (${id}, 0, ${BATCH}, gen_random_uuid(), now() - interval '5 seconds'),
      (${id}, ${BATCH}, ${BATCH}, gen_random_uuid(), now() - interval '5 seconds')`
  const { helper } = givenHelper(t, app)
  await helper.look()
  await ready(app, 3)
  t.strictSame(
    (await claims(app)).map(({ start, gereed }) => [start, gereed]),
    [
      [0, false],
      [10, false],
      [20, true],
      [30, true],
      [40, true],
    ],
    'a helper leaves it alone',
  )
  await app.runJobs()
  t.match((await outcome(app, uuid)).status, { status: 'finished', processed: ROWS })
  await helper.look()
  await requireWhole(t, app)
})

t.test('a helper that was taken for dead loses its claim and removes its files', async (t) => {
  const { app, uuid } = await givenUpload(t)
  const frozen = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  const { helper } = givenHelper(t, app, async (files) => {
    if (files[0]!.number !== 2) return
    reached.resolve()
    await frozen.promise
  })
  await helper.look()
  await reached.promise
  const stopped = until('the first batch is written', async () => {
    await app.database
      .sql`update import_ahead set seen_at = now() - interval '5 seconds' where start = 0 and content is null`
    const [row] = await app.database.sql<{ processed: number }[]>`select processed from import where uuid = ${uuid}`
    return row!.processed > 0
  })
  await Promise.all([app.runJobs(), stopped])
  frozen.resolve()
  t.match((await outcome(app, uuid)).status, { status: 'finished', processed: ROWS })
  await helper.stop()
  await requireWhole(t, app)
})

t.test('what was prepared for an import that is cancelled is removed', async (t) => {
  const { app, uuid } = await givenUpload(t)
  const { helper } = givenHelper(t, app)
  await helper.look()
  await ready(app, 3)
  t.ok((await stored(app)).length > 0)
  await app.call('POST', `${API}/${uuid}/cancel`)
  await until('nothing is left', async () => (await stored(app)).length === 0)
  t.strictSame(await claims(app), [])
})

t.test('what was prepared long ago is prepared again, because its files may be swept away', async (t) => {
  const { app, uuid } = await givenUpload(t)
  const { helper, stop } = givenHelper(t, app)
  await helper.look()
  await ready(app, 3)
  await stop()
  const old = await stored(app)
  await app.database.sql`update import_ahead set seen_at = now() - interval '11 minutes'`
  for (const key of old) await app.parts.store.remove(key)
  await app.runJobs()
  t.match((await outcome(app, uuid)).status, { status: 'finished', processed: ROWS })
  await until('nothing is left', async () => (await claims(app)).length === 0)
  await requireWhole(t, app)
})

t.test('the worker that prepared it long ago does not trust its files either', async (t) => {
  const { app, uuid } = await givenUpload(t)
  const { helper } = givenHelper(t, app)
  await helper.look()
  await ready(app, 3)
  const { id } = (await app.database.sql<{ id: number }[]>`select id from import where uuid = ${uuid}`)[0]!
  const [claim] = await app.database.sql<{ claim: string }[]>`select claim from import_ahead where start = 0`
  const end = () => app.database.sql.begin((connection) => endClaim(connection, id, claim!.claim))
  await app.database.sql`update import_ahead set seen_at = now() - interval '11 minutes'`
  t.equal(await end(), false)
  await app.database.sql`update import_ahead set seen_at = now() - interval '9 minutes'`
  t.equal(await end(), true)
  t.equal(await end(), false, 'once')
})

t.test('claims that begin elsewhere give way to those of the position', async (t) => {
  const { app, uuid } = await givenUpload(t)
  const { helper, stop } = givenHelper(t, app)
  await helper.look()
  await ready(app, 3)
  await stop()
  await app.database.sql`update import_ahead set start = start + 5`
  await app.runJobs()
  t.match((await outcome(app, uuid)).status, { status: 'finished', processed: ROWS })
  await until('nothing is left', async () => (await claims(app)).length === 0)
})

t.test(
  'a batch is kept from helpers, whoever claims it at the same moment, and what they prepared of it is removed',
  async (t) => {
    const { app, uuid } = await givenUpload(t)
    const { id } = (await app.database.sql<{ id: number }[]>`select id from import where uuid = ${uuid}`)[0]!
    const { helper } = givenHelper(t, app)
    await helper.look()
    await ready(app, 3)
    const before = await stored(app)
    // Another worker, which is so quick that it claims what is given up before anybody else can.
    await app.database.sql.unsafe(`
    create function claim_again() returns trigger language plpgsql as $$ begin
      insert into import_ahead (import_id, start, rows, claim) values (old.import_id, old.start, old.rows, gen_random_uuid()) on conflict do nothing;
      return null;
    end $$;
    create trigger claim_again after delete on import_ahead for each row when (pg_trigger_depth() = 0) execute function claim_again()`)
    const { helper: careful } = givenHelper(t, app)
    t.equal(await careful.reserve({ id, batchSize: BATCH } as Parameters<typeof careful.reserve>[0], 0), BATCH)
    t.equal(await careful.reserve({ id, batchSize: BATCH } as Parameters<typeof careful.reserve>[0], ROWS - 5), 5)
    t.match((await claims(app))[0], { start: 0, rows: BATCH, gereed: false })
    t.ok((await stored(app)).length < before.length, 'its files are gone')
    await app.database.sql`drop trigger claim_again on import_ahead`
  },
)
