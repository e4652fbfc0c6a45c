// Counts of cases, of what hangs on them and of besluiten are kept: here they are compared with what is there.
import type postgres from 'postgres'
import t, { type Test } from 'tap'
import { givenBesluittype, givenClient, givenZaaktype, type TestApp, testApp, uuidOf } from '../app.ts'
import { givenBesluit } from '../besluiten/given.ts'
import { CRS, givenPart, givenZaak, made, ZAKEN } from './given.ts'
import { wrongCounts } from './kept-counts.ts'

t.test('kept counts are what is there, after creates, changes, deletes, rollbacks and folding at once', async (t) => {
  const test = await testApp(t)
  const { sql } = test.database
  const types = [await givenTypes(test), await givenTypes(test)] as const
  const besluittypen = [await givenBesluittype(test), await givenBesluittype(test)]
  let isDone = false
  t.teardown(() => {
    isDone = true
  })
  const fold = (async () => {
    while (!isDone) await sql`select fold_counts()`
  })()

  await Promise.all(
    Array.from({ length: 12 }, async (_, n) => {
      const { zaaktype, statustype, roltype } = types[n % 2]!
      const zaak = await givenZaak(test, { zaaktype, vertrouwelijkheidaanduiding: n % 3 ? 'openbaar' : 'geheim' })
      const rol = await post(test, 'rollen', rolBody(zaak.url, roltype))
      await post(test, 'statussen', statusBody(zaak.url, statustype, '2026-03-03T10:00:00Z'))
      await Promise.all([
        post(test, 'statussen', statusBody(zaak.url, statustype, '2026-03-04T10:00:00Z')),
        post(test, 'statussen', statusBody(zaak.url, statustype, '2026-03-02T10:00:00Z')),
        post(test, 'zaakobjecten', {
          zaak: zaak.url,
          objectType: 'medewerker',
          objectIdentificatie: { identificatie: 'm1' },
        }),
        post(test, 'klantcontacten', { zaak: zaak.url, datumtijd: '2026-03-03T10:00:00Z' }),
      ])
      const besluit = await givenBesluit(test, { besluittype: besluittypen[n % 2]! })
      if (n < 3) t.equal((await test.call('DELETE', zaak.url, undefined, CRS)).status, 204)
      else if (n < 6) {
        const changed = await test.call('PATCH', zaak.url, { vertrouwelijkheidaanduiding: 'vertrouwelijk' }, CRS)
        t.equal(changed.status, 200)
      } else if (n < 8) t.equal((await test.call('DELETE', rol.url)).status, 204)
      else if (n < 10) t.equal((await test.call('DELETE', besluit.url)).status, 204)
      // A fault that the database finds rolls back what was counted until then.
      else
        t.equal(
          (await test.call('POST', `${ZAKEN}/statussen`, statusBody(zaak.url, statustype, '2026-03-04T10:00:00Z')))
            .status,
          400,
        )
    }),
  )
  await t.rejects(
    sql.begin(async (trx) => {
      await trx`update zaak set vertrouwelijkheidaanduiding = 'zeer_geheim'`
      await trx`delete from status`
      throw new Error('taken back')
    }),
    /taken back/,
  )
  isDone = true
  await fold
  await compare(t, test)
  t.match((await test.call('GET', `${ZAKEN}/statussen?indicatieLaatstGezetteStatus=true`)).body, { count: 9 })
  t.match((await test.call('GET', `${ZAKEN}/rollen?omschrijvingGeneriek=initiator`)).body, { count: 7 })
  t.match(
    (await test.call('GET', `${ZAKEN}/zaken?einddatum__isnull=true&bronorganisatie=517439943`, undefined, CRS)).body,
    { count: 9 },
  )
})

