import Fastify from 'fastify'
import t from 'tap'
import { currentOf, followRequests } from '../../src/http/current-request.ts'
import { LIMITS } from '../../src/http/limits.ts'
import { sharePlaces } from '../../src/http/places.ts'
import { requestsWaiting } from '../../src/telemetry/metrics.ts'

t.test('places at work are shared by clients', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  followRequests(app)
  app.addHook('onRequest', async (request) => {
    request.actor = { clientId: String(request.headers.client) } as never
  })
  sharePlaces(app, 4)
  let working: { client: string; end(): void; away(): Promise<void>; back(): void }[] = []
  app.get('/', async (request) => {
    const [over, back] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    working.push({
      client: String(request.headers.client),
      end: over.resolve,
      away: () => currentOf(request).away(() => back.promise),
      back: back.resolve,
    })
    await over.promise
    return {}
  })
  const send = (client: string) => app.inject({ url: '/', headers: { client } })
  const turns = async () => {
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
  }
  const count = (client: string) => working.filter((one) => one.client === client).length

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
      for (let left = 0; left < working.length; left++) {
        working[left]!.end()
        await turns()
      }
      t.equal(count('a'), 7)
      for (const answer of await Promise.all(sent)) t.equal(answer.statusCode, 200)
      t.match(await requestsWaiting.get(), { values: [{ value: 0 }] })
    },
  )

  await t.test('a request that waits for another register leaves its place to others meanwhile', async (t) => {
    working = []
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
    working = []
    const sent = [send('a'), ...Array.from({ length: LIMITS.waitingOfClient + 2 }, () => send('b'))]
    await turns()
    t.equal((await send('b')).statusCode, 503)
    for (let left = 0; left < working.length; left++) {
      working[left]!.end()
      await turns()
    }
    for (const answer of await Promise.all(sent)) t.equal(answer.statusCode, 200)
  })

  await t.test('a request whose client has gone while it waited is not worked on, and takes no place', async (t) => {
    working = []
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
    for (let left = 0; left < working.length; left++) {
      working[left]!.end()
      await turns()
    }
    t.equal(count('b'), 3, 'only those whose client is there')
    for (const answer of await Promise.all(sent)) t.equal(answer.statusCode, 200)
    working = []
    const after = [send('a'), ...Array.from({ length: 3 }, () => send('b'))]
    await turns()
    t.equal(count('b'), 2, 'there are as many places as before')
    for (let left = 0; left < working.length; left++) {
      working[left]!.end()
      await turns()
    }
    await Promise.all(after)
  })
})
