// Relations of besluiten with another server, and of documents of cases with one.
import t, { type Test } from 'tap'
import { givenInformatieobjecttype, givenZaaktype, type TestApp, testApp } from '../app.ts'
import { type Elders, givenOtherServer, runLater } from '../other-server.ts'
import { CRS, givenResultaattype, givenZaak, noteStatements, ZAKEN, zaakBody } from '../zaken/given.ts'
import { BESLUITEN, BIO, besluitBody, faults, givenTypen, made } from './given.ts'

const counts = async ({ database }: TestApp, resource: string) => {
  const [row] = await database.sql`select
    (select count(*) from audit where resource = ${resource})::int as audit,
    (select count(*) from notificatie where resource = ${resource})::int as berichten,
    (select count(*) from pending_mirror)::int as open`
  return row as { audit: number; berichten: number; open: number }
}

async function givenDocumentElsewhere(t: Test) {
  const test = await testApp(t)
  const typen = await givenTypen(test)
  const elders: Elders = await givenOtherServer(t, test, {
    '/drc/documenten/1': {
      identificatie: 'D1',
      bronorganisatie: '517439943',
      informatieobjecttype: typen.informatieobjecttype,
    },
    '/drc/documenten/2': { bronorganisatie: '517439943', informatieobjecttype: typen.informatieobjecttype },
    '/drc/documenten/anders': { bronorganisatie: '517439943', informatieobjecttype: 'https://elders.example/typen/1' },
    '/drc/documenten/iets': { naam: 'iets' },
  })
  const besluit = (await typen.besluit()).url
  const informatieobject = `${elders.root}/drc/documenten/1`
  return {
    test,
    elders,
    besluit,
    informatieobject,
    body: { besluit, informatieobject },
    lijst: '/drc/objectinformatieobjecten',
  }
}

t.test('brc-003, brc-008: a document elsewhere is fetched and judged by its type', async (t) => {
  const { test, elders, besluit, body } = await givenDocumentElsewhere(t)
  const post = (path: string) => test.call('POST', BIO, { besluit, informatieobject: `${elders.root}${path}` })
  t.same(faults(await post('/drc/documenten/weg')), ['informatieobject: bad-url'])
  t.same(faults(await post('/drc/documenten/iets')), ['informatieobject: invalid-resource'])
  t.same(faults(await post('/drc/documenten/anders')), [
    'nonFieldErrors: missing-besluittype-informatieobjecttype-relation',
  ])
  t.same(elders.calls, [], 'nothing was made over there')
  made(await test.call('POST', BIO, body))
  t.same(faults(await test.call('POST', BIO, body)), ['nonFieldErrors: unique'])
})

t.test('brc-005: the other side of a document elsewhere comes and goes with the relation', async (t) => {
  const { test, elders, body, lijst, informatieobject, besluit } = await givenDocumentElsewhere(t)
  const relatie = made(await test.call('POST', BIO, body))
  t.match(relatie, body)
  t.match(elders.staat(lijst), [{ informatieobject, object: besluit, objectType: 'besluit' }])
  const list = await test.call('GET', `${BIO}?informatieobject=${encodeURIComponent(informatieobject)}`)
  t.same(list.body, [relatie], 'that server can look whether it is true')
  t.same(await counts(test, 'besluitinformatieobject'), { audit: 1, berichten: 1, open: 0 })
  t.equal((await test.call('DELETE', relatie.url)).status, 204)
  t.same(elders.staat(lijst), [])
  t.equal((await test.call('GET', relatie.url)).status, 404)
  t.same(await counts(test, 'besluitinformatieobject'), { audit: 2, berichten: 2, open: 0 })
  await runLater(test)
  t.equal(elders.calls.length, 2, 'a job that finds all done does nothing')
})

