// In a process of its own: it measures memory.
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import Fastify from 'fastify'
import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { LIMITS } from '../../src/core/limits.ts'
import { sendProblem } from '../../src/core/problem.ts'
import { type Rows, sendRows } from '../../src/http/stream.ts'
import { SECRET, testApp } from '../app.ts'
import { memoryInUse } from '../memory.ts'
import { givenZaak, ZAKEN } from '../zaken/given.ts'

/** A server that answers with these rows; how many of them it has made. */
async function givenRows(t: { teardown(work: () => unknown): unknown }, next: Rows<number>['next']) {
  const app = Fastify()
  app.setErrorHandler((error, request, reply) => sendProblem(request, reply, error))
  app.decorateRequest('base', 'http://localhost')
  let made = 0
  app.get('/', (request, reply) =>
    sendRows(request, reply, {
      first: 100,
      next: async (limit) => {
        const portion = await next(limit)
        made += portion.rows.length
        return portion
      },
      toResources: (rows) => rows.map((row) => ({ row, text: 'x'.repeat(400) })),
    }),
  )
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => app.close())
  const { port } = app.server.address() as AddressInfo
  return { app, made: () => made, open: () => answerOf(`http://127.0.0.1:${port}/`) }
}

async function answerOf(url: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  const [answer] = (await once(get(url, { headers }), 'response')) as [IncomingMessage]
  return answer
}

/** Rows 0 to `total`; `fail` is thrown where that row would come. */
function rowsTo(total: number, fail = Number.POSITIVE_INFINITY): Rows<number>['next'] {
  let from = 0
  return async (limit) => {
    if (from >= fail) throw new Error('the source is gone')
    const rows = Array.from({ length: Math.min(limit, total - from) }, (_, index) => from + index)
    from += rows.length
    return { rows, more: from < total }
  }
}

t.test('rows are made as fast as they are read, and the answer is complete', async (t) => {
  const total = 200_000
  const { open, made } = await givenRows(t, rowsTo(total))
  const answer = await open()
  answer.pause()
  for (let before = -1, quiet = 0; quiet < 500; quiet = made() === before ? quiet + 1 : 0) {
    before = made()
    await setImmediate()
  }
  t.ok(made() < total / 4, `${made()} rows were made for a client that reads nothing`)
  let text = ''
  for await (const piece of answer.setEncoding('utf8')) text += piece
  t.same(
    JSON.parse(text).map(({ row }: { row: number }) => row),
    Array.from({ length: total }, (_, index) => index),
  )
})

t.test('an answer that cannot be completed is broken off, and a small one is a problem', async (t) => {
  const large = await givenRows(t, rowsTo(100_000, 20_000))
  const answer = await large.open()
  t.equal(answer.statusCode, 200)
  await t.rejects(async () => {
    for await (const _ of answer);
  }, 'aborted')
  const small = await givenRows(t, rowsTo(1000, 100))
  t.equal((await small.open()).statusCode, 500)
})

t.test('a reader that leaves ends the reading', async (t) => {
  const total = 1_000_000
  const { open, made, app } = await givenRows(t, rowsTo(total))
  const answer = await open()
  await once(answer, 'data')
  answer.destroy()
  await app.close()
  t.ok(made() < total)
})

t.test('a client has so many streamed answers at once, and gives their places back', async (t) => {
  const { open, app } = await givenRows(t, async (limit) => ({ rows: Array(limit * 50).fill(0), more: true }))
  const answers = await Promise.all(Array.from({ length: 40 }, open))
  const begun = answers.filter(({ statusCode }) => statusCode === 200)
  t.equal(begun.length, LIMITS.streamsOfClient)
  const refused = answers.find(({ statusCode }) => statusCode !== 200)!
  t.match(refused, { statusCode: 503, headers: { 'retry-after': '5' } })
  begun[0]!.destroy()
  let again = await open()
  for (; again.statusCode === 503; again = await open()) again.resume() // until the server hears of the end
  t.equal(again.statusCode, 200)
  app.server.closeAllConnections()
})

t.test('HEAD of a long list reads no more than its beginning', async (t) => {
  const { app, made } = await givenRows(t, rowsTo(1_000_000))
  const { statusCode, body } = await app.inject({ method: 'HEAD', url: '/' })
  t.same([statusCode, body], [200, ''])
  t.ok(made() < 10_000)
})

t.test('an unpaginated list of 100,000 rows is complete, and the memory of the service stays level', async (t) => {
  const test = await testApp(t)
  const zaak = await givenZaak(test)
  const total = 100_000
  await test.database.sql.begin(async (trx) => {
    await trx`set local statement_timeout = 0`
    await trx`
      insert into zaakinformatieobject (zaak_id, informatieobject_url, beschrijving)
      select z.id, 'https://elders.example/documenten/' || n, repeat('b', 200)
      from zaak z, generate_series(1, ${total}) n where z.uuid = ${zaak.uuid}`
  })
  await test.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = test.app.server.address() as AddressInfo
  const headers = { authorization: `Bearer ${signToken('beheer', SECRET, { id: 'g', name: 'G' })}` }
  const read = async (pages: string) => {
    const answer = await answerOf(`http://127.0.0.1:${port}${ZAKEN}/zaakinformatieobjecten${pages}`, headers)
    const seen = new Set<number>()
    let [rest, most, pieces] = ['', 0, 0]
    for await (const piece of answer.setEncoding('utf8')) {
      const text = rest + piece
      for (const [, number] of text.matchAll(/documenten\/(\d+)"/g)) seen.add(Number(number))
      rest = text.slice(-100)
      if (pieces++ % 300 === 0) most = Math.max(most, memoryInUse())
    }
    return { seen: seen.size, most, end: rest.at(-1) }
  }
  await read('') // what is allocated the first time only
  const before = memoryInUse()
  const { seen, most, end } = await read('')
  t.same([seen, end], [total, ']'])
  const growth = Math.round(most - before)
  t.ok(growth < 30, `grew by ${growth} MB`) // made whole it is 120
  t.ok(LIMITS.firstPortion < total)
})
