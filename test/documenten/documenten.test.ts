import t from 'tap'
import { givenClient, givenInformatieobjecttype, testApp, uuidOf } from '../app.ts'
import { base64, EIO, faults, givenDocument, givenLock, newDocument } from './documenten.ts'

// Tests that count, or look at all documents, have an application of their own.
const test = await testApp(t)

t.test('a document is made with content, and shown alike by create, detail and list', async (t) => {
  const test = await testApp(t)
  const made = await givenDocument(test, { trefwoorden: ['a', 'b'], integriteit: null })
  t.match(made, {
    identificatie: 'DOCUMENT-2025-0000000001',
    versie: 1,
    bestandsomvang: 6,
    lock: '',
    locked: false,
    bestandsdelen: [],
    vertrouwelijkheidaanduiding: 'openbaar',
    indicatieGebruiksrecht: null,
    inhoudIsVervallen: null,
    tonenAanInitiator: false,
    isGereedVoorPublicatie: null,
    inhoud: `${made.url}/download?versie=1`,
  })
  const { lock: _, ...shown } = made
  const detail = await test.call('GET', made.url)
  t.same(detail.body, { ...shown, _expand: {} })
  const list = await test.call('GET', EIO)
  t.same(list.body, { count: 1, next: null, previous: null, results: [{ ...shown, _expand: {} }] })
  const found = await test.call('POST', `${EIO}/_zoek`, { uuid__in: [uuidOf(made.url)] })
  t.same(found.body, list.body)
  const head = await test.call('HEAD', made.url)
  t.equal(head.status, 200)
  t.equal(head.headers.etag, detail.headers.etag)
  t.equal(head.text, '')
})

t.test('every fault of a create is reported at once, in the order of the fields', async (t) => {
  const answer = await test.call('POST', EIO, {
    bronorganisatie: '123456789',
    titel: '',
    taal: 'nl',
    status: 'kwijt',
    inhoud: 'niet base64!',
    integriteit: { algoritme: '', waarde: 'x', datum: null },
  })
  t.equal(answer.status, 400)
  t.same(faults(answer), [
    'bronorganisatie: invalid',
    'creatiedatum: required',
    'titel: blank',
    'auteur: required',
    'status: invalid_choice',
    'taal: min_length',
    'integriteit.algoritme: invalid_choice',
    'integriteit.datum: null',
    'informatieobjecttype: required',
    'inhoud: invalid-base64',
  ])
})

t.test('drc-001: the type exists, is an informatieobjecttype, and is published', async (t) => {
  const document = await givenDocument(test)
  const concept = await givenInformatieobjecttype(test, { omschrijving: 'Concept', concept: true })
  const absent = concept.replace(uuidOf(concept), crypto.randomUUID())
  for (const [url, code] of [
    [concept, 'not-published'],
    [absent, 'bad-url'],
    ['geen url', 'bad-url'],
    [document.url, 'invalid-resource'],
    ['http://elders.example/catalogi/api/v1/informatieobjecttypen/1', 'bad-url'],
    [`http://localhost/${'x'.repeat(200)}`, 'max_length'],
  ]) {
    t.same(faults(await test.call('POST', EIO, newDocument(url!))), [`informatieobjecttype: ${code}`], url)
    const lock = await givenLock(test, document.url)
    const patched = await test.call('PATCH', document.url, { lock, informatieobjecttype: url })
    t.same(faults(patched), [`informatieobjecttype: ${code}`])
    await test.call('POST', `${document.url}/unlock`, { lock })
  }
})

t.test(
  'drc-005: a received document is not being drafted, also when the date is added or taken away later',
  async (t) => {
    const type = await givenInformatieobjecttype(test)
    const refused = await test.call(
      'POST',
      EIO,
      newDocument(type, { ontvangstdatum: '2025-01-01', status: 'in_bewerking' }),
    )
    t.same(faults(refused), ['status: invalid_for_received'])
    const { url } = await givenDocument(test, { status: 'ter_vaststelling' })
    const lock = await givenLock(test, url)
    t.same(faults(await test.call('PATCH', url, { lock, ontvangstdatum: '2025-01-01' })), [
      'status: invalid_for_received',
    ])
    t.equal((await test.call('PATCH', url, { lock, ontvangstdatum: '2025-01-01', status: 'definitief' })).status, 200)
    t.same(faults(await test.call('PATCH', url, { lock, status: 'in_bewerking' })), ['status: invalid_for_received'])
    t.equal((await test.call('PATCH', url, { lock, ontvangstdatum: null, status: 'in_bewerking' })).status, 200)
  },
)

