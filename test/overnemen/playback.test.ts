// The way back: what changed here since the switch is played to the APIs of the old installation.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { readerOf } from '../../src/database/database.ts'
import { ownAddress } from '../../src/http/links.ts'
import { makeDry, NoWayBack, openJournal, planPlayback } from '../../src/overnemen/playback/journal.ts'
import { play } from '../../src/overnemen/playback/play.ts'
import { playbackCsv } from '../../src/overnemen/playback/report.ts'
import { knownCases, meet, openTarget } from '../../src/overnemen/playback/target.ts'
import { beginRound } from '../../src/overnemen/round.ts'
import { SourceUnavailable } from '../../src/overnemen/source.ts'
import { switchOver, type Takeover } from '../../src/overnemen/takeover.ts'
import { type Json, SECRET, type TestApp, testApp } from '../app.ts'
import { emptyDatabase } from '../setup.ts'
import { fillOpenZaak, fillOtherKinds, KIND, OLD, RSIN, uuidOf } from './open-zaak-database.ts'

const CRS = { headers: { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' } }
const Z = '/zaken/api/v1'
const D = '/documenten/api/v1'
const C = '/catalogi/api/v1'

async function takeFrom(test: TestApp, given: Partial<Parameters<typeof beginRound>[1]> & { url: string }) {
  const begun = await beginRound(test.parts, {
    ...{ kind: 'api', secret: SECRET, trial: false, readOnly: true },
    settings: { clientId: 'beheer', oudeUrls: [], bytes: 'kopieren', naast: 2 },
    ...given,
  })
  try {
    for (let i = 0; i < 50 && (await begun.state()).status === 'loopt'; i++) await test.runJobs()
  } finally {
    await begun.release()
  }
  await test.database.sql.begin((sql) => switchOver(sql, begun.takeover as Takeover))
}

/** An old installation, and a new one that took over from it and was switched. */
async function givenSwitched(t: Parameters<typeof testApp>[0]) {
  const { url } = await emptyDatabase(t as never)
  await fillOpenZaak(url, { zaken: 4, documents: 2 })
  await fillOtherKinds(url)
  const files = await mkdtemp(join(tmpdir(), 'zaakstroom-oud-'))
  t.teardown(() => rm(files, { recursive: true }))
  await mkdir(join(files, 'uploads/2024/01'), { recursive: true })
  for (const n of [1, 2]) await writeFile(join(files, `uploads/2024/01/${n}.bin`), `inhoud ${n}..`)
  const old = await testApp(t, { DOCUMENTEN_UPLOAD_CHUNK_SIZE: '2000000' })
  await takeFrom(old, {
    ...{ kind: 'open-zaak', url, secret: url },
    settings: { oudeUrls: [OLD], bestanden: files, bytes: 'kopieren', naast: 2 },
  })
  const address = await old.app.listen({ host: '127.0.0.1', port: 0 })
  const here = await testApp(t)
  await takeFrom(here, { url: address })
  return { old, here, address }
}

type Options = { dry?: boolean; url: string }
async function playBack({ database, parts, config }: TestApp, { dry = false, url }: Options) {
  const [takeover] = await database.sql<{ id: number; switched_at: string; switch_snapshot: string }[]>`
    select id, switched_at, switch_snapshot from takeover where status = 'omgeschakeld' order by id desc limit 1`
  const connection = await database.sql.reserve()
  const target = openTarget({ url, clientId: 'beheer', secret: SECRET })
  try {
    t.equal(await meet(target, await knownCases(database.sql, takeover!.id)), 200)
    if (dry) await makeDry(connection)
    const sql = dry ? connection : database.sql
    const journal = openJournal(sql, await planPlayback(sql, takeover!, url, { moment: undefined }))
    const base = ownAddress(config)
    const playback = { reader: readerOf(database), stores: parts, base, target, journal, dry }
    await play(playback, new AbortController().signal, () => {})
    const csv = (await Array.fromAsync(playbackCsv(journal) as AsyncIterable<Buffer>)).join('')
    return { counts: await journal.counts(), csv }
  } finally {
    await connection`discard temp`
    connection.release()
    await target.close()
  }
}

const statesOf = ({ counts }: Awaited<ReturnType<typeof playBack>>, resource: string) =>
  Object.fromEntries(counts.filter((one) => one.resource === resource).map(({ state, count }) => [state, count]))

/** What a server says of itself, and what has another value on each side by its nature. */
const OWN = [
  'url',
  'uuid',
  'inhoud',
  'beginRegistratie',
  'registratiedatum',
  'laatstGemuteerd',
  'zaak',
  'informatieobject',
]
const without = (object: Json) =>
  JSON.parse(
    JSON.stringify(object, (name, value) => (OWN.includes(name) || /^http:.*api\/v1/.test(value) ? undefined : value)),
  )

const list = async ({ call }: TestApp, path: string): Promise<Json[]> => {
  const { body } = await call('GET', path, undefined, CRS)
  if (!Array.isArray(body.results ?? body)) throw new Error(`${path} ${JSON.stringify(body)}`)
  return body.results ?? body
}
/** The uuid that something which was made here has there. */
const thereOf = async ({ database }: TestApp, url: string): Promise<string> =>
  (
    await database.sql<
      { there: string }[]
    >`select there from playback_item where uuid = ${url.slice(-36)} and there is not null`
  )[0]!.there

async function made(test: TestApp, path: string, body: object): Promise<Json> {
  const answer = await test.call('POST', path, body, CRS)
  if (answer.status >= 300) throw new Error(`${path} ${answer.status} ${answer.text}`)
  return answer.body
}

/** Between the two: an answer may be lost, or be another status. @returns its address */
async function givenProxy(
  t: { teardown(work: () => unknown): unknown },
  address: string,
  judge: (request: IncomingMessage, body: Buffer) => 'lost' | number | undefined,
): Promise<string> {
  const proxy = createServer((async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>))
    const { 'content-length': _, 'transfer-encoding': __, connection: ___, ...headers } = request.headers
    const answer = await fetch(address + request.url, {
      method: request.method!,
      headers: headers as Record<string, string>,
      ...(body.length > 0 && { body }),
    })
    const text = Buffer.from(await answer.arrayBuffer())
    const judged = judge(request, body)
    if (judged === 'lost') request.socket.destroy()
    else if (judged === undefined) {
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' })
      response.end(text)
    } else response.writeHead(judged, { 'content-type': 'application/json' }).end('{}')
  }) as RequestListener)
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.teardown(() => proxy.close())
  return `http://127.0.0.1:${(proxy.address() as { port: number }).port}`
}

