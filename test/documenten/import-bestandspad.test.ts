import { execFileSync, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { crc32 } from 'node:zlib'
import t from 'tap'
import { beneath, beneathByRealPath, checkBaseDir, checkPath } from '../../src/documenten/import/bestandspad.ts'
import { copyPool, copyToStore, writePlaces } from '../../src/documenten/import/copy.ts'
import type { Copied, FileToCopy } from '../../src/documenten/import/source-file.ts'
import { filesystemStore, prepareFilesystemStore } from '../../src/documenten/storage/filesystem.ts'
import { type Store, StoreUnavailable } from '../../src/documenten/storage/index.ts'

type Test = { teardown(work: () => unknown): void }

function givenDir(t: Test): string {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'zaakstroom-')))
  chmodSync(dir, 0o755)
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

function put(dir: string, file: string, content: string | Uint8Array = file): void {
  mkdirSync(path.dirname(path.join(dir, file)), { recursive: true })
  writeFileSync(path.join(dir, file), content)
}

async function givenStore(t: Test) {
  const base = givenDir(t)
  const root = path.join(givenDir(t), 'opslag')
  await prepareFilesystemStore(root)
  const store = filesystemStore(root)
  const pool = copyPool({ baseDir: base, opslagRoot: root })
  t.teardown(() => pool.stop())
  return { base, root, store, pool }
}

const stored = (root: string, key: string) => readFileSync(path.join(root, key))
const temps = (root: string) => readdirSync(path.join(root, '.tmp'))
const keys = async (store: Store) => (await Array.fromAsync(store.list())).map(({ key }) => key).sort()
const outcome = (result: Copied) => ('fout' in result ? result.fout.code : 'gekopieerd')
const one = (bestandspad: string): FileToCopy[] => [{ number: 1, bestandspad, key: 'map/1' }]

/** Reads the file as the import would; a refusal is its code. */
function readBeneath(base: string, pad: string): string {
  const source = beneath(base)
  const opened = source.open(pad)
  source.close()
  if ('fout' in opened) return opened.fout.code
  try {
    return readFileSync(opened.fd, 'utf8')
  } finally {
    closeSync(opened.fd)
  }
}

// ---- the path as text ----

const REFUSED: Record<string, string[]> = {
  'path-empty': [''],
  'path-absolute': [
    '/x',
    '/',
    '//x',
    '/../x',
    '\\x',
    '\\\\host\\share',
    '//host/x',
    'C:\\x',
    'c:/x',
    'C:',
    '\\\\?\\C:\\x',
  ],
  'path-parent': ['..', '../x', 'a/..', 'a/../b', 'a/b/../../c', '..\\x', 'a\\..\\b', 'a/..\\b', './../x', 'a//../x'],
  'path-backslash': ['a\\b', 'a\\', 'map/a\\b.pdf'],
  'path-character': ['a\0', '\0', 'a\nb', 'a\tb', 'a\rb', 'a\x7f', 'a\x1b[0m', 'a\u0085b', 'a\ud800', '\udc00/b'],
  'path-empty-segment': ['a//b', 'a/', 'a/b/', './'],
  'path-too-long': ['a'.repeat(256), 'é'.repeat(128), `map/${'a'.repeat(256)}/b`, `${'abc/'.repeat(1100)}a`],
}

t.test('a path that could lead outside is refused as text, before any file is looked at', async (t) => {
  const source = beneath(givenDir(t))
  t.teardown(() => source.close())
  for (const [code, paths] of Object.entries(REFUSED)) {
    for (const pad of paths) {
      const fout = checkPath(pad)
      t.equal(fout?.code, code, JSON.stringify(pad.slice(0, 40)))
      t.match(fout?.text, /^(Er is|Het (pad|bestand)) .*\.$/)
      t.strictSame(source.open(pad), { fout })
    }
  }
  t.throws(() => beneath('/no/such/base'), StoreUnavailable)
})

