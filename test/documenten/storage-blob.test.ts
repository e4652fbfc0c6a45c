// Slow: servers are started, and a proxy loses and holds up their answers.
// What a well-behaved server does not show: answers that get lost, others that write the same name, uploads that are cut
// off. A proxy stands between us and the servers, and meddles.
// It starts servers.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Backend } from '../../src/config/storage.ts'
import { readConfig } from '../../src/config.ts'
import { openStores } from '../../src/documenten/storage/choose.ts'
import { removeUnfinished, type Store, StoreUnavailable } from '../../src/documenten/storage/index.ts'
import { storageChecks } from '../../src/operations/health.ts'
import { until } from '../until.ts'
import { givenAzure, givenS3 } from './storage-servers.ts'

type Test = { teardown(work: () => unknown): unknown }
type Meddle = (incoming: IncomingMessage, response: ServerResponse) => Promise<'answered' | 'lose-answer' | undefined>

const [s3, azure] = await Promise.all([givenS3(t), givenAzure(t)])
const port = (env: Record<string, string>) => /127\.0\.0\.1:(\d+)/.exec(Object.values(env).join())![1]!
let counter = 0

async function* chunks(...parts: string[]) {
  for (const part of parts) yield Buffer.from(part)
}
async function* megabytes(count: number) {
  for (let i = 0; i < count; i++) yield Buffer.alloc(1024 ** 2, 'x')
}
const content = async (store: Store, key: string) => text((await store.read(key))!.stream)
const keys = async (store: Store) => (await Array.fromAsync(store.list())).map(({ key }) => key).sort()

