// Another server, for relations with it: a real one, that makes and removes the other side, refuses, or dies on the way.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestApp } from './app.ts'
import { hurryQueue } from './jobs/queue.ts'

export type Elders = Awaited<ReturnType<typeof givenOtherServer>>

/** A registered server with resources by path, and lists that can be posted to. `antwoord` stands in its way. */
export async function givenOtherServer(
  t: { teardown(work: () => unknown): unknown },
  test: TestApp,
  resources: Record<string, unknown> = {},
) {
  const lists = new Map<string, Map<string, Record<string, unknown>>>()
  const calls: string[] = []
  const state = {
    resources,
    lists,
    calls,
    root: '',
    antwoord: undefined as undefined | number | 'weg' | 'doet en valt weg',
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { pathname } = new URL(request.url!, 'http://x')
    const isList = /\/(object(informatieobjecten|contactmomenten|verzoeken)|besluiten)$/.test(pathname)
    const answer = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }
    if (request.method !== 'GET') {
      calls.push(`${request.method} ${pathname}`)
      if (state.antwoord === 'weg') return void request.socket.destroy()
      if (typeof state.antwoord === 'number') return answer(state.antwoord, {})
    }
    if (request.method === 'POST' && isList) {
      const uuid = crypto.randomUUID()
      const one = { ...JSON.parse(Buffer.concat(chunks).toString()), url: `${state.root}${pathname}/${uuid}` }
      lists.set(pathname, (lists.get(pathname) ?? new Map()).set(uuid, one))
      if (state.antwoord === 'doet en valt weg') return void request.socket.destroy()
      return answer(201, one)
    }
    if (request.method === 'DELETE') {
      const list = lists.get(pathname.slice(0, pathname.lastIndexOf('/')))
      return answer(list?.delete(pathname.slice(pathname.lastIndexOf('/') + 1)) ? 204 : 404, undefined)
    }
    if (isList) return answer(200, [...(lists.get(pathname)?.values() ?? [])])
    const found = resources[pathname]
    answer(found ? 200 : 404, found ?? {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref()
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  state.root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await test.database.sql`insert into service (label, slug, kind, api_root, timeout_ms)
    values ('Elders', 'elders', 'orc', ${`${state.root}/`}, 2000)
    on conflict (slug) do update set api_root = excluded.api_root`
  return { ...state, state, staat: (path: string) => [...(lists.get(path)?.values() ?? [])] }
}

/** The jobs for later, now. */
export async function runLater(test: TestApp) {
  await hurryQueue(test.database.sql)
  await test.runJobs()
}
