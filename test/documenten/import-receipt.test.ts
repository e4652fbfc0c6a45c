// The receipt of an import: each stored copy is read once more after its end.
import { createHash, createPublicKey, verify } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { givenInformatieobjecttype, testApp } from '../app.ts'
import { API, csvText, DOCUMENTEN, givenFile, goodRow, outcome, runImport } from './importing.ts'

const app = await testApp(t)
const { call, database } = app
const type = await givenInformatieobjecttype(app)

const rowsOf = (count: number) => Array.from({ length: count }, (_, n) => goodRow(type, `${n}.txt`))
for (let n = 0; n < 130; n++) await givenFile(app, `${n}.txt`, `content ${n}`)

/** Its claims, when its signature holds. */
function claimsOf(jws: string): Record<string, unknown> {
  const [head = '', claims = '', signature = ''] = jws.split('.')
  const { alg, jwk } = JSON.parse(Buffer.from(head, 'base64url').toString())
  if (alg !== 'EdDSA') throw new Error(alg)
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  if (!verify(null, Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url')))
    throw new Error('the signature does not hold')
  return JSON.parse(Buffer.from(claims, 'base64url').toString())
}

t.test('the receipt counts and signs the copies that are what their source was', async (t) => {
  const { uuid } = await runImport(app, csvText([...rowsOf(130), goodRow(type, 'weg.txt')]))
  const { body } = await call('GET', `${API}/${uuid}/bewijs`)
  const bytes = rowsOf(130).reduce((sum, _, n) => sum + `content ${n}`.length, 0)
  t.match(body, { status: 'klaar', documents: 130, bytes, gone: 0, damaged: 0, faults: [] })
  t.match(claimsOf(body.jws), { import: uuid, total: 131, succeeded: 130, documents: 130, bytes, hash: body.hash })
  const { rows } = await outcome(app, uuid, '?toegekend=true')
  let hash = Buffer.alloc(0)
  for (const [n, { uuid }] of rows.slice(0, 130).entries()) {
    const content = `content ${n}`
    const sum = createHash('sha256').update(content).digest('hex')
    hash = createHash('sha256').update(hash).update(`${uuid} ${content.length} ${sum}\n`).digest()
  }
  t.equal(body.hash, hash.toString('hex'), 'anybody who has report and files can count it')
})

t.test('a copy that was damaged, is missing or was deleted before it was read is told', async (t) => {
  const jobs = database.sql`update import_receipt set ended_at = null, position = 0, documents = 0, bytes = 0, hash = '', jws = null`
  const { uuid, rows } = await runImport(app, csvText(rowsOf(3).map((row) => ({ ...row, titel: 'nog eens' }))))
  t.equal(rows.length, 3)
  const keys = await database.sql<{ key: string; uuid: string }[]>`
    select f.key, d.uuid from import_outcome u join import i on i.id = u.import_id
    join enkelvoudiginformatieobject d on d.uuid = u.document_uuid
    join enkelvoudiginformatieobject_versie v on v.enkelvoudiginformatieobject_id = d.id join file f on f.id = v.file_id
    where i.uuid = ${uuid} order by u.number`
  await writeFile(join(app.parts.config.documentenDir, keys[0]!.key), 'CONTENT 0')
  await rm(join(app.parts.config.documentenDir, keys[1]!.key))
  t.equal((await call('DELETE', `${DOCUMENTEN}/${keys[2]!.uuid}`)).status, 204)
  await jobs
  t.match((await call('GET', `${API}/${uuid}/bewijs`)).body, { status: 'bezig', jws: null })
  await database.sql`select add_job('import-receipt', json_build_object('import', ${uuid}::text))`
  await app.runJobs()
  const { body } = await call('GET', `${API}/${uuid}/bewijs`)
  t.match(body, {
    documents: 0,
    gone: 1,
    damaged: 2,
    faults: [
      { row: 2, what: 'damaged' },
      { row: 3, what: 'missing' },
    ],
  })
  t.match(claimsOf(body.jws), { damaged: 2, gone: 1 })
})

t.test('the receipt stands at the foot of the report, which can be fed back', async (t) => {
  const { uuid } = await runImport(app, csvText(rowsOf(2)))
  const { rows, text } = await outcome(app, uuid, '?bewijs=true')
  t.equal(rows.length, 3)
  t.match(rows[2], {
    bestandspad: '',
    resultaat: 'Bewijs',
    opmerking: /^2 documenten; 18 bytes; sha256 [0-9a-f]{64}; .*JWS /,
  })
  const again = await runImport(app, text)
  t.match(again.status, { status: 'finished', total: 0, alreadyImported: 2, emptyRows: 0 })
  t.equal((await call('GET', `${API}/${again.uuid}/bewijs`)).status, 404, 'without documents there is none')
  const lines = (await call('GET', `${API}/${uuid}/report`)).text
  t.notMatch(lines, /Bewijs/, 'only who asks for it')
})