t.test('kept counts are what is there, also of rows that are written below the API', async (t) => {
  const test = await testApp(t)
  const { sql } = test.database
  const zaken = [await givenZaak(test), await givenZaak(test)]
  const [een, other] = await sql<
    { id: number }[]
  >`select id from zaak where uuid = any(${zaken.map(({ uuid }) => uuid)}::uuid[]) order by id`
  const status = (zaak: number, moment: string) => sql`
    insert into status (zaak_id, statustype_url, statustype_omschrijving, is_eindstatus, datum_status_gezet)
    values (${zaak}, 'https://elders.example/1', 'x', false, ${moment})`
  await sql`insert into rol (zaak_id, betrokkene_type, roltype_url, omschrijving, omschrijving_generiek)
    select ${een!.id}, 'medewerker', 'https://elders.example/2', 'x', 'behandelaar' from generate_series(1, 5)`
  await status(een!.id, '2026-01-03')
  await status(een!.id, '2026-01-01')
  await status(een!.id, '2026-01-02')
  await compare(t, test)

  await sql`update status set datum_status_gezet = '2026-01-05' where datum_status_gezet = '2026-01-01'`
  await sql`update rol set omschrijving_generiek = 'adviseur' where id % 2 = 0`
  await sql`update rol set roltype_url = 'https://elders.example/4' where id % 2 = 1`
  await sql`update rol set betrokkene_type = 'vestiging' where id % 2 = 1`
  await sql`update rol set omschrijving = 'y' where id % 4 = 0`
  await sql`update rol set indicatie_machtiging = 'gemachtigde' where id % 4 = 1`
  await compare(t, test)
  await sql`update rol set zaak_id = ${other!.id} where id % 3 = 0`
  await compare(t, test)
  await sql`delete from rol where id % 5 = 0`
  await compare(t, test)
  await sql`update status set statustype_url = 'https://elders.example/5' where datum_status_gezet = '2026-01-03'`
  await sql`insert into resultaat (zaak_id, resultaattype_url, resultaattype_elsewhere)
    values (${een!.id}, 'https://elders.example/3', '{}')`
  await sql`insert into zaakobject (zaak_id, object_type, object) values (${een!.id}, 'adres', 'https://objecten.example/1')`
  await compare(t, test)
  await sql`update resultaat set resultaattype_url = 'https://elders.example/6'`
  await sql`update zaakobject set object_type = 'pand'`
  await sql`update klantcontact set zaak_id = ${other!.id}`
  await sql`update zaak set einddatum = current_date, archiefstatus = 'overgedragen' where id = ${other!.id}`
  await compare(t, test)
  await sql`delete from status where datum_status_gezet = '2026-01-05'`
  await sql`update zaak set zaaktype_id = null, zaaktype_url = 'https://elders.example/t', zaaktype_catalogus_url = 'c',
    zaaktype_identificatie = 'i', zaaktype_omschrijving = 'o' where id = ${een!.id}`
  await compare(t, test)
  await sql`truncate klantcontact, zaaknotitie, substatus`
  await sql`select count_anew()`
  await compare(t, test)
  await sql`delete from zaak`
  await compare(t, test)
  await sql`select fold_counts()`
  t.same(await sql`select from zaak_count union all select from zaak_part_count`, [])
})

t.test('a filter on a date keeps, and counts, the cases that have such a date', async (t) => {
  const test = await testApp(t)
  const { sql } = test.database
  const zaaktype = await givenZaaktype(test)
  const as = await givenClient(test, 'openbaar', [
    { component: 'zrc', scopes: ['zaken.lezen'], typeUuid: uuidOf(zaaktype), max: 'openbaar' },
  ])
  for (const [place, level] of ['openbaar', 'openbaar', 'geheim', 'openbaar'].entries()) {
    const { uuid } = await givenZaak(test, { zaaktype, vertrouwelijkheidaanduiding: level })
    const day = `2026-03-0${place + 1}`
    const some = place === 1 ? null : day
    await sql`update zaak set startdatum = ${day}, registratiedatum = ${day}, einddatum = ${some}, archiefactiedatum = ${some},
      einddatum_gepland = ${some}, uiterlijke_einddatum_afdoening = ${some} where uuid = ${uuid}`
  }
  const columns = {
    startdatum: ['lt', 'lte', 'gt', 'gte'],
    registratiedatum: ['lt', 'gt'],
    einddatum: ['lt', 'gt'],
    archiefactiedatum: ['lt', 'gt'],
    einddatumGepland: ['lt', 'gt'],
    uiterlijkeEinddatumAfdoening: ['lt', 'gt'],
  }
  const compare = { lt: '<', lte: '<=', gt: '>', gte: '>=' }
  for (const [name, operators] of Object.entries(columns))
    for (const [query, condition] of [
      ...operators.map((one) => [`__${one}=2026-03-03`, `${compare[one as 'lt']} '2026-03-03'`]),
      ...(/^einddatum$|archief/.test(name) ? [['__isnull=true', 'is null']] : []),
    ])
      for (const [client, level] of [
        ['beheer', 'zeer_geheim'],
        [as, 'openbaar'],
      ] as const) {
        const column = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
        const kept = await sql.unsafe(
          `select uuid from zaak where ${column} ${condition} and vertrouwelijkheidaanduiding <= '${level}' order by id desc`,
        )
        const { body } = await test.call('GET', `${ZAKEN}/zaken?${name}${query}`, undefined, { ...CRS, as: client })
        t.equal(body.count, kept.length, `${client}: ${name}${query}`)
        t.same(
          body.results.map(({ uuid }: { uuid: string }) => uuid),
          kept.map(({ uuid }) => uuid),
        )
      }
})

