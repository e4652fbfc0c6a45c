// PgBouncer with the configuration that we ship, in front of the server of the tests.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { freePort } from '../free-port.ts'

export const hasPooler = (() => {
  try {
    return Boolean(execFileSync('pgbouncer', ['--version'], { stdio: 'pipe' }))
  } catch {
    return false
  }
})()

/**
 * @param given its configuration, in place of the one that we ship
 * @param listenPort where it listens; a free one else
 * @returns the address of the same database through a PgBouncer, and what stops that
 */
export async function startPooler(
  databaseUrl: string,
  poolSize = 5,
  given?: string,
  listenPort?: number,
): Promise<{ url: string; stop(): Promise<void> }> {
  const { hostname, port, pathname, username, password } = new URL(databaseUrl)
  const name = pathname.slice(1)
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-pooler-'))
  await chmod(directory, 0o755)
  const shipped = given ?? (await readFile(new URL('../../deploy/pgbouncer/pgbouncer.ini', import.meta.url), 'utf8'))
  const own = listenPort ?? (await freePort())
  const user = decodeURIComponent(username)
  const secret = decodeURIComponent(password) // clear text: the login to the server is made with it
  await writeFile(join(directory, 'userlist.txt'), `"${user}" "${secret}"\n`)
  const config = shipped
    .replace(/^zaakstroom = /m, `${name} = `)
    .replace('host=postgres port=5432', `host=${hostname} port=${port || 5432}`)
    .replace(/^listen_addr = .*/m, 'listen_addr = 127.0.0.1\nunix_socket_dir =')
    .replace(/^listen_port = .*/m, `listen_port = ${own}`)
    .replace(/^default_pool_size = .*/m, `default_pool_size = ${poolSize}`)
    .replace(/^auth_type = .*/m, password ? 'auth_type = scram-sha-256' : 'auth_type = trust')
    .replace(/^auth_file = .*/m, `auth_file = ${join(directory, 'userlist.txt')}`)
  await writeFile(join(directory, 'pgbouncer.ini'), config)
  // It refuses to run as root.
  const asOther = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child: ChildProcess = spawn('pgbouncer', ['-q', ...asOther, join(directory, 'pgbouncer.ini')], {
    stdio: 'ignore',
  })
  const exited = once(child, 'exit')
  const url = Object.assign(new URL(databaseUrl), { hostname: '127.0.0.1', port: String(own) }).href
  const stop = async () => {
    child.kill('SIGINT')
    await Promise.race([exited, sleep(5_000, undefined, { ref: false }).then(() => child.kill('SIGKILL'))])
    await rm(directory, { recursive: true, force: true })
  }
  for (let tries = 0; ; tries++) {
    const sql = postgres(url, { max: 1, fetch_types: false, connect_timeout: 2, prepare: false })
    try {
      await sql`select 1`
      return { url, stop }
    } catch (error) {
      if (child.exitCode !== null || tries === 50) {
        await stop()
        throw error
      }
      await sleep(100)
    } finally {
      await sql.end({ timeout: 1 })
    }
  }
}
