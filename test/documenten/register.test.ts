import t from 'tap'
import { givenCatalogus, givenClient, givenInformatieobjecttype, givenZaaktype, testApp, uuidOf } from '../app.ts'
import { base64, DRC, EIO, faults, newDocument } from './documenten.ts'

const URL_ = `${DRC}/document_registreren`

t.test('document_registreren makes a document within a case, or nothing', async (t) => {
  const test = await testApp(t)
  const catalogus = await givenCatalogus(test)
  const type = await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Brief' })
  const other = await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Ander' })
  const zaaktype = await givenZaaktype(test, { catalogus, informatieobjecttypen: [type] })
  const crs = { headers: { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' } }
  const zaakBody = {
    zaaktype,
    bronorganisatie: '517439943',
    verantwoordelijkeOrganisatie: '517439943',
    startdatum: '2026-03-02',
  }
  const zaak = (await test.call('POST', '/zaken/api/v1/zaken', zaakBody, crs)).body
  const document = newDocument(type, { inhoud: base64('inhoud') })
  const post = (body: object, as = 'beheer') => test.call('POST', URL_, body, { as })

  const made = await post({
    enkelvoudiginformatieobject: document,
    zaakinformatieobject: { zaak: zaak.url, titel: 'T' },
  })
  t.equal(made.status, 201, made.status === 201 ? '' : made.text)
  t.match(made.body, {
    enkelvoudiginformatieobject: { bestandsomvang: 6, lock: '', versie: 1 },
    zaakinformatieobject: { zaak: zaak.url, titel: 'T', informatieobject: made.body.enkelvoudiginformatieobject?.url },
  })
  t.equal((await test.call('GET', made.body.enkelvoudiginformatieobject.inhoud)).text, 'inhoud')
  t.equal((await test.call('GET', `${DRC}/objectinformatieobjecten`)).body[0].object, zaak.url)
  const refused = await test.call('DELETE', made.body.enkelvoudiginformatieobject.url)
  t.same(faults(refused), ['nonFieldErrors: pending-relations'])

  const zaakinformatieobject = { zaak: zaak.url }
  const absent = zaak.url.replace(uuidOf(zaak.url), crypto.randomUUID())
  for (const [body, expected] of [
    [{ zaakinformatieobject }, ['enkelvoudiginformatieobject: required']],
    [{ enkelvoudiginformatieobject: document }, ['zaak: required']],
    [{ enkelvoudiginformatieobject: document, zaakinformatieobject: {} }, ['zaak: required']],
    [
      { enkelvoudiginformatieobject: document, zaakinformatieobject: { zaak: absent } },
      ['zaak: object-does-not-exist'],
    ],
    [
      { enkelvoudiginformatieobject: { ...document, titel: '', inhoud: '!' }, zaakinformatieobject },
      ['enkelvoudiginformatieobject.titel: blank', 'enkelvoudiginformatieobject.inhoud: invalid-base64'],
    ],
    [
      { enkelvoudiginformatieobject: { ...document, informatieobjecttype: other }, zaakinformatieobject },
      ['zaakinformatieobject.nonFieldErrors: missing-zaaktype-informatieobjecttype-relation'],
    ],
  ] as const) {
    t.same(faults(await post(body)), expected)
  }
  const right = { component: 'drc', scopes: ['documenten.aanmaken'], typeUuid: uuidOf(type), max: 'zeer_geheim' }
  await givenClient(test, 'zonderzaken', [right])
  t.equal((await post({ enkelvoudiginformatieobject: document, zaakinformatieobject }, 'zonderzaken')).status, 403)
  t.equal((await test.call('GET', EIO)).body.count, 1, 'nothing remains of what was refused')
  t.equal((await Array.fromAsync(test.parts.store.list())).length, 1)
})
