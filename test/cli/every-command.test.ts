// In a process of its own: commands run in it, with its environment, directory and output.
//
// Every command of the program's own tree, in situations in which it cannot do its work: it says so, ends with the exit code for
// it, and has made nothing.
import t, { type Test } from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { newestMigration } from '../../src/database/migrate.ts'
import { expected } from '../../src/database/rows.ts'
import { testApp } from '../app.ts'
import { emptyDatabase, testDatabase } from '../setup.ts'
import { everyLeaf, type Leaf } from './every-leaf.ts'
import { type Outcome, runHere } from './in-process.ts'

const KEY = 'the key of this database, long enough'
const INPUT = 'a secret that is long enough to be one\n'

/** They read a file that is given here wrong, or a choice, before they look for a database. */
const FILE_FIRST = ['setup apply', 'catalogus import', 'selectielijst import']
/** They need no key. */
const KEYLESS = [/^account/, /^abonnement/, /^client (key|revoke|list)$/, /^migrate$/, /^notifications resend$/]
const KEYLESS_MORE = [
  /^overnemen (status|stop|rapport|omschakelen|terugweg)$/,
  /^selectielijst/,
  /^where$/,
  /^keys add$/,
]
const MORE_KEYLESS = [/^catalogus export$/, /^storage/, /^jobs/, /^notifications (pause|resume)$/]
const isKeyless = ({ name }: Leaf) => [...KEYLESS, ...KEYLESS_MORE, ...MORE_KEYLESS].some((one) => one.test(name))

const leaves = (await everyLeaf()).filter(
  ({ name }) => !['start', 'api', 'worker', 'demo', 'copy', 'history'].includes(name),
)
const onDatabase = leaves.filter(({ name }) => !/^(completion|import prepare|organisation )/.test(name))
/** Those that ask a source or a server before the database, and say what is wrong with that. */
const isElsewhere = ({ name }: Leaf) => /^overnemen (open-notificaties|zaakstroom)$/.test(name)

async function each(
  t: Test,
  all: Leaf[],
  env: Record<string, string>,
  judge: (leaf: Leaf, outcome: Outcome) => unknown,
) {
  for (const leaf of all) {
    const outcome = await runHere(leaf.args, { DATABASE_CONNECT_SECONDS: '1', ...env }, INPUT)
    t.strictSame(outcome.made, [], `${leaf.name} made nothing`)
    t.notMatch(outcome.stderr, /relation .* does not exist|at .*\.ts:\d/, leaf.name)
    judge(leaf, outcome)
  }
}

t.setTimeout(0)
t.ok(onDatabase.length > 45, `${onDatabase.length} commands on a database`)

t.test('without a database: 78, and none is made', async (t) => {
  await each(
    t,
    leaves.filter((one) => one.name !== 'completion' && one.name !== 'import prepare'),
    { SECRET_KEY: KEY },
    (leaf, { code, stdout, stderr }) => {
      if (FILE_FIRST.includes(leaf.name) || isElsewhere(leaf)) return t.not(code, 0, leaf.name)
      t.equal(code, 78, `${leaf.name}: ${stderr}`)
      if (leaf.name !== 'where') t.equal(stdout, '', leaf.name)
      t.match(stderr, /is required/, leaf.name)
    },
  )
})

t.test('a foreign, an older and a newer database: 78, and what to do', async (t) => {
  const foreign = await emptyDatabase(t)
  const older = await testDatabase(t)
  const newer = await testDatabase(t)
  for (const [url, work] of [
    [older.url, 'delete from migration where name = $1'],
    [newer.url, "insert into migration (name, checksum, works_from) select '9999-' || $1, 'x', '99.0.0'"],
  ] as const) {
    const { sql, close } = openDatabase(url, { max: 1, name: 'test' })
    await sql.unsafe(work, [await newestMigration()])
    await close()
  }
  for (const [what, { url }, pattern] of [
    ['foreign', foreign, /run `zaakstroom migrate`/],
    ['older', older, /run `zaakstroom migrate`/],
    ['newer', newer, /with which this version cannot work: it is newer/],
  ] as const)
    await each(
      t,
      onDatabase.filter(({ name }) => name !== 'migrate'),
      { DATABASE_URL: url, SECRET_KEY: KEY },
      (leaf, { code, stderr }) => {
        if (FILE_FIRST.includes(leaf.name) || isElsewhere(leaf)) return t.not(code, 0, leaf.name)
        t.equal(code, 78, `${leaf.name} on one that is ${what}: ${stderr}`)
        t.match(stderr, pattern, leaf.name)
      },
    )
  const { sql, close } = openDatabase(foreign.url, { max: 1, name: 'test' })
  t.strictSame([...(await sql`select from pg_namespace where nspname like 'zaakstroom%'`)], [])
  await close()
})

