// What one of two organisations with the same rows gave out is of no use at the other: tags, keys, locks, parts of uploads, positions,
// tokens, sessions and links. And nothing of the other shows in how long an answer takes.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { givenInformatieobjecttype, SECRET, type TestApp, uuidOf } from '../app.ts'
import { EIO, form, newDocument } from '../documenten/documenten.ts'
import { until } from '../until.ts'
import { A, B, givenTwins, HOSTS, headersOf, MARKS, type Which } from './twins.ts'

const twins = await givenTwins(t)
const { app, call, change, made, printOf, within, parts, lines } = twins
const ZAKEN = '/zaken/api/v1/zaken'
const CRS = headersOf(false, 0)
const pathTo = (start: string) => made.find((path) => path.startsWith(`${start}/`))!
const ZAAK = pathTo(ZAKEN)
const DOCUMENT = pathTo(EIO)

type Sent = Parameters<typeof call>[3]
const at = (n: Which, method: string, path: string, options: Sent = {}) =>
  call(HOSTS[n], method, path, { ...options, headers: { ...CRS, ...options?.headers } })

t.test('the bytes of a document are its own, by the same uuid, key and size', async (t) => {
  const download = (n: Which, headers: Record<string, string> = {}) => at(n, 'GET', `${DOCUMENT}/download`, { headers })
  for (const times of [1, 2]) {
    const [a, b] = await Promise.all([download(0), download(1)])
    t.match(a, { status: 200, text: /^A+$/ }, `${times}`)
    t.match(b, { status: 200, text: /^B+$/ }, `${times}`)
    t.not(a.headers.etag, b.headers.etag)
    t.equal((await download(0, { 'if-none-match': String(a.headers.etag) })).status, 304)
    t.equal(
      (await download(1, { 'if-none-match': String(a.headers.etag) })).status,
      200,
      'a tag of the other is unknown',
    )
    t.match(await download(1, { range: 'bytes=0-0' }), { status: 206, text: 'B' })
    t.match(await download(1, { range: 'bytes=0-0', 'if-range': String(a.headers.etag) }), {
      status: 200,
      text: /^B+$/,
    })
  }
})

t.test('a tag of one says nothing of the other', async (t) => {
  for (const path of [ZAAK, DOCUMENT]) {
    const tags = await Promise.all([0, 1].map(async (n) => String((await at(n as Which, 'GET', path)).headers.etag)))
    t.not(tags[0], tags[1], 'the texts differ')
    t.equal((await at(1, 'GET', path, { headers: { 'if-none-match': tags[1]! } })).status, 304)
    t.equal((await at(1, 'GET', path, { headers: { 'if-none-match': tags[0]! } })).status, 200)
    t.equal((await at(1, 'HEAD', path, { headers: { 'if-none-match': tags[0]! } })).status, 200)
  }
  const tag = String((await at(0, 'GET', ZAAK)).headers.etag)
  const patch = (n: Which) =>
    at(n, 'PATCH', ZAAK, { body: {}, headers: { 'content-crs': 'EPSG:4326', 'if-match': tag } })
  t.equal((await patch(1)).status, 412)
  t.equal((await patch(0)).status, 200)
})

t.test('a key of a request is that of its organisation, with whatever body', async (t) => {
  const post = (n: Which, domein: string) =>
    at(n, 'POST', '/catalogi/api/v1/catalogussen', {
      body: { domein, rsin: '000000000', contactpersoonBeheerNaam: MARKS[n] },
      headers: { 'idempotency-key': 'van-beide' },
    })
  const first = await post(0, 'KEYAA')
  t.equal(first.status, 201)
  t.match(await post(0, 'KEYAA'), { status: 201, text: first.text, headers: { 'idempotency-replayed': 'true' } })
  t.equal((await post(0, 'KEYBB')).status, 422, 'another body')
  const second = await post(1, 'KEYBB')
  t.match(second, { status: 201, headers: { 'idempotency-replayed': undefined } })
  t.notMatch(second.text, MARKS[0])
  t.equal((await at(1, 'GET', first.body.url)).status, 404)
})

