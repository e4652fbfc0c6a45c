// What is looked up over all cases: besluiten, who is involved, and the audit trail.
import t from 'tap'
import { uuidOf } from '../app.ts'
import { givenTypen } from '../besluiten/given.ts'
import { until } from '../until.ts'
import { accessibilityFaults, asBeheerder, isTooWide, needsBrowser, setUpPages, WACHTWOORD } from './browser.ts'
import { pagesClient } from './browser-client.ts'
import { givenDocument, givenZaak } from './given.ts'

const BSN = '111222333'
const RSIN = '517439943'
const ROLTYPEN = [{ omschrijving: 'Betrokken', omschrijvingGeneriek: 'belanghebbende' }]

/** Cases of a person and of a bakery, one of each secret, with a besluit in each. */
async function givenCases(test: Awaited<ReturnType<typeof setUpPages>>) {
  const typen = await givenTypen(test, { roltypen: ROLTYPEN })
  const [roltype] = (await test.call('GET', typen.zaaktype)).body.roltypen
  const make = async (omschrijving: string, secret = false) => {
    const zaak = await givenZaak(test, typen.zaaktype, {
      omschrijving,
      ...(secret && { vertrouwelijkheidaanduiding: 'zeer_geheim' }),
    })
    for (const [betrokkeneType, betrokkeneIdentificatie] of [
      ['natuurlijk_persoon', { inpBsn: BSN, voornamen: 'Anna', geslachtsnaam: 'Jansen' }],
      ['niet_natuurlijk_persoon', { innNnpId: RSIN, statutaireNaam: 'Bakkerij De Korenaar BV' }],
      ['vestiging', { vestigingsNummer: '000012345678', handelsnaam: ['Korenbloem'] }],
    ] as const) {
      const rol = { zaak: zaak.url, roltype, roltoelichting: 'x', betrokkeneType, betrokkeneIdentificatie }
      const answer = await test.call('POST', '/zaken/api/v1/rollen', rol)
      t.equal(answer.status, 201, answer.text)
    }
    const besluit = await typen.besluit({ zaak: zaak.url, datum: secret ? '2026-10-01' : '2026-11-02' })
    return { ...zaak, besluit: { uuid: uuidOf(besluit.url), identificatie: besluit.identificatie as string } }
  }
  return { typen, open: await make('Terras'), secret: await make('Geheim plan', true) }
}

t.test('besluiten, by number, type, case and date', async (t) => {
  const test = await setUpPages(t, {}, false)
  const { typen, open, secret } = await givenCases(test)
  const other = await typen.besluit({ datum: '2025-01-15' })
  await test.database
    .sql`update beheer_account set max_vertrouwelijkheidaanduiding = 'geheim' where gebruikersnaam = 'viewer'`
  const get = await test.signedIn('viewer')
  const found = async (query: string) => {
    const { body, statusCode } = await get(`/beheer/besluiten?${query}`)
    t.equal(statusCode, 200, query)
    return [...body.matchAll(/class="cel"><a href="\/beheer\/besluiten\/([0-9a-f-]{36})"/g)].map(([, uuid]) => uuid)
  }
  const [one, loose] = [open.besluit.uuid, uuidOf(other.url)]
  t.same(await found(''), [loose, one], 'the newest first, and none of a case that is too secret')
  t.same(await found(`zoek=${open.besluit.identificatie}`), [one])
  t.same(await found(`zoek=${other.url}`), [loose])
  t.same(await found(`zaak=${open.identificatie}`), [one])
  t.same(await found(`zaak=${encodeURIComponent(open.url)}`), [one])
  t.same(await found(`zaak=${secret.identificatie}`), [])
  t.same(await found('van=2026-01-01'), [one])
  t.same(await found('tot=2025-12-31'), [loose])
  t.same(await found('sorteer=datum'), [loose, one])
  t.same(await found('sorteer=-datum'), [one, loose])
  const { body } = await get('/beheer/besluiten')
  const [, type] = /<option value="([^"]+)">Besluit</.exec(body)!
  t.same((await found(`type=${encodeURIComponent(type!)}`)).length, 2)
  t.same(await found('type=onbekend'), [])
  t.equal((await get(`/beheer/besluiten/${secret.besluit.uuid}`)).statusCode, 404)
  t.equal((await get(`/beheer/besluiten/${secret.besluit.uuid}/geschiedenis`)).statusCode, 404)
  const search = async (text: string) =>
    String((await get(`/beheer/zoeken?zoek=${encodeURIComponent(text)}`)).headers.location ?? '')
  for (const text of [open.besluit.identificatie.toLowerCase(), one])
    t.equal(await search(text), `/beheer/besluiten/${one}`, text)
  t.equal(await search(secret.besluit.uuid), '')
})

