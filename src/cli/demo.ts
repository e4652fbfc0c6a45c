// The demo: everything at once on an embedded database in a directory of its own, over HTTP as a client would do it.

import { randomBytes, randomUUID } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse, writeToString } from 'fast-csv'
import { signToken } from '../autorisaties/clients.ts'
import { EXAMPLES, loadExample, verifyExample } from '../catalogi/examples/load.ts'
import { openSelectielijst } from '../catalogi/selectielijst.ts'
import { type Config, readConfig } from '../config.ts'
import { systemActor } from '../core/access.ts'
import { mutator } from '../core/mutate.ts'
import { generateSecret } from '../core/secret-box.ts'
import { openDatabase, type ReadDb } from '../database/database.ts'
import { migrate } from '../database/migrate.ts'
import { expected, one } from '../database/rows.ts'
import { COLUMN_NAMES, type CsvRow } from '../documenten/import/columns.ts'
import { uuidOf } from '../http/links.ts'
import { SETS } from '../notificaties/backoff.ts'
import { saveSettings } from '../notificaties/settings.ts'
import type { Services } from '../services/services.ts'
import { openLog } from '../telemetry/log.ts'
import { runApi } from './run-api.ts'
import { runWorker } from './run-worker.ts'
import { findSecretBox, openServer, type Running } from './server.ts'
import { type Subscriber, startSubscriber } from './subscriber.ts'
import { Interrupted } from './terminal.ts'

const ROWS = 2000
const CLIENT = 'demo'

/** Rows of the CSV that are wrong, each in its own way: what is changed in the row, and what its comment must name. */
const WRONG: { nummer: number; change: Partial<CsvRow>; comment: string }[] = [
  { nummer: 17, change: { bestandspad: '../buiten.txt' }, comment: 'bestandspad' },
  { nummer: 230, change: { bronorganisatie: '123456789' }, comment: 'bronorganisatie' },
  { nummer: 404, change: { bestandspad: 'archief/bestaat-niet.txt' }, comment: 'bestandspad' },
  { nummer: 777, change: { creatiedatum: '2024-02-30' }, comment: 'creatiedatum' },
  { nummer: 1001, change: { uuid: '' }, comment: 'uuid' }, // gets the uuid of row 2 below
  { nummer: 1500, change: { taal: 'Nederlands', titel: '' }, comment: 'titel' },
  { nummer: 1999, change: { bestandsomvang: '1' }, comment: 'bestandsomvang' },
]

/**
 * Runs the demo and prints what happens.
 * @returns whether everything was as expected; with `keep` it stays up until the process gets a signal
 * @throws Interrupted when the signal comes before that
 */
export async function demo(options: { keep: boolean; signal: AbortSignal }): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-demo-'))
  await chmod(directory, 0o711) // the database may run as another user
  const secret = generateSecret()
  const password = generateSecret()
  const auth = generateSecret()
  const subscriber = await startSubscriber(auth)
  const config = readConfig({
    DATA_DIR: join(directory, 'data'),
    IMPORT_DOCUMENTEN_BASE_DIR: join(directory, 'import-data'),
    BOOTSTRAP_CLIENT_ID: CLIENT,
    BOOTSTRAP_CLIENT_SECRET: secret,
    BOOTSTRAP_ADMIN_USERNAME: CLIENT,
    BOOTSTRAP_ADMIN_PASSWORD: password,
    NOTIFICATIES_MODE: 'ingebouwd',
    PORT: '0',
    LOG_LEVEL: 'error',
  })
  const service = await startService(config)
  try {
    const call = caller(service.address, secret)
    say(`Zaakstroom runs on ${service.address}, its data in ${directory}.`)
    const play = async () => {
      const { rows, type, catalogus } = await prepare(call, config.importBaseDir)
      const good = await importDocuments(call, rows)
      const same = await compareOne(call, config.importBaseDir, one(rows))
      const told = await notify(call, subscriber, auth, catalogus)
      return { type, catalogus, all: good && same && told }
    }
    const { type, catalogus, all } = await untilAborted(play(), options.signal)
    say(all ? '\nAll as expected.' : '\nNOT as expected.')
    if (options.keep) {
      await loadExamples(config, service, catalogus)
      await stay(service.address, { secret, password }, type, options.signal)
    }
    return all
  } finally {
    await service.stop()
    await subscriber.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

/** @throws Interrupted as soon as the signal comes; the service is then stopped under what goes on */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const interrupted = Promise.withResolvers<never>()
  const end = () => interrupted.reject(new Interrupted())
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  return Promise.race([work, interrupted.promise]).finally(() => signal.removeEventListener('abort', end))
}

