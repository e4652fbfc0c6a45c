// What an answer costs: CPU of the api alone for a list of 100 and for one object, of cases and of documents. The application
// listens in this process, the clients and the database are processes of their own, so that the CPU of this one is the api's.
import { spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { buildApp } from '../src/app.ts'
import { createClient, signToken } from '../src/autorisaties/clients.ts'
import { openCredentialStore } from '../src/autorisaties/credentials.ts'
import { saveIssuer, saveIssuerClients } from '../src/autorisaties/issuers/issuer.ts'
import { openIssuerStore } from '../src/autorisaties/issuers/store.ts'
import { readConfig } from '../src/config.ts'
import { systemActor } from '../src/core/access.ts'
import { mutator } from '../src/core/mutate.ts'
import { secretBox } from '../src/core/secret-box.ts'
import { type Database, openDatabase } from '../src/database/database.ts'
import { startEmbedded } from '../src/database/embedded.ts'
import { openStores } from '../src/documenten/storage/choose.ts'
import { prepareFilesystemStore } from '../src/documenten/storage/filesystem.ts'
import { openServices } from '../src/services/services.ts'
import { openLog } from '../src/telemetry/log.ts'
import { figure } from './figures.ts'
import { givenMillion } from './million.ts'

const SECRET = 'a secret of the benchmark, 32 long'

/** `--zaken 20000 --documenten 10000 --database <URL> --requests 300 --only <part of the name>` */
export async function bench(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      zaken: { type: 'string', default: '20000' },
      documenten: { type: 'string', default: '10000' },
      database: { type: 'string' },
      requests: { type: 'string', default: '300' },
      only: { type: 'string', default: '' },
    },
  })
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-bench-'))
  const server = values.database
    ? { url: values.database, stop: async () => {} }
    : await startEmbedded(join(directory, 'database'), { settings: ['synchronous_commit=off'] })
  try {
    await givenMillion(server.url, { zaken: Number(values.zaken), documenten: Number(values.documenten) })
    await measure(server.url, directory, Number(values.requests), values.only)
  } finally {
    await server.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

async function measure(databaseUrl: string, directory: string, requests: number, only: string): Promise<void> {
  const config = readConfig({
    DATABASE_URL: databaseUrl,
    DATA_DIR: join(directory, 'data'),
    SECRET_KEY: 'key of the benchmark, long enough',
    LOG_LEVEL: 'info',
  })
  await prepareFilesystemStore(config.documentenDir)
  const log = openLog(config.logLevel, { write: () => {} }) // lines are made, as in production, but not kept
  const database = openDatabase(databaseUrl, { max: 10, name: 'bench' })
  const box = secretBox(config.secretKey!)
  const client = `bench-${randomUUID()}`
  await createClient(database, box, { id: client, label: client, alleAutorisaties: true, secret: SECRET })
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
  try {
    const address = await app.listen({ host: '127.0.0.1', port: 0 })
    // They are made a while after the start, and that would count as work for what is asked then.
    for (const api of ['zaken', 'documenten', 'catalogi', 'besluiten', 'autorisaties', 'notificaties'])
      await (await fetch(`${address}/${api}/api/v1/openapi.json`)).arrayBuffer()
    const one = async (table: string) =>
      (await database.sql.unsafe<{ uuid: string }[]>(`select uuid from ${table} where id = 1000`))[0]!.uuid
    const asked: [name: string, path: string, aim: string][] = [
      ['list of 100 cases', '/zaken/api/v1/zaken?page=2', '2 ms'],
      ['list of 100 documents', '/documenten/api/v1/enkelvoudiginformatieobjecten?page=2', '2 ms'],
      ['list of 100 statuses', '/zaken/api/v1/statussen?page=2', '2 ms'],
      ['list of 100 rollen', '/zaken/api/v1/rollen?page=2', '2 ms'],
      ['GET of a case', `/zaken/api/v1/zaken/${await one('zaak')}`, '1 ms'],
      [
        'GET of a document',
        `/documenten/api/v1/enkelvoudiginformatieobjecten/${await one('enkelvoudiginformatieobject')}`,
        '1 ms',
      ],
      ['download of 10 kB', `${await givenDocument(address, database, signToken(client, SECRET))}/download`, '0.5 ms'],
    ]
    for (const [name, path, aim] of asked) {
      if (!name.includes(only)) continue
      const ask = (times: number) => askTimes(address + path, signToken(client, SECRET), times)
      await ask(requests) // until the engine has compiled what is used often
      const before = process.cpuUsage()
      const { median, bytes } = await ask(requests)
      const { user, system } = process.cpuUsage(before)
      figure(`CPU of the api for a ${name}`, `${((user + system) / 1000 / requests).toFixed(2)} ms`, aim)
      console.log(`  ${median.toFixed(1)} ms median as the client sees it, ${bytes} bytes`)
    }
    if (BATCH.includes(only)) await compareBatch(address, database, () => signToken(client, SECRET), requests)
    if (TOKENS.includes(only)) {
      const url = `/zaken/api/v1/zaken/${await one('zaak')}`
      await compareTokens(app, url, signToken(client, SECRET), await issuerToken(database, client))
    }
  } finally {
    await app.close()
    await credentials.close()
    await issuers.close()
    await services.close()
    await database.close()
  }
}

/** A new document with content. @returns its path */
async function givenDocument(address: string, { sql }: Database, token: string): Promise<string> {
  const [type] = await sql<{ uuid: string }[]>`select uuid from informatieobjecttype where not concept limit 1`
  const answer = await fetch(`${address}/documenten/api/v1/enkelvoudiginformatieobjecten`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      bronorganisatie: '000000000',
      creatiedatum: '2025-01-01',
      titel: 'x',
      auteur: 'x',
      taal: 'nld',
      informatieobjecttype: `${address}/catalogi/api/v1/informatieobjecttypen/${type?.uuid}`,
      inhoud: randomBytes(10_000).toString('base64'),
      bestandsomvang: 10_000,
    }),
  })
  if (answer.status !== 201) throw new Error(`a document gave ${answer.status}: ${await answer.text()}`)
  return new URL(((await answer.json()) as { url: string }).url).pathname
}

