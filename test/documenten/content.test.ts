import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rename, rm, truncate, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { LIMITS } from '../../src/core/limits.ts'
import { type Answer, BASE, givenInformatieobjecttype, SECRET, type TestApp, testApp } from '../app.ts'
import { until } from '../until.ts'
import { base64, EIO, faults, givenDocument, givenLock, newDocument } from './documenten.ts'

const stored = (test: TestApp) => Array.fromAsync(test.parts.store.list())

/** A create whose body is sent as this very text, in pieces of this size. */
async function send(test: TestApp, body: string | Buffer, piece = 65_536) {
  await listening(test)
  const bytes = Buffer.from(body)
  const pieces = function* () {
    for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece)
  }
  const { address, port } = test.app.server.address() as { address: string; port: number }
  const response = await fetch(`http://${address}:${port}${EIO}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${signToken('beheer', SECRET)}`, 'content-type': 'application/json' },
    body: ReadableStream.from(pieces()) as never,
    duplex: 'half',
  } as RequestInit)
  return { status: response.status, body: (await response.json()) as Answer['body'], text: '', headers: {} }
}

async function listening(test: TestApp): Promise<void> {
  if (!test.app.server.listening) await test.app.listen({ host: '127.0.0.1', port: 0 })
}

t.test('content arrives byte for byte, however its text is cut and escaped', async (t) => {
  const test = await testApp(t, { PUBLIC_URL: BASE })
  const type = await givenInformatieobjecttype(test)
  await listening(test)
  await t.resolves(
    fc.assert(
      fc.asyncProperty(
        fc.record({
          bytes: fc.uint8Array({ minLength: 1, maxLength: 300 }),
          piece: fc.integer({ min: 1, max: 40 }),
          slashes: fc.boolean(),
          unicode: fc.boolean(),
          lines: fc.boolean(),
          prefix: fc.constantFrom('', 'data:text/plain;base64,', 'data:application/pdf;name=a.pdf;base64,'),
          first: fc.boolean(),
          key: fc.constantFrom('inhoud', '\\u0069nhoud', 'inhou\\u0064'),
          titel: fc
            .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
            .filter((text) => !text.includes('\0') && text.trim() === text), // blanks around it are left out
        }),
        async ({ bytes, piece, slashes, unicode, lines, prefix, first, key, titel }) => {
          let text = prefix + Buffer.from(bytes).toString('base64')
          if (lines) text = text.replace(/.{76}/g, '$&\r\n')
          let json = JSON.stringify(text)
          if (slashes) json = json.replaceAll('/', '\\/')
          if (unicode) json = json.replaceAll('+', '\\u002B').replaceAll('A', '\\u0041')
          // A nested member of that name is none of ours, nor is one within a text.
          const rest = JSON.stringify(
            newDocument(type, {
              titel,
              andere: { inhoud: 'geen', x: [{ inhoud: '"' }] },
              beschrijving: '"inhoud": "x\\',
            }),
          )
          const body = first ? `{ "${key}" :\n ${json},${rest.slice(1)}` : `${rest.slice(0, -1)}, "${key}":${json} }`
          const made = await send(test, body, piece)
          if (made.status !== 201) throw new Error(JSON.stringify(made.body))
          const got = await test.app.inject({
            url: new URL(made.body.inhoud).pathname,
            headers: { authorization: `Bearer ${signToken('beheer', SECRET)}` },
          })
          return (
            Buffer.from(bytes).equals(got.rawPayload) &&
            made.body.titel === titel &&
            made.body.bestandsomvang === bytes.length &&
            made.body.beschrijving === '"inhoud": "x\\'
          )
        },
      ),
      { numRuns: 40 },
    ),
    'for 40 documents',
  )
})

t.test('a document that is nested too deep is refused as soon as that is seen', async (t) => {
  const test = await testApp(t, { PUBLIC_URL: BASE })
  for (const open of ['{"a":', '[']) {
    const deep = `{"inhoud":"","integriteit":${open.repeat(LIMITS.bodyBytes)}` // more than a body may be
    const { status, body } = await send(test, deep, 64 * 1024)
    t.match([status, body.invalidParams], [400, [{ reason: `De inhoud heeft meer dan ${LIMITS.depth} niveaus.` }]])
  }
})

t.test('base64 is read strictly', async (t) => {
  const test = await testApp(t)
  const type = await givenInformatieobjecttype(test)
  for (const [inhoud, code] of [
    ['QUJDR', 'incorrect-base64-padding'],
    ['QUJDRA', 'incorrect-base64-padding'],
    ['QUJDRA=', 'incorrect-base64-padding'],
    ['QUJD!', 'invalid-base64'],
    ['QUJD-_==', 'invalid-base64'],
    ['QQ==QUJD', 'invalid-base64'],
    ['Q===', 'invalid-base64'],
    ['é', 'invalid-base64'],
    ['data:text/plain,hallo', 'invalid-base64'],
    [{ a: 1 }, 'invalid'],
    [['QUJD'], 'invalid'],
    [7, 'invalid'],
    [true, 'invalid'],
  ] as const) {
    t.same(faults(await test.call('POST', EIO, newDocument(type, { inhoud }))), [`inhoud: ${code}`], String(inhoud))
  }
  t.same(await stored(test), [])
})

