// What happens to types after they were published: corrections, next versions, their ends, copies and examples.
import t from 'tap'
import { createAccount } from '../../src/beheer/accounts/accounts.ts'
import { givenZaaktype, testApp } from '../app.ts'
import { type PagesClient, pagesClient } from './browser-client.ts'

const PASSWORD = 'een heel lang wachtwoord'
const uuidOf = (url: string) => url.split('/').at(-1)!
const api = (path: string, kind = 'zaaktypen') => `http://localhost/catalogi/api/v1/${kind}/${uuidOf(path)}`

async function setUp(t: { teardown(work: () => unknown): unknown }) {
  const test = await testApp(t)
  await createAccount(test.database.db, {
    gebruikersnaam: 'beheer',
    naam: 'Anna',
    rol: 'administrator',
    wachtwoord: PASSWORD,
  })
  const beheerder = pagesClient(test.app)
  await beheerder.login('beheer', PASSWORD)
  const catalogus = await submitForm(beheerder, '/beheer/catalogi/nieuw', {
    naam: 'Zaaktypen',
    domein: 'ALG',
    rsin: '517439943',
    contactpersoonBeheerNaam: 'Beheer',
  })
  return { ...test, beheerder, catalogus }
}

async function submitForm(administrator: PagesClient, url: string, form: Record<string, string> = {}): Promise<string> {
  const answer = await administrator.post(url, form)
  if (answer.statusCode !== 303)
    throw new Error(`${url}: ${answer.statusCode} ${answer.body.replace(/<[^>]+>/g, ' ').slice(-2000)}`)
  return String(answer.headers.location)
}

const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

t.test('an example is a whole zaaktype, that can be published as it is', async (t) => {
  const { beheerder, catalogus, call } = await setUp(t)
  for (const voorbeeld of ['uittreksel', 'vergunning', 'subsidie']) {
    const zaaktype = await submitForm(beheerder, `${catalogus}/voorbeelden`, { voorbeeld })
    await submitForm(beheerder, `${zaaktype}/publiceren`, { mee: 'true' })
    const { body } = await call('GET', api(zaaktype))
    t.equal(body.concept, false, voorbeeld)
    t.ok(body.statustypen.length >= 3 && body.resultaattypen.length >= 2 && body.informatieobjecttypen.length >= 2)
  }
  t.match((await beheerder.get(`${catalogus}/voorbeelden`)).body, 'Staat al in deze catalogus')
})

t.test(
  'a next version is a copy, ends the version before it when it is published, and is compared in words',
  async (t) => {
    const { beheerder, catalogus, call } = await setUp(t)
    const first = await submitForm(beheerder, `${catalogus}/voorbeelden`, { voorbeeld: 'uittreksel' })
    await submitForm(beheerder, `${first}/publiceren`, { mee: 'true' })
    const same = await beheerder.post(`${first}/nieuwe-versie`, { beginGeldigheid: day(0) })
    t.equal(same.statusCode, 400)
    t.match(same.body, 'twee versies gelden nooit op dezelfde dag')
    const second = await submitForm(beheerder, `${first}/nieuwe-versie`, { beginGeldigheid: day(10) })
    const [old, copy] = [(await call('GET', api(first))).body, (await call('GET', api(second))).body]
    t.match(copy, { concept: true, identificatie: old.identificatie, beginGeldigheid: day(10), eindeGeldigheid: null })
    for (const part of ['statustypen', 'resultaattypen', 'roltypen', 'eigenschappen', 'informatieobjecttypen'])
      t.equal(copy[part].length, old[part].length, part)
    t.notSame(copy.statustypen, old.statustypen)
    const { body: eigenschap } = await call('GET', copy.eigenschappen[0])
    t.ok(copy.statustypen.includes(eigenschap.statustype), 'a property of the copy names a status of the copy')
    await submitForm(beheerder, `${second}/gegevens/termijnen`, {
      'doorlooptijd.aantal': '6',
      'doorlooptijd.eenheid': 'W',
      opschortingEnAanhoudingMogelijk: 'nee',
      verlengingMogelijk: 'nee',
    })
    await submitForm(beheerder, `${second}/roltypen/nieuw`, {
      omschrijving: 'Gemachtigde',
      omschrijvingGeneriek: 'belanghebbende',
    })
    const differences = (await beheerder.get(`${second}/verschillen`)).body
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ')
    t.match(differences, 'Doorlooptijd 28 dagen (4 weken) 42 dagen (6 weken)')
    t.match(differences, '“Gemachtigde” is toegevoegd .')
    await submitForm(beheerder, `${second}/publiceren`)
    t.equal((await call('GET', api(first))).body.eindeGeldigheid, day(9))
    t.equal((await call('GET', api(second))).body.concept, false)
  },
)

