// zrc-003, zrc-007 and zrc-022 look at documents elsewhere as they do at ours.
import t, { type Test } from 'tap'
import { givenInformatieobjecttype, givenZaaktype, testApp } from '../app.ts'
import { givenOtherServer } from '../other-server.ts'
import { CRS, faultsOf, givenResultaattype, givenZaak, made, ZAKEN } from './given.ts'

async function givenZaakWithDocumentElsewhere(t: Test) {
  const test = await testApp(t)
  const informatieobjecttype = await givenInformatieobjecttype(test)
  const { catalogus } = (await test.call('GET', informatieobjecttype)).body
  const zaaktype = await givenZaaktype(test, {
    catalogus,
    informatieobjecttypen: [informatieobjecttype],
    statustypen: ['Begin', 'Eind'],
  })
  const resultaattype = await givenResultaattype(test, zaaktype, { afleidingswijze: 'afgehandeld' })
  const { statustypen } = (await test.call('GET', zaaktype)).body
  const zaak = (await givenZaak(test, { zaaktype })).url
  const document = {
    bronorganisatie: '517439943',
    informatieobjecttype,
    locked: false,
    indicatieGebruiksrecht: false as boolean | null,
    status: 'definitief',
  }
  const elders = await givenOtherServer(t, test, { '/drc/documenten/1': document })
  const informatieobject = `${elders.root}/drc/documenten/1`
  made(await test.call('POST', `${ZAKEN}/zaakinformatieobjecten`, { zaak, informatieobject }))
  let second = 10
  const status = (statustype: string) => ({ statustype, datumStatusGezet: `2026-03-05T10:00:${second++}Z` })
  return { test, zaak, document, elders, resultaattype, status, begin: statustypen[0], eind: statustypen[1] }
}

t.test(
  'zrc-007: a case does not close while a document elsewhere is locked, or its rights are not known',
  async (t) => {
    const { test, zaak, document, elders, resultaattype, status, begin, eind } = await givenZaakWithDocumentElsewhere(t)
    const post = (statustype: string) => test.call('POST', `${ZAKEN}/statussen`, { zaak, ...status(statustype) })
    const closeZaak = async () =>
      faultsOf(
        await test.call('POST', zaak.replace('/zaken/api/v1/zaken/', '/zaken/api/v1/zaak_afsluiten/'), {
          zaak: {},
          resultaat: { resultaattype },
          status: status(eind),
        }),
      )
    const gevallen: [object, string[]][] = [
      [{ locked: true }, ['informatieobject-locked']],
      [{ indicatieGebruiksrecht: null }, ['indicatiegebruiksrecht-unset']],
      [{ locked: true, indicatieGebruiksrecht: null }, ['informatieobject-locked', 'indicatiegebruiksrecht-unset']],
    ]
    const goed = { ...document }
    for (const [wijziging, codes] of gevallen) {
      Object.assign(document, goed, wijziging)
      t.same(
        await closeZaak(),
        codes.map((code) => `status.nonFieldErrors: ${code}`),
      )
      t.same(faultsOf(await post(eind)), [
        ...codes.map((code) => `nonFieldErrors: ${code}`),
        'nonFieldErrors: resultaat-does-not-exist',
      ])
      t.equal((await post(begin)).status, 201, 'another status asks nothing of documents')
    }
    Object.assign(document, goed)
    delete elders.resources['/drc/documenten/1']
    const refused = await post(eind)
    t.same(faultsOf(refused)[0], 'nonFieldErrors: indicatiegebruiksrecht-unset')
    t.match(refused.body.invalidParams[0].reason, 'niet op te vragen')
    t.equal((await post(begin)).status, 201)
    elders.resources['/drc/documenten/1'] = document
    t.same(await closeZaak(), [])
    t.match((await test.call('GET', zaak, undefined, CRS)).body, { einddatum: '2026-03-05' })
  },
)

t.test('zrc-022: a case is not archived while a document elsewhere is not', async (t) => {
  const { test, zaak, document, elders } = await givenZaakWithDocumentElsewhere(t)
  const patch = async () =>
    faultsOf(
      await test.call(
        'PATCH',
        zaak,
        { archiefstatus: 'overgedragen', archiefnominatie: 'vernietigen', archiefactiedatum: '2030-01-01' },
        CRS,
      ),
    )
  t.same(await patch(), ['archiefstatus: documents-not-archived'])
  document.status = 'gearchiveerd'
  delete elders.resources['/drc/documenten/1']
  t.same(await patch(), ['archiefstatus: documents-not-archived'])
  elders.resources['/drc/documenten/1'] = document
  t.same(await patch(), [])
})

t.test('zrc-003, zrc-017: a document elsewhere is there, and of a type of the zaaktype', async (t) => {
  const { test, zaak, document, elders } = await givenZaakWithDocumentElsewhere(t)
  const link = (path: string) =>
    test.call('POST', `${ZAKEN}/zaakinformatieobjecten`, { zaak, informatieobject: `${elders.root}${path}` })
  t.same(faultsOf(await link('/drc/documenten/weg')), ['informatieobject: bad-url'])
  elders.resources['/drc/documenten/anders'] = { naam: 'geen document' }
  t.same(faultsOf(await link('/drc/documenten/anders')), ['informatieobject: invalid-resource'])
  elders.resources['/drc/documenten/2'] = { ...document, informatieobjecttype: await givenInformatieobjecttype(test) }
  const relation = 'nonFieldErrors: missing-zaaktype-informatieobjecttype-relation'
  t.same(faultsOf(await link('/drc/documenten/2')), [relation])
  t.equal((await test.database.sql`select from zaakinformatieobject`).length, 1)
})