t.test('brc-005: what the other side refuses did not happen here, and was told to nobody', async (t) => {
  const { test, elders, body, lijst } = await givenDocumentElsewhere(t)
  for (const answer of [403, 500, 'weg', 'doet en valt weg'] as const) {
    elders.state.antwoord = answer
    t.same(faults(await test.call('POST', BIO, body)), ['informatieobject: pending-relations'], String(answer))
    t.same((await test.call('GET', BIO)).body, [])
  }
  t.same(await counts(test, 'besluitinformatieobject'), { audit: 0, berichten: 0, open: 0 })
  t.equal(elders.staat(lijst).length, 1, 'made, but we did not hear it')
  elders.state.antwoord = undefined
  await runLater(test)
  t.same(elders.staat(lijst), [], 'removed afterwards')

  const relatie = made(await test.call('POST', BIO, body))
  elders.state.antwoord = 403
  t.same(faults(await test.call('DELETE', relatie.url)), ['informatieobject: pending-relations'])
  t.same((await test.call('GET', relatie.url)).body, relatie, 'it is back')
  elders.state.antwoord = undefined
  t.equal((await test.call('DELETE', relatie.url)).status, 204)
  t.same(elders.staat(lijst), [])
})

t.test('brc-005: a change that a process left halfway is ended by the job, once', async (t) => {
  const { test, elders, body, lijst } = await givenDocumentElsewhere(t)
  // The second transaction, which records the change or takes it back, never comes: as when the process dies before it.
  for (const bereikt of [true, false]) {
    await test.database.sql`create or replace function val_weg() returns trigger language plpgsql as
      'begin raise exception using errcode = ''57P01''; end'`
    await test.database.sql`create trigger val_weg before delete on pending_mirror execute function val_weg()`
    if (!bereikt) elders.state.antwoord = 'weg'
    const answer = await test.call('POST', BIO, body)
    t.ok(answer.status >= 400, 'no answer that it was made')
    await test.database.sql`drop trigger val_weg on pending_mirror`
    elders.state.antwoord = undefined
    t.match(await counts(test, 'besluitinformatieobject'), { audit: 0, open: 1 })
    await runLater(test)
    t.equal(elders.staat(lijst).length, 1, 'once at the other side')
    t.same(await counts(test, 'besluitinformatieobject'), { audit: 1, berichten: 1, open: 0 })
    const [found] = (await test.call('GET', BIO)).body
    const [line] = await test.database
      .sql`select gebruikers_id, applicatie_weergave from audit where resource = 'besluitinformatieobject'`
    t.match(line, { gebruikers_id: 'gebruiker-1', applicatie_weergave: 'Beheer' }, 'recorded as who asked for it')
    t.equal((await test.call('DELETE', found.url)).status, 204)
    await test.database.sql`truncate audit, notificatie cascade`
  }
})

t.test('brc-009: who goes takes the other side of its documents along, afterwards', async (t) => {
  const { test, elders, body, besluit, lijst } = await givenDocumentElsewhere(t)
  made(await test.call('POST', BIO, body))
  made(await test.call('POST', BIO, { besluit, informatieobject: `${elders.root}/drc/documenten/2` }))
  elders.state.antwoord = 503
  const statements = await noteStatements(test, 'mirror')
  t.equal((await test.call('DELETE', besluit)).status, 204)
  t.same(await statements(), ['UPDATE'], 'however many there are')
  elders.state.antwoord = undefined
  t.equal(elders.staat(lijst).length, 2)
  await runLater(test)
  t.same(elders.staat(lijst), [])
})