t.test(
  'drc-007: without a statement the type decides the confidentiality, and an empty text is no statement',
  async (t) => {
    const type = await givenInformatieobjecttype(test, { vertrouwelijkheidaanduiding: 'geheim' })
    for (const [stated, expected] of [
      [{}, 'geheim'],
      [{ vertrouwelijkheidaanduiding: '' }, 'geheim'],
      [{ vertrouwelijkheidaanduiding: null }, 'geheim'],
      [{ vertrouwelijkheidaanduiding: 'intern' }, 'intern'],
    ] as const) {
      const { body } = await test.call('POST', EIO, newDocument(type, stated))
      t.equal(body.vertrouwelijkheidaanduiding, expected)
    }
  },
)

t.test('drc-009: a document is changed by who holds its lock', async (t) => {
  const { url, ...document } = await givenDocument(test)
  const put = { ...newDocument(document.informatieobjecttype), titel: 'Anders' }
  t.same(faults(await test.call('PATCH', url, { titel: 'x' })), ['nonFieldErrors: unlocked'])
  t.same(faults(await test.call('PUT', url, put)), ['lock: required'])
  t.same(faults(await test.call('PUT', url, { ...put, lock: 'x' })), ['nonFieldErrors: unlocked'])
  const lock = await givenLock(test, url)
  t.match(lock, /^[0-9a-f]{32}$/)
  t.same(faults(await test.call('POST', `${url}/lock`)), ['nonFieldErrors: existing-lock'])
  t.same(faults(await test.call('PATCH', url, { titel: 'x' })), ['nonFieldErrors: missing-lock-id'])
  t.same(faults(await test.call('PATCH', url, { titel: 'x', lock: 'anders' })), ['nonFieldErrors: incorrect-lock-id'])
  t.same(faults(await test.call('PUT', url, { ...put, lock: 'anders' })), ['nonFieldErrors: incorrect-lock-id'])
  t.equal((await test.call('PATCH', url, { titel: 'x', lock })).body.versie, 2)
  t.equal((await test.call('PATCH', url, { titel: 'y', lock })).body.versie, 3)
  t.equal((await test.call('GET', url)).body.locked, true)
  t.same(faults(await test.call('DELETE', url)), ['nonFieldErrors: destroy-locked'])
  t.equal((await test.call('POST', `${url}/unlock`, { lock })).status, 204)
  t.equal((await test.call('POST', `${url}/unlock`, undefined)).status, 204, 'unlocking what is not locked')
  t.equal((await test.call('GET', url)).body.locked, false)
})

t.test('drc-009: only the forced scope unlocks without the lock', async (t) => {
  const { url, informatieobjecttype } = await givenDocument(test)
  const right = { component: 'drc', typeUuid: uuidOf(informatieobjecttype), max: 'zeer_geheim' }
  await givenClient(test, 'sloten', [{ ...right, scopes: ['documenten.lezen', 'documenten.lock'] }])
  await givenClient(test, 'dwang', [{ ...right, scopes: ['documenten.lezen', 'documenten.geforceerd-unlock'] }])
  await givenLock(test, url)
  for (const body of [{}, { lock: 'anders' }]) {
    const refused = await test.call('POST', `${url}/unlock`, body, { as: 'sloten' })
    t.same(faults(refused), ['nonFieldErrors: incorrect-lock-id'])
  }
  t.equal((await test.call('POST', `${url}/lock`, undefined, { as: 'dwang' })).status, 403)
  t.equal((await test.call('POST', `${url}/unlock`, {}, { as: 'dwang' })).status, 204)
  t.equal((await test.call('GET', url)).body.locked, false)
})

