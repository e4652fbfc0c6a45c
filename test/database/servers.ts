// Servers of PostgreSQL with the programs that come with them (pg_basebackup, pg_dump), which the embedded one lacks.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../free-port.ts'

export const BIN = '/usr/lib/postgresql/15/bin'

/** Why a test that needs these servers is skipped here; false: it is not. */
export const noPrograms: string | false = !existsSync(join(BIN, 'pg_basebackup')) && 'no pg_basebackup here'

/** A directory that servers may be in, whoever runs them. */
export async function serverDirectory(t: TestLike): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-servers-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  await chmod(directory, 0o711)
  return directory
}

type TestLike = { teardown(work: () => unknown): unknown }

/** Runs one of PostgreSQL's programs, as its own user when we are root. */
export function run(program: string, args: string[], env: Record<string, string> = {}) {
  const command = [join(BIN, program), ...args]
  const asOther = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--', ...command] : command
  return promisify(execFile)(asOther[0]!, asOther.slice(1), { cwd: '/', env: { ...process.env, ...env } })
}

/**
 * @param more settings for the start, such as `-c ssl=on`; `initdb` is given beside ours
 * @param env for the server, such as a library to be loaded before others
 */
export async function startPrimary(
  t: TestLike,
  data: string,
  more = '',
  initdb: string[] = [],
  env: Record<string, string> = {},
) {
  const port = await freePort()
  await give(data)
  await run('initdb', [
    '-D',
    data,
    '-U',
    'postgres',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C.UTF-8',
    '--no-sync',
    ...initdb,
  ])
  await start(data, port, more, env)
  t.teardown(() => stop(data))
  return { port, kill: () => stop(data), start: () => start(data, port, more, env) }
}

/** Follows the primary; what that acknowledges has reached it, unless it is to follow later. */
export async function startStandby(
  t: TestLike,
  primary: number,
  data: string,
  port: number,
  { synchronous = true } = {},
) {
  await give(data)
  const source = `host=127.0.0.1 port=${primary} user=postgres`
  await run('pg_basebackup', ['-D', data, '-d', source, '-R', '-c', 'fast', '--no-sync'])
  await start(data, port, '')
  // From here on a commit is acknowledged when the standby has it.
  for (const statement of synchronous
    ? [`alter system set synchronous_standby_names = '*'`, 'select pg_reload_conf()']
    : [])
    await run('psql', ['-X', '-q', '-d', `${source} dbname=postgres`, '-c', statement])
  t.teardown(() => stop(data))
  return {
    promote: () => run('pg_ctl', ['-D', data, '-w', 'promote']),
    stop: () => stop(data),
    start: () => start(data, port, ''),
  }
}

/** A directory of the user that runs the programs. */
export async function give(data: string) {
  await promisify(execFile)('mkdir', ['-m', '700', data])
  const { uid } = await userOf()
  if (uid !== undefined) await chown(data, uid, (await stat(data)).gid)
}

/** The user that runs the programs, where it is another than ours. */
export async function userOf(): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {}
  const { stdout } = await promisify(execFile)('getent', ['passwd', 'postgres'])
  const [, , uid, gid] = stdout.split(':').map(Number)
  return { uid: uid!, gid: gid! }
}

const start = (data: string, port: number, more: string, env: Record<string, string> = {}) =>
  run(
    'pg_ctl',
    [
      '-D',
      data,
      '-l',
      `${data}/log`,
      '-w',
      'start',
      '-o',
      `-p ${port} -k ${data} -c listen_addresses=127.0.0.1 -c fsync=off ${more}`,
    ],
    env,
  )

const stop = (data: string) => run('pg_ctl', ['-D', data, '-m', 'immediate', 'stop']).catch(() => {})
