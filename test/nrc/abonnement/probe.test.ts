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
  // Two were tried, and wait for their next attempt; the third is newer.
  await sql`update delivery set retries = 3, next_attempt_at = now() + interval '25 minutes' + notificatie_id * interval '1 second'
    where notificatie_id < (select max(notificatie_id) from delivery)`
  await sql`update delivery set next_attempt_at = now() + interval '2 hours' where retries = 0`
  await sql`update abonnement set failures = 8, failing_since = now() - interval '1 hour', not_before = now() - interval '1 second'`
  await test.runJobs()
  t.strictSame(idsOf(receiver.received), [ids[0]], 'one, the one that would be due first')
  t.match(await sql`select from delivery where refusals > 0 or status = 'mislukt'`, [], 'it keeps its attempts')
  const [{ seconds }] = await sql<[{ seconds: number }]>`
    select extract(epoch from not_before - now())::float8 as seconds from abonnement`
  t.ok(seconds > 30 && seconds <= 300, 'the next probe within five minutes')
  await test.runJobs()
  t.equal(real(receiver.received).length, 1, 'not before its moment')
  receiver.answer.status = 204
  await sql`update abonnement set not_before = now() - interval '1 second'`
  await test.runJobs()
  t.strictSame(
    idsOf(receiver.received).slice(1),
    [ids[1], ids[0], ids[2]],
    'the next one is probed, then all go in order',
  )
  t.match(await sql`select failures, not_before from abonnement`, [{ failures: 0, not_before: null }])
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
