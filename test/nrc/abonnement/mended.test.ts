// A receiver that is mended: whoever says so, and however, ends its rest.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { pressedText } from '../../../src/beheer/notificaties/notificatie-labels.ts'
import { EXTERNAL } from '../../../src/core/outbox.ts'
import { type Pressed, receiverAnswers, sendNow } from '../../../src/notificaties/resend.ts'
import { followService, setPaused } from '../../../src/notificaties/settings.ts'
import { replayMessage } from '../../../src/nrc/abonnement/replay.ts'
import { pauseAbonnement } from '../../../src/nrc/abonnement/state.ts'
import { change as changeSettings, givenChange, givenNotificaties } from '../../notificaties/given.ts'
import { builtIn, change, idsOf, subscribe, uuidOf } from '../given.ts'
import { subscriber } from '../subscriber.ts'

t.test('a change of callback or auth, or a PUT that finds it well, ends the rest that it asked for', async (t) => {
  const test = await builtIn(t)
  const { sql } = test.database
  const other = await subscriber(t, { auth: 'x' })
  const ways: [string, string, (url: string) => object][] = [
    ['a PUT as it is', 'PUT', (callbackUrl) => ({ callbackUrl, auth: 'x', kanalen: [{ naam: 'documenten' }] })],
    ['a PATCH of auth', 'PATCH', () => ({ auth: 'x' })],
    ['a PATCH of callbackUrl to another host', 'PATCH', () => ({ callbackUrl: other.url, auth: 'x' })],
  ]
  for (const [name, method, body] of ways) {
    const receiver = await subscriber(t, { auth: 'x' })
    const url = await subscribe(test, receiver.url)
    const rests = () =>
      sql`select from abonnement where uuid = ${uuidOf(url)} and not_before > now() + interval '50 minutes'`
    receiver.answer.status = 503
    receiver.answer.retryAfter = '3600'
    const id = await givenChange(test)
    await test.runJobs()
    t.equal((await rests()).length, 1, name)
    t.equal((await test.call('PATCH', url, { kanalen: [{ naam: 'documenten' }] })).status, 200)
    t.equal((await rests()).length, 1, 'another change does not')
    if (method === 'PUT') {
      t.equal(
        (await test.call('PUT', url, body(receiver.url))).status,
        200,
        'that it does not work yet refuses no change',
      )
      t.equal((await rests()).length, 1, 'nor ends the rest')
    }
    receiver.answer.status = 204
    t.equal((await test.call(method, url, body(receiver.url))).status, 200)
    await test.runJobs()
    const received = [...receiver.received, ...other.received].filter(({ headers }) => headers['webhook-id'] === id)
    t.equal(received.length, 2, `${name}: it is sent at once`)
    t.equal((await test.call('DELETE', url)).status, 204)
  }
})

t.test('an abonnement that was fetched and gets a callback is sent what waits', async (t) => {
  const test = await builtIn(t)
  const receiver = await subscriber(t, { auth: 'x' })
  const url = await subscribe(test, '', undefined, { auth: '' })
  const object = randomUUID()
  const ids = [await givenChange(test, object), await givenChange(test, object, 'update'), await givenChange(test)]
  t.equal((await test.call('PATCH', url, { callbackUrl: receiver.url, auth: 'x' })).status, 200)
  const due = await test.database.sql`select from delivery where next_attempt_at <= now()`
  t.equal(due.length, 3, 'without anybody who looks for what is stuck')
  t.equal((await test.database.sql`select from jobs where task_identifier = 'send-notificaties'`).length, 1)
  await test.runJobs()
  t.strictSame(idsOf(receiver.received), ids)
})

