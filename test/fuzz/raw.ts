// Bytes that no HTTP client sends, each on a connection of its own.
import { once } from 'node:events'
import { connect } from 'node:net'
import { signToken } from '../../src/autorisaties/clients.ts'
import { SECRET } from '../app.ts'
import { ANSWER_MS } from './judge.ts'

type Raw = {
  name: string
  text: string | Buffer
  /** Statuses that are right; 0: the connection is closed without an answer. */
  answers: number[]
  /** The client ends its side after that. */
  ends?: boolean
}

const LINE = 'GET /zaken/api/v1/zaken HTTP/1.1\r\n'
const POST = 'POST /zaken/api/v1/zaken HTTP/1.1\r\n'

function corpus(authorization: string): Raw[] {
  const auth = `authorization: ${authorization}\r\n`
  const get = (more: string, answers: number[], line = LINE): Raw => ({
    name: JSON.stringify(more.slice(0, 60) + (line === LINE ? '' : ` ${line.slice(0, 60)}`)),
    text: `${line}${more}\r\n`,
    answers,
  })
  const post = (name: string, head: string, body: string, answers: number[]): Raw => ({
    name,
    text: `${POST}host: localhost\r\n${auth}content-type: application/json\r\naccept-crs: EPSG:4326\r\ncontent-crs: EPSG:4326\r\n${head}\r\n${body}`,
    answers,
  })
  const host = 'host: localhost\r\n'
  const good = `${LINE}${host}${auth}accept-crs: EPSG:4326\r\n\r\n`
  return [
    { name: 'a good request', text: good, answers: [200] },
    { name: 'four good ones at once', text: good.repeat(4), answers: [200] },
    { name: 'TLS', text: Buffer.from('16030100a5010000a10303', 'hex'), answers: [0, 400] },
    { name: 'HTTP/2', text: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', answers: [0, 400, 505] },
    { name: 'zeros', text: Buffer.alloc(100), answers: [0, 400] },
    { name: 'HTTP/0.9', text: 'GET /livez\r\n\r\n', answers: [0, 200, 400] },
    { name: 'HTTP/1.0 without a host', text: `GET /livez HTTP/1.0\r\n\r\n`, answers: [200] },
    { name: 'HTTP/9.9', text: `GET /livez HTTP/9.9\r\nhost: x\r\n\r\n`, answers: [0, 400, 505] },
    { name: 'bare newlines', text: `GET /livez HTTP/1.1\nhost: x\n\n`, answers: [200, 400] },
    { name: 'two hosts', text: `${LINE}${host}${host}${auth}accept-crs: EPSG:4326\r\n\r\n`, answers: [200, 400] },
    get('', [400]),
    get(`${host}${auth}${auth}`, [400, 403, 406, 412]),
    get(`${host}authorization : x\r\n`, [400]),
    get(`${host} folded: x\r\n`, [400, 403]),
    get(`${host}x: a\rb\r\n`, [400]),
    get(`${host}x: \u0000\r\n`, [400]),
    get(`${host}: x\r\n`, [400]),
    get(`${host}x: ${'y'.repeat(17_000)}\r\n`, [431]),
    get(`${host}${Array.from({ length: 2500 }, (_, n) => `x-${n}: y\r\n`).join('')}`, [400, 403, 431]),
    get(`${host}connection: authorization, api-version\r\n${auth}`, [200, 400, 403, 406, 412]),
    get(`${host}upgrade: websocket\r\nconnection: upgrade\r\n`, [400, 403]),
    get(`${host}expect: 100-continue\r\n`, [403]),
    get(`${host}expect: nonsense\r\n`, [417]),
    get(`${host}content-length: 5\r\n`, [403, 408]),
    get(`${host}content-length: -1\r\n`, [400]),
    get(`${host}content-length: 1\r\ncontent-length: 2\r\n`, [400]),
    get(`${host}content-length: 99999999999999999999\r\n`, [400, 403, 413]),
    get(`${host}transfer-encoding: identity\r\n`, [400, 403]),
    get(host, [400, 403, 404], 'GET http://elders.example/zaken/api/v1/zaken HTTP/1.1\r\n'),
    get(host, [0, 400, 404], 'CONNECT elders.example:443 HTTP/1.1\r\n'),
    get(host, [200, 204, 400, 404, 405], 'OPTIONS * HTTP/1.1\r\n'),
    get(host, [400, 404, 405], 'BREW /zaken HTTP/1.1\r\n'),
    get(host, [400, 404, 405], 'TRACE /zaken/api/v1/zaken HTTP/1.1\r\n'),
    get(host, [400, 404], 'GET zaken HTTP/1.1\r\n'),
    get(host, [400, 404], 'GET //zaken/api/v1/zaken HTTP/1.1\r\n'),
    get(host, [400, 403, 404], 'GET /zaken/api/v1/../v1/zaken HTTP/1.1\r\n'),
    get(host, [400, 404], 'GET /zaken/\u0000 HTTP/1.1\r\n'),
    get(host, [400, 404], 'GET /zaken/é HTTP/1.1\r\n'),
    get(host, [400, 404, 414, 431], `GET /${'x'.repeat(15_000)} HTTP/1.1\r\n`),
    get(host, [431], `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n`),
    get(
      `${host}${auth}accept-crs: EPSG:4326\r\n`,
      [400],
      `GET /zaken/api/v1/zaken?${'a=1&'.repeat(3000)} HTTP/1.1\r\n`,
    ),
    post('length and chunked', 'content-length: 3\r\ntransfer-encoding: chunked\r\n', '0\r\n\r\n', [400]),
    post('chunked twice', 'transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n', '0\r\n\r\n', [400]),
    post('chunked in capitals', 'transfer-encoding: CHUNKED\r\n', '2\r\n{}\r\n0\r\n\r\n', [400]),
    post('chunked and more', 'transfer-encoding: chunked, gzip\r\n', '0\r\n\r\n', [400]),
    post('a chunk of no number', 'transfer-encoding: chunked\r\n', 'xyz\r\n', [400]),
    post('a chunk that is too large', 'transfer-encoding: chunked\r\n', 'fffffffffffffffff\r\n', [400, 413]),
    post('a chunk without its end', 'transfer-encoding: chunked\r\n', '2\r\n{}xx', [400]),
    post(
      'chunk extensions',
      'transfer-encoding: chunked\r\n',
      `2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
      [400, 413, 431],
    ),
    post('trailers', 'transfer-encoding: chunked\r\n', `2\r\n{}\r\n0\r\nauthorization: x\r\n\r\n`, [400]),
    post('less than its length', 'content-length: 100\r\n', '{"a":', [408]),
    post('more than its length', 'content-length: 2\r\n', '{}{}{}{}', [400]),
    post('far more than is taken', 'content-length: 99999999\r\n', '{', [413]),
    post('gzip that is none', 'content-encoding: gzip\r\ncontent-length: 2\r\n', '{}', [400, 415]),
    // A valid request that is broken off after each of its bytes.
    ...Array.from({ length: good.length - 1 }, (_, n) => ({
      name: `a good request of ${n} bytes`,
      text: good.slice(0, n),
      answers: [0, 400],
      ends: true,
    })),
  ]
}

/** Sends them all; after each the service still answers. */
export async function sendRaw(address: string): Promise<{ count: number; faults: string[] }> {
  const { hostname, port } = new URL(address)
  const faults: string[] = []
  const all = corpus(`Bearer ${signToken('beheer', SECRET)}`)
  const lane = async () => {
    for (let raw = all.pop(); raw; raw = all.pop()) {
      const { status, text } = await exchange(Number(port), hostname, raw)
      if (!raw.answers.includes(status))
        faults.push(`${raw.name}: ${status} in place of ${raw.answers.join(' or ')} ${text.slice(0, 200)}`)
      else if (status >= 400 && !/content-type: application\/problem\+json/i.test(text))
        faults.push(`${raw.name}: ${status} without problem+json`)
      const after = await fetch(`${address}/livez`).catch((error) => ({ status: String(error) }))
      if (after.status !== 200) faults.push(`after ${raw.name}: ${after.status}`)
    }
  }
  const count = all.length
  await Promise.all(Array.from({ length: 8 }, lane))
  return { count, faults }
}

/** The status of the first answer: 0 when the connection was closed without, -1 when it hangs. */
async function exchange(port: number, host: string, { text, ends }: Raw): Promise<{ status: number; text: string }> {
  const socket = connect({ port, host, allowHalfOpen: true })
  let received = ''
  socket.on('error', () => {})
  await once(socket, 'connect')
  const done = new Promise<void>((resolve) => {
    socket.on('data', (data) => {
      received += data.toString('latin1')
      if (received.includes('\r\n\r\n')) resolve()
    })
    socket.on('close', () => resolve())
    socket.on('end', () => resolve())
  })
  if (ends) socket.end(text)
  else socket.write(text)
  const limit = AbortSignal.timeout(ANSWER_MS)
  const hangs = new Promise<'hangs'>((resolve) =>
    limit.addEventListener('abort', () => resolve('hangs'), { once: true }),
  )
  const outcome = await Promise.race([done, hangs])
  socket.destroy()
  const [, status] = /^HTTP\/1\.\d (\d{3})/.exec(received) ?? []
  return { status: status ? Number(status) : outcome === 'hangs' ? -1 : 0, text: received }
}
