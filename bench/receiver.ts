// A notifications service that only receives: for tests, measurements and the demo.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'

export type Received = {
  /** The constant id of the message. */
  id: string
  /** When its request had arrived, in milliseconds since the epoch. */
  at: number
  path: string
  headers: IncomingMessage['headers']
  body: Record<string, unknown>
}
export type Answer = (response: ServerResponse, received: Received, request: IncomingMessage) => void

export type Receiver = {
  /** Root of its API, with a slash at the end. */
  root: string
  /** Every request, in the order of arrival. */
  received: Received[]
  /** How it answers from now on. Default: 201 with the message. */
  answer: Answer
  stop(): Promise<void>
  /** Listens again, on the same port. */
  start(): Promise<void>
}

export const accept: Answer = (response, { body }) => {
  response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Starts a receiver on a free port of this machine. */
export async function startReceiver(options: { port?: number } = {}): Promise<Receiver> {
  const sockets = new Set<Socket>()
  const server = createServer(async (request, response) => {
    const payload = await text(request).catch(() => '')
    const received: Received = {
      id: String(request.headers['x-message-id'] ?? ''),
      at: performance.timeOrigin + performance.now(),
      path: request.url ?? '',
      headers: request.headers,
      body: /json/.test(request.headers['content-type'] ?? '') && payload ? JSON.parse(payload) : {},
    }
    receiver.received.push(received)
    receiver.answer(response, received, request)
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  let port = options.port ?? 0
  const receiver: Receiver = {
    root: '',
    received: [],
    answer: accept,
    async start() {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      port = (server.address() as AddressInfo).port
      receiver.root = `http://127.0.0.1:${port}/api/v1/`
    },
    async stop() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
  await receiver.start()
  return receiver
}
