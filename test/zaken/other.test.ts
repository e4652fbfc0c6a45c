import t from 'tap'
import { givenZaaktype, testApp } from '../app.ts'
import { faultsOf, givenZaak, made, ZAKEN } from './given.ts'

t.test('notes, substatuses and klantcontacten', async (t) => {
  const test = await testApp(t)
  const { call, database } = test
  const zaaktype = await givenZaaktype(test, { statustypen: ['Begin', 'Eind'] })
  const zaak = await givenZaak(test, { zaaktype })

  await t.test('a note changes until it is definitief, and leaves no trail', async (t) => {
    const body = { gerelateerdAan: zaak.url, onderwerp: 'Bel', tekst: 'Terugbellen' }
    const note = made(await call('POST', `${ZAKEN}/zaaknotities`, body))
    t.match(note, { ...body, notitieType: 'intern', status: 'concept', aangemaaktDoor: '' })
    t.same((await call('GET', note.url)).body, note)
    t.equal((await call('GET', `${ZAKEN}/zaaknotities?tekst__icontains=BELLEN&status=concept`)).body.count, 1)
    for (const name of ['gerelateerdAan', 'zaak'])
      t.equal((await call('GET', `${ZAKEN}/zaaknotities?${name}=${encodeURIComponent(zaak.url)}`)).body.count, 1, name)
    t.equal((await call('PATCH', note.url, { status: 'definitief' })).body.status, 'definitief')
    t.same(faultsOf(await call('PATCH', note.url, { tekst: 'x' })), ['status: invalid'])
    t.equal((await call('DELETE', note.url)).status, 204)
    t.same(faultsOf(await call('POST', `${ZAKEN}/zaaknotities`, { ...body, gerelateerdAan: zaaktype })), [
      'gerelateerdAan: incorrect_match',
    ])
    const records = await database.sql`select 1 from audit where resource = 'zaaknotitie'`
    t.equal(records.length, 0)
  })

  await t.test('a substatus belongs to a status of the case', async (t) => {
    const body = { zaak: zaak.url, omschrijving: 'Stap' }
    t.same(faultsOf(await call('POST', `${ZAKEN}/substatussen`, body)), ['status: required'])
    const moment = { datumStatusGezet: '2026-03-02T10:00:00Z' }
    const types = (await call('GET', zaaktype)).body.statustypen
    const begin = (await Promise.all(types.map(async (url: string) => (await call('GET', url)).body))).find(
      ({ isEindstatus }) => !isEindstatus,
    ).url
    const status = made(await call('POST', `${ZAKEN}/statussen`, { zaak: zaak.url, statustype: begin, ...moment }))
    const other = await givenZaak(test, { zaaktype })
    const substatus = made(await call('POST', `${ZAKEN}/substatussen`, body))
    t.match(substatus, { status: status.url, doelgroep: 'betrokkenen' })
    t.same(faultsOf(await call('POST', `${ZAKEN}/substatussen`, { ...body, zaak: other.url, status: status.url })), [
      'nonFieldErrors: zaak-status-mismatch',
    ])
    t.same(faultsOf(await call('POST', `${ZAKEN}/substatussen`, { ...body, tijdstip: '2999-01-01T00:00:00Z' })), [
      'tijdstip: date-in-future',
    ])
  })

  await t.test('a klantcontact warns that it goes', async (t) => {
    const body = { zaak: zaak.url, datumtijd: '2026-03-02T10:00:00Z' }
    const answer = await call('POST', `${ZAKEN}/klantcontacten`, body)
    t.match(answer.body.identificatie, /^[0-9a-f]{12}$/)
    t.match(answer.headers.warning, /^299 /)
    const { identificatie } = answer.body
    t.same(faultsOf(await call('POST', `${ZAKEN}/klantcontacten`, { ...body, identificatie })), [
      'identificatie: unique',
    ])
  })
})
