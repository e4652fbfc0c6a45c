// Bounds of an organisation: who is at its bound is told so, and another goes on.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { runWorker } from '../../src/cli/run-worker.ts'
import { openDatabase } from '../../src/database/database.ts'
import { withSchema } from '../../src/database/schema.ts'
import { configOf, type Limits } from '../../src/organisations/organisation.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { csvText, goodRow, readReport } from '../documenten/importing.ts'
import { testDatabase } from '../setup.ts'
import { until } from '../until.ts'
import { keysOf, many, prepareOrganisation, ringOf } from './api-many.ts'

t.setTimeout(240_000)

const [A, B] = ['zaken.a.nl', 'zaken.b.nl']
const DOCUMENTEN = '/documenten/api/v1'
const ABONNEMENT = '/notificaties/api/v1/abonnement'

const { url } = await testDatabase(t)
const two = [
  { host: A, schema: 'zaakstroom' },
  { host: B, schema: 'gemeente_b' },
]
for (const [n, { schema }] of two.entries()) await prepareOrganisation(withSchema(url, schema), ringOf(keysOf(n)))
const test = await many(t, two, {
  url,
  isPrepared: true,
  env: { DOCUMENTEN_KEEP_DELETED_HOURS: '0', DOCUMENTEN_UPLOAD_CHUNK_SIZE: '60', NOTIFICATIONS_DISABLED: 'true' },
})
const { call, change, parts } = test
const databases = two.map(({ schema }) => openDatabase(withSchema(url, schema), { max: 2, name: 'test' }))
t.teardown(() => Promise.all(databases.map((database) => database.close())))
const types = new Map<string, string>()
for (const host of [A, B]) types.set(host, await givenType(host))

/** Gives A these bounds, and waits until they count. */
async function bound(limits: Limits): Promise<void> {
  await change(A, { limits })
  await until(
    'the bounds are known',
    () => JSON.stringify(parts.organisations.find(A)?.limits) === JSON.stringify(limits),
  )
}

async function givenType(host: string): Promise<string> {
  const made = async (path: string, body: object) => {
    const { status, text, body: answer } = await call(host, 'POST', `/catalogi/api/v1/${path}`, { body })
    t.equal(status, 201, text)
    return answer.url as string
  }
  const catalogus = await made('catalogussen', {
    ...{ domein: 'ABC', rsin: '000000000', contactpersoonBeheerNaam: 'Beheer' },
  })
  const type = await made('informatieobjecttypen', {
    ...{ catalogus, omschrijving: 'Brief', vertrouwelijkheidaanduiding: 'openbaar' },
    ...{ beginGeldigheid: '2024-01-01', informatieobjectcategorie: 'correspondentie' },
  })
  await call(host, 'POST', `${type}/publish`)
  return type
}

const post = (host: string, bytes: number, more: object = {}) =>
  call(host, 'POST', `${DOCUMENTEN}/enkelvoudiginformatieobjecten`, {
    body: {
      ...{ bronorganisatie: '000000000', creatiedatum: '2026-01-01', titel: 'Brief', auteur: 'A', taal: 'nld' },
      ...{ informatieobjecttype: types.get(host), inhoud: Buffer.alloc(bytes, 'x').toString('base64'), ...more },
    },
  })

const sendPart = (host: string, deel: string, lock: string, bytes: number) => {
  const boundary = 'grens'
  const payload = [
    `--${boundary}\r\ncontent-disposition: form-data; name="lock"\r\n\r\n${lock}\r\n`,
    `--${boundary}\r\ncontent-disposition: form-data; name="inhoud"; filename="deel"\r\n`,
    `content-type: application/octet-stream\r\n\r\n${'x'.repeat(bytes)}\r\n--${boundary}--\r\n`,
  ].join('')
  return call(host, 'PUT', deel, {
    raw: payload,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  })
}

const isFull = ({ status, body }: Awaited<ReturnType<typeof call>>, most: number) =>
  status === 413 && body.code === 'storage-limit' && body.detail.includes(String(most))

/** A worker of one of them, until its import has ended. */
async function work(host: string, isDone: () => Promise<boolean>): Promise<void> {
  const config = configOf(test.env, parts.organisations.find(host)!)
  const worker = await runWorker(config, config.databaseUrl ?? '', openLog('fatal', { write: () => {} }))
  try {
    await until('the work is done', isDone, 60_000)
  } finally {
    await worker.stop()
  }
}

