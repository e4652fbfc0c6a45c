import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createVerifier } from 'fast-jwt'
import t, { type Test } from 'tap'
import { systemActor } from '../../src/core/access.ts'
import { secretBox } from '../../src/core/secret-box.ts'
import { saveService } from '../../src/services/register.ts'
import { serviceOwner } from '../../src/services/services.ts'
import { type TestApp, testApp } from '../app.ts'
import { freePort } from '../free-port.ts'

t.test('a URL below the root of a registered service is fetched with our credentials for it', async (t) => {
  const test = await testApp(t)
  const { root, requests } = await givenServer(t, (_request, response) => json(response, { naam: 'iets' }))
  await givenDienst(test, { apiRoot: root, clientId: 'ons-id', secret: 'ons geheim, lang genoeg voor HS256' })
  t.same(await test.parts.services.fetchJson(`${root}dingen/1`), { kind: 'ok', body: { naam: 'iets' } })
  const token = requests[0]!.headers.authorization!.replace('Bearer ', '')
  const claims = createVerifier({ key: 'ons geheim, lang genoeg voor HS256', algorithms: ['HS256'] })(token)
  t.match(claims, { iss: 'ons-id', client_id: 'ons-id', user_id: '', user_representation: '' })
  t.ok(Math.abs(claims.iat - Date.now() / 1000) < 60)
})

t.test('a service with an API key gets that in its header', async (t) => {
  const test = await testApp(t)
  const { root, requests } = await givenServer(t, (_request, response) => json(response, {}))
  await givenDienst(test, { apiRoot: root, header: 'x-sleutel', secret: 'de sleutel' })
  await test.parts.services.fetchJson(`${root}dingen`)
  t.equal(requests[0]!.headers['x-sleutel'], 'de sleutel')
})

t.test('the longest root decides whose credentials go along', async (t) => {
  const test = await testApp(t)
  const { root, requests } = await givenServer(t, (_request, response) => json(response, {}))
  await givenDienst(test, { apiRoot: root, header: 'x-sleutel', secret: 'kort' })
  await givenDienst(test, { apiRoot: `${root}api/v1/`, header: 'x-sleutel', secret: 'lang' })
  await test.parts.services.fetchJson(`${root}api/v1/dingen`)
  await test.parts.services.fetchJson(`${root}api/v2/dingen`)
  t.same(
    requests.map(({ headers }) => headers['x-sleutel']),
    ['lang', 'kort'],
  )
})

t.test('what no service is registered for is not asked', async (t) => {
  const test = await testApp(t)
  const { root, requests } = await givenServer(t, (_request, response) => json(response, {}))
  const { host, port } = new URL(root)
  await givenDienst(test, { apiRoot: `${root}api/` })
  const urls = [
    root,
    `${root}api`,
    `${root}apis/`,
    `${root}api/../geheim`,
    `${root}api/%2e%2e/geheim`,
    `${root}api/..%2fgeheim`,
    `${root}api/..%2Fgeheim`,
    `${root}api/%2e%2e%2fgeheim`,
    `${root}api/%252e%252e%252fgeheim`,
    `${root}api/..%5cgeheim`,
    `${root}api/..\\geheim`,
    `${root}api/..;/geheim`,
    `${root}api/.;a=b/%2e%2e%3b/geheim`,
    `${root}api/.\t./geheim`,
    `${root}api/./geheim`,
    `http://${host}@169.254.169.254/api/`,
    `http://gebruiker:wachtwoord@${host}/api/`,
    `https://${host}/api/`,
    `http://localhost:${port}/api/`,
    `http://127.1:1/api/`,
    `http://127.0.0.1.example.nl:${port}/api/`,
    'http://169.254.169.254/latest/meta-data/',
    'http://[::1]/api/',
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    'geen url',
    '',
  ]
  for (const url of urls) t.same(await test.parts.services.fetchJson(url), { kind: 'unregistered' }, url)
  t.equal(requests.length, 0)
})

