// zrc-021, afleidingswijze `zaakobject`, with objects by URL: ours and at other servers.
import t, { type Test } from 'tap'
import { givenInformatieobjecttype, givenZaaktype, type Json, type TestApp, testApp } from '../app.ts'
import { givenOtherServer } from '../other-server.ts'
import { CRS, faultsOf, givenDocument, givenType, givenZaak, made, ZAKEN } from './given.ts'

const zaakobject = (objecttype: string, datumkenmerk: string) => ({
  afleidingswijze: 'zaakobject',
  objecttype,
  datumkenmerk,
})
const read = async (test: TestApp, zaak: { url: string }) => (await test.call('GET', zaak.url, undefined, CRS)).body

const zaakElders = {
  url: 'https://elders.example/zaken/1',
  identificatie: 'ZAAK-1',
  bronorganisatie: '517439943',
  verantwoordelijkeOrganisatie: '517439943',
  zaaktype: 'https://elders.example/zaaktypen/1',
  startdatum: '2026-01-01',
}

let second = 0
const status = (test: TestApp, zaak: { url: string }, statustype: string) =>
  test.call('POST', `${ZAKEN}/statussen`, {
    zaak: zaak.url,
    statustype,
    datumStatusGezet: `2026-03-05T10:00:${String(second++ % 60).padStart(2, '0')}Z`,
  })
const reasonsOf = (answer: { body: Json }): string[] =>
  (answer.body?.invalidParams ?? []).map(({ reason }: { reason: string }) => reason)

async function givenZaakWithObjecten(t: Test, datumkenmerk: string, resources: Record<string, unknown>) {
  const test = await testApp(t)
  const elders = await givenOtherServer(t, test, resources)
  const type = await givenType(test, zaakobject('overige', datumkenmerk))
  const zaak = await givenZaak(test, type)
  const linkObject = (path: string) =>
    test.call('POST', `${ZAKEN}/zaakobjecten`, {
      zaak: zaak.url,
      object: `${elders.root}${path}`,
      objectType: 'overige',
      objectTypeOverige: 'ding',
    })
  const resultaat = () =>
    test.call('POST', `${ZAKEN}/resultaten`, { zaak: zaak.url, resultaattype: type.resultaattype })
  return { test, elders, type, zaak, koppel: linkObject, resultaat }
}

t.test('zrc-021: objects at other servers are asked for their day, and the latest counts', async (t) => {
  const object = (datum: unknown) => ({ record: { data: { einde_gebruik: datum } } })
  const {
    test,
    type,
    zaak,
    koppel: linkObject,
    resultaat,
  } = await givenZaakWithObjecten(t, 'record/data/einde_gebruik', {
    '/objecten/1': object('2030-02-03'),
    '/objecten/2': object('3-2-2031'),
  })
  made(await linkObject('/objecten/1'))
  made(await linkObject('/objecten/2'))
  made(await resultaat())
  made(await status(test, zaak, type.eind))
  t.match(await read(test, zaak), { startdatumBewaartermijn: '2031-02-03', archiefactiedatum: '2041-02-03' })
})

t.test('zrc-021: an object elsewhere that does not say its day keeps the case open, and is named', async (t) => {
  const {
    test,
    elders,
    type,
    zaak,
    koppel: linkObject,
    resultaat,
  } = await givenZaakWithObjecten(t, 'datum', {
    '/objecten/1': { datum: 'binnenkort' },
  })
  const url = `${elders.root}/objecten/1`
  made(await linkObject('/objecten/1'))
  made(await resultaat())
  const wrong = async (pattern: string) => {
    const answer = await status(test, zaak, type.eind)
    t.same(faultsOf(answer), ['nonFieldErrors: archiefactiedatum-error'])
    t.match(reasonsOf(answer)[0], pattern)
    t.equal((await read(test, zaak)).einddatum, null)
    const [{ n }] = await test.database.sql<[{ n: number }]>`select count(*)::int as n from status`
    t.equal(n, 0, 'nothing is left of the attempt')
  }
  await wrong(`Zaakobject ${url}, datum: "binnenkort" is geen datum.`)
  elders.resources['/objecten/1'] = { anders: '2030-02-03' }
  await wrong(`Zaakobject ${url}, datum: er staat geen datum.`)
  delete elders.resources['/objecten/1']
  await wrong(`Zaakobject ${url}: het antwoord was 404.`)
  await test.database.sql`update service set api_root = 'https://anders.example/'`
  await wrong(`Zaakobject ${url}: dit adres hoort niet bij een geregistreerde dienst.`)
  await test.database.sql`update service set api_root = ${`${elders.root}/`}`
  elders.resources['/objecten/1'] = { datum: '2030-02-03' }
  made(await status(test, zaak, type.eind))
  t.equal((await read(test, zaak)).archiefactiedatum, '2040-02-03')
})

t.test('zrc-021: a case with more than a hundred objects elsewhere says so, without asking', async (t) => {
  const { test, elders, type, zaak, resultaat } = await givenZaakWithObjecten(t, 'datum', {})
  made(await resultaat())
  await test.database.sql`insert into zaakobject (zaak_id, object, object_type, object_type_overige)
    select z.id, ${`${elders.root}/objecten/`} || n, 'overige', 'ding' from zaak z, generate_series(1, 101) n`
  const answer = await status(test, zaak, type.eind)
  t.same(faultsOf(answer), ['nonFieldErrors: archiefactiedatum-error'])
  t.match(reasonsOf(answer)[0], 'meer dan 100 objecten')
})

