// Snapshots, events, and the copy that is kept with them: over HTTP, as another program would.
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { signToken } from '../../src/autorisaties/clients.ts'
import { bringUpToDate, COLLECTIONS, compare, openCopyDatabase, type Source } from '../../src/cli/copy.ts'
import { LIMITS } from '../../src/core/limits.ts'
import { signal } from '../../src/database/listen.ts'
import { snapshotOwner, withdrawSnapshots } from '../../src/feed/snapshots.ts'
import { digestHeader } from '../../src/http/content.ts'
import {
  givenBesluittype,
  givenClient,
  givenInformatieobjecttype,
  givenZaaktype,
  type Json,
  SECRET,
  testApp,
  uuidOf,
} from '../app.ts'
import { givenBesluit } from '../besluiten/given.ts'
import { programEnv } from '../program-env.ts'
import { until } from '../until.ts'
import { CRS, givenDocument, givenZaak, made, ZAKEN } from '../zaken/given.ts'

const test = await testApp(t)
const { app, call, database } = test
await app.listen({ port: 0, host: '127.0.0.1' })
const ADDRESS = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
const MAIN = join(import.meta.dirname, '../../src/main.ts')
const SNAPSHOTS = `${ZAKEN}/zaken/_snapshots`

const ask = (path: string, headers: Record<string, string> = {}, as = 'beheer') =>
  fetch(`${ADDRESS}${path}`, { headers: { authorization: `Bearer ${signToken(as, SECRET)}`, ...headers } })

/** The newest snapshot of a collection for a client, made when there is none. */
async function snapshotOf(as = 'beheer'): Promise<{ id: string; href: string; total: number }> {
  return until('a snapshot', async () => {
    const { items } = (await (await ask(SNAPSHOTS, {}, as)).json()) as Json
    if (items.length === 0) await test.runJobs()
    return items.at(-1)
  })
}

t.test('a snapshot has what its client may read, and is fetched in pieces', async (t) => {
  const mine = await givenZaaktype(test, { statustypen: ['Begin', 'Eind'] })
  const zaak = await givenZaak(test, { zaaktype: mine, vertrouwelijkheidaanduiding: 'openbaar' })
  const hidden = await givenZaak(test, { zaaktype: mine, vertrouwelijkheidaanduiding: 'geheim' })
  const as = await givenClient(test, 'momentopname', [
    { component: 'zrc', scopes: ['zaken.lezen'], typeUuid: uuidOf(mine), max: 'openbaar' },
  ])
  const first = await ask(SNAPSHOTS, {}, as)
  t.equal(first.headers.get('retry-after'), '5', 'the first one is made when it is asked for')
  t.same(await first.json(), { items: [] })
  const snapshot = await snapshotOf(as)
  t.equal(snapshot.href, `${ADDRESS}${SNAPSHOTS}/${snapshot.id}`)
  const path = new URL(snapshot.href).pathname
  const whole = await ask(path, {}, as)
  t.equal(whole.headers.get('content-type'), 'application/gzip')
  const bytes = Buffer.from(await whole.arrayBuffer())
  const begin = await ask(path, { range: 'bytes=0-9' }, as)
  const rest = await ask(path, { range: 'bytes=10-', 'if-range': begin.headers.get('etag') ?? '' }, as)
  t.same([begin.status, rest.status], [206, 206])
  t.ok(bytes.equals(Buffer.concat([Buffer.from(await begin.arrayBuffer()), Buffer.from(await rest.arrayBuffer())])))
  const lines = gunzipSync(bytes)
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.equal(lines.length, snapshot.total)
  t.same(
    lines.map(({ resource_id }) => resource_id),
    [zaak.uuid],
    'and nothing else',
  )
  t.not(lines[0].resource_id, hidden.uuid)
  t.equal((await ask(path)).status, 410, 'it is of the rights of its client')
  const later = await givenZaak(test, { zaaktype: mine, vertrouwelijkheidaanduiding: 'openbaar' })
  await until('the delta after it', async () => {
    const page = (await (await ask(`${ZAKEN}/zaken/_deltas?after=${snapshot.id}`, {}, as)).json()) as Json
    return page.items.some(({ operations }: Json) => operations.some((one: Json) => one.resource_id === later.uuid))
  })
})

