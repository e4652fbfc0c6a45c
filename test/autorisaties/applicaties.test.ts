import t from 'tap'
import { signal } from '../../src/database/listen.ts'
import {
  type Answer,
  BASE,
  givenCatalogus,
  givenInformatieobjecttype,
  SECRET,
  type TestApp,
  testApp,
  uuidOf,
} from '../app.ts'
import { until } from '../until.ts'
import { noteStatements } from '../zaken/given.ts'

const URL = '/autorisaties/api/v1/applicaties'
const recht = (more: object = {}) => ({ component: 'ztc', scopes: ['catalogi.lezen'], ...more })
let counter = 0
const applicatie = (more: object = {}) => ({
  clientIds: [`client-${++counter}`],
  label: 'Portaal',
  autorisaties: [recht()],
  ...more,
})
const codes = ({ body }: Answer) =>
  body.invalidParams.map((one: { name: string; code: string }) => `${one.name}: ${one.code}`)

/** Gives a client id of the API a secret, as the command does. */
async function givenSecret({ database, parts, config }: TestApp, clientId: string): Promise<void> {
  const { secretBox } = await import('../../src/core/secret-box.ts')
  const secret = secretBox(config.secretKey!).seal(SECRET, clientId)
  await database.sql`insert into applicatie_secret (client_id, sealed_secret) values (${clientId}, ${secret})`
  await signal(database.sql, 'zaakstroom_autorisaties')
  await parts.credentials.find(clientId)
}

/** Waits until a request answers with this status: rights are announced between processes, which takes a moment. */
async function becomes(test: TestApp, as: string, url: string, status: number): Promise<boolean> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if ((await test.call('GET', url, undefined, { as })).status === status) return true
    await new Promise((resolve) => setImmediate(resolve))
  }
  return false
}

