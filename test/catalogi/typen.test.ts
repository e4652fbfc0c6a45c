import t from 'tap'
import { givenCatalogus, givenClient, givenInformatieobjecttype, givenZaaktype, testApp, uuidOf } from '../app.ts'
import { until } from '../until.ts'
import {
  besluittypeBody,
  eigenschapBody,
  faults,
  givenWriters,
  iotBody,
  post,
  publish,
  resultaattypeBody,
  ZTC,
  zaaktypeBody,
  ziotBody,
} from './catalogi.ts'

const test = await testApp(t)
const { call } = test
await givenWriters(test)

/** URLs in a list. */
async function urls(path: string, query: Record<string, string> = {}): Promise<string[]> {
  const answer = await call('GET', `${ZTC}/${path}?${new URLSearchParams(query)}`)
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body.results.map(({ url }: { url: string }) => url)
}

t.test('a zaaktype without identificatie gets the next one of its year', async (t) => {
  const catalogus = await givenCatalogus(test)
  const make = async (more: object) =>
    (await call('POST', `${ZTC}/zaaktypen`, { ...zaaktypeBody(catalogus), identificatie: '', ...more })).body
      .identificatie
  t.equal(await make({ versiedatum: '2031-05-05' }), 'ZAAKTYPE-2031-0000000001')
  await make({ identificatie: 'ZAAKTYPE-2031-0000000041' })
  t.equal(await make({ versiedatum: '2031-01-01' }), 'ZAAKTYPE-2031-0000000042')
  t.equal(await make({ identificatie: 2 }), '2', 'a number is taken as text')
  const many = await Promise.all(Array.from({ length: 8 }, () => make({ versiedatum: '2032-01-01' })))
  t.equal(new Set(many).size, 8, 'none is given twice')
})

t.test('the fields of a zaaktype are checked together, in their order', async (t) => {
  const refused = await call('POST', `${ZTC}/zaaktypen`, {
    ...zaaktypeBody('x'),
    omschrijving: '',
    vertrouwelijkheidaanduiding: 'zeer',
    doel: null,
    doorlooptijd: '30 dagen',
    opschortingEnAanhoudingMogelijk: 'misschien',
    trefwoorden: ['x'.repeat(31)],
    referentieproces: {},
    broncatalogus: { url: '', domein: 'klein' },
    beginGeldigheid: '2024-02-30',
    besluittypen: undefined,
  })
  t.same(faults(refused), [
    'omschrijving blank',
    'vertrouwelijkheidaanduiding invalid_choice',
    'doel null',
    'doorlooptijd invalid',
    'opschortingEnAanhoudingMogelijk invalid',
    'trefwoorden.0 max_length',
    'referentieproces.naam required',
    'broncatalogus.rsin required',
    'broncatalogus.domein invalid',
    'beginGeldigheid invalid',
    'catalogus bad-url',
    'besluittypen required',
  ])
})

t.test('the rules of a zaaktype as a whole are reported beside each other', async (t) => {
  const catalogus = await givenCatalogus(test)
  const make = (more: object) => call('POST', `${ZTC}/zaaktypen`, { ...zaaktypeBody(catalogus), ...more })
  const bron = { broncatalogus: { url: '', domein: 'BRON', rsin: '' } }
  t.same(faults(await make({ verlengingMogelijk: true, ...bron })), [
    'nonFieldErrors verlenging-mismatch',
    'nonFieldErrors invalid-bronzaaktype-for-broncatalogus',
  ])
  for (const none of ['P0D', 'PT0S', 'P0Y0M', ' P0D '])
    t.same(faults(await make({ servicenorm: none })), ['servicenorm empty-duration'], none)
  const made = await make({
    verlengingMogelijk: false,
    verlengingstermijn: 'P1M',
    servicenorm: 'P2W',
    doorlooptijd: 'P14M',
    ...bron,
    bronzaaktype: { url: '', identificatie: 'B', omschrijving: '' },
  })
  t.match(made.body, { verlengingstermijn: null, servicenorm: 'P14D', doorlooptijd: 'P1Y2M' })
  t.match(made.body, { broncatalogus: { domein: 'BRON' }, bronzaaktype: { identificatie: 'B' } })
})

