// Where new uuids have their place in an index: at its end, wherever they are made.
import t from 'tap'
import { givenInformatieobjecttype, testApp } from '../app.ts'
import { givenDocument, givenZaak } from '../zaken/given.ts'

const IN_TIME = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

t.test('a new uuid is one of version 7 and comes after those of before', async (t) => {
  const { database } = await testApp(t)
  const [made] = await database.sql<{ uuids: string[]; near: boolean }[]>`
    with recursive u(n, uuid) as (
      select 1, uuid_v7() union all select n + 1, uuid_v7() from u, lateral (select pg_sleep(0.002)) s where n < 20
    ) select array_agg(uuid::text order by n) as uuids,
      bool_and(abs(('x' || left(replace(uuid::text, '-', ''), 12))::bit(48)::bigint - extract(epoch from now()) * 1000) < 60000) as near
    from u`
  t.same(made!.uuids, made!.uuids.toSorted())
  t.ok(made!.uuids.every((uuid) => IN_TIME.test(uuid)))
  t.ok(made!.near, 'its first 48 bits are the moment in milliseconds')
})

t.test('what grows with cases and documents gets such uuids, from the program and from the database', async (t) => {
  const test = await testApp(t)
  const { sql } = test.database
  await givenDocument(test, await givenInformatieobjecttype(test))
  await givenZaak(test)
  const made = await sql<{ place: string; uuid: string }[]>`
    select 'zaak' as place, uuid from zaak union all select 'document', uuid from enkelvoudiginformatieobject
    union all select bron, uuid from audit where bron in ('zrc', 'drc') union all select kanaal, uuid from notificatie where kanaal in ('zaken', 'documenten')`
  t.same(new Set(made.map(({ place }) => place)), new Set(['zaak', 'document', 'zrc', 'drc', 'zaken', 'documenten']))
  t.same(
    [...made].filter(({ uuid }) => !IN_TIME.test(uuid)),
    [],
  )
  const random = await sql<{ name: string }[]>`
    select table_name::text as name from information_schema.columns
    where table_schema = current_schema() and column_name = 'uuid' and column_default like 'gen_random_uuid%'`
  const growing = [
    'zaak',
    'status',
    'rol',
    'resultaat',
    'zaakobject',
    'zaakinformatieobject',
    'objectinformatieobject',
    'besluit',
    'notificatie',
  ]
  t.same(
    growing.filter((name) => random.some((one) => one.name === name)),
    [],
  )
})
