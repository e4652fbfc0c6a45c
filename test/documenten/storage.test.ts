// One suite for every backend: what the rest of the program may count on, wherever documents are.
// In a process of its own: it starts servers and measures its memory.
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import type { Backend } from '../../src/config/storage.ts'
import { readConfig } from '../../src/config.ts'
import { openStores } from '../../src/documenten/storage/choose.ts'
import { prepareFilesystemStore } from '../../src/documenten/storage/filesystem.ts'
import { newKey, type Store, StoreUnavailable, sweep } from '../../src/documenten/storage/index.ts'
import { givenAzure, givenS3 } from './storage-servers.ts'

async function* chunks(...parts: (string | Uint8Array)[]) {
  for (const part of parts) yield Buffer.from(part as string)
}

async function content(store: Store, key: string, range?: { start: number; end: number }) {
  const found = await store.read(key, range)
  return found && (await buffer(found.stream)).toString('latin1')
}

async function keys(store: Store, prefix?: string) {
  return (await Array.fromAsync(store.list(prefix))).map(({ key }) => key).sort()
}

t.setTimeout(580_000)

const root = mkdtempSync(path.join(tmpdir(), 'zaakstroom-'))
t.teardown(() => rmSync(root, { recursive: true, force: true }))
const [s3, azure] = await Promise.all([givenS3(t), givenAzure(t)])
let counter = 0

/** A store of its own; of the servers a prefix of its own. */
async function givenStorage(backend: Backend): Promise<Store> {
  const name = `opslag-${counter++}`
  const config = readConfig({
    ...s3.env,
    ...azure.env,
    DOCUMENTEN_API_BACKEND: backend,
    DOCUMENTEN_DIR: path.join(root, name),
    S3_LOCATION: `${name}/`,
    AZURE_LOCATION: name,
  })
  if (backend === 'filesystem') await prepareFilesystemStore(config.documentenDir)
  return openStores(config).store
}

