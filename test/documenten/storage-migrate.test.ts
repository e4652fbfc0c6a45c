// Slow: servers of three kinds are started, and stores go away.
// Documents in more than one store: reading them, moving them, checking them, and what happens when a store is away.
// It starts servers.
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { openCopy } from '../../src/cli/run-worker.ts'
import type { Backend } from '../../src/config/storage.ts'
import { requireKeys } from '../../src/core/key-register.ts'
import { openAhead } from '../../src/documenten/import/ahead.ts'
import { checkStorage } from '../../src/documenten/storage/check.ts'
import { openStores } from '../../src/documenten/storage/choose.ts'
import { prepareFilesystemStore } from '../../src/documenten/storage/filesystem.ts'
import { newKey, StoreUnavailable } from '../../src/documenten/storage/index.ts'
import { AlreadyRunning, moveBytes } from '../../src/documenten/storage/migrate.ts'
import { claimStore } from '../../src/documenten/storage/owner.ts'
import { announceWriter } from '../../src/documenten/storage/writers.ts'
import { BASE, givenInformatieobjecttype, type TestApp, testApp } from '../app.ts'
import { until } from '../until.ts'
import { API, csvText, DOCUMENTEN, givenFile, givenImport, goodRow, outcome } from './importing.ts'
import { givenAzure, givenS3 } from './storage-servers.ts'

t.setTimeout(580_000)

const [s3, azure] = await Promise.all([givenS3(t), givenAzure(t)])
let counter = 0

type Test = { teardown(work: () => unknown): unknown }
type Given = TestApp & { type: string; env: Record<string, string> }

/** An application whose new documents go to `backend`, with the settings of all. */
async function givenApp(t: Test, backend: Backend, more: Record<string, string> = {}): Promise<Given> {
  const name = `app-${counter++}`
  const env = {
    ...s3.env,
    ...azure.env,
    S3_LOCATION: name,
    AZURE_LOCATION: name,
    DOCUMENTEN_API_BACKEND: backend,
    ...more,
  }
  const test = await testApp(t, env)
  return { ...test, env, type: await givenInformatieobjecttype(test) }
}

/** The same application after its backend was changed. */
async function changed(t: Test, { databaseUrl, config, env }: Given, backend: Backend) {
  return testApp(t, {
    ...env,
    DATABASE_URL: databaseUrl,
    DOCUMENTEN_DIR: config.documentenDir,
    IMPORT_DOCUMENTEN_BASE_DIR: config.importBaseDir,
    DOCUMENTEN_API_BACKEND: backend,
  })
}

async function givenDocument({ call, type }: Given, content: string): Promise<string> {
  const { status, body, text } = await call('POST', DOCUMENTEN, {
    bronorganisatie: '000000000',
    creatiedatum: '2024-02-29',
    titel: content,
    auteur: 'Auteur',
    taal: 'nld',
    informatieobjecttype: type,
    inhoud: Buffer.from(content).toString('base64'),
    bestandsomvang: Buffer.byteLength(content),
  })
  if (status !== 201) throw new Error(`no document: ${text}`)
  return body.url
}

const download = async ({ call }: TestApp, url: string) => (await call('GET', `${url}/download`)).text

const backends = async ({ database }: TestApp) =>
  (await database.sql<{ backend: string }[]>`select backend from file order by id`).map(({ backend }) => backend)

const stored = async ({ parts }: TestApp, backend: Backend) =>
  (await Array.fromAsync(parts.storeFor(backend).list())).map(({ key }) => key).sort()

/** Runs what waits for later as well. */
async function runAllJobs(test: TestApp) {
  await test.database
    .sql`select reschedule_jobs(array_agg(id), run_at => now()) from jobs where task_identifier = 'remove-bytes'`
  await test.runJobs()
}