function say(text: string): void {
  console.log(text)
}

type Service = Running & { address: string /** Of the database. */; url: string }

async function startService(config: Config): Promise<Service> {
  const log = openLog(config.logLevel)
  const box = await findSecretBox(config, true)
  const server = await openServer(config, log, true)
  await migrate(server.url)
  await retrySoon(server.url)
  const worker = await runWorker(config, server.url, log)
  const api = await runApi(config, server.url, box, log)
  return {
    ...api,
    url: server.url,
    stop: async () => {
      await api.stop()
      await worker.stop()
      await server.stop()
    },
  }
}

/** The set of delays that begins at 3 seconds: the default one would make the demo wait. */
async function retrySoon(url: string): Promise<void> {
  const database = openDatabase(url, { max: 1, name: 'demo' })
  await mutator(database)(systemActor('demo'), (m) => saveSettings(m, SETS.kort))
  await database.close()
}

/** The example zaaktypen that the pages offer, ready for use. */
async function loadExamples(config: Config, { address, url }: Service, catalogus: string): Promise<void> {
  const nothing = { fetchJson: async () => ({ kind: 'unregistered' }) } as unknown as Services
  const database = openDatabase(url, { max: 1, name: 'demo' })
  const selectielijst = await openSelectielijst(config, nothing, database.db as unknown as ReadDb)
  const uuid = uuidOf(catalogus)
  for (const example of EXAMPLES) {
    const verified = await verifyExample(selectielijst, example, address)
    await mutator(database)(systemActor('demo', address), (m) =>
      loadExample(m, uuid, example, verified, { beginGeldigheid: '2024-01-01', publish: true }),
    )
    say(`Made an example: ${example.title}`)
  }
  await database.close()
}

type Call = (method: string, url: string, body?: unknown) => Promise<Response>

