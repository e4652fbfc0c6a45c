// In a process of its own: it mounts, and traces system calls.
import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { filesystemLayout, filesystemStore, prepareFilesystemStore } from '../../src/documenten/storage/filesystem.ts'
import { newKey, type Store, StoreUnavailable, sweep } from '../../src/documenten/storage/index.ts'

type Test = { teardown(work: () => void): void }

async function givenStorage(t: Test): Promise<{ root: string; store: Store }> {
  const root = path.join(givenDir(t), 'opslag')
  await prepareFilesystemStore(root)
  return { root, store: filesystemStore(root) }
}

function givenDir(t: Test): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'zaakstroom-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

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

const temps = (root: string) => readdirSync(path.join(root, '.tmp'))

t.test('what was written can be read, with its size and checksum', async (t) => {
  const { root, store } = await givenStorage(t)
  const bytes = randomBytes(300_000)
  const key = newKey(new Date('2026-03-09T23:59:59Z'))
  t.match(key, /^2026\/03\/09\/[0-9a-f-]{36}$/)
  t.strictSame(await store.write(key, chunks(bytes.subarray(0, 1), bytes.subarray(1))), {
    key,
    size: 300_000,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  })
  const found = await store.read(key)
  t.equal(found!.size, 300_000)
  t.ok(bytes.equals(await buffer(found!.stream)))
  t.strictSame(await keys(store), [key])
  t.strictSame(temps(root), [])
  t.equal(statSync(path.join(root, key)).mode & 0o777 & ~0o640, 0, 'others may not read the file')
  t.equal(statSync(path.join(root, '2026/03')).mode & 0o777 & ~0o750, 0, 'others may not enter the directory')
})

t.test('nothing is visible under a key until all bytes are there', async (t) => {
  const { root, store } = await givenStorage(t)
  const last = Promise.withResolvers<void>()
  const first = Promise.withResolvers<void>()
  const writing = store.write(
    'a/b',
    (async function* () {
      yield Buffer.from('eerste ')
      first.resolve() // asked for more: the first chunk has been written
      await last.promise
      yield Buffer.from('laatste')
    })(),
  )
  await first.promise
  t.equal(temps(root).length, 1)
  t.equal(readFileSync(path.join(root, '.tmp', temps(root)[0]!), 'utf8'), 'eerste ')
  t.equal(await store.read('a/b'), undefined)
  t.strictSame(await keys(store), [])
  last.resolve()
  await writing
  t.equal(await content(store, 'a/b'), 'eerste laatste')
  t.strictSame(temps(root), [])
})

t.test('an error of the source comes out unchanged and leaves nothing, also where a document was', async (t) => {
  const { root, store } = await givenStorage(t)
  const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET', syscall: 'read' })
  await store.write('oud', chunks('oud'))
  for (const key of ['oud', 'nieuw']) {
    const broken = async function* () {
      yield Buffer.from('half')
      throw reset
    }
    t.equal(await store.write(key, broken()).catch((error) => error), reset)
  }
  t.equal(await content(store, 'oud'), 'oud')
  t.equal(await store.read('nieuw'), undefined)
  t.strictSame(temps(root), [])
})

t.test('a signal ends a write whose source is silent', async (t) => {
  const { root, store } = await givenStorage(t)
  const abort = new AbortController()
  const silent = async function* () {
    yield Buffer.from('half')
    setImmediate(() => abort.abort(new Error('weg')))
    await new Promise(() => {})
  }
  await t.rejects(store.write('a', silent(), { signal: abort.signal }), { message: 'weg' })
  t.strictSame(temps(root), [])
  await t.rejects(store.write('a', chunks('x'), { signal: abort.signal }), { message: 'weg' })
  t.strictSame(await keys(store), [])
})

t.test('a key that exists is overwritten', async (t) => {
  const { store } = await givenStorage(t)
  await store.write('a', chunks('een langere tekst'))
  await store.write('a', chunks('kort'))
  t.equal(await content(store, 'a'), 'kort')
  t.strictSame(await keys(store), ['a'])
})

t.test('keys that could leave the store or touch its administration are refused', async (t) => {
  const { root, store } = await givenStorage(t)
  const bad = [
    '',
    '/a',
    '../a',
    'a/../../b',
    'a/..',
    './a',
    'a//b',
    'a/',
    '.zaakstroom',
    '.tmp/a',
    'a\\b',
    'a\0b',
    'a\nb',
    'a'.repeat(2000),
  ]
  for (const key of bad) {
    await t.rejects(store.write(key, chunks('x')), { message: 'not a storage key' }, JSON.stringify(key))
    await t.rejects(store.read(key), { message: 'not a storage key' })
    await t.rejects(store.remove(key), { message: 'not a storage key' })
  }
  t.strictSame(readdirSync(root).sort(), ['.tmp', '.zaakstroom'])
})

