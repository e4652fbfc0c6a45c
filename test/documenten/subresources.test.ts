import { createServer } from 'node:http'
import t from 'tap'
import { BASE, testApp, uuidOf } from '../app.ts'
import { DRC, faults, givenDocument, givenLock, newDocument } from './documenten.ts'

const PERSOON = 'https://elders.example/personen/1'

t.test('drc-006: indicatieGebruiksrecht follows the gebruiksrechten', async (t) => {
  const test = await testApp(t)
  const { url, informatieobjecttype } = await givenDocument(test)
  const create = newDocument(informatieobjecttype, { indicatieGebruiksrecht: true })
  t.same(faults(await test.call('POST', `${DRC}/enkelvoudiginformatieobjecten`, create)), [
    'indicatieGebruiksrecht: missing-gebruiksrechten',
  ])
  const lock = await givenLock(test, url)
  const patch = (values: object) => test.call('PATCH', url, { lock, ...values })
  t.same(faults(await patch({ indicatieGebruiksrecht: true })), ['indicatieGebruiksrecht: missing-gebruiksrechten'])
  const recht = { informatieobject: url, startdatum: '2025-01-01T00:00:00Z', omschrijvingVoorwaarden: 'Voor onderzoek' }
  const made = await test.call('POST', `${DRC}/gebruiksrechten`, recht)
  t.match(made, { status: 201, body: { ...recht, einddatum: null }, headers: { location: made.body.url } })
  t.match((await test.call('GET', url)).body, { versie: 1, indicatieGebruiksrecht: true })
  for (const value of [false, null]) {
    const refused = await patch({ indicatieGebruiksrecht: value })
    t.same(faults(refused), ['indicatieGebruiksrecht: existing-gebruiksrechten'])
  }
  t.match((await patch({ titel: 'x' })).body, { versie: 2, indicatieGebruiksrecht: true })
  const put = { ...newDocument(informatieobjecttype), lock }
  t.match((await test.call('PUT', url, put)).body, { versie: 3, indicatieGebruiksrecht: true }, 'a PUT without it')
  t.equal((await test.call('DELETE', made.body.url)).status, 204)
  t.match((await test.call('GET', url)).body, { versie: 3, indicatieGebruiksrecht: null })
  t.match((await patch({ indicatieGebruiksrecht: false })).body, { indicatieGebruiksrecht: false })
})

t.test('gebruiksrechten are changed, filtered and recorded', async (t) => {
  const test = await testApp(t)
  const { url, identificatie } = await givenDocument(test)
  const other = await givenDocument(test)
  const recht = { informatieobject: url, startdatum: '2025-01-01T00:00:00Z', omschrijvingVoorwaarden: 'v'.repeat(60) }
  const { body: made } = await test.call('POST', `${DRC}/gebruiksrechten`, recht)
  t.same(faults(await test.call('PATCH', made.url, { informatieobject: other.url })), [
    'informatieobject: wijzigen-niet-toegelaten',
  ])
  t.same(faults(await test.call('PUT', made.url, { informatieobject: url })), [
    'startdatum: required',
    'omschrijvingVoorwaarden: required',
  ])
  const changed = await test.call('PATCH', made.url, { einddatum: '2026-01-01' })
  t.match(changed.body, { ...recht, einddatum: '2026-01-01T00:00:00Z' })
  const kept = { ...recht, omschrijvingVoorwaarden: 'w' }
  t.match((await test.call('PUT', made.url, kept)).body, { ...kept, einddatum: '2026-01-01T00:00:00Z' })
  for (const [query, count] of [
    ['startdatum__lte=2025-01-01', 1],
    ['startdatum__lt=2025-01-01', 0],
    ['startdatum__gt=2024-12-31T23:59:59Z', 1],
    ['einddatum__gte=2025-01-01', 1],
    ['einddatum__gte=2026-01-02', 0],
    [`informatieobject=${encodeURIComponent(url)}`, 1],
    [`informatieobject=${encodeURIComponent(other.url)}`, 0],
    ['informatieobject=https://elders.example/1', 0],
  ] as const) {
    t.equal((await test.call('GET', `${DRC}/gebruiksrechten?${query}`)).body.length, count, query)
  }
  const etag = String((await test.call('GET', made.url)).headers.etag)
  t.equal((await test.call('GET', made.url, undefined, { headers: { 'if-none-match': etag } })).status, 304)
  await test.call('DELETE', made.url)
  const { body: trail } = await test.call('GET', `${url}/audittrail`)
  t.same(
    trail.map(({ resource, actie }: Record<string, string>) => `${resource} ${actie}`),
    [
      'enkelvoudiginformatieobject create',
      'gebruiksrechten create',
      'gebruiksrechten partial_update',
      'gebruiksrechten update',
      'gebruiksrechten destroy',
    ],
  )
  t.equal(trail[1].resourceWeergave, `(000000000 - ${identificatie}) - ${'v'.repeat(50)}`)
  t.match(trail.at(-1).wijzigingen, { oud: { omschrijvingVoorwaarden: 'w' }, nieuw: null })
  const sent = await test.database.sql`select hoofd_object, actie from notificatie where resource = 'gebruiksrechten'`
  t.same([...new Set(sent.map(({ hoofd_object }) => hoofd_object))], [url])
  t.equal(sent.length, 4)
})