t.test('a snapshot is sealed in the store with a key of its own, and opened in any piece', async (t) => {
  const type = await givenZaaktype(test)
  const zaak = await givenZaak(test, { zaaktype: type, vertrouwelijkheidaanduiding: 'openbaar' })
  const as = await givenClient(test, 'verzegeld', [
    { component: 'zrc', scopes: ['zaken.lezen'], typeUuid: uuidOf(type), max: 'openbaar' },
  ])
  for (let n = 0; n < 30; n++) {
    const teksten = Array.from({ length: 3 }, () => randomBytes(13_500).toString('base64'))
    const objectIdentificatie = { overigeData: { bsn: '123456782', teksten } }
    const object = { zaak: zaak.url, objectType: 'overige', objectTypeOverige: 'x', objectIdentificatie }
    made(await call('POST', `${ZAKEN}/zaakobjecten`, object))
  }
  const { pathname } = new URL((await snapshotOf(as)).href)
  const whole = await ask(pathname, {}, as)
  const sent = Buffer.from(await whole.arrayBuffer())
  t.ok(sent.length > LIMITS.wholeDownloadBytes, 'it is not read into memory')
  t.equal(whole.headers.get('repr-digest'), digestHeader(createHash('sha256').update(sent).digest()))
  t.match(gunzipSync(sent).toString(), /"bsn":"123456782"/)
  for (const [start, end] of [
    [0, 0],
    [1, 40],
    [16, 31],
    [999_983, 1_000_001],
    [sent.length - 5, sent.length - 1],
  ] as const) {
    const piece = await ask(pathname, { range: `bytes=${start}-${end}` }, as)
    t.ok(Buffer.from(await piece.arrayBuffer()).equals(sent.subarray(start, end + 1)), `${start} to ${end}`)
  }
  const rows = await database.sql<{ id: number; key: string; sealed: Buffer }[]>`
  select s.id, f.key, s.sealed_key as sealed from feed_snapshot s join file f on f.id = s.file_id order by s.id`
  const keys = rows.map(({ id, sealed }) => test.parts.box.open(sealed, snapshotOwner(id)))
  t.ok(rows.length > 1 && new Set(keys).size === rows.length, 'each has another key')
  const path = join(test.config.documentenDir, rows.at(-1)!.key)
  const stored = await readFile(path)
  t.equal(stored.length, sent.length)
  t.throws(() => gunzipSync(stored), 'what lies there is no gzip')
  stored[500_000]! ^= 1
  await writeFile(path, stored)
  await t.rejects(async () => (await ask(pathname, {}, as)).arrayBuffer(), 'what was changed breaks off before its end')
})

t.test('a snapshot is withdrawn when something that it holds was deleted or left its rights', async (t) => {
  const mine = await givenZaaktype(test)
  const rights = [{ component: 'zrc', scopes: ['zaken.lezen'], typeUuid: uuidOf(mine), max: 'openbaar' }] as Parameters<
    typeof givenClient
  >[2]
  const as = await givenClient(test, 'ingetrokken', rights)
  const given = () => givenZaak(test, { zaaktype: mine, vertrouwelijkheidaanduiding: 'openbaar' })
  const path = async () => new URL((await snapshotOf(as)).href).pathname
  const status = async (path: string) => {
    const answer = await ask(path, {}, as)
    await answer.arrayBuffer()
    return answer.status
  }
  const judge = async () => {
    await until('all settled', async () => {
      const [row] = await database.sql`select from change where xact >= pg_snapshot_xmin(pg_current_snapshot())`
      return row === undefined
    })
    await withdrawSnapshots(database)
  }
  const raised = await given()
  const deleted = await given()
  const first = await path()
  // What changes and stays, what is of others, and what came later.
  await call('PATCH', raised.url, { omschrijving: 'anders' }, CRS)
  await call('DELETE', (await givenZaak(test)).url)
  await call('DELETE', (await given()).url)
  await judge()
  t.equal(await status(first), 200)
  await call('PATCH', raised.url, { vertrouwelijkheidaanduiding: 'geheim' }, CRS)
  await judge()
  t.equal(await status(first), 410, 'raised above the level of its client')
  const second = await path()
  t.equal(await status(second), 200)
  await call('DELETE', deleted.url)
  await judge()
  t.equal(await status(second), 410, 'deleted')
})

/** Reads events until it is stopped. */
async function listen(t: Test, headers: Record<string, string> = {}, as = 'beheer') {
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const response = await fetch(`${ADDRESS}${ZAKEN}/zaken/_deltas`, {
    headers: { authorization: `Bearer ${signToken(as, SECRET)}`, accept: 'text/event-stream', ...headers },
    signal: stop.signal,
  })
  const events: { id: string; delta?: Json }[] = []
  const ended = (async () => {
    if (!response.body) return
    let id = ''
    let data = ''
    for await (const line of createInterface({ input: Readable.fromWeb(response.body as never) })) {
      if (line.startsWith('id: ')) id = line.slice(4)
      else if (line.startsWith('data: ')) data = line.slice(6)
      else if (line === '' && id) {
        events.push({ id, ...(data && { delta: JSON.parse(data) }) })
        data = ''
      }
    }
  })().catch(() => {})
  return { response, events, ended, stop: () => stop.abort() }
}

