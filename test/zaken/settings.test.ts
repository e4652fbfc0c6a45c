// What an operator chooses for cases: how their numbers are made, and whether values are held against their specificatie.
import t from 'tap'
import { givenCatalogus, givenClient, givenZaaktype, type TestApp, testApp, uuidOf } from '../app.ts'
import { faultsOf, givenPart, givenZaak, made, ZAKEN } from './given.ts'

const DIT_YEAR = new Date().getUTCFullYear()
const reserve = async ({ call }: TestApp, aantal = 1) =>
  made(await call('POST', `${ZAKEN}/zaaknummer_reserveren`, { bronorganisatie: '517439943', aantal }))

t.test('a number has the year of the startdatum; a reserved one that of today', async (t) => {
  const test = await testApp(t)
  const zaaktype = await givenZaaktype(test)
  t.match(await givenZaak(test, { zaaktype, startdatum: '2019-05-01' }), { identificatie: 'ZAAK-2019-0000000001' })
  t.match(await reserve(test), { zaaknummer: `ZAAK-${DIT_YEAR}-0000000002` })
})

t.test('one number far ahead moves the sequence in one step, by ten million at most, and never back', async (t) => {
  const test = await testApp(t)
  const zaaktype = await givenZaaktype(test)
  const next = async (more = {}) =>
    (await givenZaak(test, { zaaktype, startdatum: '2019-05-01', ...more })).identificatie
  await next({ identificatie: 'ZAAK-2019-9000000000' })
  await next({ identificatie: 'ZAAK-2019-0000000001' })
  const began = performance.now()
  t.equal(await next(), 'ZAAK-2019-0010000002')
  t.ok(performance.now() - began < 1_500, 'ten million steps one by one take seconds')
  await test.database.sql`select skip_numbers('zaak_nummer', 5)`
  t.equal(await next(), 'ZAAK-2019-0010000003')
})

t.test('use-creation-year: a number has the year of today, whatever the startdatum', async (t) => {
  const test = await testApp(t, { ZAAK_IDENTIFICATIE_GENERATOR: 'use-creation-year' })
  const zaaktype = await givenZaaktype(test)
  await givenZaak(test, { zaaktype, identificatie: `ZAAK-${DIT_YEAR}-0000000001` })
  t.match(await givenZaak(test, { zaaktype, startdatum: '2019-05-01' }), {
    identificatie: `ZAAK-${DIT_YEAR}-0000000002`,
  })
})

t.test('use-uwv-identification: letters, a sequence and a check digit', async (t) => {
  const test = await testApp(t, { ZAAK_IDENTIFICATIE_GENERATOR: 'use-uwv-identification' })
  const { sql } = test.database
  const zaaktype = await givenZaaktype(test)
  const next = async () => (await givenZaak(test, { zaaktype })).identificatie
  t.same([await next(), await next()], ['A00000006', 'A00000023'], 'the number whose check digit would be 10 is none')
  t.match(await reserve(test, 2), [{ zaaknummer: 'A00000037' }, { zaaknummer: 'A00000040' }])
  await givenZaak(test, { zaaktype, identificatie: 'A00000054' })
  await givenZaak(test, { zaaktype, identificatie: 'A00012303' })
  t.equal(await next(), 'A00012317', 'past those that cases came with')
  await sql`select setval('zaak_nummer_uwv', 259999999)`
  t.equal(await next(), 'AA00000001', 'after Z come two letters')
  await sql`select setval('zaak_nummer_uwv', 7019999998)`
  t.equal(await next(), 'ZZ99999993')
  t.not((await test.call('POST', `${ZAKEN}/zaaknummer_reserveren`, { bronorganisatie: '517439943' })).status, 201)
  const wrong = await sql`select n from generate_series(0, 2000) n where zaaknummer_uwv(n) !~ '^A\\d{8}$'`
  t.same([...wrong], [])
})

