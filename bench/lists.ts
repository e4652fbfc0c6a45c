// Lists among a million: every list of cases, documents and besluiten by every filter and order that the OpenAPI documents
// offer, for a client with all rights, one with five types of 50, and one with all 50 up to a level. Prints the median time of
// each, and of the slow ones the statement with its plan. Requests go into the application directly, without a network. On a busy
// machine `--cpu` says more: CPU of this process and of its connections, where the database is on the same machine. PostgreSQL then
// has no help of other processes, whose CPU could not be counted.
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { buildApp } from '../src/app.ts'
import { createClient, signToken } from '../src/autorisaties/clients.ts'
import { openCredentialStore } from '../src/autorisaties/credentials.ts'
import { openIssuerStore } from '../src/autorisaties/issuers/store.ts'
import { readConfig } from '../src/config.ts'
import { secretBox } from '../src/core/secret-box.ts'
import { type Database, openDatabase } from '../src/database/database.ts'
import { startEmbedded } from '../src/database/embedded.ts'
import { openStores } from '../src/documenten/storage/choose.ts'
import { cursorText } from '../src/http/page.ts'
import { openServices } from '../src/services/services.ts'
import { openLog } from '../src/telemetry/log.ts'
import { withPath } from '../test/with-path.ts'
import { figure } from './figures.ts'
import { givenMillion } from './million.ts'

const BASE = 'http://localhost'
const SECRET = 'a secret of the benchmark, 32 long'
const GOAL = 50
const GOAL_MOST = 300
/** So many may be above the goal. */
const AIM = 20

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document, of which only some members are looked at
type Json = Record<string, any>
type Measured = { client: string; url: string; ms: number; count: number | undefined }

