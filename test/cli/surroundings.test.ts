// It starts the program.
//
// What a machine gives a process, or does not: an older Node, no home, few open files, and signals.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { prepareFilesystemStore } from '../../src/documenten/storage/filesystem.ts'
import { connectionsToTake, copiesAtOnce, filesNeeded, openFilesLimit, sparesToTake } from '../../src/lib/open-files.ts'
import { freePort } from '../free-port.ts'
import { programEnv } from '../program-env.ts'
import { testDatabase } from '../setup.ts'
import { until } from '../until.ts'

type Test = { teardown(work: () => unknown): unknown }

const ROOT = new URL('../../', import.meta.url).pathname
const MAIN = join(ROOT, 'src/main.ts')
const ORDERLY = ['SIGTERM', 'SIGHUP', 'SIGUSR2'] as const

function givenDir(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'zaakstroom-around-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Starts a service; resolves when it says that it has started, or ended. */
async function givenService(t: Test, role: 'api' | 'worker', url: string, options: { uid?: number } = {}) {
  const directory = givenDir(t)
  chmodSync(directory, 0o755)
  for (const name of ['data', 'import']) {
    mkdirSync(join(directory, name))
    chmodSync(join(directory, name), 0o777)
  }
  const env = programEnv({
    DATABASE_URL: url,
    SECRET_KEY: 'the key of this database, long enough',
    DATA_DIR: join(directory, 'data'),
    IMPORT_DOCUMENTEN_BASE_DIR: join(directory, 'import'),
    PORT: String(await freePort()),
    DATABASE_POOL_SIZE: '3',
  })
  const child = spawn(process.execPath, ['--disable-sigusr1', MAIN, role], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  })
  t.teardown(() => child.kill('SIGKILL'))
  let log = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (log += chunk))
  const isOver = () => child.exitCode !== null || child.signalCode !== null
  await until('the service has started', () => /"event":"started"/.test(log) || isOver())
  if (isOver()) throw new Error(`the ${role} ended: ${log}`)
  return { child, address: `http://127.0.0.1:${env.PORT}`, log: () => log }
}

async function stopped(child: ChildProcess, signal: NodeJS.Signals) {
  const exit = once(child, 'exit')
  child.kill(signal)
  return exit
}

t.test('an older Node is told in words what the program needs', async (t) => {
  const as = (version: string) =>
    `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"${version}"})`
  const asOld = as('22.21.0')
  const check = join(ROOT, 'src/node-version.js')
  for (const [version, status] of [
    ['26.0.9', 78],
    ['26.1.0', 0],
    ['26.10.0', 0],
    ['27.0.0', 0],
  ] as const)
    t.equal(spawnSync(process.execPath, ['--import', as(version), check]).status, status, version)
  for (const file of ['bin/zaakstroom.js', 'src/main.ts']) {
    const { status, stderr } = spawnSync(process.execPath, ['--import', asOld, join(ROOT, file), '--version'], {
      encoding: 'utf8',
    })
    t.match(
      { status, stderr },
      { status: 78, stderr: /^zaakstroom: this is Node 22\.21\.0, .* 26\.1 or newer: .*\n$/ },
      file,
    )
    const imports = readFileSync(join(ROOT, file), 'utf8').match(/^import .*$/gm)
    t.strictSame(imports, [`import '${file.startsWith('bin') ? '../src' : '.'}/node-version.js'`], 'nothing before it')
  }
  t.notMatch(readFileSync(join(ROOT, 'src/node-version.js'), 'utf8'), /^import /m)
  const { bin, engines, scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  t.equal(bin.zaakstroom, 'bin/zaakstroom.js')
  t.equal(engines.node, '>=26.1', 'what the program says too')
  for (const name of ['start', 'cli', 'demo']) t.match(scripts[name], /^exec node .*bin\/zaakstroom\.js/, name)
})

t.test('signals end a service in order, and none opens a debugger', async (t) => {
  const { url } = await testDatabase(t)
  for (const signal of ORDERLY) {
    const { child, log } = await givenService(t, 'worker', url)
    child.kill('SIGUSR1')
    const ended = stopped(child, signal)
    // As a terminal and a parent do that pass on the same.
    await until('it has begun to stop', () => /"event":"stopping"/.test(log()))
    for (const again of [signal, 'SIGINT', 'SIGTERM'] as const) child.kill(again)
    t.strictSame(await ended, [0, null], signal)
    t.match(log(), /"event":"stopped"/, signal)
    t.notMatch(log(), /[Dd]ebugger/, signal)
  }
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  for (const name of ['start', 'cli', 'demo']) t.match(scripts[name], '--disable-sigusr1', name)
  t.match(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'), 'ENTRYPOINT ["node", "--disable-sigusr1"')
})

t.test('a user without an entry and without HOME is served', async (t) => {
  if (process.getuid?.() !== 0) return t.pass('only root may start a process as another user')
  const { url } = await testDatabase(t)
  for (const role of ['worker', 'api'] as const) {
    const { child, address, log } = await givenService(t, role, url, { uid: 4242 })
    if (role === 'api') t.equal((await fetch(`${address}/beheer/`)).status, 200)
    t.strictSame(await stopped(child, 'SIGTERM'), [0, null], role)
    t.notMatch(log(), 'uv_os_homedir', role)
  }
})

t.test('with few open files less is done at once, and with too few nothing begins', async (t) => {
  t.equal(openFilesLimit('Max open files            128                  256                  files     \n'), 128)
  t.equal(openFilesLimit('Max open files            unlimited            unlimited            files     \n'), Infinity)
  t.equal(openFilesLimit(''), Infinity)
  for (const limit of [filesNeeded(10), 128, 256, 1024, 65_536]) {
    const copies = 2 * copiesAtOnce(64, 2, limit)
    const open = copies + connectionsToTake(2000, limit) + sparesToTake(64, limit)
    t.ok(open + filesNeeded(10) - 40 <= limit, `${open} of ${limit}`)
  }
  t.strictSame([copiesAtOnce(64, 2, 1024), connectionsToTake(2000, 65_536), sparesToTake(64, 65_536)], [64, 2000, 64])

  const few = (limit: number, ...args: string[]) =>
    spawnSync('sh', ['-c', `ulimit -n ${limit} && exec "$@"`, 'sh', process.execPath, ...args], {
      encoding: 'utf8',
      env: programEnv({ DATABASE_URL: 'postgres://x@127.0.0.1:1/x', SECRET_KEY: 'long enough to be a key of this' }),
    })
  for (const role of ['api', 'worker'])
    t.match(
      few(90, MAIN, role),
      { status: 78, stderr: /the system allows 90 open files, .* needs 120: .*ulimit -n/ },
      role,
    )

  const directory = givenDir(t)
  const root = join(directory, 'opslag')
  await prepareFilesystemStore(root)
  mkdirSync(join(directory, 'import'))
  for (let n = 0; n < 300; n++) writeFileSync(join(directory, 'import', String(n)), 'x')
  const module = `
    import { copyPool } from '${new URL('../../src/documenten/import/copy.ts', import.meta.url).href}'
    const pool = copyPool({ baseDir: '${directory}/import', opslagRoot: '${root}' })
    const files = Array.from({ length: 300 }, (_, n) => ({ nummer: n, bestandspad: String(n), key: 'map/' + n }))
    console.log((await pool.copyFiles(files)).filter(({ fout }) => !fout).length)
    await pool.stop()`
  t.match(few(128, '--input-type=module', '-e', module), { status: 0, stdout: '300\n', stderr: '' })
})
