import t from 'tap'
import { LIMITS } from '../../src/core/limits.ts'
import { type Answer, BASE, givenInformatieobjecttype, givenZaaktype, testApp, uuidOf } from '../app.ts'
import { CRS, faultsOf, givenDocument, givenEigenschap, givenZaak, ZAKEN } from './given.ts'

t.test('cases with long lists', async (t) => {
  const test = await testApp(t)
  const { call, database } = test
  const informatieobjecttype = await givenInformatieobjecttype(test)
  const { catalogus } = (await call('GET', informatieobjecttype)).body
  const zaaktype = await givenZaaktype(test, {
    catalogus,
    concept: true,
    informatieobjecttypen: [informatieobjecttype],
    statustypen: ['Begin', 'Eind'],
    roltypen: [{ omschrijving: 'Behandelaar', omschrijvingGeneriek: 'behandelaar' }],
  })
  const eigenschap = await givenEigenschap(test, zaaktype, 'kleur')
  await call('POST', `${zaaktype}/publish`)
  const first = async (resource: string): Promise<string> =>
    (await call('GET', `/catalogi/api/v1/${resource}?zaaktype=${encodeURIComponent(zaaktype)}`)).body.results[0].url
  const [roltype, statustype] = [await first('roltypen'), await first('statustypen')]
  const get = (url: string, headers: Record<string, string> = {}): Promise<Answer> =>
    call('GET', url, undefined, { headers: { ...CRS.headers, ...headers } })

  /** So many of each kind below a case. */
  const fill = async (zaak: { uuid: string }, many: number, documents = many) => {
    const sql = database.sql
    const n = sql`generate_series(1, ${many}::int) n`
    const z = sql`(select id from zaak where uuid = ${zaak.uuid})`
    await sql`insert into rol (zaak_id, betrokkene_type, betrokkene, roltype_id, omschrijving, omschrijving_generiek)
      select ${z}, 'medewerker', 'https://elders.example/' || n, (select id from roltype where uuid = ${uuidOf(roltype)}),
        'Behandelaar', 'behandelaar' from ${n}`
    await sql`insert into zaakinformatieobject (zaak_id, informatieobject_url)
      select ${z}, 'https://elders.example/documenten/' || n from generate_series(1, ${documents}::int) n`
    await sql`insert into zaakobject (zaak_id, object, object_type)
      select ${z}, 'https://elders.example/objecten/' || n, 'adres' from ${n}`
    await sql`insert into zaakeigenschap (zaak_id, eigenschap_id, naam, waarde)
      select ${z}, (select id from eigenschap where uuid = ${uuidOf(eigenschap)}), 'kleur', 'rood' from ${n}`
  }
  const inOrder = async (table: string, zaak: { uuid: string }): Promise<string[]> =>
    (
      await database.sql<{ uuid: string }[]>`
        select x.uuid from ${database.sql(table)} x join zaak z on z.id = x.zaak_id where z.uuid = ${zaak.uuid} order by x.id desc`
    ).map(({ uuid }) => uuid)
  const LISTS = {
    rollen: 'rol',
    zaakinformatieobjecten: 'zaakinformatieobject',
    zaakobjecten: 'zaakobject',
    eigenschappen: 'zaakeigenschap',
  }

  await t.test('more than a case may have, as imports leave it, is answered complete', async (t) => {
    const zaak = await givenZaak(test, { zaaktype })
    await fill(zaak, LIMITS.related + 500, LIMITS.documenten + 500)
    const complete = async (found: Record<string, string[]>) => {
      for (const [list, table] of Object.entries(LISTS))
        t.strictSame(found[list]!.map(uuidOf), await inOrder(table, zaak), list)
    }
    const detail = await get(zaak.url)
    await complete(detail.body)
    const etag = String(detail.headers.etag)
    t.equal((await get(zaak.url, { 'if-none-match': etag })).status, 304)
    await complete((await call('PATCH', zaak.url, { omschrijving: 'Anders' }, CRS)).body)
    const other = String((await get(zaak.url)).headers.etag)
    t.not(other, etag)
    const begin = (
      await call('GET', `/catalogi/api/v1/statustypen?zaaktype=${encodeURIComponent(zaaktype)}`)
    ).body.results
      .map(({ url, volgnummer }: { url: string; volgnummer: number }) => ({ url, volgnummer }))
      .find(({ volgnummer }: { volgnummer: number }) => volgnummer === 1)
    const joined = await call('POST', `${ZAKEN}/zaak_bijwerken/${zaak.uuid}`, {
      status: { statustype: begin.url, datumStatusGezet: '2026-03-03T10:00:00Z' },
    })
    t.equal(joined.status, 200, joined.text)
    await complete(joined.body.zaak)
    t.strictSame(
      joined.body.rollen.map(({ uuid }: { uuid: string }) => uuid),
      await inOrder('rol', zaak),
    )
    const after = String((await get(zaak.url)).headers.etag)
    await database.sql`delete from rol where id = (select max(id) from rol)`
    t.not((await get(zaak.url)).headers.etag, after, 'the ETag changes with every member')

    const list = await get(`${ZAKEN}/zaken?identificatie=${zaak.identificatie}&expand=zaaktype`)
    await complete(list.body.results[0])
    t.equal(list.body.results[0]._expand.zaaktype.url, zaaktype)
    const fields = ['rollen', 'url']
    const found = await call('POST', `${ZAKEN}/zaken/_zoek`, { uuid__in: [zaak.uuid], fields }, CRS)
    t.same(Object.keys(found.body.results[0]).sort(), fields)
    t.equal(found.body.results[0].rollen.length, LIMITS.related + 499)

    t.same(faultsOf(await get(`${zaak.url}?expand=rollen`)), ['expand: max_items'])
    const rol = detail.body.rollen[1]
    t.same(faultsOf(await get(`${rol}?expand=zaak`)), ['expand: max_items'])
    const lines = (await get(`${zaak.url}/audittrail`)).body
    const { wijzigingen } = lines.find(({ actie }: { actie: string }) => actie === 'partial_update')
    t.equal(wijzigingen.nieuw.rollen.length, LIMITS.recorded, 'an audit line names no more')
  })

  await t.test('a list that is written from the database is still expanded as a whole', async (t) => {
    const zaak = await givenZaak(test, { zaaktype })
    const many = LIMITS.recorded + 10
    await fill(zaak, many)
    for (const query of ['', '?expand=rollen']) {
      const { body } = await get(`${zaak.url}${query}`)
      for (const [list, table] of Object.entries(LISTS))
        t.strictSame(body[list].map(uuidOf), await inOrder(table, zaak), `${list} ${query}`)
      if (query !== '')
        t.same(
          body._expand.rollen.map(({ url }: { url: string }) => url),
          body.rollen,
        )
    }
    const { body } = await get(`${ZAKEN}/zaken?identificatie=${zaak.identificatie}&expand=rollen`)
    t.equal(body.results[0]._expand.rollen.length, many)
  })

  await t.test('no more is made than a case may have', async (t) => {
    const zaak = await givenZaak(test, { zaaktype })
    await fill(zaak, LIMITS.related, LIMITS.documenten)
    const document = await givenDocument(test, informatieobjecttype)
    const adres = { identificatie: '1', wplWoonplaatsNaam: 'A', gorOpenbareRuimteNaam: 'B', huisnummer: 1 }
    const attempts: [path: string, body: object][] = [
      ['rollen', { betrokkeneType: 'medewerker', betrokkene: 'https://elders.example/a', roltype }],
      ['zaakinformatieobjecten', { informatieobject: document }],
      ['zaakobjecten', { objectType: 'adres', objectIdentificatie: adres }],
      [`zaken/${zaak.uuid}/zaakeigenschappen`, { eigenschap, waarde: 'blauw' }],
    ]
    for (const [path, body] of attempts) {
      const refused = await call('POST', `${ZAKEN}/${path}`, { zaak: zaak.url, ...body }, CRS)
      t.same([refused.status, faultsOf(refused)], [400, ['nonFieldErrors: max_items']], path)
    }
    const kept = await Promise.all(Object.values(LISTS).map(async (table) => (await inOrder(table, zaak)).length))
    t.same(kept, [LIMITS.related, LIMITS.documenten, LIMITS.related, LIMITS.related])
    await database.sql`delete from rol where id = (select max(id) from rol)`
    t.equal((await call('POST', `${ZAKEN}/rollen`, { zaak: zaak.url, ...attempts[0]![1] })).status, 201)
    const answer = await get(zaak.url)
    t.equal(answer.body.rollen.length, LIMITS.related)
  })

  await t.test('the same for statussen, parts, documents of a status and related cases', async (t) => {
    const zaak = await givenZaak(test, { zaaktype })
    const { sql } = database
    const id = sql`(select id from zaak where uuid = ${zaak.uuid})`
    await sql`insert into status (zaak_id, statustype_id, datum_status_gezet)
      select ${id}, (select id from statustype where uuid = ${uuidOf(statustype)}), timestamptz '2020-01-01Z' + n * interval '1 minute'
      from generate_series(1, ${LIMITS.statussen}::int) n`
    const status = { zaak: zaak.url, statustype, datumStatusGezet: '2026-01-01T00:00:00Z' }
    t.same(faultsOf(await call('POST', `${ZAKEN}/statussen`, status)), ['nonFieldErrors: max_items'])

    await sql`insert into zaakinformatieobject (zaak_id, informatieobject_url, status_id)
      select ${id}, 'https://elders.example/documenten/' || n, (select max(id) from status)
      from generate_series(1, ${LIMITS.statussen}::int) n`
    const [{ uuid } = { uuid: '' }] = await sql<{ uuid: string }[]>`select uuid from status order by id desc limit 1`
    const document = { zaak: zaak.url, informatieobject: await givenDocument(test, informatieobjecttype) }
    t.same(
      faultsOf(
        await call('POST', `${ZAKEN}/zaakinformatieobjecten`, {
          ...document,
          status: `${BASE}${ZAKEN}/statussen/${uuid}`,
        }),
      ),
      ['status: max_items'],
    )

    await sql`insert into zaak (identificatie, bronorganisatie, verantwoordelijke_organisatie, zaaktype_id, startdatum,
        vertrouwelijkheidaanduiding, hoofdzaak_id)
      select 'DEEL-' || n, bronorganisatie, verantwoordelijke_organisatie, zaaktype_id, startdatum, vertrouwelijkheidaanduiding, id
      from zaak, generate_series(1, ${LIMITS.related}::int) n where uuid = ${zaak.uuid}`
    const other = await givenZaak(test, { zaaktype })
    t.match(faultsOf(await call('PATCH', other.url, { hoofdzaak: zaak.url }, CRS)), ['hoofdzaak: max_items'])

    await sql`insert into zaak_gerelateerde_zaak (zaak_id, andere_zaak_url)
      select ${id}, 'https://elders.example/zaken/' || n from generate_series(1, ${LIMITS.related}::int) n`
    const related = await call('PATCH', other.url, { gerelateerdeZaken: [{ url: zaak.url }] }, CRS)
    t.same(faultsOf(related), ['gerelateerdeZaken: max_items'])
    t.same((await get(other.url)).body.gerelateerdeZaken, [])
  })

  await t.test('a page has cases with long lists in their place, complete', async (t) => {
    const many = LIMITS.relatedOnPage + 10
    const zaken = []
    for (let n = 0; n < 4; n++) {
      const kenmerken = Array.from({ length: n === 3 ? many : 1 }, (_, i) => ({ kenmerk: `k${i}`, bron: 'b' }))
      zaken.unshift(await givenZaak(test, { zaaktype, toelichting: 'bladzijde', kenmerken }))
    }
    await fill(zaken[2], many)
    const uuids = zaken.map(({ uuid }) => uuid)
    const page = await call('POST', `${ZAKEN}/zaken/_zoek`, { uuid__in: uuids }, CRS)
    t.same(
      page.body.results.map(({ uuid }: { uuid: string }) => uuid),
      uuids,
    )
    const [withKenmerken, , withParts, plain] = page.body.results
    t.equal(withKenmerken.kenmerken.length, many)
    t.equal(plain.kenmerken.length, 1)
    for (const list of Object.keys(LISTS)) t.equal(withParts[list].length, many)
    const rol = await get(`${withParts.rollen[0]}?expand=zaak`)
    t.equal(rol.body._expand.zaak.rollen.length, many, 'expanded it is complete too')
  })

  await t.test(
    'objects with large data are listed complete, and expanded as far as an answer holds them',
    async (t) => {
      const large = JSON.stringify({ overigeData: { lijst: Array.from({ length: 10_000 }, (_, n) => [n]) } })
      const add = (zaak: { uuid: string }, many: number) => database.sql`
      insert into zaakobject (zaak_id, object, object_type, object_type_overige, object_identificatie)
      select z.id, '', 'overige', 'lijst', ${large}::text::jsonb from zaak z, generate_series(1, ${many}::int)
      where z.uuid = ${zaak.uuid}`
      const [many, few] = [await givenZaak(test, { zaaktype }), await givenZaak(test, { zaaktype })]
      await add(many, 60)
      await add(few, 10)
      const page = await get(`${ZAKEN}/zaakobjecten?zaak=${encodeURIComponent(many.url)}`)
      t.equal(page.body.results.length, 60)
      t.equal(page.body.results.at(-1).objectIdentificatie.overigeData.lijst.length, 10_000)
      const refused = await get(`${many.url}?expand=zaakobjecten`)
      t.equal(refused.status, 400)
      t.same(faultsOf(refused), ['expand: max_items'])
      t.equal((await get(`${few.url}?expand=zaakobjecten`)).body._expand.zaakobjecten.length, 10)
      const others = await Promise.all([1, 2].map(() => givenZaak(test, { zaaktype })))
      for (const other of others) await add(other, 10)
      const urls = [few, ...others].map(({ uuid }) => uuid)
      const list = await call('POST', `${ZAKEN}/zaken/_zoek`, { uuid__in: urls, expand: 'zaakobjecten' }, CRS)
      t.same(
        list.body.results.map(({ _expand }: { _expand: { zaakobjecten: [] } }) => _expand.zaakobjecten.length),
        [10, 10, 10],
        'those of a page are too large together, and each by itself is not',
      )
    },
  )

  await t.test('a zaaktype has at most 1000 parts of a kind', async (t) => {
    const concept = await givenZaaktype(test, { catalogus, concept: true })
    await database.sql`insert into roltype (zaaktype_id, omschrijving, omschrijving_generiek)
      select z.id, 'R' || n, 'adviseur' from zaaktype z, generate_series(1, 1000) n where z.uuid = ${uuidOf(concept)}`
    const body = { zaaktype: concept, omschrijving: 'Nog een', omschrijvingGeneriek: 'adviseur' }
    t.same(faultsOf(await call('POST', '/catalogi/api/v1/roltypen', body)), ['nonFieldErrors: max_items'])
  })
})
