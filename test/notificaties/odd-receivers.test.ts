// Receivers that answer oddly for a while: what comes late, what comes out of order, and what a message is charged with.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { systemActor } from '../../src/core/access.ts'
import { mutator } from '../../src/core/mutate.ts'
import { schedule } from '../../src/notificaties/backoff.ts'
import { dryRun } from '../../src/notificaties/dry-run.ts'
import { readMissed } from '../../src/nrc/abonnement/missed.ts'
import { replayMessages } from '../../src/nrc/abonnement/replay.ts'
import { givenChange } from './given.ts'
import { type Odd, pass, startOdd } from './odd-receivers.ts'

/** Of these the message may be the cause. */
const OF_THE_MESSAGE = ['400', '413', '415', '422']
const OF_THE_RECEIVER =
  '300,302,401,402,403,404,405,406,407,408,409,411,412,414,416,417,421,423,425,426,428,429,431,451,500,501,502,503,504,511,599'
const ABONNEMENTEN = [...OF_THE_MESSAGE, ...OF_THE_RECEIVER.split(',')]
/** The external service is one: it answers these one after the other. */
const IN_TURN = [...OF_THE_MESSAGE, '302', '401', '404', '408', '429', '503']

for (const [kind, names, rounds] of [
  ['abonnementen', ABONNEMENTEN, [ABONNEMENTEN]],
  ['extern', ['extern'], IN_TURN.map((status) => [status])],
] as const) {
  const nameOf = (status: string) => (kind === 'extern' ? 'extern' : status)

  t.test(
    `${kind}: whatever one answers to everything for a while, the messages of a case keep their order`,
    async (t) => {
      const odd = await startOdd(t, names)
      for (const statuses of rounds) {
        await odd.reset()
        const statusOf = (name: string) => Number(name === 'extern' ? statuses[0] : name)
        odd.answers(statusOf)
        const cases = await givenCases(odd, 3, 2)
        await odd.test.runJobs()
        await pass(odd, 30)
        odd.answers(() => 204)
        await pass(odd, 600)
        for (const status of statuses) t.same(acceptedBy(odd, nameOf(status), cases), cases, status)
      }
    },
  )

  t.test(
    `${kind}: of what one answers to one message, only 400, 413, 415 and 422 let the next of its case pass`,
    async (t) => {
      const odd = await startOdd(t, names)
      for (const statuses of rounds) {
        await odd.reset()
        const object = randomUUID()
        const first = await givenChange(odd.test, object)
        odd.answers((name, id) => (id === first ? Number(name === 'extern' ? statuses[0] : name) : 204))
        const second = await givenChange(odd.test, object, 'update')
        await givenChange(odd.test)
        await odd.test.runJobs()
        const passed = () => statuses.filter((status) => odd.accepted(nameOf(status)).includes(second))
        t.same(passed(), [], 'at first it may be the receiver')
        await givenChange(odd.test)
        await pass(odd, 0)
        await pass(odd, 30)
        t.same(
          passed(),
          statuses.filter((status) => OF_THE_MESSAGE.includes(status)),
          'refused twice, and others accepted between',
        )
        odd.answers(() => 204)
        await pass(odd, 600)
        for (const status of statuses)
          t.ok(odd.accepted(nameOf(status)).includes(first), `${status}: it keeps its attempts`)
      }
    },
  )
}

t.test(
  'a message that is refused for what it is has its place again when the receiver recovers from something else',
  async (t) => {
    const odd = await startOdd(t, ['a'])
    const { sql } = odd.test.database
    const object = randomUUID()
    const first = await givenChange(odd.test, object)
    odd.answers((_name, id) => (id === first ? 422 : 204))
    await odd.test.runJobs()
    await givenChange(odd.test)
    await odd.test.runJobs()
    await pass(odd, 30)
    t.match(await sql`select aside from delivery`, [{ aside: true }])
    odd.answers(() => 503)
    for (let n = 0; n < 6; n++) await givenChange(odd.test)
    await odd.test.runJobs()
    const second = await givenChange(odd.test, object, 'update')
    odd.answers(() => 204)
    await pass(odd, 300)
    t.same(acceptedBy(odd, 'a', [[first, second]]), [[first, second]])
  },
)

