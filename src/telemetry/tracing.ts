// Traces (OpenTelemetry): a span for each request, each job and each delivery, of which each has the one that led to it as its
// parent, and below these for what they ask of the database, the storage and other services. Off unless OTEL_EXPORTER_OTLP_ENDPOINT is set; the packages are loaded then, and not before. A span says the pattern of
// the route, never the address, parameters, headers or bodies: these may hold a BSN or a token.

import { AsyncLocalStorage } from 'node:async_hooks'
import { hostname } from 'node:os'
import type { Context, Span, SpanKind, Tracer } from '@opentelemetry/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import packageJson from '../../package.json' with { type: 'json' }
import { readHeaders } from '../lib/headers.ts'
import { loadOptional } from '../lib/optional-package.ts'
import { currentOrganisation } from './current-organisation.ts'
import { currentOf, currentRequest } from './current-request.ts'

export const TRACEPARENT = 'traceparent'

/** https://www.w3.org/TR/trace-context/#traceparent-header, of this version or a later one. */
export const TRACE_CONTEXT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-|$)/

type Attributes = Record<string, string | number>
type Api = typeof import('@opentelemetry/api')
type Open = { api: Api; tracer: Tracer; shutdown(): Promise<void> }

let open: Open | undefined
const running = new AsyncLocalStorage<string>()

/** The trace context of what is being done, to hand on; undefined when nothing is traced. */
export const currentTraceparent = (): string | undefined =>
  running.getStore() ?? currentRequest.getStore()?.traceparent ?? undefined

export type TracingSettings = {
  otelEndpoint?: string | undefined
  otelHeaders?: string | undefined
  otelServiceName: string
  otelSamplerArg: number
}

/**
 * Begins to trace, when the settings say so. What it returns ends that, and sends what is left.
 * @param role what the process is started as: api, worker or start
 */
export async function openTracing(
  { otelEndpoint, otelHeaders, otelServiceName, otelSamplerArg }: TracingSettings,
  log: Logger,
  role = 'command',
): Promise<{ close(): Promise<void> }> {
  if (otelEndpoint === undefined) return { close: async () => {} }
  const [api, sdk, { resourceFromAttributes }, { OTLPTraceExporter }] = await loadOptional(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    () =>
      Promise.all([
        import('@opentelemetry/api'),
        import('@opentelemetry/sdk-trace'),
        import('@opentelemetry/resources'),
        import('@opentelemetry/exporter-trace-otlp-http'),
      ]),
  )
  const exporter = new OTLPTraceExporter({
    url: `${otelEndpoint.replace(/\/$/, '')}/v1/traces`,
    headers: readHeaders(otelHeaders ?? '') ?? {},
    timeoutMillis: 5000,
  })
  let told = Number.NEGATIVE_INFINITY
  const send = exporter.export.bind(exporter)
  exporter.export = (spans, done) =>
    send(spans, (result) => {
      if (result.error && performance.now() - told > 60_000) {
        told = performance.now()
        log.warn({ err: result.error, spans: spans.length }, 'traces could not be sent, and are lost')
      }
      done(result)
    })
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({
      'service.name': otelServiceName,
      'service.version': packageJson.version,
      'service.instance.id': `${hostname()}/${process.pid}`,
      'zaakstroom.role': role,
    }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(otelSamplerArg) }),
    spanLimits: { attributeValueLengthLimit: 256 },
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter, scheduledDelayMillis: 1000 })],
  })
  const mine: Open = { api, tracer: provider.getTracer('zaakstroom'), shutdown: () => provider.shutdown() }
  open = mine
  return {
    close: async () => {
      if (open === mine) open = undefined
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, 3000)
      await Promise.race([mine.shutdown().catch(() => {}), late])
      clearTimeout(timer)
    },
  }
}

type Kind = keyof typeof SpanKind
type About = { kind: Kind; attributes?: Attributes; parent?: string | null | undefined }

