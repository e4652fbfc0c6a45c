// A subscriber to notifications, for the demo: it refuses whoever does not know its key, and remembers what it was sent.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export type Subscriber = {
  callbackUrl: string
  /** What it was sent, in the order of arrival. */
  received: { resourceUrl?: string }[]
  stop(): Promise<void>
  /** Listens again, on the same port. */
  start(): Promise<void>
}

/** @param auth what the header Authorization has to be */
export async function startSubscriber(auth: string): Promise<Subscriber> {
  const received: Subscriber['received'] = []
  const server = createServer(async (request, response) => {
    const message = await json(request).catch(() => ({}))
    const known = request.headers.authorization === auth
    if (known) received.push(message as Subscriber['received'][number])
    response.writeHead(known ? 204 : 401).end()
  })
  let port = 0
  const start = async () => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  }
  await start()
  return {
    callbackUrl: `http://127.0.0.1:${port}/`,
    received,
    start,
    stop: async () => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
