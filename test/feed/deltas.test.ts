// The feed of changes: its order, what it tells, and to whom.
import t from 'tap'
import { systemActor } from '../../src/core/access.ts'
import { openPlace, sealPlace } from '../../src/core/place.ts'
import { signal } from '../../src/database/listen.ts'
import { headOf, placeNow, readPage } from '../../src/feed/deltas.ts'
import { FEEDS } from '../../src/feed/kinds.ts'
import { tellDeltas } from '../../src/feed/tell.ts'
import {
  givenCatalogus,
  givenClient,
  givenInformatieobjecttype,
  givenZaaktype,
  type Json,
  testApp,
  uuidOf,
} from '../app.ts'
import { givenBesluit } from '../besluiten/given.ts'
import { until } from '../until.ts'
import { CRS, givenDocument, givenZaak, made, ZAKEN } from '../zaken/given.ts'

const test = await testApp(t)
const { call, database } = test
const ZAKEN_DELTAS = `${ZAKEN}/zaken/_deltas`

type Delta = { id: string; prev_id: string; operations: Operation[] }
type Operation = { type: string; resource_type: string; resource_id: string; resource?: Json }
type Page = { position: string; items: Delta[] }

/** Where the feed of a collection stands now. */
async function positionOf(path = ZAKEN_DELTAS, as = 'beheer'): Promise<string> {
  let after = ''
  for (;;) {
    const { status, body, text } = await call('GET', `${path}?limit=1000${after && `&after=${after}`}`, undefined, {
      as,
    })
    if (status !== 200) throw new Error(text)
    if (body.items.length === 0) return body.position
    after = body.position
  }
}

/** The deltas after a position, when there are any that say what is waited for: others' transactions in the same cluster may hold them. */
async function deltasAfter(
  after: string,
  wanted: (operations: Operation[]) => boolean,
  { path = ZAKEN_DELTAS, as = 'beheer' } = {},
) {
  const found: Delta[] = []
  let position = after
  let from = after
  await until('what was changed', async () => {
    const answer = await call('GET', `${path}?after=${position}&limit=1000`, undefined, { as })
    if (answer.status !== 200) throw new Error(answer.text)
    const page: Page = answer.body
    if (found.length === 0) from = position
    found.push(...page.items)
    position = page.position
    return wanted(found.flatMap(({ operations }) => operations))
  })
  return { found, from, position, operations: found.flatMap(({ operations }) => operations) }
}
const has = (type: string, resource: string, url: string) => (operations: Operation[]) =>
  operations.some((one) => one.type === type && one.resource_type === resource && one.resource_id === uuidOf(url))

t.test('a change is a delta with the whole new state, and a delete is a tombstone', async (t) => {
  const start = await positionOf()
  const zaak = await givenZaak(test)
  const first = await deltasAfter(start, has('create', 'zaak', zaak.url))
  t.equal(first.found[0]!.prev_id, first.from, 'the first delta joins on')
  const [listed] = (await call('GET', `${ZAKEN}/zaken?identificatie=${zaak.identificatie}`, undefined, CRS)).body
    .results
  t.same(first.operations.find(({ resource_id }) => resource_id === zaak.uuid)!.resource, listed, 'as the list has it')

  const rol = made(
    await call('POST', `${ZAKEN}/zaaknotities`, { onderwerp: 'o', tekst: 't', gerelateerdAan: zaak.url }),
  )
  const second = await deltasAfter(first.position, has('create', 'zaaknotitie', rol.url))
  t.equal(second.found.length, 1, 'one transaction is one delta')

  await call('DELETE', zaak.url, undefined, CRS)
  const third = await deltasAfter(second.position, has('delete', 'zaak', zaak.url))
  t.ok(has('delete', 'zaaknotitie', rol.url)(third.operations), 'with all that hung on it')
  t.notOk('resource' in third.operations.find(({ resource_id }) => resource_id === zaak.uuid)!)
  t.equal(third.found[0]!.prev_id, third.from)

  const again = await call('GET', `${ZAKEN_DELTAS}?after=${start}&limit=1000`)
  const told = (again.body as Page).items
    .flatMap(({ operations }) => operations)
    .filter(({ resource_id }) => resource_id === zaak.uuid)
  t.same(
    told.map(({ type }) => type),
    ['delete'],
    'of what has gone, who reads late hears that alone',
  )
})