t.test('every document is read, joined and removed where its row says it is', async (t) => {
  const files = await givenApp(t, 'filesystem')
  const one = await givenDocument(files, 'in een map')
  const bucket = { ...(await changed(t, files, 's3_storage')), type: files.type, env: files.env }
  const two = await givenDocument(bucket, 'in een emmer')
  const container = { ...(await changed(t, files, 'azure_blob_storage')), type: files.type, env: files.env }
  const three = await givenDocument(container, 'in een vat')
  t.strictSame(await backends(files), ['filesystem', 's3_storage', 'azure_blob_storage'])
  for (const test of [files, bucket, container]) {
    t.strictSame(await Promise.all([one, two, three].map((url) => download(test, url))), [
      'in een map',
      'in een emmer',
      'in een vat',
    ])
  }
  for (const url of [one, two]) t.equal((await container.call('DELETE', url)).status, 204)
  await container.runJobs()
  t.strictSame(await stored(files, 'filesystem'), [])
  t.strictSame(await stored(files, 's3_storage'), [])
  t.equal(await download(files, three), 'in een vat')
})

t.test('a document in a store without settings is unavailable, and the others are not', async (t) => {
  const test = await givenApp(t, 's3_storage')
  const url = await givenDocument(test, 'ver weg')
  const { databaseUrl, config } = test
  const without = await testApp(t, { DATABASE_URL: databaseUrl, DOCUMENTEN_DIR: config.documentenDir })
  t.equal((await without.call('GET', `${url}/download`)).status, 503)
  t.equal((await without.call('GET', url)).status, 200)
})

t.test('documents move from store to store while they are read, and the old bytes go an hour later', async (t) => {
  const test = await givenApp(t, 'filesystem')
  const urls: string[] = []
  for (let i = 0; i < 7; i++) urls.push(await givenDocument(test, `document ${i}`))
  let from: Backend = 'filesystem'
  for (const to of ['s3_storage', 'azure_blob_storage', 'filesystem'] as const) {
    let told = 0
    const moving = moveBytes({ ...test.parts }, to, () => told++)
    for (let i = 0; i < 3; i++)
      t.strictSame(
        await Promise.all(urls.map((url) => download(test, url))),
        urls.map((_, i) => `document ${i}`),
      )
    t.match(await moving, { moved: 7, bytes: 7 * 10, failed: 0 })
    t.equal(told, 7)
    t.strictSame(new Set(await backends(test)), new Set([to]))
    t.strictSame(
      await Promise.all(urls.map((url) => download(test, url))),
      urls.map((_, i) => `document ${i}`),
    )
    await test.runJobs()
    t.equal((await stored(test, from)).length, 7, 'whoever looked up the old place can still read')
    t.match(await checkStorage(test.parts, { repair: true }), { found: 0 }, 'and a check leaves that alone')
    await test.database.sql`update stray_file set seen_at = now() - interval '26 hours'`
    t.match(await checkStorage(test.parts, { repair: true }), { found: 0 }, 'and so does one a day later')
    t.equal((await stored(test, from)).length, 7)
    await runAllJobs(test)
    t.strictSame(await stored(test, from), [])
    t.equal((await stored(test, to)).length, 7)
    from = to
  }
  t.match(await moveBytes(test.parts, 'filesystem'), { moved: 0, bytes: 0, failed: 0 })
})

t.test('a move that was interrupted goes on, without copies that nobody needs', async (t) => {
  const test = await givenApp(t, 'filesystem')
  const urls: string[] = []
  for (let i = 0; i < 12; i++) urls.push(await givenDocument(test, `document ${i}`))
  // A crash between the copy and its row: the copy is there, the row is as it was.
  const [row] = await test.database.sql<{ key: string }[]>`select key from file order by id desc limit 1`
  await test.parts.storeFor('s3_storage').write(row!.key, [Buffer.from('half')] as never)
  const stop = new AbortController()
  const stopping = moveBytes(test.parts, 's3_storage', ({ moved }) => moved === 3 && stop.abort(new Error('stop')), {
    signal: stop.signal,
  })
  await t.rejects(stopping, { message: 'stop' })
  const moved = (await backends(test)).filter((backend) => backend === 's3_storage').length
  t.ok(moved >= 3 && moved < 12, `${moved} moved`)
  t.match(await moveBytes(test.parts, 's3_storage'), { moved: 12 - moved, failed: 0 })
  t.strictSame(
    await Promise.all(urls.map((url) => download(test, url))),
    urls.map((_, i) => `document ${i}`),
  )
  t.equal((await stored(test, 's3_storage')).length, 12)
})