/** Changes of all sorts: a case that is made and closed, documents with versions, and what existed. */
async function change(here: TestApp) {
  const zaaktype = `http://localhost${C}/zaaktypen/${uuidOf(KIND.zaaktype, 1)}`
  const types = async (name: string) =>
    (await list(here, `${C}/${name}?status=alles`)).filter((one) => one.zaaktype === zaaktype)
  const statustypen = (await types('statustypen')).sort((a, b) => a.volgnummer - b.volgnummer)
  const [roltype] = await types('roltypen')
  const [resultaattype] = await types('resultaattypen')
  const [linked] = await types('zaaktype-informatieobjecttypen')
  const informatieobjecttype =
    linked?.informatieobjecttype ?? `http://localhost${C}/informatieobjecttypen/${uuidOf(KIND.informatieobjecttype, 1)}`
  const organisation = { bronorganisatie: RSIN, verantwoordelijkeOrganisatie: RSIN }
  const zaak = await made(here, `${Z}/zaken`, {
    ...{ ...organisation, zaaktype, startdatum: '2026-11-01', omschrijving: 'Nieuw', toelichting: 'regel 1\nregel 2' },
    kenmerken: [{ kenmerk: 'K', bron: 'B' }],
    zaakgeometrie: { type: 'Point', coordinates: [4.9, 52.3] },
  })
  const other = await made(here, `${Z}/zaken`, {
    ...organisation,
    zaaktype,
    startdatum: '2026-11-02',
    hoofdzaak: zaak.url,
  }).catch(() => made(here, `${Z}/zaken`, { ...organisation, zaaktype, startdatum: '2026-11-02' }))
  await here.call('PATCH', zaak.url, { relevanteAndereZaken: [{ url: other.url, aardRelatie: 'vervolg' }] }, CRS)
  const rol = await made(here, `${Z}/rollen`, {
    ...{ zaak: zaak.url, roltype: roltype.url, betrokkeneType: 'natuurlijk_persoon', roltoelichting: 'aanvrager' },
    betrokkeneIdentificatie: { inpBsn: '111222333', geslachtsnaam: 'Jansen' },
  })
  const fields = { bronorganisatie: RSIN, creatiedatum: '2026-11-01', auteur: 'A', taal: 'nld', informatieobjecttype }
  const document = await made(here, `${D}/enkelvoudiginformatieobjecten`, {
    ...{ ...fields, titel: 'Een', inhoud: Buffer.from('een').toString('base64'), bestandsomvang: 3 },
    indicatieGebruiksrecht: false,
  })
  const {
    body: { lock },
  } = await here.call('POST', `${document.url}/lock`)
  for (const body of [
    { titel: 'Twee', inhoud: Buffer.from('twee').toString('base64'), bestandsomvang: 4 },
    { titel: 'Drie' },
  ])
    await here.call('PATCH', document.url, { ...body, lock })
  await here.call('POST', `${document.url}/unlock`, { lock })
  const large = Buffer.alloc(5_000_000, 'groot ')
  const big = await made(here, `${D}/enkelvoudiginformatieobjecten`, {
    ...{ ...fields, titel: 'Groot', inhoud: large.toString('base64'), bestandsomvang: large.length },
  })
  await made(here, `${D}/gebruiksrechten`, {
    ...{ informatieobject: big.url, startdatum: '2026-11-01T00:00:00Z', omschrijvingVoorwaarden: 'alles' },
  })
  await made(here, `${Z}/zaakinformatieobjecten`, { zaak: zaak.url, informatieobject: document.url, titel: 'Z' })
  await made(here, `${Z}/resultaten`, { zaak: zaak.url, resultaattype: resultaattype.url })
  // The last by its moment is the end; it is made first.
  await made(here, `${Z}/statussen`, {
    zaak: zaak.url,
    statustype: statustypen.at(-1).url,
    datumStatusGezet: '2026-11-20T10:00:00Z',
  })
  const gone = await made(here, `${Z}/zaken`, { ...organisation, zaaktype, startdatum: '2026-11-02' })
  await here.call('DELETE', gone.url)
  // What was taken over.
  const old = uuidOf(KIND.zaak, 1)
  await here.call(
    'PATCH',
    `${Z}/zaken/${old}`,
    { omschrijving: 'Gewijzigd', kenmerken: [{ kenmerk: 'X', bron: 'Y' }] },
    CRS,
  )
  await here.call('DELETE', `${Z}/zaken/${uuidOf(KIND.zaak, 3)}`)
  const taken = `${D}/enkelvoudiginformatieobjecten/${uuidOf(KIND.document, 1)}`
  const locked = await here.call('POST', `${taken}/lock`)
  await here.call('PATCH', taken, {
    ...{
      titel: 'Nieuwe versie',
      inhoud: Buffer.from('anders').toString('base64'),
      bestandsomvang: 6,
      lock: locked.body.lock,
    },
  })
  await here.call('POST', `${taken}/unlock`, { lock: locked.body.lock })
  await made(here, `${C}/informatieobjecttypen`, {
    ...{ catalogus: `http://localhost${C}/catalogussen/${uuidOf(KIND.catalogus, 1)}`, omschrijving: 'Nieuw type' },
    ...{ vertrouwelijkheidaanduiding: 'openbaar', beginGeldigheid: '2026-01-01', informatieobjectcategorie: 'x' },
  })
  return { zaak, other, rol, document, big, large, taken, old }
}

