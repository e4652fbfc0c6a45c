import t from 'tap'
import { givenCatalogus, testApp } from '../app.ts'
import {
  besluittypeBody,
  faults,
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
const UNKNOWN = '00000000-0000-4000-8000-000000000000'

t.test('a relation is taken as URL and as omschrijving or identificatie, and answered as URL', async (t) => {
  const catalogus = await givenCatalogus(test)
  const iot = await post(test, 'informatieobjecttypen', iotBody(catalogus))
  const deel = await post(test, 'zaaktypen', { ...zaaktypeBody(catalogus), identificatie: 'DEEL' })
  for (const [iotNaam, deelNaam] of [
    [iot, deel],
    ['Brief', 'DEEL'],
  ] as [string, string][]) {
    const own = { omschrijving: `Besluit ${iotNaam.length}` }
    const bt = await call('POST', `${ZTC}/besluittypen`, {
      ...besluittypeBody(catalogus),
      ...own,
      informatieobjecttypen: [iotNaam, iotNaam],
    })
    t.same(bt.body.informatieobjecttypen, [iot], 'named twice counts once')
    t.same(bt.body.vastgelegdIn, ['Brief'])
    const zt = await call('POST', `${ZTC}/zaaktypen`, {
      ...zaaktypeBody(catalogus),
      identificatie: `HOOFD${iotNaam.length}`,
      besluittypen: [iotNaam === iot ? bt.body.url : own.omschrijving],
      deelzaaktypen: [deelNaam],
      gerelateerdeZaaktypen: [
        { zaaktype: deelNaam, aardRelatie: 'vervolg' },
        { zaaktype: 'https://elders.example/zaaktypen/1', aardRelatie: 'bijdrage', toelichting: 'x' },
      ],
    })
    t.equal(zt.status, 201)
    t.match(zt.body, { besluittypen: [bt.body.url], besluittypeOmschrijving: [own.omschrijving] })
    t.match(zt.body, { deelzaaktypen: [deel], deelzaaktypeIdentificaties: ['DEEL'] })
    t.same(zt.body.gerelateerdeZaaktypen, [
      { zaaktype: deel, zaaktypeIdentificatie: 'DEEL', aardRelatie: 'vervolg', toelichting: '' },
      {
        zaaktype: 'https://elders.example/zaaktypen/1',
        zaaktypeIdentificatie: '',
        aardRelatie: 'bijdrage',
        toelichting: 'x',
      },
    ])
    const ziot = await call('POST', `${ZTC}/zaaktype-informatieobjecttypen`, ziotBody(zt.body.url, iotNaam))
    t.equal(ziot.body.informatieobjecttype, iot)
    const rt = { ...resultaattypeBody(zt.body.url), besluittypen: [own.omschrijving], informatieobjecttypen: [iotNaam] }
    const resultaattype = await call('POST', `${ZTC}/resultaattypen`, rt)
    t.match(resultaattype.body, { informatieobjecttypen: [iot], informatieobjecttypeOmschrijving: ['Brief'] })
    t.match((await call('GET', bt.body.url)).body, {
      zaaktypen: [zt.body.url],
      resultaattypen: [resultaattype.body.url],
      resultaattypenOmschrijving: ['Toegekend'],
    })
    t.equal((await call('PUT', zt.body.url, (await call('GET', zt.body.url)).body)).status, 200, 'an answer can be put')
  }
  t.same((await call('GET', iot)).body.zaaktypeIdentificaties.sort(), [`HOOFD${iot.length}`, 'HOOFD5'].sort())
})

t.test('relations to what is not there are refused by field', async (t) => {
  const catalogus = await givenCatalogus(test)
  const iot = await post(test, 'informatieobjecttypen', iotBody(catalogus))
  const url = (path: string, uuid = UNKNOWN) => `http://localhost${ZTC}/${path}/${uuid}`
  const zaaktype = (more: object) => call('POST', `${ZTC}/zaaktypen`, { ...zaaktypeBody(catalogus), ...more })
  t.same(faults(await zaaktype({ besluittypen: [url('besluittypen')] })), ['besluittypen does_not_exist'])
  t.same(faults(await zaaktype({ besluittypen: ['Onbekend'] })), ['besluittypen does_not_exist'])
  t.same(faults(await zaaktype({ besluittypen: [iot] })), ['besluittypen incorrect_match'])
  t.same(faults(await zaaktype({ besluittypen: ['https://elders.example/bt/1'] })), ['besluittypen no_match'])
  t.same(faults(await zaaktype({ besluittypen: [`http://localhost/geen/api`] })), ['besluittypen no_match'])
  const gerelateerd = (zaaktype: string) => ({ zaaktype, aardRelatie: 'vervolg' })
  t.same(
    faults(
      await zaaktype({
        deelzaaktypen: ['X'],
        gerelateerdeZaaktypen: [gerelateerd('https://elders.example/1'), gerelateerd('Y'), gerelateerd(iot)],
      }),
    ),
    [
      'deelzaaktypen does_not_exist',
      'gerelateerdeZaaktypen.1.zaaktype does_not_exist',
      'gerelateerdeZaaktypen.2.zaaktype incorrect_match',
    ],
    'all at once',
  )
  t.same(faults(await zaaktype({ gerelateerdeZaaktypen: [{ zaaktype: 'X', aardRelatie: 'anders' }] })), [
    'gerelateerdeZaaktypen.0.aardRelatie invalid_choice',
  ])
  t.same(faults(await zaaktype({ catalogus: url('catalogussen') })), ['catalogus does_not_exist'])
  t.same(faults(await zaaktype({ catalogus: iot })), ['catalogus incorrect_match'])
  t.same(faults(await zaaktype({ catalogus: 'geen url' })), ['catalogus bad-url'])
  const statustype = { zaaktype: url('zaaktypen'), omschrijving: 's', volgnummer: 1 }
  t.same(faults(await call('POST', `${ZTC}/statustypen`, statustype)), ['zaaktype does_not_exist'])
  t.same(faults(await call('POST', `${ZTC}/statustypen`, { ...statustype, zaaktype: iot })), [
    'zaaktype incorrect_match',
  ])
})

t.test(
  'answers show the published version that is valid on the day, and a concept only when none is published',
  async (t) => {
    const catalogus = await givenCatalogus(test)
    const version = (beginGeldigheid: string, eindeGeldigheid: string | null) =>
      post(test, 'informatieobjecttypen', { ...iotBody(catalogus), beginGeldigheid, eindeGeldigheid })
    const oud = await version('2020-01-01', '2021-12-31')
    let nieuw = ''
    const besluittype = await post(test, 'besluittypen', {
      ...besluittypeBody(catalogus),
      informatieobjecttypen: [oud],
    })
    const zaaktype = await post(test, 'zaaktypen', { ...zaaktypeBody(catalogus), besluittypen: [besluittype] })
    const ziot = await post(test, 'zaaktype-informatieobjecttypen', ziotBody(zaaktype, oud))
    const shown = async (datum = '') => {
      const query = datum && `?datumGeldigheid=${datum}`
      const [bt] = (await call('GET', besluittype + query)).body.informatieobjecttypen
      const [zt] = (await call('GET', zaaktype + query)).body.informatieobjecttypen
      const linked = (await call('GET', oud)).status === 200 ? oud : nieuw
      if (!datum) t.equal((await call('GET', ziot)).body.informatieobjecttype, linked, 'the version that was linked')
      t.equal(zt, bt)
      return bt
    }
    const etag = (await call('GET', zaaktype)).headers.etag
    t.equal(await shown(), oud, 'a concept, since nothing is published')
    nieuw = await version('2022-01-01', null)
    t.equal(await shown(), oud, 'still the one that was named')
    await publish(test, nieuw)
    t.equal(await shown(), nieuw, 'the published one')
    await publish(test, oud)
    t.equal(await shown(), nieuw, 'the valid one')
    t.equal(await shown('2021-06-01'), oud, 'which is another on another day')
    t.equal(await shown('2019-01-01'), nieuw, 'the newest, when none is valid')
    t.not((await call('GET', zaaktype)).headers.etag, etag, 'the ETag goes with what is shown')
    const listed = await call(
      'GET',
      `${ZTC}/besluittypen?status=alles&informatieobjecttypen=${encodeURIComponent(nieuw)}`,
    )
    t.same(
      listed.body.results.map(({ url }: { url: string }) => url),
      [besluittype],
      'filters know all versions',
    )

    t.equal((await call('DELETE', oud)).status, 204)
    t.equal(await shown(), nieuw, 'a relation with the type outlives the version it was written with')
    t.equal((await call('DELETE', nieuw)).status, 204)
    t.same((await call('GET', zaaktype)).body.informatieobjecttypen, [], 'and ends with the last version')
  },
)

t.test('a type shows the versions that refer to it, of each the best', async (t) => {
  const catalogus = await givenCatalogus(test)
  const besluittype = await post(test, 'besluittypen', besluittypeBody(catalogus))
  const version = (beginGeldigheid: string, eindeGeldigheid: string | null, besluittypen: string[]) =>
    post(test, 'zaaktypen', { ...zaaktypeBody(catalogus), beginGeldigheid, eindeGeldigheid, besluittypen })
  const oud = await version('2020-01-01', '2021-12-31', [besluittype])
  const nieuw = await version('2022-01-01', null, [besluittype])
  await version('2030-01-01', null, [])
  const zaaktypen = async () => (await call('GET', besluittype)).body.zaaktypen
  t.same(await zaaktypen(), [oud, nieuw], 'those that refer to it')
  await publish(test, besluittype)
  await publish(test, oud)
  await publish(test, nieuw)
  t.same(await zaaktypen(), [oud, nieuw])
  const later = await post(test, 'besluittypen', { ...besluittypeBody(catalogus), beginGeldigheid: '2030-01-01' })
  t.same((await call('GET', later)).body.zaaktypen, [nieuw], 'another version: of each type the best')
  t.same((await call('GET', `${besluittype}?datumGeldigheid=2020-06-01`)).body.zaaktypen, [oud])
})

t.test('besluittypen without omschrijving are types of their own', async (t) => {
  const catalogus = await givenCatalogus(test)
  const [een, twee] = [
    await post(test, 'besluittypen', besluittypeBody(catalogus, '')),
    await post(test, 'besluittypen', besluittypeBody(catalogus, '')),
  ]
  const zaaktype = await post(test, 'zaaktypen', { ...zaaktypeBody(catalogus), besluittypen: [een, twee] })
  t.same((await call('GET', zaaktype)).body.besluittypen, [een, twee])
  t.equal((await publish(test, een)).status, 200)
  t.equal((await publish(test, twee)).status, 200, 'and do not overlap')
})

t.test('a concept that was named gives way to a published version, valid or not', async (t) => {
  const catalogus = await givenCatalogus(test)
  const oud = await post(test, 'informatieobjecttypen', { ...iotBody(catalogus), eindeGeldigheid: '2024-12-31' })
  const nieuw = await post(test, 'informatieobjecttypen', { ...iotBody(catalogus), beginGeldigheid: '2025-01-01' })
  const besluittype = await post(test, 'besluittypen', {
    ...besluittypeBody(catalogus),
    informatieobjecttypen: [nieuw],
  })
  const shown = async () => (await call('GET', besluittype)).body.informatieobjecttypen
  t.same(await shown(), [nieuw])
  await publish(test, oud)
  t.same(await shown(), [oud, nieuw], 'its URL was named')
  await publish(test, nieuw)
  t.same(await shown(), [nieuw])
})

t.test('the version that was linked stays in the answers when a new one begins', async (t) => {
  const catalogus = await givenCatalogus(test)
  const oud = await post(test, 'informatieobjecttypen', { ...iotBody(catalogus), eindeGeldigheid: '2024-12-31' })
  await publish(test, oud)
  const make = async (named: string) => {
    const zaaktype = await post(test, 'zaaktypen', { ...zaaktypeBody(catalogus), identificatie: `Z${named.length}` })
    const ziot = await post(test, 'zaaktype-informatieobjecttypen', ziotBody(zaaktype, named))
    return { zaaktype, ziot }
  }
  const [byUrl, byKey] = [await make(oud), await make('Brief')]
  const nieuw = await post(test, 'informatieobjecttypen', { ...iotBody(catalogus), beginGeldigheid: '2025-01-01' })
  await publish(test, nieuw)
  for (const { zaaktype, ziot } of [byUrl, byKey]) {
    t.same((await call('GET', zaaktype)).body.informatieobjecttypen, [nieuw, oud], 'today first')
    t.same((await call('GET', zaaktype)).body.informatieobjecttypeOmschrijving, ['Brief'])
    t.same((await call('GET', `${zaaktype}?datumGeldigheid=2024-06-01`)).body.informatieobjecttypen, [oud])
    t.same((await call('GET', `${zaaktype}?datumGeldigheid=2025-06-01`)).body.informatieobjecttypen, [nieuw])
    t.equal((await call('GET', ziot)).body.informatieobjecttype, oud)
  }
  const zaaktypen = [byUrl.zaaktype, byKey.zaaktype]
  t.same((await call('GET', oud)).body.zaaktypen, zaaktypen)
  t.same((await call('GET', nieuw)).body.zaaktypen, zaaktypen)
})

t.test('a concept that a key led to gives way to a published version: the key names the type', async (t) => {
  const catalogus = await givenCatalogus(test)
  const body = { ...zaaktypeBody(catalogus), identificatie: 'ZELF' }
  const concept = await post(test, 'zaaktypen', body)
  const zaaktype = await post(test, 'zaaktypen', { ...body, deelzaaktypen: ['ZELF'] })
  t.same((await call('GET', zaaktype)).body.deelzaaktypen, [concept])
  await publish(test, zaaktype)
  t.same((await call('GET', zaaktype)).body.deelzaaktypen, [zaaktype])
})
