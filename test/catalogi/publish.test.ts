import t from 'tap'
import { givenCatalogus, givenClient, givenInformatieobjecttype, testApp } from '../app.ts'
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
const as = 'schrijver'

const HOOFDTYPEN = [
  { path: 'zaaktypen', body: zaaktypeBody, change: { omschrijving: 'Anders' } },
  { path: 'besluittypen', body: besluittypeBody, change: { toelichting: 'Anders' } },
  { path: 'informatieobjecttypen', body: iotBody, change: { informatieobjectcategorie: 'anders' } },
]

t.test('ztc-016: of two versions that are published at the same moment one is refused', async (t) => {
  const { sql } = test.database
  const catalogus = await givenCatalogus(test)
  const versions = [
    await post(test, 'zaaktypen', { ...zaaktypeBody(catalogus), beginGeldigheid: '2024-01-01' }),
    await post(test, 'zaaktypen', { ...zaaktypeBody(catalogus), beginGeldigheid: '2025-01-01' }),
  ]
  // Who has judged waits before it writes.
  await sql`
    create function hold() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock(16); return new; end'`
  await sql`create trigger hold before update on zaaktype for each row execute function hold()`
  const holder = await sql.reserve()
  await holder`select pg_advisory_lock(16)`
  const answers = Promise.all(versions.map((url) => publish(test, url)))
  const waiting = () =>
    sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await until('two that wait', async () => (await waiting()).length === 2)
  await holder`select pg_advisory_unlock(16)`
  holder.release()
  t.same((await answers).map(({ status }) => status).sort(), [200, 400])
  await sql`drop trigger hold on zaaktype`
})