t.test(
  'who takes events as well as JSON gets JSON, as generated clients that accept all that is documented',
  async (t) => {
    for (const [accept, type] of [
      ['application/json,text/event-stream', 'application/json'],
      ['text/event-stream;q=0.1, application/json', 'application/json'],
      ['text/event-stream, */*', 'application/json'],
      ['*/*', 'application/json'],
      ['text/event-stream;q=0', 'application/json'],
      ['Text/Event-Stream, application/json;q=0.9', 'text/event-stream'],
      ['text/event-stream, */*;q=0.5', 'text/event-stream'],
    ] as const) {
      const { response, stop } = await listen(t, { accept })
      t.match(response.headers.get('content-type'), type, accept)
      stop()
    }
  },
)

t.test('changes come as events, which go on where they broke off', async (t) => {
  const { id } = await snapshotOf()
  const { response, events, stop } = await listen(t, { 'last-event-id': id })
  t.match(response.headers.get('content-type'), 'text/event-stream')
  const zaak = await givenZaak(test)
  const seen = (uuid: string, all: typeof events) => () =>
    all.find(({ delta }) => delta?.operations.some((one: Json) => one.resource_id === uuid))
  const found = await until('the event', seen(zaak.uuid, events))
  t.equal(found.id, found.delta.id)
  stop()
  const missed = await givenZaak(test)
  const again = await listen(t, { 'last-event-id': found.id })
  const next = await until('what was missed', seen(missed.uuid, again.events))
  t.notOk(seen(zaak.uuid, again.events)(), 'and nothing twice')
  t.ok(next.delta.prev_id)
  again.stop()
  t.equal((await listen(t, { 'last-event-id': '0badcafe.1.a' })).response.status, 410)
})

t.test('each event joins on the last one that its reader was given, whatever happens in between', async (t) => {
  const [mine, others] = [await givenZaaktype(test), await givenZaaktype(test)]
  const as = await givenClient(test, 'aansluiting', [
    { component: 'zrc', scopes: ['zaken.lezen'], typeUuid: uuidOf(mine), max: 'openbaar' },
  ])
  const { events, stop } = await listen(t, {}, as)
  const begin = await until('the position', () => events.at(0))
  for (let n = 0; n < 4; n++) {
    await givenZaak(test, { zaaktype: others, vertrouwelijkheidaanduiding: 'openbaar' })
    const { uuid } = await givenZaak(test, { zaaktype: mine, vertrouwelijkheidaanduiding: 'openbaar' })
    await until('its event', () =>
      events.some(({ delta }) => delta?.operations.some((one: Json) => one.resource_id === uuid)),
    )
  }
  stop()
  let last = begin.id
  for (const { id, delta } of events.slice(1)) {
    if (delta) t.equal(delta.prev_id, last)
    last = id
  }
  t.ok(events.filter(({ delta }) => delta).length >= 4)
})

t.test('a copy keeps what its client may read, past all that it may not, and says what it does not keep', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'copy-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  const [mine, others] = [await givenZaaktype(test), await givenZaaktype(test)]
  const as = await givenClient(test, 'weinig', [
    { component: 'zrc', scopes: ['zaken.lezen'], typeUuid: uuidOf(mine), max: 'openbaar' },
  ])
  const jobs = setInterval(() => void test.runJobs().catch(() => {}), 300)
  t.teardown(() => clearInterval(jobs))
  const copied = async () => {
    const args = [MAIN, 'copy', ADDRESS, '--to', directory, '--client-id', as, '--compare', '--json']
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
      env: programEnv({ COPY_SECRET: SECRET }),
    })
    return { ...JSON.parse(stdout), stderr }
  }
  await givenZaak(test, { zaaktype: mine, vertrouwelijkheidaanduiding: 'openbaar' })
  const first = await copied()
  t.same(first.found.zaken, { rows: 1, differences: [] })
  t.same(Object.keys(first.found), ['catalogi', 'zaken'])
  for (const name of ['documenten', 'besluiten']) t.match(first.stderr, `${name}: not kept`)
  for (let n = 0; n < 120; n++) await givenZaak(test, { zaaktype: others, vertrouwelijkheidaanduiding: 'openbaar' })
  await givenZaak(test, { zaaktype: mine, vertrouwelijkheidaanduiding: 'openbaar' })
  t.same((await copied()).found.zaken, { rows: 2, differences: [] }, 'behind a page of which it sees nothing')
})