t.test('an unmounted store is unavailable for everything and is not filled', async (t) => {
  const { root, store } = await givenStorage(t)
  await store.write('a', chunks('x'))
  rmSync(root, { recursive: true })
  mkdirSync(root) // the mount point without its file system
  await everythingIsUnavailable()
  t.strictSame(readdirSync(root), [])
  rmSync(root, { recursive: true })
  await everythingIsUnavailable()
  t.notOk(existsSync(root), 'the root is not made again')

  async function everythingIsUnavailable() {
    const all = [
      store.write('a', chunks('x')),
      store.write('2026/01/02/b', chunks('x')),
      store.read('a'),
      store.remove('a'),
      Array.fromAsync(store.list()),
      Array.fromAsync(store.unfinished()),
      store.removeUnfinished('x'),
      store.check(),
      sweep(store, { known: async () => new Set(), ripe: async () => new Set() }),
    ]
    for (const result of await Promise.allSettled(all)) {
      t.ok(result.status === 'rejected' && result.reason instanceof StoreUnavailable)
      t.notMatch(String((result as PromiseRejectedResult).reason.message), root, 'no path in the message')
    }
  }
})

t.test('preparing twice is harmless, and a lost directory for temporary files comes back', async (t) => {
  const { root, store } = await givenStorage(t)
  await store.write('a', chunks('x'))
  await Promise.all([prepareFilesystemStore(root), prepareFilesystemStore(root)])
  rmSync(path.join(root, '.tmp'), { recursive: true })
  await store.check()
  await store.write('b', chunks('y'))
  t.strictSame(await keys(store), ['a', 'b'])
  t.strictSame(temps(root), [])
})

t.test('a directory that was removed meanwhile is made again', async (t) => {
  const { root, store } = await givenStorage(t)
  await store.write('2026/01/02/a', chunks('x'))
  rmSync(path.join(root, '2026'), { recursive: true })
  await store.write('2026/01/02/b', chunks('y'))
  t.strictSame(await keys(store), ['2026/01/02/b'])
})

t.test('many writes at once into new directories all succeed', async (t) => {
  const { root, store } = await givenStorage(t)
  const other = filesystemStore(root) // as another process would
  const written = Array.from({ length: 40 }, (_, i) => `2026/0${(i % 4) + 1}/${i % 10}/${i}`)
  await Promise.all(written.map((key, i) => (i % 2 ? store : other).write(key, chunks(key))))
  t.strictSame(await keys(store), written.sort())
})

t.test('a sweep removes only old keys of our making that no document knows, and stale temporary files', async (t) => {
  const { root, store } = await givenStorage(t)
  const old = new Date('2026-01-01')
  async function given(key: string) {
    await store.write(key, chunks(key))
    return key
  }
  const known = await Promise.all([1, 2, 3].map(() => given(newKey(old))))
  const unknown = await Promise.all([1, 2, 3, 4].map(() => given(newKey(old))))
  unknown.push(await given(`${newKey(old)}/7`))
  const young = await given(newKey())
  const foreign = await given('anders/iemands-bestand.pdf')
  writeFileSync(path.join(root, '.tmp/stale'), 'x')
  writeFileSync(path.join(root, '.tmp/busy'), 'x')

  const asked: string[][] = []
  const result = await sweep(store, {
    ripe: async (names) => new Set(names.filter((name) => name !== young && name !== 'busy')),
    known: async (keys) => {
      asked.push(keys)
      return new Set(known)
    },
    batch: 3,
  })
  t.strictSame(result, { seen: 10, removed: 5, unfinished: 1 })
  t.strictSame(await keys(store), [...known, young, foreign].sort())
  t.strictSame(temps(root), ['busy'])
  t.strictSame(asked.flat().sort(), [...known, ...unknown, young].sort(), 'only candidates are asked for')
  t.ok(asked.every((keys) => keys.length <= 3))
})

t.test('check leaves nothing behind', async (t) => {
  const { root, store } = await givenStorage(t)
  await store.check()
  t.strictSame(readdirSync(root).sort(), ['.tmp', '.zaakstroom'])
  t.strictSame(temps(root), [])
})

const OPSLAG = new URL('../../src/documenten/storage/filesystem.ts', import.meta.url).href
const KOPIEER = new URL('../../src/documenten/import/copy.ts', import.meta.url).href

