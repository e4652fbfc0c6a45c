import t from 'tap'
import { createClient, signToken } from '../../src/autorisaties/clients.ts'
import { secretBox } from '../../src/core/secret-box.ts'
import { SECRET, testApp } from '../app.ts'

t.test('tokens that keep failing are refused with 429', async (t) => {
  const test = await testApp(t)
  const box = secretBox(test.config.secretKey!)
  const make = (id: string, secret: string) =>
    createClient(test.database, box, { id, label: id, alleAutorisaties: true, secret })
  const send = (id: string, secret: string, remoteAddress = '10.0.0.1') =>
    test.app.inject({
      method: 'GET',
      url: '/catalogi/api/v1/catalogussen?pageSize=1',
      headers: { host: 'localhost', authorization: `Bearer ${signToken(id, secret)}` },
      remoteAddress,
    })
  // At once: what is refused with 429 is answered a second later.
  const many = <T>(make: (turn: number) => Promise<T>) =>
    Promise.all(Array.from({ length: 105 }, (_, turn) => make(turn)))
  const fail = async (id: string) => {
    const statuses = new Map<number, number>()
    for (const { statusCode } of await many(() => send(id, 'a wrong secret')))
      statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1)
    return Object.fromEntries(statuses)
  }

  t.test('a client with a secret that can be guessed is not let in either, but only from that address', async (t) => {
    await make('kort', 'geheim')
    t.equal((await send('kort', 'geheim')).statusCode, 200)
    t.strictSame(await fail('kort'), { 403: 99, 429: 6 })
    const refused = await send('kort', 'geheim')
    t.equal(refused.statusCode, 429)
    t.match(refused.headers['retry-after'], /^\d+$/)
    t.match(refused.json(), { code: 'throttled', status: 429 })
    t.equal((await send('kort', 'geheim', '10.0.0.2')).statusCode, 200)
  })

  t.test('nobody shuts out a client with a good secret', async (t) => {
    t.strictSame(await fail('beheer'), { 403: 99, 429: 6 })
    t.equal((await send('beheer', SECRET)).statusCode, 200)
    t.equal((await send('beheer', 'a wrong secret')).statusCode, 403, 'a success starts the count anew')
  })

  t.test('client ids are not guessed without end', async (t) => {
    const answers = await many((turn) => send(`naam-${turn}`, 'x'))
    t.strictSame([...new Set(answers.map(({ statusCode }) => statusCode))].sort(), [403, 429])
    t.equal((await send('beheer', SECRET)).statusCode, 200)
  })

  t.test('the addresses of one IPv6 network count as one', async (t) => {
    const answers = await many((turn) => send(`naam-${turn}`, 'x', `2001:db8::${turn.toString(16)}`))
    t.strictSame([...new Set(answers.map(({ statusCode }) => statusCode))].sort(), [403, 429])
    t.equal((await send('naam-1', 'x', '2001:db8:0:1::1')).statusCode, 403)
  })
})
