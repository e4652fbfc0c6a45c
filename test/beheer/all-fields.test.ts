// What a case, its parts, a document and a besluit hold is seen on their pages: every field of the API, or a reason why not.
import t, { type Test } from 'tap'
import type { Static } from 'typebox'
import { drawPlace } from '../../src/beheer/lookup/place-picture.ts'
import type { Besluit } from '../../src/besluiten/columns.ts'
import type { Document } from '../../src/documenten/document/columns.ts'
import type { Zaak } from '../../src/zaken/zaak/columns.ts'
import { givenInformatieobjecttype, givenZaaktype, uuidOf } from '../app.ts'
import { givenTypen } from '../besluiten/given.ts'
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
  zaakgeometrie: '52.09° NB, 5.12° OL',
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
  bestandsdelen: { not: 'while an upload in parts is not complete; the test of parts looks at them' },
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

const BESLUIT = {
  url: ID,
  identificatie: 'BESLUIT-VELDEN',
  verantwoordelijkeOrganisatie: '517439943',
  besluittype: '/beheer/catalogi/besluittypen/',
  zaak: /beheer\/zaken\/[0-9a-f-]{36}">ZAAK-BESLUIT</,
  datum: '2 november 2026',
  toelichting: 'Toelichting-1',
  bestuursorgaan: 'Orgaan-1',
  ingangsdatum: '3 november 2026',
  vervaldatum: '4 november 2027',
  vervalreden: 'ingetrokken overheid',
  vervalredenWeergave: { not: 'the vervalreden in words' },
  publicatiedatum: '5 november 2026',
  verzenddatum: '6 november 2026',
  uiterlijkeReactiedatum: '7 november 2027',
} satisfies Seen<Static<typeof Besluit>>

t.test('every field of a besluit is on its page, with its documents', async (t) => {
  const test = await setUpPages(t, {}, false)
  const get = await test.signedIn('viewer')
  const typen = await givenTypen(test)
  const zaak = await givenZaak(test, typen.zaaktype, { identificatie: 'ZAAK-BESLUIT' })
  const besluit = await typen.besluit({
    zaak: zaak.url,
    identificatie: 'BESLUIT-VELDEN',
    datum: '2026-11-02',
    toelichting: 'Toelichting-1',
    bestuursorgaan: 'Orgaan-1',
    ingangsdatum: '2026-11-03',
    vervaldatum: '2027-11-04',
    vervalreden: 'ingetrokken_overheid',
    publicatiedatum: '2026-11-05',
    verzenddatum: '2026-11-06',
    uiterlijkeReactiedatum: '2027-11-07',
  })
  const document = await givenDocument(test, typen.informatieobjecttype, { titel: 'De beschikking' })
  const link = { besluit: besluit.url, informatieobject: document.url }
  t.equal((await test.call('POST', '/besluiten/api/v1/besluitinformatieobjecten', link)).status, 201)
  const path = `/beheer/besluiten/${uuidOf(besluit.url)}`
  const { body } = await get(path)
  requireSeen(t, body, BESLUIT)
  t.match(body, `/beheer/documenten/${document.uuid}">De beschikking<`)
  t.match(body, 'Besluit aangemaakt')
  t.match((await get(`${path}/geschiedenis`)).body, 'Besluit aangemaakt')
  t.match((await get(`/beheer/zaken/${zaak.uuid}`)).body, `${path}">BESLUIT-VELDEN<`)
  t.match((await get(`/beheer/documenten/${document.uuid}`)).body, `${path}">BESLUIT-VELDEN<`)
})