t.test('a PATCH changes what it names, and a PUT resets what it does not', async (t) => {
  const catalogus = await givenCatalogus(test)
  const besluittype = await post(test, 'besluittypen', besluittypeBody(catalogus))
  const body = {
    ...zaaktypeBody(catalogus),
    besluittypen: [besluittype],
    trefwoorden: ['a'],
    toelichting: 't',
    gerelateerdeZaaktypen: [{ zaaktype: 'https://elders.example/1', aardRelatie: 'vervolg' }],
  }
  const url = await post(test, 'zaaktypen', body)
  const before = (await call('GET', url)).body
  const patched = await call('PATCH', url, { doel: 'Nieuw' })
  t.same(patched.body, { ...before, doel: 'Nieuw' })
  t.same(faults(await call('PATCH', url, { doel: null, omschrijving: '' })), ['omschrijving blank', 'doel null'])
  t.same((await call('PATCH', url, { besluittypen: [], gerelateerdeZaaktypen: [] })).body, {
    ...before,
    doel: 'Nieuw',
    besluittypen: [],
    besluittypeOmschrijving: [],
    gerelateerdeZaaktypen: [],
  })
  const put = await call('PUT', url, zaaktypeBody(catalogus))
  t.match(put.body, { trefwoorden: [], toelichting: '', identificatie: 'MELDING' })
  t.same(faults(await call('PUT', url, { doel: 'x' })).slice(0, 2), [
    'omschrijving required',
    'vertrouwelijkheidaanduiding required',
  ])
})

t.test('lists of types show what is published, unless asked otherwise', async (t) => {
  for (const [path, body] of [
    ['zaaktypen', zaaktypeBody],
    ['besluittypen', besluittypeBody],
    ['informatieobjecttypen', iotBody],
  ] as const) {
    const catalogus = await givenCatalogus(test)
    const make = (beginGeldigheid: string, eindeGeldigheid: string | null) =>
      post(test, path, { ...body(catalogus), beginGeldigheid, eindeGeldigheid })
    const oud = await make('2020-01-01', '2021-12-31')
    const nieuw = await make('2022-01-01', null)
    await publish(test, oud)
    t.same(await urls(path, { catalogus }), [oud], path)
    t.same(await urls(path, { catalogus, status: 'definitief' }), [oud])
    t.same(await urls(path, { catalogus, status: 'concept' }), [nieuw])
    t.same(await urls(path, { catalogus, status: 'alles' }), [nieuw, oud], 'newest first')
    const op = (datumGeldigheid: string) => urls(path, { catalogus, status: 'alles', datumGeldigheid })
    t.same(await op('2019-12-31'), [])
    t.same(await op('2020-01-01'), [oud])
    t.same(await op('2021-12-31'), [oud], 'both bounds count')
    t.same(await op('2022-01-01'), [nieuw])
    t.same(faults(await call('GET', `${ZTC}/${path}?status=anders`)), ['status invalid_choice'])
    t.same(faults(await call('GET', `${ZTC}/${path}?datumGeldigheid=gisteren`)), ['datumGeldigheid invalid'])
    t.same(faults(await call('GET', `${ZTC}/${path}?catalogus=x`)), ['catalogus invalid'])
    t.same(await urls(path, { catalogus: catalogus.replace('localhost', 'elders.example') }), [])
  }
})

t.test('filters of zaaktypen', async (t) => {
  const catalogus = await givenCatalogus(test)
  const make = (more: object) => post(test, 'zaaktypen', { ...zaaktypeBody(catalogus), ...more })
  const een = await make({ identificatie: 'EEN', omschrijving: 'Kapvergunning', trefwoorden: ['boom', 'kap'] })
  const twee = await make({ identificatie: 'TWEE', omschrijving: 'Bouwvergunning', trefwoorden: ['boom'] })
  const found = (query: Record<string, string>) => urls('zaaktypen', { catalogus, status: 'alles', ...query })
  t.same(await found({ identificatie: 'EEN' }), [een])
  t.same(await found({ identificatie: 'een' }), [])
  t.same(await found({ identificatie__icontains: 'we' }), [twee])
  t.same(await found({ omschrijving__icontains: 'KAP' }), [een])
  t.same(await found({ omschrijving__icontains: '%' }), [], 'no wildcards')
  t.same(await found({ trefwoorden: 'boom' }), [twee, een])
  t.same(await found({ trefwoorden: 'kap,boom' }), [een], 'all must be there')
})

