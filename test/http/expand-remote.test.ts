// expand of what stands at another server: shown as that server says it, left out when it does not.
import t from 'tap'
import { givenClient, givenInformatieobjecttype, givenZaaktype, testApp, uuidOf } from '../app.ts'
import { givenOtherServer } from '../other-server.ts'
import { CRS, givenZaak, made, ZAKEN, zaakBody } from '../zaken/given.ts'

t.test('what stands elsewhere is expanded, and left out when it is not there', async (t) => {
  const test = await testApp(t)
  const informatieobjecttype = await givenInformatieobjecttype(test)
  const { catalogus } = (await test.call('GET', informatieobjecttype)).body
  const besluittype = (
    await test.call('POST', '/catalogi/api/v1/besluittypen', {
      catalogus,
      omschrijving: 'Besluit',
      publicatieIndicatie: false,
      informatieobjecttypen: [informatieobjecttype],
      beginGeldigheid: '2024-01-01',
    })
  ).body.url
  await test.call('POST', `${besluittype}/publish`)
  const zaaktype = await givenZaaktype(test, {
    catalogus,
    informatieobjecttypen: [informatieobjecttype],
    besluittypen: [besluittype],
  })
  const document = { bronorganisatie: '517439943', informatieobjecttype, titel: 'Van elders' }
  const others = { url: 'x', identificatie: 'ZAAK-1', bronorganisatie: '517439943', zaaktype }
  const elders = await givenOtherServer(t, test, { '/drc/documenten/1': document, '/zrc/zaken/1': others })
  const informatieobject = `${elders.root}/drc/documenten/1`
  const zaakElders = `${elders.root}/zrc/zaken/1`
  const zaak = await givenZaak(test, {
    ...zaakBody(zaaktype),
    relevanteAndereZaken: [{ url: zaakElders, aardRelatie: 'vervolg' }],
    gerelateerdeZaken: [{ url: zaakElders }],
  })
  const zio = made(await test.call('POST', `${ZAKEN}/zaakinformatieobjecten`, { zaak: zaak.url, informatieobject }))
  const besluit = made(
    await test.call('POST', '/besluiten/api/v1/besluiten', {
      verantwoordelijkeOrganisatie: '517439943',
      besluittype,
      datum: '2024-03-01',
      ingangsdatum: '2024-03-02',
      zaak: zaakElders,
    }),
  )
  const bio = made(
    await test.call('POST', '/besluiten/api/v1/besluitinformatieobjecten', { besluit: besluit.url, informatieobject }),
  )
  const get = async (url: string, expand: string, as = 'beheer') =>
    test.call('GET', `${url}?expand=${expand}`, undefined, { ...CRS, as })
  const all = async () => [
    (await get(zio.url, 'informatieobject,informatieobject.informatieobjecttype')).body._expand,
    (await get(bio.url, 'informatieobject,besluit.zaak')).body._expand,
    (await get(zaak.url, 'relevanteAndereZaken,gerelateerdeZaken,zaakinformatieobjecten.informatieobject')).body
      ._expand,
  ]
  const titel = 'Van elders'
  t.match(await all(), [
    { informatieobject: { titel, _expand: { informatieobjecttype: { omschrijving: 'Brief' } } } },
    { informatieobject: { titel }, besluit: { _expand: { zaak: { identificatie: 'ZAAK-1' } } } },
    {
      relevanteAndereZaken: [{ identificatie: 'ZAAK-1' }],
      gerelateerdeZaken: [{ identificatie: 'ZAAK-1' }],
      zaakinformatieobjecten: [{ _expand: { informatieobject: { titel } } }],
    },
  ])

  const reader = await givenClient(test, 'lezer', [
    { component: 'zrc', scopes: ['zaken.lezen'], typeUuid: uuidOf(zaaktype), max: 'zeer_geheim' },
  ])
  t.equal((await get(zio.url, 'informatieobject', reader)).status, 403, 'only for who may read documents')

  // Without its service nothing is asked there, nor is what it said before shown any more.
  await test.database.sql`delete from service`
  t.strictSame(await all(), [
    {},
    { besluit: { ...besluit, _expand: {} } },
    {
      relevanteAndereZaken: [],
      gerelateerdeZaken: [],
      zaakinformatieobjecten: [{ ...zio, _expand: {} }],
    },
  ])
})