t.test('every spelling of a link-local or metadata address is refused, registered or not', async (t) => {
  const test = await testApp(t)
  const hosts = [
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '0251.0376.0251.0376',
    '169.254.43518',
    '[::ffff:169.254.169.254]',
    '[::ffff:a9fe:a9fe]',
    '[64:ff9b::a9fe:a9fe]',
    '[2002:a9fe:a9fe::1]',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '100.100.100.200',
    '0.0.0.0',
    '0',
    '[::]',
    '224.0.0.1',
    '255.255.255.255',
  ]
  for (const host of hosts) {
    await givenDienst(test, { apiRoot: `http://${host}/` })
    t.match(
      await test.parts.services.fetchJson(`http://${host}/`),
      { kind: 'failed', reason: 'dit adres mag niet worden aangeroepen' },
      host,
    )
  }
})

t.test('an answer counts for a moment, unless a fresh one is asked for', async (t) => {
  const test = await testApp(t)
  const { root, requests } = await givenServer(t, (_request, response) => json(response, { nummer: requests.length }))
  await givenDienst(test, { apiRoot: root })
  t.match(await test.parts.services.fetchJson(root), { body: { nummer: 1 } })
  t.match(await test.parts.services.fetchJson(root), { body: { nummer: 1 } })
  t.match(await test.parts.services.fetchJson(root, { fresh: true }), { body: { nummer: 2 } })
  await test.database.sql`delete from service`
  t.match(
    await test.parts.services.fetchJson(root),
    { kind: 'unregistered' },
    'nor does it count for a removed service',
  )
})

t.test('every way to fail is told apart', async (t) => {
  const test = await testApp(t)
  const cases: [string, RequestListener, string][] = [
    ['redirect', (_q, r) => r.writeHead(302, { location: 'http://169.254.169.254/' }).end(), 'het antwoord was 302'],
    ['not found', (_q, r) => r.writeHead(404).end('{}'), 'het antwoord was 404'],
    ['created', (_q, r) => r.writeHead(201).end('{}'), 'het antwoord was 201'],
    ['silence', () => {}, 'het antwoord kwam niet op tijd'],
    ['drip', (_q, r) => drip(r), 'het antwoord kwam niet op tijd'],
    ['too much', (_q, r) => r.end('x'.repeat(3_000_000)), 'het antwoord is te groot'],
    ['cut off', (_q, r) => r.destroy(), 'de verbinding werd verbroken'],
  ]
  for (const [name, listener, reason] of cases) {
    const { root } = await givenServer(t, listener)
    await givenDienst(test, { apiRoot: root, timeoutMs: 500 })
    t.same(await test.parts.services.fetchJson(root), { kind: 'failed', reason }, name)
  }
  const noHttp = createTcpServer((socket) => socket.end('dit is geen HTTP\r\n\r\n')).listen(0, '127.0.0.1')
  await once(noHttp, 'listening')
  t.teardown(() => noHttp.close())
  const { port } = noHttp.address() as AddressInfo
  const others: [string, string][] = [
    [`http://127.0.0.1:${port}/`, 'het antwoord was geen geldige HTTP'],
    [`https://127.0.0.1:${port}/`, 'de beveiligde verbinding (TLS) kwam niet tot stand'],
    [`http://127.0.0.1:${await freePort()}/`, 'de verbinding werd geweigerd'],
    ['http://bestaat-niet.invalid/', 'de hostnaam is niet te vinden'],
  ]
  for (const [root, reason] of others) {
    await givenDienst(test, { apiRoot: root })
    t.same(await test.parts.services.fetchJson(root), { kind: 'failed', reason }, root)
  }
})

t.test('an answer that is not JSON is an answer without a shape', async (t) => {
  const test = await testApp(t)
  const { root } = await givenServer(t, (_request, response) => response.end('<html>'))
  await givenDienst(test, { apiRoot: root })
  t.same(await test.parts.services.fetchJson(root), { kind: 'ok', body: undefined })
})

