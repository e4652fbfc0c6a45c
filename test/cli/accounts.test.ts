// It starts the program.
import { execFile } from 'node:child_process'
import t from 'tap'
import { checkPassword, findByName, recordFailure } from '../../src/beheer/accounts/accounts.ts'
import { claimAttempt, passwordCounters } from '../../src/core/sign-in-attempts.ts'
import { openDatabase } from '../../src/database/database.ts'
import { programEnv } from '../program-env.ts'
import { testDatabase } from '../setup.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname

t.test('accounts from the command line, also when nobody can sign in', async (t) => {
  const { url } = await testDatabase(t)
  const database = openDatabase(url, { max: 2, name: 'test' })
  t.teardown(() => database.close())
  const run = (args: string[], input = '') =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      const env = programEnv({ DATABASE_URL: url, SECRET_KEY: 'key of the tests, long enough' })
      const child = execFile(process.execPath, [MAIN, 'account', ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr }),
      )
      child.stdin?.end(input)
    })

  const isRight = async (name: string, password: string) =>
    checkPassword(database, await findByName(database, name), password)

  t.match(await run(['list']), { code: 0, stdout: 'There are no accounts.' })
  const made = await run(['create', '--username', 'j.jansen', '--role', 'operator', '--json'])
  t.equal(made.code, 0, made.stderr)
  const { password } = JSON.parse(made.stdout)
  t.match(password, /^([a-z2-9]{4}-){4}[a-z2-9]{4}$/)
  t.ok(await isRight('j.jansen', password))
  t.match(await run(['create', '--username', 'J.Jansen']), { code: 64, stderr: /there is an account J.Jansen already/ })
  t.match(await run(['create', '--username', 'met spatie']), { code: 64, stderr: /no spaces/ })
  t.match(await run(['create', '--username', 'x', '--role', 'baas']), { code: 64, stderr: /--role is one of/ })
  t.match(await run(['create', '--username', 'x', '--password-stdin'], 'kort\n'), { code: 64, stderr: /at least 12/ })

  const typed = await run(['create', '--username', 'beheer', '--password-stdin'], 'een zelf bedacht wachtwoord\n')
  t.match(typed, { code: 0, stdout: 'Account beheer made.' })
  t.notMatch(typed.stdout, 'bedacht')
  t.ok(await isRight('beheer', 'een zelf bedacht wachtwoord'))

  const [{ id }] = await database.sql<[{ id: number }]>`select id from beheer_account where gebruikersnaam = 'j.jansen'`
  const counters = passwordCounters({ account: id, network: '192.0.2.1', browser: undefined })
  for (let count = 0; count < 5; count++) {
    t.equal(await claimAttempt(database, counters), 0)
    await recordFailure(database, id)
  }
  t.not(await claimAttempt(database, counters), 0)
  // However long the command takes to start.
  await database.sql`update beheer_sign_in_attempt set open_at = open_at + interval '1 hour' where count = 5`
  t.match(JSON.parse((await run(['list', '--json'])).stdout), [
    { username: 'beheer', role: 'administrator', failedAttempts: 0, waits: false },
    { username: 'j.jansen', role: 'operator', active: true, failedAttempts: 5, waits: true, totp: false },
  ])
  t.match(await run(['unlock', '--username', 'J.JANSEN']), { code: 0 })
  t.equal(await claimAttempt(database, counters), 0, 'the count starts anew')
  t.match(await run(['unlock', '--username', 'jansen']), { code: 64, stderr: /there is no account jansen/ })

  await database.sql`
    update beheer_account set totp_secret = '\\x00', totp_since = now() where id = ${id}`
  await database.sql`
    insert into beheer_session (key, account_id, expires_at) values ('\\x01', ${id}, now() + interval '1 hour')`
  const reset = await run(['reset-password', '--username', 'j.jansen', '--remove-totp'])
  const second = reset.stdout.trim().split('\n').at(-1)!
  t.notOk(await isRight('j.jansen', password))
  t.ok(await isRight('j.jansen', second))
  t.match(await findByName(database, 'j.jansen'), { totp: false })
  t.same([...(await database.sql`select id from beheer_session`)], [], 'its sessions have ended')

  const audit = await database.sql<{ gebruiker: string; handeling: string }[]>`
    select gebruiker, handeling from beheer_audit order by id`
  t.same(
    audit.map(({ gebruiker, handeling }) => `${gebruiker} ${handeling}`),
    ['commando account-maken', 'commando account-maken', 'commando wachttijd-opheffen', 'commando wachtwoord-wijzigen'],
  )
})