/** `--zaken 1000000 --documenten 1000000 --database <URL> --only <part of the URL> --times 3 --plans --factor 1 --all --cpu` */
export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      zaken: { type: 'string', default: '1000000' },
      documenten: { type: 'string', default: '1000000' },
      database: { type: 'string' },
      only: { type: 'string', default: '' },
      client: { type: 'string', default: '' },
      times: { type: 'string', default: '3' },
      plans: { type: 'boolean', default: false },
      factor: { type: 'string', default: '1' },
      all: { type: 'boolean', default: false },
      cpu: { type: 'boolean', default: false },
    },
  })
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-bench-'))
  const server = values.database
    ? { url: values.database, stop: async () => {} }
    : await startEmbedded(join(directory, 'database'), { settings: ['synchronous_commit=off'] })
  try {
    await givenMillion(server.url, { zaken: Number(values.zaken), documenten: Number(values.documenten) })
    const measured = await walk(server.url, directory, {
      ...values,
      times: Number(values.times),
      factor: Number(values.factor),
    })
    report(measured, values.all)
  } finally {
    await server.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

/** `factor`: how much slower a busy machine may be. */
type Options = { only: string; client: string; times: number; plans: boolean; factor: number; cpu: boolean }

async function walk(databaseUrl: string, directory: string, options: Options): Promise<Measured[]> {
  const config = readConfig({
    DATABASE_URL: databaseUrl,
    DATA_DIR: join(directory, 'data'),
    SECRET_KEY: SEALING_KEY,
    LOG_LEVEL: 'silent',
  })
  const log = openLog(config.logLevel)
  const settings: Record<string, string> = options.cpu ? { max_parallel_workers_per_gather: '0' } : {}
  const database = openDatabase(databaseUrl, { max: 10, name: 'bench', settings })
  const box = BOX
  const clients = await givenClients(database, box)
  const credentials = await openCredentialStore(database, box, log)
  const issuers = await openIssuerStore(database, config, log)
  const services = openServices(database, box, config, log)
  const app = await buildApp({
    config,
    settings: { refresh: async () => {} },
    database,
    ...openStores(config, log),
    credentials,
    issuers,
    box,
    services,
    log,
  })
  const statements = recordStatements(database)
  const watching = postgres(databaseUrl, { max: 1 })
  const spent = options.cpu ? () => cpuOf(watching) : async () => performance.now()
  try {
    const call = async (client: string, method: 'GET' | 'POST', url: string, body?: object) => {
      const begin = await spent()
      const answer = await app.inject({
        method,
        url,
        headers: {
          host: 'localhost',
          authorization: `Bearer ${signToken(clients.get(client)!, SECRET)}`,
          'accept-crs': 'EPSG:4326',
          'content-crs': 'EPSG:4326',
        },
        ...(body && { payload: body }),
      })
      return { ms: (await spent()) - begin, answer }
    }
    const measured: Measured[] = []
    for (const [client] of clients) {
      if (!client.includes(options.client)) continue
      const counts = new Map<string, number>()
      const countOf = async (list: string) => {
        const count = counts.get(list) ?? ((await call(client, 'GET', list)).answer.json() as Json).count
        counts.set(list, count)
        return count as number
      }
      for (const { method, url, body } of await requests(database, app)) {
        const [, list, page] = /^(.*)\?page=(\d+)$/.exec(url) ?? []
        if (!url.includes(options.only)) continue
        if (list !== undefined && (Number(page) - 1) * 100 >= (await countOf(list))) continue // there is no such page
        const times: number[] = []
        let count: number | undefined
        for (let n = 0; n < options.times; n++) {
          statements.length = 0
          const { ms, answer } = await call(client, method, url, body)
          times.push(ms)
          count = (answer.json() as Json).count
          if (answer.statusCode !== 200) console.log(`${url} gave ${answer.statusCode}: ${answer.body.slice(0, 300)}`)
          if (n === 0 && ms > 3000) break
        }
        process.stderr.write('.')
        const ms = times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!
        measured.push({ client, url: body ? `${url} ${JSON.stringify(body)}` : url, ms, count })
        if (ms > GOAL * options.factor && options.plans) {
          console.log(`\n${client}: ${url} ${Math.round(ms)} ms`)
          for (const statement of [...statements]) await printPlan(databaseUrl, statement)
        }
      }
    }
    return measured
  } finally {
    await app.close()
    await credentials.close()
    await issuers.close()
    await watching.end()
    await services.close()
    await database.close()
  }
}

function report(measured: Measured[], isAll: boolean): void {
  const above = (goal: number, ofWhich = measured) => ofWhich.filter(({ ms }) => ms > goal)
  const shown = isAll ? measured : above(GOAL)
  for (const { client, url, ms, count } of shown.sort((a, b) => b.ms - a.ms))
    console.log(
      `${ms.toFixed(1).padStart(8)} ms  ${String(count ?? '-').padStart(8)}  ${client.padEnd(10)} ${decodeURIComponent(url)}`,
    )
  for (const client of new Set(measured.map((one) => one.client))) {
    const own = measured.filter((one) => one.client === client)
    figure(
      `lists as ${client}: of ${own.length} requests slower than ${GOAL} ms, and than ${GOAL_MOST}`,
      `${above(GOAL, own).length}, ${above(GOAL_MOST, own).length}`,
      `${AIM} in all, 0`,
    )
  }
  console.log(
    `${measured.length} requests, ${above(GOAL).length} above ${GOAL} ms and ${above(GOAL_MOST).length} above ${GOAL_MOST}`,
  )
}

// ---- who asks ----

async function givenClients(database: Database, box: ReturnType<typeof secretBox>): Promise<Map<string, string>> {
  const { sql } = database
  const clients = new Map<string, string>()
  const kinds = [
    ['all rights', 0, null],
    ['5 of 50', 5, 'zeer_geheim'],
    ['to a level', 50, 'zaakvertrouwelijk'],
  ] as const
  for (const [kind, types, max] of kinds) {
    const id = `bench-${randomUUID()}`
    clients.set(kind, id)
    await createClient(database, box, { id, label: id, alleAutorisaties: types === 0, secret: SECRET })
    await sql`
      insert into autorisatie (applicatie_id, component, scopes, type_url, type_uuid, max_vertrouwelijkheidaanduiding)
      select a.applicatie_id, t.component, array[t.scope], '', t.uuid, case when t.component <> 'brc' then ${max}::vertrouwelijkheidaanduiding end
      from applicatie_client a, (
        select 'zrc' as component, 'zaken.lezen' as scope, uuid, id from zaaktype
        union all select 'drc', 'documenten.lezen', uuid, id from informatieobjecttype
        union all select 'brc', 'besluiten.lezen', uuid, id * 5 from besluittype
      ) t
      where a.client_id = ${id} and t.id between 11 and ${types === 5 ? 15 : types} or a.client_id = ${id} and t.id <= ${types - 5}`
    await sql`
      insert into autorisatie (applicatie_id, component, scopes)
      select applicatie_id, 'ztc', array['catalogi.lezen'] from applicatie_client where client_id = ${id}`
  }
  return clients
}

// ---- what is asked ----

/** Lists of which the generator makes no rows. */
const EMPTY = ['/substatussen', '/klantcontacten', '/zaaknotities', '/verzendingen', '/import']

type Request = { method: 'GET' | 'POST'; url: string; body?: object }

/** Lists of the API that are paged, by each of their parameters. */
async function requests(database: Database, app: Awaited<ReturnType<typeof buildApp>>): Promise<Request[]> {
  const found: Request[] = []
  const examples = await exampleValues(database)
  for (const component of ['zaken', 'documenten', 'besluiten']) {
    const root = `/${component}/api/v1`
    const document = (
      await app.inject({ url: `${root}/schema/openapi.json`, headers: { host: 'localhost' } })
    ).json() as Json
    for (const [path, { get }] of Object.entries<Json>(document.paths)) {
      if (!get || path.includes('{')) continue
      const names: string[] = get.parameters
        .map((one: Json) => (one.$ref ? document.components.parameters[one.$ref.split('/').at(-1)] : one))
        .filter((one: Json) => one.in === 'query')
        .map((one: Json) => one.name)
      if (!names.includes('page') || EMPTY.includes(path)) continue
      const list = root + path
      found.push({ method: 'GET', url: list })
      for (const query of ['page=2', 'page=150', 'page=last', 'pageSize=500'])
        found.push({ method: 'GET', url: `${list}?${query}` })
      for (const name of names) {
        if (name === 'page' || name === 'pageSize') continue
        const key = `${path.slice(1)}.${name}`
        const values = examples[key] ?? examples[name] ?? CURSORS[key] ?? CURSORS[name] ?? defaults(name)
        if (values === undefined) throw new Error(`no example for ${key}`)
        for (const text of values) {
          found.push({ method: 'GET', url: `${list}?${new URLSearchParams({ [name]: text })}` })
          if (name === 'ordering')
            found.push({ method: 'GET', url: `${list}?${new URLSearchParams({ [name]: text, page: 'last' })}` })
        }
      }
    }
  }
  const square = (west: number, south: number, size: number) => ({
    type: 'Polygon',
    coordinates: [
      [
        [west, south],
        [west + size, south],
        [west + size, south + size],
        [west, south + size],
        [west, south],
      ],
    ],
  })
  for (const size of [0.02, 0.15, 0.8])
    found.push({
      method: 'POST',
      url: '/zaken/api/v1/zaken/_zoek',
      body: { zaakgeometrie: { within: square(4.8, 52.1, size) } },
    })
  return found
}

const SEALING_KEY = 'key of the benchmark, long enough'
const BOX = secretBox(SEALING_KEY)

/** The last pages of a hundred, of lists of a million: newest first, but for documents. */
const CURSORS: Record<string, string[]> = {
  cursor: [cursorText(BOX, { at: ['101'], isBefore: false }, 1)],
  'statussen.cursor': [cursorText(BOX, { at: ['2019-01-02', '0'], isBefore: false }, 1)],
  'enkelvoudiginformatieobjecten.cursor': [cursorText(BOX, { at: ['999900'], isBefore: false }, 1)],
  limit: ['100'],
}

const defaults = (name: string): string[] | undefined => {
  if (/datum|Gepland|Afdoening/.test(name)) {
    if (name.endsWith('__isnull')) return ['true', 'false']
    // Half of all, nearly all and nearly none.
    if (/__gte?$/.test(name)) return ['2022-06-01', '2019-01-05', '2025-10-01']
    if (/__lte?$/.test(name)) return ['2022-06-01', '2025-10-01', '2019-01-05']
    return ['2022-06-01']
  }
  return undefined
}

/** Values that fit few and values that fit many, by the name of the parameter, after that of the list where it matters. */
async function exampleValues(database: Database): Promise<Record<string, string[]>> {
  const { sql } = database
  const url = async (component: string, path: string, table: string, where: string) => {
    const [row] = await sql.unsafe(`select uuid from ${table} where ${where} limit 1`)
    return `${BASE}/${component}/api/v1/${path}/${row!.uuid}`
  }
  const [zaak] = await sql`select identificatie, id from zaak where zaaktype_id = 12 order by id offset 1000 limit 1`
  const [document] = await sql`select identificatie from enkelvoudiginformatieobject order by id offset 1000 limit 1`
  const type = (id: number) => url('catalogi', 'zaaktypen', 'zaaktype', `id = ${id}`)
  const documenttype = (id: number) => url('catalogi', 'informatieobjecttypen', 'informatieobjecttype', `id = ${id}`)
  const [popular, some] = [await type(1), await type(12)]
  const statustypen = [
    await url('catalogi', 'statustypen', 'statustype', 'id = 4'),
    await url('catalogi', 'statustypen', 'statustype', 'id = 46'),
  ]
  const resultaattypen = [
    await url('catalogi', 'resultaattypen', 'resultaattype', 'id = 1'),
    await url('catalogi', 'resultaattypen', 'resultaattype', 'id = 34'),
  ]
  const ofZaak = await url('zaken', 'zaken', 'zaak', `id = ${zaak!.id}`)
  const both = (names: string[]): string[] => names.flatMap((name) => [name, `-${name}`])
  const rol: Record<string, string[]> = {
    betrokkene: ['https://personen.example/api/12'],
    betrokkeneType: ['natuurlijk_persoon', 'vestiging', 'organisatorische_eenheid'],
    omschrijvingGeneriek: ['initiator', 'belanghebbende', 'adviseur'],
    machtiging: ['eigen', 'gemachtigde'],
    machtiging__loa: ['urn:etoegang:core:assurance-class:loa2'],
    betrokkeneIdentificatie__natuurlijkPersoon__inpBsn: ['100000010'],
    betrokkeneIdentificatie__natuurlijkPersoon__anpIdentificatie: ['1'],
    betrokkeneIdentificatie__natuurlijkPersoon__inpA_nummer: ['1'],
    betrokkeneIdentificatie__nietNatuurlijkPersoon__innNnpId: ['100000012'],
    betrokkeneIdentificatie__nietNatuurlijkPersoon__annIdentificatie: ['1'],
    betrokkeneIdentificatie__nietNatuurlijkPersoon__kvkNummer: ['10000012'],
    betrokkeneIdentificatie__nietNatuurlijkPersoon__vestigingsNummer: ['1'],
    betrokkeneIdentificatie__vestiging__vestigingsNummer: ['100012'],
    betrokkeneIdentificatie__vestiging__kvkNummer: ['1'],
    betrokkeneIdentificatie__medewerker__identificatie: ['mw12'],
    betrokkeneIdentificatie__organisatorischeEenheid__identificatie: ['mw12'],
  }
  return {
    ...rol,
    ...Object.fromEntries(Object.entries(rol).map(([name, values]) => [`rol__${name}`, values])),
    expand: [],
    'zaken.expand': ['zaaktype,status,status.statustype,rollen,resultaat', 'eigenschappen', 'zaakobjecten'],
    'zaken.ordering': both([
      'startdatum',
      'einddatum',
      'publicatiedatum',
      'archiefactiedatum',
      'registratiedatum',
      'identificatie',
    ]),
    'enkelvoudiginformatieobjecten.ordering': both([
      'auteur',
      'bestandsomvang',
      'creatiedatum',
      'formaat',
      'status',
      'titel',
      'vertrouwelijkheidaanduiding',
    ]),
    'enkelvoudiginformatieobjecten.identificatie': [document!.identificatie],
    identificatie: [zaak!.identificatie],
    identificatie__icontains: ['0000123', 'ZAAK-2022', '2022-00005'],
    omschrijving: ['boom', 'dakkapel 77', 'aan'],
    'rollen.omschrijving': ['Initiator', 'Adviseur'],
    zaaktype__omschrijving: ['Bezwaar 12', 'Melding'],
    bronorganisatie: ['000000000', '123456782'],
    bronorganisatie__in: ['000000000,123456782'],
    verantwoordelijkeOrganisatie: ['000000000', '123456782'],
    zaaktype: [popular, some],
    zaaktype__in: [`${popular},${some}`],
    zaaktype__not_in: [`${popular},${some}`],
    archiefnominatie: ['vernietigen', 'blijvend_bewaren'],
    archiefnominatie__in: ['vernietigen,blijvend_bewaren'],
    archiefstatus: ['gearchiveerd', 'nog_te_archiveren', 'overgedragen'],
    archiefstatus__in: ['gearchiveerd,overgedragen'],
    einddatum__isnull: ['true', 'false'],
    maximaleVertrouwelijkheidaanduiding: ['openbaar', 'zaakvertrouwelijk'],
    kenmerk__bron: ['DSO', 'BAG', 'niets'],
    kenmerk: ['DSO:K10'],
    status__statustype: statustypen,
    statustype: statustypen,
    resultaat__resultaattype: resultaattypen,
    resultaattype: resultaattypen,
    roltype: [
      await url('catalogi', 'roltypen', 'roltype', 'id = 1'),
      await url('catalogi', 'roltypen', 'roltype', 'id = 46'),
    ],
    indicatieLaatstGezetteStatus: ['true', 'false'],
    zaak: [ofZaak],
    'zaakobjecten.object': ['https://objecten.example/api/12'],
    objectType: ['adres', 'overige'],
    trefwoorden: ['boom', 'gemeente'],
    trefwoorden__overlap: ['boom,riool', 'gemeente'],
    titel: ['boom', 'dakkapel riool 77', 'aan'],
    auteur: ['Auteur 2999', 'Auteur'],
    beschrijving: ['dakkapel riool', 'over'],
    informatieobjecttype: [await documenttype(1), await documenttype(12)],
    vertrouwelijkheidaanduiding: ['openbaar', 'geheim'],
    locked: ['false', 'true'],
    objectinformatieobjecten_object: [ofZaak],
    objectinformatieobjecten__object: [ofZaak],
    objectinformatieobjecten_objectType: ['zaak', 'besluit'],
    objectinformatieobjecten__objectType: ['zaak'],
    besluittype: [
      await url('besluiten', 'x', 'besluittype', 'id = 1').then((found) =>
        found.replace('/besluiten/api/v1/x', '/catalogi/api/v1/besluittypen'),
      ),
    ],
  }
}

// ---- what it takes ----

/** Milliseconds of CPU that this process and the connections of the database have taken until now. */
async function cpuOf(sql: postgres.Sql): Promise<number> {
  const pids = await sql<{ pid: number }[]>`
    select pid from pg_stat_activity where datname = current_database() and application_name = 'zaakstroom bench'`
  const times = await Promise.all(
    pids.map(async ({ pid }) => Number((await readFile(`/proc/${pid}/schedstat`, 'utf8')).split(' ')[0])),
  )
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000 + times.reduce((sum, ns) => sum + ns / 1_000_000, 0)
}

// ---- plans ----

type Statement = { text: string; parameters: unknown[] }

/** Remembers what is sent by `unsafe`, which lists and the query builder use. */
function recordStatements({ sql }: Database): Statement[] {
  const statements: Statement[] = []
  const { unsafe } = sql
  sql.unsafe = ((text: string, parameters: unknown[] = [], ...rest: never[]) => {
    statements.push({ text, parameters })
    return (unsafe as (...args: unknown[]) => unknown)(text, parameters, ...rest)
  }) as never
  return statements
}

async function printPlan(databaseUrl: string, { text, parameters }: Statement): Promise<void> {
  const sql = postgres(withPath(databaseUrl), { max: 1, connection: { jit: 'off' } })
  try {
    const begin = performance.now()
    const plan = await sql.unsafe(`explain (analyze, buffers, costs off) ${text}`, parameters as never[])
    if (performance.now() - begin < GOAL / 3) return
    console.log(text.replace(/\s+/g, ' ').slice(0, 600), parameters)
    for (const row of plan) console.log(`  ${row['QUERY PLAN']}`)
  } finally {
    await sql.end()
  }
}
