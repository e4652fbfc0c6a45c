import t from 'tap'
import { givenBesluittype, givenClient, givenInformatieobjecttype, testApp, uuidOf } from '../app.ts'
import { givenDocument } from '../documenten/documenten.ts'
import { BESLUITEN, BIO, BRC, besluitBody, faults, givenBesluit, givenTypen, made } from './given.ts'

const UNKNOWN = '00000000-0000-4000-8000-000000000000'
const test = await testApp(t)
const post = (body: object, as?: string) => test.call('POST', BIO, body, as ? { as } : {})
const verwerken = (body: object, as?: string) => test.call('POST', `${BRC}/besluit_verwerken`, body, as ? { as } : {})
const counts = async () => {
  const [row] = await test.database.sql`select (select count(*)::int from besluit) as besluiten,
    (select count(*)::int from besluitinformatieobject) as documenten, (select count(*)::int from audit where bron = 'brc') as audit,
    (select count(*)::int from notificatie where kanaal = 'besluiten') as notificaties`
  return row as { besluiten: number; documenten: number; audit: number; notificaties: number }
}

t.test('brc-003: what a besluit is laid down in exists and is a document', async (t) => {
  const typen = await givenTypen(test)
  const { url: besluit } = await typen.besluit()
  const document = await typen.document()
  for (const [informatieobject, fault] of [
    [document.url.replace(uuidOf(document.url), UNKNOWN), 'informatieobject: bad-url'],
    ['https://elders.example/documenten/1', 'informatieobject: bad-url'],
    ['geen url', 'informatieobject: bad-url'],
    [besluit, 'informatieobject: invalid-resource'],
  ] as const)
    t.same(faults(await post({ besluit, informatieobject })), [fault])
})

t.test('the besluit of a relation exists and is a besluit, which is said before rights are asked', async (t) => {
  const typen = await givenTypen(test)
  const informatieobject = (await typen.document()).url
  const besluit = (await typen.besluit()).url
  const as = await givenClient(test, 'zonder type', [{ component: 'brc', scopes: ['besluiten.aanmaken'] }])
  t.same(faults(await post({ informatieobject }, as)), ['besluit: required'])
  for (const [url, fault] of [
    [besluit.replace(uuidOf(besluit), UNKNOWN), 'besluit: object-does-not-exist'],
    ['https://elders.example/besluiten/1', 'besluit: object-does-not-exist'],
    [informatieobject, 'besluit: incorrect_match'],
  ] as const)
    t.same(faults(await post({ informatieobject, besluit: url }, as)), [fault])
  t.equal((await post({ informatieobject, besluit }, as)).status, 403)
})

t.test('brc-004: a relation has no nature, and is never changed', async (t) => {
  const typen = await givenTypen(test)
  const body = { besluit: (await typen.besluit()).url, informatieobject: (await typen.document()).url }
  const bio = made(await post({ ...body, aardRelatie: 'belongs_to', registratiedatum: '2024-01-01' }))
  t.same(Object.keys(bio).sort(), ['besluit', 'informatieobject', 'url'])
  for (const method of ['PUT', 'PATCH']) t.equal((await test.call(method, bio.url, body)).status, 405)
})

t.test('brc-005: a relation shows at the document, and goes there too', async (t) => {
  const typen = await givenTypen(test)
  const document = await typen.document()
  const { url: besluit } = await typen.besluit()
  const bio = made(await post({ besluit, informatieobject: document.url }))
  const query = `informatieobject=${encodeURIComponent(document.url)}`
  const atDocument = () => test.call('GET', `/documenten/api/v1/objectinformatieobjecten?${query}`)
  t.match((await atDocument()).body, [{ object: besluit, objectType: 'besluit', informatieobject: document.url }])
  const refused = await test.call('DELETE', document.url)
  t.same(faults(refused), ['nonFieldErrors: pending-relations'], 'the document stays meanwhile')
  t.equal((await test.call('DELETE', bio.url)).status, 204)
  t.same((await atDocument()).body, [])
  t.equal((await test.call('DELETE', document.url)).status, 204)
})

t.test('brc-008: the type of the document belongs to the besluittype', async (t) => {
  const typen = await givenTypen(test)
  const { url: besluit } = await typen.besluit()
  const strange = await givenDocument(test, { informatieobjecttype: await givenInformatieobjecttype(test) })
  t.same(faults(await post({ besluit, informatieobject: strange.url })), [
    'nonFieldErrors: missing-besluittype-informatieobjecttype-relation',
  ])
})

