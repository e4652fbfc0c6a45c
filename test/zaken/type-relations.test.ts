// zrc-013 and zrc-017 on every way in: types are compared over all their versions, within their catalogue.
import t from 'tap'
import { judgeZaken } from '../../src/zaken/import-links.ts'
import { givenInformatieobjecttype, givenZaaktype, testApp, uuidOf } from '../app.ts'
import { givenOtherServer } from '../other-server.ts'
import { CRS, faultsOf, givenDocument, givenZaak, ZAKEN } from './given.ts'

const eerder = { beginGeldigheid: '2020-01-01', eindeGeldigheid: '2023-12-31' }
const later = { beginGeldigheid: '2024-01-01' }

t.test('zrc-017: every version of a type of the zaaktype, and no other type', async (t) => {
  const test = await testApp(t)
  const { call, database } = test
  const linked = await givenInformatieobjecttype(test, eerder)
  const { catalogus } = (await call('GET', linked)).body
  const foto = await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Foto' })
  const zaaktype = await givenZaaktype(test, { catalogus, informatieobjecttypen: [linked] })
  await givenZaaktype(test, { catalogus, identificatie: 'ANDER', informatieobjecttypen: [foto] })
  const types: [string, string, boolean][] = [
    ['the version that was linked', linked, true],
    ['a later version', await givenInformatieobjecttype(test, { catalogus, ...later }), true],
    ['a type of another zaaktype', foto, false],
    ['a type of that name in another catalogue', await givenInformatieobjecttype(test), false],
  ]
  const elders = await givenOtherServer(t, test)
  const mismatch = ['nonFieldErrors: missing-zaaktype-informatieobjecttype-relation']
  for (const [naam, informatieobjecttype, belongs] of types) {
    const zaak = await givenZaak(test, { zaaktype })
    const link = (informatieobject: string) =>
      call('POST', `${ZAKEN}/zaakinformatieobjecten`, { zaak: zaak.url, informatieobject })
    const expected = belongs ? [] : mismatch
    t.same(faultsOf(await link(await givenDocument(test, informatieobjecttype))), expected, naam)
    const path = `/drc/documenten/${crypto.randomUUID()}`
    elders.resources[path] = { bronorganisatie: '517439943', informatieobjecttype, locked: false, status: 'definitief' }
    t.same(faultsOf(await link(elders.root + path)), expected, `${naam}, of a document elsewhere`)
    const [type] = await database.sql`select id from informatieobjecttype where uuid = ${uuidOf(informatieobjecttype)}`
    const faults = await judgeZaken(database.sql, [{ number: 1, zaakUuid: zaak.uuid, typeId: type!.id }])
    t.equal(faults.has(1), !belongs, `${naam}, in an import`)
  }
})

t.test('zrc-013: every version of a deelzaaktype of the hoofdzaak, and no other type', async (t) => {
  const test = await testApp(t)
  const deel = { identificatie: 'DEEL' }
  const linked = await givenZaaktype(test, { ...deel, ...eerder })
  const { catalogus } = (await test.call('GET', linked)).body
  const hoofdtype = await givenZaaktype(test, { catalogus, identificatie: 'HOOFD', deelzaaktypen: [linked] })
  const other = await givenZaaktype(test, { catalogus, identificatie: 'ANDER' })
  await givenZaaktype(test, { catalogus, identificatie: 'HOOFD2', deelzaaktypen: [other] })
  const hoofdzaak = await givenZaak(test, { zaaktype: hoofdtype })
  const types: [string, string, boolean][] = [
    ['the version that was linked', linked, true],
    ['a later version', await givenZaaktype(test, { catalogus, ...deel, ...later }), true],
    ['a part of another zaaktype', other, false],
    ['a type of that name in another catalogue', await givenZaaktype(test, deel), false],
  ]
  for (const [naam, zaaktype, belongs] of types) {
    const zaak = await givenZaak(test, { zaaktype })
    const answer = await test.call('PATCH', zaak.url, { hoofdzaak: hoofdzaak.url }, CRS)
    t.same(faultsOf(answer), belongs ? [] : ['hoofdzaak: invalid-deelzaaktype'], naam)
  }
})

t.test('zrc-022: a case is not archived while one of its documents is not', async (t) => {
  const test = await testApp(t)
  const informatieobjecttype = await givenInformatieobjecttype(test)
  const { catalogus } = (await test.call('GET', informatieobjecttype)).body
  const zaaktype = await givenZaaktype(test, { catalogus, informatieobjecttypen: [informatieobjecttype] })
  const archiveZaak = async (statussen: string[]) => {
    const zaak = (await givenZaak(test, { zaaktype })).url
    for (const status of statussen) {
      const informatieobject = await givenDocument(test, informatieobjecttype, { status })
      await test.call('POST', `${ZAKEN}/zaakinformatieobjecten`, { zaak, informatieobject })
    }
    const body = { archiefstatus: 'gearchiveerd', archiefnominatie: 'vernietigen', archiefactiedatum: '2030-01-01' }
    return faultsOf(await test.call('PATCH', zaak, body, CRS))
  }
  const refused = ['archiefstatus: documents-not-archived']
  t.same(await archiveZaak(['definitief']), refused)
  t.same(await archiveZaak(['gearchiveerd', 'in_bewerking']), refused)
  t.same(await archiveZaak(['gearchiveerd', 'gearchiveerd']), [])
  t.same(await archiveZaak([]), [])
})