t.test('zrc-021: a closed case that gets an object or a resultaat elsewhere asks it', async (t) => {
  const {
    test,
    elders,
    type,
    zaak,
    koppel: linkObject,
    resultaat,
  } = await givenZaakWithObjecten(t, 'datum', {
    '/objecten/1': { datum: '2030-02-03' },
    '/objecten/2': { datum: '2032-02-03' },
  })
  made(await linkObject('/objecten/1'))
  const outcome = made(await resultaat())
  made(await status(test, zaak, type.eind))
  made(await linkObject('/objecten/2'))
  t.equal((await read(test, zaak)).archiefactiedatum, '2042-02-03')
  t.equal((await test.call('DELETE', outcome.url)).status, 204)
  t.equal((await read(test, zaak)).archiefactiedatum, null)
  elders.resources['/objecten/2'] = { datum: '2029-02-03' }
  const again = made(await resultaat())
  t.equal((await read(test, zaak)).archiefactiedatum, '2040-02-03')
  t.equal((await test.call('PATCH', again.url, { toelichting: 'x' })).status, 200)
})

t.test('zrc-021: an object of ours says its day from the database', async (t) => {
  const test = await testApp(t)
  const informatieobjecttype = await givenInformatieobjecttype(test)
  const document = await givenDocument(test, informatieobjecttype, {
    creatiedatum: '2025-06-07',
    ondertekening: { soort: 'digitaal', datum: '2025-07-08' },
  })
  const other = await givenZaak(test, { zaaktype: await givenZaaktype(test), einddatumGepland: '2027-01-02' })
  const gevallen = [
    ['enkelvoudig_document', 'creatiedatum', document, '2035-06-07'],
    ['enkelvoudig_document', 'ondertekening/datum', document, '2035-07-08'],
    ['overige', 'einddatumGepland', other.url, '2037-01-02'],
    ['overige', 'einddatum_gepland', other.url, '2037-01-02'],
  ] as const
  for (const [objectType, datumkenmerk, object, day] of gevallen) {
    const type = await givenType(test, zaakobject(objectType, datumkenmerk))
    const zaak = await givenZaak(test, type)
    const overige = objectType === 'overige' ? { objectTypeOverige: 'zaak' } : {}
    made(await test.call('POST', `${ZAKEN}/zaakobjecten`, { zaak: zaak.url, object, objectType, ...overige }))
    made(await test.call('POST', `${ZAKEN}/resultaten`, { zaak: zaak.url, resultaattype: type.resultaattype }))
    made(await status(test, zaak, type.eind))
    t.equal((await read(test, zaak)).archiefactiedatum, day, datumkenmerk)
  }
  const type = await givenType(test, zaakobject('enkelvoudig_document', 'lock'))
  const zaak = await givenZaak(test, type)
  const object = { zaak: zaak.url, object: document, objectType: 'enkelvoudig_document' }
  made(await test.call('POST', `${ZAKEN}/zaakobjecten`, object))
  made(await test.call('POST', `${ZAKEN}/resultaten`, { zaak: zaak.url, resultaattype: type.resultaattype }))
  const answer = await status(test, zaak, type.eind)
  t.match(reasonsOf(answer)[0], 'heeft geen datum lock', 'what is no day is not told')
})

t.test('zrc-021: zaak_afsluiten asks objects elsewhere too, before it changes anything', async (t) => {
  const {
    test,
    type,
    zaak,
    koppel: linkObject,
  } = await givenZaakWithObjecten(t, 'datum', {
    '/objecten/1': { datum: '2030-02-03' },
  })
  made(await linkObject('/objecten/1'))
  const answer = await test.call('POST', zaak.url.replace('/zaken/api/v1/zaken/', '/zaken/api/v1/zaak_afsluiten/'), {
    zaak: { toelichting: 'Klaar' },
    resultaat: { resultaattype: type.resultaattype },
    status: { statustype: type.eind, datumStatusGezet: '2026-03-05T10:00:00Z' },
  })
  t.equal(answer.status, 200, answer.text)
  t.match(await read(test, zaak), { toelichting: 'Klaar', archiefactiedatum: '2040-02-03' })
})

t.test('zrc-021: gerelateerde_zaak counts from cases at other servers too', async (t) => {
  const test = await testApp(t)
  const ended = { ...zaakElders, einddatum: '2033-04-05' }
  const elders = await givenOtherServer(t, test, { '/zaken/1': ended, '/zaken/2': { ...zaakElders, einddatum: null } })
  const type = await givenType(test, { afleidingswijze: 'gerelateerde_zaak' })
  const zaak = await givenZaak(test, {
    ...type,
    relevanteAndereZaken: [1, 2].map((n) => ({ url: `${elders.root}/zaken/${n}`, aardRelatie: 'vervolg' })),
  })
  made(await test.call('POST', `${ZAKEN}/resultaten`, { zaak: zaak.url, resultaattype: type.resultaattype }))
  delete elders.resources['/zaken/1']
  const answer = await status(test, zaak, type.eind)
  t.match(reasonsOf(answer)[0], `Gerelateerde zaak ${elders.root}/zaken/1: het antwoord was 404.`)
  elders.resources['/zaken/1'] = ended
  made(await status(test, zaak, type.eind))
  t.equal((await read(test, zaak)).archiefactiedatum, '2043-04-05')
})