t.test('zrc-005: a document elsewhere belongs to a case on both sides, and goes with the case', async (t) => {
  const test = await testApp(t)
  const documenttype = await givenInformatieobjecttype(test)
  const { catalogus } = (await test.call('GET', documenttype)).body
  const zaaktype = await givenZaaktype(test, { catalogus, informatieobjecttypen: [documenttype] })
  const zaak = (await givenZaak(test, { zaaktype })).url
  const elders = await givenOtherServer(t, test, {
    '/drc/documenten/1': { identificatie: 'D1', bronorganisatie: '517439943', informatieobjecttype: documenttype },
    '/drc/documenten/2': { bronorganisatie: '517439943', informatieobjecttype: 'https://elders.example/typen/1' },
  })
  const ZIO = `${ZAKEN}/zaakinformatieobjecten`
  const post = (path: string) => test.call('POST', ZIO, { zaak, informatieobject: `${elders.root}${path}` })
  t.same(faults(await post('/drc/documenten/weg')), ['informatieobject: bad-url'])
  t.same(faults(await post('/drc/documenten/2')), ['nonFieldErrors: missing-zaaktype-informatieobjecttype-relation'])
  elders.state.antwoord = 403
  t.same(faults(await post('/drc/documenten/1')), ['informatieobject: pending-relations'])
  elders.state.antwoord = undefined
  t.same((await test.call('GET', ZIO)).body, [])
  const informatieobject = `${elders.root}/drc/documenten/1`
  const zio = made(await post('/drc/documenten/1'))
  t.match(zio, { zaak, informatieobject })
  t.same(faults(await post('/drc/documenten/1')), ['nonFieldErrors: unique'])
  const list = '/drc/objectinformatieobjecten'
  t.match(elders.staat(list), [{ informatieobject, object: zaak, objectType: 'zaak' }])
  t.same((await test.call('GET', `${ZIO}?informatieobject=${encodeURIComponent(informatieobject)}`)).body, [zio])
  t.equal((await test.call('DELETE', zio.url)).status, 204)
  t.same(elders.staat(list), [])
  made(await post('/drc/documenten/1'))
  t.equal((await test.call('DELETE', zaak)).status, 204)
  await runLater(test)
  t.same(elders.staat(list), [])
})

t.test(
  'brc-006, brc-007: a besluit of a case elsewhere is known there, for as long as it belongs to that case',
  async (t) => {
    const test = await testApp(t)
    const typen = await givenTypen(test)
    const elders = await givenOtherServer(t, test, {
      '/zrc/zaken/1': { bronorganisatie: '517439943', zaaktype: typen.zaaktype },
      '/zrc/zaken/2': { bronorganisatie: '517439943', zaaktype: 'https://elders.example/zaaktypen/1' },
      '/zrc/zaken/3': { naam: 'iets' },
    })
    const at = (path: string) => besluitBody(typen.besluittype, { zaak: `${elders.root}${path}` })
    const post = (path: string) => test.call('POST', BESLUITEN, at(path))
    t.same(faults(await post('/zrc/zaken/weg')), ['zaak: bad-url'])
    t.same(faults(await post('/zrc/zaken/2')), ['nonFieldErrors: zaaktype-mismatch'])
    t.same(faults(await post('/zrc/zaken/3')), ['zaak: invalid-resource'])
    elders.state.antwoord = 'weg'
    t.same(faults(await post('/zrc/zaken/1')), ['zaak: pending-relations'])
    t.equal((await test.call('GET', BESLUITEN)).body.count, 0)
    elders.state.antwoord = undefined
    const list = '/zrc/zaken/1/besluiten'
    const een = made(await post('/zrc/zaken/1'))
    t.equal(een.zaak, `${elders.root}/zrc/zaken/1`)
    t.match(elders.staat(list), [{ besluit: een.url }])
    const filter = `${BESLUITEN}?zaak=${encodeURIComponent(een.zaak)}`
    t.match((await test.call('GET', filter)).body, { count: 1, results: [{ url: een.url }] })
    t.match((await test.call('PATCH', een.url, { zaak: een.zaak, toelichting: 'x' })).body, { zaak: een.zaak })
    t.match((await test.call('PATCH', een.url, { zaak: '' })).body, { zaak: '' })
    await runLater(test)
    t.same(elders.staat(list), [])
    const twee = made(await post('/zrc/zaken/1'))
    t.equal((await test.call('DELETE', twee.url)).status, 204)
    await runLater(test)
    t.same(elders.staat(list), [])
  },
)