t.test('of a document that is refused no bytes stay behind', async (t) => {
  const test = await testApp(t, { PUBLIC_URL: BASE, MIN_UPLOAD_SIZE: '100000' })
  const type = await givenInformatieobjecttype(test)
  const good = JSON.stringify(newDocument(type, { inhoud: base64('inhoud') }))
  const twice = `{"inhoud":"${base64('eerst')}",${good.slice(1)}`
  t.equal((await send(test, twice)).status, 201, 'of a repeated name the last counts')
  t.equal((await stored(test)).length, 1)
  for (const [body, status] of [
    [good.replace('Een brief', ''), 400],
    [good.slice(0, -1), 400],
    [`${good} meer`, 400],
    [`{"inhoud": "${base64('x')}`, 400],
    [`{"inhoud": "QUJD\nQUJD"}`, 400],
    [`["inhoud", "QUJD"]`, 400],
    [good.replace('}', ',"__proto__":{"x":1}}'), 400],
    [Buffer.concat([Buffer.from(good.slice(0, -1)), Buffer.from(',"x":"\xff"}', 'latin1')]), 400],
    [JSON.stringify(newDocument(type, { inhoud: base64(randomBytes(100_000)) })), 413],
  ] as const) {
    const answer = await send(test, body).catch((error) => ({ status: String(error) }))
    t.equal(answer.status, status, String(body).slice(0, 60))
  }
  const { url } = await givenDocument(test)
  t.equal((await test.call('PATCH', url, { inhoud: base64('anders'), lock: 'x' })).status, 400)
  t.equal((await test.call('PATCH', `${EIO}/${crypto.randomUUID()}`, { inhoud: base64('anders') })).status, 404)
  t.equal((await stored(test)).length, 2)
})

t.test('a storage that fails is a 503 with Retry-After, and nothing has changed', async (t) => {
  const test = await testApp(t)
  const { url, informatieobjecttype } = await givenDocument(test)
  const lock = await givenLock(test, url)
  const dir = test.config.documentenDir
  const before = await test.call('GET', url)
  await rename(join(dir, '.zaakstroom'), join(dir, '.weg'))
  for (const answer of [
    await test.call('POST', EIO, newDocument(informatieobjecttype, { inhoud: base64('x') })),
    await test.call('PATCH', url, { lock, inhoud: base64('anders'), bestandsomvang: 6 }),
    await test.call('POST', EIO, newDocument(informatieobjecttype, { bestandsomvang: 0 })),
  ]) {
    t.match(answer, { status: 503, headers: { 'retry-after': /\d/ }, body: { code: 'service_unavailable' } })
  }
  await rename(join(dir, '.weg'), join(dir, '.zaakstroom'))
  t.same((await test.call('GET', url)).body, before.body)
  t.equal((await test.call('GET', EIO)).body.count, 1)
  t.equal((await test.call('PATCH', url, { lock, inhoud: base64('anders'), bestandsomvang: 6 })).status, 200)
})

t.test('a download is the file as its name says, whole or in part', async (t) => {
  const test = await testApp(t)
  const { url } = await givenDocument(test, { bestandsnaam: 'Größe "1"\n€.txt', inhoud: base64('0123456789') })
  const get = (headers: Record<string, string> = {}, method = 'GET') =>
    test.call(method, `${url}/download?onbekend=1`, undefined, { headers })
  const accepted = { accept: 'application/octet-stream' }
  t.equal((await test.call('GET', url, undefined, { headers: accepted })).text, '0123456789', 'asked by its type')
  t.match((await test.call('GET', url, undefined, { headers: { accept: 'application/json, */*' } })).body, { url })
  const whole = await get()
  t.match(whole, {
    status: 200,
    text: '0123456789',
    headers: {
      'content-type': 'application/octet-stream',
      'content-length': '10',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-disposition': /^attachment; filename=".*"; filename\*=UTF-8''Gr%C3%B6%C3%9Fe%20%221%22_%E2%82%AC.txt$/,
    },
  })
  const etag = String(whole.headers.etag)
  t.match(await get({ range: 'bytes=2-4' }), { status: 206, text: '234', headers: { 'content-range': 'bytes 2-4/10' } })
  t.match(await get({ range: 'bytes=-3' }), { status: 206, text: '789' })
  t.match(await get({ range: 'bytes=20-' }), { status: 416, headers: { 'content-range': 'bytes */10' } })
  t.match(await get({ range: 'bytes=0-1,3-4' }), { status: 200, text: '0123456789' })
  t.match(await get({ range: 'bytes=2-4', 'if-range': '"anders"' }), { status: 200, text: '0123456789' })
  t.match(await get({ range: 'bytes=2-4', 'if-range': etag }), { status: 206, text: '234' })
  t.match(await get({ 'if-none-match': etag }), { status: 304, text: '' })
  t.match(await get({}, 'HEAD'), { status: 200, text: '', headers: { 'content-length': '10', etag } })
  const none = await givenDocument(test, { inhoud: null })
  t.equal((await test.call('GET', `${none.url}/download`)).status, 204)
})