t.test('a document is tied to a besluit once, also when asked twice at the same moment', async (t) => {
  const typen = await givenTypen(test)
  const body = { besluit: (await typen.besluit()).url, informatieobject: (await typen.document()).url }
  const answers = await Promise.all([post(body), post(body), post(body)])
  t.same(answers.map(({ status }) => status).sort(), [201, 400, 400])
  t.same(faults(await post(body)), ['nonFieldErrors: unique'])
  made(await post({ ...body, besluit: (await typen.besluit()).url }))
})

t.test('the list is bare, and filters on besluit and document', async (t) => {
  const typen = await givenTypen(test)
  const [een, twee, document] = [await typen.besluit(), await typen.besluit(), await typen.document()]
  const bios = []
  for (const { url: besluit } of [een, twee]) bios.push(made(await post({ besluit, informatieobject: document.url })))
  const list = async (name: string, value: string) =>
    (await test.call('GET', `${BIO}?${name}=${encodeURIComponent(value)}`)).body
  t.same(await list('besluit', een.url), [bios[0]])
  t.same(await list('informatieobject', document.url), bios)
  t.same(await list('informatieobject', een.url), [])
  t.same(await list('besluit', 'https://elders.example/besluiten/1'), [])
  t.same(faults(await test.call('GET', `${BIO}?besluit=x`)), ['besluit: invalid'])
  t.same(faults(await test.call('GET', `${BIO}?page=1`)), ['nonFieldErrors: unknown-parameters'])
})

t.test('records and notifications of a relation name the besluit as their main object', async (t) => {
  const typen = await givenTypen(test)
  const [besluit, document] = [await typen.besluit(), await typen.document()]
  const bio = made(await post({ besluit: besluit.url, informatieobject: document.url }))
  await test.call('DELETE', bio.url)
  const { body } = await test.call('GET', `${besluit.url}/audittrail`)
  t.match(body, [
    { resource: 'besluit' },
    { actie: 'create', wijzigingen: { oud: null, nieuw: bio } },
    { actie: 'destroy', wijzigingen: { oud: bio, nieuw: null } },
  ])
  for (const line of body.slice(1))
    t.match(line, {
      hoofdObject: besluit.url,
      resource: 'besluitinformatieobject',
      resourceUrl: bio.url,
      resourceWeergave: `(${besluit.identificatie}) - ${document.identificatie}`,
    })
  const sent = await test.database
    .sql`select hoofd_object, resource, resource_url, actie, kenmerken->>'besluittype' as type
    from notificatie order by id desc limit 2`
  for (const [index, actie] of ['destroy', 'create'].entries())
    t.same(
      { ...sent[index] },
      {
        hoofd_object: besluit.url,
        resource: 'besluitinformatieobject',
        resource_url: bio.url,
        actie,
        type: typen.besluittype,
      },
    )
})

t.test('documents of a besluit of a closed case are still tied and untied', async (t) => {
  const typen = await givenTypen(test)
  const zaak = (await typen.zaak()).url
  const { url: besluit } = await typen.besluit({ zaak })
  await test.database.sql`update zaak set einddatum = '2026-05-01' where uuid = ${uuidOf(zaak)}`
  const scopes = ['besluiten.aanmaken', 'besluiten.verwijderen']
  const as = await givenClient(test, 'archivaris', [{ component: 'brc', scopes, typeUuid: uuidOf(typen.besluittype) }])
  const bio = made(await post({ besluit, informatieobject: (await typen.document()).url }, as))
  t.equal((await test.call('DELETE', bio.url, undefined, { as })).status, 204)
})

t.test('besluit_verwerken makes a besluit with its documents in one go', async (t) => {
  const typen = await givenTypen(test)
  const [een, twee, zaak] = [(await typen.document()).url, (await typen.document()).url, (await typen.zaak()).url]
  const before = await counts()
  const { besluit, besluitinformatieobjecten } = made(
    await verwerken({
      besluit: besluitBody(typen.besluittype, { zaak }),
      besluitinformatieobjecten: [{ informatieobject: een, besluit: 'wordt genegeerd' }, { informatieobject: twee }],
    }),
  )
  t.match(besluit, { identificatie: /^BESLUIT-2024-\d{10}$/, zaak })
  t.match(besluitinformatieobjecten, [
    { besluit: besluit.url, informatieobject: een },
    { besluit: besluit.url, informatieobject: twee },
  ])
  const after = await counts()
  t.same([after.audit - before.audit, after.notificaties - before.notificaties], [3, 3])
  t.equal((await test.call('GET', `${besluit.url}/audittrail`)).body.length, 3, 'all in the trail of the besluit')
  for (const { url } of besluitinformatieobjecten) t.equal((await test.call('GET', url)).status, 200)
  const none = { besluit: besluitBody(typen.besluittype), besluitinformatieobjecten: [] }
  t.match((await verwerken(none)).body, { besluitinformatieobjecten: [] })
})