t.test('names that only look dangerous are names', async (t) => {
  const base = givenDir(t)
  const names = [
    'a',
    'map/b.pdf',
    'map/diep/er/c',
    '..a',
    'a..',
    'a..b',
    '...',
    '.verborgen',
    'met spatie .pdf',
    ' ',
    'eind.',
    'eind ',
    '%2e%2e',
    '%2fetc%2fpasswd',
    '~',
    '~root',
    'C:x',
    '$HOME',
    '*',
    "'; rm -rf",
    'Ä'.normalize('NFC'),
    'Ä'.normalize('NFD'),
    'naam',
    'NAAM',
    '\u202egnp.exe',
    '日本',
    '👍.pdf',
    'a'.repeat(255),
    '-rf',
    'nul',
  ]
  for (const name of names) put(base, name)
  for (const name of names) t.equal(readBeneath(base, name), name, name.slice(0, 40))
  t.equal(readBeneath(base, './map/./b.pdf'), 'map/b.pdf')
  for (const name of names) t.equal(checkPath(name), undefined)
})

t.test('a path of the greatest length can be opened', async (t) => {
  const base = givenDir(t)
  const directory = 'b'.repeat(250)
  let pad = ''
  for (let i = 0; i < 16; i++) pad += `${directory}/`
  pad += 'c'.repeat(4096 - Buffer.byteLength(pad))
  // Too long for the system to make in one go.
  const made = spawnSync(
    'sh',
    [
      '-c',
      `for i in $(seq 16); do mkdir ${directory} && cd ${directory} || exit 1; done; printf diep > "$1"`,
      'sh',
      path.basename(pad),
    ],
    { cwd: base },
  )
  t.equal(made.status, 0)
  if (process.platform === 'linux') t.equal(readBeneath(base, pad), 'diep')
  execFileSync('rm', ['-rf', path.join(base, directory)])
})

// ---- opening ----

for (const [way, open] of Object.entries({ 'by handle': beneath, 'by real path': beneathByRealPath })) {
  t.test(`what is not a regular file beneath the base is refused (${way})`, async (t) => {
    const outside = givenDir(t)
    put(outside, 'geheim', 'geheim')
    const base = givenDir(t)
    put(base, 'map/goed')
    put(base, 'bestand')
    symlinkSync(path.join(outside, 'geheim'), path.join(base, 'naar-geheim'))
    symlinkSync(outside, path.join(base, 'naar-buiten'))
    symlinkSync('bestand', path.join(base, 'naar-binnen'))
    symlinkSync('map', path.join(base, 'naar-map'))
    symlinkSync('lus', path.join(base, 'lus'))
    symlinkSync('nergens', path.join(base, 'naar-niets'))
    symlinkSync('/dev/null', path.join(base, 'naar-apparaat'))
    symlinkSync('..', path.join(base, 'map/omhoog'))
    execFileSync('mkfifo', [path.join(base, 'fifo'), path.join(base, 'map/fifo')])
    const server = createServer().listen(path.join(base, 'socket'))
    await once(server, 'listening')
    t.teardown(() => server.close())

    const expected: Record<string, string> = {
      'naar-geheim': 'file-symlink',
      'naar-buiten/geheim': 'file-symlink',
      'naar-buiten': 'file-symlink',
      'naar-binnen': 'file-symlink',
      'naar-map/goed': 'file-symlink',
      'map/omhoog/bestand': 'file-symlink',
      'naar-apparaat': 'file-symlink',
      fifo: 'file-not-regular',
      'map/fifo': 'file-not-regular',
      socket: 'file-not-regular',
      map: 'file-not-regular',
      '.': 'file-not-regular',
      './.': 'file-not-regular',
      'map/.': 'file-not-regular',
      weg: 'file-not-found',
      'weg/weg': 'file-not-found',
      'map/weg': 'file-not-found',
      'bestand/x': 'file-not-found',
      'fifo/x': 'file-not-found',
      'naar-buiten/weg': way === 'by handle' ? 'file-symlink' : 'file-not-found',
      lus: 'file-symlink',
      'naar-niets': way === 'by handle' ? 'file-symlink' : 'file-not-found',
    }
    const source = open(base)
    t.teardown(() => source.close())
    for (const [pad, code] of Object.entries(expected)) {
      const opened = source.open(pad)
      t.ok('fout' in opened && opened.fout.code === code, `${pad}: ${code}, got ${JSON.stringify(opened)}`)
      t.notMatch(JSON.stringify(opened), base, 'without the path on the server')
    }
    for (const [code, paths] of Object.entries(REFUSED)) {
      for (const pad of paths) t.match(source.open(pad), { fout: { code } })
    }
    for (const pad of ['bestand', 'map/goed']) {
      const opened = source.open(pad)
      t.match(opened, { size: pad.length })
      if ('fd' in opened) closeSync(opened.fd)
    }
    const hard = () => linkSync(path.join(outside, 'geheim'), path.join(base, 'hard'))
    t.doesNotThrow(hard)
    const opened = source.open('hard')
    t.match(opened, { size: 6 }, 'a hard link cannot be told from a file: the documented limit')
    if ('fd' in opened) closeSync(opened.fd)
  })
}

