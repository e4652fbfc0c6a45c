import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import { givenClient, givenInformatieobjecttype, type TestApp, testApp, uuidOf } from '../app.ts'
import { base64, EIO, faults, form, givenDocument, givenLock, newDocument } from './documenten.ts'

const CHUNKS = { DOCUMENTEN_UPLOAD_CHUNK_SIZE: '1000' }

async function givenUpload(test: TestApp, bestandsomvang: number) {
  const type = await givenInformatieobjecttype(test)
  const { status, body, text } = await test.call('POST', EIO, newDocument(type, { bestandsomvang, inhoud: null }))
  if (status !== 201) throw new Error(text)
  return body
}

function put(test: TestApp, deel: { url: string }, lock: string | undefined, bytes?: Buffer, as = 'beheer') {
  const { body, headers } = form(lock === undefined ? {} : { lock }, bytes)
  return test.call('PUT', deel.url, body, { headers, as })
}

t.test('parts come in any order and become the content when the lock is given back', async (t) => {
  const test = await testApp(t, CHUNKS)
  const whole = randomBytes(2500)
  const { url, lock, bestandsdelen, ...made } = await givenUpload(test, 2500)
  t.match(made, { locked: true, inhoud: null, bestandsomvang: 2500 })
  t.match(lock, /^[0-9a-f]{32}$/)
  t.match(bestandsdelen, [
    { volgnummer: 1, omvang: 1000, voltooid: false, lock },
    { volgnummer: 2, omvang: 1000, voltooid: false, lock },
    { volgnummer: 3, omvang: 500, voltooid: false, lock },
  ])
  for (const n of [3, 1, 2]) {
    const answer = await put(test, bestandsdelen[n - 1], lock, whole.subarray((n - 1) * 1000, n * 1000))
    t.match(answer, { status: 200, body: { volgnummer: n, voltooid: true, lock } })
  }
  t.same(
    (await test.call('GET', url)).body.bestandsdelen.map((deel: { voltooid: boolean }) => deel.voltooid),
    [true, true, true],
  )
  const before = (await test.call('GET', url)).body.beginRegistratie
  t.equal((await test.call('POST', `${url}/unlock`, { lock })).status, 204)
  const { body } = await test.call('GET', url)
  t.match(body, { bestandsdelen: [], locked: false, versie: 1, bestandsomvang: 2500 })
  t.ok(body.beginRegistratie > before, 'the version was touched')
  const [row] = await test.database.sql`select sha256 from file where size = 2500`
  t.equal(row!.sha256.toString('hex'), createHash('sha256').update(whole).digest('hex'))
  t.equal((await test.call('GET', body.inhoud)).headers['content-length'], '2500')
  await test.runJobs()
  t.equal((await Array.fromAsync(test.parts.store.list())).length, 1, 'the files of the parts are gone')
})

t.test('the ETag of a document changes with every part that comes, and not with a lock', async (t) => {
  const test = await testApp(t, CHUNKS)
  const { url, lock, bestandsdelen } = await givenUpload(test, 1500)
  let known = ''
  const changed = async () => {
    const { status, headers } = await test.call('GET', url, undefined, { headers: { 'if-none-match': known } })
    t.equal((await test.call('HEAD', url)).headers.etag, headers.etag)
    known = String(headers.etag)
    return status === 200
  }
  t.ok(await changed())
  t.notOk(await changed(), 'as it was')
  for (const deel of bestandsdelen) {
    await put(test, deel, lock, Buffer.alloc(deel.omvang))
    t.ok(await changed(), `part ${deel.volgnummer} has come`)
    t.notOk(await changed())
  }
  await test.call('POST', `${url}/unlock`, { lock })
  t.ok(await changed(), 'the parts have become the content')
})

