// No clock of a process decides what is removed, and a jump of the clock of the database stops what would be removed by it.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { newKey } from '../../src/documenten/storage/index.ts'
import { clockGap } from '../../src/operations/retention.ts'
import { retention } from '../../tasks/retention.ts'
import { type TestApp, testApp } from '../app.ts'

const DAY = 24 * 3600_000

/** Works with the clock of this process moved. */
async function at<T>(ms: number, work: () => Promise<T>): Promise<T> {
  const { now } = Date
  const real = globalThis.Date
  globalThis.Date = class extends real {
    constructor(...given: unknown[]) {
      super(...((given.length === 0 ? [now() + ms] : given) as [number]))
    }
    static override now = () => now() + ms
  } as DateConstructor
  try {
    return await work()
  } finally {
    globalThis.Date = real
  }
}

const run = async ({ parts }: TestApp, door?: string) => retention(parts as never)(door ? { door } : {}, {} as never)

/** One that is known, so that the store is ours, and one of which no row tells. */
async function givenOrphan({ parts, database: { sql }, config }: TestApp): Promise<string> {
  const write = async (text: string) => (await parts.store.write(newKey(), [Buffer.from(text)] as never)).sleutel
  await sql`insert into bestand (backend, sleutel, omvang, sha256) values ('filesystem', ${await write('x')}, 1, sha256('x'::bytea))`
  writeFileSync(join(config.documentenDir, '.tmp/half'), 'x')
  return write('wees')
}

const there = async ({ parts }: TestApp) => (await Array.fromAsync(parts.store.list())).length
const unfinished = async ({ parts }: TestApp) => (await Array.fromAsync(parts.store.unfinished())).length

t.test(
  'bytes without a row go a day after the database noted them, whatever the clock of the worker says',
  async (t) => {
    const test = await testApp(t)
    const { sql } = test.database
    await givenOrphan(test)
    for (const days of [3, -3, 3650]) await at(days * DAY, () => run(test))
    t.equal(await there(test), 2)
    t.equal(await unfinished(test), 1)
    await sql`update bestand_zonder_rij set seen_at = now() - interval '25 hours'`
    await at(-3 * DAY, () => run(test))
    t.equal(await there(test), 1)
    t.equal(await unfinished(test), 0)
  },
)

t.test('bytes stay whatever their age as long as something is open that may name them', async (t) => {
  const test = await testApp(t)
  const { sql } = test.database
  await givenOrphan(test)
  await run(test)
  await sql`update bestand_zonder_rij set seen_at = now() - interval '3000 days'`
  const [row] = await sql<
    { id: number }[]
  >`insert into import (status, paused_at) values ('active', now()) returning id`
  const { id } = row!
  await run(test)
  t.equal(await there(test), 2, 'an import that is paused')
  await sql`insert into import_ahead (import_id, vanaf, rijen, claim) values (${id}, 0, 1, gen_random_uuid())`
  await sql`update import set status = 'error'`
  await run(test)
  t.equal(await there(test), 2, 'a batch that was prepared for an import which may be resumed')
  await sql`delete from import_ahead`
  const moving = await sql.reserve()
  await moving`select pg_advisory_lock(7319204)`
  await run(test)
  t.equal(await there(test), 2, 'documents are being moved')
  await moving`select pg_advisory_unlock(7319204)`
  moving.release()
  await run(test)
  t.equal(await there(test), 1)
})

t.test('a moment that a clock noted which was ahead does not keep bytes for ever', async (t) => {
  const test = await testApp(t)
  const { sql } = test.database
  await givenOrphan(test)
  await run(test)
  await sql`update bestand_zonder_rij set seen_at = now() + interval '10 years'`
  await run(test)
  t.equal((await sql`select from bestand_zonder_rij where seen_at > now()`).length, 0)
})

t.test('a clock of the database that jumped stops retention, and says so, until a person starts it', async (t) => {
  const test = await testApp(t)
  const { sql } = test.database
  t.equal(await clockGap(sql), undefined, 'a new database')
  await sql`update migration set applied_at = now() - interval '900 days'`
  await sql`insert into retention_run (begun_at, ended_at) values (now() - interval '800 days', now() - interval '800 days')`
  await sql`insert into import (status, created_at, ended_at) values ('finished', now() - interval '801 days', now() - interval '801 days')`
  const left = async () => (await sql`select from import where deleted_at is null`).length
  await run(test)
  await run(test)
  t.equal(await left(), 1)
  const [stopped] = await sql`select fout, ended_at is not null as klaar from retention_run order by id desc limit 1`
  t.match(stopped, { fout: /niets verwijderd.*800 dagen geleden/, klaar: true })
  await test.parts.database.sql`select graphile_worker.add_job('remove-file', '{"bestanden":[0],"kept":true}')`
  await test.runJobs()
  t.match(
    Array.from(
      await sql`select run_at > now() as later from graphile_worker.jobs where task_identifier = 'remove-file'`,
    ),
    [{ later: true }],
    'nor goes what is kept for a while',
  )
  await run(test, 'beheerder')
  t.equal(await left(), 0)
  await sql`insert into import (status, created_at, ended_at) values ('finished', now() - interval '801 days', now() - interval '801 days')`
  await run(test)
  t.equal(await left(), 0, 'and then it goes on by itself')
})