t.test('one call counts what is in a table that hangs on cases', async (t) => {
  const test = await testApp(t)
  const { sql } = test.database
  const [een, other] = [await givenZaak(test), await givenZaak(test, { vertrouwelijkheidaanduiding: 'geheim' })]
  await sql`create table zaakwens (id bigint generated always as identity, zaak_id bigint not null references zaak on delete cascade)`
  await sql`select count_parts_of('zaakwens')`
  const counted = async () => [
    ...(await sql<{ level: string; n: number }[]>`
      select vertrouwelijkheidaanduiding as level, sum(count)::int as n from zaak_part_count where kind = 'zaakwens'
      group by 1 having sum(count) <> 0 order by 1`),
  ]
  await sql`insert into zaakwens (zaak_id) select id from zaak, generate_series(1, 3) where uuid in (${een.uuid}, ${other.uuid})`
  t.same(await counted(), [
    { level: 'openbaar', n: 3 },
    { level: 'geheim', n: 3 },
  ])
  await sql`update zaakwens set zaak_id = (select id from zaak where uuid = ${een.uuid}) where id % 3 = 0`
  await sql`delete from zaakwens where id % 3 = 1`
  const left = await counted()
  await sql`select count_anew()`
  t.same(await counted(), left, 'as it is counted anew')
  await sql`select fold_counts()`
  t.same(await counted(), left, 'and folded')
  await sql`update zaak set vertrouwelijkheidaanduiding = 'intern'`
  t.same(await counted(), [{ level: 'intern', n: 4 }], 'with their case')
  await sql`truncate zaakwens`
  t.same(await counted(), [])
})

t.test('a row that is added while its case changes level is counted once, at the new level', async (t) => {
  const test = await testApp(t)
  const zaak = await givenZaak(test)
  const { sql } = test.database
  const [row] = await sql<{ id: number }[]>`select id from zaak where uuid = ${zaak.uuid}`
  const changed = Promise.withResolvers<void>()
  const change = sql.begin(async (trx) => {
    await trx`update zaak set vertrouwelijkheidaanduiding = 'geheim' where id = ${row!.id}`
    changed.resolve()
    for (let waits = false; !waits; ) {
      const found = await test.database
        .sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      waits = found.length > 0
    }
  })
  await changed.promise
  await sql`insert into zaakobject (zaak_id, object_type, object) values (${row!.id}, 'adres', 'https://objecten.example/1')`
  await change
  await compare(t, test)
})

t.test('a case with rollen that come at once, and go at once, is counted once', async (t) => {
  const test = await testApp(t)
  const zaak = await givenZaak(test)
  const { sql } = test.database
  const added = Promise.withResolvers<void>()
  const add = (trx: postgres.Sql | postgres.TransactionSql) => trx`
    insert into rol (zaak_id, betrokkene_type, roltype_url, omschrijving, omschrijving_generiek)
    select id, 'medewerker', 'https://elders.example/2', 'x', 'behandelaar' from zaak where uuid = ${zaak.uuid}`
  const first = sql.begin(async (trx) => {
    await add(trx)
    added.resolve()
    for (let waits = false; !waits; ) {
      const found = await sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      waits = found.length > 0
    }
  })
  await added.promise
  await add(sql)
  await first
  await compare(t, test)
  await sql`delete from rol`
  await compare(t, test)
})

t.test('folding leaves alone what stands alone', async (t) => {
  const test = await testApp(t)
  const { sql } = test.database
  const { zaaktype } = await givenTypes(test)
  await givenZaak(test, { zaaktype })
  const secret = await givenZaak(test, { zaaktype, vertrouwelijkheidaanduiding: 'geheim' })
  await sql`select fold_counts()`
  const rows = async () => [
    ...(await sql`select ctid::text as place, vertrouwelijkheidaanduiding, count from zaak_count order by 1`),
  ]
  const before = await rows()
  t.equal(before.length, 2)
  await sql`select fold_counts()`
  t.same(await rows(), before)
  await sql`update zaak set vertrouwelijkheidaanduiding = 'openbaar' where uuid = ${secret.uuid}`
  await sql`select fold_counts()`
  t.match(await rows(), [{ vertrouwelijkheidaanduiding: 'openbaar', count: 2 }])
})