for (const backend of ['filesystem', 's3_storage', 'azure_blob_storage'] as const) {
  t.test(`${backend}: what was written can be read, with its size and checksum`, async (t) => {
    const store = await givenStorage(backend)
    t.equal(store.backend, backend)
    // Smaller than a part, exactly one, exactly two, and two and a bit.
    for (const size of [300_000, 8 * 1024 ** 2, 16 * 1024 ** 2, 17_000_001]) {
      const bytes = randomBytes(size)
      const key = newKey()
      const source = chunks(bytes.subarray(0, 1), bytes.subarray(1, 250_000), bytes.subarray(250_000))
      t.strictSame(await store.write(key, source), {
        key,
        size: size,
        sha256: createHash('sha256').update(bytes).digest('hex'),
      })
      const found = await store.read(key)
      t.equal(found!.size, size)
      t.ok(bytes.equals(await buffer(found!.stream)))
      const [listed] = await Array.fromAsync(store.list(key))
      t.match(listed, { key, size: size })
    }
  })

  t.test(`${backend}: it is of who claimed it first, and its mark is no document`, async (t) => {
    const store = await givenStorage(backend)
    await store.check()
    t.equal(await store.owner(), undefined)
    await store.claim('een')
    await store.claim('twee')
    t.equal(await store.owner(), 'een')
    await store.check()
    t.equal(await store.owner(), 'een')
    t.strictSame(await keys(store), [])
  })

  t.test(`${backend}: an empty document is a document`, async (t) => {
    const store = await givenStorage(backend)
    t.equal((await store.write('leeg', chunks())).size, 0)
    t.equal(await content(store, 'leeg'), '')
    t.strictSame(await keys(store), ['leeg'])
  })

  t.test(`${backend}: names of any kind come back as they were`, async (t) => {
    const store = await givenStorage(backend)
    const names = ['map/een naam', "map/b+c&d=e%20f#g?'h", 'map/ëéñ 漢字', '2026/01/02/x~y.tar.gz']
    for (const name of names) t.equal((await store.write(name, chunks(name))).key, name)
    for (const name of names) t.equal(await content(store, name), Buffer.from(name).toString('latin1'))
    t.strictSame(await keys(store), [...names].sort())
    for (const name of names) await store.remove(name)
    t.strictSame(await keys(store), [])
  })

  t.test(
    `${backend}: a name that exists ${backend === 'filesystem' ? 'is overwritten' : 'stays, and the new bytes get a suffix'}`,
    async (t) => {
      const store = await givenStorage(backend)
      const first = await store.write('map/a.pdf', chunks('een langere tekst'))
      const second = await store.write('map/a.pdf', chunks('kort'))
      t.equal(first.key, 'map/a.pdf')
      t.equal(await content(store, second.key), 'kort')
      if (backend === 'filesystem') return t.equal(second.key, 'map/a.pdf')
      t.match(second.key, /^map\/a_[a-z0-9]{7}\.pdf$/)
      t.equal(await content(store, 'map/a.pdf'), 'een langere tekst')
      t.match((await store.write('kaal', chunks('1'))).key, /^kaal$/)
      t.match((await store.write('kaal', chunks('2'))).key, /^kaal_[a-z0-9]{7}$/)
    },
  )

  t.test(`${backend}: nothing is visible under a key until all bytes are there`, async (t) => {
    const store = await givenStorage(backend)
    const asked = Promise.withResolvers<void>()
    const last = Promise.withResolvers<void>()
    const writing = store.write(
      'a/b',
      (async function* () {
        for (let i = 0; i < 20; i++) yield Buffer.alloc(1024 ** 2, 'x') // two parts are under way
        asked.resolve()
        await last.promise
        yield Buffer.from('laatste')
      })(),
    )
    await asked.promise
    t.equal(await store.read('a/b'), undefined)
    t.strictSame(await keys(store), [])
    last.resolve()
    t.equal((await writing).size, 20 * 1024 ** 2 + 7)
    t.equal(await content(store, 'a/b', { start: 20 * 1024 ** 2, end: 20 * 1024 ** 2 + 6 }), 'laatste')
  })

  t.test(`${backend}: an error of the source comes out unchanged and leaves nothing`, async (t) => {
    const store = await givenStorage(backend)
    const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET', syscall: 'read' })
    for (const megabytes of [0, 20]) {
      const broken = async function* () {
        yield Buffer.from('half')
        for (let i = 0; i < megabytes; i++) yield Buffer.alloc(1024 ** 2)
        throw reset
      }
      t.equal(await store.write('nieuw', broken()).catch((error) => error), reset)
    }
    t.equal(await store.read('nieuw'), undefined)
    t.strictSame(await keys(store), [])
  })

  t.test(`${backend}: a signal ends a write whose source is silent`, async (t) => {
    const store = await givenStorage(backend)
    const abort = new AbortController()
    const silent = async function* () {
      yield Buffer.from('half')
      setImmediate(() => abort.abort(new Error('weg')))
      await new Promise(() => {})
    }
    await t.rejects(store.write('a', silent(), { signal: abort.signal }), { message: 'weg' })
    await t.rejects(store.write('a', chunks('x'), { signal: abort.signal }), { message: 'weg' })
    t.strictSame(await keys(store), [])
  })

  t.test(`${backend}: ranges give the bytes asked for and the size of the whole`, async (t) => {
    const store = await givenStorage(backend)
    await store.write('a', chunks('0123456789'))
    for (const [start, end, expected] of [
      [0, backend === 's3_storage' ? 1 : 0, backend === 's3_storage' ? '01' : '0'], // this server takes 0-0 for all
      [3, 5, '345'],
      [9, 9, '9'],
      [0, 9, '0123456789'],
      [8, 100, '89'],
      [10, 12, ''],
    ] as const) {
      t.equal(await content(store, 'a', { start, end }), expected)
    }
    const found = await store.read('a', { start: 2, end: 3 })
    t.equal(found!.size, 10)
    found!.stream.destroy()
  })

  t.test(`${backend}: what is absent is undefined to read and no error to remove`, async (t) => {
    const store = await givenStorage(backend)
    await store.write('map/a', chunks('a'))
    for (const key of ['b', 'map', 'map/a/b', 'x/y/z']) t.equal(await store.read(key), undefined, key)
    await store.remove('b')
    await store.remove('map/a')
    await store.remove('map/a')
    t.equal(await store.read('map/a'), undefined)
  })

  t.test(`${backend}: list takes a prefix, and goes on after the first thousand`, async (t) => {
    const store = await givenStorage(backend)
    for (const key of ['2026/01/a', '2026/01/ab', '2026/02/b', 'x']) await store.write(key, chunks(key))
    t.strictSame(await keys(store), ['2026/01/a', '2026/01/ab', '2026/02/b', 'x'])
    t.strictSame(await keys(store, '2026/01/'), ['2026/01/a', '2026/01/ab'])
    t.strictSame(await keys(store, '2026/01/ab'), ['2026/01/ab'])
    t.strictSame(await keys(store, '2026/0'), ['2026/01/a', '2026/01/ab', '2026/02/b'])
    t.strictSame(await keys(store, '2027/01/'), [])
    const many = Array.from({ length: 1003 }, (_, i) => `veel/${String(i).padStart(4, '0')}`)
    for (let i = 0; i < many.length; i += 20)
      await Promise.all(many.slice(i, i + 20).map((key) => store.write(key, chunks('x'))))
    t.strictSame(await keys(store, 'veel/'), many)
  })

  t.test(`${backend}: bad keys are refused`, async (t) => {
    const store = await givenStorage(backend)
    for (const key of ['', '/a', '../a', 'a/../../b', './a', 'a//b', 'a/', '.zaakstroom', 'a\\b', 'a\nb']) {
      await t.rejects(store.write(key, chunks('x')), { message: 'not a storage key' }, JSON.stringify(key))
      await t.rejects(store.read(key), { message: 'not a storage key' })
      await t.rejects(store.remove(key), { message: 'not a storage key' })
    }
    t.strictSame(await keys(store), [])
  })

  t.test(`${backend}: check leaves nothing behind that shows`, async (t) => {
    const store = await givenStorage(backend)
    await store.check()
    await store.check()
    t.strictSame(await keys(store), [])
  })

  t.test(`${backend}: many writes at once all succeed`, async (t) => {
    const store = await givenStorage(backend)
    const written = Array.from({ length: 40 }, (_, i) => `2026/0${(i % 4) + 1}/${i % 10}/${i}`)
    await Promise.all(written.map((key) => store.write(key, chunks(key))))
    t.strictSame(await keys(store), written.sort())
  })

  t.test(`${backend}: a sweep removes only old keys of our making that no document knows`, async (t) => {
    const store = await givenStorage(backend)
    const given = async (key: string) => (await store.write(key, chunks(key))).key
    const known = await Promise.all([1, 2, 3].map(() => given(newKey())))
    const unknown = await Promise.all([1, 2, 3, 4].map(() => given(newKey())))
    unknown.push(await given(`${newKey()}/7`))
    const foreign = await given('anders/iemands-bestand.pdf')
    const options = { known: async () => new Set(known), batch: 3 }
    const none = async () => new Set<string>()
    t.equal((await sweep(store, { ...options, ripe: none })).removed, 0, 'too young')
    const all = async (names: string[]) => new Set(names)
    t.match(await sweep(store, { ...options, ripe: all }), { seen: 9, removed: 5 })
    t.strictSame(await keys(store), [...known, foreign].sort())
  })

  t.test(`${backend}: a document of 200 MB passes through little memory`, async (t) => {
    const store = await givenStorage(backend)
    const block = randomBytes(1024 ** 2)
    const before = process.memoryUsage().rss
    let highest = 0
    const measured = async function* () {
      for (let i = 0; i < 200; i++) {
        yield block
        highest = Math.max(highest, process.memoryUsage().rss)
      }
    }
    t.equal((await store.write('groot', measured())).size, 200 * 1024 ** 2)
    const found = await store.read('groot')
    let read = 0
    for await (const chunk of found!.stream) {
      read += chunk.length
      highest = Math.max(highest, process.memoryUsage().rss)
    }
    t.equal(read, 200 * 1024 ** 2)
    t.ok(highest - before < 150 * 1024 ** 2, `${Math.round((highest - before) / 1024 ** 2)} MB`)
    await store.remove('groot')
  })
}

t.test('a server that is away makes everything unavailable, in bounded time and without its address', async (t) => {
  await Promise.all([s3.stop(), azure.stop()])
  for (const backend of ['s3_storage', 'azure_blob_storage'] as const) {
    const store = await givenStorage(backend)
    const all = [
      store.write('a', chunks('x')),
      store.read('a'),
      store.remove('a'),
      Array.fromAsync(store.list()),
      store.check(),
      sweep(store, { known: async () => new Set(), ripe: async () => new Set() }),
    ]
    for (const result of await Promise.allSettled(all)) {
      t.ok(result.status === 'rejected' && result.reason instanceof StoreUnavailable, backend)
      t.equal((result as PromiseRejectedResult).reason.message, 'document storage is unavailable: ECONNREFUSED')
      t.equal((result as PromiseRejectedResult).reason.cause, undefined)
    }
  }
})
