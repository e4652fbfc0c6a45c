// Every address that a client gives, in every spelling, for all who call one: one table.
import dns from 'node:dns'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { readConfig } from '../../src/config.ts'
import { openDelivery } from '../../src/notificaties/deliver.ts'
import { FOR_SERVICES, forClients } from '../../src/services/addresses.ts'
import { failureKind, openAgent, sendWithin } from '../../src/services/transport.ts'
import { givenClient, givenZaaktype, type TestApp } from '../app.ts'
import { API, builtIn } from '../nrc/given.ts'

/** Names that the resolver of these tests knows. */
const NAMES: Record<string, string[]> = {
  'lus.example': ['127.0.0.1'],
  'lus.example.': ['127.0.0.1'],
  'lus6.example': ['::1'],
  'mapped.example': ['::ffff:10.1.2.3'],
  'nat64.example': ['64:ff9b::a01:203'],
  'intern.example': ['10.1.2.3', '192.168.1.1'],
  'metadata.example': ['169.254.169.254'],
}

/** Host of a URL, and whether an address that an administrator registered may be there. */
const REFUSED: [host: string, forServices: boolean][] = [
  ['127.0.0.1', true],
  ['127.1', true],
  ['127.255.255.254', true],
  ['2130706433', true],
  ['0x7f000001', true],
  ['0x7f.1', true],
  ['0177.0.0.1', true],
  ['017700000001', true],
  ['127.0.0.1.', true],
  ['%31%32%37.0.0.1', true],
  ['１２７.0.0.1', true],
  ['localhost', true],
  ['LOCALHOST.', true],
  ['iets.localhost', true],
  ['[::1]', true],
  ['[0:0:0:0:0:0:0:1]', true],
  ['[::ffff:127.0.0.1]', true],
  ['[::ffff:7f00:1]', true],
  ['[::ffff:0:7f00:1]', true],
  ['[::127.0.0.1]', true],
  ['[64:ff9b::7f00:1]', true],
  ['[2002:7f00:1::]', true],
  ['10.0.0.1', true],
  ['10.1', true],
  ['172.16.0.1', true],
  ['172.31.255.255', true],
  ['192.168.1.1', true],
  ['3232235777', true],
  ['[::ffff:192.168.1.1]', true],
  ['[64:ff9b::192.168.1.1]', true],
  ['100.64.0.1', true],
  ['198.18.0.1', true],
  ['192.0.2.1', true],
  ['[fc00::1]', true],
  ['[fd12:3456::1]', true],
  ['[fec0::1]', true],
  ['[2001:db8::1]', true],
  ['[2001::1]', true],
  ['169.254.1.1', false],
  ['169.254.169.254', false],
  ['2852039166', false],
  ['0xa9fea9fe', false],
  ['0251.0376.0251.0376', false],
  ['[::ffff:169.254.169.254]', false],
  ['[64:ff9b::a9fe:a9fe]', false],
  ['[64:ff9b:1::a9fe:a9fe]', false],
  ['[2002:a9fe:a9fe::]', false],
  ['[fe80::1]', false],
  ['[fd00:ec2::254]', false],
  ['100.100.100.200', false],
  ['192.0.0.192', false],
  ['0.0.0.0', false],
  ['0', false],
  ['[::]', false],
  ['[::ffff:0.0.0.0]', false],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['[ff02::1]', false],
  ['lus.example', true],
  ['lus.example.', true],
  ['lus6.example', true],
  ['mapped.example', true],
  ['nat64.example', true],
  ['intern.example', true],
  ['metadata.example', false],
]
const PUBLIC = ['93.184.215.14', '[2606:2800:21f:cb07:6820:80da:af6b:8b2c]', '172.32.0.1', '[64:ff9b::5db8:d70e]']

const SETTINGS = { DATABASE_URL: 'postgres://x', PUBLIC_URL: 'https://zaken.example/zgw', PORT: '8000' }

