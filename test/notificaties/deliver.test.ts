import { createVerifier } from 'fast-jwt'
import t from 'tap'
import { givenInformatieobjecttype } from '../app.ts'
import { attemptsOf, change, elapse, givenChange, givenNotificaties, SECRET, stateOf } from './given.ts'

t.test('a change is announced with the message of the standard, and a token of its own', async (t) => {
  const test = await givenNotificaties(t)
  const url = await givenInformatieobjecttype(test)
  await test.runJobs()
  const [create, publish] = test.receiver.received
  t.match(create, {
    path: '/api/v1/notificaties',
    headers: { 'content-type': 'application/json' },
    body: {
      kanaal: 'informatieobjecttypen',
      hoofdObject: url,
      resource: 'informatieobjecttype',
      resourceUrl: url,
      actie: 'create',
      aanmaakdatum: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$/,
      kenmerken: { catalogus: /^http:\/\/localhost\/catalogi\/api\/v1\/catalogussen\// },
    },
  })
  t.notOk('source' in create!.body)
  t.equal(publish!.body.actie, 'update')
  t.not(publish!.id, create!.id)
  const verify = createVerifier({ key: SECRET, algorithms: ['HS256'] })
  t.match(verify(create!.headers.authorization!.replace('Bearer ', '')), { iss: 'zaakstroom', client_id: 'zaakstroom' })
})

t.test('every kind of refusal is tried again, with the same id, after the delay of the settings', async (t) => {
  const test = await givenNotificaties(t, { maxRetries: 7, backoff: 25, backoffMax: 52_000, baseFactor: 4 })
  const uuid = await givenChange(test)
  const delays = [25, 100, 400, 1600, 6400, 25_600, 52_000]
  const statuses = [400, 401, 403, 404, 429, 500, 503]
  for (const [index, delay] of delays.entries()) {
    test.receiver.answer = (response) =>
      response.writeHead(statuses[index]!, { 'retry-after': '1' }).end('{"fout":"ja"}')
    await test.runJobs()
    const state = await stateOf(test, uuid)
    t.match(state, { status: 'gepland', retries: index + 1, pogingen: index + 1 })
    t.ok(Math.abs(Number(state.overSeconden) - delay) < 2, `retry ${index + 1} in ${delay} s`)
    await elapse(test, delay - 5)
    await test.runJobs()
    t.equal(test.receiver.received.length, index + 1, 'not before its time')
    await elapse(test, 5)
  }
  test.receiver.answer = (response) => response.writeHead(204).end()
  await test.runJobs()
  t.match(await stateOf(test, uuid), { status: 'afgeleverd', pogingen: 8 })
  t.same([...new Set(test.receiver.received.map(({ id }) => id))], [uuid])
  t.match(await attemptsOf(test, uuid), [
    ...statuses.map((status) => ({ outcome: 'http', status, answer: '{"fout":"ja"}' })),
    { outcome: 'delivered', status: 204, answer: '' },
  ])
})

t.test('after the last retry a message has failed, and is not sent again', async (t) => {
  const test = await givenNotificaties(t, { maxRetries: 2, backoff: 1, backoffMax: 10 })
  test.receiver.answer = (response) => response.writeHead(500).end()
  const uuid = await givenChange(test)
  for (let i = 0; i < 5; i++) {
    await test.runJobs()
    await elapse(test, 1000)
  }
  t.match(await stateOf(test, uuid), { status: 'mislukt', overSeconden: null, pogingen: 3 })
  t.equal(test.receiver.received.length, 3)
})

t.test('settings are read at every attempt: a change counts for what waits', async (t) => {
  const test = await givenNotificaties(t, { maxRetries: 7, backoff: 3, baseFactor: 2 })
  test.receiver.answer = (response) => response.writeHead(500).end()
  const uuid = await givenChange(test)
  await test.runJobs()
  await change(test, { backoff: 1000, baseFactor: 1 })
  await elapse(test, 3)
  await test.runJobs()
  t.ok(Math.abs(Number((await stateOf(test, uuid)).overSeconden) - 1000) < 2)
  await change(test, { maxRetries: 1 })
  await elapse(test, 1000)
  await test.runJobs()
  t.match(await stateOf(test, uuid), { status: 'mislukt', pogingen: 3 })
})