t.test('filters of informatieobjecttypen and besluittypen on what they relate to', async (t) => {
  const catalogus = await givenCatalogus(test)
  const iot = await post(test, 'informatieobjecttypen', iotBody(catalogus))
  await post(test, 'informatieobjecttypen', iotBody(catalogus, 'Los'))
  const bt = await post(test, 'besluittypen', { ...besluittypeBody(catalogus), informatieobjecttypen: [iot] })
  await post(test, 'besluittypen', besluittypeBody(catalogus, 'Los'))
  const zaaktype = await post(test, 'zaaktypen', { ...zaaktypeBody(catalogus), besluittypen: [bt] })
  await post(test, 'zaaktype-informatieobjecttypen', ziotBody(zaaktype, iot))
  const all = { status: 'alles', catalogus }
  t.same(await urls('informatieobjecttypen', { ...all, zaaktype }), [iot])
  t.same(await urls('informatieobjecttypen', { ...all, omschrijving: 'Brief' }), [iot])
  t.same(await urls('informatieobjecttypen', { ...all, omschrijving__icontains: 'BR' }), [iot])
  t.same(await urls('besluittypen', { ...all, zaaktypen: zaaktype }), [bt])
  t.same(await urls('besluittypen', { ...all, informatieobjecttypen: iot }), [bt])
  t.same(await urls('besluittypen', { ...all, omschrijving: 'Besluit' }), [bt])
  t.same(await urls('besluittypen', { ...all, zaaktypen: iot }), [], 'a URL of something else finds nothing')
})

t.test('lists below a zaaktype are filtered by it', async (t) => {
  const catalogus = await givenCatalogus(test)
  const een = await post(test, 'zaaktypen', { ...zaaktypeBody(catalogus), identificatie: 'ONDER-1' })
  const twee = await post(test, 'zaaktypen', {
    ...zaaktypeBody(catalogus),
    identificatie: 'ONDER-2',
    beginGeldigheid: '2030-01-01',
  })
  const object = {
    anderObjecttype: true,
    objecttype: 'https://objecttypen.example/boom',
    relatieOmschrijving: 'De boom',
  }
  for (const [path, body] of [
    ['statustypen', (zaaktype: string) => ({ zaaktype, omschrijving: 's', volgnummer: 1 })],
    ['roltypen', (zaaktype: string) => ({ zaaktype, omschrijving: 'r', omschrijvingGeneriek: 'initiator' })],
    ['eigenschappen', eigenschapBody],
    ['resultaattypen', resultaattypeBody],
    ['zaakobjecttypen', (zaaktype: string) => ({ zaaktype, ...object })],
  ] as const) {
    const [a, b] = [
      await post(test, path, body(een)),
      await post(test, path, { ...body(twee), beginGeldigheid: '2031-01-01' }),
    ]
    t.same(await urls(path, { zaaktype: een }), [], `${path}: those of concepts are hidden`)
    t.same(await urls(path, { zaaktype: een, status: 'alles' }), [a], path)
    t.same(await urls(path, { zaaktype: een, status: 'concept' }), [a])
    t.same(await urls(path, { zaaktypeIdentificatie: 'ONDER-2', status: 'alles' }), [b])
    const op = (datumGeldigheid: string) =>
      urls(path, { zaaktypeIdentificatie: 'ONDER-2', status: 'alles', datumGeldigheid })
    t.same(await op('2030-06-01'), [], 'its own dates count')
    t.same(await op('2031-06-01'), [b])
    t.same(
      await urls(path, { zaaktype: een, status: 'alles', datumGeldigheid: '2023-12-31' }),
      [],
      'or those of its zaaktype',
    )
    t.same(await urls(path, { zaaktype: een, status: 'alles', datumGeldigheid: '2024-01-01' }), [a])
    const { body: shown } = await call('GET', b)
    t.match(shown, { zaaktypeIdentificatie: 'ONDER-2', catalogus, beginObject: '2031-01-01', eindeObject: null })
    const wrong = { ...body(een), omschrijving: 'anders', naam: 'anders', volgnummer: 9 }
    const dates = { beginGeldigheid: '2024-02-02', eindeGeldigheid: '2024-02-01' }
    t.same(faults(await call('POST', `${ZTC}/${path}`, { ...wrong, ...dates })), ['nonFieldErrors date-mismatch'])
    t.equal((await call('PATCH', a, { ...dates, eindeGeldigheid: '2024-02-02' })).status, 200, 'one day is a period')
  }
  const all = { zaaktype: een, status: 'alles' }
  t.equal((await urls('roltypen', { ...all, omschrijvingGeneriek: 'initiator' })).length, 1)
  t.equal((await urls('roltypen', { ...all, omschrijvingGeneriek: 'behandelaar' })).length, 0)
  t.equal((await urls('roltypen', { ...all, omschrijving: 'R' })).length, 1)
  t.equal((await urls('zaakobjecttypen', { ...all, anderObjecttype: 'False' })).length, 0)
  t.equal((await urls('zaakobjecttypen', { ...all, objecttype: object.objecttype, catalogus })).length, 1)
  t.equal((await urls('zaakobjecttypen', { ...all, relatieOmschrijving: 'De boom' })).length, 1)
  t.equal((await urls('zaakobjecttypen', { ...all, datumBeginGeldigheid: '2024-02-02' })).length, 1)
  t.equal((await urls('zaakobjecttypen', { ...all, datumEindeGeldigheid: '2024-02-03' })).length, 0)
  t.equal((await urls('resultaattypen', { status: 'alles', zaaktype_identificatie: 'ONDER-1' })).length, 1)
})