t.test('a change is a new version; older versions stay as they were', async (t) => {
  const test = await testApp(t)
  const { url } = await givenDocument(test, { trefwoorden: ['een'], beschrijving: 'eerst' })
  const lock = await givenLock(test, url)
  const between = new Date().toISOString()
  const patched = await test.call('PATCH', url, {
    lock,
    titel: 'Twee',
    inhoud: base64('langer dan eerst'),
    bestandsomvang: 16,
  })
  t.match(patched.body, { versie: 2, titel: 'Twee', beschrijving: 'eerst', trefwoorden: ['een'], bestandsomvang: 16 })
  t.equal('lock' in patched.body, false)
  const put = await test.call('PUT', url, { ...newDocument(patched.body.informatieobjecttype), lock })
  t.match(put.body, { versie: 3, beschrijving: '', trefwoorden: [], inhoud: null, bestandsomvang: null }, put.text)
  t.equal(put.body.identificatie, patched.body.identificatie, 'a PUT without number keeps it')
  t.match((await test.call('GET', `${url}?versie=1`)).body, { versie: 1, titel: 'Een brief', bestandsomvang: 6 })
  t.match((await test.call('GET', `${url}?registratieOp=${between}`)).body, { versie: 1 })
  t.match((await test.call('GET', `${EIO}`)).body.results, [{ versie: 3 }])
  t.equal((await test.call('GET', `${url}/download?versie=1`)).text, 'inhoud')
  t.equal((await test.call('GET', `${url}/download?versie=2`)).text, 'langer dan eerst')
  t.equal((await test.call('GET', `${url}/download`)).status, 204)
  t.equal((await test.call('GET', `${url}?versie=4`)).status, 404)
  t.equal((await test.call('GET', `${url}?registratieOp=2000-01-01T00:00:00`)).status, 404)
  t.same(faults(await test.call('GET', `${url}?versie=x`)), ['versie: invalid'])
  t.same(faults(await test.call('GET', `${url}?registratieOp=gisteren`)), ['registratieOp: invalid'])
})

t.test('simultaneous changes get versions without gaps', async (t) => {
  const { url } = await givenDocument(test)
  const lock = await givenLock(test, url)
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) => test.call('PATCH', url, { lock, titel: `t${n}` })),
  )
  t.same(
    answers.map(({ body }) => body.versie).sort((a, b) => a - b),
    Array.from({ length: 12 }, (_, n) => n + 2),
  )
  await test.call('POST', `${url}/unlock`, { lock })
  const attempts = await Promise.all(Array.from({ length: 6 }, () => test.call('POST', `${url}/lock`)))
  t.equal(attempts.filter(({ status }) => status === 200).length, 1, 'one of many gets the lock')
})

t.test('groups are given whole, and null clears them', async (t) => {
  const integriteit = { algoritme: 'sha_256', waarde: '', datum: '2025-01-01' }
  const ondertekening = { soort: 'pki', datum: '2025-01-01' }
  const { url } = await givenDocument(test, { integriteit, ondertekening })
  t.match((await test.call('GET', url)).body, { integriteit, ondertekening })
  const lock = await givenLock(test, url)
  t.same(faults(await test.call('PATCH', url, { lock, integriteit: { algoritme: 'md5' } })), [
    'integriteit.waarde: required',
    'integriteit.datum: required',
  ])
  t.same(faults(await test.call('PATCH', url, { lock, titel: null })), ['titel: null'])
  const cleared = await test.call('PATCH', url, { lock, integriteit: null, ondertekening: null })
  t.match(cleared.body, { integriteit: null, ondertekening: null })
})

t.test('a number is unique within its bronorganisatie, also when many come at once', async (t) => {
  const { informatieobjecttype } = await givenDocument(test, { identificatie: 'EEN' })
  const taken = await test.call('POST', EIO, newDocument(informatieobjecttype, { identificatie: 'EEN' }))
  t.same(faults(taken), ['identificatie: identificatie-niet-uniek'])
  const other = newDocument(informatieobjecttype, { identificatie: 'EEN', bronorganisatie: '111222333' })
  t.equal((await test.call('POST', EIO, other)).status, 201)
  const same = newDocument(informatieobjecttype, { identificatie: 'TWEE' })
  const answers = await Promise.all(Array.from({ length: 8 }, () => test.call('POST', EIO, same)))
  t.same(answers.map(({ status }) => status).sort(), [201, ...Array(7).fill(400)])
})

