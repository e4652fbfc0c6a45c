import t from 'tap'
import { givenClient, givenZaaktype, testApp, uuidOf } from '../app.ts'
import { CRS, faultsOf, givenZaak, made, ZAKEN, zaakBody } from './given.ts'

t.test('cases', async (t) => {
  const test = await testApp(t)
  const { call, database } = test
  const zaaktype = await givenZaaktype(test, {
    vertrouwelijkheidaanduiding: 'zaakvertrouwelijk',
    productenOfDiensten: ['https://example.com/product/1'],
    statustypen: ['Ontvangen', 'Afgehandeld'],
  })
  const body = zaakBody(zaaktype)
  const post = (values: object = {}) => call('POST', `${ZAKEN}/zaken`, { ...body, ...values }, CRS)

  await t.test('a minimal create answers the whole case, as reading it does', async (t) => {
    const answer = await post()
    t.equal(answer.status, 201, answer.text)
    t.match(answer.body, {
      identificatie: /^ZAAK-2026-\d{10}$/,
      uiterlijkeEinddatumAfdoening: '2026-04-01',
      einddatumGepland: null,
      vertrouwelijkheidaanduiding: 'zaakvertrouwelijk',
      verlenging: null,
      opschorting: { indicatie: false, eerdereOpschorting: false, reden: '' },
      processobject: { datumkenmerk: '', identificatie: '', objecttype: '', registratie: '' },
      archiefstatus: 'nog_te_archiveren',
      status: null,
      _expand: {},
    })
    t.equal(answer.headers.location, answer.body.url)
    t.equal(answer.headers['content-crs'], 'EPSG:4326')
    t.equal(answer.headers['api-version'], '1.7.0')
    const read = await call('GET', answer.body.url, undefined, CRS)
    t.same(read.body, answer.body)
    const other = await call('GET', answer.body.url.replace('/zaken/api', '/api'), undefined, CRS)
    t.same(other.body, answer.body, 'under its second address too, with links to the first')
    const list = await call('GET', `${ZAKEN}/zaken`, undefined, CRS)
    t.same(list.body.results[0], answer.body)
  })

  await t.test('everything that a create can say is kept', async (t) => {
    const other = await givenZaak(test, { zaaktype })
    const full = {
      identificatie: 'Z 1',
      omschrijving: 'o',
      toelichting: 't',
      registratiedatum: '2026-03-01',
      einddatumGepland: '2026-05-01',
      uiterlijkeEinddatumAfdoening: '2026-06-01',
      publicatiedatum: '2026-03-03',
      laatstGeopend: '2026-03-03T10:00:00Z',
      communicatiekanaalNaam: 'balie',
      productenOfDiensten: ['https://example.com/product/1'],
      vertrouwelijkheidaanduiding: 'openbaar',
      betalingsindicatie: 'geheel',
      laatsteBetaaldatum: '2026-03-01T00:00:00Z',
      zaakgeometrie: { type: 'Point', coordinates: [4.9, 52.4] },
      verlenging: { reden: 'druk', duur: 'P5D' },
      opschorting: { indicatie: true, reden: 'wacht' },
      relevanteAndereZaken: [{ url: other.url, aardRelatie: 'overig', overigeRelatie: 'broer', toelichting: 'x' }],
      gerelateerdeZaken: [{ url: other.url }],
      kenmerken: [{ kenmerk: 'k', bron: 'b' }],
      archiefnominatie: 'vernietigen',
      archiefactiedatum: '2030-01-01',
      opdrachtgevendeOrganisatie: '111222333',
      processobjectaard: 'p',
      startdatumBewaartermijn: '2027-01-01',
      processobject: { datumkenmerk: 'a', identificatie: 'b', objecttype: 'c', registratie: 'd' },
    }
    const answer = await post(full)
    t.equal(answer.status, 201, answer.text)
    t.match(answer.body, { ...full, opschorting: { indicatie: true, reden: 'wacht', eerdereOpschorting: true } })
    t.same((await call('GET', answer.body.url, undefined, CRS)).body, answer.body)
    const back = await call('GET', other.url, undefined, CRS)
    t.same(back.body.gerelateerdeZaken, [{ url: answer.body.url }], 'the other case knows of it')
  })

  await t.test('a create leaves one audit record and one notification on channel zaken', async (t) => {
    const zaak = made(await post())
    const uuid = uuidOf(zaak.url)
    const trail = await call('GET', `${ZAKEN}/zaken/${uuid}/audittrail`)
    t.equal(trail.body.length, 1)
    t.match(trail.body[0], { actie: 'create', resource: 'zaak', resultaat: 201, wijzigingen: { oud: null } })
    const rows = await database.sql`select * from notificatie where hoofd_object_uuid = ${uuid}`
    t.equal(rows.length, 1)
    t.match(rows[0], {
      kanaal: 'zaken',
      actie: 'create',
      resource: 'zaak',
      kenmerken: {
        bronorganisatie: '517439943',
        zaaktype,
        vertrouwelijkheidaanduiding: 'zaakvertrouwelijk',
        'zaaktype.catalogus': /catalogussen/,
      },
    })
  })

  await t.test('CRS headers are asked for on cases only', async (t) => {
    const zaak = await givenZaak(test, { zaaktype })
    const headers = (accept?: string, content?: string) => ({
      headers: { ...(accept && { 'accept-crs': accept }), ...(content && { 'content-crs': content }) },
    })
    t.equal((await call('GET', `${ZAKEN}/zaken`)).status, 412)
    t.equal((await call('GET', `${ZAKEN}/zaken`, undefined, headers('EPSG:28992'))).status, 406)
    t.equal((await call('GET', zaak.url, undefined, headers('EPSG:4326'))).status, 200)
    t.equal((await call('POST', `${ZAKEN}/zaken`, {}, headers('EPSG:4326'))).status, 412)
    t.equal((await call('POST', `${ZAKEN}/zaken`, {}, headers('EPSG:4326', 'EPSG:1'))).status, 406)
    t.equal((await call('POST', `${ZAKEN}/zaken`, {}, headers('EPSG:4326', 'EPSG:4326'))).status, 400)
    t.equal((await call('HEAD', zaak.url, undefined, headers('EPSG:4326'))).status, 200)
    t.equal((await call('DELETE', zaak.url)).status, 204)
  })

  await t.test('zrc-001: the zaaktype exists and is published', async (t) => {
    const concept = await givenZaaktype(test, { concept: true })
    t.same(faultsOf(await post({ zaaktype: 'geen url' })), ['zaaktype: bad-url'])
    t.same(faultsOf(await post({ zaaktype: `${zaaktype.slice(0, -1)}${zaaktype.endsWith('0') ? 1 : 0}` })), [
      'zaaktype: bad-url',
    ])
    t.same(faultsOf(await post({ zaaktype: 'https://elders.example.com/zaaktypen/1' })), ['zaaktype: bad-url'])
    t.same(faultsOf(await post({ zaaktype: (await givenZaak(test, { zaaktype })).url })), [
      'zaaktype: invalid-resource',
    ])
    t.same(faultsOf(await post({ zaaktype: concept })), ['zaaktype: not-published'])
  })

  await t.test('zrc-002: an identificatie is unique within its bronorganisatie, also at once', async (t) => {
    t.equal((await post({ identificatie: 'uniek' })).status, 201)
    t.same(faultsOf(await post({ identificatie: 'uniek' })), ['identificatie: identificatie-niet-uniek'])
    t.equal((await post({ identificatie: 'uniek', bronorganisatie: '111222333' })).status, 201)
    const answers = await Promise.all(Array.from({ length: 20 }, () => post()))
    t.equal(new Set(answers.map(({ body }) => body.identificatie)).size, 20)
    const [{ n }] = (await database.sql`select last_value + 1 as n from zaak_nummer`) as unknown as [{ n: number }]
    await post({ identificatie: `ZAAK-2026-${String(n).padStart(10, '0')}` })
    const next = await post()
    t.equal(next.status, 201, 'a number that is taken is passed by')
    t.not(next.body.identificatie, `ZAAK-2026-${String(n).padStart(10, '0')}`)
  })

  await t.test('zrc-006: rights per zaaktype and vertrouwelijkheidaanduiding', async (t) => {
    const others = await givenZaaktype(test)
    const scopes = ['zaken.lezen', 'zaken.aanmaken', 'zaken.bijwerken', 'zaken.verwijderen']
    const as = await givenClient(test, 'beperkt', [
      { component: 'zrc', scopes, typeUuid: uuidOf(others), typeUrl: others, max: 'openbaar' },
    ])
    const options = { ...CRS, as }
    const open = await givenZaak(test, { zaaktype: others })
    const secret = await givenZaak(test, { zaaktype: others, vertrouwelijkheidaanduiding: 'intern' })
    const foreign = await givenZaak(test, { zaaktype })
    const list = await call('GET', `${ZAKEN}/zaken`, undefined, options)
    t.equal(list.body.count, 1)
    t.same(
      list.body.results.map(({ url }: { url: string }) => url),
      [open.url],
    )
    const search = await call(
      'POST',
      `${ZAKEN}/zaken/_zoek`,
      { uuid__in: [open.uuid, secret.uuid, foreign.uuid] },
      options,
    )
    t.equal(search.body.count, 1)
    for (const zaak of [secret, foreign]) {
      t.equal((await call('GET', zaak.url, undefined, options)).status, 403)
      t.equal((await call('PATCH', zaak.url, { omschrijving: 'x' }, options)).status, 403)
      t.equal((await call('DELETE', zaak.url, undefined, options)).status, 403)
    }
    const create = (values: object) => call('POST', `${ZAKEN}/zaken`, zaakBody(others, values), options)
    t.equal((await create({})).status, 201)
    t.equal((await create({ vertrouwelijkheidaanduiding: 'geheim' })).status, 403)
    const raised = await call('PATCH', open.url, { vertrouwelijkheidaanduiding: 'geheim' }, options)
    t.equal(raised.status, 403, 'nobody raises a case above what he may touch')
    t.equal((await call('POST', `${ZAKEN}/zaken`, body, options)).status, 403)
    const reader = (typeUrl: string) => ({ scopes: ['zaken.lezen'], typeUuid: uuidOf(typeUrl), typeUrl })
    const writer = (typeUrl: string) => ({ scopes: ['zaken.bijwerken'], typeUuid: uuidOf(typeUrl), typeUrl })
    const twoRights = await givenClient(
      test,
      'twee-rechten',
      [reader(others), writer(zaaktype)].map((right) => ({ component: 'zrc', max: 'openbaar', ...right })),
    )
    const change = await call('PATCH', open.url, { omschrijving: 'x' }, { ...CRS, as: twoRights })
    t.equal(change.status, 403, 'a scope on one type is none on another')
    const onlyWrite = await givenClient(test, 'schrijver', [
      { component: 'zrc', scopes: ['zaken.aanmaken'], typeUuid: uuidOf(others), typeUrl: others, max: 'openbaar' },
    ])
    t.equal((await call('GET', `${ZAKEN}/zaken`, undefined, { ...CRS, as: onlyWrite })).status, 403)
  })

  await t.test('zrc-012: a group is complete or null', async (t) => {
    const zaak = await givenZaak(test, { zaaktype })
    const patch = (given: object) => call('PATCH', zaak.url, given, CRS)
    t.same(faultsOf(await patch({ verlenging: { reden: 'x' } })), ['verlenging.duur: required'])
    for (const duur of ['P-1D', 'P501Y', `P${'9'.repeat(400)}D`, ''])
      t.match(faultsOf(await patch({ verlenging: { reden: 'x', duur } })), [/^verlenging.duur: (invalid|blank)$/], duur)
    t.equal((await patch({ verlenging: { reden: 'x', duur: 'P14D' } })).body.verlenging.duur, 'P14D')
    t.equal((await patch({ verlenging: null })).body.verlenging, null)
    await patch({ opschorting: { indicatie: true, reden: 'x' } })
    t.same((await patch({ opschorting: null })).body.opschorting, {
      indicatie: false,
      eerdereOpschorting: true,
      reden: '',
    })
  })

  await t.test('zrc-011: relevanteAndereZaken exist', async (t) => {
    const relation = (url: string, aardRelatie = 'vervolg') => ({ relevanteAndereZaken: [{ url, aardRelatie }] })
    t.same(faultsOf(await post(relation('https://elders.example.com/zaken/1'))), [
      'relevanteAndereZaken.0.url: bad-url',
    ])
    t.same(faultsOf(await post(relation(zaaktype))), ['relevanteAndereZaken.0.url: invalid-resource'])
    const zaak = await givenZaak(test, { zaaktype })
    t.same(faultsOf(await post(relation(zaak.url, 'overig'))), [
      'relevanteAndereZaken.0.overigeRelatie: overigerelatie-required',
    ])
    const itself = { ...relation(zaak.url), gerelateerdeZaken: [{ url: zaak.url }] }
    t.same(faultsOf(await call('PATCH', zaak.url, itself, CRS)), [
      'relevanteAndereZaken.0.url: self-forbidden',
      'gerelateerdeZaken.0.url: self-forbidden',
    ])
    const twice = [zaak.url, zaak.url].map((url) => ({ url, aardRelatie: 'vervolg' }))
    const made = await post({ relevanteAndereZaken: [...twice, { url: zaak.url, aardRelatie: 'bijdrage' }] })
    const kept = made.body.relevanteAndereZaken.map(({ aardRelatie }: { aardRelatie: string }) => aardRelatie)
    t.same(kept, ['vervolg', 'bijdrage'], 'one that is named twice counts once')
    t.same((await call('GET', made.body.url, undefined, CRS)).body.relevanteAndereZaken, made.body.relevanteAndereZaken)
  })

  await t.test('zrc-013: a hoofdzaak is no deelzaak, nor itself, and its type allows it', async (t) => {
    const deeltype = await givenZaaktype(test, { identificatie: 'DEEL' })
    const hoofdtype = await givenZaaktype(test, {
      identificatie: 'HOOFD',
      catalogus: (await call('GET', deeltype)).body.catalogus,
      deelzaaktypen: [deeltype],
    })
    const hoofdzaak = await givenZaak(test, { zaaktype: hoofdtype })
    const deelzaak = await givenZaak(test, { zaaktype: deeltype, hoofdzaak: hoofdzaak.url })
    t.same((await call('GET', hoofdzaak.url, undefined, CRS)).body.deelzaken, [deelzaak.url])
    t.same(faultsOf(await post({ hoofdzaak: deelzaak.url })), ['hoofdzaak: deelzaak-als-hoofdzaak'])
    t.same(faultsOf(await post({ hoofdzaak: hoofdzaak.url })), ['hoofdzaak: invalid-deelzaaktype'])
    t.same(faultsOf(await call('PATCH', hoofdzaak.url, { hoofdzaak: hoofdzaak.url }, CRS)), [
      'hoofdzaak: self-forbidden',
    ])
    t.equal((await call('DELETE', hoofdzaak.url)).status, 204)
    t.equal((await call('GET', deelzaak.url, undefined, CRS)).status, 404, 'zrc-023: parts go with it')
  })

  await t.test('zrc-014: betalingsindicatie and laatsteBetaaldatum', async (t) => {
    const laatsteBetaaldatum = '2026-01-01T00:00:00Z'
    t.same(faultsOf(await post({ betalingsindicatie: 'nvt', laatsteBetaaldatum })), [
      'laatsteBetaaldatum: betaling-nvt',
    ])
    t.same(faultsOf(await post({ laatsteBetaaldatum: '2999-01-01T00:00:00Z' })), [
      'laatsteBetaaldatum: future_not_allowed',
    ])
    const zaak = made(await post({ betalingsindicatie: 'geheel', laatsteBetaaldatum }))
    const patched = await call('PATCH', zaak.url, { betalingsindicatie: 'nvt' }, CRS)
    t.equal(patched.body.laatsteBetaaldatum, null)
    t.same(faultsOf(await call('PATCH', zaak.url, { laatsteBetaaldatum }, CRS)), ['laatsteBetaaldatum: betaling-nvt'])
  })

  await t.test('zrc-015: productenOfDiensten are those of the zaaktype', async (t) => {
    t.same(faultsOf(await post({ productenOfDiensten: ['https://example.com/product/2'] })), [
      'productenOfDiensten: invalid-products-services',
    ])
  })

  await t.test('zrc-022: archiefstatus needs archiefnominatie and archiefactiedatum', async (t) => {
    const zaak = await givenZaak(test, { zaaktype })
    const answer = await call('PATCH', zaak.url, { archiefstatus: 'gearchiveerd' }, CRS)
    t.same(faultsOf(answer), [
      'archiefnominatie: archiefnominatie-not-set',
      'archiefactiedatum: archiefactiedatum-not-set',
    ])
    const filled = { archiefstatus: 'gearchiveerd', archiefnominatie: 'vernietigen', archiefactiedatum: '2030-01-01' }
    t.equal((await call('PATCH', zaak.url, filled, CRS)).status, 200)
  })

  await t.test('PUT and PATCH keep what is absent; identificatie and zaaktype stay', async (t) => {
    const zaak = made(await post({ toelichting: 'blijft', kenmerken: [{ kenmerk: 'k', bron: 'b' }] }))
    const put = await call('PUT', zaak.url, { ...body, omschrijving: 'nieuw' }, CRS)
    t.equal(put.status, 200, put.text)
    t.match(put.body, { toelichting: 'blijft', omschrijving: 'nieuw', kenmerken: [{ kenmerk: 'k', bron: 'b' }] })
    t.same(faultsOf(await call('PUT', zaak.url, { omschrijving: 'x' }, CRS)), [
      'bronorganisatie: required',
      'zaaktype: required',
      'verantwoordelijkeOrganisatie: required',
      'startdatum: required',
    ])
    const others = await givenZaaktype(test)
    t.same(faultsOf(await call('PATCH', zaak.url, { identificatie: 'anders', zaaktype: others }, CRS)), [
      'identificatie: wijzigen-niet-toegelaten',
      'zaaktype: wijzigen-niet-toegelaten',
    ])
    const patched = await call(
      'PATCH',
      zaak.url,
      { kenmerken: [], zaakgeometrie: { type: 'Point', coordinates: [1, 2] } },
      CRS,
    )
    t.same(patched.body.kenmerken, [])
    t.same(patched.body.zaakgeometrie, { type: 'Point', coordinates: [1, 2] })
    t.not(patched.body.laatstGemuteerd, zaak.laatstGemuteerd)
    const opened = await call('PATCH', zaak.url, { laatstGeopend: '2026-03-02T10:00:00Z' }, CRS)
    t.equal(opened.body.laatstGemuteerd, patched.body.laatstGemuteerd)
    t.equal((await call('PATCH', zaak.url, { zaakgeometrie: { type: 'Punt' } }, CRS)).status, 400)
  })

  await t.test('zrc-023: a deleted case leaves no trail, and announces that it went', async (t) => {
    const zaak = await givenZaak(test, { zaaktype })
    t.equal((await call('DELETE', zaak.url)).status, 204)
    t.equal((await call('GET', zaak.url, undefined, CRS)).status, 404)
    t.equal((await call('GET', `${zaak.url}/audittrail`)).status, 404)
    const rows = await database.sql`select actie from notificatie where hoofd_object_uuid = ${zaak.uuid} order by id`
    t.same(
      rows.map(({ actie }) => actie),
      ['create', 'destroy'],
    )
  })

  await t.test('a detail has an ETag', async (t) => {
    const zaak = await givenZaak(test, { zaaktype })
    const first = await call('GET', zaak.url, undefined, CRS)
    const again = await call('GET', zaak.url, undefined, {
      headers: { ...CRS.headers, 'if-none-match': String(first.headers.etag) },
    })
    t.equal(again.status, 304)
  })
})

t.test('a case whose term ends after the year 9999 is refused, unless it says its own days', async (t) => {
  const test = await testApp(t)
  const zaaktype = await givenZaaktype(test)
  const body = zaakBody(zaaktype, { startdatum: '9999-12-31' })
  t.same(faultsOf(await test.call('POST', `${ZAKEN}/zaken`, body, CRS)), ['startdatum: invalid'])
  const days = { einddatumGepland: '9999-12-31', uiterlijkeEinddatumAfdoening: '9999-12-31' }
  made(await test.call('POST', `${ZAKEN}/zaken`, { ...body, ...days }, CRS))
})