t.test('a position is never given out that a transaction under way could undercut', async (t) => {
  const start = await positionOf()
  const zaak = await givenZaak(test)
  const early = await database.sql.reserve()
  await early`begin`
  await early`update zaak set toelichting = 'later vastgelegd' where uuid = ${zaak.uuid}`
  const later = await givenZaak(test)
  for (let i = 0; i < 5; i++) {
    const { body } = await call('GET', `${ZAKEN_DELTAS}?after=${start}`)
    const told = (body as Page).items.flatMap(({ operations }) => operations)
    t.notOk(
      told.some(({ resource_id }) => resource_id === later.uuid),
      'what began later waits',
    )
  }
  await early`commit`
  early.release()
  const { found } = await deltasAfter(start, has('create', 'zaak', later.url))
  const at = (uuid: string, type: string) =>
    found.findIndex(({ operations }) => operations.some((one) => one.resource_id === uuid && one.type === type))
  t.ok(
    at(zaak.uuid, 'update') >= 0 && at(zaak.uuid, 'update') < at(later.uuid, 'create'),
    'both come, in the order of their transactions',
  )
})

t.test('what is written below the API is told as well, and an answer that changes by another row', async (t) => {
  const hoofd = await givenZaak(test)
  const deel = await givenZaak(test)
  const start = await positionOf()
  await database.sql`update zaak set hoofdzaak_id = (select id from zaak where uuid = ${hoofd.uuid}) where uuid = ${deel.uuid}`
  const { operations } = await deltasAfter(start, has('update', 'zaak', hoofd.url))
  t.ok(has('update', 'zaak', deel.url)(operations))
  t.same(operations.find(({ resource_id }) => resource_id === hoofd.uuid)!.resource.deelzaken, [deel.url])
})

t.test('a client hears of what its rights reach, and of what leaves or enters them', async (t) => {
  const documenttype = await givenInformatieobjecttype(test)
  const { catalogus } = (await call('GET', documenttype)).body
  const mine = await givenZaaktype(test, {
    catalogus,
    statustypen: ['Begin', 'Eind'],
    informatieobjecttypen: [documenttype],
  })
  const other = await givenZaaktype(test, { catalogus, identificatie: 'ANDER', statustypen: ['Begin', 'Eind'] })
  const as = await givenClient(test, 'kopie', [
    { component: 'zrc', scopes: ['zaken.lezen'], typeUuid: uuidOf(mine), max: 'openbaar' },
  ])
  const start = await positionOf(ZAKEN_DELTAS, as)
  const hidden = await givenZaak(test, { zaaktype: other })
  const secret = await givenZaak(test, { zaaktype: mine, vertrouwelijkheidaanduiding: 'geheim' })
  const zaak = await givenZaak(test, { zaaktype: mine, vertrouwelijkheidaanduiding: 'openbaar' })
  const { statustypen } = (await call('GET', mine)).body
  const status = made(
    await call('POST', `${ZAKEN}/statussen`, {
      zaak: zaak.url,
      statustype: statustypen[0],
      datumStatusGezet: '2025-01-01T00:00:00Z',
    }),
  )
  const first = await deltasAfter(start, has('create', 'status', status.url), { as })
  t.notOk(first.operations.some(({ resource_id }) => [hidden.uuid, secret.uuid].includes(resource_id)))

  await call('PATCH', zaak.url, { vertrouwelijkheidaanduiding: 'geheim' }, CRS)
  const left = await deltasAfter(first.position, has('delete', 'zaak', zaak.url), { as })
  t.ok(has('delete', 'status', status.url)(left.operations), 'it leaves with all that hangs on it')
  t.notOk(
    left.operations.some(({ resource }) => resource),
    'and nothing of it is shown',
  )

  await call('PATCH', zaak.url, { toelichting: 'ongezien' }, CRS)
  await call('PATCH', zaak.url, { vertrouwelijkheidaanduiding: 'openbaar' }, CRS)
  const back = await deltasAfter(left.position, has('create', 'zaak', zaak.url), { as })
  t.ok(has('create', 'status', status.url)(back.operations), 'and comes back with it')
  t.notOk(back.operations.some(({ type }) => type === 'delete'))

  await call('DELETE', hidden.url, undefined, CRS)
  await call('DELETE', zaak.url, undefined, CRS)
  const gone = await deltasAfter(back.position, has('delete', 'zaak', zaak.url), { as })
  t.ok(has('delete', 'status', status.url)(gone.operations))
  t.notOk(
    gone.operations.some(({ resource_id }) => resource_id === hidden.uuid),
    'what it never saw goes unheard',
  )
})