const BATCH = 'page of 50 cases by _batch'
const EXPANDED = [
  'zaaktype',
  'status.statustype',
  'resultaat.resultaattype',
  'rollen.roltype',
  'zaakinformatieobjecten.informatieobject.informatieobjecttype',
  'zaakobjecten',
  'eigenschappen.eigenschap',
]

/**
 * Fifty cases with what hangs on them and the types of all that, in one request, beside the calls that a client makes today for one
 * of them.
 */
async function compareBatch(address: string, { sql }: Database, token: () => string, requests: number): Promise<void> {
  const cases = await sql<{ uuid: string }[]>`
    select z.uuid from zaak z where z.einddatum is not null
      and exists (select from zaakinformatieobject i where i.zaak_id = z.id)
      and exists (select from zaakobject o where o.zaak_id = z.id)
      and exists (select from zaakeigenschap e where e.zaak_id = z.id) order by z.id desc limit 50`
  if (cases.length < 50) throw new Error('too few closed cases have one of everything')
  const calls = await callsOf(address, `/zaken/api/v1/zaken/${cases[0]!.uuid}`, token())
  const batch: Call = {
    method: 'POST',
    url: `${address}/zaken/api/v1/zaken/_batch`,
    body: JSON.stringify({ context: { expand: EXPANDED }, requests: cases.map(({ uuid }) => ({ key: uuid })) }),
  }
  const cost = async (list: Call[], times: number) => {
    await askRounds(list, token(), times)
    const before = process.cpuUsage()
    const { median, bytes } = await askRounds(list, token(), times)
    const { user, system } = process.cpuUsage(before)
    return { ms: (user + system) / 1000 / times, median, bytes }
  }
  const times = Math.max(20, Math.round(requests / 5))
  const [one, all] = [await cost(calls, times), await cost([batch], times)]
  console.log(
    `  ${calls.length} calls for one case: ${one.ms.toFixed(2)} ms of CPU, ${one.median.toFixed(1)} ms median as the client sees it, ${one.bytes} bytes`,
  )
  console.log(`  one _batch for 50 cases: ${all.median.toFixed(1)} ms median as the client sees it, ${all.bytes} bytes`)
  figure(`CPU of the api for a ${BATCH}`, `${all.ms.toFixed(1)} ms`)
  figure(
    `CPU of the api for a case of such a page, beside ${calls.length} calls for one`,
    `${((100 * all.ms) / 50 / one.ms).toFixed(0)} %`,
  )
}

type Call = { method: string; url: string; body?: string }

