import t from 'tap'
import { givenZaaktype, testApp } from '../app.ts'
import { givenOtherServer } from '../other-server.ts'
import { CRS, faultsOf, ZAKEN } from './given.ts'

t.test('zrc-010, zrc-011: what a case names elsewhere answers, and is of its kind', async (t) => {
  const test = await testApp(t)
  const zaaktype = await givenZaaktype(test)
  const { root } = await givenOtherServer(t, test, {
    '/kanalen/1': { url: 'https://elders.example/kanalen/1', naam: 'Balie', omschrijving: 'Aan de balie' },
    '/kanalen/anders': { url: 'https://elders.example/kanalen/anders', naam: 'Balie' },
    '/zaken/1': {
      url: 'https://elders.example/zaken/1',
      identificatie: 'ZAAK-1',
      zaaktype: 'https://elders.example/z',
    },
    '/zaken/anders': { url: 'https://elders.example/zaken/anders', identificatie: 'ZAAK-1' },
  })
  const create = (given: object) =>
    test.call(
      'POST',
      `${ZAKEN}/zaken`,
      {
        bronorganisatie: '517439943',
        verantwoordelijkeOrganisatie: '517439943',
        zaaktype,
        startdatum: '2026-03-02',
        ...given,
      },
      CRS,
    )
  for (const [path = '', ...expected] of [
    ['1'],
    ['anders', 'communicatiekanaal: invalid-resource'],
    ['weg', 'communicatiekanaal: bad-url'],
  ])
    t.same(faultsOf(await create({ communicatiekanaal: `${root}/kanalen/${path}` })), expected, path)
  for (const [path = '', ...expected] of [
    ['1'],
    ['anders', 'relevanteAndereZaken.0.url: invalid-resource'],
    ['weg', 'relevanteAndereZaken.0.url: bad-url'],
  ])
    t.same(
      faultsOf(await create({ relevanteAndereZaken: [{ url: `${root}/zaken/${path}`, aardRelatie: 'vervolg' }] })),
      expected,
      path,
    )
})