t.test('use-number-per-year: each year begins at 1, and creates side by side do not wait for each other', async (t) => {
  const test = await testApp(t, { ZAAK_IDENTIFICATIE_GENERATOR: 'use-number-per-year' })
  const { sql } = test.database
  const zaaktype = await givenZaaktype(test)
  const next = async (startdatum: string, more = {}) =>
    (await givenZaak(test, { zaaktype, startdatum, ...more })).identificatie
  t.equal(await next('2024-05-01'), 'ZAAK-2024-0000000001')
  t.equal(await next('2025-05-01'), 'ZAAK-2025-0000000001')
  t.equal(await next('2024-05-01'), 'ZAAK-2024-0000000003', 'above what it had')
  await next('2025-05-01', { identificatie: 'ZAAK-2025-0000000003' })
  t.equal(await next('2025-05-01'), 'ZAAK-2025-0000000004', 'past one that a case came with')
  await sql`insert into reserved_zaaknummer (bronorganisatie, identificatie) values ('517439943', 'ZAAK-2023-0000000009')`
  t.equal(await next('2023-05-01'), 'ZAAK-2023-0000000010', 'past one that was handed out')
  const together = await Promise.all(Array.from({ length: 8 }, () => next('2022-05-01')))
  t.equal(new Set(together).size, 8)
  t.ok(together.includes('ZAAK-2022-0000000001'))
  await sql.begin(async (one) => {
    await one`select zaak_identificatie_of_year(date '2024-01-01')`
    await sql`select zaak_identificatie_of_year(date '2024-01-01')`
  })
})

t.test('values of eigenschappen are held against their specificatie only when asked for', async (t) => {
  for (const strict of [true, false]) {
    const test = await testApp(t, strict ? { ZAAK_EIGENSCHAP_WAARDE_VALIDATION: 'yes' } : {})
    const zaaktype = await givenZaaktype(test)
    const zaak = (await givenZaak(test, { zaaktype })).url
    let number = 0
    const judge = async (specificatie: object, goed: string[], fault: string[]) => {
      const naam = `e${++number}`
      const eigenschap = await givenPart(test, 'eigenschappen', {
        zaaktype,
        naam,
        definitie: naam,
        specificatie: { lengte: '14', kardinaliteit: '1', waardenverzameling: [], ...specificatie },
      })
      const at = `${zaak}/zaakeigenschappen`
      let url = ''
      for (const waarde of goed) url = made(await test.call('POST', at, { zaak, eigenschap, waarde })).url
      for (const waarde of fault) {
        const expected = strict ? ['nonFieldErrors: waarde-incorrect-format'] : []
        t.same(faultsOf(await test.call('PATCH', url, { waarde })), expected, `${naam} ${waarde}`)
        const answer = await test.call('POST', at, { zaak, eigenschap, waarde })
        t.same(faultsOf(answer), expected, `${naam} ${waarde}`)
        t.equal(answer.headers['x-warning'] !== undefined, !strict, 'a warning, where it is no fault')
      }
    }
    await judge({ formaat: 'tekst', lengte: '3' }, ['abc', '', '👍👍👍'], ['abcd'])
    await judge({ formaat: 'tekst', lengte: '3', waardenverzameling: ['rood', 'blauw'] }, ['rood', ''], ['bla', 'ROOD'])
    await judge({ formaat: 'getal', lengte: '2' }, ['1', '12', ''], ['123', 'a', '1,5', '-1'])
    await judge({ formaat: 'getal', lengte: '2,1' }, ['12', '12,3', '1,', ',5'], ['12,34', '123,4', '1.5'])
    await judge({ formaat: 'datum', lengte: '8' }, ['20240229'], ['20230229', '2024-02-29', '20241301', '202402291'])
    await judge({ formaat: 'datum_tijd' }, ['20240229235959'], ['20240229', '20240229240000', '20240229236000'])
  }
})