/** What a client calls for a case and what hangs on it, each resource once. */
async function callsOf(address: string, zaakPath: string, token: string): Promise<Call[]> {
  const calls: Call[] = []
  const get = async (url: string) => {
    calls.push({ method: 'GET', url })
    const headers = { authorization: `Bearer ${token}`, 'accept-crs': 'EPSG:4326' }
    const answer = await fetch(url, { headers })
    if (!answer.ok) throw new Error(`${url} gave ${answer.status}`)
    return answer.json() as Promise<Record<string, string>>
  }
  type Listed = { results?: Record<string, string>[] } & Record<string, string>[]
  const zaak = await get(address + zaakPath)
  const query = `?zaak=${encodeURIComponent(zaak.url!)}`
  await get(zaak.zaaktype!)
  await get((await get(zaak.status!)).statustype!)
  await get((await get(zaak.resultaat!)).resultaattype!)
  const rollen = (await get(`${address}/zaken/api/v1/rollen${query}`)) as unknown as Listed
  for (const { roltype } of rollen.results ?? []) await get(roltype!)
  const relations = (await get(`${address}/zaken/api/v1/zaakinformatieobjecten${query}`)) as unknown as Listed
  for (const { informatieobject } of relations) {
    const document = await get(informatieobject!)
    await get(document.informatieobjecttype!)
  }
  await get(`${address}/zaken/api/v1/zaakobjecten${query}`)
  const eigenschappen = (await get(`${zaak.url}/zaakeigenschappen`)) as unknown as Listed
  for (const { eigenschap } of eigenschappen) await get(eigenschap!)
  return calls
}

const TOKENS = 'GET with a token of an issuer'
const ROUNDS = 100

/** An issuer with a key of its own, and a token of it for the same application. */
async function issuerToken(database: Database, client: string): Promise<string> {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const issuer = `https://login.example.nl/${client}`
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'bench' }] }
  await mutator(database, { announces: () => false })(systemActor('bench'), async (m) => {
    await saveIssuer(m, { label: 'bench', issuer, audiences: ['bench'], jwks })
    const { uuid } = await m.trx
      .selectFrom('applicatie')
      .where('label', '=', client)
      .select('uuid')
      .executeTakeFirstOrThrow()
    await saveIssuerClients(m, uuid, [{ issuer, clientId: 'bench' }])
  })
  return new SignJWT({ azp: 'bench' })
    .setProtectedHeader({ alg: 'RS256', kid: 'bench' })
    .setIssuer(issuer)
    .setAudience('bench')
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(privateKey)
}

/**
 * CPU of a GET with either token, in turn, a few requests at a time: the middle of the ratios of each two that were measured one
 * after the other. Without clients beside it, whose work would be noise that is larger than the difference.
 */
async function compareTokens(app: FastifyInstance, url: string, hs256: string, rs256: string): Promise<void> {
  const cpuOf = async (token: string) => {
    const headers = { host: 'localhost', authorization: `Bearer ${token}`, 'accept-crs': 'EPSG:4326' }
    const before = process.cpuUsage()
    for (let n = 0; n < 50; n++)
      if ((await app.inject({ url, headers })).statusCode !== 200) throw new Error(`${url} was refused`)
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  const ratios: number[] = []
  for (let n = 0; n < 20; n++) for (const token of [hs256, rs256]) await cpuOf(token)
  for (let round = 0; round < ROUNDS; round++) {
    // Who goes first changes, so that what drifts counts for both.
    const pair = round % 2 ? [rs256, hs256] : [hs256, rs256]
    const [first, second] = [await cpuOf(pair[0]!), await cpuOf(pair[1]!)]
    ratios.push(round % 2 ? first / second : second / first)
  }
  ratios.sort((a, b) => a - b)
  const percent = ((ratios[ROUNDS / 2 - 1]! + ratios[ROUNDS / 2]!) / 2 - 1) * 100
  figure('CPU of a GET with an RS256 token of an issuer beside one with HS256', `${percent.toFixed(1)} % more`, '3 %')
}

const READER = `
import { Agent, request } from 'node:http'
const [, list, token, times] = process.argv
const calls = JSON.parse(list)
const agent = new Agent({ keepAlive: true })
const headers = { authorization: 'Bearer ' + token, 'accept-crs': 'EPSG:4326' }
const took = []
let bytes = 0
for (let n = 0; n < Number(times); n++) {
  const begin = performance.now()
  bytes = 0
  for (const { method, url, body } of calls) {
    const options = { agent, method, headers: { ...headers, ...(body && { 'content-type': 'application/json' }) } }
    const response = await new Promise((resolve, reject) => request(url, options, resolve).on('error', reject).end(body))
    if (response.statusCode !== 200) throw new Error(url + ' gave ' + response.statusCode)
    for await (const chunk of response) bytes += chunk.length
  }
  took.push(performance.now() - begin)
}
agent.destroy()
console.log(JSON.stringify({ median: took.sort((a, b) => a - b)[took.length >> 1], bytes }))`

/** Reads an address so many times in a row, from a process of its own. */
const askTimes = (url: string, token: string, times: number) => askRounds([{ method: 'GET', url }], token, times)

/** Makes all of these calls one after the other, so many times in a row, from a process of its own. */
async function askRounds(calls: Call[], token: string, times: number): Promise<{ median: number; bytes: number }> {
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', READER, JSON.stringify(calls), token, String(times)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`the reader of ${calls[0]?.url} failed`)
  return JSON.parse(output) as { median: number; bytes: number }
}