t.test('zaaktype-informatieobjecttypen count as definitief when both sides are published', async (t) => {
  const catalogus = await givenCatalogus(test)
  const zaaktype = await post(test, 'zaaktypen', zaaktypeBody(catalogus))
  const iot = await post(test, 'informatieobjecttypen', iotBody(catalogus))
  const ziot = await post(test, 'zaaktype-informatieobjecttypen', ziotBody(zaaktype, iot))
  const found = (query: Record<string, string>) => urls('zaaktype-informatieobjecttypen', { zaaktype, ...query })
  t.same([await found({}), await found({ status: 'concept' })], [[], [ziot]])
  await publish(test, iot)
  t.same([await found({}), await found({ status: 'concept' })], [[], [ziot]])
  await publish(test, zaaktype)
  t.same([await found({}), await found({ status: 'concept' })], [[ziot], []])
  t.same(await found({ informatieobjecttype: iot, richting: 'inkomend' }), [ziot])
  t.same(await found({ richting: 'uitgaand' }), [])
})

t.test('the statustype with the highest volgnummer is the end, whichever is added or removed', async (t) => {
  const zaaktype = await givenZaaktype(test, { concept: true, statustypen: ['Ontvangen'] })
  const eind = async () => {
    const { body } = await call('GET', `${ZTC}/statustypen?status=alles&zaaktype=${encodeURIComponent(zaaktype)}`)
    return body.results
      .filter((s: { isEindstatus: boolean }) => s.isEindstatus)
      .map((s: { volgnummer: number }) => s.volgnummer)
  }
  t.same(await eind(), [1])
  const etag = (await call('GET', zaaktype)).headers.etag
  const last = await post(test, 'statustypen', { zaaktype, omschrijving: 'Klaar', volgnummer: 9999 })
  t.same(await eind(), [9999])
  t.not((await call('GET', zaaktype)).headers.etag, etag, 'the ETag of the zaaktype goes with it')
  await call('DELETE', last)
  t.same(await eind(), [1])
  t.same(faults(await call('POST', `${ZTC}/statustypen`, { zaaktype, omschrijving: 'x', volgnummer: 10000 })), [
    'volgnummer max_value',
  ])
  const checklist = [{ itemnaam: 'a', vraagstelling: 'b', verplicht: true, toelichting: '' }]
  const status = { zaaktype, omschrijving: 'x', volgnummer: 5, checklistitemStatustype: checklist, doorlooptijd: 'P3D' }
  const made = await call('POST', `${ZTC}/statustypen`, status)
  t.same(made.body.checklistitemStatustype, checklist)
  t.equal(made.body.doorlooptijd, 'P3D')
  t.same((await call('PATCH', made.body.url, { checklistitemStatustype: [] })).body.checklistitemStatustype, [])
})