t.test('what is deleted while it moves stays deleted, and only one move runs at a time', async (t) => {
  const test = await givenApp(t, 'filesystem')
  const urls: string[] = []
  for (let i = 0; i < 5; i++) urls.push(await givenDocument(test, `document ${i}`))
  const { storeFor } = test.parts
  const held = Promise.withResolvers<void>()
  const reading = Promise.withResolvers<void>()
  // The bytes of the first document come when the test says so.
  const slow: typeof storeFor = (backend) => ({
    ...storeFor(backend),
    write: async (key, bytes, options) => {
      const written = await storeFor(backend).write(key, bytes, options)
      reading.resolve()
      await held.promise
      return written
    },
  })
  const moving = moveBytes({ ...test.parts, storeFor: slow }, 'azure_blob_storage')
  await reading.promise
  await t.rejects(moveBytes(test.parts, 'azure_blob_storage'), AlreadyRunning)
  for (const url of urls) t.equal((await test.call('DELETE', url)).status, 204)
  await test.runJobs()
  held.resolve()
  t.match(await moving, { moved: 0, failed: 0 })
  t.strictSame(await stored(test, 'azure_blob_storage'), [])
  t.strictSame(await stored(test, 'filesystem'), [])
})

t.test('a document whose bytes are wrong does not move, and the others do', async (t) => {
  const test = await givenApp(t, 'filesystem')
  await givenDocument(test, 'goed')
  await givenDocument(test, 'stuk')
  await givenDocument(test, 'kwijt')
  const rows = await test.database.sql<{ key: string }[]>`select key from file order by id`
  writeFileSync(join(test.config.documentenDir, rows[1]!.key), 'stak')
  rmSync(join(test.config.documentenDir, rows[2]!.key))
  const faults: unknown[] = []
  t.match(await moveBytes(test.parts, 's3_storage', (_so, fault) => fault && faults.push(fault.kind)), {
    moved: 1,
    failed: 2,
  })
  t.strictSame(faults.sort(), ['damaged', 'missing'])
  t.strictSame(await backends(test), ['s3_storage', 'filesystem', 'filesystem'])
  t.equal((await stored(test, 's3_storage')).length, 1)
})

const areReady = async ({ database }: TestApp, count: number) =>
  (await database.sql`select from import_ahead where content is not null`).length === count

for (const [was, becomes] of [
  ['filesystem', 's3_storage'],
  ['s3_storage', 'filesystem'],
] as const) {
  t.test(`a change from ${was} to ${becomes} during an import makes no document without bytes`, async (t) => {
    const test = await givenApp(t, was, { IMPORT_DOCUMENTEN_BATCH_SIZE: '10' })
    const names = await Promise.all(Array.from({ length: 100 }, (_, n) => givenFile(test, `bestand-${n}.txt`)))
    const uuid = await givenImport(test)
    await test.call('POST', `${API}/${uuid}/upload`, csvText(names.map((name) => goodRow(test.type, name))))
    const copy = openCopy(test.config, test.parts.store)
    const ahead = openAhead({ ...test.parts, copyFiles: copy.copyFiles })
    await ahead.look()
    await until('some batches are ready', () => areReady(test, 3))
    await (await changed(t, test, becomes)).runJobs()
    await ahead.stop()
    await copy.stop()
    const { status, rows } = await outcome(test, uuid)
    t.match(status, { status: 'finished', processedSuccessfully: 100 })
    t.equal(rows.filter(({ resultaat }) => resultaat === 'Geïmporteerd').length, 100)
    const found = await test.database.sql<{ backend: Backend; key: string }[]>`select backend, key from file`
    t.strictSame(new Set(found.map(({ backend }) => backend)), new Set([was, becomes]), 'both wrote')
    for (const backend of [was, becomes])
      t.strictSame(
        await stored(test, backend),
        found.flatMap((row) => (row.backend === backend ? row.key : [])).sort(),
        `what is in ${backend} are the bytes of documents`,
      )
  })
}

