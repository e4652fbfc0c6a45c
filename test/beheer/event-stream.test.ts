import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import t from 'tap'
import { openEventStreams } from '../../src/beheer/frame/event-stream.ts'
import { LIMITS } from '../../src/core/limits.ts'
import { sendProblem } from '../../src/core/problem.ts'
import { eachOfOne } from '../../src/telemetry/current-organisation.ts'
import { until } from '../until.ts'

t.test('so many pages are kept up to date at once, and one that is closed makes room', async (t) => {
  const app = Fastify()
  t.teardown(() => {
    app.server.closeAllConnections()
    return app.close()
  })
  app.setErrorHandler((error, request, reply) => sendProblem(request, reply, error))
  app.decorateRequest('base', 'http://localhost')
  app.decorate('reader', { sql: async () => [{ id: 1, uuid: '', stamp: null }] } as never)
  app.decorate('hasMany', false)
  app.decorate('each', eachOfOne(app))
  const watch = openEventStreams(app)
  app.get('/', (request, reply) => {
    request.session = { id: 1 } as never
    return watch(request, reply, 'import', async () => ({ values: {}, spoken: '', done: false }))
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const open = async () => {
    const stop = new AbortController()
    const response = await fetch(`http://127.0.0.1:${port}/`, { signal: stop.signal })
    const { status, headers } = response
    // One that nobody holds any more is closed when its memory is collected.
    return { response, status, retryAfter: headers.get('retry-after'), stop: () => stop.abort() }
  }
  const opened = await Promise.all(Array.from({ length: LIMITS.livePages }, open))
  t.same(new Set(opened.map(({ status }) => status)), new Set([200]))
  t.match(await open(), { status: 503, retryAfter: '5' })
  opened[0]!.stop()
  t.ok(await until('room', async () => (await open()).status === 200, 30_000))
})
