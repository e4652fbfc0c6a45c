// What a case and a document hold is seen on their pages: every field of the API, or a reason why not.
import t, { type Test } from 'tap'
import type { Static } from 'typebox'
import type { Document } from '../../src/documenten/document/columns.ts'
import type { Zaak } from '../../src/zaken/zaak/columns.ts'
import { givenInformatieobjecttype, givenZaaktype } from '../app.ts'
import { setUpPages } from './browser.ts'
import { givenDocument, givenZaak } from './given.ts'

/** What the page shows of a field, or why it is not there. */
type Seen<Fields> = Record<Exclude<keyof Fields, '_expand'>, string | RegExp | { not: string }>
const LIST = { not: 'a list of its own on the page' }
const ID = { not: 'the uuid is there, of which the URL is made' }

const ZAAK = {
  url: ID,
  uuid: /uuid<\/dt>/,
  identificatie: 'ZAAK-VELDEN',
  bronorganisatie: '517439943',
  omschrijving: 'Omschrijving-1',
  toelichting: 'Toelichting-1',
  zaaktype: '/beheer/catalogi/zaaktypen/',
  registratiedatum: '2 november 2026',
  verantwoordelijkeOrganisatie: '159351741',
  startdatum: '3 november 2026',
  einddatum: { not: 'empty while a case is open; there once it is closed' },
  einddatumGepland: '4 november 2026',
  uiterlijkeEinddatumAfdoening: '5 november 2026',
  publicatiedatum: '6 november 2026',
  laatstGemuteerd: 'Laatst gewijzigd',
  laatstGeopend: '7 nov 2026',
  communicatiekanaal: 'https://example.com/kanaal',
  communicatiekanaalNaam: 'Kanaal-1',
  productenOfDiensten: 'https://example.com/product',
  vertrouwelijkheidaanduiding: 'zaakvertrouwelijk',
  betalingsindicatie: 'gedeeltelijk',
  betalingsindicatieWeergave: { not: 'the betalingsindicatie in words' },
  laatsteBetaaldatum: '8 nov 2026',
  zaakgeometrie: '52.09, 5.12',
  verlenging: 'P7D: Verlenging-1',
  opschorting: 'opgeschort: Opschorting-1',
  selectielijstklasse: 'https://example.com/klasse',
  hoofdzaak: { not: 'among the related cases' },
  deelzaken: { not: 'among the related cases' },
  relevanteAndereZaken: { not: 'among the related cases' },
  gerelateerdeZaken: { not: 'among the related cases' },
  eigenschappen: LIST,
  rollen: LIST,
  status: LIST,
  zaakinformatieobjecten: LIST,
  zaakobjecten: LIST,
  kenmerken: /Kenmerk-1 <span class="zacht">Bron-1</,
  archiefnominatie: 'blijvend bewaren',
  archiefstatus: 'nog te archiveren',
  archiefactiedatum: '9 november 2026',
  resultaat: { not: 'empty while a case is open; there once it is closed' },
  opdrachtgevendeOrganisatie: '111222333',
  processobjectaard: 'Aard-1',
  startdatumBewaartermijn: '10 november 2026',
  processobject: /Object-1 <span class="zacht">Soort-1, Register-1, Datum-1</,
} satisfies Seen<Static<typeof Zaak>>

const DOCUMENT = {
  url: ID,
  identificatie: 'DOC-VELDEN',
  bronorganisatie: '517439943',
  creatiedatum: '2 november 2026',
  titel: 'Titel-1',
  vertrouwelijkheidaanduiding: 'zaakvertrouwelijk',
  auteur: 'Auteur-1',
  status: 'definitief',
  formaat: 'text/plain',
  taal: '>nld<',
  versie: 'row">1<',
  beginRegistratie: 'Geregistreerd op',
  bestandsnaam: 'brief.txt',
  inhoud: '/download',
  bestandsomvang: '5 bytes',
  link: 'https://example.com/link',
  beschrijving: 'Beschrijving-1',
  ontvangstdatum: { not: 'a document is received or sent: the other is asked' },
  verzenddatum: '3 november 2026',
  indicatieGebruiksrecht: /Gebruiksrechten<\/dt><dd>nee/,
  verschijningsvorm: 'Vorm-1',
  ondertekening: 'digitaal, 4 november 2026',
  integriteit: /sha_256: <code>/,
  informatieobjecttype: '/beheer/catalogi/informatieobjecttypen/',
  locked: { not: 'a word beside the status, when it is' },
  bestandsdelen: { not: 'their number, while an upload in parts is not complete' },
  trefwoorden: 'Trefwoord-1',
  inhoudIsVervallen: /Inhoud vervallen<\/dt><dd>nee/,
  tonenAanInitiator: /Tonen aan initiator<\/dt><dd>ja/,
  isGereedVoorPublicatie: /Gereed voor publicatie<\/dt><dd>ja/,
} satisfies Seen<Static<typeof Document>>

