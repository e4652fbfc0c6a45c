// A bare route, as a process of its own: Fastify, a token checked by HS256, a JSON body in and one out. What any service takes that
// answers a change over HTTP in Node.
import { createVerifier } from 'fast-jwt'
import fastify from 'fastify'

const verify = createVerifier({ key: process.env.BARE_SECRET! })
const app = fastify({ logger: false })
app.post('/', async (request, reply) => {
  verify(request.headers.authorization?.slice('Bearer '.length) ?? '')
  return reply.code(201).send({ ...(request.body as object), uuid: crypto.randomUUID() })
})
process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }))
process.once('disconnect', () => process.exit())
