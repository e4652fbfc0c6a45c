// No clock of a process decides what is removed, and a jump of the clock of the database stops what would be removed by it.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { mutator } from '../../src/core/mutate.ts'
import { newKey } from '../../src/documenten/storage/index.ts'
import { planPeriodic } from '../../src/jobs/periodic.ts'
import { blockOverflowing } from '../../src/nrc/abonnement/state.ts'
import { lastSetback, pullBack, watchClock } from '../../src/operations/clock.ts'
import { clockGap } from '../../src/operations/retention.ts'
import { PERIODIC } from '../../tasks/index.ts'
import { retention } from '../../tasks/retention.ts'
import { type TestApp, testApp } from '../app.ts'
import { givenChange } from '../notificaties/given.ts'
import { builtIn, idsOf, subscribe, uuidOf } from '../nrc/given.ts'
import { subscriber } from '../nrc/subscriber.ts'
import { until } from '../until.ts'

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
  const write = async (text: string) => (await parts.store.write(newKey(), [Buffer.from(text)] as never)).key
  await sql`insert into file (backend, key, size, sha256) values ('filesystem', ${await write('x')}, 1, sha256('x'::bytea))`
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
    await sql`update stray_file set seen_at = now() - interval '25 hours'`
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
  await sql`update stray_file set seen_at = now() - interval '3000 days'`
  const [row] = await sql<
    { id: number }[]
  >`insert into import (status, paused_at) values ('active', now()) returning id`
  const { id } = row!
  await run(test)
  t.equal(await there(test), 2, 'an import that is paused')
  await sql`insert into import_ahead (import_id, start, rows, claim) values (${id}, 0, 1, gen_random_uuid())`
  await sql`update import set status = 'error'`
  await run(test)
  t.equal(await there(test), 2, 'a batch that was prepared for an import which may be resumed')
  await sql`delete from import_ahead`
  const moving = await sql.reserve()
  await moving`select pg_advisory_lock(7319204, hashtext(current_schema()))`
  await run(test)
  t.equal(await there(test), 2, 'documents are being moved')
  await moving`select pg_advisory_unlock(7319204, hashtext(current_schema()))`
  moving.release()
  await run(test)
  t.equal(await there(test), 1)
})

t.test('a moment that a clock noted which was ahead does not keep bytes for ever', async (t) => {
  const test = await testApp(t)
  const { sql } = test.database
  await givenOrphan(test)
  await run(test)
  await sql`update stray_file set seen_at = now() + interval '10 years'`
  await run(test)
  t.equal((await sql`select from stray_file where seen_at > now()`).length, 0)
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
  const [stopped] = await sql`select fault, ended_at is not null as klaar from retention_run order by id desc limit 1`
  t.match(stopped, { fault: /niets verwijderd.*800 dagen geleden/, klaar: true })
  await test.parts.database.sql`select add_job('remove-file', '{"bestanden":[0],"kept":true}')`
  await test.runJobs()
  t.match(
    Array.from(await sql`select run_at > now() as later from jobs where task_identifier = 'remove-file'`),
    [{ later: true }],
    'nor goes what is kept for a while',
  )
  await run(test, 'beheerder')
  t.equal(await left(), 0)
  await sql`insert into import (status, created_at, ended_at) values ('finished', now() - interval '801 days', now() - interval '801 days')`
  await run(test)
  t.equal(await left(), 0, 'and then it goes on by itself')
})

const known = async ({ database: { sql } }: TestApp) =>
  Object.fromEntries(
    (
      await sql<{ task: string; minutes: number }[]>`
      select task, floor(extract(epoch from now() - last_at) / 60)::int as minutes from periodic_job`
    ).map((row) => [row.task, row.minutes]),
  )
const queued = async ({ database: { sql } }: TestApp) =>
  Array.from(await sql<{ task: string }[]>`select task_identifier as task from jobs order by 1`).map(({ task }) => task)

t.test('periodic jobs come once a moment, whoever looks, and skipped moments are made up once', async (t) => {
  const test = await testApp(t)
  const { sql } = test.database
  const first = await planPeriodic(sql, PERIODIC)
  t.strictSame(first, { planned: [], aheadSeconds: 0 }, 'those of before the first look are not made up')
  await sql`update periodic_job set last_at = last_at - case when task = 'retention' then interval '3 days' else interval '3 hours' end`
  const looks = await Promise.all([1, 2, 3].map(() => planPeriodic(sql, PERIODIC)))
  t.strictSame(looks.flatMap(({ planned }) => planned).sort(), [
    'block-abonnementen',
    'fold-counts',
    'remove-keys',
    'retention',
    'rotate-signing-keys',
    'send-digests',
    'watch-alerts',
    'watch-feed',
  ])
  t.strictSame(await queued(test), [
    'block-abonnementen',
    'fold-counts',
    'remove-keys',
    'retention',
    'rotate-signing-keys',
    'send-digests',
    'watch-alerts',
    'watch-feed',
  ])
  t.match(await known(test), { 'fold-counts': 0, 'block-abonnementen': 0 })
})