t.test('a stage lasts one to 999 days', async (t) => {
  const zaaktype = await givenZaaktype(test, { concept: true })
  let volgnummer = 0
  const create = (doorlooptijd: string | null) =>
    call('POST', `${ZTC}/statustypen`, { zaaktype, omschrijving: 'x', volgnummer: ++volgnummer, doorlooptijd })
  for (const taken of ['P1D', 'PT24H', 'P2Y', 'P33M', 'P999D', null])
    t.same(faults(await create(taken)), [], `${taken} is taken`)
  t.same(faults(await create('PT23H')), ['doorlooptijd min_value'])
  for (const long of ['P1000D', 'P3Y', 'P143W']) t.same(faults(await create(long)), ['doorlooptijd max_value'])
  const made = (await create('P5D')).body.url
  t.same(faults(await call('PATCH', made, { doorlooptijd: 'P1000D' })), ['doorlooptijd max_value'])
  t.equal((await call('PATCH', made, { doorlooptijd: 'P6D' })).body.doorlooptijd, 'P6D')
})

t.test('names and numbers are unique within a zaaktype', async (t) => {
  const catalogus = await givenCatalogus(test)
  const zaaktype = await post(test, 'zaaktypen', zaaktypeBody(catalogus))
  const iot = await post(test, 'informatieobjecttypen', iotBody(catalogus))
  for (const [path, body] of [
    ['statustypen', { zaaktype, omschrijving: 's', volgnummer: 1 }],
    ['roltypen', { zaaktype, omschrijving: 'r', omschrijvingGeneriek: 'initiator' }],
    ['eigenschappen', eigenschapBody(zaaktype)],
    ['resultaattypen', resultaattypeBody(zaaktype)],
    ['zaaktype-informatieobjecttypen', ziotBody(zaaktype, iot)],
  ] as const) {
    await post(test, path, body)
    t.same(faults(await call('POST', `${ZTC}/${path}`, body)), ['nonFieldErrors unique'], path)
  }
  const { body } = await call('GET', catalogus)
  t.same(faults(await call('POST', `${ZTC}/catalogussen`, body)), ['nonFieldErrors unique'])
})

t.test('ztc-015: the length of an eigenschap fits its format', async (t) => {
  const zaaktype = await givenZaaktype(test, { concept: true })
  let counter = 0
  const make = (formaat: string, lengte: string, kardinaliteit = '1', more: object = {}) =>
    call('POST', `${ZTC}/eigenschappen`, {
      ...eigenschapBody(zaaktype, `e${++counter}`),
      specificatie: { formaat, lengte, kardinaliteit, ...more },
    })
  for (const [formaat, good, bad] of [
    ['tekst', ['0', '255'], ['256', 'x', '-1', '1,0']],
    ['getal', ['5', '10,2'], ['x', '1.5', '1,']],
    ['datum', ['8'], ['10', '14']],
    ['datum_tijd', ['14'], ['8']],
  ] as const) {
    for (const lengte of good) t.equal((await make(formaat, lengte)).status, 201, `${formaat} ${lengte}`)
    for (const lengte of bad)
      t.same(faults(await make(formaat, lengte)), ['specificatie.nonFieldErrors invalid'], `${formaat} ${lengte}`)
  }
  t.equal((await make('tekst', '1', 'N')).status, 201)
  t.same(faults(await make('tekst', '1', '0')), ['specificatie.kardinaliteit invalid'])
  t.same(faults(await make('tekst', '1', '1', { groep: 'a-b' })), ['specificatie.groep invalid'])
})

t.test('a statustype is one of the same zaaktype', async (t) => {
  const catalogus = await givenCatalogus(test)
  const zaaktype = await post(test, 'zaaktypen', zaaktypeBody(catalogus))
  const other = await post(test, 'zaaktypen', { ...zaaktypeBody(catalogus), identificatie: 'ANDER' })
  const own = await post(test, 'statustypen', { zaaktype, omschrijving: 's', volgnummer: 1 })
  const strange = await post(test, 'statustypen', { zaaktype: other, omschrijving: 's', volgnummer: 1 })
  const iot = await post(test, 'informatieobjecttypen', iotBody(catalogus))
  const object = { zaaktype, anderObjecttype: true, objecttype: 'https://o.example/1', relatieOmschrijving: 'x' }
  for (const [path, body] of [
    ['eigenschappen', eigenschapBody(zaaktype)],
    ['zaakobjecttypen', object],
    ['zaaktype-informatieobjecttypen', ziotBody(zaaktype, iot)],
  ] as const) {
    t.same(faults(await call('POST', `${ZTC}/${path}`, { ...body, statustype: strange })), [
      'nonFieldErrors relations-incorrect-zaaktype',
    ])
    t.same(faults(await call('POST', `${ZTC}/${path}`, { ...body, statustype: zaaktype })), [
      'statustype incorrect_match',
    ])
    const made = await call('POST', `${ZTC}/${path}`, { ...body, statustype: own })
    t.equal(made.body.statustype, own)
  }
  const shown = (await call('GET', own)).body
  t.same([shown.eigenschappen.length, shown.zaakobjecttypen.length], [1, 1])
})