t.test('what was prepared in a store that a worker does not have is prepared again', async (t) => {
  const test = await givenApp(t, 'filesystem', { IMPORT_DOCUMENTEN_BATCH_SIZE: '10' })
  const names = await Promise.all(Array.from({ length: 40 }, (_, n) => givenFile(test, `bestand-${n}.txt`)))
  const uuid = await givenImport(test)
  await test.call('POST', `${API}/${uuid}/upload`, csvText(names.map((name) => goodRow(test.type, name))))
  const elsewhere = { ...test.config, documentenDir: `${test.config.documentenDir}-anders` }
  await prepareFilesystemStore(elsewhere.documentenDir)
  const stores = openStores(elsewhere)
  const copy = openCopy(elsewhere, stores.store)
  const ahead = openAhead({ ...test.parts, ...stores, config: elsewhere, copyFiles: copy.copyFiles })
  await ahead.look()
  await until('some batches are ready', () => areReady(test, 3))
  await ahead.stop()
  await copy.stop()
  await test.runJobs()
  t.match((await outcome(test, uuid)).status, { status: 'finished', processedSuccessfully: 40 })
  const keys = await test.database.sql<{ key: string }[]>`select key from file order by key`
  t.strictSame(
    await stored(test, 'filesystem'),
    keys.map(({ key }) => key),
  )
})

t.test('bytes whose row names a store that does not have them are never swept away', async (t) => {
  const test = await givenApp(t, 'filesystem')
  const url = await givenDocument(test, 'hier')
  await givenDocument({ ...(await changed(t, test, 's3_storage')), env: test.env, type: test.type }, 'daar')
  // As a program of before did, which wrote the name of its own store.
  await test.database.sql`update file set backend = 's3_storage' where backend = 'filesystem'`
  await givenDocument(test, 'ook hier')
  for (let day = 0; day < 3; day++) {
    await test.database.sql`select add_job('retention', '{}')`
    await test.runJobs()
    await test.database.sql`update stray_file set seen_at = now() - interval '26 hours'`
    await checkStorage(test.parts, { repair: day === 2 })
  }
  t.equal(await download(test, url), 'hier', 'and a check finds them again')
})

t.test('a move waits for processes that still write to another store, and moves what they write', async (t) => {
  const test = await givenApp(t, 'filesystem')
  await givenDocument(test, 'een')
  const writer = await announceWriter(test.database, test.parts.store, { debug: () => {} })
  let came = false
  const waits = async () => {
    if (came) return
    came = true
    await givenDocument(test, 'twee')
    await writer.close()
  }
  t.match(await moveBytes(test.parts, 's3_storage', undefined, { waits }), { moved: 2, failed: 0 })
  t.ok(came)
  t.strictSame(new Set(await backends(test)), new Set(['s3_storage']))
})

