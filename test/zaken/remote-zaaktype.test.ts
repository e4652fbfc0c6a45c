// Cases of which the zaaktype stands in a catalogue elsewhere: a second instance of this program, asked over HTTP.
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { createAccount } from '../../src/beheer/accounts/accounts.ts'
import { systemActor } from '../../src/core/access.ts'
import { saveService } from '../../src/services/register.ts'
import { judgeZaken } from '../../src/zaken/import-links.ts'
import {
  BASE,
  givenBesluittype,
  givenCatalogus,
  givenClient,
  givenInformatieobjecttype,
  givenZaaktype,
  SECRET,
  type TestApp,
  testApp,
  uuidOf,
} from '../app.ts'
import { pagesClient } from '../beheer/browser-client.ts'
import {
  CRS,
  faultsOf,
  givenDocument,
  givenEigenschap,
  givenPart,
  givenResultaattype,
  givenZaak,
  made,
  ZAKEN,
  zaakBody,
} from './given.ts'

type TestLike = { teardown(work: () => unknown): unknown }
const PRODUCT = 'https://producten.example/1'

/** Another instance that listens, with `here` as a client of it. `url` says how an address of it looks from here. */
async function givenOther(t: TestLike, here: TestApp) {
  const there = await testApp(t)
  await there.app.listen({ host: '127.0.0.1', port: 0 })
  const root = `http://127.0.0.1:${(there.app.server.address() as AddressInfo).port}`
  await here.app.mutate(systemActor('test'), (m) =>
    saveService(m, here.parts.box, {
      label: 'Elders',
      slug: 'elders',
      soort: 'ztc',
      apiRoot: `${root}/catalogi/api/v1/`,
      authenticatie: 'zgw',
      clientId: 'beheer',
      secret: SECRET,
    }),
  )
  return { there, root, url: (own: string) => own.replace(BASE, root) }
}

/** A published zaaktype with a begin and an end and one of everything else, by their URLs as `url` says them. */
async function givenType(app: TestApp, url: (own: string) => string = (own) => own, values: object = {}) {
  const catalogus = await givenCatalogus(app)
  const informatieobjecttype = await givenInformatieobjecttype(app, { catalogus })
  const zaaktype = await givenZaaktype(app, {
    catalogus,
    statustypen: ['Begin', 'Eind'],
    roltypen: [
      { omschrijving: 'Aanvrager', omschrijvingGeneriek: 'initiator' },
      { omschrijving: 'Behandelaar', omschrijvingGeneriek: 'behandelaar' },
    ],
    informatieobjecttypen: [informatieobjecttype],
    productenOfDiensten: [PRODUCT],
    servicenorm: 'P10D',
    concept: true,
    ...values,
  })
  const resultaattype = await givenResultaattype(app, zaaktype, { afleidingswijze: 'afgehandeld' })
  const perEigenschap = await givenResultaattype(app, zaaktype, {
    afleidingswijze: 'eigenschap',
    datumkenmerk: 'besluitdatum',
    einddatumBekend: false,
  })
  const eigenschap = await givenEigenschap(app, zaaktype, 'besluitdatum')
  const zaakobjecttype = await givenPart(app, 'zaakobjecttypen', {
    zaaktype,
    anderObjecttype: false,
    objecttype: 'https://objecten.example/adres',
    relatieOmschrijving: 'Adres',
  })
  await app.call('POST', `${zaaktype}/publish`)
  const { body } = await app.call('GET', zaaktype)
  const typen: { url: string; omschrijving: string; omschrijvingGeneriek?: string }[] = []
  for (const one of [...body.statustypen, ...body.roltypen]) typen.push((await app.call('GET', one)).body)
  const find = (name: string) => url(typen.find(({ omschrijving }) => omschrijving === name)!.url)
  return {
    zaaktype: url(zaaktype),
    catalogus: url(catalogus),
    informatieobjecttype: url(informatieobjecttype),
    begin: find('Begin'),
    eind: find('Eind'),
    initiator: find('Aanvrager'),
    behandelaar: find('Behandelaar'),
    resultaattype: url(resultaattype),
    perEigenschap: url(perEigenschap),
    eigenschap: url(eigenschap),
    zaakobjecttype: url(zaakobjecttype),
  }
}

