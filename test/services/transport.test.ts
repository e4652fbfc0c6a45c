import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { FOR_SERVICES } from '../../src/services/addresses.ts'
import {
  clientReason,
  FAILURES,
  failureCode,
  failureKind,
  openAgent,
  sendWithin,
} from '../../src/services/transport.ts'
import { freePort } from '../free-port.ts'
import { until } from '../until.ts'

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

t.test('100 Continue that nobody asked for comes before an answer, and is none', async (t) => {
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
  for (const parts of [
    [`${CONTINUE}HTTP/1.1 204 No Content\r\n\r\n`],
    [CONTINUE, 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['HTTP/1.1 10', '0 Continue\r\nx-own: a\r\n', '\r\n', CONTINUE, 'HTTP/', '1.1 204 No Content\r\n\r\n'],
    [CONTINUE, 'HTTP/1.1 103 Early Hints\r\n\r\n', 'HTTP/1.1 204 No Content\r\n\r\n'],
    [`HTTP/1.1 200 OK\r\ncontent-length: ${CONTINUE.length}\r\n\r\n`, CONTINUE],
  ]) {
    const url = await givenServer(t, async ({ socket }) => {
      for (const part of parts) {
        socket.write(part)
        await sleep(5)
      }
    })
    const agent = givenAgent(t)
    const isBody = parts[1] === CONTINUE && parts.length === 2 && parts[0] !== CONTINUE
    for (const turn of [1, 2]) {
      const answer = await sendWithin(10_000, agent, { url, method: 'POST', body: '{}', limit: 100 })
      t.equal(answer.status, isBody ? 200 : 204, `${JSON.stringify(parts)}, ${turn}`)
      t.equal(answer.body.toString(), isBody ? CONTINUE : '')
    }
  }
  const cut = await givenServer(t, ({ socket }) => socket.end(CONTINUE))
  const call = { url: cut, method: 'POST', body: '{}', limit: 100 } as const
  t.equal(await sendWithin(10_000, givenAgent(t), call).catch(failureKind), 'connection', 'nothing comes after it')
})

t.test('what is wrong with TLS has a word of its own, and Node’s code', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-tls-'))
  t.teardown(() => rm(directory, { recursive: true }))
  const openssl = (text: string) => execFileSync('openssl', text.split(' '), { stdio: 'ignore', cwd: directory })
  for (const [name, san, days] of [
    ['good', 'localhost', '1'],
    ['other', 'elders.voorbeeld.test', '1'],
    ['unknown', 'localhost', '1'],
  ])
    openssl(
      `req -x509 -newkey rsa:2048 -nodes -days ${days} -keyout ${name}.key -out ${name}.pem -subj /CN=${name} -addext subjectAltName=DNS:${san}`,
    )
  openssl('req -new -key good.key -out old.csr -subj /CN=localhost')
  writeFileSync(join(directory, 'ext'), 'subjectAltName=DNS:localhost')
  // As one that was valid for a day, twenty years ago.
  writeFileSync(join(directory, 'index'), '')
  writeFileSync(
    join(directory, 'ca.cnf'),
    '[ca]\ndefault_ca=d\n[d]\ndir=.\ndatabase=index\nnew_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n',
  )
  openssl(
    'ca -batch -config ca.cnf -cert good.pem -keyfile good.key -in old.csr -out old.pem -startdate 20060101000000Z -enddate 20060102000000Z -extfile ext -notext',
  )
  const read = (file: string) => readFileSync(join(directory, file), 'utf8')
  const ca = read('good.pem') + read('other.pem')
  const server = async (options: string): Promise<string> => {
    const port = await freePort()
    const child = spawn('openssl', `s_server -accept ${port} -quiet -www ${options}`.split(' '), {
      stdio: 'ignore',
      cwd: directory,
    })
    t.teardown(() => child.kill('SIGKILL'))
    await until('a server', () => canConnect(port))
    return `https://localhost:${port}/`
  }
  const noTls = (await givenServer(t, (_request, response) => response.end())).href.replace('http:', 'https:')
  const table: [what: string, url: string, kind: string, code: RegExp][] = [
    ['expired', await server('-cert old.pem -key good.key'), 'tls-expired', /^CERT_HAS_EXPIRED$/],
    ['another name', await server('-cert other.pem -key other.key'), 'tls-name', /^ERR_TLS_CERT_ALTNAME_INVALID$/],
    ['unknown CA', await server('-cert unknown.pem -key unknown.key'), 'tls-ca', /^DEPTH_ZERO_SELF_SIGNED_CERT$/],
    [
      'client certificate',
      await server('-cert good.pem -key good.key -Verify 1'),
      'tls-client',
      /CERTIFICATE_REQUIRED$/,
    ],
    [
      'too old',
      await server('-cert good.pem -key good.key -tls1_1 -cipher ALL:@SECLEVEL=0'),
      'tls-version',
      /PROTOCOL_VERSION$|UNSUPPORTED_PROTOCOL$/,
    ],
    ['no TLS', noTls, 'tls', /^ERR_SSL_|^EPROTO$/],
  ]
  for (const [what, url, kind, code] of table) {
    for (const method of ['GET', 'POST'] as const) {
      const agent = openAgent({ policy: FOR_SERVICES, connections: 1, tls: { ca }, proxies: { except: '' } })
      t.teardown(() => agent.destroy())
      const call = { url: new URL(url), method, limit: 100, ...(method === 'POST' && { body: '{}' }) }
      const error = await sendWithin(10_000, agent, call).then(
        () => undefined,
        (fault: unknown) => fault,
      )
      t.equal(failureKind(error), kind, `${what}, ${method}`)
      t.match(failureCode(error), code)
      t.equal(clientReason(failureKind(error)), FAILURES.tls, 'one word for all, to a client')
    }
  }
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

const canConnect = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    }).on('error', () => resolve(false))
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
