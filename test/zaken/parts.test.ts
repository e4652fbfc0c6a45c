import t from 'tap'
import { OBJECT_TYPES } from '../../src/zaken/objecttypen.ts'
import { givenInformatieobjecttype, givenZaaktype, testApp, uuidOf } from '../app.ts'
import { CRS, faultsOf, givenDocument, givenEigenschap, givenPart, givenZaak, made, ZAKEN } from './given.ts'

t.test('what hangs on a case', async (t) => {
  const test = await testApp(t)
  const { call, database } = test
  const informatieobjecttype = await givenInformatieobjecttype(test)
  const { catalogus } = (await call('GET', informatieobjecttype)).body
  const zaaktype = await givenZaaktype(test, {
    catalogus,
    informatieobjecttypen: [informatieobjecttype],
    statustypen: ['Begin', 'Eind'],
    roltypen: [
      { omschrijving: 'Melder', omschrijvingGeneriek: 'initiator' },
      { omschrijving: 'Behandelaar', omschrijvingGeneriek: 'behandelaar' },
    ],
  })
  const roltypen = (await call('GET', `/catalogi/api/v1/roltypen?zaaktype=${encodeURIComponent(zaaktype)}`)).body
    .results
  const roltype = (kind: string): string =>
    roltypen.find(({ omschrijvingGeneriek }: { omschrijvingGeneriek: string }) => omschrijvingGeneriek === kind).url
  const read = async (zaak: { url: string }) => (await call('GET', zaak.url, undefined, CRS)).body
  const list = (query: string) => call('GET', `${ZAKEN}/zaken?${query}`, undefined, CRS)

  await t.test('a rol of every betrokkeneType is kept in its shape, and found by it', async (t) => {
    const zaak = await givenZaak(test, { zaaktype })
    const identificaties: Record<string, object> = {
      natuurlijk_persoon: { inpBsn: '111222333' },
      niet_natuurlijk_persoon: { kvkNummer: '12345678' },
      vestiging: { vestigingsNummer: '1234' },
      organisatorische_eenheid: { identificatie: 'afdeling' },
      medewerker: { identificatie: 7 },
    }
    for (const [betrokkeneType, betrokkeneIdentificatie] of Object.entries(identificaties)) {
      const body = { zaak: zaak.url, betrokkeneType, betrokkeneIdentificatie, roltype: roltype('behandelaar') }
      const rol = await call('POST', `${ZAKEN}/rollen`, body)
      t.equal(rol.status, 201, rol.text)
      t.match(rol.body, { omschrijving: 'Behandelaar', omschrijvingGeneriek: 'behandelaar', statussen: [] })
      t.same((await call('GET', rol.body.url)).body, rol.body)
    }
    for (const [filter, n] of [
      ['natuurlijkPersoon__inpBsn=111222333', 1],
      ['natuurlijkPersoon__inpBsn=123456782', 0],
      ['nietNatuurlijkPersoon__kvkNummer=12345678', 1],
      ['vestiging__kvkNummer=12345678', 0],
      ['medewerker__identificatie=7', 1],
    ] as const) {
      t.equal((await call('GET', `${ZAKEN}/rollen?betrokkeneIdentificatie__${filter}`)).body.count, n, filter)
      t.equal((await list(`rol__betrokkeneIdentificatie__${filter}`)).body.count, n, filter)
    }
    const one = 'rol__betrokkeneType=medewerker&rol__betrokkeneIdentificatie__natuurlijkPersoon__inpBsn=111222333'
    t.equal((await list(one)).body.count, 0, 'filters on rollen are about the same rol')
    t.equal((await read(zaak)).rollen.length, 5)
  })

  await t.test('betrokkeneIdentificatie is taken as clients send it', async (t) => {
    const zaak = await givenZaak(test, { zaaktype })
    const rol = await call('POST', `${ZAKEN}/rollen`, {
      zaak: zaak.url,
      betrokkeneType: 'natuurlijk_persoon',
      roltype: roltype('initiator'),
      betrokkeneIdentificatie: {
        inpBsn: '111222333',
        onbekend: 1,
        verblijfsadres: {
          aoaIdentificatie: '',
          wplWoonplaatsNaam: 'A',
          gorOpenbareRuimteNaam: 'B',
          aoaHuisnummer: '12',
          aoaPostcode: '1000 AA',
        },
      },
    })
    t.equal(rol.status, 201, rol.text)
    t.match(rol.body.betrokkeneIdentificatie, {
      inpA_nummer: '',
      verblijfsadres: { aoaHuisnummer: 12, aoaPostcode: '1000 AA', aoaHuisletter: '' },
    })
    t.notOk('onbekend' in rol.body.betrokkeneIdentificatie)
    const post = (values: object) =>
      call('POST', `${ZAKEN}/rollen`, {
        zaak: zaak.url,
        betrokkeneType: 'natuurlijk_persoon',
        roltype: roltype('behandelaar'),
        ...values,
      })
    t.same(faultsOf(await post({})), ['nonFieldErrors: invalid-betrokkene'])
    const named = (field: string, codes: string[]) => codes.map((code) => `betrokkeneIdentificatie.${field}: ${code}`)
    const nnp = { betrokkeneType: 'niet_natuurlijk_persoon', betrokkeneIdentificatie: { innNnpId: '12345678' } }
    t.same(faultsOf(await post(nnp)), named('innNnpId', ['invalid', 'min_length']), 'a KVK number is no RSIN')
    t.same(faultsOf(await post({ betrokkeneIdentificatie: [] })), ['betrokkeneIdentificatie: invalid'])
    for (const [inpBsn, code] of Object.entries({
      12345672: 'min_length',
      '000': 'min_length',
      1112223330: 'max_length',
      111222334: 'invalid',
      x11222333: 'only-digits',
    }))
      t.same(
        faultsOf(await post({ betrokkeneIdentificatie: { inpBsn, inpA_nummer: '0' } })),
        [`betrokkeneIdentificatie.inpBsn: ${code}`],
        inpBsn,
      )
    t.same(faultsOf(await post({ betrokkeneIdentificatie: { inpA_nummer: '0123456789' } })), [
      'betrokkeneIdentificatie.inpA_nummer: a-nummer-incorrect-format',
    ])
    t.same(faultsOf(await post({ betrokkene: 'https://example.com/1', roltype: roltype('initiator') })), [
      'roltype: max-occurences',
    ])
    t.same(faultsOf(await post({ betrokkene: 'https://example.com/1', roltype: zaaktype })), [
      'roltype: invalid-resource',
    ])
    const put = await call('PUT', rol.body.url, {
      zaak: zaak.url,
      betrokkene: 'https://example.com/1',
      betrokkeneType: 'medewerker',
      roltype: roltype('initiator'),
    })
    t.match(put.body, { betrokkene: 'https://example.com/1', betrokkeneIdentificatie: null })
    t.notOk('authenticatieContext' in put.body)
    t.equal((await call('PATCH', rol.body.url, {})).status, 405)
    t.equal((await call('DELETE', rol.body.url)).status, 204)
  })

  await t.test('zrc-019: a roltype is one of the zaaktype of the case', async (t) => {
    const zaak = await givenZaak(test, { zaaktype })
    const other = await givenZaaktype(test, {
      catalogus,
      identificatie: 'ANDER',
      roltypen: [{ omschrijving: 'Melder', omschrijvingGeneriek: 'initiator' }],
    })
    const [elsewhere] = (await call('GET', other)).body.roltypen
    const body = { zaak: zaak.url, betrokkene: 'https://example.com/1', betrokkeneType: 'medewerker' }
    t.same(faultsOf(await call('POST', `${ZAKEN}/rollen`, { ...body, roltype: elsewhere })), [
      'nonFieldErrors: zaaktype-mismatch',
    ])
    t.equal((await call('POST', `${ZAKEN}/rollen`, { ...body, roltype: roltype('initiator') })).status, 201)
  })

  await t.test('zrc-003, zrc-005, zrc-017: a document is linked on both sides', async (t) => {
    const zaak = await givenZaak(test, { zaaktype })
    const informatieobject = await givenDocument(test, informatieobjecttype)
    const body = { zaak: zaak.url, informatieobject, titel: 't' }
    const answer = await call('POST', `${ZAKEN}/zaakinformatieobjecten`, body)
    t.equal(answer.status, 201, answer.text)
    t.match(answer.body, { ...body, aardRelatieWeergave: 'Hoort bij, omgekeerd: kent', status: null })
    const mirror = () => database.sql`select object_type from objectinformatieobject where object_uuid = ${zaak.uuid}`
    t.same([...(await mirror())], [{ object_type: 'zaak' }])
    t.same(faultsOf(await call('POST', `${ZAKEN}/zaakinformatieobjecten`, body)), ['nonFieldErrors: unique'])
    const other = await givenDocument(test, await givenInformatieobjecttype(test, { omschrijving: 'Foto' }))
    t.same(faultsOf(await call('POST', `${ZAKEN}/zaakinformatieobjecten`, { ...body, informatieobject: other })), [
      'nonFieldErrors: missing-zaaktype-informatieobjecttype-relation',
    ])
    const nothing = `${informatieobject.slice(0, -12)}000000000000`
    t.same(faultsOf(await call('POST', `${ZAKEN}/zaakinformatieobjecten`, { ...body, informatieobject: nothing })), [
      'informatieobject: bad-url',
    ])
    t.same(faultsOf(await call('PATCH', answer.body.url, { informatieobject: other })), [
      'informatieobject: wijzigen-niet-toegelaten',
    ])
    t.equal((await call('PATCH', answer.body.url, { titel: 'u' })).body.titel, 'u')
    const found = await call(
      'GET',
      `${ZAKEN}/zaakinformatieobjecten?informatieobject=${encodeURIComponent(informatieobject)}`,
    )
    t.same(
      found.body.map(({ url }: { url: string }) => url),
      [answer.body.url],
    )
    t.equal((await call('DELETE', informatieobject)).status, 400, 'drc-008')
    t.equal((await call('DELETE', answer.body.url)).status, 204)
    t.equal((await mirror()).length, 0)
    made(await call('POST', `${ZAKEN}/zaakinformatieobjecten`, body))
    t.equal((await call('DELETE', zaak.url)).status, 204)
    t.equal((await mirror()).length, 0, 'zrc-023')
    t.equal((await call('DELETE', informatieobject)).status, 204)
  })

  await t.test('gezetdoor of a status is a rol of the same case', async (t) => {
    const [zaak, other] = [await givenZaak(test, { zaaktype }), await givenZaak(test, { zaaktype })]
    const rolOf = async ({ url }: { url: string }) =>
      (
        await call('POST', `${ZAKEN}/rollen`, {
          zaak: url,
          betrokkeneType: 'medewerker',
          betrokkeneIdentificatie: { identificatie: '8' },
          roltype: roltype('behandelaar'),
        })
      ).body.url
    const statustypen = await call('GET', `/catalogi/api/v1/statustypen?zaaktype=${encodeURIComponent(zaaktype)}`)
    const status = async (gezetdoor: string) =>
      call('POST', `${ZAKEN}/statussen`, {
        zaak: zaak.url,
        statustype: statustypen.body.results.find((one: { isEindstatus: boolean }) => !one.isEindstatus).url,
        datumStatusGezet: '2026-01-01T00:00:00Z',
        gezetdoor,
      })
    t.same(faultsOf(await status(await rolOf(other))), ['nonFieldErrors: zaak-mismatch'])
    const own = await rolOf(zaak)
    t.match(await status(own), { status: 201, body: { gezetdoor: own } })
  })

  await t.test('zrc-018: a zaakeigenschap stands below its case, and only its waarde changes', async (t) => {
    const zaak = await givenZaak(test, { zaaktype })
    const eigenschap = await givenEigenschap(test, zaaktype, 'kleur')
    const body = { zaak: zaak.url, eigenschap, waarde: 'rood' }
    const answer = await call('POST', `${zaak.url}/zaakeigenschappen`, body)
    t.equal(answer.status, 201, answer.text)
    t.match(answer.body, { ...body, naam: 'kleur', url: `${zaak.url}/zaakeigenschappen/${answer.body.uuid}` })
    t.same((await call('GET', answer.body.url)).body, answer.body)
    t.same((await call('GET', `${zaak.url}/zaakeigenschappen`)).body, [answer.body])
    t.equal((await call('PATCH', answer.body.url, { waarde: 'blauw' })).body.waarde, 'blauw')
    const other = await givenEigenschap(test, await givenZaaktype(test), 'maat')
    t.same(faultsOf(await call('PATCH', answer.body.url, { eigenschap: other })), [
      'eigenschap: wijzigen-niet-toegelaten',
    ])
    t.same(faultsOf(await call('POST', `${zaak.url}/zaakeigenschappen`, { ...body, eigenschap: other })), [
      'nonFieldErrors: zaaktype-mismatch',
    ])
    const expanded = await call('GET', `${zaak.url}?expand=eigenschappen.eigenschap`, undefined, CRS)
    t.equal(expanded.body._expand.eigenschappen[0]._expand.eigenschap.naam, 'kleur')
    t.equal((await call('DELETE', answer.body.url)).status, 204)
    t.equal((await call('GET', `${ZAKEN}/zaken/${uuidOf(eigenschap)}/zaakeigenschappen`)).status, 404)
  })

  await t.test('zaakobjecten of all kinds', async (t) => {
    const zaak = await givenZaak(test, { zaaktype })
    const post = (values: object) => call('POST', `${ZAKEN}/zaakobjecten`, { zaak: zaak.url, ...values })
    t.equal(OBJECT_TYPES.length, 31)
    const woz = { wozObjectNummer: '1' }
    for (const [objectType, objectIdentificatie] of Object.entries({
      adres: { wplWoonplaatsNaam: 'A', gorOpenbareRuimteNaam: 'B', huisnummer: '1' },
      pand: { identificatie: '0363100012345678' },
      natuurlijk_persoon: { inpBsn: '111222333' },
      woz_waarde: { waardepeildatum: '2026', isVoor: woz },
      zakelijk_recht: {
        identificatie: '1',
        avgAard: 'x',
        heeftAlsGerechtigde: { natuurlijkPersoon: { inpBsn: '111222333' } },
      },
    })) {
      const answer = await post({ objectType, objectIdentificatie })
      t.equal(answer.status, 201, answer.text)
      t.same((await call('GET', answer.body.url)).body, answer.body)
    }
    const overige = await post({
      objectType: 'overige',
      objectTypeOverige: 'boom',
      objectIdentificatie: { overigeData: { someField: [1] } },
    })
    t.same(overige.body.objectIdentificatie, { overigeData: { someField: [1] } })
    t.same(faultsOf(await post({ objectType: 'pand' })), ['nonFieldErrors: invalid-zaakobject'])
    t.same(faultsOf(await post({ objectType: 'pand', objectIdentificatie: {} })), [
      'objectIdentificatie.identificatie: required',
    ])
    t.same(faultsOf(await post({ objectType: 'overige', objectIdentificatie: { overigeData: 1 } })), [
      'nonFieldErrors: missing-object-type-overige',
    ])
    t.same(
      faultsOf(await post({ objectType: 'pand', objectTypeOverige: 'x', objectIdentificatie: { identificatie: '1' } })),
      ['nonFieldErrors: invalid-object-type-overige-usage'],
    )
    t.same(faultsOf(await post({ objectType: 'besluit', object: 'https://elders.example.com/1' })), ['object: bad-url'])
    const zaakobjecttype = await givenPart(test, 'zaakobjecttypen', {
      zaaktype,
      anderObjecttype: false,
      objecttype: 'https://example.com/objecttypen/1',
      relatieOmschrijving: 'x',
    })
    const typed = await post({ objectType: 'pand', zaakobjecttype, objectIdentificatie: { identificatie: '2' } })
    t.equal(typed.body.zaakobjecttype, zaakobjecttype)
    const patched = await call('PATCH', typed.body.url, {
      relatieomschrijving: 'nieuw',
      objectIdentificatie: { identificatie: '3' },
    })
    t.match(patched.body, { relatieomschrijving: 'nieuw', objectIdentificatie: { identificatie: '3' } })
    t.same(faultsOf(await call('PATCH', typed.body.url, { objectType: 'wijk' })), [
      'objectType: wijzigen-niet-toegelaten',
    ])
    t.equal((await call('GET', `${ZAKEN}/zaakobjecten?objectType=pand`)).body.count, 2)
    t.equal((await call('DELETE', typed.body.url)).status, 204)
  })

  await t.test('besluiten of a case are listed, and keep it from being deleted', async (t) => {
    const zaak = await givenZaak(test, { zaaktype })
    const besluit = '0e8e7f0a-0000-4000-8000-000000000001'
    await database.sql`insert into zaakbesluit (zaak_id, besluit_uuid) select id, ${besluit} from zaak where uuid = ${zaak.uuid}`
    const { body } = await call('GET', `${zaak.url}/besluiten`)
    t.equal(body[0].besluit, `http://localhost/besluiten/api/v1/besluiten/${besluit}`)
    t.equal((await call('GET', body[0].url)).status, 200)
    t.same(faultsOf(await call('DELETE', zaak.url)), ['nonFieldErrors: related-besluiten'])
    t.same(faultsOf(await call('DELETE', body[0].url)), ['nonFieldErrors: inconsistent-relation'])
    t.equal((await call('POST', `${zaak.url}/besluiten`, { besluit: body[0].besluit })).status, 201)
  })

  await t.test('filters, ordering and search', async (t) => {
    const own = await givenZaaktype(test)
    const a = await givenZaak(test, {
      zaaktype: own,
      identificatie: 'FILTER-A',
      startdatum: '2025-01-01',
      omschrijving: 'Lantaarn kapot',
      kenmerken: [{ kenmerk: 'k1', bron: 'b1' }],
      zaakgeometrie: { type: 'Point', coordinates: [5, 5] },
    })
    const b = await givenZaak(test, {
      zaaktype: own,
      identificatie: 'FILTER-B',
      startdatum: '2025-06-01',
      vertrouwelijkheidaanduiding: 'geheim',
      archiefnominatie: 'vernietigen',
      archiefactiedatum: '2030-01-01',
      zaakgeometrie: {
        type: 'LineString',
        coordinates: [
          [1, 1],
          [11, 11],
        ],
      },
    })
    const type = `zaaktype=${encodeURIComponent(own)}`
    for (const [query, expected] of [
      ['identificatie=FILTER-A', [a]],
      ['identificatie__icontains=filter-&ordering=identificatie', [a, b]],
      ['identificatie__icontains=filter-&ordering=-startdatum', [b, a]],
      ['omschrijving=LANTAARN', [a]],
      ['omschrijving=ka', [a]], // too short for an index, so only at the beginning of a word
      ['omschrijving=ar', []],
      [`${type}&startdatum__gt=2025-01-01`, [b]],
      [`${type}&startdatum__lte=2025-01-01`, [a]],
      [`${type}&archiefactiedatum__isnull=False`, [b]],
      [`${type}&archiefactiedatum__lt=2031-01-01&archiefnominatie=vernietigen&einddatum__isnull=true`, [b]],
      [`${type}&archiefnominatie__in=vernietigen,blijvend_bewaren`, [b]],
      [`${type}&maximaleVertrouwelijkheidaanduiding=intern`, [a]],
      ['kenmerk=b1:k1', [a]],
      ['kenmerk__bron=b1', [a]],
      [`zaaktype__in=${encodeURIComponent(own)}&bronorganisatie__in=517439943&startdatum=2025-01-01`, [a]],
    ] as const) {
      const { body } = await list(query)
      t.same(
        body.results?.map(({ url }: { url: string }) => url),
        expected.map(({ url }) => url),
        query,
      )
      t.equal(body.count, expected.length, query)
    }
    t.same(faultsOf(await list('kenmerk=x')), ['kenmerk: invalid'])
    t.same(faultsOf(await list('ordering=onzin')), ['ordering: invalid_choice'])
    t.same(faultsOf(await list('onbekend=1')), ['nonFieldErrors: unknown-parameters'])
    const search = (body: object) => call('POST', `${ZAKEN}/zaken/_zoek`, body, CRS)
    const square = (size: number) => ({
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [size, 0],
          [size, size],
          [0, size],
          [0, 0],
        ],
      ],
    })
    const urls = async (body: object) => (await search(body)).body.results.map(({ url }: { url: string }) => url)
    t.same(await urls({ zaakgeometrie: { within: square(10) } }), [a.url])
    t.same(await urls({ zaakgeometrie: { within: square(20) }, ordering: ['identificatie'] }), [a.url, b.url])
    t.same(await urls({ zaaktype__in: [own], startdatum__gt: '2025-01-01' }), [b.url])
    t.same(await urls({ uuid__in: [a.uuid], expand: ['zaaktype'] }), [a.url])
    t.same(faultsOf(await search({})), ['nonFieldErrors: empty_search_body'])
    t.same(faultsOf(await search({ zaakgeometrie: { within: { type: 'Rondje' } } })), ['zaakgeometrie.within: invalid'])
  })
})
