// A zaaktype made in the pages, through the forms as a browser sends them.
import t from 'tap'
import { createAccount } from '../../src/beheer/accounts/accounts.ts'
import { testApp } from '../app.ts'
import { type PagesClient, pagesClient } from './browser-client.ts'

const PASSWORD = 'een heel lang wachtwoord'
async function setUp(t: { teardown(work: () => unknown): unknown }, env: Record<string, string> = {}) {
  const test = await testApp(t, env)
  for (const rol of ['viewer', 'administrator'] as const)
    await createAccount(test.database.db, { gebruikersnaam: rol, naam: `De ${rol}`, rol, wachtwoord: PASSWORD })
  const beheerder = pagesClient(test.app)
  await beheerder.login('administrator', PASSWORD)
  return { ...test, beheerder }
}

const ZAAKTYPE = {
  omschrijving: 'Aanvraag parkeervergunning',
  identificatie: 'PARKEREN',
  vertrouwelijkheidaanduiding: 'zaakvertrouwelijk',
  indicatieInternOfExtern: 'extern',
  doel: 'Bepalen of iemand mag parkeren',
  aanleiding: 'Een bewoner vraagt een vergunning aan',
  handelingInitiator: 'aanvragen',
  onderwerp: 'parkeervergunning',
  handelingBehandelaar: 'behandelen',
  verantwoordelijke: 'Burgerzaken',
  'referentieproces.naam': 'Behandelen aanvraag',
  'doorlooptijd.aantal': '8',
  'doorlooptijd.eenheid': 'W',
  opschortingEnAanhoudingMogelijk: 'ja',
  verlengingMogelijk: 'nee',
  publicatieIndicatie: 'nee',
  beginGeldigheid: '2026-01-01',
}

