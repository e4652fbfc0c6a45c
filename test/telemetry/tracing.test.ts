// Traces, as a collector gets them: OTLP over HTTP in JSON.
import { spawnSync } from 'node:child_process'
import t from 'tap'
import { readConfig } from '../../src/config.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { openTracing } from '../../src/telemetry/tracing.ts'
import { givenInformatieobjecttype, testApp } from '../app.ts'
import { EIO, newDocument } from '../documenten/documenten.ts'
import { givenNotificaties } from '../notificaties/given.ts'
import { until } from '../until.ts'
import { attributesOf, givenCollector, type Sent } from './collector.ts'

const CALLER = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }
const BSN = '123456782'

const settings = (env: Record<string, string>) => readConfig({ SECRET_KEY: 'key of the tests, long enough', ...env })
t.test('a request, its job and its delivery are one trace, which is that of the caller', async (t) => {
  const collector = await givenCollector(t)
  const log = openLog('silent')
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-sleutel=een%20geheim',
    OTEL_SERVICE_NAME: 'zaken van de gemeente',
  }
  const tracing = await openTracing(settings(env), log, 'api')
  t.teardown(() => tracing.close())
  const { receiver, ...test } = await givenNotificaties(t)
  const type = await givenInformatieobjecttype(test)
  await test.runJobs()

  const traceparent = `00-${CALLER.traceId}-${CALLER.spanId}-01`
  const headers = { traceparent, 'x-request-id': 'verzoek-9' }
  const content = { inhoud: Buffer.from('x').toString('base64'), bestandsomvang: 1 }
  const made = await test.call(
    'POST',
    EIO,
    { ...newDocument(type), ...content, titel: `Brief aan ${BSN}` },
    { headers },
  )
  t.equal(made.status, 201, made.text)
  await test.runJobs()
  await test.call('DELETE', made.body.url, undefined, { headers })
  await test.runJobs()
  await test.call('GET', `${EIO}?identificatie=${BSN}`)
  await test.call('GET', `/nergens/${BSN}?token=vertrouwd-9`)
  await test.call('GET', '/livez')

  const request = await collector.span(`POST ${EIO}`)
  t.match(request, { traceId: CALLER.traceId, parentSpanId: CALLER.spanId })
  t.match(attributesOf(request), {
    'http.request.method': 'POST',
    'http.route': EIO,
    'http.response.status_code': 201,
    'zaakstroom.request_id': 'verzoek-9',
  })
  const delivered = receiver.received.find(({ body }) => body.resourceUrl === made.body.url && body.actie === 'create')!
  const [, traceId, spanId] = String(delivered.headers.traceparent).split('-')
  t.equal(traceId, CALLER.traceId, 'the receiver gets the trace')
  const inTrace = () => collector.all().filter((one) => one.traceId === CALLER.traceId)
  const byId = (id: string) => until(`the span ${id}`, () => inTrace().find((one) => one.spanId === id))
  const delivery = await byId(spanId!)
  t.match(delivery, { name: 'deliver', parentSpanId: request.spanId })
  t.match(attributesOf(delivery), { 'zaakstroom.receiver': 'extern', 'zaakstroom.outcome': 'delivered' })
  const deleted = await collector.span(`DELETE ${EIO}/:uuid`)
  t.match(await collector.span('job remove-file'), { traceId: CALLER.traceId, parentSpanId: deleted.spanId })

  const below = (parent: Sent) => collector.all().filter(({ parentSpanId }) => parentSpanId === parent.spanId)
  const stored = await collector.span('storage write')
  t.equal(stored.parentSpanId, request.spanId, 'bytes that are stored are below the request')
  t.strictSame(attributesOf(stored), { 'zaakstroom.storage': 'filesystem' })
  const statements = below(request).filter(({ name }) => name.startsWith('postgresql '))
  t.ok(statements.length > 0, 'so is what is asked of the database')
  t.ok(statements.some((one) => attributesOf(one)['db.collection.name']))
  const [call] = below(delivery)
  t.match(call, { name: 'call POST', traceId: CALLER.traceId })
  t.match(attributesOf(call!), { 'server.address': /^127/, 'http.response.status_code': /^2/ })

  const [list, unknown] = [await collector.span(`GET ${EIO}`), await collector.span('GET')]
  t.not(list.traceId, CALLER.traceId, 'without traceparent a trace of its own')
  t.equal(attributesOf(unknown)['http.route'], undefined)
  t.notOk(collector.all().some(({ name }) => name.includes('livez')))
  const sent = collector.requests[0]!
  t.match(sent, { url: '/v1/traces', headers: { 'x-sleutel': 'een geheim' } })
  t.match(attributesOf(sent.body.resourceSpans[0]!.resource), {
    'service.name': 'zaken van de gemeente',
    'zaakstroom.role': 'api',
  })
  const everything = JSON.stringify(collector.requests.map(({ body }) => body))
  for (const secret of [BSN, 'vertrouwd-9', 'een geheim', 'Bearer', 'identificatie='])
    t.notOk(everything.includes(secret), secret)
})

t.test('a traceparent that is none is ignored, and one that is not sampled is followed', async (t) => {
  const collector = await givenCollector(t)
  const tracing = await openTracing(settings({ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/` }), openLog('silent'))
  t.teardown(() => tracing.close())
  const test = await testApp(t)
  for (const odd of ['x', `00-${'0'.repeat(32)}-${CALLER.spanId}-01`, `ff-${CALLER.traceId}-${CALLER.spanId}-01`])
    t.equal((await test.call('GET', EIO, undefined, { headers: { traceparent: odd } })).status, 200)
  const unsampled = `00-${CALLER.traceId}-${CALLER.spanId}-00`
  t.equal((await test.call('GET', EIO, undefined, { headers: { traceparent: unsampled } })).status, 200)
  await tracing.close()
  t.equal(collector.all().filter(({ name }) => name === `GET ${EIO}`).length, 3)
  t.notOk(collector.all().some(({ traceId }) => traceId === CALLER.traceId))
})

t.test('a collector that is away costs nothing but its traces', async (t) => {
  const lines: string[] = []
  const log = openLog('warn', { write: (line) => void lines.push(line) })
  const tracing = await openTracing(settings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }), log)
  const test = await testApp(t)
  t.equal((await test.call('GET', EIO)).status, 200)
  const began = performance.now()
  await tracing.close()
  t.ok(performance.now() - began < 4000)
})

t.test('without a collector nothing is traced, and the SDK is not loaded', async (t) => {
  await openTracing(settings({}), openLog('silent'))
  const test = await testApp(t)
  t.equal((await test.call('GET', EIO)).status, 200)
  const script = `
    const { registerHooks } = await import('node:module')
    const loaded = []
    registerHooks({
      resolve: (name, context, next) => {
        if (/opentelemetry.(sdk|exporter|resources)/.test(name)) loaded.push(name)
        return next(name, context)
      },
    })
    await import('./src/app.ts')
    await import('./tasks/index.ts')
    const { openTracing } = await import('./src/telemetry/tracing.ts')
    await openTracing({}, console)
    console.log(loaded.length)
    await openTracing({ otelEndpoint: 'http://127.0.0.1:9', otelServiceName: 'x', otelSamplerArg: 1 }, console)
    console.log(loaded.length > 0)`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  t.strictSame(stdout.trim().split('\n'), ['0', 'true'], stderr)
})