t.test(
  'what changed since the switch is played back: fields, versions and bytes, and what cannot go is told',
  async (t) => {
    const { old, here, address } = await givenSwitched(t)
    const before = (await old.database.sql`select count(*) as n from audit`)[0]!.n
    const { zaak, other, rol, document, big, large, taken, old: known } = await change(here)
    t.equal(
      (await old.database.sql`select count(*) as n from audit`)[0]!.n,
      before,
      'nothing of the source was touched',
    )

    await t.test('a dry run tells what it would do, and leaves both sides as they are', async (t) => {
      const dry = await playBack(here, { url: address, dry: true })
      t.match(statesOf(dry, 'zaak'), { created: 2, changed: 1, deleted: 1 })
      t.equal((await old.database.sql`select count(*) as n from audit`)[0]!.n, before)
      t.equal((await here.database.sql`select from playback_item`).length, 0)
    })

    const played = await playBack(here, { url: address })
    t.match(statesOf(played, 'zaak'), { created: 2, changed: 1, deleted: 1 })
    t.same(statesOf(played, 'informatieobjecttype'), { refused: 1 })
    t.match(played.csv, /informatieobjecttype,.*geweigerd.*Maak of wijzig het type daar met de hand/)
    t.match(played.csv, new RegExp(`${zaak.identificatie},${zaak.uuid},gemarkeerd,url,${address}/zaken/api/v1/zaken/`))

    const show = async (test: TestApp, path: string) => (await test.call('GET', path, undefined, CRS)).body
    const there = await thereOf(here, zaak.url)
    t.same(without(await show(old, `${Z}/zaken/${there}`)), without(await show(here, `${Z}/zaken/${zaak.uuid}`)))
    t.equal((await show(old, `${Z}/zaken/${there}`)).einddatum, '2026-11-20', 'it is closed there too')
    const related = (await show(old, `${Z}/zaken/${there}`)).relevanteAndereZaken
    t.equal(related[0].url.slice(-36), await thereOf(here, other.url), 'references name what stands there')
    t.same(without(await show(old, `${Z}/rollen/${await thereOf(here, rol.url)}`)), without(await show(here, rol.url)))
    t.match(await show(old, `${Z}/zaken/${known}`), { omschrijving: 'Gewijzigd', kenmerken: [{ kenmerk: 'X' }] })
    t.equal((await old.call('GET', `${Z}/zaken/${uuidOf(KIND.zaak, 3)}`, undefined, CRS)).status, 404)

    const versions = `${D}/enkelvoudiginformatieobjecten/${await thereOf(here, document.url)}`
    for (const [versie, titel, text] of [
      [1, 'Een', 'een'],
      [2, 'Twee', 'twee'],
      [3, 'Drie', 'twee'],
    ] as const) {
      t.equal((await show(old, `${versions}?versie=${versie}`)).titel, titel)
      t.equal((await old.call('GET', `${versions}/download?versie=${versie}`)).text, text)
    }
    const copy = await old.call('GET', `${D}/enkelvoudiginformatieobjecten/${await thereOf(here, big.url)}/download`)
    t.equal(copy.text, large.toString(), 'in the parts that the other side asked for')
    t.equal((await show(old, taken)).titel, 'Nieuwe versie')
    t.equal((await old.call('GET', `${taken}/download`)).text, 'anders')

    await t.test('again: nothing is written, and later changes follow with the same names', async (t) => {
      const rows = (await old.database.sql`select count(*) as n from audit`)[0]!.n
      await playBack(here, { url: address })
      t.equal((await old.database.sql`select count(*) as n from audit`)[0]!.n, rows)
      await here.database
        .sql`update playback_item set state = 'refused' where resource in ('rol', 'informatieobjecttype')`
      t.same(
        statesOf(await playBack(here, { url: address }), 'rol').refused,
        undefined,
        'what was refused is tried again',
      )
      await here.call('PATCH', other.url, { omschrijving: 'Later' }, CRS)
      const later = await playBack(here, { url: address })
      t.match(statesOf(later, 'zaak'), { changed: 2 })
      t.equal((await show(old, `${Z}/zaken/${await thereOf(here, other.url)}`)).omschrijving, 'Later')
      await here.call('DELETE', other.url)
      const name = await thereOf(here, other.url)
      await playBack(here, { url: address })
      t.equal((await old.call('GET', `${Z}/zaken/${name}`, undefined, CRS)).status, 404)
    })

    await t.test('changes that are not kept any more are not played as if they were all', async (t) => {
      await here.database.sql`update feed set first = pg_current_xact_id()`
      await t.rejects(playBack(here, { url: address }), NoWayBack)
    })
  },
)

