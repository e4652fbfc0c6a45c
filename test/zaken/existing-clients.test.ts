// What clients in use send and expect beside the standard's examples.
import t from 'tap'
import { givenClient, givenZaaktype, testApp, uuidOf } from '../app.ts'
import { CRS, faultsOf, givenZaak, made, ZAKEN, zaakBody } from './given.ts'

const test = await testApp(t)
const { call } = test
const zaaktype = await givenZaaktype(test, {
  roltypen: [{ omschrijving: 'Indiener', omschrijvingGeneriek: 'belanghebbende' }],
})
const other = await givenZaaktype(test, {
  roltypen: [{ omschrijving: 'Elders', omschrijvingGeneriek: 'belanghebbende' }],
})
const roltypeOf = async (type: string): Promise<string> => (await call('GET', type)).body.roltypen[0]
const roltype = await roltypeOf(zaaktype)

t.test('zrc-022: a case that was archived elsewhere is made as it is, by who may change closed cases', async (t) => {
  const archived = { archiefstatus: 'gearchiveerd_procestermijn_onbekend' }
  t.match(await givenZaak(test, { zaaktype, ...archived }), { ...archived, archiefactiedatum: null })
  const right = { component: 'zrc', typeUuid: uuidOf(zaaktype), max: 'zeer_geheim' }
  const as = await givenClient(test, 'aanmaker', [{ ...right, scopes: ['zaken.aanmaken', 'zaken.bijwerken'] }])
  const refused = await call('POST', `${ZAKEN}/zaken`, zaakBody(zaaktype, archived), { as, ...CRS })
  t.same(faultsOf(refused), [
    'archiefnominatie: archiefnominatie-not-set',
    'archiefactiedatum: archiefactiedatum-not-set',
  ])
  const forced = ['zaken.aanmaken', 'zaken.geforceerd-bijwerken']
  const mover = await givenClient(test, 'overnemer', [{ ...right, scopes: forced }])
  t.match(made(await call('POST', `${ZAKEN}/zaken`, zaakBody(zaaktype, archived), { as: mover, ...CRS })), archived)
})

t.test('authenticatieContext', async (t) => {
  const zaak = await givenZaak(test, { zaaktype })
  const post = (authenticatieContext: object, values: object = {}) =>
    call('POST', `${ZAKEN}/rollen`, {
      zaak: zaak.url,
      roltype,
      betrokkeneType: 'niet_natuurlijk_persoon',
      betrokkeneIdentificatie: { statutaireNaam: 'Bakkerij' },
      indicatieMachtiging: 'gemachtigde',
      authenticatieContext,
      ...values,
    })
  const context = {
    source: 'eherkenning',
    levelOfAssurance: 'urn:etoegang:core:assurance-class:loa3',
    actingSubject: '4B75A0EA107B3D36',
  }
  const mandate = { services: [{ id: 'urn:etoegang:DV:1', uuid: '34085d78-21aa-4481-a219-b28d7f3282fc' }] }

  await t.test('is kept as it came, without additions', async (t) => {
    t.strictSame(made(await post(context, { indicatieMachtiging: '' })).authenticatieContext, context)
    const represented = { ...context, representee: { identifierType: 'kvkNummer', identifier: '12345678' }, mandate }
    const { url } = made(await post(represented))
    t.strictSame((await call('GET', url)).body.authenticatieContext, represented)
  })

  await t.test('a represented BSN has nine digits that fit, a number of the KvK at most eight', async (t) => {
    const represented = (identifierType: string, identifier: string) =>
      post({ ...context, representee: { identifierType, identifier }, mandate })
    const name = 'authenticatieContext.representee.identifier'
    for (const [type, identifier, code] of [
      ['bsn', '12345672', 'min_length'],
      ['bsn', '123456789', 'invalid'],
      ['bsn', 'abcdefghi', 'only-digits'],
      ['kvkNummer', '123456789', 'max_length'],
    ] as const)
      t.match(faultsOf(await represented(type, identifier)), [`${name}: ${code}`])
    t.equal((await represented('bsn', '123456782')).status, 201)
  })
})

t.test('zaaktype-mismatch of a roltype comes before invalid-betrokkene', async (t) => {
  const zaak = await givenZaak(test, { zaaktype })
  const nobody = { zaak: zaak.url, betrokkeneType: 'medewerker' }
  const mismatch = await call('POST', `${ZAKEN}/rollen`, { ...nobody, roltype: await roltypeOf(other) })
  t.match(faultsOf(mismatch)[0], 'zaaktype-mismatch')
  t.same(faultsOf(await call('POST', `${ZAKEN}/rollen`, { ...nobody, roltype })), [
    'nonFieldErrors: invalid-betrokkene',
  ])
})

t.test('zaaknotities are found by the day on which they were made', async (t) => {
  const { url: gerelateerdAan } = await givenZaak(test, { zaaktype })
  const note = { gerelateerdAan, onderwerp: 'O', tekst: 'T', aangemaaktDoor: 'A', notitieType: 'intern' }
  const made1 = made(await call('POST', `${ZAKEN}/zaaknotities`, note))
  // A day is one of here, also in the last hour of a day in UTC.
  const day = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Amsterdam' }).format(new Date(made1.aanmaakdatum))
  for (const [query, count] of [
    [`aanmaakdatum__date=${day}`, 1],
    ['aanmaakdatum__date=2020-01-01', 0],
    [`aanmaakdatum__lte=${made1.aanmaakdatum}`, 1],
    ['aanmaakdatum__lte=2020-01-01T00:00:00Z', 0],
  ] as const) {
    const list = await call(
      'GET',
      `${ZAKEN}/zaaknotities?gerelateerdAan=${encodeURIComponent(gerelateerdAan)}&${query}`,
    )
    t.equal(list.body.count, count, query)
  }
})

t.test('a request without a token is told that the header is missing', async (t) => {
  const answer = await test.app.inject({
    url: `${ZAKEN}/zaken`,
    headers: { host: 'localhost', 'accept-crs': 'EPSG:4326' },
  })
  t.equal(answer.statusCode, 403)
  t.match(answer.json().detail, /Authorization/)
})
