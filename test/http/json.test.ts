import Fastify, { type FastifyRequest } from 'fastify'
import t from 'tap'
import { LIMITS } from '../../src/core/limits.ts'
import { jsonParser, validateInTurn } from '../../src/http/json.ts'

t.test('large bodies that come together are parsed and validated one at a time, others in between', async (t) => {
  let turn = 0
  let goOn = true
  const count = () => {
    turn++
    if (goOn) setImmediate(count)
  }
  const steps: number[] = []
  const app = Fastify()
  t.teardown(() => app.close())
  const parse = jsonParser(app)
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    const value = await parse(request, body)
    steps.push(turn)
    return value
  })
  validateInTurn(app)
  app.setValidatorCompiler(() => (value) => {
    steps.push(turn)
    return { value }
  })
  app.post('/', { schema: { body: {} } }, async () => ({}))
  const send = (bytes: number) => app.inject({ method: 'POST', url: '/', payload: { text: 'x'.repeat(bytes) } })
  await app.ready()
  count()
  t.same(
    (await Promise.all(Array.from({ length: 10 }, () => send(LIMITS.smallBytes)))).map(({ statusCode }) => statusCode),
    Array(10).fill(200),
  )
  t.equal(steps.length, 20)
  t.equal(new Set(steps).size, 20, 'each in a turn of its own')
  steps.length = 0
  await send(LIMITS.smallBytes / 2)
  t.equal(new Set(steps).size, 1, 'a small one at once')
  goOn = false
})