for (const backend of ['filesystem', 's3_storage', 'azure_blob_storage'] as const) {
  t.test(`${backend}: a check finds what is too much, absent and changed, and repairs what it can`, async (t) => {
    const test = await givenApp(t, backend)
    for (let i = 0; i < 4; i++) await givenDocument(test, `document ${i}`)
    const store = test.parts.store
    t.match(await checkStorage(test.parts, { verify: true }), { documents: 4, stored: 4, found: 0 })

    const rows = await test.database.sql<{ id: number; key: string }[]>`select id, key from file order by id`
    const replace = async (key: string, content: string) => {
      await store.remove(key)
      await store.write(key, [Buffer.from(content)] as never)
    }
    await store.remove(rows[0]!.key)
    await replace(rows[1]!.key, 'langer dan het was')
    await replace(rows[2]!.key, 'document X')
    const { key: orphan } = await store.write(newKey(), [Buffer.from('wees')] as never)
    await store.write('van/iemand/anders', [Buffer.from('anders')] as never)
    await test.database.sql`update file set created_at = now() - interval '2 days'`

    const findings = async (options: object) => {
      const found: string[] = []
      const outcome = await checkStorage(test.parts, {
        ...options,
        report: ({ kind, key, repaired }) => found.push(`${kind} ${key} ${repaired}`),
      })
      return { outcome, found: found.sort() }
    }
    const young = await findings({ repair: true })
    t.match(
      young.outcome,
      { stored: 5, foreign: 1, recent: 1, found: 2, repaired: 0 },
      'an upload may still be under way',
    )
    t.strictSame(young.found, [`missing ${rows[0]!.key} false`, `size ${rows[1]!.key} false`].sort())
    t.equal((await stored(test, backend)).includes(orphan), true)

    const verified = await findings({ verify: true })
    t.strictSame(
      verified.found,
      [`damaged ${rows[2]!.key} false`, `missing ${rows[0]!.key} false`, `size ${rows[1]!.key} false`].sort(),
    )
    // A copy elsewhere, as a restored back-up gives it.
    const other = backend === 's3_storage' ? 'azure_blob_storage' : 's3_storage'
    const target = test.parts.storeFor(other)
    await givenElsewhere(test, other)
    await target.write(rows[0]!.key, [Buffer.from('document 0')] as never)
    t.equal((await findings({ repair: true })).outcome.repaired, 1)
    t.match(await test.database.sql`select backend from file where id = ${rows[0]!.id}`, [{ backend: other }])
    t.equal((await findings({})).outcome.found, 1)
  })
}

/** A document in another backend, so that it is one of those in use. */
async function givenElsewhere(test: Given, backend: Backend): Promise<void> {
  const { key } = await test.parts.storeFor(backend).write(newKey(), [Buffer.from('x')] as never)
  await test.database.sql`
    insert into file (backend, key, size, sha256) values (${backend}, ${key}, 1, sha256('x'::bytea))`
}

t.test('orphans older than a day are removed, and unfinished writes with them', async (t) => {
  const test = await givenApp(t, 'filesystem')
  const url = await givenDocument(test, 'blijft')
  const root = test.config.documentenDir
  await test.parts.store.write(newKey(), [Buffer.from('wees')] as never)
  writeFileSync(join(root, '.tmp/half'), 'x')
  t.match(await checkStorage(test.parts, { repair: true }), { found: 0, recent: 1, unfinished: 0 }, 'first it is noted')
  const { sql } = test.database
  await sql`update stray_file set seen_at = now() - interval '25 hours'`
  t.match(await checkStorage(test.parts), { found: 1, repaired: 0, unfinished: 0 })
  t.match(await checkStorage(test.parts, { repair: true }), { found: 1, repaired: 1, unfinished: 1 })
  t.match(await checkStorage(test.parts, { verify: true }), { found: 0, documents: 1, stored: 1 })
  t.equal((await sql`select from stray_file`).length, 2)
  await checkStorage(test.parts, { repair: true })
  t.equal((await sql`select from stray_file`).length, 0, 'what is gone is forgotten')
  t.strictSame(readdirSync(join(root, '.tmp')), [])
  t.equal(await download(test, url), 'blijft')
})

t.test('the command line moves and checks, and its exit code tells what came of it', async (t) => {
  const test = await givenApp(t, 'filesystem')
  const url = await givenDocument(test, 'met de hand')
  const env = { ...test.env, DATABASE_URL: test.databaseUrl, DOCUMENTEN_DIR: test.config.documentenDir }
  const run = async (...args: string[]) => {
    const child = spawn(process.execPath, ['src/main.ts', 'storage', ...args], { env: { ...process.env, ...env } })
    const [stdout, stderr, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise((resolve) => child.once('close', resolve)),
    ])
    return { stdout, stderr, code }
  }
  t.match(await run('check', '--verify'), {
    code: 0,
    stdout: '1 documents, 1 files in storage: 0 wrong, 0 of these repaired.\n',
  })
  const moved = await run('migrate', '--to', 's3_storage', '--json')
  t.match(moved, { code: 0, stderr: /new documents still go to filesystem/ })
  t.strictSame(JSON.parse(moved.stdout), { faults: [], dryRun: false, moved: 1, bytes: 11, failed: 0 })
  t.equal(await download(test, url), 'met de hand')
  await test.parts.storeFor('s3_storage').remove((await stored(test, 's3_storage'))[0]!)
  const wrong = await run('check', '--json')
  t.equal(wrong.code, 1)
  const said = JSON.parse(wrong.stdout)
  t.match(said, { found: 1, findings: [{ kind: 'missing', backend: 's3_storage', repaired: false }] })
  t.match(await run('migrate', '--to', 'zolder'), { code: 64, stderr: /filesystem, s3_storage, azure_blob_storage/ })
})