t.test('a clock that was ahead for a minute stops no periodic job', async (t) => {
  const test = await testApp(t)
  const { sql } = test.database
  await planPeriodic(sql, PERIODIC)
  await sql`update periodic_job set last_at = last_at + interval '10 days'`
  const { planned, aheadSeconds } = await planPeriodic(sql, PERIODIC)
  t.strictSame(planned, [])
  t.ok(aheadSeconds > 9 * 86400, String(aheadSeconds))
  t.match(await known(test), { 'fold-counts': 0, 'block-abonnementen': 0 })
  await sql`update periodic_job set last_at = last_at - interval '1 minute' where task = 'fold-counts'`
  t.strictSame((await planPeriodic(sql, PERIODIC)).planned, ['fold-counts'])
})

t.test('what a clock planned that was set back goes on within a minute, and is said', async (t) => {
  const test = await builtIn(t)
  const { sql } = test.database
  const to = await subscriber(t, { auth: 'x' })
  uuidOf(await subscribe(test, to.url))
  to.answer.status = 500
  const tried = await givenChange(test)
  await test.runJobs()
  const made = await givenChange(test)
  await sql`select add_job('fold-counts', run_at => now() + interval '30 minutes', job_key => 'later')`
  const mutate = mutator(test.parts.database, { announces: () => true })
  t.equal(await pullBack(sql, mutate), undefined, 'what the schedule planned stays')

  // As two hours were noted and then taken back.
  await sql`update delivery set next_attempt_at = next_attempt_at + interval '2 hours', begun_at = begun_at + interval '2 hours'`
  await sql`update abonnement set not_before = now() + interval '2 hours 5 seconds', last_fault_at = now() + interval '2 hours'`
  const [{ id }] = (await sql`select id from jobs where key = 'later'`) as unknown as [{ id: string }]
  await sql`update _private_jobs set run_at = run_at + interval '2 hours', updated_at = updated_at + interval '2 hours' where id = ${id}`
  const lines: unknown[] = []
  const log = { warn: (facts: object, text: string) => lines.push({ ...facts, text }) } as never
  await sql`update periodic_job set last_at = last_at + interval '2 hours'`
  await planPeriodic(sql, PERIODIC)
  await sql`update periodic_job set last_at = last_at + interval '2 hours' where task = 'fold-counts'`
  await watchClock({ periodic: PERIODIC, mutate, log })(sql)
  t.match(lines, [{ deliveries: 2, receivers: 1, jobs: 1, resumed: 0, text: /ahead/ }])
  const late = await sql`
    select from delivery where next_attempt_at > now() + interval '61 seconds'
    union all select from abonnement where not_before > now() or last_fault_at > now()
    union all select from jobs where run_at > now() + interval '31 minutes'`
  t.equal(late.length, 0)
  t.ok((await lastSetback(sql))!.aheadSeconds > 7000)
  t.equal(await pullBack(sql, mutate), undefined, 'once')

  to.answer.status = 204
  to.received.length = 0
  await sql`update delivery set next_attempt_at = least(next_attempt_at, now())`
  await test.runJobs()
  t.strictSame(idsOf(to.received).sort(), [tried, made].sort())
})

t.test('a wait that neither the settings nor a receiver can have asked for is pulled back', async (t) => {
  const test = await builtIn(t)
  const { sql } = test.database
  const to = await subscriber(t, { auth: 'x' })
  await subscribe(test, to.url)
  to.answer.status = 500
  await givenChange(test)
  await test.runJobs()
  const mutate = mutator(test.parts.database, { announces: () => true })
  // Begun before the clock jumped, recorded while it was ahead.
  await sql`update delivery set next_attempt_at = now() + interval '59 minutes'`
  t.equal(await pullBack(sql, mutate), undefined, 'a receiver may ask for an hour')
  await sql`update delivery set next_attempt_at = now() + interval '2 hours'`
  t.match(await pullBack(sql, mutate), { deliveries: 1 })
  await sql`update delivery set retries = 7, next_attempt_at = now() + interval '14 hours'`
  t.equal(await pullBack(sql, mutate), undefined, 'the seventh retry waits that long')
  await sql`update notificatie_settings set changed_at = now(), backoff = '1'`
  t.equal(await pullBack(sql, mutate), undefined, 'nor is it held against new settings')
})

t.test('an abonnement that a clock which was ahead blocked is resumed, with what it missed', async (t) => {
  const test = await builtIn(t)
  const { sql } = test.database
  const to = await subscriber(t, { auth: 'x' })
  const uuid = uuidOf(await subscribe(test, to.url))
  to.answer.status = 500
  const ids = [await givenChange(test)]
  await test.runJobs()
  await sql`update notificatie set aanmaakdatum = aanmaakdatum - interval '15 days'`
  t.match(await blockOverflowing(test.parts.database), [{ uuid }])
  await sql`update notificatie set aanmaakdatum = aanmaakdatum + interval '15 days'`
  ids.push(await givenChange(test))
  const mutate = mutator(test.parts.database, { announces: () => true })
  t.equal(await pullBack(sql, mutate), undefined, 'blocked by a clock that was right: a person resumes it')
  await sql`update abonnement set status_since = status_since + interval '10 days'`
  t.match(await pullBack(sql, mutate), { resumed: 1 })
  t.match(Array.from(await sql`select status from abonnement`), [{ status: 'actief' }])
  t.match(await lastSetback(sql), { resumed: 1 })
  to.answer.status = 204
  to.received.length = 0
  await until('both messages', async () => {
    await sql`select reschedule_jobs(array(select id from jobs where task_identifier = 'replay-messages'), run_at => now())`
    await sql`update delivery set next_attempt_at = now()`
    await test.runJobs()
    return ids.every((id) => idsOf(to.received).includes(id))
  })
})
