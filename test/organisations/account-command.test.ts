// It starts programs. The subcommand `organisation account`, and what it leaves in the registry and in organisations.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { withSchema } from '../../src/database/schema.ts'
import { pagesClient } from '../beheer/browser-client.ts'
import { givenAccount } from '../beheer/quick-hash.ts'
import { freePort } from '../free-port.ts'
import { programEnv } from '../program-env.ts'
import { testDatabase } from '../setup.ts'
import { keysOf, many, prepareOrganisation, ringOf } from './api-many.ts'

t.setTimeout(120_000)

const HOST = 'zaken.a.nl'
const RSIN = '000000001'
const MAIN = join(import.meta.dirname, '../../src/main.ts')

t.test('an account of the centre is made, given a role, changed and removed by commands', async (t) => {
  const { url } = await testDatabase(t)
  const own = withSchema(url, 'zaakstroom')
  await prepareOrganisation(own, ringOf(keysOf(0)))
  const all = await many(t, [{ host: HOST, schema: 'zaakstroom' }], { url, isPrepared: true })
  const database = openDatabase(own, { max: 2, name: 'test' })
  t.teardown(database.close)
  const run = (...args: string[]) => runProgram('organisation', 'account', ...args)
  const runProgram = (...args: string[]) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      execFile(
        process.execPath,
        [MAIN, ...args],
        { env: programEnv({ ...all.env, LOG_LEVEL: 'silent', ...(args[0] === 'account' && { ORGANISATION: RSIN }) }) },
        (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
      )
    })
  const account = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args, '--json')
    if (code !== 0) throw new Error(stderr)
    return JSON.parse(stdout)
  }
  const { password } = await account('create', '--username', 'cent', '--name', 'Cent Rum', '--centre', 'yes')
  t.match(await run('create', '--username', 'Cent'), { code: 64, stderr: /there is an account Cent already/ })
  t.match(await account('give', RSIN, '--username', 'cent', '--role', 'operator'), { role: 'operator', active: true })
  t.match(await run('give', RSIN, '--username', 'cent', '--role', 'baas'), { code: 64, stderr: /--role is one of/ })
  t.match(await account('list'), [
    { username: 'cent', centre: true, roles: [{ rsin: RSIN, role: 'operator', max: 'vertrouwelijk' }] },
  ])
  const rows = () => database.sql`select naam, rol from beheer_account where gebruikersnaam = 'cent'`
  t.same(await rows(), [{ naam: 'Cent Rum', rol: 'operator' }], 'the organisation lists it before it signs in')
  const browser = pagesClient(all.app, { origin: `https://${HOST}` })
  t.equal((await browser.login('cent', password)).statusCode, 303)
  t.equal((await browser.get('/beheer/')).headers.location, '/beheer/mijn-account/wachtwoord', 'it was given one')

  await account('set', '--username', 'cent', '--name', 'Cent R.')
  t.match(await rows(), [{ naam: 'Cent R.' }])
  const reset = await account('reset-password', '--username', 'cent', '--remove-totp')
  t.not(reset.password, password)
  await account('unlock', '--username', 'cent')
  await database.sql`update beheer_account set alert_kinds = '{lost}', alert_digest = 'altijd' where gebruikersnaam = 'cent'`
  await account('set', '--username', 'cent', '--active', 'no')
  t.same(
    await database.sql`select alert_kinds, alert_digest from beheer_account where gebruikersnaam = 'cent'`,
    [{ alert_kinds: [], alert_digest: 'nooit' }],
    'who is kept out is mailed no alerts',
  )
  await account('set', '--username', 'cent', '--active', 'yes')
  t.match(await runProgram('account', 'unlock', '--username', 'cent'), {
    code: 64,
    stderr: /cent is an account of the centre/,
  })
  t.match(await runProgram('account', 'list'), { code: 0, stdout: /^cent\toperator\tactive\tcentre$/m })
  await givenAccount({ database }, { gebruikersnaam: 'lokaal', rol: 'viewer', wachtwoord: 'correct horse battery' })
  await account('create', '--username', 'lokaal')
  t.match(await run('give', RSIN, '--username', 'lokaal', '--role', 'viewer'), { code: 64, stderr: /of its own/ })
  t.match(await account('take', RSIN, '--username', 'cent'), { had: true, left: false })
  t.same(await rows(), [])
  await account('give', RSIN, '--username', 'cent', '--role', 'viewer')
  await account('remove', '--username', 'cent')
  t.same(await rows(), [])
  const changes = await all.control.sql`
    select action, rsin from organisation_change where account = 'cent' and action like 'account-%' order by id`
  t.same(
    changes.map(({ action, rsin }) => `${action}${rsin && ` ${rsin}`}`),
    [
      'account-add',
      `account-give ${RSIN}`,
      'account-set',
      'account-password',
      'account-unlock',
      'account-set',
      'account-set',
      `account-take ${RSIN}`,
      `account-give ${RSIN}`,
      'account-remove',
    ],
  )
  t.same(
    (
      await database.sql`select handeling from beheer_audit where object_weergave = 'cent' and gebruiker = 'commando' order by id`
    ).map(({ handeling }) => handeling),
    ['account-maken', 'account-verwijderen', 'account-maken', 'account-verwijderen'],
  )

  // Organisations that come before it: tables that are gone, a database that refuses, and one that nobody reaches.
  const gone = new URL(url)
  gone.pathname = '/not-there'
  await all.add({ host: 'a1.nl', rsin: '000000011', schema: 'org_gone' })
  await all.add({ host: 'a2.nl', rsin: '000000012', schema: 'org_refuses', databaseUrl: gone.href })
  const away = `postgres://zaak@127.0.0.1:${await freePort()}/weg`
  await all.add({ host: 'a3.nl', rsin: '000000013', schema: 'org_away', databaseUrl: away })
  await account('create', '--username', 'cent')
  await account('give', RSIN, '--username', 'cent', '--role', 'viewer')
  await all.control.sql`
    insert into membership (account_id, organisation_id, rol, max_vertrouwelijkheidaanduiding)
    select a.id, o.id, 'viewer', 'openbaar' from beheer_account a, organisation o
    where a.gebruikersnaam = 'cent' and o.rsin <> ${RSIN}`
  // A server that refuses is away, as one that nobody reaches.
  t.match(await run('set', '--username', 'cent', '--name', 'Na Drie'), { code: 0 })
  t.match(await rows(), [{ naam: 'Na Drie' }], 'one that cannot be changed keeps no other from it')
  t.match(await account('take', '000000011', '--username', 'cent'), { had: true, left: false })
  t.match(await account('take', '000000012', '--username', 'cent'), { had: true, left: true })
  t.match(await account('take', '000000013', '--username', 'cent'), { had: true, left: true })
  await all.control.sql`
    insert into membership (account_id, organisation_id, rol, max_vertrouwelijkheidaanduiding)
    select a.id, o.id, 'viewer', 'openbaar' from beheer_account a, organisation o
    where a.gebruikersnaam = 'cent' and o.rsin <> ${RSIN}`
  const removed = await run('remove', '--username', 'cent', '--json')
  t.match(removed, { code: 0 })
  t.same(JSON.parse(removed.stdout).left, ['000000012', '000000013'])
  t.same(await rows(), [])
})
