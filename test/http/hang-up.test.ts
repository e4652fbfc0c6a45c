// Whoever hangs up while being authenticated, on every route: nothing of the request may stay. Its hooks run on after the
// connection has ended, so what waits for that end would wait for ever.
// In a process of its own: it counts what is alive in it.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { queryObjects } from 'node:v8'
import type { FastifyInstance } from 'fastify'
import postgres from 'postgres'
import t from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { SECRET, testApp } from '../app.ts'
import { until } from '../until.ts'

const routes: { method: string; path: string }[] = []
const collect = (message: unknown) =>
  (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', ({ method, url }) => {
    const path = url.replace(/:uuid|:[a-z_]+/gi, '6b1d1ec5-7d3e-4ac1-a2c5-7a36cba36a5e')
    for (const name of [method].flat()) if (name !== 'HEAD') routes.push({ method: name, path })
  })
subscribe('fastify.initialization', collect)
const test = await testApp(t, { HTTP_MAX_CONNECTIONS_PER_ADDRESS: '2000', HTTP_MAX_CONNECTIONS: '4000' })
unsubscribe('fastify.initialization', collect)
await test.app.listen({ host: '127.0.0.1', port: 0 })
const { port } = test.app.server.address() as { port: number }
const authorization = `Bearer ${signToken('beheer', SECRET, { id: '', name: '' })}`

t.test('a request whose client hung up in its first hook leaves nothing behind, on every route', async (t) => {
  const apis = routes.filter(({ path }) => path.includes('/api/v1/'))
  t.ok(apis.length > 200, `${apis.length} routes`)
  const other = postgres(test.databaseUrl, { max: 1, onnotice: () => {} })
  t.teardown(() => other.end())
  const alive = () => Number(queryObjects(IncomingMessage)) + Number(queryObjects(ServerResponse))
  const before = alive()
  let asked = 0
  const count = () => void asked++
  test.app.server.on('request', count)
  for (const body of ['', '{}']) {
    // Who asks is looked up in the database, which answers nothing meanwhile.
    const open = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const locking = other.begin(async (sql) => {
      await sql`lock table applicatie in access exclusive mode`
      held.resolve()
      await open.promise
    })
    await held.promise
    test.parts.credentials.changed(undefined)
    asked = 0
    const sockets = apis.map(({ method, path }) => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      const length = body === '' ? '' : `content-type: application/json\r\ncontent-length: ${body.length}\r\n`
      const key = method === 'POST' ? `idempotency-key: "${path.length}-${Math.random()}"\r\n` : ''
      socket.write(
        `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\n${key}${length}\r\n${body}`,
      )
      return socket
    })
    await until('all requests', () => asked === apis.length)
    const ended = sockets.map((socket) => once(socket, 'close'))
    for (const socket of sockets) socket.destroy()
    await Promise.all(ended)
    await until('the server to see it', async () => {
      const connections = await new Promise<number>((resolve) =>
        test.app.server.getConnections((_, number) => resolve(number)),
      )
      return connections === 0
    })
    open.resolve()
    await locking
  }
  test.app.server.off('request', count)
  // A connection of the database belongs to the request that opened it.
  const few = 10 + 2 * test.config.databasePoolSize
  let left = Number.POSITIVE_INFINITY
  await until(
    'nothing of them',
    async () => {
      for (let call = 0; call < 20; call++) await test.call('GET', '/catalogi/api/v1/catalogussen')
      left = alive() - before
      return left <= few
    },
    60_000,
  ).catch(() => {})
  t.ok(left <= few, `${left} requests and responses of ${2 * apis.length} are still there`)
})

t.test('whoever waits for the end of a request or response does so by whenClosed', async (t) => {
  const wrong: string[] = []
  for (const file of globSync('src/**/*.ts')) {
    const text = await readFile(file, 'utf8')
    if (/\b(raw|response|res|request)\.(once|on)\('close'/.test(text)) wrong.push(file)
  }
  t.same(wrong, [])
})