for (const name of ['a', 'extern']) {
  t.test(
    `${name}: a message that is refused while others are accepted has the attempts of the settings, no more`,
    async (t) => {
      const odd = await startOdd(t, [name])
      const { sql } = odd.test.database
      await sql`update notificatie_settings set max_retries = 3`
      const refused = await givenChange(odd.test)
      odd.answers((_name, id) => (id === refused ? 500 : 204))
      await odd.test.runJobs()
      for (let n = 0; n < 5; n++) {
        await givenChange(odd.test)
        await odd.test.runJobs()
        await pass(odd, 100_000)
      }
      t.match(await sql`select status, attempt from delivery`, [{ status: 'mislukt', attempt: 4 }])
    },
  )
}

for (const [hours, counts] of [
  [64, 'extern'],
  [64, 'alle'],
] as const) {
  t.test(
    `an abonnement that is away for ${hours} hours loses nothing, while attempts count at: ${counts}`,
    async (t) => {
      const odd = await startOdd(t, ['a'])
      const { sql } = odd.test.database
      await sql`update notificatie_settings set outage_counts = ${counts}, max_retries = ${counts === 'alle' ? 1 : 7}`
      odd.answers(() => 503)
      const cases = await givenCases(odd, 6, 2)
      await odd.test.runJobs()
      for (let hour = 0; hour < hours; hour += 2) await pass(odd, 7_200)
      const failed = await sql`select from delivery where status = 'mislukt'`
      const [tries] = await sql<{ least: number; most: number }[]>`
      select min(attempt)::int as least, max(attempt)::int as most from delivery where next_attempt_at is not null`
      if (counts === 'extern') {
        t.equal(failed.length, 0, 'no attempt counts meanwhile')
        t.ok(tries!.least > 2 && tries!.most - tries!.least <= 2, `probes go in turn: ${JSON.stringify(tries)}`)
      } else t.ok(failed.length > 0, 'attempts count, as the formula says')
      odd.answers(() => 204)
      // Where all has failed, somebody has to make something.
      if (counts === 'alle') await givenChange(odd.test)
      await pass(odd, 300)
      t.same(acceptedBy(odd, 'a', cases), cases, 'and what failed meanwhile comes first, in order')
      t.match(await sql`select from delivery`, [])
    },
  )
}

for (const [name, outageCounts, perHour] of [
  ['extern', 'extern', 6],
  ['a', 'alle', 6],
] as const) {
  t.test(`${name}, attempts count at ${outageCounts}: the dry run of an outage says what happens then`, async (t) => {
    const odd = await startOdd(t, [name])
    const { sql } = odd.test.database
    const retry = { maxRetries: 3, backoff: 25, backoffMax: 52_000, baseFactor: 4 }
    await sql`update notificatie_settings set outage_counts = ${outageCounts}, max_retries = 3`
    odd.answers(() => 503)
    const end = 2 * 3600
    for (let at = 0, made = 0; at < end; ) {
      if (made * (3600 / perHour) <= at) {
        await givenChange(odd.test)
        made++
      }
      await odd.test.runJobs()
      const step = Math.min(made * (3600 / perHour), end) - at
      const [due] = await sql<{ seconds: number | null }[]>`
        select extract(epoch from min(greatest(a.not_before, case when coalesce(a.failures, 0) < 5 then l.next_attempt_at end)) - now())::float8
          as seconds from delivery l left join abonnement a on a.id = l.abonnement_id where l.status = 'gepland'`
      const seconds = Math.min(step, Math.max(1, Math.ceil(due!.seconds ?? step)))
      await pass(odd, seconds)
      at += seconds
    }
    const settings = { ...retry, outageCounts, blockAfterHours: 336, blockFromCount: 100_000, daysRetained: 30 }
    const told = dryRun(settings, { isExternal: name === 'extern', rate: perHour / 3600, speed: 1 }, end)
    const [real] = await sql<{ failed: number; waiting: number }[]>`
      select count(*) filter (where status = 'mislukt')::int as failed, count(*)::int as waiting from delivery`
    t.equal(real!.waiting, told.made)
    t.ok(Math.abs(real!.failed - told.failed) <= 1, `${real!.failed} failed, ${told.failed} by the dry run`)
    t.ok(told.failed > 0)
  })
}

