// In a process of its own: commands run in it, with its environment, directory and output.
//
// What a command asks before it does something, says that it would do, and where it takes its secrets from.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { readDatabaseUrl } from '../../src/cli/other-database.ts'
import { expected } from '../../src/database/rows.ts'
import { givenCatalogus, givenZaaktype, testApp } from '../app.ts'
import { emptyDatabase } from '../setup.ts'
import { runHere } from './in-process.ts'

const directory = mkdtempSync(join(tmpdir(), 'zaakstroom-plans-'))
t.teardown(() => rmSync(directory, { recursive: true }))
const file = (name: string, text = '') => {
  const path = join(directory, name)
  if (text) writeFileSync(path, text, { mode: 0o600 })
  return path
}

t.test('a dry run says what would be done, by all its rules, and does nothing of it', async (t) => {
  const test = await testApp(t)
  const env = {
    DATABASE_URL: test.databaseUrl,
    SECRET_KEY: expected(test.config.secretKey),
    DOCUMENTEN_DIR: test.config.documentenDir,
  }
  const counts = async () =>
    (
      await test.database
        .sql`select (select count(*)::int from service) as services, (select count(*)::int from zaaktype) as types,
      (select count(*)::int from catalogus) as catalogues, (select count(*)::int from audit) as audit, (select count(*)::int from jobs) as jobs`
    )[0]
  const run = async (...args: string[]) => {
    const outcome = await runHere([...args, '--dry-run', '--json'], env)
    return { ...outcome, value: outcome.code === 0 ? JSON.parse(outcome.stdout) : undefined }
  }
  const catalogus = await givenCatalogus(test)
  await givenZaaktype(test, { catalogus })
  const zip = file('types.zip')
  const uuid = expected(catalogus.split('/').at(-1))
  t.match(await runHere(['catalogus', 'export', zip, '--catalogus', uuid], env), { code: 0 })
  const bytes = readFileSync(zip)
  t.match(await runHere(['catalogus', 'export', zip, '--catalogus', uuid], env), { code: 64, stderr: /there already/ })
  t.ok(readFileSync(zip).equals(bytes))
  t.match(await runHere(['catalogus', 'export', '-', '--catalogus', uuid], env), { code: 0, stdout: /^PK/ })
  const setup = file(
    'setup.yaml',
    'services:\n  - { slug: brp, label: BRP, soort: orc, apiRoot: https://brp.example.nl/, authenticatie: geen }\n',
  )
  const before = await counts()

  const planned = await run('setup', 'apply', setup)
  t.match(planned, { code: 0, value: { dryRun: true, services: ['brp'] } }, planned.stderr)
  const taken = await run('catalogus', 'import', zip, '--domein', 'KOPIE', '--rsin', '517439943')
  t.match(taken, { code: 0, value: { dryRun: true, made: { zaaktype: 1 } } }, taken.stderr)
  t.match(await run('storage', 'migrate', '--to', 'filesystem'), { code: 0, value: { dryRun: true, from: [] } })
  t.match(await run('keys', 'reseal'), { code: 0, value: { dryRun: true, key: 'secret-key' } })
  t.match(await run('migrate'), { code: 0, value: { dryRun: true, pending: [] } })
  t.strictSame(await counts(), before)
  const empty = await emptyDatabase(t)
  const pending = await runHere(['migrate', '--dry-run', '--json'], { DATABASE_URL: empty.url })
  t.match(JSON.parse(pending.stdout).pending[0], /^0001-/)
  t.match(await runHere(['keys', 'list'], { ...env, DATABASE_URL: empty.url }), { code: 78 }, 'it made no tables')
})

t.test('before what cannot be undone a person is asked, and a script says yes', async (t) => {
  const test = await testApp(t)
  const env = {
    ...{ DATABASE_URL: test.databaseUrl, SECRET_KEY: expected(test.config.secretKey) },
    ...{ TOKEN_ENDPOINT: 'ES256', PUBLIC_URL: 'https://zaken.example.nl' },
  }
  await runHere(['client', 'create', '--id', 'weg'], env)
  for (const words of [
    ['client', 'revoke', '--id', 'weg'],
    ['signing-key', 'rotate', '--at-once'],
  ]) {
    t.match(
      await runHere(words, env),
      { code: 64, stdout: '', stderr: /cannot be undone: give --yes/ },
      words.join(' '),
    )
    t.match(await runHere([...words, '--yes'], env), { code: 0 }, words.join(' '))
  }
})

t.test('the password of another database comes from a file, standard input, PGPASSFILE or PGSERVICE', async (t) => {
  const pass = file(
    'pgpass',
    '# a comment\nother:5432:*:lezer:niet dit\noud.example:*:open\\:zaak:lezer:ge:heim\n*:*:*:lezer:alge\\\\meen\n',
  )
  const service = file(
    'service.conf',
    '[nieuw]\nhost=nieuw.example\n[oud]\nhost=oud.example\nport=5433\ndbname=open:zaak\nuser=lezer\nsslmode=require\n',
  )
  const env = { PGPASSFILE: pass, PGSERVICEFILE: service }
  const read = (given: string, more: object = {}) => readDatabaseUrl('--database', given, { ...env, ...more })
  t.equal(await read('postgres://lezer@oud.example/open%3Azaak'), 'postgres://lezer:ge@oud.example/open%3Azaak')
  t.equal(await read('postgres://lezer@elders/x'), 'postgres://lezer:alge%5Cmeen@elders/x')
  t.equal(await read('postgres://lezer:zelf@elders/x'), 'postgres://lezer:zelf@elders/x')
  t.equal(await read('postgres://ander@elders/x'), 'postgres://ander@elders/x', 'no line fits')
  const filled = 'postgres://lezer:ge@/open%3Azaak?host=oud.example&port=5433&sslmode=require'
  t.equal(await read('postgres://?service=oud'), filled)
  t.equal(await read('postgres:///', { PGSERVICE: 'oud' }), filled)
  await t.rejects(read('postgres://?service=weg'), /there is no service weg/)
  t.equal(await read(`file:${file('address', 'postgres://a:b@c/d\n')}`), 'postgres://a:b@c/d')
  await t.rejects(read('file:/nergens'), /cannot be read/)
  await t.rejects(read('mysql://x'), /--database is an address of a database/)
  const run = await runHere(
    ['overnemen', 'open-zaak', '--database', '-', '--dry-run'],
    {},
    'postgres://u:geheim@127.0.0.1:1/x\n',
  )
  t.match(run, { code: 78, stderr: /DATABASE_URL is required/ })
  t.notMatch(run.stderr, 'geheim')
})