t.test('a lock, and the parts of an upload under the same names, are of one organisation', async (t) => {
  const uploads = []
  for (const n of [0, 1] as const) {
    const type = await givenInformatieobjecttype({
      call: (method, path, body) => at(n, method, path, { body }),
    } as Partial<TestApp> as TestApp)
    const body = newDocument(type, { bestandsomvang: 6, inhoud: null, titel: MARKS[n] })
    uploads.push((await at(n, 'POST', EIO, { body })).body)
  }
  const [a, b] = uploads
  const [part] = a.bestandsdelen
  // By the same uuids.
  await within(1, `update enkelvoudiginformatieobject set uuid = '${uuidOf(a.url)}' where uuid = '${uuidOf(b.url)}'`)
  await within(
    1,
    `update bestandsdeel set uuid = '${uuidOf(part.url)}' where uuid = '${uuidOf(b.bestandsdelen[0].url)}'`,
  )
  const put = async (n: Which, lock: string, text: string) => {
    const { body, headers } = form({ lock }, Buffer.from(text))
    const authorization = `Bearer ${signToken('beheer', SECRET)}`
    const url = new URL(part.url).pathname
    return app.inject({ method: 'PUT', url, payload: body, headers: { host: HOSTS[n], authorization, ...headers } })
  }
  const isDone = async (n: Which) =>
    (await at(n, 'GET', a.url)).body.bestandsdelen.map((one: { voltooid: boolean }) => one.voltooid)
  t.equal((await put(0, a.lock, 'van A!')).statusCode, 200)
  t.same([await isDone(0), await isDone(1)], [[true], [false]])
  t.match((await put(1, a.lock, 'van A!')).json(), { status: 400, invalidParams: [{ code: 'incorrect-lock-id' }] })
  const patched = await at(1, 'PATCH', a.url, { body: { lock: a.lock, titel: 'van A' } })
  t.match(patched, { status: 400, body: { invalidParams: [{ code: 'incorrect-lock-id' }] } })
  t.same(await isDone(1), [false])
  t.equal((await put(1, b.lock, 'van B!')).statusCode, 200)
  for (const n of [0, 1] as const) {
    t.equal((await at(n, 'POST', `${a.url}/unlock`, { body: { lock: uploads[n].lock } })).status, 204)
    t.equal((await at(n, 'GET', `${new URL(a.url).pathname}/download`)).text, ['van A!', 'van B!'][n])
  }
})

t.test('an import runs at one, and the other has none', async (t) => {
  const start = (n: Which) => at(n, 'POST', '/documenten/api/v1/import/create')
  const first = await start(0)
  t.equal(first.status, 201, first.text)
  const names: string[] = Object.values(first.body as Record<string, unknown>).filter(
    (one) => typeof one === 'string',
  ) as string[]
  for (const link of names.filter((one) => one.startsWith('https://') && !one.endsWith('/upload')))
    t.equal((await at(1, 'GET', link)).status, 404, link)
  const second = await start(1)
  t.equal(second.status, 201, 'nor does it wait for that of the other')
  t.equal((await start(0)).status, 400, 'one at a time is what each has')
})

t.test('what is made at one is told to who follows that one', async (t) => {
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const follow = async (n: Which, after?: string) => {
    const { request } = await import('node:http')
    const path = `${ZAKEN}/_deltas${after ? `?after=${after}` : ''}`
    const headers = {
      host: HOSTS[n],
      authorization: `Bearer ${signToken('beheer', SECRET)}`,
      accept: 'text/event-stream',
    }
    const asked = request({ port, host: '127.0.0.1', path, headers }).end()
    const [answer] = await once(asked, 'response')
    const heard = { status: answer.statusCode as number, text: '' }
    answer.setEncoding('utf8').on('data', (text: string) => {
      heard.text += text
    })
    answer.on('error', () => {})
    t.teardown(() => asked.destroy())
    return heard
  }
  await within(1, 'update feed set cluster = current_cluster()') // it is a copy of a template, which a worker would see
  const [a, b] = [await follow(0), await follow(1)]
  t.same([a.status, b.status], [200, 200])
  const change = (n: Which, omschrijving: string) =>
    at(n, 'PATCH', ZAAK, { body: { omschrijving }, headers: { 'content-crs': 'EPSG:4326' } })
  t.equal((await change(0, 'ALLEEN-BIJ-A')).status, 200)
  await until('A hears it', () => a.text.includes('ALLEEN-BIJ-A'))
  t.equal((await change(1, 'ALLEEN-BIJ-B')).status, 200)
  await until('B hears its own', () => b.text.includes('ALLEEN-BIJ-B'))
  t.notMatch(b.text, /ALLEEN-BIJ-A|MERKVANA|zaken\.a\.nl/)
  t.notMatch(a.text, /ALLEEN-BIJ-B|MERKVANB|zaken\.b\.nl/)
  // A position of A, at B.
  const position = /id: (\S+)/.exec(a.text)?.[1] ?? ''
  const page = await at(1, 'GET', `${ZAKEN}/_deltas?after=${position}`)
  t.notMatch(page.text, /ALLEEN-BIJ-A|MERKVANA|zaken\.a\.nl/)
  await within(1, 'select begin_feed()')
  await until('a feed knows its own positions', async () => {
    const { status } = await at(1, 'GET', `${ZAKEN}/_deltas?after=${position}`)
    return status === 410 // 503 while transactions of others are open
  })
})