/** Requests as a client makes them: a fresh token for each, and an answer that is not 2xx is an error. */
function caller(address: string, secret: string): Call {
  return async (method, url, body) => {
    const isCsv = typeof body === 'string'
    const response = await fetch(new URL(url, address), {
      method,
      headers: {
        authorization: `Bearer ${signToken(CLIENT, secret, { id: 'demo', name: 'Demo' })}`,
        'accept-crs': 'EPSG:4326',
        'content-crs': 'EPSG:4326',
        ...(body !== undefined && { 'content-type': isCsv ? 'text/csv' : 'application/json' }),
      },
      ...(body !== undefined && { body: isCsv ? body : JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${url} gave ${response.status}: ${await response.text()}`)
    return response
  }
}

async function prepare(call: Call, importDir: string): Promise<{ rows: CsvRow[]; type: string; catalogus: string }> {
  const made = async (url: string, body: unknown) =>
    ((await (await call('POST', url, body)).json()) as { url: string }).url
  const catalogus = await made('/catalogi/api/v1/catalogussen', {
    domein: 'DEMO',
    rsin: '000000000',
    contactpersoonBeheerNaam: 'Functioneel beheer',
  })
  const type = await create(call, '/catalogi/api/v1/informatieobjecttypen', {
    catalogus,
    omschrijving: 'Brief',
    vertrouwelijkheidaanduiding: 'openbaar',
    beginGeldigheid: '2024-01-01',
    informatieobjectcategorie: 'correspondentie',
  })
  await call('POST', `${type}/publish`)
  say(`Made an informatieobjecttype: ${type}`)

  await Promise.all(
    Array.from({ length: 20 }, (_, folder) => mkdir(join(importDir, 'archief', String(folder)), { recursive: true })),
  )
  const rows: CsvRow[] = []
  for (let place = 0; place < ROWS; place++) {
    const bestandspad = `archief/${place % 20}/brief.${place}.txt`
    await writeFile(join(importDir, bestandspad), `Brief ${place}\n${randomBytes(500).toString('hex')}\n`)
    rows.push({
      ...(Object.fromEntries(COLUMN_NAMES.map((name) => [name, ''])) as CsvRow),
      uuid: randomUUID(),
      bronorganisatie: '517439943',
      creatiedatum: '2024-05-01',
      titel: `Brief ${place}`,
      auteur: 'Archief',
      taal: 'nld',
      formaat: 'text/plain',
      bestandspad,
      informatieobjecttype: type,
      trefwoorden: 'archief,demo',
    })
  }
  for (const { nummer, change } of WRONG) Object.assign(expected(rows[nummer]), change)
  Object.assign(expected(rows[1001]), { uuid: rows[2]?.uuid })
  say(`Wrote ${ROWS} files and a CSV in which ${WRONG.length} rows are wrong.\n`)
  return { rows, type, catalogus }
}

/** Makes a resource. @returns its URL */
async function create(call: Call, url: string, body: unknown): Promise<string> {
  return ((await (await call('POST', url, body)).json()) as { url: string }).url
}

type Status = {
  status: string
  total: number
  processed: number
  processedSuccessfully: number
  processedInvalid: number
}

async function importDocuments(call: Call, rows: CsvRow[]): Promise<boolean> {
  const urls = (await (await call('POST', '/documenten/api/v1/import/create')).json()) as Record<
    'uploadUrl' | 'statusUrl' | 'reportUrl',
    string
  >
  await call('POST', urls.uploadUrl, await writeToString(rows, { headers: [...COLUMN_NAMES] }))
  const status = await followProgress(call, urls.statusUrl)
  say(
    `Import ${status.status}: ${status.processedSuccessfully} documents made, ${status.processedInvalid} rows refused.\n`,
  )

  const report = await readReport(await call('GET', urls.reportUrl))
  const refused = report.flatMap((row, place) =>
    row.resultaat === 'Geïmporteerd' ? [] : [{ place, opmerking: row.opmerking ?? '' }],
  )
  for (const { place, opmerking } of refused) say(`  row ${String(place + 2).padStart(4)}  ${opmerking}`)
  const expected = WRONG.every(({ nummer, comment }) =>
    refused.some(({ place, opmerking }) => place === nummer && opmerking.includes(comment)),
  )
  return expected && refused.length === WRONG.length && status.processedSuccessfully === ROWS - WRONG.length
}

async function followProgress(call: Call, statusUrl: string): Promise<Status> {
  const began = performance.now()
  const tell = progressLine()
  try {
    for (;;) {
      const status = (await (await call('GET', statusUrl)).json()) as Status
      const rate = Math.round((status.processed / (performance.now() - began)) * 1000)
      tell(`Importing ${status.processed}/${ROWS} rows, ${rate} rows/s`)
      if (status.status === 'finished' || status.status === 'error') return status
      await sleep(100)
    }
  } finally {
    if (process.stdout.isTTY) process.stdout.write('\n')
  }
}

/** Writes over the line before on a terminal; elsewhere at most one line a second. */
function progressLine(): (text: string) => void {
  let told = Number.NEGATIVE_INFINITY
  return (text) => {
    if (process.stdout.isTTY) process.stdout.write(`\r${text}\x1b[K`)
    else if (performance.now() - told >= 1000) {
      told = performance.now()
      console.log(text)
    }
  }
}

async function readReport(response: Response): Promise<Record<string, string>[]> {
  return Array.fromAsync(Readable.fromWeb(response.body as ReadableStream<Uint8Array>).pipe(parse({ headers: true })))
}

async function compareOne(call: Call, importDir: string, row: CsvRow): Promise<boolean> {
  const document = (await (
    await call('GET', `/documenten/api/v1/enkelvoudiginformatieobjecten/${row.uuid}`)
  ).json()) as { inhoud: string }
  const downloaded = Buffer.from(await (await call('GET', document.inhoud)).arrayBuffer())
  const same = downloaded.equals(await readFile(join(importDir, row.bestandspad)))
  say(
    `\nDownloaded ${row.bestandspad}: ${downloaded.length} bytes, ${same ? 'the same as the original' : 'DIFFERENT from the original'}.`,
  )
  return same
}

/** A subscriber hears of a case at once; of cases that are made while it is down, when it is back. */
async function notify(call: Call, subscriber: Subscriber, auth: string, catalogus: string): Promise<boolean> {
  const { callbackUrl } = subscriber
  const kanalen = [{ naam: 'zaken', filters: { '#resource': 'zaak', '#actie': 'create' } }]
  const abonnement = await create(call, '/notificaties/api/v1/abonnement', { callbackUrl, auth, kanalen })
  say(`\nSubscribed to new cases: ${abonnement}`)
  const zaaktype = await givenZaaktype(call, catalogus)
  const createZaak = () =>
    create(call, '/api/v1/zaken', {
      zaaktype,
      bronorganisatie: '517439943',
      verantwoordelijkeOrganisatie: '517439943',
      startdatum: '2024-05-01',
    })
  const arrived = (zaak: string) => subscriber.received.some(({ resourceUrl }) => resourceUrl === zaak)

  const began = performance.now()
  const first = await createZaak()
  if (!(await within(10, () => arrived(first)))) return false
  say(`Made a case: ${first}`)
  say(`Its notification arrived within ${Math.round(performance.now() - began)} ms of the request.`)

  await subscriber.stop()
  const later = await Promise.all(Array.from({ length: 5 }, createZaak))
  say('Stopped the subscriber and made 5 more cases; none of them was refused.')
  await sleep(2000)
  await subscriber.start()
  const all = await within(60, () => later.every(arrived))
  say(`Started it again: ${later.filter(arrived).length} of 5 notifications arrived.`)
  return all
}

async function givenZaaktype(call: Call, catalogus: string): Promise<string> {
  const zaaktype = await create(call, '/catalogi/api/v1/zaaktypen', {
    catalogus,
    identificatie: 'MELDING',
    omschrijving: 'Melding',
    vertrouwelijkheidaanduiding: 'openbaar',
    doel: 'Een melding afhandelen',
    aanleiding: 'Een inwoner meldt iets',
    indicatieInternOfExtern: 'extern',
    handelingInitiator: 'melden',
    onderwerp: 'Openbare ruimte',
    handelingBehandelaar: 'behandelen',
    doorlooptijd: 'P30D',
    opschortingEnAanhoudingMogelijk: false,
    verlengingMogelijk: false,
    publicatieIndicatie: false,
    productenOfDiensten: [],
    referentieproces: { naam: 'Melding' },
    verantwoordelijke: 'Gemeente',
    besluittypen: [],
    gerelateerdeZaaktypen: [],
    beginGeldigheid: '2024-01-01',
    versiedatum: '2024-01-01',
  })
  await call('POST', `${zaaktype}/publish`)
  return zaaktype
}

async function within(seconds: number, condition: () => boolean): Promise<boolean> {
  const limit = performance.now() + seconds * 1000
  while (!condition()) {
    if (performance.now() > limit) return false
    await sleep(5)
  }
  return true
}

async function stay(
  address: string,
  { secret, password }: { secret: string; password: string },
  type: string,
  signal: AbortSignal,
): Promise<void> {
  say(`
It stays up until Ctrl-C. The administration pages: ${address}/beheer/ as ${CLIENT}, with the password ${password}
To go on with (the token is good for one hour):

  TOKEN=${signToken(CLIENT, secret, { id: 'demo', name: 'Demo' })}
  curl -H "Authorization: Bearer $TOKEN" ${address}/documenten/api/v1/enkelvoudiginformatieobjecten?pageSize=2
  curl -H "Authorization: Bearer $TOKEN" ${type}
  curl -H "Authorization: Bearer $TOKEN" ${address}/documenten/api/v1/import

For a client of your own (docs/clients.md):

  export API=${address} CLIENT_ID=${CLIENT} CLIENT_SECRET=${secret}
`)
  if (!signal.aborted)
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