async function givenZakenElsewhere(t: Test) {
  const test = await testApp(t)
  const typen = await givenTypen(test)
  const zaak = { bronorganisatie: '517439943', zaaktype: typen.zaaktype }
  const elders: Elders = await givenOtherServer(t, test, {
    '/zrc/zaken/1': zaak,
    '/zrc/zaken/2': zaak,
    '/zrc/zaken/anders': { ...zaak, zaaktype: 'https://elders.example/zaaktypen/1' },
  })
  const at = (nummer: number | string) => `${elders.root}/zrc/zaken/${nummer}`
  const daar = (nummer: number) => elders.staat(`/zrc/zaken/${nummer}/besluiten`).length
  const eigen = (await typen.zaak()).url
  const hier = async () => (await test.call('GET', `${eigen}/besluiten`)).body.length
  const patch = (url: string, body: object) => test.call('PATCH', url, body)
  return { test, typen, elders, at, daar, eigen, hier, patch }
}

t.test('brc-006: a besluit moves between cases here, elsewhere and none, and is known in one at a time', async (t) => {
  const { test, typen, elders, at, daar, eigen, hier, patch } = await givenZakenElsewhere(t)
  const { url } = await typen.besluit()
  const stand = async () => [await hier(), daar(1), daar(2)]
  for (const [naar, state] of [
    [at(1), [0, 1, 0]],
    [at(2), [0, 0, 1]],
    [eigen, [1, 0, 0]],
    [at(2), [0, 0, 1]],
    ['', [0, 0, 0]],
    [at(1), [0, 1, 0]],
  ] as const) {
    const before = (await counts(test, 'besluit')).audit
    t.match((await patch(url, { zaak: naar, toelichting: naar })).body, { zaak: naar, toelichting: naar })
    await runLater(test)
    t.same(await stand(), state, naar)
    t.match(await counts(test, 'besluit'), { audit: before + 1, open: 0 })
  }
  const calls = elders.calls.length
  t.equal((await patch(url, { zaak: at(1) })).status, 200)
  t.equal(elders.calls.length, calls, 'who stays where he is, asks nothing')
  const put = await test.call('PUT', url, besluitBody(typen.besluittype, { zaak: at(2) }))
  t.match(put.body, { zaak: at(2), toelichting: at(1) }, 'what a PUT leaves out stays')
  t.same(faults(await patch(url, { zaak: at('weg') })), ['zaak: bad-url'])
  t.same(faults(await patch(url, { zaak: at('anders') })), ['nonFieldErrors: zaaktype-mismatch'])
})

t.test('brc-006: a besluit that the server of its new case refuses stays where it was, as it was', async (t) => {
  const { test, typen, elders, at, daar, eigen, hier, patch } = await givenZakenElsewhere(t)
  for (const from of ['', eigen, at(2)]) {
    const besluit = await typen.besluit({ zaak: from, toelichting: 'eerst' })
    const before = [await hier(), daar(2)]
    const told = await counts(test, 'besluit')
    const zaakbesluiten = (await test.call('GET', `${eigen}/besluiten`)).body
    for (const answer of [403, 500, 'weg', 'doet en valt weg'] as const) {
      elders.state.antwoord = answer
      t.same(faults(await patch(besluit.url, { zaak: at(1), toelichting: 'x' })), ['zaak: pending-relations'])
      t.same((await test.call('GET', besluit.url)).body, besluit, `${from} ${answer}`)
      t.same((await test.call('GET', `${eigen}/besluiten`)).body, zaakbesluiten)
    }
    elders.state.antwoord = undefined
    await runLater(test)
    t.same([await hier(), daar(2)], before)
    t.equal(daar(1), 0, 'nor is it known where it did not come')
    t.same(await counts(test, 'besluit'), told, 'and nobody was told')
  }
})