t.test('ROL_NNP_ID_TAKES_KVK: a KVK number is kept where an RSIN belongs', async (t) => {
  const test = await testApp(t, { ROL_NNP_ID_TAKES_KVK: 'true' })
  const zaaktype = await givenZaaktype(test)
  const zaak = await givenZaak(test, { zaaktype })
  const roltype = await givenPart(test, 'roltypen', {
    zaaktype,
    omschrijving: 'B',
    omschrijvingGeneriek: 'behandelaar',
  })
  const post = (innNnpId: string, betrokkeneType = 'niet_natuurlijk_persoon') =>
    test.call('POST', `${ZAKEN}/rollen`, {
      ...{ zaak: zaak.url, roltype, betrokkeneType },
      betrokkeneIdentificatie: betrokkeneType === 'natuurlijk_persoon' ? { inpBsn: innNnpId } : { innNnpId },
    })
  for (const number of ['12345678', '517439943', ''])
    t.match((await post(number)).body, { betrokkeneIdentificatie: { innNnpId: number } })
  t.same(faultsOf(await post('123456789')), ['betrokkeneIdentificatie.innNnpId: invalid'])
  t.same(faultsOf(await post('1234567')), ['betrokkeneIdentificatie.innNnpId: invalid'])
  t.match(faultsOf(await post('12345678', 'natuurlijk_persoon')), ['betrokkeneIdentificatie.inpBsn: invalid'])
})

t.test('NOTES_OF_CLOSED_ZAKEN: notes of a closed case ask for no force, those of an archived one stay', async (t) => {
  const test = await testApp(t, { NOTES_OF_CLOSED_ZAKEN: 'true' })
  const zaaktype = await givenZaaktype(test)
  const zaak = await givenZaak(test, { zaaktype })
  const scopes = ['zaken.bijwerken', 'zaken.lezen']
  const right = { component: 'zrc', scopes, typeUuid: uuidOf(zaaktype), typeUrl: zaaktype, max: 'zeer_geheim' }
  const as = await givenClient(test, 'balie', [right])
  const note = { gerelateerdAan: zaak.url, onderwerp: 'Bel', tekst: 'Terugbellen' }
  await test.database.sql`update zaak set einddatum = '2026-03-06'`
  const { url } = made(await test.call('POST', `${ZAKEN}/zaaknotities`, note, { as }))
  t.equal((await test.call('PATCH', url, { tekst: 'x' }, { as })).status, 200)
  await test.database.sql`update zaak set archiefstatus = 'gearchiveerd'`
  for (const method of ['PATCH', 'DELETE'])
    t.same(faultsOf(await test.call(method, url, method === 'PATCH' ? { tekst: 'y' } : undefined, { as })), [
      'nonFieldErrors: zaak-archiefstatus-invalid',
    ])
})

t.test('CHANGE_ARCHIVED_ZAKEN and VERSIONS_SHARE_DAY: what Open Zaak lets through', async (t) => {
  const test = await testApp(t, { CHANGE_ARCHIVED_ZAKEN: 'true', VERSIONS_SHARE_DAY: 'true' })
  const catalogus = await givenCatalogus(test)
  const zaaktype = await givenZaaktype(test, { catalogus, identificatie: 'OUD' })
  const zaak = await givenZaak(test, { zaaktype })
  const note = { gerelateerdAan: zaak.url, onderwerp: 'Bel', tekst: 'Terugbellen' }
  const { url } = made(await test.call('POST', `${ZAKEN}/zaaknotities`, note))
  await test.database.sql`update zaak set archiefstatus = 'gearchiveerd'` // and not closed, which Open Zaak has too
  const right = (scopes: string[]) => [
    { component: 'zrc', scopes, typeUuid: uuidOf(zaaktype), typeUrl: zaaktype, max: 'zeer_geheim' },
  ]
  const as = await givenClient(test, 'balie', right(['zaken.bijwerken']))
  const forced = await givenClient(test, 'overname', right(['zaken.bijwerken', 'zaken.geforceerd-bijwerken']))
  t.equal((await test.call('DELETE', url, undefined, { as })).status, 403)
  t.equal((await test.call('DELETE', url, undefined, { as: forced })).status, 204)

  t.equal((await test.call('PATCH', zaaktype, { eindeGeldigheid: '2025-01-01' })).status, 200)
  const next = { catalogus, identificatie: 'OUD', concept: true }
  const version = (beginGeldigheid: string) => givenZaaktype(test, { ...next, beginGeldigheid })
  t.equal((await test.call('POST', `${await version('2025-01-01')}/publish`)).status, 200)
  t.same(faultsOf(await test.call('POST', `${await version('2024-12-31')}/publish`)), ['beginGeldigheid: overlap'])
})
