import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import t from 'tap'
import { testDatabase } from '../setup.ts'
import { alsBeheerder, needsBrowser, opstelling } from './browser.ts'

t.test('a database that goes away is told, and the page comes back by itself', await needsBrowser(), async (t) => {
  const { url } = await testDatabase(t)
  const omweg = await startOmweg(url)
  t.teardown(omweg.weg)
  const test = await opstelling(t, { DATABASE_URL: omweg.url })
  const { pagina } = await alsBeheerder(test, 'viewer')
  const ander = await alsBeheerder(test, 'viewer')
  await pagina.waitForSelector('text=Gezondheid')
  await omweg.weg()
  await pagina.waitForSelector('text=Deze pagina kan niet worden bijgewerkt', { timeout: 60_000 })
  const answer = await ander.pagina.goto('/beheer/')
  t.equal(answer!.status(), 503)
  t.match(await ander.pagina.textContent('main'), 'kijkt zelf of het weer gaat')
  t.notMatch(await ander.pagina.content(), /ECONNREFUSED|at .*\.ts/)
  await omweg.terug()
  await ander.pagina.waitForSelector('text=Gezondheid', { timeout: 60_000 })
  await pagina.waitForSelector('text=Deze pagina kan niet worden bijgewerkt', { state: 'detached', timeout: 60_000 })
})

/** The database by another address, which can be closed. */
async function startOmweg(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect({ host: target.hostname, port: Number(target.port) })
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => other.destroy())
      socket.pipe(other)
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const url = Object.assign(new URL(databaseUrl), { host: `127.0.0.1:${port}` }).href
  return {
    url,
    weg: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
      sockets.clear()
    },
    terug: async () => void (await once(server.listen(port, '127.0.0.1'), 'listening')),
  }
}