async function importRows(host: string, rows: number, bytes: number) {
  const { importBaseDir } = configOf(test.env, parts.organisations.find(host)!)
  await mkdir(importBaseDir, { recursive: true })
  await writeFile(join(importBaseDir, 'brief.txt'), Buffer.alloc(bytes, 'y'))
  const { body } = await call(host, 'POST', `${DOCUMENTEN}/import/create`)
  const csv = csvText(Array.from({ length: rows }, () => goodRow(types.get(host)!, 'brief.txt')))
  const headers = { 'content-type': 'text/csv' }
  const uploaded = await call(host, 'POST', body.uploadUrl, { raw: csv, headers })
  const cancel = () => call(host, 'POST', body.url.replace(/$/, '/cancel'))
  return { uploaded, cancel, statusUrl: body.statusUrl, reportUrl: body.reportUrl }
}

t.test('contents of documents stay within the bytes of an organisation', async (t) => {
  await bound({ bytes: 100 })
  const first = await post(A, 60)
  t.equal(first.status, 201, first.text)
  const refused = await post(A, 60)
  t.ok(isFull(refused, 100), refused.text)
  t.notMatch(refused.text, /zaken\.b|gemeente_b|000000002/, 'and says nothing of others')
  t.equal((await post(A, 40)).status, 201, 'what fits comes in')
  t.equal((await post(A, 0)).status, 201, 'and what is empty')
  for (let times = 0; times < 3; times++) t.equal((await post(B, 60)).status, 201, 'another has no bound')
  const [database] = databases
  const [kept] = await database!
    .sql`select (select sum(count) from file_count) as kept, (select sum(size) from file) as there`
  t.match(kept, { kept: '100', there: '100' })

  t.test('a change of the bound counts at once', async (t) => {
    await bound({ bytes: 160 })
    t.equal((await post(A, 60)).status, 201)
    t.ok(isFull(await post(A, 1), 160))
  })

  t.test('a refused change leaves the document, and its bytes go', async (t) => {
    const before = await database!.sql`select count(*) from file`
    const { lock } = (await call(A, 'POST', `${first.body.url}/lock`)).body
    const changed = await call(A, 'PATCH', first.body.url, {
      body: { lock, inhoud: Buffer.alloc(10).toString('base64'), bestandsomvang: 10 },
    })
    t.ok(isFull(changed, 160), changed.text)
    await call(A, 'POST', `${first.body.url}/unlock`, { body: { lock } })
    t.match((await call(A, 'GET', first.body.url)).body, { versie: 1, bestandsomvang: 60 })
    t.same(await database!.sql`select count(*) from file`, before)
  })

  t.test('removing gives room back', async (t) => {
    t.equal((await call(A, 'DELETE', first.body.url)).status, 204)
    await work(A, async () => (await post(A, 60)).status === 201)
    t.ok(isFull(await post(A, 1), 160))
  })

  t.test('what was removed a moment ago is room at once', async (t) => {
    await bound({ bytes: 161 })
    await database!.sql`insert into file (backend, key, size) values ('filesystem', 'another', 1000)`
    t.ok(isFull(await post(A, 1), 161))
    await database!.sql`delete from file where key = 'another'`
    t.equal((await post(A, 1)).status, 201)
  })

  t.test('of many at once as many come in as fit', async (t) => {
    await bound({ bytes: 261 })
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(A, 25)))
    t.equal(answers.filter(({ status }) => status === 201).length, 4)
    t.equal(answers.filter((answer) => isFull(answer, 261)).length, 4)
  })

  t.test('a part of an upload is refused, and the parts of one that came are not counted twice', async (t) => {
    const { body } = await post(A, 0, { inhoud: null, bestandsomvang: 120 })
    const [one, other] = body.bestandsdelen
    const full = await sendPart(A, one.url, body.lock, 60)
    t.ok(isFull(full, 261), full.text)
    await bound({ bytes: 381 })
    t.equal((await sendPart(A, one.url, body.lock, 60)).status, 200)
    t.equal((await sendPart(A, other.url, body.lock, 60)).status, 200)
    t.equal((await call(A, 'POST', `${body.url}/unlock`, { body: { lock: body.lock } })).status, 204)
    t.ok(isFull(await post(A, 0, { inhoud: null, bestandsomvang: 382 }), 381), 'what can never come in is not begun')
  })

  t.test('rows of an import beyond it have it in the report, and the import goes on', async (t) => {
    const isClean = () => database!.sql`select from jobs where task_identifier = 'remove-file'`
    await work(A, async () => (await isClean()).length === 0)
    const [row] = await database!.sql`select sum(size)::int as bytes from file`
    const most = row!.bytes + 100
    await bound({ bytes: most })
    const made = await importRows(A, 5, 40)
    t.equal(made.uploaded.status, 200, made.uploaded.text)
    const other = await importRows(B, 5, 40)
    const isDone = (host: string, url: string) => async () => (await call(host, 'GET', url)).body.status === 'finished'
    await work(A, isDone(A, made.statusUrl))
    t.match((await call(A, 'GET', made.statusUrl)).body, { processedSuccessfully: 2, processedInvalid: 3 })
    const report = await readReport((await call(A, 'GET', made.reportUrl)).text)
    const remarks = report.map((row) => Object.values(row).join(' ')).filter((text) => text.includes(`${most} bytes`))
    t.equal(remarks.length, 3)
    await work(B, isDone(B, other.statusUrl))
    t.match((await call(B, 'GET', other.statusUrl)).body, { processedSuccessfully: 5, processedInvalid: 0 })
  })
})