t.test('a device is refused', async (t) => {
  const base = givenDir(t)
  const made = spawnSync('mknod', [path.join(base, 'nul'), 'c', '1', '3']).status === 0
  if (!made) return void t.comment('only root may make a device')
  t.equal(readBeneath(base, 'nul'), 'file-not-regular')
})

t.test('a file that may not be read is refused', async (t) => {
  const base = givenDir(t)
  put(base, 'dicht')
  put(base, 'map/x')
  chmodSync(path.join(base, 'dicht'), 0)
  chmodSync(path.join(base, 'map'), 0)
  const root = process.geteuid!() === 0
  try {
    if (root) process.seteuid!(65534) // root may read everything
    t.equal(readBeneath(base, 'dicht'), 'file-unreadable')
    t.equal(readBeneath(base, 'map/x'), 'file-unreadable')
  } finally {
    if (root) process.seteuid!(0)
    chmodSync(path.join(base, 'map'), 0o755)
  }
})

t.test('handles are closed, and those of directories are not kept without end', async (t) => {
  const base = givenDir(t)
  for (let i = 0; i < 300; i++) put(base, `${i}/a`)
  const count = () => readdirSync('/dev/fd').length
  const before = count()
  const source = beneath(base)
  for (let i = 0; i < 300; i++) {
    const opened = source.open(`${i}/a`)
    if ('fd' in opened) closeSync(opened.fd)
    else t.fail('not opened')
    for (const pad of [`${i}/weg`, `${i}`]) t.ok('fout' in source.open(pad))
  }
  t.ok(count() < before + 150)
  source.close()
  t.equal(count(), before)
})

t.test('running out of handles is no fault of a row', async (t) => {
  const base = givenDir(t)
  put(base, 'map/a')
  const module = `
    import { closeSync, openSync } from 'node:fs'
    import { beneath } from '${new URL('../../src/documenten/import/bestandspad.ts', import.meta.url).href}'
    const open = []
    try { while (true) open.push(openSync('/dev/null')) } catch {}
    const outcomes = []
    for (let free = 0; free < 4; free++) { // base, directory and file need one each
      let source
      try { source = beneath(process.argv[1]); closeSync(source.open('map/a').fd); outcomes.push('open') }
      catch (error) { outcomes.push(error.code) }
      finally { source?.close() }
      closeSync(open.pop())
    }
    console.log(outcomes.join())`
  const command = ['ulimit -n 200 && exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', module, base]
  const { stdout, stderr } = spawnSync('sh', ['-c', ...command], { encoding: 'utf8', timeout: 60_000 })
  t.equal(stderr, '')
  t.equal(stdout, 'EMFILE,EMFILE,EMFILE,open\n')
})

/** Runs a loop in a thread until `stop` is called. The loop is a statement that is repeated. */
async function meanwhile(t: Test, setup: string, loop: string, data: unknown): Promise<() => Promise<void>> {
  const flag = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(
    `const fs = require('node:fs'); const { parentPort, workerData: { flag, data } } = require('node:worker_threads')
     ${setup}; parentPort.postMessage('started'); while (Atomics.load(flag, 0) === 0) { ${loop} }`,
    { eval: true, execArgv: [], workerData: { flag, data } },
  )
  await once(worker, 'message')
  const stop = async () => {
    if (Atomics.exchange(flag, 0, 1) === 0) await once(worker, 'exit')
  }
  t.teardown(stop)
  return stop
}

