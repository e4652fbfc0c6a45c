// A TCP proxy that stops forwarding, as a firewall that forgets or a host that freezes: connections stay open, in both directions
// nothing comes, new ones are accepted.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

type TestLike = { teardown(work: () => unknown): unknown }

export type FrozenProxy = {
  /** The address that was given, through the proxy. */
  url: string
  /** How many connections there are. */
  count(): number
  /** Stops forwarding: of all connections and of those that come, or of each second one that there is now. */
  freeze(which?: 'all' | 'some'): void
  thaw(): void
}

export async function frozenProxy(t: TestLike, url: string): Promise<FrozenProxy> {
  const { hostname, port } = new URL(url)
  type Pair = { near: Socket; far: Socket | undefined; isFrozen: boolean }
  const pairs = new Set<Pair>()
  const sockets = new Set<Socket>()
  let isFrozen = false
  const server = createServer({ allowHalfOpen: false }, (near) => {
    const pair: Pair = { near, far: undefined, isFrozen }
    pairs.add(pair)
    const far = connect(Number(port || 5432), hostname)
    pair.far = far
    for (const one of [near, far]) sockets.add(one.once('close', () => sockets.delete(one)))
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (bytes) => {
        if (!pair.isFrozen) to.write(bytes)
      })
      from.on('error', () => {})
      from.on('close', () => {
        if (!pair.isFrozen) to.destroy()
        if (from === near) pairs.delete(pair)
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const one of sockets) one.destroy()
    server.close()
  })
  return {
    url: Object.assign(new URL(url), { host: `127.0.0.1:${(server.address() as AddressInfo).port}` }).href,
    count: () => pairs.size,
    freeze(which = 'all') {
      isFrozen = which === 'all'
      for (const [index, pair] of [...pairs].entries()) if (isFrozen || index % 2 === 0) pair.isFrozen = true
    },
    thaw() {
      isFrozen = false
      // What was dropped is missing: those connections are broken for good, as after a firewall that comes back.
      for (const pair of pairs)
        if (pair.isFrozen) {
          pair.near.destroy()
          pair.far?.destroy()
        }
    },
  }
}