t.test('ztc-014: who may read cases or documents reads the types, and does not write them', async (t) => {
  const catalogus = await givenCatalogus(test)
  await givenClient(test, 'zaaklezer', [
    { component: 'zrc', scopes: ['zaken.lezen'], typeUuid: uuidOf(catalogus), max: 'openbaar' },
  ])
  await givenClient(test, 'documentlezer', [
    { component: 'drc', scopes: ['documenten.lezen'], typeUuid: uuidOf(catalogus), max: 'openbaar' },
  ])
  await givenClient(test, 'zaakmaker', [
    { component: 'zrc', scopes: ['zaken.aanmaken'], typeUuid: uuidOf(catalogus), max: 'openbaar' },
  ])
  for (const as of ['zaaklezer', 'documentlezer']) {
    for (const path of ['zaaktypen', 'statustypen', 'informatieobjecttypen', 'catalogussen'])
      t.equal((await call('GET', `${ZTC}/${path}`, undefined, { as })).status, 200, `${as} ${path}`)
    t.equal((await call('GET', catalogus, undefined, { as })).status, 200)
    t.equal((await call('POST', `${ZTC}/zaaktypen`, zaaktypeBody(catalogus), { as })).status, 403)
  }
  t.equal((await call('GET', `${ZTC}/zaaktypen`, undefined, { as: 'zaakmaker' })).status, 403)
})

t.test('ztc-017: a catalogue with types is not deleted', async (t) => {
  const catalogus = await givenCatalogus(test)
  t.equal((await call('PATCH', catalogus, { naam: 'Naam', versie: '2' })).body.naam, 'Naam')
  const iot = await post(test, 'informatieobjecttypen', iotBody(catalogus))
  const refused = await call('DELETE', catalogus)
  t.equal(refused.status, 409)
  t.equal(refused.body.code, 'CATALOG_NOT_EMPTY')
  t.match((await call('GET', catalogus)).body, {
    informatieobjecttypen: [iot],
    informatieobjecttypeOmschrijving: ['Brief'],
  })
  await call('DELETE', iot)
  t.equal((await call('DELETE', catalogus)).status, 204)
})

t.test('a type that is in use is not deleted, not even with the forced scope', async (t) => {
  const iot = await givenInformatieobjecttype(test)
  const document = {
    bronorganisatie: '296648875',
    creatiedatum: '2025-01-01',
    titel: 'Brief',
    auteur: 'Auteur',
    taal: 'dut',
    informatieobjecttype: iot,
  }
  const made = await call('POST', '/documenten/api/v1/enkelvoudiginformatieobjecten', document)
  t.equal(made.status, 201)
  const refused = await call('DELETE', iot, undefined, { as: 'corrector' })
  t.equal(refused.status, 409)
  t.equal(refused.body.code, 'conflict')
  t.equal((await call('GET', iot)).status, 200)
})

t.test('rights that name a version end with it', async (t) => {
  const zaaktype = await givenZaaktype(test)
  await givenClient(test, 'houder', [
    { component: 'zrc', scopes: ['zaken.lezen'], typeUuid: uuidOf(zaaktype), max: 'geheim' },
  ])
  t.equal((await call('GET', zaaktype, undefined, { as: 'houder' })).status, 200)
  await call('DELETE', zaaktype)
  const [left] = await test.database
    .sql`select count(*)::int as n from autorisatie where type_uuid = ${uuidOf(zaaktype)}`
  t.equal(left!.n, 0)
})