t.test('swapping a directory or file for a link or FIFO while it is opened never leads outside', async (t) => {
  const outside = givenDir(t)
  for (const name of ['scan', 'geheim']) put(outside, name, 'buiten')
  const base = givenDir(t)
  put(base, 'map/scan', 'binnen')
  put(base, 'diep/map/scan', 'binnen')
  put(base, 'bestand', 'binnen')
  for (const swapped of ['map', 'diep/map']) symlinkSync(outside, path.join(base, `${swapped}.link`))
  symlinkSync(path.join(outside, 'geheim'), path.join(base, 'bestand.link'))
  put(base, 'pijp', 'binnen')
  execFileSync('mkfifo', [path.join(base, 'pijp.link')])
  const swap = `for (const at of data) { fs.renameSync(at, at + '.echt'); fs.renameSync(at + '.link', at) }
    for (const at of data) { fs.renameSync(at, at + '.link'); fs.renameSync(at + '.echt', at) }`
  const swapped = ['map', 'diep/map', 'bestand', 'pijp'].map((name) => path.join(base, name))
  const stop = await meanwhile(t, '', swap, swapped)
  const seen: Record<string, number> = {}
  const began = performance.now()
  const took = () => performance.now() - began
  // A busy machine may give the other thread no turn for seconds.
  while (took() < 2_000 || (took() < 60_000 && !(seen.binnen && seen['file-symlink']))) {
    for (const pad of ['map/scan', 'diep/map/scan', 'bestand', 'pijp']) {
      const result = readBeneath(base, pad)
      seen[result] = (seen[result] ?? 0) + 1
    }
  }
  await stop()
  t.equal(seen.buiten, undefined, 'nothing from outside')
  t.ok(seen.binnen! > 0 && seen['file-symlink']! > 0, `the race took place: ${JSON.stringify(seen)}`)
  t.strictSame(
    Object.keys(seen).filter(
      (result) => !['binnen', 'file-symlink', 'file-not-found', 'file-not-regular'].includes(result),
    ),
    [],
  )
})

// ---- the base directory ----

t.test('a base directory that is or holds a directory of the service is refused', async (t) => {
  const top = givenDir(t)
  for (const dir of ['app/data/documenten', 'import', 'import-x', 'app/import'])
    mkdirSync(path.join(top, dir), { recursive: true })
  put(top, 'bestand')
  symlinkSync(path.join(top, 'app'), path.join(top, 'naar-app'))
  symlinkSync(path.join(top, 'import'), path.join(top, 'naar-import'))
  symlinkSync('nergens', path.join(top, 'naar-niets'))
  const forbidden = [
    { name: 'application', dir: path.join(top, 'app') },
    { name: 'data', dir: path.join(top, 'app/data') },
    { name: 'storage', dir: path.join(top, 'app/data/documenten'), below: true },
    { name: 'not made yet', dir: path.join(top, 'import-x/later/nog-later'), below: true },
  ]
  mkdirSync(path.join(top, 'app/data/documenten/2026'))
  const expected: Record<string, string | undefined> = {
    weg: 'import-dir-not-found',
    'bestand/x': 'import-dir-not-found',
    'naar-niets': 'import-dir-not-found',
    bestand: 'import-dir-not-dir',
    '.': 'import-dir-forbidden',
    app: 'import-dir-forbidden',
    'app/': 'import-dir-forbidden',
    'naar-app': 'import-dir-forbidden',
    'naar-app/data': 'import-dir-forbidden',
    'app/data': 'import-dir-forbidden',
    'app/data/documenten': 'import-dir-forbidden',
    'app/data/documenten/2026': 'import-dir-forbidden',
    'import-x': 'import-dir-forbidden',
    'app/import': undefined,
    import: undefined,
    'naar-import': undefined,
    'app/../import': undefined,
  }
  for (const [dir, code] of Object.entries(expected)) t.equal(checkBaseDir(path.join(top, dir), forbidden), code, dir)
  t.equal(checkBaseDir('/', []), 'import-dir-forbidden')
  t.equal(checkBaseDir('//', []), 'import-dir-forbidden')
  t.equal(checkBaseDir(`${top}/import`, [{ name: 'x', dir: `${top}/import-x` }]), undefined, 'segments, not characters')
})