/** Runs a module in a process of its own, behind the given command. `argv[1]` on are the arguments. */
function run(before: string[], module: string, args: string[]) {
  const [command, ...rest] = [...before, process.execPath, '--input-type=module', '-e', module, ...args]
  return spawnSync(command!, rest, { encoding: 'utf8', timeout: 60_000 })
}

/** A small file system of its own that exists only for the process. */
const smallStore = (dir: string) => [
  'unshare',
  process.getuid?.() === 0 ? '-m' : '-Urm',
  'sh',
  '-c',
  `mount -t tmpfs -o size=1m none '${dir}' && exec "$@"`,
  'sh',
]
const mountable = mkdtempSync(path.join(tmpdir(), 'zaakstroom-'))
const noMount = run(smallStore(mountable), '', []).status === 0 ? false : 'needs to mount a file system'
rmSync(mountable, { recursive: true })

t.test('a full store is unavailable, and nothing stays of what did not fit', { skip: noMount }, async (t) => {
  const dir = givenDir(t)
  const base = givenDir(t)
  for (let i = 0; i < 100; i++) writeFileSync(path.join(base, `${i}`), randomBytes(30_000))
  const module = `
    import { readdirSync } from 'node:fs'
    import { filesystemLayout, filesystemStore, prepareFilesystemStore } from '${OPSLAG}'
    import { copyPool, copyToStore } from '${KOPIEER}'
    const [, root, baseDir] = process.argv
    await prepareFilesystemStore(root)
    const opslag = filesystemStore(root)
    async function* endless() { while (true) yield Buffer.alloc(65536) }
    const left = async () => [await Array.fromAsync(opslag.list()), readdirSync(root + '/.tmp')].flat().length
    const outcome = async (work) => [await work.then(() => 'done', (error) => error.name + ' ' + error.code), await left()]
    const files = (n) => Array.from({ length: n }, (_, i) => ({ nummer: i, bestandspad: String(i), key: 'm/' + i }))
    const pool = copyPool({ baseDir, opslagRoot: root })
    const out = { write: await outcome(opslag.write('a', endless())), pool: await outcome(pool.copyFiles(files(100))) }
    out.streams = (await outcome(copyToStore(opslag, baseDir, files(100))))[0]
    for (const { key } of files(100)) await opslag.remove(key)
    out.after = await outcome(pool.copyFiles(files(5)))
    await pool.stop()
    console.log(JSON.stringify(out))`
  const { stdout, stderr } = run(smallStore(dir), module, [dir, base])
  t.equal(stderr, '')
  t.strictSame(JSON.parse(stdout), {
    write: ['StoreUnavailable ENOSPC', 0],
    pool: ['StoreUnavailable ENOSPC', 0],
    streams: 'StoreUnavailable ENOSPC',
    after: ['done', 5],
  })
})

t.test('a read-only store is unavailable for writing and still gives what it has', { skip: noMount }, async (t) => {
  const dir = givenDir(t)
  const base = givenDir(t)
  writeFileSync(path.join(base, 'a'), 'x')
  const module = `
    import { execFileSync } from 'node:child_process'
    import { text } from 'node:stream/consumers'
    import { filesystemLayout, filesystemStore, prepareFilesystemStore } from '${OPSLAG}'
    import { copyPool } from '${KOPIEER}'
    const [, root, baseDir] = process.argv
    await prepareFilesystemStore(root)
    const opslag = filesystemStore(root)
    await opslag.write('a', [Buffer.from('inhoud')])
    execFileSync('mount', ['-o', 'remount,bind,ro', root])
    const code = (work) => work.then(() => 'done', (error) => error.name + ' ' + error.code)
    const pool = copyPool({ baseDir, opslagRoot: root })
    console.log(JSON.stringify([
      await code(opslag.check()), await code(opslag.write('b', [])), await code(opslag.remove('a')),
      await code(pool.copyFiles([{ nummer: 1, bestandspad: 'a', key: 'c' }])),
      await text((await opslag.read('a')).stream),
    ]))
    await pool.stop()`
  const { stdout, stderr } = run(smallStore(dir), module, [dir, base])
  t.equal(stderr, '')
  t.strictSame(JSON.parse(stdout), [...Array(4).fill('StoreUnavailable EROFS'), 'inhoud'])
})

const noTrace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0 ? false : 'needs strace'

