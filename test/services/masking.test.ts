import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { FOR_SERVICES } from '../../src/services/addresses.ts'
import { secretsOf, withoutSecrets } from '../../src/services/masking.ts'
import { openAgent, sendWithin } from '../../src/services/transport.ts'

const basic = `Basic ${Buffer.from('ons:geheim:1').toString('base64')}`
const CASES: [credential: string, answer: string, shown: string][] = [
  ['Bearer lang-genoeg-1', 'wat is lang-genoeg-1?', 'wat is ***?'],
  ['Bearer lang-genoeg-1', 'xlang-genoeg-1x', 'x***x'],
  ['lang-genoeg-1', '{"x-api-key":"lang-genoeg-1"}', '{"x-api-key":"***"}'],
  // A short one only as a word of its own.
  ['Bearer x', 'token expired', 'token expired'],
  ['x', 'token expired, x, "x" and x', 'token expired, ***, "***" and ***'],
  ['Bearer abc', 'abcd abc_ 1abc éabc abcé', 'abcd abc_ 1abc éabc abcé'],
  ['Bearer abc', 'Bearer abc|abc', '***|***'],
  ['Bearer a.c', 'abc a.c', 'abc ***'],
  ['Bearer kort123', 'kort1234 kort123', 'kort1234 ***'],
  ['Bearer lang1234', 'lang12345', '***5'],
  // The name of the scheme is no secret.
  ['Bearer geheim-van-ons', 'a Bearer token is needed', 'a Bearer token is needed'],
  [basic, 'wrong password geheim:1 for ons', 'wrong password *** for ons'],
  [basic, `got ${basic.slice(6)} (ons:geheim:1)`, 'got *** (***)'],
  ['Token token="sleutel-9", user=ik', 'ik: sleutel-9', 'ik: ***'],
  // Spelled as JSON, as part of an address, and in UTF-8.
  ['a"b\\c-wachtwoord', '{"auth":"a\\"b\\\\c-wachtwoord"}', '{"auth":"***"}'],
  ['wacht/woord lang', '/aanmelden?auth=wacht%2Fwoord%20lang', '/aanmelden?auth=***'],
  ['wachtwóórd', 'wachtwóórd is fout', '*** is fout'],
  ['', 'niets', 'niets'],
]

t.test('what a server gives back of our credentials is masked, and no word that only holds one', async (t) => {
  for (const [credential, answer, shown] of CASES)
    t.equal(
      withoutSecrets(Buffer.from(answer), secretsOf(credential), false).toString(),
      shown,
      `${credential}: ${answer}`,
    )
  const bytes = Buffer.from([0xff, 0x00, 0xc3])
  t.equal(withoutSecrets(bytes, ['geheim'], false).equals(bytes), true, 'whatever the answer is')
})

t.test('of an answer that was cut off, the begin of a credential at its end is masked', async (t) => {
  const cut = (text: string) =>
    withoutSecrets(Buffer.from(text), secretsOf('Bearer eyJhbGciOi.abc.def'), true).toString()
  t.equal(cut('you sent eyJhbGciOi.ab'), 'you sent ***')
  t.equal(cut('you sent Bearer eyJhb'), 'you sent ***')
  t.equal(cut('you sent eyJ'), 'you sent eyJ')
  t.equal(cut('eyJhbGciOi.abc.def eyJhbGciOi'), '*** ***')
})

t.test('every header that says who we are is masked, and what a proxy is shown', async (t) => {
  const server = createServer((request, response) => response.end(JSON.stringify(request.headers))).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const send = async (http: string | undefined, credentials: Record<string, string>) => {
    const agent = openAgent({ policy: FOR_SERVICES, connections: 1, proxies: { ...(http && { http }), except: '' } })
    t.teardown(() => agent.destroy())
    const url = new URL(`http://127.0.0.1:${port}/`)
    return sendWithin(10_000, agent, { url, method: 'GET', limit: 10_000, credentials })
  }
  const answer = await send(undefined, { authorization: 'Bearer geheim-1', 'x-sleutel': 'geheim-2', 'x-kort': 'ab' })
  t.match(
    JSON.parse(answer.body.toString()),
    { authorization: 'Bearer geheim-1', 'x-sleutel': 'geheim-2' },
    'it was sent',
  )
  t.match(JSON.parse(answer.shown().toString()), { authorization: '***', 'x-sleutel': '***', 'x-kort': '***' })
  const through = await send(`http://ons:wacht%20woord@127.0.0.1:${port}`, {})
  const sent = Buffer.from('ons:wacht woord').toString('base64')
  t.match(through.body.toString(), sent)
  t.notMatch(through.shown().toString(), sent)
})
