// How fast are documents made and found among a million others, beside the same queries run directly on the database. And what they
// cost the api beside a case, in pairs: that says something on a busy machine too.
import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { createClient, signToken } from '../src/autorisaties/clients.ts'
import { systemActor } from '../src/core/access.ts'
import type { Actor, Autorisatie } from '../src/core/actor.ts'
import { secretBox } from '../src/core/secret-box.ts'
import { type Database, openDatabase, readerOf } from '../src/database/database.ts'
import { countDocuments, findDocument, pageOfDocuments } from '../src/documenten/document/read.ts'
import { LEZEN, reached } from '../src/documenten/rights.ts'
import { link } from '../src/http/links.ts'
import { figure } from './figures.ts'
import { givenType, type Service, startService } from './service.ts'
import { zaakBody, zaaktypeBody } from './zaaktype.ts'

const EIO = '/documenten/api/v1/enkelvoudiginformatieobjecten'
const KEY = 'the key of this benchmark only'
const SECRET = 'a secret of this benchmark only, 32+'
const TYPES = 100
const READABLE = 30

/**
 * `--documents 1000000 --runs 100`: how many there are, and how often each thing is measured. `--keep <directory>` keeps
 * the database there, and takes the one that a run before left; `--only lists` (or details, creates, cpu) leaves the rest out.
 */
export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      documents: { type: 'string', default: '1000000' },
      runs: { type: 'string', default: '100' },
      keep: { type: 'string' },
      only: { type: 'string', default: 'lists,details,creates,cpu' },
    },
  })
  const documents = Number(values.documents)
  const runs = Number(values.runs)
  const parts = values.only.split(',')
  const service = await startService({ SECRET_KEY: KEY, ...(values.keep && { DATA_DIR: values.keep }) })
  const database = openDatabase(service.databaseUrl, { max: 2, name: 'bench', settings: { statement_timeout: '0' } })
  try {
    if (await isEmpty(database)) {
      const started = performance.now()
      await fill(service, database, documents)
      console.log(`${documents} documents in ${((performance.now() - started) / 1000).toFixed(0)} s`)
    }
    if (parts.includes('lists')) await measureLists(service, database, runs)
    if (parts.includes('details')) await measureDetail(service, database, runs)
    if (parts.includes('creates')) await measureCreates(service, database, runs)
    if (parts.includes('cpu')) await compareCpu(service, database, runs)
    console.log(`peak memory of the service: ${await service.peakMemory()} MB`)
  } finally {
    await database.close()
    await service.stop()
  }
}

async function isEmpty({ sql }: Database): Promise<boolean> {
  return (await sql`select from enkelvoudiginformatieobject limit 1`).length === 0
}

async function fill(service: Service, { sql }: Database, documents: number): Promise<void> {
  await givenType(service)
  await sql`
    insert into informatieobjecttype (catalogus_id, omschrijving, vertrouwelijkheidaanduiding, begin_geldigheid, concept, informatieobjectcategorie)
    select c.id, 'Soort ' || n, 'openbaar', '2020-01-01', false, 'x' from catalogus c, generate_series(1, ${TYPES}::integer) n`
  for (let from = 1; from <= documents; from += 100_000) {
    const to = Math.min(documents, from + 99_999)
    await sql`
      with soort as (select array_agg(id order by id) as ids from informatieobjecttype), e as (
        insert into enkelvoudiginformatieobject (bronorganisatie, identificatie, informatieobjecttype_id, vertrouwelijkheidaanduiding)
        select '000000000', 'BENCH-' || n, ids[1 + n % ${TYPES}::integer], (enum_range(null::vertrouwelijkheidaanduiding))[1 + n % 5]
        from generate_series(${from}::integer, ${to}::integer) n, soort
        returning *
      )
      insert into enkelvoudiginformatieobject_versie (enkelvoudiginformatieobject_id, versie, bronorganisatie, identificatie,
        informatieobjecttype_id, vertrouwelijkheidaanduiding, creatiedatum, titel, auteur, taal, beschrijving)
      select id, 1, bronorganisatie, identificatie, informatieobjecttype_id, vertrouwelijkheidaanduiding, '2025-01-01',
        'Document ' || identificatie, 'Archief', 'nld', repeat('Een beschrijving. ', 5) from e`
  }
  await sql`vacuum analyze enkelvoudiginformatieobject`
  await sql`vacuum analyze enkelvoudiginformatieobject_versie`
  await sql`select fold_counts('enkelvoudiginformatieobject_count')`
}