// ---- copying ----

const ALGORITMEN: Record<string, (bytes: Buffer) => string | undefined> = {
  md5: (bytes) => createHash('md5').update(bytes).digest('hex'),
  sha_1: (bytes) => createHash('sha1').update(bytes).digest('hex'),
  sha_256: (bytes) => createHash('sha256').update(bytes).digest('hex'),
  sha_512: (bytes) => createHash('sha512').update(bytes).digest('hex'),
  sha_3: (bytes) => createHash('sha3-256').update(bytes).digest('hex'),
  crc_32: (bytes) => crc32(bytes).toString(16).padStart(8, '0'),
  crc_16: () => undefined,
  fletcher_32: () => undefined,
  hmac: () => undefined,
  constructor: () => undefined,
}

for (const way of ['pool', 'streams'] as const) {
  t.test(`files are copied with size and checksums, refusals in their place (${way})`, async (t) => {
    const { base, root, store, pool } = await givenStore(t)
    const copy = way === 'pool' ? pool.copyFiles : (files: FileToCopy[]) => copyToStore(store, base, files)
    const sizes = [0, 1, 4096, 65_536, 1024 * 1024, 3 * 1024 * 1024 + 7]
    const files: FileToCopy[] = []
    const expected: unknown[] = []
    // More than one group of the pool, in more directories than one.
    for (let number = 0; number < 150; number++) {
      const bytes = randomBytes(sizes[number % 25] ?? 100)
      const algoritme = Object.keys(ALGORITMEN)[number % 11]
      const bestandspad = `${number % 7}/scan-${number}`
      const key = `2026/0${(number % 3) + 1}/${number}`
      files.push({
        number,
        bestandspad: number % 10 === 9 ? `${bestandspad}-weg` : bestandspad,
        key,
        ...(algoritme && { algoritme }),
      })
      if (number % 10 === 9) {
        expected.push({ number, fout: { code: 'file-not-found', text: 'Het bestand bestaat niet.' } })
        continue
      }
      put(base, bestandspad, bytes)
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      const controle = algoritme && ALGORITMEN[algoritme]!(bytes)
      expected.push({ number, key, size: bytes.length, sha256, ...(controle && { controle }) })
    }
    t.strictSame(await copy(files), expected)
    for (const file of files.filter(({ number }) => number % 10 !== 9)) {
      if (!stored(root, file.key).equals(readFileSync(path.join(base, file.bestandspad)))) t.fail(file.bestandspad)
    }
    t.equal((await keys(store)).length, 135)
    t.strictSame(temps(root), [])
    t.strictSame(await copy([]), [])
  })

  t.test(`two files of one name are both kept (${way})`, async (t) => {
    const { base, root, store, pool } = await givenStore(t)
    put(base, 'a/scan.pdf', 'eerste')
    put(base, 'b/scan.pdf', 'tweede')
    const files = ['a', 'b'].map((map, number) => ({
      number,
      bestandspad: `${map}/scan.pdf`,
      key: `map/${number}`,
    }))
    await (way === 'pool' ? pool.copyFiles(files) : copyToStore(store, base, files))
    t.equal(String(stored(root, 'map/0')), 'eerste')
    t.equal(String(stored(root, 'map/1')), 'tweede')
    t.equal(readFileSync(path.join(base, 'a/scan.pdf'), 'utf8'), 'eerste', 'the source stays')
  })

  t.test(`a FIFO does not hold up the other files (${way})`, { timeout: 120_000 }, async (t) => {
    const { base, store, pool } = await givenStore(t)
    execFileSync('mkfifo', [path.join(base, 'fifo')])
    put(base, 'goed')
    const files = ['fifo', 'goed', 'fifo'].map((bestandspad, number) => ({
      number,
      bestandspad,
      key: `map/${number}`,
    }))
    const results = await (way === 'pool' ? pool.copyFiles(files) : copyToStore(store, base, files))
    t.strictSame(results.map(outcome), ['file-not-regular', 'gekopieerd', 'file-not-regular'])
  })

  t.test(`a store or import directory that is away rejects the call instead of failing rows (${way})`, async (t) => {
    const { base, root, store, pool } = await givenStore(t)
    put(base, 'goed')
    const copy = () => (way === 'pool' ? pool.copyFiles(one('goed')) : copyToStore(store, base, one('goed')))
    rmSync(root, { recursive: true })
    mkdirSync(root)
    await t.rejects(copy(), { name: 'StoreUnavailable', code: 'marker-missing', wat: 'document storage' })
    t.strictSame(readdirSync(root), [])
    rmSync(root, { recursive: true })
    await t.rejects(copy(), StoreUnavailable)
    t.notOk(existsSync(root), 'the root is not made again')
    await prepareFilesystemStore(root)
    t.strictSame((await copy()).map(outcome), ['gekopieerd'], 'and it goes on when the store is back')
    rmSync(base, { recursive: true })
    await t.rejects(copy(), { name: 'StoreUnavailable', code: 'ENOENT', wat: 'import directory' })
    t.strictSame(temps(root), [])
  })

  t.test(`a file that grows while it is copied is refused, and nothing of it is stored (${way})`, async (t) => {
    const { base, root, store, pool } = await givenStore(t)
    put(base, 'groeit')
    truncateSync(path.join(base, 'groeit'), 64 * 1024 * 1024)
    const stop = await meanwhile(
      t,
      'const fd = fs.openSync(data, "a")',
      'fs.writeSync(fd, "x")',
      path.join(base, 'groeit'),
    )
    const copy = way === 'pool' ? pool.copyFiles(one('groeit')) : copyToStore(store, base, one('groeit'))
    t.strictSame((await copy).map(outcome), ['file-changed'])
    await stop()
    t.strictSame(await keys(store), [])
    t.strictSame(temps(root), [])
  })
}

