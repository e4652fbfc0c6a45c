// A subscriber: an HTTP server that remembers what it was sent.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type TestLike = { teardown(work: () => unknown): unknown }
export type Received = {
  authorization: string | undefined
  headers: Record<string, string | string[] | undefined>
  // biome-ignore lint/suspicious/noExplicitAny: what was sent is compared by the tests
  body: any
}

/** Answers `open` without, and `status` with the right value of Authorization. What it answers may change while it runs. */
export async function subscriber(
  t: TestLike,
  options: { auth: string; open?: number; status?: number },
): Promise<{ url: string; received: Received[]; answer: { status: number; retryAfter?: string } }> {
  const received: Received[] = []
  const answer: { status: number; retryAfter?: string } = { status: options.status ?? 204 }
  const server = createServer(async (request, response) => {
    const text = (await Array.fromAsync(request as AsyncIterable<Buffer>)).join('')
    const { authorization } = request.headers
    received.push({ authorization, headers: request.headers, body: JSON.parse(text) })
    response
      .writeHead(authorization === options.auth ? answer.status : (options.open ?? 401), {
        location: '/elders',
        ...(answer.retryAfter && { 'retry-after': answer.retryAfter }),
      })
      .end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`, received, answer }
}
