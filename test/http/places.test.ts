import Fastify, { type FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import { LIMITS } from '../../src/core/limits.ts'
import { jsonParser } from '../../src/http/json.ts'
import { sharePlaces } from '../../src/http/places.ts'
import { eachOfOne } from '../../src/telemetry/current-organisation.ts'
import { currentOf, followRequests } from '../../src/telemetry/current-request.ts'
import { requestsWaiting } from '../../src/telemetry/metrics.ts'
import { until } from '../until.ts'

/** An application whose requests are done when the test says so. `working` holds those that have begun. */
function givenPlaces(t: Test, poolSize: number) {
  const app = Fastify()
  t.teardown(() => app.close())
  followRequests(app)
  app.addHook('onRequest', async (request) => {
    const { client, account } = request.headers
    if (client) request.actor = { clientId: client } as never
    if (account) request.beheerder = { id: account } as never
  })
  app.decorate('each', eachOfOne(app))
  sharePlaces(app, () => poolSize)
  const working: { client: string; end(): void; away(): Promise<void>; back(): void }[] = []
  const work = async (request: FastifyRequest) => {
    const [over, back] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    working.push({
      client: String(request.headers.client ?? request.headers.account),
      end: over.resolve,
      away: () => currentOf(request).away(() => back.promise),
      back: back.resolve,
    })
    await over.promise
    return {}
  }
  app.get('/', work).post('/', work).get('/other', work)
  const turns = async () => {
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
  }
  return {
    app,
    working,
    turns,
    send: (client: string) => app.inject({ url: '/', headers: { client } }),
    count: (client: string) => working.filter((one) => one.client === client).length,
    /** Ends those at work, and those that begin thereby. */
    endAll: async () => {
      for (let left = 0; left < working.length; left++) {
        working[left]!.end()
        await turns()
      }
    },
  }
}

t.test('places at work are shared by clients', async (t) => {
  const { app, working, turns, send, count, endAll } = givenPlaces(t, 4)

  await t.test(
    'a client that is alone has as many as it wants, and half of the connections beside others',
    async (t) => {
      const sent = Array.from({ length: 6 }, () => send('a'))
      await turns()
      t.equal(count('a'), 6)
      sent.push(...Array.from({ length: 3 }, () => send('b')))
      await turns()
      t.equal(count('b'), 2, 'the third waits')
      t.match(await requestsWaiting.get(), { values: [{ value: 1 }] }, 'as the metrics tell')
      sent.push(send('a'))
      await turns()
      t.equal(count('a'), 6, 'so does one more of the first')
      working.find(({ client }) => client === 'b')!.end()
      await turns()
      t.equal(count('b'), 3, 'whoever leaves hands its place on')
      await endAll()
      t.equal(count('a'), 7)
      for (const answer of await Promise.all(sent)) t.equal(answer.statusCode, 200)
      t.match(await requestsWaiting.get(), { values: [{ value: 0 }] })
    },
  )

  await t.test('a request that waits for another register leaves its place to others meanwhile', async (t) => {
    working.length = 0
    const sent = [send('a'), send('b'), send('b'), send('b')]
    await turns()
    t.equal(count('b'), 2)
    const [first] = working.filter(({ client }) => client === 'b')
    const away = first!.away()
    await turns()
    t.equal(count('b'), 3)
    first!.back()
    await away
    for (const { end } of working) end()
    await Promise.all(sent)
  })

  await t.test('so many of one client may wait; more are answered 503', async (t) => {
    working.length = 0
    const sent = [send('a'), ...Array.from({ length: LIMITS.waitingOfClient + 2 }, () => send('b'))]
    await turns()
    t.equal((await send('b')).statusCode, 503)
    await endAll()
    for (const answer of await Promise.all(sent)) t.equal(answer.statusCode, 200)
  })

  await t.test('a request whose client has gone while it waited is not worked on, and takes no place', async (t) => {
    working.length = 0
    const stop = new AbortController()
    const sent = [send('a'), send('b'), send('b')]
    await turns()
    const gone = Array.from({ length: 3 }, () =>
      app.inject({ url: '/', headers: { client: 'b' }, signal: stop.signal }),
    )
    sent.push(send('b'))
    await turns()
    stop.abort()
    for (const one of gone) await t.rejects(one)
    await turns()
    await endAll()
    t.equal(count('b'), 3, 'only those whose client is there')
    for (const answer of await Promise.all(sent)) t.equal(answer.statusCode, 200)
    working.length = 0
    const after = [send('a'), ...Array.from({ length: 3 }, () => send('b'))]
    await turns()
    t.equal(count('b'), 2, 'there are as many places as before')
    await endAll()
    await Promise.all(after)
  })
})

t.test('costly questions leave connections and processors to others', async (t) => {
  // Time stands still: the test says how long a request waited for the database, and when it is later.
  let [now, idle] = [performance.now(), 0]
  t.intercept(performance, 'now', { value: () => now })
  t.intercept(performance, 'eventLoopUtilization', { value: () => ({ idle, active: 0, utilization: 0 }) })
  const { app, working, turns, send, count, endAll } = givenPlaces(t, 10)
  const sent: Promise<unknown>[] = []
  const begin = async (client: string, many: number) => {
    sent.push(...Array.from({ length: many }, () => send(client)))
    await turns()
  }
  const makeCostly = async (client: string) => {
    await begin(client, 1)
    idle += LIMITS.costlyMs + 1
    working.at(-1)!.end()
    await turns()
    working.length = 0
  }
  const endOne = async (client: string) => {
    const at = working.findIndex((one) => one.client === client)
    working.splice(at, 1)[0]!.end()
    await turns()
  }
  const end = async () => {
    await endAll()
    await Promise.all(sent)
    working.length = sent.length = 0
  }

  await t.test('a client that is alone has as many at work as it sends', async (t) => {
    await makeCostly('a')
    await begin('a', 12)
    t.equal(count('a'), 12)
    await end()
  })

  await t.test('of all clients together a fifth of the connections, and others are served beside them', async (t) => {
    await makeCostly('b')
    await makeCostly('a')
    await begin('a', 5)
    t.equal(count('a'), 2)
    await begin('c', 5)
    t.equal(count('c'), 5, 'who asks nothing costly has half of the connections')
    await endOne('a')
    t.equal(count('a'), 2, 'whoever leaves hands its place on')
    await begin('b', 3)
    t.equal(count('b'), 1, 'and each client has one at work')
    await endOne('a')
    t.same([count('a'), count('b')], [1, 1], 'those count')
    await endOne('b')
    t.same([count('a'), count('b')], [2, 1], 'those of all clients begin where there is room')
    await endOne('a')
    await endOne('b')
    t.same([count('a'), count('b')], [2, 1], 'in turn')
    await end()
  })

  await t.test('only a route that was asked lately, and where the database was waited for', async (t) => {
    await makeCostly('a')
    sent.push(...Array.from({ length: 5 }, () => app.inject({ url: '/other', headers: { client: 'a' } })))
    await turns()
    t.equal(count('a'), 5)
    idle += LIMITS.costlyMs
    await end()
    now += LIMITS.costlyForMs
    await begin('c', 1)
    await begin('a', 5)
    t.equal(count('a'), 5)
    await end()
  })

  await t.test('a change is none, however long it waited', async (t) => {
    const change = () => app.inject({ method: 'POST', url: '/', headers: { client: 'a' } })
    sent.push(change())
    await turns()
    idle += LIMITS.costlyMs + 1
    await end()
    sent.push(...Array.from({ length: 5 }, change))
    await turns()
    t.equal(count('a'), 5)
    await end()
  })

  await t.test('what a request waited for another register does not count', async (t) => {
    await begin('a', 1)
    const away = working[0]!.away()
    idle += LIMITS.costlyMs + 1
    working[0]!.back()
    await away
    await end()
    await begin('a', 5)
    t.equal(count('a'), 5)
    await end()
  })
})

t.test('an account of the pages has a fifth of the connections at work beside others', async (t) => {
  const { app, turns, send, count, endAll } = givenPlaces(t, 10)
  const sent = [send('a'), ...Array.from({ length: 4 }, () => app.inject({ url: '/', headers: { account: 'b' } }))]
  await turns()
  t.equal(count('b'), 2)
  await endAll()
  for (const answer of await Promise.all(sent)) t.equal(answer.statusCode, 200)
})

t.test(
  'large bodies of a client have a fifth of the connections beside others, and wait before they are parsed',
  async (t) => {
    const { app, working, turns, send, count, endAll } = givenPlaces(t, 10)
    let parsed = 0
    const parse = jsonParser(app)
    app.removeContentTypeParser('application/json')
    app.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer' },
      async (request: FastifyRequest, body: Buffer) => {
        const value = await parse(request, body)
        parsed++
        return value
      },
    )
    const address = await app.listen()
    const payload = { text: 'x'.repeat(LIMITS.smallBytes) }
    const many = () =>
      Array.from({ length: 5 }, () => app.inject({ method: 'POST', url: '/', headers: { client: 'a' }, payload }))

    const alone = many()
    await until('five at work', () => count('a') === 5)
    await endAll()
    for (const answer of await Promise.all(alone)) t.equal(answer.statusCode, 200)

    working.length = parsed = 0
    const sent = [send('c'), ...many()]
    const stop = new AbortController()
    const headers = { client: 'a', 'content-type': 'application/json' }
    const gone = fetch(address, { method: 'POST', headers, body: JSON.stringify(payload), signal: stop.signal })
    await until('four that wait', async () => (await requestsWaiting.get()).values[0]?.value === 4)
    await until('two at work', () => count('a') === 2)
    t.equal(parsed, 2, 'those that wait are bytes')
    sent.push(...Array.from({ length: 5 }, () => send('a')))
    await turns()
    t.equal(count('a'), 5, 'small ones are served beside them, as many as it has places')
    stop.abort()
    await t.rejects(gone)
    await until('five that wait', async () => (await requestsWaiting.get()).values[0]?.value === 5)
    await until('all of them', async () => {
      await endAll()
      return count('a') === 10
    })
    for (const answer of await Promise.all(sent)) t.equal(answer.statusCode, 200)
    t.equal(parsed, 5, 'nothing is done for one whose client has gone')
  },
)