/** What a page shows of each column of the tables of parts; what is beside the page of the case stands on the page of that part. */
const PARTS: Record<string, Record<string, string | RegExp | { not: string }>> = {
  substatus: {
    omschrijving: 'Substap-1',
    status_id: 'Ontvangen',
    tijdstip: '2 nov 2026',
    doelgroep: 'intern',
  },
  klantcontact: {
    identificatie: 'KC-1',
    datumtijd: '3 nov 2026',
    kanaal: 'Balie-1',
    onderwerp: 'Onderwerp-1',
    toelichting: 'Toelichting-2',
  },
  zaaknotitie: {
    onderwerp: 'Onderwerp-2',
    tekst: 'Tekst-1',
    aangemaakt_door: 'Auteur-1',
    notitie_type: 'extern',
    status: 'definitief',
    aanmaakdatum: '4 nov 2026',
    wijzigingsdatum: '5 nov 2026',
  },
  zaakcontactmoment: { contactmoment: 'https://example.com/contactmoment' },
  zaakverzoek: { verzoek: 'https://example.com/verzoek' },
  gebruiksrecht: { startdatum: '6 nov 2026', einddatum: '7 nov 2026', omschrijving_voorwaarden: 'Voorwaarden-1' },
  bestandsdeel: {
    volgnummer: /row" class="getal">1</,
    omvang: '1 kB',
    file_id: 'nog niet ontvangen',
  },
  verzending: {
    betrokkene: 'https://example.com/betrokkene',
    aard_relatie: 'geadresseerde',
    toelichting: 'Toelichting-3',
    ontvangstdatum: 'ontvangen 8 nov 2026',
    verzenddatum: 'verzonden 9 nov 2026',
    contact_persoon: 'https://example.com/contact',
    contactpersoonnaam: 'Contact-1',
    binnenlands_correspondentieadres: 'Dorpsstraat 7 b bis 1234 AB Utrecht',
    buitenlands_correspondentieadres: 'Rue 1 Paris Nord https://example.com/land',
    correspondentie_postadres: 'postbusnummer 12 5678 CD Zeist',
    faxnummer: '030-3',
    emailadres: 'iemand@example.com',
    mijn_overheid: 'MijnOverheid',
    telefoonnummer: '030-2',
  },
}
const OF_EACH_ROW = ['id', 'uuid', 'zaak_id', 'enkelvoudiginformatieobject_id']

t.test('every column of a part of a case or a document is on a page of it', async (t) => {
  const test = await setUpPages(t, {}, false)
  const { sql } = test.database
  const get = await test.signedIn('viewer')
  const zaaktype = await givenZaaktype(test, { statustypen: ['Ontvangen', 'Klaar'] })
  const zaak = await givenZaak(test, zaaktype)
  const document = await givenDocument(test, await givenInformatieobjecttype(test))
  const [status] = await sql`insert into status (zaak_id, statustype_id, datum_status_gezet)
    select (select id from zaak), id, '2026-11-01T12:00:00Z' from statustype where omschrijving = 'Ontvangen' returning id`
  await sql`insert into substatus (zaak_id, status_id, omschrijving, tijdstip, doelgroep)
    select id, ${status!.id}, 'Substap-1', '2026-11-02T12:00:00Z', 'intern' from zaak`
  await sql`insert into klantcontact (zaak_id, identificatie, datumtijd, kanaal, onderwerp, toelichting)
    select id, 'KC-1', '2026-11-03T12:00:00Z', 'Balie-1', 'Onderwerp-1', 'Toelichting-2' from zaak`
  await sql`insert into zaaknotitie (zaak_id, onderwerp, tekst, aangemaakt_door, notitie_type, status, aanmaakdatum, wijzigingsdatum)
    select id, 'Onderwerp-2', 'Tekst-1', 'Auteur-1', 'extern', 'definitief', '2026-11-04T12:00:00Z', '2026-11-05T12:00:00Z' from zaak`
  await sql`insert into zaakcontactmoment (zaak_id, contactmoment) select id, 'https://example.com/contactmoment' from zaak`
  await sql`insert into zaakverzoek (zaak_id, verzoek) select id, 'https://example.com/verzoek' from zaak`
  await sql`insert into gebruiksrecht (enkelvoudiginformatieobject_id, startdatum, einddatum, omschrijving_voorwaarden)
    select id, '2026-11-06T12:00:00Z', '2026-11-07T12:00:00Z', 'Voorwaarden-1' from enkelvoudiginformatieobject`
  await sql`insert into bestandsdeel (enkelvoudiginformatieobject_id, volgnummer, omvang)
    select id, 1, 1000 from enkelvoudiginformatieobject`
  const verzending = {
    betrokkene: 'https://example.com/betrokkene',
    informatieobject: document.url,
    aardRelatie: 'geadresseerde',
    toelichting: 'Toelichting-3',
    contactPersoon: 'https://example.com/contact',
  }
  t.equal(
    (await test.call('POST', '/documenten/api/v1/verzendingen', { ...verzending, mijnOverheid: true })).status,
    201,
  )
  const address = {
    naamOpenbareRuimte: 'Dorpsstraat',
    huisnummer: 7,
    huisletter: 'b',
    huisnummerToevoeging: 'bis',
    postcode: '1234 AB',
    woonplaatsnaam: 'Utrecht',
  }
  const abroad = {
    adresBuitenland1: 'Rue 1',
    adresBuitenland2: 'Paris',
    adresBuitenland3: 'Nord',
    landPostadres: 'https://example.com/land',
  }
  const post = {
    postadresType: 'postbusnummer',
    postBusOfAntwoordnummer: 12,
    postadresPostcode: '5678 CD',
    woonplaatsnaam: 'Zeist',
  }
  await sql`update verzending set ontvangstdatum = '2026-11-08', verzenddatum = '2026-11-09', contactpersoonnaam = 'Contact-1',
    faxnummer = '030-3', emailadres = 'iemand@example.com', telefoonnummer = '030-2',
    binnenlands_correspondentieadres = ${sql.json(address)}, buitenlands_correspondentieadres = ${sql.json(abroad)},
    correspondentie_postadres = ${sql.json(post)}`

  const page = `/beheer/zaken/${zaak.uuid}`
  const paths = [page, `${page}/klantcontacten`, `${page}/notities`, `/beheer/documenten/${document.uuid}`]
  const shown = (await Promise.all(paths.map(async (path) => (await get(path)).body))).join('\n')
  for (const [table, columns] of Object.entries(PARTS)) {
    const there = await sql<{ name: string }[]>`
      select attname as name from pg_attribute where attrelid = ${table}::regclass and attnum > 0 and not attisdropped`
    t.same(
      there.map(({ name }) => name).filter((name) => !OF_EACH_ROW.includes(name) && !Object.hasOwn(columns, name)),
      [],
      `${table}: each column is looked for`,
    )
    requireSeen(t, shown, columns)
  }
  for (const part of ['substatussen', 'klantcontacten', 'notities', 'contactmomenten', 'verzoeken'])
    t.equal((await get(`${page}/${part}`)).statusCode, 200, part)
})