t.test('a generated number passes over numbers that documents brought along', async (t) => {
  const test = await testApp(t)
  const numbers = Array.from({ length: 30 }, (_, n) => `DOCUMENT-2025-${String(n + 1).padStart(10, '0')}`)
  for (const identificatie of numbers) await givenDocument(test, { identificatie })
  t.equal((await givenDocument(test)).identificatie, 'DOCUMENT-2025-0000000031')
  const made = await Promise.all(Array.from({ length: 10 }, () => givenDocument(test)))
  t.equal(new Set(made.map(({ identificatie }) => identificatie)).size, 10)
})

t.test('reserved numbers are unique, and are used up by the document', async (t) => {
  const { informatieobjecttype } = await givenDocument(test)
  const url = '/documenten/api/v1/documentnummer_reserveren'
  const one = await test.call('POST', url, { bronorganisatie: '000000000' })
  t.equal(one.status, 201)
  t.match(one.body.identificatie, new RegExp(`^DOCUMENT-${new Date().getUTCFullYear()}-\\d{10}$`))
  const many = await test.call('POST', url, { bronorganisatie: '000000000', aantal: 3 })
  t.equal(many.body.length, 3)
  t.same(faults(await test.call('POST', url, { bronorganisatie: '000000000', aantal: 0 })), ['aantal: min_value'])
  const numbers = [one.body, ...many.body].map(({ identificatie }) => identificatie)
  t.notOk(numbers.includes((await givenDocument(test)).identificatie))
  for (const identificatie of numbers) {
    t.equal((await test.call('POST', EIO, newDocument(informatieobjecttype, { identificatie }))).status, 201)
  }
  t.same(await test.database.sql`select * from reserved_documentnummer`, [])
})

t.test('drc-008: a document that still belongs to something is not deleted', async (t) => {
  const test = await testApp(t)
  const { url } = await givenDocument(test)
  await test.database.sql`
    insert into objectinformatieobject (enkelvoudiginformatieobject_id, object_type, object_url)
    select id, 'verzoek', 'https://elders.example/verzoeken/1' from enkelvoudiginformatieobject`
  t.same(faults(await test.call('DELETE', url)), ['nonFieldErrors: pending-relations'])
  await test.database.sql`delete from objectinformatieobject`
  const json = { headers: { 'content-type': 'application/json' } }
  t.equal((await test.call('DELETE', url, undefined, json)).status, 204, 'JSON is announced and nothing is sent')
})

t.test('a deleted document is gone with its versions and trail; its bytes go by a job', async (t) => {
  const test = await testApp(t)
  const { url } = await givenDocument(test)
  const kept = await givenDocument(test)
  const lock = await givenLock(test, url)
  await test.call('PATCH', url, { lock, inhoud: base64('tweede'), bestandsomvang: 6 })
  await test.call('POST', `${url}/unlock`, { lock })
  const stored = async () => (await Array.fromAsync(test.parts.store.list())).length
  t.equal(await stored(), 3)
  t.equal((await test.call('DELETE', url)).status, 204)
  t.equal(await stored(), 3, 'nothing is removed before the commit')
  t.equal((await test.call('GET', url)).status, 404)
  t.equal((await test.call('GET', `${url}/download?versie=1`)).status, 404)
  t.equal((await test.call('GET', `${url}/audittrail`)).status, 404)
  await test.runJobs()
  t.equal(await stored(), 1)
  t.equal((await test.call('GET', `${kept.url}/download`)).text, 'inhoud')
  const [last] = await test.database.sql`select actie, resource, kenmerken from notificatie order by id desc limit 1`
  t.match(last, {
    actie: 'destroy',
    resource: 'enkelvoudiginformatieobject',
    kenmerken: { bronorganisatie: '000000000' },
  })
})