t.test('cases of a zaaktype elsewhere', async (t) => {
  const test = await testApp(t)
  const { call, database } = test
  const { there, root, url } = await givenOther(t, test)
  const type = await givenType(there, url)
  const ander = await givenType(there, url, { identificatie: 'ANDERS', omschrijving: 'Anders' })
  const eigen = await givenType(test)
  const post = (zaaktype: string, values: object = {}, as = 'beheer') =>
    call('POST', `${ZAKEN}/zaken`, zaakBody(zaaktype, values), { ...CRS, as })
  const read = async (own: string) => (await call('GET', own, undefined, CRS)).body
  const list = async (query: string, as = 'beheer') =>
    (await call('GET', `${ZAKEN}/zaken${query}`, undefined, { ...CRS, as })).body
  let second = 0
  const status = (zaak: { url: string }, statustype: string, values: object = {}) =>
    call('POST', `${ZAKEN}/statussen`, {
      zaak: zaak.url,
      statustype,
      datumStatusGezet: `2026-03-05T10:00:${String(second++ % 60).padStart(2, '0')}Z`,
      ...values,
    })
  const below = (path: string, zaak: { url: string }, values: object) =>
    call('POST', `${ZAKEN}/${path}`, { zaak: zaak.url, ...values })
  const rol = (roltype: string) => ({
    roltype,
    betrokkeneType: 'natuurlijk_persoon',
    betrokkeneIdentificatie: { inpBsn: '111222333' },
    roltoelichting: 'x',
  })
  const mismatch = ['nonFieldErrors: zaaktype-mismatch']

  // What another server is asked may take as long as it likes: no transaction waits for it.
  const open: string[] = []
  const { services } = test.parts
  const { fetchJson } = services
  services.fetchJson = async (asked, options) => {
    const rows = await database.sql`select query from pg_stat_activity
      where datname = current_database() and state = 'idle in transaction'`
    open.push(...rows.map(({ query }) => `${asked}: ${query}`))
    return fetchJson(asked, options)
  }

  await t.test('zrc-001, zrc-009: the type is fetched and judged, and gives a new case what it has', async (t) => {
    const zaak = made(await post(type.zaaktype, { productenOfDiensten: [PRODUCT] }))
    t.match(zaak, {
      zaaktype: type.zaaktype,
      vertrouwelijkheidaanduiding: 'openbaar',
      einddatumGepland: '2026-03-12',
      uiterlijkeEinddatumAfdoening: '2026-04-01',
      identificatie: /^ZAAK-2026-/,
    })
    t.equal((await read(zaak.url)).zaaktype, type.zaaktype)
    const concept = url(await givenZaaktype(there, { concept: true }))
    t.same(faultsOf(await post(concept)), ['zaaktype: not-published'])
    t.same(faultsOf(await post(type.begin)), ['zaaktype: invalid-resource'])
    t.same(faultsOf(await post(type.catalogus)), ['zaaktype: invalid-resource'])
    t.same(faultsOf(await post(type.informatieobjecttype)), ['zaaktype: invalid-resource'])
    t.same(faultsOf(await post(`${type.zaaktype.slice(0, -12)}000000000000`)), ['zaaktype: bad-url'])
    t.same(faultsOf(await post('https://onbekend.example/catalogi/api/v1/zaaktypen/1')), ['zaaktype: bad-url'])
    t.same(faultsOf(await post(type.zaaktype, { productenOfDiensten: ['https://producten.example/2'] })), [
      'productenOfDiensten: invalid-products-services',
    ])
    const row = await database.sql`select kenmerken from notificatie where hoofd_object_uuid = ${zaak.uuid}`
    t.match(row[0]!.kenmerken, { zaaktype: type.zaaktype, 'zaaktype.catalogus': type.catalogus })
  })

  await t.test('a case keeps its type, and other fields change', async (t) => {
    const zaak = made(await post(type.zaaktype))
    const patch = (values: object) => call('PATCH', zaak.url, values, CRS)
    t.same(faultsOf(await patch({ zaaktype: ander.zaaktype })), ['zaaktype: wijzigen-niet-toegelaten'])
    t.same(faultsOf(await patch({ zaaktype: eigen.zaaktype })), ['zaaktype: wijzigen-niet-toegelaten'])
    t.same(faultsOf(await patch({ zaaktype: type.begin })), ['zaaktype: invalid-resource'])
    t.same(faultsOf(await patch({ productenOfDiensten: ['https://producten.example/2'] })), [
      'productenOfDiensten: invalid-products-services',
    ])
    t.equal((await patch({ productenOfDiensten: [PRODUCT] })).status, 200)
    const put = await call('PUT', zaak.url, { ...(await read(zaak.url)), omschrijving: 'Nieuw' }, CRS)
    t.match(put, { status: 200, body: { omschrijving: 'Nieuw', zaaktype: type.zaaktype } })
    t.equal((await call('HEAD', zaak.url, undefined, CRS)).status, 200)
    t.equal((await call('GET', `${zaak.url}/audittrail`)).body.length, 3)
    t.equal((await call('DELETE', zaak.url, undefined, CRS)).status, 204)
    t.equal((await call('GET', zaak.url, undefined, CRS)).status, 404)
  })

  await t.test('lists, searches and their filters know such cases', async (t) => {
    await database.sql`delete from zaak`
    const [een, twee, drie] = [
      made(await post(type.zaaktype)),
      made(await post(ander.zaaktype)),
      await givenZaak(test, eigen),
    ]
    const urls = async (query: string) => {
      const { count, results } = await list(query)
      t.equal(count, results.length, query)
      return results.map((one: { url: string }) => one.url)
    }
    const query = (name: string, ...values: string[]) => `?${name}=${values.map(encodeURIComponent).join(',')}`
    t.same(await urls(''), [drie.url, twee.url, een.url])
    t.same(await urls(query('zaaktype', type.zaaktype)), [een.url])
    t.same(await urls(query('zaaktype', eigen.zaaktype)), [drie.url])
    t.same(await urls(query('zaaktype', 'https://onbekend.example/1')), [])
    t.same(await urls(query('zaaktype__in', type.zaaktype, ander.zaaktype)), [twee.url, een.url])
    t.same(await urls(query('zaaktype__in', type.zaaktype, eigen.zaaktype)), [drie.url, een.url])
    t.same(await urls(query('zaaktype__not_in', type.zaaktype)), [drie.url, twee.url])
    t.same(await urls(query('zaaktype__not_in', eigen.zaaktype)), [twee.url, een.url])
    t.same(await urls(query('zaaktype__not_in', eigen.zaaktype, ander.zaaktype)), [een.url])
    t.same(await urls(query('zaaktype__omschrijving', 'nders')), [twee.url])
    t.same(await urls(query('zaaktype__omschrijving', 'elding')), [drie.url, een.url])
    t.same(await urls('?ordering=identificatie'), [een.url, twee.url, drie.url])
    const searched = await call('POST', `${ZAKEN}/zaken/_zoek`, { zaaktype: type.zaaktype, expand: ['zaaktype'] }, CRS)
    t.match(searched.body, { count: 1, results: [{ _expand: { zaaktype: { omschrijving: 'Melding' } } }] })
    made(await status(een, type.begin))
    made(await below('resultaten', een, { resultaattype: type.resultaattype }))
    t.same(await urls(query('status__statustype', type.begin)), [een.url])
    t.same(await urls(query('status__statustype', type.eind)), [])
    t.same(await urls(query('resultaat__resultaattype', type.resultaattype)), [een.url])
    t.same(await urls(query('resultaat__resultaattype', eigen.resultaattype)), [])
    const expanded = await list('?expand=zaaktype,status.statustype,resultaat.resultaattype')
    t.match(expanded.results[2]._expand, {
      zaaktype: { url: type.zaaktype },
      status: { _expand: { statustype: { url: type.begin } } },
      resultaat: { _expand: { resultaattype: { url: type.resultaattype } } },
    })
    t.match(expanded.results[0]._expand, { zaaktype: { url: eigen.zaaktype } })
  })

  await t.test('rights for a type elsewhere reach its cases and what hangs on them, and no others', async (t) => {
    await database.sql`delete from zaak`
    const zaak = made(await post(type.zaaktype))
    const secret = made(await post(type.zaaktype, { vertrouwelijkheidaanduiding: 'geheim' }))
    made(await post(ander.zaaktype))
    await givenZaak(test, eigen)
    const right = (scopes: string[], typeUrl: string, more: object = {}) => ({
      component: 'zrc',
      scopes,
      typeUrl,
      max: 'intern',
      ...more,
    })
    const all = ['zaken.lezen', 'zaken.aanmaken', 'zaken.bijwerken', 'zaken.verwijderen', 'audittrails.lezen']
    const elders = await givenClient(test, 'elders', [right(all, type.zaaktype)])
    const both = await givenClient(test, 'beide', [
      right(['zaken.lezen'], type.zaaktype),
      right(['zaken.lezen'], eigen.zaaktype, { typeUuid: uuidOf(eigen.zaaktype) }),
    ])
    const local = await givenClient(test, 'lokaal', [right(all, eigen.zaaktype, { typeUuid: uuidOf(eigen.zaaktype) })])
    for (const [as, count] of [
      ['beheer', 4],
      ['elders', 1],
      ['beide', 2],
      ['lokaal', 1],
    ] as const) {
      t.equal((await list('', as)).count, count, as)
      const search = { bronorganisatie: '517439943' }
      t.equal((await call('POST', `${ZAKEN}/zaken/_zoek`, search, { ...CRS, as })).body.count, count, as)
    }
    t.equal((await list(`?zaaktype=${encodeURIComponent(type.zaaktype)}`, local)).count, 0)
    const get = async (own: string, as: string) => (await call('GET', own, undefined, { ...CRS, as })).status
    t.equal(await get(zaak.url, elders), 200)
    t.equal(await get(zaak.url, local), 403)
    t.equal(await get(secret.url, elders), 403)
    t.equal(await get(`${zaak.url}/audittrail`, elders), 200)
    t.equal(await get(`${zaak.url}/audittrail`, local), 403)
    t.equal((await post(type.zaaktype, {}, elders)).status, 201)
    t.equal((await post(ander.zaaktype, {}, elders)).status, 403)
    t.equal((await post(type.zaaktype, {}, local)).status, 403)
    t.equal((await post(type.zaaktype, { vertrouwelijkheidaanduiding: 'geheim' }, elders)).status, 403)

    made(await status(zaak, type.begin))
    made(await below('resultaten', zaak, { resultaattype: type.resultaattype }))
    made(await below('rollen', zaak, rol(type.initiator)))
    for (const path of ['statussen', 'resultaten', 'rollen']) {
      const count = async (as: string) => (await call('GET', `${ZAKEN}/${path}`, undefined, { as })).body
      t.equal((await count(elders)).count, 1, path)
      t.equal((await count(local)).count, 0, path)
      t.equal(await get((await count('beheer')).results[0].url, elders), 200, path)
      t.equal(await get((await count('beheer')).results[0].url, local), 403, path)
    }
    const patch = async (as: string) => (await call('PATCH', zaak.url, { omschrijving: 'x' }, { ...CRS, as })).status
    t.equal(await patch(local), 403)
    t.equal(await patch(both), 403)
    t.equal(await patch(elders), 200)
    const weg = async (as: string) => (await call('DELETE', zaak.url, undefined, { ...CRS, as })).status
    t.equal(await weg(local), 403)
    t.equal(await weg(elders), 204)
  })

  await t.test(
    'zrc-007, zrc-008, zrc-021: statuses close and open such a case, and its resultaat archives it',
    async (t) => {
      const zaak = made(await post(type.zaaktype))
      const begin = made(await status(zaak, type.begin))
      t.match(begin, { statustype: type.begin, indicatieLaatstGezetteStatus: true })
      t.equal((await read(zaak.url)).einddatum, null)
      t.same(faultsOf(await status(zaak, type.eind)), ['nonFieldErrors: resultaat-does-not-exist'])
      const resultaat = made(await below('resultaten', zaak, { resultaattype: type.resultaattype }))
      t.equal(resultaat.resultaattype, type.resultaattype)
      made(await status(zaak, type.eind, { datumStatusGezet: '2026-03-06T00:30:00+01:00' }))
      t.match(await read(zaak.url), {
        einddatum: '2026-03-06',
        archiefnominatie: 'vernietigen',
        archiefactiedatum: '2036-03-06',
        startdatumBewaartermijn: '2026-03-06',
      })
      made(await status(zaak, type.begin, { datumStatusGezet: '2026-03-07T10:00:00Z' }))
      t.match(await read(zaak.url), { einddatum: null, archiefnominatie: null, archiefactiedatum: null })
      const changed = await call('PATCH', resultaat.url, { toelichting: 'anders' })
      t.match(changed, { status: 200, body: { resultaattype: type.resultaattype, toelichting: 'anders' } })
      t.equal((await call('GET', begin.url)).body.statustype, type.begin)
      const found = await call('GET', `${ZAKEN}/statussen?statustype=${encodeURIComponent(type.eind)}`)
      t.equal(found.body.count, 1)
      const rows =
        await database.sql`select kenmerken ->> 'zaaktype' as zaaktype, kenmerken ->> 'zaaktype.catalogus' as c
      from notificatie where hoofd_object_uuid = ${zaak.uuid}`
      t.equal(rows.length, 6)
      t.ok(rows.every((row) => row.zaaktype === type.zaaktype && row.c === type.catalogus))
      t.equal((await call('DELETE', resultaat.url)).status, 204)
    },
  )

  await t.test('zrc-021: archiving by an eigenschap follows its value', async (t) => {
    const zaak = made(await post(type.zaaktype))
    made(await below('resultaten', zaak, { resultaattype: type.perEigenschap }))
    made(await status(zaak, type.eind))
    t.match(await read(zaak.url), { archiefnominatie: 'vernietigen', archiefactiedatum: null })
    const eigenschap = made(
      await call('POST', `${zaak.url}/zaakeigenschappen`, {
        zaak: zaak.url,
        eigenschap: type.eigenschap,
        waarde: '20260401',
      }),
    )
    t.match(eigenschap, { eigenschap: type.eigenschap, naam: 'besluitdatum' })
    t.equal((await read(zaak.url)).archiefactiedatum, '2036-04-01')
    t.equal((await call('PATCH', eigenschap.url, { waarde: '20270401' })).status, 200)
    t.equal((await read(zaak.url)).archiefactiedatum, '2037-04-01')
    t.match((await call('GET', `${zaak.url}/zaakeigenschappen?expand=eigenschap`)).body, [
      { _expand: { eigenschap: { url: type.eigenschap } } },
    ])
  })

  await t.test('zrc-016, 018, 019, 020: a type below belongs to the zaaktype, at the same server', async (t) => {
    const zaak = made(await post(type.zaaktype))
    const own = await givenZaak(test, eigen)
    for (const [who, one, other] of [
      ['another zaaktype there', zaak, ander],
      ['one of ours', zaak, eigen],
      ['one elsewhere for a case of ours', own, type],
    ] as const) {
      t.same(faultsOf(await status(one, other.begin)), mismatch, who)
      t.same(faultsOf(await below('resultaten', one, { resultaattype: other.resultaattype })), mismatch, who)
      t.same(faultsOf(await below('rollen', one, rol(other.initiator))), mismatch, who)
      const eigenschap = { zaak: one.url, eigenschap: other.eigenschap, waarde: 'x' }
      t.same(faultsOf(await call('POST', `${one.url}/zaakeigenschappen`, eigenschap)), mismatch, who)
      const adres = { wplWoonplaatsNaam: 'x', gorOpenbareRuimteNaam: 'x', huisnummer: 1 }
      const object = { objectType: 'adres', objectIdentificatie: adres, zaakobjecttype: other.zaakobjecttype }
      t.same(faultsOf(await below('zaakobjecten', one, object)), mismatch, who)
      const made = await below('zaakobjecten', one, {
        ...object,
        zaakobjecttype: one === own ? eigen.zaakobjecttype : type.zaakobjecttype,
      })
      t.match(made, { status: 201, body: { zaakobjecttype: one === own ? eigen.zaakobjecttype : type.zaakobjecttype } })
    }
    t.same(faultsOf(await status(zaak, type.initiator)), ['statustype: invalid-resource'])
    t.same(faultsOf(await status(zaak, 'https://onbekend.example/1')), ['statustype: bad-url'])
    t.same(faultsOf(await below('resultaten', zaak, { resultaattype: type.eind })), ['resultaattype: invalid-resource'])
    t.same(faultsOf(await below('rollen', zaak, rol(type.eind))), ['roltype: invalid-resource'])
  })

  await t.test('rollen take their omschrijving from the type, and one initiator is enough', async (t) => {
    const zaak = made(await post(type.zaaktype))
    const one = made(await below('rollen', zaak, rol(type.initiator)))
    t.match(one, { roltype: type.initiator, omschrijving: 'Aanvrager', omschrijvingGeneriek: 'initiator' })
    t.same(faultsOf(await below('rollen', zaak, rol(type.initiator))), ['roltype: max-occurences'])
    t.match(await call('PUT', one.url, { ...one, roltoelichting: 'y' }), { status: 200, body: { roltoelichting: 'y' } })
    t.same(faultsOf(await call('PUT', one.url, { ...one, roltype: type.behandelaar })), [
      'roltype: wijzigen-niet-toegelaten',
    ])
    const found = await call(
      'GET',
      `${ZAKEN}/rollen?roltype=${encodeURIComponent(type.initiator)}&zaak=${encodeURIComponent(zaak.url)}`,
    )
    t.equal(found.body.count, 1, found.text)
    t.equal((await call('DELETE', one.url)).status, 204)
  })

  await t.test('zrc-017: documents are of a type that the zaaktype names', async (t) => {
    const zaak = made(await post(type.zaaktype))
    const past = await givenDocument(test, type.informatieobjecttype)
    const otherwise = await givenDocument(test, ander.informatieobjecttype)
    const local = await givenDocument(test, eigen.informatieobjecttype)
    const relatie = ['nonFieldErrors: missing-zaaktype-informatieobjecttype-relation']
    t.equal((await below('zaakinformatieobjecten', zaak, { informatieobject: past })).status, 201)
    t.same(faultsOf(await below('zaakinformatieobjecten', zaak, { informatieobject: otherwise })), relatie)
    t.same(faultsOf(await below('zaakinformatieobjecten', zaak, { informatieobject: local })), relatie)
    const own = await givenZaak(test, eigen)
    t.same(faultsOf(await below('zaakinformatieobjecten', own, { informatieobject: past })), relatie)
    const document = {
      bronorganisatie: '517439943',
      creatiedatum: '2026-03-02',
      titel: 'Brief',
      auteur: 'Iemand',
      taal: 'dut',
      informatieobjecttype: type.informatieobjecttype,
    }
    const registered = await call('POST', '/documenten/api/v1/document_registreren', {
      enkelvoudiginformatieobject: document,
      zaakinformatieobject: { zaak: zaak.url },
    })
    t.equal(registered.status, 201, registered.text)
    t.equal((await read(zaak.url)).zaakinformatieobjecten.length, 2)
    t.equal((await call('DELETE', zaak.url, undefined, CRS)).status, 204)
  })

  await t.test('brc-007: besluiten of a besluittype there that names the zaaktype', async (t) => {
    const zaak = made(await post(type.zaaktype))
    const besluit = (besluittype: string, values: object = {}) =>
      call('POST', '/besluiten/api/v1/besluiten', {
        besluittype,
        verantwoordelijkeOrganisatie: '517439943',
        datum: '2026-03-02',
        ingangsdatum: '2026-03-02',
        ...values,
      })
    const catalogus = type.catalogus.replace(root, BASE)
    const past = await givenBesluittype(there, { catalogus, omschrijving: 'Past' })
    const zaaktype = await givenZaaktype(there, { catalogus, identificatie: 'B', besluittypen: [past] })
    const from = made(await post(url(zaaktype)))
    const besluit1 = made(await besluit(url(past), { zaak: from.url }))
    t.equal((await call('GET', `${from.url}/besluiten`)).body[0].besluit, besluit1.url)
    t.same(faultsOf(await besluit(url(past), { zaak: zaak.url })), mismatch)
    const los = made(await besluit(url(past)))
    t.same(faultsOf(await call('PATCH', los.url, { zaak: zaak.url })), mismatch)
    t.equal((await call('PATCH', los.url, { zaak: from.url })).status, 200)
    t.equal((await call('PUT', los.url, { ...los, zaak: from.url })).status, 200)
    t.same(faultsOf(await besluit(await givenBesluittype(test), { zaak: from.url })), mismatch)
    t.same(faultsOf(await call('DELETE', from.url, undefined, CRS)), ['nonFieldErrors: related-besluiten'])
  })

  await t.test('zrc-013: parts are of a type that the zaaktype of the hoofdzaak names', async (t) => {
    const hoofd = made(await post(type.zaaktype))
    const own = await givenZaak(test, eigen)
    const wrong = ['hoofdzaak: invalid-deelzaaktype']
    t.same(faultsOf(await post(ander.zaaktype, { hoofdzaak: hoofd.url })), wrong)
    t.same(faultsOf(await post(eigen.zaaktype, { hoofdzaak: hoofd.url })), wrong)
    t.same(faultsOf(await post(type.zaaktype, { hoofdzaak: own.url })), wrong)
    const catalogus = type.catalogus.replace(root, BASE)
    const deeltype = await givenZaaktype(there, { catalogus, identificatie: 'DEEL', statustypen: ['Begin', 'Eind'] })
    const hoofdtype = await givenZaaktype(there, {
      catalogus,
      identificatie: 'HOOFD',
      deelzaaktypen: [deeltype],
      statustypen: ['Eind'],
    })
    const above = made(await post(url(hoofdtype)))
    const deel = made(await post(url(deeltype), { hoofdzaak: above.url }))
    t.same((await read(above.url)).deelzaken, [deel.url])
    const later = made(await post(url(deeltype)))
    t.equal((await call('PATCH', later.url, { hoofdzaak: above.url }, CRS)).status, 200)
    const { body } = await there.call('GET', hoofdtype)
    t.same(faultsOf(await status(above, url(body.statustypen[0]))), [
      'nonFieldErrors: deelzaken-not-closed',
      'nonFieldErrors: resultaat-does-not-exist',
      'nonFieldErrors: deelzaak-resultaat-does-not-exist',
    ])
    const related = made(
      await post(type.zaaktype, { relevanteAndereZaken: [{ url: above.url, aardRelatie: 'vervolg' }] }),
    )
    t.match((await read(related.url)).relevanteAndereZaken, [{ url: above.url }])
  })

  await t.test('combined endpoints take types elsewhere for every part', async (t) => {
    const document = await givenDocument(test, type.informatieobjecttype, { indicatieGebruiksrecht: false })
    const answer = await call('POST', `${ZAKEN}/zaak_registreren`, {
      zaak: zaakBody(type.zaaktype),
      rollen: [rol(type.initiator)],
      zaakinformatieobjecten: [{ informatieobject: document }],
      status: { statustype: type.begin, datumStatusGezet: '2026-03-05T10:00:00Z' },
    })
    t.equal(answer.status, 201, answer.text)
    const { uuid } = answer.body.zaak
    const next = (path: string, body: object) => call('POST', `${ZAKEN}/${path}/${uuid}`, body)
    const at = (statustype: string, hour: number) => ({ statustype, datumStatusGezet: `2026-03-05T${hour}:00:00Z` })
    const opgeschort = await next('zaak_opschorten', {
      zaak: { opschorting: { indicatie: true, reden: 'x' } },
      status: at(type.begin, 11),
    })
    t.equal(opgeschort.status, 200, opgeschort.text)
    const bijgewerkt = await next('zaak_bijwerken', {
      zaak: { omschrijving: 'x' },
      rollen: [rol(type.behandelaar)],
      status: at(type.begin, 12),
    })
    t.match(bijgewerkt, { status: 200, body: { rollen: [{ roltype: type.behandelaar }] } }, bijgewerkt.text)
    const afsluiten = { zaak: {}, resultaat: { resultaattype: type.resultaattype } }
    t.same(faultsOf(await next('zaak_afsluiten', { ...afsluiten, status: at(type.begin, 13) })), [
      'status.nonFieldErrors: eindstatus-required',
    ])
    const closed = await next('zaak_afsluiten', { ...afsluiten, status: at(type.eind, 13) })
    t.match(closed, { status: 200, body: { zaak: { archiefactiedatum: '2036-03-05' } } }, closed.text)
    t.same(
      faultsOf(
        await call('POST', `${ZAKEN}/zaak_registreren`, {
          zaak: zaakBody(type.zaaktype),
          rollen: [rol(ander.initiator)],
          status: { statustype: type.begin, datumStatusGezet: '2026-03-05T10:00:00Z' },
        }),
      ),
      ['rollen.0.nonFieldErrors: zaaktype-mismatch'],
    )
  })

  await t.test('an import says that documents of such a case are linked otherwise', async (t) => {
    const zaak = made(await post(type.zaaktype))
    const faults = await judgeZaken(database.sql, [{ number: 1, zaakUuid: zaak.uuid, typeId: 1 }], { lock: false })
    t.match(faults.get(1), /staat bij een andere dienst/)
  })

  await t.test('the pages show such cases with their type and what hangs on them', async (t) => {
    const wachtwoord = 'een lang wachtwoord voor de test'
    await createAccount(database.db, { gebruikersnaam: 'kijker', rol: 'viewer', wachtwoord })
    const browser = pagesClient(test.app)
    await browser.login('kijker', wachtwoord)
    const zaak = made(await post(ander.zaaktype))
    made(await status(zaak, ander.begin))
    made(await below('resultaten', zaak, { resultaattype: ander.resultaattype }))
    const { body } = await browser.get('/beheer/zaken')
    t.match(body, zaak.identificatie)
    t.match(body, /<td data-kop="Zaaktype">Anders<\/td>/)
    const page = (await browser.get(`/beheer/zaken/${zaak.uuid}`)).body
    t.match(page, ander.zaaktype)
    t.match(page, /<dt>Resultaat<\/dt><dd>R0/)
    t.match(page, />Status: Begin</)
    t.match((await browser.get(`/beheer/zaken/${zaak.uuid}/statussen`)).body, 'Begin')
  })

  await t.test('without that server cases are still read, changed and closed by what is known of it', async (t) => {
    const zaak = made(await post(type.zaaktype, { productenOfDiensten: [PRODUCT] }))
    made(await status(zaak, type.begin))
    await database.sql`update service set api_root = ${'http://127.0.0.1:1/'}`
    t.teardown(() => database.sql`update service set api_root = ${`${root}/catalogi/api/v1/`}`)
    const shown = await call('GET', `${zaak.url}?expand=zaaktype,status.statustype`, undefined, CRS)
    t.match(shown, { status: 200, body: { zaaktype: type.zaaktype, _expand: { status: { statustype: type.begin } } } })
    t.notOk(shown.body._expand.zaaktype)
    t.equal((await call('PUT', zaak.url, await read(zaak.url), CRS)).status, 200)
    t.same(faultsOf(await status(zaak, type.begin)), ['statustype: bad-url'])
    t.same(faultsOf(await post(type.zaaktype)), ['zaaktype: bad-url'])
    t.equal((await call('DELETE', zaak.url, undefined, CRS)).status, 204)
  })

  t.same(open, [], 'nothing was asked while a transaction was open')
})

t.test('values of an eigenschap elsewhere are held against its specificatie when asked for', async (t) => {
  const test = await testApp(t, { ZAAK_EIGENSCHAP_WAARDE_VALIDATION: 'yes' })
  const { there, url } = await givenOther(t, test)
  const { zaaktype, eigenschap } = await givenType(there, url)
  const zaak = (await givenZaak(test, { zaaktype })).url
  const give = (waarde: string) => test.call('POST', `${zaak}/zaakeigenschappen`, { zaak, eigenschap, waarde })
  const fault = ['nonFieldErrors: waarde-incorrect-format']
  t.same(faultsOf(await give('langer dan veertien')), fault)
  const value = made(await give('kort'))
  t.same(faultsOf(await test.call('PATCH', value.url, { waarde: 'langer dan veertien' })), fault)
  t.equal((await test.call('PATCH', value.url, { waarde: 'ook kort' })).status, 200)
})