t.test('an object of a case is told in words, a person among them by the last digits of his number', async (t) => {
  const test = await setUpPages(t, {}, false)
  const get = await test.signedIn('viewer')
  const zaak = await givenZaak(test, await givenZaaktype(test))
  for (const [objectType, objectIdentificatie] of [
    ['natuurlijk_persoon', { inpBsn: '111222333', geslachtsnaam: 'Jansen' }],
    ['overige', { overigeData: { kleur: 'groen' } }],
  ] as const) {
    const values = { zaak: zaak.url, objectType, objectIdentificatie }
    const more = objectType === 'overige' ? { objectTypeOverige: 'boom' } : {}
    const answer = await test.call('POST', '/zaken/api/v1/zaakobjecten', { ...values, ...more })
    t.equal(answer.status, 201, answer.text)
  }
  const { body } = await get(`/beheer/zaken/${zaak.uuid}/objecten`)
  for (const words of ['BSN: ••••••333', 'Geslachtsnaam: Jansen', 'groen']) t.match(body, words)
  t.notMatch(body, '111222333')
  const [look] = await test.database.sql`
    select object_id from beheer_audit where handeling = 'persoonsgegevens-bekijken' order by id desc limit 1`
  t.equal(look!.object_id, zaak.uuid, 'which is recorded')
})

t.test('a place is drawn with its scale, whatever kind of geometry it is', async (t) => {
  const place = (geometry: unknown) => drawPlace(geometry, 2000)!
  const square = [
    [5, 52],
    [5.01, 52],
    [5.01, 52.01],
    [5, 52.01],
    [5, 52],
  ]
  t.match(place({ type: 'Point', coordinates: [5.12, 52.09] }), {
    kind: 'Punt',
    where: '52.09° NB, 5.12° OL',
    points: [{ x: 160, y: 100 }],
    shapes: [],
    scale: { text: '100 m', width: 72 },
    json: '',
  })
  const area = place({ type: 'Polygon', coordinates: [square] })
  t.match(area, { kind: 'Vlak', where: '52° NB, 5° OL tot 52.01° NB, 5.01° OL', scale: { text: '500 m' } })
  t.match(area.shapes, [{ kind: 'vlak', path: /^M[\d .L]+Z$/ }])
  const numbers = area.shapes[0]!.path.split(/[MLZ ]/)
    .filter(Boolean)
    .map(Number)
  t.ok(Math.min(...numbers) >= 0 && Math.max(...numbers) <= 320, 'within the picture')
  const many = Array.from({ length: 5000 }, (_, n) => [5 + n / 1e7, 52])
  t.ok(place({ type: 'LineString', coordinates: many }).shapes[0]!.path.length < 20_000, 'a long line is a short path')
  const all = {
    type: 'GeometryCollection',
    geometries: [
      { type: 'Point', coordinates: [-70, -33] },
      {
        type: 'LineString',
        coordinates: [
          [-70, -33],
          [-71, -34],
        ],
      },
    ],
  }
  t.match(place(all), { kind: 'Verzameling', where: '34° ZB, 71° WL tot 33° ZB, 70° WL' })
  t.same([place(all).points.length, place(all).shapes.length], [1, 1])
  t.equal(drawPlace(null, 10), null)
  t.equal(drawPlace({ type: 'GeometryCollection', geometries: [] }, 10), null)
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
