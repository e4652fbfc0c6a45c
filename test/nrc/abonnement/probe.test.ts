// An abonnement that fails is probed, and what waits for it goes when it accepts again. What may hold up what.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { givenChange, givenNotificaties } from '../../notificaties/given.ts'
import { builtIn, idsOf, real, subscribe } from '../given.ts'
import { subscriber } from '../subscriber.ts'

t.test('a failing abonnement is probed although nothing is due, and a success lets all go in order', async (t) => {
  const test = await builtIn(t)
  const { sql } = test.database
  const receiver = await subscriber(t, { auth: 'x' })
  await subscribe(test, receiver.url)
  receiver.answer.status = 500
  const ids: string[] = []
  for (let n = 0; n < 3; n++) ids.push(await givenChange(test))
  // Two were tried, and wait for their next attempt for an hour; the third is newer.
  await sql`update delivery set retries = 3, next_attempt_at = now() + interval '1 hour' + notificatie_id * interval '1 second'
    where notificatie_id < (select max(notificatie_id) from delivery)`
  await sql`update delivery set next_attempt_at = now() + interval '2 hours' where retries = 0`
  await sql`update abonnement set failures = 8, failing_since = now() - interval '1 hour', not_before = now() - interval '1 second'`
  const before = await sql`select notificatie_id, retries, next_attempt_at from delivery order by 1`
  await test.runJobs()
  t.strictSame(idsOf(receiver.received), [ids[0]], 'one, the one that would be due first')
  t.same(
    await sql`select notificatie_id, retries, next_attempt_at from delivery order by 1`,
    before,
    'it keeps its attempts',
  )
  const [{ seconds }] = await sql<[{ seconds: number }]>`
    select extract(epoch from not_before - now())::float8 as seconds from abonnement`
  t.ok(seconds > 30 && seconds <= 300, 'the next probe within five minutes')
  await test.runJobs()
  t.equal(real(receiver.received).length, 1, 'not before its moment')
  receiver.answer.status = 204
  await sql`update abonnement set not_before = now() - interval '1 second'`
  await test.runJobs()
  t.strictSame(idsOf(receiver.received).slice(1), ids)
  t.match(await sql`select failures, not_before from abonnement`, [{ failures: 0, not_before: null }])
})

for (const mode of ['extern', 'ingebouwd'])
  t.test(`a message that is refused for good holds up no other of its object, ${mode}`, async (t) => {
    for (const [status, goesOn] of [
      [400, true],
      [413, true],
      [404, true],
      [409, false],
      [429, false],
      [500, false],
    ] as const) {
      const test = mode === 'extern' ? await givenNotificaties(t) : await builtIn(t)
      const receiver = await subscriber(t, { auth: 'x' })
      if (mode === 'ingebouwd') await subscribe(test, receiver.url)
      const external =
        'receiver' in test ? (test.receiver as Awaited<ReturnType<typeof givenNotificaties>>['receiver']) : undefined
      receiver.answer.status = status
      if (external) external.answer = (response) => response.writeHead(status).end()
      const object = randomUUID()
      for (let n = 0; n < 3; n++) await givenChange(test, object)
      await test.runJobs()
      const calls = external ? external.received.length : real(receiver.received).length
      t.equal(calls, goesOn ? 3 : 1, `${status}`)
      const [{ waiting }] = await test.database.sql<[{ waiting: number }]>`
        select count(*)::int as waiting from delivery where status = 'gepland' and retries = 1`
      t.equal(waiting, goesOn ? 3 : 1, 'each keeps its attempts')
    }
  })

t.test('a cloud event holds up no notification of its object', async (t) => {
  const test = await givenNotificaties(t)
  const { sql } = test.database
  const object = randomUUID()
  await givenChange(test, object)
  await sql`update notificatie set cloudevent = 'nl.overheid.zaken.zaak-gemuteerd'`
  await sql`update delivery set hoofd_object_uuid = delivery_order(hoofd_object_uuid, 'x')`
  await givenChange(test, object)
  await givenChange(test, object)
  const accepts: (string | undefined)[] = []
  test.receiver.answer = (response) => {
    const { url, headers } = response.req
    if (url?.endsWith('cloudevents')) accepts.push(headers.accept)
    response.writeHead(url?.endsWith('cloudevents') ? 500 : 201).end()
  }
  await test.runJobs()
  t.equal((await sql`select from delivery`).length, 1, 'only the event waits')
  t.strictSame(accepts, ['application/cloudevents+json, application/json'], 'Open Notificaties serves the first')
})
