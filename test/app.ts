// The application on a database of its own, with helpers to make what a test needs. Requests go through `inject`.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
// What these add to fastify's types: the tests see declarations of the program, which do not bring it along.
import type {} from '@fastify/jwt'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { Logger as GraphileLogger, runTaskListOnce } from 'graphile-worker'
import type { Parts } from '../src/app/parts.ts'
import { buildApp } from '../src/app.ts'
import { createClient, signToken } from '../src/autorisaties/clients.ts'
import { openCredentialStore } from '../src/autorisaties/credentials.ts'
import { openIssuerStore } from '../src/autorisaties/issuers/store.ts'
import { openTokenEndpoint } from '../src/autorisaties/token-endpoint/endpoint.ts'
import { openReplicaOf } from '../src/cli/run-api.ts'
import { openCopy } from '../src/cli/run-worker.ts'
import { findSecretBox } from '../src/cli/server.ts'
import { openLiveSettings } from '../src/config/stored.ts'
import { type Config, readConfig } from '../src/config.ts'
import { secretBox } from '../src/core/secret-box.ts'
import { type Database, openDatabase } from '../src/database/database.ts'
import { clientClass } from '../src/database/hosts.ts'
import { schemasOf } from '../src/database/schema.ts'
import { openAhead } from '../src/documenten/import/ahead.ts'
import { openStores } from '../src/documenten/storage/choose.ts'
import { prepareFilesystemStore } from '../src/documenten/storage/filesystem.ts'
import type {} from '../src/http/verwerkingen.ts'
import { openSender } from '../src/notificaties/sender.ts'
import { portionRunner } from '../src/overnemen/portions.ts'
import { openServices } from '../src/services/services.ts'
import { openLog } from '../src/telemetry/log.ts'
import { taskList } from '../tasks/index.ts'
import { startPooler } from './database/pooler.ts'
import { losingForms } from './http/lost-forms.ts'
import { LOOPBACK_ALLOWED } from './program-env.ts'
import { testDatabase } from './setup.ts'

export const SECRET = 'a secret that only the tests know, 32+'
const QUIET = new GraphileLogger(() => () => {})
export const BASE = 'http://localhost'

type TestLike = { teardown(work: () => unknown): unknown }

export type TestApp = {
  app: FastifyInstance
  parts: Parts
  config: Config
  database: Database
  databaseUrl: string
  /** Directory of the files that an import may name. */
  importDir: string
  /** A request as a client with all rights, or as `as`. Answers the parsed JSON in `body`. */
  call(
    method: string,
    url: string,
    body?: unknown,
    options?: { as?: string; headers?: Record<string, string>; signal?: AbortSignal },
  ): Promise<Answer>
  /** Runs the jobs that are due, until there are none. */
  runJobs(): Promise<void>
}
/** What an answer holds. Tests look into it, and fail where it is not what they expect. */
// biome-ignore lint/suspicious/noExplicitAny: a body of any resource; its shape is what the tests are about
export type Json = any
export type Answer = {
  status: number
  body: Json
  text: string
  headers: Record<string, string | string[] | undefined>
}