t.test('a token that one gave is refused by the other, which has keys of its own', async (t) => {
  const settings = { TOKEN_ENDPOINT: 'ES256' }
  for (const host of HOSTS) await change(host, { settings })
  const discovery = async (n: Which) => (await at(n, 'GET', '/.well-known/openid-configuration', { as: '' })).body
  await until('both give tokens', async () => (await discovery(0))?.issuer && (await discovery(1))?.issuer)
  const [ours, theirs] = [await discovery(0), await discovery(1)]
  t.same([ours.issuer, theirs.issuer], [`https://${A}`, `https://${B}`])
  const form = { grant_type: 'client_credentials', client_id: 'beheer', client_secret: SECRET }
  const tokens = []
  for (const n of [0, 1] as const) {
    const grant = await at(n, 'POST', '/oauth/token', { as: '', form, headers: { host: HOSTS[n] } })
    t.equal(grant.status, 200, grant.text)
    tokens.push(`Bearer ${grant.body.access_token}`)
  }
  const keys = await Promise.all(
    [ours, theirs].map((one, n) => at(n as Which, 'GET', new URL(one.jwks_uri).pathname, { as: '' })),
  )
  t.ok(keys[0]!.body.keys.length > 0)
  t.not(keys[0]!.text, keys[1]!.text)
  for (const times of [1, 2]) {
    t.equal((await at(0, 'GET', ZAKEN, { headers: { authorization: tokens[0]! } })).status, 200, `${times}`)
    t.equal((await at(1, 'GET', ZAKEN, { headers: { authorization: tokens[0]! } })).status, 403)
    t.equal((await at(0, 'GET', ZAKEN, { headers: { authorization: tokens[1]! } })).status, 403)
  }
})

t.test('a form of a page of one is refused by the other', async (t) => {
  const page = async (n: Which) => {
    const { text, headers } = await call(HOSTS[n], 'GET', '/beheer/mijn-account', {
      as: '',
      headers: headersOf(true, n),
    })
    const [, token = ''] = /name="_csrf" value="([^"]+)"/.exec(text) ?? []
    const [secret = ''] = [headers['set-cookie']].flat().map((cookie) => String(cookie).split(';')[0])
    return { token, secret }
  }
  const [a, b] = [await page(0), await page(1)]
  const signOut = (token: string, secret: string, session: Which, origin: string) =>
    call(B, 'POST', '/beheer/uitloggen', {
      as: '',
      form: { _csrf: token },
      headers: { cookie: `${headersOf(true, session).cookie}; ${secret}`, origin, 'sec-fetch-site': 'same-origin' },
    })
  t.equal((await signOut(a.token, b.secret, 1, `https://${B}`)).status, 403, 'the token of the other')
  t.equal((await signOut(b.token, b.secret, 1, `https://${A}`)).status, 403, 'from a page of the other')
  t.equal((await call(B, 'GET', '/beheer/', { as: '', headers: headersOf(true, 1) })).status, 200, 'still signed in')
})

t.test('an address of the other is that of somebody else: it is not looked up in its tables', async (t) => {
  const before = await printOf(1)
  lines.length = 0
  const headers = { 'content-crs': 'EPSG:4326' }
  const zaaktype = (await at(0, 'GET', ZAAK)).body.zaaktype.replace(A, B)
  const body = {
    bronorganisatie: '517439943',
    verantwoordelijkeOrganisatie: '517439943',
    startdatum: '2026-03-02',
  }
  const refused = await at(0, 'POST', ZAKEN, { body: { ...body, zaaktype }, headers })
  t.match(refused, { status: 400, body: { invalidParams: [{ name: 'zaaktype' }] } })
  const nowhere = await at(0, 'POST', ZAKEN, { body: { ...body, zaaktype: zaaktype.replace(B, 'elders.nl') }, headers })
  const shown = ({ text }: { text: string }) => text.replaceAll(/urn:uuid:[\da-f-]{36}|zaken\.b\.nl|elders\.nl/g, '')
  t.equal(shown(refused), shown(nowhere), 'as any other address')
  for (const host of [B, 'elders.nl']) {
    const hoofdzaak = `https://${host}${ZAAK}`
    const own = (await at(0, 'GET', ZAAK)).body.zaaktype
    t.equal((await at(0, 'POST', ZAKEN, { body: { ...body, zaaktype: own, hoofdzaak }, headers })).status, 400, host)
    const relevanteAndereZaken = [{ url: hoofdzaak, aardRelatie: 'vervolg' }]
    const related = await at(0, 'PATCH', ZAAK, { body: { relevanteAndereZaken }, headers })
    t.equal(related.status, 400, related.text)
    const list = await at(0, 'GET', `${ZAKEN}?zaaktype=${encodeURIComponent(zaaktype.replace(B, host))}`)
    t.match(list.body, { count: 0 })
  }
  const said = lines.map((line) => JSON.parse(line))
  t.ok(said.some(({ organisation }) => organisation === '000000001'))
  t.notOk(
    said.some(({ organisation }) => organisation === '000000002'),
    'nothing was asked of the other',
  )
  t.same(await printOf(1), before)
})