t.test('bytes that another version still has are not removed', async (t) => {
  const test = await testApp(t)
  const { url } = await givenDocument(test)
  const lock = await givenLock(test, url)
  t.equal((await test.call('PATCH', url, { lock, titel: 'Zelfde inhoud' })).body.bestandsomvang, 6)
  const [{ id }] = (await test.database.sql`select id from file`) as never as [{ id: number }]
  await test.database.sql`select add_job('remove-file', ${JSON.stringify({ bestanden: [id] })}::text::json)`
  await test.runJobs()
  t.equal((await test.call('GET', `${url}/download`)).text, 'inhoud')
})

t.test('every change leaves one audit record with old and new state, and one notification', async (t) => {
  const test = await testApp(t)
  const { url, informatieobjecttype, lock: _, ...made } = await givenDocument(test)
  const lock = await givenLock(test, url)
  const headers = { 'x-audit-toelichting': 'omdat' }
  await test.call('PATCH', url, { lock, titel: 'Twee' }, { headers })
  await test.call('PUT', url, { ...newDocument(informatieobjecttype), titel: 'Drie', lock })
  await test.call('PATCH', url, { titel: 'geweigerd' })
  const { body } = await test.call('GET', `${url}/audittrail`)
  t.match(body, [
    { actie: 'create', resultaat: 201, wijzigingen: { oud: null, nieuw: { titel: 'Een brief' } } },
    {
      actie: 'partial_update',
      toelichting: 'omdat',
      wijzigingen: { oud: { titel: 'Een brief' }, nieuw: { titel: 'Twee' } },
    },
    { actie: 'update', wijzigingen: { oud: { titel: 'Twee' }, nieuw: { titel: 'Drie' } } },
  ])
  t.equal(body.length, 3)
  t.equal(body[0].resourceWeergave, `000000000 - ${made.identificatie}`)
  t.same((await test.call('GET', `${url}/audittrail/${body[1].uuid}`)).body, body[1])
  const sent = await test.database
    .sql`select actie, kanaal, kenmerken from notificatie where kanaal = 'documenten' order by id`
  t.same(
    sent.map(({ actie }) => actie),
    ['create', 'partial_update', 'update'],
  )
  t.match(sent[0]!.kenmerken, {
    informatieobjecttype,
    bronorganisatie: '000000000',
    vertrouwelijkheidaanduiding: 'openbaar',
    'informatieobjecttype.catalogus': /catalogussen/,
  })
})

t.test('lists filter and order as they are asked', async (t) => {
  const test = await testApp(t)
  const type = await givenInformatieobjecttype(test, { omschrijving: 'Ander' })
  const a = await givenDocument(test, {
    titel: 'Appel',
    auteur: 'Xander',
    trefwoorden: ['rood', 'zoet'],
    creatiedatum: '2020-01-01',
  })
  const b = await givenDocument(test, {
    titel: 'Banaan',
    auteur: 'Y',
    trefwoorden: ['geel', 'zoet'],
    bronorganisatie: '111222333',
  })
  const c = await givenDocument(test, {
    titel: 'citroen',
    informatieobjecttype: type,
    vertrouwelijkheidaanduiding: 'geheim',
    beschrijving: 'zuur',
    inhoud: base64('langere inhoud'),
  })
  await givenLock(test, b.url)
  const names = new Map([
    [a.url, 'a'],
    [b.url, 'b'],
    [c.url, 'c'],
  ])
  const list = async (query: string) => {
    const { body, text } = await test.call('GET', `${EIO}?${query}`)
    if (!body.results) return text
    t.equal(body.count, body.results.length)
    return body.results.map(({ url }: { url: string }) => names.get(url)).join('')
  }
  for (const [query, expected] of Object.entries({
    '': 'abc',
    'trefwoorden=zoet': 'ab',
    'trefwoorden=zoet,geel': 'b',
    'trefwoorden__overlap=rood,geel': 'ab',
    'titel=ANA': 'b',
    'auteur=XAN': 'a',
    'beschrijving=ZUU': 'c',
    'creatiedatum__lte=2020-01-01': 'a',
    'creatiedatum__gte=2020-01-02': 'bc',
    [`informatieobjecttype=${encodeURIComponent(type)}`]: 'c',
    'informatieobjecttype=http://elders.example/1': '',
    'vertrouwelijkheidaanduiding=geheim': 'c',
    'locked=true': 'b',
    'locked=False': 'ac',
    'bronorganisatie=111222333': 'b',
    [`identificatie=${a.identificatie}`]: 'a',
    'ordering=-titel': names.size === 3 ? 'cba' : '',
    'ordering=bestandsomvang,-titel': 'bac',
    'ordering=creatiedatum,-auteur': 'abc',
    'ordering=-vertrouwelijkheidaanduiding,titel': 'abc',
    'titel=': 'abc',
    'titel=an': '', // too short for an index, so only at the beginning of a word
    'titel=BA': 'b',
    'titel=c': 'c',
    'titel=%25': '',
  })) {
    t.equal(await list(query), expected, query)
  }
  t.same(faults(await test.call('GET', `${EIO}?ordering=kleur`)), ['ordering: invalid_choice'])
  t.same(faults(await test.call('GET', `${EIO}?kleur=rood`)), ['nonFieldErrors: unknown-parameters'])
  t.same(faults(await test.call('GET', `${EIO}?bronorganisatie=1`)), [
    'bronorganisatie: min_length',
    'bronorganisatie: invalid',
  ])
  t.same(faults(await test.call('GET', `${EIO}?informatieobjecttype=x`)), ['informatieobjecttype: invalid'])
  const page = (await test.call('GET', `${EIO}?ordering=-titel&pageSize=2`)).body
  t.match(page, { count: 3, previous: null, results: [{ titel: 'citroen' }, { titel: 'Banaan' }] })
  const next = (await test.call('GET', page.next)).body
  t.match(next, { count: 3, next: null, results: [{ titel: 'Appel' }] })
  t.match((await test.call('GET', `${EIO}?pageSize=1&page=last`)).body, { results: [{ titel: 'citroen' }] })
  t.equal((await test.call('GET', `${EIO}?page=2`)).status, 404)
})