t.test('brc-006: a besluit of which the move was left halfway is left alone, and ended by the job', async (t) => {
  const { test, typen, elders, at, daar, eigen, hier, patch } = await givenZakenElsewhere(t)
  const { sql } = test.database
  const { url } = await typen.besluit({ zaak: eigen })
  await sql`create function val_weg() returns trigger language plpgsql as
    'begin raise exception using errcode = ''57P01''; end'`
  await sql`create trigger val_weg before delete on pending_mirror execute function val_weg()`
  elders.state.antwoord = 'weg'
  t.ok((await patch(url, { zaak: at(1) })).status >= 400)
  await sql`drop trigger val_weg on pending_mirror`
  elders.state.antwoord = undefined
  t.equal((await patch(url, { toelichting: 'x' })).status, 409)
  t.equal((await test.call('DELETE', url)).status, 409)
  await runLater(test)
  t.same([await hier(), daar(1)], [0, 1])
  t.match((await patch(url, { toelichting: 'x' })).body, { zaak: at(1), toelichting: 'x' })
})

t.test('brc-006: archiving of a closed case follows a besluit that leaves, and comes back with it', async (t) => {
  const { test, typen, elders, at, eigen, patch } = await givenZakenElsewhere(t)
  const { sql } = test.database
  const { url } = await typen.besluit({ zaak: eigen, ingangsdatum: '2025-01-02' })
  const resultaattype = await givenResultaattype(test, typen.zaaktype, { afleidingswijze: 'ingangsdatum_besluit' })
  await test.call('POST', `${ZAKEN}/resultaten`, { zaak: eigen, resultaattype })
  await sql`update zaak set einddatum = '2025-02-01', archiefactiedatum = '2035-01-02',
    startdatum_bewaartermijn = '2025-01-02'`
  const dagen = async () => {
    const [row] = await sql`select archiefactiedatum, startdatum_bewaartermijn from zaak`
    return [row!.archiefactiedatum, row!.startdatum_bewaartermijn]
  }
  elders.state.antwoord = 403
  t.same(faults(await patch(url, { zaak: at(1) })), ['zaak: pending-relations'])
  t.same(await dagen(), ['2035-01-02', '2025-01-02'])
  elders.state.antwoord = undefined
  t.equal((await patch(url, { zaak: at(1) })).status, 200)
  t.same(await dagen(), [null, null])
})