t.test('a file that changes at a moment of our choice is refused (streams)', async (t) => {
  const { base, root, store } = await givenStore(t)
  const changes: Record<string, (file: string) => void> = {
    grows: (file) => appendFileSync(file, 'x'),
    shrinks: (file) => truncateSync(file, 300_000),
    'becomes empty': (file) => truncateSync(file, 0),
  }
  for (const [what, change] of Object.entries(changes)) {
    put(base, 'scan', randomBytes(1_000_000))
    // The real store, which touches the source after the first chunk.
    const meddling: Store = {
      ...store,
      write: (key, bytes, options) =>
        store.write(
          key,
          (async function* () {
            let first = true
            for await (const chunk of bytes) {
              yield chunk
              if (first) change(path.join(base, 'scan'))
              first = false
            }
          })(),
          options,
        ),
    }
    t.strictSame((await copyToStore(meddling, base, one('scan'))).map(outcome), ['file-changed'], what)
    t.strictSame(await keys(store), [])
    t.strictSame(temps(root), [])
  }
})

t.test('a thread that dies rejects its call and is replaced', async (t) => {
  const { base, root, pool } = await givenStore(t)
  for (let i = 0; i < 200; i++) put(base, `${i}`)
  const files = (key: (i: number) => string) =>
    Array.from({ length: 200 }, (_, i) => ({ number: i, bestandspad: `${i}`, key: key(i) }))
  // A key that our own code would never make is a defect, and a defect ends the thread.
  const broken = pool.copyFiles(files((i) => (i === 150 ? '../x' : `broken/${i}`)))
  const good = pool.copyFiles(files((i) => `goed/${i}`))
  await t.rejects(broken, { message: 'the thread that copied files has ended' })
  t.ok((await good).every((result) => outcome(result) === 'gekopieerd'))
  t.ok((await pool.copyFiles(files((i) => `later/${i}`))).every((result) => outcome(result) === 'gekopieerd'))
  t.strictSame(readdirSync(root).sort(), ['.tmp', '.zaakstroom', 'goed', 'later'], 'nothing of the rejected call')
  t.strictSame(temps(root), [])
})