t.test('the dry run of an outage says when an abonnement is blocked, and how long catching up takes', async (t) => {
  const settings = {
    ...{ maxRetries: 7, backoff: 25, backoffMax: 52_000, baseFactor: 4 },
    ...{ outageCounts: 'extern' as const, blockAfterHours: 336, blockFromCount: 100_000, daysRetained: 30 },
  }
  const hour = 3600
  const run = (rate: number, hours: number, speed: number | null, isExternal = false) =>
    dryRun(settings, { isExternal, rate: rate / hour, speed }, hours * hour)
  t.match(run(100, 63, 10), { made: 6300, failed: 0, blockedAfter: null, lost: 0 })
  const { caughtUp } = run(100, 63, 10)
  t.ok(caughtUp! > 300 + 630 && caughtUp! < 300 + 640, `a last probe, and then ten in a second: ${caughtUp}`)
  t.match(run(10_000, 63, 10), { made: 630_000, blockedAfter: 10 * hour })
  t.match(run(1, 400, 10), { blockedAfter: 336 * hour, lost: 0 })
  t.match(run(1, 1000, 10), { blockedAfter: 336 * hour, lost: 0 }, 'what waits is kept, and of what was missed 30 days')
  t.match(run(1, 1100, 10), { lost: 1100 - 720 - 336 })
  t.equal(run(36_000, 1, 10).caughtUp, Infinity, 'no more than what comes')
  t.equal(run(1, 1, null).caughtUp, null)
  const total = schedule(settings).at(-1)!.at
  t.equal(run(100, 63, 10, true).failed, Math.floor(100 * (63 - total / hour)), 'by the schedule of the settings')
})

t.test(
  'after an outage it is known what a receiver missed: what failed, what came too early, and what late',
  async (t) => {
    const odd = await startOdd(t, ['a'])
    const { database } = odd.test
    const object = randomUUID()
    const first = await givenChange(odd.test, object)
    odd.answers((_name, id) => (id === first ? 422 : 204))
    await odd.test.runJobs()
    const well = await givenChange(odd.test)
    await odd.test.runJobs()
    await pass(odd, 30)
    const early = await givenChange(odd.test, object, 'update')
    await odd.test.runJobs()
    t.ok(odd.accepted('a').includes(early))
    const missed = async () => {
      const [a] = await database.sql<{ id: number; uuid: string }[]>`select id, uuid from abonnement`
      return { uuid: a!.uuid, rows: await readMissed(odd.test.app.read, a!.id, 7, 10) }
    }
    t.match((await missed()).rows, [], 'the first still waits')
    await database.sql`update delivery set status = 'mislukt', next_attempt_at = null`
    await database.sql`update notificatie set aanmaakdatum = aanmaakdatum - interval '10 minutes' where uuid = ${well}`
    const { uuid, rows } = await missed()
    t.match(rows, [
      { uuid: first, how: 'failed' },
      { uuid: early, how: 'order' },
      { uuid: well, how: 'late' },
    ])
    odd.answers(() => 204)
    const again = rows.slice(0, 2).map(({ id }) => id)
    await mutator(database)(systemActor('test'), (m) => replayMessages(m, uuid, again))
    await odd.test.runJobs()
    t.same(odd.accepted('a').slice(-2), [first, early], 'sent again, in order')
    t.match((await missed()).rows, [{ uuid: well, how: 'late' }])
  },
)

async function givenCases({ test }: Odd, cases: number, each: number): Promise<string[][]> {
  const objects = Array.from({ length: cases }, () => randomUUID())
  const made: string[][] = objects.map(() => [])
  for (let n = 0; n < each; n++)
    for (const [index, object] of objects.entries())
      made[index]!.push(await givenChange(test, object, n === 0 ? 'create' : 'update'))
  return made
}

/** Of each case what a receiver accepted, in the order in which it did. */
const acceptedBy = (odd: Odd, name: string, cases: string[][]) =>
  cases.map((ids) => odd.accepted(name).filter((id) => ids.includes(id)))
