import { readdir } from 'node:fs/promises'
import postgres from 'postgres'
import t from 'tap'
import { migrate, requireKnownSchema } from '../../src/database/migrate.ts'
import { generateTypes } from '../generate-types.ts'
import { emptyDatabase, testDatabase } from '../setup.ts'

t.test('the table types are those of the migrated database', async (t) => {
  const { url } = await testDatabase(t)
  await t.resolves(generateTypes(url, true), 'otherwise: npm run types')
})

t.test('twenty processes that migrate an empty database at once do it once', async (t) => {
  const { url } = await emptyDatabase(t)
  const applied = await Promise.all(Array.from({ length: 20 }, () => migrate(url)))
  const files = (await readdir(new URL('../../sql/', import.meta.url))).filter((name) => name.endsWith('.sql'))
  t.equal(applied.filter((names) => names.length > 0).length, 1)
  t.same(applied.flat(), files.sort())
})

t.test('a schema that this version does not know is refused', async (t) => {
  const { url } = await testDatabase(t)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  await t.resolves(requireKnownSchema(sql))
  await sql`update migratie set checksum = 'x' where naam like '0001%'`
  await t.rejects(requireKnownSchema(sql), /0001-autorisaties.sql differs/, 'a changed file')
  await t.rejects(migrate(url), /0001-autorisaties.sql differs/)
  await sql`delete from migratie where naam like '0001%'`
  await t.rejects(requireKnownSchema(sql), /misses 0001/, 'a missing file')
  await sql`insert into migratie (naam, checksum) values ('9999-later.sql', 'x')`
  await t.rejects(requireKnownSchema(sql), /9999-later.sql.*newer/, 'a file of a later version')
})

t.test('every table, view and column says what it is', async (t) => {
  const { url } = await testDatabase(t)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  const silent = await sql`
    select c.relname || coalesce('.' || a.attname, '') as name
    from pg_class c
    left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and c.relkind = 'r'
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v') and c.relname <> 'migratie'
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
  const [made] = await sql`insert into import (status, totaal, verwerkt, geslaagd, gestart_op, bijgewerkt_op)
    values ('active', 200, 50, 49, now() - interval '10 s', now()) returning uuid`
  await sql`select graphile_worker.add_job('import-batch', json_build_object('import', ${made!.uuid}::text, 'vanaf', 50))`
  t.match((await sql`select * from import_overzicht`)[0], { procent: '25.0', rijen_per_seconde: '5.0', mislukt: 1 })
  t.match((await sql`select * from taak_overzicht`)[0], {
    taak: 'import-batch',
    staat: 'wacht',
    hoort_bij: `import ${made!.uuid}`,
  })
})