t.test('a position of other rights, of another database or from before what is kept is 410', async (t) => {
  const type = await givenZaaktype(test)
  const as = await givenClient(test, 'rechten', [
    { component: 'zrc', scopes: ['zaken.lezen'], typeUuid: uuidOf(type), max: 'openbaar' },
  ])
  const position = await positionOf(ZAKEN_DELTAS, as)
  const ask = (after: string, who = as) => call('GET', `${ZAKEN_DELTAS}?after=${after}`, undefined, { as: who })
  t.equal((await ask(position)).status, 200)
  t.match(await ask(position, 'beheer'), { status: 410, body: { code: 'gone' } }, 'of another client')
  await database.sql`update autorisatie set max_vertrouwelijkheidaanduiding = 'geheim'
    where applicatie_id = (select applicatie_id from applicatie_client where client_id = ${as})`
  await signal(database.sql, 'zaakstroom_autorisaties')
  await until('the new rights', async () => (await ask(position)).status === 410)
  const all = await positionOf()
  const besluiten = await call('GET', `/besluiten/api/v1/besluiten/_deltas?after=${all}`)
  t.equal(besluiten.status, 410, 'of another collection')
  const key = await keyOf()
  for (const made of ['1', 'abc', '0badcafe.12.a', all.replace(/^./, (x) => (x === 'A' ? 'B' : 'A')), `${all}A`])
    t.equal((await ask(made, 'beheer')).status, 410, made)
  t.equal((await ask(sealPlace({ ...key, epoch: '00000000' }, 'zrc', '1'), 'beheer')).status, 410, 'of another epoch')
  await database.sql`select remove_changes(interval '-1 minute', 1000000)`
  const latest = await positionOf().catch(() => '')
  t.equal((await ask(sealPlace(key, 'zrc', '1'), 'beheer')).status, 410, 'from before what is kept')
  t.ok(latest === '' || latest)
})

const keyOf = async () => {
  const [row] = await database.sql<{ epoch: string; secret: Buffer }[]>`select epoch, secret from feed`
  return row!
}

t.test('a position tells nothing of how much others do, and is the same text for the same place', async (t) => {
  const position = await positionOf()
  t.equal(position.length, 22)
  const key = await keyOf()
  const xact = openPlace(key, 'zrc', position)!
  t.equal(sealPlace(key, 'zrc', xact), position)
  t.not(sealPlace(key, 'zrc', String(BigInt(xact) + 1n)).slice(0, 8), position.slice(0, 8))
  t.equal(openPlace(key, 'drc', position), undefined)
})

t.test('a position that is ahead of the database says that it was put back: the feed begins anew', async (t) => {
  const key = await keyOf()
  const before = await positionOf()
  const ask = (after: string) => call('GET', `${ZAKEN_DELTAS}?after=${after}`)
  t.equal((await ask(before)).status, 200)
  t.equal((await ask(sealPlace(key, 'zrc', '4611686018427387904'))).status, 410)
  t.not((await keyOf()).epoch, key.epoch)
  await until('the feed is there again', async () => (await ask('')).status !== 503)
  t.equal((await ask(before)).status, 410, 'what others have may be of what is lost as well')
})

t.test('a client that may see little reads past what it may not, and is told where the end is', async (t) => {
  const mine = await givenZaaktype(test)
  const others = await givenZaaktype(test)
  const as = await givenClient(test, 'weinig', [
    { component: 'zrc', scopes: ['zaken.lezen'], typeUuid: uuidOf(mine), max: 'openbaar' },
  ])
  const start = await positionOf(ZAKEN_DELTAS, as)
  for (let n = 0; n < 5; n++) await givenZaak(test, { zaaktype: others, vertrouwelijkheidaanduiding: 'openbaar' })
  const seen = await givenZaak(test, { zaaktype: mine, vertrouwelijkheidaanduiding: 'openbaar' })
  const ask = async (after: string) =>
    (await call('GET', `${ZAKEN_DELTAS}?after=${after}&limit=1`, undefined, { as })).body
  const page = await until('it settled', async () => {
    const page = await ask(start)
    return page.items.length > 0 && page
  })
  t.equal(page.items[0].operations[0].resource_id, seen.uuid)
  t.equal(page.items[0].prev_id, start, 'it joins on what the client has')
  await until('the end', async () => (await ask(page.position)).at_end === true)
})