t.test('each row of a list has the content of its own version', async (t) => {
  const test = await testApp(t)
  const { url } = await givenDocument(test)
  await givenDocument(test)
  const lock = await givenLock(test, url)
  await test.call('PATCH', url, { lock, titel: 'Twee' })
  const { body } = await test.call('GET', EIO)
  t.match(body.results, [{ inhoud: /versie=2$/ }, { inhoud: /versie=1$/ }])
})

t.test('_zoek wants uuids, and takes expand as text and as list', async (t) => {
  const { url, informatieobjecttype, identificatie } = await givenDocument(test)
  await givenDocument(test)
  const uuid__in = [uuidOf(url)]
  t.same(faults(await test.call('POST', `${EIO}/_zoek`, {})), ['nonFieldErrors: empty_search_body'])
  t.same(faults(await test.call('POST', `${EIO}/_zoek`, { identificatie })), ['uuid__in: required'])
  t.same(faults(await test.call('POST', `${EIO}/_zoek`, { uuid__in: ['x'] })), ['uuid__in.0: invalid'])
  t.match((await test.call('POST', `${EIO}/_zoek?kleur=1`, { uuid__in, kleur: 1 })).body, {
    count: 1,
    results: [{ url }],
  })
  t.match((await test.call('POST', `${EIO}/_zoek`, { uuid__in, identificatie: 'x' })).body, { count: 0 })
  for (const expand of ['informatieobjecttype', ['informatieobjecttype']]) {
    const { body } = await test.call('POST', `${EIO}/_zoek`, { uuid__in, expand })
    t.match(body.results, [{ _expand: { informatieobjecttype: { url: informatieobjecttype } } }])
  }
  t.same(faults(await test.call('POST', `${EIO}/_zoek`, { uuid__in, expand: 'kleur' })), ['expand: invalid_choice'])
})

t.test('an ETag belongs to one representation', async (t) => {
  const { url } = await givenDocument(test)
  const plain = await test.call('GET', url)
  const again = await test.call('GET', url, undefined, { headers: { 'if-none-match': `"x", ${plain.headers.etag}` } })
  t.equal(again.status, 304)
  const expanded = await test.call('GET', `${url}?expand=informatieobjecttype`, undefined, {
    headers: { 'if-none-match': String(plain.headers.etag) },
  })
  t.equal(expanded.status, 200)
})
