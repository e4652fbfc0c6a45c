import { once } from 'node:events'
import { connect } from 'node:net'
import multipart from '@fastify/multipart'
import Fastify from 'fastify'
import t from 'tap'
import { head } from '../../bench/attacks/attack.ts'
import { LIMITS } from '../../src/core/limits.ts'
import { sendProblem } from '../../src/core/problem.ts'
import { formParts, readForms } from '../../src/http/forms.ts'

const TYPE = 'multipart/form-data; boundary=grens'
const field = (name: string, value = '') =>
  `--grens\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const file = (bytes: string) =>
  `--grens\r\nContent-Disposition: form-data; name="bestand"; filename="x"\r\n\r\n${bytes}\r\n`
const END = '--grens--\r\n'

/** A route that answers the parts which it saw, of a form with two fields of 10 bytes and a file of 1000. */
async function givenForms(t: { teardown(work: () => unknown): unknown }) {
  const app = Fastify()
  t.teardown(() => app.close())
  const seen: string[] = []
  app.decorateRequest('base', 'http://localhost')
  app.setErrorHandler((error, request, reply) => sendProblem(request, reply, error))
  await app.register(multipart)
  readForms(app, 1024 * 1024)
  app.post('/', async (request) => {
    seen.length = 0
    if (!request.isMultipart()) return request.body
    for await (const part of formParts(request, { fields: 2, fieldBytes: 10, fileBytes: 1000 })) {
      if (part.type === 'field') seen.push(`${part.fieldname}=${part.value}`)
      else seen.push(`${part.filename}: ${(await part.toBuffer()).length}${part.file.truncated ? ' of more' : ''}`)
    }
    return seen
  })
  const post = (payload: string, type = TYPE) =>
    app.inject({ method: 'POST', url: '/', payload, headers: { 'content-type': type } })
  return { app, seen, post }
}

t.test('the parts of a form come in their order, whatever the pieces in which it is sent', async (t) => {
  const { app, post } = await givenForms(t)
  const whole = `${field('a', 'x')}${file('y'.repeat(900))}${field('b', 'z')}${END}`
  const parts = ['a=x', 'x: 900', 'b=z']
  t.same((await post(whole)).json(), parts)
  t.same(
    (await post(whole.replaceAll('grens', 'g ens'), 'multipart/form-data; charset=utf-8; boundary="g ens"')).json(),
    parts,
  )
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const socket = connect(Number(port), '127.0.0.1').setNoDelay()
  const headers = { host: 'x', 'content-type': TYPE, 'content-length': whole.length, connection: 'close' }
  socket.write(head('POST', '/', headers))
  for (let at = 0; at < whole.length; at += 7) socket.write(whole.slice(at, at + 7))
  t.match(Buffer.concat(await Array.fromAsync(socket)).toString(), `\r\n\r\n${JSON.stringify(parts)}`)
})

t.test('a form of too many parts is refused before the first of them is made', async (t) => {
  const { seen, post } = await givenForms(t)
  const { statusCode, json } = await post(`${field('a').repeat(5)}${END}`)
  t.equal(statusCode, 400)
  t.equal(json().code, 'parse_error')
  t.same(seen, [])
  t.equal((await post(`${field('a')}${field('b')}${field('c')}${END}`)).statusCode, 400, 'one more than the fields')
  t.equal((await post(`${file('')}${file('')}${END}`)).statusCode, 400, 'two files')
})

t.test('whoever goes on sending a form that was refused gets the answer', async (t) => {
  const { app, seen } = await givenForms(t)
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const socket = connect(Number(port), '127.0.0.1')
  const parts = field('a').repeat(100_000)
  socket.write(head('POST', '/', { host: 'x', 'content-type': TYPE, 'content-length': parts.length }))
  const [answer] = await Promise.all([once(socket, 'data'), new Promise((resolve) => socket.write(parts, resolve))])
  t.match(String(answer[0]), /^HTTP\/1\.1 400 /)
  t.ok(seen.length <= 2)
  socket.destroy()
})

t.test('what is no whole form is refused', async (t) => {
  const { post } = await givenForms(t)
  for (const type of ['multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary="a\\"b"'])
    t.match((await post(END, type)).json(), { status: 400, code: 'parse_error' }, type)
  t.match((await post(field('a', 'x'))).json(), { status: 400, code: 'parse_error' }, 'without an end')
  t.match((await post(`${field('a', 'x')}${file('y')}`.slice(0, -10))).json(), { status: 400, code: 'parse_error' })
})

t.test('a file that is too long is cut, and says so', async (t) => {
  const { post } = await givenForms(t)
  t.same((await post(`${file('y'.repeat(5000))}${END}`)).json(), ['x: 1000 of more'])
})

t.test('fields of a form without files are counted before they are read', async (t) => {
  const { post } = await givenForms(t)
  const urlencoded = 'application/x-www-form-urlencoded'
  t.same((await post('a=1&b=%C3%A9+x&b=2&c', urlencoded)).json(), { a: '1', b: ['é x', '2'], c: '' })
  const many = 'a=1&'.repeat(LIMITS.formFields - 1)
  t.equal((await post(many, urlencoded)).json().a.length, LIMITS.formFields - 1)
  t.equal((await post(`${many}&`, urlencoded)).statusCode, 413)
  t.equal((await post('__proto__=1&a=2', urlencoded)).json().a, '2')
})