t.test('who is involved, over all cases', async (t) => {
  const test = await setUpPages(
    t,
    { LOGBOEK_DATAVERWERKINGEN: 'true', LOGBOEK_ACTIVITEIT: 'https://a.example/z' },
    false,
  )
  const { sql } = test.database
  const { open, secret } = await givenCases(test)
  await sql`update beheer_account set max_vertrouwelijkheidaanduiding = 'geheim'`
  const viewer = pagesClient(test.app)
  await viewer.login('viewer', WACHTWOORD)
  const operator = pagesClient(test.app)
  await operator.login('operator', WACHTWOORD)
  const rows = (body: string) =>
    [...body.matchAll(/class="cel"><a href="[^"]*zaken\/([^"]+)"/g)].map(([, uuid]) => uuid)

  for (const text of [RSIN, '000012345678', 'korenaar', 'bakkerij kor', 'korenbloem']) {
    const { body } = await viewer.get(`/beheer/betrokkenen?zoek=${encodeURIComponent(text)}`)
    if (text === RSIN) t.same(rows(body), [], 'a number that may be a BSN is not looked for by an address')
    else t.same(rows(body), [open.uuid], `${text}, and not in a case that is too secret`)
  }
  for (const text of ['jansen', 'anna'])
    t.same(rows((await viewer.get(`/beheer/betrokkenen?zoek=${text}`)).body), [], text)
  const moved = await viewer.post('/beheer/betrokkenen', { zoek: 'Korenaar' })
  t.match(moved, { statusCode: 303, headers: { location: '/beheer/betrokkenen?zoek=Korenaar' } })
  const rsin = await viewer.post('/beheer/betrokkenen', { zoek: RSIN })
  t.same(rows(rsin.body), [open.uuid], 'an RSIN is looked for by a form')

  const refused = await viewer.post('/beheer/betrokkenen', { zoek: BSN })
  t.same(rows(refused.body), [])
  t.match(refused.body, 'mag alleen')
  const { body, statusCode } = await operator.post('/beheer/betrokkenen', { zoek: '111.222.333' })
  t.equal(statusCode, 200)
  t.same(rows(body), [open.uuid])
  t.notOk(body.includes(secret.uuid))
  t.match(body, 'Anna Jansen')
  t.match(body, 'BSN ••••••333')
  t.notMatch(body, BSN)
  const looks =
    await sql`select gebruiker, resultaat, object_weergave, nieuw from beheer_audit where handeling = 'bsn-zoeken' order by id`
  t.match(looks.slice(-2), [
    { gebruiker: 'viewer', resultaat: 'geweigerd' },
    { gebruiker: 'operator', resultaat: 'geslaagd', object_weergave: 'BSN ••••••333', nieuw: { gevonden: 1 } },
  ])
  await until('the line of the search', async () => {
    await test.app.acts?.settle()
    const lines = await sql`select 1 from verwerking
      where handeling = 'POST /beheer/betrokkenen' and gebruikers_id = 'operator' and lookups is not null and ${open.uuid}::uuid = any(zaken)`
    return lines.length > 0
  })
})

t.test('the audit trail over all objects', async (t) => {
  const test = await setUpPages(t, {}, false)
  const { sql } = test.database
  const { typen, open, secret } = await givenCases(test)
  await sql`update beheer_account set max_vertrouwelijkheidaanduiding = 'geheim' where gebruikersnaam = 'viewer'`
  const get = await test.signedIn('viewer')
  const lines = async (query: string) => {
    const { body, statusCode } = await get(`/beheer/audittrail?${query}`)
    t.equal(statusCode, 200, query)
    const found = [...body.matchAll(/\/beheer\/audittrail\/([0-9a-f-]{36})\/(-?\d+)">/g)]
    return { body, ids: found.map(([, , id]) => Number(id)), objects: new Set(found.map(([, uuid]) => uuid)) }
  }

  await t.test('is told newest first, page by page, and not of what is too secret', async (t) => {
    const expected = await sql<
      { id: number }[]
    >`select id from audit where hoofd_object_uuid <> all(${[secret.uuid, secret.besluit.uuid]}::uuid[])
      order by aanmaakdatum desc, id desc`
    const seen: number[] = []
    let query: string | undefined = ''
    while (query !== undefined) {
      const { body, ids } = await lines(query)
      seen.push(...ids)
      query = /href="[^"]*audittrail\?([^"]*)" rel="next"/.exec(body)?.[1]?.replaceAll('&amp;', '&')
    }
    t.same(
      seen,
      expected.map(({ id }) => id),
    )
    await sql`update beheer_account set max_vertrouwelijkheidaanduiding = 'zeer_geheim' where gebruikersnaam = 'administrator'`
    const administrator = await test.signedIn('administrator')
    t.match((await administrator('/beheer/audittrail?object=Geheim')).statusCode, 200)
    t.match((await administrator(`/beheer/audittrail?object=${secret.uuid}`)).body, secret.identificatie)
    t.notOk((await lines(`object=${secret.uuid}`)).body.includes(secret.identificatie))
  })

  await t.test('is searched by client, user, kind, act and object', async (t) => {
    const zaak = await lines('soort=zaak&actie=create')
    t.same([...zaak.objects], [open.uuid])
    t.equal((await lines('soort=zaak&actie=destroy')).ids.length, 0)
    t.ok((await lines('gebruiker=EEN')).ids.length > 3)
    t.ok((await lines('gebruiker=gebruiker-1')).ids.length > 3)
    t.equal((await lines('gebruiker=niemand')).ids.length, 0, 'another user')
    const found = await lines('applicatie=BEHEER')
    t.ok(found.ids.length > 3, 'by a part of the name, whatever the case')
    const [one] = await sql<{ id: string }[]>`select applicatie_id as id from audit where applicatie_id <> '' limit 1`
    t.ok((await lines(`applicatie=${one!.id}`)).ids.length > 3, 'or by its id')
    t.equal((await lines('applicatie=nergens')).ids.length, 0, 'another application')
    t.same([...(await lines(`object=${open.uuid}`)).objects], [open.uuid])
    await test.call(
      'PATCH',
      open.url,
      { toelichting: 'Anders' },
      { headers: { 'content-crs': 'EPSG:4326', 'accept-crs': 'EPSG:4326' } },
    )
    t.equal((await lines('soort=zaak&actie=wijzigen')).ids.length, 1, 'a change')
  })

  await t.test('of a period: the last week when none is asked, and a quarter of a year at most', async (t) => {
    await sql`update audit set aanmaakdatum = now() - interval '20 days' where resource = 'zaak' and hoofd_object_uuid = ${open.uuid} and actie = 'create'`
    t.equal((await lines('soort=zaak&actie=create')).ids.length, 0)
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
    t.equal((await lines(`soort=zaak&actie=create&van=${day(30)}`)).ids.length, 1)
    t.equal((await lines(`soort=zaak&actie=create&van=${day(30)}&tot=${day(25)}`)).ids.length, 0)
    t.equal((await lines(`soort=zaak&actie=create&van=${day(21)}&tot=${day(19)}`)).ids.length, 1)
    t.match((await lines(`van=${day(400)}`)).body, 'De periode was te lang')
  })

  await t.test('stops after so many rows, says so, and goes on from there', async (t) => {
    await sql`insert into audit (hoofd_object_uuid, resultaat, bron, actie, resource, packed, aanmaakdatum)
      select gen_random_uuid(), 201, 'ztc', 'create', 'veel', '', now() - interval '1 hour' - n * interval '10 milliseconds' from generate_series(1, 25000) n`
    const query = `soort=zaak&actie=create&van=${new Date(Date.now() - 25 * 86_400_000).toISOString().slice(0, 10)}`
    const ofOne = await lines(`object=${open.uuid}&${query}`)
    t.equal(ofOne.ids.length, 1, 'the trail of one object is read by itself')
    t.notMatch(ofOne.body, 'Niet alles is bekeken')
    const { body } = await lines(query)
    t.match(body, 'Niet alles is bekeken')
    const [, next] = /href="([^"]*audittrail\?[^"]*)" rel="next"/.exec(body)!
    const further = await get(next!.replaceAll('&amp;', '&'))
    t.match(further.body, open.identificatie)
    t.notMatch(further.body, 'Niet alles is bekeken')
  })

  await t.test('tells what one change changed, and records who looks at a person', async (t) => {
    const [rol] =
      await sql`select hoofd_object_uuid as uuid, id from audit where resource = 'rol' and hoofd_object_uuid = ${open.uuid} order by id limit 1`
    const { body, statusCode } = await get(`/beheer/audittrail/${rol!.uuid}/${rol!.id}`)
    t.equal(statusCode, 200)
    for (const word of ['Betrokkene toegevoegd', 'Jansen', '••••••333', `/beheer/zaken/${open.uuid}`, 'Gebruiker Een'])
      t.match(body, word)
    t.notMatch(body, BSN)
    const [look] =
      await sql`select object_id, gebruiker from beheer_audit where handeling = 'persoonsgegevens-bekijken' order by id desc limit 1`
    t.match(look, { object_id: open.uuid, gebruiker: 'viewer' })
    const [hidden] =
      await sql`select hoofd_object_uuid as uuid, id from audit where hoofd_object_uuid = ${secret.uuid} limit 1`
    t.equal((await get(`/beheer/audittrail/${hidden!.uuid}/${hidden!.id}`)).statusCode, 404)
    for (const path of [`${rol!.uuid}/0`, `${rol!.uuid}/x`, 'x/1'])
      t.equal((await get(`/beheer/audittrail/${path}`)).statusCode, 404, path)
    const [type] =
      await sql`select hoofd_object_uuid as uuid, id from audit where resource = 'zaaktype' and actie = 'create' limit 1`
    t.equal((await get(`/beheer/audittrail/${type!.uuid}/${type!.id}`)).statusCode, 200)
    t.ok(typen.zaaktype)
  })
})

t.test('these pages are accessible and fit a telephone', await needsBrowser(), async (t) => {
  const test = await setUpPages(t)
  const { typen, open } = await givenCases(test)
  const document = await givenDocument(test, typen.informatieobjecttype, { titel: 'De beschikking' })
  const [besluit] = await test.database.sql`select uuid from besluit where uuid = ${open.besluit.uuid}`
  await test.call('POST', '/besluiten/api/v1/besluitinformatieobjecten', {
    besluit: `${new URL(typen.zaaktype).origin}/besluiten/api/v1/besluiten/${besluit!.uuid}`,
    informatieobject: document.url,
  })
  await test.call(
    'PATCH',
    open.url,
    {
      zaakgeometrie: {
        type: 'Polygon',
        coordinates: [
          [
            [5.1, 52.08],
            [5.13, 52.085],
            [5.12, 52.1],
            [5.1, 52.08],
          ],
        ],
      },
    },
    { headers: { 'content-crs': 'EPSG:4326', 'accept-crs': 'EPSG:4326' } },
  )
  await test.database.sql`insert into klantcontact (zaak_id, identificatie, datumtijd, kanaal, onderwerp, toelichting)
    select id, 'KC-1', now(), 'Balie', 'Vraag over de termijn', 'Belde terug' from zaak where uuid = ${open.uuid}`
  await test.database
    .sql`insert into zaaknotitie (zaak_id, onderwerp, tekst, aangemaakt_door) select id, 'Gebeld', 'Belt morgen terug', 'A. de Boer' from zaak where uuid = ${open.uuid}`
  await test.call('POST', '/documenten/api/v1/verzendingen', {
    betrokkene: 'https://example.com/persoon',
    informatieobject: document.url,
    aardRelatie: 'geadresseerde',
    contactPersoon: 'https://example.com/contact',
    contactpersoonnaam: 'Jan de Vries',
    verzenddatum: '2026-11-20',
    emailadres: 'jan@example.com',
  })
  const [rol] = await test.database
    .sql`select hoofd_object_uuid as uuid, id from audit where resource = 'rol' order by id limit 1`
  const { tab, klachten } = await asBeheerder(test, 'operator')
  const look = async (name: string) => {
    for (const width of [1280, 390]) {
      await tab.setViewportSize({ width, height: 900 })
      t.same(await accessibilityFaults(tab), [], `${name} at ${width}`)
      t.equal(await isTooWide(tab), false, `${name} fits in ${width}`)
      if (process.env.PICTURES)
        await tab.screenshot({ path: `${process.env.PICTURES}/${name}-${width}.png`, fullPage: true })
    }
    await tab.setViewportSize({ width: 1280, height: 900 })
  }
  for (const [name, path] of [
    ['besluiten', '/besluiten'],
    ['besluit', `/besluiten/${open.besluit.uuid}`],
    ['zaak', `/zaken/${open.uuid}`],
    ['document', `/documenten/${document.uuid}`],
    ['audittrail', '/audittrail?soort=rol'],
    ['audittrail-regel', `/audittrail/${rol!.uuid}/${rol!.id}`],
    ['betrokkenen-naam', '/betrokkenen?zoek=korenaar'],
  ] as const) {
    await tab.goto(`/beheer${path}`)
    await look(name)
  }
  await tab.click('nav >> text=Betrokkenen')
  await tab.fill('main #veld-zoek', BSN)
  await tab.click('main button[type=submit]')
  t.match(await tab.textContent('main'), open.identificatie)
  t.notMatch(tab.url(), BSN)
  t.notMatch(await tab.content(), BSN)
  await look('betrokkenen-bsn')
  t.same(klachten, [])
})