t.test('a part has exactly its size, needs the lock, and may come again', async (t) => {
  const test = await testApp(t, CHUNKS)
  const { url, lock, bestandsdelen } = await givenUpload(test, 1500)
  const [one, two] = bestandsdelen
  t.same(faults(await put(test, one, lock, Buffer.alloc(999))), ['nonFieldErrors: file-size'])
  t.same(faults(await put(test, one, 'anders', Buffer.alloc(1001))), ['nonFieldErrors: file-size'], 'before the lock')
  t.same(faults(await put(test, one, undefined, Buffer.alloc(1000))), ['lock: required'])
  t.same(faults(await put(test, one, 'anders', Buffer.alloc(1000))), ['nonFieldErrors: incorrect-lock-id'])
  t.match(await put(test, one, lock), { status: 200, body: { voltooid: false } }, 'only the lock')
  const urlencoded = { headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  t.match(await test.call('PUT', one.url, `lock=${lock}`, urlencoded), { status: 200, body: { voltooid: false } })
  t.equal((await test.call('PUT', one.url, { lock })).status, 415)
  t.equal((await test.call('GET', one.url)).status, 405)
  t.same(faults(await test.call('POST', `${url}/unlock`, { lock })), ['nonFieldErrors: file-size'], 'nothing has come')
  await put(test, one, lock, Buffer.alloc(1000, 'x'))
  t.same(faults(await test.call('POST', `${url}/unlock`, { lock })), ['nonFieldErrors: incomplete-upload'])
  await put(test, two, lock, Buffer.alloc(500, 'z'))
  t.equal((await put(test, one, lock, Buffer.alloc(1000, 'y'))).status, 200)
  t.equal((await test.call('POST', `${url}/unlock`, { lock })).status, 204)
  t.equal((await test.call('GET', `${url}/download`)).text, 'y'.repeat(1000) + 'z'.repeat(500))
  t.equal((await put(test, one, lock, Buffer.alloc(1000))).status, 404)
  await test.runJobs()
  t.equal((await Array.fromAsync(test.parts.store.list())).length, 1, 'refused and replaced bytes are gone')
})

t.test('a change before the unlock keeps the parts, unless it names the size or the content', async (t) => {
  const test = await testApp(t, CHUNKS)
  const { url, lock, bestandsdelen } = await givenUpload(test, 1500)
  await put(test, bestandsdelen[0], lock, Buffer.alloc(1000))
  const patched = await test.call('PATCH', url, { lock, titel: 'Anders' })
  t.match(patched.body, { versie: 2, bestandsomvang: 1500, inhoud: null })
  t.match(patched.body.bestandsdelen, [{ voltooid: true }, { voltooid: false }])
  t.equal((await put(test, bestandsdelen[1], lock, Buffer.alloc(500))).status, 200)
  const sized = await test.call('PATCH', url, { lock, bestandsomvang: 1500 })
  t.match(sized.body.bestandsdelen, [{ voltooid: false }, { voltooid: false }])
  t.equal((await put(test, bestandsdelen[1], lock, Buffer.alloc(500))).status, 404)
  const smaller = await test.call('PATCH', url, { lock, bestandsomvang: 10 })
  t.match(smaller.body.bestandsdelen, [{ omvang: 10 }])
  const none = await test.call('PATCH', url, { lock, bestandsomvang: null })
  t.match(none.body, { bestandsdelen: [], bestandsomvang: null, inhoud: null })
  t.equal((await test.call('POST', `${url}/unlock`, { lock })).status, 204)
  await test.runJobs()
  t.same(await Array.fromAsync(test.parts.store.list()), [])
})

t.test('an existing document gets new content in parts, and its older versions keep theirs', async (t) => {
  const test = await testApp(t, CHUNKS)
  const { url } = await givenDocument(test)
  const lock = await givenLock(test, url)
  const { body } = await test.call('PATCH', url, { lock, inhoud: null, bestandsomvang: 4 })
  t.match(body, { versie: 2, inhoud: null })
  await put(test, body.bestandsdelen[0], lock, Buffer.from('deel'))
  t.equal((await test.call('POST', `${url}/unlock`, { lock })).status, 204)
  t.equal((await test.call('GET', `${url}/download`)).text, 'deel')
  t.equal((await test.call('GET', `${url}/download?versie=1`)).text, 'inhoud')
  await test.runJobs()
  t.equal((await test.call('GET', `${url}/download`)).text, 'deel', 'a single part is the content itself')
})

t.test('a forced unlock joins what is complete and gives up what is not', async (t) => {
  const test = await testApp(t, CHUNKS)
  const complete = await givenUpload(test, 1500)
  const partly = await givenUpload(test, 1500)
  const nothing = await givenUpload(test, 1500)
  await put(test, complete.bestandsdelen[0], complete.lock, Buffer.alloc(1000))
  await put(test, complete.bestandsdelen[1], complete.lock, Buffer.alloc(500))
  await put(test, partly.bestandsdelen[0], partly.lock, Buffer.alloc(1000))
  for (const { url } of [complete, partly, nothing]) t.equal((await test.call('POST', `${url}/unlock`, {})).status, 204)
  t.match((await test.call('GET', complete.url)).body, { bestandsdelen: [], bestandsomvang: 1500, inhoud: /download/ })
  t.match((await test.call('GET', partly.url)).body, { bestandsdelen: [], bestandsomvang: null, inhoud: null })
  const left = (await test.call('GET', nothing.url)).body
  t.match(left, { bestandsomvang: 1500, inhoud: null, locked: false, bestandsdelen: [{ lock: '' }, { lock: '' }] })
  t.same(faults(await put(test, nothing.bestandsdelen[0], nothing.lock, Buffer.alloc(1000))), [
    'nonFieldErrors: incorrect-lock-id',
  ])
})

t.test('two who unlock at once make one content, and no bytes are left over', async (t) => {
  const test = await testApp(t, CHUNKS)
  const { url, lock, bestandsdelen } = await givenUpload(test, 2500)
  for (const [n, { omvang }] of bestandsdelen.entries())
    await put(test, bestandsdelen[n], lock, Buffer.alloc(omvang, String(n)))
  const answers = await Promise.all([1, 2, 3].map(() => test.call('POST', `${url}/unlock`, { lock })))
  t.ok(answers.some(({ status }) => status === 204))
  t.ok(answers.every(({ status }) => status === 204 || status === 400))
  t.equal((await test.call('GET', `${url}/download`)).text, '0'.repeat(1000) + '1'.repeat(1000) + '2'.repeat(500))
  await test.runJobs()
  t.equal((await Array.fromAsync(test.parts.store.list())).length, 1)
})

t.test('sizes: what is stated is what came', async (t) => {
  const test = await testApp(t, CHUNKS)
  const type = await givenInformatieobjecttype(test)
  const create = (values: object) => test.call('POST', EIO, newDocument(type, values))
  const inhoud = base64('inhoud')
  t.same(faults(await create({ inhoud, bestandsomvang: 5 })), ['nonFieldErrors: file-size'])
  t.same(faults(await create({ inhoud, bestandsomvang: null })), ['nonFieldErrors: file-size'])
  t.match((await create({ inhoud, bestandsomvang: 6 })).body, { bestandsomvang: 6 })
  t.match((await create({})).body, { bestandsomvang: null, inhoud: null, locked: false })
  t.match((await create({ inhoud: '', bestandsomvang: null })).body, { bestandsomvang: null, inhoud: null })
  const empty = (await create({ bestandsomvang: 0 })).body
  t.match(empty, { bestandsomvang: 0, inhoud: /download/, locked: false, bestandsdelen: [] })
  const got = await test.call('GET', empty.inhoud)
  t.match(got, { status: 200, text: '' })
  t.same(faults(await create({ bestandsomvang: -1 })), ['bestandsomvang: min_value'])
  t.same(faults(await create({ bestandsomvang: 2 ** 53 - 1 })), ['bestandsomvang: max_value'])
  const { url } = await givenDocument(test)
  const lock = await givenLock(test, url)
  const patch = (values: object) => test.call('PATCH', url, { lock, ...values })
  t.same(faults(await patch({ inhoud: base64('langer dan') })), ['nonFieldErrors: file-size'])
  t.match((await patch({ inhoud: base64('anders') })).body, { bestandsomvang: 6 })
  t.same(faults(await patch({ bestandsomvang: 7 })), ['nonFieldErrors: file-size'])
  t.same(faults(await patch({ bestandsomvang: 0 })), ['nonFieldErrors: file-size'])
  t.match((await patch({ inhoud: null, bestandsomvang: 0 })).body, { bestandsomvang: 0, inhoud: /download/ })
  t.match((await patch({ titel: 'x' })).body, { bestandsomvang: 0, inhoud: /download/ })
  const stored = await Array.fromAsync(test.parts.store.list())
  t.equal(stored.length, 5, 'what was refused left no bytes behind')
})

t.test('who may not change the document may not send its parts', async (t) => {
  const test = await testApp(t, CHUNKS)
  const { lock, bestandsdelen, informatieobjecttype } = await givenUpload(test, 10)
  const right = { component: 'drc', typeUuid: uuidOf(informatieobjecttype), max: 'zeer_geheim' }
  await givenClient(test, 'lezer', [{ ...right, scopes: ['documenten.lezen'] }])
  await givenClient(test, 'ander', [{ ...right, typeUuid: crypto.randomUUID(), scopes: ['documenten.bijwerken'] }])
  t.equal((await put(test, bestandsdelen[0], lock, Buffer.alloc(10), 'lezer')).status, 403)
  t.equal((await put(test, bestandsdelen[0], lock, Buffer.alloc(10), 'ander')).status, 403)
})
