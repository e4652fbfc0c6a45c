import t from 'tap'
import { givenBesluittype, givenCatalogus, givenInformatieobjecttype, givenZaaktype } from '../app.ts'
import { setUpPages } from './browser.ts'
import { givenDocument, givenZaak } from './given.ts'

/** The long lists of the pages, and a row in each as its cursor names it. */
const LISTS: Record<string, string> = {
  '/zaken': '1',
  '/documenten': '1',
  '/besluiten': '1',
  '/audit': '1',
  '/uitgaand': '1',
  '/fouten': '1',
  '/notificaties': '2026-11-01T12:00:00.000000Z_1',
}

type Plan = { 'Node Type': string; 'Index Cond'?: string; 'Presorted Key'?: string[]; Plans?: Plan[] }
const below = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(below)]

/**
 * Whether a page is read from an index in its order, and from its row on when it begins at one. What is in the order of its
 * identificatie already is put in that of its number for a few rows at a time.
 */
const isWalked = (plan: Plan, beginsAtRow: boolean): boolean =>
  below(plan)
    .filter((node) => node['Node Type'] === 'Limit')
    .some((limit) => {
      const nodes = below(limit)
      const isSorted = nodes.some(
        (node) => /Sort/.test(node['Node Type']) && !/\.identificatie$/.test(node['Presorted Key']?.join() ?? ''),
      )
      const isEntered = nodes.some(({ 'Index Cond': condition = '' }) =>
        /ROW\(.*\) [<>] ROW\(|\bid [<>] |identificatie [<>]= \(InitPlan/.test(condition),
      )
      return !isSorted && isEntered === beginsAtRow
    })

t.test('every long list of the pages has an index in its order, which is entered where a page begins', async (t) => {
  const test = await setUpPages(t, {}, false)
  const { sql } = test.database
  const catalogus = await givenCatalogus(test)
  const informatieobjecttype = await givenInformatieobjecttype(test, { catalogus })
  const zaaktype = await givenZaaktype(test, { catalogus, informatieobjecttypen: [informatieobjecttype] })
  await givenZaak(test, zaaktype)
  await givenDocument(test, informatieobjecttype)
  const besluit = await test.call('POST', '/besluiten/api/v1/besluiten', {
    besluittype: await givenBesluittype(test, { catalogus }),
    verantwoordelijkeOrganisatie: '000000000',
    datum: '2026-11-01',
    ingangsdatum: '2026-11-01',
  })
  t.equal(besluit.status, 201, besluit.text)
  await sql`insert into outgoing_request (begun_at, service, method, host, path, outcome, ms)
    values (now(), 'https://elders.example', 'GET', 'elders.example', '/', 'answered', 1)`
  await sql`insert into beheer_audit (gebruiker, handeling, object_kind) values ('viewer', 'aanmelden', 'account')`
  const get = await test.signedIn('administrator')

  const pages: { text: string; values: unknown[] }[] = []
  const { reserve } = sql
  t.teardown(() => Object.assign(sql, { reserve }))
  Object.assign(sql, {
    reserve: async () => {
      const connection = await reserve.call(sql)
      const { unsafe } = connection
      connection.unsafe = ((text: string, values: unknown[] = [], ...rest: never[]) => {
        if (values.includes(51) && /order by/.test(text)) pages.push({ text, values }) // one more than a page has
        return unsafe.call(connection, text, values as never, ...rest)
      }) as typeof unsafe
      return connection
    },
  })
  for (const [list, row] of Object.entries(LISTS)) {
    const { body } = await get(`/beheer${list}`)
    const names = [...body.matchAll(/class="sorteer" href="[^"]*sorteer=-?(\w+)/g)].map(([, name]) => name!)
    const sorts = ['', ...new Set(names)].flatMap((name) => (name ? [name, `-${name}`] : ['']))
    t.equal(sorts.length > 1, list !== '/fouten', `${list} can be sorted`)
    for (const sorteer of sorts)
      for (const [cursor, beginsAtRow] of [
        ['', false],
        [`na=${row}`, true],
        [`voor=${row}`, true],
      ] as const) {
        pages.length = 0
        const url = `/beheer${list}?sorteer=${sorteer}&${cursor}`
        t.equal((await get(url)).statusCode, 200, url)
        t.equal(pages.length, 1, `${url} reads one page`)
        const [{ text, values }] = pages as [(typeof pages)[0]]
        const [explained] = await sql.begin(async (trx) => {
          // Of few rows every plan is cheap: what is off is taken only where no index does.
          for (const way of ['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin'])
            await trx.unsafe(`set local enable_${way} = off`)
          return trx.unsafe(`explain (format json) ${text}`, values as never)
        })
        const [{ Plan: plan }] = explained!['QUERY PLAN'] as [{ Plan: Plan }]
        t.ok(isWalked(plan, beginsAtRow), url, { plan })
      }
  }
})