t.test(
  'bytes are synced before the name appears, and the name before the call returns',
  { skip: noTrace },
  async (t) => {
    const { root } = await givenStorage(t)
    const base = givenDir(t)
    for (const name of ['a', 'b', 'c']) writeFileSync(path.join(base, name), name)
    const module = `
    import { accessSync } from 'node:fs'
    import { filesystemStore } from '${OPSLAG}'
    import { copyPool } from '${KOPIEER}'
    const [, root, baseDir] = process.argv
    const returned = (what) => { try { accessSync('/returned/' + what) } catch {} }
    await filesystemStore(root).write('2026/01/02/stream', [Buffer.from('x')])
    returned('stream')
    const pool = copyPool({ baseDir, opslagRoot: root })
    await pool.copyFiles(['a', 'b', 'c'].map((naam, nummer) => ({ nummer, bestandspad: naam, key: '2026/03/04/' + naam })))
    returned('pool')
    await pool.stop()`
    const trace = path.join(base, 'trace')
    const strace = [
      'strace',
      '-f',
      '-y',
      '-s',
      '300',
      '-o',
      trace,
      '-e',
      'trace=fsync,rename,access,faccessat,faccessat2',
    ]
    t.equal(run(strace, module, [root, base]).stderr, '')
    const calls = readFileSync(trace, 'utf8')
      .split('\n')
      .flatMap((line) => {
        const [, call, rest] = /^\d+ +(fsync|rename|f?access\w*)\((.*)/.exec(line) ?? []
        return call && rest!.includes('zaakstroom-') ? [`${call} ${rest}`] : line.includes('/returned/') ? [line] : []
      })
    const at = (...words: string[]) => calls.findIndex((line) => words.every((word) => line.includes(word)))
    const written = (name: string, dir: string, returned: string) => {
      const renamed = at('rename', `${root}/${dir}/${name}"`)
      const temp = /"([^"]*\.tmp\/[^"]*)"/.exec(calls[renamed] ?? '')?.[1]
      t.ok(at('fsync', `<${temp}>`) >= 0 && at('fsync', `<${temp}>`) < renamed, `${name} is synced, then renamed`)
      const synced = calls.findLastIndex((line) => line.startsWith('fsync') && line.includes(`<${root}/${dir}>`))
      t.ok(renamed < synced && synced < at(`/returned/${returned}`), `${name}: its directory is synced, then told`)
      const above = at('fsync', `<${root}/2026>`)
      t.ok(above >= 0 && above < synced, 'and so are the directories above')
    }
    written('stream', '2026/01/02', 'stream')
    for (const name of ['a', 'b', 'c']) written(name, '2026/03/04', 'pool')
    t.equal(
      calls.filter((line) => line.startsWith('fsync') && line.includes(`<${root}/2026/03/04>`)).length,
      1,
      'once per call',
    )
  },
)

t.test(
  'files of a group are synced side by side, so that the disk is flushed once for many',
  { skip: noTrace },
  async (t) => {
    const { root } = await givenStorage(t)
    const base = givenDir(t)
    for (let i = 0; i < 40; i++) writeFileSync(path.join(base, String(i)), String(i))
    const module = `
    import { copyPool } from '${KOPIEER}'
    const [, root, baseDir] = process.argv
    const pool = copyPool({ baseDir, opslagRoot: root })
    await pool.copyFiles(Array.from({ length: 40 }, (_, i) => ({ nummer: i, bestandspad: String(i), key: 'm/' + i })))
    await pool.stop()`
    const trace = path.join(base, 'trace')
    const strace = ['strace', '-f', '-y', '-s', '300', '-o', trace, '-e', 'trace=fsync']
    t.equal(run(strace, module, [root, base]).stderr, '')
    const threads = readFileSync(trace, 'utf8')
      .split('\n')
      .flatMap((line) => /^(\d+) +fsync\(.*\.tmp\//.exec(line)?.[1] ?? [])
    t.equal(threads.length, 40, 'each file by itself')
    t.ok(new Set(threads).size > 1, 'by several threads')
  },
)

t.test('what lands in a file system that was mounted over the store is not said to be stored', async (t) => {
  const { root } = await givenStorage(t)
  const layout = filesystemLayout(root)
  const write = async (key: string) => {
    const temp = layout.newTemp()
    closeSync(await layout.openTemp(temp))
    await layout.place([{ temp, key: key }])
  }
  await layout.requireMarker()
  await t.resolves(write('2026/01/01/first'))

  await layout.requireMarker()
  renameSync(root, `${root}-below`) // as after a mount: another directory at the same path
  mkdirSync(path.join(root, '.tmp'), { recursive: true })
  await t.rejects(write('2026/01/01/second'), StoreUnavailable)
  t.ok(existsSync(path.join(root, '2026/01/01/second')), 'it was written, to where it will be lost')
})