t.test('a transaction of very many changes is read part by part, and is one delta', async (t) => {
  const MANY = 4500
  const mine = await givenZaaktype(test)
  const as = await givenClient(test, 'velen', [
    { component: 'zrc', scopes: ['zaken.lezen'], typeUuid: uuidOf(mine), max: 'openbaar' },
  ])
  const began = await positionOf(ZAKEN_DELTAS, as)
  const zaak = await givenZaak(test, { zaaktype: mine, vertrouwelijkheidaanduiding: 'openbaar' })
  const start = (await deltasAfter(began, has('create', 'zaak', zaak.url), { as })).position
  const viewer = { reader: test.app.reader, actor: systemActor('test'), base: 'http://localhost' }
  const from = placeNow(viewer, FEEDS.zaken, await headOf(viewer))
  await database.sql`insert into zaaknotitie (zaak_id, onderwerp, tekst, aangemaakt_door, notitie_type)
    select z.id, 'o', 't', '', 'intern' from zaak z, generate_series(1, ${MANY}::int) where z.uuid = ${zaak.uuid}`
  const many = (type: string) => (operations: Operation[]) =>
    operations.filter((one) => one.type === type && one.resource_type === 'zaaknotitie').length >= MANY
  const added = await deltasAfter(start, many('create'), { as })
  t.equal(added.found.length, 1)
  const notities = added.operations.filter(({ resource_type }) => resource_type === 'zaaknotitie')
  t.equal(new Set(notities.map(({ resource_id }) => resource_id)).size, MANY)
  t.equal(notities.length, MANY, 'each once')

  const { deltas } = await readPage(viewer, FEEDS.zaken, from, 1000)
  t.ok(deltas[0]!.goesOn && deltas[0]!.rows.length <= 2000, 'no more is in memory at once')
  const [first] = (await tellDeltas(viewer, FEEDS.zaken, deltas).next()).value ?? []
  let pieces = 0
  if (first && typeof first.json !== 'string') for await (const piece of first.json) pieces += piece === '' ? 0 : 1
  t.ok(pieces > 5, 'nor its text')
  t.same(deltas, [], 'what was told is not kept')

  await database.sql`delete from zaak where uuid = ${zaak.uuid}`
  const gone = await deltasAfter(added.position, has('delete', 'zaak', zaak.url), { as })
  t.ok(many('delete')(gone.operations), 'what went with its case, in a later part')
})

t.test('documents, besluiten and types have their feeds', async (t) => {
  const DOCUMENTEN = '/documenten/api/v1/enkelvoudiginformatieobjecten/_deltas'
  const BESLUITEN = '/besluiten/api/v1/besluiten/_deltas'
  const CATALOGI = '/catalogi/api/v1/catalogussen/_deltas'
  const starts = {
    documenten: await positionOf(DOCUMENTEN),
    besluiten: await positionOf(BESLUITEN),
    catalogi: await positionOf(CATALOGI),
  }
  const catalogus = await givenCatalogus(test)
  const documenttype = await givenInformatieobjecttype(test, { catalogus })
  const document = await givenDocument(test, documenttype)
  const zaaktype = await givenZaaktype(test, {
    catalogus,
    informatieobjecttypen: [documenttype],
    statustypen: ['Begin'],
  })
  const besluit = await givenBesluit(test)
  const types = await deltasAfter(starts.catalogi, has('create', 'zaaktype', zaaktype), { path: CATALOGI })
  const latest = types.operations.findLast(({ resource_id }) => resource_id === uuidOf(documenttype))!
  const shown = (await call('GET', documenttype)).body
  t.same(latest.resource, shown, 'a type whose answer changed by another is told as well')
  const documents = await deltasAfter(starts.documenten, has('create', 'enkelvoudiginformatieobject', document), {
    path: DOCUMENTEN,
  })
  const read = (await call('GET', document)).body
  t.same(documents.operations.find(({ resource_id }) => resource_id === uuidOf(document))!.resource, read)
  await deltasAfter(starts.besluiten, has('create', 'besluit', besluit.url ?? besluit), { path: BESLUITEN })
})
