import Fastify from 'fastify'
import t from 'tap'
import { sendPageOf } from '../../src/http/page.ts'
import { sendRows, Written } from '../../src/http/stream.ts'

t.test('links to other pages are normal URLs, with the other parameters in order', async (t) => {
  for (const base of ['http://localhost:8000', 'HTTP://LocalHost:80', 'https://example.org:443/zaak%20systeem']) {
    const app = Fastify()
    t.teardown(() => app.close())
    app.decorateRequest('base', base)
    const list = { count: async () => 1000, rows: async () => [], byKey: undefined }
    app.get('/*', (request, reply) => sendPageOf(request, reply, list, (rows) => rows))
    for (const path of ['/a/b-c', '/a/./b', '/a/', '/a/b%20c'])
      for (const query of [
        '',
        '?',
        '?z=1&a',
        '?b=2&b=1&&=x',
        '?x=a+b%20c%C3%A9',
        '?x=(é)',
        '?q.r=_-&page=2',
        '?page=2',
      ]) {
        const answer = await app.inject({ url: `${path}${query}` })
        const { next, previous } = answer.json()
        const page = query.includes('page=2') ? 2 : 1
        const link = (to: number) => {
          const url = new URL(base + path + query)
          if (to === 1) url.searchParams.delete('page')
          else url.searchParams.set('page', String(to))
          url.searchParams.sort()
          return url.href
        }
        t.equal(next, link(page + 1), `next of ${base}${path}${query}`)
        const related = { first: 1, ...(page > 1 && { prev: 1 }), next: page + 1, last: 10 }
        t.equal(
          answer.headers.link,
          Object.entries(related)
            .map(([rel, to]) => `<${link(to)}>; rel="${rel}"`)
            .join(', '),
          'Link names them too (RFC 8288)',
        )
        t.equal(previous, page === 1 ? null : link(1), `previous of ${base}${path}${query}`)
      }
  }
})

t.test('resources that are written in pieces keep their place among the others', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  async function* pieces(one: number) {
    yield `{"one":`
    yield `${one}}`
  }
  for (const written of [[], [0], [15, 16, 17], [39], [3, 20]]) {
    const url = `/${written.join('-')}`
    app.get(url, (request, reply) =>
      sendRows(request, reply, {
        first: 40,
        next: async () => ({ rows: Array.from({ length: 40 }, (_, one) => one), more: false }),
        toResources: (rows) => rows.map((one) => (written.includes(one) ? new Written(pieces(one)) : { one })),
      }),
    )
  }
  for (const url of ['/', '/0', '/15-16-17', '/39', '/3-20'])
    t.strictSame(
      (await app.inject(url)).json(),
      Array.from({ length: 40 }, (_, one) => ({ one })),
      `written: ${url}`,
    )
})
