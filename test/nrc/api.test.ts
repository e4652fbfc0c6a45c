// The Notificaties API, as subscribers and publishers use it. What is sent to whom is in delivery.test.ts.
import t from 'tap'
import { LIMITS } from '../../src/core/limits.ts'
import { withinLimit } from '../../src/nrc/abonnement/callback.ts'
import { inOrganisation } from '../../src/telemetry/current-organisation.ts'
import { givenClient, testApp } from '../app.ts'
import { faultsOf } from '../zaken/given.ts'
import { subscriber } from './subscriber.ts'

const API = '/notificaties/api/v1'
const test = await testApp(t)
const { call } = test
await test.database.sql`update notificatie_settings set mode = 'ingebouwd'` // else no callback is asked
const consument = await givenClient(test, 'consument', [{ component: 'nrc', scopes: ['notificaties.consumeren'] }])
const ander = await givenClient(test, 'ander', [{ component: 'nrc', scopes: ['notificaties.consumeren'] }])
const veel = await givenClient(test, 'veel', [{ component: 'nrc', scopes: ['notificaties.consumeren'] }])
const uitgever = await givenClient(test, 'uitgever', [{ component: 'nrc', scopes: ['notificaties.publiceren'] }])
await call('POST', `${API}/kanaal`, { naam: 'zaken', filters: ['bronorganisatie', 'zaaktype', 'zaaktype.catalogus'] })
await call('POST', `${API}/kanaal`, { naam: 'documenten', filters: ['bronorganisatie'] })

const message = {
  kanaal: 'zaken',
  hoofdObject: 'https://zaken.example/1',
  resource: 'zaak',
  resourceUrl: 'https://zaken.example/1',
  actie: 'CREATE',
  aanmaakdatum: '2024-05-01T10:00:00.123456+02:00',
  kenmerken: {},
}

t.test('kanaal', async (t) => {
  t.test('is found by its exact name, in a plain list', async (t) => {
    const { status, body } = await call('GET', `${API}/kanaal?naam=zaken`, undefined, { as: consument })
    t.equal(status, 200)
    t.match(body, [
      { naam: 'zaken', documentatieLink: '', filters: ['bronorganisatie', 'zaaktype', 'zaaktype.catalogus'] },
    ])
    t.strictSame((await call('GET', `${API}/kanaal?naam=niets`)).body, [])
    t.strictSame((await call('GET', body[0].url)).body, body[0])
    t.equal((await call('GET', `${API}/kanaal?soort=x`)).status, 400)
  })

  t.test('is made with a name alone, once', async (t) => {
    const made = await call('POST', `${API}/kanaal`, { naam: 'objecten' }, { as: uitgever })
    t.equal(made.status, 201)
    t.strictSame(made.body, { url: made.headers.location, naam: 'objecten', documentatieLink: '', filters: [] })
    t.strictSame(faultsOf(await call('POST', `${API}/kanaal`, { naam: 'objecten' })), ['naam: unique'])
    t.equal((await call('POST', `${API}/kanaal`, { naam: 'x' }, { as: consument })).status, 403)
  })

  t.test('changes its filters, not its name', async (t) => {
    const [{ url }] = (await call('GET', `${API}/kanaal?naam=objecten`)).body
    const changed = await call('PUT', url, { naam: 'objecten', filters: ['object_type'] }, { as: uitgever })
    t.strictSame([changed.status, changed.body.filters], [200, ['object_type']])
    t.strictSame(faultsOf(await call('PATCH', url, { naam: 'anders' })), ['naam: wijzigen-niet-toegelaten'])
    t.equal((await call('DELETE', url)).status, 405)
  })
})