t.test('a sub-resource names a document that exists', async (t) => {
  const test = await testApp(t)
  const { url, informatieobjecttype } = await givenDocument(test)
  const absent = url.replace(uuidOf(url), crypto.randomUUID())
  const bodies = {
    gebruiksrechten: { startdatum: '2025-01-01', omschrijvingVoorwaarden: 'x' },
    verzendingen: { betrokkene: PERSOON, contactPersoon: PERSOON, aardRelatie: 'afzender', mijnOverheid: true },
    objectinformatieobjecten: { object: 'https://elders.example/verzoeken/1', objectType: 'verzoek' },
  }
  for (const [path, body] of Object.entries(bodies)) {
    for (const [informatieobject, code] of [
      [undefined, 'required'],
      ['geen url', 'bad-url'],
      [informatieobjecttype, 'incorrect_match'],
      ['https://elders.example/1', 'bad-url'],
      ...(path === 'objectinformatieobjecten' ? [] : [[absent, 'bad-url']]),
    ] as const) {
      const answer = await test.call('POST', `${DRC}/${path}`, { ...body, informatieobject })
      t.same(faults(answer), [`informatieobject: ${code}`], `${path} ${informatieobject}`)
    }
  }
})

t.test('a verzending went through exactly one channel', async (t) => {
  const test = await testApp(t)
  const { url } = await givenDocument(test)
  const base = { informatieobject: url, betrokkene: PERSOON, contactPersoon: PERSOON, aardRelatie: 'geadresseerde' }
  const post = (values: object) => test.call('POST', `${DRC}/verzendingen`, { ...base, ...values })
  const adres = { naamOpenbareRuimte: 'Straat', huisnummer: '12', woonplaatsnaam: 'Stad', postcode: '1000 AA' }
  const channels = {
    telefoonnummer: '0101234567',
    faxnummer: '0101234568',
    emailadres: 'a@example.nl',
    mijnOverheid: true,
    binnenlandsCorrespondentieadres: adres,
    buitenlandsCorrespondentieadres: { adresBuitenland_1: 'Rue 1', landPostadres: 'https://landen.example/be' },
    correspondentiePostadres: {
      postBusOfAntwoordnummer: 1,
      postadresPostcode: '1000AA',
      postadresType: 'postbusnummer',
      woonplaatsnaam: 'Stad',
    },
  }
  for (const [name, value] of Object.entries(channels)) {
    const made = await post({ [name]: value })
    t.equal(made.status, 201, `${name} ${made.text}`)
    t.notSame(made.body[name], null)
  }
  t.same(faults(await post({})), ['nonFieldErrors: invalid-address'])
  const two = { faxnummer: '1', telefoonnummer: '2' }
  t.same(faults(await post(two)), ['nonFieldErrors: invalid-address'])
  const { body: made } = await post({ binnenlandsCorrespondentieadres: adres })
  t.match(made.binnenlandsCorrespondentieadres, { huisnummer: 12, huisletter: '', postcode: '1000 AA' })
  t.same(faults(await test.call('PATCH', made.url, { emailadres: 'a@example.nl' })), [
    'nonFieldErrors: invalid-address',
  ])
  const moved = { emailadres: 'a@example.nl', binnenlandsCorrespondentieadres: null }
  t.match((await test.call('PATCH', made.url, moved)).body, moved)
  t.same(faults(await post({ binnenlandsCorrespondentieadres: { huisnummer: 0 } })).sort(), [
    'binnenlandsCorrespondentieadres.huisnummer: min_value',
    'binnenlandsCorrespondentieadres.naamOpenbareRuimte: required',
    'binnenlandsCorrespondentieadres.woonplaatsnaam: required',
  ])
  const list = await test.call('GET', `${DRC}/verzendingen?aardRelatie=geadresseerde&pageSize=2`)
  t.match(list.body, { count: 8, results: [{ url: made.url, _expand: {} }, {}] }, 'newest first')
  t.equal((await test.call('DELETE', made.url)).status, 204)
  t.equal((await test.call('GET', made.url)).status, 404)
  t.equal((await test.call('GET', `${url}/audittrail`)).body.length, 1, 'a verzending leaves no trail')
  const sent = await test.database
    .sql`select actie from notificatie where resource = 'verzending' order by id desc limit 2`
  t.same(
    sent.map(({ actie }) => actie),
    ['destroy', 'partial_update'],
  )
})

