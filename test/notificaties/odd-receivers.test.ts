// Receivers that answer oddly for a while: what comes late, what comes out of order, and what a message is charged with.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { systemActor } from '../../src/core/access.ts'
import { mutator } from '../../src/core/mutate.ts'
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