t.test('an organisation has so many abonnementen, also when two are made at once', async (t) => {
  const subscribe = (host: string) =>
    call(host, 'POST', ABONNEMENT, { body: { callbackUrl: '', kanalen: [{ naam: 'zaken', filters: {} }] } })
  await bound({ abonnementen: 2 })
  const answers = await Promise.all(Array.from({ length: 6 }, () => subscribe(A)))
  t.equal(answers.filter(({ status }) => status === 201).length, 2)
  for (const { body } of answers.filter(({ status }) => status !== 201))
    t.match(body, { status: 400, invalidParams: [{ name: 'nonFieldErrors', code: 'max-items', reason: /hoogste 2 / }] })
  for (let times = 0; times < 3; times++) t.equal((await subscribe(B)).status, 201, 'another has no bound')
  const made = answers.find(({ status }) => status === 201)!
  t.equal(
    (await call(A, 'PUT', made.body.url, { body: { callbackUrl: '', kanalen: [{ naam: 'zaken', filters: {} }] } }))
      .status,
    200,
  )
  t.equal((await call(A, 'DELETE', made.body.url)).status, 204)
  t.equal((await subscribe(A)).status, 201, 'the place of one that was removed is free')
  await bound({ abonnementen: 3 })
  t.equal((await subscribe(A)).status, 201)
  t.equal((await subscribe(A)).status, 400)
})

t.test('an import has so many rows, and an organisation none where they are off', async (t) => {
  await bound({ importRows: 3 })
  const refused = await importRows(A, 4, 1)
  t.match(refused.uploaded, {
    status: 400,
    body: { invalidParams: [{ name: '__all__', code: 'too-many-rows', reason: /hoogste 3 rijen/ }] },
  })
  await refused.cancel()
  const fits = await importRows(A, 3, 1)
  t.equal(fits.uploaded.status, 200, fits.uploaded.text)
  await fits.cancel()
  const other = await importRows(B, 4, 1)
  t.equal(other.uploaded.status, 200)
  await other.cancel()
  await bound({ imports: 0 })
  for (const query of ['', '?wachten=true'])
    t.match(await call(A, 'POST', `${DOCUMENTEN}/import/create${query}`), {
      status: 400,
      body: { invalidParams: [{ name: '__all__', code: 'imports-off' }] },
    })
  t.equal((await call(B, 'POST', `${DOCUMENTEN}/import/create`)).status, 201)
  await bound({})
  t.equal((await call(A, 'POST', `${DOCUMENTEN}/import/create`)).status, 201)
})

t.test('a bound is no setting that an organisation may have of its own', (t) => {
  const organisation = { ...parts.organisations.find(A)!, settings: { STORAGE_MAX_BYTES: '1' } }
  t.throws(() => configOf(test.env, organisation), /STORAGE_MAX_BYTES is no setting of an organisation/)
  const installation = { ...test.env, STORAGE_MAX_BYTES: '5', ABONNEMENTEN_MAX: '6' }
  t.match(configOf(installation, { ...organisation, settings: {}, limits: { bytes: 7 } }), {
    storageMaxBytes: 7,
    abonnementenMax: 6,
    importMaxRows: 5_000_000,
    importsOpen: 1,
  })
  t.end()
})