t.test('drc-002 to drc-004: a relation to an object elsewhere follows the register of that object', async (t) => {
  const test = await testApp(t)
  const { url } = await givenDocument(test)
  let relations: unknown[] = []
  let broken = false
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url!)
    const { pathname } = new URL(request.url!, 'http://x')
    const list = pathname === '/api/v1/verzoekinformatieobjecten'
    response.writeHead(pathname === '/api/v1/verzoeken/weg' || (list && broken) ? 500 : 200)
    response.end(JSON.stringify(list ? relations : pathname.endsWith('/vreemd') ? [] : { url: 'x' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const root = `http://127.0.0.1:${(server.address() as { port: number }).port}/api/v1/`
  await test.database
    .sql`insert into service (label, slug, kind, api_root) values ('Verzoeken', 'verzoeken', 'orc', ${root})`
  const post = (object: string, objectType: string | undefined = 'verzoek') =>
    test.call('POST', `${DRC}/objectinformatieobjecten`, { informatieobject: url, object, objectType })
  const object = `${root}verzoeken/1`
  t.same(faults(await test.call('POST', `${DRC}/objectinformatieobjecten`, { informatieobject: url, object })), [
    'objectType: required',
  ])
  t.same(faults(await post(object, 'klant')), ['objectType: invalid_choice'])
  t.same(faults(await post('https://onbekend.example/verzoeken/1')), ['object: bad-url'])
  t.same(faults(await post(`${root}verzoeken/weg`)), ['object: bad-url'])
  const nowhere = '00000000-0000-4000-8000-000000000000'
  t.same(faults(await post(`${BASE}/zaken/api/v1/zaken/${nowhere}`, 'zaak')), ['object: bad-url'])
  t.same(faults(await post(`${BASE}/besluiten/api/v1/besluiten/${nowhere}`, 'besluit')), ['object: bad-url'])
  t.same(faults(await post(`${BASE}/zaken/api/v1/zaken/${nowhere}`, 'besluit')), ['object: invalid-resource'])
  t.same(faults(await post(`${root}verzoeken/vreemd`)), ['object: invalid-resource'])
  t.same(faults(await post(object)), ['nonFieldErrors: inconsistent-relation'])
  broken = true
  t.same(faults(await post(object)), ['nonFieldErrors: relation-lookup-error'])
  broken = false
  relations = [{ url: 'x' }]
  const made = await post(object)
  t.match(made, { status: 201, body: { informatieobject: url, object, objectType: 'verzoek' } })
  t.match(new URL(asked.at(-1)!, root).searchParams.get('verzoek'), object)
  t.same(faults(await post(object)), ['nonFieldErrors: unique'])
  t.equal((await test.call('PUT', made.body.url, {})).status, 405)
  const filter = `object=${encodeURIComponent(object)}`
  const { body: list } = await test.call('GET', `${DRC}/objectinformatieobjecten?${filter}&expand=informatieobject`)
  t.match(list, [{ url: made.body.url, _expand: { informatieobject: { url } } }])
  t.same(faults(await test.call('DELETE', url)), ['nonFieldErrors: pending-relations'])
  t.same(faults(await test.call('DELETE', made.body.url)), ['nonFieldErrors: remote-relation-exists'])
  relations = []
  t.equal((await test.call('DELETE', made.body.url)).status, 204)
  t.equal((await test.call('DELETE', url)).status, 204)
})

t.test('a verzending of an afzender without its day, and a second one, are told by X-Warning', async (t) => {
  const test = await testApp(t)
  const { url } = await givenDocument(test)
  const base = { informatieobject: url, betrokkene: PERSOON, contactPersoon: PERSOON, mijnOverheid: true }
  const post = (values: object) => test.call('POST', `${DRC}/verzendingen`, { ...base, ...values })
  const warning = ({ headers }: { headers: Record<string, unknown> }) => headers['x-warning'] ?? ''
  t.equal(warning(await post({ aardRelatie: 'geadresseerde' })), '')
  const first = await post({ aardRelatie: 'afzender', ontvangstdatum: '2026-03-02' })
  t.equal(warning(first), '')
  const second = await post({ aardRelatie: 'afzender' })
  t.equal(second.status, 201)
  t.match(warning(second), 'ontvangstdatum')
  t.match(warning(second), 'al een verzending van een afzender')
  t.equal(warning(await test.call('DELETE', second.body.url)), '')
  t.equal(warning(await test.call('PATCH', first.body.url, { toelichting: 'x' })), '', 'it is not its own second')
  t.match(warning(await test.call('PATCH', first.body.url, { ontvangstdatum: null })), 'ontvangstdatum')
  t.equal(warning(await post({ aardRelatie: 'afzender', mijnOverheid: false })), '', 'a refusal warns of nothing')
})

t.test('a document that is signed and being drafted is told by X-Warning', async (t) => {
  const test = await testApp(t)
  const ondertekening = { soort: 'digitaal', datum: '2026-03-02' }
  const { url } = await givenDocument(test, { status: 'in_bewerking' })
  const { body: lock } = await test.call('POST', `${url}/lock`)
  const sign = await test.call('PATCH', url, { ondertekening, lock: lock.lock })
  t.equal(sign.status, 200, sign.text)
  t.match(sign.headers['x-warning'], 'ondertekening')
  const done = await test.call('PATCH', url, { status: 'definitief', lock: lock.lock })
  t.equal(done.headers['x-warning'], undefined)
})
