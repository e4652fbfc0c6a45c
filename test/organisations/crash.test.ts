// Slow: it kills commands at any moment.
// Subcommands of `organisation` that are killed at any moment: the same once more gets to the end, and nothing half is served.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t from 'tap'
import { secretBox } from '../../src/core/secret-box.ts'
import { withSchema } from '../../src/database/schema.ts'
import { configOf } from '../../src/organisations/organisation.ts'
import { openControl, readOrganisations } from '../../src/organisations/registry.ts'
import { givenInformatieobjecttype, testApp } from '../app.ts'
import { programEnv } from '../program-env.ts'
import { emptyDatabase } from '../setup.ts'
import { givenDocument } from '../zaken/given.ts'
import { randomFrom } from '../zaken/processes.ts'

t.setTimeout(300_000)

const SECRET_KEY = 'key of the installation, long enough'
const MAIN = join(import.meta.dirname, '../../src/main.ts')
const [A, B] = ['000000012', '000000024'] as const
const SEED = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000)
const KILLS = Number(process.env.CRASH_KILLS ?? 2)
const random = randomFrom(SEED)
t.comment(`CRASH_SEED=${SEED}`)

const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-crash-'))
t.teardown(() => rm(directory, { recursive: true, force: true }))
const { url } = await emptyDatabase(t)
const env = programEnv({ CONTROL_DATABASE_URL: url, SECRET_KEY, DATA_DIR: directory, LOG_LEVEL: 'silent' })
const sql = postgres(url, { max: 2, onnotice: () => {} })
t.teardown(() => sql.end())

type Outcome = { code: number; stdout: string; stderr: string; ms: number }
const run = (args: string[], input = ''): Promise<Outcome> => {
  const began = performance.now()
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [MAIN, 'organisation', ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr, ms: performance.now() - began }),
    )
    child.stdin?.end(input)
  })
}
const done = async (args: string[], input = ''): Promise<Outcome> => {
  const outcome = await run(args, input)
  if (outcome.code !== 0) throw new Error(`${args.join(' ')}: ${outcome.stderr}`)
  return outcome
}
async function kill(args: string[], ms: number, input = ''): Promise<void> {
  const child = spawn(process.execPath, [MAIN, 'organisation', ...args], { env, stdio: ['pipe', 'ignore', 'ignore'] })
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const ended = once(child, 'exit')
  await Promise.race([ended, sleep(ms)])
  child.kill('SIGKILL')
  await ended
}
const stateOf = async (rsin: string): Promise<string | undefined> =>
  JSON.parse((await done(['list', '--json'])).stdout).find((one: { rsin: string }) => one.rsin === rsin)?.state
const schemasOf = async (rsin: string) => sql`select nspname from pg_namespace where nspname like ${`org\\_${rsin}%`}`
const addArgs = (rsin: string) => ['add', '--rsin', rsin, '--name', 'Stad', '--host', `o${rsin}.nl`]
const removeAll = async (rsin: string) => {
  await done(['suspend', rsin, '--reason', 'for the test'])
  await done(['remove', rsin, '--confirm', rsin])
}