t.test("another installation's store is not repaired, swept or moved into", async (t) => {
  const [ours, theirs] = [await givenApp(t, 'filesystem'), await givenApp(t, 'filesystem')]
  await givenDocument(ours, 'van ons')
  await givenDocument(theirs, 'van hen')
  for (const { database, parts } of [ours, theirs]) {
    await requireKeys(database.sql, parts.box)
    await claimStore(database.sql, parts.store)
  }
  const mistaken = { ...ours.parts, ...openStores({ ...ours.config, documentenDir: theirs.config.documentenDir }) }
  for (const repair of [true, false]) await t.rejects(checkStorage(mistaken, { repair }), /is of another installation/)
  await t.rejects(claimStore(ours.database.sql, mistaken.store), { name: 'ForeignStore' })
  t.strictSame([...(await ours.database.sql`select from file where missing_since is not null`)], [])
  // One of before it carried a name is claimed by whose documents are there, and by nobody else.
  writeFileSync(join(theirs.config.documentenDir, '.zaakstroom'), 'Proves it.\n')
  await claimStore(ours.database.sql, mistaken.store)
  t.equal(await mistaken.store.owner(), undefined)
  await claimStore(theirs.database.sql, theirs.parts.store)
  t.match(await mistaken.store.owner(), /^\w{32}$/)
  // The command, and a directory that is not mounted.
  const run = (directory: string, ...args: string[]) => {
    const env = { ...process.env, ...ours.env, DATABASE_URL: ours.databaseUrl, DOCUMENTEN_DIR: directory }
    return spawnSync(process.execPath, ['src/main.ts', 'storage', ...args], { env, encoding: 'utf8' })
  }
  const foreign = run(theirs.config.documentenDir, 'check', '--repair')
  t.match(foreign, { status: 78, stdout: '', stderr: /is of another installation/ })
  const unmounted = run(`${ours.config.documentenDir}-weg`, 'migrate', '--to', 'filesystem')
  t.match(unmounted, { status: 69, stdout: '', stderr: /marker-missing/ })
})

t.test('a store that is away: 503 with Retry-After, nothing changes, and reading data goes on', async (t) => {
  for (const [backend, server] of [
    ['s3_storage', s3],
    ['azure_blob_storage', azure],
  ] as const) {
    const test = await givenApp(t, backend)
    const url = await givenDocument(test, 'staat er')
    const count = async () => (await test.call('GET', DOCUMENTEN)).body.count
    const before = [await count(), (await test.call('GET', `${url}/audittrail`)).body.length]
    const { body } = await test.call('POST', `${url}/lock`)
    await server.stop()
    const create = test.call('POST', DOCUMENTEN, {
      bronorganisatie: '000000000',
      creatiedatum: '2024-02-29',
      titel: 'komt er niet',
      auteur: 'Auteur',
      taal: 'nld',
      informatieobjecttype: test.type,
      inhoud: 'AAAA',
      bestandsomvang: 3,
    })
    for (const answer of [
      await create,
      await test.call('PATCH', url, { lock: body.lock, inhoud: 'AAAA', bestandsomvang: 3 }),
      await test.call('GET', `${url}/download`),
    ]) {
      t.equal(answer.status, 503, backend)
      t.match(answer.headers['retry-after'], /^\d+$/)
      t.match(answer.body, { code: 'service_unavailable' })
      t.notMatch(answer.text, /127\.0\.0\.1|ECONNREFUSED|S3RVER/)
    }
    t.strictSame([await count(), (await test.call('GET', `${url}/audittrail`)).body.length], before)
    t.match(
      await test.call('GET', `${BASE}/readyz`),
      { status: 200, body: { status: 'degraded', checks: { storage: { status: 'degraded' } } } },
      'no other process would do better',
    )
    await t.rejects(checkStorage(test.parts), StoreUnavailable)
    await t.rejects(moveBytes(test.parts, 'filesystem'), StoreUnavailable)
    await server.start()
    if (backend === 's3_storage') {
      t.equal(await download(test, url), 'staat er')
      await until('ready again', async () => (await test.call('GET', `${BASE}/readyz`)).body.status === 'ok')
      await moveBytes(test.parts, 'filesystem')
      t.equal(await download(test, url), 'staat er')
    }
  }
})