t.test('abonnement', async (t) => {
  const { url: callbackUrl, received } = await subscriber(t, { auth: 'geheime sleutel zonder schema' })
  const abonnement = { callbackUrl, auth: 'geheime sleutel zonder schema', kanalen: [{ naam: 'zaken' }] }

  t.test('is made when the callback refuses without and accepts with auth, which is never shown', async (t) => {
    const made = await call('POST', `${API}/abonnement`, abonnement, { as: consument })
    t.equal(made.status, 201, made.text)
    t.strictSame(made.body, {
      url: made.headers.location,
      callbackUrl,
      kanalen: [{ naam: 'zaken', filters: {} }],
      sendCloudevents: false,
    })
    t.match(received.splice(0), [
      { authorization: undefined, body: { kanaal: 'test' } },
      { authorization: 'geheime sleutel zonder schema', body: { kanaal: 'test' } },
    ])
    t.strictSame((await call('GET', made.body.url, undefined, { as: consument })).body, made.body)
    const [row] = await test.database.sql`select auth from abonnement`
    t.notMatch(row!.auth.toString('latin1'), 'geheime')
    t.equal((await call('DELETE', made.body.url, undefined, { as: consument })).status, 204)
    t.equal((await call('GET', made.body.url, undefined, { as: consument })).status, 404)
  })

  t.test('a PATCH of the kanalen alone asks nobody, and one of other fields keeps the kanalen', async (t) => {
    const { body: made } = await call('POST', `${API}/abonnement`, abonnement, { as: consument })
    received.length = 0
    const kanalen = [{ naam: 'documenten', filters: { bronorganisatie: '*', '#actie': 'create' } }]
    const changed = await call('PATCH', made.url, { kanalen }, { as: consument })
    t.strictSame([changed.status, changed.body.kanalen], [200, kanalen])
    const plain = [{ naam: 'documenten', filters: { bronorganisatie: '*', actie: 'create' } }]
    const named = await call('PATCH', made.url, { kanalen: plain }, { as: consument })
    t.strictSame([named.status, named.body.kanalen], [200, kanalen], 'actie is #actie')
    t.strictSame(received, [])
    const moved = await call('PATCH', made.url, { callbackUrl: `${callbackUrl}?x=1` }, { as: consument })
    t.strictSame([moved.status, moved.body.kanalen], [200, kanalen])
    t.equal(received.length, 2, 'the new address is asked, with the stored auth')
    t.strictSame((await call('PATCH', made.url, { kanalen: [] }, { as: consument })).body.kanalen, [])
  })

  t.test('is that of the applicatie that made it', async (t) => {
    const { body: made } = await call('POST', `${API}/abonnement`, abonnement, { as: consument })
    const list = async (as: string) =>
      (await call('GET', `${API}/abonnement`, undefined, { as })).body.map(({ url }: { url: string }) => url)
    t.ok((await list(consument)).includes(made.url))
    t.strictSame(await list(ander), [])
    t.ok((await list('beheer')).includes(made.url), 'all rights see all')
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { kanalen: [] }],
      ['PUT', abonnement],
      ['DELETE', undefined],
    ] as const) {
      t.equal((await call(method, made.url, body, { as: ander })).status, 403, method)
    }
    t.equal((await call('POST', `${API}/abonnement`, abonnement, { as: uitgever })).status, 403)
  })

  t.test('is listed with all others, however large their filters are', async (t) => {
    const filters = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`k${n}`, 'x'.repeat(900)]))
    await test.database.sql`
      with made as (
        insert into abonnement (applicatie_id, client_id, callback_url, auth)
        select applicatie_id, client_id, 'https://example.com/' || n, ''
        from applicatie_client, generate_series(1, 30) n where client_id = 'veel' returning id)
      insert into abonnement_kanaal (abonnement_id, kanaal_id, filters)
      select m.id, k.id, ${JSON.stringify(filters)}::text::jsonb from made m, kanaal k where k.naam = 'zaken'`
    const { status, body } = await call('GET', `${API}/abonnement`, undefined, { as: veel })
    t.equal(status, 200)
    t.same(
      body.map(({ callbackUrl }: { callbackUrl: string }) => callbackUrl),
      Array.from({ length: 30 }, (_, n) => `https://example.com/${n + 1}`),
    )
    t.ok(body.every(({ kanalen }: { kanalen: { filters: object }[] }) => 'k99' in kanalen[0]!.filters))
    await test.database.sql`delete from abonnement where client_id = 'veel'`
  })

  t.test('with a filter that no message can fit is refused, and says why', async (t) => {
    await test.database.sql`insert into kanaal (naam, filters, own) values ('besluiten',
      '{verantwoordelijke_organisatie,besluittype,vertrouwelijkheidaanduiding,kleur}', true)`
    const subscribe = (filters: object, naam = 'besluiten') =>
      call('POST', `${API}/abonnement`, { ...abonnement, kanalen: [{ naam, filters }] }, { as: consument })
    for (const [name, filters] of [
      ['verantwoordelijkeOrganisatie', { verantwoordelijkeOrganisatie: '517439943,000000000' }],
      ['verantwoordelijke_organisatie', { verantwoordelijke_organisatie: '12' }],
      ['vertrouwelijkheidaanduiding', { vertrouwelijkheidaanduiding: 'Openbaar' }],
      ['besluittype', { besluittype: 'Vergunning' }],
      ['#actie', { '#actie': 'create,,update' }],
      ['#resource', { '#resource': ',' }],
      ['besluitType', { besluittype: 'http://x/1', besluitType: 'http://x/2' }],
    ] as const) {
      const answer = await subscribe(filters)
      t.strictSame(faultsOf(answer), [`kanalen.0.filters.${name}: invalid`])
      t.match(answer.body.invalidParams[0].reason, /past geen enkel bericht/)
    }
    const sent = {
      verantwoordelijkeOrganisatie: 517439943,
      kleur: ' rood ',
      '#actie': 'create, update',
      besluittype: '*',
    }
    const made = await subscribe(sent)
    t.equal(made.status, 201, made.text)
    t.same(made.body.kanalen[0].filters, {
      verantwoordelijkeOrganisatie: '517439943',
      kleur: 'rood',
      '#actie': 'create,update',
      besluittype: '*',
    })
    t.equal((await subscribe({ bronorganisatie: 12 }, 'zaken')).status, 201, 'of a kanaal of others nothing is known')
    await test.database.sql`delete from abonnement where id in (select max(id) from abonnement)`
  })

  t.test('has no more kanalen than those of an applicatie may have together', async (t) => {
    const gulzig = await givenClient(test, 'gulzig', [{ component: 'nrc', scopes: ['notificaties.consumeren'] }])
    const { url } = (await call('POST', `${API}/abonnement`, abonnement, { as: gulzig })).body
    await test.database.sql`
      insert into abonnement_kanaal (abonnement_id, kanaal_id, filters)
      select a.id, k.id, '{}' from abonnement a, kanaal k, generate_series(1, 1998)
      where a.uuid = ${url.split('/').at(-1)} and k.naam = 'documenten'`
    t.equal((await call('POST', `${API}/abonnement`, abonnement, { as: gulzig })).status, 201)
    t.strictSame(faultsOf(await call('POST', `${API}/abonnement`, abonnement, { as: gulzig })), ['kanalen: max-items'])
    t.equal((await call('PATCH', url, { kanalen: abonnement.kanalen }, { as: gulzig })).status, 200, 'fewer are')
    await call('DELETE', url, undefined, { as: gulzig })
  })

  t.test('names every fault before anybody is asked', async (t) => {
    received.length = 0
    const wrong = {
      ...abonnement,
      auth: 'a\r\nX: y',
      kanalen: [{ naam: 'nergens' }, { naam: 'zaken', filters: { kleur: 'rood', bronorganisatie: '1' } }],
    }
    t.strictSame(faultsOf(await call('POST', `${API}/abonnement`, wrong, { as: consument })), [
      'auth: invalid',
      'naam: kanaal_naam',
      'filters: inconsistent-abonnement-filters',
    ])
    const large = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, 'x'.repeat(1000)]))
    const kanalen = [1, 2].map(() => ({ naam: 'zaken', filters: large }))
    t.ok(faultsOf(await call('POST', `${API}/abonnement`, { ...abonnement, kanalen })).includes('kanalen: max_length'))
    for (const [field, code] of Object.entries({ auth: 'required', kanalen: 'required' })) {
      const { [field as 'auth']: _, ...rest } = abonnement
      t.strictSame(faultsOf(await call('POST', `${API}/abonnement`, rest)), [`${field}: ${code}`])
    }
    t.strictSame(faultsOf(await call('POST', `${API}/abonnement`, { ...abonnement, kanalen: [] })), [
      'kanalen: required',
    ])
    for (const address of ['http://intern.example/x', 'https://a:b@intern.example/', 'ftp://localhost/x'])
      t.strictSame(faultsOf(await call('POST', `${API}/abonnement`, { ...abonnement, callbackUrl: address })), [
        'callbackUrl: invalid',
      ])
    const lists = [20, 21].map((many) => [
      { naam: 'zaken', filters: { '#resource': Array(many).fill('zaak').join(',') } },
    ])
    const listed = await Promise.all(
      lists.map((kanalen) => call('POST', `${API}/abonnement`, { ...abonnement, callbackUrl: 'ftp://x/', kanalen })),
    )
    t.strictSame(listed.map(faultsOf), [
      ['callbackUrl: invalid'],
      ['callbackUrl: invalid', 'kanalen.0.filters.#resource: max-items'],
    ])
    t.strictSame(received, [])
  })

  t.test('a filter may be written in camelCase or snake_case', async (t) => {
    await call('POST', `${API}/kanaal`, { naam: 'gemengd', filters: ['verantwoordelijke_organisatie'] })
    const kanalen = [{ naam: 'gemengd', filters: { verantwoordelijkeOrganisatie: '1' } }]
    t.equal((await call('POST', `${API}/abonnement`, { ...abonnement, kanalen })).status, 201)
  })

  t.test('only an explicit empty callbackUrl makes one that is fetched', async (t) => {
    const made = await call('POST', `${API}/abonnement`, abonnement)
    t.equal(made.status, 201)
    const { callbackUrl: _, ...without } = abonnement
    for (const body of [
      without,
      { ...without, callbackUrl: null },
      { ...without, callbackURL: abonnement.callbackUrl },
    ])
      for (const [method, url] of [
        ['POST', `${API}/abonnement`],
        ['PUT', made.body.url],
      ] as const) {
        const { status } = await call(method, url, body)
        t.equal(status, 400, `${method} ${JSON.stringify(body)}`)
      }
    t.equal((await call('PATCH', made.body.url, { callbackUrl: null })).status, 400)
    t.equal((await call('GET', made.body.url)).body.callbackUrl, abonnement.callbackUrl)
    t.equal((await call('PATCH', made.body.url, { callbackUrl: '' })).status, 200)
    const back = await call('PATCH', made.body.url, { callbackUrl: abonnement.callbackUrl })
    t.match(back, { status: 400, body: { invalidParams: [{ name: 'auth', code: 'required' }] } })
  })

  t.test('a callback that does not behave is explained', async (t) => {
    for (const [open, guarded, fault] of [
      [200, 200, 'callbackUrl: no-auth-on-callback-url'],
      [404, 204, 'callbackUrl: no-auth-on-callback-url'],
      [302, 204, 'callbackUrl: no-auth-on-callback-url'],
      [401, 302, 'nonFieldErrors: invalid-callback-url'],
      [403, 500, 'nonFieldErrors: invalid-callback-url'],
      [403, 200, undefined],
      [401, 204, undefined],
    ] as const) {
      const other = await subscriber(t, { auth: 'x', open, status: guarded })
      const answer = await call('POST', `${API}/abonnement`, { ...abonnement, callbackUrl: other.url, auth: 'x' })
      t.strictSame([answer.status, faultsOf(answer)], fault ? [400, [fault]] : [201, []], `${open} ${guarded}`)
      if (fault) t.match(answer.body.invalidParams[0].reason, /: mislukt\.$/, 'one word, whatever came back')
    }
    const gone = await call('POST', `${API}/abonnement`, { ...abonnement, callbackUrl: 'http://127.0.0.1:1/x' })
    t.strictSame(faultsOf(gone), ['nonFieldErrors: invalid-callback-url'])
    t.match(gone.body.invalidParams[0].reason, /geen antwoord: de verbinding werd geweigerd\.$/)
  })
})