/** @param lines where the lines of the log go; they are lost otherwise */
export async function testApp(
  t: TestLike,
  env: Record<string, string> = {},
  lines?: (line: string) => void,
): Promise<TestApp> {
  const databaseUrl = env.DATABASE_URL ?? (await testDatabase(t)).url
  const directory = await mkdtemp(join(tmpdir(), 'zaakstroom-app-'))
  const importDir = join(directory, 'import-data')
  await mkdir(importDir)
  const given = readConfig({
    DATABASE_URL: databaseUrl,
    DATA_DIR: join(directory, 'data'),
    SECRET_KEY: 'key of the tests, long enough',
    IMPORT_DOCUMENTEN_BASE_DIR: importDir,
    LOG_LEVEL: lines ? 'info' : 'silent',
    DOCUMENTEN_KEEP_DELETED_HOURS: '0', // tests see that bytes go
    ...LOOPBACK_ALLOWED,
    ...env,
  })
  const log = openLog(given.logLevel, lines && { write: lines })
  // With a PgBouncer in between, when one is asked for: TEST_POOLER=yes npm test -- test/…
  const pooler = process.env.TEST_POOLER ? await startPooler(databaseUrl) : undefined
  const losesForms = process.env.TEST_LOSE_FORMS
  const losing = losesForms ? await losingForms(t, databaseUrl, losesForms) : undefined
  const database = openDatabase(losing?.url ?? databaseUrl, { max: 10, name: 'test', pooler: pooler?.url })
  // A copy of a template is another database, of which no feed would tell anything until it begins anew.
  await database.sql`update feed set cluster = current_cluster() where cluster <> current_cluster()`
  await database.sql`update history set cluster = current_cluster() where cluster <> current_cluster()`
  const settings = await openLiveSettings(given, database, log)
  const { config } = settings
  const box = await findSecretBox(config, false)
  database.useNumbers(box.numbers)
  await prepareFilesystemStore(config.documentenDir)
  const credentials = await openCredentialStore(database, box, log)
  const issuers = await openIssuerStore(database, config, log)
  const tokenEndpoint = openTokenEndpoint({ database, config, credentials, box, log })
  const services = openServices(database, box, config, log)
  const replica = openReplicaOf(config, database, log)
  const parts: Parts = {
    config,
    settings,
    database,
    replica,
    ...openStores(config, log),
    credentials,
    issuers,
    tokenEndpoint,
    box,
    services,
    log,
  }
  const beheer = { id: 'beheer', label: 'Beheer', alleAutorisaties: true, secret: SECRET }
  await createClient(database, box, beheer).catch((error) => {
    if (!env.DATABASE_URL) throw error // else another application of the test has made it
  })
  const app = await (losing ? losing.within(() => buildApp(parts)) : buildApp(parts))
  const copying = openCopy(config, parts.store)
  const ahead = openAhead({ ...parts, copyFiles: copying.copyFiles })
  const runner = portionRunner(parts)
  t.teardown(async () => {
    await app.close()
    await Promise.all([ahead.stop(), copying.stop()])
    await runner.close()
    await credentials.close()
    await issuers.close()
    await tokenEndpoint?.close()
    await settings.close()
    await services.close()
    await replica?.close()
    await database.close()
    await pooler?.stop()
    await rm(directory, { recursive: true, force: true })
  })
  return {
    app,
    parts,
    config,
    database,
    databaseUrl,
    importDir,
    call: async (method, url, body, { as = 'beheer', headers = {}, signal } = {}) => {
      const token = signToken(as, SECRET, { id: 'gebruiker-1', name: 'Gebruiker Een' })
      const isText = typeof body === 'string' || Buffer.isBuffer(body)
      const response = await app.inject({
        method: method as InjectOptions['method'],
        url: url.replace(BASE, ''),
        headers: {
          authorization: `Bearer ${token}`,
          host: 'localhost',
          ...(body !== undefined && { 'content-type': isText ? 'text/csv' : 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { payload: isText ? body : JSON.stringify(body) }),
        ...(signal && { signal }),
      } as InjectOptions)
      const json = String(response.headers['content-type'] ?? '').includes('json')
      return {
        status: response.statusCode,
        text: response.body,
        body: json && response.body ? JSON.parse(response.body) : undefined,
        headers: response.headers as Answer['headers'],
      }
    },
    runJobs: async () => {
      const client = new (clientClass(databaseUrl))()
      await client.connect()
      try {
        const tasks = taskList({ ...parts, copyFiles: copying.copyFiles, ahead, runner })
        const wake = { 'send-notificaties': async () => {} }
        await runTaskListOnce(
          { logger: QUIET, schema: schemasOf(databaseUrl).queue },
          { ...tasks, ...wake },
          client as never,
        )
        await openSender({ ...parts, open: () => database }).once()
      } finally {
        await client.end()
      }
    },
  }
}

/** A client without all rights, with these scopes for these types (uuid), up to `max`. */
export async function givenClient(
  { database, config }: TestApp,
  id: string,
  rights: { component: string; scopes: string[]; typeUuid?: string; typeUrl?: string; max?: string }[],
): Promise<string> {
  await createClient(database, secretBox(config.secretKey!), { id, label: id, alleAutorisaties: false, secret: SECRET })
  for (const right of rights) {
    await database.sql`
      insert into autorisatie (applicatie_id, component, scopes, type_url, type_uuid, max_vertrouwelijkheidaanduiding)
      select applicatie_id, ${right.component}, ${right.scopes}, ${right.typeUrl ?? ''}, ${right.typeUuid ?? null}, ${right.max ?? null}
      from applicatie_client where client_id = ${id}`
  }
  return id
}

let counter = 0

/** A catalogue; its URL. */
export async function givenCatalogus({ call }: TestApp, values: object = {}): Promise<string> {
  const domein = `T${String.fromCharCode(65 + (counter % 26), 65 + (Math.floor(counter++ / 26) % 26))}`
  const { body } = await call('POST', '/catalogi/api/v1/catalogussen', {
    domein,
    rsin: '000000000',
    contactpersoonBeheerNaam: 'Beheerder',
    ...values,
  })
  return body.url
}

/** A published informatieobjecttype; its URL. */
export async function givenInformatieobjecttype(
  test: TestApp,
  values: { catalogus?: string; concept?: boolean; [field: string]: unknown } = {},
): Promise<string> {
  const { concept = false, ...fields } = values
  const { body } = await test.call('POST', '/catalogi/api/v1/informatieobjecttypen', {
    catalogus: fields.catalogus ?? (await givenCatalogus(test)),
    omschrijving: 'Brief',
    vertrouwelijkheidaanduiding: 'openbaar',
    beginGeldigheid: '2024-01-01',
    informatieobjectcategorie: 'correspondentie',
    ...fields,
  })
  if (!concept) await test.call('POST', `${body.url}/publish`)
  return body.url
}

export const uuidOf = (url: string): string => url.split('?', 1)[0]!.split('/').at(-1)!

const CATALOGI = '/catalogi/api/v1'

/** Posts to the Catalogi API and expects a 201; the URL of what was made. */
async function givenType({ call }: TestApp, path: string, body: object): Promise<string> {
  const answer = await call('POST', `${CATALOGI}/${path}`, body)
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`)
  return answer.body.url
}

/** The smallest body of a zaaktype that is taken. */
export const zaaktypeBody = (catalogus: string) => ({
  identificatie: 'MELDING',
  omschrijving: 'Melding',
  vertrouwelijkheidaanduiding: 'openbaar',
  doel: 'Melden',
  aanleiding: 'Melding',
  indicatieInternOfExtern: 'extern',
  handelingInitiator: 'melden',
  onderwerp: 'Iets',
  handelingBehandelaar: 'behandelen',
  doorlooptijd: 'P30D',
  opschortingEnAanhoudingMogelijk: false,
  verlengingMogelijk: false,
  publicatieIndicatie: false,
  productenOfDiensten: [] as string[],
  referentieproces: { naam: 'Melden' },
  verantwoordelijke: 'Beheer',
  catalogus,
  besluittypen: [] as string[],
  gerelateerdeZaaktypen: [] as object[],
  beginGeldigheid: '2024-01-01',
  versiedatum: '2024-01-01',
})

/**
 * A published zaaktype with whatever is asked for below it; its URL. `informatieobjecttypen` are linked by URL. Fields of
 * the zaaktype itself can be given too.
 */
export async function givenZaaktype(
  test: TestApp,
  values: {
    catalogus?: string
    concept?: boolean
    statustypen?: string[]
    roltypen?: { omschrijving: string; omschrijvingGeneriek: string }[]
    informatieobjecttypen?: string[]
    [field: string]: unknown
  } = {},
): Promise<string> {
  const { concept = false, statustypen = [], roltypen = [], informatieobjecttypen = [], ...fields } = values
  const catalogus = fields.catalogus ?? (await givenCatalogus(test))
  const zaaktype = await givenType(test, 'zaaktypen', { ...zaaktypeBody(catalogus), ...fields })
  for (const [index, omschrijving] of statustypen.entries())
    await givenType(test, 'statustypen', { zaaktype, omschrijving, volgnummer: index + 1 })
  for (const roltype of roltypen) await givenType(test, 'roltypen', { zaaktype, ...roltype })
  for (const [index, informatieobjecttype] of informatieobjecttypen.entries())
    await givenType(test, 'zaaktype-informatieobjecttypen', {
      zaaktype,
      informatieobjecttype,
      volgnummer: index + 1,
      richting: 'inkomend',
    })
  if (!concept) await test.call('POST', `${zaaktype}/publish`)
  return zaaktype
}

/** A published besluittype; its URL. */
export async function givenBesluittype(
  test: TestApp,
  values: { catalogus?: string; concept?: boolean; [field: string]: unknown } = {},
): Promise<string> {
  const { concept = false, ...fields } = values
  const besluittype = await givenType(test, 'besluittypen', {
    catalogus: fields.catalogus ?? (await givenCatalogus(test)),
    omschrijving: 'Besluit',
    publicatieIndicatie: false,
    informatieobjecttypen: [],
    beginGeldigheid: '2024-01-01',
    ...fields,
  })
  if (!concept) await test.call('POST', `${besluittype}/publish`)
  return besluittype
}