for (const { path, body, change } of HOOFDTYPEN) {
  t.test(`ztc-009: published ${path} are not changed or deleted without the forced scopes`, async (t) => {
    const url = await post(test, path, body(await givenCatalogus(test)))
    const made = await call('GET', url)
    t.equal(made.body.concept, true)
    t.equal((await call('PATCH', url, change, { as })).status, 200, 'a concept can be changed')
    t.equal((await call('PATCH', url, { concept: false }, { as })).body.concept, true, 'concept is read-only')
    const published = await publish(test, url, as)
    t.equal(published.status, 200)
    t.equal(published.body.concept, false)
    t.equal(published.body.beginGeldigheid, '2024-01-01', 'dates are not touched')
    const before = (await call('GET', url)).body
    for (const answer of [
      await call('PUT', url, before, { as }),
      await call('PATCH', url, change, { as }),
      await call('PATCH', url, { eindeGeldigheid: '2025-01-01', ...change }, { as }),
      await call('DELETE', url, undefined, { as }),
    ]) {
      t.equal(answer.status, 400)
      t.same(faults(answer), ['nonFieldErrors non-concept-object'])
    }
    t.same((await call('GET', url)).body, before, 'nothing changed')
    t.equal((await call('PATCH', url, { eindeGeldigheid: '2025-01-01' }, { as })).status, 200, 'it can be closed')
    t.equal((await call('PATCH', url, { eindeGeldigheid: null }, { as })).status, 200, 'and reopened')
    t.equal((await call('PATCH', url, change, { as: 'corrector' })).status, 200, 'and corrected')
    t.equal((await call('DELETE', url, undefined, { as: 'corrector' })).status, 204, 'and removed')
  })

  t.test(`${path} do not end before they begin, nor leave the catalogue of what they are related to`, async (t) => {
    const catalogus = await givenCatalogus(test)
    const wrong = { beginGeldigheid: '2024-02-02', eindeGeldigheid: '2024-02-01' }
    const refused = await call('POST', `/catalogi/api/v1/${path}`, { ...body(catalogus), ...wrong })
    t.same(faults(refused), ['nonFieldErrors date-mismatch'])
    const url = await post(test, path, { ...body(catalogus), ...wrong, eindeGeldigheid: '2024-02-02' })
    for (const method of ['PATCH', 'PUT'])
      t.same(
        faults(await call(method, url, { ...body(catalogus), ...wrong })),
        ['nonFieldErrors date-mismatch'],
        method,
      )
    // As a takeover leaves it.
    const table = path.replace(/n$/, '')
    const uuid = url.split('/').at(-1)!
    await test.database.sql.unsafe(`update ${table} set einde_geldigheid = '2024-02-01' where uuid = $1`, [uuid])
    t.equal((await call('PATCH', url, { ...change })).status, 200, 'what is there already keeps its dates')
    t.same(faults(await publish(test, url)), ['nonFieldErrors date-mismatch'])
    const other = await givenCatalogus(test)
    t.equal((await call('PATCH', url, { catalogus: other })).body.catalogus, other, 'without relations it moves')
  })

  t.test(`ztc-016: published versions of ${path} do not overlap`, async (t) => {
    const catalogus = await givenCatalogus(test)
    const version = (beginGeldigheid: string, eindeGeldigheid: string | null = null) =>
      post(test, path, { ...body(catalogus), beginGeldigheid, eindeGeldigheid })
    const old = await version('2024-01-01')
    const next = await version('2025-01-01')
    t.equal((await publish(test, old)).status, 200)
    const refused = await publish(test, next)
    t.equal(refused.status, 400)
    t.same(faults(refused), ['beginGeldigheid overlap'])
    await call('PATCH', old, { eindeGeldigheid: '2025-01-01' })
    t.same(faults(await publish(test, next)), ['beginGeldigheid overlap'], 'the last day is a day of both')
    await call('PATCH', old, { eindeGeldigheid: '2024-12-31' })
    t.equal((await publish(test, next)).status, 200, 'an end on the day before is taken')
    t.same(faults(await call('PATCH', old, { eindeGeldigheid: '2025-01-01' })), ['eindeGeldigheid overlap'])
    t.same(faults(await call('PATCH', old, { eindeGeldigheid: null })), ['eindeGeldigheid overlap'])
    t.same(faults(await call('PUT', old, { ...body(catalogus), eindeGeldigheid: null }, { as: 'corrector' })), [
      'beginGeldigheid overlap',
    ])
    const other = await post(test, path, { ...body(await givenCatalogus(test)), beginGeldigheid: '2025-06-01' })
    t.equal((await publish(test, other)).status, 200, 'another catalogue is another type')
    t.equal((await publish(test, next)).status, 200, 'publishing twice is harmless')
    const { body: shown } = await call('GET', old)
    t.same([shown.beginObject, shown.eindeObject], ['2024-01-01', null], 'the object spans its versions')
    // As a takeover leaves them.
    await test.database.sql.unsafe(
      `update ${path.replace(/n$/, '')} set einde_geldigheid = '2025-01-01' where uuid = $1`,
      [old.split('/').at(-1)!],
    )
    const kept = { ...body(catalogus), eindeGeldigheid: '2025-01-01', beginGeldigheid: '2024-01-01' }
    t.equal(
      (await call('PUT', old, kept, { as: 'corrector' })).status,
      200,
      'what overlaps already can still be corrected',
    )
  })
}

t.test('two versions that are published at the same moment: one of them is refused', async (t) => {
  const catalogus = await givenCatalogus(test)
  const versions = await Promise.all(Array.from({ length: 6 }, () => post(test, 'zaaktypen', zaaktypeBody(catalogus))))
  const answers = await Promise.all(versions.map((url) => publish(test, url)))
  t.same(answers.map(({ status }) => status).sort(), [200, 400, 400, 400, 400, 400])
})