t.test(
  'what somebody wants sent now goes now, before others and whatever its receiver asked for; else it is said why not',
  async (t) => {
    const test = await builtIn(t)
    const { sql } = test.database
    const receiver = await subscriber(t, { auth: 'x' })
    const url = await subscribe(test, receiver.url)
    const press = (id: string) => change(test, (m) => sendNow(m, [id]))
    const outcomes = (pressed: Pressed[]) => pressed.map(({ outcome }) => outcome)
    receiver.answer.status = 503
    receiver.answer.retryAfter = '3600'
    const object = randomUUID()
    const earlier = await givenChange(test)
    await test.runJobs()
    const [first, second] = [await givenChange(test, object), await givenChange(test, object, 'update')]
    await sql`update abonnement set failures = 8`
    receiver.received.length = 0
    t.match(await press(second), [{ outcome: 'held', behind: first }])
    t.match(await press(first), [{ outcome: 'now' }])
    await test.runJobs()
    t.strictSame(idsOf(receiver.received), [first], 'although another would be probed first')
    const { outcome } = await change(test, (m) => replayMessage(m, uuidOf(url), first))
    t.equal(outcome, 'now', 'also when it is to be sent again')
    await test.runJobs()
    t.strictSame(idsOf(receiver.received), [first, first])
    await sql`update delivery set claimed_by = 0 where attempt > 1`
    t.same(outcomes(await press(first)), ['busy'])
    await sql`update delivery set claimed_by = null`
    await change(test, (m) => setPaused(m, true))
    t.same(outcomes(await press(first)), ['paused'])
    await change(test, (m) => setPaused(m, false))
    await change(test, (m) => pauseAbonnement(m, uuidOf(url), ''))
    t.same(outcomes(await press(first)), ['stopped'])
    await sql`update abonnement set status = 'actief', callback_url = ''`
    t.same(outcomes(await press(first)), ['fetched'])
    t.equal(pressedText([]), 'Er was geen bericht dat op een latere poging wachtte.')
    t.same(outcomes(await press(earlier)), ['fetched'])
  },
)

t.test('a pause of sending holds for abonnementen too, and keeps all', async (t) => {
  const test = await builtIn(t)
  const receiver = await subscriber(t, { auth: 'x' })
  await subscribe(test, receiver.url)
  await change(test, (m) => setPaused(m, true))
  const ids = [await givenChange(test), await givenChange(test)]
  await test.runJobs()
  t.same(idsOf(receiver.received), [])
  await change(test, (m) => setPaused(m, false))
  await test.runJobs()
  t.same(idsOf(receiver.received), ids)
})

t.test(
  'the external service is left alone as long as it asks, and not when it answers a test or is another one',
  async (t) => {
    const test = await givenNotificaties(t)
    const { sql } = test.database
    test.receiver.answer = (response) => response.writeHead(503, { 'retry-after': '3600' }).end()
    const [service] = await sql<{ slug: string }[]>`
      select slug from service d join notificatie_settings i on i.configured_service_id = d.id`
    const rests = async () =>
      (await sql`select from external_receiver where not_before > now() + interval '50 minutes'`).length === 1
    await givenChange(test)
    await test.runJobs()
    await givenChange(test)
    await test.runJobs()
    t.equal(test.receiver.received.length, 1, 'nothing else goes there meanwhile')
    t.ok(await rests())
    await changeSettings(test, { maxRetries: 6 })
    t.ok(await rests())
    for (const mend of [
      () => change(test, (m) => receiverAnswers(m, EXTERNAL)),
      () => change(test, (m) => followService(m, service!.slug)),
    ]) {
      test.receiver.received.length = 0
      await mend()
      await test.runJobs()
      t.ok(test.receiver.received.length > 0)
      t.ok(await rests())
    }
    test.receiver.answer = (response) => response.writeHead(201).end()
    await change(test, (m) => receiverAnswers(m, EXTERNAL))
    await test.runJobs()
    t.match(await sql`select from delivery`, [])
    t.match(await sql`select failures, failing_since, not_before from external_receiver`, [
      { failures: 0, failing_since: null, not_before: null },
    ])
  },
)