t.test('every field of a case and of a document is on its page, or listed with a reason', async (t) => {
  const test = await setUpPages(t, {}, false)
  const get = await test.signedIn('viewer')
  const zaak = await givenZaak(test, await givenZaaktype(test), {
    identificatie: 'ZAAK-VELDEN',
    bronorganisatie: '517439943',
    omschrijving: 'Omschrijving-1',
    toelichting: 'Toelichting-1',
    registratiedatum: '2026-11-02',
    verantwoordelijkeOrganisatie: '159351741',
    startdatum: '2026-11-03',
    einddatumGepland: '2026-11-04',
    uiterlijkeEinddatumAfdoening: '2026-11-05',
    publicatiedatum: '2026-11-06',
    laatstGeopend: '2026-11-07T12:00:00Z',
    communicatiekanaalNaam: 'Kanaal-1',
    vertrouwelijkheidaanduiding: 'zaakvertrouwelijk',
    betalingsindicatie: 'gedeeltelijk',
    laatsteBetaaldatum: '2026-11-08T12:00:00Z',
    zaakgeometrie: { type: 'Point', coordinates: [5.12, 52.09] },
    verlenging: { reden: 'Verlenging-1', duur: 'P7D' },
    opschorting: { indicatie: true, reden: 'Opschorting-1' },
    kenmerken: [{ kenmerk: 'Kenmerk-1', bron: 'Bron-1' }],
    archiefnominatie: 'blijvend_bewaren',
    archiefactiedatum: '2026-11-09',
    opdrachtgevendeOrganisatie: '111222333',
    processobjectaard: 'Aard-1',
    startdatumBewaartermijn: '2026-11-10',
    processobject: {
      datumkenmerk: 'Datum-1',
      identificatie: 'Object-1',
      objecttype: 'Soort-1',
      registratie: 'Register-1',
    },
  })
  // What refers elsewhere is judged by services that are not there.
  await test.database.sql`update zaak set communicatiekanaal = 'https://example.com/kanaal',
    selectielijstklasse = 'https://example.com/klasse', producten_of_diensten = array['https://example.com/product']`
  requireSeen(t, (await get(`/beheer/zaken/${zaak.uuid}`)).body, ZAAK)

  const document = await givenDocument(test, await givenInformatieobjecttype(test), {
    identificatie: 'DOC-VELDEN',
    bronorganisatie: '517439943',
    creatiedatum: '2026-11-02',
    titel: 'Titel-1',
    vertrouwelijkheidaanduiding: 'zaakvertrouwelijk',
    auteur: 'Auteur-1',
    status: 'definitief',
    formaat: 'text/plain',
    link: 'https://example.com/link',
    beschrijving: 'Beschrijving-1',
    verzenddatum: '2026-11-03',
    indicatieGebruiksrecht: false,
    verschijningsvorm: 'Vorm-1',
    ondertekening: { soort: 'digitaal', datum: '2026-11-04' },
    integriteit: {
      algoritme: 'sha_256',
      waarde: 'd3751d33f9cd5049c4af2b462735457e4d3baf130bcbb87f389e349fbaeb20b9',
      datum: '2026-11-04',
    },
    trefwoorden: ['Trefwoord-1'],
    inhoudIsVervallen: false,
    tonenAanInitiator: true,
    isGereedVoorPublicatie: true,
  })
  requireSeen(t, (await get(`/beheer/documenten/${document.uuid}`)).body, DOCUMENT)
})

t.test('the explanation of a rol is there, and a property that is a date is written as one', async (t) => {
  const test = await setUpPages(t, {}, false)
  const { sql } = test.database
  const get = await test.signedIn('viewer')
  const zaaktype = await givenZaaktype(test, {
    roltypen: [{ omschrijving: 'Indiener', omschrijvingGeneriek: 'initiator' }],
  })
  const zaak = await givenZaak(test, zaaktype)
  const { body: roltypen } = await test.call('GET', '/catalogi/api/v1/roltypen')
  const rol = {
    zaak: zaak.url,
    betrokkeneType: 'organisatorische_eenheid',
    roltype: roltypen.results[0].url,
    roltoelichting: 'Roltoelichting-1',
    betrokkeneIdentificatie: { identificatie: 'BZ', naam: 'Burgerzaken' },
  }
  t.equal((await test.call('POST', '/zaken/api/v1/rollen', rol)).status, 201)
  const [type] = await sql`insert into eigenschap
    (zaaktype_id, naam, definitie, specificatie_formaat, specificatie_lengte, specificatie_kardinaliteit)
    select id, 'Ingang', 'x', 'datum', '8', '1' from zaaktype returning id`
  for (const waarde of ['20261109', '20269999'])
    await sql`insert into zaakeigenschap (zaak_id, eigenschap_id, naam, waarde)
      select id, ${type!.id}, 'Ingang', ${waarde} from zaak`
  for (const [path, shown] of [
    ['', 'Roltoelichting-1'],
    ['/rollen', 'Roltoelichting-1'],
    ['', '9 november 2026'],
    ['/eigenschappen', '9 november 2026'],
    ['/eigenschappen', '20269999'],
  ] as const)
    t.match((await get(`/beheer/zaken/${zaak.uuid}${path}`)).body, shown, path)
})

function requireSeen(t: Test, body: string, fields: Record<string, string | RegExp | { not: string }>): void {
  for (const [name, seen] of Object.entries(fields))
    if (typeof seen === 'string') t.ok(body.includes(seen), name)
    else if (seen instanceof RegExp) t.match(body, seen, name)
}