t.test('add', async (t) => {
  const { ms } = await done(addArgs(A))
  for (let nth = 0; nth < KILLS; nth++) {
    const after = ms * (0.3 + 0.7 * random())
    await kill(addArgs(B), after)
    const state = await stateOf(B)
    t.ok(
      [undefined, 'adding', 'active'].includes(state),
      `after ${Math.round(after)} of ${Math.round(ms)} ms: ${state}`,
    )
    if (state === undefined) t.same(await schemasOf(B), [], 'what nobody knows of is not there')
    if (state === 'adding' && nth % 2 === 1) await done(['remove', B, '--confirm', B])
    else {
      const again = await run(addArgs(B))
      t.equal(again.code, state === 'active' ? 64 : 0, again.stderr)
      t.equal(await stateOf(B), 'active')
      await removeAll(B)
    }
    t.same(await schemasOf(B), [])
  }
  const adding = run(addArgs(B))
  await sleep(ms * 0.7)
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'zaakstroom%'`
  const { code, stderr } = await adding
  if (code !== 0) {
    t.match(stderr, /zaakstroom: /)
    t.notMatch(stderr, /\n +at /, 'no stack')
    await done(addArgs(B))
  }
  t.equal(await stateOf(B), 'active', 'a database that broke the connections off is no other case')
  await removeAll(B)
})

t.test('export, and add of what it wrote', async (t) => {
  const control = openControl(url)
  t.teardown(control.close)
  const [one] = await readOrganisations(control, secretBox(SECRET_KEY), A)
  const app = await testApp(t, {
    DATABASE_URL: withSchema(one!.databaseUrl, one!.schema),
    DATA_KEYS: one!.dataKeys,
    DOCUMENTEN_DIR: configOf({ ...env }, one!).documentenDir,
  })
  const type = await givenInformatieobjecttype(app)
  for (let nth = 0; nth < 30; nth++)
    await givenDocument(app, type, {
      inhoud: Buffer.from(`bytes ${nth}`).toString('base64'),
      bestandsomvang: `bytes ${nth}`.length,
    })
  const to = join(directory, 'export')
  const args = ['export', A, '--to', to, '--keys', '--json']
  const whole = await done(['export', A, '--to', join(directory, 'whole'), '--keys', '--json'])
  const { keys, rows } = JSON.parse(whole.stdout)
  const from = (path: string) => [...addArgs(B), '--from', path]
  let isWhole = false
  for (let nth = 0; nth < KILLS && !isWhole; nth++) {
    await kill(args, whole.ms * (0.4 + 0.6 * random()))
    const there = await readdir(to).catch(() => [] as string[])
    isWhole = there.includes('manifest.json')
    if (!isWhole) t.match(await run(from(to), keys), { code: 64, stderr: /the export was not finished, or it is none/ })
    t.equal(await stateOf(B), undefined)
  }
  if (!isWhole) t.equal(JSON.parse((await done(args)).stdout).documents, 30)
  t.notOk((await readdir(to)).includes('manifest.json.unfinished'))

  const loading = await done(from(to), keys)
  await removeAll(B)
  for (let nth = 0; nth < KILLS; nth++) {
    const after = loading.ms * (0.4 + 0.6 * random())
    await kill(from(to), after, keys)
    const state = await stateOf(B)
    const again = await run(from(to), keys)
    t.equal(
      again.code,
      state === 'active' ? 64 : 0,
      `after ${Math.round(after)} of ${Math.round(loading.ms)} ms, ${state}: ${again.stderr}`,
    )
    const manifest = JSON.parse(await readFile(join(to, 'manifest.json'), 'utf8'))
    for (const { name, rows } of manifest.tables) {
      if (name === 'data_key') continue // whoever opens it with its keys notes them
      const [counted] = await sql.unsafe(`select count(*)::int as rows from org_${B}.${name}`)
      if (counted!.rows !== rows) t.equal(counted!.rows, rows, name)
    }
    t.ok(rows > 0)
    t.equal(await stateOf(B), 'active')

    await done(['suspend', B, '--reason', 'for the test'])
    await kill(['remove', B, '--confirm', B], whole.ms * (0.3 + 0.7 * random()))
    if ((await stateOf(B)) !== undefined) await done(['remove', B, '--confirm', B])
    t.same(await schemasOf(B), [])
    t.notOk(
      (await readdir(directory, { recursive: true })).some((name) => name.includes(B)),
      'nor a directory',
    )
  }
})

t.test('set and reseal', async (t) => {
  const args = ['set', A, '--name', 'Nieuwe naam', '--host', 'nieuw.nl', '--setting', 'IMPORT_RETENTION_DAYS=9']
  const { ms } = await done(['set', A, '--name', 'Stad'])
  for (const command of [args, ['reseal']]) {
    await kill(command, ms * (0.5 + 0.5 * random()))
    await done(command)
  }
  const [found] = JSON.parse((await done(['list', '--json'])).stdout)
  t.match(found, { name: 'Nieuwe naam', hosts: ['nieuw.nl'], settings: ['IMPORT_RETENTION_DAYS'] })
})

t.test('one command at a time is at work for an organisation', async (t) => {
  const held = await sql.reserve()
  await held`select pg_advisory_lock(31332, hashtext(${A}))`
  const { code, stderr } = await run(['export', A, '--to', join(directory, 'never')])
  t.match({ code, stderr }, { code: 64, stderr: /another command is at work for 000000012/ })
  t.equal((await done(['suspend', A, '--reason', 'at once'])).code, 0, 'suspending waits for nobody')
  held.release()
})