const ONDERDELEN = [
  { path: 'statustypen', body: (zaaktype: string) => ({ zaaktype, omschrijving: 'Klaar', volgnummer: 1 }) },
  {
    path: 'roltypen',
    body: (zaaktype: string) => ({ zaaktype, omschrijving: 'A', omschrijvingGeneriek: 'initiator' }),
  },
  { path: 'eigenschappen', body: eigenschapBody },
  { path: 'resultaattypen', body: resultaattypeBody },
  {
    path: 'zaakobjecttypen',
    body: (zaaktype: string) => ({
      zaaktype,
      anderObjecttype: true,
      objecttype: 'https://objecttypen.example/boom',
      relatieOmschrijving: 'De boom',
    }),
  },
]
for (const { path, body } of ONDERDELEN) {
  t.test(`ztc-010: ${path} of a published zaaktype stay as they are without the forced scopes`, async (t) => {
    const zaaktype = await post(test, 'zaaktypen', zaaktypeBody(await givenCatalogus(test)))
    const concept = await post(test, 'zaaktypen', zaaktypeBody(await givenCatalogus(test)))
    const url = await post(test, path, body(zaaktype))
    const movable = await post(test, path, body(concept))
    t.equal((await call('PATCH', url, {}, { as })).status, 200)
    await publish(test, zaaktype)
    for (const answer of [
      await call('POST', `${ZTC}/${path}`, body(zaaktype), { as }),
      await call('PUT', url, body(zaaktype), { as }),
      await call('PATCH', url, {}, { as }),
      await call('PATCH', movable, { zaaktype }, { as }),
      await call('PATCH', url, { zaaktype: concept }, { as }),
      await call('DELETE', url, undefined, { as }),
    ]) {
      t.equal(answer.status, 400)
      t.same(faults(answer), ['nonFieldErrors non-concept-zaaktype'])
    }
    t.equal((await call('PATCH', url, {}, { as: 'corrector' })).status, 200)
    t.equal((await call('DELETE', url, undefined, { as: 'corrector' })).status, 204)
    t.equal((await call('POST', `${ZTC}/${path}`, body(zaaktype), { as: 'corrector' })).status, 201)
  })
}

t.test('ztc-010: a zaaktype-informatieobjecttype is fixed once both its sides are published', async (t) => {
  const catalogus = await givenCatalogus(test)
  const zaaktype = await post(test, 'zaaktypen', zaaktypeBody(catalogus))
  const iot = await post(test, 'informatieobjecttypen', iotBody(catalogus))
  await publish(test, iot)
  const answer = await call('POST', `${ZTC}/zaaktype-informatieobjecttypen`, ziotBody(zaaktype, iot), { as })
  t.equal(answer.status, 201, 'one side is enough to be concept')
  const { url } = answer.body
  t.equal((await call('PATCH', url, { volgnummer: 2 }, { as })).status, 200)
  await publish(test, zaaktype)
  for (const refused of [
    await call('POST', `${ZTC}/zaaktype-informatieobjecttypen`, ziotBody(zaaktype, iot), { as }),
    await call('PUT', url, ziotBody(zaaktype, iot), { as }),
    await call('PATCH', url, { volgnummer: 3 }, { as }),
    await call('DELETE', url, undefined, { as }),
  ]) {
    t.equal(refused.status, 400)
    t.same(faults(refused), ['nonFieldErrors non-concept-relation'])
  }
  t.equal((await call('PATCH', url, { volgnummer: 3 }, { as: 'corrector' })).status, 200)
  t.equal((await call('DELETE', url, undefined, { as: 'corrector' })).status, 204)
})

