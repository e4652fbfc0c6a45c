// Whose request it is: every route, with every kind of token and session, at the host of each of two organisations with the same rows, and
// at a host of nobody. What is another's counts as what is nobody's, to the byte. How a host may be written is tried on a connection.
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import t from 'tap'
import { createClient, signToken } from '../../src/autorisaties/clients.ts'
import { openDatabase } from '../../src/database/database.ts'
import { withSchema } from '../../src/database/schema.ts'
import { SECRET } from '../app.ts'
import { keysOf, ringOf } from './api-many.ts'
import { A, B, givenTwins, HOSTS, headersOf, other, SCHEMAS, type Which } from './twins.ts'

const twins = await givenTwins(t, { env: { TRUST_PROXY: '10.0.0.0/8' } })
const { app, call, routes, filled, url } = twins
const OWN = ['alleen-a', 'alleen-b'] as const
for (const n of [0, 1] as const) {
  const database = openDatabase(withSchema(url, SCHEMAS[n]), { max: 1, name: 'test' })
  database.useNumbers(ringOf(keysOf(0)).numbers)
  const client = { id: OWN[n], label: OWN[n], alleAutorisaties: true, secret: SECRET }
  await createClient(database, ringOf(keysOf(0)), client)
  await database.close()
}
const ZAKEN = '/zaken/api/v1/zaken'

let asked = 0
/** Nobody is refused for what came from his address before. */
const address = () => `192.0.${(++asked >> 8) % 256}.${asked % 256}`
type Answer = { status: number; text: string; headers: Record<string, unknown> }
/** What of an answer is of no moment. */
const shown = ({ status, text, headers }: Answer) => ({
  status,
  text: text
    .replace(/urn:uuid:[\da-f-]{36}/, '')
    .replace(/name="_csrf" value="[^"]*"/g, '')
    .replace(/"challenge":"[^"]*"/, '') // of a passkey: another each time
    .replace(/<code>[\da-f]{16}<\/code>/, '') // what an administrator finds it by
    .replaceAll(/alleen-[ab]|nergens/g, ''),
  headers: Object.keys(headers).sort().join(),
})

const differenceOf = (a: string, b: string) => {
  const at = [...a].findIndex((letter, index) => letter !== b[index])
  return `${a.slice(Math.max(0, at - 40), at + 40)} | ${b.slice(Math.max(0, at - 40), at + 40)}`
}

t.test('at every route what is of the other counts as what is of nobody', async (t) => {
  const wrong: string[] = []
  const seen = new Map<string, number>()
  for (const [route, { access, isOfProcess }] of routes) {
    const [method = '', path = ''] = route.split(' ')
    if (method === 'HEAD' || isOfProcess || path.includes('*')) continue
    const isPage = access === 'beheer'
    const isPublic = access === 'public' || access === undefined // those of a plugin say so later
    const ask = async (host: string, as: string, session?: Which) => {
      const headers = isPage && session !== undefined ? headersOf(true, session) : headersOf(false, 0)
      const body = method === 'GET' ? {} : { body: {} }
      return shown(await call(host, method, filled(path), { as, headers, ...body, remoteAddress: address() }))
    }
    for (const n of [0, 1] as const) {
      const host = HOSTS[n]
      const [others, nobodys] = isPage
        ? [await ask(host, '', other(n)), await ask(host, '')]
        : [await ask(host, OWN[other(n)]), await ask(host, 'nergens')]
      if (JSON.stringify(others) !== JSON.stringify(nobodys))
        wrong.push(
          `${route} at ${host}: ${others.status} and ${nobodys.status}, ${differenceOf(others.text, nobodys.text)}`,
        )
      const isOpen = isPage ? others.status === 200 : isPublic
      const isOff = path === '/events' // cloud events
      if (!isPage && !isOff && !isPublic && others.status !== 403) wrong.push(`${route} at ${host}: ${others.status}`)
      if (isPage && method !== 'GET' && others.status < 303) wrong.push(`${route} at ${host}: ${others.status}`)
      const kind = isOpen ? 'open' : `${isPage ? 'page' : 'api'} ${others.status}`
      seen.set(kind, (seen.get(kind) ?? 0) + 1)
    }
    if (method !== 'GET' || isPage) continue
    for (const n of [0, 1] as const) {
      const [own, both] = [await ask(HOSTS[n], OWN[n]), await ask(HOSTS[n], 'beheer')]
      if (own.status !== both.status)
        wrong.push(`${route}: ${own.status} with its own, ${both.status} with that of both`)
      if (!isPublic && own.status === 403) wrong.push(`${route} at ${HOSTS[n]} refuses its own`)
    }
  }
  t.same(wrong.slice(0, 10), [])
  t.ok((seen.get('api 403') ?? 0) > 300 && (seen.get('page 303') ?? 0) > 150, JSON.stringify([...seen]))
})

