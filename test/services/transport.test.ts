import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { failureKind, openAgent, sendWithin } from '../../src/services/transport.ts'

t.test('of an answer no more than the limit is read, and then the connection is closed', async (t) => {
  const closed = Promise.withResolvers<void>()
  const url = await givenServer(t, (_request, response) => {
    response.on('close', closed.resolve)
    response.write('0123456789') // and it never ends
  })
  const answer = await sendWithin(60_000, givenAgent(t), { url, method: 'GET', limit: 4 })
  t.match(answer, { status: 200, truncated: true })
  t.equal(answer.body.toString(), '0123')
  await closed.promise
})

t.test('an answer as long as the limit is whole', async (t) => {
  const url = await givenServer(t, (_request, response) => {
    response.writeHead(201, { 'x-own': 'yes' }).end('0123')
  })
  const answer = await sendWithin(60_000, givenAgent(t), { url, method: 'POST', body: '{}', limit: 4 })
  t.match(answer, { status: 201, truncated: false, headers: { 'x-own': 'yes' } })
  t.equal(answer.body.toString(), '0123')
})

t.test('the term covers the answer to its last byte, and waiting for a connection', async (t) => {
  const sent: string[] = []
  const url = await givenServer(t, (request, response) => {
    sent.push(request.url!)
    response.write('begun')
  })
  const agent = givenAgent(t)
  const slow = sendWithin(400, agent, { url: new URL('first', url), method: 'GET', limit: 100 })
  const queued = sendWithin(50, agent, { url: new URL('second', url), method: 'GET', limit: 100 })
  t.equal(await queued.catch(failureKind), 'timeout')
  t.equal(await Promise.race([slow, 'still open']), 'still open')
  t.equal(await slow.catch(failureKind), 'timeout')
  t.same(sent, ['/first'], 'what nobody waits for any more is not sent')
})

t.test('a server that breaks off halfway is a failure', async (t) => {
  const url = await givenServer(t, (_request, response) => {
    response.writeHead(200, { 'content-length': 10 }).write('abc', () => response.destroy())
  })
  const answer = sendWithin(60_000, givenAgent(t), { url, method: 'GET', limit: 100 })
  t.equal(await answer.catch(failureKind), 'connection')
})

async function givenServer(t: Test, listener: RequestListener): Promise<URL> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
}

function givenAgent(t: Test) {
  const agent = openAgent({ connections: 1 })
  t.teardown(() => agent.destroy())
  return agent
}
