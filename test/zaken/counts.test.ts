// Counts of cases, of what hangs on them and of besluiten are kept: here they are compared with what is there.
import t, { type Test } from 'tap'
import { givenBesluittype, givenClient, givenZaaktype, type TestApp, testApp, uuidOf } from '../app.ts'
import { givenBesluit } from '../besluiten/given.ts'
import { CRS, givenPart, givenZaak, made, ZAKEN } from './given.ts'

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
    while (!isDone) await sql`select vouw_aantallen()`
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
  const [een, ander] = await sql<
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
  await sql`update rol set zaak_id = ${ander!.id} where id % 3 = 0`
  await sql`update zaak set einddatum = current_date, archiefstatus = 'overgedragen' where id = ${ander!.id}`
  await compare(t, test)
  await sql`delete from status where datum_status_gezet = '2026-01-05'`
  await sql`update zaak set zaaktype_id = null, zaaktype_url = 'https://elders.example/t', zaaktype_catalogus_url = 'c',
    zaaktype_identificatie = 'i', zaaktype_omschrijving = 'o' where id = ${een!.id}`
  await compare(t, test)
  await sql`truncate klantcontact, zaaknotitie, substatus`
  await sql`select tel_aantallen_opnieuw()`
  await compare(t, test)
  await sql`delete from zaak`
  await compare(t, test)
  await sql`select vouw_aantallen()`
  t.same(await sql`select from zaak_aantal union all select from zaakdeel_aantal`, [])
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

t.test(
  'who speaks for himself is counted by all rollen less the others, as far as the rights of the client reach',
  async (t) => {
    const test = await testApp(t)
    const { sql } = test.database
    const [open, secret] = [
      await givenZaak(test),
      await givenZaak(test, { vertrouwelijkheidaanduiding: 'zeer_geheim' }),
    ]
    for (const [{ uuid }, own] of [
      [open, 3],
      [secret, 2],
    ] as const)
      await sql`insert into rol (zaak_id, betrokkene_type, roltype_url, omschrijving, omschrijving_generiek, indicatie_machtiging)
      select id, 'medewerker', 'https://elders.example/2', 'x', 'behandelaar', case when n > ${own} then 'gemachtigde' else '' end
      from zaak, generate_series(1, 5) n where uuid = ${uuid}`
    const few = await givenClient(test, 'weinig', [
      {
        component: 'zrc',
        scopes: ['zaken.lezen'],
        typeUuid: uuidOf(open.zaaktype),
        typeUrl: open.zaaktype,
        max: 'openbaar',
      },
    ])
    const eigen = async (query: string, as?: string) =>
      (await test.call('GET', `${ZAKEN}/rollen?machtiging=eigen${query}`, undefined, { ...(as && { as }) })).body
    t.match(await eigen(''), { count: 5, results: { length: 5 } })
    t.match(await eigen('', few), { count: 3, results: { length: 3 } })
    t.match(await eigen('&omschrijving=y'), { count: 0, results: { length: 0 } })
  },
)

/** Kept and counted, in all groups. */
async function compare(t: Test, { database: { sql } }: TestApp): Promise<void> {
  const kept = await sql`
    select zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, bronorganisatie, archiefnominatie, archiefstatus,
      einddatum is null as open, sum(aantal)::integer as n
    from zaak_aantal group by 1, 2, 3, 4, 5, 6, 7 having sum(aantal) <> 0 order by 1, 2, 3, 4, 5, 6, 7`
  const there = await sql`
    select zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, bronorganisatie, archiefnominatie, archiefstatus,
      einddatum is null as open, count(*)::integer as n
    from zaak group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3, 4, 5, 6, 7`
  t.same([...kept], [...there], 'cases')
  const parts = await sql`
    select soort, groep, zaaktype_id, zaaktype_url, vertrouwelijkheidaanduiding, sum(aantal)::integer as n
    from zaakdeel_aantal group by 1, 2, 3, 4, 5 having sum(aantal) <> 0 order by 1, 2, 3, 4, 5`
  const partsThere = await sql`
    select d.soort, d.groep, z.zaaktype_id, z.zaaktype_url, z.vertrouwelijkheidaanduiding, count(*)::integer as n
    from (
      select 'status' as soort, case when exists (select from status o where o.zaak_id = s.zaak_id
        and o.datum_status_gezet > s.datum_status_gezet) then 'eerder' else 'laatst' end as groep, zaak_id from status s
      union all select 'rol', omschrijving_generiek, zaak_id from rol
      union all select 'resultaat', '', zaak_id from resultaat
      union all select 'zaakobject', '', zaak_id from zaakobject
      union all select 'substatus', '', zaak_id from substatus
      union all select 'klantcontact', '', zaak_id from klantcontact
      union all select 'zaaknotitie', '', zaak_id from zaaknotitie
    ) d join zaak z on z.id = d.zaak_id group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5`
  t.same([...parts], [...partsThere], 'what hangs on cases')
  const besluiten = await sql`
    select besluittype_id, verantwoordelijke_organisatie, sum(aantal)::integer as n from besluit_aantal
    group by 1, 2 having sum(aantal) <> 0 order by 1, 2`
  const besluitenThere = await sql`
    select besluittype_id, verantwoordelijke_organisatie, count(*)::integer as n from besluit group by 1, 2 order by 1, 2`
  t.same([...besluiten], [...besluitenThere], 'besluiten')
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