t.test('applicaties', async (t) => {
  const test = await testApp(t)
  const { call } = test

  t.test('an application is made, read, replaced, changed and deleted', async (t) => {
    const body = applicatie({ clientIds: ['een', 'twee'] })
    const made = await call('POST', URL, body)
    t.equal(made.status, 201)
    t.equal(made.headers.location, made.body.url)
    t.strictSame(made.body, {
      url: made.body.url,
      clientIds: ['een', 'twee'],
      label: 'Portaal',
      heeftAlleAutorisaties: false,
      alleenIsGereedVoorPublicatie: false,
      autorisaties: [{ component: 'ztc', componentWeergave: 'Catalogi API', scopes: ['catalogi.lezen'] }],
      catalogusAutorisaties: [],
    })
    t.strictSame((await call('GET', made.body.url)).body, made.body)
    const patched = await call('PATCH', made.body.url, { label: 'Balie' })
    t.strictSame(patched.body, { ...made.body, label: 'Balie' })
    const replaced = await call(
      'PUT',
      made.body.url,
      applicatie({ clientIds: ['twee', 'drie'], autorisaties: undefined }),
    )
    t.strictSame(replaced.body, { ...made.body, clientIds: ['twee', 'drie'] }, 'PUT without autorisaties leaves them')
    t.equal((await call('DELETE', made.body.url)).status, 204)
    t.equal((await call('GET', made.body.url)).status, 404)
    const [trail] = await test.database.sql`
      select array_agg(actie order by id) as acties from audit where hoofd_object_uuid = ${uuidOf(made.body.url)}`
    t.strictSame(trail!.acties, ['create', 'partial_update', 'update', 'destroy'])
    const messages = await test.database.sql`
      select kanaal, resource, actie, kenmerken, hoofd_object from notificatie where resource_url = ${made.body.url} order by id`
    t.strictSame(
      messages.map(({ actie }) => actie),
      ['create', 'partial_update', 'update', 'destroy'],
    )
    t.match(messages[0], { kanaal: 'autorisaties', resource: 'applicatie', kenmerken: {}, hoofd_object: made.body.url })
  })

  t.test('the list is newest first and filters on all of the client ids', async (t) => {
    const a = (await call('POST', URL, applicatie({ clientIds: ['p', 'q'] }))).body
    const b = (await call('POST', URL, applicatie({ clientIds: ['r'] }))).body
    const { body } = await call('GET', `${URL}?pageSize=2`)
    t.strictSame(body.results, [b, a])
    t.equal((await call('GET', `${URL}?clientIds=q,p`)).body.count, 1)
    t.equal((await call('GET', `${URL}?clientIds=p`)).body.results[0].url, a.url)
    t.equal((await call('GET', `${URL}?clientIds=p,r`)).body.count, 0)
    t.equal((await call('GET', `${URL}?client_ids=p`)).body.results[0].url, a.url)
    t.strictSame(codes(await call('GET', `${URL}?clientid=p`)), ['nonFieldErrors: unknown-parameters'])
  })

  t.test('rights in components of other services are kept', async (t) => {
    const autorisaties = ['kc', 'cmc', 'vrc'].map((component) => ({ component, scopes: [`${component}.lezen`] }))
    const made = await call('POST', URL, applicatie({ clientIds: ['elders'], autorisaties }))
    t.equal(made.status, 201, made.text)
    t.match(made.body.autorisaties.map(({ component }: { component: string }) => component).sort(), [
      'cmc',
      'kc',
      'vrc',
    ])
  })

  t.test('consumer answers the one application of a client id', async (t) => {
    const made = (await call('POST', URL, applicatie({ clientIds: ['afnemer', 'ander'] }))).body
    t.strictSame((await call('GET', `${URL}/consumer?clientId=afnemer`)).body, made)
    t.equal((await call('GET', `${URL}/consumer?clientId=niemand`)).status, 404)
    t.strictSame(codes(await call('GET', `${URL}/consumer`)), ['clientId: required'])
  })

  t.test('ac-001: a client id belongs to one application', async (t) => {
    const made = (await call('POST', URL, applicatie({ clientIds: ['bezet', 'bezet'] }))).body
    t.strictSame(made.clientIds, ['bezet'], 'twice in one list counts once')
    const refused = await call('POST', URL, applicatie({ clientIds: ['vrij', 'bezet'] }))
    t.strictSame(codes(refused), ['clientIds: clientId-exists'])
    t.match(refused.body.invalidParams[0].reason, uuidOf(made.url))
    t.equal((await call('PATCH', made.url, { clientIds: ['bezet', 'meer'] })).status, 200, 'its own ids do not count')
    t.strictSame(codes(await call('POST', URL, applicatie({ clientIds: [] }))), ['clientIds: empty'])
    const race = await Promise.all(
      Array.from({ length: 8 }, () => call('POST', URL, applicatie({ clientIds: ['wedloop'] }))),
    )
    t.strictSame(race.map(({ status }) => status).sort(), [201, ...Array(7).fill(400)])
  })

  t.test('ac-001: a client id that another application takes while this one is being made is refused', async (t) => {
    const { sql } = test.database
    const other = (await call('POST', URL, applicatie())).body
    const late = await sql.begin(async (trx) => {
      const [{ pid } = { pid: 0 }] = await trx`select pg_backend_pid() as pid`
      await trx`insert into applicatie_client (client_id, applicatie_id) select 'gelijktijdig', id from applicatie where uuid = ${uuidOf(other.url)}`
      const answer = call('POST', URL, applicatie({ clientIds: ['gelijktijdig'], label: 'Te laat' }))
      const waits = () => sql`select from pg_stat_activity where ${pid!} = any(pg_blocking_pids(pid))`
      await until('a request that waits', async () => (await waits()).length > 0)
      return { answer }
    })
    const refused = await late.answer
    t.match(refused, { status: 400 })
    t.strictSame(codes(refused), ['clientIds: clientId-exists'])
    t.equal((await sql`select from applicatie where label = 'Te laat'`).length, 0)
  })

  t.test('ac-002: all rights or a list of them', async (t) => {
    const both = await call('POST', URL, applicatie({ heeftAlleAutorisaties: true }))
    t.strictSame(codes(both), ['nonFieldErrors: ambiguous-authorizations-specified'])
    for (const neither of [
      { autorisaties: [] },
      { autorisaties: undefined },
      { heeftAlleAutorisaties: false, autorisaties: [] },
    ])
      t.strictSame(codes(await call('POST', URL, applicatie(neither))), ['nonFieldErrors: missing-authorizations'])
    const made = (await call('POST', URL, applicatie())).body
    const on = { heeftAlleAutorisaties: true }
    t.strictSame(codes(await call('PATCH', made.url, on)), ['nonFieldErrors: ambiguous-authorizations-specified'])
    t.equal((await call('PATCH', made.url, { ...on, autorisaties: [] })).status, 200)
    t.strictSame(codes(await call('PATCH', made.url, { heeftAlleAutorisaties: false })), [
      'nonFieldErrors: missing-authorizations',
    ])
    t.equal((await call('PATCH', made.url, { heeftAlleAutorisaties: false, autorisaties: [recht()] })).status, 200)
    for (const field of ['heeftAlleAutorisaties', 'autorisaties'])
      t.strictSame(codes(await call('PATCH', made.url, { [field]: null })), [`${field}: null`])
  })

  t.test('ac-003: a scope on objects needs its type, and its confidentiality', async (t) => {
    const refused = await call(
      'POST',
      URL,
      applicatie({
        autorisaties: [
          recht(),
          { component: 'zrc', scopes: ['zaken.lezen'] },
          { component: 'drc', scopes: ['audittrails.lezen', 'documenten.lezen'], informatieobjecttype: '' },
          { component: 'brc', scopes: ['besluiten.lezen'] },
          { component: 'zrc', scopes: ['notificaties.consumeren'] },
        ],
      }),
    )
    t.strictSame(codes(refused), [
      'autorisaties.1.zaaktype: required',
      'autorisaties.1.maxVertrouwelijkheidaanduiding: required',
      'autorisaties.2.informatieobjecttype: required',
      'autorisaties.2.maxVertrouwelijkheidaanduiding: required',
      'autorisaties.3.besluittype: required',
    ])
    const wrong = applicatie({
      autorisaties: [
        { component: 'xyz', scopes: [] },
        { component: 'zrc', maxVertrouwelijkheidaanduiding: 'hoog', zaaktype: 'geen url' },
      ],
    })
    t.strictSame(codes(await call('POST', URL, wrong)).sort(), [
      'autorisaties.0.component: invalid_choice',
      'autorisaties.1.maxVertrouwelijkheidaanduiding: invalid_choice',
      'autorisaties.1.scopes: required',
      'autorisaties.1.zaaktype: invalid',
    ])
    t.equal((await call('POST', URL, applicatie({ autorisaties: [{ component: 'zrc', scopes: [] }] }))).status, 201)
  })

  t.test('a type of ours is known by its uuid, however its URL was written', async (t) => {
    const type = await givenInformatieobjecttype(test)
    const written = type.replace('http://localhost', 'https://localhost')
    const drc = { component: 'drc', scopes: ['documenten.lezen'], maxVertrouwelijkheidaanduiding: 'intern' }
    const elders = 'https://elders.example/catalogi/api/v1/informatieobjecttypen/1'
    const { body } = await call(
      'POST',
      URL,
      applicatie({
        autorisaties: [
          { ...drc, informatieobjecttype: written },
          { ...drc, informatieobjecttype: elders },
        ],
      }),
    )
    t.strictSame(
      body.autorisaties.map((one: { informatieobjecttype: string }) => one.informatieobjecttype),
      [type, elders],
    )
    const rows = await test.database.sql`
      select type_uuid from autorisatie r join applicatie a on a.id = r.applicatie_id where a.uuid = ${uuidOf(body.url)} order by r.id`
    t.strictSame(
      rows.map((row) => row.type_uuid),
      [uuidOf(type), null],
    )
  })

  t.test('the API needs its own scopes', async (t) => {
    for (const [scope, lezen, schrijven] of [
      ['autorisaties.lezen', 200, 403],
      ['autorisaties.bijwerken', 403, 201],
      ['catalogi.lezen', 403, 403],
    ] as const) {
      const as = `met-${scope}`
      await call(
        'POST',
        URL,
        applicatie({ clientIds: [as], autorisaties: [recht({ component: 'ac', scopes: [scope] })] }),
      )
      await givenSecret(test, as)
      t.ok(await becomes(test, as, URL, lezen), `${scope} reads: ${lezen}`)
      t.equal((await call('POST', URL, applicatie(), { as })).status, schrijven, `${scope} writes: ${schrijven}`)
    }
  })

  t.test('a deleted application is refused at once, and its credentials are gone', async (t) => {
    const made = (await call('POST', URL, applicatie({ clientIds: ['kort'], autorisaties: [recht()] }))).body
    await givenSecret(test, 'kort')
    t.ok(await becomes(test, 'kort', '/catalogi/api/v1/catalogussen', 200))
    await call('DELETE', made.url)
    t.ok(await becomes(test, 'kort', '/catalogi/api/v1/catalogussen', 403))
    const [{ n } = { n: -1 }] = await test.database
      .sql`select count(*) as n from applicatie_secret where client_id = 'kort'`
    t.equal(n, 0)
  })
})

