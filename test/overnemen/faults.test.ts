// What goes wrong during a takeover, and is right afterwards: sources that fail, are slow, or change meanwhile.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t from 'tap'
import { forecastLine } from '../../src/cli/takeover-lines.ts'
import { expected } from '../../src/database/rows.ts'
import { apiClient } from '../../src/overnemen/api/client.ts'
import { apiSource } from '../../src/overnemen/api/source.ts'
import { checkTakeover, type Difference } from '../../src/overnemen/check.ts'
import { beginRound } from '../../src/overnemen/round.ts'
import { SECRET, type TestApp, testApp } from '../app.ts'
import { emptyDatabase } from '../setup.ts'
import { fillOpenZaak, KIND, OLD, uuidOf } from './open-zaak-database.ts'

const CRS = { headers: { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' } }

async function toTheEnd(test: TestApp, given: Parameters<typeof beginRound>[1]) {
  const begun = await beginRound(test.parts, given)
  try {
    for (let i = 0; i < 100 && (await begun.state()).status === 'loopt'; i++) {
      // A job that failed waits before its next attempt.
      await test.database.sql`update _private_jobs set run_at = now() where run_at > now()`
      await test.runJobs()
    }
  } finally {
    await begun.release()
  }
  return begun
}

const fromDatabase = (url: string) => ({
  ...{ kind: 'open-zaak' as const, url, secret: url, trial: false, readOnly: false },
  settings: { oudeUrls: [OLD], bytes: 'kopieren' as const, naast: 2 },
})
const fromApi = (url: string) => ({
  ...{ kind: 'api' as const, url, secret: SECRET, trial: false, readOnly: false },
  settings: { clientId: 'beheer', oudeUrls: [], bytes: 'kopieren' as const, naast: 2 },
})

async function differences(test: TestApp, takeover: Parameters<typeof checkTakeover>[1]): Promise<string[]> {
  const found: Difference[] = []
  await checkTakeover(test.parts, takeover, { files: 0, report: (one) => found.push(one) })
  return found.map(({ kind, code, field }) => `${kind} ${code} ${field}`.trim())
}

type Meddle = (
  path: string,
  answer: () => Promise<{ status: number; body: string }>,
) => Promise<{ status: number; body: string; headers?: Record<string, string | undefined> } | 'reset' | undefined>

/** An API behind a server that meddles with its answers. */
async function givenMeddler(
  t: { teardown(work: () => unknown): unknown },
  source: string,
  meddle: Meddle,
): Promise<string> {
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const host = request.headers.host!
    const answer = async () => {
      const headers = Object.fromEntries(
        ['authorization', 'accept-crs'].flatMap((name) =>
          request.headers[name] ? [[name, String(request.headers[name])]] : [],
        ),
      )
      const there = await fetch(source + request.url, { headers })
      return { status: there.status, body: (await there.text()).replaceAll(source, `http://${host}`) }
    }
    const meddled = await meddle(decodeURIComponent(request.url!), answer)
    if (meddled === 'reset') return response.destroy()
    const { status, body } = meddled ?? (await answer())
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(meddled && 'headers' in meddled && meddled.headers),
    })
    response.end(status === 204 ? undefined : body)
  }
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('a source that fails, is slow, shows nonsense and changes while it is read', async (t) => {
  const { url } = await emptyDatabase(t)
  await fillOpenZaak(url, { zaken: 6, documents: 2 })
  const old = postgres(url, { max: 1, onnotice: () => {} })
  await old`
    insert into zaken_zaakeigenschap (id, uuid, _naam, waarde, _eigenschap_id, zaak_id)
    values (1, ${uuidOf(KIND.other, 1)}, 'kleur', 'rood', 1, 2)`
  await old.end()
  const source = await testApp(t)
  await toTheEnd(source, fromDatabase(url))
  const own = await source.app.listen({ host: '127.0.0.1', port: 0 })
  const broken = { rol: true, zaak: true, below: true }
  const seen = { tooMany: 0, reset: 0, failed: 0, changed: 0 }
  let requests = 0
  const address = await givenMeddler(t, own, async (path, answer) => {
    requests++
    if (requests % 11 === 0 && seen.tooMany < 5) {
      seen.tooMany++
      return { status: 429, body: '{}', headers: { 'retry-after': '0' } }
    }
    if (requests % 13 === 0 && seen.reset < 3) {
      seen.reset++
      return 'reset'
    }
    if (requests % 5 === 0) await sleep(20)
    if (broken.rol && path.includes('/zaken/api/v1/rollen?')) {
      // The page fails for one row in it.
      const given = await answer()
      if (!given.body.includes(uuidOf(KIND.rol, 2))) return given
      seen.failed++
      return { status: 500, body: '<h1>Server Error</h1>', headers: { 'content-type': 'text/html' } }
    }
    if (broken.below && path.endsWith(`/${uuidOf(KIND.zaak, 2)}/zaakeigenschappen`)) return { status: 500, body: '{}' }
    if (path.includes('/zaken/api/v1/zaken?') && seen.changed++ === 1)
      await source.call('DELETE', `/zaken/api/v1/zaken/${uuidOf(KIND.zaak, 6)}`, undefined, CRS)
    if (broken.zaak && path.includes('/zaken/api/v1/zaken')) {
      const given = await answer()
      return {
        ...given,
        body: given.body.replace(
          '"startdatum":"2024-01-01","einddatum":"2024-03-01"',
          '"startdatum":"2024-01-01","einddatum":"2024-02-30"',
        ),
      }
    }
    return undefined
  })
  const target = await testApp(t)
  const first = await toTheEnd(target, fromApi(address))
  t.equal((await first.state()).status, 'klaar', 'it stops for none of it')
  t.ok(seen.tooMany > 0 && seen.reset > 0 && seen.failed > 1, JSON.stringify(seen))
  const lines = async () =>
    (
      await target.database.sql<{ line: string }[]>`
        select outcome || ' ' || kind || ' ' || code as line from takeover_remark where outcome = 'geweigerd' group by 1 order by 1`
    ).map(({ line }) => line)
  t.ok((await lines()).includes('geweigerd rol bron-fout'), 'a row that the source cannot show')
  t.ok((await lines()).includes('geweigerd zaak bron-fout'), 'a list below a case')
  const eigenschappen = async () => (await target.database.sql`select from zaakeigenschap`).length
  t.equal(await eigenschappen(), 0)
  t.ok((await lines()).includes('geweigerd zaak waarde'), 'a date that is none')
  t.ok((await lines()).includes('geweigerd status verwijzing-ontbreekt'), 'what hangs on it')
  const [rollen] = await target.database.sql<{ n: number }[]>`select count(*) as n from rol`
  t.ok(rollen!.n >= 3)

  // Mended at the source.
  Object.assign(broken, { rol: false, zaak: false, below: false })
  const second = await toTheEnd(target, fromApi(address))
  t.same(await lines(), [])
  t.equal(await eigenschappen(), 1, 'the case did not change, and its list is read after all')
  t.same(await differences(target, await second.state()), [])
  const [zaken] = await target.database.sql<{ n: number }[]>`select count(*) as n from zaak`
  t.equal(zaken!.n, 5)
})