t.before(() => {
  const real = dns.lookup
  dns.lookup = ((name: string, options: dns.LookupOptions, callback: (...given: unknown[]) => void) => {
    const known = NAMES[name.toLowerCase()]
    if (!known) return real(name, options as dns.LookupAllOptions, callback)
    callback(
      null,
      known.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }) as typeof dns.lookup
  syncBuiltinESMExports()
  t.teardown(() => {
    dns.lookup = real
    syncBuiltinESMExports()
  })
})

t.test('no spelling of an address that is not public opens it to clients, before or after DNS', async (t) => {
  const clients = forClients(readConfig(SETTINGS))
  for (const [host, forServices] of REFUSED) {
    const url = new URL(`http://${host}:1/x`)
    for (const [policy, open] of [
      [clients, false],
      [FOR_SERVICES, forServices],
    ] as const) {
      const agent = openAgent({ policy, connections: 1, proxies: { except: '' } })
      const judged = policy.refuses(url) ?? (await resolved(policy, url))
      t.equal(judged, open ? undefined : 'address', `${host} ${policy === clients ? 'of a client' : 'of a service'}`)
      if (!open) {
        const call = sendWithin(5_000, agent, { url, method: 'POST', body: '{}', limit: 10 })
        t.equal(await call.catch(failureKind), 'blocked', `${host} is not connected to`)
      }
      await agent.destroy()
    }
  }
  for (const host of PUBLIC) t.equal(clients.refuses(new URL(`https://${host}/x`)), undefined, host)
})

async function resolved(policy: typeof FOR_SERVICES, url: URL): Promise<'address' | undefined> {
  if (!NAMES[url.hostname]) return undefined
  return new Promise((resolve) => policy.lookup(url.hostname, {}, (error) => resolve(error ? 'address' : undefined)))
}

t.test('ALLOWED_PRIVATE_HOSTS opens the hosts, addresses and ranges that it names, and no others', async (t) => {
  const judge = (allowed: string, host: string) => {
    const policy = forClients(readConfig({ ...SETTINGS, ALLOWED_PRIVATE_HOSTS: allowed }))
    const url = new URL(`http://${host}/`)
    const refused = policy.refuses(url)
    return refused ? Promise.resolve(refused) : resolved(policy, url)
  }
  for (const [allowed, host, open] of [
    ['10.0.0.0/8', '10.1.2.3', true],
    ['10.0.0.0/8', '[::ffff:10.1.2.3]', true],
    ['10.0.0.0/8', '11.0.0.1', true],
    ['10.0.0.0/8', '192.168.1.1', false],
    ['10.1.2.3', 'mapped.example', true],
    ['10.1.2.3', 'nat64.example', true],
    ['10.1.2.4', 'mapped.example', false],
    ['fd12::/16', '[fd12:3456::1]', true],
    ['[fd12:3456::1]', '[fd12:3456::1]', true],
    ['fd12::/16', '[fd13::1]', false],
    ['intern.example', 'intern.example', true],
    ['INTERN.example.', 'intern.example', true],
    ['*.example', 'intern.example', true],
    ['*.example', 'metadata.example', false],
    ['intern.example', 'mapped.example', false],
    ['metadata.example', 'metadata.example', false],
    ['localhost,127.0.0.0/8,::1', 'lus.example', true],
    ['localhost,127.0.0.0/8,::1', 'localhost:9', true],
    ['127.0.0.1', '[::1]', false],
    ['0.0.0.0/0,::/0', '192.168.1.1', true],
    ['0.0.0.0/0,::/0', '169.254.1.1', false],
    ['169.254.1.0/24', '169.254.1.1', true],
    ['169.254.0.0/16', '169.254.169.254', false],
    ['0.0.0.0/0', '0.0.0.0', false],
  ] as const)
    t.equal(await judge(allowed, host), open ? undefined : 'address', `${allowed}: ${host}`)
  for (const wrong of ['10.0.0.0/33', '10.0.0', 'http://intern.example', 'a b', '*', 'intern.example:80'])
    t.throws(() => readConfig({ ...SETTINGS, ALLOWED_PRIVATE_HOSTS: wrong }), /ALLOWED_PRIVATE_HOSTS must be/, wrong)
  t.equal(
    forClients(readConfig({})).refuses(new URL('http://127.0.0.1:9/')),
    undefined,
    'with the embedded database loopback is open',
  )
})

t.test('an address of this service itself is refused whatever is allowed', async (t) => {
  const policy = forClients(
    readConfig({
      ...SETTINGS,
      ALLOWED_PRIVATE_HOSTS: 'localhost,127.0.0.0/8,::1',
      OWN_URLS: 'http://zgw.intern:8080/, https://oud.example/zgw',
    }),
  )
  for (const [url, own] of [
    ['http://ZGW.intern:8080/notificaties/api/v1/notificaties', true],
    ['https://user:word@oud.example/zgw/x', true],
    ['https://oud.example/zac/callback', false],
    ['https://zaken.example/zgw/notificaties/api/v1/notificaties', true],
    ['https://ZAKEN.example./zgw', true],
    ['http://zaken.example/zgw/x', true],
    ['https://zaken.example/zgwx', false],
    ['https://zaken.example/zac/callback', false],
    ['http://localhost:8000/notificaties/api/v1/notificaties', true],
    ['http://127.0.0.1:8000/x', true],
    ['http://127.9.9.9:8000/x', true],
    ['http://[::1]:8000/x', true],
    ['http://[::ffff:127.0.0.1]:8000/x', true],
    ['http://localhost:8001/x', false],
  ] as const)
    t.equal(policy.refuses(new URL(url)), own ? 'own' : undefined, url)
})

t.test('what was judged is what is connected to, and a redirect is not followed', async (t) => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url!)
    response.writeHead(302, { location: 'http://127.0.0.1:1/elders' }).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const config = readConfig({ ...SETTINGS, ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  const agent = openAgent({ policy: forClients(config), connections: 1, proxies: { except: '' } })
  t.teardown(() => agent.destroy())
  let times = 0
  Object.defineProperty(NAMES, 'wisselt.example', {
    configurable: true,
    get: () => (times++ === 0 ? ['127.0.0.1'] : ['10.1.2.3']),
  })
  t.teardown(() => delete NAMES['wisselt.example'])
  const url = new URL(`http://wisselt.example:${port}/een`)
  t.match(await sendWithin(5_000, agent, { url, method: 'GET', limit: 10 }), { status: 302 })
  t.strictSame([times, asked], [1, ['/een']], 'resolved once, judged and connected to')
})

t.test('every caller of an address that a client gave refuses the same, and asks nobody', async (t) => {
  const test = await builtIn(t, { ALLOWED_PRIVATE_HOSTS: '', NOTIFICATIES_HTTP_HOSTS: '*' })
  const { call } = test
  const client = await givenClient(test, 'abonnee', [{ component: 'nrc', scopes: ['notificaties.consumeren'] }])
  const { asked, port } = await givenListener(t)
  const abonnement = { auth: 'x', kanalen: [{ naam: 'zaken' }] }
  const { body: kept } = await withoutProbe(test, () =>
    call('POST', `${API}/abonnement`, { ...abonnement, callbackUrl: 'https://buiten.example/' }, { as: client }),
  )
  const delivery = openDelivery(test.config, test.parts.box)
  t.teardown(() => delivery.close())
  const zaaktype = await givenZaaktype(test)
  const zaak = await call('POST', '/zaken/api/v1/zaken', {
    zaaktype,
    bronorganisatie: '000000000',
    verantwoordelijkeOrganisatie: '000000000',
    startdatum: '2024-01-01',
  })
  for (const [host] of REFUSED) {
    const callbackUrl = `http://${host}:${port}/geheim`
    const byName = NAMES[host.toLowerCase()] !== undefined
    for (const [method, url] of [
      ['POST', `${API}/abonnement`],
      ['PATCH', kept.url],
    ] as const) {
      const { status, body } = await call(method, url, { ...abonnement, callbackUrl }, { as: client })
      t.equal(status, 400, `${method} ${host}`)
      if (!byName) t.match(body.invalidParams[0].reason ?? '', /^(?!.*(geweigerd|op tijd|TLS|hallo))/)
    }
    const attempt = await delivery.post({
      message: { ...MESSAGE },
      notificatieId: 1,
      attempt: 1,
      replay: false,
      service: null,
      abonnement: subscriberAt(test, callbackUrl),
    })
    t.match(attempt, { outcome: 'blocked', httpStatus: null }, `delivery to ${host}`)
  }
  for (const host of ['127.0.0.1', 'lus.example', '[::1]']) {
    const object = `http://${host}:${port}/objecten/1`
    const relation = await call('POST', '/zaken/api/v1/zaakobjecten', {
      zaak: zaak.body.url,
      object,
      objectType: 'adres',
    })
    t.ok([201, 400].includes(relation.status), `zaakobject ${relation.status}`)
    const verzoek = await call('POST', '/zaken/api/v1/zaakverzoeken', { zaak: zaak.body.url, verzoek: object })
    t.equal(verzoek.status, 400, 'a relation with a server that nobody registered')
  }
  t.strictSame(asked, [], 'nobody was connected to')
})

t.test('in mode extern no callback is asked', async (t) => {
  const test = await builtIn(t, { NOTIFICATIES_MODE: 'extern' })
  const { asked, port } = await givenListener(t)
  const callbackUrl = `http://127.0.0.1:${port}/`
  const made = await test.call('POST', `${API}/abonnement`, { callbackUrl, auth: 'x', kanalen: [{ naam: 'zaken' }] })
  t.equal(made.status, 201)
  t.equal((await test.call('PATCH', made.body.url, { auth: 'y' })).status, 200)
  t.strictSame(asked, [])
})

async function withoutProbe<T>({ database: { sql } }: TestApp, work: () => Promise<T>): Promise<T> {
  await sql`update notificatie_settings set mode = 'extern'`
  const made = await work()
  await sql`update notificatie_settings set mode = 'ingebouwd'`
  return made
}

async function givenListener(t: Test) {
  const asked: string[] = []
  const server = createServer((_request, response) => response.end('hallo')).on('connection', (socket) =>
    asked.push(String(socket.remoteAddress)),
  )
  server.listen(0)
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { asked, port: (server.address() as AddressInfo).port }
}

const MESSAGE = {
  uuid: '5a6b7c8d-0000-4000-8000-000000000001',
  kanaal: 'zaken',
  bron: '',
  hoofdObject: 'https://x/',
  resource: 'zaak',
  resourceUrl: 'https://x/',
  actie: 'create',
  aanmaakdatum: '2024-01-01T00:00:00Z',
  kenmerken: {},
  cloudevent: null,
  requestId: '',
}

const subscriberAt = ({ parts: { box } }: TestApp, callbackUrl: string) => {
  const uuid = '5a6b7c8d-0000-4000-8000-000000000002'
  return {
    uuid,
    callbackUrl,
    authenticatie: 'header' as const,
    auth: box.seal('x', `abonnement ${uuid}`),
    outgoingClientId: '',
    tokenUrl: '',
    tokenScope: '',
    certificaat: '',
    certificateKey: null,
    ondertekening: [],
    cloudevents: false,
    timeoutMs: 5_000,
    atOnce: 4,
  }
}