t.test(
  'lists that are filtered by a type or kind are counted by the kept counts, as far as rights reach',
  async (t) => {
    const test = await testApp(t)
    const { sql } = test.database
    const { zaaktype, statustype, roltype } = await givenTypes(test)
    const open = await givenZaak(test, { zaaktype })
    const secret = await givenZaak(test, { zaaktype, vertrouwelijkheidaanduiding: 'zeer_geheim' })
    for (const [{ url, uuid }, own] of [
      [open, 3],
      [secret, 2],
    ] as const) {
      await sql`
      insert into rol (zaak_id, betrokkene_type, roltype_url, omschrijving, omschrijving_generiek, indicatie_machtiging)
      select id, 'medewerker', 'https://elders.example/2', 'x', 'behandelaar', case when n > ${own} then 'gemachtigde' else '' end
      from zaak, generate_series(1, 5) n where uuid = ${uuid}`
      await post(test, 'rollen', rolBody(url, roltype))
      await post(test, 'statussen', statusBody(url, statustype, '2026-03-03T10:00:00Z'))
      await post(test, 'statussen', statusBody(url, statustype, '2026-03-04T10:00:00Z'))
      await sql`insert into resultaat (zaak_id, resultaattype_url, resultaattype_elsewhere)
      select id, 'https://elders.example/3', '{}' from zaak where uuid = ${uuid}`
      for (const objectType of ['adres', 'pand'])
        await sql`insert into zaakobject (zaak_id, object_type, object) select id, ${objectType}, 'https://objecten.example/1'
        from zaak where uuid = ${uuid}`
    }
    const few = await givenClient(test, 'weinig', [
      {
        component: 'zrc',
        scopes: ['zaken.lezen'],
        typeUuid: uuidOf(zaaktype),
        typeUrl: zaaktype,
        max: 'openbaar',
      },
    ])
    const answer = async (list: string, as?: string) =>
      (await test.call('GET', `${ZAKEN}/${list}`, undefined, { ...CRS, ...(as && { as }) })).body as {
        count: number
        results: unknown[]
      }
    const counts = async (as?: string) => {
      const found: Record<string, number> = {}
      for (const list of [...KEPT, ...ROWS].map(([list]) => list)) {
        const { count, results } = await answer(list, as)
        t.equal(results.length, count, list)
        found[list] = count
      }
      return found
    }
    const type = { S: encodeURIComponent(statustype), R: encodeURIComponent(roltype), Z: encodeURIComponent(open.url) }
    const of = (list: string) => list.replace(/\{([SRZ])\}/g, (_, name: 'S' | 'R' | 'Z') => type[name])
    const KEPT: [string, all: number, few: number][] = [
      [of('statussen?statustype={S}'), 4, 2],
      [of('statussen?statustype={S}&indicatieLaatstGezetteStatus=true'), 2, 1],
      [of('statussen?statustype={R}'), 0, 0],
      ['statussen?statustype=https://elders.example/9', 0, 0],
      [of('rollen?roltype={R}'), 2, 1],
      ['rollen?roltype=https://elders.example/2', 10, 5],
      ['rollen?omschrijving=x', 10, 5],
      ['rollen?omschrijvingGeneriek=initiator', 2, 1],
      ['rollen?betrokkeneType=medewerker', 10, 5],
      ['rollen?machtiging=eigen', 7, 4],
      ['rollen?machtiging=eigen&omschrijving=x&betrokkeneType=medewerker', 5, 3],
      ['rollen?machtiging=gemachtigde', 5, 2],
      ['resultaten?resultaattype=https://elders.example/3', 2, 1],
      ['zaakobjecten?objectType=adres', 2, 1],
      [of('zaken?status__statustype={S}'), 2, 1],
      [of(`zaken?status__statustype={S}&zaaktype=${encodeURIComponent(zaaktype)}`), 2, 1],
      ['zaken?resultaat__resultaattype=https://elders.example/3', 2, 1],
      ['zaken?rol__omschrijvingGeneriek=behandelaar', 2, 1],
      ['zaken?rol__betrokkeneType=medewerker', 2, 1],
      [`zaken?rol__machtiging=eigen&zaaktype=${encodeURIComponent(zaaktype)}`, 2, 1],
      ['zaken?rol__machtiging=gemachtigde', 2, 1],
    ]
    const ROWS: [string, all: number, few: number][] = [
      [of('statussen?statustype={S}&zaak={Z}'), 2, 2],
      [of('rollen?machtiging=eigen&zaak={Z}'), 4, 4],
      ['rollen?machtiging=eigen&betrokkene=https://personen.example/1', 2, 1],
      ['zaakobjecten?objectType=adres&object=https://objecten.example/1', 2, 1],
      [of('zaken?status__statustype={S}&bronorganisatie=517439943'), 2, 1],
      [of('zaken?status__statustype={S}&resultaat__resultaattype=https://elders.example/3'), 2, 1],
      [of('zaken?status__statustype={S}&rol__omschrijvingGeneriek=behandelaar'), 2, 1],
      ['zaken?rol__omschrijvingGeneriek=behandelaar&rol__machtiging=gemachtigde', 2, 1],
      ['zaken?rol__omschrijvingGeneriek=initiator&rol__machtiging=gemachtigde', 0, 0],
    ]
    const expected = (at: 1 | 2) => Object.fromEntries([...KEPT, ...ROWS].map((line) => [line[0], line[at]]))
    t.same(await counts(), expected(1), 'all rights')
    t.same(await counts(few), expected(2), 'one type up to a level')
    const search = { status__statustype: statustype, uuid__in: [open.uuid] }
    t.match((await test.call('POST', `${ZAKEN}/zaken/_zoek`, search, CRS)).body, { count: 1 })

    // Without the kept counts these are 0, and what has to be counted by its rows is not.
    await sql`delete from zaak_part_count`
    for (const [list] of KEPT) t.equal((await answer(list)).count, 0, list)
    for (const [list, all] of ROWS) t.equal((await answer(list)).count, all, list)
  },
)

