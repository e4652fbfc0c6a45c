// A zaaktype made in the pages, through the forms as a browser sends them.
import t from 'tap'
import { createAccount } from '../../src/beheer/accounts.ts'
import { testApp } from '../app.ts'
import { type Klant, klant } from './browser-client.ts'

const WACHTWOORD = 'een heel lang wachtwoord'
async function opzet(t: { teardown(work: () => unknown): unknown }, env: Record<string, string> = {}) {
  const test = await testApp(t, env)
  for (const rol of ['viewer', 'administrator'] as const)
    await createAccount(test.database.db, { gebruikersnaam: rol, naam: `De ${rol}`, rol, wachtwoord: WACHTWOORD })
  const beheerder = klant(test.app)
  await beheerder.login('administrator', WACHTWOORD)
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
async function stuur(beheerder: Klant, url: string, form: Record<string, string>): Promise<string> {
  const answer = await beheerder.post(url, form)
  if (answer.statusCode !== 303) throw new Error(`${url}: ${answer.statusCode} ${fouten(answer.body).join('; ')}`)
  return String(answer.headers.location)
}
const fouten = (body: string) => [...body.matchAll(/<li>(?:<a href="#veld-[^"]*">)?([^<]+)/g)].map((match) => match[1]!)

async function maakZaaktype(beheerder: Klant): Promise<{ catalogus: string; zaaktype: string }> {
  const catalogus = await stuur(beheerder, '/beheer/catalogi/nieuw', {
    naam: 'Zaaktypen',
    domein: 'ALG',
    rsin: '517439943',
    contactpersoonBeheerNaam: 'Beheer',
  })
  const zaaktype = await stuur(beheerder, `${catalogus}/zaaktypen/nieuw`, ZAAKTYPE)
  return { catalogus, zaaktype }
}

t.test('from an empty installation to a published zaaktype', async (t) => {
  const { beheerder, call } = await opzet(t)
  const { catalogus, zaaktype } = await maakZaaktype(beheerder)
  await stuur(beheerder, `${zaaktype}/statustypen/nieuw`, { omschrijving: 'Ontvangen' })
  await stuur(beheerder, `${zaaktype}/statustypen/nieuw`, { omschrijving: 'Afgehandeld' })
  await stuur(beheerder, `${zaaktype}/roltypen/nieuw`, { omschrijving: 'Aanvrager', omschrijvingGeneriek: 'initiator' })
  await stuur(beheerder, `${zaaktype}/eigenschappen/nieuw`, {
    naam: 'kenteken',
    definitie: 'Het kenteken van de auto',
    'specificatie.formaat': 'tekst',
    'specificatie.lengte': '8',
    'specificatie.kardinaliteit': '1',
  })
  const resultaten = await beheerder.get(`${zaaktype}/resultaattypen/nieuw`)
  t.match(resultaten.body, 'Er is geen selectielijst ingesteld')
  const [, verleend] = /<option value="([^"]+)">Verleend/.exec(resultaten.body)!
  await stuur(beheerder, `${zaaktype}/resultaattypen/nieuw`, {
    omschrijving: 'Verleend',
    resultaattypeomschrijving: verleend!,
    archiefnominatie: 'vernietigen',
    'archiefactietermijn.aantal': '5',
    'archiefactietermijn.eenheid': 'Y',
    'brondatumArchiefprocedure.afleidingswijze': 'afgehandeld',
  })
  const documenttype = await stuur(beheerder, `${catalogus}/informatieobjecttypen/nieuw`, {
    omschrijving: 'Aanvraagformulier',
    informatieobjectcategorie: 'aanvraag',
    vertrouwelijkheidaanduiding: 'zaakvertrouwelijk',
    beginGeldigheid: '2026-01-01',
  })
  const besluittype = await stuur(beheerder, `${catalogus}/besluittypen/nieuw`, {
    omschrijving: 'Besluit op aanvraag',
    'reactietermijn.aantal': '6',
    'reactietermijn.eenheid': 'W',
    publicatieIndicatie: 'nee',
    beginGeldigheid: '2026-01-01',
  })
  const api = (path: string, soort: string) => `http://localhost/catalogi/api/v1/${soort}/${path.split('/').at(-1)}`
  await stuur(beheerder, `${zaaktype}/documenttypen/nieuw`, {
    informatieobjecttypen: api(documenttype, 'informatieobjecttypen'),
    richting: 'inkomend',
  })
  await stuur(beheerder, `${zaaktype}/gegevens/relaties`, { besluittypen: api(besluittype, 'besluittypen') })
  const controle = await beheerder.get(`${zaaktype}/controle`)
  t.match(controle.body, 'Nog niet gepubliceerd')
  const refused = await beheerder.post(`${zaaktype}/publiceren`, {})
  t.equal(refused.statusCode, 400, 'types that are concepts go along only when somebody says so')
  await stuur(beheerder, `${zaaktype}/publiceren`, { mee: 'true' })
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