t.test('a connection that is lost at any request neither loses nor doubles anything', async (t) => {
  const { old, here, address } = await givenSwitched(t)
  await change(here)
  // Of each change the answer is lost once: the other side did it, and nobody heard.
  let lost = 0
  const seen = new Set<string>()
  const url = await givenProxy(t, address, (request, body) => {
    const isUpload = String(request.headers['content-type']).startsWith('multipart')
    const key = `${request.method} ${request.url} ${isUpload ? '' : body.subarray(0, 4000)}`
    if (request.method === 'GET' || seen.has(key)) return undefined
    seen.add(key)
    lost++
    return 'lost'
  })
  let played: Awaited<ReturnType<typeof playBack>> | undefined
  for (let attempt = 0; attempt < 80 && !played; attempt++)
    played = await playBack(here, { url }).catch((error) => {
      if (!(error instanceof SourceUnavailable)) throw error
      return undefined
    })
  t.ok(lost > 15, `${lost} answers were lost`)
  t.same(statesOf(played!, 'zaak').refused, undefined)
  for (const [test, name] of [
    [here, 'here'],
    [old, 'there'],
  ] as const) {
    const counted = await test.database.sql`
      select (select count(*) from zaak) as zaken, (select count(*) from rol) as rollen, (select count(*) from status) as statussen,
        (select count(*) from enkelvoudiginformatieobject) as documenten, (select count(*) from zaakinformatieobject) as relaties,
        (select count(*) from enkelvoudiginformatieobject_versie) as versies, (select count(*) from gebruiksrecht) as rechten`
    if (name === 'here') t.context = counted[0]
    else t.same(counted[0], t.context)
  }
})

