// Digests of content (RFC 9530): what arrives is what was sent, or nothing is kept of it.
import { createHash } from 'node:crypto'
import t from 'tap'
import { givenInformatieobjecttype, testApp } from '../app.ts'
import { base64, EIO, faults, form, newDocument } from '../documenten/documenten.ts'
import { csvText, goodRow } from '../documenten/importing.ts'

const test = await testApp(t)
const digest = (bytes: Buffer | string) => `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`
const stored = async () => (await Array.fromAsync(test.parts.store.list())).length
const type = await givenInformatieobjecttype(test)

t.test('a download says its SHA-256, of the file and of what the answer holds', async (t) => {
  const bytes = Buffer.from('Geachte heer, mevrouw')
  const { body } = await test.call(
    'POST',
    EIO,
    newDocument(type, { inhoud: base64(bytes), bestandsomvang: bytes.length }),
  )
  const whole = await test.call('GET', `${body.url}/download`)
  t.equal(whole.headers['repr-digest'], digest(bytes))
  t.equal(whole.headers['content-digest'], digest(bytes))
  const part = await test.call('GET', `${body.url}/download`, undefined, { headers: { range: 'bytes=2-5' } })
  t.equal(part.status, 206)
  t.equal(part.headers['repr-digest'], digest(bytes), 'the file stays the same')
  t.equal(part.headers['content-digest'], digest(bytes.subarray(2, 6)), 'the content is a part of it')
  const head = await test.call('HEAD', `${body.url}/download`)
  t.equal(head.headers['repr-digest'], digest(bytes))
  t.equal(head.headers['content-digest'], undefined, 'of what is not sent nothing is said')
})

for (const name of ['Content-Digest', 'Repr-Digest'])
  t.test(`content that is not what ${name} says is refused, and nothing of it is stored`, async (t) => {
    const sent = (headers: object, body: object = newDocument(type, { inhoud: base64('abc'), bestandsomvang: 3 })) => {
      const text = JSON.stringify(body)
      const all = { 'content-type': 'application/json', ...headers }
      return { text, answer: () => test.call('POST', EIO, Buffer.from(text), { headers: all as never }) }
    }
    const before = await stored()
    const wrong = await sent({ [name]: digest('anders') }).answer()
    t.equal(wrong.status, 400)
    t.same(faults(wrong), [`${name}: digest-mismatch`])
    t.equal(await stored(), before)
    for (const nonsense of ['sha-256=abc', 'sha-256=:YWJj:', '::']) {
      const answer = await sent({ [name]: nonsense }).answer()
      t.same([answer.status, ...faults(answer)], [400, `${name}: invalid`], nonsense)
    }
    const { text } = sent({})
    t.equal((await sent({ [name]: `sha-512=:YWJj:, ${digest(text)}` }).answer()).status, 201, 'the right one is taken')
    t.equal((await sent({ [name]: 'sha-512=:YWJj:' }).answer()).status, 201, 'of other algorithms nothing is known')
  })

t.test('the part of an upload is held against its digest', async (t) => {
  const made = await test.call('POST', EIO, newDocument(type, { inhoud: null, bestandsomvang: 5 }))
  const { lock, bestandsdelen } = made.body
  const { body, headers } = form({ lock }, Buffer.from('12345'))
  const put = (value: string) =>
    test.call('PUT', bestandsdelen[0].url, body, { headers: { ...headers, 'content-digest': value } })
  const before = await stored()
  t.same(faults(await put(digest('anders'))), ['Content-Digest: digest-mismatch'])
  t.equal(await stored(), before)
  t.equal((await put(digest(body))).status, 200)
})

t.test('an import whose file is another one than its digest says has no file', async (t) => {
  const { body } = await test.call('POST', '/documenten/api/v1/import/create')
  const csv = csvText([goodRow(type, 'a.txt')])
  const upload = (value: string) =>
    test.call('POST', body.uploadUrl, Buffer.from(csv), {
      headers: { 'content-type': 'text/csv', 'content-digest': value },
    })
  t.same(faults(await upload(digest('anders'))), ['Content-Digest: digest-mismatch'])
  const [row] = await test.database.sql`select status from import`
  t.equal(row!.status, 'pending')
})
