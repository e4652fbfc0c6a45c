import t from 'tap'
import { LIMITS } from '../../src/core/limits.ts'
import { givenClient, givenInformatieobjecttype, givenZaaktype, type Json, testApp, uuidOf } from '../app.ts'
import { auditRecords } from '../audit-records.ts'
import {
  CRS,
  faultsOf,
  givenDocument,
  givenResultaattype,
  givenZaak,
  made,
  noteStatements,
  ZAKEN,
  zaakBody,
} from './given.ts'

t.test('combined endpoints', async (t) => {
  const test = await testApp(t)
  const { call, database } = test
  const informatieobjecttype = await givenInformatieobjecttype(test)
  const { catalogus } = (await call('GET', informatieobjecttype)).body
  const zaaktype = await givenZaaktype(test, {
    catalogus,
    informatieobjecttypen: [informatieobjecttype],
    statustypen: ['Begin', 'Eind'],
    roltypen: [
      { omschrijving: 'Behandelaar', omschrijvingGeneriek: 'behandelaar' },
      { omschrijving: 'Aanvrager', omschrijvingGeneriek: 'initiator' },
    ],
  })
  const type = (await call('GET', zaaktype)).body
  const statustypen = await Promise.all(type.statustypen.map(async (url: string) => (await call('GET', url)).body))
  const [begin, eind] = [false, true].map((is) => statustypen.find(({ isEindstatus }) => isEindstatus === is).url)
  const resultaattype = await givenResultaattype(test, zaaktype, { afleidingswijze: 'afgehandeld' })
  const roltypen = await Promise.all(type.roltypen.map(async (url: string) => (await call('GET', url)).body))
  const [roltype, aanvrager] = ['behandelaar', 'initiator'].map(
    (kind) => roltypen.find(({ omschrijvingGeneriek }) => omschrijvingGeneriek === kind).url,
  )
  let second = 10
  const status = (statustype: string) => ({ statustype, datumStatusGezet: `2026-03-05T10:00:${second++}Z` })
  const rol = (identificatie: string) => ({
    betrokkeneType: 'medewerker',
    roltype,
    betrokkeneIdentificatie: { identificatie },
  })
  const read = async (url: string) => (await call('GET', url, undefined, CRS)).body
  const namesOf = (rollen: Json[]): string[] =>
    rollen.map(({ betrokkeneIdentificatie }) => betrokkeneIdentificatie.identificatie)
  const statementsOnRol = await noteStatements(test, 'rol')
  const zaken = async () => (await database.sql`select count(*)::int as n from zaak`)[0]!.n

  await t.test('zaak_registreren makes all or nothing', async (t) => {
    const body = {
      zaak: zaakBody(zaaktype),
      rollen: [rol('a'), rol('b')],
      zaakinformatieobjecten: [{ informatieobject: await givenDocument(test, informatieobjecttype) }],
      zaakobjecten: [{ objectType: 'pand', objectIdentificatie: { identificatie: '1' } }],
      status: status(begin),
    }
    const answer = await call('POST', `${ZAKEN}/zaak_registreren`, body)
    t.equal(answer.status, 201, answer.text)
    t.equal(answer.body.rollen.length, 2)
    t.match(await read(answer.body.zaak.url), {
      status: answer.body.status.url,
      zaakinformatieobjecten: [answer.body.zaakinformatieobjecten[0].url],
      zaakobjecten: [answer.body.zaakobjecten[0].url],
    })
    const messages = await database.sql`select 1 from notificatie where hoofd_object_uuid = ${answer.body.zaak.uuid}`
    t.equal(messages.length, 6)
    const before = await zaken()
    const wrong = (values: object) => call('POST', `${ZAKEN}/zaak_registreren`, { ...body, ...values })
    t.same(faultsOf(await wrong({ rollen: [rol('a'), { ...rol('b'), roltype: zaaktype }] })), [
      'rollen.1.roltype: invalid-resource',
    ])
    t.same(faultsOf(await wrong({ status: status(eind) })), ['status.nonFieldErrors: resultaat-does-not-exist'])
    t.same(faultsOf(await wrong({ zaak: {} })).length, 4)
    t.equal(await zaken(), before)
  })

  await t.test('zaak_afsluiten sets the resultaat and the eindstatus', async (t) => {
    const zaak = await givenZaak(test, { zaaktype })
    const path = `${ZAKEN}/zaak_afsluiten/${zaak.uuid}`
    const body = { zaak: { toelichting: 'klaar' }, resultaat: { resultaattype }, status: status(eind) }
    t.same(faultsOf(await call('POST', path, { ...body, status: status(begin) })), [
      'status.nonFieldErrors: eindstatus-required',
    ])
    const answer = await call('POST', path, body)
    t.equal(answer.status, 200, answer.text)
    t.match(await read(zaak.url), { einddatum: '2026-03-05', archiefactiedatum: '2036-03-05', toelichting: 'klaar' })
    t.same(faultsOf(await call('POST', path, { ...body, status: status(eind) })), ['resultaat.zaak: unique'])
    t.equal((await call('POST', `${ZAKEN}/zaak_afsluiten/${uuidOf(zaaktype)}`, body)).status, 404)
  })

  await t.test('zaak_opschorten and zaak_verlengen change their own group only', async (t) => {
    const zaak = await givenZaak(test, { zaaktype })
    const opschorting = { indicatie: true, reden: 'wacht' }
    const opgeschort = await call('POST', `${ZAKEN}/zaak_opschorten/${zaak.uuid}`, {
      zaak: { opschorting, toelichting: 'niet' },
      status: status(begin),
    })
    t.match(opgeschort.body.zaak, { opschorting, toelichting: '' })
    const verlenging = { reden: 'druk', duur: 'P5D' }
    const verlengd = await call('POST', `${ZAKEN}/zaak_verlengen/${zaak.uuid}`, {
      zaak: { verlenging },
      status: status(begin),
    })
    t.same(verlengd.body.zaak.verlenging, verlenging)
    t.same(
      faultsOf(
        await call('POST', `${ZAKEN}/zaak_verlengen/${zaak.uuid}`, { zaak: { verlenging }, status: status(eind) }),
      ),
      ['status.nonFieldErrors: eindstatus-not-allowed'],
    )
    t.same(faultsOf(await call('POST', `${ZAKEN}/zaak_verlengen/${zaak.uuid}`, { zaak: {}, status: status(begin) })), [
      'zaak.verlenging: required',
    ])
    for (const name of ['opschorten', 'verlengen']) {
      const group = name === 'opschorten' ? 'opschorting' : 'verlenging'
      t.same(
        faultsOf(await call('POST', `${ZAKEN}/zaak_${name}/${zaak.uuid}`, { zaak: {}, status: {} })),
        [`zaak.${group}: required`, 'status.statustype: required', 'status.datumStatusGezet: required'],
        'faults of the status are named beside those of the case',
      )
    }
  })

  await t.test('zaak_bijwerken replaces the rollen', async (t) => {
    const zaak = await givenZaak(test, { zaaktype })
    const [keep, drop] = await Promise.all(
      ['blijft', 'gaat'].map(async (name) =>
        made(await call('POST', `${ZAKEN}/rollen`, { zaak: zaak.url, ...rol(name) })),
      ),
    )
    const path = `${ZAKEN}/zaak_bijwerken/${zaak.uuid}`
    const answer = await call('POST', path, {
      zaak: { omschrijving: 'x' },
      rollen: [{ uuid: keep.uuid, ...rol('anders') }, rol('nieuw')],
      status: status(begin),
    })
    t.equal(answer.status, 200, answer.text)
    t.same(answer.body.rollen.map((one: Json) => one.betrokkeneIdentificatie.identificatie).sort(), ['anders', 'nieuw'])
    t.equal((await call('GET', drop.url)).status, 404)
    t.same(faultsOf(await call('POST', path, { rollen: [{ uuid: drop.uuid, ...rol('x') }], status: status(begin) })), [
      'rollen.0.uuid: does-not-exist',
    ])
    const uuids = [drop.uuid, keep.uuid, keep.uuid, 'geen uuid']
    const wrong = { rollen: uuids.map((uuid) => ({ uuid, ...rol('x') })), status: status(begin) }
    t.same(
      faultsOf(await call('POST', path, wrong)),
      ['rollen.0.uuid: does-not-exist', 'rollen.2.uuid: duplicate', 'rollen.3.uuid: does-not-exist'],
      'each one',
    )
    const kept = await call('POST', path, { zaak: {}, status: status(begin) })
    t.equal(kept.body.rollen.length, 2)
  })

  await t.test(
    'rollen are written together, and recorded and announced one by one in the order of the body',
    async (t) => {
      await statementsOnRol()
      const registered = await call('POST', `${ZAKEN}/zaak_registreren`, {
        zaak: zaakBody(zaaktype),
        rollen: [rol('a'), { ...rol('b'), roltype: aanvrager, beginGeldigheid: '2026-03-01' }, rol('c'), rol('d')],
        status: status(begin),
      })
      t.equal(registered.status, 201, registered.text)
      const { zaak, rollen } = registered.body
      t.same(namesOf(rollen), ['a', 'b', 'c', 'd'])
      t.match(rollen[1], { omschrijving: 'Aanvrager', beginGeldigheid: '2026-03-01', contactpersoonRol: { naam: '' } })
      t.same(await statementsOnRol(), ['INSERT'])
      const listed = (await call('GET', `${ZAKEN}/rollen?zaak=${encodeURIComponent(zaak.url)}`)).body.results
      t.same(listed, rollen.toReversed(), 'the newest first')

      const contactpersoonRol = { naam: 'Jo', emailadres: '', functie: '', telefoonnummer: '' }
      const changed = await call('POST', `${ZAKEN}/zaak_bijwerken/${zaak.uuid}`, {
        rollen: [
          { ...rol('e'), roltype: aanvrager },
          { uuid: rollen[2].uuid.toUpperCase(), ...rol('C'), contactpersoonRol },
          rol('f'),
          { uuid: rollen[0].uuid, ...rol('A'), roltoelichting: 'x' },
        ],
        status: status(begin),
      })
      t.equal(changed.status, 200, changed.text)
      t.same(namesOf(changed.body.rollen), ['f', 'e', 'C', 'A'])
      t.match(changed.body.rollen[2], {
        uuid: rollen[2].uuid,
        contactpersoonRol,
        registratiedatum: rollen[2].registratiedatum,
      })
      t.same((await statementsOnRol()).sort(), ['DELETE', 'INSERT', 'UPDATE'])
      const lines = await auditRecords(
        database,
        database.sql`hoofd_object_uuid = ${uuidOf(zaak.url)} and resource = 'rol'`,
      )
      const nameIn = (one: Json) => one?.betrokkeneIdentificatie.identificatie
      t.same(
        lines.map(({ actie, oud, nieuw }) => [actie, nameIn(oud), nameIn(nieuw)]),
        [
          ...['a', 'b', 'c', 'd'].map((name) => ['create', undefined, name]),
          ...['b', 'd'].map((name) => ['destroy', name, undefined]),
          ['create', undefined, 'e'],
          ['update', 'c', 'C'],
          ['create', undefined, 'f'],
          ['update', 'a', 'A'],
        ],
      )
      t.same(lines.at(-1)!.nieuw, changed.body.rollen[3])
      const messages = await database.sql`
      select resource_url, actie from notificatie where hoofd_object = ${zaak.url} and resource = 'rol' order by id`
      t.same(
        messages.map(({ actie, resource_url }) => [actie, resource_url]),
        lines.map(({ actie, oud, nieuw }) => [actie, (nieuw ?? oud).url]),
      )
    },
  )

  await t.test('rollen that come together are judged one after the other', async (t) => {
    const initiator = { ...rol('a'), roltype: aanvrager }
    const body = { zaak: zaakBody(zaaktype), rollen: [initiator, rol('b'), initiator], status: status(begin) }
    const before = await zaken()
    const twice = await call('POST', `${ZAKEN}/zaak_registreren`, body)
    t.same(faultsOf(twice), ['rollen.2.roltype: max-occurences'])
    t.equal(await zaken(), before)
    const none = { ...rol('b'), roltype: `${roltype.slice(0, -36)}${zaaktype.slice(-36)}` }
    const wrong = await call('POST', `${ZAKEN}/zaak_registreren`, { ...body, rollen: [rol('a'), none, { roltype: 3 }] })
    t.same(faultsOf(wrong), ['rollen.1.roltype: bad-url'])
  })

  await t.test(
    'rollen of a case are replaced as long as there are no more of them than can be read at once',
    async (t) => {
      const zaak = await givenZaak(test, { zaaktype })
      await database.sql`insert into rol (zaak_id, betrokkene_type, betrokkene, roltype_id, omschrijving, omschrijving_generiek)
      select (select id from zaak where uuid = ${zaak.uuid}), 'medewerker', 'https://elders.example/' || n,
        (select id from roltype where uuid = ${uuidOf(roltype)}), 'Behandelaar', 'behandelaar'
      from generate_series(1, ${2 * LIMITS.items + 1}::int) n`
      const path = `${ZAKEN}/zaak_bijwerken/${zaak.uuid}`
      const full = { rollen: [rol('a')], status: status(begin) }
      t.same(faultsOf(await call('POST', path, full)), ['rollen: max_items'])
      await database.sql`delete from rol where betrokkene = 'https://elders.example/1'`
      const answer = await call('POST', path, full)
      t.same(namesOf(answer.body.rollen), ['a'])
    },
  )

  await t.test('a closed case asks for both forced scopes', async (t) => {
    const zaak = await givenZaak(test, { zaaktype })
    const body = { zaak: {}, resultaat: { resultaattype }, status: status(eind) }
    t.equal((await call('POST', `${ZAKEN}/zaak_afsluiten/${zaak.uuid}`, body)).status, 200)
    const right = (scopes: string[]) => [
      { component: 'zrc', scopes, typeUuid: uuidOf(zaaktype), typeUrl: zaaktype, max: 'openbaar' },
    ]
    const one = await givenClient(test, 'een', right(['zaken.geforceerd-bijwerken', 'zaken.statussen.toevoegen']))
    const both = await givenClient(test, 'beide', right(['zaken.geforceerd-bijwerken', 'zaken.heropenen']))
    const bijwerken = (as: string) =>
      call('POST', `${ZAKEN}/zaak_bijwerken/${zaak.uuid}`, { status: status(begin) }, { as })
    t.equal((await bijwerken(one)).status, 403)
    t.equal((await bijwerken(both)).status, 200)
    t.equal((await read(zaak.url)).einddatum, null)
  })

  await t.test('a reserved number is used only by who names it', async (t) => {
    const { body } = await call('POST', `${ZAKEN}/zaaknummer_reserveren`, { bronorganisatie: '517439943' })
    t.match(body.zaaknummer, /^ZAAK-\d{4}-\d{10}$/)
    const many = await call('POST', `${ZAKEN}/zaaknummer_reserveren`, { bronorganisatie: '517439943', aantal: 3 })
    t.equal(many.body.length, 3)
    t.not((await givenZaak(test, { zaaktype })).identificatie, body.zaaknummer)
    t.equal((await givenZaak(test, { zaaktype, identificatie: body.zaaknummer })).identificatie, body.zaaknummer)
    const again = await call('POST', `${ZAKEN}/zaken`, zaakBody(zaaktype, { identificatie: body.zaaknummer }), CRS)
    t.same(faultsOf(again), ['identificatie: identificatie-niet-uniek'])
  })
})