t.test('ztc-011: published types are not linked, and what is linked to them not changed', async (t) => {
  const catalogus = await givenCatalogus(test)
  const iot = await post(test, 'informatieobjecttypen', iotBody(catalogus))
  const besluittype = await post(test, 'besluittypen', { ...besluittypeBody(catalogus), informatieobjecttypen: [iot] })
  const zaaktype = await post(test, 'zaaktypen', { ...zaaktypeBody(catalogus), besluittypen: [besluittype] })
  const resultaattype = await post(test, 'resultaattypen', {
    ...resultaattypeBody(zaaktype),
    besluittypen: [besluittype],
  })
  await publish(test, iot)
  await publish(test, besluittype)
  const refused = ['nonFieldErrors non-concept-relation']
  const newBesluittype = { ...besluittypeBody(catalogus, 'Ander'), informatieobjecttypen: [iot] }
  const newZaaktype = { ...zaaktypeBody(catalogus), identificatie: 'ANDER', besluittypen: [besluittype] }
  const newResultaattype = { ...resultaattypeBody(zaaktype), omschrijving: 'Ander', besluittypen: [besluittype] }
  for (const [path, body] of [
    ['besluittypen', newBesluittype],
    ['zaaktypen', newZaaktype],
    ['zaaktypen', { ...newZaaktype, besluittypen: ['Besluit'] }],
    ['resultaattypen', newResultaattype],
  ] as const) {
    t.same(faults(await call('POST', `${ZTC}/${path}`, body, { as })), refused, `POST ${path}`)
  }
  t.equal((await call('POST', `${ZTC}/zaaktypen`, newZaaktype, { as: 'corrector' })).status, 201)
  t.same(faults(await call('PATCH', zaaktype, { doel: 'Anders' }, { as })), refused)
  t.same(faults(await call('PATCH', resultaattype, { toelichting: 'Anders' }, { as })), refused)
  t.same(faults(await call('PATCH', besluittype, { toelichting: 'Anders' }, { as })), [
    'nonFieldErrors non-concept-object',
    'nonFieldErrors non-concept-relation',
  ])
  t.equal((await call('PATCH', zaaktype, { eindeGeldigheid: '2030-01-01' }, { as })).status, 200, 'it can be closed')
  t.same(faults(await call('DELETE', zaaktype, undefined, { as })), refused)
  t.equal((await call('PATCH', zaaktype, { doel: 'Anders' }, { as: 'corrector' })).status, 200)
})

t.test('an informatieobjecttype that published types relate to is fixed while it is a concept itself', async (t) => {
  const catalogus = await givenCatalogus(test)
  const iot = await post(test, 'informatieobjecttypen', iotBody(catalogus))
  const besluittype = await post(test, 'besluittypen', { ...besluittypeBody(catalogus), informatieobjecttypen: [iot] })
  t.equal((await publish(test, besluittype)).status, 200, 'a besluittype may be published before its documents')
  for (const answer of [
    await call('PATCH', iot, { informatieobjectcategorie: 'x' }, { as }),
    await call('DELETE', iot, undefined, { as }),
  ])
    t.same(faults(answer), ['nonFieldErrors non-concept-relation'])
})

t.test('ztc-012: a zaaktype is published after the types it relates to, and needs nothing below it', async (t) => {
  const catalogus = await givenCatalogus(test)
  const bare = await publish(test, await post(test, 'zaaktypen', zaaktypeBody(catalogus)))
  t.equal(bare.status, 200)
  t.equal(
    bare.headers['x-warning'],
    'Dit zaaktype heeft nog geen twee statustypen, geen resultaattypen, geen roltypen.',
    'what lacks is a warning',
  )
  const iot = await post(test, 'informatieobjecttypen', iotBody(catalogus))
  const besluittype = await post(test, 'besluittypen', besluittypeBody(catalogus))
  const body = { ...zaaktypeBody(catalogus), identificatie: 'B', besluittypen: [besluittype] }
  const zaaktype = await post(test, 'zaaktypen', body)
  await post(test, 'zaaktype-informatieobjecttypen', ziotBody(zaaktype, iot))
  const refused = ['nonFieldErrors concept-relation']
  t.same(faults(await publish(test, zaaktype)), refused)
  await publish(test, iot)
  t.same(faults(await publish(test, zaaktype)), refused)
  await publish(test, besluittype)
  t.equal((await publish(test, zaaktype)).status, 200)
})