t.test('bytes that are gone or damaged are never served', async (t) => {
  const test = await testApp(t)
  const small = await givenDocument(test, { inhoud: base64('klein') })
  const large = await givenDocument(test, { inhoud: base64(randomBytes(3_000_000)) })
  const [a, b] = await test.database.sql`select key from file order by size`
  const path = (row: unknown) => join(test.config.documentenDir, (row as { key: string }).key)
  await writeFile(path(a), 'KLEIN')
  t.match(await test.call('GET', small.inhoud), { status: 503, headers: { 'retry-after': /\d/ } })
  t.equal((await test.call('GET', small.inhoud, undefined, { headers: { range: 'bytes=0-1' } })).status, 503)
  await writeFile(path(b), Buffer.alloc(3_000_000))
  await listening(test)
  const { address, port } = test.app.server.address() as { address: string; port: number }
  const cut = fetch(`http://${address}:${port}${new URL(large.inhoud).pathname}`, {
    headers: { authorization: `Bearer ${signToken('beheer', SECRET)}` },
  }).then((response) => response.arrayBuffer())
  await t.rejects(cut, 'a large one breaks off before its end')
  await truncate(path(b), 10)
  t.equal((await test.call('GET', large.inhoud)).status, 503)
  await rm(path(b))
  t.match(await test.call('GET', large.inhoud), { status: 503, body: { code: 'inhoud-vermist' } })
})

t.test('the file of a download whose client has gone is closed', async (t) => {
  const test = await testApp(t)
  const { inhoud } = await givenDocument(test, { inhoud: base64(randomBytes(3_000_000)) })
  await listening(test)
  const { address, port } = test.app.server.address() as AddressInfo
  const { store } = test.parts
  const { read } = store
  const client = connect(port, address)
  const opened = Promise.withResolvers<Readable>()
  const connections = () =>
    new Promise<number>((resolve) => test.app.server.getConnections((_, count) => resolve(count)))
  store.read = async (...asked) => {
    const found = await read(...asked)
    client.destroy()
    await until('the end of the connection', async () => (await connections()) === 0)
    opened.resolve(found!.stream)
    return found
  }
  const token = signToken('beheer', SECRET)
  client.write(`GET ${new URL(inhoud).pathname} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  const stream = await opened.promise
  if (!stream.closed) await once(stream, 'close')
  t.ok(stream.closed)
})

t.test('a client has so many downloads of large documents at once, and each is complete', async (t) => {
  const test = await testApp(t)
  const bytes = randomBytes(3_000_000)
  const { inhoud } = await givenDocument(test, { inhoud: base64(bytes) })
  await listening(test)
  const { address, port } = test.app.server.address() as AddressInfo
  const { store } = test.parts
  const { read } = store
  store.read = async () => {
    const stream = new Readable({ read() {} }) // which never goes on
    for (const byte of ['a', 'b']) stream.push(byte)
    return { size: bytes.length, stream }
  }
  const begin = (as = 'beheer') => {
    const headers = { authorization: `Bearer ${signToken(as, SECRET)}` }
    const stop = new AbortController()
    const url = `http://${address}:${port}${new URL(inhoud).pathname}`
    const answer = fetch(url, { headers, signal: stop.signal })
    return { stop: () => stop.abort(), answer }
  }
  const begun = Array.from({ length: LIMITS.downloadsOfClient }, () => begin())
  const answers = await Promise.all(begun.map(({ answer }) => answer))
  t.same(new Set(answers.map(({ status }) => status)), new Set([200]))
  const refused = await begin().answer
  t.equal(refused.status, 503)
  t.equal(refused.headers.get('retry-after'), '5')
  t.equal((await test.call('HEAD', inhoud)).status, 200)
  begun[0]!.stop()
  store.read = read
  for (;;) {
    const answer = await begin().answer
    if (answer.status === 503) continue // the place is given back when the server hears of the end
    t.ok(Buffer.from(await answer.arrayBuffer()).equals(bytes), 'a place that was given back')
    break
  }
  for (const { stop } of begun) stop()
})

t.test('so many documents at once are read whole, the others wait for their turn', async (t) => {
  const test = await testApp(t)
  const { inhoud } = await givenDocument(test, { inhoud: base64('klein') })
  const { store } = test.parts
  const read = store.readWhole!
  const goOn = Promise.withResolvers<void>()
  let reading = 0
  let most = 0
  store.readWhole = async (...asked) => {
    most = Math.max(most, ++reading)
    await goOn.promise
    reading--
    return read(...asked)
  }
  const answers = Array.from({ length: 3 * LIMITS.wholeDownloads }, () => test.call('GET', inhoud))
  await until('all that may read at once', () => reading === LIMITS.wholeDownloads)
  goOn.resolve()
  for (const answer of answers) t.match(await answer, { status: 200, text: 'klein' })
  t.equal(most, LIMITS.wholeDownloads)
})