/** Sends a form that must be taken, and answers where it leads. */
async function submitForm(administrator: PagesClient, url: string, form: Record<string, string>): Promise<string> {
  const answer = await administrator.post(url, form)
  if (answer.statusCode !== 303) throw new Error(`${url}: ${answer.statusCode} ${faults(answer.body).join('; ')}`)
  // As a browser does: the page says what was done, and says it once.
  await administrator.get(String(answer.headers.location))
  return String(answer.headers.location)
}
const faults = (body: string) => [...body.matchAll(/<li>(?:<a href="#veld-[^"]*">)?([^<]+)/g)].map((match) => match[1]!)

async function makeZaaktype(administrator: PagesClient): Promise<{ catalogus: string; zaaktype: string }> {
  const catalogus = await submitForm(administrator, '/beheer/catalogi/nieuw', {
    naam: 'Zaaktypen',
    domein: 'ALG',
    rsin: '517439943',
    contactpersoonBeheerNaam: 'Beheer',
  })
  const zaaktype = await submitForm(administrator, `${catalogus}/zaaktypen/nieuw`, ZAAKTYPE)
  return { catalogus, zaaktype }
}

t.test('from an empty installation to a published zaaktype', async (t) => {
  const { beheerder, call } = await setUp(t)
  const { catalogus, zaaktype } = await makeZaaktype(beheerder)
  await submitForm(beheerder, `${zaaktype}/statustypen/nieuw`, { omschrijving: 'Ontvangen' })
  await submitForm(beheerder, `${zaaktype}/statustypen/nieuw`, { omschrijving: 'Afgehandeld' })
  await submitForm(beheerder, `${zaaktype}/roltypen/nieuw`, {
    omschrijving: 'Aanvrager',
    omschrijvingGeneriek: 'initiator',
  })
  await submitForm(beheerder, `${zaaktype}/eigenschappen/nieuw`, {
    naam: 'kenteken',
    definitie: 'Het kenteken van de auto',
    'specificatie.formaat': 'tekst',
    'specificatie.lengte': '8',
    'specificatie.kardinaliteit': '1',
  })
  const resultaten = await beheerder.get(`${zaaktype}/resultaattypen/nieuw`)
  t.match(resultaten.body, 'Er is geen selectielijst ingesteld')
  const [, verleend] = /<option value="([^"]+)">Verleend/.exec(resultaten.body)!
  await submitForm(beheerder, `${zaaktype}/resultaattypen/nieuw`, {
    omschrijving: 'Verleend',
    resultaattypeomschrijving: verleend!,
    archiefnominatie: 'vernietigen',
    'archiefactietermijn.aantal': '5',
    'archiefactietermijn.eenheid': 'Y',
    'brondatumArchiefprocedure.afleidingswijze': 'afgehandeld',
  })
  const documenttype = await submitForm(beheerder, `${catalogus}/informatieobjecttypen/nieuw`, {
    omschrijving: 'Aanvraagformulier',
    informatieobjectcategorie: 'aanvraag',
    vertrouwelijkheidaanduiding: 'zaakvertrouwelijk',
    beginGeldigheid: '2026-01-01',
  })
  await submitForm(beheerder, `${catalogus}/besluittypen/nieuw`, {
    omschrijving: 'Besluit op aanvraag',
    'reactietermijn.aantal': '6',
    'reactietermijn.eenheid': 'W',
    publicatieIndicatie: 'nee',
    beginGeldigheid: '2026-01-01',
  })
  const api = (path: string, kind: string) => `http://localhost/catalogi/api/v1/${kind}/${path.split('/').at(-1)}`
  await submitForm(beheerder, `${zaaktype}/documenttypen/nieuw`, {
    informatieobjecttypen: 'Aanvraagformulier',
    richting: 'inkomend',
  })
  await submitForm(beheerder, `${zaaktype}/gegevens/relaties`, { besluittypen: 'Besluit op aanvraag' })
  const checksum = await beheerder.get(`${zaaktype}/controle`)
  t.match(checksum.body, 'Nog niet gepubliceerd')
  const refused = await beheerder.post(`${zaaktype}/publiceren`, {})
  t.equal(refused.statusCode, 400, 'types that are concepts go along only when somebody says so')
  await submitForm(beheerder, `${zaaktype}/publiceren`, { mee: 'true' })
  const { body } = await call('GET', api(zaaktype, 'zaaktypen'))
  t.match(body, { concept: false, doorlooptijd: 'P56D', identificatie: 'PARKEREN', verlengingstermijn: null })
  t.same(
    [body.statustypen.length, body.resultaattypen.length, body.roltypen.length, body.eigenschappen.length],
    [2, 1, 1, 1],
  )
  t.same(body.besluittypeOmschrijving, ['Besluit op aanvraag'])
  t.same(body.informatieobjecttypeOmschrijving, ['Aanvraagformulier'])
  t.equal((await call('GET', api(documenttype, 'informatieobjecttypen'))).body.concept, false)
  const overzicht = await beheerder.get(zaaktype)
  t.match(overzicht.body, '56 dagen')
  t.match(overzicht.body, 'Geldig')
  const geschiedenis = await beheerder.get(`${zaaktype}/geschiedenis`)
  t.match(geschiedenis.body, 'De administrator heeft Statustype “Ontvangen” bij Aanvraag parkeervergunning gemaakt.')
})

t.test('a form names what lacks beside the fields, keeps what was typed, and makes nothing', async (t) => {
  const { beheerder, database } = await setUp(t)
  const { catalogus } = await makeZaaktype(beheerder)
  const answer = await beheerder.post(`${catalogus}/zaaktypen/nieuw`, {
    ...ZAAKTYPE,
    identificatie: 'ANDERS',
    doel: '',
    handelingInitiator: 'een veel te lang werkwoord',
    'doorlooptijd.aantal': 'een poosje',
  })
  t.equal(answer.statusCode, 400)
  t.same(faults(answer.body), [
    'Doel: vul dit in.',
    'Handeling van de aanvrager: gebruik ten hoogste 20 tekens; het zijn er nu 26.',
    'Doorlooptijd: vul een heel getal in en kies een eenheid, of schrijf “1 jaar en 6 maanden”.',
  ])
  t.match(answer.body, 'value="een poosje"')
  const [row] = await database.sql`select count(*)::int as count from zaaktype`
  t.equal(row!.count, 1)
})

