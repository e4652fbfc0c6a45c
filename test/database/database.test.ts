import { readdir, readFile } from 'node:fs/promises'
import postgres from 'postgres'
import t from 'tap'
import { explain } from '../../src/cli/explain.ts'
import { kyselyOn } from '../../src/database/database.ts'
import { migrate, requireKnownSchema } from '../../src/database/migrate.ts'
import { testApp } from '../app.ts'
import { verifySchema } from '../generate-schema.ts'
import { generateTypes } from '../generate-types.ts'
import { emptyDatabase, testDatabase } from '../setup.ts'
import { until } from '../until.ts'

const SQL = new URL('../../sql/', import.meta.url)

t.test('the table types are those of the migrated database', async (t) => {
  const { url } = await testDatabase(t)
  await t.resolves(generateTypes(url, true), 'otherwise: npm run types')
})

t.test('twenty processes that migrate an empty database at once do it once', async (t) => {
  const { url } = await emptyDatabase(t)
  const applied = await Promise.all(Array.from({ length: 20 }, () => migrate(url)))
  const files = (await readdir(SQL)).filter((name) => /^\d{4}-.*\.sql$/.test(name))
  t.equal(applied.filter((names) => names.length > 0).length, 1)
  t.same(applied.flat(), files.sort())
})

t.test('sql/schema.sql is the schema of the migrated database', async (t) => {
  const { url } = await testDatabase(t)
  await t.resolves(verifySchema(url), 'otherwise: npm run types')
})

t.test('every check and every index has a name that the migrations give', async (t) => {
  const { url } = await testDatabase(t)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  const files = (await readdir(SQL)).filter((name) => /^\d{4}-/.test(name))
  const text = (await Promise.all(files.map((name) => readFile(new URL(name, SQL), 'utf8')))).join('\n')
  const named = await sql<{ name: string }[]>`
    select conname as name from pg_constraint where connamespace = current_schema()::regnamespace and contype in ('c', 'u', 'x')
    union all
    select x.relname from pg_index i join pg_class x on x.oid = i.indexrelid
    where x.relnamespace = current_schema()::regnamespace and not exists (select from pg_constraint where conindid = i.indexrelid)`
  t.ok(named.length > 100)
  t.same(
    named.map(({ name }) => name).filter((name) => !new RegExp(`\\b${name}\\b`).test(text)),
    [],
  )
})

// A table of one row needs no index.
const FOREIGN_KEYS_WITHOUT = ['notificatie_settings.configured_service_id']

t.test('what a row that is deleted is looked for by has an index in every table that refers to it', async (t) => {
  const { url } = await testDatabase(t)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  const without = await sql<{ name: string }[]>`
    select c.conrelid::regclass || '.' || a.attname as name
    from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.contype = 'f' and c.connamespace = current_schema()::regnamespace
      and not exists (select from pg_index i where i.indrelid = c.conrelid and i.indkey[0] = c.conkey[1])
    order by 1`
  t.same(
    without.map(({ name }) => name),
    FOREIGN_KEYS_WITHOUT,
  )
})

t.test(
  'a schema that this version does not know is refused, unless the newer version says that this one can go on',
  async (t) => {
    const { url } = await testDatabase(t)
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    t.teardown(() => sql.end())
    t.same(await requireKnownSchema(sql), [])
    await sql`insert into migration (name, checksum, works_from) values ('9998-later.sql', 'x', '')`
    t.same(
      await requireKnownSchema(sql),
      ['9998-later.sql'],
      'a later version that only adds: the names are for the warning',
    )
    t.same(await migrate(url), [], 'and there is nothing to do')
    await sql`insert into migration (name, checksum, works_from) values ('9999-break.sql', 'x', '99.0.0')`
    await t.rejects(requireKnownSchema(sql), /9999-break.sql.*newer/, 'a later version that this one cannot work with')
    t.same(
      await requireKnownSchema(sql, { version: '99.0.0' }),
      ['9998-later.sql', '9999-break.sql'],
      'the first that still works goes on',
    )
    await t.rejects(migrate(url), /9999-break.sql.*newer/)
    await sql`delete from migration where name like '999%'`
    await sql`update migration set checksum = 'x' where name like '0001%'`
    const startAnew = /0001-audit.sql differs.*database test_\w+: .*start anew with an empty database/
    await t.rejects(requireKnownSchema(sql), startAnew, 'a changed file')
    await t.rejects(migrate(url), startAnew)
    t.equal(
      explain(await migrate(url).catch((error) => error)).code,
      78,
      'the program ends as with a wrong configuration',
    )
    await sql`delete from migration where name like '0001%'`
    await t.rejects(requireKnownSchema(sql), /misses 0001/, 'a missing file')
  },
)