t.test('a certificate that nobody vouches for is refused', async (t) => {
  const test = await testApp(t)
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-tls-'))
  t.teardown(() => rm(directory, { recursive: true }))
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      key,
      '-out',
      cert,
      '-subj',
      '/CN=localhost',
      '-days',
      '1',
    ],
    { stdio: 'ignore' },
  )
  const server = createTlsServer({ key: await readFile(key), cert: await readFile(cert) }, (_q, r) => r.end('{}'))
  const root = await listen(t, server, 'https')
  await givenDienst(test, { apiRoot: root })
  t.match(await test.parts.services.fetchJson(root), {
    kind: 'failed',
    reason: 'de beveiligde verbinding (TLS) kwam niet tot stand',
  })
})

type GivenDienst = { apiRoot: string; clientId?: string; header?: string; secret?: string; timeoutMs?: number }
let counter = 0

async function givenDienst({ database, config }: TestApp, given: GivenDienst): Promise<void> {
  const uuid = crypto.randomUUID()
  const { apiRoot, clientId = '', header = '', secret, timeoutMs = 10_000 } = given
  const authenticatie = clientId ? 'zgw' : header ? 'api_key' : 'geen'
  const geheim = secret ? secretBox(config.secretKey!).seal(secret, serviceOwner(uuid)) : null
  await database.sql`
    insert into service (uuid, label, slug, kind, api_root, authenticatie, client_id, header, sealed_secret, timeout_ms)
    values (${uuid}, 'Dienst', ${`dienst-${counter++}`}, 'orc', ${apiRoot}, ${authenticatie}, ${clientId}, ${header}, ${geheim}, ${timeoutMs})`
}

async function givenServer(t: Test, listener: RequestListener): Promise<{ root: string; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    listener(request, response)
  })
  return { root: await listen(t, server, 'http'), requests }
}

async function listen(t: Test, server: Server, scheme: string): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

function json(response: ServerResponse, body: unknown): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(body))
}

function drip(response: ServerResponse): void {
  response.writeHead(200)
  const timer = setInterval(() => response.write(' '), 50)
  response.on('close', () => clearInterval(timer))
}

/** Registers a service as a setup file does. */
async function givenService({ app, parts }: TestApp, values: object): Promise<void> {
  const input = { label: 'Dienst', slug: `dienst-${counter++}`, soort: 'orc', authenticatie: 'geen', ...values }
  await app.mutate(systemActor('setup apply', 'http://localhost'), (m) => saveService(m, parts.box, input as never))
}

t.test(
  'OAuth2: a token is asked once, kept until shortly before its end, and renewed when it is refused',
  async (t) => {
    const test = await testApp(t)
    let refuse = false
    let given = 0
    const { root, requests } = await givenServer(t, (request, response) => {
      if (request.url === '/token') return json(response, { access_token: `token-${++given}`, expires_in: 3600 })
      if (refuse && request.headers.authorization === 'Bearer token-1') response.statusCode = 401
      json(response, { zie: request.headers.authorization })
    })
    await givenService(test, {
      apiRoot: `${root}api/`,
      authenticatie: 'oauth2',
      clientId: 'ons:id',
      secret: 'ge&heim',
      tokenUrl: `${root}token`,
      tokenScope: 'lezen',
    })
    const fetch = (path: string) => test.parts.services.fetchJson(`${root}api/${path}`, { fresh: true })
    const two = await Promise.all([fetch('1'), fetch('2')])
    t.same(two[0], { kind: 'ok', body: { zie: 'Bearer token-1' } })
    t.same(two[1], two[0], 'who asks at the same time gets the same token')
    const asked = requests.find(({ url }) => url === '/token')!
    t.equal(asked.headers['content-type'], 'application/x-www-form-urlencoded')
    t.equal(Buffer.from(asked.headers.authorization!.slice(6), 'base64').toString(), 'ons%3Aid:ge%26heim')
    refuse = true
    t.same(await fetch('3'), { kind: 'ok', body: { zie: 'Bearer token-2' } })
    t.equal(given, 2)
    const [{ sealed_secret: stored }] = await test.database.sql<
      [{ sealed_secret: Buffer }]
    >`select sealed_secret from service`
    t.notMatch(stored.toString('latin1'), 'ge&heim', 'the secret is stored encrypted')
  },
)