t.test('a duration is read back as it was meant, also when it takes two units', async (t) => {
  const { beheerder } = await setUp(t)
  const { zaaktype } = await makeZaaktype(beheerder)
  const termijnen = {
    'doorlooptijd.aantal': '1 jaar en 6 maanden',
    'doorlooptijd.eenheid': 'samen',
    'servicenorm.aantal': '30',
    'servicenorm.eenheid': 'D',
    opschortingEnAanhoudingMogelijk: 'nee',
    verlengingMogelijk: 'ja',
    'verlengingstermijn.aantal': '1',
    'verlengingstermijn.eenheid': 'M',
  }
  await submitForm(beheerder, `${zaaktype}/gegevens/termijnen`, termijnen)
  const { body } = await beheerder.get(zaaktype)
  for (const text of ['1 jaar en 6 maanden', '30 dagen', '1 maand']) t.match(body, `>${text}<`)
  const form = await beheerder.get(`${zaaktype}/gegevens/termijnen`)
  t.match(form.body, 'value="1 jaar en 6 maanden"')
})

t.test('other zaaktypen that a zaaktype relates to are rows of a form, here or elsewhere', async (t) => {
  const { beheerder, call } = await setUp(t)
  const { catalogus, zaaktype } = await makeZaaktype(beheerder)
  await submitForm(beheerder, `${catalogus}/zaaktypen/nieuw`, {
    ...ZAAKTYPE,
    omschrijving: 'Bezwaar',
    identificatie: 'BEZWAAR',
  })
  const page = `${zaaktype}/gegevens/relaties`
  const form = (rows: string[][]) =>
    ['type', 'adres', 'aard', 'uitleg'].flatMap((part, column) =>
      rows.map((row): [string, string] => [`gerelateerdeZaaktypen.${part}`, row[column]!]),
    )
  const send = (rows: string[][]) => beheerder.post(page, form(rows))
  const refused = await send([
    ['BEZWAAR', 'https://elders.nl/1', 'vervolg', ''],
    ['', 'elders.nl/1', 'vervolg', ''],
    ['BEZWAAR', '', '', ''],
  ])
  t.equal(refused.statusCode, 400)
  t.match(refused.body, 'regel 1: kies een zaaktype of vul een adres in, niet beide. Regel 2: het adres begint met')
  t.match(refused.body, 'Regel 3: kies wat zo’n zaak voor deze is.')
  const taken = await send([
    ['BEZWAAR', '', 'vervolg', 'binnen zes weken'],
    ['', '', 'bijdrage', ''],
    ['', 'https://elders.nl/zaaktypen/1', 'bijdrage', ''],
  ])
  t.equal(taken.statusCode, 303)
  const uuid = zaaktype.split('/').at(-1)
  const stored = await call('GET', `/catalogi/api/v1/zaaktypen/${uuid}`)
  t.match(stored.body.gerelateerdeZaaktypen, [
    { zaaktypeIdentificatie: 'BEZWAAR', aardRelatie: 'vervolg', toelichting: 'binnen zes weken' },
    { zaaktype: 'https://elders.nl/zaaktypen/1', aardRelatie: 'bijdrage' },
  ])
  t.equal(stored.body.gerelateerdeZaaktypen.length, 2, 'an empty row does not count')
  t.match((await beheerder.get(zaaktype)).body, /Bezwaar \(BEZWAAR\)[^:]*: vervolg \(binnen zes weken\)/)
})

t.test('after a part the form for another can follow at once', async (t) => {
  const { beheerder } = await setUp(t)
  const { zaaktype } = await makeZaaktype(beheerder)
  const form = `${zaaktype}/statustypen/nieuw`
  const answer = await beheerder.post(form, { omschrijving: 'Ontvangen', nog: 'true' })
  t.equal(answer.headers.location, form)
  t.match((await beheerder.get(form)).body, '“Ontvangen” is toegevoegd.')
})

