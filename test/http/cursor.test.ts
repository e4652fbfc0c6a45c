import t from 'tap'
import { cursorText } from '../../src/http/page.ts'
import { type Answer, givenCatalogus, givenZaaktype, testApp, uuidOf } from '../app.ts'
import { CRS, faultsOf, givenZaak, ZAKEN } from '../zaken/given.ts'

t.test('cursor and limit', async (t) => {
  const test = await testApp(t)
  const { call, database } = test
  const zaaktype = await givenZaaktype(test, { catalogus: await givenCatalogus(test) })
  const get = (url: string): Promise<Answer> => call('GET', url, undefined, CRS)
  const cases: { url: string; identificatie: string }[] = []
  // Two of each day, so that the key decides as well.
  for (let n = 0; n < 10; n++) cases.push(await givenZaak(test, { zaaktype, startdatum: `2026-03-0${1 + (n >> 1)}` }))
  const urls = ({ body }: Answer): string[] => body.results.map(({ url }: { url: string }) => url)
  const list = async (query = '') => urls(await get(`${ZAKEN}/zaken${query}`))
  const walk = async (begin: string, direction: 'next' | 'previous' = 'next') => {
    const pages: string[][] = []
    for (let at: string | null = begin; at; ) {
      const page: Answer = await get(at)
      t.equal(page.status, 200, page.text)
      pages.push(urls(page))
      t.equal(page.body.count, 10)
      at = page.body[direction]
    }
    return pages
  }

  await t.test('every order by keys is walked to its end and back', async (t) => {
    for (const order of [
      '',
      'ordering=startdatum',
      'ordering=-startdatum',
      'ordering=-registratiedatum,-identificatie',
    ]) {
      const all = await list(`?${order}`)
      const begin = `${ZAKEN}/zaken?limit=3&${order}`
      const pages = await walk(begin)
      t.strictSame(
        pages.map(({ length }) => length),
        [3, 3, 3, 1],
      )
      t.strictSame(pages.flat(), all, order)
      let last = await get(begin)
      while (last.body.next) last = await get(last.body.next)
      const back = await walk(last.body.previous, 'previous')
      t.strictSame(back.reverse().flat(), all.slice(0, 9), `${order}, back`)
    }
  })

  await t.test('Link has first, prev and next', async (t) => {
    const first = await get(`${ZAKEN}/zaken?limit=4`)
    t.equal(
      first.headers.link,
      `<http://localhost${ZAKEN}/zaken?limit=4>; rel="first", <${first.body.next}>; rel="next"`,
    )
    t.equal(first.body.previous, null)
    const second = await get(first.body.next)
    t.match(String(second.headers.link), /rel="first", <[^>]+>; rel="prev", <[^>]+>; rel="next"$/)
    t.strictSame(urls(await get(second.body.previous)), urls(first))
    const third = await get(second.body.next)
    t.equal(third.body.next, null)
    t.notMatch(String(third.headers.link), /rel="next"/)
  })

  await t.test('what is made and deleted meanwhile leaves nothing out and shows nothing twice', async (t) => {
    const before = await list()
    const first = await get(`${ZAKEN}/zaken?limit=3`)
    const third = before[2]!
    await call('DELETE', third, undefined, CRS) // whose values the cursor has
    const made = await givenZaak(test, { zaaktype })
    const second = await get(first.body.next)
    t.strictSame(urls(second), before.slice(3, 6))
    t.equal(second.body.count, first.body.count, 'the count is that of the first page')
    t.equal((await get(`${ZAKEN}/zaken?limit=3`)).body.count, 10)
    await call('DELETE', made.url, undefined, CRS)
    await givenZaak(test, { zaaktype })
  })

  await t.test('a search is walked too, and a _batch tells where its filter goes on', async (t) => {
    const all = await list()
    const uuid__in = all.map(uuidOf)
    const search = await call('POST', `${ZAKEN}/zaken/_zoek?limit=4`, { uuid__in }, CRS)
    const { pathname, search: query } = new URL(search.body.next)
    const second = await call('POST', pathname + query, { uuid__in }, CRS)
    t.strictSame([...urls(search), ...urls(second)], all.slice(0, 8))

    await database.sql`
      insert into zaak (identificatie, bronorganisatie, verantwoordelijke_organisatie, zaaktype_id, startdatum, vertrouwelijkheidaanduiding)
      select 'VEEL-' || n, bronorganisatie, verantwoordelijke_organisatie, zaaktype_id, startdatum, vertrouwelijkheidaanduiding
      from zaak, generate_series(1, 150) n where uuid = ${uuidOf(all[0]!)}`
    const filter = { zaaktype }
    const { body } = await call('POST', `${ZAKEN}/zaken/_batch`, { requests: [{ filter }] }, CRS)
    const [{ items, nextToken }] = body.results
    const rest = await get(`${ZAKEN}/zaken?limit=500&zaaktype=${encodeURIComponent(zaaktype)}&cursor=${nextToken}`)
    const found = [...items.map(({ url }: { url: string }) => url), ...urls(rest)]
    t.strictSame(found, await list('?pageSize=500'))
    t.equal(rest.body.count, 160, 'the count is counted where the cursor has none')
    await database.sql`delete from zaak where identificatie like 'VEEL-%'`
  })

  await t.test('what is no cursor of this list is refused', async (t) => {
    const plain = Buffer.from(JSON.stringify([0, 1, '1'])).toString('base64url')
    const cursor = (...at: string[]) => cursorText(test.parts.box, { at, isBefore: false }, 1)
    const { next } = (await get(`${ZAKEN}/zaken?limit=1&ordering=startdatum`)).body
    const other = new URL(next).searchParams.get('cursor')
    for (const wrong of [
      'x',
      plain,
      cursor(),
      cursor('x'),
      cursor('\u0000'),
      cursor('99999999999999999999'),
      cursor('1', '2'),
      other,
    ]) {
      const answer = await get(`${ZAKEN}/zaken?limit=1&cursor=${wrong}`)
      t.strictSame([answer.status, ...faultsOf(answer)], [400, 'cursor: invalid'], `${wrong}`)
    }
    for (const [query, fault] of [
      ['limit=0', 'limit: min_value'],
      ['limit=501', 'limit: max_value'],
      ['limit=x', 'limit: invalid'],
      ['limit=1&page=2', 'cursor: invalid'],
      ['limit=1&pageSize=2', 'cursor: invalid'],
      ['limit=1&ordering=einddatum', 'ordering: invalid'],
      ['limit=1&ordering=startdatum,-identificatie', 'ordering: invalid'],
    ])
      t.strictSame(faultsOf(await get(`${ZAKEN}/zaken?${query}`)), [fault], query!)
  })
})