t.test('besluit_verwerken takes a case and documents elsewhere, all or nothing', async (t) => {
  const { test, typen, elders, at, daar, eigen, hier } = await givenZakenElsewhere(t)
  const { sql } = test.database
  for (const nummer of [1, 2])
    elders.resources[`/drc/documenten/${nummer}`] = {
      bronorganisatie: '517439943',
      informatieobjecttype: typen.informatieobjecttype,
    }
  const ownDocument = (await typen.document()).url
  const documenten = [ownDocument, ...[1, 2].map((nummer) => `${elders.root}/drc/documenten/${nummer}`)]
  const list = '/drc/objectinformatieobjecten'
  const post = (zaak: string, more: string[] = []) =>
    test.call('POST', '/besluiten/api/v1/besluit_verwerken', {
      besluit: besluitBody(typen.besluittype, { zaak, ingangsdatum: '2025-03-04' }),
      besluitinformatieobjecten: [...documenten, ...more].map((informatieobject) => ({ informatieobject })),
    })
  const empty = async () => {
    const [row] = await sql`select (select count(*) from besluit)::int as besluiten,
      (select count(*) from objectinformatieobject)::int as relaties, (select count(*) from audit where resource in ('besluit', 'besluitinformatieobject'))::int as regels`
    return [row!.besluiten, row!.relaties, row!.regels, daar(1), elders.staat(list).length, await hier()]
  }
  t.same(faults(await post(at('weg'))), ['besluit.zaak: bad-url'])
  t.same(faults(await post(at(1), [`${elders.root}/drc/documenten/weg`])), [
    'besluitinformatieobjecten.3.informatieobject: bad-url',
  ])
  elders.state.antwoord = 403
  t.same(faults(await post(at(1))), ['besluit.zaak: pending-relations'])
  // A closed case of ours is archived by the besluit, until the other server refuses.
  const resultaattype = await givenResultaattype(test, typen.zaaktype, { afleidingswijze: 'ingangsdatum_besluit' })
  await test.call('POST', `${ZAKEN}/resultaten`, { zaak: eigen, resultaattype })
  await sql`update zaak set einddatum = '2025-02-01', archiefactiedatum = '2031-01-01'`
  t.same(faults(await post(eigen)), ['besluitinformatieobjecten.1.informatieobject: pending-relations'])
  t.match(await sql`select archiefactiedatum, startdatum_bewaartermijn from zaak`, [
    { archiefactiedatum: '2031-01-01', startdatum_bewaartermijn: null },
  ])
  await runLater(test)
  t.same(await empty(), [0, 0, 0, 0, 0, 0])

  elders.state.antwoord = undefined
  const made = await post(at(1))
  t.equal(made.status, 201, made.text)
  t.match(made.body, {
    besluit: { zaak: at(1) },
    besluitinformatieobjecten: documenten.map((informatieobject) => ({ informatieobject })),
  })
  t.same(await empty(), [1, 1, 4, 1, 2, 0])
  t.match(await counts(test, 'besluitinformatieobject'), { audit: 3, berichten: 3, open: 0 })
  t.equal((await post(eigen)).status, 201)
  t.equal(await hier(), 1)
})

t.test('zaak_registreren takes documents elsewhere, all or nothing', async (t) => {
  const test = await testApp(t)
  const documenttype = await givenInformatieobjecttype(test)
  const { catalogus } = (await test.call('GET', documenttype)).body
  const zaaktype = await givenZaaktype(test, {
    catalogus,
    informatieobjecttypen: [documenttype],
    statustypen: ['Begin', 'Eind'],
  })
  const [statustype] = (await test.call('GET', zaaktype)).body.statustypen
  const document = { bronorganisatie: '517439943', informatieobjecttype: documenttype }
  const elders = await givenOtherServer(t, test, { '/drc/documenten/1': document, '/drc/documenten/2': document })
  const list = '/drc/objectinformatieobjecten'
  const post = (...nummers: (number | string)[]) =>
    test.call(
      'POST',
      `${ZAKEN}/zaak_registreren`,
      {
        zaak: zaakBody(zaaktype),
        rollen: [],
        status: { statustype, datumStatusGezet: '2026-03-05T10:00:00Z' },
        zaakinformatieobjecten: nummers.map((nummer) => ({
          informatieobject: `${elders.root}/drc/documenten/${nummer}`,
        })),
      },
      CRS,
    )
  const zaken = async () => (await test.call('GET', `${ZAKEN}/zaken`, undefined, CRS)).body.count
  t.same(faults(await post(1, 'weg')), ['zaakinformatieobjecten.1.informatieobject: bad-url'])
  elders.state.antwoord = 'doet en valt weg'
  t.same(faults(await post(1, 2)), ['zaakinformatieobjecten.0.informatieobject: pending-relations'])
  elders.state.antwoord = undefined
  await runLater(test)
  t.same([await zaken(), elders.staat(list).length], [0, 0])
  t.match(await counts(test, 'zaak'), { audit: 0, berichten: 0, open: 0 })
  const made = await post(1, 2)
  t.equal(made.status, 201, made.text)
  t.match(elders.staat(list), [{ object: made.body.zaak.url }, { object: made.body.zaak.url }])
  t.equal(made.body.zaakinformatieobjecten.length, 2)
  t.match(await counts(test, 'zaakinformatieobject'), { audit: 2, berichten: 2, open: 0 })
})
