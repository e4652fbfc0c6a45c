import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import t from 'tap'
import { listen } from '../../src/database/listen.ts'
import { openLog } from '../../src/telemetry/log.ts'
import { testDatabase } from '../setup.ts'

t.test('who stops listening while the database does not answer is done at once', { timeout: 20_000 }, async (t) => {
  const url = new URL((await testDatabase(t)).url)
  const server = { host: url.hostname, port: Number(url.port) }
  const sockets: Socket[] = []
  let silent = false
  const proxy = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    if (silent) {
      proxy.emit('waits')
      socket.resume()
      return
    }
    const database = connect(server)
    database.on('error', () => {})
    socket.on('close', () => database.destroy())
    socket.pipe(database).pipe(socket)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  url.port = String((proxy.address() as AddressInfo).port)
  let signals = 0
  const listener = await listen(url.href, 'proef', () => signals++, openLog('silent'))
  t.equal(signals, 1)

  silent = true
  const waits = once(proxy, 'waits')
  for (const socket of sockets) socket.destroy()
  await waits
  await listener.close()
})