t.test('besluit_verwerken names faults by their place, and then makes nothing', async (t) => {
  const typen = await givenTypen(test)
  const goed = (await typen.document()).url
  const strange = (await givenDocument(test, { informatieobjecttype: await givenInformatieobjecttype(test) })).url
  const before = await counts()
  const body = (besluit: object, ...informatieobjecten: string[]) => ({
    besluit: besluitBody(typen.besluittype, besluit),
    besluitinformatieobjecten: informatieobjecten.map((informatieobject) => ({ informatieobject })),
  })
  const relation = 'missing-besluittype-informatieobjecttype-relation'
  for (const [given, expected] of [
    [{}, ['besluit: required', 'besluitinformatieobjecten: required']],
    [
      body({ datum: 'x' }, 'geen url'),
      ['besluit.datum: invalid', 'besluitinformatieobjecten.0.informatieobject: bad-url'],
    ],
    [body({ datum: '2999-01-01' }, strange), ['besluit.datum: future_not_allowed']],
    [body({ besluittype: goed }, goed), ['besluit.besluittype: invalid-resource']],
    [body({}, goed, strange, strange), [`besluitinformatieobjecten.1.nonFieldErrors: ${relation}`]],
    [body({}, goed, goed), ['besluitinformatieobjecten.1.nonFieldErrors: unique']],
    [body({}, goed, `${goed}x`), ['besluitinformatieobjecten.1.informatieobject: bad-url']],
  ] as const)
    t.same(faults(await verwerken(given)), expected)
  t.same(await counts(), before)
})

t.test('besluit_verwerken asks for the right on the besluittype and on a closed case', async (t) => {
  const typen = await givenTypen(test)
  const zaak = (await typen.zaak()).url
  await test.database.sql`update zaak set einddatum = '2026-05-01' where uuid = ${uuidOf(zaak)}`
  const right = { component: 'brc', scopes: ['besluiten.aanmaken'], typeUuid: uuidOf(typen.besluittype) }
  const as = await givenClient(test, 'verwerker', [right])
  const before = await counts()
  const send = (besluit: object) => verwerken({ besluit, besluitinformatieobjecten: [] }, as)
  t.equal((await send(besluitBody(await givenBesluittype(test)))).status, 403)
  t.equal((await send(besluitBody(typen.besluittype, { zaak }))).status, 403)
  t.equal((await counts()).besluiten, before.besluiten)
  t.equal((await send(besluitBody(typen.besluittype))).status, 201)
})

t.test('a besluit and a relation are expanded, as far as the caller may read what is behind them', async (t) => {
  const typen = await givenTypen(test)
  const [zaak, document] = [(await typen.zaak()).url, (await typen.document()).url]
  const besluit = await typen.besluit({ zaak })
  const bio = made(await post({ besluit: besluit.url, informatieobject: document }))
  const paths = 'besluittype.catalogus,zaak.zaaktype'
  t.match((await test.call('GET', `${besluit.url}?expand=${paths}`)).body._expand, {
    besluittype: { url: typen.besluittype, _expand: { catalogus: { url: typen.catalogus } } },
    zaak: { url: zaak, _expand: { zaaktype: { url: typen.zaaktype } } },
  })
  const list = await test.call('GET', `${BESLUITEN}?identificatie=${besluit.identificatie}&expand=besluittype`)
  t.match(list.body.results, [{ _expand: { besluittype: { url: typen.besluittype } } }])
  t.match(
    (await test.call('GET', `${bio.url}?expand=besluit.zaak,informatieobject.informatieobjecttype`)).body._expand,
    {
      besluit: { url: besluit.url, _expand: { zaak: { url: zaak } } },
      informatieobject: { url: document, _expand: { informatieobjecttype: { url: typen.informatieobjecttype } } },
    },
  )
  const bare = await test.call('GET', `${BIO}?besluit=${encodeURIComponent(besluit.url)}&expand=besluit`)
  t.match(bare.body, [{ _expand: { besluit: { url: besluit.url } } }])
  t.notOk((await test.call('GET', besluit.url)).body._expand)
  t.same(faults(await test.call('GET', `${besluit.url}?expand=documenten`)), ['expand: invalid_choice'])

  const lezen = { component: 'brc', scopes: ['besluiten.lezen'], typeUuid: uuidOf(typen.besluittype) }
  const as = await givenClient(test, 'alleen besluiten', [lezen])
  t.equal((await test.call('GET', `${besluit.url}?expand=zaak`, undefined, { as })).status, 403)
  const strange = { typeUuid: uuidOf(await givenBesluittype(test)), max: 'zeer_geheim' }
  const half = await givenClient(test, 'andere zaken', [
    lezen,
    { component: 'zrc', scopes: ['zaken.lezen'], ...strange },
    { component: 'drc', scopes: ['documenten.lezen'], ...strange },
  ])
  t.same((await test.call('GET', `${besluit.url}?expand=zaak`, undefined, { as: half })).body._expand, {})
  const seen = await test.call('GET', `${bio.url}?expand=informatieobject,besluit.zaak`, undefined, { as: half })
  t.match(seen.body._expand, { besluit: { url: besluit.url, _expand: {} } })
  t.notOk(seen.body._expand.informatieobject)
})

