import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import t from 'tap'
import { drip, head } from '../../bench/attacks/attack.ts'
import { signToken } from '../../src/autorisaties/clients.ts'
import { sendProblem } from '../../src/core/problem.ts'
import { givenInformatieobjecttype, SECRET, testApp } from '../app.ts'
import { until } from '../until.ts'

type TestLike = { teardown(work: () => unknown): unknown }

const CATALOGUSSEN = '/catalogi/api/v1/catalogussen'
const DOCUMENTEN = '/documenten/api/v1/enkelvoudiginformatieobjecten'

async function listening(t: TestLike, env: Record<string, string>) {
  const test = await testApp(t, env)
  await test.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = test.app.server.address() as { port: number }
  const sockets = new Set<Socket>()
  const stop = new AbortController()
  t.teardown(() => {
    stop.abort()
    for (const socket of sockets) socket.destroy()
  })
  /** A connection; `text` resolves with all that came, when the other side closed it. */
  const open = async (localAddress = '127.0.0.1') => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    sockets.add(socket)
    let received = ''
    socket.on('data', (data) => {
      received += data.toString('latin1')
    })
    socket.on('error', () => {})
    const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(received)))
    await once(socket, 'connect')
    return {
      socket,
      closed,
      /** Waits until what came matches. */
      received: async (pattern: RegExp) => {
        await until(String(pattern), () => pattern.test(received) || socket.closed)
        return received
      },
      /** Waits until so many answers came to their end. */
      answers: async (many: number) => {
        const count = () => received.match(/HTTP\/1\.1 /g)?.length ?? 0
        await until(`${many} answers`, () => (count() >= many && received.endsWith('}')) || socket.closed)
        return received.split(/(?=HTTP\/1\.1 )/)
      },
    }
  }
  const bearer = () => ({ host: 'localhost', authorization: `Bearer ${signToken('beheer', SECRET)}` })
  return { test, open, bearer, signal: stop.signal, address: `http://127.0.0.1:${port}` }
}

const json = (length: number) => ({ 'content-type': 'application/json', 'content-length': length })

t.test('headers that do not come are refused with 408, and so is a body', async (t) => {
  const { open, bearer, signal } = await listening(t, { HTTP_HEADERS_TIMEOUT: '1', HTTP_REQUEST_TIMEOUT: '1' })
  const heads = await open()
  heads.socket.write(`GET ${CATALOGUSSEN} HTTP/1.1\r\nHost: localhost\r\nX-Slow: `)
  void drip(heads.socket, 100, signal, 'x')
  const body = await open()
  body.socket.write(head('POST', CATALOGUSSEN, { ...bearer(), ...json(1000) }))
  void drip(body.socket, 100, signal)
  const silent = await open()
  for (const [what, answer] of [
    ['headers', await heads.closed],
    ['body', await body.closed],
    ['nothing at all', await silent.closed],
  ] as const)
    t.match(answer, /^HTTP\/1\.1 408 Request Timeout.*application\/problem\+json.*"code":"request_timeout"/s, what)
})