t.test('expand includes types in lists and details, to three levels', async (t) => {
  const catalogus = await givenCatalogus(test)
  const iot = await post(test, 'informatieobjecttypen', iotBody(catalogus))
  const zaaktype = await givenZaaktype(test, {
    catalogus,
    concept: true,
    statustypen: ['A', 'B'],
    informatieobjecttypen: [iot],
  })
  const [statustype] = (await call('GET', zaaktype)).body.statustypen
  t.equal((await call('GET', zaaktype)).body._expand, undefined, 'only where it is asked')
  const detail = await call('GET', `${statustype}?expand=zaaktype.informatieobjecttypen.catalogus,catalogus`)
  t.equal(detail.body._expand.catalogus.url, catalogus)
  const [included] = detail.body._expand.zaaktype._expand.informatieobjecttypen
  t.equal(included.url, iot)
  t.equal(included._expand.catalogus.url, catalogus)
  const list = await call(
    'GET',
    `${ZTC}/zaaktypen?status=alles&expand=statustypen&catalogus=${encodeURIComponent(catalogus)}`,
  )
  t.same(
    list.body.results[0]._expand.statustypen.map(({ omschrijving }: { omschrijving: string }) => omschrijving),
    ['A', 'B'],
  )
  for (const path of ['anders', 'zaaktype.catalogus.zaaktypen.catalogus'])
    t.same(faults(await call('GET', `${statustype}?expand=${path}`)), ['expand invalid_choice'])
})

t.test('expand includes related zaaktypen of ours', async (t) => {
  const catalogus = await givenCatalogus(test)
  const vervolg = await givenZaaktype(test, { catalogus, identificatie: 'VERVOLG' })
  const zaaktype = await givenZaaktype(test, {
    catalogus,
    gerelateerdeZaaktypen: [
      { zaaktype: 'https://elders.example/zaaktypen/1', aardRelatie: 'bijdrage' },
      { zaaktype: vervolg, aardRelatie: 'vervolg' },
    ],
  })
  const { body } = await call('GET', `${zaaktype}?expand=gerelateerdeZaaktypen.catalogus`)
  const included = body._expand.gerelateerdeZaaktypen
  t.same(
    included.map(({ url }: { url: string }) => url),
    [vervolg],
  )
  t.equal(included[0]._expand.catalogus.url, catalogus)
})

t.test('a page of zaaktypen takes as many queries as one zaaktype', async (t) => {
  const catalogus = await givenCatalogus(test)
  for (let place = 0; place < 3; place++)
    await givenZaaktype(test, { catalogus, identificatie: `N${place}`, statustypen: ['A'] })
  // The rights of the client are read again once the process was told of the change of types, and settings when they are old.
  const queries = await until(
    'a page with nothing read beside it',
    async () => {
      const count = await countQueries(() => urls('zaaktypen', { catalogus }))
      return count <= 3 && count
    },
    10_000,
  )
  t.ok(queries > 0, `${queries} queries`)
})

/** Queries that one piece of work sends, counted by the database itself. */
async function countQueries(work: () => Promise<unknown>): Promise<number> {
  const { sql } = test.database
  const seen: string[] = []
  const reserve = sql.reserve
  Object.assign(sql, {
    reserve: async () => {
      const connection = await reserve.call(sql)
      const unsafe = connection.unsafe
      connection.unsafe = ((text: string, ...rest: never[]) => {
        seen.push(text)
        return unsafe.call(connection, text, ...rest)
      }) as typeof unsafe
      return connection
    },
  })
  try {
    await work()
  } finally {
    Object.assign(sql, { reserve })
  }
  return seen.length
}

t.test('the catalogus of a resultaattype or roltype is that of its zaaktype, when it is given', async (t) => {
  const [own, other] = [await givenCatalogus(test), await givenCatalogus(test)]
  const zaaktype = await givenZaaktype(test, { catalogus: own, concept: true })
  const elders = await givenZaaktype(test, { catalogus: other, concept: true })
  const roltype = { zaaktype, omschrijving: 'Melder', omschrijvingGeneriek: 'initiator' }
  for (const [path, body] of [
    ['roltypen', roltype],
    ['resultaattypen', resultaattypeBody(zaaktype)],
  ] as const) {
    const at = `${ZTC}/${path}`
    for (const catalogus of [other, 'https://elders.example/catalogussen/1', zaaktype])
      t.same(faults(await call('POST', at, { ...body, catalogus })), ['catalogus relations-incorrect-catalogus'])
    t.same(faults(await call('POST', at, { ...body, catalogus: 'x' })), ['catalogus invalid'])
    const url = await post(test, path, { ...body, catalogus: own })
    await post(test, path, { ...body, omschrijving: 'Zonder', catalogus: null })
    for (const method of ['PUT', 'PATCH']) {
      const wrong = await call(method, url, { ...body, catalogus: other })
      t.same(faults(wrong), ['catalogus relations-incorrect-catalogus'], method)
      t.equal((await call(method, url, { ...body, catalogus: own })).status, 200)
    }
    t.match((await call('PATCH', url, { zaaktype: elders })).body, { catalogus: other }, 'it goes with the zaaktype')
  }
})