t.test('an api of an older version goes on serving with a newer schema, and says so', async (t) => {
  const { app, database } = await testApp(t)
  const { sql } = database
  const warnings = t.capture(app.log, 'warn')
  await sql`insert into migration (name, checksum, works_from) values ('9998-later.sql', 'x', '')`
  for (const _ of [1, 2]) {
    const ready = await app.inject('/readyz')
    t.equal(ready.statusCode, 200)
    t.same(ready.json().checks.schema, { status: 'ok', detail: 'newer than this version: 9998-later.sql' })
  }
  t.equal(warnings().length, 1, 'a warning, once')
  await sql`update migration set works_from = '99.0.0' where name = '9998-later.sql'`
  await until('the next look at the schema', async () => (await app.inject('/readyz')).statusCode !== 200)
  t.equal((await app.inject('/readyz')).statusCode, 503, 'one that breaks older versions takes it out of service')
})

t.test('the first line of a migration says how it is treated', async (t) => {
  const { url } = await emptyDatabase(t)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  const directory = t.testdir({
    '0001-a.sql': '-- A table.\ncreate table a (n integer);',
    '0002-b.sql':
      '-- no-transaction\ncreate index concurrently if not exists a_n on a (n);\n\ncreate index concurrently if not exists a_m on a (n);\n',
    '0003-c.sql': '-- works-from: 1.10.0\nalter table a rename n to m;',
    'schema.sql': 'this is no migration',
  })
  t.same(await migrate(url, { directory }), ['0001-a.sql', '0002-b.sql', '0003-c.sql'])
  t.same(await sql`select name, works_from from migration order by name`, [
    { name: '0001-a.sql', works_from: '' },
    { name: '0002-b.sql', works_from: '' },
    { name: '0003-c.sql', works_from: '1.10.0' },
  ])
  t.equal((await sql`select from pg_indexes where indexname in ('a_n', 'a_m')`).length, 2)
  const wrong = t.testdir({ '0001-a.sql': '-- no transaction\nselect 1;' })
  await t.rejects(migrate(url, { directory: wrong }), /0001-a.sql says no transaction/, 'a misspelt word is no comment')
})

t.test('a migration that needs a lock gives way to those that wait behind it, and tries again', async (t) => {
  const { url } = await emptyDatabase(t)
  const sql = postgres(url, { max: 3, onnotice: () => {} })
  t.teardown(() => sql.end())
  const first = t.testdir({ '0001-a.sql': 'create table a (n integer);' })
  await migrate(url, { directory: first })
  const directory = t.testdir({
    '0001-a.sql': 'create table a (n integer);',
    '0002-b.sql': 'create table b (); alter table a add column m integer;',
  })
  const holding = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const holder = sql.begin(async (transaction) => {
    await transaction`select from a` // a long report
    holding.resolve()
    await released.promise
  })
  await holding.promise
  const patience = { directory, lockTimeoutMs: 20, pauseMs: 20 }
  await t.rejects(migrate(url, { ...patience, attempts: 2 }), /0002-b.sql found its tables in use 2 times/)
  t.equal((await sql`select to_regclass('b') as b`)[0]?.b, null, 'nothing of it was applied')
  const done = migrate(url, { ...patience, attempts: 10_000 })
  await sql`insert into a values (1)` // would wait for the report as well if the migration did not give way
  released.resolve()
  await holder
  t.same(await done, ['0002-b.sql'])
})

t.test('a backend keeps a bounded number of statements, whatever members clients name', async (t) => {
  const { database } = await testApp(t)
  const names = [
    'omschrijving',
    'toelichting',
    'communicatiekanaal',
    'communicatiekanaalNaam',
    'betalingsindicatie',
  ] as const
  const more = ['archiefstatus', 'opdrachtgevendeOrganisatie', 'selectielijstklasse', 'processobjectaard'] as const
  const members = [...names, ...more]
  const kept = await database.sql.begin(async (trx) => {
    for (let n = 1; n < 150; n++) {
      const chosen = members.filter((_, place) => n & (1 << place))
      const values = Object.fromEntries(chosen.map((name) => [name, 'x']))
      await kyselyOn(trx).updateTable('zaak').set(values).where('id', '=', 0).execute()
    }
    return trx`select count(*)::int as n from pg_prepared_statements where statement like 'update "zaak"%'`
  })
  t.ok(kept[0]!.n <= 50 && kept[0]!.n > 10, `${kept[0]!.n} statements`)
})

t.test('every table, view and column says what it is', async (t) => {
  const { url } = await testDatabase(t)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  const silent = await sql`
    select c.relname || coalesce('.' || a.attname, '') as name
    from pg_class c
    left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
      and (obj_description(c.oid, 'pg_class') is null or (a.attnum is not null and col_description(c.oid, a.attnum) is null))
    order by 1`
  t.same(
    silent.map(({ name }) => name),
    [],
  )
})

t.test('the views show imports with progress, and jobs with what they belong to', async (t) => {
  const { url } = await testDatabase(t)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  const [made] = await sql`insert into import (status, total, processed, succeeded, started_at, updated_at)
    values ('active', 200, 50, 49, now() - interval '10 s', now()) returning uuid`
  await sql`select add_job('import-batch', job_key => ${`import:${made!.uuid}`})`
  t.match((await sql`select * from import_overview`)[0], { percent: '25.0', rows_per_second: '5.0', failed: 1 })
  t.match((await sql`select * from job_overview`)[0], {
    task: 'import-batch',
    state: 'wacht',
    belongs_to: `import ${made!.uuid}`,
  })
})
