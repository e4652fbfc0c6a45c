// zrc-029: a search that says which fields it wants of each case, and of what it expands.
import t from 'tap'
import { givenClient, givenZaaktype, testApp, uuidOf } from '../app.ts'
import { CRS, faultsOf, givenZaak, made, ZAKEN } from './given.ts'

t.test('zrc-029: a search answers the fields that it names', async (t) => {
  const test = await testApp(t)
  const zaaktype = await givenZaaktype(test, { statustypen: ['Begin', 'Eind'] })
  const zaak = await givenZaak(test, {
    zaaktype,
    processobject: { datumkenmerk: 'd', identificatie: 'p1', objecttype: 'o', registratie: 'r' },
    kenmerken: [{ kenmerk: 'k1', bron: 'b1' }],
  })
  const { statustypen } = (await test.call('GET', zaaktype)).body
  const statustype = (await test.call('GET', statustypen[0])).body
  const status = made(
    await test.call('POST', `${ZAKEN}/statussen`, {
      zaak: zaak.url,
      statustype: statustype.url,
      datumStatusGezet: '2026-03-02T10:00:00Z',
    }),
  )
  const search = (fields: unknown, more: object = {}, query = '', as = 'beheer') =>
    test.call('POST', `${ZAKEN}/zaken/_zoek${query}`, { uuid__in: [zaak.uuid], fields, ...more }, { ...CRS, as })
  const found = async (fields: unknown) => (await search(fields)).body.results

  await t.test('expand of a search is taken from the query string too, also when it stands there twice', async (t) => {
    for (const query of ['?expand=status,status.statustype', '?expand=status&expand=status.statustype']) {
      const answer = await search(undefined, {}, query)
      t.equal(answer.status, 200, answer.text)
      t.equal(answer.body.results[0]._expand.status._expand.statustype.url, statustype.url)
    }
  })

  await t.test('names of fields', async (t) => {
    t.strictSame(await found(['identificatie', 'onbekend']), [{ identificatie: zaak.identificatie }])
    t.strictSame(await found([]), [{}])
    const [all] = await found(['*'])
    t.match(all, { url: zaak.url, einddatum: null, kenmerken: [{ kenmerk: 'k1' }] })
  })

  await t.test('the fields of groups, and of a list of them', async (t) => {
    t.strictSame(await found(['url', { processobject: ['identificatie'], kenmerken: ['bron'] }]), [
      { url: zaak.url, processobject: { identificatie: 'p1' }, kenmerken: [{ bron: 'b1' }] },
    ])
  })

  await t.test('the fields of relations, which are expanded for it', async (t) => {
    t.strictSame(
      await found([
        'uuid',
        {
          status: ['datumstatusgezet', { statustype: ['omschrijving'] }],
          zaaktype: ['identificatie', { catalogus: ['rsin'] }],
          rollen: ['*'],
        },
      ]),
      [
        {
          uuid: zaak.uuid,
          _expand: {
            status: { datumStatusGezet: '2026-03-02T10:00:00Z', _expand: { statustype: { omschrijving: 'Begin' } } },
            zaaktype: { identificatie: 'MELDING', _expand: { catalogus: { rsin: '000000000' } } },
            rollen: [],
          },
        },
      ],
    )
    const [{ _expand }] = await found([{ status: ['*'] }])
    t.strictSame(_expand.status, status)
  })

  await t.test('what is no such list, or goes with expand, is refused', async (t) => {
    for (const fields of ['url', { url: true }, [1], [null], [['url']], [{ status: 'url' }], [{ status: { a: 1 } }]])
      t.same(faultsOf(await search(fields)), ['fields: invalid'], JSON.stringify(fields))
    const deep = (depth: number): unknown => (depth === 0 ? ['url'] : [{ hoofdzaak: deep(depth - 1) }])
    t.equal((await search(deep(3))).status, 200)
    t.same(faultsOf(await search(deep(4))), ['fields: invalid'])
    t.same(faultsOf(await search(['url'], { expand: ['status'] })), ['fields: invalid'])
    t.same(faultsOf(await search(['url'], {}, '?expand=status')), ['fields: invalid'])
  })

  await t.test('a relation asks for the right to read it', async (t) => {
    const right = { component: 'zrc', scopes: ['zaken.lezen'], typeUuid: uuidOf(zaaktype), max: 'zeer_geheim' }
    const as = await givenClient(test, 'lezer', [right])
    t.equal((await search([{ status: ['url'] }], {}, '', as)).status, 200)
    t.equal((await search([{ zaaktype: ['omschrijving'] }], {}, '', as)).status, 403)
  })
})
