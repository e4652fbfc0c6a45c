// What an option may say, and that what was made reaches whoever asked for it, or nothing was made. It starts the program.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { rotateSecret } from '../../src/autorisaties/client-secrets.ts'
import { readMoment, readNumber } from '../../src/cli/options.ts'
import { systemActor } from '../../src/core/access.ts'
import { testApp } from '../app.ts'
import { programEnv } from '../program-env.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname

t.test('numbers are digits within bounds, and moments ISO 8601 with their zone', async (t) => {
  t.equal(readNumber('24', '--x', 0, 100), 24)
  t.equal(readNumber('0.5', '--x', 0, 100, { whole: false }), 0.5)
  for (const wrong of ['', ' ', '-1', '101', '1e1', '0x10', '1.5', '1,5', 'NaN', ' 7'])
    t.throws(() => readNumber(wrong, '--x', 0, 100), /--x is a whole number from 0 to 100/, wrong)
  t.equal(readMoment('2026-03-02T09:00:00+01:00', '--x').toISOString(), '2026-03-02T08:00:00.000Z')
  t.equal(readMoment('2026-03-02', '--x').toISOString(), '2026-03-02T00:00:00.000Z')
  for (const wrong of ['', '02-03-2026', '2026-02-30', '2026-03-02T08:00:00', '2026-03-02 08:00Z', 'yesterday', '1'])
    t.throws(() => readMoment(wrong, '--x'), /--x is a moment with its zone/, wrong)
})

t.test('a secret that could not be handed over was not made, and no file is written over', async (t) => {
  const test = await testApp(t)
  const { sql } = test.database
  const directory = mkdtempSync(join(tmpdir(), 'zaakstroom-out-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  const env = programEnv({ DATABASE_URL: test.databaseUrl, SECRET_KEY: test.config.secretKey! })
  const run = (command: string) =>
    spawnSync('sh', ['-c', `"$0" ${MAIN} ${command}`, process.execPath], { env, encoding: 'utf8' })
  const count = async () => {
    const [row] =
      await sql`select (select count(*)::int from applicatie_secret) as secrets, (select count(*)::int from beheer_account) as accounts`
    return row
  }
  const before = await count()
  for (const command of [
    'client create --id nieuw > /dev/full',
    'client create --id nieuw >&-',
    'client create --id nieuw > /dev/null',
    'client rotate --id beheer > /dev/full',
    'account create --username nieuw > /dev/full',
    'client create --id nieuw --out /nergens/geheim',
  ]) {
    const { status, stderr } = run(command)
    t.match({ status, stderr }, { status: 74, stderr: /nothing was changed/ }, command)
    t.strictSame(await count(), before, command)
  }
  const file = join(directory, 'geheim')
  t.match(run(`client create --id nieuw --out ${file}`), { status: 0, stdout: '' })
  t.equal(statSync(file).mode & 0o777, 0o600)
  const secret = readFileSync(file, 'utf8')
  t.match(run(`client rotate --id nieuw --out ${file}`), { status: 64, stderr: /not written over/ })
  t.equal(readFileSync(file, 'utf8'), secret)
})

t.test('who rotates twice leaves the client what it signs with, until the end of its grace', async (t) => {
  const test = await testApp(t)
  const { box } = test.parts
  const rotate = (options: object) =>
    test.app.mutate(systemActor('test'), (m) => rotateSecret(m, box, 'beheer', options))
  const before = await test.call('GET', '/catalogi/api/v1/catalogussen')
  t.equal(before.status, 200)
  await rotate({})
  await rotate({})
  t.equal((await test.call('GET', '/catalogi/api/v1/catalogussen')).status, 200)
  for (let n = 0; n < 6; n++) await rotate({})
  const rows = await test.database.sql`select from applicatie_secret where client_id = 'beheer'`
  t.equal(rows.length, 5)
  await rotate({ graceHours: 0 })
  t.equal((await test.database.sql`select from applicatie_secret where client_id = 'beheer'`).length, 1)
})
