// What a type asks before a status, a resultaat or the end of a case: told by X-Warning, or refused (TYPE_REQUIREMENTS).
import t from 'tap'
import { givenCatalogus, givenClient, givenInformatieobjecttype, type Json, testApp, uuidOf } from '../app.ts'
import { CRS, faultsOf, givenDocument, givenPart, givenType, givenZaak, made, ZAKEN } from './given.ts'

for (const refuses of [false, true])
  t.test(`what a type asks before a status or resultaat is ${refuses ? 'refused' : 'told'}`, async (t) => {
    const test = await testApp(t, refuses ? { TYPE_REQUIREMENTS: 'refuse' } : {})
    const { call, database } = test
    const catalogus = await givenCatalogus(test)
    const informatieobjecttype = await givenInformatieobjecttype(test, { catalogus, omschrijving: 'Aanvraag' })
    const afleiding = { afleidingswijze: 'eigenschap', datumkenmerk: 'einde', einddatumBekend: true }
    const given = { catalogus, concept: true, informatieobjecttypen: [informatieobjecttype] }
    const type = await givenType(test, afleiding, { informatieobjecttypen: [informatieobjecttype] }, given)
    const { zaaktype, begin, resultaattype, eind } = type
    const specificatie = { formaat: 'tekst', lengte: '14', kardinaliteit: '1', waardenverzameling: [] }
    const part = { zaaktype, definitie: 'x', specificatie }
    const eigenschap = await givenPart(test, 'eigenschappen', { ...part, naam: 'kleur', statustype: begin })
    const einde = await givenPart(test, 'eigenschappen', { ...part, naam: 'einde' })
    await database.sql`update zaaktype_informatieobjecttype set statustype_id = (select id from statustype where uuid = ${uuidOf(begin)})`
    t.equal((await call('POST', `${zaaktype}/publish`)).status, 200)
    const right = (scopes: string[]) => ({
      ...{ component: 'zrc', typeUuid: uuidOf(zaaktype), typeUrl: zaaktype, max: 'zeer_geheim' },
      scopes: ['zaken.lezen', 'zaken.aanmaken', 'zaken.bijwerken', 'zaken.statussen.toevoegen', ...scopes],
    })
    const as = await givenClient(test, 'balie', [right([])])
    const forced = await givenClient(test, 'overname', [right(['zaken.geforceerd-bijwerken'])])
    const moment = (
      (day) => () =>
        `2026-03-${String(++day).padStart(2, '0')}T10:00:00Z`
    )(2)
    const put = (path: string, body: object, who = as) => call('POST', `${ZAKEN}/${path}`, body, { ...CRS, as: who })
    const status = (zaak: Json, statustype: string, who = as) =>
      put('statussen', { zaak: zaak.url, statustype, datumStatusGezet: moment() }, who)
    /** Refused as such, or told in this answer. */
    const judge = (answer: { status: number; body: Json; headers: Json }, lacking: string) => {
      if (!refuses) {
        t.equal(answer.status, 201)
        t.match(answer.headers['x-warning'], lacking)
        return
      }
      t.same(faultsOf(answer), ['nonFieldErrors: requirements-not-met'])
      t.match(answer.body.invalidParams?.[0].reason, lacking)
    }
    const none = (answer: { text: string; status: number; headers: Json }) => {
      t.equal(answer.status, 201, answer.text)
      t.equal(answer.headers['x-warning'], undefined)
    }

    const zaak = await givenZaak(test, { zaaktype })
    judge(await status(zaak, begin), 'document Aanvraag, eigenschap kleur')
    judge(await put('resultaten', { zaak: zaak.url, resultaattype }), 'document Aanvraag')
    const told = await status(zaak, begin, forced)
    t.equal(told.status, 201, 'who may force is told')
    t.match(told.headers['x-warning'], 'kleur')
    await database.sql`delete from resultaat`
    made(await call('POST', `${zaak.url}/zaakeigenschappen`, { zaak: zaak.url, eigenschap, waarde: 'rood' }))
    const informatieobject = await givenDocument(test, informatieobjecttype, { indicatieGebruiksrecht: false })
    made(await put('zaakinformatieobjecten', { zaak: zaak.url, informatieobject }))
    none(await status(zaak, begin))
    none(await put('resultaten', { zaak: zaak.url, resultaattype }))
    judge(await status(zaak, eind), 'einddatum van het procesobject')
    const second = await givenZaak(test, { zaaktype })
    if (!refuses) made(await put('resultaten', { zaak: second.url, resultaattype }))
    else
      await database.sql`insert into resultaat (zaak_id, resultaattype_id)
      select z.id, r.id from zaak z, resultaattype r where z.uuid = ${second.uuid} and r.uuid = ${uuidOf(resultaattype)}`
    const known = { zaak: second.url, eigenschap: einde, waarde: '20300131' }
    made(await call('POST', `${second.url}/zaakeigenschappen`, known))
    none(await status(second, eind))

    const whole = { bronorganisatie: '517439943', verantwoordelijkeOrganisatie: '517439943', startdatum: '2026-03-02' }
    const body = {
      ...{ zaak: { ...whole, zaaktype }, rollen: [], status: { statustype: begin, datumStatusGezet: moment() } },
      zaakinformatieobjecten: [
        { informatieobject: await givenDocument(test, informatieobjecttype, { indicatieGebruiksrecht: false }) },
      ],
    }
    const registered = await put('zaak_registreren', body)
    if (refuses) {
      t.same(faultsOf(registered), ['status.nonFieldErrors: requirements-not-met'])
      t.notMatch(registered.text, 'Aanvraag', 'the document came along')
    } else t.equal(registered.headers['x-warning'], 'Het zaaktype vraagt voor deze status: eigenschap kleur.')
  })

t.test('zrc-021: gerelateerde_zaak counts gerelateerdeZaken as well', async (t) => {
  const test = await testApp(t)
  const type = await givenType(test, { afleidingswijze: 'gerelateerde_zaak' })
  const [zaak, other] = [await givenZaak(test, type), await givenZaak(test, type)]
  await test.database.sql`update zaak set einddatum = '2031-05-06' where uuid = ${other.uuid}`
  const related = await test.call('PATCH', zaak.url, { gerelateerdeZaken: [{ url: other.url }] }, CRS)
  t.equal(related.status, 200)
  made(await test.call('POST', `${ZAKEN}/resultaten`, { zaak: zaak.url, resultaattype: type.resultaattype }))
  const end = { zaak: zaak.url, statustype: type.eind, datumStatusGezet: '2026-03-05T10:00:00Z' }
  made(await test.call('POST', `${ZAKEN}/statussen`, end))
  t.equal((await test.call('GET', zaak.url, undefined, CRS)).body.archiefactiedatum, '2041-05-06')
  t.equal((await test.call('PATCH', zaak.url, { gerelateerdeZaken: [] }, CRS)).status, 200)
  t.equal((await test.call('GET', zaak.url, undefined, CRS)).body.archiefactiedatum, null, 'its source went')
})