t.test('what a service answers is shown without the key that it got in a header of its own', async (t) => {
  const test = await testApp(t)
  const { root } = await givenServer(t, ({ headers }, response) => json(response, { unknown: headers['x-sleutel'] }))
  await givenService(test, { apiRoot: root, authenticatie: 'api_key', header: 'X-Sleutel', secret: 'geheim-3' })
  const dienst = await test.database.db.selectFrom('service').selectAll().executeTakeFirstOrThrow()
  const answer = await test.parts.services.send(dienst, { url: new URL(root), method: 'GET', limit: 1000 })
  t.same(JSON.parse(answer.body.toString()), { unknown: 'geheim-3' })
  t.same(JSON.parse(answer.shown().toString()), { unknown: '***' })
})

t.test('OAuth2: no token, and a token from an address that may not be called, are told apart', async (t) => {
  const test = await testApp(t)
  const { root, requests } = await givenServer(t, (_request, response) => json(response, { error: 'invalid_client' }))
  const service = { authenticatie: 'oauth2', clientId: 'id', secret: 'geheim' }
  await givenService(test, { ...service, apiRoot: `${root}a/`, tokenUrl: `${root}token` })
  await givenService(test, { ...service, apiRoot: `${root}b/`, tokenUrl: 'http://169.254.169.254/token' })
  t.match(await test.parts.services.fetchJson(`${root}a/1`), { reason: 'er werd geen toegangstoken gegeven' })
  t.match(await test.parts.services.fetchJson(`${root}b/1`), { reason: 'dit adres mag niet worden aangeroepen' })
  t.same(
    requests.map(({ url }) => url),
    ['/token'],
    'the service itself is not asked',
  )
  await t.rejects(givenService(test, { ...service, apiRoot: `${root}c/`, tokenUrl: `${root}a/../token` }), {
    invalidParams: [{ name: 'tokenUrl' }],
  } as never)
})

t.test('a service is shown a client certificate, and vouched for by a CA of its own', async (t) => {
  const test = await testApp(t)
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-mtls-'))
  t.teardown(() => rm(directory, { recursive: true }))
  const at = (name: string) => join(directory, name)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore', cwd: directory })
  for (const [name, san] of [
    ['server', 'IP:127.0.0.1'],
    ['client', 'DNS:client'],
  ])
    openssl(
      ...`req -x509 -newkey rsa:2048 -nodes -days 1 -keyout ${name}.key -out ${name}.pem -subj /CN=${name} -addext subjectAltName=${san}`.split(
        ' ',
      ),
    )
  const read = async (name: string) => (await readFile(at(name))).toString()
  const [cert, key, clientCertificate, clientKey] = await Promise.all(
    ['server.pem', 'server.key', 'client.pem', 'client.key'].map(read),
  )
  const server = createTlsServer(
    { cert: cert!, key: key!, ca: clientCertificate!, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const { authorized } = request.socket as unknown as { authorized: boolean }
      json(response, { authorized })
    },
  )
  const root = await listen(t, server, 'https')
  await givenService(test, { apiRoot: `${root}a/`, ca: cert })
  await givenService(test, { apiRoot: `${root}b/`, ca: cert, clientCertificate, clientKey })
  await givenService(test, { apiRoot: `${root}c/` })
  const fetch = (path: string) => test.parts.services.fetchJson(`${root}${path}/1`)
  t.same(await fetch('a'), { kind: 'ok', body: { authorized: false } })
  t.same(await fetch('b'), { kind: 'ok', body: { authorized: true } })
  t.match(await fetch('c'), { reason: 'de beveiligde verbinding (TLS) kwam niet tot stand' })
  const refused = (values: object, name: string) =>
    t.rejects(givenService(test, { apiRoot: `${root}d/`, ...values }), { invalidParams: [{ name }] } as never)
  await refused({ clientCertificate: 'x', clientKey }, 'clientCertificate')
  await refused({ clientCertificate, clientKey: 'x' }, 'clientKey')
  await refused({ clientCertificate, clientKey: key }, 'clientKey')
  await refused({ clientCertificate }, 'clientKey')
  await refused({ ca: 'x' }, 'ca')
})