t.test('requests that are sent without waiting get their answers, in order', async (t) => {
  const { open, bearer } = await listening(t, {})
  for (const many of [3, 5, 20, 100]) {
    const { socket, answers } = await open()
    const ask = (id: number) => head('GET', CATALOGUSSEN, { ...bearer(), 'x-request-id': `ask-${id}` })
    socket.write(Array.from({ length: many }, (_, n) => ask(n)).join(''))
    const told = (await answers(many)).map((one) => /^HTTP\/1\.1 200 [^{]*x-request-id: ask-(\d+)/.exec(one)?.[1])
    t.strictSame(told.map(Number), [...Array(many).keys()], `${many} at once`)
    socket.write(ask(0))
    t.equal((await answers(many + 1)).length, many + 1, 'it is read on')
  }
  const { socket, closed } = await open()
  socket.write(`${head('GET', '/livez', bearer()).repeat(6)}GARBAGE\r\n\r\n`)
  const statuses = [...(await closed).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
  t.strictSame(statuses, [...Array(6).fill('200'), '400'], 'what cannot be read is refused behind them')
})

t.test('content has a least rate in place of a total time', async (t) => {
  const { test, open, bearer, signal } = await listening(t, { HTTP_REQUEST_TIMEOUT: '1', HTTP_MIN_RATE: '1000' })
  const informatieobjecttype = await givenInformatieobjecttype(test)
  const document = JSON.stringify({
    bronorganisatie: '000000000',
    creatiedatum: '2026-01-01',
    titel: 'Traag',
    auteur: 'x',
    taal: 'nld',
    informatieobjecttype,
    bestandsomvang: 9000,
    inhoud: Buffer.alloc(9000).toString('base64'),
  })
  const steady = await open()
  steady.socket.write(head('POST', DOCUMENTEN, { ...bearer(), ...json(document.length) }))
  for (let at = 0; at < document.length; at += 400) {
    steady.socket.write(document.slice(at, at + 400))
    await sleep(100)
  }
  t.match(await steady.received(/^HTTP/), /^HTTP\/1\.1 201 /, 'one that takes three times as long is taken')
  steady.socket.destroy()

  const slow = await open()
  slow.socket.write(head('POST', DOCUMENTEN, { ...bearer(), ...json(document.length) }))
  slow.socket.write(document.slice(0, 500))
  void drip(slow.socket, 100, signal, 'A')
  t.match(await slow.closed, /^HTTP\/1\.1 408 /, 'one that drips is not')
})

t.test('a refusal closes the connection while the body drips, for every reason', async (t) => {
  const { open, bearer, signal } = await listening(t, {})
  const cases: [number, string, string, Record<string, string | number>][] = [
    [403, 'POST', CATALOGUSSEN, { host: 'localhost', ...json(1000) }],
    [404, 'POST', '/nergens', { host: 'localhost', ...json(1000) }],
    [405, 'PATCH', CATALOGUSSEN, { ...bearer(), ...json(1000) }],
    [413, 'POST', CATALOGUSSEN, { ...bearer(), ...json(100_000_000) }],
    [415, 'POST', CATALOGUSSEN, { ...bearer(), ...json(1000), 'content-type': 'text/xml' }],
    [417, 'POST', CATALOGUSSEN, { ...bearer(), ...json(1000), expect: 'een wonder' }],
  ]
  await Promise.all(
    cases.map(async ([status, method, path, headers]) => {
      const { socket, closed } = await open()
      socket.write(head(method, path, headers))
      void drip(socket, 100, signal)
      const answer = await closed
      t.match(answer, new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*"status":${status}`), String(status))
      t.match(answer, /^connection: close\r$/im)
    }),
  )
})

t.test('a refusal reaches a client that is still sending, and keeps the connection of one that has sent', async (t) => {
  const { open } = await listening(t, {})
  const large = await open()
  const size = 5_000_000
  large.socket.write(head('POST', CATALOGUSSEN, { host: 'localhost', ...json(size) }))
  large.socket.end(Buffer.alloc(size, ' '))
  t.match(await large.closed, /^HTTP\/1\.1 403 /)
  const small = await open()
  const request = `${head('POST', CATALOGUSSEN, { host: 'localhost', ...json(2) })}{}`
  small.socket.write(request)
  await small.received(/403.*\}$/s)
  small.socket.write(request)
  t.match(await small.received(/(403 .*){2}\}$/s), /keep-alive/)
})

t.test('an answer that nobody reads is broken off', async (t) => {
  const { open } = await listening(t, { HTTP_REQUEST_TIMEOUT: '1', HTTP_MIN_RATE: '1000' })
  const { socket, closed } = await open()
  socket.pause()
  const ask = head('GET', '/zaken/api/v1/schema/openapi.json', { host: 'localhost' })
  for (let n = 0; n < 50; n++) socket.write(ask) // more than the system keeps for a connection
  while (!socket.destroyed) {
    socket.write('\r\n') // the only way to notice without reading
    await sleep(100)
  }
  t.ok((await closed).length < 1_000_000)
})

t.test('Expect: 100-continue is told to go on only when nothing was refused', async (t) => {
  const { open, bearer } = await listening(t, {})
  const refused = await open()
  refused.socket.write(head('POST', CATALOGUSSEN, { host: 'localhost', ...json(2), expect: '100-continue' }))
  t.match(await refused.closed, /^HTTP\/1\.1 403 /)
  const taken = await open()
  taken.socket.write(head('POST', CATALOGUSSEN, { ...bearer(), ...json(2), expect: '100-continue' }))
  t.match(await taken.received(/^HTTP/), /^HTTP\/1\.1 100 Continue/)
  taken.socket.write('{}')
  t.match(await taken.received(/ 400 /), / 400 /)
})

t.test('what is refused before there is a route is answered like all else', async (t) => {
  const { open, bearer, signal } = await listening(t, { HTTP_REQUEST_TIMEOUT: '1' })
  const host = 'localhost:1234'
  const named = { ...bearer(), host, 'x-request-id': 'from-the-caller' }
  const ours = /^x-request-id: from-the-caller\r$/m
  const made = /^x-request-id: [0-9a-f]{16}\r$/m
  const cases: [string, number, RegExp, RegExp?][] = [
    [head('GET', '/livez', { ...named, expect: 'een wonder' }), 417, ours],
    ['GET /livez HTTP/1.1\r\nX-Request-ID: from-the-caller\r\n\r\n', 400, ours, /Host ontbreekt/],
    [`GET /livez HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n`, 400, made, /meer dan eens/],
    [`GET /livez HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n`, 400, made, /meer dan eens/],
    [`GET /livez HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n`, 400, made, /meer dan eens/],
    [head('GET', '/%zz', named), 400, ours],
    [head('GET', `/livez?${'x'.repeat(10)}`, { ...named, 'x-large': 'x'.repeat(20_000) }), 431, made],
    ['GARBAGE\r\n\r\n', 400, made, /parse_error/],
    [head('POST', CATALOGUSSEN, { ...named, ...json(100_000_000) }), 413, ours],
    [head('POST', CATALOGUSSEN, { ...named, ...json(1000) }), 408, ours],
  ]
  await Promise.all(
    cases.map(async ([text, status, id, detail = /./]) => {
      const { socket, received } = await open()
      socket.write(text)
      if (status === 408) void drip(socket, 100, signal)
      const answer = await received(/\}$/)
      const what = `${status} of ${text.slice(0, 60)}`
      t.match(answer, new RegExp(`^HTTP/1\\.[01] ${status} .*"status":${status},`, 's'), what)
      t.match(answer, id, what)
      t.match(answer, detail, what)
      for (const header of [
        /^content-type: application\/problem\+json/m,
        /^content-security-policy: default-src 'none'/m,
        /^x-content-type-options: nosniff\r$/m,
        /^x-frame-options: DENY\r$/m,
        /^cache-control: no-store\r$/m,
      ])
        t.match(answer, header, what)
      const { type } = JSON.parse(answer.slice(answer.indexOf('{')))
      t.match(type, /^http:\/\/[^/]+\/ref\/fouten\/\w+\/$/, what)
      if (id === ours && status !== 400) t.match(type, `http://${host}/`, what)
      socket.destroy()
    }),
  )
})

t.test('a target may name the whole address (RFC 9112), where the host does not say whose request it is', async (t) => {
  const { open } = await listening(t, {})
  const { socket, received } = await open()
  socket.write(`GET http://b/livez HTTP/1.1\r\nHost: a\r\n\r\n`)
  t.match(await received(/\}$/), /^HTTP\/1\.1 200 /)
})

t.test('connections are bounded by address and in all, and whoever waits longest makes way', async (t) => {
  const { open, test } = await listening(t, { HTTP_MAX_CONNECTIONS: '20', HTTP_MAX_CONNECTIONS_PER_ADDRESS: '5' })
  const silent = await Promise.all(Array.from({ length: 5 }, () => open('127.0.0.2')))
  const sixth = await open('127.0.0.2')
  await silent[0]!.closed
  t.notOk(silent[1]!.socket.closed, 'only the oldest')
  for (const other of ['3', '4', '5', '6', '7'])
    await Promise.all(Array.from({ length: 5 }, () => open(`127.0.0.${other}`)))
  const ask = head('GET', '/livez', { host: 'localhost' })
  const { socket, received } = await open()
  socket.write(ask)
  t.match(await received(/ok/), /^HTTP\/1\.1 200 /)
  await sixth.closed
  t.ok(test.app.server.listening)
})

t.test('/livez is answered when all places are at work, and everything else waits its turn', async (t) => {
  const { open, bearer, signal } = await listening(t, {
    HTTP_MAX_CONNECTIONS: '10',
    HTTP_MAX_CONNECTIONS_PER_ADDRESS: '10',
  })
  for (let n = 0; n < 10; n++) {
    const { socket } = await open()
    socket.write(head('POST', CATALOGUSSEN, { ...bearer(), ...json(1000), expect: '100-continue' }))
    await once(socket, 'data') // it is known by now
    void drip(socket, 200, signal)
  }
  for (const localAddress of ['127.0.0.1', '127.0.0.2']) {
    const probe = await open(localAddress)
    probe.socket.write(head('GET', '/livez', { host: 'localhost' }))
    t.match(await probe.closed, /^HTTP\/1\.1 200 /, '/livez')
    const other = await open(localAddress)
    other.socket.write(head('GET', CATALOGUSSEN, bearer()))
    t.match(await other.closed, /^HTTP\/1\.1 503 .*retry-after: 5/is, 'another')
  }
})

t.test('a proxy that TRUST_PROXY names has no bound of its own', async (t) => {
  const { open } = await listening(t, {
    HTTP_MAX_CONNECTIONS_PER_ADDRESS: '2',
    TRUST_PROXY: '10.0.0.0/8, 127.0.0.8/29',
  })
  const many = []
  for (let n = 0; n < 5; n++) many.push(await open('127.0.0.9'))
  const { socket, received } = many[0]!
  socket.write(head('GET', '/livez', { host: 'localhost' }))
  t.match(await received(/ok/), /^HTTP\/1\.1 200 /)
})

t.test('a request is not begun behind hundreds that another client sent before it', async (t) => {
  const { open, bearer } = await listening(t, {})
  const sockets = (await Promise.all(Array.from({ length: 301 }, () => open()))).map(({ socket }) => socket)
  const { authorization } = bearer()
  /** All ask at the same moment. Resolves with their numbers in the order of their answers. */
  const ask = async (authorizationOf: (index: number) => string): Promise<number[]> => {
    const answered: number[] = []
    const answers = sockets.map(async (socket, index) => {
      await once(socket, 'data')
      answered.push(index)
    })
    for (const [index, socket] of sockets.entries())
      socket.write(head('GET', '/livez', { host: 'localhost', authorization: authorizationOf(index) }))
    await Promise.all(answers)
    return answered
  }
  await ask(() => authorization) // until then the server has not taken all of the connections
  const answered = await ask((index) => (index === 300 ? 'Bearer other' : authorization))
  t.ok(answered.indexOf(300) < 100, `it was answered after ${answered.indexOf(300)}`)
})

t.test('a client that sends many more requests without waiting for answers gets 429', async (t) => {
  const { test, open } = await listening(t, {})
  let made = 0
  test.app.server.on('request', () => made++)
  const { socket, closed } = await open()
  socket.write(head('GET', '/readyz', { host: 'localhost' }).repeat(1000))
  const statuses = [...(await closed).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
  t.strictSame(statuses, [...Array(100).fill('200'), '429'])
  t.ok(made < 105, `${made} of what came in one piece were made`)
})

t.test('a request that waited for very long is answered, and not reset', async (t) => {
  const { test, open, bearer } = await listening(t, {})
  const { database } = test
  test.app.server.timeout = 500
  const held = Promise.withResolvers<void>()
  const locking = database.sql.begin(async (sql) => {
    await sql`lock table catalogus in access exclusive mode`
    await held.promise
  })
  const client = await open()
  client.socket.write(head('GET', CATALOGUSSEN, bearer()))
  t.match(await client.closed, /^HTTP\/1\.1 503 [\s\S]*retry-after: 30/)
  held.resolve()
  await locking
})

t.test('a client that goes away before its request is here is no fault of ours', async (t) => {
  const lines: { level: number; status?: number }[] = []
  const logged = Promise.withResolvers<void>()
  const write = (line: string) => {
    lines.push(JSON.parse(line))
    if (lines.at(-1)!.status !== undefined) logged.resolve()
  }
  const app = Fastify({ logger: { level: 'info', stream: { write } } })
  t.teardown(() => app.close())
  app.setErrorHandler((error, request, reply) => sendProblem(request, reply, error))
  app.post('/', async () => ({}))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const socket = connect((app.server.address() as { port: number }).port, '127.0.0.1')
  socket.write(head('POST', '/', { host: 'x', ...json(1000) }))
  socket.end('{')
  await logged.promise
  t.match(
    lines.filter(({ status }) => status !== undefined),
    [{ status: 400 }],
  )
  t.notOk(lines.some(({ level }) => level >= 50))
})