t.test('the second of two editors sees what the first changed, and overwrites nothing in silence', async (t) => {
  const { beheerder, call } = await setUp(t)
  const { zaaktype } = await makeZaaktype(beheerder)
  const page = (await beheerder.get(`${zaaktype}/gegevens/doel`)).body
  const stored = (body: string) => /name="_basis" value="([^"]*)"/.exec(body)![1]!.replaceAll('&quot;', '"')
  const now = {
    doel: ZAAKTYPE.doel,
    aanleiding: ZAAKTYPE.aanleiding,
    handelingInitiator: 'aanvragen',
    onderwerp: 'parkeervergunning',
    handelingBehandelaar: 'behandelen',
    verantwoordelijke: 'Burgerzaken',
    'referentieproces.naam': 'Behandelen aanvraag',
    _basis: stored(page),
  }
  await submitForm(beheerder, `${zaaktype}/gegevens/doel`, {
    ...now,
    doel: 'Het doel van de eerste',
    onderwerp: 'parkeren',
  })
  const second = await beheerder.post(`${zaaktype}/gegevens/doel`, { ...now, doel: 'Het doel van de tweede' })
  t.equal(second.statusCode, 409)
  t.match(second.body, 'Iemand anders heeft dit intussen gewijzigd')
  t.match(second.body, '“Het doel van de eerste”')
  t.match(second.body, 'Het doel van de tweede</textarea>', 'what was typed is kept')
  t.match(second.body, 'value="parkeren"', 'what only the first changed is taken over')
  const api = `http://localhost/catalogi/api/v1/zaaktypen/${zaaktype.split('/').at(-1)}`
  t.equal((await call('GET', api)).body.doel, 'Het doel van de eerste')
  const again = { ...now, doel: 'Het doel van de tweede', onderwerp: 'parkeren', _basis: stored(second.body) }
  await submitForm(beheerder, `${zaaktype}/gegevens/doel`, again)
  t.match((await call('GET', api)).body, { doel: 'Het doel van de tweede', onderwerp: 'parkeren' })
})

t.test('statustypen are put in order, and a stale order is refused', async (t) => {
  const { beheerder, call } = await setUp(t)
  const { zaaktype } = await makeZaaktype(beheerder)
  const names = ['Ontvangen', 'Afgehandeld', 'Getoetst']
  for (const omschrijving of names) await submitForm(beheerder, `${zaaktype}/statustypen/nieuw`, { omschrijving })
  const order = async () => {
    const { body } = await call('GET', `http://localhost/catalogi/api/v1/zaaktypen/${zaaktype.split('/').at(-1)}`)
    const found = await Promise.all((body.statustypen as string[]).map(async (url) => (await call('GET', url)).body))
    return found as { omschrijving: string; isEindstatus: boolean; url: string }[]
  }
  const before = (await order()).map(({ url }) => url.split('/').at(-1)!)
  const form = { _basis: before.join(','), volgorde: before.join(','), omhoog: before[2]! }
  await beheerder.post(`${zaaktype}/statustypen/volgorde`, form, `${zaaktype}/statustypen`)
  t.same(
    (await order()).map(({ omschrijving, isEindstatus }) => [omschrijving, isEindstatus]),
    [
      ['Ontvangen', false],
      ['Getoetst', false],
      ['Afgehandeld', true],
    ],
  )
  await beheerder.post(`${zaaktype}/statustypen/volgorde`, form, `${zaaktype}/statustypen`)
  t.match(
    (await beheerder.get(`${zaaktype}/statustypen`)).body,
    'Iemand anders heeft de statustypen intussen gewijzigd',
  )
  t.equal((await order())[1]!.omschrijving, 'Getoetst')
  const first = (await order())[0]!
  await submitForm(beheerder, `${zaaktype}/statustypen/nieuw`, { omschrijving: 'Aangemeld', plaats: first.url })
  t.same(
    (await order()).map(({ omschrijving }) => omschrijving),
    ['Aangemeld', 'Ontvangen', 'Getoetst', 'Afgehandeld'],
  )
})

t.test('a viewer can look, and a form sent without the page is refused', async (t) => {
  const { beheerder, app } = await setUp(t)
  const { zaaktype, catalogus } = await makeZaaktype(beheerder)
  const viewer = pagesClient(app)
  await viewer.login('viewer', PASSWORD)
  t.equal((await viewer.get(zaaktype)).statusCode, 200)
  t.notMatch((await viewer.get(catalogus)).body, 'Nieuw zaaktype')
  for (const path of ['publiceren', 'gegevens/doel', 'statustypen/nieuw', 'verwijderen'])
    t.equal((await viewer.post(`${zaaktype}/${path}`, { omschrijving: 'x' }, zaaktype)).statusCode, 403, path)
})
