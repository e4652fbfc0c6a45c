// A collector of OpenTelemetry, as the tests of traces and of the log of processing need one.
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { until } from '../until.ts'

export type Sent = {
  name: string
  traceId: string
  spanId: string
  parentSpanId?: string
  attributes: Attribute[]
  status: { code?: number }
}
type Attribute = {
  key: string
  value: { stringValue?: string; intValue?: number; arrayValue?: { values: { stringValue: string }[] } }
}
type Body = { resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: Sent[] }[] }[] }
type Test = { teardown(work: () => unknown): unknown }

export const spansOf = ({ body }: { body: Body }): Sent[] =>
  body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))

type Answer = { status?: number; headers?: Record<string, string>; text?: string }

/**
 * What takes spans over OTLP/HTTP. `answer` may be changed: the status of what comes next. `judge` answers by the spans; what it answers
 * nothing to is taken.
 */
export async function givenCollector(t: Test) {
  const requests: { url: string; headers: Record<string, unknown>; body: Body }[] = []
  const state: { answer: number; judge: (spans: Sent[], bytes: number) => Answer | undefined } = {
    answer: 200,
    judge: () => undefined,
  }
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as Body
    if (state.answer !== 200) return void response.writeHead(state.answer).end()
    const judged = state.judge(spansOf({ body }), Number(request.headers['content-length']))
    if (judged) {
      const { status = 200, headers = {}, text = '{}' } = judged
      return void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
    }
    requests.push({ url: request.url!, headers: request.headers, body })
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as { port: number }
  const all = () => requests.flatMap(spansOf)
  /** The span of that name, as soon as it has come. */
  const span = (name: string) => until(`the span ${name}`, () => all().find((one) => one.name === name))
  return Object.assign(state, { url: `http://127.0.0.1:${port}`, requests, all, span })
}

export const attributesOf = ({ attributes }: { attributes: Attribute[] }) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.arrayValue?.values.map((one) => one.stringValue) ?? Number(value.intValue),
    ]),
  )