t.test('an answer without end, or without sense, is one that the source cannot give', async (t) => {
  let body: string | undefined
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    if (body !== undefined) return response.end(body)
    const more = () => {
      while (!response.destroyed && response.write(' '.repeat(2 ** 20))) {}
    }
    response.on('drain', more)
    more()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = apiClient({ url, clientId: 'x', secret: SECRET, connections: 1 })
  t.teardown(client.close)
  t.same(await client.get('/endless'), { status: 500, body: undefined })
  body = '{"burgerservicenummer": 111222333'
  t.same(await client.get('/half'), { status: 500, body: undefined })
  body = '{"count": 0}'
  t.same(await client.get('/whole'), { status: 200, body: { count: 0 } })
})

t.test('pages become smaller when the source is slow, each row comes once, and the forecast is honest', async (t) => {
  const rows = Array.from({ length: 1200 }, (_, n) => ({ url: `http://oud.example/rollen/${uuidOf(KIND.rol, n + 1)}` }))
  const asked: string[] = []
  const address = await givenMeddler(t, 'http://127.0.0.1:1', async (path) => {
    const url = new URL(path, 'http://x')
    if (url.pathname.endsWith('/consumer')) return { status: 404, body: '{}' }
    const [size, number] = [Number(url.searchParams.get('pageSize') ?? 100), Number(url.searchParams.get('page') ?? 1)]
    const results = url.pathname.endsWith('/rollen') ? rows.slice((number - 1) * size, number * size) : []
    if (url.pathname.endsWith('/rollen')) asked.push(`${number}:${size}`)
    if (size === 500) await sleep(60)
    const next = number * size < rows.length && results.length > 0 ? 'more' : null
    return { status: 200, body: JSON.stringify({ count: results.length > 0 ? rows.length : 0, next, results }) }
  })
  const { database } = await testApp(t)
  const source = apiSource({
    ...{ url: address, clientId: 'x', secret: SECRET, naast: 1, slowMs: 50 },
    ...{ sql: database.sql, takeover: { id: 1 } },
  })
  t.teardown(() => source.close())
  const plan = expected((await source.plan(1)).find(({ name }) => name === 'rol'))
  t.ok((plan.seconds ?? 0) >= 0.15, 'three pages of 60 ms')
  asked.length = 0
  const seen: string[] = []
  for (let position: string | null = null; ; ) {
    const portion = await source.read({ name: 'rol', above: plan.above ?? null, until: null, position, round: 1 })
    seen.push(...portion.objects.map(({ object }) => object.uuid))
    // Nothing is written here: by what was taken over all would be read again.
    if (portion.next === null || seen.length >= rows.length) break
    position = portion.next
  }
  t.same(seen, rows.map(({ url }) => url.slice(-36)).toReversed())
  t.same(asked.slice(0, 3), ['3:500', '10:100', '9:100'])
  t.match(forecastLine(3 * 86_400, 'api'), /72 hours. That is no weekend .*from the database/)
  t.match(forecastLine(1800, 'open-zaak'), /^Forecast: about 30 minutes/)
})

t.test('a source that shows nothing is waited for, and is asked no faster than it may be', async (t) => {
  let status = 500
  let asked = 0
  const address = await givenMeddler(t, 'http://127.0.0.1:1', async () => {
    asked++
    return { status, headers: { 'retry-after': '0' }, body: '{"results": [], "next": null, "count": 0}' }
  })
  const client = apiClient({ url: address, clientId: 'x', secret: SECRET, connections: 4, tempo: 50 })
  t.teardown(client.close)
  const begun = performance.now()
  await Promise.all(Array.from({ length: 20 }, () => client.get('/zaken/api/v1/zaken')))
  t.ok(performance.now() - begun >= (19 / 50) * 1000 - 20, 'at most 50 a second')
  t.equal(asked, 20)
  status = 503
  await t.rejects(apiClient({ url: address, clientId: 'x', secret: SECRET, connections: 1 }).get('/x'), {
    name: 'SourceUnavailable',
    code: '503',
  })
})