/** A store behind a proxy. `meddle` sees every request before the server does. */
async function givenMeddled(t: Test, backend: Backend, meddle: Meddle): Promise<{ store: Store; seen: string[] }> {
  const server = backend === 's3_storage' ? s3 : azure
  const seen: string[] = []
  const proxy = createServer(async (incoming, response) => {
    seen.push(`${incoming.method} ${incoming.url}`)
    const what = await meddle(incoming, response)
    if (what === 'answered') return incoming.resume()
    const { method, url, headers } = incoming
    const onward = request({ host: '127.0.0.1', port: port(server.env), method, path: url, headers }, (answer) => {
      if (what === 'lose-answer') {
        answer.resume().once('end', () => response.destroy())
        return
      }
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    onward.once('error', () => response.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    proxy.close()
    proxy.closeAllConnections()
  })
  const ours = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const env = Object.fromEntries(
    Object.entries(server.env).map(([name, value]) => [name, value.replace(/127\.0\.0\.1:\d+/, ours)]),
  )
  const name = `meddled-${counter++}`
  const { store } = openStores(
    readConfig({ ...env, DOCUMENTEN_API_BACKEND: backend, S3_LOCATION: name, AZURE_LOCATION: name }),
  )
  return { store, seen }
}

/** What S3 does with the condition of a write; the server of the tests is older than that. */
async function refuseExisting({ method, url, headers }: IncomingMessage, response: ServerResponse) {
  const writes = method === 'PUT' ? !url!.includes('partNumber') : method === 'POST' && url!.includes('uploadId')
  if (!writes || headers['if-none-match'] !== '*') return
  if (!(await existsInS3(url!.split('?')[0]!))) return
  response.writeHead(412, { 'content-type': 'application/xml' })
  response.end('<Error><Code>PreconditionFailed</Code><Message>exists</Message></Error>')
  return 'answered' as const
}

async function existsInS3(path: string): Promise<boolean> {
  const { store } = openStores(readConfig({ ...s3.env, DOCUMENTEN_API_BACKEND: 's3_storage', S3_LOCATION: '/' }))
  const key = decodeURIComponent(path.split('/').slice(2).join('/'))
  const found = await store.read(key)
  found?.stream.destroy()
  return found !== undefined
}

const isWrite = ({ method, url }: IncomingMessage) =>
  method === 'PUT' && !/partNumber|comp=block&|\.zaakstroom/.test(url!)

for (const backend of ['s3_storage', 'azure_blob_storage'] as const) {
  const condition: Meddle = backend === 's3_storage' ? refuseExisting : async () => undefined

  t.test(`${backend}: when the answer to a write is lost the document is there once`, async (t) => {
    let lose = 1
    const { store, seen } = await givenMeddled(t, backend, async (incoming, response) => {
      const answered = await condition(incoming, response)
      return answered ?? (isWrite(incoming) && lose-- > 0 ? 'lose-answer' : undefined)
    })
    t.match(await store.write('a', chunks('inhoud')), { key: 'a', size: 6 })
    t.equal(seen.filter((line) => line.startsWith('PUT')).length, 2, 'it was made again')
    t.strictSame(await keys(store), ['a'])
    t.equal(await content(store, 'a'), 'inhoud')
  })

  t.test(`${backend}: who was a moment earlier keeps what he wrote`, async (t) => {
    let first = true
    const { store } = await givenMeddled(t, backend, async (incoming, response) => {
      if (isWrite(incoming) && first) {
        first = false
        await store.write('a', chunks('eerder'))
      }
      return condition(incoming, response)
    })
    await t.rejects(store.write('a', chunks('later')), { name: 'StoreUnavailable', code: 'key-taken' })
    t.equal(await content(store, 'a'), 'eerder')
    t.strictSame(await keys(store), ['a'])
  })

  t.test(`${backend}: a server that is busy is asked again, at most three times`, async (t) => {
    let busy = 2
    const { store, seen } = await givenMeddled(t, backend, async (_incoming, response) => {
      if (busy-- <= 0) return
      response.writeHead(503, { 'content-type': 'application/xml' })
      response.end('<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>later</Message></Error>')
      return 'answered'
    })
    t.match(await store.write('a', chunks('x')), { key: 'a' })
    busy = 1000
    seen.length = 0
    await t.rejects(store.read('a'), StoreUnavailable)
    t.equal(seen.length, 4)
  })

  t.test(`${backend}: a read that is cut off is no end of the document`, async (t) => {
    let cut = 1000
    const { store } = await givenMeddled(t, backend, async (incoming, response) => {
      if (incoming.method !== 'GET' || incoming.url!.includes('list') || cut-- <= 0) return
      response.writeHead(200, { 'content-length': '1000', etag: '"x"', 'last-modified': new Date().toUTCString() })
      response.write('half')
      setImmediate(() => response.destroy())
      return 'answered'
    })
    const found = await store.read('a')
    await t.rejects(text(found!.stream), StoreUnavailable)
  })
}

t.test(
  's3_storage: an upload in parts that fails is aborted, and those of a crash are by removeUnfinished',
  async (t) => {
    const aborted: string[] = []
    const { store } = await givenMeddled(t, 's3_storage', async ({ method, url }, response) => {
      const query = new URL(url!, 'http://x').searchParams
      if (method === 'DELETE' && query.has('uploadId')) {
        aborted.push(`${url!.split('?')[0]} ${query.get('uploadId')}`)
        response.writeHead(204).end()
        return 'answered'
      }
      if (method === 'GET' && query.has('uploads')) {
        // Two pages of them.
        const [more, names] = query.has('key-marker') ? [false, ['c']] : [true, ['a', 'b']]
        const young = new Date().toISOString()
        const uploads = names.map(
          (name) =>
            `<Upload><Key>${query.get('prefix')}${name}</Key><UploadId>id-${name}</UploadId><Initiated>${name === 'b' ? young : '2026-01-01T00:00:00.000Z'}</Initiated></Upload>`,
        )
        response.writeHead(200, { 'content-type': 'application/xml' })
        response.end(
          `<ListMultipartUploadsResult><IsTruncated>${more}</IsTruncated><NextKeyMarker>b</NextKeyMarker><NextUploadIdMarker>id-b</NextUploadIdMarker>${uploads.join('')}</ListMultipartUploadsResult>`,
        )
        return 'answered'
      }
      return undefined
    })
    const broken = async function* () {
      yield* megabytes(20)
      throw new Error('weg')
    }
    await t.rejects(store.write('groot', broken()), { message: 'weg' })
    t.match(aborted, [/^\/documenten\/meddled-\d+\/groot \S+$/])
    aborted.length = 0
    await store.check()
    t.match(aborted, [/\.zaakstroom/], 'what the check began is over too')
    aborted.length = 0
    t.equal(await removeUnfinished(store, async (names) => new Set(names.filter((name) => !name.endsWith('b')))), 2)
    t.match(aborted, [/\/a id-a$/, /\/c id-c$/])
  },
)

t.test('the libraries of the blob stores are loaded when they are used, and not before', async (t) => {
  const { spawnSync } = await import('node:child_process')
  const program = new URL('../../src/cli/run-worker.ts', import.meta.url).href
  const script = `
    import { registerHooks } from 'node:module'
    const loaded = new Set()
    registerHooks({ load(url, context, next) {
      const [, name] = /node_modules\\/(@aws-sdk|@azure|@smithy)\\//.exec(url) ?? []
      if (name) loaded.add(name)
      return next(url, context)
    } })
    const { openCopy } = await import('${program}')
    const { openStores } = await import('${new URL('../../src/documenten/storage/choose.ts', import.meta.url).href}')
    const { readConfig } = await import('${new URL('../../src/config.ts', import.meta.url).href}')
    const none = [...loaded]
    await openStores(readConfig(process.env)).store.read('a').catch(() => {})
    console.log(JSON.stringify([none, [...loaded].sort()]))`
  const env = { ...process.env, ...s3.env, DOCUMENTEN_API_BACKEND: 's3_storage' }
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    env,
  })
  t.strictSame(JSON.parse(stdout || `"${stderr}"`), [[], ['@aws-sdk', '@smithy']])
})

t.test('a store that refuses is not asked again by every write, until one succeeds', async (t) => {
  for (const [status, code] of [
    [503, 'SlowDown'],
    [403, 'AccessDenied'],
  ] as const) {
    let refuses = true
    const { store, seen } = await givenMeddled(t, 's3_storage', async (incoming, response) => {
      if (!refuses || !isWrite(incoming)) return undefined
      response.writeHead(status, { 'content-type': 'application/xml' })
      response.end(`<Error><Code>${code}</Code><Message>no</Message></Error>`)
      return 'answered'
    })
    await t.rejects(store.write('a', chunks('a')), StoreUnavailable)
    const first = seen.length
    for (let i = 0; i < 100; i++) await t.rejects(store.write('b', chunks('b'), { fresh: true }), { code })
    t.ok(seen.length <= 2 * first, `${seen.length} requests, ${first} of them for the first write`)
    refuses = false
    await until('a write tries, and the others follow', async () => {
      await store.write('c', chunks('c'), { fresh: true }).catch(() => {})
      return (await keys(store)).includes('c')
    })
    await Promise.all(['d', 'e', 'f'].map((key) => store.write(key, chunks(key), { fresh: true })))
    t.strictSame(await keys(store), ['c', 'd', 'e', 'f'])
  }
})

for (const backend of ['s3_storage', 'azure_blob_storage'] as const) {
  t.test(`${backend}: a store that is slow takes no process out of service, and its state is remembered`, async (t) => {
    let waits = 1_100
    const { store } = await givenMeddled(t, backend, async () => {
      await sleep(waits)
      return undefined
    })
    t.match(await storageChecks(store), { storage: { status: /ok|degraded/ } })
    await until('the look ends', async () => (await storageChecks(store)).storage.status === 'ok')
    const began = performance.now()
    t.match(await storageChecks(store), { storage: { status: 'ok' } })
    t.ok(performance.now() - began < 1_000, 'nobody waits for the look that goes on')
    waits = 30_000
  })
}

t.test('who sends a small document hears within seconds that the store does not answer', async (t) => {
  const { store } = await givenMeddled(t, 's3_storage', async () => {
    await new Promise(() => {})
    return 'answered'
  })
  const began = performance.now()
  await t.rejects(store.write('a', chunks('a'), { fresh: true }), { code: 'timeout' })
  t.ok(performance.now() - began < 20_000)
})