t.test('what was published is fixed, but for texts and additions, which take a reason', async (t) => {
  const { beheerder, catalogus, call } = await setUp(t)
  const zaaktype = await submitForm(beheerder, `${catalogus}/voorbeelden`, { voorbeeld: 'uittreksel' })
  await submitForm(beheerder, `${zaaktype}/publiceren`, { mee: 'true' })
  for (const path of ['gegevens/termijnen', 'statustypen/nieuw', 'resultaattypen/nieuw']) {
    const shown = await beheerder.get(`${zaaktype}/${path}`)
    t.match(shown.body, 'Maak een nieuwe versie', path)
    t.equal(shown.statusCode, 200, `${path}, to be read`)
    const sent = await beheerder.post(
      `${zaaktype}/${path}`,
      { omschrijving: 'Toch', 'doorlooptijd.aantal': '1' },
      zaaktype,
    )
    t.equal(sent.statusCode, 409, `${path}, sent all the same`)
  }
  const text = { trefwoorden: 'uittreksel\nbrp', toelichting: 'Nieuwe tekst', omschrijvingGeneriek: '' }
  const silent = await beheerder.post(`${zaaktype}/gegevens/basis`, { ...text, _reden: 'Was onduidelijk' })
  t.equal(silent.statusCode, 400)
  t.match(silent.body, 'Bevestig dat u de gevolgen kent')
  await submitForm(beheerder, `${zaaktype}/gegevens/basis`, {
    ...text,
    omschrijving: 'Iets anders',
    _reden: 'Was onduidelijk',
    _bevestigd: 'true',
  })
  const { body } = await call('GET', api(zaaktype))
  t.match(body, { toelichting: 'Nieuwe tekst', omschrijving: 'Aanvraag uittreksel' })
  await submitForm(beheerder, `${zaaktype}/roltypen/nieuw`, {
    omschrijving: 'Gemachtigde',
    omschrijvingGeneriek: 'belanghebbende',
    _reden: 'Ontbrak',
    _bevestigd: 'true',
  })
  const geschiedenis = (await beheerder.get(`${zaaktype}/geschiedenis`)).body
  t.match(geschiedenis, 'Reden: “Was onduidelijk”')
  t.match(geschiedenis, 'Anna heeft Roltype “Gemachtigde” bij Aanvraag uittreksel gemaakt.')
})

t.test('the end of a type cannot come before its beginning, and can be taken back', async (t) => {
  const { beheerder, catalogus, call } = await setUp(t)
  const zaaktype = await submitForm(beheerder, `${catalogus}/voorbeelden`, { voorbeeld: 'uittreksel' })
  await submitForm(beheerder, `${zaaktype}/publiceren`, { mee: 'true' })
  t.equal((await beheerder.post(`${zaaktype}/beeindigen`, { eindeGeldigheid: '2020-01-01' })).statusCode, 400)
  await submitForm(beheerder, `${zaaktype}/beeindigen`, { eindeGeldigheid: day(30) })
  t.equal((await call('GET', api(zaaktype))).body.eindeGeldigheid, day(30))
  await submitForm(beheerder, `${zaaktype}/beeindigen`, { eindeGeldigheid: '' })
  t.equal((await call('GET', api(zaaktype))).body.eindeGeldigheid, null)
})

t.test('a zaaktype is copied to another catalogue, with the types that lack there', async (t) => {
  const { beheerder, catalogus, call } = await setUp(t)
  const zaaktype = await submitForm(beheerder, `${catalogus}/voorbeelden`, { voorbeeld: 'vergunning' })
  const other = await submitForm(beheerder, '/beheer/catalogi/nieuw', {
    naam: 'Proef',
    domein: 'PROEF',
    rsin: '517439943',
    contactpersoonBeheerNaam: 'Beheer',
  })
  const copy = await submitForm(beheerder, `${zaaktype}/kopieren`, {
    catalogus: uuidOf(other),
    omschrijving: 'Kopie',
    identificatie: 'KOPIE',
    beginGeldigheid: day(0),
  })
  const { body } = await call('GET', api(copy))
  t.match(body, {
    identificatie: 'KOPIE',
    catalogus: api(other, 'catalogussen'),
    bronzaaktype: { identificatie: 'EVENEMENT' },
  })
  t.same(body.besluittypeOmschrijving, ['Besluit op aanvraag vergunning'])
  t.same(body.informatieobjecttypeOmschrijving.toSorted(), ['Aanvraag', 'Advies', 'Beschikking', 'Plattegrond'])
  t.match((await beheerder.get(copy)).body, 'Weggelaten, omdat het daar niet bestaat: BEZWAAR')
})

t.test('a document type says where it is used', async (t) => {
  const test = await setUp(t)
  const { beheerder, catalogus } = test
  await submitForm(beheerder, `${catalogus}/voorbeelden`, { voorbeeld: 'vergunning' })
  const list = (await beheerder.get(`${catalogus}?soort=informatieobjecttypen`)).body
  const [, path] = /href="([^"]+)">Beschikking</.exec(list)!
  const page = (await beheerder.get(path!)).body
  t.match(page, 'documenttype bij het zaaktype (uitgaand)')
  t.match(page, 'Besluit op bezwaar')
  t.match(page, 'Deze versie heeft geen documenten')
  t.ok(await givenZaaktype(test, {}))
})