t.test(
  'a damaged row over there stops what needs it, and nothing else, and the report says by which SQL it is found',
  async (t) => {
    const { old, here, address } = await givenSwitched(t)
    const { rol, zaak } = await change(here)
    const damaged = `/zaken/${uuidOf(KIND.zaak, 1)}`
    let [isLost, isWell] = [false, false]
    const url = await givenProxy(t, address, (request) => {
      const path = String(request.url)
      if (isWell) return undefined
      if (path.endsWith(damaged) || path.includes('/zaken?page=')) return 500
      if (request.method === 'GET' && path.includes('/rollen?')) return 500
      if (request.method !== 'POST' || !path.endsWith('/rollen') || isLost) return undefined
      isLost = true
      return 'lost'
    })
    await t.rejects(playBack(here, { url }), SourceUnavailable)
    const played = await playBack(here, { url })
    t.match(statesOf(played, 'zaak'), { created: 2, refused: 1, deleted: 1 })
    t.match(statesOf(played, 'rol'), { sent: 1 }, 'it is not made a second time')
    t.match(played.csv, new RegExp(`rol,.*${rol.uuid},geweigerd,,"?select \\* from zaken_rol where zaak_id = `))
    t.match(
      played.csv,
      new RegExp(`zaak,.*${uuidOf(KIND.zaak, 1)},geweigerd,,.?select \\* from zaken_zaak where uuid = `),
    )
    const there = await thereOf(here, zaak.url)
    const rollen = await old.database.sql`select from rol r join zaak z on z.id = r.zaak_id where z.uuid = ${there}`
    t.equal(rollen.length, 1)
    isWell = true
    const mended = await playBack(here, { url })
    t.match(statesOf(mended, 'rol'), { created: 1 })
    t.same(statesOf(mended, 'zaak').refused, undefined)
  },
)