t.test('so many callbacks are tried out at once', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const asked = Array.from({ length: LIMITS.callbacks }, () => withinLimit(() => promise))
  const refused = await withinLimit(async () => 'asked').catch((error: unknown) => error)
  t.match(refused, { status: 503, headers: { 'retry-after': '5' } })
  const elsewhere = inOrganisation({ rsin: '000000012', endings: [] }, () => withinLimit(async () => 1))
  t.equal(await elsewhere, 1, 'those of one organisation do not hold up another')
  resolve()
  await Promise.all(asked)
  t.equal(await withinLimit(async () => 1), 1, 'whoever is through makes room')
})

t.test('a message of another publisher', async (t) => {
  t.test('is echoed with 201, with any actie', async (t) => {
    const { status, body } = await call('POST', `${API}/notificaties`, message, { as: uitgever })
    t.strictSame([status, body.actie, body.aanmaakdatum], [201, 'CREATE', message.aanmaakdatum])
    t.equal((await call('POST', `${API}/notificaties`, message, { as: consument })).status, 403)
  })

  t.test('may have no kenmerken, or values that are no text', async (t) => {
    const { kenmerken: _, ...bare } = message
    t.strictSame((await call('POST', `${API}/notificaties`, bare)).body.kenmerken, {})
    const mixed = { bronorganisatie: 12, zaaktype: null, 'zaaktype.catalogus': true }
    t.strictSame((await call('POST', `${API}/notificaties`, { ...message, kenmerken: mixed })).body.kenmerken, {
      bronorganisatie: '12',
      zaaktype: '',
      'zaaktype.catalogus': 'true',
    })
  })

  t.test('is refused with the code of the standard', async (t) => {
    const fault = async (change: object) =>
      faultsOf(await call('POST', `${API}/notificaties`, { ...message, ...change }))
    t.strictSame(await fault({ kanaal: 'nergens' }), ['kanaal: message_kanaal'])
    t.strictSame(await fault({ kenmerken: { kleur: 'rood' } }), ['kenmerken: kenmerken_inconsistent'])
    t.strictSame(await fault({ kenmerken: { zaaktype: { a: 1 } } }), ['kenmerken.zaaktype: invalid'])
    t.strictSame(await fault({ aanmaakdatum: '2999-01-01T00:00:00Z' }), ['aanmaakdatum: future_not_allowed'])
    t.strictSame(await fault({ hoofdObject: 'geen url' }), ['hoofdObject: invalid'])
  })
})
