// `zaakstroom history --against` a service of ours, and the same with a proxy before it that lies.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { BASE, givenInformatieobjecttype, givenZaaktype, SECRET, testApp } from '../app.ts'
import { programEnv } from '../program-env.ts'
import { MAIN } from '../zaken/processes.ts'

const test = await testApp(t, { PUBLIC_URL: BASE })
await givenZaaktype(test)
await givenInformatieobjecttype(test)
await test.app.listen({ host: '127.0.0.1', port: 0 })
const own = `http://127.0.0.1:${(test.app.server.address() as AddressInfo).port}`

type Answer = { status: number; text: string; headers: Headers }
type Lie = (request: IncomingMessage, answer: Answer, before: Map<string, Answer>) => Answer

/** What passes everything on, and answers what `lie` makes of it. */
async function liar(lie: Lie): Promise<string> {
  const before = new Map<string, Answer>()
  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '' } = request
    const body = await buffer(request)
    const headers = Object.entries(request.headers).filter(([name]) => !/^(host|connection|content-length)$/.test(name))
    const asked = await fetch(`${own}${url}`, {
      method,
      headers: Object.fromEntries(headers) as Record<string, string>,
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    })
    const answer = { status: asked.status, text: await asked.text(), headers: asked.headers }
    const told = lie(request, answer, before)
    if (method === 'GET' && answer.status === 200 && !before.has(url)) before.set(url, answer)
    const etag = told.headers.get('etag')
    response.writeHead(told.status, { 'content-type': 'application/json', ...(etag !== null && { etag }) })
    response.end(told.text)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function judged(address: string, seconds = 3) {
  const out = await mkdtemp(join(tmpdir(), 'zaakstroom-history-'))
  t.teardown(() => rm(out, { recursive: true, force: true }))
  const args = ['history', '--against', address, '--client-id', 'beheer', '--seed', '7', '--seconds', String(seconds)]
  const ran = execFile(process.execPath, [MAIN, ...args, '--out', out, '--json'], {
    env: { ...programEnv({}), HISTORY_SECRET: SECRET },
  })
  let [stdout, stderr] = ['', '']
  ran.stdout!.on('data', (text) => (stdout += text))
  ran.stderr!.on('data', (text) => (stderr += text))
  const [code] = await once(ran, 'close')
  t.comment(stderr)
  const found = JSON.parse(stdout) as { ok: number; anomalies: { anomaly: string; object: string }[] }
  const scripts = (await readdir(out)).filter((name) => name.endsWith('.mjs'))
  return { code, ...found, kinds: new Set(found.anomalies.map(({ anomaly }) => anomaly)), out, scripts }
}

t.test('our own service does one thing after the other, for all that its clients can tell', async (t) => {
  const { code, ok, anomalies } = await judged(own)
  t.strictSame(anomalies, [])
  t.equal(code, 0)
  t.ok(ok > 100, `${ok} operations were done`)
})

t.test('a refusal of what was done is found, and cut down to what shows it', async (t) => {
  const refusal = { status: 503, text: '{"code":"service_unavailable"}', headers: new Headers() }
  let n = 0
  const address = await liar(({ method }, answer) => (method === 'PATCH' && ++n % 10 === 0 ? refusal : answer))
  const { code, kinds, out, scripts } = await judged(address)
  t.equal(code, 1)
  t.ok(kinds.has('aborted read'), [...kinds].join())
  t.not(scripts.length, 0)
  const script = await readFile(join(out, scripts[0]!), 'utf8')
  t.ok(script.match(/^step\(/gm)!.length <= 3, 'the write and what reads it')
})

t.test('an answer of before is found', async (t) => {
  let n = 0
  const address = await liar(({ method, url = '' }, answer, before) =>
    method === 'GET' && /zaken\/[^/?]+$/.test(url) && ++n % 20 === 0 ? (before.get(url) ?? answer) : answer,
  )
  const { code, kinds } = await judged(address)
  t.equal(code, 1)
  t.ok(kinds.has('stale read'), [...kinds].join())
})
