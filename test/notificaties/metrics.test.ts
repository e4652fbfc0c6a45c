// In a process of its own: the metrics of a process count everything that it did.
import t from 'tap'
import { startMetrics } from '../../src/operations/metrics-server.ts'
import { builtIn, subscribe, uuidOf } from '../nrc/given.ts'
import { subscriber } from '../nrc/subscriber.ts'
import { givenChange, givenNotificaties } from './given.ts'

t.test('metrics tell the states of messages, attempts, delay, jobs, imports and requests', async (t) => {
  const test = await givenNotificaties(t, { maxRetries: 0 })
  const metrics = await startMetrics({
    port: 0,
    host: '127.0.0.1',
    role: 'api',
    databaseUrl: test.databaseUrl,
    log: test.parts.log,
  })
  t.teardown(metrics.close)
  await givenChange(test)
  await test.runJobs()
  test.receiver.answer = (response) => response.writeHead(500).end()
  await givenChange(test)
  await test.runJobs()
  await givenChange(test)
  await test.call('GET', '/catalogi/api/v1/catalogussen')
  const text = await (await fetch(metrics.address)).text()
  for (const line of [
    'zaakstroom_notifications{status="afgeleverd"} 1',
    'zaakstroom_notifications{status="mislukt"} 1',
    'zaakstroom_notifications{status="gepland"} 1',
    'zaakstroom_notification_attempts_total{outcome="delivered"} 1',
    'zaakstroom_notification_attempts_total{outcome="http"} 1',
    'zaakstroom_notification_delivery_delay_seconds_count 1',
    'zaakstroom_jobs{task="send-notificaties",state="waiting"} 1',
    'zaakstroom_import_rows{result="geslaagd"} 0',
    'zaakstroom_database_up 1',
  ]) {
    t.match(text, `${line}\n`, line)
  }
  t.match(text, /^zaakstroom_notification_oldest_waiting_seconds \d/m)
  t.match(
    text,
    /^zaakstroom_request_duration_seconds_count\{method="GET",route="\/catalogi\/api\/v1\/catalogussen",status="200"\} 1$/m,
  )
  t.equal((await fetch(metrics.address.replace('/metrics', '/'))).status, 404)
})

t.test('metrics tell how abonnementen are doing, by their id alone', async (t) => {
  const test = await builtIn(t)
  const metrics = await startMetrics({
    port: 0,
    host: '127.0.0.1',
    role: 'api',
    databaseUrl: test.databaseUrl,
    log: test.parts.log,
  })
  t.teardown(metrics.close)
  const to = await subscriber(t, { auth: 'x' })
  const uuid = uuidOf(await subscribe(test, `${to.url}?token=geheim`))
  to.answer.status = 401
  for (let n = 0; n < 3; n++) await givenChange(test)
  await test.runJobs()
  const text = await (await fetch(metrics.address)).text()
  for (const line of [
    'zaakstroom_subscriptions{state="actief"} 1',
    `zaakstroom_subscription_waiting{subscription="${uuid}"} 3`,
    `zaakstroom_subscription_failed{subscription="${uuid}"} 0`,
    `zaakstroom_subscription_unauthorized{subscription="${uuid}"} 1`,
  ])
    t.match(text, `${line}\n`, line)
  t.match(text, new RegExp(`zaakstroom_subscription_failing_seconds.subscription="${uuid}". 0\\.\\d`))
  t.notMatch(text, 'geheim')
})