t.test('a misspelt address, or a server that is not there: 78 and 69', async (t) => {
  const { url } = await emptyDatabase(t)
  const misspelt = new URL(url)
  misspelt.pathname = '/nergens'
  for (const [address, code, pattern] of [
    [misspelt.href, 78, /"nergens" does not exist/],
    ['postgres://u:p@127.0.0.1:1/x', 69, /cannot be reached|not reachable|connect/],
    ['postgrs://u:p@127.0.0.1/x', 78, /DATABASE_URL/],
  ] as const)
    await each(t, onDatabase, { DATABASE_URL: address, SECRET_KEY: KEY }, (leaf, outcome) => {
      if (FILE_FIRST.includes(leaf.name) || isElsewhere(leaf)) return t.not(outcome.code, 0, leaf.name)
      t.equal(outcome.code, code, `${leaf.name} at ${address}: ${outcome.stderr}`)
      t.match(outcome.stderr, pattern, leaf.name)
    })
})

t.test('without a key, and with another: 78, and no key is made', async (t) => {
  const { databaseUrl, database, config } = await testApp(t)
  const keys = async () => [...(await database.sql`select id, sealed from data_key`)]
  const rights = { DATABASE_URL: databaseUrl, SECRET_KEY: expected(config.secretKey) }
  t.equal((await runHere(['keys', 'list'], rights)).code, 0, 'it is registered')
  const before = await keys()
  const asking = onDatabase.filter((leaf) => !isKeyless(leaf) && !FILE_FIRST.includes(leaf.name) && !isElsewhere(leaf))
  t.ok(asking.length > 12, `${asking.length} commands need a key`)
  for (const [env, pattern] of [
    [{}, /SECRET_KEY is required/],
    [{ SECRET_KEY: 'another key, which is long enough too' }, /is not the key/],
  ] as const)
    await each(
      t,
      asking,
      { DATABASE_URL: databaseUrl, TOKEN_ENDPOINT: 'ES256', PUBLIC_URL: 'https://zaken.example.nl', ...env },
      (leaf, { code, stdout, stderr }) => {
        t.match({ code, stdout }, { code: 78, stdout: '' }, `${leaf.name}: ${stderr}`)
        t.match(stderr, pattern, leaf.name)
      },
    )
  t.strictSame(await keys(), before)
})

t.test('a read-only database: what only looks looks, all else is 69 and says what it is', async (t) => {
  const { databaseUrl, database, config } = await testApp(t)
  const env = { DATABASE_URL: databaseUrl, SECRET_KEY: expected(config.secretKey) }
  await runHere(['keys', 'list'], env)
  await database.sql.unsafe(
    `alter database ${new URL(databaseUrl).pathname.slice(1)} set default_transaction_read_only = on`,
  )
  await each(t, onDatabase, env, ({ name }, { code, stderr }) => {
    t.notMatch(stderr, /the database cannot be reached/, name)
    if (code !== 0 && code !== 64 && code !== 65 && code !== 1)
      t.ok([69, 78].includes(code), `${name}: ${code} ${stderr}`)
    if (code === 69 && !/^(import |anonymise)/.test(name) && !/marker|store|storage/.test(stderr))
      t.match(stderr, /read-only/, name)
  })
})

t.test('what changes something says where, and what is done twice is done or refused in words', async (t) => {
  const { databaseUrl, config } = await testApp(t)
  const env = {
    DATABASE_URL: databaseUrl,
    SECRET_KEY: expected(config.secretKey),
    DOCUMENTEN_DIR: config.documentenDir,
    TOKEN_ENDPOINT: 'ES256',
    PUBLIC_URL: 'https://zaken.example.nl',
  }
  for (let time = 1; time <= 2; time++)
    await each(t, onDatabase, env, ({ name }, { code, stderr }) => {
      t.ok([0, 1, 64, 65, 69, 78].includes(code), `${name}, time ${time}: ${code} ${stderr}`)
      if (code !== 0) t.match(stderr, /\w/, name)
      const isMade =
        /^(client (create|rotate|key)|account (create|reset-password|unlock)|keys reseal|selectielijst remove)$/
      if (code === 0 && isMade.test(name)) t.match(stderr, /^zaakstroom: changes database /, name)
    })
})