// ---- lists ----

async function measureLists(service: Service, database: Database, runs: number): Promise<void> {
  const restricted = await givenRestricted(database)
  const clients: [string, string, Actor][] = [
    ['all rights', service.token(), systemActor('bench')],
    [`${READABLE} types`, signToken('beperkt', SECRET), restricted],
  ]
  for (const page of [1, 'far'] as const) {
    const medians: number[] = []
    for (const [name, token, actor] of clients) {
      const geteld = [reached(actor, LEZEN)]
      const selection = { leestAlles: false, geteld, document: [], versie: [], rest: [], volgorde: [] }
      const reader = readerOf(database)
      const count = Number(await countDocuments(reader, selection)) // by kept counts: nothing else is known of the list
      const number = page === 1 ? 1 : Math.max(1, Math.min(5000, Math.floor(count / 100)))
      const direct = await measure(runs, () =>
        Promise.all([countDocuments(reader, selection), pageOfDocuments(reader, selection, 100, (number - 1) * 100)]),
      )
      const api = await measure(runs, () => get(`${service.address}${EIO}?page=${number}`, token))
      medians.push(api.median)
      report(`list of 100, page ${number} of ${Math.ceil(count / 100)}, ${name}`, api, direct)
    }
    console.log(`  the restricted client takes ${(medians[1]! / medians[0]!).toFixed(2)} times as long`)
  }
}

/** A client that reads some of the types up to one confidentiality. */
async function givenRestricted(database: Database): Promise<Actor> {
  const { sql } = database
  const box = secretBox(KEY)
  const types = await sql<{ id: number; uuid: string }[]>`
    select id, uuid from informatieobjecttype order by id offset 1 limit ${READABLE}`
  const [known] = await sql`select from applicatie_client where client_id = 'beperkt'`
  if (!known) {
    await createClient(database, box, { id: 'beperkt', label: 'Beperkt', alleAutorisaties: false, secret: SECRET })
    await sql`
      insert into autorisatie (applicatie_id, component, scopes, type_uuid, max_vertrouwelijkheidaanduiding)
      select applicatie_id, 'drc', array['documenten.lezen'], t.uuid, 'zaakvertrouwelijk'
      from applicatie_client, unnest(${types.map(({ uuid }) => uuid)}::uuid[]) t(uuid) where client_id = 'beperkt'`
  }
  const autorisaties = types.map(
    ({ id, uuid }): Autorisatie => ({
      component: 'drc',
      scopes: new Set(LEZEN),
      typeUrl: '',
      typeUuid: uuid,
      typeId: id,
      max: 'zaakvertrouwelijk',
    }),
  )
  return { ...systemActor('bench'), alleAutorisaties: false, autorisaties }
}

// ---- one document ----

async function measureDetail(service: Service, database: Database, runs: number): Promise<void> {
  const rows = await database.sql<{ uuid: string }[]>`
    select uuid from enkelvoudiginformatieobject tablesample system (1) limit ${runs}`
  const next = () => rows[Math.floor(Math.random() * rows.length)]!.uuid
  const direct = await measure(runs, () => findDocument(database.db as never, next()))
  const token = service.token()
  report('detail', await measure(runs, () => get(`${service.address}${EIO}/${next()}`, token)), direct)
}

async function measureCreates(service: Service, { sql }: Database, runs: number): Promise<void> {
  const [type] = await sql<{ uuid: string }[]>`select uuid from informatieobjecttype order by id limit 1`
  const informatieobjecttype = link(service.address, 'informatieobjecttype', type!.uuid)
  for (const [name, size, times] of [
    ['10 KB', 10_000, runs],
    ['10 MB', 10_000_000, Math.ceil(runs / 5)],
  ] as const) {
    const inhoud = randomBytes(size).toString('base64')
    const body = { bronorganisatie: '000000000', creatiedatum: '2025-01-01', titel: 'x', auteur: 'x', taal: 'nld' }
    const create = () =>
      service.call('POST', EIO, { ...body, informatieobjecttype, inhoud }).then((made) => made.text())
    report(`create with ${name}`, await measure(times, create))
  }
}

