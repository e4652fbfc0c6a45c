// Slow: workers are started for many organisations, and wait for each other.
// It starts workers for many organisations, and its tests wait.
import { once } from 'node:events'
import t from 'tap'
import type { Answer } from '../../bench/receiver.ts'
import { accept } from '../../bench/receiver.ts'
import { freePort } from '../free-port.ts'
import { givenChange } from '../notificaties/given.ts'
import { until } from '../until.ts'
import { connectionsOf, givenMany, type Many, type Member } from './many.ts'

t.setTimeout(300_000)

const RSINS = ['000000012', '000000024', '000000036']
const addAll = async (many: Many): Promise<Member[]> => {
  const members: Member[] = []
  for (const rsin of RSINS) members.push(await many.add(rsin))
  return members
}
const never: Answer = () => {}
const isDone = async ({ database: { sql } }: Member) =>
  (await sql`select from jobs where run_at <= now()`).length === 0 && (await sql`select from delivery`).length === 0

t.test('a worker does the work of each organisation, with its keys, and ends in order', async (t) => {
  const many = await givenMany(t)
  const members = await addAll(many)
  const [port, metricsPort] = [await freePort(), await freePort()]
  const worker = await many.work({ WORKER_HEALTH_PORT: `${port}`, METRICS_PORT: `${metricsPort}` })
  for (const member of members) {
    const { rsin, database, receiver } = member
    const uuid = await givenChange({ database } as never)
    await until('the message', () => receiver.received.some(({ id }) => id === uuid))
    await until('nothing is left', () => isDone(member))
    t.ok(
      receiver.received.every(({ id }) => id === '' || id === uuid),
      'and nothing of another',
    )
    t.ok(
      worker.lines.some((line) => line.organisation === rsin && line.task === 'send-notificaties'),
      'its lines name it',
    )
  }
  t.match(await connectionsOf(many.control.sql), { 'zaakstroom organisations': 1 }, 'one that looks at all of them')
  const ready = await fetch(`http://127.0.0.1:${port}/readyz`)
  t.equal(ready.status, 200)
  t.match(await ready.json(), { status: 'ok', checks: { organisations: { status: 'ok' } } })
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  t.match(metrics, /^zaakstroom_organisations\{state="active"\} 3$/m)
  t.match(metrics, /^zaakstroom_organisation_databases\{state="up"\} 1$/m)
  t.notMatch(
    metrics,
    /^zaakstroom_(database_up|workers|notification_oldest_waiting_seconds) /m,
    'nothing of one database',
  )
  worker.process.kill('SIGTERM')
  const [code] = await once(worker.process, 'exit')
  t.equal(code, 0)
  for (const { database } of members) t.same(await database.sql`select from worker`, [], 'it signed off')
  t.same(
    worker.lines.filter(({ level }) => level === 'error'),
    [],
  )
})

t.test('what a worker that is killed had in hand is done by another, for every organisation', async (t) => {
  const many = await givenMany(t)
  const members = await addAll(many)
  const first = await many.work()
  const works = (worker: typeof first) => (rsin: string) =>
    worker.lines.some((line) => line.organisation === rsin && line.event === 'works for this organisation')
  await until('it works for all', () => RSINS.every(works(first)))
  const second = await many.work()
  for (const { receiver } of members) receiver.answer = never
  const uuids = await Promise.all(members.map(({ database }) => givenChange({ database } as never)))
  await until('all are under way', () =>
    members.every(({ receiver }, at) => receiver.received.some(({ id }) => id === uuids[at])),
  )
  await first.kill()
  for (const { receiver } of members) receiver.answer = accept
  await until('the other works for all', () => RSINS.every(works(second)), 30_000)
  for (const [at, member] of members.entries()) {
    const { sql } = member.database
    await until(
      'it is delivered',
      async () => (await sql`select from delivery_attempt where outcome = 'delivered'`).length > 0,
    )
    await until('nothing is left', () => isDone(member))
    const attempts = await sql<{ outcome: string; id: string }[]>`
      select a.outcome, n.uuid as id from delivery_attempt a join notificatie n on n.id = a.notificatie_id order by a.number`
    t.same(attempts, [
      { outcome: 'lost', id: uuids[at] },
      { outcome: 'delivered', id: uuids[at] },
    ])
    t.equal((await sql`select from worker`).length, 2, 'the dead are off the list')
  }
})
