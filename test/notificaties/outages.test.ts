// What a receiver can do wrong, and what we then know and do.
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import t from 'tap'
import type { Answer } from '../../bench/receiver.ts'
import { attemptsOf, configure, elapse, givenChange, givenNotificaties, stateOf } from './given.ts'

const KB = 'x'.repeat(1024)

t.test('every kind of failure is written down as what it is, and tried again', async (t) => {
  const answers: [string, Answer, object][] = [
    ['no success', (r) => r.writeHead(503).end('bezet'), { outcome: 'http', status: 503, answer: 'bezet' }],
    [
      'a redirect, which is not followed',
      (r) => r.writeHead(302, { location: 'http://169.254.169.254/' }).end('ga daarheen'),
      { outcome: 'http', status: 302, answer: 'ga daarheen' },
    ],
    ['a cut connection', (r) => r.destroy(), { outcome: 'connection', status: null }],
    ['silence', () => {}, { outcome: 'timeout', status: null }],
    ['a drip', (r) => drip(r, 500), { outcome: 'timeout', status: null }],
    ['bytes that are no text', (r) => r.writeHead(500).end(Buffer.from([0, 255, 65])), { answer: '\uFFFD\uFFFDA' }],
  ]
  const test = await givenNotificaties(t)
  await configure(test, test.receiver.root, {}, 400)
  for (const [name, answer, expected] of answers) {
    await t.test(name, async (t) => {
      test.receiver.answer = answer
      const uuid = await givenChange(test)
      await test.runJobs()
      t.match(await attemptsOf(test, uuid), [expected])
      t.match(await stateOf(test, uuid), { status: 'gepland', retries: 1 })
      t.ok((await attemptsOf(test, uuid))[0]!.ms < 2000)
    })
  }
})

t.test('a receiver that is not there, has no name, no TLS or no HTTP', async (t) => {
  const test = await givenNotificaties(t, { backoff: 1, backoffMax: 1 })
  const noHttp = createTcpServer((socket) => socket.end('geen HTTP\r\n\r\n')).listen(0, '127.0.0.1')
  await once(noHttp, 'listening')
  t.teardown(() => noHttp.close())
  const { port } = noHttp.address() as { port: number }
  await test.receiver.stop()
  const uuid = await givenChange(test)
  const roots: [string, string][] = [
    [test.receiver.root, 'refused'],
    ['http://bestaat-niet.invalid/', 'dns'],
    [`https://127.0.0.1:${port}/`, 'tls'],
    [`http://127.0.0.1:${port}/`, 'protocol'],
    ['http://169.254.169.254/', 'blocked'],
  ]
  for (const [root] of roots) {
    await configure(test, root, {}, 2000)
    await test.runJobs()
    await elapse(test, 1)
  }
  t.same(
    (await attemptsOf(test, uuid)).map(({ outcome }) => outcome),
    roots.map(([, kind]) => kind),
  )
})

t.test('of a huge answer only the start is read and kept, and that counts as the answer', async (t) => {
  const test = await givenNotificaties(t)
  let written = 0
  test.receiver.answer = (response) => {
    response.writeHead(200)
    const more = () => {
      while (!response.destroyed && written++ < 1_000_000) {
        if (!response.write(KB)) return void response.once('drain', more)
      }
    }
    more()
  }
  const uuid = await givenChange(test)
  await test.runJobs()
  const [attempt] = await attemptsOf(test, uuid)
  t.match(attempt, { outcome: 'delivered', status: 200 })
  t.equal(attempt!.answer.length, 4096)
  t.ok(written < 100_000, 'it does not get the chance to send a gigabyte')
})

t.test('messages of one object arrive in their order, also across retries', async (t) => {
  const test = await givenNotificaties(t, { backoff: 10, baseFactor: 1 })
  const hoofdobject = crypto.randomUUID()
  const sent = [await givenChange(test, hoofdobject), await givenChange(test, hoofdobject, 'update')]
  const other = await givenChange(test)
  test.receiver.answer = (response, { id }) => response.writeHead(id === sent[0] ? 500 : 201).end()
  await test.runJobs()
  sent.push(await givenChange(test, hoofdobject, 'destroy'))
  await test.runJobs()
  t.same(
    arrived(test),
    [sent[0], other].sort((a, b) => arrived(test).indexOf(a!) - arrived(test).indexOf(b!)),
  )
  test.receiver.received.length = 0
  await elapse(test, 10)
  await test.runJobs()
  t.same(arrived(test), [sent[0]], 'the others still wait')
  test.receiver.answer = (response) => response.writeHead(201).end()
  await elapse(test, 10)
  await test.runJobs()
  t.same(arrived(test).slice(1), sent)
})

t.test('a message that failed for the last time no longer holds up the next', async (t) => {
  const test = await givenNotificaties(t, { maxRetries: 0 })
  const hoofdobject = crypto.randomUUID()
  const [first, second] = [await givenChange(test, hoofdobject), await givenChange(test, hoofdobject, 'update')]
  test.receiver.answer = (response, { id }) => response.writeHead(id === first ? 500 : 201).end()
  await test.runJobs()
  t.match(await stateOf(test, first), { status: 'mislukt' })
  t.match(await stateOf(test, second), { status: 'afgeleverd' })
})

t.test('the order can be switched off', async (t) => {
  const test = await givenNotificaties(t, { inOrder: false })
  const hoofdobject = crypto.randomUUID()
  const [first, second] = [await givenChange(test, hoofdobject), await givenChange(test, hoofdobject, 'update')]
  test.receiver.answer = (response, { id }) => response.writeHead(id === first ? 500 : 201).end()
  await test.runJobs()
  t.match(await stateOf(test, first), { status: 'gepland' })
  t.match(await stateOf(test, second), { status: 'afgeleverd' })
})

t.test('a receiver that comes back gets everything, once', async (t) => {
  const test = await givenNotificaties(t, { backoff: 3, baseFactor: 2 })
  await test.receiver.stop()
  const uuids = []
  for (let i = 0; i < 20; i++) uuids.push(await givenChange(test))
  await test.runJobs()
  await elapse(test, 3)
  await test.runJobs()
  await test.receiver.start()
  await elapse(test, 6)
  await test.runJobs()
  t.same(arrived(test).sort(), uuids.sort())
})

t.test('a connection is used again', async (t) => {
  const test = await givenNotificaties(t)
  const ports = new Set<number>()
  test.receiver.answer = (response, _received, request) => {
    ports.add(request.socket.remotePort!)
    response.writeHead(201).end('{}')
  }
  for (let i = 0; i < 10; i++) await givenChange(test)
  await test.runJobs()
  t.equal(test.receiver.received.length, 10)
  t.equal(ports.size, 1)
})

const arrived = (test: { receiver: { received: { id: string }[] } }) => test.receiver.received.map(({ id }) => id)

function drip(response: ServerResponse, status: number): void {
  response.writeHead(status)
  const timer = setInterval(() => response.write(' '), 50)
  response.on('close', () => clearInterval(timer))
}
