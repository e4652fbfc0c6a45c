// Slow: the database goes away, and terms have to pass.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import t from 'tap'
import { testDatabase } from '../setup.ts'
import { asBeheerder, needsBrowser, setUpPages } from './browser.ts'

t.test('a database that goes away is told, and the page comes back by itself', await needsBrowser(), async (t) => {
  const { url } = await testDatabase(t)
  const omweg = await startDetour(url)
  t.teardown(omweg.weg)
  const test = await setUpPages(t, { DATABASE_URL: omweg.url })
  const { tab } = await asBeheerder(test, 'viewer')
  const other = await asBeheerder(test, 'viewer')
  await tab.waitForSelector('text=Gezondheid')
  await omweg.weg()
  await tab.waitForSelector('text=Deze pagina kan niet worden bijgewerkt', { timeout: 60_000 })
  const answer = await other.tab.goto('/beheer/')
  t.equal(answer!.status(), 503)
  t.match(await other.tab.textContent('main'), 'kijkt zelf of het weer gaat')
  t.notMatch(await other.tab.content(), /ECONNREFUSED|at .*\.ts/)
  await omweg.terug()
  await other.tab.waitForSelector('text=Gezondheid', { timeout: 60_000 })
  await tab.waitForSelector('text=Deze pagina kan niet worden bijgewerkt', { state: 'detached', timeout: 60_000 })
})

/** The database by another address, which can be closed. */
async function startDetour(databaseUrl: string) {
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
