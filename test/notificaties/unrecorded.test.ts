// What a receiver did cannot be recorded, for whatever reason, for good.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { type Alarm, reportUnrecorded } from '../../src/beheer/operations/overview-parts.ts'
import { countUnrecorded, openSenderDatabase } from '../../src/notificaties/claims.ts'
import { openSender } from '../../src/notificaties/sender.ts'
import { register } from '../../src/telemetry/metrics.ts'
import { openRepeats } from '../../src/telemetry/repeats.ts'
import { builtIn, real, subscribe } from '../nrc/given.ts'
import { subscriber } from '../nrc/subscriber.ts'
import { until } from '../until.ts'
import { type Given, givenChange, givenNotificaties, type TestLike } from './given.ts'

const RAISE = "create function weiger() returns trigger language plpgsql as $$ begin raise 'geweigerd'; end $$"

/** Ways in which recording fails for good: how it begins and how it is mended. */
const FAULTS: Record<string, { begin: string[]; mend: string[] }> = {
  'a trigger on the deliveries that raises': {
    begin: [RAISE, 'create trigger weiger before delete on delivery for each row execute function weiger()'],
    mend: ['drop trigger weiger on delivery'],
  },
  'a trigger on the attempts that raises': {
    begin: [RAISE, 'create trigger weiger before insert on delivery_attempt for each row execute function weiger()'],
    mend: ['drop trigger weiger on delivery_attempt'],
  },
  'no right to delete a delivery': {
    begin: ['revoke delete on delivery from current_user'],
    mend: ['grant delete on delivery to current_user'],
  },
}

for (const [name, { begin, mend }] of Object.entries(FAULTS))
  t.test(`with ${name}, each message is sent once, and recorded when that ends`, async (t) => {
    const lines: string[] = []
    const test = await givenNotificaties(t, {}, {}, (line) => lines.push(line))
    const { sql } = test.database
    for (const one of begin) await sql.unsafe(one)
    const failures = await failed()
    const { sender, pool } = await givenSender(t, test, test.databaseUrl)
    for (let n = 0; n < 3; n++) await givenChange(test)
    const running = sender.run(pool)
    await until('three calls', () => test.receiver.received.length >= 3)
    await until('it was tried again', async () => (await failed()) >= failures + 6)
    await sleep(500)
    t.equal(test.receiver.received.length, 3, 'nobody is called again')
    t.equal(lines.filter((line) => line.includes('could not be recorded')).length, 1, 'one line')
    await sql`update delivery set begun_at = begun_at - interval '10 minutes'`
    t.equal(await countUnrecorded(sql), 3)
    for (const one of mend) await sql.unsafe(one)
    await until('all are recorded', async () => (await sql`select from delivery`).length === 0)
    await running
    t.equal(test.receiver.received.length, 3)
    t.same(await sql`select outcome from delivery_attempt`, Array(3).fill({ outcome: 'delivered' }))
    t.equal(await countUnrecorded(sql), 0)
  })

t.test('a receiver whose deliveries cannot be recorded holds up no other', async (t) => {
  const test = await builtIn(t)
  const { sql } = test.database
  const [one, other] = [await subscriber(t, { auth: 'x' }), await subscriber(t, { auth: 'x' })]
  await subscribe(test, one.url)
  await subscribe(test, other.url)
  await sql.unsafe(RAISE)
  await sql.unsafe(`create trigger weiger before delete on delivery for each row
    when (old.abonnement_id = (${(await sql`select min(id) as id from abonnement`)[0]!.id})) execute function weiger()`)
  const { sender, pool } = await givenSender(t, test, test.databaseUrl)
  for (let n = 0; n < 60; n++) await givenChange(test)
  void sender.run(pool)
  await until('the other has all', () => real(other.received).length === 60)
  t.ok(real(one.received).length <= 30, `${real(one.received).length}: it gets no more while they are in hand`)
  await sql`drop trigger weiger on delivery`
  await until('so has the first', async () => {
    await sender.run(pool) // as the job does that is queued when it sleeps
    return real(one.received).length === 60
  })
  await until('all are recorded', async () => (await sql`select from delivery`).length === 0)
  t.equal(real(one.received).length, 60)
})

t.test('looking that fails for good waits longer each time, and is one line', async (t) => {
  const lines: string[] = []
  const test = await givenNotificaties(t, {}, {}, (line) => lines.push(line))
  const { sql } = test.database
  await sql`alter function claim_deliveries rename to weg`
  const { sender, pool } = await givenSender(t, test, test.databaseUrl)
  void sender.run(pool)
  await until('a line', () => lines.some((line) => line.includes('looking for notifications failed')))
  await sleep(1_500)
  t.equal(lines.filter((line) => line.includes('looking for notifications failed')).length, 1)
  await sql`alter function weg rename to claim_deliveries`
  await givenChange(test)
  await until('it is sent', () => test.receiver.received.length === 1)
})

t.test('the overview says so', (t) => {
  const alarms: Alarm[] = []
  for (const count of [0, 3, 1001]) reportUnrecorded(count, alarms)
  t.match(alarms, [{ tone: 'fout', text: /vastgelegd: 3\./ }, { text: /vastgelegd: meer dan 1\.000\./ }])
  t.equal(alarms.length, 2)
  t.end()
})

t.test('what returns within a minute is counted, and told with the next line', (t) => {
  const lines: [string, object][] = []
  const log = { error: (facts: object, message: string) => lines.push([message, facts]), warn: () => {} }
  const quiet = openRepeats(log as never, 60_000)
  for (let n = 0; n < 5; n++) quiet.say('error', { n }, 'stuk')
  quiet.say('error', {}, 'ook stuk')
  quiet.forget('stuk')
  quiet.say('error', { n: 5 }, 'stuk')
  const loud = openRepeats(log as never, 0)
  for (let n = 0; n < 2; n++) loud.say('error', {}, 'luid')
  t.strictSame(lines, [
    ['stuk', { n: 0, times: 1 }],
    ['ook stuk', { times: 1 }],
    ['stuk', { n: 5, times: 1 }],
    ['luid', { times: 1 }],
    ['luid', { times: 1 }],
  ])
  t.end()
})

async function failed(): Promise<number> {
  const metric = await register.getSingleMetric('zaakstroom_notification_record_failures_total')!.get()
  return metric.values[0]?.value ?? 0
}

async function givenSender(t: TestLike, test: Pick<Given, 'parts' | 'database'>, url: string) {
  const pool = randomUUID()
  await test.database.sql`insert into worker (name, version, host, pid, pool_id) values ('x', '1', 'h', 1, ${pool})`
  const sender = openSender({ ...test.parts, open: () => openSenderDatabase(url) })
  t.teardown(async () => {
    sender.stop()
    await sender.close()
  })
  return { sender, pool }
}