t.test('a host that goes to another organisation takes nothing of the first along', async (t) => {
  const SHARED = 'zaken.gedeeld.nl'
  const look = () => call(SHARED, 'GET', '/beheer/mijn-account', { as: '', headers: headersOf(true, 0) })
  const zaak = () => call(SHARED, 'GET', DOCUMENT, {})
  await change(A, { hosts: [A, SHARED] })
  await until('it is A’s', async () => (await look()).status === 200)
  const first = await zaak()
  t.match(first.text, MARKS[0])
  await change(A, { hosts: [A] })
  await until('it is nobody’s', async () => (await look()).status === 404)
  await change(B, { hosts: [B, SHARED] })
  await until('it is B’s', async () => (await look()).status !== 404)
  t.match(await look(), { status: 303, headers: { location: /inloggen/ } }, 'who was signed in there is so no more')
  const second = await call(SHARED, 'GET', DOCUMENT, { headers: { 'if-none-match': String(first.headers.etag) } })
  t.equal(second.status, 200)
  t.match(second.text, MARKS[1])
  t.notMatch(second.text, MARKS[0])
  await change(B, { hosts: [B] })
})

t.test('an organisation that is removed and comes back under its number begins anew', async (t) => {
  await at(1, 'GET', DOCUMENT)
  const before = parts.organisations.find(B)
  await change(B, { state: 'suspended' })
  await until('it is closed', async () => (await at(1, 'GET', DOCUMENT)).status === 503)
  // With the tables of another: what was kept of it in memory does not count.
  await change(B, { state: 'active', schema: 'leeg' })
  const empty = await until('it is opened', async () => {
    const answer = await at(1, 'GET', DOCUMENT)
    return answer.text.includes('organisation-suspended') ? undefined : answer
  })
  t.equal(empty.status, 503, 'there is nothing there')
  await change(B, { schema: before!.schema })
  await until('its own', async () => (await at(1, 'GET', DOCUMENT)).text.includes(MARKS[1]))
})

t.test('how long an answer takes does not tell what the other has', async (t) => {
  // What only the first has, and has just been read there.
  const headers = { 'content-crs': 'EPSG:4326' }
  const { zaaktype } = (await at(0, 'GET', ZAAK)).body
  const body = { bronorganisatie: '517439943', verantwoordelijkeOrganisatie: '517439943', startdatum: '2026-03-02' }
  const made = (await at(0, 'POST', ZAKEN, { body: { ...body, zaaktype }, headers })).body
  const there = new URL(made.url).pathname
  const nowhere = there.replace(/[\da-f]{12}$/, 'ffffffffffff')
  const typeThere = new URL(zaaktype).pathname
  await within(1, `delete from zaaktype where uuid = '${uuidOf(zaaktype)}'`)
  const questions: [what: string, there: () => Promise<unknown>, nowhere: () => Promise<unknown>][] = [
    ['a case', () => at(1, 'GET', there), () => at(1, 'GET', nowhere)],
    ['a type', () => at(1, 'GET', typeThere), () => at(1, 'GET', typeThere.replace(/[\da-f]{12}$/, 'ffffffffffff'))],
    [
      'a list of a number',
      () => at(1, 'GET', `${ZAKEN}?identificatie=${made.identificatie}`),
      () => at(1, 'GET', `${ZAKEN}?identificatie=ZAAK-NERGENS-0001`),
    ],
  ]
  for (const [what, ask, askNowhere] of questions) {
    const medians = async () => {
      const times: [number[], number[]] = [[], []]
      for (let round = 0; round < 320; round++) {
        if (round % 20 === 0) await at(0, 'GET', there)
        for (const which of round % 2 === 0 ? [0, 1] : [1, 0]) {
          const began = performance.now()
          await (which === 0 ? ask() : askNowhere())
          if (round >= 20) times[which as Which].push(performance.now() - began)
        }
      }
      return times.map((all) => all.toSorted((one, two) => one - two)[all.length >> 1]!) as [number, number]
    }
    // What one knows more of is slower or faster each time; a busy machine is not.
    const seen: string[] = []
    const isAlike = async () => {
      const [a, b] = await medians()
      seen.push(`${a.toFixed(3)} and ${b.toFixed(3)} ms`)
      return Math.abs(a - b) / Math.min(a, b) < 0.1
    }
    t.ok(
      (await isAlike()) || (await isAlike()) || (await isAlike()) || (await isAlike()),
      `${what}: ${seen.join(', ')}`,
    )
  }
})
