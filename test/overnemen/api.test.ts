import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { listen } from '../../src/database/listen.ts'
import { apiClient } from '../../src/overnemen/api/client.ts'
import { checkTakeover, type Difference } from '../../src/overnemen/check.ts'
import { beginRound, type Round } from '../../src/overnemen/round.ts'
import { BASE, SECRET, type TestApp, testApp } from '../app.ts'
import { auditRecords } from '../audit-records.ts'
import { emptyDatabase } from '../setup.ts'
import { until } from '../until.ts'
import { fillOpenZaak, fillOtherKinds, KIND, OLD, uuidOf } from './open-zaak-database.ts'

const COUNTS = { zaken: 6, documents: 3 }
const CRS = { headers: { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' } }

async function toTheEnd(test: TestApp, given: Parameters<typeof beginRound>[1]): Promise<Round> {
  const begun = await beginRound(test.parts, given)
  try {
    for (let i = 0; i < 50 && (await begun.state()).status === 'loopt'; i++) await test.runJobs()
  } finally {
    await begun.release()
  }
  return begun
}

const fromApi = (url: string) => ({
  kind: 'api' as const,
  url,
  secret: SECRET,
  trial: false,
  readOnly: false,
  settings: { clientId: 'beheer', oudeUrls: [], bytes: 'kopieren' as const, naast: 2 },
})

/** Everything that both readers bring, as rows without our keys. */
const rowsOf = async ({ database }: TestApp) => {
  const rows = await database.sql<{ rij: unknown }[]>`
    select to_jsonb(r) as rij from (
      select 'zaak' as t, z.uuid, to_jsonb(z) - 'id' - 'zaaktype_id' - 'hoofdzaak_id' as rij from zaak z
      union all select 'rol', r.uuid, to_jsonb(r) - 'id' - 'zaak_id' - 'roltype_id' from rol r
      union all select 'status', s.uuid, to_jsonb(s) - 'id' - 'zaak_id' - 'statustype_id' - 'gezetdoor_id' from status s
      union all select 'resultaat', r.uuid, to_jsonb(r) - 'id' - 'zaak_id' - 'resultaattype_id' from resultaat r
      union all select 'zaaktype', y.uuid, to_jsonb(y) - 'id' - 'catalogus_id' from zaaktype y
      union all select 'versie', e.uuid, to_jsonb(v) - 'enkelvoudiginformatieobject_id' - 'informatieobjecttype_id' - 'file_id'
        from enkelvoudiginformatieobject_versie v join enkelvoudiginformatieobject e on e.id = v.enkelvoudiginformatieobject_id
      union all select 'zio', x.uuid, to_jsonb(x) - 'id' - 'zaak_id' - 'enkelvoudiginformatieobject_id' - 'status_id' from zaakinformatieobject x
      union all select 'oio', x.uuid, to_jsonb(x) - 'id' - 'enkelvoudiginformatieobject_id' from objectinformatieobject x
      union all select 'audit', a.uuid, to_jsonb(a) - 'id' - 'packed' - 'request_id' from audit a
        where a.bron = 'zrc' and a.hoofd_object_uuid in (select uuid from zaak)
    ) r order by t, uuid`
  const trail = await auditRecords(
    database,
    database.sql`bron = 'zrc' and hoofd_object_uuid in (select uuid from zaak)`,
  )
  const held = trail.map(({ uuid, oud, nieuw }) => ({ uuid, oud, nieuw }))
  return [...rows.map(({ rij: rowOf }) => rowOf), ...held.sort((a, b) => (a.uuid < b.uuid ? -1 : 1))]
}

t.test('the database and the APIs of one installation end in the same rows, bytes included', async (t) => {
  const { url } = await emptyDatabase(t)
  await fillOpenZaak(url, COUNTS)
  await fillOtherKinds(url)
  const files = await mkdtemp(join(tmpdir(), 'zaakstroom-oud-'))
  t.teardown(() => rm(files, { recursive: true }))
  await mkdir(join(files, 'uploads/2024/01'), { recursive: true })
  for (let n = 1; n <= COUNTS.documents; n++) await writeFile(join(files, `uploads/2024/01/${n}.bin`), `inhoud ${n}..`)

  const source = await testApp(t)
  await toTheEnd(source, {
    kind: 'open-zaak',
    url,
    secret: url,
    trial: false,
    readOnly: false,
    settings: { oudeUrls: [OLD], bestanden: files, bytes: 'kopieren', naast: 2 },
  })
  const address = await source.app.listen({ host: '127.0.0.1', port: 0 })

  const target = await testApp(t)
  let signals = 0
  const listener = await listen(target.databaseUrl, 'zaakstroom_autorisaties', () => signals++, target.parts.log)
  t.teardown(listener.close)
  signals = 0 // it comes once as it connects
  const first = await toTheEnd(target, fromApi(address))
  await until('the new rights are told to every process', () => signals > 0, 5_000)
  t.equal((await first.state()).status, 'klaar')
  t.same(await rowsOf(target), await rowsOf(source))
  const path = `/documenten/api/v1/enkelvoudiginformatieobjecten/${uuidOf(KIND.document, 1)}/download`
  t.equal((await target.call('GET', path)).text, 'inhoud 1..')

  const client = apiClient({ url: address, clientId: 'beheer', secret: SECRET, connections: 2 })
  t.teardown(client.close)
  const type = `/catalogi/api/v1/informatieobjecttypen/${uuidOf(KIND.informatieobjecttype, 1)}`
  const version = `/catalogi/api/v1/zaaktypen/${uuidOf(KIND.zaaktype, 2)}`
  /** One side names one more version of a related type than the other. */
  const check = async (more?: 'there' | 'here') => {
    const found: Difference[] = []
    const asked = async (side: string, path: string, answer: { status: number; body: unknown }) => {
      if (path === type && side === more)
        (answer.body as { zaaktypen: string[] }).zaaktypen.push((side === 'there' ? address : BASE) + version)
      return answer
    }
    const { differences, compared, answers } = await checkTakeover(target.parts, first.takeover, {
      files: 100,
      report: (one) => found.push(one),
      answers: {
        there: async (path) => asked('there', path, await client.get(path)),
        thereUrl: address,
        here: async (path) => asked('here', path, await target.call('GET', path, undefined, CRS)),
        perKind: 100,
      },
    })
    t.equal(differences, found.length)
    const lines = (of: Difference[]) => of.map(({ kind, code, field }) => `${kind} ${code} ${field}`.trim())
    const [said, stored] = [
      found.filter(({ code }) => code === 'antwoord'),
      found.filter(({ code }) => code !== 'antwoord'),
    ]
    return { found: lines(stored), said: lines(said), compared, answers }
  }
  const { found, said, compared, answers } = await check()
  t.same(found, [])
  t.same(said, [])
  t.same((await check('here')).said, [], 'each service has its rule for the versions that it names')
  t.same((await check('there')).said, ['informatieobjecttype antwoord zaaktypen'])
  for (const kind of [
    'zaaktype',
    'zaak',
    'rol',
    'status',
    'resultaat',
    'document',
    'zaakinformatieobject',
    'applicatie',
  ])
    t.match(
      answers.find((one) => one.kind === kind),
      { gevraagd: Number, gelijk: answers.find((one) => one.kind === kind)?.gevraagd },
      kind,
    )
  t.match(
    answers.find(({ kind }) => kind === 'zaak'),
    { gevraagd: 2 * COUNTS.zaken }, // with the audit trail of each
  )
  t.match(
    compared.find(({ kind }) => kind === 'zaak'),
    { daar: COUNTS.zaken, hier: COUNTS.zaken, gelijk: COUNTS.zaken },
  )
  t.match(
    compared.find(({ kind }) => kind === 'bestand'),
    { gelijk: COUNTS.documents },
  )

  // The source goes on: a change, a part that goes, and a case that goes with all below it.
  await source.call('PATCH', `/zaken/api/v1/zaken/${uuidOf(KIND.zaak, 1)}`, { omschrijving: 'anders' }, CRS)
  await source.call('DELETE', `/zaken/api/v1/zaakinformatieobjecten/${uuidOf(KIND.zio, 2)}`)
  await source.call('DELETE', `/zaken/api/v1/zaken/${uuidOf(KIND.zaak, 5)}`, undefined, CRS)
  const changed = await check()
  t.ok(changed.said.includes('zaak antwoord omschrijving'))
  t.ok(changed.said.includes('zaak antwoord audittrail'))
  t.ok(changed.said.includes('zaak antwoord')) // the one that is gone
  t.same(changed.found.sort(), [
    'audit ontbreekt',
    'audit ontbreekt',
    'objectinformatieobject te-veel',
    'rol te-veel',
    'status te-veel',
    'zaak te-veel',
    'zaak verschilt laatst_gemuteerd',
    'zaak verschilt laatst_gemuteerd',
    'zaak verschilt omschrijving',
    'zaakinformatieobject te-veel',
  ])
  await toTheEnd(target, fromApi(address))
  t.match(await check(), { found: [], said: [] })
  t.same(await rowsOf(target), await rowsOf(source))
})

/** Between a target and its source: answers some requests with another status, and counts all. */
async function givenProxy(
  t: { teardown(work: () => unknown): unknown },
  address: string,
  judge: (url: URL) => number | undefined,
) {
  const asked: string[] = []
  const proxy = createServer((async (request, response) => {
    const url = new URL(String(request.url), address)
    asked.push(`${url.pathname}${url.search}`)
    const status = judge(url)
    if (status !== undefined) return response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
    const { connection: _, ...headers } = request.headers
    const answer = await fetch(url, { headers: headers as Record<string, string> })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' })
    response.end(Buffer.from(await answer.arrayBuffer()))
  }) as RequestListener)
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.teardown(() => proxy.close())
  return { asked, url: `http://127.0.0.1:${(proxy.address() as { port: number }).port}` }
}

const remarksOf = ({ database }: TestApp, code: string) =>
  database.sql<
    { kind: string; key: string; text: string }[]
  >`select kind, key, text from takeover_remark where code = ${code}`

t.test('a source whose lists are empty is read in no time', async (t) => {
  const source = await testApp(t)
  const address = await source.app.listen({ host: '127.0.0.1', port: 0 })
  const { url, asked } = await givenProxy(t, address, () => undefined)
  const target = await testApp(t)
  const done = await toTheEnd(target, fromApi(url))
  t.equal((await done.state()).status, 'klaar')
  t.ok(asked.length < 150, `${asked.length} requests`)
})

t.test(
  'a row that cannot be shown is the only one that is not read, on the first page as well as on a later one',
  async (t) => {
    const { url: database } = await emptyDatabase(t)
    await fillOpenZaak(database, { zaken: 1199, documents: 1 })
    const source = await testApp(t)
    await toTheEnd(source, {
      ...{ kind: 'open-zaak', url: database, secret: database, trial: false, readOnly: false },
      settings: { oudeUrls: [OLD], bytes: 'laten', naast: 2 },
    })
    const address = await source.app.listen({ host: '127.0.0.1', port: 0 })
    // Places from the newest on.
    const damaged = [1, 777]
    const proxy = await givenProxy(t, address, ({ pathname, searchParams }) => {
      if (pathname !== '/zaken/api/v1/zaken') return undefined
      const [size, page] = [Number(searchParams.get('pageSize') ?? 100), Number(searchParams.get('page') ?? 1)]
      return damaged.some((place) => place > (page - 1) * size && place <= page * size) ? 500 : undefined
    })
    const target = await testApp(t)
    const done = await toTheEnd(target, fromApi(proxy.url))
    t.equal((await done.state()).status, 'klaar')
    t.equal((await target.database.sql`select from zaak`).length, 1199 - damaged.length)
    const pages = proxy.asked.filter((path) => /\/zaken\?.*page/.test(path)).length
    t.ok(pages < 70, `${pages} pages`)
    const lost = (await remarksOf(target, 'bron-fout')).filter(({ kind }) => kind === 'zaak')
    t.same(lost.map(({ key }) => key).sort(), ['rij 1', 'rij 777'])
    const neighbours = (await source.call('GET', '/zaken/api/v1/zaken?page=389&pageSize=2', undefined, CRS)).body
      .results
    t.match(lost.find(({ key }) => key === 'rij 777')?.text, neighbours[1].uuid.slice(-12), 'its neighbours name it')
    damaged.length = 0
    await toTheEnd(target, fromApi(proxy.url))
    t.equal((await target.database.sql`select from zaak`).length, 1199)
  },
)

t.test(
  'a list that shows less than it counts is read again, and then keeps its round from being complete',
  async (t) => {
    const { url: database } = await emptyDatabase(t)
    await fillOpenZaak(database, { zaken: 6, documents: 1 })
    const source = await testApp(t)
    await toTheEnd(source, {
      ...{ kind: 'open-zaak', url: database, secret: database, trial: false, readOnly: false },
      settings: { oudeUrls: [OLD], bytes: 'laten', naast: 2 },
    })
    const address = await source.app.listen({ host: '127.0.0.1', port: 0 })
    let hides = true
    const proxy = createServer((async (request, response) => {
      const { connection: _, ...headers } = request.headers
      const answer = await fetch(address + request.url, { headers: headers as Record<string, string> })
      let body = Buffer.from(await answer.arrayBuffer())
      if (hides && /zaken\/api\/v1\/rollen\?/.test(String(request.url)) && answer.status === 200) {
        const page = JSON.parse(String(body))
        body = Buffer.from(JSON.stringify({ ...page, results: page.results.slice(1) }))
      }
      response
        .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' })
        .end(body)
    }) as RequestListener)
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    t.teardown(() => proxy.close())
    const url = `http://127.0.0.1:${(proxy.address() as { port: number }).port}`
    const target = await testApp(t)
    const first = await toTheEnd(target, fromApi(url))
    t.equal((await first.state()).status, 'gestopt')
    t.match(await remarksOf(target, 'lijst-onvolledig'), [{ kind: 'rol', text: /telt er 6, en toonde er 5/ }])
    hides = false
    const second = await toTheEnd(target, fromApi(url))
    t.notOk(second.resumed)
    t.equal((await second.state()).status, 'klaar')
    t.same([...(await remarksOf(target, 'lijst-onvolledig'))], [])
  },
)

t.test('a client that may not read everything is refused before anything is read', async (t) => {
  const source = await testApp(t)
  const address = await source.app.listen({ host: '127.0.0.1', port: 0 })
  const target = await testApp(t)
  await source.database.sql`update applicatie set heeft_alle_autorisaties = false`
  await t.rejects(beginRound(target.parts, fromApi(address)), { name: /TooFewRights|SourceUnavailable/ })
})
