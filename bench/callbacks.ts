// A thread of its own: the callbacks of abonnementen, each a server on a port of its own. They write down what came when, and
// tell it when asked. A dead one stops answering when it is told to; a slow one takes its time.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

export type Callback = 'good' | 'slow' | 'dead'
/** The place of the callback, the id of the message, and the moment in milliseconds since 1970. */
export type Arrival = [number, string, number]

const SLOW_MS = 2_000

let isDying = false
const arrivals: Arrival[] = []
const port = parentPort!
port.on('message', (word: 'take' | 'die') => {
  if (word === 'take') return port.postMessage(arrivals.splice(0))
  isDying = true
  port.postMessage('dying')
})
port.postMessage(await Promise.all((workerData as Callback[]).map(listen)))

function listen(kind: Callback, index: number): Promise<string> {
  const server = createServer((request, response) => {
    request.on('end', () => answer(kind, index, request, response))
    request.resume()
  })
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`)),
  )
}

function answer(kind: Callback, index: number, request: IncomingMessage, response: ServerResponse): void {
  if (!request.headers.authorization) return void response.writeHead(401).end()
  const id = request.headers['webhook-id'] // a probe has none
  if (id) arrivals.push([index, String(id), performance.timeOrigin + performance.now()])
  if (kind === 'dead' && isDying) return
  if (kind === 'slow' && id) setTimeout(() => response.writeHead(204).end(), SLOW_MS)
  else response.writeHead(204).end()
}