for (const backend of ['s3_storage', 'azure_blob_storage'] as const) {
  t.test(`${backend}: an import brings its files there, and waits while the store is away`, async (t) => {
    const server = backend === 's3_storage' ? s3 : azure
    const test = await givenApp(t, backend, { IMPORT_DOCUMENTEN_BATCH_SIZE: '4' })
    const rows = []
    for (let i = 0; i < 10; i++) rows.push(goodRow(test.type, await givenFile(test, `map/${i}.txt`, `bestand ${i}`)))
    rows.push(goodRow(test.type, 'bestaat/niet.txt'))
    const uuid = await givenImport(test)
    await server.stop()
    t.equal((await test.call('POST', `${API}/${uuid}/upload`, csvText(rows))).status, 200)
    await test.runJobs()
    t.equal((await test.database.sql`select reason from import where uuid = ${uuid}`)[0]!.reason, 'Wacht op de opslag.')
    t.strictSame(await backends(test), [])
    await server.start()
    await test.database
      .sql`select reschedule_jobs(array_agg(id), run_at => now()) from jobs where task_identifier = 'import-batch'`
    await test.runJobs()
    const done = await outcome(test, uuid)
    t.match(done.status, { status: 'finished', processedSuccessfully: 10, processedInvalid: 1 })
    t.strictSame(new Set(await backends(test)), new Set([backend]))
    t.equal((await stored(test, backend)).length, 10)
    const documents = await test.database.sql<{ uuid: string }[]>`select uuid from enkelvoudiginformatieobject`
    const contents = await Promise.all(documents.map(({ uuid }) => download(test, `${DOCUMENTEN}/${uuid}`)))
    t.strictSame(
      contents.sort(),
      Array.from({ length: 10 }, (_, i) => `bestand ${i}`),
    )
  })
}

t.test('nothing of the keys shows, whatever is wrong with them', async (t) => {
  const secret = randomBytes(24).toString('base64url')
  const said: string[] = []
  const log = { error: (...words: unknown[]) => void said.push(JSON.stringify(words)) }
  const key = Buffer.from(secret.padEnd(64, 'x')).toString('base64')
  const wrong = {
    s3_storage: { ...s3.env, S3_ACCESS_KEY_ID: 'onbekend', S3_SECRET_ACCESS_KEY: secret },
    azure_blob_storage: {
      ...azure.env,
      AZURE_CONNECTION_STRING: azure.env.AZURE_CONNECTION_STRING!.replace(/AccountKey=[^;]*/, `AccountKey=${key}`),
    },
  }
  const { readConfig } = await import('../../src/config.ts')
  for (const [backend, env] of Object.entries(wrong)) {
    const { store } = openStores(readConfig({ ...env, DOCUMENTEN_API_BACKEND: backend }), log)
    for (let i = 0; i < 3; i++) {
      const error = await store.check().catch((error) => error)
      t.ok(error instanceof StoreUnavailable, backend)
      said.push(JSON.stringify(error), error.stack)
    }
    await t.rejects(store.read('a'), StoreUnavailable)
  }
  t.equal(said.filter((line) => line.includes('refuses us')).length, 2, 'once a minute for each')
  for (const line of said) t.notMatch(line, new RegExp(`${secret}|${key.replace(/[+/=]/g, '\\$&')}`))
})