t.test('rights for one besluittype reach nothing of another, in whatever way it is asked', async (t) => {
  const [eigen, strange] = [await givenTypen(test), await givenTypen(test)]
  const scopes = [
    ...['lezen', 'aanmaken', 'bijwerken', 'verwijderen'].map((name) => `besluiten.${name}`),
    'audittrails.lezen',
  ]
  const as = await givenClient(test, 'beperkt', [{ component: 'brc', scopes, typeUuid: uuidOf(eigen.besluittype) }])
  const call = (method: string, url: string, body?: object) => test.call(method, url, body, { as })
  const seen = await eigen.besluit()
  const hidden = await strange.besluit()
  const document = (await strange.document()).url
  const bio = made(await post({ besluit: hidden.url, informatieobject: document }))
  const own = made(await post({ besluit: seen.url, informatieobject: (await eigen.document()).url }))

  t.match((await call('GET', BESLUITEN)).body, { count: 1, results: [{ url: seen.url }] })
  t.match((await call('GET', `${BESLUITEN}?identificatie=${hidden.identificatie}`)).body, { count: 0, results: [] })
  t.same((await call('GET', BIO)).body, [own])
  t.same((await call('GET', `${BIO}?besluit=${encodeURIComponent(hidden.url)}`)).body, [])
  for (const [method, url, body] of [
    ['GET', hidden.url],
    ['HEAD', hidden.url],
    ['PUT', hidden.url, besluitBody(strange.besluittype)],
    ['PATCH', hidden.url, {}],
    ['DELETE', hidden.url],
    ['GET', `${hidden.url}/audittrail`],
    ['GET', bio.url],
    ['HEAD', bio.url],
    ['DELETE', bio.url],
    ['POST', BESLUITEN, besluitBody(strange.besluittype)],
    ['POST', BIO, { besluit: hidden.url, informatieobject: document }],
  ] as [string, string, object?][])
    t.equal((await call(method, url, body)).status, 403, `${method} ${url}`)
  const etag = String((await test.call('GET', hidden.url)).headers.etag)
  const known = await test.call('GET', hidden.url, undefined, { as, headers: { 'if-none-match': etag } })
  t.equal(known.status, 403, 'nor is it confirmed by its ETag')
  t.equal((await call('GET', `${seen.url}/audittrail`)).status, 200)
  const all = await givenClient(test, 'alle sporen', [{ component: 'brc', scopes: ['audittrails.lezen'] }])
  t.equal((await test.call('GET', `${hidden.url}/audittrail`, undefined, { as: all })).status, 200)
  t.match((await test.call('GET', BESLUITEN, undefined, { as: all })).status, 403)
})

t.test('a right with one scope gives that scope alone', async (t) => {
  const besluittype = await givenBesluittype(test)
  const { url } = await givenBesluit(test, { besluittype })
  for (const scope of ['lezen', 'aanmaken', 'bijwerken', 'verwijderen']) {
    const right = { component: 'brc', scopes: [`besluiten.${scope}`], typeUuid: uuidOf(besluittype) }
    const as = await givenClient(test, `alleen-${scope}`, [right])
    const statuses = {
      lezen: (await test.call('GET', url, undefined, { as })).status,
      aanmaken: (await test.call('POST', BESLUITEN, besluitBody(besluittype), { as })).status,
      bijwerken: (await test.call('PATCH', url, {}, { as })).status,
      verwijderen: (await test.call('DELETE', url, undefined, { as })).status,
    }
    const success = { lezen: 200, aanmaken: 201, bijwerken: 200, verwijderen: 204 }
    t.same(statuses, {
      lezen: 403,
      aanmaken: 403,
      bijwerken: 403,
      verwijderen: 403,
      [scope]: success[scope as 'lezen'],
    })
  }
})