t.test('events end when the rights of their reader change', async (t) => {
  const type = await givenZaaktype(test)
  const as = await givenClient(test, 'luisteraar', [
    { component: 'zrc', scopes: ['zaken.lezen'], typeUuid: uuidOf(type), max: 'openbaar' },
  ])
  const { events, ended } = await listen(t, {}, as)
  const last = await until('the position', () => events.at(-1))
  await database.sql`delete from autorisatie where applicatie_id = (select applicatie_id from applicatie_client where client_id = ${as})`
  await signal(database.sql, 'zaakstroom_autorisaties')
  await givenZaak(test) // wakes it
  await ended
  t.equal((await ask(`${ZAKEN}/zaken/_deltas?after=${last.id}`, {}, as)).status, 403)
})

t.test('a copy that is begun with snapshots and kept by deltas is equal to the lists', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'copy-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  const source: Source = { url: ADDRESS, token: () => signToken('beheer', SECRET) }
  const documenttype = await givenInformatieobjecttype(test)
  const { catalogus } = (await call('GET', documenttype)).body
  const besluittype = await givenBesluittype(test, { catalogus })
  const zaaktype = await givenZaaktype(test, {
    catalogus,
    besluittypen: [besluittype],
    informatieobjecttypen: [documenttype],
    statustypen: ['Begin', 'Eind'],
    roltypen: [{ omschrijving: 'B', omschrijvingGeneriek: 'behandelaar' }],
  })
  const zaak = await givenZaak(test, { zaaktype })
  const jobs = setInterval(() => void test.runJobs().catch(() => {}), 300)
  t.teardown(() => clearInterval(jobs))
  const copy = openCopyDatabase(directory)
  t.teardown(() => copy.close())
  for (const name of Object.keys(COLLECTIONS)) await bringUpToDate(source, directory, copy, name)
  clearInterval(jobs)

  const { statustypen, roltypen } = (await call('GET', zaaktype)).body
  const rol = made(
    await call('POST', `${ZAKEN}/rollen`, {
      zaak: zaak.url,
      betrokkene: 'https://x.example/1',
      betrokkeneType: 'medewerker',
      roltype: roltypen[0],
      roltoelichting: 't',
    }),
  )
  made(
    await call('POST', `${ZAKEN}/statussen`, {
      zaak: zaak.url,
      statustype: statustypen[0],
      datumStatusGezet: '2025-01-01T00:00:00Z',
      gezetdoor: rol.url,
    }),
  )
  const informatieobject = await givenDocument(test, documenttype)
  made(await call('POST', `${ZAKEN}/zaakinformatieobjecten`, { zaak: zaak.url, informatieobject }))
  await givenBesluit(test, { besluittype, zaak: zaak.url })
  const gone = await givenZaak(test, { zaaktype })
  const deelzaak = await givenZaak(test, { zaaktype })
  await call('PATCH', deelzaak.url, { omschrijving: 'o', kenmerken: [{ kenmerk: 'k', bron: 'b' }] }, CRS)
  await call('PATCH', zaak.url, { relevanteAndereZaken: [{ url: gone.url, aardRelatie: 'vervolg' }] }, CRS)
  await call('DELETE', gone.url, undefined, CRS)
  const rows: Record<string, number> = {}
  await until('an equal copy', async () => {
    const differences: unknown[] = []
    for (const name of Object.keys(COLLECTIONS)) {
      await bringUpToDate(source, directory, copy, name)
      const found = await compare(source, copy, name)
      rows[name] = found.rows
      differences.push(...found.differences)
    }
    if (differences.length > 0) t.comment(JSON.stringify(differences))
    return differences.length === 0
  })
  t.ok(Object.values(rows).every((count) => count > 0))
  copy.db.exec(`update zaak set resource = json_set(resource, '$.toelichting', 'anders') where uuid = '${zaak.uuid}'`)
  copy.db.exec(`delete from status`)
  const { differences } = await compare(source, copy, 'zaken')
  t.same(
    new Set(differences.map(({ kind, what }) => `${kind} ${what}`)),
    new Set(['zaak different', 'status missing']),
    'a copy that is not is told',
  )

  await call('DELETE', deelzaak.url, undefined, CRS)
  const later = await compare(source, copy, 'zaken')
  t.ok(
    later.differences.some(({ kind, uuid, what }) => kind === 'zaak' && uuid === deelzaak.uuid && what === 'too many'),
    'a case that goes between its list and its parts does not end the comparison',
  )

  copy.requireSource(source.url)
  t.throws(() => copy.requireSource('https://elders.example'), /this is a copy of http/, 'of no other installation')
  const count = () => copy.db.prepare('select count(*) as count from zaak').get()!.count
  const before = count()
  t.ok(before)
  // A position of another history, as after a restore: what is there stays until all was read anew.
  copy.moveTo('zaken', randomBytes(24).toString('base64url'))
  const away = { ...source, url: `${ADDRESS}/weg` }
  await t.rejects(bringUpToDate(away, directory, copy, 'zaken'))
  t.equal(count(), before)
})