t.test('ztc-013: related types are of one catalogue', async (t) => {
  const [catalogus, others] = [await givenCatalogus(test), await givenCatalogus(test)]
  const iot = await post(test, 'informatieobjecttypen', iotBody(others))
  const besluittype = await post(test, 'besluittypen', besluittypeBody(others))
  const strange = await post(test, 'zaaktypen', zaaktypeBody(others))
  const zaaktype = await post(test, 'zaaktypen', zaaktypeBody(catalogus))
  const refused = ['nonFieldErrors relations-incorrect-catalogus']
  const answer = (path: string, body: object) => call('POST', `${ZTC}/${path}`, body)
  t.same(faults(await answer('zaaktypen', { ...zaaktypeBody(catalogus), besluittypen: [besluittype] })), refused)
  t.same(faults(await answer('zaaktypen', { ...zaaktypeBody(catalogus), deelzaaktypen: [strange] })), [
    'deelzaaktypen relations-incorrect-catalogus',
  ])
  t.same(faults(await answer('besluittypen', { ...besluittypeBody(catalogus), informatieobjecttypen: [iot] })), refused)
  t.same(faults(await answer('zaaktype-informatieobjecttypen', ziotBody(zaaktype, iot))), refused)
  t.same(
    faults(await answer('resultaattypen', { ...resultaattypeBody(zaaktype), informatieobjecttypen: [iot] })),
    refused,
  )
  const own = await post(test, 'resultaattypen', resultaattypeBody(zaaktype))
  t.same(faults(await call('PATCH', own, { besluittypen: [besluittype] })), refused)
})

t.test('the forced scopes alone are enough for changes and for what is below, not for new types', async (t) => {
  await givenClient(test, 'forceerder', [{ component: 'ztc', scopes: ['catalogi.geforceerd-schrijven'] }])
  await givenClient(test, 'verwijderaar', [{ component: 'ztc', scopes: ['catalogi.geforceerd-verwijderen'] }])
  const catalogus = await givenCatalogus(test)
  const zaaktype = await post(test, 'zaaktypen', zaaktypeBody(catalogus))
  t.equal((await call('POST', `${ZTC}/zaaktypen`, zaaktypeBody(catalogus), { as: 'forceerder' })).status, 403)
  t.equal((await publish(test, zaaktype, 'forceerder')).status, 403)
  t.equal((await call('PATCH', zaaktype, { doel: 'x' }, { as: 'forceerder' })).status, 200)
  const eigenschap = await call('POST', `${ZTC}/eigenschappen`, eigenschapBody(zaaktype), { as: 'forceerder' })
  t.equal(eigenschap.status, 201)
  t.equal((await call('DELETE', zaaktype, undefined, { as: 'forceerder' })).status, 403)
  t.equal((await call('PATCH', zaaktype, { doel: 'x' }, { as: 'verwijderaar' })).status, 403)
  t.equal((await call('DELETE', zaaktype, undefined, { as: 'verwijderaar' })).status, 204)
  t.equal((await call('GET', eigenschap.body.url)).status, 404, 'what was below it goes with it')
})

t.test('publish takes an empty body that is called JSON, as existing clients send it', async (t) => {
  const test = await testApp(t)
  const url = await givenInformatieobjecttype(test, { concept: true })
  const answer = await test.call('POST', `${url}/publish`, '', { headers: { 'content-type': 'application/json' } })
  t.equal(answer.status, 200)
  t.equal(answer.body.concept, false)
})

t.test('ztc-013: a type stays in the catalogue of what it is related to, also by force', async (t) => {
  const [catalogus, other] = [await givenCatalogus(test), await givenCatalogus(test)]
  const iot = await givenInformatieobjecttype(test, { catalogus })
  const besluittype = await post(test, 'besluittypen', { ...besluittypeBody(catalogus), informatieobjecttypen: [iot] })
  const zaaktype = await post(test, 'zaaktypen', { ...zaaktypeBody(catalogus), besluittypen: [besluittype] })
  await post(test, 'zaaktype-informatieobjecttypen', {
    ...{ zaaktype, informatieobjecttype: iot, volgnummer: 1, richting: 'inkomend' },
  })
  for (const url of [iot, besluittype, zaaktype]) {
    const answer = await call('PATCH', url, { catalogus: other })
    t.match(faults(answer).join(), 'relations-incorrect-catalogus', url)
    t.equal((await call('GET', url)).body.catalogus, catalogus)
  }
})