t.test('a term of a type is not negative and at most a hundred years, of archiving five hundred', async (t) => {
  const catalogus = await givenCatalogus(test)
  const zaaktype = await givenZaaktype(test, { catalogus, concept: true })
  for (const term of ['P300000Y', 'P-1D', 'P501Y', `P${'9'.repeat(400)}D`, 'P101Y']) {
    const answers = {
      zaaktypen: {
        ...zaaktypeBody(catalogus),
        doorlooptijd: term,
        servicenorm: term,
        verlengingMogelijk: true,
        verlengingstermijn: term,
      },
      besluittypen: { ...besluittypeBody(catalogus), reactietermijn: term, publicatietermijn: term },
      statustypen: { zaaktype, omschrijving: 'Begin', volgnummer: 1, doorlooptijd: term },
      resultaattypen: {
        ...resultaattypeBody(zaaktype),
        archiefactietermijn: term,
        procestermijn: term,
        brondatumArchiefprocedure: { afleidingswijze: 'termijn', procestermijn: term },
      },
    }
    const expected = {
      zaaktypen: ['doorlooptijd', 'servicenorm', 'verlengingstermijn'],
      besluittypen: ['reactietermijn', 'publicatietermijn'],
      statustypen: ['doorlooptijd'],
      resultaattypen:
        term === 'P101Y' ? [] : ['archiefactietermijn', 'brondatumArchiefprocedure.procestermijn', 'procestermijn'],
    }
    for (const path of ['zaaktypen', 'besluittypen', 'statustypen', 'resultaattypen'] as const)
      t.same(
        faults(await call('POST', `${ZTC}/${path}`, answers[path])),
        expected[path].map((name) => `${name} invalid`),
        `${path} ${term.slice(0, 10)}`,
      )
  }
})

t.test('statustypen name the eigenschappen that need a value, from either side', async (t) => {
  const catalogus = await givenCatalogus(test)
  const zaaktype = await givenZaaktype(test, { catalogus, concept: true })
  const other = await givenZaaktype(test, { catalogus, concept: true, identificatie: 'ANDER' })
  const eigenschap = (naam: string, of = zaaktype) => post(test, 'eigenschappen', { ...eigenschapBody(of), naam })
  const [a, b, strange] = [await eigenschap('a'), await eigenschap('b'), await eigenschap('c', other)]
  const body = { zaaktype, omschrijving: 'S', volgnummer: 7 }
  const made = await call('POST', `${ZTC}/statustypen`, { ...body, eigenschappen: [a, null] })
  t.same(made.body.eigenschappen, [a])
  const { url } = made.body
  t.equal((await call('GET', a)).body.statustype, url)
  t.same((await call('PATCH', url, { omschrijving: 'T' })).body.eigenschappen, [a], 'not named: as it was')
  t.same((await call('PUT', url, { ...body, eigenschappen: [b] })).body.eigenschappen, [b])
  t.equal((await call('GET', a)).body.statustype, null)
  t.same(faults(await call('PATCH', url, { eigenschappen: [b, strange, zaaktype] })), [
    'eigenschappen.1 relations-incorrect-zaaktype',
    'eigenschappen.2 does_not_exist',
  ])
  t.same((await call('PATCH', url, { eigenschappen: [] })).body.eigenschappen, [])
})

t.test('Catalogi 1.4: a zaakobjecttype may name its catalogus, and a zaaktype go without versiedatum', async (t) => {
  const [own, other] = [await givenCatalogus(test), await givenCatalogus(test)]
  const { versiedatum: _, ...body } = zaaktypeBody(own)
  const made = await call('POST', `${ZTC}/zaaktypen`, body)
  t.equal(made.body.versiedatum, made.body.beginGeldigheid)
  const object = {
    zaaktype: made.body.url,
    anderObjecttype: true,
    objecttype: 'https://o.example/1',
    relatieOmschrijving: 'o',
  }
  const at = `${ZTC}/zaakobjecttypen`
  t.same(faults(await call('POST', at, { ...object, catalogus: other })), ['catalogus relations-incorrect-catalogus'])
  t.match((await call('POST', at, { ...object, catalogus: own })).body, { catalogus: own })
})
