// It starts the program.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { freePort } from '../free-port.ts'
import { programEnv } from '../program-env.ts'
import { until } from '../until.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname

type Outcome = { code: number; stdout: string; stderr: string }

/** Runs the program with just these settings. */
function run(args: string[], env: Record<string, string> = {}, input = ''): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [MAIN, ...args], { env: programEnv(env) }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr }),
    )
    child.stdin?.end(input)
  })
}

t.test('--help shows the subcommands, examples, settings and exit codes', async (t) => {
  const { code, stdout } = await run(['--help'])
  t.equal(code, 0)
  for (const word of [
    'start',
    'api',
    'worker',
    'migrate',
    'demo',
    'client',
    'token',
    'Examples:',
    'IMPORT_DOCUMENTEN_BASE_DIR',
    'Exit codes',
  ])
    t.match(stdout, word)
})

t.test('--version answers without the program: the driver, the server and the pages are not loaded', async (t) => {
  const loaded = `import { registerHooks } from 'node:module'
    registerHooks({ load(url, context, next) { console.error(url); return next(url, context) } })`
  const hook = `data:text/javascript,${encodeURIComponent(loaded)}`
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--import', hook, MAIN, '--version'])
  t.match(stdout, /^\d+\.\d+\.\d+\n$/)
  t.match(stderr, '/src/main.ts')
  t.notMatch(stderr, /\/(fastify|postgres|graphile-worker|typebox)\/|\/src\/(app|config|http|cli\/commands)/)
  t.equal((await run(['-V'])).stdout, stdout)
})

t.test('wrong use ends with 64, whatever is wrong with it, and says how it is used', async (t) => {
  for (const [args, said] of [
    [['onzin'], /unknown command 'onzin'/],
    [['client', 'onzin'], /unknown command 'onzin'/],
    [['token'], /required option '--id <id>'/],
    [['start', '--onzin'], /unknown option '--onzin'/],
    [['migrate', 'te', 'veel'], /too many arguments/],
    [['catalogus', 'export'], /missing required argument 'file'/],
    [['storage', 'migrate', '--to', 'zolder'], /--to is one of filesystem/],
    [[], /Usage: zaakstroom/],
    [['client'], /Usage: zaakstroom client/],
  ] as const)
    t.match(await run([...args]), { code: 64, stdout: '', stderr: said }, args.join(' '))
  t.match(await run(['client', '--help']), { code: 0, stderr: '' })
})

t.test('a wrong configuration ends with 78 and names all faults at once, never a value', async (t) => {
  const { code, stderr } = await run(['api'], {
    PORT: 'tachtig',
    LOG_LEVEL: 'luid',
    JWT_EXPIRY: '-1',
    PUBLIC_URL: 'geheim',
    BOOTSTRAP_CLIENT_ID: 'x',
  })
  t.equal(code, 78)
  for (const name of [
    'PORT',
    'LOG_LEVEL',
    'JWT_EXPIRY',
    'PUBLIC_URL',
    'DATABASE_URL is required',
    'SECRET_KEY is required',
    'BOOTSTRAP_CLIENT_SECRET',
  ])
    t.match(stderr, name)
  t.notMatch(stderr, /geheim|tachtig/)
})

t.test('api and worker refuse a database without the schema, and one that is not there', async (t) => {
  const settings = { DATABASE_URL: 'postgres://nobody:secret-word@127.0.0.1:1/x', SECRET_KEY: 'k'.repeat(32) }
  for (const command of ['api', 'worker']) {
    const { code, stderr } = await run([command], settings)
    t.equal(code, 69)
    t.notMatch(stderr, 'secret-word')
  }
})

async function untilReady(child: ChildProcess, address: string): Promise<void> {
  await until('the service', async () => {
    if (child.exitCode !== null) throw new Error('the service ended')
    return (await fetch(`${address}/readyz`).catch(() => undefined))?.ok
  })
}

t.test('start needs nothing, and commands work beside it', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-cli-'))
  await chmod(directory, 0o711)
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  const env = {
    DATA_DIR: join(directory, 'data'),
    PORT: String(port),
    IMPORT_DOCUMENTEN_BASE_DIR: join(directory, 'import-data'),
    BOOTSTRAP_CLIENT_ID: 'eerste',
    BOOTSTRAP_CLIENT_SECRET: 'een geheim van de beheerder',
  }
  const service = spawn(process.execPath, [MAIN, 'start'], {
    env: programEnv(env),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let log = ''
  service.stdout.on('data', (chunk) => (log += chunk))
  t.teardown(() => service.kill('SIGKILL'))
  await untilReady(service, address)

  const list = (token: string) =>
    fetch(`${address}/catalogi/api/v1/catalogussen`, { headers: { authorization: `Bearer ${token}` } })

  const made = JSON.parse(
    (await run(['client', 'create', '--id', 'portaal', '--label', 'Portaal', '--all-rights', '--json'], env)).stdout,
  )
  t.match(made, { clientId: 'portaal', secret: /^[\w-]{43}$/ })
  const { token } = JSON.parse((await run(['token', '--id', 'portaal', '--json'], env)).stdout)
  t.equal((await list(token)).status, 200, 'the new client is known at once')
  t.equal((await list((await run(['token', '--id', 'eerste'], env)).stdout.trim())).status, 200, 'the bootstrap client')

  const given = await run(['client', 'create', '--id', 'gegeven', '--secret-stdin', '--json'], env, 'zelf gekozen\n')
  t.match(given, { code: 0, stderr: /fewer than 32/ })
  t.notMatch(given.stdout + given.stderr, 'zelf gekozen')
  t.match(await run(['client', 'create', '--id', 'portaal'], env), { code: 64, stderr: /exists already/ })
  t.match(await run(['token', '--id', 'niemand'], env), { code: 64 })
  t.match(await run(['start'], env), { code: 1, stderr: /pid|process/ }, 'a second start on the directory is refused')

  service.kill('SIGTERM')
  const [code] = await once(service, 'exit')
  t.equal(code, 0, 'an orderly end')
  t.match(log, /"event":"stopped"/)
  for (const secret of [made.secret, token, 'een geheim van de beheerder']) t.notMatch(log, secret)

  t.match(
    await run(['migrate', '--json'], env),
    { code: 0, stdout: '{"dryRun":false,"applied":[],"blankTexts":[]}\n' },
    'and commands work without it',
  )
  t.ok((await readdir(env.DATA_DIR)).includes('secret-key'))
  t.ok((await readFile(join(env.DATA_DIR, 'secret-key'), 'utf8')).length > 32)
})
