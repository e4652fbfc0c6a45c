// Kept counts after a transaction that failed, a bulk load and a restore, while clients work.
import { pipeline } from 'node:stream/promises'
import postgres from 'postgres'
import { migrate } from '../../src/database/migrate.ts'
import type { JudgeLike } from '../stage.ts'
import { withPath } from '../with-path.ts'
import { wrongCounts } from '../zaken/kept-counts.ts'
import type { Scene } from './scene.ts'

const LOADED = 3_000

/** Strikes, and looks after each strike. Leaves nothing behind but the work that the folding has with it. */
export async function strikeCounts({ server }: Scene, judge: JudgeLike): Promise<void> {
  const sql = postgres(withPath(server.url), { max: 3, onnotice: () => {} })
  const verify = async (what: string) => judge.same(await wrongCounts(sql), [], `counts after ${what}`)
  try {
    await fail(sql)
    await verify('transactions that failed')
    await load(sql, 'one by one')
    await verify('a bulk load')
    await sql`update zaak set vertrouwelijkheidaanduiding = 'geheim' where identificatie like 'BULK-%'`
    await verify('a change of all that was loaded')
    await sql.begin(async (trx) => {
      for (const table of ['zaak', 'rol', 'status']) await trx`alter table ${trx(table)} disable trigger user`
      await load(trx, 'counted anew')
      for (const table of ['zaak', 'rol', 'status']) await trx`alter table ${trx(table)} enable trigger user`
      await trx`select count_anew()`
    })
    await verify('a load without triggers, counted anew')
    await restore(sql, server.url, judge)
  } finally {
    await sql`delete from zaak where identificatie like 'BULK-%'`
    await verify('what was loaded went')
    await sql.end()
  }
}

/** One that takes itself back, and one whose connection is ended in the middle. */
async function fail(sql: postgres.Sql): Promise<void> {
  const change = async (trx: postgres.TransactionSql) => {
    await load(trx, 'never there')
    await trx`update zaak set vertrouwelijkheidaanduiding = 'zeer_geheim' where identificatie like 'BULK-%'`
    await trx`delete from rol`
    await trx`delete from zaak where id in (select id from zaak order by id desc limit 10)`
  }
  const failed = [
    sql.begin(async (trx) => {
      await change(trx)
      await trx`select 1 / 0`
    }),
    sql.begin(async (trx) => {
      const [row] = await trx<{ pid: number }[]>`select pg_backend_pid() as pid`
      await change(trx)
      await sql`select pg_terminate_backend(${row!.pid})`
      await trx`select`
    }),
  ]
  for (const { status } of await Promise.allSettled(failed))
    if (status === 'fulfilled') throw new Error('that transaction was to fail')
}

/** Cases by one statement, with what hangs on them by another each. */
async function load(sql: postgres.Sql | postgres.TransactionSql, series: string): Promise<void> {
  const prefix = `BULK-${series}-`
  await sql`
    insert into zaak (identificatie, bronorganisatie, verantwoordelijke_organisatie, zaaktype_url, zaaktype_catalogus_url,
      zaaktype_identificatie, zaaktype_omschrijving, startdatum, einddatum, vertrouwelijkheidaanduiding)
    select ${prefix} || n, '517439943', '517439943', 'https://elders.example/types/' || n % 3, 'https://elders.example/c', 'i', 'o',
      date '2026-01-01', case when n % 2 = 0 then date '2026-02-01' end, 'openbaar'
    from generate_series(1, ${LOADED}::int) n`
  await sql`
    insert into rol (zaak_id, betrokkene_type, roltype_url, omschrijving, omschrijving_generiek)
    select id, 'medewerker', 'https://elders.example/r', 'x', 'behandelaar' from zaak where identificatie like ${`${prefix}%`}`
  await sql`
    insert into status (zaak_id, statustype_url, statustype_omschrijving, is_eindstatus, datum_status_gezet, laatst)
    select id, 'https://elders.example/s', 'x', false, moment, moment = '2026-01-03'
    from zaak, unnest('{2026-01-02, 2026-01-03}'::timestamptz[]) moment where identificatie like ${`${prefix}%`}`
}

/** All rows of one moment into a database of its own, whose triggers and foreign keys come after them, as pg_restore does. */
async function restore(sql: postgres.Sql, url: string, judge: JudgeLike): Promise<void> {
  const name = 'teruggezet'
  await sql`create database ${sql(name)}`
  const there = Object.assign(new URL(url), { pathname: `/${name}` }).href
  await migrate(there)
  const into = postgres(withPath(there), { max: 1, onnotice: () => {} })
  try {
    await sql.begin('isolation level repeatable read read only', async (trx) => {
      const tables = await trx<{ name: string; columns: string }[]>`
        select format('%I', relname) as name, string_agg(format('%I', attname), ', ') as columns
        from pg_class c join pg_attribute a on a.attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = ''
        where relnamespace = current_schema()::regnamespace and relkind = 'r' group by 1`
      const keys = await into<{ name: string; table: string; rule: string }[]>`
        select format('%I', conname) as name, conrelid::regclass::text as table, pg_get_constraintdef(oid) as rule
        from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace`
      for (const { name: key, table } of keys) await into.unsafe(`alter table ${table} drop constraint ${key}`)
      for (const { name: table } of tables) await into.unsafe(`alter table ${table} disable trigger user`)
      await into.unsafe(`truncate ${tables.map((table) => table.name).join(', ')}`)
      for (const { name: table, columns } of tables) {
        const from = await trx.unsafe(`copy ${table} (${columns}) to stdout`).readable()
        await pipeline(from, await into.unsafe(`copy ${table} (${columns}) from stdin`).writable())
      }
      for (const { name: table } of tables) await into.unsafe(`alter table ${table} enable trigger user`)
      for (const { name: key, table, rule } of keys)
        await into.unsafe(`alter table ${table} add constraint ${key} ${rule}`)
    })
    judge.same(await wrongCounts(into), [], 'counts after a restore')
    await into`delete from zaak where id in (select id from zaak order by id limit 1000)`
    await into`select fold_counts()`
    judge.same(await wrongCounts(into), [], 'counts go on after a restore')
  } finally {
    await into.end()
    await sql`drop database ${sql(name)} with (force)`
  }
}