// ---- CPU ----

const CLIENTS = 10
const ROUNDS = 15

/** The middle of the ratios of pairs: the CPU of the service for one beside the other, each asked by ten clients at once. */
async function compareCpu(service: Service, { sql }: Database, runs: number): Promise<void> {
  const { address, call } = service
  const made = async (url: string, body: object, headers = {}) =>
    ((await (await call('POST', url, body, headers)).json()) as { url: string }).url
  const rows = await sql<{ type: string; catalogus: string }[]>`
    select t.uuid as type, c.uuid as catalogus from informatieobjecttype t join catalogus c on c.id = t.catalogus_id
    order by t.id limit 1`
  const { type, catalogus } = rows[0]!
  const zaaktype = await made(
    '/catalogi/api/v1/zaaktypen',
    zaaktypeBody(link(address, 'catalogus', catalogus), randomBytes(8).toString('hex')),
  )
  await call('POST', `${zaaktype}/publish`, {})
  const zaak = zaakBody(zaaktype)
  const document = {
    bronorganisatie: '000000000',
    creatiedatum: '2025-01-01',
    titel: 'x',
    auteur: 'x',
    taal: 'nld',
    informatieobjecttype: link(address, 'informatieobjecttype', type),
  }
  const withContent = { ...document, inhoud: randomBytes(10_000).toString('base64') }
  const one = await made(EIO, withContent)
  const token = service.token()
  const makeZaak = () => made('/zaken/api/v1/zaken', zaak, { 'accept-crs': 'EPSG:4326', 'content-crs': 'EPSG:4326' })
  const cpuOf = async (work: () => Promise<unknown>) => {
    const before = await cpuTime(service.pid)
    let left = runs
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        while (left-- > 0) await work()
      }),
    )
    return (await cpuTime(service.pid)) - before
  }
  for (const [name, aim, first, second] of [
    ['a new document without content beside a new case', undefined, () => made(EIO, document), makeZaak],
    ['a new document of 10 KB beside a new case', '1.3', () => made(EIO, withContent), makeZaak],
    ['a download of 10 KB beside a GET', undefined, () => get(`${one}/download`, token), () => get(one, token)],
  ] as const) {
    const ratios: number[] = []
    for (let round = -3; round < ROUNDS; round++) {
      const ratio = (await cpuOf(first)) / (await cpuOf(second))
      if (round >= 0) ratios.push(ratio) // before that the engine compiles what is used often
    }
    ratios.sort((a, b) => a - b)
    figure(`CPU for ${name}`, `${ratios[Math.floor(ROUNDS / 2)]!.toFixed(2)} times`, aim && `${aim} times`)
  }
}

/** Nanoseconds of CPU that the threads of a process have used. Linux only. */
async function cpuTime(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`)
  const used = threads.map((thread) =>
    readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').then(
      (text) => Number(text.split(' ')[0]),
      () => 0, // it has ended
    ),
  )
  return (await Promise.all(used)).reduce((sum, ns) => sum + ns, 0)
}

async function get(url: string, token: string): Promise<void> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  if (!response.ok) throw new Error(`${url} gave ${response.status}`)
  await response.text()
}

// ---- measuring ----

type Times = { median: number; p99: number }

/** One after the other, after a few that do not count. */
async function measure(runs: number, work: () => Promise<unknown>): Promise<Times> {
  for (let n = 0; n < Math.min(10, runs); n++) await work()
  const times: number[] = []
  for (let n = 0; n < runs; n++) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  return { median: times[Math.floor(runs / 2)]!, p99: times[Math.min(runs - 1, Math.floor(runs * 0.99))]! }
}

function report(name: string, api: Times, direct?: Times): void {
  const text = ({ median, p99 }: Times) => `${median.toFixed(1)} ms median, ${p99.toFixed(1)} ms p99`
  console.log(`${name}: ${text(api)}${direct ? `; the queries alone ${text(direct)}` : ''}`)
}