t.test('a host is written in many ways, and each is of one organisation or of nobody', async (t) => {
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const raw = async (lines: string[]) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(Buffer.from(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`))
    let text = ''
    socket.on('data', (data) => {
      text += data
    })
    await once(socket, 'close')
    return { status: Number(text.split(' ')[1]), text }
  }
  const token = (n: Which) => `Authorization: Bearer ${signToken(OWN[n], SECRET)}`
  const CRS = 'Accept-Crs: EPSG:4326'
  /** Whose it is, by which of both tokens is taken. */
  const whose = async (target: string, headers: string[], version = '1.1') => {
    const answers = []
    for (const n of [0, 1] as const)
      answers.push(await raw([`GET ${target} HTTP/${version}`, ...headers, CRS, token(n)]))
    const found = answers.map(({ status }) => status).join()
    return { '200,403': A, '403,200': B, '404,404': 'nobody', '400,400': 'refused' }[found] ?? found
  }
  const hosts: [host: string, whose: string][] = [
    [A, A],
    [B, B],
    ['ZAKEN.A.nl', A],
    [`${A}.`, A],
    [`${A}:443`, A],
    [`${B}:8443`, B],
    [`${A}.:80`, A],
    [`${A}..`, 'nobody'],
    [`${A}:80:80`, 'nobody'],
    [`${A}:tachtig`, 'nobody'],
    [`${A}%2e`, 'nobody'],
    [`${A}@${B}`, 'nobody'],
    [`${A}, ${B}`, 'nobody'],
    [`${A} ${B}`, 'nobody'],
    [`${A}/${B}`, 'nobody'],
    [`${A}#${B}`, 'nobody'],
    [`${A}\t`, A], // blanks around the value of a header are none of it
    [`x.${A}`, 'nobody'],
    ['a.nl', 'nobody'],
    ['zaken.a。nl', 'nobody'],
    ['zaken.ａ.nl', 'nobody'],
    ['xn--zaken.a.nl', 'nobody'],
    ['zaken.а.nl', 'nobody'], // of Cyrillic
    ['127.0.0.1', 'nobody'],
    ['localhost', 'nobody'],
    ['[::1]', 'nobody'],
    ['[::1]:8000', 'nobody'],
    ['', 'nobody'],
    ['__proto__', 'nobody'],
    ['constructor', 'nobody'],
    ['000000001', 'nobody'],
    [SCHEMAS[0], 'nobody'],
  ]
  for (const [host, expected] of hosts) t.equal(await whose(ZAKEN, [`Host: ${host}`]), expected, JSON.stringify(host))

  t.equal(await whose(ZAKEN, [`Host: ${A}`, `Host: ${B}`]), 'refused', 'two of them')
  const two = await raw([`GET ${ZAKEN} HTTP/1.1`, `Host: ${A}`, `Host: ${B}`])
  t.match(two.text, /application\/problem\+json[\s\S]*"code":"parse_error"/, 'in our words')
  t.equal(await whose(ZAKEN, [`Host: ${A}`, `Host: ${A}`]), 'refused')
  t.equal(await whose(ZAKEN, []), 'refused', 'none')
  t.equal(await whose(ZAKEN, [], '1.0'), 'nobody', 'none, where HTTP has none')
  t.equal(await whose(ZAKEN, [`Host: ${B}`], '1.0'), B)

  t.equal(await whose(`http://${A}${ZAKEN}`, [`Host: ${A}`]), A, 'the absolute form')
  t.equal(await whose(`https://${A}:443${ZAKEN}`, [`Host: ${A}`]), A)
  t.equal(await whose(`http://${B}${ZAKEN}`, [`Host: ${A}`]), 'refused', 'that names another')
  t.equal(await whose(`http://${A}@${B}${ZAKEN}`, [`Host: ${A}`]), 'refused')
  t.equal(await whose(`http://elders.nl${ZAKEN}`, [`Host: ${A}`]), 'refused')

  for (const name of [
    'X-Forwarded-Host',
    'Forwarded',
    'X-Host',
    'X-Original-Host',
    'X-Forwarded-Server',
    'X-HTTP-Host-Override',
  ])
    t.equal(
      await whose(ZAKEN, [`Host: ${A}`, `${name}: ${name === 'Forwarded' ? `host=${B}` : B}`]),
      A,
      `${name} of anybody`,
    )

  // A connection is of no organisation: each request on it is that of its own host.
  const socket = connect(port, '127.0.0.1')
  const lines = [A, B, 'elders.nl', A].map(
    (host) => `GET ${ZAKEN} HTTP/1.1\r\nHost: ${host}\r\n${CRS}\r\n${token(0)}\r\n`,
  )
  socket.write(`${lines.join('\r\n')}Connection: close\r\n\r\n`)
  let text = ''
  socket.on('data', (data) => {
    text += data
  })
  await once(socket, 'close')
  t.same(
    [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status),
    ['200', '403', '404', '200'],
  )
})

t.test('of a trusted proxy its last word counts', async (t) => {
  const at = async (host: string, forwarded: string, remoteAddress: string) => {
    const { status } = await call(host, 'GET', ZAKEN, {
      as: OWN[0],
      headers: { 'accept-crs': 'EPSG:4326', 'x-forwarded-host': forwarded, 'x-forwarded-for': address() },
      remoteAddress,
    })
    return status
  }
  t.equal(await at('intern', A, '10.0.0.1'), 200)
  t.equal(await at(A, B, '10.0.0.1'), 403)
  t.equal(await at('intern', `${B}, ${A}`, '10.0.0.1'), 200)
  t.equal(await at('intern', `${A}, ${B}`, '10.0.0.1'), 403)
  t.equal(await at('intern', `${A}, elders.nl`, '10.0.0.1'), 404)
  t.equal(await at(A, B, address()), 200, 'of anybody else it is not looked at')
})

t.test('how the process is tells nothing of an organisation, at whatever host', async (t) => {
  for (const [route, { isOfProcess }] of routes) {
    if (!isOfProcess || !route.startsWith('GET ')) continue
    const texts = new Set<string>()
    for (const host of [A, B, 'elders.nl', '']) {
      const { status, text } = await call(host, 'GET', route.slice(4))
      t.equal(status, 200, `${route} at ${host}`)
      texts.add(text)
    }
    t.equal(texts.size, 1)
    t.notMatch([...texts].join(), /00000000[12]|gemeente_b|zaken\.[ab]/)
  }
})
