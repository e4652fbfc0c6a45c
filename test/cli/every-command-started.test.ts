// Slow: it starts a program for each command that hands over what it made, and databases for some.
// It starts programs.
//
// What needs a process of its own for each command (every-command.test.ts has the rest): a full standard output, and signals.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { startEmbedded } from '../../src/database/embedded.ts'
import { expected } from '../../src/database/rows.ts'
import { testApp } from '../app.ts'
import { programEnv } from '../program-env.ts'
import { until } from '../until.ts'
import { everyLeaf } from './every-leaf.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname
const KEY = 'the key of this database, long enough'
/** They change what is there already. */
const OF_EXISTING: Record<string, string> = { 'client rotate': 'beheer', 'account reset-password': 'j.jansen' }

const making = (await everyLeaf())
  .filter(({ name, handsOver }) => handsOver && !name.startsWith('organisation '))
  .map(({ name, args }) => ({ name, args: name in OF_EXISTING ? [...args.slice(0, -1), OF_EXISTING[name]!] : args }))

function start(args: string[], env: Record<string, string>, stdout: number | 'pipe' = 'pipe') {
  const child = spawn(process.execPath, [MAIN, ...args], { env: programEnv(env), stdio: ['ignore', stdout, 'pipe'] })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) child[name]?.on('data', (chunk) => (said[name] += chunk))
  return { child, ended: endOf(child).then((end) => ({ ...end, ...said })) }
}

async function endOf(child: ChildProcess) {
  const [code, signal] = await once(child, 'close')
  return { code: code as number | null, signal: signal as string | null }
}

t.setTimeout(0)

t.test('a full standard output, and a signal: nothing was made', async (t) => {
  t.ok(making.length > 4, making.map(({ name }) => name).join(', '))
  const { databaseUrl, database, config } = await testApp(t)
  const { sql } = database
  const env = { DATABASE_URL: databaseUrl, SECRET_KEY: expected(config.secretKey) }
  const directory = mkdtempSync(join(tmpdir(), 'zaakstroom-started-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  const account = ['account', 'create', '--username', 'j.jansen', '--out', join(directory, 'password')]
  t.match(await start(account, env).ended, { code: 0 })
  const made = async () => [
    ...(await sql`select id, md5(sealed_secret) from applicatie_secret order by id`),
    ...(await sql`select id, gebruikersnaam, password_hash from beheer_account order by id`),
    ...(await sql`select id from beheer_audit order by id`),
    ...(await sql`select client_id from applicatie_client order by 1`),
  ]
  const before = await made()
  for (const { name, args } of making) {
    const full = openSync('/dev/full', 'w')
    const outcome = await start(args, env, full).ended
    closeSync(full)
    t.match(outcome, { code: 74, stderr: /nothing was changed/ }, `${name}: ${outcome.stderr}`)
    t.strictSame(await made(), before, name)
  }
  for (const { name, args } of making.filter(({ name }) => name !== 'keys add'))
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const holding = await sql.reserve()
      await holding`begin`
      await holding`lock table applicatie_secret, beheer_account, beheer_audit in share row exclusive mode`
      const { child, ended } = start(args, env)
      await until('it waits for the lock', async () => {
        const waiting = await sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
        return waiting.length > 0
      })
      child.kill(signal)
      const outcome = await ended
      t.not(outcome.code, 0, `${name} ${signal}: ${outcome.stderr}`)
      t.equal(outcome.stdout, '', name)
      await holding`rollback`
      holding.release()
      await until('its transaction is gone', async () => {
        const others = await sql`
          select from pg_stat_activity
          where datname = current_database() and application_name like '%command%' and state <> 'idle'`
        return others.length === 0
      })
      t.strictSame(await made(), before, `${name} ${signal}`)
    }
})

t.test('a signal to a command on the embedded database leaves no database process behind', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'zaakstroom-embedded-'))
  t.teardown(() => rmSync(dataDir, { recursive: true }))
  await (await startEmbedded(dataDir)).stop()
  const env = { DATA_DIR: dataDir, SECRET_KEY: KEY }
  t.match(await start(['migrate'], env).ended, { code: 0 })
  const runs = making.filter(({ name }) => /^(client|account) create$/.test(name)).map(({ args }) => args)
  for (const args of [...runs, ['keys', 'list'], ['jobs', 'list']])
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      const { child, ended } = start(args, env)
      let pid = 0
      await until('its database is there', () => {
        pid = postmaster(dataDir)
        return pid > 0
      })
      child.kill(signal)
      const { code } = await ended
      t.not(code, 0, `${args.join(' ')} ${signal}`)
      await until('its database has ended', () => !isAlive(pid))
    }
})

/** @returns its process id, or 0 */
function postmaster(dataDir: string): number {
  try {
    return Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10) || 0
  } catch {
    return 0
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