async function compare(t: Test, { database: { sql } }: TestApp): Promise<void> {
  t.same(await wrongCounts(sql), [])
}

async function givenTypes(test: TestApp) {
  const zaaktype = await givenZaaktype(test, { concept: true })
  const statustype = await givenPart(test, 'statustypen', { zaaktype, omschrijving: 'Begin', volgnummer: 1 })
  await givenPart(test, 'statustypen', { zaaktype, omschrijving: 'Eind', volgnummer: 2 })
  const roltype = await givenPart(test, 'roltypen', {
    zaaktype,
    omschrijving: 'Aanvrager',
    omschrijvingGeneriek: 'initiator',
  })
  await test.call('POST', `${zaaktype}/publish`)
  return { zaaktype, statustype, roltype }
}

const post = async (test: TestApp, path: string, body: object) =>
  made(await test.call('POST', `${ZAKEN}/${path}`, body))
const rolBody = (zaak: string, roltype: string) => ({
  zaak,
  roltype,
  betrokkeneType: 'natuurlijk_persoon',
  roltoelichting: 'x',
  betrokkene: 'https://personen.example/1',
})
const statusBody = (zaak: string, statustype: string, moment: string) => ({
  zaak,
  statustype,
  datumStatusGezet: moment,
})

t.test(
  'what a case costs does not grow with the square of its rollen, when they are made nor when it goes',
  async (t) => {
    const test = await testApp(t)
    const { sql } = test.database
    const { zaaktype, roltype } = await givenTypes(test)
    const entries = async (count: number) => {
      const zaak = await givenZaak(test, { zaaktype })
      await post(test, 'rollen', rolBody(zaak.url, roltype))
      // As an entry of the index each is counted that a statement looks at, also of rows that are gone.
      const read = (trx: postgres.TransactionSql) => trx<{ read: number }[]>`
      select sum(pg_stat_get_xact_tuples_returned(indexrelid))::float8 as read from pg_index where indrelid = 'rol'::regclass`
      return sql.begin(async (trx) => {
        const columns = await trx<{ names: string }[]>`
        select string_agg(quote_ident(attname), ', ') as names from pg_attribute
        where attrelid = 'rol'::regclass and attnum > 0 and not attisdropped and attname not in ('id', 'uuid')`
        const names = columns[0]!.names
        await trx.unsafe(`
        insert into rol (${names}) select ${names} from rol, generate_series(1, ${count})
        where zaak_id = (select id from zaak where uuid = '${uuidOf(zaak.url)}')`)
        const [made] = await read(trx)
        await trx`delete from zaak where uuid = ${uuidOf(zaak.url)}`
        const [gone] = await read(trx)
        return { made: made!.read, gone: gone!.read - made!.read }
      })
    }
    const count = 600
    const { made, gone } = await entries(count)
    t.ok(made < 20 * count, `${made} to make them`)
    t.ok(gone < 20 * count, `${gone} when it goes`)
  },
)