t.test('rights for a catalogue and for a type', async (t) => {
  const test = await testApp(t)
  const { call } = test
  const catalogus = await givenCatalogus(test)
  const brief = await givenInformatieobjecttype(test, {
    catalogus,
    omschrijving: 'Brief',
    eindeGeldigheid: '2024-12-31',
  })
  const nota = await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Nota' })
  const recht = (more: object = {}) => ({
    component: 'drc',
    catalogus,
    type: '',
    scopes: ['documenten.lezen'],
    maxVertrouwelijkheidaanduiding: 'intern',
    ...more,
  })
  const line = (informatieobjecttype: string, more: object = {}) => ({
    component: 'drc',
    componentWeergave: 'Documenten API',
    scopes: ['documenten.lezen'],
    informatieobjecttype,
    maxVertrouwelijkheidaanduiding: 'intern',
    ...more,
  })
  const ztc = { component: 'ztc', componentWeergave: 'Catalogi API', scopes: ['catalogi.lezen'] }
  const given = async (more: object) =>
    (await call('POST', URL, { clientIds: [`breed-${++counter}`], label: 'Breed', ...more })).body

  t.test('show as rows after the ordinary ones, newest type first, and once as what they are', async (t) => {
    const body = await given({ autorisaties: [ztc], catalogusAutorisaties: [recht()] })
    t.strictSame(body.autorisaties, [ztc, line(nota), line(brief)])
    t.strictSame(body.catalogusAutorisaties, [recht()])
    const type = await given({ catalogusAutorisaties: [recht({ type: 'Brief' })] })
    t.strictSame(type.autorisaties, [line(brief)])
  })

  t.test('are written together, in their order', async (t) => {
    const statements = await noteStatements(test, 'catalogus_autorisatie')
    const many = [recht({ type: 'Nota' }), recht(), recht({ type: 'Brief', scopes: [] })]
    t.strictSame((await given({ catalogusAutorisaties: many })).catalogusAutorisaties, many)
    t.same((await statements()).filter((kind) => kind === 'INSERT').length, 1)
  })

  t.test('what GET gave comes back by PUT or PATCH without loss', async (t) => {
    const body = await given({
      autorisaties: [ztc, line(nota)],
      catalogusAutorisaties: [recht(), recht({ type: 'Nota' })],
    })
    for (const method of ['PUT', 'PATCH']) {
      t.strictSame((await call(method, body.url, body)).body, body, `${method} of everything`)
      const { catalogusAutorisaties: _, ...standard } = body
      t.strictSame((await call(method, body.url, standard)).body, body, `${method} by who knows only the standard`)
    }
    t.strictSame((await call('PATCH', body.url, { label: 'Breed' })).body, body)
  })

  t.test('a row that is taken away is gone, and the others become ordinary', async (t) => {
    const body = await given({ autorisaties: [ztc], catalogusAutorisaties: [recht()] })
    const answer = await call('PATCH', body.url, { autorisaties: [ztc, line(brief)] })
    t.strictSame(answer.body.catalogusAutorisaties, [])
    t.strictSame(answer.body.autorisaties, [ztc, line(brief)])
    const changed = await given({ catalogusAutorisaties: [recht()] })
    const higher = [line(nota, { maxVertrouwelijkheidaanduiding: 'geheim' }), line(brief)]
    t.strictSame(
      (await call('PUT', changed.url, { ...changed, catalogusAutorisaties: undefined, autorisaties: higher })).body,
      {
        ...changed,
        catalogusAutorisaties: [],
        autorisaties: higher,
      },
    )
  })

  t.test('a right without rows at this moment stays', async (t) => {
    const empty = await givenCatalogus(test)
    const body = await given({ autorisaties: [ztc], catalogusAutorisaties: [recht({ catalogus: empty })] })
    t.strictSame(body.autorisaties, [ztc])
    t.strictSame((await call('PATCH', body.url, { autorisaties: [ztc] })).body, body)
  })

  t.test('ac-002 and ac-003 count them', async (t) => {
    const all = { clientIds: ['alles'], label: 'x', heeftAlleAutorisaties: true, catalogusAutorisaties: [recht()] }
    t.strictSame(codes(await call('POST', URL, all)), ['nonFieldErrors: ambiguous-authorizations-specified'])
    const body = await given({ catalogusAutorisaties: [recht()] })
    t.strictSame(codes(await call('PATCH', body.url, { catalogusAutorisaties: [] })), [
      'nonFieldErrors: missing-authorizations',
    ])
    t.equal((await call('PATCH', body.url, { heeftAlleAutorisaties: true, autorisaties: [] })).status, 200)
    const wrong = [
      recht({ maxVertrouwelijkheidaanduiding: '' }),
      recht({ catalogus: `${BASE}/catalogi/api/v1/catalogussen/00000000-0000-4000-8000-000000000000` }),
      recht({ type: 'Onbekend' }),
    ]
    const refused = (rows: object[]) =>
      call('POST', URL, { clientIds: ['fout'], label: 'x', catalogusAutorisaties: rows }).then(codes)
    t.strictSame(await refused(wrong), ['catalogusAutorisaties.0.maxVertrouwelijkheidaanduiding: required'])
    t.strictSame(await refused(wrong.slice(1)), [
      'catalogusAutorisaties.0.catalogus: bad-url',
      'catalogusAutorisaties.1.type: does_not_exist',
    ])
  })

  t.test('reach types and versions that are made later, at once', async (t) => {
    const all = await given({ clientIds: ['catalogus'], catalogusAutorisaties: [recht()] })
    const one = await given({ clientIds: ['type'], catalogusAutorisaties: [recht({ type: 'Brief' })] })
    for (const id of ['catalogus', 'type']) await givenSecret(test, id)
    const allowed = async (id: string) =>
      (await test.parts.credentials.find(id))!.autorisaties.map(({ typeUuid }) => typeUuid).sort()
    t.strictSame(await allowed('catalogus'), [uuidOf(brief), uuidOf(nota)].sort())
    const nieuw = await givenInformatieobjecttype(test, {
      catalogus,
      omschrijving: 'Brief',
      beginGeldigheid: '2025-01-01',
    })
    const other = await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Foto' })
    for (let attempt = 0; attempt < 200 && (await allowed('catalogus')).length < 4; attempt++)
      await new Promise((resolve) => setImmediate(resolve))
    t.strictSame(await allowed('catalogus'), [brief, nota, nieuw, other].map(uuidOf).sort())
    t.strictSame(await allowed('type'), [brief, nieuw].map(uuidOf).sort())
    t.equal((await call('GET', all.url)).body.autorisaties.length, 4)
    t.equal((await call('GET', one.url)).body.autorisaties.length, 2)
  })
})

t.test('rights that this process changed count for the next request, before they are announced', async (t) => {
  const test = await testApp(t)
  await test.parts.credentials.close() // now it hears of nothing
  const catalogus = await givenCatalogus(test)
  const { body } = await test.call('POST', URL, applicatie())
  const [client] = body.clientIds
  await givenSecret(test, client)
  const status = async () => (await test.call('GET', catalogus, undefined, { as: client })).status
  t.equal(await status(), 200)
  for (let n = 0; n < 20; n++) {
    await test.call('PATCH', body.url, { autorisaties: [recht({ scopes: ['catalogi.schrijven'] })] })
    t.equal(await status(), 403)
    await test.call('PATCH', body.url, { autorisaties: [recht()] })
    t.equal(await status(), 200)
  }
  await test.call('DELETE', body.url)
  t.equal(await status(), 403)
})
