// How much an answer with `expand` may hold, and how it is written.
import Fastify, { type FastifyRequest } from 'fastify'
import t from 'tap'
import { systemActor } from '../../src/core/access.ts'
import { LIMITS } from '../../src/core/limits.ts'
import type { Problem } from '../../src/core/problem.ts'
import { sendCacheable } from '../../src/http/etag.ts'
import { type ExpandTree, expand, TooMuchExpanded } from '../../src/http/expand.ts'

const request = { actor: systemActor('test', 'http://localhost') } as unknown as FastifyRequest
const urls = (name: string, many: number) => Array.from({ length: many }, (_, n) => `${name}${n}`)

/** Relations `a` and `b`, and `deep` within `a`; what was read is counted. */
function given(deep = 0, text = '') {
  const read: Record<string, number> = {}
  const relation = (name: string, fields: object = {}, within?: ExpandTree) => ({
    component: 'zrc' as const,
    scopes: [],
    load: async (asked: string[]) => {
      read[name] = (read[name] ?? 0) + asked.length
      return new Map(asked.map((url) => [url, { url, text, ...fields }]))
    },
    ...(within && { within: () => within }),
  })
  const tree: ExpandTree = {
    a: relation('a', { deep: urls('d', deep) }, { deep: relation('deep') }),
    b: relation('b'),
  }
  return { read, tree }
}

t.test('what is too much is refused before anything of it is read, with the part to ask apart', async (t) => {
  const half = LIMITS.expanded / 2
  const { read, tree } = given()
  const resource = () => ({ a: urls('a', half), b: urls('b', half + 1) })
  const refused = await expand(request, [resource()], ['a', 'b'], tree).catch((error: Problem) => error)
  t.match(refused, { status: 400, invalidParams: [{ name: 'expand', code: 'max_items', reason: /Vraag b apart/ }] })
  t.same(read, {})
  const [one] = await expand(request, [{ a: urls('a', half), b: urls('b', half) }], ['a', 'b'], tree)
  t.match(one, { _expand: { b: { length: half } } })
})

t.test('levels that multiply are judged before the deepest is read', async (t) => {
  const { read, tree } = given(100)
  const refused = await expand(request, [{ a: urls('a', 50) }], ['a.deep'], tree).catch((error: Problem) => error)
  t.ok(refused instanceof TooMuchExpanded)
  t.same(read, { a: 50 }, 'fifty with a hundred each, beside the fifty themselves')
  await expand(request, [{ a: urls('a', 49) }], ['a.deep'], tree)
  t.same(read, { a: 99, deep: 100 }, 'those that they share are read once')
})

t.test('a large answer is written in pieces, and is the same as a whole', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const { tree } = given(10, 'ë"'.repeat(1000))
  const make = () => expand(request, [{ a: urls('a', 400), b: 'b1', c: undefined, d: [] }], ['a.deep', 'b'], tree)
  app.get('/', async (asked, reply) => sendCacheable(asked, reply, (await make())[0]!))
  const answer = await app.inject('/')
  t.equal(answer.statusCode, 200)
  t.ok(answer.body.length > LIMITS.portionBytes)
  t.equal(answer.body, JSON.stringify((await make())[0]))
  const again = await app.inject({ url: '/', headers: { 'if-none-match': String(answer.headers.etag) } })
  t.same([again.statusCode, again.body], [304, ''])
})
