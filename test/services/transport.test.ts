import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { FOR_SERVICES } from '../../src/services/addresses.ts'
import { failureKind, openAgent, sendWithin } from '../../src/services/transport.ts'

t.test('of an answer no more than the limit is read, and then the connection is closed', async (t) => {
  const closed = Promise.withResolvers<void>()
  const url = await givenServer(t, (_request, response) => {
    response.on('close', closed.resolve)
    response.write('0123456789') // and it never ends
  })
  const answer = await sendWithin(60_000, givenAgent(t), { url, method: 'GET', limit: 4 })
  t.match(answer, { status: 200, truncated: true })
  t.equal(answer.body.toString(), '0123')
  await closed.promise
})

t.test('an answer as long as the limit is whole', async (t) => {
  const url = await givenServer(t, (_request, response) => {
    response.writeHead(201, { 'x-own': 'yes' }).end('0123')
  })
  const answer = await sendWithin(60_000, givenAgent(t), { url, method: 'POST', body: '{}', limit: 4 })
  t.match(answer, { status: 201, truncated: false, headers: { 'x-own': 'yes' } })
  t.equal(answer.body.toString(), '0123')
})

t.test('the term covers the answer to its last byte, and waiting for a connection', async (t) => {
  const sent: string[] = []
  const url = await givenServer(t, (request, response) => {
    sent.push(request.url!)
    response.write('begun')
  })
  const agent = givenAgent(t)
  const slow = sendWithin(400, agent, { url: new URL('first', url), method: 'GET', limit: 100 })
  const queued = sendWithin(50, agent, { url: new URL('second', url), method: 'GET', limit: 100 })
  t.equal(await queued.catch(failureKind), 'timeout')
  t.equal(await Promise.race([slow, 'still open']), 'still open')
  t.equal(await slow.catch(failureKind), 'timeout')
  t.same(sent, ['/first'], 'what nobody waits for any more is not sent')
})

t.test('a server that breaks off halfway is a failure', async (t) => {
  const url = await givenServer(t, (_request, response) => {
    response.writeHead(200, { 'content-length': 10 }).write('abc', () => response.destroy())
  })
  const answer = sendWithin(60_000, givenAgent(t), { url, method: 'GET', limit: 100 })
  t.equal(await answer.catch(failureKind), 'connection')
})

t.test('with a status that is enough, a body that breaks off, stalls or never ends changes nothing', async (t) => {
  for (const [name, go] of Object.entries<RequestListener>({
    'breaks off': (_request, response) =>
      response.writeHead(200, { 'content-length': 10 }).write('abc', () => response.destroy()),
    stalls: (_request, response) => response.writeHead(200, { 'content-length': 10 }).write('abc'),
    'never ends': (_request, response) => {
      const timer = setInterval(() => response.write('x'.repeat(100)), 1)
      response.on('close', () => clearInterval(timer))
    },
  })) {
    const url = await givenServer(t, go)
    const call = { url, method: 'POST', body: '{}', limit: 4096, statusSuffices: true } as const
    t.match(await sendWithin(30_000, givenAgent(t), call), { status: 200 }, name)
  }
  const refusing = await givenServer(t, (_request, response) => {
    response.writeHead(500, { 'content-length': 10 }).write('abc', () => response.destroy())
  })
  const call = { url: refusing, method: 'POST', body: '{}', limit: 4096, statusSuffices: true } as const
  t.equal(await sendWithin(30_000, givenAgent(t), call).catch(failureKind), 'connection')
})

t.test('calls go through the proxy of the settings, but for the hosts that are excepted', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-proxy-'))
  t.teardown(() => rm(directory, { recursive: true }))
  const name = 'dienst.voorbeeld.test' // only the proxy knows it
  execFileSync(
    'openssl',
    `req -x509 -newkey rsa:2048 -nodes -days 1 -keyout key -out cert -subj /CN=x -addext subjectAltName=DNS:${name}`.split(
      ' ',
    ),
    { stdio: 'ignore', cwd: directory },
  )
  const [cert, key] = await Promise.all(['cert', 'key'].map((file) => readFile(join(directory, file), 'utf8')))
  const there = createTlsServer({ cert, key }, (_request, response) => response.end('over TLS')).listen(0, '127.0.0.1')
  await once(there, 'listening')
  t.teardown(() => there.close())
  const asked: string[] = []
  const note = (request: IncomingMessage) =>
    asked.push(`${request.method} ${request.url} ${request.headers['proxy-authorization']}`)
  const proxy = createServer((request, response) => {
    note(request)
    response.end('by the proxy')
  })
  proxy.on('connect', (request, client: Socket) => {
    note(request)
    const onward = connect((there.address() as AddressInfo).port, '127.0.0.1', () =>
      client.write('HTTP/1.1 200 OK\r\n\r\n'),
    )
    onward.pipe(client).pipe(onward)
    for (const socket of [client, onward]) socket.on('error', () => {})
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => proxy.close())
  const call = async (url: string | URL, except = 'localhost,127.0.0.1') => {
    const http = `http://ons:geheim@127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const agent = openAgent({ policy: FOR_SERVICES, connections: 1, tls: { ca: cert! }, proxies: { http, except } })
    t.teardown(() => agent.destroy())
    return (await sendWithin(10_000, agent, { url: new URL(url), method: 'GET', limit: 100 })).body.toString()
  }
  t.equal(await call(`https://${name}/`), 'over TLS')
  t.equal(await call(`http://${name}/`), 'by the proxy')
  const credentials = `Basic ${Buffer.from('ons:geheim').toString('base64')}`
  t.strictSame(asked, [`CONNECT ${name}:443 ${credentials}`, `GET http://${name}/ ${credentials}`])
  t.equal(await call(await givenServer(t, (_request, response) => response.end('direct'))), 'direct')
  const metadata = call('http://169.254.169.254/', '')
  t.equal(await metadata.catch(failureKind), 'blocked', 'an address that may not be called is not asked of a proxy')
  t.equal(asked.length, 2)
})

async function givenServer(t: Test, listener: RequestListener): Promise<URL> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
}

function givenAgent(t: Test) {
  const agent = openAgent({ policy: FOR_SERVICES, connections: 1, proxies: { except: '' } })
  t.teardown(() => agent.destroy())
  return agent
}