function start({ api, tracer }: Open, name: string, { kind, attributes = {}, parent }: About): Span {
  return tracer.startSpan(name, { kind: api.SpanKind[kind], attributes }, contextOf(api, parent))
}

function contextOf(api: Api, traceparent: string | null | undefined): Context {
  const [, traceId, spanId = '', flags = ''] = TRACE_CONTEXT.exec(traceparent ?? '') ?? []
  if (!traceId) return api.ROOT_CONTEXT
  const traceFlags = Number.parseInt(flags, 16) & 1
  return api.trace.setSpanContext(api.ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

/**
 * Does work in a span, of which what happens in it is the child. It failed when the work throws; the error itself is in the log.
 * @param about.parent trace context of what led to it; none: it begins a trace of its own
 */
export async function traced<T>(
  name: string,
  about: About,
  work: (note: (attributes: Attributes, failed?: boolean) => void) => Promise<T>,
): Promise<T> {
  const current = open
  if (!current) return work(() => {})
  const span = start(current, name, about)
  const fail = () => span.setStatus({ code: current.api.SpanStatusCode.ERROR })
  try {
    return await running.run(traceparentOf(span), () =>
      work((attributes, failed = false) => {
        span.setAttributes(attributes)
        if (failed) fail()
      }),
    )
  } catch (error) {
    span.setAttribute('error.type', (error as Error)?.name ?? 'unknown')
    fail()
    throw error
  } finally {
    span.end()
  }
}

/** Whether traces are made. */
export const isTracing = (): boolean => open !== undefined

/**
 * Begins a span below that of the request, job or delivery that is being done; outside of these nothing is traced.
 * @returns what ends it
 */
export function beginBelow(
  name: string,
  kind: Kind,
  attributes: Attributes,
): ((failed?: boolean, more?: Attributes) => void) | undefined {
  const parent = currentTraceparent()
  const current = open
  if (!current || !parent) return undefined
  const span = start(current, name, { kind, attributes, parent })
  return (failed = false, more = {}) => {
    span.setAttributes(more)
    if (failed) span.setStatus({ code: current.api.SpanStatusCode.ERROR })
    span.end()
  }
}

/** Does work in a span below that of the request, job or delivery that is being done. */
export async function tracedBelow<T>(
  name: string,
  kind: Kind,
  attributes: Attributes,
  work: () => Promise<T>,
  more: (result: T) => Attributes = () => ({}),
): Promise<T> {
  const end = beginBelow(name, kind, attributes)
  if (!end) return work()
  try {
    const result = await work()
    end(false, more(result))
    return result
  } catch (error) {
    end(true)
    throw error
  }
}

/** Makes a span of every request; a caller that sends `traceparent` has it in its own trace. */
export function traceRequests(app: FastifyInstance): void {
  const spans = new WeakMap<FastifyRequest, Span>()
  app.addHook('onRequest', (request, _reply, done) => {
    const { url: route, logLevel } = request.routeOptions
    if (open && logLevel !== 'warn') {
      const { method, headers, id } = request
      const organisation = currentOrganisation()?.rsin
      const attributes = {
        'http.request.method': method,
        'zaakstroom.request_id': id,
        ...(route && { 'http.route': route }),
        ...(organisation && { 'zaakstroom.organisation': organisation }),
      }
      const parent = headers[TRACEPARENT]
      const about: About = { kind: 'SERVER', attributes, parent: typeof parent === 'string' ? parent : undefined }
      const span = start(open, route ? `${method} ${route}` : method, about)
      spans.set(request, span)
      currentOf(request).traceparent = traceparentOf(span)
    }
    done()
  })
  app.addHook('onResponse', async (request, reply) => {
    const span = spans.get(request)
    if (!span) return
    span.setAttribute('http.response.status_code', reply.statusCode)
    if (reply.statusCode >= 500 && open) span.setStatus({ code: open.api.SpanStatusCode.ERROR })
    span.end()
  })
}