t.test('calls at the same time do not mix', async (t) => {
  const { base, root, pool } = await givenStore(t)
  for (let i = 0; i < 100; i++) put(base, `${i}`)
  await Promise.all(
    ['a', 'b', 'c', 'd'].map(async (call) => {
      const files = Array.from({ length: 100 }, (_, i) => ({ number: i, bestandspad: `${i}`, key: `${call}/${i}` }))
      const results = await pool.copyFiles(files)
      t.strictSame(
        results.map((result) => ('fout' in result ? result.fout : result.key)),
        files.map(({ key }) => key),
      )
    }),
  )
  t.equal(String(stored(root, 'd/99')), '99')
})

t.test('stopping ends a long copy, leaves nothing of it, and refuses what comes later', async (t) => {
  const { base, root, pool, store } = await givenStore(t)
  const size = 1024 ** 3
  put(base, 'groot')
  truncateSync(path.join(base, 'groot'), size) // sparse
  const running = pool.copyFiles(one('groot'))
  const waiting = [pool.copyFiles(one('groot')), pool.copyFiles(one('groot'))]
  const rejected = Promise.all([running, ...waiting].map((call) => t.rejects(call, { message: 'copying was stopped' })))
  while (temps(root).length === 0) await delay(1)
  let stopped = false
  const stopping = pool.stop().then(() => {
    stopped = true
  })
  let largest = 0
  while (!stopped) {
    for (const temp of temps(root)) {
      const file = path.join(root, '.tmp', temp)
      largest = Math.max(largest, statSync(file, { throwIfNoEntry: false })?.size ?? 0)
    }
    await delay(1)
  }
  await stopping
  await rejected
  t.ok(largest < size, 'not copied to the end')
  await pool.stop()
  await t.rejects(pool.copyFiles(one('groot')), { message: 'copying was stopped' })
  t.strictSame(temps(root), [])
  t.strictSame(await keys(store), [])
})

t.test('a pool that is not stopped does not keep the process', async (t) => {
  const { base, root } = await givenStore(t)
  put(base, 'a')
  const module = `
    import { copyPool } from '${new URL('../../src/documenten/import/copy.ts', import.meta.url).href}'
    const [, baseDir, opslagRoot] = process.argv
    console.log((await copyPool({ baseDir, opslagRoot }).copyFiles([{ number: 1, bestandspad: 'a', key: 'b' }])).length)`
  const result = spawnSync(process.execPath, ['--input-type=module', '-e', module, base, root], { timeout: 60_000 })
  t.equal(result.status, 0)
  t.equal(String(result.stdout), '1\n')
})

t.test('a stream copy can be called off', async (t) => {
  const { base, root, store } = await givenStore(t)
  for (let i = 0; i < 20; i++) put(base, `${i}`)
  const abort = new AbortController()
  let written = 0
  const counting: Store = {
    ...store,
    async write(...args) {
      if (++written === 5) abort.abort(new Error('afgebroken'))
      return store.write(...args)
    },
  }
  const files = Array.from({ length: 20 }, (_, i) => ({ number: i, bestandspad: `${i}`, key: `map/${i}` }))
  const copying = copyToStore(counting, base, files, { places: writePlaces({ writes: 2 }), signal: abort.signal })
  await t.rejects(copying, { message: 'afgebroken' })
  t.ok(written <= 6)
  t.strictSame(temps(root), [])
})

t.test('a blob store that gave another key is believed', async (t) => {
  const { base, store } = await givenStore(t)
  put(base, 'a', 'inhoud')
  const suffixing: Store = { ...store, write: (key, ...rest) => store.write(`${key}_x7`, ...rest) }
  const [result] = await copyToStore(suffixing, base, one('a'))
  t.match(result, { key: 'map/1_x7', size: 6 })
  t.equal(await text((await store.read('map/1_x7'))!.stream), 'inhoud')
})
